"""Coordinates on the constraint manifold near a base point: its tangent space there, and what closes the constraints.

With increments x counted from the base point, q = q₀ ∘ exp(x), and all lengths divided by the mechanism's size,

    x = N ξ + V z,   φ(q, t) = 0 solved for z;      v = N η + V ζ,   J v = b solved for ζ,

where N is an orthonormal basis of the null space of J₀ and V one of its complement. ξ and η are free: whatever they
are, positions and velocities fulfil the constraints to rounding. Velocity-level rows restrict η and v only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.bodies.body import RIGID
from flexmbs.rotations import tangent

Array = NDArray[np.float64]

_options: dict[str, Any] = {"cache": True, "error_model": "numpy"}

RANK = 1e-9
"""Singular values of J (unit rows, lengths by the size) below this belong to redundant rows."""
CLOSED = 1e-13
"""Newton's iteration ends when its step, relative to the mechanism's size, is at most this,"""
NEARLY_CLOSED = 1e-8
"""or when it was below this and does not shrink any more: rounding, made larger by a weak direction."""
CONTRADICTION = 1e-9
"""Redundant rows that miss by more, where the independent ones hold, contradict them: the rank has changed."""
ITERATIONS = 12
HALVINGS = 5
STRIDE = 0.25
"""Farthest that Newton's iteration may lead from its first guess: beyond lie other branches."""
TURN = 1.5
"""Farthest rotation [rad] from the base point: the angle between two bodies then stays known without counting turns."""


class LostError(Exception):
    """The parametrisation cannot give a state here; the message says why."""


class Spaces(NamedTuple):
    """A set of rows at the base point: null space N, complement V, U so that U J V is regular, weakest direction."""

    null: Array
    complement: Array
    combine: Array
    weakest: float


class Place(NamedTuple):
    """A point of the manifold: increment x (scaled), coordinates, and z with its derivatives for the next guess."""

    t: float
    xi: Array
    z: Array
    z_xi: Array
    z_t: Array
    x: Array
    q: Array
    work: Any
    jacobian: Array


class Scales(NamedTuple):
    """Units in which a system is without units, and where its rotations are."""

    size: float
    velocity: Array  # v = velocity · scaled v
    turns: NDArray[np.int64]  # (rigid bodies, 3) velocities that are rotations in space
    holonomic: NDArray[np.bool_]  # rows that hold at position level

    @classmethod
    def of(cls, system: Any) -> Scales:
        """Scales of a system; its ``holonomic``, where it has one, tells position rows from velocity-level ones."""
        size, layout = float(system.walked[1]), system.layout
        rigid = np.flatnonzero(layout.body_kind == RIGID)
        turns = layout.body_v[rigid][:, None] + np.arange(3, 6)
        every = np.ones(len(system.labels), dtype=np.bool_)
        return cls(size, size / system.length_weights, turns, np.asarray(getattr(system, "holonomic", every)))

    def tangents(self, x: Array) -> Array:
        """T(x) of every rigid body: its angular velocity is T x'."""
        return np.asarray(tangents(x[self.turns]))

    def turned(self, maps: Array, columns: Array) -> Array:
        """Columns (n_v,) or (n_v, k) with a 3 x 3 map applied to the rotation of each rigid body."""
        out = columns.copy()
        if len(self.turns):
            part = columns[self.turns]
            out[self.turns] = maps @ part if columns.ndim == 2 else (maps @ part[..., None])[..., 0]
        return out

    def increment_rates(self, x: Array, v: Array) -> Array:
        """x' of an increment, from scaled velocities v = T(x) x'."""
        return self.turned(np.asarray(np.linalg.inv(self.tangents(x)), dtype=np.float64), v)


class Chart:
    """The parametrisation about the base point q₀ at time t₀."""

    def __init__(self, system: Any, scales: Scales, t: float, q: Array, v: Array, evaluate: Any) -> None:
        self.system, self.scales, self.q, self.evaluate = system, scales, q.copy(), evaluate
        self.guess = v.copy()
        self.iterations = 0
        work = evaluate(t, q, v)
        jacobian = system.jacobian(work).toarray() * scales.velocity
        norms = np.linalg.norm(jacobian, axis=1)
        self.row_scale = 1.0 / np.where(norms > 0, norms, 1.0)
        jacobian *= self.row_scale[:, None]
        held = scales.holonomic
        self.velocity = spaces(jacobian)
        self.position = self.velocity if held.all() else spaces(jacobian[held])
        free, bound = self.position.null.shape[1], self.position.complement.shape[1]
        zero = np.zeros(len(v))
        self.near = self._sensitivity(
            Place(t, np.zeros(free), np.zeros(bound), np.zeros(0), np.zeros(0), zero, self.q, work, jacobian), v
        )

    def locate(self, t: float, xi: Array, halvings: int = HALVINGS) -> Place:
        """The point with coordinates ξ at time t, from the last one; in several strides where one is too long."""
        near = self.near
        try:
            return self._newton(t, xi)
        except LostError:
            if halvings == 0:
                raise
        self.locate((near.t + t) / 2, (near.xi + xi) / 2, halvings - 1)
        return self._newton(t, xi)

    def _newton(self, t: float, xi: Array) -> Place:
        scales, space = self.scales, self.position
        near, held = self.near, scales.holonomic
        z = near.z + near.z_xi @ (xi - near.xi) + near.z_t * (t - near.t)
        first, before = z, np.inf
        for _ in range(ITERATIONS):
            x = space.null @ xi + space.complement @ z
            if not np.isfinite(x).all():
                raise LostError("a number became infinite or undefined")
            if len(scales.turns) and np.abs(x[scales.turns]).max() > TURN:
                raise LostError("a body turns too far within one step")
            q = self.system.retract(self.q, scales.velocity * x)
            work = self.evaluate(t, q, self.guess)
            self.iterations += 1
            jacobian = self.system.jacobian(work).toarray() * scales.velocity * self.row_scale[:, None]
            phi = (self.row_scale * work.phi)[held]
            turned = scales.turned(scales.tangents(x), space.complement)
            matrix = space.combine @ (jacobian[held] @ turned)
            step = _solve(matrix, space.combine @ phi)
            size = np.abs(step).max(initial=0.0)
            if size <= CLOSED or (before < NEARLY_CLOSED and size > before / 4):
                if np.abs(phi).max(initial=0.0) > CONTRADICTION:
                    raise LostError("the number of independent constraints changes (a singular position)")
                place = Place(t, xi, z, near.z_xi, near.z_t, x, q, work, jacobian)
                return self._sensitivity(place, self.guess, matrix)
            z, before = z - step, size
            if np.abs(z - first).max() > STRIDE:
                break
        raise LostError("the constraints could not be closed (Newton's iteration did not converge)")

    def velocities(self, place: Place, eta: Array) -> Array:
        """v with Nᵀ v = η that fulfils all rows at a place (v with units, η without)."""
        v = self._linear_velocities(place, eta)
        functions = getattr(self.system, "functions", None)
        if not functions or not functions.velocity:
            return v
        for _ in range(ITERATIONS):  # functions of velocities need not be linear in them
            work = self.evaluate(place.t, place.q, v)
            jacobian = self.system.jacobian(work).toarray() * self.scales.velocity * self.row_scale[:, None]
            before, v = v, self._linear_velocities(place._replace(work=work, jacobian=jacobian), eta)
            size = np.abs(v / self.scales.velocity).max(initial=0.0)
            if np.abs((v - before) / self.scales.velocity).max(initial=0.0) <= CLOSED * max(1.0, size):
                return v
        raise LostError("the velocities could not be made consistent (Newton's iteration did not converge)")

    def _linear_velocities(self, place: Place, eta: Array) -> Array:
        """The same where rows are linear in the velocities; a step of Newton's iteration from the guess elsewhere."""
        space = self.velocity
        free = space.null @ eta
        # φ' = J v - b is known at the guess
        b = place.jacobian @ (self.guess / self.scales.velocity) - self.row_scale * place.work.phi_rate
        missing = space.combine @ (b - place.jacobian @ free)
        bound = _solve(space.combine @ (place.jacobian @ space.complement), missing)
        v: Array = self.scales.velocity * (free + space.complement @ bound)
        self.guess = v
        return v

    def tilt(self, place: Place) -> float:
        """Tangent of the angle between the spaces of free velocities here and at the base point (Frobenius norm)."""
        space = self.velocity
        matrix = space.combine @ place.jacobian
        try:
            return float(np.linalg.norm(_solve(matrix @ space.complement, matrix @ space.null)))
        except LostError:
            return np.inf

    def _sensitivity(self, place: Place, v: Array, matrix: Array | None = None) -> Place:
        """The place with ∂z/∂ξ and ∂z/∂t, from which the next guess starts."""
        scales, space, held = self.scales, self.position, self.scales.holonomic
        jacobian = place.jacobian[held]
        maps = scales.tangents(place.x)
        if matrix is None:
            matrix = space.combine @ (jacobian @ scales.turned(maps, space.complement))
        free = space.combine @ (jacobian @ scales.turned(maps, space.null))
        # ∂φ/∂t = φ' - J v
        moving = space.combine @ ((self.row_scale * place.work.phi_rate)[held] - jacobian @ (v / scales.velocity))
        rates = -_solve(matrix, np.column_stack([free, moving]))
        self.near = place._replace(z_xi=rates[:, :-1], z_t=rates[:, -1])
        return self.near


def spaces(jacobian: Array) -> Spaces:
    """Null space and complement of rows of unit length, by singular values."""
    n = jacobian.shape[1]
    if not len(jacobian):
        return Spaces(np.eye(n), np.zeros((n, 0)), np.zeros((0, 0)), 1.0)
    u, sizes, vt = np.linalg.svd(jacobian)
    rank = int(np.count_nonzero(sizes > RANK * sizes[0]))
    # without redundant rows the rows themselves do: fewer roundings
    combine = np.eye(len(jacobian)) if rank == len(jacobian) else u[:, :rank].T
    weakest = float(sizes[rank - 1] / sizes[0]) if rank else 1.0
    return Spaces(vt[rank:].T.copy(), vt[:rank].T.copy(), combine, weakest)


@njit(**_options)
def tangents(vectors):
    """T of every rotation vector (n, 3)."""
    out = np.empty((vectors.shape[0], 3, 3))
    for k in range(vectors.shape[0]):
        tangent(vectors[k], out[k])
    return out


def _solve(matrix: Array, right: Array) -> Array:
    if not len(matrix):
        return np.zeros((0, *right.shape[1:]))
    try:
        return np.asarray(np.linalg.solve(matrix, right))
    except np.linalg.LinAlgError:
        raise LostError("the constraints depend on each other (a singular position)") from None
