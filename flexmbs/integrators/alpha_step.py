"""One step of the generalized-alpha method on the Lie group of a mechanism, compiled as a whole.

Brüls and Cardona 2010; Arnold and Brüls 2007. The unknown is the increment x of the coordinates over the step:

    q₁ = q₀ ∘ exp(x),  x = h v₀ + h² ((½-β) a₀ + β a₁),  v₁ = v₀ + h ((1-γ) a₀ + γ a₁),
    (1-α_m) a₁ + α_m a₀ = (1-α_f) v'₁ + α_f v'₀.

Newton's matrix changes little from step to step, so that its factors serve as long as corrections shrink fast: by the
ratio that is measured whenever there are two of them, and known from the last steps where there is one (Hairer and
Wanner 1996, IV.8). Where an old matrix will not do, the step begins anew with its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.joints.measures import ANGLE, pulls
from flexmbs.profiles.table import evaluate
from flexmbs.system.elimination import Factors, Plan, factor_arrays, factorise, substitute
from flexmbs.system.evaluate import evaluate_values, move
from flexmbs.system.layout import Layout
from flexmbs.system.newton import newton_system

Array = NDArray[np.float64]

_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_called: dict[str, Any] = {**_options, "no_cpython_wrapper": True}
_outer: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}
_inner: dict[str, Any] = {**_options, "forceinline": True, "no_cpython_wrapper": True}

CONVERGED, NOT_CONVERGED, NOT_FINITE = range(3)

EPS = float(np.finfo(float).eps)
SHARE = 0.1
"""Part of the tolerance left to one step: what is wrong in a position comes back in the next accelerations, larger."""
OLD = 3
"""A matrix with which more corrections than this are needed is too old."""
AGEING = 1.5
"""Growth of the ratio from step to step that is assumed where it is not measured, and its least value (``LEAST``)."""
LEAST = 0.01

ROUNDING = 300.0
"""Corrections that shrink no more but are no larger than this, in what is asked for, are the rounding of positions."""


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
    jerk: Array  # changes of a and of the multipliers in the last step, per unit of time, and those to be expected next
    change: Array
    next_jerk: Array
    next_change: Array
    turning: NDArray[np.bool_]  # (rows,) whose multiplier is a moment
    memory: Array  # the step of which the factors are (0 for none), the ratio by which corrections shrink, all mass


def alpha_work(layout: Layout, plan: Plan) -> AlphaWork:
    """Scratch for steps of a mechanism."""
    n = layout.n_v
    return AlphaWork(
        np.zeros(layout.n_q), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(layout.n_rows), np.zeros(plan.unknowns),
        factor_arrays(plan), np.zeros(n), np.zeros(layout.n_rows), np.zeros(n), np.zeros(layout.n_rows),
        np.array([not pulls(layout.measure_kind[layout.term_measure[k]]) for k in layout.row_start[:-1]], np.bool_),
        np.array([0.0, 0.0, layout.mass.sum()]),
    )  # fmt: skip


def remembered(work: AlphaWork) -> tuple[Array | NDArray[np.int64], ...]:
    """What a step takes over from those before it beside the state: trends, factors, and what is known of these."""
    factors = work.factors
    return (
        work.jerk, work.change, work.next_jerk, work.next_change, work.memory, factors.data, factors.order,
    )  # fmt: skip


@njit(**_inner)
def predict(v, a, jerk, multipliers, change, h, scale, trend, increment, scaled):
    """A first guess: a and the multipliers go on as they did in the last two steps (1), or stay as they are (0)."""
    for i in range(v.size):
        increment[i] = h * v[i] + 0.5 * h * h * a[i] + trend * scale * h * jerk[i]
    for r in range(multipliers.size):
        scaled[r] = scale * (multipliers[r] + trend * h * change[r])


@njit(**_options, forceinline=True)
def grain(q, length):
    """What rounding leaves of lengths: far from the origin, or after many turns, positions are no finer."""
    far = 0.0
    for x in q:
        far = max(far, abs(x))
    return EPS * far * max(1.0, length)


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
    strongest, length = 0.0, 0.0
    for i in range(state.v.size):
        strongest = max(strongest, weights[i] * max(abs(state.a[i]), abs(state.v[i]) / h * 1e-3))
        length = max(length, weights[i])
    # an increment off by δ makes accelerations wrong by δ/βh²: it is accelerations that count
    enough = SHARE * tolerance[0] * scale * strongest + max(tolerance[1], grain(state.q, length))
    trend = 1.0
    old = work.memory[0] == h
    ratio = work.memory[1] if old else 1.0
    before, count = 0.0, 0
    for _ in range(16):
        if trend >= 0.0:
            predict(
                state.v, state.a, work.next_jerk, state.multipliers, work.next_change, h, scale, trend,
                work.increment, work.multipliers,
            )  # fmt: skip
            trend = -1.0
        trial(state, h, coefficients, work)
        move(layout, state.q, work.increment, work.q)
        evaluate_values(layout, prescribed, state.angles, work.q, work.v, stages)
        fresh = not old and (count == 0 or count > 2)
        newton_system(
            layout, where, work.v, work.rate, work.increment, work.multipliers, scale, c_m, c_d, stages, scratch, fresh,
            work.factors.data, work.residual,
        )  # fmt: skip
        counts[0] += 1
        if fresh:
            counts[1] += 1
            factorise(plan, work.factors, 1e-12)
        substitute(plan, work.factors, work.residual)
        size, finite = 0.0, 0.0
        for b in range(layout.body_kind.size):
            for k in range(layout.body_v[b + 1] - layout.body_v[b]):
                i = layout.body_v[b] + k
                step = work.residual[where.body_unknown[b] + k]
                work.increment[i] -= step
                size = max(size, abs(step) * weights[i])
                finite += 0.0 * step  # max passes over what is not a number
        push, most = 0.0, 0.0
        for r in range(state.multipliers.size):
            step, unit = work.residual[where.row_unknown[r]], 1.0 / length if work.turning[r] else 1.0
            work.multipliers[r] -= step
            push, most = max(push, abs(step) * unit), max(most, abs(work.multipliers[r]) * unit)
        size += finite
        if count > 0:
            ratio = size / before if before > 0.0 else 0.0
        left = 1.0 if ratio >= 0.5 else ratio
        # a force too small to move anything by what counts is small enough, as where there are no reactions at all
        enough_push = 100.0 * tolerance[0] * most + work.memory[2] * enough
        stalled = count > 0 and ratio >= 0.5 and size <= ROUNDING * enough and push <= ROUNDING * enough_push
        if stalled or (size * left <= enough and push * left <= enough_push):
            work.memory[0] = h if count < OLD and not stalled else 0.0
            work.memory[1] = AGEING * max(ratio, LEAST)
            accept(layout, h, coefficients, scale, work.increment, state, work, stages)
            return CONVERGED
        before, count = size, count + 1
        if old and (not np.isfinite(size) or (count > 1 and ratio >= 0.5)):
            trend, old, count = 0.0, False, 0
        elif old and count > OLD:
            old, count = False, 0
        elif not np.isfinite(size):
            work.memory[0] = 0.0
            return NOT_FINITE
    work.memory[0] = 0.0
    return NOT_CONVERGED


@njit(**_inner)
def accept(layout, h, coefficients, scale, increment, state, work, stages):
    """Make the trial state the state; ``increment`` is that of the positions."""
    beta = coefficients[2]
    trial(state, h, coefficients, work)
    for i in range(state.v.size):
        a = (work.increment[i] / h - state.v[i] - (0.5 - beta) * h * state.a[i]) / (beta * h)
        j = (a - state.a[i]) / h
        work.next_jerk[i] = 2.0 * j - work.jerk[i]
        work.jerk[i] = j
        state.a[i] = a
        state.rate[i] = work.rate[i]
        state.v[i] = work.v[i]
    move(layout, state.q, increment, state.q)
    for r in range(state.multipliers.size):
        value = work.multipliers[r] / scale
        j = (value - state.multipliers[r]) / h
        work.next_change[r] = 2.0 * j - work.change[r]
        work.change[r] = j
        state.multipliers[r] = value
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

    The first of them is number ``first`` after t; what is reached after every ``every``-th goes into the record.
    """
    for k in range(n):
        for r in range(prescribed.shape[0]):
            prescribed[r, 0], prescribed[r, 1], prescribed[r, 2] = evaluate(
                kinds, starts, params, r, t + (first + k + 1) * h
            )
        outcome = alpha_step(
            layout, plan, where, prescribed, h, coefficients, tolerance, weights, state, work, stages, scratch, counts
        )
        if outcome != CONVERGED:
            return k, outcome
        if (first + k + 1) % every == 0:
            write(where, state, stages, record, (first + k + 1) // every - first // every - 1)
    return n, CONVERGED
