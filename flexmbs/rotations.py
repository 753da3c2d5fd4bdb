"""Rotations in space: matrices, unit quaternions (scalar first), rotation vectors, Euler angles, 4 x 4 transforms.

``R`` maps components in the turned frame to those in the fixed one. The compiled functions work on single rotations and
write into arrays given to them; the others take arrays of rotations as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import FlexmbsError

Array = NDArray[np.float64]

_options: dict[str, Any] = {"cache": True, "error_model": "numpy"}
_SMALL = 1e-4
"""Below this angle [rad] series replace quotients: their first neglected terms are below rounding."""


# ---- vectors and axes ---------------------------------------------------------------------------------------------


def skew(a: ArrayLike) -> Array:
    """The matrix a~ with a~ b = a × b."""
    x, y, z = np.asarray(a, dtype=float)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def axis_vector(axis: str | ArrayLike) -> Array:
    """Unit vector of an axis given as "x", "y", "z" (or "-x", ...) or as a vector of any length."""
    if isinstance(axis, str):
        name = axis.lstrip("+-")
        if name not in ("x", "y", "z"):
            raise FlexmbsError(f'axis must be "x", "y", "z" or a vector, not {axis!r}.')
        return np.eye(3)["xyz".index(name)] * (-1.0 if axis.startswith("-") else 1.0)
    vector = np.asarray(axis, dtype=float)
    if vector.shape != (3,) or not np.isfinite(vector).all() or not np.linalg.norm(vector) > 0:
        raise FlexmbsError(f"axis must be three numbers, not all zero; found {axis!r}.")
    return vector / np.linalg.norm(vector)


def triad(axis: str | ArrayLike) -> Array:
    """A right-handed orthonormal triad as columns, whose third is the axis.

    For the axes of the frame the columns are these axes in cyclic order, so that z gives the identity.
    """
    n = axis_vector(axis)
    k = int(np.argmax(np.abs(n)))
    first = np.eye(3)[(k + 1) % 3]
    first = first - (first @ n) * n
    first /= np.linalg.norm(first)
    return np.column_stack([first, np.cross(n, first), n])


# ---- rotation vectors -----------------------------------------------------------------------------------------------


def axis_angle(axis: str | ArrayLike, angle: float) -> Array:
    """The matrix that turns by ``angle`` [rad] about ``axis``."""
    return exp(angle * axis_vector(axis))


def exp(vector: ArrayLike) -> Array:
    """The matrix exp(ψ~) of a rotation vector ψ = angle · axis (Rodrigues)."""
    return to_matrix(quaternion_exp(np.asarray(vector, dtype=float)))


def log(matrix: ArrayLike) -> Array:
    """The rotation vector ψ of a matrix, of length at most π."""
    q = from_matrix(matrix)
    size = np.linalg.norm(q[1:])
    if size < _SMALL:
        return np.asarray(2.0 * q[1:] * (1.0 + size**2 / 6.0))
    return np.asarray(2.0 * np.arctan2(size, q[0]) / size * q[1:])


@njit(**_options)
def quaternion_exp(vector):
    """Unit quaternion of a rotation vector, as four floats."""
    angle2 = vector[0] ** 2 + vector[1] ** 2 + vector[2] ** 2
    if angle2 < _SMALL**2:
        scalar, factor = 1.0 - angle2 / 8.0, 0.5 - angle2 / 48.0
    else:
        angle = np.sqrt(angle2)
        scalar, factor = np.cos(angle / 2), np.sin(angle / 2) / angle
    return scalar, factor * vector[0], factor * vector[1], factor * vector[2]


@njit(**_options)
def tangent(vector, out):
    """Tangent map T(ψ) of the exponential map: the angular velocity in the turned frame is T(ψ) ψ'.

    T = 1 - (1 - cos θ)/θ² ψ~ + (θ - sin θ)/θ³ ψ~ψ~ with θ = |ψ|.
    """
    x, y, z = vector[0], vector[1], vector[2]
    angle2 = x * x + y * y + z * z
    if angle2 < _SMALL**2:
        first, second = 0.5 - angle2 / 24.0, 1.0 / 6.0 - angle2 / 120.0
    else:
        angle = np.sqrt(angle2)
        # 1 - cos θ as 2 sin²(θ/2), which loses no digits to the difference
        half = np.sin(angle / 2) / angle
        first, second = 2.0 * half * half, (angle - np.sin(angle)) / (angle2 * angle)
    out[0, 0] = 1.0 + second * (x * x - angle2)
    out[1, 1] = 1.0 + second * (y * y - angle2)
    out[2, 2] = 1.0 + second * (z * z - angle2)
    out[0, 1] = second * x * y + first * z
    out[1, 0] = second * x * y - first * z
    out[0, 2] = second * x * z - first * y
    out[2, 0] = second * x * z + first * y
    out[1, 2] = second * y * z + first * x
    out[2, 1] = second * y * z - first * x


def tangent_matrix(vector: ArrayLike) -> Array:
    """T(ψ), see ``tangent``."""
    out = np.empty((3, 3))
    tangent(np.asarray(vector, dtype=float), out)
    return out


# ---- quaternions -------------------------------------------------------------------------------------------


@njit(**_options)
def quaternion_product(a, b, out):
    """out = a b: first turn by b, then by a (both in fixed axes), or by a, then b in the turned axes."""
    w = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    x = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    y = a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3]
    z = a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1]
    # the product of unit quaternions stays one, whatever rounding does
    size = np.sqrt(w * w + x * x + y * y + z * z)
    out[0], out[1], out[2], out[3] = w / size, x / size, y / size, z / size


@njit(**_options)
def quaternion_matrix(q, out):
    """Rotation matrix of a unit quaternion."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    out[0, 0] = 1 - 2 * (y * y + z * z)
    out[1, 1] = 1 - 2 * (x * x + z * z)
    out[2, 2] = 1 - 2 * (x * x + y * y)
    out[0, 1], out[1, 0] = 2 * (x * y - w * z), 2 * (x * y + w * z)
    out[0, 2], out[2, 0] = 2 * (x * z + w * y), 2 * (x * z - w * y)
    out[1, 2], out[2, 1] = 2 * (y * z - w * x), 2 * (y * z + w * x)


def to_matrix(quaternion: ArrayLike) -> Array:
    """Rotation matrices (..., 3, 3) of quaternions (..., 4), which are normalised first."""
    q = np.asarray(quaternion, dtype=float)
    w, x, y, z = np.moveaxis(q / np.linalg.norm(q, axis=-1, keepdims=True), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(r, axis=-1) for r in rows], axis=-2)


def from_matrix(matrix: ArrayLike) -> Array:
    """Unit quaternion with non-negative scalar part of a rotation matrix (Shepperd 1978), or of many (..., 3, 3)."""
    r = np.asarray(matrix, dtype=float)
    if r.ndim <= 2:
        r = as_rotation(r)
    (a, b, c), (d, e, f), (g, h, i) = np.moveaxis(r, (-2, -1), (0, 1))
    choices = np.stack([a + e + i, a, e, i], axis=-1)
    # four multiples of the same quaternion, of which the one with the largest leading entry is taken
    rows = np.stack(
        [
            np.stack([1 + a + e + i, h - f, c - g, d - b], axis=-1),
            np.stack([h - f, 1 + a - e - i, b + d, c + g], axis=-1),
            np.stack([c - g, b + d, 1 - a + e - i, f + h], axis=-1),
            np.stack([d - b, c + g, f + h, 1 - a - e + i], axis=-1),
        ],
        axis=-2,
    )
    best = np.argmax(choices, axis=-1)
    q = np.take_along_axis(rows, best[..., None, None], axis=-2)[..., 0, :]
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return np.asarray(np.where(q[..., :1] < 0, -q, q))


def as_rotation(matrix: ArrayLike) -> Array:
    """The matrix, if it is a rotation."""
    r = np.asarray(matrix, dtype=float)
    if r.shape != (3, 3) or not np.allclose(r @ r.T, np.eye(3), atol=1e-8):
        raise FlexmbsError(f"a rotation is an orthonormal (3, 3) matrix; found {np.array2string(r, precision=3)}.")
    if np.linalg.det(r) < 0:
        raise FlexmbsError("this matrix is a reflection (determinant -1), not a rotation: swap two of its columns.")
    return r


# ---- Euler angles and transforms ------------------------------------------------------------------------------------


def from_euler(sequence: str, angles: ArrayLike) -> Array:
    """Rotation by three angles [rad] about turned axes, e.g. "zxz" or "xyz"; capital letters: about fixed axes."""
    turned = _sequence(sequence)
    a = np.asarray(angles, dtype=float)
    if a.shape != (3,) or not np.isfinite(a).all():
        raise FlexmbsError(f"Euler angles are three numbers, not {angles!r}.")
    parts = [axis_angle(letter, angle) for letter, angle in zip(sequence.lower(), a, strict=True)]
    return parts[0] @ parts[1] @ parts[2] if turned else parts[2] @ parts[1] @ parts[0]


def to_euler(sequence: str, matrix: ArrayLike) -> Array:
    """Euler angles [rad] of a rotation; refused where the sequence is singular and they are not unique.

    Rotations may be many, (..., 3, 3); the angles are then (..., 3).
    """
    r = np.asarray(matrix, dtype=float)
    if r.ndim <= 2:
        r = as_rotation(r)
    if not _sequence(sequence):
        return np.asarray(to_euler(sequence[::-1].lower(), r)[..., ::-1])
    i, j, k = ("xyz".index(c) for c in sequence)
    sign = 1.0 if (i + 1) % 3 == j else -1.0
    if i == k:
        m = 3 - i - j
        sine = np.hypot(r[..., i, j], r[..., i, m])
        _not_singular(float(np.min(sine, initial=1.0)), sequence, "0 or 180")
        angles = (
            np.arctan2(r[..., j, i], -sign * r[..., m, i]),
            np.arctan2(sine, r[..., i, i]),
            np.arctan2(r[..., i, j], sign * r[..., i, m]),
        )
    else:
        cosine = np.hypot(r[..., i, i], r[..., i, j])
        _not_singular(float(np.min(cosine, initial=1.0)), sequence, "90 or -90")
        angles = (
            np.arctan2(-sign * r[..., j, k], r[..., k, k]),
            np.arctan2(sign * r[..., i, k], cosine),
            np.arctan2(-sign * r[..., i, j], r[..., i, i]),
        )
    return np.stack(angles, axis=-1)


def transform(rotation: ArrayLike, position: ArrayLike) -> Array:
    """The homogeneous 4 x 4 matrix of a pose."""
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = as_rotation(rotation), np.asarray(position, dtype=float)
    return out


def split_transform(matrix: ArrayLike) -> tuple[Array, Array]:
    """Rotation and position of a homogeneous 4 x 4 matrix."""
    m = np.asarray(matrix, dtype=float)
    if m.shape != (4, 4) or not np.allclose(m[3], [0, 0, 0, 1]):
        raise FlexmbsError("a homogeneous transform is a (4, 4) matrix whose last row is 0 0 0 1.")
    return as_rotation(m[:3, :3]), m[:3, 3].copy()


def as_pose_rotation(given: Any) -> Array:
    """A rotation given as a matrix (3, 3), a unit quaternion (4,), a rotation vector (3,) or None for none.

    Also a pair: ("zxz", three angles) for Euler angles of any sequence, or (axis, angle).
    """
    if given is None:
        return np.eye(3)
    if isinstance(given, tuple | list) and len(given) == 2:
        first, second = given
        if np.ndim(second) == 0 and (isinstance(first, str) or np.shape(first) == (3,)):
            return axis_angle(first, float(second))
        if np.ndim(second) and isinstance(first, str):
            return from_euler(first, second)
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise FlexmbsError(
            f'a rotation is numbers, or a pair ("zxz", angles) or (axis, angle), not {given!r}.'
        ) from None
    if array.shape == (3, 3):
        return as_rotation(array)
    if array.shape == (4,) and np.linalg.norm(array) > 0:
        return to_matrix(array)
    if array.shape == (3,):
        return exp(array)
    raise FlexmbsError(
        f'a rotation is a (3, 3) matrix, a quaternion (4,), a rotation vector (3,), a pair ("zxz", angles) or '
        f"(axis, angle); found {array.shape}."
    )


def _sequence(sequence: str) -> bool:
    """Whether the axes are the turned ones; refuses what is no sequence."""
    if len(sequence) != 3 or sequence.lower().strip("xyz") or not (sequence.islower() or sequence.isupper()):
        raise FlexmbsError(
            f'an Euler sequence is three of "x", "y", "z" (or capitals for fixed axes), not {sequence!r}.'
        )
    if sequence[0] == sequence[1] or sequence[1] == sequence[2]:
        raise FlexmbsError(
            f"Euler sequence {sequence!r} turns twice about the same axis: it does not reach all rotations."
        )
    return sequence.islower()


def _not_singular(value: float, sequence: str, where: str) -> None:
    if value < 1e-9:
        raise FlexmbsError(
            f"Euler angles {sequence!r} are not unique here: the middle angle is {where} degrees, and the first and "
            "third axes coincide. Use another sequence, a rotation vector or a quaternion."
        )
