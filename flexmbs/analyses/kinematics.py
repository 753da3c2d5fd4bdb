"""Kinematics and inverse dynamics of driven mechanisms: positions, velocities, accelerations and what they take."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.analyses.forward_dynamics import forward_dynamics
from flexmbs.analyses.quasi_static import quasi_static, settled
from flexmbs.equations import Solution
from flexmbs.errors import AnalysisError
from flexmbs.formulations import Formulation, Maggi
from flexmbs.progress import Progress
from flexmbs.results import Result
from flexmbs.system.free_motions import elastic_places
from flexmbs.system.placing import FITS
from flexmbs.system.reactions import least_multipliers
from flexmbs.system.saddle import accelerations as saddle_accelerations
from flexmbs.system.saddle import least
from flexmbs.system.state import State
from flexmbs.system.system import System

Array = NDArray[np.float64]

TOLERANCE = 1e-12
ITERATIONS = 30


def accelerations(
    system: System,
    t: float,
    q: ArrayLike,
    v: ArrayLike,
    formulation: Formulation | None = None,
    angles: Array | None = None,
) -> Solution:
    """Accelerations, multipliers and reactions of a mechanism at one instant, by any formulation (Maggi by default)."""
    _check_system(system)
    if formulation is not None:
        _check_formulation(formulation)
    v = system._sized(v, system.n_v, "v")
    equations = system.equations(t, np.asarray(q), v, angles)
    return (formulation or Maggi()).solve(equations)


def _check_system(system: Any) -> None:
    if not isinstance(system, System):
        raise AnalysisError(f"a System is needed, not {type(system).__name__}.")


def _check_formulation(formulation: Any) -> None:
    if isinstance(formulation, type) or not hasattr(formulation, "solve"):
        raise AnalysisError(f"formulation must be one such as Maggi(), not {formulation!r}.")


def kinematics(system: System, times: ArrayLike) -> Result:
    """Motion of a mechanism whose drives determine it: one closed position per instant, then linear solves.

    Flexible bodies are not deformed: what deforms them are forces, see ``inverse_dynamics``.
    """
    return _driven(system, times, None, forces=False)


def inverse_dynamics(
    system: System,
    times: ArrayLike,
    formulation: Formulation | None = None,
    *,
    elastic: str = "quasi_static",
    step: float | None = None,
) -> Result:
    """What it takes to drive a mechanism along its prescribed motion: ``reaction`` of drives and joints.

    One linear solve per instant; by default along the joint graph, or by the formulation given (all agree).

    With flexible bodies the drives need to determine the mechanism with deformation locked. ``elastic``:
    "quasi_static": bodies are deformed by the loads of the rigid motion, whose reactions they carry, at each instant by
    itself (d' = d'' = 0); "vibrating": the motion is integrated from a quasi-static start at the first of the times,
    with steps of ``step`` (a thousandth of the time by default), so that drives and joints feel the
    vibration too.
    """
    if elastic not in ("quasi_static", "vibrating"):
        raise AnalysisError(f'inverse_dynamics: elastic is "quasi_static" or "vibrating", not {elastic!r}.')
    flexible = isinstance(system, System) and bool(system.elastic.any())
    if step is not None and not (flexible and elastic == "vibrating"):
        raise AnalysisError('inverse_dynamics: step belongs to elastic="vibrating" of flexible bodies.')
    if not flexible:
        return _driven(system, times, formulation, forces=True)
    if formulation is not None:
        raise AnalysisError("inverse_dynamics: with flexible bodies there is one balance of forces; no formulation=.")
    if elastic == "quasi_static":
        return _carried(system, times)
    instants, began = _instants(times), time.perf_counter()
    _refuse_underdriven(system.rigid())
    first = _lifted(system, _driven(system.rigid(), instants[:1], None, forces=False))
    if len(instants) == 1:
        return _carried(system, instants)
    start = quasi_static(system, first)
    h = (instants[-1] - instants[0]) / 1000 if step is None else step
    motion = forward_dynamics(system, float(instants[-1]), h, start=start)
    if motion.outcome != "finished":
        raise AnalysisError(f"inverse_dynamics: the motion could not be integrated: {motion.outcome}")
    return replace(motion.at(instants), wall_time=time.perf_counter() - began)


def _carried(system: System, times: ArrayLike) -> Result:
    """Inverse dynamics with bodies deformed by the loads of the rigid motion."""
    began = time.perf_counter()
    motion = kinematics(system, times)
    bent, still = elastic_places(system), np.zeros((2, int(np.count_nonzero(system.elastic))))
    columns, shape = [], still[0]
    states = zip(motion.t, motion.q, motion.v, motion.angles, strict=True)
    with Progress("inverse dynamics", 0.0, len(motion.t)) as progress:
        for t, q, v, angles in progress.each(states):
            q = q.copy()
            q[bent] = shape
            state, rate, multipliers = settled(system, State(float(t), q, v, angles), still)
            shape = state.q[bent]
            columns.append((state.q, state.v, rate, multipliers, state.angles))
    q, v, rates, multipliers, angles = (np.array(c) for c in zip(*columns, strict=True))
    shared = least_multipliers(system, zip(motion.t, q, v, angles, strict=True), multipliers)
    return Result(system, motion.t, q, v, rates, shared, angles, wall_time=time.perf_counter() - began)


def _lifted(system: System, rigid: Result) -> Result:
    """A result of the mechanism with deformation locked as one of the mechanism itself, undeformed."""
    q = np.zeros((len(rigid.t), system.n_q))
    v, rate = np.zeros((2, len(rigid.t), system.n_v))
    q[:, ~elastic_places(system)] = rigid.q
    v[:, ~system.elastic], rate[:, ~system.elastic] = rigid.v, rigid.rate
    return replace(rigid, system=system, q=q, v=v, rate=rate)


def _instants(times: ArrayLike) -> Array:
    try:
        instants = np.atleast_1d(np.asarray(times, dtype=float))
    except (TypeError, ValueError):
        raise AnalysisError(f"times must be a list of numbers, not {times!r}.") from None
    if instants.ndim != 1 or not len(instants) or not np.isfinite(instants).all():
        raise AnalysisError(f"times must be a list of numbers, not of shape {np.shape(times)}.")
    if np.any(np.diff(instants) <= 0):
        raise AnalysisError("times must increase.")
    return instants


def _driven(system: System, times: ArrayLike, formulation: Formulation | None, forces: bool) -> Result:
    _check_system(system)
    if formulation is not None:
        _check_formulation(formulation)
    instants = _instants(times)
    if system.elastic.any():
        return _lifted(system, _driven(system.rigid(), instants, None, forces=False))
    began = time.perf_counter()
    _refuse_underdriven(system)
    state = system.initial
    columns: list[tuple[Any, ...]] = []
    with Progress("kinematics", 0.0, len(instants)) as progress:
        for t in progress.each(instants):
            state = _moved(system, state, float(t))
            work = system.evaluate(state.t, state.q, state.v, state.angles)
            if forces and formulation is not None:
                solution = formulation.solve(system.equations(state.t, state.q, state.v, state.angles))
                rate, multipliers = solution.accelerations, solution.multipliers
            else:
                rate, multipliers = saddle_accelerations(*system.independent, state.v, work)
            columns.append(
                (state.q, state.v, rate, multipliers if forces else np.zeros_like(multipliers), state.angles)
            )
    q, v, rates, all_multipliers, angles = (np.array(c) for c in zip(*columns, strict=True))
    if forces and formulation is None:
        all_multipliers = least_multipliers(system, zip(instants, q, v, angles, strict=True), all_multipliers)
    seconds = time.perf_counter() - began
    return Result(system, instants, q, v, rates, all_multipliers, angles, wall_time=seconds, forces_known=forces)


def _moved(system: System, state: State, t: float) -> State:
    """The closed position and velocities at another time, near the state given; long ways in several stages."""
    stages = max(1, int(np.ceil(_turning(system, state, t) / 0.3)))
    for k in range(1, stages + 1):
        state = _closed(system, state, state.t + (t - state.t) * (1.0 / (stages - k + 1)))
    return state


def _turning(system: System, state: State, t: float) -> float:
    """How far the mechanism moves until t, in radians or in its own size."""
    reach = np.abs(state.v * system.length_weights).max(initial=0.0) / system.walked[1]
    rows = slice(0, len(system.rows))
    ahead = np.abs(system.prescribed(t)[rows, 0] - system.prescribed(state.t)[rows, 0]).max(initial=0.0)
    return float(max(reach * abs(t - state.t), ahead))


def _closed(system: System, state: State, t: float) -> State:
    weights = system.length_weights**2
    q = system.retract(state.q, (t - state.t) * state.v)
    angles = state.angles
    error, active = np.inf, system.independent[2].row_active
    for _ in range(ITERATIONS):
        work = system.evaluate(t, q, state.v, angles)
        error = float(np.abs(work.phi[active]).max(initial=0.0))
        if error <= TOLERANCE * max(1.0, system.walked[1]):
            break
        q = system.retract(q, least(*system.independent, weights, work, -work.phi))
    error = max(error, float(np.abs(work.phi).max(initial=0.0)) - FITS * system.walked[1])  # of redundant rows
    if error > TOLERANCE * max(1.0, system.walked[1]):
        row = int(np.argmax(np.abs(work.phi)))
        raise AnalysisError(
            f"the mechanism cannot follow its drives at t = {t:.6g} s: {system.labels[row]} misses by {error:.3g}. "
            "A limit of its motion or a singular position lies there."
        )
    work = system.evaluate(t, q, np.zeros(system.n_v), angles)
    v = least(*system.independent, weights, work, -work.phi_rate)
    return State(t, q, v, work.measure.copy())


def _refuse_underdriven(system: System) -> None:
    mobility = system.mobility
    if not system.holonomic.all():
        label = system.labels[int(np.argmin(system.holonomic))]
        raise AnalysisError(
            f"{label} is a relation of velocities: where the mechanism is depends on how it got there, so that no "
            "instant can be computed by itself. Use forward_dynamics."
        )
    if mobility > 0:
        raise AnalysisError(
            f"the drives leave {mobility} motion{'s' if mobility > 1 else ''} of the mechanism free: kinematics and "
            "inverse dynamics need them all prescribed (Drive), or use forward_dynamics."
        )
