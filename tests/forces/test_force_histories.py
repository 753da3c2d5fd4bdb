"""What a result says of forces: along coordinates, on frames, and in balance with the motion."""

from __future__ import annotations

import numpy as np
import pytest

import flexmbs as fm

ground = fm.Ground()


def test_forces_along_coordinates_raise_them():
    arm = fm.RigidBody.box("arm", size=(1.0, 0.1, 0.1), density=100.0)
    hinge = fm.Revolute("hinge", ground.at(0, 0, 0), arm.at(-0.5, 0, 0), axis=(0, 1, 2), start=0.4, rate=2.0)
    spring = fm.SpringDamper("spring", hinge.angle, stiffness=30.0, damping=2.0, rest=0.1, force=lambda t: 5.0 * t)
    stop = fm.Stop("stop", hinge.angle, upper=0.3, stiffness=50.0)
    rub = fm.JointFriction("rub", hinge.angle, preload=3.0, viscous=0.5, slip_speed=0.1)
    rod = fm.SpringDamper("rod", (ground.at(1, 1, 0), arm.at(0.5, 0, 0)), stiffness=40.0, rest=0.5)
    motion = fm.forward_dynamics(fm.System([ground, arm], [hinge], [spring, stop, rub, rod]), 0.5, 1e-2)
    angle = motion.coordinate(hinge.angle)
    axis = np.array([0, 1, 2]) / np.sqrt(5)
    rate = motion.angular_velocity(arm) @ axis
    np.testing.assert_allclose(motion.force(spring), -30 * (angle - 0.1) - 2 * rate + 5 * motion.t, atol=1e-9)
    np.testing.assert_allclose(motion.force(stop), -50 * np.maximum(angle - 0.3, 0), atol=1e-9)
    np.testing.assert_allclose(motion.force(rub), -0.5 * rate - 3 * np.tanh(rate / 0.1), atol=1e-9)
    length = np.linalg.norm(motion.position(arm.at(0.5, 0, 0)) - [1, 1, 0], axis=1)
    np.testing.assert_allclose(motion.force(rod), -40 * (length - 0.5), atol=1e-9)


def test_forces_on_frames_carry_the_body():
    mass = fm.RigidBody("mass", 2.0, 0.1 * np.eye(3), position=(0.1, 0.2, 0), rotation=(0, 0, 0.3))
    bushing = fm.Bushing("bushing", ground.at(), mass.at(0.1, 0, 0), (300.0, 200, 100, 5, 5, 5), (1.0,) * 6)
    push = fm.AppliedForce("push", mass.at(0, 0.1, 0), force=(3.0, 0, 0), torque=(0, 0, 0.2), follows=True)
    written = fm.UserForce("drag", mass.at(0, 0, 0.1), lambda t, s: np.r_[-2.0 * s[0].velocity, 0, 0, 0])
    motion = fm.forward_dynamics(fm.System([ground, mass], [], [bushing, push, written]), 0.3, 1e-3)
    pushed = np.einsum("tij,j->ti", motion.rotation(mass), [3.0, 0, 0])
    np.testing.assert_allclose(motion.force(push)[:, :3], pushed, atol=1e-12)
    turned = np.einsum("tij,j->ti", motion.rotation(mass), [0, 0, 0.2])
    np.testing.assert_allclose(motion.force(push)[:, 3:], turned, atol=1e-12)
    drag = motion.force(written)
    assert drag.shape == (len(motion.t), 1, 6)
    np.testing.assert_allclose(drag[:, 0, :3], -2.0 * motion.velocity(mass.at(0, 0, 0.1)), atol=1e-12)
    total = motion.force(bushing)[:, :3] + motion.force(push)[:, :3] + drag[:, 0, :3]
    np.testing.assert_allclose(total, 2.0 * motion.acceleration(mass), atol=1e-6)  # Newton's law


def test_planar_forces_have_three_components():
    disc = fm.PlanarBody("disc", 1.0, 0.1, position=(0, 0))
    push = fm.AppliedForce("push", disc.at(0, 0), force=(1.0, 2.0, 0), torque=(0, 0, 3.0))
    motion = fm.forward_dynamics(fm.System([ground, disc], [], [push]), 0.1, 0.01)
    np.testing.assert_allclose(motion.force(push), [[1.0, 2.0, 3.0]] * 11)


def test_a_force_that_is_not_there_is_refused():
    disc = fm.PlanarBody("disc", 1.0, 0.1, position=(0, 0))
    push = fm.AppliedForce("push", disc.at(0, 0))
    motion = fm.forward_dynamics(fm.System([ground, disc], [], [fm.Gravity((0, -9.81, 0))]), 0.1, 0.01)
    with pytest.raises(fm.ModelError, match="'push' is not in this system"):
        motion.force(push)
    with pytest.raises(fm.ModelError, match="is not in this system"):
        motion.force(fm.UserForce("user", disc.at(0, 0), lambda t, s: np.zeros(6)))
    with pytest.raises(fm.ModelError, match="is not in this system"):
        motion.force(3.0)
