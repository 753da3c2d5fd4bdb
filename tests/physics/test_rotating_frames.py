"""C(ω), K(ω) and K_g: oscillator and radial bar in a rotating frame, spinning cantilever, whirling shaft."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
from cases.rotating import (
    BAR,
    BEARINGS,
    CANTILEVER,
    OSCILLATORS,
    POINT,
    RADIAL,
    STEEL,
    UNIT,
    WHIRL,
    oscillator,
    radial_bar,
    spinning_cantilever,
    springs,
)

import flexmbs as fm


@pytest.mark.parametrize(("kx", "ky", "speed", "expected"), OSCILLATORS)
def test_oscillator_by_modes(kx: float, ky: float, speed: float, expected: list[float]) -> None:
    found = oscillator(kx, ky, speed)
    np.testing.assert_allclose(2 * np.pi * found.frequencies, expected, rtol=1e-11)
    assert (found.damping == 0).all()


@pytest.mark.parametrize(("kx", "ky", "speed", "expected"), OSCILLATORS)
def test_oscillator_by_hand(kx: float, ky: float, speed: float, expected: list[float]) -> None:
    elements = fm.Elements(POINT, **springs(kx, ky))
    held = elements.connectivity() @ fm.Projection.fix(elements, "all", "z")
    spin = (0.0, 0.0, speed)
    m, c = held.project(elements.mass()).toarray(), held.project(elements.gyroscopic(spin)).toarray()
    k = held.project(elements.stiffness() + elements.stiffness_omega(spin)).toarray()
    one, zero = np.eye(2), np.zeros((2, 2))
    rates = np.linalg.eigvals(np.block([[zero, one], [-np.linalg.solve(m, k), -np.linalg.solve(m, c)]]))
    np.testing.assert_allclose(np.sort(rates.imag)[2:], expected, rtol=1e-11)
    assert abs(rates.real).max() < 1e-10


def test_oscillator_about_any_axis() -> None:
    """The same oscillator with its springs turned in space, spinning about a skew axis."""
    axis = np.array([1.0, 2.0, -2.0]) / 3
    turn = scipy.linalg.null_space(axis[None, :])
    stiff = turn @ np.diag([800.0, 1800.0]) @ turn.T + 1e9 * np.outer(axis, axis)
    attached = [fm.LumpedMass("all", 2.0), fm.GroundSpring("all", stiff)]
    found = fm.modes(POINT, count=2, spin=5.0 * axis, attachments=attached)
    np.testing.assert_allclose(2 * np.pi * found.frequencies, OSCILLATORS[1][3], rtol=1e-9)


# ---- radial bar


@pytest.mark.parametrize("softening", [True, False])
@pytest.mark.parametrize("speed", RADIAL)
@pytest.mark.parametrize("formulation", ["bar", "timoshenko", "euler_bernoulli"])
def test_radial_bar_of_line_elements(formulation: str, speed: float, softening: bool) -> None:
    found = radial_bar(speed, softening, formulation)
    expected = RADIAL[speed][0 if softening else 1]
    assert found.displacement[-1, 0] == pytest.approx(expected, rel=1e-4 if softening else 1e-10)
    # the root carries the mass times the acceleration of the displaced mass centre
    pull = BAR.density * 0.01 * speed**2 * 2.0
    centre = 1.0 + (np.trapezoid(found.displacement[:, 0], np.linspace(0.0, 2.0, 21)) / 2 if softening else 0.0)
    np.testing.assert_allclose(found.reaction("start")[0], -pull * centre, rtol=1e-9)


@pytest.mark.parametrize("softening", [True, False])
@pytest.mark.parametrize("speed", RADIAL)
@pytest.mark.parametrize("cell", ["hexahedron", "hexahedron20", "tetra10", "wedge15"])
def test_radial_bar_of_solids(cell: str, speed: float, softening: bool) -> None:
    """Held against bending by symmetry about its axis, free to contract."""
    mesh = fm.Mesh.box((2.0, 0.05, 0.05), (16, 1, 1), cell=cell)
    load = fm.Centrifugal((0, 0, speed), softening=softening)
    found = fm.statics(mesh, BAR, load, fixed={"x0": "x", "y0": "y", "z0": "z"})
    tip = found.displacement[mesh.nodes("x1"), 0].mean()
    assert tip == pytest.approx(RADIAL[speed][0 if softening else 1], rel=0.01)
    assert found.stable


def test_radial_bar_beyond_its_axial_resonance_is_unstable() -> None:
    """u = tan(aL)/a - L passes infinity at aL = π/2; beyond, the equilibrium exists but nothing stays there."""
    mesh = fm.Mesh.line((0, 0, 0), (2, 0, 0), 40)
    options = {"section": fm.Section(area=0.01), "formulation": "bar", "fixed": [{"start": None}, {"all": "yz"}]}
    critical = np.pi / 4 * np.sqrt(7e10 / 2700)
    assert fm.statics(mesh, BAR, fm.Centrifugal((0, 0, 0.98 * critical)), **options).stable
    beyond = fm.statics(mesh, BAR, fm.Centrifugal((0, 0, 1.1 * critical)), **options)
    assert not beyond.stable
    assert "unstable" in repr(beyond)
    a = 1.1 * np.pi / 4
    assert beyond.displacement[-1, 0] == pytest.approx(np.tan(2 * a) / a - 2, rel=2e-3)


def test_plane_disc_and_solid_disc_spin_alike() -> None:
    """A thin spinning ring: plane stress (spin a number) and the theory, u(b) of a free annulus."""
    inner, outer, speed, nu = 0.05, 0.2, 800.0, 0.3
    mesh = fm.Mesh.ring(inner, outer, (32, 6), cell="quad8")
    on_x = mesh.nodes_where(lambda x, y, z: abs(y) < 1e-9)
    on_y = mesh.nodes_where(lambda x, y, z: abs(x) < 1e-9)
    held = [fm.Projection.fix(mesh, on_x, "y"), fm.Projection.fix(mesh, on_y, "x")]
    found = fm.statics(mesh, BAR, fm.Centrifugal(speed, softening=False), fixed=held, thickness=0.01)
    hoop = BAR.density * speed**2 / 4 * ((1 - nu) * outer**2 + (3 + nu) * inner**2)  # at the outer rim
    radial = hoop * outer / BAR.young
    rim = mesh.nodes("outer")
    np.testing.assert_allclose(np.linalg.norm(found.displacement[rim], axis=1), radial, rtol=2e-3)
    bore = BAR.density * speed**2 / 4 * ((3 + nu) * outer**2 + (1 - nu) * inner**2)
    np.testing.assert_allclose(found.stress.principal[mesh.nodes("inner"), 0].mean(), bore, rtol=0.03)


# ---- spinning cantilever


@pytest.mark.parametrize("eta", CANTILEVER)
def test_spinning_cantilever_without_stiffening(eta: float) -> None:
    """The lag mode softens, and diverges above the first frequency."""
    soft = spinning_cantilever(eta, 2, stiffening=False)
    if eta < 3.516:
        np.testing.assert_allclose(2 * np.pi * soft.frequencies[0] / UNIT, np.sqrt(3.516015**2 - eta**2), rtol=1e-3)
        assert soft.damping[0] == 0
    else:
        assert soft.frequencies[0] == pytest.approx(0.0, abs=1e-6 * UNIT)
        assert soft.eigenvalues[0].real != 0


@pytest.mark.parametrize(("cell", "divisions"), [("hexahedron", (60, 2, 1)), ("hexahedron20", (30, 1, 1))])
def test_spinning_cantilever_of_solids(cell: str, divisions: tuple[int, int, int]) -> None:
    """The same with a slender solid: flap and lag of a square bar within 1 %."""
    material = fm.Material(young=1e9, poisson=0.0, density=1000.0)
    mesh = fm.Mesh.box((1.0, 0.01, 0.01), divisions, cell=cell, origin=(0, -0.005, -0.005))
    unit = np.sqrt(1e9 * 0.01**2 / 12 / 1000.0)
    found = fm.modes(mesh, material, fixed="x0", count=3, spin=(0, 0, 6 * unit))
    mu = 2 * np.pi * found.frequencies / unit
    np.testing.assert_allclose(mu[:2], [CANTILEVER[6.0][3], CANTILEVER[6.0][0]], rtol=0.01)


# ---- whirling shaft


def seen_from(speed: float, whirl: Any) -> Any:
    """Rates in the frame that turns with the shaft of whirl rates in the inertial frame (backward is negative)."""
    return np.abs(np.asarray(whirl) - speed)


@pytest.mark.parametrize("speed", WHIRL)
def test_whirling_shaft(speed: float) -> None:
    """Timoshenko's beam with its gyroscopic moments; without the stiffening of turning sections 0.05 to 0.8 % off."""
    mesh = fm.Mesh.line((0, 0, 0), (1, 0, 0), 40)
    found = fm.modes(mesh, STEEL, fixed=BEARINGS, count=4, section=fm.Section.circle(0.05), spin=(speed, 0, 0))
    for rate in seen_from(speed, WHIRL[speed]):
        assert np.abs(2 * np.pi * found.frequencies - rate).min() < 2e-6 * WHIRL[speed][0]


def test_whirling_shaft_of_solids() -> None:
    """A solid shaft has the gyroscopic moments from the stress in it. What the spin changes agrees with the beam."""
    mesh = fm.Mesh.cylinder(0.025, 1.0, (8, 1, 12), axis="x", cell="hexahedron20")
    elements = fm.Elements(mesh, STEEL)
    mean_x = np.zeros(elements.n_dofs)
    mean_x[3 * mesh.nodes("start")] = mesh.weights("start")
    held = [{"start": "yz", "end": "yz"}, fm.Projection.constraints(mean_x[None, :])]
    still = 2 * np.pi * fm.modes(elements, fixed=held, count=1).frequencies[0]
    assert still == pytest.approx(WHIRL[0.0][0], rel=1e-3)
    seen = 2 * np.pi * fm.modes(elements, fixed=held, count=2, spin=(500, 0, 0)).frequencies
    shift = np.array([500 + seen[0], 500 - seen[1]]) - [still, -still]
    np.testing.assert_allclose(shift, np.subtract(WHIRL[500.0], WHIRL[0.0]), rtol=0.05)


@pytest.mark.parametrize("speed", [0.0, 300.0, 2000.0])
@pytest.mark.parametrize(("polar", "diametral"), [(0.02, 0.011), (0.004, 0.02)])
def test_overhung_disc_on_a_light_shaft(speed: float, polar: float, diametral: float) -> None:
    """Stodola's rotor, flat disc and long drum: K - ω² diag(m, J_d) + ωΩ diag(0, J_p) in the inertial frame."""
    light = fm.Material(young=2.1e11, poisson=0.3, density=1e-6)
    section, length, mass = fm.Section.circle(0.03), 0.4, 8.0
    disc = fm.LumpedMass("end", mass, np.diag([polar, diametral, diametral]))
    mesh = fm.Mesh.line((0, 0, 0), (length, 0, 0), 1)
    options = {"section": section, "formulation": "euler_bernoulli", "attachments": [disc]}
    found = fm.modes(mesh, light, fixed=["start", {"end": ("x", "rx")}], count=4, spin=(speed, 0, 0), **options)
    bending = 2.1e11 * section.Iz
    k = bending * np.array([[12 / length**3, -6 / length**2], [-6 / length**2, 4 / length]])
    m, g = np.diag([mass, diametral]), np.diag([0.0, speed * polar])
    one, zero = np.eye(2), np.zeros((2, 2))
    whirl = scipy.linalg.eigvals(np.block([[zero, one], [k, g]]), np.block([[one, zero], [zero, m]]))
    expected = np.sort(seen_from(speed, whirl.real))
    np.testing.assert_allclose(2 * np.pi * found.frequencies, expected, rtol=1e-6)


def test_section_turning_about_the_spin_axis_is_indifferent() -> None:
    """A free rotation about the spin axis changes nothing, and across the blade the propeller moment remains:
    Ω²(Iz - Iy) ρ θx² for a spin about z."""
    section = fm.Section.rectangle(b=0.01, h=0.05)
    mesh = fm.Mesh.line((0, 0, 0), (1, 0, 0), 3)
    elements = fm.Elements(
        mesh, STEEL, section=section, attachments=[fm.LumpedMass("end", 1.0, np.diag([3e-3, 2e-3, 2e-3]))]
    )
    twist = np.zeros((mesh.n_nodes, 6))
    twist[:, 3] = 1.0
    d = twist.ravel()

    def work(omega: tuple[float, float, float]) -> float:
        k = elements.assemble(elements.stiffness_omega(omega) + elements.turning_stiffness(omega))
        assert abs(k - k.T).max() <= 1e-12 * abs(k).max()
        return float(d @ k @ d)

    scale = 100.0**2 * 3e-3
    assert abs(work((100.0, 0, 0))) < 1e-12 * scale
    blade = 100.0**2 * STEEL.density * (section.Iz - section.Iy)
    assert work((0, 0, 100.0)) == pytest.approx(blade, rel=1e-12)
    assert work((0, 100.0, 0)) == pytest.approx(-blade, rel=1e-12)
