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
========== ==================== ======================================================

Every measure depends on the positions through d alone, so its gradient is a force F on frame j (and -F on i) with
moments M_i and M_j: the wrench that a unit multiplier exerts. ``evaluate`` gives value and gradient, ``bias`` the second
time derivative without the accelerations, ``hessian`` the derivative of the wrench.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

SPACE, AXIS, DOT, DISTANCE, ANGLE = range(5)

_options: dict[str, Any] = {"cache": True, "error_model": "numpy"}


@njit(**_options)
def cross(a, b, out):
    """out = a × b; out must be neither a nor b."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@njit(**_options)
def dot(a, b):
    """a · b of three components."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(**_options)
def turn(matrix, a, out):
    """out = matrix a."""
    for i in range(3):
        out[i] = matrix[i, 0] * a[0] + matrix[i, 1] * a[1] + matrix[i, 2] * a[2]


@njit(**_options)
def evaluate(kind, axes, r_i, R_i, r_j, R_j, work, gradient):
    """Value of a measure; gradient (9,) = F, M_i, M_j. ``axes`` (3, 3) holds a, b, a₂ as rows, in their frames.

    ``work`` (6, 3) keeps d, a, b, a₂ in global axes for ``bias`` and ``hessian``.
    """
    d, a, b, c, m, n = work
    force, moment_i, moment_j = gradient[0:3], gradient[3:6], gradient[6:9]
    for k in range(3):
        d[k] = r_j[k] - r_i[k]
    gradient[:] = 0.0
    if kind == SPACE:
        force[:] = axes[0]
        return dot(axes[0], d)
    if kind == DISTANCE:
        size = np.sqrt(dot(d, d))
        for k in range(3):
            force[k] = d[k] / size
        return size
    turn(R_i, axes[0], a)
    if kind == AXIS:
        force[:] = a
        cross(a, d, moment_i)
        return dot(a, d)
    turn(R_j, axes[1], b)
    if kind == DOT:
        cross(a, b, moment_i)
        cross(b, a, moment_j)
        return dot(a, b)
    turn(R_i, axes[2], c)
    cosine, sine = dot(a, b), dot(c, b)
    size2 = cosine * cosine + sine * sine
    cross(a, b, m)
    cross(c, b, n)
    for k in range(3):
        moment_i[k] = (cosine * n[k] - sine * m[k]) / size2
        moment_j[k] = -moment_i[k]
    return np.arctan2(sine, cosine)


@njit(**_options)
def dot_bias(a, b, w_i, w_j, first, second):
    """Second derivative of a · b without angular accelerations, and its first derivative."""
    cross(w_i, a, first)
    cross(w_j, b, second)
    rate = dot(first, b) + dot(a, second)
    value = 2.0 * dot(first, second)
    # (w × (w × a)) · b = (w·a)(w·b) - w² (a·b)
    value += dot(w_i, a) * dot(w_i, b) - dot(w_i, w_i) * dot(a, b)
    value += dot(w_j, b) * dot(w_j, a) - dot(w_j, w_j) * dot(a, b)
    return value, rate


@njit(**_options)
def bias(kind, axes, work, v_i, w_i, acc_i, v_j, w_j, acc_j):
    """Second time derivative of the measure where the bodies' accelerations v' are zero.

    v, w are the frames' velocities (global axes) and acc their accelerations at v' = 0. Angular accelerations at v' = 0
    must vanish, as they do for ω in body axes.
    """
    d, a, b, c, m, n = work
    if kind == SPACE:
        return (
            axes[0, 0] * (acc_j[0] - acc_i[0]) + axes[0, 1] * (acc_j[1] - acc_i[1]) + axes[0, 2] * (acc_j[2] - acc_i[2])
        )
    for k in range(3):
        m[k] = v_j[k] - v_i[k]
    if kind == DISTANCE:
        size = np.sqrt(dot(d, d))
        rate = dot(d, m) / size
        total = dot(m, m) / size - rate * rate / size
        for k in range(3):
            total += d[k] / size * (acc_j[k] - acc_i[k])
        return total
    if kind == AXIS:
        cross(w_i, a, n)
        total = 2.0 * dot(n, m) + dot(w_i, a) * dot(w_i, d) - dot(w_i, w_i) * dot(a, d)
        for k in range(3):
            total += a[k] * (acc_j[k] - acc_i[k])
        return total
    if kind == DOT:
        value, _ = dot_bias(a, b, w_i, w_j, m, n)
        return value
    cosine, sine = dot(a, b), dot(c, b)
    size2 = cosine * cosine + sine * sine
    cosine2, cosine1 = dot_bias(a, b, w_i, w_j, m, n)
    sine2, sine1 = dot_bias(c, b, w_i, w_j, m, n)
    rate = (cosine * sine1 - sine * cosine1) / size2
    return (cosine * sine2 - sine * cosine2) / size2 - 2.0 * rate * (cosine * cosine1 + sine * sine1) / size2


@njit(**_options)
def add_dot_hessian(a, b, factor, h):
    """h (12, 12) += factor · derivative of the wrench of a · b; rows and columns (r_i, θ_i, r_j, θ_j).

    δM_i = (δθ_i × a) × b + a × (δθ_j × b) = -δM_j, with (δ × a) × b = a (δ·b) - δ (a·b).
    """
    inner = dot(a, b)
    for p in range(3):
        for q in range(3):
            own = a[p] * b[q] - (inner if p == q else 0.0)
            # a × (δ × b) = δ (a·b) - b (a·δ)
            other = (inner if p == q else 0.0) - b[p] * a[q]
            h[3 + p, 3 + q] += factor * own
            h[3 + p, 9 + q] += factor * other
            h[9 + p, 3 + q] -= factor * own
            h[9 + p, 9 + q] -= factor * other


@njit(**_options)
def hessian(kind, work, gradient, factor, h):
    """h (12, 12) += factor · ∂(wrench)/∂(δr_i, δθ_i, δr_j, δθ_j), wrench rows (-F, M_i, F, M_j)."""
    d, a, b, c, m, n = work
    if kind == SPACE:
        return
    if kind == DISTANCE:
        size = np.sqrt(dot(d, d))
        for p in range(3):
            for q in range(3):
                value = factor * ((1.0 if p == q else 0.0) - d[p] * d[q] / (size * size)) / size
                h[p, q] += value
                h[6 + p, 6 + q] += value
                h[p, 6 + q] -= value
                h[6 + p, q] -= value
        return
    if kind == AXIS:
        # δF = δθ_i × a;  δM_i = (δθ_i × a) × d + a × (δr_j - δr_i)
        inner = dot(a, d)
        for p in range(3):
            for q in range(3):
                tilde = 0.0  # a~ [p, q]
                if p != q:
                    k = 3 - p - q
                    tilde = -a[k] if (p + 1) % 3 == q else a[k]
                h[6 + p, 3 + q] -= factor * tilde
                h[p, 3 + q] += factor * tilde
                h[3 + p, 3 + q] += factor * (a[p] * d[q] - (inner if p == q else 0.0))
                h[3 + p, 6 + q] += factor * tilde
                h[3 + p, q] -= factor * tilde
        return
    if kind == DOT:
        add_dot_hessian(a, b, factor, h)
        return
    cosine, sine = dot(a, b), dot(c, b)
    size2 = cosine * cosine + sine * sine
    add_dot_hessian(c, b, factor * cosine / size2, h)
    add_dot_hessian(a, b, -factor * sine / size2, h)
    # ∇θ = (C∇S - S∇C)/ρ²: the rest of its derivative is (∇S δC - ∇C δS)/ρ² - 2∇θ (C δC + S δS)/ρ²
    cross(a, b, m)  # ∇C = (m, -m), ∇S = (n, -n) with respect to (θ_i, θ_j)
    cross(c, b, n)
    for p in range(3):
        for q in range(3):
            value = (n[p] * m[q] - m[p] * n[q] - 2.0 * gradient[3 + p] * (cosine * m[q] + sine * n[q])) / size2
            value *= factor
            h[3 + p, 3 + q] += value
            h[3 + p, 9 + q] -= value
            h[9 + p, 3 + q] -= value
            h[9 + p, 9 + q] += value
