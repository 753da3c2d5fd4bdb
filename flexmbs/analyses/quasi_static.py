"""Mechanisms deformed as slowly as they move: bodies carry the loads of the rigid motion and do not vibrate.

Of the motions that the joints leave free, T = (T_r, T_e), T_r deform nothing and T_e, orthogonal to them in the mass,
do. With the elastic velocities d' and accelerations d'' given, v' follows from J v' = γ and T_rᵀ (M v' - f) = 0; the
elastic coordinates are those with T_eᵀ (M v' - f) = 0. Zero d' and d'' give the deformation under the loads of the
rigid motion; its own rates, found by following that motion for a little while, are those of the state in which no
vibration begins.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexmbs.analyses.small_motions import balancing
from flexmbs.errors import AnalysisError
from flexmbs.results import Result
from flexmbs.system.free_motions import elastic_places, free_motions, least_bending
from flexmbs.system.linear import linearised
from flexmbs.system.state import State
from flexmbs.system.system import System

Array = NDArray[np.float64]

ITERATIONS = 40
SETTLED = 1e-13
"""Step, relative to the largest deflection, after which rounding is all that is left,"""
NEARLY_SETTLED = 1e-9
"""or when it was below this, in sizes of the mechanism, and does not shrink any more."""
AHEAD = 0.01
"""How far the motion is followed for its rates, in radians or sizes of the mechanism."""
PASSES = 2
FIRST = np.array([-11.0, 18.0, -9.0, 2.0]) / 6
SECOND = np.array([2.0, -5.0, 4.0, -1.0])
"""Differences of four values at equal times, at the first of them."""


class Settled(NamedTuple):
    """A quasi-static state with its accelerations and multipliers."""

    state: State
    rate: Array
    multipliers: Array


def quasi_static(system: System, about: State | Result | None = None) -> State:
    """The state of a mechanism (by default its initial one) with its flexible bodies deformed quasi-statically.

    Elastic coordinates and their velocities are those of bodies that follow the loads of the motion (inertia, gravity,
    forces, reactions) without vibrating: a motion that starts there begins without artificial ringing. Frames of bodies
    shift with the deformation as the joints demand; drives and the mean motion are kept.
    """
    if not isinstance(system, System):
        raise AnalysisError(f"quasi_static: a System is needed, not {type(system).__name__}.")
    if isinstance(about, Result):
        about = State(float(about.t[-1]), about.q[-1], about.v[-1], about.angles[-1])
    start = system.initial if about is None else about
    if not isinstance(start, State):
        raise AnalysisError(f"quasi_static: about is a State or a Result, not {type(about).__name__}.")
    if not system.elastic.any():
        return start
    count = int(np.count_nonzero(system.elastic))
    rates, here = np.zeros((2, count)), settled(system, start, np.zeros((2, count)))
    for _ in range(PASSES):
        span = _span(system, here)
        if not np.isfinite(span):
            break
        now, found = here, [elastic_coordinates(system, here.state.q)]
        for k in range(1, 4):
            expected = np.array([rates[0] + k * span * rates[1], rates[1]])
            now = settled(system, _ahead(system, now, span), expected)
            found.append(elastic_coordinates(system, now.state.q))
        rates = np.array([FIRST @ found / span, SECOND @ found / span**2])
        here = settled(system, here.state, rates)
    return here.state


def settled(system: System, start: State, rates: Array) -> Settled:
    """The state near ``start`` in which deformation balances all loads; ``rates`` (2, elastic) are d' and d''."""
    elastic, weights, size = system.elastic, system.length_weights, system.walked[1]
    t, q, v, angles = start.t, start.q, start.v.copy(), start.angles
    v[elastic] = rates[0]
    before = np.inf
    for _ in range(ITERATIONS):
        q, angles = _closed(system, t, q, angles)
        v = v + _missing(system, t, q, v, angles)
        e = system.equations(t, q, v, angles).dense()
        free = free_motions(system, e.J)
        rate = np.where(elastic, 0.0, np.zeros(system.n_v))
        rate[elastic] = rates[1]
        rate = rate + least_bending(system, e.J, e.gamma - e.J @ rate)
        moved = free.rigid.T @ e.M
        bend = free.elastic
        if free.rigid.shape[1]:
            inertia = moved @ free.rigid
            rate = rate + free.rigid @ np.linalg.solve(inertia, free.rigid.T @ e.f - moved @ rate)
            bend = bend - free.rigid @ np.linalg.solve(inertia, moved @ bend)
        force = e.M @ rate - e.f
        multipliers = balancing(system, e.J, force) if e.rows else np.zeros(0)
        if not bend.shape[1]:
            return Settled(State(t, q, v, angles), rate, multipliers)
        here = linearised(system, t, q, v, rate, multipliers, angles)
        step = -bend @ np.linalg.solve(bend.T @ here.stiffness @ bend, bend.T @ force)
        length = float(np.abs(step * weights).max() / size)
        if not np.isfinite(length):
            break
        deflection = np.abs(elastic_coordinates(system, q) * weights[elastic]).max() / size
        if length <= SETTLED * deflection or (before < NEARLY_SETTLED and length > before / 4):
            return Settled(State(t, q, v, angles), rate, multipliers)
        q, before = system.retract(q, step / max(1.0, 5.0 * length)), length
    raise AnalysisError(
        f"at t = {t:.6g} s no deformation was found that balances the loads of the motion: flexible bodies give way "
        "(buckling, or stiffening=False in a fast rotation), or move nearly as fast as they vibrate."
    )


def elastic_coordinates(system: System, q: Array) -> Array:
    """The elastic coordinates of all bodies, one after the other."""
    return np.asarray(q[elastic_places(system)])


def _closed(system: System, t: float, q: Array, angles: Array) -> tuple[Array, Array]:
    """q with all loops closed, bodies bent as little as can be, and the angles there."""
    held, still = system.holonomic, np.zeros(system.n_v)
    for _ in range(30):
        work = system.evaluate(t, q, still, angles)
        if np.abs(work.phi).max(initial=0.0) <= 1e-13 * max(1.0, system.walked[1]):
            break
        q = system.retract(q, least_bending(system, system.jacobian(work).toarray()[held], -work.phi[held]))
    return q, np.asarray(system.evaluate(t, q, still, angles).measure).copy()


def _missing(system: System, t: float, q: Array, v: Array, angles: Array) -> Array:
    """The least change of velocities after which all rows hold."""
    work = system.evaluate(t, q, v, angles)
    return least_bending(system, system.jacobian(work).toarray(), -work.phi_rate)


def _span(system: System, here: Settled) -> float:
    """Time in which the motion goes as far as it is followed; infinite at rest."""
    lengths = system.length_weights / system.walked[1]
    speed = np.abs(here.state.v * lengths).max(initial=0.0)
    speed = max(speed, np.sqrt(np.abs(here.rate * lengths).max(initial=0.0)))
    return float(AHEAD / speed) if speed > 1e-9 else np.inf


def _ahead(system: System, here: Settled, span: float) -> State:
    """A little later, with the accelerations of now."""
    state: Any = here.state
    q = system.retract(state.q, span * state.v + span**2 / 2 * here.rate)
    return State(state.t + span, q, state.v + span * here.rate, state.angles)
