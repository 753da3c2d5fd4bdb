"""Bayo's augmented Lagrangian formulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from flexmbs.equations import Equations, FloatArray, Solution
from flexmbs.errors import ProjectionError, SolverError
from flexmbs.formulations.constraints import Constraints, massless, residuals
from flexmbs.formulations.formulation import Formulation
from flexmbs.formulations.inertia import cholesky, row_weights
from flexmbs.given import number
from flexmbs.linalg import factorize


@dataclass(frozen=True, repr=False)
class AugmentedLagrangian(Formulation):
    """Bayo: (M + JᵀαJ) v' = f + Jᵀ(α gamma + λ), then λ ← λ + α (gamma − J v'), until both equations hold.

    penalty: α of each row in units of the inertia that the row sees; the error falls by about this factor per
    iteration, more slowly for long chains and near redundant rows. tolerance: largest residual relative to its terms.
    Sparse equations stay sparse.
    """

    penalty: float = 1e6
    iterations: int = 50
    tolerance: float = 1e-12

    def __post_init__(self) -> None:
        if not (number(self.penalty) > 0 and number(self.iterations) >= 1 and number(self.tolerance) > 0):
            raise ProjectionError(f"penalty, iterations and tolerance must be positive, got {self!r}")

    def solve(self, equations: Equations) -> Solution:
        """Accelerations, multipliers and reactions at this instant."""
        e, constraints = equations, Constraints.of(equations)
        alpha = self.penalty * row_weights(e)
        solve = _factor(constraints, alpha)
        a, multipliers = np.zeros(e.size), np.zeros(e.rows)
        force, miss = np.array(e.f), np.array(e.gamma)
        error = best = np.inf
        for count in range(1, self.iterations + 1):
            # in increments, so that the rounding of a stiff solve is corrected by the next one
            step = solve(force + e.J.T @ (alpha * miss))
            a += step
            multipliers += alpha * (miss - e.J @ step)
            force, miss = e.f + e.J.T @ multipliers - e.M @ a, e.gamma - e.J @ a
            error = max(residuals(e, a, multipliers))
            if error <= self.tolerance:
                return constraints.solution(a, multipliers, f"converged in {count} iterations")
            best = min(best, error)
        raise SolverError(
            f"the augmented Lagrangian has not converged in {self.iterations} iterations: residual {error:.2g} of the "
            f"terms (best {best:.2g}), asked for {self.tolerance:.2g}. Allow more iterations, raise the penalty "
            f"({self.penalty:.3g}) if the residual was still falling, lower it if it stood still"
        )


def _factor(constraints: Constraints, alpha: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Solver for M + JᵀαJ."""
    e = constraints.equations
    if not e.symmetric:
        raise SolverError("the augmented Lagrangian needs a symmetric M: use Maggi() or Multipliers()")
    if e.size == 0:
        return lambda b: b
    if e.sparse:
        H = e.M + e.J.T @ sp.diags_array(alpha) @ e.J
        try:
            return factorize((H + H.T) / 2).solve
        except SolverError:
            pass
    else:
        L = cholesky(e.M + (e.J.T * alpha) @ e.J)
        if L is not None:
            return lambda b: scipy.linalg.cho_solve((L, True), b)
    A = constraints.space.A
    raise massless(e, constraints.space, A.T @ e.M @ A)
