"""Bushings, applied forces and users' forces."""

from __future__ import annotations

import numpy as np
import pytest

from flexmbs.bodies import Ground, PlanarBody, PointMass, RigidBody
from flexmbs.errors import ModelError
from flexmbs.forces import AppliedForce, Bushing, SpringDamper, UserForce
from flexmbs.integrators.generalized_alpha import GeneralizedAlpha
from flexmbs.joints import spatial
from flexmbs.profiles import Harmonic, Ramp
from flexmbs.rotations import exp
from flexmbs.system.system import System

ground = Ground()


def run(system, t_end, step, every=1):
    history, outcome, _ = GeneralizedAlpha().run(system, system.initial, t_end, step, every)
    assert outcome == "finished"
    return history


def wrench(system, v=None):
    state = system.initial
    return system.evaluate(0.0, state.q, state.v if v is None else v).forces.wrench[0]


def symmetric(rng):
    matrix = rng.normal(size=(6, 6))
    return matrix @ matrix.T


def test_bushing_is_its_matrices_for_small_motions():
    rng = np.random.default_rng(7)
    stiffness, damping, preload = symmetric(rng), symmetric(rng), rng.normal(size=6)
    x, rate = 1e-7 * rng.normal(size=6), rng.normal(size=6)
    body = RigidBody("body", 1.0, np.eye(3), position=x[:3], rotation=exp(x[3:]))
    axes = exp((0.4, -0.7, 0.2))
    x, v = (np.concatenate([axes.T @ y[:3], axes.T @ y[3:]]) for y in (x, rate))
    bushing = Bushing(
        "bushing", ground.at(0, 0, 0, axes=axes), body.at(0, 0, 0, axes=axes), stiffness, damping, preload
    )
    expected = preload - stiffness @ x - damping @ v
    found = wrench(System([ground, body], [], [bushing]), rate)
    np.testing.assert_allclose(found[6:9], axes @ expected[:3], atol=1e-5)
    np.testing.assert_allclose(found[9:], axes @ expected[3:], atol=1e-5)


@pytest.mark.parametrize("angle", [1e-9, 0.19, 0.21, 1.5, 3.1])
def test_bushing_turned_about_one_axis_pulls_back_by_the_angle(angle):
    axis = np.array([2.0, -1.0, 2.0]) / 3
    body = RigidBody("body", 1.0, np.eye(3), position=(0, 0, 0), rotation=exp(angle * axis))
    bushing = Bushing("bushing", ground.at(), body.at(), (0, 0, 0, 5, 5, 5))
    np.testing.assert_allclose(wrench(System([ground, body], [], [bushing]))[9:], -5 * angle * axis, atol=1e-13)


def test_bushing_is_in_balance_and_turns_with_the_world():
    rng = np.random.default_rng(7)
    stiffness = symmetric(rng)

    def bushing(world):
        one = RigidBody("one", 1.0, np.eye(3), position=world @ [0.1, 0.2, 0.3], rotation=world @ exp((0.4, 0.1, 0.9)))
        two = RigidBody("two", 1.0, np.eye(3), position=world @ [0.5, 0.1, 0.7], rotation=world @ exp((-0.4, 0.5, 0.3)))
        return wrench(System([ground, one, two], [], [Bushing("b", one.at(), two.at(), stiffness)]))

    world = exp((0.7, -1.1, 0.4))
    turned, plain = bushing(world), bushing(np.eye(3))
    np.testing.assert_allclose(turned.reshape(4, 3), plain.reshape(4, 3) @ world.T, atol=1e-12)
    np.testing.assert_allclose(plain[:3], -plain[6:9], atol=1e-14)
    about_one = plain[3:6] + plain[9:] + np.cross([0.4, -0.1, 0.4], plain[6:9])
    np.testing.assert_allclose(about_one, 0, atol=1e-13)


def test_applied_force_moves_by_its_impulse():
    body = RigidBody("body", 2.0, np.diag([0.1, 0.2, 0.3]), position=(0, 0, 0))
    force = AppliedForce("push", body.at(), force=Harmonic((3.0, 0, 1.0), 2.0), torque=(0, 0, Ramp(0, 1, 0.2, 0.3)))
    history = run(System([ground, body], [], [force]), 1.0, 1e-3)
    w = 4 * np.pi
    impulse = (1 - np.cos(w * history.t)) / w
    np.testing.assert_allclose(history.v[:, :3], impulse[:, None] * [1.5, 0, 0.5], atol=1e-5)
    assert history.v[-1, 5] == pytest.approx((0.15 + 0.5) / 0.3, abs=1e-4)


def test_following_force_turns_with_the_body():
    body = PlanarBody("body", 1.0, 1.0, position=(0, 0), angular_velocity=2.0)
    force = AppliedForce("thrust", body.at(), force=(3.0, 0, 0), follows=True)
    history = run(System([ground, body], [], [force]), 2.0, 1e-3)
    angle = 2.0 * history.t
    np.testing.assert_allclose(history.v[:, 0], 1.5 * np.sin(angle), atol=1e-5)
    np.testing.assert_allclose(history.v[:, 1], 1.5 * (1 - np.cos(angle)), atol=1e-5)


def test_fixed_force_at_an_arm_makes_a_pendulum():
    body = PlanarBody("body", 1.0, 0.7, position=(0, 0), angle=0.1)
    anchor = Bushing("anchor", ground.at(), body.at(), (1e7, 1e7, 0, 0, 0, 0))
    system = System([ground, body], [], [AppliedForce("pull", body.at(0.5, 0), force=(20.0, 0, 0)), anchor])
    period = 2 * np.pi * np.sqrt(0.7 / 10.0) * (1 + 0.1**2 / 16)
    history = run(system, period, period / 2000)
    assert history.q[-1, 2] == pytest.approx(0.1, rel=1e-4)


# ---- users' forces ---------------------------------------------------------------------------------------------------


def pull(stiffness, damping, rest):
    """A spring and damper between two frames, as a user writes it."""

    def function(t, states):
        one, two = states
        d = two.position - one.position
        length = np.linalg.norm(d)
        rate = d @ (two.velocity - one.velocity) / length
        force = -(stiffness * (length - rest) + damping * rate) * d / length
        return [[*-force, 0, 0, 0], [*force, 0, 0, 0]]

    return function


def chain(force):
    """Two bodies in a chain, and a force from the ground to the last."""
    one, two = RigidBody("one", 1.0, 0.1 * np.eye(3)), RigidBody("two", 1.0, 0.1 * np.eye(3))
    joints = [
        spatial.Revolute("a", ground.at(), one.at(-0.5, 0, 0), axis="y", rate=2.0),
        spatial.Spherical("b", one.at(0.5, 0, 0), two.at(-0.5, 0, 0)),
    ]
    return System([ground, one, two], joints, [force(ground.at(1.0, 2.0, 1.0), two.at(0.5, 0.1, 0))])


def test_user_force_is_the_built_in_one():
    built_in = chain(lambda a, b: SpringDamper("s", (a, b), stiffness=60.0, damping=2.0, rest=1.0))
    user = chain(lambda a, b: UserForce("s", (a, b), pull(60.0, 2.0, 1.0)))
    np.testing.assert_allclose(run(user, 0.5, 0.01).q, run(built_in, 0.5, 0.01).q, atol=1e-8)
    q, v = built_in.initial.q, built_in.initial.v
    np.testing.assert_allclose(user.equations(0.0, q, v).f, built_in.equations(0.0, q, v).f, atol=1e-12)
    power = user.force_energies(0.0, q, v)["s"][1]
    work = built_in.evaluate(0.0, q, v)
    last = work.frame_velocity[built_in.layout.forces.table[0, 2]]
    assert power == pytest.approx(work.forces.wrench[0, 6:9] @ last)


def test_user_force_steep_and_in_time_keeps_second_order():
    def function(t, states):
        x, v = states[0].position[0], states[0].velocity[0]
        return [-40 * np.sinh(3 * x) - 2 * v**3 + 5 * np.sin(4 * t), 0, 0, 0, 0, 0]

    mass = PointMass("mass", 1.0, position=(0.8, 0, 0))
    system = System([ground, mass], [], [UserForce("f", mass.at(), function)])
    ends = [run(system, 0.64, h, 1000).q[-1, 0] for h in (0.02, 0.01, 0.005)]
    assert np.log2((ends[0] - ends[1]) / (ends[1] - ends[2])) == pytest.approx(2.0, abs=0.3)


def test_user_force_that_returns_nonsense_is_refused():
    mass = PointMass("mass", 1.0, position=(0.8, 0, 0))
    for given, words in ((np.zeros(3), "must return 1 wrenches"), ([np.nan] * 6, "returned")):
        system = System([ground, mass], [], [UserForce("f", mass.at(), lambda t, s, g=given: g)])
        with pytest.raises(ModelError, match=words):
            system.equations(0.0, system.initial.q, system.initial.v)
