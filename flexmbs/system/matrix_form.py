"""The equations of motion of an open chain as matrices: M u' + C u + g = τ, with dM/dt - 2C skew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.body import POINT
from flexmbs.errors import ModelError
from flexmbs.rotations import skew, to_matrix
from flexmbs.system.evaluate import Work
from flexmbs.system.tree import Tree
from flexmbs.system.tree_kinematics import AXIS, BALL, TreeWork

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MatrixForm:
    """M u' + C u + g = τ in the speeds u of the joints, called ``names``; τ are forces on these.

    C is such that dM/dt - 2C is skew along any motion; where all speeds are rates of coordinates (no balls, no bodies
    flying freely in space) it is that of Christoffel's symbols. g holds gravity and all other forces.
    """

    names: tuple[str, ...]
    coordinates: Array
    speeds: Array
    mass: Array
    coriolis: Array
    gravity: Array


def matrix_form(system: Any, q: ArrayLike | None = None, v: ArrayLike | None = None, t: float = 0.0) -> MatrixForm:
    """M, C and g of an open chain at (t, q, v), by default at its start; mechanisms with loops are refused."""
    tree: Tree = system.tree
    if tree.closing:
        raise ModelError(
            f"matrix_form: joint coordinates are independent in open chains only, but {', '.join(tree.closing)} "
            "relates them. Leave it out (a drive), or use linearise or equations."
        )
    x = tree.coordinates(system.initial.q if q is None else q)
    u = tree.speeds(x, system.initial.v if v is None else v)
    own, work = tree.evaluated(t, x, u)
    mass, coriolis = np.zeros((2, tree.n_u, tree.n_u))
    rates = _subspace_rates(tree, x, u, own, work)
    for k in range(len(tree.arrays.body)):
        body = int(tree.arrays.body[k])
        inertia, momentum_rate = _central(tree, body, work)
        a, a_rate = _jacobians(tree, k, own, work, rates)
        mass += a.T @ inertia @ a
        coriolis += a.T @ (inertia @ a_rate + momentum_rate @ a)
    gravity = tree.forces(t, x, u, np.zeros(tree.n_u)) - coriolis @ u
    return MatrixForm(tree.names, x, u, mass, coriolis, gravity)


def _central(tree: Tree, body: int, work: Work) -> tuple[Array, Array]:
    """Inertia (6, 6) of a body at its mass centre, global axes, and the matrix that takes its twist to ω × I ω.

    With I' = ω~I - Iω~ and I'ω = ω × Iω, (I' - (Iω)~) / 2 does so, and leaves I' less twice itself skew.
    """
    layout, rotation, w = tree.layout, work.rotation[body], work.spin[body]
    c, m = layout.centre[body], float(layout.mass[body])
    inertia, bend = np.zeros((6, 6)), np.zeros((6, 6))
    inertia[:3, :3] = m * np.eye(3)
    if layout.body_kind[body] != POINT:
        moments = layout.inertia[body] - m * (c @ c * np.eye(3) - np.outer(c, c))
        own = rotation @ moments @ rotation.T
        inertia[3:, 3:] = own
        bend[3:, 3:] = (skew(w) @ own - own @ skew(w) - skew(own @ w)) / 2
    return inertia, bend


def _jacobians(tree: Tree, k: int, own: TreeWork, work: Work, rates: Array) -> tuple[Array, Array]:
    """Twist of the mass centre of body k from the speeds, and how that changes along the motion."""
    arrays, body = tree.arrays, int(tree.arrays.body[k])
    arm = work.rotation[body] @ tree.layout.centre[body]
    place = work.position[body] + arm
    speed = work.velocity[body] + np.cross(work.spin[body], arm)
    a, a_rate = np.zeros((2, 6, tree.n_u))
    while k >= 0:
        above = int(arrays.body[k])
        d, d_rate = place - work.position[above], speed - work.velocity[above]
        for c in range(arrays.column[k], arrays.column[k + 1]):
            s, s_rate = own.s[c], rates[c]
            a[:, c] = np.concatenate([s[:3] + np.cross(s[3:], d), s[3:]])
            turning = np.cross(s_rate[3:], d) + np.cross(s[3:], d_rate)
            a_rate[:, c] = np.concatenate([s_rate[:3] + turning, s_rate[3:]])
        k = int(arrays.parent[k])
    return a, a_rate


def _subspace_rates(tree: Tree, x: Array, u: Array, own: TreeWork, work: Work) -> Array:
    """dS/dt (columns, 6) of all freedoms, at the origins of their bodies, global axes."""
    arrays, out = tree.arrays, np.zeros_like(own.s)
    for k, body in enumerate(arrays.body):
        p = int(arrays.parent[k])
        rotation, place, speed, spin = np.eye(3), arrays.arm[k].copy(), np.zeros(3), np.zeros(3)
        if p >= 0:
            above = int(arrays.body[p])
            rotation, spin = work.rotation[above], work.spin[above].copy()
            arm = rotation @ arrays.arm[k]
            place, speed = work.position[above] + arm, work.velocity[above] + np.cross(spin, arm)
        for c in range(arrays.column[k], arrays.column[k + 1]):
            at = int(arrays.at[c])
            if arrays.kind[c] == BALL:
                rotation = rotation @ arrays.before[c] @ to_matrix(x[at : at + 4])
                spin = spin + rotation @ u[c : c + 3]
                axes = [(c + j, rotation[:, j], np.cross(spin, rotation[:, j])) for j in range(3)]
            elif arrays.kind[c] == AXIS:
                rotation = rotation @ arrays.before[c]
                axis = rotation[:, 2]
                axes = [(c, axis, np.cross(spin, axis))]
            else:
                continue
            for column, axis, turned in axes:
                to, back = work.position[body] - place, work.velocity[body] - speed
                turn, slide = arrays.turn[column], arrays.slide[column]
                out[column, :3] = turn * (np.cross(turned, to) + np.cross(axis, back)) + slide * turned
                out[column, 3:] = turn * turned
            if arrays.kind[c] == AXIS:
                axis, angle = rotation[:, 2].copy(), arrays.turn[c] * x[at]
                spin = spin + arrays.turn[c] * u[c] * axis
                cosine, sine = np.cos(angle), np.sin(angle)
                rotation = rotation @ np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
                step = arrays.slide[c] * x[at] * axis
                speed = speed + np.cross(spin, step) + arrays.slide[c] * u[c] * axis
                place = place + step
    return out
