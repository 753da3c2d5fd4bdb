"""Shapes that bodies are drawn with; mechanics does not see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import FlexmbsError, ModelError
from flexmbs.mesh.mesh import Mesh
from flexmbs.rotations import as_pose_rotation, axis_vector

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Box:
    """A box of edge lengths ``size`` about ``center``, its edges along the body's axes or turned by ``axes``."""

    size: ArrayLike
    center: ArrayLike = (0.0, 0.0, 0.0)
    axes: Any = None

    def __post_init__(self) -> None:
        _lengths(self.size, 3, "Box: size")
        _vector(self.center, "Box: center")
        try:
            as_pose_rotation(self.axes)
        except (FlexmbsError, TypeError) as error:
            raise ModelError(f"Box: axes: {error}") from error


@dataclass(frozen=True, eq=False)
class Cylinder:
    """A circular cylinder along an axis of the body, its middle at ``center``."""

    radius: float
    length: float
    axis: Any = "z"
    center: ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        _lengths([self.radius, self.length], 2, "Cylinder: radius and length")
        _vector(self.center, "Cylinder: center")
        try:
            axis_vector(self.axis)
        except (FlexmbsError, TypeError, ValueError) as error:
            raise ModelError(f'Cylinder: axis must be "x", "y", "z" or a vector, not {self.axis!r}.') from error

    @classmethod
    def between(cls, start: ArrayLike, end: ArrayLike, radius: float) -> Cylinder:
        """The cylinder between two points of the body, such as a rod from joint to joint."""
        a, b = _vector(start, "Cylinder: start"), _vector(end, "Cylinder: end")
        if not np.linalg.norm(b - a) > 0:
            raise ModelError(f"Cylinder: start and end are the same point, {a}.")
        return cls(radius, float(np.linalg.norm(b - a)), b - a, (a + b) / 2)


@dataclass(frozen=True, eq=False)
class Ball:
    """A ball about ``center``."""

    radius: float
    center: ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        _lengths([self.radius], 1, "Ball: radius")
        _vector(self.center, "Ball: center")


@dataclass(frozen=True, eq=False)
class Plate:
    """A plate in the body's x-y plane with a polygon ``outline`` (points, 2), of a ``thickness`` about z = 0."""

    outline: ArrayLike
    thickness: float = 0.01

    def __post_init__(self) -> None:
        _lengths([self.thickness], 1, "Plate: thickness")
        try:
            points = np.asarray(self.outline, dtype=float)
        except (TypeError, ValueError):
            points = np.zeros(0)
        if points.ndim != 2 or points.shape[1:] != (2,) or len(points) < 3 or not np.isfinite(points).all():
            raise ModelError("Plate: outline is at least three points (x, y).")


def checked(shape: Any, name: str) -> tuple[Any, ...]:
    """The shapes of a body as a tuple; ``shape`` is None, one of the above, a Mesh, or several of them."""
    if shape is None:
        return ()
    shapes = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    for one in shapes:
        if not isinstance(one, Box | Cylinder | Ball | Plate | Mesh):
            raise ModelError(
                f"{name}: shape is a Box, Cylinder, Ball or Plate of fm.shapes, a Mesh, or a list of them, not {one!r}."
            )
    return shapes


def _vector(value: Any, what: str) -> Array:
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise ModelError(f"{what} must be three numbers, not {value!r}.")
    return array


def _lengths(value: Any, count: int, what: str) -> None:
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (count,) or not np.isfinite(array).all() or not (array > 0).all():
        raise ModelError(f"{what} must be {count} positive number{'s' if count > 1 else ''}, not {value!r}.")


__all__ = ["Ball", "Box", "Cylinder", "Plate"]
