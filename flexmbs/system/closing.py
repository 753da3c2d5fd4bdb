"""Newton's steps that close a mechanism, with the coordinates that joints were given held where that can be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import PLANAR, RIGID
from flexmbs.errors import ModelError
from flexmbs.joints.cam import Contact, ContactParameters
from flexmbs.joints.functions import FunctionRow
from flexmbs.joints.measures import ANGLE, evaluate
from flexmbs.system.evaluate import Work, pull_back
from flexmbs.system.saddle import least
from flexmbs.system.starts import coordinate_name, given_coordinates
from flexmbs.system.walking import length_weights

Array = NDArray[np.float64]
Held = list[tuple[Any, float]]
"""Measures with the values that they are to have."""

TOLERANCE = 1e-12
"""Constraint error of a closed mechanism, relative to its size."""
FITS = 1e-8
"""Error, relative to the size, that redundant rows may keep where bodies cannot be moved any closer: that of a mesh."""
STUCK = 1e-14
"""A step, relative to the size, that brings nothing any closer."""
LARGE = 400
"""Rows from which on the joint graph is used, which is then faster."""
BRANCHES = 9
"""Positions around the walked one from which another branch is looked for; more guesses are the shape of a chain."""
OTHER = 0.5
"""How far what was given is missed [rad, or sizes of the mechanism] where that looks like another branch."""
DENSE = 1500
"""Rows up to which coordinates given to joints of loops are held; beyond, they are where closing begins."""


def closed(
    system: Any, q: Array, angles: Array, weights: Array, size: float, held: Held | None = None
) -> tuple[Array, Array, float]:
    """Newton steps of least weighted length from q, the angles then, and how far the worst row is open after them."""
    lengths, error, longest = length_weights(system, size), np.inf, np.inf
    for _ in range(60):
        work = system.evaluate(0.0, q, np.zeros(system.n_v), angles)
        angles, phi = work.measure.copy(), wrapped(system, work.phi)
        target, rows = -phi, np.zeros((0, system.n_v))
        if held:
            target = np.concatenate([target, [_missing(system, m, value, work) for m, value in held]])
            rows = np.array([_gradient(system, m, work)[1] for m, _ in held])
        error = float(np.abs(target).max())
        if not np.isfinite(work.jacobian).all():
            return q, angles, np.inf
        if not np.isfinite(error) or error <= TOLERANCE * max(1.0, size):
            break
        step = least_step(system, weights, work, target, system.holonomic, rows)
        longest = np.abs(step * lengths).max() / size
        if longest < STUCK:
            break
        q = system.retract(q, step / max(1.0, 2.0 * longest))
    return q, angles, error if error <= TOLERANCE * max(1.0, size) or longest < STUCK else np.inf


def hold_starts(
    system: Any, walked: tuple[Array, Array], found: tuple[Array, Array], firm: Array, size: float
) -> tuple[Array, Array]:
    """The closed position in which joints have their ``start=``: those that are independent, or else the first.

    ``found`` is closed, but the loops may have moved what was given. Which coordinates are free of the rows, of those
    before and of the poses given to bodies is told there; what else was given has chosen the branch.
    """
    q, angles = found
    given = given_coordinates(system)
    wanted = [
        (getattr(j, coordinate_name(j)), given[id(j), coordinate_name(j)])
        for j in system.joints
        if getattr(j, "start", None) is not None and coordinate_name(j)
    ]
    work = system.evaluate(0.0, q, np.zeros(system.n_v), angles)
    missing = [abs(_missing(system, measure, value, work)) for measure, value in wanted]
    if max(missing, default=0.0) <= 1e-9 * max(1.0, size) or len(system.rows) > DENSE:
        return found
    weights = length_weights(system, size) ** 2 * np.where(firm > 1.0, 1e20, 1.0)  # poses of bodies stand
    held, free = _independent(system, work, wanted, weights, firm)
    loose = np.where(firm > 1.0, 0.0, turning_parts(system))
    cams = any(
        isinstance(joint, Contact) for joint in system.joints
    )  # whose contacts were looked for where walking led
    around = () if cams else tuple(_turned(system, walked, loose, number) for number in range(1, BRANCHES))
    choices: list[tuple[Held, tuple[tuple[Array, Array], ...]]]
    choices = [(held, (walked, found)), (held[:1], (walked, found))]
    if free and not held:  # at a dead centre nothing looks free that is so elsewhere
        choices = [(wanted[:1], (walked, _turned(system, found, loose, 0), *around))]
    held = []
    for choice, origins in choices:
        kept = _held(system, origins, weights, size, choice) if choice else None
        if kept:
            found, held = kept, choice
            break
    rest = [one for one in wanted if one not in held]
    nearest = _off(system, found, rest, size)
    for origin in around if nearest > OTHER and len(rest) < BRANCHES else ():
        kept = _held(system, (origin,), weights, size, held)
        if kept and _off(system, kept, rest, size) < nearest:
            found, nearest = kept, _off(system, kept, rest, size)
    return found


def _held(
    system: Any, origins: tuple[tuple[Array, Array], ...], weights: Array, size: float, held: Held
) -> tuple[Array, Array] | None:
    """The position and angles at which measures have their values and all rows hold, from the first origin it works."""
    for q, angles in origins:
        try:
            place, angles, error = closed(system, q, angles, weights, size, held)
        except ModelError:  # of a Python function, which may be defined elsewhere
            continue
        if error <= FITS * size:
            return _unwound(system, place, q), angles
    return None


def _unwound(system: Any, q: Array, other: Array) -> Array:
    """q with the angles of planar bodies within half a turn of those of another position."""
    out = q.copy()
    at = system.layout.body_q[:-1][system.layout.body_kind == PLANAR] + 2
    out[at] -= 2 * np.pi * np.round((q[at] - other[at]) / (2 * np.pi))
    return out


def _turned(system: Any, place: tuple[Array, Array], loose: Array, number: int) -> tuple[Array, Array]:
    """A position with bodies turned at random, little where ``number`` is small."""
    turns = np.random.default_rng(number).normal(scale=0.1 + 0.2 * number, size=system.n_v)
    return _unwound(system, system.retract(place[0], turns * loose), place[0]), place[1]


def _off(system: Any, place: tuple[Array, Array], wanted: Held, size: float) -> float:
    """How far the worst of some measures is from its value, lengths counted in sizes of the mechanism."""
    work = system.evaluate(0.0, place[0], np.zeros(system.n_v), place[1])
    scale = [1.0 if measure.kind == ANGLE else size for measure, _ in wanted]
    missing = [abs(_missing(system, m, value, work)) / by for (m, value), by in zip(wanted, scale, strict=True)]
    return max(missing, default=0.0)


def _independent(
    system: Any, work: Work, wanted: Held, weights: Array, firm: Array, velocities: bool = False
) -> tuple[Held, int]:
    """Those of the measures, in their order, that the rows, firm velocities and the measures before leave free, and how
    many motions are then left.
    """
    scale = np.where(system.elastic, 0.0, 1.0 / np.sqrt(weights))
    rows = (system.jacobian(work).toarray() * scale)[system.holonomic | velocities]
    fixed = np.vstack([rows, np.eye(system.n_v)[firm > 1.0]])
    _, sizes, vt = np.linalg.svd(fixed)
    free = vt[np.count_nonzero(sizes > 1e-10 * sizes.max(initial=0.0)) :]
    out = []
    for measure, value in wanted:
        gradient = _gradient(system, measure, work)[1] * scale
        seen = free @ gradient
        size = float(np.linalg.norm(seen))
        if size > 1e-6 * np.linalg.norm(gradient):
            out.append((measure, value))
            free = np.linalg.svd((seen / size)[None])[2][1:] @ free
    return out, len(free)


def least_step(
    system: Any,
    weights: Array,
    work: Work,
    target: Array,
    held: NDArray[np.bool_] | None = None,
    more: Array | None = None,
) -> Array:
    """The x of least Σ weight · x² with J x = target: by singular values, which redundant rows do not disturb; for
    mechanisms too large for that, along the joint graph. ``held`` leaves rows of velocities out, ``more`` are further
    rows, whose targets come last.
    """
    n = len(system.rows)
    if n > LARGE and (more is None or not len(more)):
        layout, plan, where = system.elimination if held is None else system.closing
        return least(layout, plan, where, np.where(system.elastic, 1e20 * weights, weights), work, target)
    scale = np.where(system.elastic, 0.0, 1.0 / np.sqrt(weights))  # no body is bent to close a loop
    jacobian, right = system.jacobian(work).toarray() * scale, target[:n]
    if held is not None:
        jacobian, right = jacobian[held], right[held]
    if more is not None:
        jacobian, right = np.vstack([jacobian, more * scale]), np.concatenate([right, target[n:]])
    return np.asarray(scale * np.linalg.lstsq(jacobian, right, rcond=1e-10)[0])


def angle_rows(system: Any) -> list[tuple[int, int, float]]:
    """Rows that prescribe one angle: row, measure, factor."""
    layout = system.layout
    out = []
    for r in range(layout.n_rows):
        first, last = layout.row_start[r], layout.row_start[r + 1]
        if isinstance(system.rows[r], FunctionRow):
            continue
        if last - first == 1 and layout.measure_kind[layout.term_measure[first]] == ANGLE:
            out.append((r, int(layout.term_measure[first]), float(layout.term_factor[first])))
    return out


def wrapped(system: Any, phi: Array) -> Array:
    """φ with prescribed angles taken modulo whole turns."""
    out = phi.copy()
    for r, _, factor in angle_rows(system):
        turn = 2 * np.pi * abs(factor)
        out[r] -= turn * np.round(out[r] / turn)
    return out


def rate_step(system: Any, v: Array, work: Work, weights: Array, firm: Array) -> Array:
    """What to add to v so that joints have their ``rate=``, the first of them that can be had together."""
    wanted = [
        (getattr(j, coordinate_name(j)), float(j.rate))
        for j in system.joints
        if getattr(j, "rate", None) is not None and coordinate_name(j)
    ]
    rows = np.array([_gradient(system, measure, work)[1] for measure, _ in wanted]).reshape(-1, system.n_v)
    missing = np.array([rate for _, rate in wanted]) - rows @ v
    miss = max(np.abs(missing).max(initial=0.0), np.abs(work.phi_rate).max(initial=0.0))
    if not wanted or miss <= TOLERANCE * max(1.0, np.abs(v).max()):  # an open chain moves as its joints say
        return np.zeros(system.n_v)
    held = {id(measure) for measure, _ in _independent(system, work, wanted, weights, firm, velocities=True)[0]}
    kept = np.array([id(measure) in held for measure, _ in wanted])
    target = np.concatenate([-work.phi_rate, missing[kept]])
    return least_step(system, weights, work, target, None, rows[kept])


def _missing(system: Any, measure: Any, value: float, work: Work) -> float:
    """How far a measure is from a value; angles but for turns."""
    out = value - _gradient(system, measure, work)[0]
    return float(out - 2 * np.pi * np.round(out / (2 * np.pi)) if measure.kind == ANGLE else out)


def _gradient(system: Any, measure: Any, work: Work) -> tuple[float, Array]:
    """Value of a measure, and its gradient with respect to the velocities."""
    out = np.zeros(system.n_v)
    gradient, vectors = np.zeros((1, 9)), np.zeros((1, 4, 3))
    i, j = system.frames.number(measure.frame_i), system.frames.number(measure.frame_j)
    places = work.frame_position, work.frame_rotation
    value = evaluate(measure.kind, measure.axes[None], 0, i, j, *places, vectors, gradient)
    for side, f in ((0, i), (1, j)):
        b = system.layout.frame_body[f]
        first, last = system.layout.body_v[b], system.layout.body_v[b + 1]
        at = system.layout.frame_t[f]
        pull_back(measure.kind, gradient, 0, side, 1.0, work.frame_t, at, last - first, out, first)
    return float(value), out


def turning_parts(system: Any) -> Array:
    """One for each velocity that is a rotation, or moves a contact along curves."""
    out = np.zeros(system.n_v)
    for k, kind in enumerate(system.layout.body_kind):
        own = slice(system.layout.body_v[k], system.layout.body_v[k + 1])
        if kind == RIGID:
            out[own.start + 3 : own.start + 6] = 1.0
        elif kind == PLANAR:
            out[own.start + 2] = 1.0
        elif isinstance(system.bodies[k], ContactParameters):
            span = [np.ptp(curve.span) for curve in _curves(system, system.bodies[k])]
            out[own.start : own.start + 2] = np.array(span) / (2 * np.pi)
    return out


def _curves(system: Any, body: ContactParameters) -> tuple[Any, Any]:
    cam = next(j.cam for j in system.joints if isinstance(j, Contact) and j.body is body)
    return cam.curve_i, cam.curve_j
