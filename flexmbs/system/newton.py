"""Newton's matrix and residual of one implicit step, assembled into the blocks of the elimination plan.

Unknown is the increment x of the coordinates over the step (rotations: a rotation vector in body axes) and the scaled
multipliers λ̂ = s λ. With v, v' linear in x, the equations s (M v' - f) - Jᵀλ̂ = 0 and φ = 0 have the derivative

    s (c_m M + c_d D + K T(x)) - ∂(Jᵀλ̂)/∂q T(x)     -Jᵀ
    J T(x)                                            0

with D and K the derivatives of M v' - f with respect to velocities and positions, and T the tangent map of rotations.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.bodies.body import PLANAR, RIGID
from flexmbs.joints.measures import cross, hessian, turn
from flexmbs.rotations import tangent
from flexmbs.system.elimination import Plan, block_place, plan
from flexmbs.system.evaluate import body_inertia
from flexmbs.system.graph import Graph, elimination_order
from flexmbs.system.layout import Layout

Array = NDArray[np.float64]
Index = NDArray[np.int64]

_options: dict[str, Any] = {"cache": True, "error_model": "numpy"}


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
    measure_link: Index


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
    edges = []
    for g, touched in enumerate(graph.group_bodies):
        mine = [number["body", b] for b in touched]
        edges.extend((a, b) for a in mine for b in mine)
        if g in owner:
            edges.extend((owner[g][0], b) for b in mine)
    p = plan(coupling, internal, edges)
    body_node = np.array([number.get(("body", b), -1) for b in range(layout.n_bodies)])
    row_unknown = np.full(layout.n_rows, -1, dtype=np.int64)
    entry_row = np.full(len(layout.entry_body), -1, dtype=np.int64)
    entry_column = np.full((len(layout.entry_body), 2), -1, dtype=np.int64)
    for g, (node, offset) in owner.items():
        for r in range(layout.group_row[g], layout.group_row[g + 1]):
            within = offset + int(r - layout.group_row[g])
            row_unknown[r] = p.first[node] + within
            for e in range(layout.entry_start[r], layout.entry_start[r + 1]):
                other = int(body_node[layout.entry_body[e]])
                at, stride = block_place(p, node, other)
                entry_row[e] = at + within * stride
                at, stride = block_place(p, other, node)
                entry_column[e] = at + within, stride
    links: dict[tuple[int, int], int] = {}
    measure_link = np.array(
        [
            links.setdefault((int(i), int(j)), len(links))
            for i, j in zip(layout.measure_i, layout.measure_j, strict=True)
        ],
        dtype=np.int64,
    )
    link_place = np.full((len(links), 4, 2), -1, dtype=np.int64)
    for (i, j), k in links.items():
        a, b = (int(body_node[layout.frame_body[f]]) for f in (i, j))
        for s, (first, second) in enumerate(((a, a), (a, b), (b, a), (b, b))):
            if first >= 0 and second >= 0:
                link_place[k, s] = block_place(p, first, second)
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
        measure_link,
    )


class Scratch(NamedTuple):
    """Arrays that one assembly of Newton's matrix needs."""

    mass: Array  # (6, 6)
    force: Array  # (6,)
    stiffness: Array  # (6, 6)
    damping: Array  # (6, 6)
    tangent: Array  # (bodies, 3, 3) T(x)
    link: Array  # (links, 12, 12)
    wrench: Array  # (frames, 6) of all multipliers, global axes
    product: Array  # (6, 6)
    left: Array  # (6, 6)
    right: Array  # (6, 6)


def scratch_arrays(layout: Layout, where: Places) -> Scratch:
    """Scratch for a mechanism."""
    return Scratch(
        np.zeros((6, 6)), np.zeros(6), np.zeros((6, 6)), np.zeros((6, 6)), np.zeros((layout.n_bodies, 3, 3)),
        np.zeros((len(where.link_i), 12, 12)), np.zeros((len(layout.frame_body), 6)),
        np.zeros((6, 6)), np.zeros((6, 6)), np.zeros((6, 6)),
    )  # fmt: skip


@njit(**_options)
def inertia_tangents(layout, b, v, rate, work, k, d):
    """K = ∂(M v' - f)/∂(position) and D = ∂(M v' - f)/∂v of body b, (n_v, n_v), with v' = ``rate``."""
    kind = layout.body_kind[b]
    first = layout.body_v[b]
    m, c, inertia, g = layout.mass[b], layout.centre[b], layout.inertia[b], layout.gravity
    rotation = work.rotation[b]
    k[:] = 0.0
    d[:] = 0.0
    if kind == PLANAR:
        x = rotation[0, 0] * c[0] + rotation[0, 1] * c[1]
        y = rotation[1, 0] * c[0] + rotation[1, 1] * c[1]
        w, e = v[first + 2], rate[first + 2]
        ax, ay = rate[first] - g[0], rate[first + 1] - g[1]
        k[0, 2] = m * (-e * x + w * w * y)
        k[1, 2] = m * (-e * y - w * w * x)
        k[2, 2] = m * (-y * ay - x * ax)
        d[0, 2] = -2 * m * w * x
        d[1, 2] = -2 * m * w * y
        return
    if kind != RIGID:
        return
    w, e = v[first + 3 : first + 6], rate[first + 3 : first + 6]
    one, two, local, moment = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    # p row: m R y with y = ω' × c + ω × (ω × c), derivative -m R y~
    cross(e, c, one)
    cross(w, c, two)
    cross(w, two, local)
    for i in range(3):
        local[i] += one[i]
    for i in range(3):
        # column i of -R y~ is R (e_i × y) ... = -(R (y × e_i))
        j, n = (i + 1) % 3, (i + 2) % 3
        for p in range(3):
            k[p, 3 + i] = -m * (rotation[p, j] * local[n] - rotation[p, n] * local[j])
    # ω row: m c × Rᵀ(p'' - g), derivative m c~ (Rᵀ(p'' - g))~
    for i in range(3):
        moment[i] = 0.0
        for p in range(3):
            moment[i] += rotation[p, i] * (rate[first + p] - g[p])
    inner = c[0] * moment[0] + c[1] * moment[1] + c[2] * moment[2]
    for i in range(3):
        for j in range(3):
            # c × (a × ψ) = a (c·ψ) - ψ (c·a)
            k[3 + i, 3 + j] = m * (moment[i] * c[j] - (inner if i == j else 0.0))
    # D: p row m R (-(ω×c)~ - ω~c~), ω row ω~J - (Jω)~
    turn(inertia, w, one)
    for j in range(3):
        unit = np.zeros(3)
        unit[j] = 1.0
        cross(unit, two, local)
        cross(unit, c, moment)
        out = np.empty(3)
        cross(w, moment, out)
        for p in range(3):
            local[p] += out[p]
        for p in range(3):
            d[p, 3 + j] = m * (rotation[p, 0] * local[0] + rotation[p, 1] * local[1] + rotation[p, 2] * local[2])
        cross(w, inertia[:, j].copy(), local)
        cross(unit, one, out)
        for p in range(3):
            d[3 + p, 3 + j] = local[p] + out[p]


@njit(**_options)
def frame_map(layout, work, turning, f, out):
    """T of frame f with the body's rotations taken through T(x): (6, n_v), in ``out[:, :n_v]``; returns n_v."""
    b = layout.frame_body[f]
    n = layout.body_v[b + 1] - layout.body_v[b]
    t = work.frame_t[layout.frame_t[f] : layout.frame_t[f + 1]].reshape((6, n))
    for i in range(6):
        for j in range(n):
            out[i, j] = t[i, j]
        if layout.body_kind[b] == RIGID:
            for j in range(3):
                out[i, 3 + j] = t[i, 3] * turning[b, 0, j] + t[i, 4] * turning[b, 1, j] + t[i, 5] * turning[b, 2, j]
    return n


@njit(**_options)
def add_constraint_stiffness(layout, where, work, scratch, multipliers, data):
    """Subtract ∂(Jᵀλ̂)/∂q T(x) from the matrix."""
    scratch.link[:] = 0.0
    scratch.wrench[:] = 0.0
    for r in range(layout.row_start.size - 1):
        for k in range(layout.row_start[r], layout.row_start[r + 1]):
            m = layout.term_measure[k]
            factor = layout.term_factor[k] * multipliers[r]
            hessian(
                layout.measure_kind[m], work.vectors[m], work.gradient[m], factor, scratch.link[where.measure_link[m]]
            )
            i, j = layout.measure_i[m], layout.measure_j[m]
            for p in range(3):
                force = factor * work.gradient[m, p]
                scratch.wrench[i, p] -= force
                scratch.wrench[j, p] += force
                scratch.wrench[i, 3 + p] += factor * work.gradient[m, 3 + p]
                scratch.wrench[j, 3 + p] += factor * work.gradient[m, 6 + p]
    for k in range(where.link_i.size):
        for s in range(4):
            at, stride = where.link_place[k, s, 0], where.link_place[k, s, 1]
            if at < 0:
                continue
            row_frame = where.link_i[k] if s < 2 else where.link_j[k]
            column_frame = where.link_i[k] if s % 2 == 0 else where.link_j[k]
            b = layout.frame_body[row_frame]
            rows = layout.body_v[b + 1] - layout.body_v[b]
            left = work.frame_t[layout.frame_t[row_frame] : layout.frame_t[row_frame + 1]].reshape((6, rows))
            columns = frame_map(layout, work, scratch.tangent, column_frame, scratch.right)
            h = scratch.link[k]
            first, second = (0 if s < 2 else 6), (0 if s % 2 == 0 else 6)
            for p in range(6):
                for j in range(columns):
                    total = 0.0
                    for q in range(6):
                        total += h[first + p, second + q] * scratch.right[q, j]
                    scratch.product[p, j] = total
            for i in range(rows):
                for j in range(columns):
                    total = 0.0
                    for p in range(6):
                        total += left[p, i] * scratch.product[p, j]
                    data[at + i * stride + j] -= total
    for f in range(layout.frame_body.size):
        add_frame_stiffness(layout, where, work, scratch, f, -1.0, data)


@njit(**_options)
def add_frame_stiffness(layout, where, work, scratch, f, sign, data):
    """Add sign · (∂Tᵀ/∂q) w T(x) of the wrench w = (F, M) on frame f: its arm and the body's axes turn.

    In body axes, with m = M + c × F: E ψ = c (F·ψ) - ψ (c·F) + m × ψ.
    """
    b = layout.frame_body[f]
    kind = layout.body_kind[b]
    if kind != RIGID and kind != PLANAR:
        return
    rotation, wrench, c = work.rotation[b], scratch.wrench[f], layout.frame_position[f]
    at, stride = where.body_place[b, 0], where.body_place[b, 1]
    force, moment, arm = np.empty(3), np.empty(3), np.empty(3)
    for i in range(3):
        force[i] = rotation[0, i] * wrench[0] + rotation[1, i] * wrench[1] + rotation[2, i] * wrench[2]
    if kind == PLANAR:
        data[at + 2 * stride + 2] -= sign * (c[0] * force[0] + c[1] * force[1])
        return
    cross(c, force, arm)
    for i in range(3):
        moment[i] = arm[i] + rotation[0, i] * wrench[3] + rotation[1, i] * wrench[4] + rotation[2, i] * wrench[5]
    inner = c[0] * force[0] + c[1] * force[1] + c[2] * force[2]
    for i in range(3):
        for j in range(3):
            value = c[i] * force[j] - (inner if i == j else 0.0)
            if i != j:
                n = 3 - i - j
                value += -moment[n] if (i + 1) % 3 == j else moment[n]
            scratch.product[i, j] = value
    for i in range(3):
        for j in range(3):
            total = 0.0
            for p in range(3):
                total += scratch.product[i, p] * scratch.tangent[b, p, j]
            data[at + (3 + i) * stride + 3 + j] += sign * total


@njit(**_options)
def add_bodies(layout, where, v, rate, increment, scale, c_m, c_d, work, scratch, matrix, data, residual):
    """Inertia of all bodies: residual s (M v' - f), and with ``matrix`` its derivative."""
    for b in range(layout.body_kind.size):
        n = layout.body_v[b + 1] - layout.body_v[b]
        if n == 0:
            continue
        first, unknown = layout.body_v[b], where.body_unknown[b]
        body_inertia(layout, b, v, work, scratch.mass, scratch.force)
        for i in range(n):
            total = -scratch.force[i]
            for j in range(n):
                total += scratch.mass[i, j] * rate[first + j]
            residual[unknown + i] = scale * total
        if not matrix:
            continue
        if layout.body_kind[b] == RIGID:
            tangent(increment[first + 3 : first + 6], scratch.tangent[b])
        at, stride = where.body_place[b, 0], where.body_place[b, 1]
        inertia_tangents(layout, b, v, rate, work, scratch.stiffness, scratch.damping)
        for i in range(n):
            for j in range(n):
                value = c_m * scratch.mass[i, j] + c_d * scratch.damping[i, j]
                if layout.body_kind[b] == RIGID and j >= 3:
                    for p in range(3):
                        value += scratch.stiffness[i, 3 + p] * scratch.tangent[b, p, j - 3]
                else:
                    value += scratch.stiffness[i, j]
                data[at + i * stride + j] += scale * value


@njit(**_options)
def add_rows(layout, where, multipliers, work, scratch, matrix, data, residual):
    """Constraints: residual -Jᵀλ̂ on bodies and φ on rows, and with ``matrix`` -Jᵀ and J T(x)."""
    for r in range(layout.row_start.size - 1):
        residual[where.row_unknown[r]] = work.phi[r]
        for e in range(layout.entry_start[r], layout.entry_start[r + 1]):
            b = layout.entry_body[e]
            values = work.jacobian[layout.entry_at[e] : layout.entry_at[e + 1]]
            unknown = where.body_unknown[b]
            for j in range(values.size):
                residual[unknown + j] -= values[j] * multipliers[r]
            if not matrix:
                continue
            at, stride = where.entry_column[e, 0], where.entry_column[e, 1]
            row = where.entry_row[e]
            for j in range(values.size):
                data[at + j * stride] -= values[j]
                value = values[j]
                if layout.body_kind[b] == RIGID and j >= 3:
                    value = 0.0
                    for p in range(3):
                        value += values[3 + p] * scratch.tangent[b, p, j - 3]
                data[row + j] += value


@njit(**_options)
def newton_system(
    layout, where, v, rate, increment, multipliers, scale, c_m, c_d, work, scratch, matrix, data, residual
):
    """Residual, and with ``matrix`` Newton's matrix, from an evaluated ``work``."""
    if matrix:
        data[:] = 0.0
    add_bodies(layout, where, v, rate, increment, scale, c_m, c_d, work, scratch, matrix, data, residual)
    add_rows(layout, where, multipliers, work, scratch, matrix, data, residual)
    if matrix:
        add_constraint_stiffness(layout, where, work, scratch, multipliers, data)


__all__ = ["Places", "Scratch", "newton_system", "places", "scratch_arrays"]
