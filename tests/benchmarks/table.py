"""One row per measured case, as a line and as a table of a page: ratios first, as seconds belong to one machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True)
class Row:
    """A measured case.

    ``value`` is what is compared with ``wanted`` (">= 10", "<= 3"): a ratio of times or of bytes, called ``measure``;
    None where the peer is missing, and ``note`` says so. ``unit`` is that of both times.
    """

    case: str
    size: str
    measure: str
    value: float | None
    wanted: str = ""
    seconds: float | None = None
    peer_seconds: float | None = None
    note: str = ""
    unit: str = "s"

    @property
    def met(self) -> bool | None:
        """Whether the value is as wanted; None where nothing was measured or wanted."""
        if self.value is None or not self.wanted:
            return None
        sign, bound = self.wanted.split()
        return self.value >= float(bound) if sign == ">=" else self.value <= float(bound)

    @property
    def figure(self) -> str:
        """The value in three digits or so."""
        if self.value is None:
            return "-"
        return f"{self.value:{'.2g' if self.value < 0.1 else '.2f' if self.value < 10 else '.1f'}}"

    def __str__(self) -> str:
        value = self.figure
        verdict = {True: "yes", False: "NO", None: ""}[self.met]
        seconds, peer = ("" if s is None else f"{s:.3f}" for s in (self.seconds, self.peer_seconds))
        return (
            f"{self.case:26}{self.size:>18}  {self.measure:30}{value:>8}{self.wanted:>9}{verdict:>5}"
            f"{seconds:>10}{peer:>10}  {self.unit if self.unit != 's' else ''} {self.note}"
        ).rstrip()


HEAD = (
    f"{'case':26}{'size':>18}  {'measure':30}{'value':>8}{'wanted':>9}{'met':>5}{'flexmbs s':>10}{'peer s':>10}\n"
    + "-" * 116
)


def show(rows: Iterable[Row]) -> list[Row]:
    """Print rows under a head as they come; returns them."""
    print(HEAD, flush=True)
    out = []
    for row in rows:
        print(row, flush=True)
        out.append(row)
    return out


def markdown(rows: Sequence[Row]) -> str:
    """Rows as a table of a page; columns that would be empty are left out."""
    columns: dict[str, Callable[[Row], str]] = {
        "case": lambda r: r.case,
        "size": lambda r: r.size,
        "measure": lambda r: r.measure,
        "value": lambda r: r.figure,
        "wanted": lambda r: r.wanted.replace(">=", "≥").replace("<=", "≤"),
        "flexmbs": lambda r: "" if r.seconds is None else f"{three_digits(r.seconds)} {r.unit}",
        "peer": lambda r: "" if r.peer_seconds is None else f"{three_digits(r.peer_seconds)} {r.unit}",
        "note": lambda r: r.note,
    }
    used = {name: cell for name, cell in columns.items() if any(cell(r) for r in rows)}
    lines = ["| " + " | ".join(used) + " |", "|" + "---|" * len(used)]
    lines += ["| " + " | ".join(cell(r) for cell in used.values()) + " |" for r in rows]
    return "\n".join(lines)


def three_digits(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def best(run: Callable[[S], T], repeat: int, prepare: Callable[[], S]) -> tuple[float, T]:
    """Least wall time of ``repeat`` runs, and the last result; ``prepare`` makes each run's argument, untimed."""
    least = float("inf")
    for _ in range(repeat):
        result: T | None = None  # free the last result first, so that two are never held
        argument = prepare()
        start = time.perf_counter()
        result = run(argument)
        least = min(least, time.perf_counter() - start)
    assert result is not None
    return least, result
