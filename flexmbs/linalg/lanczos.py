"""Block Lanczos iteration with thick restart, for operators that are self-adjoint in an inner product M.

A block of vectors finds modes that come in pairs (or six rigid ones) together, where single-vector methods find the
second of a pair only through rounding; and one solve with many right-hand sides costs little more than with one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from flexmbs.errors import SolverError

Array = NDArray[np.float64]
Product = Callable[[Array], Array]

RESTARTS = 30
DEPENDENT = 1e-13  # a direction shorter than this, relative to the operator, is rounding


class Exhausted(Exception):
    """Every vector that the operator can reach has been found: `rank` of them."""

    def __init__(self, rank: int) -> None:
        super().__init__(rank)
        self.rank = rank


def largest(
    operator: Product, mass: Product, size: int, count: int, *, block: int, tolerance: float
) -> tuple[Array, Array]:
    """Largest `count` eigenvalues θ (descending) and M-orthonormal vectors of OP x = θ x.

    `operator(y)` gives OP M⁻¹ y, so that in shift-invert OP = (K − σM)⁻¹M it is only the solve; `mass(x)` gives M x.
    Converged when ‖OP x − θ x‖ in the norm of M is below `tolerance` θ.
    """
    rng = np.random.default_rng(7)
    limit = 2 * count + 12 * block
    V = np.empty((size, limit + block), order="F")
    MV = np.empty_like(V)
    T = np.zeros((limit + block, limit + block))
    W = operator(mass(rng.standard_normal((size, block))))
    Q, MQ, _, _ = _orthonormal(W, V[:, :0], MV[:, :0], mass, 0.0)
    used = 0
    for _ in range(RESTARTS):
        while used + Q.shape[1] <= limit:
            last = slice(used, used + Q.shape[1])
            V[:, last], MV[:, last] = Q, MQ
            used = last.stop
            W = operator(MQ)
            Q, MQ, H, R = _orthonormal(W, V[:, :used], MV[:, :used], mass, float(np.abs(T).max(initial=0.0)))
            T[:used, last] = H
            T[last, :used] = H.T
            values, vectors = scipy.linalg.eigh(T[:used, :used])
            values, vectors = values[::-1], vectors[:, ::-1]
            residual = np.linalg.norm(R @ vectors[last], axis=0)
            if used >= count and (residual[:count] <= tolerance * values[:count]).all():
                return values[:count], V[:, :used] @ vectors[:, :count]
            if Q.shape[1] == 0:  # the space is invariant; look for what it has missed
                W = operator(mass(rng.standard_normal((size, block))))
                Q, MQ, _, _ = _orthonormal(W, V[:, :used], MV[:, :used], mass, float(values[0]))
                if Q.shape[1] == 0:
                    raise Exhausted(used)
        # keep the best part of the space; the next block couples to it through the full orthogonalisation
        keep = min(count + 2 * block, used)
        V[:, :keep] = V[:, :used] @ vectors[:, :keep]
        MV[:, :keep] = MV[:, :used] @ vectors[:, :keep]
        T[:] = 0.0
        T[range(keep), range(keep)] = values[:keep]
        used = keep
    found = int((residual[:count] <= tolerance * values[:count]).sum())
    raise SolverError(
        f"only {found} of {count} modes converged after {RESTARTS} restarts: ask for a few more or fewer modes "
        "(the cut may fall in a cluster), and look for very soft or very heavy parts of the model"
    )


def _orthonormal(W: Array, V: Array, MV: Array, mass: Product, scale: float) -> tuple[Array, Array, Array, Array]:
    """Q, MQ, H, R with W = V H + Q R, Q orthonormal and orthogonal to V in M; dependent directions are dropped."""
    H = np.zeros((V.shape[1], W.shape[1]))
    R = np.eye(W.shape[1])
    for sweep in range(2):  # twice is enough
        h = MV.T @ W
        W = W - V @ h
        H += h @ R
        MW = mass(W)
        gram = W.T @ MW
        length = np.sqrt(np.maximum(gram.diagonal(), 0.0))
        scale = max(scale, float(np.abs(h).max(initial=0.0)), float(length.max(initial=0.0)))
        floor = DEPENDENT * scale if sweep == 0 else 1e-3
        some = length > floor
        safe = np.where(some, length, 1.0)
        square, U = scipy.linalg.eigh((gram / np.outer(safe, safe))[np.ix_(some, some)])
        kept = square > DEPENDENT
        combine = np.zeros((W.shape[1], int(kept.sum())))
        combine[some] = U[:, kept] / np.sqrt(square[kept]) / length[some, None]
        expand = np.zeros((combine.shape[1], W.shape[1]))
        expand[:, some] = (U[:, kept] * np.sqrt(square[kept])).T * length[some]
        W, MW = W @ combine, MW @ combine
        R = expand @ R
    return W, MW, H, R
