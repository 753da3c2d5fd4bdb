"""Analyses of mechanisms against reference cases, closed forms and each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases.rigid import BRICK, BRICK_FORCE, CENTRE, COUPLER, CRANK, ROTOR, crank_forces, spatial_pendulum
from numpy.testing import assert_allclose

import flexmbs as fm

FORMULATIONS = [
    None,
    fm.Multipliers(),
    fm.Maggi(),
    fm.Maggi(basis="qr"),
    fm.UdwadiaKalaba(),
    fm.Gauss(),
    fm.GibbsAppell(),
    fm.AugmentedLagrangian(),
]


class Engine:
    """Planar slider-crank of the reference case: r = 0.05, l = 0.15, cylinder axis x."""

    def __init__(self, motion: Any = None, forces: tuple[Any, ...] = (), rate: float | None = None) -> None:
        self.ground = fm.Ground()
        self.crank = fm.PlanarBody("crank", mass=1.2, inertia=0.003, center=(0.01, 0.0), inertia_about="origin")
        self.rod = fm.PlanarBody("rod", mass=0.6, inertia=0.002, center=(0.05, 0.0))
        self.piston = fm.PlanarBody("piston", mass=0.5, inertia=1e-3)
        self.shaft = fm.planar.Revolute("shaft", self.ground.at(0, 0), self.crank.at(0, 0), rate=rate)
        self.crank_pin = fm.planar.Revolute("crank_pin", self.crank.at(0.05, 0), self.rod.at(0, 0))
        self.wrist_pin = fm.planar.Revolute("wrist_pin", self.rod.at(0.15, 0), self.piston.at(0, 0))
        self.cylinder = fm.planar.Prismatic("cylinder", self.ground.at(0, 0), self.piston.at(0, 0), axis="x")
        joints: list[Any] = [self.shaft, self.crank_pin, self.wrist_pin, self.cylinder]
        if motion is not None:
            self.motor = fm.Drive("motor", self.shaft.angle, motion)
            joints.append(self.motor)
        self.system = fm.System([self.ground, self.crank, self.rod, self.piston], joints, forces)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_slider_crank_inverse_dynamics(formulation: Any) -> None:
    for name, found in zip(CRANK, crank_forces(formulation), strict=True):
        assert_allclose(found, CRANK[name], rtol=1e-9, atol=1e-6)


def test_the_foundation_carries_the_inertia_of_all_bodies() -> None:
    engine = Engine(fm.ConstantSpeed(300.0))
    motion = fm.inverse_dynamics(engine.system, np.linspace(0.0, 0.02, 21))
    force = np.zeros((21, 3))
    for body in (engine.crank, engine.rod, engine.piston):
        mass, center, _ = body.mass_parameters
        force += mass * motion.acceleration(body.at(*center[:2]))
    assert_allclose(motion.reaction(engine.ground)[:, :2], -force[:, :2], atol=1e-8 * np.abs(force).max())


def test_kinematics_against_the_closed_form() -> None:
    """Piston position r cos φ + sqrt(l² - r² sin² φ), over two turns."""
    engine = Engine(fm.SpinUp(300.0, over=0.02))
    times = np.linspace(0.0, 0.05, 101)
    motion = fm.kinematics(engine.system, times)
    angle = np.array([fm.SpinUp(300.0, over=0.02).value(t) for t in times])
    assert angle[-1] > 2 * np.pi
    assert_allclose(motion.coordinate(engine.shaft.angle), angle, atol=1e-11)
    piston = 0.05 * np.cos(angle) + np.sqrt(0.15**2 - (0.05 * np.sin(angle)) ** 2)
    assert_allclose(motion.position(engine.piston)[:, 0], piston, atol=1e-12)
    rate = np.gradient(motion.position(engine.piston)[:, 0], times, edge_order=2)
    assert_allclose(motion.velocity(engine.piston)[:, 0], rate, atol=0.02 * np.abs(rate).max())
    assert motion.constraint_error.max() < 1e-12


def test_the_torque_of_inverse_dynamics_gives_the_motion_back() -> None:
    """Power balance: the drive's work equals the change of energy; and the driven dynamics follow the kinematics."""
    gravity = fm.Gravity((0.0, -9.81, 0.0))
    driven = Engine(fm.SpinUp(100.0, over=0.05), (gravity,))
    motion = fm.forward_dynamics(driven.system, 0.1, step=2e-5, output_step=1e-4)
    assert motion.outcome == "finished"
    power = motion.reaction(driven.motor) * motion.angular_velocity(driven.crank)[:, 2]
    work = np.concatenate([[0.0], np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(motion.t))])
    energy = motion.energy.total - motion.energy.total[0]
    assert_allclose(work, energy, atol=2e-4 * np.abs(energy).max())
    exact = fm.inverse_dynamics(driven.system, motion.t[1:])
    assert_allclose(motion.position(driven.piston)[1:], exact.position(driven.piston), atol=1e-9)
    late = slice(100, None)
    torque = exact.reaction(driven.motor)
    assert_allclose(motion.reaction(driven.motor)[1:][late], torque[late], atol=5e-3 * np.abs(torque).max())


@pytest.mark.parametrize("h", [2e-3])
def test_generalized_alpha_is_of_second_order(h: float) -> None:
    """Spatial pendulum of the reference case: position and joint force."""
    system = spatial_pendulum()
    errors, forces = [], []
    for step in (h, h / 2):
        motion = fm.forward_dynamics(system, 1.0, step=step, output_step=0.5)
        tip = motion.position(system.bodies[1].at(*CENTRE))
        errors.append(tip[1:] - [BRICK[0.5], BRICK[1.0]])
        forces.append(motion.reaction(system.joints[0])[-1, :3] - np.array(BRICK_FORCE))
    ratio = np.linalg.norm(errors[0]) / np.linalg.norm(errors[1])
    assert 3.7 < ratio < 4.3
    extrapolated = (4 * errors[1] - errors[0]) / 3
    assert np.abs(extrapolated).max() < 1e-6
    assert np.linalg.norm(forces[1]) < 0.4 * np.linalg.norm(forces[0])


def test_two_loops_and_the_redundancy_of_planar_loops_in_space() -> None:
    """A four-bar of spatial revolutes has three redundant rows, and moves as the planar one."""
    lengths = (0.1, 0.4, 0.3, 0.45)

    def planar() -> tuple[fm.System, Any]:
        ground = fm.Ground()
        bars = [
            fm.PlanarBody(f"bar{k}", mass=x, inertia=x**3 / 12, center=(x / 2, 0)) for k, x in enumerate(lengths[:3])
        ]
        ends = [b.at(x, 0) for b, x in zip(bars, lengths, strict=False)]
        joints = [
            fm.planar.Revolute("a", ground.at(0, 0), bars[0].at(0, 0), rate=20.0, start=1.0),
            fm.planar.Revolute("b", ends[0], bars[1].at(0, 0), start=-0.8),
            fm.planar.Revolute("d", ground.at(lengths[3], 0), bars[2].at(0, 0), start=1.9),
            fm.planar.Revolute("c", ends[1], ends[2]),
        ]
        return fm.System([ground, *bars], joints, [fm.Gravity((0, -9.81, 0))]), ends[1]

    def spatial() -> tuple[fm.System, Any]:
        ground = fm.Ground()
        bars = [
            fm.RigidBody(f"bar{k}", x, (x**3 / 60, x**3 / 12, x**3 / 12), center=(x / 2, 0, 0))
            for k, x in enumerate(lengths[:3])
        ]
        ends = [b.at(x, 0, 0) for b, x in zip(bars, lengths, strict=False)]
        joints = [
            fm.Revolute("a", ground.at(0, 0, 0), bars[0].at(0, 0, 0), rate=20.0, start=1.0),
            fm.Revolute("b", ends[0], bars[1].at(0, 0, 0), start=-0.8),
            fm.Revolute("d", ground.at(lengths[3], 0, 0), bars[2].at(0, 0, 0), start=1.9),
            fm.Revolute("c", ends[1], ends[2]),
        ]
        return fm.System([ground, *bars], joints, [fm.Gravity((0, -9.81, 0))]), ends[1]

    flat, corner = planar()
    solid, same = spatial()
    assert flat.mobility == solid.mobility == 1
    assert flat.redundant == ()
    assert len(solid.redundant) == 3
    assert "mobility 1" in solid.report()
    assert all(label.split(":")[0] in "abcd" for label in solid.redundant)
    one = fm.forward_dynamics(flat, 0.2, step=1e-3)
    two = fm.forward_dynamics(solid, 0.2, step=1e-3)
    assert_allclose(two.position(same), one.position(corner), atol=1e-9)
    assert two.constraint_error.max() < 1e-10
    state = fm.State(float(two.t[-1]), two.q[-1], two.v[-1], two.angles[-1])
    least = fm.Multipliers().solve(solid.equations(state.t, state.q, state.v, state.angles)).multipliers
    pushed = fm.forward_dynamics(solid, state.t + 1e-6, step=1e-6, start=state).multipliers[0]
    assert_allclose(pushed, least, atol=1e-8 * np.abs(least).max())


def test_free_rotor() -> None:
    """Torque-free rotation about the middle axis, with an energy and a momentum that stay."""
    rotor = fm.RigidBody(
        "rotor", 1.0, (1.0, 2.0, 3.0), position=(0, 0, 0), rotation=np.eye(3), angular_velocity=(0.01, 5, 0.01)
    )
    system = fm.System([rotor])
    motion = fm.forward_dynamics(system, 3.0, step=1e-3, output_step=0.1)
    assert_allclose(motion.v[-1, 3:], ROTOR[3], atol=5e-3)
    momentum = np.einsum("tij,tj->ti", motion.rotation(rotor), motion.v[:, 3:] * [1.0, 2.0, 3.0])
    assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-3)


def test_nothing_is_changed_by_a_run() -> None:
    engine = Engine(forces=(fm.Gravity((0, -9.81, 0)),), rate=30.0)
    first = fm.forward_dynamics(engine.system, 0.05, step=1e-4)
    second = fm.forward_dynamics(engine.system, 0.05, step=1e-4)
    assert np.array_equal(first.q, second.q)
    assert np.array_equal(first.multipliers, second.multipliers)


def test_a_run_goes_on_from_a_result() -> None:
    engine = Engine(forces=(fm.Gravity((0, -9.81, 0)),), rate=30.0)
    whole = fm.forward_dynamics(engine.system, 0.1, integrator=fm.TangentSpaceODE(), output_step=0.01)
    half = fm.forward_dynamics(engine.system, 0.05, integrator=fm.TangentSpaceODE(), output_step=0.01)
    rest = fm.forward_dynamics(engine.system, 0.1, integrator=fm.TangentSpaceODE(), output_step=0.01, start=half)
    assert_allclose(rest.q[-1], whole.q[-1], atol=1e-7)


class TestBadInput:
    def test_what_drives_leave_free_is_refused(self) -> None:
        with pytest.raises(fm.AnalysisError, match="leave 1 motion"):
            fm.inverse_dynamics(Engine().system, [0.0, 1.0])

    def test_a_mechanism_that_cannot_close_names_the_joint(self) -> None:
        ground = fm.Ground()
        bar = fm.PlanarBody("bar", mass=1.0, inertia=1.0)
        joints = [
            fm.planar.Revolute("left", ground.at(0, 0), bar.at(0, 0)),
            fm.planar.Revolute("right", ground.at(2, 0), bar.at(1, 0)),
        ]
        with pytest.raises(
            fm.ModelError, match=r"cannot be closed: (left|right): translation along global x misses by 0.5"
        ):
            _ = fm.System([ground, bar], joints).initial

    def test_bodies_that_are_not_in_the_system(self) -> None:
        ground, bar = fm.Ground(), fm.PlanarBody("bar", mass=1.0, inertia=1.0)
        joint = fm.planar.Revolute("hinge", ground.at(0, 0), bar.at(0, 0))
        with pytest.raises(fm.ModelError, match="hinge: body 'bar' is not in the system"):
            fm.System([ground], [joint])

    def test_two_of_one_name(self) -> None:
        bodies = [fm.PlanarBody("bar", mass=1.0, inertia=1.0) for _ in range(2)]
        with pytest.raises(fm.ModelError, match="named 'bar'"):
            fm.System([fm.Ground(), *bodies])

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"t_end": -1.0}, "t_end must be later"),
            ({"t_end": 1.0, "step": 0.0}, "step must be positive"),
            ({"t_end": 1.0, "step": 2.0}, "step must be positive"),
            ({"t_end": 1.0, "step": 0.01, "output_step": 0.015}, "must be a multiple"),
        ],
    )
    def test_steps_that_make_no_sense(self, arguments: dict[str, float], message: str) -> None:
        with pytest.raises(fm.AnalysisError, match=message):
            fm.forward_dynamics(Engine().system, **arguments)


def test_given_velocities_that_fit_are_kept() -> None:
    """Two-loop four-bar: the couplers' velocities are given, the rods follow, and nothing is lost."""
    ground = fm.Ground()
    rods = [
        fm.PlanarBody(f"rod{k}", mass=1.0, inertia=1 / 12, center=(0.5, 0), position=(k, 0), angle=np.pi / 2)
        for k in range(3)
    ]
    couplers = [
        fm.PlanarBody(f"c{k}", mass=1.0, inertia=1 / 12, center=(0.5, 0), position=(k, 1), angle=0, velocity=(1, 0))
        for k in range(2)
    ]
    joints = [fm.planar.Revolute(f"base{k}", ground.at(k, 0), rods[k].at(0, 0)) for k in range(3)]
    joints += [fm.planar.Revolute(f"left{k}", rods[k].at(1, 0), couplers[k].at(0, 0)) for k in range(2)]
    joints += [fm.planar.Revolute(f"right{k}", rods[k + 1].at(1, 0), couplers[k].at(1, 0)) for k in range(2)]
    system = fm.System([ground, *rods, *couplers], joints, [fm.Gravity((0, -9.81, 0))])
    assert_allclose(system.initial.v[system.layout.body_v[4] :][:2], [1.0, 0.0], atol=1e-12)
    motion = fm.forward_dynamics(system, 1.0, step=0.1, integrator=fm.TangentSpaceODE(rtol=1e-11, atol=1e-12))
    assert_allclose(motion.position(couplers[0])[-1, :2], COUPLER[1], atol=1e-7)


def test_a_start_in_a_singular_position_does_not_lose_a_joint() -> None:
    """Two rods in one line: at the start the second seems to repeat the first, a little later it does not."""
    ground, mass = fm.Ground(), fm.PointMass("mass", 1.0, position=(1, 0, 0))
    rods = [
        fm.Distance("left", ground.at(0, 0, 0), mass.at(), length=1.0),
        fm.Distance("right", ground.at(3, 0, 0), mass.at(), length=2.0),
    ]
    system = fm.System([ground, mass], rods, [fm.Gravity((0, -9.81, 0))])
    for integrator in (fm.GeneralizedAlpha(), fm.TangentSpaceODE()):
        motion = fm.forward_dynamics(system, 1.0, step=1e-3, integrator=integrator)
        assert "singular position" in motion.outcome
        assert motion.constraint_error.max() < 1e-5


def test_the_foundation_carries_a_gear_train_too() -> None:
    """Couplings between hinges on the ground pass their torques to it: the balance of all forces and moments."""
    ground = fm.Ground()
    wheels = [fm.RigidBody.cylinder(f"wheel{k}", 0.1 * (k + 1), 0.02, 7850.0, position=(k, 0, 0)) for k in range(2)]
    hinges = [fm.Revolute(f"hinge{k}", ground.at(k, 0, 0), wheels[k].at(0, 0, 0)) for k in range(2)]
    mesh = fm.gear("teeth", hinges[1].angle, hinges[0].angle, ratio=-0.5)
    motor = fm.Drive("motor", hinges[0].angle, fm.SpinUp(50.0, over=1.0))
    system = fm.System([ground, *wheels], [*hinges, mesh, motor], [fm.Gravity((0, 0, -9.81))])
    motion = fm.inverse_dynamics(system, [0.3, 0.6])
    force, moment = np.zeros((2, 3)), np.zeros((2, 3))
    for wheel in wheels:
        mass, _, inertia = wheel.mass_parameters
        weight = mass * np.array([0, 0, -9.81])
        force += weight
        spin = motion.motion(wheel).spin_rate
        moment += np.cross(motion.position(wheel), weight) - spin @ inertia
    assert_allclose(motion.reaction(ground), np.hstack([force, moment]), atol=1e-9)
