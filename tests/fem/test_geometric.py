"""Geometric stiffness of solids: the tangent of a Green-Lagrange model, and the buckling of columns."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from element_kinds import CONTINUUM, SOLIDS, Kind, tensor
from numpy.testing import assert_allclose

import flexmbs as fm
from flexmbs.fem.continuum import Continuum
from flexmbs.mesh.shapes import shape_gradients


def internal_force(kind: Kind, mesh: fm.Mesh, block: Continuum, u: np.ndarray, prestress: np.ndarray) -> np.ndarray:
    """∫ F S ∇φ dV with S = S₀ + D E(u), E = ½(FᵀF - 1), element by element; ``prestress`` (elements, points, 3, 3)."""
    law = kind.material().elasticity
    c = np.zeros((3, 3, 3, 3))
    pairs = [(0, 0), (1, 1), (2, 2), (1, 2), (2, 0), (0, 1)]
    for a, (i, j) in enumerate(pairs):
        for b, (k, m) in enumerate(pairs):
            c[i, j, k, m] = c[j, i, k, m] = c[i, j, m, k] = c[j, i, m, k] = law[a, b]
    slopes = shape_gradients(kind.cell, block.tables.points)
    out = np.zeros_like(u)
    for number, nodes in enumerate(mesh.cells[0].nodes):
        for q, (slope, weight) in enumerate(zip(slopes, block.tables.weights, strict=True)):
            jacobian = mesh.points[nodes].T @ slope
            g = slope @ np.linalg.inv(jacobian)
            f = np.eye(3) + u[nodes].T @ g
            green = (f.T @ f - np.eye(3)) / 2
            s = prestress[number, q] + np.einsum("ijkl,kl->ij", c, green)
            out[nodes] += weight * np.linalg.det(jacobian) * g @ (f @ s).T
    return out.ravel()


@pytest.mark.parametrize(
    "kind", [k for k in SOLIDS if k.name != "hexahedron"], ids=str
)  # internal modes have no finite strains
def test_stiffness_and_prestress_are_the_tangent_of_the_internal_force(kind: Kind) -> None:
    mesh = kind.distorted(1)
    elements = kind.elements(mesh)
    block = elements.blocks[0]
    assert isinstance(block, Continuum)
    rng = np.random.default_rng(7)
    stress = rng.normal(size=(*mesh.cells[0].nodes.shape[:1], len(block.tables.weights), 6))
    prestress = np.array([[tensor(s) for s in row] for row in stress])
    tangent = elements.assemble(elements.stiffness() + elements.geometric_stiffness((stress,))).toarray()
    step = 1e-20  # complex step: no cancellation
    for _ in range(3):
        direction = rng.normal(size=(mesh.n_nodes, 3))
        force = internal_force(kind, mesh, block, 1j * step * direction, prestress)
        assert_allclose(tangent @ direction.ravel(), force.imag / step, atol=1e-12 * np.abs(tangent).sum(axis=1).max())


def test_incompatible_elements_feel_prestress_as_plain_ones_do() -> None:
    sigma = np.array([1.2, -0.7, 0.4, 0.3, -0.5, 0.8])
    for cell in ("hexahedron", "quad"):
        first, second = [k for k in CONTINUUM if k.cell == cell][:: 1 if cell == "hexahedron" else 2]
        mesh = first.distorted()
        one, other = first.elements(mesh), second.elements(mesh)
        assert_allclose(
            one.assemble(one.geometric_stiffness(sigma)).toarray(),
            other.assemble(other.geometric_stiffness(sigma)).toarray(),
            atol=1e-14,
        )


@pytest.mark.parametrize(("cell", "divisions"), [("hexahedron20", 8), ("tetra10", 8), ("hexahedron", 16)])
def test_slender_column_buckles_at_eulers_load(cell: str, divisions: int) -> None:
    """A cantilever column, π²EI/4L²; ν = 0 so that the clamped end is that of the beam."""
    young, length, b, h = 200e9, 1.0, 0.04, 0.06
    mesh = fm.Mesh.box((length, b, h), (divisions, 1, 1), cell=cell)
    elements = fm.Elements(mesh, fm.Material(young, 0.0, 7850.0))
    result = fm.statics(elements, loads=fm.Traction("x1", (-1.0, 0, 0)), fixed="x0")
    free = np.ones((mesh.n_nodes, 3), dtype=bool)
    free[mesh.nodes("x0")] = False
    free = free.ravel()
    k = elements.assemble(elements.stiffness()).toarray()[free][:, free]
    k_g = elements.assemble(elements.geometric_stiffness(result.stress)).toarray()[free][:, free]
    size = len(k)
    factors = 1 / scipy.linalg.eigh(-k_g, k, eigvals_only=True, subset_by_index=(size - 2, size - 1))
    second = np.array([h * b**3, b * h**3]) / 12
    euler = np.pi**2 * young * second / (4 * length**2)
    assert_allclose(factors[::-1] * b * h, euler, rtol=0.012)


def test_plane_column_buckles_at_eulers_load() -> None:
    young, length, h, thickness = 200e9, 1.0, 0.05, 0.02
    mesh = fm.Mesh.rectangle((length, h), (12, 1), cell="quad8")
    elements = fm.Elements(mesh, fm.Material(young, 0.3, 7850.0), thickness=thickness)
    free = np.ones((mesh.n_nodes, 2), dtype=bool)
    free[mesh.nodes("x0")] = False
    free = free.ravel()
    uniform = np.array([-1.0, 0, 0, 0, 0, 0])
    k = elements.assemble(elements.stiffness()).toarray()[free][:, free]
    k_g = elements.assemble(elements.geometric_stiffness(uniform)).toarray()[free][:, free]
    factor = 1 / scipy.linalg.eigh(-k_g, k, eigvals_only=True)[-1]
    euler = np.pi**2 * young * thickness * h**3 / 12 / (4 * length**2)
    assert factor * h * thickness == pytest.approx(euler, rel=0.01)
