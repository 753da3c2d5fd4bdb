"""Inertia and elasticity of flexible bodies in their floating frame, compiled: residual and its derivatives.

A point of the body is at y = x + u + u₂ in the floating frame, u = N d, and u₂ (of second order in d) is how bending
shortens the body: geometric stiffening is its work under the body's own inertia. With y_i, N_i the components,

    S_i(d)  = ∫ρ N_i + (G_i d)ᵀ                G_i d·d / 2 = ∫ρ u₂_i
    P_ij(d) = ∫ρ x_i N_j + (m_ji d + B_ji d)ᵀ   B_ij d·d / 2 = ∫ρ x_j u₂_i,   m_ij = ∫ρ N_iᵀ N_j

carry everything. With a = Rᵀ(p'' - g), ε = ω', A = ε~ + ω~ω~, s = ∫ρ y, W = P d', V = P d'' + d'ᵀB d', the three
block rows of the equations of motion are, in body axes,

    force   m a + A s + 2 ω × s' + s''
    moment  s × a + I ε + ω × I ω + 2 (tr W - Wᵀ) ω + axial V          (axial V)_c = e_cij V_ij
    modes   S_i a_i + A_ij P_ji + 2 ω~_ij m_ij d' + m d'' + K d + D d'

They are Lagrange's equations of one kinetic energy, so energy is kept with stiffening and without. G_i and B_ij are the
stress stiffnesses of the body under the unit accelerations e_i and x_j e_i.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.vectors import cross, dot, minus, plus, times

Array = NDArray[np.float64]

_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_inner: dict[str, Any] = {**_options, "forceinline": True, "no_cpython_wrapper": True}

# rows of the table of vectors (n,) that the moments of a deformed body are made of
S, P, MV, GV, BV, MA, GA, BA = 0, 3, 12, 21, 24, 33, 42, 45
VECTORS = 54


class BodyMoments(NamedTuple):
    """Constants of one flexible body with n elastic coordinates, in body axes about the frame's origin."""

    mass: float
    first: Array  # (3,) ∫ρ x
    second: Array  # (3, 3) ∫ρ x xᵀ
    shifts: Array  # (3, n) ∫ρ N_i
    turns: Array  # (3, 3, n) ∫ρ x_i N_j
    stiffness: Array  # (n, n) K
    damping: Array  # (n, n) D
    products: Array  # (3, 3, n, n) m_ij
    shortening: Array  # (3, n, n) G_i
    shearing: Array  # (3, 3, n, n) B_ij


def packed(moments: BodyMoments) -> Array:
    """The constants as one flat array, in the order in which the compiled functions read them."""
    head = np.concatenate([[moments.mass], moments.first, moments.second.ravel()])
    stiffens = bool(np.any(moments.shortening) or np.any(moments.shearing))
    arrays = [moments.shifts, moments.turns, moments.stiffness, moments.damping, moments.products]
    if stiffens:
        arrays += [moments.shortening, moments.shearing]
    return np.concatenate([head, [float(stiffens)], *(np.ravel(a) for a in arrays)])


@njit(**_inner)
def apply(constants, at, n, x, first, out, row):
    """out[row] = matrix · x[first:first+n], the matrix (n, n) at constants[at]."""
    for k in range(n):
        total = 0.0
        for i in range(n):
            total += constants[at + k * n + i] * x[first + i]
        out[row, k] = total


@njit(**_options)
def moment_vectors(constants, at, n, d, d_at, v, rate, v_at, matrix, table):
    """S(d), P(d), and products of the constants with d' (and, with ``matrix``, d''), into the table of vectors."""
    head, nn = at + 14, n * n
    stiffens = constants[at + 13] != 0.0
    products = head + 12 * n + 2 * nn
    shortening, shearing = products + 9 * nn, products + 12 * nn
    for i in range(3):
        for j in range(3):
            apply(constants, products + (3 * j + i) * nn, n, d, d_at, table, P + 3 * i + j)
            apply(constants, products + (3 * i + j) * nn, n, v, v_at, table, MV + 3 * i + j)
            if matrix:
                apply(constants, products + (3 * i + j) * nn, n, rate, v_at, table, MA + 3 * i + j)
            for k in range(n):
                table[P + 3 * i + j, k] += constants[head + 3 * n + (3 * i + j) * n + k]
    for i in range(3):
        for k in range(n):
            table[S + i, k] = constants[head + i * n + k]
    for i in range(3):
        if not stiffens:
            for k in range(n):
                table[GV + i, k] = table[GA + i, k] = 0.0
                for j in range(3):
                    table[BV + 3 * i + j, k] = table[BA + 3 * i + j, k] = 0.0
            continue
        apply(constants, shortening + i * nn, n, d, d_at, table, GV + i)
        for k in range(n):
            table[S + i, k] += table[GV + i, k]
        for j in range(3):
            apply(constants, shearing + (3 * i + j) * nn, n, d, d_at, table, BV)
            for k in range(n):
                table[P + 3 * j + i, k] += table[BV, k]
    if stiffens:
        for i in range(3):
            apply(constants, shortening + i * nn, n, v, v_at, table, GV + i)
            if matrix:
                apply(constants, shortening + i * nn, n, rate, v_at, table, GA + i)
            for j in range(3):
                apply(constants, shearing + (3 * i + j) * nn, n, v, v_at, table, BV + 3 * i + j)
                if matrix:
                    apply(constants, shearing + (3 * i + j) * nn, n, rate, v_at, table, BA + 3 * i + j)


SECOND, W, V = range(3)


@njit(**_inner)
def contract(table, first, i, j, x, at, n):
    """Vector i, j of nine in the table times x."""
    total = 0.0
    for k in range(n):
        total += table[first + 3 * i + j, k] * x[at + k]
    return total


@njit(**_options)
def moment_matrices(constants, at, n, d, d_at, v, rate, v_at, table, small):
    """∫ρ y yᵀ, W and V (3, 3) into ``small``; returns s, s' and s'' of the deformed body."""
    head = at + 14
    for i in range(3):
        for j in range(3):
            second = constants[at + 4 + 3 * i + j]
            shear = 0.0
            for k in range(n):
                own = constants[head + 3 * n + (3 * i + j) * n + k] + constants[head + 3 * n + (3 * j + i) * n + k]
                second += 0.5 * d[d_at + k] * (table[P + 3 * i + j, k] + table[P + 3 * j + i, k] + own)
                shear += table[BV + 3 * j + i, k] * v[v_at + k]
            small[SECOND, i, j] = second
            small[W, i, j] = contract(table, P, i, j, v, v_at, n)
            small[V, i, j] = contract(table, P, i, j, rate, v_at, n) + shear
    return (
        first_moment(constants, at, n, 0, d, d_at, v, rate, v_at, table),
        first_moment(constants, at, n, 1, d, d_at, v, rate, v_at, table),
        first_moment(constants, at, n, 2, d, d_at, v, rate, v_at, table),
    )


@njit(**_inner)
def first_moment(constants, at, n, i, d, d_at, v, rate, v_at, table):
    """s_i, s_i' and s_i'' (relative to the frame)."""
    s, speed, acceleration = constants[at + 1 + i], 0.0, 0.0
    for k in range(n):
        s += 0.5 * (constants[at + 14 + i * n + k] + table[S + i, k]) * d[d_at + k]
        speed += table[S + i, k] * v[v_at + k]
        acceleration += table[S + i, k] * rate[v_at + k] + table[GV + i, k] * v[v_at + k]
    return s, speed, acceleration


@njit(**_inner)
def inertia_times(small, a):
    """I a = (tr ∫ρ y yᵀ) a - (∫ρ y yᵀ) a."""
    trace = small[SECOND, 0, 0] + small[SECOND, 1, 1] + small[SECOND, 2, 2]
    return minus(times(trace, a), matrix_times(small, SECOND, a))


@njit(**_inner)
def matrix_times(small, m, a):
    """Matrix m times a."""
    return (
        small[m, 0, 0] * a[0] + small[m, 0, 1] * a[1] + small[m, 0, 2] * a[2],
        small[m, 1, 0] * a[0] + small[m, 1, 1] * a[1] + small[m, 1, 2] * a[2],
        small[m, 2, 0] * a[0] + small[m, 2, 1] * a[1] + small[m, 2, 2] * a[2],
    )


@njit(**_inner)
def coriolis(small, a):
    """(tr W - Wᵀ) a."""
    trace = small[W, 0, 0] + small[W, 1, 1] + small[W, 2, 2]
    return (
        trace * a[0] - small[W, 0, 0] * a[0] - small[W, 1, 0] * a[1] - small[W, 2, 0] * a[2],
        trace * a[1] - small[W, 0, 1] * a[0] - small[W, 1, 1] * a[1] - small[W, 2, 1] * a[2],
        trace * a[2] - small[W, 0, 2] * a[0] - small[W, 1, 2] * a[1] - small[W, 2, 2] * a[2],
    )


@njit(**_inner)
def swing(w, e, x):
    """A x = ε × x + ω × (ω × x)."""
    return plus(cross(e, x), cross(w, cross(w, x)))


@njit(**_inner)
def field(w, e, i, j):
    """A_ij of A = ε~ + ω~ω~ = ε~ + ω ωᵀ - ω² 1."""
    value = w[i] * w[j]
    if i == j:
        return value - dot(w, w)
    k = 3 - i - j
    return value - e[k] if (i + 1) % 3 == j else value + e[k]


@njit(**_options)
def flexible_rows(constants, at, n, w, e, a, d, d_at, v, rate, v_at, table, small, modal, modal_at, scale):
    """Force and moment of the motion (w, e, a; d, d', d'') in body axes; modal[modal_at:] = scale · rows of modes.

    After ``moment_vectors``. Vectors w, e, a are three floats.
    """
    x, y, z = moment_matrices(constants, at, n, d, d_at, v, rate, v_at, table, small)
    s, s1, s2 = (x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])
    m = constants[at]
    force = plus(plus(times(m, a), swing(w, e, s)), plus(times(2.0, cross(w, s1)), s2))
    moment = plus(plus(cross(s, a), inertia_times(small, e)), cross(w, inertia_times(small, w)))
    axial = small[V, 1, 2] - small[V, 2, 1], small[V, 2, 0] - small[V, 0, 2], small[V, 0, 1] - small[V, 1, 0]
    moment = plus(plus(moment, times(2.0, coriolis(small, w))), axial)
    nn, stiffness = n * n, at + 14 + 12 * n
    damping, products = stiffness + nn, stiffness + 2 * nn
    for k in range(n):
        total = a[0] * table[S, k] + a[1] * table[S + 1, k] + a[2] * table[S + 2, k]
        for i in range(3):
            for j in range(3):
                total += field(w, e, i, j) * table[P + 3 * j + i, k]
        total += 2.0 * w[0] * (table[MV + 7, k] - table[MV + 5, k])
        total += 2.0 * w[1] * (table[MV + 2, k] - table[MV + 6, k])
        total += 2.0 * w[2] * (table[MV + 3, k] - table[MV + 1, k])
        for i in range(n):
            p = k * n + i
            mass = constants[products + p] + constants[products + 4 * nn + p] + constants[products + 8 * nn + p]
            total += mass * rate[v_at + i]
            total += constants[stiffness + p] * d[d_at + i] + constants[damping + p] * v[v_at + i]
        modal[modal_at + k] = scale * total
    return force, moment, s, s1
