"""Bars: straight two-node members that carry an axial force only; three displacements per node, N = φ ⊗ I."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexmbs.fem.block import ScalarBlock

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Bar(ScalarBlock):
    """Two-node bars with axial stiffness ``axial`` = EA and mass ρA per length, one value per element."""

    type = "line"
    dofs = 3
    axes = 3

    def __init__(self, cells: Index, points: Array, axial: Array, line_density: Array) -> None:
        self.cells, self.points, self.axial, self.line_density = cells, points, axial, line_density
        along = points[cells[:, 1]] - points[cells[:, 0]]
        self.length: Array = np.linalg.norm(along, axis=1)
        self.direction: Array = along / self.length[:, None]

    def scalar_mass(self) -> Array:
        """m_φ = ρAL/6 [2 1; 1 2]."""
        return (self.line_density * self.length / 6)[:, None, None] * np.array([[2.0, 1.0], [1.0, 2.0]])

    def stiffness(self) -> Array:
        """K = EA/L t tᵀ in the pattern [1 -1; -1 1]."""
        along = np.einsum("e,ei,ej->eij", self.axial / self.length, self.direction, self.direction)
        return _between_ends(along)

    def stress_state(self, displacement: Array) -> Array:
        """Axial force at both ends, (elements, 2, 1); constant in a bar."""
        stretch = np.diff(displacement[self.cells], axis=1)[:, 0, :]
        force = self.axial / self.length * np.sum(stretch * self.direction, axis=1)
        return np.repeat(force[:, None, None], 2, axis=1)

    def geometric(self, stress: Array) -> Array:
        """K_g = N/L (I - t tᵀ): a stretched string."""
        across = np.eye(3) - np.einsum("ei,ej->eij", self.direction, self.direction)
        return _between_ends((stress[:, :, 0].mean(axis=1) / self.length)[:, None, None] * across)


def _between_ends(k: Array) -> Array:
    """[k -k; -k k]."""
    return np.block([[k, -k], [-k, k]])
