"""Mass matrix and velocity terms of one reduced body, compiled: the same as FloatingBody."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.reduction.constants import LEVI_CIVITA
from flexmbs.reduction.floating import FloatingBody

Array = NDArray[np.float64]


class FloatingArrays(NamedTuple):
    """Constants of one body as the kernel takes them.

    ``skew`` (3, r, r) are ε_kij m_ij, so that C(ω) = -2 Σ ω_k skew_k; ``even`` (6, r, r) and ``even_z`` the symmetric
    parts of m_ij and Z_ij for xx, yy, zz, yz, zx, xy; ``odd_z`` (3, r, r) are ε_kij Z_ji. ``scalars`` are the mass,
    s0 (3) and ∫ρ x xᵀ (6).
    """

    scalars: Array
    S: Array
    first: Array
    skew: Array
    even: Array
    z: Array
    even_z: Array
    odd_z: Array
    stiffness: Array
    damping: Array


_I, _J = np.array([0, 1, 2, 1, 2, 0]), np.array([0, 1, 2, 2, 0, 1])


def floating_arrays(body: FloatingBody) -> FloatingArrays:
    """The constants of a body, combined for the kernel."""
    c = body.constants
    return FloatingArrays(
        np.concatenate([[c.mass], c.s0, c.second[_I, _J]]),
        np.array(c.S),
        np.array(c.first),
        np.ascontiguousarray(np.einsum("kij,ijrs->krs", LEVI_CIVITA, c.m)),
        np.ascontiguousarray((c.m[_I, _J] + c.m[_J, _I]) / 2),
        np.array(body.z),
        np.ascontiguousarray((body.Z[_I, _J] + body.Z[_J, _I]) / 2),
        np.ascontiguousarray(np.einsum("kij,jirs->krs", LEVI_CIVITA, body.Z)),
        np.array(c.stiffness),
        np.array(c.damping),
    )


@njit(cache=True, fastmath={"contract", "reassoc"})
def floating_terms(body, w, d, rate, M, h):  # type: ignore[no-untyped-def]
    """Fill M(d) (6 + r, 6 + r) and h (6 + r) of M (a, ε, d'') + h = Q, all in body axes."""
    scalars, S, first, skew, even, z, even_z, odd_z, stiffness, damping = body
    r = d.size
    square = np.empty(6)  # ω~ω~ as xx, yy, zz, yz, zx, xy
    length = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    for k in range(3):
        square[k] = w[k] * w[k] - length
    square[3], square[4], square[5] = w[1] * w[2], w[2] * w[0], w[0] * w[1]
    second, rates = scalars[4:].copy(), np.zeros(6)
    momentum, bend, turn = np.zeros(3), np.zeros(3), np.zeros(3)
    s = scalars[1:4].copy()
    for a in range(r):
        pull = stiffness[a] * d[a] + damping[a] * rate[a]
        for k in range(6):
            i, j = _I[k], _J[k]
            value, stiff = 0.0, 0.0
            for b in range(r):
                value += even[k, a, b] * d[b]
                stiff += even_z[k, a, b] * d[b]
            linear = (first[i, j, a] + first[j, i, a]) / 2
            twice = 1.0 if k < 3 else 2.0
            pull += twice * square[k] * (linear + value + stiff)
            second[k] += (2 * linear + value + stiff) * d[a]
            rates[k] += 2 * (linear + value + stiff) * rate[a]
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            lever, gyro, slope, bow, twist, whirl = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for b in range(r):
                lever += skew[k, a, b] * d[b]
                gyro += skew[k, a, b] * rate[b]
                slope += z[k, a, b] * d[b]
                bow += z[k, a, b] * rate[b]
                twist += odd_z[k, a, b] * d[b]
                whirl += odd_z[k, a, b] * rate[b]
            pull -= 2 * w[k] * gyro
            coupling = first[j, i, a] - first[i, j, a] - lever + twist
            M[k, 6 + a] = M[6 + a, k] = S[k, a] + slope
            M[3 + k, 6 + a] = M[6 + a, 3 + k] = coupling
            s[k] += (S[k, a] + slope / 2) * d[a]
            momentum[k] += (S[k, a] + slope) * rate[a]
            bend[k] += bow * rate[a]
            turn[k] += coupling * rate[a]
            h[3 + k] = h[3 + k] + whirl * rate[a] if a else whirl * rate[a]
        h[6 + a] = pull
        for b in range(r):
            M[6 + a, 6 + b] = 0.0
        M[6 + a, 6 + a] = 1.0
    if r == 0:
        h[3:6] = 0.0
    trace, trace_rate = second[0] + second[1] + second[2], rates[0] + rates[1] + rates[2]
    for k in range(6):
        i, j = _I[k], _J[k]
        one = 1.0 if k < 3 else 0.0
        M[3 + i, 3 + j] = M[3 + j, 3 + i] = one * trace - second[k]
        change = one * trace_rate - rates[k]
        h[3 + i] += change * w[j]
        if k >= 3:
            h[3 + j] += change * w[i]
    for k in range(3):
        for i in range(3):
            M[k, i] = scalars[0] if i == k else 0.0
        M[3 + k, k] = M[k, 3 + k] = 0.0
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        M[3 + j, i] = M[i, 3 + j] = s[k]
        M[3 + i, j] = M[j, 3 + i] = -s[k]
        turn_i = M[3 + i, 3] * w[0] + M[3 + i, 4] * w[1] + M[3 + i, 5] * w[2] + turn[i]
        turn_j = M[3 + j, 3] * w[0] + M[3 + j, 4] * w[1] + M[3 + j, 5] * w[2] + turn[j]
        h[3 + k] += w[i] * turn_j - w[j] * turn_i
        h[k] = 2 * (w[i] * momentum[j] - w[j] * momentum[i]) + bend[k]
    for k in range(6):
        i, j = _I[k], _J[k]
        h[i] += square[k] * s[j]
        if k >= 3:
            h[j] += square[k] * s[i]
