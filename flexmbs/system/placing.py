"""Where a mechanism starts: loops closed from where walking the joints led, velocities made consistent."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import PLANAR, POINT, RIGID
from flexmbs.errors import ModelError, ModelWarning
from flexmbs.joints.cam import Contact, ContactParameters
from flexmbs.joints.functions import FunctionRow
from flexmbs.joints.measures import ANGLE, evaluate
from flexmbs.rotations import log
from flexmbs.system.degenerate import refuse_massless
from flexmbs.system.evaluate import Work, pull_back
from flexmbs.system.free_motions import least_bending
from flexmbs.system.saddle import least
from flexmbs.system.state import State
from flexmbs.system.walking import length_weights

Array = NDArray[np.float64]

TOLERANCE = 1e-12
"""Constraint error of a closed mechanism, relative to its size."""
FITS = 1e-8
"""Error, relative to the size, that redundant rows may keep where bodies cannot be moved any closer: that of a mesh."""
STUCK = 1e-14
"""A step, relative to the size, that brings nothing any closer."""
TRIES = 40
FIRM = 1e4
"""Weight of a position or velocity that was given, against one that was not."""
KEPT = 1e-3
"""Change of what was given, relative to the mechanism's size (rotations in rad) or speed, that needs a warning."""
LARGE = 400
"""Rows from which on the joint graph is used, which is then faster."""


def initial_state(system: Any) -> State:
    """State at t = 0: from the walked position to a closed one, and velocities that fulfil the joints."""
    q, size = system.walked
    q = _close(system, q, size)
    _warn_of_moved(system, q, size)
    angles = _start_angles(system, q)
    state = State(0.0, q, _velocities(system, q, angles, size), angles)
    refuse_massless(system, state)
    return state


def _close(system: Any, q: Array, size: float) -> Array:
    """Newton steps of least length until all rows hold; retried from turned bodies."""
    if not system.rows:
        return q
    rng = np.random.default_rng(0)
    weights = length_weights(system, size)
    turns = _turns(system)
    best, nearest = np.inf, q
    firm = _firm(system)
    for attempt in range(TRIES):
        if attempt == TRIES // 2:  # what was given can then not be kept
            firm = np.ones_like(firm)
        loose = np.where(firm > 1.0, 0.0, turns)
        trial = (
            q if attempt == 0 else system.retract(q, rng.normal(scale=0.3 * min(attempt, 8), size=len(turns)) * loose)
        )
        if attempt == 0:
            _refuse_undefined(system, system.evaluate(0.0, trial, np.zeros(system.n_v)))
        try:
            trial, error = _closed(system, trial, weights**2 * firm, size)
        except ModelError:  # of a Python function, which may be defined elsewhere
            if attempt == 0:
                raise
            error = np.inf
        if error <= FITS * size:
            for _ in range(3 if (firm > 1.0).any() else 0):  # what is not given follows what is
                again, error = _closed(system, _restored(system, trial, q, firm), weights**2 * firm, size)
                if error > FITS * size:
                    break
                trial = again
            return _bent(system, np.asarray(trial), size)
        if error < best:
            best, nearest = error, trial
    phi = np.abs(_wrapped(system, system.evaluate(0.0, nearest, np.zeros(system.n_v)).phi))
    row = int(np.argmax(phi))
    raise ModelError(
        f"the mechanism cannot be closed: {system.labels[row]} misses by {phi[row]:.4g} after {TRIES} tries. Check the "
        "lengths, or help with start= on a joint or position= on a body."
    )


def _closed(system: Any, q: Array, weights: Array, size: float) -> tuple[Array, float]:
    """Newton steps of least weighted length from q, and how far the worst row is open after them."""
    lengths, error, longest = length_weights(system, size), np.inf, np.inf
    for _ in range(60):
        work = system.evaluate(0.0, q, np.zeros(system.n_v))
        phi = _wrapped(system, work.phi)
        error = float(np.abs(phi).max())
        if not np.isfinite(work.jacobian).all():
            return q, np.inf
        if not np.isfinite(error) or error <= TOLERANCE * max(1.0, size):
            break
        step = _least(system, weights, work, -phi, system.holonomic)
        longest = np.abs(step * lengths).max() / size
        if longest < STUCK:
            break
        q = system.retract(q, step / max(1.0, 2.0 * longest))
    return q, error if error <= TOLERANCE * max(1.0, size) or longest < STUCK else np.inf


def _bent(system: Any, q: Array, size: float) -> Array:
    """q closed to rounding: what a mesh misses by rounding of its own is taken up by flexible bodies."""
    for _ in range(5 if system.elastic.any() else 0):
        work = system.evaluate(0.0, q, np.zeros(system.n_v))
        phi = _wrapped(system, work.phi)
        if np.abs(phi).max() <= TOLERANCE * max(1.0, size):
            break
        held = system.holonomic
        q = system.retract(q, least_bending(system, system.jacobian(work).toarray()[held], -phi[held]))
    return q


def _restored(system: Any, q: Array, given: Array, firm: Array) -> Array:
    """q with the firm coordinates as they were given."""
    out = q.copy()
    for k, kind in enumerate(system.layout.body_kind):
        straight, turning = _parts(system, k)
        first, last = system.layout.body_q[k : k + 2]
        middle = first + straight.stop - straight.start
        if (firm[straight] > 1.0).any():
            out[first:middle] = given[first:middle]
        if kind in (RIGID, PLANAR) and (firm[turning] > 1.0).any():
            out[middle:last] = given[middle:last]
    return out


def _firm(system: Any) -> Array:
    """Weights of velocities (n_v,) in closing: those of given positions and rotations are firm."""
    out = np.ones(system.n_v)
    for k, body in enumerate(system.bodies):
        position, rotation, _, _ = body.initial
        straight, turning = _parts(system, k)
        if body.guessed:
            continue
        if position is not None:
            out[straight] = FIRM
        if rotation is not None:
            out[turning] = FIRM
    return out


def _parts(system: Any, k: int) -> tuple[slice, slice]:
    """Velocities of body k that are translations, and rotations."""
    kind, at = int(system.layout.body_kind[k]), int(system.layout.body_v[k])
    straight = {RIGID: 3, PLANAR: 2, POINT: 3}.get(kind, 0)
    last = int(system.layout.body_v[k + 1]) - system.bodies[k].modes
    return slice(at, at + straight), slice(at + straight, last)


def _warn_of_moved(system: Any, q: Array, size: float) -> None:
    """Say which given poses could not be kept, and by how much they were moved."""
    work = system.evaluate(0.0, q, np.zeros(system.n_v))
    said = []
    for k, body in enumerate(system.bodies):
        position, rotation, _, _ = body.initial
        straight, turning = _parts(system, k)
        if body.guessed:
            continue
        if position is not None and straight.stop > straight.start:
            shift = float(np.linalg.norm(work.position[k] - position))
            if shift > KEPT * size:
                said.append(f"position of {body.name!r} by {shift:.3g} m")
        if rotation is not None and turning.stop > turning.start:
            turn = float(np.linalg.norm(log(rotation.T @ work.rotation[k])))
            if turn > KEPT:
                said.append(f"rotation of {body.name!r} by {turn:.3g} rad")
    if said:
        warnings.warn(
            f"the joints do not fit the poses given to bodies, which were moved: {', '.join(said)}. Correct these, or "
            "leave them out so that the joints place the bodies.",
            ModelWarning,
            stacklevel=2,
        )


def _refuse_undefined(system: Any, work: Work) -> None:
    """A row without a direction, such as that of a disc lying flat, is an error of the model."""
    if np.isfinite(work.jacobian).all():
        return
    at = system.layout.entry_at[system.layout.entry_start]
    row = int(np.searchsorted(at, np.argmin(np.isfinite(work.jacobian)), side="right")) - 1
    raise ModelError(
        f"{system.labels[row]} is undefined where the bodies are placed (a disc lying flat, a rod without length): "
        "give another rotation= or position= to its bodies."
    )


def _least(system: Any, weights: Array, work: Work, target: Array, held: NDArray[np.bool_] | None = None) -> Array:
    """The x of least Σ weight · x² with J x = target: by singular values, which redundant rows do not disturb; for
    mechanisms too large for that, along the joint graph. ``held`` leaves rows of velocities out.
    """
    if len(target) > LARGE:
        layout, plan, where = system.elimination if held is None else system.closing
        return least(layout, plan, where, np.where(system.elastic, 1e20 * weights, weights), work, target)
    scale = np.where(system.elastic, 0.0, 1.0 / np.sqrt(weights))  # no body is bent to close a loop
    jacobian = system.jacobian(work).toarray() * scale
    if held is not None:
        jacobian, target = jacobian[held], target[held]
    return np.asarray(scale * np.linalg.lstsq(jacobian, target, rcond=1e-10)[0])


def _turns(system: Any) -> Array:
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


def _angle_rows(system: Any) -> list[tuple[int, int, float]]:
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


def _wrapped(system: Any, phi: Array) -> Array:
    """φ with prescribed angles taken modulo whole turns."""
    out = phi.copy()
    for r, _, factor in _angle_rows(system):
        turn = 2 * np.pi * abs(factor)
        out[r] -= turn * np.round(out[r] / turn)
    return out


def _start_angles(system: Any, q: Array) -> Array:
    """Angles at the start; those of joints count the turns of ``start=``, driven ones those of their drive."""
    zero, layout = np.zeros(system.n_v), system.layout
    near = system.evaluate(0.0, q, zero).measure.copy()
    for joint in system.joints:
        if getattr(joint, "start", None) is not None and hasattr(joint, "angle"):
            angle = joint.angle
            frames = [system.frames.number(f) for f in (angle.frame_i, angle.frame_j)]
            same = (layout.measure_kind == ANGLE) & (layout.measure_axes == angle.axes).all(axis=(1, 2))
            near[same & (layout.measure_i == frames[0]) & (layout.measure_j == frames[1])] = joint.start
    for r, m, factor in _angle_rows(system):
        near[m] = float(system.profiles[r].value(0.0)) / factor
    return np.asarray(system.evaluate(0.0, q, zero, near).measure)


def _velocities(system: Any, q: Array, angles: Array, size: float) -> Array:
    """Velocities nearest to the given ones that fulfil all rows; bodies with none given follow freely."""
    wanted, firm = np.zeros(system.n_v), np.ones(system.n_v)
    for k, body in enumerate(system.bodies):
        _, _, velocity, spin = body.initial
        kind, at = system.layout.body_kind[k], system.layout.body_v[k]
        straight = slice(at, at + (2 if kind == PLANAR else 3))
        turning = slice(at + 3, at + 6) if kind == RIGID else slice(at + 2, at + 3)
        if kind in (RIGID, PLANAR, POINT) and velocity is not None:
            wanted[straight], firm[straight] = velocity[: straight.stop - at], FIRM
        if kind in (RIGID, PLANAR) and spin is not None:
            wanted[turning], firm[turning] = (spin if kind == RIGID else spin[2:]), FIRM
    work = system.evaluate(0.0, q, wanted, angles)
    wanted = wanted + _rates(system, wanted, work)
    work = system.evaluate(0.0, q, wanted, angles)
    if not system.rows:
        return wanted
    weights = length_weights(system, size) ** 2 * firm
    given, v = firm > 1.0, wanted
    for _ in range(4):  # what was not given follows; then nothing pulls any more at what was
        v = np.where(given, wanted, v)
        v = v + _least(system, weights, work, -system.evaluate(0.0, q, v, angles).phi_rate)
    for _ in range(12 if system.functions.velocity else 0):  # functions of velocities need not be linear in them
        work = system.evaluate(0.0, q, v, angles)
        v = v + _least(system, weights, work, -work.phi_rate)
    left = system.evaluate(0.0, q, v, angles)
    fastest = max(1.0, np.abs(v).max())
    if system.elastic.any() and TOLERANCE * fastest < np.abs(left.phi_rate).max() <= FITS * fastest:
        v = v + least_bending(system, system.jacobian(left).toarray(), -left.phi_rate)
    miss = np.abs(system.evaluate(0.0, q, v, angles).phi_rate)
    if miss.max() > 1e-8 * max(1.0, np.abs(v).max()):
        row = int(np.argmax(miss))
        raise ModelError(
            f"the initial velocities contradict the joints: {system.labels[row]} misses by {miss[row]:.4g}."
        )
    _warn_of_changed(system, wanted, v, given, size)
    return np.asarray(v)


def _warn_of_changed(system: Any, wanted: Array, v: Array, given: NDArray[np.bool_], size: float) -> None:
    """Say which given velocities could not be kept."""
    change = np.where(given, np.abs(v - wanted), 0.0)
    lengths = length_weights(system, size)
    fastest = max(float(np.abs(wanted * lengths).max()), float(np.abs(v * lengths).max()))
    said = []
    for k, body in enumerate(system.bodies):
        for part, word, unit in zip(_parts(system, k), ("velocity", "angular velocity"), ("m/s", "rad/s"), strict=True):
            if (change * lengths)[part].max(initial=0.0) > KEPT * fastest:
                said.append(f"{word} of {body.name!r} by {change[part].max():.3g} {unit}")
    if said:
        warnings.warn(
            f"the joints do not fit the velocities given to bodies, which were changed: {', '.join(said)}. Correct "
            "these, or leave them out so that they follow.",
            ModelWarning,
            stacklevel=2,
        )


def _rates(system: Any, v: Array, work: Any) -> Array:
    """What to add to v so that joints have their ``rate=``, as a guess: of least length where all rows hold."""
    joints = [j for j in system.joints if getattr(j, "rate", None) is not None]
    if not joints:
        return np.zeros(system.n_v)
    rows = np.array([_gradient(system, j.angle if hasattr(j, "angle") else j.distance, work) for j in joints])
    rates = np.array([float(j.rate) for j in joints]) - rows @ v
    jacobian = np.vstack([system.jacobian(work).toarray(), rows])
    target = np.concatenate([-work.phi_rate, rates])
    still = np.where(system.elastic, 0.0, 1.0)  # bodies move, and do not begin to vibrate
    return np.asarray(still * np.linalg.lstsq(jacobian * still, target, rcond=1e-10)[0])


def _gradient(system: Any, measure: Any, work: Any) -> Array:
    """Gradient of a measure with respect to the velocities."""
    out = np.zeros(system.n_v)
    gradient, vectors = np.zeros((1, 9)), np.zeros((1, 4, 3))
    i, j = system.frames.number(measure.frame_i), system.frames.number(measure.frame_j)
    evaluate(measure.kind, measure.axes[None], 0, i, j, work.frame_position, work.frame_rotation, vectors, gradient)
    for side, f in ((0, i), (1, j)):
        b = system.layout.frame_body[f]
        first, last = system.layout.body_v[b], system.layout.body_v[b + 1]
        at = system.layout.frame_t[f]
        pull_back(measure.kind, gradient, 0, side, 1.0, work.frame_t, at, last - first, out, first)
    return out
