"""Result of an analysis of a mechanism: coordinates over time, and everything that follows from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.body import PLANAR, POINT, RIGID, Body, Frame
from flexmbs.bodies.ground import Ground
from flexmbs.errors import AnalysisError, FlexmbsError, ModelError
from flexmbs.forces.body_load import BodyLoad
from flexmbs.forces.controller import Controller
from flexmbs.forces.rotating import RotatingFrame
from flexmbs.forces.springs import JointFriction, SpringDamper, Stop
from flexmbs.forces.user import UserForce
from flexmbs.integrators.history import History, history_of
from flexmbs.integrators.interpolation import state_at
from flexmbs.joints.drives import Coupling, Drive
from flexmbs.joints.joint import Joint, Measure
from flexmbs.joints.measures import ANGLE
from flexmbs.rotations import from_matrix, to_euler, to_matrix
from flexmbs.system.audit import Audit, audit, halfway_states, integral, midpoints
from flexmbs.system.balances import Energy, Momentum
from flexmbs.system.force_histories import coordinate_forces, force_wrenches, user_wrenches
from flexmbs.system.reactions import least_multipliers, row_wrenches
from flexmbs.system.system import System

Array = NDArray[np.float64]

NAMED = 6
"""Forces and drives named one by one in a summary."""


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """Motion of one body over time, in global axes: origin, rotation, and their first and second derivatives."""

    position: Array  # (time, 3)
    rotation: Array  # (time, 3, 3)
    velocity: Array
    spin: Array  # ω
    acceleration: Array
    spin_rate: Array  # ω'


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
class Result:
    """A motion of a mechanism, time first in every history.

    ``q``, ``v``, ``rate`` (v') and ``multipliers`` are the arrays themselves; the methods give what they mean. Where
    ``forces_known`` is False (kinematics) there are no reactions, and no works of drives. ``events`` holds, for each
    event by name, a Result of the instants at which it happened. ``carried`` is what the integrator needs to go on from
    the end as if it had not stopped.
    """

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
    events: dict[str, Result] = field(default_factory=dict)
    carried: Any = None
    controllers: dict[str, Samples] = field(default_factory=dict)

    def __repr__(self) -> str:
        if not len(self.t):
            return "<Result: no instants>"
        return f"<Result: {len(self.t)} instants from {self.t[0]:.4g} to {self.t[-1]:.4g} s, {self.outcome}>"

    # ---- motion -------------------------------------------------------------------------------------------------

    def at(self, times: ArrayLike) -> Result:
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
        return Result(self.system, *new[:4], multipliers, new.angles, self.outcome)

    def motion(self, body: Body) -> BodyMotion:
        """Pose, velocities and accelerations of a body."""
        b = self.system.body_number(body)
        layout = self.system.layout
        kind, k, m = int(layout.body_kind[b]), int(layout.body_q[b]), int(layout.body_v[b])
        n = len(self.t)
        zero = np.zeros((n, 3))
        if kind == RIGID:
            rotation = to_matrix(self.q[:, k + 3 : k + 7])
            turned = [np.einsum("tij,tj->ti", rotation, a[:, m + 3 : m + 6]) for a in (self.v, self.rate)]
            straight = [self.q[:, k : k + 3], self.v[:, m : m + 3], self.rate[:, m : m + 3]]
        elif kind == PLANAR:
            cosine, sine = np.cos(self.q[:, k + 2]), np.sin(self.q[:, k + 2])
            rotation = np.zeros((n, 3, 3))
            rotation[:, 0, 0] = rotation[:, 1, 1] = cosine
            rotation[:, 1, 0], rotation[:, 0, 1], rotation[:, 2, 2] = sine, -sine, 1.0
            turned = [np.column_stack([np.zeros((n, 2)), a[:, m + 2]]) for a in (self.v, self.rate)]
            straight = [
                np.column_stack([a[:, s : s + 2], np.zeros(n)]) for a, s in ((self.q, k), (self.v, m), (self.rate, m))
            ]
        else:
            rotation, turned = np.broadcast_to(np.eye(3), (n, 3, 3)), [zero, zero]
            moving = kind == POINT
            straight = (
                [self.q[:, k : k + 3], self.v[:, m : m + 3], self.rate[:, m : m + 3]] if moving else [zero, zero, zero]
            )
        return BodyMotion(straight[0], rotation, straight[1], turned[0], straight[2], turned[1])

    def position(self, at: Frame | Body) -> Array:
        """Position of a frame's (or body's) origin, (time, 3)."""
        motion, arm = self._arm(at)
        return motion.position + arm

    def velocity(self, at: Frame | Body) -> Array:
        """Velocity of a frame's (or body's) origin, (time, 3)."""
        motion, arm = self._arm(at)
        return np.asarray(motion.velocity + np.cross(motion.spin, arm))

    def acceleration(self, at: Frame | Body) -> Array:
        """Acceleration of a frame's (or body's) origin, (time, 3)."""
        motion, arm = self._arm(at)
        turning = np.cross(motion.spin, np.cross(motion.spin, arm))
        return np.asarray(motion.acceleration + np.cross(motion.spin_rate, arm) + turning)

    def rotation(self, at: Frame | Body) -> Array:
        """Rotation matrices (time, 3, 3), from the frame's (or body's) axes to global ones."""
        if isinstance(at, Frame):
            return np.asarray(self.motion(at.body).rotation @ at.axes)
        return self.motion(at).rotation

    def transform(self, at: Frame | Body) -> Array:
        """Homogeneous transforms (time, 4, 4) from the axes of a frame (or body) to global ones."""
        out = np.zeros((len(self.t), 4, 4))
        out[:, :3, :3], out[:, :3, 3], out[:, 3, 3] = self.rotation(at), self.position(at), 1.0
        return out

    def quaternion(self, at: Frame | Body) -> Array:
        """Unit quaternions (time, 4), scalar first, without jumps of sign."""
        out = from_matrix(np.ascontiguousarray(self.rotation(at)))
        flips = np.where(np.sum(out[1:] * out[:-1], axis=1) < 0, -1.0, 1.0)
        out[1:] *= np.cumprod(flips)[:, None]
        return out

    def rotation_vector(self, at: Frame | Body) -> Array:
        """Rotation vectors angle · axis (time, 3) [rad], of length at most π."""
        q = from_matrix(np.ascontiguousarray(self.rotation(at)))
        size = np.linalg.norm(q[:, 1:], axis=1, keepdims=True)
        # 2 atan2(s, w) / s, which is 2 where nothing turns
        return np.asarray(
            q[:, 1:] * np.where(size > 1e-12, 2 * np.arctan2(size, q[:, :1]) / np.maximum(size, 1e-12), 2)
        )

    def euler_angles(self, at: Frame | Body, sequence: str) -> Array:
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

    def angular_velocity(self, body: Body) -> Array:
        """Angular velocity in global axes, (time, 3)."""
        return self.motion(body).spin

    def coordinate(self, measure: Measure) -> Array:
        """A joint's coordinate, e.g. ``hinge.angle`` or ``slider.distance``, angles counting turns; (time,)."""
        if not isinstance(measure, Measure):
            raise ModelError(f"a joint's coordinate is needed, e.g. hinge.angle or slider.distance, not {measure!r}.")
        position_i, position_j = self.position(measure.frame_i), self.position(measure.frame_j)
        rotation_i, rotation_j = self.rotation(measure.frame_i), self.rotation(measure.frame_j)
        values = measure.history(position_i, rotation_i, position_j, rotation_j)
        known = self.system.measure_number(measure)
        if measure.kind != ANGLE or known is None:
            return values
        return np.asarray(values + 2 * np.pi * np.round((self.angles[:, known] - values) / (2 * np.pi)))

    def _arm(self, at: Frame | Body) -> tuple[BodyMotion, Array]:
        if isinstance(at, Frame):
            motion = self.motion(at.body)
            return motion, np.asarray(motion.rotation @ at.position)
        if isinstance(at, Body):
            return self.motion(at), np.zeros(3)
        raise ModelError(f"a frame or a body of the system is needed, not {at!r}.")

    # ---- forces -------------------------------------------------------------------------------------------------

    def reaction(self, of: Any) -> Array:
        """What a joint exerts ON its second frame's body, at that frame, in global axes.

        (time, 6): force, moment; (time, 3) between planar bodies: Fx, Fy, Mz; (time,) for a drive or coupling: the
        force or torque along its coordinate; for a relation or user constraint the multiplier, (time, rows) of several.
        For the Ground: the total of all joints and forces on the foundation, with the moment about the origin.
        """
        if not self.forces_known:
            raise ModelError("kinematics computes no forces: ask inverse_dynamics, which takes the same arguments.")
        if isinstance(of, Ground):
            return self._audit.ground
        rows = self.system.joint_rows(of)
        if isinstance(of, Drive | Coupling):
            return self.multipliers[:, rows.start]
        if not isinstance(of, Joint):
            return self.multipliers[:, rows.start] if rows.stop == rows.start + 1 else self.multipliers[:, rows]
        wrenches = row_wrenches(self.system, self.t, self.q, self.v, self.angles, rows)
        total = np.einsum("tr,trk->tk", self.multipliers[:, rows], wrenches[:, :, 1])
        planar = all(f.body.kind in (PLANAR, Ground.kind) for f in (of.frame_i, of.frame_j))
        return total[:, [0, 1, 5]] if planar else total

    def force(self, of: Any) -> Array:
        """What a force of the list exerts, over time.

        Along a coordinate (SpringDamper, Stop, JointFriction, and outputs of a Controller): the force or torque that
        raises it, (time,), of a controller (time, outputs). On frames (AppliedForce, Bushing, contact): the wrench on
        the second frame, at that frame, in global axes, (time, 6), and Fx, Fy, Mz (time, 3) between planar bodies. Of a
        UserForce (time, frames, 6). Of a RotatingFrame (time, bodies, 6), at the mass centres of all but the Ground.
        Of a BodyLoad its resultant at the origin of the body's frame, as of a force between frames.
        """
        states = (self.t, self.q, self.v, self.angles)
        if isinstance(of, BodyLoad):
            self.system.force_numbers(of)
            last = int(self.system.layout.body_q[self.system.body_number(of.body) + 1])
            rotation = self.rotation(of.body)
            own = of.resultant(self.t, self.q[:, last - of.body.modes : last]).reshape(-1, 2, 3)
            total = np.einsum("tij,tkj->tki", rotation, own).reshape(-1, 6)
            return total[:, [0, 1, 5]] if of.body.planar else total
        if isinstance(of, UserForce) and any(of is own for own in self.system.forces):
            return user_wrenches(self.system, of, *states)
        numbers = self.system.force_numbers(of)
        if isinstance(of, SpringDamper | Stop | JointFriction | Controller):
            along = [
                coordinate_forces(self.system, k, *states, self.multipliers) for k in range(numbers.start, numbers.stop)
            ]
            return np.stack(along, axis=1) if isinstance(of, Controller) else along[0]
        wrenches = force_wrenches(self.system, *states, self.multipliers)[:, numbers, 1]
        if isinstance(of, RotatingFrame):
            return wrenches
        planar = all(f is None or f.body.kind in (PLANAR, Ground.kind) for f in of.frames)
        return wrenches[:, 0, [0, 1, 5]] if planar else wrenches[:, 0]

    # ---- audit --------------------------------------------------------------------------------------------------

    @cached_property
    def _audit(self) -> Audit:
        return audit(self.system, self.t, self.q, self.v, self.angles, self.multipliers)

    @cached_property
    def energy(self) -> Energy:
        """Energies, powers and works over time, by body, force and drive."""
        system, here = self.system, self._audit
        kinetic, weight = [], []
        for body in system.bodies:
            m, c, inertia = body.mass_parameters
            motion = self.motion(body)
            arm = motion.rotation @ c
            spin = np.einsum("tji,tj->ti", motion.rotation, motion.spin)
            coupled = np.sum(motion.velocity * np.cross(motion.spin, arm), axis=1)
            turning = 0.5 * np.einsum("ti,ij,tj->t", spin, inertia, spin)
            kinetic.append(0.5 * m * np.sum(motion.velocity**2, axis=1) + m * coupled + turning)
            weight.append(-m * (motion.position + arm) @ system.layout.gravity)
        driven = [
            (joint.name, rows)
            for joint in system.joints
            for rows in (system.joint_rows(joint),)
            if isinstance(joint, Drive) or here.rates[:, rows].any()
        ]
        power = self._drive_power(driven, self.multipliers, here.rates)
        power_between = np.zeros((0, len(driven)))
        forces_between, slip_between = np.zeros((0, here.power.shape[1])), np.zeros(0)
        if len(self.t) > 1:
            q, v = halfway_states(system, self.t, self.q, self.v, self.rate)
            t, multipliers = (self.t[1:] + self.t[:-1]) / 2, midpoints(self.t, self.multipliers)
            between = audit(system, t, q, v, (self.angles[1:] + self.angles[:-1]) / 2, multipliers)
            power_between = self._drive_power(driven, multipliers, between.rates)
            forces_between, slip_between = between.power, midpoints(self.t, here.slip)
        return Energy(
            self.t,
            tuple(body.name for body in system.bodies),
            system.force_names,
            tuple(name for name, _ in driven),
            np.stack(kinetic, axis=1),
            np.stack(weight, axis=1),
            here.stored,
            here.power,
            power,
            integral(self.t, here.power, forces_between),
            integral(self.t, power, power_between),
            integral(self.t, here.slip, slip_between),
        )

    @staticmethod
    def _drive_power(driven: list[tuple[str, slice]], multipliers: Array, rates: Array) -> Array:
        out = np.zeros((len(multipliers), len(driven)))
        for k, (_, rows) in enumerate(driven):
            out[:, k] = np.sum(multipliers[:, rows] * rates[:, rows], axis=1)
        return out

    @cached_property
    def momentum(self) -> Momentum:
        """Linear and angular momentum over time, and what changed them."""
        system, here = self.system, self._audit
        linear, angular = [], []
        weight = np.zeros((len(self.t), 6))
        for body in system.bodies:
            m, c, inertia = body.mass_parameters
            motion = self.motion(body)
            arm = motion.rotation @ c
            own = np.einsum("tij,jk,tlk,tl->ti", motion.rotation, inertia, motion.rotation, motion.spin)
            push = m * (motion.velocity + np.cross(motion.spin, arm))
            linear.append(push)
            # about the origin: that about the body's origin (J ω + m c × v), and of its place
            angular.append(own + m * np.cross(arm, motion.velocity) + np.cross(motion.position, push))
            weight[:, :3] += m * system.layout.gravity
            weight[:, 3:] += m * np.cross(motion.position + arm, system.layout.gravity)
        return Momentum(
            self.t,
            tuple(body.name for body in system.bodies),
            tuple(system.outside_names),
            np.stack(linear, axis=1),
            np.stack(angular, axis=1),
            weight,
            -here.ground,
            here.outside,
        )

    @property
    def constraint_error(self) -> Array:
        """Largest |φ| over all rows, (time,)."""
        return self._audit.error

    def summary(self) -> str:
        """Energies, constraint error, steps and time, as text."""
        energy = self.energy
        works = (
            f"  drives supplied {energy.supplied[-1]:.4g} J, forces took {energy.dissipated[-1]:.4g} J, "
            f"unexplained {energy.drift[-1]:.2g} J"
        )
        lines = [
            f"{self.outcome}: t = {self.t[0]:.6g} to {self.t[-1]:.6g} s, {len(self.t)} instants kept",
            f"energy: {energy.total[0]:.6g} J at the start, {energy.total[-1]:.6g} J at the end",
            *([works, *self._shares(energy)] if self.forces_known else []),
            f"largest constraint error: {self.constraint_error.max():.3g}",
        ]
        if self.counters:
            lines.append(", ".join(f"{count} {name}" for name, count in self.counters.items()))
        if self.wall_time:
            lines.append(f"wall time {self.wall_time:.3g} s")
        return "\n".join(lines)

    def _shares(self, energy: Energy) -> list[str]:
        """The largest works of single forces and drives, in words."""
        known = {name: work for name, work in energy.changes.items() if name not in ("constraint drift", "unexplained")}
        largest = sorted((n for n in known if known[n]), key=lambda n: -abs(known[n]))
        said = [f"{n} {'gave' if known[n] > 0 else 'took'} {abs(known[n]):.4g} J" for n in largest[:NAMED]]
        more = f", and {len(largest) - NAMED} more" if len(largest) > NAMED else ""
        return [f"  of these {', '.join(said)}{more}"] if said else []
