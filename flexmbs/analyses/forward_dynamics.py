"""Forward dynamics: how a mechanism moves."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from flexmbs.analyses.quasi_static import quasi_static
from flexmbs.analyses.sampling import sampled_run
from flexmbs.analyses.watching import found, motion, watch_of
from flexmbs.errors import AnalysisError, ModelError, ModelWarning
from flexmbs.integrators.events import Event
from flexmbs.integrators.generalized_alpha import GeneralizedAlpha
from flexmbs.progress import reporting
from flexmbs.results import Result, Samples
from flexmbs.system.state import State
from flexmbs.system.system import System

OPEN = 1e-6
"""Farthest, relative to the mechanism's size, that a given start may miss its joints."""


def forward_dynamics(
    system: System,
    t_end: float,
    step: float | None = None,
    *,
    output_step: float | None = None,
    integrator: Any = None,
    start: State | Result | str | None = None,
    events: Sequence[Event] = (),
    progress: Callable[[float], None] | bool | None = True,
) -> Result:
    """Motion from the initial state (or from ``start``, a State or the end of a Result) until ``t_end``.

    ``step`` is the integrator's (a thousandth of the time by default), ``output_step`` that of what is kept.
    A run that fails, is interrupted by Ctrl-C or stopped by an event keeps what was computed; ``outcome`` says when and
    why. ``events`` are found within the steps, and are listed by name in the result's ``events``. ``progress`` shows
    on standard error how far a long run has come (see docs/howto/command_line.md); False shows nothing, and a function
    is called with the time reached.

    Starting from a Result goes on where it ended, with the same integrator and step as if it had not; from an
    Equilibrium, at rest. ``start="deformed"`` is the initial state with flexible bodies deformed quasi-statically, see
    ``quasi_static``, so that no artificial ringing begins.
    """
    if not isinstance(system, System):
        raise AnalysisError(f"forward_dynamics: a System is needed, not {type(system).__name__}.")
    if not system.n_v:
        raise AnalysisError("forward_dynamics: the system has no body that can move.")
    method = GeneralizedAlpha() if integrator is None else integrator
    if isinstance(method, type) or not hasattr(method, "run"):
        raise AnalysisError(f"integrator must be one such as TangentSpaceODE(), not {integrator!r}.")
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise AnalysisError(f"progress must be True, False or a function of the time reached, not {progress!r}.")
    begin = _start(system, start)
    t_end = _number(t_end, "t_end")
    step, output_step = (
        None if x is None else _number(x, n) for x, n in ((step, "step"), (output_step, "output_step"))
    )
    if not (np.isfinite(t_end) and t_end > begin.t):
        raise AnalysisError(f"t_end must be later than the start at {begin.t:.6g} s, not {t_end}.")
    h = (t_end - begin.t) / 1000 if step is None else float(step)
    if step is None and system.controllers:
        shortest = min(c.period for c in system.controllers)
        h = shortest / np.ceil(shortest / h - 1e-9)
    if not (np.isfinite(h) and 0 < h <= (t_end - begin.t) * (1 + 1e-9)):
        raise AnalysisError(f"step must be positive and at most the time to run ({t_end - begin.t:.6g} s), not {step}.")
    every = 1 if output_step is None or not np.isfinite(output_step) else round(output_step / h)
    if output_step is not None and (every < 1 or not abs(every * h - output_step) <= 1e-6 * output_step):
        raise AnalysisError(f"output_step {output_step} must be a multiple of step {h}.")
    watch = watch_of(system, events, begin)
    began = time.perf_counter()
    samples: dict[str, Samples] = {}
    with reporting(progress, "forward dynamics", begin.t, t_end) as reached:
        if system.controllers:
            if watch is not None:
                raise AnalysisError("forward_dynamics: events of a system with sampled controllers are not looked for.")
            memories = {name: s.memory for name, s in start.controllers.items()} if isinstance(start, Result) else {}
            system, history, outcome, counters, samples = sampled_run(
                method, system, begin, t_end, h, every, reached, memories
            )
        elif watch is None:
            history, outcome, counters = method.run(system, begin, t_end, h, every, reached)
        else:
            history, outcome, counters = method.run(system, begin, t_end, h, every, reached, watch)
    result = motion(
        system, history, outcome=outcome, counters=counters, wall_time=time.perf_counter() - began,
        events=found(system, watch), controllers=samples,
    )  # fmt: skip
    for text in result.warnings:
        warnings.warn(text, ModelWarning, stacklevel=2)
    return result


def _start(system: System, start: State | Result | str | None) -> State:
    if start is None:
        return system.initial
    if isinstance(start, str):
        if start != "deformed":
            raise AnalysisError(f'start must be a State, a Result or "deformed", not {start!r}.')
        return quasi_static(system)
    if isinstance(start, Result):
        if not len(start.t):
            raise AnalysisError("start is a Result without any instants.")
        carried = start.carried if start.system is system else None  # another system has other forces
        start = State(float(start.t[-1]), start.q[-1], start.v[-1], start.angles[-1], carried)
    if not isinstance(start, State):
        raise AnalysisError(f"start must be a State or a Result, not {type(start).__name__}.")
    try:
        phi = np.abs(system.evaluate(start.t, start.q, start.v, start.angles).phi)
    except ModelError as error:
        raise AnalysisError(f"start does not belong to this system: {error}") from error
    if not phi.max(initial=0.0) <= OPEN * max(1.0, system.walked[1]):
        row = int(np.argmax(phi))
        raise AnalysisError(f"start does not fulfil the joints: {system.labels[row]} misses by {phi[row]:.3g}.")
    return start


def _number(value: Any, what: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise AnalysisError(f"{what} must be a number of seconds, not {value!r}.") from None
