"""Rows that are functions: g(measures, t) = 0, by Python, with the derivatives that the equations need.

About a state, such a row counts as one with factors f = ∂g/∂c of its measures c, which a step holds until it has
converged, and then takes anew. Derivatives come from dual numbers, exact to rounding; where a function does not let
them pass, from central differences of sixth order, good to some 1e-12 (first) and 1e-10 (second derivatives) of what is
differentiated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexmbs.joints.joint import Measure, Row
from flexmbs.profiles.duals import Dual, NotDifferentiableError
from flexmbs.profiles.profile import Profile
from flexmbs.profiles.table import CALLBACK, Term

Array = NDArray[np.float64]

STEP = 4e-3
"""Step of central differences, relative to the size of what moves: their error and that of rounding are then alike."""
POINTS = (-3, -2, -1, 1, 2, 3)
FIRST = np.array([-1.0, 9.0, -45.0, 45.0, -9.0, 1.0]) / 60
SECOND = np.array([2.0, -27.0, 270.0, 270.0, -27.0, 2.0]) / 180
CENTRE = -490.0 / 180


class Refreshed(Profile):
    """A right-hand side that is written anew for each state."""

    def terms(self) -> tuple[Term, ...]:
        """Three numbers."""
        return (Term(CALLBACK, (0.0, 0.0, 0.0), function=lambda _: (0.0, 0.0, 0.0)),)


@dataclass(frozen=True, eq=False)
class FunctionRow(Row):
    """A row g(measures, t) = 0, or with ``velocity`` g(measures, their rates, t) = 0; its factors are ∂g/∂(measure)."""

    velocity: bool = False

    @property
    def holonomic(self) -> bool:
        """Whether it holds positions."""
        return not self.velocity


class Expansion(NamedTuple):
    """Functions about a state, where bodies' accelerations v' are zero."""

    value: Array  # (rows,) g
    factors: Array  # (rows, measures) ∂g/∂c, of rows of velocities ∂g/∂c'
    first: Array  # (rows,) g' along the motion
    second: Array  # (rows,) g''; rows of velocities do without


class FunctionGroup(ABC):
    """Constraints given by functions; all rows have the same measures."""

    name: str

    @property
    @abstractmethod
    def rows(self) -> tuple[Row, ...]:
        """Rows of functions, of which factors are left open; then, if any, rows of other kinds."""

    @abstractmethod
    def expand(self, t: float, c: Array, rates: Array, biases: Array, size: float) -> Expansion:
        """The functions at measures c with their rates, and second derivatives at v' = 0; ``size`` scales lengths."""


def function_rows(measures: tuple[Measure, ...], labels: tuple[str, ...], velocity: bool = False) -> tuple[Row, ...]:
    """Rows of functions of measures."""
    terms = tuple((1.0, m) for m in measures)
    return tuple(FunctionRow(terms, label, Refreshed(), velocity) for label in labels)


def duals(value: Array, rate: Array, acceleration: Array) -> NDArray[np.object_]:
    """An array of dual numbers, with derivatives in several directions (the last axis of the other arrays)."""
    out = np.empty(np.shape(value), dtype=object)
    for k in np.ndindex(out.shape):
        out[k] = Dual(float(value[k]), rate[k], acceleration[k])
    return out


def directions(rates: Array, biases: Array) -> tuple[Array, Array]:
    """Rates and accelerations (n, 1 + n) of n numbers along the motion, and as each of them changes alone."""
    n = len(rates)
    return np.column_stack([rates, np.eye(n)]), np.column_stack([biases, np.zeros((n, n))])


def parts(result: Any, count: int, lanes: int) -> tuple[Array, Array, Array]:
    """Values (count,), first and second derivatives (count, lanes) of what a function of dual numbers gave."""
    flat = np.asarray(result, dtype=object).ravel()
    if len(flat) != count:
        raise ValueError(f"it returned {len(flat)} numbers, not {count}")
    first, second = np.zeros((2, count, lanes))
    value = np.zeros(count)
    for k, x in enumerate(flat):
        if isinstance(x, Dual):
            value[k], first[k], second[k] = x.value, x.rate, x.acceleration
        else:
            value[k] = float(x)
    return value, first, second


def along(path: Callable[[float], Array], step: float) -> tuple[Array, Array]:
    """First and second derivative at zero of a function of one number, by differences."""
    values = np.array([path(k * step) for k in POINTS])
    return FIRST @ values / step, (SECOND @ values + CENTRE * path(0.0)) / step**2


FAILS = (NotDifferentiableError, TypeError, AttributeError, ValueError, ArithmeticError)
"""What a function raises that does not let dual numbers pass."""
