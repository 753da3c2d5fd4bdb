"""Forces that few models have, called by address: bushings, friction of surfaces and in joints, rotating frames.

The compiled step calls a hook with the address of a table (see ``addresses``) that holds sizes and the addresses of
arrays of the layout and of the work. The hooks are compiled when a model first needs one.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import cfunc

from flexmbs.forces import addresses as entry
from flexmbs.forces.bushing_kernel import bushing_tangents, bushing_wrench
from flexmbs.forces.friction_kernel import friction_tangents, friction_wrench
from flexmbs.forces.laws import BUSHING, CONTACT, FRAME_I, FRAME_J, KIND, MEASURE, ROTATING, START, TIME
from flexmbs.forces.layout import ADDRESSES, ForceLayout
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

WRENCHES, TANGENTS, PRESSING = range(3)
"""Hooks in the layout of forces."""


def rare_hooks(forces: ForceLayout) -> list[int]:
    """Addresses of the hooks that the forces of a layout need; zero for those that are not needed."""
    table, params = forces.table, forces.params
    contacts = table[table[:, KIND] == CONTACT, START]
    rare = bool(np.isin(table[:, KIND], (BUSHING, ROTATING)).any() or params[contacts + 5].any())
    needed = rare, rare, len(forces.pressed) > 0
    return [int(_compiled(k).address) if need else 0 for k, need in enumerate(needed)]


@cache
def _compiled(which: int) -> Any:
    function = (wrench_hook, tangent_hook, pressing_hook)[which]
    return cfunc(HOOK, cache=True, error_model="numpy")(function)


def wrench_hook(address: int, f: int, along: float, y: float, a: int, b: int, c: int) -> None:
    """The wrench of force f; ``along`` is the normal force of a contact, whose own wrench is there already."""
    at = numbers(address, ADDRESSES)
    frames, bodies = at[entry.N_FRAMES], at[entry.N_BODIES]
    table, params = (
        table_of_numbers(at[entry.TABLE], at[entry.N_FORCES], 8),
        floats(at[entry.PARAMS], at[entry.N_PARAMS]),
    )
    position, pair = table_of_floats(at[entry.FRAME_POSITION], frames, 3), table_of_floats(at[entry.PAIR], 3, 12)
    wrench = table_of_floats(at[entry.WRENCH], at[entry.N_FORCES], 12)
    kind, i, j, first = table[f, KIND], table[f, FRAME_I], table[f, FRAME_J], table[f, START]
    if kind == BUSHING:
        rotation = blocks_of_floats(at[entry.FRAME_ROTATION], frames, 3, 3)
        bushing_wrench(i, j, position, rotation, params, first, pair, wrench, f)
    elif kind == ROTATING:
        body = numbers(at[entry.FRAME_BODY], frames)[j]
        rotating_wrench(
            j,
            body,
            position,
            table_of_floats(at[entry.FRAME_VELOCITY], frames, 3),
            blocks_of_floats(at[entry.ROTATION], bodies, 3, 3),
            table_of_floats(at[entry.SPIN], bodies, 3),
            params,
            first,
            floats(at[entry.TIMES], 2 * at[entry.N_TIMES]),
            table[f, TIME],
            at[entry.N_TIMES],
            wrench,
            f,
        )
    elif kind == CONTACT:
        normal = part(table_of_floats(at[entry.GRADIENT], at[entry.N_MEASURES], 9), table[f, MEASURE], 0)
        friction_wrench(i, j, position, normal, params, first + 5, along, pair, wrench, f)


def tangent_hook(address: int, f: int, along: float, y: float, a: int, b: int, c: int) -> None:
    """The derivatives of the same."""
    at = numbers(address, ADDRESSES)
    frames, bodies = at[entry.N_FRAMES], at[entry.N_BODIES]
    table, params = (
        table_of_numbers(at[entry.TABLE], at[entry.N_FORCES], 8),
        floats(at[entry.PARAMS], at[entry.N_PARAMS]),
    )
    position, pair = table_of_floats(at[entry.FRAME_POSITION], frames, 3), table_of_floats(at[entry.PAIR], 3, 12)
    tangent = blocks_of_floats(at[entry.TANGENT], 3, 12, 12)
    kind, i, j, first = table[f, KIND], table[f, FRAME_I], table[f, FRAME_J], table[f, START]
    if kind == BUSHING:
        rotation = blocks_of_floats(at[entry.FRAME_ROTATION], frames, 3, 3)
        bushing_tangents(i, j, position, rotation, params, first, pair, tangent)
    elif kind == ROTATING:
        rotating_tangents(
            numbers(at[entry.FRAME_BODY], frames)[j],
            blocks_of_floats(at[entry.ROTATION], bodies, 3, 3),
            table_of_floats(at[entry.SPIN], bodies, 3),
            params,
            first,
            floats(at[entry.TIMES], 2 * at[entry.N_TIMES]),
            table[f, TIME],
            at[entry.N_TIMES],
            tangent,
        )
    elif kind == CONTACT:
        normal = part(table_of_floats(at[entry.GRADIENT], at[entry.N_MEASURES], 9), table[f, MEASURE], 0)
        friction_tangents(i, j, position, normal, params, first + 5, along, pair, tangent)


def pressing_hook(
    address: int, matrix: int, factor: float, y: float, multipliers: int, columns: int, data: int
) -> None:
    """Friction under the reactions factor · λ; or, with ``matrix`` > 0 values of it, its derivatives by λ."""
    at = numbers(address, ADDRESSES)
    forces, frames, bodies, measures = at[entry.N_FORCES], at[entry.N_FRAMES], at[entry.N_BODIES], at[entry.N_MEASURES]
    rubbing = Rubbing(
        table_of_numbers(at[entry.TABLE], forces, 8),
        floats(at[entry.PARAMS], at[entry.N_PARAMS]),
        table_of_numbers(at[entry.PRESSED], at[entry.N_PRESSED], 3),
        numbers(at[entry.ROW_START], at[entry.N_ROWS] + 1),
        numbers(at[entry.TERM_MEASURE], at[entry.N_TERMS]),
        floats(at[entry.TERM_FACTOR], at[entry.N_TERMS]),
        numbers(at[entry.MEASURE_KIND], measures),
        numbers(at[entry.FRAME_BODY], frames),
        table_of_floats(at[entry.GRADIENT], measures, 9),
        blocks_of_floats(at[entry.VECTORS], measures, 4, 3),
        table_of_floats(at[entry.FRAME_VELOCITY], frames, 3),
        table_of_floats(at[entry.FRAME_SPIN], frames, 3),
        table_of_floats(at[entry.PAIR], 3, 12),
        table_of_floats(at[entry.NORMAL], forces, 4),
        table_of_floats(at[entry.ACROSS], at[entry.N_PRESSED], 3),
        table_of_floats(at[entry.WRENCH], forces, 12),
    )
    if matrix == 0:
        press_by_reactions(rubbing, floats(multipliers, at[entry.N_ROWS]), factor)
        return
    add_pressing(
        rubbing,
        numbers(at[entry.ENTRY_START], at[entry.N_ROWS] + 1),
        numbers(at[entry.ENTRY_BODY], at[entry.N_ENTRIES]),
        numbers(at[entry.BODY_V], bodies + 1),
        numbers(at[entry.FRAME_START], frames + 1),
        floats(at[entry.FRAME_T], at[entry.N_JACOBIAN]),
        table_of_numbers(columns, at[entry.N_ENTRIES], 2),
        floats(data, matrix),
    )
