"""What bodies put into Newton's residual and matrix: inertia and weight, with their derivatives."""

from __future__ import annotations

from typing import Any

from numba import njit

from flexmbs.bodies.body import PLANAR, POINT, RIGID
from flexmbs.bodies.flexible_calls import body_deforms
from flexmbs.joints.measures import cross, dot, turn, turn_back, vector
from flexmbs.rotations import tangent

_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_inner: dict[str, Any] = {**_options, "forceinline": True, "no_cpython_wrapper": True}


@njit(**_inner)
def triple(array, k):
    """Three numbers from array[k] on."""
    return array[k], array[k + 1], array[k + 2]


@njit(**_inner)
def column(matrices, m, j):
    """Column j of matrix m."""
    return matrices[m, 0, j], matrices[m, 1, j], matrices[m, 2, j]


@njit(**_inner)
def unit(j):
    """The j-th unit vector."""
    return (1.0 if j == 0 else 0.0), (1.0 if j == 1 else 0.0), (1.0 if j == 2 else 0.0)


@njit(**_inner)
def frame_column(kind, frame_t, at, n, first, tangents, b, j):
    """Three numbers of column j of T T(x): those of row ``first`` of T and the two below it."""
    top, middle, bottom = at + first * n, at + (first + 1) * n, at + (first + 2) * n
    if kind != RIGID or j < 3 or j > 5:
        return frame_t[top + j], frame_t[middle + j], frame_t[bottom + j]
    t = column(tangents, b, j - 3)
    return dot(triple(frame_t, top + 3), t), dot(triple(frame_t, middle + 3), t), dot(triple(frame_t, bottom + 3), t)


@njit(**_inner)
def add_rigid(layout, b, v, rate, unknown, at, stride, scale, c_m, c_d, rotation, tangents, matrix, data, residual):
    """Residual s (M v' - f) of a rigid body, and with ``matrix`` its derivative s (c_m M + c_d D + K T(x)).

    With c the mass centre, y = ω' × c + ω × (ω × c) and z = Rᵀ(p'' - g), M v' - f has the parts m (p'' - g + R y) and
    m c × z + J ω' + ω × J ω.
    """
    first, m, c, g = layout.body_v[b], layout.mass[b], vector(layout.centre, b), layout.gravity
    w, e = triple(v, first + 3), triple(rate, first + 3)
    fall = rate[first] - g[0], rate[first + 1] - g[1], rate[first + 2] - g[2]
    turning, y, z, momentum = cross(w, c), cross(e, c), turn_back(rotation, b, fall), turn(layout.inertia, b, w)
    inward = cross(w, turning)
    y = y[0] + inward[0], y[1] + inward[1], y[2] + inward[2]
    lift, weight, inertial, gyroscopic = (
        turn(rotation, b, y), cross(c, z), turn(layout.inertia, b, e), cross(w, momentum)
    )  # fmt: skip
    for i in range(3):
        residual[unknown + i] = scale * m * (fall[i] + lift[i])
        residual[unknown + 3 + i] = scale * (m * weight[i] + inertial[i] + gyroscopic[i])
    if not matrix:
        return
    w_c, c_z = dot(w, c), dot(c, z)
    for j in range(3):
        # column j, with e = e_j, t = T(x) e_j and δω = c_d e:
        # δy = c_m e × c + c_d (e × (ω × c) + ω × (e × c)) and R δy + R (t × y); δz = z × t
        axis, t, own = unit(j), column(tangents, b, j), column(layout.inertia, b, j)
        a0, a1, a2 = cross(c, axis)
        b0, b1, b2 = cross(turning, axis)
        d0, d1, d2 = cross(y, t)
        change = (
            -(c_m * a0 + c_d * (b0 + c[0] * w[j] - w_c * axis[0]) + d0),
            -(c_m * a1 + c_d * (b1 + c[1] * w[j] - w_c * axis[1]) + d1),
            -(c_m * a2 + c_d * (b2 + c[2] * w[j] - w_c * axis[2]) + d2),
        )
        change = turn(rotation, b, change)
        lever, c_t = cross(c, (rotation[b, j, 0], rotation[b, j, 1], rotation[b, j, 2])), dot(c, t)
        first_part, second_part = cross(w, own), cross(momentum, axis)
        data[at + j * stride + j] += scale * c_m * m
        for i in range(3):
            data[at + i * stride + 3 + j] += scale * m * change[i]
            data[at + (3 + i) * stride + j] += scale * c_m * m * lever[i]
            data[at + (3 + i) * stride + 3 + j] += scale * (
                c_m * own[i] + c_d * (first_part[i] - second_part[i]) + m * (z[i] * c_t - c_z * t[i])
            )


@njit(**_inner)
def add_planar(layout, b, v, rate, unknown, at, stride, scale, c_m, c_d, rotation, matrix, data, residual):
    """The same of a planar body, with (x, y) from its origin to its mass centre."""
    first, m, inertia = layout.body_v[b], layout.mass[b], layout.inertia[b, 2, 2]
    x, y, _ = turn(rotation, b, vector(layout.centre, b))
    w, e = v[first + 2], rate[first + 2]
    a_x, a_y = rate[first] - layout.gravity[0], rate[first + 1] - layout.gravity[1]
    residual[unknown] = scale * m * (a_x - e * y - w * w * x)
    residual[unknown + 1] = scale * m * (a_y + e * x - w * w * y)
    residual[unknown + 2] = scale * (inertia * e + m * (x * a_y - y * a_x))
    if matrix:
        data[at] += scale * c_m * m
        data[at + stride + 1] += scale * c_m * m
        data[at + 2] += scale * m * (-c_m * y - c_d * 2 * w * x - e * x + w * w * y)
        data[at + stride + 2] += scale * m * (c_m * x - c_d * 2 * w * y - e * y - w * w * x)
        data[at + 2 * stride] -= scale * c_m * m * y
        data[at + 2 * stride + 1] += scale * c_m * m * x
        data[at + 2 * stride + 2] += scale * (c_m * inertia - m * (y * a_y + x * a_x))


@njit(**_inner)
def add_bodies(layout, where, v, rate, increment, scale, c_m, c_d, work, scratch, matrix, data, residual):
    """Inertia and weight of all bodies."""
    for b in range(layout.body_kind.size):
        kind, first, unknown = layout.body_kind[b], layout.body_v[b], where.body_unknown[b]
        at, stride = where.body_place[b, 0], where.body_place[b, 1]
        if matrix and kind == RIGID:
            tangent(triple(increment, first + 3), scratch.tangent[b])
        if body_deforms(
            layout.modal, layout, b, v, rate, unknown, at, stride, scale, c_m, c_d, work, scratch.tangent, matrix,
            data, residual,
        ):  # fmt: skip
            continue
        if kind == RIGID:
            add_rigid(
                layout, b, v, rate, unknown, at, stride, scale, c_m, c_d, work.rotation, scratch.tangent, matrix,
                data, residual,
            )  # fmt: skip
        elif kind == PLANAR:
            add_planar(layout, b, v, rate, unknown, at, stride, scale, c_m, c_d, work.rotation, matrix, data, residual)
        elif kind == POINT:
            m = layout.mass[b]
            for i in range(3):
                residual[unknown + i] = scale * m * (rate[first + i] - layout.gravity[i])
                if matrix:
                    data[at + i * (stride + 1)] += scale * c_m * m
