"""Forces and torques on a frame, as functions of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from flexmbs.bodies.body import Frame
from flexmbs.forces.force import Force, components, frame
from flexmbs.forces.laws import APPLIED
from flexmbs.profiles import Profile


@dataclass(frozen=True, eq=False)
class AppliedForce(Force):
    """A force [N] at a frame's origin and a torque [N m], each three numbers or functions of time, or a vector profile.

    Components are global, or with ``follows`` in the frame's own axes.
    """

    kind: ClassVar[int] = APPLIED

    frame: Frame
    force: Any = (0.0, 0.0, 0.0)
    torque: Any = (0.0, 0.0, 0.0)
    follows: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        frame(self.frame, self.name)
        _ = self.times

    @property
    def frames(self) -> tuple[Frame | None, Frame]:
        """One frame."""
        return None, self.frame

    @property
    def params(self) -> tuple[float, ...]:
        """Whether it follows."""
        return (1.0 if self.follows else 0.0,)

    @property
    def times(self) -> tuple[Profile, ...]:
        """Force and torque."""
        return (*components(self.force, self.name, "force"), *components(self.torque, self.name, "torque"))
