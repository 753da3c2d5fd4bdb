"""Rows that are Python functions, in the compiled evaluation: as rows with the factors that belong to a state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexmbs.joints.functions import Expansion, FunctionGroup, FunctionRow, along
from flexmbs.profiles import ProfileTable
from flexmbs.system.evaluate import Work, evaluate_all, work_arrays
from flexmbs.system.layout import Layout

Array = NDArray[np.float64]
Index = NDArray[np.int64]

CLOSED = 1e-12
"""How far, in lengths or radians relative to the mechanism's size, a function may be from what a step took it for."""
STEP = 1e-3
"""Step of the differences that give tangents, in sizes of the mechanism or radians."""


class Group(NamedTuple):
    """Functions of one constraint, with their rows, the first term of each, and their measures."""

    functions: FunctionGroup
    rows: Index
    terms: Index
    measures: Index


class Expanded(NamedTuple):
    """All functions at a state, as what their rows are there: factors of terms, and right-hand sides."""

    terms: Index
    factors: Array
    rows: Index
    right: Array  # (rows, 3) value, rate and acceleration of the right-hand side
    term_row: Index  # row of each term, counted from the first of these
    measured: Array  # (terms,) the measures, or their rates
    value: Array  # (rows,) the functions

    def applied(self, layout: Layout, prescribed: Array) -> tuple[Layout, Array]:
        """Layout and right-hand sides with these factors."""
        factors, right = layout.term_factor.copy(), prescribed.copy()
        factors[self.terms] = self.factors
        right[self.rows] = self.right
        return layout._replace(term_factor=factors), right

    def write(self, layout: Layout, table: ProfileTable, params: Array) -> None:
        """The same into the factors of a layout and the coefficients of a table, in place."""
        layout.term_factor[self.terms] = self.factors
        for r, right in zip(self.rows, self.right, strict=True):
            start = table.starts[r]
            params[start : start + 3] = right

    def settled(self, before: Expanded, tolerance: float, size: float) -> bool:
        """Whether, at the end of a step, functions are what the step took them for: linear, with factors ``before``."""
        count, term_row = len(self.rows), self.term_row
        taken = np.bincount(term_row, before.factors * self.measured, count) - before.right[:, 0]
        largest, changed, moved = np.zeros((3, count))
        np.maximum.at(largest, term_row, np.abs(self.factors))
        np.maximum.at(changed, term_row, np.abs(self.factors - before.factors))
        np.maximum.at(moved, term_row, np.abs(self.measured))
        closed = np.abs(self.value - taken) <= CLOSED * np.maximum(max(1.0, size), moved) * largest
        return bool(closed.all() and (changed <= tolerance * largest).all())


class Functions:
    """The functions among the rows of a system."""

    def __init__(self, layout: Layout, joints: Sequence[Any]) -> None:
        self.layout = layout
        self.groups: list[Group] = []
        for k, joint in enumerate(joints):
            if isinstance(joint, FunctionGroup):
                rows = np.arange(layout.group_row[k], layout.group_row[k + 1])
                rows = rows[[isinstance(row, FunctionRow) for row in joint.rows]]
                width = layout.row_start[rows[0] + 1] - layout.row_start[rows[0]]
                terms = layout.row_start[rows][:, None] + np.arange(width)
                self.groups.append(Group(joint, rows, terms, layout.term_measure[terms[0]]))

    def __bool__(self) -> bool:
        return bool(self.groups)

    @property
    def velocity(self) -> bool:
        """Whether some are functions of velocities."""
        return any(not self.layout.row_holonomic[g.rows[0]] for g in self.groups)

    def expand(self, t: float, work: Work, size: float) -> Expanded:
        """All functions at an evaluated state."""
        rates = self._rates(work)
        found_all: list[tuple[Any, ...]] = []
        count = 0
        for group in self.groups:
            m = group.measures
            c, c1, c2 = work.measure[m], rates[m], work.measure_bias[m]
            found: Expansion = group.functions.expand(t, c, c1, c2, size)
            f = found.factors
            if self.layout.row_holonomic[group.rows[0]]:
                columns = [f @ c - found.value, f @ c1 - found.first, f @ c2 - found.second]
                measured = c
            else:
                columns = [f @ c1 - found.value, f @ c2 - found.first, 0 * found.value]
                measured = c1
            n = len(group.rows)
            term_row = np.repeat(count + np.arange(n), len(m))
            count += n
            right = np.stack(columns, axis=1)
            found_all.append(
                (group.terms.ravel(), f.ravel(), group.rows, right, term_row, np.tile(measured, n), found.value)
            )
        joined: list[Any] = [np.concatenate(a) for a in zip(*found_all, strict=True)]
        return Expanded(*joined)

    def expansions(self, t: float, work: Work, size: float) -> dict[int, Expansion]:
        """Each function at an evaluated state, by the id of its constraint."""
        c, rates, biases = work.measure, self._rates(work), work.measure_bias
        return {
            id(g.functions): g.functions.expand(t, c[g.measures], rates[g.measures], biases[g.measures], size)
            for g in self.groups
        }

    def at(self, system: Any, t: float, q: Array, v: Array, angles: Array) -> Expanded:
        """All functions at (t, q, v)."""
        work = work_arrays(self.layout)
        evaluate_all(self.layout, np.zeros((len(system.profiles), 3)), angles, q, v, work)
        return self.expand(t, work, system.walked[1])

    def layouts(self, system: Any, t: Array, q: Array, v: Array, angles: Array) -> Iterator[Layout]:
        """The layout at each instant."""
        for state in zip(t, q, v, angles, strict=True):
            yield self.at(system, *state).applied(self.layout, np.zeros((len(system.profiles), 3)))[0]

    def rates(self, system: Any, t: float, q: Array, v: Array, angles: Array) -> Array:
        """J v of all rows: the rate of what is prescribed."""
        work = system.evaluate(t, q, v, angles)
        return np.asarray(system.jacobian(work) @ v - work.phi_rate)

    def tangents(
        self, system: Any, t: float, q: Array, v: Array, angles: Array, multipliers: Array
    ) -> tuple[Array, Array]:
        """Derivatives (velocities, velocities) of Jᵀλ by positions and by velocities that come from the factors."""
        held = np.zeros(len(multipliers))
        rows = np.concatenate([g.rows for g in self.groups])
        held[rows] = multipliers[rows]
        size = system.walked[1]

        def forces(x: Array, dv: Array) -> Array:
            """Jᵀλ with the factors of a moved state and the gradients of this one."""
            moved = self.at(system, t, system.retract(q, x), v + dv, angles)
            layout, right = moved.applied(self.layout, np.zeros((len(system.profiles), 3)))
            work = work_arrays(layout)
            evaluate_all(layout, right, angles, q, v, work)
            return np.asarray(system.jacobian(work).T @ held)

        stiffness, damping = np.zeros((2, system.n_v, system.n_v))
        if not held.any():
            return stiffness, damping
        zero = np.zeros(system.n_v)
        touched = {int(self.layout.frame_body[f]) for g in self.groups for m in g.measures
                   for f in (self.layout.measure_i[m], self.layout.measure_j[m])}  # fmt: skip
        speed = max(1.0, float(np.abs(v * system.length_weights).max(initial=0.0)) / size)

        def column(k: int, moves: bool) -> Array:
            step = zero.copy()
            step[k] = size / system.length_weights[k]
            if moves:
                return along(lambda s: forces(s * step, zero), STEP)[0] / step[k]
            return along(lambda s: forces(zero, s * step), STEP * speed)[0] / step[k]

        for b in touched:
            for k in range(self.layout.body_v[b], self.layout.body_v[b + 1]):
                stiffness[:, k] = column(k, True)
                if self.velocity:
                    damping[:, k] = column(k, False)
        return stiffness, damping

    def _rates(self, work: Work) -> Array:
        """Rates of all measures."""
        i, j = self.layout.measure_i, self.layout.measure_j
        g, moved, spin = work.gradient, work.frame_velocity, work.frame_spin
        return np.asarray(np.sum(g[:, :3] * (moved[j] - moved[i]) + g[:, 3:6] * spin[i] + g[:, 6:] * spin[j], axis=1))
