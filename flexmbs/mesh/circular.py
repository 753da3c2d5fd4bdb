"""Discs, rings, cylinders and tubes: plane sections of quads, swept along an axis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import MeshError
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.data import MeshData
from flexmbs.mesh.edit import joined, merged_nodes
from flexmbs.mesh.generate import PLANE, SOLID, check_cell, counts, grid, in_cells, quads
from flexmbs.mesh.move import mapped
from flexmbs.mesh.topology import CellBlock

Array = NDArray[np.float64]

CORE = 0.55
"""Half diagonal of the square core of a disc, as part of the radius."""


def ring(inner: float, outer: float, divisions: Sequence[int], cell: str = "quad") -> MeshData:
    """A ring about the origin with face sets inner, outer; divisions (around, through)."""
    check_cell(cell, PLANE, "ring")
    _check_radii(inner, outer, "ring")
    around, through = counts(divisions, 2, "ring")
    data = in_cells(_ring(inner, outer, around, through, "ring"), cell)
    return _snapped_layers(data, inner, outer, through)


def disc(radius: float, divisions: Sequence[int], cell: str = "quad") -> MeshData:
    """A disc about the origin with face set outer; divisions (around, through), around in fours.

    A square core is surrounded by ``through`` layers.
    """
    check_cell(cell, PLANE, "disc")
    around, through = counts(divisions, 2, "disc")
    return snapped(in_cells(_disc(radius, around, through, "disc"), cell), radius)


def tube(
    inner: float,
    outer: float,
    length: float,
    divisions: Sequence[int],
    axis: str = "z",
    cell: str = "hexahedron",
) -> MeshData:
    """A tube from the origin along an axis, with face sets start, end, inner, outer.

    ``divisions`` are counted around, through the wall and along.
    """
    check_cell(cell, SOLID, "tube")
    _check_radii(inner, outer, "tube")
    around, through, along = counts(divisions, 3, "tube")
    swept = extruded(_ring(inner, outer, around, through, "tube"), _levels(length, along, "tube"))
    return turned_to(_snapped_layers(in_cells(swept, cell), inner, outer, through), axis)


def cylinder(
    radius: float, length: float, divisions: Sequence[int], axis: str = "z", cell: str = "hexahedron"
) -> MeshData:
    """A cylinder from the origin along an axis, with face sets start, end, outer.

    ``divisions`` are counted around, through the layers about the square core, and along.
    """
    check_cell(cell, SOLID, "cylinder")
    around, through, along = counts(divisions, 3, "cylinder")
    swept = extruded(_disc(radius, around, through, "cylinder"), _levels(length, along, "cylinder"))
    return turned_to(snapped(in_cells(swept, cell), radius), axis)


def extruded(plane: MeshData, levels: ArrayLike) -> MeshData:
    """Hexahedra over plane quads between levels of z; the sides keep their names, the ends are start, end."""
    heights = np.asarray(levels, dtype=float)
    count, layers = len(plane["points"]), len(heights) - 1
    points = np.tile(plane["points"], (len(heights), 1))
    points[:, 2] = np.repeat(heights, count)
    base = np.concatenate([b.nodes for b in plane["cells"]])
    bricks = np.concatenate([np.column_stack([base + k * count, base + (k + 1) * count]) for k in range(layers)])
    shift = np.arange(layers)[:, None, None] * np.array([len(base), 0]) + np.array([0, _FIRST_SIDE])
    sides = {n: (s + shift).reshape(-1, 2) for n, s in plane["face_sets"].items()}
    cells = np.arange(len(base))
    sides["start"] = np.column_stack([cells, np.full(len(base), 0)])
    sides["end"] = np.column_stack([cells + (layers - 1) * len(base), np.full(len(base), 1)])
    return MeshData(
        points=points,
        cells=[CellBlock("hexahedron", bricks)],
        node_sets={n: (s + count * np.arange(layers + 1)[:, None]).ravel() for n, s in plane["node_sets"].items()},
        cell_sets={n: (s + len(base) * np.arange(layers)[:, None]).ravel() for n, s in plane["cell_sets"].items()},
        face_sets=sides,
        name=plane["name"],
    )


_FIRST_SIDE = 2  # the hexahedron's faces over the quad's edges follow its bottom and top


def snapped(data: MeshData, radius: float, center: Sequence[float] = (0.0, 0.0, 0.0), axis: str = "z") -> MeshData:
    """Midside nodes between two corners on a circular cylinder along an axis moved onto that cylinder."""
    across = ["xyz".index(c) for c in "xyz" if c != axis]
    middle = np.asarray(center, dtype=float)[across]
    points = data["points"].copy()
    offset = points[:, across] - middle
    on = np.abs(np.linalg.norm(offset, axis=1) - radius) < 1e-9 * radius
    for block in data["cells"]:
        for a, b, between in (e for e in CELLS[block.type].edges if len(e) == 3):
            nodes = block.nodes[on[block.nodes[:, a]] & on[block.nodes[:, b]], between]
            outward = offset[nodes] / np.linalg.norm(offset[nodes], axis=1, keepdims=True)
            points[nodes[:, None], across] = middle + radius * outward
    return {**data, "points": points}


def _snapped_layers(data: MeshData, inner: float, outer: float, through: int) -> MeshData:
    for radius in np.linspace(inner, outer, through + 1):
        data = snapped(data, float(radius))
    return data


def turned_to(data: MeshData, axis: str) -> MeshData:
    """A mesh along z turned to lie along another axis, by cyclic exchange of the coordinates."""
    if axis not in ("x", "y", "z"):
        raise MeshError(f"{data['name']}: axis must be 'x', 'y' or 'z', not {axis!r}; turn it with rotated().")
    return {**data, "points": np.roll(data["points"], "zxy".index(axis), axis=1)}


def arc_block(start: ArrayLike, end: ArrayLike, divisions: int, name: str, **sides: str) -> MeshData:
    """Quads between two curves of as many points (count, 2); ``sides`` names the sides x0 ... y1 to keep.

    x runs from the start curve to the end curve, y along them.
    """
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    parameters, cells, faces = grid([divisions, len(a) - 1])
    along = np.rint(parameters[:, 1] * (len(a) - 1)).astype(int)
    xy = a[along] + parameters[:, :1] * (b - a)[along]
    return quads(xy, cells, {new: faces[old] for old, new in sides.items()}, name)


def _ring(inner: float, outer: float, around: int, through: int, name: str) -> MeshData:
    if around < 3:
        raise MeshError(f"{name}: at least 3 divisions around are needed, not {around}.")
    angle = np.linspace(0.0, 2 * np.pi, around + 1)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return merged_nodes(arc_block(inner * circle, outer * circle, through, name, x0="inner", x1="outer"))


def _disc(radius: float, around: int, through: int, name: str) -> MeshData:
    if not radius > 0:
        raise MeshError(f"{name}: the radius must be positive, not {radius!r}.")
    if around % 4:
        raise MeshError(f"{name}: divisions around must be a multiple of 4 for the square core, not {around}.")
    side = around // 4
    parameters, cells, _ = grid([side, side])
    core = mapped(quads(parameters * 2 - 1, cells, {}, name), lambda x, y, z: _rounded(x, y, radius * CORE))
    angle = np.linspace(-np.pi / 4, np.pi / 4, side + 1)
    edge = np.linspace(-1.0, 1.0, side + 1)
    east = np.column_stack(_rounded(np.ones(side + 1), edge, radius * CORE))
    arc = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    whole = core
    for quarter in range(4):
        turn = np.linalg.matrix_power(np.array([[0, -1], [1, 0]]), quarter).T
        whole = joined(whole, arc_block(east @ turn, arc @ turn, through, name, x1="outer"))
    return merged_nodes(whole)


def _rounded(x: Array, y: Array, half_diagonal: float) -> tuple[Array, Array]:
    """The square (-1, 1)² with sides bulged halfway towards the circle through its corners."""
    scale = half_diagonal / np.sqrt(2)
    bulge = 0.5 * (np.sqrt(2) - 1)
    return scale * x * (1 + bulge * (1 - y**2)), scale * y * (1 + bulge * (1 - x**2))


def _levels(length: float, along: int, name: str) -> Array:
    if not length > 0:
        raise MeshError(f"{name}: the length must be positive, not {length!r}.")
    return np.linspace(0.0, length, along + 1)


def _check_radii(inner: float, outer: float, name: str) -> None:
    if not 0 < inner < outer:
        raise MeshError(f"{name}: 0 < inner < outer is needed, not inner {inner!r}, outer {outer!r}.")
