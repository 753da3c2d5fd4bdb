"""A body meshed with a very stiff material moves as the rigid body of the same mass properties."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import flexmbs as fm

STIFF = fm.Material(young=2e18, poisson=0.3, density=7850.0)
GRAVITY = fm.Gravity((0.0, -9.81, 0.0))


def compared(system: fm.System, t_end: float = 0.2, step: float = 1e-3) -> None:
    """Positions and velocities of bodies, flexible (from a start without ringing) and with deformation locked."""
    bent = fm.forward_dynamics(system, t_end, step, start="deformed")
    rigid = fm.forward_dynamics(system.rigid(), t_end, step)
    places = np.zeros(system.n_q, dtype=bool)
    for body, last in zip(system.bodies, system.layout.body_q[1:], strict=True):
        places[last - body.modes : last] = True
    scale = np.abs(rigid.v).max()
    assert scale > 1.0  # it moves
    np.testing.assert_allclose(bent.q[:, ~places], rigid.q, atol=1e-6)
    np.testing.assert_allclose(bent.v[:, ~system.elastic], rigid.v, atol=1e-6 * scale)


def solid(name: str, length: float, **options: object) -> fm.FlexibleBody:
    """A bar along x whose ends are interfaces."""
    mesh = fm.Mesh.box((length, 0.04, 0.06), (4, 1, 1), cell="hexahedron20", origin=(0.0, -0.02, -0.03))
    return fm.FlexibleBody(
        name, mesh, STIFF, interfaces=["x0", "x1"], reduction=fm.CraigBampton(4), **options
    )  # fmt: skip


def test_in_flight() -> None:
    body = solid("bar", 0.5, position=(0, 0, 0), velocity=(1, 2, 3), angular_velocity=(5.0, 20.0, 8.0))
    compared(fm.System([body], [], [GRAVITY]))


def four_bar() -> fm.System:
    """Four revolute joints in space, with a flexible coupler and rocker: redundant with deformation locked."""
    ground, crank = fm.Ground(), fm.RigidBody.box("crank", (0.2, 0.03, 0.03), 7850.0)
    coupler, rocker = solid("coupler", 0.5), solid("rocker", 0.4)
    shaft = fm.Revolute("shaft", ground.at(0, 0, 0), crank.at(-0.1, 0, 0), axis="z", start=1.0)
    pins = [
        fm.Revolute("crank_pin", crank.at(0.1, 0, 0), coupler.at("x0"), axis="z", start=-0.9),
        fm.Revolute("rocker_pin", coupler.at("x1"), rocker.at("x1"), axis="z", start=1.5),
        fm.Revolute("pivot", ground.at(0.55, 0, 0), rocker.at("x0"), axis="z", start=1.5),
    ]
    motor = fm.Drive("motor", shaft.angle, fm.ConstantSpeed(12.0, start=1.0))
    return fm.System([ground, crank, coupler, rocker], [shaft, *pins, motor], [GRAVITY])


def test_in_a_four_bar() -> None:
    system = four_bar()
    assert system.rigid_mobility == 0
    assert system.rigid().redundant
    assert not system.redundant
    assert "rigid mobility 0" in system.report()
    assert "their reactions follow from the deformation" in system.report()
    compared(system)


def test_in_the_plane() -> None:
    mesh = fm.Mesh.rectangle((0.5, 0.05), (6, 1), cell="quad8", origin=(0.0, -0.025))
    link = fm.FlexibleBody(
        "link", mesh, STIFF, thickness=0.02, interfaces=["x0", "x1"], reduction=fm.CraigBampton(3), position=(0.1, 0.2),
        velocity=(1.0, 2.0), angular_velocity=9.0,
    )  # fmt: skip
    compared(fm.System([link], [], [GRAVITY]))
    ground = fm.Ground()
    arm = fm.PlanarBody.rod("arm", 0.4, 2.0)
    hung = fm.FlexibleBody("hung", mesh, STIFF, thickness=0.02, interfaces=["x0", "x1"], reduction=fm.CraigBampton(3))
    joints = [
        fm.planar.Revolute("pivot", ground.at(0, 0), hung.at("x0"), rate=4.0),
        fm.planar.Revolute("pin", hung.at("x1"), arm.at(-0.2, 0), start=0.5),
    ]
    system = fm.System([ground, hung, arm], joints, [GRAVITY])
    assert system.rigid_mobility == 2
    compared(system)


def test_inertia_is_that_of_the_mesh() -> None:
    body = solid("bar", 0.5, rotation=Rotation.from_rotvec([0.1, 0.2, 0.3]).as_matrix())
    mass, center, inertia = body.rigid().mass_parameters
    assert mass == pytest.approx(7850.0 * 0.5 * 0.04 * 0.06)
    np.testing.assert_allclose(center, [0.25, 0, 0], atol=1e-12)
    assert inertia[2, 2] == pytest.approx(mass * (0.5**2 / 3 + 0.04**2 / 12))
    np.testing.assert_allclose(body.rigid().initial[1], body.initial[1])
