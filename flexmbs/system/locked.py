"""The same mechanism with deformation locked: flexible bodies become rigid ones, and what holds on to them follows."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

from flexmbs.bodies.ground import SPACE


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
