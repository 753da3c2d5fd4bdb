"""Geometric stiffening: static solutions under unit loads, and the stiffness of their stress in reduced coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from flexmbs.errors import ModelError
from flexmbs.fem.blocks import Blocks
from flexmbs.fem.continuum import Continuum
from flexmbs.fem.elements import Elements
from flexmbs.fem.loads import Load
from flexmbs.fem.lumped import LumpedPoints
from flexmbs.fem.pattern import scatter
from flexmbs.fem.prestress import prestress
from flexmbs.nullspace.readonly import frozen
from flexmbs.reduction.constants import LEVI_CIVITA
from flexmbs.reduction.part import Part
from flexmbs.reduction.space import Conditions, Space

Array = NDArray[np.float64]

PAIRS = ((0, 0), (1, 1), (2, 2), (1, 2), (2, 0), (0, 1))
INERTIA_CASES = ("a_x", "a_y", "a_z", "e_x", "e_y", "e_z", *(f"w_{'xyz'[i]} w_{'xyz'[j]}" for i, j in PAIRS))
"""The twelve unit motions of a frame, in the order of their factors: see ``inertia_factors``."""


@dataclass(frozen=True, eq=False)
class LoadCases:
    """Static solutions of the undeformed body in its frame under unit loads.

    ``names`` (k): twelve inertia loads (minus ρ times a unit acceleration field), then the coordinates of interfaces,
    then load sets. ``loads`` (r, k) are the reduced loads. ``K_g`` (k, r, r) is the geometric stiffness of each stress
    state: empty (0, r, r) where stiffening is off. ``residual`` (n, k) is what the reduced coordinates leave out of
    each nodal displacement (its static correction). ``energy`` (k) is the strain energy of each, ``missed`` (k) the
    share of it that is left out.
    """

    names: tuple[str, ...]
    loads: Array
    K_g: Array
    residual: Array
    missed: Array
    energy: Array

    def __post_init__(self) -> None:
        for name in ("loads", "K_g", "residual", "missed", "energy"):
            object.__setattr__(self, name, frozen(np.array(getattr(self, name), dtype=float, order="C")))


def acceleration_fields() -> Array:
    """W (9, 3, 3) with accelerations W x of the unit angular accelerations ε_i and products ω_i ω_j (``PAIRS``)."""
    out = np.zeros((9, 3, 3))
    for i in range(3):
        out[i] = LEVI_CIVITA[:, i, :]  # e_i × x
    for k, (i, j) in enumerate(PAIRS):
        out[3 + k, i, j] += 1.0
        if i == j:
            out[3 + k] -= np.eye(3)
        else:
            out[3 + k, j, i] += 1.0
    return out


def inertia_factors(a: Any, epsilon: Any, omega: Any) -> Array:
    """Factors (12,) of the inertia cases: a (less gravity, in body axes), ε, and products of ω."""
    w = np.asarray(omega, dtype=float)
    products = [w[i] * w[j] for i, j in PAIRS]
    return np.concatenate([np.asarray(a, dtype=float), np.asarray(epsilon, dtype=float), products])


def inertia_loads(part: Part) -> Array:
    """Nodal loads (n, 12) of the inertia cases."""
    angular = np.einsum("kij,ijn->nk", acceleration_fields(), part.first_moments())
    return -np.hstack([part.origin_moments(), angular])


def load_vectors(part: Part, loads: Mapping[str, Any] | None) -> tuple[tuple[str, ...], Array]:
    """Names and nodal vectors (n, k) of load sets: Load objects, or vectors of nodal forces."""
    names, columns = [], [np.zeros((part.n_dofs, 0))]
    for name, load in (loads or {}).items():
        if isinstance(load, Load) and not isinstance(load, type) and part.elements is not None:
            vector = load.vector(part.elements)
        else:
            try:
                vector = np.asarray(load, dtype=float).ravel()
            except (TypeError, ValueError):
                vector = np.zeros(0)
        if vector.shape != (part.n_dofs,) or not np.isfinite(vector).all():
            raise ModelError(
                f"{part.name}: load set {name!r} must be a Force, Pressure, Traction ... or {part.n_dofs} nodal forces."
            )
        names.append(name)
        columns.append(vector[:, None])
    return tuple(names), np.hstack(columns)


def load_cases(
    space: Space,
    frame: Conditions,
    mean_axes: bool,
    psi: Array,
    stiffness: Array,
    nodal_inertia: Array,
    extra: tuple[tuple[str, ...], Array],
    stiffening: bool,
) -> LoadCases:
    """Solve all unit loads under the frame's conditions; ``psi`` (n, r) and diagonal ``stiffness`` as reduced."""
    part = space.part
    labels = tuple(f"{place.name} {c}" for place in space.places for c in place.labels)
    on_nodes = np.hstack([nodal_inertia, np.zeros((part.n_dofs, len(labels))), extra[1]])
    on_points = np.zeros((space.size, on_nodes.shape[1]))
    on_points[:, 12 : 12 + len(labels)] = space.C.T.toarray()
    loads = np.asarray(space.projection.project_columns(on_nodes)) + on_points
    z, multipliers = frame.solve_with_multipliers(loads)
    u = np.asarray(space.projection.expand_rates(z))
    reduced = reduced_coordinates(space, psi)
    factors = reduced.T @ loads
    amplitudes = factors / stiffness[:, None]
    whole = np.einsum("ik,ik->k", z, loads)
    kept = np.einsum("ik,ik->k", factors, amplitudes)
    # loads that the frame balances all by themselves deform nothing
    net = loads - frame.B.T @ multipliers
    bends = np.linalg.norm(net, axis=0) > 1e-9 * np.linalg.norm(loads, axis=0)
    missed = np.where(bends, np.maximum(1.0 - kept / np.where(bends, whole, 1.0), 0.0), 0.0)
    r = psi.shape[1]
    geometric = np.zeros((0, r, r))
    if stiffening and part.elements is not None:
        fields, linear = np.zeros((u.shape[1], 3, 3)), np.zeros((u.shape[1], 3))
        fields[3:12], linear[:3] = acceleration_fields(), np.eye(3)
        if mean_axes:  # its reactions are spread over the mass, as the inertia forces of an acceleration
            on_nodes = on_nodes - part.momentum(space.projection.expand_rates(space.R)) @ multipliers
            turns = acceleration_fields()[2:3] if part.axes == 2 else acceleration_fields()[:3]
            fields += np.tensordot(multipliers[part.axes :].T, turns, axes=1)
            linear[:, : part.axes] += multipliers[: part.axes].T
        geometric = np.array(
            [
                stress_stiffness(space, part.elements, psi, u[:, k], on_nodes[:, k], linear[k], fields[k])
                for k in range(u.shape[1])
            ]
        )
    return LoadCases(
        (*INERTIA_CASES, *labels, *extra[0]), factors, geometric, u - psi @ amplitudes, missed, whole * bends / 2
    )


def reduced_coordinates(space: Space, psi: Array) -> Array:
    """z (size, r) of nodal shapes that lie in the space: inner coordinates as they are, interfaces by their rows."""
    inner = np.asarray(space.projection.matrix[:, : space.n_inner].T @ psi)
    points = [np.asarray(place.rows @ psi) for place in space.places if place.columns is not None]
    return np.vstack([inner, *points])


def stress_stiffness(
    space: Space, elements: Elements, psi: Array, u: Array, load: Array, linear: Array, field: Array
) -> Array:
    """Ψᵀ K_g Ψ of the stress under nodal displacements u, with what turns rigidly: sections, lumped bodies, interfaces.

    ``load`` (n,) are the forces on the nodes, among them the inertia forces -ρ (a + W x) of ``linear`` a, ``field`` W.
    A rigid interface that turns by θ moves its nodes by ½ θ × (θ × r) beside θ × r; the forces on them then do work
    that no stress shows.
    """
    nodal = np.ascontiguousarray(u.reshape(elements.mesh.n_nodes, -1))
    out = _of_stress(elements, prestress(elements, nodal, linear, field), psi)
    if elements.scalar_mass is None and field.any():
        blocks = Blocks(elements, "matrix", turning=field)
        out += psi.T @ (elements.assemble(blocks) @ psi)
    forces = (space.part.elastic_forces(u) - load).reshape(nodal.shape)[:, : elements.axes]
    for place in space.places:
        turns = place.rows.shape[0] - elements.axes
        if place.columns is None or turns < 1:
            continue
        arms = (elements.mesh.points[place.nodes] - place.position)[:, : elements.axes]
        moment = arms.T @ forces[place.nodes]
        rotation = np.asarray(place.rows[elements.axes :] @ psi)
        h = (moment + moment.T) / 2 - np.trace(moment) * np.eye(len(moment))
        out += rotation.T @ ((h if turns == 3 else np.array([[-np.trace(moment)]])) @ rotation)
    return np.asarray((out + out.T) / 2)


def _of_stress(elements: Elements, states: tuple[Array, ...], psi: Array) -> Array:
    if not all(isinstance(b, Continuum | LumpedPoints) for b in elements.blocks):
        return np.asarray(psi.T @ (elements.assemble(elements.geometric_stiffness(states)) @ psi))
    pattern, n = elements.pattern, elements.mesh.n_nodes
    data = np.zeros(len(pattern.indices))
    for k, (block, state) in enumerate(zip(elements.blocks, states, strict=True)):
        if isinstance(block, Continuum):
            scatter(block.geometric_scalar(state), block.cells, 1, pattern.indptr, pattern.positions[k], 1.0, data)
    scalar: sp.csr_array = pattern.scalar(data)
    product = np.asarray(scalar @ psi.reshape(n, -1)).reshape(psi.shape)
    return np.asarray(psi.T @ product)
