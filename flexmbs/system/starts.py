"""What joints are given at the start: coordinates and rates, as start=, rate=, drives and couplings say."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import PLANAR, POINT, RIGID
from flexmbs.bodies.ground import Ground
from flexmbs.joints.drives import Coupling, Drive
from flexmbs.joints.freedom import JointMotion
from flexmbs.joints.joint import Joint, Measure
from flexmbs.joints.spatial import Screw
from flexmbs.system.evaluate import Work

Array = NDArray[np.float64]
Given = dict[tuple[int, str], float]
"""Value by joint (its id) and coordinate ("angle" or "distance")."""


def coordinate_name(joint: Any) -> str:
    """The coordinate that start= and rate= of a joint mean: its angle, else its distance; "" without one."""
    return next((name for name in ("angle", "distance") if hasattr(type(joint), name)), "")


def given_coordinates(system: Any, rates: bool = False) -> Given:
    """Coordinates (or their rates) at t = 0: as driven, else as given, and what couplings and screws make of these.

    Turns count: gears and screws tie angles of any number of turns.
    """
    out: Given = {}
    relations = []
    for joint in system.joints:
        given = getattr(joint, "rate" if rates else "start", None)
        if given is not None and coordinate_name(joint):
            out[id(joint), coordinate_name(joint)] = float(given)
        if isinstance(joint, Drive | Coupling | Screw):
            r = system.joint_rows(joint).stop - 1
            profile, terms = system.profiles[r], system.rows[r].terms
            keys = [_key(measure) for _, measure in terms]
            if None not in keys:
                value = float(profile.rate(0.0) if rates else profile.value(0.0))
                relations.append((isinstance(joint, Drive), value, dict(zip(keys, (f for f, _ in terms), strict=True))))
    for driven, value, factors in relations:
        if driven:
            ((key, factor),) = factors.items()
            out[key] = value / factor
    found = True
    while found:
        found = False
        for _, value, factors in relations:
            unknown = [key for key in factors if key not in out]
            if len(unknown) == 1:
                rest = value - sum(factor * out[key] for key, factor in factors.items() if key in out)
                out[unknown[0]], found = rest / factors[unknown[0]], True
    return out


def _key(measure: Measure) -> Any:
    """The joint and coordinate that a measure is; None for others."""
    for name in ("angle", "distance") if isinstance(measure.joint, Joint) else ():
        own = getattr(measure.joint, name, None)
        if own is not None and own.kind == measure.kind and np.array_equal(own.axes, measure.axes):
            return id(measure.joint), name
    return None


def walked_velocities(system: Any, work: Work) -> Array:
    """Velocities (n_v,) by walking the joints: each moves at its rate against the body it hangs on, at rest if none is
    given. A body on a ball moves along without turning; given velocities of bodies stand.
    """
    rates = given_coordinates(system, rates=True)
    moves = any(rates.values()) or any(
        part is not None and np.any(part) for body in system.bodies for part in body.initial[2:]
    )
    if not moves:
        return np.zeros(system.n_v)
    twists: dict[int, tuple[Array, Array]] = {}
    for k, body in enumerate(system.bodies):
        _, _, velocity, spin = body.initial
        if isinstance(body, Ground):
            twists[k] = (np.zeros(3), np.zeros(3))
        elif velocity is not None and (spin is not None or system.layout.body_kind[k] == POINT):
            twists[k] = _own(system, k, work, (np.zeros(3), np.zeros(3)))
    joints = [j for j in system.joints if isinstance(j, Joint) and j.motion is not None]
    while len(twists) < len(system.bodies):
        reached = False
        for joint in joints:
            bodies = system.body_number(joint.frame_i.body), system.body_number(joint.frame_j.body)
            if (bodies[0] in twists) == (bodies[1] in twists):
                continue
            forward = bodies[0] in twists
            known, new = bodies if forward else bodies[::-1]
            twists[new] = _carried(system, joint, forward, twists[known], (known, new), rates, work)
            reached = True
        if not reached:
            first = next(k for k in range(len(system.bodies)) if k not in twists)
            twists[first] = _own(system, first, work, (np.zeros(3), np.zeros(3)))
    out = np.zeros(system.n_v)
    for k, (velocity, spin) in twists.items():
        kind, at = system.layout.body_kind[k], system.layout.body_v[k]
        if kind == RIGID:
            out[at : at + 3], out[at + 3 : at + 6] = velocity, work.rotation[k].T @ spin
        elif kind == PLANAR:
            out[at : at + 3] = *velocity[:2], spin[2]
        elif kind == POINT:
            out[at : at + 3] = velocity
    return out


def _carried(
    system: Any,
    joint: Joint,
    forward: bool,
    twist: tuple[Array, Array],
    bodies: tuple[int, int],
    rates: Given,
    work: Work,
) -> tuple[Array, Array]:
    """Twist of a body that hangs on another by a joint."""
    i, j = system.frames.number(joint.frame_i), system.frames.number(joint.frame_j)
    known, new = bodies
    velocity, spin = twist
    axes, sign = work.frame_rotation[i], 1.0 if forward else -1.0
    here, there = (i, j) if forward else (j, i)
    slide, turn = np.zeros(3), np.zeros(3)
    motion = joint.motion or JointMotion(())
    for freedom in motion.freedoms:
        rate = rates.get((id(joint), freedom.name), 0.0)
        slide = slide + sign * rate * freedom.slide * axes @ freedom.axis
        turn = turn + sign * rate * freedom.turn * axes @ freedom.axis
    carrier = spin if forward else spin + turn  # of the frame in whose axes the slide is seen
    apart = work.frame_position[there] - work.frame_position[here]
    at = velocity + np.cross(spin, work.frame_position[here] - work.position[known]) + np.cross(carrier, apart) + slide
    spin = np.zeros(3) if any(freedom.ball for freedom in motion.freedoms) else spin + turn
    spin = _own(system, new, work, (at, spin))[1]
    origin = at - np.cross(spin, work.frame_position[there] - work.position[new])
    return _own(system, new, work, (origin, spin))


def _own(system: Any, k: int, work: Work, otherwise: tuple[Array, Array]) -> tuple[Array, Array]:
    """Velocity and angular velocity of a body in global axes, where they are given."""
    _, _, velocity, spin = system.bodies[k].initial
    turned = otherwise[1] if spin is None else work.rotation[k] @ spin
    return otherwise[0] if velocity is None else np.asarray(velocity, float), np.asarray(turned)
