"""Forces that are Python functions: called at one instant, or linearised about a trial state of an implicit step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flexmbs.forces.layout import USER_FORCE, USER_V, USER_X, ForceWork
from flexmbs.forces.user import FrameState, UserForce
from flexmbs.system.evaluate import Work, body_poses, frames, retract, work_arrays
from flexmbs.system.layout import FrameBook, Layout

Array = NDArray[np.float64]

_STEP = float(np.cbrt(np.finfo(float).eps))
"""Relative step of central differences."""


def frame_state(layout: Layout, f: int, work: Work) -> FrameState:
    """Pose and twist of frame f at an evaluated state."""
    return FrameState(
        work.frame_position[f].copy(),
        work.frame_rotation[f].copy(),
        work.frame_velocity[f].copy(),
        work.frame_spin[f].copy(),
    )


class UserForces:
    """The Python forces of a system; ``weights`` (n_v,) say what each velocity counts as a length."""

    def __init__(self, layout: Layout, book: FrameBook, forces: Sequence[UserForce]) -> None:
        self.layout, self.forces = layout, tuple(forces)
        self._frames = [[book.number(f) for f in force.frames] for force in self.forces]

    def __len__(self) -> int:
        return len(self.forces)

    def each(self, t: float, work: Work) -> Array:
        """Generalised force (forces, n_v) of each function at an evaluated state."""
        out = np.zeros((len(self.forces), self.layout.n_v))
        for k in range(len(self.forces)):
            out[k] = self._generalised(k, t, work)
        return out

    def total(self, t: float, q: Array, v: Array) -> Array:
        """Generalised force (n_v,) of all functions at (t, q, v)."""
        work = work_arrays(self.layout)
        self._move(q, v, work)
        return np.asarray(self.each(t, work).sum(axis=0))

    def linearise(self, t: float, q: Array, x: Array, v: Array, size: float, into: ForceWork) -> None:
        """Force and its derivatives about the increment x from q and the velocities v; ``size`` scales lengths."""
        layout, work = self.layout, work_arrays(self.layout)
        trial = np.empty_like(q)
        into.user[USER_FORCE], into.user[USER_X], into.user[USER_V] = 0.0, x, v
        at_value = 0
        speed = max(1.0, float(np.abs(v).max(initial=0.0)))
        for k, numbers in enumerate(self._frames):
            bodies = list(dict.fromkeys(int(layout.frame_body[f]) for f in numbers))
            spans = [np.arange(layout.body_v[b], layout.body_v[b + 1]) for b in bodies]
            spans = [s for s in spans if len(s)]

            def at(dx: Array, dv: Array, force: int = k) -> Array:
                retract(layout, q, x + dx, trial)
                self._move(trial, v + dv, work)
                return self._generalised(force, t, work)

            zero = np.zeros(layout.n_v)
            into.user[USER_FORCE] += at(zero, zero)
            derivatives: list[list[Array]] = []
            for span in spans:
                derivatives.append([])
                for scale, moves in ((_STEP * min(size, 1.0), True), (_STEP * speed, False)):
                    columns = np.zeros((layout.n_v, len(span)))
                    for j, c in enumerate(span):
                        step = np.zeros(layout.n_v)
                        step[c] = scale
                        ahead, behind = ((at(s, zero) if moves else at(zero, s)) for s in (step, -step))
                        columns[:, j] = (ahead - behind) / (2 * scale)
                    derivatives[-1].append(columns)
            for rows in spans:  # blocks in the order of the layout
                for pair in derivatives:
                    for which, columns in enumerate(pair):
                        into.user_tangent[which, at_value : at_value + columns[rows].size] = columns[rows].ravel()
                    at_value += pair[0][rows].size

    def missing(self, t: float, q: Array, v: Array, x: Array, work: ForceWork) -> float:
        """How far, relative to its parts, the linearised force is from the true one at the end (q, v) of a step."""
        layout = self.layout
        predicted, parts = work.user[USER_FORCE].copy(), np.abs(work.user[USER_FORCE])
        moved = np.stack([x - work.user[USER_X], v - work.user[USER_V]])
        for a, b, at in layout.forces.user:
            rows = slice(layout.body_v[a], layout.body_v[a + 1])
            columns = slice(layout.body_v[b], layout.body_v[b + 1])
            shape = (rows.stop - rows.start, columns.stop - columns.start)
            for which in range(2):
                matrix = work.user_tangent[which, at : at + shape[0] * shape[1]].reshape(shape)
                predicted[rows] += matrix @ moved[which, columns]
                parts[rows] += np.abs(matrix) @ np.abs(moved[which, columns])
        true = self.total(t, q, v)
        scale = float(max(parts.max(initial=0.0), np.abs(true).max(initial=0.0)))
        return float(np.abs(true - predicted).max(initial=0.0)) / scale if scale else 0.0

    def _move(self, q: Array, v: Array, work: Work) -> None:
        body_poses(self.layout, q, v, work)
        frames(self.layout, work)

    def wrenches(self, force: UserForce, t: float, work: Work) -> Array:
        """Wrenches (frames, 6) of one of the functions at an evaluated state."""
        k = [own is force for own in self.forces].index(True)
        return force.wrenches(t, tuple(frame_state(self.layout, f, work) for f in self._frames[k]))

    def _generalised(self, k: int, t: float, work: Work) -> Array:
        layout, out = self.layout, np.zeros(self.layout.n_v)
        for f, wrench in zip(self._frames[k], self.wrenches(self.forces[k], t, work), strict=True):
            b = layout.frame_body[f]
            if layout.body_v[b + 1] > layout.body_v[b]:
                jacobian = work.frame_t[layout.frame_t[f] : layout.frame_t[f + 1]].reshape(6, -1)
                out[layout.body_v[b] : layout.body_v[b + 1]] += jacobian.T @ wrench
        return out
