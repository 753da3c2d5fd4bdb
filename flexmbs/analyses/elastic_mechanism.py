"""Small elastic motions of a mechanism about a known rigid motion, as linear equations of few coordinates.

Deviations x from the rigid motion (displacements of body frames, rotations in body axes, elastic coordinates d) obey
the linearised equations of motion. With δv = x' + W x, W = ω~ of rotations,

    M x'' + C x' + K x = -r + Jᵀδλ + Bᵀμ,   J x = 0,   B x = 0,

r the rigid motion's own residual, which the elastic rows have. So x = A(t) y with J A = 0, B A = 0, and

    AᵀMA y'' + Aᵀ(CA + 2MA') y' + Aᵀ(MA'' + CA' + KA) y = -Aᵀr.

Where the drives determine the motion there is no B, and every elastic coordinate is free: y = d, the frames follow from
the joints. So slider and rod pins move with a rod that stretches, and it does not matter how the floating frames are
chosen. Motions N that the drives leave free are known too: deviations must then have no momentum along them,
B = NᵀM, which are the mean axes (Buckens) of the mechanism.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
import scipy.linalg
from numpy.typing import NDArray

from flexmbs.analyses.rigid_motion import Curve, RigidMotion, hermite, quaternion_rates, spins, without_flips
from flexmbs.bodies.body import PLANAR, RIGID
from flexmbs.errors import AnalysisError
from flexmbs.integrators.newmark import DenseMotion
from flexmbs.nullspace import null_space
from flexmbs.results import Result
from flexmbs.rotations import skew
from flexmbs.system.linear import linearised
from flexmbs.system.system import System

Array = NDArray[np.float64]

CLOSED = 1e-5
"""Farthest, relative to the mechanism's size, that the rigid motion may miss a joint."""
HELD = 1e-6
"""Part of an elastic coordinate that joints may leave moving where they should hold it."""
SAME = 1e-9
"""Relative change of the equations over time below which they are constant."""
COARSE = 0.3
"""Largest difference, relative to the loads, of loads and what every second instant says of them."""
CLOSINGS = 2
"""Newton iterations that close the joints of the deformed bodies."""
CHUNK = 200
"""Instants whose matrices are held at once."""


@dataclass(frozen=True, eq=False)
class RigidHistory:
    """The rigid motion in the coordinates of the flexible mechanism, undeformed: q as curves over time.

    ``angles`` are the values near which angles are counted at the first instant.
    """

    system: System
    curve: Curve
    angles: Array

    def at(self, times: Array) -> tuple[Array, Array, Array]:
        """q, v and v' (times, ·)."""
        x, first, second = hermite(self.curve, times)
        layout = self.system.layout
        v, rate = np.zeros((len(times), self.system.n_v)), np.zeros((len(times), self.system.n_v))
        for b, kind in enumerate(layout.body_kind):
            k, m = int(layout.body_q[b]), int(layout.body_v[b])
            straight = 0 if not layout.body_v[b + 1] - m else 3
            v[:, m : m + straight], rate[:, m : m + straight] = first[:, k : k + straight], second[:, k : k + straight]
            if kind == RIGID:
                turn = slice(k + 3, k + 7)
                x[:, turn], v[:, m + 3 : m + 6], rate[:, m + 3 : m + 6] = spins(
                    x[:, turn], first[:, turn], second[:, turn]
                )
        return x, v, rate


def rigid_history(system: System, rigid: Result | Mapping[Any, RigidMotion], times: Array) -> RigidHistory:
    """The rigid motion of every body by its name; of functions it is sampled at ``times``."""
    t = rigid.t if isinstance(rigid, Result) else times
    shape = (len(t), system.n_q)
    x, first, second = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    layout = system.layout
    for b, body in enumerate(system.bodies):
        k, kind = int(layout.body_q[b]), int(layout.body_kind[b])
        if not body.n_v:
            continue
        values = _of_result(rigid, body, kind) if isinstance(rigid, Result) else _of_motion(rigid, body, kind, t)
        width = values[0].shape[1]
        for into, column in zip((x, first, second), values, strict=True):
            into[:, k : k + width] = column
    same = isinstance(rigid, Result) and rigid.angles.shape[1] == len(layout.measure_kind)
    angles = rigid.angles[0] if isinstance(rigid, Result) and same else system.initial.angles
    return RigidHistory(system, Curve(t, x, first, second), angles)


def _of_result(rigid: Result, body: Any, kind: int) -> tuple[Array, Array, Array]:
    """Coordinates of a body's frame with two derivatives."""
    others = rigid.system
    names = [other.name for other in others.bodies]
    if body.name not in names:
        raise AnalysisError(
            f"elastodynamics: the rigid motion has no body {body.name!r}; it has {', '.join(names)}. Bodies are found "
            "by their names."
        )
    b = names.index(body.name)
    if int(others.layout.body_kind[b]) != kind:
        raise AnalysisError(f"elastodynamics: {body.name!r} is planar in one mechanism and spatial in the other.")
    if others.bodies[b].modes:
        raise AnalysisError(
            f"elastodynamics: {body.name!r} is flexible in the rigid motion too; take that of body.rigid() instead."
        )
    k, m = int(others.layout.body_q[b]), int(others.layout.body_v[b])
    straight = slice(k, k + 3), slice(m, m + 3)
    values = (rigid.q[:, straight[0]], rigid.v[:, straight[1]], rigid.rate[:, straight[1]])
    if kind != RIGID:
        return values
    quaternion = without_flips(rigid.q[:, k + 3 : k + 7])
    turned = (quaternion, *quaternion_rates(quaternion, rigid.v[:, m + 3 : m + 6], rigid.rate[:, m + 3 : m + 6]))
    return tuple(np.hstack(pair) for pair in zip(values, turned, strict=True))  # type: ignore[return-value]


def _of_motion(motions: Mapping[Any, RigidMotion], body: Any, kind: int, t: Array) -> tuple[Array, Array, Array]:
    found = {getattr(key, "name", key): motion for key, motion in motions.items()}.get(body.name)
    if not isinstance(found, RigidMotion):
        raise AnalysisError(f"elastodynamics: a RigidMotion is needed for every body; {body.name!r} has none.")
    if t[-1] > found.end * (1 + 1e-12):
        raise AnalysisError(f"elastodynamics: the motion of {body.name!r} is known until {found.end:.6g} s only.")
    p = found.poses(t)
    if kind == RIGID:
        turned = (p.quaternion, *quaternion_rates(p.quaternion, p.spin, p.spin_rate))
        straight = (p.position, p.velocity, p.acceleration)
        return tuple(np.hstack(pair) for pair in zip(straight, turned, strict=True))  # type: ignore[return-value]
    if kind == PLANAR:
        angle = 2 * np.unwrap(np.arctan2(p.quaternion[:, 3], p.quaternion[:, 0]), period=np.pi)
        return tuple(  # type: ignore[return-value]
            np.column_stack([a[:, :2], w])
            for a, w in ((p.position, angle), (p.velocity, p.spin[:, 2]), (p.acceleration, p.spin_rate[:, 2]))
        )
    return p.position, p.velocity, p.acceleration


@dataclass(frozen=True, eq=False)
class Deviations:
    """The linear equations of x at some instants ``t``: matrices (times, n_v, n_v), residuals r, J, A(t) and angles.

    ``multipliers`` are those of the rigid motion; ``held`` motions of it are left free by joints and drives.
    """

    held: int
    t: Array
    mass: Array
    damping: Array
    stiffness: Array
    residual: Array
    jacobian: Array
    multipliers: Array
    basis: Array
    angles: Array


def deviations(history: RigidHistory) -> Deviations:
    """Evaluate the linear equations at the instants of the rigid motion."""
    system, t = history.system, history.curve.t
    if not system.holonomic.all():
        label = system.labels[int(np.argmin(system.holonomic))]
        raise AnalysisError(f"elastodynamics: {label} is a relation of velocities; joints must hold positions.")
    q, v, rate = history.at(t)
    elastic, scale = system.elastic, 1.0 / system.length_weights
    found: list[tuple[Array, ...]] = []
    frame = ~elastic
    held: int | None = None
    chosen: Array | None = None
    angles = history.angles
    for k, time in enumerate(t):
        work = system.evaluate(float(time), q[k], v[k], angles)
        angles = work.measure.copy()
        _closed(system, float(time), work.phi)
        jacobian = system.jacobian(work).toarray()
        mass, force = system.inertia(work, v[k])
        residual = mass @ rate[k] - force
        multipliers = _balance(jacobian[:, frame], residual[frame], scale[frame])
        free = _free_motions(jacobian, frame, scale)
        if held is not None and free.shape[1] != held:
            raise AnalysisError(
                f"elastodynamics: at t = {time:.6g} s the mechanism gains or loses a motion (a singular position)."
            )
        held = free.shape[1]
        rows = np.vstack([jacobian, free.T @ mass.toarray()[frame]])
        if chosen is None:
            chosen = _independent(rows, elastic, scale)
        basis = _basis(rows, chosen, elastic, scale, float(time))
        here = linearised(system, float(time), q[k], v[k], rate[k], multipliers, angles)
        if len(jacobian) + held > frame.sum():  # redundant rows share their forces as the elastic bodies make them
            left = residual - jacobian.T @ multipliers
            bent = basis @ np.linalg.solve(basis.T @ here.stiffness @ basis, -basis.T @ left)
            shared = _balance(rows, left + here.stiffness @ bent, scale)[: len(jacobian)]
            alone = null_space((jacobian[:, frame] * scale[frame]).T, "svd").A  # forces that move no rigid body
            multipliers = multipliers + alone @ np.linalg.lstsq(alone, shared, rcond=None)[0]
            here = linearised(system, float(time), q[k], v[k], rate[k], multipliers, angles)
        w, w_rate = _turning(system, v[k]), _turning(system, rate[k])
        found.append((
            here.mass, here.damping + here.mass @ w, here.stiffness + here.damping @ w + here.mass @ w_rate,
            residual - jacobian.T @ multipliers, jacobian, multipliers, basis, angles,
        ))  # fmt: skip
    columns = [np.array(column) for column in zip(*found, strict=True)]
    return Deviations(held or 0, t, *columns)


def _closed(system: System, t: float, phi: Array) -> None:
    if np.abs(phi).max(initial=0.0) > CLOSED * max(1.0, system.walked[1]):
        row = int(np.argmax(np.abs(phi)))
        raise AnalysisError(
            f"elastodynamics: the rigid motion does not fulfil the joints of the mechanism at t = {t:.6g} s: "
            f"{system.labels[row]} misses by {abs(phi[row]):.3g}. Take it from the same mechanism with rigid bodies."
        )


def _balance(jacobian: Array, force: Array, scale: Array) -> Array:
    """λ of least size with Jᵀλ = force, lengths scaled."""
    if not len(jacobian):
        return np.zeros(0)
    return np.asarray(np.linalg.lstsq(jacobian.T * scale[:, None], force * scale, rcond=1e-10)[0])


def _free_motions(jacobian: Array, frame: NDArray[np.bool_], scale: Array) -> Array:
    """N: motions of the undeformed bodies that joints and drives leave free."""
    if not len(jacobian):
        return np.eye(int(frame.sum()))
    return np.asarray(scale[frame, None] * null_space(jacobian[:, frame] * scale[frame], "svd").A)


def _close(system: System, t: float, q: Array, v: Array, rate: Array, angles: Array) -> None:
    """Move the frames so that bodies deformed by d meet in the joints, to second order in d: bending shortens them."""
    frame = ~system.elastic
    if not len(system.rows):
        return
    for last in (*(False,) * CLOSINGS, True):
        work = system.evaluate(t, q, v, angles)
        jacobian = system.jacobian(work).toarray()
        back = np.linalg.pinv(jacobian[:, frame] / system.length_weights[frame], rcond=1e-8)
        back /= system.length_weights[frame, None]
        if np.abs(work.phi).max(initial=0.0) < 1e-12 * max(1.0, system.walked[1]) or last:
            break
        step = np.zeros(system.n_v)
        step[frame] = -back @ work.phi
        q[:] = system.retract(q, step)
    v[frame] -= back @ work.phi_rate
    rate[frame] += back @ (system.evaluate(t, q, v, angles).gamma - jacobian @ rate)


def _turning(system: System, v: Array) -> Array:
    """W of angular velocities, or W' of their rates."""
    out = np.zeros((system.n_v, system.n_v))
    for b, kind in enumerate(system.layout.body_kind):
        if kind == RIGID:
            at = int(system.layout.body_v[b]) + 3
            out[at : at + 3, at : at + 3] = skew(v[at : at + 3])
    return out


def _independent(rows: Array, elastic: NDArray[np.bool_], scale: Array) -> Array:
    """Zᵀ (n_y, elastic): the elastic motions that rows which are redundant among rigid bodies leave free, y = Zᵀ d."""
    scaled = rows * scale
    frames = scipy.linalg.orth(scaled[:, ~elastic]) if rows.size else np.zeros((len(rows), 0))
    left = scaled[:, elastic] - frames @ (frames.T @ scaled[:, elastic])
    if not len(left) or np.abs(left).max() < 1e-8 * max(np.abs(scaled).max(), 1e-300):
        return np.eye(int(elastic.sum()))
    found = scipy.linalg.svd(left)
    rank = int(np.sum(found[1] > 1e-8 * np.abs(scaled).max()))
    return np.asarray(found[2][rank:] / scale[elastic])


def _basis(rows: Array, chosen: Array, elastic: NDArray[np.bool_], scale: Array, t: float) -> Array:
    """A (n_v, n_y) with rows A = 0 and Zᵀ (elastic part) = 1."""
    below = np.zeros((len(chosen), len(scale)))
    below[:, elastic] = chosen
    size = np.abs(below * scale).max(initial=1e-300)
    whole = np.vstack([rows, below / size]) * scale
    wanted = np.vstack([np.zeros((len(rows), len(chosen))), np.eye(len(chosen)) / size])
    found = scale[:, None] * np.linalg.lstsq(whole, wanted, rcond=None)[0]
    if np.abs(rows @ found).max(initial=0.0) > HELD * np.abs(found / scale[:, None]).max(initial=0.0):
        raise AnalysisError(
            f"elastodynamics: at t = {t:.6g} s the joints hold other elastic motions than at the start, or the "
            "mechanism is in a singular position there."
        )
    return np.asarray(found)


class MovedMechanism(DenseMotion):
    """The projected equations at the steps, by splines through the instants of the rigid motion."""

    def __init__(self, given: Deviations, times: Array, repeats: bool) -> None:
        super().__init__()
        self.step, self.steps, self.times = float(times[1] - times[0]), len(times) - 1, times
        a, first, second = given.basis, *(self.spline(given.t, given.basis, repeats)(given.t, k) for k in (1, 2))
        self.size = a.shape[2]
        back = a.transpose(0, 2, 1)
        mass, damping = back @ given.mass @ a, back @ (given.damping @ a + 2 * given.mass @ first)
        stiffness = back @ (given.mass @ second + given.damping @ first + given.stiffness @ a)
        load = -np.einsum("tny,tn->ty", a, given.residual)
        self._refuse_coarse(given.t, load)
        parts = [x.reshape(len(given.t), -1) for x in (mass, damping, stiffness)]
        self.constant = all(_same(x) for x in parts)
        self._spline = self.spline(given.t, np.hstack([*parts, load]), repeats)
        self._ends = (load[0], load[-1]) if repeats else None
        self._first, self._values = -1, np.zeros((0, 0))

    @staticmethod
    def spline(t: Array, x: Array, repeats: bool) -> Any:
        """A quintic spline through values over time, so that second derivatives are smooth."""
        order = min(5, (len(t) - 1) // 2 * 2 + 1)
        if repeats and len(t) > 7:
            x = x.copy()
            x[-1] = x[0]
            return scipy.interpolate.make_interp_spline(t, x, 5, bc_type="periodic")
        return scipy.interpolate.make_interp_spline(t, x, order if len(t) > order else 1)

    def _refuse_coarse(self, t: Array, load: Array) -> None:
        """What every second instant says of the others tells whether there are enough."""
        if len(t) < 9:
            return
        missed = np.abs(self.spline(t[::2], load[::2], False)(t[1:-1:2]) - load[1:-1:2]).max()
        if missed > COARSE * np.abs(load).max():
            raise AnalysisError(
                f"elastodynamics: {len(t)} instants do not tell the rigid motion from {t[0]:.6g} to {t[-1]:.6g} s; "
                "give more, some thirty for each revolution."
            )

    def _at(self, k: int) -> Array:
        if not self._first <= k < self._first + len(self._values) or self._first < 0:
            self._first = k
            self._values = self._spline(self.times[k : k + CHUNK])
        return np.asarray(self._values[k - self._first])

    def dense(self, k: int) -> tuple[Array, Array, Array]:
        """M, C, K at step k."""
        n = self.size
        m, c, stiffness = self._at(k)[: 3 * n * n].reshape(3, n, n)
        return m, c, stiffness

    def end_loads(self) -> tuple[Array, Array]:
        """Loads at the first and last instant, before a periodic spline makes them equal."""
        return super().end_loads() if self._ends is None else self._ends

    def load(self, k: int) -> Array:
        """-Aᵀr at step k."""
        return self._at(k)[3 * self.size**2 :]


def _same(x: Array) -> bool:
    return bool(np.abs(x - x[0]).max(initial=0.0) <= SAME * np.abs(x).max(initial=0.0))


def motion_of(
    history: RigidHistory, given: Deviations, times: Array, y: Array, rate: Array, rate2: Array, repeats: bool
) -> tuple[Array, Array, Array, Array, Array]:
    """q, v, v', multipliers and angles at the times from the solution y."""
    system = history.system
    q, v, accelerations = history.at(times)
    near = [np.interp(times, given.t, column) for column in given.angles.T]
    angles = np.array(near).T.reshape(len(times), -1)
    multipliers = np.zeros((len(times), len(system.rows)))
    a_of = MovedMechanism.spline(given.t, given.basis, repeats)
    names = ("mass", "damping", "stiffness", "residual", "jacobian", "multipliers")
    splines = [MovedMechanism.spline(given.t, getattr(given, name), repeats) for name in names]
    scale, frame, own = 1.0 / system.length_weights, ~system.elastic, len(system.rows)
    for first in range(0, len(times), CHUNK):
        some = slice(first, first + CHUNK)
        a, a1, a2 = (a_of(times[some], k) for k in range(3))
        mass, damping, stiffness, residual, jacobian, rigid = (s(times[some]) for s in splines)
        x = np.einsum("tny,ty->tn", a, y[some])
        x1 = np.einsum("tny,ty->tn", a, rate[some]) + np.einsum("tny,ty->tn", a1, y[some])
        x2 = np.einsum("tny,ty->tn", a, rate2[some]) + 2 * np.einsum("tny,ty->tn", a1, rate[some])
        x2 += np.einsum("tny,ty->tn", a2, y[some])
        force = residual + sum(np.einsum("tij,tj->ti", m, z) for m, z in ((mass, x2), (damping, x1), (stiffness, x)))
        for k in range(len(x)):
            n = first + k
            w, w_rate = _turning(system, v[n]), _turning(system, accelerations[n])
            q[n] = system.retract(q[n], x[k])
            v[n] = v[n] + x1[k] + w @ x[k]
            accelerations[n] = accelerations[n] + x2[k] + w @ x1[k] + w_rate @ x[k]
            rows = jacobian[k]
            if given.held:
                rows = np.vstack([rows, _free_motions(rows, frame, scale).T @ mass[k][frame]])
            multipliers[n] = rigid[k] + _balance(rows, force[k], scale)[:own]
            _close(system, float(times[n]), q[n], v[n], accelerations[n], angles[n])
    return q, v, accelerations, multipliers, angles
