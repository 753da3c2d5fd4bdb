"""Masses and springs to ground on the nodes of a set: elements of one node, beside those of the mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import MaterialError
from flexmbs.fem.block import ElementBlock, ScalarBlock, turning_matrix
from flexmbs.given import array, number
from flexmbs.mesh.integrals import face_geometry
from flexmbs.mesh.mesh import Mesh, Which
from flexmbs.mesh.topology import group_faces

Array = NDArray[np.float64]
Index = NDArray[np.int64]

_CROSS = np.zeros((3, 3, 3))
"""ε_ijk."""
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    _CROSS[_i, _j, _k], _CROSS[_j, _i, _k] = 1.0, -1.0


def is_symmetric(matrix: Array) -> bool:
    """Whether a matrix is symmetric, to rounding of its own entries however small."""
    return bool(np.abs(matrix - matrix.T).max() <= 1e-9 * np.abs(matrix).max())


@dataclass(frozen=True)
class LumpedMass:
    """A mass on the nodes of a set, shared among them by area (equally where the set is no surface).

    ``inertia`` (3 x 3, about the node, body axes) needs nodes that rotate: those of beams.
    """

    nodes: Which
    mass: float
    inertia: ArrayLike | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite(number(self.mass)) and self.mass >= 0):
            raise MaterialError(f"lumped mass on {self.nodes!r}: the mass must be zero or more, not {self.mass}.")
        if self.inertia is not None:
            tensor = array(self.inertia)
            if tensor.shape != (3, 3) or not is_symmetric(tensor):
                raise MaterialError(f"lumped mass on {self.nodes!r}: inertia must be a symmetric (3, 3) matrix.")
            second = 0.5 * np.trace(tensor) * np.eye(3) - tensor
            if np.linalg.eigvalsh(second)[0] < -1e-9 * np.abs(tensor).max():
                raise MaterialError(
                    f"lumped mass on {self.nodes!r}: no body has this inertia (a principal moment exceeds the sum of "
                    "the other two)."
                )


@dataclass(frozen=True)
class GroundSpring:
    """Springs from the nodes of a set to the frame, shared like a LumpedMass.

    ``stiffness``: one number for all directions, one per coordinate of a node (2, 3 or 6), or a symmetric matrix.
    """

    nodes: Which
    stiffness: ArrayLike

    def matrix(self, d: int) -> Array:
        """The stiffness matrix (d, d) of the whole set."""
        given = array(self.stiffness)
        translations = min(d, 3)
        if given.ndim == 0:
            given = np.full(translations, float(given))
        if given.ndim == 1 and len(given) == translations < d:
            given = np.concatenate([given, np.zeros(d - translations)])
        if given.ndim == 1 and d == 2 and len(given) == 3:
            given = given[:2]
        if given.ndim == 1 and len(given) == d:
            given = np.diag(given)
        if not np.isfinite(given).all():
            raise MaterialError(
                f"ground spring on {self.nodes!r}: stiffness must be finite numbers, not {self.stiffness!r}; "
                "hold the nodes with fixed= where they are rigidly held."
            )
        if given.shape != (d, d) or not is_symmetric(given):
            raise MaterialError(
                f"ground spring on {self.nodes!r}: stiffness must be one number, {d} numbers or a symmetric "
                f"({d}, {d}) matrix, not of shape {np.shape(self.stiffness)}."
            )
        if np.linalg.eigvalsh(given)[0] < -1e-12 * np.abs(given).max():
            raise MaterialError(f"ground spring on {self.nodes!r}: the stiffness is negative in some direction.")
        return given


class _Springs:
    """The elastic side of one-node elements: a stiffness matrix each, never stressed."""

    matrices: Array  # (elements, d, d)

    def stiffness(self) -> Array:
        """The springs' stiffness."""
        return self.matrices

    def geometric(self, stress: Array) -> Array:
        """None: a point has no stress."""
        return np.zeros_like(self.matrices)

    def stress_state(self, displacement: Array) -> Array:
        """Nothing: a point has no stress."""
        return np.zeros((len(self.matrices), 1, 0))


class LumpedPoints(_Springs, ScalarBlock):
    """Point masses and springs on nodes with displacements only."""

    type = "vertex"

    def __init__(self, nodes: Index, points: Array, masses: Array, springs: Array) -> None:
        self.cells, self.points, self.masses, self.matrices = nodes[:, None], points, masses, springs
        self.dofs = self.axes = springs.shape[1]

    def scalar_mass(self) -> Array:
        """The masses, as (elements, 1, 1)."""
        return self.masses[:, None, None]


class LumpedBodies(_Springs, ElementBlock):
    """Small rigid bodies and springs on nodes that also rotate: N = [I, -r~] for a point r from the node."""

    type = "vertex"
    dofs = 6
    axes = 3

    def __init__(self, nodes: Index, points: Array, masses: Array, inertias: Array, springs: Array) -> None:
        self.cells, self.points, self.masses, self.matrices = nodes[:, None], points, masses, springs
        trace = np.trace(inertias, axis1=1, axis2=2)
        self.second = 0.5 * trace[:, None, None] * np.eye(3) - inertias  # ∫ρ r rᵀ

    def inertia(self, g: Array) -> Array:
        """Σ_ij G_ij m_ij; the row of N for the rotation is (r × e_i)ᵀ."""
        out = np.zeros((len(self.masses), 6, 6))
        out[:, :3, :3] = self.masses[:, None, None] * g
        out[:, 3:, 3:] = np.einsum("ij,pki,qlj,ekl->epq", g, _CROSS, _CROSS, self.second, optimize=True)
        return out

    def inertia_load(self, w: Array) -> Array:
        """Σ_ij W_ij ∫ρ N_iᵀ x_j."""
        out = np.zeros((len(self.masses), 6))
        out[:, :3] = self.masses[:, None] * (self.points[self.cells[:, 0]] @ w.T)
        out[:, 3:] = np.einsum("ij,pki,ekj->ep", w, _CROSS, self.second)
        return out

    def turning(self, w: Array) -> Array:
        """H of the second moments about the node."""
        out = np.zeros((len(self.masses), 6, 6))
        out[:, 3:, 3:] = turning_matrix(self.second, w)
        return out

    def origin(self) -> Array:
        """m_O = [m I; 0]."""
        out = np.zeros((len(self.masses), 6, 3))
        out[:, :3] = self.masses[:, None, None] * np.eye(3)
        return out


def positive_shares(mesh: Mesh, which: Which) -> Array:
    """Shares of the nodes of a set in its area, none below zero, summing to 1, in the order of ``mesh.nodes``.

    The exact share ∫φ_a dA is negative at the corners of quadratic quadrilateral faces, and no mass is; there each
    face is shared in the ratios of ∫φ_a² dA (Hinton, Rock and Zienkiewicz 1976).
    """
    share = mesh.weights(which)
    if share.min(initial=0.0) >= -1e-12:
        return np.maximum(share, 0.0)
    totals = np.zeros(mesh.n_nodes)
    for kind, nodes in group_faces(mesh.cells, mesh.faces(which)):
        values, _, normal = face_geometry(mesh.points, kind, nodes)
        area = np.linalg.norm(normal, axis=2)
        squares = np.einsum("qa,eq->ea", values**2, area)
        np.add.at(totals, nodes, squares / squares.sum(axis=1, keepdims=True) * area.sum(axis=1, keepdims=True))
    chosen: Array = totals[mesh.nodes(which)]
    return chosen / chosen.sum()


def lumped_block(mesh: Mesh, d: int, attachments: Sequence[LumpedMass | GroundSpring]) -> ElementBlock | None:
    """One block of all masses and springs, one element per node and attachment."""
    nodes, masses, inertias, springs = [], [], [], []
    for item in attachments:
        if not isinstance(item, LumpedMass | GroundSpring):
            raise MaterialError(f"attachments are LumpedMass and GroundSpring, not {type(item).__name__}.")
        chosen, share = mesh.nodes(item.nodes), positive_shares(mesh, item.nodes)
        if not len(chosen):
            raise MaterialError(f"{type(item).__name__}: the set of nodes given is empty; check the selection.")
        mass, inertia, spring = 0.0, np.zeros((3, 3)), np.zeros((d, d))
        if isinstance(item, GroundSpring):
            spring = item.matrix(d)
        else:
            mass = item.mass
            inertia = np.zeros((3, 3)) if item.inertia is None else np.asarray(item.inertia, dtype=float)
        if inertia.any() and d != 6:
            raise MaterialError(
                f"lumped mass on {item.nodes!r}: the nodes of this mesh do not rotate, so it can have no inertia; "
                "spread the mass over several nodes instead."
            )
        nodes.append(chosen)
        masses.append(share * mass)
        inertias.append(share[:, None, None] * inertia)
        springs.append(share[:, None, None] * spring)
    if not nodes:
        return None
    every = np.concatenate(nodes).astype(np.int64)
    if d == 6:
        return LumpedBodies(
            every, mesh.points, np.concatenate(masses), np.concatenate(inertias), np.concatenate(springs)
        )
    return LumpedPoints(every, mesh.points, np.concatenate(masses), np.concatenate(springs))
