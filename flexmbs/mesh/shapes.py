"""Shape functions φ of every reference cell, from its nodes and the monomials it spans.

The functions are φ = m(ξ) V⁻¹ with V the monomials at the nodes, so that φ_a(ξ_b) = δ_ab by construction.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from flexmbs.mesh.cells import CELLS

Array = NDArray[np.float64]


def shape_values(cell: str, xi: Array) -> Array:
    """Values φ_a at reference points ``xi`` (points, dimension): an array (points, nodes)."""
    values: Array = _monomial_values(cell, np.asarray(xi, dtype=float)) @ _coefficients(cell)
    return values


def shape_gradients(cell: str, xi: Array) -> Array:
    """Derivatives ∂φ_a/∂ξ_k at reference points ``xi``: an array (points, nodes, dimension)."""
    gradients: Array = np.einsum(
        "qmk,ma->qak", _monomial_gradients(cell, np.asarray(xi, dtype=float)), _coefficients(cell)
    )
    return np.ascontiguousarray(gradients)


@cache
def _coefficients(cell: str) -> Array:
    inverse = np.asarray(np.linalg.inv(_monomial_values(cell, CELLS[cell].points)), dtype=np.float64)
    inverse[np.abs(inverse) < 1e-14] = 0.0  # the true coefficients are multiples of 1/8
    return inverse


def _powers(xi: Array, exponents: NDArray[np.int64]) -> Array:
    """ξ^e per direction, with the pyramid's exponent -1 in z read as a power of (1 - z)."""
    base = np.repeat(xi[:, None, :], len(exponents), axis=1)
    if exponents.size and exponents.min() < 0:
        collapsing = exponents[:, 2] < 0
        base[:, collapsing, 2] = 1.0 - base[:, collapsing, 2]
        # xy/(1-z) tends to 0 at the apex, where x and y vanish faster than 1-z.
        base[:, collapsing, 2] = np.where(base[:, collapsing, 2] == 0.0, 1.0, base[:, collapsing, 2])
    powers: Array = base ** exponents.astype(float)
    return powers


def _monomial_values(cell: str, xi: Array) -> Array:
    values: Array = np.prod(_powers(xi, CELLS[cell].monomials), axis=2)
    return values


def _monomial_gradients(cell: str, xi: Array) -> Array:
    exponents = CELLS[cell].monomials
    powers = _powers(xi, exponents)
    out = np.empty((len(xi), *exponents.shape))
    for k in range(exponents.shape[1]):
        lowered = exponents.copy()
        lowered[:, k] = np.where(exponents[:, k] > 0, exponents[:, k] - 1, exponents[:, k] - (exponents[:, k] < 0))
        # d(1-z)⁻¹/dz = +(1-z)⁻², so the factor is |exponent| in both cases
        factors = powers.copy()
        factors[:, :, k] = np.abs(exponents[:, k]) * _powers(xi, lowered)[:, :, k]
        out[:, :, k] = factors.prod(axis=2)
    return out
