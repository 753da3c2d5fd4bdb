"""Plain Python functions of time as profiles."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexmbs.errors import FlexmbsError
from flexmbs.profiles.duals import Dual, NotDifferentiableError, derivatives
from flexmbs.profiles.profile import Constant, Profile, is_number, number, numbers
from flexmbs.profiles.table import CALLBACK, Laws, Term

Function = Callable[[Any], Any]


@dataclass(frozen=True, init=False)
class FunctionProfile(Profile):
    """A plain function of time, differentiated exactly by dual numbers, or with `rate` and `acceleration` given.

    Its kinks cannot be seen from outside: name them.
    """

    function: Function
    given: tuple[Function, Function] | None
    named_kinks: tuple[float, ...]

    def __init__(
        self,
        function: Function,
        rate: Function | None = None,
        acceleration: Function | None = None,
        kinks: Sequence[float] = (),
    ) -> None:
        object.__setattr__(self, "function", function)
        if (rate is None) != (acceleration is None) or not all(callable(f) or f is None for f in (rate, acceleration)):
            raise FlexmbsError(f"{self._name}: give both rate= and acceleration= as functions of time, or neither")
        object.__setattr__(self, "given", None if rate is None else (rate, acceleration))
        object.__setattr__(self, "named_kinks", tuple(sorted(numbers("kinks", kinks).tolist())) if len(kinks) else ())
        with contextlib.suppress(_UndefinedError):  # refuse now what never works; at t = 0 alone it need not
            self.laws(0.0)

    @property
    def _name(self) -> str:
        return f"function {getattr(self.function, '__name__', repr(self.function))!r} of time"

    @property
    def kinks(self) -> tuple[float, ...]:
        """Those named by the user."""
        return self.named_kinks

    def laws(self, t: float) -> Laws:
        """Value, rate and acceleration at one time, by calling the function."""
        try:
            with np.errstate(all="ignore"):
                if self.given is None:
                    x, v, a = derivatives(self.function, t)
                else:
                    x, v, a = float(self.function(t)), float(self.given[0](t)), float(self.given[1](t))
        except (NotDifferentiableError, AttributeError) as error:
            if isinstance(error, AttributeError) and not isinstance(error.obj, Dual):
                raise
            raise FlexmbsError(
                f"{self._name} cannot be differentiated: it uses {error}. Use NumPy's functions of one number "
                "(np.sin, not math.sin), or give rate= and acceleration= as functions too"
            ) from error
        except TypeError as error:
            raise FlexmbsError(f"{self._name} must take one time and return one number: {error}") from error
        except (ArithmeticError, ValueError) as error:
            raise _UndefinedError(f"{self._name} fails at t = {t}: {error}") from error
        if not np.isfinite((x, v, a)).all():
            raise _UndefinedError(f"{self._name} has value {x}, rate {v}, acceleration {a} at t = {t}")
        return x, v, a

    def terms(self) -> tuple[Term, ...]:
        """One callback, not a number until it is refreshed."""
        return (Term(CALLBACK, (np.nan, np.nan, np.nan), function=self.laws),)


class _UndefinedError(FlexmbsError):
    """A function of time has no value, or no derivative, at one time."""


def as_profile(
    x: Any, rate: Function | None = None, acceleration: Function | None = None, kinks: Sequence[float] = ()
) -> Profile:
    """A number as Constant, a plain function as FunctionProfile, a profile as it is; anything else is refused."""
    if not isinstance(x, Profile) and callable(x):
        return FunctionProfile(x, rate, acceleration, kinks)
    if rate is not None or acceleration is not None or len(kinks):
        raise FlexmbsError(f"rate=, acceleration= and kinks= go with a function of time, not with {x!r}")
    if isinstance(x, Profile):
        return x
    if is_number(x) or (isinstance(x, np.ndarray) and x.ndim == 0):
        return Constant(number("a function of time", x))
    raise FlexmbsError(
        f"a function of time is a number, a profile such as SmoothStep, or a Python function of t; got {x!r}"
    )
