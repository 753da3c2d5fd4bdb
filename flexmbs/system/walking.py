"""Where bodies are placed by walking the joints, the size of a mechanism, and what its velocities count as lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import PLANAR, POINT, RIGID
from flexmbs.bodies.ground import SPACE, Ground
from flexmbs.joints.cam import Contact, ContactParameters
from flexmbs.joints.joint import Joint
from flexmbs.rotations import axis_angle, axis_vector, from_matrix
from flexmbs.system.starts import Given, coordinate_name, given_coordinates

Array = NDArray[np.float64]


def walked(system: Any) -> tuple[Array, float]:
    """Coordinates of all bodies, each placed by the first joint that reaches it, and the size of the mechanism."""
    poses = _walk(system)
    for contact in (j for j in system.joints if isinstance(j, Contact) and j.cam.parameters is None):
        frames = []
        for frame in (contact.cam.frame_i, contact.cam.frame_j):
            position, rotation = poses[system.body_number(frame.body)]
            frames.append((position + rotation @ frame.position, rotation @ frame.axes))
        (p, r), (other, turned) = frames
        k = system.body_number(contact.body)
        poses[k] = (np.append(contact.cam.search(r.T @ (other - p), r.T @ turned), 0.0), np.eye(3))
    return _coordinates(system, poses), _size(system, poses)


def _walk(system: Any) -> list[tuple[Array, Array]]:
    """Poses (position, rotation) of all bodies, each placed by the first joint that reaches it, given ones first."""
    poses: dict[int, tuple[Array, Array]] = {}
    for k, body in enumerate(system.bodies):
        position, rotation, _, _ = body.initial
        if isinstance(body, Ground) or position is not None:
            poses[k] = (position, np.eye(3) if rotation is None else rotation)
    given = given_coordinates(system)
    joints = [j for j in system.joints if isinstance(j, Joint) and any(row.holonomic for row in j.rows)]
    known_joints = {joint for joint, _ in given}
    joints.sort(key=lambda j: id(j) not in known_joints)  # where two joints reach a body, one that was given places it
    while len(poses) < len(system.bodies):
        reached = False
        for joint in joints:
            i, j = system.body_number(joint.frame_i.body), system.body_number(joint.frame_j.body)
            if (i in poses) == (j in poses):
                continue
            shift, turning = _relative(joint, given)
            known, new = (i, j) if i in poses else (j, i)
            own, other = (joint.frame_i, joint.frame_j) if i in poses else (joint.frame_j, joint.frame_i)
            if known == j:
                turning, shift = turning.T, -turning.T @ shift
            p, r = poses[known]
            at, axes = p + r @ own.position, r @ own.axes
            frame_position, frame_rotation = at + axes @ shift, axes @ turning
            own_rotation = system.bodies[new].initial[1]
            rotation = frame_rotation @ other.axes.T if own_rotation is None else own_rotation
            poses[new] = (frame_position - rotation @ other.position, rotation)
            reached = True
        if not reached:
            first = next(k for k in range(len(system.bodies)) if k not in poses)
            _, rotation, _, _ = system.bodies[first].initial
            poses[first] = (np.zeros(3), np.eye(3) if rotation is None else rotation)
    return [poses[k] for k in range(len(system.bodies))]


def _relative(joint: Joint, given: Given) -> tuple[Array, Array]:
    """Position and rotation of the second frame in the first at a joint's coordinates."""
    axis = getattr(joint, "axis", "z")
    shift, turning = np.zeros(3), np.eye(3)
    if hasattr(type(joint), "angle"):
        turning = axis_angle(axis, given.get((id(joint), "angle"), 0.0))
    if hasattr(type(joint), "distance"):
        direction = joint.direction if hasattr(joint, "direction") else axis_vector(axis)
        shift = given.get((id(joint), "distance"), 0.0) * direction
    if not coordinate_name(joint):
        shift = np.array([getattr(joint, "length", 0.0), 0.0, 0.0])
    return shift, turning


def _coordinates(system: Any, poses: list[tuple[Array, Array]]) -> Array:
    q = np.zeros(system.n_q)
    for k, (position, rotation) in enumerate(poses):
        kind, at = system.layout.body_kind[k], system.layout.body_q[k]
        if kind == RIGID:
            q[at : at + 3], q[at + 3 : at + 7] = position, from_matrix(rotation)
        elif kind == PLANAR:
            q[at : at + 3] = *position[:2], np.arctan2(rotation[1, 0], rotation[0, 0])
        elif kind == POINT:
            q[at : at + 3] = position
    return q


def _size(system: Any, poses: list[tuple[Array, Array]]) -> float:
    """Length scale of the mechanism."""
    points, arms = [np.zeros(3)], [0.0]
    for frame in system.frames.frames:
        if frame.body is SPACE or isinstance(frame.body, ContactParameters):  # no part, and no lengths
            continue
        position, rotation = poses[system.body_number(frame.body)]
        points.append(position + rotation @ frame.position)
        arms.append(float(np.linalg.norm(frame.position)))
    spread = float(np.linalg.norm(np.ptp(np.array(points[1:] or points), axis=0)))
    return max(spread, *arms) or 1.0


def length_weights(system: Any, size: float) -> Array:
    """What each velocity counts as a length: rotations as what they move at the mechanism's size."""
    out = np.ones(system.n_v)
    for k, kind in enumerate(system.layout.body_kind):
        at = system.layout.body_v[k]
        if kind == RIGID:
            out[at + 3 : at + 6] = size
        elif kind == PLANAR:
            out[at + 2] = size
        elif isinstance(system.bodies[k], ContactParameters):
            out[at : at + 3] = system.bodies[k].lengths
    out[system.elastic] = system.modal_lengths
    return out
