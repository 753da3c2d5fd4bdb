"""Drives and couplings: constraints on the coordinates of joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flexmbs.errors import ModelError
from flexmbs.joints.joint import Measure, Row


@dataclass(frozen=True, eq=False)
class Drive:
    """Prescribes a joint's coordinate as a function of time: a profile, a number, or a plain Python function."""

    name: str
    coordinate: Measure
    motion: Any

    def __post_init__(self) -> None:
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
        for _, coordinate in self.terms:
            _coordinate(self.name, coordinate)

    @property
    def rows(self) -> tuple[Row, ...]:
        """One row."""
        return (Row(tuple(self.terms), "coupled coordinates", self.value),)


def gear(name: str, driven: Measure, driver: Measure, ratio: float) -> Coupling:
    """driven = ratio · driver, between any two joint coordinates (a negative ratio reverses)."""
    return Coupling(name, ((1.0, driven), (-float(ratio), driver)))


def _coordinate(name: str, coordinate: Any) -> None:
    if not isinstance(coordinate, Measure):
        raise ModelError(
            f"{name}: a joint's coordinate is needed, e.g. hinge.angle or slider.distance, not {coordinate!r}."
        )
