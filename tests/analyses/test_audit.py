"""Energy and momentum audits: what changed them is said by name, and the sums close."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm

RNG = np.random.default_rng(5)


def machine(user: bool = False) -> tuple[fm.System, fm.Ground, dict[str, Any]]:
    """A spatial double pendulum driven at its base, with a spring to the ground, a damper and a push."""
    ground = fm.Ground()
    post = fm.RigidBody.box("post", (0.1, 0.1, 0.4), 500.0)
    arm = fm.RigidBody("arm", 1.0, (0.02, 0.03, 0.04), center=(0.3, 0.02, -0.01))
    ball = fm.RigidBody("ball", 0.7, (0.01, 0.01, 0.012), center=(0.0, 0.0, -0.1))
    shaft = fm.Revolute("shaft", ground.at(0.3, 0.2, 0), post.at(0, 0, -0.2))
    hinge = fm.Revolute("hinge", post.at(0, 0, 0.2), arm.at(0, 0, 0), axis="y", start=0.4)
    socket = fm.Spherical("socket", arm.at(0.6, 0, 0), ball.at(0, 0, 0))
    motor = fm.Drive("motor", shaft.angle, fm.Polynomial((0.0, 0.0, 1.5)))
    forces: list[Any] = [
        fm.Gravity((0, 0, -9.81)),
        fm.SpringDamper("spring", (ground.at(1, 0, 1), ball.at(0, 0, 0)), stiffness=60.0, damping=0.5, rest=0.5),
        fm.SpringDamper("damper", hinge.angle, damping=0.3),
        fm.AppliedForce("push", arm.at(0.2, 0, 0), force=(0.0, fm.Harmonic(2.0, 2.0), 1.0), torque=(0, 0, 0.3)),
    ]
    if user:
        forces.append(fm.UserForce("wind", [ball.at(0, 0, 0)], lambda t, s: [*(-0.4 * s[0].velocity), 0.1, 0.0, 0.0]))
    parts = {"hinge": hinge, "motor": motor, "spring": forces[1], "ball": ball}
    return fm.System([ground, post, arm, ball], [shaft, hinge, socket, motor], forces), ground, parts


@pytest.mark.parametrize("user", [False, True])
def test_every_change_of_energy_and_momentum_has_a_name(user: bool) -> None:
    system, _, _ = machine(user)
    motion = fm.forward_dynamics(
        system, 1.0, step=0.005, output_step=0.005, integrator=fm.TangentSpaceODE(rtol=1e-10, atol=1e-12)
    )
    energy, momentum = motion.energy, motion.momentum
    assert energy.forces == ("spring", "damper", "push", *(["wind"] if user else []))
    assert energy.drives == ("motor",)
    # what is left is the rule's, of fourth order
    assert np.abs(energy.drift).max() < 2e-6 * np.abs(energy.work_of_forces).max()
    changes = energy.changes
    assert sum(changes.values()) == pytest.approx(energy.total[-1] - energy.total[0], abs=1e-12)
    assert changes["damper"] < 0
    assert changes["spring"] < 0
    assert changes["motor"] > 0
    assert abs(changes["constraint drift"]) < 1e-9
    scale = np.abs(np.hstack([momentum.linear, momentum.angular])).max()
    assert np.abs(momentum.drift).max() < 2e-6 * scale
    assert list(momentum.changes) == ["weight", "ground", "push", *(["wind"] if user else []), "unexplained"]
    assert "motor gave" in motion.summary()
    assert "damper took" in motion.summary()


def test_works_are_of_fourth_order_in_the_instants_kept() -> None:
    system, _, _ = machine()
    fine = fm.forward_dynamics(
        system, 0.8, step=0.0025, output_step=0.0025, integrator=fm.TangentSpaceODE(rtol=1e-11, atol=1e-13)
    )
    drifts = []
    for every in (16, 8):
        picked = slice(None, None, every)
        part = fm.Result(
            system, *(np.ascontiguousarray(a[picked]) for a in (fine.t, fine.q, fine.v, fine.rate, fine.multipliers)),
            fine.angles[picked],
        )  # fmt: skip
        drifts.append([np.abs(part.energy.drift).max(), np.abs(part.momentum.drift).max()])
    orders = np.log2(np.array(drifts[0]) / drifts[1])
    assert np.all(orders > 3.5)


def test_momentum_is_that_of_all_particles() -> None:
    """A body as a cloud of points: momenta are sums over them."""
    points, masses = RNG.normal(size=(7, 3)), RNG.uniform(0.1, 1.0, 7)
    centre = masses @ points / masses.sum()
    inertia = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, points, strict=True))
    body = fm.RigidBody(
        "cloud", masses.sum(), inertia, center=centre, inertia_about="origin", position=RNG.normal(size=3),
        rotation=RNG.normal(size=3), velocity=RNG.normal(size=3), angular_velocity=RNG.normal(size=3),
    )  # fmt: skip
    point = fm.PointMass("point", 0.3, position=(1, 2, 3), velocity=(-1, 0, 2))
    flat = fm.PlanarBody(
        "flat", 1.5, 0.2, center=(0.3, 0.1), position=(1, -1), angle=0.4, velocity=(2, 1), angular_velocity=3.0
    )
    system = fm.System([body, point, flat])
    motion = fm.forward_dynamics(system, 1.0, step=0.05, integrator=fm.TangentSpaceODE(rtol=1e-10, atol=1e-12))
    momentum = motion.momentum
    rotation = motion.rotation(body)
    places = motion.position(body)[:, None] + np.einsum("tij,pj->tpi", rotation, points)
    arms = places - motion.position(body)[:, None]
    speeds = motion.velocity(body)[:, None] + np.cross(motion.angular_velocity(body)[:, None], arms)
    assert_allclose(momentum.linear_of_bodies[:, 0], np.einsum("p,tpi->ti", masses, speeds), atol=1e-12)
    assert_allclose(
        momentum.angular_of_bodies[:, 0], np.einsum("p,tpi->ti", masses, np.cross(places, speeds)), atol=1e-11
    )
    assert_allclose(momentum.linear_of_bodies[0, 1], [-0.3, 0, 0.6], atol=1e-14)
    assert_allclose(momentum.angular_of_bodies[0, 1], 0.3 * np.cross([1, 2, 3], [-1, 0, 2]), atol=1e-14)
    # nothing acts: all is kept
    assert_allclose(momentum.linear - momentum.linear[0], 0.0, atol=1e-8)
    assert_allclose(momentum.angular - momentum.angular[0], 0.0, atol=1e-7)


@pytest.mark.parametrize("kind", ["spring", "bushing", "user", "contact"])
def test_the_foundation_carries_forces_too(kind: str) -> None:
    """A body on a spring, a bushing, a contact or a Python force to the ground, which feels the change of momentum."""
    ground = fm.Ground()
    body = fm.RigidBody.box("body", (0.2, 0.3, 0.4), 100.0, position=(0.3, 0.1, 0.0), rotation=(0.1, 0.2, 0.3))
    base, held = ground.at(0.1, 0.0, -0.3), body.at(0.05, 0.0, -0.2)
    force: Any
    if kind == "spring":
        force = fm.SpringDamper("support", (base, held), stiffness=300.0, damping=3.0, rest=0.2)
    elif kind == "bushing":
        force = fm.Bushing("support", base, held, stiffness=np.diag([300.0, 200, 400, 20, 30, 10]))
    elif kind == "contact":
        force = fm.SphereOnPlane(
            "support", ground.at(0, 0, -0.2), body.at(0, 0, 0), radius=0.25, stiffness=1e4, friction=0.3
        )
    else:

        def pull(t: float, states: Any) -> Any:
            apart = states[1].position - states[0].position
            return [[*(100 * apart), *np.cross(apart, 100 * apart)], [*(-100 * apart), 0.0, 0.0, 0.0]]

        force = fm.UserForce("support", [base, held], pull)
    system = fm.System([ground, body], [], [fm.Gravity((0, 0, -9.81)), force])
    motion = fm.forward_dynamics(system, 0.02, step=1e-4, output_step=1e-4)
    momentum = motion.momentum
    change = np.gradient(np.hstack([momentum.linear, momentum.angular]), motion.t, axis=0, edge_order=2)
    expected = momentum.weight - change
    assert np.abs(expected).max() > 1.0
    assert_allclose(motion.reaction(ground)[5:-5], expected[5:-5], atol=3e-3 * np.abs(expected).max())


def test_a_broken_constraint_says_so() -> None:
    """Velocities that leave their hinge: the constraint force then does work."""
    system, _, _ = machine()
    motion = fm.forward_dynamics(system, 0.1, step=1e-3)
    off = motion.v + 1e-3 * RNG.normal(size=system.n_v)
    broken = fm.Result(system, motion.t, motion.q, off, motion.rate, motion.multipliers, motion.angles)
    work = broken.energy.changes["constraint drift"]
    rates = [system.evaluate(*state).phi_rate for state in zip(motion.t, motion.q, off, motion.angles, strict=True)]
    expected = np.trapezoid(np.sum(motion.multipliers * np.array(rates), axis=1), motion.t)
    assert work == pytest.approx(expected, rel=1e-3)
    assert abs(work) > 1e-6


def test_an_instant_alone_has_no_works() -> None:
    system, _, _ = machine()
    held = fm.System(system.bodies, [*system.joints[:3], fm.Drive("motor", system.joints[0].angle, 0.0)], system.forces)
    rest = fm.statics(held)
    assert rest.energy.work_of_forces.shape == (1, 3)
    assert not rest.energy.work_of_forces.any()
    assert rest.momentum.drift.shape == (1, 6)


FIRST = fm.RigidBody(
    "first", 1.0, (1.0, 1.2, 1.4), center=(0.1, 0.0, 0.2), position=(0, 0, 0), rotation=(0.2, 0.3, 0.1)
)
SECOND = fm.RigidBody("second", 2.0, (0.8, 0.6, 0.7), center=(0.0, 0.1, 0.0))
LEFT, RIGHT = FIRST.at(0.5, 0.1, -0.2, axes=(0.1, 0.2, -0.3)), SECOND.at(-0.4, 0.2, 0.1, axes=(0.3, 0.0, 0.2))
PAIRS: dict[str, Any] = {
    "fixed": fm.Fixed("j", LEFT, RIGHT),
    "revolute": fm.Revolute("j", LEFT, RIGHT, axis=(1, 2, 3)),
    "prismatic": fm.Prismatic("j", LEFT, RIGHT, axis="x", start=0.4),
    "cylindrical": fm.Cylindrical("j", LEFT, RIGHT, axis="y"),
    "screw": fm.Screw("j", LEFT, RIGHT, axis="y", pitch=0.7),
    "spherical": fm.Spherical("j", LEFT, RIGHT),
    "universal": fm.Universal("j", LEFT, RIGHT),
    "plane": fm.PlaneJoint("j", LEFT, RIGHT),
    "point on line": fm.PointOnLine("j", LEFT, RIGHT),
    "point in plane": fm.PointInPlane("j", LEFT, RIGHT),
    "distance": fm.Distance("j", LEFT, RIGHT, length=0.8),
    "knife edge": fm.KnifeEdge("j", LEFT, RIGHT),
    "rolling disc": fm.RollingDisc("j", LEFT, RIGHT, radius=0.3),
}


@pytest.mark.parametrize("joint", PAIRS.values(), ids=PAIRS)
def test_what_joints_exert_between_bodies_changes_no_momentum(joint: Any) -> None:
    """A pair of bodies in free space, tumbling: what each row exerts on one it takes from the other."""
    system = fm.System([FIRST, SECOND], [joint])
    start = system.initial
    jacobian = system.jacobian(system.evaluate(0.0, start.q, start.v)).toarray()
    v = RNG.normal(size=system.n_v)
    v -= np.linalg.lstsq(jacobian, jacobian @ v, rcond=1e-10)[0]
    state = fm.State(0.0, start.q, v, start.angles)
    steps = fm.forward_dynamics(system, 0.02, step=1e-3, start=state, integrator=fm.TangentSpaceODE(rtol=1e-10))
    momentum = steps.momentum
    assert np.abs(steps.multipliers).max() > 1e-3
    assert_allclose(momentum.linear - momentum.linear[0], 0.0, atol=1e-8)
    assert_allclose(momentum.angular - momentum.angular[0], 0.0, atol=1e-8)
    assert np.abs(momentum.linear_of_bodies[-1] - momentum.linear_of_bodies[0]).max() > 1e-5
