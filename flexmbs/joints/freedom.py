"""Relative motion that a joint leaves free: its freedoms, and the motion subspace S in screw form.

The pose of the second frame in the first follows from the joint's coordinates: each freedom in turn rotates about, or
shifts along, an axis of the frame that the ones before it have moved; a ball turns by a unit quaternion. At zero the
second frame stands turned by ``rest``. Each lower pair is a few such freedoms, and S follows from them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flexmbs.rotations import axis_angle, exp, from_matrix, to_matrix, triad

Array = NDArray[np.float64]

ALIKE = 1e-6
"""A frame is where a joint can bring it if it misses by no more."""


@dataclass(frozen=True, eq=False)
class Freedom:
    """A rotation (``turn`` 1) about and a shift (``slide`` per unit of the coordinate) along an axis; or a ball."""

    name: str
    axis: Array
    turn: float = 0.0
    slide: float = 0.0
    ball: bool = False


@dataclass(frozen=True, eq=False)
class JointMotion:
    """Freedoms from the first frame to the second, shifts before turns, and where the second frame stands at zero.

    ``flat`` marks joints that leave their bodies in the x-y plane only if these are planar.
    """

    freedoms: tuple[Freedom, ...]
    rest: Array = field(default_factory=lambda: np.eye(3))
    flat: bool = False

    @property
    def speeds(self) -> int:
        """Number of free speeds f."""
        return sum(3 if f.ball else 1 for f in self.freedoms)

    def pose(self, x: Array) -> tuple[Array, Array]:
        """Rotation and position of the second frame in the first at coordinates x (a ball's: a quaternion)."""
        rotation, position, k = np.eye(3), np.zeros(3), 0
        for f in self.freedoms:
            if f.ball:
                rotation, k = rotation @ to_matrix(x[k : k + 4]), k + 4
                continue
            position = position + f.slide * x[k] * rotation @ f.axis
            rotation = rotation @ axis_angle(f.axis, f.turn * x[k])
            k += 1
        return rotation @ self.rest, position

    def subspace(self, x: Array) -> Array:
        """S (6, f): twists (linear, angular) of the second frame against the first, at its origin, in its own axes."""
        end, place = self.pose(x)
        rotation, position, k = np.eye(3), np.zeros(3), 0
        columns = []
        for f in self.freedoms:
            if f.ball:
                rotation, k = rotation @ to_matrix(x[k : k + 4]), k + 4
                columns += [np.concatenate([np.cross(e, place - position), e]) for e in rotation.T]
                continue
            axis = rotation @ f.axis
            columns.append(np.concatenate([f.turn * np.cross(axis, place - position) + f.slide * axis, f.turn * axis]))
            position = position + f.slide * x[k] * axis
            rotation = rotation @ axis_angle(f.axis, f.turn * x[k])
            k += 1
        both = np.kron(np.eye(2), end.T)
        return both @ np.array(columns).T if columns else np.zeros((6, 0))

    def coordinates(self, rotation: Array, position: Array) -> tuple[Array, Array, float]:
        """Coordinates at which the second frame stands there, how it stands at zero, and by how much it misses.

        Rows that hold axes parallel also hold them with one turned back; the frame at zero then is ``rest`` turned by
        half a turn.
        """
        best = None
        for flip in self._flips():
            x = self._solved(rotation @ (flip @ self.rest).T, position)
            there, place = self.pose(x)
            there = there @ self.rest.T @ flip @ self.rest
            miss = float(np.abs(there - rotation).max() + np.abs(place - position).max())
            if best is None or miss < best[2]:
                best = x, flip @ self.rest, miss
            if miss < ALIKE:
                break
        assert best is not None
        return best

    def _flips(self) -> list[Array]:
        if any(f.ball for f in self.freedoms) or sum(f.turn != 0 for f in self.freedoms) > 1:
            return [np.eye(3)]
        turning = [f for f in self.freedoms if f.turn]
        t = triad(turning[0].axis if turning else self.freedoms[0].axis if self.freedoms else "z")
        return [t @ np.diag(d) @ t.T for d in ((1.0, 1, 1), (1.0, -1, -1), (-1.0, 1, -1), (-1.0, -1, 1))]

    def _solved(self, rotation: Array, position: Array) -> Array:
        turning = [f for f in self.freedoms if f.turn]
        angles = []
        if len(turning) == 1:
            angles = [_angle(rotation, turning[0].axis)]
        elif len(turning) == 2:  # R b = exp(a θ) b
            a, b = turning[0].axis, turning[1].axis
            to = rotation @ b
            angles = [float(np.arctan2(np.cross(a, b) @ to, b @ to))]
            angles.append(_angle(axis_angle(a, -angles[0]) @ rotation, b))
        out: list[float] = []
        for f in self.freedoms:
            if f.ball:
                out.extend(from_matrix(_nearest(rotation)))
            elif not f.turn:
                out.append(float(f.axis @ position) / f.slide)
            else:
                angle = angles.pop(0)
                if f.slide:  # a screw: the turn that fits its advance
                    angle += 2 * np.pi * float(np.round((f.axis @ position / f.slide - angle) / (2 * np.pi)))
                out.append(angle)
        return np.array(out)


def turning(name: str, axis: Array, lead: float = 0.0) -> Freedom:
    """Rotation about an axis [rad], with a shift along it of ``lead`` [m/rad]."""
    return Freedom(name, axis, 1.0, lead)


def sliding(name: str, axis: Array) -> Freedom:
    """Shift along an axis [m]."""
    return Freedom(name, axis, 0.0, 1.0)


BALL = Freedom("rotation", np.zeros(3), ball=True)
"""All rotations; its speeds are the angular velocity in the moved frame's axes."""


def reversed_motion(freedoms: tuple[Freedom, ...]) -> tuple[Freedom, ...]:
    """The freedoms of the first frame as seen from the second, in the axes of the first: same coordinates."""
    return tuple(Freedom(f.name, -f.axis, f.turn, f.slide, f.ball) for f in reversed(freedoms))


def across(a: Array, b: Array) -> Array:
    """The shortest rotation that brings b to where it is orthogonal to a."""
    along = float(a @ b)
    if abs(along) < 1e-15:
        return np.eye(3)
    side = np.cross(a, b)
    size = float(np.linalg.norm(side))
    axis = side / size if size > 1e-12 else triad(a)[:, 0]
    return exp(axis * (np.pi / 2 - np.arctan2(size, along)))


def _angle(rotation: Array, axis: Array) -> float:
    t = triad(axis)
    turned = rotation @ t[:, 0]
    return float(np.arctan2(t[:, 1] @ turned, t[:, 0] @ turned))


def _nearest(matrix: Array) -> Array:
    u, _, vt = np.linalg.svd(matrix)
    return np.asarray(u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt)
