"""What is seen of a mesh: outer faces as triangles, edges as segments, fine enough for curved cells to look it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.mesh import Mesh
from flexmbs.mesh.shapes import shape_values
from flexmbs.mesh.topology import group_faces

Array = NDArray[np.float64]
Index = NDArray[np.int64]

MANY_FACES = 6000
"""Faces of quadratic cells are cut in 16 up to this many, in 4 above."""


@dataclass(frozen=True, eq=False)
class Skin:
    """Triangles and cell edges between points that are ``weights`` @ nodal values."""

    weights: sp.csr_array
    triangles: Index
    edges: Index

    def at(self, nodal: Array) -> Array:
        """Values at the points of the skin, interpolated from the nodes by the shape functions."""
        return np.asarray(self.weights @ nodal)


def skin(mesh: Mesh, pairs: Index | None = None, many: int = MANY_FACES) -> Skin:
    """Skin of a solid (or of its faces ``pairs``), of the cells of a plane mesh, or the lines of a line mesh.

    Up to ``many`` faces are cut finely.
    """
    if mesh.dimension == 3:
        groups = group_faces(mesh.cells, mesh.boundary if pairs is None else pairs)
    else:
        groups = [(block.type, block.nodes) for block in mesh.cells]
    cuts = 4 if sum(len(nodes) for _, nodes in groups) <= many else 2
    # points of neighbours are one if they are the same combination of nodes: of random numbers, told apart by the sum
    mark = np.random.default_rng(7).random((mesh.n_nodes, 2))
    keys, columns, values, triangles, edges = [], [], [], [], []
    start = 0
    for kind, nodes in groups:
        if CELLS[kind].dimension == 0:
            continue
        xi, corners, sides = _lattice(CELLS[kind].shape, cuts if CELLS[kind].order == 2 else 1)
        shape = shape_values(kind, xi)
        offset = start + len(xi) * np.arange(len(nodes))[:, None, None]
        keys.append(np.einsum("pa,fak->fpk", shape, mark[nodes]).reshape(-1, 2))
        columns.append(np.repeat(nodes, len(xi), axis=0).ravel())
        values.append(np.tile(shape, (len(nodes), 1)).ravel())
        triangles.append((offset + corners).reshape(-1, 3))
        edges.append((offset + sides).reshape(-1, 2))
        start += len(xi) * len(nodes)
    if not keys:
        empty = np.zeros((0, 3), dtype=np.int64)
        return Skin(sp.csr_array((0, mesh.n_nodes)), empty, empty[:, :2])
    counts = np.concatenate([np.full(len(k), len(c) // len(k)) for k, c in zip(keys, columns, strict=True)])
    pointer = np.concatenate([[0], np.cumsum(counts)])
    every = sp.csr_array((np.concatenate(values), np.concatenate(columns), pointer), shape=(start, mesh.n_nodes))
    _, first, merged = np.unique(np.round(np.concatenate(keys), 9), axis=0, return_index=True, return_inverse=True)
    merged = merged.ravel()
    sides = np.sort(merged[np.concatenate(edges)], axis=1)
    return Skin(sp.csr_array(every[first]), merged[np.concatenate(triangles)], np.unique(sides, axis=0))


def sharp_edges(points: Array, corners: Index, degrees: float = 28.0) -> Index:
    """Edges of triangles at which the surface ends or turns by more than an angle, (count, 2)."""
    a, b, c = (points[corners[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    every = np.sort(corners[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    owner = np.repeat(np.arange(len(corners)), 3)
    unique, inverse, count = np.unique(every, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    first = np.concatenate([[0], np.cumsum(count)[:-1]]).astype(np.int64)
    one, other = owner[order[first]], owner[order[first + np.minimum(count, 2) - 1]]
    turn = np.einsum("ij,ij->i", normal[one], normal[other])
    return np.asarray(unique[(count != 2) | (turn < np.cos(np.radians(degrees)))])


@cache
def _lattice(shape: str, n: int) -> tuple[Array, Index, Index]:
    """Points of a reference line, triangle or quad cut n times along each edge, triangles and outer edges."""
    if shape == "line":
        chain = np.stack([np.arange(n), np.arange(1, n + 1)], axis=1)
        return np.linspace(-1.0, 1.0, n + 1)[:, None], np.zeros((0, 3), dtype=np.int64), chain
    grid = [(i, j) for j in range(n + 1) for i in range(n + 1) if shape == "quad" or i + j <= n]
    number = {ij: k for k, ij in enumerate(grid)}
    triangles = []
    for i, j in grid:
        for three in (((i, j), (i + 1, j), (i, j + 1)), ((i + 1, j), (i + 1, j + 1), (i, j + 1))):
            if all(p in number for p in three):
                triangles.append([number[p] for p in three])
    if shape == "quad":
        ring = [*[(i, 0) for i in range(n)], *[(n, j) for j in range(n)]]
        ring += [*[(n - i, n) for i in range(n)], *[(0, n - j) for j in range(n)]]
    else:
        ring = [*[(i, 0) for i in range(n)], *[(n - k, k) for k in range(n)], *[(0, n - j) for j in range(n)]]
    loop = np.array([number[p] for p in ring])
    xi = np.array(grid, dtype=float) / n
    return 2 * xi - 1 if shape == "quad" else xi, np.array(triangles), np.stack([loop, np.roll(loop, -1)], axis=1)
