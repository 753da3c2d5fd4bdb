"""Where compiled functions meet flexible bodies.

A mechanism without flexible bodies has None for their layout. Each function here then does nothing and says False, and
Numba compiles nothing of the rest: rigid mechanisms do not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import overload

from flexmbs.bodies.body import PLANAR
from flexmbs.bodies.flexible_frames import (
    MODES,
    START,
    add_flexible_arm,
    flexible_acceleration,
    flexible_frame,
    flexible_rates,
)
from flexmbs.bodies.flexible_inertia import flexible_rows, moment_vectors
from flexmbs.bodies.flexible_tangent import add_flexible, flexible_mass
from flexmbs.vectors import turn, turn_back

_options: Any = {"error_model": "numpy", "_nrt": False}


def rigid(modal: Any) -> bool:
    """Whether the type of a layout of flexible bodies says that there are none."""
    return isinstance(modal, types.NoneType)


def keep_elastic(modal, layout, b, q, v, work):
    """Keep d and d' of body b for the stages that follow."""


@overload(keep_elastic, jit_options=_options)
def _keep_elastic(modal, layout, b, q, v, work) -> Callable[..., Any]:
    if rigid(modal):
        return lambda modal, layout, b, q, v, work: False

    def deforming(modal, layout, b, q, v, work):
        n, first, last = modal.body[b, MODES], layout.body_v[b + 1], layout.body_q[b + 1]
        for k in range(n):
            work.flexible.d[first - n + k] = q[last - n + k]
            work.flexible.d_rate[first - n + k] = v[first - n + k]
        return n > 0

    return deforming


def frame_deforms(modal, layout, f, work):
    """The stage of frames for frame f, if its body is flexible."""


@overload(frame_deforms, jit_options=_options)
def _frame_deforms(modal, layout, f, work) -> Callable[..., Any]:
    if rigid(modal):
        return lambda modal, layout, f, work: False

    def deforming(modal, layout, f, work):
        if modal.frame[f, MODES] == 0:
            return False
        flexible_frame(layout, f, work)
        return True

    return deforming


def frames_accelerate(modal, layout, work):
    """Accelerations at v' = 0 of all frames on flexible bodies."""


@overload(frames_accelerate, jit_options=_options)
def _frames_accelerate(modal, layout, work) -> Callable[..., Any]:
    if rigid(modal):
        return lambda modal, layout, work: False

    def deforming(modal, layout, work):
        for f in range(modal.frame.shape[0]):
            if modal.frame[f, MODES] > 0:
                flexible_acceleration(layout, f, work)
        return True

    return deforming


def arm_deforms(modal, layout, f, force, moment, work, tangents, factor, at, stride, data):
    """Add factor · (∂Tᵀ/∂q) w T(x) of a wrench on frame f, if its body is flexible."""


@overload(arm_deforms, jit_options=_options)
def _arm_deforms(modal, layout, f, force, moment, work, tangents, factor, at, stride, data) -> Callable[..., Any]:
    if rigid(modal):
        return lambda modal, layout, f, force, moment, work, tangents, factor, at, stride, data: False

    def deforming(modal, layout, f, force, moment, work, tangents, factor, at, stride, data):
        if modal.frame[f, MODES] == 0:
            return False
        add_flexible_arm(layout, f, force, moment, work, tangents, factor, at, stride, data)
        return True

    return deforming


def rates_deform(modal, layout, f, work, out):
    """Add to out (6, ·) how the twist of frame f changes with the elastic coordinates; the number of these."""


@overload(rates_deform, jit_options=_options)
def _rates_deform(modal, layout, f, work, out) -> Callable[..., Any]:
    if rigid(modal):
        return lambda modal, layout, f, work, out: 0

    def deforming(modal, layout, f, work, out):
        n = modal.frame[f, MODES]
        if n:
            flexible_rates(layout, f, work, out)
        return n

    return deforming


def body_deforms(
    modal, layout, b, v, rate, unknown, at, stride, scale, c_m, c_d, work, tangents, matrix, data, residual
):
    """Residual and, with ``matrix``, derivative of the equations of body b, if it is flexible."""


@overload(body_deforms, jit_options=_options)
def _body_deforms(
    modal, layout, b, v, rate, unknown, at, stride, scale, c_m, c_d, work, tangents, matrix, data, residual
) -> Callable[..., Any]:
    if rigid(modal):

        def stiff(
            modal, layout, b, v, rate, unknown, at, stride, scale, c_m, c_d, work, tangents, matrix, data, residual
        ):
            return False

        return stiff

    def deforming(
        modal, layout, b, v, rate, unknown, at, stride, scale, c_m, c_d, work, tangents, matrix, data, residual
    ):
        n = modal.body[b, MODES]
        if n == 0:
            return False
        first, constants, g = layout.body_v[b], modal.constants, layout.gravity
        elastic, start, planar = layout.body_v[b + 1] - n, modal.body[b, START], layout.body_kind[b] == PLANAR
        table, small, d = work.flexible.table, work.flexible.small, work.flexible.d
        if planar:
            w, e = (0.0, 0.0, v[first + 2]), (0.0, 0.0, rate[first + 2])
            a = rate[first] - g[0], rate[first + 1] - g[1], 0.0
        else:
            w, e = (v[first + 3], v[first + 4], v[first + 5]), (rate[first + 3], rate[first + 4], rate[first + 5])
            a = rate[first] - g[0], rate[first + 1] - g[1], rate[first + 2] - g[2]
        a = turn_back(work.rotation, b, a)
        moment_vectors(constants, start, n, d, elastic, v, rate, elastic, matrix, table)
        force, moment, s, s1 = flexible_rows(
            constants, start, n, w, e, a, d, elastic, v, rate, elastic, table, small,
            residual, unknown + elastic - first, scale,
        )  # fmt: skip
        push = turn(work.rotation, b, force)
        for i in range(2 if planar else 3):
            residual[unknown + i] = scale * push[i]
        if planar:
            residual[unknown + 2] = scale * moment[2]
        else:
            for i in range(3):
                residual[unknown + 3 + i] = scale * moment[i]
        if matrix:
            add_flexible(
                constants, start, n, w, e, a, s, s1, force, table, small, work.rotation, tangents, b, planar,
                scale, c_m, c_d, at, stride, data,
            )  # fmt: skip
        return True

    return deforming


def inertia_deforms(modal, layout, b, v, work, mass, force):
    """Mass matrix of body b and its force f = Q - h of weight, velocities and elasticity, if it is flexible."""


@overload(inertia_deforms, jit_options=_options)
def _inertia_deforms(modal, layout, b, v, work, mass, force) -> Callable[..., Any]:
    if rigid(modal):
        return lambda modal, layout, b, v, work, mass, force: False

    def deforming(modal, layout, b, v, work, mass, force):
        n = modal.body[b, MODES]
        if n == 0:
            return False
        first, constants, g = layout.body_v[b], modal.constants, layout.gravity
        elastic, start, planar = layout.body_v[b + 1] - n, modal.body[b, START], layout.body_kind[b] == PLANAR
        table, small, still = work.flexible.table, work.flexible.small, work.flexible.still
        w, a = (v[first + 3], v[first + 4], v[first + 5]), (-g[0], -g[1], -g[2])
        if planar:
            w, a = (0.0, 0.0, v[first + 2]), (-g[0], -g[1], 0.0)
        a = turn_back(work.rotation, b, a)
        moment_vectors(constants, start, n, work.flexible.d, elastic, v, still, elastic, False, table)
        push, moment, s, _ = flexible_rows(
            constants, start, n, w, (0.0, 0.0, 0.0), a, work.flexible.d, elastic, v, still, elastic, table, small,
            force, elastic - first, -1.0,
        )  # fmt: skip
        flexible_mass(constants, start, n, s, table, small, work.rotation, b, planar, mass)
        push = turn(work.rotation, b, push)
        for i in range(2 if planar else 3):
            force[i] = -push[i]
        if planar:
            force[2] = -moment[2]
        else:
            for i in range(3):
                force[3 + i] = -moment[i]
        return True

    return deforming
