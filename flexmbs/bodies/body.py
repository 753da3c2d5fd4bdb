"""Body and Frame: a body has coordinates and inertia; frames on it are what everything else holds on to."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.shapes import checked
from flexmbs.errors import FlexmbsError, ModelError
from flexmbs.rotations import as_pose_rotation

Array = NDArray[np.float64]

GROUND, RIGID, PLANAR, POINT = range(4)
"""Kinds of bodies, as the compiled functions know them."""


@dataclass(frozen=True, eq=False)
class Frame:
    """A point of a body with its own axes: ``position`` (3,) and ``axes`` (3, 3) as columns, in body axes."""

    body: Body
    position: Array
    axes: Array = field(default_factory=lambda: np.eye(3), repr=False)

    def __str__(self) -> str:
        return f"{self.body.name}.at({', '.join(f'{x:.4g}' for x in self.position)})"


@dataclass(frozen=True, eq=False)
class Body(ABC):
    """What all bodies have: a name, mass, and an initial pose and velocity where they are given.

    ``position`` and ``velocity`` (of the body's origin) in global axes, ``rotation`` as a matrix, quaternion or
    rotation vector, ``angular_velocity`` in body axes. What is left out is found from the joints.
    """

    kind: ClassVar[int]
    n_q: ClassVar[int]
    """Number of coordinates q."""
    n_v: ClassVar[int]
    """Number of velocities v."""

    name: str
    shape: Any = field(default=None, kw_only=True, repr=False)
    """What the body is drawn as: one of ``fm.shapes``, a Mesh, or a list of them, in body axes."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f"a body needs a name (a string), not {self.name!r}.")
        object.__setattr__(self, "shape", checked(self.shape, self.name))

    def at(self, *position: float, axes: Any = None) -> Frame:
        """A frame at a point given in body axes; ``axes`` turns it (matrix, quaternion or rotation vector)."""
        point = np.zeros(3)
        given = numbers(position[0] if len(position) == 1 and np.ndim(position[0]) else position)
        if given.shape not in ((0,), (2,), (3,)) or not np.isfinite(given).all():
            raise ModelError(f"{self.name}.at(): a point is two or three numbers, not {position}.")
        point[: len(given)] = given
        return Frame(self, point, rotation_matrix(axes, f"{self.name}.at(): axes"))

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
    """The matrix of a rotation given as a matrix, quaternion or rotation vector (None: no rotation)."""
    if value is not None and not np.isfinite(numbers(value)).all():
        raise ModelError(f"{what} must be numbers (a matrix, quaternion or rotation vector), not {value!r}.")
    try:
        return as_pose_rotation(value)
    except FlexmbsError as error:
        raise ModelError(f"{what}: {error}") from error


def numbers(value: Any) -> Array:
    """The value as an array; one NaN for what is no array of numbers."""
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return np.array(np.nan)
