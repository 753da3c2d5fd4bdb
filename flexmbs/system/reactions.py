"""What multipliers mean: the wrenches on the frames of a row, and how redundant rows share a reaction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.system.evaluate import body_poses, frames, measured, work_arrays

Array = NDArray[np.float64]


def row_wrenches(system: Any, t: Array, q: Array, v: Array, rows: slice) -> Array:
    """(time, rows, 2, 6): force and moment on the first and on the second frame of each row, summed over its terms."""
    out = np.zeros((len(t), rows.stop - rows.start, 2, 6))
    _wrenches(system.layout, q, v, rows.start, work_arrays(system.layout), out)
    return out


def least_multipliers(system: Any, states: Iterable[tuple[float, Array, Array, Array]], multipliers: Array) -> Array:
    """Multipliers (time, rows) of least norm that exert the same forces Jᵀλ; the same ones without redundant rows."""
    if not system.redundant:
        return multipliers
    out = multipliers.copy()
    for k, (t, q, v, angles) in enumerate(states):
        jacobian = system.jacobian(system.evaluate(t, q, v, angles)).toarray()
        out[k] = np.linalg.lstsq(jacobian.T, jacobian.T @ multipliers[k], rcond=1e-9)[0]
    return out


@njit(cache=True)
def _wrenches(layout, q, v, first, work, out):
    near = np.zeros(layout.measure_kind.size)
    for i in range(q.shape[0]):
        body_poses(layout, q[i], v[i], work)
        frames(layout, work)
        measured(layout, near, work)
        for r in range(out.shape[1]):
            for k in range(layout.row_start[first + r], layout.row_start[first + r + 1]):
                m, factor = layout.term_measure[k], layout.term_factor[k]
                for p in range(3):
                    out[i, r, 0, p] -= factor * work.gradient[m, p]
                    out[i, r, 1, p] += factor * work.gradient[m, p]
                    out[i, r, 0, 3 + p] += factor * work.gradient[m, 3 + p]
                    out[i, r, 1, 3 + p] += factor * work.gradient[m, 6 + p]
