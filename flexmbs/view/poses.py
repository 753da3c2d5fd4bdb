"""Where the bodies of a mechanism are at the times of pictures, between the instants that a result keeps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from flexmbs.bodies.body import GROUND, Frame
from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.errors import AnalysisError
from flexmbs.results import Result
from flexmbs.system.system import System

Array = NDArray[np.float64]

RESOLVED = 0.75
"""Largest change of an elastic coordinate from instant to instant by its rate, over its range, up to which cubics join
its values: a vibration has then four instants in each period or more.
"""
CHUNK = 500_000
"""Elastic coordinates, over time, that are interpolated at once."""


@dataclass(frozen=True, eq=False)
class Poses:
    """Poses and velocities of all bodies at times: (bodies + 1, time, ...), in global axes; last is space itself.

    ``elastic`` are the coordinates (time, r) of each body, ``elastic_rate`` their rates.
    """

    system: System
    t: Array
    position: Array
    rotation: Array
    velocity: Array
    spin: Array
    elastic: tuple[Array, ...]
    elastic_rate: tuple[Array, ...]

    def number(self, frame: Frame) -> int:
        """Of the frame's body; frames of the ground are also known where it is not among the bodies."""
        if frame.body.kind == GROUND and all(body is not frame.body for body in self.system.bodies):
            return len(self.system.bodies)
        return self.system.body_number(frame.body)

    def point(self, frame: Frame, k: int) -> Array:
        """Origin of a frame at the k-th time, (3,)."""
        b = self.number(frame)
        return np.asarray(self.position[b, k] + self.rotation[b, k] @ self._local(frame, b)[k])

    def axes(self, frame: Frame, k: int) -> Array:
        """Axes of a frame as columns at the k-th time, (3, 3)."""
        b = self.number(frame)
        if not self._deforms(frame, b):
            return np.asarray(self.rotation[b, k] @ frame.axes)
        turn = Rotation.from_rotvec(frame.shapes[3:] @ self.elastic[b][k]).as_matrix()
        return np.asarray(self.rotation[b, k] @ turn @ frame.axes)

    def path(self, frame: Frame) -> Array:
        """Origin of a frame at all times, (time, 3)."""
        b = self.number(frame)
        return np.asarray(self.position[b] + np.einsum("tij,tj->ti", self.rotation[b], self._local(frame, b)))

    def pose(self, b: int, k: int) -> tuple[Array, Array, Array]:
        """Where body b is at the k-th time: origin and rotation of the axes of its shapes, elastic coordinates."""
        position, rotation, d = self.position[b, k], self.rotation[b, k], self.elastic[b][k]
        body = self.system.bodies[b] if b < len(self.system.bodies) else None
        if isinstance(body, FlexibleBody):
            shift, turn = body.shape_axes(d[None])
            position, rotation = position + rotation @ shift[0], rotation @ Rotation.from_rotvec(turn[0]).as_matrix()
        return position, rotation, d

    def _deforms(self, frame: Frame, b: int) -> bool:
        return frame.shapes.shape[1] > 0 and frame.shapes.shape[1] == self.elastic[b].shape[1]

    def _local(self, frame: Frame, b: int) -> Array:
        """Origin of a frame in body axes over time, (time, 3)."""
        if not self._deforms(frame, b):
            return np.broadcast_to(frame.position, (len(self.t), 3))
        d = self.elastic[b]
        local = frame.position + d @ frame.shapes[:3].T
        if frame.curvatures is not None:
            local = local + 0.5 * np.einsum("tr,irs,ts->ti", d, frame.curvatures[:3], d)
        return np.asarray(local)


def as_result(thing: Result | System) -> Result:
    """The result itself, or the initial state of a system as a result of one instant."""
    if isinstance(thing, Result):
        return thing
    if isinstance(thing, System):
        s = thing.initial
        rows = np.zeros((1, len(thing.rows)))
        return Result(thing, np.array([s.t]), s.q[None], s.v[None], 0 * s.v[None], rows, s.angles[None])
    raise AnalysisError(f"a Result of an analysis of a mechanism (or a System) is needed, not {type(thing).__name__}.")


def poses(result: Result, times: ArrayLike) -> Poses:
    """Poses at times within the result, interpolated by cubics that meet positions and velocities at its instants.

    Rotations are interpolated likewise, in the rotation vector from the instant before; the turns in between are those
    that the angular velocity suggests.
    """
    t = np.atleast_1d(np.asarray(times, dtype=float))
    first, last = float(result.t[0]), float(result.t[-1])
    slack = 1e-9 * max(abs(first), abs(last), 1e-300)
    if t.ndim != 1 or not np.isfinite(t).all() or t.min() < first - slack or t.max() > last + slack:
        raise AnalysisError(f"at={times!r}: the result runs from t = {first:.6g} to {last:.6g} s.")
    found = [_body(result, body, t) for body in result.system.bodies]
    zero = np.zeros((len(t), 3))
    found.append((zero, np.tile(np.eye(3), (len(t), 1, 1)), zero, zero))
    position, rotation, velocity, spin = (np.stack(a) for a in zip(*found, strict=True))
    deformed = [_elastic(result, number, t) for number in range(len(result.system.bodies))]
    still = np.zeros((len(t), 0))
    elastic, rates = zip(*deformed, (still, still), strict=True)
    return Poses(result.system, t, position, rotation, velocity, spin, elastic, rates)


def interpolated(result: Result, values: Array, times: Array) -> Array:
    """Histories (time, n) of the result at other times, linearly."""
    return np.stack([np.interp(times, result.t, column) for column in values.T], axis=1)


def _between(result: Result, t: Array) -> tuple[NDArray[np.int64], Array, Array]:
    """The instant before each time, the interval to the next, and how far into it, 0 to 1."""
    k = np.clip(np.searchsorted(result.t, t, side="right") - 1, 0, max(len(result.t) - 2, 0))
    if len(result.t) == 1:
        return k, np.ones((len(t), 1)), np.zeros((len(t), 1))
    h = np.diff(result.t)[k][:, None]
    return k, h, ((t - result.t[k])[:, None] / h).clip(0.0, 1.0)


def _elastic(result: Result, number: int, t: Array) -> tuple[Array, Array]:
    """Elastic coordinates of a body and their rates (time, r), by the same cubics where the instants resolve them."""
    layout, modes = result.system.layout, result.system.bodies[number].modes
    d = result.q[:, layout.body_q[number + 1] - modes : layout.body_q[number + 1]]
    rate = result.v[:, layout.body_v[number + 1] - modes : layout.body_v[number + 1]]
    k, h, s = _between(result, t)
    if len(result.t) == 1 or not modes:
        return d[k], rate[k]
    values, slopes = np.empty((2, len(t), modes))
    at_once = max(1, CHUNK // len(t))
    for first in range(0, modes, at_once):
        some = slice(first, first + at_once)
        x, y, u, w = d[k, some], d[k + 1, some], rate[k, some], rate[k + 1, some]
        value, slope = (sum(c * e for c, e in zip(weights, (x, y, h * u, h * w), strict=True)) for weights in _cubic(s))
        # what vibrates faster than the instants kept show is joined by straight lines: cubics would overshoot wildly
        fast = np.median(np.diff(result.t)) * np.abs(rate[:, some]).max(axis=0)
        unseen = fast > RESOLVED * np.ptp(d[:, some], axis=0)
        values[:, some] = np.where(unseen, (1 - s) * x + s * y, value)
        slopes[:, some] = np.where(unseen, (1 - s) * u + s * w, slope / h)
    return values, slopes


def _body(result: Result, body: object, t: Array) -> tuple[Array, Array, Array, Array]:
    motion = result.motion(body)  # type: ignore[arg-type]
    k, h, s = _between(result, t)
    if len(result.t) == 1:
        return motion.position[k], motion.rotation[k], motion.velocity[k], motion.spin[k]
    value, slope = _cubic(s)
    ends = (motion.position[k], motion.position[k + 1], h * motion.velocity[k], h * motion.velocity[k + 1])
    position = sum(w * x for w, x in zip(value, ends, strict=True))
    velocity = sum(w * x for w, x in zip(slope, ends, strict=True)) / h
    start = motion.rotation[k]
    body_spin = [np.einsum("tji,tj->ti", start, motion.spin[m]) for m in (k, k + 1)]
    turn = Rotation.from_matrix(np.swapaxes(start, 1, 2) @ motion.rotation[k + 1]).as_rotvec()
    angle = np.linalg.norm(turn, axis=1, keepdims=True)
    mean = (body_spin[0] + body_spin[1]) / 2 * h
    direction = np.where(angle > 1e-9, turn, mean)  # after whole turns the spin alone knows the axis
    axis = direction / np.maximum(np.linalg.norm(direction, axis=1, keepdims=True), 1e-300)
    expected = np.sum(axis * mean, axis=1, keepdims=True)
    turn = turn + axis * 2 * np.pi * np.round((expected - angle) / (2 * np.pi))
    theta = sum(w * x for w, x in zip(value, (0.0, turn, h * body_spin[0], h * body_spin[1]), strict=True))
    rotation = start @ Rotation.from_rotvec(np.asarray(theta)).as_matrix()
    spin = (1 - s) * motion.spin[k] + s * motion.spin[k + 1]
    return np.asarray(position), rotation, np.asarray(velocity), spin


def _cubic(s: Array) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """Hermite's polynomials of both values and both slopes on 0 <= s <= 1, and their derivatives."""
    value = (1 - s**2 * (3 - 2 * s), s**2 * (3 - 2 * s), s * (1 - s) ** 2, s**2 * (s - 1))
    slope = (-6 * s * (1 - s), 6 * s * (1 - s), (1 - s) * (1 - 3 * s), s * (3 * s - 2))
    return value, slope
