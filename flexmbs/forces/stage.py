"""The whole stage of forces called by address: models without forces do not compile it.

The hooks here rebuild, from the table of arrays, what the functions of ``wrenches`` and ``assemble`` read of a layout,
of a work and of the places in Newton's matrix.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cfunc, njit
from numpy.typing import NDArray

from flexmbs.bodies.flexible_frames import FRAME_VECTORS, FlexibleWork, ModalLayout
from flexmbs.bodies.flexible_inertia import SMALL, VECTORS
from flexmbs.forces import addresses as entry
from flexmbs.forces.assemble import add_forces, add_wrenches
from flexmbs.forces.hooks import rare_hooks
from flexmbs.forces.layout import ADDRESSES, ForceLayout, ForceWork
from flexmbs.forces.pointers import (
    HOOK,
    blocks_of_floats,
    blocks_of_numbers,
    call,
    floats,
    links,
    numbers,
    table_of_floats,
    table_of_numbers,
)
from flexmbs.forces.triples import inner
from flexmbs.forces.wrenches import wrenches

Array = NDArray[np.float64]
Index = NDArray[np.int64]

WRENCHES, ASSEMBLY, SUM = 3, 4, 5
"""Hooks in the layout of forces, after the rare ones."""


class LayoutView(NamedTuple):
    """What forces read of a layout."""

    body_kind: Index
    body_v: Index
    frame_body: Index
    frame_position: Array
    frame_t: Index
    measure_kind: Index
    row_start: Index
    modal: ModalLayout | None
    forces: ForceLayout


class WorkView(NamedTuple):
    """What forces read of a work."""

    rotation: Array
    velocity: Array
    spin: Array
    frame_spin: Array
    frame_rotation: Array
    frame_velocity: Array
    frame_t: Array
    measure: Array
    gradient: Array
    vectors: Array
    flexible: FlexibleWork | None
    forces: ForceWork


class PlacesView(NamedTuple):
    """What forces read of the places in Newton's matrix."""

    body_unknown: Index
    body_place: Index
    force_place: Index
    user_place: Index
    entry_column: Index


def hooks(forces: ForceLayout, flexible: bool) -> Index:
    """Addresses of all functions that a layout's forces need; zero for those that are not needed."""
    used = len(forces.table) + len(forces.user) > 0
    own = [_compiled(k, flexible).address if used else 0 for k in range(3)]
    return np.array([*rare_hooks(forces), *own], dtype=np.int64)


@cache
def _compiled(which: int, flexible: bool) -> Any:
    function = (wrenches_hook, flexible_assembly_hook if flexible else assembly_hook, sum_hook)[which]
    return cfunc(HOOK, cache=True, error_model="numpy")(function)


# ---- what the compiled step calls ---------------------------------------------------------------------------


@njit(**inner)
def all_wrenches(forces, addresses, prescribed):
    """Stage 4: the wrench of every force."""
    call(forces.hooks[WRENCHES], addresses.ctypes.data, 0, 0.0, 0.0, prescribed.ctypes.data, 0, 0)


@njit(**inner)
def sum_wrenches(forces, addresses, first, factor, out):
    """out += factor · Tᵀ w of all forces, with body b's velocities from first[b] on."""
    if forces.table.shape[0] + forces.user.shape[0] > 0:
        call(forces.hooks[SUM], addresses.ctypes.data, out.size, factor, 0.0, first.ctypes.data, out.ctypes.data, 0)


@njit(**inner)
def assemble_forces(forces, addresses, where, v, increment, multipliers, scale, c_d, turning, matrix, data, residual):
    """Forces into Newton's residual and, with ``matrix``, into its matrix."""
    addresses[entry.BODY_UNKNOWN] = where.body_unknown.ctypes.data
    addresses[entry.BODY_PLACE] = where.body_place.ctypes.data
    addresses[entry.FORCE_PLACE] = where.force_place.ctypes.data
    addresses[entry.USER_PLACE] = where.user_place.ctypes.data
    addresses[entry.ENTRY_COLUMN] = where.entry_column.ctypes.data
    addresses[entry.INCREMENT] = increment.ctypes.data
    addresses[entry.MULTIPLIERS] = multipliers.ctypes.data
    addresses[entry.TURNING] = turning.ctypes.data
    addresses[entry.N_DATA], addresses[entry.N_UNKNOWNS] = data.size, residual.size
    call(
        forces.hooks[ASSEMBLY], addresses.ctypes.data, 1 if matrix else 0, scale, c_d,
        v.ctypes.data, data.ctypes.data, residual.ctypes.data,
    )  # fmt: skip


# ---- what is called by address ------------------------------------------------------------------------------


@njit(**inner)
def layout_at(at, modal):
    """The layout, as far as forces need it."""
    frames, bodies, forces = at[entry.N_FRAMES], at[entry.N_BODIES], at[entry.N_FORCES]
    return LayoutView(
        numbers(at[entry.BODY_KIND], bodies),
        numbers(at[entry.BODY_V], bodies + 1),
        numbers(at[entry.FRAME_BODY], frames),
        table_of_floats(at[entry.FRAME_LOCAL], frames, 3),
        numbers(at[entry.FRAME_START], frames + 1),
        numbers(at[entry.MEASURE_KIND], at[entry.N_MEASURES]),
        numbers(at[entry.ROW_START], at[entry.N_ROWS] + 1),
        modal,
        ForceLayout(
            table_of_numbers(at[entry.TABLE], forces, 8),
            floats(at[entry.PARAMS], at[entry.N_PARAMS]),
            numbers(at[entry.CURVE_KINDS], at[entry.N_CURVES]),
            numbers(at[entry.CURVE_STARTS], at[entry.N_CURVES]),
            floats(at[entry.CURVE_PARAMS], at[entry.N_CURVE_PARAMS]),
            table_of_numbers(at[entry.PRESSED], at[entry.N_PRESSED], 3),
            table_of_numbers(at[entry.USER_BLOCKS], at[entry.N_BLOCKS], 3),
            numbers(at[entry.HOOKS], 6),
            at[entry.N_TIMES],
            at[entry.N_USER_VALUES],
        ),
    )


@njit(**inner)
def modal_at(at):
    """The layout of flexible bodies."""
    return ModalLayout(
        table_of_numbers(at[entry.MODAL_BODY], at[entry.N_BODIES], 2),
        floats(at[entry.MODAL_CONSTANTS], at[entry.N_CONSTANTS]),
        table_of_numbers(at[entry.MODAL_FRAME], at[entry.N_FRAMES], 2),
        floats(at[entry.MODAL_FRAME_CONSTANTS], at[entry.N_FRAME_CONSTANTS]),
    )


@njit(**inner)
def flexible_at(at):
    """Elastic coordinates and scratch."""
    n, modes = at[entry.N_V], at[entry.N_MODES]
    return FlexibleWork(
        floats(at[entry.ELASTIC], n),
        floats(at[entry.ELASTIC_RATE], n),
        floats(at[entry.STILL], n),
        floats(at[entry.VECTOR_TABLE], VECTORS * modes),
        floats(at[entry.SMALL], SMALL),
        floats(at[entry.FRAME_TABLE], FRAME_VECTORS * modes),
        blocks_of_floats(at[entry.TURNED], 1, 3, 3),
    )


@njit(**inner)
def work_at(at, flexible):
    """The work, as far as forces need it."""
    frames, bodies, measures, forces = at[entry.N_FRAMES], at[entry.N_BODIES], at[entry.N_MEASURES], at[entry.N_FORCES]
    return WorkView(
        blocks_of_floats(at[entry.ROTATION], bodies, 3, 3),
        table_of_floats(at[entry.VELOCITY], bodies, 3),
        table_of_floats(at[entry.SPIN], bodies, 3),
        table_of_floats(at[entry.FRAME_SPIN], frames, 3),
        blocks_of_floats(at[entry.FRAME_ROTATION], frames, 3, 3),
        table_of_floats(at[entry.FRAME_VELOCITY], frames, 3),
        floats(at[entry.FRAME_T], at[entry.N_JACOBIAN]),
        floats(at[entry.VALUE], measures),
        table_of_floats(at[entry.GRADIENT], measures, 9),
        blocks_of_floats(at[entry.VECTORS], measures, 4, 3),
        flexible,
        ForceWork(
            floats(at[entry.TIMES], 2 * at[entry.N_TIMES]),
            table_of_floats(at[entry.WRENCH], forces, 12),
            table_of_floats(at[entry.NORMAL], forces, 4),
            table_of_floats(at[entry.ACROSS], at[entry.N_PRESSED], 3),
            at,
            table_of_floats(at[entry.PAIR], 3, 12),
            blocks_of_floats(at[entry.TANGENT], 3, 12, 12),
            links(at[entry.LINK]),
            blocks_of_floats(at[entry.MAPS], 3, 6, at[entry.N_WIDEST]),
            table_of_floats(at[entry.USER], 3, at[entry.N_V]),
            table_of_floats(at[entry.USER_TANGENT], 2, at[entry.N_USER_VALUES]),
        ),
    )


def wrenches_hook(address: int, n: int, x: float, y: float, prescribed: int, b: int, c: int) -> None:
    """The wrench of every force."""
    at = numbers(address, ADDRESSES)
    laws = table_of_floats(prescribed, at[entry.N_ROWS] + at[entry.N_TIMES], 3)
    wrenches(layout_at(at, None), laws, work_at(at, None))


def sum_hook(address: int, n: int, factor: float, y: float, first: int, out: int, c: int) -> None:
    """The sum of all wrenches."""
    at = numbers(address, ADDRESSES)
    add_wrenches(layout_at(at, None), work_at(at, None), numbers(first, at[entry.N_BODIES]), factor, floats(out, n))


def assembly_hook(address: int, matrix: int, scale: float, c_d: float, v: int, data: int, residual: int) -> None:
    """Forces into Newton's residual and matrix."""
    assemble(numbers(address, ADDRESSES), None, None, matrix, scale, c_d, v, data, residual)


def flexible_assembly_hook(
    address: int, matrix: int, scale: float, c_d: float, v: int, data: int, residual: int
) -> None:
    """The same where bodies are flexible."""
    at = numbers(address, ADDRESSES)
    assemble(at, modal_at(at), flexible_at(at), matrix, scale, c_d, v, data, residual)


@njit(**inner)
def assemble(at, modal, flexible, matrix, scale, c_d, v, data, residual):
    """Forces into Newton's residual and matrix, at addresses."""
    bodies = at[entry.N_BODIES]
    where = PlacesView(
        numbers(at[entry.BODY_UNKNOWN], bodies),
        table_of_numbers(at[entry.BODY_PLACE], bodies, 2),
        blocks_of_numbers(at[entry.FORCE_PLACE], at[entry.N_FORCES], 4, 2),
        table_of_numbers(at[entry.USER_PLACE], at[entry.N_BLOCKS], 2),
        table_of_numbers(at[entry.ENTRY_COLUMN], at[entry.N_ENTRIES], 2),
    )
    add_forces(
        layout_at(at, modal), where, floats(v, at[entry.N_V]), floats(at[entry.INCREMENT], at[entry.N_V]),
        floats(at[entry.MULTIPLIERS], at[entry.N_ROWS]), scale, c_d,
        work_at(at, flexible),
        blocks_of_floats(at[entry.TURNING], bodies, 3, 3), matrix > 0, floats(data, at[entry.N_DATA]),
        floats(residual, at[entry.N_UNKNOWNS]),
    )  # fmt: skip
