"""Motions of bodies and of frames over time, those on flexible bodies too: the kinematics of the compiled frames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import PLANAR, POINT, RIGID, Body, Frame
from flexmbs.rotations import to_matrix
from flexmbs.system.system import System

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """Motion of one body over time, in global axes: origin, rotation, and their first and second derivatives."""

    position: Array  # (time, 3)
    rotation: Array  # (time, 3, 3)
    velocity: Array
    spin: Array  # ω
    acceleration: Array
    spin_rate: Array  # ω'


class Elastic(NamedTuple):
    """Elastic coordinates of one body over time, (time, modes), and their derivatives."""

    d: Array
    rate: Array
    second: Array


def body_motion(system: System, q: Array, v: Array, rate: Array, body: Body) -> BodyMotion:
    """Pose, velocities and accelerations of a body (of a flexible one: of its floating frame)."""
    b = system.body_number(body)
    layout = system.layout
    kind, k, m = int(layout.body_kind[b]), int(layout.body_q[b]), int(layout.body_v[b])
    n = len(q)
    zero = np.zeros((n, 3))
    if kind == RIGID:
        rotation = to_matrix(q[:, k + 3 : k + 7])
        turned = [np.einsum("tij,tj->ti", rotation, a[:, m + 3 : m + 6]) for a in (v, rate)]
        straight = [q[:, k : k + 3], v[:, m : m + 3], rate[:, m : m + 3]]
    elif kind == PLANAR:
        cosine, sine = np.cos(q[:, k + 2]), np.sin(q[:, k + 2])
        rotation = np.zeros((n, 3, 3))
        rotation[:, 0, 0] = rotation[:, 1, 1] = cosine
        rotation[:, 1, 0], rotation[:, 0, 1], rotation[:, 2, 2] = sine, -sine, 1.0
        turned = [np.column_stack([np.zeros((n, 2)), a[:, m + 2]]) for a in (v, rate)]
        straight = [np.column_stack([a[:, s : s + 2], np.zeros(n)]) for a, s in ((q, k), (v, m), (rate, m))]
    else:
        rotation, turned = np.broadcast_to(np.eye(3), (n, 3, 3)), [zero, zero]
        moving = kind == POINT
        straight = [q[:, k : k + 3], v[:, m : m + 3], rate[:, m : m + 3]] if moving else [zero, zero, zero]
    return BodyMotion(straight[0], rotation, straight[1], turned[0], straight[2], turned[1])


def elastic_motion(system: System, q: Array, v: Array, rate: Array, body: Body) -> Elastic:
    """Elastic coordinates of a body, which come last among its own; none where the system has it locked."""
    b = system.body_number(body)
    n = system.bodies[b].modes
    k, m = int(system.layout.body_q[b + 1]), int(system.layout.body_v[b + 1])
    return Elastic(q[:, k - n : k], v[:, m - n : m], rate[:, m - n : m])


@dataclass(frozen=True, eq=False)
class FrameMotion:
    """Motion of a frame on a body, in global axes; each part is computed when it is asked for.

    In body axes the frame is at c = x + Φ d + ½ dᵀH d, turned by θ = Θ d + ½ dᵀH_θ d; with Φ̂ = Φ + H d, Θ̂ = Θ + H_θ d
    its twist is R (Rᵀp' + ω × c + Φ̂ d'), R (ω + L(θ) Θ̂ d'); see ``bodies/flexible_frames.py``.
    """

    frame: Frame
    body: BodyMotion
    elastic: Elastic

    # ---- in body axes

    @property
    def deforms(self) -> bool:
        """Whether the body under the frame deforms; that of a mechanism with deformation locked does not."""
        return bool(self.elastic.d.shape[1])

    def _bent(self, a: Array, b: Array) -> Array:
        """aᵀH b (time, 6), a row of H at a time."""
        if self.frame.curvatures is None:
            return np.zeros((len(a), 6))
        return np.stack([np.einsum("tn,tn->t", a @ h, b) for h in self.frame.curvatures], axis=1)

    def _rated(self, rate: Array) -> Array:
        """(Φ̂, Θ̂) times a rate of the elastic coordinates (time, 6)."""
        return np.asarray(rate @ self.frame.shapes.T + self._bent(self.elastic.d, rate))

    @cached_property
    def _moved(self) -> Array:
        """Shift and turn (time, 6)."""
        d = self.elastic.d
        return np.asarray(d @ self.frame.shapes.T + self._bent(d, d) / 2)

    @cached_property
    def _rate(self) -> Array:
        """Rates of shift and turn (time, 6)."""
        return self._rated(self.elastic.rate)

    @cached_property
    def _second(self) -> Array:
        """Second derivatives of shift and turn (time, 6)."""
        return self._rated(self.elastic.second) + self._bent(self.elastic.rate, self.elastic.rate)

    @cached_property
    def shift(self) -> Array:
        """Displacement of the frame in the floating frame, body axes (time, 3)."""
        return self._moved[:, :3] if self.deforms else np.zeros((len(self.body.position), 3))

    @cached_property
    def turn(self) -> Array:
        """Rotation vector θ of the frame against the floating frame, body axes (time, 3)."""
        return self._moved[:, 3:] if self.deforms else np.zeros((len(self.body.position), 3))

    # ---- in global axes

    @cached_property
    def arm(self) -> Array:
        """From the body's origin to the frame's (time, 3)."""
        if not self.deforms:
            return np.asarray(self.body.rotation @ self.frame.position)
        return self._turned(self.frame.position + self.shift)

    @property
    def position(self) -> Array:
        """Origin (time, 3)."""
        return self.body.position + self.arm

    @property
    def rotation(self) -> Array:
        """Axes as columns (time, 3, 3)."""
        if not self.deforms:
            return np.asarray(self.body.rotation @ self.frame.axes)
        angle = np.linalg.norm(self.turn, axis=1)
        half = self.turn * (np.sinc(angle / (2 * np.pi)) / 2)[:, None]
        small = to_matrix(np.column_stack([np.cos(angle / 2), half]))
        return np.asarray(self.body.rotation @ small @ self.frame.axes)

    @property
    def velocity(self) -> Array:
        """Velocity of the origin (time, 3)."""
        out = self.body.velocity + np.cross(self.body.spin, self.arm)
        return out + self._turned(self._rate[:, :3]) if self.deforms else np.asarray(out)

    @property
    def acceleration(self) -> Array:
        """Acceleration of the origin (time, 3)."""
        spin = self.body.spin
        out = self.body.acceleration + np.cross(self.body.spin_rate, self.arm)
        out = out + np.cross(spin, np.cross(spin, self.arm))
        if not self.deforms:
            return np.asarray(out)
        out = out + 2 * np.cross(spin, self._turned(self._rate[:, :3]))
        return np.asarray(out + self._turned(self._second[:, :3]))

    @property
    def spin(self) -> Array:
        """Angular velocity (time, 3)."""
        if not self.deforms:
            return self.body.spin
        return self.body.spin + self._turned(_left(self.turn, self._rate[:, 3:]))

    @property
    def spin_rate(self) -> Array:
        """Angular acceleration (time, 3)."""
        if not self.deforms:
            return self.body.spin_rate
        rate = self._rate[:, 3:]
        own = _left(self.turn, self._second[:, 3:]) + _left_change(self.turn, rate, rate)
        relative = np.cross(self.body.spin, self._turned(_left(self.turn, rate)))
        return np.asarray(self.body.spin_rate + relative + self._turned(own))

    def _turned(self, vectors: Array) -> Array:
        return np.einsum("tij,tj->ti", self.body.rotation, vectors)


def _factors(theta: Array) -> tuple[Array, Array, Array, Array]:
    """f, g of L(θ) = 1 + f θ~ + g θ~θ~, and their derivatives by θ²/2, (time, 1) each."""
    square = np.sum(theta**2, axis=1, keepdims=True)
    small = square < 1e-4
    s = np.where(small, 1.0, square)
    angle = np.sqrt(s)
    f, g = (1 - np.cos(angle)) / s, (angle - np.sin(angle)) / (s * angle)
    f1, g1 = (np.sin(angle) / angle - 2 * f) / s, (f - 3 * g) / s
    return (
        np.where(small, 0.5 - square / 24 * (1 - square / 30), f),
        np.where(small, 1 / 6 - square / 120 * (1 - square / 42), g),
        np.where(small, -1 / 12 + square / 180, f1),
        np.where(small, -1 / 60 + square / 1260, g1),
    )


def _left(theta: Array, a: Array) -> Array:
    """L(θ) a, the angular velocity in fixed axes of exp(θ) where θ' = a."""
    f, g, _, _ = _factors(theta)
    once = np.cross(theta, a)
    return np.asarray(a + f * once + g * np.cross(theta, once))


def _left_change(theta: Array, a: Array, change: Array) -> Array:
    """Derivative of L(θ) a in the direction ``change`` of θ."""
    f, g, f1, g1 = _factors(theta)
    once, crossed = np.cross(theta, a), np.cross(change, a)
    inner = np.sum(theta * change, axis=1, keepdims=True)
    out = f * crossed + f1 * inner * once + g1 * inner * np.cross(theta, once)
    return np.asarray(out + g * (np.cross(change, once) + np.cross(theta, crossed)))
