"""A mechanism that swings in one of its modes, as a motion that can be drawn like any other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.analyses.equilibrium import SystemModes
from flexmbs.bodies.body import GROUND
from flexmbs.errors import AnalysisError
from flexmbs.results import Result
from flexmbs.view.coloring import Coloring
from flexmbs.view.look import OUTLINE, Piece
from flexmbs.view.mechanism import Drawing, Items, Options
from flexmbs.view.part_scene import largest_phase
from flexmbs.view.poses import Poses, poses
from flexmbs.view.scene import ColorBar, Lines

Array = NDArray[np.float64]

VISIBLE = 0.08
"""Largest displacement with ``scale="auto"``, as part of the mechanism's size."""
SMALL = 1e-4
"""Displacement at which a shape is measured, as part of the mechanism's size: rotations are then small."""
FINE = 24
"""Phases over which the largest displacement is found."""


@dataclass(frozen=True, eq=False)
class SwingColoring(Coloring):
    """Colours by how far points are from where they rest, the largest being 1."""

    rest: Poses | None = None
    top: float = 1.0

    def values(self, piece: Piece, k: int) -> Array | None:
        """Displacement over the largest, at the points of a body."""
        if not piece.own or self.rest is None:
            return None
        return np.linalg.norm(_shift(piece, self.shown, k, self.rest), axis=1) / self.top


@dataclass(frozen=True, eq=False)
class Swing(Drawing):
    """A mechanism at the phases of a mode, coloured by displacement, with an outline where it rests."""

    rest: Poses | None = None
    top: float = 1.0

    @cached_property
    def coloring(self) -> Coloring | None:
        """Displacement over the largest."""
        bar = ColorBar("displacement / largest", 0.0, 1.0)
        return SwingColoring("swing", bar, 1.0, self.shown, rest=self.rest, top=self.top)

    def items(self, k: int) -> Items:
        """Everything at the k-th phase, and the outline of the bodies at rest."""
        outline: Items = []
        for piece in self.pieces:
            if piece.own and self.rest is not None and self.system.bodies[piece.body].kind != GROUND:
                points = piece.moved(*self.rest.pose(piece.body, 0))
                outline.append(Lines(points, piece.edges, "outline", OUTLINE, 1.5))
        return [*outline, *super().items(k)]


def oscillates(modes: SystemModes) -> NDArray[np.bool_]:
    """Which modes swing, rather than drift or creep."""
    return np.asarray(modes.eigenvalues.imag > 0)


def at_rest(modes: SystemModes, flat: bool) -> Drawing:
    """The mechanism where it rests; ``flat``: seen straight on, if it is planar."""
    return _rest(modes, modes.shapes[0], flat)


def swinging(modes: SystemModes, number: int, phases: Array, scale: float | str, flat: bool) -> Swing:
    """The mechanism at phases of a mode, moved by ``scale`` times its shape of unit modal mass, or visibly."""
    if isinstance(scale, str) and scale != "auto":
        raise AnalysisError(f'scale must be a number or "auto", not {scale!r}.')
    if not isinstance(scale, str) and not np.isfinite(scale):
        raise AnalysisError(f'scale must be a number or "auto", not {scale!r}.')
    weights = modes.system.length_weights
    shape = largest_phase(modes.shapes[number - 1] * weights) / weights
    plane = None if flat else False
    rest = _rest(modes, shape, flat)
    still, size = rest.shown, rest.look.size
    small = SMALL * size / max(float(np.abs(shape * weights).max()), 1e-300)
    fine = 2 * np.pi * np.arange(FINE) / FINE
    measured = _swing(_at(modes, shape, small, fine), still, plane, 1.0)
    top = _largest(measured, still) / small
    amplitude = (VISIBLE * size / top if top > 0 else 0.0) if isinstance(scale, str) else float(scale)
    everything = _swing(_at(modes, shape, amplitude, fine), still, plane, 1.0)
    largest = _largest(everything, still) or 1.0
    return _swing(_at(modes, shape, amplitude, phases), still, plane, largest)


def _rest(modes: SystemModes, shape: NDArray[Any], flat: bool) -> Drawing:
    result = _at(modes, shape, 0.0, np.zeros(1))
    return Drawing(result, poses(result, result.t), Options(), None if flat else False)


def _swing(result: Result, rest: Poses, plane: bool | None, top: float) -> Swing:
    return Swing(result, poses(result, result.t), Options(), plane, rest=rest, top=top)


def _at(modes: SystemModes, shape: NDArray[Any], amplitude: float, phases: Array) -> Result:
    """The state moved along a shape, at each phase; time counts phases."""
    system, state, n = modes.system, modes.state, len(phases)
    swung = amplitude * np.real(np.exp(1j * phases)[:, None] * shape)
    q = np.array([system.retract(state.q, step) for step in swung])
    flow = amplitude * np.real(1j * np.exp(1j * phases)[:, None] * shape)
    return Result(
        system, np.asarray(phases, dtype=float), q, flow, 0 * flow, np.zeros((n, len(system.rows))),
        np.tile(state.angles, (n, 1)),
    )  # fmt: skip


def _shift(piece: Piece, shown: Poses, k: int, rest: Poses) -> Array:
    """How far the points of a piece have moved from where they rest."""
    return np.asarray(piece.moved(*shown.pose(piece.body, k)) - piece.moved(*rest.pose(piece.body, 0)))


def _largest(drawn: Swing, rest: Poses) -> float:
    own = [p for p in drawn.pieces if p.own and len(p.solid.points)]
    shifts = [_shift(p, drawn.shown, k, rest) for p in own for k in range(len(drawn.shown.t))]
    return max((float(np.linalg.norm(s, axis=1).max()) for s in shifts), default=0.0)
