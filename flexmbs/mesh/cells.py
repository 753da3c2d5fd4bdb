"""The reference cells: where their nodes lie, which nodes make their edges and faces.

Names and node orders are meshio's (and VTK's): corners first, then one node per edge.
Faces are listed with their normals pointing outwards; the faces of a plane cell are its edges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Cell:
    """A reference cell: node positions, edges, faces, and the monomials its shape functions span."""

    name: str
    shape: str  # the cell without midside nodes: "tetra" for both tetra and tetra10
    points: NDArray[np.float64]  # (nodes, dimension) reference coordinates of the nodes
    monomials: NDArray[np.int64]  # (nodes, dimension) exponents spanning the shape functions
    edges: tuple[tuple[int, ...], ...]  # corner pair, and the midside node where there is one
    faces: tuple[tuple[int, ...], ...]  # local node numbers, corners then midsides, normal outwards
    face_cells: tuple[str, ...]  # the cell name of each face

    @property
    def dimension(self) -> int:
        """Topological dimension of the cell."""
        return self.points.shape[1]

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.points)

    @property
    def corners(self) -> int:
        """Number of corner nodes."""
        return CORNERS[self.shape]

    @property
    def order(self) -> int:
        """1 for linear, 2 for quadratic cells."""
        return 1 if self.name == self.shape else 2

    @property
    def quadratic(self) -> str | None:
        """Name of the quadratic cell of the same shape, if there is one."""
        return next((c.name for c in CELLS.values() if c.shape == self.shape and c.order == 2), None)


_CORNER_POINTS: dict[str, list[tuple[int, ...]]] = {
    "vertex": [()],
    "line": [(-1,), (1,)],
    "triangle": [(0, 0), (1, 0), (0, 1)],
    "quad": [(-1, -1), (1, -1), (1, 1), (-1, 1)],
    "tetra": [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)],
    "hexahedron": [(x, y, z) for z in (-1, 1) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))],
    "wedge": [(x, y, z) for z in (-1, 1) for x, y in ((0, 0), (1, 0), (0, 1))],
    "pyramid": [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0), (0, 0, 1)],
}
CORNERS = {shape: len(points) for shape, points in _CORNER_POINTS.items()}

_EDGES: dict[str, list[tuple[int, int]]] = {
    "vertex": [],
    "line": [(0, 1)],
    "triangle": [(0, 1), (1, 2), (2, 0)],
    "quad": [(0, 1), (1, 2), (2, 3), (3, 0)],
    "tetra": [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)],
    "hexahedron": [
        *((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4)),
        *((0, 4), (1, 5), (2, 6), (3, 7)),
    ],
    "wedge": [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)],
    "pyramid": [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (2, 4), (3, 4)],
}

_FACES: dict[str, list[tuple[int, ...]]] = {
    "vertex": [],
    "line": [],
    "triangle": [(0, 1), (1, 2), (2, 0)],
    "quad": [(0, 1), (1, 2), (2, 3), (3, 0)],
    "tetra": [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)],
    "hexahedron": [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)],
    "wedge": [(0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)],
    "pyramid": [(0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)],
}

_FACE_NAMES = {
    (2, 1): "line",
    (2, 2): "line3",
    (3, 1): "triangle",
    (3, 2): "triangle6",
    (4, 1): "quad",
    (4, 2): "quad8",
}


def _total_degree(dimension: int, degree: int) -> list[tuple[int, ...]]:
    grid = np.ndindex(*(degree + 1,) * dimension)
    return [e for e in grid if sum(e) <= degree]


def _serendipity(dimension: int) -> list[tuple[int, ...]]:
    """Monomials of superlinear degree at most 2: exponents of one do not count (Arnold and Awanou 2011)."""
    return [e for e in np.ndindex(*(3,) * dimension) if sum(k for k in e if k > 1) <= 2]


def _monomials(name: str, shape: str) -> list[tuple[int, ...]]:
    if shape == "vertex":
        return [()]
    if shape == "pyramid":
        # The last one stands for xy/(1-z), the rational function of the pyramid; see shapes.py.
        return [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, -1)]
    quadratic = name != shape
    if shape in ("triangle", "tetra", "line"):
        return _total_degree({"line": 1, "triangle": 2, "tetra": 3}[shape], 2 if quadratic else 1)
    if shape == "wedge":
        plane = _total_degree(2, 2 if quadratic else 1)
        rows = [(*e, k) for e in plane for k in (0, 1)]
        return rows + ([(*e, 2) for e in _total_degree(2, 1)] if quadratic else [])
    dimension = 2 if shape == "quad" else 3
    return _serendipity(dimension) if quadratic else list(np.ndindex(*(2,) * dimension))


def _make(name: str, shape: str) -> Cell:
    corners = _CORNER_POINTS[shape]
    dimension = len(corners[0])
    points = np.array(corners, dtype=float).reshape(len(corners), dimension)
    edges: list[tuple[int, ...]] = list(_EDGES[shape])
    faces = _FACES[shape]
    if name != shape:
        middle = {frozenset(pair): len(corners) + k for k, pair in enumerate(_EDGES[shape])}
        points = np.vstack([points, [(points[a] + points[b]) / 2 for a, b in _EDGES[shape]]])
        edges = [(a, b, middle[frozenset((a, b))]) for a, b in _EDGES[shape]]
        if dimension == 2:
            faces = [(*f, middle[frozenset(f)]) for f in faces]
        else:
            faces = [(*f, *(middle[frozenset((f[i], f[(i + 1) % len(f)]))] for i in range(len(f)))) for f in faces]
    order = 1 if name == shape else 2
    face_cells = tuple(_FACE_NAMES[len(f), order] for f in _FACES[shape])
    monomials = np.array(_monomials(name, shape), dtype=np.int64).reshape(len(points), dimension)
    points.setflags(write=False)
    monomials.setflags(write=False)
    return Cell(name, shape, points, monomials, tuple(edges), tuple(faces), face_cells)


CELLS: Mapping[str, Cell] = MappingProxyType(
    {
        name: _make(name, shape)
        for name, shape in (
            ("vertex", "vertex"),
            ("line", "line"),
            ("line3", "line"),
            ("triangle", "triangle"),
            ("triangle6", "triangle"),
            ("quad", "quad"),
            ("quad8", "quad"),
            ("tetra", "tetra"),
            ("tetra10", "tetra"),
            ("hexahedron", "hexahedron"),
            ("hexahedron20", "hexahedron"),
            ("wedge", "wedge"),
            ("wedge15", "wedge"),
            ("pyramid", "pyramid"),
        )
    }
)
"""Every cell that flexmbs computes with, by its meshio name."""
