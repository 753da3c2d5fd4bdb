"""Contact and friction against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

from flexmbs.bodies import Ground, PlanarBody, PointMass, RigidBody
from flexmbs.fem.loads import Gravity
from flexmbs.forces import SphereOnPlane, SphereOnSphere
from flexmbs.integrators.generalized_alpha import GeneralizedAlpha
from flexmbs.rotations import to_matrix
from flexmbs.system.system import System

ground = Ground()
G = 9.81


def run(system, t_end, step, every=1, rho=0.8):
    history, outcome, _ = GeneralizedAlpha(rho_inf=rho).run(system, system.initial, t_end, step, every)
    assert outcome == "finished"
    return history


def restitution(damping, speed):
    """Speed after over speed before: a u - ln(1 + a u) is equal for both (Hunt and Crossley, integrated)."""
    level = damping * speed - np.log1p(damping * speed)
    root = scipy.optimize.brentq(lambda x: -x - np.log1p(-x) - level, 1e-12, 1 - 1e-12)
    return root / (damping * speed)


@pytest.mark.parametrize("damping", [0.05, 0.5, 5.0])
@pytest.mark.parametrize("exponent", [1.0, 1.5])
def test_bounces_with_the_energy_of_its_damping(damping, exponent):
    ball = PointMass("ball", 0.5, position=(0, 0, 0.11), velocity=(0, 0, -2.0))
    floor = SphereOnPlane("floor", ground.at(), ball.at(), 1e4, exponent, damping, radius=0.1)
    history = run(System([ground, ball], [], [floor]), 0.15, 1e-5, 10)
    assert history.q[-1, 2] > 0.1
    assert history.v[-1, 2] == pytest.approx(2.0 * restitution(damping, 2.0), rel=2e-3)


def test_never_pulls():
    ball = PointMass("ball", 0.5, position=(0, 0, -0.02))
    floor = SphereOnPlane("floor", ground.at(), ball.at(), 1e3, damping=10.0)
    system = System([ground, ball], [], [floor])
    for speed in np.linspace(-3, 3, 13):
        work = system.evaluate(0.0, system.initial.q, np.array([0, 0, speed]))
        assert work.forces.wrench[0, 8] >= 0.0
    assert work.forces.wrench[0, 8] == 0.0  # it leaves faster than the surface would follow
    away = system.evaluate(0.0, np.array([0, 0, 1e-9]), np.array([0, 0, -3.0]))
    assert not away.forces.wrench.any()


def incline(friction, angle, slip=1e-3):
    """A point that lies on a plane, gravity inclined to it, as deep as it rests."""
    gravity = G * np.array([np.sin(angle), 0, -np.cos(angle)])
    block = PointMass("block", 2.0, position=(0, 0, -2.0 * G * np.cos(angle) / 1e5))
    floor = SphereOnPlane("floor", ground.at(), block.at(), 1e5, friction=friction, slip_speed=slip)
    return System([ground, block], [], [floor, Gravity(gravity)])


def test_block_slides_where_the_incline_is_steeper_than_friction():
    history = run(incline(0.2, 0.5), 1.0, 1e-3)
    a = G * (np.sin(0.5) - 0.2 * np.cos(0.5))
    np.testing.assert_allclose(history.v[:, 0], a * history.t, atol=2e-3)


def test_block_stays_but_for_the_regularised_creep():
    history = run(incline(0.8, 0.5), 1.0, 1e-3)
    creep = 1e-3 * np.arctanh(np.tan(0.5) / 0.8)
    assert history.v[-1, 0] == pytest.approx(creep, rel=1e-6)
    assert history.q[-1, 0] < 1.1e-3


@pytest.mark.parametrize("kind", ["sphere", "circle"])
def test_ball_rolls_down_an_incline(kind):
    radius, angle = 0.1, 0.3
    gravity = Gravity((G * np.sin(angle), -G * np.cos(angle), 0))
    height = radius - 2.0 * G * np.cos(angle) / 1e5
    if kind == "sphere":
        inertia, ball = 0.4, RigidBody("ball", 2.0, 0.4 * 2.0 * radius**2 * np.eye(3), position=(0, height, 0))
    else:
        inertia, ball = 0.5, PlanarBody("ball", 2.0, 0.5 * 2.0 * radius**2, position=(0, height))
    floor = SphereOnPlane(
        "floor", ground.at(), ball.at(), 1e5, friction=0.5, normal="y", radius=radius, slip_speed=1e-4
    )
    history = run(System([ground, ball], [], [floor, gravity]), 0.5, 1e-3)
    a = G * np.sin(angle) / (1 + inertia)
    np.testing.assert_allclose(history.v[:, 0], a * history.t, atol=2e-3)
    np.testing.assert_allclose(history.v[:, -1], -a / radius * history.t, atol=2e-2)


def test_spheres_exchange_momentum_head_on():
    one = PointMass("one", 1.0, position=(-1, 0, 0), velocity=(2.0, 0, 0))
    two = PointMass("two", 3.0, position=(0.2, 0, 0), velocity=(0, 0, 0))
    contact = SphereOnSphere("contact", one.at(), two.at(), 1e5, 1.5, radius_i=0.3, radius_j=0.2)
    history = run(System([ground, one, two], [], [contact]), 0.6, 2e-5, 100)
    assert history.v[-1, [0, 3]] == pytest.approx([-1.0, 1.0], rel=2e-3)


def test_oblique_contact_of_spheres_keeps_angular_momentum():
    inertia = 0.4 * 0.04 * np.eye(3)
    one = RigidBody("one", 1.0, inertia, position=(-0.6, 0, 0), velocity=(2.0, 0, 0), angular_velocity=(1.0, 5.0, 0))
    two = RigidBody("two", 1.0, inertia, position=(0.0, 0.1, 0.05), velocity=(0, 0, 0), angular_velocity=(0, 0, 0))
    contact = SphereOnSphere("contact", one.at(), two.at(), 1e4, friction=0.3, radius_i=0.2, radius_j=0.2)
    history = run(System([ground, one, two], [], [contact]), 0.5, 2e-5, 100)

    def momentum(k):
        q, v = history.q[k].reshape(2, 7), history.v[k].reshape(2, 6)
        spin = sum(0.016 * to_matrix(q[b, 3:]) @ v[b, 3:] for b in range(2))
        return np.concatenate([v[:, :3].sum(axis=0), sum(np.cross(q[b, :3], v[b, :3]) for b in range(2)) + spin])

    assert np.abs(history.v[-1, 9:12]).max() > 0.1  # friction spun the other ball
    np.testing.assert_allclose(momentum(-1), momentum(0), atol=1e-6)


@pytest.mark.parametrize("step", [1e-2, 1e-3])
def test_sliding_block_comes_to_rest_after_its_braking_distance(step):
    block = PointMass("block", 2.0, position=(0, 0, -2.0 * G / 1e5), velocity=(1.0, 0, 0))
    floor = SphereOnPlane("floor", ground.at(), block.at(), 1e5, friction=0.5, slip_speed=1e-4)
    history = run(System([ground, block], [], [floor, Gravity((0, 0, -G))]), 0.5, step)
    assert history.q[-1, 0] == pytest.approx(1.0 / (2 * 0.5 * G), rel=1e-3)
    assert abs(history.v[-1, 0]) < 1e-6
