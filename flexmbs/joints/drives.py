"""Drives and couplings: constraints on the coordinates of joints, or on components of frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flexmbs.bodies.body import Frame, finite, positive
from flexmbs.bodies.ground import SPACE
from flexmbs.errors import FlexmbsError, ModelError
from flexmbs.joints import measures
from flexmbs.joints.joint import Measure, Row
from flexmbs.profiles import as_profile


@dataclass(frozen=True, eq=False)
class Drive:
    """Prescribes a joint's coordinate as a function of time: a profile, a number, or a plain Python function.

    ``coordinate`` is one such as ``hinge.angle``, or a ``component`` of a frame.
    """

    name: str
    coordinate: Measure
    motion: Any

    def __post_init__(self) -> None:
        check_name(self.name)
        check_coordinate(self.name, self.coordinate)
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
        check_name(self.name)
        listed = isinstance(self.terms, tuple | list) and len(self.terms) > 0
        if not listed or not all(isinstance(term, tuple | list) and len(term) == 2 for term in self.terms):
            raise ModelError(
                f"{self.name}: terms are pairs of a factor and a joint's coordinate, ((1.0, hinge.angle), ...), "
                f"not a {type(self.terms).__name__} of something else."
            )
        for factor, coordinate in self.terms:
            finite(factor, f"{self.name}: factor")
            check_coordinate(self.name, coordinate)
        _profile(self.name, self.value)

    @property
    def rows(self) -> tuple[Row, ...]:
        """One row."""
        return (Row(tuple(self.terms), "coupled coordinates", self.value),)


def gear(name: str, driven: Measure, driver: Measure, ratio: float) -> Coupling:
    """driven = ratio · driver, between any two joint coordinates (a negative ratio reverses)."""
    return Coupling(name, ((1.0, driven), (-finite(ratio, f"{name}: ratio"), driver)))


class Gear(Coupling):
    """Two toothed wheels in mesh: ``radius_i`` · angle_i + ``radius_j`` · angle_j stays as it is at zero angles.

    Both angles are those of joints on the body that carries the two axes (their first frame), which may itself move: a
    planetary gear is a Gear on the carrier for each mesh. With ``internal`` teeth (a wheel in a ring) both turn the
    same way: radius_i · angle_i = radius_j · angle_j. Only the ratio of radii counts: numbers of teeth do as well.
    """

    def __init__(
        self, name: str, angle_i: Measure, angle_j: Measure, radius_i: float, radius_j: float, internal: bool = False
    ) -> None:
        check_name(name)
        for angle in (angle_i, angle_j):
            check_coordinate(name, angle)
            if angle.kind != measures.ANGLE:
                raise ModelError(f"{name}: a gear ties two angles such as hinge.angle, not {_called(angle)}.")
        if angle_i.frame_i.body is not angle_j.frame_i.body:
            bodies = [repr(a.frame_i.body.name) for a in (angle_i, angle_j)]
            raise ModelError(
                f"{name}: both angles of a gear are counted from the body that carries the two axes, which must be "
                f"first in both joints; here they are {' and '.join(bodies)}."
            )
        one, two = positive(radius_i, f"{name}: radius_i"), positive(radius_j, f"{name}: radius_j")
        super().__init__(name, ((1.0, angle_j), (-one / two if internal else one / two, angle_i)))


class RackAndPinion(Coupling):
    """A rack driven by a toothed wheel: travel of the rack = ``radius`` · angle of the pinion.

    ``pinion`` is an angle, ``rack`` a distance, both of joints on the same body; a negative radius reverses.
    """

    def __init__(self, name: str, pinion: Measure, rack: Measure, radius: float) -> None:
        check_name(name)
        for coordinate, angle in ((pinion, True), (rack, False)):
            check_coordinate(name, coordinate)
            if (coordinate.kind == measures.ANGLE) != angle or coordinate.is_rate:
                raise ModelError(
                    f"{name}: pinion is an angle such as hinge.angle, rack a distance such as slider.distance; "
                    f"{_called(coordinate)} is not."
                )
        if not finite(radius, f"{name}: radius"):
            raise ModelError(f"{name}: radius must not be zero.")
        super().__init__(name, ((1.0, rack), (-float(radius), pinion)))


def component(frame: Frame, which: str, relative_to: Frame | None = None) -> Measure:
    """A component of a frame's position as a coordinate: "x", "y" or "z", in space or along the axes of another frame.

    "angle" is its rotation about the z axis of space, or of the other frame. Prescribe it by a Drive, relate it to
    others, put a spring along it, or read it from a result.
    """
    for given in (frame, relative_to):
        if not isinstance(given, Frame) and not (given is relative_to is None):
            raise ModelError(f"component: a frame is needed, e.g. crank.at(0.1, 0, 0), not {given!r}.")
    if which not in ("x", "y", "z", "angle"):
        raise ModelError(f'component of {frame}: "x", "y", "z" or "angle", not {which!r}.')
    base, name = SPACE.at(0.0, 0.0, 0.0) if relative_to is None else relative_to, f"{frame}.{which}"
    if base.body is frame.body:
        raise ModelError(f"component of {frame}: relative_to is a frame of the same body.")
    x, y, z = np.eye(3)
    if which == "angle":
        return Measure(measures.ANGLE, base, frame, x, x, y, name)
    e = {"x": x, "y": y, "z": z}[which]
    return Measure(measures.SPACE if relative_to is None else measures.AXIS, base, frame, e, e, e, name)


def _called(coordinate: Measure) -> str:
    return coordinate.name or "this measure"


def check_name(name: Any) -> None:
    """Refuse what is no name."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"a drive, coupling or constraint needs a name (a string), not {name!r}.")


def _profile(name: str, motion: Any) -> None:
    try:
        as_profile(motion)
    except FlexmbsError as error:
        raise ModelError(f"{name}: {error}") from error


def check_coordinate(name: str, coordinate: Any) -> None:
    """Refuse what is no coordinate."""
    if not isinstance(coordinate, Measure):
        named = isinstance(getattr(coordinate, "name", None), str)
        found = f"{type(coordinate).__name__} {coordinate.name!r} itself" if named else repr(coordinate)
        raise ModelError(f"{name}: a joint's coordinate is needed, e.g. hinge.angle or slider.distance, not {found}.")
