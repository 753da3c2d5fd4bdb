"""FV5 with beams and solids; beams and solid bars against Timoshenko's and Euler's theory."""

from __future__ import annotations

import numpy as np
import pytest
from cases.elements import FV5_AXIAL, FV5_HELD, deep_beam
from cases.elements import FV5_BENDING as BENDING
from cases.elements import FV5_STEEL as STEEL

import flexmbs as fm


def test_fv5_with_beams() -> None:
    square = fm.Section.rectangle(2.0, 2.0)
    torsion = np.sqrt(STEEL.shear * square.J / (STEEL.density * (square.Iy + square.Iz))) / 40
    expected = [BENDING[0]] * 2 + [torsion, FV5_AXIAL] + [BENDING[1]] * 2 + [3 * torsion] + [BENDING[2]] * 2
    np.testing.assert_allclose(deep_beam().frequencies, expected, rtol=1e-4)


def test_fv5_torsion_as_commonly_quoted_takes_the_polar_moment() -> None:
    mesh = fm.Mesh.line((0, 0, 0), (10, 0, 0), 40)
    polar = fm.Section(area=4.0, Iy=4 / 3, Iz=4 / 3, J=8 / 3)
    assert fm.modes(mesh, STEEL, fixed=FV5_HELD, count=3, section=polar).frequencies[2] == pytest.approx(
        77.542, rel=1e-3
    )


@pytest.mark.parametrize("formulation", ["euler_bernoulli", "timoshenko"])
def test_five_thousand_elements_cost_no_digits(formulation: str) -> None:
    """Rounding in the entries of K alone is worth four percent here; the answers of 50 elements are the same."""
    end, section = np.array([0.6, 0.48, 0.64]), fm.Section.rectangle(0.01, 0.02)
    coarse, fine = (
        fm.Elements(fm.Mesh.line((0, 0, 0), end, n), STEEL, section=section, formulation=formulation)
        for n in (50, 5000)
    )
    load = fm.Force("end", (1.0, -2.0, 3.0))
    few, many = (fm.statics(e, loads=load, fixed="start") for e in (coarse, fine))
    np.testing.assert_allclose(many.displacement[-1], few.displacement[-1], rtol=1e-10)
    np.testing.assert_allclose(many.reaction("start")[:3], [-1.0, 2.0, -3.0], rtol=1e-7)
    assert many.strain_energy == pytest.approx(few.strain_energy, rel=1e-9)
    few, many = (fm.modes(e, fixed="start", count=2).frequencies for e in (coarse, fine))
    np.testing.assert_allclose(many, few, rtol=1e-6)
    few, many = (fm.modes(e, count=8).frequencies for e in (coarse, fine))
    np.testing.assert_allclose(many, few, rtol=1e-5)


@pytest.mark.parametrize(("cell", "divisions"), [("hexahedron20", (10, 2, 2)), ("tetra10", (8, 2, 2))])
def test_fv5_with_solids(cell: str, divisions: tuple[int, int, int]) -> None:
    """The end faces are held in their plane; along x the mean of one face. Three-dimensional elasticity is not
    Timoshenko's theory, and the end faces cannot swell: a percent of difference is physics."""
    mesh = fm.Mesh.box((10.0, 2.0, 2.0), divisions, cell=cell, origin=(0.0, -1.0, -1.0))
    elements = fm.Elements(mesh, STEEL)
    mean_x = np.zeros(elements.n_dofs)
    mean_x[3 * mesh.nodes("x0")] = mesh.weights("x0")
    held = [{"x0": "yz", "x1": "yz"}, fm.Projection.constraints(mean_x[None, :])]
    found = fm.modes(elements, fixed=held, count=6)
    bending = found.frequencies[found.effective_mass[:, 1:].sum(axis=1) > 1000.0]
    np.testing.assert_allclose(bending, [BENDING[0]] * 2, rtol=0.01)
    axial = found.frequencies[found.effective_mass[:, 0] > 1000.0]
    np.testing.assert_allclose(axial, [FV5_AXIAL], rtol=0.01)


def test_euler_bernoulli_cantilever_frequencies() -> None:
    slender = fm.Section.rectangle(0.001, 0.001)
    mesh = fm.Mesh.line((0, 0, 0), (1, 0, 0), 30)
    w = (
        2
        * np.pi
        * fm.modes(mesh, STEEL, fixed="start", count=4, section=slender, formulation="euler_bernoulli").frequencies
    )
    unit = np.sqrt(STEEL.young * slender.Iz / (STEEL.density * slender.area))
    np.testing.assert_allclose(w / unit, [3.5160152685] * 2 + [22.0344915647] * 2, rtol=1e-5)


@pytest.mark.parametrize("formulation", ["timoshenko", "euler_bernoulli"])
@pytest.mark.parametrize("direction", [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (2.0, -1.0, 2.0)])
def test_cantilever_under_tip_force_and_moment_in_any_direction(formulation: str, direction: tuple) -> None:
    """One element is exact: δ = FL³/3EI (+ FL/κGA), θ = ML/EI about either axis; up chooses which one."""
    along = np.array(direction) / np.linalg.norm(direction)
    up = np.cross(along, [0.3, 0.9, 0.1])
    up /= np.linalg.norm(up)
    across = np.cross(along, up)
    length, section = 2.0, fm.Section.rectangle(b=0.1, h=0.2)
    mesh = fm.Mesh.line((1, 2, 3), np.array([1, 2, 3]) + length * along, 1)
    load = fm.Force("end", 1000.0 * up, moment=500.0 * across + 200.0 * along)
    found = fm.statics(mesh, STEEL, load, fixed="start", section=section, formulation=formulation, up=up)
    bending = STEEL.young * section.Iz
    shear = 5 / 6 * STEEL.shear * section.area
    deflection = 1000 * length**3 / (3 * bending) + 500 * length**2 / (2 * bending)
    deflection += 1000 * length / shear if formulation == "timoshenko" else 0.0
    slope = 1000 * length**2 / (2 * bending) + 500 * length / bending
    twist = 200 * length / (STEEL.shear * section.J)
    expected = np.concatenate([deflection * up, slope * across + twist * along])
    np.testing.assert_allclose(found.displacement[1], expected, rtol=1e-9, atol=1e-9 * deflection)
    forces = found.stress.arrays[0][0]  # N, V_y, V_z, T, M_y, M_z at both ends
    np.testing.assert_allclose(forces[:, 3], 200.0, rtol=1e-9)
    np.testing.assert_allclose(forces[:, 5], [1000 * length + 500, 500], rtol=1e-9)
    fibre = (1000 * length + 500) * 0.1 / section.Iz
    np.testing.assert_allclose(found.stress.fibre_stress[0, 0], fibre, rtol=1e-9)


@pytest.mark.parametrize("cell", ["hexahedron", "hexahedron20", "tetra10", "wedge15"])
def test_pure_bending_of_a_solid_bar(cell: str) -> None:
    """σ_xx = -M y / I everywhere and the tip rises by ML²/2EI: quadratic displacements, found exactly."""
    length, h, b, moment = 1.0, 0.1, 0.05, 80.0
    mesh = fm.Mesh.box((length, h, b), (4, 2, 1), cell=cell, origin=(0.0, -h / 2, -b / 2))
    inertia = b * h**3 / 12
    steel = fm.Material(young=2e11, poisson=0.3, density=8000.0)

    def linear(x, y, z):
        return -moment * y / inertia, 0.0, 0.0

    corner, below = mesh.nearest_node((0, -h / 2, -b / 2)), mesh.nearest_node((0, -h / 2, b / 2))
    held = [{"x0": "x"}, fm.Projection.fix(mesh, [corner], "yz"), fm.Projection.fix(mesh, [below], "y")]
    found = fm.statics(mesh, steel, fm.Traction("x1", linear), fixed=held)
    tip = mesh.nearest_node((length, -h / 2, -b / 2))
    assert found.displacement[tip, 1] == pytest.approx(moment * length**2 / (2 * steel.young * inertia), rel=1e-6)
    expected = np.zeros((mesh.n_nodes, 6))
    expected[:, 0] = -moment * mesh.points[:, 1] / inertia
    np.testing.assert_allclose(found.stress.nodal, expected, atol=1e-6 * moment * h / 2 / inertia)
    assert found.strain_energy == pytest.approx(moment**2 * length / (2 * steel.young * inertia), rel=1e-6)
    np.testing.assert_allclose(found.reaction("x0"), [0, 0, 0, 0, 0, -moment], atol=1e-7 * moment)


def test_tip_moment_on_a_solid_is_a_moment() -> None:
    mesh = fm.Mesh.box((1.0, 0.1, 0.05), (10, 2, 2), cell="hexahedron20", origin=(0.0, -0.05, -0.025))
    found = fm.statics(mesh, STEEL, fm.Force("x1", (0, 0, 0), moment=(0, 0, 80.0)), fixed="x0")
    np.testing.assert_allclose(found.reaction("x0"), [0, 0, 0, 0, 0, -80.0], atol=1e-7)
    mean = mesh.weights("x1") @ found.displacement[mesh.nodes("x1"), 1]
    assert mean == pytest.approx(80.0 / (2 * STEEL.young * 0.05 * 0.1**3 / 12), rel=0.01)
