"""Models written in a rotating frame against the same seen from outside."""

from __future__ import annotations

import numpy as np
import pytest

import flexmbs as fm
from flexmbs.rotations import exp

TIGHT = fm.TangentSpaceODE(rtol=1e-11, atol=1e-13)


def about_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


def turntable(rotating, profile, speed):
    """A double pendulum of rigid bodies hung on a turntable off its axis, seen from outside or on the table.

    ``profile`` is the table's angle, ``speed`` its rate as a function of time.
    """
    ground = fm.Ground()
    arm = fm.RigidBody("arm", 1.3, np.diag([0.02, 0.05, 0.04]), center=(0.2, 0.03, 0.05))
    inertia = np.array([[0.03, 0.004, 0], [0.004, 0.02, 0.001], [0, 0.001, 0.04]])
    bob = fm.RigidBody("bob", 0.7, inertia, center=(0.1, 0, 0))
    joints, forces, base, bodies = [], [fm.Gravity((0, 0, -9.81))], ground, [ground, arm, bob]
    if rotating:
        forces.append(fm.RotatingFrame((0.0, 0.0, speed)))
    else:
        base = fm.RigidBody("table", 5.0, np.diag([1.0, 1.0, 2.0]))
        shaft = fm.Revolute("shaft", ground.at(0, 0, 0), base.at(0, 0, 0), axis="z")
        joints, bodies = [shaft, fm.Drive("motor", shaft.angle, profile)], [ground, base, arm, bob]
    hinge = fm.Revolute("hinge", base.at(0.5, 0.2, 1.0), arm.at(0, 0, 0), axis=(0.3, 1.0, 0.1), start=0.4)
    ball = fm.Spherical("ball", arm.at(0.4, 0, 0), bob.at(0, 0, 0))
    return fm.System(bodies, [*joints, hinge, ball], forces), bob, hinge, ball


def test_a_mechanism_on_a_driven_turntable_is_the_same_in_its_frame():
    profile = fm.ConstantSpeed(2.0) + fm.Harmonic(0.5, 0.7)
    speed = fm.Harmonic(0.5 * 2 * np.pi * 0.7, 0.7, phase=np.pi / 2, offset=2.0)
    outside, bob, hinge, ball = turntable(False, profile, speed)
    inside, bob_in, hinge_in, ball_in = turntable(True, profile, speed)
    start = outside.initial
    one = fm.forward_dynamics(outside, 1.0, 0.05, integrator=TIGHT)
    # the same start, seen on the table, which turns with Ω(0) about z
    spin = speed.value(0.0)
    q, v = [], []
    for body in (outside.bodies[2], bob):
        k, m = outside.layout.body_q[outside.body_number(body)], outside.layout.body_v[outside.body_number(body)]
        pose, rates = start.q[k : k + 7], start.v[m : m + 6].copy()
        rates[:3] -= np.cross([0, 0, spin], pose[:3])
        rates[3:] -= one.rotation(body)[0].T @ [0, 0, spin]
        q.append(pose)
        v.append(rates)
    begin = fm.State(0.0, np.concatenate(q), np.concatenate(v), inside.initial.angles)
    two = fm.forward_dynamics(inside, 1.0, 0.05, integrator=TIGHT, start=begin)
    turned = np.array([about_z(a) for a in profile.value(one.t)])
    seen = np.einsum("tij,tj->ti", turned, two.position(bob_in.at(0.1, 0.2, 0.3)))
    np.testing.assert_allclose(one.position(bob.at(0.1, 0.2, 0.3)), seen, atol=1e-8)
    np.testing.assert_allclose(one.coordinate(hinge.angle), two.coordinate(hinge_in.angle), atol=1e-8)
    force = np.einsum("tij,tj->ti", turned, two.reaction(ball_in)[:, :3])
    np.testing.assert_allclose(one.reaction(ball)[:, :3], force, atol=1e-6)
    assert np.abs(two.coordinate(hinge_in.angle) - 0.4).max() > 0.3


def test_implicit_steps_give_the_same():
    profile, speed = fm.ConstantSpeed(2.0), 2.0
    inside, _, hinge, _ = turntable(True, profile, speed)
    tight = fm.forward_dynamics(inside, 0.5, 0.1, integrator=TIGHT)
    errors = [
        abs(fm.forward_dynamics(inside, 0.5, h).coordinate(hinge.angle)[-1] - tight.coordinate(hinge.angle)[-1])
        for h in (2e-3, 1e-3)
    ]
    assert errors[1] < 1e-5
    assert 3.4 < errors[0] / errors[1] < 4.6
    motion = fm.forward_dynamics(inside, 0.5, 1e-3)
    assert motion.counters["newton"] < 4 * motion.counters["steps"]


def free_top(rotating, spin):
    ground = fm.Ground()
    inertia, omega = np.diag([0.5, 0.6, 0.9]), np.array([1.0, -2.0, 3.0])
    start, u = np.array([0.4, -0.3, 0.2]), np.array([0.5, 0.1, -0.2])
    if rotating:
        u, omega = u - np.cross(spin, start), omega - spin
    body = fm.RigidBody(
        "body", 2.0, inertia, center=(0.1, 0.2, -0.1), position=start, velocity=u, angular_velocity=omega,
        rotation=np.eye(3),
    )  # fmt: skip
    return fm.System([ground, body], [], [fm.RotatingFrame(spin)] if rotating else []), body


def test_a_free_body_seen_from_a_frame_that_turns_about_any_axis():
    spin = np.array([0.7, -1.1, 1.9])
    (outside, body), (inside, seen) = free_top(False, spin), free_top(True, spin)
    one = fm.forward_dynamics(outside, 1.0, 0.1, integrator=TIGHT)
    two = fm.forward_dynamics(inside, 1.0, 0.1, integrator=TIGHT)
    for k, t in enumerate(one.t):
        turn = exp(spin * t)
        np.testing.assert_allclose(one.position(body)[k], turn @ two.position(seen)[k], atol=1e-9)
        np.testing.assert_allclose(one.rotation(body)[k], turn @ two.rotation(seen)[k], atol=1e-9)
    # Jacobi's integral: kinetic energy in the frame and centrifugal potential; Coriolis does no work
    assert abs(two.energy.total - two.energy.total[0]).max() < 1e-9
    assert np.abs(two.energy.power_of_forces).max() < 1e-9
    assert np.ptp(two.energy.kinetic) > 0.1


def test_energy_balance_in_a_frame_that_spins_up():
    inside, _, _, _ = turntable(True, None, fm.SmoothStep(0.0, 5.0, 0.0, 1.0))
    motion = fm.forward_dynamics(inside, 1.0, 1e-3)
    assert abs(motion.energy.drift).max() < 1e-4 * np.ptp(motion.energy.kinetic)
    assert abs(motion.energy.dissipated[-1]) > 1.0


def test_an_accelerated_frame_pulls_back():
    ground = fm.Ground()
    mass = fm.PointMass("mass", 3.0, position=(0, 0, 0))
    frame = fm.RotatingFrame((0, 0, 0), acceleration=(1.0, 0, fm.Polynomial((0.0, 2.0))))
    motion = fm.forward_dynamics(fm.System([ground, mass], [], [frame]), 1.0, 1e-2)
    np.testing.assert_allclose(motion.position(mass)[-1], [-0.5, 0, -1 / 3], atol=1e-4)
    np.testing.assert_allclose(motion.force(frame)[-1, 0, :3], [-3.0, 0, -6.0], atol=1e-9)


@pytest.mark.parametrize("planar", [True, False])
def test_oscillator_in_a_rotating_frame(planar):
    """k/m = 400, Ω = 5 rad/s: 15 and 25 rad/s, seen as two lines of the spectrum of the motion."""
    ground = fm.Ground()
    if planar:
        mass = fm.PlanarBody("mass", 2.0, 1.0, position=(0.01, 0), velocity=(0, 0.05), angular_velocity=0.0)
    else:
        mass = fm.PointMass("mass", 2.0, position=(0.01, 0, 0), velocity=(0, 0.05, 0))
    spring = fm.Bushing("spring", ground.at(0, 0, 0), mass.at(), (800.0, 800.0, 800.0, 0, 0, 0))
    frame = fm.RotatingFrame((0, 0, 5.0))
    motion = fm.forward_dynamics(fm.System([ground, mass], [], [spring, frame]), 1.0, 0.01, integrator=TIGHT)
    z = motion.position(mass)[:, 0] + 1j * motion.position(mass)[:, 1]
    # z = A exp(15 i t) + B exp(-25 i t)
    waves = np.exp(1j * np.outer(motion.t, [15.0, -25.0]))
    amplitudes, *_ = np.linalg.lstsq(waves, z, rcond=None)
    assert np.abs(waves @ amplitudes - z).max() < 1e-9
    assert np.abs(amplitudes).min() > 1e-3


def test_modes_of_the_oscillator_in_its_rotating_frame():
    mass = fm.PointMass("mass", 2.0, position=(0, 0, 0))
    ground = fm.Ground()
    spring = fm.Bushing("spring", ground.at(0, 0, 0), mass.at(), (800.0, 800.0, 800.0, 0, 0, 0))
    system = fm.System([ground, mass], [], [spring, fm.RotatingFrame((0, 0, 5.0))])
    np.testing.assert_allclose(2 * np.pi * fm.modes(system).frequencies, [15.0, 20.0, 25.0], rtol=1e-10)


def test_frames_are_refused_in_words():
    ground, flat = fm.Ground(), fm.PlanarBody("flat", 1.0, 1.0)
    for make, words in (
        (lambda: fm.RotatingFrame(3.0), "three components"),
        (lambda: fm.RotatingFrame((1, 2)), "three components"),
        (lambda: fm.RotatingFrame((0, 0, 1), origin=(1, 2)), "origin must be 3"),
        (lambda: fm.RotatingFrame((0, 0, 1), acceleration=2.0), "three components"),
        (lambda: fm.RotatingFrame((0, 0, 1), name=""), "needs a name"),
        (
            lambda: fm.System([ground, flat], [], [fm.RotatingFrame((1, 0, 1))]),
            "'flat' needs a frame",
        ),
    ):
        with pytest.raises(fm.ModelError, match=words):
            make()
