"""Flexible mechanisms against answers found without floating frames: finite segments, Ritz shapes, other elements."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import Legendre, Polynomial
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

import flexmbs as fm

GROUND = fm.Ground()
G = 9.81


def segments(count: int, bending: float, mass: float, length: float, times: np.ndarray) -> np.ndarray:
    """Tip (2, times) of a pendulum that falls from the horizontal: rigid links with torsion springs EI/h between."""
    h = length / count
    lever = h * (np.tril(np.ones((count, count)), -1) + np.eye(count) / 2)  # of link n on angle i
    inertia, weight = mass / count * lever.T @ lever, mass / count * G * lever.sum(axis=0)
    own = mass / count * h**2 / 12 * np.eye(count)
    steps = np.diff(np.eye(count), axis=0)
    springs = bending / h * steps.T @ steps

    def rate(_t: float, y: np.ndarray) -> np.ndarray:
        angle, speed = y[:count], y[count:]
        apart = angle[:, None] - angle
        push = -(inertia * np.sin(apart)) @ speed**2 - weight * np.cos(angle) - springs @ angle
        return np.concatenate([speed, np.linalg.solve(inertia * np.cos(apart) + own, push)])

    found = solve_ivp(rate, (0, times[-1]), np.zeros(2 * count), method="LSODA", t_eval=times, rtol=1e-8, atol=1e-10).y[
        :count
    ]
    return np.asarray(h * np.stack([np.cos(found).sum(axis=0), np.sin(found).sum(axis=0)]))


@pytest.mark.parametrize("frame", ["chord", "mean"])
def test_soft_pendulum(frame: str) -> None:
    """It bends by 2.7 % of its length; the difference is of that size squared."""
    young, density, side, length = 2e8, 2700.0, 0.02, 1.0
    mesh = fm.Mesh.line((0, 0, 0), (length, 0, 0), 10)
    beam = fm.FlexibleBody(
        "beam", mesh, fm.Material(young, 0.0, density), section=fm.Section.rectangle(side, side), frame=frame,
        interfaces=["start", "end"], reduction=fm.CraigBampton(8),
    )  # fmt: skip
    hinge = fm.Revolute("hinge", GROUND.at(0, 0, 0), beam.at("start"), axis="z", start=0.0)
    system = fm.System([GROUND, beam], [hinge], [fm.Gravity((0, -G, 0))])
    motion = fm.forward_dynamics(system, t_end=0.7, step=5e-4, output_step=0.05)
    coarse, fine = (segments(n, young * side**4 / 12, density * side**2, length, motion.t) for n in (8, 16))
    exact = fine + (fine - coarse) / 3
    bow = motion.deflection(beam.at(0.5, 0, 0), chord=("start", "end"))[:, 1]
    assert np.abs(bow).max() > 0.02
    assert np.abs(motion.position(beam.at("end"))[:, :2].T - exact).max() < 1e-3 * length


def ritz(length: float, count: int) -> tuple[np.ndarray, ...]:
    """Shapes of a cantilever (clamped at 0), their first and second derivatives at Gauss points, points and weights."""
    x, w = np.polynomial.legendre.leggauss(40)
    x, w = (x + 1) * length / 2, w * length / 2
    shapes = [Polynomial([0, 0, 1 / length**2]) * Legendre.basis(k, domain=[0, length]).convert(kind=Polynomial)
              for k in range(count)]  # fmt: skip
    values = [np.array([p.deriv(k)(x) if k else p(x) for p in shapes]) for k in range(3)]
    return (*values, x, w, np.array([p(length) for p in shapes]))


def test_spun_up_on_a_hub() -> None:
    """A beam on a hub, spun up beyond its first frequency (2.9 rad/s): Ritz shapes with the tension of the spin."""
    length, hub, young, density, speed, over = 8.0, 1.0, 6.895e10, 2766.67, 4.0, 15.0
    area, second = 7.2968e-5, 8.2189e-9
    section = fm.Section(area=area, Iy=second, Iz=second, J=2 * second)
    elements = fm.Elements(
        fm.Mesh.line((0, 0, 0), (length, 0, 0), 10), fm.Material(young, 0.3, density), section=section,
        formulation="euler_bernoulli",
    )  # fmt: skip
    beam = fm.FlexibleBody("beam", elements, fixed="start", reduction=fm.ModalTruncation(12))
    wheel = fm.RigidBody("wheel", 1.0, (1.0, 1.0, 1.0))
    turn = fm.Revolute("turn", GROUND.at(0, 0, 0), wheel.at(0, 0, 0), axis="z")
    law = fm.SpinUp(speed, over=over)
    joints = [turn, fm.Fixed("root", wheel.at(hub, 0, 0), beam.at()), fm.Drive("motor", turn.angle, law)]
    motion = fm.forward_dynamics(fm.System([GROUND, wheel, beam], joints), t_end=18.0, step=6e-3, output_step=0.15)

    f, f1, f2, x, w, tip = ritz(length, 6)
    mass = (f * w * density * area) @ f.T
    bending = (f2 * w * young * second) @ f2.T
    tension = (f1 * w * density * area / 2 * ((hub + length) ** 2 - (hub + x) ** 2)) @ f1.T
    load = (f * w * density * area) @ (hub + x)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        stiffness = bending + law.rate(t) ** 2 * (tension - mass)
        return np.concatenate([y[6:], np.linalg.solve(mass, -stiffness @ y[:6] - law.acceleration(t) * load)])

    exact = tip @ solve_ivp(rate, (0, 18.0), np.zeros(12), method="Radau", t_eval=motion.t, rtol=1e-6, atol=1e-9).y[:6]
    assert_allclose(motion.deflection(beam.at("end"))[:, 1], exact, atol=2e-4 * np.abs(exact).max())


def test_satellite() -> None:
    """Momentum is the impulse of the torque; the frequencies of both panels against the hub those of Ritz shapes."""
    aluminium, section = fm.Material(7e10, 0.3, 2700.0), fm.Section.rectangle(0.5, 0.01)
    hub = fm.RigidBody.box("hub", (1, 1, 1), 100.0)
    panels = [
        fm.FlexibleBody(f"panel {s}", fm.Mesh.line((0, 0, 0), (4.0 * s, 0, 0), 8), aluminium, section=section,
                        fixed="start", reduction=fm.ModalTruncation(8))
        for s in (1, -1)
    ]  # fmt: skip
    joints = [fm.Fixed(f"root {s}", hub.at(0.5 * s, 0, 0), p.at()) for s, p in zip((1, -1), panels, strict=True)]
    torque = fm.AppliedForce("jets", hub.at(0, 0, 0), torque=(0, 0, fm.SmoothStep(0, 5.0, start=0.0, duration=0.5)))
    system = fm.System([hub, *panels], joints, [torque])
    motion = fm.forward_dynamics(system, t_end=2.0, step=4e-3)
    assert_allclose(motion.momentum.angular[-1], [0, 0, 5.0 * 1.75], atol=1e-6)
    f, _, f2, x, w, _ = ritz(4.0, 8)
    shapes = np.vstack([x + 0.5, f])  # the hub turns, and both panels with it
    mass = 2 * 2700.0 * section.area * (shapes * w) @ shapes.T
    mass[0, 0] += 100.0 / 6
    stiffness = np.zeros((9, 9))
    stiffness[1:, 1:] = 2 * 7e10 * section.Iz * (f2 * w) @ f2.T
    expected = np.sqrt(eigh(stiffness, mass, eigvals_only=True)[1:3]) / (2 * np.pi)
    found = fm.modes(fm.System([hub, *panels], joints)).frequencies
    for value in expected:
        assert np.abs(found - value).min() < 1e-3 * value


def test_four_bar_of_plane_elements_and_of_beams() -> None:
    """The same four-bar with a coupler of plane elements in the plane, and of beams in space."""
    aluminium, side, length = fm.Material(7e10, 0.3, 2700.0), 0.01, 0.35
    found = []
    for planar in (True, False):
        if planar:
            mesh = fm.Mesh.rectangle((length, side), (20, 2), cell="quad8", origin=(0, -side / 2))
            coupler = fm.FlexibleBody("coupler", mesh, aluminium, thickness=side, interfaces=["x0", "x1"])
            crank = fm.PlanarBody("crank", 0.1, 1e-4, center=(0.05, 0))
            rocker = fm.PlanarBody("rocker", 0.3, 1e-3, center=(0.15, 0))
            joint, last, options, ends = fm.planar.Revolute, fm.planar.Revolute, {}, ("x0", "x1")
        else:
            mesh = fm.Mesh.line((0, 0, 0), (length, 0, 0), 10)
            section = fm.Section.rectangle(side, side)
            coupler = fm.FlexibleBody("coupler", mesh, aluminium, section=section, interfaces=["start", "end"])
            crank = fm.RigidBody("crank", 0.1, (1e-4, 1e-4, 1e-4), (0.05, 0, 0))
            rocker = fm.RigidBody("rocker", 0.3, (1e-3, 1e-3, 1e-3), (0.15, 0, 0))
            joint, last, options, ends = fm.Revolute, fm.Spherical, {"axis": "z"}, ("start", "end")
        zero = () if planar else (0,)
        shaft = joint("shaft", GROUND.at(0, 0, *zero), crank.at(0, 0, *zero), start=0.5, **options)
        joints = [
            shaft,
            joint("pin", crank.at(0.1, 0, *zero), coupler.at(ends[0]), **options),
            joint("pivot", GROUND.at(0.4, 0, *zero), rocker.at(0, 0, *zero), start=1.6, **options),
            last("other pin", coupler.at(ends[1]), rocker.at(0.3, 0, *zero)),
            fm.Drive("motor", shaft.angle, fm.ConstantSpeed(60.0, start=0.5)),
        ]
        system = fm.System([GROUND, crank, coupler, rocker], joints)
        motion = fm.forward_dynamics(system, t_end=0.1, step=1e-4, output_step=1e-3, start="deformed")
        bow = motion.deflection(coupler.at(length / 2, 0, *zero), chord=ends)[:, 1]
        found.append((bow, motion.reaction(joints[-1])))
    for plane, beams in zip(*found, strict=True):
        assert_allclose(plane, beams, atol=1e-3 * np.abs(beams).max())


def test_a_frame_on_a_hinge_says_where_it_ends() -> None:
    """Deflections of a few percent take masses away in a frame that follows a hinge, not in one that is clamped."""
    mesh, soft = fm.Mesh.line((0, 0, 0), (1, 0, 0), 8), fm.Material(2e8, 0.0, 2700.0)
    beam = fm.FlexibleBody(
        "beam", mesh, soft, section=fm.Section.rectangle(0.02, 0.02), frame="tangent", interfaces=["start", "end"],
        reduction=fm.CraigBampton(12),
    )  # fmt: skip
    weight = [fm.Gravity((0, -G, 0))]
    hinge = fm.Revolute("hinge", GROUND.at(0, 0, 0), beam.at("start"), axis="z", start=0.0)
    falling = fm.System([GROUND, beam], [hinge], weight)
    with pytest.warns(fm.ModelWarning, match=r"beam: it is deformed too much .* \(tangent at start\) at t = 0.05"):
        fm.forward_dynamics(falling, t_end=0.052, step=5e-4)
    clamp = fm.Fixed("clamp", GROUND.at(0, 0, 0), beam.at("start"))
    assert fm.forward_dynamics(fm.System([GROUND, beam], [clamp], weight), t_end=0.05, step=5e-4).warnings == ()
