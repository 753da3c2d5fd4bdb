"""Events: instants at which something reaches a level, found within the steps of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from flexmbs.errors import ModelError
from flexmbs.integrators.history import History, Snapshot, history_of, joined
from flexmbs.joints.drives import Coupling, Drive
from flexmbs.joints.joint import Joint, Measure
from flexmbs.joints.measures import ANGLE

Array = NDArray[np.float64]

COMPONENTS = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
AGAIN = 1e-6
"""A run that starts where an event was does not see it again: crossings in this part of its first step do not count."""


@dataclass(frozen=True, eq=False)
class Event:
    """An instant at which ``of`` reaches ``level``.

    Parameters
    ----------
    of : a joint's coordinate (``hinge.angle``); a component of a joint's reaction, ``(hinge, "Fy")`` with Fx, Fy, Fz,
        Mx, My, Mz, or a drive for its force or torque; or a Python function of a Result that gives a number for each of
        its instants, e.g. ``lambda motion: motion.velocity(ball)[:, 2]``.
    level : the value at which the event is.
    direction : 1 where it rises through the level, -1 where it falls, 0 for both.
    stop : whether the run ends there; a number n ends it at the n-th time.

    What crosses the level twice within one step is not seen.
    """

    name: str
    of: Any
    level: float = 0.0
    direction: int = 0
    stop: bool | int = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f"an event needs a name (a string), not {self.name!r}.")
        if isinstance(self.of, Measure):
            if self.of.is_rate:
                raise ModelError(
                    f"event {self.name!r}: of is a velocity of a row; give a function of a Result instead."
                )
        elif isinstance(self.of, tuple):
            if len(self.of) != 2 or not isinstance(self.of[0], Joint) or self.of[1] not in COMPONENTS:
                raise ModelError(
                    f"event {self.name!r}: a reaction is (joint, component) with one of {', '.join(COMPONENTS)}, not "
                    f"{self.of!r}."
                )
        elif not isinstance(self.of, Drive | Coupling) and not callable(self.of):
            raise ModelError(
                f'event {self.name!r}: of must be a joint\'s coordinate (hinge.angle), a reaction (hinge, "Fx"), a '
                f"drive, or a function of a Result, not {self.of!r}."
            )
        if isinstance(self.level, bool) or not isinstance(self.level, int | float) or not np.isfinite(self.level):
            raise ModelError(f"event {self.name!r}: level must be a number, not {self.level!r}.")
        if self.direction not in (-1, 0, 1):
            raise ModelError(
                f"event {self.name!r}: direction is 1 (rising), -1 (falling) or 0, not {self.direction!r}."
            )
        if not isinstance(self.stop, int) or self.stop < 0:
            raise ModelError(
                f"event {self.name!r}: stop is True, False or how many times it happens, not {self.stop!r}."
            )


Values = Callable[[History], Array]
"""What an event is about, at every instant of a history."""


class Watch:
    """Events of one run: what they were at the last step, and where they happened."""

    def __init__(self, events: Sequence[Event], values: Sequence[Values]) -> None:
        self.events, self.values = tuple(events), tuple(values)
        self.found: list[list[Snapshot]] = [[] for _ in self.events]
        self.before = np.zeros(len(self.events))
        self.words = ""
        self.start: float | None = None
        self.last: Snapshot | None = None

    def begin(self, state: Snapshot) -> None:
        """Look from this state on: the start of the run, or the other side of a kink."""
        for number, (event, value) in enumerate(zip(self.events, self.values, strict=True)):
            here = value(history_of([state]))
            self.before[number] = here[0] if self.start is None else self._near(event, here, self.before[number])[0]
        self.start, self.last = state.t if self.start is None else self.start, state

    def step(self, t: float, at: Callable[[float], Snapshot]) -> Snapshot | None:
        """What happens until t, with the states on the way as a function of time; the state at which to stop."""
        return self.steps(history_of([at(t)]), lambda a, b: at)

    def steps(
        self, states: History, curve: Callable[[Snapshot, Snapshot], Callable[[float], Snapshot]]
    ) -> Snapshot | None:
        """What happens until the last of these states; the state at which to stop.

        ``curve(a, b)`` gives the states between two that follow each other as a function of time.
        """
        block = states if self.last is None else joined([history_of([self.last]), states])
        self.last = block.snapshot(-1)
        happened = []
        for number, event in enumerate(self.events):
            values = self._near(event, self.values[number](block), self.before[number])
            self.before[number] = values[-1]
            values = values - event.level
            for k in np.flatnonzero(_crossings(values, event.direction)):
                ends = block.snapshot(int(k)), block.snapshot(int(k) + 1)
                state = self._located(number, ends, values[k : k + 2], curve(*ends))
                if state is not None:
                    happened.append((state.t, number, state))
        for _, number, state in sorted(happened, key=lambda h: h[:2]):
            self.found[number].append(state)
            event = self.events[number]
            if event.stop and len(self.found[number]) == int(event.stop):
                self.words = f"stopped by event {event.name!r} at t = {state.t:.12g}"
                return state
        return None

    def _located(
        self, number: int, ends: tuple[Snapshot, Snapshot], values: Array, curve: Callable[[float], Snapshot]
    ) -> Snapshot | None:
        """The state at the root between two values; none where the run starts with it."""
        event, begin, end = self.events[number], ends[0].t, ends[1].t
        known = {begin: float(values[0]), end: float(values[1])}

        def height(t: float) -> float:
            if t in known:
                return known[t]
            value = self.values[number](history_of([curve(t)]))
            return float(self._near(event, value, known[begin] + event.level)[0]) - event.level

        root = end
        if known[end] != 0.0:
            finest = max(1e-12 * (end - begin), 4 * float(np.spacing(end)))
            root = float(scipy.optimize.brentq(height, begin, end, xtol=finest, rtol=1e-15))
        if begin == self.start and root - begin <= AGAIN * (end - begin):
            return None
        return ends[1] if root == end else curve(root)

    @staticmethod
    def _near(event: Event, values: Array, before: float) -> Array:
        """Angles without jumps of whole turns."""
        if isinstance(event.of, Measure) and event.of.kind == ANGLE:
            return np.asarray(np.unwrap(np.append(before, values))[1:])
        return values


def _crossings(values: Array, direction: int) -> NDArray[np.bool_]:
    """Where the value after the next one is on the other side of zero, or on it."""
    a, b = values[:-1], values[1:]
    rising, falling = (a < 0) & (b >= 0), (a > 0) & (b <= 0)
    return np.asarray(rising if direction > 0 else falling if direction < 0 else rising | falling)
