"""The laws of motion that drives know by name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from flexmbs.errors import FlexmbsError
from flexmbs.profiles.profile import Profile, number, numbers
from flexmbs.profiles.table import HARMONIC, POLYNOMIAL, RAMP, SMOOTH_STEP, SPIN_UP, SPLINE, Term


@dataclass(frozen=True)
class ConstantSpeed(Profile):
    """start + speed · t: `start` is the value at t = 0."""

    speed: float
    start: float = 0.0

    def __post_init__(self) -> None:
        number("speed", self.speed)
        number("start", self.start)

    def terms(self) -> tuple[Term, ...]:
        """One polynomial."""
        return (Term(POLYNOMIAL, (2, self.start, self.speed)),)


@dataclass(frozen=True)
class Polynomial(Profile):
    """c₀ + c₁ t + c₂ t² + …, coefficients in rising order."""

    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficients", tuple(numbers("coefficients", self.coefficients).tolist()))

    def terms(self) -> tuple[Term, ...]:
        """One polynomial."""
        return (Term(POLYNOMIAL, (len(self.coefficients), *self.coefficients)),)


@dataclass(frozen=True)
class _Transition(Profile):
    initial: float
    final: float
    start: float
    duration: float

    def __post_init__(self) -> None:
        for name in ("initial", "final", "start"):
            number(name, getattr(self, name))
        _positive("duration", self.duration)


@dataclass(frozen=True)
class Ramp(_Transition):
    """`initial` until time `start`, then linear for `duration`, then `final`; the rate jumps at both ends."""

    @property
    def kinks(self) -> tuple[float, ...]:
        """Beginning and end of the slope; the rate there is the one just after."""
        return (float(self.start), float(self.start + self.duration))

    def terms(self) -> tuple[Term, ...]:
        """One ramp."""
        return (Term(RAMP, (self.initial, self.final, self.start, self.duration)),)


@dataclass(frozen=True)
class SmoothStep(_Transition):
    """`initial` until time `start`, then 10 s³ − 15 s⁴ + 6 s⁵ of the way to `final` within `duration`: no kinks."""

    def terms(self) -> tuple[Term, ...]:
        """One smooth step."""
        return (Term(SMOOTH_STEP, (self.initial, self.final, self.start, self.duration)),)


@dataclass(frozen=True)
class SpinUp(Profile):
    """Angle Ω/T [t²/2 + (T/2π)² (cos(2πt/T) − 1)] until T = `over`, then Ω (t − T/2): speed from 0 to Ω, no kinks."""

    speed: float
    over: float

    def __post_init__(self) -> None:
        number("speed", self.speed)
        _positive("over", self.over)

    def terms(self) -> tuple[Term, ...]:
        """One spin-up."""
        return (Term(SPIN_UP, (self.speed, self.over)),)


@dataclass(frozen=True)
class Harmonic(Profile):
    """offset + amplitude · sin(2π frequency t + phase), frequency in Hz, phase in rad.

    Amplitude and offset may be vectors of three; a number goes with either.
    """

    amplitude: Any
    frequency: float
    phase: float = 0.0
    offset: Any = 0.0

    def __post_init__(self) -> None:
        number("frequency", self.frequency)
        number("phase", self.phase)
        for name in ("amplitude", "offset"):
            given = getattr(self, name)
            checked = number(name, given) if np.ndim(given) == 0 else tuple(numbers(name, given).tolist())
            if isinstance(checked, tuple) and len(checked) != 3:
                raise FlexmbsError(f"{name} of a Harmonic is one number or three, got {len(checked)}")
            object.__setattr__(self, name, checked)

    @property
    def shape(self) -> tuple[int, ...]:
        """(3,) if amplitude or offset is a vector."""
        return np.broadcast_shapes(np.shape(self.amplitude), np.shape(self.offset))

    def components(self) -> tuple[Profile, ...]:
        """One scalar harmonic for each component."""
        if self.shape == ():
            return (self,)
        pairs = zip(np.broadcast_to(self.amplitude, 3), np.broadcast_to(self.offset, 3), strict=True)
        return tuple(replace(self, amplitude=a, offset=o) for a, o in pairs)

    def terms(self) -> tuple[Term, ...]:
        """One harmonic."""
        return (Term(HARMONIC, (self.amplitude, 2 * np.pi * self.frequency, self.phase, self.offset)),)


@dataclass(frozen=True, eq=False)
class Spline(Profile):
    """Cubic spline through samples; beyond them it goes on straight (or, if periodic, again).

    boundary: "not-a-knot", "natural" (no acceleration at the ends), "clamped" (no rate there) or "periodic".
    """

    times: Any
    values: Any
    boundary: str = "not-a-knot"

    def __post_init__(self) -> None:
        times, values = numbers("times", self.times), numbers("values", self.values)
        if len(times) != len(values) or len(times) < 2:
            raise FlexmbsError(
                f"a Spline takes as many times as values, at least 2: got {len(times)} and {len(values)}"
            )
        rising = np.diff(times) > 0
        if not rising.all():
            k = int(np.argmin(rising))
            raise FlexmbsError(f"times of a Spline must rise: {times[k + 1]} follows {times[k]} (sample {k + 1})")
        if self.boundary not in ("not-a-knot", "natural", "clamped", "periodic"):
            raise FlexmbsError(
                f'unknown boundary {self.boundary!r} of a Spline: use "not-a-knot", "natural", "clamped" or "periodic"'
            )
        if self.boundary == "periodic":
            if abs(values[0] - values[-1]) > 1e-12 * abs(values).max():
                raise FlexmbsError(
                    f"a periodic Spline ends with the value it begins with, got {values[0]} and {values[-1]}: "
                    "append the first sample once more at the end of the period"
                )
            values[-1] = values[0]
        for name, array in (("times", times), ("values", values)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def kinks(self) -> tuple[float, ...]:
        """The ends, beyond which the curve is no longer bent; the acceleration there is the one inside."""
        return () if self.boundary in ("natural", "periodic") else (float(self.times[0]), float(self.times[-1]))

    def terms(self) -> tuple[Term, ...]:
        """One spline: its times, and four coefficients in rising order for each piece."""
        pieces = scipy.interpolate.CubicSpline(self.times, self.values, bc_type=self.boundary).c[::-1].T
        periodic = float(self.boundary == "periodic")
        return (Term(SPLINE, (len(self.times), periodic, *self.times.tolist(), *pieces.ravel().tolist())),)


def _positive(name: str, x: Any) -> None:
    if number(name, x) <= 0:
        raise FlexmbsError(f"{name} must be positive, got {x!r}")
