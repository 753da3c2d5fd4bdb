"""Vectors of three numbers as tuples, for compiled code that allocates nothing; products of them are with measures."""

from __future__ import annotations

from typing import Any

from numba import njit

options: dict[str, Any] = {"cache": True, "error_model": "numpy"}
inner: dict[str, Any] = {**options, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Of functions that only compiled ones call: unpacking their arguments for Python costs a third of compiling them."""


@njit(**inner)
def add(a, b):
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@njit(**inner)
def minus(a, b):
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@njit(**inner)
def times(factor, a):
    """factor · a."""
    return factor * a[0], factor * a[1], factor * a[2]


@njit(**inner)
def triple(array, first):
    """Three numbers of a vector, from ``first`` on."""
    return array[first], array[first + 1], array[first + 2]


@njit(**inner)
def part(array, k, first):
    """Three numbers of row k, from ``first`` on."""
    return array[k, first], array[k, first + 1], array[k, first + 2]


@njit(**inner)
def unit(block, q):
    """The three components in block ``block`` of the q-th unit vector of a space of blocks of three."""
    p = q - 3 * block
    return (1.0 if p == 0 else 0.0), (1.0 if p == 1 else 0.0), (1.0 if p == 2 else 0.0)


@njit(**inner)
def put(array, k, force_i, moment_i, force_j, moment_j):
    """array[k] (12,) += the four parts."""
    for p in range(3):
        array[k, p] += force_i[p]
        array[k, 3 + p] += moment_i[p]
        array[k, 6 + p] += force_j[p]
        array[k, 9 + p] += moment_j[p]


@njit(**inner)
def put_column(array, m, q, force_i, moment_i, force_j, moment_j):
    """Column q of array[m] (12, 12) += the four parts."""
    for p in range(3):
        array[m, p, q] += force_i[p]
        array[m, 3 + p, q] += moment_i[p]
        array[m, 6 + p, q] += force_j[p]
        array[m, 9 + p, q] += moment_j[p]
