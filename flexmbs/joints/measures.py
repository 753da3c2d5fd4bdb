"""Measures: the few scalar functions of two frames from which every joint, drive and gear is made.

With frames i and j at r_i, r_j, d = r_j - r_i, and unit vectors a fixed in i and b fixed in j:

========== ==================== ======================================================
kind       value                used for
========== ==================== ======================================================
SPACE      e · d                coincident points (e fixed in space)
AXIS       a · d                sliding along or in planes of frame i, distances travelled
DOT        a · b                axes that stay orthogonal or parallel
DISTANCE   abs(d)               rods
ANGLE      atan2(a₂·b, a·b)     the angle from a to b about a × a₂
SINE       √(1 - (a·b)²)        height of an inclined disc
AXIS_RATE  a · (velocity)       blades: body j passing the origin of frame i, see ``rates``
ROLL       a · (velocity)       discs: the same where a disc of j meets a plane of i
========== ==================== ======================================================

Every measure depends on the positions through d alone, so its gradient is a force F on frame j (and -F on i) with
moments M_i and M_j: the wrench that a unit multiplier exerts. ``evaluate`` gives value and gradient, ``bias`` the
second time derivative without the accelerations, ``add_stiffness`` the derivative of the wrench; the last kinds,
velocities, have their own in ``rates``.

The functions take whole arrays and the numbers m of the measure and i, j of the frames: an array cut out of another
costs more than the arithmetic. Vectors are three floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from flexmbs.vectors import cross, dot, row, store, turn
from flexmbs.vectors import turn_back as turn_back
from flexmbs.vectors import vector as vector

SPACE, AXIS, DOT, DISTANCE, ANGLE, SINE, AXIS_RATE, ROLL = range(8)

RATES = AXIS_RATE
"""From this kind on, values are velocities."""

D, A, B, A2 = range(4)
"""Vectors kept of each measure, in global axes."""

MOMENT_I_TURN_I, MOMENT_J_TURN_J, MOMENT_J_TURN_I, FORCE_SHIFT, MOMENT_SHIFT = range(5)
"""Blocks of a stiffness, see ``add_stiffness``."""

# without the runtime of Numba (_nrt) nothing is allocated, and no array's references are counted, which would cost more
# than the arithmetic; no wrapper is compiled for C, nor for Python where none is needed: they take as long as the rest
_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_inlined: dict[str, Any] = {**_options, "forceinline": True}
_inner: dict[str, Any] = {**_inlined, "no_cpython_wrapper": True}


@njit(**_options)
def pulls(kind):
    """Whether the measure's gradient has a force."""
    return kind in (SPACE, AXIS, DISTANCE, AXIS_RATE, ROLL)


@njit(**_options)
def twists(kind):
    """Whether the measure's gradient has moments."""
    return kind in (AXIS, DOT, ANGLE, SINE, AXIS_RATE, ROLL)


@njit(**_inner)
def rim(vectors, m):
    """From the centre of a disc with axis b to its lowest point; a₂ is the plane's normal times the radius."""
    b, c = row(vectors, m, B), row(vectors, m, A2)
    inner = dot(b, c)
    up = c[0] - inner * b[0], c[1] - inner * b[1], c[2] - inner * b[2]
    scale = -np.sqrt(dot(c, c) / dot(up, up))
    return scale * up[0], scale * up[1], scale * up[2]


@njit(**_inlined)
def evaluate(kind, axes, m, i, j, position, rotation, vectors, gradient):
    """Value of measure m between frames i and j; gradient[m] = F, M_i, M_j.

    ``axes`` (measures, 3, 3) holds a, b, a₂ as rows, in their frames; ``position`` and ``rotation`` are the frames'.
    ``vectors`` (measures, 4, 3) keeps d, a, b, a₂ in global axes for ``bias`` and ``add_stiffness``. Parts of the
    gradient that are always zero (see ``pulls``, ``twists``) are not written. A velocity has no value here, and its
    gradient is that with respect to the frames' twists.
    """
    if kind != DOT and kind != ANGLE and kind != SINE:
        d = position[j, 0] - position[i, 0], position[j, 1] - position[i, 1], position[j, 2] - position[i, 2]
        store(vectors, m, D, d)
        if kind == SPACE:
            e = row(axes, m, 0)
            gradient[m, 0], gradient[m, 1], gradient[m, 2] = e
            return dot(e, d)
        if kind == DISTANCE:
            size = np.sqrt(dot(d, d))
            gradient[m, 0], gradient[m, 1], gradient[m, 2] = d[0] / size, d[1] / size, d[2] / size
            return size
        a = turn(rotation, i, row(axes, m, 0))
        store(vectors, m, A, a)
        gradient[m, 0], gradient[m, 1], gradient[m, 2] = a
        if kind == AXIS_RATE:
            gradient[m, 6], gradient[m, 7], gradient[m, 8] = cross(a, d)
            return 0.0
        if kind == ROLL:
            store(vectors, m, B, turn(rotation, j, row(axes, m, 1)))
            store(vectors, m, A2, turn(rotation, i, row(axes, m, 2)))
            r = rim(vectors, m)
            gradient[m, 3], gradient[m, 4], gradient[m, 5] = cross(a, (d[0] + r[0], d[1] + r[1], d[2] + r[2]))
            gradient[m, 6], gradient[m, 7], gradient[m, 8] = cross(r, a)
            return 0.0
        gradient[m, 3], gradient[m, 4], gradient[m, 5] = cross(a, d)
        return dot(a, d)
    a, b = turn(rotation, i, row(axes, m, 0)), turn(rotation, j, row(axes, m, 1))
    store(vectors, m, A, a)
    store(vectors, m, B, b)
    x, y, z = cross(a, b)
    value = cosine = dot(a, b)
    if kind == ANGLE:
        c = turn(rotation, i, row(axes, m, 2))
        store(vectors, m, A2, c)
        sine = dot(c, b)
        size2 = cosine * cosine + sine * sine
        n = cross(c, b)
        x, y, z = (
            (cosine * n[0] - sine * x) / size2,
            (cosine * n[1] - sine * y) / size2,
            (cosine * n[2] - sine * z) / size2,
        )
        value = np.arctan2(sine, cosine)
    elif kind == SINE:
        value = np.sqrt(1.0 - cosine * cosine)
        x, y, z = -cosine / value * x, -cosine / value * y, -cosine / value * z
    gradient[m, 3], gradient[m, 4], gradient[m, 5] = x, y, z
    gradient[m, 6], gradient[m, 7], gradient[m, 8] = -x, -y, -z
    return value


@njit(**_inner)
def dot_bias(a, b, w_i, w_j):
    """Second derivative of a · b without angular accelerations, and its first derivative."""
    first, second = cross(w_i, a), cross(w_j, b)
    value = 2.0 * dot(first, second)
    # (w × (w × a)) · b = (w·a)(w·b) - w² (a·b)
    value += dot(w_i, a) * dot(w_i, b) - dot(w_i, w_i) * dot(a, b)
    value += dot(w_j, b) * dot(w_j, a) - dot(w_j, w_j) * dot(a, b)
    return value, dot(first, b) + dot(a, second)


@njit(**_inlined)
def bias(kind, axes, m, vectors, rate, acceleration, w_i, w_j):
    """Second time derivative of measure m where the bodies' accelerations v' are zero.

    ``rate`` and ``acceleration`` are those of d at v' = 0, w_i and w_j the frames' angular velocities, all in global
    axes. Angular accelerations at v' = 0 must vanish, as they do for ω in body axes.
    """
    if kind == SPACE:
        return dot(row(axes, m, 0), acceleration)
    d, a, b = row(vectors, m, D), row(vectors, m, A), row(vectors, m, B)
    if kind == DISTANCE:
        size = np.sqrt(dot(d, d))
        speed = dot(d, rate) / size
        return (dot(rate, rate) - speed * speed + dot(d, acceleration)) / size
    if kind == AXIS:
        return (
            2.0 * dot(cross(w_i, a), rate)
            + dot(w_i, a) * dot(w_i, d) - dot(w_i, w_i) * dot(a, d)
            + dot(a, acceleration)
        )  # fmt: skip
    cosine2, cosine1 = dot_bias(a, b, w_i, w_j)
    if kind == DOT:
        return cosine2
    if kind == SINE:
        cosine = dot(a, b)
        sine = np.sqrt(1.0 - cosine * cosine)
        return -cosine * cosine2 / sine - cosine1 * cosine1 / (sine * sine * sine)
    c = row(vectors, m, A2)
    sine2, sine1 = dot_bias(c, b, w_i, w_j)
    cosine, sine = dot(a, b), dot(c, b)
    size2 = cosine * cosine + sine * sine
    speed = (cosine * sine1 - sine * cosine1) / size2
    return (cosine * sine2 - sine * cosine2) / size2 - 2.0 * speed * (cosine * cosine1 + sine * sine1) / size2


@njit(**_inner)
def add_dot_stiffness(a, b, factor, out, k):
    """The stiffness of a · b: δM_i = (δθ_i × a) × b + a × (δθ_j × b) = -δM_j, (δ × a) × b = a (δ·b) - δ (a·b)."""
    inner = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    for p in range(3):
        for q in range(3):
            value = factor * (a[p] * b[q] - (inner if p == q else 0.0))
            out[k, MOMENT_I_TURN_I, p, q] += value
            out[k, MOMENT_J_TURN_I, p, q] -= value
            out[k, MOMENT_J_TURN_J, q, p] += value


@njit(**_inlined)
def add_stiffness(kind, m, vectors, gradient, factor, out, k):
    """out[k] += factor · derivative of the wrench of measure m with respect to shifts δr and turns δθ of its frames.

    Of the blocks (5, 3, 3) of a pair of frames, named above,

        δF   = FORCE_SHIFT (δr_j - δr_i) - MOMENT_SHIFT δθ_i
        δM_i = MOMENT_SHIFT (δr_j - δr_i) + MOMENT_I_TURN_I δθ_i - MOMENT_J_TURN_J δθ_j
        δM_j = MOMENT_J_TURN_I δθ_i + MOMENT_J_TURN_J δθ_j
    """
    if kind == SPACE:
        return
    if kind == DISTANCE:
        d = row(vectors, m, D)
        size = np.sqrt(dot(d, d))
        for p in range(3):
            for q in range(3):
                out[k, FORCE_SHIFT, p, q] += factor * ((1.0 if p == q else 0.0) - d[p] * d[q] / (size * size)) / size
        return
    a = row(vectors, m, A)
    if kind == AXIS:
        # δF = δθ_i × a;  δM_i = (δθ_i × a) × d + a × (δr_j - δr_i)
        d = row(vectors, m, D)
        inner = dot(a, d)
        for p in range(3):
            for q in range(3):
                out[k, MOMENT_I_TURN_I, p, q] += factor * (a[p] * d[q] - (inner if p == q else 0.0))
            after, last = (p + 1) % 3, (p + 2) % 3
            out[k, MOMENT_SHIFT, last, after] += factor * a[p]
            out[k, MOMENT_SHIFT, after, last] -= factor * a[p]
        return
    b = row(vectors, m, B)
    if kind == DOT:
        add_dot_stiffness(a, b, factor, out, k)
        return
    if kind == SINE:
        inner, x = dot(a, b), cross(a, b)
        size = np.sqrt(1.0 - inner * inner)
        add_dot_stiffness(a, b, -factor * inner / size, out, k)
        for p in range(3):
            for q in range(3):
                value = -factor * x[p] * x[q] / (size * size * size)
                out[k, MOMENT_I_TURN_I, p, q] += value
                out[k, MOMENT_J_TURN_I, p, q] -= value
                out[k, MOMENT_J_TURN_J, p, q] += value
        return
    c = row(vectors, m, A2)
    cosine, sine = dot(a, b), dot(c, b)
    size2 = cosine * cosine + sine * sine
    add_dot_stiffness(c, b, factor * cosine / size2, out, k)
    add_dot_stiffness(a, b, -factor * sine / size2, out, k)
    # ∇θ = (C∇S - S∇C)/ρ²: the rest of its derivative is (∇S δC - ∇C δS)/ρ² - 2∇θ (C δC + S δS)/ρ²,
    # with ∇C = (x, -x), ∇S = (n, -n) with respect to (θ_i, θ_j)
    x, n = cross(a, b), cross(c, b)
    for p in range(3):
        for q in range(3):
            value = n[p] * x[q] - x[p] * n[q] - 2.0 * gradient[m, 3 + p] * (cosine * x[q] + sine * n[q])
            value *= factor / size2
            out[k, MOMENT_I_TURN_I, p, q] += value
            out[k, MOMENT_J_TURN_I, p, q] -= value
            out[k, MOMENT_J_TURN_J, p, q] += value
