"""Campbell diagrams: frequencies of spinning bodies, rotors and mechanisms over the speed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.analyses.mode_tracking import PATIENT, Set, follow, nearest, solved
from flexmbs.analyses.spinning_models import SpinningModel, handedness, spinning_body, spinning_part
from flexmbs.analyses.spinning_system import spinning_system
from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.errors import AnalysisError, FlexmbsError
from flexmbs.fem.elements import Elements
from flexmbs.given import number
from flexmbs.nullspace.readonly import frozen
from flexmbs.progress import Progress
from flexmbs.reduction import ReducedPart
from flexmbs.results.saving import Saved
from flexmbs.rotations import axis_vector
from flexmbs.system.system import System

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

WHIRLS = 0.05
"""Part of circular motion in a mode from which on it counts as a whirl."""
GROWS = 1e-5
"""Growth [in units of a typical frequency] that rounding may leave to a motion that does not grow."""
DIRECTIONS = {1: "forward", -1: "backward", 0: ""}


class Crossing(NamedTuple):
    """Where a mode's frequency is ``order`` times the speed."""

    mode: int
    speed: float
    """[rad/s]"""
    frequency: float
    """[Hz]"""
    direction: str
    """"forward", "backward", or empty for a mode that does not whirl."""


@dataclass(frozen=True, eq=False)
class Campbell(Saved):
    """Modes over the speed, each column one mode followed by modal assurance.

    Attributes
    ----------
    speeds : Ω [rad/s] (speeds,).
    frame : "rotating" or "inertial": the axes from which frequencies are seen.
    eigenvalues : λ of exp(λt) (speeds, modes). Im λ changes its sign where a mode passes zero frequency.
    shapes : complex shapes (speeds, modes, coordinates): reduced or free coordinates of a body, velocities of a System.
    whirl : (speeds, modes) 1 for modes that run around the axis with the spin as seen from the ground, -1 against it,
        0 for those that do neither.
    assurance : (speeds, modes) how surely each continues its neighbour, 1 at most.
    """

    name: str
    speeds: Array
    frame: str
    eigenvalues: Complex
    shapes: Complex
    whirl: NDArray[np.int64]
    assurance: Array
    growth: Array
    """Largest real part of all eigenvalues that were found (speeds,) [1/s]."""
    model: SpinningModel = field(repr=False)
    waves: NDArray[np.int64] = field(repr=False)
    """Waves n of each mode by which λ was moved, λ + inΩ, from the rotating frame (modes,)."""

    def __post_init__(self) -> None:
        for name in ("speeds", "eigenvalues", "shapes", "whirl", "assurance", "growth", "waves"):
            frozen(getattr(self, name))

    @property
    def frequencies(self) -> Array:
        """[Hz] (speeds, modes)."""
        return np.asarray(np.abs(self.eigenvalues.imag) / (2 * np.pi))

    @property
    def damping(self) -> Array:
        """Damping ratios ζ = -Re λ / |λ| (speeds, modes); negative where a motion grows."""
        size = np.abs(self.eigenvalues)
        ratio = -self.eigenvalues.real / np.where(size > 0, size, 1.0)
        return np.asarray(np.where(np.abs(ratio) < 1e-9, 0.0, ratio))

    @property
    def directions(self) -> tuple[str, ...]:
        """ "forward", "backward" or empty for each mode, as at the highest speed."""
        return tuple(DIRECTIONS[int(w)] for w in self.whirl[-1])

    def crossings(self, order: float = 1.0) -> tuple[Crossing, ...]:
        """Where frequencies are ``order`` times the speed, found to rounding, by speed; order 0: where they vanish.

        In the rotating frame the order is that of a load standing still in space with so many waves around the axis (an
        engine order); in the inertial frame 1 is that of unbalance.
        """
        times = number(order)
        if not (np.isfinite(times) and times >= 0):
            raise AnalysisError(f"crossings: the order is a number, zero or more, not {order!r}.")
        found = []
        for mode in range(self.eigenvalues.shape[1]):
            for sign in (1.0, -1.0) if times else (1.0,):
                gap = self.eigenvalues[:, mode].imag - sign * times * self.speeds
                for k in np.flatnonzero(gap[:-1] * gap[1:] < 0):
                    found.append(self._crossing(mode, int(k), sign * times, float(gap[k]), float(gap[k + 1])))
                for k in np.flatnonzero((gap == 0) & (self.speeds > 0)):
                    found.append(self._named(mode, float(self.speeds[k]), complex(self.eigenvalues[k, mode]), int(k)))
        return tuple(sorted(found, key=lambda c: c.speed))

    @cached_property
    def critical_speeds(self) -> tuple[Crossing, ...]:
        """Speeds at which unbalance finds a resonance: order 1 seen from the ground, order 0 in the rotating frame.

        On supports that are alike in all directions unbalance excites forward whirl only.
        """
        return self.crossings(1 if self.frame == "inertial" else 0)

    @cached_property
    def stability_limit(self) -> float:
        """Lowest speed [rad/s] above which some motion grows; infinite if none does at the speeds asked for."""
        small = GROWS * self.model.unit
        unstable = np.flatnonzero(self.growth > small)
        if not len(unstable):
            return float("inf")
        k = int(unstable[0])
        if k == 0:
            return float(self.speeds[0])
        low, high = float(self.speeds[k - 1]), float(self.speeds[k])
        edge = 0.0 if self.growth[k - 1] < -small else small  # what is damped begins to grow at zero
        for _ in range(40 if self.model.bisections > 5 else 12):
            middle = (low + high) / 2
            if _growth(solved(self.model, middle, self._count).values) > edge:
                high = middle
            else:
                low = middle
        return (low + high) / 2

    def table(self) -> str:
        """Frequencies [Hz] of the modes over the speed as a table of text."""
        head = "  ".join(f"{f'{k + 1} {d}'.strip():>12}" for k, d in enumerate(self.directions))
        rows = [f"{'speed [rad/s]':>13}  {head}"]
        for speed, row in zip(self.speeds, self.frequencies, strict=True):
            rows.append(f"{speed:>13.5g}  " + "  ".join(f"{f:>12.6g}" for f in row))
        return "\n".join(rows)

    def __repr__(self) -> str:
        return (
            f"<Campbell of {self.name!r}: {self.eigenvalues.shape[1]} modes at {len(self.speeds)} speeds up to "
            f"{self.speeds[-1]:.5g} rad/s, {self.frame} frame>"
        )

    @property
    def _count(self) -> int:
        return _searched(self.model, self.eigenvalues.shape[1], self.frame)

    def _crossing(self, mode: int, k: int, slope: float, below: float, above: float) -> Crossing:
        """Regula falsi (Illinois) between two speeds, with the eigenvalue solved for at each trial."""
        low, high = float(self.speeds[k]), float(self.speeds[k + 1])
        shape, start = self.shapes[k, mode], self.eigenvalues[k, mode] - 1j * self.waves[mode] * low
        speed, value, side = low, complex(self.eigenvalues[k, mode]), 0
        for _ in range(60):
            speed = (low * above - high * below) / (above - below)
            there = solved(self.model, speed, self._count)
            found = there.values[nearest(self.model, float(self.speeds[k]), start, shape, there)]
            value = complex(found + 1j * self.waves[mode] * speed)
            gap = value.imag - slope * speed
            if abs(gap) <= 1e-10 * (abs(value) + self.model.unit) or high - low <= 1e-12 * high:
                break
            if gap * below > 0:
                low, below, above = speed, gap, above / 2 if side == 1 else above
                side = 1
            else:
                high, above, below = speed, gap, below / 2 if side == -1 else below
                side = -1
        return self._named(mode, speed, value, k)

    def _named(self, mode: int, speed: float, value: complex, k: int) -> Crossing:
        whirls = self.whirl[k : k + 2, mode]
        direction = int(whirls[np.argmax(np.abs(whirls))])
        return Crossing(mode, speed, abs(value.imag) / (2 * np.pi), DIRECTIONS[direction])


def campbell(
    model: FlexibleBody | ReducedPart | Elements | System,
    speeds: ArrayLike,
    *,
    axis: str | ArrayLike = "z",
    count: int = 6,
    frame: str | None = None,
    fixed: Any = None,
    stiffening: bool | None = None,
    damping: Any = None,
    spinning: Any = None,
) -> Campbell:
    """Frequencies over the speed: of a body held in a turning frame, of all nodes of a part, or of a rotor on bearings.

    Parameters
    ----------
    model : a FlexibleBody (or ReducedPart) that is ``fixed``, Elements with ``fixed=``, or a System, whose bodies spin
        with all its joints and forces as they are; its rotor may be any mix of rigid and flexible bodies.
    speeds : Ω [rad/s], zero or more, ascending; modes are followed from one to the next.
    axis : of the spin, through the origin of the mesh, or of the System's global axes: the hub radius is geometry.
    count : how many modes, the lowest at the first speed.
    frame : "rotating" (by default for a body) or "inertial" (by default for a System): where frequencies are seen from.
        The inertial frame needs axisymmetric rotors, and takes any supports; the rotating frame takes any rotor, on
        supports that are alike in all directions. What has constant equations in neither is refused.
    fixed : what is held, for Elements: as for ``modes``.
    stiffening : False leaves out the geometric stiffening by the stress of the spin.
    damping : instead of the body's own: Rayleigh, ModalDamping or one ratio; it turns with the body.
    spinning : the bodies of a System that spin, by default all of them.
    """
    omega = _speeds(speeds)
    try:
        direction = axis_vector(axis)
    except (FlexmbsError, TypeError, ValueError) as error:
        raise AnalysisError(f"campbell: {error}") from None
    if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 1:
        raise AnalysisError(f"campbell: count is a whole number, 1 or more, not {count!r}.")
    if frame not in (None, "rotating", "inertial"):
        raise AnalysisError(f'campbell: frame is "rotating" or "inertial", not {frame!r}.')
    if stiffening not in (None, True, False):
        raise AnalysisError(f"campbell: stiffening is True or False, not {stiffening!r}.")
    found: SpinningModel
    if isinstance(model, System):
        if fixed is not None or damping is not None or stiffening is not None:
            raise AnalysisError("campbell: a System has its bodies, supports and damping already; give spinning= only.")
        chosen = frame or "inertial"
        found = spinning_system(model, direction, chosen == "rotating", spinning)
    else:
        if spinning is not None:
            raise AnalysisError("campbell: spinning= names bodies of a System; a body by itself spins as a whole.")
        chosen = frame or "rotating"
        if isinstance(model, Elements):
            found = spinning_part(model, direction, fixed, stiffening, damping)
        elif isinstance(model, FlexibleBody | ReducedPart):
            if fixed is not None:
                raise AnalysisError(f"campbell: {model.name} is held with fixed= when it is made, not here.")
            found = spinning_body(model, direction, stiffening, damping)
        else:
            raise AnalysisError(
                f"campbell: a FlexibleBody, Elements or a System is needed, not {type(model).__name__}."
            )
    return _diagram(found, omega, int(count), chosen)


def _speeds(given: ArrayLike) -> Array:
    try:
        omega = np.array(given, dtype=float)
    except (TypeError, ValueError):
        omega = np.zeros(0)
    if omega.ndim != 1 or not len(omega) or not np.isfinite(omega).all() or omega[0] < 0 or (np.diff(omega) <= 0).any():
        raise AnalysisError(f"campbell: speeds are ascending numbers [rad/s], zero or more, not {given!r}.")
    return omega


def _searched(model: SpinningModel, count: int, frame: str) -> int:
    """Pairs that are solved for: some more than asked for, since modes overtake each other, most as seen otherwise."""
    dear = model.bisections < PATIENT and (frame == "rotating") == model.turning
    return count + 6 if dear else 2 * count + 8


def _growth(values: Complex) -> float:
    return float(values.real.max(initial=-np.inf))


def _diagram(model: SpinningModel, speeds: Array, count: int, frame: str) -> Campbell:
    """Follow the modes down from the first speed that is not zero, where whirls differ, then up from there."""
    searched = _searched(model, count, frame)
    start = min(int(np.searchsorted(speeds, 0.0, side="right")), len(speeds) - 1)
    begun = solved(model, float(speeds[start]), searched)
    waves = np.zeros(len(begun.values), dtype=np.int64)
    if frame == "inertial" and model.turning:
        waves = model.waves(begun.shapes) if speeds[start] else model.waves(begun.shapes[:, :0])
    below = [begun]
    for speed in speeds[:start][::-1]:
        below.append(follow(model, below[-1], float(speed), searched, count))
    chosen = _lowest(below[-1], waves, count)
    if len(chosen) < count:
        raise AnalysisError(f"campbell: {count} modes were asked for; {model.name} has {len(chosen)}.")
    waves = waves[chosen] if len(waves) else np.zeros(count, dtype=np.int64)
    columns = [_column(model, one, chosen, waves, frame) for one in below[::-1]]
    last = begun
    with Progress("campbell", 0.0, len(speeds) - start - 1) as progress:
        for speed in progress.each(speeds[start + 1 :]):
            last = follow(model, last, float(speed), searched, count)
            columns.append(_column(model, last, chosen, waves, frame))
    values, shapes, whirl, sure, growth = (np.array(column) for column in zip(*columns, strict=True))
    return Campbell(model.name, speeds, frame, values, shapes, whirl, sure, growth, model, waves)


def _lowest(found: Set, waves: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The modes with the lowest frequencies as they are seen, one of each pair."""
    shift = waves if len(waves) else np.zeros(len(found.values))
    seen = found.values + 1j * shift * found.speed
    order = np.argsort(np.abs(seen), kind="stable")
    return np.asarray([k for k in order if seen[k].imag >= 0][:count], dtype=np.int64)


def _column(
    model: SpinningModel, found: Set, chosen: NDArray[np.int64], waves: NDArray[np.int64], frame: str
) -> tuple[Complex, Complex, NDArray[np.int64], Array, float]:
    """Eigenvalues as seen, shapes, sense of whirl seen from the ground, assurance and growth at one speed."""
    values, shapes = found.values[chosen] + 1j * waves * found.speed, found.shapes[:, chosen]
    hand = handedness(model, shapes)
    sense = np.where(np.abs(hand) > WHIRLS, np.sign(hand), 0.0)
    around = sense if frame == "rotating" else np.zeros(len(chosen))
    ground = values.imag + around * found.speed
    whirl = np.where(np.abs(ground) > 1e-9 * model.unit, sense * np.sign(ground), sense).astype(np.int64)
    return values, np.ascontiguousarray(shapes.T), whirl, found.assurance[chosen], _growth(found.values)
