"""The file of a result: one HDF5 file, whose structure is written before its numbers, so that no kill can break it.

``model/tree`` and ``model/arrays`` hold everything but histories (see ``objects``); ``history/...`` one array for each
history with room for all instants, ``history/count`` how many there are; ``restart/...`` two places for what an
integrator needs to go on, written in turn; ``VTKHDF`` what ParaView shows. While a run goes on, HDF5 itself is not
used: numbers are written at their places in a file that is complete, and the count after them. Histories are read by
mapping the file into memory, so that only what is looked at is loaded.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import FileError

Array = NDArray[np.float64]

FORMAT, VERSION = "flexmbs result", 1
PAGE = 4096
"""Histories begin at multiples of so many bytes."""
SMALL = 1 << 26
"""Bytes of arrays of a model up to which they are read at once, and not mapped."""
COPIED = 1 << 24
"""Bytes that are copied at once."""


class Places(NamedTuple):
    """Where in a file the numbers of a run are written: (offset, numbers in a row) of each history, and the rest."""

    rows: dict[str, tuple[int, int]]
    room: int
    counter: int
    stamps: int
    slots: tuple[int, ...]
    slot_size: int


class Contents(NamedTuple):
    """What is in a file: the tree, the arrays of the model, histories, and what an integrator left at an instant."""

    tree: dict[str, Any]
    block: NDArray[np.uint8]
    histories: dict[str, Array]
    restart: tuple[int, bytes] | None


def as_path(path: Any) -> Path:
    """The path, if it is one."""
    if not isinstance(path, str | PathLike) or not str(path):
        raise FileError(f"a file is named by a string or a path, not {path!r}.")
    return Path(path)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new file beside the path that takes its place when all of it is written; else nothing has happened."""
    if path.is_dir():
        raise FileError(f"{path} is a folder; name a file in it.")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    _clear(path)
    try:
        yield part
        os.replace(part, path)
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        with suppress(OSError):
            part.unlink()


def _clear(path: Path) -> None:
    """Remove what killed processes left beside a file."""
    for left in path.parent.glob(f".{path.name}.*.part"):
        number = left.name.split(".")[-2]
        try:
            os.kill(int(number), 0)
        except (ValueError, PermissionError):
            continue
        except OSError:  # nobody has this number
            with suppress(OSError):
                left.unlink()


def write(
    path: Path,
    text: bytes,
    block: NDArray[np.uint8],
    histories: Mapping[str, Array],
    room: int | None = None,
    slot_size: int = 0,
    picture: Callable[[Any], None] | None = None,
) -> None:
    """Write a whole file at once, with ``room`` for more instants; ``picture`` writes the group for ParaView."""
    count = len(histories["t"]) if "t" in histories else 0
    room = count if room is None else max(room, count)
    with replacing(path) as part:
        h5py = import_module("h5py")
        with h5py.File(part, "w", alignment_threshold=PAGE, alignment_interval=PAGE) as file:
            file.attrs["format"], file.attrs["version"] = FORMAT, VERSION
            _reserved(file, "model/tree", (len(text),), "u1")[:] = np.frombuffer(text, dtype=np.uint8)
            _filled(_reserved(file, "model/arrays", block.shape, "u1"), block)
            for name, values in histories.items():
                _filled(_reserved(file, f"history/{name}", (room, *values.shape[1:]), "f8"), values)
            _reserved(file, "history/count", (1,), "i8")[0] = count
            if slot_size:
                _reserved(file, "restart/stamp", (2,), "i8")[:] = -1
                for k in range(2):
                    _reserved(file, f"restart/slot{k}", (slot_size,), "u1")
            if picture is not None:
                picture(file.create_group("VTKHDF", track_order=True))
        _settled(part)


def _reserved(file: Any, name: str, shape: tuple[int, ...], dtype: str) -> Any:
    """A dataset that has its place in the file from the beginning."""
    h5py = import_module("h5py")
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    plist.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    group, _, last = name.rpartition("/")
    space, kind = h5py.h5s.create_simple(shape), h5py.h5t.py_create(np.dtype(dtype))
    return h5py.Dataset(h5py.h5d.create(file.require_group(group).id, last.encode(), kind, space, plist))


def _filled(dataset: Any, values: NDArray[Any]) -> None:
    """Write the first rows, some at a time."""
    step = max(1, COPIED // max(1, values[:1].nbytes))
    for first in range(0, len(values), step):
        some = values[first : first + step]
        if some.size:
            dataset[first : first + len(some)] = some


def _settled(path: Path) -> None:
    """See that all of a file is on the disk, also what is still to be filled: a full disk is heard of now."""
    with path.open("r+b") as file:
        with suppress(AttributeError):  # not on every system
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
        os.fsync(file.fileno())


# ---- reading --------------------------------------------------------------------------------------------------------


def read(path: Path) -> Contents:
    """All that is in a file, histories mapped."""
    with opened(path) as file:
        count = int(file["history/count"][0])
        block_places = _place(file["model/arrays"])
        text = bytes(file["model/tree"][:])
        places = {name: (_place(d), d.shape) for name, d in file["history"].items() if name != "count"}
        restart = _restart(file, count)
    try:
        tree = json.loads(text)
    except ValueError as error:
        raise FileError(f"{path}: what describes its model cannot be read ({error}).") from error
    block = _mapped(path, *block_places, np.dtype(np.uint8))
    if block.nbytes <= SMALL:
        block = np.array(block)
    histories = {}
    for name, ((offset, _), shape) in places.items():
        flat = _mapped(path, offset, count * int(np.prod(shape[1:], dtype=np.int64)), np.dtype(np.float64))
        histories[name] = flat.reshape(count, *shape[1:])
    return Contents(tree, block, histories, restart)


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """A file of results for reading, if it is one."""
    h5py = import_module("h5py")
    if not path.is_file():
        raise FileError(f"{path}: there is no such file.")
    if not h5py.is_hdf5(path):
        raise FileError(f"{path}: this is no result of flexmbs (no HDF5 file).")
    try:
        with h5py.File(path, "r") as file:
            if _text(file.attrs.get("format")) != FORMAT:
                raise FileError(f"{path}: this HDF5 file is no result of flexmbs.")
            version = int(file.attrs.get("version", 0))
            if version > VERSION:
                raise FileError(
                    f"{path}: written by a newer version of flexmbs (format {version}; this one reads {VERSION})."
                )
            yield file
    except (OSError, KeyError, RuntimeError) as error:
        raise FileError(f"{path}: the file is damaged or cut off ({error}).") from error


def _text(x: Any) -> str:
    return x.decode() if isinstance(x, bytes) else str(x)


def _place(dataset: Any) -> tuple[int, int]:
    """Offset and size of a dataset in its file; the offset of an empty one is 0."""
    return int(dataset.id.get_offset() or 0), int(dataset.size)


def _mapped(path: Path, offset: int, size: int, kind: np.dtype[Any]) -> NDArray[Any]:
    """Numbers in a file as an array that is loaded where it is looked at, and changes nothing in the file."""
    if not size:
        return np.zeros(0, dtype=kind)
    if path.stat().st_size < offset + size * kind.itemsize:
        raise FileError(f"{path}: the file is cut off.")
    return np.asarray(np.memmap(path, dtype=kind, mode="c", offset=offset, shape=(size,)))


def _restart(file: Any, count: int) -> tuple[int, bytes] | None:
    """The later of what integrators left, and the number of instants then."""
    if "restart" not in file:
        return None
    stamps = file["restart/stamp"][:]
    known = [k for k in range(2) if 0 < stamps[k] <= count]
    if not known:
        return None
    k = max(known, key=lambda k: stamps[k])
    return int(stamps[k]), bytes(file[f"restart/slot{k}"][:])


def places(path: Path) -> Places:
    """Where the numbers of a run go."""
    with opened(path) as file:
        rows = {
            name: (_place(d)[0], int(np.prod(d.shape[1:], dtype=np.int64)))
            for name, d in file["history"].items()
            if name != "count"
        }
        slots: tuple[int, ...] = ()
        stamps = size = 0
        if "restart" in file:
            slots = tuple(_place(file[f"restart/slot{k}"])[0] for k in range(2))
            stamps, size = _place(file["restart/stamp"])[0], int(file["restart/slot0"].size)
        return Places(rows, len(file["history/t"]), _place(file["history/count"])[0], stamps, slots, size)


class Appender:
    """Writes instants into the room of a file; what is written counts when the count says so."""

    def __init__(self, path: Path, count: int) -> None:
        self.path, self.places, self.count = path, places(path), count
        self._file = path.open("r+b", buffering=0)
        self._turn = 0

    def close(self) -> None:
        """No more instants."""
        self._file.close()

    @property
    def replaced(self) -> bool:
        """Whether another program has put another file in the place of this one."""
        try:
            there, mine = self.path.stat(), os.fstat(self._file.fileno())
        except (OSError, ValueError):
            return True
        return not os.path.samestat(there, mine)

    def add(self, rows: Mapping[str, Array], restart: bytes | None = None) -> None:
        """More instants, and what the integrator needs to go on after the last of them."""
        new = len(rows["t"])
        try:
            for name, values in rows.items():
                offset, width = self.places.rows[name]
                self._write(np.ascontiguousarray(values, dtype=np.float64), offset + 8 * self.count * width)
            self.count += new
            self._write(np.array([self.count], dtype=np.int64), self.places.counter)
            if restart is not None and len(restart) == self.places.slot_size:
                self._restart(restart)
        except OSError as error:
            raise FileError(
                f"{self.path}: {error.strerror or error}; the file keeps the {self.count} instants until then."
            ) from error

    def _restart(self, restart: bytes) -> None:
        k = self._turn = 1 - self._turn
        stamp = self.places.stamps + 8 * k
        self._write(np.array([-1], dtype=np.int64), stamp)  # not to be used while it changes
        self._write(np.frombuffer(restart, dtype=np.uint8), self.places.slots[k])
        self._write(np.array([self.count], dtype=np.int64), stamp)

    def _write(self, values: NDArray[Any], offset: int) -> None:
        data: Any = memoryview(values.data).cast("B") if values.size else b""
        self._file.seek(offset)
        while len(data):
            done = self._file.write(data) or 0
            data = data[done:]
