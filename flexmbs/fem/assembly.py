"""Assembly as the fast evaluation of Lᵀ[k]L: element terms are evaluated and added where they belong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from flexmbs.errors import ProjectionError
from flexmbs.fem.beam import Beam
from flexmbs.fem.block import ScalarBlock
from flexmbs.fem.blocks import Blocks
from flexmbs.fem.pattern import scatter
from flexmbs.nullspace.readonly import frozen

if TYPE_CHECKING:
    from flexmbs.fem.elements import Elements

Array = NDArray[np.float64]


class Assembler:
    """The connectivity of a set of elements: element coordinates from nodal ones, and assembly without forming it."""

    def __init__(self, elements: Elements) -> None:
        self.elements = elements

    @property
    def shape(self) -> tuple[int, int]:
        """(element coordinates, nodal coordinates)."""
        e = self.elements
        return sum(len(b.cells) * b.size for b in e.blocks), e.mesh.n_nodes * e.dofs_per_node

    def matrix(self) -> sp.csr_array:
        """L: Boolean, times the constant element-to-body rotations T."""
        d = self.elements.dofs_per_node
        data, columns, counts = [], [], []
        for block in self.elements.blocks:
            dofs = (block.cells[:, :, None] * d + np.arange(d)).reshape(len(block.cells), -1)
            if block.rotation is None:
                data.append(np.ones(dofs.size))
                columns.append(dofs.ravel())
                counts.append(np.ones(dofs.size, dtype=np.int64))
            else:  # each coordinate depends on the three body components at the same node
                node_rows = block.transformation.reshape(len(dofs), block.size // 3, 3, block.size // 3, 3)
                local = np.einsum("eaiaj->eaij", node_rows)
                data.append(local.ravel())
                columns.append(np.repeat(dofs.reshape(len(dofs), -1, 1, 3), 3, axis=2).ravel())
                counts.append(np.full(dofs.size, 3, dtype=np.int64))
        indptr = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
        return sp.csr_array((np.concatenate(data), np.concatenate(columns), indptr), shape=self.shape)

    def assemble(self, blocks: Blocks) -> Any:
        """AᵀBA of a matrix of blocks as a CSR matrix; Aᵀf of vectors and columns as arrays."""
        if blocks.elements is not self.elements:
            raise ProjectionError("these blocks belong to other Elements than this connectivity.")
        if blocks.kind == "matrix":
            return self._matrix(blocks)
        return self._vectors(blocks)

    def _matrix(self, blocks: Blocks) -> sp.csr_array:
        e = self.elements
        d, pattern = e.dofs_per_node, e.pattern
        turning = blocks.turning if e.scalar_mass is None else None  # where nodes do not turn it is zero
        if not blocks.stiffness and not blocks.geometric and e.scalar_mass is not None:
            g = np.zeros((3, 3)) if blocks.inertia is None else blocks.inertia
            return pattern.kron(e.scalar_mass.data, g[:d, :d])
        data = np.zeros(len(pattern.indices) * d * d)
        for k, block in enumerate(e.blocks):
            if blocks.stiffness:
                block.add_stiffness(pattern, k, blocks.stiffness, data)
            for scale, state in blocks.geometric:
                arrays = np.ascontiguousarray(block.to_body(block.geometric(state[k])))
                scatter(arrays, block.cells, d, pattern.indptr, pattern.positions[k], scale, data)
            if turning is not None:
                arrays = np.ascontiguousarray(block.to_body(block.turning(turning)))
                scatter(arrays, block.cells, d, pattern.indptr, pattern.positions[k], 1.0, data)
            if blocks.inertia is not None and e.scalar_mass is None:
                arrays = np.ascontiguousarray(block.to_body(block.inertia(blocks.inertia)))
                scatter(arrays, block.cells, d, pattern.indptr, pattern.positions[k], 1.0, data)
        if blocks.inertia is not None and e.scalar_mass is not None:
            _add_kron(pattern.indptr, e.scalar_mass.data, np.ascontiguousarray(blocks.inertia[:d, :d]), data)
        return pattern.matrix(data, d)

    def _vectors(self, blocks: Blocks) -> Array:
        e = self.elements
        d, n = e.dofs_per_node, e.mesh.n_nodes
        if e.scalar_mass is not None:
            if blocks.kind == "columns":
                assert blocks.origin is not None
                share = np.asarray(e.scalar_mass.sum(axis=1)).ravel()
                return np.kron(share[:, None], blocks.origin[:d])
            w = np.zeros((3, 3)) if blocks.load is None else blocks.load
            moments = e.scalar_mass @ e.mesh.points[:, :d]
            return np.ravel(moments @ w[:d, :d].T)
        total: Array | None = None
        for k, block in enumerate(e.blocks):
            values = block.to_body(blocks.evaluate(k), columns=blocks.kind == "columns")
            if total is None:
                total = np.zeros((n * d, *values.shape[2:]))
            dofs = (block.cells[:, :, None] * d + np.arange(d)).reshape(len(block.cells), -1)
            np.add.at(total, dofs.ravel(), values.reshape(-1, *values.shape[2:]))
        assert total is not None
        return total


def exact_product(elements: Elements, blocks: Blocks) -> Callable[[Array], Array] | None:
    """x ↦ X x of assembled matrices X, for (n,) or (n, k): beams by their deformations; None where X itself is as good.

    Solutions refined with it keep their digits in fine meshes of beams, where rounding in K alone costs all of them.
    """
    if not any(isinstance(b, Beam) for b in elements.blocks):
        return None
    d = elements.dofs_per_node
    others = Assembler(elements).assemble(replace(blocks, stiffness=0.0))

    def product(x: Array) -> Array:
        columns = x.reshape(len(x), -1)
        out = others @ columns
        nodal = columns.reshape(elements.mesh.n_nodes, d, -1)
        for block in elements.blocks:
            forces = block.elastic_forces(nodal[block.cells].reshape(len(block.cells), block.size, -1))
            dofs = (block.cells[:, :, None] * d + np.arange(d)).reshape(len(block.cells), -1)
            np.add.at(out, dofs, blocks.stiffness * forces)
        return np.asarray(out.reshape(x.shape))

    return product


def assembled_scalar_mass(elements: Elements) -> sp.csr_array | None:
    """M_φ (nodes, nodes) of all blocks, or None where an element has no such form."""
    if not all(isinstance(b, ScalarBlock) for b in elements.blocks):
        return None
    data = np.zeros(len(elements.pattern.indices))
    for k, block in enumerate(elements.blocks):
        assert isinstance(block, ScalarBlock)
        block.add_scalar_mass(elements.pattern, k, data)
    return frozen(elements.pattern.scalar(data))  # kept by the elements for every inertia term


@njit(cache=True)
def _add_kron(indptr, mass, small, data):
    """Add (scalar matrix) ⊗ small into the values of the matrix with full node blocks."""
    d = small.shape[0]
    for node in range(indptr.size - 1):
        stride = d * (indptr[node + 1] - indptr[node])
        for k in range(indptr[node], indptr[node + 1]):
            at = d * d * indptr[node] + d * (k - indptr[node])
            for i in range(d):
                for j in range(d):
                    data[at + i * stride + j] += mass[k] * small[i, j]
