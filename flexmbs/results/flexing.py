"""How flexible bodies deform over time: deflections, shapes, stress and strain, and whether all of it stays small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.body import Body, Frame
from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.errors import ModelError
from flexmbs.mesh.mesh import Which
from flexmbs.nullspace.readonly import frozen
from flexmbs.reduction.recovery import StressModes, remembered
from flexmbs.results.deformation import exaggerated, from_chord, left_out, nodal, too_large
from flexmbs.results.gauges import StrainGauge
from flexmbs.results.loading import load_factors
from flexmbs.results.motions import FrameMotion
from flexmbs.results.moving import Moving

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class StressEnvelope:
    """Largest equivalent stress of each node over time [Pa]; ``when`` [s] and ``instant`` (its number) of each."""

    nodes: Index
    largest: Array
    when: Array
    instant: Index

    @property
    def worst(self) -> tuple[int, float, float]:
        """Node, stress and time of the largest of all."""
        k = int(self.largest.argmax())
        return int(self.nodes[k]), float(self.largest[k]), float(self.when[k])


@dataclass(frozen=True, eq=False, repr=False)
class Flexing(Moving):
    """Deformation and stress of the flexible bodies; see ``Result``."""

    # ---- shapes -------------------------------------------------------------------------------------------------

    def deflection(self, frame: Frame, chord: Sequence[str | Frame] | None = None, corrected: bool = True) -> Array:
        """How far a frame of a flexible body has moved by deformation, (time, 3).

        In body axes, against the floating frame; with ``chord``, two sets or frames of the same body, against the line
        from the first to the second, in axes with x along it: (stretch from the first, offsets y and z). ``corrected``
        adds what the elastic coordinates leave out of the static response, see ``stress``; ``position`` is without it.
        """
        moving = self._on_flexible(frame)
        factors = self._load_factors(frame.body) if corrected and isinstance(frame.body, FlexibleBody) else None
        if chord is None:
            shift, turn = self._shape_axes(frame.body)
            return _shift(moving, factors) - shift - np.cross(turn, frame.position)
        if isinstance(chord, str) or not isinstance(chord, Sequence) or len(chord) != 2:
            raise ModelError(f"chord= takes two sets or frames, e.g. ('big_end', 'small_end'), not {chord!r}.")
        places = [frame.body.at(end) if isinstance(end, str) else end for end in chord]
        if any(getattr(place, "body", None) is not frame.body for place in places):
            raise ModelError(f"chord= takes sets or frames of {frame.body.name} itself, not {chord!r}.")
        ends = [self._on_flexible(place) for place in places]
        if np.allclose(ends[0].frame.position, ends[1].frame.position):
            raise ModelError(f"chord= takes two different places of {frame.body.name}.")
        three = [moving, *ends]
        return from_chord([f.frame.position for f in three], [_shift(f, factors) for f in three])

    def displacement(self, body: FlexibleBody, at: ArrayLike | None = None, corrected: bool = True) -> Array:
        """Displacements of all nodes in the floating frame, body axes, (nodes, 3); (times, nodes, 3) of several times.

        ``at`` is a time or several; by default the last instant. ``corrected`` as for ``stress``.
        """
        some, factors = self._instants(at), None
        if corrected:
            factors = some._load_factors(_flexible(body))
        return _one(nodal(_flexible(body), some.elastic(body), factors), at)

    def deformed(self, body: FlexibleBody, at: ArrayLike | None = None, scale: float = 1.0) -> Array:
        """Where the nodes of a flexible body are, in global axes, (nodes, 3); (times, nodes, 3) of several times.

        With ``scale`` deformation is exaggerated, measured from a rigid motion through the joints, so that these stay
        together.
        """
        some, points = self._instants(at), _flexible(body).reduced.mesh.points
        if not np.isfinite(scale):
            raise ModelError(f"scale must be a finite number, not {scale!r}.")
        moved, motion = nodal(body, some.elastic(body)), some.motion(body)
        shift, turn = some._shape_axes(body)
        held = [FrameMotion(f, motion, some._elastic(body)) for f in self._held(body)]
        places = np.array([f.frame.position for f in held]).reshape(-1, 3)
        for k, one in enumerate(moved):
            shifts, turns = (np.array([getattr(f, part)[k] for f in held]) for part in ("shift", "turn"))
            if held:
                shifts, turns = shifts - shift[k] - np.cross(turn[k], places), turns - turn[k]
            moved[k] = points + exaggerated(points, one, float(scale), places, shifts, turns)
        return _one(some.position(body)[:, None, :] + moved @ some.rotation(body).transpose(0, 2, 1), at)

    # ---- stress -------------------------------------------------------------------------------------------------

    def stress(
        self,
        body: FlexibleBody,
        at: ArrayLike | None = None,
        nodes: Which | StressModes = "all",
        corrected: bool = True,
    ) -> Array:
        """Stress (xx, yy, zz, yz, zx, xy) at nodes in body axes, (nodes, 6); (times, nodes, 6) of several times.

        ``nodes`` is a set or node numbers, or the ``stress_modes`` of a body that was loaded from a file. ``corrected``
        adds what the elastic coordinates leave out of the static response to the body's acceleration, and to the forces
        on its interfaces (mode acceleration).
        """
        modes, history, factors = self._stressed(body, at, nodes, corrected)
        if modes.fibre is not None:
            raise ModelError(f"{body.name}: a beam has section forces; ask section_forces, or von_mises of its fibres.")
        return _one(modes.at(history, factors), at)

    def von_mises(
        self,
        body: FlexibleBody,
        at: ArrayLike | None = None,
        nodes: Which | StressModes = "all",
        corrected: bool = True,
    ) -> Array:
        """Von Mises stress at nodes, (nodes,), or (times, nodes); of beams the largest stress of the outer fibres."""
        modes, history, factors = self._stressed(body, at, nodes, corrected)
        return _one(modes.equivalent(history, factors), at)

    def section_forces(self, body: FlexibleBody, at: ArrayLike | None = None, corrected: bool = True) -> Array:
        """N, V_y, V_z, T, M_y, M_z of a beam at both ends of its elements, in their axes, (elements, 2, 6).

        Of several times (times, elements, 2, 6).
        """
        modes, history, factors = self._stressed(body, at, "all", corrected)
        if modes.fibre is None:
            raise ModelError(f"{body.name}: section forces exist for beams; ask stress.")
        forces = modes.at(history, factors)
        return _one(forces.reshape(len(forces), -1, 2, 6), at)

    def stress_envelope(
        self, body: FlexibleBody, nodes: Which | StressModes = "all", corrected: bool = True
    ) -> StressEnvelope:
        """Largest von Mises stress (of beams, fibre stress) of each node over all instants, and when.

        Instants are taken some at a time, so that only as much is held as one stress field and a bit.
        """
        modes, history, factors = self._stressed(body, self.t, nodes, corrected)
        found = modes.envelope(history, factors)
        return StressEnvelope(found.nodes, found.largest, frozen(self.t[found.when]), found.when)

    def strain(self, gauge: StrainGauge, corrected: bool = True) -> Array:
        """What a strain gauge measures, (time,)."""
        if not isinstance(gauge, StrainGauge):
            raise ModelError(f"a StrainGauge is needed, not {gauge!r}.")
        factors = self._load_factors(gauge.body) if corrected else None
        return np.asarray(gauge.modes.at(self.elastic(gauge.body), factors).mean(axis=1))

    def _stressed(
        self, body: FlexibleBody, at: ArrayLike | None, nodes: Any, corrected: bool
    ) -> tuple[StressModes, Array, Array | None]:
        """Stress modes, elastic coordinates and load factors at some times."""
        some = self if at is self.t else self._instants(at)
        self.system.body_number(_flexible(body))
        if not len(some.t):
            raise ModelError("this Result has no instants, so that there is no stress.")
        modes = nodes if isinstance(nodes, StressModes) else remembered(body.reduced, nodes)
        return modes, some.elastic(body), some._load_factors(body) if corrected else None

    def _load_factors(self, body: FlexibleBody) -> Array:
        states = (self.t, self.q, self.v, self.angles)
        known = self.multipliers if self.forces_known else np.zeros_like(self.multipliers)
        return load_factors(self.system, body, self.motion(body), states, known)

    # ---- whether it stays small ----------------------------------------------------------------------------------

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Where and when deformation is too large to be taken as small, in words; empty where all is well."""
        bodies = [body for body in self.system.bodies if isinstance(body, FlexibleBody)]
        return tuple(text for body in bodies for text in too_large(body, self.t, self.elastic(body)))

    # ---- inside --------------------------------------------------------------------------------------------------

    def _on_flexible(self, frame: Any) -> FrameMotion:
        if not isinstance(frame, Frame) or not frame.body.modes:
            raise ModelError(f"a frame on a flexible body is needed, e.g. rod.at('midspan'), not {frame!r}.")
        return FrameMotion(frame, self.motion(frame.body), self._elastic(frame.body))

    def _shape_axes(self, body: Body) -> tuple[Array, Array]:
        """Shift and turn of the axes in which nodes are at x + Φ d, seen from the floating frame."""
        d = self.elastic(body)
        return body.shape_axes(d) if isinstance(body, FlexibleBody) else (np.zeros((len(d), 3)), np.zeros((len(d), 3)))

    def _held(self, body: FlexibleBody) -> list[Frame]:
        """Frames of a body that joints hold, one for each place; its interfaces where there are none."""
        layout, every = self.system.layout, self.system.frames.frames
        used = {int(f) for f in np.concatenate([layout.measure_i, layout.measure_j])}
        frames = [every[f] for f in sorted(used) if every[f].body is body]
        frames = frames or [body.at(name) for name in body.reduced.interfaces]
        return list({frame.position.tobytes(): frame for frame in frames}.values())


def _flexible(body: Body) -> FlexibleBody:
    if not isinstance(body, FlexibleBody):
        raise ModelError(f"{getattr(body, 'name', body)!r} is not a flexible body: it does not deform.")
    return body


def _shift(moving: FrameMotion, factors: Array | None) -> Array:
    """Displacement of a frame in the floating frame, with the static response that its coordinates leave out."""
    more = None if factors is None else left_out(moving.frame)
    return moving.shift.copy() if factors is None or more is None else np.asarray(moving.shift + factors @ more.T)


def _one(history: Array, at: ArrayLike | None) -> Array:
    """The only instant of a history where one was asked for, else all of it."""
    return np.asarray(history[0]) if at is None or np.ndim(at) == 0 else np.asarray(history)
