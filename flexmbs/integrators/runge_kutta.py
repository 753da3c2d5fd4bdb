"""Explicit Runge–Kutta steps of trees, compiled: with error control, or of fixed length.

The step and its error are those of SciPy's RK45 and DOP853 (Dormand and Prince 1980; Hairer, Nørsett and Wanner 1993,
II.4 to II.6), whose coefficients are read from there; RK4 is the classical method. Where there are no closing rows, the
base point moves along with every step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.integrators.closed_tree import ALL as STEP
from flexmbs.integrators.closed_tree import FINE, INEXACT, rates
from flexmbs.system.tree_kinematics import BALL, body_coordinates, tree_retract

Array = NDArray[np.float64]

_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_inlined: dict[str, Any] = {**_options, "inline": "always"}

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
NOW, LENGTH, BEFORE, LONGEST, START, REACH = range(6)
"""Entries of the clock: time, length of the next step, time before the last step, longest step, start, reach."""
STEPS, EVALUATIONS, FRESH = range(3)
"""Entries of the counts; the last says whether k[0] belongs to the state."""


class Tableau(NamedTuple):
    """Coefficients of a method with s stages; ``errors`` has one row of weights, or two (fifth and third order)."""

    a: Array
    b: Array
    c: Array
    errors: Array
    order: int  # of the error estimate


class Run(NamedTuple):
    """What a run changes, beside the base point and the scratch."""

    clock: Array
    counts: NDArray[np.int64]
    y: Array
    y_old: Array
    y_new: Array
    k: Array  # (s + 1, n) rates at the stages; the last at the end of the step
    q: Array  # coordinates of all bodies after the last step
    angles: Array  # of the whole system, with their turns
    counted: NDArray[np.int64]  # which of them each angle of the tree's layout is; -1 for other measures
    speed_unit: Array  # (n_v,) velocities at which the step is one second at most; 0 where they do not count


@njit(**_inlined)
def rebased(m, chart, run):
    """Count increments from the present state: speeds of balls are then their rates."""
    tree, n = m.tree, m.tree.kind.size
    for c in range(n):
        run.y[c] *= m.unit[c]
    tree_retract(tree, chart.base, run.y, chart.base)
    for c in range(n):
        run.y[c] = 0.0
        if tree.kind[c] == BALL:
            for i in range(3):
                run.k[0, c + i] = run.y[n + c + i]


@njit(**_inlined)
def settled(m, w, run):
    """After a step: coordinates next to those before, angles with their turns, and the longest next step."""
    body_coordinates(m.tree, m.layout.body_q, w.own, run.q)
    for k in range(run.counted.size):
        if run.counted[k] >= 0:
            w.reference[k] = w.work.measure[k]
            run.angles[run.counted[k]] = w.work.measure[k]
    fastest = 0.0
    for i in range(run.speed_unit.size):
        fastest = max(fastest, run.speed_unit[i] * abs(w.own.v[i]))
    run.clock[REACH] = 1.0 / fastest if fastest > 0.0 else np.inf


@njit(**_inlined)
def between(method, run, s, h):
    """y at stage s of a step of length h; at the beginning for s = 0, at the end for the stage after the last."""
    count = method.b.size
    for i in range(run.y.size):
        total = 0.0
        for j in range(s):
            total += (method.a[s, j] if s < count else method.b[j]) * run.k[j, i]
        run.y_new[i] = run.y[i] + h * total


@njit(**_inlined)
def error_norm(method, run, h, rtol, floor):
    """Size of the step's error; less than one is accepted."""
    n, count = run.y.size, method.b.size
    first, second = 0.0, 0.0
    for i in range(n):
        scale = floor[i]
        if i >= n - floor[n]:  # speeds count against themselves, positions against the mechanism's size
            scale += rtol * max(abs(run.y[i]), abs(run.y_new[i]))
        one, two = 0.0, 0.0
        for s in range(count + 1):
            one += method.errors[0, s] * run.k[s, i]
            if method.errors.shape[0] > 1:
                two += method.errors[1, s] * run.k[s, i]
        first += (one / scale) ** 2
        second += (two / scale) ** 2
    if method.errors.shape[0] == 1:
        return h * np.sqrt(first / n)
    if first == 0.0 and second == 0.0:
        return 0.0
    return h * first / np.sqrt((first + 0.01 * second) * n)


@njit(**_options)
def advance(m, chart, w, method, run, rtol, floor, until, last, most, what):
    """Steps until a time is reached, at most ``most``, none beyond ``last``; FINE, or why one cannot be taken.

    A method without error weights takes steps of fixed length. With ``what`` a part of an evaluation (see
    ``closed_tree.ALL``), only that is done, at the time ``until`` and y, with y' into k[0]. All this is one function,
    and the stages of a step one loop, so that the rates are compiled once and into one place: the stage after the last
    is the state at the end, from which the next step begins.
    """
    clock, counts, count = run.clock, run.counts, method.b.size
    fixed = method.errors.shape[0] == 0
    goal = counts[STEPS] + most
    stage, t, end, length, smallest, rejected, why = 0, clock[NOW], clock[NOW], 0.0, 0.0, False, INEXACT
    while True:
        # at the state from which a step begins; with fixed steps its rates are still to be found
        if stage == 0 and what == STEP and (counts[FRESH] == 1 or not fixed):
            if counts[STEPS] >= goal or clock[NOW] >= until:
                return FINE
            if counts[FRESH] == 0:
                for i in range(run.y.size):
                    run.k[0, i] = run.k[count, i]
            counts[FRESH] = 1
            if w.rows.shape[0] == 0:
                rebased(m, chart, run)
            t = clock[NOW]
            smallest = 10.0 * (np.nextafter(t, np.inf) - t)
            length = max(min(clock[LENGTH], clock[LONGEST], clock[REACH]), smallest)
            rejected, stage = False, 1
            end = min(t + length, last)
            if fixed:
                end = clock[START] + (counts[STEPS] + 1) * clock[LENGTH]
                if end > last - 1e-6 * clock[LENGTH]:
                    end = last
        h = end - t
        between(method, run, stage, h)
        status = FINE
        if stage < count or not fixed:
            counts[EVALUATIONS] += 1
            now = end if stage == count or stage == 0 else t + method.c[stage] * h
            if what != STEP:
                now = until
            status = rates(m, chart, w, now, run.y_new, run.k[stage], what)
        if what != STEP:
            return status
        if status != FINE:
            why, length, rejected, stage = status, h * SHRINK, True, 1
            if fixed or length < smallest:
                return why
            end = t + length
        elif stage == 0:
            counts[FRESH] = 1
            settled(m, w, run)
        elif stage < count:
            stage += 1
        else:
            error = 0.0 if fixed else error_norm(method, run, h, rtol, floor)
            factor = GROW if error == 0.0 else min(GROW, SAFETY * error ** (-1.0 / (method.order + 1)))
            if error < 1.0:
                if not fixed:
                    clock[LENGTH] = h * (min(1.0, factor) if rejected else factor)
                clock[BEFORE], clock[NOW], counts[FRESH], stage = t, end, 0, 0
                counts[STEPS] += 1
                for i in range(run.y.size):
                    run.y_old[i], run.y[i] = run.y[i], run.y_new[i]
                if not fixed:
                    settled(m, w, run)
            else:
                length, rejected, stage = h * max(SHRINK, factor), True, 1
                if not length >= smallest:
                    return why
                end = t + length
