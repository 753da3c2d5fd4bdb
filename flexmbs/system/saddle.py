"""Saddle points along the joint graph: W x + ... = f with J x = g, for accelerations, velocities and closing loops.

[W -Jᵀ; J 0] [x; λ] = [f; g] with W block-diagonal over bodies. With W = M these are Lagrange's equations; with a
diagonal of weights x is the vector of least weighted size that fulfils the rows. Solved by the elimination plan, so
that the work grows with the number of bodies; redundant rows are dropped.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.forces.stage import sum_wrenches
from flexmbs.system.elimination import Factors, Plan, factor_arrays, factorise, substitute
from flexmbs.system.evaluate import Work, inertia_of
from flexmbs.system.layout import Layout
from flexmbs.system.newton import Places
from flexmbs.system.reaction_friction import settle_friction

Array = NDArray[np.float64]

_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_inner: dict[str, Any] = {**_options, "no_cpython_wrapper": True}

REDUNDANT = 1e-10
"""Pivots below this, relative to the entries they came from, belong to rows that follow from others."""


@njit(**_inner)
def add_saddle(layout, where, work, data):
    """J and -Jᵀ into the matrix; rows that do not count get a one on the diagonal."""
    for r in range(layout.row_start.size - 1):
        if not where.row_active[r]:
            data[where.row_diagonal[r]] = 1.0
            continue
        for e in range(layout.entry_start[r], layout.entry_start[r + 1]):
            at, stride, row = where.entry_column[e, 0], where.entry_column[e, 1], where.entry_row[e]
            for j in range(layout.entry_at[e + 1] - layout.entry_at[e]):
                value = work.jacobian[layout.entry_at[e] + j]
                data[at + j * stride] -= value
                data[row + j] += value


@njit(**_options)
def add_mass(layout, where, v, work, data, force):
    """Mass matrices and rows into the matrix; ``force`` (unknowns,) receives f = Q - h."""
    add_saddle(layout, where, work, data)
    width = work.rates.shape[1]
    mass, local = np.zeros((width, width)), np.zeros(width)
    for b in range(layout.body_kind.size):
        n = layout.body_v[b + 1] - layout.body_v[b]
        if n:
            inertia_of(layout, b, v, work, mass, local)
            at, stride = where.body_place[b, 0], where.body_place[b, 1]
            for i in range(n):
                force[where.body_unknown[b] + i] = local[i]
                for j in range(n):
                    data[at + i * stride + j] += mass[i, j]
    sum_wrenches(layout.forces, work.forces.addresses, where.body_unknown, 1.0, force)


@njit(**_options)
def add_diagonal(layout, where, weights, work, data):
    """A diagonal of weights (n_v,) and rows into the matrix."""
    add_saddle(layout, where, work, data)
    for b in range(layout.body_kind.size):
        at, stride = where.body_place[b, 0], where.body_place[b, 1]
        for i in range(layout.body_v[b + 1] - layout.body_v[b]):
            data[at + i * (stride + 1)] += weights[layout.body_v[b] + i]


def accelerations(layout: Layout, plan: Plan, where: Places, v: Array, work: Work) -> tuple[Array, Array]:
    """v' and λ of M v' = f + Jᵀλ, J v' = γ; friction under the joints' reactions is found with them, in ``work``."""
    if len(layout.forces.pressed):
        settle_friction(layout, work, lambda: _accelerations(layout, plan, where, v, work)[1])
    return _accelerations(layout, plan, where, v, work)


def _accelerations(layout: Layout, plan: Plan, where: Places, v: Array, work: Work) -> tuple[Array, Array]:
    factors, x = factor_arrays(plan), np.zeros(plan.unknowns)
    add_mass(layout, where, v, work, factors.data, x)
    return _solve(layout, plan, where, factors, x, work.gamma)


def impulse(layout: Layout, plan: Plan, where: Places, v: Array, work: Work) -> Array:
    """The change of v of least kinetic energy after which the rows' rates hold."""
    factors, x = factor_arrays(plan), np.zeros(plan.unknowns)
    add_mass(layout, where, v, work, factors.data, x)
    x[:] = 0.0
    return _solve(layout, plan, where, factors, x, -work.phi_rate)[0]


def least(layout: Layout, plan: Plan, where: Places, weights: Array, work: Work, target: Array) -> Array:
    """The x of least Σ weight · x² with J x = target."""
    factors, x = factor_arrays(plan), np.zeros(plan.unknowns)
    add_diagonal(layout, where, weights, work, factors.data)
    return _solve(layout, plan, where, factors, x, target)[0]


def _solve(layout: Layout, plan: Plan, where: Places, factors: Factors, x: Array, target: Array) -> tuple[Array, Array]:
    x[where.row_unknown] = np.where(where.row_active, target, 0.0)
    factorise(plan, factors, REDUNDANT)
    substitute(plan, factors, x)
    return x[velocity_unknowns(layout, where)], x[where.row_unknown]


def velocity_unknowns(layout: Layout, where: Places) -> NDArray[np.int64]:
    """The unknown of each velocity."""
    width = np.diff(layout.body_v)
    offset = np.arange(layout.n_v) - np.repeat(layout.body_v[:-1], width)
    return np.asarray(np.repeat(where.body_unknown, width) + offset)
