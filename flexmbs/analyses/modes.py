"""Natural frequencies and mode shapes of a part: held or free, prestressed, spinning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from flexmbs.analyses.equilibrium import SystemModes, vibrations
from flexmbs.analyses.statics import StaticResult, as_elements, reduced_product, statics
from flexmbs.analyses.supports import Supports, supports
from flexmbs.errors import AnalysisError, SolverError
from flexmbs.fem.assembly import exact_product
from flexmbs.fem.blocks import Blocks
from flexmbs.fem.elements import Elements
from flexmbs.fem.loads import Centrifugal, Load
from flexmbs.fem.prestress import inertia_of
from flexmbs.fem.prestress import prestress as prestress_state
from flexmbs.fem.rigid import described, free_motions
from flexmbs.fem.stress import SectionForces, TensorField, stress
from flexmbs.linalg import quadratic_modes, smallest_modes
from flexmbs.mesh.mesh import Mesh
from flexmbs.nullspace.readonly import frozen
from flexmbs.progress import shown
from flexmbs.projection import Projection
from flexmbs.results import Result
from flexmbs.results.saving import Saved
from flexmbs.system.state import State
from flexmbs.system.system import System

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Modes(Saved):
    """Natural modes of a part, lowest first.

    Attributes
    ----------
    frequencies : [Hz] (modes,); exactly zero for rigid modes.
    damping : damping ratios ζ (modes,).
    shapes : (modes, nodes, coordinates per node), unit modal mass; complex where the part spins.
    rigid : which modes are rigid motions (modes,).
    eigenvalues : λ of exp(λt) (modes,), complex.
    effective_mass : modal effective mass for motion of the frame along x, y (and z) [kg], (modes, 2 or 3).
    """

    elements: Elements
    frequencies: Array
    damping: Array
    shapes: NDArray[Any]
    rigid: NDArray[np.bool_]
    eigenvalues: NDArray[np.complex128]
    effective_mass: Array

    def __post_init__(self) -> None:
        for array in (self.frequencies, self.damping, self.shapes, self.rigid, self.eigenvalues, self.effective_mass):
            frozen(array)

    def __len__(self) -> int:
        return len(self.frequencies)

    def stress(self, mode: int) -> TensorField | SectionForces:
        """Stress field of one mode shape (its real part)."""
        return stress(self.elements, np.real(self.shapes[mode]))

    def table(self) -> str:
        """The modes as a table of text."""
        axes = "xyz"[: self.effective_mass.shape[1]]
        masses = "  ".join(f"{'m_' + a + ' [kg]':>10}" for a in axes)
        rows = [f"{'mode':>4}  {'frequency [Hz]':>14}  {'damping':>9}  {masses}"]
        for k in range(len(self)):
            masses = "  ".join(f"{m:10.4g}" for m in self.effective_mass[k])
            note = "  rigid" if self.rigid[k] else ""
            rows.append(f"{k + 1:>4}  {self.frequencies[k]:>14.6g}  {self.damping[k]:>9.3g}  {masses}{note}")
        return "\n".join(rows)

    def __repr__(self) -> str:
        return f"<Modes of {self.elements.mesh.name!r}: {np.array2string(self.frequencies, precision=5)} Hz>"


@overload
def modes(model: System, *, about: Result | State | None = None, turning: ArrayLike | None = None) -> SystemModes: ...


@overload
def modes(
    model: Mesh | Elements,
    material: Any = None,
    *,
    fixed: Any = None,
    count: int = 10,
    prestress: Any = None,
    spin: ArrayLike | None = None,
    stiffening: bool = True,
    **options: Any,
) -> Modes: ...


@shown("modes")
def modes(
    model: Mesh | Elements | System,
    material: Any = None,
    *,
    fixed: Any = None,
    count: int = 10,
    prestress: Any = None,
    spin: ArrayLike | None = None,
    stiffening: bool = True,
    about: Result | State | None = None,
    turning: ArrayLike | None = None,
    **options: Any,
) -> Modes | SystemModes:
    """Lowest natural modes of a part; or all modes of a mechanism (a System) about rest or a steady motion.

    Parameters
    ----------
    model : a Mesh with its ``material`` (and ``section=``, ``thickness=``, ... as for Elements), or Elements.
    fixed : what is held, as for ``statics``; nothing: a free part, whose rigid modes are reported as such.
    count : how many modes, rigid ones included.
    prestress : loads, a StaticResult or a stress state whose geometric stiffness K_g is added.
    spin : angular velocity ω [rad/s] (3,) of the frame in which the part is held: the modes are those seen in the
        rotating frame, λ²M + λC(ω) + K + K(ω) + K_g.
    stiffening : include in K_g the stress of the centrifugal load of ``spin``.
    about : for a System: a State at rest or in a steady motion, the result of ``statics``, or that of a motion, whose
        last instant counts; by default its equilibrium.
    turning : for a System in a steady motion: angular velocity [rad/s] (3,) of the axes from which it is seen, where
        there is a choice; by default the least one, so that a symmetric rotor is seen from fixed axes.
    """
    if isinstance(model, System):
        if any(x is not None for x in (material, fixed, prestress, spin)) or count != 10 or options:
            raise AnalysisError("modes: a System has its bodies, joints and forces already; give about= and turning=.")
        return vibrations(model, about, turning)
    elements = as_elements(model, material, options)
    held = supports(elements, fixed)
    if held.projection.offset.any():
        raise AnalysisError(
            "modes: prescribed displacements mean nothing here; give them to statics, and its result as prestress=."
        )
    free = free_motions(elements, held.projection, held.border)
    size = held.projection.shape[1] - (0 if held.border is None else held.border.shape[0])
    if not (isinstance(count, int | np.integer) and 1 <= count <= size):
        raise AnalysisError(f"modes: {count} modes were asked for; the part has {size} free coordinates.")
    turning = spin is not None and bool(np.any(spin))
    if turning and free.shape[1]:
        raise AnalysisError(
            f"{elements.mesh.name}: a spinning part must be held in its turning frame; {described(elements, free)}. "
            "Hold more with fixed=, or add a GroundSpring."
        )
    blocks = elements.stiffness()
    for term in _stiffening(elements, fixed, prestress, spin if turning and stiffening else None):
        blocks = blocks + term
    mass = elements.assemble(elements.mass())
    if not mass.diagonal().any():
        raise AnalysisError(f"{elements.mesh.name}: without mass there are no modes; give the material a density.")
    if turning:
        assert spin is not None
        return _spinning(elements, held, blocks + elements.stiffness_omega(spin), mass, spin, count)
    projection = held.projection
    reduced_k, reduced_m = projection.project(elements.assemble(blocks)), projection.project(mass)
    border = None if held.reduced_border is None else held.reduced_border[0]
    # what only border rows hold is loose in K, and needs the shift of a free part
    loose = free.shape[1] > 0 or border is not None
    known = np.zeros((elements.n_dofs, 0))
    if free.shape[1] and prestress is None:
        # the rigid modes are known; the others are orthogonal to them in the mass, which makes them easy to find
        moments, axes = np.linalg.eigh(free.T @ (mass @ free))
        if moments[0] <= 1e-12 * moments[-1]:
            raise AnalysisError(
                f"{elements.mesh.name}: a rigid motion that is free moves no mass ({described(elements, free)}). "
                "Hold it with fixed=, or give the material a density."
            )
        known = free @ (axes / np.sqrt(moments))
        rows = sp.csr_array(projection.project_columns(mass @ known).T)
        border = rows if border is None else sp.vstack([border, rows])
    wanted = count - known.shape[1]
    if wanted <= 0:
        return _result(elements, np.zeros(count, dtype=complex), known[:, :count], np.ones(count, dtype=bool))
    try:
        product = reduced_product(projection, exact_product(elements, blocks))
        values, vectors = smallest_modes(
            reduced_k, reduced_m, wanted, rigid=loose, border=border, stiffness_operator=product
        )
    except SolverError as error:
        if prestress is not None:
            raise AnalysisError(_buckled(elements)) from error
        raise AnalysisError(f"{elements.mesh.name}: no modes were found: {error}.") from error
    shapes = np.hstack([known, projection.expand_rates(vectors)])
    values = np.concatenate([np.zeros(known.shape[1]), values])
    rigid = _are_rigid(mass, free, shapes)
    values = np.where(rigid, 0.0, values)
    if values.min() < -1e-12 * abs(reduced_k.diagonal()).max() / reduced_m.diagonal().max():
        raise AnalysisError(_buckled(elements))
    return _result(elements, 1j * np.sqrt(np.maximum(values, 0.0)), shapes, rigid)


def _buckled(elements: Elements) -> str:
    return (
        f"{elements.mesh.name}: the part is not stable: the prestress takes away all stiffness in some direction "
        "(compression beyond the buckling load). Lower it."
    )


def _spinning(elements: Elements, held: Supports, blocks: Any, mass: Any, spin: ArrayLike, count: int) -> Modes:
    """Complex modes with gyroscopic terms."""
    projection = held.projection
    if held.border is not None:
        projection = projection @ Projection.constraints(held.border @ projection.matrix)
    gyroscopic = elements.assemble(elements.gyroscopic(spin))
    m, c, k = (projection.project(a) for a in (mass, gyroscopic, elements.assemble(blocks)))
    product = reduced_product(projection, exact_product(elements, blocks))
    eigenvalues, vectors = quadratic_modes(m, c, k, count, stiffness_operator=product)
    order = np.argsort(np.abs(eigenvalues.imag), kind="stable")
    shapes = projection.expand_rates(vectors[:, order])
    return _result(elements, eigenvalues[order], shapes, np.zeros(count, dtype=bool))


def _result(elements: Elements, eigenvalues: Any, shapes: Any, rigid: NDArray[np.bool_]) -> Modes:
    size = np.abs(eigenvalues)
    damping = np.where(size > 0, -eigenvalues.real / np.where(size > 0, size, 1.0), 0.0)
    damping[np.abs(damping) < 1e-12] = 0.0
    origin = elements.assemble(elements.mass_origin())
    effective = np.abs(shapes.T @ origin) ** 2
    order = elements.mesh.n_nodes, elements.dofs_per_node
    return Modes(
        elements,
        np.abs(eigenvalues.imag) / (2 * np.pi),
        damping,
        np.ascontiguousarray(shapes.T).reshape(-1, *order),
        rigid,
        np.asarray(eigenvalues, dtype=complex),
        effective,
    )


def _are_rigid(mass: Any, free: Array, shapes: Array) -> NDArray[np.bool_]:
    """Modes that are combinations of the free rigid motions, measured by kinetic energy."""
    if not free.shape[1]:
        return np.zeros(shapes.shape[1], dtype=bool)
    weighted = mass @ free
    amplitudes = scipy.linalg.solve(free.T @ weighted, weighted.T @ shapes, assume_a="pos")
    share = np.sum(amplitudes * (weighted.T @ shapes), axis=0)
    return np.asarray(share > 0.999)


def _stiffening(elements: Elements, fixed: Any, prestress: Any, spin: ArrayLike | None) -> list[Blocks]:
    """K_g of given loads, of a stress given directly, and of the centrifugal load of the spin."""
    states = []
    loads: list[Load] = []
    if prestress is not None:
        if isinstance(prestress, Load):
            loads.append(prestress)
        elif isinstance(prestress, list | tuple) and prestress and all(isinstance(p, Load) for p in prestress):
            loads.extend(prestress)
        else:
            states.append(prestress.stress if isinstance(prestress, StaticResult) else prestress)
    if spin is not None:
        # the load on the undeformed part: K(ω) without K_g would soften slender parts until they give way
        loads.append(Centrifugal(spin, softening=False))
    if loads:
        found = statics(elements, loads=loads, fixed=fixed)
        states.append(prestress_state(elements, found.displacement, *inertia_of(loads)))
    spins = [load.omega for load in loads if isinstance(load, Centrifugal)]
    return [elements.geometric_stiffness(s) for s in states] + [elements.turning_stiffness(w) for w in spins]
