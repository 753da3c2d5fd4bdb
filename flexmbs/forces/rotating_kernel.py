"""Pseudo-forces of a rotating frame on one body and their exact derivatives, compiled.

With r from the origin to the mass centre, u its velocity, ω the body's spin and J its inertia about the mass centre,
all seen in the rotating frame, which turns with Ω while its origin is accelerated by a:

    F = -m (a + Ω' × r + Ω × (Ω × r) + 2 Ω × u)
    M = -(J Ω' + Ω × J Ω + (tr J Ω - 2 J Ω) × ω)

Params, from ``at`` on: m, origin, J in body axes; functions of time: Ω, a. Rates are ``later`` by so many places.
"""

from __future__ import annotations

from numba import njit

from flexmbs.forces.layout import DAMPING, STIFFNESS
from flexmbs.forces.triples import add, inner, minus, put, put_column, times, triple, unit
from flexmbs.joints.measures import cross, dot, turn, turn_back, vector


@njit(**inner)
def turned_inertia(rotation, j, params, at, a):
    """R J Rᵀ a, with J from params[at + 4] on."""
    b = turn_back(rotation, j, a)
    return turn(
        rotation,
        j,
        (
            dot(triple(params, at + 4), b),
            dot(triple(params, at + 7), b),
            dot(triple(params, at + 10), b),
        ),
    )


@njit(**inner)
def rotating_wrench(j, b, position, velocity, rotation, spins, params, at, time, first, later, wrench, f):
    """Wrench on frame j, at the mass centre of body b."""
    spin, change, pull = triple(time, first), triple(time, first + later), triple(time, first + 3)
    r, w = minus(vector(position, j), triple(params, at + 1)), vector(spins, b)
    inward = cross(spin, add(cross(spin, r), times(2.0, vector(velocity, j))))
    force = times(-params[at], add(pull, add(cross(change, r), inward)))
    momentum = turned_inertia(rotation, b, params, at, spin)
    trace = params[at + 4] + params[at + 8] + params[at + 12]
    moment = add(cross(spin, momentum), cross(minus(times(trace, spin), times(2.0, momentum)), w))
    moment = times(-1.0, add(turned_inertia(rotation, b, params, at, change), moment))
    zero = (0.0, 0.0, 0.0)
    put(wrench, f, zero, zero, force, moment)


@njit(**inner)
def rotating_tangents(b, rotation, spins, params, at, time, first, later, tangent):
    """∂(wrench)/∂(δr, δθ) and ∂(wrench)/∂(v, ω), column by column; a turn δθ changes J x by δθ × J x - J (δθ × x)."""
    zero = (0.0, 0.0, 0.0)
    spin, change, w, m = triple(time, first), triple(time, first + later), vector(spins, b), params[at]
    momentum = turned_inertia(rotation, b, params, at, spin)
    rising = turned_inertia(rotation, b, params, at, change)
    trace = params[at + 4] + params[at + 8] + params[at + 12]
    swing = minus(times(trace, spin), times(2.0, momentum))
    for q in range(6, 12):
        shift, angle = unit(2, q), unit(3, q)
        d_momentum = minus(cross(angle, momentum), turned_inertia(rotation, b, params, at, cross(angle, spin)))
        d_rising = minus(cross(angle, rising), turned_inertia(rotation, b, params, at, cross(angle, change)))
        d_moment = add(d_rising, add(cross(spin, d_momentum), times(-2.0, cross(d_momentum, w))))
        d_force = add(cross(change, shift), cross(spin, cross(spin, shift)))
        put_column(tangent, STIFFNESS, q, zero, zero, times(-m, d_force), times(-1.0, d_moment))
        put_column(
            tangent, DAMPING, q, zero, zero, times(-2.0 * m, cross(spin, shift)), times(-1.0, cross(swing, angle))
        )


@njit(**inner)
def rotating_potential(j, b, work, params, at, time, first, later):
    """Centrifugal potential V = -½ (m |Ω × r|² + Ω·J Ω), and the power of its force less ∂V/∂t of a changing Ω."""
    spin, change, w, m = triple(time, first), triple(time, first + later), vector(work.spin, b), params[at]
    r, u = minus(vector(work.frame_position, j), triple(params, at + 1)), vector(work.frame_velocity, j)
    momentum, swept = turned_inertia(work.rotation, b, params, at, spin), cross(spin, r)
    energy = -0.5 * (m * dot(swept, swept) + dot(spin, momentum))
    power = -m * dot(cross(spin, swept), u) - dot(cross(spin, momentum), w)
    return energy, power + m * dot(swept, cross(change, r)) + dot(change, momentum)
