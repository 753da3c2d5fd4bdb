"""Result of an analysis of a mechanism: coordinates over time, and everything that follows from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.body import PLANAR, POINT, RIGID, Body, Frame
from flexmbs.bodies.ground import Ground
from flexmbs.errors import AnalysisError, ModelError
from flexmbs.integrators.history import History, history_of
from flexmbs.integrators.interpolation import state_at
from flexmbs.joints.drives import Coupling, Drive
from flexmbs.joints.joint import Measure
from flexmbs.joints.measures import ANGLE
from flexmbs.rotations import to_matrix
from flexmbs.system.reactions import ground_wrench, least_multipliers, row_wrenches
from flexmbs.system.system import System

Array = NDArray[np.float64]


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
class Energy:
    """Energy over time [J], and where it comes from and goes.

    ``kinetic_of_bodies`` and ``weight_of_bodies`` (time, bodies); ``stored_in_forces``, and ``power_of_forces`` of what
    stores none (dampers, friction, actuators), (time, forces); ``power_of_drives`` (time,). ``supplied`` and
    ``dissipated`` are the integrals of the powers over the instants kept, by the trapezoidal rule.
    """

    t: Array
    kinetic_of_bodies: Array
    weight_of_bodies: Array
    stored_in_forces: Array
    power_of_forces: Array
    power_of_drives: Array

    @property
    def kinetic(self) -> Array:
        """Kinetic energy of all bodies."""
        return np.asarray(self.kinetic_of_bodies.sum(axis=1))

    @property
    def potential(self) -> Array:
        """Potential energy of weight (zero with the mass centres at the origin) and of springs."""
        return np.asarray(self.weight_of_bodies.sum(axis=1) + self.stored_in_forces.sum(axis=1))

    @property
    def total(self) -> Array:
        """Kinetic and potential energy."""
        return self.kinetic + self.potential

    @property
    def supplied(self) -> Array:
        """Work of the drives since the start."""
        return _integral(self.t, self.power_of_drives)

    @property
    def dissipated(self) -> Array:
        """Energy taken by dampers, friction and contact (less what actuators give) since the start."""
        return -_integral(self.t, self.power_of_forces.sum(axis=1))

    @property
    def drift(self) -> Array:
        """Change of energy that neither drives nor forces explain: the error of the integration (and of this sum)."""
        return self.total - self.total[0] - self.supplied + self.dissipated


@dataclass(frozen=True, eq=False)
class Result:
    """A motion of a mechanism, time first in every history.

    ``q``, ``v``, ``rate`` (v') and ``multipliers`` are the arrays themselves; the methods give what they mean.
    ``events`` holds, for each event by name, a Result of the instants at which it happened. ``carried`` is what the
    integrator needs to go on from the end as if it had not stopped.
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
    events: dict[str, Result] = field(default_factory=dict)
    carried: Any = None

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
        force or torque along its coordinate. For the Ground: the total of all joints on the foundation, with the moment
        about the origin.
        """
        if isinstance(of, Ground):
            return ground_wrench(self.system, self.q, self.v, self.multipliers)
        rows = self.system.joint_rows(of)
        if isinstance(of, Drive | Coupling):
            return self.multipliers[:, rows.start]
        wrenches = row_wrenches(self.system, self.t, self.q, self.v, rows)
        total = np.einsum("tr,trk->tk", self.multipliers[:, rows], wrenches[:, :, 1])
        planar = all(f.body.kind in (PLANAR, Ground.kind) for f in (of.frame_i, of.frame_j))
        return total[:, [0, 1, 5]] if planar else total

    # ---- audit --------------------------------------------------------------------------------------------------

    @cached_property
    def energy(self) -> Energy:
        """Energies and powers over time."""
        kinetic, weight = [], []
        for body in self.system.bodies:
            m, c, inertia = body.mass_parameters
            motion = self.motion(body)
            arm = motion.rotation @ c
            spin = np.einsum("tji,tj->ti", motion.rotation, motion.spin)
            coupled = np.sum(motion.velocity * np.cross(motion.spin, arm), axis=1)
            turning = 0.5 * np.einsum("ti,ij,tj->t", spin, inertia, spin)
            kinetic.append(0.5 * m * np.sum(motion.velocity**2, axis=1) + m * coupled + turning)
            weight.append(-m * (motion.position + arm) @ self.system.layout.gravity)
        states = zip(self.t, self.q, self.v, self.angles, strict=True)
        forces = np.array([list(self.system.force_energies(*state).values()) for state in states])
        forces = forces.reshape(len(self.t), -1, 2)
        rows = slice(0, len(self.system.rows))
        level = np.where(self.system.holonomic, 1, 0)  # a velocity may itself be what is prescribed
        rates = np.array([self.system.prescribed(t)[rows][np.arange(rows.stop), level] for t in self.t])
        rates = rates.reshape(len(self.t), -1)
        return Energy(
            self.t,
            np.stack(kinetic, axis=1),
            np.stack(weight, axis=1),
            forces[:, :, 0],
            forces[:, :, 1],
            np.sum(self.multipliers * rates, axis=1),
        )

    @cached_property
    def constraint_error(self) -> Array:
        """Largest |φ| over all rows, (time,)."""
        states = zip(self.t, self.q, self.v, self.angles, strict=True)
        errors = [np.abs(self.system.evaluate(*state).phi).max(initial=0.0) for state in states]
        return np.array(errors)

    def summary(self) -> str:
        """Energies, constraint error, steps and time, as text."""
        energy = self.energy
        lines = [
            f"{self.outcome}: t = {self.t[0]:.6g} to {self.t[-1]:.6g} s, {len(self.t)} instants kept",
            f"energy: {energy.total[0]:.6g} J at the start, {energy.total[-1]:.6g} J at the end",
            f"  drives supplied {energy.supplied[-1]:.4g} J, forces took {energy.dissipated[-1]:.4g} J, "
            f"unexplained {energy.drift[-1]:.2g} J",
            f"largest constraint error: {self.constraint_error.max():.3g}",
        ]
        if self.counters:
            lines.append(", ".join(f"{count} {name}" for name, count in self.counters.items()))
        if self.wall_time:
            lines.append(f"wall time {self.wall_time:.3g} s")
        return "\n".join(lines)


def _integral(t: Array, rate: Array) -> Array:
    """Integral over time by the trapezoidal rule, zero at the start."""
    return np.concatenate([[0.0], np.cumsum((rate[1:] + rate[:-1]) / 2 * np.diff(t))])
