"""Null spaces of constraint Jacobians: J v + b = 0 written as v = A y + v0 (Maggi).

All three methods decide the rank in the same way. A row of J counts as zero when its norm is at most `tol`
times the largest row norm; the other rows are scaled to unit norm, so that their units do not matter. Then
these numbers are taken as zero:

- partition: pivots of Gauss elimination with full pivoting that are at most `tol`,
- qr: diagonal entries of R, from the QR factorisation of Jᵀ with column pivoting, at most `tol` times the
  first,
- svd: singular values at most `tol` times the largest.

A sparse J is cut into its connected components (rows that share no coordinate never meet), and the decision
is taken in each. For "partition", components too large for that are first thinned out by sparse elimination
with threshold pivoting (rounds.py). `NullSpace.smallest_kept` and `largest_dropped` say how clear the
decision was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import ProjectionError
from flexmbs.given import array, number
from flexmbs.nullspace.elimination import (
    check_sizes,
    component_arrays,
    components,
    exchange,
    exchange_components,
)
from flexmbs.nullspace.readonly import frozen
from flexmbs.nullspace.rounds import RoundsInverse, thin_out

Method = Literal["partition", "qr", "svd"]
IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

# Jacobians are differences of coordinates: their entries are known to fewer digits than a float carries.
RANK_TOLERANCE = 1e-10


@dataclass(frozen=True, eq=False)
class NullSpace:
    """Basis A of the null space of J (J A = 0) and a solver for v0 (J v0 = −b).

    A is an array for a dense J, a csr_array for a sparse one. `inverse` is a generalised inverse of J.
    `independent` holds, for the method "partition", the indices of the coordinates y = v[independent] (A is
    the unit matrix there). `redundant` lists the rows that follow from the others. The ratios `smallest_kept`
    (1 if the rank is zero) and `largest_dropped` (0 if nothing was dropped) stand on either side of
    `tolerance`.
    """

    J: Any
    A: Any
    inverse: Any
    rank: int
    redundant: IntArray
    independent: IntArray | None
    method: Method
    tolerance: float
    smallest_kept: float
    largest_dropped: float

    def __post_init__(self) -> None:
        for x in (self.J, self.A, self.redundant):
            frozen(x)

    def __repr__(self) -> str:
        rows, columns = self.J.shape
        return (
            f"<NullSpace of a {rows} × {columns} Jacobian by {self.method}: rank {self.rank}, "
            f"{len(self.redundant)} redundant rows>"
        )

    def particular(self, b: ArrayLike, labels: Sequence[str] | None = None) -> FloatArray:
        """v0 with J v0 = −b: least norm ("qr", "svd") or zero in the independent coordinates ("partition").

        Raises ProjectionError, naming the rows by `labels` or by number, if b is not in the range of J.
        """
        b = np.asarray(b, dtype=float)
        rows = self.J.shape[0]
        if b.shape != (rows,):
            raise ProjectionError(f"right-hand side of shape {b.shape} for {rows} constraint rows: give ({rows},)")
        v0: FloatArray = -(self.inverse @ b)
        misfit = self.J @ v0 + b
        norms = _row_norms(self.J)
        unit = np.where(norms > 0, norms, 1.0)
        scale = np.max((abs(self.J) @ abs(v0) + abs(b)) / unit, initial=0.0)
        bad = np.flatnonzero(abs(misfit) / unit > 10 * self.tolerance * scale)
        if bad.size:
            self._refuse(bad, misfit, labels)
        return v0

    def _refuse(self, bad: IntArray, misfit: FloatArray, labels: Sequence[str] | None) -> None:
        row = bad[np.argmax(abs(misfit[bad]))]
        one = self.J[[row]].toarray()[0] if sp.issparse(self.J) else self.J[row]
        weights = one @ self.inverse
        partners = [int(k) for k in np.flatnonzero(abs(weights) > 1e3 * self.tolerance) if k != row]

        def name(k: int) -> str:
            return f"row {k}" if labels is None else str(labels[k])

        against = f" once {listed(partners, name)} hold" if partners else ": it has no coefficients left"
        others = [k for k in bad if k != row]
        more = f"; also contradicted: {listed(others, name)}" if others else ""
        raise ProjectionError(
            f"contradicting constraints: {name(row)} is missed by {abs(misfit[row]):.3g}{against}{more}. "
            "Remove one of them or make their right-hand sides agree."
        )


def listed(items: Sequence[int], name: Callable[[int], str], most: int = 5) -> str:
    """Names of the first few items, and how many more there are."""
    text = ", ".join(name(k) for k in items[:most])
    return text if len(items) <= most else f"{text} and {len(items) - most} more"


def null_space(
    J: Any, method: Method = "partition", *, tol: float | None = None, keep: ArrayLike | None = None
) -> NullSpace:
    """Null space of the Jacobian J (m × n, array or scipy sparse); rank decision as in the module docstring.

    method "partition": coordinate partitioning A = P [E; C], C = −J_d⁻¹ J_i, by Gauss elimination with full
    pivoting; "qr", "svd": orthonormal A. For a sparse J all of them work on connected components, and A stays
    sparse. tol: relative tolerance of the rank decision, by default 1e-10. keep: coordinates that "partition"
    leaves independent where a pivot not 1000 times smaller than the best allows it.
    """
    tol = RANK_TOLERANCE if tol is None else tol
    if not 0 < number(tol) < 1:
        raise ProjectionError(f"tolerance of the rank decision must lie between 0 and 1, got {tol}")
    if method not in ("partition", "qr", "svd"):
        raise ProjectionError(f'unknown null-space method {method!r}: use "partition", "qr" or "svd"')
    sparse = bool(sp.issparse(J))
    J = sp.csr_array(J, dtype=float, copy=True) if sparse else array(J)
    if J.ndim != 2:
        raise ProjectionError(f"a Jacobian has two dimensions (rows, coordinates), got shape {J.shape}")
    if not np.all(np.isfinite(J.data if sparse else J)):
        raise ProjectionError("the Jacobian contains NaN or infinity")
    if sparse:
        J.sum_duplicates()
        J.eliminate_zeros()
    norms = _row_norms(J)
    counts = norms > tol * np.max(norms, initial=0.0)
    scale = np.where(counts, 1.0 / np.where(counts, norms, 1.0), 0.0)
    kept = np.zeros(J.shape[1], dtype=np.bool_)
    if keep is not None:
        numbers = array(keep)
        if not np.isin(numbers, np.arange(J.shape[1])).all():
            raise ProjectionError(f"keep lists coordinates by number, from 0 to {J.shape[1] - 1}, not {keep!r}")
        kept[numbers.astype(np.int64)] = True
    scaled = sp.csr_array(sp.diags_array(scale) @ J) if sparse else scale[:, None] * J
    if not sparse:
        block = _dense_block(scaled, method, tol, kept)
        parts = [(np.arange(J.shape[0]), np.arange(J.shape[1]), block)]
        A, inverse = block.A, block.inverse * scale
        pivot_rows, dependent = block.rows, block.dependent
    else:
        scaled.eliminate_zeros()
        if method == "partition":
            return _sparse_partition(J, scaled, scale, tol, kept)
        parts = [(r, c, _dense_block(_dense(scaled, r, c), method, tol, kept[c])) for r, c in components(scaled)]
        A, inverse = _join(parts, J.shape, scale)
        pivot_rows = _concatenate([r[b.rows] for r, _, b in parts])
        dependent = None
    rows = np.ones(J.shape[0], dtype=bool)
    rows[pivot_rows] = False
    independent = None
    if dependent is not None and method == "partition":
        independent = np.setdiff1d(np.arange(J.shape[1]), dependent)
    return NullSpace(
        J=J,
        A=A,
        inverse=inverse,
        rank=len(pivot_rows),
        redundant=np.flatnonzero(rows),
        independent=independent,
        method=method,
        tolerance=tol,
        smallest_kept=min((b.smallest for *_, b in parts), default=1.0),
        largest_dropped=max((b.dropped for *_, b in parts), default=0.0),
    )


@dataclass(frozen=True)
class _Block:
    """Null space of one dense block with unit rows: basis, inverse, pivot rows, dependent columns, ratios."""

    A: FloatArray
    inverse: FloatArray
    rows: IntArray
    dependent: IntArray
    smallest: float
    dropped: float


def _dense_block(W: FloatArray, method: Method, tol: float, keep: NDArray[np.bool_]) -> _Block:
    m, n = W.shape
    if method == "partition":
        W = np.ascontiguousarray(W)
        rank, rows, columns, smallest, dropped = exchange(W, tol, keep)
        rows, columns = rows[:rank], columns[:rank]
        free = np.setdiff1d(np.arange(n), columns)
        A = np.zeros((n, n - rank))
        A[free, np.arange(n - rank)] = 1.0
        A[columns] = W[np.ix_(rows, free)]
        inverse = np.zeros((n, m))
        inverse[np.ix_(columns, rows)] = W[np.ix_(rows, columns)]
        return _Block(A, inverse, rows, columns, smallest, dropped)
    if method == "qr":
        Q, R, order = scipy.linalg.qr(W.T, pivoting=True)
        sizes = abs(np.diagonal(R))
        rank = _count(sizes, tol)
        rows, basis = np.asarray(order[:rank], dtype=np.int64), Q[:, rank:]
        inverse = np.zeros((n, m))
        # J v = b on the pivot rows: R₁ᵀ Q₁ᵀ v = b, least norm v = Q₁ R₁⁻ᵀ b
        inverse[:, rows] = scipy.linalg.solve_triangular(R[:rank, :rank], Q[:, :rank].T).T if rank else 0.0
    else:
        U, sizes, Vt = scipy.linalg.svd(W)
        rank = _count(sizes, tol)
        basis = Vt[rank:].T
        inverse = (Vt[:rank].T / sizes[:rank]) @ U[:, :rank].T
        order = scipy.linalg.qr(U[:, :rank].T, mode="r", pivoting=True)[1] if rank else np.arange(0)
        rows = np.asarray(order[:rank], dtype=np.int64)
    smallest = sizes[rank - 1] / sizes[0] if rank else 1.0
    dropped = sizes[rank] / sizes[0] if 0 < rank < len(sizes) else 0.0
    return _Block(basis, inverse, rows, np.empty(0, dtype=np.int64), smallest, dropped)


def _count(sizes: NDArray[Any], tol: float) -> int:
    return int(np.count_nonzero(sizes > tol * sizes[0])) if len(sizes) else 0


def _sparse_partition(J: Any, scaled: Any, scale: FloatArray, tol: float, keep: NDArray[np.bool_]) -> NullSpace:
    m, n = J.shape
    scaled, rounds, thinned = thin_out(scaled, tol, keep)
    row_start, rows, column_start, columns = component_arrays(scaled)
    check_sizes(row_start, column_start)
    c_i, c_j, c_x, s_i, s_j, s_x, column_of_row, smallest, dropped = exchange_components(
        scaled.indptr.astype(np.int64), scaled.indices.astype(np.int64), scaled.data,
        row_start, rows, column_start, columns, keep, tol,
    )  # fmt: skip
    for r in rounds:
        column_of_row[r.rows] = r.columns
        smallest = min(smallest, float(abs(r.pivots).min()))
    free = np.ones(n, dtype=bool)
    free[column_of_row[column_of_row >= 0]] = False
    independent = np.flatnonzero(free)
    place = np.cumsum(free) - 1
    i, j = np.concatenate([independent, c_i]), np.concatenate([np.arange(len(independent)), place[c_j]])
    A = sp.csr_array((np.concatenate([np.ones(len(independent)), c_x]), (i, j)), shape=(n, len(independent)))
    for r in reversed(rounds):
        followers = sp.csr_array(
            (np.ones(len(r.columns)), (r.columns, np.arange(len(r.columns)))), shape=(n, len(r.columns))
        )
        A = A - followers @ (r.E @ A)
    inverse: Any = sp.csr_array((s_x, (s_i, s_j)), shape=(n, m))
    inverse = RoundsInverse(rounds, inverse, scale) if rounds else inverse @ sp.diags_array(scale)
    return NullSpace(
        J=J,
        A=A,
        inverse=inverse,
        rank=n - len(independent),
        redundant=np.flatnonzero(column_of_row < 0),
        independent=independent,
        method="partition",
        tolerance=tol,
        smallest_kept=smallest,
        largest_dropped=max(dropped, thinned),
    )


def _dense(J: Any, rows: IntArray, columns: IntArray) -> FloatArray:
    block: FloatArray = J[rows][:, columns].toarray()
    return block


def _join(parts: list[tuple[IntArray, IntArray, _Block]], shape: tuple[int, int], scale: FloatArray) -> Any:
    """Sparse A and inverse of J from the blocks of its components; untouched coordinates come first."""
    m, n = shape
    touched = np.zeros(n, dtype=bool)
    for _, c, _ in parts:
        touched[c] = True
    free = np.flatnonzero(~touched)
    order = np.concatenate([free, *[c for _, c, _ in parts]])
    blocks = [sp.eye_array(len(free)), *[sp.csr_array(b.A) for *_, b in parts]]
    stacked = sp.csr_array(sp.block_diag(blocks, format="csr"))
    A = stacked[np.argsort(order)]
    i = _concatenate([np.repeat(c, len(r)) for r, c, _ in parts])
    j = _concatenate([np.tile(r, len(c)) for r, c, _ in parts])
    x = np.concatenate([np.zeros(0), *[b.inverse.ravel() for *_, b in parts]])
    return A, sp.csr_array((x * scale[j], (i, j)), shape=(n, m))


def _concatenate(parts: list[IntArray]) -> IntArray:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])


def _row_norms(J: Any) -> FloatArray:
    if sp.issparse(J):
        return np.sqrt(np.asarray(J.multiply(J).sum(axis=1), dtype=float).ravel())
    norms: FloatArray = np.linalg.norm(J, axis=1)
    return norms
