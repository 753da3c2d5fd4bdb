"""What bodies are coloured by: the speed of their points, or stress and deformation of flexible ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.errors import AnalysisError
from flexmbs.results import Result
from flexmbs.view.flesh import Flesh
from flexmbs.view.look import Piece
from flexmbs.view.poses import Poses
from flexmbs.view.scene import ColorBar
from flexmbs.view.units import with_prefix

Array = NDArray[np.float64]

COLORS = (None, "speed", "von_mises", "displacement")
INSTANTS = 120
"""Times of a motion over which the range of colours is found."""


@dataclass(frozen=True, eq=False)
class Coloring:
    """A colour bar with one range for the whole motion, and the values of each piece at the times shown.

    ``stress`` (time, nodes) of flexible bodies by number; ``factor`` makes values of the unit of the bar.
    """

    kind: str
    bar: ColorBar
    factor: float
    shown: Poses
    stress: dict[int, Array] = field(default_factory=dict)

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
        if piece.body not in self.stress:
            return None
        return np.asarray(self.factor * (piece.weights @ self.stress[piece.body][k]))


def check_color(color: str | None, result: Result) -> None:
    """Refuse colours that do not exist, or that the mechanism does not have."""
    if color not in COLORS:
        raise AnalysisError(
            f'color must be None (each body its own), "speed", "von_mises" or "displacement", not {color!r}.'
        )
    flexible = [b for b in result.system.bodies if isinstance(b, FlexibleBody)]
    if color in ("von_mises", "displacement") and not flexible:
        raise AnalysisError(f"color={color!r} needs a flexible body; all bodies of this mechanism are rigid.")
    if color == "von_mises" and not any(_has_stress(b) for b in flexible):
        names = ", ".join(b.name for b in flexible)
        raise AnalysisError(f'color="von_mises": {names} has matrices but no elements, and so no stress.')


def coloring(color: str, result: Result, pieces: Sequence[Piece], shown: Poses, whole: Poses) -> Coloring:
    """The values of a colour, and its range over the whole motion."""
    if color == "speed":
        top = max((speeds(p, whole, k).max() for k in _some(len(whole.t)) for p in pieces if p.own), default=0.0)
        return Coloring(color, ColorBar("speed [m/s]", 0.0, float(top) or 1.0, "viridis"), 1.0, shown)
    surfaces = [p for p in pieces if isinstance(p, Flesh)]
    if color == "displacement":
        sizes = [p.deformation(whole.elastic[p.body][k]).max() for k in _some(len(whole.t)) for p in surfaces]
        factor, unit = _unit(max(sizes, default=0.0), "m")
        return Coloring(color, _bar(f"deformation [{unit}]", sizes, factor), factor, shown)
    stress, tops, beams = {}, [0.0], True
    instants = result.t[list(_some(len(result.t)))]
    for piece in surfaces:
        body = result.system.bodies[piece.body]
        if isinstance(body, FlexibleBody) and _has_stress(body):
            stress[piece.body] = result.von_mises(body, at=shown.t, nodes=piece.nodes)
            tops += [result.von_mises(body, at=instants, nodes=piece.nodes).max(), stress[piece.body].max()]
            beams = beams and body.reduced.mesh.dimension == 1
    factor, unit = _unit(max(tops), "Pa")
    title = f"largest fibre stress [{unit}]" if beams else f"von Mises stress [{unit}]"
    return Coloring(color, _bar(title, tops, factor), factor, shown, stress)


def speeds(piece: Piece, at: Poses, k: int) -> Array:
    """Speed of the points of a piece at the k-th time."""
    b = piece.body
    _, rotation, d = at.pose(b, k)
    local, flow = piece.solid.points, np.zeros(3)
    if isinstance(piece, Flesh):
        local, flow = local + piece.true_shapes @ d, piece.true_shapes @ at.elastic_rate[b][k]
    moving = at.velocity[b, k] + np.cross(at.spin[b, k], local @ rotation.T) + flow @ rotation.T
    return np.asarray(np.linalg.norm(moving, axis=1))


def _has_stress(body: FlexibleBody) -> bool:
    part = body.reduced.part
    return part is not None and part.elements is not None


def _some(count: int) -> range:
    return range(0, count, max(1, count // INSTANTS))


def _unit(top: float, unit: str) -> tuple[float, str]:
    values, named = with_prefix(np.array([top]), unit)
    return (float(values[0]) / top if top > 0 else 1.0), named


def _bar(title: str, tops: Sequence[float], factor: float) -> ColorBar:
    return ColorBar(title, 0.0, factor * float(max(tops, default=0.0)) or 1.0)
