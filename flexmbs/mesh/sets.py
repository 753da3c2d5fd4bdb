"""What a mesh holds: points, cells, named sets of nodes, cells and faces, and how they are looked up."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import MeshError
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.integrals import face_weights
from flexmbs.mesh.move import unit_vector
from flexmbs.mesh.topology import CellBlock, block_starts, boundary_faces, group_faces
from flexmbs.mesh.validate import valid_blocks, valid_face_sets, valid_numbers, valid_points, valid_sets

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Which = str | ArrayLike | Sequence[str]  # a set name, node numbers, or several names


class MeshSets:
    """Points, cell blocks and named sets of one part, and their look-up; `Mesh` says what the arguments are."""

    def __init__(
        self,
        points: ArrayLike,
        cells: Iterable[CellBlock | tuple[str, ArrayLike]],
        node_sets: Mapping[str, ArrayLike] | None = None,
        cell_sets: Mapping[str, ArrayLike] | None = None,
        face_sets: Mapping[str, ArrayLike] | None = None,
        name: str = "mesh",
    ) -> None:
        if not isinstance(name, str):
            raise MeshError(f"a mesh's name is a string, not {name!r}.")
        self.name = name
        self.points: Array = valid_points(points, name)
        self.cells: tuple[CellBlock, ...] = valid_blocks(cells, len(self.points), name)
        self.node_sets: Mapping[str, Index] = valid_sets(node_sets, "node", len(self.points), name)
        self.cell_sets: Mapping[str, Index] = valid_sets(cell_sets, "cell", self.n_cells, name)
        self.face_sets: Mapping[str, Index] = valid_face_sets(face_sets, self.cells, name)
        self._sealed = True

    def __setattr__(self, key: str, value: Any) -> None:
        if getattr(self, "_sealed", False):
            raise AttributeError(f"a Mesh cannot be changed ({key}); its edits return a new mesh")
        object.__setattr__(self, key, value)

    def __repr__(self) -> str:
        cells = ", ".join(f"{len(b)} {b.type}" for b in self.cells)
        return f"<Mesh {self.name!r}: {self.n_nodes} nodes, {cells}, sets {', '.join(self.sets) or 'none'}>"

    # ---- sizes --------------------------------------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.points)

    @property
    def n_cells(self) -> int:
        """Number of cells in all blocks."""
        return sum(len(b) for b in self.cells)

    @property
    def dimension(self) -> int:
        """Topological dimension of the cells: 3 for solids, 2 for plane meshes, 1 for lines, 0 for points."""
        return max((CELLS[b.type].dimension for b in self.cells), default=0)

    @property
    def dofs_per_node(self) -> int:
        """Coordinates per node: 3 for solids (and points), 2 for plane meshes, 6 for lines read as beams."""
        return {0: 3, 1: 6, 2: 2, 3: 3}[self.dimension]

    @cached_property
    def size(self) -> float:
        """Length of the diagonal of the bounding box: the scale of tolerances."""
        return float(np.linalg.norm(np.ptp(self.points, axis=0))) if self.n_nodes else 0.0

    # ---- sets ---------------------------------------------------------------------------------------------

    @property
    def sets(self) -> tuple[str, ...]:
        """Names of all sets, of whatever kind."""
        return tuple(dict.fromkeys([*self.face_sets, *self.node_sets, *self.cell_sets]))

    def nodes(self, which: Which = "all") -> Index:
        """Sorted node numbers of a set of any kind, of several sets, or of the numbers given; ``"all"`` for all."""
        if isinstance(which, str):
            if which in self.node_sets:
                return self.node_sets[which]
            if which in self.face_sets:
                return _unique([nodes for _, nodes in group_faces(self.cells, self.face_sets[which])])
            if which in self.cell_sets:
                return _unique(self._nodes_of_cells(self.cell_sets[which]))
            if which == "all":
                return np.arange(self.n_nodes)
            raise MeshError(self._unknown(which, self.sets))
        items = list(which) if isinstance(which, Sequence) else which
        if isinstance(items, list) and items and all(isinstance(i, str) for i in items):
            return _unique([self.nodes(i) for i in items])
        return valid_numbers(items, "node", self.n_nodes, self.name)

    def faces(self, which: Which) -> Index:
        """(cell, local face) pairs of a set; for nodes: the boundary faces all of whose nodes are given."""
        if isinstance(which, str) and which in self.face_sets:
            return self.face_sets[which]
        inside = np.zeros(self.n_nodes, dtype=bool)
        inside[self.nodes(which)] = True
        starts = block_starts(self.cells)
        pairs = self.boundary
        keep = np.zeros(len(pairs), dtype=bool)
        for block, start, stop in zip(self.cells, starts[:-1], starts[1:], strict=True):
            for local, face in enumerate(CELLS[block.type].faces):
                mine = np.flatnonzero((pairs[:, 0] >= start) & (pairs[:, 0] < stop) & (pairs[:, 1] == local))
                keep[mine] = inside[block.nodes[pairs[mine, 0] - start][:, face]].all(axis=1)
        if not keep.any():
            raise MeshError(
                f"{self.name}: {_described(which)} holds no boundary face (all nodes of a face must be in it). "
                "Loads on faces need a set of faces; a load on nodes is a Force."
            )
        return pairs[keep]

    def cell_numbers(self, which: Which = "all") -> Index:
        """Sorted cell numbers of a cell set, of several, or of the numbers given."""
        if isinstance(which, str):
            if which in self.cell_sets:
                return self.cell_sets[which]
            if which == "all":
                return np.arange(self.n_cells)
            hint = self._unknown(which, tuple(self.cell_sets), kind="cell set")
            if which in self.sets:
                hint += f" ({which!r} is a set of nodes or faces.)"
            raise MeshError(hint)
        items = list(which) if isinstance(which, Sequence) else which
        if isinstance(items, list) and items and all(isinstance(i, str) for i in items):
            return _unique([self.cell_numbers(i) for i in items])
        return valid_numbers(items, "cell", self.n_cells, self.name)

    def weights(self, which: Which) -> Array:
        """Shares of the nodes of a set in its area, in the order of ``nodes(which)``, summing to 1.

        The share is ∫φ_a dA, so that weighted sums are exact area means of what the cells interpolate (corner
        nodes of quadratic faces then count nothing, or less). Sets that are no surface share equally.
        """
        nodes = self.nodes(which)
        equal = np.full(len(nodes), 1.0 / max(len(nodes), 1))
        try:
            pairs = self.faces(which)
        except MeshError:
            return equal
        totals = face_weights(self.points, group_faces(self.cells, pairs))
        if not np.all(np.isin(nodes, _unique([n for _, n in group_faces(self.cells, pairs)]))):
            return equal
        chosen: Array = totals[nodes]
        return chosen / chosen.sum()

    @cached_property
    def boundary(self) -> Index:
        """(cell, local face) pairs of all boundary faces."""
        return boundary_faces(self.cells)

    def with_nodes(self, name: str, which: Which | Callable[..., Any]) -> Self:
        """The same mesh with one more node set; ``which`` may be a predicate as for ``nodes_where``."""
        nodes = self.nodes_where(which) if callable(which) else self.nodes(which)
        return self.replace(node_sets={**self.node_sets, name: nodes})

    def with_faces(self, name: str, which: Which | Callable[..., Any]) -> Self:
        """The same mesh with one more face set: the boundary faces whose nodes all are in ``which``."""
        nodes = self.nodes_where(which) if callable(which) else which
        return self.replace(face_sets={**self.face_sets, name: self.faces(nodes)})

    def with_cells(self, name: str, which: Which) -> Self:
        """The same mesh with one more cell set."""
        return self.replace(cell_sets={**self.cell_sets, name: self.cell_numbers(which)})

    def replace(self, **changes: Any) -> Self:
        """The same mesh with some of its constructor's arguments replaced."""
        fields = {k: getattr(self, k) for k in ("points", "cells", "node_sets", "cell_sets", "face_sets", "name")}
        return type(self)(**{**fields, **changes})

    # ---- selecting nodes ----------------------------------------------------------------------------------

    def nodes_where(self, predicate: Callable[..., Any]) -> Index:
        """Nodes for which ``predicate(x, y, z)`` holds; it is called once with the three coordinate arrays."""
        chosen = np.flatnonzero(np.broadcast_to(predicate(*self.points.T), self.n_nodes))
        if not len(chosen):
            low, high = self.points.min(axis=0), self.points.max(axis=0)
            raise MeshError(f"{self.name}: no node fulfils the condition; the mesh spans {low} to {high}.")
        return chosen

    def nodes_on_plane(self, normal: str | ArrayLike, at: float | ArrayLike, tolerance: float | None = None) -> Index:
        """Nodes on a plane given by its normal ("x", "y", "z" or a vector) and a distance along it or a point.

        ``tolerance`` is a distance, by default 1e-6 of the mesh's size; so for the other selections.
        """
        axis = unit_vector(normal, self.name)
        height = float(at) if np.ndim(at) == 0 else float(np.asarray(at, dtype=float) @ axis)  # type: ignore[arg-type]
        return self._near(np.abs(self.points @ axis - height), tolerance, f"plane at {height:.6g} along {normal!r}")

    def nodes_on_cylinder(
        self,
        axis: str | ArrayLike,
        radius: float,
        center: ArrayLike = (0.0, 0.0, 0.0),
        tolerance: float | None = None,
    ) -> Index:
        """Nodes on a circular cylinder about the axis through ``center``."""
        along = unit_vector(axis, self.name)
        offset = self.points - np.asarray(center, dtype=float)
        distance = np.linalg.norm(offset - np.outer(offset @ along, along), axis=1)
        return self._near(np.abs(distance - radius), tolerance, f"cylinder of radius {radius:.6g} about {axis!r}")

    def nearest_node(self, point: ArrayLike) -> int:
        """Number of the node nearest to a point."""
        where = np.asarray(point, dtype=float)
        return int(np.argmin(np.linalg.norm(self.points - np.pad(where, (0, 3 - where.size)), axis=1)))

    def _near(self, distance: Array, tolerance: float | None, what: str) -> Index:
        limit = 1e-6 * self.size if tolerance is None else tolerance
        chosen = np.flatnonzero(distance <= limit)
        if not len(chosen):
            raise MeshError(
                f"{self.name}: no node within {limit:.3g} of the {what}; the nearest, "
                f"node {distance.argmin()}, is {distance.min():.3g} away. Give tolerance=."
            )
        return chosen

    def _nodes_of_cells(self, cells: Index) -> list[Index]:
        starts = block_starts(self.cells)
        return [
            block.nodes[cells[(cells >= start) & (cells < stop)] - start]
            for block, start, stop in zip(self.cells, starts[:-1], starts[1:], strict=True)
        ]

    def _unknown(self, name: str, known: Sequence[str], kind: str = "set") -> str:
        by_lower = {k.lower(): k for k in known}
        close = [by_lower[k] for k in difflib.get_close_matches(name.lower(), by_lower, n=3, cutoff=0.5)]
        advice = f"Did you mean {' or '.join(map(repr, close))}?" if close else ""
        adding = "with_cells()" if kind == "cell set" else "with_nodes()"
        there = f"It has {', '.join(map(repr, known))}." if known else f"It has no {kind}s; add one with {adding}."
        return f"{self.name}: no {kind} {name!r}. {advice} {there}".replace("  ", " ")


def _unique(parts: Iterable[Index]) -> Index:
    flat = [np.ravel(p) for p in parts]
    return np.unique(np.concatenate(flat)) if flat else np.zeros(0, dtype=np.int64)


def _described(which: Any) -> str:
    return f"set {which!r}" if isinstance(which, str) else "the nodes given"
