"""Solid and plane elements: isoparametric, N = φ ⊗ I; hexahedra and quads with incompatible modes by default."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.fem import kernels
from flexmbs.fem.block import ScalarBlock
from flexmbs.fem.pattern import NodePattern
from flexmbs.linalg.threads import one_blas_thread
from flexmbs.materials import VOIGT_INDEX
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.quadrature import quadrature
from flexmbs.mesh.shapes import shape_gradients, shape_values

Array = NDArray[np.float64]
Index = NDArray[np.int64]

STIFFNESS_DEGREE = {
    "triangle": 1,
    "triangle6": 2,
    "quad": 3,
    "quad8": 5,
    "tetra": 1,
    "tetra10": 2,
    "hexahedron": 3,
    "hexahedron20": 5,
    "wedge": 2,
    "wedge15": 4,
    "pyramid": 3,
}
"""Degree of full integration: exact for the stiffness of affine cells, and for the forces of constant stress (the patch
test) on straight-sided ones; on curved ones too but for tetra10, whose four points leave an error of order h³."""

MASS_DEGREE = {
    "triangle": 2,
    "triangle6": 6,
    "quad": 3,
    "quad8": 6,
    "tetra": 2,
    "tetra10": 7,
    "hexahedron": 4,
    "hexahedron20": 6,
    "wedge": 4,
    "wedge15": 6,
    "pyramid": 3,
}
"""Degree for the mass: exact for straight-sided cells of any shape, and for curved triangles and tetrahedra.

The Jacobian of a straight-sided quad or pyramid is linear along each side of the square, that of hexahedra quadratic.
"""


@dataclass(frozen=True)
class ContinuumTables:
    """What a continuum element of one cell type is: shape functions at its quadrature points."""

    gradients: Array  # (q·d, a) for the stiffness
    internal: Array  # (q, modes, d) reference gradients of the incompatible modes
    centre: Array  # (d, a) gradients at the centre
    weights: Array
    products: Array  # (d·d, total·total): ∫ ∂φ_a/∂ξ_p ∂φ_b/∂ξ_r over the reference cell, internal modes included
    points: Array  # (q, d)
    mass_values: Array
    mass_gradients: Array  # (q·d, a)
    mass_weights: Array
    reference_mass: Array  # ∫ φ_a φ_b over the reference cell

    @property
    def elastic(self) -> tuple[Array, Array, Array, Array, Array]:
        """What the kernels of stiffness and strain take."""
        return self.gradients, self.internal, self.centre, self.weights, self.products

    @classmethod
    def of(cls, cell: str, incompatible: bool) -> ContinuumTables:
        """Tables of a cell type, with or without the internal modes 1 - ξ_k²."""
        xi, w = quadrature(cell, STIFFNESS_DEGREE[cell])
        mass_xi, mass_w = quadrature(cell, MASS_DEGREE[cell])
        values = shape_values(cell, mass_xi)
        d = CELLS[cell].dimension
        nodal = shape_gradients(cell, xi)
        internal = internal_gradients(xi) if incompatible else np.zeros((len(xi), 0, d))
        every = np.concatenate([nodal, internal], axis=1)
        return cls(
            gradients=_by_direction(nodal),
            internal=internal,
            centre=_by_direction(shape_gradients(cell, np.zeros((1, d)))),
            weights=np.array(w),
            products=np.einsum("q,qap,qbr->prab", w, every, every).reshape(d * d, -1),
            points=np.array(xi),
            mass_values=values,
            mass_gradients=_by_direction(shape_gradients(cell, mass_xi)),
            mass_weights=np.array(mass_w),
            reference_mass=np.einsum("q,qa,qb->ab", mass_w, values, values),
        )


def _by_direction(gradients: Array) -> Array:
    """(q, a, d) as (q·d, a)."""
    return np.ascontiguousarray(gradients.transpose(0, 2, 1)).reshape(-1, gradients.shape[1])


def internal_gradients(xi: Array) -> Array:
    """Reference gradients of the bending modes 1 - ξ_k², (q, modes, d)."""
    d = xi.shape[1]
    out = np.zeros((len(xi), d, d))
    for k in range(d):
        out[:, k, k] = -2 * xi[:, k]
    return out


class Continuum(ScalarBlock):
    """Solid or plane elements of one cell type.

    Parameters
    ----------
    cell : cell type.
    cells, points : node numbers (elements, a) and coordinates (nodes, 3).
    tensors : elasticity tensors (laws, d, d, d, d) and ``law`` the number of each element's own.
    density : ρ per element; ``thickness`` per element for plane cells, else ones.
    incompatible : add the internal bending modes.
    """

    def __init__(
        self,
        cell: str,
        cells: Index,
        points: Array,
        tensors: Array,
        stiffness_matrices: Array,
        out_of_plane: Array | None,
        law: Index,
        density: Array,
        thickness: Array,
        incompatible: bool,
    ) -> None:
        self.type, self.cells, self.points = cell, cells, points
        self.dofs = self.axes = CELLS[cell].dimension
        self.law = law
        self.terms, self.coefficients = _elastic_terms(tensors)
        self.voigt = stiffness_matrices  # (laws, 6, 3 or 6): stress (6) from in-plane or full strain
        self.out_of_plane = out_of_plane  # (laws, 3, 3): strains (zz, yz, zx) from (xx, yy, xy) of plane cells
        self.density, self.thickness = density, thickness
        self.tables = ContinuumTables.of(cell, incompatible)
        self.affine = _affine(cell, cells, points)

    def some(self, chosen: Index) -> Continuum:
        """Some of its elements, as a block."""
        out = copy.copy(self)
        for name in ("cells", "law", "density", "thickness", "affine"):
            setattr(out, name, np.ascontiguousarray(getattr(self, name)[chosen]))
        return out

    def scalar_mass(self) -> Array:
        """m_φ = ∫ρ φ_a φ_b."""
        n = self.cells.shape[1]
        out = np.empty((len(self.cells), n, n))
        kernels.mass_blocks(*self._mass_arguments, out)
        return out

    def add_scalar_mass(self, pattern: NodePattern, k: int, data: Array) -> None:
        """Fused evaluation and assembly of m_φ."""
        kernels.mass_scatter(*self._mass_arguments, pattern.indptr, pattern.positions[k], data)

    def stiffness(self) -> Array:
        """K = ∫ Bᵀ D B, internal modes condensed."""
        out = np.empty((len(self.cells), self.size, self.size))
        kernels.stiffness_blocks(self.points, self.cells, self.affine, *self._elastic_arguments, self.thickness, out)
        return out

    def add_stiffness(self, pattern: NodePattern, k: int, scale: float, data: Array) -> None:
        """Fused evaluation and assembly of K."""
        kernels.stiffness_scatter(
            *(self.points, self.cells, self.affine, *self._elastic_arguments, self.thickness),
            *(pattern.indptr, pattern.positions[k], scale, data),
        )

    @property
    def _mass_arguments(self) -> tuple[Any, ...]:
        t = self.tables
        density = self.density * self.thickness
        return (
            *(self.points, self.cells, self.affine, t.reference_mass),
            *(t.mass_values, t.mass_gradients, t.mass_weights, density),
        )

    @property
    def _elastic_arguments(self) -> tuple[Any, ...]:
        return self.tables.elastic, self.terms, self.coefficients, self.law

    def geometric(self, stress: Array) -> Array:
        """K_g = (∫ g_aᵀ σ g_b dV) ⊗ I."""
        scalar, d = self.geometric_scalar(stress), self.dofs
        return np.einsum("eab,ij->eaibj", scalar, np.eye(d)).reshape(len(scalar), self.size, self.size)

    def geometric_scalar(self, stress: Array) -> Array:
        """∫ g_aᵀ σ g_b dV, (elements, a, a)."""
        d, n = self.dofs, self.cells.shape[1]
        tensor = np.ascontiguousarray(stress[:, :, VOIGT_INDEX[:d, :d]])
        scalar = np.empty((len(self.cells), n, n))
        kernels.geometric_scalar(self.points, self.cells, self.tables.elastic, tensor, self.thickness, scalar)
        return scalar

    def strain_state(self, displacement: Array) -> Array:
        """In-plane or full strains (elements, points, 3 or 6) at the integration points."""
        d = self.dofs
        gradient = np.empty((len(self.cells), len(self.tables.weights), d, d))
        kernels.displacement_gradients(
            self.points, self.cells, *self._elastic_arguments, np.ascontiguousarray(displacement), gradient
        )
        pairs = ((0, 0), (1, 1), (0, 1)) if d == 2 else ((0, 0), (1, 1), (2, 2), (1, 2), (2, 0), (0, 1))
        columns = [gradient[..., i, i] if i == j else gradient[..., i, j] + gradient[..., j, i] for i, j in pairs]
        return np.stack(columns, axis=-1)

    def full_strain(self, displacement: Array) -> Array:
        """Strains (elements, points, 6) at the integration points, those out of the plane included."""
        strain = self.strain_state(displacement)
        if self.out_of_plane is None:
            return strain
        full = np.zeros((*strain.shape[:2], 6))
        full[..., [0, 1, 5]] = strain
        for number, matrix in enumerate(self.out_of_plane):
            mine = self.law == number
            full[mine, :, 2:5] = strain[mine] @ matrix.T
        return full

    def stress_state(self, displacement: Array) -> Array:
        """Stress (elements, points, 6) at the integration points."""
        strain = self.strain_state(displacement)
        out = np.empty((*strain.shape[:2], 6))
        for number, matrix in enumerate(self.voigt):
            mine = self.law == number
            out[mine] = strain[mine] @ matrix.T
        return out

    def extrapolation(self) -> Array:
        """Matrix (a, q) from values at the integration points to values at the nodes of a cell.

        The values are fitted by the linear functions of the cell's shape, which is exact where there are as many
        points as corners.
        """
        shape = CELLS[self.type].shape
        fit = np.linalg.pinv(shape_values(shape, self.tables.points))
        return np.asarray(shape_values(shape, CELLS[self.type].points) @ fit)


@one_blas_thread
def _affine(cell: str, cells: Index, points: Array) -> NDArray[np.bool_]:
    """Which cells are affine images of the reference cell, to rounding: their Jacobian is constant."""
    reference = CELLS[cell]
    basis = np.column_stack([np.ones(reference.nodes), reference.points])
    # what a linear fit through all nodes leaves over
    residual = np.eye(reference.nodes) - basis @ np.linalg.pinv(basis)
    left, extent = np.zeros(len(cells)), np.zeros(len(cells))
    for i in range(reference.dimension):
        x = np.take(points[:, i], cells.T)  # (a, elements): one product for all elements
        extent = np.maximum(extent, np.ptp(x, axis=0))
        left = np.maximum(left, np.abs(residual @ x).max(axis=0))
    affine: NDArray[np.bool_] = left <= 1e-13 * extent
    return affine


def _elastic_terms(tensors: Array) -> tuple[Index, Array]:
    """The entries C_ikjl that are not zero in some law: (i, j, k, l) of each, and its values (laws, terms).

    An isotropic tensor has 21 of them, and only these are multiplied with.
    """
    i, k, j, m = np.nonzero(np.abs(tensors).max(axis=0))
    return np.stack([i, j, k, m], axis=1), np.ascontiguousarray(tensors[:, i, k, j, m])
