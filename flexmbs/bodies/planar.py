"""Rigid bodies in the x-y plane: q = (x, y, θ) of the body's origin, v = (x', y', θ')."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.body import PLANAR, Body, finite, positive, vector
from flexmbs.errors import ModelError
from flexmbs.rotations import axis_angle

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PlanarBody(Body):
    """A rigid body that moves in the x-y plane.

    Parameters
    ----------
    mass, inertia : [kg] and [kg m²] about z, about the mass centre or, with ``inertia_about="origin"``, the origin.
    center : mass centre in body axes; the mass matrix then couples translation and rotation.
    position, angle, velocity, angular_velocity : initial state (2,), [rad], (2,), [rad/s].
    """

    kind: ClassVar[int] = PLANAR
    n_q: ClassVar[int] = 3
    n_v: ClassVar[int] = 3

    mass: float = 1.0
    inertia: float = 0.0
    center: ArrayLike = (0.0, 0.0)
    inertia_about: str = "center"
    position: ArrayLike | None = None
    angle: float | None = None
    velocity: ArrayLike | None = None
    angular_velocity: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(self.mass, f"{self.name}: mass")
        positive(self.inertia, f"{self.name}: inertia", zero=True)
        _ = self.mass_parameters, self.initial

    @property
    def mass_parameters(self) -> tuple[float, Array, Array]:
        """Mass, mass centre and inertia about the body's origin; only the moment about z is used."""
        c = vector(self.center, 2, f"{self.name}: center")
        steiner = self.mass * float(c @ c)
        if self.inertia_about == "center":
            about_origin = self.inertia + steiner
        elif self.inertia_about == "origin":
            about_origin = self.inertia
            if about_origin < steiner:
                raise ModelError(
                    f"{self.name}: inertia {self.inertia:.4g} about the origin is less than mass · distance² of its "
                    f"mass centre, {steiner:.4g}. Is it about the centre?"
                )
        else:
            raise ModelError(f'{self.name}: inertia_about is "center" or "origin", not {self.inertia_about!r}.')
        return float(self.mass), np.array([*c, 0.0]), np.diag([0.0, 0.0, about_origin])

    @property
    def initial(self) -> tuple[Array | None, Array | None, Array | None, Array | None]:
        """Given initial state, in space."""
        return (
            None if self.position is None else np.array([*vector(self.position, 2, f"{self.name}: position"), 0.0]),
            None if self.angle is None else axis_angle("z", finite(self.angle, f"{self.name}: angle")),
            None if self.velocity is None else np.array([*vector(self.velocity, 2, f"{self.name}: velocity"), 0.0]),
            None
            if self.angular_velocity is None
            else np.array([0.0, 0.0, finite(self.angular_velocity, f"{self.name}: angular_velocity")]),
        )
