"""Toothed wheels: couplings of two angles about parallel axes, drawn so that their teeth mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import GROUND
from flexmbs.joints.drives import Coupling
from flexmbs.joints.joint import Measure
from flexmbs.joints.measures import ANGLE
from flexmbs.view.joint_pieces import Stock
from flexmbs.view.look import Piece, grown, mixed
from flexmbs.view.solids import Solid, circle, merged

Array = NDArray[np.float64]

FEWEST = range(14, 31)
"""Teeth that the smallest wheel may have: so many that all others have whole numbers, as nearly as can be."""


@dataclass(frozen=True, eq=False)
class Wheel:
    """A wheel about the second frame of an angle: pitch ``radius``, ``ring`` with teeth inside, and the angle [rad] of
    the middle of a tooth in the first frame at the start.
    """

    angle: Measure
    radius: float
    ring: bool
    tooth: float


def gear_pieces(joints: Sequence[Any], stock: Stock) -> list[Piece]:
    """Wheels of all couplings between two angles on one body, for bodies without a shape."""
    wheels: dict[tuple[int, bool], Wheel] = {}
    pairs = [pair for joint in joints if (pair := _pair(joint, stock)) is not None]
    if not pairs:
        return []
    module = _module([radius for pair in pairs for _, radius, _ in pair])
    for one, other in pairs:  # the first that is known gives the place of the teeth of the second
        if _key(other, stock) in wheels and _key(one, stock) not in wheels:
            one, other = other, one
        first = wheels.setdefault(_key(one, stock), Wheel(*one, 0.0))
        wheels.setdefault(_key(other, stock), Wheel(*other, _meshing(first, other, module, stock)))
    return [piece for wheel in wheels.values() for piece in _wheel(wheel, module, stock)]


def _key(side: tuple[Measure, float, bool], stock: Stock) -> tuple[int, bool]:
    return stock.number(side[0].frame_j), side[2]


def _pair(joint: Any, stock: Stock) -> tuple[tuple[Measure, float, bool], tuple[Measure, float, bool]] | None:
    """Angles, pitch radii and whether it is a ring, of both wheels of a coupling; None for what are no wheels."""
    if not isinstance(joint, Coupling) or len(joint.terms) != 2:
        return None
    (factor_a, a), (factor_b, b) = joint.terms
    if a.kind != ANGLE or b.kind != ANGLE or a.frame_i.body is not b.frame_i.body or not factor_a * factor_b:
        return None
    axes = [m.frame_i.axes @ np.cross(m.a, m.a2) for m in (a, b)]
    apart = b.frame_i.position - a.frame_i.position
    distance = float(np.linalg.norm(apart - (apart @ axes[0]) * axes[0]))
    parallel = float(axes[0] @ axes[1])
    if abs(parallel) < 0.999 or distance < 1e-9 * stock.look.size:
        return None
    ratio = parallel * float(factor_b) / float(factor_a)  # radius of b over that of a; negative: one is a ring
    if ratio > 0:
        return (a, distance / (1 + ratio), False), (b, distance * ratio / (1 + ratio), False)
    ratio = -ratio
    if abs(ratio - 1) < 1e-6:
        return None  # a belt, or the like
    size = distance / abs(ratio - 1)
    return (a, size, ratio < 1), (b, size * ratio, ratio > 1)


def _module(radii: Sequence[float]) -> float:
    """Diameter over number of teeth, for which all numbers are nearly whole."""
    least = min(radii)
    sizes = np.array(radii) / least
    misfit = [np.abs(n * sizes - np.round(n * sizes)).max() + 1e-3 * n for n in FEWEST]
    return 2 * least / FEWEST[int(np.argmin(misfit))]


def _plane(wheel: Measure) -> Array:
    """The first frame's body axes across the wheel, as columns; the third is its axis."""
    return np.asarray(wheel.frame_i.axes @ np.column_stack([wheel.a, wheel.a2, np.cross(wheel.a, wheel.a2)]))


def _meshing(first: Wheel, other: tuple[Measure, float, bool], module: float, stock: Stock) -> float:
    """Where a tooth of the other wheel is, such that it stands in a gap of the first."""
    angle, radius, ring = other
    here, there = _plane(first.angle), _plane(angle)
    way = angle.frame_i.position - first.angle.frame_i.position
    if ring or first.ring:  # inside: both see the contact in one direction, from the ring to the wheel
        way = -way if ring else way
        seen = [np.arctan2(way @ t[:, 1], way @ t[:, 0]) for t in (here, there)]
        sense = float(here[:, 2] @ there[:, 2])
    else:
        seen = [np.arctan2(w @ t[:, 1], w @ t[:, 0]) for w, t in ((way, here), (-way, there))]
        sense = -float(here[:, 2] @ there[:, 2])
    pitch = np.pi * module
    beyond = first.radius * (first.tooth - seen[0]) + pitch / 2  # way along the pitch circle to a gap
    return float(seen[1] + sense * beyond / radius)


def _wheel(wheel: Wheel, module: float, stock: Stock) -> list[Piece]:
    """Pieces of a wheel, in its body's axes."""
    frame = wheel.angle.frame_j
    number = stock.number(frame)
    if frame.body.shape:
        return []
    look = stock.look
    count = max(round(2 * wheel.radius / module), 6)
    start = float(_value(wheel.angle, stock))
    color = stock.colors[number] if frame.body.kind != GROUND else "#8d969e"
    # the wheel's own axes: turned back by the angle at the start
    axes = frame.axes @ np.column_stack(
        [
            wheel.angle.b,
            np.cross(np.cross(wheel.angle.a, wheel.angle.a2), wheel.angle.b),
            np.cross(wheel.angle.a, wheel.angle.a2),
        ]
    )
    outline = _teeth(wheel.radius, count, module, wheel.tooth - start, wheel.ring)
    rim = circle((0.0, 0.0), wheel.radius + 3.2 * module, len(outline)) if wheel.ring else None
    if look.flat:
        height = stock.heights[number] + 0.05 * look.layer
        line = 0.05 * look.width
        beneath = grown(outline, -line if wheel.ring else line)
        outer = None if rim is None else rim * (1 + line / wheel.radius)
        place = np.array([*frame.position[:2], 0.0])
        flat = [(beneath, outer, height - 0.2 * look.layer, mixed(color, "#000000", 0.45), False)]
        flat.append((outline, rim, height, mixed(color, "#ffffff", 0.22), True))
        return [Piece(number, _face(o, r, z).moved(place, axes), c, lit=False, own=own) for o, r, z, c, own in flat]
    half = 0.45 * look.width
    solid = _thick(outline, rim, half)
    lift = np.array([0.0, 0.0, stock.heights[number]])
    return [Piece(number, solid.moved(frame.position + lift, axes), color, own=True)]


def _value(angle: Measure, stock: Stock) -> float:
    """The angle at the start, from poses alone."""
    rotations = [stock.poses.axes(f, 0) for f in (angle.frame_i, angle.frame_j)]
    b = rotations[1] @ angle.b
    return float(np.arctan2((rotations[0] @ angle.a2) @ b, (rotations[0] @ angle.a) @ b))


def _teeth(radius: float, count: int, module: float, first: float, ring: bool) -> Array:
    """Outline of a wheel: four corners for each tooth, and two in each gap."""
    pitch = 2 * np.pi / count
    tip, root = (radius - module, radius + 1.2 * module) if ring else (radius + module, radius - 1.2 * module)
    shares = np.array([-0.5, -0.36, -0.13, 0.13, 0.36])
    radii = np.array([root, root, tip, tip, root])
    phi = first + pitch * (np.arange(count)[:, None] + shares).ravel()
    return np.tile(radii, count)[:, None] * np.column_stack([np.cos(phi), np.sin(phi)])


def _face(outline: Array, rim: Array | None, height: float) -> Solid:
    """The flat of a wheel: a fan about its middle, or a band between teeth and rim."""
    n = len(outline)
    k, nxt = np.arange(n), (np.arange(n) + 1) % n
    if rim is None:
        points = np.column_stack([np.vstack([outline, [[0.0, 0.0]]]), np.full(n + 1, height)])
        return Solid(points, np.stack([k, nxt, np.full(n, n)], axis=1))
    phi = np.arctan2(outline[:, 1], outline[:, 0])
    outer = np.linalg.norm(rim[0]) * np.column_stack([np.cos(phi), np.sin(phi)])
    points = np.column_stack([np.vstack([outline, outer]), np.full(2 * n, height)])
    return Solid(points, np.concatenate([np.stack([k, n + k, n + nxt], axis=1), np.stack([k, n + nxt, nxt], axis=1)]))


def _thick(outline: Array, rim: Array | None, half: float) -> Solid:
    """A wheel from -half to half along its axis."""
    top, bottom = _face(outline, rim, half), _face(outline, rim, -half)
    n = len(outline)
    k, nxt = np.arange(n), (np.arange(n) + 1) % n
    total = len(top.points)
    both = np.concatenate([bottom.points, top.points])
    sides = [np.stack([k, nxt, total + nxt], axis=1), np.stack([k, total + nxt, total + k], axis=1)]
    if rim is not None:
        sides = [s[:, ::-1] for s in sides]
        sides += [
            np.stack([n + k, n + nxt, total + n + nxt], axis=1),
            np.stack([n + k, total + n + nxt, total + n + k], axis=1),
        ]
    return merged([Solid(both, np.concatenate([bottom.triangles[:, ::-1], top.triangles + total, *sides]))])
