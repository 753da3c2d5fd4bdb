"""Solves with mass matrices: projected ones, and square roots M = L Lᵀ also of a singular M."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from flexmbs.equations import Equations, FloatArray
from flexmbs.errors import SolverError
from flexmbs.formulations.constraints import Constraints, massless, typical_inertia
from flexmbs.linalg import factorize

# Pivots of a symmetric matrix with unit diagonal at most this are taken as zero; also for reciprocal condition numbers.
SINGULAR = 1e-13
# Pivots of M below which M⁻¹ f would cost digits that filling up by the constraints keeps.
NEARLY_SINGULAR = 1e-6


def solve_free(constraints: Constraints, A: Any, force: FloatArray) -> FloatArray:
    """Solve AᵀMA y' = force; SolverError naming the motion if no mass resists it."""
    equations = constraints.equations
    if A.shape[1] == 0:
        return np.zeros(0)
    H = A.T @ equations.M @ A
    if not equations.symmetric:
        y = solve_general(H.toarray() if sp.issparse(H) else H, force)
    elif sp.issparse(H):
        H = (H + H.T) / 2
        try:
            y = factorize(H).solve(force)
        except SolverError:
            y = None
    else:
        L = cholesky((H + H.T) / 2)
        y = None if L is None else scipy.linalg.cho_solve((L, True), force)
    if y is None:
        raise massless(equations, constraints.space, H)
    return y


def solve_general(H: FloatArray, b: FloatArray) -> FloatArray | None:
    """H⁻¹ b with one step of refinement for a square array H; None if H is singular."""
    if not len(b):
        return np.zeros(0)
    lu, order, info = scipy.linalg.lapack.dgetrf(H)
    norm = float(abs(H).sum(axis=0).max())
    if info != 0 or scipy.linalg.lapack.dgecon(lu, norm)[0] <= SINGULAR:
        return None
    x: FloatArray = scipy.linalg.lapack.dgetrs(lu, order, b)[0]
    return x + scipy.linalg.lapack.dgetrs(lu, order, b - H @ x)[0]


def cholesky(H: FloatArray, smallest: float = SINGULAR) -> FloatArray | None:
    """Lower L with H = L Lᵀ; None if H, scaled to unit diagonal, has a pivot not above `smallest`."""
    diagonal = np.diagonal(H)
    if not (diagonal > 0).all():
        return None
    scale = np.sqrt(diagonal)
    L, info = scipy.linalg.lapack.dpotrf(H / np.outer(scale, scale), lower=1, clean=1)
    if info != 0 or np.min(np.diagonal(L) ** 2, initial=1.0) <= smallest:
        return None
    return scale[:, None] * L


def row_weights(equations: Equations) -> FloatArray:
    """Inertia that each constraint row sees, 1/Σ J_ij²/M_jj: makes penalties free of units."""
    J = equations.J
    squares = J.multiply(J) if equations.sparse else J * J
    mobility = np.asarray(squares @ (1.0 / typical_inertia(equations))).ravel()
    return np.where(mobility > 0, 1.0 / np.where(mobility > 0, mobility, 1.0), 0.0)


def mass_root(constraints: Constraints) -> FloatArray:
    """L with M = L Lᵀ for dense equations.

    Where M is singular: that of M + JᵀWJ, which is regular whenever the accelerations are unique (Udwadia and Schutte
    2010). Where J v' = gamma holds, this changes ½ v'ᵀM v' by a constant only, and so no principle of a minimum.
    """
    e = constraints.equations
    if not e.symmetric:
        raise SolverError(
            "this principle minimises a quadratic function of the accelerations and needs a symmetric M, which has "
            f"entries up to {abs(e.M).max():.3g} and differs from Mᵀ by up to {abs(e.M - e.M.T).max():.3g}: "
            "use Maggi() or Multipliers()"
        )
    L = cholesky(e.M, NEARLY_SINGULAR)
    if L is None:
        L = cholesky(e.M + (e.J.T * row_weights(e)) @ e.J)
    if L is None:
        A = constraints.space.A
        raise massless(e, constraints.space, A.T @ e.M @ A)
    return L
