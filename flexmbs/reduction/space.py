"""The coordinates a reduction starts from, and static solutions in them under any linear conditions.

Full nodal coordinates d = A_z z: z holds the nodes that are neither fixed nor in a rigid interface, then six (plane:
three) coordinates for each rigid interface. One factor of K serves every condition B z = c: it is made with six
coordinates held that stop the rigid motions R, and the few rows of B are met through a small dense system.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from flexmbs.errors import FlexmbsError, ModelError, SolverError
from flexmbs.fem.rigid import rigid_motions
from flexmbs.linalg import Factor, factorize, smallest_modes
from flexmbs.projection import Projection
from flexmbs.reduction.interfaces import Interface
from flexmbs.reduction.part import Part

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Space:
    """z, with K and M in it, the rigid motions R that are left, and interface coordinates C z."""

    def __init__(self, part: Part, places: tuple[Interface, ...], fixed: Any) -> None:
        self.part, self.places = part, places
        self.fixed = held = fixed_coordinates(part, fixed)
        taken = held.copy()
        p = part.dofs_per_node
        columns = []
        for place in places:
            mine = (place.nodes[:, None] * p + np.arange(p)).ravel()
            if held[mine].any():
                raise ModelError(
                    f"{part.name}: interface {place.name!r} holds nodes that are fixed; take them out of either."
                )
            if place.columns is not None:
                taken[mine] = True
                columns.append(place.columns)
        _refuse_loose_pieces(part, places, held)
        inner = np.flatnonzero(~taken)
        n = part.n_dofs
        pick = sp.csr_array((np.ones(len(inner)), (inner, np.arange(len(inner)))), shape=(n, len(inner)))
        self.projection = Projection(sp.hstack([pick, *columns], format="csr"))
        self.n_inner = len(inner)
        self.K: sp.csr_array = self.projection.project(part.stiffness)
        self.M: sp.csr_array = self.projection.project(part.mass)
        self.C = self._interface_rows()
        self.R = self._rigid_motions(held, inner)

    @property
    def size(self) -> int:
        """Number of coordinates z."""
        return self.projection.shape[1]

    def forces(self, z: Array) -> Array:
        """K z, as exactly as it can be had."""
        if self.part.product is None:
            return np.asarray(self.K @ z)
        return np.asarray(self.projection.project_columns(self.part.product(self.projection.expand_rates(z))))

    def momentum(self, z: Array) -> Array:
        """M z."""
        return np.asarray(self.projection.project_columns(self.part.momentum(self.projection.expand_rates(z))))

    def rows(self, B: Any) -> sp.csr_array:
        """Rows over nodal coordinates, seen from z."""
        return sp.csr_array(B @ self.projection.matrix)

    @cached_property
    def held(self) -> Index:
        """Coordinates held in the factor: those of the first rigid interface, or a choice that stops R best."""
        count = self.R.shape[1]
        if count == 0:
            return np.zeros(0, np.int64)
        if self.size - self.n_inner >= count and np.linalg.cond(self._unit_motions[self._first_point]) < 1e6:
            return self._first_point
        _, _, pivots = scipy.linalg.qr(self._unit_motions.T, mode="economic", pivoting=True)
        return np.sort(pivots[:count]).astype(np.int64)

    @property
    def _first_point(self) -> Index:
        return self.n_inner + np.arange(self.R.shape[1], dtype=np.int64)

    @cached_property
    def _unit_motions(self) -> Array:
        return np.asarray(self.R / np.linalg.norm(self.R, axis=0))

    @cached_property
    def factor(self) -> tuple[Factor, Index]:
        """Factor of K without the held coordinates, and the coordinates it has."""
        free = np.setdiff1d(np.arange(self.size), self.held)
        product = None
        if self.part.product is not None:

            def product(x: Array) -> Array:
                full = np.zeros((self.size, *x.shape[1:]))
                full[free] = x
                return self.forces(full)[free]

        try:
            return factorize(self.K[free][:, free], product=product), free
        except SolverError as error:
            advice = "" if len(free) else " Its interfaces and what is fixed hold all of its nodes; take fewer."
            raise ModelError(f"{self.part.name}: the part cannot be reduced: {error}.{advice}") from error

    def respond(self, f: Array) -> Array:
        """z under loads f (size, k) with the held coordinates at rest."""
        factor, free = self.factor
        out = np.zeros(f.shape)
        out[free] = factor.solve(f[free])
        return out

    def under(self, B: Any) -> Conditions:
        """Static solutions under the conditions B z = c."""
        return Conditions(self, sp.csr_array(B))

    def modes(self, count: int, under: Conditions) -> tuple[Array, Array]:
        """Lowest eigenvalues and M-orthonormal vectors of K z = λ M z under B z = 0."""
        border = under.B if under.B.shape[0] else None
        return smallest_modes(
            self.K, self.M, count, border=border, mass_operator=self.momentum,
            stiffness_operator=None if self.part.product is None else self.forces, solve=under.solve,
        )  # fmt: skip

    def _interface_rows(self) -> sp.csr_array:
        empty = sp.csr_array((0, self.part.n_dofs))
        every = sp.csr_array(sp.vstack([empty, *(place.rows for place in self.places)]))
        return self.rows(every)

    def _rigid_motions(self, held: NDArray[np.bool_], inner: Index) -> Array:
        motions = rigid_motions(self.part)
        if held.any():
            scaled = motions[held] / np.linalg.norm(motions, axis=0)
            if np.linalg.matrix_rank(scaled, tol=1e-9) < motions.shape[1]:
                raise ModelError(
                    f"{self.part.name}: what is fixed does not hold the part in its frame; fix more, or nothing."
                )
            return np.zeros((self.size, 0))
        forces = self.part.elastic_forces(motions)
        if (np.abs(forces) > 1e-6 * (abs(self.part.stiffness) @ np.abs(motions)).max(axis=0)).any():
            raise ModelError(
                f"{self.part.name}: springs hold the part to its own floating frame. Leave GroundSpring out and use a "
                "Bushing between bodies, or fix the part in its frame with fixed=."
            )
        points = [np.asarray(place.rows @ motions) for place in self.places if place.columns is not None]
        return np.vstack([motions[inner], *points])


def _refuse_loose_pieces(part: Part, places: tuple[Interface, ...], held: NDArray[np.bool_]) -> None:
    """What neither elements nor rigid interfaces connect is told from the graph of nodes, not from small pivots."""
    p, n = part.dofs_per_node, part.n_dofs // part.dofs_per_node
    coupled = sp.coo_array(part.stiffness)
    ties = [np.broadcast_to(place.nodes[:1], place.nodes.shape) for place in places if place.columns is not None]
    tied = [place.nodes for place in places if place.columns is not None]
    rows, columns = np.concatenate([coupled.row // p, *ties]), np.concatenate([coupled.col // p, *tied])
    graph = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    _, piece = sp.csgraph.connected_components(graph, directed=False)
    used = np.unique(coupled.row // p)
    pieces = np.unique(piece[used])
    anchored = piece[np.flatnonzero(held) // p] if held.any() else pieces[:1]
    loose = np.setdiff1d(pieces, anchored)
    if len(loose):
        node = int(used[piece[used] == loose[0]][0])
        raise ModelError(
            f"{part.name}: the part cannot be reduced: it is in {len(pieces)} pieces; nothing connects the one with "
            f"node {node} to the rest. merged_nodes() ties pieces that touch; a rigid interface joins others."
        )


@dataclass(frozen=True, eq=False)
class Conditions:
    """z with K z + Bᵀλ = f and B z = c; B must stop what rigid motion is left."""

    space: Space
    B: sp.csr_array

    @cached_property
    def _parts(self) -> tuple[Array, Array, Any, Array]:
        """G Bᵀ, B R, the factor of [B G Bᵀ, -B R; (B R)ᵀ, 0] and its scale."""
        space, m = self.space, self.B.shape[0]
        reach = space.respond(self.B.T.toarray())
        motion = np.asarray(self.B @ space.R)
        count = motion.shape[1]
        matrix = np.zeros((m + count, m + count))
        matrix[:m, :m] = self.B @ reach
        matrix[:m, m:], matrix[m:, :m] = -motion, motion.T
        rows = np.linalg.norm(matrix, axis=1)
        if (rows == 0).any():
            raise ModelError(f"{space.part.name}: the conditions on the part's frame do not depend on its motion.")
        scale = np.ones(m + count)
        softness = np.sqrt(np.abs(matrix[:m, :m]).max(initial=0.0)) or 1.0  # flexibilities and motions in one unit
        scale[:m], scale[m:] = 1.0 / softness, softness
        for _ in range(3):  # equilibrate rows and columns alike
            scale /= np.sqrt(np.abs(matrix * np.outer(scale, scale)).max(axis=1))
        scaled = matrix * np.outer(scale, scale)
        if np.linalg.cond(scaled) > 1e13:
            raise ModelError(
                f"{space.part.name}: its interfaces or reference conditions depend on each other; choose others."
            )
        return reach, motion, scipy.linalg.lu_factor(scaled), scale

    def solve(self, f: Array, c: Array | float = 0.0) -> Array:
        """z for f (size,) or (size, k), and c (rows, k) or zero."""
        return self.solve_with_multipliers(f, c)[0]

    def solve_with_multipliers(self, f: Array, c: Array | float = 0.0) -> tuple[Array, Array]:
        """z and λ."""
        space = self.space
        columns = f.reshape(len(f), -1)
        if self.B.shape[0] == 0:
            return space.respond(f), np.zeros((0, *f.shape[1:]))
        reach, _, factor, scale = self._parts
        m = self.B.shape[0]
        z = space.respond(columns)
        goal = np.zeros((m, columns.shape[1]))
        goal[:] = c
        lack = np.asarray(space.R.T @ columns)
        multipliers = np.zeros((m, columns.shape[1]))
        for _ in range(2):  # the second pass removes what rounding left in the conditions
            right = np.vstack([np.asarray(self.B @ z) - goal, lack])
            step = scale[:, None] * scipy.linalg.lu_solve(factor, scale[:, None] * right)
            z = z - reach @ step[:m] + space.R @ step[m:]
            multipliers += step[:m]
            lack = np.asarray(space.R.T @ columns - np.asarray(self.B @ space.R).T @ multipliers)
        return z.reshape(f.shape), multipliers.reshape(m, *f.shape[1:])


def fixed_coordinates(part: Part, fixed: Any) -> NDArray[np.bool_]:
    """Which nodal coordinates are fixed: by set names, node numbers, a mapping from sets to components, or which."""
    if isinstance(fixed, np.ndarray) and fixed.dtype == bool and fixed.shape == (part.n_dofs,):
        return fixed
    held = np.zeros(part.n_dofs, dtype=bool)
    if fixed is None or (isinstance(fixed, list | tuple) and not fixed):
        return held
    items: list[tuple[Any, Any]] = list(fixed.items()) if isinstance(fixed, Mapping) else [(fixed, None)]
    for which, components in items:
        try:
            kept = Projection.fix(part, which, components).matrix
        except FlexmbsError as error:
            raise ModelError(f"{part.name}: fixed: {error}") from error
        mine = np.ones(part.n_dofs, dtype=bool)
        mine[np.flatnonzero(np.diff(kept.indptr))] = False
        held |= mine
    return held
