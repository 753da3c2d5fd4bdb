"""GeneralizedAlpha: implicit, second order, with chosen damping of what is too fast for the step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.errors import ModelError
from flexmbs.integrators.alpha_step import CONVERGED, NOT_CONVERGED, NOT_FINITE, AlphaState, alpha_step, alpha_work
from flexmbs.profiles.table import ProfileTable, evaluate
from flexmbs.system.evaluate import work_arrays
from flexmbs.system.newton import scratch_arrays
from flexmbs.system.saddle import accelerations
from flexmbs.system.state import State

Array = NDArray[np.float64]

_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}

HALVINGS = 10
RELINEARISATIONS = 20
LEFT_OUT = 1e-6
"""Farthest, relative to the mechanism's size, that a row left out as redundant may miss."""


class History(NamedTuple):
    """What is kept of a run, time first."""

    t: Array
    q: Array
    v: Array
    rate: Array
    multipliers: Array
    angles: Array


@dataclass(frozen=True)
class GeneralizedAlpha:
    """The generalized-alpha method on the Lie group (Chung and Hulbert 1993; Brüls, Cardona and Arnold 2012).

    Parameters
    ----------
    rho_inf : spectral radius at infinite frequency: 1 keeps all energy, 0 removes what the step cannot follow at once.
        Below 1, as constrained systems need it.
    tolerance : relative error of accelerations at which Newton's iteration stops.
    """

    rho_inf: float = 0.8
    tolerance: float = 1e-8
    order = 2

    def __post_init__(self) -> None:
        if not (isinstance(self.rho_inf, int | float) and 0.0 <= self.rho_inf < 1.0):
            raise ModelError(f"rho_inf must be at least 0 and less than 1, not {self.rho_inf!r}.")
        if not (isinstance(self.tolerance, int | float) and 0.0 < self.tolerance < 1.0):
            raise ModelError(f"tolerance must lie between 0 and 1, not {self.tolerance!r}.")

    @property
    def coefficients(self) -> tuple[float, float, float, float]:
        """α_m, α_f, β, γ."""
        alpha_m = (2 * self.rho_inf - 1) / (self.rho_inf + 1)
        alpha_f = self.rho_inf / (self.rho_inf + 1)
        gamma = 0.5 + alpha_f - alpha_m
        return alpha_m, alpha_f, 0.25 * (gamma + 0.5) ** 2, gamma

    def run(
        self,
        system: Any,
        start: State,
        t_end: float,
        step: float,
        every: int,
        progress: Callable[[float], None] | None = None,
    ) -> tuple[History, str, dict[str, int]]:
        """Integrate from ``start`` to ``t_end`` in equal steps, keeping every ``every``-th; history, outcome, counters.

        A step that does not converge is halved, up to ten times; then the run stops and keeps what it has. It also
        stops where rows that were left out as redundant at the start no longer hold.
        """
        run = _Run(self, system, start)
        total = max(1, round((t_end - start.t) / step))
        h = (t_end - start.t) / total
        kept = [run.snapshot(start.t)]
        outcome = "finished"
        done = 0
        while done < total:
            n = min(every, total - done)
            reached, problem = run.advance(start.t + done * h, h, n)
            if problem:
                done_well = run.rescue(start.t + (done + reached) * h, h)
                if not done_well:
                    outcome = run.failure(start.t + (done + reached) * h, h, problem)
                    kept.append(run.snapshot(start.t + (done + reached) * h))
                    break
                done += reached + 1
                remainder = n - reached - 1
                if remainder:
                    continue
            else:
                done += n
            contradiction = run.contradiction(start.t + done * h)
            if contradiction:
                outcome = contradiction
                break
            kept.append(run.snapshot(start.t + done * h))
            if progress is not None:
                progress(start.t + done * h)
        history = History(*(np.array(column) for column in zip(*kept, strict=True)))
        counters = {"steps": done, "newton": int(run.counts[0]), "factorisations": int(run.counts[1])}
        return history, outcome, counters


class _Run:
    """The arrays of one run."""

    def __init__(self, method: GeneralizedAlpha, system: Any, start: State) -> None:
        self.system, self.method = system, method
        self.layout, self.plan, self.where = system.independent
        self.table: ProfileTable = system.table
        self.params = self.table.params.copy()
        stages = system.evaluate(start.t, start.q, start.v, start.angles)
        rate, multipliers = accelerations(self.layout, self.plan, self.where, start.v, stages)
        self.state = AlphaState(
            start.q.copy(), start.v.copy(), rate.copy(), rate.copy(), multipliers.copy(), start.angles.copy()
        )
        self.work = alpha_work(self.layout, self.plan)
        self.stages, self.scratch = work_arrays(self.layout), scratch_arrays(self.layout, self.where)
        self.weights = system.length_weights
        self.tolerance = (method.tolerance, 1e-15 * system.walked[1])
        self.prescribed = np.zeros((len(system.profiles), 3))
        self.counts = np.zeros(2, dtype=np.int64)
        if system.functions:  # the factors of functions are its own
            self.layout = self.layout._replace(term_factor=self.layout.term_factor.copy())

    def advance(self, t: float, h: float, n: int) -> tuple[int, int]:
        """n steps from t; how many were done, and what stopped them (0 for nothing)."""
        users = len(self.system.user_forces) > 0 or bool(self.system.functions)
        if not self.table.callbacks and not users:
            return self._steps(t, h, n)
        for k in range(n):  # Python functions of time end the compiled loop
            self.table.refresh(self.params, t + (k + 1) * h)
            problem = self._user_step(t + k * h, h) if users else self._steps(t + k * h, h, 1)[1]
            if problem:
                return k, problem
        return n, 0

    def _user_step(self, t: float, h: float) -> int:
        """A step in which Python functions are linearised about the prediction, again until they are what they say."""
        forces, functions, state = self.system.user_forces, self.system.functions, self.state
        tolerance = self.method.tolerance
        saved = [a.copy() for a in state]
        q, v, a = saved[0], saved[1], saved[3]
        x, v = h * v + 0.5 * h * h * a, v + h * a
        rows = functions.at(self.system, t + h, self.system.retract(q, x), v, saved[-1]) if functions else None
        for _ in range(RELINEARISATIONS):
            if len(forces):
                forces.linearise(t + h, q, x, v, self.system.walked[1], self.stages.forces)
            if rows is not None:
                rows.write(self.layout, self.table, self.params)
            _, problem = self._steps(t, h, 1)
            if problem:
                return problem
            x, v = self.work.increment.copy(), state.v.copy()
            settled = not len(forces) or forces.missing(t + h, state.q, v, x, self.stages.forces) <= tolerance
            if rows is not None:
                before, rows = rows, functions.at(self.system, t + h, state.q, v, saved[-1])
                settled = settled and rows.settled(before, tolerance, self.system.walked[1])
            if settled:
                return 0
            for array, old in zip(state, saved, strict=True):
                array[:] = old
        return int(NOT_CONVERGED)

    def _steps(self, t: float, h: float, n: int) -> tuple[int, int]:
        done, problem = steps(
            self.layout, self.plan, self.where, self.table.kinds, self.table.starts, self.params, self.prescribed,
            t, h, n, self.method.coefficients, self.tolerance, self.weights,
            self.state, self.work, self.stages, self.scratch, self.counts,
        )  # fmt: skip
        return int(done), int(problem)

    def rescue(self, t: float, h: float) -> bool:
        """One step of length h in ever smaller parts."""
        saved = [a.copy() for a in self.state]
        for k in range(1, HALVINGS + 1):
            _, problem = self.advance(t, h / 2**k, 2**k)
            if not problem:
                return True
            for array, old in zip(self.state, saved, strict=True):
                array[:] = old
        return False

    def contradiction(self, t: float) -> str:
        """Which row that was left out does not hold any more, in words; nothing if all do."""
        missing = np.where(self.where.row_active, 0.0, np.abs(self.stages.phi))
        if not missing.max(initial=0.0) > LEFT_OUT * max(1.0, self.system.walked[1]):
            return ""
        row = int(np.argmax(missing))
        return (
            f"stopped before t = {t:.6g}: {self.system.labels[row]} followed from other rows at the start, but no more "
            f"(it misses by {missing[row]:.3g}). The mechanism starts in a singular position: start it elsewhere "
            "(start= on a joint, position= on a body)"
        )

    def failure(self, t: float, h: float, problem: int) -> str:
        """Why and when it stopped, in words."""
        what = (
            "a number became infinite or undefined" if problem == NOT_FINITE else "Newton's iteration did not converge"
        )
        worst = ""
        if len(self.stages.phi):
            row = int(np.nanargmax(np.abs(self.stages.phi))) if np.isfinite(self.stages.phi).any() else 0
            worst = f"; the largest constraint error is {self.stages.phi[row]:.3g} ({self.system.labels[row]})"
        return f"stopped at t = {t:.6g}: {what}, also with a step of {h / 2**HALVINGS:.3g}{worst}"

    def snapshot(self, t: float) -> tuple[Any, ...]:
        """Copies of what is kept."""
        s = self.state
        return t, s.q.copy(), s.v.copy(), s.rate.copy(), s.multipliers.copy(), s.angles.copy()


@njit(**_options)
def steps(
    layout, plan, where, kinds, starts, params, prescribed, t, h, n, coefficients, tolerance, weights,
    state, work, stages, scratch, counts,
):  # fmt: skip
    """n steps of length h; returns how many were done and the outcome of the last."""
    for k in range(n):
        for r in range(prescribed.shape[0]):
            prescribed[r, 0], prescribed[r, 1], prescribed[r, 2] = evaluate(kinds, starts, params, r, t + (k + 1) * h)
        outcome = alpha_step(
            layout, plan, where, prescribed, h, coefficients, tolerance, weights, state, work, stages, scratch, counts
        )
        if outcome != CONVERGED:
            return k, outcome
    return n, CONVERGED
