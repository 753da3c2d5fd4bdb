"""A run of the generalized-alpha method of a mechanism with bodies in full order.

The condensed mechanism is evaluated and eliminated by compiled functions as any other; for every body in full order,
the equations of its nodes are added to the residual and, condensed, to Newton's matrix (see ``bodies/full_order.py``).
Their matrix is kept as long as the step is: what it leaves out is the work of Newton's iteration, which the rate of its
convergence measures.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import PLANAR
from flexmbs.bodies.full_order import Condensation, Factored, Response
from flexmbs.errors import AnalysisError
from flexmbs.integrators.alpha_run import CHUNK, ON_THEM, ROOM, AlphaRun, Carried
from flexmbs.integrators.alpha_step import AGEING, CONVERGED, NOT_CONVERGED, NOT_FINITE, ROUNDING, SHARE, grain
from flexmbs.integrators.history import Snapshot
from flexmbs.joints.measures import ANGLE
from flexmbs.profiles import evaluate_all as evaluate_laws
from flexmbs.system.elimination import factorise, substitute
from flexmbs.system.evaluate import Work, evaluate_all, retract
from flexmbs.system.newton import newton_system
from flexmbs.system.reaction_friction import settle_friction
from flexmbs.system.saddle import REDUNDANT, add_mass, velocity_unknowns
from flexmbs.system.state import State

Array = NDArray[np.float64]

ITERATIONS = 16
SETTLING = 12
KEPT = 3
"""Steps of different lengths whose factors are kept."""
MASS = (0.0,)
SLOW, PATIENCE = 2, 4
"""Iterations beside the first that make a step a slow one, and steps between two renewals at least."""
LEAST = 1e-5
"""Ratio of corrections that is assumed at least: the matrix is new in every step, unlike that of ``alpha_step``."""
AT_ONCE = 16
"""States in one call at most: each is large, and a step takes long enough to be heard of."""


class FullState(NamedTuple):
    """State of the condensed mechanism and of the nodes, d; ``angles`` are last, as in ``AlphaState``."""

    q: Array
    v: Array
    rate: Array
    a: Array
    multipliers: Array
    d: Array
    d_v: Array
    d_rate: Array
    d_a: Array
    angles: Array


class Pending(NamedTuple):
    """What the nodes of one body are corrected by, once the unknowns of the mechanism are known."""

    found: Response
    rotation: Array


def run_of(method: Any, system: Any, start: State, h: float, watched: bool) -> AlphaRun:
    """The run of a mechanism: with nodes in full order where it has such bodies."""
    if system.condensed is None:
        return AlphaRun(method, system, start, h)
    for found, what in (
        (method.stabilised, "with stabilised=True"),
        (watched, "with events"),
        (bool(system.controllers), "with sampled controllers"),
    ):
        if found:
            names = ", ".join(body.name for body in system.bodies if body.full_order)
            raise AnalysisError(
                f"{names}: a body in full order does not run {what}; leave that out, or reduce the body, e.g. "
                "CraigBampton(modes=20)."
            )
    return FullOrderRun(method, system, start, h)


class FullOrderRun(AlphaRun):
    """As AlphaRun; ``system`` is the condensed mechanism, and states are expanded when they leave."""

    def __init__(self, method: Any, system: Any, start: State, h: float) -> None:
        self.whole = system.condensed
        self.full, self.parts = self.whole.full, self.whole.parts
        self.age, self.patience = 0, PATIENCE
        self.known: dict[tuple[float, ...], list[Condensation]] = {}
        (q, d), (v, d_v) = self.whole.reduced(start.q, False), self.whole.reduced(start.v, True)
        zero = np.zeros_like(d)
        self.nodes = d, d_v, zero, zero.copy()
        self.jerk, self.next_jerk = np.zeros_like(d), np.zeros_like(d)
        self.increment = np.zeros_like(d)
        self.trial_d, self.trial_v, self.trial_rate = (np.zeros_like(d) for _ in range(3))
        self.before = start.carried if isinstance(start.carried, Carried) and start.carried.fits(method, h) else None
        small = self.whole.system
        self.lengths = np.concatenate([f.part.lengths for _, f in self.full])
        super().__init__(method, small, State(start.t, q, v, start.angles), h)
        self.unknown = velocity_unknowns(self.layout, self.where)
        self.widths = (
            system.n_q, system.n_v, system.n_v, self.layout.n_rows, len(self.layout.measure_kind), 1,
        )  # fmt: skip
        self.rows = max(1, min(CHUNK, AT_ONCE, ROOM // sum(self.widths)))
        self.record = np.zeros((self.rows + 1, sum(self.widths)))

    # ---- steps ------------------------------------------------------------------------------------------------

    def _steps(self, t: float, h: float, n: int, first: int, every: int, record: Array) -> tuple[int, int]:
        for k in range(n):
            self.prescribed[:] = evaluate_laws(
                self.table.kinds,
                self.table.starts,
                self.params,
                len(self.prescribed),
                np.array([t + (first + k + 1) * h]),
            )[0]
            problem = self._step(h)
            if problem:
                return k, problem
            if (first + k + 1) % every == 0:
                self._write(record[(first + k + 1) // every - first // every - 1])
        return n, 0

    def _step(self, h: float) -> int:
        """One step; the state stays as it was where it fails. See ``alpha_step`` for when it has converged."""
        alpha_m, alpha_f, beta, gamma = self.method.coefficients
        scale = beta * h * h
        c_m, c_d = (1 - alpha_m) / ((1 - alpha_f) * scale), gamma / (beta * h)
        state, work = self.state, self.work
        kept = self._condensations(scale, c_m, c_d)
        strongest = max(
            _largest(self.weights, state.a), _largest(self.weights, state.v) / h * 1e-3,
            _largest(self.lengths, state.d_a), _largest(self.lengths, state.d_v) / h * 1e-3,
        )  # fmt: skip
        length = float(self.weights.max(initial=0.0))
        finest = max(self.tolerance[1], grain(state.q, length))
        enough = SHARE * self.tolerance[0] * scale * strongest + finest
        ratio = float(work.memory[1]) if work.memory[0] == h else 1.0
        self._predict(h, scale, 1.0 if work.memory[0] == h else 0.0)
        before = 0.0
        for count in range(ITERATIONS):
            self._trial(h)
            pending = self._assembled(kept, scale, c_m, c_d, count == 0)
            self.counts[:] += 1
            factorise(self.plan, work.factors, 1e-12)
            substitute(self.plan, work.factors, work.residual)
            step, push_step = work.residual[self.unknown], work.residual[self.where.row_unknown]
            nodes = self._spread(kept, pending, step)
            work.increment[:] -= step
            work.multipliers[:] -= push_step
            self.increment -= nodes
            size = max(_largest(self.weights, step), _largest(self.lengths, nodes))
            if not np.isfinite(size + np.sum(step) + np.sum(nodes)):
                work.memory[0] = 0.0
                return int(NOT_FINITE)
            unit = np.where(work.turning, 1.0 / length, 1.0)
            push, most = _largest(unit, push_step), _largest(unit, work.multipliers)
            if count:
                ratio = size / before if before > 0.0 else 0.0
            left = 1.0 if ratio >= 0.5 else ratio
            enough_push = 100.0 * self.tolerance[0] * most + work.memory[2] * enough
            stalled = count > 0 and ratio >= 0.5 and size <= ROUNDING * enough and push <= ROUNDING * enough_push
            if stalled or (size * left <= enough and push * left <= enough_push):
                work.memory[0], work.memory[1] = h, AGEING * max(ratio, LEAST)
                self._accept(h, scale)
                self._renew((scale, c_m, c_d), count)
                return int(CONVERGED)
            before = size
        work.memory[0] = 0.0
        return int(NOT_CONVERGED)

    def _condensations(self, scale: float, c_m: float, c_d: float) -> list[Condensation]:
        """Factors of the nodes' matrices for one length of steps; those of the last few are kept."""
        key = (scale, c_m, c_d)
        if key not in self.known:
            while len(self.known) >= KEPT:
                self.known.pop(next(iter(self.known)))
            found = []
            for (_, full), own in zip(self.full, self.parts, strict=True):
                by_mass, by_stiffness = full.part.damping
                mass, stiffness = c_m + c_d * by_mass, 1.0 + c_d * by_stiffness
                made = Factored(full, scale * mass, scale * stiffness)
                found.append(Condensation(made, scale * c_m, self.state.d[own]))
            self.known[key] = found
        return self.known[key]

    def _renew(self, key: tuple[float, ...], count: int) -> None:
        """After slow steps, the coupling of frame and nodes at the present deformation; rarer where that is no help."""
        self.age += 1
        if count < SLOW or self.age < self.patience:
            return
        self.known[key] = [m.near(self.state.d[own]) for m, own in zip(self.known[key], self.parts, strict=True)]
        self.patience = 2 * self.patience if self.age == self.patience else PATIENCE
        self.age = 0

    def _predict(self, h: float, scale: float, trend: float) -> None:
        state, work = self.state, self.work
        ahead = trend * scale * h
        work.increment[:] = h * state.v + 0.5 * h * h * state.a + ahead * work.next_jerk
        work.multipliers[:] = scale * (state.multipliers + trend * h * work.next_change)
        self.increment[:] = h * state.d_v + 0.5 * h * h * state.d_a + ahead * self.next_jerk

    def _trial(self, h: float) -> None:
        """The state that belongs to the increments."""
        state, work = self.state, self.work
        work.v[:], work.rate[:] = self._rates(h, work.increment, state.v, state.rate, state.a)[1:]
        _, self.trial_v[:], self.trial_rate[:] = self._rates(h, self.increment, state.d_v, state.d_rate, state.d_a)
        np.add(state.d, self.increment, out=self.trial_d)
        retract(self.layout, state.q, work.increment, work.q)

    def _rates(self, h: float, x: Array, v: Array, rate: Array, a: Array) -> tuple[Array, Array, Array]:
        """The method's a, velocities and their rates at the end of a step with increment x."""
        alpha_m, alpha_f, beta, gamma = self.method.coefficients
        new = (x / h - v - (0.5 - beta) * h * a) / (beta * h)
        return (
            new,
            v + h * ((1 - gamma) * a + gamma * new),
            ((1 - alpha_m) * new + alpha_m * a - alpha_f * rate) / (1 - alpha_f),
        )

    def _assembled(self, kept: list[Condensation], scale: float, c_m: float, c_d: float, new: bool) -> list[Pending]:
        """Newton's matrix and residual of the condensed mechanism."""
        work, layout = self.work, self.layout
        evaluate_all(layout, self.prescribed, self.state.angles, work.q, work.v, self.stages)
        newton_system(
            layout, self.where, work.v, work.rate, work.increment, work.multipliers, scale, c_m, c_d, self.stages,
            self.scratch, True, work.factors.data, work.residual,
        )  # fmt: skip
        nodes = self.trial_d, self.trial_v, self.trial_rate
        rates = (c_m, c_d) if new else None
        return self._added(kept, scale, scale * c_m, self.stages, work.v, work.rate, nodes, work.residual, rates)

    def _added(
        self, kept: list[Condensation], scale: float, unit: float, stages: Work, v: Array, rate: Array,
        nodes: tuple[Array, Array, Array] | None, residual: Array, rates: tuple[float, float] | None = None,
    ) -> list[Pending]:  # fmt: skip
        """Add the nodes of all bodies to the matrix and, without ``nodes`` only as matrix, to the residual.

        ``unit`` is what the compiled functions have on the diagonal of e, which is taken away. With ``rates``, c_m and
        c_d, the dependence of the frames on the nodes is renewed.
        """
        data, out = self.work.factors.data, []
        for (b, full), own, made in zip(self.full, self.parts, kept, strict=True):
            first, end = int(self.layout.body_v[b]), int(self.layout.body_v[b + 1])
            at, stride = (int(x) for x in self.where.body_place[b])
            unknown, r = int(self.where.body_unknown[b]), len(full.used)
            rotation, straight = stages.rotation[b], 2 if r == 3 else 3
            if nodes is not None:
                d, d_v, d_rate = (x[own] for x in nodes)
                moving = self._moving(b, first, rotation, v, rate)
                rows = full.rows(*moving, d, d_v, d_rate)
                if rates is not None:
                    made.seen_by(scale * full.frame_rows(*moving[:2], d, rows.forces, *rates))
            turn = np.eye(end - first)
            turn[:straight, :straight] = rotation[:straight, :straight]
            block = turn @ made.block @ turn.T
            block[np.diag_indices(end - first)] -= np.concatenate([np.zeros(r), np.full(made.e, unit)])
            place = at + stride * np.arange(end - first)[:, None] + np.arange(end - first)
            data[place] += block
            if nodes is None:
                out.append(Pending(Response(np.zeros(full.size), np.zeros(made.border)), turn[:r, :r]))
                continue
            rigid, on_e, found = made.condensed(scale * rows.nodes, np.asarray(full.held @ d))
            residual[unknown : unknown + r] += turn[:r, :r] @ (scale * rows.rigid + rigid)
            residual[unknown + r : unknown + end - first] += on_e - scale * rate[first + r : end]
            out.append(Pending(found, turn[:r, :r]))
        return out

    def _moving(self, b: int, first: int, rotation: Array, v: Array, rate: Array) -> tuple[Array, Array, Array]:
        """ω, ε and a = Rᵀ(p'' - g) of a body's frame, in body axes."""
        gravity = self.layout.gravity
        if self.layout.body_kind[b] == PLANAR:
            push = np.array([rate[first] - gravity[0], rate[first + 1] - gravity[1], 0.0])
            return np.array([0.0, 0.0, v[first + 2]]), np.array([0.0, 0.0, rate[first + 2]]), rotation.T @ push
        return v[first + 3 : first + 6], rate[first + 3 : first + 6], rotation.T @ (rate[first : first + 3] - gravity)

    def _spread(self, kept: list[Condensation], pending: list[Pending], step: Array) -> Array:
        """Corrections of all nodes that belong to those of the mechanism."""
        out = []
        for (b, full), made, left in zip(self.full, kept, pending, strict=True):
            first, r = int(self.layout.body_v[b]), len(full.used)
            frame, e = left.rotation.T @ step[first : first + r], step[first + r : first + r + made.e]
            out.append(made.spread(left.found, frame, e))
        return np.concatenate(out)

    def _accept(self, h: float, scale: float) -> None:
        """Make the trial state the state."""
        state, work = self.state, self.work
        self._trial(h)
        for x, v, rate, a, jerk, coming in (
            (work.increment, state.v, state.rate, state.a, work.jerk, work.next_jerk),
            (self.increment, state.d_v, state.d_rate, state.d_a, self.jerk, self.next_jerk),
        ):
            new, v[:], rate[:] = self._rates(h, x, v, rate, a)
            change = (new - a) / h
            coming[:] = 2.0 * change - jerk
            jerk[:], a[:] = change, new
        state.q[:], state.d[:] = work.q, self.trial_d
        change = (work.multipliers / scale - state.multipliers) / h
        work.next_change[:] = 2.0 * change - work.change
        work.change[:], state.multipliers[:] = change, work.multipliers / scale
        self._follow()
        turning = self.layout.measure_kind == ANGLE
        state.angles[turning] = self.stages.measure[turning]

    def _follow(self) -> None:
        """Set e to what the nodes say, so that rounding does not part them."""
        state = self.state
        for (b, full), own in zip(self.full, self.parts, strict=True):
            state.q[self.whole.places(b, False)] = full.body.rows @ state.d[own]
            e = self.whole.places(b, True)
            for small, large in ((state.v, state.d_v), (state.rate, state.d_rate), (state.a, state.d_a)):
                small[e] = full.body.rows @ large[own]

    # ---- starting ---------------------------------------------------------------------------------------------

    def settle(self, t: float, h: float, allowed: float = ON_THEM) -> None:
        """As for any run, with the mass matrix of the nodes."""
        if not isinstance(self.state, FullState):  # the base class made that of the condensed mechanism
            s = self.state
            self.state: Any = FullState(s.q, s.v, s.rate, s.a, s.multipliers, *self.nodes, s.angles)
            self.unknown = velocity_unknowns(self.layout, self.where)
        if self.before is not None:
            self._restore(self.before)
            self.before = None
            return
        state, just_after = self.state, t + self._margin(t)
        work = self._evaluated(just_after, state.q, state.v)
        kept = self._masses()
        missing = np.abs(np.where(self.where.row_active, work.phi_rate, 0.0)).max(initial=0.0)
        if missing > allowed * max(1.0, float(np.abs(state.v).max(initial=0.0))):
            self._impulse(kept, work)
            work = self._evaluated(just_after, state.q, state.v)
        if len(self.layout.forces.pressed):
            settle_friction(self.layout, work, lambda: self._accelerate(kept, work))
        self._accelerate(kept, work)
        state.a[:], state.d_a[:] = state.rate, state.d_rate
        for array in (self.work.jerk, self.work.next_jerk, self.work.change, self.work.next_change, self.jerk):
            array[:] = 0.0
        self.next_jerk[:] = 0.0
        self.work.memory[0] = 0.0

    def _masses(self) -> list[Condensation]:
        """Factors of the nodes' mass matrices."""
        if MASS not in self.known:
            self.known[MASS] = [Condensation(Factored(f, 1.0, 0.0), 1.0, np.zeros(f.size)) for _, f in self.full]
        return [made.near(self.state.d[own]) for made, own in zip(self.known[MASS], self.parts, strict=True)]

    def _accelerate(self, kept: list[Condensation], work: Work) -> Array:
        """Accelerations and multipliers at the present state; the multipliers."""
        state, mine, still = self.state, self.work, np.zeros(self.layout.n_v)
        jacobian = self.system.jacobian(work)
        state.rate[:], state.d_rate[:], state.multipliers[:] = 0.0, 0.0, 0.0
        first = 0.0
        for count in range(SETTLING):
            newton_system(
                self.layout, self.where, state.v, state.rate, still, state.multipliers, 1.0, 1.0, 0.0, work,
                self.scratch, False, mine.factors.data, mine.residual,
            )  # fmt: skip
            residual = mine.residual.copy()
            active = self.where.row_active
            residual[self.where.row_unknown[active]] = (jacobian @ state.rate - work.gamma)[active]
            step, nodes, push = self._mass_step(kept, work, (state.d, state.d_v, state.d_rate), residual)
            state.rate[:] -= step
            state.multipliers[:] -= push
            state.d_rate[:] -= nodes
            size = max(_largest(self.weights, step), _largest(self.lengths, nodes))
            first = max(first, size)
            if count and size <= 1e-13 * first:
                break
        self._follow()
        return np.asarray(state.multipliers)

    def _impulse(self, kept: list[Condensation], work: Work) -> None:
        """The change of velocities of least kinetic energy after which the rows' rates hold."""
        residual = np.zeros(self.plan.unknowns)
        active = self.where.row_active
        residual[self.where.row_unknown[active]] = -work.phi_rate[active]
        step, nodes, _ = self._mass_step(kept, work, None, residual)
        self.state.v[:] += step
        self.state.d_v[:] += nodes

    def _mass_step(self, kept: Any, work: Work, nodes: Any, residual: Array) -> tuple[Array, Array, Array]:
        """Solution of [M -Jᵀ; J 0] for a residual of the mechanism, to which that of the nodes is added."""
        state, factors = self.state, self.work.factors
        factors.data[:] = 0.0
        add_mass(self.layout, self.where, state.v, work, factors.data, np.zeros(self.plan.unknowns))
        pending = self._added(kept, 1.0, 1.0, work, state.v, state.rate, nodes, residual)
        factorise(self.plan, factors, REDUNDANT)
        substitute(self.plan, factors, residual)
        step = residual[self.unknown]
        return step, self._spread(kept, pending, step), residual[self.where.row_unknown]

    # ---- what is kept -----------------------------------------------------------------------------------------

    def _write(self, row: Array) -> None:
        """A row of the record becomes the state; see ``alpha_step.record_widths``."""
        now = self.snapshot(0.0)
        missing = np.abs(np.where(self.where.row_active, 0.0, self.stages.phi)).max(initial=0.0)
        row[:] = np.concatenate([*now[1:], [missing]])

    def snapshot(self, t: float) -> Snapshot:
        """A copy of the state of the whole mechanism."""
        s, whole = self.state, self.whole
        return Snapshot(
            t, whole.expanded(s.q, s.d, False), whole.expanded(s.v, s.d_v, True),
            whole.expanded(s.rate, s.d_rate, True), s.multipliers.copy(), s.angles.copy(),
        )  # fmt: skip

    def carried(self) -> Carried:
        """What the method needs to go on from the present state."""
        s, work = self.state, self.work
        kept = (s.a, s.d_rate, s.d_a, work.jerk, work.next_jerk, work.change, work.next_change, work.memory)
        return Carried(
            self.method, self.h, s.rate.copy(), s.a.copy(), s.multipliers.copy(),
            tuple(x.copy() for x in (*kept, self.jerk, self.next_jerk)),
        )  # fmt: skip

    def _restore(self, carried: Carried) -> None:
        s, work = self.state, self.work
        s.rate[:], s.multipliers[:] = carried.rate, carried.multipliers
        kept = (s.a, s.d_rate, s.d_a, work.jerk, work.next_jerk, work.change, work.next_change, work.memory)
        for mine, given in zip((*kept, self.jerk, self.next_jerk), carried.remembered, strict=True):
            mine[:] = given


def _largest(weights: Array, x: Array) -> float:
    return float(np.abs(weights * x).max(initial=0.0))
