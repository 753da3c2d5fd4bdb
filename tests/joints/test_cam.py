"""Cam pairs: lifts, contact points and forces known in closed form; contact coordinates without mass."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm

FORMULATIONS = [
    fm.Multipliers(), fm.Maggi(), fm.Maggi(basis="qr"), fm.UdwadiaKalaba(), fm.Gauss(), fm.GibbsAppell(),
    fm.AugmentedLagrangian(),
]  # fmt: skip
SPEED, MASS, G = 7.0, 0.4, 9.81


def driven(profile, follower_curve, motion=lambda t: 0.2 + SPEED * t, **options):
    """A driven cam under a follower that slides along y."""
    ground = fm.Ground()
    cam, follower = fm.PlanarBody("cam", 1.0, 0.01), fm.PlanarBody("follower", MASS, 0.01)
    shaft = fm.planar.Revolute("shaft", ground.at(0, 0), cam.at(0, 0))
    guide = fm.planar.Prismatic("guide", ground.at(0, 0), follower.at(0, 0), axis="y", start=0.1)
    pair = fm.planar.Cam("pair", cam.at(0, 0), follower.at(0, 0), profile, follower_curve, **options)
    drive = fm.Drive("drive", shaft.angle, motion)
    system = fm.System([ground, cam, follower], [shaft, guide, pair, drive], [fm.Gravity((0, -G, 0))])
    return system, shaft, guide, pair, drive


def check_lift(system, shaft, guide, pair, drive, law):
    """Lift, velocity, acceleration, contact force and driving torque of lift(angle) with its two derivatives."""
    times = np.linspace(0.0, 2.0, 41)
    result = fm.inverse_dynamics(system, times)
    angle = result.coordinate(shaft.angle)
    y, y1, y2 = (f(angle) for f in law)
    assert_allclose(result.coordinate(guide.distance), y, atol=1e-9)
    assert_allclose(result.velocity(guide.frame_j)[:, 1], y1 * SPEED, atol=1e-8)
    assert_allclose(result.acceleration(guide.frame_j)[:, 1], y2 * SPEED**2, atol=1e-6)
    force = MASS * (y2 * SPEED**2 + G)
    assert_allclose(result.reaction(pair)[:, 1], force, atol=1e-6)
    assert_allclose(result.reaction(drive), force * y1, atol=1e-6)
    return result


def test_eccentric_circle_under_a_flat_follower():
    radius, offset = 0.03, 0.012
    model = driven(fm.planar.Circle(radius, (offset, 0.0)), fm.planar.Line(), parameters=(np.pi / 2, 0.0))
    assert model[0].mobility == 0
    law = (
        lambda a: radius + offset * np.sin(a), lambda a: offset * np.cos(a), lambda a: -offset * np.sin(a)
    )  # fmt: skip
    result = check_lift(*model, law)
    angle = result.coordinate(model[1].angle)
    assert_allclose(result.coordinate(model[3].parameter_i), np.pi / 2 - angle, atol=1e-9)
    assert_allclose(result.coordinate(model[3].parameter_j), offset * np.cos(angle), atol=1e-9)
    # the contact force acts where the contact is: offset cos(angle) beside the follower's origin
    assert_allclose(
        result.reaction(model[3])[:, 2], result.reaction(model[3])[:, 1] * offset * np.cos(angle), atol=1e-8
    )


def test_cam_with_a_law_of_polynomials_lifts_a_flat_follower_by_it():
    """The outline with support function p(ψ), n its normal: c = p n + p' n'; a flat follower sees p(π/2 - angle)."""
    p = np.polynomial.Polynomial([0.03, 0.004, 0.006, -0.003, 0.002])
    p1, p2 = p.deriv(), p.deriv(2)

    def outline(s):
        n, along = np.array([np.cos(s), np.sin(s)]), np.array([-np.sin(s), np.cos(s)])
        return p(s - 1.4) * n + p1(s - 1.4) * along

    curve = fm.planar.Curve(outline, closed=False, over=(0.2, 2.6), samples=300)
    motion = fm.Polynomial((0.0, 0.4))
    model = driven(curve, fm.planar.Line(), motion, parameters=(np.pi / 2, 0.0))
    result = fm.kinematics(model[0], np.linspace(0.0, 2.0, 11))
    s = np.pi / 2 - result.coordinate(model[1].angle) - 1.4
    assert_allclose(result.coordinate(model[2].distance), p(s), atol=1e-9)
    assert_allclose(result.velocity(model[2].frame_j)[:, 1], -0.4 * p1(s), atol=1e-9)
    assert_allclose(result.acceleration(model[2].frame_j)[:, 1], 0.16 * p2(s), atol=1e-8)


def circles(kind, integrator=None, **body):
    """A disc that slides around another one that hangs on a pivot: contact, or a rod between their centres."""
    ground = fm.Ground()
    one = fm.PlanarBody("one", 1.0, 0.02, center=(0.05, -0.1))
    two = fm.PlanarBody("two", 0.7, 0.01, center=(0.02, 0.01), position=(0.3, 0.4), angle=0.3)
    pivot = fm.planar.Revolute("pivot", ground.at(0, 0), one.at(0.1, 0.2), start=0.4, rate=0.5)
    frames = one.at(0.0, -0.1, axes=[0, 0, 0.7]), two.at(0.05, 0.02, axes=[0, 0, -0.4])
    if kind == "cam":
        joint = fm.planar.Cam("joint", *frames, fm.planar.Circle(0.2), fm.planar.Circle(0.15))
    else:
        joint = fm.planar.Distance("joint", *frames, length=0.35)
    return fm.System([ground, one, two], [pivot, joint], [fm.Gravity((0, -G, 0))]), joint, two


def same_start(kind):
    """Both mechanisms in one position, with the same velocities."""
    rod, _, _ = circles("rod")
    start = rod.initial
    system, joint, two = circles(kind)
    if kind == "rod":
        return system, joint, two, start
    q = np.concatenate([start.q, system.walked[0][6:]])
    frames = system.evaluate(0.0, q, np.zeros(system.n_v))
    i, j = (system.frames.number(f) for f in (joint.frame_i, joint.frame_j))
    way = frames.frame_position[j] - frames.frame_position[i]
    local = [frames.frame_rotation[k].T @ (s * way) for k, s in ((i, 1), (j, -1))]
    q[6:8] = [np.arctan2(w[1], w[0]) for w in local]
    work = system.evaluate(0.0, q, np.zeros(system.n_v))
    v = np.concatenate([start.v, np.zeros(3)])
    v[6:] = np.linalg.lstsq(system.jacobian(work).toarray()[:, 6:], -system.jacobian(work) @ v, rcond=None)[0]
    return system, joint, two, fm.State(0.0, q, v, work.measure)


@pytest.mark.parametrize("integrator", [fm.GeneralizedAlpha(), fm.TangentSpaceODE()], ids=["alpha", "tangent"])
def test_two_circles_move_like_a_rod_between_their_centres(integrator):
    found = []
    for kind in ("rod", "cam"):
        system, joint, two, state = same_start(kind)
        result = fm.forward_dynamics(system, 0.3, 0.005, output_step=0.1, integrator=integrator, start=state)
        assert result.outcome == "finished"
        assert result.constraint_error.max() < 1e-10
        found.append((result.position(two.at(0.3, 0.2)), result.reaction(joint)[1:, :2]))
    assert_allclose(found[1][0], found[0][0], atol=1e-6)
    assert_allclose(found[1][1], found[0][1], atol=1e-5)
    assert np.ptp(found[0][0], axis=0).max() > 0.15


def test_contact_of_circles_moves_and_pushes_like_the_rod_in_every_formulation():
    found = []
    for kind in ("rod", "cam"):
        system, joint, _, state = same_start(kind)
        work = system.evaluate(0.0, state.q, state.v)
        assert np.abs(work.phi).max() < 1e-12
        assert np.abs(work.phi_rate).max() < 1e-12
        for formulation in FORMULATIONS:
            solution = fm.accelerations(system, 0.0, state.q, state.v, formulation, state.angles)
            result = fm.Result(
                system, np.zeros(1), state.q[None], state.v[None], solution.accelerations[None],
                solution.multipliers[None], state.angles[None],
            )  # fmt: skip
            found.append(np.concatenate([solution.accelerations[:6], result.reaction(joint)[0, :2]]))
    for other in found[1:]:
        assert_allclose(other, found[0], atol=1e-8)


def test_statics_and_modes_of_a_disc_in_a_bowl():
    """A disc of radius r in a bowl of radius R swings as a pendulum of length R - r (it slides, without turning)."""
    ground = fm.Ground()
    disc = fm.PlanarBody("disc", 0.8, 0.01, position=(0.2, -0.3), angle=0.0)
    bowl, own = fm.planar.Circle(0.5), fm.planar.Circle(0.1)
    pair = fm.planar.Cam("pair", ground.at(0, 0), disc.at(0, 0), bowl, own, parameters=(-1.2, -1.2))
    upright = fm.Drive("upright", fm.component(disc.at(0, 0), "angle"), 0.0)
    system = fm.System([ground, disc], [pair, upright], [fm.Gravity((0, -G, 0))])
    rest = fm.statics(system)
    assert rest.stable
    assert_allclose(rest.position(disc)[0], [0, -0.4, 0], atol=1e-8)
    assert_allclose(rest.reaction(pair)[0], [0, 0.8 * G, 0], atol=1e-7)
    assert_allclose(fm.modes(system).frequencies, np.sqrt(G / 0.4) / (2 * np.pi), rtol=1e-8)


def test_a_system_made_of_the_parts_of_another_has_the_same_contact():
    system, _, _, pair, _ = driven(fm.planar.Circle(0.03, (0.01, 0.0)), fm.planar.Line(), parameters=(np.pi / 2, 0.0))
    again = fm.System(system.bodies, system.joints, system.forces)
    assert (again.n_v, len(again.rows)) == (system.n_v, len(system.rows))
    assert_allclose(again.initial.q, system.initial.q)
    free = fm.System(system.bodies, [j for j in system.joints if j.name != "drive"], system.forces)
    model = fm.linearise(free, inputs=[pair.parameter_i], outputs=[pair.parameter_j], about=fm.statics(free))
    assert model.A.shape == (2, 2)


def test_points_of_a_curve_and_a_function_give_the_same_curve():
    s = np.linspace(0, 2 * np.pi, 301)
    ellipse = fm.planar.Curve(lambda x: (0.3 * np.cos(x), 0.2 * np.sin(x)))
    assert_allclose(ellipse.point(s), np.column_stack([0.3 * np.cos(s), 0.2 * np.sin(s)]), atol=1e-11)
    assert_allclose(ellipse.derivatives(0.7)[3], [0.3 * np.sin(0.7), -0.2 * np.cos(0.7)], atol=1e-7)
    assert_allclose(ellipse.derivatives(0.7), ellipse.derivatives(0.7 + 4 * np.pi), atol=1e-12)
    by_points = fm.planar.Curve(ellipse.point(s))
    way = by_points.point(np.linspace(0, 2 * np.pi, 50)) / (0.3, 0.2)
    assert_allclose(np.linalg.norm(way, axis=1), 1.0, atol=1e-8)
    opened = fm.planar.Curve(ellipse.point(s)[:100], closed=False, over=(0.0, 1.0))
    assert_allclose(opened.point([0.0, 1.0]), ellipse.point(s[[0, 99]]), atol=1e-12)


def test_contact_that_runs_off_an_open_curve_is_refused():
    arc = fm.planar.Curve(lambda s: (0.03 * np.cos(s), 0.03 * np.sin(s)), closed=False, over=(1.0, 2.2))
    system = driven(arc, fm.planar.Line(reach=0.05), lambda t: t, parameters=(np.pi / 2, 0.0))[0]
    fm.kinematics(system, np.linspace(0.0, 0.5, 6))
    with pytest.raises(fm.ModelError, match="the contact has run off the end of an open curve"):
        fm.kinematics(system, np.linspace(0.0, 1.5, 16))


def test_bad_cams_are_refused():
    ground, body, solid = fm.Ground(), fm.PlanarBody("body", 1.0, 1.0), fm.RigidBody("solid", 1.0, np.eye(3))
    circle = fm.planar.Circle(0.1)
    with pytest.raises(fm.ModelError, match="pair: curve_j is a curve such as"):
        fm.planar.Cam("pair", ground.at(0, 0), body.at(0, 0), circle, 0.1)
    with pytest.raises(fm.ModelError, match="pair: 'solid' is a RigidBody, which moves in space"):
        fm.planar.Cam("pair", ground.at(0, 0), solid.at(0, 0), circle, circle)
    with pytest.raises(fm.ModelError, match="pair: parameters"):
        fm.planar.Cam("pair", ground.at(0, 0), body.at(0, 0), circle, circle, parameters=1.0)
    with pytest.raises(fm.ModelError, match="Circle: radius"):
        fm.planar.Circle(-1.0)
    with pytest.raises(fm.ModelError, match="direction must not be zero"):
        fm.planar.Line(direction=(0, 0))
    with pytest.raises(fm.ModelError, match="Line: reach"):
        fm.planar.Line(reach=0.0)
    with pytest.raises(fm.ModelError, match="it does not close"):
        fm.planar.Curve(lambda s: (s, s * s))
    with pytest.raises(fm.ModelError, match="two finite numbers"):
        fm.planar.Curve(lambda s: s)
    with pytest.raises(fm.ModelError, match="at least 6 pairs"):
        fm.planar.Curve([(0, 0), (1, 1)])
    with pytest.raises(fm.ModelError, match="point 2 is there twice"):
        fm.planar.Curve([(0, 0), (1, 1), (1, 1), (0, 2), (-1, 1), (-2, 0), (-1, -1)])
    with pytest.raises(fm.ModelError, match="over must be two parameters"):
        fm.planar.Curve(lambda s: (s, s), closed=False, over=(1.0, 0.0))
    with pytest.raises(fm.ModelError, match="samples"):
        fm.planar.Curve(lambda s: (s, s), closed=False, samples=3)
    other = fm.PlanarBody("other", 1.0, 1.0)
    with pytest.raises(fm.ModelError, match="refers to space: add"):
        fm.System([body, other], [fm.planar.Cam("pair", other.at(0, 0), body.at(0, 0), circle, circle)])
