"""Point masses: q = position, v = velocity, no rotation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.body import POINT, Body, Frame, positive, vector
from flexmbs.errors import ModelError

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PointMass(Body):
    """A mass [kg] concentrated in a point; its only frame is at the point, with global axes."""

    kind: ClassVar[int] = POINT
    n_q: ClassVar[int] = 3
    n_v: ClassVar[int] = 3

    mass: float = 1.0
    position: ArrayLike | None = None
    velocity: ArrayLike | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(self.mass, f"{self.name}: mass")
        _ = self.initial

    def at(self, *position: Any, axes: object = None) -> Frame:
        """The frame at the point."""
        frame = super().at(*position, axes=axes)
        if frame.position.any():
            raise ModelError(f"{self.name}: a point mass has no point at {position}; use .at().")
        return frame

    @property
    def mass_parameters(self) -> tuple[float, Array, Array]:
        """The mass alone."""
        return float(self.mass), np.zeros(3), np.zeros((3, 3))

    @property
    def initial(self) -> tuple[Array | None, Array | None, Array | None, Array | None]:
        """Given initial state."""
        return (
            None if self.position is None else vector(self.position, 3, f"{self.name}: position"),
            np.eye(3),
            None if self.velocity is None else vector(self.velocity, 3, f"{self.name}: velocity"),
            np.zeros(3),
        )
