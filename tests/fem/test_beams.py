"""Beams and bars: exact under end loads with any number of elements; section forces; buckling; strings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
from element_kinds import BEAMS, LineKind
from numpy.testing import assert_allclose

import flexmbs as fm
from flexmbs.fem.stress import SectionForces
from flexmbs.rotations import axis_angle

E, NU, LENGTH = 210e9, 0.3, 1.2
G = E / (2 * (1 + NU))
STEEL = fm.Material(E, NU, 7850.0)
B, H = 0.03, 0.05
KAPPA = 5 / 6
KAPPA_Y, KAPPA_Z = 0.8, 0.5  # unequal, so that they cannot be mistaken for each other
SECTION = replace(fm.Section.rectangle(B, H), shear=(KAPPA_Y, KAPPA_Z))


def shear_flexibility(kind: LineKind, kappa: float) -> float:
    """1/κGA, nothing for Euler-Bernoulli."""
    return 1 / (kappa * G * B * H) if kind.name == "timoshenko" else 0.0


def cantilever(kind: LineKind, divisions: int, turn: np.ndarray | None = None) -> fm.Elements:
    r = np.eye(3) if turn is None else turn
    mesh = fm.Mesh.line((0, 0, 0), r @ [LENGTH, 0, 0], divisions)
    return fm.Elements(mesh, STEEL, section=SECTION, formulation=kind.name, up=r @ [0.0, 1.0, 0.0])


@pytest.mark.parametrize("kind", BEAMS, ids=str)
def test_forces_from_deformations_are_those_of_the_stiffness(kind: LineKind) -> None:
    section = replace(fm.Section.rectangle(0.2, 0.3), shear=(KAPPA_Y, KAPPA_Z))
    block = kind.elements(kind.frame(), section=section).blocks[0]
    nodal = np.random.default_rng(7).normal(size=(len(block.cells), 12, 3))
    expected = block.to_body(block.stiffness()) @ nodal
    assert_allclose(block.elastic_forces(nodal), expected, atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize("divisions", [1, 2, 5])
@pytest.mark.parametrize("kind", BEAMS, ids=str)
def test_end_loads_are_exact_with_any_number_of_elements(kind: LineKind, divisions: int) -> None:
    """All six loads at once, on a beam in general position, against the textbook."""
    turn = axis_angle((1, -2, 0.5), 1.1)
    elements = cantilever(kind, divisions, turn)
    n, vy, vz, t, my, mz = 900.0, 300.0, -200.0, 40.0, 70.0, -50.0
    load = fm.Force("end", turn @ [n, vy, vz], turn @ [t, my, mz])
    result = fm.statics(elements, loads=load, fixed="start")
    iy, iz, length = H * B**3 / 12, B * H**3 / 12, LENGTH
    flexible_y, flexible_z = (shear_flexibility(kind, kappa) for kappa in (KAPPA_Y, KAPPA_Z))
    expected_shift = [
        n * length / (E * B * H),
        vy * (length**3 / (3 * E * iz) + length * flexible_y) + mz * length**2 / (2 * E * iz),
        vz * (length**3 / (3 * E * iy) + length * flexible_z) - my * length**2 / (2 * E * iy),
    ]
    expected_turn = [
        t * length / (G * SECTION.J),
        -vz * length**2 / (2 * E * iy) + my * length / (E * iy),
        vy * length**2 / (2 * E * iz) + mz * length / (E * iz),
    ]
    end = elements.nodes("end")[0]
    assert_allclose(turn.T @ result.displacement[end, :3], expected_shift, rtol=1e-9)
    assert_allclose(turn.T @ result.displacement[end, 3:], expected_turn, rtol=1e-9)
    forces = result.stress
    assert isinstance(forces, SectionForces)
    x = np.linspace(0, LENGTH, divisions + 1)
    arm = LENGTH - np.stack([x[:-1], x[1:]], axis=1)  # (elements, 2)
    one = np.ones_like(arm)
    expected = np.stack([n * one, vy * one, vz * one, t * one, my - vz * arm, mz + vy * arm], axis=-1)
    assert_allclose(forces.arrays[0], expected, rtol=1e-7, atol=1e-6)
    assert_allclose(forces.axial, n * one, rtol=1e-8)
    fibre = n / (B * H) + np.abs(my - vz * arm) * B / 2 / iy + np.abs(mz + vy * arm) * H / 2 / iz
    assert_allclose(forces.fibre_stress, fibre, rtol=1e-7)
    assert_allclose(forces.nodal[0], fibre[0, 0], rtol=1e-7)
    reaction = result.reaction("start")
    assert_allclose(turn.T @ reaction[:3], [-n, -vy, -vz], rtol=1e-8)
    assert_allclose(turn.T @ reaction[3:], [-t, -my + vz * LENGTH, -mz - vy * LENGTH], rtol=1e-8)


def test_fibre_stress_needs_the_shape_of_the_section() -> None:
    section = fm.Section(area=1e-3, Iy=1e-7, Iz=1e-7, J=1e-7)
    elements = fm.Elements(fm.Mesh.line((0, 0, 0), (1, 0, 0), 1), STEEL, section=section)
    forces = fm.statics(elements, loads=fm.Force("end", (1, 0, 0)), fixed="start").stress
    with pytest.raises(fm.AnalysisError, match="shape"):
        _ = forces.fibre_stress


def lowest_load(elements: fm.Elements, free: np.ndarray, state: np.ndarray) -> float:
    """The factor λ of a state of compression at which K + λ K_g is singular."""
    k = elements.assemble(elements.stiffness()).toarray()[free][:, free]
    k_g = elements.assemble(elements.geometric_stiffness(state)).toarray()[free][:, free]
    inverse = scipy.linalg.eigh(-k_g, k, eigvals_only=True)
    return 1 / inverse[-1]


def pinned(elements: fm.Elements) -> np.ndarray:
    """Free coordinates with pinned ends: one slides along x, no twist."""
    free = np.ones((elements.mesh.n_nodes, 6), dtype=bool)
    free[elements.nodes("start"), :4] = False
    free[elements.nodes("end"), 1:4] = False
    return free.ravel()


@pytest.mark.parametrize("kind", BEAMS, ids=str)
def test_pinned_column_buckles_at_eulers_load(kind: LineKind) -> None:
    """Engesser's load 1/(1/P_E + 1/κGA) where shear counts."""
    elements = cantilever(kind, 10)
    euler = np.pi**2 * E * H * B**3 / 12 / LENGTH**2  # about the weak axis
    expected = 1 / (1 / euler + shear_flexibility(kind, KAPPA_Z))
    compression = np.array([-1.0, 0, 0, 0, 0, 0])
    assert lowest_load(elements, pinned(elements), compression) == pytest.approx(expected, rel=1e-4)


def extrapolated(coarse: float, fine: float) -> float:
    """The limit of a second-order sequence, from two meshes."""
    return (4 * fine - coarse) / 3


def test_stocky_column_shows_engessers_load() -> None:
    section = fm.Section.rectangle(0.3, 0.5)
    loads = []
    for divisions in (10, 20):
        mesh = fm.Mesh.line((0, 0, 0), (LENGTH, 0, 0), divisions)
        elements = fm.Elements(mesh, STEEL, section=section)
        loads.append(lowest_load(elements, pinned(elements), np.array([-1.0, 0, 0, 0, 0, 0])))
    euler = np.pi**2 * E * section.Iy / LENGTH**2
    engesser = 1 / (1 / euler + 1 / (KAPPA * G * section.area))
    assert engesser < 0.9 * euler
    assert loads[0] == pytest.approx(engesser, rel=2e-3)
    assert extrapolated(*loads) == pytest.approx(engesser, rel=1e-5)


def test_geometric_stiffness_of_the_axial_force_alone() -> None:
    """A column under its own weight, N linear between the nodes, against Greenhill's q L = 7.8373 EI/L²."""
    elements = cantilever(BEAMS[0], 10)
    x = elements.mesh.points[:, 0]
    state = np.zeros((10, 2, 6))
    state[:, :, 0] = -(LENGTH - np.stack([x[:-1], x[1:]], axis=1))  # unit weight per length
    free = np.repeat(x > 0, 6)
    expected = 7.83734744 * E * H * B**3 / 12 / LENGTH**3
    assert lowest_load(elements, free, (state,)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("formulation", ["bar", "euler_bernoulli"])
def test_stretched_string(formulation: str) -> None:
    """f_n = n/2L sqrt(N/ρA); beams of vanishing bending stiffness do the same."""
    tension, area = 500.0, 1e-4
    material = fm.Material(E, NU, 7850.0)
    section = fm.Section(area=area, Iy=1e-16, Iz=1e-16, J=1e-16)
    mesh = fm.Mesh.line((0, 0, 0), (LENGTH, 0, 0), 40)
    elements = fm.Elements(mesh, material, section=section, formulation=formulation)
    uniform = np.array([tension, 0, 0, 0, 0, 0])[: 1 if formulation == "bar" else 6]
    matrices = elements.stiffness() + elements.geometric_stiffness(uniform)
    per = elements.dofs_per_node
    free = np.zeros((mesh.n_nodes, per), dtype=bool)
    free[1:-1, 1] = True  # across, in one plane
    if per == 6:
        free[:, 5] = True
    free = free.ravel()
    k, m = (elements.assemble(b).toarray()[free][:, free] for b in (matrices, elements.mass()))
    frequencies = np.sqrt(scipy.linalg.eigh(k, m, eigvals_only=True, subset_by_index=(0, 2))) / (2 * np.pi)
    expected = np.arange(1, 4) / (2 * LENGTH) * np.sqrt(tension / (7850.0 * area))
    assert_allclose(frequencies, expected, rtol=3e-3)


def pinned_squares(section: fm.Section, divisions: int) -> np.ndarray:
    """The three lowest ω² of a pinned beam in the x-y plane."""
    elements = fm.Elements(fm.Mesh.line((0, 0, 0), (LENGTH, 0, 0), divisions), STEEL, section=section)
    free = np.zeros((elements.mesh.n_nodes, 6), dtype=bool)
    free[1:-1, 1] = True
    free[:, 5] = True
    free = free.ravel()
    k, m = (elements.assemble(b).toarray()[free][:, free] for b in (elements.stiffness(), elements.mass()))
    return scipy.linalg.eigh(k, m, eigvals_only=True, subset_by_index=(0, 2))


def test_rotary_inertia_and_shear_lower_the_frequencies_as_timoshenko_says() -> None:
    """Pinned beam: the frequency equation of Timoshenko's theory is quadratic in ω² for each wave number."""
    section = fm.Section.rectangle(0.1, 0.2)
    found = extrapolated(pinned_squares(section, 16), pinned_squares(section, 32))
    rho, area, second, shear = 7850.0, section.area, section.Iz, KAPPA * G * section.area
    for number in range(3):
        wave = (number + 1) * np.pi / LENGTH
        # ρA ω² v = κGA (k² v - k θ),  ρI ω² θ = EI k² θ + κGA (θ - k v)
        matrix = np.array([[shear * wave**2, -shear * wave], [-shear * wave, E * second * wave**2 + shear]])
        exact = scipy.linalg.eigh(matrix, np.diag([rho * area, rho * second]), eigvals_only=True)[0]
        assert found[number] == pytest.approx(exact, rel=1e-4)


def test_a_truss_of_bars() -> None:
    """Two bars at 45 degrees under a weight: force W/√2 each, deflection WL/EA with L the bars' length."""
    mesh = fm.Mesh([[-1, 1, 0], [1, 1, 0], [0, 0, 0]], [("line", [[0, 2], [1, 2]])])
    elements = fm.Elements(mesh, STEEL, section=fm.Section(area=1e-4), formulation="bar")
    supports = fm.Projection.fix(elements, [0, 1]) & fm.Projection.fix(elements, [2], "z")
    result = fm.statics(elements, loads=fm.Force([2], (0, -1000.0, 0)), fixed=supports)
    assert_allclose(result.stress.axial, 1000 / np.sqrt(2), rtol=1e-12)
    assert result.displacement[2, 1] == pytest.approx(-1000 * np.sqrt(2) / (E * 1e-4), rel=1e-12)


@pytest.mark.parametrize("kind", BEAMS, ids=str)
def test_a_stretched_beam_resists_twist_as_a_solid_does(kind: LineKind) -> None:
    """Fibres become helices: N (Iy + Iz)/A θx'², against the K_g of a brick under the same stress and twist."""
    rate, pull = 0.3, 7.0
    twisted = np.zeros((4, 6))
    elements = cantilever(kind, 3)
    twisted[:, 3] = rate * elements.mesh.points[:, 0]
    k_g = elements.assemble(elements.geometric_stiffness([pull * B * H, 0, 0, 0, 0, 0]))
    brick = fm.Elements(fm.Mesh.box((LENGTH, H, B), 1, "hexahedron20", origin=(0, -H / 2, -B / 2)), STEEL)
    x, y, z = brick.mesh.points.T
    turned = rate * np.column_stack([np.zeros_like(x), -x * z, x * y]).ravel()
    exact = brick.assemble(brick.geometric_stiffness([pull, 0, 0, 0, 0, 0]))
    assert twisted.ravel() @ k_g @ twisted.ravel() == pytest.approx(turned @ exact @ turned, rel=1e-12)
