"""Scalar laws along a measure s: the force that raises s, its derivatives, and its potential, compiled.

======== ==================================================================== ==========================================
kind     params                                                               force
======== ==================================================================== ==========================================
LINEAR   k, c, s₀; curves over s - s₀ and over s'; one function of time       -k (s - s₀) - c s' - curves + f(t)
STOP     lower, upper, k, n, c                                                k δⁿ (1 + c δ') beyond a limit
FRICTION preload, viscous, slip speed v, μ r; N from the joint                -viscous s' - (preload + μ r N) tanh(s'/v)
CONTACT  as STOP; then μ, slip speed, radius for friction                     as STOP
======== ==================================================================== ==========================================

APPLIED, BUSHING and ROTATING act on frames, see their kernels.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from flexmbs.forces.triples import inner
from flexmbs.profiles.table import SPLINE, SUM, evaluate

LINEAR, STOP, FRICTION, CONTACT, APPLIED, BUSHING, ROTATING = range(7)

KIND, FRAME_I, FRAME_J, MEASURE, START, TIME, STRETCH_CURVE, SPEED_CURVE = range(8)
"""Columns of the table of forces, see ``layout``."""


@njit(**inner)
def press(depth, rate, stiffness, exponent, damping):
    """k δⁿ (1 + c δ'), at least 0, and its derivatives with respect to δ and δ'."""
    lively = 1.0 + damping * rate
    if depth <= 0.0 or lively <= 0.0:
        return 0.0, 0.0, 0.0
    elastic = stiffness * depth**exponent
    return elastic * lively, exponent * elastic / depth * lively, elastic * damping


@njit(**inner)
def scalar_force(forces, f, s, rate, time, normal):
    """Force of law f along its measure, and its derivatives with respect to s and s'.

    ``time`` (profiles,) are the values of functions of time, ``normal`` (forces, 4) the normal forces in joints.
    """
    kind, p, at = forces.table[f, KIND], forces.params, forces.table[f, START]
    if kind == LINEAR:
        stiffness, damping = p[at], p[at + 1]
        stretch = s - p[at + 2]
        pull, resistance = stiffness * stretch, damping * rate
        curve = forces.table[f, STRETCH_CURVE]
        if curve >= 0:
            pull, stiffness, _ = evaluate(forces.curve_kinds, forces.curve_starts, forces.curve_params, curve, stretch)
        curve = forces.table[f, SPEED_CURVE]
        if curve >= 0:
            resistance, damping, _ = evaluate(forces.curve_kinds, forces.curve_starts, forces.curve_params, curve, rate)
        return time[forces.table[f, TIME]] - pull - resistance, -stiffness, -damping
    if kind == FRICTION:
        share, dry = np.tanh(rate / p[at + 2]), p[at] + p[at + 3] * normal[f, 0]
        by_rate = -p[at + 1] - dry * (1.0 - share * share) / p[at + 2]
        return -p[at + 1] * rate - dry * share, 0.0, by_rate
    if s > p[at]:
        force, by_depth, by_rate = press(s - p[at + 1], rate, p[at + 2], p[at + 3], p[at + 4])
        return -force, -by_depth, -by_rate
    force, by_depth, by_rate = press(p[at] - s, -rate, p[at + 2], p[at + 3], p[at + 4])
    return force, -by_depth, -by_rate


@njit(**inner)
def scalar_potential(forces, f, s):
    """Potential of law f, and the elastic force -dV/ds."""
    kind, p, at = forces.table[f, KIND], forces.params, forces.table[f, START]
    if kind == LINEAR:
        stretch = s - p[at + 2]
        curve = forces.table[f, STRETCH_CURVE]
        if curve >= 0:
            pull, _, _ = evaluate(forces.curve_kinds, forces.curve_starts, forces.curve_params, curve, stretch)
            return integral(forces.curve_kinds, forces.curve_starts, forces.curve_params, curve, stretch), -pull
        return 0.5 * p[at] * stretch * stretch, -p[at] * stretch
    if kind == FRICTION:
        return 0.0, 0.0
    if s > p[at]:
        force, _, _ = press(s - p[at + 1], 0.0, p[at + 2], p[at + 3], 0.0)
        return force * max(s - p[at + 1], 0.0) / (p[at + 3] + 1.0), -force
    force, _, _ = press(p[at] - s, 0.0, p[at + 2], p[at + 3], 0.0)
    return force * max(p[at] - s, 0.0) / (p[at + 3] + 1.0), force


@njit(**inner)
def integral(kinds, starts, params, row, x):
    """∫₀ˣ of a curve: exact for splines and for polynomials up to degree 5, or over many panels."""
    if kinds[row] != SUM:
        return panels(kinds, starts, params, row, 0.0, x)
    at = starts[row]
    total = 0.0
    for k in range(int(params[at])):
        weight, shift, part = params[at + 1 + 3 * k], params[at + 2 + 3 * k], int(params[at + 3 + 3 * k])
        total += weight * panels(kinds, starts, params, part, -shift, x - shift)
    return total


@njit(**inner)
def panels(kinds, starts, params, row, a, b):
    """∫ from a to b by Gauss's three points, between the knots of a spline or over 64 panels."""
    at = starts[row]
    periodic = kinds[row] == SPLINE and params[at + 1] != 0.0
    if kinds[row] != SPLINE or periodic:
        total = 0.0
        for k in range(64):
            total += gauss(kinds, starts, params, row, a + (b - a) * k / 64.0, a + (b - a) * (k + 1) / 64.0)
        return total
    count = int(params[at])
    low, high = min(a, b), max(a, b)
    total, left = 0.0, low
    for k in range(count):
        knot = params[at + 2 + k]
        if left < knot < high:
            total += gauss(kinds, starts, params, row, left, knot)
            left = knot
    total += gauss(kinds, starts, params, row, left, high)
    return total if b >= a else -total


@njit(**inner)
def gauss(kinds, starts, params, row, a, b):
    """∫ over one panel by Gauss's three points."""
    middle, half = 0.5 * (a + b), 0.5 * (b - a)
    total = 8.0 * evaluate(kinds, starts, params, row, middle)[0]
    reach = half * np.sqrt(0.6)
    total += 5.0 * evaluate(kinds, starts, params, row, middle - reach)[0]
    total += 5.0 * evaluate(kinds, starts, params, row, middle + reach)[0]
    return total * half / 9.0
