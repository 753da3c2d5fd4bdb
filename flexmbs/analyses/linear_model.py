"""Linear models of mechanisms for control: x' = A x + B u, y = C x + D u about rest or a steady motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from flexmbs.analyses.equilibrium import as_state, equilibrium
from flexmbs.analyses.small_motions import CONSTANT, SmallMotions, small_motions
from flexmbs.bodies.body import PLANAR, Frame
from flexmbs.errors import AnalysisError, ModelError
from flexmbs.forces import AppliedForce, SpringDamper
from flexmbs.forces.force import Force
from flexmbs.joints.joint import Measure
from flexmbs.nullspace.readonly import frozen
from flexmbs.results import Result
from flexmbs.results.saving import Saved
from flexmbs.rotations import axis_vector
from flexmbs.system.state import State
from flexmbs.system.system import System

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinearModel(Saved):
    """x' = A x + B u, y = C x + D u for small deviations from a position of rest or a steady motion.

    x are independent small motions of bodies, then independent changes of velocities ("rate"), named in ``states``:
    translations [m] along global axes, rotations [rad] about body axes, both as they are in ``state`` (a steady motion
    takes them along). Rows of velocities leave fewer of the second kind. y are the changes of the outputs' values,
    then their rates. ``motions`` (velocities, small motions) gives the motion of all bodies for a unit of each.
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
    system: System, inputs: Sequence[Any], outputs: Sequence[Measure], about: Result | State | None = None
) -> LinearModel:
    """Linear model of a mechanism about a position of rest or a steady motion.

    Parameters
    ----------
    inputs : what each u drives: a joint's coordinate (force or torque along it), a pair (frame, direction) for a force
        at a frame along a global direction, or an AppliedForce, of which u is the multiple.
    outputs : joint coordinates; y are the changes of all their values, then their rates.
    about : a State at rest or in a steady motion, the result of ``statics``, or that of a motion, whose last instant
        counts; by default the equilibrium of the mechanism. Inputs and outputs must look the same at any time of a
        steady motion.
    """
    if not isinstance(system, System):
        raise AnalysisError(f"linearise: a System is needed, not {type(system).__name__}.")
    for listed, what in ((inputs, "inputs"), (outputs, "outputs")):
        if not isinstance(listed, list | tuple):
            raise AnalysisError(f"linearise: {what} are a list, {what}=[...], not {listed!r}.")
    forces = [_input(given, k) for k, given in enumerate(inputs)]
    for given in outputs:
        if not isinstance(given, Measure):
            raise AnalysisError(f"linearise: an output is a joint's coordinate such as hinge.angle, not {given!r}.")
    state = as_state(equilibrium(system) if about is None else about, "linearise")
    found = small_motions(system, state, "linearise")
    weights = system.length_weights
    places, rates = (_chosen(basis, weights, system.elastic) for basis in (found.shifts, found.speeds))
    matrix, motions, speeds = _named(found, places, rates)
    a, b = len(places), len(rates)
    measured_as: list[Force] = [SpringDamper(m.name or f"output {k}", m, force=1.0) for k, m in enumerate(outputs)]
    effect = speeds.T @ _columns([_gradient(system, state, force, found) for force in forces], system.n_v)
    seen = _columns([_gradient(system, state, force, found) for force in measured_as], system.n_v).T @ motions
    mass = speeds.T @ found.instant.mass @ speeds
    names = _velocity_names(system)
    said = [force.name for force in measured_as]
    return LinearModel(
        matrix,
        np.vstack([np.zeros((a, len(forces))), np.linalg.solve(mass, effect)]),
        np.vstack([np.hstack([seen, np.zeros((len(said), b))]), seen @ matrix[:a]]),
        np.zeros((2 * len(outputs), len(forces))),
        (*(names[k] for k in places), *(f"{names[k]} rate" for k in rates)),
        tuple(force.name for force in forces),
        (*said, *(f"{name} rate" for name in said)),
        motions,
        state,
    )


def _chosen(basis: Array, weights: Array, elastic: NDArray[np.bool_]) -> list[int]:
    """The velocities by which motions of a basis are named: those in which they differ most.

    Motions that deform bodies are named by elastic coordinates, as far as these tell them apart, and come first.
    """
    moves = _deforming(basis, elastic)
    found: list[int] = []
    for columns, own in ((moves, elastic), (~moves, ~elastic)):
        numbers = np.flatnonzero(own)
        scaled = (basis[np.ix_(own, columns)] * weights[own, None]).T
        if not scaled.size:
            continue
        _, r, order = scipy.linalg.qr(scaled, pivoting=True, mode="economic")
        sizes = np.abs(np.diag(r))
        count = min(int(np.count_nonzero(sizes > 1e-6 * sizes[0])), int(np.count_nonzero(columns)))
        found += sorted(int(k) for k in numbers[order[:count]])
    if len(found) == basis.shape[1]:
        return found
    _, _, order = scipy.linalg.qr((basis * weights[:, None]).T, pivoting=True, mode="economic")
    return sorted(int(k) for k in order[: basis.shape[1]])


def _deforming(basis: Array, elastic: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which motions of a basis deform bodies."""
    return np.asarray(np.abs(basis[elastic]).max(axis=0, initial=0.0) > 0.0)


def _inverse(matrix: Array) -> Array:
    """The inverse; what is zero above the diagonal by blocks stays so, and stiff motions do not stain soft ones."""
    n = len(matrix)
    zero = [k for k in range(1, n) if not matrix[:k, k:].any()]
    if not zero:
        return np.asarray(np.linalg.inv(matrix))
    k = zero[0]
    out = np.zeros_like(matrix)
    out[:k, :k], out[k:, k:] = np.linalg.inv(matrix[:k, :k]), np.linalg.inv(matrix[k:, k:])
    out[k:, :k] = -out[k:, k:] @ matrix[k:, :k] @ out[:k, :k]
    return out


def _named(found: SmallMotions, places: list[int], rates: list[int]) -> tuple[Array, Array, Array]:
    """State matrix, small motions and speeds with δx[places] and δv[rates] as states."""
    to_places, to_rates = _inverse(found.shifts[places]), _inverse(found.speeds[rates])
    a, n = len(places), len(found.matrix)
    change = np.zeros((n, n))  # (δx, δv) chosen, from (ξ, η)
    change[:a, :a] = found.shifts[places]
    change[a:, :a], change[a:, a:] = found.bound[rates], found.speeds[rates]
    back = np.zeros((n, n))
    back[:a, :a], back[a:, a:] = to_places, to_rates
    back[a:, :a] = -to_rates @ found.bound[rates] @ to_places
    return change @ found.matrix @ back, found.shifts @ to_places, found.speeds @ to_rates


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


def _gradient(system: System, state: State, force: Force, found: SmallMotions) -> Array:
    """Generalized force of one force alone; that of a unit force along a coordinate is the coordinate's gradient."""
    try:
        alone = System(system.bodies, (), [force])
    except ModelError as error:
        raise AnalysisError(f"linearise: {error}") from error
    still = np.zeros(system.n_v)
    weight = alone.inertia(alone.evaluate(state.t, state.q, still), still)[1]
    if found.later is not None:
        later, maps = found.later
        again = maps.T @ alone.inertia(alone.evaluate(later.t, later.q, still), still)[1]
        seen = found.shifts.T @ np.column_stack([weight, again])
        if np.abs(seen[:, 0] - seen[:, 1]).max() > CONSTANT * np.abs(seen).max(initial=1e-300):
            raise AnalysisError(
                f"linearise: {force.name!r} does not move along with the steady motion: what it does changes with "
                "time. Take a joint's coordinate or a following force."
            )
    return weight


def _columns(vectors: list[Array], size: int) -> Array:
    return np.column_stack(vectors) if vectors else np.zeros((size, 0))


def _velocity_names(system: System) -> list[str]:
    """What each velocity is called."""
    names: list[str] = []
    for body in system.bodies:
        labels = ("x", "y", "angle") if body.kind == PLANAR else ("x", "y", "z", "rx", "ry", "rz")[: body.n_v]
        labels += tuple(f"d{k + 1}" for k in range(body.modes))
        names += [f"{body.name}.{label}" for label in labels]
    return names
