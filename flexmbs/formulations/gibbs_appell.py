"""The equations of Gibbs and Appell."""

from __future__ import annotations

from dataclasses import dataclass

import scipy.linalg

from flexmbs.equations import Equations, Solution
from flexmbs.formulations.constraints import Constraints
from flexmbs.formulations.formulation import Formulation
from flexmbs.formulations.inertia import mass_root


@dataclass(frozen=True, repr=False)
class GibbsAppell(Formulation):
    """Gibbs and Appell: the stationary point of G − fᵀv' on J v' = gamma, G = ½ v'ᵀM v' the energy of accelerations.

    The quasi-accelerations y' of v' = A y' + g are chosen orthonormal in M, with g orthogonal to them: G is then a sum
    of squares, and stationary where y' = Aᵀf. Dense; a singular M is filled up by the constraints (`mass_root`).
    """

    def solve(self, equations: Equations) -> Solution:
        """Accelerations, multipliers and reactions at this instant."""
        equations = equations.dense()
        constraints = Constraints.of(equations, "svd")
        L = mass_root(constraints)
        g = constraints.particular
        if constraints.space.A.shape[1] == 0:
            return constraints.solution(g)
        # columns of Lᵀ A orthonormal, then A itself orthonormal in M
        root = scipy.linalg.qr(L.T @ constraints.space.A, mode="economic")[0]
        A = scipy.linalg.solve_triangular(L, root, lower=True, trans="T")
        g = g - A @ (root.T @ (L.T @ g))
        return constraints.solution(A @ (A.T @ equations.f) + g)
