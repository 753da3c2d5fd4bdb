"""Lowest modes of K x = λ M x."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse.linalg as sla
from threadpoolctl import threadpool_limits

from flexmbs.errors import SolverError
from flexmbs.linalg.factor import Array, as_symmetric, factorize

DENSE = 150  # below this many unknowns a dense solver is faster and never misses a mode


def smallest_modes(
    K: Any,
    M: Any,
    count: int,
    *,
    rigid: bool = False,
    mass_operator: Callable[[Array], Array] | None = None,
    solver: str | None = None,
    coordinates: Array | None = None,
) -> tuple[Array, Array]:
    """Lowest `count` eigenvalues λ (ascending) and M-orthonormal vectors (n, count) of K x = λ M x.

    `rigid=True` for a free body, whose K is only semidefinite.
    """
    K = as_symmetric("K", K)
    n = K.shape[0]
    M = as_symmetric("M", M, size=n)
    if not 1 <= count <= n:
        raise SolverError(f"{count} modes asked for, but there are {n} unknowns: ask for 1 to {n}")
    if n <= DENSE or count > n // 3:
        return scipy.linalg.eigh(K.toarray(), M.toarray(), subset_by_index=(0, count - 1))
    scale = float(np.median(K.diagonal() / M.diagonal()))
    shift = -1e-9 * scale if rigid else 0.0
    factor = factorize(K - shift * M if rigid else K, solver=solver, coordinates=coordinates)
    inverse = sla.LinearOperator((n, n), matvec=factor.solve, dtype=float)
    start = np.random.default_rng(7).standard_normal(n)
    with threadpool_limits(1):
        values, vectors = sla.eigsh(K, count, M, sigma=shift, OPinv=inverse, v0=start)
    return values, vectors
