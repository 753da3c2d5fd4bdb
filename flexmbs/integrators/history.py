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


def joined(parts: list[History]) -> History:
    """One history after the other."""
    return History(*(np.concatenate(columns) for columns in zip(*(p[:6] for p in parts), strict=True)))


def history_of(snapshots: list[Snapshot]) -> History:
    """Instants as a history."""
    return History(*(np.array(column) for column in zip(*snapshots, strict=True)))
