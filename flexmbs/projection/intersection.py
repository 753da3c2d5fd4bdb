"""Both of two projections of the same full coordinates hold at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from flexmbs.nullspace import null_space
from flexmbs.projection.model import coordinate_name

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


def _untouched(A: Any, offset: FloatArray, own: IntArray) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Full and reduced coordinates (masks) that a projection passes on unchanged and uses nowhere else.

    The reduced coordinates `own` (those of interface points) never count as passed on.
    """
    n, r = A.shape
    single = np.flatnonzero(np.diff(A.indptr) == 1)
    column = A.indices[A.indptr[single]]
    uses = np.bincount(A.indices, minlength=r)
    uses[own] = 0
    alone = (A.data[A.indptr[single]] == 1.0) & (uses[column] == 1) & (offset[single] == 0.0)
    full, reduced = np.zeros(n, dtype=bool), np.zeros(r, dtype=bool)
    full[single[alone]] = True
    reduced[column[alone]] = True
    return full, reduced


def intersect(
    A1: Any, b1: FloatArray, A2: Any, b2: FloatArray, keep1: IntArray, keep2: IntArray, per_node: int
) -> tuple[Any, FloatArray, tuple[str, ...], IntArray, IntArray]:
    """A and offset of what both allow, the redundant rows in words, and where reduced coordinates went.

    Reduced coordinates: full ones untouched by both, in order, then the first's own, then the second's, less
    those that the agreement on doubly touched coordinates eliminates (keep1, keep2 last). The two last
    results give the new index of each reduced coordinate of the first and of the second, −1 where it is
    eliminated.
    """
    n = A1.shape[0]
    free1, passed1 = _untouched(A1, b1, keep1)
    free2, passed2 = _untouched(A2, b2, keep2)
    own1, own2 = np.flatnonzero(~passed1), np.flatnonzero(~passed2)
    common, both = np.flatnonzero(free1 & free2), np.flatnonzero(~free1 & ~free2)
    # z = (own of the first, own of the second); A1 z1 + b1 = A2 z2 + b2 where both have a say
    O1, O2 = A1[:, own1], A2[:, own2]
    J = sp.hstack([O1[both], -O2[both]], format="csr")
    keep = np.concatenate([np.searchsorted(own1, keep1), len(own1) + np.searchsorted(own2, keep2)])
    space = null_space(J, keep=keep)
    names = [coordinate_name(int(i), per_node) for i in both]
    z0 = space.particular(b1[both] - b2[both], names)
    assert space.independent is not None

    mine = np.flatnonzero(~free1)
    his = np.flatnonzero(free1 & ~free2)
    rows = sp.vstack(
        [sp.hstack([O1[mine], sp.csr_array((len(mine), len(own2)))]),
         sp.hstack([sp.csr_array((len(his), len(own1))), O2[his]])], format="csr",
    )  # fmt: skip
    order = np.argsort(np.concatenate([common, mine, his]))
    A = sp.csr_array(sp.block_diag([sp.eye_array(len(common)), rows @ space.A], format="csr"))[order]
    A.eliminate_zeros()
    constants = rows @ z0 + np.concatenate([b1[mine], b2[his]])
    offset = np.concatenate([np.zeros(len(common)), constants])[order]

    place = np.full(len(own1) + len(own2), -1, dtype=np.int64)
    place[space.independent] = len(common) + np.arange(len(space.independent))
    position = np.full(n, -1, dtype=np.int64)
    position[common] = np.arange(len(common))
    moved1 = _moved(A1, own1, passed1, position, place[: len(own1)])
    moved2 = _moved(A2, own2, passed2, position, place[len(own1) :])
    coupled = np.diff(J.indptr) > 0  # where both prescribe the same value there is nothing to report
    redundant = tuple(names[k] for k in space.redundant if coupled[k])
    return A, offset, redundant, moved1, moved2


def _moved(A: Any, own: IntArray, passed: NDArray[np.bool_], position: IntArray, place: IntArray) -> IntArray:
    moved = np.full(A.shape[1], -1, dtype=np.int64)
    moved[own] = place
    entries = sp.csc_array(A)
    columns = np.flatnonzero(passed)
    moved[columns] = position[entries.indices[entries.indptr[columns]]]
    return moved
