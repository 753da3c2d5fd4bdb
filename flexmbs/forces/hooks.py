"""Forces that few models have, called by address: bushings, friction of surfaces and in joints, rotating frames.

The compiled step calls a hook with the address of a table (see ``fill``) that holds sizes and the addresses of arrays
of the layout and of the work. The hooks are compiled when a model first needs one.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import cfunc
from numpy.typing import NDArray

from flexmbs.forces.bushing_kernel import bushing_tangents, bushing_wrench
from flexmbs.forces.friction_kernel import friction_tangents, friction_wrench
from flexmbs.forces.laws import BUSHING, CONTACT, FRAME_I, FRAME_J, KIND, MEASURE, ROTATING, START, TIME
from flexmbs.forces.layout import ADDRESSES
from flexmbs.forces.pointers import (
    HOOK,
    blocks_of_floats,
    floats,
    numbers,
    table_of_floats,
    table_of_numbers,
)
from flexmbs.forces.reaction_kernel import Rubbing, add_pressing, press_by_reactions
from flexmbs.forces.rotating_kernel import rotating_tangents, rotating_wrench
from flexmbs.forces.triples import part

(
    N_FORCES, N_FRAMES, N_BODIES, N_MEASURES, N_ROWS, N_TERMS, N_PARAMS, N_TIMES, N_PRESSED, N_ENTRIES, N_JACOBIAN,
    TABLE, PARAMS, FRAME_BODY, PRESSED, ROW_START, TERM_MEASURE, TERM_FACTOR, MEASURE_KIND, ENTRY_START, ENTRY_BODY,
    BODY_V, FRAME_START, FRAME_POSITION, FRAME_VELOCITY, FRAME_ROTATION, ROTATION, SPIN, GRADIENT, VECTORS, FRAME_T,
    TIMES, WRENCH, NORMAL, ACROSS, PAIR, TANGENT,
) = range(ADDRESSES)  # fmt: skip
"""Entries of the table of arrays."""

WRENCHES, TANGENTS, PRESSING = range(3)
"""Hooks in the layout of forces."""


def fill(layout: Any, work: Any) -> None:
    """Write the table of arrays for an evaluation; the arrays belong to ``layout`` and ``work``, which outlive it."""
    forces, done = layout.forces, work.forces
    arrays = (
        forces.table, forces.params, layout.frame_body, forces.pressed, layout.row_start, layout.term_measure,
        layout.term_factor, layout.measure_kind, layout.entry_start, layout.entry_body, layout.body_v, layout.frame_t,
        work.frame_position, work.frame_velocity, work.frame_rotation, work.rotation, work.spin, work.gradient,
        work.vectors, work.frame_t, done.time, done.wrench, done.normal, done.across, done.pair, done.tangent,
    )  # fmt: skip
    sizes = (
        len(forces.table), len(layout.frame_body), len(layout.body_kind), len(layout.measure_kind),
        len(layout.row_start) - 1, len(layout.term_measure), len(forces.params), forces.times, len(forces.pressed),
        len(layout.entry_body), len(work.frame_t),
    )  # fmt: skip
    done.addresses[:] = [*sizes, *(a.__array_interface__["data"][0] for a in arrays)]


def hooks(table: NDArray[np.int64], params: NDArray[np.float64], pressed: bool) -> NDArray[np.int64]:
    """Addresses of the hooks that the forces of a layout need; zero for those that are not needed."""
    contacts = table[table[:, KIND] == CONTACT, START]
    rare = bool(np.isin(table[:, KIND], (BUSHING, ROTATING)).any() or params[contacts + 5].any())
    return np.array(
        [
            _compiled(WRENCHES).address if rare else 0,
            _compiled(TANGENTS).address if rare else 0,
            _compiled(PRESSING).address if pressed else 0,
        ],
        dtype=np.int64,
    )


@cache
def _compiled(which: int) -> Any:
    function = (wrench_hook, tangent_hook, pressing_hook)[which]
    return cfunc(HOOK, cache=True, error_model="numpy")(function)


def wrench_hook(address: int, f: int, along: float, a: int, b: int, c: int) -> None:
    """The wrench of force f; ``along`` is the normal force of a contact, whose own wrench is there already."""
    at = numbers(address, ADDRESSES)
    frames, bodies = at[N_FRAMES], at[N_BODIES]
    table, params = table_of_numbers(at[TABLE], at[N_FORCES], 8), floats(at[PARAMS], at[N_PARAMS])
    position, pair = table_of_floats(at[FRAME_POSITION], frames, 3), table_of_floats(at[PAIR], 3, 12)
    wrench = table_of_floats(at[WRENCH], at[N_FORCES], 12)
    kind, i, j, first = table[f, KIND], table[f, FRAME_I], table[f, FRAME_J], table[f, START]
    if kind == BUSHING:
        rotation = blocks_of_floats(at[FRAME_ROTATION], frames, 3, 3)
        bushing_wrench(i, j, position, rotation, params, first, pair, wrench, f)
    elif kind == ROTATING:
        body = numbers(at[FRAME_BODY], frames)[j]
        rotating_wrench(
            j, body, position, table_of_floats(at[FRAME_VELOCITY], frames, 3),
            blocks_of_floats(at[ROTATION], bodies, 3, 3), table_of_floats(at[SPIN], bodies, 3), params, first,
            floats(at[TIMES], 2 * at[N_TIMES]), table[f, TIME], at[N_TIMES], wrench, f,
        )  # fmt: skip
    elif kind == CONTACT:
        normal = part(table_of_floats(at[GRADIENT], at[N_MEASURES], 9), table[f, MEASURE], 0)
        friction_wrench(i, j, position, normal, params, first + 5, along, pair, wrench, f)


def tangent_hook(address: int, f: int, along: float, a: int, b: int, c: int) -> None:
    """The derivatives of the same."""
    at = numbers(address, ADDRESSES)
    frames, bodies = at[N_FRAMES], at[N_BODIES]
    table, params = table_of_numbers(at[TABLE], at[N_FORCES], 8), floats(at[PARAMS], at[N_PARAMS])
    position, pair = table_of_floats(at[FRAME_POSITION], frames, 3), table_of_floats(at[PAIR], 3, 12)
    tangent = blocks_of_floats(at[TANGENT], 3, 12, 12)
    kind, i, j, first = table[f, KIND], table[f, FRAME_I], table[f, FRAME_J], table[f, START]
    if kind == BUSHING:
        rotation = blocks_of_floats(at[FRAME_ROTATION], frames, 3, 3)
        bushing_tangents(i, j, position, rotation, params, first, pair, tangent)
    elif kind == ROTATING:
        rotating_tangents(
            numbers(at[FRAME_BODY], frames)[j], blocks_of_floats(at[ROTATION], bodies, 3, 3),
            table_of_floats(at[SPIN], bodies, 3), params, first, floats(at[TIMES], 2 * at[N_TIMES]), table[f, TIME],
            at[N_TIMES], tangent,
        )  # fmt: skip
    elif kind == CONTACT:
        normal = part(table_of_floats(at[GRADIENT], at[N_MEASURES], 9), table[f, MEASURE], 0)
        friction_tangents(i, j, position, normal, params, first + 5, along, pair, tangent)


def pressing_hook(address: int, matrix: int, factor: float, multipliers: int, columns: int, data: int) -> None:
    """Friction under the reactions factor · λ; or, with ``matrix`` > 0 values of it, its derivatives by λ."""
    at = numbers(address, ADDRESSES)
    forces, frames, bodies, measures = at[N_FORCES], at[N_FRAMES], at[N_BODIES], at[N_MEASURES]
    rubbing = Rubbing(
        table_of_numbers(at[TABLE], forces, 8), floats(at[PARAMS], at[N_PARAMS]),
        table_of_numbers(at[PRESSED], at[N_PRESSED], 3), numbers(at[ROW_START], at[N_ROWS] + 1),
        numbers(at[TERM_MEASURE], at[N_TERMS]), floats(at[TERM_FACTOR], at[N_TERMS]),
        numbers(at[MEASURE_KIND], measures), numbers(at[FRAME_BODY], frames),
        table_of_floats(at[GRADIENT], measures, 9), blocks_of_floats(at[VECTORS], measures, 4, 3),
        table_of_floats(at[FRAME_VELOCITY], frames, 3), table_of_floats(at[SPIN], bodies, 3),
        table_of_floats(at[PAIR], 3, 12), table_of_floats(at[NORMAL], forces, 4),
        table_of_floats(at[ACROSS], at[N_PRESSED], 3), table_of_floats(at[WRENCH], forces, 12),
    )  # fmt: skip
    if matrix == 0:
        press_by_reactions(rubbing, floats(multipliers, at[N_ROWS]), factor)
        return
    add_pressing(
        rubbing, numbers(at[ENTRY_START], at[N_ROWS] + 1), numbers(at[ENTRY_BODY], at[N_ENTRIES]),
        numbers(at[BODY_V], bodies + 1), numbers(at[FRAME_START], frames + 1),
        floats(at[FRAME_T], at[N_JACOBIAN]), table_of_numbers(columns, at[N_ENTRIES], 2), floats(data, matrix),
    )  # fmt: skip
