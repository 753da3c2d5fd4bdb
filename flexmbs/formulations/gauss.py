"""Gauss' principle of least constraint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from flexmbs.equations import Equations, Solution
from flexmbs.errors import SolverError
from flexmbs.formulations.constraints import Constraints
from flexmbs.formulations.formulation import Formulation
from flexmbs.formulations.inertia import mass_root


@dataclass(frozen=True, repr=False)
class Gauss(Formulation):
    """Gauss: of all accelerations with J v' = gamma, those nearest in the M-norm to the free ones M⁻¹ f.

    With M = L Lᵀ: least squares min |Lᵀ v' − L⁻¹ f| under J v' = gamma, by the generalised RQ factorisation. Dense; a
    singular M is filled up by the constraints (`mass_root`).
    """

    def solve(self, equations: Equations) -> Solution:
        """Accelerations, multipliers and reactions at this instant."""
        equations = equations.dense()
        constraints = Constraints.of(equations)
        L = mass_root(constraints)
        rows = constraints.independent_rows
        c = scipy.linalg.solve_triangular(L, equations.f, lower=True)
        if len(rows) == 0:
            return constraints.solution(scipy.linalg.solve_triangular(L, c, lower=True, trans="T"))
        *_, accelerations, info = scipy.linalg.lapack.dgglse(L.T, equations.J[rows], c, equations.gamma[rows])
        if info != 0:
            raise SolverError("least squares under constraints failed: the constraints are nearly redundant here")
        return constraints.solution(accelerations)

    @staticmethod
    def constraint(equations: Equations, accelerations: ArrayLike) -> float:
        """Gauss' constraint ½ v'ᵀM v' − fᵀv' of any accelerations, counted from that of v' = 0."""
        a = np.asarray(accelerations, dtype=float)
        return float(a @ (equations.M @ a) / 2 - equations.f @ a)
