"""What all formulations share about J v' = gamma: rank, particular solution, least multipliers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from flexmbs.equations import Equations, FloatArray, IntArray, Solution
from flexmbs.errors import SolverError
from flexmbs.linalg import factorize
from flexmbs.nullspace import NullSpace, null_space
from flexmbs.nullspace.nullspace import Method, listed

# Residuals above this, relative to the terms they are the difference of, are no longer rounding.
LOST = 1e-6


@dataclass(frozen=True, eq=False)
class Constraints:
    """The constraint rows of `equations`: null space A, and a particular g with J g = gamma."""

    equations: Equations
    space: NullSpace
    particular: FloatArray

    @classmethod
    def of(cls, equations: Equations, method: Method | None = None) -> Constraints:
        """Decide the rank of J; raises ProjectionError naming the rows if they contradict each other."""
        space = null_space(equations.J, method or ("partition" if equations.sparse else "qr"))
        return cls(equations, space, space.particular(-equations.gamma, equations.labels))

    @property
    def independent_rows(self) -> IntArray:
        """Rows of J that are left when the redundant ones are dropped."""
        return np.setdiff1d(np.arange(self.equations.rows), self.space.redundant)

    def least(self, multipliers: FloatArray) -> FloatArray:
        """The least λ with the same Jᵀλ: what lies in the null space of Jᵀ is taken off."""
        redundant = self.space.redundant
        if not len(redundant):
            return multipliers
        # J_r = W J_i, so the rows of [−W, E] span the null space of Jᵀ
        J, inverse = self.space.J, self.space.inverse
        if isinstance(inverse, np.ndarray) or sp.issparse(inverse):
            weights = J[redundant] @ inverse
        else:  # a product of sparse factors, which takes one row at a time
            weights = sp.csr_array(np.stack([J[[k]].toarray()[0] @ inverse for k in redundant]))
        unit = (np.ones(len(redundant)), (np.arange(len(redundant)), redundant))
        unit = sp.csr_array(unit, shape=(len(redundant), self.equations.rows))
        if sp.issparse(weights):
            N = sp.csr_array(unit - weights)
            return multipliers - N.T @ factorize(N @ N.T).solve(N @ multipliers)
        Q = scipy.linalg.qr((unit - weights).T, mode="economic")[0]
        return multipliers - Q @ (Q.T @ multipliers)

    def solution(
        self, accelerations: FloatArray, multipliers: FloatArray | None = None, outcome: str = "solved"
    ) -> Solution:
        """The solution with these accelerations, and λ from Jᵀλ = M v' − f unless it is given; both are checked."""
        e = self.equations
        needed = e.M @ accelerations - e.f
        if multipliers is None:
            multipliers = needed @ self.space.inverse
        multipliers = self.least(multipliers)
        balance, missed = residuals(e, accelerations, multipliers)
        if not max(balance, missed) < LOST:
            raise SolverError(
                f"the equations are too ill-conditioned: M v' = f + Jᵀλ is missed by {balance:.2g} and J v' = gamma by "
                f"{missed:.2g} of their terms. Look for masses or lengths of very different size, or a position in "
                "which constraints are nearly redundant"
            )
        return Solution(
            accelerations=np.array(accelerations, dtype=float),
            multipliers=np.array(multipliers, dtype=float),
            reactions=np.asarray(e.J.T @ multipliers, dtype=float),
            rank=self.space.rank,
            redundant=self.space.redundant,
            outcome=outcome,
        )


def typical_inertia(equations: Equations) -> FloatArray:
    """Diagonal of M, positive also where a coordinate carries no mass: scales for coordinates of mixed units."""
    diagonal = abs(equations.M.diagonal())
    largest = float(np.max(diagonal, initial=0.0))
    return np.maximum(diagonal, 1e-6 * largest) if largest > 0 else np.ones(equations.size)


def residuals(equations: Equations, accelerations: FloatArray, multipliers: FloatArray) -> tuple[float, float]:
    """By how much M v' = f + Jᵀλ and J v' = gamma are missed, relative to the terms they are made of.

    Accelerations are differences of free accelerations and corrections: where they nearly cancel, rounding is measured
    by the larger of the two, in the energy norm.
    """
    e, root = equations, np.sqrt(typical_inertia(equations))
    force = e.M @ accelerations - e.f - e.J.T @ multipliers
    terms = abs(e.M) @ abs(accelerations) + abs(e.f) + abs(e.J.T) @ abs(multipliers)
    balance = np.max(abs(force) / root, initial=0.0)
    largest = np.max(terms / root, initial=0.0)
    size = np.max(np.maximum(root * abs(accelerations), abs(e.f) / root), initial=0.0) / root
    miss, terms = abs(e.J @ accelerations - e.gamma), abs(e.J) @ size + abs(e.gamma)
    missed = np.max(miss / np.where(terms > 0, terms, 1.0), initial=0.0)
    return float(balance / largest if largest > 0 else 0.0), float(missed)


def massless(equations: Equations, space: NullSpace, H: Any) -> SolverError:
    """The error for a singular H = AᵀMA: a motion that the constraints leave free and no mass resists."""
    where = ""
    if 0 < H.shape[0] <= 500:
        H = H.toarray() if sp.issparse(H) else H
        motion = space.A @ scipy.linalg.eigh((H + H.T) / 2, subset_by_index=[0, 0])[1][:, 0]
        moving = np.flatnonzero(abs(motion) > 0.1 * abs(motion).max()).tolist()
        where = f": nothing resists a motion of {listed(moving, lambda k: f'v[{k}]')}"
    return SolverError(
        f"the accelerations are not unique{where} (the mass matrix is singular or not positive on the "
        f"{equations.size - space.rank} free motions). Give mass or inertia to what moves there, or constrain it"
    )
