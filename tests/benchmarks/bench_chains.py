"""Implicit steps of chains and of a slider-crank: flexmbs beside Exudyn, in one process.

    python tests/benchmarks/bench_chains.py [--bodies 3 10 100 1000] [--repeat 5]

Same mechanism, same step, generalized-alpha with spectral radius 0.8 in both. Exudyn runs with the settings that are
best for it: its fast module, no files, one thread, a sparse solver that keeps its pattern from ten bodies on and a
dense one below, modified Newton with an update at every step up to ten bodies, relative tolerance 1e-6. Both motions
must end in the same place to 1e-5 of what the last body has moved. Times are of the processor, the least of several
runs, without setting up. Needs Exudyn (PyPI: exudyn).
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from flexmbs.bodies import Ground, PlanarBody, RigidBody
from flexmbs.fem.loads import Gravity
from flexmbs.integrators.generalized_alpha import GeneralizedAlpha
from flexmbs.joints import planar, spatial
from flexmbs.system.system import System

sys.exudynFast = True  # type: ignore[attr-defined]  # read by Exudyn when it is imported
warnings.simplefilter("ignore", DeprecationWarning)  # Exudyn's own, about names of its settings
import exudyn as exu  # noqa: E402
import exudyn.itemInterface as items  # noqa: E402
from exudyn.utilities import InertiaCuboid  # noqa: E402

STEP = 1e-3
SIDES = (1.0, 0.1, 0.1)
DENSITY = 1000.0
G = (0.0, 0.0, -9.81)
STEPS = {3: 1000, 10: 500, 100: 200, 1000: 50}


# ---- chains ----


def our_chain(count: int, kind: str) -> System:
    """A horizontal chain of rods, hung up at one end."""
    ground = Ground()
    bodies = [RigidBody.box(f"rod {k}", SIDES, DENSITY) for k in range(count)]
    ends = [ground.at(0, 0, 0), *(b.at(0.5, 0, 0) for b in bodies)]
    starts = [b.at(-0.5, 0, 0) for b in bodies]
    pairs = list(zip(ends[:-1], starts, strict=True))
    joints = [
        spatial.Revolute(f"hinge {k}", i, j, axis="y") if kind == "revolute" else spatial.Spherical(f"ball {k}", i, j)
        for k, (i, j) in enumerate(pairs)
    ]
    return System([ground, *bodies], joints, [Gravity(G)])


def their_chain(count: int, kind: str) -> tuple[Any, Any, int]:
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    last = mbs.CreateGround(referencePosition=[0, 0, 0])
    inertia = InertiaCuboid(density=DENSITY, sideLengths=list(SIDES))
    for k in range(count):
        body = mbs.CreateRigidBody(referencePosition=[0.5 + k, 0, 0], inertia=inertia, gravity=list(G))
        pair, place = [last, body], [float(k), 0, 0]
        if kind == "revolute":
            mbs.CreateRevoluteJoint(bodyNumbers=pair, position=place, axis=[0, 1, 0], useGlobalFrame=True)
        else:
            mbs.CreateSphericalJoint(bodyNumbers=pair, position=place)
        last = body
    mbs.Assemble()
    return container, mbs, last


# ---- planar slider-crank ----


def our_crank() -> System:
    """Crank 0.5, rod 1.0; falls from 45 degrees."""
    ground, angle = Ground(), np.pi / 4
    crank = PlanarBody("crank", 1.0, 0.02, position=(0, 0), angle=angle, center=(0.25, 0.0))
    rod = PlanarBody("rod", 2.0, 0.15, center=(0.5, 0.0), angle=-np.arcsin(0.5 * np.sin(angle)))
    slider = PlanarBody("slider", 1.0, 0.01)
    joints = [
        planar.Revolute("shaft", ground.at(0, 0), crank.at(0, 0)),
        planar.Revolute("crank pin", crank.at(0.5, 0), rod.at(0, 0)),
        planar.Revolute("wrist pin", rod.at(1.0, 0), slider.at(0, 0)),
        planar.Prismatic("rail", ground.at(0, 0), slider.at(0, 0), axis="x"),
    ]
    return System([ground, crank, rod, slider], joints, [Gravity((0.0, -9.81, 0.0))])


def their_crank() -> tuple[Any, Any, int]:
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    angle = np.pi / 4
    tilt = -np.arcsin(0.5 * np.sin(angle))
    pin = 0.5 * np.array([np.cos(angle), np.sin(angle)])
    end = pin + np.array([np.cos(tilt), np.sin(tilt)])
    ground = mbs.AddObject(items.ObjectGround())
    bodies = []
    for mass, inertia, at, turn in (
        (1.0, 0.02, pin / 2, angle), (2.0, 0.15, (pin + end) / 2, tilt), (1.0, 0.01, end, 0.0),
    ):  # fmt: skip
        node = mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=[at[0], at[1], turn]))
        bodies.append(mbs.AddObject(items.ObjectRigidBody2D(physicsMass=mass, physicsInertia=inertia, nodeNumber=node)))
        marker = mbs.AddMarker(items.MarkerBodyMass(bodyNumber=bodies[-1]))
        mbs.AddLoad(items.LoadMassProportional(markerNumber=marker, loadVector=[0, -9.81, 0]))

    def at(body: int, x: float) -> int:
        return mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=body, localPosition=[x, 0, 0]))

    crank, rod, slider = bodies
    for first, second in (
        (at(ground, 0), at(crank, -0.25)),
        (at(crank, 0.25), at(rod, -0.5)),
        (at(rod, 0.5), at(slider, 0)),
    ):
        mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=[first, second]))
    mbs.AddObject(
        items.ObjectJointPrismatic2D(
            markerNumbers=[at(ground, 0), at(slider, 0)], axisMarker0=[1, 0, 0], normalMarker1=[0, 1, 0]
        )
    )
    mbs.Assemble()
    return container, mbs, slider


# ---- timing ----


def settings(steps: int, count: int) -> Any:
    """Exudyn's best settings for a chain of ``count`` bodies."""
    s = exu.SimulationSettings()
    s.timeIntegration.endTime, s.timeIntegration.numberOfSteps = steps * STEP, steps
    s.timeIntegration.generalizedAlpha.spectralRadius = 0.8
    s.timeIntegration.newton.useModifiedNewton = True
    s.timeIntegration.newton.modifiedNewtonJacUpdatePerStep = count <= 10
    s.timeIntegration.newton.relativeTolerance = 1e-6
    s.timeIntegration.verboseMode = 0
    s.solutionSettings.writeSolutionToFile = False
    s.linearSolverType = exu.LinearSolverType.EigenSparse if count >= 10 else exu.LinearSolverType.EXUdense
    s.linearSolverSettings.reuseAnalyzedPattern = True
    s.parallel.numberOfThreads = 1
    return s


def least(run: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """Least processor time of several runs [s], and the last answer."""
    best, answer = np.inf, None
    for _ in range(repeat):
        start = time.process_time()
        answer = run()
        best = min(best, time.process_time() - start)
    return best, answer


def time_ours(system: System, steps: int, repeat: int) -> tuple[float, np.ndarray]:
    """Microseconds per step, and where the last body ends."""
    method, start = GeneralizedAlpha(rho_inf=0.8), system.initial

    def run(n: int) -> Any:
        return method.run(system, start, n * STEP, STEP, n)

    run(1)
    begin, _ = least(lambda: run(1), repeat)
    total, (history, outcome, _) = least(lambda: run(steps), repeat)
    assert outcome == "finished", outcome
    q = history.q[-1][system.layout.body_q[-2] :]
    return (total - begin) / (steps - 1) * 1e6, q[:2] if system.layout.n_v < 12 else q[:3]


def time_theirs(
    build: Callable[[], tuple[Any, Any, int]], steps: int, count: int, repeat: int
) -> tuple[float, np.ndarray]:
    best, place = np.inf, np.zeros(3)
    for _ in range(repeat):
        container, mbs, last = build()
        chosen = settings(steps, count)
        start = time.process_time()
        mbs.SolveDynamic(chosen)
        best = min(best, time.process_time() - start)
        place = np.array(mbs.GetObjectOutputBody(last, exu.OutputVariableType.Position, [0, 0, 0]))
        del container
    return best / steps * 1e6, place


def report(name: str, ours: tuple[float, np.ndarray], theirs: tuple[float, np.ndarray], moved: float) -> None:
    """One line of the table; stops where the two disagree."""
    miss = float(np.abs(ours[1] - theirs[1][: len(ours[1])]).max()) / moved
    print(f"{name:24s} {ours[0]:10.2f} {theirs[0]:10.2f} {theirs[0] / ours[0]:7.1f}   {miss:.1e}", flush=True)
    if miss > 1e-5:
        raise SystemExit(f"{name}: the two motions differ by {miss:.2g} of what the last body moved")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", type=int, nargs="+", default=[3, 10, 100, 1000])
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    start = time.process_time()
    time_ours(our_chain(3, "revolute"), 2, 1)
    print(f"first run of three bodies, with compilation or from the cache: {time.process_time() - start:.1f} s")
    print(f"{'µs per step':24s} {'flexmbs':>10s} {'Exudyn':>10s} {'ratio':>7s}   difference")
    for kind in ("revolute", "spherical"):
        for count in options.bodies:
            steps = STEPS.get(count, max(50, 20000 // count))
            ours = time_ours(our_chain(count, kind), steps, options.repeat)
            theirs = time_theirs(lambda n=count, k=kind: their_chain(n, k), steps, count, options.repeat)
            report(f"{kind}, {count} bodies", ours, theirs, float(np.hypot(ours[1][0] - count + 0.5, ours[1][2])))
    ours = time_ours(our_crank(), 1000, options.repeat)
    theirs = time_theirs(their_crank, 1000, 3, options.repeat)
    report("planar slider-crank", ours, theirs, 1.0)


if __name__ == "__main__":
    main()
