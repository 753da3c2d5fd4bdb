"""Pictures of one part: a mesh with its sets, and what its loads or its motion do to it. They draw, never compute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.analyses.elastic_response import ElasticResponse
from flexmbs.analyses.statics import StaticResult
from flexmbs.errors import AnalysisError
from flexmbs.fem.elements import Elements
from flexmbs.fem.stress import SectionForces, TensorField
from flexmbs.mesh.mesh import Mesh
from flexmbs.view import film
from flexmbs.view.camera import Look, camera, views
from flexmbs.view.fields import STRESSES, measure
from flexmbs.view.figure import write
from flexmbs.view.look import PLAIN
from flexmbs.view.part_scene import PartScene, factor, in_space
from flexmbs.view.scene import ColorBar, Dots, Lines, Panel, Picture, Surface
from flexmbs.view.skin import skin
from flexmbs.view.units import with_prefix

Array = NDArray[np.float64]
PathArgument = str | PathLike[str] | None

SET_COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#f0e442", "#7b5ea7")
"""Okabe and Ito's colours, told apart by most colour-blind people, and one more."""

MANY_EDGES = 80_000
"""Segments above which cell edges would only blacken the picture."""


def mesh(
    mesh: Mesh,
    path: PathArgument = None,
    *,
    sets: Sequence[str] | None = None,
    look: Look = None,
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
    plane = mesh.dimension == 2 and not np.ptp(mesh.points[:, 2])  # surfaces in space are those of solids
    painted = _paint(mesh, names)
    for k in np.unique(painted):
        part = skin(mesh, mesh.boundary[painted == k]) if mesh.dimension == 3 else skin(mesh)
        color = PLAIN if k < 0 else colors[names[k]]
        items.append(Surface(part.at(mesh.points), part.triangles, color, closed=not plane))
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
    panel = Panel(title, camera(mesh.points, look, plane), tuple(items))
    return write(Picture((panel,), legend=(*colors.items(), *((name, PLAIN) for name in everything))), path, size)


def deformed(
    result: StaticResult | ElasticResponse,
    path: PathArgument = None,
    *,
    at: float | None = None,
    color: str | ArrayLike = "von_mises",
    label: str = "",
    scale: float | str = "auto",
    look: Look | Sequence[Look] = None,
    size: tuple[int, int] | None = None,
    frames: int | None = None,
    fps: float = 25.0,
) -> Path | None:
    """Picture of a part deformed by its loads, or of its elastodynamics as a film, with its undeformed outline.

    ``color`` is ``"von_mises"`` (the largest fibre stress for beams), ``"tresca"``, ``"max_principal"``,
    ``"min_principal"``, ``"stress_xx"``, ..., ``"displacement"`` or nodal values of your own (nodes,) with their
    ``label``; named fields are in SI units where a label is given. ``scale`` multiplies the displacements; ``"auto"``
    makes them visible. A list of ``look``s gives several views. A response of ``fm.elastodynamics`` is drawn ``at`` a
    time, by default the last, or where the path ends in ``.mp4`` or ``.gif`` as a film of ``frames`` pictures, ``fps``
    a second.
    """
    looks = views(look)
    if isinstance(result, ElasticResponse):
        elements = None if result.part is None else result.part.elements
        if elements is None:
            raise AnalysisError(f"{result.name}: a picture needs the body's own elements, not only its matrices.")
        if film.is_film(path):
            return _film(result, elements, path, color, label, scale, looks, size, frames, fps)
        time = float(result.t[-1] if at is None else at)
        displacement, note = in_space(result.displacement(time), elements), f",   t = {time:.6g} s"
        values, bar = _field(elements, result.stress(time) if _is_stress(color) else None, color, label, displacement)
    elif isinstance(result, StaticResult):
        if at is not None or film.is_film(path):
            raise AnalysisError("deformed: a static result does not move; films are of fm.elastodynamics or modes.")
        elements, note = result.elements, ""
        displacement = in_space(result.displacement, elements)
        values, bar = _field(elements, result.stress if _is_stress(color) else None, color, label, displacement)
    else:
        raise AnalysisError(
            f"deformed: a result of fm.statics or fm.elastodynamics of a part is needed, not {type(result).__name__}; "
            "mechanisms are drawn by view.snapshot."
        )
    larger = factor(scale, float(np.linalg.norm(displacement, axis=1).max(initial=0.0)), elements.mesh)
    scene, moved = PartScene(elements.mesh), displacement * larger
    cameras = [scene.camera([moved], one) for one in looks]
    title = f"{_name(result, elements)}: deformation × {larger:g}{note}"
    columns = min(len(looks), 3)
    return write(Picture(scene.panels(moved, values, title, cameras), columns, bar), path, size)


def _film(
    response: ElasticResponse,
    elements: Elements,
    path: PathArgument,
    color: str | ArrayLike,
    label: str,
    scale: float | str,
    looks: list[Look],
    size: tuple[int, int] | None,
    frames: int | None,
    fps: float,
) -> Path:
    """The response as a film, in one scale and one range of colours."""
    assert path is not None
    first, last = float(response.t[0]), float(response.t[-1])
    count, fps = film.length(last - first, frames, fps)
    where, times = film.checked(path), np.linspace(first, last, count)
    displacements = [in_space(response.displacement(float(t)), elements) for t in times]
    stresses = [response.stress(float(t)) if _is_stress(color) else None for t in times]
    raw = [_raw(elements, s, color, u) for s, u in zip(stresses, displacements, strict=True)]
    shown, bar = _as_bar(np.array([values for values, _, _ in raw]), *raw[0][1:], label)
    larger = factor(scale, max(float(np.linalg.norm(u, axis=1).max()) for u in displacements), elements.mesh)
    scene = PartScene(elements.mesh)
    some = displacements[:: max(1, count // 40)]
    cameras = [scene.camera((larger * u for u in some), one) for one in looks]
    pace = film.pace((last - first) * fps / count)

    def pictures() -> Iterator[Picture]:
        for t, u, values in zip(times, displacements, shown, strict=True):
            title = f"{_name(response, elements)}: deformation × {larger:g},   t = {t:.5g} s{pace}"
            yield Picture(scene.panels(larger * u, values, title, cameras), min(len(looks), 3), bar)

    return film.write(pictures(), where, fps, size)


def _name(result: Any, elements: Elements) -> str:
    return str(getattr(result, "name", "") or elements.mesh.name)


def _is_stress(color: Any) -> bool:
    return isinstance(color, str) and color in STRESSES


def _field(
    elements: Elements, stress: TensorField | SectionForces | None, color: Any, label: str, displacement: Array
) -> tuple[Array, ColorBar]:
    """Nodal values to show and their colour bar."""
    return _as_bar(*_raw(elements, stress, color, displacement), label)


def _raw(
    elements: Elements, stress: TensorField | SectionForces | None, color: Any, displacement: Array
) -> tuple[Array, str, str]:
    """Nodal values in SI units, what they are and their unit."""
    if isinstance(color, str) and color == "displacement":
        return np.linalg.norm(displacement, axis=1), "displacement", "m"
    if isinstance(stress, SectionForces):
        if color != "von_mises":
            raise AnalysisError(f'color={color!r}: beams have "von_mises" of their outer fibres only.')
        return stress.nodal, "largest fibre stress", "Pa"
    if stress is not None:
        values = stress.von_mises if color == "von_mises" else measure(color, stress.nodal)
        return values, STRESSES[color], "Pa"
    if isinstance(color, str):
        raise AnalysisError(
            f'color must be "displacement", {", ".join(map(repr, STRESSES))} or nodal values, not {color!r}.'
        )
    values = np.asarray(color, dtype=float)
    if values.shape != (elements.mesh.n_nodes,):
        raise AnalysisError(
            f"color: values of shape {values.shape} for {elements.mesh.n_nodes} nodes; one per node is needed."
        )
    return values, "", ""


def _as_bar(values: Array, name: str, unit: str, label: str) -> tuple[Array, ColorBar]:
    """Values in a unit for people and their colour bar: from zero, or from the smallest of what has a sign."""
    if not name:
        low, high = float(values.min()), float(values.max())
        return values, ColorBar(label, low, high if high > low else low + 1.0)
    scaled, unit = (values, "") if label else with_prefix(values, unit)  # a label of one's own is of SI units
    low, high = min(0.0, float(scaled.min())), max(0.0, float(scaled.max()))
    return scaled, ColorBar(label or f"{name} [{unit}]", low, high if high > low else 1.0)


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
