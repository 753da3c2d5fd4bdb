"""Inertia and elasticity of flexible bodies in their floating frame, compiled: residual and its derivatives.

A point of the body is at y = x + u + u₂ in the floating frame, u = N d, and u₂ (of second order in d) is how bending
shortens the body: geometric stiffening is its work under the body's own inertia. With y_i, N_i the components,

    S_i(d)  = ∫ρ N_i + (G_i d)ᵀ                G_i d·d / 2 = ∫ρ u₂_i
    P_ij(d) = ∫ρ x_i N_j + (m_ji d + B_ji d)ᵀ   B_ij d·d / 2 = ∫ρ x_j u₂_i,   m_ij = ∫ρ N_iᵀ N_j

carry everything. With a = Rᵀ(p'' - g), ε = ω', A = ε~ + ω~ω~, s = ∫ρ y, W = P d', V = P d'' + d'ᵀB d', the three
block rows of the equations of motion are, in body axes,

    force   m a + A s + 2 ω × s' + s''
    moment  s × a + I ε + ω × I ω + 2 (tr W - Wᵀ) ω + axial V          (axial V)_c = e_cij V_ij
    modes   S_i a_i + A_ij P_ji + 2 ω~_ij m_ij d' + d'' + K d + D d'

They are Lagrange's equations of one kinetic energy, so energy is kept with stiffening and without. G_i and B_ij are the
stress stiffnesses of the body under the unit accelerations e_i and x_j e_i. The elastic coordinates are orthonormal in
the mass, m_11 + m_22 + m_33 = 1, with K and D diagonal. What is left are products of constant matrices with d and d':
these lie one behind the other, so that each product is one long loop.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.errors import ModelError
from flexmbs.vectors import cross, plus, times

Array = NDArray[np.float64]

_options: dict[str, Any] = {
    "cache": True,
    "error_model": "numpy",
    "fastmath": {"contract"},
    "_nrt": False,
    "no_cfunc_wrapper": True,
}
_inner: dict[str, Any] = {**_options, "forceinline": True, "no_cpython_wrapper": True}

HEAD = 14
"""Constants before those of the elastic coordinates: m, ∫ρ x, ∫ρ x xᵀ, whether there is stiffening."""
MOMENTS, SKEW, BENT, TURNED, TURNED_RATE = 0, 12, 15, 21, 33
"""Vectors (n, ·) one behind the other in the table: S and P (12); (m_ji - m_ij) d' (3); G d', (B_ji - B_ij) d' (6);
and for derivatives G d', m_ij d' + B_ji d' (12), and the same of d''. Section s of component k begins at s n + k width.
"""
VECTORS = 45
FIRST, SPEED, RATE, FIELD = 0, 12, 24, 36
"""Twelve numbers each: s and ∫ρ y yᵀ; s' and W; s'' and V; a and Aᵀ."""
SMALL = 48


class BodyMoments(NamedTuple):
    """Constants of one flexible body with n elastic coordinates, in body axes about the frame's origin."""

    mass: float
    first: Array  # (3,) ∫ρ x
    second: Array  # (3, 3) ∫ρ x xᵀ
    shifts: Array  # (3, n) ∫ρ N_i
    turns: Array  # (3, 3, n) ∫ρ x_i N_j
    stiffness: Array  # (n, n) K, diagonal
    damping: Array  # (n, n) D, diagonal
    products: Array  # (3, 3, n, n) m_ij
    shortening: Array  # (3, n, n) G_i
    shearing: Array  # (3, 3, n, n) B_ij


def packed(moments: BodyMoments) -> Array:
    """The constants as one flat array, in the order in which the compiled functions read them."""
    n, m = moments.shifts.shape[1], moments
    for name, matrix in (("K", m.stiffness), ("D", m.damping), ("m", np.einsum("iikl->kl", m.products) - np.eye(n))):
        off = matrix - np.diag(np.diag(matrix)) if name != "m" else matrix
        if np.abs(off).max(initial=0.0) > 1e-6 * max(1.0, np.abs(matrix).max(initial=0.0)):
            raise ModelError(f"elastic coordinates must be orthonormal in m, K and D; {name} says they are not.")
    stiffens = bool(np.any(m.shortening) or np.any(m.shearing))
    shortening = m.shortening.transpose(2, 1, 0)  # the coordinate that is multiplied comes first, axes last
    both = (m.products + m.shearing).transpose(3, 2, 1, 0).reshape(n, n, 9)
    arrays = [
        np.concatenate([[m.mass], m.first, np.ravel(m.second), [float(stiffens)]]),
        np.concatenate([m.shifts.T, m.turns.reshape(9, n).T], axis=1),
        np.diag(m.stiffness),
        np.diag(m.damping),
        np.concatenate([shortening, both], axis=2),
        _axial(m.products),
    ]
    if stiffens:
        arrays.append(np.concatenate([shortening, _axial(m.shearing)], axis=2))
    return np.concatenate([np.ravel(a) for a in arrays])


def _axial(matrices: Array) -> Array:
    """(n, n, 3) of e_cij times nine matrices ji."""
    m = matrices
    return np.stack([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]).transpose(2, 1, 0)


@njit(**_options)
def add_products(matrix, at, count, n, x, x_at, out, out_at):
    """out[out_at + k] += Σ_i x[x_at + i] matrix[at + i count + k], i below n, k below ``count``."""
    target = out[out_at : out_at + count]
    i = 0
    while i + 4 <= n:
        p = at + i * count
        a, b = matrix[p : p + count], matrix[p + count : p + 2 * count]
        c, d = matrix[p + 2 * count : p + 3 * count], matrix[p + 3 * count : p + 4 * count]
        x0, x1, x2, x3 = x[x_at + i], x[x_at + i + 1], x[x_at + i + 2], x[x_at + i + 3]
        for k in range(count):
            target[k] += x0 * a[k] + x1 * b[k] + x2 * c[k] + x3 * d[k]
        i += 4
    while i < n:
        a, x0 = matrix[at + i * count : at + (i + 1) * count], x[x_at + i]
        for k in range(count):
            target[k] += x0 * a[k]
        i += 1


@njit(**_options)
def moment_vectors(constants, at, n, d, d_at, v, rate, v_at, matrix, table):
    """S(d), P(d), and products of the constants with d' (and, with ``matrix``, d''), into the table of vectors."""
    nn, big = n * n, at + HEAD + 14 * n
    skew, bent = big + 12 * nn, big + 15 * nn
    for k in range(12 * n):
        table[k] = constants[at + HEAD + k]
    for k in range(12 * n, VECTORS * n if matrix else TURNED * n):
        table[k] = 0.0
    add_products(constants, big, 12 * n, n, d, d_at, table, MOMENTS)
    add_products(constants, skew, 3 * n, n, v, v_at, table, SKEW * n)
    if constants[at + HEAD - 1] != 0.0:
        add_products(constants, bent, 6 * n, n, v, v_at, table, BENT * n)
    if matrix:
        for i in range(n):
            add_products(constants, big + 12 * n * i, 12, n, v, v_at, table, TURNED * n + 12 * i)
            add_products(constants, big + 12 * n * i, 12, n, rate, v_at, table, TURNED_RATE * n + 12 * i)


@njit(**_options)
def moment_matrices(constants, at, n, d, d_at, v, rate, v_at, table, small):
    """s, ∫ρ y yᵀ, s', W, s'' and V of the deformed body into ``small``."""
    small[:FIELD] = 0.0
    bent = constants[at + HEAD - 1] != 0.0
    for k in range(n):
        half, speed, rush = 0.5 * d[d_at + k], v[v_at + k], rate[v_at + k]
        for c in range(12):
            own = table[12 * k + c]
            small[FIRST + c] += half * (own + constants[at + HEAD + 12 * k + c])
            small[SPEED + c] += speed * own
            small[RATE + c] += rush * own
        if bent:
            p = BENT * n + 6 * k
            for c in range(3):
                small[RATE + c] += speed * table[p + c]
                small[RATE + 3 + 3 * ((c + 1) % 3) + (c + 2) % 3] += speed * table[p + 3 + c]
    for i in range(3):
        small[FIRST + i] += constants[at + 1 + i]
        for j in range(i + 1):
            p, q = FIRST + 3 + 3 * i + j, FIRST + 3 + 3 * j + i
            small[p] = small[q] = small[p] + small[q] + constants[at + 4 + 3 * i + j]


@njit(**_inner)
def three(array, p):
    """Three numbers from place p on."""
    return array[p], array[p + 1], array[p + 2]


@njit(**_inner)
def inertia_times(small, a):
    """I a = (tr ∫ρ y yᵀ) a - (∫ρ y yᵀ) a."""
    return trace_minus(small, FIRST + 3, a)


@njit(**_inner)
def coriolis(small, a):
    """(tr W - Wᵀ) a."""
    return trace_minus(small, SPEED + 3, a)


@njit(**_inner)
def trace_minus(array, p, a):
    """(tr Q - Qᵀ) a, with the nine numbers of Q from place p on."""
    trace = array[p] + array[p + 4] + array[p + 8]
    return (
        trace * a[0] - array[p] * a[0] - array[p + 3] * a[1] - array[p + 6] * a[2],
        trace * a[1] - array[p + 1] * a[0] - array[p + 4] * a[1] - array[p + 7] * a[2],
        trace * a[2] - array[p + 2] * a[0] - array[p + 5] * a[1] - array[p + 8] * a[2],
    )


@njit(**_inner)
def axial_of(array, p):
    """e_cij Q_ij, with the nine numbers of Q from place p on."""
    return array[p + 5] - array[p + 7], array[p + 6] - array[p + 2], array[p + 1] - array[p + 3]


@njit(**_inner)
def swing(w, e, x):
    """A x = ε × x + ω × (ω × x)."""
    return plus(cross(e, x), cross(w, cross(w, x)))


@njit(**_inner)
def fill_field(w, e, a, small):
    """a and Aᵀ, A = ε~ + ω~ω~ = ε~ + ω ωᵀ - ω² 1, behind each other."""
    square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    for i in range(3):
        small[FIELD + i] = a[i]
        for j in range(3):
            small[FIELD + 3 + 3 * i + j] = w[i] * w[j]
        small[FIELD + 3 + 4 * i] -= square
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        small[FIELD + 3 + 3 * j + k] += e[i]
        small[FIELD + 3 + 3 * k + j] -= e[i]


@njit(**_options)
def flexible_rows(constants, at, n, w, e, a, d, d_at, v, rate, v_at, table, small, modal, modal_at, scale):
    """Force and moment of the motion (w, e, a; d, d', d'') in body axes; modal[modal_at:] = scale · rows of modes.

    After ``moment_vectors``. Vectors w, e, a are three floats.
    """
    moment_matrices(constants, at, n, d, d_at, v, rate, v_at, table, small)
    fill_field(w, e, a, small)
    s, s1, s2, m = three(small, FIRST), three(small, SPEED), three(small, RATE), constants[at]
    force = plus(plus(times(m, a), swing(w, e, s)), plus(times(2.0, cross(w, s1)), s2))
    moment = plus(plus(cross(s, a), inertia_times(small, e)), cross(w, inertia_times(small, w)))
    moment = plus(plus(moment, times(2.0, coriolis(small, w))), axial_of(small, RATE + 3))
    stiffness = at + HEAD + 12 * n
    for k in range(n):
        total = rate[v_at + k] + constants[stiffness + k] * d[d_at + k] + constants[stiffness + n + k] * v[v_at + k]
        p = SKEW * n + 3 * k
        total += 2.0 * (w[0] * table[p] + w[1] * table[p + 1] + w[2] * table[p + 2])
        for c in range(12):
            total += small[FIELD + c] * table[12 * k + c]
        modal[modal_at + k] = scale * total
    return force, moment, s, s1


__all__ = ["BodyMoments", "add_products", "flexible_rows", "moment_vectors", "packed"]
