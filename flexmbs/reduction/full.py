"""FullPart: a part with every nodal coordinate, sparse, where all modes as dense columns would be too many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from flexmbs.errors import ModelError
from flexmbs.mesh.mesh import Which
from flexmbs.nullspace.readonly import frozen
from flexmbs.projection import Projection
from flexmbs.reduction.constants import ModalConstants
from flexmbs.reduction.damping import Rayleigh
from flexmbs.reduction.interfaces import Interface, frame_rows, named
from flexmbs.reduction.part import Part
from flexmbs.reduction.reduced import FrameShapes, ReducedPart
from flexmbs.reduction.space import Conditions, Space
from flexmbs.reduction.stiffening import INERTIA_CASES, LoadCases, inertia_loads

Array = NDArray[np.float64]

ADVICE = "runs in forward_dynamics with GeneralizedAlpha; for anything else reduce it, e.g. CraigBampton(modes=20)"


@dataclass(frozen=True, eq=False)
class FullConstants:
    """Moments of the undeformed part: ∫ρ, ∫ρ x, ∫ρ x xᵀ. Those of modes do not exist, and are refused in words."""

    name: str
    mass: float
    s0: Array
    second: Array

    def __getattr__(self, key: str) -> NoReturn:
        if key in ModalConstants.__annotations__ or key == "frequencies":
            raise ModelError(f"{self.name}: a part in full order has no modes; it {ADVICE}.")
        raise AttributeError(key)


@dataclass(frozen=True, eq=False)
class FullPart(ReducedPart):
    """A part in full order: coordinates z of a ``Space``, six more than needed, which ``conditions`` B z = 0 hold.

    ``basis`` is A_z, sparse. K, M and the scalar mass matrix m_φ of ``part`` carry all of its equations; ``damping``
    are the factors of M and K in D. Its load cases leave nothing out, so that their residuals are zero.
    """

    space: Space = None  # type: ignore[assignment]
    conditions: sp.csr_array = None
    damping: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        return

    def __repr__(self) -> str:
        return f"<FullPart {self.name!r}: {self.size} coordinates, {self.reference}>"

    @cached_property
    def projection(self) -> Projection:
        """Nodal coordinates from z."""
        return self.space.projection

    def frame(self, which: Which | int) -> FrameShapes:
        """The frame on a set, a node or several nodes: position, displacement and rotation from z."""
        if isinstance(which, str) and which in self.frames:
            return self.frames[which]
        assert self.part is not None
        return _frame(self.part, self.basis, which)

    def modes_table(self) -> str:
        """That it has no modes, in words."""
        return f"{self.name}: {self.size} coordinates in full order, {self.reference}; no modes"

    @cached_property
    def lengths(self) -> Array:
        """Largest displacement of a node for a unit of each coordinate; an interface's rotation moves its nodes."""
        p = self.dofs_per_node
        nodes = sp.kron(sp.eye_array(self.mesh.n_nodes), np.ones((1, p)), format="csr")
        squares = sp.csc_array(nodes @ sp.csr_array(self.basis).power(2))
        return np.asarray(np.sqrt(squares.max(axis=0).toarray()).ravel())


def full_part(
    space: Space,
    held: Conditions,
    text: str,
    loads: tuple[tuple[str, ...], Array],
    damping: Any,
    stiffening: bool,
) -> FullPart:
    """The part in full order under its reference conditions; refused where that would not be the whole truth."""
    part = space.part
    if part.scalar_mass is None or part.dofs_per_node != part.axes:
        raise ModelError(
            f"{part.name}: {space.size} coordinates of beams in full order are too many; use fewer elements, or reduce "
            "it, e.g. CraigBampton(modes=20)."
        )
    if stiffening:
        raise ModelError(
            f"{part.name}: geometric stiffening of {space.size} coordinates in full order is not computed; give "
            "stiffening=False where deformation by axial loads and spin may be neglected, or reduce the part, e.g. "
            "CraigBampton(modes=20), which counts it."
        )
    nodal = {name: column.copy() for name, column in zip(loads[0], loads[1].T, strict=True)}
    return assembled(part.name, space, held.B, text, nodal, _rayleigh(damping, part.name))


def assembled(
    name: str,
    space: Space,
    conditions: sp.csr_array,
    reference: str,
    loads: Mapping[str, Array],
    damping: tuple[float, float],
) -> FullPart:
    """The part in full order, from what cannot be found again: this is what files keep of it."""
    part, places = space.part, space.places
    mass, s0, second = part.moments()
    basis = sp.csr_array(space.projection.matrix)
    names = (*INERTIA_CASES, *loads)
    nodal = np.column_stack([inertia_loads(part), *loads.values()])
    cases = LoadCases(
        names, np.asarray(basis.T @ nodal), np.zeros((0, space.size, space.size)), np.zeros((part.n_dofs, len(names))),
        np.zeros(len(names)), np.ones(len(names)),
    )  # fmt: skip
    return FullPart(
        name, part.mesh, part.dofs_per_node, basis, FullConstants(name, mass, s0, second), cases,  # type: ignore[arg-type]
        tuple(p.name for p in places), _frames(part, basis, places), reference, (), np.inf, part,
        {key: frozen(column) for key, column in loads.items()}, space, conditions, damping,
    )  # fmt: skip


def _rayleigh(given: Any, name: str) -> tuple[float, float]:
    if given is None:
        return 0.0, 0.0
    if not isinstance(given, Rayleigh):
        raise ModelError(f"{name}: damping of a part in full order is Rayleigh(mass=, stiffness=), not {given!r}.")
    return float(given.mass), float(given.stiffness)


def _frames(part: Part, basis: sp.csr_array, places: tuple[Interface, ...]) -> Mapping[str, FrameShapes]:
    """Frames on the interfaces, then on every set that has a place and an orientation."""
    out = {}
    for place in places:
        out[place.name] = _frame(part, basis, place.name if place.name in part.mesh.sets else place.nodes, place.name)
    for name in part.mesh.sets:
        if name not in out:
            try:
                out[name] = _frame(part, basis, name)
            except ModelError:  # a set that defines no rotation has no frame until someone asks for it
                continue
    return out


def _frame(part: Part, basis: Any, which: Any, name: str | None = None) -> FrameShapes:
    position, rows = frame_rows(part, which)
    values = (rows @ basis).toarray()
    return FrameShapes(name or named(which), position, values[:3], values[3:], np.zeros((6, 0, 0)))
