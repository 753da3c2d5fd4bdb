"""Incompatible modes: hexahedra and quads that bend without locking, distorted and nearly incompressible."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flexmbs as fm

E, LENGTH, HEIGHT = 1000.0, 10.0, 0.5


def slanted(mesh: fm.Mesh, amount: float, alternating: bool = True) -> fm.Mesh:
    """Inner cell walls leaning to and fro (trapezoids), or all the same way (parallelograms)."""
    x = mesh.points[:, 0]
    columns = np.unique(x.round(9))
    number = np.searchsorted(columns, x.round(9))
    inner = (number > 0) & (number < len(columns) - 1)
    lean = amount * (columns[1] - columns[0]) * np.where((number % 2 == 0) | (not alternating), 1.0, -1.0)
    shift = np.where(inner, lean * (mesh.points[:, 1] / HEIGHT - 0.5), 0.0)
    return mesh.replace(points=mesh.points + shift[:, None] * [1, 0, 0])


def tip_deflection(elements: fm.Elements) -> float:
    """Of a cantilever under a unit force per depth at its tip, as part of the beam's own."""
    end = elements.mesh.nodes("x1")
    force = np.zeros(elements.axes)
    force[1] = 1.0
    result = fm.statics(elements, loads=fm.Force("x1", force), fixed="x0")
    return float(result.displacement[end, 1].mean())


def beam_deflection(young: float, poisson: float, depth: float) -> float:
    second, area = depth * HEIGHT**3 / 12, depth * HEIGHT
    shear = E / (2 * (1 + poisson))
    return LENGTH**3 / (3 * young * second) + LENGTH / (5 / 6 * shear * area)


def ratio(
    dimension: int, formulation: str, lean: float, poisson: float, plane: str = "stress", alternating: bool = True
) -> float:
    """Computed over exact deflection."""
    material = fm.Material(E, poisson, 1.0)
    depth = 0.4
    options: dict[str, Any] = {"formulation": formulation}
    if dimension == 2:
        mesh = fm.Mesh.rectangle((LENGTH, HEIGHT), (20, 1))
        options |= {"thickness": depth, "plane": plane}
    else:
        mesh = fm.Mesh.box((LENGTH, HEIGHT, depth), (20, 1, 1))
    young = E / (1 - poisson**2) if plane == "strain" else E
    return tip_deflection(fm.Elements(slanted(mesh, lean, alternating), material, **options)) / beam_deflection(
        young, poisson, depth
    )


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize(("lean", "alternating"), [(0.0, True), (0.05, True), (0.5, False)])
def test_slender_cantilever_does_not_lock(dimension: int, lean: float, alternating: bool) -> None:
    """Parallelograms bend well; trapezoids of more than slight taper lock in any four-node element (MacNeal 1987)."""
    assert ratio(dimension, "incompatible", lean, 0.3, alternating=alternating) == pytest.approx(1.0, abs=0.02)
    assert ratio(dimension, "plain", lean, 0.3, alternating=alternating) < 0.9


def test_nearly_incompressible_plane_strain_does_not_lock() -> None:
    assert ratio(2, "incompatible", 0.0, 0.4999, "strain") == pytest.approx(1.0, abs=0.02)
    assert ratio(2, "incompatible", 0.05, 0.4999, "strain") == pytest.approx(1.0, abs=0.02)
    assert ratio(2, "plain", 0.0, 0.4999, "strain") < 0.1


def beam_of_bricks(poisson: float, formulation: str, moment: bool) -> float:
    """Deflection over the beam's, held at one end so that its section may change its shape."""
    depth, mesh = 0.4, fm.Mesh.box((LENGTH, HEIGHT, 0.4), (20, 1, 1))
    elements = fm.Elements(mesh, fm.Material(E, poisson, 1.0), formulation=formulation)
    corners = [mesh.nearest_node((0, 0, z)) for z in (0, depth)]
    fix = fm.Projection.fix
    held = fix(elements, "x0", "x") & fix(elements, corners, "y") & fix(elements, corners[:1], "z")
    second = depth * HEIGHT**3 / 12
    load: fm.Force | fm.Traction = fm.Force("x1", (0, 1.0, 0))
    expected = beam_deflection(E, poisson, depth)
    if moment:
        load = fm.Traction("x1", lambda x, y, z: (-(y - HEIGHT / 2) / second, 0 * y, 0 * y))
        expected = LENGTH**2 / (2 * E * second)
    result = fm.statics(elements, loads=load, fixed=held)
    return float(result.displacement[mesh.nodes("x1"), 1].mean() / expected)


@pytest.mark.parametrize("poisson", [0.3, 0.49, 0.4999])
def test_bricks_bend_exactly_under_a_moment_however_incompressible(poisson: float) -> None:
    assert beam_of_bricks(poisson, "incompatible", moment=True) == pytest.approx(1.0, abs=1e-6)
    assert beam_of_bricks(poisson, "plain", moment=True) < 0.7


@pytest.mark.parametrize(("poisson", "tolerance"), [(0.3, 0.002), (0.49, 0.005), (0.4999, 0.06)])
def test_bricks_under_a_tip_force(poisson: float, tolerance: float) -> None:
    """A moment that varies along a brick strains it bilinearly, which nine internal modes cannot make isochoric."""
    assert beam_of_bricks(poisson, "incompatible", moment=False) == pytest.approx(1.0, abs=tolerance)
    assert beam_of_bricks(poisson, "plain", moment=False) < 0.7


def test_one_brick_bends_exactly() -> None:
    """Pure bending of a single rectangular element: the internal mode supplies the curvature (Wilson's element)."""
    length, height = 2.0, 0.5
    mesh = fm.Mesh.rectangle((length, height), 1)
    x, y = mesh.points[:, 0], mesh.points[:, 1] - height / 2
    curvature = 0.3
    u = np.column_stack([-curvature * x * y, curvature * x**2 / 2]).ravel()
    exact = 0.5 * E * height**3 / 12 * curvature**2 * length
    energies = {}
    for formulation in ("incompatible", "plain"):
        elements = fm.Elements(mesh, fm.Material(E, 0.3, 1.0), formulation=formulation)
        energies[formulation] = 0.5 * u @ (elements.assemble(elements.stiffness()) @ u)
    assert energies["incompatible"] == pytest.approx(exact, rel=1e-12)
    assert energies["plain"] > 2 * exact


def test_incompatible_and_plain_agree_where_nothing_bends() -> None:
    """Internal modes do nothing under constant strain, on any shape."""
    mesh = slanted(fm.Mesh.box((2.0, HEIGHT, 0.4), (3, 1, 1)), 0.3)
    material = fm.Material(E, 0.3, 1.0)
    h = np.random.default_rng(7).normal(size=(3, 3))
    u = (mesh.points @ h.T).ravel()
    forces = []
    for formulation in ("incompatible", "plain"):
        elements = fm.Elements(mesh, material, formulation=formulation)
        forces.append(elements.assemble(elements.stiffness()) @ u)
    np.testing.assert_allclose(forces[0], forces[1], atol=1e-10 * np.abs(forces[1]).max())


def test_internal_modes_only_soften() -> None:
    mesh = slanted(fm.Mesh.box((2.0, HEIGHT, 0.4), (2, 1, 1)), 0.3)
    material = fm.Material(E, 0.3, 1.0)
    plain, soft = (fm.Elements(mesh, material, formulation=f) for f in ("plain", "incompatible"))
    difference = plain.assemble(plain.stiffness()) - soft.assemble(soft.stiffness())
    values = np.linalg.eigvalsh(difference.toarray())
    assert values[0] > -1e-10 * values[-1]
    assert values[-1] > 1e-3 * E


def test_formulations_of_other_cells_are_the_same() -> None:
    mesh = fm.Mesh.box((1.0, 0.8, 0.6), 1, cell="tetra10")
    one, other = (fm.Elements(mesh, fm.Material(E, 0.3, 1.0), formulation=f) for f in ("plain", "incompatible"))
    difference = one.assemble(one.stiffness()) - other.assemble(other.stiffness())
    assert abs(difference).max() == 0.0
