"""Mechanisms whose motion is known."""

from __future__ import annotations

from typing import Any

import numpy as np
from cases import rigid
from cases.rigid import (  # noqa: F401
    DOWN,
    free_rotor,
    planar_pendulum,
    point_pendulum,
    sleigh,
    spatial_pendulum,
    two_loop_four_bar,
)

from flexmbs.bodies import Ground, PlanarBody, RigidBody
from flexmbs.joints import planar, spatial
from flexmbs.joints.drives import Drive
from flexmbs.rotations import exp
from flexmbs.system.system import System


def planar_slider_crank(motion: Any = None, forces: tuple[Any, ...] = ()) -> System:
    """The slider-crank with trusted reactions, driven or free (then it starts at 1 rad with 5 rad/s)."""
    return rigid.planar_slider_crank(motion, forces, *((1.0, 5.0) if motion is None else (None, None)))


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
