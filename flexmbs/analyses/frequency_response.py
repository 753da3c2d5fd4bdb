"""Frequency response: steady vibration of bodies, parts and mechanisms under harmonic forces or a shaken base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.analyses.harmonic_models import HarmonicModel, harmonic_model
from flexmbs.errors import AnalysisError, FlexmbsError
from flexmbs.nullspace.readonly import frozen
from flexmbs.progress import shown
from flexmbs.results.saving import Saved
from flexmbs.rotations import axis_vector

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

EQUIVALENT = np.diag([1.0, 1.0, 1.0, 3.0, 3.0, 3.0])
"""Von Mises' form: σ_v² = σᵀ V σ, stresses xx, yy, zz, yz, zx, xy."""
EQUIVALENT[:3, :3] -= 0.5 * (1 - np.eye(3))


@dataclass(frozen=True)
class BaseMotion:
    """A base that shakes with a unit acceleration [m/s²] along a direction: the held frame, or the ground."""

    direction: str | ArrayLike

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "direction", tuple(axis_vector(self.direction).tolist()))
        except (FlexmbsError, TypeError, ValueError) as error:
            raise AnalysisError(f"BaseMotion: {error}") from None


@dataclass(frozen=True, eq=False)
class FrequencyResponse(Saved):
    """Steady response to unit harmonic inputs.

    Attributes
    ----------
    frequencies : [Hz] (frequencies,).
    response : complex displacements [m] (frequencies, outputs, inputs) per unit input (1 N, 1 m/s² of the base, or the
        load as given); those of a shaken base are relative to it. The real part goes with the input, the imaginary one
        ahead of it: x(t) = Re(response exp(iωt)).
    inputs, outputs : their names.
    stress : complex stress [Pa] (frequencies, inputs, nodes, 6) at ``nodes``, None if not asked for; of beams the
        section forces at the ends of elements.
    """

    frequencies: Array
    response: Complex
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: NDArray[np.int64] | None = None
    stress: Complex | None = None
    beams: bool = False

    def __post_init__(self) -> None:
        for name in ("frequencies", "response", "nodes", "stress"):
            if getattr(self, name) is not None:
                frozen(getattr(self, name))

    @property
    def mobility(self) -> Complex:
        """Velocities iω · response."""
        return np.asarray(2j * np.pi * self.frequencies[:, None, None] * self.response)

    @property
    def accelerance(self) -> Complex:
        """Accelerations -ω² · response (relative to the base where it shakes)."""
        return np.asarray(-((2 * np.pi * self.frequencies[:, None, None]) ** 2) * self.response)

    def of(self, output: str, input: str | None = None) -> Complex:
        """One response over the frequencies, (frequencies,), by the names of its output and input."""
        if output not in self.outputs:
            raise AnalysisError(f"no output {output!r}; there are {', '.join(self.outputs)}.")
        if input is None and len(self.inputs) == 1:
            input = self.inputs[0]
        if input not in self.inputs:
            raise AnalysisError(f"no input {input!r}; there are {', '.join(self.inputs)}.")
        return self.response[:, self.outputs.index(output), self.inputs.index(input)]

    @property
    def von_mises(self) -> Array:
        """Largest von Mises stress over a cycle [Pa], (frequencies, inputs, nodes)."""
        if self.stress is None or self.beams:
            raise AnalysisError("von_mises: ask for stress= of a solid or plane body.")
        a, b = self.stress.real, self.stress.imag
        aa, bb, ab = (np.einsum("...i,ij,...j->...", x, EQUIVALENT, y) for x, y in ((a, a), (b, b), (a, b)))
        return np.asarray(np.sqrt((aa + bb) / 2 + np.sqrt(((aa - bb) / 2) ** 2 + ab**2)))

    def __repr__(self) -> str:
        f = self.frequencies
        return (
            f"<FrequencyResponse: {len(self.outputs)} outputs, {len(self.inputs)} inputs, {len(f)} frequencies from "
            f"{f.min():.4g} to {f.max():.4g} Hz>"
        )


@shown("frequency response")
def frequency_response(
    model: Any,
    frequencies: ArrayLike,
    input: Any,
    output: Any = (),
    *,
    stress: Any = None,
    damping: Any = None,
    spin: ArrayLike | None = None,
    fixed: Any = None,
    modes: int | None = None,
    about: Any = None,
) -> FrequencyResponse:
    """Steady response of a body, a part or a mechanism to unit harmonic inputs.

    Parameters
    ----------
    model : a FlexibleBody (or ReducedPart) that is fixed, Elements with ``fixed=``, or a System.
    frequencies : [Hz], zero or more.
    input : one or a list of: a pair (place, direction) for a unit force; ``BaseMotion(direction)``; a load (Force,
        Pressure, ...) on a body or part. A place is a set, a node, or a frame (``body.at(...)``; always for a System).
    output : one or a list of places, whose displacements along x, y, z are given, or of pairs (place, direction).
    stress : set or nodes of a body or part at which stress is given; of a System (flexible body, set or nodes).
    damping : instead of the body's own: Rayleigh, ModalDamping or one ratio; of all nodes (Elements) Rayleigh only.
    spin : angular velocity Ω [rad/s] (3,). Bodies and parts are then seen in the turning frame, forces and base motion
        too; a System with all its bodies spinning about an axis through the origin is seen from the ground.
    modes : for Elements: so many modes at rest with the static response of the others, instead of solving for all
        nodes at each frequency; damping may then be ModalDamping or one ratio.
    about : for a System: a State at rest or in a steady motion, as for ``modes``.
    """
    f = _frequencies(frequencies)
    found: HarmonicModel = harmonic_model(model, damping, spin, fixed, modes, about)
    inputs, outputs = _listed(input), _listed(output)
    if not inputs:
        raise AnalysisError('frequency_response: give an input, e.g. ("tip", "z") or BaseMotion("z").')
    if not outputs and stress is None:
        raise AnalysisError('frequency_response: give an output, e.g. "tip" or ("tip", "z"), or stress=.')
    columns, names, shaken = [], [], []
    for one in inputs:
        base = isinstance(one, BaseMotion)
        direction = np.asarray(one.direction) if base else np.zeros(3)
        columns.append(found.base(direction) if base else found.force(*_pair(one, found)))
        names.append(f"base {_said(direction)}" if base else _name(one))
        shaken.append(direction)
    rows, said = [], []
    for one in outputs:
        place, along = _pair(one, found) if isinstance(one, tuple) else (one, None)
        for direction in [along] if along is not None else list(np.eye(3)[: found.axes]):
            rows.append(found.seen(place, direction))
            said.append(f"{_place(place)} {_said(direction)}")
    solved = found.solve(2 * np.pi * f, np.column_stack(columns))  # (frequencies, coordinates, inputs)
    shape = (len(f), len(rows), len(inputs))
    response = np.einsum("on,fni->foi", np.array(rows), solved) if rows else np.zeros(shape, dtype=complex)
    nodes, field, beams = None, None, False
    if stress is not None:
        nodes, field, beams = found.stress(stress, solved, np.array(shaken), 2 * np.pi * f)
    return FrequencyResponse(f, response, tuple(names), tuple(said), nodes, field, beams)


def _frequencies(given: ArrayLike) -> Array:
    try:
        f = np.atleast_1d(np.array(given, dtype=float))
    except (TypeError, ValueError):
        f = np.zeros(0)
    if f.ndim != 1 or not len(f) or not np.isfinite(f).all() or (f < 0).any():
        raise AnalysisError(f"frequency_response: frequencies are numbers [Hz], zero or more, not {given!r}.")
    return f


def _listed(given: Any) -> list[Any]:
    """One input or output, or a list of them; a pair is one."""
    return list(given) if isinstance(given, list) else [] if isinstance(given, tuple) and not given else [given]


def _pair(given: Any, model: HarmonicModel) -> tuple[Any, Array | None]:
    """Place and direction; a load has none."""
    if isinstance(given, tuple) and len(given) == 2:
        try:
            return given[0], axis_vector(given[1])
        except (FlexmbsError, TypeError, ValueError) as error:
            raise AnalysisError(f"frequency_response: {error}") from None
    if model.is_load(given):
        return given, None
    raise AnalysisError(
        f"frequency_response: an input is a pair (place, direction), BaseMotion or a load; an output a place or a "
        f"pair (place, direction); not {given!r}."
    )


def _place(place: Any) -> str:
    return f"node {place}" if isinstance(place, int | np.integer) else str(place)


def _name(one: Any) -> str:
    return f"{_place(one[0])} {_said(axis_vector(one[1]))}" if isinstance(one, tuple) else type(one).__name__


def _said(direction: Sequence[float] | Array) -> str:
    for k, name in enumerate("xyz"):
        if np.allclose(np.abs(direction), np.eye(3)[k]):
            return name if direction[k] > 0 else f"-{name}"
    return "(" + ", ".join(f"{x:.3g}" for x in direction) + ")"
