"""Constraints written by the user as a Python function of time, poses and twists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import Frame
from flexmbs.bodies.frame_state import FrameState
from flexmbs.bodies.ground import SPACE as GROUND
from flexmbs.errors import ModelError
from flexmbs.joints import measures
from flexmbs.joints.drives import check_name
from flexmbs.joints.functions import FAILS, STEP, Expansion, FunctionGroup, along, duals, function_rows, parts
from flexmbs.joints.joint import Measure, Row
from flexmbs.profiles.duals import Dual
from flexmbs.rotations import exp

Array = NDArray[np.float64]

PER_FRAME = 12
"""Measures of a frame: its position, and the rows of its rotation matrix."""


@dataclass(frozen=True, eq=False, init=False)
class UserConstraint(FunctionGroup):
    """A constraint by a Python function: ``function(t, states)`` gets a FrameState of each frame and must be zero.

    Parameters
    ----------
    frames : the frames it depends on, one or several.
    function : returns one number, or as many as ``rows``.
    level : "position": the function depends on positions and rotations; "velocity": on the twists too, of which it
        restrains the velocities alone (nonholonomic).
    jacobian : if given, ``jacobian(t, states)`` returns the derivatives (rows, frames, 6) by the frames' twists
        (velocity, angular velocity; global axes): the wrench that a unit multiplier exerts on each frame.
    rows : how many numbers the function returns.

    Without ``jacobian`` a function made of arithmetic, ``@`` and NumPy's functions of numbers (np.sin, np.sqrt) is
    differentiated by dual numbers, exact to rounding; any other, and the second derivatives where ``jacobian`` is
    given, by differences of sixth order, see ``functions``.
    """

    name: str
    frames: Sequence[Frame]
    function: Callable[[Any, tuple[FrameState, ...]], Any]
    level: str = "position"
    jacobian: Callable[[Any, tuple[FrameState, ...]], Any] | None = None
    rows_count: int = 1

    def __init__(
        self,
        name: str,
        frames: Frame | Sequence[Frame],
        function: Callable[[Any, tuple[FrameState, ...]], Any],
        level: str = "position",
        jacobian: Callable[[Any, tuple[FrameState, ...]], Any] | None = None,
        rows: int = 1,
    ) -> None:
        check_name(name)
        given = (frames,) if isinstance(frames, Frame) else frames
        if not isinstance(given, tuple | list) or not given or not all(isinstance(f, Frame) for f in given):
            raise ModelError(f"{name}: frames are one or several such as crank.at(0.1, 0, 0), not {frames!r}.")
        for what, value in (("function", function), ("jacobian", jacobian)):
            if not callable(value) and not (what == "jacobian" and value is None):
                raise ModelError(f"{name}: {what} takes (t, states); {value!r} cannot be called.")
        if level not in ("position", "velocity"):
            raise ModelError(f'{name}: level is "position" or "velocity", not {level!r}.')
        if isinstance(rows, bool) or not isinstance(rows, int | np.integer) or rows < 1:
            raise ModelError(f"{name}: rows is how many numbers the function returns, one or more, not {rows!r}.")
        values: tuple[Any, ...] = (name, tuple(given), function, level, jacobian, int(rows))
        for field, entry in zip(self.__dataclass_fields__, values, strict=True):
            object.__setattr__(self, field, entry)

    @property
    def rows(self) -> tuple[Row, ...]:
        """As many as the function returns."""
        count, velocity = self.rows_count, self.level == "velocity"
        labels = tuple("user function" if count == 1 else f"user function {k + 1}" for k in range(count))
        return function_rows(tuple(m for f in self.frames for m in frame_measures(f)), labels, velocity)

    def expand(self, t: float, c: Array, rates: Array, biases: Array, size: float) -> Expansion:
        """The function with its derivatives, by twists; those by rotation matrices follow."""
        at = Moving(c, rates, biases, size)
        try:
            if self.jacobian is not None:
                raise TypeError("differences are asked for")
            total, wrenches = self._by_duals(t, at)
        except FAILS:
            total, wrenches = self._by_differences(t, at)
        value, first, second = total
        out = Expansion(value, at.factors(wrenches), first, second)
        if not all(np.isfinite(a).all() for a in out):
            raise ModelError(f"{self.name}: a derivative of its function is not finite at t = {t:.6g}.")
        return out

    def _by_duals(self, t: float, at: Moving) -> tuple[Array, Array]:
        """The functions with derivatives along the motion (3, rows), and their derivatives by twists (rows, twists)."""
        count, lanes = self.rows_count, 1 + at.twists
        time = Dual(t, np.eye(1, lanes)[0], np.zeros(lanes))
        value, first, second = parts(self._call(time, at.duals(self.level == "velocity")), count, lanes)
        return np.stack([value, first[:, 0], second[:, 0]]), first[:, 1:]

    def _by_differences(self, t: float, at: Moving) -> tuple[Array, Array]:
        """The same by differences, but for derivatives that are given."""
        velocity = self.level == "velocity"
        total = np.array(
            [
                self._numbers(t, at.states()),
                *along(lambda s: self._numbers(t + s, at.after(s)), STEP / at.speed),
            ]
        )
        if self.jacobian is not None:
            return total, self._given(t, at.states())

        def derivative(k: int) -> Array:
            return along(lambda s: self._numbers(t, at.moved(k, s, velocity)), STEP * at.scale(k, velocity))[0]

        return total, np.stack([derivative(k) for k in range(at.twists)], axis=1)

    def _call(self, t: Any, states: tuple[FrameState, ...]) -> Any:
        with np.errstate(all="ignore"):
            return self.function(t, states)

    def _numbers(self, t: float, states: tuple[FrameState, ...]) -> Array:
        try:
            given = np.asarray(self._call(t, states), dtype=float)
        except ArithmeticError as error:
            raise ModelError(f"{self.name}: its function fails at t = {t:.6g}: {error}.") from error
        if given.size != self.rows_count:
            raise ModelError(
                f"{self.name}: its function must return {self.rows_count} number(s), not an array of shape "
                f"{given.shape}; rows= says how many."
            )
        if not np.isfinite(given).all():
            raise ModelError(f"{self.name}: its function is not finite at t = {t:.6g}.")
        return given.reshape(self.rows_count)

    def _given(self, t: float, states: tuple[FrameState, ...]) -> Array:
        assert self.jacobian is not None
        given = np.asarray(self.jacobian(t, states), dtype=float)
        if given.size != self.rows_count * len(states) * 6:
            raise ModelError(
                f"{self.name}: jacobian must return {self.rows_count} x {len(states)} x 6 numbers, a wrench for each "
                f"row and frame, not an array of shape {given.shape}."
            )
        return given.reshape(self.rows_count, -1)


class Moving:
    """Frames at a state with their twists, from the measures of their poses; accelerations are those at v' = 0."""

    def __init__(self, c: Array, rates: Array, biases: Array, size: float) -> None:
        self.position, self.rotation = _poses(c)
        self.velocity, self.turning = _poses(rates)
        self.acceleration, self.bending = _poses(biases)
        self.count, self.size = len(self.position), size
        tilde = self.turning @ self.rotation.transpose(0, 2, 1)  # R' Rᵀ
        self.spin = np.stack([tilde[:, 2, 1], tilde[:, 0, 2], tilde[:, 1, 0]], axis=1)

    @property
    def twists(self) -> int:
        """Number of components of all twists."""
        return 6 * self.count

    @property
    def speed(self) -> float:
        """How fast the frames move, in sizes or radians [1/s]."""
        linear = np.abs(self.velocity).max() / self.size, (np.abs(self.acceleration).max() / self.size) ** 0.5
        return max(1.0, *map(float, linear), float(np.abs(self.spin).max()))

    def scale(self, k: int, velocity: bool) -> float:
        """What counts as large for component k of a move, or of a velocity."""
        return (self.size if k % 6 < 3 else 1.0) * (self.speed if velocity else 1.0)

    def states(self) -> tuple[FrameState, ...]:
        """The frames as numbers."""
        return tuple(map(FrameState, self.position, self.rotation, self.velocity, self.spin))

    def after(self, s: float) -> tuple[FrameState, ...]:
        """The frames a time s later."""
        position = self.position + s * self.velocity + 0.5 * s * s * self.acceleration
        rotation = np.array([exp(s * w) @ r for w, r in zip(self.spin, self.rotation, strict=True)])
        return tuple(map(FrameState, position, rotation, self.velocity + s * self.acceleration, self.spin))

    def moved(self, k: int, s: float, velocity: bool) -> tuple[FrameState, ...]:
        """The frames with one component of their poses, or of their twists, changed by s."""
        frame, component = divmod(k, 6)
        change = s * np.eye(3)[component % 3]
        states = list(self.states())
        own = states[frame]
        if velocity:
            changed = (
                own._replace(velocity=own.velocity + change)
                if component < 3
                else own._replace(angular_velocity=own.angular_velocity + change)
            )
        elif component < 3:
            changed = own._replace(position=own.position + change)
        else:
            changed = own._replace(rotation=exp(change) @ own.rotation)
        states[frame] = changed
        return tuple(states)

    def duals(self, velocity: bool) -> Any:
        """The frames along the motion, and as each component of their poses, or of their twists, changes alone."""
        n = self.count
        change, none = np.zeros((2, n, 3, 6 * n)), np.zeros((n, 3, 6 * n))
        for k in range(6 * n):
            frame, component = divmod(k, 6)
            change[component // 3, frame, component % 3, k] = 1.0
        shift, turn = (none, none) if velocity else change
        faster = change if velocity else (none, none)
        turned = np.cross(turn[:, :, None, :], self.rotation[:, :, :, None], axis=1)

        def several(along: Array, each: Array) -> Array:
            return np.concatenate([along[..., None], each], axis=-1)

        still, spin_still = several(self.acceleration, none), several(0 * self.spin, none)
        return tuple(
            map(
                FrameState,
                duals(self.position, several(self.velocity, shift), still),
                duals(self.rotation, several(self.turning, turned), several(self.bending, 0 * turned)),
                duals(self.velocity, several(self.acceleration, faster[0]), spin_still),
                duals(self.spin, several(0 * self.spin, faster[1]), spin_still),
            )
        )

    def factors(self, wrenches: Array) -> Array:
        """Factors (rows, measures) whose wrenches on the frames are those given (rows, twists).

        A moment M is that of the factors ½ M~ R of the entries of R: Σ b × (M × b) = 2 M over the axes b.
        """
        given = wrenches.reshape(-1, self.count, 6)
        turning = 0.5 * np.cross(given[:, :, 3:, None], self.rotation[None], axis=2)
        flat = turning.reshape(len(given), self.count, 9)
        return np.concatenate([given[:, :, :3], flat], axis=2).reshape(len(given), -1)


def frame_measures(frame: Frame) -> tuple[Measure, ...]:
    """A frame's position in space, and the entries of its rotation matrix."""
    space = GROUND.at(0.0, 0.0, 0.0)
    axes = np.eye(3)
    shifts = [Measure(measures.SPACE, space, frame, e, e, e) for e in axes]
    turns = [Measure(measures.DOT, space, frame, a, b, a) for a in axes for b in axes]
    return (*shifts, *turns)


def _poses(values: Array) -> tuple[Array, Array]:
    table = values.reshape(-1, PER_FRAME)
    return table[:, :3], table[:, 3:].reshape(-1, 3, 3)
