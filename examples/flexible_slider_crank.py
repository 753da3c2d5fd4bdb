"""Slider-crank with a flexible rod: how far does the rod bend at 3000 rpm?

The rod is a mesh, reduced to the static shapes of its two ends and its first eight modes between them (Craig-Bampton),
and moves in a floating frame with all of it coupled: m d'' + C(ω) d' + (K + K(ω) + K_g) d + q(ω) + ... = Q. Nearly all
of its bending is quasi-static: inertia across the rod, ρA a(x), bends it between its pins while it sways.
"""

from pathlib import Path

import numpy as np

import flexmbs as fm
from flexmbs import view

MESHES = Path(__file__).parents[1] / "meshes"
SPEED = 3000 * 2 * np.pi / 60  # rad/s

steel = fm.Material(young=210e9, poisson=0.3, density=7850.0, name="steel")
ground = fm.Ground()
crank = fm.RigidBody.box(
    "crank", size=(0.05, 0.02, 0.02), density=7850.0, shape=fm.shapes.Box((0.07, 0.02, 0.01), center=(0, 0, -0.016))
)
rod = fm.FlexibleBody(
    "rod", fm.Mesh.read(MESHES / "connecting_rod.msh"), steel,   # origin at the big end, length along x, pin axis z
    interfaces=["big_end", "small_end"],                         # named surfaces of the mesh, rigid
    reduction=fm.CraigBampton(modes=8),
)  # fmt: skip
piston = fm.RigidBody(
    "piston", mass=0.4, inertia=np.diag([2e-4, 2e-4, 2e-4]), shape=fm.shapes.Cylinder(0.03, 0.03, "x", (0.035, 0, 0))
)
shaft = fm.Revolute("shaft", ground.at(0, 0, 0), crank.at(-0.025, 0, 0), axis="z")
crank_pin = fm.Revolute("crank_pin", crank.at(0.025, 0, 0), rod.at("big_end"), axis="z")
wrist_pin = fm.Spherical("wrist_pin", rod.at("small_end"), piston.at(0, 0, 0))
cylinder = fm.Prismatic("cylinder", ground.at(0, 0, 0), piston.at(0, 0, 0), axis="x")
motor = fm.Drive("motor", shaft.angle, fm.SpinUp(SPEED, over=0.02))
engine = fm.System(
    bodies=[ground, crank, rod, piston],
    joints=[shaft, crank_pin, wrist_pin, cylinder, motor],
    forces=[fm.Gravity((0, -9.81, 0))],
)
print(engine.report())
motion = fm.forward_dynamics(engine, t_end=0.06, step=2e-5, output_step=2e-4)
print(motion.summary())
bend = motion.deflection(rod.at("midspan"), chord=("big_end", "small_end"))
worst = motion.stress_envelope(rod).worst
energy = motion.energy
balance = abs(energy.drift[-1]) / energy.supplied[-1]
print(f"the rod bends by up to {1e6 * np.abs(bend[:, 1]).max():.2f} µm at midspan, across the pins' line")
print(f"largest von Mises stress {worst[1] / 1e6:.1f} MPa at node {worst[0]}, t = {worst[2]:.4f} s")
print(f"the motor's work is the energy to {balance:.1e}")

if __name__ == "__main__":
    view.plot(motion, [("midspan, across [µm]", 1e6 * bend[:, 1])]).savefig("flexible_slider_crank_bending.png")
    moment = float(motion.t[np.abs(bend[:, 1]).argmax()])
    look = (0.15, 0.3, 1.0)
    picture = view.snapshot(
        motion, Path("flexible_slider_crank.png").absolute(), at=moment, color="von_mises", scale=500, look=look
    )
    page = view.report(motion, Path("flexible_slider_crank.html").absolute(), color="von_mises", scale=500, look=look)
    print(f"The rod at its worst is in {picture}, and moves in the browser in {page}")
