"""The audit of a motion: energies, powers and total wrenches over all its instants, compiled, and their integrals."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.bodies.body import GROUND, RIGID
from flexmbs.forces.laws import FRAME_I
from flexmbs.forces.user import FrameState
from flexmbs.forces.wrenches import energies
from flexmbs.profiles import evaluate_all as evaluate_laws
from flexmbs.rotations import quaternion_exp, quaternion_product
from flexmbs.system.evaluate import Work, evaluate_all, retract, row_speed, work_arrays

Array = NDArray[np.float64]

_options: dict[str, Any] = {"cache": True, "error_model": "numpy"}


class Audit(NamedTuple):
    """What the audit reads off every instant; wrenches are forces and moments about the origin, in global axes."""

    stored: Array  # (time, forces) potential of forces, Python ones last
    power: Array  # (time, forces) of what has no potential
    error: Array  # (time,) largest |φ|
    slip: Array  # (time,) λ · φ', the power of constraint forces on velocities that break the constraints
    ground: Array  # (time, 6) wrench on the ground of all joints and forces
    outside: Array  # (time, forces that act on one frame, 6) what they add to the whole
    rates: Array  # (time, rows) prescribed rates


def audit(system: Any, t: Array, q: Array, v: Array, angles: Array, multipliers: Array) -> Audit:
    """The audit of all instants."""
    table, n, users = system.layout.forces.table, len(t), len(system.user_forces)
    single = np.flatnonzero(table[:, FRAME_I] < 0)
    out = Audit(
        np.zeros((n, len(table) + users)),
        np.zeros((n, len(table) + users)),
        np.zeros(n),
        np.zeros(n),
        np.zeros((n, 6)),
        np.zeros((n, len(single) + users, 6)),
        np.zeros((n, len(system.rows))),
    )
    angles, q, v, multipliers = (np.ascontiguousarray(a, dtype=float) for a in (angles, q, v, multipliers))
    if not users and not system.functions and not len(system.layout.forces.pressed):
        work = work_arrays(system.layout)
        _audit(system.layout, prescribed(system, t), angles, q, v, multipliers, single, work, *out)
        return out
    for i in range(n):  # Python functions are called at every instant
        work = system.evaluate(t[i], q[i], v[i], angles[i], multipliers[i])
        layout = system.layout_at(t[i], q[i], v[i], angles[i])
        _read(layout, i, v[i], multipliers[i], single, work, *out)
        _add_users(system, i, t[i], work, len(table), len(single), out)
    return out


def prescribed(system: Any, t: Array) -> Array:
    """Value, rate and acceleration (time, rows and functions of forces, 3) of all functions of time."""
    table = system.table
    if table.callbacks:
        return np.array([system.prescribed(x) for x in t]).reshape(len(t), -1, 3)
    params = table.params.copy()  # one compiled version for all: read-only arrays would make another
    return np.asarray(evaluate_laws(table.kinds, table.starts, params, len(system.profiles), np.array(t, dtype=float)))


@njit(**_options)
def _add_wrench(out, i, at, wrench, f, first):
    """Add the wrench f[first:first + 6] at a point to out[i], about the origin."""
    for p in range(3):
        a, b = (p + 1) % 3, (p + 2) % 3
        out[i, p] += wrench[f, first + p]
        out[i, 3 + p] += wrench[f, first + 3 + p] + at[a] * wrench[f, first + b] - at[b] * wrench[f, first + a]


@njit(**_options)
def _audit(layout, laws, angles, q, v, multipliers, single, work, stored, power, error, slip, ground, outside, rates):
    for i in range(q.shape[0]):
        evaluate_all(layout, laws[i], angles[i], q[i], v[i], work)
        _read(
            layout, i, v[i], multipliers[i], single, work, stored, power, error, slip, ground, outside, rates
        )  # fmt: skip


@njit(**_options)
def _read(layout, i, v, multipliers, single, work, stored, power, error, slip, ground, outside, rates):
    """Instant i of an audit, from its evaluation."""
    table, count = layout.forces.table, layout.forces.table.shape[0]
    if count:
        energies(layout, work, stored[i, :count], power[i, :count])
    for r in range(multipliers.size):
        error[i] = max(error[i], abs(work.phi[r]))
        slip[i] += multipliers[r] * work.phi_rate[r]
        rates[i, r] = row_speed(layout, r, v, work) - work.phi_rate[r]  # what is prescribed: φ' = J v - b
        for k in range(layout.row_start[r], layout.row_start[r + 1]):
            m, factor = layout.term_measure[k], layout.term_factor[k] * multipliers[r]
            for side in range(2):
                f = layout.measure_i[m] if side == 0 else layout.measure_j[m]
                if layout.body_kind[layout.frame_body[f]] != GROUND:
                    continue
                at, sign = work.frame_position[f], (-factor if side == 0 else factor)
                for p in range(3):
                    a, b = (p + 1) % 3, (p + 2) % 3
                    ground[i, p] += sign * work.gradient[m, p]
                    arm = at[a] * work.gradient[m, b] - at[b] * work.gradient[m, a]
                    ground[i, 3 + p] += sign * arm + factor * work.gradient[m, 3 + 3 * side + p]
    for f in range(count):
        for side in range(2):
            frame = table[f, FRAME_I + side]
            if frame >= 0 and layout.body_kind[layout.frame_body[frame]] == GROUND:
                _add_wrench(ground, i, work.frame_position[frame], work.forces.wrench, f, 6 * side)
    for k in range(single.size):
        f = single[k]
        _add_wrench(outside[i], k, work.frame_position[table[f, FRAME_I + 1]], work.forces.wrench, f, 6)


def _add_users(system: Any, i: int, t: float, work: Work, first: int, single: int, out: Audit) -> None:
    """What Python functions do at instant i."""
    layout, book = system.layout, system.frames
    for k, force in enumerate(system.user_forces.forces):
        numbers = [book.number(f) for f in force.frames]
        states = tuple(
            FrameState(
                work.frame_position[f].copy(),
                work.frame_rotation[f].copy(),
                work.frame_velocity[f].copy(),
                work.frame_spin[f].copy(),
            )
            for f in numbers
        )
        for f, state, wrench in zip(numbers, states, force.wrenches(t, states), strict=True):
            total = np.append(wrench[:3], wrench[3:] + np.cross(state.position, wrench[:3]))
            out.power[i, first + k] += wrench[:3] @ state.velocity + wrench[3:] @ state.angular_velocity
            out.outside[i, single + k] += total
            if layout.body_kind[layout.frame_body[f]] == GROUND:
                out.ground[i] += total


# ---- integrals ------------------------------------------------------------------------------------------------------


def midpoints(t: Array, values: Array) -> Array:
    """Values (time - 1, ...) halfway between instants, by the cubic through the four around (fewer: a lower degree)."""
    n = len(t)
    reach = min(4, n)
    middle = (t[1:] + t[:-1]) / 2
    first = np.clip(np.arange(n - 1) - (reach // 2 - 1), 0, n - reach)
    nodes = t[first[:, None] + np.arange(reach)]
    weights = np.ones((n - 1, reach))
    with np.errstate(divide="ignore", invalid="ignore"):
        for k in range(reach):
            for m in range(reach):
                if m != k:
                    weights[:, k] *= (middle - nodes[:, m]) / (nodes[:, k] - nodes[:, m])
    twice = np.flatnonzero(~np.isfinite(weights).all(axis=1))  # an instant kept twice: the mean will do
    weights[twice] = 0.0
    for side in (0, 1):
        weights[twice, twice + side - first[twice]] = 0.5
    return np.einsum("tk,tk...->t...", weights, values[first[:, None] + np.arange(reach)])


def integral(t: Array, values: Array, halfway: Array | None = None) -> Array:
    """Integral from the first instant to each, by Simpson's rule; halfway values are interpolated where not known."""
    out = np.zeros_like(values)
    if len(t) > 1:
        middle = midpoints(t, values) if halfway is None else halfway
        steps = np.diff(t).reshape(-1, *(1,) * (values.ndim - 1))
        np.cumsum(steps / 6 * (values[:-1] + 4 * middle + values[1:]), axis=0, out=out[1:])
    return out


def halfway_states(system: Any, t: Array, q: Array, v: Array, rate: Array) -> tuple[Array, Array]:
    """Coordinates and velocities halfway between instants, by Hermite's cubics from v and v'."""
    h = np.diff(t)[:, None]
    between = (v[:-1] + v[1:]) / 2 + h / 8 * (rate[:-1] - rate[1:])
    out = np.empty((len(h), q.shape[1]))
    _halfway(system.layout, h[:, 0], q, v, rate, out)
    return out, between


@njit(**_options)
def _halfway(layout, h, q, v, rate, out):
    """q halfway: by the cubic's integral from either end, and the mean of both (rotations: half of what is left)."""
    ahead, back = np.zeros(v.shape[1]), np.zeros(v.shape[1])
    behind, gap = np.zeros(q.shape[1]), np.zeros(4)
    for i in range(h.size):
        s = h[i]
        for k in range(v.shape[1]):
            # ∫ of the cubic of v over the first and the second half
            first, last, bend, end = v[i, k], v[i + 1, k], rate[i, k], rate[i + 1, k]
            ahead[k] = s * (13 * first + 3 * last) / 32 + s * s * (11 * bend - 5 * end) / 192
            back[k] = -s * (3 * first + 13 * last) / 32 - s * s * (5 * bend - 11 * end) / 192
        retract(layout, q[i], ahead, out[i])
        retract(layout, q[i + 1], back, behind)
        for b in range(layout.body_kind.size):
            k, n = layout.body_q[b], layout.body_q[b + 1] - layout.body_q[b]
            rigid = layout.body_kind[b] == RIGID
            for j in range(3 if rigid else n):
                out[i, k + j] = (out[i, k + j] + behind[k + j]) / 2
            if rigid:
                for j in range(7, n):  # elastic coordinates
                    out[i, k + j] = (out[i, k + j] + behind[k + j]) / 2
                a, c = out[i, k + 3 : k + 7], behind[k + 3 : k + 7]
                quaternion_product((a[0], -a[1], -a[2], -a[3]), (c[0], c[1], c[2], c[3]), gap)
                sign = 1.0 if gap[0] >= 0 else -1.0
                half = quaternion_exp((sign * gap[1], sign * gap[2], sign * gap[3]))
                quaternion_product((a[0], a[1], a[2], a[3]), half, a)
