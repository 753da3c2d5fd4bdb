"""From where a part is looked at: an orthographic camera as a rotation, the same for every renderer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import AnalysisError
from flexmbs.rotations import triad

Array = NDArray[np.float64]

_NAMED = {
    "x": (1.0, 0.0, 0.0),
    "y": (0.0, 1.0, 0.0),
    "z": (0.0, 0.0, 1.0),
    "-x": (-1.0, 0.0, 0.0),
    "-y": (0.0, -1.0, 0.0),
    "-z": (0.0, 0.0, -1.0),
    "xyz": (0.6, 0.45, 0.55),
}
"""Directions by name: along an axis, or from a corner."""


@dataclass(frozen=True, eq=False)
class Camera:
    """An orthographic camera; the rows of ``axes`` point right, up and towards the viewer, from ``center``."""

    axes: Array
    center: Array
    width: float
    height: float

    def project(self, points: Array) -> Array:
        """Screen coordinates (right, up) and height towards the viewer, seen from the centre, (points, 3)."""
        return np.asarray((points - self.center) @ self.axes.T)

    def fitted(self, aspect: float, margin: float = 1.06) -> Camera:
        """The same view with width / height = aspect, everything in it."""
        height = margin * max(self.height, self.width / aspect, 1e-12)
        return Camera(self.axes, self.center, height * aspect, height)


Look = str | ArrayLike | None
"""A direction to the viewer: a vector, the name of an axis, or None for the one that shows most."""


def direction(look: str | ArrayLike) -> Array:
    """The vector from what is seen to the viewer, of a vector or of "x", "-y", ..., "xyz" (from a corner)."""
    if isinstance(look, str):
        if look in _NAMED:
            return np.array(_NAMED[look])
        raise AnalysisError(f"look= is one of {', '.join(map(repr, _NAMED))} or a vector (x, y, z), not {look!r}.")
    try:
        toward = np.asarray(look, dtype=float)
    except (TypeError, ValueError):
        toward = np.zeros(0)
    if toward.shape != (3,) or not np.isfinite(toward).all() or not np.linalg.norm(toward) > 0:
        raise AnalysisError(f"look= must be a vector (x, y, z) from the part to the viewer, not {look!r}.")
    return toward


def views(look: Look | Sequence[Look]) -> list[Look]:
    """The directions asked for, one or several: a list (not an array) of strings, vectors and None is several."""
    if isinstance(look, list) and (not look or not all(isinstance(x, int | float) for x in look)):
        if not look:
            raise AnalysisError("look=[] shows nothing; give a direction, or several, e.g. look=['x', 'y', 'xyz'].")
        return [one if one is None else direction(one) for one in look]
    return [look if look is None else direction(look)]  # type: ignore[arg-type]


def camera(points: Array, look: Look, plane: bool, up: Array | None = None) -> Camera:
    """A camera that sees all points, from the direction ``look``, by default from before the part's flattest side.

    ``up`` is the direction that stands upright in the picture, by default z, or y where z points at the viewer.
    """
    by_default = look is None and not plane
    toward = _toward(points, up) if by_default else direction("z" if look is None else look)
    toward = toward / np.linalg.norm(toward)
    if up is None or np.linalg.norm(np.cross(up, toward)) < 0.3:
        up = np.array([0.0, 0.0, 1.0]) if abs(toward[2]) < 0.75 else np.array([0.0, 1.0, 0.0])
    right = np.cross(up, toward)
    right /= np.linalg.norm(right)
    axes = np.vstack([right, np.cross(toward, right), toward])
    on_screen = points @ axes.T
    low, high = on_screen.min(axis=0), on_screen.max(axis=0)
    width, height, _ = high - low
    return Camera(axes, (low + high) / 2 @ axes, float(width), float(height))


def around(cameras: Sequence[Camera]) -> Camera:
    """One camera that sees what all of some see, all of them looking from one direction."""
    axes = cameras[0].axes
    middles = np.array([axes @ c.center for c in cameras])
    half = np.array([[c.width / 2, c.height / 2, 0.0] for c in cameras])
    low, high = (middles - half).min(axis=0), (middles + half).max(axis=0)
    return Camera(axes, (low + high) / 2 @ axes, *map(float, (high - low)[:2]))


def _toward(points: Array, up: Array | None) -> Array:
    """The default direction to the viewer, in axes whose third points up."""
    if up is None:
        return _default(np.ptp(points, axis=0))
    axes = np.eye(3) if up[2] > 0.9 else triad(up)
    if abs(up[1]) > 0.9:  # y up: x to the right, z to the viewer
        axes = np.column_stack([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    toward = _default(np.ptp(points @ axes, axis=0))
    if toward[2] > 0.8:  # it lies flat: still seen from the side, as people see floors
        toward = np.array([0.38, -0.72, 0.58])
    return np.asarray(axes @ toward)


def _default(extent: Array) -> Array:
    """Mostly along the shortest side of the bounding box, from the front, from above."""
    thin = 2 if extent[2] < 0.8 * min(extent[:2]) else int(np.argmin(extent[:2] - [0.0, 0.2 * extent[1]]))
    return np.array([(0.8, -0.45, 0.4), (0.4, -0.8, 0.45), (0.32, 0.42, 0.85)][thin])
