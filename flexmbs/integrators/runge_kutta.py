"""Explicit Runge–Kutta steps of trees, compiled: with error control, or of fixed length.

The step and its error are those of SciPy's RK45 and DOP853 (Dormand and Prince 1980; Hairer, Nørsett and Wanner 1993,
II.4 to II.6), whose coefficients are read from there; RK4 is the classical method. Where there are no closing rows, the
base point moves along with every step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.integrate import DOP853, RK45

from flexmbs.integrators.closed_tree import ALL as STEP
from flexmbs.integrators.closed_tree import FINE, INEXACT, WORDS, rates
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


def _tableau(a: Any, b: Any, c: Any, errors: Any, order: int) -> Tableau:
    s = len(b)
    return Tableau(
        np.ascontiguousarray(a, float)[:s, :s].copy(), np.array(b, float), np.array(c, float)[:s],
        np.array(errors, float).reshape(-1, s + 1), order,
    )  # fmt: skip


TABLEAUS = {
    "RK4": _tableau([[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1, 0]], [1 / 6, 1 / 3, 1 / 3, 1 / 6],
                    [0, 0.5, 0.5, 1], np.zeros((0, 5)), 4),
    "RK45": _tableau(np.pad(RK45.A, ((0, 0), (0, 1))), RK45.B, RK45.C, [RK45.E], 4),
    "DOP853": _tableau(DOP853.A, DOP853.B, DOP853.C, [DOP853.E5, DOP853.E3], 7),
}  # fmt: skip


_NOTHING = _tableau(np.zeros((1, 1)), [1.0], [0.0], np.zeros((0, 2)), 1)


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
    body_coordinates(m.layout, w.work, run.q)
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
        if stage == 0 and what == STEP:
            if counts[FRESH] == 1 or not fixed:
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


def evaluate(m: Any, chart: Any, w: Any, t: float, y: Array, what: int) -> tuple[int, Array]:
    """A part of one evaluation at (t, y), see ``closed_tree.ALL``: FINE or why not, and y'."""
    n = len(y)
    run = Run(
        np.full(6, t), np.array([0, 0, 0]), y, y, np.zeros(n), np.zeros((1, n)), np.zeros(0), np.zeros(0),
        np.zeros(0, np.int64), np.zeros(0),
    )  # fmt: skip
    status = advance(m, chart, w, _NOTHING, run, 0.0, np.zeros(n + 1), t, t, 0, what)
    return int(status), run.k[0]


class Stepper:
    """Compiled steps behind the face of SciPy's steppers: t, y, status, h_abs, max_step, step and dense_output."""

    def __init__(
        self, motion: Any, method: str, t: float, y: Array, last: float, rtol: float, floor: Array, first: float | None
    ) -> None:
        self.motion, self.method, self.last, self.rtol = motion, TABLEAUS[method], last, rtol
        self.name, self.status, self.max_step = method, "running", np.inf
        n, s = len(y), len(self.method.b)
        self.floor = np.append(floor, motion.speeds)
        self.run = Run(
            np.array([t, first or 0.0, t, np.inf, t, np.inf]), np.array([0, 0, 1]), y.copy(), y.copy(), y.copy(),
            np.zeros((s + 1, n)), motion.q, motion.angles, motion.counted, motion.speed_unit,
        )  # fmt: skip
        self.run.k[0] = motion.rates(t, y)
        fastest = np.abs(motion.scratch.own.v * motion.speed_unit).max(initial=0.0)
        self.run.clock[REACH] = 1.0 / fastest if fastest > 0.0 else np.inf
        if first is None:
            self.run.clock[LENGTH] = self._first_step()

    @property
    def t(self) -> float:
        """Time."""
        return float(self.run.clock[NOW])

    @property
    def y(self) -> Array:
        """State."""
        return self.run.y.copy()

    @property
    def h_abs(self) -> float:
        """Length of the next step."""
        return float(self.run.clock[LENGTH])

    def step(self, until: float = np.inf, most: int = 1) -> int:
        """Steps, one unless more are asked for; how many were done."""
        run, motion = self.run, self.motion
        run.clock[LONGEST] = self.max_step
        counts = run.counts.copy()
        status = advance(
            motion.model, motion.chart, motion.scratch, self.method, run, self.rtol, self.floor, min(until, self.last),
            self.last, most, STEP,
        )  # fmt: skip
        motion.evaluations += int(run.counts[EVALUATIONS] - counts[EVALUATIONS])
        if status != FINE:
            self.status, motion.lost = "failed", WORDS[status]
        elif self.t >= self.last:
            self.status = "finished"
        return int(run.counts[STEPS] - counts[STEPS])

    def dense_output(self) -> Callable[[float], Array]:
        """y at any time within the last step, before the next is taken."""
        run, before, h = self.run, float(self.run.clock[BEFORE]), self.t - float(self.run.clock[BEFORE])
        y, change = run.y_old.copy(), run.y - run.y_old
        if self.name == "RK45":
            powers = run.k.T @ RK45.P

            def quartic(t: float) -> Array:
                s = (t - before) / h
                return np.asarray(y + h * powers @ s ** np.arange(1, 5))

            return quartic
        k = np.vstack([run.k, np.zeros((len(DOP853.A_EXTRA), len(y)))])
        s = len(run.k)
        for row, (a, c) in enumerate(zip(DOP853.A_EXTRA, DOP853.C_EXTRA, strict=True), start=s):
            k[row] = self.motion.rates(before + c * h, y + h * a[:row] @ k[:row])
        terms = [change, h * k[0] - change, 2 * change - h * (k[s - 1] + k[0]), *(h * DOP853.D @ k)]

        def seventh(t: float) -> Array:
            x, out = (t - before) / h, np.zeros_like(y)
            for j, term in enumerate(reversed(terms)):
                out = (out + term) * (x if j % 2 == 0 else 1 - x)
            return np.asarray(y + out)

        return seventh

    def _first_step(self) -> float:
        """Hairer, Nørsett and Wanner 1993, II.4."""
        run = self.run
        scale = self.floor[:-1].copy()
        speeds = slice(len(scale) - int(self.floor[-1]), None)
        scale[speeds] += self.rtol * np.abs(run.y[speeds])

        def size(x: Array) -> float:
            return float(np.linalg.norm(x / scale) / np.sqrt(len(x)))

        span = self.last - self.t
        d0, d1 = size(run.y), size(run.k[0])
        h = min(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1, span)
        d2 = size(self.motion.rates(self.t + h, run.y + h * run.k[0]) - run.k[0]) / h
        if d1 <= 1e-15 and d2 <= 1e-15:
            other = max(1e-6, 1e-3 * h)
        else:
            other = (0.01 / max(d1, d2)) ** (1 / (self.method.order + 1))
        return float(min(100 * h, other, span)) if np.isfinite(other) else h
