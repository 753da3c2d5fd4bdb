"""Friction in a joint under the joint's own reaction, compiled.

The rows of a joint exert the force F = Σ λ_r F_r on its second frame. What presses is the part across the axis a of the
friction's coordinate, F_t = F - (a·F) a, and N = |F_t|. Multipliers come in as ``factor`` · ``multipliers``, for
implicit steps scale them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.forces.laws import FRAME_I, FRAME_J, MEASURE, START
from flexmbs.forces.triples import add, inner, minus, options, part, times
from flexmbs.forces.wrenches import frame_twists, gradient_part, measure_rate
from flexmbs.joints.measures import A2, ANGLE, AXIS, A, cross, dot, pulls, row

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Rubbing(NamedTuple):
    """The arrays of the layout and of the work that friction in joints reads and writes."""

    table: Index
    params: Array
    pressed: Index
    row_start: Index
    term_measure: Index
    term_factor: Array
    measure_kind: Index
    frame_body: Index
    gradient: Array
    vectors: Array
    frame_velocity: Array
    frame_spin: Array
    pair: Array
    normal: Array
    across: Array
    wrench: Array


@njit(**inner)
def row_force(rubbing, r):
    """Force of a unit multiplier of row r on the second frame."""
    x, y, z = 0.0, 0.0, 0.0
    for k in range(rubbing.row_start[r], rubbing.row_start[r + 1]):
        m, factor = rubbing.term_measure[k], rubbing.term_factor[k]
        if pulls(rubbing.measure_kind[m]):
            x += factor * rubbing.gradient[m, 0]
            y += factor * rubbing.gradient[m, 1]
            z += factor * rubbing.gradient[m, 2]
    return x, y, z


@njit(**inner)
def rub(rubbing, f, normal):
    """Bring the wrench of friction f to a normal force; returns -μ r tanh(s'/slip), its force along s by N."""
    table, params, pair = rubbing.table, rubbing.params, rubbing.pair
    m, at = table[f, MEASURE], table[f, START]
    frame_twists(table[f, FRAME_I], table[f, FRAME_J], rubbing.frame_velocity, rubbing.frame_spin, pair)
    slope = -params[at + 3] * np.tanh(measure_rate(rubbing.gradient, m, pair) / params[at + 2])
    for p in range(12):
        change = slope * (normal - rubbing.normal[f, 0])
        rubbing.wrench[f, p] += change * gradient_part(rubbing.gradient, m, p)
    rubbing.normal[f, 0] = normal
    return slope


@njit(**inner)
def press_by_reactions(rubbing, multipliers, factor):
    """Normal forces N, and the wrenches of friction under them.

    Kept are N, its derivative by a turn of the first frame and its direction, both times the friction by N.
    """
    for k in range(rubbing.pressed.shape[0]):
        f = rubbing.pressed[k, 0]
        m = rubbing.table[f, MEASURE]
        axis = row(rubbing.vectors, m, A)
        if rubbing.measure_kind[m] == ANGLE:
            axis = cross(axis, row(rubbing.vectors, m, A2))
        total, turning = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for r in range(rubbing.pressed[k, 1], rubbing.pressed[k, 2]):
            force = times(factor * multipliers[r], row_force(rubbing, r))
            total = add(total, force)
            if rubbing.measure_kind[rubbing.term_measure[rubbing.row_start[r]]] == AXIS:
                turning = add(turning, force)  # the part that turns with the first frame
        along = dot(axis, total)
        across = minus(total, times(along, axis))
        size = np.sqrt(dot(across, across))
        slope = rub(rubbing, f, size)
        # |F_t| δ|F_t| = F_t · (δθ × F_turning - (a·F) δθ × a)
        change = cross(minus(turning, times(along, axis)), across)
        if size > 0.0:
            slope /= size
        for p in range(3):
            rubbing.normal[f, 1 + p] = slope * change[p]
            rubbing.across[k, p] = slope * across[p]


@njit(**inner)
def add_pressing(rubbing, entry_start, entry_body, body_v, frame_start, frame_t, columns, data):
    """Derivatives of friction by the multipliers, into the columns (entries, 2) of the rows of its joint."""
    for k in range(rubbing.pressed.shape[0]):
        f = rubbing.pressed[k, 0]
        m, across = rubbing.table[f, MEASURE], part(rubbing.across, k, 0)
        for r in range(rubbing.pressed[k, 1], rubbing.pressed[k, 2]):
            change = dot(across, row_force(rubbing, r))
            for e in range(entry_start[r], entry_start[r + 1]):
                b, place, stride = entry_body[e], columns[e, 0], columns[e, 1]
                n = body_v[b + 1] - body_v[b]
                for side in range(2):
                    frame = rubbing.table[f, FRAME_I + side]
                    if rubbing.frame_body[frame] == b:
                        for c in range(n):
                            total = 0.0
                            for p in range(6):
                                t = frame_t[frame_start[frame] + p * n + c]
                                total += t * gradient_part(rubbing.gradient, m, 6 * side + p)
                            data[place + c * stride] -= change * total


@njit(**inner)
def rubbing_of(layout, work):
    """The arrays of a layout and a work."""
    forces, done = layout.forces, work.forces
    return Rubbing(
        forces.table, forces.params, forces.pressed, layout.row_start, layout.term_measure, layout.term_factor,
        layout.measure_kind, layout.frame_body, work.gradient, work.vectors, work.frame_velocity, work.frame_spin,
        done.pair, done.normal, done.across, done.wrench,
    )  # fmt: skip


@njit(**options)
def friction_by_reactions(layout, multipliers, work):
    """The wrenches of friction that belong to given multipliers."""
    press_by_reactions(rubbing_of(layout, work), multipliers, 1.0)


@njit(**options)
def friction_under(layout, normal, work):
    """The wrenches of friction under given normal forces."""
    rubbing = rubbing_of(layout, work)
    for k in range(rubbing.pressed.shape[0]):
        rub(rubbing, rubbing.pressed[k, 0], normal[k])
