"""Contact of points, circles and spheres: pressing and never pulling, with regularised dry friction."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from flexmbs.bodies.body import Frame, positive
from flexmbs.errors import FlexmbsError, ModelError
from flexmbs.forces.force import Force, two_frames
from flexmbs.forces.laws import CONTACT
from flexmbs.forces.springs import pressing
from flexmbs.joints import measures
from flexmbs.joints.joint import Measure
from flexmbs.rotations import axis_vector


@dataclass(frozen=True, eq=False)
class _Contact(Force):
    """A contact between two frames.

    The normal force is N = stiffness δⁿ (1 + damping δ'), at least zero, with δ the depth and n the ``exponent`` (Hunt
    and Crossley 1975); friction is μ N tanh(speed / slip_speed) against the sliding of the two surfaces.
    """

    kind: ClassVar[int] = CONTACT

    frame_i: Frame
    frame_j: Frame
    stiffness: float
    exponent: float = 1.0
    damping: float = 0.0
    friction: float = 0.0
    slip_speed: float = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        two_frames(self.frame_i, self.frame_j, self.name)
        pressing(self.name, self.stiffness, self.exponent, self.damping)
        positive(self.friction, f"{self.name}: friction", zero=True)
        positive(self.slip_speed, f"{self.name}: slip_speed")

    @property
    def frames(self) -> tuple[Frame | None, Frame]:
        """Both."""
        return self.frame_i, self.frame_j

    @property
    @abstractmethod
    def radii(self) -> tuple[float, float]:
        """Of the first surface (0 for a plane) and of the second."""

    @property
    def params(self) -> tuple[float, ...]:
        """Measure at which they touch, normal law, friction, radius of the second surface."""
        law = (self.stiffness, self.exponent, self.damping, self.friction, self.slip_speed)
        return (sum(self.radii), *(float(x) for x in law), self.radii[1])


@dataclass(frozen=True, eq=False)
class SphereOnPlane(_Contact):
    """A sphere (circle, or with radius 0 a point) about the second frame's origin on a plane (line) of the first.

    The plane passes through the first frame's origin; ``normal``, in its axes, points out of the solid. The
    normal force is N = stiffness δⁿ (1 + damping δ'), at least zero, with δ the depth and n the ``exponent``; friction
    is μ N tanh(speed / slip_speed).
    """

    normal: Any = "z"
    radius: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            axis_vector(self.normal)
        except (FlexmbsError, TypeError) as error:
            raise ModelError(f"{self.name}: normal: axis must be a direction, not {self.normal!r}.") from error
        positive(self.radius, f"{self.name}: radius", zero=True)

    @property
    def radii(self) -> tuple[float, float]:
        """Plane and sphere."""
        return 0.0, float(self.radius)

    @property
    def measure(self) -> Measure:
        """Height over the plane."""
        n = axis_vector(self.normal)
        return Measure(measures.AXIS, self.frame_i, self.frame_j, n, n, n, f"{self.name}.height")


@dataclass(frozen=True, eq=False)
class SphereOnSphere(_Contact):
    """Two spheres (circles) about the frames' origins; one of the radii may be 0, for a point.

    N = stiffness δⁿ (1 + damping δ'), at least zero, with δ the depth and n the ``exponent``; friction is
    μ N tanh(speed / slip_speed).
    """

    radius_i: float = 0.0
    radius_j: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for what in ("radius_i", "radius_j"):
            positive(getattr(self, what), f"{self.name}: {what}", zero=True)
        positive(self.radius_i + self.radius_j, f"{self.name}: radius_i + radius_j")

    @property
    def radii(self) -> tuple[float, float]:
        """Both spheres."""
        return float(self.radius_i), float(self.radius_j)

    @property
    def measure(self) -> Measure:
        """Distance of the centres."""
        z = np.array([0.0, 0.0, 1.0])
        return Measure(measures.DISTANCE, self.frame_i, self.frame_j, z, z, z, f"{self.name}.distance")
