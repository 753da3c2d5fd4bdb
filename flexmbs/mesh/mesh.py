"""Mesh: points, cells and named sets; reading, making, checking and editing. Every edit gives a new mesh."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import MeshError
from flexmbs.mesh import check, circular, edit, generate, move, order, parts, refine, split
from flexmbs.mesh.check import Problem
from flexmbs.mesh.data import MeshData
from flexmbs.mesh.quality import Quality, quality
from flexmbs.mesh.read import read
from flexmbs.mesh.sets import MeshSets, Which
from flexmbs.mesh.write import write

Index = NDArray[np.int64]


class Mesh(MeshSets):
    """Points, cell blocks and named sets of one part. Immutable: every edit gives a new mesh.

    Parameters
    ----------
    points : (nodes, 3) coordinates; (nodes, 2) is read as the plane z = 0.
    cells : blocks ``(type, nodes)`` with meshio's type names and node order, all of one dimension.
    node_sets : node numbers by name.
    cell_sets : cell numbers by name; cells are numbered through all blocks in their order.
    face_sets : (count, 2) arrays of (cell number, local face) by name; faces of plane cells are their edges.
    name : what messages call this mesh, e.g. the file it was read from.
    """

    # ---- reading and making -------------------------------------------------------------------------------

    @classmethod
    def read(cls, path: str | PathLike[str], *, scale: float = 1.0, dimension: int | None = None) -> Mesh:
        """Read a mesh file with its named sets (Gmsh, Abaqus, Nastran, VTK, XDMF and whatever meshio reads).

        ``scale`` multiplies the coordinates (1e-3 for a file in millimetres); ``dimension`` keeps only cells
        of that dimension where a file mixes solids with separate shells or lines. The cells are those of the highest
        dimension; groups of boundary cells become face sets, of edges and points node sets. Groups without a name
        are called ``surface 12`` (Gmsh), ``PID_3`` (Nastran), ``material_2`` (VTK: array and value). Nodes that no
        cell uses are dropped.
        """
        return cls(**read(path, scale=scale, dimension=dimension))

    def write(self, path: str | PathLike[str]) -> None:
        """Write a mesh file; ``.msh``, ``.inp``, ``.vtu``, ``.vtk`` and ``.xdmf`` keep all sets, others only cells."""
        write(path, self.data)

    @classmethod
    def line(cls, start: ArrayLike, end: ArrayLike, divisions: int, cell: str = "line") -> Mesh:
        """A straight line of equal cells (``line`` or ``line3``) with node sets ``start`` and ``end``."""
        return cls(**generate.line(start, end, divisions, cell))

    @classmethod
    def rectangle(
        cls,
        size: Sequence[float],
        divisions: int | Sequence[int],
        cell: str = "quad",
        origin: Sequence[float] = (0.0, 0.0),
    ) -> Mesh:
        """A rectangle in the plane z = 0 with face sets ``x0 x1 y0 y1``; any plane cell."""
        return cls(**generate.rectangle(size, divisions, cell, origin))

    @classmethod
    def box(
        cls,
        size: Sequence[float],
        divisions: int | Sequence[int],
        cell: str = "hexahedron",
        origin: Sequence[float] = (0.0, 0.0, 0.0),
    ) -> Mesh:
        """A box with face sets ``x0 x1 y0 y1 z0 z1``; any solid cell (6 tetrahedra or pyramids per brick)."""
        return cls(**generate.box(size, divisions, cell, origin))

    @classmethod
    def disc(cls, radius: float, divisions: Sequence[int] = (16, 2), cell: str = "quad") -> Mesh:
        """A disc about the origin with face set ``outer``; divisions around (in fours) and through."""
        return cls(**circular.disc(radius, divisions, cell))

    @classmethod
    def ring(cls, inner: float, outer: float, divisions: Sequence[int] = (16, 2), cell: str = "quad") -> Mesh:
        """A ring about the origin with face sets ``inner outer``; divisions around and through."""
        return cls(**circular.ring(inner, outer, divisions, cell))

    @classmethod
    def cylinder(
        cls,
        radius: float,
        length: float,
        divisions: Sequence[int] = (16, 2, 8),
        axis: str = "z",
        cell: str = "hexahedron",
    ) -> Mesh:
        """A cylinder from the origin along an axis with face sets ``start end outer``; any solid cell.

        Divisions around (in fours), through the layers about the square core, along.
        """
        return cls(**circular.cylinder(radius, length, divisions, axis, cell))

    @classmethod
    def tube(
        cls,
        inner: float,
        outer: float,
        length: float,
        divisions: Sequence[int] = (16, 2, 8),
        axis: str = "z",
        cell: str = "hexahedron",
    ) -> Mesh:
        """A tube from the origin along an axis with face sets ``start end inner outer``; any solid cell.

        Divisions around, through the wall, along.
        """
        return cls(**circular.tube(inner, outer, length, divisions, axis, cell))

    @classmethod
    def connecting_rod(cls, length: float = 0.15, **sizes: Any) -> Mesh:
        """A connecting rod in ``tetra10`` from the big end's centre along x, pins along z; see `parts.connecting_rod`.

        Face sets ``big_end small_end`` (bores), cell set ``shank``, node set ``midspan``.
        """
        return cls(**parts.connecting_rod(length, **sizes))

    @classmethod
    def blade(cls, length: float = 0.12, chord: float = 0.05, **sizes: Any) -> Mesh:
        """A twisted, tapered blade in ``tetra10`` along x from the hub radius, spinning about z; see `parts.blade`.

        Face sets ``root tip pressure suction``.
        """
        return cls(**parts.blade(length, chord, **sizes))

    @classmethod
    def bracket(cls, **sizes: Any) -> Mesh:
        """An angle bracket in ``tetra10`` with bolt holes; see `parts.bracket`.

        Face sets ``base`` (underside), ``bolts`` (bores), ``load`` (bore of the upright).
        """
        return cls(**parts.bracket(**sizes))

    # ---- changing cells -----------------------------------------------------------------------------------

    @property
    def data(self) -> MeshData:
        """The constructor's arguments as a dictionary."""
        return MeshData(
            points=self.points,
            cells=list(self.cells),
            node_sets=dict(self.node_sets),
            cell_sets=dict(self.cell_sets),
            face_sets=dict(self.face_sets),
            name=self.name,
        )

    def refined(self, times: int = 1) -> Mesh:
        """Every edge halved: plane cells into 4, solids into 8 (a pyramid into 6 and 4 tetrahedra).

        Sets are carried along; a new node joins a node set if all the nodes it lies between are in it.
        """
        return Mesh(**refine.refined(self.data, times))

    def to_quadratic(self) -> Mesh:
        """A node in the middle of every edge; cells that have them keep theirs."""
        return Mesh(**order.to_quadratic(self.data))

    def to_linear(self) -> Mesh:
        """The same cells without midside nodes."""
        return Mesh(**order.to_linear(self.data))

    def to_simplices(self) -> Mesh:
        """Quads into triangles, other solids into tetrahedra; neighbours are cut alike."""
        return Mesh(**split.to_simplices(self.data))

    def oriented(self) -> Mesh:
        """Cells that are inside out with their node order reversed."""
        return Mesh(**move.oriented(self.data))

    def straightened(self) -> Mesh:
        """Cells curved so strongly that their Jacobian is not positive, with straight edges."""
        bent = [p.cells for p in self.problems() if p.kind == "curved cells"]
        return Mesh(**move.straightened(self.data, bent[0])) if bent else self

    def submesh(self, which: Which) -> Mesh:
        """The cells of a cell set, or those given, as a mesh of their own with what is theirs of the sets."""
        return Mesh(**edit.submesh(self.data, self.cell_numbers(which)))

    def without_duplicate_cells(self) -> Mesh:
        """Every cell once."""
        return Mesh(**edit.without_duplicate_cells(self.data))

    # ---- moving points ------------------------------------------------------------------------------------

    def translated(self, by: ArrayLike) -> Mesh:
        """Points moved by a vector."""
        return Mesh(**move.transformed(self.data, np.eye(3), by))

    def rotated(self, axis: str | ArrayLike, angle: float, center: ArrayLike = (0.0, 0.0, 0.0)) -> Mesh:
        """Points turned about an axis through ``center`` by an angle in radians."""
        return Mesh(**move.rotated(self.data, axis, angle, center))

    def transformed(self, rotation: ArrayLike, translation: ArrayLike = (0.0, 0.0, 0.0)) -> Mesh:
        """Points R x + t; for a reflection the cells' node order is reversed too."""
        return Mesh(**move.transformed(self.data, rotation, translation))

    def scaled(self, factor: float | ArrayLike) -> Mesh:
        """Points times a positive factor, or times three."""
        return Mesh(**move.scaled(self.data, factor))

    def mapped(self, function: Callable[..., Any]) -> Mesh:
        """Points ``function(x, y, z)``: called once with arrays, returns two or three coordinates.

        Midside nodes move like all others, so that quadratic cells follow the curves of the map.
        """
        return Mesh(**move.mapped(self.data, function))

    # ---- nodes --------------------------------------------------------------------------------------------

    def joined(self, other: Mesh) -> Mesh:
        """Both meshes in one, sets of the same name united; ``merged_nodes()`` then ties them."""
        return Mesh(**edit.joined(self.data, other.data))

    def merged_nodes(self, tolerance: float | None = None) -> Mesh:
        """Nodes closer than ``tolerance`` (1e-9 of the mesh's size) made one."""
        return Mesh(**edit.merged_nodes(self.data, tolerance))

    def renumbered(self, order: ArrayLike) -> Mesh:
        """Nodes in a new order: the new node i is the old node ``order[i]``."""
        return Mesh(**edit.renumbered(self.data, np.asarray(order)))

    def without_unattached_nodes(self) -> Mesh:
        """The mesh without nodes that belong to no cell."""
        return Mesh(**edit.without_unattached_nodes(self.data))

    # ---- checking -----------------------------------------------------------------------------------------

    def problems(self) -> list[Problem]:
        """Everything that is wrong or suspicious, errors first; each says which cells and what to do."""
        return list(self._problems)

    @cached_property
    def _problems(self) -> tuple[Problem, ...]:
        return tuple(check.problems(self.data))

    def check(self) -> Mesh:
        """The mesh itself, if nothing is wrong with it; otherwise the first error is raised."""
        for problem in self._problems:
            if problem.severity == "error":
                raise MeshError(problem.message)
        return self

    def require_solid(self, purpose: str = "this") -> Mesh:
        """The mesh itself if it is made of solid cells; otherwise an error that says what it is made of."""
        if self.dimension != 3:
            found = ", ".join(f"{len(b)} {b.type}" for b in self.cells) or "no cells"
            what = {2: "a plane or surface mesh", 1: "a line mesh"}.get(self.dimension, "no solid")
            raise MeshError(
                f"{self.name} is {what} ({found}), but {purpose} needs solid cells. Mesh the volume "
                "(in Gmsh: 3D mesh, and a physical volume if there are physical groups)."
            )
        return self

    @property
    def n_pieces(self) -> int:
        """Number of pieces that share no node."""
        return check.pieces(self.data)[0]

    def quality(self) -> Quality:
        """Scaled Jacobian and edge ratio of every cell."""
        return quality(self.points, self.cells)
