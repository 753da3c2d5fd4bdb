"""What is checked of a system before anything is laid out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flexmbs.bodies.body import Frame
from flexmbs.bodies.ground import SPACE, Ground
from flexmbs.errors import ModelError
from flexmbs.fem.loads import Gravity
from flexmbs.joints.joint import Joint


def check(system: Any) -> None:
    """Names are unique, and everything that joints and forces refer to is there."""
    applied = [f for f in system.forces if not isinstance(f, Gravity)]
    for kind, items in (("body", system.bodies), ("joint", system.joints), ("force", applied)):
        names = [i.name for i in items]
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise ModelError(f"two {kind} items are named {twice[0]!r}; names must be unique.")
    if sum(isinstance(b, Ground) for b in system.bodies) > 1:
        raise ModelError("a system has one Ground.")
    known = {id(b) for b in system.bodies}
    if any(isinstance(b, Ground) for b in system.bodies):
        known.add(id(SPACE))
    for joint in system.joints:
        _coordinates_known(system, joint)
        for row in getattr(joint, "rows", ()):
            for _, measure in row.terms:
                for frame in (measure.frame_i, measure.frame_j):
                    _known(system, frame, known, joint.name)
    for force in applied:
        for frame in getattr(force, "frames", ()):
            if frame is not None:
                _known(system, frame, known, force.name)


def _coordinates_known(system: Any, of: Any) -> None:
    """A drive or relation of a joint that is not there would hold the two frames in no other way."""
    if isinstance(of, Joint):
        return
    for row in of.rows:
        for _, measure in row.terms:
            if measure.joint is not None and not any(j is measure.joint for j in system.joints):
                raise ModelError(
                    f"{of.name}: {measure.name or 'its coordinate'} belongs to joint {measure.joint.name!r}, which "
                    "is not among the joints of the system. Add it; a component of a frame without a joint is "
                    "fm.component(frame, ...)."
                )


def _known(system: Any, frame: Frame, known: set[int], where: str) -> None:
    if id(frame.body) not in known and frame.body is SPACE:
        raise ModelError(f"{where} refers to space: add fm.Ground() to the bodies of the system.")
    if id(frame.body) not in known:
        names = ", ".join(b.name for b in system.bodies)
        raise ModelError(f"{where}: body {frame.body.name!r} is not in the system; it has {names}.")


def listed(items: Any, what: str, kinds: tuple[type, ...], words: str) -> tuple[Any, ...]:
    """The items, if all are of these kinds."""
    if not isinstance(items, Iterable) or isinstance(items, str):
        raise ModelError(f"{what}: a list is needed, {what}=[...], not one {type(items).__name__}.")
    out = tuple(items)
    for item in out:
        if not isinstance(item, kinds):
            called = f"{type(item).__name__} {item.name!r}" if hasattr(item, "name") else repr(item)
            raise ModelError(f"{what}: {called} is not {words}.")
    return out


def named(system: Any, name: Any) -> Any:
    """The body, joint or force of a name; the first of these that has it."""
    known = {getattr(item, "name", ""): item for item in (*system.forces, *system.joints[::-1], *system.bodies)}
    if not isinstance(name, str) or name not in known:
        names = ", ".join(repr(n) for n in dict.fromkeys([*(b.name for b in system.bodies), *known]) if n)
        raise ModelError(f"nothing in the system is named {name!r}; there are {names}.")
    return known[name]
