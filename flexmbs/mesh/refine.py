"""Uniform refinement: every edge is halved."""

from __future__ import annotations

from functools import cache

import numpy as np

from flexmbs.errors import MeshError
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.data import MeshData
from flexmbs.mesh.subdivide import Row, lattice, subdivide
from flexmbs.mesh.topology import CellBlock

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
        # The octahedron left in the middle is cut along its shortest diagonal, which keeps the shapes best.
        x = data["points"][block.nodes[:, :4]]
        middles = np.stack([(x[:, a] + x[:, b]) / 2 for a, b in (e[:2] for e in CELLS["tetra"].edges)], axis=1)
        lengths = [np.linalg.norm(middles[:, a] - middles[:, b], axis=1) for a, b in _DIAGONALS]
        shortest = np.argmin(lengths, axis=0)
        for k in range(3):
            cells = np.flatnonzero(shortest == k)
            rows += [Row(number, "tetra", corners, cells) for corners in _octahedron(k)]
    return rows


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
