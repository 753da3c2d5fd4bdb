"""One step of the stabilised generalized-alpha method: constraints hold for positions and for velocities.

Gear, Gupta and Leimkuhler 1985; Arnold, Cardona and Brüls 2016. The velocities and the method's own variable a follow
an increment y, the positions another one, x:

    q₁ = q₀ ∘ exp(x),  y = h v₀ + h² ((½-β) a₀ + β a₁),  v₁ = v₀ + h ((1-γ) a₀ + γ a₁),
    φ(q₁) = 0,  J(q₁) v₁ = prescribed rate,  A (x - y) in the range of Jᵀ,

with A the block of Newton's matrix that belongs to the bodies, in the main the mass. x - y is of third order in h, so
that the order of the method stays two, also for multipliers. One factorisation serves both increments.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.bodies.body import RIGID
from flexmbs.integrators.alpha_step import CONVERGED, NOT_CONVERGED, NOT_FINITE, accept, grain, trial, write
from flexmbs.joints.measures import turn
from flexmbs.profiles.table import evaluate
from flexmbs.system.elimination import Plan, factorise, substitute
from flexmbs.system.evaluate import evaluate_position, retract, row_speed
from flexmbs.system.layout import Layout
from flexmbs.system.newton import newton_system
from flexmbs.system.newton_bodies import triple

Array = NDArray[np.float64]

_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_outer: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}
_inner: dict[str, Any] = {**_options, "forceinline": True, "no_cpython_wrapper": True}


class Positions(NamedTuple):
    """Scratch of what positions need beside velocities."""

    increment: Array  # x
    change: Array  # (n_v,) of x in one iteration
    residual: Array


def positions_work(layout: Layout, plan: Plan) -> Positions:
    """Scratch for steps of a mechanism."""
    return Positions(np.zeros(layout.n_v), np.zeros(layout.n_v), np.zeros(plan.unknowns))


@njit(**_inner)
def rate_residual(layout, where, prescribed, c_d, work, positions, stages):
    """What velocities still miss after the change of x, divided by c_d, as a right-hand side; bodies have none."""
    positions.residual[:] = 0.0
    for r in range(layout.row_start.size - 1):
        if where.row_active[r] and layout.row_holonomic[r]:
            miss = row_speed(layout, r, work.v, stages) - prescribed[r, 1]
            positions.residual[where.row_unknown[r]] = row_speed(layout, r, positions.change, stages) - miss / c_d


@njit(**_options, inline="always")
def stabilised_step(
    layout, plan, where, prescribed, h, coefficients, tolerance, weights, state, work, positions, stages, scratch,
    counts,
):  # fmt: skip
    """As ``alpha_step``, with velocities on the constraints too; ``work.increment`` is y."""
    alpha_m, alpha_f, beta, gamma = coefficients
    scale = beta * h * h
    c_m = (1 - alpha_m) / ((1 - alpha_f) * scale)
    c_d = gamma / (beta * h)
    n = state.v.size
    strongest, length = 0.0, 0.0
    for i in range(n):
        work.increment[i] = h * state.v[i] + 0.5 * h * h * state.a[i]
        positions.increment[i] = work.increment[i]
        strongest = max(strongest, weights[i] * max(abs(state.a[i]), abs(state.v[i]) / h * 1e-3))
        length = max(length, weights[i])
    finest = max(tolerance[1], 4.0 * grain(state.q, length))
    enough = tolerance[0] * scale * strongest + finest
    still = 100.0 * finest
    for r in range(state.multipliers.size):
        work.multipliers[r] = scale * state.multipliers[r]
    before, last = np.inf, False
    for iteration in range(12):
        trial(state, h, coefficients, work)
        retract(layout, state.q, positions.increment, work.q)
        evaluate_position(layout, prescribed, state.angles, work.q, work.v, stages)
        fresh = iteration == 0 or iteration > 2
        newton_system(
            layout, where, work.v, work.rate, positions.increment, work.multipliers, scale, c_m, c_d, stages, scratch,
            fresh, work.factors.data, work.residual,
        )  # fmt: skip
        counts[0] += 1
        if fresh:
            counts[1] += 1
            factorise(plan, work.factors, 1e-12)
        substitute(plan, work.factors, work.residual)
        for b in range(layout.body_kind.size):
            for k in range(layout.body_v[b + 1] - layout.body_v[b]):
                positions.change[layout.body_v[b] + k] = work.residual[where.body_unknown[b] + k]
        rate_residual(layout, where, prescribed, c_d, work, positions, stages)
        substitute(plan, work.factors, positions.residual)
        size, total = 0.0, 0.0
        for b in range(layout.body_kind.size):
            first, unknown = layout.body_v[b], where.body_unknown[b]
            if layout.body_kind[b] == RIGID:  # Newton's matrix has J T(x) where the velocities' rows want J
                turned = turn(scratch.tangent, b, triple(positions.residual, unknown + 3))
                for k in range(3):
                    positions.residual[unknown + 3 + k] = turned[k]
            for k in range(layout.body_v[b + 1] - first):
                i = first + k
                apart = positions.residual[unknown + k]
                positions.increment[i] -= positions.change[i]
                work.increment[i] -= positions.change[i] - apart
                size = max(size, (abs(positions.change[i]) + abs(apart)) * weights[i])
                total += positions.change[i] + apart
        for r in range(state.multipliers.size):
            k = where.row_unknown[r]
            # what velocities are moved by is a force of the rows
            work.multipliers[r] -= work.residual[k] - positions.residual[k]
        if not np.isfinite(total):
            return NOT_FINITE
        ratio = size / before if before > 0.0 else 0.0
        # velocities were put on the constraints of the last positions: where these have moved by more than rounding
        # since, they are put on those of the new ones by one more iteration
        near = size <= enough or (iteration > 0 and ratio < 0.5 and size * ratio <= enough)
        if last or (near and size <= still):
            accept(layout, h, coefficients, scale, positions.increment, state, work, stages)
            return CONVERGED
        before, last = size, near
    return NOT_CONVERGED


@njit(**_outer)
def stabilised_steps(
    layout, plan, where, kinds, starts, params, prescribed, t, h, n, coefficients, tolerance, weights,
    state, work, positions, stages, scratch, counts, first, every, record,
):  # fmt: skip
    """As ``alpha_step.steps``."""
    for k in range(n):
        for r in range(prescribed.shape[0]):
            prescribed[r, 0], prescribed[r, 1], prescribed[r, 2] = evaluate(
                kinds, starts, params, r, t + (first + k + 1) * h
            )
        outcome = stabilised_step(
            layout, plan, where, prescribed, h, coefficients, tolerance, weights, state, work, positions, stages,
            scratch, counts,
        )  # fmt: skip
        if outcome != CONVERGED:
            return k, outcome
        if (first + k + 1) % every == 0:
            write(where, state, stages, record, (first + k + 1) // every - first // every - 1)
    return n, CONVERGED
