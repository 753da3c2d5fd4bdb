"""The ground: a body that does not move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import GROUND, Body

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ground(Body):
    """The inertial frame; joints to it hold on to the world."""

    kind: ClassVar[int] = GROUND
    n_q: ClassVar[int] = 0
    n_v: ClassVar[int] = 0

    name: str = "ground"

    @property
    def initial(self) -> tuple[Array | None, Array | None, Array | None, Array | None]:
        """At the origin, at rest."""
        return np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3)


SPACE = Ground("space")
"""The ground of whichever system: what is measured in space refers to it without holding the system's own Ground."""
