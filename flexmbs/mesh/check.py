"""What can be wrong with a mesh: each problem says which cells or nodes it is about and how to cure it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from flexmbs.linalg.threads import one_blas_thread
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.data import MeshData
from flexmbs.mesh.edit import COINCIDENT, coincident_nodes, unattached_nodes
from flexmbs.mesh.quality import jacobian_range
from flexmbs.mesh.subdivide import unique_rows
from flexmbs.mesh.topology import CellBlock, block_starts, face_keys, iterate_faces

Array = NDArray[np.float64]
Index = NDArray[np.int64]

FLAT = 1e-8
"""A Jacobian below this part of the cell's mean one counts as zero."""

CHUNK = 4096
"""Cells whose Jacobians are looked at together: as many as fit in the processor's cache."""


def _none() -> Index:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a mesh; an error stops ``mesh.check()``, a warning may be meant."""

    kind: str
    message: str
    severity: Literal["error", "warning"] = "error"
    cells: Index = field(default_factory=_none)
    nodes: Index = field(default_factory=_none)

    def __str__(self) -> str:
        return self.message


def problems(data: MeshData) -> list[Problem]:
    """All problems, errors first."""
    found = [
        *_empty(data),
        *_repeated_nodes(data),
        *_bad_cells(data),
        *_duplicate_cells(data),
        *_faces(data),
        *_unattached(data),
        *_coincident(data),
        *_pieces(data),
    ]
    return sorted(found, key=lambda p: p.severity)


def listed(numbers: Index, noun: str) -> str:
    """The numbers in words: cell 7; cells 7, 8, 9; cells 7, 8, 9, 10, 11 and 12 more."""
    shown = ", ".join(str(n) for n in numbers[:5])
    more = f" and {len(numbers) - 5} more" if len(numbers) > 5 else ""
    return f"{noun}{'s' if len(numbers) > 1 else ''} {shown}{more}"


def _verb(numbers: Index, one: str, many: str) -> str:
    return one if len(numbers) == 1 else many


def _empty(data: MeshData) -> list[Problem]:
    if any(len(b) for b in data["cells"]):
        return []
    return [Problem("empty", f"{data['name']}: there are no cells. Give the mesh at least one.")]


def _repeated_nodes(data: MeshData) -> list[Problem]:
    cells = []
    for block, start in zip(data["cells"], block_starts(data["cells"]), strict=False):
        ordered = np.sort(block.nodes, axis=1)
        cells.append(start + np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)))
    bad = np.concatenate([_none(), *cells])
    if not len(bad):
        return []
    return [
        Problem(
            "repeated nodes",
            f"{data['name']}: {listed(bad, 'cell')} {_verb(bad, 'names', 'name')} a node twice (collapsed "
            "cells). Use cells of the shape meant, a wedge or pyramid for a collapsed hexahedron, or merge nodes "
            "with a smaller tolerance.",
            cells=bad,
        )
    ]


_CURES = {
    "inverted cells": "inside out (negative Jacobian). mesh.oriented() reverses their node order.",
    "degenerate cells": "flat, without volume. Drop them with mesh.submesh(), or mesh again.",
    "curved cells": (
        "curved so strongly that the Jacobian is not positive everywhere. mesh.straightened() puts the midside "
        "nodes of such cells in the middle of their edges; or mesh finer along the curve."
    ),
    "distorted cells": (
        "distorted so strongly that the Jacobian is not positive at every corner and Gauss point. "
        "Mesh again with better shapes."
    ),
}


def _bad_cells(data: MeshData) -> list[Problem]:
    """Cells that are inside out, flat, or so distorted that the Jacobian changes its sign."""
    found: dict[str, list[Index]] = {kind: [_none()] for kind in _CURES}
    for block, start in zip(data["cells"], block_starts(data["cells"]), strict=False):
        if not len(block) or not CELLS[block.type].dimension:
            continue
        least, greatest, size = _jacobian_range(data["points"], block)
        flat = size <= FLAT
        wrong = (least <= FLAT) & ~flat
        turned = wrong & (greatest <= -FLAT)
        bent = np.flatnonzero(wrong & ~turned)
        curved = np.zeros(len(block), dtype=bool)
        curved[bent] = _straight_is_good(data, CellBlock(block.type, block.nodes[bent]))
        masks = (turned, flat, curved, wrong & ~turned & ~curved)
        for groups, mask in zip(found.values(), masks, strict=True):
            groups.append(start + np.flatnonzero(mask))
    out = []
    for kind, groups in found.items():
        cells = np.concatenate(groups)
        if len(cells):
            text = f"{data['name']}: {listed(cells, 'cell')} {_verb(cells, 'is', 'are')} {_CURES[kind]}"
            out.append(Problem(kind, text, cells=cells))
    return out


@one_blas_thread
def _jacobian_range(points: Array, block: CellBlock) -> Array:
    """`jacobian_range` of all cells (3, cells), chunk by chunk, which takes half the time and little memory."""
    chunks = (CellBlock(block.type, block.nodes[k : k + CHUNK]) for k in range(0, len(block), CHUNK))
    return np.hstack([jacobian_range(points, chunk) for chunk in chunks])


def _straight_is_good(data: MeshData, block: CellBlock) -> NDArray[np.bool_]:
    """Whether each quadratic cell would be good with straight edges; False for linear ones."""
    cell = CELLS[block.type]
    if cell.order == 1 or not len(block):
        return np.zeros(len(block), dtype=bool)
    least, _, size = jacobian_range(data["points"], CellBlock(cell.shape, block.nodes[:, : cell.corners]))
    return (least > FLAT) & (size > FLAT)


def _codes(data: MeshData) -> NDArray[np.uint64]:
    """A random number for every node: equal sets of nodes have equal sums, whatever their order.

    Unequal sets hardly ever do, so that sums, quickly sorted, tell whether a closer look is needed.
    """
    return np.random.default_rng(0).integers(2**64 - 1, size=len(data["points"]), dtype=np.uint64)


def _repeated(sums: NDArray[np.uint64], times: int) -> bool:
    """Whether a value comes more than so many times."""
    ordered = np.sort(sums)
    return bool((ordered[times:] == ordered[:-times]).any())


def _duplicate_cells(data: MeshData) -> list[Problem]:
    again = [_none()]
    codes = _codes(data)
    for block, start in zip(data["cells"], block_starts(data["cells"]), strict=False):
        if not _repeated(codes[block.nodes].sum(axis=1), 1):
            continue
        rows = np.sort(block.nodes, axis=1)
        order = np.lexsort(rows.T[::-1])
        same = (rows[order[1:]] == rows[order[:-1]]).all(axis=1)
        again.append(start + np.sort(order[1:][same]))
    bad = np.concatenate(again)
    if not len(bad):
        return []
    text = (
        f"{data['name']}: {listed(bad, 'cell')} {_verb(bad, 'has', 'have')} the same nodes as another cell, "
        "so that mass and stiffness would count twice. mesh.without_duplicate_cells() drops the copies."
    )
    return [Problem("duplicate cells", text, cells=bad)]


def _faces(data: MeshData) -> list[Problem]:
    """Faces of more than two cells (edges in plane meshes), and faces between linear and quadratic cells."""
    codes = _codes(data)
    sums = [codes[nodes[:, : CELLS[kind].corners]].sum(axis=1) for kind, nodes, _, _ in iterate_faces(data["cells"])]
    alike = len({CELLS[b.type].order for b in data["cells"]}) < 2
    if not sums or (alike and not _repeated(np.concatenate(sums), 2)):
        return []
    pairs, keys = face_keys(data["cells"])
    _, inverse, counts = unique_rows(keys)
    found = []
    crowded = counts > 2
    if crowded.any():
        cells = np.unique(pairs[crowded[inverse], 0])
        text = (
            f"{data['name']}: {crowded.sum()} face(s) belong to more than two cells, so that cells overlap; "
            f"they are {listed(cells, 'cell')}. Mesh again, or drop the cells that are too many with submesh()."
        )
        found.append(Problem("overlapping cells", text, cells=cells))
    orders = np.concatenate([np.full(len(b), CELLS[b.type].order) for b in data["cells"]])[pairs[:, 0]]
    quadratic = np.bincount(inverse, orders == 2)
    mixed = (quadratic > 0) & (quadratic < counts)
    if mixed.any():
        cells = np.unique(pairs[mixed[inverse], 0])
        text = (
            f"{data['name']}: {mixed.sum()} face(s) lie between a linear and a quadratic cell, where displacements "
            f"would gape; they are {listed(cells, 'cell')}. mesh.to_quadratic() or mesh.to_linear() makes all alike."
        )
        found.append(Problem("mixed orders", text, "warning", cells=cells))
    return found


def _unattached(data: MeshData) -> list[Problem]:
    nodes = unattached_nodes(data)
    if not len(nodes):
        return []
    text = (
        f"{data['name']}: {listed(nodes, 'node')} {_verb(nodes, 'belongs', 'belong')} to no cell. "
        "mesh.without_unattached_nodes() drops them."
    )
    return [Problem("unattached nodes", text, nodes=nodes)]


def _coincident(data: MeshData) -> list[Problem]:
    points = data["points"]
    tolerance = COINCIDENT * float(np.linalg.norm(np.ptp(points, axis=0))) if len(points) else 0.0
    same, near = np.arange(len(points)), _close_along_a_line(points, tolerance)
    same[near] = near[coincident_nodes({**data, "points": points[near]}, tolerance)]
    nodes = np.flatnonzero(same != np.arange(len(same)))
    if not len(nodes):
        return []
    text = (
        f"{data['name']}: {listed(nodes, 'node')} {_verb(nodes, 'lies', 'lie')} where another node lies "
        f"(node {nodes[0]} on node {same[nodes[0]]}), so that the cells there are not tied. "
        "mesh.merged_nodes() ties them, unless the gap is meant (a crack, a contact)."
    )
    return [Problem("coincident nodes", text, "warning", nodes=nodes)]


def _close_along_a_line(points: Array, tolerance: float) -> Index:
    """The nodes that have another within the tolerance along some line: all that coincide, and few others."""
    along = points @ (np.array([1.0, np.sqrt(2), np.pi]) / np.linalg.norm([1.0, np.sqrt(2), np.pi]))
    order = np.argsort(along)
    # rounding of the coordinates along the line must not part nodes that are just close enough
    close = np.diff(along[order]) <= tolerance * (1 + 1e-6) + 4 * np.spacing(np.abs(along).max(initial=0.0))
    near = np.zeros(len(points), dtype=bool)
    near[order[1:][close]] = near[order[:-1][close]] = True
    return np.flatnonzero(near)


def _pieces(data: MeshData) -> list[Problem]:
    count, label = pieces(data)
    if count < 2:
        return []
    sizes = np.bincount(label)
    text = (
        f"{data['name']}: the mesh is in {count} pieces that do not touch, of {_sizes(sizes)} cells; "
        "each moves by itself. mesh.merged_nodes() ties pieces whose nodes fall together; submesh() takes one out."
    )
    return [Problem("several pieces", text, "warning", cells=np.flatnonzero(label != sizes.argmax()))]


def _sizes(sizes: Index) -> str:
    shown = ", ".join(str(s) for s in np.sort(sizes)[::-1][:5])
    return shown + (f" and {len(sizes) - 5} more" if len(sizes) > 5 else "")


def pieces(data: MeshData) -> tuple[int, Index]:
    """Number of pieces that share no node, and which one each cell belongs to."""
    # a graph of cells and nodes: its rows are the cells, each tied to its nodes
    widths = np.concatenate([_none(), *(np.full(len(b), b.nodes.shape[1]) for b in data["cells"])])
    cells, count = len(widths), len(widths) + len(data["points"])
    nodes = np.concatenate([_none(), *(b.nodes.ravel() for b in data["cells"])])
    indptr = np.append(np.append(0, np.cumsum(widths)), np.full(len(data["points"]), len(nodes)))
    graph = csr_array((np.ones(len(nodes), dtype=np.int8), nodes + cells, indptr), shape=(count, count))
    _, label = connected_components(graph, directed=False)
    found, number = np.unique(label[:cells], return_inverse=True)
    return len(found), np.asarray(number, dtype=np.int64)
