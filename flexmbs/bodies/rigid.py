"""Rigid bodies in space: q = (position of the origin, unit quaternion), v = (its velocity, ω in body axes)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.body import RIGID, Body, numbers, pose_of, positive, rotation_matrix, vector
from flexmbs.bodies.shapes import Ball, Box, Cylinder
from flexmbs.errors import ModelError
from flexmbs.fem.elements import Elements
from flexmbs.fem.moments import mass_moments
from flexmbs.materials import Material
from flexmbs.mesh.mesh import Mesh
from flexmbs.rotations import axis_vector, triad

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RigidBody(Body):
    """A rigid body.

    Parameters
    ----------
    name : what joints, reports and messages call it.
    mass : [kg].
    inertia : (3, 3) or three principal moments [kg m²], in body axes (or ``inertia_axes``).
    center : mass centre in body axes.
    inertia_about : "center" (default), "origin", or a point in body axes: what ``inertia`` refers to.
    shape : what it is drawn as (fm.shapes, Mesh, or a list of them); ``box`` and the like give theirs.
    inertia_axes : rotation of the axes of ``inertia`` against the body's.
    position, rotation, velocity, angular_velocity : initial state, see Body.
    pose : homogeneous 4 x 4 transform to global axes, instead of position and rotation.
    """

    kind: ClassVar[int] = RIGID
    n_q: ClassVar[int] = 7
    n_v: ClassVar[int] = 6

    mass: float = 1.0
    inertia: ArrayLike = ()
    center: ArrayLike = (0.0, 0.0, 0.0)
    inertia_about: str | ArrayLike = "center"
    inertia_axes: Any = None
    position: ArrayLike | None = None
    rotation: Any = None
    velocity: ArrayLike | None = None
    angular_velocity: ArrayLike | None = None
    pose: ArrayLike | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(self.mass, f"{self.name}: mass")
        vector(self.center, 3, f"{self.name}: center")
        _ = self.mass_parameters, self.initial

    @property
    def mass_parameters(self) -> tuple[float, Array, Array]:
        """Mass, mass centre and inertia about the body's origin, in body axes."""
        c = np.asarray(self.center, dtype=float)
        given = numbers(self.inertia)
        if given.shape == (3,):
            given = np.diag(given)
        if given.shape != (3, 3) or not np.isfinite(given).all():
            raise ModelError(f"{self.name}: inertia must be three moments or a (3, 3) matrix, not {self.inertia!r}.")
        if not np.allclose(given, given.T, rtol=1e-9, atol=1e-12 * np.abs(given).max()):
            raise ModelError(f"{self.name}: the inertia matrix is not symmetric.")
        axes = rotation_matrix(self.inertia_axes, f"{self.name}: inertia_axes")
        given = axes @ given @ axes.T
        about = self._about
        central = given - self.mass * _steiner(about - c)
        moments = np.linalg.eigvalsh(central)
        if moments[0] < -1e-9 * max(moments[-1], 0.0) or moments[-1] > (moments[0] + moments[1]) * (1 + 1e-9):
            raise ModelError(
                f"{self.name}: no body has the principal moments {np.array2string(moments, precision=4)} about its "
                "mass centre (each must be positive and at most the sum of the other two). Is inertia_about right?"
            )
        return float(self.mass), c, central + self.mass * _steiner(c)

    @property
    def _about(self) -> Array:
        if isinstance(self.inertia_about, str):
            if self.inertia_about == "center":
                return np.asarray(self.center, dtype=float)
            if self.inertia_about == "origin":
                return np.zeros(3)
            raise ModelError(
                f'{self.name}: inertia_about is "center", "origin" or a point, not {self.inertia_about!r}.'
            )
        return vector(self.inertia_about, 3, f"{self.name}: inertia_about")

    @property
    def initial(self) -> tuple[Array | None, Array | None, Array | None, Array | None]:
        """Given initial state."""
        position: Array | None
        rotation: Array | None
        if self.pose is not None:
            if self.position is not None or self.rotation is not None:
                raise ModelError(f"{self.name}: give either pose or position and rotation, not both.")
            position, rotation = pose_of(self.pose, f"{self.name}: pose")
        else:
            position = None if self.position is None else vector(self.position, 3, f"{self.name}: position")
            rotation = None if self.rotation is None else rotation_matrix(self.rotation, f"{self.name}: rotation")
        return (
            position,
            rotation,
            None if self.velocity is None else vector(self.velocity, 3, f"{self.name}: velocity"),
            None
            if self.angular_velocity is None
            else vector(self.angular_velocity, 3, f"{self.name}: angular_velocity"),
        )

    @classmethod
    def box(cls, name: str, size: ArrayLike, density: float, **initial: Any) -> RigidBody:
        """A box with edges along the body's axes and its middle at the origin."""
        a, b, c = (positive(s, f"{name}: size") for s in vector(size, 3, f"{name}: size"))
        mass = positive(density, f"{name}: density") * a * b * c
        initial.setdefault("shape", Box((a, b, c)))
        return cls(name, mass, mass / 12 * np.array([b * b + c * c, a * a + c * c, a * a + b * b]), **initial)

    @classmethod
    def cylinder(
        cls, name: str, radius: float, length: float, density: float, axis: Any = "z", **initial: Any
    ) -> RigidBody:
        """A circular cylinder about an axis of the body, with its middle at the origin."""
        r, h = positive(radius, f"{name}: radius"), positive(length, f"{name}: length")
        mass = positive(density, f"{name}: density") * np.pi * r * r * h
        across, along = mass * (3 * r * r + h * h) / 12, mass * r * r / 2
        axes = triad(axis_vector(axis))
        initial.setdefault("shape", Cylinder(r, h, axis))
        return cls(name, mass, axes @ np.diag([across, across, along]) @ axes.T, **initial)

    @classmethod
    def sphere(cls, name: str, radius: float, density: float, **initial: Any) -> RigidBody:
        """A ball about the origin."""
        r = positive(radius, f"{name}: radius")
        mass = positive(density, f"{name}: density") * 4 / 3 * np.pi * r**3
        initial.setdefault("shape", Ball(r))
        return cls(name, mass, np.full(3, 0.4 * mass * r * r), **initial)

    @classmethod
    def from_mesh(cls, name: str, mesh: Mesh | Elements, material: Any = None, **initial: Any) -> RigidBody:
        """The rigid body that a mesh fills, in the axes and with the origin of the mesh.

        ``material`` is a Material (or a mapping from cell sets) or just a density [kg/m³]. For beams and thick plane
        parts give Elements, which have their sections, thickness and material.
        """
        elements = filled(name, mesh, material)
        mass, center, inertia = mass_moments(elements)
        initial.setdefault("shape", elements.mesh)
        return cls(name, mass, inertia, center, "origin", **initial)


def filled(name: str, mesh: Any, material: Any, **options: Any) -> Elements:
    """Elements of the mesh that a rigid body fills; stiffness plays no part, a density will do."""
    if isinstance(mesh, Elements):
        if material is not None or options:
            raise ModelError(f"{name}: Elements have their material already; give the mesh to set another.")
        return mesh
    if not isinstance(mesh, Mesh):
        raise ModelError(f"{name}: a Mesh or Elements is needed, not {type(mesh).__name__}.")
    if not isinstance(material, Material | Mapping):
        material = Material(1.0, 0.0, positive(material, f"{name}: density"), name)
    return Elements(mesh, material, **options)


def _steiner(c: Array) -> Array:
    """Inertia of a unit mass at c about the origin."""
    return np.asarray(c @ c * np.eye(3) - np.outer(c, c))
