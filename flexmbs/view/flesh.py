"""Flexible bodies in pictures: the surface of their mesh, and how its points move with the elastic coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from flexmbs.bodies.body import Body, Frame
from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.fem.beam import Beam
from flexmbs.joints.joint import Joint
from flexmbs.reduction.full import FullPart
from flexmbs.results.deformation import exaggerated
from flexmbs.rotations import triad
from flexmbs.system.system import System
from flexmbs.view.look import Look, Piece, mixed
from flexmbs.view.skin import skin
from flexmbs.view.solids import Solid
from flexmbs.view.sparse_shapes import SparseShapes

Array = NDArray[np.float64]
Index = NDArray[np.int64]

COARSE = 300
"""Faces of quadratic cells above which they are cut in 4: a film draws them again and again."""
CUTS = 4
"""Parts into which a beam element is cut, so that it looks bent."""


@dataclass(frozen=True, eq=False)
class Flesh(Piece):
    """The surface of a flexible body, in body axes.

    ``shapes`` (points, 3, r) say how it is drawn for d, deformation exaggerated; ``bends`` (points, 3, r) is the true
    deformation alone, measured from the rigid motion of the places where joints hold the body; ``weights`` (points,
    nodes of ``nodes``) interpolate nodal values.
    """

    bends: Array = field(default_factory=lambda: np.zeros((0, 3, 0)))
    scale: float = 1.0
    weights: sp.csr_array = field(default_factory=lambda: sp.csr_array((0, 0)))
    nodes: Index = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @cached_property
    def true_shapes(self) -> Array:
        """Displacements of its points for d, as they are."""
        assert self.shapes is not None
        return self.shapes - (self.scale - 1.0) * self.bends  # arrays, or SparseShapes

    def undeformed(self, position: Array, rotation: Array, d: Array) -> Array:
        """Where its points would be if it did not deform between its joints."""
        return np.asarray((self.solid.points + (self.true_shapes - self.bends) @ d) @ rotation.T + position)

    def deformation(self, d: Array) -> Array:
        """Size of the true deformation of its points."""
        return np.asarray(np.linalg.norm(self.bends @ d, axis=1))


def flesh(system: System, body: FlexibleBody, number: int, color: str, height: float, look: Look) -> Flesh:
    """The surface of a body, drawn as it deforms; ``exaggerate`` draws it more."""
    if isinstance(body.reduced, FullPart):
        return _full(system, body, body.reduced, number, color, height, look)
    mesh, modes = body.reduced.mesh, body.modes
    nodal = np.zeros((mesh.n_nodes, 3, modes))
    every = body.reduced.basis.reshape(mesh.n_nodes, -1, modes)
    nodal[:, : body.reduced.axes] = every[:, : body.reduced.axes]
    if mesh.dimension == 1:
        points, triangles, lines, shapes, weights = _beams(body, every, look)
    else:
        part = skin(mesh, many=COARSE)
        points, triangles, lines, weights = part.at(mesh.points), part.triangles, None, part.weights
        shapes = part.at(nodal.reshape(mesh.n_nodes, -1)).reshape(len(points), 3, modes)
        if look.flat:
            points, color = points + np.array([0.0, 0.0, height]), mixed(color, "#ffffff", 0.22)
    nodes = np.unique(weights.indices).astype(np.int64)
    bends = shapes - carried(system, body, points, shapes)
    return Flesh(
        number, Solid(points, triangles), color, not look.flat, True, shapes=shapes, lines=lines, bends=bends,
        weights=sp.csr_array(weights[:, nodes]), nodes=nodes,
    )  # fmt: skip


def _full(
    system: System, body: FlexibleBody, reduced: FullPart, number: int, color: str, height: float, look: Look
) -> Flesh:
    """The surface of a body in full order: its shapes are as many as its nodes, and sparse."""
    mesh, axes = reduced.mesh, reduced.axes
    part = skin(mesh, many=COARSE)
    points = part.at(mesh.points)
    in_space = sp.kron(part.weights, np.eye(3, axes), format="csr")
    frames = places(system, body)
    where, far = np.array([f.position for f in frames]).reshape(-1, 3), np.zeros((3 * len(points), 6 * len(frames)))
    for k, unit in enumerate(np.eye(6 * len(frames)).reshape(-1, len(frames), 6)):
        far[:, k] = exaggerated(points, np.zeros_like(points), 0.0, where, unit[:, :3], unit[:, 3:]).ravel()
    moving = np.vstack([np.zeros((0, body.modes)), *(f.shapes for f in frames)])
    shapes = SparseShapes(sp.csr_array(in_space @ reduced.basis), np.zeros_like(far), moving)
    bends = shapes - SparseShapes(sp.csr_array(shapes.near.shape), far, moving)
    if look.flat:
        points, color = points + np.array([0.0, 0.0, height]), mixed(color, "#ffffff", 0.22)
    nodes = np.unique(part.weights.indices).astype(np.int64)
    return Flesh(
        number, Solid(points, part.triangles), color, not look.flat, True, shapes=shapes, bends=bends,  # type: ignore[arg-type]
        weights=sp.csr_array(part.weights[:, nodes]), nodes=nodes,
    )  # fmt: skip


def exaggerate(piece: Flesh, scale: float) -> Flesh:
    """The same surface with its deformation drawn ``scale`` times as large."""
    assert piece.shapes is not None
    return replace(piece, shapes=piece.shapes + (scale - piece.scale) * piece.bends, scale=scale)


def carried(system: System, body: FlexibleBody, points: Array, shapes: Array) -> Array:
    """(points, 3, r) the rigid motion of the places where the body is held, for each elastic coordinate."""
    frames = places(system, body)
    where = np.array([f.position for f in frames]).reshape(-1, 3)
    out = np.zeros_like(shapes)
    for j in range(shapes.shape[2]):
        shifts, turns = (np.array([f.shapes[half, j] for f in frames]) for half in (slice(0, 3), slice(3, 6)))
        out[:, :, j] = exaggerated(points, shapes[:, :, j], 0.0, where, shifts, turns)
    return out


def places(system: System, body: Body) -> list[Frame]:
    """Frames at which joints hold a flexible body, or its interfaces where none does; one for each place."""
    joints = [j for j in system.joints if isinstance(j, Joint)]
    frames = [f for j in joints for f in (j.frame_i, j.frame_j) if f.body is body and f.shapes.shape[1] == body.modes]
    if not frames and isinstance(body, FlexibleBody):
        frames = [body.at(name) for name in body.reduced.interfaces]
    return list({f.position.tobytes(): f for f in frames}.values())


def attached(piece: Piece, frames: Sequence[Frame]) -> Piece:
    """A pin or the like on a flexible body, moving with the nearest of the frames at which it is held."""
    if piece.shapes is not None or not frames or not len(piece.solid.points):
        return piece
    middle = piece.solid.points.mean(axis=0)
    near = min(frames, key=lambda f: float(np.linalg.norm(f.position - middle)))
    if near.body.full_order:
        moves = np.zeros((len(piece.solid.points), 3, 6))
        moves[:, :, :3] = np.eye(3)
        moves[:, :, 3:] = np.cross(np.eye(3)[None], (piece.solid.points - near.position)[:, None]).transpose(0, 2, 1)
        far = moves.reshape(-1, 6)
        none = sp.csr_array((len(far), near.shapes.shape[1]))
        return replace(piece, shapes=SparseShapes(none, far, near.shapes))  # type: ignore[arg-type]
    turned = np.cross(near.shapes[3:].T[None], (piece.solid.points - near.position)[:, None]).transpose(0, 2, 1)
    return replace(piece, shapes=near.shapes[None, :3] + turned)


def _beams(body: FlexibleBody, nodal: Array, look: Look) -> tuple[Array, Index, Index, Array, sp.csr_array]:
    """Prisms along line elements: points, triangles, lines, shapes (points, 3, r), weights of the nodes.

    Sections are drawn as rectangles of the same area moments. Elements bend as cubics, from the rotations of nodes.
    """
    mesh = body.reduced.mesh
    cells = np.concatenate([block.nodes[:, :2] for block in mesh.cells if block.nodes.shape[1] > 1])
    ends = mesh.points[cells]
    along = ends[:, 1] - ends[:, 0]
    length = np.linalg.norm(along, axis=1)
    axes, half = _sections(body, cells, along / length[:, None], look)
    s = np.linspace(0.0, 1.0, CUTS + 1)
    corners = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    offset = np.einsum("cp,ep,eip->eci", corners, half, axes[:, :, 1:])  # (elements, corners, 3)
    centre = ends[:, None, 0] + s[None, :, None] * along[:, None]
    points = centre[:, :, None] + offset[:, None]
    u, theta = nodal[cells][:, :, :3], np.zeros_like(nodal[cells][:, :, :3])
    if nodal.shape[1] == 6:
        theta = nodal[cells][:, :, 3:]
    e = (along / length[:, None])[:, None, :, None]
    stretch = np.sum((u[:, 1] - u[:, 0])[:, None] * e, axis=2, keepdims=True) * e  # along the element, by its length
    slope = length[:, None, None, None] * np.cross(theta, np.broadcast_to(e, theta.shape), axis=2) + stretch
    if nodal.shape[1] != 6:
        slope = np.broadcast_to((u[:, 1] - u[:, 0])[:, None], u.shape)
    value = np.stack([1 - s**2 * (3 - 2 * s), s**2 * (3 - 2 * s)])
    rate = np.stack([s * (1 - s) ** 2, s**2 * (s - 1)])
    line = np.einsum("ns,enir->esir", value, u) + np.einsum("ns,enir->esir", rate, slope)
    turn = np.einsum("ns,enir->esir", np.stack([1 - s, s]), theta)
    tilted = np.cross(turn[:, :, None], offset[:, None, :, :, None], axis=3)
    shapes = (line[:, :, None] + tilted).reshape(-1, 3, nodal.shape[2])
    ring, c = 4 * np.arange(CUTS)[:, None], np.arange(4)
    a, b = ring + c, ring + (c + 1) % 4
    sides = np.concatenate([np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, b + 4), (a, b + 4, a + 4))])
    caps = np.array([[0, 2, 1], [0, 3, 2], [0, 1, 2], [0, 2, 3]]) + 4 * CUTS * np.array([[0], [0], [1], [1]])
    first = 4 * (CUTS + 1) * np.arange(len(cells))[:, None, None]
    triangles = (first + np.concatenate([sides, caps])).reshape(-1, 3)
    edges = [(first + np.stack([a, a + 4], axis=-1).reshape(-1, 2)).reshape(-1, 2)]
    count = np.bincount(cells.ravel(), minlength=mesh.n_nodes)
    for end in range(2):  # the rim of free ends
        rim = np.stack([c, (c + 1) % 4], axis=-1) + 4 * CUTS * end
        edges.append((first[count[cells[:, end]] == 1] + rim).reshape(-1, 2))
    share = np.tile(np.repeat(np.stack([1 - s, s], axis=1), 4, axis=0), (len(cells), 1))
    owner = np.repeat(cells, 4 * (CUTS + 1), axis=0)
    rows = np.repeat(np.arange(len(owner)), 2)
    weights = sp.csr_array((share.ravel(), (rows, owner.ravel())), shape=(len(owner), mesh.n_nodes))
    return points.reshape(-1, 3), triangles, np.concatenate(edges), shapes, weights


def _sections(body: FlexibleBody, cells: Index, along: Array, look: Look) -> tuple[Array, Array]:
    """Axes (elements, 3, 3) as columns and half widths (elements, 2) in y and z, thick enough to be seen."""
    axes = np.array([triad(e)[:, [2, 0, 1]] for e in along])
    half = np.zeros((len(cells), 2))
    elements = None if body.reduced.part is None else body.reduced.part.elements
    at = 0
    for block in () if elements is None else elements.blocks:
        if isinstance(block, Beam):
            some = slice(at, at + len(block.cells))
            axes[some] = block.rotation
            half[some] = np.sqrt(3 * np.stack([block.second_z, block.second_y], axis=1) / block.area[:, None])
            at += len(block.cells)
    return axes, np.maximum(half, 0.18 * look.width)
