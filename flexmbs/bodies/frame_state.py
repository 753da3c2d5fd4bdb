"""What a user's own force or constraint sees of a frame."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class FrameState(NamedTuple):
    """Pose and twist of a frame, in global axes."""

    position: Array  # (3,)
    rotation: Array  # (3, 3) axes as columns
    velocity: Array  # (3,)
    angular_velocity: Array  # (3,)
