"""Mass, mass centre and inertia of a part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.analyses.statics import as_elements
from flexmbs.fem.elements import Elements
from flexmbs.fem.moments import mass_moments
from flexmbs.mesh.mesh import Mesh
from flexmbs.nullspace.readonly import frozen
from flexmbs.results.saving import Saved

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MassProperties(Saved):
    """Mass [kg], mass centre [m], inertia about it and about the mesh origin [kg m²], in the axes of the mesh."""

    mass: float
    center: Array
    inertia: Array
    inertia_origin: Array

    def __post_init__(self) -> None:
        for array in (self.center, self.inertia, self.inertia_origin):
            frozen(array)

    @property
    def principal(self) -> tuple[Array, Array]:
        """Principal moments about the mass centre, smallest first, and the axes as columns of a rotation."""
        moments, axes = np.linalg.eigh(self.inertia)
        if np.linalg.det(axes) < 0:
            axes = axes * [1.0, 1.0, -1.0]
        return moments, axes


def mass_properties(model: Mesh | Elements, material: Any = None, **options: Any) -> MassProperties:
    """Mass properties of a part: a Mesh with its material (and options as for Elements), or Elements."""
    elements = as_elements(model, material, options)
    mass, center, about_origin = mass_moments(elements)
    inertia = about_origin - mass * (center @ center * np.eye(3) - np.outer(center, center))
    return MassProperties(mass, center, inertia, about_origin)
