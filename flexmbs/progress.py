"""Progress of long work, on standard error: a live line on a terminal, a plain line now and then in a log.

Whoever works says what is done by ``with Progress("forward dynamics", 0.0, t_end) as progress`` and how far it has come
by ``progress(t)``. That only notes a number; a thread of its own writes, and only where the work takes long. One line
is shown at a time: that of the outermost work. The environment variable FLEXMBS_PROGRESS=off silences all.

Kernels that have to be compiled, which is once after the installation, are announced in the same way wherever that
happens, so that nobody waits for nothing on the first run.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import wraps
from types import TracebackType
from typing import Any, Literal, ParamSpec, TextIO, TypeVar

from numba.core import event

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

SOON, OFTEN = 1.0, 0.25
"""Seconds after which, and between which, a terminal shows the line."""
INTERVAL = 10.0
"""Seconds to the first line in a log, and between lines."""
COMPILING = "compiling kernels, once after installation"

_line = threading.Lock()


class Progress(AbstractContextManager["Progress"]):
    """Work of some length: ``title``, and where known the numbers with which it begins and ends."""

    def __init__(self, title: str, begin: float = 0.0, end: float | None = None) -> None:
        self.title, self.begin, self.end = title, begin, end
        self.reached = begin
        self.began = time.monotonic()
        self.first: tuple[float, float] | None = None  # when the first report came, and its number
        self._over, self._ticker = threading.Event(), None  # type: threading.Event, threading.Thread | None

    def __call__(self, reached: float) -> None:
        """Work has come to this number."""
        self.reached = reached
        if self.first is None:
            self.first = (time.monotonic(), reached)

    def each(self, items: Iterable[T]) -> Iterator[T]:
        """The items, counted on the way."""
        for k, item in enumerate(items, start=1):
            yield item
            self(float(k))

    def __enter__(self) -> Progress:
        stream = sys.stderr
        if stream is not None and _wanted() and _line.acquire(blocking=False):
            try:
                self._ticker = threading.Thread(target=self._tick, args=(stream, _lives(stream)), daemon=True)
                self._ticker.start()
            except BaseException:  # Ctrl-C just now
                self._over.set()
                self._ticker = None
                _line.release()
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        if self._ticker is not None:
            try:
                self._over.set()
                self._ticker.join()
            finally:
                self._ticker = None
                _line.release()
        return False

    def text(self, now: float | None = None) -> str:
        """The line: how far, how long so far, how long still."""
        now = time.monotonic() if now is None else now
        words = [f"{duration(now - self.began)} so far"]
        part = self._part(self.reached)
        if part is not None and self.first is not None:
            words.insert(0, f"{100 * part:.0f} %")
            since, came = now - self.first[0], part - (self._part(self.first[1]) or 0.0)
            if came > 0 and since >= SOON:  # what was before the first report was not of the same kind
                words.append(f"about {duration(since * (1 - part) / came)} left")
        note = f" ({COMPILING})" if compilations.shown not in (None, self) else ""
        return f"{self.title}: {', '.join(words)}{note}"

    def _part(self, reached: float) -> float | None:
        if self.end is None or not self.end > self.begin:
            return None
        return min(1.0, max(0.0, (reached - self.begin) / (self.end - self.begin)))

    def _tick(self, stream: TextIO, live: bool) -> None:
        elapsed, shown = time.monotonic() - self.began, False
        wait = max(0.0, SOON - elapsed) if live else INTERVAL - elapsed % INTERVAL
        try:
            while not self._over.wait(wait):
                line = self.text()
                wait = OFTEN if live else INTERVAL
                if live:
                    columns = shutil.get_terminal_size().columns
                    line = f"\r{line[: max(20, columns - 1)]}\x1b[K"
                stream.write(line if live else line + "\n")
                stream.flush()
                shown = True
            if live and shown:
                stream.write("\r\x1b[K")
                stream.flush()
        except (OSError, ValueError):  # nobody listens any more
            return


def shown(title: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator: a function that may take long, and cannot say how far it has come."""

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            with Progress(title):
                return function(*args, **kwargs)

        return called

    return decorated


def reporting(
    progress: Callable[[float], None] | bool | None, title: str, begin: float, end: float
) -> AbstractContextManager[Callable[[float], None] | None]:
    """What an analysis does with its argument ``progress``: True for the line here, False for none, or a function."""
    if progress is True:
        return Progress(title, begin, end)
    return _Given(progress or None)


class _Given(AbstractContextManager["Callable[[float], None] | None"]):
    def __init__(self, function: Callable[[float], None] | None) -> None:
        self.function = function

    def __enter__(self) -> Callable[[float], None] | None:
        return self.function

    def __exit__(self, *problem: Any) -> Literal[False]:
        return False


def duration(seconds: float) -> str:
    """Seconds in words that are short."""
    whole = round(seconds)
    if whole < 100:
        return f"{whole} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _wanted() -> bool:
    """Not where it was switched off, nor in a worker of a pool, whose lines would fall among those of the others."""
    off = os.environ.get("FLEXMBS_PROGRESS", "").lower() in ("off", "0", "no")
    return not off and multiprocessing.parent_process() is None


def _lives(stream: TextIO) -> bool:
    try:
        return stream.isatty() and os.environ.get("TERM", "") != "dumb"
    except ValueError:  # closed
        return False


class _Compilations(event.Listener):
    """Hears when Numba begins and ends to compile a kernel of this package that its cache does not hold.

    Numba compiles under a lock of its own, so that one object is enough for all threads.
    """

    def __init__(self) -> None:
        self.depth, self.kernels, self.seconds, self.began = 0, 0, 0.0, 0.0
        self.shown: Progress | None = None

    def on_start(self, event: Any) -> None:
        """Show a line of its own, unless other work shows one."""
        self.depth += 1
        if self.depth == 1 and event.data["dispatcher"].py_func.__module__.startswith("flexmbs."):
            self.began = time.monotonic()
            self.shown = Progress(COMPILING)
            self.shown.began -= self.seconds
            self.shown.__enter__()

    def on_end(self, event: Any) -> None:
        """The kernel is there, with all that it calls."""
        self.depth -= 1
        if self.depth == 0 and self.shown is not None:
            self.shown.__exit__(None, None, None)
            self.shown = None
            self.kernels, self.seconds = self.kernels + 1, self.seconds + time.monotonic() - self.began


compilations = _Compilations()
"""What was compiled in this process so far: ``kernels`` and ``seconds``."""

event.register("numba:compile", compilations)
