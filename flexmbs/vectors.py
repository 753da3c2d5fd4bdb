"""Vectors of three floats and matrices in arrays of them, for compiled functions.

The functions take whole arrays and numbers of rows: an array cut out of another costs more than the arithmetic.
"""

from __future__ import annotations

from typing import Any

from numba import njit

_inner: dict[str, Any] = {
    "cache": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cfunc_wrapper": True,
    "forceinline": True,
    "no_cpython_wrapper": True,
}


@njit(**_inner)
def cross(a, b):
    """a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@njit(**_inner)
def dot(a, b):
    """a · b of three components."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(**_inner)
def vector(array, k):
    """Row k of an array (n, 3)."""
    return array[k, 0], array[k, 1], array[k, 2]


@njit(**_inner)
def row(array, m, k):
    """Row k of matrix m of an array (n, ·, 3)."""
    return array[m, k, 0], array[m, k, 1], array[m, k, 2]


@njit(**_inner)
def store(array, m, k, a):
    """Make a the row k of matrix m."""
    array[m, k, 0], array[m, k, 1], array[m, k, 2] = a


@njit(**_inner)
def turn(matrices, m, a):
    """Matrix m times a."""
    return dot(row(matrices, m, 0), a), dot(row(matrices, m, 1), a), dot(row(matrices, m, 2), a)


@njit(**_inner)
def turn_back(matrices, m, a):
    """Transpose of matrix m times a."""
    return (
        matrices[m, 0, 0] * a[0] + matrices[m, 1, 0] * a[1] + matrices[m, 2, 0] * a[2],
        matrices[m, 0, 1] * a[0] + matrices[m, 1, 1] * a[1] + matrices[m, 2, 1] * a[2],
        matrices[m, 0, 2] * a[0] + matrices[m, 1, 2] * a[1] + matrices[m, 2, 2] * a[2],
    )


@njit(**_inner)
def plus(a, b):
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@njit(**_inner)
def minus(a, b):
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@njit(**_inner)
def times(factor, a):
    """factor · a."""
    return factor * a[0], factor * a[1], factor * a[2]
