"""Plane and solid meshes in mechanisms against the beams they are; floating frames against each other."""

from __future__ import annotations

import numpy as np
import pytest
from flexible_measures import in_body, place

import flexmbs as fm

YOUNG, DENSITY, AREA, SECOND, LENGTH = 7e10, 3000.0, 7.2968e-5, 8.2181e-9, 8.0
HEIGHT = np.sqrt(12 * SECOND / AREA)


def test_spun_up_plate_in_the_plane() -> None:
    """The spin-up case as a slender plate of plane stress in a planar mechanism."""
    mesh = fm.Mesh.rectangle((LENGTH, HEIGHT), (80, 1), cell="quad8", origin=(0.0, -HEIGHT / 2))
    found = []
    for stiffening in (True, False):
        blade = fm.FlexibleBody(
            "blade", mesh, fm.Material(YOUNG, 0.3, DENSITY), thickness=AREA / HEIGHT, fixed="x0",
            reduction=fm.ModalTruncation(8), stiffening=stiffening,
        )  # fmt: skip
        ground = fm.Ground()
        hub = fm.planar.Revolute("hub", ground.at(0, 0), blade.at())
        system = fm.System([ground, blade], [hub, fm.Drive("motor", hub.angle, fm.SpinUp(6.0, over=15.0))])
        motion = fm.forward_dynamics(system, 10.0, 5e-3)
        frame = blade.at("x1")
        rows = [int(np.argmin(np.abs(motion.t - t))) for t in (5.0, 6.62, 7.5, 10.0)]
        found.append([(in_body(frame, motion.q[k][3:]) - frame.position)[1] for k in rows])
    np.testing.assert_allclose(found[0], [-0.670685, -0.800687, -0.749270, -0.451225], atol=0.004)
    np.testing.assert_allclose(np.array(found[1])[[0, 2]], [-0.8055, -4.72], rtol=5e-3)
    assert found[1][3] == pytest.approx(-3183.0, rel=0.05)


@pytest.mark.parametrize(
    ("eta", "flap", "lag"), [(3.0, 4.79727853236, 3.74351189621), (12.0, 13.1701504875, 5.42704927779)]
)
def test_rotating_solid_cantilever(eta: float, flap: float, lag: float) -> None:
    """L/h = 50, clamped rigidly at its root: 0.5 %."""
    side, length, young = 0.02, 1.0, 2e11
    mesh = fm.Mesh.box((length, side, side), (40, 1, 1), cell="hexahedron20", origin=(0.0, -side / 2, -side / 2))
    unit = np.sqrt(young * side**2 / (12 * 7800.0)) / length**2
    blade = fm.FlexibleBody(
        "blade", mesh, fm.Material(young, 0.3, 7800.0), fixed="x0", interfaces=["x1"], reduction=fm.CraigBampton(14)
    )
    ground = fm.Ground()
    hub = fm.Revolute("hub", ground.at(0, 0, 0), blade.at(), axis="z")
    system = fm.System([ground, blade], [hub, fm.Drive("motor", hub.angle, fm.ConstantSpeed(eta * unit))])
    mu = 2 * np.pi * fm.modes(system, about=fm.statics(system, spin=(0, 0, eta * unit))).frequencies / unit
    np.testing.assert_allclose(mu[:2], [lag, flap], rtol=5e-3)


def test_solid_radial_bar() -> None:
    """u(L) = tan(aL)/a - L of a bar that spins about one end, without geometric stiffness: 1 %."""
    mesh = fm.Mesh.box((2.0, 0.05, 0.05), (20, 1, 1), cell="hexahedron20", origin=(0.0, -0.025, -0.025))
    bar = fm.FlexibleBody(
        "bar", mesh, fm.Material(7e10, 0.3, 2700.0), fixed="x0", interfaces=["x1"], reduction=fm.Krylov(4),
        stiffening=False,
    )  # fmt: skip
    ground = fm.Ground()
    hub = fm.Revolute("hub", ground.at(0, 0, 0), bar.at(), axis="z")
    system = fm.System([ground, bar], [hub, fm.Drive("motor", hub.angle, fm.ConstantSpeed(500.0))])
    d = fm.statics(system, spin=(0, 0, 500.0)).q[-1][7:]
    assert (bar.at("x1").shapes[:3] @ d)[0] == pytest.approx(2.611731267731e-2, rel=0.01)


def test_solid_shaft() -> None:
    """Whirl of a shaft of solid elements in two bearings: the split between forward and backward within 1 %."""
    speed = 2000.0
    mesh = fm.Mesh.cylinder(0.025, 1.0, (8, 1, 20), cell="hexahedron20", axis="x")
    shaft = fm.FlexibleBody(
        "shaft", mesh, fm.Material(2.1e11, 0.3, 7850.0), interfaces=["start", "end"], reduction=fm.CraigBampton(8),
        position=(0, 0, 0), rotation=(0, 0, 0), angular_velocity=(speed, 0, 0),
    )  # fmt: skip
    ground = fm.Ground()
    bearings = [
        fm.Spherical("thrust", ground.at(0, 0, 0), shaft.at("start")),
        fm.PointOnLine("sliding", ground.at(0, 0, 0), shaft.at("end"), axis="x"),
    ]
    system = fm.System([ground, shaft], bearings)
    omega = 2 * np.pi * fm.modes(system, about=fm.statics(system, spin=(speed, 0, 0))).frequencies
    forward = speed - omega[np.argmin(np.abs(omega - (speed - 639.2)))]
    backward = omega[np.argmin(np.abs(omega - (speed + 633.1)))] - speed
    assert forward - backward == pytest.approx(639.228689 - 633.124864, rel=0.01)
    np.testing.assert_allclose([forward, backward], [639.228689, 633.124864], rtol=5e-3)


def test_frames_differ_by_less_than_the_deflection_squared() -> None:
    """An angled beam pulled askew: where its end goes, in three floating frames; halved load, half the difference."""
    points = np.array([[0, 0, 0], [0.2, 0, 0], [0.4, 0, 0], [0.4, 0.15, 0.05], [0.4, 0.3, 0.1]], dtype=float)
    mesh = fm.Mesh(points, [("line", np.array([[0, 1], [1, 2], [2, 3], [3, 4]]))])
    mesh = mesh.with_nodes("start", [0]).with_nodes("end", [4])
    worst = []
    for load in (4.0, 2.0):
        ends = []
        for frame in ("chord", "mean", fm.Tangent("start")):
            ground = fm.Ground()
            bar = fm.FlexibleBody(
                "bar", mesh, fm.Material(2e11, 0.3, 7850.0), section=fm.Section.circle(0.006), frame=frame,
                interfaces=["start", "end"], reduction=fm.FullOrder(),
            )  # fmt: skip
            system = fm.System(
                [ground, bar],
                [fm.Fixed("clamp", ground.at(0, 0, 0), bar.at("start"))],
                [fm.AppliedForce("pull", bar.at("end"), force=(0.3 * load, -0.5 * load, load))],
            )
            ends.append(place(system, bar.at("end"), fm.statics(system).q[-1]))
        deflection = np.linalg.norm(ends[0] - points[4])
        worst.append(max(np.linalg.norm(e - ends[0]) for e in ends[1:]) / deflection)
    assert deflection > 1e-3
    assert worst[0] < 0.03
    assert worst[0] / worst[1] > 1.8
