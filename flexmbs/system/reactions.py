"""The wrenches that unit multipliers exert on the frames of a row, over time."""

from __future__ import annotations

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


@njit(cache=True)
def _wrenches(layout, q, v, first, work, out):  # type: ignore[no-untyped-def]
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
