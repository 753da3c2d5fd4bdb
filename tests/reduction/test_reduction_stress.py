"""Stress of reduced parts at chosen nodes, with static correction, and envelopes over time."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from parts import beam, loaded, plane, solid

import flexmbs as fm
from flexmbs.errors import ModelError
from flexmbs.fem.stress import strain, stress
from flexmbs.reduction import CraigBampton, ModalTruncation, Part, inertia_factors, reduce, strain_gauges, stress_modes

RNG = np.random.default_rng(7)


@pytest.mark.parametrize("make", [solid, loaded, plane])
def test_stress_modes_give_the_nodal_stress_of_the_full_field(make: object) -> None:
    elements = make()  # type: ignore[operator]
    part = reduce(elements, CraigBampton(3), interfaces=["x0", "x1"], stiffening=False)
    modes = stress_modes(part, "x0")
    d = RNG.normal(size=(4, part.size))
    for row, found, mises in zip(d, modes.at(d), modes.equivalent(d), strict=True):
        field = stress(elements, part.displacement(row))
        exact = field.nodal[elements.nodes("x0")]
        assert_allclose(found, exact, atol=1e-9 * np.abs(exact).max())
        assert_allclose(mises, field.von_mises[elements.nodes("x0")], rtol=1e-9)


def test_fibre_stress_of_beams() -> None:
    elements = beam()
    part = reduce(elements, CraigBampton(3), interfaces=["x0", "x1"], stiffening=False)
    modes = stress_modes(part, [0, 3, 8])
    d = RNG.normal(size=(2, part.size))
    for row, found in zip(d, modes.equivalent(d), strict=True):
        exact = stress(elements, part.displacement(row)).nodal[[0, 3, 8]]
        assert_allclose(found, exact, rtol=1e-9)


@pytest.mark.parametrize("make", [solid, plane, beam])
def test_static_correction_makes_the_stress_of_inertia_loads_exact(make: object) -> None:
    elements = make()  # type: ignore[operator]
    part = reduce(elements, ModalTruncation(3), fixed="x0", stiffening=False)
    modes = stress_modes(part)
    a, epsilon, omega = np.array([3.0, 4.0, 0.0]), np.array([0.0, 0.0, 9.0]), np.array([0.0, 0.0, 7.0])
    factors = np.zeros(part.cases.loads.shape[1])
    factors[:12] = inertia_factors(a, epsilon, omega)
    d = part.cases.loads @ factors / part.constants.stiffness
    state = fm.statics(
        elements, loads=[fm.Acceleration(a, epsilon), fm.Centrifugal(omega, softening=False)], fixed="x0"
    )
    exact = state.stress.nodal if make is beam else state.stress.von_mises  # type: ignore[union-attr]
    assert_allclose(modes.equivalent(d, factors), exact, atol=1e-7 * exact.max())
    assert np.abs(modes.equivalent(d) - exact).max() > 1e-3 * exact.max()  # without it three modes do not suffice


def test_the_envelope_is_the_largest_over_time_and_when(monkeypatch: pytest.MonkeyPatch) -> None:
    part = reduce(solid(), CraigBampton(3), interfaces=["x0", "x1"], stiffening=False)
    modes = stress_modes(part, "y0")
    d = RNG.normal(size=(101, part.size))
    every = modes.equivalent(d)
    monkeypatch.setattr("flexmbs.reduction.recovery.CHUNK", 6 * len(modes.nodes) * 7)  # seven times at once
    found = modes.envelope(d)
    assert_allclose(found.largest, every.max(axis=0))
    assert (found.when == every.argmax(axis=0)).all()


@pytest.mark.parametrize("make", [solid, plane])
def test_strain_gauges_measure_the_strain_along_them(make: object) -> None:
    elements = make()  # type: ignore[operator]
    part = reduce(elements, CraigBampton(3), fixed="x0", interfaces=["x1"], stiffening=False)
    nodes, along = [5, 9, 5], np.array([[1.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
    gauges = strain_gauges(part, nodes, along)
    d = RNG.normal(size=part.size)
    nodal = strain(elements, part.displacement(d)).nodal[nodes]
    for found, voigt, n in zip(gauges.at(d), nodal, along / np.linalg.norm(along, axis=1)[:, None], strict=True):
        xx, yy, zz, yz, zx, xy = voigt
        tensor = np.array([[xx, xy / 2, zx / 2], [xy / 2, yy, yz / 2], [zx / 2, yz / 2, zz]])
        assert found == pytest.approx(n @ tensor @ n)
    assert gauges.at(np.tile(d, (7, 1)), np.zeros((7, len(part.cases.names)))).shape == (7, 3)
    with pytest.raises(ModelError, match="node numbers"):
        strain_gauges(part, [10**6], (1.0, 0.0, 0.0))
    with pytest.raises(ModelError, match="not all zero"):
        strain_gauges(part, [1], (0.0, 0.0, 0.0))
    with pytest.raises(ModelError, match="solid or plane part"):
        strain_gauges(reduce(beam(), ModalTruncation(1), fixed="x0"), [1], (1.0, 0.0, 0.0))


def test_what_has_no_stress_is_refused() -> None:
    elements = solid(divisions=(2, 1, 1))
    k, m = (elements.assemble(b) for b in (elements.stiffness(), elements.mass()))
    foreign = Part.of_matrices(elements.mesh, m, k)
    with pytest.raises(ModelError, match="needs the part's own elements"):
        stress_modes(reduce(foreign, ModalTruncation(2), fixed="x0"))
    modes = stress_modes(reduce(elements, ModalTruncation(2), fixed="x0"), "x0")
    with pytest.raises(ModelError, match="2 reduced coordinates are needed"):
        modes.at(np.zeros(3))
    with pytest.raises(ModelError, match="an envelope needs a history"):
        modes.envelope(np.zeros(2))
    bars = fm.Elements(
        fm.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]], [("line", [[0, 3], [1, 3], [2, 3]])]),
        fm.Material(210e9, 0.3, 7850.0),
        section=fm.Section.circle(0.01),
        formulation="bar",
    )
    with pytest.raises(ModelError, match="solids, plane parts and beams"):
        stress_modes(reduce(bars, ModalTruncation(1), fixed=[0, 1, 2]))
