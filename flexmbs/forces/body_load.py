"""Distributed loads on flexible bodies over time, fixed in the body's frame.

The nodal forces f of a load set are written as few parallel systems, f = Σ w_k ⊗ e_k (singular values). Such a system
acts as one force s e_k at the point where it has its mean, c_k = Σ w_k (x + u) / s: on the frame, in its moment as the
body deforms, and on the elastic coordinates. So a load is a force on each of these points, which move with the body
like any frame; its geometric stiffness K_g d is how bending shortens the way to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import Body, Frame
from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.errors import ModelError
from flexmbs.forces.applied import AppliedForce
from flexmbs.forces.force import Force, named, time_profile
from flexmbs.profiles import Profile

Array = NDArray[np.float64]

NEGLIGIBLE = 1e-12
"""Part of the largest nodal forces that is rounding."""


@dataclass(frozen=True, eq=False)
class BodyLoad:
    """A load of a flexible body's ``loads=`` times a function of time; it turns with the body's frame.

    Its geometric stiffening is counted if the body's is. Dead loads, which keep their direction in space, are
    AppliedForces on frames, or Gravity.

    Parameters
    ----------
    body : the FlexibleBody.
    load : the name of one of the body's loads.
    factor : a number or function of time by which the load is multiplied.
    """

    name: str
    body: FlexibleBody
    load: str
    factor: Any = 1.0

    def __post_init__(self) -> None:
        named(self.name)
        if not isinstance(self.body, FlexibleBody):
            raise ModelError(f"{self.name}: a load acts on a FlexibleBody, not {self.body!r}; use an AppliedForce.")
        known = self.body.reduced.loads
        if not isinstance(self.load, str) or self.load not in known:
            raise ModelError(
                f"{self.name}: body {self.body.name!r} has no load {self.load!r}; "
                f"{'it has ' + ', '.join(map(repr, known)) if known else 'give it loads={...}'}."
            )
        if not known[self.load].any():
            raise ModelError(f"{self.name}: load {self.load!r} of body {self.body.name!r} is zero.")
        _ = self.profile

    @property
    def profile(self) -> Profile:
        """The factor as a function of time."""
        return time_profile(self.factor, self.name, "factor")

    @property
    def case(self) -> int:
        """Number of its unit load among those of the reduced body: load sets are the last."""
        cases, names = self.body.reduced.cases.names, list(self.body.reduced.loads)
        return len(cases) - len(names) + names.index(self.load)

    @cached_property
    def wrenches(self) -> tuple[tuple[Frame, Array, Array], ...]:
        """Frames with the force and the torque (3,) on each, in body axes, of the load with factor 1."""
        part, modes = self.body.reduced, self.body.modes
        axes, x = part.axes, part.mesh.points
        nodal = part.loads[self.load].reshape(len(x), -1)
        back, per_node = part.basis.T, nodal.shape[1]  # of a body in full order it is sparse
        couple = np.zeros(3)
        couple[: per_node - axes] = nodal[:, axes:].sum(axis=0)
        moments = np.hstack([np.zeros((len(x), axes)), nodal[:, axes:]])
        along = np.asarray(back @ moments.ravel())  # what nodal moments do to the modes
        weights, sizes, directions = np.linalg.svd(nodal[:, :axes], full_matrices=False)
        out, rest = [], np.zeros(3)
        for k in range(axes):
            if k and sizes[k] <= NEGLIGIBLE * sizes[0]:
                break
            w, e = sizes[k] * weights[:, k], np.zeros(3)
            e[:axes] = directions[k]
            s = float(w.sum())
            if abs(s) < 1e-3 * np.abs(w).sum() or s == 0.0:  # nearly a couple, without a point where it acts
                s = float(np.abs(w).sum()) or 1.0
                rest += (w.sum() - s) * e
            moved = np.zeros((6, modes))
            moved[:axes] = np.asarray(back @ np.kron(w[:, None], np.eye(per_node))[:, :axes]).T / s
            second = None
            if k == 0:  # along e a shift has no moment, so that it can hold what acts on the modes alone
                moved[:3] += np.outer(e, along) / s
                second = self._shortening(e / s)
            out.append((Frame(self.body, w @ x / s, np.eye(3), moved, second), s * e, np.zeros(3)))
        if rest.any() or couple.any():
            out.append((self.body.at(), rest, couple))
        return tuple(out)

    def parts(self, bodies: Sequence[Body]) -> list[Force]:
        """The forces on frames that it is made of."""
        if all(self.body is not body for body in bodies):
            raise ModelError(f"{self.name}: body {self.body.name!r} is not among the bodies of the system.")
        several = len(self.wrenches) > 1
        return [
            AppliedForce(
                f"{self.name}: {k + 1}" if several else self.name,
                frame,
                [self.profile * float(x) for x in force],
                [self.profile * float(x) for x in torque],
                follows=True,
            )
            for k, (frame, force, torque) in enumerate(self.wrenches)
        ]

    @property
    def undeformed(self) -> Array:
        """Force and moment (6,) at the origin of the body's frame, in body axes, with factor 1 and no deformation."""
        return np.sum([np.r_[f, m + np.cross(frame.position, f)] for frame, f, m in self.wrenches], axis=0)

    def resultant(self, t: Array, d: Array) -> Array:
        """Force and moment at the origin of the body's frame, in body axes, (time, 6), for times and d (time, r)."""
        out = np.zeros((len(t), 6))
        for frame, force, torque in self.wrenches:
            arm = frame.position + d @ frame.shapes[:3].T
            out[:, :3] += force
            out[:, 3:] += torque + np.cross(arm, force)
        return out * np.asarray(self.profile.value(t)).reshape(-1, 1)

    def _shortening(self, along: Array) -> Array | None:
        """Curvatures (6, r, r) of the frame that give -K_g d on the modes."""
        cases = self.body.reduced.cases
        if not len(cases.K_g):
            return None
        own = cases.K_g[self.case]
        out = np.zeros((6, *own.shape))
        out[:3] = -along[:, None, None] * own
        return out
