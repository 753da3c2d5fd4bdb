"""Tangents of every force equal differences, and energies and powers balance, on bodies of all kinds."""

from __future__ import annotations

import numpy as np
import pytest
from newton_check import tangent_error

from flexmbs.bodies import Ground, PlanarBody, PointMass, RigidBody
from flexmbs.fem.loads import Gravity
from flexmbs.forces import (
    AppliedForce,
    Bushing,
    CircleInCircle,
    JointFriction,
    RotatingFrame,
    SphereInSphere,
    SphereOnPlane,
    SphereOnSphere,
    SpringDamper,
    Stop,
)  # fmt: skip
from flexmbs.formulations import Multipliers
from flexmbs.joints import planar, spatial
from flexmbs.profiles import Harmonic, Polynomial, Spline
from flexmbs.rotations import exp
from flexmbs.system.system import System

ground = Ground()
pytestmark = pytest.mark.filterwarnings("ignore:the joints do not fit")  # poses are guesses here
INERTIA = np.diag([0.4, 0.5, 0.6])


def rigid(name, position, turn=(0.3, -0.2, 0.5)):
    return RigidBody(name, 2.0, INERTIA, center=(0.05, 0.1, -0.02), position=position, rotation=exp(turn))


first, second = rigid("first", (0, 0, 0)), rigid("second", (0.9, 0.4, 0.2), (-0.4, 0.3, 0.2))
point = PointMass("point", 1.5, position=(0.2, 0.9, -0.3))
flat = PlanarBody("flat", 1.2, 0.3, center=(0.1, 0.05), position=(-0.6, 0.5), angle=0.4)
a = first.at(0.2, 0.1, 0.3, axes=(0.2, 0.4, -0.3))
b = second.at(-0.1, 0.2, 0.1, axes=(0.5, -0.1, 0.2))
c, d = point.at(), flat.at(0.2, -0.1)
hinge = spatial.Cylindrical("hinge", a, b, axis=(1, 2, 3))
K = np.diag([900.0, 700, 500, 30, 20, 40]) + 8.0 * (np.ones((6, 6)) - np.eye(6))
D = np.diag([9.0, 7, 5, 3, 2, 4]) + 0.5 * (np.ones((6, 6)) - np.eye(6))
curve = Spline([-2.0, -0.5, 0.1, 0.6, 2.0], [-300.0, -80.0, 0.0, 120.0, 500.0])
pressing = {"stiffness": 400.0, "exponent": 1.5, "damping": 0.1, "friction": 0.4, "slip_speed": 0.5}

FORCES = {
    "spring between rigid bodies": SpringDamper("f", (a, b), stiffness=300.0, damping=20.0, rest=0.5, force=4.0),
    "spring to a point": SpringDamper("f", (a, c), stiffness=300.0, damping=20.0, rest=0.5),
    "spring to a planar body": SpringDamper("f", (d, b), stiffness=300.0, damping=20.0, rest=0.5),
    "spring to the ground": SpringDamper("f", (ground.at(1, 1, 1), d), stiffness=300.0, damping=20.0, rest=0.5),
    "spring from a body to the ground": SpringDamper("f", (a, ground.at(1, 1, 1)), 300.0, 9.0, rest=0.5),
    "curves": SpringDamper("f", (a, b), curve, Polynomial((0.0, 20.0, 3.0)), rest=0.5),
    "torsion": SpringDamper("f", hinge.angle, stiffness=50.0, damping=4.0, rest=0.2, force=Harmonic(3.0, 0.5)),
    "travel": SpringDamper("f", hinge.distance, stiffness=200.0, damping=8.0, rest=0.2),
    "lower stop": Stop("f", hinge.distance, lower=5.0, stiffness=30.0, exponent=1.3, damping=0.02),
    "upper stop": Stop("f", hinge.angle, upper=-6.0, stiffness=3.0, exponent=1.3, damping=0.02),
    "joint friction": JointFriction("f", hinge.angle, preload=5.0, viscous=0.4, slip_speed=0.7),
    "bushing": Bushing("f", a, b, K, D, preload=(1.0, 2, 3, 4, 5, 6)),
    "bushing to a planar body": Bushing("f", d, a, K, D),
    "bushing to the ground": Bushing("f", ground.at(0.1, 0.2, 0.3, axes=(0.1, 0.7, 0.3)), b, K, D),
    "applied": AppliedForce("f", a, force=(30.0, Harmonic(20.0, 1.0), -10.0), torque=(1.0, 2.0, 3.0)),
    "following": AppliedForce("f", b, force=(30.0, 20.0, -10.0), torque=(10.0, 2.0, 3.0), follows=True),
    "following in the plane": AppliedForce("f", d, force=(30.0, 20.0, 0), torque=(0, 0, 3.0), follows=True),
    "sphere on plane": SphereOnPlane("f", a, b, normal=(0.5, 1, 0.3), radius=2.5, **pressing),
    "point on plane": SphereOnPlane("f", ground.at(0, 2, 0), c, normal="y", **pressing),
    "circle on line": SphereOnPlane("f", ground.at(0, 1, 0), d, normal=(0.2, 1, 0), radius=0.8, **pressing),
    "spheres": SphereOnSphere("f", a, b, radius_i=1.5, radius_j=0.7, **pressing),
    "circle and sphere": SphereOnSphere("f", d, b, radius_i=1.5, radius_j=1.7, **pressing),
    "sphere in sphere": SphereInSphere("f", a, b, radius_i=0.3, radius_j=0.2, **pressing),
    "point in sphere": SphereInSphere("f", b, c, radius_i=0.3, radius_j=0.0, **pressing),
    "circle in circle": CircleInCircle("f", ground.at(0.3, 0.1), d, radius_i=0.4, radius_j=0.1, **pressing),
    "rotating frame": RotatingFrame((1.1, Harmonic(2.0, 0.5), -0.7), (0.3, 0.1, 0.2), (0.5, -2.0, Harmonic(1.0, 0.8))),
}  # fmt: skip

BODIES = [ground, first, second, point, flat]


@pytest.fixture(params=FORCES, ids=str)
def force(request):
    return FORCES[request.param]


def random_state(system, rng):
    x, v = 0.2 * rng.normal(size=system.n_v), rng.normal(size=system.n_v)
    return x, v


def among(force):
    """The bodies; a frame that does not turn about z is not for planar ones."""
    return BODIES[:-1] if isinstance(force, RotatingFrame) else BODIES


def test_tangents_equal_differences(force):
    system = System(among(force), [], [force, Gravity((0, -9.81, 0))])
    x, v = random_state(system, np.random.default_rng(7))
    error, work = tangent_error(system, x, v)
    assert np.abs(work.forces.wrench).max() > 1.0
    assert error < 1e-6


def test_tangents_with_joints_and_forces_across_the_tree():
    joints = [
        spatial.Spherical("ball", ground.at(), first.at(0.1, 0, 0)),
        spatial.Revolute("pin", first.at(0.4, 0.2, 0), second.at(0, 0, 0), axis=(1, 1, 0)),
        spatial.Distance("rod", second.at(0.3, 0, 0), point.at(), length=0.7),
    ]
    forces = [
        SpringDamper("far", (ground.at(1, 0, 0), c), stiffness=40.0, rest=0.3),
        SpringDamper("across", (first.at(0, 0.2, 0), c), stiffness=80.0, damping=3.0, rest=0.4),
        SpringDamper("other", (d, c), stiffness=80.0, damping=3.0, rest=0.4),
    ]
    system = System(BODIES, joints, forces)
    x, v = random_state(system, np.random.default_rng(7))
    assert tangent_error(system, x, v)[0] < 1e-6


@pytest.mark.parametrize("kind", ["revolute", "cylindrical", "prismatic", "planar revolute", "planar prismatic"])
def test_tangents_of_friction_under_the_reaction_of_its_joint(kind):
    """Derivatives by the multipliers and by the turning of the axis are in Newton's matrix."""
    own = {"coefficient": 0.3, "slip_speed": 0.7, "viscous": 0.2, "preload": 0.5}
    upper = rigid("upper", (0, 0, 0))
    lower = PlanarBody("lower", 1.2, 0.3, center=(0.1, 0.05))
    if kind == "prismatic":
        joint = spatial.Prismatic("joint", a, b, axis=(1, 2, 3))
        frictions = [JointFriction("f", joint.distance, joint=joint, **own)]
    elif kind.startswith("planar"):
        make = planar.Revolute if kind.endswith("revolute") else planar.Prismatic
        joint = make("joint", flat.at(0.2, -0.1), lower.at(0.1, 0.2))
        coordinate = {"radius": 0.4} if kind.endswith("revolute") else {}
        along = joint.angle if kind.endswith("revolute") else joint.distance
        frictions = [JointFriction("f", along, joint=joint, **own, **coordinate)]
    else:
        make = spatial.Revolute if kind == "revolute" else spatial.Cylindrical
        joint = make("joint", a, b, axis=(1, 2, 3))
        frictions = [JointFriction("f", joint.angle, joint=joint, radius=0.4, **own)]
        if kind == "cylindrical":
            frictions.append(JointFriction("g", joint.distance, joint=joint, **own))
    other = spatial.Spherical("ball", first.at(0.1, 0.5, 0), upper.at(0.2, 0, 0))
    system = System([ground, first, second, flat, lower, upper], [other, joint], frictions)
    x, v = random_state(system, np.random.default_rng(7))
    error, work = tangent_error(system, x, v)
    assert work.forces.normal[0, 0] > 0.1
    assert error < 1e-6


def total_energy(system, t, q, v, angles):
    work = system.evaluate(t, q, v, angles)
    mass, _ = system.inertia(work, v)
    height = sum(
        m * (work.position[k] + work.rotation[k] @ centre) @ system.layout.gravity
        for k, (m, centre) in enumerate(zip(system.layout.mass, system.layout.centre, strict=True))
    )
    return 0.5 * v @ (mass @ v) - height + sum(e for e, _ in system.force_energies(t, q, v, angles).values())


def balance(system, rng):
    """Rate of the energy by differences along the motion, and the power that should be it."""
    start = system.initial
    x, v = random_state(system, rng) if not system.rows else (np.zeros(system.n_v), start.v)
    q = system.retract(start.q, x)
    rate = Multipliers().solve(system.equations(0.3, q, v, start.angles)).accelerations
    h = 2e-6
    after, before = (
        total_energy(
            system, 0.3 + s * h, system.retract(q, s * h * v + 0.5 * h * h * rate), v + s * h * rate, start.angles
        )
        for s in (1, -1)
    )
    return (after - before) / (2 * h), sum(p for _, p in system.force_energies(0.3, q, v, start.angles).values())


def test_energy_changes_by_the_stated_power(force):
    system = System(among(force), [], [force, Gravity((0, -9.81, 0))])
    rate, power = balance(system, np.random.default_rng(7))
    assert rate == pytest.approx(power, rel=1e-6, abs=1e-6)


def test_without_damping_there_is_no_power():
    forces = [
        SpringDamper("spring", (a, b), stiffness=300.0, rest=0.5),
        SpringDamper("curve", (a, c), curve, rest=0.5),
        Bushing("bushing", a, d, K),
        SphereOnPlane("contact", a, b, normal=(0.5, 1, 0.3), radius=2.5, stiffness=400.0, exponent=1.5),
    ]
    system = System(BODIES, [], forces)
    x, v = random_state(system, np.random.default_rng(7))
    parts = system.force_energies(0.0, system.retract(system.initial.q, x), v)
    assert all(abs(power) < 1e-9 for _, power in parts.values())
    assert all(energy > 1e-2 for energy, _ in parts.values())
