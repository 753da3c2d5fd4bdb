"""The mechanism of a page: solids of its bodies once, and for each frame where they are and how they deform."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.transform import Rotation

from flexmbs.view.flesh import Flesh
from flexmbs.view.force_pieces import rods, springs
from flexmbs.view.look import DARK, GROUND, STEEL, Piece
from flexmbs.view.mechanism import Drawing
from flexmbs.view.report_packing import floats, integers, shorts
from flexmbs.view.scene import Surface
from flexmbs.view.skin import sharp_edges
from flexmbs.view.sparse_shapes import SparseShapes

Array = NDArray[np.float64]
Index = NDArray[np.int64]

GREYS = (STEEL, DARK, GROUND)
"""Colours that stay beside bodies coloured by a field."""
LEFT_OUT = 1e-3
"""Deformation that the page leaves out, as part of the largest: shapes that hardly occur are not sent."""
ROUNDING = 1e-7
"""Displacement, as part of the largest, that is none."""


def bodies(drawing: Drawing) -> list[dict[str, Any]]:
    """Everything that moves with a body, body by body; the last is space itself."""
    names = [body.name for body in drawing.system.bodies] + [""]
    out = []
    for number, name in enumerate(names):
        own = [p for p in drawing.pieces if p.body == number and len(p.solid.triangles)]
        if own:
            solids = sorted(own, key=lambda p: (not p.own, p.opacity < 1))  # joints last: they can be hidden
            color = drawing.colors[number]
            out.append({"name": name, "color": color, "number": number} | _solids(solids) | _motion(drawing, number))
            d, rate = drawing.shown.elastic[number], drawing.shown.elastic_rate[number]
            if any(isinstance(p.shapes, SparseShapes) for p in solids):
                directions, few = spanned(d, drawing.system.bodies[number].modal_lengths)
                solids, d, rate = [_along(p, directions) for p in solids], d @ few.T, rate @ few.T
            out[-1] |= _deforming(solids, d, rate)
    return out


def _solids(pieces: Sequence[Piece]) -> dict[str, Any]:
    """Points, triangles of corners (points, split where the surface has edges) and edges of all pieces of a body."""
    points = np.concatenate([p.solid.points for p in pieces])
    listed, corners, triangles, edges = [], [], [], []
    at = np.zeros(4, dtype=int)
    for piece in pieces:
        n = len(piece.solid.points)
        sharp = piece.edges if piece.lit or isinstance(piece, Flesh) else np.zeros((0, 2), dtype=np.int64)
        owner, three = split(piece.solid.points, piece.solid.triangles)
        corners.append(owner + at[0])
        triangles.append(three + at[1])
        edges.append(sharp + at[0])
        after = at + np.array([n, len(owner), len(three), len(sharp)])
        listed.append(
            {
                "color": piece.color, "lit": piece.lit, "own": piece.own, "opacity": piece.opacity,
                "flesh": isinstance(piece, Flesh), "grey": piece.color in GREYS,
                "start": at.tolist(), "end": after.tolist(),
            }
        )  # fmt: skip
        at = after
    return {
        "points": shorts(points.T),
        "corners": integers(np.concatenate(corners)),
        "triangles": integers(np.concatenate(triangles)),
        "edges": integers(np.concatenate(edges)),
        "pieces": listed,
    }


def split(points: Array, triangles: Index) -> tuple[Index, Index]:
    """Corners as numbers of their points, and triangles of corners: one for each smooth part about a point.

    Corners of two triangles are one if they are of the same point, and the edge between the triangles is not sharp.
    """
    count = 3 * len(triangles)
    sharp = {tuple(e) for e in sharp_edges(points, triangles).tolist()}
    at: dict[tuple[int, int], list[int]] = {}
    for k, three in enumerate(triangles.tolist()):
        for i in range(3):
            a, b = three[i], three[(i + 1) % 3]
            edge = (a, b) if a < b else (b, a)
            if edge not in sharp:
                at.setdefault(edge, []).extend([3 * k + i, 3 * k + (i + 1) % 3])
    flat = triangles.ravel()
    pairs = [
        (c, d) for found in at.values() if len(found) == 4 for c in found[:2] for d in found[2:] if flat[c] == flat[d]
    ]
    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(count, count))
    _, label = connected_components(graph, directed=False)
    _, first, number = np.unique(label, return_index=True, return_inverse=True)
    return flat[first], number.reshape(-1, 3)


def _motion(drawing: Drawing, number: int) -> dict[str, Any]:
    """Position and quaternion (x, y, z, w) without jumps of sign in each frame, one for all if it rests, and speeds."""
    shown = drawing.shown
    poses = [shown.pose(number, k) for k in range(len(shown.t))]
    place, turn = np.array([p for p, _, _ in poses]), np.array([r for _, r, _ in poses])
    rests = np.ptp(place, axis=0).max() <= 1e-9 * drawing.look.size and np.ptp(turn, axis=0).max() <= 1e-9
    some = slice(0, 1) if rests else slice(None)
    quaternion = Rotation.from_matrix(turn[some]).as_quat()
    flips = np.where(np.sum(quaternion[1:] * quaternion[:-1], axis=1) < 0, -1.0, 1.0)
    quaternion[1:] *= np.cumprod(flips)[:, None]
    speeds = np.concatenate([shown.velocity[number, some], shown.spin[number, some]], axis=1)
    return {"pose": floats(np.concatenate([place[some], quaternion], axis=1)), "twist": floats(speeds)}


def _deforming(pieces: Sequence[Piece], d: Array, rate: Array) -> dict[str, Any]:
    """Shapes and their coordinates in each frame, as few as give all frames; nothing for what does not deform.

    ``carried`` shapes (3 · shapes, points) move with the joints that hold the body, ``bends`` deform and are those that
    the page exaggerates: a point is drawn at x + (carried + scale · bends) · ``coordinates``.
    """
    if not d.shape[1] or all(p.shapes is None for p in pieces):
        return {}
    carried, bends = [], []
    for p in pieces:
        none = np.zeros((len(p.solid.points), 3, d.shape[1]))
        bend = p.bends if isinstance(p, Flesh) else none
        whole = p.true_shapes if isinstance(p, Flesh) else none if p.shapes is None else p.shapes
        carried.append(whole - bend)
        bends.append(bend)
    both = [np.concatenate(part).reshape(-1, d.shape[1]) for part in (carried, bends)]
    directions, few = principal(both, d)
    if not len(few) and not any(isinstance(p, Flesh) for p in pieces):
        return {}
    n, count = len(both[0]) // 3, len(few)  # perhaps none, where nothing is deformed
    shapes = [(part @ directions).reshape(n, 3, count).transpose(2, 1, 0).reshape(3 * count, n) for part in both]
    return {
        "coordinates": floats(d @ few.T),
        "rates": floats(rate @ few.T),
        "carried": shorts(shapes[0]),
        "bends": shorts(shapes[1]),
    }


def spanned(d: Array, lengths: Array) -> tuple[Array, Array]:
    """Directions (r, few) in which coordinates d (time, r) lie, and rows (few, r) of coordinates along them.

    ``lengths`` make displacements of the coordinates. So a body in full order has no more of them than frames, and not
    as many as nodes; what is left out is rounding beside what ``principal`` leaves out.
    """
    weights = np.where(lengths > 0.0, lengths, 1.0)
    _, size, right = np.linalg.svd(d * weights, full_matrices=False)
    kept = right[size > ROUNDING * size[:1]]
    return (kept / weights).T, kept * weights


def _along(piece: Piece, directions: Array) -> Piece:
    """The same piece of a body in full order, with dense shapes (points, 3, few) along few directions."""
    if not isinstance(piece.shapes, SparseShapes):
        return piece
    shapes = piece.shapes.along(directions)
    if not isinstance(piece, Flesh):
        return replace(piece, shapes=shapes)
    assert isinstance(piece.bends, SparseShapes)
    return replace(piece, shapes=shapes, bends=piece.bends.along(directions))


def principal(parts: Sequence[Array], d: Array) -> tuple[Array, Array]:
    """Directions (r, few) in elastic coordinates d (time, r), and rows (few, r) of coordinates along them.

    They are the principal directions of the displacements ``part`` @ d, parts counting alike: as many as give them at
    all times, but for ``LEFT_OUT``.
    """
    gram = np.zeros((d.shape[1], d.shape[1]))
    for part in parts:
        own = part.T @ part
        largest = np.einsum("tr,rs,ts->t", d, own, d).max(initial=0.0)
        gram += own / largest if largest > 0 else 0.0
    values, vectors = np.linalg.eigh(gram)
    root = (vectors * np.sqrt(values.clip(0.0))).T  # rootᵀ root = gram, so that |root d| is the size of displacements
    left, size, right = np.linalg.svd(d @ root.T, full_matrices=False)
    tail = np.sqrt(np.cumsum(((left * size) ** 2)[:, ::-1], axis=1)[:, ::-1].max(axis=0))  # left out from each on
    count = int(np.count_nonzero(tail > LEFT_OUT * tail[0])) if len(tail) else 0
    return np.asarray(np.linalg.pinv(root, rcond=1e-9) @ right[:count].T), np.asarray(right[:count] @ root)


def stretched(drawing: Drawing) -> list[dict[str, Any]]:
    """Springs, dampers and massless rods: a solid, and the affine map (12 numbers, by columns) of each frame."""
    shown, look, system = drawing.shown, drawing.look, drawing.system
    out = []
    frames = range(len(shown.t))
    every = [[rods([j], shown, k, look) for k in frames] for j in system.joints if rods([j], shown, 0, look)]
    every += [[springs([f], shown, k, look) for k in frames] for f in system.forces if springs([f], shown, 0, look)]
    for history in every:
        for n, first in enumerate(history[0]):
            out.append(_stretching(first, [one[n] if len(one) > n else first for one in history]))
    return out


def _stretching(first: Surface, history: Sequence[Surface]) -> dict[str, Any]:
    middle = first.points.mean(axis=0)
    known = np.column_stack([first.points - middle, np.ones(len(first.points))])
    inverse = np.linalg.pinv(known, rcond=1e-6)
    maps = np.array([inverse @ (s.points if s.points.shape == first.points.shape else first.points) for s in history])
    owner, triangles = split(first.points, first.triangles)
    return {
        "points": shorts((first.points - middle).T),
        "corners": integers(owner),
        "triangles": integers(triangles),
        "color": first.color,
        "lit": first.closed,
        "maps": floats(maps.reshape(len(history), 12)),
    }
