"""The misfit of two curves at a contact, with derivatives along several directions, compiled.

Numbers are triples (value, first, second derivative) along one direction at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_inner: dict[str, Any] = {**_options, "forceinline": True, "no_cpython_wrapper": True}


@njit(**_inner)
def times(x, y):
    """x y."""
    return x[0] * y[0], x[1] * y[0] + x[0] * y[1], x[2] * y[0] + 2 * x[1] * y[1] + x[0] * y[2]


@njit(**_inner)
def plus(x, y, sign):
    """x ± y."""
    return x[0] + sign * y[0], x[1] + sign * y[1], x[2] + sign * y[2]


@njit(**_inner)
def chain(f, f1, f2, x):
    """f(x) from f, f', f'' at x."""
    return f, f1 * x[1], f2 * x[1] * x[1] + f1 * x[2]


@njit(**_inner)
def unit(x, y):
    """(x, y) over its length."""
    square = plus(times(x, x), times(y, y), 1.0)
    r = 1.0 / np.sqrt(square[0])
    inverse = chain(r, -0.5 * r**3, 0.75 * r**5, square)
    return times(x, inverse), times(y, inverse)


@njit(**_options)
def misfit(c, rates, accelerations, curve_i, curve_j, out):
    """out (3, 3, directions): for each of the three functions of ``Cam`` its value, first and second derivatives.

    c (6,) are x, y, cosine, sine of the second frame in the first and both parameters, with first and second
    derivatives (6, directions); ``curve_i`` and ``curve_j`` (4, 2) are points with their derivatives by the parameters.
    """
    for k in range(rates.shape[1]):
        x, y = (c[0], rates[0, k], accelerations[0, k]), (c[1], rates[1, k], accelerations[1, k])
        cosine, sine = (c[2], rates[2, k], accelerations[2, k]), (c[3], rates[3, k], accelerations[3, k])
        s_i, s_j = (c[4], rates[4, k], accelerations[4, k]), (c[5], rates[5, k], accelerations[5, k])
        p_x = chain(curve_i[0, 0], curve_i[1, 0], curve_i[2, 0], s_i)
        p_y = chain(curve_i[0, 1], curve_i[1, 1], curve_i[2, 1], s_i)
        t_x = chain(curve_i[1, 0], curve_i[2, 0], curve_i[3, 0], s_i)
        t_y = chain(curve_i[1, 1], curve_i[2, 1], curve_i[3, 1], s_i)
        u_x = chain(curve_j[0, 0], curve_j[1, 0], curve_j[2, 0], s_j)
        u_y = chain(curve_j[0, 1], curve_j[1, 1], curve_j[2, 1], s_j)
        w_x = chain(curve_j[1, 0], curve_j[2, 0], curve_j[3, 0], s_j)
        w_y = chain(curve_j[1, 1], curve_j[2, 1], curve_j[3, 1], s_j)
        e_x = plus(plus(x, plus(times(cosine, u_x), times(sine, u_y), -1.0), 1.0), p_x, -1.0)
        e_y = plus(plus(y, plus(times(sine, u_x), times(cosine, u_y), 1.0), 1.0), p_y, -1.0)
        r_x = plus(times(cosine, w_x), times(sine, w_y), -1.0)
        r_y = plus(times(sine, w_x), times(cosine, w_y), 1.0)
        t_x, t_y = unit(t_x, t_y)
        r_x, r_y = unit(r_x, r_y)
        angle = plus(times(t_x, r_y), times(t_y, r_x), -1.0)
        along = plus(times(e_x, t_x), times(e_y, t_y), 1.0)
        across = plus(times(e_y, t_x), times(e_x, t_y), -1.0)
        for d in range(3):
            out[0, d, k], out[1, d, k], out[2, d, k] = angle[d], along[d], across[d]
