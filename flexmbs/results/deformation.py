"""How flexible bodies deform: offsets from a chord, nodal displacements, drawn shapes, and whether they are small."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from flexmbs.bodies.body import Frame
from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.reduction.interfaces import frame_rows
from flexmbs.system.free_motions import free_motions
from flexmbs.system.system import System

Array = NDArray[np.float64]

LARGEST_TURN = 0.2
"""Rotation [rad] of a frame in the floating frame beyond which deformation is no longer small."""
LARGEST_SHIFT = 0.15
"""Displacement, over the body's size, beyond which deformation is no longer small."""
LEAST_MASS = 0.02
"""Share of the mass of any motion that must be left where a body is deformed."""
LOOKED_AT = 40
"""Instants, of those that may be too large, whose displacements are computed at every node."""


def chord_axes(along: Array) -> Array:
    """Axes (time, 3, 3) as columns, x along a chord (time, 3), y as near to the plane x, y of the body as can be."""
    x = along / np.linalg.norm(along, axis=1, keepdims=True)
    up = np.array([0.0, 0.0, 1.0]) if abs(x[0, 2]) < 0.9 else np.array([0.0, 1.0, 0.0])
    y = np.cross(up, x)
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    return np.stack([x, y, np.cross(x, y)], axis=2)


def left_out(frame: Frame) -> Array | None:
    """What elastic coordinates leave out of a frame's displacement (3, cases) under the unit loads of its body.

    None where it is not known: the body was loaded from a file, or has no nodes at the frame.
    """
    body = frame.body
    if not isinstance(body, FlexibleBody) or body.reduced.part is None or not frame.shapes.any():
        return None
    reduced, part = body.reduced, body.reduced.part
    for name, own in reduced.frames.items():
        if name in reduced.mesh.sets and np.array_equal(frame.shapes, np.vstack([own.displacement, own.rotation])):
            return np.asarray(frame_rows(part, name)[1] @ reduced.cases.residual)[:3]
    node = reduced.mesh.nearest_node(frame.position)
    same = body.at(*frame.position)  # the same place, found through its nearest node
    if not np.allclose(frame.shapes, same.shapes, rtol=1e-9, atol=1e-12 * np.abs(frame.shapes).max()):
        return None
    position, rows = frame_rows(part, node)
    values = np.asarray(rows @ reduced.cases.residual)
    return np.asarray(values[:3] + np.cross(values[3:], frame.position - position, axisa=0).T)


def from_chord(places: Sequence[Array], shifts: Sequence[Array]) -> Array:
    """How far a frame left its place relative to the chord of two others (time, 3), in the chord's axes.

    ``places`` (3,) and ``shifts`` (time, 3) in body axes are of the frame, and of the chord's start and end.
    """
    seen = []
    for deformed in (0.0, 1.0):
        c, a, b = (place + deformed * shift for place, shift in zip(places, shifts, strict=True))
        turn = chord_axes(np.atleast_2d(b - a))
        seen.append(np.einsum("tji,tj->ti", turn, np.atleast_2d(c - a)))
    return np.asarray(seen[1] - seen[0])


def nodal(body: FlexibleBody, d: Array, factors: Array | None = None) -> Array:
    """Displacements (time, nodes, 3) in body axes of elastic coordinates (time, modes), and factors of unit loads."""
    reduced = body.reduced
    full = d @ reduced.basis.T
    if factors is not None:
        full = full + factors @ reduced.cases.residual.T
    full = full.reshape(len(d), reduced.mesh.n_nodes, -1)
    out = np.zeros((len(d), reduced.mesh.n_nodes, 3))
    out[:, :, : reduced.axes] = full[:, :, : reduced.axes]
    return out


def exaggerated(points: Array, moved: Array, scale: float, places: Array, shifts: Array, turns: Array) -> Array:
    """Displacements (nodes, 3) drawn ``scale`` times as large, without moving the places at which the body is held.

    What is scaled is measured from a rigid motion through the places (k, 3), which move by shifts and turn by turns,
    and from what is left of their displacements, spread by distance.
    """
    if scale == 1.0:
        return moved
    if not len(places):
        return scale * moved
    middle, mean = places.mean(axis=0), shifts.mean(axis=0)
    turn = turns[0]
    if len(places) > 1:
        arms = places - middle
        rows = np.zeros((len(places), 3, 3))  # φ × arm = rows φ
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            rows[:, i, j], rows[:, i, k] = arms[:, k], -arms[:, j]
        turn = np.linalg.lstsq(rows.reshape(-1, 3), (shifts - mean).ravel(), rcond=1e-9)[0]
    left = shifts - mean - np.cross(turn, places - middle)
    distance = np.sum((points[:, None, :] - places) ** 2, axis=2)
    nearness = 1.0 / np.maximum(distance, 1e-24 * max(float(distance.max()), 1e-300))
    spread = (nearness / nearness.sum(axis=1, keepdims=True)) @ left
    carried = mean + np.cross(turn, points - middle) + spread
    return np.asarray(carried + scale * (moved - carried))


def too_large(body: FlexibleBody, t: Array, d: Array) -> list[str]:
    """In words, where and when a body deforms more than the theory of small deformation allows."""
    out: list[str] = []
    reduced = body.reduced
    if not len(d):
        return out
    if not np.isfinite(d).all():
        broken = int(np.argmin(np.isfinite(d).all(axis=1)))
        return [f"{body.name}: elastic coordinates are not finite at t = {t[broken]:.6g} s."]
    turns = {name: np.linalg.norm(d @ frame.rotation.T, axis=1) for name, frame in reduced.frames.items()}
    worst = max(turns, key=lambda name: turns[name].max(), default=None)
    if worst is not None and turns[worst].max() > LARGEST_TURN:
        history = turns[worst]
        first = np.argmax(history > LARGEST_TURN)
        out.append(
            f"{body.name}: {worst!r} turns by {history.max():.3g} rad at t = {t[history.argmax()]:.6g} s in the "
            f"floating frame (more than {LARGEST_TURN} rad first at t = {t[first]:.6g} s){_ADVICE}"
        )
    limit = LARGEST_SHIFT * reduced.mesh.size
    bound = np.abs(d) @ body.modal_lengths  # no node can move farther
    suspects = np.flatnonzero(bound > limit)
    if len(suspects) > LOOKED_AT:
        spread = suspects[np.linspace(0, len(suspects) - 1, LOOKED_AT).astype(int)]
        suspects = np.union1d(spread, [bound.argmax()])
    largest, node, when = 0.0, 0, 0
    for k in suspects:
        size = np.linalg.norm(nodal(body, d[k : k + 1])[0], axis=1)
        if size.max() > largest:
            largest, node, when = float(size.max()), int(size.argmax()), int(k)
    if largest > limit:
        x, y, z = reduced.mesh.points[node]
        out.append(
            f"{body.name}: node {node} at ({x:.4g}, {y:.4g}, {z:.4g}) moves by {largest:.3g} m at t = {t[when]:.6g} s "
            f"in the floating frame, {largest / reduced.mesh.size:.0%} of the body's size{_ADVICE}"
        )
    return out


def lost_masses(system: System, body: FlexibleBody, states: tuple[Array, Array, Array, Array], d: Array) -> list[str]:
    """In words, whether deformation has taken masses away, at its largest; states are t, q, v, angles.

    A floating frame that vibrates along, such as one on a hinge, leaves terms out that count there; see ``shortening``.
    """
    if body.shortening is None or not len(d) or not np.isfinite(d).all():
        return []
    b, k = system.body_number(body), int(np.argmax(np.abs(d) @ body.modal_lengths))
    t, q, v, angles = (x[k] for x in states)
    straight = q.copy()
    straight[int(system.layout.body_q[b + 1]) - body.modes : int(system.layout.body_q[b + 1])] = 0.0
    own = slice(int(system.layout.body_v[b]), int(system.layout.body_v[b + 1]))
    bent, still = (system.equations(float(t), x, v, angles) for x in (q, straight))
    if _share(bent.M[own, own].toarray(), still.M[own, own].toarray()) > LEAST_MASS:
        return []
    dense = bent.dense()  # joints may hold what would move so
    free = free_motions(system, dense.J).all
    if _share(free.T @ dense.M @ free, free.T @ still.dense().M @ free) > LEAST_MASS:
        return []
    return [
        f"{body.name}: it is deformed too much for its floating frame ({body.reduced.reference}) at t = {t:.6g} s: "
        'masses vanish, and the motion may blow up. Take frame="mean", or fewer modes.'
    ]


def _share(mass: Array, of: Array) -> float:
    """The smallest share that some motion has of the mass that it had; 1 where it never had any."""
    try:
        return float(scipy.linalg.eigh(mass, of, eigvals_only=True)[0])
    except np.linalg.LinAlgError:
        return 1.0


_ADVICE = (
    "; deformation is taken as small, so that results become inaccurate: cut the body into several with fixed joints."
)
