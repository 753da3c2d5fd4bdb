"""Section forces of beams under their own inertia: exact at the ends of elements, however few there are."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm

E, RHO, L, SIDE = 70e9, 2700.0, 1.0, 0.02
ALUMINIUM = fm.Material(young=E, poisson=0.3, density=RHO)
SECTION = fm.Section.rectangle(SIDE, SIDE)
AREA, SECOND = SIDE**2, SIDE**4 / 12
GROUND = fm.Ground()


def beam(divisions: int = 3, **options: object) -> fm.FlexibleBody:
    mesh = fm.Mesh.line((0, 0, 0), (L, 0, 0), divisions)
    return fm.FlexibleBody("beam", mesh, ALUMINIUM, section=SECTION, **options)


def clamped(body: fm.FlexibleBody, *forces: object) -> tuple[fm.System, fm.Fixed]:
    hold = fm.Fixed("hold", GROUND.at(0, 0, 0), body.at("start"))
    return fm.System([GROUND, body], [hold], forces), hold


@pytest.mark.parametrize("divisions", [1, 3])
def test_own_weight_of_a_part(divisions: int) -> None:
    mesh, weight = fm.Mesh.line((0, 0, 0), (L, 0, 0), divisions), RHO * AREA * 9.81
    hanging = fm.statics(mesh, ALUMINIUM, fm.Gravity((9.81, -9.81, 0)), fixed="start", section=SECTION).stress
    x = np.linspace(0, L, divisions + 1)
    for end, at in ((0, x[:-1]), (1, x[1:])):
        forces = hanging.arrays[0][:, end]
        left = L - at
        assert_allclose(forces[:, 0], weight * left, atol=1e-9 * weight)
        assert_allclose(forces[:, 1], -weight * left, atol=1e-8 * weight)
        assert_allclose(forces[:, 5], -weight * left**2 / 2, atol=1e-8 * weight)


def test_own_weight_of_a_body_and_a_gauge() -> None:
    body = beam(interfaces=["start", "end"], reduction=fm.CraigBampton(4))
    rest = fm.statics(clamped(body, fm.Gravity((0, -1e-3, 0)))[0])
    weight = RHO * AREA * 1e-3
    forces = rest.section_forces(body)
    x = np.arange(3) / 3
    assert_allclose(forces[:, 0, 1], -weight * (1 - x), rtol=1e-6)
    assert_allclose(forces[:, 0, 5], -weight * (1 - x) ** 2 / 2, rtol=1e-6)
    assert_allclose(rest.von_mises(body)[0], weight / 2 * (SIDE / 2) / SECOND, rtol=1e-6)
    for at in (0.0, 0.1, 0.5, 0.7):  # also between nodes
        gauge = fm.StrainGauge(body, at=(at, SIDE / 2, 0.0))
        expected = weight * (1 - at) ** 2 / 2 * (SIDE / 2) / (E * SECOND)
        assert_allclose(rest.strain(gauge), expected, rtol=1e-5, atol=1e-6 * weight / (E * SIDE**3))


def test_spinning_arm() -> None:
    speed, hub = 60.0, 0.3
    body = beam(interfaces=["start", "end"], reduction=fm.CraigBampton(4))
    disc = fm.RigidBody.cylinder("disc", radius=hub, length=0.1, density=7850.0)
    turn = fm.Revolute("turn", GROUND.at(0, 0, 0), disc.at(0, 0, 0), axis="z")
    root = fm.Fixed("root", disc.at(hub, 0, 0), body.at("start"))
    motor = fm.Drive("motor", turn.angle, fm.ConstantSpeed(speed))
    steady = fm.statics(fm.System([GROUND, disc, body], [turn, root, motor]), spin=(0, 0, speed))
    x = hub + np.arange(4) / 3 * L
    expected = RHO * AREA * speed**2 / 2 * ((hub + L) ** 2 - x**2)
    forces = steady.section_forces(body)
    assert_allclose(np.append(forces[:, 0, 0], forces[-1, 1, 0]), expected, atol=2e-4 * expected[0])
    assert_allclose(steady.von_mises(body)[0], expected[0] / AREA, rtol=2e-4)


@pytest.mark.parametrize("frame", ["chord", "mean", "tangent"])
def test_vibrating_arm_agrees_with_its_reactions(frame: str) -> None:
    body = beam(4, interfaces=["start", "end"], frame=frame, reduction=fm.FullOrder())
    push = fm.AppliedForce("push", body.at("end"), force=(0, lambda t: np.sin(60 * t), 0))
    system, hold = clamped(body, push)
    motion = fm.forward_dynamics(system, t_end=0.05, step=2e-4)
    forces, held = motion.section_forces(body, at=motion.t)[:, 0, 0], -motion.reaction(hold)
    assert_allclose(forces[:, 1], held[:, 1], atol=1e-4 * abs(held[:, 1]).max())
    assert_allclose(forces[:, 5], held[:, 5], atol=1e-5 * abs(held[:, 5]).max())
    plain = motion.section_forces(body, at=motion.t, corrected=False)[:, 0, 0]
    assert abs(plain[:, 1] - held[:, 1]).max() > 2e-3 * abs(held[:, 1]).max()
