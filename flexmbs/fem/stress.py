"""Stress and strain fields: at integration points, averaged to nodes, von Mises and principal values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import AnalysisError, FlexmbsError
from flexmbs.fem.beam import Beam
from flexmbs.fem.block import ElementBlock
from flexmbs.fem.continuum import Continuum
from flexmbs.fem.elements import Elements
from flexmbs.given import array
from flexmbs.materials import VOIGT_INDEX
from flexmbs.nullspace.readonly import frozen

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TensorField:
    """A stress or strain field of solid or plane elements, components (xx, yy, zz, yz, zx, xy).

    ``arrays`` holds the values at the integration points, (elements, points, 6) per cell block. Shear strains are
    engineering strains.
    """

    elements: Elements
    arrays: tuple[Array, ...]
    kind: str  # "stress" or "strain"

    @cached_property
    def nodal(self) -> Array:
        """Values at the nodes (nodes, 6): extrapolated within each cell, then averaged over the cells of a node.

        At a node between different materials the mean of both sides is no physical stress; look at ``arrays`` there.
        """
        n = self.elements.mesh.n_nodes
        total, count = np.zeros((n, 6)), np.zeros(n)
        for block, values in zip(self.elements.blocks, self.arrays, strict=True):
            if isinstance(block, Continuum):
                at_nodes = np.einsum("aq,eqc->eac", block.extrapolation(), values)
                np.add.at(total, block.cells.ravel(), at_nodes.reshape(-1, 6))
                np.add.at(count, block.cells.ravel(), 1.0)
        return np.asarray(frozen(total / np.maximum(count, 1.0)[:, None]))

    @property
    def von_mises(self) -> Array:
        """Von Mises equivalent at the nodes (nodes,)."""
        return von_mises(self.nodal, self.kind)

    @property
    def von_mises_at_points(self) -> tuple[Array, ...]:
        """Von Mises equivalent at the integration points, (elements, points) per cell block."""
        solid = [isinstance(block, Continuum) for block in self.elements.blocks]  # lumped masses have no stress
        return tuple(von_mises(a, self.kind) for a, is_solid in zip(self.arrays, solid, strict=True) if is_solid)

    @property
    def principal(self) -> Array:
        """Principal values at the nodes, largest first, (nodes, 3)."""
        return principal(self.nodal, self.kind)


@dataclass(frozen=True, eq=False)
class SectionForces:
    """Forces in bars and beams at both ends of each element, in local axes.

    ``arrays`` is (elements, 2, 6) per cell block: N, V_y, V_z, T, M_y, M_z; (elements, 2, 1) for bars: N.
    """

    elements: Elements
    arrays: tuple[Array, ...]

    @property
    def axial(self) -> Array:
        """Axial force N at both ends, positive in tension, (elements, 2), cell by cell through all blocks."""
        return np.concatenate([a[:, :, 0] for a in self.arrays if a.shape[2]])

    @cached_property
    def fibre_stress(self) -> Array:
        """Largest axial stress |N|/A + |M_y| z/I_y + |M_z| y/I_z over the section, (elements, 2)."""
        lines = [(b, a) for b, a in zip(self.elements.blocks, self.arrays, strict=True) if b.type == "line"]
        return np.concatenate([self._fibre_stress(block, forces) for block, forces in lines])

    @staticmethod
    def _fibre_stress(block: ElementBlock, array: Array) -> Array:
        if not isinstance(block, Beam) or not np.all(block.extent > 0):
            raise AnalysisError("fibre stress needs beams with sections given by their shape, e.g. Section.circle.")
        forces = np.abs(array)
        return np.asarray(
            forces[:, :, 0] / block.area[:, None]
            + forces[:, :, 4] * (block.extent[:, 1] / block.second_y)[:, None]
            + forces[:, :, 5] * (block.extent[:, 0] / block.second_z)[:, None]
        )

    @property
    def nodal(self) -> Array:
        """Largest fibre stress of the elements at each node, (nodes,)."""
        out = np.zeros(self.elements.mesh.n_nodes)
        cells = np.concatenate([block.nodes for block in self.elements.mesh.cells])
        np.maximum.at(out, cells.ravel(), self.fibre_stress.ravel())
        return out


def stress(
    elements: Elements, displacement: Array, inertia: tuple[Array, ...] | None = None
) -> TensorField | SectionForces:
    """Stress under nodal displacements (nodes, dofs); section forces for bars and beams.

    With ``inertia``, a and W of inertia forces -ρ (a + W x), section forces at the ends of beams balance these; with
    a third entry, accelerations of the nodes (nodes, dofs), those too.
    """
    displacement = np.array(displacement, dtype=float, order="C")  # results are read-only, which kernels need not know
    arrays = []
    for block in elements.blocks:
        state = block.stress_state(displacement)
        if inertia is not None and isinstance(block, Beam):
            state = state + block.held_forces(*inertia)
        arrays.append(frozen(state))
    if elements.mesh.dimension == 1:
        return SectionForces(elements, tuple(arrays))
    return TensorField(elements, tuple(arrays), "stress")


def strain(elements: Elements, displacement: Array) -> TensorField:
    """Strain under nodal displacements of solid or plane elements, all six components."""
    displacement = np.array(displacement, dtype=float, order="C")
    arrays = []
    for block in elements.blocks:
        if isinstance(block, Continuum):
            arrays.append(frozen(block.full_strain(displacement)))
        else:
            arrays.append(frozen(np.zeros((len(block.cells), 1, 6))))
    if elements.mesh.dimension < 2:
        raise AnalysisError("strain fields exist for solid and plane meshes; for lines ask for the section forces.")
    return TensorField(elements, tuple(arrays), "strain")


def von_mises(values: Array, kind: str = "stress") -> Array:
    """Von Mises equivalent of tensors in Voigt's order (..., 6); for strains with the factor 2/3 of plasticity."""
    values = _voigt(values, kind)
    normal = values[..., :3]
    shear = values[..., 3:] if kind == "stress" else values[..., 3:] / 2
    deviator = normal - normal.mean(axis=-1, keepdims=True)
    norm2 = np.sum(deviator**2, axis=-1) + 2 * np.sum(shear**2, axis=-1)
    return np.asarray(np.sqrt((1.5 if kind == "stress" else 2 / 3) * norm2))


def principal(values: Array, kind: str = "stress") -> Array:
    """Principal values of tensors in Voigt's order (..., 6), largest first."""
    values = _voigt(values, kind)
    scale = np.array([1, 1, 1, 1, 1, 1] if kind == "stress" else [1, 1, 1, 0.5, 0.5, 0.5])
    return np.asarray(np.linalg.eigvalsh((values * scale)[..., VOIGT_INDEX])[..., ::-1])


def _voigt(values: Array, kind: str) -> Array:
    """The tensors, if they are six numbers each of a kind that there is."""
    given = np.asarray(values) if isinstance(values, np.ndarray) else array(values)
    if given.ndim == 0 or given.shape[-1] != 6:
        raise FlexmbsError(f"tensors in Voigt's order are (..., 6) numbers; found an array of shape {given.shape}.")
    if kind not in ("stress", "strain"):
        raise FlexmbsError(f'kind must be "stress" or "strain", not {kind!r}.')
    return given
