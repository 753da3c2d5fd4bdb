"""Elementary stages of a projection, each with its own fast way to form AᵀXA."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import ProjectionError
from flexmbs.given import array
from flexmbs.nullspace.readonly import frozen

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


class Assembler(Protocol):
    """What a finite-element connectivity offers: element coordinates = L · nodal coordinates.

    shape is that of L. assemble evaluates LᵀXL (csr_array, n × n), Lᵀx ((n,) or (n, k)) of Blocks by
    scatter-add. matrix builds L itself: Boolean, times the constant element-to-body rotations.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of element coordinates and of nodal coordinates."""

    def assemble(self, blocks: Any) -> Any:
        """Assembled matrix, vector or columns of Blocks."""

    def matrix(self) -> Any:
        """L as a csr_array."""


class Stage(Protocol):
    """One factor of a projection: full = A · reduced + offset (offset None: zero)."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of full and of reduced coordinates."""

    @property
    def offset(self) -> FloatArray | None:
        """Full coordinates at reduced = 0."""

    @property
    def matrix(self) -> Any:
        """A as csr_array or dense array."""

    def congruence(self, x: Any) -> Any:
        """AᵀXA."""

    def transposed(self, x: Any) -> Any:
        """Aᵀx."""

    def apply(self, y: Any) -> Any:
        """A y."""


@dataclass(frozen=True, eq=False)
class Selection:
    """A picks reduced coordinates out of full ones (fixed coordinates left out): AᵀXA is a submatrix."""

    kept: IntArray
    size: int
    offset: FloatArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of full and of reduced coordinates."""
        return self.size, len(self.kept)

    @cached_property
    def matrix(self) -> Any:
        """A as csr_array."""
        k = len(self.kept)
        return frozen(sp.csr_array((np.ones(k), (self.kept, np.arange(k))), shape=self.shape))

    @cached_property
    def _place(self) -> IntArray:
        place = np.full(self.size, -1, dtype=np.int64)
        place[self.kept] = np.arange(len(self.kept))
        return place

    def congruence(self, x: Any) -> Any:
        """Submatrix of the kept rows and columns."""
        if len(self.kept) == self.size:
            return x.copy()
        if not sp.issparse(x):
            return x[np.ix_(self.kept, self.kept)]
        return submatrix(sp.csr_array(x), self.kept, self._place)

    def transposed(self, x: Any) -> Any:
        """Kept rows of x."""
        return x[self.kept]

    def apply(self, y: Any) -> Any:
        """Full array with zeros at the coordinates left out."""
        full = np.zeros((self.size, *y.shape[1:]), dtype=np.result_type(y, float))
        full[self.kept] = y
        return full


def submatrix(x: Any, kept: IntArray, place: IntArray) -> Any:
    """Rows `kept` of a CSR matrix and its columns j with place[j] >= 0, renumbered by place."""
    size = int(np.sum(x.indptr[kept + 1] - x.indptr[kept]))
    # NumPy asks the system for huge pages, Numba does not: allocated inside the kernel this is four times slower
    data, indices = np.empty(size, x.data.dtype), np.empty(size, x.indices.dtype)
    indptr = np.zeros(len(kept) + 1, x.indptr.dtype)
    size = _fill_submatrix(x.data, x.indices, x.indptr, kept, place, data, indices, indptr)
    if 2 * size < len(data):
        data, indices = data[:size].copy(), indices[:size].copy()
    return sp.csr_array((data[:size], indices[:size], indptr), shape=(len(kept), len(kept)))


@njit(cache=True)
def _fill_submatrix(data, indices, indptr, kept, place, new_data, new_indices, new_indptr):  # type: ignore[no-untyped-def]
    size = 0
    for k in range(len(kept)):
        for e in range(indptr[kept[k]], indptr[kept[k] + 1]):
            j = place[indices[e]]
            if j >= 0:
                new_data[size] = data[e]
                new_indices[size] = j
                size += 1
        new_indptr[k + 1] = size
    return size


@dataclass(frozen=True, eq=False)
class Sparse:
    """A is a general sparse matrix."""

    matrix: Any
    offset: FloatArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of full and of reduced coordinates."""
        n, r = self.matrix.shape
        return int(n), int(r)

    @cached_property
    def _transpose(self) -> Any:
        return sp.csr_array(self.matrix.T)

    def congruence(self, x: Any) -> Any:
        """AᵀXA, sparse for a sparse X."""
        if sp.issparse(x):
            return self._transpose @ (sp.csr_array(x) @ self.matrix)
        return self._transpose @ (self._transpose @ x.T).T

    def transposed(self, x: Any) -> Any:
        """Aᵀx."""
        return self._transpose @ x

    def apply(self, y: Any) -> Any:
        """A y."""
        return self.matrix @ y


@dataclass(frozen=True, eq=False)
class Dense:
    """A has few dense columns (modes): AᵀXA is small and dense, nothing sparse is filled."""

    matrix: Any
    offset: FloatArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of full and of reduced coordinates."""
        n, r = self.matrix.shape
        return int(n), int(r)

    def congruence(self, x: Any) -> Any:
        """Dense AᵀXA."""
        return self.matrix.T @ (x @ self.matrix)

    def transposed(self, x: Any) -> Any:
        """Dense Aᵀx."""
        return (x.T @ self.matrix).T if sp.issparse(x) else self.matrix.T @ x

    def apply(self, y: Any) -> Any:
        """A y."""
        return (y.T @ self.matrix.T).T if sp.issparse(y) else self.matrix @ y


@dataclass(frozen=True, eq=False)
class Connectivity:
    """A is the connectivity L of finite elements; Blocks are assembled by the assembler, without L."""

    assembler: Assembler
    offset: FloatArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of element coordinates and of nodal coordinates."""
        n, r = self.assembler.shape
        return int(n), int(r)

    @cached_property
    def _sparse(self) -> Sparse:
        return Sparse(frozen(sp.csr_array(self.assembler.matrix(), dtype=float)))

    @property
    def matrix(self) -> Any:
        """L as csr_array."""
        return self._sparse.matrix

    def congruence(self, x: Any) -> Any:
        """LᵀXL of a plain matrix."""
        return self._sparse.congruence(x)

    def transposed(self, x: Any) -> Any:
        """Lᵀx."""
        return self._sparse.transposed(x)

    def apply(self, y: Any) -> Any:
        """Element coordinates of nodal ones."""
        return self._sparse.apply(y)


def stage_of(matrix: Any, offset: ArrayLike | None = None) -> Selection | Sparse | Dense:
    """The cheapest stage for a matrix and offset, checked; arrays are copied and made read-only."""
    sparse = bool(sp.issparse(matrix))
    matrix = sp.csr_array(matrix, dtype=float, copy=True) if sparse else array(matrix)
    if matrix.ndim != 2:
        raise ProjectionError(f"a projection matrix has two dimensions (full, reduced), got shape {matrix.shape}")
    n, r = matrix.shape
    if not np.all(np.isfinite(matrix.data if sparse else matrix)):
        raise ProjectionError(f"the {n} × {r} projection matrix contains NaN or infinity")
    checked = None
    if offset is not None:
        checked = array(offset)
        if checked.shape != (n,):
            raise ProjectionError(f"offset of shape {checked.shape} for {n} full coordinates: give ({n},)")
        if not np.all(np.isfinite(checked)):
            raise ProjectionError("the offset of a projection contains NaN or infinity")
        checked = frozen(checked) if np.any(checked) else None
    if not sparse:
        return Dense(frozen(matrix), checked)
    matrix.sum_duplicates()
    kept = _selected(matrix)
    return Sparse(frozen(matrix), checked) if kept is None else Selection(frozen(kept), n, checked)


def _selected(matrix: Any) -> IntArray | None:
    """Rows kept by a selection (ones only, one in a column, at most one in a row, in order), or None."""
    r = matrix.shape[1]
    if matrix.nnz != r or np.any(matrix.data != 1.0) or not np.array_equal(matrix.indices, np.arange(r)):
        return None
    counts = np.diff(matrix.indptr)
    return np.flatnonzero(counts).astype(np.int64) if np.all(counts <= 1) else None
