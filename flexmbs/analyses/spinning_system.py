"""Rotors on bearings: a mechanism about its steady spin, as a model for Campbell diagrams."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.analyses.small_motions import balancing, motions_left_free, small_motions
from flexmbs.analyses.spinning_models import pairs
from flexmbs.bodies.body import PLANAR, RIGID, Body
from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.errors import AnalysisError
from flexmbs.rotations import skew
from flexmbs.system.linear import linearised
from flexmbs.system.saddle import least
from flexmbs.system.state import State
from flexmbs.system.system import System

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

ITERATIONS = 30
ZERO = 1e-7
"""Eigenvalues of this size relative to the largest belong to motions that nothing holds (the spin itself)."""
SAMPLES = 60
"""Nodes of a flexible body by which its whirl is seen."""


@dataclass(frozen=True, eq=False)
class SpinningSystem:
    """A mechanism whose ``spinning`` bodies turn steadily about ``axis`` through the origin.

    ``turning``: deviations are seen from axes that turn along, otherwise from axes that stand still.
    """

    system: System
    axis: Array
    turning: bool
    spinning: tuple[bool, ...]
    unit: float = 1.0
    neutral: int = 0
    """Eigenvalues of motions that nothing holds, as the spin itself: zero but for rounding."""
    bisections: int = 6

    @property
    def name(self) -> str:
        """Of its spinning bodies."""
        named = [b.name for b, spins in zip(self.system.bodies, self.spinning, strict=True) if spins]
        return ", ".join(named[:3]) + (" ..." if len(named) > 3 else "")

    def spectrum(self, speed: float, count: int) -> tuple[Complex, Complex]:
        """Of the small motions about the steady spin."""
        state = steady_spin(self.system, speed * self.axis, self.spinning)
        seen = speed * self.axis if self.turning else np.zeros(3)
        try:
            found = small_motions(self.system, state, "campbell", seen)
        except AnalysisError as error:
            other = "inertial" if self.turning else "rotating"
            raise AnalysisError(
                f"{error} The rotating frame takes any rotor on supports alike in all directions, the inertial frame "
                f'axisymmetric rotors on any supports: try frame="{other}", or neither has constant equations.'
            ) from error
        values, vectors = np.linalg.eig(found.matrix)
        held = np.argsort(np.abs(values), kind="stable")[self.neutral :]
        shapes = np.asarray(found.shifts @ vectors[: found.shifts.shape[1], held], dtype=complex)
        return pairs(values[held].astype(complex), shapes, count)

    def weighted(self, shapes: Complex) -> Complex:
        """As lengths."""
        return self.system.length_weights[:, None] * shapes

    def whirl_forms(self, shapes: Complex) -> tuple[Complex, Complex]:
        """From the motion of points of the bodies."""
        moved = (self._points @ shapes).reshape(-1, 3, shapes.shape[1])
        turned = np.einsum("pik,ij,pjl->kl", moved.conj(), skew(self.axis), moved)
        return -1j * turned, np.einsum("pik,pil->kl", moved.conj(), moved)

    def waves(self, shapes: Complex) -> NDArray[np.int64]:
        """None: its axes stand still already, or are meant to turn."""
        return np.zeros(shapes.shape[1], dtype=np.int64)

    @cached_property
    def _points(self) -> Array:
        """(3 points, n_v) motion of points of the spinning bodies, weighted by the roots of their masses."""
        start = self.system.initial
        work = self.system.evaluate(start.t, start.q, np.zeros(self.system.n_v), start.angles)
        rows = []
        for b, body in enumerate(self.system.bodies):
            if not self.spinning[b]:
                continue
            at = int(self.system.layout.body_v[b])
            mass, centre, inertia = body.mass_parameters
            if isinstance(body, FlexibleBody):
                chosen = np.unique(np.linspace(0, body.reduced.mesh.n_nodes - 1, SAMPLES).astype(int))
                points = body.reduced.mesh.points[chosen]
                nodal = body.reduced.basis.reshape(body.reduced.mesh.n_nodes, -1, body.modes)[chosen]
            else:
                arm = np.sqrt(max(float(np.trace(inertia)), 0.0) / 2 / mass) if mass else 0.0
                points = centre + arm * np.vstack([np.eye(3), -np.eye(3)])
                nodal = np.zeros((6, 3, 0))
            straight = 2 if body.kind == PLANAR else 3
            for point, shapes in zip(points, nodal, strict=True):
                row = np.zeros((3, self.system.n_v))
                row[:straight, at : at + straight] = np.eye(straight)
                arm_matrix = -work.rotation[b] @ skew(point)
                if body.kind == PLANAR:
                    row[:, at + 2] = arm_matrix[:, 2]
                elif body.kind == RIGID:
                    row[:, at + 3 : at + 6] = arm_matrix
                if body.modes:
                    axes = body.reduced.axes  # type: ignore[attr-defined]
                    row[:, at + body.n_v - body.modes : at + body.n_v] = work.rotation[b][:, :axes] @ shapes[:axes]
                rows.append(np.sqrt(mass / len(points)) * row)
        return np.vstack(rows)


def spinning_system(system: System, axis: Array, turning: bool, spinning: Any) -> SpinningSystem:
    """Read which bodies spin, and refuse what a rotor cannot carry steadily."""
    chosen = _spinning(system, spinning)
    gravity = system.layout.gravity
    if np.linalg.norm(np.cross(axis, gravity)) > 1e-9 * max(1.0, float(np.linalg.norm(gravity))):
        raise AnalysisError(
            "campbell: gravity across the axis bends a rotor anew at every angle, and changes its frequencies only "
            "through the supports. Leave Gravity out, and give bearings the stiffness they have under the weight."
        )
    size = np.abs(SpinningSystem(system, axis, turning, chosen).spectrum(0.0, system.n_v)[0])
    neutral = int(np.sum(size <= ZERO * size.max(initial=0.0)))
    if neutral == len(size):
        raise AnalysisError("campbell: nothing vibrates: no spring or flexible body holds what the joints leave free.")
    return SpinningSystem(system, axis, turning, chosen, float(size[neutral]), neutral)


def _spinning(system: System, given: Any) -> tuple[bool, ...]:
    moving = tuple(bool(body.n_v) for body in system.bodies)
    if given is None:
        return moving
    listed = [given] if isinstance(given, Body | str) else given
    if not isinstance(listed, list | tuple) or not listed:
        raise AnalysisError(f"campbell: spinning= is a list of bodies of the System, not {given!r}.")
    names = [one.name if isinstance(one, Body) else one for one in listed]
    known = [body.name for body, moves in zip(system.bodies, moving, strict=True) if moves]
    for name in names:
        if name not in known:
            raise AnalysisError(f"campbell: spinning= names {name!r}; the bodies that move are {', '.join(known)}.")
    return tuple(body.name in names for body in system.bodies)


def steady_spin(system: System, turning: Array, spinning: tuple[bool, ...]) -> State:
    """The state in which some bodies turn steadily and the others rest, found by Newton's method near the initial one.

    Forces balance in the free motions with the accelerations of the spin; what is deformed stays as it is in its body.
    """
    q, angles = system.initial.q, system.initial.angles
    left, v = np.inf, np.zeros(system.n_v)
    for _ in range(ITERATIONS):
        v, rate, frame, bend = _carried(system, q, angles, turning, spinning)
        equations = system.equations(0.0, q, v, angles).dense()
        missing = equations.M @ rate - equations.f
        multipliers = balancing(system, equations.J, missing) if equations.rows else np.zeros(0)
        here = linearised(system, 0.0, q, v, rate, multipliers, angles)
        basis = motions_left_free(system, here.jacobian)
        push = basis.T @ here.residual
        now = float(np.abs(push).max(initial=0.0))
        if now <= 1e-13 * max(1.0, float(np.abs(here.mass @ rate).max(initial=0.0))) or now >= 0.5 * left:
            break
        left = now
        stiffness = basis.T @ (here.stiffness + here.damping @ frame + here.mass @ bend) @ basis
        step = basis @ -np.linalg.lstsq(stiffness, push, rcond=1e-12)[0]
        q, angles = _closed(system, system.retract(q, step), angles)
    slip = np.abs(system.evaluate(0.0, q, v, angles).phi_rate)
    if slip.max(initial=0.0) > 1e-7 * max(np.abs(v).max(initial=0.0), 1e-300):
        row = int(np.argmax(slip))
        raise AnalysisError(
            f"campbell: {system.labels[row]} does not let the bodies spin about this axis (it misses by "
            f"{slip[row]:.3g} in velocity). Say which bodies spin with spinning=, and leave out a drive of the spin."
        )
    return State(0.0, q, v, angles)


def _carried(
    system: System, q: Array, angles: Array, turning: Array, spinning: tuple[bool, ...]
) -> tuple[Array, Array, Array, Array]:
    """v, v' of bodies that turn about the origin, and how both change with their positions."""
    n = system.n_v
    v, rate, frame, bend = np.zeros(n), np.zeros(n), np.zeros((n, n)), np.zeros((n, n))
    work = system.evaluate(0.0, q, v, angles)
    w = skew(turning)
    for b, kind in enumerate(system.layout.body_kind):
        if not spinning[b]:
            continue
        at = int(system.layout.body_v[b])
        k = 2 if kind == PLANAR else 3
        straight = slice(at, at + k)
        v[straight] = (w @ work.position[b])[:k]
        rate[straight] = (w @ w @ work.position[b])[:k]
        frame[straight, straight], bend[straight, straight] = w[:k, :k], (w @ w)[:k, :k]
        if kind == RIGID:
            local = work.rotation[b].T @ turning
            v[at + 3 : at + 6] = local
            frame[at + 3 : at + 6, at + 3 : at + 6] = skew(local)
        elif kind == PLANAR:
            v[at + 2] = turning[2]
    return v, rate, frame, bend


def _closed(system: System, q: Array, angles: Array) -> tuple[Array, Array]:
    """The nearest position that fulfils the rows."""
    still = np.zeros(system.n_v)
    for _ in range(20):
        work = system.evaluate(0.0, q, still, angles)
        if np.abs(work.phi).max(initial=0.0) <= 1e-13 * max(1.0, system.walked[1]):
            break
        q = system.retract(q, least(*system.closing, system.length_weights**2, work, -work.phi))
    return q, system.evaluate(0.0, q, still, angles).measure.copy()
