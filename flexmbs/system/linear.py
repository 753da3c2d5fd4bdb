"""The equations of motion linearised about a state: M δv' + D δv + K δx = Jᵀδλ, J δx = 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.system.elimination import Plan, factor_arrays
from flexmbs.system.newton import newton_system, scratch_arrays
from flexmbs.system.saddle import velocity_unknowns

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Linearised:
    """Mass, damping (with gyroscopic terms) and stiffness (velocities, velocities), constraint rows J, the changes
    ∂c/∂q of rows of velocities c = 0 (zero for the others), and the residual M v' - f - Jᵀλ at the state itself.
    """

    mass: Array
    damping: Array
    stiffness: Array
    jacobian: Array
    row_change: Array
    residual: Array


def linearised(system: Any, t: float, q: Array, v: Array, rate: Array, multipliers: Array, angles: Array) -> Linearised:
    """The linearised equations of a system about a state and its multipliers."""
    layout, plan, where = system.elimination
    work = system.evaluate(t, q, v, angles)
    still = np.zeros(system.n_v)
    if len(system.user_forces):
        system.user_forces.linearise(t, q, still, v, system.walked[1], work.forces)
    if system.functions:
        expanded = system.functions.expand(t, work, system.walked[1])
        layout = expanded.applied(layout, system.prescribed(t))[0]
    scratch, factors = scratch_arrays(layout, where), factor_arrays(plan)
    residual = np.zeros(plan.unknowns)
    unknown = velocity_unknowns(layout, where)
    found, rows = [], []
    # parts by parts of one matrix: M and D must not drown in the rounding of a stiffness of 1e13
    weight = 1.0
    for k in range(4):
        c_m, c_d = ((0.0, 0.0), (weight, 0.0), (0.0, weight), (0.0, 1.0))[k]
        newton_system(
            layout, where, v, rate, still, multipliers, 1.0, c_m, c_d, work, scratch, True, factors.data, residual
        )
        whole = dense_matrix(plan, factors.data)
        found.append(whole[np.ix_(unknown, unknown)])
        rows.append(whole[np.ix_(where.row_unknown, unknown)])
        if k == 0:
            weight = max(1.0, float(np.abs(found[0]).max(initial=0.0)))
    stiffness, with_mass, with_damping, _ = found
    bend, drag = system.functions.tangents(system, t, q, v, angles, multipliers) if system.functions else (0.0, 0.0)
    return Linearised(
        (with_mass - stiffness) / weight,
        (with_damping - stiffness) / weight - drag,
        stiffness - bend,
        system.jacobian(work).toarray(),
        rows[3] - rows[0],  # with c_d = 1 a row of velocities is J + ∂c/∂q
        residual[unknown],
    )


def dense_matrix(plan: Plan, data: Array) -> Array:
    """The assembled matrix in full, unknowns in the order of the plan."""
    out = np.zeros((plan.unknowns, plan.unknowns))
    for k in range(len(plan.size)):
        own = plan.first[k] + np.arange(plan.size[k])
        columns = [own]
        for s in range(plan.start[k], plan.start[k + 1]):
            j = plan.neighbour[s]
            columns.append(plan.first[j] + np.arange(plan.coupling[j]))
        numbers = np.concatenate(columns)
        width = len(numbers)
        at = plan.front[k] + plan.stride[k] * np.arange(width)[:, None] + np.arange(width)
        out[np.ix_(numbers, numbers)] += data[at]
    return out
