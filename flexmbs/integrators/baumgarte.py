"""Baumgarte: all velocities integrated, constraint errors made to decay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import ModelError
from flexmbs.formulations import Formulation
from flexmbs.given import number
from flexmbs.integrators.adaptive import AdaptiveIntegrator
from flexmbs.integrators.motion import Motion
from flexmbs.system.state import State

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Baumgarte(AdaptiveIntegrator):
    """Stabilised accelerations J v' = γ − 2α φ' − β² φ (Baumgarte 1972), by adaptive Runge–Kutta methods.

    Constraint errors decay like exp(−α t), critically with β = α (the default), but never vanish; α much larger than
    the frequencies of the motion makes it stiff. ``TangentSpaceODE`` needs no such choice.
    """

    alpha: float = 10.0
    beta: float | None = None
    method: str = "DOP853"
    rtol: float = 1e-8
    atol: float = 1e-10
    max_step: float | None = None
    formulation: Formulation | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("alpha", "beta"):
            value = getattr(self, name)
            if value is not None and not (np.isfinite(number(value)) and value >= 0.0):
                raise ModelError(f"{name} must be a number [1/s], zero or more, not {value}.")

    def motion(self, system: Any, start: State) -> Motion:
        """All velocities, with the errors of constraints fed back."""
        return Unconstrained(system, self.formulation, self.alpha, self.alpha if self.beta is None else self.beta)


class Unconstrained(Motion):
    """y = (x, v) without units: increments of all coordinates from the base point, and all velocities."""

    def __init__(self, system: Any, formulation: Formulation | None, alpha: float = 0.0, beta: float = 0.0) -> None:
        super().__init__(system, formulation)
        self.alpha, self.beta = alpha, beta
        self.q: Array = np.zeros(0)

    def begin(self, t: float, q: Array, v: Array) -> Array:
        """Count from q."""
        self.q, self.bases = q.copy(), self.bases + 1
        return np.concatenate([np.zeros(len(v)), v / self.scales.velocity])

    def state(self, t: float, y: Array) -> tuple[Array, Array, Array]:
        """The state, which misses the constraints by what the integrator missed."""
        x, v = np.split(y, 2)
        return self.system.retract(self.q, self.scales.velocity * x), self.scales.velocity * v, x

    def project(self, x: Array, v: Array, rate: Array) -> Array:
        """x' = T⁻¹ v, and v'."""
        unit = self.scales.velocity
        return np.concatenate([self.scales.increment_rates(x, v / unit), rate / unit])

    def errors(self, rtol: float, atol: float) -> Array:
        """Positions count against the mechanism's size."""
        return np.repeat([rtol + atol, atol], self.system.n_v)

    def steer(self, gamma: Array, phi: Array, phi_rate: Array) -> None:
        """γ − 2α φ' − β² φ."""
        gamma -= 2 * self.alpha * phi_rate + self.beta**2 * phi
