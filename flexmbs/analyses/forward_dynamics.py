"""Forward dynamics: how a mechanism moves."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

import numpy as np

from flexmbs.analyses.quasi_static import quasi_static
from flexmbs.analyses.sampling import sampled_run
from flexmbs.analyses.saved_runs import Run, new_run, resumed_run
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
    save: str | PathLike[str] | None = None,
    resume: bool = False,
    overwrite: bool = False,
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

    ``save`` is a file (HDF5) into which every instant is written as soon as it is there; none is held in memory. It can
    be read while the run goes on and after it was killed (``fm.load``), and is opened by ParaView. An existing file is
    refused, unless ``overwrite``; or ``resume``: then the run in it goes on where it stopped, as if it had not
    (GeneralizedAlpha; others with new steps). What is finished is read.
    """
    if not isinstance(system, System):
        raise AnalysisError(f"forward_dynamics: a System is needed, not {type(system).__name__}.")
    if not system.n_v:
        raise AnalysisError("forward_dynamics: the system has no body that can move.")
    method = GeneralizedAlpha() if integrator is None else integrator
    if isinstance(method, type) or not hasattr(method, "run"):
        raise AnalysisError(f"integrator must be one such as TangentSpaceODE(), not {integrator!r}.")
    if system.condensed is not None and not isinstance(method, GeneralizedAlpha):
        names = ", ".join(body.name for body in system.bodies if body.full_order)
        raise AnalysisError(
            f"{names}: a body in full order runs with GeneralizedAlpha, not {type(method).__name__}; reduce it for "
            "other integrators, e.g. CraigBampton(modes=20)."
        )
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
    for option, what in ((resume, "resume"), (overwrite, "overwrite")):
        if not isinstance(option, bool):
            raise AnalysisError(f"{what} must be True or False, not {option!r}.")
        if option and save is None:
            raise AnalysisError(f"{what} goes with save=, the file of the run.")
    run: Run | None = None
    if save is not None:
        run = _kept_in_file(system, save, resume, overwrite, begin, t_end, h, every, method, watch is not None)
        if run.done is not None:
            return run.done
        begin = run.begin
    with reporting(progress, "forward dynamics", begin.t, t_end) as reached:
        if system.controllers:
            if watch is not None:
                raise AnalysisError("forward_dynamics: events of a system with sampled controllers are not looked for.")
            memories = {name: s.memory for name, s in start.controllers.items()} if isinstance(start, Result) else {}
            system, history, outcome, counters, samples = sampled_run(
                method, system, begin, t_end, h, every, reached, memories
            )
        else:
            options: dict[str, Any] = {} if watch is None else {"watch": watch}
            if run is not None:
                options |= {"keeper": run.recorder} | ({} if run.passed is None else {"passed": run.passed})
            try:
                history, outcome, counters = method.run(system, begin, t_end, h, every, reached, **options)
            finally:
                if run is not None:
                    run.recorder.close()
    more: dict[str, Any] = {"outcome": outcome, "counters": counters, "wall_time": time.perf_counter() - began}
    more |= {"events": found(system, watch), "controllers": samples}
    if run is None:
        result = motion(system, history, **more)
    elif samples:  # their outputs are known in the end
        result = motion(system, history, **more)
        result.save(run.recorder.path)
    else:
        result = run.recorder.finish(Result(system, *history[:6], carried=history.carried, **more))
    for text in result.warnings:
        warnings.warn(text, ModelWarning, stacklevel=2)
    return result


def _kept_in_file(
    system: System, save: Any, resume: bool, overwrite: bool, begin: State, t_end: float, h: float, every: int,
    method: Any, watched: bool,
) -> Run:  # fmt: skip
    """The run that a file keeps, from its beginning or from where the file ends."""
    if "keeper" not in inspect.signature(method.run).parameters:
        raise AnalysisError(f"save: {type(method).__name__} does not take keeper=; save the Result with its save().")
    settings = {"start": begin.t, "step": h, "every": every, "integrator": repr(method)}
    room = round((t_end - begin.t) / h) // every + 4
    if not resume:
        return new_run(save, overwrite, system, begin, room, settings)
    if overwrite:
        raise AnalysisError("save: resume=True goes on with the file, overwrite=True replaces it; give one of them.")
    if watched or system.controllers:
        what = "events" if watched else "sampled controllers"
        raise AnalysisError(f"save: a run with {what} cannot be resumed: what it remembers of them is not in the file.")
    run = resumed_run(save, system, begin, t_end, room, settings)
    return run if isinstance(method, GeneralizedAlpha) else run._replace(passed=None)


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
