"""The same mechanism with deformation locked: joints, drives and forces follow, what is not touched stays."""

from __future__ import annotations

import numpy as np
import pytest

import flexmbs as fm

STEEL = fm.Material(young=2e11, poisson=0.3, density=7870.0)


@pytest.fixture
def arm() -> fm.System:
    """A flexible link on a motor, a rigid one at its end, springs, friction and forces on both."""
    ground = fm.Ground()
    mesh = fm.Mesh.line((0.0, 0.0, 0.0), (0.5, 0.0, 0.0), 4)
    link = fm.FlexibleBody(
        "link", mesh, STEEL, section=fm.Section.circle(0.01), interfaces=["start", "end"], reduction=fm.CraigBampton(3)
    )
    hand = fm.RigidBody.box("hand", (0.2, 0.05, 0.05), 1000.0)
    hub = fm.RigidBody.box("hub", (0.1, 0.1, 0.1), 1000.0)
    shaft = fm.Revolute("shaft", ground.at(0, 0, 0), hub.at(0, 0, 0), axis="z", start=0.2, rate=3.0)
    clamp = fm.Fixed("clamp", hub.at(0.05, 0, 0), link.at("start"))
    wrist = fm.Revolute("wrist", link.at("end"), hand.at(-0.1, 0, 0), axis="z", start=0.4)
    motor = fm.Drive("motor", wrist.angle, fm.Harmonic(0.3, frequency=1.0))
    forces = [
        fm.Gravity((0, -9.81, 0)),
        fm.SpringDamper("spring", (ground.at(0.3, 0.5, 0), link.at(0.25, 0, 0)), stiffness=50.0, rest=0.2),
        fm.SpringDamper("hold", shaft.angle, stiffness=30.0),
        fm.JointFriction("rub", wrist.angle, 0.1),
        fm.UserForce("wind", [link.at("end")], lambda t, states: [np.array([0, 1.0, 0, 0, 0, 0])]),
    ]
    return fm.System([ground, hub, link, hand], [shaft, clamp, wrist, motor], forces)


def test_what_is_touched_is_rewritten(arm: fm.System) -> None:
    rigid = arm.rigid()
    assert rigid is arm.rigid()
    assert rigid.rigid() is rigid
    assert not rigid.elastic.any()
    assert [b.name for b in rigid.bodies] == [b.name for b in arm.bodies]
    assert isinstance(rigid.bodies[2], fm.RigidBody)
    same = [a is b for a, b in zip((*arm.joints, *arm.forces), (*rigid.joints, *rigid.forces), strict=True)]
    assert same == [True, False, False, False, True, False, True, False, False]
    assert rigid.joints[3].coordinate.joint is rigid.joints[2]
    assert (rigid.mobility, arm.rigid_mobility) == (1, 1)
    assert arm.mobility == 1 + arm.bodies[2].modes
    np.testing.assert_allclose(rigid.initial.q, arm.initial.q[np.r_[:14, 14 + 9 : arm.n_q]], atol=1e-12)
    np.testing.assert_allclose(rigid.layout.mass, arm.layout.mass)


def test_originals_stand_for_their_copies(arm: fm.System) -> None:
    rigid, link = arm.rigid(), arm.bodies[2]
    assert rigid.body_number(link) == 2
    assert rigid.joint_rows(arm.joints[2]) == arm.joint_rows(arm.joints[2])
    motion = fm.forward_dynamics(rigid, 0.1, 1e-2)
    np.testing.assert_array_equal(motion.rotation(link), motion.rotation(rigid.bodies[2]))
    np.testing.assert_array_equal(motion.reaction(arm.joints[1]), motion.reaction(rigid.joints[1]))
    with pytest.raises(fm.ModelError, match="not in this system"):
        rigid.body_number(fm.RigidBody("other", 1.0, np.eye(3)))


def test_it_moves_as_the_mechanism_with_a_stiff_link(arm: fm.System) -> None:
    """At one instant: accelerations of the locked mechanism fulfil the flexible one's equations with d'' = 0."""
    rigid = arm.rigid()
    v = rigid.initial.v
    free = rigid.equations(0.0, rigid.initial.q, v)
    rate = fm.accelerations(rigid, 0.0, rigid.initial.q, v).accelerations
    whole, moved = np.zeros((2, arm.n_v))
    whole[~arm.elastic], moved[~arm.elastic] = v, rate
    e = arm.equations(0.0, arm.initial.q, whole)
    np.testing.assert_allclose((e.M @ moved - e.f)[~arm.elastic], free.M @ rate - free.f, atol=1e-9)
    np.testing.assert_allclose(e.J @ moved, free.J @ rate, atol=1e-9)


def test_report(arm: fm.System) -> None:
    text = arm.report()
    assert "link: FlexibleBody, 0.3091 kg, 9 elastic coordinates" in text
    assert "rigid mobility 1 with deformation locked; 9 elastic coordinates" in text


def test_a_body_is_not_bent_to_close_a_mechanism() -> None:
    """A four-bar far from closed is closed by turning; velocities do not make bodies vibrate."""
    ground = fm.Ground()
    mesh = fm.Mesh.line((0.0, 0.0, 0.0), (0.5, 0.0, 0.0), 4)
    bar = fm.FlexibleBody("bar", mesh, STEEL, section=fm.Section.circle(0.01), interfaces=["start", "end"])
    crank, rocker = (fm.RigidBody.box(n, (s, 0.02, 0.02), 1e3) for n, s in (("crank", 0.2), ("rocker", 0.4)))
    joints = [
        fm.Revolute("shaft", ground.at(0, 0, 0), crank.at(-0.1, 0, 0), axis="z", start=1.0, rate=3.0),
        fm.Revolute("pin", crank.at(0.1, 0, 0), bar.at("start"), axis="z"),
        fm.Revolute("knee", bar.at("end"), rocker.at(0.2, 0, 0), axis="z"),
        fm.Revolute("pivot", ground.at(0.55, 0, 0), rocker.at(-0.2, 0, 0), axis="z"),
    ]
    system = fm.System([ground, crank, bar, rocker], joints)
    state = system.initial
    assert np.abs(system.evaluate(0.0, state.q, state.v).phi).max() < 1e-12
    assert not state.v[system.elastic].any()
    assert not state.q[14 : 14 + bar.modes].any()
    assert np.abs(state.v).max() > 1.0


def slider_crank(miss: float, young: float | None = None) -> fm.System:
    """A slider-crank in space whose pins miss each other across the plane by a little."""
    ground, crank = fm.Ground(), fm.RigidBody.box("crank", (0.2, 0.02, 0.02), 1e3)
    rod: fm.Body = fm.RigidBody.box("rod", (0.5, 0.02, 0.02), 1e3)
    ends = rod.at(-0.25, 0, 0), rod.at(0.25, 0, miss)
    if young is not None:
        mesh = fm.Mesh.line((0.0, 0.0, 0.0), (0.5, 0.0, miss), 4)
        rod = fm.FlexibleBody("rod", mesh, STEEL, section=fm.Section.circle(0.01), interfaces=["start", "end"])
        ends = rod.at("start"), rod.at("end")
    slider = fm.RigidBody.box("slider", (0.1, 0.1, 0.1), 1e3)
    shaft = fm.Revolute("shaft", ground.at(0, 0, 0), crank.at(-0.1, 0, 0), axis="z")
    joints = [
        shaft,
        fm.Revolute("pin", crank.at(0.1, 0, 0), ends[0], axis="z"),
        fm.Spherical("wrist", ends[1], slider.at(0, 0, 0)),
        fm.Prismatic("cylinder", ground.at(0, 0, 0), slider.at(0, 0, 0), axis="x"),
        fm.Drive("motor", shaft.angle, fm.ConstantSpeed(10.0, start=0.7)),
    ]
    return fm.System([ground, crank, rod, slider], joints)


@pytest.mark.parametrize("young", [None, 2e11])
def test_rounding_of_meshes_does_not_keep_it_from_closing(young: float | None) -> None:
    """Ends that miss by 1e-10 m are closed as well as can be, by bending if there is what bends; 1e-4 m is refused."""
    system = slider_crank(1e-10, young)
    state = system.initial
    left = np.abs(system.evaluate(0.0, state.q, state.v, state.angles).phi).max()
    assert left < (2e-10 if young is None else 1e-12)
    rigid = fm.kinematics(system, [0.0, 0.1])
    assert np.isfinite(rigid.q).all()
    with pytest.raises(fm.ModelError, match="cannot be closed"):
        _ = slider_crank(1e-4, young).initial


LOADED = {
    "solid": lambda **o: fm.FlexibleBody(
        "bar", fm.Mesh.box((0.5, 0.04, 0.03), (4, 1, 1)), STEEL, loads={"gas": fm.Pressure("y1", 2e4)},
        interfaces=["x0"], **o,
    ),
    "plane": lambda **o: fm.FlexibleBody(
        "bar", fm.Mesh.rectangle((0.5, 0.04), (5, 1)), STEEL, thickness=0.02, loads={"gas": fm.Pressure("y1", 2e4)},
        interfaces=["x0"], **o,
    ),
    "beam": lambda **o: fm.FlexibleBody(
        "bar", fm.Mesh.line((0.1, 0.0, 0.0), (0.6, 0.0, 0.0), 4), STEEL, section=fm.Section.circle(0.01),
        loads={"gas": fm.Force("end", (1.0, -3.0, 2.0), moment=(4.0, 5.0, -6.0))}, interfaces=["start"], **o,
    ),
    "all nodes": lambda **o: LOADED["solid"](reduction=fm.FullOrder(sparse=True), stiffening=False, **o),
}  # fmt: skip


@pytest.mark.parametrize("kind", LOADED)
def test_loads_of_flexible_bodies_are_their_resultants(kind: str) -> None:
    """A free body under a load: f = m a and its moment from the nodal forces, while it turns with the body."""
    body = LOADED[kind]()
    load = fm.BodyLoad("press", body, "gas", lambda t: 1 + 3 * t)
    system = fm.System([fm.Ground(), body], [], [load])
    rigid = system.rigid()
    assert [f.name for f in rigid.forces] == ["press"]
    assert rigid.mobility == system.rigid_mobility == (3 if kind == "plane" else 6)
    points, axes = body.reduced.mesh.points, body.reduced.axes
    nodal = body.reduced.loads["gas"].reshape(len(points), -1)
    push, couple = np.zeros((2, len(points), 3))
    push[:, :axes], couple[:, : nodal.shape[1] - axes] = nodal[:, :axes], nodal[:, axes:]
    total = np.concatenate([push.sum(axis=0), (np.cross(points, push) + couple).sum(axis=0)])
    motion = fm.forward_dynamics(rigid, 0.02, 1e-3)
    turn = motion.rotation(rigid.bodies[1])
    expected = (1 + 3 * motion.t)[:, None] * np.concatenate([turn @ total[:3], turn @ total[3:]], axis=1)
    expected = expected[:, [0, 1, 5]] if kind == "plane" else expected
    for asked in (load, rigid.forces[0]):
        np.testing.assert_allclose(motion.force(asked), expected, rtol=1e-9, atol=1e-9 * np.abs(total).max())
    mass, centre, _ = body.mass_parameters
    place = rigid.bodies[1].at(*centre[: 2 if kind == "plane" else 3])
    pulled = mass * motion.acceleration(place)[:, : 2 if kind == "plane" else 3]
    force = expected[:, : pulled.shape[1]]
    np.testing.assert_allclose(pulled, force, rtol=2e-3, atol=1e-6 * np.abs(force).max())


def test_a_loaded_mechanism_is_written_about_and_driven() -> None:
    """Reports count the mobility of the locked mechanism, and kinematics is that of it."""
    body, ground = LOADED["solid"](), fm.Ground()
    hinge = fm.Revolute("hinge", ground.at(*body.at("x0").position), body.at("x0"), axis="z")
    drive = fm.Drive("drive", hinge.angle, fm.ConstantSpeed(2.0))
    system = fm.System([ground, body], [hinge, drive], [fm.BodyLoad("press", body, "gas")])
    assert "rigid mobility 0 with deformation locked" in system.report()
    motion = fm.inverse_dynamics(system.rigid(), [0.0, 0.1])
    side = 2e4 * 0.5 * 0.03 * 0.25  # the pressure's moment about the hinge
    np.testing.assert_allclose(motion.reaction(drive), side, rtol=1e-9)
