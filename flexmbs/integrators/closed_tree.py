"""Trees as ordinary differential equations, compiled: y = (ξ, η) to y', with closing rows held to rounding.

Increments of the tree's coordinates from a base point, divided by their units, are x = N ξ + V z, and speeds
u = N η + V ζ, as in ``chart``: N spans what the closing rows leave free at the base point, V what they bind. z closes
the rows' positions (Newton), ζ their velocities. Without closing rows x = ξ and u = η.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from flexmbs.forces.assemble import add_wrenches
from flexmbs.forces.wrenches import wrenches
from flexmbs.integrators.chart import CLOSED, HALVINGS, ITERATIONS, NEARLY_CLOSED, STRIDE, TURN
from flexmbs.integrators.chart import CONTRADICTION as CONTRADICTING
from flexmbs.integrators.small_linear import factorise, solve
from flexmbs.profiles.table import evaluate
from flexmbs.rotations import tangent
from flexmbs.system.evaluate import constraint_rates, constraints, frames, measured
from flexmbs.system.tree_dynamics import tree_accelerations, tree_forces, tree_mass, tree_rows
from flexmbs.system.tree_kinematics import BALL, tree_retract, tree_state

_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_inlined: dict[str, Any] = {**_options, "inline": "always"}  # what is called from one place only
_inner: dict[str, Any] = {**_options, "no_cpython_wrapper": True}

FINE, NOT_FINITE, TOO_FAR, NOT_CLOSED, SINGULAR, CONTRADICTION, INEXACT = range(7)
WORDS = (
    "",
    "a number became infinite or undefined",
    "a body turns too far within one step",
    "the constraints could not be closed (Newton's iteration did not converge)",
    "the constraints depend on each other (a singular position)",
    "the number of independent constraints changes (a singular position)",
    "the error cannot be kept below the tolerance",
)
ALL, LOCATE, DERIVE, ROWS = range(4)
"""Parts of an evaluation: all, the stages at (t, y), what follows from them, the rows at the base point."""


@njit(**_inner)
def laws(m, w, t):
    """Functions of time."""
    now = min(max(t, m.limits[0]), m.limits[1])
    for r in range(w.prescribed.shape[0]):
        w.prescribed[r, 0], w.prescribed[r, 1], w.prescribed[r, 2] = evaluate(m.kinds, m.starts, m.params, r, now)


@njit(**_inner)
def too_far(m, w):
    """Whether increments are finite and no ball turns too far."""
    tree = m.tree
    for c in range(tree.kind.size):
        if not np.isfinite(w.increment[c]):
            return NOT_FINITE
        if tree.kind[c] == BALL:
            for i in range(3):
                if abs(w.increment[c + i]) > TURN:
                    return TOO_FAR
    return FINE


@njit(**_inner)
def moved_on(m, chart, w):
    """Coordinates of the increment."""
    for c in range(w.increment.size):
        w.increment[c] *= m.unit[c]
    tree_retract(m.tree, chart.base, w.increment, w.x)
    for c in range(w.increment.size):
        w.increment[c] /= m.unit[c]


@njit(**_inner)
def placed(m, w):
    """Poses, velocities, φ and J of the closing rows."""
    tree_state(m.tree, w.x, w.u, w.own)
    frames(m.layout, w.work)
    measured(m.layout, w.reference, w.work)
    constraints(m.layout, w.prescribed, w.work)


@njit(**_inner)
def scaled_rows(m, chart, w):
    """J in units, and by increments: the speeds of a ball are T(x) x'."""
    tree = m.tree
    tree_rows(tree, m.layout, w.own, w.work, w.rows, w.gamma)
    for r in range(w.rows.shape[0]):
        w.gamma[r] *= chart.row_scale[r]
        for c in range(w.rows.shape[1]):
            w.rows[r, c] *= chart.row_scale[r] * m.unit[c]
            w.moved[r, c] = w.rows[r, c]
    for c in range(tree.kind.size):
        if tree.kind[c] == BALL:
            tangent((w.increment[c], w.increment[c + 1], w.increment[c + 2]), w.map)
            for r in range(w.rows.shape[0]):
                for j in range(3):
                    total = 0.0
                    for i in range(3):
                        total += w.rows[r, c + i] * w.map[i, j]
                    w.moved[r, c + j] = total


@njit(**_inner)
def combined(combine, rows, held, columns, part, out, sign):
    """out = sign · U (rows[held] · columns)."""
    for k in range(columns.shape[1]):
        for a in range(held.size):
            total = 0.0
            for c in range(columns.shape[0]):
                total += rows[held[a], c] * columns[c, k]
            part[a] = total
        for i in range(combine.shape[0]):
            total = 0.0
            for a in range(held.size):
                total += combine[i, a] * part[a]
            out[i, k] = sign * total


@njit(**_inlined)
def newton(m, chart, w, t, xi, share):
    """Close positions at t and ``share`` of the way from the last place to ξ; the place found becomes the last."""
    bound, free = chart.near_z.size, chart.near_xi.size
    for k in range(bound):
        value = chart.near_z[k]
        for j in range(free):
            value += chart.near_zx[k, j] * share * (xi[j] - chart.near_xi[j])
        w.z[k] = value + chart.near_zt[k] * (t - chart.near_t[0])
    before, moved = np.inf, 0.0
    for _ in range(ITERATIONS):
        for c in range(w.increment.size):
            total = 0.0
            for j in range(free):
                total += chart.null[c, j] * (chart.near_xi[j] + share * (xi[j] - chart.near_xi[j]))
            for k in range(bound):
                total += chart.bound[c, k] * w.z[k]
            w.increment[c] = total
        status = too_far(m, w)
        if status != FINE:
            return status
        moved_on(m, chart, w)
        placed(m, w)
        scaled_rows(m, chart, w)
        combined(chart.combine, w.moved, chart.held, chart.bound, w.part, w.matrix, 1.0)
        for k in range(bound):
            total = 0.0
            for a in range(chart.held.size):
                r = chart.held[a]
                total += chart.combine[k, a] * chart.row_scale[r] * w.work.phi[r]
            w.right[k, 0] = total
        if not factorise(w.matrix, bound, w.pivots):
            return SINGULAR
        solve(w.matrix, bound, w.pivots, w.right, 1)
        size = 0.0
        for k in range(bound):
            if not np.isfinite(w.right[k, 0]):
                return NOT_FINITE
            size = max(size, abs(w.right[k, 0]))
        if size <= CLOSED or (before < NEARLY_CLOSED and size > before / 4):
            for a in range(chart.held.size):
                r = chart.held[a]
                if abs(chart.row_scale[r] * w.work.phi[r]) > CONTRADICTING:
                    return CONTRADICTION
            remember(chart, w, t, xi, share)
            return FINE
        before = size
        moved += size
        for k in range(bound):
            w.z[k] -= w.right[k, 0]
        if moved > STRIDE:
            return NOT_CLOSED
    return NOT_CLOSED


@njit(**_inlined)
def remember(chart, w, t, xi, share):
    """Make the place found the last one, with ∂z/∂ξ and ∂z/∂t for the next guess."""
    bound, free = chart.near_z.size, chart.near_xi.size
    combined(chart.combine, w.moved, chart.held, chart.null, w.part, w.right, -1.0)
    for k in range(bound):
        total = 0.0
        for a in range(chart.held.size):  # ∂φ/∂t = -(prescribed rate)
            r = chart.held[a]
            total += chart.combine[k, a] * chart.row_scale[r] * w.prescribed[r, 1]
        w.right[k, free] = total
    solve(w.matrix, bound, w.pivots, w.right, free + 1)
    for k in range(bound):
        chart.near_z[k], chart.near_zt[k] = w.z[k], w.right[k, free]
        for j in range(free):
            chart.near_zx[k, j] = w.right[k, j]
    for j in range(free):
        chart.near_xi[j] += share * (xi[j] - chart.near_xi[j])
    chart.near_t[0] = t


@njit(**_inlined)
def closed(m, chart, w, t, xi):
    """Close positions at (t, ξ), from the last place; in several strides where one is too long."""
    strides, done = 1, 0
    start = chart.near_t[0]
    while True:
        there = start + (t - start) * (done + 1) / strides if done + 1 < strides else t
        laws(m, w, there)
        status = newton(m, chart, w, there, xi, 1.0 / (strides - done))
        if status == FINE:
            done += 1
            if done == strides:
                return FINE
        elif strides == 2**HALVINGS or (status == CONTRADICTION and strides > 1):
            return status
        else:  # what was reached stays; the rest of the way in twice as many
            start = chart.near_t[0]
            strides = 2 * (strides - done)
            done = 0
            if strides > 2**HALVINGS:
                return status


@njit(**_inlined)
def moving(m, chart, w, eta):
    """Speeds with Nᵀ u = η that fulfil all closing rows; leaves the factors of U J V."""
    bound, free = chart.bound_v.shape[1], eta.size
    combined(chart.combine_v, w.rows, chart.every, chart.bound_v, w.part, w.matrix, 1.0)
    if not factorise(w.matrix, bound, w.pivots):
        return SINGULAR
    for c in range(w.u.size):
        total = 0.0
        for j in range(free):
            total += chart.null_v[c, j] * eta[j]
        w.u[c] = total
    for r in range(w.rows.shape[0]):
        total = chart.row_scale[r] * w.prescribed[r, 1 if m.layout.row_holonomic[r] else 0]
        for c in range(w.rows.shape[1]):
            total -= w.rows[r, c] * w.u[c]
        w.part[r] = total
    for k in range(bound):
        total = 0.0
        for r in range(w.rows.shape[0]):
            total += chart.combine_v[k, r] * w.part[r]
        w.right[k, 0] = total
    solve(w.matrix, bound, w.pivots, w.right, 1)
    for c in range(w.u.size):
        total = w.u[c]
        for k in range(bound):
            total += chart.bound_v[c, k] * w.right[k, 0]
        if not np.isfinite(total):
            return NOT_FINITE
        w.u[c] = m.unit[c] * total
    return FINE


@njit(**_inlined)
def located(m, chart, w, t, y):
    """All stages at (t, y), Python forces apart; FINE or why not."""
    free = chart.null.shape[1]
    if w.rows.shape[0] == 0:
        laws(m, w, t)
        for c in range(free):
            w.increment[c], w.u[c] = y[c], m.unit[c] * y[free + c]
        status = too_far(m, w)
        if status != FINE:
            return status
        moved_on(m, chart, w)
        if m.layout.frame_body.size == 0:  # nothing but weight acts
            tree_state(m.tree, w.x, w.u, w.own)
        else:
            placed(m, w)
    else:
        for i in range(y.size):
            if not np.isfinite(y[i]):
                return NOT_FINITE
        status = closed(m, chart, w, t, y[:free])
        if status != FINE:
            return status
        status = moving(m, chart, w, y[free:])
        if status != FINE:
            return status
        placed(m, w)
    if m.layout.forces.table.shape[0] > 0:
        wrenches(m.layout, w.prescribed, w.work)
    if w.rows.shape[0] > 0:
        constraint_rates(m.layout, w.prescribed, w.own.v, w.work)
    return FINE


@njit(**_inlined)
def derived(m, chart, w, out):
    """y' of the evaluated state."""
    tree, free = m.tree, chart.null.shape[1]
    if w.own.applied.size:
        w.own.applied[:] = 0.0
        add_wrenches(m.layout, w.work, m.layout.body_v, 1.0, w.own.applied)
    if w.rows.shape[0] == 0:
        tree_accelerations(tree, w.own, w.rate)
        for c in range(free):
            out[free + c] = w.rate[c] / m.unit[c]
        increment_rates(m, w, out)
    else:
        status = bound_rates(m, chart, w, out)
        if status != FINE:
            return status
        increment_rates(m, w, w.rate)
        for j in range(free):
            total = 0.0
            for c in range(w.rate.size):
                total += chart.null[c, j] * w.rate[c]
            out[j] = total
    for i in range(out.size):
        if not np.isfinite(out[i]):
            return NOT_FINITE
    return FINE


@njit(**_inner)
def increment_rates(m, w, out):
    """x' in units: for a ball T⁻¹(x) u = u + ½ x × u + k x × (x × u)."""
    tree = m.tree
    for c in range(tree.kind.size):
        out[c] = w.u[c] / m.unit[c]
    for c in range(tree.kind.size):
        if tree.kind[c] == BALL:
            x, y, z = w.increment[c], w.increment[c + 1], w.increment[c + 2]
            a, b, g = w.u[c], w.u[c + 1], w.u[c + 2]
            angle2 = x * x + y * y + z * z
            if angle2 < 1e-4:
                k = 1.0 / 12.0 + angle2 / 720.0 + angle2 * angle2 / 30240.0
            else:
                angle = np.sqrt(angle2)
                k = 1.0 / angle2 - (1.0 + np.cos(angle)) / (2.0 * angle * np.sin(angle))
            p, q, r = y * g - z * b, z * a - x * g, x * b - y * a
            out[c] = a + 0.5 * p + k * (y * r - z * q)
            out[c + 1] = b + 0.5 * q + k * (z * p - x * r)
            out[c + 2] = g + 0.5 * r + k * (x * q - y * p)


@njit(**_inlined)
def bound_rates(m, chart, w, out):
    """η' = (AᵀMA)⁻¹ Aᵀ (f - M g), A = N - V (U J V)⁻¹ U J N and g = V (U J V)⁻¹ U γ: Maggi's equations of the loops."""
    tree = m.tree
    n, free, bound, first = w.u.size, chart.null_v.shape[1], chart.bound_v.shape[1], chart.null.shape[1]
    scaled_rows(m, chart, w)
    combined(chart.combine_v, w.rows, chart.every, chart.bound_v, w.part, w.matrix, 1.0)
    if not factorise(w.matrix, bound, w.pivots):
        return SINGULAR
    combined(chart.combine_v, w.rows, chart.every, chart.null_v, w.part, w.right, 1.0)
    for k in range(bound):
        total = 0.0
        for r in range(w.rows.shape[0]):
            total += chart.combine_v[k, r] * w.gamma[r]
        w.right[k, free] = total
    solve(w.matrix, bound, w.pivots, w.right, free + 1)
    for c in range(n):
        for j in range(free):
            total = chart.null_v[c, j]
            for k in range(bound):
                total -= chart.bound_v[c, k] * w.right[k, j]
            w.motion[c, j] = total
        total = 0.0
        for k in range(bound):
            total += chart.bound_v[c, k] * w.right[k, free]
        w.motion[c, free] = total
        w.rate[c] = 0.0
    tree_forces(tree, w.own, w.rate, w.own.tau)
    tree_mass(tree, w.own, w.mass)
    for c in range(n):
        for j in range(free + 1):
            total = 0.0
            for i in range(n):
                total += w.mass[c, i] * m.unit[i] * w.motion[i, j]
            w.product[c, j] = m.unit[c] * total
        w.product[c, free] = -m.unit[c] * w.own.tau[c] - w.product[c, free]
        w.own.tau[c] = 0.0
    for i in range(free):
        for j in range(free + 1):
            total = 0.0
            for c in range(n):
                total += w.motion[c, i] * w.product[c, j]
            if j < free:
                w.small[i, j] = total
            else:
                w.result[i, 0] = total
    if not factorise(w.small, free, w.pivots):
        return SINGULAR
    solve(w.small, free, w.pivots, w.result, 1)
    for j in range(free):
        out[first + j] = w.result[j, 0]
    return FINE


@njit(**_inlined)
def rates(m, chart, w, t, y, out, what):
    """y' at (t, y), or only a part of the way, see ``ALL``; FINE or why there is none."""
    status = FINE
    if what == ROWS:
        w.increment[:] = 0.0
        laws(m, w, t)
        moved_on(m, chart, w)
        placed(m, w)
        scaled_rows(m, chart, w)
        return status
    if what != DERIVE:
        status = located(m, chart, w, t, y)
    if status == FINE and what != LOCATE:
        status = derived(m, chart, w, out)
    return status
