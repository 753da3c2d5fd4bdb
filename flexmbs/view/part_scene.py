"""One part in pictures: its skin found once, then drawn deformed and coloured as often as wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import AnalysisError
from flexmbs.fem.elements import Elements
from flexmbs.mesh.mesh import Mesh
from flexmbs.view.camera import Camera, Look, camera
from flexmbs.view.look import OUTLINE
from flexmbs.view.scene import Dots, Lines, Panel, Surface
from flexmbs.view.skin import Skin, sharp_edges, skin
from flexmbs.view.units import round_number

Array = NDArray[np.float64]

DEFLECTION = 0.08
"""Largest displacement in a picture with ``scale="auto"``, as part of the mesh's size."""


@dataclass(frozen=True, eq=False)
class PartScene:
    """A part, ready to be drawn with any displacements (nodes, 3) and nodal values."""

    mesh: Mesh

    @cached_property
    def skin(self) -> Skin:
        """What is seen of it."""
        return skin(self.mesh)

    @cached_property
    def rest(self) -> Array:
        """Points of the skin, undeformed."""
        return self.skin.at(self.mesh.points)

    @cached_property
    def sharp(self) -> NDArray[np.int64]:
        """Its sharp edges, or its lines."""
        return self.skin.edges if self.mesh.dimension == 1 else sharp_edges(self.rest, self.skin.triangles)

    def items(self, moved: Array, values: Array) -> tuple[Surface | Lines | Dots, ...]:
        """The part displaced, coloured by values, with its undeformed outline."""
        points, shown = self.skin.at(self.mesh.points + moved), self.skin.at(values)
        outline = Lines(self.rest, self.sharp, "outline", OUTLINE, 1.5)
        if self.mesh.dimension == 1:
            return (outline, Lines(points, self.sharp, "member", width=6.0, values=shown))
        return (
            outline,
            Surface(points, self.skin.triangles, values=shown, closed=self.mesh.dimension == 3),
            Lines(points, self.sharp, "edges", width=1.2),
        )

    def camera(self, displacements: Iterable[Array], look: Look) -> Camera:
        """A camera that sees the part at rest and with each of the displacements."""
        every = [self.rest, *(self.skin.at(self.mesh.points + moved) for moved in displacements)]
        return camera(np.concatenate(every), look, self.mesh.dimension == 2)

    def panels(self, moved: Array, values: Array, title: str, cameras: Sequence[Camera]) -> tuple[Panel, ...]:
        """One panel for each camera."""
        items = self.items(moved, values)
        return tuple(Panel(title, seen, items) for seen in cameras)


def in_space(values: Array, elements: Elements) -> Array:
    """The displacements (nodes, 3) among nodal coordinates."""
    out = np.zeros((len(values), 3), dtype=values.dtype)
    out[:, : elements.axes] = values[:, : elements.axes]
    return out


def largest_phase(shape: NDArray[Any]) -> NDArray[Any]:
    """A complex shape turned to the phase at which its real part is largest."""
    if not np.iscomplexobj(shape):
        return shape
    return np.asarray(shape * np.exp(-0.5j * np.angle(np.sum(shape**2))))


def factor(scale: float | str, largest: float, mesh: Mesh, rounded: bool = True) -> float:
    """How many times too large a displacement is drawn, ``"auto"`` so that the largest can be seen."""
    if isinstance(scale, str):
        if scale != "auto":
            raise AnalysisError(f'scale must be a number or "auto", not {scale!r}.')
        found = DEFLECTION * mesh.size / largest if largest > 0 else 1.0
        return round_number(found) if rounded else found
    if not np.isfinite(scale):
        raise AnalysisError(f'scale must be a number or "auto", not {scale!r}.')
    return float(scale)
