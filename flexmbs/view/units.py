"""Numbers for people: SI prefixes and round factors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_PREFIXES = {1e9: "G", 1e6: "M", 1e3: "k", 1.0: "", 1e-3: "m", 1e-6: "µ", 1e-9: "n"}


def with_prefix(values: Array, unit: str) -> tuple[Array, str]:
    """Values in a multiple of the unit in which the largest is between 1 and 1000, and that unit."""
    largest = float(np.abs(values).max(initial=0.0))
    factor = next((f for f in _PREFIXES if largest >= f), 1e-9 if largest > 0 else 1.0)
    if unit == "m" and factor > 1:
        factor = 1.0  # nobody measures parts in kilometres
    return values / factor, _PREFIXES[factor] + unit


def round_number(x: float) -> float:
    """The next number of the series 1, 2, 5, 10, ... below a positive x."""
    power = 10.0 ** np.floor(np.log10(x) + 1e-9)
    return float(power * max(k for k in (1, 2, 5) if k <= x / power * (1 + 1e-9)))
