"""Generated meshes against the geometry they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_measures import area, area_vector, outward_flux, volume

from flexmbs.errors import MeshError
from flexmbs.mesh import Mesh
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.generate import PLANE, SOLID
from flexmbs.mesh.integrals import face_geometry
from flexmbs.mesh.topology import group_faces

SIZE, ORIGIN = np.array([2.0, 3.0, 5.0]), np.array([1.0, -1.0, 0.5])


@pytest.mark.parametrize("cell", SOLID)
def test_box(cell: str) -> None:
    mesh = Mesh.box(SIZE, (2, 3, 4), cell, origin=ORIGIN)
    assert {b.type for b in mesh.cells} == {cell}
    assert volume(mesh) == pytest.approx(30.0, rel=1e-13)
    np.testing.assert_allclose(mesh.points.min(axis=0), ORIGIN)
    np.testing.assert_allclose(mesh.points.max(axis=0), ORIGIN + SIZE)
    # An internal face that two cells do not share would add to the boundary.
    assert area(mesh, mesh.boundary) == pytest.approx(2 * (6 + 10 + 15), rel=1e-13)
    assert mesh.problems() == []
    for axis, letter in enumerate("xyz"):
        for end in (0, 1):
            expected = np.zeros(3)
            expected[axis] = (2 * end - 1) * SIZE.prod() / SIZE[axis]
            np.testing.assert_allclose(area_vector(mesh, f"{letter}{end}"), expected, atol=1e-12)
            on_side = mesh.points[mesh.nodes(f"{letter}{end}"), axis]
            np.testing.assert_allclose(on_side, mesh.points[:, axis].max() if end else mesh.points[:, axis].min())


@pytest.mark.parametrize(("cell", "per_brick"), [("tetra", 6), ("pyramid", 6), ("wedge", 2), ("hexahedron", 1)])
def test_box_has_the_stated_number_of_cells(cell: str, per_brick: int) -> None:
    assert Mesh.box((1, 1, 1), (2, 3, 1), cell).n_cells == 6 * per_brick


@pytest.mark.parametrize("cell", PLANE)
def test_rectangle(cell: str) -> None:
    mesh = Mesh.rectangle((2.0, 3.0), (2, 3), cell, origin=(1.0, 1.0))
    assert volume(mesh) == pytest.approx(6.0, rel=1e-13)
    assert area(mesh, mesh.boundary) == pytest.approx(10.0, rel=1e-13)
    assert mesh.problems() == []
    for name, expected in {"x0": (-3, 0), "x1": (3, 0), "y0": (0, -2), "y1": (0, 2)}.items():
        np.testing.assert_allclose(area_vector(mesh, name), [*expected, 0], atol=1e-12)


@pytest.mark.parametrize("cell", ["line", "line3"])
def test_line(cell: str) -> None:
    mesh = Mesh.line((0, 0, 1), (1, 2, 3), 4, cell)
    assert volume(mesh) == pytest.approx(3.0)
    assert mesh.n_cells == 4
    np.testing.assert_array_equal(mesh.points[mesh.nodes("start")], [[0, 0, 1]])
    np.testing.assert_array_equal(mesh.points[mesh.nodes("end")], [[1, 2, 3]])


@pytest.mark.parametrize("cell", SOLID)
def test_cylinder_and_tube_converge_to_the_circle(cell: str) -> None:
    order = 2 * CELLS[cell].order  # error of the chord h², of the parabola through three points of a circle h⁴
    shapes = [
        (lambda n: Mesh.cylinder(0.5, 2.0, (n, 2, 2), cell=cell), np.pi * 0.25 * 2, 0.5 * np.pi + 2 * np.pi),
        (lambda n: Mesh.tube(0.5, 1.0, 2.0, (n, 2, 2), cell=cell), np.pi * 0.75 * 2, 1.5 * np.pi + 6 * np.pi),
    ]
    for make, exact, surface in shapes:
        coarse, fine = make(12), make(24)
        errors = [abs(volume(m) / exact - 1) for m in (coarse, fine)]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)
        assert area(fine, fine.boundary) == pytest.approx(surface, rel=0.02 if order == 2 else 2e-5)
        assert fine.problems() == []
        assert outward_flux(fine) == pytest.approx(3 * volume(fine), rel=1e-9)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_cylinder_sets(axis: str) -> None:
    mesh = Mesh.cylinder(0.5, 2.0, (16, 1, 3), axis=axis, cell="tetra10")
    k = "xyz".index(axis)
    for name, sign in (("start", -1), ("end", 1)):
        normal = area_vector(mesh, name)
        assert normal[k] == pytest.approx(sign * np.pi / 4, rel=1e-4)
        assert abs(np.delete(normal, k)).max() < 1e-12
    radius = np.linalg.norm(np.delete(mesh.points[mesh.nodes("outer")], k, axis=1), axis=1)
    np.testing.assert_allclose(radius, 0.5, rtol=1e-14)
    np.testing.assert_array_equal(mesh.nodes("outer"), mesh.nodes_on_cylinder(axis, 0.5))


def test_tube_bores_point_inwards() -> None:
    mesh = Mesh.tube(1.0, 2.0, 1.0, (16, 2, 2), cell="hexahedron20")
    for name, sign, radius in (("inner", -1, 1.0), ("outer", 1, 2.0)):
        for kind, nodes in group_faces(mesh.cells, mesh.faces(name)):
            _, x, normal = face_geometry(mesh.points, kind, nodes)
            assert (np.sign((x[..., :2] * normal[..., :2]).sum(axis=-1)) == sign).all()
        np.testing.assert_allclose(np.linalg.norm(mesh.points[mesh.nodes(name), :2], axis=1), radius)


@pytest.mark.parametrize("cell", PLANE)
def test_disc_and_ring(cell: str) -> None:
    tolerance = 0.01 if CELLS[cell].order == 1 else 1e-5
    for mesh, exact, edge in (
        (Mesh.disc(2.0, (28, 2), cell), 4 * np.pi, 4 * np.pi),
        (Mesh.ring(1.0, 2.0, (28, 2), cell), 3 * np.pi, 6 * np.pi),
    ):
        assert volume(mesh) == pytest.approx(exact, rel=tolerance)
        assert area(mesh, mesh.boundary) == pytest.approx(edge, rel=tolerance)
        assert mesh.problems() == []


def test_mapped_rectangle_follows_the_curve() -> None:
    quarter = Mesh.rectangle((1.0, np.pi / 2), (2, 6), "quad8", origin=(1.0, 0.0)).mapped(
        lambda r, angle, z: (r * np.cos(angle), r * np.sin(angle))
    )
    assert volume(quarter) == pytest.approx(3 * np.pi / 4, rel=1e-5)
    np.testing.assert_allclose(np.linalg.norm(quarter.points[quarter.nodes("x1")], axis=1), 2.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Mesh.box((1, 1, 1), 2, "brick"), "'brick'.*hexahedron20"),
        (lambda: Mesh.box((1, 1, 0), 2), "3 positive lengths"),
        (lambda: Mesh.box((1, 1, 1), (2, 0, 1)), "3 whole numbers of at least 1"),
        (lambda: Mesh.rectangle((1, 1), (2, 2, 2)), "2 whole numbers"),
        (lambda: Mesh.line((0, 0, 0), (0, 0, 0), 2), "same point"),
        (lambda: Mesh.cylinder(1.0, 1.0, (10, 1, 1)), "multiple of 4.*10"),
        (lambda: Mesh.cylinder(1.0, 0.0, (8, 1, 1)), "length must be positive"),
        (lambda: Mesh.cylinder(1.0, 1.0, (8, 1, 1), axis="w"), "'x', 'y' or 'z'"),
        (lambda: Mesh.tube(2.0, 1.0, 1.0), "inner 2.0, outer 1.0"),
    ],
)
def test_wrong_sizes_are_refused_in_words(make, words: str) -> None:
    with pytest.raises(MeshError, match=words):
        make()
