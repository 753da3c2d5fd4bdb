"""Bodies as pieces: their own shapes, or links between the points at which joints and springs hold them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import GROUND, PLANAR, POINT, Body, Frame
from flexmbs.bodies.shapes import Ball, Box, Cylinder, Plate
from flexmbs.forces.contact import SphereOnPlane, SphereOnSphere
from flexmbs.joints import planar
from flexmbs.joints.joint import Joint
from flexmbs.joints.spatial import RollingDisc
from flexmbs.mesh.mesh import Mesh
from flexmbs.rotations import as_pose_rotation, axis_vector, triad
from flexmbs.system.system import System
from flexmbs.view.look import DARK, Look, Piece, flat_piece, mixed
from flexmbs.view.skin import skin
from flexmbs.view.solids import Solid, ball, box, circle, cylinder, merged, plate, rounded, stroke

Array = NDArray[np.float64]


@singledispatch
def solid(shape: Any) -> Solid:
    """Triangles of a shape, in body axes."""
    raise NotImplementedError(type(shape).__name__)


@solid.register
def _(shape: Box) -> Solid:
    return box(shape.size, shape.center, as_pose_rotation(shape.axes))


@solid.register
def _(shape: Cylinder) -> Solid:
    half = shape.length / 2 * axis_vector(shape.axis)
    return cylinder(np.asarray(shape.center) - half, np.asarray(shape.center) + half, shape.radius, 48)


@solid.register
def _(shape: Ball) -> Solid:
    return ball(shape.center, shape.radius)


@solid.register
def _(shape: Plate) -> Solid:
    return plate(shape.outline, -shape.thickness / 2, shape.thickness / 2)


@solid.register
def _(shape: Mesh) -> Solid:
    part = skin(shape)
    return Solid(part.at(shape.points), part.triangles)


def is_seen(body: Body) -> bool:
    """Whether a body is a thing: coordinates without mass, such as those of contacts, are not."""
    return body.kind == GROUND or bool(body.shape) or body.mass_parameters[0] > 0


def held_at(system: System, body: Body) -> list[tuple[Any, Frame]]:
    """Joints and forces that hold a body, with the frames at which they do."""
    found: list[tuple[Any, Frame]] = []
    for item in system.joints:
        if isinstance(item, Joint):
            found += [(item, f) for f in (item.frame_i, item.frame_j) if f.body is body]
    for item in system.forces:
        found += [(item, f) for f in getattr(item, "frames", ()) if f is not None and f.body is body]
    return found


def body_pieces(system: System, body: Body, number: int, color: str, height: float, look: Look) -> list[Piece]:
    """All pieces of a body; planar ones at a height over the plane of the picture."""
    if body.shape:
        if look.flat:
            return [p for s in body.shape for p in _flat_shape(s, number, color, height, look)]
        return [Piece(number, solid(s), color, own=True) for s in body.shape]
    if body.kind == GROUND or not is_seen(body):
        return []
    held = held_at(system, body)
    round_one = _round(body, number, held, color, height, look)
    slides = body.kind == PLANAR and any(isinstance(j, planar.Prismatic) for j, _ in held)
    if round_one and not (slides and any(hasattr(j, "curve_i") for j, _ in held)):
        return round_one
    if body.kind == POINT:
        size = (0.62 if look.flat else 0.8) * look.width
        if look.flat:
            return flat_piece(number, circle((0.0, 0.0), size), height, color, look, own=True)
        return [Piece(number, ball((0.0, 0.0, 0.0), size), color, own=True)]
    center = body.mass_parameters[1]
    points = _distinct([f.position for _, f in held], 0.02 * look.width)
    if body.kind == PLANAR:
        height = 0.35 * look.layer if round_one else height  # a follower, beneath its cam
        return [*round_one, *_planar_link(number, held, points, center, color, height, look)]
    return _spatial_link(body, number, points, center, color, look)


def _flat_shape(shape: Any, number: int, color: str, height: float, look: Look) -> list[Piece]:
    if isinstance(shape, Plate):
        return flat_piece(number, np.asarray(shape.outline, dtype=float), height, color, look, own=True)
    if isinstance(shape, Mesh):
        part = skin(shape)
        fill = mixed(color, "#ffffff", 0.22)
        points = part.at(shape.points) + np.array([0.0, 0.0, height])
        return [Piece(number, Solid(points, part.triangles), fill, lit=False, own=True)]
    if isinstance(shape, Ball) or (isinstance(shape, Cylinder) and abs(axis_vector(shape.axis)[2]) > 0.999):
        return _flat_disc(number, np.asarray(shape.center, dtype=float), shape.radius, color, height, look)
    return flat_piece(number, rounded(solid(shape).points[:, :2], 1e-3 * look.width), height, color, look, own=True)


def _flat_disc(number: int, center: Array, radius: float, color: str, height: float, look: Look) -> list[Piece]:
    """A disc with marks, so that its rotation is seen."""
    pieces = flat_piece(number, circle(center, radius), height, color, look, own=True)
    pale, up = mixed(color, "#ffffff", 0.7), height + 0.2 * look.layer
    from_middle = [np.array([np.cos(a), np.sin(a), 0.0]) for a in np.arange(4) * np.pi / 2]
    for k, ray in enumerate(from_middle):
        size = 0.14 * radius
        mark = circle(center + 0.62 * radius * ray, size)
        pieces.append(Piece(number, Solid(*plate(mark, up, up)), DARK if k == 0 else pale, lit=False))
    return pieces


def _round(body: Body, number: int, held: Sequence[Any], color: str, height: float, look: Look) -> list[Piece]:
    """A body known by how it rolls or touches: a disc or a ball."""
    for item, frame in held:
        if hasattr(item, "curve_i"):
            curve = item.curve_i if frame is item.frame_i else item.curve_j
            return _curved(number, frame, curve, color, height, look)
        if isinstance(item, planar.Rolling) and frame is item.frame_j:
            if look.flat:
                return _flat_disc(number, frame.position, item.radius, color, height, look)
            return _disc(number, frame.position, np.array([0.0, 0.0, 1.0]), item.radius, color)
        if isinstance(item, RollingDisc) and frame is item.frame_j:
            return _disc(number, frame.position, frame.axes @ axis_vector(item.axis), item.radius, color)
        if isinstance(item, SphereOnPlane | SphereOnSphere):
            radius = item.radii[0] if frame is item.frame_i else abs(item.radii[1])
            if frame is item.frame_i and item.radii[1] < 0:
                continue  # it holds the other inside: a ring
            if radius > 0 and look.flat:
                return _flat_disc(number, frame.position, radius, color, height, look)
            if radius > 0:
                return [Piece(number, ball(frame.position, radius), color, own=True)]
    return []


def _curved(number: int, frame: Frame, curve: Any, color: str, height: float, look: Look) -> list[Piece]:
    """A cam or follower with the outline of its curve; what is open is drawn as a strip along it."""
    first, last = curve.span
    s = np.linspace(first, last, 121)
    points = frame.position[:2] + curve.point(s) @ frame.axes[:2, :2].T
    closed = np.linalg.norm(points[0] - points[-1]) < 1e-3 * np.ptp(points, axis=0).max()
    outlines = [points[:-1]]
    if not closed:  # it has no end of its own; it lies beneath, so that it does not cover what it touches
        points = points[np.linalg.norm(points - points[60], axis=1) <= 4.0 * look.width]
        outlines = [stroke(a, b, 0.5 * look.width) for a, b in pairwise(points[:: len(points) - 1])]
        height = 0.3 * look.layer
    if look.flat:
        return [p for o in outlines for p in flat_piece(number, o, height, color, look, own=True)]
    low = height - 0.4 * look.layer
    return [Piece(number, plate(o, low, low + 0.8 * look.layer), color, own=True) for o in outlines]


def _disc(number: int, center: Array, axis: Array, radius: float, color: str) -> list[Piece]:
    t = triad(axis)
    half = 0.05 * radius * axis
    pieces = [Piece(number, cylinder(center - half, center + half, radius, 64), color, own=True)]
    marks = []
    for k in range(4):
        spot = center + 0.62 * radius * (np.cos(k * np.pi / 2) * t[:, 0] + np.sin(k * np.pi / 2) * t[:, 1])
        marks.append(cylinder(spot - 1.08 * half, spot + 1.08 * half, 0.14 * radius))
    pieces.append(Piece(number, marks[0], DARK))
    pieces.append(Piece(number, merged(marks[1:]), mixed(color, "#ffffff", 0.75)))
    return pieces


def _planar_link(
    number: int, held: Sequence[Any], points: list[Array], center: Array, color: str, height: float, look: Look
) -> list[Piece]:
    """A plate around the joints; a block for what only slides; a disc for what only turns about its mass centre."""
    slides = [(j, f) for j, f in held if isinstance(j, planar.Prismatic) and f is j.frame_j]
    if slides and len(points) <= 1:
        joint, frame = slides[0]
        along = frame.axes @ joint.direction
        across = np.array([-along[1], along[0], 0.0])
        corners = [1.15 * look.width * i * along + 0.7 * look.width * j * across for i in (-1, 1) for j in (-1, 1)]
        outline = rounded(np.array(corners)[:, :2] * 0.86 + frame.position[:2], 0.1 * look.width)
    else:
        if len(points) <= 1:
            points = _distinct([*points, center], 0.02 * look.width)
        outline = rounded(np.array(points)[:, :2], (0.5 if len(points) > 1 else 1.0) * look.width)
    if look.flat:
        pieces = flat_piece(number, outline, height, color, look, own=True)
        if len(held) == 1 and len(points) == 2:  # a pendulum: its mass at the end
            pieces += flat_piece(
                number, circle(center, 0.95 * look.width), height + 0.1 * look.layer, color, look, own=True
            )
        return pieces
    low = height - 0.4 * look.layer
    return [Piece(number, plate(outline, low, low + 0.8 * look.layer), color, own=True)]


def _spatial_link(body: Body, number: int, points: list[Array], center: Array, color: str, look: Look) -> list[Piece]:
    """Rods between the joints, or from the mass centre to them; a box of the same inertia for what has neither."""
    apart = [p for p in points if np.linalg.norm(p - center) > 0.3 * look.width]
    if not apart:
        return [Piece(number, equal_box(body, look), color, own=True)]
    rod = 0.24 * look.width
    if len(points) == 2:
        solids = [cylinder(points[0], points[1], rod)]
        off_line = np.linalg.norm(np.cross(points[1] - points[0], center - points[0]))
        if off_line > 0.3 * look.width * np.linalg.norm(points[1] - points[0]):
            solids += [cylinder((points[0] + points[1]) / 2, center, rod), ball(center, 0.6 * look.width)]
    else:
        solids = [cylinder(center, p, rod) for p in apart] + [ball(center, 0.6 * look.width)]
    return [Piece(number, merged(solids), color, own=True)]


def equal_box(body: Body, look: Look) -> Solid:
    """The box with the body's mass and principal moments, within reason."""
    mass, center, inertia = body.mass_parameters
    central = inertia - mass * (center @ center * np.eye(3) - np.outer(center, center))
    moments, axes = np.linalg.eigh(central)
    edges = np.sqrt(np.clip(6 / mass * (moments.sum() - 2 * moments), 0.0, None))
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    return box(np.clip(edges, 0.5 * look.width, 0.6 * look.size), center, axes)


def _distinct(points: Sequence[Array], apart: float) -> list[Array]:
    kept: list[Array] = []
    for p in points:
        if all(np.linalg.norm(p - q) > apart for q in kept):
            kept.append(np.asarray(p, dtype=float))
    return kept
