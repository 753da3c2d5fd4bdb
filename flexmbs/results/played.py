"""Python functions of a model as they were: what they gave at the instants of a result stands for them in its file.

At instants that were kept they give what they gave then. In between, functions of time follow quintic curves through
values, rates and accelerations, other functions cubic ones through four neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import ModelError
from flexmbs.forces.user import UserForce
from flexmbs.joints.functions import Expansion, FunctionGroup
from flexmbs.joints.relations import Relation
from flexmbs.joints.user import UserConstraint
from flexmbs.profiles import FunctionProfile, Profile
from flexmbs.profiles.profile import Combination
from flexmbs.profiles.table import CALLBACK, Laws, Term

Array = NDArray[np.float64]

SAME = 1e-9
"""Part of the distance of instants within which a time is that of an instant."""


@dataclass(frozen=True, eq=False)
class Series:
    """Numbers over time: ``values`` (times, width) at times ``t``."""

    t: Array
    values: Array

    def around(self, t: float) -> tuple[int, float]:
        """The instant at or before t, and how far t is on the way to the next; 0 at an instant, and outside."""
        times = self.t
        if not len(times):
            raise ModelError("the file holds no instants, so that its Python functions are not known at any time.")
        k = int(np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 1))
        if t <= times[0] or k == len(times) - 1:
            return k, 0.0
        part = (t - times[k]) / (times[k + 1] - times[k])
        return (k, 0.0) if part <= SAME else (k + 1, 0.0) if part >= 1 - SAME else (k, float(part))

    def at(self, t: float) -> Array:
        """The numbers at t, cubic between instants, beyond the ends those there."""
        k, part = self.around(t)
        if part == 0.0:
            return np.asarray(self.values[k])
        first = max(0, min(k - 1, len(self.t) - 4))
        times, values = self.t[first : first + 4], self.values[first : first + 4]
        weights = [np.prod([(t - b) / (a - b) for j, b in enumerate(times) if j != i]) for i, a in enumerate(times)]
        return np.asarray(np.array(weights) @ values)


@dataclass(frozen=True, eq=False)
class PlayedProfile(Profile):
    """A Python function of time as it was at the instants of a result."""

    name: str
    series: Series
    named_kinks: tuple[float, ...] = ()

    @property
    def kinks(self) -> tuple[float, ...]:
        """Those that were named."""
        return self.named_kinks

    def laws(self, t: float) -> Laws:
        """Value, rate and acceleration at one time."""
        k, part = self.series.around(t)
        x0, v0, a0 = (float(x) for x in self.series.values[k])
        if part == 0.0:
            away = t - float(self.series.t[k]) if not self.series.t[0] <= t <= self.series.t[-1] else 0.0
            return x0 + away * (v0 + 0.5 * away * a0), v0 + away * a0, a0
        h = float(self.series.t[k + 1] - self.series.t[k])
        x1, v1, a1 = (float(x) for x in self.series.values[k + 1])
        rest = (
            x1 - x0 - h * v0 - 0.5 * h * h * a0,
            h * (v1 - v0 - h * a0),
            h * h * (a1 - a0),
        )
        c3 = 10 * rest[0] - 4 * rest[1] + 0.5 * rest[2]
        c4 = -15 * rest[0] + 7 * rest[1] - rest[2]
        c5 = 6 * rest[0] - 3 * rest[1] + 0.5 * rest[2]
        s = part
        x = x0 + h * v0 * s + 0.5 * h * h * a0 * s * s + s**3 * (c3 + s * (c4 + s * c5))
        v = v0 + h * a0 * s + s * s * (3 * c3 + s * (4 * c4 + s * 5 * c5)) / h
        return x, v, a0 + s * (6 * c3 + s * (12 * c4 + s * 20 * c5)) / h**2

    def terms(self) -> tuple[Term, ...]:
        """One callback."""
        return (Term(CALLBACK, (np.nan, np.nan, np.nan), function=self.laws),)


@dataclass(frozen=True, eq=False)
class PlayedForce(UserForce):
    """A Python force as it was at the instants of a result."""

    series: Series = field(default=None, repr=False)  # type: ignore[assignment]

    def wrenches(self, t: float, states: Any) -> Array:
        """Wrenches (frames, 6) at a time, whatever the states are."""
        return self.series.at(t).reshape(len(self.frames), 6)


def expansion(series: Series, t: float, rows: int) -> Expansion:
    """Functions with derivatives as they were at a time."""
    table = series.at(t).reshape(rows, -1)
    return Expansion(table[:, 0], table[:, 3:], table[:, 1], table[:, 2])


@dataclass(frozen=True, eq=False)
class PlayedRelation(Relation):
    """A relation by a Python function as it was at the instants of a result."""

    series: Series = field(default=None, repr=False)  # type: ignore[assignment]

    def expand(self, t: float, c: Array, rates: Array, biases: Array, size: float) -> Expansion:
        """The function with its derivatives at a time, whatever the coordinates are."""
        return expansion(self.series, t, 1)


@dataclass(frozen=True, eq=False, init=False)
class PlayedConstraint(UserConstraint):
    """A constraint by a Python function as it was at the instants of a result."""

    series: Series = field(default=None, repr=False)  # type: ignore[assignment]

    def expand(self, t: float, c: Array, rates: Array, biases: Array, size: float) -> Expansion:
        """The function with its derivatives at a time, whatever the states are."""
        return expansion(self.series, t, self.rows_count)


PLAYED: dict[type, type] = {Relation: PlayedRelation, UserConstraint: PlayedConstraint, UserForce: PlayedForce}
"""What plays each kind of Python function."""


@dataclass(frozen=True, eq=False)
class Delayed:
    """A function of time that begins later, as it is found in a sum of profiles."""

    profile: Any
    delay: float

    def laws(self, t: float) -> Laws:
        """Value, rate and acceleration at one time."""
        x, v, a = self.profile.at(t - self.delay)
        return float(x), float(v), float(a)


def flattened(profile: Profile, weight: float = 1.0, shift: float = 0.0) -> list[tuple[float, float, Profile]]:
    """Parts (weight, shift, profile) of sums within sums."""
    if not isinstance(profile, Combination):
        return [(weight, shift, profile)]
    return [part for w, s, p in profile.parts for part in flattened(p, weight * w, shift + s)]


def is_called(profile: Profile) -> bool:
    """Whether a profile calls a Python function, or is of a class that files do not know."""
    return isinstance(profile, FunctionProfile | PlayedProfile) or not type(profile).__module__.startswith("flexmbs.")


class Watched:
    """The Python functions of a system, each with its place in a row of numbers."""

    def __init__(self) -> None:
        self.times: list[tuple[Any, slice]] = []
        self.groups: list[tuple[FunctionGroup, slice]] = []
        self.forces: list[tuple[UserForce, slice]] = []
        self.width = 0

    def place(self, width: int) -> slice:
        """The next places of a row."""
        self.width += width
        return slice(self.width - width, self.width)

    def at(self, system: Any, t: float, q: Array, v: Array, angles: Array) -> Array:
        """What all of them give at one state, (width,)."""
        out = np.zeros(self.width)
        for function, place in self.times:
            out[place] = function.laws(float(t))
        if not self.groups and not self.forces:
            return out
        work = system.evaluate(t, q, v, angles)
        if self.groups:
            expansions = system.functions.expansions(float(t), work, system.walked[1])
            for group, place in self.groups:
                found = expansions[id(group)]
                rows = np.column_stack([found.value, found.first, found.second, found.factors])
                out[place] = rows.ravel()
        for force, place in self.forces:
            out[place] = system.user_forces.wrenches(force, float(t), work).ravel()
        return out

    def over(self, system: Any, history: Any) -> Array:
        """The same at all states of a history, (times, width)."""
        out = np.zeros((len(history.t), self.width))
        if self.width:
            for k, row in enumerate(zip(history.t, history.q, history.v, history.angles, strict=True)):
                out[k] = self.at(system, *row)
        return out
