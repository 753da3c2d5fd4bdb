"""Implicit steps beside Exudyn in one process: what the benchmarks of mechanisms share.

Same mechanism, same step, generalized-alpha with spectral radius 0.8 in both. Exudyn runs with the settings that are
best for it: its fast module, no files, one thread, relative tolerance 1e-6, modified Newton, and of the dense and the
sparse solver, with and without a new Jacobian at every step, whichever is fastest for the mechanism at hand. The two
run by turns, and times are of the processor, the least of all turns; what one step takes, with all that comes before
it, is taken off both. Both motions must end in the same place. Needs Exudyn (PyPI: exudyn).
"""

from __future__ import annotations

import itertools
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from table import Row

from flexmbs.integrators.generalized_alpha import GeneralizedAlpha
from flexmbs.system.system import System

sys.exudynFast = True  # type: ignore[attr-defined]  # read by Exudyn when it is imported
warnings.simplefilter("ignore", DeprecationWarning)  # Exudyn's own, about names of its settings
import exudyn as exu  # noqa: E402

STEP = 1e-3
AGREE = 1e-5
"""How far apart the two may end, in what the last body has moved."""
SOLVERS = (exu.LinearSolverType.EXUdense, exu.LinearSolverType.EigenSparse)

Built = tuple[Any, Any, int]  # container, system, number of the body that is looked at


@dataclass(frozen=True)
class Case:
    """A mechanism built in both; the last body of ours and the body named by ``theirs`` are the same."""

    name: str
    size: str
    steps: int
    ours: Callable[[], System]
    theirs: Callable[[], Built]
    note: str = ""
    wanted: str = ">= 5"
    our_place: Callable[[np.ndarray], np.ndarray] | None = None  # what is looked at, from q; else the last body
    their_place: Callable[[Any, int], np.ndarray] | None = None


def settings(steps: int, step: float, choice: tuple[Any, bool]) -> Any:
    """Exudyn's settings, with the solver and whether the Jacobian is new at every step."""
    s = exu.SimulationSettings()
    s.timeIntegration.endTime, s.timeIntegration.numberOfSteps = steps * step, steps
    s.timeIntegration.generalizedAlpha.spectralRadius = 0.8
    s.timeIntegration.newton.useModifiedNewton = True
    s.timeIntegration.newton.modifiedNewtonJacUpdatePerStep = choice[1]
    s.timeIntegration.newton.relativeTolerance = 1e-6
    s.timeIntegration.verboseMode = 0
    s.solutionSettings.writeSolutionToFile = False
    s.linearSolverType = choice[0]
    s.linearSolverSettings.reuseAnalyzedPattern = True
    s.parallel.numberOfThreads = 1
    return s


def body_place(mbs: Any, body: int) -> np.ndarray:
    """Where a rigid body of Exudyn is."""
    return np.array(mbs.GetObjectOutputBody(body, exu.OutputVariableType.Position, [0, 0, 0]))


def run_theirs(
    build: Callable[[], Built], chosen: Any, place: Callable[[Any, int], np.ndarray] | None = None
) -> tuple[float, np.ndarray]:
    """Processor time [s] and where the body ends."""
    container, mbs, last = build()
    start = time.process_time()
    mbs.SolveDynamic(chosen)
    spent = time.process_time() - start
    found = (place or body_place)(mbs, last)
    del container
    return spent, found


def run_ours(
    system: System, steps: int, step: float, place: Callable[[np.ndarray], np.ndarray] | None = None
) -> tuple[float, np.ndarray]:
    """The same of flexmbs."""
    start = time.process_time()
    history, outcome, _ = GeneralizedAlpha(rho_inf=0.8).run(system, system.initial, steps * step, step, steps)
    spent = time.process_time() - start
    assert outcome == "finished", outcome
    if place is not None:
        return spent, place(history.q[-1])
    q = history.q[-1][system.layout.body_q[-2] :]
    return spent, q[:3] if len(q) == 7 else np.append(q[:2], 0.0)


def fastest(case: Case, velocities: int) -> tuple[Any, bool]:
    """The choice of settings that takes Exudyn the least time; a dense solver of large systems would take minutes."""
    build, place = case.theirs, case.their_place
    choices = list(itertools.product(SOLVERS if velocities < 200 else SOLVERS[1:], (True, False)))
    steps = max(5, case.steps // 4)
    return min(choices, key=lambda c: min(run_theirs(build, settings(steps, STEP, c), place)[0] for _ in range(2)))


def row(case: Case, repeat: int) -> Row:
    """The case measured; stops where the two disagree."""
    system = case.ours()
    place_of, their_place_of = case.our_place, case.their_place
    start = run_ours(system, 1, STEP, place_of)[1]
    choice = fastest(case, system.n_v)
    ours, theirs, begin, their_begin = [], [], [], []
    for _ in range(repeat):
        begin.append(run_ours(system, 1, STEP, place_of)[0])
        their_begin.append(run_theirs(case.theirs, settings(1, STEP, choice), their_place_of)[0])
        spent, place = run_ours(system, case.steps, STEP, place_of)
        ours.append(spent)
        spent, their_place = run_theirs(case.theirs, settings(case.steps, STEP, choice), their_place_of)
        theirs.append(spent)
    count = case.steps - 1
    mine = (np.array(ours) - min(begin)) / count
    peer = (np.array(theirs) - min(their_begin)) / count
    miss = float(np.abs(place - their_place).max() / np.abs(place - start).max())
    if miss > AGREE:
        raise SystemExit(f"{case.name}, {case.size}: the two motions differ by {miss:.2g} of what the last body moved")
    solver = "sparse" if choice[0] == exu.LinearSolverType.EigenSparse else "dense"
    return Row(
        case.name, case.size, "Exudyn's time / ours, a step", peer.min() / mine.min(), case.wanted,
        mine.min() * 1e6, peer.min() * 1e6,
        f"turns {(peer / mine).min():.1f} to {(peer / mine).max():.1f}; differ by {miss:.0e}; {solver}, Jacobian "
        f"{'per step' if choice[1] else 'when needed'}{'; ' + case.note if case.note else ''}",
        "µs",
    )  # fmt: skip
