"""Campbell diagrams against closed forms and trusted numbers: shafts, blades, oscillators, rotors on bearings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose

import flexmbs as fm

STEEL = fm.Material(young=2.1e11, poisson=0.3, density=7850.0)
POINT = fm.Mesh([[0.0, 0.0, 0.0]], [("vertex", [[0]])], name="point")
HELD = {"start": ("x", "y", "z", "rx"), "end": "yz"}
# forward and backward whirl [rad/s] of a simply supported shaft in the inertial frame
WHIRL = {0.0: (636.169588, 636.169588), 500.0: (636.933016, 635.407059),
         1000.0: (637.697342, 634.645428), 2000.0: (639.228689, 633.124864)}  # fmt: skip


def shaft(divisions: int = 30) -> fm.Elements:
    return fm.Elements(fm.Mesh.line((0, 0, 0), (1, 0, 0), divisions), STEEL, section=fm.Section.circle(0.05))


def oscillator(kx: float, ky: float) -> fm.Elements:
    return fm.Elements(POINT, attachments=[fm.LumpedMass("all", 2.0), fm.GroundSpring("all", (kx, ky, 1e5))])


# ---- bodies and parts by themselves


@pytest.mark.parametrize("reduced", [False, True], ids=["all nodes", "reduced"])
def test_whirling_shaft(reduced: bool) -> None:
    """Timoshenko's shaft: both whirls to 2e-6 in both frames, labels, and where they cross the speed."""
    model: Any = shaft()
    options: dict[str, Any] = {"axis": "x", "count": 4}
    if reduced:
        model = fm.FlexibleBody("shaft", model, fixed=HELD, reduction=fm.ModalTruncation(modes=20))
    else:
        options["fixed"] = HELD
    ground = fm.campbell(model, list(WHIRL), frame="inertial", **options)
    assert ground.directions[:2] == ("forward", "backward") or ground.directions[:2] == ("backward", "forward")
    order = np.argsort(np.array(ground.directions[:2]))[::-1]  # forward first
    whirl = ground.eigenvalues.imag[:, order]
    assert_allclose(whirl, list(WHIRL.values()), rtol=2.5e-6)
    assert_allclose(ground.frequencies[:, order], whirl / (2 * np.pi))
    assert (ground.damping == 0).all()
    assert ground.assurance.min() > 0.99
    assert ground.stability_limit == np.inf
    turning = fm.campbell(model, list(WHIRL), **options)
    assert turning.frame == "rotating"
    assert turning.directions[:2] == ground.directions[:2]
    seen = turning.eigenvalues.imag[:, order]
    assert_allclose(seen, whirl - np.outer(list(WHIRL), [1, -1]), atol=1e-5)
    assert (seen[2:, 0] < 0).all()  # beyond the critical speed the shaft overtakes the whirl
    critical = {c.direction: c.speed for c in ground.critical_speeds}
    for direction, k in (("forward", 0), ("backward", 1)):
        # ω(Ω) is straight to 1e-6 between 500 and 1000
        slope = (WHIRL[1000.0][k] - WHIRL[500.0][k]) / 500
        expected = (WHIRL[500.0][k] - 500 * slope) / (1 - slope)
        assert critical[direction] == pytest.approx(expected, rel=5e-6)
    assert [c.direction for c in turning.critical_speeds] == ["forward"]
    assert turning.critical_speeds[0].speed == pytest.approx(critical["forward"], rel=1e-7)


def test_whirls_are_told_apart_however_far_the_speeds() -> None:
    """In the rotating frame the forward whirl comes to λ of the backward one at the speed before, with its shape."""
    body = fm.FlexibleBody("shaft", shaft(10), fixed=HELD, reduction=fm.ModalTruncation(modes=12))
    before = fm.campbell(body, [500.0], axis="x", count=2)
    backward = before.eigenvalues.imag[0, before.directions.index("backward")]
    speeds = [500.0, float(backward + 637.0)]
    found = fm.campbell(body, speeds, axis="x", count=2)
    for k, direction in enumerate(found.directions):
        sign = 1 if direction == "forward" else -1
        whirl = found.eigenvalues[:, k].imag + sign * np.array(speeds)
        assert_allclose(whirl, 636.17 + sign * 3.05 * np.array(speeds) / 2000, atol=0.2)


def test_whirling_shaft_of_solids() -> None:
    """The split between forward and backward whirl agrees with the beam's to 0.1 %, from its mesh of eight sectors."""
    mesh = fm.Mesh.cylinder(0.025, 1.0, (8, 1, 10), axis="x", cell="hexahedron20")
    elements = fm.Elements(mesh, STEEL)
    mean_x = np.zeros(elements.n_dofs)
    mean_x[3 * mesh.nodes("start")] = mesh.weights("start")
    held = [{"start": "yz", "end": "yz"}, fm.Projection.constraints(mean_x[None, :])]
    found = fm.campbell(elements, [0.0, 500.0, 2000.0], axis="x", count=2, frame="inertial", fixed=held)
    assert set(found.directions) == {"forward", "backward"}
    sign = 1 if found.directions[0] == "forward" else -1
    split = sign * (found.eigenvalues[:, 0] - found.eigenvalues[:, 1]).imag
    assert_allclose(split[1:], [WHIRL[s][0] - WHIRL[s][1] for s in (500.0, 2000.0)], rtol=1e-3)
    assert_allclose(found.eigenvalues[0].imag, WHIRL[0.0][0], rtol=2e-3)


# flap mu1, mu2, mu3 and lag mu1 by eta, hub radius zero
CANTILEVER = {
    0.0: (3.5160152685, 22.0344915647, 61.6972144135, 3.5160152685),
    1.0: (3.68164681396, 22.1810111506, 61.8417625872, 3.54323626967),
    3.0: (4.79727853236, 23.3202636743, 62.9849674807, 3.74351189621),
    6.0: (7.36037301931, 26.8090816785, 66.6839143815, 4.26322542019),
    12.0: (13.1701504875, 37.6031123312, 79.6144784895, 5.42704927779),
}


def beam_blade(ratio: float = 1.0, stagger: float = 0.0, divisions: int = 32) -> tuple[fm.FlexibleBody, float]:
    """A slender blade along x, its lag stiffness ``ratio`` times that of flap; and the unit of mu and eta [rad/s]."""
    material = fm.Material(young=1e9, poisson=0.3, density=1000.0)
    section = fm.Section(area=1e-4, Iy=1e-12, Iz=ratio * 1e-12, J=2e-12)
    mesh = fm.Mesh.line((0, 0, 0), (1, 0, 0), divisions)
    up = (0.0, np.cos(stagger), np.sin(stagger))
    elements = fm.Elements(mesh, material, section=section, formulation="euler_bernoulli", up=up)
    body = fm.FlexibleBody("blade", elements, fixed="start", reduction=fm.ModalTruncation(modes=44))
    return body, float(np.sqrt(1e9 * 1e-12 / (1000.0 * 1e-4)))


def test_spinning_cantilever() -> None:
    """Flap and lag, each followed by itself from rest where they are one: the trusted table."""
    blade, unit = beam_blade()
    found = fm.campbell(blade, np.array(list(CANTILEVER)) * unit, count=6)
    tip = np.abs(found.shapes[-1] @ blade.reduced.frame("end").displacement.T)
    mu = found.eigenvalues.imag / unit
    flap = mu[:, np.argmax(tip, axis=1) == 2]
    lag = mu[:, np.argmax(tip, axis=1) == 1]
    table = np.array(list(CANTILEVER.values()))
    assert_allclose(flap[:, 0], table[:, 0], rtol=1e-4)
    assert_allclose(flap, table[:, :3], rtol=1e-3)
    assert_allclose(lag[:, 0], table[:, 3], rtol=1e-4)
    assert found.stability_limit == np.inf
    soft = fm.campbell(blade, np.linspace(0.0, 5.0, 6) * unit, count=2, stiffening=False)
    assert soft.stability_limit == pytest.approx(3.5160152685 * unit, rel=1e-4)  # K - Ω²m of the lag


@pytest.mark.parametrize("points", [5, 17])
@pytest.mark.parametrize("stagger", [0.0, 0.1, 0.01])
def test_crossing_and_veering(stagger: float, points: int) -> None:
    """Flap overtakes a stiffer lag: straight blades let them cross, staggered ones veer, with few points or many."""
    blade, unit = beam_blade(ratio=4.0, stagger=stagger, divisions=12)
    found = fm.campbell(blade, np.linspace(0, 8, points) * unit, count=2)
    low, high = found.eigenvalues.imag.T / unit
    tip = np.abs(found.shapes @ blade.reduced.frame("end").displacement.T)
    up = tip[:, :, 2] > tip[:, :, 1]  # flap
    assert up[0].tolist() == [True, False]
    if stagger:
        assert (low < high).all()
        assert up[-1].tolist() == [False, True]  # shapes have been exchanged
    else:
        assert low[-1] > high[-1]
        assert (up == [True, False]).all()
        gap = found.crossings(1)
        assert len(gap) == 1  # only the lag is overtaken by the speed itself
        assert gap[0].mode == 1


@pytest.mark.parametrize(("kx", "ky"), [(800.0, 800.0), (800.0, 1800.0)])
def test_oscillator(kx: float, ky: float) -> None:
    """ω² = [(wx²+wy²+2Ω²) ∓ √((wx²-wy²)² + 8Ω²(wx²+wy²))]/2 in the rotating frame; 15 and 25 at Ω = 5 where alike."""
    speeds = np.array([0.0, 5.0, 12.0, 18.0])
    found = fm.campbell(oscillator(kx, ky), speeds, count=2, fixed={"all": "z"})
    total, apart = (kx + ky) / 2, (kx - ky) / 2
    root = np.sqrt(apart**2 + 8 * speeds**2 * total)
    squares = np.column_stack([total + 2 * speeds**2 - root, total + 2 * speeds**2 + root]) / 2
    assert_allclose(np.sort(np.abs(found.eigenvalues.imag), axis=1), np.sqrt(squares), rtol=1e-9)
    if kx == ky:
        assert_allclose(np.sort(found.eigenvalues.imag[1]), [15.0, 25.0], rtol=1e-11)
        ground = fm.campbell(oscillator(kx, ky), speeds, count=2, fixed={"all": "z"}, frame="inertial")
        assert_allclose(ground.eigenvalues.imag, 20.0, rtol=1e-10)
        assert sorted(ground.directions) == ["backward", "forward"]
    else:
        with pytest.raises(fm.AnalysisError, match="not the same in all directions"):
            fm.campbell(oscillator(kx, ky), speeds, count=2, fixed={"all": "z"}, frame="inertial")


def test_unsymmetric_rotor_diverges_between_its_frequencies() -> None:
    """K - Ω²m is indefinite, gyroscopic terms do not help: unstable from √(kx/m) = 20 to √(ky/m) = 30 rad/s."""
    found = fm.campbell(oscillator(800.0, 1800.0), [0.0, 10.0, 22.0, 28.0, 33.0], count=2, fixed={"all": "z"})
    assert found.stability_limit == pytest.approx(20.0, rel=1e-3)
    assert (found.growth[[2, 3]] > 1.0).all()
    assert (found.growth[[0, 1, 4]] < 1e-9).all()


def test_internal_damping_drives_whirl() -> None:
    """Damping that turns with the rotor makes it unstable beyond its critical speed √(k/m)."""
    found = fm.campbell(
        oscillator(800.0, 800.0), [0.0, 10.0, 25.0], count=2, fixed={"all": "z"}, damping=fm.Rayleigh(mass=0.2)
    )
    assert found.stability_limit == pytest.approx(20.0, rel=1e-3)
    assert found.damping[0] == pytest.approx([0.1 / 20, 0.1 / 20], rel=1e-6)


@pytest.mark.parametrize(("polar", "diametral"), [(0.02, 0.011), (0.004, 0.02)])
def test_overhung_disc(polar: float, diametral: float) -> None:
    """Stodola's rotor in the inertial frame: K - ω² diag(m, J_d) + ωΩ diag(0, J_p), flat disc and long drum."""
    light = fm.Material(young=2.1e11, poisson=0.3, density=1e-6)
    section, length, mass = fm.Section.circle(0.03), 0.4, 8.0
    disc = fm.LumpedMass("end", mass, np.diag([polar, diametral, diametral]))
    mesh = fm.Mesh.line((0, 0, 0), (length, 0, 0), 1)
    elements = fm.Elements(mesh, light, section=section, formulation="euler_bernoulli", attachments=[disc])
    speeds = [0.0, 300.0, 2000.0]
    held = ["start", {"end": ("x", "rx")}]
    found = fm.campbell(elements, speeds, axis="x", count=4, frame="inertial", fixed=held)
    k = 2.1e11 * section.Iz * np.array([[12 / length**3, -6 / length**2], [-6 / length**2, 4 / length]])
    m, one, zero = np.diag([mass, diametral]), np.eye(2), np.zeros((2, 2))
    for row, whirl, speed in zip(found.eigenvalues.imag, found.whirl, speeds, strict=True):
        g = np.diag([0.0, speed * polar])
        signed = scipy.linalg.eigvals(np.block([[zero, one], [k, g]]), np.block([[one, zero], [zero, m]])).real
        assert_allclose(np.sort(row * whirl), np.sort(signed), rtol=1e-6)


def test_plane_ring() -> None:
    """A plane ring held at its bore: reduced and all nodes agree; the ground sees λ + inΩ, with n from the mesh."""
    mesh = fm.Mesh.ring(0.05, 0.2, (16, 3), cell="quad8")
    elements = fm.Elements(mesh, STEEL, thickness=0.01)
    body = fm.FlexibleBody("ring", elements, fixed="inner", reduction=fm.ModalTruncation(modes=20))
    speeds = [0.0, 400.0]
    turning = fm.campbell(body, speeds, count=3)
    full = fm.campbell(elements, speeds, count=3, fixed="inner")
    assert_allclose(full.frequencies, turning.frequencies, rtol=2e-4)
    ground = fm.campbell(body, speeds, count=3, frame="inertial")
    assert sorted(ground.waves.tolist()) == [-1, 0, 1]  # twisting, and two shears
    for n, column in zip(ground.waves, ground.eigenvalues.imag.T, strict=True):
        assert np.abs(turning.eigenvalues[1].imag + n * 400.0 - column[1]).min() < 1e-6
    with pytest.raises(fm.AnalysisError, match="about z only"):
        fm.campbell(body, speeds, axis="x", count=2)


# ---- rotors on bearings


def rigid_rotor(kx: float, ky: float, polar: float = 0.05) -> fm.System:
    """Axis z; two bearings 0.3 m on either side of the mass centre."""
    ground, rotor = fm.Ground(), fm.RigidBody("rotor", 10.0, np.diag([0.03, 0.03, polar]))
    bearings = [
        fm.Bushing(f"bearing {z}", ground.at(0, 0, z), rotor.at(0, 0, z), stiffness=(kx, ky, 1e6, 0, 0, 0))
        for z in (-0.3, 0.3)
    ]
    return fm.System([ground, rotor], [], bearings)


def rigid_whirl(speed: float, kx: float, ky: float, polar: float = 0.05) -> np.ndarray:
    """Circular frequencies of bouncing and rocking on such bearings."""
    arm = 2 * 0.3**2
    k, m, g = np.diag([2 * kx, 2 * ky, arm * ky, arm * kx]), np.diag([10.0, 10.0, 0.03, 0.03]), np.zeros((4, 4))
    g[2, 3], g[3, 2] = polar * speed, -polar * speed
    state = np.block([[np.zeros((4, 4)), np.eye(4)], [-np.linalg.solve(m, k), -np.linalg.solve(m, g)]])
    rates = np.linalg.eigvals(state).imag
    return np.sort(rates[rates > 0])


@pytest.mark.parametrize(("kx", "ky"), [(1e5, 1e5), (1e5, 2e5)])
def test_rigid_rotor_on_bearings(kx: float, ky: float) -> None:
    """Any bearings, seen from the ground; the backward rocking passes the axial mode, which does not notice."""
    speeds = np.array([0.0, 60.0, 400.0, 900.0])
    found = fm.campbell(rigid_rotor(kx, ky), speeds, count=5)
    assert found.frame == "inertial"
    axial = np.sqrt(2e6 / 10.0)
    for k, speed in enumerate(speeds):
        expected = np.append(rigid_whirl(speed, kx, ky), axial)
        for value in found.eigenvalues[k].imag:
            assert np.abs(value / expected - 1).min() < 1e-8
    constant = np.ptp(found.eigenvalues.imag, axis=0) < 1e-6
    assert constant.sum() == 3  # bouncing twice, axial
    critical = sorted(c.speed for c in found.critical_speeds)
    assert_allclose(critical[:2], np.sqrt([2 * kx / 10.0, 2 * ky / 10.0]), rtol=1e-9)
    assert found.stability_limit == np.inf


def test_unsymmetric_bearings_are_refused_in_the_rotating_frame() -> None:
    alike = fm.campbell(rigid_rotor(1e5, 1e5), [0.0, 60.0], count=2, frame="rotating")
    bounce = np.sqrt(2e5 / 10.0)
    assert_allclose(np.sort(alike.eigenvalues[1].imag), [bounce - 60, bounce + 60], rtol=1e-8)
    with pytest.raises(fm.AnalysisError, match=r"change with time.*frame=\"inertial\""):
        fm.campbell(rigid_rotor(1e5, 2e5), [0.0, 60.0], count=2, frame="rotating")


def test_unsymmetric_rotor_on_unsymmetric_bearings_is_refused() -> None:
    ground, rotor = fm.Ground(), fm.RigidBody("rotor", 10.0, np.diag([0.02, 0.04, 0.05]))
    bearings = [
        fm.Bushing(f"b{z}", ground.at(0, 0, z), rotor.at(0, 0, z), stiffness=(1e5, 2e5, 1e5, 0, 0, 0))
        for z in (-0.3, 0.3)
    ]
    system = fm.System([ground, rotor], [], bearings)
    for frame in ("inertial", "rotating"):
        with pytest.raises(fm.AnalysisError, match="neither has constant equations"):
            fm.campbell(system, [60.0], count=2, frame=frame)


def test_rotor_in_a_casing_that_does_not_spin() -> None:
    """Casing on springs to the ground, rotor on springs to the casing: two masses in a row, whatever the speed."""
    ground = fm.Ground()
    casing = fm.RigidBody("casing", 20.0, np.diag([0.3, 0.4, 0.5]))
    rotor = fm.RigidBody("rotor", 10.0, np.diag([0.03, 0.03, 0.05]))
    forces = []
    for z in (-0.3, 0.3):
        forces += [
            fm.Bushing(f"foot {z}", ground.at(0, 0, z), casing.at(0, 0, z), stiffness=(2e5, 3e5, 1e6, 0, 0, 1e5)),
            fm.Bushing(f"bearing {z}", casing.at(0, 0, z), rotor.at(0, 0, z), stiffness=(1e5, 1e5, 1e6, 0, 0, 0)),
        ]
    system = fm.System([ground, casing, rotor], [], forces)
    found = fm.campbell(system, [0.0, 200.0, 500.0], count=6, spinning=[rotor])
    expected = []
    for foot in (4e5, 6e5):
        k = np.array([[foot + 2e5, -2e5], [-2e5, 2e5]])
        expected += np.sqrt(scipy.linalg.eigvalsh(k, np.diag([20.0, 10.0]))).tolist()
    for value in expected[:3]:
        assert (np.abs(found.eigenvalues.imag / value - 1).min(axis=1) < 1e-7).all()


def flexible_rotor(ky: float, kz: float, damping: Any = None, external: float = 0.0) -> tuple[fm.System, float, float]:
    """A disc in the middle of a light shaft along x on two bearings; shaft stiffness 48EI/L³ and mass at the disc."""
    length, section, mass = 1.0, fm.Section.circle(0.04), 10.0
    light = fm.Material(young=2.1e11, poisson=0.3, density=1.0)
    mesh = fm.Mesh.line((0, 0, 0), (length, 0, 0), 8)
    elements = fm.Elements(mesh, light, section=section, formulation="euler_bernoulli")
    middle = mesh.nearest_node((0.5, 0, 0))
    ground = fm.Ground()
    shaft = fm.FlexibleBody(
        "shaft", elements, interfaces=["start", middle, "end"], reduction=fm.StaticCondensation(), damping=damping
    )
    disc = fm.RigidBody("disc", mass, np.diag([0.05, 0.03, 0.03]))
    hub = fm.Fixed("hub", shaft.at(middle), disc.at(0, 0, 0))
    bearings: list[Any] = [
        fm.Bushing(f"bearing {end}", ground.at(x, 0, 0), shaft.at(end), stiffness=(1e7, ky, kz, 0, 0, 0))
        for end, x in (("start", 0.0), ("end", length))
    ]
    if external:
        bearings.append(
            fm.Bushing("oil", ground.at(0.5, 0, 0), disc.at(0, 0, 0), (0.0,) * 6, (0, external, external, 0, 0, 0))
        )
    system = fm.System([ground, shaft, disc], [hub], bearings)
    # a small part of the shaft's own mass moves along, 17/35 on stiff bearings
    return system, 48 * 2.1e11 * section.Iz / length**3, mass + 17 / 35 * section.area * length


def test_jeffcott_rotor_on_unsymmetric_bearings() -> None:
    """Shaft and bearings in series in each plane: two critical speeds √(k/m), seen from the ground."""
    ky, kz = 2e6, 6e6
    system, bending, mass = flexible_rotor(ky, kz)
    found = fm.campbell(system, [0.0, 150.0, 350.0, 800.0], axis="x", count=2)
    series = [1 / (1 / bending + 1 / (2 * k)) for k in (ky, kz)]
    expected = np.sqrt(np.array(series) / mass)
    assert_allclose(found.eigenvalues.imag, np.tile(expected, (4, 1)), rtol=2e-5)
    assert_allclose([c.speed for c in found.critical_speeds], expected, rtol=2e-5)
    with pytest.raises(fm.AnalysisError, match="change with time"):
        fm.campbell(system, [0.0, 150.0], axis="x", count=2, frame="rotating")


def test_internal_and_external_damping() -> None:
    """Whirl grows beyond Ω = ω (1 + c_e/c_i): damping of the shaft drives it, that of the oil holds it."""
    factor = 2e-5
    _, bending, mass = flexible_rotor(1e9, 1e9)
    internal = factor * bending
    system, *_ = flexible_rotor(1e9, 1e9, fm.Rayleigh(stiffness=factor), 0.7 * internal)
    omega = np.sqrt(1 / (1 / bending + 1 / 2e9) / mass)
    found = fm.campbell(system, np.array([0.0, 0.5, 1.2, 2.0]) * omega, axis="x", count=2)
    assert found.stability_limit == pytest.approx(1.7 * omega, rel=5e-3)
    assert_allclose(found.damping[0], (1.7 * internal) / (2 * mass * omega), rtol=5e-3)
    assert (found.damping[1] > 0).all()
    assert found.damping[-1].min() < 0


def test_flexible_shaft_in_joints() -> None:
    """The trusted shaft as a body of a mechanism, in ball joints, in both frames."""
    ground = fm.Ground()
    body = fm.FlexibleBody(
        "shaft", shaft(16), interfaces=["start", "end"], reduction=fm.CraigBampton(modes=9), frame="chord"
    )
    joints = [
        fm.Spherical("ball", ground.at(0, 0, 0), body.at("start")),
        fm.PointOnLine("slide", ground.at(0, 0, 0), body.at("end"), axis="x"),
    ]
    system = fm.System([ground, body], joints)
    found = fm.campbell(system, list(WHIRL), axis="x", count=2)
    order = [found.directions.index(d) for d in ("forward", "backward")]
    assert_allclose(found.eigenvalues.imag[:, order], list(WHIRL.values()), rtol=2e-5)
    turning = fm.campbell(system, list(WHIRL), axis="x", count=2, frame="rotating")
    assert turning.critical_speeds[0].speed == pytest.approx(637.145, rel=2e-5)


def test_solid_shaft_in_joints() -> None:
    """The shaft of solids as a body of a mechanism, seen from the ground through its eight sectors: split to 1e-3."""
    ground = fm.Ground()
    mesh = fm.Mesh.cylinder(0.025, 1.0, (8, 1, 8), axis="x", cell="hexahedron20")
    body = fm.FlexibleBody("shaft", mesh, STEEL, interfaces=["start", "end"], reduction=fm.CraigBampton(modes=9))
    joints = [
        fm.Spherical("ball", ground.at(0, 0, 0), body.at("start")),
        fm.PointOnLine("slide", ground.at(0, 0, 0), body.at("end"), axis="x"),
    ]
    found = fm.campbell(fm.System([ground, body], joints), [0.0, 2000.0], axis="x", count=2)
    forward, backward = (found.eigenvalues.imag[:, found.directions.index(d)] for d in ("forward", "backward"))
    assert_allclose(forward[1] - backward[1], WHIRL[2000.0][0] - WHIRL[2000.0][1], rtol=1e-3)
    assert forward[0] == pytest.approx(WHIRL[0.0][0], rel=5e-3)


def test_heavy_shaft_with_a_disc_on_unsymmetric_damped_bearings() -> None:
    """A mechanism with every node of a shaft, against matrices put together by hand in coordinates that do not spin.

    With Γ the turn of displacements and rotations of the nodes, d = exp(-ΩtΓ) x makes of the equations in the rotating
    frame M x'' + Ω(C - 2MΓ) x' + (K + Ω²(K₂ + MΓ² - CΓ)) x, to which bearings are added as they stand.
    """
    mesh, axis = fm.Mesh.line((0, 0, 0), (0.8, 0, 0), 6), (1.0, 0.0, 0.0)
    disc = fm.LumpedMass("end", 12.0, np.diag([0.1, 0.06, 0.06]))
    elements = fm.Elements(mesh, STEEL, section=fm.Section.circle(0.05), attachments=[disc])
    second = int(mesh.nearest_node((0.55, 0, 0)))
    stiffness, damping = (1e8, 1e7, 4e7, 0, 0, 0), (0.0, 900.0, 300.0, 0, 0, 0)
    ground = fm.Ground()
    body = fm.FlexibleBody("shaft", elements, interfaces=["start", second], reduction=fm.FullOrder())
    places = {0: body.at("start"), second: body.at(second)}
    bearings = [
        fm.Bushing(f"bearing {n}", ground.at(*mesh.points[n]), frame, stiffness, damping) for n, frame in places.items()
    ]
    speeds = np.array([0.0, 200.0, 900.0])
    found = fm.campbell(fm.System([ground, body], [], bearings), speeds, axis="x", count=5)

    def dense(blocks: Any) -> np.ndarray:
        return np.asarray(elements.assemble(blocks).toarray())

    mass, elastic, coriolis = (dense(b) for b in (elements.mass(), elements.stiffness(), elements.gyroscopic(axis)))
    softening = dense(elements.stiffness_omega(axis) + elements.turning_stiffness(axis))
    turn = np.kron(np.eye(2 * mesh.n_nodes), np.array([[0.0, 0, 0], [0, 0, -1], [0, 1, 0]]))
    springs, dampers = np.zeros_like(mass), np.zeros_like(mass)
    for n in places:
        springs[range(6 * n, 6 * n + 6), range(6 * n, 6 * n + 6)] = stiffness
        dampers[range(6 * n, 6 * n + 6), range(6 * n, 6 * n + 6)] = damping
    for k, speed in enumerate(speeds):
        g = speed * (coriolis - 2 * mass @ turn) + dampers
        whole = elastic + springs + speed**2 * (softening + mass @ turn @ turn - coriolis @ turn)
        assert_allclose(g - dampers, -(g - dampers).T, atol=1e-9)  # gyroscopic
        state = np.block(
            [[np.zeros_like(mass), np.eye(len(mass))], [-np.linalg.solve(mass, whole), -np.linalg.solve(mass, g)]]
        )
        expected = np.linalg.eigvals(state)
        for value in found.eigenvalues[k]:
            assert np.abs(expected - value).min() < 1e-6 * abs(value)
    assert (found.damping > 0).all()


def test_a_mode_without_its_twin_is_refused() -> None:
    ground = fm.Ground()
    body = fm.FlexibleBody("shaft", shaft(8), interfaces=["start", "end"], reduction=fm.CraigBampton(modes=3))
    joints = [
        fm.Spherical("ball", ground.at(0, 0, 0), body.at("start")),
        fm.PointOnLine("slide", ground.at(0, 0, 0), body.at("end"), axis="x"),
    ]
    with pytest.raises(fm.AnalysisError, match=r"shaft: coordinate .* twin was cut off"):
        fm.campbell(fm.System([ground, body], joints), [100.0], axis="x", count=2)


# ---- what it says, and what it refuses


def test_table_and_repr() -> None:
    found = fm.campbell(oscillator(800.0, 800.0), [0.0, 5.0], count=2, fixed={"all": "z"}, frame="inertial")
    lines = found.table().splitlines()
    assert len(lines) == 3
    assert "forward" in lines[0]
    assert "inertial" in repr(found)
    assert not found.eigenvalues.flags.writeable


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"speeds": [5.0, 1.0]}, "ascending"),
        ({"speeds": [-1.0, 1.0]}, "zero or more"),
        ({"speeds": "fast"}, "speeds"),
        ({"speeds": []}, "speeds"),
        ({"axis": "w"}, "axis"),
        ({"axis": (0, 0, 0)}, "axis"),
        ({"count": 0}, "count"),
        ({"count": 2.5}, "count"),
        ({"count": 50}, "modes were asked for"),
        ({"frame": "moving"}, "rotating"),
        ({"stiffening": "a lot"}, "stiffening"),
        ({"damping": 0.01}, "Rayleigh"),
        ({"fixed": {"start": "xy"}, "model": shaft(2)}, "held"),
        ({"spinning": ["rotor"]}, "spinning"),
        ({"model": POINT}, "FlexibleBody"),
    ],
)
def test_bad_input_to_campbell(change: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {"model": oscillator(800.0, 800.0), "speeds": [0.0, 5.0], "count": 2, "fixed": {"all": "z"}}
    with pytest.raises(fm.FlexmbsError, match=words):
        fm.campbell(**(given | change))


def test_bad_input_for_bodies_and_systems() -> None:
    free = fm.FlexibleBody("shaft", shaft(4), interfaces=["start", "end"], reduction=fm.CraigBampton(modes=2))
    with pytest.raises(fm.AnalysisError, match="held in its frame"):
        fm.campbell(free, [1.0], axis="x", count=2)
    held = fm.FlexibleBody("shaft", shaft(4), fixed="start", reduction=fm.ModalTruncation(modes=4))
    with pytest.raises(fm.AnalysisError, match="when it is made"):
        fm.campbell(held, [1.0], axis="x", count=2, fixed="end")
    with pytest.raises(fm.AnalysisError, match="does not look the same"):
        fm.campbell(held, [1.0], axis="z", count=2, frame="inertial")
    with pytest.raises(fm.AnalysisError, match="order"):
        fm.campbell(held, [1.0, 2.0], axis="x", count=2).crossings(-1)
    rotor = rigid_rotor(1e5, 1e5)
    with pytest.raises(fm.AnalysisError, match="spinning="):
        fm.campbell(rotor, [1.0], count=2, spinning=["stator"])
    with pytest.raises(fm.AnalysisError, match="spinning="):
        fm.campbell(rotor, [1.0], count=2, fixed="start")
    heavy = fm.System(rotor.bodies, [], [*rotor.forces, fm.Gravity((0, -9.81, 0))])
    with pytest.raises(fm.AnalysisError, match="gravity across the axis"):
        fm.campbell(heavy, [1.0], count=2)
    upright = fm.System(rotor.bodies, [], [*rotor.forces, fm.Gravity((0, 0, -9.81))])
    assert_allclose(
        fm.campbell(upright, [50.0], count=2).eigenvalues, fm.campbell(rotor, [50.0], count=2).eigenvalues, atol=1e-6
    )
