"""Poses, velocities and motion subspaces of all bodies from the coordinates of a tree, compiled; work grows with N.

Bodies come in an order in which each follows the one it hangs on. Twists and accelerations are those of a body's
origin, in global axes: (linear, angular). With d from the origin of the parent to that of the child,

    v = v_p + ω_p × d + Σ S_k u_k (linear),   ω = ω_p + Σ S_k u_k (angular),
    a = a_p + α_p × d + c + Σ S_k u'_k,  where c, the bias, is what remains without accelerations.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.bodies.body import PLANAR, RIGID
from flexmbs.joints.measures import cross, dot, turn_back, vector
from flexmbs.rotations import quaternion_exp, quaternion_product
from flexmbs.system.evaluate import Work
from flexmbs.system.layout import Layout
from flexmbs.vectors import plus as plus
from flexmbs.vectors import times as times

Array = NDArray[np.float64]
Index = NDArray[np.int64]

_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_inner: dict[str, Any] = {**_options, "forceinline": True, "no_cpython_wrapper": True}

AXIS, BALL, REST_OF_BALL = range(3)
"""Kinds of columns of S: an axis; the first of three of a ball; the other two."""


class TreeArrays(NamedTuple):
    """A tree in arrays; its bodies in order from the roots on."""

    body: Index  # number of each body in the layout
    parent: Index  # place in this order of what it hangs on; -1 for the ground
    column: Index  # first column of S of each body; one entry more than bodies
    kind: Index  # of each column
    at: Index  # first coordinate of each column
    turn: Array  # rotation and shift per unit of the coordinate
    slide: Array
    before: Array  # (columns, 3, 3) constant turn before each freedom, after which its axis is z
    after: Array  # (bodies, 3, 3) constant turn after the last
    arm: Array  # (bodies, 3) of the joint in the parent's axes
    back: Array  # (bodies, 3) of the joint in the body's own axes
    place: Index  # place of each body of the layout in this order; -1 for the ground
    form: Index  # kind of each body, its first velocity in the layout, and its inertia
    first: Index
    mass: Array
    centre: Array
    inertia: Array  # about the body's origin
    gravity: Array


class TreeWork(NamedTuple):
    """Results and scratch of the recursions; poses and velocities are those of the stages, by numbers of the layout."""

    position: Array
    rotation: Array
    velocity: Array
    spin: Array

    s: Array  # (columns, 6) motion subspaces
    offset: Array  # (bodies, 3) d
    bias: Array  # (bodies, 6) c
    rate: Array  # (bodies, 6) accelerations
    inertia: Array  # (bodies, 6, 6) articulated or composite
    force: Array  # (bodies, 6)
    u: Array  # (columns, 6) inertia · S
    d: Array  # (columns,) S · inertia · S
    missing: Array  # (columns,) what of the coordinate's force is left for its acceleration
    v: Array  # velocities of the layout
    applied: Array  # (n_v,) forces of the layout; empty where there are none
    tau: Array  # (columns,) forces on coordinates


def tree_work(tree: TreeArrays, layout: Layout, work: Work) -> TreeWork:
    """Arrays for one evaluation at a time, which shares poses with the stages."""
    b, c, n = len(tree.body), len(tree.kind), layout.n_v
    work.rotation[:] = np.eye(3)  # the ground's, which no joint moves
    forced = len(layout.forces.table) + len(layout.forces.user) > 0
    return TreeWork(
        work.position, work.rotation, work.velocity, work.spin,
        np.zeros((c, 6)), np.zeros((b, 3)), np.zeros((b, 6)), np.zeros((b, 6)), np.zeros((b, 6, 6)), np.zeros((b, 6)),
        np.zeros((c, 6)), np.zeros(c), np.zeros(c), np.zeros(n), np.zeros(n if forced else 0), np.zeros(c),
    )  # fmt: skip


@njit(**_inner)
def product(r, matrices, m):
    """r · matrix m; r and the product are nine floats, row by row."""
    return (
        r[0] * matrices[m, 0, 0] + r[1] * matrices[m, 1, 0] + r[2] * matrices[m, 2, 0],
        r[0] * matrices[m, 0, 1] + r[1] * matrices[m, 1, 1] + r[2] * matrices[m, 2, 1],
        r[0] * matrices[m, 0, 2] + r[1] * matrices[m, 1, 2] + r[2] * matrices[m, 2, 2],
        r[3] * matrices[m, 0, 0] + r[4] * matrices[m, 1, 0] + r[5] * matrices[m, 2, 0],
        r[3] * matrices[m, 0, 1] + r[4] * matrices[m, 1, 1] + r[5] * matrices[m, 2, 1],
        r[3] * matrices[m, 0, 2] + r[4] * matrices[m, 1, 2] + r[5] * matrices[m, 2, 2],
        r[6] * matrices[m, 0, 0] + r[7] * matrices[m, 1, 0] + r[8] * matrices[m, 2, 0],
        r[6] * matrices[m, 0, 1] + r[7] * matrices[m, 1, 1] + r[8] * matrices[m, 2, 1],
        r[6] * matrices[m, 0, 2] + r[7] * matrices[m, 1, 2] + r[8] * matrices[m, 2, 2],
    )


@njit(**_inner)
def turned_about_z(r, angle):
    """r · (rotation about z)."""
    c, s = np.cos(angle), np.sin(angle)
    return (
        c * r[0] + s * r[1], c * r[1] - s * r[0], r[2],
        c * r[3] + s * r[4], c * r[4] - s * r[3], r[5],
        c * r[6] + s * r[7], c * r[7] - s * r[6], r[8],
    )  # fmt: skip


@njit(**_inner)
def turned_by(r, w, x, y, z):
    """r · (rotation of a unit quaternion)."""
    a, b, c = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    d, e, f = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    g, h, i = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    return (
        r[0] * a + r[1] * d + r[2] * g, r[0] * b + r[1] * e + r[2] * h, r[0] * c + r[1] * f + r[2] * i,
        r[3] * a + r[4] * d + r[5] * g, r[3] * b + r[4] * e + r[5] * h, r[3] * c + r[4] * f + r[5] * i,
        r[6] * a + r[7] * d + r[8] * g, r[6] * b + r[7] * e + r[8] * h, r[6] * c + r[7] * f + r[8] * i,
    )  # fmt: skip


@njit(**_inner)
def apply(r, a):
    """r · a."""
    return dot((r[0], r[1], r[2]), a), dot((r[3], r[4], r[5]), a), dot((r[6], r[7], r[8]), a)


@njit(**_options)
def tree_state(tree, x, u, own):
    """Poses, velocities, motion subspaces and biases of all bodies."""
    for k in range(tree.body.size):
        b, p = tree.body[k], tree.parent[k]
        r = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        place, speed, spin = vector(tree.arm, k), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        pull, twist = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        origin = (0.0, 0.0, 0.0)
        if p >= 0:
            a = tree.body[p]
            m = own.rotation
            r = (m[a, 0, 0], m[a, 0, 1], m[a, 0, 2], m[a, 1, 0], m[a, 1, 1], m[a, 1, 2], m[a, 2, 0], m[a, 2, 1],
                 m[a, 2, 2])  # fmt: skip
            arm, spin, origin = apply(r, place), vector(own.spin, a), vector(own.position, a)
            lever = cross(spin, arm)
            place, speed, pull = plus(origin, arm), plus(vector(own.velocity, a), lever), cross(spin, lever)
        for c in range(tree.column[k], tree.column[k + 1]):
            kind = tree.kind[c]
            if kind == AXIS:
                r = product(r, tree.before, c)
                axis, value, rate = (r[2], r[5], r[8]), x[tree.at[c]], u[c]
                across = cross(spin, axis)
                for i in range(3):
                    own.s[c, i], own.s[c, 3 + i] = place[i], axis[i]  # completed below, when the origin is known
                if tree.turn[c] != 0.0:
                    twist = plus(twist, times(rate, across))
                    spin = plus(spin, times(rate, axis))
                    r = turned_about_z(r, value)
                slide = tree.slide[c]
                if slide != 0.0:
                    step = times(slide * value, axis)
                    lever = cross(spin, step)
                    pull = plus(pull, plus(cross(twist, step), cross(spin, lever)))
                    pull = plus(pull, times(2.0 * slide * rate, across))
                    speed = plus(speed, plus(lever, times(slide * rate, axis)))
                    place = plus(place, step)
            elif kind == BALL:
                r = product(r, tree.before, c)
                at = tree.at[c]
                r = turned_by(r, x[at], x[at + 1], x[at + 2], x[at + 3])
                own_spin = apply(r, (u[c], u[c + 1], u[c + 2]))
                twist = plus(twist, cross(spin, own_spin))
                spin = plus(spin, own_spin)
                for j in range(3):
                    for i in range(3):
                        own.s[c + j, i], own.s[c + j, 3 + i] = place[i], r[3 * i + j]
        r = product(r, tree.after, k)
        arm = times(-1.0, apply(r, vector(tree.back, k)))
        lever = cross(spin, arm)
        pull = plus(pull, plus(cross(twist, arm), cross(spin, lever)))
        speed, place = plus(speed, lever), plus(place, arm)
        for i in range(3):
            own.position[b, i], own.velocity[b, i], own.spin[b, i] = place[i], speed[i], spin[i]
            own.bias[k, i], own.bias[k, 3 + i] = pull[i], twist[i]
            own.offset[k, i] = place[i] - origin[i]
            for j in range(3):
                own.rotation[b, i, j] = r[3 * i + j]
        for c in range(tree.column[k], tree.column[k + 1]):
            axis = (own.s[c, 3], own.s[c, 4], own.s[c, 5])
            lever = cross(axis, (place[0] - own.s[c, 0], place[1] - own.s[c, 1], place[2] - own.s[c, 2]))
            turn, slide = tree.turn[c], tree.slide[c]
            for i in range(3):
                own.s[c, i] = turn * lever[i] + slide * axis[i]
                own.s[c, 3 + i] = turn * axis[i]
        first = tree.first[k]
        if tree.form[k] == RIGID:
            local = turn_back(own.rotation, b, spin)
            for i in range(3):
                own.v[first + i], own.v[first + 3 + i] = speed[i], local[i]
        elif tree.form[k] == PLANAR:
            own.v[first], own.v[first + 1], own.v[first + 2] = speed[0], speed[1], spin[2]
        else:
            for i in range(3):
                own.v[first + i] = speed[i]


@njit(**_options)
def tree_retract(tree, x, increment, out):
    """out = x moved by an increment (columns,); balls by the exponential map in the moved frame's axes."""
    for c in range(tree.kind.size):
        at = tree.at[c]
        if tree.kind[c] == AXIS:
            out[at] = x[at] + increment[c]
        elif tree.kind[c] == BALL:
            turned = quaternion_exp((increment[c], increment[c + 1], increment[c + 2]))
            quaternion_product((x[at], x[at + 1], x[at + 2], x[at + 3]), turned, out[at : at + 4])


@njit(**_options)
def body_coordinates(tree, starts, own, q):
    """q of all poses, body b from q[starts[b]] on; quaternions and angles next to those that q held before."""
    for k in range(tree.body.size):
        b = tree.body[k]
        at = starts[b]
        if tree.form[k] == PLANAR:
            angle = np.arctan2(own.rotation[b, 1, 0], own.rotation[b, 0, 0])
            q[at], q[at + 1] = own.position[b, 0], own.position[b, 1]
            q[at + 2] = angle + 2 * np.pi * np.round((q[at + 2] - angle) / (2 * np.pi))
            continue
        for i in range(3):
            q[at + i] = own.position[b, i]
        if tree.form[k] == RIGID:
            quaternion(own.rotation, b, q, at + 3)


@njit(**_inner)
def quaternion(matrices, b, q, at):
    """q[at : at + 4] of rotation b (Shepperd), with the sign next to what was there."""
    m = matrices
    trace = m[b, 0, 0] + m[b, 1, 1] + m[b, 2, 2]
    i = 0 if m[b, 0, 0] >= m[b, 1, 1] else 1
    if m[b, 2, 2] > m[b, i, i]:
        i = 2
    j, k = (i + 1) % 3, (i + 2) % 3
    if trace >= m[b, i, i]:
        w, x, y, z = 1.0 + trace, m[b, 2, 1] - m[b, 1, 2], m[b, 0, 2] - m[b, 2, 0], m[b, 1, 0] - m[b, 0, 1]
    else:
        w = m[b, k, j] - m[b, j, k]
        own = 1.0 + m[b, i, i] - m[b, j, j] - m[b, k, k]
        second, third = m[b, i, j] + m[b, j, i], m[b, i, k] + m[b, k, i]
        if i == 0:
            x, y, z = own, second, third
        elif i == 1:
            x, y, z = third, own, second
        else:
            x, y, z = second, third, own
    size = np.sqrt(w * w + x * x + y * y + z * z)
    if w * q[at] + x * q[at + 1] + y * q[at + 2] + z * q[at + 3] < 0.0:
        size = -size
    q[at], q[at + 1], q[at + 2], q[at + 3] = w / size, x / size, y / size, z / size


@njit(**_options)
def tree_speeds(tree, v, own, u, biased):
    """u of the relative motions in v (velocities, or with ``biased`` accelerations v'); x as last evaluated.

    The axes of a body's turns, and of its shifts, are orthonormal: each speed is a projection.
    """
    for k in range(tree.body.size):
        b, p = tree.body[k], tree.parent[k]
        first = tree.first[k]
        linear, angular = (v[first], v[first + 1], 0.0), (0.0, 0.0, 0.0)
        if tree.form[k] == PLANAR:
            angular = (0.0, 0.0, v[first + 2])
        else:
            linear = (v[first], v[first + 1], v[first + 2])
            if tree.form[k] == RIGID:
                local, m = (v[first + 3], v[first + 4], v[first + 5]), own.rotation
                angular = (
                    dot((m[b, 0, 0], m[b, 0, 1], m[b, 0, 2]), local),
                    dot((m[b, 1, 0], m[b, 1, 1], m[b, 1, 2]), local),
                    dot((m[b, 2, 0], m[b, 2, 1], m[b, 2, 2]), local),
                )
        for i in range(3):
            own.rate[k, i], own.rate[k, 3 + i] = linear[i], angular[i]
        if p >= 0:
            spin = (own.rate[p, 3], own.rate[p, 4], own.rate[p, 5])
            lever = cross(spin, vector(own.offset, k))
            linear = (linear[0] - own.rate[p, 0] - lever[0], linear[1] - own.rate[p, 1] - lever[1],
                      linear[2] - own.rate[p, 2] - lever[2])  # fmt: skip
            angular = (angular[0] - spin[0], angular[1] - spin[1], angular[2] - spin[2])
        if biased:
            c = own.bias
            linear = linear[0] - c[k, 0], linear[1] - c[k, 1], linear[2] - c[k, 2]
            angular = angular[0] - c[k, 3], angular[1] - c[k, 4], angular[2] - c[k, 5]
        for c in range(tree.column[k], tree.column[k + 1]):
            if tree.turn[c] != 0.0:
                u[c] = dot((own.s[c, 3], own.s[c, 4], own.s[c, 5]), angular)
                linear = plus(linear, times(-u[c], (own.s[c, 0], own.s[c, 1], own.s[c, 2])))
        for c in range(tree.column[k], tree.column[k + 1]):
            if tree.turn[c] == 0.0:
                u[c] = dot((own.s[c, 0], own.s[c, 1], own.s[c, 2]), linear)
