"""Edits keep the shape, the sets and the conformity of a mesh."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_measures import area, area_vector, outward_flux, volume

from flexmbs.errors import MeshError
from flexmbs.mesh import CellBlock, Mesh
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.generate import PLANE, SOLID
from flexmbs.mesh.integrals import cell_volumes

RNG = np.random.default_rng(7)


def distorted(cell: str) -> Mesh:
    """A box or rectangle of the cell, sheared and bent, with one set of each kind."""
    if CELLS[cell].dimension == 3:
        mesh = Mesh.box((1.0, 2.0, 1.0), (2, 2, 2), cell)
        mesh = mesh.mapped(lambda x, y, z: (x + 0.2 * y + 0.1 * x * z, y + 0.1 * x * y, z + 0.2 * x * y))
    else:
        mesh = Mesh.rectangle((1.0, 2.0), (2, 2), cell)
        mesh = mesh.mapped(lambda x, y, z: (x + 0.2 * y, y + 0.2 * x * y))
    mesh = mesh.with_nodes("edge", mesh.nodes("x0"))
    return mesh.with_cells("half", np.arange(mesh.n_cells // 2))


def measures(mesh: Mesh) -> np.ndarray:
    sets = [area(mesh, name) for name in sorted(mesh.face_sets)]
    return np.array([volume(mesh), area(mesh, mesh.boundary), volume(mesh.submesh("half")), *sets])


# ---- dividing and converting ----------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", SOLID + PLANE)
def test_refined(cell: str) -> None:
    mesh = distorted(cell)
    fine = mesh.refined()
    children = {1: 2, 2: 4, 3: 8}[CELLS[cell].dimension] if cell != "pyramid" else 10
    assert fine.n_cells == children * mesh.n_cells
    # Bent quadrilateral faces of linear cells are bilinear: their pieces cover them exactly only in the limit.
    np.testing.assert_allclose(measures(fine), measures(mesh), rtol=1e-9 if "tri" in cell or cell == "tetra" else 2e-3)
    assert volume(fine) == pytest.approx(volume(mesh), rel=1e-12)
    assert outward_flux(fine) == pytest.approx(CELLS[cell].dimension * volume(fine), rel=1e-9)
    assert fine.problems() == []
    np.testing.assert_array_equal(fine.nodes("edge"), fine.nodes("x0"))
    assert set(fine.sets) == set(mesh.sets)


def test_refined_line_and_set() -> None:
    mesh = Mesh.line((0, 0, 0), (1, 0, 0), 2, "line3").refined(2)
    assert mesh.n_cells == 8
    assert mesh.n_nodes == 17
    np.testing.assert_allclose(mesh.points[mesh.nodes("end")], [[1, 0, 0]])


def test_refined_tetrahedra_keep_their_shape() -> None:
    mesh = Mesh.box((1, 1, 1), 1, "tetra")
    assert mesh.refined(3).quality().scaled_jacobian.min() == pytest.approx(mesh.quality().scaled_jacobian.min())


def test_refined_quadratic_cells_stay_curved() -> None:
    mesh = Mesh.tube(1.0, 2.0, 1.0, (12, 1, 1), cell="hexahedron20")
    fine = mesh.refined()
    assert volume(fine) == pytest.approx(volume(mesh), rel=1e-12)
    radius = np.linalg.norm(fine.points[fine.nodes("outer"), :2], axis=1)
    # on the parabolas of the parents, which miss the circle by far less than chords (3.4e-2) do
    assert abs(radius / 2 - 1).max() < 3e-4
    straight = mesh.to_linear().refined()
    assert abs(np.linalg.norm(straight.points[straight.nodes("outer"), :2], axis=1) / 2 - 1).max() > 3e-2


def test_refined_zero_times_is_the_same_and_nonsense_is_refused() -> None:
    mesh = Mesh.box((1, 1, 1), 1)
    np.testing.assert_array_equal(mesh.refined(0).points, mesh.points)
    with pytest.raises(MeshError, match="whole number"):
        mesh.refined(-1)


@pytest.mark.parametrize("cell", [c for c in SOLID + PLANE if CELLS[c].order == 1 and c != "pyramid"])
def test_quadratic_and_back(cell: str) -> None:
    mesh = distorted(cell)
    quadratic = mesh.to_quadratic()
    assert {b.type for b in quadratic.cells} == {CELLS[cell].quadratic}
    np.testing.assert_allclose(measures(quadratic), measures(mesh), rtol=1e-6)
    assert volume(quadratic) == pytest.approx(volume(mesh), rel=1e-12)
    np.testing.assert_array_equal(quadratic.nodes("edge"), quadratic.nodes("x0"))
    for block in quadratic.cells:
        for a, b, middle in CELLS[block.type].edges:
            ends = quadratic.points[block.nodes[:, [a, b]]].mean(axis=1)
            np.testing.assert_allclose(quadratic.points[block.nodes[:, middle]], ends, atol=1e-14)
    back = quadratic.to_linear()
    np.testing.assert_array_equal(back.points, mesh.points)
    for old, new in zip(mesh.cells, back.cells, strict=True):
        np.testing.assert_array_equal(old.nodes, new.nodes)
    for name in mesh.node_sets:
        np.testing.assert_array_equal(mesh.node_sets[name], back.node_sets[name])
    np.testing.assert_array_equal(quadratic.to_quadratic().points, quadratic.points)


def test_pyramids_have_no_quadratic_form() -> None:
    with pytest.raises(MeshError, match=r"6 pyramid cells.*to_simplices\(\)"):
        Mesh.box((1, 1, 1), 1, "pyramid").to_quadratic()


@pytest.mark.parametrize("cell", SOLID + PLANE)
def test_to_simplices(cell: str) -> None:
    mesh = Mesh.box((1, 2, 3), (2, 2, 2), cell) if cell in SOLID else Mesh.rectangle((1, 2), (2, 2), cell)
    # Any numbering must give matching cuts.
    mesh = mesh.renumbered(RNG.permutation(mesh.n_nodes)).with_cells("half", np.arange(mesh.n_cells // 2))
    simple = mesh.to_simplices()
    shape = "tetra" if cell in SOLID else "triangle"
    assert {CELLS[b.type].shape for b in simple.cells} == {shape}
    assert {CELLS[b.type].order for b in simple.cells} == {CELLS[cell].order}
    np.testing.assert_allclose(measures(simple), measures(mesh), rtol=1e-12)
    assert simple.problems() == []


def test_to_simplices_of_mixed_shapes_conforms() -> None:
    box = Mesh.box((1, 1, 1), 2)
    mixed = box
    for cell, x in (("wedge", 1.0), ("pyramid", 2.0)):
        mixed = mixed.joined(Mesh.box((1, 1, 1), 2, cell, origin=(x, 0, 0)))
    mixed = mixed.merged_nodes()
    assert [b.type for b in mixed.cells] == ["hexahedron", "wedge", "pyramid"]
    simple = mixed.to_simplices()
    assert area(simple, simple.boundary) == pytest.approx(14.0)
    assert volume(simple) == pytest.approx(3.0)
    assert area(simple, "x1") == pytest.approx(3.0)


def test_curved_cells_keep_their_volume_as_simplices() -> None:
    mesh = Mesh.cylinder(1.0, 1.0, (12, 1, 1), cell="hexahedron20")
    assert volume(mesh.to_simplices()) == pytest.approx(volume(mesh), rel=1e-6)
    assert mesh.to_simplices().n_nodes > mesh.n_nodes


# ---- moving ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", SOLID)
def test_rigid_motion_keeps_measures(cell: str) -> None:
    mesh = distorted(cell)
    moved = mesh.rotated((1, 2, 3), 0.7, center=(1, 0, 0)).translated((3, 4, 5))
    np.testing.assert_allclose(measures(moved), measures(mesh), rtol=1e-12)
    distances = [np.linalg.norm(m.points[1:] - m.points[:-1], axis=1) for m in (mesh, moved)]
    np.testing.assert_allclose(*distances, rtol=1e-12)


def test_rotation_turns_as_the_right_hand_says() -> None:
    mesh = Mesh.line((1, 0, 0), (2, 0, 0), 1).rotated("z", np.pi / 2)
    np.testing.assert_allclose(mesh.points, [[0, 1, 0], [0, 2, 0]], atol=1e-15)
    turned = Mesh.line((1, 0, 0), (2, 0, 0), 1).rotated("y", np.pi / 2, center=(1, 0, 0))
    np.testing.assert_allclose(turned.points, [[1, 0, 0], [1, 0, -1]], atol=1e-15)


@pytest.mark.parametrize("cell", SOLID + PLANE)
def test_reflection_turns_the_cells(cell: str) -> None:
    mesh = distorted(cell)
    mirrored = mesh.transformed(np.diag([-1.0, 1.0, 1.0]), (1.0, 0.0, 0.0))
    np.testing.assert_allclose(measures(mirrored), measures(mesh), rtol=1e-12)
    for name in mesh.face_sets:
        np.testing.assert_allclose(area_vector(mirrored, name), area_vector(mesh, name) * [-1, 1, 1], atol=1e-12)
        np.testing.assert_array_equal(mirrored.nodes(name), mesh.nodes(name))
    assert mirrored.problems() == []


def test_scaled_and_mapped() -> None:
    mesh = Mesh.box((1, 1, 1), 2, "tetra10")
    assert volume(mesh.scaled(1e-3)) == pytest.approx(1e-9)
    assert volume(mesh.scaled((1, 2, 3))) == pytest.approx(6)
    assert volume(mesh.mapped(lambda x, y, z: (x + y, y, 2 * z))) == pytest.approx(2)
    with pytest.raises(MeshError, match="positive; mirror with transformed"):
        mesh.scaled(-1)
    with pytest.raises(MeshError, match="no rotation"):
        mesh.transformed(np.diag([1, 2, 1]))
    with pytest.raises(MeshError, match="two or three coordinates, not 1"):
        mesh.mapped(lambda x, y, z: (x,))


@pytest.mark.parametrize("cell", SOLID + PLANE)
def test_oriented_repairs_reversed_cells(cell: str) -> None:
    good = distorted(cell)
    mirror = good.replace(points=good.points * [-1, 1, 1])  # inside out, without turning the cells
    assert volume(mirror) == pytest.approx(-volume(good))
    repaired = mirror.oriented()
    assert volume(repaired) == pytest.approx(volume(good), rel=1e-12)
    assert repaired.problems() == []
    np.testing.assert_allclose(area_vector(repaired, "y1"), area_vector(good, "y1") * [-1, 1, 1], atol=1e-12)
    again = repaired.oriented()
    for old, new in zip(repaired.cells, again.cells, strict=True):
        np.testing.assert_array_equal(old.nodes, new.nodes)


# ---- nodes and cells ------------------------------------------------------------------------------------------


def test_joined_and_merged() -> None:
    left, right = Mesh.box((1, 1, 1), 2), Mesh.box((1, 1, 1), 2, origin=(1, 0, 0))
    two = left.joined(right)
    assert (two.n_nodes, two.n_pieces, len(two.cells)) == (54, 2, 1)
    one = two.merged_nodes()
    assert (one.n_nodes, one.n_pieces) == (45, 1)
    assert volume(one) == pytest.approx(2.0)
    assert area(one, one.boundary) == pytest.approx(10.0)
    assert area(one, "y0") == pytest.approx(2.0)  # sets of the same name are united
    np.testing.assert_allclose(one.points[one.nodes("y0"), 1], 0.0)


def test_merging_takes_a_tolerance_and_refuses_to_collapse_cells() -> None:
    gap = Mesh.box((1, 1, 1), 2).joined(Mesh.box((1, 1, 1), 2, origin=(1.001, 0, 0)))
    assert gap.merged_nodes().n_nodes == 54
    assert gap.merged_nodes(tolerance=2e-3).n_nodes == 45
    with pytest.raises(MeshError, match=r"collapse 16 hexahedron cells, the first is cell 0.*tolerance"):
        gap.merged_nodes(tolerance=0.6)


def test_joined_keeps_cells_of_one_type_in_one_block() -> None:
    mixed = Mesh.box((1, 1, 1), 1, "wedge").with_cells("a", "all")
    mixed = mixed.joined(Mesh.box((1, 1, 1), 1, origin=(2, 0, 0)))
    mixed = mixed.joined(Mesh.box((1, 1, 1), 1, "wedge", origin=(4, 0, 0)).with_cells("b", "all"))
    assert [(b.type, len(b)) for b in mixed.cells] == [("wedge", 4), ("hexahedron", 1)]
    assert mixed.points[mixed.nodes("b"), 0].min() == 4.0
    assert area(mixed, "x1") == pytest.approx(3.0)


def test_renumbered() -> None:
    mesh = distorted("tetra10")
    order = RNG.permutation(mesh.n_nodes)
    other = mesh.renumbered(order)
    np.testing.assert_array_equal(other.points, mesh.points[order])
    np.testing.assert_allclose(measures(other), measures(mesh), rtol=1e-12)
    np.testing.assert_array_equal(other.nodes("edge"), other.nodes("x0"))
    with pytest.raises(MeshError, match=f"each of the {mesh.n_nodes} nodes once"):
        mesh.renumbered(np.zeros(mesh.n_nodes, dtype=int))


def test_without_unattached_nodes() -> None:
    mesh = Mesh(
        [[9, 9, 9], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [("tetra", [[1, 2, 3, 4]])], {"far": [0], "o": [1]}
    )
    clean = mesh.without_unattached_nodes()
    assert clean.n_nodes == 4
    assert clean.sets == ("o",)
    np.testing.assert_array_equal(clean.points[clean.nodes("o")], [[0, 0, 0]])
    assert volume(clean) == pytest.approx(1 / 6)


def test_submesh() -> None:
    mesh = Mesh.box((4, 1, 1), (4, 1, 1), "wedge").joined(Mesh.box((1, 1, 1), 1, origin=(4, 0, 0))).merged_nodes()
    part = mesh.submesh([6, 7, 8])  # the last two wedges and the hexahedron
    assert [(b.type, len(b)) for b in part.cells] == [("wedge", 2), ("hexahedron", 1)]
    assert volume(part) == pytest.approx(2.0)
    assert part.points[:, 0].min() == pytest.approx(3.0)
    assert area(part, "y0") == pytest.approx(2.0)
    assert part.problems() == []
    assert set(mesh.submesh([0]).face_sets) < set(mesh.face_sets)
    with pytest.raises(MeshError, match="no cells are chosen"):
        mesh.submesh([])


def test_without_duplicate_cells() -> None:
    mesh = Mesh.box((2, 1, 1), (2, 1, 1))
    nodes = mesh.cells[0].nodes
    doubled = mesh.replace(
        cells=[CellBlock("hexahedron", np.concatenate([nodes, nodes[:1, [1, 2, 3, 0, 5, 6, 7, 4]]]))]
    )
    single = doubled.without_duplicate_cells()
    np.testing.assert_array_equal(single.cells[0].nodes, nodes)


def test_straightened() -> None:
    mesh = Mesh.box((1, 1, 1), 1, "tetra10")
    points = mesh.points.copy()
    a, b, middle = CELLS["tetra10"].edges[0]
    bent = mesh.cells[0].nodes[0]
    points[bent[middle]] = 0.02 * points[bent[a]] + 0.98 * points[bent[b]]
    wrong = mesh.replace(points=points)
    assert [p.kind for p in wrong.problems()] == ["curved cells"]
    np.testing.assert_allclose(wrong.straightened().points, mesh.points, atol=1e-15)
    assert mesh.straightened() is mesh


def test_edits_leave_the_mesh_alone() -> None:
    mesh = distorted("hexahedron")
    before = mesh.points.copy(), mesh.cells[0].nodes.copy()
    mesh.refined(), mesh.oriented(), mesh.to_simplices(), mesh.merged_nodes(), mesh.scaled(2)
    np.testing.assert_array_equal(mesh.points, before[0])
    np.testing.assert_array_equal(mesh.cells[0].nodes, before[1])


def test_volumes_of_refined_cells_add_up_cell_by_cell() -> None:
    mesh = distorted("tetra10")
    fine = mesh.refined()
    block, children = mesh.cells[0], fine.cells[0]
    summed = cell_volumes(fine.points, children.type, children.nodes).reshape(-1, 8).sum(axis=1)
    np.testing.assert_allclose(summed, cell_volumes(mesh.points, block.type, block.nodes), rtol=1e-12)
