"""Meshes of simple shapes: lines, rectangles, boxes.

Solids are made of hexahedra and split into the cells asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import MeshError
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.data import MeshData
from flexmbs.mesh.order import to_quadratic
from flexmbs.mesh.split import split_hexahedra
from flexmbs.mesh.topology import CellBlock

Array = NDArray[np.float64]
Index = NDArray[np.int64]

PLANE = ("triangle", "triangle6", "quad", "quad8")
SOLID = ("tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "wedge15", "pyramid")


def line(start: ArrayLike, end: ArrayLike, divisions: int, cell: str = "line") -> MeshData:
    """A straight line of equal cells, with node sets start and end."""
    check_cell(cell, ("line", "line3"), "line")
    count = counts(divisions, 1, "line")[0]
    a, b = (np.pad(np.asarray(p, dtype=float), (0, 3 - np.size(p))) for p in (start, end))
    if np.array_equal(a, b):
        raise MeshError(f"line: start and end are the same point {a}; a line needs a length.")
    points = a + np.linspace(0.0, 1.0, count + 1)[:, None] * (b - a)
    chain = np.arange(count + 1)
    data = _data(points, "line", np.stack([chain[:-1], chain[1:]], axis=1), {}, "line")
    data["node_sets"] = {"start": np.array([0]), "end": np.array([count])}
    return to_quadratic(data) if cell == "line3" else data


def rectangle(
    size: Sequence[float],
    divisions: int | Sequence[int],
    cell: str = "quad",
    origin: Sequence[float] = (0.0, 0.0),
) -> MeshData:
    """A rectangle in the plane z = 0 with face sets x0, x1, y0, y1 (the faces of plane cells are edges)."""
    check_cell(cell, PLANE, "rectangle")
    lengths = _lengths(size, 2, "rectangle")
    points, cells, sides = grid(counts(divisions, 2, "rectangle"))
    xy = np.asarray(origin, dtype=float)[:2] + points * lengths
    return in_cells(quads(xy, cells, sides, "rectangle"), cell)


def box(
    size: Sequence[float],
    divisions: int | Sequence[int],
    cell: str = "hexahedron",
    origin: Sequence[float] = (0.0, 0.0, 0.0),
) -> MeshData:
    """A box with face sets x0, x1, y0, y1, z0, z1; 6 tetrahedra, 2 wedges or 6 pyramids fill each brick."""
    check_cell(cell, SOLID, "box")
    lengths = _lengths(size, 3, "box")
    points, bricks, sides = grid(counts(divisions, 3, "box"))
    data = _data(np.asarray(origin, dtype=float) + points * lengths, "hexahedron", bricks, sides, "box")
    return in_cells(data, cell)


def grid(divisions: Sequence[int]) -> tuple[Array, Index, dict[str, Index]]:
    """Points of the unit square or cube, quads or hexahedra, and its sides as (cell, face) pairs.

    Nodes and cells are numbered with the last direction fastest.
    """
    axes = [np.linspace(0.0, 1.0, n + 1) for n in divisions]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(divisions))
    numbers = np.arange(len(points)).reshape([n + 1 for n in divisions])
    shape = "quad" if len(divisions) == 2 else "hexahedron"
    steps = ((CELLS[shape].points + 1) / 2).astype(int)
    corners = [numbers[tuple(slice(s, s + n) for s, n in zip(step, divisions, strict=True))] for step in steps]
    cells = np.stack([c.ravel() for c in corners], axis=1)
    places = np.arange(len(cells)).reshape(divisions)
    sides = {}
    for axis, letter in enumerate("xyz"[: len(divisions)]):
        for end in (0, 1):
            local = next(k for k, f in enumerate(CELLS[shape].faces) if all(steps[i][axis] == end for i in f))
            there = places.take(-end, axis=axis).ravel()
            sides[f"{letter}{end}"] = np.stack([there, np.full(len(there), local)], axis=1)
    return points, cells, sides


def in_cells(data: MeshData, cell: str) -> MeshData:
    """A mesh of quads or hexahedra in the cells asked for."""
    split = split_hexahedra(data, CELLS[cell].shape)
    return to_quadratic(split) if CELLS[cell].order == 2 else split


def quads(xy: Array, cells: Index, faces: dict[str, Index], name: str) -> MeshData:
    """A plane mesh of quads."""
    return _data(np.column_stack([xy, np.zeros(len(xy))]), "quad", cells, faces, name)


def _data(points: Array, kind: str, cells: Index, faces: dict[str, Index], name: str) -> MeshData:
    return MeshData(
        points=points, cells=[CellBlock(kind, cells)], node_sets={}, cell_sets={}, face_sets=faces, name=name
    )


def check_cell(cell: str, known: Sequence[str], name: str) -> None:
    """Refuse a cell type that the shape cannot be made of."""
    if cell not in known:
        raise MeshError(f"{name}: cannot be made of {cell!r} cells; choose one of {', '.join(known)}.")


def counts(given: int | Sequence[int], count: int, name: str) -> list[int]:
    """Divisions as whole numbers, one per direction."""
    numbers = [given] * count if isinstance(given, int | np.integer) else list(given)
    if len(numbers) != count or any(int(n) != n or n < 1 for n in numbers):
        raise MeshError(f"{name}: divisions must be {count} whole numbers of at least 1, not {given!r}.")
    return [int(n) for n in numbers]


def _lengths(size: Sequence[float], count: int, name: str) -> Array:
    lengths = np.asarray(size, dtype=float)
    if lengths.shape != (count,) or not np.all(lengths > 0):
        raise MeshError(f"{name}: size must be {count} positive lengths, not {size!r}.")
    return lengths
