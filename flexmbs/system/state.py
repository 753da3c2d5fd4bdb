"""State of a mechanism at one instant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class State:
    """Time, coordinates q, velocities v, and the values near which each angle is counted (they know the turns).

    ``carried`` is what an integrator left at the end of a run, so that it can go on as if it had not stopped.
    """

    t: float
    q: Array
    v: Array
    angles: Array
    carried: Any = None
