"""Solid and plane elements: isoparametric, N = φ ⊗ I; hexahedra and quads with incompatible modes by default."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexmbs.fem import kernels
from flexmbs.fem.block import ScalarBlock
from flexmbs.fem.pattern import NodePattern
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
"""Degree of full integration: exact for the stiffness of affine cells."""

MASS_DEGREE = {
    "triangle": 2,
    "triangle6": 6,
    "quad": 4,
    "quad8": 6,
    "tetra": 2,
    "tetra10": 7,
    "hexahedron": 4,
    "hexahedron20": 6,
    "wedge": 4,
    "wedge15": 6,
    "pyramid": 4,
}
"""Degree for the mass: exact for straight-sided cells of any shape, and for curved triangles and tetrahedra."""


@dataclass(frozen=True)
class ContinuumTables:
    """What a continuum element of one cell type is: shape functions at its quadrature points."""

    gradients: Array  # (q, a, d) for the stiffness
    internal: Array  # (q, modes, d) reference gradients of the incompatible modes
    centre: Array  # (a, d) gradients at the centre
    weights: Array
    points: Array  # (q, d)
    mass_values: Array
    mass_gradients: Array
    mass_weights: Array
    reference_mass: Array  # ∫ φ_a φ_b over the reference cell

    @classmethod
    def of(cls, cell: str, incompatible: bool) -> ContinuumTables:
        """Tables of a cell type, with or without the internal modes 1 - ξ_k²."""
        xi, w = quadrature(cell, STIFFNESS_DEGREE[cell])
        mass_xi, mass_w = quadrature(cell, MASS_DEGREE[cell])
        values = shape_values(cell, mass_xi)
        d = CELLS[cell].dimension
        return cls(
            gradients=shape_gradients(cell, xi),
            internal=internal_gradients(xi) if incompatible else np.zeros((len(xi), 0, d)),
            centre=shape_gradients(cell, np.zeros((1, d)))[0]
            if CELLS[cell].shape != "pyramid"
            else np.zeros((5, 3)),
            weights=np.array(w),
            points=np.array(xi),
            mass_values=values,
            mass_gradients=shape_gradients(cell, mass_xi),
            mass_weights=np.array(mass_w),
            reference_mass=np.einsum("q,qa,qb->ab", mass_w, values, values),
        )


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
        law: Index,
        density: Array,
        thickness: Array,
        incompatible: bool,
    ) -> None:
        self.type, self.cells, self.points = cell, cells, points
        self.dofs = self.axes = CELLS[cell].dimension
        self.tensors, self.law = tensors, law
        self.voigt = stiffness_matrices  # (laws, 6, 3 or 6): stress (6) from in-plane or full strain
        self.density, self.thickness = density, thickness
        self.tables = ContinuumTables.of(cell, incompatible)
        self.affine = _affine(cell, cells, points)

    def scalar_mass(self) -> Array:
        """m_φ = ∫ρ φ_a φ_b."""
        t = self.tables
        n = self.cells.shape[1]
        out = np.empty((len(self.cells), n, n))
        kernels.mass_blocks(
            self.points, self.cells, self.affine, t.reference_mass, t.mass_values, t.mass_gradients, t.mass_weights,
            self.density * self.thickness, out,
        )  # fmt: skip
        return out

    def add_scalar_mass(self, pattern: NodePattern, k: int, data: Array) -> None:
        """Fused evaluation and assembly of m_φ."""
        t = self.tables
        kernels.mass_scatter(
            self.points, self.cells, self.affine, t.reference_mass, t.mass_values, t.mass_gradients, t.mass_weights,
            self.density * self.thickness, pattern.indptr, pattern.positions[k], data,
        )  # fmt: skip

    def stiffness(self) -> Array:
        """K = ∫ Bᵀ D B, internal modes condensed."""
        t = self.tables
        out = np.empty((len(self.cells), self.size, self.size))
        kernels.stiffness_blocks(
            self.points, self.cells, t.gradients, t.internal, t.centre, t.weights,
            self.tensors, self.law, self.thickness, out,
        )  # fmt: skip
        return out

    def add_stiffness(self, pattern: NodePattern, k: int, scale: float, data: Array) -> None:
        """Fused evaluation and assembly of K."""
        t = self.tables
        kernels.stiffness_scatter(
            self.points, self.cells, t.gradients, t.internal, t.centre, t.weights, self.tensors, self.law,
            self.thickness, pattern.indptr, pattern.positions[k], scale, data,
        )  # fmt: skip

    def geometric(self, stress: Array) -> Array:
        """K_g = (∫ g_aᵀ σ g_b dV) ⊗ I."""
        t = self.tables
        d, n = self.dofs, self.cells.shape[1]
        tensor = np.ascontiguousarray(stress[:, :, VOIGT_INDEX[:d, :d]])
        scalar = np.empty((len(self.cells), n, n))
        kernels.geometric_scalar(
            self.points, self.cells, t.gradients, t.weights, tensor, self.thickness, scalar
        )
        return np.einsum("eab,ij->eaibj", scalar, np.eye(d)).reshape(len(scalar), self.size, self.size)

    def strain_state(self, displacement: Array) -> Array:
        """In-plane or full strains (elements, points, 3 or 6) at the integration points."""
        t = self.tables
        d = self.dofs
        gradient = np.empty((len(self.cells), len(t.weights), d, d))
        kernels.strain_at_points(
            self.points, self.cells, t.gradients, t.internal, t.centre, t.weights, t.gradients, t.internal,
            self.tensors, self.law, np.ascontiguousarray(displacement), gradient,
        )  # fmt: skip
        pairs = ((0, 0), (1, 1), (0, 1)) if d == 2 else ((0, 0), (1, 1), (2, 2), (1, 2), (2, 0), (0, 1))
        columns = [
            gradient[..., i, i] if i == j else gradient[..., i, j] + gradient[..., j, i] for i, j in pairs
        ]
        return np.stack(columns, axis=-1)

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


def _affine(cell: str, cells: Index, points: Array) -> NDArray[np.bool_]:
    """Which cells are affine images of the reference cell, to rounding: their Jacobian is constant."""
    reference = CELLS[cell]
    d = reference.dimension
    x = points[cells][:, :, :d]
    basis = np.column_stack([np.ones(reference.nodes), reference.points])
    # what a linear fit through all nodes leaves over
    residual = np.eye(reference.nodes) - basis @ np.linalg.pinv(basis)
    left = np.abs(np.einsum("ab,ebi->eai", residual, x)).max(axis=(1, 2))
    extent = np.ptp(x, axis=1).max(axis=1)
    affine: NDArray[np.bool_] = left <= 1e-13 * extent
    return affine
