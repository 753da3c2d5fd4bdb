"""The derivative of a flexible body's equations of motion, compiled; see ``flexible_inertia`` for the equations."""

from __future__ import annotations

from typing import Any

from numba import njit

from flexmbs.bodies.flexible_inertia import (
    BENT,
    FIELD,
    HEAD,
    SKEW,
    TURNED,
    TURNED_RATE,
    axial_of,
    coriolis,
    inertia_times,
    swing,
    three,
    trace_minus,
)
from flexmbs.vectors import cross, dot, minus, plus, times, turn

_options: dict[str, Any] = {
    "cache": True,
    "error_model": "numpy",
    "fastmath": {"contract"},
    "_nrt": False,
    "no_cfunc_wrapper": True,
}
_inner: dict[str, Any] = {**_options, "forceinline": True, "no_cpython_wrapper": True}


@njit(**_inner)
def unit(c):
    """The c-th unit vector."""
    return (1.0 if c == 0 else 0.0), (1.0 if c == 1 else 0.0), (1.0 if c == 2 else 0.0)


@njit(**_options)
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
            data[at + (first + k) * stride + c] += scale * c_m * dot(axis, three(table, 12 * k))
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
            p = 12 * k + 3
            lever, turned = axial_of(table, p), trace_minus(table, p, w)
            speed = 2.0 * table[SKEW * n + 3 * k + c] - w[c] * (table[p] + table[p + 4] + table[p + 8]) - turned[c]
            for j in range(3):
                speed += w[j] * table[p + 3 * c + j]
            total = c_m * lever[c] + c_d * speed + dot(fall, three(table, 12 * k))
            data[at + (first + k) * stride + column] += scale * total
    add_modes(constants, c_at, n, w, e, a, table, small, rotation, b, planar, scale, c_m, c_d, at, stride, data)


@njit(**_inner)
def add_modes(constants, c_at, n, w, e, a, table, small, rotation, b, planar, scale, c_m, c_d, at, stride, data):
    """Columns of the elastic coordinates."""
    first = 3 if planar else 6
    for k in range(n):
        p, q, r = 12 * k + 3, TURNED * n + 12 * k + 3, TURNED_RATE * n + 12 * k + 3
        own, v = three(table, p - 3), three(table, q - 3)
        push = plus(times(c_m, own), plus(swing(w, e, own), three(table, r - 3)))
        push = plus(push, times(2.0, plus(cross(w, v), times(c_d, plus(cross(w, own), v)))))
        # ∂I = 2 tr P - P - Pᵀ, times e and times ω
        turned_e, turned_w = both_ways(table, p, e), both_ways(table, p, w)
        moment = plus(times(c_m, axial_of(table, p)), plus(cross(own, a), plus(turned_e, cross(w, turned_w))))
        speed = plus(trace_minus(table, p, w), three(table, BENT * n + 6 * k + 3))
        moment = plus(moment, times(2.0, plus(trace_minus(table, q, w), times(c_d, speed))))
        moment = plus(moment, axial_of(table, r))
        put(rotation, b, push, moment, planar, scale, at, stride, first + k, data)
    nn, stiffness = n * n, c_at + HEAD + 12 * n
    big = stiffness + 2 * n
    for i in range(n):
        corner = at + (first + i) * stride + first + i
        data[corner] += scale * (c_m + constants[stiffness + i] + c_d * constants[stiffness + n + i])
        for k in range(n):
            p, total = big + 12 * (i * n + k), 0.0
            for c in range(12):
                total += small[FIELD + c] * constants[p + c]
            total += 2.0 * c_d * dot(w, three(constants, big + 12 * nn + 3 * (i * n + k)))
            data[at + (first + k) * stride + first + i] += scale * total


@njit(**_inner)
def both_ways(table, p, a):
    """(2 tr P - P - Pᵀ) a."""
    turned, trace = trace_minus(table, p, a), table[p] + table[p + 4] + table[p + 8]
    return (
        turned[0] + trace * a[0] - dot(three(table, p), a),
        turned[1] + trace * a[1] - dot(three(table, p + 3), a),
        turned[2] + trace * a[2] - dot(three(table, p + 6), a),
    )


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
    for k in range(n):
        push, turned = turn(rotation, b, three(table, 12 * k)), axial_of(table, 12 * k + 3)
        for i in range(shifts):
            mass[i, first + k] = mass[first + k, i] = push[i]
        for i in range(axes, 3):
            mass[shifts + i - axes, first + k] = mass[first + k, shifts + i - axes] = turned[i]
        for i in range(n):
            mass[first + k, first + i] = 1.0 if i == k else 0.0
