"""The door to sparse symmetric factorisations: one interface, several solvers.

`multifrontal` is flexmbs' own Cholesky and needs nothing else; `cvxopt` is CHOLMOD from that package's wheel (extra
`cholesky`, GPL); `superlu` is SciPy's LU, slower by far, and the one that takes indefinite matrices.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg as sla

from flexmbs.errors import SolverError
from flexmbs.linalg.checks import Array, as_symmetric
from flexmbs.linalg.dissection import dissect
from flexmbs.linalg.multifrontal import Multifrontal, NotDefiniteError, fill
from flexmbs.linalg.threads import find_libraries_again, one_blas_thread

Solve = Callable[[Array], Array]

REFINEMENTS = 20
DENSE = 200  # up to this many unknowns a dense Cholesky is faster than finding an order


@dataclass(frozen=True)
class Factor:
    """A factorised matrix K: the solver's name, the shape of K and the entries stored for the factor.

    With a `product` x ↦ K x that is more exact than the matrix, solutions are refined until nothing is gained.
    """

    solver: str
    shape: tuple[int, int]
    nnz: int
    backend: Solve
    product: Solve | None = None

    @one_blas_thread
    def solve(self, b: Array) -> Array:
        """Return K⁻¹ b for b of shape (n,) or (n, k)."""
        b = np.asarray(b, dtype=np.float64)
        if b.ndim not in (1, 2) or b.shape[0] != self.shape[0]:
            raise SolverError(f"a right-hand side of shape {b.shape} does not fit K of shape {self.shape}")
        if b.size == 0:
            return np.zeros_like(b)
        x = self.backend(b)
        if self.product is None:
            return x
        last = np.inf
        for _ in range(REFINEMENTS):
            step = self.backend(b - self.product(x))
            size = float(np.linalg.norm(step))
            if not size < 0.5 * last:
                break
            x, last = x + step, size
            if size <= 1e-14 * np.linalg.norm(x):
                break
        return x


def available_solvers() -> tuple[str, ...]:
    """Names of the solvers for positive definite matrices that can be used here, best first."""
    return ("multifrontal", *(["cvxopt"] if find_spec("cvxopt") else []), "superlu")


@one_blas_thread
def factorize(K: Any, *, definite: bool = True, solver: str | None = None, product: Solve | None = None) -> Factor:
    """Factorise a symmetric sparse K once, to solve with it many times.

    K must be positive definite, unless `definite=False` (then SuperLU with pivoting is used). `solver`, or else the
    environment variable FLEXMBS_SOLVER, is one of `available_solvers()`; where none is named, small matrices are
    factorised densely. `product(x)` is K x where it can be had more exactly than from the rounded entries of K:
    solutions are then refined with it.
    """
    matrix = as_symmetric("K", K)
    wanted = solver or os.environ.get("FLEXMBS_SOLVER")
    name = wanted or available_solvers()[0]
    if name not in available_solvers():
        raise SolverError(f"solver '{name}' is not available; there are: {', '.join(available_solvers())}")
    if not definite:
        name = "superlu"
        nnz, backend = _superlu(matrix, definite=False)
    elif matrix.shape[0] <= DENSE and not wanted:
        name = "dense"
        nnz, backend = _dense(matrix)
    elif name == "multifrontal":
        nnz, backend = _multifrontal(matrix)
    elif name == "cvxopt":
        nnz, backend = _cvxopt(matrix)
    else:
        nnz, backend = _superlu(matrix, definite=True)
    factor = Factor(name, matrix.shape, nnz, backend, product)
    # a singular matrix can pass through rounding: its solutions then do not satisfy the equations
    b = np.random.default_rng(7).standard_normal(matrix.shape[0])
    x = backend(b)
    if product is None:
        error = float(np.linalg.norm(matrix @ x - b) / np.linalg.norm(b))
        if not error < 1e-3:
            raise SolverError(_singular(f"the residual of a solve is {error:.1g}"))
    else:  # what counts is that refinement gets nearer
        error = float(np.linalg.norm(backend(b - product(x))) / np.linalg.norm(x))
        if not error < 0.3:
            raise SolverError(_singular(f"a solve is corrected by {error:.1g} of itself"))
    return factor


def _singular(found: str) -> str:
    return (
        f"K is singular or not positive definite ({found}): the part is not held, or a piece of it is loose "
        "(fix or ground it; rigid=True for the modes of a free body), or its stiffness is indefinite (definite=False), "
        "or beams are cut so finely that rounding hides their stiffness (fewer elements)"
    )


def _multifrontal(matrix: sp.csc_matrix) -> tuple[int, Solve]:
    try:
        factor = Multifrontal(matrix)
    except NotDefiniteError as error:
        raise SolverError(_singular(f"the pivot of unknown {error.unknown} is not positive")) from error
    return factor.nnz, factor.solve


def _dense(matrix: sp.csc_matrix) -> tuple[int, Solve]:
    try:
        factor = scipy.linalg.cho_factor(matrix.toarray(), lower=True)
    except scipy.linalg.LinAlgError as error:
        raise SolverError(_singular(str(error))) from error
    return matrix.shape[0] ** 2, lambda b: scipy.linalg.cho_solve(factor, b)


def _cvxopt(matrix: sp.csc_matrix) -> tuple[int, Solve]:
    import cvxopt
    from cvxopt import cholmod

    find_libraries_again()  # the wheel brings a BLAS of its own
    ordering = dissect(matrix)
    lower = sp.tril(matrix, format="coo")
    stored = cvxopt.spmatrix(lower.data, lower.row, lower.col, matrix.shape)
    factor = cholmod.symbolic(stored, p=cvxopt.matrix(ordering.permutation, tc="i"))
    try:
        one_blas_thread(cholmod.numeric)(stored, factor)
    except ArithmeticError as error:
        raise SolverError(_singular(f"pivot {error.args[0]} in elimination order is not positive")) from error

    def solve(b: Array) -> Array:
        x = cvxopt.matrix(b.reshape(len(b), -1))
        cholmod.solve(factor, x)
        return np.array(x).reshape(b.shape)

    return fill(matrix, ordering), solve  # CHOLMOD's own count is not handed out


def _superlu(matrix: sp.csc_matrix, *, definite: bool) -> tuple[int, Solve]:
    order, _ = dissect(matrix)
    rank = np.argsort(order)
    permuted = matrix[order][:, order]
    try:
        lu = sla.splu(
            permuted,
            permc_spec="NATURAL",
            diag_pivot_thresh=0.0 if definite else 0.1,
            options={"SymmetricMode": True},
        )
    except RuntimeError as error:
        raise SolverError(_singular(str(error))) from error
    if definite:
        pivots = lu.U.diagonal()
        if (pivots <= 0).any():
            unknown = order[np.flatnonzero(pivots <= 0)[0]]
            raise SolverError(_singular(f"the pivot of unknown {unknown} is not positive"))
    return int(lu.nnz), lambda b: lu.solve(b[order])[rank]
