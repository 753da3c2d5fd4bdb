"""What a formulation is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any

from flexmbs.equations import Equations, Solution


@dataclass(frozen=True, repr=False)
class Formulation(ABC):
    """A way from `Equations` to accelerations and reactions.

    Whoever writes one gives a frozen dataclass whose fields are its configuration, and `solve`, such that:

    1. `solve` reads the equations only, and keeps nothing from one call to the next;
    2. M v' = f + Jᵀλ and J v' = gamma hold for what it returns, also with redundant rows; λ is then the least one;
    3. a singular M is taken wherever the constraints leave the accelerations unique, else SolverError in words;
    4. contradicting rows raise ProjectionError naming them (`Constraints.of` sees to it);
    5. it ends with `Constraints.solution`, which finds λ where it is not known, and checks 2.
    """

    @abstractmethod
    def solve(self, equations: Equations) -> Solution:
        """Accelerations, multipliers and reactions at this instant."""

    def __repr__(self) -> str:
        chosen = [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default]
        return f"{type(self).__name__}({', '.join(f'{name}={_short(value)}' for name, value in chosen)})"


def _short(value: Any) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else repr(value)
