"""System: a mechanism, laid out once as arrays; it gives the equations of motion at (t, q, v)."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from flexmbs.bodies.body import Body, Frame, vector
from flexmbs.equations import Equations
from flexmbs.errors import ModelError
from flexmbs.fem.loads import Gravity
from flexmbs.forces.assemble import add_wrenches
from flexmbs.forces.body_load import BodyLoad
from flexmbs.forces.controller import Controller, Sensed
from flexmbs.forces.force import Force
from flexmbs.forces.layout import USER_FORCE, time_functions
from flexmbs.forces.reaction_kernel import friction_by_reactions
from flexmbs.forces.rotating import RotatingFrame
from flexmbs.forces.user import UserForce
from flexmbs.forces.wrenches import energies
from flexmbs.given import number
from flexmbs.joints.cam import Cam
from flexmbs.joints.drives import Coupling, Drive
from flexmbs.joints.functions import FunctionGroup
from flexmbs.joints.joint import Joint, Measure, Row
from flexmbs.nullspace import NullSpace
from flexmbs.profiles import Profile, ProfileTable, as_profile
from flexmbs.profiles import evaluate_all as evaluate_laws
from flexmbs.system.checks import check, listed, named
from flexmbs.system.condensing import Condensed, condensed, condensed_parts, refuse_full_order
from flexmbs.system.degenerate import rank_decision
from flexmbs.system.elimination import Plan
from flexmbs.system.evaluate import Work, body_inertia, evaluate_all, retract, work_arrays
from flexmbs.system.functions import Functions
from flexmbs.system.graph import Graph, graph, singular_masses
from flexmbs.system.layout import Layout, lay_out
from flexmbs.system.locked import locked
from flexmbs.system.newton import Places, places
from flexmbs.system.placing import initial_state
from flexmbs.system.report import report
from flexmbs.system.saddle import accelerations
from flexmbs.system.state import State
from flexmbs.system.tree import Tree, tree_of
from flexmbs.system.user_forces import UserForces, frame_state
from flexmbs.system.walking import length_weights, walked

Array = NDArray[np.float64]


class System:
    """A mechanism of bodies, joints (with drives and couplings) and forces.

    Bodies without a given pose are placed by walking the joints, loops are closed, and velocities made consistent; the
    outcome is ``initial``. A System is not changed by any analysis.
    """

    def __init__(self, bodies: Sequence[Body], joints: Sequence[Any] = (), forces: Sequence[Any] = ()) -> None:
        self.bodies: tuple[Body, ...] = listed(bodies, "bodies", (Body,), "a body (RigidBody, PlanarBody, Ground, ...)")
        self.joints: tuple[Any, ...] = listed(
            joints, "joints", (Joint, Drive, Coupling, FunctionGroup), "a joint, Drive, Coupling or constraint"
        )
        self.forces: tuple[Any, ...] = listed(
            forces,
            "forces",
            (Gravity, Force, UserForce, RotatingFrame, Controller, BodyLoad),
            "a force of a mechanism (Gravity, SpringDamper, AppliedForce, ...)",
        )
        contacts = [joint.contact for joint in self.joints if isinstance(joint, Cam)]
        self.joints += tuple(c for c in contacts if c not in self.joints)  # there already if taken from a system
        self.bodies += tuple(c.body for c in contacts if c.body not in self.bodies)
        check(self)
        groups = [joint.rows for joint in self.joints]
        self.rows: tuple[Row, ...] = tuple(row for group in groups for row in group)
        self.labels: tuple[str, ...] = tuple(
            f"{j.name}: {r.label}" for j, g in zip(self.joints, groups, strict=True) for r in g
        )
        self.controllers: tuple[Controller, ...] = tuple(f for f in self.forces if isinstance(f, Controller))
        self._parts = {
            id(f): (f.parts(self.bodies) if isinstance(f, RotatingFrame | Controller | BodyLoad) else [f])
            for f in self.forces
            if not isinstance(f, Gravity | UserForce)
        }
        self.compiled_forces: tuple[Force, ...] = tuple(part for parts in self._parts.values() for part in parts)
        times, self._first_time = time_functions(self.compiled_forces)
        self.profiles: tuple[Profile, ...] = (*(as_profile(row.profile) for row in self.rows), *times)
        gravity = np.sum(
            [vector(f.acceleration, 3, "Gravity: acceleration") for f in self.forces if isinstance(f, Gravity)]
            or [np.zeros(3)],
            axis=0,
        )
        users = [f for f in self.forces if isinstance(f, UserForce)]
        self.layout, self.frames = lay_out(
            self.bodies,
            groups,
            gravity,
            [*self.compiled_forces, *users],
            self.joints,
            [item for c in self.controllers for item in c.sense],
        )
        self.user_forces = UserForces(self.layout, self.frames, users)
        self.functions = Functions(self.layout, self.joints)
        self.holonomic: NDArray[np.bool_] = self.layout.row_holonomic
        self.holonomic.setflags(write=False)
        self._stand_ins: dict[int, Any] = {}

    def __repr__(self) -> str:
        counts = f"{len(self.bodies)} bodies, {len(self.joints)} joints"
        return f"<System: {counts}, {self.layout.n_v} velocities, {len(self.rows)} rows>"

    # ---- sizes and numbers ----------------------------------------------------------------------------------

    @property
    def n_q(self) -> int:
        """Number of coordinates q."""
        return self.layout.n_q

    @property
    def n_v(self) -> int:
        """Number of velocities v."""
        return self.layout.n_v

    def named(self, name: str) -> Any:
        """The body, joint or force of a name; in a result that was loaded there is no other way to them."""
        return named(self, name)

    def body_number(self, body: Body) -> int:
        """Number of a body in this system."""
        try:
            return self.frames.body_number(body)
        except KeyError:
            raise ModelError(f"body {getattr(body, 'name', body)!r} is not in this system.") from None

    def joint_rows(self, joint: Any) -> slice:
        """Rows of a joint in φ, J and the multipliers."""
        mine = self.own(joint)
        for k, own in enumerate(self.joints):
            if own is mine:
                return slice(int(self.layout.group_row[k]), int(self.layout.group_row[k + 1]))
        raise ModelError(f"joint {getattr(joint, 'name', joint)!r} is not in this system.")

    def own(self, item: Any) -> Any:
        """The joint or force of this system that one of the mechanism before ``rigid`` stands for, or the same."""
        return self._stand_ins.get(id(item), item)

    def measure_number(self, measure: Measure) -> int | None:
        """Number of a measure among those of rows and forces, whose turns the state counts; None for others."""
        layout, (i, j) = self.layout, (self.frames.find(f) for f in (measure.frame_i, measure.frame_j))
        same = (layout.measure_kind == measure.kind) & (layout.measure_i == i) & (layout.measure_j == j)
        found = np.flatnonzero(same & (layout.measure_axes == measure.axes).all(axis=(1, 2)))
        return int(found[0]) if len(found) else None

    @property
    def force_names(self) -> tuple[str, ...]:
        """Names of the forces but gravity, those of Python functions last: the order of audits."""
        return (*(f.name for f in self.compiled_forces), *(f.name for f in self.user_forces.forces))

    @property
    def outside_names(self) -> tuple[str, ...]:
        """Of these, the ones that act on one frame and so on the mechanism as a whole, and Python functions."""
        single = [f.name for f in self.compiled_forces if f.frames[0] is None]
        return (*single, *(f.name for f in self.user_forces.forces))

    # ---- evaluation -------------------------------------------------------------------------------------------

    def prescribed(self, t: float) -> Array:
        """Value, rate and acceleration of the right-hand side of every row, then of the forces' functions of time."""
        table = self.table
        params = table.params.copy()
        table.refresh(params, t)
        laws: Array = evaluate_laws(table.kinds, table.starts, params, len(self.profiles), np.array([float(t)]))[0]
        return laws

    def evaluate(
        self, t: float, q: Array, v: Array, angles: Array | None = None, multipliers: Array | None = None
    ) -> Work:
        """All stages at one instant: poses, frames, measures, rows, forces.

        ``multipliers`` press where joints rub under their own reaction; without them such friction is left out.
        """
        if not np.isfinite(number(t)):
            raise ModelError(f"the time must be a finite number of seconds, not {t!r}.")
        work = work_arrays(self.layout)
        q, v = self._sized(q, self.n_q, "q"), self._sized(v, self.n_v, "v")
        if angles is not None:
            angles = self._sized(angles, len(self.layout.measure_kind), "angles")
        near = np.zeros(len(self.layout.measure_kind)) if angles is None else angles
        prescribed, layout = self.prescribed(t), self.layout
        evaluate_all(layout, prescribed, near, q, v, work)
        if self.functions:
            layout, prescribed = self.functions.expand(t, work, self.walked[1]).applied(layout, prescribed)
            evaluate_all(layout, prescribed, near, q, v, work)
        if multipliers is not None and len(layout.forces.pressed):
            friction_by_reactions(layout, self._sized(multipliers, len(self.rows), "multipliers"), work)
        if len(self.user_forces):
            work.forces.user[USER_FORCE] = self.user_forces.each(t, work).sum(axis=0)
        return work

    def layout_at(self, t: float, q: Array, v: Array, angles: Array) -> Layout:
        """The layout with the factors that rows of Python functions have at a state."""
        if not self.functions:
            return self.layout
        return self.functions.at(self, t, q, v, angles).applied(self.layout, np.zeros((len(self.profiles), 3)))[0]

    def equations(self, t: float, q: Array, v: Array, angles: Array | None = None) -> Equations:
        """The equations of motion at one instant: M v' = f + Jᵀλ, J v' = γ."""
        work = self.evaluate(t, q, v, angles)
        if len(self.layout.forces.pressed):  # the friction that belongs to the reactions; every formulation finds these
            accelerations(*self.independent, np.asarray(v, float), work)
        mass, force = self.inertia(work, v)
        return Equations(mass, force, self.jacobian(work), work.gamma, work.phi, work.phi_rate, self.labels)

    def jacobian(self, work: Work) -> sp.csr_array:
        """J (rows, velocities) of an evaluation."""
        layout = self.layout
        widths = np.diff(layout.entry_at)
        columns = np.concatenate(
            [
                np.zeros(0, np.int64),
                *(layout.body_v[b] + np.arange(w) for b, w in zip(layout.entry_body, widths, strict=True)),
            ]
        )
        indptr = layout.entry_at[layout.entry_start]
        return sp.csr_array((work.jacobian.copy(), columns, indptr), shape=(layout.n_rows, self.n_v))

    def inertia(self, work: Work, v: Array) -> tuple[sp.csr_array, Array]:
        """Mass matrix and f = Q - h of gravity, velocities and forces."""
        refuse_full_order(self.bodies)
        blocks, force = [], np.zeros(self.n_v)
        for b in range(self.layout.n_bodies):
            mine = slice(self.layout.body_v[b], self.layout.body_v[b + 1])
            n = mine.stop - mine.start
            if n:
                block = np.zeros((n, n))
                body_inertia(self.layout, b, np.asarray(v, float), work, block, force[mine])
                blocks.append(block)
        add_wrenches(self.layout, work, self.layout.body_v, 1.0, force)
        return sp.csr_array(sp.block_diag(blocks, format="csr")), force

    def force_energies(
        self, t: float, q: Array, v: Array, angles: Array | None = None, multipliers: Array | None = None
    ) -> dict[str, tuple[float, float]]:
        """Of each force but gravity: its potential, and the power of what has none (dampers, friction, actuators)."""
        work = self.evaluate(t, q, v, angles, multipliers)
        energy, power = np.zeros((2, len(self.layout.forces.table)))
        energies(self.layout, work, energy, power)
        names = [f.name for f in self.compiled_forces]
        out = {n: (float(e), float(p)) for n, e, p in zip(names, energy, power, strict=True)}
        for force, own in zip(self.user_forces.forces, self.user_forces.each(t, work), strict=True):
            out[force.name] = (0.0, float(own @ v))
        return out

    def force_numbers(self, force: Any) -> slice:
        """Numbers of the compiled forces that a force of the list is made of."""
        first, mine = 0, self.own(force)
        for given in self.forces:
            parts = self._parts.get(id(given), [])
            if given is mine and parts:
                return slice(first, first + len(parts))
            first += len(parts)
        raise ModelError(f"force {getattr(force, 'name', force)!r} is not in this system, or is not a compiled one.")

    def held(self, outputs: dict[str, Any]) -> System:
        """The same system with functions of time in place of the outputs of its controllers, by their names."""
        other = copy.copy(self)
        profiles = list(self.profiles)
        for controller in self.controllers:
            mine = self.force_numbers(controller)
            for k, output in zip(range(mine.start, mine.stop), outputs[controller.name], strict=True):
                profiles[len(self.rows) + self._first_time[k]] = as_profile(output)
        other.profiles = tuple(profiles)
        other.__dict__["table"] = ProfileTable.of(other.profiles)
        other.__dict__.pop("tree", None)
        return other

    def sensed(self, controller: Controller, work: Work, v: Array) -> list[Any]:
        """What a controller reads at an evaluated state."""
        out: list[Any] = []
        for item in controller.sense:
            if isinstance(item, Frame):
                out.append(frame_state(self.layout, self.frames.number(item), work))
                continue
            m = self.measure_number(item)
            force, moments = work.gradient[m, :3], work.gradient[m, 3:].reshape(2, 3)
            i, j = self.layout.measure_i[m], self.layout.measure_j[m]
            spins = work.frame_spin[[i, j]]
            rate = force @ (work.frame_velocity[j] - work.frame_velocity[i]) + np.sum(moments * spins)
            out.append(Sensed(float(work.measure[m]), float(rate)))
        return out

    def retract(self, q: Array, increment: Array) -> Array:
        """Coordinates moved by an increment in the space of velocities."""
        out = np.empty(self.n_q)
        q, increment = self._sized(q, self.n_q, "q"), self._sized(increment, self.n_v, "increment")
        retract(self.layout, q, increment, out)
        return out

    # ---- where it starts --------------------------------------------------------------------------------------

    @cached_property
    def table(self) -> ProfileTable:
        """Right-hand sides of all rows as functions of time."""
        return ProfileTable.of(self.profiles)

    @cached_property
    def elastic(self) -> NDArray[np.bool_]:
        """Which velocities are those of elastic coordinates."""
        out = np.zeros(self.n_v, dtype=np.bool_)
        for body, last in zip(self.bodies, self.layout.body_v[1:], strict=True):
            out[last - body.modes : last] = True
        return out

    @cached_property
    def modal_lengths(self) -> Array:
        """Largest displacement that a unit of each elastic coordinate makes."""
        return np.concatenate([np.zeros(0), *(body.modal_lengths for body in self.bodies)])

    @cached_property
    def length_weights(self) -> Array:
        """What each velocity counts as a length."""
        return length_weights(self, self.walked[1])

    @cached_property
    def walked(self) -> tuple[Array, float]:
        """Coordinates after walking the joints, before loops are closed, and the size of the mechanism."""
        return walked(self)

    @cached_property
    def initial(self) -> State:
        """Closed position and consistent velocities at t = 0."""
        return initial_state(self) if self.condensed is None else self.condensed.initial()

    @cached_property
    def graph(self) -> Graph:
        """Spanning tree and closing joints."""
        refuse_full_order(self.bodies)
        work = self.evaluate(0.0, self.walked[0], np.zeros(self.n_v))
        return graph(self.layout, work.jacobian, singular_masses(self.layout, self.bodies, work))

    @cached_property
    def tree(self) -> Tree:
        """Coordinates along the joints, with their dynamics, and the rows that close loops."""
        refuse_full_order(self.bodies)
        return tree_of(self, self.initial.q)

    @cached_property
    def elimination(self) -> tuple[Layout, Plan, Places]:
        """The layout with the order in which its unknowns are eliminated."""
        refuse_full_order(self.bodies)
        return (self.layout, *places(self.layout, self.graph))

    @cached_property
    def independent(self) -> tuple[Layout, Plan, Places]:
        """The elimination without redundant rows: what follows from other rows need not be asked for again."""
        layout, order, where = self.elimination
        active = np.ones(layout.n_rows, dtype=np.bool_)
        if self.graph.closing:  # rows of a tree are independent, each joint's of its own body
            active[self.rank_decision.redundant] = False
        return layout, order, where._replace(row_active=active)

    @cached_property
    def closing(self) -> tuple[Layout, Plan, Places]:
        """The elimination of the rows that hold positions."""
        layout, order, where = self.elimination
        return layout, order, where._replace(row_active=self.holonomic)

    @cached_property
    def _ranks(self) -> tuple[NullSpace, tuple[str, ...]]:
        return rank_decision(self) if self.condensed is None else self.condensed.system._ranks

    @property
    def rank_decision(self) -> NullSpace:
        """Which rows are independent at the start (around it, where it is a singular position), and how decided."""
        return self._ranks[0]

    @property
    def singular(self) -> tuple[str, ...]:
        """Rows that follow from others at the start only, which is then a singular position."""
        return self._ranks[1] if self.rows else ()

    @property
    def mobility(self) -> int:
        """Number of independent velocities at the start."""
        held = 0 if self.condensed is None else self.condensed.conditions
        return self.n_v - held - (self.rank_decision.rank if self.rows else 0)

    @property
    def redundant(self) -> tuple[str, ...]:
        """Rows that follow from others, named by joint and direction."""
        return tuple(self.labels[r] for r in self.rank_decision.redundant) if self.rows else ()

    @property
    def rigid_mobility(self) -> int:
        """Number of independent velocities at the start with deformation locked."""
        return self.rigid().mobility

    def rigid(self) -> System:
        """The same mechanism with deformation locked; itself, if no body is flexible.

        Bodies, joints and forces have the same names and order; what touches a flexible body is a copy, and the
        original stands for it in every question to the rigid system and its results.
        """
        return self._rigid

    @cached_property
    def _rigid(self) -> System:
        if self.layout.modal is None:
            return self
        parts = locked(self)
        out = System(parts.bodies, parts.joints, parts.forces)
        out._stand_ins = parts.became
        out._originals = (self.bodies, self.joints, self.forces)  # type: ignore[attr-defined]  # their ids stay theirs
        out.frames.stand_in({id(body): k for k, body in enumerate(self.bodies)})
        return out

    @cached_property
    def condensed(self) -> Condensed | None:
        """The same mechanism with bodies in full order condensed to the frames in use; None where there are none."""
        full = any(body.full_order for body in self.bodies)
        return condensed(self, System(*condensed_parts(self))) if full else None

    def report(self) -> str:
        """Bodies, joints, mobility and redundant rows, as text."""
        return report(self)

    # ---- inside -----------------------------------------------------------------------------------------------

    def _sized(self, values: Any, size: int, what: str) -> Array:
        try:
            array = np.ascontiguousarray(values, dtype=float)
        except (TypeError, ValueError):
            raise ModelError(f"{what} must be an array of {size} numbers, not {values!r}.") from None
        if array.shape != (size,):
            raise ModelError(
                f"{what} has shape {array.shape}, but this system has {size} of them: it must be ({size},)."
            )
        return array
