"""A benchmark case: what it is, who vouches for its numbers, and how flexmbs finds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Quantity:
    """One number with its reference; ``within`` is the largest difference allowed, relative to ``scale``.

    The scale is the reference itself, or what the quantity belongs to: the size of a motion, the largest deflection.
    """

    name: str
    reference: float
    within: float
    scale: float = 0.0

    def difference(self, found: float) -> float:
        """|found - reference| / scale."""
        return abs(found - self.reference) / (self.scale or abs(self.reference))


@dataclass(frozen=True)
class Case:
    """Quantities with references, and the function that computes all of them, in their order."""

    key: str
    title: str
    about: str
    source: str
    model: str
    quantities: Sequence[Quantity]
    compute: Callable[[], Sequence[float] | np.ndarray] = field(repr=False)

    def found(self) -> np.ndarray:
        """What flexmbs finds, one number for each quantity."""
        values = np.asarray(self.compute(), dtype=float).ravel()
        assert len(values) == len(self.quantities), f"{self.key}: {len(values)} values, {len(self.quantities)} wanted"
        return values
