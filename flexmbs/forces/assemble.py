"""Forces in the equations of motion and in Newton's matrix, compiled."""

from __future__ import annotations

from numba import njit

from flexmbs.bodies.body import PLANAR, RIGID
from flexmbs.bodies.flexible_calls import arm_deforms, rates_deform
from flexmbs.forces.laws import FRAME_I
from flexmbs.forces.layout import DAMPING, MOVED, PRODUCT, RATED, STIFFNESS, USER_FORCE, USER_V, USER_X
from flexmbs.forces.pointers import call
from flexmbs.forces.triples import add, inner, minus, options, part, triple
from flexmbs.forces.wrenches import wrench_tangents
from flexmbs.joints.measures import cross, turn_back, vector


@njit(**options)
def add_wrenches(layout, work, first, factor, out):
    """out += factor · Tᵀ w of all forces, with body b's velocities from first[b] on, and what Python functions give."""
    table, wrench, user = layout.forces.table, work.forces.wrench, work.forces.user
    for f in range(table.shape[0]):
        for side in range(2):
            frame = table[f, FRAME_I + side]
            if frame < 0:
                continue
            b = layout.frame_body[frame]
            n, at = layout.body_v[b + 1] - layout.body_v[b], layout.frame_t[frame]
            for k in range(n):
                total = 0.0
                for p in range(6):
                    total += work.frame_t[at + p * n + k] * wrench[f, 6 * side + p]
                out[first[b] + k] += factor * total
    if layout.forces.user.shape[0]:
        for b in range(layout.body_kind.size):
            for k in range(layout.body_v[b + 1] - layout.body_v[b]):
                out[first[b] + k] += factor * user[USER_FORCE, layout.body_v[b] + k]


@njit(**inner)
def add_forces(layout, where, v, increment, multipliers, scale, c_d, work, turning, matrix, data, residual):
    """Subtract s f of all forces from the residual, and with ``matrix`` s (K T(x) + c_d D) from the matrix.

    ``turning`` (bodies, 3, 3) holds the tangent maps T(x), ``multipliers`` are the scaled ones, s λ.
    """
    table = layout.forces.table
    if layout.forces.pressed.shape[0] > 0:
        addresses, hook = work.forces.addresses.ctypes.data, layout.forces.hooks[2]
        call(hook, addresses, 0, 1.0 / scale, 0.0, multipliers.ctypes.data, 0, 0)
    add_wrenches(layout, work, where.body_unknown, -scale, residual)
    add_user(
        layout.forces.user, layout.body_v, where.body_unknown, where.user_place, work.forces.user,
        work.forces.user_tangent, v, increment, scale, c_d, matrix, data, residual,
    )  # fmt: skip
    if not matrix:
        return
    if layout.forces.pressed.shape[0] > 0:
        addresses, hook = work.forces.addresses.ctypes.data, layout.forces.hooks[2]
        call(hook, addresses, data.size, 0.0, 0.0, 0, where.entry_column.ctypes.data, data.ctypes.data)
    maps, tangent = work.forces.maps, work.forces.tangent
    for f in range(table.shape[0]):
        wrench_tangents(layout, work, f)
        for side in range(2):
            frame = table[f, FRAME_I + side]
            b = layout.frame_body[frame]
            if frame < 0 or layout.body_v[b + 1] == layout.body_v[b]:
                continue
            n = layout.body_v[b + 1] - layout.body_v[b]
            at, stride = where.body_place[b, 0], where.body_place[b, 1]
            kind = layout.body_kind[b]
            force, torque = part(work.forces.wrench, f, 6 * side), part(work.forces.wrench, f, 6 * side + 3)
            if not arm_deforms(layout.modal, layout, frame, force, torque, work, turning, -scale, at, stride, data):
                add_arm(
                    kind, b, vector(layout.frame_position, frame), force, torque, work.rotation, turning, -scale,
                    at, stride, data,
                )  # fmt: skip
            frame_maps(
                kind, b, n, layout.frame_t[frame], work.frame_t, turning,
                minus(vector(work.frame_velocity, frame), vector(work.velocity, b)), vector(work.frame_spin, frame),
                c_d, maps,
            )  # fmt: skip
            rates_deform(layout.modal, layout, frame, work, maps[RATED])
            for other in range(2):
                s = 2 * other + side
                at, stride = where.force_place[f, s, 0], where.force_place[f, s, 1]
                if at >= 0:
                    left = table[f, FRAME_I + other]
                    b = layout.frame_body[left]
                    rows = layout.body_v[b + 1] - layout.body_v[b]
                    add_block(
                        work.frame_t, layout.frame_t[left], rows, n, 6 * other, 6 * side, maps, tangent,
                        scale, at, stride, data,
                    )  # fmt: skip


@njit(**inner)
def add_block(frame_t, start, rows, columns, first, second, maps, tangent, scale, at, stride, data):
    """Subtract s Tᵀ (stiffness · moved + damping · rated) of one pair of frames."""
    for p in range(6):
        for j in range(columns):
            total = 0.0
            for q in range(6):
                total += tangent[STIFFNESS, first + p, second + q] * maps[MOVED, q, j]
                total += tangent[DAMPING, first + p, second + q] * maps[RATED, q, j]
            maps[PRODUCT, p, j] = total
    for i in range(rows):
        for j in range(columns):
            total = 0.0
            for p in range(6):
                total += frame_t[start + p * rows + i] * maps[PRODUCT, p, j]
            data[at + i * stride + j] -= scale * total


@njit(**inner)
def frame_maps(kind, b, n, at, frame_t, turning, lever_rate, spin, c_d, maps):
    """How a frame and its twist change with the increment of body b.

    moved = T T(x); rated = c_d T + ∂(T v)/∂q T(x), for at constant v a turn δθ changes the twist by
    (δθ × (ω × arm), δθ × ω).
    """
    for i in range(6):
        for j in range(n):
            maps[MOVED, i, j] = frame_t[at + i * n + j]
            maps[RATED, i, j] = c_d * maps[MOVED, i, j]
        if kind == RIGID:
            t = triple(frame_t, at + i * n + 3)
            for j in range(3):
                maps[MOVED, i, 3 + j] = t[0] * turning[b, 0, j] + t[1] * turning[b, 1, j] + t[2] * turning[b, 2, j]
    if kind in (RIGID, PLANAR):
        first, last = (3, 6) if kind == RIGID else (2, 3)
        for j in range(first, last):  # with elastic coordinates the frame turns, but not its lever
            turn = (maps[MOVED, 3, j], maps[MOVED, 4, j], maps[MOVED, 5, j])
            linear, angular = cross(turn, lever_rate), cross(turn, spin)
            for p in range(3):
                maps[RATED, p, j] += linear[p]
                maps[RATED, 3 + p, j] += angular[p]


@njit(**inner)
def add_arm(kind, b, arm, force, torque, rotation, turning, factor, at, stride, data):
    """Add factor · (∂Tᵀ/∂q) w T(x): body b's axes and the arm turn under the wrench w = (F, M).

    In body axes, with m = M + c × F: E ψ = m × ψ + (ψ × c) × F.
    """
    force = turn_back(rotation, b, force)
    if kind == PLANAR:
        data[at + 2 * stride + 2] -= factor * (arm[0] * force[0] + arm[1] * force[1])
    elif kind == RIGID:
        moment = add(turn_back(rotation, b, torque), cross(arm, force))
        for j in range(3):
            turn = (turning[b, 0, j], turning[b, 1, j], turning[b, 2, j])
            change = add(cross(moment, turn), cross(cross(turn, arm), force))
            for i in range(3):
                data[at + (3 + i) * stride + 3 + j] += factor * change[i]


@njit(**inner)
def add_user(blocks, body_v, unknown, place, user, tangent, v, increment, scale, c_d, matrix, data, residual):
    """What the linearised Python functions add to their force at the increment and velocities where it was taken."""
    for k in range(blocks.shape[0]):
        a, b, first = blocks[k, 0], blocks[k, 1], blocks[k, 2]
        columns, own = body_v[b + 1] - body_v[b], body_v[b]
        for i in range(body_v[a + 1] - body_v[a]):
            total = 0.0
            for j in range(columns):
                stiffness, damping = tangent[0, first + i * columns + j], tangent[1, first + i * columns + j]
                total += stiffness * (increment[own + j] - user[USER_X, own + j])
                total += damping * (v[own + j] - user[USER_V, own + j])
                if matrix:
                    data[place[k, 0] + i * place[k, 1] + j] -= scale * (stiffness + c_d * damping)
            residual[unknown[a] + i] -= scale * total
