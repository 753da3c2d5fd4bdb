"""The stages of evaluation, compiled: poses → frames → rows → forces → inertia.

Each stage reads the layout and the results of the stages before it, and writes into ``Work``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.bodies.body import PLANAR, POINT, RIGID
from flexmbs.bodies.flexible_calls import frame_deforms, inertia_deforms, keep_elastic
from flexmbs.bodies.flexible_frames import FlexibleWork, flexible_work
from flexmbs.forces.addresses import fill
from flexmbs.forces.layout import ForceWork, force_work
from flexmbs.forces.stage import all_wrenches
from flexmbs.joints.measures import ANGLE, RATES, bias, cross, evaluate, pulls, turn, turn_back, twists, vector
from flexmbs.joints.rates import rate_bias
from flexmbs.rotations import quaternion_exp, quaternion_matrix, quaternion_product
from flexmbs.system.layout import Layout

Array = NDArray[np.float64]

_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_inlined: dict[str, Any] = {**_options, "forceinline": True}
_at = np.uint64  # an unsigned index needs no check for counting from the end
_inner: dict[str, Any] = {**_inlined, "no_cpython_wrapper": True}


class Work(NamedTuple):
    """Results of the stages."""

    position: Array  # (bodies, 3) of the body's origin
    rotation: Array  # (bodies, 3, 3)
    velocity: Array  # (bodies, 3)
    spin: Array  # (bodies, 3) angular velocity in global axes
    frame_position: Array  # (frames, 3)
    frame_rotation: Array  # (frames, 3, 3)
    frame_velocity: Array  # (frames, 3)
    frame_acceleration: Array  # (frames, 3) at v' = 0
    frame_spin: Array  # (frames, 3) angular velocity
    frame_spin_rate: Array  # (frames, 3) its rate at v' = 0, which only flexible bodies have
    frame_t: Array  # the Jacobians T, flat
    measure: Array  # (measures,) values
    gradient: Array  # (measures, 9)
    vectors: Array  # (measures, 4, 3) d, a, b, a₂ in global axes
    measure_bias: Array  # (measures,)
    phi: Array  # (rows,)
    phi_rate: Array
    gamma: Array
    jacobian: Array  # flat, see Layout.entry_at
    forces: ForceWork
    rates: Array  # (6, velocities of the widest body) scratch
    flexible: FlexibleWork | None


def work_arrays(layout: Layout) -> Work:
    """Arrays for one evaluation at a time."""
    b, f, m, r = layout.n_bodies, len(layout.frame_body), len(layout.measure_kind), layout.n_rows
    work = Work(
        np.zeros((b, 3)), np.zeros((b, 3, 3)), np.zeros((b, 3)), np.zeros((b, 3)),
        np.zeros((f, 3)), np.zeros((f, 3, 3)), np.zeros((f, 3)), np.zeros((f, 3)), np.zeros((f, 3)), np.zeros((f, 3)),
        np.zeros(layout.frame_t[-1]),
        np.zeros(m), np.zeros((m, 9)), np.zeros((m, 4, 3)), np.zeros(m),
        np.zeros(r), np.zeros(r), np.zeros(r), np.zeros(layout.entry_at[-1]),
        force_work(layout.forces, layout.body_v), np.zeros((6, int(np.diff(layout.body_v).max(initial=0)))),
        None if layout.modal is None else flexible_work(layout.modal, layout.n_v),
    )  # fmt: skip
    if layout.forces.hooks.any():
        fill(layout, work)
    return work


@njit(**_inner)
def pose_bodies(layout, q, v, work):
    """Stage 1: position, rotation, velocity and spin of every body."""
    for b in range(layout.body_kind.size):
        kind = layout.body_kind[b]
        k, m = layout.body_q[b], layout.body_v[b]
        keep_elastic(layout.modal, layout, b, q, v, work)
        if kind == RIGID:
            quaternion_matrix((q[k + 3], q[k + 4], q[k + 5], q[k + 6]), work.rotation[b])
            turning = turn(work.rotation, b, (v[m + 3], v[m + 4], v[m + 5]))
            for i in range(3):
                work.position[b, i] = q[k + i]
                work.velocity[b, i] = v[m + i]
                work.spin[b, i] = turning[i]
        else:
            position, rotation, velocity, spin = work.position[b], work.rotation[b], work.velocity[b], work.spin[b]
            position[:] = 0.0
            velocity[:] = 0.0
            spin[:] = 0.0
            rotation[:] = 0.0
            rotation[0, 0] = rotation[1, 1] = rotation[2, 2] = 1.0
            if kind == PLANAR:
                cosine, sine = np.cos(q[k + 2]), np.sin(q[k + 2])
                rotation[0, 0], rotation[0, 1], rotation[1, 0], rotation[1, 1] = cosine, -sine, sine, cosine
                position[0], position[1] = q[k], q[k + 1]
                velocity[0], velocity[1] = v[m], v[m + 1]
                spin[2] = v[m + 2]
            elif kind == POINT:
                for i in range(3):
                    position[i] = q[k + i]
                    velocity[i] = v[m + i]


@njit(**_inner)
def pose_frames(layout, work):
    """Stage 2: pose, velocity, acceleration at v' = 0, and Jacobian T (twist from the body's velocities) of frames.

    The twist is (velocity, angular velocity) in global axes. What is always zero in T is not written.
    """
    for f in range(layout.frame_body.size):
        b = layout.frame_body[f]
        if frame_deforms(layout.modal, layout, f, work):
            continue
        kind = layout.body_kind[b]
        arm, spin = turn(work.rotation, b, vector(layout.frame_position, f)), vector(work.spin, b)
        turning = cross(spin, arm)
        acceleration = cross(spin, turning)
        for i in range(3):
            work.frame_position[f, i] = work.position[b, i] + arm[i]
            work.frame_velocity[f, i] = work.velocity[b, i] + turning[i]
            work.frame_acceleration[f, i] = acceleration[i]
            work.frame_spin[f, i] = spin[i]
            for j in range(3):
                total = 0.0
                for k in range(3):
                    total += work.rotation[b, i, k] * layout.frame_axes[f, k, j]
                work.frame_rotation[f, i, j] = total
        t, n = layout.frame_t[f], layout.body_v[b + 1] - layout.body_v[b]
        if kind == RIGID:
            for j in range(3):
                axis = work.rotation[b, 0, j], work.rotation[b, 1, j], work.rotation[b, 2, j]
                lever = cross(axis, arm)
                work.frame_t[t + j * n + j] = 1.0
                for i in range(3):
                    work.frame_t[t + i * n + 3 + j] = lever[i]
                    work.frame_t[t + (3 + i) * n + 3 + j] = axis[i]
        elif kind == PLANAR:
            work.frame_t[t] = work.frame_t[t + n + 1] = work.frame_t[t + 5 * n + 2] = 1.0
            work.frame_t[t + 2], work.frame_t[t + n + 2] = -arm[1], arm[0]
        elif kind == POINT:
            work.frame_t[t] = work.frame_t[t + n + 1] = work.frame_t[t + 2 * n + 2] = 1.0


@njit(**_inner)
def measured(layout, reference, work):
    """Stage 3a: values and gradients of all measures; angles next to their ``reference``."""
    for m in range(layout.measure_kind.size):
        kind = layout.measure_kind[m]
        value = evaluate(
            kind, layout.measure_axes, m, layout.measure_i[m], layout.measure_j[m],
            work.frame_position, work.frame_rotation, work.vectors, work.gradient,
        )  # fmt: skip
        if kind == ANGLE:
            value += 2 * np.pi * np.round((reference[m] - value) / (2 * np.pi))
        work.measure[m] = value


@njit(**_inlined)
def pull_back(kind, gradient, m, side, factor, t, at, n, out, first):
    """out[first:first+n] += factor · (wrench of measure m on its first (0) or second (1) frame) T.

    T (6, n) starts at t[at].
    """
    if pulls(kind):
        sign = factor if side == 1 else -factor
        x, y, z = sign * gradient[m, 0], sign * gradient[m, 1], sign * gradient[m, 2]
        for k in range(n):
            out[_at(first + k)] += x * t[_at(at + k)] + y * t[_at(at + n + k)] + z * t[_at(at + 2 * n + k)]
    if twists(kind):
        moment = 3 + 3 * side
        x, y, z = factor * gradient[m, moment], factor * gradient[m, moment + 1], factor * gradient[m, moment + 2]
        for k in range(n):
            out[_at(first + k)] += x * t[_at(at + 3 * n + k)] + y * t[_at(at + 4 * n + k)] + z * t[_at(at + 5 * n + k)]


@njit(**_inner)
def row_values(layout, prescribed, work):
    """Stage 3b: φ of all rows; ``prescribed`` (rows, 3) value, rate, acceleration.

    Rows of velocities have no φ, but a rate, their value.
    """
    for r in range(layout.row_start.size - 1):
        value = -prescribed[r, 0]
        holonomic = layout.row_holonomic[r]
        for k in range(layout.row_start[r], layout.row_start[r + 1]):
            m = layout.term_measure[k]
            value += layout.term_factor[k] * (work.measure[m] if holonomic else measure_speed(layout, m, work))
        if holonomic:
            work.phi[r] = value
        else:
            work.phi[r], work.phi_rate[r] = 0.0, value


@njit(**_inner)
def measure_speed(layout, m, work):
    """Power of the wrench of measure m on the twists of its frames: its rate of change."""
    i, j, kind, speed = layout.measure_i[m], layout.measure_j[m], layout.measure_kind[m], 0.0
    for p in range(3):
        if pulls(kind):
            speed += work.gradient[m, p] * (work.frame_velocity[j, p] - work.frame_velocity[i, p])
        if twists(kind):
            speed += work.gradient[m, 3 + p] * work.frame_spin[i, p] + work.gradient[m, 6 + p] * work.frame_spin[j, p]
    return speed


@njit(**_inner)
def row_gradients(layout, work):
    """Stage 3c: J of all rows."""
    work.jacobian[:] = 0.0
    for r in range(layout.row_start.size - 1):
        for k in range(layout.row_start[r], layout.row_start[r + 1]):
            m, factor = layout.term_measure[k], layout.term_factor[k]
            kind = layout.measure_kind[m]
            for side in range(2):
                e = layout.term_entry_i[k] if side == 0 else layout.term_entry_j[k]
                if e >= 0:
                    f = layout.measure_i[m] if side == 0 else layout.measure_j[m]
                    first = layout.entry_at[e]
                    pull_back(
                        kind, work.gradient, m, side, factor,
                        work.frame_t, layout.frame_t[f], layout.entry_at[e + 1] - first, work.jacobian, first,
                    )  # fmt: skip


@njit(**_inner)
def constraints(layout, prescribed, work):
    """φ and J of all rows."""
    row_values(layout, prescribed, work)
    row_gradients(layout, work)


@njit(**_inner)
def row_speed(layout, r, v, work):
    """J v of row r."""
    speed = 0.0
    for e in range(layout.entry_start[r], layout.entry_start[r + 1]):
        first = layout.body_v[layout.entry_body[e]]
        for k in range(layout.entry_at[e + 1] - layout.entry_at[e]):
            speed += work.jacobian[layout.entry_at[e] + k] * v[first + k]
    return speed


@njit(**_inner)
def constraint_rates(layout, prescribed, v, work):
    """Stage 3d: the rates of φ, and γ (J v' = γ) of all rows. Implicit steps do not need it."""
    for m in range(layout.measure_kind.size):
        i, j = layout.measure_i[m], layout.measure_j[m]
        v_i, v_j = vector(work.frame_velocity, i), vector(work.frame_velocity, j)
        a_i, a_j = vector(work.frame_acceleration, i), vector(work.frame_acceleration, j)
        rate = v_j[0] - v_i[0], v_j[1] - v_i[1], v_j[2] - v_i[2]
        acceleration = a_j[0] - a_i[0], a_j[1] - a_i[1], a_j[2] - a_i[2]
        w_i, w_j = vector(work.frame_spin, i), vector(work.frame_spin, j)
        kind = layout.measure_kind[m]
        if kind >= RATES:
            work.measure_bias[m] = rate_bias(kind, m, work.vectors, rate, acceleration, w_i, w_j)
        else:
            work.measure_bias[m] = bias(kind, layout.measure_axes, m, work.vectors, rate, acceleration, w_i, w_j)
        if twists(kind):
            for k in range(3):
                work.measure_bias[m] += work.gradient[m, 3 + k] * work.frame_spin_rate[i, k]
                work.measure_bias[m] += work.gradient[m, 6 + k] * work.frame_spin_rate[j, k]
    for r in range(layout.row_start.size - 1):
        level = 1 if layout.row_holonomic[r] else 0  # the right-hand side is a position, or already a velocity
        gamma = prescribed[r, level + 1]
        for k in range(layout.row_start[r], layout.row_start[r + 1]):
            gamma -= layout.term_factor[k] * work.measure_bias[layout.term_measure[k]]
        work.phi_rate[r], work.gamma[r] = row_speed(layout, r, v, work) - prescribed[r, level], gamma


@njit(**_inner)
def inertia_of(layout, b, v, work, mass, force):
    """Mass matrix (n_v, n_v) of body b and its force f = Q - h of gravity and velocities (n_v,)."""
    kind = layout.body_kind[b]
    m, c, inertia, g = layout.mass[b], layout.centre[b], layout.inertia[b], layout.gravity
    first = layout.body_v[b]
    mass[:] = 0.0
    if inertia_deforms(layout.modal, layout, b, v, work, mass, force):
        return
    if kind == POINT:
        for i in range(3):
            mass[i, i] = m
            force[i] = m * g[i]
        return
    rotation = work.rotation[b]
    if kind == PLANAR:
        x = rotation[0, 0] * c[0] + rotation[0, 1] * c[1]
        y = rotation[1, 0] * c[0] + rotation[1, 1] * c[1]
        w = v[first + 2]
        mass[0, 0] = mass[1, 1] = m
        mass[0, 2] = mass[2, 0] = -m * y
        mass[1, 2] = mass[2, 1] = m * x
        mass[2, 2] = inertia[2, 2]
        force[0] = m * (g[0] + w * w * x)
        force[1] = m * (g[1] + w * w * y)
        force[2] = m * (x * g[1] - y * g[0])
        return
    # h = m R (ω × (ω × c)) and ω × J ω; gravity acts at the mass centre
    w, c, g = (v[first + 3], v[first + 4], v[first + 5]), vector(layout.centre, b), (g[0], g[1], g[2])
    lift = turn(work.rotation, b, cross(w, cross(w, c)))
    weight = cross(c, turn_back(work.rotation, b, g))
    gyroscopic = cross(w, turn(layout.inertia, b, w))
    for i in range(3):
        mass[i, i] = m
        force[i] = m * (g[i] - lift[i])
        force[3 + i] = m * weight[i] - gyroscopic[i]
        # -m R c~, column i: m R (e_i × c)
        j, k = (i + 1) % 3, (i + 2) % 3
        for p in range(3):
            value = m * (rotation[p, k] * c[j] - rotation[p, j] * c[k])
            mass[p, 3 + i] = value
            mass[3 + i, p] = value
            mass[3 + p, 3 + i] = inertia[p, i]


@njit(**_inner)
def move(layout, q, increment, out):
    """out = q moved by an increment in the space of velocities; rotations by the exponential map in body axes."""
    for b in range(layout.body_kind.size):
        k, m = layout.body_q[b], layout.body_v[b]
        if layout.body_kind[b] == RIGID:
            for i in range(3):
                out[k + i] = q[k + i] + increment[m + i]
            for i in range(6, layout.body_v[b + 1] - m):
                out[k + 1 + i] = q[k + 1 + i] + increment[m + i]
            quaternion_product(
                (q[k + 3], q[k + 4], q[k + 5], q[k + 6]),
                quaternion_exp((increment[m + 3], increment[m + 4], increment[m + 5])),
                out[k + 3 : k + 7],
            )
        else:
            for i in range(layout.body_v[b + 1] - m):
                out[k + i] = q[k + i] + increment[m + i]


@njit(**_options, inline="always")
def evaluate_values(layout, prescribed, reference, q, v, work):
    """The stages of which the residual of an implicit step makes use: poses, frames (with their velocities), φ."""
    pose_bodies(layout, q, v, work)
    pose_frames(layout, work)
    measured(layout, reference, work)
    row_values(layout, prescribed, work)
    if layout.forces.table.shape[0] > 0:
        all_wrenches(layout.forces, work.forces.addresses, prescribed)


@njit(**_options, inline="always")
def evaluate_position(layout, prescribed, reference, q, v, work):
    """The same, and J."""
    evaluate_values(layout, prescribed, reference, q, v, work)
    row_gradients(layout, work)


@njit(**_options)
def evaluate_all(layout, prescribed, reference, q, v, work):
    """All stages in a row."""
    evaluate_position(layout, prescribed, reference, q, v, work)
    constraint_rates(layout, prescribed, v, work)


# ---- single stages, to be called from Python: unpacking a layout for it takes long to compile ----


@njit(**_options)
def body_poses(layout, q, v, work):
    """See ``pose_bodies``."""
    pose_bodies(layout, q, v, work)


@njit(**_options)
def frames(layout, work):
    """See ``pose_frames``."""
    pose_frames(layout, work)


@njit(**_options)
def body_inertia(layout, b, v, work, mass, force):
    """See ``inertia_of``."""
    inertia_of(layout, b, v, work, mass, force)


@njit(**_options)
def retract(layout, q, increment, out):
    """See ``move``."""
    move(layout, q, increment, out)
