"""Forces written by the user as a Python function of time, poses and twists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import Frame
from flexmbs.bodies.frame_state import FrameState as FrameState
from flexmbs.errors import ModelError
from flexmbs.forces.force import frame, named

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class UserForce:
    """A force by a Python function: ``function(t, states)`` gets a FrameState of each frame and returns their wrenches.

    A wrench is six numbers, force and torque at the frame's origin in global axes; one for each of ``frames``, in their
    order (for a single frame the six numbers alone will do). Implicit steps differentiate it numerically, about once
    per step: smooth functions keep the order of the integrator.
    """

    name: str
    frames: Sequence[Frame]
    function: Callable[[float, tuple[FrameState, ...]], Any]

    def __post_init__(self) -> None:
        named(self.name)
        if not isinstance(self.frames, Iterable | Frame):
            raise ModelError(f"{self.name}: frames are a list of frames, e.g. [crank.at(0.1, 0, 0)].")
        given = (self.frames,) if isinstance(self.frames, Frame) else tuple(self.frames)
        if not given:
            raise ModelError(f"{self.name}: a force acts on at least one frame.")
        object.__setattr__(self, "frames", tuple(frame(f, self.name) for f in given))
        if not callable(self.function):
            raise ModelError(
                f"{self.name}: function takes (t, states) and returns wrenches; {self.function!r} cannot be called."
            )

    def wrenches(self, t: float, states: tuple[FrameState, ...]) -> Array:
        """Wrenches (frames, 6) as the function gives them, checked."""
        given = np.asarray(self.function(t, states), dtype=float)
        if given.shape == (6,) and len(states) == 1:
            given = given[None]
        if given.shape != (len(states), 6):
            raise ModelError(
                f"{self.name}: its function must return {len(states)} wrenches of six numbers, not {given.shape}."
            )
        if not np.isfinite(given).all():
            raise ModelError(f"{self.name}: its function returned {given.tolist()} at t = {t:.6g}.")
        return given
