"""What a Campbell diagram is drawn of: eigenvalues and shapes of a spinning body, part or mechanism at any speed.

A body or part is seen in the frame that turns with it, λ²M + λ(ΩC₁ + D) + K + Ω²(K₂ + K_g), all constants found once.
A mechanism is linearised about its steady spin, in axes that turn with it or stand still.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from flexmbs.analyses.axisymmetry import harmonics, turn_of
from flexmbs.analyses.statics import reduced_product, statics
from flexmbs.analyses.supports import supports
from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.errors import AnalysisError, SolverError
from flexmbs.fem.assembly import exact_product
from flexmbs.fem.blocks import Blocks
from flexmbs.fem.elements import Elements
from flexmbs.fem.loads import Centrifugal
from flexmbs.fem.prestress import inertia_of
from flexmbs.fem.prestress import prestress as prestress_state
from flexmbs.fem.rigid import described, free_motions
from flexmbs.linalg import quadratic_modes
from flexmbs.projection import Projection
from flexmbs.reduction import Rayleigh, ReducedPart
from flexmbs.reduction.damping import damping_coefficients
from flexmbs.reduction.stiffening import inertia_factors

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

ASIDE = (0.0, 1e-5, 1e-4, 1e-3)
"""How far from a critical speed, relative to it, the sparse problem is solved where it cannot be just there."""


class SpinningModel(Protocol):
    """Eigenvalues and shapes at a speed, both of each pair λ, λ*, smallest first."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    @property
    def turning(self) -> bool:
        """Whether shapes are seen in axes that turn with the speed."""
        ...

    @property
    def bisections(self) -> int:
        """How often a step between speeds may be halved to follow modes: fewer where a solution is dear."""
        ...

    @property
    def unit(self) -> float:
        """A typical circular frequency [rad/s]."""
        ...

    def spectrum(self, speed: float, count: int) -> tuple[Complex, Complex]:
        """λ (k,) and shapes (n, k), at least those of the ``count`` smallest pairs where there are as many."""
        ...

    def weighted(self, shapes: Complex) -> Complex:
        """Shapes in coordinates whose squares compare."""
        ...

    def whirl_forms(self, shapes: Complex) -> tuple[Complex, Complex]:
        """Hermitian forms (k, k) of going around the axis and of the size of shapes, see ``handedness``."""
        ...

    def waves(self, shapes: Complex) -> NDArray[np.int64]:
        """(k,) waves n around the axis: in axes that stand still λ becomes λ + inΩ."""
        ...


def handedness(model: SpinningModel, shapes: Complex) -> Array:
    """(k,) 1 for circular motion about the axis with the spin (of exp(iωt), ω > 0), -1 against it, 0 for neither."""
    around, size = model.whirl_forms(shapes)
    total = np.diag(size).real
    return np.asarray(np.diag(around).real / np.where(total > 0, total, 1.0))


def pairs(values: Complex, vectors: Complex, count: int) -> tuple[Complex, Complex]:
    """The smallest ``count`` pairs of eigenvalues, both of each: what is cut off is cut off together."""
    size = np.abs(values)
    keep = np.argsort(size, kind="stable")[: 2 * count]
    if len(keep) < len(values):  # a pair that the cut divides goes as a whole
        lone = [k for k in keep if values[k].imag and not np.isclose(values[keep], values[k].conj(), rtol=1e-7).any()]
        keep = np.array([k for k in keep if k not in lone])
    return values[keep], vectors[:, keep]


@dataclass(frozen=True, eq=False)
class SpinningBody:
    """A reduced body, held in a frame that turns about ``axis`` through its origin."""

    name: str
    reduced: ReducedPart
    axis: Array
    damping: Array
    """D, diagonal."""
    stiffening: bool = True
    turning: bool = True
    bisections: int = 8

    @cached_property
    def unit(self) -> float:
        """The lowest frequency."""
        return float(np.sqrt(self.reduced.constants.stiffness[0]))

    @cached_property
    def constants(self) -> tuple[Array, Array]:
        """C and K + K_g of unit speed."""
        c, cases = self.reduced.constants, self.reduced.cases
        second = c.stiffness_omega(self.axis)
        if self.stiffening and len(cases.K_g):
            factors = inertia_factors(np.zeros(3), np.zeros(3), self.axis)
            second = second + np.tensordot(factors, cases.K_g[:12], axes=1)
        return c.gyroscopic(self.axis), second

    def matrices(self, speed: float) -> tuple[Array, Array, Array]:
        """M, C and K at a speed."""
        first, second = self.constants
        stiffness = np.diag(self.reduced.constants.stiffness)
        return np.eye(self.reduced.size), speed * first + np.diag(self.damping), stiffness + speed**2 * second

    def spectrum(self, speed: float, count: int) -> tuple[Complex, Complex]:
        """Of the state matrix."""
        n = self.reduced.size
        _, c, k = self.matrices(speed)
        # λ in units of a frequency keeps both halves of the state of one size
        state = np.block([[np.zeros((n, n)), np.eye(n)], [-k / self.unit**2, -c / self.unit]])
        values, vectors = scipy.linalg.eig(state)
        return pairs(self.unit * values, vectors[:n].astype(complex), count)

    def weighted(self, shapes: Complex) -> Complex:
        """As they are: orthonormal in the mass."""
        return shapes

    def whirl_forms(self, shapes: Complex) -> tuple[Complex, Complex]:
        """Through C and M."""
        return -0.5j * shapes.conj().T @ self.constants[0] @ shapes, shapes.conj().T @ shapes

    def waves(self, shapes: Complex) -> NDArray[np.int64]:
        """From the shapes of the nodes."""
        turn = turn_of(self.reduced.mesh, self.axis, self.name)
        return harmonics(turn, self.reduced.dofs_per_node, self.reduced.basis @ shapes, self.name)


def spinning_body(
    model: FlexibleBody | ReducedPart, axis: Array, stiffening: bool | None, damping: Any
) -> SpinningBody:
    """A reduced body as it is; it must be held in its frame."""
    reduced = model.reduced if isinstance(model, FlexibleBody) else model
    name = model.name
    if "fixed" not in reduced.reference:
        raise AnalysisError(
            f"{name}: a body by itself must be held in its frame, with fixed= when it is made. Put a free one into a "
            "System, on bearings (Bushing) or joints."
        )
    if reduced.axes == 2 and np.abs(axis[:2]).max() > 0:
        raise AnalysisError(f"{name}: a plane body turns about z only, not about {axis}.")
    constants = reduced.constants
    own = constants.damping if damping is None else damping_coefficients(damping, constants.stiffness, name)
    return SpinningBody(name, reduced, axis, own, stiffening is not False)


@dataclass(frozen=True, eq=False)
class SpinningPart:
    """All nodes of a part, held in a frame that turns about ``axis`` through its origin; sparse."""

    elements: Elements
    axis: Array
    projection: Projection
    mass: Any
    first: Any
    """C of unit speed."""
    second: Blocks
    """K(ω) + K_g of unit speed."""
    damping: Rayleigh
    turning: bool = True
    bisections: int = 5

    @property
    def name(self) -> str:
        """Of the mesh."""
        return self.elements.mesh.name

    @cached_property
    def unit(self) -> float:
        """The lowest frequency at rest."""
        return float(np.abs(self.spectrum(0.0, 1)[0][0]))

    def blocks(self, speed: float) -> Blocks:
        """K at a speed."""
        return self.elements.stiffness() + speed**2 * self.second

    def matrices(self, speed: float) -> tuple[Any, Any, Any]:
        """M, C and K at a speed, sparse."""
        stiffness = self.projection.project(self.elements.assemble(self.blocks(speed)))
        c = speed * self.first
        if self.damping.mass or self.damping.stiffness:
            elastic = self.projection.project(self.elements.assemble(self.elements.stiffness()))
            c = c + self.damping.mass * self.mass + self.damping.stiffness * elastic
        return self.mass, c, stiffness

    def spectrum(self, speed: float, count: int) -> tuple[Complex, Complex]:
        """Of the sparse pencil; very near a critical speed, where K is singular, from a speed a little aside."""
        wanted = min(count, self.mass.shape[0])
        for aside in ASIDE:
            there = speed * (1 + aside)
            m, c, k = self.matrices(there)
            product = reduced_product(self.projection, exact_product(self.elements, self.blocks(there)))
            try:
                values, vectors = quadratic_modes(m, c, k, wanted, stiffness_operator=product)
                break
            except SolverError as error:
                if aside == ASIDE[-1]:
                    raise AnalysisError(f"{self.name}: no modes were found at {speed:.6g} rad/s: {error}.") from error
        if there != speed:  # to first order: λ' = -xᴴ(λC₁ + 2ΩK₂)x / xᴴ(2λM + C)x
            second = self.projection.project(self.elements.assemble(self.second))
            change = values * (self.first @ vectors) + 2 * there * (second @ vectors)
            scale = 2 * values * (m @ vectors) + c @ vectors
            slope = -np.sum(vectors.conj() * change, axis=0) / np.sum(vectors.conj() * scale, axis=0)
            values = values + slope * (speed - there)
        both = np.abs(values.imag) > 0
        values = np.concatenate([values, values[both].conj()])
        return pairs(values, np.hstack([vectors, vectors[:, both].conj()]), count)

    def weighted(self, shapes: Complex) -> Complex:
        """By the square roots of the masses on the diagonal."""
        return np.sqrt(np.maximum(self.mass.diagonal(), 0.0))[:, None] * shapes

    def whirl_forms(self, shapes: Complex) -> tuple[Complex, Complex]:
        """Through C and M."""
        back = shapes.conj().T
        return -0.5j * back @ (self.first @ shapes), back @ (self.mass @ shapes)

    def waves(self, shapes: Complex) -> NDArray[np.int64]:
        """From the shapes of the nodes."""
        turn = turn_of(self.elements.mesh, self.axis, self.name)
        return harmonics(turn, self.elements.dofs_per_node, self.projection.expand_rates(shapes), self.name)


def spinning_part(elements: Elements, axis: Array, fixed: Any, stiffening: bool | None, damping: Any) -> SpinningPart:
    """All constants of a part that spins; the stress of unit speed is found once."""
    held = supports(elements, fixed)
    if held.projection.offset.any():
        raise AnalysisError("campbell: prescribed displacements mean nothing here.")
    free = free_motions(elements, held.projection, held.border)
    if free.shape[1]:
        raise AnalysisError(
            f"{elements.mesh.name}: a spinning part must be held in its turning frame; {described(elements, free)}. "
            "Hold more with fixed=, or add a GroundSpring."
        )
    if damping is None:
        damping = Rayleigh()
    if not isinstance(damping, Rayleigh):
        raise AnalysisError(
            f"{elements.mesh.name}: damping= of a part with all its nodes is Rayleigh(mass=, stiffness=), not "
            f"{damping!r}; modal damping belongs to a reduced body (FlexibleBody)."
        )
    second = elements.stiffness_omega(axis)
    if stiffening is not False:
        load = Centrifugal(axis, softening=False)
        found = statics(elements, loads=load, fixed=fixed)
        stress = prestress_state(elements, found.displacement, *inertia_of([load]))
        second = second + elements.geometric_stiffness(stress) + elements.turning_stiffness(axis)
    projection = held.projection
    if held.border is not None:
        projection = projection @ Projection.constraints(held.border @ projection.matrix)
    mass, first = (
        projection.project(elements.assemble(blocks)) for blocks in (elements.mass(), elements.gyroscopic(axis))
    )
    if not mass.diagonal().any():
        raise AnalysisError(f"{elements.mesh.name}: without mass there are no modes; give the material a density.")
    return SpinningPart(elements, axis, projection, mass, first, second, damping)
