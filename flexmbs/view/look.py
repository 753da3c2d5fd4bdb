"""One look for all mechanisms: colours, sizes, and the pieces of which pictures are made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.view.scene import Surface
from flexmbs.view.skin import sharp_edges
from flexmbs.view.solids import Solid, sheet

Array = NDArray[np.float64]

COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c7bb8", "#b3a125")
"""Okabe and Ito's colours, told apart by most colour-blind people, two of them changed for use on white."""

STEEL, DARK, GROUND, PALE, EDGE = "#68717a", "#343a40", "#a9b1b8", "#e9ecef", "#3a4047"
PLAIN, OUTLINE = "#c3c9cf", "#878f97"
SPRING, ACCENT, ARROW, LOAD = "#4a5560", "#c2410c", "#b3261e", "#6d28a8"
AXES = ("#c0392b", "#27803b", "#2458a6")


def mixed(color: str, other: str, share: float) -> str:
    """A colour with a share of another in it."""
    a, b = (np.array([int(c[k : k + 2], 16) for k in (1, 3, 5)]) for c in (color, other))
    return "#" + "".join(f"{round(x):02x}" for x in a + share * (b - a))


@dataclass(frozen=True, eq=False)
class Look:
    """How a mechanism is drawn.

    ``width`` [m] is that of a link, all else is in proportion; ``flat``: planar, seen straight on; ``up``: against
    gravity; ``size``: of the mechanism.
    """

    width: float
    size: float
    flat: bool
    up: Array

    @property
    def layer(self) -> float:
        """Height of one planar body over the next."""
        return 0.02 * self.width if self.flat else 0.5 * self.width


@dataclass(frozen=True, eq=False)
class Piece:
    """Something that moves with a body: a solid in body axes with its colour.

    ``lit`` is False for what is flat; ``own`` for what is the body itself rather than a joint on it. On flexible bodies
    ``shapes`` (points, 3, r) are the displacements of its points for the elastic coordinates.
    """

    body: int
    solid: Solid
    color: str
    lit: bool = True
    own: bool = False
    opacity: float = 1.0
    shapes: Array | None = None
    lines: NDArray[np.int64] | None = None

    @cached_property
    def edges(self) -> NDArray[np.int64]:
        """Sharp edges between its points, or the lines that it was given."""
        return sharp_edges(self.solid.points, self.solid.triangles) if self.lines is None else self.lines

    def moved(self, position: Array, rotation: Array, d: Array) -> Array:
        """Its points where the body is, with elastic coordinates d."""
        local = self.solid.points if self.shapes is None else self.solid.points + self.shapes @ d
        return np.asarray(local @ rotation.T + position)

    def at(self, points: Array, color: str | None = None, values: Array | None = None) -> Surface:
        """The piece with its points where they are."""
        return Surface(points, self.solid.triangles, color or self.color, values, self.lit, self.opacity)


def flat_piece(body: int, outline: ArrayLike, height: float, color: str, look: Look, own: bool = False) -> list[Piece]:
    """A flat polygon with a thin dark border (a slightly larger one beneath it)."""
    fill = mixed(color, "#ffffff", 0.22)
    border = grown(np.asarray(outline, dtype=float), 0.055 * look.width)
    beneath = height - 0.3 * look.layer
    return [
        Piece(body, sheet(border, beneath), mixed(color, "#000000", 0.45), lit=False),
        Piece(body, sheet(outline, height), fill, lit=False, own=own),
    ]


def grown(outline: Array, by: float) -> Array:
    """A polygon whose sides are moved outward."""
    x, y = outline.T
    if np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) < 0:
        outline = outline[::-1]
    along = np.roll(outline, -1, axis=0) - outline
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    normal = np.column_stack([along[:, 1], -along[:, 0]])
    both = normal + np.roll(normal, 1, axis=0)
    return np.asarray(outline + by * 2 * both / np.maximum(np.sum(both**2, axis=1, keepdims=True), 0.3))
