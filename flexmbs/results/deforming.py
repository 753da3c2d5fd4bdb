"""Inertia of bodies as they deform, over time: their energy and momentum."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import Body
from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.bodies.flexible_inertia import BodyMoments
from flexmbs.reduction.full import FullPart
from flexmbs.results.motions import BodyMotion, Elastic

Array = NDArray[np.float64]

CHUNK = 4_000_000
"""Numbers that are held at once."""


class Balance(NamedTuple):
    """What one body has over time: energies (time,), momentum and its moment about the global origin (time, 3)."""

    kinetic: Array
    strain: Array
    damping: Array  # power of its own damping, -d'ᵀD d'
    linear: Array
    angular: Array
    centre: Array  # mass centre, global


class _Moments(NamedTuple):
    """Moments of a deformed body in its own axes, about the frame's origin, with s = ∫ρ (x + u + u₂)."""

    first: Array  # s
    first_rate: Array  # s'
    inertia: Array  # I(d)
    turning: Array  # G(d) d', the moment of momentum of deformation
    own: Array  # ½ d'ᵀm d'


def balance(body: Body, motion: BodyMotion, elastic: Elastic) -> Balance:
    """Energy and momentum of one body, exactly those of its equations of motion (with stiffening, where it has it)."""
    mass, centre, inertia = body.mass_parameters
    n = len(motion.position)
    if isinstance(body, FlexibleBody) and isinstance(body.reduced, FullPart):
        moments, strain, damping = _in_full_order(body.reduced, elastic)
    elif body.modes:
        constants: BodyMoments = body.moments  # type: ignore[attr-defined]
        moments = _moments(constants, elastic)
        strain = _quadratic(constants.stiffness, elastic.d, elastic.d) / 2
        damping = -_quadratic(constants.damping, elastic.rate, elastic.rate)
    else:
        none, strain, damping = np.zeros((n, 3)), np.zeros(n), np.zeros(n)
        constant = [np.broadcast_to(a, (n, *a.shape)) for a in (mass * centre, inertia)]
        moments = _Moments(constant[0], none, constant[1], none, np.zeros(n))
    velocity, spin = (np.einsum("tji,tj->ti", motion.rotation, a) for a in (motion.velocity, motion.spin))
    momentum = mass * velocity + np.cross(spin, moments.first) + moments.first_rate
    turned = np.einsum("tij,tj->ti", moments.inertia, spin)
    angular = np.cross(moments.first, velocity) + turned + moments.turning
    kinetic = np.sum(velocity * (momentum - mass * velocity / 2), axis=1)
    kinetic += np.sum(spin * (turned / 2 + moments.turning), axis=1) + moments.own
    linear, own, arm = (np.einsum("tij,tj->ti", motion.rotation, a) for a in (momentum, angular, moments.first))
    return Balance(
        kinetic,
        strain,
        damping,
        linear,
        np.asarray(own + np.cross(motion.position, linear)),
        motion.position + arm / (mass or 1.0),
    )


def _in_full_order(part: FullPart, elastic: Elastic) -> tuple[_Moments, Array, Array]:
    """Moments, strain energy and power of damping of a body in full order, through its scalar mass matrix."""
    assert part.part is not None
    assert part.part.scalar_mass is not None
    n, axes, found = part.mesh.n_nodes, part.axes, []
    by_mass, by_stiffness = part.damping
    for d, rate in zip(elastic.d, elastic.rate, strict=True):
        y, speed = part.mesh.points.copy(), np.zeros((n, 3))
        y[:, :axes] += part.displacement(d)
        speed[:, :axes] = part.displacement(rate)
        heavy = np.asarray(part.part.scalar_mass @ np.hstack([y, speed]))  # m_φ (y, u')
        second, own = y.T @ heavy[:, :3], float(np.sum(speed * heavy[:, 3:]))
        pull = rate @ part.space.forces(rate) if by_stiffness else 0.0
        found.append((
            heavy[:, :3].sum(axis=0), heavy[:, 3:].sum(axis=0), np.trace(second) * np.eye(3) - second,
            np.cross(y, heavy[:, 3:]).sum(axis=0), own / 2, d @ part.space.forces(d) / 2,
            -by_mass * own - by_stiffness * pull,
        ))  # fmt: skip
    columns = [np.array(x) for x in zip(*found, strict=True)]
    return _Moments(*columns[:5]), columns[5], columns[6]


def _moments(c: BodyMoments, elastic: Elastic) -> _Moments:
    """Moments at all instants, a chunk of them at a time."""
    step = max(1, CHUNK // max(1, 9 * elastic.d.shape[1]))
    parts = [
        _chunk(c, elastic.d[k : k + step], elastic.rate[k : k + step]) for k in range(0, len(elastic.d) or 1, step)
    ]
    return _Moments(*(np.concatenate(x) for x in zip(*parts, strict=True)))


def _chunk(c: BodyMoments, d: Array, rate: Array) -> _Moments:
    shortened, sheared = _times(d, c.shortening), _times(d, c.shearing)  # G_i d and B_ij d
    spread = _times(d, c.products.transpose(1, 0, 2, 3))  # m_ji d
    first = c.first + _dot(c.shifts + shortened / 2, d)
    first_rate = _dot(c.shifts + shortened, rate)
    half = c.turns + (spread + sheared.transpose(0, 2, 1, 3)) / 2  # ∫ρ x_i (u + u₂)_j + ½ ∫ρ u_i u_j, as rows
    change = c.turns + spread + sheared.transpose(0, 2, 1, 3)  # ∂/∂d of the same: P_ij
    moved = _dot(half, d)
    second = c.second + moved + moved.transpose(0, 2, 1)
    trace = np.trace(second, axis1=1, axis2=2)
    slide = _dot(change, rate)
    turning = np.stack([slide[:, i, j] - slide[:, j, i] for i, j in ((1, 2), (2, 0), (0, 1))], axis=1)
    mass = np.einsum("iikl->kl", c.products)
    return _Moments(
        first, first_rate, trace[:, None, None] * np.eye(3) - second, turning, _quadratic(mass, rate, rate) / 2
    )


def _times(d: Array, matrices: Array) -> Array:
    """Matrices (..., n, n) times d (time, n): (time, ..., n)."""
    return np.tensordot(d, matrices, axes=(1, matrices.ndim - 1))


def _dot(rows: Array, d: Array) -> Array:
    """Rows (time, ..., n) times d (time, n): (time, ...)."""
    return np.asarray(np.einsum("t...n,tn->t...", rows, d))


def _quadratic(matrix: Any, a: Array, b: Array) -> Array:
    return np.einsum("tk,tk->t", a @ matrix, b)
