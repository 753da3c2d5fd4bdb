"""Lagrange's equations of the first kind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from flexmbs.equations import Equations, FloatArray, Solution
from flexmbs.errors import SolverError
from flexmbs.formulations.constraints import Constraints, massless, typical_inertia
from flexmbs.formulations.formulation import Formulation
from flexmbs.formulations.inertia import row_weights, solve_general
from flexmbs.linalg import factorize


@dataclass(frozen=True, repr=False)
class Multipliers(Formulation):
    """Lagrange multipliers: the saddle point [M Jᵀ; J 0] [v'; −λ] = [f; gamma].

    Redundant rows are left out of it, and get their share of λ afterwards. Sparse equations stay sparse.
    """

    def solve(self, equations: Equations) -> Solution:
        """Accelerations, multipliers and reactions at this instant."""
        constraints = Constraints.of(equations)
        rows = constraints.independent_rows
        # v' = D u, λ = R μ: without units, and the diagonal of M and the rows of J near one
        D = 1.0 / np.sqrt(typical_inertia(equations))
        R = np.sqrt(row_weights(equations)[rows])
        J = equations.J[rows]
        b = np.concatenate([D * equations.f, R * equations.gamma[rows]])
        x: FloatArray | None
        if equations.sparse and equations.symmetric:
            D_, R_ = sp.diags_array(D), sp.diags_array(R)
            B = R_ @ J @ D_
            M = D_ @ equations.M @ D_
            saddle = sp.block_array([[(M + M.T) / 2, B.T], [B, None]], format="csc") if len(rows) else M
            try:
                x = factorize(saddle, definite=False).solve(b)
            except SolverError:
                x = None
        else:
            dense = equations.dense()
            B = R[:, None] * dense.J[rows] * D
            x = solve_general(np.block([[D[:, None] * dense.M * D, B.T], [B, np.zeros((len(rows),) * 2)]]), b)
        if x is None:
            A = constraints.space.A
            raise massless(equations, constraints.space, A.T @ equations.M @ A)
        multipliers = np.zeros(equations.rows)
        multipliers[rows] = -R * x[equations.size :]
        return constraints.solution(D * x[: equations.size], multipliers)
