"""A connecting rod with twelve modes against the same with eight times as many: deflection, reactions, stress."""

from __future__ import annotations

import numpy as np

import flexmbs as fm

SPEED = 3000 * 2 * np.pi / 60


def engine(modes: int) -> tuple[fm.Result, fm.FlexibleBody, fm.Joint]:
    steel = fm.Material(young=210e9, poisson=0.3, density=7850.0)
    ground, crank = fm.Ground(), fm.RigidBody.box("crank", size=(0.05, 0.02, 0.02), density=7850.0)
    rod = fm.FlexibleBody(
        "rod", fm.Mesh.connecting_rod().to_linear(), steel, interfaces=["big_end", "small_end"],
        reduction=fm.CraigBampton(modes=modes),
    )  # fmt: skip
    piston = fm.RigidBody("piston", mass=0.4, inertia=np.diag([2e-4, 2e-4, 2e-4]))
    shaft = fm.Revolute("shaft", ground.at(0, 0, 0), crank.at(-0.025, 0, 0), axis="z")
    crank_pin = fm.Revolute("crank_pin", crank.at(0.025, 0, 0), rod.at("big_end"), axis="z")
    wrist_pin = fm.Spherical("wrist_pin", rod.at("small_end"), piston.at(0, 0, 0))
    cylinder = fm.Prismatic("cylinder", ground.at(0, 0, 0), piston.at(0, 0, 0), axis="x")
    motor = fm.Drive("motor", shaft.angle, fm.SpinUp(SPEED, over=0.01))
    system = fm.System([ground, crank, rod, piston], [shaft, crank_pin, wrist_pin, cylinder, motor], [])
    return fm.forward_dynamics(system, t_end=0.02, step=4e-5, output_step=2e-4), rod, crank_pin


def apart(found: np.ndarray, exact: np.ndarray) -> float:
    return float(np.abs(found - exact).max() / np.abs(exact).max())


def test_twelve_modes_of_a_connecting_rod_are_enough() -> None:
    seen = []
    for modes in (96, 12):
        motion, rod, pin = engine(modes)
        bend = motion.deflection(rod.at("midspan"), chord=("big_end", "small_end"))
        stress = motion.von_mises(rod, at=motion.t)
        seen.append((bend[:, 1], motion.reaction(pin)[:, :2], stress))
        poor = motion.von_mises(rod, at=motion.t, corrected=False)
    errors = [apart(found, exact) for exact, found in zip(*seen, strict=True)]
    assert errors[0] < 1e-3
    assert errors[1] < 1e-3
    assert errors[2] < 1e-2
    assert apart(poor, seen[0][2]) > 3 * errors[2]  # without the correction of inertia loads
