"""The motion of a tree, with loops closed, as an ordinary differential equation in the coordinates of its joints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import FlexmbsError, ModelError, SolverError
from flexmbs.forces.layout import USER_FORCE
from flexmbs.integrators.chart import LostError, Spaces, spaces
from flexmbs.integrators.closed_tree import DERIVE, FINE, LOCATE, ROWS, WORDS
from flexmbs.integrators.closed_tree_arrays import Chart, Model, Scratch
from flexmbs.integrators.motion import FAR, Motion
from flexmbs.integrators.steppers import evaluate
from flexmbs.system.evaluate import work_arrays
from flexmbs.system.tree import Tree, tree_of
from flexmbs.system.tree_kinematics import body_coordinates, tree_speeds, tree_state, tree_work

Array = NDArray[np.float64]

TILTED, WEAK = 0.5, 1e-2
"""See ``tangent_space``."""
TURNED = 1.0
"""Increment from the base point, in units of the mechanism (rotations in rad), at which it moves."""


class TreeMotion(Motion):
    """y = (ξ, η), see ``closed_tree``: all increments and speeds of a tree, or those that its closing rows leave free.

    ``compiled`` says whether no Python function has to be called.
    """

    def __init__(self, system: Any, tree: Tree) -> None:
        super().__init__(system, None)
        self.tree, layout = tree, tree.layout
        self.plain = not len(tree.rows)
        self.compiled = not tree.table.callbacks and not len(tree.user_forces)
        unit = np.where(tree.arrays.turn != 0.0, 1.0, self.scales.size)
        self.model = Model(
            tree.arrays, layout, tree.table.kinds.copy(), tree.table.starts.copy(), tree.table.params.copy(),
            np.array([-np.inf, np.inf]), unit,
        )  # fmt: skip
        self.counted = tree.angles
        self.scratch = _scratch(tree, len(tree.rows), tree.n_u, tree.n_u)
        unit_v = 1.0 / (2 * FAR * self.scales.velocity)
        self.speed_unit = np.where(self.scales.velocity == 1.0, unit_v, 0.0) if self.plain else unit_v
        self.q = np.zeros(layout.n_q)
        self.screws = _screws(system, tree)
        self.advances = np.zeros(len(self.screws[0]))
        self.speeds = 0
        self.clearest = 0.0
        self.chart = _chart(tree, np.zeros(tree.n_x), np.ones(len(tree.rows)), None, None)

    # ---- the base point ---------------------------------------------------------------------------------------

    def begin(self, t: float, q: Array, v: Array) -> Array:
        """Count from q."""
        self.q = np.array(q)
        x = self.tree.coordinates(q)
        own = self.scratch.own
        tree_state(self.tree.arrays, x, np.zeros(self.tree.n_u), own)
        u = np.zeros(self.tree.n_u)
        tree_speeds(self.tree.arrays, np.ascontiguousarray(v), own, u, False)
        self.advances = self.angles[self.screws[0]] - x[self.screws[1]]
        chart = self._based(t, x)
        if self.bases and chart.null_v.shape != self.chart.null_v.shape:
            raise LostError(WORDS[5])
        return self._enter(chart, u)

    def moved(self, t: float, q: Array, v: Array) -> Array | None:
        """The same where the motion is (the last state asked for), unless that is a poor base point."""
        x, u = self.scratch.x.copy(), self.scratch.u.copy()
        before = self.clearest
        chart = self._based(t, x)
        same = chart.null_v.shape == self.chart.null_v.shape
        if not same or self.weakest <= WEAK * before:
            return None
        return self._enter(chart, u)

    def _based(self, t: float, x: Array) -> Chart:
        tree, rows = self.tree, len(self.tree.rows)
        chart = _chart(tree, x, np.ones(rows), None, None)
        self.weakest = 1.0
        if rows:
            self._refresh(t)
            w = self.scratch
            evaluate(self.model, chart, w, t, np.zeros(0), ROWS)
            norms = np.linalg.norm(w.rows, axis=1)
            scale = 1.0 / np.where(norms > 0, norms, 1.0)
            jacobian = w.rows * scale[:, None]
            held = tree.layout.row_holonomic
            velocity = spaces(jacobian)
            position = velocity if held.all() else spaces(jacobian[held])
            chart = _chart(tree, x, scale, position, velocity)
            chart.near_t[0] = t
            self.weakest = velocity.weakest
        return chart

    def _enter(self, chart: Chart, u: Array) -> Array:
        free, speeds = chart.null.shape[1], chart.null_v.shape[1]
        if (free, speeds) != (self.chart.null.shape[1], self.speeds) or not self.bases:
            fresh = _scratch(self.tree, len(self.tree.rows), free, speeds)
            shared = {name: getattr(self.scratch, name) for name in ("own", "work", "reference", "prescribed")}
            self.scratch = fresh._replace(**shared)
        self.chart, self.bases, self.speeds = chart, self.bases + 1, speeds
        self.clearest = max(self.clearest, self.weakest)
        eta = u / self.model.unit
        return np.concatenate([np.zeros(free), eta if self.plain else chart.null_v.T @ eta])

    # ---- evaluation -------------------------------------------------------------------------------------------

    def rates(self, t: float, y: Array) -> Array:
        """y', undefined where the parametrisation is lost."""
        undefined = np.full(len(y), np.nan)
        if not np.isfinite(y).all():
            return undefined
        self.evaluations += 1
        try:
            self._locate(t, y)
            if len(self.tree.user_forces):
                forces = self.tree.user_forces.each(t, self.scratch.work)
                self.scratch.work.forces.user[USER_FORCE] = forces.sum(axis=0)
            status, rates = evaluate(self.model, self.chart, self.scratch, t, y, DERIVE)
            if status == FINE:
                return rates
            self.lost = WORDS[status]
        except LostError as error:
            self.lost = str(error)
        except (FlexmbsError, SolverError) as error:
            self.lost = f"the equations of motion could not be solved ({error})"
        return undefined

    def state(self, t: float, y: Array) -> tuple[Array, Array, Array]:
        """Coordinates, velocities and increments of the tree's coordinates."""
        self._locate(t, y)
        self.angles[self.screws[0]] = self.scratch.x[self.screws[1]] + self.advances
        q = self.q.copy()
        body_coordinates(self.tree.arrays, self.tree.layout.body_q, self.scratch.own, q)
        return q, self.scratch.own.v.copy(), self.scratch.increment

    def _locate(self, t: float, y: Array) -> None:
        self._refresh(t)
        status, _ = evaluate(self.model, self.chart, self.scratch, t, np.ascontiguousarray(y), LOCATE)
        if status != FINE:
            raise LostError(WORDS[status])

    def _refresh(self, t: float) -> None:
        """What the compiled functions read: angles, limits, and values of Python functions of time."""
        known = self.counted >= 0
        self.scratch.reference[known] = self.angles[self.counted[known]]
        self.model.limits[:] = self.limits
        if self.tree.table.callbacks:
            self.tree.table.refresh(self.model.params, self.clipped(t))

    def accepted(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """The same; quaternions go on from these."""
        self.q[:] = q
        return q, v

    def project(self, x: Array, v: Array, rate: Array) -> Array:
        """Not asked for: ``rates`` gives y' itself."""
        raise NotImplementedError

    def errors(self, rtol: float, atol: float) -> Array:
        """Positions count against the mechanism's size, wherever the base point is."""
        return np.concatenate([np.full(self.chart.null.shape[1], rtol + atol), np.full(self.speeds, atol)])

    def worn(self, t: float, y: Array) -> bool:
        """Whether increments, or the angle between what is free here and at the base point, have become large."""
        turned = float(np.abs(self.state(t, y)[2]).max(initial=0.0)) > TURNED
        return turned or (not self.plain and self._tilt() > TILTED)

    def _tilt(self) -> float:
        rows, chart = self.chart.combine_v @ self.scratch.rows, self.chart
        try:
            return float(np.linalg.norm(np.linalg.solve(rows @ chart.bound_v, rows @ chart.null_v)))
        except np.linalg.LinAlgError:
            return np.inf


def tree_motion(system: Any, q: Array) -> TreeMotion | None:
    """The motion of a system in coordinates of its joints; None where it has none."""
    try:
        tree = system.tree
        tree.coordinates(q)
    except ModelError:
        try:
            tree = tree_of(system, q)
        except ModelError:
            return None
    return TreeMotion(system, tree)


def _chart(tree: Tree, x: Array, scale: Array, position: Spaces | None, velocity: Spaces | None) -> Chart:
    n, rows = tree.n_u, len(tree.rows)
    held = np.flatnonzero(tree.layout.row_holonomic)
    if position is None or velocity is None:  # nothing is bound; N would be the identity
        position = velocity = Spaces(np.zeros((0, n)), np.zeros((n, 0)), np.zeros((0, rows)), 1.0)
    null, bound, combine = (np.ascontiguousarray(a) for a in position[:3])
    null_v, bound_v, combine_v = (np.ascontiguousarray(a) for a in velocity[:3])
    free, z = null.shape[1], bound.shape[1]
    return Chart(
        x, scale, np.arange(rows), held, null, bound, combine, null_v, bound_v, combine_v,
        np.zeros(free), np.zeros(z), np.zeros((z, free)), np.zeros(z), np.zeros(1),
    )  # fmt: skip


def _scratch(tree: Tree, rows: int, free: int, speeds: int) -> Scratch:
    n, measures = tree.n_u, len(tree.layout.measure_kind)
    bound, wide = min(rows, n), max(free, speeds)
    if not rows:
        wide = speeds = 0
    work = work_arrays(tree.layout)
    return Scratch(
        tree_work(tree.arrays, tree.layout, work), work, np.zeros(measures),
        np.zeros((len(tree.profiles), 3)), np.zeros(tree.n_x), np.zeros(n), np.zeros(n), np.zeros(n),
        np.zeros((3, 3)), np.zeros((rows, n)), np.zeros((rows, n)), np.zeros(rows), np.zeros(rows),
        np.zeros((bound, bound)), np.zeros((bound, wide + 1)), np.zeros(max(bound, wide), np.int64),
        np.zeros(bound), np.zeros((n, n)) if rows else np.zeros((0, 0)), np.zeros((n, speeds + 1)),
        np.zeros((n, speeds + 1)), np.zeros((speeds, speeds)), np.zeros((speeds, 1)),
    )  # fmt: skip


def _screws(system: Any, tree: Tree) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Angles of the system that the tree knows as coordinates: those of screws; and these coordinates."""
    pairs, at = [], 0
    for hanging in tree.hangings:
        for freedom in hanging.freedoms:
            if freedom.turn and freedom.slide:
                pairs.append((system.measure_number(hanging.joint.angle), at))
            at += 4 if freedom.ball else 1
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]
