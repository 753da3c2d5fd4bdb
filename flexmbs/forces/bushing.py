"""Bushings: six elastic and damping directions between two frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import Frame, vector
from flexmbs.errors import ModelError
from flexmbs.forces.force import Force, two_frames
from flexmbs.forces.laws import BUSHING

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Bushing(Force):
    """Spring and damper in six directions: generalised force preload - K x - D x' along x = (e, ψ).

    e is the second origin and ψ the rotation vector of the second frame, both in the first frame's axes, so that the
    elastic part has the potential ½ xᵀ K x at any size of e and any ψ below half a turn.

    Parameters
    ----------
    stiffness, damping : six numbers (the diagonal) or a symmetric 6 x 6 matrix; translations first.
    preload : generalised force at x = 0.
    """

    kind: ClassVar[int] = BUSHING

    frame_i: Frame
    frame_j: Frame
    stiffness: Any
    damping: Any = (0.0,) * 6
    preload: Any = (0.0,) * 6

    def __post_init__(self) -> None:
        super().__post_init__()
        two_frames(self.frame_i, self.frame_j, self.name)
        _ = self.params

    @property
    def frames(self) -> tuple[Frame | None, Frame]:
        """Both."""
        return self.frame_i, self.frame_j

    @property
    def params(self) -> tuple[float, ...]:
        """K, D and preload, flat."""
        k, d = _matrix(self.stiffness, f"{self.name}: stiffness"), _matrix(self.damping, f"{self.name}: damping")
        return (*k.ravel().tolist(), *d.ravel().tolist(), *vector(self.preload, 6, f"{self.name}: preload").tolist())


def _matrix(given: Any, what: str) -> Array:
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape == (6,):
        array = np.diag(array)
    if array.shape != (6, 6) or not np.isfinite(array).all():
        raise ModelError(f"{what} is six numbers or a 6 x 6 matrix, not {given!r}.")
    size = float(np.abs(array).max())
    if not np.allclose(array, array.T, rtol=0, atol=1e-9 * size):
        raise ModelError(f"{what} must be a symmetric matrix: an unsymmetric one would make energy from nothing.")
    if np.linalg.eigvalsh(array).min() < -1e-9 * size:
        raise ModelError(f"{what} must not be negative in any direction.")
    return array
