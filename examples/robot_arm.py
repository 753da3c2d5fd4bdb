"""A robot arm of six axes: forward kinematics, and the torques its motors need.

Each motor carries its axis from one angle to another smoothly. Where the flange is, is the product of exponentials
exp(ξ₁ θ₁) ... exp(ξ₆ θ₆) of the joint screws, applied to where it is with all angles zero. What the motors need follows
from one linear solve at each instant; their power is the change of energy.
"""

from pathlib import Path

import numpy as np

import flexmbs as fm
from flexmbs import view
from flexmbs.rotations import axis_angle

REST = np.array([[0, 0, 0.0], [0, 0, 0.4], [0, 0, 0.9], [0.15, 0, 1.0], [0.6, 0, 1.0], [0.68, 0, 1.0], [0.78, 0, 1.0]])
AXES = ["z", "y", "y", "x", "y", "x"]
TARGET = np.radians([70.0, 35.0, 20.0, 90.0, -50.0, 120.0])
NAMES = ["base", "shoulder", "elbow", "forearm", "wrist", "flange"]
RADII = [0.09, 0.07, 0.06, 0.05, 0.045, 0.04]

# in the zero position the axes of all bodies are the global ones, their origins at their joints
parts, joints, motors = [fm.Ground()], [], []
for k, (name, radius) in enumerate(zip(NAMES, RADII, strict=True)):
    length = REST[k + 1] - REST[k]
    reach = np.linalg.norm(length)
    mass = 2700.0 * np.pi * radius**2 * reach
    slender = mass * (reach**2 / 12 + radius**2 / 4)
    inertia = slender * np.eye(3) + (mass * radius**2 / 2 - slender) * np.outer(length, length) / reach**2
    shape = fm.shapes.Cylinder.between((0, 0, 0), length, radius)
    parts.append(fm.RigidBody(name, mass, inertia, center=length / 2, shape=shape))
    offset = REST[k] - (REST[k - 1] if k else 0.0)
    joints.append(fm.Revolute(f"axis {k + 1}", parts[k].at(*offset), parts[k + 1].at(0, 0, 0), axis=AXES[k]))
    motors.append(fm.Drive(f"motor {k + 1}", joints[k].angle, fm.SmoothStep(0.0, TARGET[k], start=0.1, duration=1.5)))
arm = fm.System(parts, [*joints, *motors], [fm.Gravity((0.0, 0.0, -9.81))])

motion = fm.inverse_dynamics(arm, np.linspace(0.0, 1.7, 341))
torques = np.stack([motion.reaction(motor) for motor in motors], axis=1)
tool = parts[6].at(*(REST[6] - REST[5]))

point = REST[6]
for k in reversed(range(6)):  # the product of exponentials, from the flange to the base
    point = REST[k] + axis_angle(AXES[k], TARGET[k]) @ (point - REST[k])
reached = motion.position(tool)[-1]
rates = np.stack([motor.motion.rate(motion.t) for motor in motors], axis=1)
work = np.trapezoid(np.sum(torques * rates, axis=1), motion.t)
gained = motion.energy.total[-1] - motion.energy.total[0]
print(f"the flange reaches {np.round(reached, 6)} m; by the product of exponentials {np.round(point, 6)} m")
print(f"the motors do {work:.3f} J of work; the energy of the arm changes by {gained:.3f} J")
for motor, torque in zip(motors, torques.T, strict=True):
    print(f"{motor.name}: up to {np.abs(torque).max():6.1f} N m")

if __name__ == "__main__":
    view.plot(motion, [motors, [j.angle for j in joints]], title="robot arm").savefig("robot_arm_torques.png")
    print(f"The arm is in {view.snapshot(motion, Path('robot_arm.png').absolute(), at=1.0, traces=[tool])}")
