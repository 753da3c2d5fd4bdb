"""Sparse elimination by rounds of independent pivots, for constraints that couple many rows.

One round picks pivots none of whose columns occurs in another pivot row: with D their diagonal and E = D⁻¹
J_R, all are eliminated by one sparse product, J ← J − J_Q E. Ties, hanging nodes and chains vanish in a few
rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from flexmbs.nullspace.elimination import RESIDUE, component_arrays

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

# Multiplications from which on a component is thinned out before its dense elimination (20 ms or so).
LARGE = 20_000_000


@dataclass(frozen=True, eq=False)
class Round:
    """Pivot rows R, columns Q and values D; J_Q before the round; E = D⁻¹ J_R without its columns Q."""

    rows: IntArray
    columns: IntArray
    pivots: FloatArray
    J_Q: Any
    E: Any


@dataclass(frozen=True, eq=False)
class RoundsInverse:
    """Generalised inverse of J as a product: scaled rows, the rounds, the inverse of what they leave."""

    rounds: tuple[Round, ...]
    last: Any
    scale: FloatArray
    __array_ufunc__ = None  # so that array @ inverse comes to __rmatmul__

    def __matmul__(self, b: FloatArray) -> FloatArray:
        b = self.scale * b
        values = []
        for r in self.rounds:
            values.append(b[r.rows] / r.pivots)
            b -= r.J_Q @ values[-1]
            b[r.rows] = 0.0
        x: FloatArray = self.last @ b
        for r, value in zip(reversed(self.rounds), reversed(values), strict=True):
            x[r.columns] = value - r.E @ x
        return x

    def __rmatmul__(self, x: FloatArray) -> FloatArray:
        x = np.array(x, dtype=float)
        values = []
        for r in self.rounds:
            values.append(x[r.columns])
            x[r.columns] = 0.0
            x -= r.E.T @ values[-1]
        b: FloatArray = self.last.T @ x
        for r, value in zip(reversed(self.rounds), reversed(values), strict=True):
            b[r.rows] = 0.0
            b[r.rows] = (value - r.J_Q.T @ b) / r.pivots
        return self.scale * b


def thin_out(J: Any, tol: float, keep: NDArray[np.bool_]) -> tuple[Any, tuple[Round, ...], float]:
    """J after as many rounds as its large sparse components need, the rounds, and the largest row dropped.

    Small components are left as they are: full pivoting is the better judge of rank.
    """
    rounds: list[Round] = []
    dropped = 0.0
    while True:
        row_start, rows, column_start, _ = component_arrays(J)
        m, n = np.diff(row_start), np.diff(column_start)
        entries = np.diff(np.append(0, np.cumsum(np.diff(J.indptr)[rows]))[row_start])
        large = (m * n * np.minimum(m, n) > LARGE) & (entries < 0.1 * m * n)
        mask = np.zeros(J.shape[0], dtype=bool)
        mask[rows[np.repeat(large, m)]] = True
        J, found = eliminate(J, mask, keep)
        if found is None:
            return J, tuple(rounds), dropped
        rounds.append(found)
        sizes = abs(J).max(axis=1).toarray().ravel()
        small = (sizes > 0) & (sizes <= tol)
        if np.any(small):
            dropped = max(dropped, float(sizes[small].max()))
            J.data[np.repeat(small, np.diff(J.indptr))] = 0.0
            J.eliminate_zeros()
        if len(found.rows) < 0.02 * np.count_nonzero(mask):
            return J, tuple(rounds), dropped


def eliminate(J: Any, rows: NDArray[np.bool_], keep: NDArray[np.bool_]) -> tuple[Any, Round | None]:
    """J after one round on the rows of the mask, and the round (None if no pivot was good enough)."""
    counts = np.bincount(J.indices, minlength=J.shape[1])
    order = np.argsort(np.diff(J.indptr), kind="stable")
    order = order[rows[order] & (np.diff(J.indptr)[order] > 0)]
    indptr, indices = J.indptr.astype(np.int64), J.indices.astype(np.int64)
    R, Q, pivots = independent_pivots(indptr, indices, J.data, counts.astype(np.int64), keep, order)
    if len(R) == 0:
        return J, None
    J_Q = J[:, Q]
    E = sp.csr_array(sp.diags_array(1.0 / pivots) @ J[R])
    rest = sp.csr_array(J - J_Q @ E)
    pivot_column = np.zeros(J.shape[1], dtype=bool)
    pivot_column[Q] = True
    pivot_row = np.zeros(J.shape[0], dtype=bool)
    pivot_row[R] = True
    gone = (abs(rest.data) <= RESIDUE) | pivot_column[rest.indices]
    gone |= np.repeat(pivot_row, np.diff(rest.indptr))
    rest.data[gone] = 0.0
    rest.eliminate_zeros()
    E.data[pivot_column[E.indices]] = 0.0
    E.eliminate_zeros()
    return rest, Round(R, Q, pivots, J_Q, E)


@njit(cache=True)
def independent_pivots(indptr, indices, data, counts, keep, order):  # type: ignore[no-untyped-def]
    """Rows, columns, values of pivots: short rows first, the sparsest column of those not small (0.1)."""
    rows = np.empty(len(order), np.int64)
    columns = np.empty(len(order), np.int64)
    values = np.empty(len(order), np.float64)
    state = np.zeros(len(counts), np.int8)  # 1: occurs in a pivot row, 2: is a pivot column
    size = 0
    for i in order:
        largest = 0.0
        clear = True
        for e in range(indptr[i], indptr[i + 1]):
            largest = max(largest, abs(data[e]))
            clear = clear and state[indices[e]] != 2
        if not clear or largest < 1e-2:  # rows that have nearly cancelled are left to full pivoting
            continue
        best = -1
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            good = state[j] == 0 and not keep[j] and abs(data[e]) >= 0.1 * largest
            if good and (best < 0 or counts[j] < counts[indices[best]]):
                best = e
        if best >= 0:
            for e in range(indptr[i], indptr[i + 1]):
                state[indices[e]] = 1
            state[indices[best]] = 2
            rows[size] = i
            columns[size] = indices[best]
            values[size] = data[best]
            size += 1
    return rows[:size], columns[:size], values[:size]
