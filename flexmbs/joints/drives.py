"""Drives and couplings: constraints on the coordinates of joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flexmbs.bodies.body import finite
from flexmbs.errors import FlexmbsError, ModelError
from flexmbs.joints.joint import Measure, Row
from flexmbs.profiles import as_profile


@dataclass(frozen=True, eq=False)
class Drive:
    """Prescribes a joint's coordinate as a function of time: a profile, a number, or a plain Python function."""

    name: str
    coordinate: Measure
    motion: Any

    def __post_init__(self) -> None:
        _named(self.name)
        _coordinate(self.name, self.coordinate)
        _profile(self.name, self.motion)

    @property
    def rows(self) -> tuple[Row, ...]:
        """One row: coordinate = motion(t)."""
        return (Row(((1.0, self.coordinate),), f"prescribed {self.coordinate.name}", self.motion),)


@dataclass(frozen=True, eq=False)
class Coupling:
    """A linear relation between joint coordinates: Σ factor · coordinate = value (gears, racks, belts)."""

    name: str
    terms: tuple[tuple[float, Measure], ...]
    value: Any = 0.0

    def __post_init__(self) -> None:
        _named(self.name)
        listed = isinstance(self.terms, tuple | list) and len(self.terms) > 0
        if not listed or not all(isinstance(term, tuple | list) and len(term) == 2 for term in self.terms):
            raise ModelError(
                f"{self.name}: terms are pairs of a factor and a joint's coordinate, ((1.0, hinge.angle), ...), "
                f"not a {type(self.terms).__name__} of something else."
            )
        for factor, coordinate in self.terms:
            finite(factor, f"{self.name}: factor")
            _coordinate(self.name, coordinate)
        _profile(self.name, self.value)

    @property
    def rows(self) -> tuple[Row, ...]:
        """One row."""
        return (Row(tuple(self.terms), "coupled coordinates", self.value),)


def gear(name: str, driven: Measure, driver: Measure, ratio: float) -> Coupling:
    """driven = ratio · driver, between any two joint coordinates (a negative ratio reverses)."""
    return Coupling(name, ((1.0, driven), (-finite(ratio, f"{name}: ratio"), driver)))


def _named(name: Any) -> None:
    if not isinstance(name, str) or not name:
        raise ModelError(f"a drive or coupling needs a name (a string), not {name!r}.")


def _profile(name: str, motion: Any) -> None:
    try:
        as_profile(motion)
    except FlexmbsError as error:
        raise ModelError(f"{name}: {error}") from error


def _coordinate(name: str, coordinate: Any) -> None:
    if not isinstance(coordinate, Measure):
        raise ModelError(
            f"{name}: a joint's coordinate is needed, e.g. hinge.angle or slider.distance, not {coordinate!r}."
        )
