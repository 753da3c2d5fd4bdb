"""Constraints and relations by Python functions: they are what the joint with the same rows is, by any derivatives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm
from flexmbs.rotations import exp
from flexmbs.system.linear import linearised

LENGTH = 0.83
TIGHT = fm.TangentSpaceODE(rtol=1e-9, atol=1e-11)


def pair(*joints, planar=False):
    """Two bodies with joints made by functions of their frames."""
    ground, rng = fm.Ground(), np.random.default_rng(4)
    if planar:
        bodies = [fm.PlanarBody(n, 1.0, 0.1, center=(0.1, 0.2), position=rng.normal(size=2), angle=0.4) for n in "ab"]
    else:
        bodies = [
            fm.RigidBody(n, 1.0, np.diag([0.1, 0.2, 0.25]), center=(0.1, 0.2, 0.3), position=rng.normal(size=3),
                         rotation=exp(rng.normal(size=3)))
            for n in "ab"
        ]  # fmt: skip
    turned = [0, 0, 0.3] if planar else [0.3, -0.5, 0.2]
    one, two = bodies[0].at(0.2, 0.1, 0, axes=turned), bodies[1].at(-0.1, 0.3, 0, axes=turned)
    made = [joint(one, two) for joint in joints]
    return fm.System([ground, *bodies], made, [fm.Gravity((1.0, -9.81, 0.5))])


def rod(one, two):
    return fm.Distance("rod", one, two, length=LENGTH)


def by_duals(one, two):
    def apart(t, states):
        d = states[1].position - states[0].position
        return np.sqrt(d @ d) - LENGTH

    return fm.UserConstraint("rod", [one, two], apart)


def by_differences(one, two):
    """math.dist wants floats."""
    return fm.UserConstraint("rod", [one, two], lambda t, s: math.dist(s[0].position, s[1].position) - LENGTH)


def by_jacobian(one, two):
    def gradient(t, states):
        d = states[1].position - states[0].position
        d = d / np.linalg.norm(d)
        return [[[*-d, 0, 0, 0], [*d, 0, 0, 0]]]

    function = lambda t, s: math.dist(s[0].position, s[1].position) - LENGTH  # noqa: E731
    return fm.UserConstraint("rod", [one, two], function, jacobian=gradient)


def parallel(one, two):
    """The two rows that keep the z axes of two frames parallel, as declared."""
    return fm.PlaneJoint("plane", one, two)


def parallel_by_function(one, two):
    def rows(t, states):
        a, b = states[0].rotation, states[1].rotation
        d = states[1].position - states[0].position
        return [a[:, 2] @ d, a[:, 0] @ b[:, 2], a[:, 1] @ b[:, 2]]

    return fm.UserConstraint("plane", (one, two), rows, rows=3)


def blade(one, two):
    return fm.KnifeEdge("blade", one, two)


def blade_by_function(one, two):
    """The velocity of the second body where it passes the first origin, against the first's, along the first's y."""

    def slip(t, states):
        i, j = states
        passing = j.velocity + np.cross(j.angular_velocity, i.position - j.position) - i.velocity
        return i.rotation[:, 1] @ passing

    return fm.UserConstraint("blade", [one, two], slip, level="velocity")


def blade_by_differences(one, two):
    def slip(t, states):
        i, j = states
        passing = j.velocity + np.cross(j.angular_velocity, i.position - j.position) - i.velocity
        return float(i.rotation[:, 1] @ passing)

    return fm.UserConstraint("blade", [one, two], slip, level="velocity")


def state(system):
    """A random state that need not be closed."""
    rng = np.random.default_rng(8)
    q = system.retract(system.walked[0], 0.3 * rng.normal(size=system.n_v))
    return q, rng.normal(size=system.n_v)


CASES = [
    (rod, by_duals, 1e-13),
    (rod, by_differences, 1e-9),
    (rod, by_jacobian, 1e-9),
    (parallel, parallel_by_function, 1e-13),
    (blade, blade_by_function, 1e-13),
    (blade, blade_by_differences, 1e-9),
]


@pytest.mark.parametrize("planar", [False, True])
@pytest.mark.parametrize(("joint", "function", "tolerance"), CASES)
def test_a_function_is_the_joint_with_the_same_rows(joint, function, tolerance, planar):
    """φ, φ', J, γ, and the derivative of Jᵀλ."""
    one, two = (pair(j, planar=planar) for j in (joint, function))
    q, v = state(one)
    a, b = (s.evaluate(0.3, q, v) for s in (one, two))
    assert_allclose(b.phi, a.phi, atol=tolerance)
    assert_allclose(b.phi_rate, a.phi_rate, atol=tolerance)
    assert_allclose(b.gamma, a.gamma, atol=tolerance * np.abs(a.gamma).max() + tolerance)
    assert_allclose(two.jacobian(b).toarray(), one.jacobian(a).toarray(), atol=tolerance)
    rng = np.random.default_rng(2)
    rate, multipliers = rng.normal(size=one.n_v), rng.normal(size=len(one.rows))
    first, second = (linearised(s, 0.3, q, v, rate, multipliers, w.measure) for s, w in ((one, a), (two, b)))
    assert_allclose(second.stiffness, first.stiffness, atol=1e-8)
    assert_allclose(second.damping, first.damping, atol=1e-8)
    assert_allclose(second.residual, first.residual, atol=1e-9)
    assert_array_size(one, two)


def assert_array_size(one, two):
    assert two.mobility == one.mobility
    np.testing.assert_array_equal(two.holonomic, one.holonomic)


@pytest.mark.parametrize(("joint", "function"), [(rod, by_duals), (blade, blade_by_function), (rod, by_differences)])
@pytest.mark.parametrize("integrator", [fm.GeneralizedAlpha(tolerance=1e-10), TIGHT, fm.Projected()], ids=repr)
def test_a_function_moves_and_reacts_like_the_joint(joint, function, integrator):
    """The same steps, not only the same limit."""
    found = []
    for made in (joint, function):
        system = pair(made)
        result = fm.forward_dynamics(system, 0.2, 0.01, output_step=0.05, integrator=integrator)
        assert result.outcome == "finished"
        assert result.constraint_error.max() < 1e-9
        found.append(result)
    assert_allclose(found[1].q, found[0].q, atol=2e-8)
    assert_allclose(found[1].multipliers, found[0].multipliers, atol=1e-5)


def test_long_steps_close_a_function_as_they_close_a_joint():
    """A step's prediction misses by some (ω h)³ r: one linearisation about it would leave 1e-6 of the radius."""
    found = []
    for kind in ("rod", "function"):
        ground, bead = fm.Ground(), fm.PointMass("bead", 1.0, position=(LENGTH, 0, 0), velocity=(0, 8.0 * LENGTH, 0))
        make = rod if kind == "rod" else by_duals
        system = fm.System([ground, bead], [make(ground.at(0, 0, 0), bead.at())], [fm.Gravity((0, 0, -9.81))])
        result = fm.forward_dynamics(system, 0.4, 0.02)
        assert result.constraint_error.max() < 1e-11
        found.append(result)
    assert_allclose(found[1].q, found[0].q, atol=1e-7)


@pytest.mark.parametrize(
    "integrator", [fm.GeneralizedAlpha(), TIGHT, fm.Projected()], ids=["alpha", "tangent", "projected"]
)
def test_a_function_need_not_be_linear_in_the_velocities(integrator):
    """A point that falls with constant speed c (Appell): it turns as c θ' = -g cos θ, sin θ = -tanh(g t/c)."""
    c, g = 3.0, 9.81
    ground, point = fm.Ground(), fm.PointMass("point", 1.3, position=(0, 0, 0), velocity=(c, 0, 0))
    speed = fm.UserConstraint("speed", point.at(), lambda t, s: s[0].velocity @ s[0].velocity - c * c, level="velocity")
    system = fm.System([ground, point], [speed], [fm.Gravity((0, -g, 0))])
    result = fm.forward_dynamics(system, 0.5, 0.005, output_step=0.1, integrator=integrator)
    assert_allclose(np.linalg.norm(result.v, axis=1), c, rtol=1e-10)
    atol = 1e-4 if isinstance(integrator, fm.GeneralizedAlpha) else 1e-7
    assert_allclose(result.v[:, 1], -c * np.tanh(g * result.t / c), atol=atol)


def crank(lift, function, **options):
    """A slider that follows a law of a crank's angle."""
    ground, wheel, slider = fm.Ground(), fm.PlanarBody("wheel", 2.0, 0.05), fm.PlanarBody("slider", 0.7, 0.01)
    shaft = fm.planar.Revolute("shaft", ground.at(0, 0), wheel.at(0, 0), rate=3.0)
    guide = fm.planar.Prismatic("guide", ground.at(0, 0), slider.at(0, 0), axis="y", start=lift(0.0))
    law = fm.Relation("law", function, [shaft.angle, guide.distance], **options)
    system = fm.System([ground, wheel, slider], [shaft, guide, law], [fm.Gravity((0, -9.81, 0))])
    return system, shaft, guide, law


def lift(angle):
    return 0.1 + 0.03 * np.sin(2 * angle) + 0.02 * np.cos(angle)


@pytest.mark.parametrize(
    "function",
    [
        lambda angle, travel: travel - lift(angle),
        lambda angle, travel: travel - 0.1 - 0.03 * math.sin(2 * angle) - 0.02 * math.cos(angle),
    ],
    ids=["duals", "differences"],
)
@pytest.mark.parametrize("integrator", [fm.GeneralizedAlpha(), TIGHT], ids=["alpha", "tangent"])
def test_relation_of_coordinates_keeps_its_law_and_the_energy(function, integrator):
    """½ (J + m y'²) ω² + m g y with y a function of the angle: a motion of one coordinate with known energy."""
    system, shaft, guide, law = crank(lift, function)
    result = fm.forward_dynamics(system, 2.2, 0.005, output_step=0.2, integrator=integrator)
    angle, travel = result.coordinate(shaft.angle), result.coordinate(guide.distance)
    assert angle[-1] > 2 * np.pi  # more than a turn
    assert_allclose(travel, lift(angle), atol=1e-10)
    speed = result.v[:, 2]
    slope = 0.06 * np.cos(2 * angle) - 0.02 * np.sin(angle)
    energy = 0.5 * (0.05 + 0.7 * slope**2) * speed**2 + 0.7 * 9.81 * travel
    tight = isinstance(integrator, fm.TangentSpaceODE)
    assert_allclose(energy, energy[0], atol=1e-8 if tight else 2e-4)
    # λ is the force along the travel
    assert_allclose(result.reaction(law), 0.7 * (result.rate[:, 4] + 9.81), atol=1e-8 if tight else 1e-3)


def test_relation_with_time_and_a_profile_is_a_drive():
    ramp = fm.SmoothStep(0.0, 0.2, 0.0, 1.0)
    driven, shaft, guide, law = crank(lambda a: 0.1, lambda angle, travel, t: travel - 0.1 - ramp(t) * np.cos(angle))
    drive = fm.Drive("drive", shaft.angle, lambda t: 0.3 + t * t)
    system = fm.System(driven.bodies, [*driven.joints, drive], driven.forces)
    result = fm.inverse_dynamics(system, np.linspace(0.0, 0.8, 9))
    t, angle = result.t, 0.3 + result.t**2
    assert_allclose(result.coordinate(guide.distance), 0.1 + ramp.value(t) * np.cos(angle), atol=1e-11)
    y1 = ramp.rate(t) * np.cos(angle) - ramp.value(t) * np.sin(angle) * 2 * t
    assert_allclose(result.v[:, 4], y1, atol=1e-10)
    # what the drives supply is what the energy gains: the relation drives too
    energy = result.energy
    force, torque = result.reaction(law), result.reaction(drive)
    assert_allclose(
        energy.power_of_drives.sum(axis=1), force * ramp.rate(t) * np.cos(angle) + torque * 2 * t, atol=1e-10
    )


def test_statics_and_modes_with_a_relation():
    """A mass on a parabola y = a x²: ω² = 2 a g."""
    ground, bead = fm.Ground(), fm.PointMass("bead", 0.3, position=(0.2, 0.1, 0.0))
    x, y, z = (fm.component(bead.at(), k) for k in "xyz")
    wire = fm.Relation("wire", lambda x, y: y - 1.7 * x**2, [x, y])
    system = fm.System([ground, bead], [wire, fm.Drive("flat", z, 0.0)], [fm.Gravity((0, -9.81, 0))])
    rest = fm.statics(system)
    assert_allclose(rest.position(bead)[0], 0.0, atol=1e-9)
    assert_allclose(rest.reaction(wire), 0.3 * 9.81)
    assert_allclose(fm.modes(system).frequencies, np.sqrt(2 * 1.7 * 9.81) / (2 * np.pi), rtol=1e-9)


def test_reaction_on_the_ground_of_a_function():
    ground, body = fm.Ground(), fm.PlanarBody("body", 2.0, 0.1)
    holder = fm.UserConstraint(
        "holder", [body.at(0, 0), ground.at(0, 0)], lambda t, s: (s[0].position - s[1].position)[:2], rows=2
    )
    stop = fm.Drive("stop", fm.component(body.at(0, 0), "angle"), 0.0)
    system = fm.System([ground, body], [holder, stop], [fm.Gravity((0, -10.0, 0))])
    rest = fm.statics(system)
    assert_allclose(rest.reaction(holder), [[0.0, 20.0]], atol=1e-9)
    assert_allclose(rest.reaction(ground)[0, :3], [0, -20.0, 0], atol=1e-9)


def test_bad_functions_are_refused():
    ground, body = fm.Ground(), fm.PlanarBody("body", 1.0, 1.0)
    hinge = fm.planar.Revolute("hinge", ground.at(0, 0), body.at(0, 0))
    frame = body.at(0, 0)
    with pytest.raises(fm.ModelError, match="needs a name"):
        fm.UserConstraint("", frame, lambda t, s: 0.0)
    with pytest.raises(fm.ModelError, match="user: frames are one or several"):
        fm.UserConstraint("user", [body], lambda t, s: 0.0)
    with pytest.raises(fm.ModelError, match="user: frames are one or several"):
        fm.UserConstraint("user", [], lambda t, s: 0.0)
    with pytest.raises(fm.ModelError, match="user: function takes"):
        fm.UserConstraint("user", frame, 3.0)
    with pytest.raises(fm.ModelError, match="user: jacobian takes"):
        fm.UserConstraint("user", frame, lambda t, s: 0.0, jacobian=3.0)
    with pytest.raises(fm.ModelError, match='user: level is "position" or "velocity"'):
        fm.UserConstraint("user", frame, lambda t, s: 0.0, level="acceleration")
    with pytest.raises(fm.ModelError, match="user: rows is how many"):
        fm.UserConstraint("user", frame, lambda t, s: 0.0, rows=0)
    for function, match in (
        (lambda t, s: [0.0, 0.0], r"user: its function must return 1 number"),
        (lambda t, s: s[0].position[0] / 0.0, "user: its function is not finite"),
    ):
        with pytest.raises(fm.ModelError, match=match):
            _ = fm.System([ground, body], [fm.UserConstraint("user", frame, function)]).initial
    user = fm.UserConstraint("user", frame, lambda t, s: 0.0, jacobian=lambda t, s: [1.0])
    with pytest.raises(fm.ModelError, match="user: jacobian must return 1 x 1 x 6"):
        _ = fm.System([ground, body], [user]).initial
    with pytest.raises(fm.ModelError, match="user refers to space: add"):
        fm.System([body], [fm.UserConstraint("user", frame, lambda t, s: 0.0)])
    with pytest.raises(fm.ModelError, match="law: function takes the coordinates"):
        fm.Relation("law", 1.0, [hinge.angle])
    with pytest.raises(fm.ModelError, match="law: coordinates is a list"):
        fm.Relation("law", lambda a: a, [])
    with pytest.raises(fm.ModelError, match="law: a joint's coordinate is needed"):
        fm.Relation("law", lambda a: a, [hinge])
    with pytest.raises(fm.ModelError, match=r"law: its function takes .* there are 1 coordinates"):
        fm.Relation("law", lambda a, b, t: a, [hinge.angle])
    bad = fm.Relation("law", lambda a: 1.0 / (a - a), [hinge.angle])
    with pytest.raises(fm.ModelError, match="law: its function fails at"):
        _ = fm.System([ground, body], [hinge, bad]).initial
    law = fm.Relation("law", lambda a: [a, a], [hinge.angle])
    with pytest.raises(fm.ModelError, match="law: its function must return one number"):
        _ = fm.System([ground, body], [hinge, law]).initial
    with pytest.raises(fm.ModelError, match=r"law: hinge\.angle belongs to joint 'hinge', which is not among"):
        fm.System([ground, body], [fm.Relation("law", lambda a: a, [hinge.angle])])
