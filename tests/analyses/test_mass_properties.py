"""Mass, mass centre and inertia against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import flexmbs as fm

STEEL = fm.Material(young=2e11, poisson=0.3, density=7800.0)


def brick(mass: float, size: tuple[float, float, float]) -> np.ndarray:
    a, b, c = np.square(size)
    return mass / 12 * np.diag([b + c, a + c, a + b])


def parallel(mass: float, arm: np.ndarray) -> np.ndarray:
    return mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))


@pytest.mark.parametrize("cell", ["tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "wedge15", "pyramid"])
def test_turned_and_moved_box(cell: str) -> None:
    size, centre = (1.0, 0.4, 0.3), np.array([2.0, -1.0, 0.5])
    box = fm.Mesh.box(size, (2, 1, 1), cell=cell, origin=(-0.5, -0.2, -0.15)).rotated((1, 2, 3), 0.7)
    found = fm.mass_properties(box.transformed(np.eye(3), centre), STEEL)
    e = np.array([1.0, 2.0, 3.0]) / np.sqrt(14)
    cross = np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
    turn = np.eye(3) + np.sin(0.7) * cross + (1 - np.cos(0.7)) * cross @ cross
    mass = 0.12 * 7800
    inertia = turn @ brick(mass, size) @ turn.T
    assert found.mass == pytest.approx(mass, rel=1e-12)
    np.testing.assert_allclose(found.center, centre, rtol=1e-12)
    np.testing.assert_allclose(found.inertia, inertia, atol=1e-10 * mass)
    np.testing.assert_allclose(found.inertia_origin, inertia + parallel(mass, centre), rtol=1e-11)
    moments, axes = found.principal
    np.testing.assert_allclose(moments, np.sort(np.diag(brick(mass, size))), rtol=1e-10)
    np.testing.assert_allclose(axes @ np.diag(moments) @ axes.T, found.inertia, atol=1e-9 * mass)
    assert np.linalg.det(axes) == pytest.approx(1.0)


@pytest.mark.parametrize("cell", ["hexahedron20", "tetra10"])
def test_cylinder_and_tube(cell: str) -> None:
    outer, inner, length = 0.1, 0.06, 0.5
    for mesh, hole in ((fm.Mesh.cylinder(outer, length, (16, 1, 2), cell=cell), 0.0),
                       (fm.Mesh.tube(inner, outer, length, (16, 1, 2), cell=cell), inner)):  # fmt: skip
        found = fm.mass_properties(mesh, STEEL)
        mass = 7800 * np.pi * (outer**2 - hole**2) * length
        polar = mass * (outer**2 + hole**2) / 2
        assert found.mass == pytest.approx(mass, rel=1e-3)
        np.testing.assert_allclose(found.center, [0, 0, length / 2], atol=1e-9)
        expected = np.diag([polar / 2 + mass * length**2 / 12] * 2 + [polar])
        np.testing.assert_allclose(found.inertia, expected, atol=2e-3 * expected.max())


@pytest.mark.parametrize("formulation", ["timoshenko", "euler_bernoulli"])
def test_beam_has_the_inertia_of_its_solid(formulation: str) -> None:
    """Rotary inertia included, whatever the number of elements and the direction."""
    along = np.array([2.0, 1.0, 2.0]) / 3
    up = np.array([1.0, 2.0, -2.0]) / 3
    across = np.cross(along, up)
    start = np.array([1.0, -0.5, 0.2])
    mesh = fm.Mesh.line(start, start + 1.5 * along, 3)
    section = fm.Section.rectangle(b=0.1, h=0.3)
    found = fm.mass_properties(mesh, STEEL, section=section, formulation=formulation, up=up)
    mass = 1.5 * 0.03 * 7800
    axes = np.column_stack([along, up, across])
    assert found.mass == pytest.approx(mass, rel=1e-12)
    np.testing.assert_allclose(found.center, start + 0.75 * along, rtol=1e-12)
    np.testing.assert_allclose(found.inertia, axes @ brick(mass, (1.5, 0.3, 0.1)) @ axes.T, atol=1e-10 * mass)


def test_bar_is_a_thin_rod() -> None:
    mesh = fm.Mesh.line((0, 0, 0), (0, 2, 0), 5)
    found = fm.mass_properties(mesh, STEEL, section=fm.Section(area=0.01), formulation="bar")
    np.testing.assert_allclose(found.inertia, 156.0 * 4 / 12 * np.diag([1.0, 0.0, 1.0]), atol=1e-10)


@pytest.mark.parametrize("cell", ["triangle", "triangle6", "quad", "quad8"])
def test_plane_part_is_a_lamina(cell: str) -> None:
    mesh = fm.Mesh.rectangle((1.0, 0.4), (3, 2), cell=cell, origin=(1.0, 2.0))
    found = fm.mass_properties(mesh, STEEL, thickness=0.01)
    assert found.mass == pytest.approx(31.2, rel=1e-12)
    np.testing.assert_allclose(found.center, [1.5, 2.2, 0.0], atol=1e-12)
    np.testing.assert_allclose(found.inertia, brick(31.2, (1.0, 0.4, 0.0)), atol=1e-10)


def test_lumped_masses_count() -> None:
    mesh = fm.Mesh.box((1.0, 0.4, 0.3), (2, 1, 1), origin=(-0.5, -0.2, -0.15))
    end = mesh.nearest_node((0.5, 0.2, 0.15))
    found = fm.mass_properties(mesh, STEEL, attachments=[fm.LumpedMass([end], 100.0)])
    body, arm = 0.12 * 7800, np.array([0.5, 0.2, 0.15])
    assert found.mass == pytest.approx(body + 100.0)
    np.testing.assert_allclose(found.center, 100 * arm / (body + 100))
    origin = brick(body, (1.0, 0.4, 0.3)) + parallel(100.0, arm)
    np.testing.assert_allclose(found.inertia_origin, origin, atol=1e-9)


def test_lumped_body_on_a_beam_brings_its_inertia() -> None:
    mesh = fm.Mesh.line((0, 0, 0), (1, 0, 0), 2)
    tensor = np.array([[3.0, 0.2, 0.1], [0.2, 2.0, 0.3], [0.1, 0.3, 2.5]])
    light = fm.Material(young=2e11, poisson=0.3, density=0.0)
    body = fm.LumpedMass("end", 10.0, tensor)
    found = fm.mass_properties(mesh, light, section=fm.Section.circle(0.1), attachments=[body])
    assert found.mass == pytest.approx(10.0)
    np.testing.assert_allclose(found.center, [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(found.inertia, tensor, atol=1e-12)


def test_point_mass_and_nothing_at_all() -> None:
    point = fm.Mesh([[1.0, 2.0, 3.0]], [("vertex", [[0]])])
    found = fm.mass_properties(point, attachments=fm.LumpedMass("all", 2.0))
    np.testing.assert_allclose(found.center, [1, 2, 3])
    np.testing.assert_allclose(found.inertia, 0.0, atol=1e-12)
    light = fm.Material(young=2e11, poisson=0.3, density=0.0)
    nothing = fm.mass_properties(fm.Mesh.box((1, 1, 1), 1), light)
    assert nothing.mass == 0.0
    assert not nothing.center.any()
