"""What a joint declares: measures, rows made of them, and coordinates that drives, gears and springs refer to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import GROUND, PLANAR, Frame, finite
from flexmbs.errors import FlexmbsError, ModelError
from flexmbs.joints import measures
from flexmbs.joints.freedom import JointMotion
from flexmbs.rotations import axis_vector, triad

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Measure:
    """One scalar function of two frames, see ``measures``; a and a2 are vectors in frame i, b in frame j."""

    kind: int
    frame_i: Frame
    frame_j: Frame
    a: Array
    b: Array
    a2: Array
    name: str = ""
    joint: Any = field(default=None, repr=False)
    """The joint whose coordinate it is, if any."""

    @property
    def is_rate(self) -> bool:
        """Whether its value is a velocity."""
        return self.kind >= measures.RATES

    @property
    def is_angle(self) -> bool:
        """Whether its value is an angle (or a cosine or sine of one), and not a length."""
        return self.kind in (measures.DOT, measures.ANGLE, measures.SINE)

    @property
    def axes(self) -> Array:
        """a, b, a₂ as rows."""
        return np.stack([self.a, self.b, self.a2])

    def history(self, r_i: Array, rotation_i: Array, r_j: Array, rotation_j: Array) -> Array:
        """Values over time from the poses of both frames (time, ...); angles without jumps."""
        if self.is_rate:
            raise ModelError(f"{self.name or 'a velocity'} has no value that poses could give.")
        d = r_j - r_i
        if self.kind == measures.SPACE:
            return np.asarray(d @ self.a)
        if self.kind == measures.DISTANCE:
            return np.asarray(np.linalg.norm(d, axis=1))
        a, b, a2 = rotation_i @ self.a, rotation_j @ self.b, rotation_i @ self.a2
        if self.kind == measures.AXIS:
            return np.sum(a * d, axis=1)
        if self.kind == measures.DOT:
            return np.sum(a * b, axis=1)
        if self.kind == measures.SINE:
            return np.asarray(np.sqrt(1.0 - np.sum(a * b, axis=1) ** 2))
        return np.unwrap(np.arctan2(np.sum(a2 * b, axis=1), np.sum(a * b, axis=1)))


@dataclass(frozen=True, eq=False)
class Row:
    """A constraint Σ factor · measure = profile(t); ``label`` says in words what it prevents."""

    terms: tuple[tuple[float, Measure], ...]
    label: str
    profile: Any = 0.0

    def __post_init__(self) -> None:
        if len({measure.is_rate for _, measure in self.terms}) > 1:
            raise ModelError(f"{self.label}: a row relates positions or velocities, not one to the other.")

    @property
    def holonomic(self) -> bool:
        """Whether it holds positions, and not velocities alone."""
        return not any(measure.is_rate for _, measure in self.terms)


@dataclass(frozen=True, eq=False)
class Joint(ABC):
    """A joint between two frames. ``axis`` is read in each frame's own axes."""

    name: str
    frame_i: Frame
    frame_j: Frame

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f"a joint needs a name (a string), not {self.name!r}.")
        for frame in (self.frame_i, self.frame_j):
            if not isinstance(frame, Frame):
                raise ModelError(f"{self.name}: a joint connects frames, e.g. crank.at(0.1, 0, 0), not {frame!r}.")
        if self.frame_i.body is self.frame_j.body:
            raise ModelError(
                f"{self.name}: both frames are on {self.frame_i.body.name!r}; a joint connects two bodies."
            )
        for guess in ("start", "rate"):
            if getattr(self, guess, None) is not None:
                finite(getattr(self, guess), f"{self.name}: {guess}")
        for axis in ("axis", "cross", "normal"):
            if axis in self.__dataclass_fields__:
                self._check_axis(getattr(self, axis), axis)

    def _check_axis(self, axis: Any, what: str) -> None:
        try:
            axis_vector(axis)
        except (FlexmbsError, TypeError, ValueError) as error:
            raise ModelError(
                f'{self.name}: {what} must be "x", "y", "z" or a vector that is not zero, not {axis!r}.'
            ) from error

    @property
    @abstractmethod
    def rows(self) -> tuple[Row, ...]:
        """The constraints of the joint."""

    @property
    def motion(self) -> JointMotion | None:
        """The relative motion that it leaves free, if it is a lower pair; None: its rows close loops of others."""
        return None

    # ---- the vocabulary in which joints are written -------------------------------------------------------

    def space(self, component: int) -> Measure:
        """A global component of the vector from the first frame's origin to the second's."""
        e = np.eye(3)[component]
        return Measure(measures.SPACE, self.frame_i, self.frame_j, e, e, e)

    def along(self, a: Array, name: str = "") -> Measure:
        """The component of that vector along a direction of the first frame."""
        return Measure(measures.AXIS, self.frame_i, self.frame_j, a, a, a, name, self)

    def passing(self, a: Array) -> Measure:
        """The velocity of the second body, where it meets the first frame's origin, along a direction of that frame."""
        return Measure(measures.AXIS_RATE, self.frame_i, self.frame_j, a, a, a)

    def slipping(self, a: Array, axis: Array, normal: Array, radius: float) -> Measure:
        """The velocity along a of a disc of the second body where it meets a plane of the first through its origin."""
        return Measure(measures.ROLL, self.frame_i, self.frame_j, a, axis, radius * normal)

    def sine(self, a: Array, b: Array) -> Measure:
        """The sine between a direction of the first frame and one of the second."""
        return Measure(measures.SINE, self.frame_i, self.frame_j, a, b, a)

    def cosine(self, a: Array, b: Array) -> Measure:
        """The cosine between a direction of the first frame and one of the second."""
        return Measure(measures.DOT, self.frame_i, self.frame_j, a, b, a)

    def apart(self) -> Measure:
        """The distance between the origins."""
        z = np.array([0.0, 0.0, 1.0])
        return Measure(measures.DISTANCE, self.frame_i, self.frame_j, z, z, z, f"{self.name}.distance", self)

    def turned(self, axis: Any) -> Measure:
        """The angle of the second frame against the first about an axis they share."""
        t = triad(axis)
        name = f"{self.name}.angle"
        return Measure(measures.ANGLE, self.frame_i, self.frame_j, t[:, 0], t[:, 0], t[:, 1], name, self)

    def together(self) -> list[Row]:
        """Three rows: the origins coincide."""
        return [Row(((1.0, self.space(k)),), f"translation along global {'xyz'[k]}") for k in range(3)]


def check_in_plane(joint: Joint) -> None:
    """Refuse a planar joint on what may leave the plane: its rows would not hold that."""
    bodies = [frame.body for frame in (joint.frame_i, joint.frame_j)]
    for frame in (joint.frame_i, joint.frame_j):
        if frame.body.kind not in (GROUND, PLANAR):
            raise ModelError(
                f"{joint.name}: {frame.body.name!r} is a {type(frame.body).__name__}, which moves in space; a planar "
                f"joint connects planar bodies and the ground. Use the joint in space, such as fm.Revolute."
            )
        if np.abs(frame.axes[:, 2] - (0.0, 0.0, 1.0)).max() > 1e-12:
            raise ModelError(
                f"{joint.name}: the axes of {frame} are turned out of the x-y plane; those of a planar joint turn "
                "about z only."
            )
    if all(body.kind == GROUND for body in bodies):
        raise ModelError(f"{joint.name}: a planar joint needs a planar body.")
