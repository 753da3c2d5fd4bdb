"""Forward dynamics: how a mechanism moves."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from flexmbs.errors import AnalysisError
from flexmbs.integrators.generalized_alpha import GeneralizedAlpha
from flexmbs.results import Result
from flexmbs.system.reactions import least_multipliers
from flexmbs.system.state import State
from flexmbs.system.system import System


def forward_dynamics(
    system: System,
    t_end: float,
    step: float | None = None,
    *,
    output_step: float | None = None,
    integrator: Any = None,
    start: State | Result | None = None,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Motion from the initial state (or from ``start``, a State or the end of a Result) until ``t_end``.

    ``step`` is the integrator's (a thousandth of the time by default), ``output_step`` that of what is kept.
    A run that fails keeps what was computed; ``outcome`` says when and why.
    """
    begin = _start(system, start)
    if not (np.isfinite(t_end) and t_end > begin.t):
        raise AnalysisError(f"t_end must be later than the start at {begin.t:.6g} s, not {t_end}.")
    h = (t_end - begin.t) / 1000 if step is None else float(step)
    if not (np.isfinite(h) and 0 < h <= t_end - begin.t):
        raise AnalysisError(f"step must be positive and at most the time to run ({t_end - begin.t:.6g} s), not {step}.")
    every = 1 if output_step is None else round(output_step / h)
    if output_step is not None and (every < 1 or abs(every * h - output_step) > 1e-6 * output_step):
        raise AnalysisError(f"output_step {output_step} must be a multiple of step {h}.")
    method = integrator or GeneralizedAlpha()
    began = time.perf_counter()
    history, outcome, counters = method.run(system, begin, t_end, h, every, progress)
    states = zip(history.t, history.q, history.v, history.angles, strict=True)
    return Result(
        system,
        history.t,
        history.q,
        history.v,
        history.rate,
        least_multipliers(system, states, history.multipliers),
        history.angles,
        outcome,
        counters,
        time.perf_counter() - began,
    )


def _start(system: System, start: State | Result | None) -> State:
    if start is None:
        return system.initial
    if isinstance(start, State):
        return start
    if isinstance(start, Result):
        return State(float(start.t[-1]), start.q[-1], start.v[-1], start.angles[-1])
    raise AnalysisError(f"start must be a State or a Result, not {type(start).__name__}.")
