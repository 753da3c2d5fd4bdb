"""Mechanisms of rigid bodies whose motion and forces are known."""

from __future__ import annotations

from typing import Any

import numpy as np

import flexmbs as fm
from cases.case import Case, Quantity

DOWN = fm.Gravity((0.0, -9.81, 0.0))
TIGHT = fm.TangentSpaceODE(rtol=1e-12, atol=1e-13)


def run(system: fm.System, t_end: float, step: float, **options: Any) -> fm.Result:
    """A motion with tight tolerances."""
    return fm.forward_dynamics(system, t_end, step=step, output_step=step, **({"integrator": TIGHT} | options))


# ---- pendulum

PERIOD = 2.367841947576237  # s
SWING = {
    1: (0.98629175113188, -0.16501085312554),
    5: (-0.94230543504376, -0.334754338414),
    10: (-0.27508746257612, -0.96141920509913),
}  # m, by time


def point_pendulum() -> fm.System:
    """A point mass on a massless rod, let go from the horizontal."""
    ground, mass = fm.Ground(), fm.PointMass("mass", 1.0, position=(-1.0, 0.0, 0.0))
    rod = fm.Distance("rod", ground.at(0, 0, 0), mass.at(), length=1.0)
    plane = fm.PointInPlane("plane", ground.at(0, 0, 0), mass.at(), axis="z")
    return fm.System([ground, mass], [rod, plane], [DOWN])


def planar_pendulum() -> fm.System:
    """The same as a planar body on a hinge."""
    ground = fm.Ground()
    body = fm.PlanarBody("body", mass=1.0, inertia=0.0, center=(1.0, 0.0), angle=np.pi)
    return fm.System([ground, body], [fm.planar.Revolute("hinge", ground.at(0, 0), body.at(0, 0))], [DOWN])


def pendulum() -> list[float]:
    """Period, and where it is."""
    system = planar_pendulum()
    bob, hinge = system.bodies[1], system.joints[0]
    lowest = fm.Event("lowest", hinge.angle, level=1.5 * np.pi, direction=1)
    motion = run(system, 10.0, 1.0, events=[lowest])
    first, second, *_ = motion.events["lowest"].t
    return [second - first, *motion.position(bob.at(1, 0))[list(SWING), :2].ravel()]


# ---- spatial pendulum

CENTRE = (0.5, 0.1, 0.05)
BRICK = {
    0.5: (-0.21307293535, 0.07770591604, -0.45941453485),
    1.0: (0.09320455047, -0.50243644403, 0.03702068997),
    2.0: (-0.48916121612, -0.15187718859, 0.01243479901),
}  # m, by time
BRICK_FORCE = (-1.55660097, 8.37911267, 2.21638198)  # N, at t = 1


def spatial_pendulum() -> fm.System:
    """A brick on a ball at its corner, turning."""
    ground = fm.Ground()
    brick = fm.RigidBody(
        "brick", 2.0, 2.0 / 12 * np.array([0.05, 1.01, 1.04]), center=CENTRE,
        rotation=np.eye(3), angular_velocity=(0.0, 0.0, 3.0),
    )  # fmt: skip
    ball = fm.Spherical("ball", ground.at(0, 0, 0), brick.at(0, 0, 0))
    return fm.System([ground, brick], [ball], [fm.Gravity((0.0, 0.0, -9.81))])


def brick_on_a_ball() -> np.ndarray:
    """Places of the mass centre, and the force of the ball."""
    system = spatial_pendulum()
    motion = run(system, 2.0, 0.5)
    places = motion.position(system.bodies[1].at(*CENTRE))[[1, 2, 4]]
    return np.concatenate([places.ravel(), motion.reaction(system.joints[0])[2, :3]])


# ---- two loops

COUPLER = {1: (-0.195020301950, -0.980799205662), 10: (0.328458111535, 0.944518538181)}  # m, by time
TURN = 1.94251492261  # s


def two_loop_four_bar() -> fm.System:
    """Three rods upright and two across their tops, each loop of which passes flat positions."""
    ground = fm.Ground()
    bar = {"mass": 1.0, "inertia": 1 / 12, "center": (0.5, 0.0)}
    up = [fm.PlanarBody(f"up {k}", position=(k, 0.0), angle=np.pi / 2, **bar) for k in range(3)]
    over = [fm.PlanarBody(f"over {k}", position=(k, 1.0), angle=0.0, **bar) for k in range(2)]
    joints = [fm.planar.Revolute(f"foot {k}", ground.at(k, 0), up[k].at(0, 0), rate=-1.0) for k in range(3)]
    for k in range(2):
        joints.append(fm.planar.Revolute(f"left {k}", up[k].at(1, 0), over[k].at(0, 0)))
        joints.append(fm.planar.Revolute(f"right {k}", over[k].at(1, 0), up[k + 1].at(1, 0)))
    return fm.System([ground, *up, *over], joints, [DOWN])


def coupler_joint() -> list[float]:
    """Its places, and the time of a revolution."""
    system = two_loop_four_bar()
    turned = fm.Event("turned", system.joints[0].angle, level=-1.5 * np.pi, direction=-1)
    method = fm.TangentSpaceODE(rtol=1e-11, atol=1e-12)
    motion = run(system, 10.0, 1.0, integrator=method, events=[turned])
    places = motion.position(system.bodies[1].at(1, 0))[list(COUPLER), :2]
    return [*places.ravel(), float(motion.events["turned"].t[0])]


# ---- free rotor

ROTOR_PERIOD = 10.0518582763149  # s
ROTOR = {
    3: (-3.868141808329, -3.168213842319, 2.233287640031),
    10: (0.012714870630, 4.999993833203, 0.010979798649),
}  # rad/s in body axes, by time


def free_rotor() -> fm.System:
    """A body that turns about its middle axis, nearly."""
    rotor = fm.RigidBody("rotor", 1.0, (1.0, 2.0, 3.0), position=(0, 0, 0), angular_velocity=(0.01, 5.0, 0.01))
    return fm.System([fm.Ground(), rotor])


def tumbling() -> list[float]:
    """Period, and angular velocities."""
    flips = fm.Event("flips", lambda motion: motion.v[:, 4], direction=-1)
    motion = run(free_rotor(), 13.0, 0.25, events=[flips])
    first, second = motion.events["flips"].t
    return [second - first, *motion.v[[4 * t for t in ROTOR], 3:6].ravel()]


# ---- Chaplygin's sleigh

SLEIGH = {
    "speed along the blade": 1.450146012489,
    "yaw rate": 0.709591124165,
    "heading": 2.769856753646,
    "x": -0.598701837832,
    "y": 1.495489068596,
}  # at t = 2
SLEIGH_LATE = (-11.668883911930, -3.280593557452)  # m, at t = 10


def sleigh() -> fm.System:
    """A planar body whose origin moves along its x axis only."""
    ground = fm.Ground()
    body = fm.PlanarBody(
        "sleigh", 1.0, 0.5, center=(0.3, 0.0),
        position=(0.0, 0.0), angle=0.0, velocity=(0.2, 0.0), angular_velocity=2.0,
    )  # fmt: skip
    return fm.System([ground, body], [fm.planar.KnifeEdge("blade", body.at(0, 0), ground.at(0, 0), axis="y")])


def sleigh_states(motion: fm.Result) -> list[float]:
    """What is known of it, from a motion with instants two seconds apart."""
    x, y, heading = motion.q[1]
    forward = motion.v[1, 0] * np.cos(heading) + motion.v[1, 1] * np.sin(heading)
    return [forward, motion.v[1, 2], heading, x, y, *motion.q[-1, :2]]


# ---- slider-crank, inverse dynamics

ANGLES = (0, 30, 90, 135)  # degrees
CRANK = {
    "drive torque": (0.0, 110.1841487485, -55.6846590184, -63.7819992238),
    "crank pin x": (-6000.0, -4842.09209409, 1113.69318037, 3468.40088786),
    "crank pin y": (0.0, -250.98925635, -1968.75, -1664.37352111),
    "wall y": (0.0, -649.01074365, 168.75, 391.58131497),
    "bearing x": (-7080.0, -5777.39953018, 1113.69318037, 4232.07621154),
    "bearing y": (0.0, -790.98925635, -3048.75, -2428.04884479),
    "piston acceleration": (-6000.0, -4690.35195325, 1590.99025767, 3136.58383104),
}  # N m, N, m/s², by angle
CRANK_SPEED = 300.0  # rad/s


def planar_slider_crank(motion: Any = None, forces: tuple[Any, ...] = (), start: Any = None, rate: Any = None) -> Any:
    """The slider-crank with trusted reactions, driven or free: r = 0.05, l = 0.15, cylinder axis x."""
    ground = fm.Ground()
    crank = fm.PlanarBody("crank", mass=1.2, inertia=0.003, center=(0.01, 0.0), inertia_about="origin")
    rod = fm.PlanarBody("rod", mass=0.6, inertia=0.002, center=(0.05, 0.0))
    piston = fm.PlanarBody("piston", mass=0.5, inertia=1e-3)
    shaft = fm.planar.Revolute("shaft", ground.at(0, 0), crank.at(0, 0), start=start, rate=rate)
    joints: list[Any] = [
        shaft,
        fm.planar.Revolute("crank pin", crank.at(0.05, 0), rod.at(0, 0)),
        fm.planar.Revolute("wrist pin", rod.at(0.15, 0), piston.at(0, 0)),
        fm.planar.Prismatic("cylinder", ground.at(0, 0), piston.at(0, 0), axis="x", start=0.15),
    ]
    if motion is not None:
        joints.append(fm.Drive("motor", shaft.angle, motion))
    return fm.System([ground, crank, rod, piston], joints, forces)


def crank_forces(formulation: Any = None) -> np.ndarray:
    """All that is known at the four angles, a row for each of CRANK's names."""
    system = planar_slider_crank(fm.ConstantSpeed(CRANK_SPEED))
    shaft, pin, _, wall, motor = system.joints
    motion = fm.inverse_dynamics(system, np.radians(ANGLES) / CRANK_SPEED, formulation=formulation)
    forces = motion.reaction(pin)[:, :2].T, motion.reaction(wall)[:, 1], motion.reaction(shaft)[:, :2].T
    return np.vstack([motion.reaction(motor), *forces, motion.acceleration(system.bodies[3])[:, 0]])


def crank_scale(name: str) -> float:
    """The largest of a quantity over the angles."""
    return max(abs(value) for value in CRANK[name])


CASES = (
    Case(
        "pendulum",
        "Pendulum let go from the horizontal",
        "A mass of 1 kg on 1 m, g = 9.81 m/s². Period in s, and its place (x, y) in m.",
        "elliptic integrals and functions; an ordinary differential equation at 1e-12",
        "a planar body on a hinge, `TangentSpaceODE(rtol=1e-12, atol=1e-13)`",
        [
            Quantity("period", PERIOD, 1e-9),
            *(Quantity(f"{'xy'[k]}, t = {t}", place[k], 1e-9, 1.0) for t, place in SWING.items() for k in range(2)),
        ],
        pendulum,
    ),
    Case(
        "spatial pendulum",
        "Brick on a ball at its corner",
        "1 × 0.2 × 0.1 m, 2 kg, starts level with 3 rad/s about the vertical. Place of the mass centre in m, force of "
        "the joint in N.",
        "minimal coordinates, an ordinary differential equation at 1e-12",
        "a rigid body and `Spherical`, `TangentSpaceODE(rtol=1e-12, atol=1e-13)`",
        [
            *(Quantity(f"{'xyz'[k]}, t = {t:g}", p[k], 1e-8, 0.5) for t, p in BRICK.items() for k in range(3)),
            *(Quantity(f"F{'xyz'[k]}, t = 1", BRICK_FORCE[k], 1e-8, 8.8) for k in range(3)),
        ],
        brick_on_a_ball,
    ),
    Case(
        "two-loop four-bar",
        "Four-bar with two loops",
        "Five rods of 1 m and 1 kg; the couplers start with 1 m/s, and it passes flat, singular positions. Place of "
        "the first coupler's joint in m, time of the first revolution in s.",
        "benchmark library of the IFToMM committee for multibody dynamics, problem A02 with N = 2; numbers from an "
        "ordinary differential equation in one angle at 1e-12",
        "planar bodies, `TangentSpaceODE(rtol=1e-11, atol=1e-12)`",
        [
            *(
                Quantity(f"{'xy'[k]}, t = {t}", place[k], 1e-7 if t == 1 else 1e-4, 1.0)
                for t, place in COUPLER.items()
                for k in range(2)
            ),
            Quantity("revolution", TURN, 1e-7),
        ],
        coupler_joint,
    ),
    Case(
        "free rotor",
        "Free rotor about its middle axis",
        "Moments of inertia 1, 2, 3; starts with (0.01, 5, 0.01) rad/s and turns over. Period in s, angular velocity "
        "in body axes in rad/s.",
        "Euler's equations: elliptic functions; an ordinary differential equation at 1e-12",
        "a free rigid body, `TangentSpaceODE(rtol=1e-12, atol=1e-13)`",
        [
            Quantity("period", ROTOR_PERIOD, 1e-8),
            *(Quantity(f"ω_{'xyz'[k]}, t = {t}", w[k], 1e-8, 5.0) for t, w in ROTOR.items() for k in range(3)),
        ],
        tumbling,
    ),
    Case(
        "sleigh",
        "Chaplygin's sleigh",
        "A knife edge that cannot slip sideways (nonholonomic), mass centre 0.3 m ahead of it; 1 kg, 0.5 kg m². Starts "
        "with 0.2 m/s and 2 rad/s. SI units.",
        "its reduced equations, an ordinary differential equation at 1e-12",
        "a planar body and `planar.KnifeEdge`, `TangentSpaceODE(rtol=1e-12, atol=1e-13)`",
        [
            *(Quantity(f"{name}, t = 2", value, 1e-7, 1.0) for name, value in SLEIGH.items()),
            *(Quantity(f"{'xy'[k]}, t = 10", SLEIGH_LATE[k], 1e-7, 1.0) for k in range(2)),
        ],
        lambda: sleigh_states(run(sleigh(), 10.0, 2.0)),
    ),
    Case(
        "slider-crank forces",
        "Forces in a slider-crank",
        "Crank of 50 mm at 300 rad/s, rod of 150 mm, cylinder along x, no gravity. Torque in N m, forces in N on the "
        "rod, the piston and the crank, acceleration in m/s². Differences are relative to the largest value.",
        "Newton and Euler by hand",
        "planar bodies, `inverse_dynamics`",
        [
            Quantity(f"{name}, {angle}°", value, 1e-9, crank_scale(name))
            for name, values in CRANK.items()
            for angle, value in zip(ANGLES, values, strict=True)
        ],
        crank_forces,
    ),
)
