"""Results in files: written at once, or instant by instant while a run goes on."""

from __future__ import annotations

import dataclasses
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import FileError
from flexmbs.integrators.history import History, Keeper, Snapshot, history_of
from flexmbs.results.file import Appender, as_path, read, write
from flexmbs.results.geometry import Geometry
from flexmbs.results.known import History as Reference
from flexmbs.results.known import ModelDecoder, ModelEncoder
from flexmbs.results.vtkhdf import write_first, write_steps
from flexmbs.system.reactions import least_multipliers

Array = NDArray[np.float64]

HISTORIES = ("t", "q", "v", "rate", "multipliers", "angles")
RESULT = "results.result.Result"
UNFINISHED = "unfinished"
"""Outcome of a run whose end the file does not know."""


def save_result(result: Any, path: Any, run: dict[str, Any] | None = None, functions: Array | None = None) -> None:
    """Write a Result whole; what was there before is replaced when all is written.

    ``run`` says how it was integrated, and ``functions`` what Python functions gave, if that is known already.
    """
    where, encoder = as_path(path), ModelEncoder()
    fields = {f.name: getattr(result, f.name) for f in dataclasses.fields(result)}
    root = encoder.object(result, fields | {name: Reference(name) for name in HISTORIES})
    histories = {name: getattr(result, name) for name in HISTORIES}
    if encoder.watched.width:
        histories["functions"] = encoder.watched.over(result.system, result) if functions is None else functions
    picture = None
    if len(result.t):
        geometry = Geometry.of(result.system)
        picture = (lambda group: write_steps(group, geometry, result)) if len(geometry.types) else None
    write(where, encoder.text(root, run=run), encoder.block(), histories, picture=picture)


def save_other(thing: Any, path: Any) -> None:
    """Write what an analysis gave that is no motion of a mechanism."""
    where, encoder = as_path(path), ModelEncoder()
    root = encoder.value(thing)
    none = {"t": np.zeros(0), "functions": np.zeros((0, encoder.watched.width))}
    write(where, encoder.text(root, run=None), encoder.block(), none if encoder.watched.width else {"t": np.zeros(0)})


class Saved:
    """What can be written to a file."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write all of it to a file (HDF5) that ``fm.load`` reads without this program."""
        save_other(self, path)


# ---- runs -----------------------------------------------------------------------------------------------------------


def packed(carried: Any) -> bytes:
    """What an integrator needs to go on, as bytes; as many every time."""
    encoder = ModelEncoder()
    text = encoder.text(encoder.value(carried))
    return len(text).to_bytes(8, "little") + text + encoder.block().tobytes()


def unpacked(data: bytes, decode: Any) -> Any:
    """What ``packed`` made bytes of; ``decode`` reads a tree and its arrays."""
    size = int.from_bytes(data[:8], "little")
    return decode(data[8 : 8 + size], np.frombuffer(bytearray(data[8 + size :]), dtype=np.uint8))


class Recorder(Keeper):
    """Keeps the instants of a run in a file, each as soon as it is there, and none in memory.

    The file is made with the first of them. ``earlier`` are instants of the run that goes on.
    """

    eager = True

    def __init__(self, path: Path, system: Any, room: int, run: dict[str, Any]) -> None:
        super().__init__()
        self.path, self.system, self.room, self.run = path, system, room, run
        self._encoder = ModelEncoder()
        fields = {"system": system, "outcome": UNFINISHED, "counters": {}, "wall_time": 0.0, "forces_known": True}
        fields |= {"events": {}, "carried": None, "controllers": {}}
        self._root = self._encoder.object(self, fields | {n: Reference(n) for n in HISTORIES}, RESULT)
        self._appender: Appender | None = None

    def begin(self, earlier: dict[str, Array], carried: Any) -> None:
        """Make the file, with the instants there are already."""
        encoder, slot = self._encoder, 0 if carried is None else len(packed(carried))
        first = history_of([Snapshot(*(earlier[name][0] for name in HISTORIES))])
        geometry = Geometry.of(self.system)
        picture = (lambda group: write_first(group, geometry, self.system, first)) if len(geometry.types) else None
        tree = encoder.text(self._root, run=self.run)
        write(self.path, tree, encoder.block(), earlier, self.room, slot, picture)
        self._appender = Appender(self.path, len(earlier["t"]))
        self.last = Snapshot(*(earlier[name][-1] for name in HISTORIES))
        if carried is not None:
            self._appender.add({name: values[:0] for name, values in earlier.items()}, packed(carried))

    def add(self, new: History, carried: Any = None) -> None:
        """Write more instants."""
        if self.last is not None:
            new = new.part(new.t > self.last.t)  # a run that goes on begins with the last one once more
        if not len(new.t):
            return
        rows = self._rows(new)
        if self._appender is None:
            self.begin(rows, carried)
            return
        if self._appender.count + len(new.t) > self.room:
            raise FileError(f"{self.path}: there are more instants than was foreseen ({self.room}).")
        self._appender.add(rows, None if carried is None else packed(carried))
        self.last = new.snapshot(-1)

    def append(self, one: Snapshot) -> None:
        """Write one more instant."""
        self.add(history_of([one]))

    def _rows(self, new: History) -> dict[str, Array]:
        """Histories of new instants, with reactions shared among redundant rows."""
        states = zip(new.t, new.q, new.v, new.angles, strict=True)
        shared = new._replace(multipliers=least_multipliers(self.system, states, new.multipliers))
        rows = {name: getattr(shared, name) for name in HISTORIES}
        if self._encoder.watched.width:
            rows["functions"] = self._encoder.watched.over(self.system, new)
        return rows

    def history(self) -> History:
        """All instants, as the file has them."""
        if self._appender is not None and self._appender.replaced:
            raise FileError(f"{self.path}: another program has replaced the file while this run went on.")
        self.close()
        found = read(self.path).histories
        return History(*(found[name] for name in HISTORIES))

    def finish(self, result: Any) -> Any:
        """Write the file anew with all that is known now; the result with its histories there."""
        before = read(self.path).histories
        save_result(result, self.path, self.run, before.get("functions"))
        found = read(self.path).histories
        return dataclasses.replace(result, **{name: found[name] for name in HISTORIES})

    def close(self) -> None:
        """No more instants."""
        if self._appender is not None:
            self._appender.close()


__all__ = ["ModelDecoder", "Recorder", "packed", "save_other", "save_result", "unpacked"]
