"""Statics and vibration of mechanisms: where they rest, whether they stay there, and how they vibrate about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from flexmbs.errors import AnalysisError
from flexmbs.nullspace import null_space
from flexmbs.results import Result
from flexmbs.system.linear import Linearised, linearised
from flexmbs.system.reactions import least_multipliers
from flexmbs.system.saddle import least
from flexmbs.system.state import State
from flexmbs.system.system import System

Array = NDArray[np.float64]

ITERATIONS = 200
TOLERANCE = 1e-11
LONGEST = 0.2
"""Longest step of the search, in sizes of the mechanism or radians."""


@dataclass(frozen=True, eq=False)
class Equilibrium(Result):
    """A position of rest: a Result of one instant, with a verdict.

    ``stable`` says whether every small motion raises the potential energy; ``stiffnesses`` are the eigenvalues of the
    stiffness against the mass of the free motions [1/s²], smallest first.
    """

    stable: bool = True
    stiffnesses: Array = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class SystemModes:
    """Vibration of a mechanism about a position of rest.

    ``eigenvalues`` λ of exp(λt), one of each pair; ``frequencies`` [Hz] and ``damping`` ratios; ``shapes`` (modes,
    velocities) complex, unit modal mass. A real positive λ is a motion away from the position: ``stable`` is False.
    """

    system: System
    eigenvalues: NDArray[np.complex128]
    shapes: NDArray[np.complex128]

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
        """Whether no motion grows."""
        return bool(np.all(self.eigenvalues.real <= 1e-9 * max(1.0, np.abs(self.eigenvalues).max(initial=0.0))))


def equilibrium(system: System) -> Equilibrium:
    """Where a mechanism rests under its forces, found downhill from its initial position (at t = 0).

    Each step is Newton's in the free motions, turned downhill where the stiffness is negative; loops are closed again
    after it.
    """
    start = system.initial
    q, angles = start.q, start.angles
    still = np.zeros(system.n_v)
    weights = system.length_weights
    size = system.walked[1]
    force, multipliers = np.inf, np.zeros(len(system.rows))
    for _ in range(ITERATIONS):
        multipliers = multipliers_at_rest(system, 0.0, q, angles)
        here = linearised(system, 0.0, q, still, still, multipliers, angles)
        basis = motions_left_free(system, here)
        push = basis.T @ here.residual
        force = float(np.abs(push).max(initial=0.0))
        if force <= TOLERANCE * max(1.0, _strongest(system, multipliers)):
            break
        step = basis @ _descent(basis, here, push)
        q, angles = _moved(system, q, angles, step * min(1.0, LONGEST * size / np.abs(step * weights).max()))
    else:
        raise AnalysisError(
            f"no equilibrium was found in {ITERATIONS} steps (a generalized force of {force:.3g} is left). Is there "
            "one? Nothing may push a free motion for ever; start nearer to it with start= or position=."
        )
    basis = motions_left_free(system, here)
    values = _stiffnesses(basis, here)
    sharing = least_multipliers(system, [(0.0, q, still, angles)], multipliers[None])
    return Equilibrium(
        *(system, np.zeros(1), q[None], still[None], still[None], sharing, angles[None]),
        stable=bool(np.all(values > -1e-9 * np.abs(values).max(initial=0.0))),
        stiffnesses=values,
    )


def vibrations(system: System, about: Equilibrium | State | None = None) -> SystemModes:
    """Modes of the linearised mechanism about a position of rest (by default its equilibrium), with damping."""
    refuse_velocity_rows(system, "modes")
    if about is None:
        about = equilibrium(system)
    state = about if isinstance(about, State) else State(0.0, about.q[0], about.v[0], about.angles[0])
    if np.abs(state.v).max(initial=0.0) > 0:
        raise AnalysisError("modes: the state must be at rest; modes about a steady motion are not computed here.")
    multipliers = multipliers_at_rest(system, state.t, state.q, state.angles)
    here = linearised(system, state.t, state.q, state.v, state.v, multipliers, state.angles)
    basis = motions_left_free(system, here)
    n = basis.shape[1]
    if n == 0:
        raise AnalysisError("modes: the joints and drives leave nothing free to vibrate.")
    m, d, k = (basis.T @ a @ basis for a in (here.mass, here.damping, here.stiffness))
    matrix = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(m, np.hstack([k, d]))]])
    values, vectors = np.linalg.eig(matrix)
    keep = values.imag >= -1e-12 * np.abs(values).max(initial=0.0)
    order = np.argsort(np.abs(values[keep]), kind="stable")[: 2 * n]
    values, vectors = values[keep][order], vectors[:n, keep][:, order]
    weight = np.sqrt(np.einsum("im,ij,jm->m", vectors.conj(), m, vectors).real)
    return SystemModes(system, values, np.ascontiguousarray((basis @ (vectors / weight)).T))


def refuse_velocity_rows(system: System, analysis: str) -> None:
    """Rows of velocities leave positions free that velocities are not: these linear models do not have that."""
    if not system.holonomic.all():
        label = system.labels[int(np.argmin(system.holonomic))]
        raise AnalysisError(f"{analysis}: {label} restrains velocities only; this analysis takes position rows.")


def multipliers_at_rest(system: System, t: float, q: Array, angles: Array) -> Array:
    """Multipliers that balance the forces at rest as far as they can: least squares of f + Jᵀλ."""
    equations = system.equations(t, q, np.zeros(system.n_v), angles)
    if not equations.rows:
        return np.zeros(0)
    scale = 1.0 / system.length_weights
    return np.asarray(np.linalg.lstsq(equations.dense().J.T * scale[:, None], -equations.f * scale, rcond=1e-10)[0])


def motions_left_free(system: System, here: Linearised) -> Array:
    """Basis of the motions that the rows leave free, scaled by lengths."""
    if not len(here.jacobian):
        return np.diag(1.0 / system.length_weights)
    scaled = here.jacobian / system.length_weights
    return np.asarray(null_space(scaled, "svd").A / system.length_weights[:, None])


def _stiffnesses(basis: Array, here: Linearised) -> Array:
    if not basis.shape[1]:
        return np.zeros(0)
    k, m = basis.T @ here.stiffness @ basis, basis.T @ here.mass @ basis
    return np.asarray(scipy.linalg.eigh((k + k.T) / 2, m, eigvals_only=True))


def _descent(basis: Array, here: Linearised, push: Array) -> Array:
    """Step of the free motions: Newton's where the stiffness is positive, else one that still goes downhill."""
    k, m = basis.T @ here.stiffness @ basis, basis.T @ here.mass @ basis
    values, vectors = scipy.linalg.eigh((k + k.T) / 2, m)
    floor = 1e-6 * max(np.abs(values).max(), 1e-12)
    return np.asarray(-vectors @ ((vectors.T @ push) / np.maximum(np.abs(values), floor)))


def _moved(system: System, q: Array, angles: Array, step: Array) -> tuple[Array, Array]:
    q = system.retract(q, step)
    still = np.zeros(system.n_v)
    for _ in range(30):
        work = system.evaluate(0.0, q, still, angles)
        if not len(work.phi) or np.abs(work.phi).max() <= 1e-13 * max(1.0, system.walked[1]):
            break
        q = system.retract(q, least(*system.closing, system.length_weights**2, work, -work.phi))
    return q, system.evaluate(0.0, q, still, angles).measure.copy()


def _strongest(system: System, multipliers: Array) -> float:
    """Size of the forces at work."""
    weight = system.layout.mass.sum() * np.linalg.norm(system.layout.gravity)
    return float(max(weight, np.abs(multipliers).max(initial=0.0)))
