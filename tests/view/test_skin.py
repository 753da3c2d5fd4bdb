"""What is seen of a mesh: closed, outward, on the curved faces, and nothing of the inside."""

from __future__ import annotations

import numpy as np
import pytest

import flexmbs as fm
from flexmbs.view.camera import camera
from flexmbs.view.skin import sharp_edges, skin
from flexmbs.view.units import round_number, with_prefix

SOLIDS = ["tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "wedge15", "pyramid"]


@pytest.mark.parametrize("cell", SOLIDS)
def test_encloses_the_volume(cell: str) -> None:
    """Gauss: the outward triangles of a box enclose its volume, whatever the cell, and none is missing or doubled."""
    mesh = fm.Mesh.box((1.0, 0.5, 0.4), (2, 2, 2), cell=cell)
    part = skin(mesh)
    a, b, c = np.moveaxis(part.at(mesh.points)[part.triangles], 1, 0)
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6 == pytest.approx(0.2)
    every = np.sort(part.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    assert set(np.unique(every, axis=0, return_counts=True)[1]) == {2}  # closed: every edge has two triangles


@pytest.mark.parametrize("cell", ["tetra10", "hexahedron20"])
def test_curved_faces_look_curved(cell: str) -> None:
    """Points on the mantle of a quadratic cylinder lie far nearer to the true one than the chords of its corners."""
    mesh = fm.Mesh.cylinder(1.0, 1.0, (8, 1, 1), cell=cell)
    points = skin(mesh).at(mesh.points)
    mantle = points[np.hypot(points[:, 0], points[:, 1]) > 0.93]
    chord = 1 - np.cos(np.pi / 8)
    assert np.abs(np.hypot(mantle[:, 0], mantle[:, 1]) - 1).max() < 0.1 * chord


def test_values_are_interpolated() -> None:
    """A quadratic field is shown exactly by quadratic cells."""
    mesh = fm.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), cell="hexahedron20")
    part = skin(mesh)
    x, y, z = part.at(mesh.points).T
    nodal = mesh.points[:, 0] ** 2 + mesh.points[:, 1] * mesh.points[:, 2]
    np.testing.assert_allclose(part.at(nodal), x**2 + y * z, atol=1e-12)


def test_only_the_outside_is_shown() -> None:
    mesh = fm.Mesh.box((1.0, 1.0, 1.0), (3, 3, 3))
    part = skin(mesh)
    assert part.weights.shape == (4**3 - 2**3, 4**3)
    assert len(part.triangles) == 2 * 6 * 9


def test_nodes_at_one_place_stay_apart() -> None:
    """Two boxes that touch without sharing nodes may part, and so may their pictures."""
    one = fm.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), cell="tetra10")
    both = one.joined(one.translated((1.0, 0.0, 0.0)))
    assert len(skin(both).at(both.points)) == 2 * len(skin(one).at(one.points))


def test_sharp_edges_of_a_box_and_a_cylinder() -> None:
    mesh = fm.Mesh.box((1.0, 1.0, 1.0), (3, 3, 3), cell="tetra")
    part = skin(mesh)
    assert len(sharp_edges(part.at(mesh.points), part.triangles)) == 12 * 3
    mesh = fm.Mesh.cylinder(1.0, 2.0, (16, 1, 2), cell="hexahedron20")
    part = skin(mesh)
    sharp = sharp_edges(part.at(mesh.points), part.triangles)
    height = part.at(mesh.points)[sharp][:, :, 2]
    assert np.all(np.isclose(height, 0.0) | np.isclose(height, 2.0))  # the rims only
    assert len(sharp) == 2 * 16 * 4


def test_plane_and_line_meshes() -> None:
    plane = skin(fm.Mesh.rectangle((1.0, 1.0), (2, 2), cell="quad8"))
    assert len(plane.triangles) == 4 * 2 * 16
    line = skin(fm.Mesh.line((0, 0, 0), (1, 0, 0), 5))
    assert (len(line.triangles), len(line.edges)) == (0, 5)


def test_camera_sees_everything() -> None:
    rng = np.random.default_rng(7)
    points = rng.random((50, 3)) * [3.0, 1.0, 0.2]
    for look in (None, (1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (1.0, -2.0, 0.5)):
        seen = camera(points, look, plane=False).fitted(1.5)
        np.testing.assert_allclose(seen.axes @ seen.axes.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(seen.axes) == pytest.approx(1.0)  # not mirrored
        screen = seen.project(points)
        assert np.all(np.abs(screen[:, 0]) < seen.width / 2)
        assert np.all(np.abs(screen[:, 1]) < seen.height / 2)
    front = camera(points, (0.0, -1.0, 0.0), plane=False).axes
    np.testing.assert_allclose(front, [[1, 0, 0], [0, 0, 1], [0, -1, 0]], atol=1e-12)  # x to the right, z up
    np.testing.assert_allclose(camera(points, None, plane=True).axes, np.eye(3), atol=1e-12)
    with pytest.raises(fm.AnalysisError, match="look="):
        camera(points, (0.0, 0.0, 0.0), plane=False)


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [(2.5e8, "Pa", (250.0, "MPa")), (3e-5, "m", (30.0, "µm")), (4200.0, "m", (4200.0, "m")), (0.0, "Pa", (0.0, "Pa"))],
)
def test_prefixes(value: float, unit: str, shown: tuple[float, str]) -> None:
    values, name = with_prefix(np.array([0.0, value]), unit)
    assert (pytest.approx(values[1]), name) == shown


@pytest.mark.parametrize(("x", "below"), [(1.0, 1.0), (199.0, 100.0), (200.0, 200.0), (0.07, 0.05), (999.0, 500.0)])
def test_round_numbers(x: float, below: float) -> None:
    assert round_number(x) == pytest.approx(below)
