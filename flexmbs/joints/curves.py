"""Plane curves with a parameter, as the surfaces of cams: each knows its point and three derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.body import finite, numbers, positive, vector
from flexmbs.errors import ModelError

Array = NDArray[np.float64]

DEGREE = 5
"""Of splines: their third derivative, which accelerations of contacts contain, is then smooth."""
BEYOND = 0.1
"""How far beyond its ends, relative to its span, an open curve is used: iterations may look there."""


class PlaneCurve(ABC):
    """A curve c(s) in the axes of a frame."""

    @abstractmethod
    def derivatives(self, s: float) -> Array:
        """c, c', c'', c''' at s, (4, 2)."""

    @property
    @abstractmethod
    def span(self) -> tuple[float, float]:
        """Parameters between which to look for the first contact."""

    def point(self, s: ArrayLike) -> Array:
        """The points at s, (..., 2), for drawing."""
        given = np.asarray(s, dtype=float)
        return np.array([self.derivatives(float(x))[0] for x in given.ravel()]).reshape(*given.shape, 2)


@dataclass(frozen=True)
class Circle(PlaneCurve):
    """A circle about ``center``; s is the angle [rad]."""

    radius: float
    center: ArrayLike = (0.0, 0.0)

    def __post_init__(self) -> None:
        positive(self.radius, "Circle: radius")
        object.__setattr__(self, "center", tuple(vector(self.center, 2, "Circle: center").tolist()))

    def derivatives(self, s: float) -> Array:
        """Sine and cosine."""
        x, y = self.radius * np.cos(s), self.radius * np.sin(s)
        return np.array([np.add(self.center, (x, y)), (-y, x), (-x, -y), (y, -x)])

    @property
    def span(self) -> tuple[float, float]:
        """One turn."""
        return 0.0, 2 * np.pi


@dataclass(frozen=True)
class Line(PlaneCurve):
    """A straight line through ``point`` along ``direction``; s is the distance from the point [m].

    ``reach`` [m] is how far from the point to look for the first contact; the line itself has no ends.
    """

    through: ArrayLike = (0.0, 0.0)
    direction: ArrayLike = (1.0, 0.0)
    reach: float = 1.0

    def __post_init__(self) -> None:
        positive(self.reach, "Line: reach")
        object.__setattr__(self, "through", tuple(vector(self.through, 2, "Line: through").tolist()))
        along = vector(self.direction, 2, "Line: direction")
        if not along.any():
            raise ModelError("Line: direction must not be zero.")
        object.__setattr__(self, "direction", tuple((along / np.linalg.norm(along)).tolist()))

    def derivatives(self, s: float) -> Array:
        """Of a straight line."""
        along = np.asarray(self.direction)
        return np.array([np.asarray(self.through) + s * along, along, [0.0, 0.0], [0.0, 0.0]])

    @property
    def span(self) -> tuple[float, float]:
        """As far as ``reach``."""
        return -float(self.reach), float(self.reach)


@dataclass(frozen=True, eq=False)
class Curve(PlaneCurve):
    """A spline of fifth degree through points (n, 2), or through ``samples`` points of a function ``c(s)``.

    Parameters
    ----------
    given : points, or a function of s that returns two numbers.
    closed : whether the curve closes on itself; points then begin and end with the same one, or are closed by it.
    over : the parameters of a function's first and last point; for points, s goes from the first to the second in
        proportion to the length of chords. An open curve goes on a little beyond it, as its last polynomial does; there
        a contact that has run off is refused.
    samples : how many points of a function are taken: with 400 a smooth function is met to some 1e-11 of its size.
    """

    given: Any
    closed: bool = True
    over: tuple[float, float] = (0.0, 2 * np.pi)
    samples: int = 400

    def __post_init__(self) -> None:
        first, last = (finite(x, "Curve: over") for x in self._pair(self.over))
        if not last > first:
            raise ModelError(f"Curve: over must be two parameters, the second larger, not {self.over!r}.")
        if not isinstance(self.samples, int) or self.samples < 2 * DEGREE:
            raise ModelError(f"Curve: samples must be a whole number of at least {2 * DEGREE}, not {self.samples!r}.")
        _ = self.splines

    @staticmethod
    def _pair(values: Any) -> tuple[Any, Any]:
        if not isinstance(values, tuple | list) or len(values) != 2:
            raise ModelError(f"Curve: over must be two parameters, not {values!r}.")
        return values[0], values[1]

    @cached_property
    def splines(self) -> tuple[Any, ...]:
        """The spline and its derivatives."""
        s, points = self._points()
        if self.closed:
            gap, size = np.linalg.norm(points[-1] - points[0]), np.ptp(points, axis=0).max()
            if gap > 1e-9 * size:
                raise ModelError(
                    f"Curve: it does not close, its ends are {gap:.3g} m apart; give closed=False, or another over=."
                )
            points[-1] = points[0]
        kind = "periodic" if self.closed else None
        spline = scipy.interpolate.make_interp_spline(s, points, k=DEGREE, bc_type=kind)
        return (spline, *(spline.derivative(k) for k in (1, 2, 3)))

    def _points(self) -> tuple[Array, Array]:
        first, last = self.over
        if callable(self.given):
            return self._sampled(self.given)
        points = numbers(self.given).copy()
        if points.ndim != 2 or points.shape[1] != 2 or len(points) < DEGREE + 1 or not np.isfinite(points).all():
            raise ModelError(f"Curve: points are at least {DEGREE + 1} pairs of numbers, (n, 2), or a function of s.")
        if self.closed and np.abs(points[0] - points[-1]).max() > 1e-9 * np.ptp(points, axis=0).max():
            points = np.vstack([points, points[:1]])
        chords = np.linalg.norm(np.diff(points, axis=0), axis=1)
        if not chords.all():
            raise ModelError(f"Curve: point {int(np.argmin(chords)) + 1} is there twice.")
        length = np.concatenate([[0.0], np.cumsum(chords)])
        return first + (last - first) * length / length[-1], points

    def _sampled(self, function: Callable[[float], Any]) -> tuple[Array, Array]:
        s = np.linspace(*self.over, self.samples + 1)
        values = [numbers(function(float(x))) for x in s]
        if any(v.shape != (2,) or not np.isfinite(v).all() for v in values):
            raise ModelError("Curve: the function must return two finite numbers, the point at s.")
        return s, np.array(values)

    def derivatives(self, s: float) -> Array:
        """Those of the spline."""
        first, last = self.over
        if self.closed:
            s = first + (s - first) % (last - first)
        elif not abs(s - (first + last) / 2) <= (0.5 + BEYOND) * (last - first):
            raise ModelError(
                f"Curve: the contact has run off the end of an open curve: parameter {s:.6g}, beyond {self.over}."
            )
        return np.array([spline(s) for spline in self.splines])

    @property
    def span(self) -> tuple[float, float]:
        """All of it."""
        return self.over
