"""Flexible bodies in other hands: small meshes, damping by frames, parts that spin about their own centre."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm

STEEL = fm.Material(young=2.1e11, poisson=0.3, density=7850.0)
SECTION = fm.Section.rectangle(0.02, 0.02)
GROUND = fm.Ground()


def beam(divisions: int, **options: object) -> fm.FlexibleBody:
    mesh = fm.Mesh.line((0, 0, 0), (1, 0, 0), divisions)
    return fm.FlexibleBody("beam", mesh, STEEL, section=SECTION, interfaces=["start", "end"], **options)


def clamped(body: fm.FlexibleBody, *forces: object) -> fm.System:
    return fm.System([GROUND, body], [fm.Fixed("hold", GROUND.at(0, 0, 0), body.at("start"))], forces)


def test_one_element_needs_no_choice_of_modes() -> None:
    body = beam(1)
    assert body.modes == 6
    pull = fm.AppliedForce("pull", body.at("end"), force=(0, 0, 1.0))
    tip = fm.statics(clamped(body, pull)).position(body.at("end"))[0, 2]
    shear = 1.0 / (5 / 6 * STEEL.shear * SECTION.area)
    assert_allclose(tip, 1.0 / (3 * 2.1e11 * SECTION.Iy) + shear, rtol=1e-7)
    held = fm.FlexibleBody("held", fm.Mesh.line((0, 0, 0), (1, 0, 0), 1), STEEL, section=SECTION, fixed="start")
    assert held.modes == 6
    with pytest.raises(fm.ModelError, match="8 modes were asked for"):
        beam(1, reduction=fm.CraigBampton(8))


def test_thickness_is_of_plane_meshes() -> None:
    with pytest.raises(fm.ModelError, match="bar: thickness= and plane= belong to plane meshes"):
        fm.FlexibleBody("bar", fm.Mesh.box((1, 0.1, 0.1), (2, 1, 1)), STEEL, thickness=0.1)
    with pytest.raises(fm.ModelError, match="thickness is known to its Elements already"):
        fm.FlexibleBody("bar", fm.Elements(fm.Mesh.rectangle((1, 0.1), (4, 1)), STEEL), thickness=0.1)


def test_what_damping_ratios_mean() -> None:
    """Clamped by a joint: ratios are those of the modes in the floating frame, stiffness damping that of any frame."""
    tangent = fm.modes(clamped(beam(8, frame="tangent", damping=0.02)))
    assert_allclose(tangent.damping[:6], 0.02, rtol=1e-6)
    for frame in ("tangent", "chord", "mean"):
        found = fm.modes(clamped(beam(8, frame=frame, damping=fm.Rayleigh(stiffness=1e-5))))
        assert_allclose(found.damping[:6], 1e-5 * np.abs(found.eigenvalues[:6]) / 2, rtol=1e-6)


@pytest.mark.parametrize("count", [10, 20])
def test_spinning_ring(count: int) -> None:
    """A thin ring: hoop stress ρ(Ωr)², and inextensional vibration as a sensor on the ring sees it."""
    speed, radius, n = 1000.0, 0.2, 2
    ring = fm.FlexibleBody(
        "ring", fm.Mesh.ring(0.198, 0.202, (64, 2)), STEEL, thickness=0.01, reduction=fm.ModalTruncation(count),
        angular_velocity=(0, 0, speed),
    )  # fmt: skip
    system = fm.System([GROUND, ring])
    steady = fm.statics(system, spin=(0, 0, speed))
    assert steady.stable
    assert_allclose(steady.von_mises(ring).mean(), 7850.0 * (speed * radius) ** 2, rtol=0.01)
    bending = 2.1e11 / 7850.0 * 0.004**2 / 12 / radius**4
    still = bending * n**2 * (n**2 - 1) ** 2 / (n**2 + 1)
    shift, size = 2 * n * speed / (n**2 + 1), still + (n * (n**2 - 1) * speed / (n**2 + 1)) ** 2
    expected = np.array([np.sqrt(size) - shift, np.sqrt(size) + shift])
    found = 2 * np.pi * fm.modes(system, about=steady, turning=(0, 0, speed)).frequencies
    for value in expected:
        assert np.abs(found - value).min() < 0.01 * value
