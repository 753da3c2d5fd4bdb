"""What users give, as numbers: NaN stands for what is none, so that the check that refuses NaN refuses it too."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def number(value: Any) -> float:
    """The value as a float, NaN if it is no single number."""
    if isinstance(value, str | bytes):
        return float("nan")
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")


def array(value: Any) -> NDArray[np.float64]:
    """The value as an array of numbers (a copy), one NaN if it is none."""
    try:
        return np.array(value, dtype=float)
    except (TypeError, ValueError):
        return np.array(np.nan)
