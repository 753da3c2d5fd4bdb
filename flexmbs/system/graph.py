"""The graph of a mechanism: a spanning tree of bodies, the joint each hangs on, and the joints that close loops."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from flexmbs.bodies.body import PLANAR, RIGID, Body
from flexmbs.system.evaluate import Work, body_inertia
from flexmbs.system.layout import Layout

Array = NDArray[np.float64]

SINGULAR = 1e-12
"""Inertia below this, relative to that of other directions, is none."""


@dataclass(frozen=True)
class Graph:
    """Spanning tree over bodies; the ground is -1.

    ``tree`` lists for each body the groups of rows (joints) it hangs on, empty for a floating root. ``order`` lists
    bodies from the leaves to the roots; ``closing`` the groups that belong to no body. ``group_bodies`` leaves the
    ground out; ``grounded`` says which groups refer to it.
    """

    parent: tuple[int, ...]
    tree: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]
    closing: tuple[int, ...]
    group_bodies: tuple[tuple[int, ...], ...]
    grounded: frozenset[int] = frozenset()


def singular_masses(layout: Layout, bodies: Sequence[Body], work: Work) -> dict[int, Array]:
    """Mass matrices of bodies that have no mass in some direction, as a planar body without inertia."""
    out = {}
    for b, body in enumerate(bodies):
        m, c, inertia = body.mass_parameters
        about_centre = np.diag(inertia) - m * (c @ c - c * c)
        moments = about_centre[2:] if body.kind == PLANAR else about_centre
        if body.kind in (PLANAR, RIGID) and moments.min() <= SINGULAR * max(np.trace(inertia), m):
            out[b] = np.zeros((body.n_v, body.n_v))
            body_inertia(layout, b, np.zeros(layout.n_v), work, out[b], np.zeros(body.n_v))
    return out


def graph(layout: Layout, jacobian: Array, singular: dict[int, Array] | None = None) -> Graph:
    """Cut the joint graph into a tree; ``jacobian`` holds the flat values of J in some position, for the ranks.

    A body hangs on all joints with its parent whose rows are independent as seen from the body alone; whatever is left,
    and joints between more than two bodies, close loops. ``singular`` holds mass matrices that have no inverse: such a
    body hangs, if it can, where its joints hold what has no mass. Coordinates without any mass (contacts of cams) hang
    on the rows that find them, and go first.
    """
    count = layout.n_bodies
    moving = [layout.body_v[b + 1] > layout.body_v[b] for b in range(count)]
    bodies = [_bodies(layout, g) for g in range(len(layout.group_row) - 1)]
    massless = [b for b in range(count) if moving[b] and layout.mass[b] == 0.0]
    touching: list[list[int]] = [[] for _ in range(count)]
    grounded = []
    for g, pair in enumerate(bodies):
        if any(b in massless for b in pair):
            continue
        if len(pair) == 1:
            grounded.append(g)
        elif len(pair) == 2:
            for b in pair:
                touching[b].append(g)
    parent, tree = [-2] * count, [()] * count  # type: list[int], list[tuple[int, ...]]
    visited: list[int] = []
    used: set[int] = set()

    def hang(body: int, on: int, groups: list[int], anyhow: bool = False) -> None:
        kept: list[int] = []
        for g in groups:
            if g not in used and _independent(layout, jacobian, body, [*kept, g]):
                kept.append(g)
        if not (anyhow or _regular(layout, jacobian, body, kept, (singular or {}).get(body))):
            return
        parent[body], tree[body] = on, tuple(kept)
        used.update(kept)
        visited.append(body)

    for g in grounded:
        body = bodies[g][0]
        if parent[body] == -2 and _independent(layout, jacobian, body, [g]):
            hang(body, -1, [h for h in grounded if bodies[h][0] == body])
    done = 0
    for root, anyhow in [*((b, False) for b in (*visited, *range(count))), *((b, True) for b in range(count))]:
        if moving[root] and parent[root] == -2 and root not in massless:
            hang(root, -1, [h for h in grounded if bodies[h][0] == root], anyhow)
        while done < len(visited):
            b = visited[done]
            done += 1
            for g in touching[b]:
                other = next(c for c in bodies[g] if c != b)
                if parent[other] == -2 and _independent(layout, jacobian, other, [g]):
                    hang(other, b, [h for h in touching[b] if other in bodies[h]])
    for b in massless:  # leaves, each with the rows that find its coordinates
        own = [g for g, pair in enumerate(bodies) if b in pair]
        width = layout.body_v[b + 1] - layout.body_v[b]
        finding = [g for g in own if layout.group_row[g + 1] - layout.group_row[g] == width]
        others = [c for c in bodies[finding[0]] if c != b]
        parent[b], tree[b] = (others[0] if others else -1), (finding[0],)
        used.add(finding[0])
        visited.append(b)
    closing = tuple(g for g in range(len(bodies)) if g not in used and layout.group_row[g + 1] > layout.group_row[g])
    return Graph(tuple(parent), tuple(tree), tuple(reversed(visited)), closing, tuple(bodies), _grounded(layout))


def elimination_order(graph: Graph) -> list[tuple[str, int]]:
    """Nodes ("body", b) and ("joint", g) in the order of elimination.

    A closing joint comes as soon as the bodies of its loops are gone, up to the one in which their branches meet: the
    ground, where a coupling refers to it.
    """
    place = {b: k for k, b in enumerate(graph.order)}
    after: dict[int, list[int]] = {}
    for g in graph.closing:
        paths = [_path(graph, b) for b in graph.group_bodies[g]]
        meeting = len(paths) > 1 and g not in graph.grounded
        shared = set(paths[0]).intersection(*map(set, paths[1:])) if meeting else set()
        own = [b for p in paths for b in p if b not in shared] or list(graph.group_bodies[g])
        after.setdefault(max(place[b] for b in own), []).append(g)
    nodes: list[tuple[str, int]] = []
    for k, b in enumerate(graph.order):
        nodes.append(("body", b))
        nodes.extend(("joint", g) for g in after.get(k, []))
    return nodes


def _path(graph: Graph, body: int) -> list[int]:
    out = []
    while body >= 0:
        out.append(body)
        body = graph.parent[body]
    return out


def _bodies(layout: Layout, g: int) -> tuple[int, ...]:
    rows = range(int(layout.group_row[g]), int(layout.group_row[g + 1]))
    return tuple(
        dict.fromkeys(
            int(layout.entry_body[e]) for r in rows for e in range(layout.entry_start[r], layout.entry_start[r + 1])
        )
    )


def _grounded(layout: Layout) -> frozenset[int]:
    """Groups with a measure to the ground."""
    still = np.diff(layout.body_v) == 0
    measures = still[layout.frame_body[layout.measure_i]] | still[layout.frame_body[layout.measure_j]]
    terms = measures[layout.term_measure]
    ends = layout.row_start[layout.group_row]
    return frozenset(g for g, (a, b) in enumerate(itertools.pairwise(ends)) if terms[a:b].any())


def _block(layout: Layout, jacobian: Array, body: int, groups: list[int]) -> Array:
    """Rows of these joints as seen from one body."""
    rows = np.concatenate([np.arange(layout.group_row[g], layout.group_row[g + 1]) for g in groups])
    block = np.zeros((len(rows), int(layout.body_v[body + 1] - layout.body_v[body])))
    for k, r in enumerate(rows):
        for e in range(layout.entry_start[r], layout.entry_start[r + 1]):
            if layout.entry_body[e] == body:
                block[k] = jacobian[layout.entry_at[e] : layout.entry_at[e + 1]]
    return block


def _independent(layout: Layout, jacobian: Array, body: int, groups: list[int]) -> bool:
    """Whether the rows of these joints are independent as seen from one body."""
    block = _block(layout, jacobian, body, groups)
    if len(block) > block.shape[1]:
        return False
    norms = np.linalg.norm(block, axis=1)
    if norms.min(initial=1.0) == 0.0:
        return False
    return bool(np.linalg.svd(block / norms[:, None], compute_uv=False)[-1] > 1e-6)


def _regular(layout: Layout, jacobian: Array, body: int, groups: list[int], mass: Array | None) -> bool:
    """Whether what these joints leave of a body has mass in every direction."""
    if mass is None:
        return True
    free = scipy.linalg.null_space(_block(layout, jacobian, body, groups)) if groups else np.eye(len(mass))
    return not free.shape[1] or bool(np.linalg.eigvalsh(free.T @ mass @ free)[0] > SINGULAR * np.trace(mass))
