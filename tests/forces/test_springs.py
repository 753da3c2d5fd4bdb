"""Springs, dampers, actuators, stops and joint friction against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.integrate

from flexmbs.bodies import Ground, PlanarBody, PointMass, RigidBody
from flexmbs.forces import JointFriction, SpringDamper, Stop
from flexmbs.integrators.generalized_alpha import GeneralizedAlpha
from flexmbs.joints import planar, spatial
from flexmbs.joints.drives import Drive
from flexmbs.profiles import ConstantSpeed, Harmonic, Polynomial, Spline
from flexmbs.system.system import System

ground = Ground()
method = GeneralizedAlpha(rho_inf=0.9)
MASS, STIFFNESS = 2.0, 50.0
OMEGA = np.sqrt(STIFFNESS / MASS)


def run(system, t_end, step, every=1):
    history, outcome, _ = method.run(system, system.initial, t_end, step, every)
    assert outcome == "finished"
    return history


def slider(*forces, start=0.0, rate=0.0, before=()):
    """A block that slides along x, and the joint."""
    block = RigidBody("block", MASS, np.eye(3))
    joint = spatial.Prismatic("slide", ground.at(), block.at(), axis="x", start=start, rate=rate)
    return System([ground, block], [joint, *before], [f(joint) for f in forces])


def wheel(*forces, start=0.0, rate=0.0):
    body = PlanarBody("wheel", 1.0, MASS)
    joint = planar.Revolute("hub", ground.at(), body.at(), start=start, rate=rate)
    return System([ground, body], [joint], [f(joint) for f in forces])


def test_oscillator():
    mass = PointMass("mass", MASS, position=(1.2, 0, 0))
    spring = SpringDamper("spring", (ground.at(), mass.at()), stiffness=STIFFNESS, rest=1.0)
    history = run(System([ground, mass], [], [spring]), 2.0, 1e-3)
    np.testing.assert_allclose(history.q[:, 0], 1 + 0.2 * np.cos(OMEGA * history.t), atol=1e-5)


def test_damped_decay_is_that_of_the_damping_ratio():
    ratio = 0.1
    damper = lambda j: SpringDamper("s", j.distance, STIFFNESS, 2 * ratio * MASS * OMEGA, rest=0.3)  # noqa: E731
    history = run(slider(damper, start=0.5), 2.0, 1e-3)
    damped = OMEGA * np.sqrt(1 - ratio**2)
    phase = damped * history.t
    expected = 0.2 * np.exp(-ratio * OMEGA * history.t) * (np.cos(phase) + ratio * OMEGA / damped * np.sin(phase))
    np.testing.assert_allclose(history.q[:, 0] - 0.3, expected, atol=1e-5)


def test_actuator_is_a_function_of_time_along_the_coordinate():
    for force in (Harmonic(4.0, 1.5), lambda t: 4.0 * np.sin(3 * np.pi * t)):
        history = run(slider(lambda j, f=force: SpringDamper("motor", j.distance, force=f)), 1.0, 2e-3)
        w = 3 * np.pi
        np.testing.assert_allclose(history.v[:, 0], 4.0 / (MASS * w) * (1 - np.cos(w * history.t)), atol=1e-4)


def test_torsion_spring_counts_turns():
    system = wheel(lambda j: SpringDamper("spring", j.angle, stiffness=STIFFNESS), rate=6 * np.pi * OMEGA)
    history = run(system, 2.0, 1e-3)
    np.testing.assert_allclose(history.q[:, 2], 6 * np.pi * np.sin(OMEGA * history.t), atol=2e-3)


@pytest.mark.parametrize("start", [-9.0, 0.3, 4 * np.pi + 0.3])
def test_wound_up_at_the_start(start):
    system = wheel(lambda j: SpringDamper("spring", j.angle, stiffness=STIFFNESS, rest=0.1), start=start)
    initial = system.initial
    energy, _ = system.force_energies(0.0, initial.q, initial.v, initial.angles)["spring"]
    assert energy == pytest.approx(0.5 * STIFFNESS * (start - 0.1) ** 2)


def test_spring_knows_the_turns_of_a_drive():
    body = PlanarBody("wheel", 1.0, MASS)
    joint = planar.Revolute("hub", ground.at(), body.at())
    drive = Drive("drive", joint.angle, ConstantSpeed(2.0, start=15.0))
    system = System([ground, body], [joint, drive], [SpringDamper("spring", joint.angle, stiffness=3.0)])
    history = run(system, 5.0, 0.05)
    torque = history.multipliers[:, system.joint_rows(drive).start]
    np.testing.assert_allclose(torque, 3.0 * (15.0 + 2.0 * history.t), rtol=1e-6)


@pytest.mark.parametrize("curve", [
    Spline([-1.0, -0.3, 0.2, 0.9], [-70.0, -10.0, 15.0, 90.0]),
    Polynomial((1.0, 40.0, 0.0, 90.0)),
    2.0 * Polynomial((0.0, 10.0, 3.0)).shifted(0.2),
])  # fmt: skip
@pytest.mark.parametrize("stretch", [-1.4, -0.2, 0.05, 1.7])
def test_potential_of_a_curve_is_its_integral(curve, stretch):
    system = slider(lambda j: SpringDamper("s", j.distance, curve, rest=0.2), start=stretch + 0.2)
    energy, _ = system.force_energies(0.0, system.initial.q, system.initial.v)["s"]
    points = [p for p in (-1.0, -0.3, 0.2, 0.9) if min(0, stretch) < p < max(0, stretch)]
    expected = scipy.integrate.quad(curve.value, 0.0, stretch, points=points or None)[0]
    assert energy == pytest.approx(expected, rel=1e-9)


def test_curves_of_straight_lines_are_coefficients():
    given = slider(lambda j: SpringDamper("s", j.distance, 50.0, 3.0, rest=0.2), start=0.7)
    line = slider(lambda j: SpringDamper("s", j.distance, Polynomial((0, 50.0)), Polynomial((0, 3.0)), 0.2), start=0.7)
    np.testing.assert_allclose(run(line, 0.5, 0.01).q, run(given, 0.5, 0.01).q, atol=1e-12)


@pytest.mark.parametrize("exponent", [1.0, 1.5])
def test_stops_give_the_speed_back_and_hold(exponent):
    stop = lambda j: Stop("stop", j.distance, -0.2, 0.3, stiffness=4e4, exponent=exponent)  # noqa: E731
    history = run(slider(stop, rate=1.0), 1.5, 2e-4)
    depth = ((exponent + 1) * MASS / (2 * 4e4)) ** (1 / (exponent + 1))  # ½ m v² = k δⁿ⁺¹/(n+1)
    assert history.q[:, 0].max() == pytest.approx(0.3 + depth, rel=2e-3)
    assert history.q[:, 0].min() == pytest.approx(-0.2 - depth, rel=1e-2)
    free = (history.q[:, 0] < 0.3) & (history.q[:, 0] > -0.2)
    np.testing.assert_allclose(np.abs(history.v[free, 0]), 1.0, atol=2e-3)


def test_dry_friction_slows_down_evenly_and_viscous_exponentially():
    dry = lambda j: JointFriction("friction", j.distance, preload=3.0, slip_speed=1e-3)  # noqa: E731
    history = run(slider(dry, rate=2.0), 1.0, 1e-3)
    np.testing.assert_allclose(history.v[:, 0], 2.0 - 1.5 * history.t, atol=1e-6)
    viscous = lambda j: JointFriction("friction", j.angle, viscous=3.0)  # noqa: E731
    history = run(wheel(viscous, rate=2.0), 1.0, 1e-3)
    np.testing.assert_allclose(history.v[:, 2], 2.0 * np.exp(-1.5 * history.t), atol=1e-6)
