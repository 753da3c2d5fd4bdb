"""Modes of mechanisms with flexible bodies: against one finite-element model, a rigid mechanism, and each frame."""

from __future__ import annotations

import numpy as np
import pytest

import flexmbs as fm

STEEL = fm.Material(young=210e9, poisson=0.3, density=7850.0)
SECTION = fm.Section.rectangle(0.02, 0.03)


def beam(name: str, length: float, count: int, **options: object) -> fm.FlexibleBody:
    mesh = fm.Mesh.line((0.0, 0.0, 0.0), (length, 0.0, 0.0), count)
    options.setdefault("reduction", fm.FullOrder())
    return fm.FlexibleBody(name, mesh, STEEL, section=SECTION, interfaces=["start", "end"], **options)


@pytest.mark.parametrize("locked", ["fixed", "drive"])
def test_locked_mechanism_is_one_finite_element_model(locked: str) -> None:
    ground, first, second = fm.Ground(), beam("first", 0.6, 3), beam("second", 0.4, 2)
    joints = [fm.Fixed("clamp", ground.at(0, 0, 0), first.at("start"))]
    if locked == "fixed":
        joints.append(fm.Fixed("weld", first.at("end"), second.at("start")))
    else:
        hinge = fm.Revolute("hinge", first.at("end"), second.at("start"), axis="z")
        joints += [hinge, fm.Drive("lock", hinge.angle, 0.0)]
    found = fm.modes(fm.System([ground, first, second], joints))
    whole = fm.Mesh.line((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 5)
    exact = fm.modes(whole, STEEL, section=SECTION, fixed="start", count=12)
    np.testing.assert_allclose(found.frequencies[:12], exact.frequencies, rtol=1e-5)
    assert found.stable


def test_locked_solids_are_one_finite_element_model() -> None:
    """Two bars welded at rigid faces, against one mesh with a rigid cross-section there."""
    side = {"cell": "hexahedron20", "origin": (0.0, -0.02, -0.02)}
    ground = fm.Ground()
    bars = [
        fm.FlexibleBody(
            name, fm.Mesh.box((length, 0.04, 0.05), (count, 1, 1), **side), STEEL, interfaces=["x0", "x1"],
            reduction=fm.FullOrder(),
        )
        for name, length, count in (("first", 0.3, 3), ("second", 0.2, 2))
    ]  # fmt: skip
    joints = [
        fm.Fixed("clamp", ground.at(*bars[0].at("x0").position), bars[0].at("x0")),
        fm.Fixed("weld", bars[0].at("x1"), bars[1].at("x0")),
    ]
    system = fm.System([ground, *bars], joints)
    whole = fm.Mesh.box((0.5, 0.04, 0.05), (5, 1, 1), **side)
    whole = whole.with_nodes("weld", np.flatnonzero(np.abs(whole.points[:, 0] - 0.3) < 1e-9))
    model = fm.Elements(whole, STEEL)
    held = fm.Projection.fix(model, "x0") & fm.Projection.rigid(model, "weld") & fm.Projection.rigid(model, "x1")
    exact = fm.modes(model, fixed=held, count=8).frequencies
    np.testing.assert_allclose(fm.modes(system).frequencies[:8], exact, rtol=1e-5)


def test_frames_make_no_difference_about_rest() -> None:
    """All coordinates kept, the floating frame is a matter of words."""
    found = []
    for frame in ("mean", "chord", fm.Tangent("start")):
        ground, bar = fm.Ground(), beam("bar", 0.6, 3, frame=frame)
        pin = fm.Revolute("pin", ground.at(0, 0, 0), bar.at("start"), axis="z")
        found.append(fm.modes(fm.System([ground, bar], [pin])).frequencies)
    assert found[0][0] == 0.0
    np.testing.assert_allclose(found[1], found[0], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-7, atol=1e-9)


def test_soft_motions_do_not_drown_in_stiff_ones() -> None:
    """A pendulum of steel swings as the rigid one, though its fastest vibration is 150 000 times faster."""
    ground, bar = fm.Ground(), beam("bar", 0.6, 24)
    pin = fm.Revolute("pin", ground.at(0, 0, 0), bar.at("start"), axis="z", start=-1.2)
    system = fm.System([ground, bar], [pin], [fm.Gravity((0.0, -9.81, 0.0))])
    rest = fm.statics(system)
    found, rigid = fm.modes(system, about=rest), fm.modes(system.rigid())
    assert found.frequencies.max() > 1e5 * rigid.frequencies[0]
    assert found.frequencies[0] == pytest.approx(rigid.frequencies[0], rel=1e-5)
    assert rest.stiffnesses[0] == pytest.approx((2 * np.pi * found.frequencies[0]) ** 2, rel=1e-6)
    model = fm.linearise(system, [pin.angle], [pin.angle], about=rest)
    weight = bar.mass_parameters[0] * 9.81
    gives = weight * 0.6**2 / (10 * 210e9 * 0.02 * 0.03**3 / 12)  # under its weight across, as a cantilever
    assert np.abs(model.transfer(1e-4j)[0, 0]) == pytest.approx((1 + gives) / (weight * 0.3), rel=2e-5)
    assert gives > 1e-4
    slowest = np.sort(np.abs(np.linalg.eigvals(model.A)))[0]
    assert slowest == pytest.approx(2 * np.pi * found.frequencies[0], rel=1e-3)  # the stiff ones drown it a little
    assert any(name == "bar.d1 rate" for name in model.states)


def test_a_flexible_body_that_spins_on_its_own_is_seen_from_itself() -> None:
    """Modes are seen from axes that turn with the flexible body; a vibrating motion is not steady."""
    ground = fm.Ground()
    bar = beam("bar", 0.6, 4, reduction=fm.CraigBampton(3), angular_velocity=(0, 0, 5.0))
    pin = fm.Revolute("pin", ground.at(0, 0, 0), bar.at("start"), axis="z", rate=5.0)
    system = fm.System([ground, bar], [pin])
    with pytest.raises(fm.AnalysisError, match="not steady"):
        fm.modes(system, about=system.initial)
    steady = fm.quasi_static(system)
    np.testing.assert_allclose(fm.modes(system, about=steady).turning, [0, 0, 5.0], atol=1e-9)
