"""Motions as ordinary differential equations: what an adaptive integrator asks of a parametrisation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.equations import Equations
from flexmbs.errors import FlexmbsError, SolverError
from flexmbs.formulations import Formulation, Multipliers
from flexmbs.integrators.chart import LostError, Scales
from flexmbs.system.saddle import accelerations

Array = NDArray[np.float64]

FAR = 0.5
"""Increment from the base point, relative to the mechanism's size (rotations in rad), at which the base point moves."""


class Motion(ABC):
    """A mechanism as y' = g(t, y), with y counted from a base point that moves from time to time.

    Whoever writes one gives `begin`, `state`, `project`, and `worn` if the base point can wear out in other ways than
    by distance. `lost` keeps in words why the last evaluation failed.
    """

    def __init__(self, system: Any, formulation: Formulation | None) -> None:
        self.system, self.formulation = system, formulation
        self.scales = Scales.of(system)
        self.angles: Array = np.zeros(0)
        self.limits = (-np.inf, np.inf)
        self.evaluations = self.bases = 0
        self.lost = ""

    @abstractmethod
    def begin(self, t: float, q: Array, v: Array) -> Array:
        """Make q the base point; y there."""

    def moved(self, t: float, q: Array, v: Array) -> Array | None:
        """The same for a base point that should move; None where it had better stay for now."""
        return self.begin(t, q, v)

    @abstractmethod
    def state(self, t: float, y: Array) -> tuple[Array, Array, Array]:
        """Coordinates, velocities and scaled increment from the base point; LostError where there are none."""

    @abstractmethod
    def project(self, x: Array, v: Array, rate: Array) -> Array:
        """y' from the increment, the velocities and the accelerations."""

    @abstractmethod
    def errors(self, rtol: float, atol: float) -> Array:
        """Error of y that counts as one where y is zero: positions relative to the mechanism's size."""

    def worn(self, t: float, y: Array) -> bool:
        """Whether the base point should move."""
        return bool(np.abs(self.state(t, y)[2]).max(initial=0.0) > FAR)

    def accepted(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """The state from which to go on after a step, or to keep."""
        return q, v

    def rates(self, t: float, y: Array) -> Array:
        """y', undefined where the parametrisation is lost (the step is then tried again, shorter)."""
        undefined = np.full(len(y), np.nan)
        if not np.isfinite(y).all():  # an earlier stage was lost, and said why
            return undefined
        self.evaluations += 1
        try:
            q, v, x = self.state(t, y)
            return self.project(x, v, self.accelerations(t, q, v)[0])
        except LostError as error:
            self.lost = str(error)
        except (FlexmbsError, SolverError) as error:
            self.lost = f"the equations of motion could not be solved ({error})"
        return undefined

    def evaluate(self, t: float, q: Array, v: Array) -> Any:
        """All stages; at a kink of a profile, those of the side on which the motion is."""
        return self.system.evaluate(self.clipped(t), q, v, self.angles)

    def clipped(self, t: float) -> float:
        """t kept between the kinks."""
        return min(max(t, self.limits[0]), self.limits[1])

    def accelerations(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """v' and λ."""
        if self.formulation is None:
            work = self.evaluate(t, q, v)
            self.steer(work.gamma, work.phi, work.phi_rate)
            layout, plan, where = self.system.independent
            rate, multipliers = accelerations(layout, plan, where, v, work)
            if not np.isfinite(rate).all():
                raise LostError("a number became infinite or undefined")
            return rate, multipliers
        equations = self.system.equations(self.clipped(t), q, v, self.angles)
        gamma = equations.gamma.copy()
        self.steer(gamma, equations.phi, equations.phi_rate)
        solution = self.formulation.solve(replace(equations, gamma=gamma))
        return solution.accelerations, solution.multipliers

    def steer(self, gamma: Array, phi: Array, phi_rate: Array) -> None:
        """Change γ so that constraint errors decay; nothing where there are none."""
        return

    def consistent(self, t: float, q: Array, v: Array) -> Array:
        """Velocities after the impulses of rows whose prescribed rate jumps at t: least change in the metric of M."""
        e = self.system.equations(self.clipped(t), q, v, self.angles)
        largest = max(1.0, float(np.abs(v).max(initial=0.0)))
        if not e.rows or np.abs(e.phi_rate).max() <= 1e-9 * largest:
            return v
        jump = Equations(e.M, np.zeros(e.size), e.J, -e.phi_rate, labels=e.labels)
        return np.asarray(v + (self.formulation or Multipliers()).solve(jump).accelerations)

    def reach(self, v: Array) -> float:
        """Time in which the motion leaves the surroundings of the base point."""
        speed = float(np.abs(v / self.scales.velocity).max(initial=0.0))
        return 2 * FAR / speed if speed > 0 else np.inf
