"""Planar slider-crank: the torque that holds a constant speed, by three formulations.

At constant speed ω the piston's inertia force is m r ω² (cos φ + λ cos 2φ + ...), λ = r / l; the mean torque over a
turn is zero, as no energy is lost. All formulations solve the same equations M v' = f + Jᵀλ, J v' = γ at each instant.
"""

from pathlib import Path

import numpy as np

import flexmbs as fm
from flexmbs import view

SPEED = 300.0  # rad/s
RADIUS, LENGTH = 0.05, 0.15

ground = fm.Ground()
crank = fm.PlanarBody("crank", mass=1.2, inertia=0.003, center=(0.01, 0.0), inertia_about="origin")
rod = fm.PlanarBody("rod", mass=0.6, inertia=0.002, center=(0.05, 0.0))
piston = fm.PlanarBody("piston", mass=0.5, inertia=1e-3)
shaft = fm.planar.Revolute("shaft", ground.at(0, 0), crank.at(0, 0))
joints = [
    shaft,
    fm.planar.Revolute("crank_pin", crank.at(RADIUS, 0), rod.at(0, 0)),
    fm.planar.Revolute("wrist_pin", rod.at(LENGTH, 0), piston.at(0, 0)),
    fm.planar.Prismatic("cylinder", ground.at(0, 0), piston.at(0, 0), axis="x"),
]
motor = fm.Drive("motor", shaft.angle, lambda t: SPEED * t)
engine = fm.System(bodies=[ground, crank, rod, piston], joints=[*joints, motor], forces=[])
print(engine.report(), "\n")

times = np.linspace(0.0, 2 * np.pi / SPEED, 361)
torques = {}
for formulation in (fm.Multipliers(), fm.Maggi(), fm.UdwadiaKalaba()):
    motion = fm.inverse_dynamics(engine, times, formulation=formulation)
    torques[repr(formulation)] = motion.reaction(motor)
    print(f"{formulation!r:16} largest torque {abs(motion.reaction(motor)).max():.6f} Nm")

stroke = np.ptp(motion.position(piston)[:, 0])
bearing = np.linalg.norm(motion.reaction(shaft)[:, :2], axis=1)
print(f"\nstroke {1e3 * stroke:.1f} mm, bearing force up to {bearing.max():.0f} N")

if __name__ == "__main__":
    middle = rod.at(LENGTH / 2, 0)
    picture = view.snapshot(
        motion, Path("slider_crank.png").absolute(), at=0.0035, traces=[middle], reactions=True, title="slider-crank"
    )
    print(f"\nThe mechanism and its joint forces are in {picture}")
    view.plot(motion, [motor, [piston]], title="slider-crank at 300 rad/s").savefig("slider_crank_torque.png")
