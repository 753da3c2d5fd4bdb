"""States between two states: quintic Hermite curves on the Lie group, through positions, velocities, accelerations.

Coordinates are counted from the first state, rotations by the rotation vector ψ = log(R₀ᵀR): with ω = T(ψ) ψ' and
ω' = T ψ'' + T' ψ', T the tangent map of rotations, ψ and two derivatives are known at both ends. The curve is of sixth
order in the distance of the states.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import RIGID
from flexmbs.errors import AnalysisError
from flexmbs.integrators.history import History, Snapshot
from flexmbs.system.saddle import accelerations, least

Array = NDArray[np.float64]

CLOSED = 1e-14
"""Constraint error, relative to the mechanism's size, below which nothing is moved."""
RESOLVED, SPEED = 2.0, 4.0
"""Elastic coordinates that turn by more than this angle [rad] from state to state, and move faster than so many times
their size in that time, vibrate faster than the states show: a curve through their rates would overshoot wildly. They
go from one state to the next smoothly and no farther."""
_SMALL = 0.05
"""Below this angle [rad] series replace quotients."""


def between(system: Any, a: Snapshot, b: Snapshot, velocities: bool = True) -> Callable[[float], Snapshot]:
    """The states from ``a`` to ``b`` as a function of time.

    Positions are moved onto the constraints, with ``velocities`` also these. Multipliers change linearly. States more
    than half a turn apart are refused: the curve could not know which way round.
    """
    if b.t <= a.t:
        raise AnalysisError(f"no time passes between the states at t = {a.t:.6g} and {b.t:.6g}: nothing lies between.")
    curve = _Curve(system, a, b)

    def at(t: float) -> Snapshot:
        s = (t - a.t) / (b.t - a.t)
        q, v, rate = curve(s)
        angles = a.angles + s * (b.angles - a.angles)
        multipliers = a.multipliers + s * (b.multipliers - a.multipliers)
        q, v = closed(system, t, q, v, angles, velocities)
        return Snapshot(t, q, v, rate, multipliers, system.evaluate(t, q, v, angles).measure.copy())

    return at


def state_at(system: Any, history: History, t: float) -> Snapshot:
    """The state of a history at time t, with accelerations and multipliers from the equations of motion.

    With bodies in full order these are interpolated too: accelerations by the curve, multipliers linearly.
    """
    k = int(np.searchsorted(history.t, t))
    if history.t[k] == t:
        return history.snapshot(k)
    state = between(system, history.snapshot(k - 1), history.snapshot(k))(t)
    if system.condensed is not None:
        return state
    work = system.evaluate(t, state.q, state.v, state.angles)
    layout, plan, where = system.independent
    rate, multipliers = accelerations(layout, plan, where, state.v, work)
    return state._replace(rate=rate, multipliers=multipliers)


def closed(system: Any, t: float, q: Array, v: Array, angles: Array, velocities: bool = True) -> tuple[Array, Array]:
    """The state moved by the least weighted distance to where the constraints hold; not with bodies in full order."""
    if not system.rows or system.condensed is not None:
        return q, v
    (layout, plan, where), weights = system.independent, system.length_weights**2
    positions = where._replace(row_active=where.row_active & system.holonomic)
    size = max(1.0, system.walked[1])
    work = system.evaluate(t, q, v, angles)
    for _ in range(3):
        if not np.abs(np.where(positions.row_active, work.phi, 0.0)).max(initial=0.0) > CLOSED * size:
            break
        q = system.retract(q, least(layout, plan, positions, weights, work, -work.phi))
        work = system.evaluate(t, q, v, angles)
    return q, v + least(layout, plan, where, weights, work, -work.phi_rate) if velocities else v


class _Curve:
    """Increments from the first state as polynomials of fifth degree in s, which goes from 0 to 1."""

    def __init__(self, system: Any, a: Snapshot, b: Snapshot) -> None:
        layout, self.h, self.q, self.system = system.layout, b.t - a.t, a.q, system
        rigid = np.flatnonzero(layout.body_kind == RIGID)
        self.turns = layout.body_v[rigid][:, None] + np.arange(3, 6)
        quaternions = layout.body_q[rigid][:, None] + np.arange(3, 7)
        end = np.zeros(layout.n_v)
        straight = np.ones(layout.n_v, dtype=bool)
        straight[self.turns.ravel()] = False
        own = np.ones(layout.n_q, dtype=bool)
        own[quaternions.ravel()] = False
        end[straight] = (b.q - a.q)[own]
        psi = _log(a.q[quaternions], b.q[quaternions])
        spin = 0.5 * self.h * (np.abs(a.v[self.turns]).max(initial=0.0) + np.abs(b.v[self.turns]).max(initial=0.0))
        if spin > np.pi:
            raise AnalysisError(
                f"between t = {a.t:.6g} and {b.t:.6g} bodies turn by more than half a turn: what was kept lies too far "
                "apart to find states between (a smaller output_step)."
            )
        end[self.turns] = psi
        v, rate = b.v.copy(), b.rate.copy()
        v[self.turns] = _untangled(psi, b.v[self.turns])
        rate[self.turns] = _untangled(psi, b.rate[self.turns] - _tangent_rate(psi, v[self.turns]))
        first, second = self.h * a.v, self.h**2 * a.rate
        unseen = np.zeros(layout.n_v, dtype=bool)
        unseen[straight] = np.maximum(np.abs(first), np.abs(self.h * v))[straight] > SPEED * np.maximum(
            np.abs(a.q[own]), np.abs(b.q[own])
        )
        unseen &= _frequencies(system) * self.h > RESOLVED
        first, second = np.where(unseen, 0.0, first), np.where(unseen, 0.0, second)
        v, rate = np.where(unseen, 0.0, v), np.where(unseen, 0.0, rate)
        d, e, f = end - first - second / 2, self.h * v - first - second, self.h**2 * rate - second
        self.terms = np.stack(
            [0 * d, first, second / 2, 10 * d - 4 * e + f / 2, -15 * d + 7 * e - f, 6 * d - 3 * e + f / 2]
        )

    def __call__(self, s: float) -> tuple[Array, Array, Array]:
        """q, v and v'."""
        powers = s ** np.arange(6)
        k = np.arange(1, 6)
        x = powers @ self.terms
        v = (k * powers[:5]) @ self.terms[1:] / self.h
        rate = (k[1:] * k[:4] * powers[:4]) @ self.terms[2:] / self.h**2
        psi, turning = x[self.turns], v[self.turns]
        rate[self.turns] = _tangled(psi, rate[self.turns]) + _tangent_rate(psi, turning)
        v[self.turns] = _tangled(psi, turning)
        return self.system.retract(self.q, x), v, rate


def _frequencies(system: Any) -> Array:
    """Angular frequency of every elastic coordinate by itself, zero for the others; endless where it is not known."""
    out = np.zeros(system.layout.n_v)
    for b, body in enumerate(system.bodies):
        if body.modes:
            end = system.layout.body_v[b + 1]
            known = None if body.full_order else np.diag(body.moments.stiffness)
            out[end - body.modes : end] = np.inf if known is None else np.sqrt(np.maximum(known, 0.0))
    return out


def _log(a: Array, b: Array) -> Array:
    """Rotation vectors (n, 3) from the quaternions a (n, 4) to b, in the axes turned by a; the shorter way."""
    scalar = np.sum(a * b, axis=1)
    vector = a[:, :1] * b[:, 1:] - b[:, :1] * a[:, 1:] - np.cross(a[:, 1:], b[:, 1:])
    vector = np.where(scalar[:, None] < 0, -vector, vector)
    size = np.linalg.norm(vector, axis=1)
    angle = 2 * np.arctan2(size, np.abs(scalar))
    return np.asarray(vector * np.where(size > 1e-9, angle / np.where(size > 1e-9, size, 1.0), 2.0)[:, None])


def _factors(psi: Array) -> tuple[Array, Array, Array, Array]:
    """f₁ = (1 - cos θ)/θ² and f₂ = (θ - sin θ)/θ³ of θ = abs(ψ), and their derivatives with respect to θ²."""
    square = np.sum(psi**2, axis=1, keepdims=True)
    small = square < _SMALL**2
    angle = np.sqrt(np.where(small, 1.0, square))
    cosine, sine = 1 - np.cos(angle), np.sin(angle)
    one = np.where(small, 1 / 2 - square / 24 + square**2 / 720 - square**3 / 40320, cosine / angle**2)
    two = np.where(small, 1 / 6 - square / 120 + square**2 / 5040 - square**3 / 362880, (angle - sine) / angle**3)
    slope_one = np.where(
        small, -1 / 24 + square / 360 - square**2 / 13440, (sine / angle**2 - 2 * cosine / angle**3) / (2 * angle)
    )
    slope_two = np.where(
        small,
        -1 / 120 + square / 2520 - square**2 / 120960,
        (cosine / angle**3 - 3 * (angle - sine) / angle**4) / (2 * angle),
    )
    return one, two, slope_one, slope_two


def _tangled(psi: Array, u: Array) -> Array:
    """T(ψ) u = u - f₁ ψ × u + f₂ ψ × (ψ × u)."""
    one, two, _, _ = _factors(psi)
    once = np.cross(psi, u)
    return np.asarray(u - one * once + two * np.cross(psi, once))


def _untangled(psi: Array, w: Array) -> Array:
    """T(ψ)⁻¹ w = w + ½ ψ × w + c ψ × (ψ × w), c = 1/θ² - cot(θ/2)/(2θ)."""
    square = np.sum(psi**2, axis=1, keepdims=True)
    small = square < _SMALL**2
    angle = np.sqrt(np.where(small, 1.0, square))
    c = np.where(
        small,
        1 / 12 + square / 720 + square**2 / 30240 + square**3 / 1209600,
        (1 - angle / 2 / np.tan(angle / 2)) / angle**2,
    )
    once = np.cross(psi, w)
    return np.asarray(w + 0.5 * once + c * np.cross(psi, once))


def _tangent_rate(psi: Array, u: Array) -> Array:
    """T' u where ψ' = u."""
    _, two, slope_one, slope_two = _factors(psi)
    change = 2 * np.sum(psi * u, axis=1, keepdims=True)
    once = np.cross(psi, u)
    return np.asarray(-slope_one * change * once + slope_two * change * np.cross(psi, once) + two * np.cross(u, once))
