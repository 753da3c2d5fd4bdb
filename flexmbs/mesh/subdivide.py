"""Dividing cells into smaller ones, and adding midside nodes: the one mechanism behind every conversion.

Every cell carries a lattice of places: its corners, the middles of its edges, of its quadrilateral faces, and
its centre. A `Row` says which places make the corners of one child. New nodes take their positions from the
parent's own shape functions, so that curved cells stay curved; all sets are carried along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import cast

import numpy as np
from numpy.typing import NDArray

from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.data import MeshData
from flexmbs.mesh.shapes import shape_values
from flexmbs.mesh.topology import CellBlock, block_starts

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True)
class Row:
    """One child of some cells of one block: its shape, and its corners as places of the parent's lattice."""

    block: int
    shape: str
    corners: tuple[int, ...]
    cells: Index | None = None  # cells of the block, None for all


@dataclass(frozen=True)
class Lattice:
    """The places of a cell: reference coordinates, and the corners whose middle each place is."""

    points: Array
    parents: tuple[tuple[int, ...], ...]
    faces: tuple[frozenset[int], ...]  # the places that lie on each face

    def middle(self, *corners: int) -> int:
        """Number of the place in the middle of the given corners."""
        return next(i for i, p in enumerate(self.parents) if set(p) == set(corners))


@cache
def lattice(shape: str) -> Lattice:
    """The lattice of a cell shape: corners, edge middles, middles of quadrilateral faces, centre."""
    cell = CELLS[shape]
    corners = tuple((i,) for i in range(cell.corners))
    edges = tuple(tuple(e[:2]) for e in cell.edges)
    quads = tuple(f for f, kind in zip(cell.faces, cell.face_cells, strict=True) if kind == "quad")
    centre = (tuple(range(cell.corners)),) if cell.dimension > 1 else ()
    parents = (*corners, *edges, *quads, *centre)
    points = np.array([cell.points[list(p)].mean(axis=0) for p in parents]).reshape(len(parents), cell.dimension)
    faces = tuple(frozenset(i for i, p in enumerate(parents) if set(p) <= set(f)) for f in cell.faces)
    return Lattice(points, parents, faces)


def subdivide(data: MeshData, rows: Sequence[Row], quadratic: bool | None = None) -> MeshData:
    """The mesh made of the children that the rows describe, grouped by type, in the order of their parents.

    ``quadratic`` asks for children with or without midside nodes; None follows each parent.
    A new node joins a node set if all the nodes it lies between are in it.
    """
    nodes = _Nodes(data)
    starts = block_starts(data["cells"])
    groups: dict[str, list[tuple[Row, Index, Index]]] = {}
    for row in rows:
        block = data["cells"][row.block]
        cells = np.arange(len(block)) if row.cells is None else row.cells
        order = CELLS[block.type].order if quadratic is None else 1 + quadratic
        kind = row.shape if order == 1 else cast(str, CELLS[row.shape].quadratic)
        corners = np.stack([nodes.places(row.block, place)[cells] for place in row.corners], axis=1)
        groups.setdefault(kind, []).append((row, cells, corners))
    for kind, members in groups.items():
        if CELLS[kind].order == 2:
            for row, cells, corners in members:
                nodes.request_midsides(row, cells, corners)
    nodes.number_midsides()

    blocks, parent, face_sets, first = [], [], {n: [] for n in data["face_sets"]}, 0  # type: ignore[var-annotated]
    for kind, members in groups.items():
        owners = np.concatenate([cells + starts[row.block] for row, cells, _ in members])
        order_ = np.argsort(owners, kind="stable")
        full = np.concatenate([nodes.with_midsides(kind, corners) for _, _, corners in members])
        number = np.empty(len(owners), dtype=np.int64)
        number[order_] = np.arange(first, first + len(owners))
        offset = 0
        for row, cells, _ in members:
            mine = number[offset : offset + len(cells)]
            _carry_faces(data, row, cells + starts[row.block], mine, face_sets)
            offset += len(cells)
        blocks.append(CellBlock(kind, full[order_]))
        parent.append(owners[order_])
        first += len(owners)
    parents = np.concatenate(parent) if parent else np.zeros(0, dtype=np.int64)
    return MeshData(
        points=nodes.points(),
        cells=blocks,
        node_sets=nodes.sets(),
        cell_sets={n: np.flatnonzero(np.isin(parents, c)) for n, c in data["cell_sets"].items()},
        face_sets={n: np.concatenate([np.zeros((0, 2), dtype=np.int64), *p]) for n, p in face_sets.items()},
        name=data["name"],
    )


def _carry_faces(data: MeshData, row: Row, parents: Index, children: Index, out: dict[str, list[Index]]) -> None:
    """Add the children's faces that lie on faces of each set."""
    shape = CELLS[data["cells"][row.block].type].shape
    for local, face in enumerate(CELLS[row.shape].faces):
        places = {row.corners[i] for i in face}
        for old, on_face in enumerate(lattice(shape).faces):
            if places <= on_face:
                for name, pairs in data["face_sets"].items():
                    chosen = children[np.isin(parents, pairs[pairs[:, 1] == old, 0])]
                    out[name].append(np.stack([chosen, np.full(len(chosen), local)], axis=1))


class _Nodes:
    """Numbers new nodes as they are asked for, each once however many cells share it."""

    def __init__(self, data: MeshData) -> None:
        self._data = data
        self._points = [data["points"]]
        self._count = len(data["points"])
        self._members = {n: [_mask(s, self._count)] for n, s in data["node_sets"].items()}
        self._places: dict[tuple[int, int], Index] = {}
        self._requests: list[tuple[Index, Array, Index]] = []
        self._keys = np.zeros(0, dtype=np.int64)
        self._numbers = np.zeros(0, dtype=np.int64)

    def places(self, block: int, place: int) -> Index:
        """Node numbers of one place of all cells of a block."""
        if (block, place) not in self._places:
            self._make_places(block, place)
        return self._places[block, place]

    def _make_places(self, block: int, place: int) -> None:
        given = self._data["cells"][block]
        cell = CELLS[given.type]
        here = lattice(cell.shape)
        between = here.parents[place]
        if len(between) == 1:
            self._places[block, place] = given.nodes[:, between[0]]
            return
        if cell.order == 2 and len(between) == 2:
            self._places[block, place] = given.nodes[:, place]  # midside nodes come in the order of the edges
            return
        # All places of as many corners are numbered together, since cells of every block share them.
        asked = [
            (b, i, np.sort(c.nodes[:, list(p)], axis=1))
            for b, c in enumerate(self._data["cells"])
            for i, p in enumerate(lattice(CELLS[c.type].shape).parents)
            if len(p) == len(between) and not (CELLS[c.type].order == 2 and len(p) == 2)
        ]
        keys = np.concatenate([k for _, _, k in asked])
        first, inverse, _ = unique_rows(keys)
        where = np.concatenate(
            [self._position(b, lattice(CELLS[self._data["cells"][b].type].shape).points[i]) for b, i, _ in asked]
        )
        numbers = self._append(where[first], keys[first])[inverse]
        offset = 0
        for b, i, k in asked:
            self._places[b, i] = numbers[offset : offset + len(k)]
            offset += len(k)

    def _position(self, block: int, xi: Array, cells: Index | None = None) -> Array:
        given = self._data["cells"][block]
        nodes = given.nodes if cells is None else given.nodes[cells]
        values = shape_values(given.type, xi[None])[0]
        return np.asarray(np.einsum("a,eai->ei", values, self._data["points"][nodes]))

    def _append(self, positions: Array, between: Index) -> Index:
        """New nodes, members of the sets that hold all the nodes in ``between``."""
        for masks in self._members.values():
            masks[:] = [np.concatenate(masks)]
            masks.append(np.asarray(masks[0][between].all(axis=1)))
        self._points.append(positions)
        numbers = np.arange(self._count, self._count + len(positions))
        self._count += len(positions)
        return numbers

    def request_midsides(self, row: Row, cells: Index, corners: Index) -> None:
        """Ask for a node in the middle of every edge of these children."""
        given = self._data["cells"][row.block]
        parent = CELLS[given.type]
        here = lattice(parent.shape)
        old = {frozenset(e[:2]): e[2] for e in parent.edges if len(e) == 3}
        for a, b in (e[:2] for e in CELLS[row.shape].edges):
            pair = (row.corners[a], row.corners[b])
            keys = np.sort(corners[:, [a, b]], axis=1)
            where = self._position(row.block, here.points[list(pair)].mean(axis=0), cells)
            there = old.get(frozenset(pair))
            existing = np.full(len(cells), -1) if there is None else given.nodes[cells, there]
            self._requests.append((keys, where, existing))

    def number_midsides(self) -> None:
        """Number the midside nodes asked for; edges that had one keep it."""
        if not self._requests:
            return
        keys, where, existing = (np.concatenate(parts) for parts in zip(*self._requests, strict=True))
        first, inverse, _ = unique_rows(keys)
        numbers = np.full(len(first), -1, dtype=np.int64)
        np.maximum.at(numbers, inverse, existing)
        new = numbers < 0
        numbers[new] = self._append(where[first[new]], keys[first[new]])
        self._keys, self._numbers = self._code(keys[first]), numbers

    def with_midsides(self, kind: str, corners: Index) -> Index:
        """Cells of the given kind from their corners."""
        cell = CELLS[kind]
        if cell.order == 1:
            return corners
        middles = [
            self._numbers[np.searchsorted(self._keys, self._code(np.sort(corners[:, list(e[:2])], axis=1)))]
            for e in cell.edges
        ]
        return np.column_stack([corners, *middles])

    def _code(self, pairs: Index) -> Index:
        return pairs[:, 0] * self._count + pairs[:, 1]

    def points(self) -> Array:
        """All points, the old ones first."""
        return np.concatenate(self._points)

    def sets(self) -> dict[str, Index]:
        """The node sets with the new nodes that belong to them."""
        return {n: np.flatnonzero(np.concatenate(m)) for n, m in self._members.items()}


def _mask(numbers: Index, count: int) -> NDArray[np.bool_]:
    mask = np.zeros(count, dtype=bool)
    mask[numbers] = True
    return mask


def unique_rows(rows: Index) -> tuple[Index, Index, Index]:
    """First occurrence of each distinct row, sorted by row; for every row which of them it is; their counts.

    Several times faster than np.unique(axis=0).
    """
    order = np.lexsort(rows.T[::-1])
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
    inverse = np.empty(len(rows), dtype=np.int64)
    inverse[order] = np.cumsum(new) - 1
    return order[new], inverse, np.bincount(inverse)
