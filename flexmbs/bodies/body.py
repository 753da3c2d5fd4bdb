"""Body and Frame: a body has coordinates and inertia; frames on it are what everything else holds on to."""

from __future__ import annotations

import copy
from abc import ABC
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.shapes import checked
from flexmbs.errors import FlexmbsError, ModelError
from flexmbs.rotations import as_pose_rotation, split_transform

Array = NDArray[np.float64]

GROUND, RIGID, PLANAR, POINT = range(4)
"""Kinds of bodies, as the compiled functions know them."""


@dataclass(frozen=True, eq=False)
class Frame:
    """A point of a body with its own axes: ``position`` (3,) and ``axes`` (3, 3) as columns, in body axes."""

    body: Body
    position: Array
    axes: Array = field(default_factory=lambda: np.eye(3), repr=False)
    shapes: Array = field(default_factory=lambda: np.zeros((6, 0)), repr=False)
    """(6, modes) shift and turn of the frame in body axes for each elastic coordinate."""
    curvatures: Array | None = field(default=None, repr=False)
    """(6, modes, modes) their second derivatives: how bending shortens the body there."""

    def __str__(self) -> str:
        return f"{self.body.name}.at({', '.join(f'{x:.4g}' for x in self.position)})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Frame:
        """The same frame on the copy of its body, or on what stands for that."""
        return copy.deepcopy(self.body, memo).holding(self)

    @property
    def deforms(self) -> bool:
        """Whether elastic coordinates move it in its body's frame, by more than rounding where that is held."""
        moves = np.abs(self.shapes) > 1e-12 * self.body.modal_lengths
        return self.body.modes > 0 and (bool(moves.any()) or self.curvatures is not None)

    @property
    def modal_constants(self) -> Array:
        """Shapes and curvatures as one array, for the compiled functions; empty where nothing deforms."""
        if not self.deforms:
            return np.zeros(0)
        curved = np.zeros(0) if self.curvatures is None else np.ravel(self.curvatures.transpose(1, 0, 2))
        return np.concatenate([[float(len(curved) > 0)], np.ravel(self.shapes), curved])


@dataclass(frozen=True, eq=False)
class Body(ABC):
    """What all bodies have: a name, mass, and an initial pose and velocity where they are given.

    ``position`` and ``velocity`` (of the body's origin) in global axes, ``rotation`` as a matrix, quaternion, rotation
    vector, ("zxz", three angles) or (axis, angle), ``angular_velocity`` in body axes. What is left out is found from
    the joints.
    """

    kind: ClassVar[int]
    n_q: ClassVar[int]
    """Number of coordinates q."""
    n_v: ClassVar[int]
    """Number of velocities v."""
    guessed: ClassVar[bool] = False
    """Whether the initial pose is a guess of flexmbs's own, which closing may change without a word."""

    name: str
    shape: Any = field(default=None, kw_only=True, repr=False)
    """What the body is drawn as: one of ``fm.shapes``, a Mesh, or a list of them, in body axes."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f"a body needs a name (a string), not {self.name!r}.")
        object.__setattr__(self, "shape", checked(self.shape, self.name))

    def at(self, *position: Any, axes: Any = None) -> Frame:
        """A frame at a point given in body axes; ``axes`` turns it (in any form of ``rotation=``).

        One homogeneous 4 x 4 transform gives both.
        """
        point = np.zeros(3)
        if len(position) == 1 and np.shape(position[0]) == (4, 4) and axes is None:
            return Frame(self, *pose_of(position[0], f"{self.name}.at()"))
        given = numbers(position[0] if len(position) == 1 and np.ndim(position[0]) else position)
        if given.shape not in ((0,), (2,), (3,)) or not np.isfinite(given).all():
            raise ModelError(f"{self.name}.at(): a point is two or three numbers, not {position}.")
        point[: len(given)] = given
        return Frame(self, point, rotation_matrix(axes, f"{self.name}.at(): axes"))

    def holding(self, frame: Frame) -> Frame:
        """A frame of another body that this one stands for, as a frame of this one."""
        return Frame(self, frame.position, frame.axes, frame.shapes, frame.curvatures)

    @property
    def modes(self) -> int:
        """Number of elastic coordinates, which come last among q and v."""
        return 0

    @property
    def full_order(self) -> bool:
        """Whether it deforms with every coordinate of its mesh, which compiled functions see condensed."""
        return False

    @property
    def modal_lengths(self) -> Array:
        """(modes,) largest displacement of the body for a unit of each elastic coordinate."""
        return np.zeros(0)

    @property
    def modal_constants(self) -> Array:
        """Constants of a deforming body for the compiled functions."""
        return np.zeros(0)

    @property
    def mass_parameters(self) -> tuple[float, Array, Array]:
        """Mass, mass centre and inertia about the body's origin, in body axes."""
        return 0.0, np.zeros(3), np.zeros((3, 3))

    @property
    def initial(self) -> tuple[Array | None, Array | None, Array | None, Array | None]:
        """Given position (3,), rotation (3, 3), velocity (3,) and angular velocity (3,) in body axes, or None each."""
        return None, None, None, None


def positive(value: float, what: str, zero: bool = False) -> float:
    """The value, if it is a positive number (or zero where allowed)."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not (np.isfinite(number) and (number >= 0 if zero else number > 0)):
        raise ModelError(f"{what} must be a {'non-negative' if zero else 'positive'} number, not {value!r}.")
    return number


def vector(value: ArrayLike, size: int, what: str) -> Array:
    """The value as an array of ``size`` finite numbers."""
    array = numbers(value)
    if array.shape != (size,) or not np.isfinite(array).all():
        raise ModelError(f"{what} must be {size} numbers, not {value!r}.")
    return array


def finite(value: Any, what: str) -> float:
    """The value, if it is a finite number."""
    array = numbers(value)
    if array.shape != () or not np.isfinite(array):
        raise ModelError(f"{what} must be a finite number, not {value!r}.")
    return float(array)


def rotation_matrix(value: Any, what: str) -> Array:
    """The matrix of a rotation in any of the forms of ``as_pose_rotation`` (None: no rotation)."""
    pair = isinstance(value, tuple | list) and len(value) == 2
    if value is not None and not pair and not np.isfinite(numbers(value)).all():
        raise ModelError(f"{what} must be numbers (a matrix, quaternion or rotation vector), not {value!r}.")
    try:
        return as_pose_rotation(value)
    except FlexmbsError as error:
        raise ModelError(f"{what}: {error}") from error
    except (TypeError, ValueError):
        raise ModelError(f'{what} must be ("zxz", three angles) or (axis, angle), not {value!r}.') from None


def pose_of(value: Any, what: str) -> tuple[Array, Array]:
    """Position and rotation of a homogeneous 4 x 4 matrix."""
    try:
        rotation, position = split_transform(numbers(value))
    except FlexmbsError as error:
        raise ModelError(f"{what}: {error}") from error
    if not np.isfinite(position).all():
        raise ModelError(f"{what}: the position must be finite numbers, not {position}.")
    return position, rotation


def numbers(value: Any) -> Array:
    """The value as an array; one NaN for what is no array of numbers."""
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return np.array(np.nan)
