"""Dynamics of trees, compiled: the articulated-body recursion, recursive Newton–Euler, and the mass matrix.

All in global axes at the bodies' origins, see ``tree_kinematics``; Featherstone's algorithms with accelerations of
points instead of spatial ones. A body takes F = M a + p, with p of velocities, gravity and applied forces.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from flexmbs.bodies.body import PLANAR, POINT, RIGID
from flexmbs.joints.measures import cross, turn, vector
from flexmbs.system.tree_kinematics import plus

_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_inner: dict[str, Any] = {**_options, "forceinline": True, "no_cpython_wrapper": True}


@njit(**_inner)
def linear(array, k):
    """First three of row k."""
    return array[k, 0], array[k, 1], array[k, 2]


@njit(**_inner)
def angular(array, k):
    """Last three of row k."""
    return array[k, 3], array[k, 4], array[k, 5]


@njit(**_inner)
def own_inertia(tree, b, k, own):
    """Mass matrix of body b at its origin, global axes, and p of its velocities and weight."""
    mass, matrix, m = tree.mass[k], own.inertia, own.rotation
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    for i in range(6):
        for j in range(6):
            matrix[k, i, j] = 0.0
    matrix[k, 0, 0] = matrix[k, 1, 1] = matrix[k, 2, 2] = mass
    if tree.form[k] == POINT:
        for i in range(3):
            own.force[k, i], own.force[k, 3 + i] = -mass * g[i], 0.0
        return
    c = turn(m, b, vector(tree.centre, k))
    w = vector(own.spin, b)
    matrix[k, 0, 4] = matrix[k, 4, 0] = mass * c[2]
    matrix[k, 0, 5] = matrix[k, 5, 0] = -mass * c[1]
    matrix[k, 1, 3] = matrix[k, 3, 1] = -mass * c[2]
    matrix[k, 1, 5] = matrix[k, 5, 1] = mass * c[0]
    matrix[k, 2, 3] = matrix[k, 3, 2] = mass * c[1]
    matrix[k, 2, 4] = matrix[k, 4, 2] = -mass * c[0]
    if tree.form[k] == PLANAR:
        matrix[k, 5, 5] = tree.inertia[k, 2, 2]
        momentum = (0.0, 0.0, tree.inertia[k, 2, 2] * w[2])
    else:
        for i in range(3):
            row = turn(tree.inertia, k, (m[b, i, 0], m[b, i, 1], m[b, i, 2]))  # the inertia is symmetric
            for j in range(i + 1):
                value = row[0] * m[b, j, 0] + row[1] * m[b, j, 1] + row[2] * m[b, j, 2]
                matrix[k, 3 + i, 3 + j] = value
                matrix[k, 3 + j, 3 + i] = value
        momentum = (
            matrix[k, 3, 3] * w[0] + matrix[k, 3, 4] * w[1] + matrix[k, 3, 5] * w[2],
            matrix[k, 4, 3] * w[0] + matrix[k, 4, 4] * w[1] + matrix[k, 4, 5] * w[2],
            matrix[k, 5, 3] * w[0] + matrix[k, 5, 4] * w[1] + matrix[k, 5, 5] * w[2],
        )
    pull, gyroscopic, weight = cross(w, cross(w, c)), cross(w, momentum), cross(c, g)
    for i in range(3):
        own.force[k, i] = mass * (pull[i] - g[i])
        own.force[k, 3 + i] = gyroscopic[i] - mass * weight[i]


@njit(**_inner)
def own_inertias(tree, own):
    """Mass matrices of all bodies, and p with applied forces."""
    for k in range(tree.body.size):
        b = tree.body[k]
        own_inertia(tree, b, k, own)
        if own.applied.size:
            force, moment = generalised(tree.form[k], own.rotation, b, own.applied, tree.first[k])
            for i in range(3):
                own.force[k, i] -= force[i]
                own.force[k, 3 + i] -= moment[i]


@njit(**_inner)
def generalised(form, rotation, b, values, at):
    """Force and moment at the origin of body b, global axes, of values that belong to its velocities."""
    if form == RIGID:
        moment = turn(rotation, b, (values[at + 3], values[at + 4], values[at + 5]))
        return (values[at], values[at + 1], values[at + 2]), moment
    if form == PLANAR:
        return (values[at], values[at + 1], 0.0), (0.0, 0.0, values[at + 2])
    return (values[at], values[at + 1], values[at + 2]), (0.0, 0.0, 0.0)


@njit(**_inner)
def hand_over(inertia, force, k, p, d):
    """Add inertia and force of body k, seen from the origin of its parent p, to the parent's."""
    for i in range(6):  # columns: a = a_p + α_p × d
        lever = cross((inertia[k, i, 0], inertia[k, i, 1], inertia[k, i, 2]), d)
        for j in range(3):
            inertia[k, i, 3 + j] -= lever[j]
    for j in range(6):  # rows
        lever = cross((inertia[k, 0, j], inertia[k, 1, j], inertia[k, 2, j]), d)
        for i in range(3):
            inertia[p, i, j] += inertia[k, i, j]
            inertia[p, 3 + i, j] += inertia[k, 3 + i, j] - lever[i]
    lever = cross(d, linear(force, k))
    for i in range(3):
        force[p, i] += force[k, i]
        force[p, 3 + i] += force[k, 3 + i] + lever[i]


@njit(**_options)
def tree_accelerations(tree, own, rate):
    """u' of all coordinates (columns,) by the articulated-body recursion, with ``own.tau`` on them."""
    own_inertias(tree, own)
    inertia, force, s, u = own.inertia, own.force, own.s, own.u
    for k in range(tree.body.size - 1, -1, -1):
        for c in range(tree.column[k + 1] - 1, tree.column[k] - 1, -1):
            d, missing = 0.0, own.tau[c]
            for i in range(6):
                total = 0.0
                for j in range(6):
                    total += inertia[k, i, j] * s[c, j]
                u[c, i] = total
                d += s[c, i] * total
                missing -= s[c, i] * force[k, i]
            own.d[c], own.missing[c] = d, missing
            for i in range(6):
                factor = u[c, i] / d
                force[k, i] += factor * missing
                for j in range(6):
                    inertia[k, i, j] -= factor * u[c, j]
        p = tree.parent[k]
        if p >= 0:
            for i in range(6):
                total = 0.0
                for j in range(6):
                    total += inertia[k, i, j] * own.bias[k, j]
                force[k, i] += total
            hand_over(inertia, force, k, p, vector(own.offset, k))
    for k in range(tree.body.size):
        carry(tree, own, k)
        for c in range(tree.column[k], tree.column[k + 1]):
            total = own.missing[c]
            for i in range(6):
                total -= u[c, i] * own.rate[k, i]
            rate[c] = total / own.d[c]
            for i in range(6):
                own.rate[k, i] += s[c, i] * rate[c]


@njit(**_inner)
def carry(tree, own, k):
    """Acceleration of body k without its own freedoms."""
    p, a = tree.parent[k], own.rate
    for i in range(6):
        a[k, i] = own.bias[k, i]
    if p >= 0:
        lever = cross(angular(a, p), vector(own.offset, k))
        for i in range(3):
            a[k, i] += a[p, i] + lever[i]
            a[k, 3 + i] += a[p, 3 + i]


@njit(**_options)
def tree_forces(tree, own, rate, tau):
    """Forces on coordinates (columns,) that the accelerations u' take: recursive Newton–Euler."""
    own_inertias(tree, own)
    for k in range(tree.body.size):
        carry(tree, own, k)
        for c in range(tree.column[k], tree.column[k + 1]):
            for i in range(6):
                own.rate[k, i] += own.s[c, i] * rate[c]
        for i in range(6):
            total = 0.0
            for j in range(6):
                total += own.inertia[k, i, j] * own.rate[k, j]
            own.force[k, i] += total
    for k in range(tree.body.size - 1, -1, -1):
        for c in range(tree.column[k], tree.column[k + 1]):
            total = 0.0
            for i in range(6):
                total += own.s[c, i] * own.force[k, i]
            tau[c] = total
        p = tree.parent[k]
        if p >= 0:
            lever = cross(vector(own.offset, k), linear(own.force, k))
            for i in range(3):
                own.force[p, i] += own.force[k, i]
                own.force[p, 3 + i] += own.force[k, 3 + i] + lever[i]


@njit(**_options)
def tree_mass(tree, own, mass):
    """Mass matrix (columns, columns) of the tree, by composite bodies."""
    own_inertias(tree, own)
    mass[:] = 0.0
    for k in range(tree.body.size - 1, -1, -1):
        for c in range(tree.column[k], tree.column[k + 1]):
            for i in range(6):
                total = 0.0
                for j in range(6):
                    total += own.inertia[k, i, j] * own.s[c, j]
                own.u[c, i] = total
            project(tree, own, k, c, linear(own.u, c), angular(own.u, c), mass)
        p = tree.parent[k]
        if p >= 0:
            hand_over(own.inertia, own.force, k, p, vector(own.offset, k))


@njit(**_inner)
def project(tree, own, k, row, force, moment, out):
    """out[row, c] and out[c, row] = S_c · wrench, for all freedoms c between body k and the ground."""
    while k >= 0:
        for c in range(tree.column[k], tree.column[k + 1]):
            value = 0.0
            for i in range(3):
                value += own.s[c, i] * force[i] + own.s[c, 3 + i] * moment[i]
            out[row, c] = value
            out[c, row] = value
        moment = plus(moment, cross(vector(own.offset, k), force))
        k = tree.parent[k]


@njit(**_options)
def tree_rows(tree, layout, own, work, jacobian, gamma):
    """Rows J (rows, columns) as seen from the tree, and γ less what they do without accelerations u'."""
    for k in range(tree.body.size):
        carry(tree, own, k)
    jacobian[:] = 0.0
    for r in range(layout.row_start.size - 1):
        gamma[r] = work.gamma[r]
        for e in range(layout.entry_start[r], layout.entry_start[r + 1]):
            b = layout.entry_body[e]
            k = tree.place[b]
            force, moment = generalised(tree.form[k], own.rotation, b, work.jacobian, layout.entry_at[e])
            for i in range(3):
                gamma[r] -= force[i] * own.rate[k, i] + moment[i] * own.rate[k, 3 + i]
            while k >= 0:
                for c in range(tree.column[k], tree.column[k + 1]):
                    for i in range(3):
                        jacobian[r, c] += own.s[c, i] * force[i] + own.s[c, 3 + i] * moment[i]
                moment = plus(moment, cross(vector(own.offset, k), force))
                k = tree.parent[k]


@njit(**_options)
def tree_transformation(tree, own, out):
    """A (n_v, columns): velocities of all bodies from those of the coordinates; x as last evaluated."""
    out[:] = 0.0
    for k in range(tree.body.size):
        b, above = tree.body[k], k
        first, d = tree.first[k], (0.0, 0.0, 0.0)
        while above >= 0:
            for c in range(tree.column[above], tree.column[above + 1]):
                axis = angular(own.s, c)
                speed = plus(linear(own.s, c), cross(axis, d))
                if tree.form[k] == PLANAR:
                    out[first, c], out[first + 1, c], out[first + 2, c] = speed[0], speed[1], axis[2]
                    continue
                for i in range(3):
                    out[first + i, c] = speed[i]
                    if tree.form[k] == RIGID:
                        m = own.rotation
                        out[first + 3 + i, c] = m[b, 0, i] * axis[0] + m[b, 1, i] * axis[1] + m[b, 2, i] * axis[2]
            d = plus(d, vector(own.offset, above))
            above = tree.parent[above]
