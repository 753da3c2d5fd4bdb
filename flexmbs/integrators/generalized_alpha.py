"""GeneralizedAlpha: implicit, second order, with chosen damping of what is too fast for the step."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import ModelError
from flexmbs.integrators.alpha_run import CHUNK, AlphaRun, Carried
from flexmbs.integrators.events import Watch
from flexmbs.integrators.full_order_run import run_of
from flexmbs.integrators.history import History, Keeper, Snapshot, history_of
from flexmbs.integrators.interpolation import between
from flexmbs.system.state import State

Array = NDArray[np.float64]

__all__ = ["GeneralizedAlpha", "History"]

WAITING, FIRST = 0.3, 16
"""Longest call of compiled code [s], as Ctrl-C, progress and saving wait for its end; steps of the first if saved."""


@dataclass(frozen=True)
class GeneralizedAlpha:
    """The generalized-alpha method on the Lie group (Chung and Hulbert 1993; Brüls, Cardona and Arnold 2012).

    Parameters
    ----------
    rho_inf : spectral radius at infinite frequency: 1 keeps all energy, 0 removes what the step cannot follow at once.
        Below 1, as constrained systems need it.
    tolerance : relative error of accelerations at which Newton's iteration stops.
    stabilised : whether constraints hold for velocities too, after every step (stabilised index 2). Multipliers are
        then of second order from the first step on; without, errors of first order have to die out.
    """

    rho_inf: float = 0.8
    tolerance: float = 1e-8
    stabilised: bool = False
    order = 2

    def __post_init__(self) -> None:
        if not (isinstance(self.rho_inf, int | float) and 0.0 <= self.rho_inf < 1.0):
            raise ModelError(f"rho_inf must be at least 0 and less than 1, not {self.rho_inf!r}.")
        if not (isinstance(self.tolerance, int | float) and 0.0 < self.tolerance < 1.0):
            raise ModelError(f"tolerance must lie between 0 and 1, not {self.tolerance!r}.")
        if not isinstance(self.stabilised, bool):
            raise ModelError(f"stabilised must be True or False, not {self.stabilised!r}.")

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
        watch: Watch | None = None,
        keeper: Keeper | None = None,
        passed: tuple[float, int] | None = None,
    ) -> tuple[History, str, dict[str, int]]:
        """Integrate from ``start`` to ``t_end`` in equal steps, keeping every ``every``-th; history, outcome, counters.

        ``keeper`` takes what is kept. A run that goes on with another says in ``passed`` when that began and how many
        steps it took; its instants are those of one run.

        A step that does not converge is halved, up to ten times; then the run stops and keeps what it has. It also
        stops where rows that were left out as redundant at the start no longer hold, at an event of ``watch`` that
        says so, and at Ctrl-C. At kinks of profiles the method starts anew.
        """
        begin, done = passed or (start.t, 0)
        total = max(1, round((t_end - begin) / step))
        alpha = run_of(self, system, start, (t_end - begin) / total, watch is not None)
        run = _Kept(alpha, begin, total, every, watch, keeper or Keeper(), done)
        try:
            outcome = run.all(progress)
        except KeyboardInterrupt:
            outcome = f"interrupted at t = {run.last:.6g}"
        counts = run.alpha.counts
        counters = {"steps": run.done - done, "newton": int(counts[0]), "factorisations": int(counts[1])}
        return run.keeper.history()._replace(carried=run.carried), outcome, counters


class _Kept:
    """A run and what is kept of it."""

    def __init__(
        self, alpha: AlphaRun, t: float, total: int, every: int, watch: Watch | None, keeper: Keeper, done: int
    ) -> None:
        self.alpha, self.t, self.total, self.every, self.watch = alpha, t, total, every, watch
        self.each = every if watch is None else 1  # steps from one recorded state to the next
        self.done, self.keeper = done, keeper
        self.chunk = FIRST if keeper.eager else CHUNK  # most steps of one call
        self.breaks = alpha.breaks(t, total)
        self.carried: Carried | None = alpha.carried()
        self.last = self.at(done)  # time of the last instant kept
        if not done:
            keeper.add(history_of([alpha.snapshot(t)]), self.carried)
        if watch is not None:
            watch.begin(alpha.snapshot(self.last))

    def at(self, k: Any) -> Any:
        """Time after k steps."""
        return self.t + k * self.alpha.h

    def all(self, progress: Callable[[float], None] | None) -> str:
        """To the end; the outcome."""
        while self.done < self.total:
            outcome = self._some_steps()
            if outcome:
                return outcome
            if progress is not None:
                progress(self.at(self.done))
        self._keep_here()
        return "finished"

    def _some_steps(self) -> str:
        """As many steps as one call of compiled code takes; what ended the run, in words."""
        alpha, begin, each = self.alpha, self.done, self.each
        if begin in self.breaks:
            problem = alpha.across(self.at(begin), alpha.h, self.breaks[begin])
        else:
            n = min(*(k - begin for k in (*self.breaks, self.total) if k > begin), self.chunk, alpha.rows * each)
            if (begin + n) // each > begin // each:
                n -= (begin + n) % each  # ends with a state that is kept
            began = time.perf_counter()
            reached, problem = alpha.advance(self.t, alpha.h, n, begin, each)
            self.done += reached
            self.chunk = int(np.clip(n * WAITING / (time.perf_counter() - began + 1e-9), 1, CHUNK))
            numbers = np.arange(begin // each + 1, self.done // each + 1) * each
            outcome = self._take(numbers, alpha.recorded(self.at(numbers)), alpha.missing(len(numbers)))
            if outcome or not problem:
                return outcome
            problem = 0 if alpha.rescue(self.at(self.done), alpha.h) else problem
        if problem:
            self._keep_here()
            return alpha.failure(self.at(self.done), alpha.h, problem)
        self.done += 1
        for before, after in alpha.passed if begin in self.breaks else ():
            outcome = self._watched(history_of([before]), np.zeros(1, dtype=bool))
            if outcome:
                return outcome
            if self.watch is not None:
                self.watch.begin(after)
        here = history_of([alpha.snapshot(self.at(self.done))])
        return self._take(np.array([self.done]), here, alpha.missing(0))

    def _take(self, numbers: Any, new: History, missing: Array) -> str:
        """Keep of the states after these steps what is due; why the run ends with them, if it does."""
        over = next((k for k, m in enumerate(missing) if self.alpha.contradiction(0.0, m)), None)
        new, numbers = new.part(slice(0, over)), numbers[:over]
        outcome = self._watched(new, numbers % self.every == 0)
        if outcome:
            return outcome
        self._keep(new.part(numbers % self.every == 0))
        if over is None:
            return ""
        return self.alpha.contradiction([*self.at(numbers), self.at(self.done)][-1], float(missing[over]))

    def _watched(self, new: History, due: NDArray[np.bool_]) -> str:
        """Words of the event among new states that ends the run, if one does; what is due before it is kept."""
        stop = self.watch.steps(new, self._curve) if self.watch is not None and len(new.t) else None
        if self.watch is None or stop is None:
            return ""
        self._keep(new.part(due & (new.t < stop.t)))
        self._keep(history_of([stop]))
        self.carried = None
        return self.watch.words

    def _curve(self, a: Snapshot, b: Snapshot) -> Callable[[float], Snapshot]:
        return between(self.alpha.system, a, b, velocities=self.alpha.method.stabilised)

    def _keep_here(self) -> None:
        if self.last < self.at(self.done):
            self._keep(history_of([self.alpha.snapshot(self.at(self.done))]))

    def _keep(self, new: History) -> None:
        if len(new.t):
            self.carried = self.alpha.carried() if new.t[-1] == self.at(self.done) else None
            self.last = float(new.t[-1])
            self.keeper.add(new, self.carried)
