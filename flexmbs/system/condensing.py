"""A mechanism with bodies in full order, and the same one with these condensed to the frames that it holds them by."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.condensed import CondensedBody
from flexmbs.bodies.full_order import FullOrderBody
from flexmbs.bodies.ground import SPACE
from flexmbs.errors import ModelError
from flexmbs.forces.body_load import BodyLoad
from flexmbs.reduction.full import ADVICE
from flexmbs.system.state import State

Array = NDArray[np.float64]
Index = NDArray[np.int64]

ROUNDING = 1e-14
"""Deformation, in sizes of the body, that is no more than rounding."""


class Parts(NamedTuple):
    """Bodies, joints and forces of the condensed mechanism."""

    bodies: tuple[Any, ...]
    joints: tuple[Any, ...]
    forces: tuple[Any, ...]


def condensed_parts(system: Any) -> Parts:
    """Parts of the condensed mechanism: copies, in which condensed bodies stand for those in full order."""
    became: dict[int, Any] = {}
    for body in system.bodies:
        became[id(body)] = body
        if body.full_order:
            frames = [f for f in system.frames.frames if f.body is body]
            became[id(body)] = CondensedBody(body.name, full=body, frames=tuple(frames))
    memo: dict[int, Any] = {id(SPACE): SPACE, **became}
    joints = tuple(copy.deepcopy(joint, memo) for joint in system.joints)
    forces = []
    for force in system.forces:  # a load of such a body is the forces that it is made of
        loads = isinstance(force, BodyLoad) and force.body.full_order
        forces += [copy.deepcopy(item, memo) for item in (force.parts(system.bodies) if loads else [force])]
    return Parts(tuple(became[id(body)] for body in system.bodies), joints, tuple(forces))


@dataclass(frozen=True, eq=False)
class Condensed:
    """The condensed mechanism of a system, and how the coordinates of both belong together.

    ``system`` has the same bodies, joints and rows. ``full`` are its bodies in full order with their numbers; their
    nodal coordinates d lie one behind the other, each from ``starts`` on. ``q``, ``v`` and ``q_full``, ``v_full`` are
    the places of what both systems share, and ``d_q``, ``d_v`` those of d.
    """

    system: Any
    full: tuple[tuple[int, FullOrderBody], ...]
    starts: Index
    q: Index
    q_full: Index
    v: Index
    v_full: Index
    d_q: Index
    d_v: Index

    @property
    def conditions(self) -> int:
        """Number of nodal coordinates that the conditions on floating frames hold."""
        return sum(full.held.shape[0] for _, full in self.full)

    def initial(self) -> State:
        """The initial state: nodes at rest in their frames, but for what closing the loops bent by rounding."""
        start, d = self.system.initial, np.zeros(int(self.starts[-1]))
        for (b, full), own in zip(self.full, self.parts, strict=True):
            e = start.q[self.places(b, False)]
            if np.abs(e * full.body.modal_lengths).max(initial=0.0) > ROUNDING * full.part.mesh.size:
                d[own] = full.bent(e)
        v = self.expanded(start.v, np.zeros(len(d)), True)
        return State(start.t, self.expanded(start.q, d, False), v, start.angles)

    def expanded(self, small: Array, d: Array, velocity: bool) -> Array:
        """Coordinates or velocities of the whole system from those of the condensed one and d."""
        mine, whole, elastic = (self.v, self.v_full, self.d_v) if velocity else (self.q, self.q_full, self.d_q)
        out = np.empty(len(whole) + len(elastic))
        out[whole], out[elastic] = small[mine], d
        return out

    def reduced(self, given: Array, velocity: bool) -> tuple[Array, Array]:
        """Coordinates or velocities of the condensed system, and d."""
        mine, whole, elastic = (self.v, self.v_full, self.d_v) if velocity else (self.q, self.q_full, self.d_q)
        out = np.zeros(self.system.n_v if velocity else self.system.n_q)
        d = given[elastic]
        out[mine] = given[whole]
        for (b, full), own in zip(self.full, self.parts, strict=True):
            out[self.places(b, velocity)] = full.body.rows @ d[own]
        return out, d

    @property
    def parts(self) -> tuple[slice, ...]:
        """Where in d each body's nodal coordinates lie."""
        return tuple(slice(int(a), int(b)) for a, b in zip(self.starts[:-1], self.starts[1:], strict=True))

    def places(self, b: int, velocity: bool) -> slice:
        """Places of the coordinates e of body b in the condensed system."""
        layout = self.system.layout
        end = int((layout.body_v if velocity else layout.body_q)[b + 1])
        return slice(end - self.system.bodies[b].modes, end)


def condensed(system: Any, small: Any) -> Condensed:
    """How a system and its condensed one belong together."""
    full = [(b, FullOrderBody(body)) for b, body in enumerate(small.bodies) if isinstance(body, CondensedBody)]
    places = []
    for name in ("body_q", "body_v"):
        ours, whole = getattr(small.layout, name), getattr(system.layout, name)
        mine, shared, elastic = [], [], []
        for b, (one, other) in enumerate(zip(small.bodies, system.bodies, strict=True)):
            count = int(ours[b + 1] - ours[b]) - (one.modes if one is not other else 0)
            mine.append(ours[b] + np.arange(count))
            shared.append(whole[b] + np.arange(count))
            elastic.append(np.arange(whole[b] + count, whole[b + 1]))
        places += [np.concatenate(x).astype(np.int64) for x in (mine, shared, elastic)]
    q, q_full, d_q, v, v_full, d_v = places
    starts = np.concatenate([[0], np.cumsum([f.size for _, f in full])]).astype(np.int64)
    return Condensed(small, tuple(full), starts, q, q_full, v, v_full, d_q, d_v)


def refuse_full_order(bodies: Sequence[Any]) -> None:
    """Refuse what needs all matrices of a body in full order, if there is one."""
    names = ", ".join(body.name for body in bodies if body.full_order)
    if names:
        raise ModelError(f"{names}: a body in full order {ADVICE}.")
