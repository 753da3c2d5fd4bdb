"""What vibrates harmonically: reduced bodies, all nodes of a part, mechanisms; each solves Z(ω) x = f its own way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from numpy.typing import NDArray

from flexmbs.analyses.equilibrium import as_state, equilibrium
from flexmbs.analyses.modes import modes as natural_modes
from flexmbs.analyses.small_motions import CONSTANT, SmallMotions, small_motions
from flexmbs.analyses.spinning_models import SpinningBody, SpinningPart, spinning_body, spinning_part
from flexmbs.analyses.spinning_system import spinning_system, steady_spin
from flexmbs.bodies.body import PLANAR, Frame, vector
from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.errors import AnalysisError, FlexmbsError
from flexmbs.fem.elements import Elements
from flexmbs.fem.loads import Load
from flexmbs.fem.stress import stress as stress_field
from flexmbs.forces import AppliedForce
from flexmbs.linalg import factorize
from flexmbs.reduction import Part, Rayleigh, ReducedPart, stress_modes
from flexmbs.reduction.damping import damping_coefficients
from flexmbs.system.state import State
from flexmbs.system.system import System

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


class HarmonicModel(Protocol):
    """Forces, outputs and solution in the coordinates of a model."""

    @property
    def axes(self) -> int:
        """Directions in which it moves."""
        ...

    def is_load(self, given: Any) -> bool:
        """Whether it is a load that the model takes."""
        ...

    def force(self, place: Any, direction: Array | None) -> Array:
        """Generalized force (n,) of a unit force at a place, or of a load."""
        ...

    def base(self, direction: Array) -> Array:
        """Generalized force (n,) of a unit acceleration of the base."""
        ...

    def seen(self, place: Any, direction: Array) -> Array:
        """Row (n,) of the displacement of a place along a direction."""
        ...

    def solve(self, omegas: Array, forces: Array) -> Complex:
        """Coordinates (ω, n, inputs)."""
        ...

    def stress(self, which: Any, solved: Complex, shaken: Array, omegas: Array) -> tuple[Any, Complex, bool]:
        """Nodes, stress (ω, inputs, places, 6), and whether these are section forces; ``shaken`` (inputs, 3) base."""
        ...


def harmonic_model(model: Any, damping: Any, spin: Any, fixed: Any, modes: Any, about: Any) -> HarmonicModel:
    """Read what is to vibrate."""
    turning = np.zeros(3)
    if spin is not None:
        try:
            turning = vector(spin, 3, "frequency_response: spin")
        except FlexmbsError as error:
            raise AnalysisError(str(error)) from error
    speed = float(np.linalg.norm(turning))
    axis = turning / speed if speed else np.array([0.0, 0.0, 1.0])
    if isinstance(model, System):
        if any(x is not None for x in (damping, fixed, modes)) or (about is not None and spin is not None):
            raise AnalysisError(
                "frequency_response: a System has its supports and damping already; give spin= or about=, not both."
            )
        return _mechanism(model, axis, speed, about)
    if about is not None:
        raise AnalysisError("frequency_response: about= belongs to a System.")
    if isinstance(model, Elements):
        if modes is not None:
            return _few_modes(model, axis, speed, fixed, damping, modes)
        return HarmonicPart(spinning_part(model, axis, fixed, None, damping), speed, Part.of_elements(model))
    if not isinstance(model, FlexibleBody | ReducedPart):
        raise AnalysisError(
            f"frequency_response: a FlexibleBody, Elements or a System is needed, not {type(model).__name__}."
        )
    if fixed is not None or modes is not None:
        raise AnalysisError(f"frequency_response: {model.name} is held and reduced when it is made, not here.")
    return HarmonicBody(spinning_body(model, axis, None, damping), speed)


def _direct(m: Any, c: Any, k: Any, omegas: Array, forces: Array) -> Complex:
    return np.array([np.linalg.solve(k + 1j * w * c - w**2 * m, forces.astype(complex)) for w in omegas])


@dataclass(frozen=True, eq=False)
class HarmonicBody:
    """A reduced body that is held, spinning or not."""

    model: SpinningBody
    speed: float

    @property
    def axes(self) -> int:
        """Of its nodes."""
        return self.model.reduced.axes

    def is_load(self, given: Any) -> bool:
        """Loads on its elements."""
        return isinstance(given, Load) and self.model.reduced.part is not None

    def force(self, place: Any, direction: Array | None) -> Array:
        """Through the frame's shapes, or the nodal forces of a load."""
        if direction is not None:
            return self.seen(place, direction)
        part = self.model.reduced.part
        assert part is not None
        return self.model.reduced.basis.T @ place.vector(part.elements)

    def base(self, direction: Array) -> Array:
        """-Sᵀa."""
        return -self.model.reduced.constants.S.T @ direction

    def seen(self, place: Any, direction: Array) -> Array:
        """Of the frame there."""
        reduced = self.model.reduced
        if isinstance(place, Frame):
            if getattr(place.body, "reduced", None) is not reduced:
                raise AnalysisError(f"frequency_response: the frame {place} is not on {reduced.name}.")
            return direction @ place.shapes[:3]
        return direction @ reduced.frame(_place(place)).displacement

    def solve(self, omegas: Array, forces: Array) -> Complex:
        """Dense, at each frequency."""
        return _direct(*self.model.matrices(self.speed), omegas, forces)

    def stress(self, which: Any, solved: Complex, shaken: Array, omegas: Array) -> tuple[Any, Complex, bool]:
        """From stress modes, with what the coordinates leave out of the static response to a shaken base."""
        found = stress_modes(self.model.reduced, which)
        field = np.einsum("pcr,fri->fipc", found.values, solved)
        field = field + np.einsum("pck,ik->ipc", found.correction[:, :, :3], shaken)
        if found.inertia is not None:
            field = field - np.einsum("f,pcr,fri->fipc", omegas**2, found.inertia, solved)
        return found.nodes, field, found.fibre is not None


@dataclass(frozen=True, eq=False)
class HarmonicPart:
    """All nodes of a part, solved for at each frequency."""

    model: SpinningPart
    speed: float
    part: Part

    @property
    def axes(self) -> int:
        """Of its nodes."""
        return self.part.axes

    def is_load(self, given: Any) -> bool:
        """Loads on its elements."""
        return isinstance(given, Load)

    def force(self, place: Any, direction: Array | None) -> Array:
        """Weighted over the nodes of the place."""
        if direction is not None:
            return self.seen(place, direction)
        return np.asarray(self.model.projection.project_columns(place.vector(self.part.elements)[:, None]))[:, 0]

    def base(self, direction: Array) -> Array:
        """-m_O a."""
        return -np.asarray(self.model.projection.project_columns(self.part.origin_moments() @ direction[:, None]))[:, 0]

    def seen(self, place: Any, direction: Array) -> Array:
        """Mean displacement of the place."""
        which = _place(place)
        which = [int(which)] if isinstance(which, int | np.integer) else which
        row = np.zeros((self.part.mesh.n_nodes, self.part.dofs_per_node))
        row[self.part.nodes(which), : self.axes] = np.outer(self.part.weights(which), direction[: self.axes])
        return np.asarray(self.model.projection.project_columns(row.reshape(-1, 1)))[:, 0]

    def solve(self, omegas: Array, forces: Array) -> Complex:
        """By a sparse factorisation at each frequency."""
        m, c, k = self.model.matrices(self.speed)
        out = []
        for w in omegas:
            whole = sp.csc_array(k + 1j * w * c - w**2 * m) if w else sp.csc_array(k.astype(complex))
            out.append(sla.splu(whole).solve(forces.astype(complex)))
        return np.array(out)

    def stress(self, which: Any, solved: Complex, shaken: Array, omegas: Array) -> tuple[Any, Complex, bool]:
        """Of the nodal displacements."""
        elements = self.model.elements
        if elements.mesh.dimension == 1:
            raise AnalysisError("frequency_response: stress of beams comes from a reduced body (FlexibleBody).")
        nodes = np.array(elements.mesh.nodes(which))
        shape = (elements.mesh.n_nodes, elements.dofs_per_node)
        out = np.zeros((len(solved), solved.shape[2], len(nodes), 6), dtype=complex)
        for f, columns in enumerate(solved):
            for i in range(columns.shape[1]):
                u = self.model.projection.expand_rates(columns[:, [i]])[:, 0].reshape(shape)
                real, imag = (stress_field(elements, part).nodal[nodes] for part in (u.real, u.imag))
                out[f, i] = real + 1j * imag
        return nodes, out, False


@dataclass(frozen=True, eq=False)
class FewModes(HarmonicPart):
    """All nodes of a part by ``shapes`` (n, k) of few modes at rest, and the static response of the others."""

    shapes: Array
    coefficients: Array
    """D, diagonal."""

    def solve(self, omegas: Array, forces: Array) -> Complex:
        """Dense in the modes; what these leave out follows as in statics."""
        m, c, k = self.model.matrices(self.speed)
        x = self.shapes
        small = x.T @ (m @ x), x.T @ (c @ x) + np.diag(self.coefficients), x.T @ (k @ x)
        rest = np.asarray(factorize(k, definite=False).solve(forces)) - x @ np.linalg.solve(small[2], x.T @ forces)
        return x @ _direct(*small, omegas, x.T @ forces) + rest


def _few_modes(elements: Elements, axis: Array, speed: float, fixed: Any, damping: Any, count: Any) -> FewModes:
    rayleigh = damping if isinstance(damping, Rayleigh) else None
    model = spinning_part(elements, axis, fixed, None, rayleigh)
    found = natural_modes(elements, fixed=fixed, count=count)
    nodal = found.shapes.reshape(len(found), -1).T
    # free coordinates of the shapes: those of the projection's own columns
    x = np.asarray(sla.spsolve((model.projection.matrix.T @ model.projection.matrix).tocsc(),
                               model.projection.matrix.T @ nodal)).reshape(-1, len(found))  # fmt: skip
    squares = (2 * np.pi * found.frequencies) ** 2
    own = None if rayleigh is not None else damping
    coefficients = damping_coefficients(own, squares, elements.mesh.name)
    return FewModes(model, speed, Part.of_elements(elements), x, coefficients)


@dataclass(frozen=True, eq=False)
class HarmonicMechanism:
    """A mechanism about rest or a steady motion; coordinates are changes δx of all velocities' coordinates."""

    system: System
    state: State
    found: SmallMotions

    @property
    def axes(self) -> int:
        """Always three."""
        return 3

    def is_load(self, given: Any) -> bool:
        """An applied force."""
        return isinstance(given, AppliedForce)

    def force(self, place: Any, direction: Array | None) -> Array:
        """Generalized force of the force alone."""
        force = place
        if direction is not None:
            force = AppliedForce("input", self._frame(place), force=tuple(direction))
        here = self._effect(self.state, force)
        if self.found.later is not None:
            later, maps = self.found.later
            seen = self.found.shifts.T @ np.column_stack([here, maps.T @ self._effect(later, force)])
            if np.abs(seen[:, 0] - seen[:, 1]).max() > CONSTANT * np.abs(seen).max(initial=1e-300):
                raise AnalysisError(
                    "frequency_response: a force or output does not move along with the steady motion, what it does "
                    "changes with time. Take a point on the axis or on what stands still."
                )
        return here

    def base(self, direction: Array) -> Array:
        """-M times a unit translation of all bodies."""
        shift = np.zeros(self.system.n_v)
        for b, body in enumerate(self.system.bodies):
            k = min(body.n_v, 2 if body.kind == PLANAR else 3)
            at = int(self.system.layout.body_v[b])
            shift[at : at + k] = direction[:k]
        return -self.found.instant.mass @ shift

    def seen(self, place: Any, direction: Array) -> Array:
        """By reciprocity: a coordinate's gradient is the generalized force along it."""
        return self.force(place, direction)

    def solve(self, omegas: Array, forces: Array) -> Complex:
        """(iω - A)⁻¹ B in the state of the small motions."""
        shifts, speeds = self.found.shifts, self.found.speeds
        push = np.linalg.solve(speeds.T @ self.found.instant.mass @ speeds, speeds.T @ forces)
        right = np.vstack([np.zeros((shifts.shape[1], forces.shape[1])), push]).astype(complex)
        one, n = np.eye(len(self.found.matrix)), shifts.shape[1]
        return np.array([shifts @ np.linalg.solve(1j * w * one - self.found.matrix, right)[:n] for w in omegas])

    def stress(self, which: Any, solved: Complex, shaken: Array, omegas: Array) -> tuple[Any, Complex, bool]:
        """Of a flexible body, ``which`` = (body, set or nodes), from its elastic coordinates."""
        body, places = which if isinstance(which, tuple) and len(which) == 2 else (None, "all")
        if not isinstance(body, FlexibleBody) or body not in self.system.bodies:
            raise AnalysisError(
                "frequency_response: stress of a System is that of one of its flexible bodies, stress=(body, nodes)."
            )
        end = int(self.system.layout.body_v[self.system.bodies.index(body) + 1])
        found = stress_modes(body.reduced, places)
        field = np.einsum("pcr,fri->fipc", found.values, solved[:, end - body.modes : end])
        return found.nodes, field, found.fibre is not None

    def _frame(self, place: Any) -> Frame:
        if not isinstance(place, Frame) or place.body not in self.system.bodies:
            raise AnalysisError(
                f"frequency_response: a place on a System is a frame of one of its bodies, body.at(...), not {place!r}."
            )
        return place

    def _effect(self, state: State, force: AppliedForce) -> Array:
        still = np.zeros(self.system.n_v)
        total = []
        for forces in ([force], []):
            alone = System(self.system.bodies, (), forces)
            total.append(alone.inertia(alone.evaluate(state.t, state.q, still), still)[1])
        return np.asarray(total[0] - total[1])


def _mechanism(system: System, axis: Array, speed: float, about: Any) -> HarmonicMechanism:
    if speed:
        model = spinning_system(system, axis, False, None)
        state = steady_spin(system, speed * axis, model.spinning)
        return HarmonicMechanism(system, state, small_motions(system, state, "frequency_response", np.zeros(3)))
    state = as_state(equilibrium(system) if about is None else about, "frequency_response")
    return HarmonicMechanism(system, state, small_motions(system, state, "frequency_response"))


def _place(place: Any) -> Any:
    if isinstance(place, str | int | np.integer) or (np.ndim(place) == 1 and len(place)):
        return place
    raise AnalysisError(f"frequency_response: a place is a set, a node or a frame, not {place!r}.")
