"""Stress states of beams under inertia loads: the axial force as a parabola between the nodes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose

import flexmbs as fm
from flexmbs.fem.prestress import inertia_of, prestress

MATERIAL = fm.Material(200e9, 0.25, 7850.0)
SECTION = fm.Section.rectangle(0.02, 0.03)


def line(count: int, start: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> fm.Elements:
    end = np.add(start, (0.9, 0.6, -0.3))
    mesh = fm.Mesh.line(start, end, count)
    return fm.Elements(mesh, MATERIAL, section=SECTION, formulation="euler_bernoulli")


def state(elements: fm.Elements, load: object) -> np.ndarray:
    found = fm.statics(elements, loads=load, fixed="start")  # type: ignore[arg-type]
    return prestress(elements, found.displacement, *inertia_of([load]))[0]


@pytest.mark.parametrize(
    "load",
    [
        fm.Gravity((3.0, -4.0, 5.0)),
        fm.Acceleration((1.0, 2.0, -3.0), (40.0, -30.0, 20.0)),
        fm.Centrifugal((30.0, -20.0, 10.0), center=(0.3, 0.1, -0.2), softening=False),
    ],
    ids=lambda load: type(load).__name__,
)
def test_the_axial_force_is_that_of_everything_beyond(load: object) -> None:
    """N(s) at the ends and its mean in each element, by integrating the force along the rest of the beam."""
    elements = line(3)
    found = state(elements, load)
    start, end = elements.points[0], elements.points[-1]
    length = float(np.linalg.norm(end - start))
    axis = (end - start) / length
    a, w = inertia_of([load])
    force = -7850.0 * SECTION.area * np.array([axis @ (a + w @ start), axis @ w @ axis])  # per length: at 0, slope

    def normal(s: np.ndarray) -> np.ndarray:
        return force[0] * (length - s) + force[1] * (length**2 - s**2) / 2

    ends = np.linspace(0.0, length, 4)
    assert_allclose(found[:, 0, 0], normal(ends[:-1]), rtol=1e-8)
    assert_allclose(found[:, 2, 0], normal(ends[1:]), atol=1e-8 * abs(found[0, 0, 0]))
    middle = (ends[1:] + ends[:-1]) / 2
    simpson = (normal(ends[:-1]) + 4 * normal(middle) + normal(ends[1:])) / 6
    assert_allclose(found[:, 1, 0], simpson, rtol=1e-8)


def test_an_axis_elsewhere_is_a_part_elsewhere() -> None:
    omega, hub = (0.0, 0.0, 50.0), np.array([0.4, 0.2, 0.0])
    here = state(line(4), fm.Centrifugal(omega, center=-hub, softening=False))
    there = state(line(4, tuple(hub)), fm.Centrifugal(omega, softening=False))
    assert_allclose(here, there, atol=1e-9 * np.abs(there).max())


def test_a_column_under_its_own_weight_needs_few_elements() -> None:
    """Greenhill's column, q L = 7.8373 EI/L²: with four elements as exact as the bending shapes are."""
    mesh = fm.Mesh.line((0.0, 0.0, 0.0), (0.0, 0.0, 2.0), 4)
    elements = fm.Elements(mesh, MATERIAL, section=SECTION, formulation="euler_bernoulli")
    gravity = fm.Gravity((0.0, 0.0, -1.0))
    found = state(elements, gravity)
    held = fm.Projection.fix(elements, "start")
    k, k_g = (
        held.project(elements.assemble(b)).toarray()
        for b in (elements.stiffness(), elements.geometric_stiffness((found,)))
    )
    factor = 1 / scipy.linalg.eigh(-k_g, k, eigvals_only=True)[-1]
    exact = 7.83734744 * 200e9 * SECTION.Iy / (7850.0 * SECTION.area * 2.0**3)
    assert factor == pytest.approx(exact, rel=3e-4)


def test_forces_on_nodes_are_no_inertia() -> None:
    a, w = inertia_of([fm.Force("end", (1.0, 2.0, 3.0))])
    assert not a.any()
    assert not w.any()
    plane = inertia_of([fm.Centrifugal(5.0), fm.Acceleration((1.0, 2.0), 3.0)])
    assert_allclose(plane[0], [1.0, 2.0, 0.0])
    assert_allclose(plane[1], [[-25.0, -3.0, 0.0], [3.0, -25.0, 0.0], [0.0, 0.0, 0.0]])
