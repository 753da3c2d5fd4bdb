"""The pictures users ask for: a mesh with its sets, a deformed part, mode shapes. They draw results, never compute."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.analyses.modes import Modes
from flexmbs.analyses.statics import StaticResult
from flexmbs.errors import AnalysisError
from flexmbs.fem.elements import Elements
from flexmbs.fem.stress import SectionForces
from flexmbs.mesh.mesh import Mesh
from flexmbs.view.camera import camera
from flexmbs.view.figure import write
from flexmbs.view.look import OUTLINE, PLAIN
from flexmbs.view.scene import ColorBar, Dots, Lines, Panel, Picture, Surface
from flexmbs.view.skin import sharp_edges, skin
from flexmbs.view.units import round_number, with_prefix

Array = NDArray[np.float64]
PathArgument = str | PathLike[str] | None

SET_COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#f0e442", "#7b5ea7")
"""Okabe and Ito's colours, told apart by most colour-blind people, and one more."""

DEFLECTION = 0.08
"""Largest displacement in a picture with ``scale="auto"``, as part of the mesh's size."""
MANY_EDGES = 80_000
"""Segments above which cell edges would only blacken the picture."""


def mesh(
    mesh: Mesh,
    path: PathArgument = None,
    *,
    sets: Sequence[str] | None = None,
    look: ArrayLike | None = None,
    size: tuple[int, int] | None = None,
) -> Path | None:
    """Picture of a mesh, its sets (all, or those named) in colours with a legend.

    Face sets and what is outside of cell sets are coloured, other node sets are dots. ``look`` is the direction from
    the part to the viewer, ``size`` that of the picture in pixels; without ``path`` a window opens.
    """
    names = list(mesh.sets if sets is None else sets)
    everything = [name for name in names if mesh.n_nodes == len(mesh.nodes(name))]
    names = [name for name in names if name not in everything]
    colors = {name: SET_COLORS[k % len(SET_COLORS)] for k, name in enumerate(names)}
    items: list[Surface | Lines | Dots] = []
    painted = _paint(mesh, names)
    for k in np.unique(painted):
        part = skin(mesh, mesh.boundary[painted == k]) if mesh.dimension == 3 else skin(mesh)
        color = PLAIN if k < 0 else colors[names[k]]
        items.append(Surface(part.at(mesh.points), part.triangles, color, closed=mesh.dimension == 3))
    whole = skin(mesh)
    if mesh.dimension == 1:
        items.append(Lines(whole.at(mesh.points), whole.edges, "member", "#7a828a", 3.0))
    elif len(whole.edges) <= MANY_EDGES:
        items.append(Lines(whole.at(mesh.points), whole.edges, "edges", width=0.8))
    for k, name in enumerate(names):
        if k not in painted:
            items.append(Dots(mesh.points[mesh.nodes(name)], colors[name]))
    cells = ", ".join(f"{len(block)} {block.type}" for block in mesh.cells)
    title = f"{mesh.name}: {mesh.n_nodes} nodes, {cells}"
    panel = Panel(title, camera(mesh.points, look, mesh.dimension == 2), tuple(items))
    return write(Picture((panel,), legend=(*colors.items(), *((name, PLAIN) for name in everything))), path, size)


def deformed(
    result: StaticResult,
    path: PathArgument = None,
    *,
    color: str | ArrayLike = "von_mises",
    label: str = "",
    scale: float | str = "auto",
    look: ArrayLike | None = None,
    size: tuple[int, int] | None = None,
) -> Path | None:
    """Picture of a part deformed by its loads, with its undeformed outline.

    ``color`` is ``"von_mises"`` (the largest fibre stress for beams), ``"displacement"`` or nodal values of your own
    (nodes,) with their ``label``. ``scale`` multiplies the displacements; ``"auto"`` makes them visible.
    """
    elements = result.elements
    displacement = _in_space(result.displacement, elements)
    values, bar = _field(result, color, label, displacement)
    factor = _scale(scale, displacement, elements.mesh)
    title = f"{elements.mesh.name}: deformation × {factor:g}"
    panel = _deformed_panel(elements, displacement * factor, values, title, look)
    return write(Picture((panel,), bar=bar), path, size)


def mode(
    modes: Modes,
    number: int,
    path: PathArgument = None,
    *,
    scale: float | str = "auto",
    look: ArrayLike | None = None,
    size: tuple[int, int] | None = None,
) -> Path | None:
    """Picture of one mode shape, by its number in the table (the first is 1), coloured by displacement."""
    return write(_mode_picture(modes, [number], 1, scale, look), path, size)


def modes(
    modes: Modes,
    path: PathArgument = None,
    *,
    numbers: Sequence[int] | None = None,
    columns: int = 3,
    scale: float | str = "auto",
    look: ArrayLike | None = None,
    size: tuple[int, int] | None = None,
) -> Path | None:
    """Picture of several mode shapes with their frequencies: the first six that are not rigid, or those numbered."""
    chosen = list(1 + np.flatnonzero(~modes.rigid)[:6]) if numbers is None else list(numbers)
    if not chosen:
        raise AnalysisError("view.modes: all modes are rigid; ask fm.modes for more, or give numbers=.")
    columns = min(columns, len(chosen))
    return write(_mode_picture(modes, chosen, columns, scale, look), path, size)


def _mode_picture(modes: Modes, numbers: Sequence[int], columns: int, scale: Any, look: Any) -> Picture:
    panels = []
    for number in numbers:
        if not 1 <= number <= len(modes):
            raise AnalysisError(f"there is no mode {number}; the modes are numbered from 1 to {len(modes)}.")
        shape = _in_space(_real(modes.shapes[number - 1]), modes.elements)
        size = np.linalg.norm(shape, axis=1)
        values = size / max(size.max(), 1e-300)
        state = "rigid" if modes.rigid[number - 1] else f"{modes.frequencies[number - 1]:.5g} Hz"
        factor = _scale(scale, shape, modes.elements.mesh, rounded=False)
        panels.append(_deformed_panel(modes.elements, shape * factor, values, f"mode {number}: {state}", look))
    bar = ColorBar("displacement / largest", 0.0, 1.0)
    return Picture(tuple(panels), columns, bar)


def _deformed_panel(elements: Elements, moved: Array, values: Array, title: str, look: Any) -> Panel:
    grid = elements.mesh
    part = skin(grid)
    rest = part.at(grid.points)
    points = part.at(grid.points + moved)
    shown = part.at(values)
    items: tuple[Surface | Lines | Dots, ...]
    if grid.dimension == 1:
        items = (
            Lines(rest, part.edges, "outline", OUTLINE, 1.5),
            Lines(points, part.edges, "member", width=6.0, values=shown),
        )
    else:
        sharp = sharp_edges(rest, part.triangles)
        items = (
            Lines(rest, sharp, "outline", OUTLINE, 1.5),
            Surface(points, part.triangles, values=shown, closed=grid.dimension == 3),
            Lines(points, sharp, "edges", width=1.2),
        )
    seen = camera(np.concatenate([rest, points]), look, grid.dimension == 2)
    return Panel(title, seen, items)


def _field(result: StaticResult, color: str | ArrayLike, label: str, displacement: Array) -> tuple[Array, ColorBar]:
    """Nodal values to show and their colour bar."""
    if isinstance(color, str) and color == "displacement":
        values, unit = with_prefix(np.linalg.norm(displacement, axis=1), "m")
        return values, ColorBar(f"displacement [{unit}]", 0.0, _top(values))
    if isinstance(color, str) and color == "von_mises":
        field = result.stress
        if isinstance(field, SectionForces):
            values, unit = with_prefix(field.nodal, "Pa")
            return values, ColorBar(f"largest fibre stress [{unit}]", 0.0, _top(values))
        values, unit = with_prefix(field.von_mises, "Pa")
        return values, ColorBar(f"von Mises stress [{unit}]", 0.0, _top(values))
    if isinstance(color, str):
        raise AnalysisError(f'color must be "von_mises", "displacement" or nodal values, not {color!r}.')
    values = np.asarray(color, dtype=float)
    if values.shape != (result.elements.mesh.n_nodes,):
        raise AnalysisError(
            f"color: values of shape {values.shape} for {result.elements.mesh.n_nodes} nodes; one per node is needed."
        )
    return values, ColorBar(label, float(values.min()), float(values.max()))


def _top(values: Array) -> float:
    return float(values.max()) or 1.0


def _scale(scale: float | str, displacement: Array, mesh: Mesh, rounded: bool = True) -> float:
    if isinstance(scale, str):
        if scale != "auto":
            raise AnalysisError(f'scale must be a number or "auto", not {scale!r}.')
        largest = float(np.linalg.norm(displacement, axis=1).max())
        factor = DEFLECTION * mesh.size / largest if largest > 0 else 1.0
        return round_number(factor) if rounded else factor
    return float(scale)


def _in_space(values: Array, elements: Elements) -> Array:
    """The displacements (nodes, 3) among nodal coordinates."""
    out = np.zeros((len(values), 3))
    out[:, : elements.axes] = values[:, : elements.axes]
    return out


def _real(shape: NDArray[Any]) -> Array:
    """A complex shape at the phase where it is largest."""
    if not np.iscomplexobj(shape):
        return np.asarray(shape)
    squared = np.sum(shape**2)
    return np.asarray(np.real(shape * np.exp(-0.5j * np.angle(squared))))


def _paint(mesh: Mesh, names: Sequence[str]) -> NDArray[np.int64]:
    """Which set each boundary face shows, -1 for none: face sets over cell sets, later over earlier."""
    if mesh.dimension < 3:
        return np.full(mesh.dimension - 1, -1)
    pairs = mesh.boundary
    paint = np.full(len(pairs), -1)
    for k, name in enumerate(names):
        if name in mesh.cell_sets and name not in mesh.face_sets:
            paint[np.isin(pairs[:, 0], mesh.cell_sets[name])] = k
    for k, name in enumerate(names):
        if name in mesh.face_sets:
            mine = mesh.face_sets[name] @ [8, 1]  # no cell has more faces
            paint[np.isin(pairs @ [8, 1], mine)] = k
    return paint
