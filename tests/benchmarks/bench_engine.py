"""A slider-crank with a flexible rod from mesh file to film, timed by stage.

    python tests/benchmarks/run.py engine

The rod is ``meshes/connecting_rod.msh`` (6912 nodes), reduced by Craig-Bampton with eight modes, with stiffening; three
turns at 3000 rpm in 3000 steps. Times are of the clock, on kernels that are compiled already; what compiling them took
in this process is said first, and is next to nothing where they were found on disk.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from table import Row

import flexmbs as fm
from flexmbs import view

MESH = Path(__file__).parents[2] / "meshes" / "connecting_rod.msh"
SPEED = 3000 * 2 * np.pi / 60
STEPS = 3000

T = TypeVar("T")


def flexible_rod(mesh: fm.Mesh) -> fm.FlexibleBody:
    """The rod, reduced."""
    steel = fm.Material(young=210e9, poisson=0.3, density=7850.0, name="steel")
    return fm.FlexibleBody(
        "rod", mesh, steel, interfaces=["big_end", "small_end"], reduction=fm.CraigBampton(modes=8)
    )  # fmt: skip


def engine(rod: fm.FlexibleBody) -> fm.System:
    """Crank, rod and piston."""
    ground, crank = fm.Ground(), fm.RigidBody.box("crank", size=(0.05, 0.02, 0.02), density=7850.0)
    piston = fm.RigidBody("piston", mass=0.4, inertia=2e-4 * np.eye(3))
    shaft = fm.Revolute("shaft", ground.at(0, 0, 0), crank.at(-0.025, 0, 0), axis="z")
    joints = [
        shaft,
        fm.Revolute("crank_pin", crank.at(0.025, 0, 0), rod.at("big_end"), axis="z"),
        fm.Spherical("wrist_pin", rod.at("small_end"), piston.at(0, 0, 0)),
        fm.Prismatic("cylinder", ground.at(0, 0, 0), piston.at(0, 0, 0), axis="x"),
        fm.Drive("motor", shaft.angle, fm.SpinUp(SPEED, over=0.02)),
    ]
    return fm.System(bodies=[ground, crank, rod, piston], joints=joints, forces=[fm.Gravity((0, -9.81, 0))])


def run(system: fm.System, steps: int = STEPS) -> Any:
    """Three turns, three hundred instants of which are kept."""
    return fm.forward_dynamics(system, t_end=2e-5 * steps, step=2e-5, output_step=2e-4)


def rows(quick: bool = False) -> Iterator[Row]:
    """One row per stage."""
    start = time.perf_counter()
    run(engine(flexible_rod(fm.Mesh.read(MESH))), 20)
    yield Row("engine", "first run", "s, compiling where needed", time.perf_counter() - start)
    spent: list[float] = []

    def stage(name: str, make: Callable[..., T], *given: Any) -> tuple[Row, T]:
        begin = time.perf_counter()
        made = make(*given)
        spent.append(time.perf_counter() - begin)
        return Row("engine", "6912 nodes", f"s, {name}", spent[-1]), made

    row, mesh = stage("mesh file", fm.Mesh.read, MESH)
    yield row
    row, rod = stage("reduced body", flexible_rod, mesh)
    yield row
    row, system = stage("mechanism, assembled", engine, rod)
    yield row
    row, result = stage(f"{STEPS} steps", run, system)
    yield row
    if quick:
        return
    with tempfile.TemporaryDirectory() as folder:
        row, _ = stage("picture", lambda: view.snapshot(result, Path(folder) / "engine.png", at=0.05))
        yield row
        row, _ = stage("film, 100 frames", lambda: view.animate(result, Path(folder) / "engine.mp4", frames=100))
        yield row
    yield Row("engine", "6912 nodes", "s, from mesh file to film", sum(spent))
