"""Rigid bodies in the x-y plane: q = (x, y, θ) of the body's origin, v = (x', y', θ')."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.body import PLANAR, Body, finite, positive, vector
from flexmbs.bodies.rigid import filled
from flexmbs.errors import ModelError
from flexmbs.fem.elements import Elements
from flexmbs.fem.moments import mass_moments
from flexmbs.mesh.mesh import Mesh
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

    @classmethod
    def box(cls, name: str, size: ArrayLike, density: float, thickness: float = 1.0, **initial: Any) -> PlanarBody:
        """A rectangular plate (a, b) along the body's axes, with its middle at the origin; density [kg/m³]."""
        a, b = (positive(s, f"{name}: size") for s in vector(size, 2, f"{name}: size"))
        mass = positive(density, f"{name}: density") * a * b * positive(thickness, f"{name}: thickness")
        return cls(name, mass, mass * (a * a + b * b) / 12, **initial)

    @classmethod
    def disc(cls, name: str, radius: float, density: float, thickness: float = 1.0, **initial: Any) -> PlanarBody:
        """A circular plate about the origin; density [kg/m³]."""
        r = positive(radius, f"{name}: radius")
        mass = positive(density, f"{name}: density") * np.pi * r * r * positive(thickness, f"{name}: thickness")
        return cls(name, mass, mass * r * r / 2, **initial)

    @classmethod
    def rod(cls, name: str, length: float, mass: float, **initial: Any) -> PlanarBody:
        """A slender rod along the body's x axis, with its middle at the origin."""
        m = positive(mass, f"{name}: mass")
        return cls(name, m, m * positive(length, f"{name}: length") ** 2 / 12, **initial)

    @classmethod
    def from_mesh(
        cls, name: str, mesh: Mesh | Elements, material: Any = None, thickness: float | None = None, **initial: Any
    ) -> PlanarBody:
        """The planar body that a mesh fills, in the axes and with the origin of the mesh; z plays no part.

        ``material`` is a Material or a density [kg/m³]; ``thickness`` is that of a plane mesh (1 m by default).
        """
        options = {} if thickness is None else {"thickness": positive(thickness, f"{name}: thickness")}
        mass, center, inertia = mass_moments(filled(name, mesh, material, **options))
        return cls(name, mass, float(inertia[2, 2]), center[:2], "origin", **initial)
