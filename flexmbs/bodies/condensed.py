"""Flexible bodies in full order as a mechanism sees them: a rigid body whose held frames move by few coordinates e.

Joints and forces know a body by its frames only, and these by e = Φ d, as many combinations of the nodal coordinates d
as the frames in use need. So the mechanism is laid out with e in place of d. What the compiled functions put into its
equations for such a body is a rigid one, and a unit mass on every e; ``full_order`` adds the rest, and takes that mass
away again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from flexmbs.bodies.body import Body, Frame
from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.reduction.full import FullPart

Array = NDArray[np.float64]

DEPENDENT = 1e-9
"""Part of a frame's row over d, beside those already there, below which it follows from them."""


@dataclass(frozen=True, eq=False)
class CondensedBody(Body):
    """What stands for a body in full order: its floating frame, and the coordinates e of the frames in use."""

    full: FlexibleBody = None  # type: ignore[assignment]
    frames: Sequence[Frame] = field(default=(), repr=False)

    @property
    def part(self) -> FullPart:
        """The part in full order."""
        assert isinstance(self.full.reduced, FullPart)
        return self.full.reduced

    @property
    def kind(self) -> int:  # type: ignore[override]
        """As a rigid or planar body."""
        return self.full.kind

    @property
    def modes(self) -> int:
        """Number of coordinates e."""
        return len(self._chosen[0])

    @property
    def n_q(self) -> int:  # type: ignore[override]
        """Number of coordinates."""
        return self.full.n_q - self.full.modes + self.modes

    @property
    def n_v(self) -> int:  # type: ignore[override]
        """Number of velocities."""
        return self.full.n_v - self.full.modes + self.modes

    @property
    def mass_parameters(self) -> tuple[float, Array, Array]:
        """Those of the undeformed body."""
        return self.full.mass_parameters

    @property
    def initial(self) -> tuple[Array | None, Array | None, Array | None, Array | None]:
        """Given initial state."""
        return self.full.initial

    @property
    def rows(self) -> Array:
        """Φ (modes, nodal coordinates): e = Φ d for every d that fulfils the reference conditions."""
        return self._chosen[1]

    @property
    def modal_lengths(self) -> Array:
        """A displacement counts as it is, a rotation as what it moves a body's length away."""
        turns = self._chosen[0] % 6 >= 3
        return np.where(turns, self.part.mesh.size, 1.0)

    @cached_property
    def modal_constants(self) -> Array:
        """Those of a rigid body with unit masses beside it; in the order of ``flexible_inertia.packed``."""
        c, n = self.part.constants, self.modes
        head = np.concatenate([[c.mass], c.s0, np.ravel(c.second), [0.0]])
        return np.concatenate([head, np.zeros(14 * n + 15 * n * n)])

    def holding(self, frame: Frame) -> Frame:
        """A frame of the full body, moved by e."""
        return Frame(self, frame.position, frame.axes, self._shapes[frame.shapes.tobytes()])

    @cached_property
    def _chosen(self) -> tuple[NDArray[np.int64], Array, Array]:
        """Rows of frames that are independent, these rows, and all rows from them (6 frames, modes).

        What the reference conditions hold is taken out of the rows first: it does not move.
        """
        d = self.part.size
        every = np.vstack([np.zeros((0, d)), *(f.shapes for f in self.frames)])
        size = np.linalg.norm(every, axis=1)
        held = self.part.conditions.toarray()
        if len(held):
            across = scipy.linalg.qr(held.T, mode="economic")[0]
            every = every - (every @ across) @ across.T
        scale = np.where(size > 0.0, 1.0 / np.where(size > 0.0, size, 1.0), 0.0)
        every[np.linalg.norm(every, axis=1) * scale < DEPENDENT] = 0.0
        if not every.any():
            return np.zeros(0, np.int64), np.zeros((0, d)), np.zeros((len(every), 0))
        triangle, order = scipy.linalg.qr((every * scale[:, None]).T, mode="r", pivoting=True)
        diagonal = np.abs(np.diag(triangle))
        count = int((diagonal > DEPENDENT * diagonal[0]).sum())
        first = order[:count]
        follow = np.zeros((len(every), count))
        follow[order] = scipy.linalg.solve_triangular(triangle[:count, :count], triangle[:count]).T
        sort = np.argsort(first)
        first, follow = first[sort], follow[:, sort]
        with np.errstate(divide="ignore", invalid="ignore"):
            back = np.where(scale > 0.0, 1.0 / np.where(scale > 0.0, scale, 1.0), 0.0)
        return first, every[first], back[:, None] * follow * scale[first]

    @cached_property
    def _shapes(self) -> dict[bytes, Array]:
        """Shapes (6, modes) of the frames in use, by those over d."""
        follow = self._chosen[2]
        return {f.shapes.tobytes(): follow[6 * k : 6 * k + 6].copy() for k, f in enumerate(self.frames)}
