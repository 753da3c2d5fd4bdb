"""The benchmark cases: tests check them, ``docs/make_validation.py`` writes what comes out on a page."""

from __future__ import annotations

from cases import elements, flexible, rigid, rotating
from cases.case import Case

GROUPS: dict[str, tuple[Case, ...]] = {
    "Finite elements": elements.CASES,
    "Parts that spin": rotating.CASES,
    "Flexible bodies": flexible.CASES,
    "Rigid bodies": rigid.CASES,
}
CASES: tuple[Case, ...] = tuple(case for cases in GROUPS.values() for case in cases)
