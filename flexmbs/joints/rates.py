"""Measures that are velocities: the speed at which two bodies pass each other where they meet.

The value is w · (twists of both frames): the power of a wrench w = (F, M_i, M_j), F on frame j and -F on i, that
depends on the positions and is no gradient of any function of them. All else follows from the change of w with shifts
and turns of the frames (``wrench_change``): the time derivative, the tangent of the row, that of its reaction.

AXIS_RATE is the velocity along a, fixed in i, of the point of body j at the origin of i, seen from there: F = a acts
at the origin of i, so M_i = 0 and M_j = a × d. With the ground as j it is -a · v_i.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from flexmbs.joints.measures import A, D, cross, dot, row

_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_inner: dict[str, Any] = {**_options, "forceinline": True, "no_cpython_wrapper": True}


@njit(**_inner)
def wrench_change(kind, m, vectors, shift, turn_i, turn_j):
    """δF, δM_i, δM_j of measure m where d changes by ``shift`` and the frames turn, all in global axes."""
    a, d = row(vectors, m, A), row(vectors, m, D)
    force = cross(turn_i, a)
    first, second = cross(force, d), cross(a, shift)
    return force, (0.0, 0.0, 0.0), (first[0] + second[0], first[1] + second[1], first[2] + second[2])


@njit(**_options)
def rate_bias(kind, m, vectors, rate, acceleration, w_i, w_j):
    """Time derivative of measure m where the bodies' accelerations v' are zero; arguments as of ``measures.bias``."""
    force, moment_i, moment_j = wrench_change(kind, m, vectors, rate, w_i, w_j)
    return (
        dot(force, rate) + dot(moment_i, w_i) + dot(moment_j, w_j)
        + dot(row(vectors, m, A), acceleration)
    )  # fmt: skip
