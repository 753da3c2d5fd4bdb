"""Velocity measures: their value is the speed at which bodies pass each other, and their rows say how it changes."""

from __future__ import annotations

import numpy as np
import pytest

import flexmbs as fm
from flexmbs.joints import measures
from flexmbs.joints.joint import Row
from flexmbs.rotations import exp

pytestmark = pytest.mark.filterwarnings("ignore:the joints do not fit")  # poses are guesses here


def unit(a):
    return a / np.linalg.norm(a)


def moving_pair():
    """Two frames on random paths r(t), R(t) with constant angular velocity, and their twists at t = 0."""
    rng = np.random.default_rng(7)
    (r_i, r_j, v_i, v_j, w_i, w_j, x_i, x_j), a = rng.normal(size=(8, 3)), unit(rng.normal(size=3))

    def pose(t):
        return (r_i + v_i * t, exp(w_i * t) @ exp(x_i)), (r_j + v_j * t, exp(w_j * t) @ exp(x_j))

    return pose, (v_i, w_i, v_j, w_j), a


def wrench(kind, a, poses):
    (r_i, rotation_i), (r_j, rotation_j) = poses
    vectors, gradient, axes = np.zeros((1, 4, 3)), np.zeros((1, 9)), np.array([[a, a, a]])
    at, turned = np.array([r_i, r_j]), np.array([rotation_i, rotation_j])
    measures.evaluate(kind, axes, 0, 0, 1, at, turned, vectors, gradient)
    return gradient[0]


def test_axis_rate_is_how_the_second_body_passes_the_first_origin():
    pose, (v_i, w_i, v_j, w_j), a = moving_pair()
    g = wrench(measures.AXIS_RATE, a, pose(0.0))

    def seen(t):  # the first origin in the axes of the second frame
        (r_i, _), (r_j, rotation) = pose(t)
        return rotation.T @ (r_i - r_j)

    h = 1e-6
    (_, rotation_i), (_, rotation_j) = pose(0.0)
    expected = -(rotation_i @ a) @ rotation_j @ (seen(h) - seen(-h)) / (2 * h)
    assert g[:3] @ (v_j - v_i) + g[3:6] @ w_i + g[6:] @ w_j == pytest.approx(expected, abs=1e-8)


def test_reactions_of_a_blade_are_in_balance():
    pose, _, a = moving_pair()
    (r_i, _), (r_j, _) = pose(0.0)
    g = wrench(measures.AXIS_RATE, a, pose(0.0))
    np.testing.assert_allclose(g[3:6] + g[6:] + np.cross(r_j - r_i, g[:3]), 0.0, atol=1e-12)


def two_bodies(rng, profile=0.0):
    """Two free bodies, one with a blade that runs on the other."""
    first, second = (
        fm.RigidBody(n, 2.0, np.diag([0.2, 0.3, 0.4]), center=(0.1, 0.2, 0.3), position=rng.normal(size=3),
                     rotation=exp(rng.normal(size=3)), velocity=rng.normal(size=3), angular_velocity=rng.normal(size=3))
        for n in ("first", "second")
    )  # fmt: skip
    blade = fm.KnifeEdge("blade", first.at(0.3, 0.1, 0.2, axes=(0.1, 0.2, 0.3)), second.at(0.2, 0, 0), axis=(1, 2, 3))
    if profile:
        (row,) = blade.rows
        slide = type("Slide", (fm.KnifeEdge,), {"rows": (Row(row.terms, "slip", profile),)})
        return fm.System([fm.Ground(), first, second], [slide("slide", blade.frame_i, blade.frame_j, blade.axis)])
    return fm.System([fm.Ground(), first, second], [blade])


def test_rows_have_no_position_and_their_gamma_is_the_derivative_of_their_rate():
    system = two_bodies(np.random.default_rng(7), fm.Polynomial([0.4, 0.3, 0.2]))
    q, v, h = system.initial.q, np.random.default_rng(8).normal(size=12), 1e-6

    def rate(t):  # velocities constant: J v' = 0; the rotations follow their angular velocities
        return system.evaluate(t, system.retract(q, t * v), v).phi_rate[0]

    work = system.evaluate(0.0, q, v)
    assert not system.holonomic.any()
    assert work.phi[0] == 0.0
    assert work.phi_rate[0] == pytest.approx((system.jacobian(work) @ v)[0] - 0.4)
    assert work.gamma[0] == pytest.approx(-(rate(h) - rate(-h)) / (2 * h), rel=1e-7)


def test_two_bodies_keep_energy_and_both_momenta():
    system = two_bodies(np.random.default_rng(7))
    result = fm.forward_dynamics(system, 1.0, step=0.1, integrator=fm.TangentSpaceODE(rtol=1e-10, atol=1e-12))

    def momenta(q, v):
        p, turning = np.zeros(3), np.zeros(3)
        for k, body in enumerate(system.bodies[1:]):
            mass, c, inertia = body.mass_parameters
            rotation = system.evaluate(0.0, q, v).rotation[k + 1]
            r, u, w = q[7 * k : 7 * k + 3], v[6 * k : 6 * k + 3], v[6 * k + 3 : 6 * k + 6]
            p += mass * (u + rotation @ np.cross(w, c))
            turning += np.cross(r, mass * (u + rotation @ np.cross(w, c)))
            turning += rotation @ (mass * np.cross(c, rotation.T @ u) + inertia @ w)
        return np.concatenate([p, turning])

    every = np.array([momenta(q, v) for q, v in zip(result.q, result.v, strict=True)])
    np.testing.assert_allclose(every, np.broadcast_to(every[0], every.shape), atol=1e-8)
    np.testing.assert_allclose(result.energy.total, result.energy.total[0], rtol=1e-8)
    assert np.abs(result.multipliers).max() > 0.1


def test_velocity_rows_count_in_mobility_but_do_not_place_bodies():
    ground, body = fm.Ground(), fm.PlanarBody("b", 1.0, 0.5, position=(1.0, 2.0), angle=0.4, velocity=(1.0, 0.0))
    system = fm.System([ground, body], [fm.planar.KnifeEdge("blade", body.at(0, 0), ground.at(0, 0), axis=(0, 1))])
    np.testing.assert_allclose(system.initial.q, (1.0, 2.0, 0.4))
    assert system.mobility == 2
    assert system.initial.v[:2] @ (-np.sin(0.4), np.cos(0.4)) == pytest.approx(0.0, abs=1e-12)


def test_positions_close_across_blades():
    """A pin that misses sideways is closed, as if there were no blade."""
    ground, body = fm.Ground(), fm.PlanarBody("b", 1.0, 0.5, position=(0.0, 0.1), angle=0.0)
    line = fm.planar.PointOnLine("line", ground.at(0, 0), body.at(0, 0), axis="x")
    blade = fm.planar.KnifeEdge("blade", body.at(0, 0), ground.at(0, 0), axis="y")
    system = fm.System([ground, body], [line, blade])
    np.testing.assert_allclose(system.initial.q, 0.0, atol=1e-12)


def test_what_makes_no_sense_is_refused():
    ground, body = fm.Ground(), fm.PlanarBody("b", 1.0, 0.5)
    blade = fm.planar.KnifeEdge("blade", body.at(0, 0), ground.at(0, 0))
    with pytest.raises(fm.ModelError, match="blade: the axis of a planar joint lies in the x-y plane"):
        fm.planar.KnifeEdge("blade", body.at(0, 0), ground.at(0, 0), axis="z")
    with pytest.raises(fm.ModelError, match="positions or velocities"):
        Row((*blade.rows[0].terms, (1.0, blade.turned("z"))), "mixture")
    with pytest.raises(fm.AnalysisError, match="blade: slip across the blade is a relation of velocities"):
        fm.kinematics(fm.System([ground, body], [blade]), np.linspace(0.0, 1.0, 3))
