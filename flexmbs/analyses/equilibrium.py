"""Statics and vibration of mechanisms: where they rest or turn steadily, whether they stay so, how they vibrate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from flexmbs.analyses.small_motions import (
    balancing,
    small_motions,
    turning_terms,
)
from flexmbs.bodies.body import PLANAR, RIGID, vector
from flexmbs.errors import AnalysisError, ModelError
from flexmbs.results import Result
from flexmbs.results.saving import Saved
from flexmbs.system.free_motions import BENDING, FreeMotions, elastic_places, free_motions
from flexmbs.system.linear import Linearised, linearised
from flexmbs.system.reactions import least_multipliers
from flexmbs.system.saddle import least
from flexmbs.system.state import State
from flexmbs.system.system import System

Array = NDArray[np.float64]

ITERATIONS = 200
TOLERANCE = 1e-11
GROWS = 1e-6
"""Relative size of a real part from which on a motion counts as growing: a double zero splits by rounding."""
ZERO = 1e-6
"""Eigenvalues of this size relative to the largest are zero."""
SOFT = 1e-3
"""Eigenvalues below this part of the largest are found again, without the rounding that comes with the largest."""
SETTLED = 1e-13
"""A step, in sizes of the mechanism, after which rounding is all that is left; of deformation, relative to it, it is"""
SHAPED = 1e-10
LONGEST = 0.2
"""Longest step of the search, in sizes of the mechanism or radians."""


@dataclass(frozen=True, eq=False)
class Equilibrium(Result):
    """A position of rest, or of rest in turning axes (``spin``): a Result of one instant, with a verdict.

    ``stable`` says whether every small motion raises the potential energy (in turning axes, if not: whether the
    gyroscopic terms hold it); ``stiffnesses`` are the eigenvalues of the stiffness against the mass of the free motions
    [1/s²], smallest first.
    """

    stable: bool = True
    stiffnesses: Array = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class SystemModes(Saved):
    """Small motions of a mechanism about a position of rest or a steady motion.

    ``eigenvalues`` λ of exp(λt), one of each pair, zero where a neighbouring motion is as good; ``frequencies`` [Hz]
    and ``damping`` ratios; ``shapes`` (modes, velocities) complex, unit modal mass. ``turning`` is the angular velocity
    of the axes from which a steady motion was seen. A λ with positive real part grows: ``stable`` is then False.
    """

    system: System
    eigenvalues: NDArray[np.complex128]
    shapes: NDArray[np.complex128]
    turning: Array

    @property
    def frequencies(self) -> Array:
        """Damped natural frequencies [Hz]."""
        return np.asarray(np.abs(self.eigenvalues.imag) / (2 * np.pi))

    @property
    def damping(self) -> Array:
        """Damping ratios ζ = -Re λ / |λ|."""
        size = np.abs(self.eigenvalues)
        return np.asarray(-self.eigenvalues.real / np.where(size > 0, size, 1.0))

    @property
    def stable(self) -> bool:
        """Whether no motion grows (in proportion to time, as along a free hinge, does not count)."""
        return bool(np.all(self.eigenvalues.real <= GROWS * max(1.0, np.abs(self.eigenvalues).max(initial=0.0))))

    def table(self) -> str:
        """The modes as a table of text: frequency, damping, growth, and the body that moves most."""
        weights, starts = self.system.length_weights, self.system.layout.body_v
        rows = [f"{'mode':>4}  {'frequency [Hz]':>14}  {'damping':>9}  {'growth [1/s]':>12}  moves most"]
        for k, (value, shape) in enumerate(zip(self.eigenvalues, self.shapes, strict=True)):
            body = int(np.searchsorted(starts, np.argmax(np.abs(shape * weights)), side="right")) - 1
            rows.append(
                f"{k + 1:>4}  {self.frequencies[k]:>14.6g}  {self.damping[k]:>9.3g}  {value.real:>12.4g}  "
                f"{self.system.bodies[body].name}"
            )
        return "\n".join(rows)

    def __repr__(self) -> str:
        verdict = "stable" if self.stable else "unstable"
        return f"<SystemModes: {np.array2string(self.frequencies, precision=5)} Hz, {verdict}>"


def as_state(about: Any, analysis: str) -> State:
    """The state about which an analysis is made: one given, or the last instant of a result."""
    if isinstance(about, Result):
        return State(float(about.t[-1]), about.q[-1], about.v[-1], about.angles[-1])
    if not isinstance(about, State):
        raise AnalysisError(
            f"{analysis}: about is a State, the result of statics or of a motion, not {type(about).__name__}."
        )
    return about


def equilibrium(system: System, spin: Any = None) -> Equilibrium:
    """Where a mechanism rests under its forces, found downhill from its initial position (at t = 0).

    With ``spin`` Ω it turns as a whole about the origin with that constant angular velocity (global axes), and rests as
    seen from axes that turn along. Each step is Newton's in the free motions, turned downhill where the stiffness is
    negative; loops are closed again after it.
    """
    start = system.initial
    turning = np.zeros(3) if spin is None else _spin(spin)
    q, angles = start.q, start.angles
    weights = system.length_weights
    size = system.walked[1]
    force, multipliers = np.inf, np.zeros(len(system.rows))
    for _ in range(ITERATIONS):
        here, v, rate, multipliers = _turned(system, q, angles, turning)
        free = free_motions(system, here.jacobian)
        force = float(np.abs(free.all.T @ here.residual).max(initial=0.0))
        if force <= TOLERANCE * max(1.0, _strongest(system, multipliers)):
            break
        step = _descent(free, here)
        if free.elastic.shape[1] and _small(system, q, step):
            break
        q, angles = _moved(system, q, angles, step * min(1.0, LONGEST * size / np.abs(step * weights).max()))
    else:
        raise AnalysisError(
            f"no equilibrium was found in {ITERATIONS} steps (a generalized force of {force:.3g} is left). Is there "
            "one? Nothing may push a free motion for ever; start nearer to it with start= or position=."
        )
    values, stable = _stiffnesses(free, here)
    if turning.any():
        _refuse_slip(system, q, v, angles)
        if not stable:  # gyroscopic terms may hold what stiffness does not
            stable = vibrations(system, State(0.0, q, v, angles), turning).stable
    sharing = least_multipliers(system, [(0.0, q, v, angles)], multipliers[None])
    return Equilibrium(
        *(system, np.zeros(1), q[None], v[None], rate[None], sharing, angles[None]),
        stable=stable,
        stiffnesses=values,
    )


def vibrations(system: System, about: Result | State | None = None, turning: Any = None) -> SystemModes:
    """Modes of the linearised mechanism about a position of rest (by default its equilibrium) or a steady motion."""
    state = as_state(equilibrium(system) if about is None else about, "modes")
    found = small_motions(system, state, "modes", turning)
    n = found.shifts.shape[1]
    values, vectors = _eigenvalues(found.matrix, bool(system.elastic.any()))
    largest = np.abs(values).max(initial=0.0)
    keep = values.imag >= -1e-12 * largest
    order = np.argsort(np.abs(values[keep]), kind="stable")
    values, vectors = values[keep][order], vectors[:n, keep][:, order]
    shapes = found.shifts @ vectors
    weight = np.sqrt(np.einsum("im,ij,jm->m", shapes.conj(), found.instant.mass, shapes).real)
    return SystemModes(
        system, values, np.ascontiguousarray((shapes / np.where(weight > 0, weight, 1.0)).T), found.turning
    )


def _eigenvalues(matrix: Array, stiff: bool) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Eigenvalues and eigenvectors, those that are zero but for rounding set to zero.

    Where bodies deform, rounding of the fastest would drown the slow ones: these are found once more, as the largest of
    the matrix inverted about a shift of their size.
    """
    values, vectors = np.linalg.eig(matrix)
    size = np.abs(values).max(initial=0.0)
    soft = np.abs(values) < SOFT * size
    if stiff and soft.any():
        shift = (0.6 + 0.8j) * 0.1 * SOFT * size
        inverse, others = np.linalg.eig(np.linalg.inv(matrix - shift * np.eye(len(matrix))))
        again = shift + 1.0 / inverse
        order, slowest = np.argsort(np.abs(values)), np.argsort(np.abs(again))
        count = int(np.count_nonzero(soft))
        values = np.concatenate([again[slowest[:count]], values[order[count:]]])
        vectors = np.hstack([others[:, slowest[:count]], vectors[:, order[count:]]])
        size = abs(shift)
    return np.where(np.abs(values) < ZERO * size, 0.0, values), vectors


def _spin(given: Any) -> Array:
    try:
        return vector(given, 3, "statics: spin")
    except ModelError as error:
        raise AnalysisError(str(error)) from error


def _turned(system: System, q: Array, angles: Array, turning: Array) -> tuple[Linearised, Array, Array, Array]:
    """Linearised equations of a mechanism that turns as a whole, with the stiffness of the turning, and v, v', λ."""
    w = turning_terms(system, q, turning)
    v, rate, bend = np.zeros(system.n_v), np.zeros(system.n_v), np.zeros_like(w)
    work = system.evaluate(0.0, q, v, angles)
    for b, kind in enumerate(system.layout.body_kind):
        at, n = system.layout.body_v[b], int(system.layout.body_v[b + 1] - system.layout.body_v[b])
        straight = slice(at, at + min(n, 2 if kind == PLANAR else 3))
        if n:
            v[straight] = np.cross(turning, work.position[b])[: straight.stop - at]
            rate[straight] = w[straight, straight] @ v[straight]
            bend[straight, straight] = w[straight, straight] @ w[straight, straight]
        if kind == RIGID:
            v[at + 3 : at + 6] = work.rotation[b].T @ turning
        elif kind == PLANAR:
            v[at + 2] = turning[2]
    equations = system.equations(0.0, q, v, angles).dense()
    multipliers = balancing(system, equations.J, equations.M @ rate - equations.f) if equations.rows else np.zeros(0)
    here = linearised(system, 0.0, q, v, rate, multipliers, angles)
    return replace(here, stiffness=here.stiffness + here.damping @ w + here.mass @ bend), v, rate, multipliers


def _refuse_slip(system: System, q: Array, v: Array, angles: Array) -> None:
    slip = np.abs(system.evaluate(0.0, q, v, angles).phi_rate)
    if slip.max(initial=0.0) > 1e-8 * np.abs(v).max():
        row = int(np.argmax(slip))
        raise AnalysisError(
            f"statics: the mechanism cannot turn as a whole with this spin: {system.labels[row]} misses by "
            f"{slip[row]:.3g} in velocity. Let it turn about the axis of spin; a drive must have the same speed."
        )


def _stiffnesses(free: FreeMotions, here: Linearised) -> tuple[Array, bool]:
    """Eigenvalues of the stiffness against the mass, and whether none is negative beyond rounding.

    Judged apart where bodies deform, since a soft mechanism drowns in the rounding of their stiffness: deformation with
    the mechanism held, and the mechanism with its bodies giving way.
    """
    bent = np.linalg.eigvalsh(free.elastic.T @ (here.stiffness + here.stiffness.T) @ free.elastic / 2)
    following = free.rigid + free.elastic @ _give(free, here)
    slow, vectors = _eigen(following, here)
    stable = all(bool(np.all(x > -1e-9 * np.abs(x).max(initial=0.0))) for x in (slow, bent))
    if not len(bent):
        return slow, stable
    values, _ = _eigen(free.all, here)
    drowned = np.abs(values) < 1e-8 * np.abs(values).max()
    if 0 < np.count_nonzero(drowned) <= len(slow):
        # what is left out is the inertia with which bodies follow: once around for it
        moves = following @ vectors
        inertia = free.elastic.T @ here.mass @ moves * slow
        moves += free.elastic @ np.linalg.solve(free.elastic.T @ here.stiffness @ free.elastic, inertia)
        values[drowned] = _eigen(moves, here)[0][: np.count_nonzero(drowned)]
    return np.sort(values), stable


def _eigen(basis: Array, here: Linearised) -> tuple[Array, Array]:
    if not basis.shape[1]:
        return np.zeros(0), np.zeros((0, 0))
    k, m = basis.T @ here.stiffness @ basis, basis.T @ here.mass @ basis
    try:
        values, vectors = scipy.linalg.eigh((k + k.T) / 2, m)
    except np.linalg.LinAlgError:  # terms of second order may outweigh what hardly has mass, as turning beam nodes
        sizes, axes = np.linalg.eigh(m)
        m = axes * np.maximum(sizes, 1e-12 * sizes[-1]) @ axes.T
        values, vectors = scipy.linalg.eigh((k + k.T) / 2, m)
    return np.asarray(values), np.asarray(vectors)


def _give(free: FreeMotions, here: Linearised) -> Array:
    """Deformation with which bodies follow rigid motions at rest, (elastic, rigid)."""
    stiffness = free.elastic.T @ here.stiffness
    if not len(stiffness):
        return np.zeros((0, free.rigid.shape[1]))
    return np.asarray(-np.linalg.solve(stiffness @ free.elastic, stiffness @ free.rigid))


def _descent(free: FreeMotions, here: Linearised) -> Array:
    """Step of the free motions: Newton's where the stiffness is positive, else one that still goes downhill.

    Deformation always takes Newton's: small as it is, its only equilibrium is the one there, stable or not (a shaft
    above its critical speed rests straight).
    """
    following, step = free.rigid + free.elastic @ _give(free, here), np.zeros(len(here.residual))
    if free.elastic.shape[1]:
        rows = free.elastic.T
        step -= free.elastic @ np.linalg.solve(rows @ here.stiffness @ free.elastic, rows @ here.residual)
    return step + _downhill(following, here, here.residual + here.stiffness @ step)


def _downhill(basis: Array, here: Linearised, force: Array) -> Array:
    if not basis.shape[1]:
        return np.zeros(len(force))
    values, vectors = _eigen(basis, here)
    floor = 1e-6 * max(np.abs(values).max(), 1e-12)
    return np.asarray(-basis @ vectors @ ((vectors.T @ (basis.T @ force)) / np.maximum(np.abs(values), floor)))


def _small(system: System, q: Array, step: Array) -> bool:
    """Whether a step of a mechanism with flexible bodies is rounding, in motion and in deformation."""
    elastic, size, lengths = system.elastic, system.walked[1], np.abs(step * system.length_weights)
    deflection = np.abs(q[elastic_places(system)] * system.length_weights[elastic]).max()
    settled = lengths[~elastic].max(initial=0.0) <= SETTLED * size
    return bool(settled and lengths[elastic].max() <= max(SHAPED * deflection, 1e-18 * size))


def _moved(system: System, q: Array, angles: Array, step: Array) -> tuple[Array, Array]:
    q = system.retract(q, step)
    still = np.zeros(system.n_v)
    weights = np.where(system.elastic, BENDING, 1.0) * system.length_weights**2
    for _ in range(30):
        work = system.evaluate(0.0, q, still, angles)
        if not len(work.phi) or np.abs(work.phi).max() <= 1e-13 * max(1.0, system.walked[1]):
            break
        q = system.retract(q, least(*system.closing, weights, work, -work.phi))
    return q, system.evaluate(0.0, q, still, angles).measure.copy()


def _strongest(system: System, multipliers: Array) -> float:
    """Size of the forces at work."""
    weight = system.layout.mass.sum() * np.linalg.norm(system.layout.gravity)
    return float(max(weight, np.abs(multipliers).max(initial=0.0)))
