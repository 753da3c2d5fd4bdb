"""Joints in the x-y plane, for planar bodies (and the ground)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flexmbs.errors import ModelError
from flexmbs.joints.joint import Joint, Measure, Row
from flexmbs.joints.spatial import Distance as Distance
from flexmbs.rotations import axis_vector


@dataclass(frozen=True, eq=False)
class Revolute(Joint):
    """A hinge: the two origins coincide."""

    start: float | None = None
    rate: float | None = None

    @property
    def rows(self) -> tuple[Row, ...]:
        """Two translations."""
        return tuple(self.together()[:2])

    @property
    def angle(self) -> Measure:
        """The angle of the second body against the first, counting turns [rad]."""
        return self.turned("z")


@dataclass(frozen=True, eq=False)
class _LineJoint(Joint):
    """A joint with an axis in the plane, fixed in the first frame."""

    axis: Any = "x"
    start: float | None = None
    rate: float | None = None

    def _check_axis(self, axis: Any, what: str) -> None:
        in_space = [*axis, 0.0] if not isinstance(axis, str) and np.shape(axis) == (2,) else axis
        super()._check_axis(in_space, what)
        if self.direction[2]:
            raise ModelError(f"{self.name}: the axis of a planar joint lies in the x-y plane, not {self.axis!r}.")

    @property
    def direction(self) -> Any:
        """Unit vector of the axis; two numbers are enough."""
        if not isinstance(self.axis, str) and np.shape(self.axis) == (2,):
            return axis_vector([*self.axis, 0.0])
        return axis_vector(self.axis)

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


__all__ = ["Distance", "PointOnLine", "Prismatic", "Revolute"]
