"""Small motions of a mechanism about rest or a steady motion, as a linear system with constant coefficients.

A motion is steady (a relative equilibrium) where the mechanism turns and slides as a whole with a constant twist
(V, Ω), while bodies may also spin about axes of their own that make no difference (σ, a wheel about its axle).
Deviations are seen from axes that move along: positions turn with Ω, rotations with their body less its own spin.
There, with the linearised equations M δv' + D δv + K δx = Jᵀδλ of the instant,

    δx' = δv - W δx,   M (δv' + U δv) + D δv + K δx = Jᵀδλ,   J δx = 0,   J δv + C δx = 0,

W = (Ω~, (RᵀΩ)~) and U = (Ω~, -σ~) by bodies. Rows of velocities are missing in the third and have their own C.
Elastic coordinates of an axisymmetric body are turned back against σ, d = exp(-σΓt) δd: -σΓ in both W and U.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from flexmbs.analyses.axisymmetry import elastic_generator
from flexmbs.bodies.body import PLANAR, RIGID, vector
from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.errors import AnalysisError, ModelError
from flexmbs.rotations import exp, from_matrix, skew
from flexmbs.system.free_motions import free_motions
from flexmbs.system.linear import Linearised, linearised
from flexmbs.system.state import State
from flexmbs.system.system import System

Array = NDArray[np.float64]

BALANCE = 1e-7
"""Largest force left over at a position of rest, relative to the forces at work."""
STEADY = 1e-6
"""Largest deviation of accelerations from those of a steady motion, relative to size and speed."""
ROUNDED = 1e-9
"""Part of gravity that an acceleration may be off: a slow motion is found steady however small its accelerations."""
CONSTANT = 1e-5
"""Largest change of the linear equations a little later, relative to them."""


@dataclass(frozen=True, eq=False)
class SmallMotions:
    """(ξ, η)' = ``matrix`` (ξ, η), with δx = ``shifts`` ξ and δv = ``speeds`` η + ``bound`` ξ.

    ``turning`` is Ω; ``instant`` the linearised equations of the instant, ``later`` a frame-turned copy of what inputs
    and outputs look like a little later (state, map of velocities), None at rest.
    """

    matrix: Array
    shifts: Array
    speeds: Array
    bound: Array
    instant: Linearised
    turning: Array
    later: tuple[State, Array] | None


class Steady(NamedTuple):
    """Twist of a steady motion, and each body's own spin (bodies, 3) in body axes."""

    velocity: Array
    turning: Array
    own: Array


def small_motions(system: System, state: State, analysis: str, turning: Any = None) -> SmallMotions:
    """Linear equations about a state at rest, or in a steady motion, seen from axes that turn with ``turning``."""
    if turning is not None:
        try:
            turning = vector(turning, 3, f"{analysis}: turning")
        except ModelError as error:
            raise AnalysisError(str(error)) from error
    if not np.abs(state.v).max(initial=0.0) and (turning is None or not turning.any()):
        return _about_rest(system, state, analysis)
    changed, here = "", _instant(system, state)
    for steady in _candidates(system, state, analysis, turning):
        try:
            w, u = _frame_terms(system, state, steady)
        except AnalysisError as error:  # a flexible body that is not axisymmetric spins
            if turning is not None:
                raise AnalysisError(f"{analysis}: {error}") from None
            changed = str(error)
            continue
        found = _free_motions(system, here, w, analysis)
        matrix = _matrix(here, *found, w, u)
        later, turned = _moved(system, state, steady)
        changed = _changes(system, found, matrix, later, turned, steady, state)
        if not changed:
            return SmallMotions(matrix, *found, here, steady.turning, (later, turned))
    raise AnalysisError(
        f"{analysis}: the motion is steady, but the linear equations change with time ({changed}): an unsymmetric part "
        "spins against others, or a force or drive depends on time. There are no modes of such a motion."
    )


def multipliers_at_rest(system: System, t: float, q: Array, angles: Array) -> Array:
    """Multipliers that balance the forces at rest as far as they can: least squares of f + Jᵀλ."""
    equations = system.equations(t, q, np.zeros(system.n_v), angles)
    if not equations.rows:
        return np.zeros(0)
    return balancing(system, equations.dense().J, -equations.f)


def balancing(system: System, jacobian: Array, force: Array) -> Array:
    """λ of Jᵀλ = force by least squares, lengths scaled."""
    scale = 1.0 / system.length_weights
    return np.asarray(np.linalg.lstsq(jacobian.T * scale[:, None], force * scale, rcond=1e-10)[0])


def motions_left_free(system: System, jacobian: Array) -> Array:
    """Basis of the motions that rows leave free, scaled by lengths; those that deform bodies first."""
    return free_motions(system, jacobian).all


def turning_terms(system: System, q: Array, turning: Array) -> Array:
    """W (n_v, n_v): what deviations seen from axes that turn with Ω add to their rates."""
    out = np.zeros((system.n_v, system.n_v))
    work = system.evaluate(0.0, q, np.zeros(system.n_v))
    for b, kind in enumerate(system.layout.body_kind):
        at, n = system.layout.body_v[b], system.layout.body_v[b + 1] - system.layout.body_v[b]
        straight = min(int(n), 2 if kind == PLANAR else 3)
        out[at : at + straight, at : at + straight] = skew(turning)[:straight, :straight]
        if kind == RIGID:
            out[at + 3 : at + 6, at + 3 : at + 6] = skew(work.rotation[b].T @ turning)
    return out


# ---- inside ---------------------------------------------------------------------------------------------------------


def _about_rest(system: System, state: State, analysis: str) -> SmallMotions:
    multipliers = multipliers_at_rest(system, state.t, state.q, state.angles)
    here = linearised(system, state.t, state.q, state.v, state.v, multipliers, state.angles)
    zero = np.zeros((system.n_v, system.n_v))
    found = _free_motions(system, here, zero, analysis)
    free = free_motions(system, here.jacobian)
    left = float(np.abs(free.rigid.T @ here.residual).max(initial=0.0))
    if free.elastic.shape[1]:  # a force on what is stiff is judged by what it moves
        push = free.elastic.T @ here.residual
        give = free.elastic @ np.linalg.solve(free.elastic.T @ here.stiffness @ free.elastic, push)
        if np.abs(give * system.length_weights).max() > BALANCE * system.walked[1]:
            left = float(np.abs(push).max())
    if left > BALANCE * max(1.0, np.abs(multipliers).max(initial=0.0)):
        raise AnalysisError(
            f"{analysis}: the mechanism does not rest here, a generalized force of {left:.3g} is left. Take the result "
            "of statics, or add the force that holds it."
        )
    return SmallMotions(_matrix(here, *found, zero, zero), *found, here, np.zeros(3), None)


def _instant(system: System, state: State) -> Linearised:
    """The linearised equations at a moving state, with its accelerations and multipliers."""
    rate, multipliers = _accelerations(system, state)
    return linearised(system, state.t, state.q, state.v, rate, multipliers, state.angles)


def _accelerations(system: System, state: State) -> tuple[Array, Array]:
    """v' and λ, dense and safe where rows are redundant."""
    equations = system.equations(state.t, state.q, state.v, state.angles).dense()
    weights = system.length_weights
    basis = motions_left_free(system, equations.J)
    rate = np.zeros(system.n_v)
    if equations.rows:
        rate = np.linalg.lstsq(equations.J / weights, equations.gamma, rcond=1e-10)[0] / weights
    push = basis.T @ (equations.f - equations.M @ rate)
    rate = rate + basis @ np.linalg.solve(basis.T @ equations.M @ basis, push)
    return rate, balancing(system, equations.J, equations.M @ rate - equations.f)


def _free_motions(system: System, here: Linearised, w: Array, analysis: str) -> tuple[Array, Array, Array]:
    """Bases of δx and δv, and the δv that a δx brings along."""
    held = system.holonomic
    shifts, speeds = (motions_left_free(system, j) for j in (here.jacobian[held], here.jacobian))
    if shifts.shape[1] == 0:
        raise AnalysisError(f"{analysis}: the joints and drives leave nothing free to move.")
    bound = np.zeros_like(shifts)
    if len(here.jacobian):
        change = np.where(held[:, None], -here.jacobian @ w, here.row_change)
        scaled = here.jacobian / system.length_weights
        found = np.linalg.lstsq(scaled, -change @ shifts, rcond=1e-10)[0]
        bound = found / system.length_weights[:, None]
    return shifts, speeds, bound


def _matrix(here: Linearised, shifts: Array, speeds: Array, bound: Array, w: Array, u: Array) -> Array:
    """The state matrix of (ξ, η)."""
    a = shifts.shape[1]
    moving = np.hstack([bound - w @ shifts, speeds])
    xi = np.linalg.lstsq(shifts, moving, rcond=None)[0]
    velocity = np.hstack([bound, speeds])
    force = here.mass @ (bound @ xi + u @ velocity) + here.damping @ velocity
    force[:, :a] += here.stiffness @ shifts
    eta = -np.linalg.solve(speeds.T @ here.mass @ speeds, speeds.T @ force)
    return np.vstack([xi, eta])


def _frame_terms(system: System, state: State, steady: Steady) -> tuple[Array, Array]:
    """W and U of a steady motion."""
    w = turning_terms(system, state.q, steady.turning)
    u = w.copy()
    for b, kind in enumerate(system.layout.body_kind):
        if kind == RIGID:
            at = slice(system.layout.body_v[b] + 3, system.layout.body_v[b] + 6)
            u[at, at] = -skew(steady.own[b])
        bends, turned = _elastic_spin(system, b, steady)
        if turned is not None:
            w[bends, bends] = u[bends, bends] = -turned
    return w, u


def _elastic_spin(system: System, b: int, steady: Steady) -> tuple[slice, Array | None]:
    """Where the elastic coordinates of a body are, and σΓ if it has some and spins by itself."""
    body = system.bodies[b]
    end = int(system.layout.body_v[b + 1])
    speed = float(np.linalg.norm(steady.own[b]))
    if not isinstance(body, FlexibleBody) or speed <= STEADY * float(np.linalg.norm(steady.turning)):
        return slice(end, end), None
    return slice(end - body.modes, end), speed * elastic_generator(body.reduced, steady.own[b] / speed, body.name)


def _candidates(system: System, state: State, analysis: str, given: Array | None) -> list[Steady]:
    """Twists with which the motion may be steady, the likeliest first.

    Velocities and accelerations of bodies may leave some of Ω open (that about an axis on which all lies still): bodies
    then spin about axes of symmetry, or Ω is upright, or least, or bodies have the least spins of their own.
    """
    work = system.evaluate(state.t, state.q, state.v, state.angles)
    speed = float(np.abs(state.v * system.length_weights).max(initial=0.0))
    slip = np.abs(work.phi_rate).max(initial=0.0)
    if slip > STEADY * speed:
        row = int(np.argmax(np.abs(work.phi_rate)))
        raise AnalysisError(f"{analysis}: the velocities do not fulfil {system.labels[row]} (missing {slip:.3g}).")
    rate, _ = _accelerations(system, state)
    size = system.walked[1]
    time = size / speed if speed else 1.0
    matrix, target, owners = _twist_rows(system, state, rate, work, time)
    slack = ROUNDED * float(np.linalg.norm(system.layout.gravity)) * time
    if given is None:
        _, sizes, vt = np.linalg.svd(matrix)
        least = np.linalg.lstsq(matrix, target, rcond=1e-8)[0]
        loose = vt[np.count_nonzero(sizes > 1e-8 * sizes[0]) :].T
        choices = []
        for rows, right in _preferences(system, state, work) if loose.shape[1] else ():
            free = rows @ loose[3:] / size
            choices.append(least + loose @ np.linalg.lstsq(free, right - rows @ least[3:] / size, rcond=1e-8)[0])
        choices.insert(max(len(choices) - 1, 0), least)
    else:
        left = target - matrix[:, 3:] @ (given * size)
        choices = [np.concatenate([np.linalg.lstsq(matrix[:, :3], left, rcond=1e-8)[0], given * size])]
    out: list[Steady] = []
    for choice in choices:
        missing = np.maximum(np.abs(matrix @ choice - target) - slack, 0.0)
        missing /= max(speed, float(np.abs(choice).max()))
        worst = int(np.argmax(missing))
        if missing[worst] > STEADY:
            body = system.bodies[int(owners[worst])].name
            raise AnalysisError(
                f"{analysis}: the motion is not steady: {body!r} does not move along with the whole (relative "
                f"deviation {missing[worst]:.2g} of its velocity and acceleration from a constant screw). Give a state "
                "of rest or of a steady motion, with origins of spinning bodies on their axes."
            )
        if not any(np.allclose(choice[3:] / size, known.turning, atol=1e-9 * speed / size) for known in out):
            out.append(_steady(system, state, work, choice[:3], choice[3:] / size))
    return out


def _twist_rows(
    system: System, state: State, rate: Array, work: Any, time: float
) -> tuple[Array, Array, NDArray[np.int64]]:
    """Rows of v = V + Ω × p, v' = Ω × v and ω' = RᵀΩ × ω for (V, size Ω), all as velocities, and the body of each."""
    size, zero, one = system.walked[1], np.zeros((3, 3)), np.eye(3)
    rows, right, owner = [], [], []
    for b, kind in enumerate(system.layout.body_kind):
        at, n = system.layout.body_v[b], system.layout.body_v[b + 1] - system.layout.body_v[b]
        if not n:
            continue
        straight = 2 if kind == PLANAR else 3
        v, a = np.zeros(3), np.zeros(3)
        v[:straight], a[:straight] = state.v[at : at + straight], rate[at : at + straight]
        rows += [np.hstack([one, -skew(work.position[b]) / size]), np.hstack([zero, -skew(v) * time / size])]
        right += [v, a * time]
        if kind == RIGID:
            rows.append(np.hstack([zero, -skew(state.v[at + 3 : at + 6]) @ work.rotation[b].T * time]))
            right.append(rate[at + 3 : at + 6] * size * time)
        elif kind == PLANAR:  # a plane turns about z only
            rows.append(np.hstack([zero, np.diag([1.0, 1.0, 0.0])]))
            right.append(np.array([0.0, 0.0, rate[at + 2] * size * time]))
        modes = system.bodies[b].modes
        if modes:  # it neither changes its shape nor spins on its own: its elastic coordinates turn along with it
            lengths, own = system.length_weights[at + n - modes : at + n], slice(at + n - modes, at + n)
            turned = np.diag([0.0, 0.0, 1.0]) if kind == PLANAR else work.rotation[b].T
            spin = np.array([0.0, 0.0, state.v[at + 2]]) if kind == PLANAR else state.v[at + 3 : at + 6]
            rows += [np.zeros((2 * modes, 6)), np.hstack([zero, turned])]
            right += [lengths * state.v[own], lengths * rate[own] * time, size * spin]
        owner += [b] * (9 if kind in (RIGID, PLANAR) else 6) + [b] * (2 * modes + 3 if modes else 0)
    return np.vstack(rows), np.concatenate(right), np.array(owner)


def _preferences(system: System, state: State, work: Any) -> list[tuple[Array, Array]]:
    """Rows for Ω that choose among what is open: spins about axes of symmetry, Ω upright, least spins of bodies."""
    symmetry, spins = [], []
    for b, kind in enumerate(system.layout.body_kind):
        at = system.layout.body_v[b]
        if kind == RIGID:
            omega = state.v[at + 3 : at + 6]
            spins.append((work.rotation[b].T, omega))
            moments, axes = np.linalg.eigh(system.layout.inertia[b])
            equal = np.abs(np.diff(moments)) < 1e-9 * moments[-1]
            if equal.sum() == 1:
                n = axes[:, 2] if equal[0] else axes[:, 0]
                across = np.eye(3) - np.outer(n, n)
                symmetry.append((across @ work.rotation[b].T, across @ omega))
        elif kind == PLANAR:
            spins.append((np.diag([0.0, 0.0, 1.0]), np.array([0.0, 0.0, state.v[at + 2]])))
    gravity = system.layout.gravity
    upright = [(skew(gravity / np.linalg.norm(gravity)), np.zeros(3))] if gravity.any() else []
    groups = [symmetry, upright, spins or [(np.eye(3), np.zeros(3))]]
    return [(np.vstack([m for m, _ in g]), np.concatenate([r for _, r in g])) for g in groups if g]


def _steady(system: System, state: State, work: Any, velocity: Array, turning: Array) -> Steady:
    own = np.zeros((len(system.bodies), 3))
    for b, kind in enumerate(system.layout.body_kind):
        at = system.layout.body_v[b]
        if kind == RIGID:
            own[b] = state.v[at + 3 : at + 6] - work.rotation[b].T @ turning
        elif kind == PLANAR:
            own[b, 2] = state.v[at + 2] - turning[2]
    return Steady(velocity, turning, own)


def _moved(system: System, state: State, steady: Steady) -> tuple[State, Array]:
    """The steady motion a little later, and the map (n_v, n_v) from deviations seen along with it to those there."""
    fastest = max(
        np.abs(state.v * system.length_weights).max(initial=0.0) / system.walked[1], np.abs(steady.turning).max()
    )
    s = 0.7 / fastest
    twist = np.zeros((4, 4))
    twist[:3, :3], twist[:3, 3] = skew(steady.turning), steady.velocity
    carried = scipy.linalg.expm(twist * s)
    turn, shift = carried[:3, :3], carried[:3, 3]
    q, v, maps = state.q.copy(), state.v.copy(), np.eye(system.n_v)
    work = system.evaluate(state.t, state.q, state.v, state.angles)
    for b, kind in enumerate(system.layout.body_kind):
        k, at = system.layout.body_q[b], system.layout.body_v[b]
        n = int(system.layout.body_v[b + 1] - at)
        if not n:
            continue
        straight = 2 if kind == PLANAR else 3
        moved = slice(at, at + straight)
        q[k : k + straight] = (turn @ work.position[b] + shift)[:straight]
        v[moved] = turn[:straight, :straight] @ state.v[moved]
        maps[moved, moved] = turn[:straight, :straight]
        if kind == RIGID:
            spun = exp(steady.own[b] * s)
            rotations = slice(at + 3, at + 6)
            q[k + 3 : k + 7] = from_matrix(turn @ work.rotation[b] @ spun)
            v[rotations] = spun.T @ state.v[rotations]
            maps[rotations, rotations] = spun.T
        elif kind == PLANAR:
            q[k + 2] += state.v[at + 2] * s
        bends, turned = _elastic_spin(system, b, steady)
        if turned is not None:
            back = scipy.linalg.expm(-s * turned)
            elastic = slice(int(system.layout.body_q[b + 1]) - len(back), int(system.layout.body_q[b + 1]))
            q[elastic] = back @ state.q[elastic]
            maps[bends, bends] = back
    near = system.evaluate(state.t + s, q, v, state.angles).measure.copy()
    return State(state.t + s, q, v, near), maps


def _changes(
    system: System,
    found: tuple[Array, Array, Array],
    matrix: Array,
    later: State,
    maps: Array,
    steady: Steady,
    state: State,
) -> str:
    """In words, how the linear equations a little later differ; empty if they do not."""
    work = system.evaluate(later.t, later.q, later.v, later.angles)
    size = system.walked[1]
    open_by = np.abs(work.phi).max(initial=0.0)
    if open_by > CONSTANT * max(1.0, size):
        return f"{system.labels[int(np.argmax(np.abs(work.phi)))]} would miss by {open_by:.2g}"
    there = _instant(system, later)
    shifts, speeds, bound = found
    jacobian, change = there.jacobian @ maps, there.row_change @ maps
    held = system.holonomic
    w, u = _frame_terms(system, state, steady)
    mass, damping, stiffness = (maps.T @ a @ maps for a in (there.mass, there.damping, there.stiffness))
    seen = Linearised(mass, damping, stiffness, jacobian, change, there.residual)
    if len(jacobian):
        row = np.abs(jacobian).max(axis=1)
        row = np.where(row > 0, row, 1.0)[:, None]
        velocity = jacobian @ bound + np.where(held[:, None], -jacobian @ w, change) @ shifts
        scale = max(1.0, float(np.abs(bound).max(initial=0.0)))
        missing = max(
            np.abs(jacobian[held] @ shifts / row[held]).max(initial=0.0),
            np.abs(jacobian @ speeds / row).max(initial=0.0),
            np.abs(velocity / row).max(initial=0.0) / scale,
        )
        if missing > CONSTANT * np.abs(shifts).max():
            return "the joints leave other motions free"
    again = _matrix(seen, shifts, speeds, bound, w, u)
    n = shifts.shape[1]
    for part, name in ((slice(0, n), "positions"), (slice(n, None), "velocities")):
        scale = np.abs(matrix[:, part]).max(initial=0.0)
        difference = np.abs(again[:, part] - matrix[:, part]).max(initial=0.0)
        if difference > CONSTANT * max(scale, np.abs(matrix).max() * 1e-6):
            return f"the forces of small {name} change by {difference / scale:.2g}"
    return ""
