"""Rigid motions of a part as nodal coordinates: which there are, and which its supports leave free."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from flexmbs.fem.elements import Elements
from flexmbs.linalg import factorize
from flexmbs.projection import Projection

Array = NDArray[np.float64]


def rigid_motions(elements: Elements, about: Array | None = None) -> Array:
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
    the border rows, and stretches no spring.
    """
    motions = piecewise_rigid_motions(elements)
    a = supports.matrix
    a = sp.csr_array(a) if not isinstance(a, np.ndarray) else a
    inside = a.T @ motions
    left = motions - a @ factorize(sp.csc_array(a.T @ a)).solve(inside)
    gram = left.T @ left
    if border is not None:
        norms = sp.linalg.norm(border, axis=1)
        rows = sp.diags_array(1.0 / norms) @ border @ motions
        gram += rows.T @ rows
    if elements.attachments:
        lumped = elements.blocks[-1]
        d = elements.dofs_per_node
        at = motions.reshape(-1, d, motions.shape[1])[lumped.cells[:, 0]]
        springs = np.einsum("eim,eij,ejn->mn", at, lumped.stiffness(), at)
        gram += springs / max(np.abs(lumped.stiffness()).max(), 1e-300)
    values, vectors = scipy.linalg.eigh(gram)
    return np.asarray(motions @ vectors[:, values < 1e-12 * max(1.0, values[-1])])


def described(elements: Elements, free: Array) -> str:
    """The free motions in words, e.g. "translation along x and rotation about z"."""
    plane = elements.dofs_per_node == 2
    words = (
        ["translation along x", "translation along y", "rotation about z"]
        if plane
        else [f"translation along {k}" for k in "xyz"] + [f"rotation about {k}" for k in "xyz"]
    )
    whole = rigid_motions(elements, elements.mesh.points.mean(axis=0))
    whole = whole / np.linalg.norm(whole, axis=0)
    basis = np.linalg.qr(free)[0]
    share = np.linalg.norm(basis.T @ whole, axis=0)
    clear = [w for w, s in zip(words, share, strict=True) if s > 0.999]
    if len(clear) == free.shape[1]:
        return " and ".join(clear)
    return f"{free.shape[1]} rigid motions, mostly " + ", ".join(
        w for w, s in zip(words, share, strict=True) if s > 0.3
    )
