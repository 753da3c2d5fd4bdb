"""The equations of motion of any system at one instant, and their solution.

This is the narrow waist of flexmbs: mechanics fills in `Equations`, formulations and integrators read it, and neither
knows the other. Random matrices will do to test either side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from flexmbs.errors import ProjectionError
from flexmbs.given import array
from flexmbs.nullspace.readonly import frozen

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Equations:
    """M v' = f + Jᵀλ, J v' = gamma, with f = Q − h, for n velocities and m constraint rows.

    M (n × n) and J (m × n) are arrays, or scipy sparse matrices: if one of them is sparse, both are kept as
    csr_array. `phi` and `phi_rate` are the constraint errors at position and velocity level (m,), where known.
    `labels` name the rows in messages. Everything is copied and read-only.
    """

    M: Any
    f: FloatArray
    J: Any
    gamma: FloatArray
    phi: FloatArray | None = None
    phi_rate: FloatArray | None = None
    labels: Sequence[str] | None = None

    def __post_init__(self) -> None:
        sparse = sp.issparse(self.M) or sp.issparse(self.J)
        for name in ("M", "J"):
            object.__setattr__(self, name, _matrix(name, getattr(self, name), sparse))
        rows, columns = self.J.shape
        if self.M.shape != (columns, columns):
            raise ProjectionError(f"M is {_size(self.M)} and J is {_size(self.J)}: both need one column per velocity")
        for name, size in (("f", columns), ("gamma", rows), ("phi", rows), ("phi_rate", rows)):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _vector(name, getattr(self, name), size))
        if self.labels is not None:
            if not isinstance(self.labels, Iterable):
                raise ProjectionError(f"labels are one name for each constraint row, not {self.labels!r}")
            object.__setattr__(self, "labels", tuple(str(label) for label in self.labels))
            if len(self.labels) != rows:
                raise ProjectionError(f"{len(self.labels)} labels for {rows} constraint rows: give one for each row")

    @property
    def size(self) -> int:
        """Number n of velocities."""
        return int(self.J.shape[1])

    @property
    def rows(self) -> int:
        """Number m of constraint rows, redundant ones included."""
        return int(self.J.shape[0])

    @property
    def sparse(self) -> bool:
        """Whether M and J are sparse."""
        return bool(sp.issparse(self.M))

    @cached_property
    def symmetric(self) -> bool:
        """Whether M is symmetric to rounding (geometric stiffening in the last row only makes it unsymmetric)."""
        skew = abs(self.M - self.M.T)
        return bool(skew.max() <= 1e-10 * abs(self.M).max()) if self.size else True

    def dense(self) -> Equations:
        """The same equations with M and J as arrays."""
        return replace(self, M=self.M.toarray(), J=self.J.toarray()) if self.sparse else self

    def name(self, row: int) -> str:
        """The label of a constraint row, or its number."""
        return f"row {row}" if self.labels is None else self.labels[row]


@dataclass(frozen=True, eq=False)
class Solution:
    """Accelerations v', multipliers λ (the least ones where rows are redundant) and reactions Jᵀλ ON the bodies.

    `rank` counts the independent constraint rows, `redundant` lists rows that follow from the others, and `outcome`
    says in words how the solution was found.
    """

    accelerations: FloatArray
    multipliers: FloatArray
    reactions: FloatArray
    rank: int
    redundant: IntArray
    outcome: str = "solved"

    def __post_init__(self) -> None:
        for x in (self.accelerations, self.multipliers, self.reactions, self.redundant):
            frozen(x)


def _matrix(name: str, x: Any, sparse: bool) -> Any:
    matrix = sp.csr_array(x if sp.issparse(x) else array(x), copy=True, dtype=float) if sparse else array(x)
    if matrix.ndim != 2:
        raise ProjectionError(f"{name} has two dimensions (rows, velocities), got shape {matrix.shape}")
    if not np.isfinite(matrix.data if sparse else matrix).all():
        raise ProjectionError(f"{name} contains NaN or infinity")
    return frozen(matrix)


def _vector(name: str, x: Any, size: int) -> FloatArray:
    vector: FloatArray = array(x)
    if vector.shape != (size,):
        raise ProjectionError(f"{name} has shape {vector.shape}, but M and J ask for ({size},)")
    if not np.isfinite(vector).all():
        raise ProjectionError(f"{name} contains NaN or infinity, first at position {np.argmin(np.isfinite(vector))}")
    return frozen(vector)


def _size(x: Any) -> str:
    return f"{x.shape[0]} × {x.shape[1]}"
