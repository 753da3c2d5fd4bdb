"""Frames on flexible bodies, compiled: they shift and turn with the elastic coordinates.

In body axes a frame is at c = x + Φ d + ½ dᵀH d and is turned by the rotation vector θ = Θ d + ½ dᵀH_θ d. The terms of
second order are how bending shortens the body there; their work under joint and applied forces is the geometric
stiffening that these cause, so H is minus the stress stiffness of the unit force or moment at the frame. With
Φ̂ = Φ + H d, Θ̂ = Θ + H_θ d and L(θ) the left tangent map of rotations, the frame's twist is

    R (Rᵀp' + ω × c + Φ̂ d'),   R (ω + L Θ̂ d').
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.bodies.flexible_inertia import SMALL, VECTORS, add_products
from flexmbs.bodies.flexible_tangent import unit
from flexmbs.rotations import quaternion_exp, quaternion_matrix
from flexmbs.vectors import cross, dot, plus, times, turn, turn_back, vector

Array = NDArray[np.float64]
Index = NDArray[np.int64]

_options: dict[str, Any] = {
    "cache": True,
    "error_model": "numpy",
    "fastmath": {"contract", "reassoc"},  # sums over modes in any order
    "_nrt": False,
    "no_cfunc_wrapper": True,
}
_inner: dict[str, Any] = {**_options, "forceinline": True, "no_cpython_wrapper": True}

MODES, START = range(2)
SHIFT, TURN, SHIFT_RATE, TURN_RATE = 0, 3, 6, 9
FRAME_VECTORS = 12
"""Φ̂, Θ̂, H d', H_θ d': vectors (n,) one behind the other in the table of a frame."""


class ModalLayout(NamedTuple):
    """Constants of flexible bodies and of the frames on them."""

    body: Index  # (bodies, 2) number of elastic coordinates, where the body's constants begin
    constants: Array  # see flexible_inertia.packed
    frame: Index  # (frames, 2) number of elastic coordinates (0 where they do not move it), where its constants begin
    frame_constants: Array  # of each frame: whether it has H, Φ, Θ, H (n, 6, n)


class FlexibleWork(NamedTuple):
    """Elastic coordinates of an evaluation, by number of velocity, and scratch."""

    d: Array  # (n_v,)
    d_rate: Array
    still: Array  # (n_v,) zeros
    table: Array  # (VECTORS · widest,) see flexible_inertia
    small: Array  # (SMALL,)
    frame_table: Array  # (FRAME_VECTORS · widest,)
    turned: Array  # (1, 3, 3)


def flexible_work(modal: ModalLayout, n_v: int) -> FlexibleWork:
    """Arrays for one evaluation at a time."""
    widest = int(modal.body[:, MODES].max(initial=0))
    return FlexibleWork(
        np.zeros(n_v),
        np.zeros(n_v),
        np.zeros(n_v),
        np.zeros(VECTORS * widest),
        np.zeros(SMALL),
        np.zeros(FRAME_VECTORS * widest),
        np.zeros((1, 3, 3)),
    )


@njit(**_options)
def frame_vectors(constants, at, n, d, first, table):
    """Φ̂ and Θ̂ into the table; returns the frame's shift and rotation vector at d, in body axes."""
    for k in range(6 * n):
        table[k] = constants[at + 1 + k]
    if constants[at] != 0.0:
        add_products(constants, at + 1 + 6 * n, 6 * n, n, d, first, table, 0)
    return (
        half_way(constants, at, n, 0, d, first, table),
        half_way(constants, at, n, 3, d, first, table),
    )


@njit(**_inner)
def curving_vectors(constants, at, n, v, first, table):
    """H d' and H_θ d' into the table."""
    for k in range(6 * n, 12 * n):
        table[k] = 0.0
    if constants[at] != 0.0:
        add_products(constants, at + 1 + 6 * n, 6 * n, n, v, first, table, 6 * n)


@njit(**_inner)
def of_mode(table, p, n, k):
    """Component k of three vectors of the table."""
    return table[p * n + k], table[(p + 1) * n + k], table[(p + 2) * n + k]


@njit(**_inner)
def half_way(constants, at, n, p, d, d_at, table):
    """Three components of Φ d + ½ dᵀH d, which is the mean of Φ d and Φ̂ d."""
    x = y = z = 0.0
    for k in range(n):
        own, i = 0.5 * d[d_at + k], p * n + k
        x += own * (constants[at + 1 + i] + table[i])
        y += own * (constants[at + 1 + i + n] + table[i + n])
        z += own * (constants[at + 1 + i + 2 * n] + table[i + 2 * n])
    return x, y, z


@njit(**_inner)
def along(table, p, n, x, at):
    """Three vectors of the table times x."""
    a = b = c = 0.0
    for k in range(n):
        a += table[p * n + k] * x[at + k]
        b += table[(p + 1) * n + k] * x[at + k]
        c += table[(p + 2) * n + k] * x[at + k]
    return a, b, c


@njit(**_inner)
def tangent_factors(theta):
    """f, g of L(θ) = 1 + f θ~ + g θ~θ~, and their derivatives by θ²/2."""
    square = dot(theta, theta)
    if square < 1e-4:
        f = 0.5 - square / 24.0 * (1.0 - square / 30.0)
        g = 1.0 / 6.0 - square / 120.0 * (1.0 - square / 42.0)
        return f, g, -1.0 / 12.0 + square / 180.0, -1.0 / 60.0 + square / 1260.0
    angle = np.sqrt(square)
    sine, cosine = np.sin(angle), np.cos(angle)
    f, g = (1.0 - cosine) / square, (angle - sine) / (square * angle)
    return f, g, (sine / angle - 2.0 * f) / square, ((1.0 - cosine) / square - 3.0 * g) / square


@njit(**_inner)
def left(theta, sign, a):
    """L(θ) a; with sign -1 its transpose."""
    f, g, _, _ = tangent_factors(theta)
    once = cross(theta, a)
    return plus(a, plus(times(sign * f, once), times(g, cross(theta, once))))


@njit(**_inner)
def left_change(theta, sign, a, change):
    """Derivative of ``left`` in the direction ``change`` of θ."""
    f, g, f1, g1 = tangent_factors(theta)
    once, inner = cross(theta, a), dot(theta, change)
    out = plus(times(sign * f, cross(change, a)), times(sign * f1 * inner, once))
    out = plus(out, times(g, plus(cross(change, once), cross(theta, cross(change, a)))))
    return plus(out, times(g1 * inner, cross(theta, once)))


@njit(**_options)
def flexible_frame(layout, f, work):
    """Pose, twist and Jacobian T of frame f on a flexible body."""
    b = layout.frame_body[f]
    n, at = layout.modal.frame[f, MODES], layout.modal.frame[f, START]
    total, first = layout.body_v[b + 1] - layout.body_v[b], layout.body_v[b + 1] - n
    table, turned = work.flexible.frame_table, work.flexible.turned
    shift, theta = frame_vectors(layout.modal.frame_constants, at, n, work.flexible.d, first, table)
    arm, spin = turn(work.rotation, b, plus(vector(layout.frame_position, f), shift)), vector(work.spin, b)
    sliding = turn(work.rotation, b, along(table, SHIFT, n, work.flexible.d_rate, first))
    turning = along(table, TURN, n, work.flexible.d_rate, first)
    frame_axes(layout.frame_axes, f, theta, work.rotation, b, turned, work.frame_rotation)
    for j in range(3):  # R L
        axis = turn(work.rotation, b, left(theta, 1.0, unit(j)))
        turned[0, 0, j], turned[0, 1, j], turned[0, 2, j] = axis
    relative, lever = turn(turned, 0, turning), plus(cross(spin, arm), sliding)
    for i in range(3):
        work.frame_position[f, i] = work.position[b, i] + arm[i]
        work.frame_velocity[f, i] = work.velocity[b, i] + lever[i]
        work.frame_spin[f, i] = spin[i] + relative[i]
    t = layout.frame_t[f]
    turned_rows(work.rotation, b, table, SHIFT * n, n, work.frame_t, t + total - n, total)
    turned_rows(turned, 0, table, TURN * n, n, work.frame_t, t + 4 * total - n, total)
    rigid_columns(b, arm, total, n, t, work.rotation, work.frame_t)


@njit(**_options)
def flexible_acceleration(layout, f, work):
    """Acceleration of frame f at v' = 0, and of its spin."""
    b = layout.frame_body[f]
    n, at = layout.modal.frame[f, MODES], layout.modal.frame[f, START]
    first, table, rate = layout.body_v[b + 1] - n, work.flexible.frame_table, work.flexible.d_rate
    shift, theta = frame_vectors(layout.modal.frame_constants, at, n, work.flexible.d, first, table)
    curving_vectors(layout.modal.frame_constants, at, n, rate, first, table)
    arm, spin = turn(work.rotation, b, plus(vector(layout.frame_position, f), shift)), vector(work.spin, b)
    sliding = turn(work.rotation, b, along(table, SHIFT, n, rate, first))
    turning = along(table, TURN, n, rate, first)
    curving = turn(work.rotation, b, along(table, SHIFT_RATE, n, rate, first))
    acceleration = plus(cross(spin, plus(cross(spin, arm), times(2.0, sliding))), curving)
    twisting = left(theta, 1.0, along(table, TURN_RATE, n, rate, first))
    twisting = turn(work.rotation, b, plus(twisting, left_change(theta, 1.0, turning, turning)))
    twisting = plus(cross(spin, turn(work.rotation, b, left(theta, 1.0, turning))), twisting)
    for i in range(3):
        work.frame_acceleration[f, i] = acceleration[i]
        work.frame_spin_rate[f, i] = twisting[i]


@njit(**_inner)
def frame_axes(axes, f, theta, rotation, b, small, out):
    """R exp(θ) times the frame's own axes."""
    quaternion_matrix(quaternion_exp(theta), small[0])
    for j in range(3):
        axis = turn(small, 0, (axes[f, 0, j], axes[f, 1, j], axes[f, 2, j]))
        axis = turn(rotation, b, axis)
        for i in range(3):
            out[f, i, j] = axis[i]


@njit(**_options)
def turned_rows(matrices, m, table, first, n, out, at, stride):
    """Matrix m times three vectors of the table that begin at ``first``, as rows of n numbers, ``stride`` apart."""
    for i in range(3):
        x, y, z = matrices[m, i, 0], matrices[m, i, 1], matrices[m, i, 2]
        for k in range(n):
            out[at + i * stride + k] = x * table[first + k] + y * table[first + n + k] + z * table[first + 2 * n + k]


@njit(**_inner)
def rigid_columns(b, arm, total, n, t, rotation, frame_t):
    """Columns of T that belong to the motion of the body's frame; what is always zero is not written."""
    if total - n == 3:
        frame_t[t] = frame_t[t + total + 1] = frame_t[t + 5 * total + 2] = 1.0
        frame_t[t + 2], frame_t[t + total + 2] = -arm[1], arm[0]
        return
    for j in range(3):
        axis = rotation[b, 0, j], rotation[b, 1, j], rotation[b, 2, j]
        lever = cross(axis, arm)
        frame_t[t + j * total + j] = 1.0
        for i in range(3):
            frame_t[t + i * total + 3 + j] = lever[i]
            frame_t[t + (3 + i) * total + 3 + j] = axis[i]


@njit(**_options)
def add_flexible_arm(layout, f, force, moment, work, tangents, factor, at, stride, data):
    """Add factor · (∂Tᵀ/∂q) w T(x) of the wrench w = (F, M), global axes, on frame f, to the body's block.

    In body axes, with the moment m = M + c × F, the turn ψ of the body changes Tᵀw by m × ψ + (ψ × c) × F on ω and by
    Φ̂ᵀ(F × ψ) + Θ̂ᵀLᵀ(M × ψ) on the modes; modes δ by (Φ̂ δ) × F on ω and by F·H δ + (LᵀM)·H_θ δ + Θ̂ᵀ ∂(LᵀM) Θ̂ δ.
    """
    b = layout.frame_body[f]
    n, start = layout.modal.frame[f, MODES], layout.modal.frame[f, START]
    total, first = layout.body_v[b + 1] - layout.body_v[b], layout.body_v[b + 1] - n
    constants, table = layout.modal.frame_constants, work.flexible.frame_table
    shift, theta = frame_vectors(constants, start, n, work.flexible.d, first, table)
    c = plus(vector(layout.frame_position, f), shift)
    force, moment = turn_back(work.rotation, b, force), turn_back(work.rotation, b, moment)
    whole, planar = plus(moment, cross(c, force)), total - n == 3
    low, axes = (2, 2) if planar else (3, 0)
    for j in range(axes, 3):
        psi = (tangents[b, 0, j], tangents[b, 1, j], tangents[b, 2, j])
        if planar:
            psi = (0.0, 0.0, 1.0)
        change = plus(cross(whole, psi), cross(cross(psi, c), force))
        pull, twist = cross(force, psi), left(theta, -1.0, cross(moment, psi))
        column = at + low + j - axes
        for i in range(axes, 3):
            data[column + (low + i - axes) * stride] += factor * change[i]
        for k in range(n):
            own = dot(of_mode(table, SHIFT, n, k), pull) + dot(of_mode(table, TURN, n, k), twist)
            data[column + (total - n + k) * stride] += factor * own
    curved, carried = constants[start] != 0.0, left(theta, -1.0, moment)
    for k in range(n):
        change = cross(of_mode(table, SHIFT, n, k), force)
        for i in range(axes, 3):
            data[at + (low + i - axes) * stride + total - n + k] += factor * change[i]
        turned = left_change(theta, -1.0, moment, of_mode(table, TURN, n, k))
        for i in range(n):
            own = dot(of_mode(table, TURN, n, i), turned)
            if curved:
                own += dot(force, of_mode(constants, 0, n, start + 1 + 6 * n * (1 + i) + k))
                own += dot(carried, of_mode(constants, 3, n, start + 1 + 6 * n * (1 + i) + k))
            data[at + (total - n + i) * stride + total - n + k] += factor * own


@njit(**_options)
def flexible_rates(layout, f, work, out):
    """Add to the last columns of out (6, ·) how the twist of frame f changes with the elastic coordinates, v constant.

    In body axes ω × (Φ̂ δ) + (H d') δ and L (H_θ d') δ + ∂L (Θ̂ d') Θ̂ δ.
    """
    b = layout.frame_body[f]
    n, start = layout.modal.frame[f, MODES], layout.modal.frame[f, START]
    total, first = layout.body_v[b + 1] - layout.body_v[b], layout.body_v[b + 1] - n
    constants, table = layout.modal.frame_constants, work.flexible.frame_table
    _, theta = frame_vectors(constants, start, n, work.flexible.d, first, table)
    curving_vectors(constants, start, n, work.flexible.d_rate, first, table)
    spin, turning = (
        turn_back(work.rotation, b, vector(work.spin, b)),
        along(table, TURN, n, work.flexible.d_rate, first),
    )
    for k in range(n):
        linear = plus(cross(spin, of_mode(table, SHIFT, n, k)), of_mode(table, SHIFT_RATE, n, k))
        turned = of_mode(table, TURN, n, k)
        angular = plus(left(theta, 1.0, of_mode(table, TURN_RATE, n, k)), left_change(theta, 1.0, turning, turned))
        linear, angular = turn(work.rotation, b, linear), turn(work.rotation, b, angular)
        for p in range(3):
            out[p, total - n + k] += linear[p]
            out[3 + p, total - n + k] += angular[p]


__all__ = ["ModalLayout", "add_flexible_arm", "flexible_acceleration", "flexible_frame", "flexible_rates"]
