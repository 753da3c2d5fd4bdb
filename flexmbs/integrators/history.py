"""What a run keeps: states over time, and what an integrator needs to go on as if it had not stopped."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Snapshot(NamedTuple):
    """One instant."""

    t: float
    q: Array
    v: Array
    rate: Array
    multipliers: Array
    angles: Array


class History(NamedTuple):
    """What is kept of a run, time first."""

    t: Array
    q: Array
    v: Array
    rate: Array
    multipliers: Array
    angles: Array
    carried: Any = None  # what the integrator itself needs to continue from the last instant

    def snapshot(self, k: int) -> Snapshot:
        """Instant k."""
        return Snapshot(float(self.t[k]), *(column[k] for column in self[1:6]))

    def part(self, rows: Any) -> History:
        """Some of the instants."""
        return History(*(column[rows] for column in self[:6]))


class Keeper:
    """Takes the instants of a run as they come, and gives the whole in the end; this one holds them in memory.

    ``eager`` says that instants shall not wait: calls of compiled code are then kept short.
    """

    eager = False

    def __init__(self) -> None:
        self._parts: list[History] = []
        self._single: list[Snapshot] = []
        self.last: Snapshot | None = None

    def add(self, new: History, carried: Any = None) -> None:
        """More instants, with what the integrator needs to go on after the last of them, if it has that."""
        if len(new.t):
            self._gather()
            self._parts.append(new)
            self.last = new.snapshot(-1)

    def append(self, one: Snapshot) -> None:
        """One more instant."""
        self._single.append(one)
        self.last = one

    def history(self) -> History:
        """All of them."""
        self._gather()
        return joined(self._parts)

    def _gather(self) -> None:
        if self._single:
            self._parts.append(history_of(self._single))
            self._single = []


def joined(parts: list[History]) -> History:
    """One history after the other."""
    return History(*(np.concatenate(columns) for columns in zip(*(p[:6] for p in parts), strict=True)))


def history_of(snapshots: list[Snapshot]) -> History:
    """Instants as a history."""
    return History(*(np.array(column) for column in zip(*snapshots, strict=True)))
