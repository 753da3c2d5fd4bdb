"""One run of the generalized-alpha method: its arrays, compiled steps in chunks, kinks, halved steps, words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import SolverError
from flexmbs.integrators.alpha_step import (
    NOT_CONVERGED,
    NOT_FINITE,
    AlphaState,
    alpha_work,
    record_widths,
    remembered,
    steps,
)
from flexmbs.integrators.history import History, Snapshot
from flexmbs.integrators.stabilised_step import positions_work, stabilised_steps
from flexmbs.profiles.table import ProfileTable
from flexmbs.system.evaluate import Work, work_arrays
from flexmbs.system.newton import scratch_arrays
from flexmbs.system.saddle import accelerations, impulse
from flexmbs.system.state import State

Array = NDArray[np.float64]

HALVINGS = 10
RELINEARISATIONS = 20
LEFT_OUT = 1e-6
"""Farthest, relative to the mechanism's size, that a row left out as redundant may miss."""
CHUNK = 512
"""Steps in one call of compiled code: Python hears of Ctrl-C between calls only."""
ROOM = 2_000_000
"""Numbers that one call may record."""
SNAP = 1e-4
"""A kink nearer to the end of a step than this part of it counts as there: shorter steps suffer from rounding."""
ON_THEM, OFF_THEM = 1e-9, 1e-3
"""Parts of the speed by which velocities may miss constraints: as good as on them; where positions alone are held."""
NEVER = 1 << 62
REFUSED = 3
"""Outcome of a step beside those of compiled ones: a Python function failed."""


@dataclass(frozen=True, eq=False)
class Carried:
    """What the method itself needs beside q, v and angles to go on as if it had not stopped."""

    method: Any
    step: float
    rate: Array
    a: Array
    multipliers: Array
    remembered: tuple[Any, ...]

    def fits(self, method: Any, step: float) -> bool:
        """Whether a run of this method and step can go on with it."""
        return bool(self.method == method and abs(self.step - step) <= 1e-9 * step)


class AlphaRun:
    """The arrays of one run, and what can be done with them."""

    def __init__(self, method: Any, system: Any, start: State, h: float) -> None:
        self.system, self.method, self.h = system, method, h
        self.layout, self.plan, self.where = system.independent
        self.table: ProfileTable = system.table
        self.params = self.table.params.copy()
        if system.functions:  # the factors of functions are its own
            self.layout = self.layout._replace(term_factor=self.layout.term_factor.copy())
        self.users = len(system.user_forces) > 0 or bool(system.functions)
        n, rows = self.layout.n_v, self.layout.n_rows
        self.state = AlphaState(
            start.q.copy(), start.v.copy(), np.zeros(n), np.zeros(n), np.zeros(rows), start.angles.copy()
        )
        self.work = alpha_work(self.layout, self.plan)
        self.positions = positions_work(self.layout, self.plan)
        self.stages, self.scratch = work_arrays(self.layout), scratch_arrays(self.layout, self.where)
        self.weights = system.length_weights
        self.tolerance = (method.tolerance, 1e-15 * system.walked[1])
        self.prescribed = np.zeros((len(system.profiles), 3))
        self.counts = np.zeros(2, dtype=np.int64)
        self.said = ""  # by a Python function that failed
        self.passed: list[tuple[Snapshot, Snapshot]] = []  # states on both sides of the kinks of a step, and at its end
        self.widths = record_widths(self.layout)
        self.rows = max(1, min(CHUNK, ROOM // sum(self.widths)))
        self.record = np.zeros((self.rows + 1, sum(self.widths)))
        if isinstance(start.carried, Carried) and start.carried.fits(method, h):
            for name in ("rate", "a", "multipliers"):
                getattr(self.state, name)[:] = getattr(start.carried, name)
            for mine, carried in zip(remembered(self.work), start.carried.remembered, strict=True):
                mine[:] = carried
        else:
            self.settle(start.t, h, ON_THEM if method.stabilised else OFF_THEM)

    # ---- steps ------------------------------------------------------------------------------------------------

    def advance(self, t: float, h: float, n: int, first: int = 0, every: int = NEVER) -> tuple[int, int]:
        """n steps from number ``first`` on, counted from t; how many were done, and what stopped them (0 for nothing).

        Those that end at multiples of ``every`` are recorded. Counted so, times do not depend on how steps are called.
        """
        if not self.table.callbacks and not self.users:
            return self._steps(t, h, n, first, every, self.record)
        row = 0
        for k in range(n):  # Python functions of time end the compiled loop
            problem = self._python_step(t, h, first + k, every, self.record[row:])
            if problem:
                return k, problem
            row += (first + k + 1) % every == 0
        return n, 0

    def _python_step(self, t: float, h: float, first: int, every: int, record: Array) -> int:
        """A step of a model with Python functions; where one of them fails, the state is as it was."""
        saved = [a.copy() for a in self.state]
        try:
            self.table.refresh(self.params, t + (first + 1) * h)
            if self.users:
                return self._user_step(t, h, first, every, record)
            return self._steps(t, h, 1, first, every, record)[1]
        except (ArithmeticError, ValueError, SolverError) as error:
            self.said = str(error)
            for array, old in zip(self.state, saved, strict=True):
                array[:] = old
            return REFUSED

    def _user_step(self, t: float, h: float, first: int, every: int, record: Array) -> int:
        """A step in which Python functions are linearised about the prediction, again until they are what they say."""
        forces, functions, state = self.system.user_forces, self.system.functions, self.state
        tolerance, size = self.method.tolerance, self.system.walked[1]
        saved = [a.copy() for a in state]
        end = t + (first + 1) * h
        q, v, a = saved[0], saved[1], saved[3]
        x, v = h * v + 0.5 * h * h * a, v + h * a
        increment = self.positions.increment if self.method.stabilised else self.work.increment
        rows = functions.at(self.system, end, self.system.retract(q, x), v, saved[-1]) if functions else None
        for _ in range(RELINEARISATIONS):
            if len(forces):
                forces.linearise(end, q, x, v, size, self.stages.forces)
            if rows is not None:
                rows.write(self.layout, self.table, self.params)
            _, problem = self._steps(t, h, 1, first, every, record)
            if problem:
                return problem
            x, v = increment.copy(), state.v.copy()
            settled = not len(forces) or forces.missing(end, state.q, v, x, self.stages.forces) <= tolerance
            if rows is not None:
                before, rows = rows, functions.at(self.system, end, state.q, v, saved[-1])
                settled = settled and rows.settled(before, tolerance, size)
            if settled:
                return 0
            for array, old in zip(state, saved, strict=True):
                array[:] = old
        return int(NOT_CONVERGED)

    def _steps(self, t: float, h: float, n: int, first: int, every: int, record: Array) -> tuple[int, int]:
        given = (
            self.layout, self.plan, self.where, self.table.kinds, self.table.starts, self.params, self.prescribed,
            t, h, n, self.method.coefficients, self.tolerance, self.weights, self.state, self.work,
        )  # fmt: skip
        rest = self.stages, self.scratch, self.counts, first, every, record
        if self.method.stabilised:
            done, problem = stabilised_steps(*given, self.positions, *rest)
        else:
            done, problem = steps(*given, *rest)
        return int(done), int(problem)

    def rescue(self, t: float, h: float) -> bool:
        """One step of length h in ever smaller parts."""
        saved = [a.copy() for a in self.state]
        for k in range(1, HALVINGS + 1):
            _, problem = self.advance(t, h / 2**k, 2**k)
            if not problem:
                if self.method.stabilised:
                    self.settle(t + h, h)
                return True
            for array, old in zip(self.state, saved, strict=True):
                array[:] = old
        return False

    def across(self, t: float, h: float, breaks: list[tuple[float, float]]) -> int:
        """One step of length h through kinks, at each of which the method starts anew; what stopped it."""
        begin, self.passed = t, []
        ends = breaks if breaks[-1][0] == t + h else [*breaks, (t + h, t + h)]
        for end, after in ends:
            part = end - self._margin(end) - begin  # profiles give the side before the kink
            _, problem = self.advance(begin, part, 1)
            if problem and not self.rescue(begin, part):
                return problem
            before = self.snapshot(end)
            self.settle(after, h)
            self.passed.append((before, self.snapshot(end)))
            begin = end
        return 0

    def breaks(self, t: float, total: int) -> dict[int, list[tuple[float, float]]]:
        """Steps with kinks: where each has to be interrupted, and from when on profiles are read after it."""
        h, out = self.h, {}  # type: float, dict[int, list[tuple[float, float]]]
        for kink in sorted({float(k) for p in self.system.profiles for k in p.kinks if t < k < t + total * self.h}):
            step = int((kink - t) / h)
            part = (kink - t) / h - step
            if part < SNAP:
                step, end = step - 1, t + step * h
            else:
                end = t + (step + 1) * h if part > 1 - SNAP else kink
            if not 0 <= step < total:
                continue
            mine = out.setdefault(step, [])
            if mine and end - mine[-1][0] < SNAP * h:
                mine.pop()
            mine.append((end, max(kink, end)))
        return out

    # ---- starting ---------------------------------------------------------------------------------------------

    def settle(self, t: float, h: float, allowed: float = ON_THEM) -> None:
        """Velocities on the constraints, accelerations, multipliers and a as they are just after t.

        Velocities stay as they are if they miss the constraints by less than the part ``allowed`` of themselves.
        """
        state, just_after = self.state, t + self._margin(t)
        work = self._evaluated(just_after, state.q, state.v)
        missing = np.abs(np.where(self.where.row_active, work.phi_rate, 0.0)).max(initial=0.0)
        if missing > allowed * max(1.0, float(np.abs(state.v).max(initial=0.0))):
            state.v[:] += impulse(self.layout, self.plan, self.where, state.v, work)
            work = self._evaluated(just_after, state.q, state.v)
        state.rate[:], state.multipliers[:] = accelerations(self.layout, self.plan, self.where, state.v, work)
        state.a[:] = self._start_of_a(just_after, h)

    def _start_of_a(self, t: float, h: float) -> Array:
        """a, which stands for v' at t + (α_m - α_f) h: with v' itself multipliers begin with an error of first order.

        The instant lies before t, where the motion may have been another: the change of v' is taken from after t.
        """
        state, (alpha_m, alpha_f, _, _) = self.state, self.method.coefficients
        if not self.method.stabilised:
            return state.rate
        later = []
        for ahead in ((alpha_f - alpha_m) * h / 2, (alpha_f - alpha_m) * h):
            q = self.system.retract(state.q, ahead * state.v + 0.5 * ahead**2 * state.rate)
            v = state.v + ahead * state.rate
            work = self._evaluated(t + ahead, q, v)
            later.append(accelerations(self.layout, self.plan, self.where, v, work)[0] - state.rate)
        half, whole = (np.abs(change * self.weights) for change in (2 * later[0] - later[1], later[1]))
        if not half.max(initial=0.0) <= 0.5 * whole.max(initial=0.0):  # the step does not resolve how v' changes
            return state.rate
        return state.rate - later[1]

    def _evaluated(self, t: float, q: Array, v: Array) -> Work:
        work: Work = self.system.evaluate(t, q, v, self.state.angles)
        return work

    def _margin(self, t: float) -> float:
        return 8 * np.finfo(float).eps * max(abs(t), abs(t + self.h))

    # ---- what is kept, and words ------------------------------------------------------------------------------

    def snapshot(self, t: float) -> Snapshot:
        """A copy of the state."""
        s = self.state
        return Snapshot(t, s.q.copy(), s.v.copy(), s.rate.copy(), s.multipliers.copy(), s.angles.copy())

    def recorded(self, times: Array) -> History:
        """A copy of the first rows of the record."""
        columns = np.split(self.record[: len(times)], np.cumsum(self.widths)[:-1], axis=1)
        return History(times, *(column.copy() for column in columns[:5]))

    def carried(self) -> Carried:
        """What the method needs to go on from the present state."""
        s = self.state
        memory = tuple(a.copy() for a in remembered(self.work))
        return Carried(self.method, self.h, s.rate.copy(), s.a.copy(), s.multipliers.copy(), memory)

    def missing(self, rows: int) -> Array:
        """Farthest that a row left out misses, in each row of the record; then, of the present state."""
        now = np.abs(np.where(self.where.row_active, 0.0, self.stages.phi)).max(initial=0.0)
        return np.append(self.record[:rows, -1], now)

    def contradiction(self, t: float, missing: float) -> str:
        """Which row that was left out does not hold any more, in words; nothing if all do."""
        if not missing > LEFT_OUT * max(1.0, self.system.walked[1]):
            return ""
        row = int(np.argmax(np.where(self.where.row_active, 0.0, np.abs(self.stages.phi))))
        return (
            f"stopped before t = {t:.6g}: {self.system.labels[row]} followed from other rows at the start, but no more "
            f"(it misses by {missing:.3g}). The mechanism starts in a singular position: start it elsewhere "
            "(start= on a joint, position= on a body)"
        )

    def failure(self, t: float, h: float, problem: int) -> str:
        """Why and when it stopped, in words."""
        if problem == REFUSED:
            return f"stopped at t = {t:.6g}: {self.said}"
        what = (
            "a number became infinite or undefined" if problem == NOT_FINITE else "Newton's iteration did not converge"
        )
        worst = ""
        if len(self.stages.phi):
            phi = self.stages.phi
            row = int(np.nanargmax(np.abs(phi))) if np.isfinite(phi).all() else int(np.argmin(np.isfinite(phi)))
            worst = f"; the largest constraint error is {phi[row]:.3g} ({self.system.labels[row]})"
        return f"stopped at t = {t:.6g}: {what}, also with a step of {h / 2**HALVINGS:.3g}{worst}"
