"""Uniform refinement: every edge is halved."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import MeshError
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.data import MeshData
from flexmbs.mesh.quality import scaled_jacobians
from flexmbs.mesh.subdivide import Row, lattice, subdivide
from flexmbs.mesh.topology import CellBlock

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Child = tuple[str, tuple[int, ...]]


def refined(data: MeshData, times: int = 1) -> MeshData:
    """Lines into 2, plane cells into 4, solids into 8 cells; a pyramid into 6 pyramids and 4 tetrahedra.

    Quadratic cells are divided on their own curved shape. All sets are carried along.
    """
    if times < 0 or int(times) != times:
        raise MeshError(f"{data['name']}: refined({times}): the number of times must be a whole number from 0.")
    for _ in range(int(times)):
        data = subdivide(data, [r for b, block in enumerate(data["cells"]) for r in _rows(b, block, data)])
    return data


def _rows(number: int, block: CellBlock, data: MeshData) -> list[Row]:
    shape = CELLS[block.type].shape
    rows = [Row(number, child, corners) for child, corners in _children(shape)]
    if shape == "tetra":
        best = _best_diagonals(data["points"][block.nodes[:, :4]])
        for k in range(3):
            cells = np.flatnonzero(best == k)
            rows += [Row(number, "tetra", corners, cells) for corners in _octahedron(k)]
    return rows


def _best_diagonals(x: Array) -> Index:
    """Along which diagonal to cut the octahedron in the middle of each tetrahedron for the best shapes."""
    middles = np.stack([(x[:, a] + x[:, b]) / 2 for a, b in (e[:2] for e in CELLS["tetra"].edges)], axis=1)
    first = 6 * np.arange(len(x))[:, None] - 4  # the places of the edge middles are 4 to 9
    worst = [
        np.min(
            [scaled_jacobians(middles.reshape(-1, 3), CellBlock("tetra", first + row)) for row in _octahedron(k)],
            axis=0,
        )
        for k in range(3)
    ]
    # Rounding must not decide between equals.
    return np.asarray(np.argmax(np.round(worst, 9), axis=0), dtype=np.int64)


@cache
def _children(shape: str) -> tuple[Child, ...]:
    """Children as places on the parent's lattice; the tetrahedron's inner four are chosen per cell."""
    if shape == "vertex":
        return (("vertex", (0,)),)
    own, here = CELLS[shape].points, lattice(shape)

    def place(xi: np.ndarray) -> int:
        return int(np.argmin(np.abs(here.points - xi).sum(axis=1)))

    # A copy of half the size sits at each corner.
    children: list[Child] = [(shape, tuple(place((corner + x) / 2) for x in own)) for corner in own]
    if shape == "triangle":
        children.append((shape, (3, 4, 5)))
    if shape == "wedge":
        low, high = ([place((own[a] + own[b]) / 2) for a, b in e] for e in _WEDGE_TRIANGLES)
        middle = [here.middle(0, 1, 4, 3), here.middle(1, 2, 5, 4), here.middle(2, 0, 3, 5)]
        children += [(shape, (*low, *middle)), (shape, (*middle, *high))]
    if shape == "pyramid":
        base = here.middle(0, 1, 2, 3)
        up = [here.middle(i, 4) for i in range(4)]
        children.append((shape, (*up[::-1], base)))
        for i in range(4):
            j = (i + 1) % 4
            children.append(("tetra", (here.middle(i, j), up[j], base, up[i])))
    return tuple(children)


_WEDGE_TRIANGLES = (((0, 1), (1, 2), (2, 0)), ((3, 4), (4, 5), (5, 3)))
_DIAGONALS = ((0, 5), (1, 3), (2, 4))  # opposite edges of the tetrahedron, as edge numbers


@cache
def _octahedron(diagonal: int) -> tuple[tuple[int, ...], ...]:
    """Four tetrahedra around one diagonal of the octahedron of edge middles."""
    p, q = (4 + e for e in _DIAGONALS[diagonal])
    (a, c), (b, d) = (tuple(4 + e for e in pair) for k, pair in enumerate(_DIAGONALS) if k != diagonal)
    xi = lattice("tetra").points
    rows = []
    for r, s in ((a, b), (b, c), (c, d), (d, a)):
        positive = np.linalg.det(xi[[q, r, s]] - xi[p]) > 0
        rows.append((p, q, r, s) if positive else (p, q, s, r))
    return tuple(rows)
