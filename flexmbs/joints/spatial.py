"""Joints in space, each a declaration of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flexmbs.bodies.body import finite, positive
from flexmbs.joints.freedom import BALL, JointMotion, across, sliding, turning
from flexmbs.joints.joint import Joint, Measure, Row
from flexmbs.rotations import axis_vector, triad


@dataclass(frozen=True, eq=False)
class Fixed(Joint):
    """The two frames coincide."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """Three translations, three rotations."""
        x, y, z = np.eye(3)
        return (
            *self.together(),
            Row(((1.0, self.cosine(x, z)),), "rotation about y"),
            Row(((1.0, self.cosine(y, z)),), "rotation about x"),
            Row(((1.0, self.cosine(x, y)),), "rotation about z"),
        )

    @property
    def motion(self) -> JointMotion:
        """None."""
        return JointMotion(())


@dataclass(frozen=True, eq=False)
class _AxisJoint(Joint):
    """A joint with an axis."""

    axis: Any = "z"

    def parallel(self) -> list[Row]:
        """Two rows: the axes stay parallel."""
        t = triad(self.axis)
        return [
            Row(((1.0, self.cosine(t[:, 0], t[:, 2])),), "rotation across the axis (second)"),
            Row(((1.0, self.cosine(t[:, 1], t[:, 2])),), "rotation across the axis (first)"),
        ]

    def on_axis(self) -> list[Row]:
        """Two rows: the second origin lies on the first frame's axis."""
        t = triad(self.axis)
        return [
            Row(((1.0, self.along(t[:, k])),), f"translation across the axis ({w})")
            for k, w in ((0, "first"), (1, "second"))
        ]

    def untwisted(self) -> Row:
        """One row: no rotation about the axis."""
        t = triad(self.axis)
        return Row(((1.0, self.cosine(t[:, 0], t[:, 1])),), "rotation about the axis")


@dataclass(frozen=True, eq=False)
class _Pair(_AxisJoint):
    """A joint with an axis, and its coordinate (the angle, if it has two) and rate at the start."""

    start: float | None = None
    rate: float | None = None


@dataclass(frozen=True, eq=False)
class Revolute(_Pair):
    """A hinge: rotation about one axis."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """Three translations, two rotations."""
        return (*self.together(), *self.parallel())

    @property
    def motion(self) -> JointMotion:
        """One angle."""
        return JointMotion((turning("angle", axis_vector(self.axis)),))

    @property
    def angle(self) -> Measure:
        """The angle of the second body against the first, counting turns [rad]."""
        return self.turned(self.axis)


@dataclass(frozen=True, eq=False)
class Prismatic(_Pair):
    """A slider: translation along one axis."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """Two translations, three rotations."""
        return (*self.on_axis(), *self.parallel(), self.untwisted())

    @property
    def motion(self) -> JointMotion:
        """One distance."""
        return JointMotion((sliding("distance", axis_vector(self.axis)),))

    @property
    def distance(self) -> Measure:
        """The distance travelled along the axis [m]."""
        return self.along(axis_vector(self.axis), f"{self.name}.distance")


@dataclass(frozen=True, eq=False)
class Cylindrical(_Pair):
    """Rotation about, and translation along, one axis. ``start`` and ``rate`` are those of the angle."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """Two translations, two rotations."""
        return (*self.on_axis(), *self.parallel())

    @property
    def motion(self) -> JointMotion:
        """One distance, one angle."""
        axis = axis_vector(self.axis)
        return JointMotion((sliding("distance", axis), turning("angle", axis)))

    @property
    def angle(self) -> Measure:
        """The angle about the axis, counting turns [rad]."""
        return self.turned(self.axis)

    @property
    def distance(self) -> Measure:
        """The distance travelled along the axis [m]."""
        return self.along(axis_vector(self.axis), f"{self.name}.distance")


@dataclass(frozen=True, eq=False)
class Screw(Cylindrical):
    """A cylindrical joint in which ``pitch`` [m per turn] ties translation to rotation."""

    pitch: float = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        finite(self.pitch, f"{self.name}: pitch")

    @property
    def rows(self) -> tuple[Row, ...]:
        """Those of the cylindrical joint, and distance = pitch · angle / 2π."""
        lead = Row(((1.0, self.distance), (-self.pitch / (2 * np.pi), self.angle)), "advance by the pitch")
        return (*super().rows, lead)

    @property
    def motion(self) -> JointMotion:
        """One angle, which advances it."""
        return JointMotion((turning("angle", axis_vector(self.axis), self.pitch / (2 * np.pi)),))


@dataclass(frozen=True, eq=False)
class Spherical(Joint):
    """A ball joint: the origins coincide."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """Three translations."""
        return tuple(self.together())

    @property
    def motion(self) -> JointMotion:
        """All rotations."""
        return JointMotion((BALL,))


@dataclass(frozen=True, eq=False)
class Universal(Joint):
    """A Hooke joint: the origins coincide, ``axis`` of the first frame stays orthogonal to ``cross`` of the second."""

    axis: Any = "x"
    cross: Any = "y"

    @property
    def rows(self) -> tuple[Row, ...]:
        """Three translations, one rotation."""
        return (
            *self.together(),
            Row(
                ((1.0, self.cosine(axis_vector(self.axis), axis_vector(self.cross))),), "rotation about the third axis"
            ),
        )

    @property
    def motion(self) -> JointMotion:
        """Two angles: about ``axis``, then about ``cross``."""
        a, b = axis_vector(self.axis), axis_vector(self.cross)
        rest = across(a, b)
        return JointMotion((turning("angle", a), turning("second angle", rest @ b)), rest)


@dataclass(frozen=True, eq=False)
class ConstantVelocity(Joint):
    """A homokinetic joint (Rzeppa, double Cardan): shafts along ``axis`` of each frame meet in a point and turn alike.

    The shafts may bend against each other in any direction, at any angle below a half turn; the rotation of one against
    the other is always about a line across both bisectors, never about the shafts. Free: bending in two directions.
    """

    axis: Any = "z"

    @property
    def rows(self) -> tuple[Row, ...]:
        """Three translations, one rotation: a₁·b₂ = a₂·b₁ for the directions a, b across the shafts."""
        t = triad(self.axis)
        twist = ((1.0, self.cosine(t[:, 0], t[:, 1])), (-1.0, self.cosine(t[:, 1], t[:, 0])))
        return (*self.together(), Row(twist, "rotation of one shaft ahead of the other"))


@dataclass(frozen=True, eq=False)
class PlaneJoint(_Pair):
    """A plane of the second body slides on one of the first; ``axis`` is their common normal."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """One translation, two rotations."""
        return (Row(((1.0, self.along(axis_vector(self.axis))),), "translation along the normal"), *self.parallel())

    @property
    def motion(self) -> JointMotion:
        """Two distances, one angle."""
        t = triad(self.axis)
        return JointMotion((sliding("first", t[:, 0]), sliding("second", t[:, 1]), turning("angle", t[:, 2])))

    @property
    def angle(self) -> Measure:
        """The angle of the second body against the first about the normal, counting turns [rad]."""
        return self.turned(self.axis)


@dataclass(frozen=True, eq=False)
class PointOnLine(_Pair):
    """The second origin stays on the first frame's axis; all rotations are free."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """Two translations."""
        return tuple(self.on_axis())

    @property
    def distance(self) -> Measure:
        """The distance of the point along the axis [m]."""
        return self.along(axis_vector(self.axis), f"{self.name}.distance")


@dataclass(frozen=True, eq=False)
class PointInPlane(_AxisJoint):
    """The second origin stays in the plane through the first with normal ``axis``."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """One translation."""
        return (Row(((1.0, self.along(axis_vector(self.axis))),), "translation along the normal"),)


@dataclass(frozen=True, eq=False)
class Distance(Joint):
    """A massless rod of fixed ``length`` between the two origins."""

    length: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(self.length, f"{self.name}: length")

    @property
    def rows(self) -> tuple[Row, ...]:
        """One distance."""
        return (Row(((1.0, self.apart()),), "change of distance", self.length),)


@dataclass(frozen=True, eq=False)
class KnifeEdge(Joint):
    """A blade at the first frame's origin that cannot slip sideways on the second body: no velocity along ``axis``.

    The row holds velocities only (nonholonomic): the blade may get anywhere, by turning and running along itself. What
    keeps it on a surface is another joint, such as PlaneJoint.
    """

    axis: Any = "y"

    @property
    def rows(self) -> tuple[Row, ...]:
        """One velocity."""
        return (Row(((1.0, self.passing(axis_vector(self.axis))),), "slip across the blade"),)


@dataclass(frozen=True, eq=False)
class RollingDisc(Joint):
    """A thin disc of the second body rolls without slip on a plane of the first.

    Parameters
    ----------
    frame_i : on the plane, which lies across ``normal`` of this frame.
    frame_j : the centre of the disc.
    radius : of the disc [m].
    axis : of the disc, in the second frame; it must not come to stand upright on the plane (a disc lying flat).
    normal : of the plane, in the first frame, towards the disc.
    """

    radius: float = 1.0
    axis: Any = "y"
    normal: Any = "z"

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(self.radius, f"{self.name}: radius")

    @property
    def rows(self) -> tuple[Row, ...]:
        """One height (radius times the sine of the axis to the normal), two velocities."""
        axis, t = axis_vector(self.axis), triad(self.normal)
        height = ((1.0, self.along(t[:, 2])), (-self.radius, self.sine(t[:, 2], axis)))
        return (
            Row(height, "height above the plane"),
            Row(((1.0, self.slipping(t[:, 0], axis, t[:, 2], self.radius)),), "slip (first direction)"),
            Row(((1.0, self.slipping(t[:, 1], axis, t[:, 2], self.radius)),), "slip (second direction)"),
        )
