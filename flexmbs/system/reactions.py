"""What multipliers mean: the wrenches on the frames of a row, and how redundant rows share a reaction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.bodies.body import GROUND
from flexmbs.system.evaluate import body_poses, frames, measured, work_arrays

Array = NDArray[np.float64]


def row_wrenches(system: Any, t: Array, q: Array, v: Array, angles: Array, rows: slice) -> Array:
    """(time, rows, 2, 6): force and moment on the first and on the second frame of each row, summed over its terms."""
    out = np.zeros((len(t), rows.stop - rows.start, 2, 6))
    work = work_arrays(system.layout)
    if not system.functions:
        _wrenches(system.layout, q, v, rows.start, work, out)
    else:
        for k, layout in enumerate(system.functions.layouts(system, t, q, v, angles)):
            _wrenches(layout, q[k : k + 1], v[k : k + 1], rows.start, work, out[k : k + 1])
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


def ground_wrench(system: Any, t: Array, q: Array, v: Array, angles: Array, multipliers: Array) -> Array:
    """Force and moment about the origin (time, 6) that all rows exert on the ground."""
    out = np.zeros((len(q), 6))
    work, multipliers = work_arrays(system.layout), np.ascontiguousarray(multipliers)
    if not system.functions:
        _on_ground(system.layout, q, v, multipliers, work, out)
    else:
        for k, layout in enumerate(system.functions.layouts(system, t, q, v, angles)):
            one = slice(k, k + 1)
            _on_ground(layout, q[one], v[one], multipliers[one], work, out[one])
    return out


@njit(cache=True)
def _on_ground(layout, q, v, multipliers, work, out):
    near = np.zeros(layout.measure_kind.size)
    for i in range(q.shape[0]):
        body_poses(layout, q[i], v[i], work)
        frames(layout, work)
        measured(layout, near, work)
        for r in range(multipliers.shape[1]):
            for k in range(layout.row_start[r], layout.row_start[r + 1]):
                m, factor = layout.term_measure[k], layout.term_factor[k] * multipliers[i, r]
                for side in range(2):
                    f = layout.measure_i[m] if side == 0 else layout.measure_j[m]
                    if layout.body_kind[layout.frame_body[f]] != GROUND:
                        continue
                    at, sign = work.frame_position[f], (-factor if side == 0 else factor)
                    for p in range(3):
                        a, b = (p + 1) % 3, (p + 2) % 3
                        out[i, p] += sign * work.gradient[m, p]
                        arm = at[a] * work.gradient[m, b] - at[b] * work.gradient[m, a]
                        out[i, 3 + p] += sign * arm + factor * work.gradient[m, 3 + 3 * side + p]


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
