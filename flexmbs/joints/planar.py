"""Joints in the x-y plane, for planar bodies (and the ground)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flexmbs.bodies.body import positive
from flexmbs.errors import ModelError
from flexmbs.joints.cam import Cam as Cam
from flexmbs.joints.curves import Circle as Circle
from flexmbs.joints.curves import Curve as Curve
from flexmbs.joints.curves import Line as Line
from flexmbs.joints.drives import Gear as Gear
from flexmbs.joints.freedom import JointMotion, sliding, turning
from flexmbs.joints.joint import Joint, Measure, Row, check_in_plane
from flexmbs.joints.spatial import Distance as Distance
from flexmbs.rotations import axis_vector


class _Planar(Joint):
    """A joint of planar bodies."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_in_plane(self)


@dataclass(frozen=True, eq=False)
class Revolute(_Planar):
    """A hinge: the two origins coincide."""

    start: float | None = None
    rate: float | None = None

    @property
    def rows(self) -> tuple[Row, ...]:
        """Two translations."""
        return tuple(self.together()[:2])

    @property
    def motion(self) -> JointMotion:
        """One angle."""
        return JointMotion((turning("angle", axis_vector("z")),), flat=True)

    @property
    def angle(self) -> Measure:
        """The angle of the second body against the first, counting turns [rad]."""
        return self.turned("z")


class _InPlane(_Planar):
    """A joint whose axis lies in the plane; two numbers are enough for it."""

    def _check_axis(self, axis: Any, what: str) -> None:
        in_space = [*axis, 0.0] if not isinstance(axis, str) and np.shape(axis) == (2,) else axis
        super()._check_axis(in_space, what)
        if axis_vector(in_space)[2]:
            raise ModelError(f"{self.name}: the {what} of a planar joint lies in the x-y plane, not {axis!r}.")


@dataclass(frozen=True, eq=False)
class _LineJoint(_InPlane):
    """A joint with an axis in the plane, fixed in the first frame."""

    axis: Any = "x"
    start: float | None = None
    rate: float | None = None

    @property
    def direction(self) -> Any:
        """Unit vector of the axis; two numbers are enough."""
        return _vector(self.axis)

    @property
    def normal(self) -> Any:
        """Unit vector across the axis, to its left."""
        return np.cross([0.0, 0.0, 1.0], self.direction)

    @property
    def distance(self) -> Measure:
        """The distance travelled along the axis [m]."""
        return self.along(self.direction, f"{self.name}.distance")


@dataclass(frozen=True, eq=False)
class PointOnLine(_LineJoint):
    """The second origin stays on the first frame's axis."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """One translation."""
        return (Row(((1.0, self.along(self.normal)),), "translation across the axis"),)


@dataclass(frozen=True, eq=False)
class Prismatic(_LineJoint):
    """A slider along the axis, without rotation."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """One translation, one rotation."""
        return (
            Row(((1.0, self.along(self.normal)),), "translation across the axis"),
            Row(((1.0, self.cosine(self.normal, self.direction)),), "rotation"),
        )

    @property
    def motion(self) -> JointMotion:
        """One distance."""
        return JointMotion((sliding("distance", self.direction),), flat=True)


@dataclass(frozen=True, eq=False)
class KnifeEdge(_InPlane):
    """A blade in the first frame that cannot slip sideways on the second body: no velocity along ``axis``.

    The row holds velocities only (nonholonomic): the blade may get anywhere, by turning and running along itself.
    """

    axis: Any = "y"

    @property
    def rows(self) -> tuple[Row, ...]:
        """One velocity."""
        return (Row(((1.0, self.passing(_vector(self.axis))),), "slip across the blade"),)


@dataclass(frozen=True, eq=False)
class Rolling(_LineJoint):
    """A disc about the second frame's origin rolls without slip on a line: the first frame's axis, to its left.

    Slip is excluded as a velocity, so that the disc may start at any place and angle.
    """

    radius: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(self.radius, f"{self.name}: radius")

    @property
    def rows(self) -> tuple[Row, ...]:
        """One translation, one velocity."""
        slip = self.slipping(self.direction, axis_vector("z"), self.normal, self.radius)
        return (
            Row(((1.0, self.along(self.normal)),), "height above the line", self.radius),
            Row(((1.0, slip),), "slip along the line"),
        )


def _vector(axis: Any) -> Any:
    if not isinstance(axis, str) and np.shape(axis) == (2,):
        return axis_vector([*axis, 0.0])
    return axis_vector(axis)


__all__ = [
    "Cam",
    "Circle",
    "Curve",
    "Distance",
    "Gear",
    "KnifeEdge",
    "Line",
    "PointOnLine",
    "Prismatic",
    "Revolute",
    "Rolling",
]
