"""Sparse Cholesky factorisation K = L Lᵀ by dense fronts over a nested dissection.

Each front owns the columns of one separator (or leaf) and the rows below that they touch. Fronts are assembled and
passed on by compiled loops; the arithmetic is LAPACK's. The factor is stored in panels of a few columns, with the
inverse of each diagonal block in its place, so that solving is only products of dense blocks.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numba import njit
from scipy.linalg.blas import dsyrk, dtrsm
from scipy.linalg.lapack import dpotrf, dtrtri

from flexmbs.linalg.dissection import Array, Index, Ordering, dissect

PANEL = 96  # columns of a stored panel: the square block on its diagonal is stored whole


class NotDefiniteError(Exception):
    """The pivot of unknown `unknown` is not positive."""

    def __init__(self, unknown: int) -> None:
        super().__init__(unknown)
        self.unknown = unknown


class Multifrontal:
    """Cholesky factor of a sparse symmetric positive definite matrix."""

    def __init__(self, matrix: sp.csc_matrix) -> None:
        n = matrix.shape[0]
        order, starts = dissect(matrix)
        rank = np.empty(n, np.int64)
        rank[order] = np.arange(n)
        indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
        row_start, rows, parent = _structure(indptr, indices, order, rank, starts)
        columns, below = np.diff(starts), np.diff(row_start)
        panels = _panels(starts, row_start)
        self.nnz = int((panels[:, 1] * panels[:, [1, 2, 4]].sum(axis=1)).sum())
        self._order, self._rank, self._rows, self._panels = order, rank, rows, panels
        self._values = values = np.empty(self.nnz)
        local = np.empty(n, np.int64)
        pending: list[list[tuple[Index, Array]]] = [[] for _ in columns]
        at = 0
        for f, (m, b) in enumerate(zip(columns.tolist(), below.tolist(), strict=True)):
            mine = rows[row_start[f] : row_start[f + 1]]
            square, under = np.zeros((m, m), order="F"), np.zeros((b, m), order="F")
            update = np.zeros((b, b), order="F")
            # kernels see transposes: C-contiguous whatever the shape, hence one compiled signature
            front = square.T, under.T, update.T
            _gather(indptr, indices, matrix.data, order, rank, starts[f], mine, local, front[0], front[1])
            for child_rows, child in pending[f]:
                _add(child_rows, child.T, local, *front)
            pending[f] = []
            square, failed = dpotrf(square, lower=1, clean=1, overwrite_a=1)
            if failed:
                raise NotDefiniteError(int(order[starts[f] + failed - 1]))
            if b:
                under = dtrsm(1.0, square, under, side=1, lower=1, trans_a=1, overwrite_b=1)
                update = dsyrk(-1.0, under, beta=1.0, c=update, lower=1, overwrite_c=1)
                pending[parent[f]].append((mine, update))
            for first in range(0, m, PANEL):
                last = min(first + PANEL, m)
                inverse, _ = dtrtri(square[first:last, first:last], lower=1)
                at = _store(inverse.T, square.T, under.T, first, last, values, at)

    def solve(self, b: Array) -> Array:
        """Return K⁻¹ b for b of shape (n,) or (n, k)."""
        x = b[self._order].reshape(len(b), -1)
        _sweep(self._panels, self._rows, self._values, x)
        return x[self._rank].reshape(b.shape)


def fill(matrix: sp.csc_matrix, ordering: Ordering) -> int:
    """Entries of the lower triangular factor of a matrix eliminated in this order."""
    order, starts = ordering
    row_start, _, _ = _structure(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), order, np.argsort(order), starts
    )
    columns = np.diff(starts)
    return int((columns * (columns + 1) // 2 + columns * np.diff(row_start)).sum())


@njit(cache=True)
def _structure(indptr, indices, order, rank, starts):  # type: ignore[no-untyped-def]
    """Rows below each front (sorted, in elimination order) and the front that takes its update."""
    n, fronts = len(order), len(starts) - 1
    owner = np.empty(n, np.int64)
    for f in range(fronts):
        owner[starts[f] : starts[f + 1]] = f
    parent = np.full(fronts, -1)
    child, sibling = np.full(fronts, -1), np.full(fronts, -1)
    seen = np.full(n, -1)
    row_start = np.zeros(fronts + 1, np.int64)
    rows = np.empty(16 * n, np.int64)
    for f in range(fronts):
        end = starts[f + 1]
        first = at = row_start[f]
        if at + n > len(rows):
            rows = np.concatenate((rows, np.empty(len(rows) + n, np.int64)))
        for k in range(starts[f], end):
            for p in range(indptr[order[k]], indptr[order[k] + 1]):
                r = rank[indices[p]]
                if r >= end and seen[r] != f:
                    seen[r] = f
                    rows[at] = r
                    at += 1
        c = child[f]
        while c >= 0:
            for r in rows[row_start[c] : row_start[c + 1]]:
                if r >= end and seen[r] != f:
                    seen[r] = f
                    rows[at] = r
                    at += 1
            c = sibling[c]
        rows[first:at].sort()
        row_start[f + 1] = at
        if at > first:
            parent[f] = owner[rows[first]]
            sibling[f] = child[parent[f]]
            child[parent[f]] = f
    return row_start, rows[: row_start[fronts]].copy(), parent


def _panels(starts: Index, row_start: Index) -> Index:
    """Per panel: first column, columns, own rows after it, first and number of listed rows."""
    columns = np.diff(starts)
    pieces = -(-columns // PANEL)
    front = np.repeat(np.arange(len(columns)), pieces)
    before = np.repeat(np.cumsum(pieces) - pieces, pieces)
    first = starts[front] + PANEL * (np.arange(len(front)) - before)
    width = np.minimum(PANEL, starts[front + 1] - first)
    return np.column_stack(
        (first, width, starts[front + 1] - first - width, row_start[front], np.diff(row_start)[front])
    )


@njit(cache=True)
def _gather(indptr, indices, data, order, rank, start, rows, local, square, under):  # type: ignore[no-untyped-def]
    """Put the entries of the matrix that belong to a front into it (transposed), and number its rows in `local`."""
    m = square.shape[0]
    for i in range(m):
        local[start + i] = i
    for i in range(len(rows)):
        local[rows[i]] = m + i
    for j in range(m):
        c = order[start + j]
        for p in range(indptr[c], indptr[c + 1]):
            r = rank[indices[p]]
            if r >= start + m:
                under[j, local[r] - m] = data[p]
            elif r >= start + j:
                square[j, r - start] = data[p]


@njit(cache=True)
def _add(rows, child, local, square, under, update):  # type: ignore[no-untyped-def]
    """Add the lower triangle of a child's update into its parent's front (all transposed)."""
    m = square.shape[0]
    for j in range(len(rows)):
        c = local[rows[j]]
        if c < m:
            for i in range(j, len(rows)):
                r = local[rows[i]]
                if r < m:
                    square[c, r] += child[j, i]
                else:
                    under[c, r - m] += child[j, i]
        else:
            for i in range(j, len(rows)):
                update[c - m, local[rows[i]] - m] += child[j, i]


@njit(cache=True)
def _store(inverse, square, under, first, last, values, at):  # type: ignore[no-untyped-def]
    """Append one panel to the values: the inverse diagonal block, then the rows below it, column by column."""
    w, a, b = last - first, square.shape[0] - last, under.shape[1]
    for j in range(w):
        for i in range(w):
            values[at + i] = inverse[j, i]
        at += w
    for j in range(first, last):
        for i in range(a):
            values[at + i] = square[j, last + i]
        at += a
        for i in range(b):
            values[at + i] = under[j, i]
        at += b
    return at


@njit(cache=True)
def _sweep(panels, rows, values, x):  # type: ignore[no-untyped-def]
    """Solve L Lᵀ x = b in place, in elimination order, for C-contiguous x (n, k)."""
    k = x.shape[1]
    at = 0
    for p in range(len(panels)):
        c, w, a, first, b = panels[p, 0], panels[p, 1], panels[p, 2], panels[p, 3], panels[p, 4]
        y = np.dot(values[at : at + w * w].reshape(w, w).T, x[c : c + w])
        at += w * w
        for i in range(w):
            for j in range(k):
                x[c + i, j] = y[i, j]
        if a + b == 0:
            continue
        t = np.dot(values[at : at + (a + b) * w].reshape(w, a + b).T, y)
        at += (a + b) * w
        for i in range(a + b):
            r = c + w + i if i < a else rows[first + i - a]
            for j in range(k):
                x[r, j] -= t[i, j]
    for p in range(len(panels) - 1, -1, -1):
        c, w, a, first, b = panels[p, 0], panels[p, 1], panels[p, 2], panels[p, 3], panels[p, 4]
        y = x[c : c + w].copy()
        if a + b > 0:
            t = np.empty((a + b, k))
            for i in range(a + b):
                r = c + w + i if i < a else rows[first + i - a]
                for j in range(k):
                    t[i, j] = x[r, j]
            at -= (a + b) * w
            y -= np.dot(values[at : at + (a + b) * w].reshape(w, a + b), t)
        at -= w * w
        y = np.dot(values[at : at + w * w].reshape(w, w), y)
        for i in range(w):
            for j in range(k):
                x[c + i, j] = y[i, j]
