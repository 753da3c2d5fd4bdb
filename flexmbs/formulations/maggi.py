"""Maggi's equations, and Kane's as their form in chosen speeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike

from flexmbs.equations import Equations, FloatArray, Solution
from flexmbs.errors import ProjectionError
from flexmbs.formulations.constraints import Constraints
from flexmbs.formulations.formulation import Formulation
from flexmbs.formulations.inertia import solve_free
from flexmbs.nullspace import RANK_TOLERANCE
from flexmbs.nullspace.nullspace import Method


@dataclass(frozen=True, repr=False)
class Maggi(Formulation):
    """Maggi: AᵀMA y' = Aᵀ(f − M g), v' = A y' + g, with J A = 0 and J g = gamma.

    basis: how A is found ("partition", "qr", "svd"; see `null_space`). speeds: the independent speeds y, as many as
    there are free motions, each an index into v or a row s of coefficients, y = s v. Then A holds Kane's partial
    velocities. Sparse equations stay sparse, unless speeds are given. projector: A itself for one position, such as
    `system.tree.projector(x)`, from the topology of a mechanism.
    """

    basis: Method = "partition"
    speeds: Sequence[int | ArrayLike] | None = None
    projector: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.projector is not None and self.speeds is not None:
            raise ProjectionError("a projector says already what the speeds are: give projector or speeds, not both")
        if self.projector is not None and not (sp.issparse(self.projector) or _is_matrix(self.projector)):
            raise ProjectionError(f"projector is a matrix, as system.tree.projector gives it, not {self.projector!r}")
        if self.basis not in ("partition", "qr", "svd"):
            raise ProjectionError(f'unknown basis {self.basis!r} for Maggi: use "partition", "qr" or "svd"')
        if self.speeds is not None:
            if not np.iterable(self.speeds):
                raise ProjectionError(
                    f"speeds is a list of indices or rows, got {self.speeds!r}: give [{self.speeds!r}]"
                )
            object.__setattr__(self, "speeds", tuple(_speed(s) for s in self.speeds))

    def solve(self, equations: Equations) -> Solution:
        """Accelerations, multipliers and reactions at this instant."""
        constraints = Constraints.of(equations, self.basis)
        A, g = self._projector(constraints)
        y = solve_free(constraints, A, A.T @ (equations.f - equations.M @ g))
        return constraints.solution(A @ y + g)

    def partial_velocities(self, equations: Equations) -> FloatArray:
        """Kane's table (n × free motions): column k is what all velocities are when speed k is one, the others zero."""
        A = self._projector(Constraints.of(equations, self.basis))[0]
        return A.toarray() if sp.issparse(A) else np.array(A)

    def _projector(self, constraints: Constraints) -> tuple[Any, FloatArray]:
        A, g = constraints.space.A, constraints.particular
        if self.projector is not None:
            return self._given(constraints), g
        if self.speeds is None:
            return A, g
        Z = constraints.space.A if self.basis != "partition" else Constraints.of(constraints.equations, "qr").space.A
        Z = Z.toarray() if sp.issparse(Z) else Z
        S = _rows(self.speeds, constraints.equations.size)
        _check_independent(self.speeds, S, Z)
        return (scipy.linalg.solve((S @ Z).T, Z.T).T if len(S) else Z), g

    def _given(self, constraints: Constraints) -> Any:
        """The projector that was given, if it spans the free motions."""
        J, wanted = constraints.equations.J, constraints.space.A.shape
        A = sp.csr_array(self.projector) if constraints.equations.sparse else _dense(self.projector)
        if A.shape != wanted:
            raise ProjectionError(
                f"the projector is {A.shape}, but there are {wanted[1]} free motions: {wanted} is needed"
            )
        missed, terms = abs(J @ A).max() if J.shape[0] else 0.0, (abs(J) @ abs(A)).max() if J.shape[0] else 0.0
        if missed > RANK_TOLERANCE * terms:
            raise ProjectionError(f"the projector belongs to another position: J A is {missed:.2g}, not zero")
        return A


def _is_matrix(given: Any) -> bool:
    array = np.asarray(given)
    return array.ndim == 2 and np.issubdtype(array.dtype, np.number)


def _dense(matrix: Any) -> FloatArray:
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix, dtype=float)


def _speed(speed: Any) -> int | tuple[float, ...]:
    row = np.asarray(speed)
    if row.ndim == 0 and np.issubdtype(row.dtype, np.integer):
        return int(row)
    if row.ndim == 1 and np.issubdtype(row.dtype, np.number):
        return tuple(row.astype(float).tolist())
    raise ProjectionError(f"a speed is an index into the velocities or a row of coefficients, got {speed!r}")


def _rows(speeds: Sequence[Any], size: int) -> FloatArray:
    S = np.zeros((len(speeds), size))
    for row, speed in zip(S, speeds, strict=True):
        if isinstance(speed, int):
            if not 0 <= speed < size:
                raise ProjectionError(f"speed v[{speed}] does not exist: there are {size} velocities, 0 … {size - 1}")
            row[speed] = 1.0
        elif len(speed) != size:
            raise ProjectionError(f"a speed row has {len(speed)} coefficients for {size} velocities")
        else:
            row[:] = speed
    return S


def _check_independent(speeds: Sequence[Any], S: FloatArray, Z: FloatArray) -> None:
    """Refuse speeds that do not determine all velocities, saying which fail and which to take instead."""
    free = Z.shape[1]
    seen = S @ Z
    size = np.linalg.norm(S, axis=1)
    seen = seen / np.where(size > 0, size, 1.0)[:, None]
    good = _pivots(seen)
    if len(good) == len(S) == free:
        return
    names = [f"v[{s}]" if isinstance(s, int) else f"row {k}" for k, s in enumerate(speeds)]
    # motions that the good speeds do not see; coordinates that see them best complete the choice
    Q = scipy.linalg.qr(seen[good].T, mode="economic")[0] if len(good) else np.zeros((free, 0))
    more = _pivots(Z - (Z @ Q) @ Q.T)[: free - len(good)]
    take = [names[k] for k in sorted(good)] + [f"v[{k}]" for k in sorted(more)]
    bad = [names[k] for k in range(len(S)) if k not in good]
    why = f"{', '.join(bad)} {'follows' if len(bad) == 1 else 'follow'} from the constraints and the other speeds"
    raise ProjectionError(
        f"{len(S)} speeds chosen for {free} free motions{f': {why}' if bad else ''}. "
        f"Take instead: {', '.join(take) if take else 'none (nothing is free to move)'}"
    )


def _pivots(rows: FloatArray) -> list[int]:
    """Indices of independent rows of length near one, best first."""
    if 0 in rows.shape:
        return []
    R, order = scipy.linalg.qr(rows.T, mode="r", pivoting=True)
    sizes = abs(np.diagonal(R))
    return [int(k) for k in order[: np.count_nonzero(sizes > RANK_TOLERANCE)]]
