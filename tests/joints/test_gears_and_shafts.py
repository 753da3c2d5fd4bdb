"""Shafts, gears, racks, components of frames as coordinates, wheels on moving floors: all against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm
from flexmbs.rotations import axis_angle, axis_vector, exp

TIMES = np.linspace(0.0, 2.0, 41)


def shafts(joint, bend, speed=4.0):
    """Two shafts in bearings, the second tilted about x, connected where they meet; the first is driven."""
    ground = fm.Ground()
    one, two = (fm.RigidBody(n, 1.0, np.diag([0.01, 0.01, 0.02])) for n in ("one", "two"))
    first = fm.Revolute("first", ground.at(0, 0, 0), one.at(0, 0, 0))
    second = fm.Revolute("second", ground.at(0, 0, 0, axes=axis_angle("x", bend)), two.at(0, 0, 0))
    middle = joint("middle", one.at(0, 0, 0), two.at(0, 0, 0))
    drive = fm.Drive("drive", first.angle, fm.ConstantSpeed(speed))
    system = fm.System([ground, one, two], [first, second, middle, drive])
    return system, fm.kinematics(system, TIMES), first, second


@pytest.mark.parametrize("bend", [0.0, 0.4, 1.0, 1.5, 2.5])
def test_constant_velocity_joint_passes_the_speed_on_at_any_bend(bend):
    system, result, first, second = shafts(fm.ConstantVelocity, bend)
    assert system.mobility == 0
    assert_allclose(result.coordinate(second.angle), result.coordinate(first.angle), atol=1e-10)
    spin = np.linalg.norm(result.angular_velocity(second.frame_j.body), axis=1)
    assert_allclose(spin, 4.0, rtol=1e-10)
    assert_allclose(result.rate, 0.0, atol=1e-9)


def test_universal_joint_does_not():
    """ω₂/ω₁ = cos β / (1 - sin² β cos² θ₁), with θ₁ from the cross in the plane of the bend."""
    bend = 1.0
    _, result, first, second = shafts(fm.Universal, bend)
    spin = np.linalg.norm(result.angular_velocity(second.frame_j.body), axis=1)
    angle = result.coordinate(first.angle)
    assert_allclose(spin, 4.0 * np.cos(bend) / (1 - np.sin(bend) ** 2 * np.sin(angle) ** 2), rtol=1e-8)
    assert np.ptp(spin) > 4.0


@pytest.mark.parametrize("axis", ["z", "x", (0.3, -0.5, 0.8)])
def test_constant_velocity_joint_leaves_bending_free_and_nothing_else(axis):
    ground, body = fm.Ground(), fm.RigidBody("body", 1.0, np.diag([0.1, 0.2, 0.25]))
    joint = fm.ConstantVelocity("joint", ground.at(0, 0, 0), body.at(0, 0, 0), axis=axis)
    system = fm.System([ground, body], [joint])
    assert system.mobility == 2
    assert len(joint.rows) == 4
    along = axis_vector(axis)
    rng = np.random.default_rng(1)
    for _ in range(5):
        turn = np.cross(along, rng.normal(size=3))
        placed = fm.RigidBody("body", 1.0, np.diag([0.1, 0.2, 0.25]), position=(0, 0, 0), rotation=exp(turn))
        joint = fm.ConstantVelocity("joint", ground.at(0, 0, 0), placed.at(0, 0, 0), axis=axis)
        moved = fm.System([ground, placed], [joint])
        assert_allclose(moved.evaluate(0.0, moved.walked[0], np.zeros(6)).phi, 0.0, atol=1e-14)
        assert moved.mobility == 2


SUN, PLANET, RING = 20, 14, 48
"""Teeth; the module is 2 mm."""


def planetary(ring_turns):
    """Sun, planet and ring on a carrier, the sun driven; the ring stands still, or is driven too."""
    ground, module = fm.Ground(), 0.002
    carrier, sun, planet, ring = (fm.PlanarBody(n, 0.5, i) for n, i in
                                  (("carrier", 2e-3), ("sun", 1e-4), ("planet", 5e-5), ("ring", 3e-3)))  # fmt: skip
    arm = module * (SUN + PLANET) / 2
    bearing = fm.planar.Revolute("bearing", ground.at(0, 0), carrier.at(0, 0))
    sun_axis = fm.planar.Revolute("sun_axis", carrier.at(0, 0), sun.at(0, 0))
    planet_axis = fm.planar.Revolute("planet_axis", carrier.at(arm, 0), planet.at(0, 0))
    ring_axis = fm.planar.Revolute("ring_axis", carrier.at(0, 0), ring.at(0, 0))
    joints = [
        bearing, sun_axis, planet_axis, ring_axis,
        fm.planar.Gear("inner mesh", sun_axis.angle, planet_axis.angle, SUN, PLANET),
        fm.planar.Gear("outer mesh", planet_axis.angle, ring_axis.angle, PLANET, RING, internal=True),
        fm.Drive("motor", fm.component(sun.at(0, 0), "angle"), fm.ConstantSpeed(30.0)),
        fm.Drive("brake", fm.component(ring.at(0, 0), "angle"), fm.ConstantSpeed(ring_turns)),
    ]  # fmt: skip
    return fm.System([ground, carrier, sun, planet, ring], joints), (carrier, sun, planet, ring), module


@pytest.mark.parametrize("ring_turns", [0.0, -7.0])
def test_planetary_gear_turns_as_willis_says(ring_turns):
    """(ω_sun - ω_carrier) / (ω_ring - ω_carrier) = -z_ring / z_sun, and the teeth in mesh have the same velocity."""
    system, (carrier, sun, planet, ring), module = planetary(ring_turns)
    assert system.mobility == 0
    result = fm.kinematics(system, TIMES)
    spin = {b.name: result.angular_velocity(b)[:, 2] for b in (carrier, sun, planet, ring)}
    expected = (SUN * 30.0 + RING * ring_turns) / (SUN + RING)
    assert_allclose(spin["carrier"], expected, rtol=1e-10)
    assert_allclose((30.0 - spin["carrier"]) / (spin["ring"] - spin["carrier"]), -RING / SUN, rtol=1e-9)
    # at the pitch points, which turn with the carrier
    outward = result.rotation(carrier)[:, :, 0]
    centre, centre_velocity = result.position(planet), result.velocity(planet)
    for other, radius, side in ((sun, module * SUN / 2, -1), (ring, module * RING / 2, 1)):
        point = outward * radius
        on_planet = centre_velocity + np.cross(result.angular_velocity(planet), point - centre)
        assert_allclose(np.linalg.norm(point - centre, axis=1), module * PLANET / 2, rtol=1e-9)
        assert_allclose(on_planet, np.cross(result.angular_velocity(other), point), atol=1e-10)
        assert side * outward[0] @ (point - centre)[0] > 0


def test_torque_through_a_planetary_gear_is_multiplied():
    """The sun's torque accelerates what it sees: Σ J (ω/ω_sun)² + m r² (ω_carrier/ω_sun)² of the planet."""
    system, _, module = planetary(0.0)
    bodies = list(system.bodies)
    sun = bodies[2]
    joints = [j for j in system.joints if j.name != "motor"]
    free = fm.System(bodies, joints, [fm.AppliedForce("torque", sun.at(0, 0), torque=(0, 0, 0.2))])
    assert free.mobility == 1
    result = fm.forward_dynamics(free, 0.1, 0.01, integrator=fm.TangentSpaceODE())
    carrier = SUN / (SUN + RING)
    planet = carrier - SUN / PLANET * (1 - carrier)
    arm = module * (SUN + PLANET) / 2
    inertia = 1e-4 + 2e-3 * carrier**2 + 0.5 * arm**2 * carrier**2 + 5e-5 * planet**2
    assert_allclose(result.angular_velocity(sun)[:, 2], 0.2 / inertia * result.t, atol=1e-7)


@pytest.mark.parametrize("radius", [0.03, -0.03])
def test_rack_and_pinion_on_a_moving_carriage(radius):
    ground = fm.Ground()
    carriage, pinion, rack = (fm.PlanarBody(n, 1.0, 0.01) for n in ("carriage", "pinion", "rack"))
    rail = fm.planar.Prismatic("rail", ground.at(0, 0), carriage.at(0, 0), axis="x")
    hinge = fm.planar.Revolute("hinge", carriage.at(0, 0), pinion.at(0, 0))
    slide = fm.planar.Prismatic("slide", carriage.at(0, -radius), rack.at(0, 0), axis="x")
    mesh = fm.RackAndPinion("mesh", hinge.angle, slide.distance, radius)
    drives = [fm.Drive("ride", rail.distance, lambda t: 0.3 * t * t), fm.Drive("turn", hinge.angle, lambda t: 9.0 * t)]
    system = fm.System([ground, carriage, pinion, rack], [rail, hinge, slide, mesh, *drives])
    result = fm.inverse_dynamics(system, TIMES)
    assert result.coordinate(hinge.angle)[-1] > 4 * np.pi
    assert_allclose(result.coordinate(slide.distance), radius * result.coordinate(hinge.angle), atol=1e-12)
    pitch = result.position(hinge.frame_i) - np.array([0, radius, 0])
    arm = pitch - result.position(pinion)
    turned = result.velocity(pinion) + np.cross(result.angular_velocity(pinion), arm)
    assert_allclose(result.velocity(rack), turned, atol=1e-10)
    assert_allclose(result.reaction(mesh), 0.6, atol=1e-9)  # the teeth accelerate the rack with the carriage


@pytest.mark.parametrize("inertia", [0.02, 0.0])
def test_tip_of_an_arm_driven_along_a_path(inertia):
    """Two links with mass centres at elbow and tip: angles by the law of cosines, tip forces by Lagrange."""
    ground, l1, l2, m1, m2, g = fm.Ground(), 0.5, 0.4, 1.2, 0.8, 9.81
    upper = fm.PlanarBody("upper", m1, inertia, center=(l1, 0), angle=0.2)
    lower = fm.PlanarBody("lower", m2, inertia, center=(l2, 0))
    shoulder = fm.planar.Revolute("shoulder", ground.at(0, 0), upper.at(0, 0), start=0.1)
    elbow = fm.planar.Revolute("elbow", upper.at(l1, 0), lower.at(0, 0), start=1.2)
    tip = lower.at(l2, 0)
    path = {"x": lambda t: 0.6 + 0.1 * np.cos(2 * t), "y": lambda t: 0.2 + 0.15 * np.sin(2 * t)}
    drives = [fm.Drive(f"tip {k}", fm.component(tip, k), f) for k, f in path.items()]
    system = fm.System([ground, upper, lower], [shoulder, elbow, *drives], [fm.Gravity((0, -g, 0))])
    result = fm.inverse_dynamics(system, TIMES)
    x, y = (f(TIMES) for f in path.values())
    assert_allclose(result.position(tip)[:, :2], np.column_stack([x, y]), atol=1e-11)
    assert_allclose(result.coordinate(drives[0].coordinate), x, atol=1e-11)
    bend = np.arccos((x * x + y * y - l1**2 - l2**2) / (2 * l1 * l2))
    lift = np.arctan2(y, x) - np.arctan2(l2 * np.sin(bend), l1 + l2 * np.cos(bend))
    assert_allclose(result.coordinate(elbow.angle), bend, atol=1e-9)
    assert_allclose(result.coordinate(shoulder.angle), lift, atol=1e-9)
    a, b = result.v[:, 2], result.v[:, 5] - result.v[:, 2]
    a1, b1 = result.rate[:, 2], result.rate[:, 5] - result.rate[:, 2]
    c, s = np.cos(bend), np.sin(bend)
    mass = m2 * l2**2
    torque_1 = (
        ((m1 + m2) * l1**2 + mass + 2 * m2 * l1 * l2 * c) * a1 + (mass + m2 * l1 * l2 * c) * b1
        - m2 * l1 * l2 * s * (2 * a * b + b * b) + (m1 + m2) * g * l1 * np.cos(lift) + m2 * g * l2 * np.cos(lift + bend)
    )  # fmt: skip
    torque_2 = (mass + m2 * l1 * l2 * c) * a1 + mass * b1 + m2 * l1 * l2 * s * a * a + m2 * g * l2 * np.cos(lift + bend)
    torque_1, torque_2 = torque_1 + inertia * (2 * a1 + b1), torque_2 + inertia * (a1 + b1)
    force = np.column_stack([result.reaction(d) for d in drives])
    assert_allclose(x * force[:, 1] - y * force[:, 0], torque_1, atol=1e-8)
    way = np.column_stack([l2 * np.cos(lift + bend), l2 * np.sin(lift + bend)])
    assert_allclose(way[:, 0] * force[:, 1] - way[:, 1] * force[:, 0], torque_2, atol=1e-8)


def test_components_in_the_axes_of_another_frame():
    ground, rng = fm.Ground(), np.random.default_rng(3)
    bodies = [
        fm.RigidBody(n, 1.0, np.eye(3), position=rng.normal(size=3), rotation=exp(rng.normal(size=3))) for n in "ab"
    ]
    system = fm.System([ground, *bodies])
    state = system.initial
    base, frame = bodies[0].at(0.1, 0.2, 0.3, axes=[0.1, 0.2, 0.3]), bodies[1].at(0.5, 0, 0)
    result = fm.Result(
        system, np.zeros(1), state.q[None], state.v[None], state.v[None], np.zeros((1, 0)), np.zeros((1, 0))
    )
    way = result.rotation(base)[0].T @ (result.position(frame) - result.position(base))[0]
    found = [result.coordinate(fm.component(frame, k, relative_to=base))[0] for k in "xyz"]
    assert_allclose(found, way, atol=1e-14)
    assert_allclose(
        [result.coordinate(fm.component(frame, k))[0] for k in "xyz"], result.position(frame)[0], atol=1e-14
    )
    turned = result.rotation(base)[0].T @ result.rotation(frame)[0]
    angle = result.coordinate(fm.component(frame, "angle", relative_to=base))[0]
    assert angle == pytest.approx(np.arctan2(turned[1, 0], turned[0, 0]))


@pytest.mark.parametrize("planar", [False, True])
def test_wheel_on_the_floor_of_a_cart(planar):
    """On a floor that accelerates by a, a solid disc accelerates by a/3."""
    ground, radius, push = fm.Ground(), 0.2, 1.5
    if planar:
        cart, wheel = fm.PlanarBody("cart", 2.0, 0.1), fm.PlanarBody("wheel", 0.6, 0.5 * 0.6 * radius**2)
        rail = fm.planar.Prismatic("rail", ground.at(0, 0), cart.at(0, 0), axis="x")
        rolling = fm.planar.Rolling("rolling", cart.at(0, 0.1), wheel.at(0, 0), radius=radius)
        down = (0, -9.81, 0)
    else:
        cart = fm.RigidBody("cart", 2.0, np.eye(3))
        wheel = fm.RigidBody("wheel", 0.6, 0.6 * radius**2 * np.diag([0.25, 0.5, 0.25]))
        rail = fm.Prismatic("rail", ground.at(0, 0, 0), cart.at(0, 0, 0), axis="x")
        rolling = fm.RollingDisc("rolling", cart.at(0, 0, 0.1), wheel.at(0, 0, 0), radius=radius, axis="y")
        down = (0, 0, -9.81)
    drive = fm.Drive("drive", rail.distance, lambda t: 0.5 * push * t * t)
    system = fm.System([ground, cart, wheel], [rail, rolling, drive], [fm.Gravity(down)])
    result = fm.forward_dynamics(system, 0.5, 0.05, integrator=fm.TangentSpaceODE())
    assert_allclose(result.velocity(wheel)[:, 0], push / 3 * result.t, atol=1e-8)
    along = result.angular_velocity(wheel) @ ((0, 0, -1) if planar else (0, 1, 0))
    assert_allclose(along * radius, (push / 3 - push) * result.t, atol=1e-8)


def test_blade_on_a_sliding_plate():
    """On a plate that moves across the blade, the blade is carried along; along itself it is free."""
    ground = fm.Ground()
    plate, skate = fm.PlanarBody("plate", 3.0, 0.2), fm.PlanarBody("skate", 1.0, 0.05, velocity=(0.4, 0.0))
    rail = fm.planar.Prismatic("rail", ground.at(0, 0), plate.at(0, 0), axis="y")
    blade = fm.planar.KnifeEdge("blade", skate.at(0, 0), plate.at(0, 0))
    drive = fm.Drive("drive", rail.distance, lambda t: 0.5 * t * t)
    system = fm.System([ground, plate, skate], [rail, blade, drive])
    result = fm.forward_dynamics(system, 1.0, 0.1, integrator=fm.TangentSpaceODE())
    assert_allclose(result.velocity(skate)[:, 0], 0.4, atol=1e-9)
    assert_allclose(result.velocity(skate)[:, 1], result.t, atol=1e-9)


BAD = {
    "mesh: both angles of a gear .* 'ground' and 'one'": lambda m: fm.Gear("mesh", m.hinge.angle, m.other.angle, 1, 2),
    r"mesh: a gear ties two angles .* slide\.distance": lambda m: fm.Gear(
        "mesh", m.hinge.angle, m.slide.distance, 1, 2
    ),
    "mesh: radius_i must be a positive": lambda m: fm.Gear("mesh", m.hinge.angle, m.hinge.angle, 0, 2),
    "mesh: a joint's coordinate is needed": lambda m: fm.Gear("mesh", m.hinge, m.hinge.angle, 1, 2),
    "mesh: pinion is an angle": lambda m: fm.RackAndPinion("mesh", m.slide.distance, m.hinge.angle, 1.0),
    "mesh: radius must not be zero": lambda m: fm.RackAndPinion("mesh", m.hinge.angle, m.slide.distance, 0.0),
    "component: a frame is needed": lambda m: fm.component(m.one, "x"),
    'component of one.*"x", "y", "z" or "angle"': lambda m: fm.component(m.one.at(0, 0), "w"),
    "frame of the same body": lambda m: fm.component(m.one.at(0, 0), "x", relative_to=m.one.at(1, 0)),
    "component: a frame is needed, .* not PlanarBody": lambda m: fm.component(m.two.at(0, 0), "x", relative_to=m.one),
    "d refers to space": lambda m: fm.System([m.one], [fm.Drive("d", fm.component(m.one.at(0, 0), "x"), 0.0)]),
    r"d: hinge\.angle belongs to joint 'hinge', which is not among the joints": lambda m: fm.System(
        [m.ground, m.one], [fm.Drive("d", m.hinge.angle, 0.0)]
    ),
    r"c: slide\.distance belongs to joint 'slide'": lambda m: fm.System(
        [m.ground, m.one, m.two], [m.hinge, fm.gear("c", m.hinge.angle, m.slide.distance, 2.0)]
    ),
    "a: 'solid' is a RigidBody, which moves": lambda m: fm.planar.Revolute("a", m.ground.at(0, 0), m.solid.at(0, 0)),
    "b: 'solid' is a RigidBody": lambda m: fm.planar.Prismatic("b", m.solid.at(0, 0), m.one.at(0, 0)),
    "c: 'p' is a PointMass": lambda m: fm.planar.Rolling("c", m.ground.at(0, 0), fm.PointMass("p").at()),
    "d: 'solid' is a RigidBody": lambda m: fm.planar.KnifeEdge("d", m.ground.at(0, 0), m.solid.at(0, 0)),
    "j: the axes of ground.* are turned out of the x-y plane": lambda m: fm.planar.Revolute(
        "j", m.ground.at(0, 0, axes=[0.1, 0, 0]), m.one.at(0, 0)
    ),
    "j: axis must be": lambda m: fm.ConstantVelocity("j", m.ground.at(0, 0), m.solid.at(0, 0), axis=(0, 0, 0)),
    "d: a function of time is": lambda m: fm.Drive("d", m.hinge.angle, "fast"),
}


class Model:
    """Something to do wrong with."""

    ground = fm.Ground()
    one, two = fm.PlanarBody("one", 1.0, 1.0), fm.PlanarBody("two", 1.0, 1.0)
    hinge = fm.planar.Revolute("hinge", ground.at(0, 0), one.at(0, 0))
    other = fm.planar.Revolute("other", one.at(0, 0), two.at(0, 0))
    slide = fm.planar.Prismatic("slide", ground.at(0, 0), two.at(0, 0))
    solid = fm.RigidBody("solid", 1.0, np.eye(3))


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_refused_in_words(message):
    with pytest.raises(fm.ModelError, match=message):
        BAD[message](Model)
