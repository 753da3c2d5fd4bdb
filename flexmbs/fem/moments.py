"""Moments of the mass of a part: mass, mass centre and inertia, by the same integrals as its mass matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexmbs.fem.elements import Elements
from flexmbs.fem.rigid import rigid_motions

Array = NDArray[np.float64]


def mass_moments(elements: Elements) -> tuple[float, Array, Array]:
    """Mass m = ∫ρ, mass centre c = ∫ρx / m and inertia J = ∫ρ (x·x 1 - x xᵀ) about the origin of the mesh."""
    if elements.scalar_mass is not None:
        x = elements.mesh.points
        weighted = elements.scalar_mass @ np.column_stack([np.ones(len(x)), x])
        mass, first = weighted[:, 0].sum(), weighted[:, 1:].sum(axis=0)
        second = x.T @ weighted[:, 1:]
        about_origin = np.trace(second) * np.eye(3) - second
    else:  # beams: the kinetic energy of rigid motions, [m, -m c~; m c~, J]
        motions = rigid_motions(elements)
        matrix = motions.T @ (elements.assemble(elements.mass()) @ motions)
        mass = matrix[0, 0]
        first = np.array([matrix[5, 1], matrix[3, 2], matrix[4, 0]])
        about_origin = matrix[3:, 3:]
    center = first / mass if mass > 0 else np.zeros(3)
    return float(mass), center, (about_origin + about_origin.T) / 2
