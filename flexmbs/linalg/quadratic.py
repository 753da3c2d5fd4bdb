"""Modes of gyroscopic and damped systems, (λ²M + λC + K) x = 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse.linalg as sla
from numpy.typing import NDArray

from flexmbs.errors import SolverError
from flexmbs.linalg.checks import as_square, as_symmetric
from flexmbs.linalg.factor import Factor, Solve, factorize
from flexmbs.linalg.modes import mass_product
from flexmbs.linalg.threads import one_blas_thread

Complex = NDArray[np.complex128]

DENSE = 60  # up to this many unknowns all eigenvalues are computed densely


@one_blas_thread
def quadratic_modes(
    M: Any, C: Any, K: Any, count: int, *, factor: Factor | None = None, stiffness_operator: Solve | None = None
) -> tuple[Complex, Complex]:
    """Eigenvalues λ of (λ²M + λC + K) x = 0 with Im λ ≥ 0, the `count` smallest in size, and their vectors.

    C is any damping and gyroscopic matrix. Real λ (overdamped or diverging motions) count one each, complex pairs
    count once. Vectors (n, count) have xᴴMx = 1. K may be indefinite but not singular; `factor` is its factor if known;
    `stiffness_operator(x)` gives K x more exactly than its rounded entries.
    """
    K = as_symmetric("K", K) if factor is None else as_square("K", K)
    n = K.shape[0]
    M, C = as_symmetric("M", M, size=n), as_square("C", C, size=n)
    if not 1 <= count <= n:
        raise SolverError(f"{count} modes were asked for, but there are {n} unknowns: ask for 1 to {n}")
    if n <= DENSE or 5 * count + 30 > n:
        values, vectors = _dense(M, C, K)
    else:
        factor = factor or _factor(K, stiffness_operator)
        unit = _unit(M, factor)
        values, vectors = _sparse(unit**2 * M, unit * C, 2 * count + 2, factor)
        values = unit * values
    size = np.abs(values)
    # a pair of which rounding made two nearly real numbers is kept; its mirror image is not
    upper = values.imag >= -1e-9 * size
    values, vectors = values[upper], vectors[:, upper]
    values = np.where(abs(values.imag) <= 1e-9 * abs(values), values.real, values)
    # of two equal in size, one growing and one decaying, the growing one must not be cut off
    pick = np.lexsort((-values.real, np.round(np.log(abs(values) + 1e-300), 9)))[:count]
    if len(pick) < count:
        raise SolverError(f"{count} modes were asked for, but only {len(pick)} finite ones exist: M is singular")
    values, vectors = values[pick], vectors[:, pick]
    vectors = vectors / np.linalg.norm(vectors, axis=0)
    weight = np.einsum("ij,ij->j", vectors.conj(), M @ vectors).real
    vectors = vectors / np.sqrt(np.where(weight > 0, weight, 1.0))
    _check(M, C, K, values, vectors)
    return values, vectors


def _factor(K: Any, product: Solve | None) -> Factor:
    try:
        return factorize(K, product=product)
    except SolverError:
        return factorize(K, definite=False, product=product)


def _unit(M: Any, factor: Factor) -> float:
    """A frequency near the lowest one; in this unit λ is near 1, and (x, λx) has halves of one size.

    In others x drowns in the rounding of λx, or the reverse.
    """
    push = M @ np.random.default_rng(7).standard_normal(M.shape[0])
    x = factor.solve(push)
    weight = float(x @ (M @ x))
    return float(np.sqrt(abs(x @ push) / weight)) if weight > 0 else 1.0


def _sparse(M: Any, C: Any, wanted: int, factor: Factor) -> tuple[Complex, Complex]:
    """Largest 1/λ of (1/λ) z = [−K⁻¹C, −K⁻¹M; I, 0] z with z = (x, λx)."""
    n = M.shape[0]
    mass, damping = mass_product(M), C.tocsr()

    def apply(z: NDArray[np.float64]) -> NDArray[np.float64]:
        z = z.ravel()
        return np.concatenate((-factor.solve(damping @ z[:n] + mass(z[n:])), z[:n]))

    start = np.random.default_rng(7).standard_normal(2 * n)
    operator = sla.LinearOperator((2 * n, 2 * n), matvec=apply, dtype=np.float64)
    try:
        # two applications purge what only the start vector holds (infinite λ where M is singular)
        inverse, vectors = sla.eigs(operator, wanted, v0=apply(apply(start)), ncv=2 * wanted + 20)
    except sla.ArpackError as error:
        raise SolverError(f"the quadratic eigenproblem did not converge ({error}): ask for fewer modes") from error
    finite = abs(inverse) > 1e-14 * abs(inverse).max()
    return 1.0 / inverse[finite], vectors[:n, finite]


def _dense(M: Any, C: Any, K: Any) -> tuple[Complex, Complex]:
    n = K.shape[0]
    zero, one = np.zeros((n, n)), np.eye(n)
    M, C, K = M.toarray(), C.toarray(), K.toarray()
    scale = np.sqrt(np.linalg.norm(K) / np.linalg.norm(M)) or 1.0  # λ = scale · μ keeps the blocks of one size
    K, C = K / scale**2, C / scale
    pencil = np.block([[zero, one], [-K, -C]]), np.block([[one, zero], [zero, M]])
    (alpha, beta), vectors = scipy.linalg.eig(*pencil, homogeneous_eigvals=True)
    finite = abs(beta) > 1e-13 * abs(alpha)
    return scale * alpha[finite] / beta[finite], vectors[:n, finite]


def _check(M: Any, C: Any, K: Any, values: Complex, vectors: Complex) -> None:
    """Refuse modes whose residual is more than rounding and a small part of the forces in it."""
    inertia, damping = M @ vectors * values**2, C @ vectors * values
    error = np.linalg.norm(inertia + damping + K @ vectors, axis=0)
    forces = np.linalg.norm(inertia, axis=0) + np.linalg.norm(damping, axis=0)
    allowed = 1e-6 * forces + 1e-10 * abs(K.diagonal()).max() * np.linalg.norm(vectors, axis=0)
    if (error > allowed).any():
        worst = int(np.argmax(error / allowed))
        raise SolverError(
            f"mode {worst + 1} (λ = {values[worst]:.4g}) leaves a residual {error[worst] / allowed[worst]:.2g} times "
            "what is allowed: K is too badly conditioned, or two eigenvalues coincide (a critical speed or damping)"
        )
