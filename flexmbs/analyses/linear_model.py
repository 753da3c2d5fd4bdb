"""Linear models of mechanisms for control: x' = A x + B u, y = C x + D u about a position of rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from flexmbs.analyses.equilibrium import (
    Equilibrium,
    equilibrium,
    motions_left_free,
    multipliers_at_rest,
    refuse_velocity_rows,
)
from flexmbs.bodies.body import PLANAR, Frame
from flexmbs.errors import AnalysisError, ModelError
from flexmbs.forces import AppliedForce, SpringDamper
from flexmbs.forces.force import Force
from flexmbs.joints.joint import Measure
from flexmbs.nullspace.readonly import frozen
from flexmbs.rotations import axis_vector
from flexmbs.system.linear import linearised
from flexmbs.system.state import State
from flexmbs.system.system import System

Array = NDArray[np.float64]

BALANCE = 1e-7
"""Largest force left over at a position of rest, relative to the forces at work."""


@dataclass(frozen=True, eq=False)
class LinearModel:
    """x' = A x + B u, y = C x + D u for small deviations from a position of rest.

    x are independent small motions of bodies and their rates, named in ``states``: translations [m] along global axes,
    rotations [rad] about body axes. y are the changes of the outputs' values, then their rates. ``motions``
    (velocities, states / 2) gives the motion of all bodies for a unit of each.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    motions: Array
    state: State

    def __post_init__(self) -> None:
        for array in (self.A, self.B, self.C, self.D, self.motions):
            frozen(array)

    def __repr__(self) -> str:
        return f"<LinearModel: {len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs>"

    def transfer(self, s: complex) -> NDArray[np.complex128]:
        """Transfer matrix C (s - A)⁻¹ B + D at a complex frequency, (outputs, inputs); s = iω for a harmonic input."""
        return np.asarray(self.C @ np.linalg.solve(s * np.eye(len(self.A)) - self.A, self.B) + self.D, dtype=complex)


def linearise(
    system: System, inputs: Sequence[Any], outputs: Sequence[Measure], about: Equilibrium | State | None = None
) -> LinearModel:
    """Linear model of a mechanism about a position of rest.

    Parameters
    ----------
    inputs : what each u drives: a joint's coordinate (force or torque along it), a pair (frame, direction) for a force
        at a frame along a global direction, or an AppliedForce, of which u is the multiple.
    outputs : joint coordinates; y are the changes of all their values, then their rates.
    about : a State at rest or the result of ``statics``; by default the equilibrium of the mechanism.
    """
    forces = [_input(given, k) for k, given in enumerate(inputs)]
    for given in outputs:
        if not isinstance(given, Measure):
            raise AnalysisError(f"linearise: an output is a joint's coordinate such as hinge.angle, not {given!r}.")
    refuse_velocity_rows(system, "linearise")
    here = equilibrium(system) if about is None else about
    if not isinstance(here, State | Equilibrium):
        raise AnalysisError(f"linearise: about is a State or the result of statics, not {type(about).__name__}.")
    state = here if isinstance(here, State) else State(0.0, here.q[0], here.v[0], here.angles[0])
    mass, damping, stiffness, motions, chosen = _free_equations(system, state)
    n = len(mass)
    effect = motions.T @ _columns([_gradient(system, state, force) for force in forces], system.n_v)
    seen = _columns([_gradient(system, state, SpringDamper("output", m, force=1.0)) for m in outputs], system.n_v)
    measured = seen.T @ motions
    solved = np.linalg.solve(mass, np.hstack([stiffness, damping, effect]))
    zero, names = np.zeros((n, n)), _velocity_names(system)
    said = [m.name or f"output {k}" for k, m in enumerate(outputs)]
    return LinearModel(
        np.block([[zero, np.eye(n)], [-solved[:, :n], -solved[:, n : 2 * n]]]),
        np.vstack([np.zeros((n, len(forces))), solved[:, 2 * n :]]),
        scipy.linalg.block_diag(measured, measured),
        np.zeros((2 * len(outputs), len(forces))),
        (*(names[k] for k in chosen), *(f"{names[k]} rate" for k in chosen)),
        tuple(force.name for force in forces),
        (*said, *(f"{name} rate" for name in said)),
        motions,
        state,
    )


def _free_equations(system: System, state: State) -> tuple[Array, Array, Array, Array, list[int]]:
    """Mass, damping and stiffness of the independent motions, these, and the velocities that name them."""
    if np.abs(state.v).max(initial=0.0) > 0:
        raise AnalysisError("linearise: the state must be at rest.")
    multipliers = multipliers_at_rest(system, state.t, state.q, state.angles)
    at = linearised(system, state.t, state.q, state.v, state.v, multipliers, state.angles)
    basis = motions_left_free(system, at)
    if basis.shape[1] == 0:
        raise AnalysisError("linearise: the joints and drives leave nothing free to move.")
    scaled = basis * system.length_weights[:, None]
    left = float(np.abs(basis.T @ at.residual).max())
    if left > BALANCE * max(1.0, np.abs(multipliers).max(initial=0.0)):
        raise AnalysisError(
            f"linearise: the mechanism does not rest here, a generalized force of {left:.3g} is left. Take the result "
            "of statics, or add the force that holds it."
        )
    _, _, order = scipy.linalg.qr(scaled.T, pivoting=True, mode="economic")
    chosen = sorted(int(k) for k in order[: basis.shape[1]])
    motions = basis @ np.linalg.inv(basis[chosen])
    m, d, k = (motions.T @ a @ motions for a in (at.mass, at.damping, at.stiffness))
    return m, d, k, motions, chosen


def _input(given: Any, k: int) -> Force:
    """The force of a unit input."""
    if isinstance(given, AppliedForce):
        return given
    if isinstance(given, Measure):
        return SpringDamper(given.name or f"input {k}", given, force=1.0)
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], Frame):
        return AppliedForce(f"force at {given[0]}", given[0], force=tuple(axis_vector(given[1])))
    raise AnalysisError(
        "linearise: an input is a joint's coordinate such as hinge.angle, a pair (frame, direction) or an "
        f"AppliedForce, not {given!r}."
    )


def _gradient(system: System, state: State, force: Force) -> Array:
    """Generalized force of one force alone; that of a unit force along a coordinate is the coordinate's gradient."""
    try:
        alone = System(system.bodies, (), [force])
    except ModelError as error:
        raise AnalysisError(f"linearise: {error}") from error
    return alone.equations(state.t, state.q, np.zeros(system.n_v)).f


def _columns(vectors: list[Array], size: int) -> Array:
    return np.column_stack(vectors) if vectors else np.zeros((size, 0))


def _velocity_names(system: System) -> list[str]:
    """What each velocity is called."""
    names: list[str] = []
    for body in system.bodies:
        labels = ("x", "y", "angle") if body.kind == PLANAR else ("x", "y", "z", "rx", "ry", "rz")[: body.n_v]
        names += [f"{body.name}.{label}" for label in labels]
    return names
