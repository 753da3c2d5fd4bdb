"""Newton's matrix and residual of one implicit step, assembled into the blocks of the elimination plan.

Unknown is the increment x of the coordinates over the step (rotations: a rotation vector in body axes) and the scaled
multipliers λ̂ = s λ. With v, v' linear in x, the equations s (M v' - f) - Jᵀλ̂ = 0 and φ = 0 have the derivative

    s (c_m M + c_d D + K T(x)) - ∂(Jᵀλ̂)/∂q T(x)     -Jᵀ
    J T(x)                                            0

with D and K the derivatives of M v' - f with respect to velocities and positions, and T the tangent map of rotations.
A row of velocities c(q, v) = 0 is divided by c_d, so that it is as large as the others: J + ∂c/∂q T(x) / c_d.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.bodies.body import PLANAR, RIGID
from flexmbs.bodies.flexible_calls import arm_deforms
from flexmbs.forces.laws import FRAME_I, FRAME_J
from flexmbs.forces.stage import assemble_forces
from flexmbs.joints.measures import (
    FORCE_SHIFT,
    MOMENT_I_TURN_I,
    MOMENT_J_TURN_I,
    MOMENT_J_TURN_J,
    MOMENT_SHIFT,
    RATES,
    SPACE,
    add_stiffness,
    cross,
    dot,
    pulls,
    turn_back,
    twists,
    vector,
)
from flexmbs.system.elimination import Plan, block_place, plan
from flexmbs.system.evaluate import row_gradients
from flexmbs.system.graph import Graph, elimination_order
from flexmbs.system.layout import Layout
from flexmbs.system.newton_bodies import add_bodies, column, frame_column, triple
from flexmbs.system.newton_rates import add_rates

Array = NDArray[np.float64]
Index = NDArray[np.int64]

_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_at = np.uint64  # an unsigned index needs no check for counting from the end
_outside: dict[str, Any] = {**_options, "no_cpython_wrapper": True}
_inner: dict[str, Any] = {**_outside, "forceinline": True}


class Places(NamedTuple):
    """Where bodies, rows and the links between frames lie in the elimination plan."""

    body_unknown: Index  # first unknown of each body, -1 for the ground
    body_place: Index  # (bodies, 2) first value and stride of the diagonal block
    row_unknown: Index  # unknown of each row
    entry_row: Index  # first value of J's entry in the matrix
    entry_column: Index  # (entries, 2) first value and stride of its transpose
    link_i: Index  # frames of each link: a pair of frames between which measures are taken
    link_j: Index
    link_place: Index  # (links, 4, 2) blocks ii, ij, ji, jj; -1 where a body is the ground
    link_moves: NDArray[np.bool_]  # whether the link's stiffness has to do with shifts, and with turns
    link_turns: NDArray[np.bool_]
    measure_link: Index
    force_place: Index  # (forces, 4, 2) blocks ii, ij, ji, jj of each force; -1 where there is none
    user_place: Index  # (blocks, 2) of the tangents of Python forces
    row_diagonal: Index  # value on the diagonal of each row's unknown
    row_active: NDArray[np.bool_]  # rows that count; a redundant row is left out, and its multiplier is zero
    rate_rows: Index  # rows of velocities


def places(layout: Layout, graph: Graph) -> tuple[Plan, Places]:
    """The elimination plan of a mechanism and the places of its parts in it."""
    nodes = elimination_order(graph)
    number = {node: k for k, node in enumerate(nodes)}
    width = np.diff(layout.body_v)
    rows_of = np.diff(layout.group_row)
    coupling, internal = [], []
    owner: dict[int, tuple[int, int]] = {}  # group -> node and offset of its rows in it
    for k, (kind, item) in enumerate(nodes):
        if kind == "joint":
            coupling.append(int(rows_of[item]))
            internal.append(0)
            owner[item] = (k, 0)
            continue
        coupling.append(int(width[item]))
        offset = int(width[item])
        for g in graph.tree[item]:
            owner[g] = (k, offset)
            offset += int(rows_of[g])
        internal.append(offset - int(width[item]))
    edges: list[tuple[int, int]] = []
    for g, touched in enumerate(graph.group_bodies):
        mine = [number["body", b] for b in touched]
        edges.extend((a, b) for a in mine for b in mine)
        if g in owner:
            edges.extend((owner[g][0], b) for b in mine)
    pairs = force_pairs(layout)
    edges.extend(
        (number["body", a], number["body", b]) for a, b in pairs if ("body", a) in number and ("body", b) in number
    )
    p = plan(coupling, internal, edges, {k for k, (kind, _) in enumerate(nodes) if kind == "joint"})
    body_node = np.array([number.get(("body", b), -1) for b in range(layout.n_bodies)])
    row_unknown = np.full(layout.n_rows, -1, dtype=np.int64)
    row_diagonal = np.full(layout.n_rows, -1, dtype=np.int64)
    entry_row = np.full(len(layout.entry_body), -1, dtype=np.int64)
    entry_column = np.full((len(layout.entry_body), 2), -1, dtype=np.int64)
    for g, (node, offset) in owner.items():
        for r in range(layout.group_row[g], layout.group_row[g + 1]):
            within = offset + int(r - layout.group_row[g])
            row_unknown[r] = p.first[node] + within
            at, stride = block_place(p, node, node)
            row_diagonal[r] = at + within * (stride + 1)
            for e in range(layout.entry_start[r], layout.entry_start[r + 1]):
                other = int(body_node[layout.entry_body[e]])
                at, stride = block_place(p, node, other)
                entry_row[e] = at + within * stride
                at, stride = block_place(p, other, node)
                entry_column[e] = at + within, stride
    links: dict[tuple[int, int], int] = {}
    measure_link = np.full(len(layout.measure_kind), -1, dtype=np.int64)
    for m in np.unique(layout.term_measure):  # others, of forces and sensors, need none
        measure_link[m] = links.setdefault((int(layout.measure_i[m]), int(layout.measure_j[m])), len(links))
    moves, turns = np.zeros(len(links), dtype=np.bool_), np.zeros(len(links), dtype=np.bool_)
    for kind, k in zip(layout.measure_kind[measure_link >= 0], measure_link[measure_link >= 0], strict=True):
        moves[k] |= bool(pulls(kind) and kind != SPACE and kind < RATES)
        turns[k] |= bool(twists(kind) and kind < RATES)
    link_place = np.full((len(links), 4, 2), -1, dtype=np.int64)
    for (i, j), k in links.items():
        a, b = (int(body_node[layout.frame_body[f]]) for f in (i, j))
        for s, (first, second) in enumerate(((a, a), (a, b), (b, a), (b, b))):
            if first >= 0 and second >= 0:
                link_place[k, s] = block_place(p, first, second)
    blocks = np.array(
        [
            block_place(p, int(body_node[a]), int(body_node[b]))
            if min(a, b) >= 0 and min(body_node[[a, b]]) >= 0
            else (-1, -1)
            for a, b in pairs
        ],
        dtype=np.int64,
    ).reshape(-1, 2)
    compiled = 4 * len(layout.forces.table)
    body_place = np.array([block_place(p, n, n) if n >= 0 else (-1, -1) for n in body_node], dtype=np.int64)
    return p, Places(
        np.where(body_node >= 0, p.first[body_node], -1).astype(np.int64),
        body_place.reshape(-1, 2),
        row_unknown,
        entry_row,
        entry_column,
        np.array([i for i, _ in links], dtype=np.int64),
        np.array([j for _, j in links], dtype=np.int64),
        link_place,
        moves,
        turns,
        measure_link,
        blocks[:compiled].reshape(-1, 4, 2),
        blocks[compiled:],
        row_diagonal,
        np.ones(layout.n_rows, dtype=np.bool_),
        np.flatnonzero(~layout.row_holonomic),
    )


def force_pairs(layout: Layout) -> list[tuple[int, int]]:
    """Bodies (row, column) of the tangents of forces: four pairs for each compiled one, then those of Python ones."""
    forces = layout.forces
    out = []
    for row in forces.table:
        a, b = (int(layout.frame_body[f]) if f >= 0 else -1 for f in row[FRAME_I : FRAME_J + 1])
        out.extend([(a, a), (a, b), (b, a), (b, b)])
    return [*out, *((int(a), int(b)) for a, b, _ in forces.user)]


class Scratch(NamedTuple):
    """Arrays that one assembly of Newton's matrix needs."""

    tangent: Array  # (bodies, 3, 3) T(x)
    link: Array  # (links, 5, 3, 3) stiffnesses between frames, see measures.add_stiffness
    wrench: Array  # (frames, 6) of all multipliers, global axes


def scratch_arrays(layout: Layout, where: Places) -> Scratch:
    """Scratch for a mechanism."""
    return Scratch(
        np.zeros((layout.n_bodies, 3, 3)),
        np.zeros((len(where.link_i), 5, 3, 3)),
        np.zeros((len(layout.frame_body), 6)),
    )


@njit(**_inner)
def add_reactions(layout, where, multipliers, c_d, work, wrench, residual):
    """Constraints in the residual: -Jᵀλ̂ on bodies, summed up in ``wrench`` (frames, 6), and φ on rows."""
    wrench[:] = 0.0
    for r in range(layout.row_start.size - 1):
        if not where.row_active[r]:
            residual[where.row_unknown[r]] = multipliers[r]
            continue
        residual[where.row_unknown[r]] = work.phi[r]
        if not layout.row_holonomic[r] and c_d != 0.0:
            residual[where.row_unknown[r]] = work.phi_rate[r] / c_d
        for k in range(layout.row_start[r], layout.row_start[r + 1]):
            m = layout.term_measure[k]
            kind, i, j = layout.measure_kind[m], layout.measure_i[m], layout.measure_j[m]
            factor = layout.term_factor[k] * multipliers[r]
            if pulls(kind):
                for p in range(3):
                    wrench[i, p] -= factor * work.gradient[m, p]
                    wrench[j, p] += factor * work.gradient[m, p]
            if twists(kind):
                for p in range(3):
                    wrench[i, 3 + p] += factor * work.gradient[m, 3 + p]
                    wrench[j, 3 + p] += factor * work.gradient[m, 6 + p]
    for f in range(layout.frame_body.size):
        b, at = layout.frame_body[f], layout.frame_t[f]
        n, unknown = layout.body_v[b + 1] - layout.body_v[b], where.body_unknown[b]
        first = first_turning(layout.body_kind[b], n)
        force, moment = triple_of(wrench, f, 0), triple_of(wrench, f, 3)
        for k in range(n):
            if k < first and k < 3:  # a frame is shifted as its body is
                residual[_at(unknown + k)] -= wrench[f, k]
            else:
                residual[_at(unknown + k)] -= (
                    force[0] * work.frame_t[_at(at + k)]
                    + force[1] * work.frame_t[_at(at + n + k)]
                    + force[2] * work.frame_t[_at(at + 2 * n + k)]
                    + moment[0] * work.frame_t[_at(at + 3 * n + k)]
                    + moment[1] * work.frame_t[_at(at + 4 * n + k)]
                    + moment[2] * work.frame_t[_at(at + 5 * n + k)]
                )


@njit(**_inner)
def add_rows(layout, where, work, tangents, data):
    """Constraints in the matrix: -Jᵀ and J T(x)."""
    for r in range(layout.row_start.size - 1):
        if not where.row_active[r]:
            data[where.row_diagonal[r]] = 1.0
            continue
        for e in range(layout.entry_start[r], layout.entry_start[r + 1]):
            b, first = layout.entry_body[e], layout.entry_at[e]
            at, stride, row = where.entry_column[e, 0], where.entry_column[e, 1], where.entry_row[e]
            for j in range(layout.entry_at[e + 1] - first):
                value = work.jacobian[_at(first + j)]
                data[_at(at + j * stride)] = -value
                data[_at(row + j)] = value
            if layout.body_kind[b] == RIGID and layout.row_holonomic[r]:
                turned = turn_back(tangents, b, triple(work.jacobian, first + 3))
                for j in range(3):
                    data[_at(row + 3 + j)] = turned[j]


@njit(**_inner)
def add_constraint_stiffness(layout, where, work, scratch, multipliers, data):
    """Subtract ∂(Jᵀλ̂)/∂q T(x) from the matrix; ``scratch.wrench`` holds what the reactions are."""
    scratch.link[:] = 0.0
    for r in range(layout.row_start.size - 1):
        for k in range(layout.row_start[r], layout.row_start[r + 1]):
            m = layout.term_measure[k]
            kind = layout.measure_kind[m]
            if kind < RATES:
                factor = layout.term_factor[k] * multipliers[r]
                add_stiffness(kind, m, work.vectors, work.gradient, factor, scratch.link, where.measure_link[m])
    for k in range(where.link_i.size):
        if where.link_moves[k] or where.link_turns[k]:
            for side in range(2):
                add_link(
                    k, side, where.link_i[k], where.link_j[k], where.link_moves[k], where.link_place, scratch.link,
                    layout.frame_body, layout.body_kind, layout.body_v, layout.frame_t, work.frame_t,
                    scratch.tangent, data,
                )  # fmt: skip
    for f in range(layout.frame_body.size):
        b = layout.frame_body[f]
        kind = layout.body_kind[b]
        at, stride = where.body_place[b, 0], where.body_place[b, 1]
        force, moment = triple_of(scratch.wrench, f, 0), triple_of(scratch.wrench, f, 3)
        if arm_deforms(layout.modal, layout, f, force, moment, work, scratch.tangent, -1.0, at, stride, data):
            continue
        if kind in (RIGID, PLANAR):
            add_arm(
                kind, b, vector(layout.frame_position, f), force, moment, work.rotation, scratch.tangent, at, stride,
                data,
            )  # fmt: skip


@njit(**_inner)
def triple_of(array, m, k):
    """Three numbers of row m from column k on."""
    return array[m, k], array[m, k + 1], array[m, k + 2]


@njit(**_inner)
def block_times(blocks, k, s, a):
    """Block s of link k times a."""
    return (
        blocks[k, s, 0, 0] * a[0] + blocks[k, s, 0, 1] * a[1] + blocks[k, s, 0, 2] * a[2],
        blocks[k, s, 1, 0] * a[0] + blocks[k, s, 1, 1] * a[1] + blocks[k, s, 1, 2] * a[2],
        blocks[k, s, 2, 0] * a[0] + blocks[k, s, 2, 1] * a[1] + blocks[k, s, 2, 2] * a[2],
    )


@njit(**_inner)
def first_turning(kind, n):
    """First velocity of a body that turns frames."""
    return 3 if kind == RIGID else 2 if kind == PLANAR else n


@njit(**_inner)
def add_link(
    k, side, i, j, moves, places, blocks, frame_body, body_kind, body_v, frame_t_start, frame_t, tangents, data
):
    """Subtract Tᵀ · stiffness of link k · T T(x), columns of one of its bodies; shifts only where it ``moves``."""
    f = i if side == 0 else j
    b = frame_body[f]
    kind, n, at = body_kind[b], body_v[b + 1] - body_v[b], frame_t_start[f]
    sign = -1.0 if side == 0 else 1.0
    for c in range(0 if moves else first_turning(kind, n), n):
        turned = frame_column(kind, frame_t, at, n, 3, tangents, b, c)
        if side == 0:
            moment_i = block_times(blocks, k, MOMENT_I_TURN_I, turned)
            moment_j = block_times(blocks, k, MOMENT_J_TURN_I, turned)
        else:
            moment_j = block_times(blocks, k, MOMENT_J_TURN_J, turned)
            moment_i = -moment_j[0], -moment_j[1], -moment_j[2]
        force = 0.0, 0.0, 0.0
        if moves:
            shifted = frame_column(kind, frame_t, at, n, 0, tangents, b, c)
            force = block_times(blocks, k, FORCE_SHIFT, shifted)
            force = sign * force[0], sign * force[1], sign * force[2]
            extra = block_times(blocks, k, MOMENT_SHIFT, shifted)
            moment_i = moment_i[0] + sign * extra[0], moment_i[1] + sign * extra[1], moment_i[2] + sign * extra[2]
            if side == 0:
                extra = block_times(blocks, k, MOMENT_SHIFT, turned)
                force = force[0] - extra[0], force[1] - extra[1], force[2] - extra[2]
        for other in range(2):
            place, stride = places[k, 2 * other + side, 0] + c, places[k, 2 * other + side, 1]
            if place < c:  # the ground has no place
                continue
            g = i if other == 0 else j
            body, start = frame_body[g], frame_t_start[g]
            rows = body_v[body + 1] - body_v[body]
            moment = moment_i if other == 0 else moment_j
            if moves:
                pull = 1.0 if other == 1 else -1.0
                for r in range(rows):
                    data[_at(place + r * stride)] -= pull * (
                        force[0] * frame_t[_at(start + r)]
                        + force[1] * frame_t[_at(start + rows + r)]
                        + force[2] * frame_t[_at(start + 2 * rows + r)]
                    )
            for r in range(first_turning(body_kind[body], rows), rows):
                data[_at(place + r * stride)] -= (
                    moment[0] * frame_t[_at(start + 3 * rows + r)]
                    + moment[1] * frame_t[_at(start + 4 * rows + r)]
                    + moment[2] * frame_t[_at(start + 5 * rows + r)]
                )


@njit(**_inner)
def add_arm(kind, b, c, force, moment, rotation, tangents, at, stride, data):
    """Subtract (∂Tᵀ/∂q) w T(x) of the wrench w = (F, M) on a frame at c: its arm and the body's axes turn.

    In body axes, with m = M + c × F: E ψ = c (F·ψ) - ψ (c·F) + m × ψ.
    """
    force = turn_back(rotation, b, force)
    if kind == PLANAR:
        data[at + 2 * stride + 2] += c[0] * force[0] + c[1] * force[1]
        return
    inner, (x, y, z), own = dot(c, force), cross(c, force), turn_back(rotation, b, moment)
    moment = own[0] + x, own[1] + y, own[2] + z
    for j in range(3):
        t = column(tangents, b, j)
        along, around = dot(force, t), cross(moment, t)
        for i in range(3):
            data[at + (3 + i) * stride + 3 + j] -= c[i] * along - inner * t[i] + around[i]


@njit(**_outside)
def newton_matrix(layout, where, v, rate, increment, multipliers, scale, c_m, c_d, work, scratch, data, residual):
    """Residual and matrix, forces apart. Wanted once in many steps, so that it is not compiled into them."""
    data[:] = 0.0
    row_gradients(layout, work)
    add_bodies(layout, where, v, rate, increment, scale, c_m, c_d, work, scratch, data.size > 0, data, residual)
    add_reactions(layout, where, multipliers, c_d, work, scratch.wrench, residual)
    add_rows(layout, where, work, scratch.tangent, data)
    add_constraint_stiffness(layout, where, work, scratch, multipliers, data)
    if where.rate_rows.size > 0:
        add_rates(layout, where, multipliers, c_d, work, scratch.tangent, data)


@njit(**_options, inline="always")
def newton_system(
    layout, where, v, rate, increment, multipliers, scale, c_m, c_d, work, scratch, matrix, data, residual
):
    """Residual, and with ``matrix`` Newton's matrix, from an evaluated ``work``."""
    if matrix:
        newton_matrix(layout, where, v, rate, increment, multipliers, scale, c_m, c_d, work, scratch, data, residual)
    else:
        add_bodies(layout, where, v, rate, increment, scale, c_m, c_d, work, scratch, matrix, data, residual)
        add_reactions(layout, where, multipliers, c_d, work, scratch.wrench, residual)
    if layout.forces.table.shape[0] + layout.forces.user.shape[0] > 0:
        assemble_forces(
            layout.forces, work.forces.addresses, where, v, increment, multipliers, scale, c_d, scratch.tangent, matrix,
            data, residual,
        )  # fmt: skip


__all__ = ["Places", "Scratch", "newton_system", "places", "scratch_arrays"]
