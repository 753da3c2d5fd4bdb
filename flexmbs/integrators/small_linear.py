"""Small dense linear systems, compiled: elimination with partial pivoting, in place and without allocation."""

from __future__ import annotations

from typing import Any

from numba import njit

_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}


@njit(**_options)
def factorise(a, n, pivots):
    """LU factors of a[:n, :n] in its place, rows exchanged as in ``pivots``; False if it is singular."""
    for k in range(n):
        best, largest = k, abs(a[k, k])
        for i in range(k + 1, n):
            if abs(a[i, k]) > largest:
                best, largest = i, abs(a[i, k])
        pivots[k] = best
        if not largest > 0.0:
            return False
        if best != k:
            for j in range(n):
                a[k, j], a[best, j] = a[best, j], a[k, j]
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return True


@njit(**_options)
def solve(a, n, pivots, b, count):
    """b[:n, :count] = a⁻¹ b from the factors of a."""
    for k in range(n):
        best = pivots[k]
        if best != k:
            for j in range(count):
                b[k, j], b[best, j] = b[best, j], b[k, j]
    for i in range(n):
        for k in range(i):
            for j in range(count):
                b[i, j] -= a[i, k] * b[k, j]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            for j in range(count):
                b[i, j] -= a[i, k] * b[k, j]
        for j in range(count):
            b[i, j] /= a[i, i]
