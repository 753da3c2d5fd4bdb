"""Fused assembly is Lᵀ[k]L to rounding, for every kind and mixture of elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from element_kinds import BEAMS, CONTINUUM, LINES, SIZE, Kind, LineKind, surface_load
from numpy.testing import assert_allclose

import flexmbs as fm

OMEGA, EPSILON = np.array([0.7, -1.3, 2.1]), np.array([-0.4, 0.9, 1.7])
SOFT, HARD = fm.Material(1.0, 0.3, 2.0, "soft"), fm.Material(7.0, 0.2, 5.0, "hard")


def check_fused(elements: fm.Elements) -> None:
    omega, epsilon = (v * ([0, 0, 1] if elements.axes == 2 else 1) for v in (OMEGA, EPSILON))
    connect = elements.connectivity()
    l_matrix = connect.matrix.toarray()
    assert l_matrix.shape == (sum(len(b.cells) * b.size for b in elements.blocks), elements.n_dofs)
    rng = np.random.default_rng(7)
    states = elements.geometric_stiffness(
        [rng.normal(size=b.stress_state(zero(elements)).shape) for b in elements.blocks]
    )
    for blocks in (
        elements.mass(),
        elements.mass_ij(0, 1),
        elements.stiffness(),
        elements.gyroscopic(omega),
        elements.stiffness_epsilon(epsilon),
        elements.stiffness_omega(omega),
        states,
        elements.stiffness() + 2 * elements.mass() - elements.stiffness_omega(omega) + 0.5 * states,
    ):
        expected = l_matrix.T @ blocks.block_diagonal().toarray() @ l_matrix
        tiny = 1e-13 * np.abs(expected).max()
        assert_allclose(connect.project(blocks).toarray(), expected, atol=tiny)
        assert_allclose(elements.assemble(blocks).toarray(), expected, atol=tiny)
    for blocks in (
        elements.load_omega(omega),
        elements.load_epsilon(epsilon) - 3 * elements.first_moment(1, 0),
        elements.mass_origin(),
    ):
        expected = l_matrix.T @ blocks.stacked()
        assert_allclose(connect.project(blocks), expected, atol=1e-13 * np.abs(expected).max())


def zero(elements: fm.Elements) -> np.ndarray:
    return np.zeros((elements.mesh.n_nodes, elements.dofs_per_node))


@pytest.mark.parametrize("kind", [*CONTINUUM, *LINES], ids=str)
def test_every_kind(kind: Kind | LineKind) -> None:
    check_fused(kind.elements(kind.distorted(1) if isinstance(kind, Kind) else kind.frame()))


def mixed_mesh() -> fm.Mesh:
    """A hexahedron, a pyramid on its top face and a tetrahedron on one side of that, wedges beside."""
    points = [
        *((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1.1, 1, 1), (0, 1, 1)),
        *((0.5, 0.6, 1.8), (1.6, 0.4, 1.9), (1.9, 0.1, 0), (1.8, 0.2, 1.1)),
    ]
    cells = [
        ("hexahedron", [[0, 1, 2, 3, 4, 5, 6, 7]]),
        ("pyramid", [[4, 5, 6, 7, 8]]),
        ("tetra", [[5, 9, 6, 8]]),
        ("wedge", [[1, 10, 2, 5, 11, 6]]),
    ]
    return fm.Mesh(points, cells, cell_sets={"low": [0, 3], "high": [1, 2]}, face_sets={"base": [[0, 0]]}, name="mixed")


def test_mixed_cells_of_two_materials_with_attachments() -> None:
    mesh = mixed_mesh()
    attachments = [fm.LumpedMass("base", 3.0), fm.GroundSpring([8, 9], (1.0, 2.0, 3.0)), fm.LumpedMass([8], 0.7)]
    elements = fm.Elements(mesh, {"high": HARD, "low": SOFT}, attachments=attachments)
    check_fused(elements)
    assert fm.mass_properties(elements).mass == pytest.approx(
        fm.mass_properties(fm.Elements(mesh, {"high": HARD, "low": SOFT})).mass + 3.7, rel=1e-14
    )


def test_the_patch_of_mixed_cells_is_straight() -> None:
    """Hexahedron, pyramid, tetrahedron and wedge share faces: a linear field leaves no force at inner faces."""
    mesh = mixed_mesh()
    elements = fm.Elements(mesh, SOFT)
    h = np.random.default_rng(7).normal(size=(3, 3))
    force = elements.assemble(elements.stiffness()) @ (mesh.points @ h.T).ravel()
    e = (h + h.T) / 2
    sigma = SOFT.elasticity @ [e[0, 0], e[1, 1], e[2, 2], 2 * e[1, 2], 2 * e[0, 2], 2 * e[0, 1]]
    assert_allclose(force, surface_load(mesh, sigma).ravel(), atol=1e-12)


def test_two_materials_are_the_sum_of_two_parts() -> None:
    mesh = fm.Mesh.box(SIZE, (2, 1, 1), cell="tetra10")
    half = mesh.points[mesh.cells[0].nodes].mean(axis=1)[:, 0] < SIZE[0] / 2
    mesh = mesh.replace(cell_sets={"left": np.flatnonzero(half), "right": np.flatnonzero(~half)})
    both = fm.Elements(mesh, {"left": SOFT, "right": HARD})
    for name in ("stiffness", "mass"):
        total = both.assemble(getattr(both, name)()).toarray()
        for number, material in enumerate((SOFT, HARD)):
            cells = half if number == 0 else ~half
            part = fm.Mesh(mesh.points, [("tetra10", mesh.cells[0].nodes[cells])]).without_unattached_nodes()
            used = np.unique(mesh.cells[0].nodes[cells])
            one = fm.Elements(part, material)
            dofs = (used[:, None] * 3 + np.arange(3)).ravel()
            total[np.ix_(dofs, dofs)] -= one.assemble(getattr(one, name)()).toarray()
        assert_allclose(total, 0.0, atol=1e-13)


def test_plane_mesh_with_two_thicknesses_and_attachments() -> None:
    mesh = fm.Mesh.rectangle(SIZE[:2], (2, 1), cell="quad").replace(cell_sets={"a": [0], "b": [1]})
    attachments = [fm.LumpedMass("x1", 3.0), fm.GroundSpring("x0", 4.0)]
    elements = fm.Elements(mesh, SOFT, thickness={"a": 0.1, "b": 0.4}, attachments=attachments)
    check_fused(elements)
    area = SIZE[0] * SIZE[1] / 2
    assert fm.mass_properties(elements).mass == pytest.approx(SOFT.density * area * 0.5 + 3.0, rel=1e-14)


@pytest.mark.parametrize("kind", BEAMS, ids=str)
def test_beams_of_two_sections_with_attachments(kind: LineKind) -> None:
    mesh = kind.frame().replace(cell_sets={"a": [0, 1, 2], "b": [3, 4, 5]}, node_sets={"end": [3]})
    options: dict[str, Any] = {
        "section": {"a": fm.Section.circle(0.1), "b": fm.Section.rectangle(0.1, 0.2)},
        "attachments": [fm.LumpedMass("end", 2.0, np.diag([0.2, 0.3, 0.4])), fm.GroundSpring([0], np.arange(1.0, 7.0))],
    }
    elements = fm.Elements(mesh, {"a": SOFT, "b": HARD}, formulation=kind.name, **options)
    check_fused(elements)


@pytest.mark.parametrize("cell", ["hexahedron", "hexahedron20", "tetra10", "wedge15", "pyramid"])
def test_springs_and_masses_share_by_area(cell: str) -> None:
    mesh = fm.Mesh.box(SIZE, 2, cell=cell)
    spring, mass = fm.GroundSpring("x1", (2.0, 3.0, 5.0)), fm.LumpedMass("x1", 7.0)
    plain, more = fm.Elements(mesh, SOFT), fm.Elements(mesh, SOFT, attachments=[spring, mass])
    added = (more.assemble(more.stiffness()) - plain.assemble(plain.stiffness())).toarray()
    translation = np.tile(np.eye(3), (mesh.n_nodes, 1))
    assert_allclose(translation.T @ added @ translation, np.diag([2.0, 3.0, 5.0]), atol=1e-13)
    heavier, lighter = fm.mass_properties(more), fm.mass_properties(plain)
    centre = (heavier.mass * heavier.center - lighter.mass * lighter.center) / 7.0
    assert_allclose(centre, SIZE * [1, 0.5, 0.5], atol=1e-13)


@pytest.mark.parametrize("cell", ["hexahedron20", "tetra10", "wedge15"])
def test_no_node_gets_a_negative_mass_or_spring(cell: str) -> None:
    """The area share of a corner of a quadratic face is negative; a heavy mass there must not make M indefinite."""
    mesh = fm.Mesh.box(SIZE, 1, cell=cell)
    elements = fm.Elements(mesh, SOFT, attachments=[fm.LumpedMass("x1", 500.0), fm.GroundSpring("x1", 500.0)])
    assert np.linalg.eigvalsh(elements.assemble(elements.mass()).toarray())[0] > 0
    assert np.linalg.eigvalsh(elements.assemble(elements.stiffness()).toarray())[0] > 0


def test_a_heavy_mass_on_a_bar_of_quadratic_bricks_swings_on_its_stiffness() -> None:
    """ω² = EA/mL for a mass much heavier than its bar; points on the face give a little more than a pressure."""
    mesh = fm.Mesh.box((1.0, 0.1, 0.1), (4, 1, 1), cell="hexahedron20")
    material = fm.Material(1e4, 0.0, 1e-3)
    elements = fm.Elements(mesh, material, attachments=[fm.LumpedMass("x1", 1.0)])
    modes = fm.modes(elements, fixed={"x0": "x", "all": "yz"}, count=1)
    assert modes.frequencies[0] * 2 * np.pi == pytest.approx(np.sqrt(1e4 * 0.01), rel=5e-3)
