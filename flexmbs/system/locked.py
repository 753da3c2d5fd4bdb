"""The same mechanism with deformation locked: flexible bodies become rigid ones, and what holds on to them follows."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from flexmbs.bodies.ground import SPACE
from flexmbs.forces.applied import AppliedForce
from flexmbs.forces.body_load import BodyLoad


class Locked(NamedTuple):
    """Bodies, joints and forces of the rigid mechanism, and what each replaced thing became, by its id."""

    bodies: tuple[Any, ...]
    joints: tuple[Any, ...]
    forces: tuple[Any, ...]
    became: dict[int, Any]


def locked(system: Any) -> Locked:
    """Parts of the rigid mechanism: what does not touch a flexible body is the same object, the rest are copies.

    In copies the flexible bodies are replaced wherever they are referred to; frames keep their place in body axes.
    """
    flexible = [body for body in system.bodies if body.modes]
    became: dict[int, Any] = {id(body): body.rigid() for body in flexible}
    touched = set(became)
    kept = [SPACE, *(body for body in system.bodies if not body.modes)]
    kept += [item for item in (*system.joints, *system.forces) if not _touches(item, touched)]
    memo: dict[int, Any] = {id(item): item for item in kept} | became
    loads = [force for force in system.forces if isinstance(force, BodyLoad)]
    memo |= {id(load): _resultant(load, became[id(load.body)]) for load in loads}
    joints, forces = (tuple(copy.deepcopy(item, memo) for item in items) for items in (system.joints, system.forces))
    for old, new in zip((*system.joints, *system.forces), (*joints, *forces), strict=True):
        if old is not new:
            became[id(old)] = new
    return Locked(tuple(became.get(id(body), body) for body in system.bodies), joints, forces, became)


def _touches(item: Any, bodies: set[int]) -> bool:
    """Whether a joint or force holds on to a frame of one of these bodies."""
    frames = [f for row in getattr(item, "rows", ()) for _, m in row.terms for f in (m.frame_i, m.frame_j)]
    frames += [getattr(item, name, None) for name in ("frame_i", "frame_j")]
    frames += list(getattr(item, "frames", None) or ())
    return any(id(f.body) in bodies for f in frames if f is not None)


def _resultant(load: BodyLoad, body: Any) -> AppliedForce:
    """What a load of a flexible body is where that does not deform: one force and moment, turning with the body."""
    frame = body.at(0.0, 0.0) if load.body.planar else body.at(0.0, 0.0, 0.0)
    push, turn = ([load.profile * float(x) for x in part] for part in np.split(load.undeformed, 2))
    return AppliedForce(load.name, frame, push, turn, follows=True)
