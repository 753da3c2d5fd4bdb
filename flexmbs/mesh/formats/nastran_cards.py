"""Nastran files as cards: fixed, large and free fields, continuations, includes, case control and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from flexmbs.errors import MeshError

DEEPEST_INCLUDE = 20
_BARE_EXPONENT = re.compile(r"(?<=[\d.])([+-])(?=\d)")


@dataclass
class Card:
    """A bulk data card: its name, its data fields (stripped text) and where it begins.

    Comments come as cards named ``$``, case control commands as cards named ``CASE``, each with one field.
    """

    name: str
    fields: list[str]
    path: Path
    line: int

    def error(self, what: str) -> MeshError:
        """An error at this card."""
        return MeshError(f"{self.path}, line {self.line}: {self.name}: {what}.")

    def integer(self, k: int, default: int | None = None) -> int:
        """Field ``k`` as an integer."""
        text = self.fields[k] if k < len(self.fields) else ""
        if not text and default is not None:
            return default
        try:
            return int(text)
        except ValueError:
            raise self.error(f"field {k + 2} should be an integer, not {text!r}") from None

    def number(self, k: int) -> float:
        """Field ``k`` as a real number, 0 if empty; Nastran may leave out the E of the exponent."""
        text = self.fields[k] if k < len(self.fields) else ""
        if not text:
            return 0.0
        try:
            return float(text)
        except ValueError:
            pass
        try:
            return float(_BARE_EXPONENT.sub(r"e\1", re.sub("[dD]", "e", text)))
        except ValueError:
            raise self.error(f"field {k + 2} should be a number, not {text!r}") from None

    def numbers_from(self, k: int) -> list[int]:
        """The integers from field ``k`` on, with ``first THRU last [BY step]`` written out."""
        return expanded([f for f in self.fields[k:] if f], self)


def expanded(words: list[str], card: Card) -> list[int]:
    """Integers of a list with ranges."""
    out: list[int] = []
    position = 0
    while position < len(words):
        word = words[position].upper()
        try:
            if word == "THRU":
                last, step = int(words[position + 1]), 1
                if [w.upper() for w in words[position + 2 : position + 3]] == ["BY"]:
                    step = int(words[position + 3])
                    position += 2
                out.extend(range(out[-1] + step, last + 1, step))
                position += 2
                continue
            out.append(int(word))
        except (ValueError, IndexError):
            raise card.error(f"cannot read {' '.join(words)!r} as a list of numbers") from None
        position += 1
    return out


def cards(path: Path) -> Iterator[Card]:
    """The cards of a file and of those it includes, up to ENDDATA."""
    lines = list(_lines(path))
    begin = next((k for k, (_, _, text) in enumerate(lines) if re.match(r"\s*BEGIN\b", text, re.I)), -1)
    for source, number, text in lines[: max(begin, 0)]:
        yield Card("$" if text.startswith("$") else "CASE", [text], source, number)
    current: Card | None = None
    comments: list[Card] = []  # since the last card, which may go on after them
    for source, number, text in lines[begin + 1 :]:
        if text.startswith("$"):
            comments.append(Card("$", [text], source, number))
            continue
        if text[:7].upper() == "ENDDATA":
            break
        name, fields = _fields(text)
        if current and (not name or name[0] in "+*"):
            current.fields.extend(fields)
            continue
        if current:
            yield current
        yield from comments
        comments = []
        current = Card(name.rstrip("*").upper(), fields, source, number)
    if current:
        yield current
    yield from comments


def _lines(path: Path, depth: int = 0) -> Iterator[tuple[Path, int, str]]:
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, raw in enumerate(file, 1):
            text = raw.rstrip()
            if not text:
                continue
            include = re.match(r"\s*INCLUDE\s+['\"]?([^'\"]+)['\"]?\s*$", text, re.I)
            if not include:
                yield path, number, text
                continue
            other = path.parent / include[1].strip()
            if not other.is_file() or depth >= DEEPEST_INCLUDE:
                why = f"is not there (looked for {other})" if depth < DEEPEST_INCLUDE else "is included in a circle"
                raise MeshError(f"{path}, line {number}: INCLUDE: the file {include[1].strip()!r} {why}.")
            yield from _lines(other, depth + 1)


def _fields(text: str) -> tuple[str, list[str]]:
    """First field and data fields of a line, filled up: 8 small or 4 large ones, so that continuations follow on."""
    if "," in text:
        name, *data = (f.strip() for f in text.split(","))
        count = 4 if "*" in name else 8
    else:
        text = text.expandtabs(8)
        name = text[:8].strip()
        width, count = (16, 4) if "*" in name else (8, 8)
        data = [text[k : k + width].strip() for k in range(8, min(len(text), 72), width)]
    return name, data[:count] + [""] * (count - len(data))
