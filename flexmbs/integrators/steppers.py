"""Steppers of trees behind the face of SciPy's: compiled, with error control or of fixed length; and in Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy  # its parts are imported when first used: integrate alone takes a tenth of a second
from numpy.typing import NDArray

from flexmbs.integrators.closed_tree import ALL as STEP
from flexmbs.integrators.closed_tree import FINE, WORDS
from flexmbs.integrators.runge_kutta import (
    BEFORE,
    EVALUATIONS,
    LENGTH,
    LONGEST,
    NOW,
    REACH,
    STEPS,
    Run,
    Tableau,
    advance,
)

Array = NDArray[np.float64]


def _tableau(a: Any, b: Any, c: Any, errors: Any, order: int) -> Tableau:
    s = len(b)
    return Tableau(
        np.ascontiguousarray(a, float)[:s, :s].copy(), np.array(b, float), np.array(c, float)[:s],
        np.array(errors, float).reshape(-1, s + 1), order,
    )  # fmt: skip


METHODS = ("RK4", "RK45", "DOP853")
NOTHING = _tableau(np.zeros((1, 1)), [1.0], [0.0], np.zeros((0, 2)), 1)


@cache
def tableau(method: str) -> Tableau:
    """Coefficients of one of ``METHODS``; those with error control are SciPy's."""
    if method == "RK4":
        a = [[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1, 0]]
        return _tableau(a, [1 / 6, 1 / 3, 1 / 3, 1 / 6], [0, 0.5, 0.5, 1], np.zeros((0, 5)), 4)
    if method == "RK45":
        own = scipy.integrate.RK45
        return _tableau(np.pad(own.A, ((0, 0), (0, 1))), own.B, own.C, [own.E], 4)
    own = scipy.integrate.DOP853
    return _tableau(own.A, own.B, own.C, [own.E5, own.E3], 7)


def fixed_tableau(method: str) -> Tableau:
    """The method without its error estimate, which makes its steps equal."""
    whole = tableau(method)
    return whole._replace(errors=np.zeros((0, len(whole.b) + 1)))


def cubic(motion: Any, before: float, y: Array, now: float, end: Array) -> Callable[[float], Array]:
    """Hermite's interpolation between two states."""
    h, first, last = now - before, motion.rates(before, y), motion.rates(now, end)

    def curve(t: float) -> Array:
        s = (t - before) / h
        change = end - y
        bend = s * (1 - s) * ((1 - 2 * s) * -change + h * ((1 - s) * first - s * last))
        return np.asarray(y + s * change + bend)

    return curve


def evaluate(m: Any, chart: Any, w: Any, t: float, y: Array, what: int) -> tuple[int, Array]:
    """A part of one evaluation at (t, y), see ``closed_tree.ALL``: FINE or why not, and y'."""
    n = len(y)
    run = Run(
        np.full(6, t), np.array([0, 0, 0]), y, y, np.zeros(n), np.zeros((1, n)), np.zeros(0), np.zeros(0),
        np.zeros(0, np.int64), np.zeros(0),
    )  # fmt: skip
    status = advance(m, chart, w, NOTHING, run, 0.0, np.zeros(n + 1), t, t, 0, what)
    return int(status), run.k[0]


class Stepper:
    """Compiled steps behind the face of SciPy's steppers: t, y, status, h_abs, max_step, step and dense_output.

    With ``fixed``, all steps have the length ``first``.
    """

    def __init__(
        self,
        motion: Any,
        method: str,
        t: float,
        y: Array,
        last: float,
        rtol: float,
        floor: Array,
        first: float | None,
        fixed: bool = False,
    ) -> None:
        self.motion, self.last, self.rtol, self.fixed = motion, last, rtol, fixed
        self.method = fixed_tableau(method) if fixed else tableau(method)
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
        if self.fixed:
            return cubic(self.motion, before, y, self.t, run.y.copy())
        if self.name == "RK45":
            powers = run.k.T @ scipy.integrate.RK45.P

            def quartic(t: float) -> Array:
                s = (t - before) / h
                return np.asarray(y + h * powers @ s ** np.arange(1, 5))

            return quartic
        own = scipy.integrate.DOP853
        k = np.vstack([run.k, np.zeros((len(own.A_EXTRA), len(y)))])
        s = len(run.k)
        for row, (a, c) in enumerate(zip(own.A_EXTRA, own.C_EXTRA, strict=True), start=s):
            k[row] = self.motion.rates(before + c * h, y + h * a[:row] @ k[:row])
        terms = [change, h * k[0] - change, 2 * change - h * (k[s - 1] + k[0]), *(h * own.D @ k)]

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


class PythonSteps:
    """Steps of fixed length for motions that call Python functions, or have no tree."""

    def __init__(self, motion: Any, method: str, t: float, y: Array, last: float, length: float) -> None:
        self.motion, self.method, self.t, self.y, self.last, self.h_abs = motion, tableau(method), t, y, last, length
        self.status, self.max_step = "running", np.inf
        self.before = (t, y)

    def step(self) -> None:
        """One step."""
        method, t = self.method, self.t
        end = self.last if t + self.h_abs > self.last - 1e-6 * self.h_abs else t + self.h_abs
        k: list[Array] = []
        for s in range(len(method.b)):
            change = sum((a * rate for a, rate in zip(method.a[s], k, strict=False)), np.zeros_like(self.y))
            k.append(self.motion.rates(t + method.c[s] * (end - t), self.y + (end - t) * change))
        y = self.y + (end - t) * (method.b @ np.array(k))
        if not np.isfinite(y).all():
            self.status = "failed"
            return
        self.before, self.t, self.y = (t, self.y), end, y

    def dense_output(self) -> Callable[[float], Array]:
        """y at any time within the last step."""
        return cubic(self.motion, *self.before, self.t, self.y)
