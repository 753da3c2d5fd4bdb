"""What a profile is, and sums of profiles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import FlexmbsError
from flexmbs.profiles.duals import Dual
from flexmbs.profiles.table import POLYNOMIAL, ProfileTable, Term, evaluate_all


class Profile(ABC):
    """A function of time with `value`, `rate` and `acceleration`, each for one time or an array of times.

    Profiles add up and scale: `2 * p + q`, `p - 1`, `p.shifted(0.5)` (the same, later). `kinks` are the times at which
    the rate or the acceleration jumps. Most profiles are scalar (`shape` is ()); a vector one, of shape (3,), is made
    of `components()`, and its histories have time as the first axis.

    Whoever writes one gives `terms` (kinds and coefficients, see `table`), and `kinks` where there are any.
    """

    @abstractmethod
    def terms(self) -> tuple[Term, ...]:
        """The terms of which a scalar profile is the sum."""

    def __deepcopy__(self, memo: Any) -> Profile:
        return self  # it never changes, and arrays of a copy would be of another type to compiled functions

    @property
    def kinks(self) -> tuple[float, ...]:
        """Times at which the rate or the acceleration jumps."""
        return ()

    @property
    def shape(self) -> tuple[int, ...]:
        """() for a number, (3,) for a vector."""
        return ()

    def components(self) -> tuple[Profile, ...]:
        """The scalar profiles of which a vector one is made; a scalar one itself."""
        return (self,)

    def value(self, t: ArrayLike) -> Any:
        """The value at time t."""
        return self.at(t)[0]

    def rate(self, t: ArrayLike) -> Any:
        """The first derivative at time t."""
        return self.at(t)[1]

    def acceleration(self, t: ArrayLike) -> Any:
        """The second derivative at time t."""
        return self.at(t)[2]

    def __call__(self, x: Any) -> Any:
        """The value at x, which may be a dual number: so that a profile is also a law of a coordinate, as of a cam."""
        return x.chain(*self.at(x.value)) if isinstance(x, Dual) else self.value(x)

    def at(self, t: ArrayLike) -> tuple[Any, Any, Any]:
        """Value, rate and acceleration at time t: numbers for one time, arrays otherwise."""
        # own copies are writable and contiguous: read-only ones would be compiled for a second time
        times = np.array(t, dtype=float, order="C")
        table, flat = self._table, times.reshape(-1)
        count, params = int(table.first[-1]), table.params.copy()
        if not table.callbacks:
            laws = evaluate_all(table.kinds, table.starts, params, count, flat)
        else:
            laws = np.empty((len(flat), count, 3))
            for k in range(len(flat)):
                table.refresh(params, float(flat[k]))
                laws[k] = evaluate_all(table.kinds, table.starts, params, count, flat[k : k + 1])[0]
        x, v, a = laws.transpose(2, 0, 1).reshape(3, *times.shape, *self.shape)
        return (float(x), float(v), float(a)) if x.ndim == 0 else (x, v, a)

    @cached_property
    def _table(self) -> ProfileTable:
        return ProfileTable.of([self])

    def shifted(self, delay: float) -> Profile:
        """The same function, later by `delay`: p(t − delay)."""
        return Combination(((1.0, number("delay", delay), self),))

    def __add__(self, other: Profile | float) -> Profile:
        if isinstance(other, Profile):
            return Combination(((1.0, 0.0, self), (1.0, 0.0, other)))
        return self + Constant(other) if is_number(other) else NotImplemented

    def __mul__(self, factor: float) -> Profile:
        return Combination(((number("factor", factor), 0.0, self),)) if is_number(factor) else NotImplemented

    def __truediv__(self, divisor: float) -> Profile:
        return self * (1.0 / divisor) if is_number(divisor) else NotImplemented

    def __sub__(self, other: Profile | float) -> Profile:
        return self + (-other) if isinstance(other, Profile) or is_number(other) else NotImplemented

    def __rsub__(self, other: float) -> Profile:
        return -self + other

    def __neg__(self) -> Profile:
        return self * -1.0

    __radd__, __rmul__ = __add__, __mul__
    __array_ufunc__ = None  # so that np.float64 * profile comes to __rmul__


@dataclass(frozen=True)
class Constant(Profile):
    """The same value always."""

    constant: float

    def __post_init__(self) -> None:
        number("constant", self.constant)

    def terms(self) -> tuple[Term, ...]:
        """One polynomial."""
        return (Term(POLYNOMIAL, (1, self.constant)),)


@dataclass(frozen=True)
class Combination(Profile):
    """Σ weight · p(t − shift) over parts (weight, shift, p): what sums, multiples and shifts of profiles are."""

    parts: tuple[tuple[float, float, Profile], ...]

    def __post_init__(self) -> None:
        shapes = {p.shape for *_, p in self.parts}
        if len(shapes) > 1:
            raise FlexmbsError("a vector profile and a scalar one cannot be added: give both three components")

    @property
    def kinks(self) -> tuple[float, ...]:
        """Those of all parts."""
        return tuple(sorted({k + shift for _, shift, p in self.parts for k in p.kinks}))

    @property
    def shape(self) -> tuple[int, ...]:
        """That of all parts."""
        return self.parts[0][2].shape

    def components(self) -> tuple[Profile, ...]:
        """One combination for each component."""
        if self.shape == ():
            return (self,)
        columns = zip(*(p.components() for *_, p in self.parts), strict=True)
        return tuple(
            Combination(tuple((w, s, p) for (w, s, _), p in zip(self.parts, column, strict=True))) for column in columns
        )

    def terms(self) -> tuple[Term, ...]:
        """The terms of all parts."""
        return tuple(
            term._replace(weight=weight * term.weight, shift=shift + term.shift)
            for weight, shift, p in self.parts
            for term in p.terms()
        )


def is_number(x: Any) -> bool:
    """Whether x is one real number (a NumPy scalar too, but no bool)."""
    return isinstance(x, int | float | np.integer | np.floating) and not isinstance(x, bool)


def number(name: str, x: Any) -> float:
    """x as a finite float, or an error that names it."""
    if isinstance(x, np.ndarray) and x.ndim == 0:
        x = x.item()
    if not is_number(x) or not np.isfinite(x):
        raise FlexmbsError(f"{name} must be a finite number, got {x!r}")
    return float(x)


def numbers(name: str, x: Any) -> NDArray[np.float64]:
    """x as a vector of finite floats, or an error that names it."""
    try:
        vector = np.array(x, dtype=float)
    except (TypeError, ValueError) as error:
        raise FlexmbsError(f"{name} must be a row of numbers, got {x!r}") from error
    if vector.ndim != 1 or not len(vector) or not np.isfinite(vector).all():
        raise FlexmbsError(f"{name} must be a row of finite numbers, got {x!r}")
    return vector
