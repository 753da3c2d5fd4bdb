"""Discs that roll: the slip they exclude, steady circles known in closed form, energy."""

from __future__ import annotations

import numpy as np
import pytest

import flexmbs as fm
from flexmbs.rotations import exp, triad

G, MASS, RADIUS, ACROSS, ALONG = 9.81, 1.3, 0.4, 0.25 * 1.3 * 0.4**2, 0.5 * 1.3 * 0.4**2
pytestmark = pytest.mark.filterwarnings("ignore:the joints do not fit")  # poses are guesses here
TIGHT = fm.TangentSpaceODE(rtol=1e-10, atol=1e-12)


def disc(**initial):
    """A thin disc whose axis is its y axis."""
    return fm.RigidBody("disc", MASS, np.array([ACROSS, ALONG, ACROSS]), **initial)


def random_pair():
    """Two free bodies, a disc of one touching a plane of the other, at a random state."""
    rng = np.random.default_rng(7)
    floor, wheel = (
        fm.RigidBody(n, 2.0, np.diag([0.2, 0.3, 0.4]), center=(0.1, 0.2, 0.3), position=rng.normal(size=3),
                     rotation=exp(rng.normal(size=3)))
        for n in ("floor", "wheel")
    )  # fmt: skip
    rolling = fm.RollingDisc(
        "rolling", floor.at(0.1, 0.2, 0.3), wheel.at(0.3, 0.1, 0), radius=0.7, axis=(1, 2, 3), normal=(0.2, 0.1, 1)
    )
    system = fm.System([fm.Ground(), floor, wheel], [rolling])
    return system, system.initial.q, rng.normal(size=12)


def test_lowest_point_of_the_rim_touches_and_its_velocity_is_the_slip():
    system, q, v = random_pair()
    work = system.evaluate(0.0, q, v)
    (r_i, r_j), (turn_i, turn_j) = work.frame_position, work.frame_rotation
    (v_i, v_j), (w_i, w_j) = work.frame_velocity, work.spin[1:]
    plane, wheel = turn_i @ triad((0.2, 0.1, 1)), turn_j @ triad((1, 2, 3))
    t = np.linspace(0.0, 2 * np.pi, 400001)
    rim = 0.7 * (np.cos(t)[:, None] * wheel[:, 0] + np.sin(t)[:, None] * wheel[:, 1])
    lowest = rim[np.argmin(rim @ plane[:, 2])]
    assert (r_j + lowest - r_i) @ plane[:, 2] == pytest.approx(0.0, abs=1e-9)
    slip = v_j + np.cross(w_j, lowest) - v_i - np.cross(w_i, r_j + lowest - r_i)
    np.testing.assert_allclose(work.phi_rate[1:], slip @ plane[:, :2], atol=1e-4)
    np.testing.assert_array_equal(system.holonomic, [True, False, False])


def test_gamma_is_the_derivative_of_the_rates():
    system, q, v = random_pair()
    h = 1e-6
    ahead, behind = (system.evaluate(0.0, system.retract(q, t * v), v).phi_rate for t in (h, -h))
    np.testing.assert_allclose(system.evaluate(0.0, q, v).gamma, -(ahead - behind) / (2 * h), rtol=1e-6)


def steady_circle():
    """A disc whose axis stands at an angle to the vertical and goes round at Ω; its centre's circle, and Ω.

    With e up along the disc, b its axis and w the rotation about b, the torque about the centre balances the change of
    angular momentum where (C + m R²) w Ω sin = A Ω² sin cos - m g R cos.
    """
    lean, turning = 1.2, 3.0
    s, c = np.sin(lean), np.cos(lean)
    w = (ACROSS * turning**2 * s * c - MASS * G * RADIUS * c) / ((ALONG + MASS * RADIUS**2) * turning * s)
    b, e = np.array([s, 0.0, c]), np.array([-c, 0.0, s])
    f = np.cross(b, e)
    rotation = np.column_stack([f, b, np.cross(f, b)])
    spin = turning * s * e + w * b
    body = disc(
        position=(0.0, 0.0, RADIUS * s), rotation=rotation, velocity=RADIUS * w * f, angular_velocity=rotation.T @ spin
    )
    ground = fm.Ground()
    rolling = fm.RollingDisc("rolling", ground.at(0, 0, 0), body.at(0, 0, 0), radius=RADIUS, axis="y")
    system = fm.System([ground, body], [rolling], [fm.Gravity((0.0, 0.0, -G))])

    def centre(t):
        t = np.asarray(t)
        across = RADIUS * w / turning * np.cross([0.0, 0.0, 1.0], f)
        turned = np.cos(turning * t)[:, None] * -across + np.sin(turning * t)[:, None] * RADIUS * w / turning * f
        return turned + across + (0.0, 0.0, RADIUS * s)

    return system, centre


def test_steady_circle():
    system, centre = steady_circle()
    result = fm.forward_dynamics(system, 1.5, step=0.25, integrator=TIGHT)
    assert system.mobility == 3
    np.testing.assert_allclose(result.q[:, :3], centre(result.t), atol=1e-7)
    np.testing.assert_allclose(result.multipliers[:, 0], MASS * G, rtol=1e-6)


def test_steady_circle_by_generalized_alpha_is_of_second_order():
    system, centre = steady_circle()
    errors = []
    for steps in (100, 200, 400):
        result = fm.forward_dynamics(system, 1.0, step=1.0 / steps, output_step=0.5)
        errors.append(np.abs(result.q[:, :3] - centre(result.t)).max())
        assert np.abs(system.evaluate(0.0, result.q[-1], result.v[-1]).phi_rate[1:]).max() < 1e-8
        assert result.constraint_error.max() < 1e-9
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 2.0, atol=0.2)


def test_wobbling_disc_keeps_its_energy():
    ground = fm.Ground()
    body = disc(rotation=exp(np.array([0.3, 0.0, 0.2])), angular_velocity=(0.5, 6.0, 0.3))
    rolling = fm.RollingDisc("rolling", ground.at(0, 0, 0), body.at(0, 0, 0), radius=RADIUS)
    system = fm.System([ground, body], [rolling], [fm.Gravity((0.0, 0.0, -G))])
    result = fm.forward_dynamics(system, 1.0, step=0.1, integrator=TIGHT)
    np.testing.assert_allclose(result.energy.total, result.energy.total[0], rtol=1e-8)
    assert np.ptp(result.q[:, 2]) > 1e-3


@pytest.mark.parametrize("integrator", [TIGHT, fm.GeneralizedAlpha()], ids=["tangent space", "generalized alpha"])
def test_planar_disc_rolls_down_a_slope(integrator):
    ground, wheel, slope = fm.Ground(), fm.PlanarBody("wheel", MASS, ALONG, angle=0.7), 0.3
    line = (np.cos(slope), -np.sin(slope))
    rolling = fm.planar.Rolling("rolling", ground.at(0, 0), wheel.at(0, 0), axis=line, radius=RADIUS, start=2.0)
    system = fm.System([ground, wheel], [rolling], [fm.Gravity((0.0, -G, 0.0))])
    result = fm.forward_dynamics(system, 1.0, step=0.01, output_step=0.5, integrator=integrator)
    travel = 2.0 + 0.5 * G * np.sin(slope) / (1 + ALONG / (MASS * RADIUS**2)) * result.t**2
    np.testing.assert_allclose(result.q[:, :2] @ line, travel, atol=1e-8)
    np.testing.assert_allclose(result.q[:, 2], 0.7 - (travel - 2.0) / RADIUS, atol=1e-8)


def test_bad_discs_are_refused():
    ground, wheel = fm.Ground(), fm.PlanarBody("wheel", 1.0, 1.0)
    body = disc()
    with pytest.raises(fm.ModelError, match="rolling: radius"):
        fm.planar.Rolling("rolling", ground.at(0, 0), wheel.at(0, 0), radius=0.0)
    with pytest.raises(fm.ModelError, match="rolling: radius"):
        fm.RollingDisc("rolling", ground.at(0, 0, 0), body.at(0, 0, 0), radius=-1.0)
    flat = fm.RollingDisc("flat", ground.at(0, 0, 0), body.at(0, 0, 0), axis="z")
    with pytest.raises(fm.ModelError, match="flat: height above the plane is undefined"):
        _ = fm.System([ground, body], [flat]).initial
