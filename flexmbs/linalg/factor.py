"""The door to sparse symmetric factorisations: best available solver, one interface."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from flexmbs.errors import SolverError

Array = NDArray[np.float64]
Solve = Callable[[Array], Array]

NOT_DEFINITE = (
    "the matrix is not positive definite ({found}): the part is not held (fix or ground it, or ask for the "
    "modes of a free body), or its stiffness is indefinite (use definite=False)"
)


@dataclass(frozen=True)
class Factor:
    """A factorised matrix K: `solve(b)` gives K⁻¹ b for a vector (n,) or for columns (n, k)."""

    solver: str
    shape: tuple[int, int]
    nnz: int
    backend: Solve

    def solve(self, b: Array) -> Array:
        """Return K⁻¹ b for b of shape (n,) or (n, k)."""
        b = np.asarray(b, dtype=np.float64)
        if b.ndim not in (1, 2) or b.shape[0] != self.shape[0]:
            raise SolverError(
                f"right-hand side of shape {b.shape} does not fit a matrix of shape {self.shape}"
            )
        if b.size == 0:
            return np.zeros_like(b)
        # one BLAS thread: two make the many small dense products of triangular solves slower
        with threadpool_limits(1):
            return self.backend(b)


def as_symmetric(name: str, matrix: Any, *, size: int | None = None) -> sp.csc_matrix:
    """Return a real symmetric sparse matrix in CSC form, or raise a SolverError that names it."""
    if np.iscomplexobj(matrix):
        raise SolverError(f"{name} is complex: only real symmetric matrices are taken")
    matrix = as_square(name, matrix, size=size)
    rng = np.random.default_rng(7)
    y, z = rng.standard_normal((2, matrix.shape[0]))
    # yᵀKz = zᵀKy for random y, z: as sharp as comparing with the transpose, and much cheaper
    skew = abs(y @ (matrix @ z) - z @ (matrix @ y))
    if skew > 1e-9 * np.linalg.norm(matrix.data):
        raise SolverError(
            f"{name} ({matrix.shape[0]} × {matrix.shape[1]}) is not symmetric: yᵀ{name}z − zᵀ{name}y = {skew:.3g} "
            f"for random y, z; use ({name} + {name}ᵀ)/2 if the difference is rounding"
        )
    return matrix


def as_square(name: str, matrix: Any, *, size: int | None = None) -> sp.csc_matrix:
    """Return a finite square float64 matrix in CSC form, or raise a SolverError that names it."""
    matrix = sp.csc_matrix(matrix, dtype=np.float64)
    rows, columns = matrix.shape
    if rows != columns or rows == 0:
        raise SolverError(f"{name} must be square and not empty; its shape is {rows} × {columns}")
    if size is not None and rows != size:
        raise SolverError(f"{name} is {rows} × {columns} but {size} × {size} is needed")
    if not np.isfinite(matrix.data).all():
        bad = int(np.flatnonzero(~np.isfinite(matrix.data))[0])
        row = int(matrix.indices[bad])
        raise SolverError(f"{name} has entries that are not finite (NaN or infinite), the first in row {row}")
    matrix.sum_duplicates()
    return matrix


def _superlu(matrix: sp.csc_matrix, definite: bool) -> tuple[int, Solve]:
    options = {"SymmetricMode": True}
    try:
        lu = sla.splu(
            matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0 if definite else 0.1, options=options
        )
    except RuntimeError as error:
        raise SolverError(
            f"the matrix is singular ({error}): the part is not held, or held too little"
        ) from error
    if definite:
        pivots = lu.U.diagonal()
        if not (pivots > 0).all() or not np.array_equal(lu.perm_r, lu.perm_c):
            raise SolverError(
                NOT_DEFINITE.format(found=f"{int((pivots <= 0).sum())} pivots are not positive")
            )
    return int(lu.nnz), lu.solve


def _cvxopt(matrix: sp.csc_matrix) -> tuple[int, Solve]:
    import cvxopt
    from cvxopt import cholmod

    lower = sp.tril(matrix, format="coo")
    stored = cvxopt.spmatrix(lower.data, lower.row, lower.col, matrix.shape)
    factor = cholmod.symbolic(stored)
    try:
        cholmod.numeric(stored, factor)
    except ArithmeticError as error:
        raise SolverError(NOT_DEFINITE.format(found=f"column {error.args[0]} of the factor")) from error

    def solve(b: Array) -> Array:
        x = cvxopt.matrix(np.asfortranarray(b.reshape(len(b), -1)))
        cholmod.solve(factor, x)
        return np.array(x).reshape(b.shape)

    return 0, solve


def _sksparse(matrix: sp.csc_matrix) -> tuple[int, Solve]:
    from sksparse import cholmod

    try:
        factor = cholmod.cholesky(matrix)
    except cholmod.CholmodNotPositiveDefiniteError as error:
        raise SolverError(NOT_DEFINITE.format(found=str(error))) from error
    return 0, factor


# best first; each name with the module it needs
_CHOLESKY: dict[str, tuple[str | None, Callable[[sp.csc_matrix], tuple[int, Solve]]]] = {
    "cvxopt": ("cvxopt", _cvxopt),
    "sksparse": ("sksparse", _sksparse),
    "superlu": (None, lambda matrix: _superlu(matrix, definite=True)),
}


def available_solvers() -> tuple[str, ...]:
    """Names of the solvers that can be used here for definite matrices, best first."""
    return tuple(name for name, (module, _) in _CHOLESKY.items() if module is None or find_spec(module))


def factorize(
    K: Any, *, definite: bool = True, solver: str | None = None, coordinates: Array | None = None
) -> Factor:
    """Factorise a symmetric sparse K once, to solve with it many times.

    `definite=False` takes an indefinite K. `solver` (or the environment variable FLEXMBS_SOLVER) is one of
    `available_solvers()`; `coordinates` (nodes, 3) may help to order the unknowns.
    """
    matrix = as_symmetric("K", K)
    if not definite:
        nnz, backend = _superlu(matrix, definite=False)
        return Factor("superlu", matrix.shape, nnz, backend)
    name = solver or os.environ.get("FLEXMBS_SOLVER") or available_solvers()[0]
    if name not in available_solvers():
        raise SolverError(
            f"solver '{name}' is not available; available here: {', '.join(available_solvers())}"
        )
    nnz, backend = _CHOLESKY[name][1](matrix)
    return Factor(name, matrix.shape, nnz, backend)
