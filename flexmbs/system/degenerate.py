"""Where equations degenerate: motions without mass, singular positions, and positions near them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import PLANAR, RIGID
from flexmbs.errors import ModelError, ModelWarning
from flexmbs.joints.drives import Drive
from flexmbs.nullspace import NullSpace, null_space
from flexmbs.system.state import State

Array = NDArray[np.float64]

MASSLESS = 1e-14
"""Inertia of a motion, relative to the largest, that counts as none."""
LARGE = 400
"""Rows from which on singular positions are not searched for: the search is dense."""
STEP = 0.02
"""How far, in sizes of the mechanism or radians, the search looks around the start."""
NEAR = 1e-3
"""Ratio of singular values of the closing rows below which a position is called nearly singular."""


# ---- motions without mass ---------------------------------------------------------------------------------------


def refuse_massless(system: Any, state: State) -> None:
    """Refuse a motion that the joints leave free and that moves no mass: its acceleration is undefined."""
    if not _doubtful(system):
        return
    weights = system.length_weights
    work = system.evaluate(state.t, state.q, state.v, state.angles)
    mass = system.inertia(work, state.v)[0].toarray() / np.outer(weights, weights)
    basis = np.eye(system.n_v)
    if system.rows:
        basis = np.asarray(null_space(system.jacobian(work).toarray() / weights, "svd").A)
    if not basis.shape[1]:
        return
    sizes, vectors = np.linalg.eigh(basis.T @ mass @ basis)
    if sizes[0] > MASSLESS * np.abs(mass).max():
        return
    motion = basis @ vectors[:, 0]
    at = int(np.argmax(np.abs(motion)))
    body = int(np.searchsorted(system.layout.body_v, at, side="right")) - 1
    part = at - int(system.layout.body_v[body])
    axis = "its axis" if system.layout.body_kind[body] == PLANAR else f"its {'xyz'[part - 3]} axis"
    raise ModelError(
        f"body {system.bodies[body].name!r} is free to turn about {axis}, but has no inertia there: its acceleration "
        "would be undefined. Give it an inertia, hold it by a joint, or use a PointMass."
    )


def _doubtful(system: Any) -> bool:
    """Whether a body has no inertia about some axis through its mass centre."""
    layout, size = system.layout, system.walked[1]
    for kind, m, c, inertia in zip(layout.body_kind, layout.mass, layout.centre, layout.inertia, strict=True):
        if kind == RIGID:
            smallest = np.linalg.eigvalsh(inertia - m * (c @ c * np.eye(3) - np.outer(c, c)))[0]
        elif kind == PLANAR:
            smallest = inertia[2, 2] - m * (c @ c)
        else:
            continue
        if smallest <= 1e-12 * m * size**2:
            return True
    return False


# ---- singular positions -----------------------------------------------------------------------------------------


def rank_decision(system: Any) -> tuple[NullSpace, tuple[str, ...]]:
    """Null space of J, which tells the rows that follow from others; and those that do so at the start only.

    A start in a singular position (a flat four-bar) has rows that seem to follow from others, but a little away from it
    they do not: the decision is then that of a closed position nearby.
    """
    state = system.initial
    here = _decided(system, state.q, state)
    if not len(here.redundant) or not here.A.shape[1] or len(system.rows) > LARGE:
        return here, ()
    best = here
    for q in _nearby(system, state):
        there = _decided(system, q, state)
        if there.rank > best.rank:
            best = there
    if best is here:
        return here, ()
    singular = tuple(system.labels[r] for r in here.redundant if r not in set(best.redundant.tolist()))
    _refuse_branchless(system, state, singular)
    still = not np.abs(state.v).max(initial=0.0)
    warnings.warn(
        f"the mechanism starts in a singular position: there {', '.join(singular)} follows from the other joints, a "
        f"little away it does not (mobility {system.n_v - here.rank} there, {system.n_v - best.rank} around it). "
        + (
            "At rest nothing determines which way it leaves: start elsewhere, or give velocities."
            if still
            else "It leaves the way of its velocities; reactions are not unique at the start."
        ),
        ModelWarning,
        stacklevel=2,
    )
    return best, singular


def _decided(system: Any, q: Array, state: State) -> NullSpace:
    """Null space of J at q, rows and velocities scaled by the mechanism's size."""
    jacobian = system.jacobian(system.evaluate(0.0, q, state.v, state.angles))
    scaled = jacobian.multiply(1.0 / system.length_weights[None, :]).tocsr()
    return null_space(scaled, "partition")


def _nearby(system: Any, state: State) -> list[Array]:
    """Closed positions near the start, drives let loose: along the velocities, and in any direction."""
    held = system.holonomic.copy()
    for joint in system.joints:
        if isinstance(joint, Drive):
            held[system.joint_rows(joint)] = False
    weights, size = system.length_weights, system.walked[1]
    still = np.where(system.elastic, 0.0, 1.0) / weights  # bent bodies would make many rows independent
    work = system.evaluate(0.0, state.q, np.zeros(system.n_v), state.angles)
    rows = system.jacobian(work).toarray()[held] * still
    basis = np.asarray(null_space(rows, "svd").A) if len(rows) else np.eye(system.n_v)
    if not basis.shape[1]:
        return []
    rng = np.random.default_rng(0)
    ways = [basis @ rng.normal(size=basis.shape[1]) for _ in range(3)]
    if np.abs(state.v).max(initial=0.0):
        ways.insert(0, weights * state.v)
    out = []
    for way in ways:
        way = np.where(system.elastic, 0.0, way)
        if not way.any():
            continue
        q = system.retract(state.q, STEP * size * way / np.linalg.norm(way) * still)
        for _ in range(60):
            work = system.evaluate(0.0, q, np.zeros(system.n_v), state.angles)
            phi = work.phi[held]
            if np.abs(phi).max(initial=0.0) <= 1e-12 * max(1.0, size):
                break
            jacobian = system.jacobian(work).toarray()[held] * still
            q = system.retract(q, -np.linalg.lstsq(jacobian, phi, rcond=1e-10)[0] * still)
        else:
            continue
        if np.abs(q - state.q).max() > 0.1 * STEP * min(size, 1.0):  # else the start is a point by itself
            out.append(q)
    return out


def _refuse_branchless(system: Any, state: State, singular: tuple[str, ...]) -> None:
    """Refuse velocities with which no motion begins: J v' = γ has then no solution."""
    work = system.evaluate(state.t, state.q, state.v, state.angles)
    scaled = system.jacobian(work).toarray() / system.length_weights
    found = np.linalg.lstsq(scaled, work.gamma, rcond=1e-9)[0]
    missing = np.abs(scaled @ found - work.gamma)
    if missing.max() > 1e-6 * max(np.abs(work.gamma).max(), 1e-300):
        raise ModelError(
            f"the mechanism starts in a singular position ({', '.join(singular)}) with velocities that belong to none "
            f"of the motions that pass through it: {system.labels[int(np.argmax(missing))]} would be broken at once. "
            "Give velocities of one of them, or start elsewhere."
        )


def nearly_singular(system: Any) -> tuple[float, str]:
    """Ratio of the smallest to the largest singular value of the closing rows seen from the tree, and the row of the
    smallest; 1 without closing rows or where the mechanism is too large to look.
    """
    if not system.rows or len(system.rows) > LARGE:
        return 1.0, ""
    groups = system.layout.group_row
    closing = np.zeros(len(system.rows), dtype=np.bool_)
    for g in system.graph.closing:
        closing[groups[g] : groups[g + 1]] = True
    kept = closing.copy()
    kept[system.rank_decision.redundant] = False
    if not kept.any():
        return 1.0, ""
    state = system.initial
    jacobian = system.jacobian(system.evaluate(0.0, state.q, state.v, state.angles)).toarray() / system.length_weights
    tree = np.asarray(null_space(jacobian[~closing], "svd").A) if not closing.all() else np.eye(system.n_v)
    seen = jacobian[kept] @ tree / np.linalg.norm(jacobian[kept], axis=1)[:, None]
    u, sizes, _ = np.linalg.svd(seen, full_matrices=False)
    row = np.flatnonzero(kept)[int(np.argmax(np.abs(u[:, -1])))]
    return float(sizes[-1] / sizes[0]), system.labels[row]
