"""Abaqus input files as keyword blocks: comments, continuations, includes and numbers with their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import MeshError

DEEPEST_INCLUDE = 20


@dataclass
class Keyword:
    """A keyword line with its parameters (upper-case names) and the data lines that follow it."""

    name: str
    parameters: dict[str, str]
    path: Path
    line: int
    rows: list[tuple[int, str]] = field(default_factory=list)

    def error(self, what: str, line: int | None = None) -> MeshError:
        """An error at a line of this keyword, by default its first."""
        return MeshError(f"{self.path}, line {line or self.line}: *{self.name}: {what}.")

    def need(self, parameter: str) -> str:
        """The value of a parameter that this keyword cannot do without."""
        if not self.parameters.get(parameter):
            raise self.error(f"the parameter {parameter}= is missing")
        return self.parameters[parameter]

    def fields(self) -> Iterator[tuple[int, list[str]]]:
        """Line number and fields of each data line; a last empty field is only a comma at the end."""
        for number, text in self.rows:
            fields = [f.strip() for f in text.split(",")]
            yield number, fields[:-1] if fields[-1] == "" else fields

    def numbers(self) -> NDArray[np.float64]:
        """All data as one run of numbers, however they are spread over lines."""
        out: list[float] = []
        for number, fields in self.fields():
            try:
                out.extend(map(float, fields))
            except ValueError:
                out.extend(self._number(f, number) for f in fields)
        return np.array(out)

    def table(self, columns: int) -> NDArray[np.float64]:
        """Data with one record per line: short lines and empty fields are filled with zeros, long ones cut."""
        if not self.rows:
            return np.zeros((0, columns))
        records = []
        for number, fields in self.fields():
            wanted = fields[:columns] + ["0"] * (columns - len(fields))
            try:
                records.append([float(f) for f in wanted])
            except ValueError:
                records.append([self._number(f, number) for f in wanted])
        return np.array(records)

    def _number(self, text: str, line: int) -> float:
        try:
            return float(re.sub("[dD]", "e", text) or "0")
        except ValueError:
            raise self.error(f"{text!r} is not a number", line) from None


def keywords(path: Path, depth: int = 0) -> Iterator[Keyword]:
    """The keyword blocks of a file, with those of the files it includes in their places."""
    current: Keyword | None = None
    for number, text in _lines(path):
        if not text.startswith("*"):
            if current:
                current.rows.append((number, text))
            continue
        if current:
            yield from _expanded(current, depth)
        current = _keyword(path, number, text)
    if current:
        yield from _expanded(current, depth)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines without comments and blank ones; a keyword line that ends in a comma goes on in the next."""
    pending: tuple[int, str] | None = None
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, raw in enumerate(file, 1):
            text = raw.strip()
            if not text or text.startswith("**"):
                continue
            if pending:
                number, text = pending[0], f"{pending[1]} {text}"
            pending = (number, text) if text.startswith("*") and text.endswith(",") else None
            if not pending:
                yield number, text
    if pending:
        yield pending


def _keyword(path: Path, line: int, text: str) -> Keyword:
    parts = [p.strip() for p in re.findall(r'(?:"[^"]*"|[^,"])+', text[1:])]
    parameters = {}
    for part in parts[1:]:
        key, _, value = part.partition("=")
        if key.strip():
            parameters[" ".join(key.upper().split())] = value.strip().strip('"')
    name = " ".join(parts[0].upper().split()) if parts else ""
    return Keyword(name, parameters, path, line)


def _expanded(keyword: Keyword, depth: int) -> Iterator[Keyword]:
    """An include becomes what it includes; data kept in a file of its own (INPUT=) become data lines."""
    source = keyword.parameters.get("INPUT")
    if source is None:
        yield keyword
        return
    path = keyword.path.parent / source
    if not path.is_file():
        raise keyword.error(f"the file {source!r} is not there (looked for {path}); put it beside the input file")
    if depth >= DEEPEST_INCLUDE:
        raise keyword.error(f"files include each other more than {DEEPEST_INCLUDE} deep; {source!r} includes itself?")
    if keyword.name == "INCLUDE":
        yield from keywords(path, depth + 1)
    else:
        yield Keyword(keyword.name, keyword.parameters, path, keyword.line, [*keyword.rows, *_lines(path)])
