"""The wrench of a bushing and its exact derivatives, compiled.

With x = (e, ψ), e = R_iᵀ d, ψ the rotation vector of R_iᵀ R_j and ψ' = L(ψ) R_iᵀ (ω_j - ω_i),
L = 1 - ½ ψ~ + c ψ~ψ~, the generalised force g = p - K x - D x' exerts R_i g_e and R_i Lᵀ g_ψ on frame j.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from flexmbs.forces.layout import DAMPING, STIFFNESS, TWIST
from flexmbs.forces.triples import add, inner, minus, part, put, put_column, times, triple, unit
from flexmbs.joints.measures import cross, dot, turn, turn_back, vector


@njit(**inner)
def relative_turn(rotation, i, j):
    """Rotation vector of R_iᵀ R_j, at most half a turn (by its quaternion; Shepperd 1978)."""
    a = turn_back(rotation, i, (rotation[j, 0, 0], rotation[j, 1, 0], rotation[j, 2, 0]))  # columns
    b = turn_back(rotation, i, (rotation[j, 0, 1], rotation[j, 1, 1], rotation[j, 2, 1]))
    c = turn_back(rotation, i, (rotation[j, 0, 2], rotation[j, 1, 2], rotation[j, 2, 2]))
    trace = a[0] + b[1] + c[2]
    if trace >= max(a[0], b[1], c[2]):
        w, x, y, z = 1.0 + trace, b[2] - c[1], c[0] - a[2], a[1] - b[0]
    elif a[0] >= max(b[1], c[2]):
        w, x, y, z = b[2] - c[1], 1.0 + a[0] - b[1] - c[2], b[0] + a[1], c[0] + a[2]
    elif b[1] >= c[2]:
        w, x, y, z = c[0] - a[2], b[0] + a[1], 1.0 + b[1] - a[0] - c[2], c[1] + b[2]
    else:
        w, x, y, z = a[1] - b[0], c[0] + a[2], c[1] + b[2], 1.0 + c[2] - a[0] - b[1]
    sine = np.sqrt(x * x + y * y + z * z)
    if sine == 0.0:
        return 0.0, 0.0, 0.0
    sign = -1.0 if w < 0.0 else 1.0
    factor = 2.0 * sign * np.arctan2(sine, sign * w) / sine
    return factor * x, factor * y, factor * z


@njit(**inner)
def inverse_coefficient(psi):
    """c of L, and (dc/dθ)/θ, with θ = |ψ|."""
    angle2 = dot(psi, psi)
    if angle2 < 0.04:
        c = 1 / 12 + angle2 * (1 / 720 + angle2 * (1 / 30240 + angle2 * (1 / 1209600 + angle2 / 47900160)))
        return c, 1 / 360 + angle2 * (1 / 7560 + angle2 * (1 / 201600 + angle2 / 5987520))
    angle = np.sqrt(angle2)
    sine = np.sin(angle / 2)
    cot = np.cos(angle / 2) / sine
    slope = -2 / (angle2 * angle) + cot / (2 * angle2) + 1 / (4 * angle * sine * sine)
    return 1 / angle2 - cot / (2 * angle), slope / angle


@njit(**inner)
def rates_of(psi, c, half, a):
    """a + half ψ × a + c ψ × (ψ × a): L a with half = -½, Lᵀ a with half = ½."""
    b = cross(psi, a)
    return add(a, add(times(half, b), times(c, cross(psi, b))))


@njit(**inner)
def rates_changed(psi, c, slope, half, change, a):
    """Change of ``rates_of`` with ψ."""
    b, db = cross(psi, a), cross(change, a)
    second = add(cross(change, b), cross(psi, db))
    return add(times(half, db), add(times(slope * dot(psi, change), cross(psi, b)), times(c, second)))


@njit(**inner)
def matrix_times(params, at, e, psi, first):
    """Three rows, from ``first`` on, of a flat 6 x 6 matrix times (e, ψ)."""
    a, b, c = at + 6 * first, at + 6 * first + 6, at + 6 * first + 12
    return (
        dot(triple(params, a), e) + dot(triple(params, a + 3), psi),
        dot(triple(params, b), e) + dot(triple(params, b + 3), psi),
        dot(triple(params, c), e) + dot(triple(params, c + 3), psi),
    )


@njit(**inner)
def bushing_state(i, j, position, rotation, pair):
    """d, u = velocity of j seen from i, ω_i, ω_j - ω_i (global), and e, ψ, e', ψ', c, slope of c."""
    d = minus(vector(position, j), vector(position, i))
    spin = part(pair, TWIST, 3)
    turning = minus(part(pair, TWIST, 9), spin)
    u = minus(minus(part(pair, TWIST, 6), part(pair, TWIST, 0)), cross(spin, d))
    e, psi = turn_back(rotation, i, d), relative_turn(rotation, i, j)
    c, slope = inverse_coefficient(psi)
    e_rate = turn_back(rotation, i, u)
    psi_rate = rates_of(psi, c, -0.5, turn_back(rotation, i, turning))
    return d, u, spin, turning, e, psi, e_rate, psi_rate, c, slope


@njit(**inner)
def resistance(params, at, first, e, psi, e_rate, psi_rate):
    """Three rows of K x + D x'."""
    return add(matrix_times(params, at, e, psi, first), matrix_times(params, at + 36, e_rate, psi_rate, first))


@njit(**inner)
def bushing_wrench(i, j, position, rotation, params, at, pair, out, f):
    """out[f] (12,) += wrench on both frames."""
    d, _, _, _, e, psi, e_rate, psi_rate, c, _ = bushing_state(i, j, position, rotation, pair)
    pull = minus(triple(params, at + 72), resistance(params, at, 0, e, psi, e_rate, psi_rate))
    couple = minus(triple(params, at + 75), resistance(params, at, 3, e, psi, e_rate, psi_rate))
    force, moment = turn(rotation, i, pull), turn(rotation, i, rates_of(psi, c, 0.5, couple))
    put(out, f, times(-1.0, force), times(-1.0, add(moment, cross(d, force))), force, moment)


@njit(**inner)
def bushing_potential(i, j, position, rotation, params, at, pair):
    """Potential ½ xᵀ K x - p·x and the power of the force that it gives."""
    _, _, _, _, e, psi, e_rate, psi_rate, _, _ = bushing_state(i, j, position, rotation, pair)
    pull, twist = matrix_times(params, at, e, psi, 0), matrix_times(params, at, e, psi, 3)
    p, m = triple(params, at + 72), triple(params, at + 75)
    energy = 0.5 * (dot(pull, e) + dot(twist, psi)) - dot(p, e) - dot(m, psi)
    return energy, dot(minus(p, pull), e_rate) + dot(minus(m, twist), psi_rate)


@njit(**inner)
def bushing_tangents(i, j, position, rotation, params, at, pair, tangent):
    """Add ∂(wrench)/∂(δr, δθ) and ∂(wrench)/∂(v, ω), (12, 12) each, column by column."""
    d, u, spin, turning, e, psi, e_rate, psi_rate, c, slope = bushing_state(i, j, position, rotation, pair)
    zero = (0.0, 0.0, 0.0)
    local = turn_back(rotation, i, turning)
    pull = minus(triple(params, at + 72), resistance(params, at, 0, e, psi, e_rate, psi_rate))
    couple = minus(triple(params, at + 75), resistance(params, at, 3, e, psi, e_rate, psi_rate))
    force, moment = turn(rotation, i, pull), turn(rotation, i, rates_of(psi, c, 0.5, couple))
    for column in range(24):
        q = column % 12
        first, second, third, fourth = unit(0, q), unit(1, q), unit(2, q), unit(3, q)
        if column < 12:  # a change of poses
            d_d, turn_i = minus(third, first), second
            d_e = turn_back(rotation, i, minus(d_d, cross(turn_i, d)))
            d_psi = rates_of(psi, c, -0.5, turn_back(rotation, i, minus(fourth, turn_i)))
            d_u, d_turning = times(-1.0, add(cross(spin, d_d), cross(turn_i, u))), times(-1.0, cross(turn_i, turning))
        else:  # of twists
            d_d, turn_i, d_e, d_psi = zero, zero, zero, zero
            d_u, d_turning = minus(minus(third, first), cross(second, d)), minus(fourth, second)
        d_e_rate = turn_back(rotation, i, d_u)
        d_psi_rate = rates_of(psi, c, -0.5, turn_back(rotation, i, d_turning))
        d_psi_rate = add(d_psi_rate, rates_changed(psi, c, slope, -0.5, d_psi, local))
        d_pull = resistance(params, at, 0, d_e, d_psi, d_e_rate, d_psi_rate)
        d_couple = rates_of(psi, c, 0.5, resistance(params, at, 3, d_e, d_psi, d_e_rate, d_psi_rate))
        d_couple = minus(rates_changed(psi, c, slope, 0.5, d_psi, couple), d_couple)
        d_force = minus(cross(turn_i, force), turn(rotation, i, d_pull))
        d_moment = add(turn(rotation, i, d_couple), cross(turn_i, moment))
        d_other = times(-1.0, add(d_moment, add(cross(d_d, force), cross(d, d_force))))
        which = STIFFNESS if column < 12 else DAMPING
        put_column(tangent, which, q, times(-1.0, d_force), d_other, d_force, d_moment)
