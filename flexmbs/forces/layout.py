"""The flat layout of forces: every compiled force as entries of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import Frame
from flexmbs.forces.force import Force
from flexmbs.forces.user import UserForce
from flexmbs.joints.joint import Measure
from flexmbs.profiles import Profile, ProfileTable

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class ForceLayout(NamedTuple):
    """Forces in few arrays (each costs time to compile); those of Python functions by the bodies that they couple."""

    table: Index  # (forces, 8) kind, frames i (-1 for none) and j, measure, first param, first function of time, curves
    params: Array
    curve_kinds: Index
    curve_starts: Index
    curve_params: Array
    pressed: Index  # (n, 3) friction under a joint's own reaction: its force, and the first and last + 1 of the rows
    user: Index  # (blocks, 3) bodies of rows and columns of a block of a Python force's tangents, and its first value
    hooks: Index  # (6,) addresses of functions that few models need, see ``hooks`` and ``stage``
    times: int  # number of functions of time
    user_values: int  # number of values in all blocks


class ForceWork(NamedTuple):
    """Results of the stage of forces, and scratch of their tangents."""

    time: Array  # values of the functions of time, then their rates
    wrench: Array  # (forces, 12) on both frames, global axes
    normal: Array  # (forces, 4) normal force by the reaction of a joint, and its derivative by a turn of frame i
    across: Array  # (n, 3) the direction of each, across the axis
    addresses: Index  # of the arrays that hooks read and write
    pair: Array  # (3, 12) twists of both frames; derivatives of a force along a measure by poses and by twists
    tangent: Array  # (3, 12, 12) of a wrench by poses and by twists; of the gradient of a measure by poses
    link: Array  # (1, 5, 3, 3) the same gradient's, see measures.add_stiffness
    maps: Array  # (3, 6, widest body) how a frame moves with the increment, how its twist does, product
    user: Array  # (3, n_v) force of Python functions, and the increment and velocities at which it was taken
    user_tangent: Array  # (2, values) its derivatives by increment and by velocities, blocks


ADDRESSES = 83
"""Size of the table of arrays of hooks."""

TWIST, BY_POSITION, BY_VELOCITY = range(3)
STIFFNESS, DAMPING, HESSIAN = range(3)
MOVED, RATED, PRODUCT = range(3)
USER_FORCE, USER_X, USER_V = range(3)


def lay_out_forces(
    forces: Sequence[Force | UserForce],
    frame_number: Callable[[Frame], int],
    measure_number: Callable[[Measure], int],
    body_number: Callable[[Any], int],
    rows_of: Callable[[Any, str], tuple[int, int]],
) -> ForceLayout:
    """The layout of forces, in their order, Python ones apart; ``rows_of`` finds the rows of a joint for a force."""
    compiled = [f for f in forces if isinstance(f, Force)]
    curves: list[Profile] = []
    table: list[list[int]] = []
    params: list[float] = []
    pressed: list[tuple[int, int, int]] = []
    _, starts = time_functions(compiled)
    for k, force in enumerate(compiled):
        if force.pressing is not None:
            pressed.append((k, *rows_of(force.pressing, force.name)))
        first, second = force.frames
        numbers = []
        for curve in force.curves:
            numbers.append(-1 if curve is None else len(curves))
            curves.extend([] if curve is None else [curve])
        measure = -1 if force.measure is None else measure_number(force.measure)
        frames = (-1 if first is None else frame_number(first), frame_number(second))
        table.append([force.kind, *frames, measure, len(params), starts[k], *numbers])
        params.extend(force.params)
    blocks: list[tuple[int, int, int]] = []
    values = 0
    for user in (f for f in forces if isinstance(f, UserForce)):
        bodies = {body_number(f.body): f.body.n_v for f in user.frames if f.body.n_v}
        for a, rows in bodies.items():
            for b, columns in bodies.items():
                blocks.append((a, b, values))
                values += rows * columns
    laid = ProfileTable.of(curves)
    return ForceLayout(
        table=np.array(table, dtype=np.int64).reshape(-1, 8),
        params=np.array(params, dtype=float),
        curve_kinds=laid.kinds.copy(),
        curve_starts=laid.starts.copy(),
        curve_params=laid.params.copy(),
        pressed=np.array(pressed, dtype=np.int64).reshape(-1, 3),
        user=np.array(blocks, dtype=np.int64).reshape(-1, 3),
        hooks=np.zeros(6, dtype=np.int64),
        times=starts[-1],
        user_values=values,
    )


def time_functions(forces: Sequence[Force]) -> tuple[tuple[Profile, ...], list[int]]:
    """All functions of time that forces read, and the first one of each force; forces that share them read the same."""
    profiles: list[Profile] = []
    starts: list[int] = []
    known: dict[tuple[int, ...], int] = {}
    for force in forces:
        own = force.times
        key = tuple(id(p) for p in own)
        if not own or key not in known:
            known[key] = len(profiles)
            profiles.extend(own)
        starts.append(known[key])
    return tuple(profiles), [*starts, len(profiles)]


def force_work(forces: ForceLayout, body_v: Index) -> ForceWork:
    """Arrays for one evaluation at a time."""
    return ForceWork(
        np.zeros(2 * forces.times),
        np.zeros((len(forces.table), 12)),
        np.zeros((len(forces.table), 4)),
        np.zeros((len(forces.pressed), 3)),
        np.zeros(ADDRESSES, dtype=np.int64),
        np.zeros((3, 12)),
        np.zeros((3, 12, 12)),
        np.zeros((1, 5, 3, 3)),
        np.zeros((3, 6, int(np.diff(body_v).max(initial=0)))),
        np.zeros((3, int(body_v[-1]))),
        np.zeros((2, forces.user_values)),
    )
