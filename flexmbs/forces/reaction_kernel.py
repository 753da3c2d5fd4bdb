"""Friction in a joint under the joint's own reaction, compiled.

The rows of a joint exert the force F = Σ λ_r F_r on its second frame. What presses is the part across the axis a of the
friction's coordinate, F_t = F - (a·F) a, and N = |F_t|. Multipliers come in as ``factor`` · ``multipliers``, for
implicit steps scale them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from flexmbs.forces.laws import FRAME_I, FRAME_J, MEASURE, START
from flexmbs.forces.triples import add, inner, minus, options, part, times
from flexmbs.forces.wrenches import frame_twists, gradient_part, measure_rate
from flexmbs.joints.measures import A2, ANGLE, AXIS, A, cross, dot, pulls, row


@njit(**inner)
def row_force(r, row_start, term_measure, term_factor, measure_kind, gradient):
    """Force of a unit multiplier of row r on the second frame."""
    x, y, z = 0.0, 0.0, 0.0
    for k in range(row_start[r], row_start[r + 1]):
        m, factor = term_measure[k], term_factor[k]
        if pulls(measure_kind[m]):
            x, y, z = x + factor * gradient[m, 0], y + factor * gradient[m, 1], z + factor * gradient[m, 2]
    return x, y, z


@njit(**inner)
def rub(forces, f, normal, slope, gradient, work_normal, wrench):
    """Bring the wrench of friction f to another normal force; ``slope`` is the friction by N, along its measure."""
    change = slope * (normal - work_normal[f, 0])
    work_normal[f, 0] = normal
    for p in range(12):
        wrench[f, p] += change * gradient_part(gradient, forces.table[f, MEASURE], p)


@njit(**inner)
def friction_slope(layout, f, work):
    """-μ r tanh(s'/slip): the force of friction f along its measure by its normal force."""
    forces, pair = layout.forces, work.forces.pair
    at = forces.table[f, START]
    frame_twists(
        forces.table[f, FRAME_I], forces.table[f, FRAME_J], layout.frame_body, work.frame_velocity, work.spin, pair
    )
    rate = measure_rate(work.gradient, forces.table[f, MEASURE], pair)
    return -forces.params[at + 3] * np.tanh(rate / forces.params[at + 2])


@njit(**inner)
def press_by_reactions(layout, multipliers, factor, work):
    """Normal forces N, and the wrenches of friction under them.

    Kept are N, its derivative by a turn of the first frame and its direction, both times the friction by N.
    """
    forces = layout.forces
    for k in range(forces.pressed.shape[0]):
        f = forces.pressed[k, 0]
        m = forces.table[f, MEASURE]
        axis = row(work.vectors, m, A)
        if layout.measure_kind[m] == ANGLE:
            axis = cross(axis, row(work.vectors, m, A2))
        total, turning = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for r in range(forces.pressed[k, 1], forces.pressed[k, 2]):
            force = row_force(
                r, layout.row_start, layout.term_measure, layout.term_factor, layout.measure_kind, work.gradient
            )
            force = times(factor * multipliers[r], force)
            total = add(total, force)
            if layout.measure_kind[layout.term_measure[layout.row_start[r]]] == AXIS:
                turning = add(turning, force)  # the part that turns with the first frame
        along = dot(axis, total)
        across = minus(total, times(along, axis))
        size = np.sqrt(dot(across, across))
        slope = friction_slope(layout, f, work)
        rub(forces, f, size, slope, work.gradient, work.forces.normal, work.forces.wrench)
        # |F_t| δ|F_t| = F_t · (δθ × F_turning - (a·F) δθ × a)
        change = cross(minus(turning, times(along, axis)), across)
        if size > 0.0:
            slope /= size
        for p in range(3):
            work.forces.normal[f, 1 + p] = slope * change[p]
            work.forces.across[k, p] = slope * across[p]


@njit(**inner)
def add_pressing(layout, where, work, data):
    """Derivatives of friction by the multipliers, into the columns of the rows of its joint."""
    forces, gradient = layout.forces, work.gradient
    for k in range(forces.pressed.shape[0]):
        f = forces.pressed[k, 0]
        across = part(work.forces.across, k, 0)
        for r in range(forces.pressed[k, 1], forces.pressed[k, 2]):
            if not where.row_active[r]:
                continue
            force = row_force(
                r, layout.row_start, layout.term_measure, layout.term_factor, layout.measure_kind, gradient
            )
            change = dot(across, force)
            for e in range(layout.entry_start[r], layout.entry_start[r + 1]):
                b, place, stride = layout.entry_body[e], where.entry_column[e, 0], where.entry_column[e, 1]
                n = layout.body_v[b + 1] - layout.body_v[b]
                for side in range(2):
                    frame = forces.table[f, FRAME_I + side]
                    if layout.frame_body[frame] == b:
                        for c in range(n):
                            total = 0.0
                            for p in range(6):
                                t = work.frame_t[layout.frame_t[frame] + p * n + c]
                                total += t * gradient_part(gradient, forces.table[f, MEASURE], 6 * side + p)
                            data[place + c * stride] -= change * total


@njit(**options)
def friction_by_reactions(layout, multipliers, work):
    """The wrenches of friction that belong to given multipliers."""
    press_by_reactions(layout, multipliers, 1.0, work)


@njit(**options)
def friction_under(layout, normal, work):
    """The wrenches of friction under given normal forces."""
    for k in range(layout.forces.pressed.shape[0]):
        f = layout.forces.pressed[k, 0]
        slope = friction_slope(layout, f, work)
        rub(layout.forces, f, normal[k], slope, work.gradient, work.forces.normal, work.forces.wrench)
