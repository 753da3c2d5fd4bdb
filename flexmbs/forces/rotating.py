"""Pseudo-forces of models that are written in a rotating frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from flexmbs.bodies.body import GROUND, PLANAR, Body, Frame, vector
from flexmbs.errors import ModelError
from flexmbs.forces.force import Force, components, named
from flexmbs.forces.laws import ROTATING
from flexmbs.profiles import Profile
from flexmbs.profiles.table import HARMONIC


@dataclass(frozen=True, eq=False)
class RotatingFrame:
    """Centrifugal, Coriolis and Euler forces on every body of a model whose axes rotate with Ω.

    All poses, velocities and results are then those seen in the rotating frame, in its axes, and the Ground turns with
    it. Gravity stays as given: across Ω it would have to turn.

    Parameters
    ----------
    angular_velocity : Ω [rad/s], three numbers or functions of time, or a vector profile; Ω' follows from it.
    origin : the point of the frame about which it turns.
    acceleration : of that point [m/s²], in the frame's axes; three numbers or functions of time.
    """

    angular_velocity: Any
    origin: Any = (0.0, 0.0, 0.0)
    acceleration: Any = (0.0, 0.0, 0.0)
    name: str = "rotating frame"

    def __post_init__(self) -> None:
        named(self.name)
        vector(self.origin, 3, f"{self.name}: origin")
        components(self.angular_velocity, self.name, "angular_velocity")
        components(self.acceleration, self.name, "acceleration")

    def parts(self, bodies: Sequence[Body]) -> list[Force]:
        """The force on each body."""
        spin = components(self.angular_velocity, self.name, "angular_velocity")
        pull = components(self.acceleration, self.name, "acceleration")
        times = (*spin, *pull)
        out: list[Force] = []
        for body in bodies:
            if body.kind == GROUND:
                continue
            if body.modes:
                raise ModelError(
                    f"{self.name}: body {body.name!r} is flexible, and pseudo-forces of a rotating frame know rigid "
                    "ones only; write the model in fixed axes, with a drive that turns it."
                )
            if body.kind == PLANAR and any(not _nothing(p) for p in spin[:2]):
                raise ModelError(
                    f"{self.name}: planar body {body.name!r} needs a frame that turns about z; use a RigidBody."
                )
            out.append(PseudoForce(f"{self.name}: {body.name}", body, vector(self.origin, 3, "origin"), times))
        return out


@dataclass(frozen=True, eq=False)
class PseudoForce(Force):
    """What a rotating frame does to one body: a wrench at its mass centre, see ``rotating_kernel``."""

    kind: ClassVar[int] = ROTATING

    body: Body
    origin: Any
    functions: tuple[Profile, ...]

    @property
    def frames(self) -> tuple[Frame | None, Frame]:
        """The mass centre."""
        return None, Frame(self.body, self.body.mass_parameters[1])

    @property
    def params(self) -> tuple[float, ...]:
        """Mass, origin, inertia about the mass centre."""
        m, c, inertia = self.body.mass_parameters
        central = inertia - m * ((c @ c) * np.eye(3) - np.outer(c, c))
        if self.body.kind == PLANAR:
            central = np.diag([0.0, 0.0, central[2, 2]])
        return (m, *map(float, self.origin), *central.ravel().tolist())

    @property
    def times(self) -> tuple[Profile, ...]:
        """Ω and the acceleration of the origin."""
        return self.functions


def _nothing(profile: Profile) -> bool:
    """Whether a function of time is zero always."""
    numbers = [t.params[::3] if t.kind == HARMONIC else t.params[1:] for t in profile.terms()]
    return not any(t.function for t in profile.terms()) and not any(any(n) for n in numbers)
