"""Second-order dual numbers: a function of time computed with them knows its first and second derivatives.

They pass through arithmetic, comparisons and NumPy's functions (np.sin and the like), which hand them over by
`__array_ufunc__`; in an array of objects, NumPy calls methods of the same names. Functions of `math` ask for a float,
which would lose the derivatives: refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


class NotDifferentiableError(TypeError):
    """A function does with a dual number what its derivatives do not survive."""


@dataclass(frozen=True, eq=False, slots=True)
class Dual:
    """x(t) with x'(t) and x''(t); these may be arrays, of derivatives in several directions at once."""

    value: float
    rate: Any = 0.0
    acceleration: Any = 0.0

    def chain(self, f: float, f1: float, f2: float) -> Dual:
        """f(x) for f, f', f'' taken at x: f(x)' = f' x', f(x)'' = f'' x'² + f' x''."""
        return Dual(f, f1 * self.rate, f2 * self.rate**2 + f1 * self.acceleration)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            raise NotDifferentiableError(f"np.{ufunc.__name__} on arrays")
        name = ufunc.__name__
        if any(isinstance(x, np.ndarray) and x.ndim for x in inputs):  # element by element
            boxed = [np.asarray(x, dtype=object) if isinstance(x, np.ndarray) else _boxed(x) for x in inputs]
            return np.frompyfunc(ufunc, len(boxed), 1)(*boxed)
        if name in BINARY:
            return BINARY[name](*(_lift(x) for x in inputs))
        if name in COMPARISONS:
            return bool(ufunc(*(_lift(x).value for x in inputs)))
        if name not in UNARY:
            raise NotDifferentiableError(f"np.{name}")
        return self.chain(*(float(d) for d in UNARY[name](np.float64(self.value))))

    def __float__(self) -> float:
        raise NotDifferentiableError("a conversion to float (a function of math, or np.interp, or float())")

    __int__ = __index__ = __float__

    def __add__(self, other: Any) -> Dual:
        return _add(self, _lift(other))

    def __sub__(self, other: Any) -> Dual:
        return _add(self, -_lift(other))

    def __rsub__(self, other: Any) -> Dual:
        return _add(_lift(other), -self)

    def __mul__(self, other: Any) -> Dual:
        return _multiply(self, _lift(other))

    def __truediv__(self, other: Any) -> Dual:
        return _divide(self, _lift(other))

    def __rtruediv__(self, other: Any) -> Dual:
        return _divide(_lift(other), self)

    def __pow__(self, other: Any) -> Dual:
        return _power(self, _lift(other))

    def __rpow__(self, other: Any) -> Dual:
        return _power(_lift(other), self)

    def __mod__(self, other: Any) -> Dual:
        return _remainder(self, _lift(other))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.rate, -self.acceleration)

    def __pos__(self) -> Dual:
        return self

    def __abs__(self) -> Dual:
        return self if self.value >= 0 else -self

    def __lt__(self, other: Any) -> bool:
        return self.value < _lift(other).value

    def __le__(self, other: Any) -> bool:
        return self.value <= _lift(other).value

    def __gt__(self, other: Any) -> bool:
        return self.value > _lift(other).value

    def __ge__(self, other: Any) -> bool:
        return self.value >= _lift(other).value

    def __eq__(self, other: object) -> bool:
        return self.value == _lift(other).value

    def __hash__(self) -> int:
        return hash(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)


def derivatives(function: Callable[[Any], Any], t: float) -> tuple[float, float, float]:
    """Value, first and second derivative of a function of one number, exact to rounding."""
    result = function(Dual(float(t), 1.0, 0.0))
    if isinstance(result, np.ndarray) and result.ndim == 0:  # as np.where returns it
        result = result.item()
    try:
        x = _lift(result)
    except NotDifferentiableError:
        raise TypeError(f"it returned {result!r}") from None
    return float(x.value), float(x.rate), float(x.acceleration)


def _boxed(x: Any) -> Any:
    """x as an array without dimensions, which NumPy does not hand back to it."""
    out = np.empty((), dtype=object)
    out[()] = x
    return out


def _lift(x: Any) -> Dual:
    if isinstance(x, Dual):
        return x
    if isinstance(x, np.ndarray) and x.ndim == 0:
        return _lift(x.item())
    if isinstance(x, int | float | np.integer | np.floating | np.bool_):
        return Dual(float(x))
    raise NotDifferentiableError(f"a {type(x).__name__} where one real number is needed")


def _add(x: Dual, y: Dual) -> Dual:
    return Dual(x.value + y.value, x.rate + y.rate, x.acceleration + y.acceleration)


def _multiply(x: Dual, y: Dual) -> Dual:
    return Dual(
        x.value * y.value,
        x.rate * y.value + x.value * y.rate,
        x.acceleration * y.value + 2 * x.rate * y.rate + x.value * y.acceleration,
    )


def _divide(x: Dual, y: Dual) -> Dual:
    r = 1.0 / y.value
    return _multiply(x, y.chain(r, -(r**2), 2 * r**3))


def _power(x: Dual, y: Dual) -> Dual:
    if np.ndim(y.rate) == 0 and y.rate == y.acceleration == 0.0:
        n, v = y.value, np.float64(x.value)
        # 0⁰ and the like: factors n and n−1 that vanish end the row of derivatives
        f1 = n * v ** (n - 1) if n else 0.0
        f2 = n * (n - 1) * v ** (n - 2) if n * (n - 1) else 0.0
        return x.chain(float(v**n), float(f1), float(f2))
    return np.exp(y * np.log(x))


def _remainder(x: Dual, y: Dual) -> Dual:
    return x - y * float(np.floor(x.value / y.value))


def _arctan2(y: Dual, x: Dual) -> Dual:
    # the derivative of atan(y/x) where that is safe, of −atan(x/y) elsewhere
    angle = np.arctan(y / x) if abs(x.value) >= abs(y.value) else -np.arctan(x / y)
    return Dual(float(np.arctan2(y.value, x.value)), angle.rate, angle.acceleration)


BINARY: dict[str, Callable[[Dual, Dual], Dual]] = {
    "add": _add,
    "subtract": lambda x, y: _add(x, -y),
    "multiply": _multiply,
    "divide": _divide,
    "true_divide": _divide,
    "power": _power,
    "float_power": _power,
    "remainder": _remainder,
    "arctan2": _arctan2,
    "hypot": lambda x, y: _power(x * x + y * y, Dual(0.5)),
    "minimum": lambda x, y: x if x.value <= y.value else y,
    "maximum": lambda x, y: x if x.value >= y.value else y,
}
COMPARISONS = {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "isfinite", "isnan", "signbit"}
# name of the function: x -> f(x), f'(x), f''(x)
UNARY: dict[str, Callable[[Any], tuple[Any, Any, Any]]] = {
    "positive": lambda x: (x, 1.0, 0.0),
    "negative": lambda x: (-x, -1.0, 0.0),
    "absolute": lambda x: (abs(x), 1.0 if x >= 0 else -1.0, 0.0),
    "fabs": lambda x: (abs(x), 1.0 if x >= 0 else -1.0, 0.0),
    "sign": lambda x: (np.sign(x), 0.0, 0.0),
    "floor": lambda x: (np.floor(x), 0.0, 0.0),
    "ceil": lambda x: (np.ceil(x), 0.0, 0.0),
    "square": lambda x: (x * x, 2 * x, 2.0),
    "reciprocal": lambda x: (1 / x, -(x**-2.0), 2 * x**-3.0),
    "sqrt": lambda x: (np.sqrt(x), 0.5 * x**-0.5, -0.25 * x**-1.5),
    "cbrt": lambda x: (np.cbrt(x), 1 / (3 * np.cbrt(x) ** 2), -2 / (9 * np.cbrt(x) ** 5)),
    "exp": lambda x: (np.exp(x),) * 3,
    "exp2": lambda x: (np.exp2(x), np.exp2(x) * np.log(2.0), np.exp2(x) * np.log(2.0) ** 2),
    "expm1": lambda x: (np.expm1(x), np.exp(x), np.exp(x)),
    "log": lambda x: (np.log(x), 1 / x, -1 / x**2),
    "log2": lambda x: (np.log2(x), 1 / (x * np.log(2.0)), -1 / (x**2 * np.log(2.0))),
    "log10": lambda x: (np.log10(x), 1 / (x * np.log(10.0)), -1 / (x**2 * np.log(10.0))),
    "log1p": lambda x: (np.log1p(x), 1 / (1 + x), -1 / (1 + x) ** 2),
    "sin": lambda x: (np.sin(x), np.cos(x), -np.sin(x)),
    "cos": lambda x: (np.cos(x), -np.sin(x), -np.cos(x)),
    "tan": lambda x: (np.tan(x), np.cos(x) ** -2, 2 * np.tan(x) * np.cos(x) ** -2),
    "arcsin": lambda x: (np.arcsin(x), (1 - x * x) ** -0.5, x * (1 - x * x) ** -1.5),
    "arccos": lambda x: (np.arccos(x), -((1 - x * x) ** -0.5), -x * (1 - x * x) ** -1.5),
    "arctan": lambda x: (np.arctan(x), 1 / (1 + x * x), -2 * x / (1 + x * x) ** 2),
    "sinh": lambda x: (np.sinh(x), np.cosh(x), np.sinh(x)),
    "cosh": lambda x: (np.cosh(x), np.sinh(x), np.cosh(x)),
    "tanh": lambda x: (np.tanh(x), np.cosh(x) ** -2, -2 * np.tanh(x) * np.cosh(x) ** -2),
    "arcsinh": lambda x: (np.arcsinh(x), (1 + x * x) ** -0.5, -x * (1 + x * x) ** -1.5),
    "arccosh": lambda x: (np.arccosh(x), (x * x - 1) ** -0.5, -x * (x * x - 1) ** -1.5),
    "arctanh": lambda x: (np.arctanh(x), 1 / (1 - x * x), 2 * x / (1 - x * x) ** 2),
    "deg2rad": lambda x: (np.deg2rad(x), np.deg2rad(1.0), 0.0),
    "radians": lambda x: (np.deg2rad(x), np.deg2rad(1.0), 0.0),
    "rad2deg": lambda x: (np.rad2deg(x), np.rad2deg(1.0), 0.0),
    "degrees": lambda x: (np.rad2deg(x), np.rad2deg(1.0), 0.0),
}


def _method(name: str) -> Callable[[Dual], Dual]:
    function = UNARY[name]

    def method(self: Dual) -> Dual:
        return self.chain(*(float(d) for d in function(np.float64(self.value))))

    return method


for _name in UNARY:
    setattr(Dual, _name, _method(_name))
