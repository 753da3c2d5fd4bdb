"""Rotations in space: skew matrices and rotations about an axis."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def skew(a: ArrayLike) -> Array:
    """The matrix a~ with a~ b = a × b."""
    x, y, z = np.asarray(a, dtype=float)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def axis_angle(axis: ArrayLike, angle: float) -> Array:
    """The matrix that turns by ``angle`` [rad] about ``axis`` (any length), by Rodrigues' formula."""
    n = np.asarray(axis, dtype=float)
    s = skew(n / np.linalg.norm(n))
    return np.eye(3) + np.sin(angle) * s + (1 - np.cos(angle)) * s @ s
