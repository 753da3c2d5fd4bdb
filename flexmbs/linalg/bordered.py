"""Solves under constraints B x = c through a factor of K and a small dense border."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from flexmbs.errors import SolverError
from flexmbs.linalg.checks import Array, as_symmetric, require_finite
from flexmbs.linalg.factor import factorize
from flexmbs.linalg.threads import one_blas_thread

REDUNDANT = 1e-10  # a row of B, scaled to length 1, that differs by less from a combination of others


class BorderedFactor:
    """Factor of [K Bᵀ; B 0]: `solve(f, c)` gives x and multipliers λ with K x + Bᵀλ = f, B x = c.

    B is m × n with few rows. K may be singular if B holds what K leaves free: then either name the coordinates to
    ground (`grounded`: enough of them to stop every free motion), or give the motions that may be free (`rigid_modes`,
    n × r) and they are chosen. The ground springs k are taken out again exactly by bordering with them,
    K x = (K + E k Eᵀ) x − E s with s = k Eᵀx. Redundant rows of B are allowed: λ is then the least one. `solver` and
    `product` as in `factorize`.
    """

    @one_blas_thread
    def __init__(
        self,
        K: Any,
        B: Any,
        grounded: Any = None,
        *,
        rigid_modes: Array | None = None,
        solver: str | None = None,
        product: Callable[[Array], Array] | None = None,
    ) -> None:
        K = as_symmetric("K", K)
        n = K.shape[0]
        B = as_border(B, n)
        if grounded is None:
            grounded = np.zeros(0, np.int64) if rigid_modes is None else _free_coordinates(K, rigid_modes)
        ground = np.unique(np.asarray(grounded, dtype=np.int64))
        if len(ground) and not 0 <= ground[0] <= ground[-1] < n:
            raise SolverError(f"grounded coordinates must lie in 0 … {n - 1}; found {ground[0]} … {ground[-1]}")
        k = float(abs(K.diagonal()).max())
        springs = sp.csr_array((np.ones(len(ground)), (np.arange(len(ground)), ground)), shape=(len(ground), n))
        if len(ground):
            K, product = K + k * (springs.T @ springs), _grounded(product, springs, k)
        self.factor = factorize(K, solver=solver, product=product)
        self.shape = (n + B.shape[0], n + B.shape[0])
        self.grounded = ground
        self._all_rows = B
        self._rows, self._spread = _independent(B)
        self._border = border = sp.csr_array(sp.vstack([B[self._rows], springs]))
        # unknowns ν = (λ, −s):  K x + Ĉᵀν = f,  Ĉ x + diag(0, 1/k) ν = (c, 0)
        self._yield = np.concatenate((np.zeros(len(self._rows)), np.full(len(ground), 1.0 / k)))
        self._reach = self.factor.solve(border.T.toarray())
        schur = border @ self._reach
        self._scale = scale = 1.0 / np.sqrt(schur.diagonal())
        schur = ((schur + schur.T) / 2 - np.diag(self._yield)) * np.outer(scale, scale)
        if len(scale) and np.linalg.cond(schur) > 1e14:
            raise SolverError(
                f"the bordered system is singular: K is free to move where neither the {len(self._rows)} independent "
                f"rows of B nor its {len(ground)} grounded coordinates hold it"
            )
        self._schur = scipy.linalg.lu_factor(schur) if len(scale) else None

    @one_blas_thread
    def solve(self, f: Array, c: Array | float = 0.0) -> tuple[Array, Array]:
        """Return x and the multipliers for f of shape (n,) or (n, k) and c of shape (m,), (m, k) or a number."""
        f = np.asarray(f, dtype=np.float64)
        x = self.factor.solve(f)
        if self._schur is None:
            return x, np.zeros((0, *f.shape[1:]))
        m, columns = self._all_rows.shape[0], f.reshape(len(f), -1).shape[1]
        given = np.asarray(c, dtype=np.float64)
        if given.ndim and (given.shape[0] != m or (given.ndim == 2 and given.shape[1] != columns)):
            raise SolverError(f"c has shape {given.shape}, but B has {m} rows and there are {columns} right-hand sides")
        target = np.zeros((m, columns))
        target[:] = given[:, None] if given.ndim == 1 else given
        x = x.reshape(len(f), columns)
        goal = np.zeros((len(self._scale), columns))
        goal[: len(self._rows)] = target[self._rows]
        scale, nu = self._scale[:, None], np.zeros_like(goal)
        for _ in range(2):  # the second pass removes what rounding left in the constraints
            miss = self._border @ x + self._yield[:, None] * nu - goal
            step = scale * scipy.linalg.lu_solve(self._schur, scale * miss)
            x, nu = x - self._reach @ step, nu + step
        if given.any() and len(self._rows) < m:
            self._require_met(x, target)
        multipliers = nu[: len(self._rows)]
        if self._spread is not None:
            multipliers = self._spread @ multipliers
        return x.reshape(f.shape), multipliers.reshape(m, *f.shape[1:])

    def project(self, f: Array) -> Array:
        """Return x alone, for B x = 0."""
        return self.solve(f)[0]

    def _require_met(self, x: Array, target: Array) -> None:
        miss = abs(self._all_rows @ x - target).max(axis=1)
        if miss.max() > 1e-6 * abs(target).max():
            raise SolverError(
                f"row {int(np.argmax(miss))} of B is missed by {miss.max():.3g}: it repeats other rows, "
                "but its right-hand side contradicts theirs"
            )


def _grounded(product: Callable[[Array], Array] | None, springs: Any, k: float) -> Callable[[Array], Array] | None:
    return None if product is None else lambda x: product(x) + k * (springs.T @ (springs @ x))


def as_border(border: Any, n: int) -> sp.csr_matrix:
    """Return B (m × n) in CSR form, or raise a SolverError."""
    B = sp.csr_matrix(border, dtype=np.float64)
    if B.shape[1] != n:
        raise SolverError(f"B is {B.shape[0]} × {B.shape[1]}, but K has {n} unknowns: B needs {n} columns")
    require_finite("B", B)
    return B


def _free_coordinates(K: sp.csc_matrix, modes: Array) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Coordinates that stop the combinations of the given motions to which K offers no resistance."""
    modes = np.asarray(modes, dtype=np.float64)
    if modes.ndim != 2 or modes.shape[0] != K.shape[0]:
        raise SolverError(f"rigid_modes has shape {modes.shape}, but K has {K.shape[0]} unknowns")
    stiff = modes.T @ (K @ modes)
    scale = modes.T @ (abs(K.diagonal())[:, None] * modes)
    ratios, combinations = scipy.linalg.eigh((stiff + stiff.T) / 2, scale)
    free = modes @ combinations[:, ratios < 1e-10]
    if free.shape[1] == 0:
        return np.zeros(0, np.int64)
    _, _, pivots = scipy.linalg.qr(free.T, mode="economic", pivoting=True)
    return np.asarray(pivots[: free.shape[1]], dtype=np.int64)


def _independent(B: sp.csr_matrix) -> tuple[np.ndarray[Any, np.dtype[np.int64]], Array | None]:
    """Independent rows of B, and the matrix that spreads their multipliers to the least ones over all rows."""
    length = np.sqrt(np.asarray(B.multiply(B).sum(axis=1)).ravel())
    support = np.unique(B.indices)
    scaled = B[:, support].toarray() / np.where(length > 0, length, 1.0)[:, None]
    if B.shape[0] == 0 or len(support) == 0:
        return np.zeros(0, np.int64), np.zeros((B.shape[0], 0))
    triangle, pivots = scipy.linalg.qr(scaled.T, mode="r", pivoting=True)
    rank = int((abs(triangle.diagonal()) > REDUNDANT).sum())
    rows = np.sort(pivots[:rank]).astype(np.int64)
    if rank == B.shape[0]:
        return rows, None
    dense = B[:, support].toarray()
    return rows, scipy.linalg.lstsq(dense.T, dense[rows].T)[0]
