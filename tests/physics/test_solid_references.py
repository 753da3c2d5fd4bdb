"""Solids against CalculiX, Lamé's cylinder and the theory of free bars."""

from __future__ import annotations

import numpy as np
import pytest

import flexmbs as fm
from flexmbs.linalg import smallest_modes

ALUMINIUM = fm.Material(young=7e10, poisson=0.33, density=2700.0)


def distorted(cell: str) -> fm.Mesh:
    mesh = fm.Mesh.box((0.4, 0.1, 0.06), (8, 3, 2), cell=cell)
    return mesh.mapped(
        lambda x, y, z: (
            x + 0.3 * y * (y - 0.05) + 0.2 * z * y,
            y * (1 - 0.8 * x) + 0.3 * x * x,
            z * (1 + 0.5 * x) + 0.4 * x * y,
        )
    )


# Numbers of CalculiX 2.20 on the same curved meshes (C3D4, C3D10, C3D20), printed with seven digits: displacement of
# the corner (0.4, 0, 0) and the root of the sum of squares of the six stresses over all integration points.
CALCULIX_STATICS = {
    "tetra": ((-1.134161e-07, 4.943917e-06, -2.118053e-06), 2314625.493902995),
    "tetra10": ((-1.379901e-07, 8.856273e-06, -3.752219e-06), 5740119.814059578),
    "hexahedron20": ((-1.319269e-07, 9.011535e-06, -3.8474e-06), 6321220.063155815),
}


@pytest.mark.parametrize("cell", CALCULIX_STATICS)
def test_statics_of_a_distorted_part_as_calculix(cell: str) -> None:
    mesh = distorted(cell)
    corner = mesh.nearest_node((0.4, 0.0, 0.0))
    loads = [fm.Gravity((6.0, 0.0, -8.0)), fm.Force([corner], (0.0, 100.0, 0.0))]
    found = fm.statics(mesh, ALUMINIUM, loads, fixed="x0")
    displacement, stress = CALCULIX_STATICS[cell]
    error = np.linalg.norm(found.displacement[corner] - displacement)
    assert error < 1e-6 * np.linalg.norm(displacement)
    assert np.linalg.norm(found.stress.arrays[0]) == pytest.approx(stress, rel=1e-6)


def test_modes_of_a_distorted_part_as_calculix() -> None:
    f = [338.2473, 497.0734, 1776.758, 2018.805, 2311.419, 3369.047, 4596.469, 5299.832]
    found = fm.modes(distorted("hexahedron20"), ALUMINIUM, fixed="x0", count=8)
    np.testing.assert_allclose(found.frequencies, f, rtol=1e-6)


def test_modes_of_distorted_tetrahedra_as_calculix() -> None:
    """CalculiX integrates the mass of C3D10 with four points, which shows from the third mode on."""
    found = fm.modes(distorted("tetra10"), ALUMINIUM, fixed="x0", count=5)
    np.testing.assert_allclose(found.frequencies[:2], [338.9107, 497.6331], rtol=3e-6)
    np.testing.assert_allclose(found.frequencies[2:], [1786.285, 2029.175, 2316.459], rtol=1e-4)


def test_stress_stiffening_and_spin_softening_as_calculix() -> None:
    """A *FREQUENCY step after *STATIC with CENTRIF, 1500 rad/s about z; no Coriolis there.

    CalculiX also counts the change of geometry, which matters little in the first two modes. Without K_g they
    are 15 to 20 %, without K(ω) up to 10 % off.
    """
    spin = (0.0, 0.0, 1500.0)
    elements = fm.Elements(distorted("hexahedron20"), ALUMINIUM)
    spun = fm.statics(elements, loads=fm.Centrifugal(spin, softening=False), fixed="x0")
    corner = elements.mesh.nearest_node((0.4, 0.0, 0.0))
    np.testing.assert_allclose(spun.displacement[corner], (0.0008093027, 0.01511153, -0.008528791), rtol=1e-6)
    held = elements.connectivity() @ fm.Projection.fix(elements, "x0")
    tangent = elements.stiffness() + elements.geometric_stiffness(spun.stress) + elements.stiffness_omega(spin)
    squares, _ = smallest_modes(held.project(tangent), held.project(elements.mass()), 2)
    np.testing.assert_allclose(np.sqrt(squares) / (2 * np.pi), [425.5154, 510.7182], rtol=2e-4)


@pytest.mark.parametrize(("cell", "divisions"), [("hexahedron20", (24, 3, 1)), ("tetra10", (32, 4, 1))])
def test_thick_cylinder_of_lame(cell: str, divisions: tuple[int, int, int]) -> None:
    inner, outer, pressure = 0.1, 0.2, 50e6
    steel = fm.Material(young=2.1e11, poisson=0.3, density=7800.0)
    mesh = fm.Mesh.tube(inner, outer, 0.05, divisions, cell=cell)
    x_axis = mesh.nodes_where(lambda x, y, z: (abs(y) < 1e-9) & (abs(z) < 1e-9))
    y_axis = mesh.nodes_where(lambda x, y, z: (abs(x) < 1e-9) & (abs(z) < 1e-9))
    held = [{"start": "z", "end": "z"}, fm.Projection.fix(mesh, x_axis, "y"), fm.Projection.fix(mesh, y_axis, "x")]
    found = fm.statics(mesh, steel, fm.Pressure("inner", pressure), fixed=held)
    a, b = pressure * inner**2 / (outer**2 - inner**2), pressure * inner**2 * outer**2 / (outer**2 - inner**2)
    r = np.hypot(*mesh.points[:, :2].T)
    radial = (1 + 0.3) / 2.1e11 * ((1 - 2 * 0.3) * a * r + b / r)
    outward = mesh.points[:, :2] / r[:, None]
    np.testing.assert_allclose(found.displacement[:, :2], radial[:, None] * outward, atol=2e-3 * radial.max())
    principal = found.stress.principal
    bore = mesh.nodes("inner")
    np.testing.assert_allclose(principal[bore, 0].mean(), a + b / inner**2, rtol=0.03)  # hoop
    np.testing.assert_allclose(principal[bore, 2].mean(), -pressure, rtol=0.12)  # radial, averaged on a free side
    middle = np.flatnonzero(abs(r - 0.15) < 0.02)
    hoop = a + b / r[middle] ** 2
    axial = np.full(len(middle), 2 * 0.3 * a)
    np.testing.assert_allclose(
        principal[middle], np.column_stack([hoop, axial, a - b / r[middle] ** 2]), atol=0.05 * b / inner**2
    )
    volume_work = pressure * 2 * np.pi * inner * 0.05 * ((1.3) / 2.1e11 * (0.4 * a * inner + b / inner))
    assert found.strain_energy == pytest.approx(volume_work / 2, rel=2e-3)


@pytest.mark.parametrize(
    ("cell", "divisions"), [("hexahedron20", (20, 1, 1)), ("tetra10", (16, 1, 1)), ("hexahedron", (40, 2, 2))]
)
def test_free_bar_has_six_rigid_modes_and_the_elastic_ones_of_beams(cell: str, divisions: tuple[int, int, int]) -> None:
    mesh = fm.Mesh.box((1.0, 0.03, 0.02), divisions, cell=cell)
    found = fm.modes(mesh, ALUMINIUM, count=9)
    assert found.rigid.tolist() == [True] * 6 + [False] * 3
    assert (found.frequencies[:6] == 0).all()
    wave = np.sqrt(ALUMINIUM.young / ALUMINIUM.density)
    first, second = 4.730041**2, 7.853205**2
    thin, wide = 0.02 / np.sqrt(12) * wave / (2 * np.pi), 0.03 / np.sqrt(12) * wave / (2 * np.pi)
    np.testing.assert_allclose(found.frequencies[6:], [first * thin, first * wide, second * thin], rtol=0.01)


def test_free_bar_reaches_its_axial_frequency() -> None:
    """Without Poisson's effect the axial mode of a solid bar is exactly c/2L."""
    bar = fm.Material(young=7e10, poisson=0.0, density=2700.0)
    mesh = fm.Mesh.box((1.0, 0.3, 0.3), (10, 1, 1), cell="hexahedron20")
    found = fm.modes(mesh, bar, count=14)
    c = np.sqrt(7e10 / 2700)
    assert np.abs(found.frequencies / (c / 2) - 1).min() < 1e-5
