"""The stages of evaluation, compiled: poses → frames → rows → inertia.

Each stage reads the layout and the results of the stages before it, and writes into ``Work``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.bodies.body import PLANAR, POINT, RIGID
from flexmbs.joints.measures import ANGLE, bias, cross, evaluate, turn
from flexmbs.rotations import quaternion_exp, quaternion_matrix, quaternion_product
from flexmbs.system.layout import Layout

Array = NDArray[np.float64]

_options: dict[str, Any] = {"cache": True, "error_model": "numpy"}


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
    frame_t: Array  # the Jacobians T, flat
    measure: Array  # (measures,) values
    gradient: Array  # (measures, 9)
    vectors: Array  # (measures, 6, 3) d, a, b, a₂ in global axes, and scratch
    measure_bias: Array  # (measures,)
    phi: Array  # (rows,)
    phi_rate: Array
    gamma: Array
    jacobian: Array  # flat, see Layout.entry_at


def work_arrays(layout: Layout) -> Work:
    """Arrays for one evaluation at a time."""
    b, f, m, r = layout.n_bodies, len(layout.frame_body), len(layout.measure_kind), layout.n_rows
    return Work(
        np.zeros((b, 3)), np.zeros((b, 3, 3)), np.zeros((b, 3)), np.zeros((b, 3)),
        np.zeros((f, 3)), np.zeros((f, 3, 3)), np.zeros((f, 3)), np.zeros((f, 3)), np.zeros(layout.frame_t[-1]),
        np.zeros(m), np.zeros((m, 9)), np.zeros((m, 6, 3)), np.zeros(m),
        np.zeros(r), np.zeros(r), np.zeros(r), np.zeros(layout.entry_at[-1]),
    )  # fmt: skip


@njit(**_options)
def body_poses(layout, q, v, work):
    """Stage 1: position, rotation, velocity and spin of every body."""
    for b in range(layout.body_kind.size):
        kind = layout.body_kind[b]
        k, m = layout.body_q[b], layout.body_v[b]
        position, rotation, velocity, spin = work.position[b], work.rotation[b], work.velocity[b], work.spin[b]
        if kind == RIGID:
            for i in range(3):
                position[i] = q[k + i]
                velocity[i] = v[m + i]
            quaternion_matrix(q[k + 3 : k + 7], rotation)
            turn(rotation, v[m + 3 : m + 6], spin)
        else:
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


@njit(**_options)
def frames(layout, work):
    """Stage 2: pose, velocity, acceleration at v' = 0, and Jacobian T (twist from the body's velocities) of frames.

    The twist is (velocity, angular velocity) in global axes.
    """
    arm, turning = np.empty(3), np.empty(3)
    for f in range(layout.frame_body.size):
        b = layout.frame_body[f]
        kind = layout.body_kind[b]
        rotation, spin = work.rotation[b], work.spin[b]
        turn(rotation, layout.frame_position[f], arm)
        cross(spin, arm, turning)
        for i in range(3):
            work.frame_position[f, i] = work.position[b, i] + arm[i]
            work.frame_velocity[f, i] = work.velocity[b, i] + turning[i]
            for j in range(3):
                total = 0.0
                for k in range(3):
                    total += rotation[i, k] * layout.frame_axes[f, k, j]
                work.frame_rotation[f, i, j] = total
        cross(spin, turning, work.frame_acceleration[f])
        n = layout.body_v[b + 1] - layout.body_v[b]
        t = work.frame_t[layout.frame_t[f] : layout.frame_t[f + 1]].reshape((6, n))
        t[:] = 0.0
        if kind == RIGID:
            for j in range(3):
                t[j, j] = 1.0
                t[0, 3 + j] = rotation[1, j] * arm[2] - rotation[2, j] * arm[1]
                t[1, 3 + j] = rotation[2, j] * arm[0] - rotation[0, j] * arm[2]
                t[2, 3 + j] = rotation[0, j] * arm[1] - rotation[1, j] * arm[0]
                for i in range(3):
                    t[3 + i, 3 + j] = rotation[i, j]
        elif kind == PLANAR:
            t[0, 0] = t[1, 1] = t[5, 2] = 1.0
            t[0, 2], t[1, 2] = -arm[1], arm[0]
        elif kind == POINT:
            t[0, 0] = t[1, 1] = t[2, 2] = 1.0


@njit(**_options)
def measured(layout, reference, work):
    """Stage 3a: values, gradients and biases of all measures; angles next to their ``reference``."""
    for m in range(layout.measure_kind.size):
        i, j = layout.measure_i[m], layout.measure_j[m]
        kind = layout.measure_kind[m]
        value = evaluate(
            kind, layout.measure_axes[m],
            work.frame_position[i], work.frame_rotation[i], work.frame_position[j], work.frame_rotation[j],
            work.vectors[m], work.gradient[m],
        )  # fmt: skip
        if kind == ANGLE:
            value += 2 * np.pi * np.round((reference[m] - value) / (2 * np.pi))
        work.measure[m] = value
        work.measure_bias[m] = bias(
            kind, layout.measure_axes[m], work.vectors[m],
            work.frame_velocity[i], work.spin[layout.frame_body[i]], work.frame_acceleration[i],
            work.frame_velocity[j], work.spin[layout.frame_body[j]], work.frame_acceleration[j],
        )  # fmt: skip


@njit(**_options)
def pull_back(gradient, side, factor, t, out):
    """out += factor · (wrench of a measure on its first (0) or second (1) frame) T."""
    sign = factor if side == 1 else -factor
    moment = 6 if side == 1 else 3
    for k in range(out.size):
        total = 0.0
        for p in range(3):
            total += sign * gradient[p] * t[p, k] + factor * gradient[moment + p] * t[3 + p, k]
        out[k] += total


@njit(**_options)
def constraints(layout, prescribed, v, work):
    """Stage 3b: φ, its rate, γ (J v' = γ) and J of all rows; ``prescribed`` (rows, 3) value, rate, acceleration."""
    work.jacobian[:] = 0.0
    for r in range(layout.row_start.size - 1):
        phi, gamma = -prescribed[r, 0], prescribed[r, 2]
        for k in range(layout.row_start[r], layout.row_start[r + 1]):
            m, factor = layout.term_measure[k], layout.term_factor[k]
            phi += factor * work.measure[m]
            gamma -= factor * work.measure_bias[m]
            for side in range(2):
                e = layout.term_entry_i[k] if side == 0 else layout.term_entry_j[k]
                if e >= 0:
                    f = layout.measure_i[m] if side == 0 else layout.measure_j[m]
                    out = work.jacobian[layout.entry_at[e] : layout.entry_at[e + 1]]
                    t = work.frame_t[layout.frame_t[f] : layout.frame_t[f + 1]].reshape((6, out.size))
                    pull_back(work.gradient[m], side, factor, t, out)
        rate = -prescribed[r, 1]
        for e in range(layout.entry_start[r], layout.entry_start[r + 1]):
            first = layout.body_v[layout.entry_body[e]]
            for k in range(layout.entry_at[e + 1] - layout.entry_at[e]):
                rate += work.jacobian[layout.entry_at[e] + k] * v[first + k]
        work.phi[r], work.phi_rate[r], work.gamma[r] = phi, rate, gamma


@njit(**_options)
def body_inertia(layout, b, v, work, mass, force):
    """Mass matrix (n_v, n_v) of body b and its force f = Q - h of gravity and velocities (n_v,)."""
    kind = layout.body_kind[b]
    m, c, inertia, g = layout.mass[b], layout.centre[b], layout.inertia[b], layout.gravity
    first = layout.body_v[b]
    mass[:] = 0.0
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
    w = v[first + 3 : first + 6]
    arm, moment, other, local = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    # h = m R (ω × (ω × c)) and ω × J ω; gravity acts at the mass centre
    cross(w, c, other)
    cross(w, other, local)
    turn(rotation, local, arm)
    for i in range(3):
        mass[i, i] = m
        force[i] = m * (g[i] - arm[i])
        local[i] = rotation[0, i] * g[0] + rotation[1, i] * g[1] + rotation[2, i] * g[2]
    cross(c, local, arm)
    turn(inertia, w, other)
    cross(w, other, moment)
    for i in range(3):
        force[3 + i] = m * arm[i] - moment[i]
        # -m R c~, column i: m R (e_i × c)
        j, k = (i + 1) % 3, (i + 2) % 3
        for p in range(3):
            value = m * (rotation[p, k] * c[j] - rotation[p, j] * c[k])
            mass[p, 3 + i] = value
            mass[3 + i, p] = value
            mass[3 + p, 3 + i] = inertia[p, i]


@njit(**_options)
def retract(layout, q, increment, out):
    """out = q moved by an increment in the space of velocities; rotations by the exponential map in body axes."""
    for b in range(layout.body_kind.size):
        k, m = layout.body_q[b], layout.body_v[b]
        if layout.body_kind[b] == RIGID:
            for i in range(3):
                out[k + i] = q[k + i] + increment[m + i]
            quaternion_product(q[k + 3 : k + 7], quaternion_exp(increment[m + 3 : m + 6]), out[k + 3 : k + 7])
        else:
            for i in range(layout.body_v[b + 1] - m):
                out[k + i] = q[k + i] + increment[m + i]


@njit(**_options)
def evaluate_all(layout, prescribed, reference, q, v, work):
    """Stages 1 to 3 in a row."""
    body_poses(layout, q, v, work)
    frames(layout, work)
    measured(layout, reference, work)
    constraints(layout, prescribed, v, work)
