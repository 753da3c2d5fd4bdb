"""ElasticResponse: how one body deformed while its frame moved as prescribed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.body import Frame
from flexmbs.errors import AnalysisError, FlexmbsError
from flexmbs.fem.rigid import rigid_motions
from flexmbs.fem.stress import SectionForces, TensorField, stress, von_mises
from flexmbs.mesh.mesh import Which
from flexmbs.projection import Projection
from flexmbs.reduction import Envelope, FloatingBody, Part, ReducedPart, stress_modes
from flexmbs.reduction.interfaces import frame_rows
from flexmbs.reduction.stiffening import acceleration_fields, inertia_loads
from flexmbs.results.saving import Saved

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ElasticResponse(Saved):
    """Elastic coordinates of one body over time, in the axes of its moving frame.

    ``d``, ``rate``, ``rate2`` (times, n) are the coordinates and their derivatives; ``acceleration`` (of the origin,
    less gravity), ``spin`` and ``spin_rate`` (times, 3) the motion of the frame in its own axes. ``factors``
    (times, k) are those of the twelve unit inertia loads and of the loads on sets.
    """

    name: str
    t: Array
    d: Array
    rate: Array
    rate2: Array
    acceleration: Array
    spin: Array
    spin_rate: Array
    factors: Array
    resultants: Array = field(repr=False)
    part: Part | None = field(repr=False)
    reduced: ReducedPart | None = field(repr=False)
    projection: Projection | None = field(repr=False)
    steps: int = 0
    wall_time: float = 0.0

    def __repr__(self) -> str:
        kind = "full order" if self.reduced is None else "reduced"
        return f"<ElasticResponse of {self.name!r}: {len(self.t)} instants, {self.d.shape[1]} coordinates, {kind}>"

    def elastic(self) -> Array:
        """Elastic coordinates (times, n)."""
        return self.d

    def displacement(self, at: float) -> Array:
        """Displacement of all nodes (nodes, per node) at a time, in body axes.

        With the static correction of inertia and set loads, which is what the coordinates of a reduced body leave out.
        """
        k, share = self._between(at)
        d = (1 - share) * self.d[k] + share * self.d[min(k + 1, len(self.t) - 1)]
        if self.reduced is None:
            return self._nodal(d)
        factors = self._case_factors()
        here = (1 - share) * factors[k] + share * factors[min(k + 1, len(self.t) - 1)]
        correction = self.reduced.cases.residual @ here
        return self.reduced.displacement(d) + correction.reshape(self.reduced.mesh.n_nodes, -1)

    def deflection(self, where: Any, chord: tuple[Any, Any] | None = None) -> Array:
        """Displacement (times, 3) of a set, node or point, in body axes; with ``chord=``, from the line of two others.

        ``where`` is a set's name, a node's number, a point, or a frame of the body.
        """
        position, shapes = self._place(where)
        out = self.d @ shapes.T
        if chord is None:
            return np.asarray(out)
        if not isinstance(chord, tuple | list) or len(chord) != 2:
            raise AnalysisError(f"{self.name}: a chord is two places, not {chord!r}.")
        (begin, first), (end, second) = (self._place(place) for place in chord)
        along = end - begin
        if not along.any():
            raise AnalysisError(f"{self.name}: the ends of a chord must be two places, not one.")
        share = float((position - begin) @ along / (along @ along))
        return np.asarray(out - self.d @ ((1 - share) * first + share * second).T)

    def stress(self, at: float) -> TensorField | SectionForces:
        """Stress of solids and plane bodies, or the section forces of beams, at a time."""
        elements = None if self.part is None else self.part.elements
        if elements is None:
            raise AnalysisError(f"{self.name}: stress needs the body's own elements, not only its matrices.")
        return stress(elements, np.ascontiguousarray(self.displacement(at)))

    def stress_envelope(self, nodes: Which = "all") -> Envelope:
        """Largest von Mises stress of nodes over the instants kept (of beams the fibre stress), and when, by number."""
        if self.reduced is not None:
            try:
                return stress_modes(self.reduced, nodes).envelope(self.d, self._case_factors())
            except FlexmbsError as error:
                raise AnalysisError(f"{self.name}: {error}") from error
        assert self.part is not None
        chosen = self.part.mesh.nodes(nodes)
        largest, when = np.full(len(chosen), -1.0), np.zeros(len(chosen), dtype=np.int64)
        for k, t in enumerate(self.t):
            field = self.stress(float(t))
            if isinstance(field, SectionForces):
                raise AnalysisError(f"{self.name}: the envelope of a beam's fibre stress is that of a reduced body.")
            here = np.asarray(von_mises(field.nodal[chosen]))
            better = here > largest
            largest[better], when[better] = here[better], k
        return Envelope(chosen, largest, when)

    def reaction(self) -> Array:
        """Force and moment (times, 6) about the frame's origin that hold the body in its motion, in body axes.

        The balance of the whole body: its inertia forces, less its weight and the loads on sets.
        """
        if self.reduced is not None:
            body = FloatingBody.of(self.reduced, stiffening=bool(len(self.reduced.cases.K_g)))
            out = np.empty((len(self.t), 6))
            for k, (d, rate) in enumerate(zip(self.d, self.rate, strict=True)):
                y = np.concatenate([self.acceleration[k], self.spin_rate[k], self.rate2[k]])
                out[k] = body.mass_matrix(d)[:6] @ y + body.bias(self.spin[k], d, rate)[:6]
        else:
            out = self._nodal_reaction()
        return out - self.factors[:, 12:] @ self.resultants.T

    # ---- inside -------------------------------------------------------------------------------------------------

    def _nodal_reaction(self) -> Array:
        """Inertia forces on all nodes, moments with the arms of the deformed body."""
        assert self.part is not None
        part, elements, n = self.part, self.part.elements, self.part.mesh.n_nodes
        assert elements is not None
        rigid, base = rigid_motions(part), inertia_loads(part)
        moments = [elements.assemble(elements.mass_ij(i, j)) for i in range(3) for j in range(3)]
        blocks = [[rigid.T @ moments[3 * i + j] for j in range(3)] for i in range(3)]
        out = np.zeros((len(self.t), 6))
        fields = acceleration_fields()
        kinds = [0, 1, 5] if part.axes == 2 else [0, 1, 2, 3, 4, 5]
        for k in range(len(self.t)):
            u, v, a = (self._nodal(x[k]).ravel() for x in (self.d, self.rate, self.rate2))
            turning = np.tensordot(self.factors[k, 3:12], fields, axes=1)
            twice = 2 * np.tensordot(self.spin[k], fields[:3], axes=1)
            push = -base @ self.factors[k, :12]
            total = rigid.T @ (push + part.mass @ a)
            for i in range(3):
                for j in range(3):
                    total = total + blocks[i][j] @ (turning[i, j] * u + twice[i, j] * v)
            out[k, kinds] = total
            arms, forces = (np.zeros((n, 3)) for _ in range(2))
            arms[:, : part.axes] = u.reshape(n, -1)[:, : part.axes]
            forces[:, : part.axes] = push.reshape(n, -1)[:, : part.axes]
            out[k, 3:] += np.cross(arms, forces).sum(axis=0)
        return out

    def _case_factors(self) -> Array:
        """Factors (times, cases) of all unit loads of a reduced body; nothing acts on its interfaces."""
        assert self.reduced is not None
        on_sets = self.factors.shape[1] - 12
        out = np.zeros((len(self.t), len(self.reduced.cases.names)))
        out[:, :12], out[:, out.shape[1] - on_sets :] = self.factors[:, :12], self.factors[:, 12:]
        return out

    def _nodal(self, d: Array) -> Array:
        """Nodal displacements (nodes, per node) in full order."""
        assert self.projection is not None
        assert self.part is not None
        return np.asarray(self.projection.expand_rates(d)).reshape(self.part.mesh.n_nodes, -1)

    def _between(self, at: ArrayLike) -> tuple[int, float]:
        try:
            t = float(np.asarray(at, dtype=float))
        except (TypeError, ValueError):
            t = float("nan")
        if not self.t[0] <= t <= self.t[-1]:
            raise AnalysisError(f"{self.name}: at = {at!r} is no time from {self.t[0]:.6g} to {self.t[-1]:.6g}.")
        k = int(np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, max(len(self.t) - 2, 0)))
        return k, 0.0 if len(self.t) == 1 else float((t - self.t[k]) / (self.t[k + 1] - self.t[k]))

    def _place(self, where: Any) -> tuple[Array, Array]:
        """Position and shapes (3, n) of the displacement of a place."""
        if isinstance(where, Frame):
            where = where.position
        named = isinstance(where, str | int | np.integer)
        try:
            if self.reduced is not None:
                found = self.reduced.frame(where) if named else self.reduced.frame_at(where)
                return found.position, found.displacement
            assert self.part is not None
            assert self.projection is not None
            point = None if named else np.pad(np.asarray(where, dtype=float), (0, 3 - len(where)))
            node = where if point is None else int(self.part.mesh.nearest_node(point))
            position, rows = frame_rows(self.part, node)
            shapes = np.asarray((rows @ self.projection.matrix).toarray())
            if point is None:
                return position, shapes[:3]
            return point, shapes[:3] + np.cross(shapes[3:], point - position, axisa=0).T  # θ × lever
        except (FlexmbsError, TypeError, ValueError) as error:
            raise AnalysisError(f"{self.name}: {error}") from error
