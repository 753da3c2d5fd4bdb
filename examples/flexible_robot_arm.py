"""A robot arm with elastic links rings after it stops: how long until its gripper rests, and at which frequency?

Two tubes carry the elbow's motor and a load; the motors follow smooth steps exactly, so that what is left is the
elasticity of the links. After the stop the arm is a structure at rest, locked in its joints: it rings at the frequency
that one finite-element model of the locked arm has. A slower move excites less of it.
"""

from pathlib import Path

import numpy as np

import flexmbs as fm
from flexmbs import view

UPPER, LOWER, ELBOW, LOAD = 1.0, 0.8, 3.0, 2.0  # lengths [m], masses [kg]
TARGET = np.radians([80.0, 60.0])
aluminium = fm.Material(young=70e9, poisson=0.33, density=2700.0)
tube = fm.Section.tube(outer=0.060, inner=0.055)


def link(name: str, length: float) -> fm.FlexibleBody:
    """A tube between two flanges."""
    return fm.FlexibleBody(
        name, fm.Mesh.line((0, 0, 0), (length, 0, 0), 6), aluminium, section=tube, interfaces=["start", "end"],
        reduction=fm.CraigBampton(modes=3), damping=0.01,
    )  # fmt: skip


def slew(duration: float) -> tuple[fm.Result, np.ndarray, fm.FlexibleBody]:
    """The motion, and how far the gripper is from where a rigid arm would have it, along the lower link's normal."""
    ground = fm.Ground()
    upper, lower = link("upper", UPPER), link("lower", LOWER)
    elbow = fm.RigidBody("elbow", ELBOW, (0.004, 0.004, 0.004), shape=fm.shapes.Cylinder(0.05, 0.09))
    load = fm.RigidBody("load", LOAD, (0.002, 0.002, 0.002), shape=fm.shapes.Box((0.08, 0.08, 0.08)))
    joints = [
        fm.Revolute("shoulder", ground.at(0, 0, 0), upper.at("start")),
        fm.Fixed("housing", upper.at("end"), elbow.at(0, 0, 0)),
        fm.Revolute("elbow axis", elbow.at(0, 0, 0), lower.at("start")),
        fm.Fixed("grip", lower.at("end"), load.at(0, 0, 0)),
    ]
    angles = [fm.SmoothStep(0.0, angle, start=0.0, duration=duration) for angle in TARGET]
    motors = [fm.Drive(f"motor {k}", joints[2 * k].angle, angles[k]) for k in range(2)]
    arm = fm.System([ground, upper, elbow, lower, load], [*joints, *motors])
    motion = fm.forward_dynamics(arm, t_end=duration + 0.8, step=5e-4, output_step=1e-3)
    one, both = angles[0].value(motion.t), angles[0].value(motion.t) + angles[1].value(motion.t)
    rigid = UPPER * np.stack([np.cos(one), np.sin(one)]) + LOWER * np.stack([np.cos(both), np.sin(both)])
    off = motion.position(load)[:, :2] - rigid.T
    return motion, off[:, 1] * np.cos(both) - off[:, 0] * np.sin(both), lower


(motion, off, lower), (_, gentle, _) = slew(duration=0.6), slew(duration=1.2)
after = motion.t > 0.65
crossings = motion.t[after][1:][np.diff(np.sign(off[after])) != 0]
heard = (len(crossings) - 1) / (2 * (crossings[-1] - crossings[0]))
corner, arm = (
    a * np.array([np.cos(b), np.sin(b), 0.0]) for a, b in zip((UPPER, LOWER), np.cumsum(TARGET), strict=True)
)
points = np.vstack([np.linspace(0 * corner, corner, 7), np.linspace(corner, corner + arm, 7)[1:]])
mesh = fm.Mesh(points, [("line", np.stack([np.arange(12), np.arange(1, 13)], axis=1))])
masses = [fm.LumpedMass([6], ELBOW, 0.004 * np.eye(3)), fm.LumpedMass([12], LOAD, 0.002 * np.eye(3))]
locked = fm.modes(fm.Elements(mesh, aluminium, section=tube, attachments=masses), fixed=[0], count=2).frequencies
print(f"the gripper swings by {1e3 * np.abs(off[after]).max():.2f} mm after a move of 0.6 s at {heard:.2f} Hz;")
print(f"the arm locked at rest has {locked[0]:.2f} Hz out of its plane and {locked[1]:.2f} Hz in it")
print(f"after a move of 1.2 s it swings by {1e3 * np.abs(gentle[-800:]).max():.2f} mm")

if __name__ == "__main__":
    view.plot(motion, [("gripper off by [mm]", 1e3 * off)], title="robot arm").savefig("flexible_robot_arm_ringing.png")
    path, way, look = Path("flexible_robot_arm.png").absolute(), [lower.at("end")], (0, 0, 1)
    picture = view.snapshot(motion, path, at=0.45, color="von_mises", scale=10, look=look, traces=way)
    print(f"The arm is in {picture}")
