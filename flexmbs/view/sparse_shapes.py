"""Shapes of a surface over very many coordinates: sparse, and what follows the few frames at which a body is held."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SparseShapes:
    """Displacements (points, 3) that are linear in d: near · d + far · (frames · d).

    In place of an array (points, 3, coordinates); ``near`` (3 points, coordinates) is sparse, ``far`` (3 points, few)
    and ``frames`` (few, coordinates) are not. Sums are of shapes with the same frames.
    """

    near: sp.csr_array
    far: Array
    frames: Array

    def __matmul__(self, d: Array) -> Array:
        return np.asarray(self.near @ d + self.far @ (self.frames @ d)).reshape(-1, 3)

    def along(self, directions: Array) -> Array:
        """Displacements (points, 3, few) along few directions (coordinates, few)."""
        moved = np.asarray(self.near @ directions) + self.far @ (self.frames @ directions)
        return moved.reshape(len(moved) // 3, 3, directions.shape[1])  # perhaps along none

    def __add__(self, other: SparseShapes) -> SparseShapes:
        return SparseShapes(sp.csr_array(self.near + other.near), self.far + other.far, self.frames)

    def __rmul__(self, factor: float) -> SparseShapes:
        return SparseShapes(sp.csr_array(factor * self.near), factor * self.far, self.frames)

    def __sub__(self, other: SparseShapes) -> SparseShapes:
        return self + (-1.0) * other
