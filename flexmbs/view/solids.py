"""Triangulated solids from which bodies, joints and springs are drawn: pure geometry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import ConvexHull

from flexmbs.rotations import triad

Array = NDArray[np.float64]
Index = NDArray[np.int64]

SIDES = 32
"""Corners of what is round."""


class Solid(NamedTuple):
    """Points (n, 3) and triangles (m, 3), outward where the solid is closed."""

    points: Array
    triangles: Index

    def moved(self, position: Array, rotation: Array) -> Solid:
        """The solid turned, then shifted."""
        return Solid(self.points @ rotation.T + position, self.triangles)


def merged(solids: Sequence[Solid]) -> Solid:
    """Several solids as one."""
    starts = np.cumsum([0, *(len(s.points) for s in solids)])[:-1]
    points = np.concatenate([np.zeros((0, 3)), *(s.points for s in solids)])
    corners = [s.triangles + start for s, start in zip(solids, starts, strict=True)]
    return Solid(points, np.concatenate([np.zeros((0, 3), np.int64), *corners]))


def box(size: ArrayLike, center: ArrayLike = (0.0, 0.0, 0.0), axes: Array | None = None) -> Solid:
    """A box about its middle, its edges along the columns of ``axes``."""
    corners = np.array([[i, j, k] for k in (-1, 1) for j in (-1, 1) for i in (-1, 1)]) / 2 * np.asarray(size)
    quads = np.array([[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]])
    points = corners if axes is None else corners @ axes.T
    return Solid(points + np.asarray(center), np.concatenate([quads[:, :3], quads[:, [0, 2, 3]]]))


def tube(path: ArrayLike, radius: ArrayLike, sides: int = SIDES) -> Solid:
    """A round tube along a path (n, 3), capped; ``radius`` is one number or one at each point.

    The section is carried along the path without twist (by the rotation that takes one direction into the next).
    """
    x = np.asarray(path, dtype=float)
    steps = np.diff(x, axis=0)
    steps /= np.maximum(np.linalg.norm(steps, axis=1, keepdims=True), 1e-300)
    along = np.concatenate([steps[:1], steps[1:] + steps[:-1], steps[-1:]])
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    across = np.empty_like(x)
    across[0] = triad(along[0])[:, 0] if np.any(along[0]) else [1.0, 0.0, 0.0]
    for k in range(1, len(x)):
        a = across[k - 1] - (across[k - 1] @ along[k]) * along[k]
        across[k] = a / max(np.linalg.norm(a), 1e-300)
    other = np.cross(along, across)
    phi = 2 * np.pi * np.arange(sides) / sides
    ring = across[:, None] * np.cos(phi)[:, None] + other[:, None] * np.sin(phi)[:, None]
    radii = np.broadcast_to(np.asarray(radius, dtype=float), len(x))
    points = np.concatenate([(x[:, None] + radii[:, None, None] * ring).reshape(-1, 3), x[[0, -1]]])
    n, corner = len(x), np.arange(sides)
    nxt = (corner + 1) % sides
    low = (sides * np.arange(n - 1))[:, None]
    a, b, c, d = low + corner, low + nxt, low + sides + nxt, low + sides + corner
    mantle = np.concatenate([np.stack([a, b, c], axis=-1).reshape(-1, 3), np.stack([a, c, d], axis=-1).reshape(-1, 3)])
    end = sides * (n - 1)
    caps = [np.stack([nxt, corner, np.full(sides, sides * n)], axis=1)]
    caps.append(np.stack([end + corner, end + nxt, np.full(sides, sides * n + 1)], axis=1))
    return Solid(points, np.concatenate([mantle, *caps]))


def cylinder(start: ArrayLike, end: ArrayLike, radius: float, sides: int = SIDES) -> Solid:
    """A circular cylinder between two points."""
    return tube(np.array([start, end], dtype=float), radius, sides)


def ball(center: ArrayLike, radius: float) -> Solid:
    """A ball, as a tube whose radius goes from nothing to nothing."""
    theta = np.linspace(0.0, np.pi, SIDES // 2 + 1)
    path = np.zeros((len(theta), 3))
    path[:, 2] = -radius * np.cos(theta)
    return Solid(*tube(path, np.maximum(radius * np.sin(theta), 1e-9 * radius))).moved(np.asarray(center), np.eye(3))


def arrow(start: ArrayLike, vector: ArrayLike, radius: float) -> Solid:
    """An arrow from a point along a vector; the head shrinks with short vectors."""
    a, v = np.asarray(start, dtype=float), np.asarray(vector, dtype=float)
    length = float(np.linalg.norm(v))
    if length < 1e-9 * radius:
        return merged([])
    head = min(5 * radius, 0.45 * length)
    thin = min(radius, 0.2 * head)
    neck = a + v * (1 - head / length)
    path = np.array([a, neck, neck + v * 1e-6, a + v])
    return tube(path, [thin, thin, 2.1 * thin, 1e-6 * thin], 20)


def coil(start: Array, end: Array, radius: float, wire: float, turns: int = 8) -> Solid:
    """A helical spring between two points, with short straight ends."""
    axis = end - start
    length = float(np.linalg.norm(axis))
    t = triad(axis) if length > 0 else np.eye(3)
    s = np.linspace(0.0, 1.0, 20 * turns + 1)
    grow = np.minimum(1.0, np.minimum(s, 1 - s) * turns / 0.5)  # the radius opens over half a turn
    phi = 2 * np.pi * turns * s
    along = length * (0.08 + 0.84 * s)
    wound = np.column_stack([radius * grow * np.cos(phi), radius * grow * np.sin(phi), along])
    path = np.concatenate([[[0.0, 0.0, 0.0]], wound, [[0.0, 0.0, length]]])
    return tube(start + path @ t.T, wire, 10)


def plate(outline: ArrayLike, low: float, high: float) -> Solid:
    """A polygon (n, 2) of the x-y plane, made thick from z = low to high."""
    xy = counterclockwise(np.asarray(outline, dtype=float))
    n = len(xy)
    top = ears(xy)
    points = np.concatenate([np.column_stack([xy, np.full(n, z)]) for z in (low, high)])
    k, nxt = np.arange(n), (np.arange(n) + 1) % n
    walls = np.concatenate([np.stack([k, nxt, n + nxt], axis=1), np.stack([k, n + nxt, n + k], axis=1)])
    return Solid(points, np.concatenate([top[:, ::-1], top + n, walls]))


def sheet(outline: ArrayLike, height: float) -> Solid:
    """A polygon (n, 2) of the x-y plane at z = height, as a surface seen from above."""
    xy = counterclockwise(np.asarray(outline, dtype=float))
    return Solid(np.column_stack([xy, np.full(len(xy), height)]), ears(xy))


def counterclockwise(xy: Array) -> Array:
    """The polygon with its inside to the left."""
    x, y = xy.T
    return xy if np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) >= 0 else xy[::-1]


def ears(xy: Array) -> Index:
    """Triangles of a simple polygon, by cutting off ears (a fan where it is convex)."""
    n = len(xy)
    edge = np.roll(xy, -1, axis=0) - xy
    turn = edge[:, 0] * np.roll(edge[:, 1], -1) - edge[:, 1] * np.roll(edge[:, 0], -1)
    if np.all(turn >= -1e-12 * np.abs(turn).max(initial=1e-300)):
        return np.stack([np.zeros(n - 2, np.int64), np.arange(1, n - 1), np.arange(2, n)], axis=1)
    left, out = list(range(n)), []
    while len(left) > 3:
        for k in range(len(left)):
            a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
            others = np.array([i for i in left if i not in (a, b, c)])
            if _area(xy[a], xy[b], xy[c]) > 0 and not _inside(xy[others], xy[a], xy[b], xy[c]).any():
                out.append([a, b, c])
                del left[k]
                break
        else:
            break  # a polygon that crosses itself: show what is left as it is
    out += [[left[0], left[k], left[k + 1]] for k in range(1, len(left) - 1)]
    return np.array(out, dtype=np.int64)


def _area(a: Array, b: Array, c: Array) -> Array:
    return np.asarray(
        (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])
    )


def _inside(points: Array, a: Array, b: Array, c: Array) -> NDArray[np.bool_]:
    return np.asarray((_area(a, b, points) >= 0) & (_area(b, c, points) >= 0) & (_area(c, a, points) >= 0))


def circle(center: ArrayLike, radius: float, sides: int = 96) -> Array:
    """A polygon (sides, 2) for a circle."""
    phi = 2 * np.pi * np.arange(sides) / sides
    return np.asarray(center, dtype=float)[:2] + radius * np.column_stack([np.cos(phi), np.sin(phi)])


def rounded(points: ArrayLike, radius: float) -> Array:
    """The outline of a plate around points (n, 2) with round corners: what circles about them span."""
    every = np.concatenate([circle(p, radius, 48) for p in np.asarray(points, dtype=float)])
    return np.asarray(every[ConvexHull(every).vertices])


def stroke(start: ArrayLike, end: ArrayLike, width: float) -> Array:
    """A straight line of some width in the plane, as a polygon (4, 2)."""
    a, b = np.asarray(start, dtype=float)[:2], np.asarray(end, dtype=float)[:2]
    along = (b - a) / max(np.linalg.norm(b - a), 1e-300)
    side = width / 2 * np.array([-along[1], along[0]])
    return np.array([a - side, b - side, b + side, a + side])


def arc_arrow(radius: float, width: float, start: float, stop: float) -> Array:
    """A circular arrow in the plane about the origin, from one angle to a larger one, as a polygon."""
    phi = np.linspace(start, stop, 40)
    ray = np.column_stack([np.cos(phi), np.sin(phi)])
    tip, heel = stop + 3.2 * width / radius, ray[-1]
    head = np.array([(radius + 1.7 * width) * heel, radius * np.array([np.cos(tip), np.sin(tip)])])
    inner = (radius - 1.7 * width) * heel
    return np.concatenate([(radius + width / 2) * ray, head, [inner], ((radius - width / 2) * ray)[::-1]])
