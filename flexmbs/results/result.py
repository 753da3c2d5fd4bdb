"""Result of an analysis of a mechanism: coordinates over time, and everything that follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.body import PLANAR, Body
from flexmbs.bodies.ground import Ground
from flexmbs.errors import ModelError
from flexmbs.forces.body_load import BodyLoad
from flexmbs.forces.controller import Controller
from flexmbs.forces.rotating import RotatingFrame
from flexmbs.forces.springs import JointFriction, SpringDamper, Stop
from flexmbs.forces.user import UserForce
from flexmbs.joints.drives import Coupling, Drive
from flexmbs.joints.joint import Joint
from flexmbs.results.deforming import Balance, balance
from flexmbs.results.exporting import export, to_pandas
from flexmbs.results.flexing import Flexing
from flexmbs.results.motions import BodyMotion, Elastic, body_motion, elastic_motion
from flexmbs.results.saving import save_result
from flexmbs.system.audit import Audit, audit, halfway_states, integral, midpoints
from flexmbs.system.balances import Energy, Momentum
from flexmbs.system.force_histories import coordinate_forces, force_wrenches, user_wrenches
from flexmbs.system.reactions import row_wrenches

Array = NDArray[np.float64]

NAMED = 6
"""Forces and drives named one by one in a summary."""


@dataclass(frozen=True, eq=False, repr=False)
class Result(Flexing):
    """A motion of a mechanism, time first in every history.

    ``q``, ``v``, ``rate`` (v') and ``multipliers`` are the arrays themselves; the methods give what they mean. Where
    ``forces_known`` is False (kinematics) there are no reactions, and no works of drives. ``events`` holds, for each
    event by name, a Result of the instants at which it happened. ``carried`` is what the integrator needs to go on from
    the end as if it had not stopped.
    """

    # ---- forces -------------------------------------------------------------------------------------------------

    def reaction(self, of: Any) -> Array:
        """What a joint exerts ON its second frame's body, at that frame, in global axes.

        (time, 6): force, moment; (time, 3) between planar bodies: Fx, Fy, Mz; (time,) for a drive or coupling: the
        force or torque along its coordinate; for a relation or user constraint the multiplier, (time, rows) of several.
        For the Ground: the total of all joints and forces on the foundation, with the moment about the origin.
        ``of`` may also be its name.
        """
        of = self.system.named(of) if isinstance(of, str) else of
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
        Of a BodyLoad its resultant at the origin of the body's frame, as of a force between frames. ``of`` may also be
        its name.
        """
        of = self.system.named(of) if isinstance(of, str) else self.system.own(of)
        states = (self.t, self.q, self.v, self.angles)
        if isinstance(of, BodyLoad):
            self.system.force_numbers(of)
            own = of.resultant(self.t, self.elastic(of.body)).reshape(-1, 2, 3)
            total = np.einsum("tij,tkj->tki", self.rotation(of.body), own).reshape(-1, 6)
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

    # ---- files --------------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write all of it to a file (HDF5) that ``fm.load`` reads without this program, and that ParaView opens.

        A file of that name is replaced once all is written. See ``forward_dynamics(save=...)`` for one that is written
        while the run goes on.
        """
        save_result(self, path)

    def export(self, path: str | PathLike[str], at: ArrayLike | None = None) -> None:
        """Write it for other programs, by the suffix of the file; ``at`` picks times, by default all instants kept.

        ``.vtkhdf`` (one file) or ``.pvd`` (a list of ``.vtu`` files in a folder of that name; a path without a suffix
        is a folder for all of it) for ParaView: surfaces with displacement and von Mises stress. ``.vtu``: one instant,
        the last by default. ``.csv``: a table with motions of bodies, reactions and energies. ``.npz``: the same as
        NumPy arrays.
        """
        export(self, path, at)

    def to_pandas(self) -> Any:
        """Motions of bodies, reactions and energies as a pandas DataFrame over time (needs pandas)."""
        return to_pandas(self)

    # ---- audit --------------------------------------------------------------------------------------------------

    @cached_property
    def _audit(self) -> Audit:
        return audit(self.system, self.t, self.q, self.v, self.angles, self.multipliers)

    @cached_property
    def energy(self) -> Energy:
        """Energies, powers and works over time, by body, force and drive."""
        system, here = self.system, self._audit
        own = self._balances
        masses = np.array([body.mass_parameters[0] for body in system.bodies])
        weight = -np.stack([b.centre @ system.layout.gravity for b in own], axis=1) * masses
        damping = np.stack([b.damping for b in own], axis=1)
        driven = [
            (joint.name, rows)
            for joint in system.joints
            for rows in (system.joint_rows(joint),)
            if isinstance(joint, Drive) or here.rates[:, rows].any()
        ]
        power = self._drive_power(driven, self.multipliers, here.rates)
        power_between = np.zeros((0, len(driven)))
        forces_between, slip_between = np.zeros((0, here.power.shape[1])), np.zeros(0)
        damping_between = np.zeros((0, len(own)))
        if len(self.t) > 1:
            q, v = halfway_states(system, self.t, self.q, self.v, self.rate)
            t, multipliers = (self.t[1:] + self.t[:-1]) / 2, midpoints(self.t, self.multipliers)
            between = audit(system, t, q, v, (self.angles[1:] + self.angles[:-1]) / 2, multipliers)
            power_between = self._drive_power(driven, multipliers, between.rates)
            forces_between, slip_between = between.power, midpoints(self.t, here.slip)
            damping_between = midpoints(self.t, damping)
            for k, body in enumerate(system.bodies):
                if body.modes and damping[:, k].any():
                    damping_between[:, k] = balance(body, *self._halfway(body, q, v)).damping
        return Energy(
            self.t,
            tuple(body.name for body in system.bodies),
            system.force_names,
            tuple(name for name, _ in driven),
            np.stack([b.kinetic for b in own], axis=1),
            weight,
            here.stored,
            here.power,
            power,
            integral(self.t, here.power, forces_between),
            integral(self.t, power, power_between),
            integral(self.t, here.slip, slip_between),
            np.stack([b.strain for b in own], axis=1),
            damping,
            integral(self.t, damping, damping_between),
        )

    @cached_property
    def _balances(self) -> list[Balance]:
        """Energy and momentum of each body."""
        return [balance(body, self.motion(body), self._elastic(body)) for body in self.system.bodies]

    def _halfway(self, body: Body, q: Array, v: Array) -> tuple[BodyMotion, Elastic]:
        """Motion of a body at states halfway between instants; powers need no accelerations."""
        states = (self.system, q, v, np.zeros_like(v))
        return body_motion(*states, body), elastic_motion(*states, body)

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
        own = self._balances
        weight = np.zeros((len(self.t), 6))
        for body, one in zip(system.bodies, own, strict=True):
            push = body.mass_parameters[0] * system.layout.gravity
            weight[:, :3] += push
            weight[:, 3:] += np.cross(one.centre, push)
        return Momentum(
            self.t,
            tuple(body.name for body in system.bodies),
            tuple(system.outside_names),
            np.stack([b.linear for b in own], axis=1),
            np.stack([b.angular for b in own], axis=1),
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
            f"  drives supplied {energy.supplied[-1]:.4g} J, forces took {energy.dissipated[-1] + 0.0:.4g} J, "
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
        lines += [f"warning: {text}" for text in self.warnings]
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
