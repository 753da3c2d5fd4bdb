"""Measures that are velocities: the speed at which two bodies pass each other where they meet.

The value is w · (twists of both frames): the power of a wrench w = (F, M_i, M_j), F on frame j and -F on i, that
depends on the positions and is no gradient of any function of them. All else follows from the change of w with shifts
and turns of the frames (``wrench_change``): the time derivative, the tangent of the row, that of its reaction.

With a fixed in i, F = a acts where the bodies meet, at d + ρ from the origin of i and ρ from that of j:
M_i = -(d + ρ) × a and M_j = ρ × a.

AXIS_RATE meets at the origin of i, ρ = -d: with the ground as j it is -a · v_i. ROLL meets at the point of a disc's rim
that is lowest above a plane of i (``measures.rim``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from flexmbs.joints.measures import A2, AXIS_RATE, A, B, D, cross, dot, rim, row

_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_inner: dict[str, Any] = {**_options, "forceinline": True, "no_cpython_wrapper": True}


@njit(**_inner)
def wrench_change(kind, m, vectors, shift, turn_i, turn_j):
    """δF, δM_i, δM_j of measure m where d changes by ``shift`` and the frames turn, all in global axes."""
    a, d = row(vectors, m, A), row(vectors, m, D)
    force = cross(turn_i, a)
    if kind == AXIS_RATE:
        first, second = cross(force, d), cross(a, shift)
        return force, (0.0, 0.0, 0.0), (first[0] + second[0], first[1] + second[1], first[2] + second[2])
    arm, change = rim(vectors, m), rim_change(vectors, m, turn_i, turn_j)
    first, second = cross(change, a), cross(arm, force)
    third, fourth = cross(shift, a), cross(d, force)
    moment = first[0] + second[0], first[1] + second[1], first[2] + second[2]
    return (
        force,
        (-moment[0] - third[0] - fourth[0], -moment[1] - third[1] - fourth[1], -moment[2] - third[2] - fourth[2]),
        moment,
    )


@njit(**_inner)
def rim_change(vectors, m, turn_i, turn_j):
    """Change of ρ = -R u/|u|, u = c - (b·c) b, where b turns with the disc and c, of length R, with the plane."""
    b, c = row(vectors, m, B), row(vectors, m, A2)
    b1, c1 = cross(turn_j, b), cross(turn_i, c)
    inner, inner1 = dot(b, c), dot(b1, c) + dot(b, c1)
    u = c[0] - inner * b[0], c[1] - inner * b[1], c[2] - inner * b[2]
    u1 = (
        c1[0] - inner1 * b[0] - inner * b1[0],
        c1[1] - inner1 * b[1] - inner * b1[1],
        c1[2] - inner1 * b[2] - inner * b1[2],
    )
    size2 = dot(u, u)
    scale, along = -np.sqrt(dot(c, c) / size2), dot(u, u1) / size2
    return scale * (u1[0] - along * u[0]), scale * (u1[1] - along * u[1]), scale * (u1[2] - along * u[2])


@njit(**_options)
def rate_bias(kind, m, vectors, rate, acceleration, w_i, w_j):
    """Time derivative of measure m where the bodies' accelerations v' are zero; arguments as of ``measures.bias``."""
    force, moment_i, moment_j = wrench_change(kind, m, vectors, rate, w_i, w_j)
    return (
        dot(force, rate) + dot(moment_i, w_i) + dot(moment_j, w_j)
        + dot(row(vectors, m, A), acceleration)
    )  # fmt: skip
