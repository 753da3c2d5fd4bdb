"""Static response of a part: displacements, reactions, stress."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.analyses.equilibrium import Equilibrium, equilibrium
from flexmbs.analyses.supports import Supports, supports
from flexmbs.errors import AnalysisError, SolverError
from flexmbs.fem.assembly import exact_product
from flexmbs.fem.elements import Elements
from flexmbs.fem.loads import Load
from flexmbs.fem.rigid import described, free_motions, piecewise_rigid_motions, rigid_motions
from flexmbs.fem.stress import SectionForces, TensorField, strain, stress
from flexmbs.linalg import BorderedFactor, factorize
from flexmbs.materials import Material
from flexmbs.mesh.mesh import Mesh, Which
from flexmbs.nullspace.readonly import frozen
from flexmbs.projection import Projection
from flexmbs.results.saving import Saved
from flexmbs.system.system import System

Array = NDArray[np.float64]
Product = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class StaticResult(Saved):
    """Static response of a part.

    ``displacement`` (nodes, coordinates per node); ``reactions`` of the same shape are the forces of the supports on
    the part, zero at free nodes up to rounding. Springs to ground belong to the part: what they carry is no reaction,
    and their energy is part of ``strain_energy``. ``stable`` is False where spin softening or prestress exceeds the
    stiffness in some direction: the equilibrium found is then not one at which a real part stays.
    """

    elements: Elements
    displacement: Array
    reactions: Array
    strain_energy: float
    stable: bool = True

    def __post_init__(self) -> None:
        frozen(self.displacement)
        frozen(self.reactions)

    @cached_property
    def stress(self) -> TensorField | SectionForces:
        """Stress field; section forces for bars and beams."""
        return stress(self.elements, self.displacement)

    @cached_property
    def strain(self) -> TensorField:
        """Strain field of solid and plane parts."""
        return strain(self.elements, self.displacement)

    def reaction(self, which: Which = "all", about: Any = None) -> Array:
        """Resultant of the supports at the nodes of a set: force and moment about a point (by default the origin).

        (6,): Fx, Fy, Fz, Mx, My, Mz; (3,) for plane parts: Fx, Fy, Mz.
        """
        nodes = self.elements.nodes(which)
        point = None if about is None else np.asarray(about, dtype=float)
        motions = rigid_motions(self.elements, point).reshape(*self.reactions.shape, -1)
        return np.einsum("nd,ndk->k", self.reactions[nodes], motions[nodes])

    def __repr__(self) -> str:
        largest = np.linalg.norm(self.displacement[:, : self.elements.axes], axis=1).max()
        verdict = "" if self.stable else ", unstable"
        return f"<StaticResult of {self.elements.mesh.name!r}: largest displacement {largest:.4g} m{verdict}>"


@overload
def statics(model: System, *, spin: ArrayLike | None = None) -> Equilibrium: ...


@overload
def statics(
    model: Mesh | Elements,
    material: Any = None,
    loads: Load | Sequence[Load] = (),
    *,
    fixed: Any = None,
    prestress: Any = None,
    **options: Any,
) -> StaticResult: ...


def statics(
    model: Mesh | Elements | System,
    material: Any = None,
    loads: Load | Sequence[Load] = (),
    *,
    fixed: Any = None,
    prestress: Any = None,
    spin: ArrayLike | None = None,
    **options: Any,
) -> StaticResult | Equilibrium:
    """Static response K d = Q of a part under loads; or where a mechanism (a System) rests, and whether it stays there.

    Parameters
    ----------
    model : a System, which needs nothing else; or a Mesh with its ``material`` (and ``section=``, ``thickness=``, ...
        as for Elements), or Elements.
    loads : Force, Traction, Pressure, Gravity, Acceleration, Centrifugal; one or several.
    fixed : what is held: a set name, several, ``{"x0": "xyz", "x1": "z"}``, ``{"x1": {"z": 1e-3}}`` for prescribed
        displacements, ``Averaged("x1")`` for a mean motion, or any Projection.
    prestress : a stress state whose geometric stiffness is added.
    spin : for a System: constant angular velocity [rad/s] (3,) with which it turns as a whole about the origin; it then
        rests as seen from axes that turn along (a governor at its speed).
    """
    if isinstance(model, System):
        if material is not None or loads or fixed is not None or prestress is not None or options:
            raise AnalysisError("statics: a System has its bodies, joints and forces already; give nothing else.")
        return equilibrium(model, spin)
    if spin is not None:
        options = {**options, "spin": spin}  # refused below like any option that there is not
    elements = as_elements(model, material, options)
    every = as_loads(loads)
    held = supports(elements, fixed)
    free = free_motions(elements, held.projection, held.border)
    if free.shape[1]:
        raise AnalysisError(
            f"{elements.mesh.name}: the part is not held: {described(elements, free)}. "
            "Hold more with fixed=, or add a GroundSpring."
        )
    load_vector = sum((load.vector(elements) for load in every), start=np.zeros(elements.n_dofs))
    blocks = elements.stiffness()
    for load in every:
        follower = load.stiffness(elements)
        if follower is not None:
            blocks = blocks + follower
    if prestress is not None:
        blocks = blocks + elements.geometric_stiffness(getattr(prestress, "stress", prestress))
    full = elements.assemble(blocks)
    product = exact_product(elements, blocks)
    forces: Product = product or (lambda x: full @ x)
    reduced = held.projection.project(full)
    right = held.projection.project(load_vector - forces(held.projection.offset))
    follows = blocks.inertia is not None or bool(blocks.geometric)
    y, stable = _solve(elements, held, reduced, right, follows, reduced_product(held.projection, product))
    d = held.projection.expand(y)
    shape = (elements.mesh.n_nodes, elements.dofs_per_node)
    residual = forces(d) - load_vector
    energy = 0.5 * d @ (elements.assemble(elements.stiffness()) @ d if follows else forces(d))
    return StaticResult(elements, d.reshape(shape), residual.reshape(shape), float(energy), stable)


def _solve(
    elements: Elements, held: Supports, stiffness: Any, load: Array, follows: bool, product: Product | None
) -> tuple[Array, bool]:
    """Free coordinates, and whether the equilibrium is stable (the stiffness positive definite)."""
    border = held.reduced_border
    if not len(load):
        return np.zeros(0), True  # every coordinate is prescribed
    try:
        if border is None:
            return factorize(stiffness, product=product).solve(load), True
        motions = held.projection.matrix.T @ piecewise_rigid_motions(elements)
        factor = BorderedFactor(stiffness, border[0], rigid_modes=motions, product=product)
        return factor.solve(load, border[1])[0], True
    except SolverError as error:
        if follows and border is None:
            # Spin softening or compression beyond the first critical value: there is an equilibrium, an unstable one.
            return factorize(stiffness, definite=False, product=product).solve(load), False
        raise AnalysisError(
            f"{elements.mesh.name}: no equilibrium was found ({error}). Is some of it a mechanism (bars in line, loose "
            "pieces), or does a load that follows the deformation (Centrifugal, prestress) exceed its stiffness?"
        ) from error


def reduced_product(projection: Projection, product: Product | None) -> Product | None:
    """y ↦ Aᵀ K A y from x ↦ K x."""
    return None if product is None else lambda y: projection.project_columns(product(projection.expand_rates(y)))


def as_loads(loads: Any) -> list[Load]:
    """One load or several, as a list."""
    if isinstance(loads, Load) and not isinstance(loads, type):
        return [loads]
    if isinstance(loads, str) or not isinstance(loads, Iterable):
        loads = [loads]
    every = list(loads)
    for load in every:
        if isinstance(load, type) or not isinstance(load, Load):
            raise AnalysisError(
                f"loads: {load!r} is no load; give Force, Traction, Pressure, Gravity, Acceleration or Centrifugal "
                'objects, e.g. Force("x1", (0, 0, -100)).'
            )
    return every


def as_elements(model: Mesh | Elements, material: Material | Any, options: dict[str, Any]) -> Elements:
    """Elements of a mesh and material, or the Elements given."""
    if isinstance(model, Elements):
        if material is not None or options:
            raise AnalysisError("Elements have their material and options already; give the mesh to set others.")
        return model
    if not isinstance(model, Mesh):
        raise AnalysisError(f"a Mesh or Elements is needed, not {type(model).__name__}.")
    known = [*list(inspect.signature(Elements).parameters)[2:], "fixed", "loads", "prestress", "count", "spin"]
    for name in options:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            advice = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}."
            raise AnalysisError(f"there is no option {name!r}; {advice}")
    return Elements(model, material, **options)
