"""Rotating flexible bodies through FlexibleBody and System, against trusted numbers."""

from __future__ import annotations

import numpy as np
import pytest
from flexible_measures import in_body

import flexmbs as fm

YOUNG, DENSITY, AREA, SECOND, LENGTH = 7e10, 3000.0, 7.2968e-5, 8.2181e-9, 8.0


def cantilever(reduction: object, second: float = SECOND, count: int = 16, **options: object) -> fm.FlexibleBody:
    mesh = fm.Mesh.line((0.0, 0.0, 0.0), (LENGTH, 0.0, 0.0), count)
    section = fm.Section(area=AREA, Iy=second, Iz=second, J=2 * second)
    elements = fm.Elements(
        mesh, fm.Material(YOUNG, 0.3, DENSITY), section=section, formulation="euler_bernoulli"
    )  # fmt: skip
    return fm.FlexibleBody("blade", elements, fixed="start", reduction=reduction, **options)


def turning(body: fm.FlexibleBody, law: object) -> fm.System:
    """A body turned about the z axis at its root."""
    ground = fm.Ground()
    hub = fm.Revolute("hub", ground.at(0, 0, 0), body.at(), axis="z")
    return fm.System([ground, body], [hub, fm.Drive("motor", hub.angle, law)])


@pytest.mark.parametrize(
    ("eta", "flap", "lag"),
    [
        (3.0, [4.79727853236, 23.3202636743, 62.9849674807], 3.74351189621),
        (12.0, [13.1701504875, 37.6031123312, 79.6144784895], 5.42704927779),
    ],
)
def test_rotating_cantilever(eta: float, flap: list[float], lag: float) -> None:
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


@pytest.mark.parametrize(("speed", "extension"), [(50.0, 2.571825368070e-4), (500.0, 2.611731267731e-2)])
def test_radial_bar(speed: float, extension: float) -> None:
    """u(L) = tan(aL)/a - L, with spin softening and without geometric stiffness."""
    mesh = fm.Mesh.line((0.0, 0.0, 0.0), (2.0, 0.0, 0.0), 40)
    elements = fm.Elements(mesh, fm.Material(7e10, 0.3, 2700.0), section=fm.Section.circle(0.05))
    bar = fm.FlexibleBody(
        "bar", elements, fixed="start", interfaces=["end"], reduction=fm.Krylov(4), stiffening=False
    )  # fmt: skip
    system = turning(bar, fm.ConstantSpeed(speed))
    d = fm.statics(system, spin=(0.0, 0.0, speed)).q[-1][7:]
    assert (in_body(bar.at("end"), d) - bar.at("end").position)[0] == pytest.approx(extension, rel=1e-4)


@pytest.mark.parametrize(
    ("speed", "forward", "backward"), [(500.0, 636.933016, 635.407059), (2000.0, 639.228689, 633.124864)]
)
def test_whirling_shaft(speed: float, forward: float, backward: float) -> None:
    """Whirl speeds of a shaft that spins freely in its bearings, seen from axes that turn with it: ω_f - Ω, ω_b + Ω."""
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
    found = fm.modes(system, about=system.initial)
    omega = 2 * np.pi * found.frequencies
    got = [omega[np.argmin(np.abs(omega - x))] for x in (abs(forward - speed), backward + speed)]
    whirl = np.array([got[0] + speed if forward > speed else speed - got[0], got[1] - speed])
    np.testing.assert_allclose(whirl, [forward, backward], rtol=2e-5)
    assert whirl[0] - whirl[1] == pytest.approx(forward - backward, rel=0.01)


def tip(motion: fm.Result, body: fm.FlexibleBody, times: list[float]) -> np.ndarray:
    frame = body.at("end")
    rows = [int(np.argmin(np.abs(motion.t - t))) for t in times]
    return np.array([(in_body(frame, motion.q[k][7:]) - frame.position)[1] for k in rows])


@pytest.mark.parametrize(("reduction", "count"), [(fm.ModalTruncation(12), 12), (fm.FullOrder(), 4)], ids=str)
def test_spun_up_cantilever(reduction: object, count: int) -> None:
    blade = cantilever(reduction, count=count)
    system = turning(blade, fm.SpinUp(6.0, over=15.0))
    motion = fm.forward_dynamics(system, 10.0, 5e-3)
    np.testing.assert_allclose(
        tip(motion, blade, [5.0, 6.62, 7.5, 10.0]), [-0.670685, -0.800687, -0.749270, -0.451225], atol=0.004
    )


def test_without_stiffening_it_diverges() -> None:
    blade = cantilever(fm.ModalTruncation(12), count=12, stiffening=False)
    system = turning(blade, fm.SpinUp(6.0, over=15.0))
    motion = fm.forward_dynamics(system, 10.0, 5e-3)
    np.testing.assert_allclose(tip(motion, blade, [5.0, 7.5]), [-0.8055, -4.72], rtol=5e-3)
    assert tip(motion, blade, [10.0])[0] == pytest.approx(-3183.0, rel=0.02)
