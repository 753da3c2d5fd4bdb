"""A four-bar linkage of hinges in space: one motion, three redundant rows, and a motor that spins it up.

Grübler's count gives 6 · 3 - 4 · 5 = -2 degrees of freedom, and yet the linkage moves: its hinges are parallel, so that
three of the twenty rows follow from the others. flexmbs names them, and shares these reactions by least norm. The work
of the motor is the change of kinetic and potential energy.
"""

from pathlib import Path

import numpy as np

import flexmbs as fm
from flexmbs import view

GROUND, CRANK, COUPLER, ROCKER = 0.45, 0.1, 0.4, 0.3

ground = fm.Ground()
crank = fm.RigidBody.box("crank", size=(CRANK, 0.02, 0.01), density=7850.0)
coupler = fm.RigidBody.box("coupler", size=(COUPLER, 0.02, 0.01), density=7850.0)
rocker = fm.RigidBody.box("rocker", size=(ROCKER, 0.02, 0.01), density=7850.0)
shaft = fm.Revolute("shaft", ground.at(0, 0, 0), crank.at(-CRANK / 2, 0, 0), axis="z")
hinges = [
    shaft,
    fm.Revolute("crank_pin", crank.at(CRANK / 2, 0, 0), coupler.at(-COUPLER / 2, 0, 0), axis="z", start=0.6),
    fm.Revolute("rocker_bearing", ground.at(GROUND, 0, 0), rocker.at(-ROCKER / 2, 0, 0), axis="z", start=1.5),
    fm.Revolute("rocker_pin", coupler.at(COUPLER / 2, 0, 0), rocker.at(ROCKER / 2, 0, 0), axis="z"),
]
motor = fm.Drive("motor", shaft.angle, fm.SpinUp(60.0, over=0.1))
linkage = fm.System([ground, crank, coupler, rocker], [*hinges, motor], [fm.Gravity((0.0, -9.81, 0.0))])
print(linkage.report(), "\n")

motion = fm.forward_dynamics(linkage, t_end=0.3, step=1e-4, output_step=1e-3)
print(motion.summary())

torque = motion.reaction(motor)
power = torque * motion.angular_velocity(crank)[:, 2]
work = np.trapezoid(power, motion.t)
swing = np.degrees(np.ptp(motion.coordinate(hinges[2].angle)))
print(f"\nthe rocker swings through {swing:.1f} degrees; the motor does {work:.4f} J of work")

if __name__ == "__main__":
    tip = coupler.at(0, 0.1, 0)  # a point above the coupler: its way is a coupler curve
    picture = view.snapshot(motion, Path("four_bar.png").absolute(), at=0.2, traces=[tip, coupler.at(CRANK, 0, 0)])
    print(f"\nThe linkage is in {picture}")
    view.plot(motion, [motor, [h.angle for h in hinges[1:]]], title="four-bar linkage").savefig("four_bar_plot.png")
