"""Elastodynamics: the rigid motion is known, only the elastic motion about it is solved for."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.analyses.elastic_body import frame_factors, moved, moving_body, response
from flexmbs.analyses.elastic_mechanism import MovedMechanism, deviations, motion_of, rigid_history
from flexmbs.analyses.elastic_response import ElasticResponse
from flexmbs.analyses.rigid_motion import RigidMotion
from flexmbs.bodies.body import vector
from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.errors import AnalysisError, ModelError
from flexmbs.fem.elements import Elements
from flexmbs.given import number
from flexmbs.integrators.newmark import LinearMethod, LinearMotion, Newmark, at_rest, periodic, quasi_static
from flexmbs.progress import Progress
from flexmbs.results import Result
from flexmbs.system.system import System

Array = NDArray[np.float64]

STARTS = ("undeformed", "deformed", "periodic")
REPEATS = 1e-4
"""Largest difference, relative to their size, of the loads at both ends of a cycle."""


def elastodynamics(
    model: System | FlexibleBody | Elements,
    rigid: Result | RigidMotion | Mapping[Any, RigidMotion],
    *,
    step: float,
    t_end: float | None = None,
    supports: Any = None,
    gravity: ArrayLike | None = None,
    loads: Mapping[str, Any] | None = None,
    start: str = "undeformed",
    integrator: LinearMethod | None = None,
    output_step: float | None = None,
    full_order: bool = False,
) -> Any:
    """Elastic motion of a mechanism, or of one body, about a rigid motion that is known.

    The equations are linear in the elastic coordinates: with C(ω), K(ω), K(ε), geometric stiffening by inertia, joint
    and applied forces; the error against forward_dynamics falls with the deflection.

    Parameters
    ----------
    model : a System gives a Result; a FlexibleBody (or Elements: every node) gives an ElasticResponse.
    rigid : of a System the Result of kinematics or forward_dynamics of the same mechanism with rigid bodies of the same
        names, or a RigidMotion for each body. Of one body a RigidMotion, or a Result in which it moves.
    step, t_end : of the integrator; the end is that of ``rigid`` where it has one.
    supports : of one body: sets, nodes or {set: components} that do not move in its frame, beside what is fixed.
    gravity, loads : of one body: (3,) in global axes; {name: function of time} of its named loads.
    start : "undeformed" at rest, "deformed" quasi-statically so that nothing rings, or "periodic": the steady motion
        over one cycle, which is the time from beginning to end.
    integrator : Newmark(alpha) (default, α = 0), or ModalSuperposition() where nothing changes with time.
    output_step : of what is kept, a multiple of ``step``.
    full_order : of one body: all of its nodes, sparse.
    """
    method = Newmark() if integrator is None else integrator
    if not isinstance(method, LinearMethod):
        raise AnalysisError(f"elastodynamics: integrator is Newmark() or ModalSuperposition(), not {integrator!r}.")
    if start not in STARTS:
        raise AnalysisError(f"elastodynamics: start is one of {', '.join(map(repr, STARTS))}, not {start!r}.")
    if isinstance(model, System):
        given = {"supports": supports, "gravity": gravity, "loads": loads, "full_order": full_order or None}
        wrong = [name for name, value in given.items() if value is not None]
        if wrong:
            raise AnalysisError(f"elastodynamics: {wrong[0]}= is for one body; a System has its own joints and forces.")
        return _of_system(model, rigid, step, t_end, output_step, start, method)
    if not isinstance(model, FlexibleBody | Elements):
        raise AnalysisError(f"elastodynamics: a System or a FlexibleBody is needed, not {type(model).__name__}.")
    return _of_body(model, rigid, step, t_end, output_step, start, method, supports, gravity, loads, full_order)


def _of_system(
    system: System, rigid: Any, step: Any, t_end: Any, output_step: Any, start: str, method: LinearMethod
) -> Result:
    began = time.perf_counter()
    if not system.elastic.any():
        raise AnalysisError("elastodynamics: no body of the system is flexible.")
    if isinstance(rigid, Result):
        if len(rigid.t) < 4:
            raise AnalysisError(f"elastodynamics: the rigid motion has {len(rigid.t)} instants; give at least four.")
        first, last = float(rigid.t[0]), float(rigid.t[-1])
    elif isinstance(rigid, Mapping) and rigid:
        first, last = 0.0, min((getattr(m, "end", np.nan) for m in rigid.values()), default=np.nan)
    else:
        raise AnalysisError(
            "elastodynamics: the rigid motion of a system is a Result of it with rigid bodies, or a RigidMotion for "
            f"each body by name, not {type(rigid).__name__}."
        )
    times, every = _grid(first, last, t_end, step, output_step)
    history = rigid_history(system, rigid, times)
    given = deviations(history)
    repeats = start == "periodic" and times[-1] == history.curve.t[-1]
    problem = MovedMechanism(given, times, repeats)
    kept, y, rate, rate2 = _solved(problem, method, start, times, every)
    q, v, accelerations, multipliers, angles = motion_of(history, given, kept, y, rate, rate2, repeats)
    seconds = time.perf_counter() - began
    return Result(
        system, kept, q, v, accelerations, multipliers, angles, counters={"steps": problem.steps}, wall_time=seconds
    )


def _of_body(
    body: FlexibleBody | Elements, rigid: Any, step: Any, t_end: Any, output_step: Any, start: str,
    method: LinearMethod, supports: Any, gravity: Any, loads: Any, full_order: bool,
) -> ElasticResponse:  # fmt: skip
    began = time.perf_counter()
    name = body.mesh.name if isinstance(body, Elements) else body.name
    if isinstance(rigid, Result):
        rigid = RigidMotion.of(rigid, name)
    if not isinstance(rigid, RigidMotion):
        raise AnalysisError(f"elastodynamics: the motion of one body is a RigidMotion, not {type(rigid).__name__}.")
    if loads is not None and not isinstance(loads, Mapping):
        raise AnalysisError(f"elastodynamics: loads is {{name: function of time}}, not {loads!r}.")
    try:
        pull = None if gravity is None else vector(gravity, 3, "elastodynamics: gravity")
    except ModelError as error:
        raise AnalysisError(str(error)) from error
    times, every = _grid(0.0, rigid.end, t_end, step, output_step)
    terms = rigid.terms(times, pull)
    held = moving_body(body, supports, bool(full_order), np.any(frame_factors(terms) != 0.0, axis=0))
    problem, factors = moved(held, times, terms, loads)
    kept, *found = _solved(problem, method, start, times, every)
    some = slice(None, None, every)
    return response(
        held, kept, (found[0], found[1], found[2]), (terms[0][some], terms[1][some], terms[2][some]), factors[some],
        time.perf_counter() - began, problem.steps,
    )  # fmt: skip


def _grid(first: float, last: float, t_end: Any, step: Any, output_step: Any) -> tuple[Array, int]:
    """Times of the steps, and every how many one is kept."""
    end, h = last if t_end is None else number(t_end), number(step)
    if t_end is None and not np.isfinite(end):
        raise AnalysisError("elastodynamics: say until when, t_end=...; the rigid motion has no end of its own.")
    if not (np.isfinite(end) and first < end <= last * (1 + 1e-12)):
        known = f"after {first:.6g} s" + (f" and at most {last:.6g} s" if np.isfinite(last) else "")
        raise AnalysisError(f"elastodynamics: t_end must be {known}, where the rigid motion is known, not {t_end!r}.")
    if not 0 < h <= (end - first) * (1 + 1e-9):
        raise AnalysisError(f"elastodynamics: step must be positive and at most {end - first:.6g} s, not {step!r}.")
    count = max(1, round((end - first) / h))
    if abs(count * h - (end - first)) > 1e-6 * (end - first):
        count = int(np.ceil((end - first) / h))  # a little shorter, so that the end is met
    times = np.linspace(first, end, count + 1)
    every = 1 if output_step is None else round(number(output_step) / h) if np.isfinite(number(output_step)) else 0
    if every < 1 or (output_step is not None and abs(every * h - number(output_step)) > 1e-6 * number(output_step)):
        raise AnalysisError(f"elastodynamics: output_step must be a multiple of step {step!r}, not {output_step!r}.")
    return times, every


def _solved(
    problem: LinearMotion, method: LinearMethod, start: str, times: Array, every: int
) -> tuple[Array, Array, Array, Array]:
    """Times kept, and y, y', y'' at them."""
    if start == "periodic":
        _refuse_other_cycle(problem)
        begin = periodic(method, problem)
    else:
        begin = quasi_static(problem) if start == "deformed" else at_rest(problem)
    with Progress("elastodynamics", 0.0, problem.steps + 1) as progress:
        found = [m for k, m in enumerate(progress.each(method.motions(problem, begin))) if k % every == 0]
    y, v, a = (np.array(column) for column in list(zip(*found, strict=True))[:3])
    return times[::every], y, v, a


def _refuse_other_cycle(problem: LinearMotion) -> None:
    first, last = problem.end_loads()
    largest = max(
        float(np.abs(problem.load(k)).max()) for k in range(0, problem.steps + 1, max(1, problem.steps // 16))
    )
    if np.abs(first - last).max() > REPEATS * largest:
        raise AnalysisError(
            "elastodynamics: the loads at the end differ from those at the beginning; for a steady periodic motion the "
            "time from beginning to end must be one cycle."
        )
