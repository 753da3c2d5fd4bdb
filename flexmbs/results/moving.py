"""A history of motion: coordinates over time, and how bodies and frames move."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.body import GROUND, PLANAR, Body, Frame
from flexmbs.errors import AnalysisError, FlexmbsError, ModelError
from flexmbs.integrators.history import History, history_of
from flexmbs.integrators.interpolation import state_at
from flexmbs.joints.joint import Measure
from flexmbs.joints.measures import ANGLE
from flexmbs.results.motions import BodyMotion, Elastic, FrameMotion, body_motion, elastic_motion
from flexmbs.rotations import from_matrix, to_euler
from flexmbs.system.reactions import least_multipliers
from flexmbs.system.system import System

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Samples:
    """What a sampled controller read and gave.

    ``inputs`` (samples, ...) value and rate of each coordinate, and position, rotation, velocity and angular velocity
    of each frame, one after the other; ``outputs`` (samples, act); ``memory`` after the last sample.
    """

    t: Array
    inputs: Array
    outputs: Array
    memory: Any


@dataclass(frozen=True, eq=False)
class Moving:
    """Coordinates over time, and what they mean for bodies, frames and joints; see ``Result``."""

    system: System
    t: Array
    q: Array
    v: Array
    rate: Array
    multipliers: Array
    angles: Array
    outcome: str = "finished"
    counters: dict[str, int] = field(default_factory=dict)
    wall_time: float = 0.0
    forces_known: bool = field(default=True, kw_only=True)
    events: dict[str, Any] = field(default_factory=dict)
    carried: Any = None
    controllers: dict[str, Samples] = field(default_factory=dict)

    def __repr__(self) -> str:
        if not len(self.t):
            return "<Result: no instants>"
        return f"<Result: {len(self.t)} instants from {self.t[0]:.4g} to {self.t[-1]:.4g} s, {self.outcome}>"

    # ---- motion -------------------------------------------------------------------------------------------------

    def at(self, times: ArrayLike) -> Self:
        """The motion at any times from the first to the last instant kept.

        Positions and velocities by quintic Hermite curves on the Lie group through those of the neighbouring instants
        and their accelerations (an error of sixth order in the distance of instants, beside their own), moved onto the
        constraints; accelerations and multipliers from the equations of motion there. What was kept is given as it is.
        Between instants with a kink of a drive among them the error is of first order.
        """
        wanted = np.atleast_1d(np.asarray(times, dtype=float))
        if wanted.ndim != 1 or not np.isfinite(wanted).all():
            raise AnalysisError(f"times must be one time or a list of times, not {times!r}.")
        outside = wanted[(wanted < self.t[0]) | (wanted > self.t[-1])]
        if len(outside):
            raise AnalysisError(
                f"t = {outside[0]:.6g} lies outside of what was kept, {self.t[0]:.6g} to {self.t[-1]:.6g}."
            )
        history = History(self.t, self.q, self.v, self.rate, self.multipliers, self.angles)
        states = [state_at(self.system, history, float(t)) for t in wanted]
        new = history_of(states) if states else history.part(slice(0, 0))
        given = zip(new.t, new.q, new.v, new.angles, strict=True)
        multipliers = least_multipliers(self.system, given, new.multipliers)
        return type(self)(self.system, *new[:4], multipliers, new.angles, self.outcome, forces_known=self.forces_known)

    def _instants(self, at: ArrayLike | None) -> Self:
        """The motion at the times given (None: the last instant), those kept as they are."""
        if not len(self.t):
            raise AnalysisError("this Result has no instants.")
        if at is None:
            return self._part([len(self.t) - 1])
        try:
            wanted = np.atleast_1d(np.asarray(at, dtype=float))
        except (TypeError, ValueError):
            raise AnalysisError(f"at= takes one time or a list of times, not {at!r}.") from None
        if wanted.ndim != 1 or not np.isfinite(wanted).all():
            raise AnalysisError(f"at= takes one time or a list of times, not {at!r}.")
        after = np.minimum(np.searchsorted(self.t, wanted), len(self.t) - 1)
        before = np.maximum(after - 1, 0)
        near = np.where(wanted - self.t[before] <= self.t[after] - wanted, before, after)
        kept = np.abs(self.t[near] - wanted) <= 1e-9 * max(float(self.t[-1] - self.t[0]), 1e-300)
        return self._part(near) if kept.all() else self.at(wanted)

    def _part(self, some: Any) -> Self:
        return type(self)(
            self.system, self.t[some], self.q[some], self.v[some], self.rate[some], self.multipliers[some],
            self.angles[some], self.outcome, forces_known=self.forces_known,
        )  # fmt: skip

    def motion(self, body: Body) -> BodyMotion:
        """Pose, velocities and accelerations of a body (of a flexible one: of its floating frame)."""
        return body_motion(self.system, self.q, self.v, self.rate, body)

    def elastic(self, body: Body) -> Array:
        """Elastic coordinates d of a flexible body, (time, modes)."""
        return self._elastic(body).d

    def _elastic(self, body: Body) -> Elastic:
        return elastic_motion(self.system, self.q, self.v, self.rate, body)

    def position(self, at: Frame | Body | str) -> Array:
        """Position of a frame's (or body's) origin, (time, 3); a body may also be given by its name."""
        return self._moving(at).position

    def velocity(self, at: Frame | Body | str) -> Array:
        """Velocity of a frame's (or body's) origin, (time, 3)."""
        return self._moving(at).velocity

    def acceleration(self, at: Frame | Body | str) -> Array:
        """Acceleration of a frame's (or body's) origin, (time, 3)."""
        return self._moving(at).acceleration

    def rotation(self, at: Frame | Body | str) -> Array:
        """Rotation matrices (time, 3, 3), from the frame's (or body's) axes to global ones."""
        return self._moving(at).rotation

    def angular_velocity(self, at: Frame | Body | str) -> Array:
        """Angular velocity of a frame or body in global axes, (time, 3)."""
        return self._moving(at).spin

    def angular_acceleration(self, at: Frame | Body | str) -> Array:
        """Angular acceleration of a frame or body in global axes, (time, 3)."""
        return self._moving(at).spin_rate

    def transform(self, at: Frame | Body | str) -> Array:
        """Homogeneous transforms (time, 4, 4) from the axes of a frame (or body) to global ones."""
        out = np.zeros((len(self.t), 4, 4))
        out[:, :3, :3], out[:, :3, 3], out[:, 3, 3] = self.rotation(at), self.position(at), 1.0
        return out

    def quaternion(self, at: Frame | Body | str) -> Array:
        """Unit quaternions (time, 4), scalar first, without jumps of sign."""
        out = from_matrix(np.ascontiguousarray(self.rotation(at)))
        flips = np.where(np.sum(out[1:] * out[:-1], axis=1) < 0, -1.0, 1.0)
        out[1:] *= np.cumprod(flips)[:, None]
        return out

    def rotation_vector(self, at: Frame | Body | str) -> Array:
        """Rotation vectors angle · axis (time, 3) [rad], of length at most π."""
        q = from_matrix(np.ascontiguousarray(self.rotation(at)))
        size = np.linalg.norm(q[:, 1:], axis=1, keepdims=True)
        # 2 atan2(s, w) / s, which is 2 where nothing turns
        return np.asarray(
            q[:, 1:] * np.where(size > 1e-12, 2 * np.arctan2(size, q[:, :1]) / np.maximum(size, 1e-12), 2)
        )

    def euler_angles(self, at: Frame | Body | str, sequence: str) -> Array:
        """Euler angles (time, 3) [rad] of any sequence, e.g. "zxz" about turned axes, capitals about fixed ones.

        The first and third go on without jumps. Refused where the sequence is singular and they are not unique.
        """
        rotation = self.rotation(at)
        try:
            angles = to_euler(sequence, np.asarray(rotation))
        except FlexmbsError as error:
            for t, one in zip(self.t, rotation, strict=True):
                try:
                    to_euler(sequence, one)
                except FlexmbsError:
                    raise ModelError(f"at t = {t:.6g} s: {error}") from error
            raise
        return np.unwrap(angles, axis=0)

    def coordinate(self, measure: Measure) -> Array:
        """A joint's coordinate, e.g. ``hinge.angle`` or ``slider.distance``, angles counting turns; (time,)."""
        if not isinstance(measure, Measure):
            raise ModelError(f"a joint's coordinate is needed, e.g. hinge.angle or slider.distance, not {measure!r}.")
        position_i, position_j = self.position(measure.frame_i), self.position(measure.frame_j)
        rotation_i, rotation_j = self.rotation(measure.frame_i), self.rotation(measure.frame_j)
        values = measure.history(position_i, rotation_i, position_j, rotation_j)
        if measure.kind != ANGLE:
            return values
        known = self.system.measure_number(measure)
        if known is None:
            return self._turning(measure, values)
        return np.asarray(values + 2 * np.pi * np.round((self.angles[:, known] - values) / (2 * np.pi)))

    def _turning(self, measure: Measure, values: Array) -> Array:
        """An angle whose turns the state does not count, with those that its rate makes between the instants kept."""
        axis = self.rotation(measure.frame_i) @ np.cross(measure.a, measure.a2)
        bodies = measure.frame_i.body, measure.frame_j.body
        if all(body.kind in (PLANAR, GROUND) for body in bodies):  # coordinates of planar bodies count turns
            one, two = (self._heading(body) for body in bodies)
            advance = np.diff(axis[:, 2] * (two - one))
        else:
            spin = self.angular_velocity(measure.frame_j) - self.angular_velocity(measure.frame_i)
            rate = np.sum(axis * spin, axis=1)
            advance = np.diff(self.t) * (rate[1:] + rate[:-1]) / 2
        turns = np.round((advance - np.diff(values)) / (2 * np.pi))
        return np.asarray(values + 2 * np.pi * np.concatenate([[0.0], np.cumsum(turns)]))

    def _heading(self, body: Body) -> Array:
        """The angle of a planar body (or of the ground) as a coordinate, (time,)."""
        if body.kind == GROUND:
            return np.zeros(len(self.t))
        return np.asarray(self.q[:, int(self.system.layout.body_q[self.system.body_number(body)]) + 2])

    def _moving(self, at: Frame | Body | str) -> BodyMotion | FrameMotion:
        at = self.system.named(at) if isinstance(at, str) else at
        if isinstance(at, Body) and not at.modes:
            return self.motion(at)
        if isinstance(at, Body):
            at = at.at()  # of a flexible one: the axes in which its nodes are at x + Φ d
        if isinstance(at, Frame):
            return FrameMotion(at, self.motion(at.body), self._elastic(at.body))
        raise ModelError(f"{at!r} is not in this system: a frame or a body of the system is needed.")
