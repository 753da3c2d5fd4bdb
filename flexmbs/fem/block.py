"""What every kind of finite element offers: the constants of the floating-frame theory, for all elements of a block.

``N`` maps the coordinates of one element to the displacement of a point, in the axes of the body. Every inertia
matrix of the theory is Σ_ij G_ij m_ij with m_ij = ∫ρ N_iᵀ N_j and a small matrix G: the identity for the mass, 2ω~
for C(ω), ε~ for K(ε), ω~ω~ for K(ω); and every inertia load is Σ_ij W_ij ∫ρ N_iᵀ x_j likewise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.fem.pattern import scatter

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class ElementBlock(ABC):
    """All elements of one kind that share a cell type.

    To add a kind of element: set ``type``, ``cells`` (elements, a), ``points`` (nodes, 3), ``dofs`` (coordinates per
    node) and ``axes`` (dimension of N's rows: 2 or 3), and give the five methods below as arrays over elements. A kind
    with N = φ ⊗ I derives from ScalarBlock and gives ``scalar_mass`` and ``stiffness`` only.
    """

    type: str
    cells: Index
    points: Array
    dofs: int
    axes: int
    rotation: Array | None = None  # (elements, 3, 3): columns are the element's axes in body axes, where they differ

    @property
    def size(self) -> int:
        """Coordinates of one element."""
        return self.cells.shape[1] * self.dofs

    @abstractmethod
    def inertia(self, g: Array) -> Array:
        """Σ_ij G_ij m_ij, (elements, size, size)."""

    @abstractmethod
    def inertia_load(self, w: Array) -> Array:
        """Σ_ij W_ij ∫ρ N_iᵀ x_j, (elements, size)."""

    @abstractmethod
    def origin(self) -> Array:
        """m_O = ∫ρ Nᵀ, (elements, size, axes)."""

    @abstractmethod
    def stiffness(self) -> Array:
        """Elastic stiffness K, (elements, size, size)."""

    def elastic_forces(self, nodal: Array) -> Array:
        """K d in body axes, (elements, size, columns), of the nodal coordinates of each element's nodes."""
        return np.asarray(self.to_body(self.stiffness()) @ nodal)

    @abstractmethod
    def geometric(self, stress: Array) -> Array:
        """Geometric stiffness K_g(σ) of a stress state as ``stress_state`` returns it, (elements, size, size)."""

    @abstractmethod
    def stress_state(self, displacement: Array) -> Array:
        """Stress at the integration points (sections forces for beams) under nodal coordinates (nodes, dofs)."""

    def turning(self, w: Array) -> Array:
        """Stiffness of the inertia forces ρWr on what turns with a node: the load's work on ½ θ × (θ × r).

        Zero where nodes do not turn; solids carry the same through the stress in them.
        """
        return np.zeros((len(self.cells), self.size, self.size))

    def to_body(self, array: Array, columns: bool = False) -> Array:
        """Element matrices or vectors in body axes: Tᵀ k T or Tᵀ f; the same array where T is the identity."""
        if self.rotation is None:
            return array
        t = self.transformation
        if columns or array.ndim == 2:
            return np.einsum("eji,ej...->ei...", t, array)
        rotated: Array = t.transpose(0, 2, 1) @ array @ t
        return rotated

    @property
    def transformation(self) -> Array:
        """T with (element coordinates) = T (nodal coordinates in body axes), (elements, size, size)."""
        if self.rotation is None:
            return np.broadcast_to(np.eye(self.size), (len(self.cells), self.size, self.size))
        t = np.zeros((len(self.cells), self.size, self.size))
        for k in range(0, self.size, 3):
            t[:, k : k + 3, k : k + 3] = self.rotation.transpose(0, 2, 1)
        return t

    def add_stiffness(self, pattern: Any, k: int, scale: float, data: Array) -> None:
        """Add scale · K into the values of the assembled matrix; ``k`` is this block's number in the pattern."""
        blocks = np.ascontiguousarray(self.to_body(self.stiffness()))
        scatter(blocks, self.cells, self.dofs, pattern.indptr, pattern.positions[k], scale, data)


class ScalarBlock(ElementBlock):
    """Elements with N = φ ⊗ I: one scalar mass matrix m_φ = ∫ρ φ_a φ_b carries all inertia terms."""

    @abstractmethod
    def scalar_mass(self) -> Array:
        """m_φ, (elements, a, a)."""

    def add_scalar_mass(self, pattern: Any, k: int, data: Array) -> None:
        """Add m_φ into the values of the assembled scalar matrix."""
        scatter(self.scalar_mass(), self.cells, 1, pattern.indptr, pattern.positions[k], 1.0, data)

    def inertia(self, g: Array) -> Array:
        """m_φ ⊗ G."""
        m = self.scalar_mass()
        d = self.axes
        return np.einsum("eab,ij->eaibj", m, g[:d, :d]).reshape(len(m), self.size, self.size)

    def inertia_load(self, w: Array) -> Array:
        """m_φ X Wᵀ: the cells interpolate x exactly."""
        m = self.scalar_mass()
        d = self.axes
        x = self.points[self.cells][:, :, :d]
        return np.einsum("eab,ebj,ij->eai", m, x, w[:d, :d]).reshape(len(m), self.size)

    def origin(self) -> Array:
        """(m_φ 1) ⊗ I."""
        m = self.scalar_mass()
        share = m.sum(axis=2)
        return np.einsum("ea,ij->eaij", share, np.eye(self.axes)).reshape(len(m), self.size, self.axes)


def turning_matrix(second: Array, w: Array) -> Array:
    """H with ½θᵀHθ = ∫ρ (W r)·½ θ × (θ × r): sym(SWᵀ) - tr(SWᵀ) 1, with second moments S = ∫ρ r rᵀ (..., 3, 3)."""
    product = second @ np.swapaxes(w, -1, -2)
    trace = np.trace(product, axis1=-2, axis2=-1)[..., None, None]
    return np.asarray((product + np.swapaxes(product, -1, -2)) / 2 - trace * np.eye(3))
