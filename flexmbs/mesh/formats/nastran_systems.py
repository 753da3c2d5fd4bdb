"""Coordinate systems of Nastran: rectangular, cylindrical and spherical ones by three points (CORD2R, C, S)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import MeshError
from flexmbs.mesh.formats.nastran_cards import Card

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class CoordinateSystems:
    """The systems of a file, by number; 0 is the basic one."""

    def __init__(self) -> None:
        self.cards: dict[int, Card] = {}

    def take(self, card: Card) -> None:
        """Keep a CORD card for when all systems are known."""
        self.cards[card.integer(0)] = card

    def to_basic(self, points: Array, systems: Index, labels: Index, path: Path) -> Array:
        """Points given in the systems of these numbers, in the basic system."""
        out = points.copy()
        for number in np.unique(systems[systems != 0]):
            inside = systems == number
            if number not in self.cards:
                raise MeshError(
                    f"{path}: node {labels[inside][0]} is given in coordinate system {number}, which is not defined."
                )
            out[inside] = self._to_basic(points[inside], int(number), ())
        return out

    def _to_basic(self, points: Array, number: int, above: tuple[int, ...]) -> Array:
        if number == 0:
            return points
        card = self.cards.get(number)
        if card is None:
            raise self.cards[above[-1]].error(f"refers to coordinate system {number}, which is not defined")
        if number in above:
            raise card.error("coordinate systems refer to each other in a circle")
        if card.name not in ("CORD2R", "CORD2C", "CORD2S"):
            raise card.error("nodes in this kind of system are not supported; write them in the basic system or CORD2x")
        defining = np.array([card.number(k) for k in range(2, 11)]).reshape(3, 3)
        origin, on_z, in_xz = self._to_basic(defining, card.integer(1, 0), (*above, number))
        z = on_z - origin
        y = np.cross(z, in_xz - origin)
        if not np.linalg.norm(y) > 0:
            raise card.error("its three points lie on a line")
        axes = np.array([np.cross(y, z), y, z])
        axes /= np.linalg.norm(axes, axis=1)[:, None]
        return origin + _rectangular(points, card.name[-1]) @ axes


def _rectangular(points: Array, kind: str) -> Array:
    """From (r, θ, z) or (r, θ, φ), angles in degrees; θ of spherical systems is measured from the z axis."""
    if kind == "R":
        return points
    r, theta = points[:, 0], np.radians(points[:, 1])
    if kind == "C":
        return np.column_stack([r * np.cos(theta), r * np.sin(theta), points[:, 2]])
    phi = np.radians(points[:, 2])
    return np.column_stack([r * np.sin(theta) * np.cos(phi), r * np.sin(theta) * np.sin(phi), r * np.cos(theta)])
