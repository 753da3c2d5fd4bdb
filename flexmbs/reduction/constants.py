"""ModalConstants: what a reduced body's equations of motion need, integrated once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.nullspace.readonly import frozen
from flexmbs.rotations import skew

Array = NDArray[np.float64]

LEVI_CIVITA = np.zeros((3, 3, 3))
"""ε_kij, so that (a × b)_k = ε_kij a_i b_j."""
for _k, _i, _j in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    LEVI_CIVITA[_k, _i, _j], LEVI_CIVITA[_k, _j, _i] = 1.0, -1.0


@dataclass(frozen=True, eq=False)
class ModalConstants:
    """Integrals over the body with u = N d, d reduced coordinates that are orthonormal in the mass (m = 1).

    Attributes
    ----------
    mass : ∫ρ.
    s0 : ∫ρ x (3,).
    second : ∫ρ x xᵀ (3, 3).
    S : ∫ρ N (3, r).
    first : ∫ρ N_i x_j (3, 3, r).
    m : m_ij = ∫ρ N_iᵀ N_j (3, 3, r, r); their trace over i = j is the identity.
    stiffness : K, diagonal (r,): squares of the circular frequencies.
    damping : D, diagonal (r,).

    Plane parts have zeros where the third axis comes in. All arrays are contiguous and read-only.
    """

    mass: float
    s0: Array
    second: Array
    S: Array
    first: Array
    m: Array
    stiffness: Array
    damping: Array

    def __post_init__(self) -> None:
        for name in ("s0", "second", "S", "first", "m", "stiffness", "damping"):
            object.__setattr__(self, name, frozen(np.array(getattr(self, name), dtype=float, order="C")))

    @property
    def size(self) -> int:
        """Number of reduced coordinates r."""
        return len(self.stiffness)

    # ---- rigid rows, with their dependence on deformation

    def s(self, d: ArrayLike) -> Array:
        """First moment of the deformed body, s(d) = ∫ρ (x+u)."""
        return np.asarray(self.s0 + self.S @ np.asarray(d, dtype=float))

    def second_moments(self, d: ArrayLike) -> Array:
        """∫ρ (x+u)(x+u)ᵀ (3, 3)."""
        d = np.asarray(d, dtype=float)
        linear = self.first @ d
        return np.asarray(self.second + linear + linear.T + (self.m @ d) @ d)

    def inertia(self, d: ArrayLike) -> Array:
        """I(d) = ∫ρ (x+u)~ᵀ (x+u)~ about the frame's origin."""
        second = self.second_moments(d)
        return np.asarray(np.trace(second) * np.eye(3) - second)

    def G(self, d: ArrayLike) -> Array:
        """G(d) = ∫ρ (x+u)~ N (3, r)."""
        moments = self.first.transpose(1, 0, 2) + np.asarray(d, dtype=float) @ self.m  # ∫ρ (x+u)_i N_j
        return np.einsum("kij,ijr->kr", LEVI_CIVITA, moments)

    def mixed(self, d: ArrayLike, rate: ArrayLike) -> Array:
        """P = ∫ρ (x+u) u'ᵀ (3, 3); 2∫ρ (x+u)~ω~u' = 2 (tr P ω - Pᵀω), and I(d)' = 2 tr P - P - Pᵀ."""
        rate = np.asarray(rate, dtype=float)
        return np.asarray((self.first @ rate).T + (self.m @ rate) @ np.asarray(d, dtype=float))

    # ---- the elastic row

    def gyroscopic(self, omega: ArrayLike) -> Array:
        """C(ω) = 2∫ρ Nᵀ ω~ N (r, r), skew."""
        return 2 * np.einsum("ij,ijrs->rs", skew(omega), self.m)

    def stiffness_epsilon(self, epsilon: ArrayLike) -> Array:
        """K(ε) = ∫ρ Nᵀ ε~ N (r, r), skew."""
        return np.einsum("ij,ijrs->rs", skew(epsilon), self.m)

    def stiffness_omega(self, omega: ArrayLike) -> Array:
        """K(ω) = ∫ρ Nᵀ ω~ω~ N (r, r), symmetric and not positive."""
        w = skew(omega)
        return np.einsum("ij,ijrs->rs", w @ w, self.m)

    def load_omega(self, omega: ArrayLike) -> Array:
        """q(ω) = ∫ρ Nᵀ ω~ω~ x (r,)."""
        w = skew(omega)
        return np.einsum("ij,ijr->r", w @ w, self.first)

    def load_epsilon(self, epsilon: ArrayLike) -> Array:
        """q(ε) = ∫ρ Nᵀ ε~ x (r,)."""
        return np.einsum("ij,ijr->r", skew(epsilon), self.first)

    @property
    def frequencies(self) -> Array:
        """Frequencies of the reduced coordinates [Hz] (r,)."""
        return np.asarray(np.sqrt(np.maximum(self.stiffness, 0.0)) / (2 * np.pi))
