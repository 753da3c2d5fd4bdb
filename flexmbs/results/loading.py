"""What loads a flexible body over time, as factors of its unit load cases: motion, reactions and applied forces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import Frame
from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.forces.body_load import BodyLoad
from flexmbs.forces.laws import FRAME_I
from flexmbs.projection.model import NAMES
from flexmbs.reduction.recovery import NOTHING
from flexmbs.reduction.stiffening import PAIRS
from flexmbs.results.motions import BodyMotion
from flexmbs.system.system import System

Array = NDArray[np.float64]


def inertia_histories(motion: BodyMotion, gravity: Array) -> Array:
    """Factors (time, 12) of the inertia cases: a less gravity, ε and products of ω, in body axes."""
    a, e, w = (
        np.einsum("tji,tj->ti", motion.rotation, x)
        for x in (motion.acceleration - gravity, motion.spin_rate, motion.spin)
    )
    return np.hstack([a, e, np.stack([w[:, i] * w[:, j] for i, j in PAIRS], axis=1)])


def interface_cases(body: FlexibleBody) -> dict[str, list[tuple[int, int]]]:
    """For each interface, pairs (component of a wrench, number of its unit load case)."""
    names = {name: k for k, name in enumerate(body.reduced.cases.names)}
    return {
        interface: [
            (c, names[f"{interface} {label}"]) for c, label in enumerate(NAMES) if f"{interface} {label}" in names
        ]
        for interface in body.reduced.interfaces
    }


def needs_reactions(body: FlexibleBody) -> bool:
    """Whether the coordinates leave out anything of the response to forces on the interfaces."""
    missed = body.reduced.cases.missed
    return any(missed[k] > NOTHING for pairs in interface_cases(body).values() for _, k in pairs)


def load_factors(
    system: System,
    body: FlexibleBody,
    motion: BodyMotion,
    states: tuple[Array, Array, Array, Array],
    multipliers: Array,
) -> Array:
    """Factors (time, cases) of all unit loads of a body; states are t, q, v, angles."""
    out = np.zeros((len(states[0]), len(body.reduced.cases.names)))
    out[:, :12] = inertia_histories(motion, system.layout.gravity)
    for force in system.forces:
        if isinstance(force, BodyLoad) and force.body is body:
            out[:, force.case] += np.asarray(force.profile.value(states[0]))
    if not needs_reactions(body):
        return out
    cases = interface_cases(body)
    on_body = system.body_number(body)
    held = {f: _interface_of(body, frame) for f, frame in enumerate(system.frames.frames) if frame.body is body}
    wanted = [f for f, name in held.items() if name is not None and system.layout.frame_body[f] == on_body]
    wrenches = frame_wrenches(system, wanted, *states, multipliers)
    for k, f in enumerate(wanted):
        for half in (slice(0, 3), slice(3, 6)):
            wrenches[:, k, half] = np.einsum("tji,tj->ti", motion.rotation, wrenches[:, k, half])
        for component, case in cases[str(held[f])]:
            out[:, case] += wrenches[:, k, component]
    return out


def frame_wrenches(
    system: System, wanted: list[int], t: Array, q: Array, v: Array, angles: Array, multipliers: Array
) -> Array:
    """(time, frames, 6): force and moment of all joints and forces on some frames, by number, in global axes."""
    layout = system.layout
    table = layout.forces.table
    place = np.full(len(system.frames.frames) + 1, len(wanted))  # the last one takes what nobody asked for
    place[wanted] = np.arange(len(wanted))
    rows = np.repeat(np.arange(len(layout.row_start) - 1), np.diff(layout.row_start))
    first, second = place[layout.measure_i[layout.term_measure]], place[layout.measure_j[layout.term_measure]]
    acting = [place[table[:, FRAME_I + side]] for side in range(2)]  # -1, no frame, is the last one too
    out = np.zeros((len(t), len(wanted) + 1, 6))
    for k in range(len(t)):
        work = system.evaluate(float(t[k]), q[k], v[k], angles[k], multipliers[k])
        factors = system.layout_at(float(t[k]), q[k], v[k], angles[k]).term_factor * multipliers[k][rows]
        pull = factors[:, None] * work.gradient[layout.term_measure]
        np.add.at(out[k], first, np.hstack([-pull[:, :3], pull[:, 3:6]]))
        np.add.at(out[k], second, np.hstack([pull[:, :3], pull[:, 6:9]]))
        if len(table):
            wrench = work.forces.wrench.reshape(-1, 2, 6)
            for side in range(2):
                np.add.at(out[k], acting[side], wrench[:, side])
        for force in system.user_forces.forces:
            numbers = [place[system.frames.number(f)] for f in force.frames]
            np.add.at(out[k], numbers, system.user_forces.wrenches(force, float(t[k]), work))
    return out[:, :-1]


def _case(body: FlexibleBody, load: str) -> int:
    """Number of the unit load of a load set, which come last."""
    names = body.reduced.cases.names
    return len(names) - 1 - names[::-1].index(load)


def _interface_of(body: FlexibleBody, frame: Frame) -> str | None:
    """The interface on which a frame sits, known by its shapes."""
    for name in body.reduced.interfaces:
        own = body.reduced.frames[name]
        if np.array_equal(frame.shapes, np.vstack([own.displacement, own.rotation])):
            return name
    return None
