"""Watt's governor: how high its balls rise with the speed of the spindle.

Two balls of mass m on rods of length L hang from the spindle that turns with Ω; links of the same length carry a sleeve
of mass M below. In steady motion, with h the height of the pivot above the balls,

    Ω² h = g (m + M) / m.

The spindle starts in steady motion and is driven faster, slowly, with a damper at the sleeve.
"""

from pathlib import Path

import numpy as np

import flexmbs as fm
from flexmbs import view

BALL, SLEEVE, LENGTH, G = 1.0, 2.0, 0.2, 9.81
SLOW, FAST = 13.0, 18.0  # rad/s
START = np.arccos(G * (BALL + SLEEVE) / BALL / SLOW**2 / LENGTH)  # angle of the rods in steady motion

ground = fm.Ground()
spindle = fm.RigidBody.cylinder("spindle", 0.008, 0.5, density=7850.0, position=(0, 0, -0.2))
joints = [fm.Revolute("bearing", ground.at(0, 0, 0.05), spindle.at(0, 0, 0.25), axis="z")]
sleeve = fm.RigidBody.cylinder("sleeve", 0.03, 0.04, density=SLEEVE / (np.pi * 0.03**2 * 0.04))
joints.append(
    fm.Prismatic("guide", spindle.at(0, 0, 0.2), sleeve.at(0, 0, 0), axis="z", start=-2 * LENGTH * np.cos(START))
)
arms, links, balls = [], [], []
for k, side in enumerate((1, -1)):
    arm = fm.RigidBody(  # a ball on a massless rod, drawn as such
        f"ball {k + 1}",
        mass=BALL,
        inertia=np.full(3, 1e-9),
        center=(0, 0, -LENGTH),
        shape=[fm.shapes.Ball(0.03, (0, 0, -LENGTH)), fm.shapes.Cylinder.between((0, 0, 0), (0, 0, -LENGTH), 0.005)],
    )
    arms.append(arm)
    joints.append(fm.Revolute(f"arm {k + 1}", spindle.at(0, 0, 0.2), arm.at(0, 0, 0), axis="y", start=-side * START))
    joints.append(fm.Distance(f"link {k + 1}", arm.at(0, 0, -LENGTH), sleeve.at(0, 0, 0), length=LENGTH))
speed = fm.Drive("motor", joints[0].angle, fm.ConstantSpeed(SLOW) + fm.SpinUp(FAST - SLOW, over=4.0))
damper = fm.SpringDamper("dashpot", joints[1].distance, damping=20.0)
governor = fm.System([ground, spindle, sleeve, *arms], [*joints, speed], [fm.Gravity((0.0, 0.0, -G)), damper])
print(governor.report(), "\n")
motion = fm.forward_dynamics(governor, t_end=6.0, step=1e-3, output_step=0.02)

height = -(motion.position(arms[0].at(0, 0, -LENGTH)) - motion.position(spindle.at(0, 0, 0.2)))[:, 2]
turning = motion.angular_velocity(spindle)[:, 2]
by_formula = G * (BALL + SLEEVE) / BALL / turning[-1] ** 2
print(motion.summary())
print(
    f"\nat {turning[-1]:.3f} rad/s the balls hang {1e3 * height[-1]:.3f} mm below; by formula {1e3 * by_formula:.3f} mm"
)

if __name__ == "__main__":
    steady = G * (BALL + SLEEVE) / BALL / turning**2
    view.plot(motion, [("speed [rad/s]", turning), [("height [m]", height), ("steady [m]", steady)]]).savefig(
        "governor_plot.png"
    )
    print(f"The governor is in {view.snapshot(motion, Path('governor.png').absolute(), at=[0.0, 6.0])}")
