"""Flexible bodies: a mesh in a floating frame, q = (position, quaternion, d), v = (velocity, ω in body axes, d')."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.body import PLANAR, RIGID, Body, Frame, numbers, rotation_matrix, vector
from flexmbs.bodies.flexible_inertia import BodyMoments, packed
from flexmbs.bodies.planar import PlanarBody
from flexmbs.bodies.rigid import RigidBody
from flexmbs.errors import FlexmbsError, ModelError
from flexmbs.fem.elements import Elements
from flexmbs.mesh.mesh import Mesh
from flexmbs.reduction import (
    Part,
    ReducedPart,
    Reduction,
    load_reduced,
    reduce,
    save_reduced,
    stress_modes,
)
from flexmbs.reduction.floating import second_order_moments
from flexmbs.reduction.full import FullPart
from flexmbs.reduction.reducing import HELD
from flexmbs.reduction.reference import MEAN
from flexmbs.rotations import skew

Array = NDArray[np.float64]

LARGEST = 600
"""Elastic coordinates of one body up to which its matrices, full ones, are small."""


@dataclass(frozen=True, eq=False)
class FlexibleBody(Body):
    """A deformable body, reduced to few elastic coordinates d in its floating frame.

    Parameters
    ----------
    name : what joints, reports and messages call it.
    mesh : a Mesh (solid, plane or beam), Elements for options beyond those here, or a Part of given M and K.
    material : Material, or a mapping from cell sets to materials.
    section : of beams. thickness, plane : of plane meshes, which become planar bodies (x, y, θ, d). up : of beams.
    fixed : sets that do not move in the body's frame, as where a blade is clamped to its hub.
    interfaces : sets (made rigid), ``Averaged(set)`` or nodes that joints and forces hold on to.
    reduction : CraigBampton(modes=8) by default where there are interfaces, ModalTruncation(modes=10) where none are
        (fewer modes where a small mesh has no more); FreeInterface, StaticCondensation, Krylov, FullOrder.
    frame : the floating frame: "tangent", "chord", "mean", Tangent(set), Chord(set, set); see ``reduce``.
    damping : Rayleigh, ModalDamping or one damping ratio; none by default. Ratios are those of the modes that the body
        has in its floating frame, or where it is fixed: clamped where a tangent frame is, free in mean axes.
    stiffening : count the geometric stiffening by inertia, joint and applied forces.
    loads : named loads (Pressure, Traction, ...) that a ``BodyLoad`` may apply over time.
    position, rotation, velocity, angular_velocity : initial state of the mesh's axes, see Body.
    """

    mesh: Mesh | Elements | Part | None = None
    material: Any = None
    section: Any = None
    fixed: Any = None
    interfaces: Any = None
    reduction: Reduction | None = None
    frame: Any = None
    damping: Any = None
    stiffening: bool = True
    loads: Mapping[str, Any] | None = None
    thickness: Any = 1.0
    plane: str = "stress"
    up: ArrayLike | None = None
    position: ArrayLike | None = None
    rotation: Any = None
    velocity: ArrayLike | None = None
    angular_velocity: ArrayLike | None = None
    reduced: ReducedPart = field(default=None, repr=False)  # type: ignore[assignment]
    """The reduced part; made from the mesh, or given (a loaded one)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.initial
        if self.reduced is None:
            object.__setattr__(self, "reduced", self._reduced(self._part()))
        if not isinstance(self.reduced, ReducedPart):
            raise ModelError(f"{self.name}: reduced is a ReducedPart, as fm.reduce makes it, not {self.reduced!r}.")
        if self.reduced.size > LARGEST and not self.full_order:
            raise ModelError(
                f"{self.name}: {self.reduced.size} elastic coordinates are too many for a moving body (up to "
                f"{LARGEST}); reduce it, e.g. reduction=CraigBampton(modes=20)."
            )

    @classmethod
    def from_matrices(
        cls,
        name: str,
        points: ArrayLike | Mesh,
        mass: Any,
        stiffness: Any,
        node_sets: Mapping[str, ArrayLike] | None = None,
        **options: Any,
    ) -> FlexibleBody:
        """A flexible body from M and K of another finite-element program (``read_matrices`` reads their files).

        ``points`` (nodes, 3) with ``node_sets``, or a Mesh of the same nodes; the options are those of FlexibleBody.
        Without elements there is neither stress nor geometric stiffening.
        """
        return cls(name, Part.of_matrices(points, mass, stiffness, node_sets, name), **options)

    @classmethod
    def load(cls, path: str | PathLike[str], name: str | None = None, **state: Any) -> FlexibleBody:
        """A body that ``save`` wrote, under its own name or another; ``state`` is position=, rotation= and so on."""
        known = ("position", "rotation", "velocity", "angular_velocity", "shape")
        for key in state:
            if key not in known:
                raise ModelError(f"{path}: a loaded body takes {', '.join(known)}, not {key!r}: that is in the file.")
        reduced = load_reduced(path)
        return cls(reduced.name if name is None else name, reduced.mesh, reduced=reduced, **state)

    def save(self, path: str | PathLike[str], stress: Any = None) -> None:
        """Write the reduced body to a file (npz), with what ``load_stress_modes`` needs at the nodes of ``stress``."""
        modes = None if stress is None else self._tried(stress_modes, self.reduced, stress)
        save_reduced(path, replace(self.reduced, name=self.name), modes)

    def _part(self) -> Any:
        if isinstance(self.mesh, Elements | Part):
            given = {key: getattr(self, key) is not None for key in ("material", "section", "up")}
            given |= {"thickness": self.thickness != 1.0, "plane": self.plane != "stress"}
            for key, said in given.items():
                if said:
                    kind = type(self.mesh).__name__
                    raise ModelError(f"{self.name}: {key} is known to its {kind} already; leave it out.")
            return self.mesh
        if not isinstance(self.mesh, Mesh):
            raise ModelError(f"{self.name}: a Mesh, Elements or a Part is needed, not {type(self.mesh).__name__}.")
        plane = self.mesh.dimension == 2
        if not plane and (self.thickness != 1.0 or self.plane != "stress"):
            raise ModelError(f"{self.name}: thickness= and plane= belong to plane meshes; leave them out.")
        options = {"thickness": self.thickness, "plane": self.plane} if plane else {}
        return self._tried(Elements, self.mesh, self.material, section=self.section, up=self.up, **options)

    def _reduced(self, part: Any) -> ReducedPart:
        if self.loads is not None and not isinstance(self.loads, Mapping):
            raise ModelError(f'{self.name}: loads are named, e.g. loads={{"gas": fm.Pressure("crown", 1e5)}}.')
        names = ("fixed", "interfaces", "frame", "damping", "stiffening", "loads")
        found: ReducedPart = self._tried(reduce, part, self.reduction, **{n: getattr(self, n) for n in names})
        return found

    def _tried(self, make: Any, *given: Any, **options: Any) -> Any:
        """What is made, or a refusal that names the body."""
        try:
            return make(*given, **options)
        except FlexmbsError as error:
            raise type(error)(f"{self.name}: {error}") from error

    # ---- what every body has ------------------------------------------------------------------------------------

    @property
    def planar(self) -> bool:
        """Whether it moves in the plane."""
        return self.reduced.axes == 2

    @property
    def kind(self) -> int:  # type: ignore[override]
        """Its frame moves as a rigid or planar body does."""
        return PLANAR if self.planar else RIGID

    @property
    def n_q(self) -> int:  # type: ignore[override]
        """Number of coordinates."""
        return (3 if self.planar else 7) + self.modes

    @property
    def n_v(self) -> int:  # type: ignore[override]
        """Number of velocities."""
        return (3 if self.planar else 6) + self.modes

    @property
    def modes(self) -> int:
        """Number of elastic coordinates."""
        return self.reduced.size

    @property
    def full_order(self) -> bool:
        """Whether it has every coordinate of its mesh, sparse."""
        return isinstance(self.reduced, FullPart)

    @property
    def mass_parameters(self) -> tuple[float, Array, Array]:
        """Mass, mass centre and inertia about the origin of the undeformed body."""
        c = self.reduced.constants
        return c.mass, c.s0 / c.mass, np.trace(c.second) * np.eye(3) - c.second

    @property
    def initial(self) -> tuple[Array | None, Array | None, Array | None, Array | None]:
        """Given initial state."""
        return (
            None if self.position is None else self._vector(self.position, "position"),
            None if self.rotation is None else rotation_matrix(self._turn(self.rotation), f"{self.name}: rotation"),
            None if self.velocity is None else self._vector(self.velocity, "velocity"),
            None
            if self.angular_velocity is None
            else self._vector(self._turn(self.angular_velocity), "angular_velocity"),
        )

    def _vector(self, given: ArrayLike, what: str) -> Array:
        array = numbers(given)
        return vector(np.append(array, 0.0) if array.shape == (2,) else given, 3, f"{self.name}: {what}")

    @staticmethod
    def _turn(given: Any) -> Any:
        """A planar body's angle as a rotation vector."""
        return np.array([0.0, 0.0, float(numbers(given))]) if np.ndim(given) == 0 else given

    # ---- frames -------------------------------------------------------------------------------------------------

    def at(self, *place: Any, axes: Any = None) -> Frame:
        """A frame on an interface or set by its name, on a node by its number, or at a point (two or three numbers).

        At a point it moves with the nodes around it; without any place it is the floating frame itself.
        """
        turned = rotation_matrix(axes, f"{self.name}.at(): axes")
        if not place:
            return Frame(self, np.zeros(3), turned, np.zeros((6, self.modes)), self._curvatures(np.zeros(3), 0.0))
        try:
            if len(place) == 1 and (isinstance(place[0], str | int | np.integer)):
                found = self.reduced.frame(place[0])
            else:
                found = self.reduced.frame_at(numbers(place[0] if len(place) == 1 else place))
        except FlexmbsError as error:
            raise ModelError(f"{self.name}.at(): {error}") from error
        shapes = np.vstack([found.displacement, found.rotation])
        return Frame(self, found.position, turned, shapes, self._curvatures(found.position, found.second))

    def _curvatures(self, position: Array, second: Array | float) -> Array | None:
        """Terms of second order of a frame, counted from the axes that carry the shortening along."""
        if self.shortening is not None:
            tau, rho = self.shortening
            second = second - np.concatenate([tau + np.cross(rho, position[:, None, None], axis=0), rho])
        return np.asarray(second) if np.any(second) else None

    def shape_axes(self, d: Array) -> tuple[Array, Array]:
        """Shift and turn (time, 3) of the axes in which nodes are at x + Φ d, seen from the floating frame.

        The two differ in terms of second order, by what the floating frame carries along; see ``shortening``.
        """
        if self.shortening is None:
            return np.zeros((len(d), 3)), np.zeros((len(d), 3))
        shift, turn = (-np.einsum("tk,ikl,tl->ti", d, part, d, optimize=True) / 2 for part in self.shortening)
        return np.asarray(shift), np.asarray(turn)

    # ---- constants ----------------------------------------------------------------------------------------------

    @cached_property
    def moments(self) -> BodyMoments:
        """The constants of the equations of motion."""
        c = self.reduced.constants
        n = self.modes
        shortening, shearing = np.zeros((3, n, n)), np.zeros((3, 3, n, n))
        if len(self.reduced.cases.K_g):
            shortening, shearing = second_order_moments(self.reduced.cases.K_g)
        if self.shortening is not None:  # without the rigid part of u₂ nothing is left of ∫ρ u₂, and less of ∫ρ u₂ xᵀ
            tau, rho = self.shortening
            turned = np.cross(rho[:, None], c.second[:, :, None, None], axis=0)
            shortening, shearing = np.zeros((3, n, n)), shearing - np.einsum("ikl,j->ijkl", tau, c.s0) - turned
        return BodyMoments(
            c.mass, c.s0, c.second, c.S, c.first.transpose(1, 0, 2), np.diag(c.stiffness), np.diag(c.damping), c.m,
            shortening, shearing,
        )  # fmt: skip

    @cached_property
    def shortening(self) -> tuple[Array, Array] | None:
        """Translation τ and rotation ρ (3, modes, modes) that hold the momentum of the shortening u₂ = ½ dᵀH d.

        The floating frame is free to second order in d. Taken along with the mean of u₂, ½ dᵀτ d and ½ dᵀρ d, it makes
        u₂ free of momentum, and the mass matrix positive however the frame is held to first order: a frame at one end
        of a free body would otherwise see masses that are negative from deflections of one percent on. A body that is
        fixed somewhere is held there by what it is fixed to, and keeps its frame there; mean axes need nothing of it.
        """
        c, n = self.reduced.constants, self.modes
        if not len(self.reduced.cases.K_g) or self.reduced.reference in (HELD, MEAN):
            return None
        first, second = second_order_moments(self.reduced.cases.K_g)
        angular = np.stack([second[2, 1] - second[1, 2], second[0, 2] - second[2, 0], second[1, 0] - second[0, 1]])
        arm = skew(c.s0)
        inertia = np.block([[c.mass * np.eye(3), -arm], [arm, np.trace(c.second) * np.eye(3) - c.second]])
        used = [0, 1, 5] if self.planar else list(range(6))
        moments = np.concatenate([first, angular]).reshape(6, -1)[used]
        found = np.zeros((6, n * n))
        found[used] = np.linalg.lstsq(inertia[np.ix_(used, used)], moments, rcond=1e-13)[0]
        return found[:3].reshape(3, n, n), found[3:].reshape(3, n, n)

    @cached_property
    def modal_constants(self) -> Array:
        """Constants for the compiled functions; in full order there are none, its condensed body has them."""
        return np.zeros(0) if self.full_order else packed(self.moments)

    @cached_property
    def modal_lengths(self) -> Array:
        """Largest displacement of a node for a unit of each elastic coordinate; rotations as what they move a body's
        length away.
        """
        if isinstance(self.reduced, FullPart):
            return self.reduced.lengths
        axes, mesh = self.reduced.axes, self.reduced.mesh
        nodal = self.reduced.basis.reshape(mesh.n_nodes, -1, self.modes)
        straight, turning = nodal[:, :axes], mesh.size * nodal[:, axes:]
        return np.asarray(np.sqrt(((straight**2).sum(axis=1) + (turning**2).sum(axis=1)).max(axis=0)))

    def modes_table(self) -> str:
        """What each elastic coordinate is, as a table of text."""
        return self.reduced.modes_table()

    def rigid(self) -> RigidBody | PlanarBody:
        """The rigid body with the same mass properties, pose and name."""
        mass, center, inertia = self.mass_parameters
        place, turn, velocity, spin = self.initial
        if not self.planar:
            return RigidBody(
                self.name, mass, inertia, center, "origin", position=place, rotation=turn, velocity=velocity,
                angular_velocity=spin, shape=self._drawn(),
            )  # fmt: skip
        return PlanarBody(
            self.name, mass, inertia[2, 2], center[:2], "origin",
            None if place is None else place[:2],
            None if turn is None else float(np.arctan2(turn[1, 0], turn[0, 0])),
            None if velocity is None else velocity[:2],
            None if spin is None else float(spin[2]),
            shape=self._drawn(),
        )  # fmt: skip

    def _drawn(self) -> Any:
        """What it is drawn as when it is rigid: its own shapes, or its mesh unless that is points or lines."""
        return self.shape or (self.reduced.mesh if self.reduced.mesh.dimension > 1 else None)
