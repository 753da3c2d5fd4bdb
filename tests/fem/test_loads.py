"""Load vectors: resultants, work on linear fields, and equivalences between loads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flexmbs as fm
from flexmbs.fem.rigid import rigid_motions

STEEL = fm.Material(young=2e11, poisson=0.3, density=7800.0)
SOLIDS = ["tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "wedge15", "pyramid"]
PLANES = ["triangle", "triangle6", "quad", "quad8"]


def sheared_box(cell: str) -> fm.Mesh:
    """A parallelepiped away from the origin: volume 0.06, mass centre (1.55, 0.6, 0.35)."""
    box = fm.Mesh.box((1.0, 0.3, 0.2), (3, 2, 2), cell=cell, origin=(1.0, 0.4, 0.25))
    return box.mapped(lambda x, y, z: (x + (y - 0.4) / 3, y + (z - 0.25) / 2, z))


def resultant(elements: fm.Elements, load: Any, about: Any = (0.0, 0.0, 0.0)) -> np.ndarray:
    return rigid_motions(elements, np.asarray(about, dtype=float)).T @ load.vector(elements)


@pytest.mark.parametrize("cell", SOLIDS)
def test_resultants_of_every_load_on_a_solid(cell: str) -> None:
    mesh = sheared_box(cell)
    elements = fm.Elements(mesh, STEEL)
    mass, centre = 0.06 * 7800.0, np.array([1.55, 0.6, 0.35])
    weight = fm.Gravity((1.0, 2.0, -9.81))
    expected = mass * np.array([1.0, 2.0, -9.81])
    np.testing.assert_allclose(resultant(elements, weight), [*expected, *np.cross(centre, expected)], rtol=1e-10)
    # the face x1 is a parallelogram spanned by (0.1, 0.3, 0) and (0, 0.1, 0.2) from (2, 0.4, 0.25)
    area = np.cross([0.1, 0.3, 0.0], [0.0, 0.1, 0.2])
    middle = np.array([2.05, 0.6, 0.35])
    push = -3e5 * area
    np.testing.assert_allclose(
        resultant(elements, fm.Pressure("x1", 3e5)), [*push, *np.cross(middle, push)], rtol=1e-9, atol=1e-9
    )
    pull = np.array([1e4, -2e4, 3e4]) * np.linalg.norm(area)
    found = resultant(elements, fm.Traction("x1", (1e4, -2e4, 3e4)))
    np.testing.assert_allclose(found, [*pull, *np.cross(middle, pull)], rtol=1e-9)
    found = resultant(elements, fm.Force("x1", (10, -20, 30), moment=(1, 2, 3)))
    np.testing.assert_allclose(found, [10, -20, 30, *np.add(np.cross(middle, [10, -20, 30]), [1, 2, 3])], rtol=1e-9)
    found = resultant(elements, fm.Centrifugal((0, 0, 50.0)))
    np.testing.assert_allclose(found[:3], mass * 2500 * centre * [1, 1, 0], rtol=1e-10, atol=1e-6)
    assert abs(found[5]) < 1e-9 * np.abs(found).max()  # no moment about the axis
    found = resultant(elements, fm.Acceleration(angular=(0, 0, 7.0)))
    np.testing.assert_allclose(found[:3], -mass * np.cross([0, 0, 7.0], centre), rtol=1e-10, atol=1e-8)
    inertia = fm.mass_properties(elements).inertia_origin
    np.testing.assert_allclose(found[3:], -inertia @ [0, 0, 7.0], rtol=1e-10)


@pytest.mark.parametrize("cell", SOLIDS)
def test_pressure_on_a_closed_surface_has_no_resultant(cell: str) -> None:
    elements = fm.Elements(sheared_box(cell), STEEL)
    faces = [f"{axis}{end}" for axis in "xyz" for end in (0, 1)]
    total = sum(resultant(elements, fm.Pressure(name, 1e6)) for name in faces)
    np.testing.assert_allclose(total, 0.0, atol=1e-7)


def test_pressure_on_a_closed_curved_surface_has_no_resultant() -> None:
    elements = fm.Elements(fm.Mesh.cylinder(0.1, 0.3, (12, 1, 2), cell="hexahedron20"), STEEL)
    total = sum(resultant(elements, fm.Pressure(name, 1e6)) for name in ("start", "end", "outer"))
    np.testing.assert_allclose(total, 0.0, atol=1e-7)


@pytest.mark.parametrize("cell", SOLIDS)
def test_buoyancy_is_the_weight_of_the_displaced_fluid(cell: str) -> None:
    """p = -ρ g z all around lifts by ρ g V at the centroid (Archimedes), for any straight-sided mesh."""
    elements = fm.Elements(sheared_box(cell), STEEL)
    faces = [f"{axis}{end}" for axis in "xyz" for end in (0, 1)]
    total = sum(resultant(elements, fm.Pressure(name, lambda x, y, z: -9810.0 * z)) for name in faces)
    lift = np.array([0.0, 0.0, 9810.0 * 0.06])
    np.testing.assert_allclose(total, [*lift, *np.cross([1.55, 0.6, 0.35], lift)], rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("cell", PLANES)
def test_resultants_of_every_load_on_a_plane_part(cell: str) -> None:
    mesh = fm.Mesh.rectangle((2.0, 1.0), (3, 2), cell=cell, origin=(1.0, 0.5))
    elements = fm.Elements(mesh, STEEL, thickness=0.02)
    mass = 2.0 * 0.02 * 7800.0
    np.testing.assert_allclose(
        resultant(elements, fm.Gravity((0, -10))), [0, -10 * mass, -2.0 * 10 * mass], rtol=1e-11, atol=1e-10
    )
    np.testing.assert_allclose(resultant(elements, fm.Gravity((0, -10, 0)))[1], -10 * mass)
    np.testing.assert_allclose(
        resultant(elements, fm.Pressure("x1", 1e5)), [-2000.0, 0.0, 2000.0], rtol=1e-11, atol=1e-8
    )
    np.testing.assert_allclose(
        resultant(elements, fm.Traction("y1", (0.0, 1e5))), [0, 4000.0, 8000.0], rtol=1e-11, atol=1e-8
    )
    np.testing.assert_allclose(
        resultant(elements, fm.Force("x1", (3, 4), moment=5.0)), [3, 4, 3 * 4 - 1 * 3 + 5], rtol=1e-10
    )
    np.testing.assert_allclose(resultant(elements, fm.Force("x1", (0, 0), moment=(0, 0, 5.0)))[2], 5.0, rtol=1e-10)
    np.testing.assert_allclose(
        resultant(elements, fm.Centrifugal(10.0)), [100 * mass * 2, 100 * mass * 1, 0], rtol=1e-10, atol=1e-7
    )


def test_thickness_by_cell_set_counts_in_edge_loads() -> None:
    mesh = fm.Mesh.rectangle((2.0, 1.0), (2, 1)).with_cells("left", [0]).with_cells("right", [1])
    elements = fm.Elements(mesh, STEEL, thickness={"left": 0.1, "right": 0.3})
    np.testing.assert_allclose(resultant(elements, fm.Pressure("y1", 1.0))[:2], [0.0, -0.4], atol=1e-12)


@pytest.mark.parametrize("formulation", ["bar", "timoshenko", "euler_bernoulli"])
def test_resultants_on_lines(formulation: str) -> None:
    mesh = fm.Mesh.line((1, 2, 3), (2, 4, 5), 4)
    section = fm.Section.rectangle(0.02, 0.05)
    elements = fm.Elements(mesh, STEEL, section=section, formulation=formulation)
    mass, centre = 3.0 * 0.001 * 7800.0, np.array([1.5, 3.0, 4.0])
    pull = mass * np.array([0, 0, -9.81])
    np.testing.assert_allclose(
        resultant(elements, fm.Gravity()), [*pull, *np.cross(centre, pull)], rtol=1e-10, atol=1e-9
    )
    spun = resultant(elements, fm.Centrifugal((0, 0, 20.0)))
    np.testing.assert_allclose(spun[:3], mass * 400 * np.array([1.5, 3.0, 0.0]), rtol=1e-10, atol=1e-8)
    inertia = fm.mass_properties(elements).inertia_origin
    turned = resultant(elements, fm.Acceleration(angular=(1.0, 2.0, 3.0)))
    np.testing.assert_allclose(turned[3:], -inertia @ [1.0, 2.0, 3.0], rtol=1e-10)
    if formulation != "bar":
        found = resultant(elements, fm.Force("end", (1, 2, 3), moment=(4, 5, 6)), about=(2, 4, 5))
        np.testing.assert_allclose(found, [1, 2, 3, 4, 5, 6], atol=1e-12)


def test_traction_by_function_equals_the_same_pressure() -> None:
    elements = fm.Elements(sheared_box("tetra10"), STEEL)
    push = fm.Pressure("z1", lambda x, y, z: 1e5 * x * y).vector(elements)
    pull = fm.Traction("z1", lambda x, y, z: (0.0, 0.0, -1e5 * x * y)).vector(elements)
    np.testing.assert_allclose(push, pull, atol=1e-9 * np.abs(pull).max())
    constant = fm.Traction("z1", lambda x, y, z: (1.0, 2.0, 3.0)).vector(elements)
    np.testing.assert_allclose(constant, fm.Traction("z1", (1.0, 2.0, 3.0)).vector(elements), atol=1e-14)


def test_acceleration_of_the_frame_is_gravity_the_other_way() -> None:
    elements = fm.Elements(sheared_box("wedge15"), STEEL)
    a = np.array([1.0, -2.0, 3.0])
    np.testing.assert_allclose(fm.Acceleration(a).vector(elements), fm.Gravity(-a).vector(elements), rtol=1e-12)


@pytest.mark.parametrize("cell", ["hexahedron20", "tetra"])
def test_centrifugal_load_about_another_centre_is_that_of_the_moved_mesh(cell: str) -> None:
    mesh, centre, omega = sheared_box(cell), np.array([0.3, -0.2, 0.7]), np.array([3.0, 4.0, 12.0])
    moved = fm.Elements(mesh.transformed(np.eye(3), -centre), STEEL)
    found = fm.Centrifugal(omega, center=centre).vector(fm.Elements(mesh, STEEL))
    expected = fm.Centrifugal(omega).vector(moved)
    np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())


def test_centre_along_the_axis_does_not_matter_and_two_numbers_do_for_planes() -> None:
    elements = fm.Elements(sheared_box("hexahedron"), STEEL)
    one = fm.Centrifugal((0, 0, 9.0), center=(0.5, 0.1, 0.0)).vector(elements)
    other = fm.Centrifugal((0, 0, 9.0), center=(0.5, 0.1, 44.0)).vector(elements)
    np.testing.assert_allclose(one, other, atol=1e-9)
    plane = fm.Elements(fm.Mesh.rectangle((2.0, 1.0), (2, 1)), STEEL)
    np.testing.assert_allclose(resultant(plane, fm.Centrifugal(9.0, center=(1.0, 0.5)))[:2], 0.0, atol=1e-8)


def test_only_the_centrifugal_load_follows() -> None:
    elements = fm.Elements(sheared_box("hexahedron"), STEEL)
    spin = (0.0, 0.0, 9.0)
    for dead in (
        fm.Gravity(),
        fm.Pressure("x1", 1.0),
        fm.Force("x1", (1, 0, 0)),
        fm.Centrifugal(spin, softening=False),
    ):
        assert dead.stiffness(elements) is None
    softening = elements.assemble(fm.Centrifugal(spin).stiffness(elements))
    # the load of the displaced part is Q - K(ω) d
    rng = np.random.default_rng(7)
    d = 1e-3 * rng.standard_normal(elements.mesh.points.shape)
    expected = (81.0 * (elements.scalar_mass @ (elements.mesh.points + d)) * [1.0, 1.0, 0.0]).ravel()
    found = fm.Centrifugal(spin).vector(elements) - softening @ d.ravel()
    np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())
