"""What changes its form as the mechanism moves: springs, dampers, massless rods, arrows, triads and traces."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import Frame
from flexmbs.forces.applied import AppliedForce
from flexmbs.forces.body_load import BodyLoad
from flexmbs.forces.bushing import Bushing
from flexmbs.forces.springs import SpringDamper
from flexmbs.joints.measures import ANGLE, DISTANCE
from flexmbs.joints.spatial import Distance
from flexmbs.profiles import Profile
from flexmbs.view.look import AXES, SPRING, STEEL, Look, mixed
from flexmbs.view.poses import Poses
from flexmbs.view.scene import Lines, Surface
from flexmbs.view.solids import Solid, arrow, ball, coil, cylinder, merged, sheet, stroke, tube

Array = NDArray[np.float64]


def rods(joints: Sequence[Any], poses: Poses, k: int, look: Look) -> list[Surface]:
    """The massless rods of distances."""
    out = []
    for joint in joints:
        if isinstance(joint, Distance):
            a, b = (poses.point(f, k) for f in (joint.frame_i, joint.frame_j))
            if look.flat:
                solid, lit = sheet(stroke(a, b, 0.2 * look.width), 0.4 * look.layer), False
            else:
                solid, lit = cylinder(a, b, 0.12 * look.width, 16), True
            out.append(Surface(solid.points, solid.triangles, STEEL, closed=lit))
    return out


def springs(forces: Sequence[Any], poses: Poses, k: int, look: Look) -> list[Surface]:
    """Springs as coils (in the plane zigzags), dampers as pots, torsion springs as spirals, bushings as rings."""
    out = []
    for force in forces:
        if isinstance(force, SpringDamper):
            out += _spring(force, poses, k, look)
        elif isinstance(force, Bushing):
            solid = ball(poses.point(force.frame_j, k), 0.4 * look.width)
            out.append(Surface(solid.points, solid.triangles, mixed(SPRING, "#ffffff", 0.3), closed=not look.flat))
    return out


def _spring(force: SpringDamper, poses: Poses, k: int, look: Look) -> list[Surface]:
    measure, w = force.measure, look.width
    a, b = poses.point(measure.frame_i, k), poses.point(measure.frame_j, k)
    stiff = isinstance(force.stiffness, Profile) or force.stiffness != 0
    if measure.kind == ANGLE:
        axes = np.column_stack([measure.a, measure.a2, np.cross(measure.a, measure.a2)])
        solids = [_spiral(b, poses.axes(measure.frame_i, k) @ axes, look)]
    elif measure.kind != DISTANCE and np.linalg.norm(b - a) < 0.5 * w:
        return []
    elif look.flat:
        solids = _flat_spring(a, b, stiff, look)
    else:
        solids = [coil(a, b, 0.42 * w, 0.075 * w)] if stiff else _pot(a, b, look)
    return [Surface(s.points, s.triangles, SPRING, closed=not look.flat) for s in solids]


def _flat_spring(a: Array, b: Array, stiff: bool, look: Look) -> list[Solid]:
    w, z = look.width, 0.7 * look.layer
    length = float(np.linalg.norm(b - a))
    along = (b - a) / max(length, 1e-300)
    across = np.array([-along[1], along[0], 0.0])
    if not stiff:
        return [sheet(stroke(a, a + 0.6 * (b - a), 0.5 * w), z), sheet(stroke(a + 0.3 * (b - a), b, 0.14 * w), z)]
    teeth = 9
    s = np.concatenate([[0.0, 0.12], 0.12 + 0.76 * (np.arange(2 * teeth) + 0.5) / (2 * teeth), [0.88, 1.0]])
    side = np.concatenate([[0.0, 0.0], np.tile([1.0, -1.0], teeth), [0.0, 0.0]])
    path = a + length * s[:, None] * along + 0.45 * w * side[:, None] * across
    strokes = [sheet(stroke(p, q, 0.11 * w), z) for p, q in pairwise(path)]
    return [merged(strokes)]


def _pot(a: Array, b: Array, look: Look) -> list[Solid]:
    w = look.width
    return [cylinder(a, a + 0.6 * (b - a), 0.3 * w), cylinder(a + 0.55 * (b - a), b, 0.11 * w)]


def _spiral(center: Array, axes: Array, look: Look) -> Solid:
    s = np.linspace(0.0, 1.0, 90)
    radius, phi = look.width * (0.35 + 0.6 * s), 2 * np.pi * 2.5 * s
    lift = np.full_like(s, 0.8 * look.layer if look.flat else 0.6 * look.width)
    path = center + np.column_stack([radius * np.cos(phi), radius * np.sin(phi), lift]) @ axes.T
    return tube(path, 0.05 * look.width, 8)


def loads(forces: Sequence[Any], poses: Poses, k: int) -> list[tuple[Array, Array]]:
    """Points and vectors of the applied forces at the k-th time."""
    out = []
    for force in forces:
        if isinstance(force, AppliedForce):
            values = np.array([float(np.asarray(p.value(poses.t[k]))) for p in force.times[:3]])
            if force.follows:
                values = poses.axes(force.frame, k) @ values
            out.append((poses.point(force.frame, k), values))
        elif isinstance(force, BodyLoad):
            turned = (
                float(np.asarray(force.profile.value(poses.t[k]))) * poses.pose(poses.number(force.body.at()), k)[1]
            )
            out += [(poses.point(frame, k), turned @ push) for frame, push, _ in force.wrenches]
    return out


def arrows(vectors: Sequence[tuple[Array, Array]], scale: float, color: str, look: Look) -> list[Surface]:
    """Arrows at points, ``scale`` [m] long for a unit."""
    lift = np.array([0.0, 0.0, 2 * look.width * look.flat])
    solids = [arrow(p + lift, scale * v, 0.1 * look.width) for p, v in vectors]
    whole = merged([s for s in solids if len(s.points)])
    return [Surface(whole.points, whole.triangles, color, closed=not look.flat)] if len(whole.points) else []


def triads(frames: Sequence[Frame], poses: Poses, k: int, look: Look) -> list[Surface]:
    """The axes of frames: x red, y green, z blue."""
    out = []
    for frame in frames:
        origin, axes = poses.point(frame, k), poses.axes(frame, k)
        lift = np.array([0.0, 0.0, 2 * look.width * look.flat])
        for a, color in zip(axes.T, AXES, strict=True):
            s = arrow(origin + lift, 2.2 * look.width * a, 0.07 * look.width)
            out.append(Surface(s.points, s.triangles, color))
    return out


def trace(path: Array, color: str, look: Look, pale: bool = False) -> list[Lines]:
    """The way of a point (time, 3)."""
    far = np.linalg.norm(np.diff(path, axis=0), axis=1) > 1e-6 * look.width  # where it rests there is no line
    path = path[np.concatenate([[True], far])]
    if len(path) < 2:
        return []
    index = np.arange(len(path) - 1)
    segments = np.stack([index, index + 1], axis=1)
    shade = mixed(color, "#ffffff", 0.55) if pale else color
    lifted = path - np.array([0.0, 0.0, (1.0 + pale) * look.width * look.flat])
    return [Lines(lifted, segments, "trace", shade, 3.5 if pale else 5.0)]
