"""The stage of forces, compiled: wrenches on frames, their derivatives, and what they do to the energy.

What few models have is called by address, see ``hooks``.
"""

from __future__ import annotations

from numba import njit

from flexmbs.forces.bushing_kernel import bushing_potential
from flexmbs.forces.laws import (
    APPLIED,
    BUSHING,
    CONTACT,
    FRAME_I,
    FRAME_J,
    FRICTION,
    KIND,
    MEASURE,
    ROTATING,
    START,
    TIME,
    scalar_force,
    scalar_potential,
)  # fmt: skip
from flexmbs.forces.layout import BY_POSITION, BY_VELOCITY, DAMPING, HESSIAN, STIFFNESS, TWIST
from flexmbs.forces.pointers import call
from flexmbs.forces.rotating_kernel import rotating_potential
from flexmbs.forces.triples import inner, options, part, put, put_column, triple, unit
from flexmbs.joints.measures import (
    FORCE_SHIFT,
    MOMENT_I_TURN_I,
    MOMENT_J_TURN_I,
    MOMENT_J_TURN_J,
    MOMENT_SHIFT,
    add_stiffness,
    cross,
    turn,
)  # fmt: skip


@njit(**inner)
def frame_twists(i, j, velocity, spin, pair):
    """Twists (12,) of both frames; zero for a frame that there is not."""
    for p in range(3):
        pair[TWIST, p] = velocity[i, p] if i >= 0 else 0.0
        pair[TWIST, 3 + p] = spin[i, p] if i >= 0 else 0.0
        pair[TWIST, 6 + p] = velocity[j, p]
        pair[TWIST, 9 + p] = spin[j, p]


@njit(**inner)
def gradient_part(gradient, m, p):
    """Component p of the gradient (12,) of measure m with respect to (r_i, θ_i, r_j, θ_j)."""
    if p < 3:
        return -gradient[m, p]
    return gradient[m, p] if p < 6 else gradient[m, p - 6] if p < 9 else gradient[m, p - 3]


@njit(**inner)
def measure_rate(gradient, m, pair):
    """Rate of measure m."""
    total = 0.0
    for p in range(12):
        total += gradient_part(gradient, m, p) * pair[TWIST, p]
    return total


@njit(**inner)
def wrenches(layout, prescribed, work):
    """Stage 4: the wrench of every force; functions of time follow those of the rows in ``prescribed``."""
    forces, time, wrench, pair = layout.forces, work.forces.time, work.forces.wrench, work.forces.pair
    rows, addresses = layout.row_start.size - 1, work.forces.addresses.ctypes.data
    for k in range(forces.times):
        time[k], time[forces.times + k] = prescribed[rows + k, 0], prescribed[rows + k, 1]
    wrench[:] = 0.0
    for f in range(forces.table.shape[0]):
        kind, i, j, at = (
            forces.table[f, KIND],
            forces.table[f, FRAME_I],
            forces.table[f, FRAME_J],
            forces.table[f, START],
        )
        if kind == APPLIED:
            force, torque = triple(time, forces.table[f, TIME]), triple(time, forces.table[f, TIME] + 3)
            if forces.params[at] > 0.0:
                force, torque = turn(work.frame_rotation, j, force), turn(work.frame_rotation, j, torque)
            put(wrench, f, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), force, torque)
            continue
        frame_twists(i, j, work.frame_velocity, work.frame_spin, pair)
        if kind in (BUSHING, ROTATING):
            call(forces.hooks[0], addresses, f, 0.0, 0.0, 0, 0, 0)
            continue
        m = forces.table[f, MEASURE]
        rate = measure_rate(work.gradient, m, pair)
        along, _, _ = scalar_force(forces, f, work.measure[m], rate, time, work.forces.normal)
        if along == 0.0:  # surfaces apart may be where the measure has no gradient
            continue
        for p in range(12):
            wrench[f, p] = along * gradient_part(work.gradient, m, p)
        if kind == CONTACT and forces.params[at + 5] > 0.0:
            call(forces.hooks[0], addresses, f, along, 0.0, 0, 0, 0)


@njit(**inner)
def measure_hessian(kind, m, vectors, gradient, link, tangent):
    """tangent[HESSIAN] (12, 12) = ∂(gradient of measure m)/∂(δr_i, δθ_i, δr_j, δθ_j)."""
    link[:] = 0.0
    add_stiffness(kind, m, vectors, gradient, 1.0, link, 0)
    for p in range(3):
        for q in range(3):
            shift, moment, own = link[0, FORCE_SHIFT, p, q], link[0, MOMENT_SHIFT, p, q], link[0, MOMENT_J_TURN_J, p, q]
            for side in range(2):
                sign = 1.0 if side == 1 else -1.0  # the force acts on j, and against it on i
                tangent[HESSIAN, 6 * side + p, q] = -sign * shift
                tangent[HESSIAN, 6 * side + p, 6 + q] = sign * shift
                tangent[HESSIAN, 6 * side + p, 3 + q] = -sign * moment
                tangent[HESSIAN, 6 * side + p, 9 + q] = 0.0
            tangent[HESSIAN, 3 + p, q] = -moment
            tangent[HESSIAN, 3 + p, 6 + q] = moment
            tangent[HESSIAN, 3 + p, 3 + q] = link[0, MOMENT_I_TURN_I, p, q]
            tangent[HESSIAN, 3 + p, 9 + q] = -own
            tangent[HESSIAN, 9 + p, q] = tangent[HESSIAN, 9 + p, 6 + q] = 0.0
            tangent[HESSIAN, 9 + p, 3 + q] = link[0, MOMENT_J_TURN_I, p, q]
            tangent[HESSIAN, 9 + p, 9 + q] = own


@njit(**inner)
def wrench_tangents(layout, work, f):
    """Derivatives of the wrench of force f by poses and twists, into work.forces.tangent."""
    forces, pair, tangent, wrench = layout.forces, work.forces.pair, work.forces.tangent, work.forces.wrench
    kind, i, j, at = forces.table[f, KIND], forces.table[f, FRAME_I], forces.table[f, FRAME_J], forces.table[f, START]
    tangent[:] = 0.0
    addresses = work.forces.addresses.ctypes.data
    if kind == APPLIED:
        if forces.params[at] > 0.0:
            zero = (0.0, 0.0, 0.0)
            for q in range(9, 12):
                force, torque = cross(unit(3, q), part(wrench, f, 6)), cross(unit(3, q), part(wrench, f, 9))
                put_column(tangent, STIFFNESS, q, zero, zero, force, torque)
        return
    frame_twists(i, j, work.frame_velocity, work.frame_spin, pair)
    if kind in (BUSHING, ROTATING):
        call(forces.hooks[1], addresses, f, 0.0, 0.0, 0, 0, 0)
        return
    m, gradient = forces.table[f, MEASURE], work.gradient
    rate = measure_rate(gradient, m, pair)
    along, by_value, by_rate = scalar_force(forces, f, work.measure[m], rate, work.forces.time, work.forces.normal)
    if kind == CONTACT and along == 0.0:
        return
    measure_hessian(layout.measure_kind[m], m, work.vectors, gradient, work.forces.link, tangent)
    # δs' = δgradient · twist + gradient · δtwist
    for q in range(12):
        changed = 0.0
        for p in range(12):
            changed += pair[TWIST, p] * tangent[HESSIAN, p, q]
        pair[BY_POSITION, q] = by_value * gradient_part(gradient, m, q) + by_rate * changed
        pair[BY_VELOCITY, q] = by_rate * gradient_part(gradient, m, q)
    if kind == FRICTION:
        for p in range(3):
            pair[BY_POSITION, 3 + p] += work.forces.normal[f, 1 + p]
    for p in range(12):
        slope = gradient_part(gradient, m, p)
        for q in range(12):
            tangent[STIFFNESS, p, q] = along * tangent[HESSIAN, p, q] + slope * pair[BY_POSITION, q]
            tangent[DAMPING, p, q] = slope * pair[BY_VELOCITY, q]
    if kind == CONTACT and forces.params[at + 5] > 0.0:
        call(forces.hooks[1], addresses, f, along, 0.0, 0, 0, 0)


@njit(**options)
def energies(layout, work, energy, power):
    """Potential of every force, and the power of what has none: dampers, friction, actuators, applied forces."""
    forces, pair = layout.forces, work.forces.pair
    for f in range(forces.table.shape[0]):
        kind, i, j, at = (
            forces.table[f, KIND],
            forces.table[f, FRAME_I],
            forces.table[f, FRAME_J],
            forces.table[f, START],
        )
        frame_twists(i, j, work.frame_velocity, work.frame_spin, pair)
        power[f], energy[f], elastic = 0.0, 0.0, 0.0
        for p in range(12):
            power[f] += work.forces.wrench[f, p] * pair[TWIST, p]
        if kind == BUSHING:
            energy[f], elastic = bushing_potential(
                i, j, work.frame_position, work.frame_rotation, forces.params, at, pair
            )
        elif kind == ROTATING:
            energy[f], elastic = rotating_potential(
                j, layout.frame_body[j], work, forces.params, at, work.forces.time, forces.table[f, TIME], forces.times
            )
        elif kind != APPLIED:
            m = forces.table[f, MEASURE]
            energy[f], force = scalar_potential(forces, f, work.measure[m])
            if force != 0.0:
                elastic = force * measure_rate(work.gradient, m, pair)
        power[f] -= elastic
