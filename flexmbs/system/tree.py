"""The tree of a mechanism: its coordinates along the joints, its dynamics in O(N), and the rows that close loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import ModelError
from flexmbs.forces.assemble import add_wrenches
from flexmbs.forces.layout import USER_FORCE
from flexmbs.joints.drives import Coupling, Drive
from flexmbs.joints.freedom import ALIKE
from flexmbs.joints.joint import Joint
from flexmbs.joints.measures import ANGLE
from flexmbs.nullspace import null_space
from flexmbs.profiles import Profile, ProfileTable, as_profile
from flexmbs.profiles import evaluate_all as evaluate_laws
from flexmbs.system.evaluate import Work, body_poses, evaluate_all, work_arrays
from flexmbs.system.hanging import Hanging, hang, lay_out_tree
from flexmbs.system.layout import FrameBook, Layout, lay_out
from flexmbs.system.tree_dynamics import tree_accelerations, tree_forces, tree_mass, tree_rows, tree_transformation
from flexmbs.system.tree_kinematics import (
    BALL,
    TreeArrays,
    TreeWork,
    body_coordinates,
    tree_speeds,
    tree_state,
    tree_work,
)
from flexmbs.system.user_forces import UserForces

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tree:
    """Coordinates x (a quaternion for each ball) and speeds u of a mechanism along its joints.

    ``names`` of the speeds, ``hangings`` from the roots on, ``closing`` the joints whose rows the tree does not fulfil
    by itself: loops, drives, couplings, and what is no lower pair. ``layout`` has these rows only, ``rows`` are their
    numbers in the system.
    """

    arrays: TreeArrays
    layout: Layout
    names: tuple[str, ...]
    hangings: tuple[Hanging, ...]
    closing: tuple[str, ...]
    rows: NDArray[np.int64]
    angles: NDArray[np.int64]  # measure of the system for each angle that the layout counts; -1 for other measures
    profiles: tuple[Profile, ...]
    table: ProfileTable
    user_forces: UserForces

    @property
    def n_x(self) -> int:
        """Number of coordinates."""
        return int(len(self.names) + np.count_nonzero(self.arrays.kind == BALL))

    @property
    def n_u(self) -> int:
        """Number of speeds."""
        return len(self.names)

    # ---- coordinates ------------------------------------------------------------------------------------------

    def coordinates(self, q: ArrayLike) -> Array:
        """x where the bodies stand at q; refused where a joint cannot bring them."""
        work = work_arrays(self.layout)
        body_poses(self.layout, _sized(q, self.layout.n_q, "q"), np.zeros(self.layout.n_v), work)
        parts = [np.zeros(0)]
        for h in self.hangings:
            x, rest, miss = h.coordinates(work)
            miss = max(miss, float(np.abs(rest - h.motion.rest).max()))
            if miss > ALIKE * (1.0 + float(np.abs(work.position).max())):
                raise ModelError(f"{h.joint.name}: its frames are {miss:.3g} from where it can bring them.")
            parts.append(x)
        return np.concatenate(parts)

    def speeds(self, x: ArrayLike, v: ArrayLike) -> Array:
        """u of the velocities v, which are such as the joints allow."""
        own, _ = self._placed(x, np.zeros(self.n_u))
        u = np.zeros(self.n_u)
        tree_speeds(self.arrays, _sized(v, self.layout.n_v, "v"), own, u, False)
        return u

    def state(self, x: ArrayLike, u: ArrayLike, near: ArrayLike | None = None) -> tuple[Array, Array]:
        """q and v of all bodies; quaternions and angles next to those of ``near``, another q."""
        own, _ = self._placed(x, u)
        q = np.zeros(self.layout.n_q) if near is None else _sized(near, self.layout.n_q, "near").copy()
        body_coordinates(self.arrays, self.layout.body_q, own, q)
        return q, own.v

    def transformation(self, x: ArrayLike) -> sp.csr_array:
        """A_tree (n_v, n_u): v = A_tree u."""
        own, _ = self._placed(x, np.zeros(self.n_u))
        out = np.zeros((self.layout.n_v, self.n_u))
        tree_transformation(self.arrays, own, out)
        return sp.csr_array(out)

    def projector(self, x: ArrayLike, t: float = 0.0) -> sp.csr_array:
        """A = A_tree · A_loop (n_v, free motions): the velocities that all rows allow, from topology.

        A_loop spans what the closing rows, seen from the tree, leave free: few rows, of which the rank is told easily.
        """
        through = self.transformation(x)
        if not len(self.rows):
            return through
        own, work = self.evaluated(t, x, np.zeros(self.n_u))
        rows = np.zeros((len(self.rows), self.n_u))
        tree_rows(self.arrays, self.layout, own, work, rows, np.zeros(len(rows)))
        return sp.csr_array(through @ null_space(rows, "qr").A)

    # ---- dynamics ---------------------------------------------------------------------------------------------

    def accelerations(self, t: float, x: ArrayLike, u: ArrayLike, tau: ArrayLike | None = None) -> Array:
        """u' of the tree (closing rows apart) under its forces and ``tau`` on the coordinates, in O(N)."""
        own, _ = self.evaluated(t, x, u)
        own.tau[:] = 0.0 if tau is None else _sized(tau, self.n_u, "tau")
        rate = np.zeros(self.n_u)
        tree_accelerations(self.arrays, own, rate)
        return rate

    def forces(self, t: float, x: ArrayLike, u: ArrayLike, rate: ArrayLike) -> Array:
        """tau on the coordinates that the accelerations u' = ``rate`` take: recursive Newton–Euler, in O(N)."""
        own, _ = self.evaluated(t, x, u)
        tau = np.zeros(self.n_u)
        tree_forces(self.arrays, own, _sized(rate, self.n_u, "rate"), tau)
        return tau

    def mass(self, x: ArrayLike) -> Array:
        """Mass matrix of the speeds."""
        own, _ = self._placed(x, np.zeros(self.n_u))
        out = np.zeros((self.n_u, self.n_u))
        tree_mass(self.arrays, own, out)
        return out

    # ---- inside -----------------------------------------------------------------------------------------------

    def _placed(self, x: ArrayLike, u: ArrayLike) -> tuple[TreeWork, Work]:
        work = work_arrays(self.layout)
        own = tree_work(self.arrays, self.layout, work)
        tree_state(self.arrays, _sized(x, self.n_x, "x"), _sized(u, self.n_u, "u"), own)
        return own, work

    def evaluated(self, t: float, x: ArrayLike, u: ArrayLike) -> tuple[TreeWork, Work]:
        """All stages at one instant: what follows from x and u, poses, forces, closing rows."""
        own, work = self._placed(x, u)
        q, params = np.zeros(self.layout.n_q), self.table.params.copy()
        body_coordinates(self.arrays, self.layout.body_q, own, q)
        self.table.refresh(params, t)
        laws = evaluate_laws(self.table.kinds, self.table.starts, params, len(self.profiles), np.array([float(t)]))[0]
        evaluate_all(self.layout, laws, np.zeros(len(self.layout.measure_kind)), q, own.v, work)
        if len(self.user_forces):
            work.forces.user[USER_FORCE] = self.user_forces.each(t, work).sum(axis=0)
        if len(own.applied):
            add_wrenches(self.layout, work, self.layout.body_v, 1.0, own.applied)
        return own, work


def tree_of(system: Any, q: Array) -> Tree:
    """The tree of a system that is closed at q; refused where its constraints are not all made of measures."""
    for joint in system.joints:
        if not isinstance(joint, Joint | Drive | Coupling):
            raise ModelError(f"{joint.name}: a {type(joint).__name__} has no rows that a tree could close.")
    if system.functions:
        raise ModelError("rows that are Python functions are not seen from a tree.")
    for body in system.bodies:
        if body.modes:
            raise ModelError(f"{body.name}: a tree of joint coordinates is one of rigid bodies.")
    if len(system.layout.forces.pressed):
        raise ModelError("friction under a joint's reaction needs reactions, which a tree does not have.")
    work = work_arrays(system.layout)
    body_poses(system.layout, np.ascontiguousarray(q), np.zeros(system.n_v), work)
    hangings = hang(system.bodies, system.joints, work)
    arrays, names = lay_out_tree(hangings, system.bodies, system.layout.gravity)
    held = {id(h.joint) for h in hangings}
    groups = [() if id(joint) in held else joint.rows for joint in system.joints]
    users = system.user_forces.forces
    layout, book = lay_out(
        system.bodies, groups, system.layout.gravity, [*system.compiled_forces, *users], system.joints
    )
    layout.row_holonomic.setflags(write=False)  # as in the system's layout: another type would be compiled anew
    starts = system.layout.group_row
    rows = [np.arange(starts[k], starts[k + 1]) for k, group in enumerate(groups) if group]
    profiles = (
        *(as_profile(row.profile) for group in groups for row in group),
        *system.profiles[len(system.rows) :],
    )
    return Tree(
        arrays,
        layout,
        names,
        tuple(hangings),
        tuple(j.name for j, group in zip(system.joints, groups, strict=True) if group),
        np.concatenate([np.zeros(0, dtype=np.int64), *rows]),
        _angles(system, layout, book),
        profiles,
        ProfileTable.of(profiles),
        UserForces(layout, book, users),
    )


def _angles(system: Any, layout: Layout, book: FrameBook) -> NDArray[np.int64]:
    """The same angle in the layout of the system, which counts the turns."""
    out, whole = np.full(len(layout.measure_kind), -1, dtype=np.int64), system.layout
    for m in np.flatnonzero(layout.measure_kind == ANGLE):
        i, j = (system.frames.find(book.frames[f[m]]) for f in (layout.measure_i, layout.measure_j))
        same = (whole.measure_kind == ANGLE) & (whole.measure_i == i) & (whole.measure_j == j)
        out[m] = np.flatnonzero(same & (whole.measure_axes == layout.measure_axes[m]).all(axis=(1, 2)))[0]
    return out


def _sized(values: ArrayLike, size: int, what: str) -> Array:
    array = np.ascontiguousarray(values, dtype=float)
    if array.shape != (size,):
        raise ModelError(f"{what} has shape {array.shape}, but the tree has {size} of them: it must be ({size},).")
    return array
