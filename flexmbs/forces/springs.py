"""Springs, dampers, actuators, stops and friction: scalar laws along a measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from flexmbs.bodies.body import Frame, positive
from flexmbs.errors import ModelError
from flexmbs.forces.force import Force, coordinate, time_profile, two_frames
from flexmbs.forces.laws import FRICTION, LINEAR, STOP
from flexmbs.given import number
from flexmbs.joints import measures
from flexmbs.joints.joint import Joint, Measure
from flexmbs.profiles import Profile


@dataclass(frozen=True, eq=False)
class _OnCoordinate(Force):
    """A force along a joint's coordinate."""

    coordinate: Measure

    def __post_init__(self) -> None:
        super().__post_init__()
        coordinate(self.coordinate, self.name)

    @property
    def measure(self) -> Measure:
        """The coordinate."""
        return self.coordinate

    @property
    def frames(self) -> tuple[Frame | None, Frame]:
        """Those of the coordinate."""
        return self.measure.frame_i, self.measure.frame_j


@dataclass(frozen=True, eq=False)
class SpringDamper(Force):
    """A spring, damper and actuator along a joint's coordinate or the line between two frames' origins.

    The force that raises the coordinate s is -stiffness (s - rest) - damping s' + force(t). Angles count turns. Between
    two points s is their distance, which must not vanish: for a spring of no length take a ``Bushing``.

    Parameters
    ----------
    between : a joint's coordinate such as ``hinge.angle``, or two frames.
    stiffness : [N/m] or [N m/rad], or a profile (Spline, Polynomial, ...) of the pull-back over s - rest.
    damping : [N s/m] or [N m s/rad], or a profile of the resisting force over s'.
    rest : coordinate at which the spring is free; needed for a spring between two points.
    force : actuator force along s, a number or function of time.
    """

    kind: ClassVar[int] = LINEAR

    between: Any
    stiffness: float | Profile = 0.0
    damping: float | Profile = 0.0
    rest: float | None = None
    force: Any = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.between, Measure):
            if not isinstance(self.between, tuple | list) or len(self.between) != 2:
                raise ModelError(
                    f"{self.name}: between is a joint's coordinate such as hinge.angle or two frames (a.at(), b.at()), "
                    f"not {self.between!r}."
                )
            two_frames(self.between[0], self.between[1], self.name)
            if self.rest is None and (isinstance(self.stiffness, Profile) or self.stiffness):
                raise ModelError(f"{self.name}: a spring between two points needs its rest length, rest=.")
        _number_or_curve(self.stiffness, f"{self.name}: stiffness", "elongation")
        _number_or_curve(self.damping, f"{self.name}: damping", "speed")
        if self.rest is not None:
            _finite(self.rest, f"{self.name}: rest")
        _ = self.times

    @property
    def measure(self) -> Measure:
        """The coordinate or the distance."""
        if isinstance(self.between, Measure):
            return self.between
        z = np.array([0.0, 0.0, 1.0])
        return Measure(measures.DISTANCE, self.between[0], self.between[1], z, z, z, f"{self.name}.distance")

    @property
    def frames(self) -> tuple[Frame | None, Frame]:
        """Those of the measure."""
        return self.measure.frame_i, self.measure.frame_j

    @property
    def params(self) -> tuple[float, ...]:
        """Stiffness, damping, rest."""
        k, c = (0.0 if isinstance(x, Profile) else float(x) for x in (self.stiffness, self.damping))
        return k, c, float(self.rest or 0.0)

    @property
    def curves(self) -> tuple[Profile | None, ...]:
        """Pull-back over elongation, resistance over speed."""
        return tuple(x if isinstance(x, Profile) else None for x in (self.stiffness, self.damping))

    @property
    def times(self) -> tuple[Profile, ...]:
        """The actuator."""
        return (time_profile(self.force, self.name, "force"),)


@dataclass(frozen=True, eq=False)
class Stop(_OnCoordinate):
    """Limits of a joint's coordinate: beyond them the force k δⁿ (1 + damping δ') drives it back, and never pulls.

    δ is how far the limit is exceeded (Hunt and Crossley 1975: the damping [s/m] grows with the depth, so that the
    force begins at zero).
    """

    kind: ClassVar[int] = STOP

    lower: float | None = None
    upper: float | None = None
    stiffness: float = 0.0
    exponent: float = 1.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.lower is None and self.upper is None:
            raise ModelError(f"{self.name}: a stop has a lower or an upper limit, or both.")
        pressing(self.name, self.stiffness, self.exponent, self.damping)
        lower, upper = (d if x is None else number(x) for x, d in ((self.lower, -np.inf), (self.upper, np.inf)))
        if np.isnan([lower, upper]).any() or lower >= upper:
            raise ModelError(f"{self.name}: lower {self.lower!r} must be less than upper {self.upper!r}.")

    @property
    def params(self) -> tuple[float, ...]:
        """Limits and law."""
        return (
            -np.inf if self.lower is None else float(self.lower),
            np.inf if self.upper is None else float(self.upper),
            float(self.stiffness),
            float(self.exponent),
            float(self.damping),
        )


@dataclass(frozen=True, eq=False)
class JointFriction(_OnCoordinate):
    """Friction along a joint's coordinate: the force -viscous s' - (preload + μ r N) tanh(s' / slip_speed).

    N is the reaction of ``joint`` across the axis of the coordinate, the force with which the joint presses. Implicit
    steps find it together with the motion; elsewhere it is solved for with the accelerations, and where there is none
    (Painlevé's paradox, at large ``coefficient``) that is said. Below ``slip_speed`` dry friction is regularised: what
    should stick creeps.

    Parameters
    ----------
    preload : force or torque of dry sliding that is always there, such as that of a seal.
    viscous : [N s/m] or [N m s/rad].
    slip_speed : speed of the coordinate, [m/s] or [rad/s].
    coefficient, joint : friction coefficient μ, and the joint whose reaction presses.
    radius : of the bearing, r [m], for an angle. A distance has none.
    """

    kind: ClassVar[int] = FRICTION

    preload: float = 0.0
    viscous: float = 0.0
    slip_speed: float = 1e-3
    coefficient: float = 0.0
    joint: Joint | None = None
    radius: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for what in ("preload", "viscous", "coefficient"):
            positive(getattr(self, what), f"{self.name}: {what}", zero=True)
        positive(self.slip_speed, f"{self.name}: slip_speed")
        if self.joint is None:
            if self.coefficient or self.radius is not None:
                raise ModelError(
                    f"{self.name}: coefficient and radius go with the joint that presses, joint=; for a known normal "
                    "force give preload=."
                )
            return
        if not isinstance(self.joint, Joint):
            raise ModelError(f"{self.name}: joint is the one whose reaction presses, not {self.joint!r}.")
        measure = self.coordinate
        if measure.kind not in (measures.ANGLE, measures.AXIS):
            raise ModelError(f"{self.name}: friction under a reaction acts along an angle or a distance on an axis.")
        if (measure.frame_i, measure.frame_j) != (self.joint.frame_i, self.joint.frame_j):
            raise ModelError(f"{self.name}: {measure.name or 'the coordinate'} is not one of {self.joint.name!r}.")
        if measure.kind == measures.ANGLE:
            if self.radius is None:
                raise ModelError(f"{self.name}: friction of an angle needs the radius of the bearing, radius=.")
            positive(self.radius, f"{self.name}: radius")
        elif self.radius is not None:
            raise ModelError(f"{self.name}: a radius goes with an angle; {measure.name or 'this'} is a distance.")

    @property
    def pressing(self) -> Joint | None:
        """The joint."""
        return self.joint

    @property
    def params(self) -> tuple[float, ...]:
        """Preload, viscous coefficient, slip speed, μ r."""
        arm = 1.0 if self.radius is None else float(self.radius)
        return float(self.preload), float(self.viscous), float(self.slip_speed), float(self.coefficient) * arm


def pressing(name: str, stiffness: float, exponent: float, damping: float) -> None:
    """Check the numbers of k δⁿ (1 + damping δ')."""
    positive(stiffness, f"{name}: stiffness")
    positive(damping, f"{name}: damping", zero=True)
    if positive(exponent, f"{name}: exponent") < 1.0:
        raise ModelError(f"{name}: exponent must be at least 1 (1.5 for Hertz), not {exponent!r}.")


def _number_or_curve(given: Any, what: str, over: str) -> None:
    if not isinstance(given, Profile):
        if callable(given):
            raise ModelError(
                f"{what}: a Python function cannot run inside the compiled step; sample it, Spline(x, f(x)) over "
                f"{over}, or write a UserForce."
            )
        _finite(given, what)
    elif given.shape != () or any(term.function is not None for term in given.terms()):
        raise ModelError(f"{what}: a curve over {over} is scalar and made of coefficients (Spline, Polynomial, ...).")


def _finite(given: Any, what: str) -> None:
    try:
        number = float(given)
    except (TypeError, ValueError):
        number = float("nan")
    if not np.isfinite(number):
        raise ModelError(f"{what} must be a finite number, not {given!r}.")
