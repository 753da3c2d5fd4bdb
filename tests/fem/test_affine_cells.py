"""Affine cells take their stiffness from the reference cell; it is the same integral as by Gauss points."""

from __future__ import annotations

import numpy as np
import pytest

import flexmbs as fm
from flexmbs.fem.continuum import STIFFNESS_DEGREE, Continuum

MATERIAL = fm.Material(young=3.0, poisson=0.3, density=2.0)


def affine_and_not(cell: str, formulation: str) -> tuple[Continuum, Continuum]:
    """Blocks of sheared cells, as they are and with the short cut taken away."""
    plane = fm.Mesh.rectangle((1.0, 1.0), 2, cell=cell) if cell in PLANE else fm.Mesh.box((1.0, 1.0, 1.0), 2, cell=cell)
    map_ = np.array([[1.0, 0.3, 0.0], [-0.2, 1.4, 0.0], [0.0, 0.0, 1.0]])
    if cell not in PLANE:
        map_[0, 2], map_[2, 1] = 0.25, -0.15
    mesh = fm.Mesh(plane.points @ map_.T, plane.cells)
    blocks = [fm.Elements(mesh, MATERIAL, formulation=formulation).blocks[0] for _ in range(2)]
    assert all(isinstance(b, Continuum) for b in blocks)
    blocks[1].affine = np.zeros_like(blocks[1].affine)
    return blocks[0], blocks[1]


PLANE = ("triangle", "triangle6", "quad", "quad8")


@pytest.mark.parametrize("cell", STIFFNESS_DEGREE)
@pytest.mark.parametrize("formulation", ["incompatible", "plain"])
def test_stiffness_of_affine_cells_is_the_sum_over_gauss_points(cell: str, formulation: str):
    short, long = affine_and_not(cell, formulation)
    assert short.affine.all() or cell == "pyramid"
    expected = long.stiffness()
    np.testing.assert_allclose(short.stiffness(), expected, rtol=0, atol=1e-13 * np.abs(expected).max())


def test_a_cell_is_affine_only_if_every_node_is_in_its_place():
    mesh = fm.Mesh.box((1.0, 2.0, 1.0), 2, cell="tetra10")
    node = mesh.cells[0].nodes[5, 7]
    points = mesh.points.copy()
    points[node] += 1e-6
    block = fm.Elements(fm.Mesh(points, mesh.cells), MATERIAL).blocks[0]
    np.testing.assert_array_equal(block.affine, ~(mesh.cells[0].nodes == node).any(axis=1))
