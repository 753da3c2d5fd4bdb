"""ExplicitRK: equal steps of an explicit Runge–Kutta method in the coordinates of the joints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flexmbs.errors import ModelError
from flexmbs.integrators.adaptive import equal_steps
from flexmbs.integrators.events import Watch
from flexmbs.integrators.history import History, Keeper
from flexmbs.integrators.steppers import METHODS
from flexmbs.integrators.tangent_space import TangentSpaceODE
from flexmbs.system.state import State


@dataclass(frozen=True)
class ExplicitRK:
    """Steps of fixed length on the constraint manifold, as TangentSpaceODE takes them of chosen length.

    For real-time use and comparisons; nothing watches the error. Work grows with the number of bodies.

    Parameters
    ----------
    method : "RK4" (the classical method), "RK45" or "DOP853" (orders 4, 5 and 8).
    """

    method: str = "RK4"

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ModelError(f"method is one of {', '.join(METHODS)}, not {self.method!r}.")

    @property
    def order(self) -> int:
        """Order of the error over a given time."""
        return {"RK4": 4, "RK45": 5, "DOP853": 8}[self.method]

    def run(
        self,
        system: Any,
        start: State,
        t_end: float,
        step: float,
        every: int = 1,
        progress: Callable[[float], None] | None = None,
        watch: Watch | None = None,
        keeper: Keeper | None = None,
    ) -> tuple[History, str, dict[str, int]]:
        """Integrate from ``start`` to ``t_end`` in equal steps, keeping every ``every``-th; history, outcome, counters.

        A step that meets a kink of a profile ends there. A run that cannot go on keeps what was computed.
        """
        return equal_steps(TangentSpaceODE(), self.method, system, start, t_end, step, every, progress, watch, keeper)
