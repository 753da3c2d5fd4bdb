"""Mechanisms whose motion is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexmbs.bodies import Ground, PlanarBody, PointMass, RigidBody
from flexmbs.fem.loads import Gravity
from flexmbs.joints import planar, spatial
from flexmbs.joints.drives import Drive
from flexmbs.rotations import exp
from flexmbs.system.system import System

DOWN = Gravity((0.0, -9.81, 0.0))


def point_pendulum() -> System:
    ground, mass = Ground(), PointMass("mass", 1.0, position=(-1.0, 0.0, 0.0))
    rod = spatial.Distance("rod", ground.at(0, 0, 0), mass.at(), length=1.0)
    plane = spatial.PointInPlane("plane", ground.at(0, 0, 0), mass.at(), axis="z")
    return System([ground, mass], [rod, plane], [DOWN])


def planar_pendulum() -> System:
    ground = Ground()
    body = PlanarBody("body", mass=1.0, inertia=0.0, center=(1.0, 0.0), angle=np.pi)
    return System([ground, body], [planar.Revolute("hinge", ground.at(0, 0), body.at(0, 0))], [DOWN])


def spatial_pendulum() -> System:
    ground = Ground()
    brick = RigidBody(
        "brick", 2.0, 2.0 / 12 * np.array([0.05, 1.01, 1.04]), center=(0.5, 0.1, 0.05),
        rotation=np.eye(3), angular_velocity=(0.0, 0.0, 3.0),
    )  # fmt: skip
    ball = spatial.Spherical("ball", ground.at(0, 0, 0), brick.at(0, 0, 0))
    return System([ground, brick], [ball], [Gravity((0.0, 0.0, -9.81))])


def two_loop_four_bar() -> System:
    ground = Ground()
    up = [PlanarBody(f"up {k}", 1.0, 1 / 12, center=(0.5, 0.0), position=(k, 0.0), angle=np.pi / 2) for k in range(3)]
    over = [PlanarBody(f"over {k}", 1.0, 1 / 12, center=(0.5, 0.0), position=(k, 1.0), angle=0.0) for k in range(2)]
    joints = [planar.Revolute(f"foot {k}", ground.at(k, 0), up[k].at(0, 0), rate=-1.0) for k in range(3)]
    for k in range(2):
        joints.append(planar.Revolute(f"left {k}", up[k].at(1, 0), over[k].at(0, 0)))
        joints.append(planar.Revolute(f"right {k}", over[k].at(1, 0), up[k + 1].at(1, 0)))
    return System([ground, *up, *over], joints, [DOWN])


def free_rotor() -> System:
    rotor = RigidBody("rotor", 1.0, np.array([1.0, 2.0, 3.0]), position=(0, 0, 0), angular_velocity=(0.01, 5.0, 0.01))
    return System([Ground(), rotor])


def planar_slider_crank(motion: Any = None, forces: tuple[Any, ...] = ()) -> System:
    """The slider-crank with trusted reactions, driven or free (then it starts at 1 rad with 5 rad/s)."""
    ground = Ground()
    crank = PlanarBody("crank", mass=1.2, inertia=0.003, center=(0.01, 0.0), inertia_about="origin")
    rod = PlanarBody("rod", mass=0.6, inertia=0.002, center=(0.05, 0.0))
    piston = PlanarBody("piston", mass=0.5, inertia=1e-3)
    start, rate = (1.0, 5.0) if motion is None else (None, None)
    shaft = planar.Revolute("shaft", ground.at(0, 0), crank.at(0, 0), start=start, rate=rate)
    joints: list[Any] = [
        shaft,
        planar.Revolute("crank pin", crank.at(0.05, 0), rod.at(0, 0)),
        planar.Revolute("wrist pin", rod.at(0.15, 0), piston.at(0, 0)),
        planar.Prismatic("cylinder", ground.at(0, 0), piston.at(0, 0), axis="x", start=0.15),
    ]
    if motion is not None:
        joints.append(Drive("motor", shaft.angle, motion))
    return System([ground, crank, rod, piston], joints, forces)


def spatial_slider_crank(forces: tuple[Any, ...] = ()) -> System:
    """The same, free, of bodies in space: three rows are redundant."""
    ground = Ground()

    def flat(moment: float) -> Any:
        return np.array([moment / 2, moment / 2, moment])

    central = 0.003 - 1.2 * 0.01**2
    crank = RigidBody("crank", 1.2, flat(central), center=(0.01, 0.0, 0.0))
    rod = RigidBody("rod", 0.6, flat(0.002), center=(0.05, 0.0, 0.0))
    piston = RigidBody("piston", 0.5, flat(1e-3))
    joints = [
        spatial.Revolute("shaft", ground.at(0, 0, 0), crank.at(0, 0, 0), start=1.0, rate=5.0),
        spatial.Revolute("crank pin", crank.at(0.05, 0, 0), rod.at(0, 0, 0)),
        spatial.Revolute("wrist pin", rod.at(0.15, 0, 0), piston.at(0, 0, 0)),
        spatial.Prismatic("cylinder", ground.at(0, 0, 0), piston.at(0, 0, 0), axis="x", start=0.15),
    ]
    return System([ground, crank, rod, piston], joints, forces)


def double_pendulum(motion: Any) -> System:
    """Two planar rods; the first is driven."""
    ground = Ground()
    first, second = (PlanarBody(n, 1.0, 0.1, center=(0.5, 0.0)) for n in ("first", "second"))
    hinge = planar.Revolute("hinge", ground.at(0, 0), first.at(0, 0))
    elbow = planar.Revolute("elbow", first.at(1, 0), second.at(0, 0))
    return System([ground, first, second], [hinge, elbow, Drive("motor", hinge.angle, motion)], [DOWN])


def locking_four_bar(motion: Any) -> System:
    """Crank 2.5, coupler and rocker 1, feet 3 apart: the crank cannot turn past cos a = (2.5² + 3² - 2²) / 15."""
    ground = Ground()
    crank, coupler, rocker = (
        PlanarBody(n, 1.0, length**2 / 12, center=(length / 2, 0.0))
        for n, length in (("crank", 2.5), ("coupler", 1.0), ("rocker", 1.0))
    )
    shaft = planar.Revolute("shaft", ground.at(0, 0), crank.at(0, 0))
    joints = [
        shaft,
        planar.Revolute("knee", crank.at(2.5, 0), coupler.at(0, 0), start=1.0),
        planar.Revolute("tip", coupler.at(1, 0), rocker.at(1, 0), start=1.0),
        planar.Revolute("foot", ground.at(3, 0), rocker.at(0, 0)),
        Drive("motor", shaft.angle, motion),
    ]
    return System([ground, crank, coupler, rocker], joints)


def sleigh() -> System:
    """Chaplygin's sleigh: a planar body whose origin moves along its x axis only."""
    ground = Ground()
    body = PlanarBody(
        "sleigh", 1.0, 0.5, center=(0.3, 0.0),
        position=(0.0, 0.0), angle=0.0, velocity=(0.2, 0.0), angular_velocity=2.0,
    )  # fmt: skip
    return System([ground, body], [planar.KnifeEdge("blade", body.at(0, 0), ground.at(0, 0), axis="y")])


def spatial_sleigh() -> System:
    """The same of a body in space, on a plane that is not the x-y plane; its blade stands at an angle to its axes."""
    ground, tilt = Ground(), exp(np.array([0.3, -0.5, 0.2]))
    own = exp(np.array([0.1, 0.2, 0.3]))
    body = RigidBody(
        "sleigh", 1.0, own @ np.diag([0.2, 0.4, 0.5]) @ own.T, center=0.3 * own[:, 0], position=(0.0, 0.0, 0.0),
        rotation=tilt @ own.T, velocity=0.2 * tilt[:, 0], angular_velocity=2.0 * own[:, 2],
    )  # fmt: skip
    blade, floor = body.at(0, 0, 0, axes=own), ground.at(0, 0, 0, axes=tilt)
    return System(
        [ground, body],
        [spatial.PlaneJoint("ice", floor, blade, axis="z"), spatial.KnifeEdge("blade", blade, floor, axis="y")],
    )
