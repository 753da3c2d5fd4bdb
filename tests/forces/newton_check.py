"""Newton's matrix of a system against differences of its residual."""

from __future__ import annotations

import numpy as np

from flexmbs.system.elimination import factor_arrays, factorise, substitute
from flexmbs.system.evaluate import evaluate_all, retract, work_arrays
from flexmbs.system.newton import newton_system, scratch_arrays


def tangent_error(system, x, v0, step=1e-5):
    """Largest entry of (differences of the residual) · (factorised matrix)⁻¹ - 1, at increment x from v0."""
    layout, plan, where = system.elimination
    work, scratch = work_arrays(layout), scratch_arrays(layout, where)
    factors, start = factor_arrays(plan), system.initial
    n, m = system.n_v, len(system.rows)
    scale, c_m, c_d = 0.7, 1.3, 0.9
    multipliers = np.linspace(-1, 1, m)
    unknown = np.concatenate([where.body_unknown[b] + np.arange(w) for b, w in enumerate(np.diff(layout.body_v)) if w])
    unknown = np.concatenate([unknown, where.row_unknown])

    def residual(z, matrix=False):
        x, out, q = np.ascontiguousarray(z[:n]), np.zeros(plan.unknowns), np.zeros(system.n_q)
        v, rate = v0 + c_d * x, c_m * x
        retract(layout, start.q, x, q)
        evaluate_all(layout, system.prescribed(0.3), start.angles, q, v, work)
        newton_system(
            layout, where, v, rate, x, np.ascontiguousarray(z[n:]), scale, c_m, c_d, work, scratch, matrix,
            factors.data, out,
        )  # fmt: skip
        return out[unknown]

    z = np.concatenate([x, multipliers])
    residual(z, matrix=True)
    factorise(plan, factors, 1e-14)
    inverse = np.zeros((n + m, n + m))
    for k in range(n + m):
        b = np.zeros(plan.unknowns)
        b[unknown[k]] = 1.0
        substitute(plan, factors, b)
        inverse[:, k] = b[unknown]
    differences = np.zeros((n + m, n + m))
    for k in range(n + m):
        h = np.zeros(n + m)
        h[k] = step
        differences[:, k] = (residual(z + h) - residual(z - h)) / (2 * step)
    return np.abs(differences @ inverse - np.eye(n + m)).max(), work
