"""Contact of points, circles and spheres: pressing and never pulling, with regularised dry friction."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from flexmbs.bodies.body import GROUND, PLANAR, Frame, positive
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
        """Measures below and above which they press, normal law, friction, radius of the second surface."""
        law = (self.stiffness, self.exponent, self.damping, self.friction, self.slip_speed)
        return (*self.limits, *(float(x) for x in law), self.radii[1])

    @property
    def limits(self) -> tuple[float, float]:
        """The measure below which the surfaces press, and that above which they do."""
        return sum(self.radii), np.inf


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
        except (FlexmbsError, TypeError, ValueError) as error:
            raise ModelError(
                f'{self.name}: normal must be "x", "y", "z" or a vector that is not zero, not {self.normal!r}.'
            ) from error
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


@dataclass(frozen=True, eq=False)
class SphereInSphere(SphereOnSphere):
    """A sphere (circle, or with radius_j 0 a point) of the second frame inside a hollow one (a ring) of the first.

    ``radius_i`` is that of the hollow, the larger one. N = stiffness δⁿ (1 + damping δ'), at least zero, with δ the
    depth and n the ``exponent``; friction is μ N tanh(speed / slip_speed).
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.radius_i > self.radius_j:
            raise ModelError(
                f"{self.name}: the hollow's radius_i ({self.radius_i:.4g}) must be larger than radius_j "
                f"({self.radius_j:.4g}) of what is inside."
            )

    @property
    def radii(self) -> tuple[float, float]:
        """The hollow, and the sphere that touches it on the far side from its centre."""
        return float(self.radius_i), -float(self.radius_j)

    @property
    def limits(self) -> tuple[float, float]:
        """They press where the centres are farther apart than the play."""
        return -np.inf, float(self.radius_i) - float(self.radius_j)


@dataclass(frozen=True, eq=False)
class CircleOnLine(SphereOnPlane):
    """A circle (or with radius 0 a point) about the second frame's origin on a line of the first, in the x-y plane.

    The line passes through the first frame's origin; ``normal``, in its axes, points out of the solid. The law is that
    of SphereOnPlane.
    """

    normal: Any = "y"

    def __post_init__(self) -> None:
        if np.shape(self.normal) == (2,) and not isinstance(self.normal, str):
            object.__setattr__(self, "normal", (*self.normal, 0.0))
        super().__post_init__()
        _planar(self)
        if abs(axis_vector(self.normal)[2]) > 0.0:
            raise ModelError(f"{self.name}: the normal of a line lies in the x-y plane, not {self.normal!r}.")


@dataclass(frozen=True, eq=False)
class CircleOnCircle(SphereOnSphere):
    """Two circles about the frames' origins in the x-y plane; the law is that of SphereOnSphere."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _planar(self)


@dataclass(frozen=True, eq=False)
class CircleInCircle(SphereInSphere):
    """A circle of the second frame inside a ring of the first, in the x-y plane; the law is that of SphereInSphere."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _planar(self)


def _planar(contact: _Contact) -> None:
    """Refuse frames that leave the x-y plane."""
    for frame in (contact.frame_i, contact.frame_j):
        if frame.body.kind not in (GROUND, PLANAR):
            raise ModelError(
                f"{contact.name}: circles are on planar bodies and the ground, but {frame.body.name!r} moves in space; "
                f"take {type(contact).__mro__[1].__name__}."
            )
        if frame.position[2] or abs(frame.axes[2, 2]) < 1.0 - 1e-12:
            raise ModelError(f"{contact.name}: {frame} is not in the x-y plane.")
