"""Strain gauges on flexible bodies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.errors import FlexmbsError, ModelError
from flexmbs.reduction.recovery import StrainGauges, fibre_gauges, strain_gauges
from flexmbs.rotations import axis_vector

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StrainGauge:
    """A strain gauge on a flexible body; ``result.strain(gauge)`` is what it measures.

    ``at`` is a node number, a set (the mean over its nodes) or a point of the body: of solid and plane bodies the
    nearest node, of beams the fibre through it. ``direction`` is "x", "y", "z" or a vector, in body axes; on beams
    gauges lie along the fibres, so that it is not needed.
    """

    body: FlexibleBody
    at: Any
    direction: str | ArrayLike | None = None
    nodes: NDArray[np.int64] = field(init=False, repr=False)
    modes: StrainGauges = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.body, FlexibleBody):
            raise ModelError(f"a strain gauge sits on a FlexibleBody, not on {self.body!r}.")
        try:
            nodes = self._nodes()
            object.__setattr__(self, "modes", self._modes(nodes))
        except FlexmbsError as error:
            raise ModelError(f"{self.body.name}, strain gauge at {self.at!r}: {error}") from error
        object.__setattr__(self, "nodes", nodes)

    def _modes(self, nodes: NDArray[np.int64]) -> StrainGauges:
        reduced = self.body.reduced
        if reduced.mesh.dimension > 1:
            if self.direction is None:
                raise ModelError("a direction is needed, e.g. direction='x'.")
            return strain_gauges(reduced, nodes, axis_vector(self.direction))
        if self.direction is not None:
            raise ModelError("on a beam gauges lie along the fibres; leave the direction out.")
        if np.ndim(self.at):
            return fibre_gauges(reduced, np.pad(np.asarray(self.at, dtype=float), (0, 3 - len(self.at))))
        return fibre_gauges(reduced, reduced.mesh.points[nodes])

    def _nodes(self) -> NDArray[np.int64]:
        mesh = self.body.reduced.mesh
        if isinstance(self.at, str):
            return np.array(mesh.nodes(self.at))
        if np.ndim(self.at) == 0:
            if not isinstance(self.at, int | np.integer) or not 0 <= self.at < mesh.n_nodes:
                raise ModelError(f"gauges sit on node numbers from 0 to {mesh.n_nodes - 1}.")
            return np.array([self.at])
        point = np.asarray(self.at, dtype=float)
        if point.shape not in ((2,), (3,)) or not np.isfinite(point).all():
            raise ModelError("a place is a node number, the name of a set, or a point of two or three numbers.")
        node = mesh.nearest_node(point)
        away = float(np.linalg.norm(mesh.points[node] - np.pad(point, (0, 3 - len(point)))))
        if away > 0.25 * mesh.size:
            raise ModelError(f"the nearest node, {node}, is {away:.3g} m away: the point does not lie on the body.")
        return np.array([node])
