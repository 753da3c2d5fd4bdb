"""Work against error: the time to a position right to 1e-4 and to 1e-8 m after a second, beside Exudyn's best.

    python tests/benchmarks/bench_errors.py [--repeat 3]

A chain of three rods on revolute joints, and the planar slider-crank. Each library may choose: flexmbs of
``GeneralizedAlpha``, ``ExplicitRK`` and ``TangentSpaceODE`` (order 8 and 5), Exudyn of generalized-alpha and, for the
chain, of its explicit methods on a kinematic tree in joint angles (``DOPRI5`` with adaptive, ``RK67`` with constant
steps); they do not take the constraints of the slider-crank. Steps and tolerances are refined until the position is as
good as asked. The exact one comes from ``TangentSpaceODE(rtol=1e-13)``; that Exudyn comes within 1e-8 of it shows that
it is exact. Processor time, the least of several runs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import exudyn as exu
import exudyn.itemInterface as items
import numpy as np
from bench_chains import DENSITY, SIDES, G, our_chain, their_chain
from bench_loops import our_crank, their_crank
from exudyn.utilities import InertiaCuboid
from peer_exudyn import Built, run_ours, run_theirs, settings
from table import Row, show

from flexmbs.integrators.explicit import ExplicitRK
from flexmbs.integrators.tangent_space import TangentSpaceODE
from flexmbs.system.system import System

SOLVER = exu.LinearSolverType.EXUdense
T_END = 1.0
TARGETS = (1e-4, 1e-8)
RODS = 3

Run = Callable[[float], tuple[float, np.ndarray]]


@dataclass(frozen=True)
class Method:
    """Something that gets better with ``fineness``: steps, or one over the tolerance."""

    name: str
    run: Run
    start: float
    factor: float  # from one try to the next, where the order does not say how far to go
    order: int = 0
    most: float = 3e6


def alpha(system: System) -> Method:
    """Ours, constant steps."""
    return Method("GeneralizedAlpha", lambda n: run_ours(system, round(n), T_END / round(n)), 100, 2.0, 2)


def tangent(system: System, method: str) -> Method:
    """Ours, adaptive."""

    def run(fineness: float) -> tuple[float, np.ndarray]:
        integrator = TangentSpaceODE(method=method, rtol=1 / fineness, atol=0.01 / fineness)
        start = time.process_time()
        history, outcome, _ = integrator.run(system, system.initial, T_END, T_END, 1)
        spent = time.process_time() - start
        assert outcome == "finished", outcome
        return spent, last_place(system, history.q[-1])

    return Method(f"TangentSpaceODE {method}", run, 1e3, 3.0, most=1e13)


def our_steps(system: System) -> Method:
    """Ours, constant steps in joint coordinates."""

    def run(n: float) -> tuple[float, np.ndarray]:
        start = time.process_time()
        history, outcome, _ = ExplicitRK("RK4").run(system, system.initial, T_END, T_END / round(n), round(n))
        spent = time.process_time() - start
        assert outcome == "finished", outcome
        return spent, last_place(system, history.q[-1])

    return Method("ExplicitRK RK4", run, 20, 2.0, 4)


def last_place(system: System, q: np.ndarray) -> np.ndarray:
    """Of the last body."""
    q = q[system.layout.body_q[-2] :]
    return q[:3] if len(q) == 7 else np.append(q[:2], 0.0)


def their_alpha(build: Callable[[], Built]) -> Method:
    """Exudyn's, constant steps."""

    def run(n: float) -> tuple[float, np.ndarray]:
        return run_theirs(build, settings(round(n), T_END / round(n), (SOLVER, True)))

    return Method("generalized-alpha", run, 100, 2.0, 2)


def their_tree(name: str, adaptive: bool) -> Method:
    """Exudyn's explicit methods on a kinematic tree."""

    def run(fineness: float) -> tuple[float, np.ndarray]:
        container = exu.SystemContainer()
        mbs = container.AddSystem()
        inertia = InertiaCuboid(density=DENSITY, sideLengths=list(SIDES))
        still = [0.0] * RODS
        node = mbs.AddNode(
            items.NodeGenericODE2(
                referenceCoordinates=still, initialCoordinates=still, initialCoordinates_t=still,
                numberOfODE2Coordinates=RODS,
            )
        )  # fmt: skip
        mbs.AddObject(
            items.ObjectKinematicTree(
                nodeNumber=node, gravity=list(G), jointTypes=[exu.JointType.RevoluteY] * RODS,
                linkParents=list(range(-1, RODS - 1)), jointTransformations=exu.Matrix3DList([np.eye(3)] * RODS),
                jointOffsets=exu.Vector3DList([np.array([float(k > 0), 0, 0]) for k in range(RODS)]),
                linkInertiasCOM=exu.Matrix3DList([inertia.InertiaCOM()] * RODS),
                linkCOMs=exu.Vector3DList([np.array([0.5, 0, 0])] * RODS), linkMasses=[inertia.Mass()] * RODS,
            )
        )  # fmt: skip
        mbs.Assemble()
        s = settings(10 if adaptive else round(fineness), T_END / (10 if adaptive else round(fineness)), (SOLVER, True))
        s.timeIntegration.automaticStepSize = adaptive
        s.timeIntegration.explicitIntegration.computeEndOfStepAccelerations = False
        if adaptive:
            s.timeIntegration.relativeTolerance = s.timeIntegration.absoluteTolerance = 1 / fineness
        start = time.process_time()
        mbs.SolveDynamic(s, solverType=getattr(exu.DynamicSolverType, name))
        spent = time.process_time() - start
        angles = np.cumsum(mbs.systemData.GetODE2Coordinates())
        rods = np.stack([np.cos(angles), 0 * angles, -np.sin(angles)], axis=1)
        return spent, rods[:-1].sum(axis=0) + 0.5 * rods[-1]

    return Method(name, run, 1e3 if adaptive else 10, 3.0 if adaptive else 1.15, most=1e14 if adaptive else 1e5)


def time_to(method: Method, exact: np.ndarray, target: float, repeat: int) -> float:
    """Processor time [s] of the coarsest run found that is right to ``target``; infinite where there is none."""
    fineness = method.start
    while fineness <= method.most:
        error = float(np.abs(method.run(fineness)[1] - exact).max())
        if error <= target:
            return min(method.run(fineness)[0] for _ in range(repeat))
        more = 1.02 * (error / target) ** (1 / method.order) if method.order else method.factor
        fineness *= min(max(more, 1.02), 10.0) if np.isfinite(error) else 2.0
    return float("inf")


def cases() -> Iterator[tuple[str, System, list[Method], list[Method]]]:
    """Mechanisms with what each library has for them."""
    chain, crank = our_chain(RODS, "revolute"), our_crank()
    explicit = [their_tree("DOPRI5", True), their_tree("RK67", False)]
    for name, system, theirs in (
        ("chain of 3", chain, [their_alpha(lambda: their_chain(RODS, "revolute")), *explicit]),
        ("planar slider-crank", crank, [their_alpha(their_crank)]),
    ):
        yield (
            name,
            system,
            [alpha(system), our_steps(system), *(tangent(system, m) for m in ("DOP853", "RK45"))],
            theirs,
        )


def rows(quick: bool = False, repeat: int = 3) -> Iterator[Row]:
    """Both mechanisms, both errors."""
    for name, system, ours, theirs in cases():
        exact = tangent(system, "DOP853").run(1e13)[1]
        for target in TARGETS[:1] if quick else TARGETS:
            best = {}
            for side, methods in (("flexmbs", ours), ("Exudyn", theirs)):
                times = {m.name: time_to(m, exact, target, repeat) for m in methods}
                best[side] = min(times.values())
                for method, spent in times.items():
                    yield Row(name, f"to {target:g} m", f"ms, {side} {method}", 1e3 * spent)
            ratio = best["Exudyn"] / best["flexmbs"]
            yield Row(name, f"to {target:g} m", "Exudyn's best / flexmbs' best", ratio)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    show(rows(repeat=parser.parse_args().repeat))
