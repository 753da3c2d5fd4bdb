"""The derivative of a flexible body's equations of motion, compiled; see ``flexible_inertia`` for the equations."""

from __future__ import annotations

from typing import Any

from numba import njit

from flexmbs.bodies.flexible_inertia import (
    BA,
    BV,
    GA,
    GV,
    MA,
    MV,
    P,
    S,
    coriolis,
    field,
    inertia_times,
    swing,
)
from flexmbs.vectors import cross, dot, minus, plus, times, turn

_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_inner: dict[str, Any] = {**_options, "forceinline": True, "no_cpython_wrapper": True}


@njit(**_inner)
def unit(c):
    """The c-th unit vector."""
    return (1.0 if c == 0 else 0.0), (1.0 if c == 1 else 0.0), (1.0 if c == 2 else 0.0)


@njit(**_inner)
def three(table, first, k):
    """Component k of three vectors of the table."""
    return table[first, k], table[first + 1, k], table[first + 2, k]


@njit(**_inner)
def axial_of(table, first, k):
    """e_cij of component k of nine vectors."""
    return (
        table[first + 5, k] - table[first + 7, k],
        table[first + 6, k] - table[first + 2, k],
        table[first + 1, k] - table[first + 3, k],
    )


@njit(**_inner)
def trace_minus(table, first, k, transposed, a):
    """(tr Q - Qᵀ) a, or (tr Q - Q) a where the nine vectors hold Qᵀ, with Q of component k."""
    trace = table[first, k] + table[first + 4, k] + table[first + 8, k]
    if transposed:
        return (
            trace * a[0] - table[first, k] * a[0] - table[first + 1, k] * a[1] - table[first + 2, k] * a[2],
            trace * a[1] - table[first + 3, k] * a[0] - table[first + 4, k] * a[1] - table[first + 5, k] * a[2],
            trace * a[2] - table[first + 6, k] * a[0] - table[first + 7, k] * a[1] - table[first + 8, k] * a[2],
        )
    return (
        trace * a[0] - table[first, k] * a[0] - table[first + 3, k] * a[1] - table[first + 6, k] * a[2],
        trace * a[1] - table[first + 1, k] * a[0] - table[first + 4, k] * a[1] - table[first + 7, k] * a[2],
        trace * a[2] - table[first + 2, k] * a[0] - table[first + 5, k] * a[1] - table[first + 8, k] * a[2],
    )


@njit(**_inner)
def put(rotation, b, force, moment, planar, scale, at, stride, column, data):
    """A column of force (into global axes) and moment of a body's block."""
    force = turn(rotation, b, force)
    data[at + column] += scale * force[0]
    data[at + stride + column] += scale * force[1]
    if planar:
        data[at + 2 * stride + column] += scale * moment[2]
        return
    data[at + 2 * stride + column] += scale * force[2]
    for i in range(3):
        data[at + (3 + i) * stride + column] += scale * moment[i]


@njit(**_options)
def add_flexible(
    constants, c_at, n, w, e, a, s, s1, force, table, small, rotation, tangents, b, planar, scale, c_m, c_d,
    at, stride, data,
):  # fmt: skip
    """data += scale · (c_m ∂/∂v' + c_d ∂/∂v + ∂/∂q T(x)) of the body's rows, in the block at ``at``.

    ``force`` (body axes), s, s1 and the tables are those that ``flexible_rows`` left.
    """
    m, first = constants[c_at], 3 if planar else 6
    shifts, axes = (2, 2) if planar else (3, 0)
    for c in range(shifts):  # along p, only accelerations count
        axis = rotation[b, c, 0], rotation[b, c, 1], rotation[b, c, 2]
        put(rotation, b, times(m, axis), cross(s, axis), planar, scale * c_m, at, stride, c, data)
        for k in range(n):
            data[at + (first + k) * stride + c] += scale * c_m * dot(axis, three(table, S, k))
    extra = minus(force, times(m, a))  # what turns with the body; m p'' and the weight stay
    for c in range(axes, 3):
        axis, t = unit(c), (tangents[b, 0, c], tangents[b, 1, c], tangents[b, 2, c])
        if planar:
            t = axis
        fall = cross(a, t)
        push = plus(times(c_m, cross(axis, s)), cross(t, extra))
        gyro = plus(cross(axis, cross(w, s)), cross(w, cross(axis, s)))
        push = plus(push, times(c_d, plus(gyro, times(2.0, cross(axis, s1)))))
        own = inertia_times(small, axis)
        moment = plus(times(c_m, own), cross(s, fall))
        gyro = plus(cross(axis, inertia_times(small, w)), cross(w, own))
        moment = plus(moment, times(c_d, plus(gyro, times(2.0, coriolis(small, axis)))))
        column = shifts + c - axes
        put(rotation, b, push, moment, planar, scale, at, stride, column, data)
        for k in range(n):
            p = axial_of(table, P, k)
            r = axial_of(table, MV, k)
            speed = -2.0 * r[c]
            trace = table[P, k] + table[P + 4, k] + table[P + 8, k]
            speed -= 2.0 * w[c] * trace
            for j in range(3):
                speed += w[j] * (table[P + 3 * c + j, k] + table[P + 3 * j + c, k])
            total = c_m * p[c] + c_d * speed + dot(fall, three(table, S, k))
            data[at + (first + k) * stride + column] += scale * total
    add_modes(constants, c_at, n, w, e, a, table, rotation, b, planar, scale, c_m, c_d, at, stride, data)


@njit(**_inner)
def add_modes(constants, c_at, n, w, e, a, table, rotation, b, planar, scale, c_m, c_d, at, stride, data):
    """Columns of the elastic coordinates."""
    first = 3 if planar else 6
    for k in range(n):
        own, v, rate = three(table, S, k), three(table, GV, k), three(table, GA, k)
        push = plus(times(c_m, own), plus(swing(w, e, own), rate))
        push = plus(push, times(2.0, plus(cross(w, v), times(c_d, plus(cross(w, own), v)))))
        p = axial_of(table, P, k)
        # (tr P - Pᵀ) twice symmetrised is the derivative of the inertia: ∂I = 2 tr P - P - Pᵀ
        turned_e = plus(trace_minus(table, P, k, False, e), trace_minus(table, P, k, True, e))
        turned_w = plus(trace_minus(table, P, k, False, w), trace_minus(table, P, k, True, w))
        moment = plus(times(c_m, p), plus(cross(own, a), plus(turned_e, cross(w, turned_w))))
        slide = plus(trace_minus(table, MV, k, False, w), trace_minus(table, BV, k, True, w))
        back = axial_of(table, BV, k)  # of B_ji: the other sign
        speed = minus(times(2.0, trace_minus(table, P, k, False, w)), times(2.0, back))
        moment = plus(moment, plus(times(2.0, slide), times(c_d, speed)))
        moment = plus(moment, minus(axial_of(table, MA, k), axial_of(table, BA, k)))
        put(rotation, b, push, moment, planar, scale, at, stride, first + k, data)
    nn, stiffness = n * n, c_at + 14 + 12 * n
    damping, products = stiffness + nn, stiffness + 2 * nn
    stiffens = constants[c_at + 13] != 0.0
    for k in range(n):
        for i in range(n):
            p = k * n + i
            mass = constants[products + p] + constants[products + 4 * nn + p] + constants[products + 8 * nn + p]
            total = c_m * mass + constants[stiffness + p] + c_d * constants[damping + p]
            for x in range(3):
                for y in range(3):
                    turning = field(w, e, x, y)
                    total += turning * constants[products + (3 * x + y) * nn + p]
                    if stiffens:
                        total += turning * constants[products + (12 + 3 * x + y) * nn + p]
                if stiffens:
                    total += a[x] * constants[products + (9 + x) * nn + p]
            total += (
                2.0
                * c_d
                * (
                    w[0] * (constants[products + 7 * nn + p] - constants[products + 5 * nn + p])
                    + w[1] * (constants[products + 2 * nn + p] - constants[products + 6 * nn + p])
                    + w[2] * (constants[products + 3 * nn + p] - constants[products + nn + p])
                )
            )
            data[at + (first + k) * stride + first + i] += scale * total


@njit(**_options)
def flexible_mass(constants, c_at, n, s, table, small, rotation, b, planar, mass):
    """Mass matrix of a flexible body, after ``flexible_rows``; rows and columns of p in global axes."""
    m, first = constants[c_at], 3 if planar else 6
    shifts, axes = (2, 2) if planar else (3, 0)
    for c in range(shifts):
        mass[c, c] = m
    for c in range(axes, 3):
        column, own = shifts + c - axes, inertia_times(small, unit(c))
        push = turn(rotation, b, cross(unit(c), s))
        for i in range(shifts):
            mass[i, column] = mass[column, i] = push[i]
        for i in range(axes, 3):
            mass[shifts + i - axes, column] = own[i]
    nn, products = n * n, c_at + 14 + 12 * n + 2 * n * n
    for k in range(n):
        push, turned = turn(rotation, b, three(table, S, k)), axial_of(table, P, k)
        for i in range(shifts):
            mass[i, first + k] = mass[first + k, i] = push[i]
        for i in range(axes, 3):
            mass[shifts + i - axes, first + k] = mass[first + k, shifts + i - axes] = turned[i]
        for i in range(n):
            p = products + k * n + i
            mass[first + k, first + i] = constants[p] + constants[p + 4 * nn] + constants[p + 8 * nn]
