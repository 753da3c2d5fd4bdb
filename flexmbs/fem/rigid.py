"""Rigid motions of a part as nodal coordinates: which there are, and which its supports leave free."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from flexmbs.fem.elements import Elements
from flexmbs.linalg import factorize
from flexmbs.mesh.mesh import Mesh
from flexmbs.projection import Projection

Array = NDArray[np.float64]

HINDERED = 1e-9
"""A rigid motion of unit length of which less than this meets a support counts as free."""


class OnNodes(Protocol):
    """Anything with coordinates on the nodes of a mesh."""

    @property
    def mesh(self) -> Mesh:
        """The mesh."""

    @property
    def dofs_per_node(self) -> int:
        """Coordinates per node: 2, 3 or 6."""


def rigid_motions(elements: OnNodes, about: Array | None = None) -> Array:
    """The small rigid motions about a point (by default the origin), as columns: translations, then rotations.

    (coordinates, 6); (coordinates, 3) for plane meshes: x, y and the rotation about z.
    """
    x = elements.mesh.points - (np.zeros(3) if about is None else about)
    n, d = len(x), elements.dofs_per_node
    if d == 2:
        out = np.zeros((n, 2, 3))
        out[:, 0, 0] = out[:, 1, 1] = 1.0
        out[:, 0, 2], out[:, 1, 2] = -x[:, 1], x[:, 0]
        return out.reshape(n * 2, 3)
    out = np.zeros((n, d, 6))
    for i in range(3):
        out[:, i, i] = 1.0
        out[:, :3, 3 + i] = np.cross(np.eye(3)[i], x)
        if d == 6:
            out[:, 3 + i, 3 + i] = 1.0
    return out.reshape(n * d, 6)


def pieces(elements: Elements) -> tuple[int, NDArray[np.int64]]:
    """Number of unconnected pieces of the mesh, and each node's own."""
    pattern = elements.pattern
    graph = sp.csr_array((np.ones(len(pattern.indices), np.int8), pattern.indices, pattern.indptr))
    count, label = connected_components(graph, directed=False)
    return int(count), np.asarray(label, dtype=np.int64)


def piecewise_rigid_motions(elements: Elements) -> Array:
    """Orthonormal rigid motions of every unconnected piece by itself: (coordinates, up to 6 · pieces).

    A piece that is one point, or bars on one line, has fewer than six.
    """
    count, label = pieces(elements)
    columns = []
    for k in range(count):
        mine = label == k
        motions = rigid_motions(elements, elements.mesh.points[mine].mean(axis=0))
        columns.append(scipy.linalg.orth(motions * np.repeat(mine, elements.dofs_per_node)[:, None], rcond=1e-9))
    return np.hstack(columns)


def free_motions(elements: Elements, supports: Projection, border: Any | None) -> Array:
    """Rigid motions that the supports, the border rows and the springs to ground leave free: (coordinates, count).

    A motion is free if it lies in the range of the projector A (the part left over by least squares vanishes), fulfils
    the border rows, and stretches no spring, however soft.
    """
    motions = piecewise_rigid_motions(elements)
    hindered = [np.linalg.qr(_outside(supports, motions), mode="r")]
    if border is not None:
        hindered.append(sp.diags_array(1.0 / sp.linalg.norm(border, axis=1)) @ border @ motions)
    if elements.attachments:
        lumped = elements.blocks[-1]
        at = motions.reshape(-1, elements.dofs_per_node, motions.shape[1])[lumped.cells[:, 0]]
        values, axes = np.linalg.eigh(lumped.stiffness())
        pulls = axes * (values > 1e-14 * np.abs(values).max(axis=1, keepdims=True))[:, None, :]
        hindered.append(np.einsum("eik,eim->ekm", pulls, at).reshape(-1, motions.shape[1]))
    _, sizes, combinations = scipy.linalg.svd(np.vstack(hindered), full_matrices=len(hindered) == 1)
    count = int(np.sum(sizes > HINDERED))
    return np.asarray(motions @ combinations[count:].T)


def _outside(supports: Projection, motions: Array) -> Array:
    """What is left of motions by their best fit in the range of the projector."""
    a = supports.matrix
    if isinstance(a, np.ndarray):
        return np.asarray(motions - a @ np.linalg.lstsq(a, motions)[0])
    normal = sp.csr_array(a.T @ a)
    if normal.shape[0] == 0:
        return motions
    if normal.nnz == normal.shape[0]:  # each coordinate follows one: nothing to solve
        return np.asarray(motions - a @ ((a.T @ motions) / normal.diagonal()[:, None]))
    return np.asarray(motions - a @ factorize(normal).solve(a.T @ motions))


def described(elements: Elements, free: Array) -> str:
    """The free motions in words, e.g. "translation along x and rotation about z are free"."""
    whole = rigid_motions(elements, elements.mesh.points.mean(axis=0))
    scale = np.linalg.norm(whole, axis=0)
    scale[scale < 1e-9 * scale.max()] = np.inf  # points on one line do not see the rotation about it
    motions, *_ = np.linalg.lstsq(whole / scale, free, rcond=1e-9)
    if np.linalg.norm(whole / scale @ motions - free) > 1e-6 * np.linalg.norm(free):
        return (
            f"{free.shape[1]} rigid motions are free; the mesh is in {pieces(elements)[0]} pieces that share no node "
            "(merged_nodes() ties pieces that touch)"
        )
    moves = elements.axes
    twists = motions / scale[:, None]
    twists[:moves] /= np.abs(np.linalg.norm(whole, axis=0)[moves:]).max() / scale[0]  # lengths in sizes of the part
    left, sizes, right = np.linalg.svd(twists[moves:])
    rank = int(np.sum(sizes > 1e-6 * np.abs(twists).max()))
    turns, shifts = left[:, :rank], twists[:moves] @ right[rank:].T
    words = [
        *(f"translation along {axis}" for axis in _axes(shifts, "xyz"[:moves])),
        *(f"rotation about {axis}" for axis in _axes(turns, "xyz" if moves == 3 else "z")),
    ]
    listed = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
    return f"{listed} {'is' if len(words) == 1 else 'are'} free"


def _axes(space: Array, names: str) -> list[str]:
    """Names of the axes that span a space, or directions where it lies askew."""
    if not space.size:
        return []
    basis = scipy.linalg.orth(space, rcond=1e-6)
    clear = [name for name, row in zip(names, basis, strict=True) if np.linalg.norm(row) > 0.9999]
    if len(clear) == basis.shape[1]:
        return clear
    columns = (basis * np.sign(basis[np.abs(basis).argmax(axis=0), range(basis.shape[1])])).T
    return ["(" + ", ".join(f"{v:.3g}" for v in np.round(column, 3) + 0.0) + ")" for column in columns]
