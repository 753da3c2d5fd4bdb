"""Parts that look the same after a turn about an axis: harmonics of their shapes, and coordinates that do not spin.

A turn by α = 2π/N moves a displacement field u(x) to R u(Rᵀx). Fields with n waves around the axis are multiplied by
exp(inα); bending has n = ±1. Where coordinates d span all turned fields, turning by any angle φ is d ↦ exp(φΓ) d.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
import scipy.linalg
from numpy.typing import NDArray

from flexmbs.errors import AnalysisError
from flexmbs.mesh.mesh import Mesh
from flexmbs.reduction.reduced import ReducedPart
from flexmbs.rotations import axis_angle, triad

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

NEAR = 1e-6
"""Distance of a turned node from its image, in sizes of the mesh."""
ON_AXIS = 48
"""Sectors of a part whose nodes all lie on the axis: any number will do."""
SPANNED = 1e-6
"""Part of a turned shape that the coordinates may miss."""
PURE = 1e-3
"""Part of a shape that may belong to other harmonics."""


@dataclass(frozen=True, eq=False)
class Turn:
    """The turn by 2π/``sectors`` that maps a mesh onto itself: node a to ``image[a]``, vectors by ``rotation``."""

    sectors: int
    image: NDArray[np.int64]
    rotation: Array

    def turned(self, fields: Any, dofs_per_node: int) -> Any:
        """Nodal coordinates (n, k) after the turn."""
        axes = 2 if dofs_per_node == 2 else 3
        nodal = np.asarray(fields).reshape(len(self.image), dofs_per_node, -1)
        rotation = self.rotation[:axes, :axes]
        out = np.empty_like(nodal)
        for first in range(0, dofs_per_node, axes):
            out[self.image, first : first + axes] = np.einsum("ij,njk->nik", rotation, nodal[:, first : first + axes])
        return out.reshape(np.shape(fields))


def turn_of(mesh: Mesh, axis: Array, name: str) -> Turn:
    """The smallest turn about an axis through the origin that maps the nodes of a mesh onto each other."""
    across = mesh.points @ triad(axis)  # the third of the triad is the axis
    radius = np.hypot(across[:, 0], across[:, 1])
    near = NEAR * mesh.size
    if radius.max() <= near:
        return Turn(ON_AXIS, np.arange(mesh.n_nodes), axis_angle(axis, 2 * np.pi / ON_AXIS))
    tree = scipy.spatial.cKDTree(mesh.points)
    one = int(np.argmax(radius))
    ring = int(np.sum(np.hypot(radius - radius[one], across[:, 2] - across[one, 2]) < near))
    for sectors in range(ring, 2, -1):
        if ring % sectors == 0:
            rotation = axis_angle(axis, 2 * np.pi / sectors)
            distance, image = tree.query(mesh.points @ rotation.T)
            if distance.max() < near and len(np.unique(image)) == mesh.n_nodes:
                return Turn(sectors, image.astype(np.int64), rotation)
    raise AnalysisError(
        f"{name}: its mesh does not look the same after any turn about the axis {np.round(axis, 3)}, so that it "
        "has no constant equations in coordinates that do not spin. Look at it in the rotating frame, or mesh a body "
        "of revolution in equal sectors (Mesh.cylinder, or beams along the axis)."
    )


def harmonics(turn: Turn, dofs_per_node: int, shapes: Complex, name: str) -> NDArray[np.int64]:
    """Number of waves n (k,) around the axis of complex nodal shapes (coordinates, k), positive if they run forward."""
    turned = turn.turned(shapes, dofs_per_node)
    size = np.sum(np.abs(shapes) ** 2, axis=0)
    factor = np.sum(shapes.conj() * turned, axis=0) / size
    impure = np.abs(np.abs(factor) - 1.0) > PURE
    waves = np.angle(factor) * turn.sectors / (2 * np.pi)
    found = np.round(waves)
    impure |= np.abs(waves - found) > 0.02
    if impure.any():
        raise AnalysisError(
            f"{name}: a mode is not the same in all directions across the axis: sections, supports or attachments "
            "break the symmetry. The rotating frame takes an unsymmetric rotor on symmetric supports; an unsymmetric "
            "rotor on unsymmetric supports has constant equations in neither."
        )
    return found.astype(np.int64)


def elastic_generator(reduced: ReducedPart, axis: Array, name: str) -> Array:
    """Γ (r, r) of turns about an axis: reduced coordinates of the field turned by φ are exp(φΓ) d."""
    turn = turn_of(reduced.mesh, axis, name)
    turned = turn.turned(reduced.basis, reduced.dofs_per_node)
    matrix, *_ = np.linalg.lstsq(reduced.basis, turned, rcond=None)
    missed = np.linalg.norm(turned - reduced.basis @ matrix, axis=0) / np.linalg.norm(turned, axis=0)
    stiffness = reduced.constants.stiffness
    mixed = np.abs(matrix * (stiffness - stiffness[:, None])).max(axis=0) / stiffness
    worst = int(np.argmax(np.maximum(missed, mixed)))
    if max(missed[worst], mixed[worst]) > SPANNED:
        raise AnalysisError(
            f"{name}: coordinate {worst + 1} of {reduced.size} ({reduced.constants.frequencies[worst]:.5g} Hz) "
            "is not among the coordinates any more when turned about the axis: its twin was cut off, or the body is "
            "not axisymmetric. Keep one mode more or fewer, and make sections and supports alike in all directions."
        )
    # the turn is orthogonal, and so is its Schur form diagonal, however often eigenvalues come
    diagonal, vectors = scipy.linalg.schur(matrix, output="complex")
    phase = np.angle(np.diag(diagonal))
    if np.any(np.abs(np.abs(phase) - np.pi) < 1e-6):
        raise AnalysisError(
            f"{name}: {turn.sectors} sectors around the axis do not tell a shape with {turn.sectors // 2} "
            "waves from its mirror image. Mesh more sectors, or keep fewer modes."
        )
    waves = np.round(phase * turn.sectors / (2 * np.pi))
    gamma = ((vectors * (1j * waves)) @ vectors.conj().T).real
    return np.ascontiguousarray((gamma - gamma.T) / 2)
