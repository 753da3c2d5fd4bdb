"""Mesh: points, cells and named sets of nodes, of cells and of faces. Immutable; every edit gives a new mesh."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from os import PathLike
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import MeshError
from flexmbs.mesh import generate
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.integrals import face_weights
from flexmbs.mesh.read import read
from flexmbs.mesh.topology import CellBlock, block_starts, boundary_faces, group_faces

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Which = str | ArrayLike | Sequence[str]  # a set name, node numbers, or several names


class Mesh:
    """Points, cell blocks and named sets of one part.

    Parameters
    ----------
    points : (nodes, 3) coordinates; (nodes, 2) is read as the plane z = 0.
    cells : blocks ``(type, nodes)`` with meshio's type names and node order, all of one dimension.
    node_sets : node numbers by name.
    cell_sets : cell numbers by name; cells are numbered through all blocks in their order.
    face_sets : (count, 2) arrays of (cell number, local face) by name; faces of plane cells are their edges.
    name : what messages call this mesh, e.g. the file it was read from.
    """

    def __init__(
        self,
        points: ArrayLike,
        cells: Iterable[CellBlock | tuple[str, ArrayLike]],
        node_sets: Mapping[str, ArrayLike] | None = None,
        cell_sets: Mapping[str, ArrayLike] | None = None,
        face_sets: Mapping[str, ArrayLike] | None = None,
        name: str = "mesh",
    ) -> None:
        self.name = name
        self.points: Array = _frozen(_points(points, name))
        self.cells: tuple[CellBlock, ...] = tuple(self._block(c) for c in cells)
        self._check_dimensions()
        self.node_sets: Mapping[str, Index] = self._sets(node_sets, "node", len(self.points))
        self.cell_sets: Mapping[str, Index] = self._sets(cell_sets, "cell", self.n_cells)
        self.face_sets: Mapping[str, Index] = self._faces(face_sets)
        self._sealed = True

    def __setattr__(self, key: str, value: Any) -> None:
        if getattr(self, "_sealed", False):
            raise AttributeError(f"a Mesh cannot be changed ({key}); its edits return a new mesh")
        object.__setattr__(self, key, value)

    def __repr__(self) -> str:
        cells = ", ".join(f"{len(b)} {b.type}" for b in self.cells)
        return f"<Mesh {self.name!r}: {self.n_nodes} nodes, {cells}, sets {', '.join(self.sets) or 'none'}>"

    # ---- reading and making -------------------------------------------------------------------------------

    @classmethod
    def read(cls, path: str | PathLike[str], *, scale: float = 1.0, dimension: int | None = None) -> Mesh:
        """Read a mesh file with its named sets (Gmsh, Abaqus, Nastran, VTK, XDMF and whatever meshio reads).

        ``scale`` multiplies the coordinates (1e-3 for a file in millimetres); ``dimension`` keeps only cells
        of that dimension where a file mixes solids with separate shells or lines.
        """
        return cls(**read(path, scale=scale, dimension=dimension))

    @classmethod
    def line(cls, start: ArrayLike, end: ArrayLike, divisions: int, cell: str = "line") -> Mesh:
        """A straight line of equal cells (``line`` or ``line3``) with node sets ``start`` and ``end``."""
        return cls(**generate.line(start, end, divisions, cell))

    @classmethod
    def rectangle(
        cls,
        size: Sequence[float],
        divisions: int | Sequence[int],
        cell: str = "quad",
        origin: Sequence[float] = (0.0, 0.0),
    ) -> Mesh:
        """A rectangle in the plane z = 0 with face sets ``x0 x1 y0 y1``; any plane cell."""
        return cls(**generate.rectangle(size, divisions, cell, origin))

    @classmethod
    def box(
        cls,
        size: Sequence[float],
        divisions: int | Sequence[int],
        cell: str = "hexahedron",
        origin: Sequence[float] = (0.0, 0.0, 0.0),
    ) -> Mesh:
        """A box with face sets ``x0 x1 y0 y1 z0 z1``; any solid cell (6 tetrahedra or pyramids per brick)."""
        return cls(**generate.box(size, divisions, cell, origin))

    # ---- sizes --------------------------------------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.points)

    @property
    def n_cells(self) -> int:
        """Number of cells in all blocks."""
        return sum(len(b) for b in self.cells)

    @property
    def dimension(self) -> int:
        """Topological dimension of the cells: 3 for solids, 2 for plane meshes, 1 for lines, 0 for points."""
        return max((CELLS[b.type].dimension for b in self.cells), default=0)

    @property
    def dofs_per_node(self) -> int:
        """Coordinates per node: 3 for solids (and points), 2 for plane meshes, 6 for lines read as beams."""
        return {0: 3, 1: 6, 2: 2, 3: 3}[self.dimension]

    @cached_property
    def size(self) -> float:
        """Length of the diagonal of the bounding box: the scale of tolerances."""
        return float(np.linalg.norm(np.ptp(self.points, axis=0))) if self.n_nodes else 0.0

    # ---- sets ---------------------------------------------------------------------------------------------

    @property
    def sets(self) -> tuple[str, ...]:
        """Names of all sets, of whatever kind."""
        return tuple(dict.fromkeys([*self.face_sets, *self.node_sets, *self.cell_sets]))

    def nodes(self, which: Which = "all") -> Index:
        """Sorted node numbers of a set of any kind, of several sets, or of the numbers given; ``"all"`` for all."""
        if isinstance(which, str):
            if which in self.node_sets:
                return self.node_sets[which]
            if which in self.face_sets:
                return _unique([nodes for _, nodes in group_faces(self.cells, self.face_sets[which])])
            if which in self.cell_sets:
                return _unique(self._nodes_of_cells(self.cell_sets[which]))
            if which == "all":
                return np.arange(self.n_nodes)
            raise MeshError(self._unknown(which, self.sets))
        items = list(which) if isinstance(which, Sequence) else which
        if isinstance(items, list) and items and all(isinstance(i, str) for i in items):
            return _unique([self.nodes(i) for i in items])
        return self._numbers(items, "node", self.n_nodes)

    def faces(self, which: Which) -> Index:
        """(cell, local face) pairs of a set; for nodes: the boundary faces all of whose nodes are given."""
        if isinstance(which, str) and which in self.face_sets:
            return self.face_sets[which]
        inside = np.zeros(self.n_nodes, dtype=bool)
        inside[self.nodes(which)] = True
        starts = block_starts(self.cells)
        pairs = self.boundary
        keep = np.zeros(len(pairs), dtype=bool)
        for block, start, stop in zip(self.cells, starts[:-1], starts[1:], strict=True):
            for local, face in enumerate(CELLS[block.type].faces):
                mine = np.flatnonzero((pairs[:, 0] >= start) & (pairs[:, 0] < stop) & (pairs[:, 1] == local))
                keep[mine] = inside[block.nodes[pairs[mine, 0] - start][:, face]].all(axis=1)
        if not keep.any():
            raise MeshError(
                f"{self.name}: {_described(which)} holds no boundary face (all nodes of a face must be in it). "
                "Loads on faces need a set of faces; a load on nodes is a Force."
            )
        return pairs[keep]

    def cell_numbers(self, which: Which = "all") -> Index:
        """Sorted cell numbers of a cell set, of several, or of the numbers given."""
        if isinstance(which, str):
            if which in self.cell_sets:
                return self.cell_sets[which]
            if which == "all":
                return np.arange(self.n_cells)
            hint = self._unknown(which, tuple(self.cell_sets), kind="cell set")
            if which in self.sets:
                hint += f" ({which!r} is a set of nodes or faces.)"
            raise MeshError(hint)
        items = list(which) if isinstance(which, Sequence) else which
        if isinstance(items, list) and items and all(isinstance(i, str) for i in items):
            return _unique([self.cell_numbers(i) for i in items])
        return self._numbers(items, "cell", self.n_cells)

    def weights(self, which: Which) -> Array:
        """Shares of the nodes of a set in its area, in the order of ``nodes(which)``, summing to 1.

        The share is ∫φ_a dA, so that weighted sums are exact area means of what the cells interpolate (corner
        nodes of quadratic faces then count nothing, or less). Sets that are no surface share equally.
        """
        nodes = self.nodes(which)
        equal = np.full(len(nodes), 1.0 / max(len(nodes), 1))
        try:
            pairs = self.faces(which)
        except MeshError:
            return equal
        totals = face_weights(self.points, group_faces(self.cells, pairs))
        if not np.all(np.isin(nodes, _unique([n for _, n in group_faces(self.cells, pairs)]))):
            return equal
        chosen: Array = totals[nodes]
        return chosen / chosen.sum()

    @cached_property
    def boundary(self) -> Index:
        """(cell, local face) pairs of all boundary faces."""
        return boundary_faces(self.cells)

    def with_nodes(self, name: str, which: Which | Callable[..., Any]) -> Mesh:
        """The same mesh with one more node set; ``which`` may be a predicate as for ``nodes_where``."""
        nodes = self.nodes_where(which) if callable(which) else self.nodes(which)
        return self.replace(node_sets={**self.node_sets, name: nodes})

    def with_faces(self, name: str, which: Which | Callable[..., Any]) -> Mesh:
        """The same mesh with one more face set: the boundary faces whose nodes all are in ``which``."""
        nodes = self.nodes_where(which) if callable(which) else which
        return self.replace(face_sets={**self.face_sets, name: self.faces(nodes)})

    def with_cells(self, name: str, which: Which) -> Mesh:
        """The same mesh with one more cell set."""
        return self.replace(cell_sets={**self.cell_sets, name: self.cell_numbers(which)})

    def replace(self, **changes: Any) -> Mesh:
        """The same mesh with some of its constructor's arguments replaced."""
        fields = {
            k: getattr(self, k) for k in ("points", "cells", "node_sets", "cell_sets", "face_sets", "name")
        }
        return Mesh(**{**fields, **changes})

    # ---- selecting nodes ----------------------------------------------------------------------------------

    def nodes_where(self, predicate: Callable[..., Any]) -> Index:
        """Nodes for which ``predicate(x, y, z)`` holds; it is called once with the three coordinate arrays."""
        chosen = np.flatnonzero(np.broadcast_to(predicate(*self.points.T), self.n_nodes))
        if not len(chosen):
            low, high = self.points.min(axis=0), self.points.max(axis=0)
            raise MeshError(f"{self.name}: no node fulfils the condition; the mesh spans {low} to {high}.")
        return chosen

    # ---- inside -------------------------------------------------------------------------------------------

    def _block(self, given: CellBlock | tuple[str, ArrayLike]) -> CellBlock:
        kind, nodes = (given.type, given.nodes) if isinstance(given, CellBlock) else given
        if kind not in CELLS:
            raise MeshError(
                f"{self.name}: cell type {kind!r} is not known; flexmbs computes with {', '.join(CELLS)}."
            )
        array = np.ascontiguousarray(nodes, dtype=np.int64).reshape(
            -1, np.shape(nodes)[-1] if np.ndim(nodes) else 1
        )
        if array.shape[1] != CELLS[kind].nodes:
            raise MeshError(
                f"{self.name}: a {kind} has {CELLS[kind].nodes} nodes, but {array.shape[1]} are given."
            )
        bad = np.flatnonzero(((array < 0) | (array >= self.n_nodes)).any(axis=1))
        if len(bad):
            raise MeshError(
                f"{self.name}: {kind} cell {bad[0]} names node {array[bad[0]].max()}, "
                f"but there are {self.n_nodes} nodes (0 to {self.n_nodes - 1})."
            )
        return CellBlock(kind, _frozen(array))

    def _check_dimensions(self) -> None:
        dimensions = {CELLS[b.type].dimension for b in self.cells}
        if len(dimensions) > 1:
            found = ", ".join(f"{len(b)} {b.type}" for b in self.cells)
            raise MeshError(
                f"{self.name}: cells of different dimensions are mixed ({found}). Keep those of one dimension "
                "(Mesh.read(..., dimension=3)); boundary cells belong into face sets."
            )

    def _sets(self, given: Mapping[str, ArrayLike] | None, kind: str, count: int) -> Mapping[str, Index]:
        return MappingProxyType(
            {
                str(name): _frozen(self._numbers(values, kind, count, name))
                for name, values in (given or {}).items()
            }
        )

    def _faces(self, given: Mapping[str, ArrayLike] | None) -> Mapping[str, Index]:
        sets = {}
        counts = np.concatenate(
            [np.zeros(0, int), *(np.full(len(b), len(CELLS[b.type].faces)) for b in self.cells)]
        )
        for name, values in (given or {}).items():
            pairs = np.asarray(values, dtype=np.int64).reshape(-1, 2)
            good = (pairs[:, 0] >= 0) & (pairs[:, 0] < len(counts)) & (pairs[:, 1] >= 0)
            good[good] &= pairs[good, 1] < counts[pairs[good, 0]]
            if not good.all():
                cell, face = pairs[~good][0]
                raise MeshError(
                    f"{self.name}: face set {name!r} names face {face} of cell {cell}, which does not exist."
                )
            sets[str(name)] = _frozen(np.unique(pairs, axis=0))
        return MappingProxyType(sets)

    def _numbers(self, values: Any, kind: str, count: int, name: str | None = None) -> Index:
        array = np.asarray(values)
        where = f"{kind} set {name!r}" if name else f"the {kind}s given"
        if array.dtype == bool:
            if array.shape != (count,):
                raise MeshError(f"{self.name}: {where}: a mask of {array.shape} for {count} {kind}s.")
            array = np.flatnonzero(array)
        if array.size and not np.issubdtype(array.dtype, np.integer):
            raise MeshError(f"{self.name}: {where}: {kind} numbers must be integers, not {array.dtype}.")
        numbers = np.unique(array.astype(np.int64))
        if len(numbers) and (numbers[0] < 0 or numbers[-1] >= count):
            wrong = numbers[0] if numbers[0] < 0 else numbers[-1]
            raise MeshError(
                f"{self.name}: {where}: {kind} {wrong} does not exist; there are {count} (from 0)."
            )
        return numbers

    def _nodes_of_cells(self, cells: Index) -> list[Index]:
        starts = block_starts(self.cells)
        return [
            block.nodes[cells[(cells >= start) & (cells < stop)] - start]
            for block, start, stop in zip(self.cells, starts[:-1], starts[1:], strict=True)
        ]

    def _unknown(self, name: str, known: Sequence[str], kind: str = "set") -> str:
        close = difflib.get_close_matches(name, known, n=3, cutoff=0.5) or difflib.get_close_matches(
            name.lower(), [k.lower() for k in known], n=3, cutoff=0.5
        )
        advice = f"Did you mean {' or '.join(map(repr, close))}?" if close else ""
        there = (
            f"It has {', '.join(map(repr, known))}."
            if known
            else f"It has no {kind}s; add one with with_nodes()."
        )
        return f"{self.name}: no {kind} {name!r}. {advice} {there}".replace("  ", " ")


def _points(points: ArrayLike, name: str) -> Array:
    array = np.array(points, dtype=float)
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise MeshError(f"{name}: points must be an array (nodes, 3) or (nodes, 2), not {array.shape}.")
    if array.shape[1] == 2:
        array = np.column_stack([array, np.zeros(len(array))])
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(bad):
        raise MeshError(
            f"{name}: {len(bad)} nodes have coordinates that are not numbers, the first is node {bad[0]}: {array[bad[0]]}."
        )
    return array


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array = np.ascontiguousarray(array)
    if array.flags.writeable:
        array = array.copy() if array.base is not None else array
        array.setflags(write=False)
    return array


def _unique(parts: Iterable[Index]) -> Index:
    flat = [np.ravel(p) for p in parts]
    return np.unique(np.concatenate(flat)) if flat else np.zeros(0, dtype=np.int64)


def _described(which: Any) -> str:
    return f"set {which!r}" if isinstance(which, str) else "the nodes given"
