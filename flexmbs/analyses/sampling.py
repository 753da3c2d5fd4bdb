"""Runs with sampled controllers: from sample to sample, outputs held in between.

Between samples the forces of controllers are constant, and at a sample they jump; so each stretch is a run of its own,
which begins with the accelerations of the new forces. Nothing of the model is changed: each stretch sees a copy of the
system in which the outputs are numbers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import AnalysisError
from flexmbs.forces.controller import Controller, Sensed
from flexmbs.integrators.generalized_alpha import History
from flexmbs.profiles import FunctionProfile
from flexmbs.results import Samples
from flexmbs.system.state import State
from flexmbs.system.system import System

Array = NDArray[np.float64]


@dataclass
class _Record:
    """What one controller did so far; ``steps`` per period."""

    controller: Controller
    steps: int
    memory: Any
    t: list[float]
    inputs: list[list[Any]]
    outputs: list[Array]


def sampled_run(
    method: Any,
    system: System,
    start: State,
    t_end: float,
    step: float,
    every: int,
    progress: Callable[[float], None] | None,
    memories: dict[str, Any],
) -> tuple[System, History, str, dict[str, int], dict[str, Samples]]:
    """Integrate with controllers: the system with their outputs as functions of time, and what a run gives.

    Samples are taken at the start and every period after. ``step`` must divide all periods. ``memories`` continue
    earlier runs.
    """
    records = [_record(c, step, memories) for c in system.controllers]
    total = max(1, round((t_end - start.t) / step))
    _ = system.independent, system.length_weights  # found once, and shared by the copies
    stops = sorted({0, total, *(k for r in records for k in range(0, total, r.steps))})
    begin, kept, outcome, counters = start, [], "finished", {}  # type: State, list[tuple[Any, ...]], str, dict[str, int]
    try:
        for first, last in pairwise(stops):
            for record in records:
                if first % record.steps == 0:
                    _sample(system, record, begin)
            holding = system.held({r.controller.name: r.outputs[-1] for r in records})
            until = t_end if last == total else start.t + last * step
            history, outcome, counts = method.run(
                holding, begin, until, (until - begin.t) / (last - first), 1, progress
            )
            counters = {name: counters.get(name, 0) + count for name, count in counts.items()}
            states = list(zip(*history[:6], strict=True))
            done = outcome == "finished"
            # the state at a sample is kept with the forces after it
            kept.extend(
                s for k, s in enumerate(states[: -1 if done and last < total else None]) if not (first + k) % every
            )
            if not done or last == total:
                if not done and (len(states) - 1 + first) % every:
                    kept.append(states[-1])
                break
            begin = State(float(history.t[-1]), history.q[-1], history.v[-1], history.angles[-1])
    except KeyboardInterrupt:  # in a law, or between two runs
        if not kept:
            raise
        outcome = f"interrupted at t = {kept[-1][0]:.6g}"
    samples = {r.controller.name: _samples(r) for r in records}
    history = History(*(np.array(c) for c in zip(*kept, strict=True)))
    return playing(system, samples), history, outcome, counters, samples


def playing(system: System, samples: Mapping[str, Samples]) -> System:
    """The system with what its controllers gave as functions of time."""
    return system.held(
        {name: [_steps(s.t, s.outputs[:, k]) for k in range(s.outputs.shape[1])] for name, s in samples.items()}
    )


def _record(controller: Controller, step: float, memories: dict[str, Any]) -> _Record:
    steps = round(controller.period / step)
    if steps < 1 or abs(steps * step - controller.period) > 1e-9 * controller.period:
        near = controller.period / max(1, int(np.ceil(controller.period / step - 1e-9)))
        raise AnalysisError(
            f"{controller.name}: steps must land on its samples, every {controller.period:.6g} s, but step is "
            f"{step:.6g} s; take step={near:.12g}."
        )
    memory = copy.deepcopy(memories.get(controller.name, controller.memory))  # a law may change it in place
    return _Record(controller, steps, memory, [], [], [])


def _sample(system: System, record: _Record, state: State) -> None:
    """Call the law."""
    work = system.evaluate(state.t, state.q, state.v, state.angles)
    inputs = system.sensed(record.controller, work, state.v)
    outputs, record.memory = record.controller.sampled(float(state.t), inputs, record.memory)
    record.t.append(float(state.t))
    record.inputs.append(inputs)
    record.outputs.append(outputs)


def _samples(record: _Record) -> Samples:
    numbers = [[x for s in row for x in (s if isinstance(s, Sensed) else np.concatenate([np.ravel(a) for a in s]))]
               for row in record.inputs]  # fmt: skip
    return Samples(np.array(record.t), np.array(numbers), np.array(record.outputs), record.memory)


def _steps(times: Array, values: Array) -> FunctionProfile:
    """A function that holds each value until the next time."""
    edges = times[1:] - 1e-12 * np.maximum(1.0, np.abs(times[1:]))  # a time that is rounded is still the sample's

    def value(t: float) -> float:
        return float(values[np.searchsorted(edges, t, side="right")])

    return FunctionProfile(value, rate=_nothing, acceleration=_nothing)


def _nothing(t: float) -> float:
    return 0.0
