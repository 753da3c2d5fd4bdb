"""Write the tables of docs/validation.md: python docs/make_validation.py (seconds; a minute where it must compile).

The cases are those of the tests (tests/cases). What stands outside the two marks of the page is written by hand.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE / "validation.md"
BEGIN, END = "<!-- begin: docs/make_validation.py -->", "<!-- end -->"

sys.path.insert(0, str(HERE.parent / "tests"))
from cases import GROUPS  # noqa: E402
from cases.case import Case, Quantity  # noqa: E402


def page(found: dict[str, Sequence[float]]) -> str:
    """The page with the numbers found, by the keys of the cases."""
    before, rest = PAGE.read_text().split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n\n{overview(found)}\n{details(found)}\n{END}{after}"


def overview(found: dict[str, Sequence[float]]) -> str:
    """One line for each case."""
    lines = ["| case | numbers | difference of the one nearest to its bound | allowed |", "|---|---|---|---|"]
    for cases in GROUPS.values():
        for case in cases:
            q, value = max(_pairs(case, found), key=lambda pair: pair[0].difference(pair[1]) / pair[0].within)
            link = f"[{case.title}](#{anchor(case.title)})"
            lines.append(f"| {link} | {len(case.quantities)} | {power(q.difference(value))} | {power(q.within)} |")
    return "\n".join(lines) + "\n"


def details(found: dict[str, Sequence[float]]) -> str:
    """A table for each case."""
    lines: list[str] = []
    for title, cases in GROUPS.items():
        lines += [f"## {title}", ""]
        for case in cases:
            lines += [f"### {case.title}", "", case.about, ""]
            lines += [f"Reference: {case.source}. flexmbs: {case.model}.", ""]
            lines += ["| | reference | flexmbs | difference | allowed |", "|---|---|---|---|---|"]
            lines += [row(q, value) for q, value in _pairs(case, found)]
            lines.append("")
    return "\n".join(lines)


def row(quantity: Quantity, found: float) -> str:
    """One line of a case's table; numbers have three digits more than what is allowed tells apart."""
    digits = min(15, 3 + math.ceil(-math.log10(quantity.within)))
    size = quantity.scale or abs(quantity.reference)
    shown = 0.0 if abs(found) < 1e-12 * size else found
    return (
        f"| {quantity.name} | {quantity.reference!r} | {shown:.{digits}g} "
        f"| {power(quantity.difference(found))} | {power(quantity.within)} |"
    )


def power(value: float) -> str:
    """Two digits and a short exponent: 2.5e-6."""
    if value == 0:
        return "0"
    digits, exponent = f"{value:.1e}".split("e")
    return f"{digits.removesuffix('.0')}e{int(exponent)}"


def anchor(title: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c in "-_")


def _pairs(case: Case, found: dict[str, Sequence[float]]) -> list[tuple[Quantity, float]]:
    return list(zip(case.quantities, found[case.key], strict=True))


if __name__ == "__main__":
    PAGE.write_text(page({case.key: case.found() for cases in GROUPS.values() for case in cases}))
