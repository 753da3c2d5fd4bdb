"""The equations of motion of one reduced body in its floating frame, energy-consistent with geometric stiffening.

Stiffening is a displacement u2 of second order in d (foreshortening) that keeps the loaded fibres as long as they are.
The potential of a unit load is ½ dᵀK_g d = -f·u2, so that the K_g of the twelve inertia cases are the moments ∫ρ u2 and
∫ρ u2 xᵀ, and that of a unit load on an interface is minus the second-order motion of that interface coordinate. In the
kinetic energy, they give all three block rows at once, with a symmetric mass matrix; energy and momentum are kept
exactly. The square of u2' is left out of the energy, so that M is positive definite for small slopes only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import ModelError
from flexmbs.nullspace.readonly import frozen
from flexmbs.reduction.constants import LEVI_CIVITA, ModalConstants
from flexmbs.reduction.reduced import ReducedPart
from flexmbs.reduction.stiffening import PAIRS
from flexmbs.rotations import skew

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FloatingBody:
    """M(d) y' + h = Q for y = (v, ω, d'), rows and accelerations a = Rᵀp'', ε in body axes.

    ``z`` (3, r, r) and ``Z`` (3, 3, r, r) are the moments of second order, ∫ρ u2_i = ½ dᵀ z_i d and ∫ρ u2_i x_j =
    ½ dᵀ Z_ij d; zero without stiffening.
    """

    constants: ModalConstants
    z: Array
    Z: Array

    def __post_init__(self) -> None:
        for name in ("z", "Z"):
            object.__setattr__(self, name, frozen(np.array(getattr(self, name), dtype=float, order="C")))

    @classmethod
    def of(cls, part: ReducedPart, stiffening: bool = True) -> FloatingBody:
        """The body of a reduced part."""
        r = part.size
        if not stiffening:
            return cls(part.constants, np.zeros((3, r, r)), np.zeros((3, 3, r, r)))
        if len(part.cases.K_g) == 0:
            raise ModelError(f"{part.name}: it was reduced without stiffening; reduce it with stiffening=True.")
        return cls(part.constants, *second_order_moments(part.cases.K_g))

    # ---- the three block rows

    def s(self, d: ArrayLike) -> Array:
        """First moment ∫ρ (x + u + u2)."""
        d = np.asarray(d, dtype=float)
        return self.constants.s(d) + (self.z @ d) @ d / 2

    def inertia(self, d: ArrayLike) -> Array:
        """I(d) about the frame's origin."""
        d = np.asarray(d, dtype=float)
        half = (self.Z @ d) @ d / 2
        second = self.constants.second_moments(d) + half + half.T
        return np.asarray(np.trace(second) * np.eye(3) - second)

    def S(self, d: ArrayLike) -> Array:
        """∂s/∂d (3, r)."""
        return np.asarray(self.constants.S + self.z @ np.asarray(d, dtype=float))

    def G(self, d: ArrayLike) -> Array:
        """Coupling of ω and d' (3, r)."""
        d = np.asarray(d, dtype=float)
        return np.asarray(self.constants.G(d) + np.einsum("kij,jir->kr", LEVI_CIVITA, self.Z @ d))

    def mass_matrix(self, d: ArrayLike) -> Array:
        """M(d) (6 + r, 6 + r), symmetric."""
        c, r = self.constants, self.constants.size
        out = np.eye(6 + r)
        out[:3, :3] = c.mass * np.eye(3)
        out[3:6, :3] = skew(self.s(d))
        out[:3, 3:6] = out[3:6, :3].T
        out[3:6, 3:6] = self.inertia(d)
        out[:3, 6:], out[3:6, 6:] = self.S(d), self.G(d)
        out[6:, :6] = out[:6, 6:].T
        return out

    def bias(self, omega: ArrayLike, d: ArrayLike, rate: ArrayLike) -> Array:
        """h (6 + r,): centrifugal, Coriolis, elastic and damping forces."""
        c = self.constants
        w, d, rate = (np.asarray(x, dtype=float) for x in (omega, d, rate))
        z_rate, Z_rate, Z_d = self.z @ rate, self.Z @ rate, self.Z @ d
        momentum_rate = self.S(d) @ rate
        mixed = c.mixed(d, rate) + (Z_d @ rate).T  # ∫ρ (x+u) u'ᵀ, with u2' on the side of x
        inertia_rate = 2 * np.trace(mixed) * np.eye(3) - mixed - mixed.T
        square = skew(w) @ skew(w)
        out = np.empty(6 + c.size)
        out[:3] = square @ self.s(d) + 2 * np.cross(w, momentum_rate) + z_rate @ rate
        out[3:6] = inertia_rate @ w + np.cross(w, self.inertia(d) @ w + self.G(d) @ rate)
        out[3:6] += np.einsum("kij,ji->k", LEVI_CIVITA, Z_rate @ rate)
        out[6:] = c.gyroscopic(w) @ rate + c.stiffness_omega(w) @ d + c.load_omega(w)
        out[6:] += np.einsum("ij,ijr->r", square, Z_d) + c.stiffness * d + c.damping * rate
        return out

    # ---- what is kept

    def energy(self, v: ArrayLike, omega: ArrayLike, d: ArrayLike, rate: ArrayLike) -> tuple[float, float]:
        """Kinetic and strain energy."""
        y = np.concatenate([np.asarray(x, dtype=float) for x in (v, omega, rate)])
        d = np.asarray(d, dtype=float)
        return float(y @ self.mass_matrix(d) @ y) / 2, float(self.constants.stiffness @ d**2) / 2

    def momentum(self, v: ArrayLike, omega: ArrayLike, d: ArrayLike, rate: ArrayLike) -> tuple[Array, Array]:
        """Momentum, and moment of momentum about the frame's origin, in body axes."""
        y = np.concatenate([np.asarray(x, dtype=float) for x in (v, omega, rate)])
        rows = self.mass_matrix(d)[:6] @ y
        return rows[:3], rows[3:]


def second_order_moments(K_g: Array) -> tuple[Array, Array]:
    """z (3, r, r) and Z (3, 3, r, r) from the geometric stiffness of the inertia cases, K_g (12 or more, r, r)."""
    r = K_g.shape[1]
    Z = np.zeros((3, 3, r, r))
    trace = -K_g[6:9].sum(axis=0) / 2  # each case ω_i² is Y_ii - tr Y
    for case, (i, j) in enumerate(PAIRS):
        if i == j:
            Z[i, i] = K_g[6 + case] + trace
            continue
        k = 3 - i - j
        turn = K_g[3 + k] * LEVI_CIVITA[k, i, j]  # e_k: Y_ji - Y_ij for (i, j, k) in cyclic order
        Z[j, i], Z[i, j] = (K_g[6 + case] + turn) / 2, (K_g[6 + case] - turn) / 2
    return K_g[:3].copy(), Z
