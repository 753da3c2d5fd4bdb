"""Dry friction between surfaces in contact and its exact derivatives, compiled.

With n the normal from i to j, r the radius of j's surface (negative where it lies inside i's) and N the normal force,
the surfaces slide by the tangential part s of u = v_j - r ω_j × n - v_i - ω_i × (d - r n), and friction on j is
F = -μ N φ s, φ = tanh(|s|/slip)/|s|. Params, from ``at`` on: μ, slip, r.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from flexmbs.forces.layout import BY_POSITION, BY_VELOCITY, DAMPING, HESSIAN, STIFFNESS, TWIST
from flexmbs.forces.triples import add, inner, minus, part, put, put_column, times, unit
from flexmbs.joints.measures import cross, dot, vector


@njit(**inner)
def saturation(speed, slip):
    """φ = tanh(s/slip)/s and (dφ/ds)/s."""
    x = speed / slip
    if x < 1e-3:
        return (1.0 - x * x / 3.0) / slip, (-2.0 / 3.0 + 8.0 / 15.0 * x * x) / slip**3
    share = np.tanh(x)
    return share / speed, ((1.0 - share * share) - share / x) / (x * x * slip**3)


@njit(**inner)
def sliding(i, j, position, n, radius, pair):
    """d - r n, u, and the sliding velocity s."""
    arm = minus(minus(vector(position, j), vector(position, i)), times(radius, n))
    own = minus(part(pair, TWIST, 6), times(radius, cross(part(pair, TWIST, 9), n)))
    u = minus(own, add(part(pair, TWIST, 0), cross(part(pair, TWIST, 3), arm)))
    return arm, u, minus(u, times(dot(n, u), n))


@njit(**inner)
def friction_wrench(i, j, position, n, params, at, pressure, pair, out, f):
    """out[f] (12,) += friction under the normal force ``pressure``, whose sign is the side from which it presses."""
    mu, slip, radius = params[at], params[at + 1], params[at + 2]
    pressure = abs(pressure)
    arm, _, s = sliding(i, j, position, n, radius, pair)
    phi, _ = saturation(np.sqrt(dot(s, s)), slip)
    force = times(-mu * pressure * phi, s)
    put(out, f, times(-1.0, force), times(-1.0, cross(arm, force)), force, times(-radius, cross(n, force)))


@njit(**inner)
def friction_tangents(i, j, position, n, params, at, pressure, pair, tangent):
    """Add ∂(wrench)/∂(δr, δθ) and ∂(wrench)/∂(v, ω), (12, 12) each, column by column.

    ``pair`` holds the derivatives of the normal force; rows 6 to 8 of the measure's hessian are those of n.
    """
    mu, slip, radius = params[at], params[at + 1], params[at + 2]
    side = 1.0 if pressure > 0.0 else -1.0
    pressure *= side
    spin_i, spin_j = part(pair, TWIST, 3), part(pair, TWIST, 9)
    arm, u, s = sliding(i, j, position, n, radius, pair)
    phi, slope = saturation(np.sqrt(dot(s, s)), slip)
    force = times(-mu * pressure * phi, s)
    for column in range(24):
        q = column % 12
        first, second, third, fourth = unit(0, q), unit(1, q), unit(2, q), unit(3, q)
        if column < 12:  # a change of poses
            d_n = tangent[HESSIAN, 6, q], tangent[HESSIAN, 7, q], tangent[HESSIAN, 8, q]
            d_arm = minus(minus(third, first), times(radius, d_n))
            d_u = times(-1.0, add(times(radius, cross(spin_j, d_n)), cross(spin_i, d_arm)))
            d_pressure = side * pair[BY_POSITION, q]
        else:  # of twists
            d_n, d_arm = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            d_u = minus(minus(third, times(radius, cross(fourth, n))), add(first, cross(second, arm)))
            d_pressure = side * pair[BY_VELOCITY, q]
        d_s = minus(d_u, add(times(dot(n, d_u) + dot(d_n, u), n), times(dot(n, u), d_n)))
        along = phi * d_pressure + pressure * slope * dot(s, d_s)
        d_force = times(-mu, add(times(along, s), times(pressure * phi, d_s)))
        d_moment_i = times(-1.0, add(cross(d_arm, force), cross(arm, d_force)))
        d_moment_j = times(-radius, add(cross(d_n, force), cross(n, d_force)))
        which = STIFFNESS if column < 12 else DAMPING
        put_column(tangent, which, q, times(-1.0, d_force), d_moment_i, d_force, d_moment_j)
