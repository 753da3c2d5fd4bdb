"""What bodies are coloured by: the speed of their points, stress and deformation of flexible ones, or any field."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.errors import AnalysisError
from flexmbs.results import Result
from flexmbs.view.fields import STRESSES, OwnField, check_own, has_field, own_field, stress_field
from flexmbs.view.flesh import Flesh
from flexmbs.view.look import Piece
from flexmbs.view.poses import Poses
from flexmbs.view.scene import ColorBar
from flexmbs.view.units import with_prefix

Array = NDArray[np.float64]
Color = str | OwnField | None
Limits = tuple[float, float] | None

INSTANTS = 120
"""Times of a motion over which the range of colours is found."""


@dataclass(frozen=True, eq=False)
class Coloring:
    """A colour bar with one range for the whole motion, and the values of each piece at the times shown.

    ``nodal`` (time, nodes) of flexible bodies by number; ``factor`` makes values of the unit of the bar.
    """

    kind: str
    bar: ColorBar
    factor: float
    shown: Poses
    nodal: dict[int, Array] = field(default_factory=dict)

    def values(self, piece: Piece, k: int) -> Array | None:
        """Values at the points of a piece at the k-th time shown, None where it has none."""
        if not piece.own:
            return None
        if self.kind == "speed":
            return speeds(piece, self.shown, k)
        if not isinstance(piece, Flesh):
            return None
        if self.kind == "displacement":
            return self.factor * piece.deformation(self.shown.elastic[piece.body][k])
        if piece.body not in self.nodal:
            return None
        return np.asarray(self.factor * (piece.weights @ self.nodal[piece.body][k]))


def check_color(color: Any, result: Result, limits: Any = None) -> None:
    """Refuse colours that do not exist, or that the mechanism does not have, and ranges that are none."""
    if limits is not None:
        given = np.asarray(limits, dtype=float) if isinstance(limits, tuple | list) else np.zeros(0)
        if given.shape != (2,) or not np.isfinite(given).all() or not given[0] < given[1]:
            raise AnalysisError(f"limits: (lowest, highest) of the colours in SI units is needed, not {limits!r}.")
        if color is None:
            raise AnalysisError('limits= are those of a colour range; give color= too, e.g. color="von_mises".')
    if color is None:
        return
    if not isinstance(color, str):
        if not (callable(color) or isinstance(color, Mapping)):
            raise AnalysisError(
                "color: a name, a mapping from flexible bodies to nodal values, or a function of body and times is "
                f"needed, not {type(color).__name__}."
            )
        check_own(color, result)
        return
    if color not in ("speed", "displacement", *STRESSES):
        raise AnalysisError(
            f'color must be None (each body its own), "speed", "displacement", {", ".join(map(repr, STRESSES))} or '
            f"nodal values of flexible bodies, not {color!r}."
        )
    flexible = [b for b in result.system.bodies if isinstance(b, FlexibleBody)]
    if color != "speed" and not flexible:
        raise AnalysisError(f"color={color!r} needs a flexible body; all bodies of this mechanism are rigid.")
    if color in STRESSES and not any(has_field(b, color) for b in flexible):
        names = ", ".join(b.name for b in flexible)
        if any(has_field(b, "von_mises") for b in flexible):
            raise AnalysisError(f'color={color!r}: {names} is of beams, which have "von_mises" of their fibres only.')
        raise AnalysisError(f"color={color!r}: {names} has matrices but no elements, and so no stress.")


def coloring(
    color: str | OwnField,
    result: Result,
    pieces: Sequence[Piece],
    shown: Poses,
    whole: Poses,
    label: str = "",
    limits: Limits = None,
) -> Coloring:
    """The values of a colour, and its range over the whole motion or that given."""
    made = _coloring(color, result, pieces, shown, whole)
    bar = made.bar
    if label:  # of one's own, and so of SI units
        bar = replace(bar, title=label, low=bar.low / made.factor, high=bar.high / made.factor)
        made = replace(made, factor=1.0)
    if limits is not None:
        bar = replace(bar, low=made.factor * float(limits[0]), high=made.factor * float(limits[1]))
    return replace(made, bar=bar)


def _coloring(color: str | OwnField, result: Result, pieces: Sequence[Piece], shown: Poses, whole: Poses) -> Coloring:
    if color == "speed":
        top = max((speeds(p, whole, k).max() for k in _some(len(whole.t)) for p in pieces if p.own), default=0.0)
        return Coloring("speed", ColorBar("speed [m/s]", 0.0, float(top) or 1.0, "viridis"), 1.0, shown)
    surfaces = [p for p in pieces if isinstance(p, Flesh)]
    if color == "displacement":
        sizes = [p.deformation(whole.elastic[p.body][k]).max() for k in _some(len(whole.t)) for p in surfaces]
        factor, unit = _unit(max(sizes, default=0.0), "m")
        return Coloring("displacement", _bar(f"deformation [{unit}]", sizes, factor), factor, shown)
    instants = result.t[list(_some(len(result.t)))]
    of: Callable[[Flesh, FlexibleBody, Array], Array | None]
    if isinstance(color, str):
        name = color  # for the type checker

        def of(piece: Flesh, body: FlexibleBody, times: Array) -> Array | None:
            return stress_field(result, body, name, times, piece.nodes) if has_field(body, name) else None
    else:
        own = color

        def of(piece: Flesh, body: FlexibleBody, times: Array) -> Array | None:
            values = own_field(own, result, body, times)
            return None if values is None else values[:, piece.nodes]

    nodal, ends, beams = {}, [], True
    for piece in surfaces:
        body = result.system.bodies[piece.body]
        assert isinstance(body, FlexibleBody)
        values = of(piece, body, shown.t)
        if values is not None:
            nodal[piece.body] = values
            over = of(piece, body, instants)
            assert over is not None
            ends += [f(v) for f in (np.min, np.max) for v in (values, over)]
            beams = beams and body.reduced.mesh.dimension == 1
    if not isinstance(color, str):
        low, high = min(ends, default=0.0), max(ends, default=1.0)
        return Coloring("own", ColorBar("", float(low), float(high if high > low else low + 1.0)), 1.0, shown, nodal)
    factor, unit = _unit(max(np.abs(ends), default=0.0), "Pa")
    title = "largest fibre stress" if beams and color == "von_mises" else STRESSES[color]
    return Coloring(color, _bar(f"{title} [{unit}]", ends, factor), factor, shown, nodal)


def speeds(piece: Piece, at: Poses, k: int) -> Array:
    """Speed of the points of a piece at the k-th time."""
    b = piece.body
    _, rotation, d = at.pose(b, k)
    local, flow = piece.solid.points, np.zeros(3)
    if isinstance(piece, Flesh):
        local, flow = local + piece.true_shapes @ d, piece.true_shapes @ at.elastic_rate[b][k]
    moving = at.velocity[b, k] + np.cross(at.spin[b, k], local @ rotation.T) + flow @ rotation.T
    return np.asarray(np.linalg.norm(moving, axis=1))


def _some(count: int) -> range:
    return range(0, count, max(1, count // INSTANTS))


def _unit(top: float, unit: str) -> tuple[float, str]:
    values, named = with_prefix(np.array([top]), unit)
    return (float(values[0]) / top if top > 0 else 1.0), named


def _bar(title: str, values: Sequence[float], factor: float) -> ColorBar:
    """From zero to the largest; from the smallest where that is below zero."""
    low, high = min([0.0, *map(float, values)]), max([0.0, *map(float, values)])
    return ColorBar(title, factor * low, factor * high if high > low else 1.0)
