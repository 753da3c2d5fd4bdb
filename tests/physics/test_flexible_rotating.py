"""Rotating flexible bodies through FlexibleBody and System, against trusted numbers."""

from __future__ import annotations

import numpy as np
import pytest
from cases.flexible import AREA, DENSITY, LAG, LENGTH, SECOND, YOUNG, cantilever, spun_up_lag, turning
from cases.rotating import CANTILEVER, RADIAL, WHIRL
from flexible_measures import in_body

import flexmbs as fm


@pytest.mark.parametrize("eta", [3.0, 12.0])
def test_rotating_cantilever(eta: float) -> None:
    *flap, lag = CANTILEVER[eta]
    second = 1e-3 * SECOND  # so soft in bending that it does not stretch at these speeds
    unit = np.sqrt(YOUNG * second / (DENSITY * AREA)) / LENGTH**2
    system = turning(cantilever(fm.ModalTruncation(40), second), fm.ConstantSpeed(eta * unit))
    rest = fm.statics(system, spin=(0.0, 0.0, eta * unit))
    found = fm.modes(system, about=rest)
    assert rest.stable
    assert found.stable
    np.testing.assert_allclose(found.turning, [0.0, 0.0, eta * unit], atol=1e-9 * eta * unit)
    mu = 2 * np.pi * found.frequencies / unit
    assert mu[0] == pytest.approx(lag, rel=1e-4)
    for value, rel in zip(flap, (1e-4, 5e-4, 1e-3), strict=True):
        assert np.abs(mu / value - 1).min() < rel


@pytest.mark.parametrize("speed", [50.0, 500.0])
def test_radial_bar(speed: float) -> None:
    """u(L) = tan(aL)/a - L, with spin softening and without geometric stiffness."""
    mesh = fm.Mesh.line((0.0, 0.0, 0.0), (2.0, 0.0, 0.0), 40)
    elements = fm.Elements(mesh, fm.Material(7e10, 0.3, 2700.0), section=fm.Section.circle(0.05))
    bar = fm.FlexibleBody(
        "bar", elements, fixed="start", interfaces=["end"], reduction=fm.Krylov(4), stiffening=False
    )  # fmt: skip
    system = turning(bar, fm.ConstantSpeed(speed))
    d = fm.statics(system, spin=(0.0, 0.0, speed)).q[-1][7:]
    assert (in_body(bar.at("end"), d) - bar.at("end").position)[0] == pytest.approx(RADIAL[speed][0], rel=1e-4)


@pytest.mark.parametrize("speed", [500.0, 2000.0])
def test_whirling_shaft(speed: float) -> None:
    """Whirl speeds of a shaft that spins freely in its bearings, seen from axes that turn with it: ω_f - Ω, ω_b + Ω."""
    forward, backward = np.abs(WHIRL[speed])
    mesh = fm.Mesh.line((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 16)
    shaft = fm.FlexibleBody(
        "shaft", mesh, fm.Material(2.1e11, 0.3, 7850.0), section=fm.Section.circle(0.05), interfaces=["start", "end"],
        reduction=fm.CraigBampton(12), position=(0, 0, 0), rotation=(0, 0, 0), angular_velocity=(speed, 0, 0),
    )  # fmt: skip
    ground = fm.Ground()
    bearings = [
        fm.Spherical("thrust", ground.at(0, 0, 0), shaft.at("start")),
        fm.PointOnLine("sliding", ground.at(0, 0, 0), shaft.at("end"), axis="x"),
    ]
    system = fm.System([ground, shaft], bearings)
    found = fm.modes(system, about=system.initial, turning=(speed, 0, 0))
    omega = 2 * np.pi * found.frequencies
    got = [omega[np.argmin(np.abs(omega - x))] for x in (abs(forward - speed), backward + speed)]
    whirl = np.array([got[0] + speed if forward > speed else speed - got[0], got[1] - speed])
    np.testing.assert_allclose(whirl, [forward, backward], rtol=2e-5)
    assert whirl[0] - whirl[1] == pytest.approx(forward - backward, rel=0.01)


def test_spun_up_cantilever_with_every_node() -> None:
    """As with modes, which is a case of its own."""
    np.testing.assert_allclose(spun_up_lag(LAG, 4, fm.FullOrder()), list(LAG.values()), atol=0.004)


def test_without_stiffening_a_warning_says_that_it_flies_apart() -> None:
    system = turning(cantilever(fm.ModalTruncation(12), count=12, stiffening=False), fm.SpinUp(6.0, over=15.0))
    with pytest.warns(fm.ModelWarning, match="deformation is taken as small"):
        fm.forward_dynamics(system, 10.0, 5e-3)
