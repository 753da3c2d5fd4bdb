"""What a mesh holds, refuses and finds."""

from __future__ import annotations

import numpy as np
import pytest

from flexmbs.errors import MeshError
from flexmbs.mesh import Mesh

TETRA = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])


@pytest.fixture
def box() -> Mesh:
    return Mesh.box((2.0, 1.0, 1.0), (4, 2, 2)).with_cells("left", [0, 1, 2, 3])


# ---- construction ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ([[0, 0, np.nan], *TETRA[1:]], [("tetra", [[0, 1, 2, 3]])]),
            "1 nodes have coordinates that are not numbers.*node 0",
        ),
        (([[0, np.inf, 0], *TETRA[1:]], [("tetra", [[0, 1, 2, 3]])]), "not numbers"),
        ((np.zeros((3, 4)), []), r"\(nodes, 3\) or \(nodes, 2\), not \(3, 4\)"),
        ((TETRA, [("tet", [[0, 1, 2, 3]])]), "'tet' is not known.*tetra10"),
        ((TETRA, [("tetra", [[0, 1, 2]])]), r"\(cells, 4\) of node numbers, not \(1, 3\)"),
        ((TETRA, [("tetra", [[0.0, 1.0, 2.0, 3.0]])]), "integers, not float64"),
        ((TETRA, [("tetra", [[0, 1, 2, 4]])]), r"tetra cell 0 names node 4, but there are 4 nodes \(0 to 3\)"),
        ((TETRA, [("tetra", [[0, 1, 2, -1]])]), "names node -1"),
        ((TETRA, [("tetra", [[0, 1, 2, 3]]), ("triangle", [[0, 1, 2]])]), "1 tetra, 1 triangle.*dimension=3"),
        ((TETRA, [("tetra", [[0, 1, 2, 3]])], {"a": [7]}), "node set 'a': node 7 does not exist; there are 4"),
        ((TETRA, [("tetra", [[0, 1, 2, 3]])], {"a": [0.5]}), "must be integers"),
        ((TETRA, [("tetra", [[0, 1, 2, 3]])], {"a": [True, False]}), "mask"),
        ((TETRA, [("tetra", [[0, 1, 2, 3]])], None, {"c": [1]}), "cell set 'c': cell 1 does not exist"),
        ((TETRA, [("tetra", [[0, 1, 2, 3]])], None, None, {"f": [[0, 4]]}), "'f' names face 4 of cell 0"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(arguments, words: str) -> None:
    with pytest.raises(MeshError, match=words):
        Mesh(*arguments)


def test_nothing_can_be_changed(box: Mesh) -> None:
    with pytest.raises(AttributeError, match="edits return a new mesh"):
        box.points = np.zeros((1, 3))
    with pytest.raises(ValueError, match="read-only"):
        box.points[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        box.cells[0].nodes[0, 0] = 1
    with pytest.raises(TypeError):
        box.node_sets["a"] = np.array([0])  # type: ignore[index]


def test_a_mesh_does_not_hold_on_to_the_callers_arrays() -> None:
    points, nodes = TETRA.copy(), np.array([[0, 1, 2, 3]])
    mesh = Mesh(points, [("tetra", nodes)])
    points[:] = 7.0
    nodes[:] = 0
    np.testing.assert_array_equal(mesh.points, TETRA)
    np.testing.assert_array_equal(mesh.cells[0].nodes, [[0, 1, 2, 3]])


def test_sizes_and_words(box: Mesh) -> None:
    assert (box.n_nodes, box.n_cells, box.dimension, box.dofs_per_node, box.n_pieces) == (45, 16, 3, 3, 1)
    assert box.size == pytest.approx(np.sqrt(6))
    assert repr(box) == "<Mesh 'box': 45 nodes, 16 hexahedron, sets x0, x1, y0, y1, z0, z1, left>"
    assert Mesh([[0, 0], [1, 0], [0, 1]], [("triangle", [[0, 1, 2]])]).dofs_per_node == 2


# ---- sets -----------------------------------------------------------------------------------------------------


def test_nodes_of_sets_of_every_kind(box: Mesh) -> None:
    np.testing.assert_array_equal(box.nodes("x0"), np.flatnonzero(box.points[:, 0] == 0))
    np.testing.assert_array_equal(box.nodes("left"), np.flatnonzero(box.points[:, 0] <= 0.5))
    np.testing.assert_array_equal(box.nodes(["x0", "x1"]), np.flatnonzero(box.points[:, 0] % 2 == 0))
    np.testing.assert_array_equal(box.nodes([3, 1, 3]), [1, 3])
    np.testing.assert_array_equal(box.nodes(box.points[:, 0] == 0), box.nodes("x0"))
    np.testing.assert_array_equal(box.nodes(), np.arange(45))
    np.testing.assert_array_equal(box.cell_numbers("left"), [0, 1, 2, 3])


def test_faces_from_nodes_are_the_boundary_faces_they_make(box: Mesh) -> None:
    np.testing.assert_array_equal(box.faces(box.nodes("y1")), box.faces("y1"))
    named = box.with_nodes("top", lambda x, y, z: z == 1).with_faces("lid", "top")
    np.testing.assert_array_equal(named.faces("lid"), box.faces("z1"))
    with pytest.raises(MeshError, match="holds no boundary face"):
        box.faces([0, 1])


def test_unknown_names_suggest_near_ones() -> None:
    mesh = Mesh.connecting_rod().with_nodes("Big_End_Oil", [0])
    with pytest.raises(MeshError, match=r"no set 'bigend'\. Did you mean 'big_end'"):
        mesh.nodes("bigend")
    with pytest.raises(MeshError, match="'Big_End_Oil'"):
        mesh.nodes("BIG_END_OIL")
    with pytest.raises(MeshError, match=r"no cell set 'midspan'.*set of nodes or faces"):
        mesh.cell_numbers("midspan")
    with pytest.raises(MeshError, match=r"It has no sets; add one with with_nodes\(\)"):
        Mesh(TETRA, [("tetra", [[0, 1, 2, 3]])]).nodes("end")


@pytest.mark.parametrize("cell", ["tetra", "tetra10", "hexahedron20"])
def test_weights_are_shares_of_the_area(cell: str) -> None:
    mesh = Mesh.box((1, 2, 3), (2, 3, 2), cell).mapped(lambda x, y, z: (x, y**2, z))
    weights, nodes = mesh.weights("x1"), mesh.nodes("x1")
    assert weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(weights @ mesh.points[nodes], [1.0, 2.0, 1.5], rtol=1e-12)  # the centroid


def test_weights_of_what_is_no_surface_are_equal(box: Mesh) -> None:
    np.testing.assert_allclose(box.weights([0, 7, 9]), 1 / 3)


# ---- selecting ------------------------------------------------------------------------------------------------


def test_nodes_on_plane(box: Mesh) -> None:
    np.testing.assert_array_equal(box.nodes_on_plane("x", 0.5), np.flatnonzero(box.points[:, 0] == 0.5))
    normal = np.array([1.0, 1.0, 0.0])
    chosen = box.nodes_on_plane(normal, (1.0, 0.0, 7.0))
    np.testing.assert_array_equal(chosen, np.flatnonzero(np.isclose(box.points[:, 0] + box.points[:, 1], 1)))
    assert len(box.nodes_on_plane("x", 0.4, tolerance=0.11)) == 9
    with pytest.raises(MeshError, match=r"no node within .* of the plane at 0.4 along 'x'.* is 0.1 away"):
        box.nodes_on_plane("x", 0.4)
    with pytest.raises(MeshError, match="axis must be 'x', 'y', 'z' or a vector, not 'w'"):
        box.nodes_on_plane("w", 0.0)
    with pytest.raises(MeshError, match="not all zero"):
        box.nodes_on_plane((0, 0, 0), 0.0)


def test_nodes_on_cylinder() -> None:
    mesh = Mesh.tube(0.5, 1.0, 2.0, (12, 2, 3), axis="y", cell="tetra10").translated((1, 0, 0))
    np.testing.assert_array_equal(mesh.nodes_on_cylinder("y", 0.5, center=(1, 0, 0)), mesh.nodes("inner"))
    with pytest.raises(MeshError, match=r"cylinder of radius 0\.6"):
        mesh.nodes_on_cylinder("y", 0.6, center=(1, 0, 0))


def test_nearest_node_and_where(box: Mesh) -> None:
    node = box.nearest_node((1.9, 1.1, 0.6))
    np.testing.assert_array_equal(box.points[node], [2.0, 1.0, 0.5])
    assert box.nodes_where(lambda x, y, z: (x == 2) & (y == 1)).tolist() == [42, 43, 44]
    with pytest.raises(MeshError, match="no node fulfils the condition; the mesh spans"):
        box.nodes_where(lambda x, y, z: x > 3)
