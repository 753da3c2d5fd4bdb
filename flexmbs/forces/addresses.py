"""The table by which functions that are called by address find their arrays: sizes, then addresses."""

from __future__ import annotations

from typing import Any

SIZES = (
    N_FORCES, N_FRAMES, N_BODIES, N_MEASURES, N_ROWS, N_TERMS, N_PARAMS, N_TIMES, N_PRESSED, N_ENTRIES, N_JACOBIAN,
    N_CURVES, N_CURVE_PARAMS, N_BLOCKS, N_USER_VALUES, N_V, N_WIDEST, N_MODES, N_CONSTANTS, N_FRAME_CONSTANTS,
) = range(20)  # fmt: skip
"""Sizes of the arrays."""

FIXED = (
    TABLE, PARAMS, PRESSED, CURVE_KINDS, CURVE_STARTS, CURVE_PARAMS, USER_BLOCKS, HOOKS, ROW_START, TERM_MEASURE,
    TERM_FACTOR, MEASURE_KIND, ENTRY_START, ENTRY_BODY, BODY_KIND, BODY_V, FRAME_BODY, FRAME_LOCAL, FRAME_START,
) = range(20, 39)  # fmt: skip
"""Arrays of the layout."""

WORKED = (
    POSITION, ROTATION, VELOCITY, SPIN, FRAME_POSITION, FRAME_ROTATION, FRAME_VELOCITY, FRAME_T, VALUE, GRADIENT,
    VECTORS, TIMES, WRENCH, NORMAL, ACROSS, PAIR, TANGENT, LINK, MAPS, USER, USER_TANGENT, FRAME_SPIN,
) = range(39, 61)  # fmt: skip
"""Arrays of the work."""

GIVEN = (
    BODY_UNKNOWN, BODY_PLACE, FORCE_PLACE, USER_PLACE, ENTRY_COLUMN, INCREMENT, MULTIPLIERS, TURNING, DATA, N_DATA,
    N_UNKNOWNS,
) = range(61, 72)  # fmt: skip
"""What the assembly of Newton's matrix gives at each call."""

FLEXIBLE = (
    MODAL_BODY, MODAL_CONSTANTS, MODAL_FRAME, MODAL_FRAME_CONSTANTS, ELASTIC, ELASTIC_RATE, STILL, VECTOR_TABLE, SMALL,
    FRAME_TABLE, TURNED,
) = range(72, 83)  # fmt: skip
"""Arrays of flexible bodies, where there are some."""


def fill(layout: Any, work: Any) -> None:
    """Write the table for an evaluation; the arrays belong to ``layout`` and ``work``, which outlive it."""
    forces, done, modal, flexible = layout.forces, work.forces, layout.modal, work.flexible
    sizes = (
        len(forces.table), len(layout.frame_body), len(layout.body_kind), len(layout.measure_kind),
        len(layout.row_start) - 1, len(layout.term_measure), len(forces.params), forces.times, len(forces.pressed),
        len(layout.entry_body), len(work.frame_t), len(forces.curve_kinds), len(forces.curve_params),
        len(forces.user), forces.user_values, done.user.shape[1], done.maps.shape[2],
        *((0, 0, 0) if modal is None else (modal.body[:, 0].max(), len(modal.constants), len(modal.frame_constants))),
    )  # fmt: skip
    arrays = (
        forces.table, forces.params, forces.pressed, forces.curve_kinds, forces.curve_starts, forces.curve_params,
        forces.user, forces.hooks, layout.row_start, layout.term_measure, layout.term_factor, layout.measure_kind,
        layout.entry_start, layout.entry_body, layout.body_kind, layout.body_v, layout.frame_body,
        layout.frame_position, layout.frame_t, work.position, work.rotation, work.velocity, work.spin,
        work.frame_position, work.frame_rotation, work.frame_velocity, work.frame_t, work.measure, work.gradient,
        work.vectors, done.time, done.wrench, done.normal, done.across, done.pair, done.tangent, done.link, done.maps,
        done.user, done.user_tangent, work.frame_spin,
    )  # fmt: skip
    done.addresses[: len(sizes) + len(arrays)] = [*sizes, *(a.__array_interface__["data"][0] for a in arrays)]
    if modal is not None:
        arrays = (modal.body, modal.constants, modal.frame, modal.frame_constants, *flexible)
        done.addresses[MODAL_BODY : TURNED + 1] = [a.__array_interface__["data"][0] for a in arrays]
