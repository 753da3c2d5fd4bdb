"""Slider-crank with a flexible connecting rod, from rest to 3000 rpm: how far does the rod bend, what stress is in it?

This is what ``flexmbs demo`` runs, and a script of its own: change it, and run it with ``python slider_crank.py``.
"""

from __future__ import annotations

import numpy as np

import flexmbs as fm
from flexmbs import view

SPEED = 3000 * 2 * np.pi / 60  # rad/s
LOOK = (0.15, 0.3, 1.0)  # from where pictures are taken
SCALE = 800  # how many times too large they show the deformation


def engine() -> tuple[fm.System, fm.FlexibleBody, fm.Spherical]:
    """Crank, flexible rod and piston, driven by a motor; with it the rod and the joint at its small end."""
    ground = fm.Ground()
    web = fm.shapes.Box((0.07, 0.02, 0.01), center=(0, 0, -0.016))
    crank = fm.RigidBody.box("crank", size=(0.05, 0.02, 0.02), density=7850.0, shape=web)
    rod = fm.FlexibleBody(
        "rod",
        fm.Mesh.connecting_rod(),  # or your own part: fm.Mesh.read("rod.msh"), with named surfaces
        fm.Material.named("steel"),
        interfaces=["big_end", "small_end"],
        reduction=fm.CraigBampton(modes=8),
    )
    crown = fm.shapes.Cylinder(0.03, 0.03, "x", (0.035, 0, 0))
    piston = fm.RigidBody("piston", mass=0.4, inertia=np.diag([2e-4, 2e-4, 2e-4]), shape=crown)
    shaft = fm.Revolute("shaft", ground.at(0, 0, 0), crank.at(-0.025, 0, 0), axis="z")
    crank_pin = fm.Revolute("crank_pin", crank.at(0.025, 0, 0), rod.at("big_end"), axis="z")
    wrist_pin = fm.Spherical("wrist_pin", rod.at("small_end"), piston.at(0, 0, 0))
    cylinder = fm.Prismatic("cylinder", ground.at(0, 0, 0), piston.at(0, 0, 0), axis="x")
    motor = fm.Drive("motor", shaft.angle, fm.SpinUp(SPEED, over=0.02))
    system = fm.System(
        bodies=[ground, crank, rod, piston],
        joints=[shaft, crank_pin, wrist_pin, cylinder, motor],
        forces=[fm.Gravity((0, -9.81, 0))],
    )
    return system, rod, wrist_pin


def run(system: fm.System) -> fm.Result:
    """A motion of 0.06 s, in which the engine speeds up and turns twice, in steps of 20 µs."""
    return fm.forward_dynamics(system, t_end=0.06, step=2e-5, output_step=2e-4)


def bending(motion: fm.Result, rod: fm.FlexibleBody) -> np.ndarray:
    """How far the rod's middle leaves the line between its pins, across it [m], over time."""
    return motion.deflection(rod.at("midspan"), chord=("big_end", "small_end"))[:, 1]


def findings(motion: fm.Result, rod: fm.FlexibleBody, wrist_pin: fm.Spherical) -> str:
    """What was found, in words."""
    bend = bending(motion, rod)
    node, stress, when = motion.stress_envelope(rod).worst
    force = np.linalg.norm(motion.reaction(wrist_pin)[:, :3], axis=1)
    return (
        f"the rod bends by up to {1e6 * np.abs(bend).max():.1f} µm at midspan\n"
        f"largest von Mises stress {stress / 1e6:.1f} MPa, at node {node} and t = {when:.4f} s\n"
        f"largest force in the wrist pin {force.max() / 1e3:.2f} kN"
    )


if __name__ == "__main__":
    system, rod, wrist_pin = engine()
    motion = run(system)
    print(motion.summary())
    print(findings(motion, rod, wrist_pin))
    worst = float(motion.t[np.abs(bending(motion, rod)).argmax()])
    view.snapshot(motion, "slider_crank.png", at=worst, color="von_mises", scale=SCALE, look=LOOK)
    print("The rod at its worst is in slider_crank.png")
