"""Every check with a mesh that has exactly that defect, and the cure that its message names."""

from __future__ import annotations

import numpy as np
import pytest

from flexmbs.errors import MeshError
from flexmbs.mesh import CellBlock, Mesh
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.generate import PLANE, SOLID

TETRA = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])


def kinds(mesh: Mesh) -> list[str]:
    return [p.kind for p in mesh.problems()]


@pytest.mark.parametrize("cell", SOLID + PLANE)
def test_good_meshes_pass(cell: str) -> None:
    mesh = Mesh.box((1, 1, 1), 2, cell) if cell in SOLID else Mesh.rectangle((1, 1), 2, cell)
    assert mesh.problems() == []
    assert mesh.check() is mesh


@pytest.mark.parametrize("cell", SOLID + PLANE)
def test_inverted_cells(cell: str) -> None:
    mesh = Mesh.box((1, 1, 1), 2, cell) if cell in SOLID else Mesh.rectangle((1, 1), 2, cell)
    mirror = mesh.replace(points=mesh.points * [-1, 1, 1], name="part.msh")
    (problem,) = mirror.problems()
    assert problem.kind == "inverted cells"
    np.testing.assert_array_equal(problem.cells, np.arange(mesh.n_cells))
    with pytest.raises(MeshError, match=r"part\.msh: cells 0, 1, 2, 3.*inside out.*mesh\.oriented\(\)"):
        mirror.check()
    assert mirror.oriented().problems() == []


def test_one_inverted_cell_among_good_ones_is_named() -> None:
    mesh = Mesh.box((1, 1, 1), 2, "tetra")
    nodes = mesh.cells[0].nodes.copy()
    nodes[17] = nodes[17, [1, 0, 2, 3]]
    (problem,) = mesh.replace(cells=[("tetra", nodes)]).problems()
    assert "cell 17 is inside out" in problem.message


def test_flat_cells() -> None:
    points = TETRA.copy()
    points[3] = [0.3, 0.3, 0.0]
    flat = Mesh(points, [("tetra", [[0, 1, 2, 3]])])
    assert kinds(flat) == ["degenerate cells"]
    with pytest.raises(MeshError, match=r"cell 0 is flat, without volume"):
        flat.check()
    # A thin cell is no flat one, whatever the units.
    points[3, 2] = 1e-3
    assert kinds(Mesh(points, [("tetra", [[0, 1, 2, 3]])])) == []
    assert kinds(Mesh(points * 1e-6, [("tetra", [[0, 1, 2, 3]])])) == []


def test_curved_cells_are_told_from_distorted_ones() -> None:
    mesh = Mesh(TETRA, [("tetra", [[0, 1, 2, 3]])]).to_quadratic()
    points = mesh.points.copy()
    points[mesh.cells[0].nodes[0, 4]] = [0.9, 0.0, 0.0]  # beyond the quarter point the Jacobian changes sign
    bent = mesh.replace(points=points)
    assert kinds(bent) == ["curved cells"]
    with pytest.raises(MeshError, match=r"cell 0 is curved.*mesh\.straightened\(\)"):
        bent.check()
    assert bent.straightened().problems() == []
    points[mesh.cells[0].nodes[0, 4]] = [0.6, 0.05, 0.0]
    assert kinds(mesh.replace(points=points)) == []


def test_distorted_cells() -> None:
    arrow = Mesh([[0, 0], [1, 0], [0.2, 0.2], [0, 1]], [("quad", [[0, 1, 2, 3]])])
    assert kinds(arrow) == ["distorted cells"]
    with pytest.raises(MeshError, match=r"cell 0 is distorted.*Mesh again"):
        arrow.check()
    hexahedron = Mesh.box((1, 1, 1), 1)
    points = hexahedron.points.copy()
    points[hexahedron.cells[0].nodes[0, 6]] = [0.2, 0.2, 0.2]
    assert kinds(hexahedron.replace(points=points)) == ["distorted cells"]


def test_collapsed_cells() -> None:
    mesh = Mesh([[0, 0], [1, 0], [1, 1]], [("quad", [[0, 1, 2, 2]])])
    assert "repeated nodes" in kinds(mesh)
    with pytest.raises(MeshError, match="cell 0 names a node twice"):
        mesh.check()


def test_duplicate_cells() -> None:
    mesh = Mesh.box((2, 1, 1), (2, 1, 1), "hexahedron")
    nodes = mesh.cells[0].nodes
    doubled = mesh.replace(cells=[CellBlock("hexahedron", np.concatenate([nodes, nodes[1:]]))])
    problem = doubled.problems()[0]
    assert problem.kind == "duplicate cells"
    np.testing.assert_array_equal(problem.cells, [2])
    with pytest.raises(MeshError, match=r"cell 2 has the same nodes.*without_duplicate_cells\(\)"):
        doubled.check()
    assert doubled.without_duplicate_cells().problems() == []


def test_overlapping_cells() -> None:
    # Three tetrahedra on one triangle.
    points = [*TETRA, [0.0, 0.0, -1.0], [0.1, 0.1, 1.2]]
    mesh = Mesh(points, [("tetra", [[0, 1, 2, 3], [0, 2, 1, 4], [0, 1, 2, 5]])])
    (problem,) = mesh.problems()
    assert problem.kind == "overlapping cells"
    assert "1 face(s) belong to more than two cells" in problem.message
    np.testing.assert_array_equal(problem.cells, [0, 1, 2])


def test_linear_beside_quadratic_cells() -> None:
    mesh = Mesh.box((2, 1, 1), (2, 1, 1))
    part = mesh.to_quadratic()
    mixed = part.replace(cells=[("hexahedron", part.cells[0].nodes[:1, :8]), ("hexahedron20", part.cells[0].nodes[1:])])
    mixed = mixed.without_unattached_nodes()
    (problem,) = mixed.problems()
    assert (problem.kind, problem.severity) == ("mixed orders", "warning")
    assert "1 face(s) lie between a linear and a quadratic cell" in problem.message
    assert "mesh.to_quadratic()" in problem.message
    assert mixed.to_linear().problems() == []


def test_unattached_nodes() -> None:
    mesh = Mesh([*TETRA, [5, 5, 5]], [("tetra", [[0, 1, 2, 3]])], name="rod.inp")
    with pytest.raises(MeshError, match=r"rod\.inp: node 4 belongs to no cell.*without_unattached_nodes\(\)"):
        mesh.check()
    assert mesh.without_unattached_nodes().problems() == []


def test_coincident_nodes_and_pieces_are_warnings() -> None:
    mesh = Mesh.box((1, 1, 1), 1).joined(Mesh.box((1, 1, 1), 1, origin=(1, 0, 0)))
    assert mesh.check() is mesh  # a gap may be meant
    coincident, pieces = mesh.problems()
    assert (coincident.kind, coincident.severity) == ("coincident nodes", "warning")
    assert len(coincident.nodes) == 4
    assert "mesh.merged_nodes()" in coincident.message
    assert (pieces.kind, pieces.severity) == ("several pieces", "warning")
    assert "in 2 pieces that do not touch, of 1, 1 cells" in pieces.message
    assert mesh.merged_nodes().problems() == []


def test_errors_come_before_warnings() -> None:
    mesh = Mesh.box((1, 1, 1), 1).joined(Mesh.box((1, 1, 1), 1, origin=(2, 0, 0)))
    mesh = mesh.replace(points=[*mesh.points, [9, 9, 9]])
    assert kinds(mesh) == ["unattached nodes", "several pieces"]


def test_a_mesh_without_cells() -> None:
    with pytest.raises(MeshError, match="there are no cells"):
        Mesh(np.zeros((0, 3)), []).check()


@pytest.mark.parametrize(
    ("mesh", "words"),
    [
        (Mesh.rectangle((1, 1), 2), r"plane or surface mesh \(4 quad\), but modes\(\) needs solid cells"),
        (Mesh.line((0, 0, 0), (1, 0, 0), 2), r"line mesh \(2 line\)"),
    ],
)
def test_a_solid_is_needed(mesh: Mesh, words: str) -> None:
    with pytest.raises(MeshError, match=words):
        mesh.require_solid("modes()")
    solid = Mesh.box((1, 1, 1), 1)
    assert solid.require_solid() is solid


def test_long_lists_of_cells_are_cut_short() -> None:
    mesh = Mesh.box((1, 1, 1), 3)
    problem = mesh.replace(points=mesh.points * [1, 1, -1]).problems()[0]
    assert "cells 0, 1, 2, 3, 4 and 22 more are inside out" in problem.message
    assert str(problem) == problem.message


# ---- quality --------------------------------------------------------------------------------------------------


def regular(cell: str) -> Mesh:
    """One cell with all edges equal."""
    height = np.sqrt(3) / 2
    triangle = np.array([[0, 0, 0], [1, 0, 0], [0.5, height, 0]])
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]])
    up = np.array([0, 0, 1.0])
    corners = {
        "triangle": triangle,
        "quad": square,
        "tetra": np.vstack([triangle, [0.5, height / 3, np.sqrt(2 / 3)]]),
        "hexahedron": np.vstack([square, square + up]),
        "wedge": np.vstack([triangle, triangle + up]),
        "pyramid": np.vstack([square, [0.5, 0.5, np.sqrt(0.5)]]),
    }[CELLS[cell].shape]
    mesh = Mesh(corners, [(CELLS[cell].shape, [np.arange(len(corners))])])
    return mesh if CELLS[cell].order == 1 else mesh.to_quadratic()


@pytest.mark.parametrize("cell", SOLID + PLANE)
def test_regular_cells_have_quality_one(cell: str) -> None:
    quality = regular(cell).quality()
    np.testing.assert_allclose(quality.scaled_jacobian, 1.0)
    np.testing.assert_allclose(quality.aspect, 1.0)


def test_quality_of_known_shapes() -> None:
    sheared = Mesh([[0, 0], [2, 0], [3, 1], [1, 1]], [("quad", [[0, 1, 2, 3]])]).quality()
    np.testing.assert_allclose(sheared.scaled_jacobian, np.sin(np.pi / 4))
    np.testing.assert_allclose(sheared.aspect, 2 / np.sqrt(2))
    # A corner tetrahedron of a cube: right angles at one corner, cells inside out count as negative.
    corner = Mesh(TETRA, [("tetra", [[0, 1, 2, 3], [1, 0, 2, 3]])]).quality()
    least = 1 / (np.sqrt(2) * np.sqrt(2)) * np.sqrt(2)  # at the other corners: edges 1, √2, √2
    np.testing.assert_allclose(corner.scaled_jacobian[0], least)
    assert corner.scaled_jacobian[1] < 0
