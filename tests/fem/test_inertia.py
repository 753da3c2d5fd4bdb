"""Every inertia matrix and load of the theory (section 2) against direct integration of fields.

The integrals are written here from the definitions, with their own maps and points, none of the package's.
For nodal values d, d' of fields u, v that an element represents exactly:
dᵀ m_ij d' = ∫ρ u_i v_j, dᵀ C d' = 2 ∫ρ u · (ω × v), dᵀ q(ω) = ∫ρ u · (ω × (ω × x)), and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from element_kinds import CONTINUUM, RHO, Kind, nodal
from numpy.testing import assert_allclose

import flexmbs as fm

OMEGA, EPSILON = np.array([0.7, -1.3, 2.1]), np.array([-0.4, 0.9, 1.7])
Field = Callable[[np.ndarray], np.ndarray]
RTOL = 1e-12


def unit_points(dimension: int, count: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """Gauss points of the unit line, square or cube."""
    x, w = np.polynomial.legendre.leggauss(count)
    grid = np.stack(np.meshgrid(*[(x + 1) / 2] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)
    return grid, np.prod(np.stack(np.meshgrid(*[w / 2] * dimension, indexing="ij"), axis=-1), axis=-1).ravel()


def corner_weights(shape: str, t: np.ndarray) -> np.ndarray:
    """Weights of the corners at points of the unit square or cube folded onto the cell: x(t) = Σ weight · corner."""
    a, b, c = t[:, 0], t[:, 1], t[:, -1]
    square = [(1 - a) * (1 - b), a * (1 - b), a * b, (1 - a) * b]
    triangle = [1 - a, a * (1 - b), a * b]
    return np.stack(
        {
            "triangle": triangle,
            "quad": square,
            "tetra": [1 - a, a * (1 - b), a * b * (1 - c), a * b * c],
            "hexahedron": [f * (1 - c) for f in square] + [f * c for f in square],
            "wedge": [f * (1 - c) for f in triangle] + [f * c for f in triangle],
            "pyramid": [f * (1 - c) for f in square] + [c],
        }[shape],
        axis=1,
    )


def volume_points(mesh: fm.Mesh, shape: str) -> tuple[np.ndarray, np.ndarray]:
    """Positions (n, 3) and volumes (n,) for integrals over a mesh with straight edges."""
    d = mesh.dimension
    t, w = unit_points(d)
    corners = mesh.points[mesh.cells[0].nodes][:, : corner_weights(shape, t[:1]).shape[1], :d]
    x = np.einsum("qa,eai->eqi", corner_weights(shape, t), corners)
    columns = []
    for k in range(d):  # weights are linear in each t_k by itself, so that differences are derivatives
        low, high = t.copy(), t.copy()
        low[:, k], high[:, k] = 0.0, 1.0
        slope = corner_weights(shape, high) - corner_weights(shape, low)
        columns.append(np.einsum("qa,eai->eqi", slope, corners))
    volume = np.abs(np.linalg.det(np.stack(columns, axis=-1))) * w
    out = np.zeros((volume.size, 3))
    out[:, :d] = x.reshape(-1, d)
    return out, volume.ravel()


def polynomial_field(degree: int, dimension: int, seed: int) -> Field:
    rng = np.random.default_rng(seed)
    powers = [p for p in product(range(degree + 1), repeat=dimension) if sum(p) <= degree]
    coefficients = rng.normal(size=(len(powers), 3))
    coefficients[:, dimension:] = 0.0

    def field(x: np.ndarray) -> np.ndarray:
        terms = np.stack([np.prod(x[:, :dimension] ** np.array(p), axis=1) for p in powers], axis=1)
        return terms @ coefficients

    return field


def cases() -> list[tuple[Kind, bool]]:
    """Linear fields on distorted cells for all; quadratic fields on affine cells for quadratic elements."""
    return [(k, False) for k in CONTINUUM] + [(k, True) for k in CONTINUUM if k.order == 2]


@pytest.mark.parametrize(("kind", "quadratic"), cases(), ids=lambda v: str(v) if isinstance(v, Kind) else f"p2={v}")
class TestContinuum:
    def setup_case(self, kind: Kind, quadratic: bool) -> None:
        d = kind.dimension
        mesh = (kind.affine() if quadratic else kind.distorted()).translated([0.3, -0.2, 0.1 * (d == 3)])
        elements = kind.elements(mesh)
        degree = 2 if quadratic else 1
        self.u, self.v = (polynomial_field(degree, d, seed) for seed in (1, 2))
        self.x, volume = volume_points(mesh, kind.cell.rstrip("0123456789"))
        self.weight = RHO * kind.options.get("thickness", 1.0) * volume
        self.elements, self.assembled = elements, elements.assemble
        self.du, self.dv = nodal(mesh, self.u, d), nodal(mesh, self.v, d)
        self.omega = OMEGA * ([0, 0, 1] if d == 2 else 1)
        self.epsilon = EPSILON * ([0, 0, 1] if d == 2 else 1)

    def close(self, value: float, integrand: np.ndarray) -> None:
        scale = np.sum(np.abs(integrand) * self.weight)  # what cancels in the sum is not forgiven, what is summed is
        assert abs(value - integrand @ self.weight) <= RTOL * scale

    def test_mass(self, kind: Kind, quadratic: bool) -> None:
        self.setup_case(kind, quadratic)
        u, v = self.u(self.x), self.v(self.x)
        self.close(self.du @ self.assembled(self.elements.mass()) @ self.dv, np.sum(u * v, axis=1))
        for i in range(kind.dimension):
            for j in range(kind.dimension):
                self.close(self.du @ self.assembled(self.elements.mass_ij(i, j)) @ self.dv, u[:, i] * v[:, j])

    def test_rotating_frame(self, kind: Kind, quadratic: bool) -> None:
        self.setup_case(kind, quadratic)
        u, v, w, e = self.u(self.x), self.v(self.x), self.omega, self.epsilon
        for blocks, field in (
            (self.elements.gyroscopic(w), 2 * np.cross(w, v)),
            (self.elements.stiffness_epsilon(e), np.cross(e, v)),
            (self.elements.stiffness_omega(w), np.cross(w, np.cross(w, v))),
        ):
            self.close(self.du @ self.assembled(blocks) @ self.dv, np.sum(u * field, axis=1))

    def test_loads(self, kind: Kind, quadratic: bool) -> None:
        self.setup_case(kind, quadratic)
        u, w, e = self.u(self.x), self.omega, self.epsilon
        self.close(
            self.du @ self.assembled(self.elements.load_omega(w)),
            np.sum(u * np.cross(w, np.cross(w, self.x)), axis=1),
        )
        self.close(self.du @ self.assembled(self.elements.load_epsilon(e)), np.sum(u * np.cross(e, self.x), axis=1))
        for i in range(kind.dimension):
            self.close((self.du @ self.assembled(self.elements.mass_origin()))[i], u[:, i])
            for j in range(kind.dimension):
                self.close(self.du @ self.assembled(self.elements.first_moment(i, j)), u[:, i] * self.x[:, j])


@pytest.mark.parametrize("kind", [k for k in CONTINUUM if k.order == 1], ids=str)
def test_whole_scalar_mass_of_distorted_linear_cells(kind: Kind) -> None:
    """Not only linear fields: every pair of shape functions."""
    mesh = kind.single()
    t, _ = unit_points(kind.dimension)
    _, volume = volume_points(mesh, kind.cell)
    phi = corner_weights(kind.cell, t)
    expected = RHO * kind.options.get("thickness", 1.0) * np.einsum("q,qa,qb->ab", volume, phi, phi)
    assert_allclose(kind.elements(mesh).scalar_mass.toarray(), expected, rtol=1e-12, atol=1e-14)


REFERENCE_MONOMIALS = {
    "quad8": [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (2, 1), (1, 2)],
    "hexahedron20": [
        *product((0, 1), repeat=3),
        *((2, a, b) for a, b in product((0, 1), repeat=2)),
        *((a, 2, b) for a, b in product((0, 1), repeat=2)),
        *((a, b, 2) for a, b in product((0, 1), repeat=2)),
    ],
    "wedge15": [
        *((a, b, c) for a, b in ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)) for c in (0, 1)),
        *((0, 0, 2), (1, 0, 2), (0, 1, 2)),
    ],
}


@pytest.mark.parametrize("cell", list(REFERENCE_MONOMIALS))
def test_whole_scalar_mass_of_affine_serendipity_cells(cell: str) -> None:
    """Their spaces hold more than quadratic fields: all monomials of the reference cell, here along the edges."""
    kind = next(k for k in CONTINUUM if k.cell == cell)
    mesh = kind.affine()
    mesh = mesh.submesh([0])
    d = kind.dimension
    shape = cell.rstrip("0123456789")
    points = mesh.points[mesh.cells[0].nodes[0]][:, :d]
    origin = points[0]
    corner = {"quad": (1, 3), "hexahedron": (1, 3, 4), "wedge": (1, 2, 3)}[shape]
    to_reference = np.linalg.inv((points[list(corner)] - origin).T)
    monomials = np.array(REFERENCE_MONOMIALS[cell])

    def values(x: np.ndarray) -> np.ndarray:
        return np.prod(((x - origin) @ to_reference.T)[:, None, :] ** monomials, axis=2)

    x, volume = volume_points(mesh, shape)
    weight = RHO * kind.options.get("thickness", 1.0) * volume
    expected = np.einsum("q,qa,qb->ab", weight, values(x[:, :d]), values(x[:, :d]))
    at_nodes = values(mesh.points[:, :d])
    assert np.linalg.matrix_rank(at_nodes) == len(monomials)
    assert_allclose(at_nodes.T @ kind.elements(mesh).scalar_mass.toarray() @ at_nodes, expected, rtol=1e-11)
