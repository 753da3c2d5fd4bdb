"""Gauss elimination with full pivoting on dense blocks and on the connected components of a sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from flexmbs.errors import ProjectionError

IntArray = NDArray[np.int64]

# Largest dense block (entries) that one connected component may need: 1 GB.
BLOCK_LIMIT = 125_000_000
# Rows have unit norm: what is smaller than this after an elimination is what rounding leaves of a zero.
RESIDUE = 1e-14


@njit(cache=True)
def exchange(W, tol, keep):  # type: ignore[no-untyped-def]
    """Exchange pivot rows and columns of w = W x in place (Gauss-Jordan with full pivoting, Stiefel's form).

    Afterwards row p of W, exchanged with column q, gives x_q from the exchanged w and the remaining x: W
    holds C = −J_d⁻¹ J_i and J_d⁻¹ without extra storage. Ties go to the first row and column. Returns the
    rank, the pivot rows and columns in order, and the first, the smallest accepted and the largest rejected
    pivot.
    """
    m, n = W.shape
    size = min(m, n)
    rows = np.empty(size, np.int64)
    columns = np.empty(size, np.int64)
    row_free = np.ones(m, np.bool_)
    column_free = np.ones(n, np.bool_)
    smallest = 1.0
    dropped = 0.0
    rank = 0
    for step in range(size + 1):
        best = best_keep = 0.0
        p = q = pk = qk = -1
        for i in range(m):
            if row_free[i]:
                for j in range(n):
                    if column_free[j]:
                        a = abs(W[i, j])
                        if keep[j]:
                            if a > best_keep:
                                best_keep, pk, qk = a, i, j
                        elif a > best:
                            best, p, q = a, i, j
        if best < 1e-3 * best_keep:
            best, p, q = best_keep, pk, qk
        if best <= tol or step == size:
            dropped = best
            break
        smallest = min(smallest, best)
        w = W[p, q]
        for j in range(n):
            if j != q:
                W[p, j] /= -w
        for i in range(m):
            if i != p and W[i, q] != 0.0:
                a = W[i, q]
                for j in range(n):
                    if j != q:
                        W[i, j] += a * W[p, j]
                W[i, q] = a / w
        W[p, q] = 1.0 / w
        row_free[p] = False
        column_free[q] = False
        rows[rank] = p
        columns[rank] = q
        rank += 1
    return rank, rows, columns, smallest, dropped


@njit(cache=True)
def exchange_components(indptr, indices, data, row_start, rows, column_start, columns, keep, tol):  # type: ignore[no-untyped-def]
    """Exchange every component; triplets of C and of the inverse, pivot column of each row (or −1)."""
    count_c = 0
    count_s = 0
    for c in range(len(row_start) - 1):
        m = row_start[c + 1] - row_start[c]
        n = column_start[c + 1] - column_start[c]
        count_c += min(m, n) * n
        count_s += min(m, n) ** 2
    c_i = np.empty(count_c, np.int64)
    c_j = np.empty(count_c, np.int64)
    c_x = np.empty(count_c, np.float64)
    s_i = np.empty(count_s, np.int64)
    s_j = np.empty(count_s, np.int64)
    s_x = np.empty(count_s, np.float64)
    column_of_row = np.full(len(indptr) - 1, -1, np.int64)
    local = np.empty(len(keep), np.int64)
    smallest = 1.0
    dropped = 0.0
    nc = 0
    ns = 0
    for c in range(len(row_start) - 1):
        r = rows[row_start[c] : row_start[c + 1]]
        col = columns[column_start[c] : column_start[c + 1]]
        for k in range(len(col)):
            local[col[k]] = k
        W = np.zeros((len(r), len(col)))
        for k in range(len(r)):
            for e in range(indptr[r[k]], indptr[r[k] + 1]):
                W[k, local[indices[e]]] = data[e]
        rank, p, q, least, rest = exchange(W, tol, keep[col])
        smallest = min(smallest, least)
        dropped = max(dropped, rest)
        free = np.ones(len(col), np.bool_)
        for k in range(rank):
            free[q[k]] = False
        for k in range(rank):
            column_of_row[r[p[k]]] = col[q[k]]
            largest = 0.0
            for j in range(len(col)):
                if free[j]:
                    largest = max(largest, abs(W[p[k], j]))
            for j in range(len(col)):
                # residues of cancellation are not coefficients: they would only spoil the sparsity
                if free[j] and abs(W[p[k], j]) > RESIDUE * max(largest, 1.0):
                    c_i[nc] = col[q[k]]
                    c_j[nc] = col[j]
                    c_x[nc] = W[p[k], j]
                    nc += 1
            for j in range(rank):
                if W[p[k], q[j]] != 0.0:
                    s_i[ns] = col[q[k]]
                    s_j[ns] = r[p[j]]
                    s_x[ns] = W[p[k], q[j]]
                    ns += 1
    return c_i[:nc], c_j[:nc], c_x[:nc], s_i[:ns], s_j[:ns], s_x[:ns], column_of_row, smallest, dropped


def component_arrays(J: Any) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Connected components of the graph of rows and columns, as (start, members) of rows and of columns."""
    m, n = J.shape
    row, column = J.nonzero()
    graph = sp.coo_array((np.ones(len(row), dtype=np.int8), (row, m + column)), shape=(m + n, m + n))
    count, label = connected_components(graph, directed=False)
    nonempty = np.zeros(count, dtype=bool)
    nonempty[label[row]] = True
    place = np.where(nonempty, np.cumsum(nonempty) - 1, -1)
    count = int(nonempty.sum())
    row_start, rows = _grouped(place[label[:m]], count)
    column_start, columns = _grouped(place[label[m:]], count)
    return row_start, rows, column_start, columns


def check_sizes(row_start: IntArray, column_start: IntArray) -> None:
    """Refuse components too large for a dense block."""
    sizes = np.diff(row_start) * np.diff(column_start)
    if np.max(sizes, initial=0) > BLOCK_LIMIT:
        k = int(np.argmax(sizes))
        raise ProjectionError(
            f"{np.diff(row_start)[k]} constraint rows are coupled through {np.diff(column_start)[k]} "
            "coordinates: too many for one dense elimination. Use bordered solves (Lagrange rows), "
            "or constrain fewer coordinates."
        )


def components(J: Any) -> list[tuple[IntArray, IntArray]]:
    """Rows and columns of each connected component of a sparse matrix; zero ones belong to none."""
    row_start, rows, column_start, columns = component_arrays(J)
    check_sizes(row_start, column_start)
    cut_rows, cut_columns = np.split(rows, row_start[1:-1]), np.split(columns, column_start[1:-1])
    return list(zip(cut_rows, cut_columns, strict=True)) if len(rows) else []


def _grouped(label: IntArray, count: int) -> tuple[IntArray, IntArray]:
    members = np.argsort(label, kind="stable")
    start = np.searchsorted(label[members], np.arange(count + 1))
    return (start - start[0]).astype(np.int64), members[start[0] :].astype(np.int64)
