"""Linear equations of motion M(t) y'' + C(t) y' + K(t) y = f(t) over equal steps: Newmark, HHT-α, the exact solution.

All methods advance (y, y', y'') of one motion or of many side by side, as columns, of which some feel the load f. The
many are what steady periodic motion is found from: the state that comes back after one cycle.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from flexmbs.errors import AnalysisError
from flexmbs.given import number

Array = NDArray[np.float64]

RESONANCE = 1e10
"""Condition of the equations of a cycle above which it is in resonance."""
LARGEST_CYCLE = 400
"""Coordinates up to which a steady periodic motion is solved for."""


class LinearMotion(ABC):
    """M(t) y'' + C(t) y' + K(t) y = f(t) at the instants k = 0 ... ``steps``, ``step`` apart."""

    size: int
    step: float
    steps: int
    constant: bool
    """Whether M, C and K do not change with time."""

    @abstractmethod
    def load(self, k: int) -> Array:
        """f (size,) at instant k."""

    def end_loads(self) -> tuple[Array, Array]:
        """Loads at the first and the last instant, which a cycle has in common."""
        return self.load(0).copy(), self.load(self.steps)

    @abstractmethod
    def resistance(self, k: int, y: Array, v: Array) -> Array:
        """C y' + K y at instant k, for one motion or for columns."""

    @abstractmethod
    def solve(self, k: int, factors: tuple[float, float, float], b: Array) -> Array:
        """(c_m M + c_d C + c_k K)⁻¹ b at instant k."""

    def dense(self, k: int) -> tuple[Array, Array, Array]:
        """M, C, K as full arrays."""
        raise AnalysisError(f"{self.size} coordinates are too many here; reduce the body, e.g. to CraigBampton(20).")


class DenseMotion(LinearMotion):
    """Equations with full matrices, given by ``dense`` and ``load``; factors of constant ones are kept."""

    def __init__(self) -> None:
        self._kept: dict[tuple[float, float, float], Any] = {}

    def resistance(self, k: int, y: Array, v: Array) -> Array:
        """C y' + K y."""
        _, c, stiffness = self.dense(k)
        return np.asarray(c @ v + stiffness @ y)

    def solve(self, k: int, factors: tuple[float, float, float], b: Array) -> Array:
        """Solve with a combination of M, C and K."""
        found = self._kept.get(factors)
        if found is None:
            m, c, stiffness = self.dense(k)
            found = scipy.linalg.lu_factor(factors[0] * m + factors[1] * c + factors[2] * stiffness)
            if self.constant:
                self._kept[factors] = found
        return np.asarray(scipy.linalg.lu_solve(found, b))


class Motion(NamedTuple):
    """y, y' and y'' at one instant, (size,) or (size, columns); ``mean`` is the acceleration that a method steps by."""

    y: Array
    v: Array
    a: Array
    mean: Array


class LinearMethod(ABC):
    """A way to advance linear equations of motion from one instant to the next."""

    @abstractmethod
    def motions(self, problem: LinearMotion, start: Motion, loaded: Array | float = 1.0) -> Iterator[Motion]:
        """The motion at all instants, the first included; ``loaded`` (columns,) says which columns feel the load."""


@dataclass(frozen=True)
class Newmark(LinearMethod):
    """Newmark's method of second order for linear equations; α from 0 (no damping of its own) to 1/3 (HHT).

    With α = 0 it is the rule of average accelerations, which keeps the energy of free vibrations. A larger α damps
    those that the step does not resolve: it steps with (1-α) y'' of the new instant and α y'' of the old one,
    β = (1+α)²/4 and γ = 1/2 + α. The equations hold at every instant, whatever α is, and M may change with time.
    """

    alpha: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= number(self.alpha) <= 1 / 3:
            raise AnalysisError(f"Newmark: alpha must be a number from 0 to 1/3, not {self.alpha!r}.")

    def motions(self, problem: LinearMotion, start: Motion, loaded: Array | float = 1.0) -> Iterator[Motion]:
        """The motion at all instants."""
        h, alpha = problem.step, float(self.alpha)
        beta, gamma = (1 + alpha) ** 2 / 4, 0.5 + alpha
        factors = (1.0, (1 - alpha) * gamma * h, (1 - alpha) * beta * h * h)
        y, v, a, mean = start
        yield start
        for k in range(1, problem.steps + 1):
            y = y + h * v + h * h * ((0.5 - beta) * mean + beta * alpha * a)
            v = v + h * ((1 - gamma) * mean + gamma * alpha * a)
            new = problem.solve(k, factors, _columns(problem.load(k), loaded) - problem.resistance(k, y, v))
            y, v = y + (1 - alpha) * beta * h * h * new, v + (1 - alpha) * gamma * h * new
            mean, a = (1 - alpha) * new + alpha * a, new
            yield Motion(y, v, a, mean)


@dataclass(frozen=True)
class ModalSuperposition(LinearMethod):
    """The exact solution where M, C and K are constant, for loads that are straight between the instants.

    All modes, with gyroscopic terms and damping in any way, at once: the exponential of the matrix of the equations of
    first order. Steps only resolve the load, however short the periods of the modes are.
    """

    def motions(self, problem: LinearMotion, start: Motion, loaded: Array | float = 1.0) -> Iterator[Motion]:
        """The motion at all instants."""
        if not problem.constant:
            raise AnalysisError(
                "modal superposition needs equations that do not change with time: a constant angular velocity and "
                "acceleration, one configuration. Take integrator=Newmark()."
            )
        n, h = problem.size, problem.step
        mass, damping, stiffness = problem.dense(0)
        inverse = np.linalg.inv(mass)
        whole = np.zeros((4 * n, 4 * n))
        whole[:n, n : 2 * n] = h * np.eye(n)
        whole[n : 2 * n, :n], whole[n : 2 * n, n : 2 * n] = -h * inverse @ stiffness, -h * inverse @ damping
        whole[n : 2 * n, 2 * n : 3 * n], whole[2 * n : 3 * n, 3 * n :] = h * inverse, np.eye(n)
        propagator = scipy.linalg.expm(whole)[: 2 * n]
        y, v, *_ = start
        load = _columns(problem.load(0), loaded)
        for k in range(problem.steps + 1):
            if k:
                new = _columns(problem.load(k), loaded)
                moved = propagator @ np.concatenate([np.broadcast_to(x, y.shape) for x in (y, v, load, new - load)])
                y, v, load = moved[:n], moved[n:], new
            a = np.asarray(inverse @ (load - damping @ v - stiffness @ y))
            yield Motion(y, v, a, a)


def balanced(problem: LinearMotion, y: Array, v: Array) -> Motion:
    """The motion at the first instant with y and y'; y'' is what the load makes of it."""
    a = problem.solve(0, (1.0, 0.0, 0.0), problem.load(0) - problem.resistance(0, y, v))
    return Motion(y, v, a, a)


def at_rest(problem: LinearMotion) -> Motion:
    """Undeformed and at rest."""
    zero = np.zeros(problem.size)
    return balanced(problem, zero, zero)


def quasi_static(problem: LinearMotion) -> Motion:
    """Deformed as the loads of the first instants do it slowly, so that no vibration begins."""
    count = min(3, problem.steps + 1)
    static = [problem.solve(k, (0.0, 0.0, 1.0), problem.load(k)) for k in range(count)]
    slopes = {1: [0.0], 2: [-1.0, 1.0], 3: [-1.5, 2.0, -0.5]}[count]
    v = sum((c * y for c, y in zip(slopes, static, strict=True)), np.zeros(problem.size)) / problem.step
    return balanced(problem, static[0], v)


def periodic(method: LinearMethod, problem: LinearMotion) -> Motion:
    """The motion at the first instant that comes back at the last one, of equations with that period."""
    n = problem.size
    if n > LARGEST_CYCLE:
        raise AnalysisError(
            f"a steady periodic motion is solved for up to {LARGEST_CYCLE} coordinates, not {n}; reduce the body."
        )
    identity, loaded = np.eye(4 * n, 4 * n + 1), np.zeros(4 * n + 1)
    loaded[-1] = 1.0
    last = start = Motion(*identity.reshape(4, n, -1))
    for last in method.motions(problem, start, loaded):  # noqa: B007 - the last one is what is wanted
        pass
    after = np.concatenate(last)
    h = problem.step
    scale = np.repeat([1.0, h, h * h, h * h], n)  # of one kind, so that the condition says something
    cycle = np.eye(4 * n) - scale[:, None] * after[:, :-1] / scale
    if not np.linalg.cond(cycle) < RESONANCE:
        raise AnalysisError(
            "no steady motion over one cycle: a natural vibration without damping fits into it (resonance). Give the "
            "body damping, or another speed."
        )
    return Motion(*(np.linalg.solve(cycle, scale * after[:, -1]) / scale).reshape(4, n))


def _columns(load: Array, loaded: Array | float) -> Array:
    return load if np.ndim(loaded) == 0 else load[:, None] * loaded
