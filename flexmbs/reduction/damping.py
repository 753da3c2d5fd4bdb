"""Damping of a reduced body: diagonal in coordinates that are orthonormal in the mass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import ModelError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rayleigh:
    """D = mass · M + stiffness · K [1/s, s]: damping ratios mass/(2ω) + stiffness ω/2.

    ``mass`` resists motion against the floating frame, not that of the frame itself.
    """

    mass: float = 0.0
    stiffness: float = 0.0

    def __post_init__(self) -> None:
        for what, value in (("mass", self.mass), ("stiffness", self.stiffness)):
            if not (np.isfinite(value) and value >= 0):
                raise ModelError(f"Rayleigh: {what} must be zero or more, not {value!r}.")

    @classmethod
    def of_ratios(cls, first: tuple[float, float], second: tuple[float, float]) -> Rayleigh:
        """The damping with given ratios at two frequencies: (Hz, ratio) each."""
        (f1, z1), (f2, z2) = first, second
        if not (f1 > 0 and f2 > 0 and f1 != f2):
            raise ModelError(f"Rayleigh: two different frequencies are needed, not {f1} and {f2} Hz.")
        w1, w2 = 2 * np.pi * f1, 2 * np.pi * f2
        mass, stiffness = np.linalg.solve([[0.5 / w1, 0.5 * w1], [0.5 / w2, 0.5 * w2]], [z1, z2])
        return cls(float(mass), float(stiffness))


@dataclass(frozen=True)
class ModalDamping:
    """Damping ratios ζ of the reduced coordinates: one for all, or one each (the last for those that follow).

    The coordinates are the modes of the part as its frame (or what is fixed) holds it. In a mechanism that holds it
    otherwise, modes have other ratios; those of ``Rayleigh(stiffness=...)`` depend on their frequencies only.
    """

    ratios: float | ArrayLike

    def __post_init__(self) -> None:
        given = np.atleast_1d(np.asarray(self.ratios, dtype=float))
        if given.ndim != 1 or not len(given) or not (np.isfinite(given).all() and (given >= 0).all()):
            raise ModelError(f"ModalDamping: ratios must be zero or more, not {self.ratios!r}.")


def damping_coefficients(given: Any, stiffness: Array, name: str) -> Array:
    """Diagonal of D (r,) from Rayleigh, ModalDamping, one damping ratio, or None."""
    if given is None:
        return np.zeros(len(stiffness))
    if isinstance(given, Rayleigh):
        return np.asarray(given.mass + given.stiffness * stiffness)
    if isinstance(given, int | float | np.floating) and not isinstance(given, bool):
        given = ModalDamping(float(given))
    if not isinstance(given, ModalDamping):
        raise ModelError(f"{name}: damping= is Rayleigh, ModalDamping or one damping ratio, not {given!r}.")
    ratios = np.atleast_1d(np.asarray(given.ratios, dtype=float))
    if len(ratios) > len(stiffness):
        raise ModelError(f"{name}: {len(ratios)} damping ratios for {len(stiffness)} coordinates; give fewer.")
    every = np.concatenate([ratios, np.full(len(stiffness) - len(ratios), ratios[-1])])
    return np.asarray(2 * every * np.sqrt(np.maximum(stiffness, 0.0)))
