"""Friction in a joint under the joint's own reaction, compiled.

The rows of a joint exert the force F = Σ λ_r F_r on its second frame. What presses is the part across the axis a of the
friction's coordinate, F_t = F - (a·F) a, and N = |F_t|. Multipliers come in as ``factor`` · ``multipliers``, for
implicit steps scale them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from flexmbs.forces.laws import FRAME_I, MEASURE, START
from flexmbs.forces.layout import TWIST
from flexmbs.forces.triples import add, inner, minus, options, part, times
from flexmbs.forces.wrenches import gradient_part, measure_rate, scalar_wrench
from flexmbs.joints.measures import A2, ANGLE, AXIS, A, cross, dot, pulls, row, vector


@njit(**inner)
def friction_axis(layout, vectors, m):
    """Direction of an angle's axis or of a distance, in global axes."""
    a = row(vectors, m, A)
    return cross(a, row(vectors, m, A2)) if layout.measure_kind[m] == ANGLE else a


@njit(**inner)
def row_force(layout, gradient, r):
    """Force of a unit multiplier of row r on the second frame."""
    total = (0.0, 0.0, 0.0)
    for k in range(layout.row_start[r], layout.row_start[r + 1]):
        m = layout.term_measure[k]
        if pulls(layout.measure_kind[m]):
            total = add(total, times(layout.term_factor[k], part(gradient, m, 0)))
    return total


@njit(**options)
def press_by_reactions(layout, multipliers, factor, work):
    """Normal force N and its derivative by a turn of the first frame, and the wrenches of friction under it."""
    forces, normal = layout.forces, work.forces.normal
    for k in range(forces.pressed.shape[0]):
        f = forces.pressed[k, 0]
        axis = friction_axis(layout, work.vectors, forces.table[f, MEASURE])
        total, turning = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for r in range(forces.pressed[k, 1], forces.pressed[k, 2]):
            force = times(factor * multipliers[r], row_force(layout, work.gradient, r))
            total = add(total, force)
            if layout.measure_kind[layout.term_measure[layout.row_start[r]]] == AXIS:
                turning = add(turning, force)  # the part that turns with the first frame
        along = dot(axis, total)
        across = minus(total, times(along, axis))
        size = np.sqrt(dot(across, across))
        # |F_t| δ|F_t| = F_t · (δθ × F_turning - (a·F) δθ × a)
        change = cross(minus(turning, times(along, axis)), across)
        normal[f, 0] = size
        for p in range(3):
            normal[f, 1 + p] = change[p] / size if size > 0.0 else 0.0
            work.forces.across[k, p] = across[p] / size if size > 0.0 else 0.0
        scalar_wrench(layout, work, f)


@njit(**options)
def friction_under(layout, normal, work):
    """The wrenches of friction under given normal forces."""
    for k in range(layout.forces.pressed.shape[0]):
        f = layout.forces.pressed[k, 0]
        work.forces.normal[f, 0] = normal[k]
        scalar_wrench(layout, work, f)


@njit(**options)
def add_pressing(layout, where, work, data):
    """Derivatives of friction by the multipliers, into the columns of the rows of its joint."""
    forces, gradient, pair = layout.forces, work.gradient, work.forces.pair
    for k in range(forces.pressed.shape[0]):
        f = forces.pressed[k, 0]
        m, at = forces.table[f, MEASURE], forces.table[f, START]
        for p in range(3):
            for side in range(2):
                frame = forces.table[f, FRAME_I + side]
                pair[TWIST, 6 * side + p] = work.frame_velocity[frame, p]
                pair[TWIST, 6 * side + 3 + p] = work.spin[layout.frame_body[frame], p]
        share = np.tanh(measure_rate(gradient, m, pair) / forces.params[at + 2])
        slope = -forces.params[at + 3] * share
        for r in range(forces.pressed[k, 1], forces.pressed[k, 2]):
            if not where.row_active[r]:
                continue
            change = slope * dot(vector(work.forces.across, k), row_force(layout, gradient, r))
            for e in range(layout.entry_start[r], layout.entry_start[r + 1]):
                b, place, stride = layout.entry_body[e], where.entry_column[e, 0], where.entry_column[e, 1]
                n = layout.body_v[b + 1] - layout.body_v[b]
                for side in range(2):
                    frame = forces.table[f, FRAME_I + side]
                    if layout.frame_body[frame] != b:
                        continue
                    for c in range(n):
                        total = 0.0
                        for p in range(6):
                            t = work.frame_t[layout.frame_t[frame] + p * n + c]
                            total += t * gradient_part(gradient, m, 6 * side + p)
                        data[place + c * stride] -= change * total
