"""TangentSpaceODE: Maggi's equations in independent coordinates on the constraint manifold, by Runge–Kutta methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.formulations import Formulation
from flexmbs.integrators.adaptive import AdaptiveIntegrator
from flexmbs.integrators.chart import Chart, LostError
from flexmbs.integrators.motion import FAR, Motion
from flexmbs.integrators.tree_motion import tree_motion
from flexmbs.system.state import State

Array = NDArray[np.float64]

TILTED = 0.5
"""Tangent of the angle between tangent spaces at which the base point moves."""
WEAK = 1e-2
"""A base point with a weaker direction than this is near a singular position: better pass it from farther away."""


@dataclass(frozen=True)
class TangentSpaceODE(AdaptiveIntegrator):
    """Adaptive integration on the constraint manifold: constraints hold to rounding, at position and velocity level.

    Near a base point, positions and velocities are functions of as many coordinates ξ, η as there are free motions
    (see ``chart``); these follow an ordinary differential equation. The base point moves when the mechanism has moved
    on. Each step keeps positions to ``rtol`` of the mechanism's size, velocities to ``rtol`` of themselves; states
    interpolated between steps are up to some sixteen times less accurate.

    Parameters
    ----------
    method : "DOP853" or "RK45" (explicit, order 8 and 5), or "Radau" (implicit, order 5, for stiff systems).
    rtol, atol : relative and absolute error of a step; the latter in sizes of the mechanism, and sizes per second.
    max_step : longest step, if it should be bounded.
    formulation : what solves for accelerations; by default the elimination along the joint graph.
    """

    method: str = "DOP853"
    rtol: float = 1e-8
    atol: float = 1e-10
    max_step: float | None = None
    formulation: Formulation | None = None

    def motion(self, system: Any, start: State) -> Motion:
        """Independent coordinates on the manifold."""
        along = tree_motion(system, start.q) if self.formulation is None else None
        return TangentSpace(system, self.formulation) if along is None else along


class TangentSpace(Motion):
    """y = (ξ, η): increments in the tangent space of the base point, and the part of the velocities in it."""

    chart: Chart

    def __init__(self, system: Any, formulation: Formulation | None) -> None:
        super().__init__(system, formulation)
        self.clearest = 0.0

    def begin(self, t: float, q: Array, v: Array) -> Array:
        """Tangent space at q."""
        chart = Chart(self.system, self.scales, t, q, v, self.evaluate)
        if self.bases and chart.velocity.null.shape != self.chart.velocity.null.shape:
            raise LostError("the number of independent constraints changes (a singular position)")
        return self._enter(chart, v)

    def moved(self, t: float, q: Array, v: Array) -> Array | None:
        """The same, unless q is too near a singular position to be a good base point."""
        chart = Chart(self.system, self.scales, t, q, v, self.evaluate)
        same = chart.velocity.null.shape == self.chart.velocity.null.shape
        return self._enter(chart, v) if same and chart.velocity.weakest > WEAK * self.clearest else None

    def _enter(self, chart: Chart, v: Array) -> Array:
        self.chart, self.bases = chart, self.bases + 1
        self.clearest = max(self.clearest, chart.velocity.weakest)
        return np.concatenate(
            [np.zeros(chart.position.null.shape[1]), chart.velocity.null.T @ (v / self.scales.velocity)]
        )

    def state(self, t: float, y: Array) -> tuple[Array, Array, Array]:
        """The state on the manifold."""
        free = self.chart.position.null.shape[1]
        place = self.chart.locate(t, y[:free])
        return place.q, self.chart.velocities(place, y[free:]), place.x

    def project(self, x: Array, v: Array, rate: Array) -> Array:
        """ξ' = Nᵀ T⁻¹ v and η' = Nᵀ v'."""
        unit = self.scales.velocity
        increment = self.scales.increment_rates(x, v / unit)
        return np.concatenate([self.chart.position.null.T @ increment, self.chart.velocity.null.T @ (rate / unit)])

    def errors(self, rtol: float, atol: float) -> Array:
        """Positions count against the mechanism's size, wherever the base point is."""
        free, speeds = self.chart.position.null.shape[1], self.chart.velocity.null.shape[1]
        return np.concatenate([np.full(free, rtol + atol), np.full(speeds, atol)])

    def worn(self, t: float, y: Array) -> bool:
        """Whether the mechanism is far from the base point, or its free motions have turned away from those there."""
        x = self.state(t, y)[2]
        return bool(np.abs(x).max(initial=0.0) > FAR) or self.chart.tilt(self.chart.near) > TILTED
