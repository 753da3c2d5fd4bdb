"""Relations between joint coordinates that need not be linear."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import ModelError
from flexmbs.joints.drives import check_coordinate, check_name
from flexmbs.joints.functions import (
    FAILS,
    STEP,
    Expansion,
    FunctionGroup,
    along,
    directions,
    duals,
    function_rows,
    parts,
)
from flexmbs.joints.joint import Measure, Row
from flexmbs.profiles.duals import Dual

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Relation(FunctionGroup):
    """A relation between joint coordinates: ``function(q1, q2, ..., t)`` is zero; without t if it takes one fewer.

    The coordinates are numbers such as ``hinge.angle`` and ``slider.distance``, in their order. The function is
    differentiated by dual numbers if it is made of NumPy's functions and profiles (``law(angle)``), else by
    differences, see ``functions``. An evaluation costs one call of it.
    """

    name: str
    function: Callable[..., Any]
    coordinates: Sequence[Measure]

    def __post_init__(self) -> None:
        check_name(self.name)
        if not callable(self.function):
            raise ModelError(
                f"{self.name}: function takes the coordinates (and t) and returns what is to be zero; "
                f"{self.function!r} cannot be called."
            )
        given = (self.coordinates,) if isinstance(self.coordinates, Measure) else self.coordinates
        if not isinstance(given, tuple | list) or not given:
            raise ModelError(f"{self.name}: coordinates is a list such as [hinge.angle, slider.distance].")
        for coordinate in given:
            check_coordinate(self.name, coordinate)
        object.__setattr__(self, "coordinates", tuple(given))
        _ = self.takes_time

    @cached_property
    def takes_time(self) -> bool:
        """Whether the function takes t after the coordinates."""
        count = len(self.coordinates)
        try:
            signature = inspect.signature(self.function)
        except (TypeError, ValueError):
            return False
        for extra in (0, 1):
            try:
                signature.bind(*range(count + extra))
            except TypeError:
                continue
            return extra == 1
        raise ModelError(
            f"{self.name}: its function takes {signature}, but there are {count} coordinates: it must take {count} "
            f"numbers, or {count + 1} with the time."
        )

    @property
    def rows(self) -> tuple[Row, ...]:
        """One row."""
        return function_rows(tuple(self.coordinates), ("related coordinates",))

    def expand(self, t: float, c: Array, rates: Array, biases: Array, size: float) -> Expansion:
        """The function with its derivatives."""
        n = len(c)
        rate, acceleration = directions(rates, biases)
        try:
            time = Dual(t, np.eye(1, n + 1)[0], np.zeros(n + 1))
            value, first, second = parts(self._call(duals(c, rate, acceleration), time), 1, n + 1)
            out = Expansion(value, first[:, 1:], first[:, 0], second[:, 0])
        except FAILS:
            lengths = np.array([size if not q.is_angle else 1.0 for q in self.coordinates])

            def derivative(e: Array, length: float) -> Array:
                return along(lambda s: self._number(c + s * e, t), STEP * length)[0]

            gradient = [derivative(e, length) for e, length in zip(np.eye(n), lengths, strict=True)]
            speed = max(1.0, float(np.abs(rates / lengths).max()), float(np.abs(biases / lengths).max()) ** 0.5)
            along_path = along(lambda s: self._number(c + s * rates + 0.5 * s * s * biases, t + s), STEP / speed)
            moving = np.array([self._number(c, t), *along_path])
            out = Expansion(moving[:1], np.array([gradient], dtype=float), moving[1:2], moving[2:])
        if not all(np.isfinite(a).all() for a in out):
            raise ModelError(f"{self.name}: a derivative of its function is not finite at {c.tolist()}, t = {t:.6g}.")
        return out

    def _call(self, c: Any, t: Any) -> Any:
        with np.errstate(all="ignore"):
            return self.function(*c, t) if self.takes_time else self.function(*c)

    def _number(self, c: Array, t: float) -> Array:
        try:
            value = np.asarray(self._call([float(x) for x in c], t), dtype=float)
        except ArithmeticError as error:
            raise ModelError(f"{self.name}: its function fails at {c.tolist()}, t = {t:.6g}: {error}.") from error
        if value.size != 1:
            raise ModelError(f"{self.name}: its function must return one number, not an array of shape {value.shape}.")
        if not np.isfinite(value).all():
            raise ModelError(f"{self.name}: its function is not finite at {c.tolist()}, t = {t:.6g}.")
        return value.reshape(())
