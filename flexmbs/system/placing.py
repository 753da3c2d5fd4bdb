"""Where a mechanism starts: loops closed from where walking the joints led, velocities made consistent."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import PLANAR, POINT, RIGID
from flexmbs.errors import ModelError, ModelWarning
from flexmbs.joints.functions import FunctionRow
from flexmbs.joints.measures import ANGLE
from flexmbs.rotations import log
from flexmbs.system.closing import (
    FITS,
    TOLERANCE,
    angle_rows,
    closed,
    hold_starts,
    least_step,
    rate_step,
    turning_parts,
    wrapped,
)
from flexmbs.system.degenerate import refuse_massless
from flexmbs.system.evaluate import Work
from flexmbs.system.free_motions import least_bending
from flexmbs.system.starts import given_coordinates, walked_velocities
from flexmbs.system.state import State
from flexmbs.system.walking import length_weights

Array = NDArray[np.float64]

TRIES = 40
FIRM = 1e4
"""Weight of a position or velocity that was given, against one that was not."""
KEPT = 1e-3
"""Change of what was given, relative to the mechanism's size (rotations in rad) or speed, that needs a warning."""


def initial_state(system: Any) -> State:
    """State at t = 0: from the walked position to a closed one, and velocities that fulfil the joints."""
    walked, size = system.walked
    near = _near(system, walked)
    q, angles = _close(system, walked, near, size)
    q, angles = hold_starts(system, (walked, near), (q, angles), _firm(system), size)
    _warn_of_moved(system, q, size)
    angles = _start_angles(system, q, angles)
    state = State(0.0, q, _velocities(system, q, angles, size), angles)
    refuse_massless(system, state)
    return state


def _close(system: Any, q: Array, near: Array, size: float) -> tuple[Array, Array]:
    """Newton steps of least length until all rows hold, with the angles, counting turns; retried from turned bodies."""
    if not system.rows:
        return q, near
    rng = np.random.default_rng(0)
    weights = length_weights(system, size)
    turns = turning_parts(system)
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
            trial, angles, error = closed(system, trial, near, weights**2 * firm, size)
        except ModelError:  # of a Python function, which may be defined elsewhere
            if attempt == 0:
                raise
            error = np.inf
        if error <= FITS * size:
            for _ in range(3 if (firm > 1.0).any() else 0):  # what is not given follows what is
                restored = _restored(system, trial, q, firm)
                again, turned, error = closed(system, restored, angles, weights**2 * firm, size)
                if error > FITS * size:
                    break
                trial, angles = again, turned
            return _bent(system, np.asarray(trial), angles, size), angles
        if error < best:
            best, nearest = error, trial
    phi = np.abs(wrapped(system, system.evaluate(0.0, nearest, np.zeros(system.n_v), near).phi))
    row = int(np.argmax(phi))
    raise ModelError(
        f"the mechanism cannot be closed: {system.labels[row]} misses by {phi[row]:.4g} after {TRIES} tries. Check the "
        "lengths, or help with start= on a joint or position= on a body."
    )


def _bent(system: Any, q: Array, angles: Array, size: float) -> Array:
    """q closed to rounding: what a mesh misses by rounding of its own is taken up by flexible bodies."""
    for _ in range(5 if system.elastic.any() else 0):
        work = system.evaluate(0.0, q, np.zeros(system.n_v), angles)
        phi = wrapped(system, work.phi)
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


def _near(system: Any, q: Array) -> Array:
    """Angles where bodies were placed, counting the turns of ``start=`` and of drives."""
    still, layout = np.zeros(system.n_v), system.layout
    near, given = system.evaluate(0.0, q, still).measure.copy(), given_coordinates(system)
    for joint in system.joints:
        if (id(joint), "angle") in given:
            angle = joint.angle
            frames = [system.frames.number(f) for f in (angle.frame_i, angle.frame_j)]
            same = (layout.measure_kind == ANGLE) & (layout.measure_axes == angle.axes).all(axis=(1, 2))
            near[same & (layout.measure_i == frames[0]) & (layout.measure_j == frames[1])] = given[id(joint), "angle"]
    for r, m, factor in angle_rows(system):
        near[m] = float(system.profiles[r].value(0.0)) / factor
    return np.asarray(system.evaluate(0.0, q, still, near).measure)


def _start_angles(system: Any, q: Array, angles: Array) -> Array:
    """Angles at the start: turns count where they were given, driven or are tied to others, and are none elsewhere."""
    layout = system.layout
    tied = np.zeros(len(angles), dtype=bool)
    for r, row in enumerate(system.rows):
        if isinstance(row, FunctionRow) or layout.row_start[r + 1] - layout.row_start[r] > 1:
            tied[layout.term_measure[layout.row_start[r] : layout.row_start[r + 1]]] = True
    near = np.where(tied, angles, _near(system, q))
    return np.asarray(system.evaluate(0.0, q, np.zeros(system.n_v), near).measure)


def _velocities(system: Any, q: Array, angles: Array, size: float) -> Array:
    """Velocities nearest to the given ones that fulfil all rows; bodies with none given follow freely."""
    walked = walked_velocities(system, system.evaluate(0.0, q, np.zeros(system.n_v), angles))
    firm = np.ones(system.n_v)
    for k, body in enumerate(system.bodies):
        _, _, velocity, spin = body.initial
        straight, turning = _parts(system, k)
        if velocity is not None:
            firm[straight] = FIRM
        if spin is not None:
            firm[turning] = FIRM
    weights = length_weights(system, size) ** 2 * firm
    work = system.evaluate(0.0, q, walked, angles)
    step = rate_step(system, walked, work, weights, firm)
    given = firm > 1.0
    wanted = np.where(given, walked, walked + step)
    work = system.evaluate(0.0, q, wanted, angles)
    if not system.rows:
        return wanted
    v = wanted
    for _ in range(4):  # what was not given follows; then nothing pulls any more at what was
        v = np.where(given, wanted, v)
        v = v + least_step(system, weights, work, -system.evaluate(0.0, q, v, angles).phi_rate)
    for _ in range(12 if system.functions.velocity else 0):  # functions of velocities need not be linear in them
        work = system.evaluate(0.0, q, v, angles)
        v = v + least_step(system, weights, work, -work.phi_rate)
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
