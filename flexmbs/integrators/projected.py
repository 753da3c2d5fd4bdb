"""Projected: all velocities integrated, constraints restored after each step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.formulations import Formulation
from flexmbs.integrators.adaptive import AdaptiveIntegrator
from flexmbs.integrators.baumgarte import Unconstrained
from flexmbs.integrators.chart import CLOSED, ITERATIONS, LostError
from flexmbs.integrators.motion import Motion
from flexmbs.system.saddle import least
from flexmbs.system.state import State

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Projected(AdaptiveIntegrator):
    """Accelerations J v' = γ by adaptive Runge–Kutta methods; each accepted step ends with a projection.

    Positions, then velocities, are moved by the least weighted distance to where the constraints hold.
    """

    method: str = "DOP853"
    rtol: float = 1e-8
    atol: float = 1e-10
    max_step: float | None = None
    formulation: Formulation | None = None

    def motion(self, system: Any, start: State) -> Motion:
        """All velocities; every step starts from a projected state."""
        return ProjectedMotion(system, self.formulation)


class ProjectedMotion(Unconstrained):
    """All coordinates, counted from the state at the beginning of the step."""

    def worn(self, t: float, y: Array) -> bool:
        """Every step starts anew."""
        return True

    def accepted(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """The state, projected on the constraints."""
        (layout, plan, where), weights = self.system.independent, self.system.length_weights**2
        positions = where._replace(row_active=where.row_active & self.system.holonomic)
        for _ in range(ITERATIONS):
            work = self.evaluate(t, q, v)
            step = least(layout, plan, positions, weights, work, -work.phi)
            if not np.isfinite(step).all():
                break
            if np.abs(step / self.scales.velocity).max(initial=0.0) <= CLOSED:
                return q, v + least(layout, plan, where, weights, work, -work.phi_rate)
            q = self.system.retract(q, step)
        raise LostError("the constraints could not be closed (Newton's iteration did not converge)")
