"""Drives and couplings: constraints on the coordinates of joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flexmbs.errors import ModelError
from flexmbs.joints.joint import Measure, Row, finite


@dataclass(frozen=True, eq=False)
class Drive:
    """Prescribes a joint's coordinate as a function of time: a profile, a number, or a plain Python function."""

    name: str
    coordinate: Measure
    motion: Any

    def __post_init__(self) -> None:
        _named(self.name)
        _coordinate(self.name, self.coordinate)

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
        if not self.terms:
            raise ModelError(f"{self.name}: a coupling needs at least one (factor, coordinate).")
        for factor, coordinate in self.terms:
            finite(factor, f"{self.name}: factor")
            _coordinate(self.name, coordinate)

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


def _coordinate(name: str, coordinate: Any) -> None:
    if not isinstance(coordinate, Measure):
        raise ModelError(
            f"{name}: a joint's coordinate is needed, e.g. hinge.angle or slider.distance, not {coordinate!r}."
        )
