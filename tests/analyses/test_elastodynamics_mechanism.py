"""Elastic motion of mechanisms about a known rigid motion, against the coupled equations and one body alone."""

from __future__ import annotations

import numpy as np
import pytest

import flexmbs as fm
from flexmbs import rotations
from flexmbs.analyses.elastic_mechanism import MovedMechanism, deviations, rigid_history
from flexmbs.integrators.newmark import at_rest

TIGHT = fm.GeneralizedAlpha(rho_inf=0.95)


def rod(young=2e11, **options):
    given = {"interfaces": ["start", "end"], "reduction": fm.CraigBampton(modes=4), **options}
    return fm.FlexibleBody(
        "rod", fm.Mesh.line((0, 0, 0), (0.3, 0, 0), 6), fm.Material(young, 0.3, 7870.0),
        section=fm.Section.rectangle(0.008, 0.008), **given,
    )  # fmt: skip


def engine(body, turning, load=0.075552):
    """Slider-crank; the rod is flexible, or rigid with the same mass properties."""
    ground = fm.Ground()
    crank = fm.RigidBody("crank", mass=0.1, inertia=np.diag([1e-4] * 3), center=(0.075, 0, 0))
    piston = fm.RigidBody("piston", mass=load, inertia=np.diag([1e-5] * 3))
    ends = [body.at("start"), body.at("end")] if body.modes else [body.at(0, 0, 0), body.at(0.3, 0, 0)]
    shaft = fm.Revolute("shaft", ground.at(0, 0, 0), crank.at(0, 0, 0), axis="z")
    joints = [
        shaft,
        fm.Revolute("crank_pin", crank.at(0.15, 0, 0), ends[0], axis="z"),
        fm.Spherical("wrist_pin", ends[1], piston.at(0, 0, 0)),
        fm.Prismatic("cylinder", ground.at(0, 0, 0), piston.at(0, 0, 0), axis="x"),
        fm.Drive("motor", shaft.angle, turning),
    ]
    return fm.System([ground, crank, body, piston], joints, [fm.Gravity((0, -9.81, 0))])


def elastic(result, body):
    at = result.system.layout.body_q[result.system.body_number(body) + 1]
    return result.q[:, at - body.modes : at]


def bend(result, body, middle=3):
    """Offset of the midpoint from the chord, across the rod."""
    middle, start, end = (body.reduced.frame(where) for where in (middle, "start", "end"))
    return elastic(result, body) @ (middle.displacement - (start.displacement + end.displacement) / 2)[1]


def residuals(result):
    """Largest entry of M v' - f - Jᵀλ of the full equations at some instants, relative to Jᵀλ."""
    out, forces = [], 0.0
    arrays = (result.t, result.q, result.v, result.rate, result.multipliers, result.angles)
    for t, q, v, rate, multipliers, angles in zip(*(a[1::5] for a in arrays), strict=True):
        e = result.system.equations(t, q, v, angles)
        pull = e.J.T @ multipliers
        out.append(np.abs(e.M @ rate - e.f - pull).max())
        forces = max(forces, np.abs(pull).max())
    return np.array(out) / forces


SPIN = fm.SpinUp(150.0, over=0.03)


@pytest.fixture(scope="module")
def crank_runs():
    """For two stiffnesses: the rod, elastodynamics, forward dynamics."""
    out = []
    for young in (1e11, 4e11):
        body = rod(young)
        system, rigid = engine(body, SPIN), engine(body.rigid(), SPIN)
        known = fm.kinematics(rigid, np.linspace(0, 0.03, 61))
        found = fm.elastodynamics(system, known, step=2.5e-5, output_step=5e-4)
        coupled = fm.forward_dynamics(system, t_end=0.03, step=2.5e-5, output_step=5e-4, integrator=TIGHT)
        out.append((body, found, coupled))
    return out


def test_converges_to_the_coupled_motion(crank_runs):
    errors = []
    for body, found, coupled in crank_runs:
        exact = bend(coupled, body)
        errors.append(np.abs(bend(found, body) - exact).max() / np.abs(exact).max())
    assert errors[0] < 0.01
    assert errors[1] < errors[0] / 4


def test_joint_forces_are_those_of_the_coupled_motion(crank_runs):
    _, found, coupled = crank_runs[1]
    for name in ("crank_pin", "wrist_pin", "cylinder", "motor"):
        of = next(j for j in found.system.joints if j.name == name)
        exact = coupled.reaction(of)
        np.testing.assert_allclose(found.reaction(of), exact, atol=2e-3 * np.abs(exact).max())


def test_the_slider_moves_with_the_stretching_rod():
    """A heavy slider: its inertia stretches the rod, and bending shortens it."""
    body = rod(4e11)
    system, rigid = engine(body, SPIN, 0.5), engine(body.rigid(), SPIN, 0.5)
    known = fm.kinematics(rigid, np.linspace(0, 0.03, 61))
    found = fm.elastodynamics(system, known, step=2.5e-5, output_step=5e-4)
    coupled = fm.forward_dynamics(system, t_end=0.03, step=2.5e-5, output_step=5e-4, integrator=TIGHT)
    straight = known.position(rigid.bodies[3])[:, 0]
    expected, mine = (r.position(system.bodies[3])[:, 0] - straight for r in (coupled, found))
    assert np.abs(expected).max() > 5e-6
    np.testing.assert_allclose(mine, expected, atol=0.05 * np.abs(expected).max())


def test_fulfils_the_full_equations_to_second_order(crank_runs):
    """M v' - f - Jᵀλ of the mechanism that deforms falls with the square of the deflection; joints are closed."""
    first, second = (residuals(found).max() for _, found, _ in crank_runs)
    assert second < first / 8
    for _, found, _ in crank_runs:
        assert found.constraint_error.max() < 1e-9


def test_floating_frames_make_no_difference():
    found = {}
    for frame in ("chord", "tangent", "mean"):
        body = rod(frame=frame)
        known = fm.kinematics(engine(body.rigid(), SPIN), np.linspace(0, 0.02, 41))
        found[frame] = bend(fm.elastodynamics(engine(body, SPIN), known, step=5e-5), body)
    for frame in ("tangent", "mean"):
        np.testing.assert_allclose(found[frame], found["chord"], atol=1e-6 * np.abs(found["chord"]).max())


def test_motions_of_each_body_instead_of_a_result():
    body = rod()
    known = fm.kinematics(engine(body.rigid(), SPIN), np.linspace(0, 0.02, 41))
    names = ("crank", "rod", "piston")
    motions = {name: fm.RigidMotion.of(known, name) for name in names}
    system = engine(body, SPIN)
    expected = bend(fm.elastodynamics(system, known, step=1e-4), body)
    found = bend(fm.elastodynamics(system, motions, step=1e-4), body)
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())
    turned = np.array([m.rotation for m in [known.motion(b) for b in known.system.bodies[1:]]])
    placed = np.array([known.motion(b).position for b in known.system.bodies[1:]])
    samples = {n: fm.RigidMotion.sampled(known.t, p, r) for n, p, r in zip(names, placed, turned, strict=True)}
    found = bend(fm.elastodynamics(system, samples, step=1e-4), body)
    np.testing.assert_allclose(found, expected, atol=0.02 * np.abs(expected).max())


def test_steady_periodic_motion_is_where_transients_end():
    """One revolution at constant speed, against many revolutions from rest with damping."""
    body, speed = rod(1e11, damping=0.1), fm.ConstantSpeed(150.0)
    system, rigid = engine(body, speed), engine(body.rigid(), speed)
    turn = 2 * np.pi / 150.0
    cycle = fm.kinematics(rigid, np.linspace(0, turn, 81))
    steady = fm.elastodynamics(system, cycle, step=turn / 400, output_step=turn / 40, start="periodic")
    np.testing.assert_allclose(elastic(steady, body)[-1], elastic(steady, body)[0], atol=1e-9)
    long = fm.kinematics(rigid, np.linspace(0, 4 * turn, 321))
    transient = bend(fm.elastodynamics(system, long, step=turn / 400, output_step=turn / 40), body)
    np.testing.assert_allclose(transient[-41:], bend(steady, body), atol=2e-3 * np.abs(bend(steady, body)).max())
    short = fm.kinematics(rigid, np.linspace(0, 0.8 * turn, 65))
    with pytest.raises(fm.AnalysisError, match="one cycle"):
        fm.elastodynamics(system, short, step=turn / 400, start="periodic")


def test_four_bar_with_two_flexible_links():
    """The coordinates of coupler and rocker are stacked, and joined through the joint between them."""
    crank = fm.RigidBody("crank", 0.05, np.diag([1e-5] * 3), (0.05, 0, 0))

    def link(name, length, young):
        return fm.FlexibleBody(
            name, fm.Mesh.line((0, 0, 0), (length, 0, 0), 4), fm.Material(young, 0.3, 2700.0),
            section=fm.Section.rectangle(0.01, 0.004), interfaces=["start", "end"], reduction=fm.CraigBampton(modes=2),
        )  # fmt: skip

    def four_bar(coupler, rocker):
        ground = fm.Ground()

        def ends(body, length):
            return [body.at("start"), body.at("end")] if body.modes else [body.at(0, 0, 0), body.at(length, 0, 0)]

        shaft = fm.Revolute("shaft", ground.at(0, 0, 0), crank.at(0, 0, 0), axis="z")
        (a, b), (c, d) = ends(coupler, 0.3), ends(rocker, 0.25)
        joints = [
            shaft,
            fm.Revolute("a", crank.at(0.1, 0, 0), a, axis="z", start=0.6),
            fm.Spherical("b", b, d),
            fm.Revolute("c", ground.at(0.3, 0, 0), c, axis="z", start=1.8),
            fm.Drive("motor", shaft.angle, fm.SpinUp(60.0, over=0.08)),
        ]
        return fm.System([ground, crank, coupler, rocker], joints)

    errors = []
    for young in (7e10, 2.8e11):
        links = link("coupler", 0.3, young), link("rocker", 0.25, young)
        system = four_bar(*links)
        known = fm.kinematics(four_bar(*(body.rigid() for body in links)), np.linspace(0, 0.08, 81))
        found = fm.elastodynamics(system, known, step=1e-4, output_step=1e-3)
        coupled = fm.forward_dynamics(system, t_end=0.08, step=1e-4, output_step=1e-3, integrator=TIGHT)
        errors.append([])
        for body in links:
            exact = elastic(coupled, body)
            errors[-1].append(np.abs(elastic(found, body) - exact).max() / np.abs(exact).max())
    assert max(errors[0]) < 0.05
    assert (np.array(errors[1]) < np.array(errors[0]) / 3).all()


def pendulum(body):
    ground = fm.Ground()
    top = body.at("x0") if body.modes else body.at(0, 0.025)
    return fm.System([ground, body], [fm.planar.Revolute("hinge", ground.at(0, 0), top)], [fm.Gravity((0, -9.81, 0))])


def test_motion_that_nothing_drives():
    """A plane arm that swings freely: hinged, not clamped; pose and bending converge to the coupled ones."""
    errors, forces = [], []
    for young in (2e8, 8e8):
        mesh = fm.Mesh.rectangle((1.0, 0.05), (8, 1))
        arm = fm.FlexibleBody("arm", mesh, fm.Material(young, 0.3, 2000.0), thickness=0.02, interfaces=["x0"],
                              reduction=fm.CraigBampton(modes=4))  # fmt: skip
        system = pendulum(arm)
        known = fm.forward_dynamics(pendulum(arm.rigid()), t_end=0.3, step=1e-3, output_step=5e-3)
        found = fm.elastodynamics(system, known, step=2e-4, output_step=1e-3)
        coupled = fm.forward_dynamics(system, t_end=0.3, step=2e-4, output_step=1e-3, integrator=TIGHT)
        exact = elastic(coupled, arm)[:, 0]
        errors.append(np.abs(elastic(found, arm)[:, 0] - exact).max() / np.abs(exact).max())
        force = coupled.reaction(system.joints[0])
        by_motion = fm.elastodynamics(system, {arm: fm.RigidMotion.of(known, arm)}, step=1e-3)
        np.testing.assert_allclose(elastic(by_motion, arm)[:50, 0], exact[:50], atol=0.02 * np.abs(exact).max())
        forces.append(np.abs(found.reaction(system.joints[0]) - force).max() / np.abs(force).max())
    assert errors[0] < 3e-3
    assert errors[1] < errors[0] / 3
    assert forces[0] < 0.02
    assert forces[1] < forces[0] / 3


def test_a_blade_on_a_driven_hub_is_one_body_alone():
    """A mechanism of which only one body deforms, and that body in the motion of its frame, give the same."""
    blade = fm.FlexibleBody(
        "blade", fm.Mesh.line((0.1, 0, 0), (1.1, 0, 0), 6), fm.Material(7e10, 0.3, 2700.0),
        section=fm.Section.rectangle(0.02, 0.01), fixed="start", reduction=fm.ModalTruncation(5),
    )  # fmt: skip
    law = fm.Harmonic(0.02, frequency=4.0)

    def turning(body):
        ground, hub = fm.Ground(), fm.RigidBody("hub", 1.0, np.diag([0.1] * 3))
        shaft = fm.Revolute("shaft", ground.at(0, 0, 0), hub.at(0, 0, 0), axis="z")
        root = fm.Fixed("root", hub.at(0, 0, 0), body.at() if body.modes else body.at(0, 0, 0))
        return fm.System([ground, hub, body], [shaft, root, fm.Drive("motor", shaft.angle, law)])

    known = fm.kinematics(turning(blade.rigid()), np.linspace(0, 0.25, 101))
    found = fm.elastodynamics(turning(blade), known, step=5e-4)
    alone = fm.elastodynamics(blade, known, step=5e-4)
    np.testing.assert_allclose(elastic(found, blade), alone.d, atol=1e-5 * np.abs(alone.d).max())
    motor, force = found.reaction(found.system.joints[2]), alone.reaction()
    spin_rate = known.at(found.t).rate[:, 5]
    np.testing.assert_allclose(motor, force[:, 5] + 0.1 * spin_rate, atol=1e-3 * np.abs(motor).max())
    np.testing.assert_allclose(
        found.reaction(found.system.joints[1])[:, 5], force[:, 5], atol=1e-3 * np.abs(motor).max()
    )


def boom(young=2e9):
    return fm.FlexibleBody(
        "boom", fm.Mesh.line((0, 0, 0), (0.5, 0, 0), 4), fm.Material(young, 0.3, 1500.0),
        section=fm.Section.rectangle(0.02, 0.02), interfaces=["start", "end"], reduction=fm.CraigBampton(modes=3),
    )  # fmt: skip


def crane(body):
    """A boom in space on a hub that spins up, with a heavy body at its tip, off its axis."""
    ground, hub = fm.Ground(), fm.RigidBody("hub", 1.0, np.diag([0.1] * 3))
    load = fm.RigidBody("load", 0.3, np.diag([4e-4, 8e-4, 6e-4]), (0.02, 0.05, 0.03))
    ends = [body.at("start"), body.at("end")] if body.modes else [body.at(0, 0, 0), body.at(0.5, 0, 0)]
    shaft = fm.Revolute("shaft", ground.at(0, 0, 0), hub.at(0, 0, 0), axis="z")
    joints = [fm.Fixed("root", hub.at(0.05, 0, 0), ends[0]), fm.Fixed("tip", ends[1], load.at(0, 0, 0))]
    motor = fm.Drive("motor", shaft.angle, fm.SpinUp(15.0, over=0.3))
    return fm.System([ground, hub, body, load], [shaft, *joints, motor], [fm.Gravity((0, 0, -9.81))])


def test_bodies_that_tilt_while_they_spin():
    """Bending and twisting across the axis of spin: the relative error falls with the deflection."""
    errors = []
    for young in (2e9, 8e9):
        body = boom(young)
        system = crane(body)
        known = fm.kinematics(crane(body.rigid()), np.linspace(0, 0.3, 61))
        found = fm.elastodynamics(system, known, step=5e-4, output_step=5e-3)
        coupled = fm.forward_dynamics(system, t_end=0.3, step=5e-4, output_step=5e-3, integrator=TIGHT)
        exact = elastic(coupled, body)[:, :3]
        errors.append(np.abs(elastic(found, body)[:, :3] - exact).max() / np.abs(exact).max())
    assert errors[0] < 0.02
    assert errors[1] < errors[0] / 3


def test_linear_equations_are_the_derivative_of_the_full_ones():
    """M x'' + C x' + K x against differences of M v' - f - Jᵀλ beside the moving rigid state, ω by its own formula."""
    body = boom()
    system = crane(body)
    known = fm.kinematics(crane(body.rigid()), np.linspace(0, 0.3, 31))
    history = rigid_history(system, known, known.t)
    given, k, h, small = deviations(history), 12, 1e-5, 1e-6
    x, x1, x2 = np.random.default_rng(5).normal(size=(3, system.n_v)) / system.length_weights
    turning = [slice(m + 3, m + 6) for m, body in zip(system.layout.body_v, system.bodies, strict=False) if body.n_v]

    def velocities(s, size):
        """Of the state moved by size · (x + s x' + s² x''/2), up to even terms in size."""
        shift, rate = size * (x + s * x1 + s * s / 2 * x2), size * (x1 + s * x2)
        v = history.at(np.array([given.t[k] + s]))[1][0]
        for turn in turning:  # R exp(θ): exp(-θ) ω + θ'
            v[turn] = rotations.exp(-shift[turn]) @ v[turn]
        return v + rate

    def residual(size):
        q = system.retract(history.at(given.t[k : k + 1])[0][0], size * x)
        v, rate = velocities(0.0, size), (velocities(h, size) - velocities(-h, size)) / (2 * h)
        e = system.equations(given.t[k], q, v, given.angles[k])
        return e.M @ rate - e.f - e.J.T @ given.multipliers[k]

    slope = (residual(small) - residual(-small)) / (2 * small)
    linear = given.mass[k] @ x2 + given.damping[k] @ x1 + given.stiffness[k] @ x
    np.testing.assert_allclose(linear, slope, atol=1e-6 * np.abs(slope)[~system.elastic].max(), rtol=1e-6)
    np.testing.assert_allclose(given.jacobian @ given.basis, 0.0, atol=1e-9 * np.abs(given.basis).max())


def test_joint_forces_do_no_work_on_what_is_free():
    """Q* = M x'' + C x' + K x + r has AᵀQ* = 0, and is all of it the forces Jᵀδλ of joints and drive."""
    body = boom()
    system = crane(body)
    known = fm.kinematics(crane(body.rigid()), np.linspace(0, 0.3, 31))
    given = deviations(rigid_history(system, known, known.t))
    problem = MovedMechanism(given, np.linspace(0, 0.3, 601), repeats=False)
    motion = list(fm.Newmark().motions(problem, at_rest(problem)))[::20]
    spline = problem.spline(given.t, given.basis, repeats=False)
    for k in (5, 20, 30):
        (y, v, a, _), (basis, first, second) = motion[k], (spline(given.t[k], order) for order in range(3))
        x, x1, x2 = basis @ y, basis @ v + first @ y, basis @ a + 2 * first @ v + second @ y
        force = given.mass[k] @ x2 + given.damping[k] @ x1 + given.stiffness[k] @ x + given.residual[k]
        assert np.abs(basis.T @ force).max() < 1e-9 * np.abs(basis).max() * np.abs(force).max()
        pulls = given.jacobian[k].T @ np.linalg.lstsq(given.jacobian[k].T, force, rcond=None)[0]
        np.testing.assert_allclose(pulls, force, atol=1e-8 * np.abs(force).max())
        assert np.abs(force).max() > 1.0


def test_redundant_pins_share_their_forces_as_the_beam_makes_them():
    """A radial beam pinned at both ends to a hub that spins up: a third of its pull inside, two thirds outside.

    Halves of it, which rigid bodies would share by least norm, would stiffen another part of the beam than the stress
    of a beam does that is held at both ends.
    """
    beam = fm.FlexibleBody(
        "beam", fm.Mesh.line((0, 0, 0), (1, 0, 0), 6), fm.Material(7e10, 0.3, 2700.0),
        section=fm.Section.rectangle(0.01, 0.01), interfaces=["start", "end"], reduction=fm.FullOrder(),
    )  # fmt: skip
    law = fm.SpinUp(40.0, over=0.2)

    def turning(body):
        ground, hub = fm.Ground(), fm.RigidBody("hub", 1.0, np.diag([0.1] * 3))
        ends = [body.at("start"), body.at("end")] if body.modes else [body.at(0, 0, 0), body.at(1, 0, 0)]
        shaft = fm.Revolute("shaft", ground.at(0, 0, 0), hub.at(0, 0, 0), axis="z")
        pins = [fm.Revolute(f"pin_{x}", hub.at(x, 0, 0), end, axis="z") for x, end in enumerate(ends)]
        return fm.System([ground, hub, body], [shaft, *pins, fm.Drive("motor", shaft.angle, law)])

    system = turning(beam)
    known = fm.kinematics(turning(beam.rigid()), np.linspace(0, 0.2, 81))
    found = fm.elastodynamics(system, known, step=2e-4, output_step=2e-3)
    held = dict.fromkeys(("start", "end"), ("x", "y", "z", "rx", "ry"))
    alone = fm.elastodynamics(beam, known, supports=held, step=2e-4, output_step=2e-3).deflection(3)[:, 1]
    bent = bend(found, beam, 3)
    np.testing.assert_allclose(bent, alone, atol=2e-3 * np.abs(alone).max())
    pull = 2700.0 * 1e-4 * 40.0**2 / 2
    turned = known.rotation(known.system.bodies[2])[-1]
    inner, outer = (turned.T @ found.reaction(system.joints[k])[-1, :3] for k in (1, 2))
    assert inner[0] == pytest.approx(-pull / 3, rel=0.02)
    assert outer[0] == pytest.approx(-2 * pull / 3, rel=0.02)


def test_wrong_rigid_motions_are_refused():
    body = rod()
    system = engine(body, SPIN)
    known = fm.kinematics(engine(body.rigid(), SPIN), np.linspace(0, 0.01, 11))
    other = fm.kinematics(engine(body.rigid(), fm.SpinUp(200.0, over=0.03)), np.linspace(0, 0.01, 11))

    def refused(match, *args, **given):
        with pytest.raises(fm.AnalysisError, match=match):
            fm.elastodynamics(*args, **{"step": 1e-4, **given})

    refused("motor.*misses", system, other)
    refused("no body of the system is flexible", engine(body.rigid(), SPIN), known)
    refused("is for one body", system, known, supports="start")
    refused("is for one body", system, known, full_order=True)
    refused("t_end", system, known, t_end=0.02)
    refused("a Result of it with rigid bodies", system, fm.RigidMotion())
    refused("'rod' has none", system, {"crank": fm.RigidMotion.of(known, "crank")})
    fast = fm.ConstantSpeed(150.0)
    coarse = fm.kinematics(engine(body.rigid(), fast), np.linspace(0, 0.2, 25))
    refused("give more", engine(body, fast), coarse)
    refused("at least four", system, fm.kinematics(engine(body.rigid(), SPIN), [0.0, 0.01]))
    alone = fm.System([fm.Ground(), body], [])
    refused(
        "no body 'rod'", alone, fm.forward_dynamics(fm.System([fm.PointMass("dust", 1.0, position=(0, 0, 0))]), 1.0)
    )
