"""Energy and momentum of a motion over time, and what changed them, by name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexmbs.system.audit import integral

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Energy:
    """Energy over time [J], and where it comes from and goes.

    ``kinetic_of_bodies`` and ``weight_of_bodies`` (time, bodies); ``stored_in_forces``, ``power_of_forces`` of what
    stores none (dampers, friction, contact, actuators) and ``work_of_forces`` since the start (time, forces);
    ``power_of_drives`` and ``work_of_drives`` (time, drives); ``work_of_slip`` (time,) is that of the constraint forces
    on velocities that break their constraints. ``bodies``, ``forces`` and ``drives`` are the names. Works are
    integrals by Simpson's rule, at states halfway between the instants kept. Of flexible bodies ``strain_of_bodies``,
    and ``power_of_damping`` and ``work_of_damping`` of their own damping (time, bodies); their weight and kinetic
    energy follow their deformation.
    """

    t: Array
    bodies: tuple[str, ...]
    forces: tuple[str, ...]
    drives: tuple[str, ...]
    kinetic_of_bodies: Array
    weight_of_bodies: Array
    stored_in_forces: Array
    power_of_forces: Array
    power_of_drives: Array
    work_of_forces: Array
    work_of_drives: Array
    work_of_slip: Array
    strain_of_bodies: Array
    power_of_damping: Array
    work_of_damping: Array

    @property
    def kinetic(self) -> Array:
        """Kinetic energy of all bodies."""
        return np.asarray(self.kinetic_of_bodies.sum(axis=1))

    @property
    def potential(self) -> Array:
        """Potential energy of weight (zero with the mass centres at the origin) and of springs, without ``strain``."""
        return np.asarray(self.weight_of_bodies.sum(axis=1) + self.stored_in_forces.sum(axis=1))

    @property
    def strain(self) -> Array:
        """Strain energy of all flexible bodies."""
        return np.asarray(self.strain_of_bodies.sum(axis=1))

    @property
    def total(self) -> Array:
        """Kinetic, potential and strain energy."""
        return self.kinetic + self.potential + self.strain

    @property
    def supplied(self) -> Array:
        """Work of the drives since the start."""
        return np.asarray(self.work_of_drives.sum(axis=1))

    @property
    def dissipated(self) -> Array:
        """Energy taken by dampers, friction, contact and bodies' own damping (less what actuators give)."""
        return -np.asarray(self.work_of_forces.sum(axis=1) + self.work_of_damping.sum(axis=1))

    @property
    def drift(self) -> Array:
        """Change of energy that neither drives nor forces explain: the error of the integration (and of this sum)."""
        return self.total - self.total[0] - self.supplied + self.dissipated

    @property
    def changes(self) -> dict[str, float]:
        """What changed the energy from the first instant to the last [J], by name of force and drive.

        "constraint drift" is the work of constraint forces where velocities break the constraints, "unexplained" the
        rest: errors of the integration and of these sums.
        """
        out = {name: float(self.work_of_forces[-1, k]) for k, name in enumerate(self.forces)}
        out |= {name: float(self.work_of_drives[-1, k]) for k, name in enumerate(self.drives)}
        lost = self.work_of_damping[-1]
        out |= {f"damping of {name}": float(lost[k]) for k, name in enumerate(self.bodies) if lost[k]}
        slip = float(self.work_of_slip[-1])
        return out | {"constraint drift": slip, "unexplained": float(self.drift[-1]) - slip}


@dataclass(frozen=True, eq=False)
class Momentum:
    """Momentum over time: linear [kg m/s] and angular [kg m²/s] about the origin, in global axes, and what changed it.

    ``linear_of_bodies`` and ``angular_of_bodies`` (time, bodies, 3). Forces with their moments about the origin
    (time, 6): ``weight`` of gravity on all bodies, ``from_ground`` of joints, springs and contacts with the ground;
    ``from_outside`` (time, forces, 6) of forces on one frame only, named ``forces``. What acts between bodies cancels.
    """

    t: Array
    bodies: tuple[str, ...]
    forces: tuple[str, ...]
    linear_of_bodies: Array
    angular_of_bodies: Array
    weight: Array
    from_ground: Array
    from_outside: Array

    @property
    def linear(self) -> Array:
        """Linear momentum of all bodies, (time, 3)."""
        return np.asarray(self.linear_of_bodies.sum(axis=1))

    @property
    def angular(self) -> Array:
        """Angular momentum of all bodies about the origin, (time, 3)."""
        return np.asarray(self.angular_of_bodies.sum(axis=1))

    @property
    def drift(self) -> Array:
        """Change of (linear, angular) momentum that weight, ground and outer forces do not explain, (time, 6)."""
        change = np.hstack([self.linear, self.angular])
        return np.asarray(change - change[0] - sum(self._impulses().values()))

    @property
    def changes(self) -> dict[str, Array]:
        """What changed (linear, angular) momentum from the first instant to the last, (6,) each, by name."""
        out = {name: impulse[-1] for name, impulse in self._impulses().items()}
        return out | {"unexplained": self.drift[-1]}

    def _impulses(self) -> dict[str, Array]:
        outside = {name: integral(self.t, self.from_outside[:, k]) for k, name in enumerate(self.forces)}
        return {"weight": integral(self.t, self.weight), "ground": integral(self.t, self.from_ground), **outside}
