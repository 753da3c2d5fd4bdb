"""Runs that are kept in files as they are computed, and runs that go on with one in a file."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexmbs.analyses.sampling import playing
from flexmbs.errors import FileError
from flexmbs.results import Result
from flexmbs.results import result as results
from flexmbs.results.comparing import Tree, difference
from flexmbs.results.file import Contents, as_path, read
from flexmbs.results.known import CLASSES, ModelDecoder, ModelEncoder, classes_of
from flexmbs.results.saving import HISTORIES, UNFINISHED, Recorder, unpacked
from flexmbs.system.state import State
from flexmbs.system.system import System

Array = NDArray[np.float64]

RUNS: Mapping[str, type] = {**CLASSES, **classes_of((results,))}
"""What may be in files of runs."""


def made(where: Path, contents: Contents, classes: Mapping[str, type] = RUNS) -> Any:
    """What is in a file that was read."""
    tree = contents.tree
    try:
        found = ModelDecoder(tree, contents.block, contents.histories, classes).value(tree["root"])
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise FileError(f"{where}: the file is damaged ({error!r}).") from error
    except FileError as error:
        raise FileError(f"{where}: {error}") from error
    if not isinstance(found, Result):
        return found
    if found.controllers:
        found = dataclasses.replace(found, system=playing(found.system, found.controllers))
    if found.outcome == UNFINISHED:
        reached = f"{UNFINISHED}: the run is still going on, or was killed, after t = {found.t[-1]:.6g}"
        state = contents.restart
        carried = _carried(state[1]) if state is not None and state[0] == len(found.t) else found.carried
        found = dataclasses.replace(found, outcome=reached, carried=carried)
    return found


def _carried(data: bytes) -> Any:
    def decode(text: bytes, block: Any) -> Any:
        tree = json.loads(text)
        return ModelDecoder(tree, block, {}, RUNS).value(tree["root"])

    return unpacked(data, decode)


class Run(NamedTuple):
    """A run that is kept in a file: who keeps it, from where it goes on, and the steps before; or all of it."""

    recorder: Recorder
    begin: State
    passed: tuple[float, int] | None
    done: Result | None = None


def new_run(path: Any, overwrite: bool, system: System, begin: State, room: int, settings: dict[str, Any]) -> Run:
    """A run from the beginning."""
    where = as_path(path)
    if where.exists() and not overwrite:
        raise FileError(
            f"save: {where} exists. Give resume=True to go on with the run in it, overwrite=True to replace it, or "
            "another name."
        )
    if not where.parent.is_dir():
        raise FileError(f"save: there is no folder {where.parent}.")
    return Run(Recorder(where, system, room, settings), begin, None)


def resumed_run(path: Any, system: System, begin: State, t_end: float, room: int, settings: dict[str, Any]) -> Run:
    """The run in a file, from its last instant; where there is no file, from the beginning."""
    where = as_path(path)
    if not where.exists():
        return new_run(where, False, system, begin, room, settings)
    contents = read(where)
    histories, count = contents.histories, len(contents.histories["t"])
    before = contents.tree.get("run")
    if before is None or not count:
        raise FileError(f"resume: {where} holds no run of forward_dynamics that was saved as it was computed.")
    _check(where, system, contents, before, settings)
    t = histories["t"]
    if t[-1] >= t_end - 1e-6 * settings["step"]:
        recorder, done = Recorder(where, system, room, settings), _again(where, system, contents)
        if done.outcome.startswith(UNFINISHED):  # killed after the last instant
            done = recorder.finish(dataclasses.replace(done, outcome="finished"))
        return Run(recorder, begin, None, done)
    carried = None
    if contents.restart is not None:
        count, carried = contents.restart[0], _carried(contents.restart[1])
    elif _root(contents).get("carried") is not None:
        carried = ModelDecoder(contents.tree, contents.block, histories, RUNS).value(_root(contents)["carried"])
    recorder = Recorder(where, system, room + count, settings)
    recorder.begin({name: histories[name][:count] for name in histories}, carried)
    state = {name: np.array(histories[name][count - 1]) for name in HISTORIES}
    begin = State(float(state["t"]), state["q"], state["v"], state["angles"], carried)
    steps = round((begin.t - before["start"]) / settings["step"])
    return Run(recorder, begin, (before["start"], steps))


def _root(contents: Contents) -> dict[str, Any]:
    """Fields of the Result in a file."""
    fields: dict[str, Any] = contents.tree["nodes"][contents.tree["root"]["object"]]["fields"]
    return fields


def _again(where: Path, system: System, contents: Contents) -> Result:
    """The Result in a file as one of the system of this program."""
    found = made(where, contents)
    events = {name: dataclasses.replace(event, system=system) for name, event in found.events.items()}
    return dataclasses.replace(found, system=system, events=events)


def _check(where: Path, system: System, contents: Contents, before: dict[str, Any], now: dict[str, Any]) -> None:
    """Refuse to go on with another model, integrator or step."""
    words = {"integrator": "integrator", "every": "number of steps between instants", "start": "start"}
    if abs(before["step"] - now["step"]) > 1e-9 * now["step"]:
        raise FileError(
            f"resume: {where} was computed with a step of {before['step']:.12g} s, not {now['step']:.12g} s; give "
            f"step={before['step']:.12g}."
        )
    for key, what in words.items():
        if before[key] != now[key]:
            raise FileError(f"resume: the {what} of the run in {where} is {before[key]}, not {now[key]}.")
    encoder = ModelEncoder()
    mine = encoder.value(system)
    here, there = Tree(encoder.nodes, encoder.block()), Tree(contents.tree["nodes"], contents.block)
    other = difference(here, there, mine, _root(contents)["system"])
    if other:
        raise FileError(
            f"resume: the model in {where} is another one ({other} differs). If the modes of a flexible body came out "
            "otherwise, keep them in a file of their own (body.save, FlexibleBody.load)."
        )
