"""Explicit steps of open chains beside Exudyn's kinematic tree, and what TangentSpaceODE keeps over long times.

    python tests/benchmarks/bench_trees.py [--bodies 3 10 100 1000] [--repeat 5]

Same chain of hinges, same step, classical Runge–Kutta of order four in both, the same answer to 1e-9. Exudyn runs its
ObjectKinematicTree (minimal coordinates) with RK44: its fast module, no files, one thread, no accelerations at the end
of a step. Times are of the processor, the least of several runs. Needs Exudyn (PyPI: exudyn) for the ratios.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from table import Row, show

import flexmbs as fm

sys.exudynFast = True  # type: ignore[attr-defined]  # read by Exudyn when it is imported
warnings.simplefilter("ignore", DeprecationWarning)  # Exudyn's own, about names of its settings
import exudyn as exu  # noqa: E402
import exudyn.itemInterface as items  # noqa: E402

STEP = 1e-3
SIDES, DENSITY, G = (1.0, 0.1, 0.1), 1000.0, (0.0, 0.0, -9.81)
STEPS = {3: 5000, 10: 2000, 100: 200, 1000: 1000}
WANTED = {3: ">= 1", 100: ">= 10"}


def our_chain(count: int, kind: str = "revolute") -> fm.System:
    """A horizontal chain of rods, hung up at one end."""
    ground = fm.Ground()
    bodies = [fm.RigidBody.box(f"rod {k}", SIDES, DENSITY) for k in range(count)]
    ends = [ground.at(0, 0, 0), *(b.at(0.5, 0, 0) for b in bodies)]
    starts = [b.at(-0.5, 0, 0) for b in bodies]
    joints = [
        fm.Revolute(f"hinge {k}", i, j, axis="y") if kind == "revolute" else fm.Spherical(f"ball {k}", i, j)
        for k, (i, j) in enumerate(zip(ends[:-1], starts, strict=True))
    ]
    return fm.System([ground, *bodies], joints, [fm.Gravity(G)])


def their_chain(count: int) -> tuple[Any, Any, int]:
    """The same as one kinematic tree; its revolute joints turn about z, so that all is turned: y here is z there."""
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    node = mbs.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=[0.0] * count, initialCoordinates=[0.0] * count,
            initialCoordinates_t=[0.0] * count, numberOfODE2Coordinates=count,
        )
    )  # fmt: skip
    mass = DENSITY * float(np.prod(SIDES))
    a, b, c = SIDES
    inertia = mass / 12 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    tree = mbs.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=[exu.JointType.RevoluteZ] * count,
            linkParents=list(range(-1, count - 1)),
            jointTransformations=exu.Matrix3DList([np.eye(3)] * count),
            jointOffsets=exu.Vector3DList([[0.0, 0, 0]] + [[1.0, 0, 0]] * (count - 1)),
            linkInertiasCOM=exu.Matrix3DList([inertia] * count),
            linkCOMs=exu.Vector3DList([[0.5, 0, 0]] * count),
            linkMasses=[mass] * count,
            baseOffset=[0.0, 0.0, 0.0],
            gravity=[0.0, -9.81, 0.0],
        )
    )
    del tree
    mbs.Assemble()
    return container, mbs, node


def settings(steps: int) -> Any:
    """Exudyn's best settings for explicit steps."""
    s = exu.SimulationSettings()
    s.timeIntegration.endTime, s.timeIntegration.numberOfSteps = steps * STEP, steps
    s.timeIntegration.verboseMode = 0
    s.timeIntegration.explicitIntegration.computeEndOfStepAccelerations = False
    s.timeIntegration.explicitIntegration.dynamicSolverType = exu.DynamicSolverType.RK44
    s.solutionSettings.writeSolutionToFile = False
    s.solutionSettings.sensorsWritePeriod = 1e9
    s.parallel.numberOfThreads = 1
    return s


def time_theirs(count: int, steps: int, repeat: int) -> tuple[float, np.ndarray]:
    """Seconds per step, and the angles at the end."""
    best, angles = np.inf, np.zeros(count)
    for _ in range(repeat):
        container, mbs, node = their_chain(count)
        chosen = settings(steps)
        start = time.process_time()
        mbs.SolveDynamic(chosen, solverType=exu.DynamicSolverType.RK44)
        best = min(best, time.process_time() - start)
        angles = np.array(mbs.GetNodeOutput(node, exu.OutputVariableType.Coordinates))
        del container
    return best / steps, np.atleast_1d(angles)


def time_ours(system: fm.System, steps: int, repeat: int) -> tuple[float, np.ndarray]:
    """The same; what a run costs apart from its steps is taken off."""
    method, start, tree = fm.ExplicitRK("RK4"), system.initial, system.tree

    def run(n: int) -> tuple[float, Any]:
        began = time.process_time()
        answer = method.run(system, start, n * STEP, STEP, n)
        return time.process_time() - began, answer

    run(1)
    once = min(run(1)[0] for _ in range(repeat))
    times, answers = zip(*(run(steps) for _ in range(repeat)), strict=True)
    history, outcome, _ = answers[-1]
    assert outcome == "finished", outcome
    return (min(times) - once) / (steps - 1), tree.coordinates(history.q[-1])


def rows(quick: bool, bodies: Any = (3, 10, 100, 1000), repeat: int = 5) -> Iterator[Row]:
    """All cases."""
    for count in bodies[:3] if quick else bodies:
        steps, repeat = STEPS.get(count, 100), 2 if quick else repeat
        ours, angles = time_ours(our_chain(count), steps, repeat)
        theirs, others = time_theirs(count, *((3, 1) if count > 100 else (steps, repeat)))  # its work grows as N³
        if count <= 100:
            miss = float(np.abs(np.remainder(angles + others + np.pi, 2 * np.pi) - np.pi).max())
            assert miss < 1e-9, f"{count} bodies: the two motions differ by {miss:.2g} rad"
        yield Row("explicit steps, hinges", f"{count} bodies", "Exudyn's time / ours, a step", theirs / ours,
                  WANTED.get(count, ""), ours * 1e6, theirs * 1e6, unit="µs")  # fmt: skip
    small, large = (time_ours(our_chain(n, "spherical"), STEPS[n], repeat)[0] for n in (10, 100))
    yield Row("explicit steps, balls", "10, 100 bodies", "growth per ten times", large / small, "<= 12",
              note=f"{small * 1e6:.2f} and {large * 1e6:.2f} µs a step")  # fmt: skip
    yield from kept(1_000 if quick else 10_000, 10_000 if quick else 100_000)


def kept(periods: int, steps: int) -> Iterator[Row]:
    """Energy of a pendulum and drift of a loop over long times."""
    ground, body = fm.Ground(), fm.PlanarBody("bob", 1.0, 0.0, center=(1.0, 0.0), angle=0.0)
    pendulum = fm.System([ground, body], [fm.planar.Revolute("pin", ground.at(0, 0), body.at(0, 0))],
                         [fm.Gravity((0.0, -9.81, 0.0))])  # fmt: skip
    span = periods * 2.367841947576237  # from the horizontal, m g L = 9.81
    began = time.process_time()
    history, outcome, counters = fm.TangentSpaceODE(rtol=3e-14, atol=1e-15).run(
        pendulum, pendulum.initial, span, span / 100
    )
    energy = np.abs(history.v[:, 2] ** 2 / 2 + 9.81 * np.sin(history.q[:, 2])).max() / 9.81
    yield Row("pendulum", f"{periods} periods", "energy / 1e-9 m g L", energy / 1e-9, "<= 1",
              time.process_time() - began, note=f"{counters['steps']} steps, {outcome}")  # fmt: skip
    system = four_bar()
    method = fm.TangentSpaceODE("RK45", rtol=1e-6, max_step=1e-3)
    began = time.process_time()
    history, outcome, counters = method.run(system, system.initial, steps * 1e-3, 1.0)
    states = zip(history.t, history.q, history.v, history.angles, strict=True)
    errors = [system.evaluate(*state) for state in states]
    drift = max(max(np.abs(w.phi).max(), np.abs(w.phi_rate).max()) for w in errors)
    yield Row("four-bar", f"{counters['steps']} steps", "drift (q and v) / 1e-10", drift / 1e-10, "<= 1",
              time.process_time() - began, note=outcome)  # fmt: skip


def four_bar() -> fm.System:
    """Of spatial revolutes, with redundant rows; turns round."""
    ground = fm.Ground()
    bars = [fm.RigidBody.box(n, (s, 0.05, 0.05), 1000.0) for n, s in (("crank", 1.0), ("rod", 3.0), ("rocker", 2.5))]
    crank, rod, rocker = bars
    joints = [
        fm.Revolute("shaft", ground.at(0, 0, 0), crank.at(-0.5, 0, 0), start=1.0, rate=20.0),
        fm.Revolute("knee", crank.at(0.5, 0, 0), rod.at(-1.5, 0, 0), start=-0.5),
        fm.Revolute("tip", rod.at(1.5, 0, 0), rocker.at(1.25, 0, 0), start=1.0),
        fm.Revolute("foot", ground.at(3.0, 0, 0), rocker.at(-1.25, 0, 0), start=1.5),
    ]
    return fm.System([ground, *bars], joints, [fm.Gravity((0.0, -9.81, 0.0))])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", type=int, nargs="+", default=[3, 10, 100, 1000])
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    show(rows(False, options.bodies, options.repeat))


if __name__ == "__main__":
    main()
