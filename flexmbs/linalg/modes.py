"""Lowest modes of K x = λ M x by shift and invert, with or without constraints B x = 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from flexmbs.errors import SolverError
from flexmbs.linalg.bordered import BorderedFactor, as_border
from flexmbs.linalg.checks import Array, as_symmetric
from flexmbs.linalg.factor import factorize
from flexmbs.linalg.lanczos import Exhausted, largest
from flexmbs.linalg.threads import one_blas_thread

Product = Callable[[Array], Array]

DENSE = 120  # up to this many unknowns the dense solver is faster, and it cannot miss a mode
BLOCK = 8  # a free body has six modes at once; symmetric parts have pairs
SHIFT = 1e-9  # of a free body, relative to the median K_ii/M_ii: far above rounding, seldom above the first mode
TOLERANCE = 1e-10


@one_blas_thread
def smallest_modes(
    K: Any,
    M: Any,
    count: int,
    *,
    rigid: bool = False,
    border: Any = None,
    mass_operator: Product | None = None,
    stiffness_operator: Product | None = None,
    solver: str | None = None,
    solve: Product | None = None,
) -> tuple[Array, Array]:
    """Lowest `count` eigenvalues λ (ascending) and M-orthonormal vectors (n, count) of K x = λ M x.

    K is symmetric positive definite, or semidefinite with `rigid=True` (a free body); M may be semidefinite. `border`
    is B of the constraints B x = 0. `mass_operator(x)` gives M x faster than the matrix, `stiffness_operator(x)` gives
    K x more exactly than its rounded entries; `solver` as in `factorize`. `solve(f)` gives K⁻¹ f under the constraints
    where a factor is at hand (then `rigid` is left alone).
    """
    K = as_symmetric("K", K)
    n = K.shape[0]
    M = as_symmetric("M", M, size=n)
    B = None if border is None else as_border(border, n)
    if not 1 <= count <= n:
        raise SolverError(f"{count} modes were asked for, but there are {n} unknowns: ask for 1 to {n}")
    weighed = M.diagonal() > 0
    if not weighed.any():
        raise SolverError("M has no positive entry on its diagonal: give the part a density")
    shift = -SHIFT * float(np.median(K.diagonal()[weighed] / M.diagonal()[weighed])) if rigid else 0.0
    if n <= DENSE or _space(count, BLOCK) > n:
        return _dense(K, M, count, shift, B)
    shifted = sp.csc_matrix(K - shift * M) if rigid else K
    mass = mass_operator or mass_product(M)
    exact = None if stiffness_operator is None else lambda x: stiffness_operator(x) - shift * mass(x)
    if solve is not None:
        pass
    elif B is None:
        solve = factorize(shifted, solver=solver, product=exact).solve
    else:
        solve = BorderedFactor(shifted, B, solver=solver, product=exact).project
    block = BLOCK
    while True:
        try:
            theta, vectors = largest(solve, mass, n, count, block=block, tolerance=TOLERANCE)
        except Exhausted as end:
            raise SolverError(_too_few(count, end.rank)) from end
        # a block finds as many equal modes as it has vectors; where it is full there may be more
        if _largest_cluster(theta) < block:
            break
        block *= 2
        if _space(count, block) > n:
            return _dense(K, M, count, shift, B)
    values = shift + 1.0 / theta
    if stiffness_operator is not None:  # Rayleigh's quotient, where the shift would hide the lowest
        values = np.einsum("ik,ik->k", vectors, stiffness_operator(vectors))
    _check(K, M, B, values, vectors, shift)
    return values, vectors


def mass_product(M: sp.csc_matrix) -> Product:
    """Return x ↦ M x, through the scalar mass m_φ where M = m_φ ⊗ I₃ (nine times fewer numbers)."""
    n = M.shape[0]
    if n % 3 == 0 and M.nnz % 3 == 0:
        scalar = sp.csr_matrix(M[0::3, 0::3])
        same = 3 * scalar.nnz == M.nnz
        if same and all(abs(M[i::3, i::3] - scalar).max() <= 1e-15 * abs(scalar).max() for i in (1, 2)):
            return lambda x: np.reshape(scalar @ np.ascontiguousarray(x).reshape(n // 3, -1), x.shape)
    rows = sp.csr_matrix(M)
    return lambda x: rows @ x


def _space(count: int, block: int) -> int:
    """Vectors that the iteration needs at least, to be worth while."""
    return 4 * count + 16 * block


def _dense(K: Any, M: Any, count: int, shift: float, B: Any) -> tuple[Array, Array]:
    K, M = K.toarray(), M.toarray()
    basis = None if B is None else scipy.linalg.null_space(B.toarray())
    if basis is not None:
        if basis.shape[1] < count:
            raise SolverError(_too_few(count, basis.shape[1]))
        K, M = basis.T @ K @ basis, basis.T @ M @ basis
    try:
        values, vectors = scipy.linalg.eigh(K, M, subset_by_index=(0, count - 1))
    except scipy.linalg.LinAlgError:  # M is singular: the largest θ of M x = θ (K − σM) x
        n = len(K)
        try:
            theta, vectors = scipy.linalg.eigh(M, K - shift * M, subset_by_index=(n - count, n - 1))
        except scipy.linalg.LinAlgError as error:
            raise SolverError(
                "neither M nor K is positive definite: the part is not held (rigid=True for a free body), or "
                "some unknowns have neither mass nor stiffness"
            ) from error
        theta, vectors = theta[::-1], vectors[:, ::-1]
        massive = int((theta > 1e-12 * theta[0]).sum())
        if massive < count:
            raise SolverError(_too_few(count, massive)) from None
        values, vectors = shift + 1.0 / theta, vectors / np.sqrt(theta)
    return values, vectors if basis is None else basis @ vectors


def _too_few(count: int, found: int) -> str:
    return f"{count} modes were asked for, but only {found} exist (unknowns with mass that are free to move)"


def _largest_cluster(theta: Array) -> int:
    """Size of the largest group of equal eigenvalues."""
    breaks = np.flatnonzero(np.abs(np.diff(theta)) > 1e-6 * theta[:-1])
    return int(np.diff(np.concatenate(([-1], breaks, [len(theta) - 1]))).max())


def _check(K: Any, M: Any, B: Any, values: Array, vectors: Array, shift: float) -> None:
    """Refuse modes whose residual K x − λ M x is more than rounding and a small part of the inertia force."""
    inertia = M @ vectors
    residual = K @ vectors - inertia * values
    if B is not None:  # what the constraints hold is no residual
        residual -= B.T @ scipy.linalg.lstsq((B @ B.T).toarray(), B @ residual)[0]
    rounding = 1e-11 * abs(K.diagonal()).max() * np.linalg.norm(vectors, axis=0)
    allowed = 1e-5 * (abs(values) + abs(shift)) * np.linalg.norm(inertia, axis=0) + rounding
    error = np.linalg.norm(residual, axis=0)
    if (error > allowed).any():
        worst = int(np.argmax(error / allowed))
        raise SolverError(
            f"mode {worst + 1} (λ = {values[worst]:.4g}) leaves a residual {error[worst] / allowed[worst]:.2g} times "
            "what is allowed: the stiffness is too badly conditioned; look for very stiff, very soft or unheld parts"
        )
