"""Controllers sampled at a fixed rate: a Python law called at equal times, its outputs held in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import Body, Frame, positive
from flexmbs.errors import ModelError
from flexmbs.forces.force import Force, named
from flexmbs.forces.springs import SpringDamper
from flexmbs.joints.joint import Measure

Array = NDArray[np.float64]


class Sensed(NamedTuple):
    """A joint's coordinate as a controller reads it."""

    value: float
    rate: float


@dataclass(frozen=True, eq=False)
class Controller:
    """A digital controller: ``law(t, inputs, memory)`` is called every ``period`` and returns (outputs, memory).

    ``inputs`` has one entry for each of ``sense``: (value, rate) of a joint's coordinate, or the FrameState of a frame.
    ``outputs`` are the forces or torques along the coordinates ``act``, held until the next sample (one number for one
    coordinate). What the law has to remember, such as the integral of an error, it returns as ``memory`` and gets back
    at the next sample; it begins with the ``memory`` given here. ``forward_dynamics`` samples at its start and every
    period after; other analyses see outputs of zero.
    """

    name: str
    period: float
    sense: Sequence[Measure | Frame]
    act: Sequence[Measure]
    law: Callable[[float, list[Any], Any], tuple[Any, Any]]
    memory: Any = None

    def __post_init__(self) -> None:
        named(self.name)
        positive(self.period, f"{self.name}: period")
        for what, kinds in (("sense", (Measure, Frame)), ("act", (Measure,))):
            given = getattr(self, what)
            items = (given,) if isinstance(given, Measure | Frame) else given
            if not isinstance(items, list | tuple) or not all(isinstance(item, kinds) for item in items):
                raise ModelError(
                    f"{self.name}: {what} is a list of joint coordinates such as hinge.angle"
                    f"{' or of frames' if Frame in kinds else ''}, not {given!r}."
                )
            if any(isinstance(item, Measure) and item.is_rate for item in items):
                raise ModelError(f"{self.name}: {what}: a coordinate is needed, not a velocity.")
            object.__setattr__(self, what, tuple(items))
        if not self.act:
            raise ModelError(f"{self.name}: act needs at least one coordinate.")
        if not callable(self.law):
            raise ModelError(f"{self.name}: law takes (t, inputs, memory); {self.law!r} cannot be called.")

    def parts(self, bodies: Sequence[Body]) -> list[Force]:
        """The actuators, whose forces the samples set."""
        names = [m.name or f"output {k}" for k, m in enumerate(self.act)]
        return [SpringDamper(f"{self.name}: {n}", m, force=0.0) for n, m in zip(names, self.act, strict=True)]

    @property
    def frames(self) -> tuple[Frame, ...]:
        """All frames that it senses or acts on."""
        pairs = [(s,) if isinstance(s, Frame) else (s.frame_i, s.frame_j) for s in (*self.sense, *self.act)]
        return tuple(frame for pair in pairs for frame in pair)

    def sampled(self, t: float, inputs: list[Any], memory: Any) -> tuple[Array, Any]:
        """Outputs (act,) and memory as the law gives them, checked."""
        given = self.law(t, inputs, memory)
        if not isinstance(given, tuple) or len(given) != 2:
            raise ModelError(f"{self.name}: its law must return (outputs, memory), not {given!r}.")
        try:
            outputs = np.atleast_1d(np.asarray(given[0], dtype=float))
        except (TypeError, ValueError):
            outputs = np.zeros(0)
        if outputs.shape != (len(self.act),) or not np.isfinite(outputs).all():
            raise ModelError(
                f"{self.name}: its law must give {len(self.act)} finite numbers, but at t = {t:.6g} gave {given[0]!r}."
            )
        return outputs, given[1]
