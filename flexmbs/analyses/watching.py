"""What events are about, as functions of a history: coordinates, reactions, and Python functions of a Result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import PLANAR
from flexmbs.bodies.ground import Ground
from flexmbs.errors import AnalysisError, FlexmbsError
from flexmbs.integrators.events import COMPONENTS, Event, Values, Watch
from flexmbs.integrators.history import History, Snapshot, history_of
from flexmbs.joints.joint import Measure
from flexmbs.results import Result
from flexmbs.system.reactions import least_multipliers
from flexmbs.system.state import State
from flexmbs.system.system import System

Array = NDArray[np.float64]


def watch_of(system: System, events: Any, start: State) -> Watch | None:
    """A watch of these events, each tried out at the start; None where there are none."""
    if not isinstance(events, Iterable) or isinstance(events, str):
        raise AnalysisError(f"events: a list is needed, events=[...], not one {type(events).__name__}.")
    events = tuple(events)
    for event in events:
        if not isinstance(event, Event):
            raise AnalysisError(f"events: {event!r} is not an Event.")
    names = [event.name for event in events]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise AnalysisError(f"two events are named {twice[0]!r}; names must be unique.")
    values = [_values(system, event) for event in events]
    still, rows = np.zeros(system.n_v), np.zeros(len(system.rows))
    first = history_of([Snapshot(start.t, start.q, start.v, still, rows, start.angles)])
    for event, value in zip(events, values, strict=True):
        try:
            value(first)
        except AnalysisError:
            raise
        except FlexmbsError as error:
            raise AnalysisError(f"event {event.name!r}: {error}") from error
    return Watch(events, values) if events else None


def found(system: System, watch: Watch | None) -> dict[str, Result]:
    """The instants at which each event happened, by name."""
    if watch is None:
        return {}
    return {
        e.name: motion(system, _history(system, states)) for e, states in zip(watch.events, watch.found, strict=True)
    }


def motion(system: System, history: History, **more: Any) -> Result:
    """A history as a Result, with reactions shared among redundant rows."""
    states = zip(history.t, history.q, history.v, history.angles, strict=True)
    multipliers = least_multipliers(system, states, history.multipliers)
    return Result(system, *history[:4], multipliers, history.angles, carried=history.carried, **more)


def _history(system: System, states: list[Snapshot]) -> History:
    if states:
        return history_of(states)
    widths = system.n_q, system.n_v, system.n_v, len(system.rows), len(system.layout.measure_kind)
    return History(np.zeros(0), *(np.zeros((0, n)) for n in widths))


def _values(system: System, event: Event) -> Values:
    of = event.of
    if isinstance(of, Measure):
        return lambda history: Result(system, *history[:6]).coordinate(of)
    if isinstance(of, tuple):
        joint, component = of
        planar = all(f.body.kind in (PLANAR, Ground.kind) for f in (joint.frame_i, joint.frame_j))
        known = ("Fx", "Fy", "Mz") if planar else COMPONENTS
        if component not in known:
            raise AnalysisError(
                f"event {event.name!r}: the reaction of planar joint {joint.name!r} has Fx, Fy, Mz, no {component}."
            )
        return lambda history: motion(system, history).reaction(joint)[:, known.index(component)]
    if not callable(of):
        return lambda history: motion(system, history).reaction(of)

    def called(history: History) -> Array:
        out = np.asarray(of(motion(system, history)), dtype=float)
        if out.shape != history.t.shape:
            raise AnalysisError(
                f"event {event.name!r}: its function must give a number for each of the Result's instants, an array of "
                f"shape {history.t.shape}; it gave {out.shape}. Write e.g. motion.velocity(ball)[:, 2]."
            )
        return out

    return called
