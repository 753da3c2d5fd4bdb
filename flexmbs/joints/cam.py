"""The cam pair: two curves in tangent contact, whose parameters there are coordinates of their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import POINT, Body, vector
from flexmbs.bodies.ground import SPACE as GROUND
from flexmbs.errors import ModelError
from flexmbs.joints import measures
from flexmbs.joints.cam_kernel import misfit
from flexmbs.joints.curves import PlaneCurve
from flexmbs.joints.functions import Expansion, FunctionGroup, directions, function_rows
from flexmbs.joints.joint import Joint, Measure, Row, check_in_plane

Array = NDArray[np.float64]

GRID = 240
"""Points of each curve among which the first contact is looked for."""


@dataclass(frozen=True, eq=False)
class ContactParameters(Body):
    """Coordinates without mass: where on each curve the contact is (the third is not used, and held at zero)."""

    kind: ClassVar[int] = POINT
    n_q: ClassVar[int] = 3
    n_v: ClassVar[int] = 3
    guessed: ClassVar[bool] = True

    start: tuple[float, float] = (0.0, 0.0)
    lengths: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """What a change of each by one moves the contact, [m]."""

    @property
    def initial(self) -> tuple[Array | None, Array | None, Array | None, Array | None]:
        """Where the contact is looked for first."""
        return np.array([*self.start, 0.0]), np.eye(3), None, None


@dataclass(frozen=True, eq=False)
class Cam(Joint, FunctionGroup):
    """Two curves stay in tangent contact: one fixed in the first frame (the cam), one in the second (the follower).

    The curves may roll and slide on each other; nothing lets them part: a negative reaction along the normal says that
    something else (a spring, a groove) must hold them together. Where on each curve the contact is, are two coordinates
    without mass, which ``System`` adds: ``parameter_i`` and ``parameter_j``. With the points p and tangents t of both
    curves in the first frame, and n across t_i, they follow from t_i × t_j = 0 and (p_j - p_i) · t_i = 0; the cam's own
    row is (p_j - p_i) · n = 0 (tangents and n of unit length).

    Parameters
    ----------
    curve_i, curve_j : such as planar.Circle(0.02), planar.Line(), planar.Curve(points).
    parameters : where on both curves the contact is at the start, about; found by search if left out.
    """

    curve_i: PlaneCurve = field(default=None)  # type: ignore[assignment]
    curve_j: PlaneCurve = field(default=None)  # type: ignore[assignment]
    parameters: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_in_plane(self)
        for name in ("curve_i", "curve_j"):
            if not isinstance(getattr(self, name), PlaneCurve):
                raise ModelError(
                    f"{self.name}: {name} is a curve such as planar.Circle(0.02), planar.Line() or "
                    f"planar.Curve(points), not {getattr(self, name)!r}."
                )
        if self.parameters is not None:
            vector(self.parameters, 2, f"{self.name}: parameters")

    @cached_property
    def contact(self) -> Contact:
        """The constraint that finds the contact, with the coordinates for it."""
        return Contact(self)

    @property
    def parameter_i(self) -> Measure:
        """Where on the first curve the contact is."""
        return self._parameter(0)

    @property
    def parameter_j(self) -> Measure:
        """Where on the second curve the contact is."""
        return self._parameter(1)

    def _parameter(self, k: int) -> Measure:
        e, name = np.eye(3)[k], f"{self.name}.parameter_{'ij'[k]}"
        return Measure(measures.SPACE, GROUND.at(0.0, 0.0, 0.0), self.contact.body.at(), e, e, e, name, self)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Position (x, y) and rotation (cosine, sine) of the second frame in the first, and both parameters."""
        x, y, _ = np.eye(3)
        relative = (self.along(x), self.along(y), self.cosine(x, x), self.cosine(y, x))
        return (*relative, self.parameter_i, self.parameter_j)

    @property
    def rows(self) -> tuple[Row, ...]:
        """One row: the curves neither part nor overlap."""
        return function_rows(self.measures, ("gap between the curves",))

    def expand(self, t: float, c: Array, rates: Array, biases: Array, size: float) -> Expansion:
        """The gap."""
        return self._expand(c, rates, biases, slice(2, 3))

    def _expand(self, c: Array, rates: Array, biases: Array, which: slice) -> Expansion:
        out = np.zeros((3, 3, 1 + len(c)))
        curve_i, curve_j = self.curve_i.derivatives(float(c[4])), self.curve_j.derivatives(float(c[5]))
        misfit(c, *directions(rates, biases), curve_i, curve_j, out)
        value, first, second = out[which, 0, 0], out[which, 1], out[which, 2]
        return Expansion(value, first[:, 1:], first[:, 0], second[:, 0])

    def search(self, position: Array, rotation: Array) -> Array:
        """Parameters at which the curves are nearest to a tangent contact, for the second frame's pose in the first."""
        grids = [np.linspace(*curve.span, GRID) for curve in (self.curve_i, self.curve_j)]
        found = [
            np.array([curve.derivatives(s)[:2] for s in grid])
            for curve, grid in zip((self.curve_i, self.curve_j), grids, strict=True)
        ]
        points, tangents = (found[1][:, k] @ rotation[:2, :2].T for k in (0, 1))
        ways = points[None] + position[:2] - found[0][:, 0][:, None]
        size = max(float(np.ptp(f[:, 0], axis=0).max()) for f in found)
        units = [t / np.linalg.norm(t, axis=1)[:, None] for t in (found[0][:, 1], tangents)]
        sines = units[0][:, None, 0] * units[1][None, :, 1] - units[0][:, None, 1] * units[1][None, :, 0]
        cost = np.sum(ways**2, axis=2) / size**2 + sines**2
        a, b = np.unravel_index(int(np.argmin(cost)), cost.shape)
        return np.array([grids[0][a], grids[1][b]])


class Contact(FunctionGroup):
    """Finds the contact of a cam pair: two rows for its two parameters, and one for the coordinate not used."""

    def __init__(self, cam: Cam) -> None:
        self.cam, self.name = cam, f"{cam.name} (contact)"
        start = (0.0, 0.0) if cam.parameters is None else tuple(map(float, cam.parameters))
        speeds = [
            float(np.mean([np.linalg.norm(curve.derivatives(s)[1]) for s in np.linspace(*curve.span, 20)]))
            for curve in (cam.curve_i, cam.curve_j)
        ]
        self.body = ContactParameters(self.name, start, (speeds[0], speeds[1], 1.0))  # type: ignore[arg-type]

    @property
    def rows(self) -> tuple[Row, ...]:
        """Three rows."""
        z = np.array([0.0, 0.0, 1.0])
        unused = Measure(measures.SPACE, GROUND.at(0.0, 0.0, 0.0), self.body.at(), z, z, z)
        labels = ("tangents at the contact", "points of contact along the tangent")
        return (*function_rows(self.cam.measures, labels), Row(((1.0, unused),), "coordinate not used"))

    def expand(self, t: float, c: Array, rates: Array, biases: Array, size: float) -> Expansion:
        """What the parameters must fulfil."""
        return self.cam._expand(c, rates, biases, slice(0, 2))
