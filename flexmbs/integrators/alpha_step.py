"""One step of the generalized-alpha method on the Lie group of a mechanism, compiled as a whole.

Brüls and Cardona 2010; Arnold and Brüls 2007. The unknown is the increment x of the coordinates over the step:

    q₁ = q₀ ∘ exp(x),  x = h v₀ + h² ((½-β) a₀ + β a₁),  v₁ = v₀ + h ((1-γ) a₀ + γ a₁),
    (1-α_m) a₁ + α_m a₀ = (1-α_f) v'₁ + α_f v'₀.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.joints.measures import ANGLE
from flexmbs.profiles.table import evaluate
from flexmbs.system.elimination import Factors, Plan, factor_arrays, factorise, substitute
from flexmbs.system.evaluate import evaluate_position, retract
from flexmbs.system.layout import Layout
from flexmbs.system.newton import newton_system

Array = NDArray[np.float64]

_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_called: dict[str, Any] = {**_options, "no_cpython_wrapper": True}
_outer: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}
_inner: dict[str, Any] = {**_options, "forceinline": True, "no_cpython_wrapper": True}

CONVERGED, NOT_CONVERGED, NOT_FINITE = range(3)


class AlphaState(NamedTuple):
    """What a step starts from and leaves behind, changed in place."""

    q: Array
    v: Array
    rate: Array  # v'
    a: Array  # the method's own acceleration-like variable
    multipliers: Array  # λ
    angles: Array  # values near which angles are counted


def record_widths(layout: Layout) -> tuple[int, ...]:
    """Columns of a recorded state: q, v, v', λ, angles, and how far rows left out as redundant miss."""
    return layout.n_q, layout.n_v, layout.n_v, layout.n_rows, len(layout.measure_kind), 1


class AlphaWork(NamedTuple):
    """Scratch of a step."""

    q: Array
    v: Array
    rate: Array
    increment: Array
    multipliers: Array  # scaled, λ̂
    residual: Array
    factors: Factors


def alpha_work(layout: Layout, plan: Plan) -> AlphaWork:
    """Scratch for steps of a mechanism."""
    n = layout.n_v
    return AlphaWork(
        np.zeros(layout.n_q), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(layout.n_rows), np.zeros(plan.unknowns),
        factor_arrays(plan),
    )  # fmt: skip


@njit(**_inner)
def trial(state, h, coefficients, work):
    """Velocities and their rates that belong to the increment x."""
    alpha_m, alpha_f, beta, gamma = coefficients
    for i in range(state.v.size):
        a = (work.increment[i] / h - state.v[i] - (0.5 - beta) * h * state.a[i]) / (beta * h)
        work.v[i] = state.v[i] + h * ((1 - gamma) * state.a[i] + gamma * a)
        work.rate[i] = ((1 - alpha_m) * a + alpha_m * state.a[i] - alpha_f * state.rate[i]) / (1 - alpha_f)


@njit(**_options, inline="always")
def alpha_step(
    layout, plan, where, prescribed, h, coefficients, tolerance, weights, state, work, stages, scratch, counts
):
    """Advance ``state`` by h; returns an outcome, and leaves the state as it was where it failed.

    ``prescribed`` are the rows' right-hand sides at the new time; ``weights`` turn increments into lengths;
    ``tolerance`` holds the relative error of accelerations and the smallest length that counts. ``counts`` adds up
    Newton iterations and factorisations.
    """
    alpha_m, alpha_f, beta, gamma = coefficients
    scale = beta * h * h
    c_m = (1 - alpha_m) / ((1 - alpha_f) * scale)
    c_d = gamma / (beta * h)
    n = state.v.size
    strongest = 0.0
    for i in range(n):  # predictor: a stays as it is
        work.increment[i] = h * state.v[i] + 0.5 * h * h * state.a[i]
        strongest = max(strongest, weights[i] * max(abs(state.a[i]), abs(state.v[i]) / h * 1e-3))
    # an increment off by δ makes accelerations wrong by δ/βh²: it is accelerations that count
    enough = tolerance[0] * scale * strongest + tolerance[1]
    for r in range(state.multipliers.size):
        work.multipliers[r] = scale * state.multipliers[r]
    before = np.inf
    for iteration in range(12):
        trial(state, h, coefficients, work)
        retract(layout, state.q, work.increment, work.q)
        evaluate_position(layout, prescribed, state.angles, work.q, work.v, stages)
        fresh = iteration == 0 or iteration > 2
        newton_system(
            layout, where, work.v, work.rate, work.increment, work.multipliers, scale, c_m, c_d, stages, scratch, fresh,
            work.factors.data, work.residual,
        )  # fmt: skip
        counts[0] += 1
        if fresh:
            counts[1] += 1
            factorise(plan, work.factors, 1e-12)
        substitute(plan, work.factors, work.residual)
        size = 0.0
        for b in range(layout.body_kind.size):
            for k in range(layout.body_v[b + 1] - layout.body_v[b]):
                i = layout.body_v[b] + k
                step = work.residual[where.body_unknown[b] + k]
                work.increment[i] -= step
                size = max(size, abs(step) * weights[i])
        for r in range(state.multipliers.size):
            work.multipliers[r] -= work.residual[where.row_unknown[r]]
        if not np.isfinite(size):
            return NOT_FINITE
        # the matrix is that of the first iterate: each further correction shrinks by a known ratio
        ratio = size / before if before > 0.0 else 0.0
        if size <= enough or (iteration > 0 and ratio < 0.5 and size * ratio <= enough):
            total = 0.0
            for i in range(n):  # max() forgets what is undefined, a sum does not
                total += work.increment[i]
            if not np.isfinite(total):
                return NOT_FINITE
            accept(layout, h, coefficients, scale, work.increment, state, work, stages)
            return CONVERGED
        before = size
    return NOT_CONVERGED


@njit(**_inner)
def accept(layout, h, coefficients, scale, increment, state, work, stages):
    """Make the trial state the state; ``increment`` is that of the positions."""
    beta = coefficients[2]
    trial(state, h, coefficients, work)
    for i in range(state.v.size):
        state.a[i] = (work.increment[i] / h - state.v[i] - (0.5 - beta) * h * state.a[i]) / (beta * h)
        state.rate[i] = work.rate[i]
        state.v[i] = work.v[i]
    retract(layout, state.q, increment, state.q)
    for r in range(state.multipliers.size):
        state.multipliers[r] = work.multipliers[r] / scale
    for m in range(layout.measure_kind.size):
        if layout.measure_kind[m] == ANGLE:
            state.angles[m] = stages.measure[m]


@njit(**_inner)
def copied(source, record, at, first):
    """Copy into row ``at`` of the record from column ``first`` on; the column after it."""
    for i in range(source.size):
        record[at, first + i] = source[i]
    return first + source.size


@njit(**_called)
def write(where, state, stages, record, at):
    """Row ``at`` of the record becomes the state, see ``record_widths``."""
    column = copied(state.q, record, at, 0)
    column = copied(state.v, record, at, column)
    column = copied(state.rate, record, at, column)
    column = copied(state.multipliers, record, at, column)
    column = copied(state.angles, record, at, column)
    missing = 0.0
    for r in range(state.multipliers.size):
        if not where.row_active[r]:
            missing = max(missing, abs(stages.phi[r]))
    record[at, column] = missing


@njit(**_outer)
def steps(
    layout, plan, where, kinds, starts, params, prescribed, t, h, n, coefficients, tolerance, weights,
    state, work, stages, scratch, counts, first, every, record,
):  # fmt: skip
    """n steps of length h; returns how many were done and the outcome of the last.

    The first of them is number ``first``; what is reached after every ``every``-th goes into the record.
    """
    for k in range(n):
        for r in range(prescribed.shape[0]):
            prescribed[r, 0], prescribed[r, 1], prescribed[r, 2] = evaluate(kinds, starts, params, r, t + (k + 1) * h)
        outcome = alpha_step(
            layout, plan, where, prescribed, h, coefficients, tolerance, weights, state, work, stages, scratch, counts
        )
        if outcome != CONVERGED:
            return k, outcome
        if (first + k + 1) % every == 0:
            write(where, state, stages, record, (first + k + 1) // every - first // every - 1)
    return n, CONVERGED
