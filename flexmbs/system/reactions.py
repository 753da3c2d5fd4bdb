"""What multipliers mean: the wrenches on the frames of a row, and how redundant rows share a reaction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.system.evaluate import body_poses, constraints, frames, measured, work_arrays

Array = NDArray[np.float64]

REDUNDANT = 1e-9
"""Singular values of J, relative to the largest, that belong to redundant rows."""
FEW = 1000
"""Instants up to which compiling a function for all of them takes longer than to do one after another."""
CHUNK = 2000
"""Instants whose Jacobians are held at once."""


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
    listed = list(states)
    if len(listed) <= FEW or system.functions:
        for k, (t, q, v, angles) in enumerate(listed):
            jacobian = system.jacobian(system.evaluate(t, q, v, angles)).toarray()
            out[k] = np.linalg.lstsq(jacobian.T, jacobian.T @ multipliers[k], rcond=REDUNDANT)[0]
        return out
    for first in range(0, len(listed), CHUNK):
        some = slice(first, first + CHUNK)
        q, v = (np.array([state[k] for state in listed[some]]) for k in (1, 2))
        # with J = U S Vᵀ, what of λ lies in the range of J: U Uᵀ λ
        u, sizes, _ = np.linalg.svd(jacobians(system, q, v), full_matrices=False)
        u = u * (sizes > REDUNDANT * sizes[:, :1])[:, None, :]
        out[some] = np.einsum("tri,tsi,ts->tr", u, u, multipliers[some], optimize=True)
    return out


def jacobians(system: Any, q: Array, v: Array) -> Array:
    """J (time, rows, velocities) at many positions."""
    layout = system.layout
    flat = np.zeros((len(q), int(layout.entry_at[-1])))
    _jacobians(layout, q, v, np.zeros((len(system.profiles), 3)), work_arrays(layout), flat)
    pattern = system.jacobian(work_arrays(layout)).tocoo()
    out = np.zeros((len(q), *pattern.shape))
    out[:, pattern.row, pattern.col] = flat
    return out


@njit(cache=True)
def _jacobians(layout, q, v, prescribed, work, out):
    near = np.zeros(layout.measure_kind.size)
    for i in range(q.shape[0]):
        body_poses(layout, q[i], v[i], work)
        frames(layout, work)
        measured(layout, near, work)
        constraints(layout, prescribed, work)
        out[i] = work.jacobian


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
