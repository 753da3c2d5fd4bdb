"""Adaptive integration of motions: SciPy's steppers, output at equal times, kinks, and stops in words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from flexmbs.errors import FlexmbsError, ModelError, SolverError
from flexmbs.given import number
from flexmbs.integrators.chart import RANK, LostError
from flexmbs.integrators.events import Watch
from flexmbs.integrators.history import History, Keeper, Snapshot
from flexmbs.integrators.motion import Motion
from flexmbs.integrators.steppers import METHODS as COMPILED
from flexmbs.integrators.steppers import PythonSteps, Stepper
from flexmbs.integrators.tree_motion import TreeMotion
from flexmbs.joints.measures import ANGLE
from flexmbs.system.state import State

Array = NDArray[np.float64]

METHODS = ("DOP853", "RK45", "Radau")
SMALLEST = 100 * np.finfo(float).eps
PATIENCE, TOO_SLOW = 1000, 1e-6
"""A run that advances by less than this fraction of its time in so many steps will not get there: it stops."""


class AdaptiveIntegrator(ABC):
    """What integrators with error control share: the fields method, rtol, atol, max_step, and ``run``."""

    method: str
    rtol: float
    atol: float
    max_step: float | None

    def __post_init__(self) -> None:
        formulation = getattr(self, "formulation", None)
        if formulation is not None and (isinstance(formulation, type) or not hasattr(formulation, "solve")):
            raise ModelError(f"formulation must be one such as Maggi(), not {formulation!r}.")
        if self.method not in METHODS:
            raise ModelError(f"method is one of {', '.join(METHODS)}, not {self.method!r}.")
        if not SMALLEST <= number(self.rtol) < 1.0:
            raise ModelError(f"rtol must be at least {SMALLEST:.1e} and less than 1, not {self.rtol}.")
        if not (np.isfinite(number(self.atol)) and self.atol >= 0.0):
            raise ModelError(f"atol must be a number, zero or more, not {self.atol}.")
        if self.max_step is not None and not number(self.max_step) > 0.0:
            raise ModelError(f"max_step must be positive, not {self.max_step}.")

    @abstractmethod
    def motion(self, system: Any, start: State) -> Motion:
        """The mechanism as an ordinary differential equation, for a motion from ``start``."""

    def run(
        self,
        system: Any,
        start: State,
        t_end: float,
        step: float | None = None,
        every: int = 1,
        progress: Callable[[float], None] | None = None,
        watch: Watch | None = None,
        keeper: Keeper | None = None,
    ) -> tuple[History, str, dict[str, int]]:
        """Integrate from ``start`` to ``t_end``; history, outcome, counters.

        The steps are the integrator's own. With ``step``, what is kept are the states at every ``every``-th multiple of
        it, interpolated; without, those after every step. A run that cannot go on keeps what was computed; so do one
        that an event of ``watch`` ends, and Ctrl-C. ``keeper`` takes what is kept.
        """
        run = _Run(self, system, start, t_end, None if step is None else step * every)
        run.kept = keeper or Keeper()
        run.watch = watch
        return _ran(run, progress)


def _ran(run: _Run, progress: Callable[[float], None] | None) -> tuple[History, str, dict[str, int]]:
    """History, outcome and counters of a run."""
    try:
        outcome = run.all(progress)
    except LostError as error:
        outcome = run.stopped(str(error))
    except (FlexmbsError, SolverError) as error:
        outcome = run.stopped(f"the equations of motion could not be solved ({error})")
    except KeyboardInterrupt:
        if run.kept.last is None:
            raise
        outcome = f"interrupted at t = {run.kept.last.t:.6g}"
    motion = run.motion
    return run.kept.history(), outcome, {"steps": run.steps, "evaluations": motion.evaluations, "bases": motion.bases}


def equal_steps(
    method: AdaptiveIntegrator,
    name: str,
    system: Any,
    start: State,
    t_end: float,
    step: float,
    every: int,
    progress: Callable[[float], None] | None,
    watch: Watch | None = None,
    keeper: Keeper | None = None,
) -> tuple[History, str, dict[str, int]]:
    """The same run in steps of fixed length by the explicit method ``name``, keeping every ``every``-th."""
    total = max(1, round((t_end - start.t) / step))
    h = (t_end - start.t) / total
    run = _Run(method, system, start, t_end, every * h, h, name)
    run.wanted = np.append(start.t + np.arange(0, total, every) * h, t_end)
    run.watch, run.kept = watch, keeper or Keeper()
    return _ran(run, progress)


class _Run:
    """One run: the state at the last accepted step, and what was kept. With ``length``, all steps are equal."""

    def __init__(
        self,
        method: AdaptiveIntegrator,
        system: Any,
        start: State,
        t_end: float,
        spacing: float | None,
        length: float | None = None,
        name: str | None = None,
    ) -> None:
        self.length, self.name = length, name or method.method
        self.method, self.system, self.t_end = method, system, float(t_end)
        self.motion = method.motion(system, start)
        self.motion.angles = start.angles.copy()
        self.t, self.q, self.v = float(start.t), start.q.copy(), start.v.copy()
        self.steps, self.h, self.kept = 0, 0.0, Keeper()
        self.mark, self.next_mark, self.span = self.t, PATIENCE, self.t_end - self.t
        self.start = start
        self.turning = system.layout.measure_kind == ANGLE
        self.wanted: Array | None = None
        if spacing is not None:
            self.wanted = np.linspace(self.t, self.t_end, max(1, round((self.t_end - self.t) / spacing)) + 1)
        self.given = 0  # how many of them were reached
        self.watch: Watch | None = None

    def all(self, progress: Callable[[float], None] | None) -> str:
        """From kink to kink until the end; the outcome."""
        for first, last in pairwise(self._stops()):
            self._between(first, last)
            self.v = self.motion.consistent(self.t, self.q, self.v)
            y = self.motion.begin(self.t, self.q, self.v)
            self.q, self.v, _ = self.motion.state(self.t, y)  # closed to rounding, not only to the start's tolerance
            self._keep_here()
            if self.watch is not None:
                self.watch.begin(self._snapshot(self.t, self.q, self.v))
            problem = self._smooth(y, last, progress)
            if self.watch is not None and self.watch.words:
                return self.watch.words
            if problem:
                return self.stopped(problem)
        if self.wanted is None or self.given < len(self.wanted):
            self._keep(self.t, self.q, self.v)
        return "finished"

    def _smooth(self, y: Array, last: float, progress: Callable[[float], None] | None) -> str:
        """To the end of a stretch without kinks; what stopped it, in words."""
        motion, fresh = self.motion, True
        if not np.isfinite(motion.rates(self.t, y)).all():
            return motion.lost
        stepper = self._stepper(y, last)
        attended = self.wanted is None or self.watch is not None  # somebody looks at every step
        while self.t < last:
            motion.lost = ""
            taken = self._step(stepper, attended)
            if stepper.status == "failed":
                if fresh:
                    return motion.lost or "the error cannot be kept below the tolerance"
                y, fresh = motion.begin(self.t, self.q, self.v), True
                stepper = self._stepper(y, last)
                continue
            if self.watch is not None and self._ended_by_event(stepper):
                return ""
            self._outputs(stepper, last)
            self.t, y, fresh = float(stepper.t), stepper.y, False
            self.q, self.v = motion.accepted(self.t, *motion.state(self.t, y)[:2])
            self.h, self.steps = float(stepper.h_abs), self.steps + taken
            if not isinstance(stepper, Stepper):
                motion.angles[:] = self._angles(self.t, self.q, self.v)
            if self.wanted is None and self.t < last:
                self._keep(self.t, self.q, self.v)
            if progress is not None:
                progress(self.t)
            if self.steps >= self.next_mark:
                if self.t - self.mark < TOO_SLOW * self.span:
                    return motion.lost or f"{PATIENCE} steps led only {self.t - self.mark:.2g} s further"
                self.mark, self.next_mark = self.t, self.steps + PATIENCE
            if self.t < last and motion.worn(self.t, y):
                new = motion.moved(self.t, self.q, self.v)
                if new is not None:
                    y, fresh = new, True
                    stepper = self._stepper(y, last)
        return ""

    def _step(self, stepper: Any, attended: bool) -> int:
        """One step, or where nobody needs to look, as many as lead to the next time wanted; how many were taken."""
        longest, motion = self.method.max_step or np.inf, self.motion
        if isinstance(stepper, Stepper):
            stepper.max_step = longest
            if attended or self.wanted is None or not stepper.motion.plain:
                return stepper.step()
            until = self.wanted[self.given] if self.given < len(self.wanted) else np.inf
            return stepper.step(float(until), PATIENCE)
        stepper.max_step = min(motion.reach(self.v), longest)
        stepper.step()
        return 1

    def _stepper(self, y: Array, last: float) -> Any:
        method, first = self.method, None if self.h == 0.0 else min(self.h, last - self.t)
        if not len(y):
            return _Still(self.motion, self.t, last)
        errors = self.motion.errors(method.rtol, method.atol)
        compiled = isinstance(self.motion, TreeMotion) and self.motion.compiled
        if self.length is not None:
            if not compiled:
                return PythonSteps(self.motion, self.name, self.t, y, last, self.length)
            return Stepper(self.motion, self.name, self.t, y, last, 0.0, errors, self.length, fixed=True)
        if compiled and self.name in COMPILED:
            return Stepper(self.motion, self.name, self.t, y, last, method.rtol, errors, first)
        kind = getattr(scipy.integrate, method.method)
        return kind(self.motion.rates, self.t, y, last, rtol=method.rtol, atol=errors, first_step=first)

    def _stops(self) -> list[float]:
        """Start, kinks, end."""
        kinks = {float(k) for p in self.system.profiles for k in p.kinks}
        return [self.t, *sorted(k for k in kinks if self.t < k < self.t_end), self.t_end]

    def _between(self, first: float, last: float) -> None:
        """Profiles are to be read inside [first, last]: at a kink they give one side only."""
        margin = 8 * np.finfo(float).eps * max(abs(first), abs(last))
        self.motion.limits = (first + margin, last - margin if last < self.t_end else np.inf)

    # ---- what is kept -----------------------------------------------------------------------------------------

    def _ended_by_event(self, stepper: Any) -> bool:
        """Whether an event within the last step ends the run; then what was before it is kept, and the event itself."""
        curve = stepper.dense_output()

        def at(t: float) -> Snapshot:
            q, v, _ = self.motion.state(t, stepper.y if t == stepper.t else curve(t))
            return self._snapshot(t, *self.motion.accepted(t, q, v))

        stop = None if self.watch is None else self.watch.step(float(stepper.t), at)
        if stop is not None:
            for t in self._due(np.nextafter(stop.t, -np.inf)):
                self.kept.append(at(t))
            self.kept.append(stop)
        return stop is not None

    def _outputs(self, stepper: Any, last: float) -> None:
        """Keep the states at all times wanted within the last step; those at a kink wait for what is after it."""
        until = stepper.t if stepper.t < last or last == self.t_end else np.nextafter(last, -np.inf)
        times = list(self._due(until))
        if times:
            curve = stepper.dense_output()
            for t in times:
                q, v, _ = self.motion.state(t, stepper.y if t == stepper.t else curve(t))
                self._keep(t, *self.motion.accepted(t, q, v))

    def _due(self, until: float) -> Iterator[float]:
        while self.wanted is not None and self.given < len(self.wanted) and self.wanted[self.given] <= until:
            self.given += 1
            yield float(self.wanted[self.given - 1])

    def _keep_here(self) -> None:
        if self.wanted is None or list(self._due(self.t)):
            self._keep(self.t, self.q, self.v)

    def _keep(self, t: float, q: Array, v: Array) -> None:
        self.kept.append(self._snapshot(t, q, v))

    def _snapshot(self, t: float, q: Array, v: Array) -> Snapshot:
        rate, multipliers = self.motion.accelerations(t, q, v)
        return Snapshot(t, q.copy(), v.copy(), rate.copy(), multipliers.copy(), self._angles(t, q, v))

    def _angles(self, t: float, q: Array, v: Array) -> Array:
        return np.where(self.turning, self.motion.evaluate(t, q, v).measure, self.motion.angles)

    def stopped(self, reason: str) -> str:
        """Keep the last state there is; when, where and why it stopped."""
        work = self.motion.evaluate(self.t, self.q, self.v)
        if self.kept.last is None or self.kept.last.t < self.t:
            try:
                self._keep(self.t, self.q, self.v)
            except (LostError, FlexmbsError, SolverError):  # what was computed still counts
                rate, multipliers = np.full(len(self.v), np.nan), np.full(len(work.phi), np.nan)
                angles = self._angles(self.t, self.q, self.v)
                self.kept.append(Snapshot(self.t, self.q, self.v, rate, multipliers, angles))
        return f"stopped at t = {self.t:.6g}: {reason}{self._joint(work)}"

    def _joint(self, work: Any) -> str:
        """Where it stopped: the row that nearly follows from others, as in a lock, or the largest reaction."""
        if not len(work.phi):
            return ""
        at_start = self._directions(self.system.evaluate(self.start.t, self.start.q, self.start.v, self.start.angles))[
            1
        ]
        rank = int(np.count_nonzero(at_start > RANK * np.max(at_start, initial=0.0)))
        directions, sizes = self._directions(work)
        if rank and sizes[rank - 1] < 1e-2 * sizes[0]:
            label = self.system.labels[int(np.argmax(np.abs(directions[:, rank - 1])))]
            return f"; this is next to a singular position ({label} nearly follows from the other constraints)"
        multipliers = np.nan_to_num(self.kept.last.multipliers if self.kept.last else work.phi)
        row = int(np.argmax(np.abs(multipliers)))
        return f"; the largest reaction is {multipliers[row]:.3g} ({self.system.labels[row]})"

    def _directions(self, work: Any) -> tuple[Array, Array]:
        """Combinations of rows, and how much each restricts the motion (singular values of J with unit rows)."""
        jacobian = self.system.jacobian(work).toarray() * self.motion.scales.velocity
        norms = np.linalg.norm(jacobian, axis=1)
        return np.linalg.svd(jacobian / np.where(norms > 0, norms, 1.0)[:, None], full_matrices=False)[:2]


class _Still:
    """A stepper for motions without freedom: time goes on, the constraints say the rest."""

    status, max_step, y = "running", np.inf, np.zeros(0)

    def __init__(self, motion: Motion, t: float, last: float) -> None:
        self.motion, self.t, self.last = motion, t, last
        self.h_abs = last - t

    def step(self) -> None:
        """One step, halved until the constraints can be closed at its end."""
        h = min(2 * self.h_abs, self.max_step, self.last - self.t)
        while h > 10 * np.spacing(self.t):
            t = self.last if self.t + h >= self.last else self.t + h
            self.motion.evaluations += 1
            try:
                self.motion.state(t, self.y)
            except LostError as error:
                self.motion.lost = str(error)
                h /= 2
                continue
            self.t, self.h_abs = t, h
            return
        self.status = "failed"

    def dense_output(self) -> Callable[[float], Array]:
        """Nothing, at any time."""
        return lambda t: self.y
