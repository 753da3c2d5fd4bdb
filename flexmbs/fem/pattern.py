"""The sparsity pattern of a mesh: which nodes share an element, and where each element's entries go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]

_options: dict[str, Any] = {"cache": True, "error_model": "numpy"}


@dataclass(frozen=True)
class NodePattern:
    """Sorted CSR pattern of the node graph, with the position of every element's node pair in its row.

    ``positions[k]`` (elements, a, a) belongs to block k: entry (a, b) of element e is number
    ``positions[k][e, a, b]`` in the row of node ``cells[k][e, a]``.
    """

    indptr: Index
    indices: NDArray[np.int32]
    cells: tuple[Index, ...]
    positions: tuple[NDArray[np.int32], ...]

    @classmethod
    def of(cls, cells: Sequence[Index], n_nodes: int) -> NodePattern:
        """Pattern of blocks of cells, each an array (elements, a)."""
        widths = np.concatenate([np.zeros(0, np.int64), *(np.full(len(c), c.shape[1]) for c in cells)])
        pointer = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        square = np.concatenate([[0], np.cumsum(widths**2)]).astype(np.int64)
        flat = np.concatenate([np.zeros(0, np.int64), *(c.ravel() for c in cells)])
        # Large arrays are made here, not in the kernels: NumPy asks for huge pages, which are filled faster.
        positions = np.empty(square[-1], np.int32)
        indptr, indices = _pattern(pointer, flat, square, n_nodes, positions)
        split, start = [], 0
        for c in cells:
            size = len(c) * c.shape[1] ** 2
            split.append(positions[start : start + size].reshape(len(c), c.shape[1], c.shape[1]))
            start += size
        return cls(indptr, indices, tuple(cells), tuple(split))

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.indptr) - 1

    def scalar(self, data: Array) -> sp.csr_array:
        """The CSR matrix (nodes, nodes) with these values."""
        # Copies of the index arrays: a user may change a matrix in place without harming the pattern.
        matrix = sp.csr_array(
            (data, self.indices.copy(), self.indptr.astype(_index_type(len(data)))), shape=(self.n_nodes,) * 2
        )
        matrix.has_sorted_indices = True
        return matrix

    def matrix(self, data: Array, d: int) -> sp.csr_array:
        """The CSR matrix (d·nodes, d·nodes) with full d x d node blocks and these values."""
        indptr, indices = self._index_arrays(d, len(data))
        _expand(self.indptr, self.indices, d, indptr, indices)
        matrix = sp.csr_array((data, indices, indptr), shape=(self.n_nodes * d,) * 2)
        matrix.has_sorted_indices = True
        return matrix

    def kron(self, data: Array, small: Array) -> sp.csr_array:
        """The CSR matrix of (scalar matrix with these values) ⊗ small; zeros of ``small`` are not stored."""
        d = len(small)
        rows, columns = np.nonzero(small)
        counts = np.bincount(rows, minlength=d)
        values = np.empty(len(data) * len(rows))
        indptr, indices = self._index_arrays(d, len(values))
        _kron(self.indptr, self.indices, data, counts, columns, small[rows, columns], indptr, indices, values)
        matrix = sp.csr_array((values, indices, indptr), shape=(self.n_nodes * d,) * 2)
        matrix.has_sorted_indices = True
        return matrix

    def _index_arrays(self, d: int, nnz: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Empty indptr and indices of a matrix with d rows per node."""
        kind = _index_type(nnz)
        return np.empty(self.n_nodes * d + 1, kind), np.empty(nnz, kind)


def _index_type(nnz: int) -> type[np.signedinteger[Any]]:
    return np.int32 if nnz < 2**31 - 1 else np.int64


@njit(**_options)
def _pattern(pointer, flat, square, n_nodes, positions):
    counts = np.zeros(n_nodes + 1, np.int64)
    for k in range(flat.size):
        counts[flat[k] + 1] += 1
    starts = np.cumsum(counts)
    fill = starts[:-1].copy()
    elements = np.empty(flat.size, np.int64)
    locals_ = np.empty(flat.size, np.int64)
    for e in range(pointer.size - 1):
        for k in range(pointer[e], pointer[e + 1]):
            at = fill[flat[k]]
            elements[at] = e
            locals_[at] = k - pointer[e]
            fill[flat[k]] += 1
    seen = np.full(n_nodes, -1, np.int64)
    indptr = np.zeros(n_nodes + 1, np.int64)
    for node in range(n_nodes):
        count = 0
        for s in range(starts[node], starts[node + 1]):
            e = elements[s]
            for k in range(pointer[e], pointer[e + 1]):
                if seen[flat[k]] != node:
                    seen[flat[k]] = node
                    count += 1
        indptr[node + 1] = indptr[node] + count
    indices = np.empty(indptr[n_nodes], np.int32)
    seen[:] = -1
    for node in range(n_nodes):
        at = indptr[node]
        for s in range(starts[node], starts[node + 1]):
            e = elements[s]
            for k in range(pointer[e], pointer[e + 1]):
                if seen[flat[k]] < indptr[node]:
                    seen[flat[k]] = at
                    indices[at] = flat[k]
                    at += 1
        row = indices[indptr[node] : indptr[node + 1]]
        row.sort()
        for k in range(row.size):
            seen[row[k]] = indptr[node] + k
        for s in range(starts[node], starts[node + 1]):
            e = elements[s]
            width = pointer[e + 1] - pointer[e]
            base = square[e] + locals_[s] * width
            for b in range(width):
                positions[base + b] = seen[flat[pointer[e] + b]] - indptr[node]
    return indptr, indices


@njit(**_options)
def _expand(indptr, indices, d, new_indptr, new_indices):
    n = indptr.size - 1
    at = 0
    new_indptr[0] = 0
    for node in range(n):
        for i in range(d):
            for k in range(indptr[node], indptr[node + 1]):
                for j in range(d):
                    new_indices[at] = d * indices[k] + j
                    at += 1
            new_indptr[node * d + i + 1] = at


@njit(**_options)
def _kron(indptr, indices, data, counts, columns, values, new_indptr, new_indices, new_data):
    n, d = indptr.size - 1, counts.size
    at = 0
    new_indptr[0] = 0
    for node in range(n):
        first = 0
        for i in range(d):
            for k in range(indptr[node], indptr[node + 1]):
                for s in range(first, first + counts[i]):
                    new_indices[at] = d * indices[k] + columns[s]
                    new_data[at] = data[k] * values[s]
                    at += 1
            first += counts[i]
            new_indptr[node * d + i + 1] = at


@njit(**_options)
def scatter(blocks, cells, d, indptr, positions, scale, data):
    """Add given element matrices (elements, d·a, d·a) into the values of the assembled CSR matrix."""
    n = cells.shape[1]
    for e in range(cells.shape[0]):
        for a in range(n):
            node = cells[e, a]
            stride = d * (indptr[node + 1] - indptr[node])
            for i in range(d):
                row = d * d * indptr[node] + i * stride
                for b in range(n):
                    at = row + d * positions[e, a, b]
                    for j in range(d):
                        data[at + j] += scale * blocks[e, a * d + i, b * d + j]
