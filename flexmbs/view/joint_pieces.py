"""Joints as pieces, by kind: pins, rails, balls, crosses, rods; and what holds them to the ground."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import GROUND, Frame
from flexmbs.forces.contact import SphereOnPlane, SphereOnSphere
from flexmbs.forces.springs import SpringDamper
from flexmbs.joints import planar, spatial
from flexmbs.joints.drives import Drive
from flexmbs.joints.joint import Joint
from flexmbs.joints.measures import ANGLE, DISTANCE
from flexmbs.rotations import axis_vector, triad
from flexmbs.view.look import ACCENT, DARK, PALE, STEEL, Look, Piece, flat_piece
from flexmbs.view.look import GROUND as GROUND_COLOR
from flexmbs.view.poses import Poses
from flexmbs.view.solids import (
    Solid,
    arc_arrow,
    ball,
    box,
    circle,
    cylinder,
    merged,
    plate,
    rounded,
    sheet,
    stroke,
    tube,
)

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Stock:
    """What joints need to know of the mechanism they are drawn in.

    ``heights`` of planar bodies over the plane, ``colors`` and own ``pieces`` of all bodies, by number.
    """

    poses: Poses
    look: Look
    heights: list[float]
    colors: list[str]
    pieces: list[list[Piece]]

    def number(self, frame: Frame) -> int:
        """Of the frame's body."""
        return self.poses.number(frame)

    def travel(self, joint: Any, direction: Array) -> tuple[float, float]:
        """Least and largest distance of the second origin along a direction of the first frame."""
        i = self.number(joint.frame_i)
        way = self.poses.path(joint.frame_j) - self.poses.path(joint.frame_i)
        along = np.einsum("tij,j->ti", self.poses.rotation[i] @ joint.frame_i.axes, direction)
        s = np.sum(way * along, axis=1)
        return float(s.min()), float(s.max())

    def spread(self, joint: Any, axes: Array) -> Array:
        """Least and largest place (2, 2) of the second origin along the first two columns of axes of the first body."""
        i = self.number(joint.frame_i)
        way = self.poses.path(joint.frame_j) - self.poses.path(joint.frame_i)
        local = np.einsum("tij,ti->tj", self.poses.rotation[i] @ axes, way)
        return np.array([local[:, :2].min(axis=0), local[:, :2].max(axis=0)])

    def girth(self, frame: Frame, axis: Array) -> float:
        """Largest distance of the frame's shaped body from an axis through it, if it is longer along it; else 0."""
        own = [p.solid.points for p in self.pieces[self.number(frame)] if p.own]
        if not own or not (frame.body.shape or frame.body.modes) or frame.body.kind == GROUND:
            return 0.0
        arm = np.concatenate(own) - frame.position
        along = arm @ axis
        around = float(np.linalg.norm(arm - np.outer(along, axis), axis=1).max())
        return around if np.ptp(along) > 1.6 * around else 0.0

    def hangs(self, frame: Frame, other: Frame) -> bool:
        """Whether the other frame's body stays mostly below the frame."""
        center = other.body.mass_parameters[1]
        arm = self.poses.path(Frame(other.body, center)) - self.poses.path(frame)
        return bool(np.mean(arm @ self.look.up) < -0.12 * np.mean(np.linalg.norm(arm, axis=1)))

    def thickness(self, frame: Frame, axis: Array) -> tuple[float, float]:
        """Extent of the frame's body along an axis, and its second smallest extent along its own axes; of shapes."""
        own = [p.solid.points for p in self.pieces[self.number(frame)] if p.own]
        if not own or not (frame.body.shape or frame.body.modes) or frame.body.kind == GROUND:
            return 0.0, np.inf
        points = np.concatenate(own)
        return float(np.ptp(points @ axis)), float(np.sort(np.ptp(points, axis=0))[1])


def joint_pieces(joint: Any, stock: Stock) -> list[Piece]:
    """Pieces of a joint or drive, in the axes of the bodies they move with."""
    if isinstance(joint, Drive):
        return _drive(joint, stock)
    if not isinstance(joint, Joint) or hasattr(joint, "curve_i"):  # curves are drawn as their bodies
        return []
    if stock.look.flat:
        return _flat(joint, stock)
    return _in_space(joint, stock)


# ---- in the plane ---------------------------------------------------------------------------------------------------


def _flat(joint: Joint, stock: Stock) -> list[Piece]:
    look, w = stock.look, stock.look.width
    i, j = stock.number(joint.frame_i), stock.number(joint.frame_j)
    top = max(stock.heights[i], stock.heights[j]) + 0.4 * look.layer
    pieces: list[Piece] = []
    if isinstance(joint, planar.Revolute | spatial.Revolute | spatial.Spherical):
        for frame, other in ((joint.frame_i, joint.frame_j), (joint.frame_j, joint.frame_i)):
            if frame.body.kind == GROUND:
                pieces += _flat_bearing(frame, stock, stock.hangs(frame, other))
        p = joint.frame_j.position
        pieces.append(Piece(j, sheet(circle(p, 0.27 * w), top), DARK, lit=False))
        pieces.append(Piece(j, sheet(circle(p, 0.17 * w), top + 0.1 * look.layer), "#ffffff", lit=False))
    elif isinstance(joint, planar.Prismatic | planar.PointOnLine):
        pieces += _flat_guide(joint, stock)
        if isinstance(joint, planar.PointOnLine):
            pieces.append(Piece(j, sheet(circle(joint.frame_j.position, 0.34 * w), top), DARK, lit=False))
    elif isinstance(joint, planar.Rolling):
        along = joint.frame_i.axes @ joint.direction
        low, high = stock.travel(joint, joint.direction)
        a, b = (joint.frame_i.position + s * along for s in (low - 1.4 * joint.radius, high + 1.4 * joint.radius))
        pieces += _hatched(i, a, b, -1.0, stock.heights[i] - 0.2 * look.layer, look)
    elif isinstance(joint, planar.KnifeEdge):
        blade = np.cross(joint.frame_i.axes @ axis_vector_2d(joint.axis), [0.0, 0.0, 1.0])
        a, b = joint.frame_i.position - 0.9 * w * blade, joint.frame_i.position + 0.9 * w * blade
        pieces.append(Piece(i, sheet(rounded([a[:2], b[:2]], 0.12 * w), top), DARK, lit=False))
    elif isinstance(joint, spatial.Fixed):
        p = joint.frame_j.position
        square = rounded(p[:2] + 0.3 * w * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]), 0.03 * w)
        pieces.append(Piece(j, sheet(square, top), DARK, lit=False))
    elif not isinstance(joint, planar.Distance):  # its rod is drawn where its ends are
        pieces.append(Piece(j, sheet(circle(joint.frame_j.position, 0.2 * w), top), DARK, lit=False))
    return pieces


def axis_vector_2d(axis: Any) -> Array:
    """Unit vector of an axis in the plane; two numbers are enough."""
    return axis_vector([*axis, 0.0] if not isinstance(axis, str) and np.shape(axis) == (2,) else axis)


def _flat_bearing(frame: Frame, stock: Stock, hangs: bool) -> list[Piece]:
    """A foot under a pin (over it, where its body hangs), on hatched ground."""
    look, w, up = stock.look, stock.look.width, stock.look.up * (-1.0 if hangs else 1.0)
    number, p = stock.number(frame), frame.position
    side = np.array([up[1], -up[0], 0.0])
    low = p - 1.45 * w * up
    z = stock.heights[number]
    heel = low + 0.1 * w * up
    foot = rounded(np.array([p, heel - 0.62 * w * side, heel + 0.62 * w * side])[:, :2], 0.1 * w)
    head = rounded(np.array([p])[:, :2], 0.42 * w)
    outline = rounded(np.concatenate([foot, head]), 1e-3 * w)
    pieces = flat_piece(number, outline, z + 0.3 * look.layer, GROUND_COLOR, look)
    return pieces + _hatched(number, low - 1.15 * w * side, low + 1.15 * w * side, -1.0, z, look, up)


def _hatched(
    number: int, start: Array, end: Array, side: float, z: float, look: Look, up: Array | None = None
) -> list[Piece]:
    """A line of the ground with short strokes on one side of it: the right, or the left for side = 1."""
    w = look.width
    along = (end - start) / max(float(np.linalg.norm(end - start)), 1e-300)
    normal = side * np.array([-along[1], along[0], 0.0])
    if up is not None and normal @ up > 0:
        normal = -normal
    line = sheet(stroke(start, end, 0.13 * w), z)
    count = max(int(np.linalg.norm(end - start) / (0.36 * w)), 2)
    spots = start + np.linspace(0.0, 1.0, count + 1)[1:, None] * (end - start)
    strokes = [sheet(stroke(s, s + 0.4 * w * (normal - along), 0.055 * w), z - 0.1 * look.layer) for s in spots]
    return [Piece(number, line, DARK, lit=False), Piece(number, merged(strokes), DARK, lit=False)]


def _flat_guide(joint: Any, stock: Stock) -> list[Piece]:
    """Two rails along the way of a slider, hatched where they are on the ground; one for a point on a line."""
    look, w = stock.look, stock.look.width
    i = stock.number(joint.frame_i)
    along = joint.frame_i.axes @ joint.direction
    across = np.array([-along[1], along[0], 0.0])
    low, high = stock.travel(joint, joint.direction)
    point = isinstance(joint, planar.PointOnLine)
    margin, gap = (0.8 * w, 0.42 * w) if point else (1.6 * w, 0.86 * w)
    if not point and joint.frame_j.body.shape:
        own = [p.solid.points for p in stock.pieces[stock.number(joint.frame_j)] if p.own]
        arm = np.concatenate(own) - joint.frame_j.position
        ahead = joint.frame_j.axes @ joint.direction
        margin = float(np.abs(arm @ ahead).max()) + 0.5 * w
        gap = float(np.abs(arm @ np.cross([0.0, 0.0, 1.0], ahead)).max()) + 0.14 * w
    ends = [joint.frame_i.position + s * along for s in (low - margin, high + margin)]
    sides = (-1.0, 1.0)
    z = stock.heights[i] - 0.2 * look.layer
    if joint.frame_i.body.kind == GROUND:
        shifted = [(s, ends[0] + s * gap * across, ends[1] + s * gap * across) for s in sides]
        return [p for s, a, b in shifted for p in _hatched(i, a, b, s, z, look)]
    slot = rounded(np.array(ends)[:, :2], gap + 0.25 * w)
    inner = rounded(np.array(ends)[:, :2], gap)
    pieces = flat_piece(i, slot, stock.heights[i] + 0.15 * look.layer, stock.colors[i], look)
    return [*pieces, Piece(i, sheet(inner, stock.heights[i] + 0.25 * look.layer), PALE, lit=False)]


# ---- in space -------------------------------------------------------------------------------------------------------


def _in_space(joint: Joint, stock: Stock) -> list[Piece]:
    w = stock.look.width
    i, j = stock.number(joint.frame_i), stock.number(joint.frame_j)
    frame_i, frame_j = joint.frame_i, joint.frame_j
    axis = _axis(joint)
    along_i, along_j = frame_i.axes @ axis, frame_j.axes @ axis
    pieces: list[Piece] = []
    if isinstance(joint, spatial.Revolute | planar.Revolute):
        length, radius = _pin(joint, stock, along_i, along_j)
        middle, half = _lifted(frame_j, j, stock), length / 2 * along_j
        pieces.append(Piece(j, cylinder(middle - half, middle + half, radius), STEEL))
        pieces += _foot(joint, stock, min(radius, 0.34 * w))
    elif isinstance(joint, spatial.Cylindrical | spatial.Prismatic | spatial.PointOnLine | planar.Prismatic):
        direction = joint.direction if isinstance(joint, planar.Prismatic) else axis
        pieces += _rail(joint, direction, stock)
    elif isinstance(joint, spatial.Spherical):
        radius = min(0.48 * w, 0.55 * min(stock.thickness(f, along_i)[1] for f in (frame_i, frame_j)))
        pieces += [Piece(j, ball(frame_j.position, radius), STEEL), *_foot(joint, stock, 0.8 * radius)]
    elif isinstance(joint, spatial.Universal):
        cross = frame_j.axes @ axis_vector(joint.cross)
        arm, radius = 0.62 * w, 0.16 * w
        first = cylinder(frame_i.position - arm * along_i, frame_i.position + arm * along_i, radius)
        second = cylinder(frame_j.position - arm * cross, frame_j.position + arm * cross, radius)
        pieces += [Piece(i, first, STEEL), Piece(j, second, STEEL), Piece(j, ball(frame_j.position, 0.3 * w), DARK)]
        pieces += _foot(joint, stock, radius)
    elif isinstance(joint, spatial.PlaneJoint | spatial.PointInPlane):
        pieces.append(_tile(joint, axis, stock, 1.5 * w))
    elif isinstance(joint, spatial.RollingDisc):
        pieces += floor(joint, axis_vector(joint.normal), 1.3 * joint.radius, stock)
    elif isinstance(joint, planar.Rolling):
        pieces += floor(joint, joint.normal, 1.3 * joint.radius, stock, line=True)
    elif isinstance(joint, spatial.Fixed):
        if GROUND not in (frame_i.body.kind, frame_j.body.kind):
            pieces.append(Piece(j, box(np.full(3, 0.6 * w), frame_j.position, frame_j.axes), STEEL))
        pieces += _foot(joint, stock, 0.3 * w)
    elif not isinstance(joint, spatial.Distance):
        pieces.append(Piece(j, ball(_lifted(frame_j, j, stock), 0.25 * w), STEEL))
    return pieces


def _axis(joint: Any) -> Array:
    if not hasattr(joint, "axis"):
        return np.array([0.0, 0.0, 1.0])
    return axis_vector_2d(joint.axis)


def _lifted(frame: Frame, number: int, stock: Stock) -> Array:
    """A frame's origin; on a planar body at the height at which it is drawn."""
    return np.asarray(frame.position + np.array([0.0, 0.0, stock.heights[number]]))


def _pin(joint: Any, stock: Stock, along_i: Array, along_j: Array) -> tuple[float, float]:
    w = stock.look.width
    if isinstance(joint, planar.Revolute):
        i, j = stock.number(joint.frame_i), stock.number(joint.frame_j)
        return abs(stock.heights[i] - stock.heights[j]) * 2 + 1.3 * stock.look.layer, 0.24 * w
    around = max(stock.girth(joint.frame_i, along_i), stock.girth(joint.frame_j, along_j))
    if around > 0:  # a shaft in its own direction: a collar
        return 0.4 * w, 1.06 * around + 0.06 * w
    thick = [stock.thickness(joint.frame_i, along_i), stock.thickness(joint.frame_j, along_j)]
    longest = max(t[0] for t in thick)
    radius = min(0.34 * w, 0.4 * min(t[1] for t in thick))
    return float(np.clip(1.3 * longest, 3.0 * radius, 5.0 * w) if longest else 1.5 * w), radius


def _foot(joint: Any, stock: Stock, radius: float) -> list[Piece]:
    """A stem and a foot where a joint is held by the ground."""
    pieces = []
    w, up = stock.look.width, stock.look.up
    for frame, other in ((joint.frame_i, joint.frame_j), (joint.frame_j, joint.frame_i)):
        if frame.body.kind != GROUND or frame.body.shape:
            continue
        p, t = frame.position, triad(up)
        low = p - (-1.9 if stock.hangs(frame, other) else 1.9) * w * up
        foot = [box((1.9 * w, 1.9 * w, 0.28 * w), low, t), cylinder(p, low, max(0.75 * radius, 0.16 * w))]
        pieces.append(Piece(stock.number(frame), merged(foot), GROUND_COLOR))
    return pieces


def _rail(joint: Any, direction: Array, stock: Stock) -> list[Piece]:
    """A rail along the way of the second frame, and a sleeve that runs on it."""
    w = stock.look.width
    i, j = stock.number(joint.frame_i), stock.number(joint.frame_j)
    along_i, along_j = joint.frame_i.axes @ direction, joint.frame_j.axes @ direction
    low, high = stock.travel(joint, direction)
    start, end = (joint.frame_i.position + s * along_i for s in (low - 2.2 * w, high + 2.2 * w))
    color = GROUND_COLOR if joint.frame_i.body.kind == GROUND else STEEL
    lift = np.array([0.0, 0.0, stock.heights[i]])
    if isinstance(joint, spatial.Cylindrical | spatial.PointOnLine):
        rail = cylinder(start, end, 0.2 * w)
        middle = joint.frame_j.position
        sleeve = cylinder(middle - 0.7 * w * along_j, middle + 0.7 * w * along_j, 0.42 * w)
        if isinstance(joint, spatial.PointOnLine):
            sleeve = ball(middle, 0.38 * w)
        elif isinstance(joint, spatial.Screw):
            rail = merged([rail, _thread(start, end, 0.2 * w)])
    else:
        t = triad(along_i)
        if isinstance(joint, planar.Prismatic):  # beneath the body that slides, which is drawn as a block
            lift = np.array([0.0, 0.0, stock.heights[j] - 0.62 * stock.look.layer])
        rail = box((0.42 * w, 0.42 * w, float(np.linalg.norm(end - start))), (start + end) / 2 + lift, t)
        if isinstance(joint, planar.Prismatic):
            return [Piece(i, rail, color)]
        bulk = (0.85 * w, 0.85 * w, 1.5 * w)
        sleeve = box(bulk, _lifted(joint.frame_j, j, stock), triad(along_j))
    shaped = [Piece(i, rail, color)] if not joint.frame_i.body.shape else []  # what has a shape needs no rail
    return shaped if joint.frame_j.body.shape else [*shaped, Piece(j, sleeve, STEEL)]


def _thread(start: Array, end: Array, radius: float) -> Solid:
    length = float(np.linalg.norm(end - start))
    turns = max(int(length / (1.2 * radius)), 2)
    s = np.linspace(0.0, 1.0, 16 * turns)
    phi = 2 * np.pi * turns * s
    local = np.column_stack([radius * np.cos(phi), radius * np.sin(phi), length * s])
    return tube(start + local @ triad(end - start).T, 0.22 * radius, 8)


def _tile(joint: Any, normal: Array, stock: Stock, margin: float) -> Piece:
    """A thin plate of the first body over which the second origin moves."""
    t = joint.frame_i.axes @ triad(normal)
    (x0, y0), (x1, y1) = stock.spread(joint, t)
    thin = 0.12 * stock.look.width
    middle = joint.frame_i.position + (x0 + x1) / 2 * t[:, 0] + (y0 + y1) / 2 * t[:, 1] - thin * t[:, 2]
    tile = box((x1 - x0 + 2 * margin, y1 - y0 + 2 * margin, thin), middle, t)
    return Piece(stock.number(joint.frame_i), tile, PALE)


def floor(joint: Any, normal: Array, margin: float, stock: Stock, line: bool = False) -> list[Piece]:
    """A chequered floor of the first body, wherever the second frame gets to."""
    t = joint.frame_i.axes @ triad(normal)
    (x0, y0), (x1, y1) = stock.spread(joint, t)
    if line:
        if x1 - x0 > y1 - y0:
            y0, y1 = y0 + 0.6 * margin, y1 - 0.6 * margin
        else:
            x0, x1 = x0 + 0.6 * margin, x1 - 0.6 * margin
    side = max(margin / 2, (x1 - x0 + 2 * margin) / 40, (y1 - y0 + 2 * margin) / 40)
    columns, rows = (
        np.arange(np.floor((a - margin) / side), np.ceil((b + margin) / side)) for a, b in ((x0, x1), (y0, y1))
    )
    squares: tuple[list[Solid], list[Solid]] = ([], [])
    for c in columns:
        for r in rows:
            corner = np.array([[c, r], [c + 1, r], [c + 1, r + 1], [c, r + 1]]) * side
            squares[int(c + r) % 2].append(sheet(corner, -0.01 * margin))
    number = stock.number(joint.frame_i)
    both = zip(squares, (PALE, "#d6dce1"), strict=True)
    place = joint.frame_i.position
    return [Piece(number, merged(some).moved(place, t), color, lit=False) for some, color in both]


def anchor_pieces(force: Any, stock: Stock) -> list[Piece]:
    """A bit of wall where a spring or damper between two points is held by the ground."""
    if not isinstance(force, SpringDamper) or force.measure.kind != DISTANCE:
        return []
    look, w, pieces = stock.look, stock.look.width, []
    frames = (force.measure.frame_i, force.measure.frame_j)
    for frame, other in (frames, frames[::-1]):
        if frame.body.kind != GROUND:
            continue
        p = frame.position
        way = stock.poses.point(other, 0) - p
        if not np.linalg.norm(way) > 0:
            continue
        t = triad(way)
        if look.flat:
            side = w * np.array([-t[1, 2], t[0, 2], 0.0])
            pieces += _hatched(stock.number(frame), p - side, p + side, 1.0, 0.0, look, t[:, 2])
        else:
            pieces.append(
                Piece(stock.number(frame), box((1.3 * w, 1.3 * w, 0.2 * w), p - 0.1 * w * t[:, 2], t), GROUND_COLOR)
            )
    return pieces


def contact_pieces(force: Any, stock: Stock) -> list[Piece]:
    """What bodies touch: a floor under a ball, a hatched line under a circle, the ring or bowl around one inside."""
    look, w = stock.look, stock.look.width
    if isinstance(force, SphereOnPlane):
        normal = axis_vector_2d(force.normal)
        margin = max(1.5 * force.radius, 2 * w)
        if not look.flat:
            return floor(force, normal, margin, stock)
        along = np.cross(normal, [0.0, 0.0, 1.0])
        low, high = stock.travel(force, along)
        a, b = (force.frame_i.position + s * (force.frame_i.axes @ along) for s in (low - margin, high + margin))
        number = stock.number(force.frame_i)
        up = force.frame_i.axes @ normal
        return _hatched(number, a - 0.065 * w * up, b - 0.065 * w * up, -1.0, stock.heights[number], look, up)
    if isinstance(force, SphereOnSphere) and force.radii[1] < 0:
        number, radius = stock.number(force.frame_i), force.radii[0]
        if look.flat:
            ring = [circle(force.frame_i.position, radius + s * w) for s in (0.0, 0.16)]
            z = stock.heights[number] - 0.3 * look.layer
            solid = merged([sheet(ring[1], z - 0.1 * look.layer)])
            return [Piece(number, solid, DARK, lit=False), Piece(number, sheet(ring[0], z), "#ffffff", lit=False)]
        theta = np.linspace(np.pi / 2, np.pi, 16)
        path = np.column_stack([0 * theta, 0 * theta, radius * np.cos(theta)])
        bowl = tube(path, np.maximum(radius * np.sin(theta), 1e-9 * radius), 48)
        open_one = Solid(bowl.points, bowl.triangles[: -2 * 48])  # without its caps
        return [Piece(number, open_one.moved(force.frame_i.position, triad(look.up)), STEEL, opacity=0.25)]
    return []


# ---- drives ---------------------------------------------------------------------------------------------------------


def _drive(drive: Drive, stock: Stock) -> list[Piece]:
    """A turning arrow about the axis of a driven angle, on the first body."""
    measure = drive.coordinate
    if measure.kind != ANGLE:
        return []
    look, w = stock.look, stock.look.width
    i, j = stock.number(measure.frame_i), stock.number(measure.frame_j)
    if look.flat:
        outline = arc_arrow(0.95 * w, 0.13 * w, 0.25 * np.pi, 1.6 * np.pi)
        z = max(stock.heights[i], stock.heights[j]) + 0.6 * look.layer
        arrow = sheet(outline + measure.frame_i.position[:2], z)
        return [Piece(i, arrow, ACCENT, lit=False)]
    axes = np.column_stack([measure.a, measure.a2, np.cross(measure.a, measure.a2)])
    t = measure.frame_i.axes @ axes
    both = ((measure.frame_i, t[:, 2]), (measure.frame_j, measure.frame_j.axes @ axes[:, 2]))
    around = max(stock.girth(f, axis) for f, axis in both)
    thick = max(stock.thickness(f, axis)[0] for f, axis in both)
    lift = 0.0 if around else (0.75 * thick if thick else 0.55 * w) + abs(stock.heights[i] - stock.heights[j])
    outline = arc_arrow(max(0.95 * w, 1.35 * around + 0.2 * w), 0.13 * w, 0.25 * np.pi, 1.6 * np.pi)
    flat = plate(outline, lift - 0.05 * w, lift + 0.05 * w)
    return [Piece(i, flat.moved(measure.frame_i.position, t), ACCENT)]
