"""Contact inside rings and hollow spheres, and the planar forms, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import flexmbs as fm

G = 9.81
ground = fm.Ground()


def ball_in_bowl(space, friction, offset=0.01):
    """A ball of radius 0.1 near the bottom of a hollow of radius 0.6, pressed in as deep as it rests."""
    radius, hollow, mass, stiffness = 0.1, 0.6, 2.0, 1e6
    reach = hollow - radius + mass * G / stiffness
    angle = offset / reach
    place = (reach * np.sin(angle), -reach * np.cos(angle))
    law = {"stiffness": stiffness, "friction": friction, "slip_speed": 1e-5}
    if space:
        ball = fm.RigidBody("ball", mass, 0.4 * mass * radius**2 * np.eye(3), position=(place[0], place[1], 0))
        bowl = fm.SphereInSphere("bowl", ground.at(0, 0, 0), ball.at(0, 0, 0), radius_i=hollow, radius_j=radius, **law)
    else:
        ball = fm.PlanarBody("ball", mass, 0.5 * mass * radius**2, position=place)
        bowl = fm.CircleInCircle("bowl", ground.at(0, 0), ball.at(0, 0), radius_i=hollow, radius_j=radius, **law)
    return fm.System([ground, ball], [], [fm.Gravity((0, -G, 0)), bowl]), ball, bowl, reach


def frequency(t, x):
    """Of x = A cos(ω t), from its first fall through zero at a quarter period."""
    k = int(np.argmax(x < 0))
    quarter = t[k - 1] + (t[k] - t[k - 1]) * x[k - 1] / (x[k - 1] - x[k])
    return np.pi / (2 * quarter)


@pytest.mark.parametrize(("space", "rolling"), [(True, 1.4), (False, 1.5)], ids=["sphere", "circle"])
def test_ball_swings_in_a_bowl(space, rolling):
    """ω = √(g/(R - r)) where it slides freely; rolling adds I/r² to the mass."""
    for friction, inertia in ((0.0, 1.0), (0.8, rolling)):
        system, ball, _, reach = ball_in_bowl(space, friction)
        motion = fm.forward_dynamics(system, 0.6, 5e-4)
        assert frequency(motion.t, motion.position(ball)[:, 0]) == pytest.approx(np.sqrt(G / reach / inertia), rel=2e-3)


def test_a_rolling_ball_turns_against_its_way():
    system, ball, _, _ = ball_in_bowl(False, 0.8)
    motion = fm.forward_dynamics(system, 0.2, 5e-4)
    # the ball's surface at the contact stands still: ω r = -(speed of the centre) where it lies below
    np.testing.assert_allclose(
        0.1 * motion.angular_velocity(ball)[50:, 2], -motion.velocity(ball)[50:, 0], rtol=0.02, atol=1e-4
    )


def test_the_bowl_presses_towards_its_centre_and_never_pulls():
    system, ball, bowl, reach = ball_in_bowl(True, 0.0)
    motion = fm.forward_dynamics(system, 0.1, 1e-3)
    force = motion.force(bowl)[:, :3]
    assert np.linalg.norm(force, axis=1) == pytest.approx(2.0 * G, rel=1e-3)
    np.testing.assert_allclose(np.cross(force, motion.position(ball)), 0.0, atol=1e-9)
    middle = system.initial.q.copy()
    middle[:3] = 0.0  # at the very centre there is no direction of contact, and no force
    work = system.evaluate(0.0, middle, np.ones(6))
    assert not work.forces.wrench.any()
    assert np.isfinite(system.equations(0.0, middle, np.ones(6)).f).all()
    assert system.force_energies(0.0, middle, np.ones(6))["bowl"] == (0.0, 0.0)
    for speed in np.linspace(-3, 3, 7):
        outward = np.array([0, speed, 0, 0, 0, 0])
        middle[1] = reach
        assert system.evaluate(0.0, middle, outward).forces.wrench[0, 7] <= 0.0


def test_a_free_ball_bounces_to_and_fro_in_a_hollow_sphere():
    ball = fm.PointMass("ball", 0.5, position=(0.0, 0, 0), velocity=(2.0, 0, 0))
    shell = fm.SphereInSphere("shell", ground.at(), ball.at(), 1e5, 1.5, radius_i=0.4, radius_j=0.1)
    motion = fm.forward_dynamics(fm.System([ground, ball], [], [shell]), 0.5, 2e-5, output_step=1e-3)
    assert motion.velocity(ball)[-1, 0] == pytest.approx(2.0, rel=1e-3)  # twice reflected
    deepest = 0.3 + (2.5 * 1.0 / 1e5) ** 0.4  # where k δ^2.5 / 2.5 holds all its energy, 1 J
    assert np.abs(motion.position(ball)[:, 0]).max() == pytest.approx(deepest, rel=1e-3)
    assert (motion.velocity(ball)[:, 0] < -1.99).any()


def test_energy_falls_by_damping_and_friction():
    ball = fm.PlanarBody("ball", 0.5, 1e-3, position=(0.0, 0), velocity=(1.5, 1.0), angular_velocity=20.0)
    ring = fm.CircleInCircle(
        "ring", ground.at(0, 0), ball.at(0, 0), 1e4, damping=0.5, friction=0.3, radius_i=0.4, radius_j=0.1
    )
    motion = fm.forward_dynamics(fm.System([ground, ball], [], [ring]), 1.0, 1e-4)
    assert motion.energy.power_of_forces.max() < 1e-9
    assert motion.energy.total[-1] < 0.7 * motion.energy.total[0]
    assert abs(motion.energy.drift).max() < 1e-3 * motion.energy.total[0]


def test_circle_rolls_down_a_line():
    radius, angle = 0.1, 0.3
    wheel = fm.PlanarBody("wheel", 2.0, 0.5 * 2.0 * radius**2, position=(0, radius - 2.0 * G * np.cos(angle) / 1e5))
    gravity = fm.Gravity((G * np.sin(angle), -G * np.cos(angle), 0))
    floor = fm.CircleOnLine("floor", ground.at(0, 0), wheel.at(0, 0), 1e5, friction=0.5, radius=radius, slip_speed=1e-4)
    motion = fm.forward_dynamics(fm.System([ground, wheel], [], [floor, gravity]), 0.5, 1e-3)
    np.testing.assert_allclose(motion.velocity(wheel)[:, 0], G * np.sin(angle) / 1.5 * motion.t, atol=2e-3)
    wrench = motion.force(floor)[-1]
    assert wrench[:2] == pytest.approx([-2.0 * G * np.sin(angle) / 3, 2.0 * G * np.cos(angle)], rel=1e-3)
    assert wrench[2] == pytest.approx(radius * wrench[0], rel=1e-6)


def test_circles_exchange_momentum_head_on():
    one = fm.PlanarBody("one", 1.0, 0.1, position=(-1, 0), velocity=(2.0, 0), angular_velocity=0.0)
    two = fm.PlanarBody("two", 3.0, 0.1, position=(0.2, 0), velocity=(0, 0), angular_velocity=0.0)
    contact = fm.CircleOnCircle("contact", one.at(0, 0), two.at(0, 0), 1e5, 1.5, radius_i=0.3, radius_j=0.2)
    motion = fm.forward_dynamics(fm.System([ground, one, two], [], [contact]), 0.6, 2e-5, output_step=0.01)
    assert motion.velocity(one)[-1, 0] == pytest.approx(-1.0, rel=2e-3)
    assert motion.velocity(two)[-1, 0] == pytest.approx(1.0, rel=2e-3)


def test_hollow_and_planar_contacts_are_refused_in_words():
    flat, body = fm.PlanarBody("flat", 1.0, 1.0), fm.RigidBody("body", 1.0, np.eye(3))
    a, b, c = ground.at(0, 0), flat.at(0, 0), body.at(0, 0, 0)
    for make, words in (
        (lambda: fm.SphereInSphere("c", a, c, 1e3, radius_i=0.1, radius_j=0.2), "must be larger"),
        (lambda: fm.CircleInCircle("c", a, b, 1e3, radius_i=0.1, radius_j=0.2), "must be larger"),
        (lambda: fm.SphereInSphere("c", a, c, 1e3, radius_i=-0.1), "radius_i must be"),
        (lambda: fm.CircleOnLine("c", a, c, 1e3), "'body' moves in space; take SphereOnPlane"),
        (lambda: fm.CircleOnCircle("c", a, c, 1e3, radius_i=1.0), "take SphereOnSphere"),
        (lambda: fm.CircleInCircle("c", a, c, 1e3, radius_i=1.0), "take SphereInSphere"),
        (lambda: fm.CircleOnLine("c", a, b, 1e3, normal="z"), "lies in the x-y plane"),
        (lambda: fm.CircleOnLine("c", ground.at(0, 0, 1), b, 1e3), "is not in the x-y plane"),
        (lambda: fm.CircleOnLine("c", a, b, 1e3, normal=(0, 0)), "normal must be"),
    ):
        with pytest.raises(fm.ModelError, match=words):
            make()
