"""What is seen of a mechanism in files for ParaView: skins of flexible bodies, shapes of the others, or sticks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import Body
from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.bodies.ground import Ground
from flexmbs.bodies.shapes import Ball, Box, Cylinder, Plate
from flexmbs.joints.cam import ContactParameters
from flexmbs.mesh.mesh import Mesh
from flexmbs.mesh.topology import group_faces
from flexmbs.reduction.recovery import remembered
from flexmbs.rotations import as_pose_rotation, axis_vector, triad
from flexmbs.system.system import System

Array = NDArray[np.float64]
Index = NDArray[np.int64]

SIDES = 24
"""Corners of what is round."""
VTK = {
    **{"vertex": 1, "line": 3, "triangle": 5, "quad": 9, "line3": 21, "triangle6": 22, "quad8": 23, "quad9": 28},
    **{"triangle7": 34, "polygon": 7},
}
"""VTK's numbers of the cells drawn."""
CHUNK = 2_000_000
"""Numbers that are held at once."""


class Drawn(NamedTuple):
    """Points (n, 3) in body axes, and cells of them by type."""

    points: Array
    cells: list[tuple[str, Index]]


class Frames(NamedTuple):
    """Points (times, n, 3) in global axes, their displacement by deformation, and von Mises stress (times, n)."""

    points: Array
    displacement: Array
    von_mises: Array | None


@dataclass(frozen=True, eq=False)
class Piece:
    """One body as it is drawn; ``nodes`` are those of a flexible body's mesh at the points."""

    body: Body
    points: Array
    nodes: Index | None


@dataclass(frozen=True, eq=False)
class Geometry:
    """All bodies as points and cells: ``connectivity`` of cells from ``offsets``, VTK's ``types``, and their bodies."""

    pieces: tuple[Piece, ...]
    connectivity: Index
    offsets: Index
    types: NDArray[np.uint8]
    bodies: Index

    @classmethod
    def of(cls, system: System) -> Geometry:
        """What is drawn of a system."""
        pieces, tables, types, owners, start = [], [], [], [], 0
        for number, body in enumerate(system.bodies):
            drawn, nodes = _drawn(system, body)
            for kind, table in drawn.cells:
                tables.append(table + start)
                types.append(np.full(len(table), VTK[kind], dtype=np.uint8))
                owners.append(np.full(len(table), number))
            if len(drawn.points):
                pieces.append(Piece(body, drawn.points, nodes))
            start += len(drawn.points)
        sizes = np.concatenate([np.zeros(0, np.int64), *(np.full(len(t), t.shape[1]) for t in tables)])
        return cls(
            tuple(pieces),
            np.concatenate([np.zeros(0, np.int64), *(t.ravel() for t in tables)]),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.concatenate([np.zeros(0, np.uint8), *types]),
            np.concatenate([np.zeros(0, np.int64), *owners]),
        )

    @property
    def n_points(self) -> int:
        """Number of points."""
        return sum(len(piece.points) for piece in self.pieces)

    def stressed(self, most: int | None = None) -> bool:
        """Whether there is stress to show, on meshes of at most so many nodes."""
        meshes = [p.body.reduced for p in self.pieces if isinstance(p.body, FlexibleBody) and p.nodes is not None]
        known = [r for r in meshes if r.part is not None and r.part.elements is not None]
        return bool(known) and (most is None or sum(r.mesh.n_nodes for r in known) <= most)

    def at(self, result: Any, stress: bool) -> Frames:
        """All points at the instants of a result."""
        count, n = len(result.t), self.n_points
        points, moved = np.zeros((count, n, 3)), np.zeros((count, n, 3))
        pressed = np.zeros((count, n)) if stress else None
        start = 0
        for piece in self.pieces:
            mine = slice(start, start + len(piece.points))
            start = mine.stop
            motion, local = result.motion(piece.body), np.broadcast_to(piece.points, (count, *piece.points.shape))
            if piece.nodes is not None:
                shift = _shifts(piece, result)
                local = local + shift
                moved[:, mine] = shift @ motion.rotation.transpose(0, 2, 1)
                if pressed is not None:
                    pressed[:, mine] = _stress(piece, result)
            points[:, mine] = motion.position[:, None, :] + local @ motion.rotation.transpose(0, 2, 1)
        return Frames(points, moved, pressed)

    def instants_at_once(self) -> int:
        """Of how many instants the points are computed together."""
        return max(1, CHUNK // max(1, 3 * self.n_points))


def _shifts(piece: Piece, result: Any) -> Array:
    """Displacements (times, n, 3) of a flexible body's nodes, in body axes."""
    body = piece.body
    assert isinstance(body, FlexibleBody)
    assert piece.nodes is not None
    reduced, d = body.reduced, result.elastic(body)
    rows = (piece.nodes[:, None] * reduced.dofs_per_node + np.arange(reduced.axes)).ravel()
    out = np.zeros((len(d), len(piece.nodes), 3))
    if d.shape[1]:  # that of a mechanism with deformation locked has none
        moved = np.asarray(reduced.basis[rows] @ d.T)  # sparse of a body in full order
        out[:, :, : reduced.axes] = moved.T.reshape(len(d), len(piece.nodes), reduced.axes)
    return out


def _stress(piece: Piece, result: Any) -> Array:
    """Von Mises stress (times, n) at a flexible body's nodes."""
    body, nodes = piece.body, piece.nodes
    assert isinstance(body, FlexibleBody)
    assert nodes is not None
    if body.reduced.part is None or body.reduced.part.elements is None or not result.elastic(body).shape[1]:
        return np.zeros((len(result.t), len(nodes)))
    order = np.argsort(nodes)
    modes = remembered(body.reduced, nodes[order])
    out = np.empty((len(result.t), len(nodes)))
    out[:, order] = modes.equivalent(*result._known(body, True))
    return out


# ---- bodies ---------------------------------------------------------------------------------------------------------


def _drawn(system: System, body: Body) -> tuple[Drawn, Index | None]:
    if isinstance(body, FlexibleBody):
        return surface(body.reduced.mesh)
    shapes = [_shape(one) for one in body.shape]
    if shapes:
        return _together(shapes), None
    nothing = Drawn(np.zeros((0, 3)), [])
    return (nothing if isinstance(body, Ground | ContactParameters) else _stick(system, body)), None


def surface(mesh: Mesh) -> tuple[Drawn, Index]:
    """Outer faces of a solid, or all cells of a plane or line mesh, and the nodes of the points."""
    groups = (
        group_faces(mesh.cells, mesh.boundary)
        if mesh.dimension == 3
        else [(block.type, block.nodes) for block in mesh.cells]
    )
    nodes = np.unique(np.concatenate([np.zeros(0, np.int64), *(table.ravel() for _, table in groups)]))
    place = np.zeros(mesh.n_nodes, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    return Drawn(mesh.points[nodes], [(kind, place[table]) for kind, table in groups]), nodes


def _stick(system: System, body: Body) -> Drawn:
    """Lines from the mass centre to the frames on a body."""
    centre = body.mass_parameters[1]
    ends = {f.position.tobytes(): f.position for f in system.frames.frames if f.body is body}
    ends.pop(np.asarray(centre, dtype=float).tobytes(), None)
    points = np.array([centre, *ends.values()])
    lines = np.stack([np.zeros(len(ends), np.int64), np.arange(1, len(points))], axis=1)
    return Drawn(points, [("line", lines)] if len(ends) else [("vertex", np.zeros((1, 1), np.int64))])


def _together(parts: list[Drawn]) -> Drawn:
    starts = np.cumsum([0, *(len(p.points) for p in parts)])
    cells = [(kind, table + start) for p, start in zip(parts, starts[:-1], strict=True) for kind, table in p.cells]
    return Drawn(np.concatenate([p.points for p in parts]), cells)


def _shape(shape: Any) -> Drawn:
    if isinstance(shape, Mesh):
        return surface(shape)[0]
    if isinstance(shape, Box):
        corners = np.array([[i, j, k] for k in (-1, 1) for j in (-1, 1) for i in (-1, 1)]) / 2 * np.asarray(shape.size)
        quads = np.array([[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]])
        return Drawn(corners @ as_pose_rotation(shape.axes).T + np.asarray(shape.center), [("quad", quads)])
    if isinstance(shape, Cylinder):
        return _round(np.array([-0.5, 0.5]) * shape.length, np.full(2, shape.radius), triad(axis_vector(shape.axis)),
                      np.asarray(shape.center, dtype=float))  # fmt: skip
    if isinstance(shape, Ball):
        polar = np.linspace(0.0, np.pi, SIDES // 2 + 1)
        return _round(-shape.radius * np.cos(polar), shape.radius * np.sin(polar), np.eye(3), np.asarray(shape.center))
    assert isinstance(shape, Plate)
    outline = np.asarray(shape.outline, dtype=float)
    n = len(outline)
    half = shape.thickness / 2
    points = np.concatenate([np.column_stack([outline, np.full(n, z)]) for z in (-half, half)])
    ring, after = np.arange(n), (np.arange(n) + 1) % n
    sides = np.stack([ring, after, after + n, ring + n], axis=1)
    return Drawn(points, [("quad", sides), ("polygon", np.stack([ring[::-1], ring + n]))])


def _round(along: Array, radii: Array, axes: Array, centre: Array) -> Drawn:
    """What is round about the third of the axes: rings at heights, with their radii, closed by caps."""
    phi = 2 * np.pi * np.arange(SIDES) / SIDES
    rings = np.array([np.column_stack([r * np.cos(phi), r * np.sin(phi), np.full(SIDES, z)])
                      for z, r in zip(along, radii, strict=True)]).reshape(-1, 3)  # fmt: skip
    ends = np.array([[0.0, 0.0, along[0]], [0.0, 0.0, along[-1]]])
    ring, after = np.arange(SIDES), (np.arange(SIDES) + 1) % SIDES
    starts = (SIDES * np.arange(len(along) - 1))[:, None]
    quads = np.stack([starts + ring, starts + after, starts + SIDES + after, starts + SIDES + ring], axis=-1)
    last = SIDES * (len(along) - 1)
    bottom = np.stack([after, ring, np.full(SIDES, len(rings))], axis=1)
    top = np.stack([last + ring, last + after, np.full(SIDES, len(rings) + 1)], axis=1)
    points = np.concatenate([rings, ends]) @ axes.T + centre
    return Drawn(points, [("quad", quads.reshape(-1, 4)), ("triangle", np.concatenate([bottom, top]))])
