"""Blocks: element matrices, vectors or columns that are not yet evaluated, as a sum of terms of the theory.

They add and scale without any work; ``arrays`` evaluates them element by element, and projecting them with the
elements' connectivity evaluates and assembles in one sweep.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from flexmbs.errors import FlexmbsError

if TYPE_CHECKING:
    from flexmbs.fem.elements import Elements

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Blocks:
    """A sum of element terms: G ↦ Σ G_ij m_ij, scale · K, Σ scale · K_g(σ); W ↦ Σ W_ij ∫ρ N_iᵀ x_j; m_O B."""

    elements: Elements
    kind: str  # "matrix", "vector" or "columns"
    inertia: Array | None = None  # G
    stiffness: float = 0.0
    geometric: tuple[tuple[float, tuple[Array, ...]], ...] = ()
    turning: Array | None = None  # W of the inertia forces on sections and bodies that turn with a node
    load: Array | None = None  # W
    origin: Array | None = None  # B, (3, k): the columns m_O B

    is_blocks: ClassVar[bool] = True
    __array_ufunc__: ClassVar[None] = None  # so that numpy's numbers leave the product to us

    def __add__(self, other: Blocks) -> Blocks:
        if not isinstance(other, Blocks):
            return NotImplemented
        if other.elements is not self.elements:
            raise FlexmbsError("blocks of different Elements cannot be added; assemble each and add the matrices.")
        if other.kind != self.kind:
            raise FlexmbsError(f"a {self.kind} and a {other.kind} of element blocks cannot be added.")
        return replace(
            self,
            inertia=_sum(self.inertia, other.inertia),
            stiffness=self.stiffness + other.stiffness,
            geometric=self.geometric + other.geometric,
            turning=_sum(self.turning, other.turning),
            load=_sum(self.load, other.load),
            origin=_sum(self.origin, other.origin),
        )

    def __mul__(self, factor: float) -> Blocks:
        if not np.isscalar(factor):
            return NotImplemented
        s = float(factor)  # type: ignore[arg-type]
        return replace(
            self,
            inertia=None if self.inertia is None else s * self.inertia,
            stiffness=s * self.stiffness,
            geometric=tuple((s * c, state) for c, state in self.geometric),
            turning=None if self.turning is None else s * self.turning,
            load=None if self.load is None else s * self.load,
            origin=None if self.origin is None else s * self.origin,
        )

    __rmul__ = __mul__

    def __neg__(self) -> Blocks:
        return self * -1.0

    def __sub__(self, other: Blocks) -> Blocks:
        return self + (-other)

    def __truediv__(self, divisor: float) -> Blocks:
        return self * (1.0 / divisor)

    def __len__(self) -> int:
        return len(self.elements.blocks)

    def __getitem__(self, number: int) -> Array:
        return self.evaluate(number)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{len(b.cells)} {b.type} ({b.size})" for b in self.elements.blocks)
        return f"<Blocks: {self.kind} of {shapes}>"

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The values, one array (elements, ...) per cell block, in element coordinates."""
        return tuple(self.evaluate(k) for k in range(len(self)))

    def evaluate(self, number: int) -> Array:
        """The values of one cell block, in element coordinates."""
        block = self.elements.blocks[number]
        count, n = len(block.cells), block.size
        if self.kind == "matrix":
            out = np.zeros((count, n, n))
            if self.inertia is not None:
                out += block.inertia(self.inertia)
            if self.stiffness:
                out += self.stiffness * block.stiffness()
            for scale, state in self.geometric:
                out += scale * block.geometric(state[number])
            if self.turning is not None:
                out += block.turning(self.turning)
            return out
        if self.kind == "vector":
            out = np.zeros((count, n))
            if self.load is not None:
                out += block.inertia_load(self.load)
            return out
        assert self.origin is not None
        return np.asarray(block.origin() @ self.origin[: block.axes])

    def block_diagonal(self) -> sp.csr_array:
        """The element matrices along the diagonal of one sparse matrix."""
        parts = []
        for array in self.arrays:
            count, n, _ = array.shape
            columns = (np.arange(count)[:, None, None] * n + np.arange(n)[None, None, :]).repeat(n, axis=1)
            indptr = np.arange(count * n + 1) * n
            parts.append(sp.csr_array((array.ravel(), columns.ravel(), indptr), shape=(count * n,) * 2))
        return sp.csr_array(sp.block_diag(parts, format="csr"))

    def stacked(self) -> Array:
        """Vectors or columns of all elements, one after the other."""
        return np.concatenate([a.reshape(-1, *a.shape[2:]) for a in self.arrays])


def _sum(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return a if b is None else b
    return a + b
