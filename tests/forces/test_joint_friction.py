"""Friction in joints under their own reaction, against closed forms and independent equations."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.integrate

import flexmbs as fm

G = 9.81
INTEGRATORS = [fm.GeneralizedAlpha(), fm.TangentSpaceODE(method="RK45", rtol=1e-7)]


def block_on_incline(coefficient, angle, slip=1e-4, velocity=None):
    """A planar slider under gravity that is inclined to its guide."""
    ground = fm.Ground()
    block = fm.PlanarBody("block", 2.0, 0.1, position=(0, 0), velocity=velocity)
    guide = fm.planar.Prismatic("guide", ground.at(), block.at(), axis="x")
    rub = fm.JointFriction("rub", guide.distance, coefficient=coefficient, joint=guide, slip_speed=slip)
    gravity = fm.Gravity((G * np.sin(angle), -G * np.cos(angle), 0))
    return fm.System([ground, block], [guide], [gravity, rub]), block, guide, rub


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=["alpha", "tangent"])
def test_block_slides_down_an_incline(integrator):
    system, block, guide, rub = block_on_incline(0.2, 0.5)
    motion = fm.forward_dynamics(system, 0.5, 2e-4, output_step=2e-3, integrator=integrator)
    a = G * (np.sin(0.5) - 0.2 * np.cos(0.5))
    np.testing.assert_allclose(motion.velocity(block)[:, 0], a * motion.t, atol=2e-4)
    normal = 2.0 * G * np.cos(0.5)
    np.testing.assert_allclose(motion.reaction(guide)[1:, 1], normal, rtol=1e-9)
    np.testing.assert_allclose(motion.force(rub)[10:], -0.2 * normal, rtol=1e-6)


def test_block_sticks_but_for_the_regularised_creep():
    system, block, _, rub = block_on_incline(0.8, 0.5)
    motion = fm.forward_dynamics(system, 0.5, 1e-3)
    creep = 1e-4 * np.arctanh(np.tan(0.5) / 0.8)
    assert motion.velocity(block)[-1, 0] == pytest.approx(creep, rel=1e-6)
    assert motion.force(rub)[-1] == pytest.approx(-2.0 * G * np.sin(0.5), rel=1e-6)


def test_energy_taken_is_the_work_of_friction():
    system, block, _, _ = block_on_incline(0.3, 0.0, velocity=(2.0, 0.0))
    motion = fm.forward_dynamics(system, 0.5, 1e-4)
    way = motion.position(block)[-1, 0]
    assert motion.energy.dissipated[-1] == pytest.approx(0.3 * 2.0 * G * way, rel=1e-6)
    assert abs(motion.energy.drift).max() < 1e-6 * motion.energy.total[0]


def rotor(mu, r, space):
    """A balanced rotor that spins in its bearing under its weight and a side load."""
    ground = fm.Ground()
    if space:
        wheel = fm.RigidBody("wheel", 3.0, np.diag([0.02, 0.02, 0.03]), angular_velocity=(0, 0, 40.0))
        bearing = fm.Revolute("bearing", ground.at(0, 0, 0), wheel.at(0, 0, 0), axis="z")
    else:
        wheel = fm.PlanarBody("wheel", 3.0, 0.03, angular_velocity=40.0)
        bearing = fm.planar.Revolute("bearing", ground.at(0, 0), wheel.at(0, 0))
    rub = fm.JointFriction("rub", bearing.angle, coefficient=mu, radius=r, joint=bearing, slip_speed=1e-3)
    side = fm.AppliedForce("side", wheel.at(0, 0, 0), force=(20.0, 0, 7.0 if space else 0.0))
    system = fm.System([ground, wheel], [bearing], [fm.Gravity((0, -G, 0)), rub, side])
    return system, wheel, bearing, rub


@pytest.mark.parametrize("space", [True, False], ids=["space", "plane"])
def test_torque_of_a_journal_bearing_is_coefficient_times_radius_times_radial_force(space):
    system, wheel, _, rub = rotor(0.1, 0.02, space)
    motion = fm.forward_dynamics(system, 0.1, 1e-3)
    radial = np.hypot(20.0, 3.0 * G)  # the axial load of 7 N does not press
    torque = 0.1 * 0.02 * radial
    np.testing.assert_allclose(motion.force(rub), -torque, rtol=1e-9)
    np.testing.assert_allclose(motion.angular_velocity(wheel)[:, 2], 40.0 - torque / 0.03 * motion.t, rtol=1e-9)


def pendulum_equation(mu, r, slip, m, length, inertia):
    """Angle and rate of a pendulum whose pin rubs under the bearing force; N found by itself at every instant.

    The bearing carries m (a - g) of the mass centre; with the friction torque the acceleration is
    (-m g L sin θ - μ r N tanh) / I_o, and N depends on the acceleration again.
    """

    def rates(t, y):
        angle, rate = y
        share = np.tanh(rate / slip)
        normal = m * G
        for _ in range(100):
            acceleration = (-m * G * length * np.sin(angle) - mu * r * normal * share) / (inertia + m * length**2)
            tangential = length * acceleration + G * np.sin(angle)
            radial = length * rate**2 + G * np.cos(angle)
            new = m * np.hypot(tangential, radial)
            if abs(new - normal) < 1e-14 * new:
                break
            normal = new
        return [rate, acceleration]

    return rates


@pytest.mark.parametrize("mu", [0.1, 0.3])
@pytest.mark.parametrize("space", [True, False], ids=["space", "plane"])
def test_pendulum_with_a_rubbing_pin(space, mu):
    m, length, inertia, r, slip = 1.5, 0.4, 0.05, 0.08, 0.05
    ground = fm.Ground()
    if space:
        bob = fm.RigidBody("bob", m, inertia * np.eye(3))
        pin = fm.Revolute("pin", ground.at(0, 0, 0), bob.at(0, length, 0), axis="z", start=1.2)
    else:
        bob = fm.PlanarBody("bob", m, inertia)
        pin = fm.planar.Revolute("pin", ground.at(0, 0), bob.at(0, length), start=1.2)
    rub = fm.JointFriction("rub", pin.angle, coefficient=mu, radius=r, joint=pin, slip_speed=slip)
    system = fm.System([ground, bob], [pin], [fm.Gravity((0, -G, 0)), rub])
    rates = pendulum_equation(mu, r, slip, m, length, inertia)
    exact = scipy.integrate.solve_ivp(rates, (0, 1.0), [1.2, 0.0], method="DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
    errors = []
    for step in (4e-3, 2e-3):
        motion = fm.forward_dynamics(system, 1.0, step)
        errors.append(abs(motion.coordinate(pin.angle)[-1] - exact[0]))
    assert errors[1] < 1e-4
    assert 3.0 < errors[0] / errors[1] < 5.5  # second order
    steps = motion.counters
    assert steps["newton"] < 4 * steps["steps"]  # the derivative by the multipliers is there
    tight = fm.forward_dynamics(system, 1.0, 0.1, integrator=fm.TangentSpaceODE(rtol=1e-9, atol=1e-11))
    assert tight.coordinate(pin.angle)[-1] == pytest.approx(exact[0], abs=1e-8)


@pytest.mark.parametrize(
    "formulation", [fm.Maggi(), fm.UdwadiaKalaba(), fm.Gauss(), fm.GibbsAppell(), fm.AugmentedLagrangian()], ids=str
)
def test_all_formulations_agree(formulation):
    system, *_ = rotor(0.3, 0.2, True)
    state = system.initial
    v = state.v.copy()
    v[5] = 3.0
    one = fm.accelerations(system, 0.0, state.q, v, fm.Multipliers(), state.angles)
    other = fm.accelerations(system, 0.0, state.q, v, formulation, state.angles)
    np.testing.assert_allclose(other.accelerations, one.accelerations, atol=1e-9)
    assert one.accelerations[5] == pytest.approx(-0.3 * 0.2 * np.hypot(20.0, 3.0 * G) / 0.03, rel=1e-9)


def painleve(mu):
    """A rod with its tip in a guide and a torque that presses it: the reaction grows with friction."""
    ground = fm.Ground()
    rod = fm.PlanarBody("rod", 1.0, 1e-3, position=(0.0, 0.5 * np.sin(1.0)), angle=1.0)
    guide = fm.planar.PointOnLine("guide", ground.at(0, 0), rod.at(-0.5, 0.0), axis="x")
    rub = fm.JointFriction("rub", guide.distance, coefficient=mu, joint=guide)
    return fm.System([ground, rod], [guide], [fm.Gravity((0, -G, 0)), rub]), rod


def test_where_no_reaction_fits_it_says_so():
    """Painlevé's rod slides on its tip: 1 + (m l²/I) cos θ (cos θ - μ sin θ) > 0 is needed, here μ < 0.651."""
    for mu, fits in ((0.2, True), (0.64, True), (0.66, False), (3.0, False)):
        system, _ = painleve(mu)
        state = system.initial
        v = np.array([-3.0, 0.0, 0.0])
        if fits:
            found = fm.accelerations(system, 0.0, state.q, v, angles=state.angles)
            assert found.multipliers[0] > 0.0
            other = fm.accelerations(system, 0.0, state.q, -v, angles=state.angles)
            assert 0.0 < other.multipliers[0] < found.multipliers[0]
        else:
            with pytest.raises(fm.SolverError, match="Painlevé"):
                fm.accelerations(system, 0.0, state.q, v, angles=state.angles)


def test_friction_is_refused_in_words():
    ground, bob = fm.Ground(), fm.RigidBody("bob", 1.0, np.eye(3))
    pin = fm.Revolute("pin", ground.at(), bob.at())
    slider = fm.Prismatic("slider", ground.at(), bob.at())
    with pytest.raises(fm.ModelError, match="joint="):
        fm.JointFriction("rub", pin.angle, coefficient=0.1)
    with pytest.raises(fm.ModelError, match="radius="):
        fm.JointFriction("rub", pin.angle, coefficient=0.1, joint=pin)
    with pytest.raises(fm.ModelError, match="radius must be"):
        fm.JointFriction("rub", pin.angle, coefficient=0.1, joint=pin, radius=-1.0)
    with pytest.raises(fm.ModelError, match="goes with an angle"):
        fm.JointFriction("rub", slider.distance, coefficient=0.1, joint=slider, radius=1.0)
    with pytest.raises(fm.ModelError, match="whose reaction"):
        fm.JointFriction("rub", pin.angle, coefficient=0.1, joint=bob, radius=1.0)
    with pytest.raises(fm.ModelError, match="is not one of 'pin'"):
        fm.JointFriction("rub", slider.distance, coefficient=0.1, joint=pin)
    with pytest.raises(fm.ModelError, match="coefficient must be"):
        fm.JointFriction("rub", pin.angle, coefficient=-0.1, joint=pin, radius=1.0)
    rub = fm.JointFriction("rub", slider.distance, coefficient=0.1, joint=slider)
    with pytest.raises(fm.ModelError, match="'slider' is not in the system"):
        fm.System([ground, bob], [], [rub])
