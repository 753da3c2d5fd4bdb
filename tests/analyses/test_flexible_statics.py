"""Where mechanisms with flexible bodies rest, and whether they stay there: closed forms of beams and columns."""

from __future__ import annotations

import numpy as np
import pytest

import flexmbs as fm

YOUNG, LENGTH, SIDE = 2e11, 1.0, 0.01
STEEL = fm.Material(young=YOUNG, poisson=0.3, density=7850.0)
EI = YOUNG * SIDE**4 / 12


def beam(count: int = 6, **options: object) -> fm.FlexibleBody:
    mesh = fm.Mesh.line((0.0, 0.0, 0.0), (LENGTH, 0.0, 0.0), count)
    elements = fm.Elements(mesh, STEEL, section=fm.Section.rectangle(SIDE, SIDE), formulation="euler_bernoulli")
    options.setdefault("reduction", fm.FullOrder())
    return fm.FlexibleBody("beam", elements, interfaces=["start", "end"], **options)


def tip(body: fm.FlexibleBody, rest: fm.Equilibrium) -> np.ndarray:
    """Displacement of the free end from where the undeformed body has it."""
    frame = body.at("end")
    work = rest.system.evaluate(0.0, rest.q[-1], rest.v[-1])
    d = rest.q[-1][7 : 7 + body.modes]
    local = frame.position + frame.shapes[:3] @ d
    if frame.curvatures is not None:
        local = local + (frame.curvatures[:3] @ d) @ d / 2
    b = rest.system.body_number(body)
    return work.position[b] + work.rotation[b] @ local - frame.position


@pytest.mark.parametrize("frame", ["chord", "mean", fm.Tangent("start")], ids=str)
def test_cantilever_under_its_weight(frame: object) -> None:
    ground, body, pull = fm.Ground(), beam(frame=frame), 1e-4
    system = fm.System(
        [ground, body], [fm.Fixed("clamp", ground.at(0, 0, 0), body.at("start"))], [fm.Gravity((0.0, -pull, 0.0))]
    )
    rest = fm.statics(system)
    line = 7850.0 * SIDE**2 * pull
    assert rest.stable
    assert tip(body, rest)[1] == pytest.approx(-line * LENGTH**4 / (8 * EI), rel=1e-6)
    reaction = rest.reaction(system.joints[0])[0]
    assert abs(reaction[1]) == pytest.approx(line * LENGTH, rel=1e-8)
    assert abs(reaction[5]) == pytest.approx(line * LENGTH**2 / 2, rel=1e-6)


@pytest.mark.parametrize(("share", "stable"), [(0.98, True), (1.02, False)])
@pytest.mark.parametrize("frame", ["chord", fm.Tangent("start")], ids=str)
def test_column(share: float, stable: bool, frame: object) -> None:
    """A clamped column stands below Euler's load π²EI/4L², and not above it."""
    ground, body = fm.Ground(), beam(reduction=fm.CraigBampton(6), frame=frame)
    load = share * np.pi**2 * EI / (4 * LENGTH**2)
    system = fm.System(
        [ground, body],
        [fm.Fixed("clamp", ground.at(0, 0, 0), body.at("start"))],
        [fm.AppliedForce("weight", body.at("end"), force=(-load, 0, 0))],
    )
    assert fm.statics(system).stable is stable


@pytest.mark.parametrize(("share", "stable"), [(1.01, True), (0.99, False)])
def test_inverted_pendulum_on_a_spring(share: float, stable: bool) -> None:
    """A spring of stiffness m g L/2 just holds a rod upright, though its bending is very much stiffer."""
    ground, body = fm.Ground(), beam(reduction=fm.CraigBampton(2))
    pin = fm.Revolute("pin", ground.at(0, 0, 0), body.at("start"), axis="z")
    weight = 7850.0 * SIDE**2 * LENGTH * 1e-3 * LENGTH / 2
    spring = fm.SpringDamper("spring", pin.angle, stiffness=share * weight)
    system = fm.System([ground, body], [pin], [fm.Gravity((-1e-3, 0, 0)), spring])
    assert fm.statics(system).stable is stable


def test_far_from_rest() -> None:
    """A pendulum falls from level to hanging; its bending does not slow the search, and it stretches by ρgL²/2E."""
    ground, body = fm.Ground(), beam()
    pin = fm.Revolute("pin", ground.at(0, 0, 0), body.at("start"), axis="z", start=0.3)
    system = fm.System([ground, body], [pin], [fm.Gravity((0, -9.81, 0))])
    rest = fm.statics(system)
    assert rest.stable
    hung = tip(body, rest) + np.array([LENGTH, 0, 0])
    np.testing.assert_allclose(hung[[0, 2]], 0.0, atol=1e-12)
    assert -hung[1] - LENGTH == pytest.approx(7850 * 9.81 * LENGTH**2 / (2 * YOUNG), rel=1e-6)
    rigid = fm.statics(system.rigid())
    np.testing.assert_allclose(rest.reaction(pin), rigid.reaction(pin), atol=1e-9)
