"""Natural modes: held, free, partly held, prestressed, spinning; what the result says about itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize

import flexmbs as fm
from flexmbs.fem.rigid import rigid_motions

STEEL = fm.Material(young=2e11, poisson=0.3, density=7800.0, name="steel")
SQUARE = fm.Section.rectangle(0.02, 0.02)


def box(cell: str = "hexahedron", divisions: tuple[int, int, int] = (4, 2, 2)) -> fm.Mesh:
    return fm.Mesh.box((1.0, 0.2, 0.1), divisions, cell=cell)


def dense(elements: fm.Elements, held: fm.Projection | None = None) -> tuple[np.ndarray, np.ndarray]:
    a = elements.connectivity() if held is None else elements.connectivity() @ held
    return a.project(elements.stiffness()).toarray(), a.project(elements.mass()).toarray()


@pytest.mark.parametrize("cell", ["tetra", "hexahedron20", "wedge", "pyramid"])
def test_frequencies_of_the_dense_eigenproblem(cell: str) -> None:
    elements = fm.Elements(box(cell), STEEL)
    k, m = dense(elements, fm.Projection.fix(elements, "x0"))
    expected = np.sqrt(scipy.linalg.eigh(k, m, subset_by_index=(0, 9), eigvals_only=True)) / (2 * np.pi)
    found = fm.modes(elements, fixed="x0", count=10)
    np.testing.assert_allclose(found.frequencies, expected, rtol=1e-8)
    assert not found.rigid.any()
    assert (found.damping == 0).all()
    np.testing.assert_allclose(found.eigenvalues, 2j * np.pi * found.frequencies, rtol=1e-12)


def test_shapes_are_orthonormal_in_the_mass_and_zero_where_held() -> None:
    elements = fm.Elements(box("tetra10"), STEEL)
    found = fm.modes(elements, fixed="x0", count=8)
    phi = found.shapes.reshape(8, -1)
    m, k = elements.assemble(elements.mass()), elements.assemble(elements.stiffness())
    np.testing.assert_allclose(phi @ (m @ phi.T), np.eye(8), atol=1e-8)
    squares = (2 * np.pi * found.frequencies) ** 2
    np.testing.assert_allclose(phi @ (k @ phi.T), np.diag(squares), atol=1e-7 * squares[-1])
    assert found.shapes.shape == (8, elements.mesh.n_nodes, 3)
    assert not found.shapes[:, elements.nodes("x0")].any()


@pytest.mark.parametrize("divisions", [(2, 1, 1), (8, 3, 2)])  # dense and sparse algebra
def test_free_part(divisions: tuple[int, int, int]) -> None:
    elements = fm.Elements(box(divisions=divisions), STEEL)
    found = fm.modes(elements, count=9)
    assert found.rigid.tolist() == [True] * 6 + [False] * 3
    assert (found.frequencies[:6] == 0.0).all()
    # together the rigid modes carry the whole mass, the elastic ones none
    mass = fm.mass_properties(elements).mass
    np.testing.assert_allclose(found.effective_mass[:6].sum(axis=0), mass, rtol=1e-7)
    np.testing.assert_allclose(found.effective_mass[6:], 0.0, atol=1e-6 * mass)
    # and they are rigid motions
    motions = rigid_motions(elements)
    shapes = found.shapes[:6].reshape(6, -1).T
    left = shapes - motions @ np.linalg.lstsq(motions, shapes)[0]
    assert np.abs(left).max() < 1e-5 * np.abs(shapes).max()


@pytest.mark.parametrize("count", [1, 3, 6])
def test_fewer_modes_of_a_free_part_than_it_has_rigid_ones(count: int) -> None:
    elements = fm.Elements(box(), STEEL)
    found = fm.modes(elements, count=count)
    assert found.rigid.all()
    assert len(found) == count
    phi = found.shapes.reshape(count, -1)
    np.testing.assert_allclose(phi @ (elements.assemble(elements.mass()) @ phi.T), np.eye(count), atol=1e-10)


@pytest.mark.parametrize(
    ("fixed", "count"),
    [({"x0": "xy"}, 1), ({"x0": "x"}, 3), ({"all": "z"}, 3), ([0], 3), (fm.Projection.symmetry(box(), "y0", "y"), 3)],
)
def test_partly_held_part_has_as_many_rigid_modes_as_motions(fixed: Any, count: int) -> None:
    found = fm.modes(box(), STEEL, fixed=fixed, count=count + 3)
    assert found.rigid.tolist() == [True] * count + [False] * 3
    assert found.frequencies[count] > 50.0


def test_plane_parts_and_beams_that_are_free() -> None:
    plane = fm.modes(fm.Mesh.rectangle((1.0, 0.2), (8, 2)), STEEL, count=5)
    assert plane.rigid.tolist() == [True] * 3 + [False] * 2
    assert plane.effective_mass.shape == (5, 2)
    beam = fm.modes(fm.Mesh.line((0, 0, 0), (1, 1, 1), 6), STEEL, count=8, section=SQUARE)
    assert beam.rigid.tolist() == [True] * 6 + [False] * 2


def test_two_pieces_have_twelve_rigid_modes() -> None:
    two = box().joined(box("hexahedron").transformed(np.eye(3), (0, 0, 2.0)))
    found = fm.modes(two, STEEL, count=16)
    assert found.rigid.tolist() == [True] * 12 + [False] * 4
    single = fm.modes(box(), STEEL, count=8).frequencies[6:]
    np.testing.assert_allclose(found.frequencies[12:], np.repeat(single, 2), rtol=1e-7)


def test_quarter_of_the_modes_by_symmetry() -> None:
    """Doubly symmetric modes of the full part are those of the quarter with two mirror planes."""
    full = fm.Mesh.box((1.0, 0.4, 0.2), (4, 2, 2), origin=(0, -0.2, -0.1))
    quarter = fm.Mesh.box((1.0, 0.2, 0.1), (4, 1, 1))
    mirror = [fm.Projection.symmetry(quarter, "y0", "y"), fm.Projection.symmetry(quarter, "z0", "z"), "x0"]
    part = fm.modes(quarter, STEEL, fixed=mirror, count=3).frequencies
    whole = fm.modes(full, STEEL, fixed="x0", count=60).frequencies
    for f in part:
        assert np.abs(whole / f - 1).min() < 1e-8


@pytest.mark.parametrize("cell", ["hexahedron", "tetra10"])
@pytest.mark.parametrize("divisions", [(2, 1, 1), (4, 2, 1)])
def test_averaged_support_is_a_fixed_averaging_point(cell: str, divisions: tuple[int, int, int]) -> None:
    elements = fm.Elements(box(cell, divisions), STEEL)
    found = fm.modes(elements, fixed=fm.Averaged("x0"), count=5)
    rows, _ = fm.averaging_rows(elements, "x0")
    basis = np.linalg.qr(rows.toarray().T, mode="complete")[0][:, 6:]
    k, m = dense(elements)
    reduced = basis.T @ k @ basis, basis.T @ m @ basis
    expected = np.sqrt(scipy.linalg.eigh(*reduced, subset_by_index=(0, 4), eigvals_only=True)) / (2 * np.pi)
    np.testing.assert_allclose(found.frequencies, expected, rtol=1e-6)
    assert not found.rigid.any()
    turning = fm.modes(elements, fixed=fm.Averaged("x0"), count=2, spin=(0, 0, 1e-3)).frequencies
    np.testing.assert_allclose(turning, expected[:2], rtol=1e-6)


def test_averaged_beside_another_support() -> None:
    found = fm.modes(box(), STEEL, fixed=[fm.Averaged("x0"), {"x1": "z"}], count=3)
    averaged = fm.modes(box(), STEEL, fixed=fm.Averaged("x0"), count=3)
    clamped = fm.modes(box(), STEEL, fixed=["x0", {"x1": "z"}], count=3)
    assert averaged.frequencies[0] < found.frequencies[0] <= clamped.frequencies[0]


def test_springs_to_ground_and_lumped_masses() -> None:
    """A stiff block on springs is an oscillator: f = sqrt(k/m)/2π in every direction."""
    block = fm.Mesh.box((0.2, 0.2, 0.2), (2, 2, 2))
    stiff = fm.Material(young=2e13, poisson=0.3, density=7800.0)
    attached = [fm.LumpedMass("all", 37.6), fm.GroundSpring("all", (1e4, 4e4, 9e4))]
    found = fm.modes(block, stiff, count=6, attachments=attached)
    assert not found.rigid.any()
    by_axis = found.frequencies[np.argmax(found.effective_mass, axis=0)]
    np.testing.assert_allclose(by_axis, np.sqrt(np.array([1e4, 4e4, 9e4]) / 100.0) / (2 * np.pi), rtol=1e-4)
    one_way = fm.modes(block, stiff, count=6, attachments=[fm.GroundSpring("all", (0, 0, 9e4))])
    assert one_way.rigid.sum() == 3


def test_effective_masses_of_all_modes() -> None:
    """Of a free part they sum to the mass exactly; of a held one up to what sits on the support."""
    free = fm.modes(box(divisions=(2, 1, 1)), STEEL, count=36)
    np.testing.assert_allclose(free.effective_mass.sum(axis=0), 0.02 * 7800, rtol=1e-9)
    held = fm.modes(box(divisions=(12, 1, 1)), STEEL, fixed="x0", count=144)
    sums = held.effective_mass.sum(axis=0)
    assert (sums < 0.02 * 7800).all()
    np.testing.assert_allclose(sums, 0.02 * 7800, rtol=0.05)
    first = fm.modes(fm.Mesh.line((0, 0, 0), (1, 0, 0), 20), STEEL, fixed="start", count=2, section=SQUARE)
    assert first.effective_mass[:2, 1:].sum() / 2 == pytest.approx(0.6131 * 7800 * 4e-4, rel=2e-3)  # cantilever


def test_all_modes_there_are() -> None:
    elements = fm.Elements(box(divisions=(2, 1, 1)), STEEL)
    k, m = dense(elements, fm.Projection.fix(elements, "x0"))
    found = fm.modes(elements, fixed="x0", count=24)
    expected = np.sqrt(scipy.linalg.eigh(k, m, eigvals_only=True)) / (2 * np.pi)
    np.testing.assert_allclose(found.frequencies, expected, rtol=1e-9)


def test_table_and_names() -> None:
    found = fm.modes(box(), STEEL, count=7)
    assert len(found) == 7
    lines = found.table().splitlines()
    assert len(lines) == 8
    assert "frequency [Hz]" in lines[0]
    assert "m_z [kg]" in lines[0]
    assert lines[1].endswith("rigid")
    assert not lines[7].endswith("rigid")
    assert "box" in repr(found)


def test_stress_of_a_mode_is_that_of_its_shape() -> None:
    mesh = fm.Mesh.box((1.0, 0.02, 0.02), (20, 1, 1), cell="hexahedron20", origin=(0, -0.01, -0.01))
    found = fm.modes(mesh, STEEL, fixed="x0", count=1)
    root = found.stress(0).nodal[mesh.nodes("x0"), 0]
    # of a cantilever's mode, M(0) = EI κ with κ = 3.516 · 2 / (L² sqrt(m)) for unit modal mass
    curvature = 2 * 3.5160 / np.sqrt(7800 * 4e-4)
    assert np.abs(root).max() == pytest.approx(2e11 * curvature * 0.01, rel=0.3)
    spun = fm.modes(mesh, STEEL, fixed="x0", count=1, spin=(0, 0, 5.0))
    assert np.isrealobj(spun.stress(0).nodal)


# ---- prestress


def test_stretched_string_of_bars() -> None:
    """f_n = n/2L sqrt(N/ρA) from K_g alone: bars in line have no stiffness across."""
    mesh = fm.Mesh.line((0, 0, 0), (2, 0, 0), 60)
    tension, line_mass = 500.0, 7800.0 * 1e-6
    options = {"section": fm.Section(area=1e-6), "formulation": "bar"}
    found = fm.modes(mesh, STEEL, fixed=["start", "end"], count=4, prestress=(tension,), **options)
    wave = np.sqrt(tension / line_mass) / 4
    np.testing.assert_allclose(found.frequencies, [wave, wave, 2 * wave, 2 * wave], rtol=2e-3)


def loaded_cantilever(bending: float, line_mass: float, force: float) -> float:
    """First frequency [Hz] of a cantilever of unit length under a dead tip force along it (tension positive).

    EI w⁗ - N w″ = ρA ω² w with w = w′ = 0 at the root, w″ = 0 and EI w‴ = N w′ at the tip.
    """

    def determinant(omega: float) -> float:
        root = np.sqrt(force**2 + 4 * bending * line_mass * omega**2)
        a, b = np.sqrt((root - force) / (2 * bending)), np.sqrt((root + force) / (2 * bending))
        # w = A (cos ax - cosh bx) + B (sin ax / a - sinh bx / b)
        tip = [
            [-(a**2) * np.cos(a) - b**2 * np.cosh(b), -a * np.sin(a) - b * np.sinh(b)],
            [
                bending * (a**3 * np.sin(a) - b**3 * np.sinh(b)) + force * (a * np.sin(a) + b * np.sinh(b)),
                bending * (-(a**2) * np.cos(a) - b**2 * np.cosh(b)) - force * (np.cos(a) - np.cosh(b)),
            ],
        ]
        return float(np.linalg.det(tip))

    unit = np.sqrt(bending / line_mass)
    return scipy.optimize.brentq(determinant, 0.02 * unit, 8.0 * unit) / (2 * np.pi)


@pytest.mark.parametrize("kind", ["beam", "solid"])
def test_column_under_load_loses_frequency_until_it_buckles(kind: str) -> None:
    cork = fm.Material(young=2e11, poisson=0.0, density=7800.0)  # a clamped root that need not contract is a beam's
    bending, line_mass = 2e11 * SQUARE.Iz, 7800 * 4e-4
    critical = np.pi**2 * bending / 4
    if kind == "beam":
        mesh: fm.Mesh = fm.Mesh.line((0, 0, 0), (1, 0, 0), 20)
        options: dict[str, Any] = {"fixed": "start", "section": SQUARE, "formulation": "euler_bernoulli"}
        end = "end"
    else:
        mesh = fm.Mesh.box((1.0, 0.02, 0.02), (20, 1, 1), cell="hexahedron20")
        options, end = {"fixed": "x0"}, "x1"
    still = 3.5160152685 * np.sqrt(bending / line_mass) / (2 * np.pi)
    assert loaded_cantilever(bending, line_mass, 1e-9) == pytest.approx(still, rel=1e-6)
    for share in (2.0, 0.5, -0.5, -0.9):
        load = fm.Force(end, (share * critical, 0, 0))
        found = fm.modes(mesh, cork, count=1, prestress=load, **options).frequencies[0]
        expected = loaded_cantilever(bending, line_mass, share * critical)
        assert (found**2 - expected**2) / still**2 == pytest.approx(0.0, abs=1e-3)
    with pytest.raises(fm.AnalysisError, match="beyond the buckling load"):
        fm.modes(mesh, cork, count=1, prestress=fm.Force(end, (-1.02 * critical, 0, 0)), **options)


def test_forms_of_prestress_that_say_the_same() -> None:
    elements = fm.Elements(box(), STEEL)
    loads = [fm.Force("x1", (1e7, 0, 0)), fm.Gravity()]
    state = fm.statics(elements, loads=loads, fixed="x0")
    expected = fm.modes(elements, fixed="x0", count=3, prestress=loads).frequencies
    assert expected[0] > 1.001 * fm.modes(elements, fixed="x0", count=1).frequencies[0]
    for prestress in (state, state.stress, state.stress.arrays, list(state.stress.arrays), tuple(loads)):
        found = fm.modes(elements, fixed="x0", count=3, prestress=prestress).frequencies
        np.testing.assert_allclose(found, expected, rtol=1e-10)


# ---- spin


def test_no_spin_is_no_spin() -> None:
    still = fm.modes(box(), STEEL, fixed="x0", count=4)
    zero = fm.modes(box(), STEEL, fixed="x0", count=4, spin=(0, 0, 0))
    np.testing.assert_array_equal(zero.frequencies, still.frequencies)
    slow = fm.modes(box(), STEEL, fixed="x0", count=4, spin=(1e-4, 2e-4, 3e-4))
    np.testing.assert_allclose(slow.frequencies, still.frequencies, rtol=1e-8)
    assert np.iscomplexobj(slow.shapes)
    m = still.elements.assemble(still.elements.mass())
    for shape in slow.shapes.reshape(4, -1):
        assert (shape.conj() @ (m @ shape)).real == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_spinning_modes_satisfy_their_equation_at_any_size(scale: float) -> None:
    """Small stiff parts have λ of 1e5 and more beside entries of K of 1e9: nothing may drown in rounding."""
    mesh = fm.Mesh.box((scale, 0.2 * scale, 0.1 * scale), (6, 2, 2), cell="tetra10")
    elements = fm.Elements(mesh, STEEL)
    first = fm.modes(elements, fixed="x0", count=1).frequencies[0]
    spin = np.array([0.1, 0.2, 0.3]) * 2 * np.pi * first
    found = fm.modes(elements, fixed="x0", count=10, spin=spin, stiffening=False)
    held = elements.connectivity() @ fm.Projection.fix(elements, "x0")
    m, c = held.project(elements.mass()), held.project(elements.gyroscopic(spin))
    k = held.project(elements.stiffness() + elements.stiffness_omega(spin))
    free = np.setdiff1d(np.arange(elements.n_dofs).reshape(-1, 3), 3 * elements.nodes("x0")[:, None] + np.arange(3))
    for rate, shape in zip(found.eigenvalues, found.shapes.reshape(10, -1)[:, free], strict=True):
        inertia = rate**2 * (m @ shape)
        residual = inertia + rate * (c @ shape) + k @ shape
        assert np.linalg.norm(residual) < 1e-5 * np.linalg.norm(inertia)


def test_spinning_about_a_turned_axis_is_the_turned_part() -> None:
    mesh = box("tetra", (3, 1, 1))
    turned = mesh.rotated((1, 1, 1), 2 * np.pi / 3)  # x to y to z to x
    a = fm.modes(mesh, STEEL, fixed="x0", count=4, spin=(0, 50.0, 400.0)).frequencies
    b = fm.modes(turned, STEEL, fixed="x0", count=4, spin=(400.0, 0.0, 50.0)).frequencies
    np.testing.assert_allclose(a, b, rtol=1e-7)


def test_plane_part_spins_about_z() -> None:
    mesh = fm.Mesh.rectangle((1.0, 0.02), (40, 1), origin=(0.0, -0.01))
    steel = fm.Material(young=2e11, poisson=0.0, density=7800.0)
    unit = np.sqrt(2e11 * 0.02**2 / 12 / 7800.0)
    by_number = fm.modes(mesh, steel, fixed="x0", count=1, spin=6 * unit)
    by_vector = fm.modes(mesh, steel, fixed="x0", count=1, spin=(0, 0, 6 * unit))
    np.testing.assert_allclose(by_number.frequencies, by_vector.frequencies, rtol=1e-12)
    assert 2 * np.pi * by_number.frequencies[0] / unit == pytest.approx(4.26322542019, rel=0.01)  # lag


def test_prestress_and_spin_add_up() -> None:
    elements = fm.Elements(box(), STEEL)
    spin = (0.0, 0.0, 300.0)
    by_spin = fm.modes(elements, fixed="x0", count=3, spin=spin).frequencies
    load = fm.Centrifugal(spin, softening=False)
    by_load = fm.modes(elements, fixed="x0", count=3, spin=spin, stiffening=False, prestress=load).frequencies
    np.testing.assert_allclose(by_spin, by_load, rtol=1e-9)
    pulled = fm.modes(elements, fixed="x0", count=1, spin=spin, prestress=fm.Force("x1", (1e8, 0, 0))).frequencies
    assert pulled[0] > 1.01 * by_spin[0]
