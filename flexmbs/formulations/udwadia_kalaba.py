"""The explicit equation of Udwadia and Kalaba."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from flexmbs.equations import Equations, Solution
from flexmbs.formulations.constraints import Constraints
from flexmbs.formulations.formulation import Formulation
from flexmbs.formulations.inertia import mass_root
from flexmbs.nullspace import RANK_TOLERANCE


@dataclass(frozen=True, repr=False)
class UdwadiaKalaba(Formulation):
    """Udwadia and Kalaba: v' = a + M^-½ (J M^-½)⁺ (gamma − J a) with the free accelerations a = M⁻¹ f.

    Any root M = L Lᵀ serves as M^½ = Lᵀ. Dense; a singular M is filled up by the constraints (`mass_root`).
    """

    def solve(self, equations: Equations) -> Solution:
        """Accelerations, multipliers and reactions at this instant."""
        equations = equations.dense()
        constraints = Constraints.of(equations)
        L = mass_root(constraints)
        a = scipy.linalg.cho_solve((L, True), equations.f)
        if equations.rows == 0:
            return constraints.solution(a)
        B = scipy.linalg.solve_triangular(L, equations.J.T, lower=True).T
        # unit rows: the pseudo-inverse of a consistent system does not change, its rank decision becomes fair
        size = np.linalg.norm(B, axis=1)
        unit = np.where(size > 0, 1.0 / np.where(size > 0, size, 1.0), 0.0)
        missing = unit * (equations.gamma - equations.J @ a)
        step = scipy.linalg.lstsq(unit[:, None] * B, missing, cond=RANK_TOLERANCE)[0]
        return constraints.solution(a + scipy.linalg.solve_triangular(L, step, lower=True, trans="T"))
