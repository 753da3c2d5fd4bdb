"""How the bodies of a mechanism hang on each other: one joint each, chosen so that few rows are left to close loops."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import GROUND, PLANAR, POINT, RIGID, Body
from flexmbs.errors import ModelError
from flexmbs.joints.freedom import ALIKE, BALL, Freedom, JointMotion, reversed_motion, sliding, turning
from flexmbs.joints.joint import Joint
from flexmbs.rotations import triad
from flexmbs.system.evaluate import Work
from flexmbs.system.tree_kinematics import AXIS, REST_OF_BALL, TreeArrays
from flexmbs.system.tree_kinematics import BALL as BALL_COLUMN

Array = NDArray[np.float64]

_X, _Y, _Z = np.eye(3)
FREE = {
    RIGID: JointMotion((sliding("x", _X), sliding("y", _Y), sliding("z", _Z), BALL)),
    PLANAR: JointMotion((sliding("x", _X), sliding("y", _Y), turning("angle", _Z))),
    POINT: JointMotion((sliding("x", _X), sliding("y", _Y), sliding("z", _Z))),
}
"""How a body moves that hangs on nothing."""


class Hanging(NamedTuple):
    """How a body hangs: on which other (-1 for the ground), by which joint (None: freely), and seen from which side."""

    body: int
    parent: int
    joint: Any
    backward: bool  # the joint's first frame is on the body
    motion: JointMotion  # of the joint, with its second frame at zero as it stands in this mechanism

    @property
    def frames(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Position and axes of the frames of the joint on the parent and on the body."""
        if self.joint is None:
            return (np.zeros(3), np.eye(3)), (np.zeros(3), np.eye(3))
        i, j = self.joint.frame_i, self.joint.frame_j
        pair = (i.position, i.axes), (j.position, j.axes)
        return pair[::-1] if self.backward else pair

    @property
    def freedoms(self) -> tuple[Freedom, ...]:
        """From the parent to the body."""
        return reversed_motion(self.motion.freedoms) if self.backward else self.motion.freedoms

    def coordinates(self, work: Work) -> tuple[Array, Array, float]:
        """Coordinates from the parent to the body at evaluated poses, the frame at zero, and what is missed."""
        (arm, axes), (back, own) = self.frames
        rotation, position = work.rotation[self.body], work.position[self.body]
        there, place = np.eye(3), np.zeros(3)
        if self.parent >= 0:
            there, place = work.rotation[self.parent], work.position[self.parent]
        frame, end = there @ axes, rotation @ own
        between = position + rotation @ back - place - there @ arm
        if self.backward:
            frame, end, between = end, frame, -between
        x, rest, miss = self.motion.coordinates(frame.T @ end, frame.T @ between)
        if self.backward:
            x = _seen_backward(x, self.motion.freedoms)
        return x, rest, miss


def _seen_backward(x: Array, freedoms: tuple[Freedom, ...]) -> Array:
    parts, k = [np.zeros(0)], 0
    for f in freedoms:
        if f.ball:
            parts.append(x[k : k + 4] * [1.0, -1.0, -1.0, -1.0])
        else:
            parts.append(x[k : k + 1])
        k += 4 if f.ball else 1
    return np.concatenate(parts[::-1])


def hang(bodies: Sequence[Body], joints: Sequence[Any], work: Work) -> list[Hanging]:
    """A spanning tree of the bodies, from the ground on, over the joints that leave the least freedom first.

    ``work`` holds the poses of a closed position. Points turn with nothing, so that nothing hangs on them by a joint.
    """
    for body in bodies:
        if body.kind not in (GROUND, *FREE):
            raise ModelError(f"{body.name}: a {type(body).__name__} is no part of a tree of rigid bodies.")
    numbers = {id(b): k for k, b in enumerate(bodies)}
    touching: list[list[tuple[Any, int]]] = [[] for _ in bodies]
    for joint in joints:
        if isinstance(joint, Joint) and joint.motion is not None:
            i, j = (numbers[id(f.body)] for f in (joint.frame_i, joint.frame_j))
            touching[i].append((joint, j))
            touching[j].append((joint, i))
    out: list[Hanging] = []
    reached = [b.kind == GROUND for b in bodies]
    waiting: list[tuple[int, int, int, int, Any]] = []  # freedoms, order, body, parent, joint

    def reach(k: int) -> None:
        for joint, other in touching[k]:
            if not reached[other]:
                heapq.heappush(waiting, (joint.motion.speeds, len(pushed), other, k, joint))
                pushed.append(other)

    pushed: list[int] = []
    for k, body in enumerate(bodies):
        if body.kind == GROUND:
            reach(k)
    for root in [-1, *range(len(bodies))]:
        if root >= 0 and not reached[root]:
            reached[root] = True
            out.append(Hanging(root, -1, None, False, FREE[bodies[root].kind]))
            reach(root)
        while waiting:
            _, _, child, parent, joint = heapq.heappop(waiting)
            found = None if reached[child] else _hanging(bodies, child, parent, joint, work)
            if found is not None:
                reached[child] = True
                out.append(found)
                reach(child)
    return out


def _hanging(bodies: Sequence[Body], child: int, parent: int, joint: Any, work: Work) -> Hanging | None:
    """How the child hangs by this joint, if it can."""
    kinds = bodies[child].kind, bodies[parent].kind
    flat = all(kind in (PLANAR, GROUND) for kind in kinds)
    if POINT in kinds or (not flat and (joint.motion.flat or kinds[0] == PLANAR)):
        return None
    above = -1 if kinds[1] == GROUND else parent
    hanging = Hanging(child, above, joint, joint.frame_i.body is bodies[child], joint.motion)
    _, rest, miss = hanging.coordinates(work)
    if miss > ALIKE * (1.0 + float(np.abs(work.position).max(initial=0.0))):
        return None
    motion = JointMotion(joint.motion.freedoms, rest, joint.motion.flat)
    if kinds[0] == PLANAR:
        if any(f.ball for f in motion.freedoms):
            return None
        axes = hanging.frames[0][1]  # planar bodies turn about z only: axes in the parent are axes in space up to that
        start = axes if not hanging.backward else axes @ rest.T
        for f in hanging.freedoms:
            out_of_plane = np.hypot(*(start @ f.axis)[:2]) if f.turn else abs((start @ f.axis)[2])
            if out_of_plane > ALIKE:
                return None
    return hanging._replace(motion=motion)


def lay_out_tree(
    hangings: Sequence[Hanging], bodies: Sequence[Body], gravity: Array
) -> tuple[TreeArrays, tuple[str, ...]]:
    """The tree in arrays, and the names of its speeds."""
    place = np.full(len(bodies), -1, dtype=np.int64)
    columns: list[tuple[int, int, float, float, Array]] = []
    names: list[str] = []
    starts, after, arms, backs = [0], [], [], []
    coordinate = 0
    for k, h in enumerate(hangings):
        place[h.body] = k
        (arm, axes), (back, own) = h.frames
        last = axes @ h.motion.rest.T if h.backward else axes
        name = h.joint.name if h.joint is not None else bodies[h.body].name
        for f in h.freedoms:
            if f.ball:
                columns.append((BALL_COLUMN, coordinate, 1.0, 0.0, last))
                columns.extend((REST_OF_BALL, coordinate, 1.0, 0.0, np.eye(3)) for _ in range(2))
                names.extend(f"{name}.{f.name} {axis}" for axis in "xyz")
                last, coordinate = np.eye(3), coordinate + 4
            else:
                t = triad(f.axis)
                columns.append((AXIS, coordinate, f.turn, f.slide, last @ t))
                names.append(f"{name}.{f.name}")
                last, coordinate = t.T, coordinate + 1
        after.append(last @ own.T if h.backward else last @ h.motion.rest @ own.T)
        arms.append(arm)
        backs.append(back)
        starts.append(len(columns))
    kinds, at, turns, slides, before = zip(*columns, strict=True) if columns else ((),) * 5
    parameters = [bodies[h.body].mass_parameters for h in hangings]
    starts_v = np.cumsum([0, *(b.n_v for b in bodies)])
    arrays = TreeArrays(
        body=_index([h.body for h in hangings]),
        parent=_index([-1 if h.parent < 0 else place[h.parent] for h in hangings]),
        column=_index(starts),
        kind=_index(kinds),
        at=_index(at),
        turn=np.array(turns, dtype=float),
        slide=np.array(slides, dtype=float),
        before=np.array(before, dtype=float).reshape(-1, 3, 3),
        after=np.array(after, dtype=float).reshape(-1, 3, 3),
        arm=np.array(arms, dtype=float).reshape(-1, 3),
        back=np.array(backs, dtype=float).reshape(-1, 3),
        place=place,
        form=_index([bodies[h.body].kind for h in hangings]),
        first=_index([starts_v[h.body] for h in hangings]),
        mass=np.array([p[0] for p in parameters], dtype=float),
        centre=np.array([p[1] for p in parameters], dtype=float).reshape(-1, 3),
        inertia=np.array([p[2] for p in parameters], dtype=float).reshape(-1, 3, 3),
        gravity=np.array(gravity, dtype=float),
    )
    return arrays, tuple(names)


def _index(values: Any) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64).reshape(-1)
