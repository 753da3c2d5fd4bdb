"""Plane parts against published numbers: FV32, LE1 (NAFEMS) and Cook's membrane."""

from __future__ import annotations

import numpy as np
import pytest

import flexmbs as fm

FV32 = [44.617, 130.010, 162.689, 245.986, 379.717, 391.404]  # Hz, converged


@pytest.mark.parametrize(("cell", "divisions"), [("triangle6", (32, 16)), ("quad", (120, 60)), ("quad8", (24, 12))])
def test_fv32_tapered_membrane(cell: str, divisions: tuple[int, int]) -> None:
    mesh = fm.Mesh.rectangle((10.0, 1.0), divisions, cell=cell, origin=(0.0, -0.5))
    tapered = mesh.mapped(lambda x, y, z: (x, y * (5.0 - 0.4 * x)))
    steel = fm.Material(young=2e11, poisson=0.3, density=8000.0)
    found = fm.modes(tapered, steel, fixed="x0", count=6, thickness=0.05)
    np.testing.assert_allclose(found.frequencies, FV32, rtol=1e-3)


@pytest.mark.parametrize(("cell", "divisions"), [("triangle6", (20, 40)), ("quad", (24, 48)), ("quad8", (16, 32))])
def test_le1_elliptic_membrane(cell: str, divisions: tuple[int, int]) -> None:
    def ellipse(r: np.ndarray, s: np.ndarray, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        angle = np.pi / 2 * s
        return (2.0 + 1.25 * r) * np.cos(angle), (1.0 + 1.75 * r) * np.sin(angle)

    mesh = fm.Mesh.rectangle((1.0, 1.0), divisions, cell=cell).mapped(ellipse)
    steel = fm.Material(young=2.1e11, poisson=0.3, density=7800.0)
    found = fm.statics(mesh, steel, fm.Pressure("x1", -10e6), fixed={"y0": "y", "y1": "x"}, thickness=0.1)
    at_d = found.stress.nodal[mesh.nearest_node((2.0, 0.0))]
    assert at_d[1] == pytest.approx(92.7e6, rel=0.02)
    assert abs(at_d[2]) < 1e-6 * 92.7e6  # plane stress


@pytest.mark.parametrize(("cell", "division"), [("triangle6", 40), ("quad", 64), ("quad8", 32)])
def test_cook_membrane(cell: str, division: int) -> None:
    mesh = fm.Mesh.rectangle((1.0, 1.0), (division, division), cell=cell)
    trapezium = mesh.mapped(lambda x, y, z: (48 * x, 44 * x + y * (44 - 28 * x)))
    unit = fm.Material(young=1.0, poisson=1 / 3, density=1.0)
    found = fm.statics(trapezium, unit, fm.Traction("x1", (0.0, 1 / 16)), fixed="x0")
    assert found.displacement[trapezium.nearest_node((48, 52)), 1] == pytest.approx(23.9677, rel=1e-3)
    assert found.strain_energy == pytest.approx(12.0202, rel=1e-3)


def test_cook_membrane_locks_with_plain_quads() -> None:
    """On a coarse mesh the internal modes matter: this is what they are for."""
    mesh = fm.Mesh.rectangle((1.0, 1.0), (8, 8)).mapped(lambda x, y, z: (48 * x, 44 * x + y * (44 - 28 * x)))
    unit = fm.Material(young=1.0, poisson=1 / 3, density=1.0)
    shear = fm.Traction("x1", (0.0, 1 / 16))
    corner = mesh.nearest_node((48, 52))
    error = {
        name: abs(fm.statics(mesh, unit, shear, fixed="x0", formulation=name).displacement[corner, 1] / 23.9677 - 1)
        for name in ("incompatible", "plain")
    }
    assert error["incompatible"] < 0.02
    assert error["plain"] > 0.05
