"""Observed rates of convergence against the declared ones, on manufactured solutions."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from element_kinds import CONTINUUM, LINES, Kind, LineKind, outside
from numpy.polynomial import Polynomial
from numpy.testing import assert_allclose

import flexmbs as fm
from flexmbs.fem.beam import Beam
from flexmbs.mesh.quadrature import quadrature
from flexmbs.mesh.shapes import shape_gradients, shape_values

YOUNG, POISSON = 1.0, 0.3
SIDES = {1: (4, 8), 2: (2, 4)}  # cells along an edge, coarse and fine
LINE_POINTS = (quadrature("line", 12)[0][:, 0] + 1) / 2, quadrature("line", 12)[1] / 2


def waves(x: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """u (n, d), ∂u_i/∂x_k (n, d, d) and ∂²u_i/∂x_k∂x_l (n, d, d, d) of u_i = sin(k_i · x + i)."""
    k = np.array([[1.1, 0.7, -0.9], [-0.6, 1.3, 0.8], [0.9, -0.5, 1.2]])[:d, :d]
    phase = x[:, :d] @ k.T + np.arange(d)
    return (
        np.sin(phase),
        np.einsum("ni,ik->nik", np.cos(phase), k),
        -np.einsum("ni,ik,il->nikl", np.sin(phase), k, k),
    )


def body_force(x: np.ndarray, d: int, plane: str | None) -> np.ndarray:
    """-div σ of the waves: -(λ + μ) ∇(div u) - μ Δu."""
    second = waves(x, d)[2]
    shear = YOUNG / (2 * (1 + POISSON))
    lame = YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON))
    if plane == "stress":
        lame = YOUNG * POISSON / (1 - POISSON**2)
    return -(lame + shear) * np.einsum("nkki->ni", second) - shear * np.einsum("nikk->ni", second)


def errors(kind: Kind, divisions: int) -> tuple[float, float]:
    """Errors of displacement and of its gradient in L2, on a smoothly curved mesh with the exact boundary values."""
    d = kind.dimension
    mesh = kind.block_mesh(divisions).mapped(
        lambda x, y, z: (
            x + 0.06 * np.sin(2 * y) * np.cos(z),
            y + 0.05 * np.sin(3 * x),
            z + (0.05 * np.sin(2 * x + y) if d == 3 else 0.0),
        )
    )
    elements = kind.elements(mesh, fm.Material(YOUNG, POISSON, 1.0))
    load = elements.assemble(elements.mass()) @ body_force(mesh.points, d, kind.options.get("plane")).ravel()
    held = np.zeros((mesh.n_nodes, d), dtype=bool)
    held[outside(mesh)] = True
    held = held.ravel()
    stiffness = elements.assemble(elements.stiffness())
    u = np.where(held, waves(mesh.points, d)[0].ravel(), 0.0)
    u[~held] = fm.factorize(stiffness[~held][:, ~held]).solve((load - stiffness @ u)[~held])
    u = u.reshape(-1, d)
    xi, w = quadrature(kind.cell, 6)
    phi, slopes = shape_values(kind.cell, xi), shape_gradients(kind.cell, xi)
    cells = mesh.cells[0].nodes
    points = mesh.points[cells][:, :, :d]
    jacobian = np.einsum("eai,qak->eqik", points, slopes)
    volume = np.linalg.det(jacobian) * w
    x = np.einsum("qa,eai->eqi", phi, points)
    exact, exact_gradient, _ = waves(x.reshape(-1, d), d)
    off = np.einsum("qa,eai->eqi", phi, u[cells]) - exact.reshape(x.shape)
    gradient = np.einsum("eai,qak,eqkl->eqil", u[cells], slopes, np.linalg.inv(jacobian))
    off_gradient = gradient - exact_gradient.reshape(gradient.shape)
    return (
        float(np.sqrt(np.einsum("eq,eqi->", volume, off**2))),
        float(np.sqrt(np.einsum("eq,eqil->", volume, off_gradient**2))),
    )


@pytest.mark.parametrize("kind", CONTINUUM, ids=str)
def test_rates_of_solid_and_plane_elements(kind: Kind) -> None:
    coarse, fine = (errors(kind, n) for n in SIDES[kind.order])
    rates = np.log2(np.array(coarse) / fine)
    assert_allclose(rates, [kind.order + 1, kind.order], atol=0.25)


@dataclass(frozen=True)
class Cantilever:
    """A cantilever of unit length under q = 1 + 3x³ across (along for bars), in closed form."""

    stiffness: float  # EI, or EA of a bar
    shear: float  # κGA
    load: Polynomial = field(default_factory=lambda: Polynomial([1.0, 0.0, 0.0, 3.0]))

    @property
    def moment(self) -> Polynomial:
        """M = EI θ' with M'' = q, and M = M' = 0 at the tip."""
        return self.load.integ(2, lbnd=1.0)

    @property
    def rotation(self) -> Polynomial:
        return (self.moment / self.stiffness).integ(lbnd=0.0)

    @property
    def deflection(self) -> Polynomial:
        """v' = θ + γ with κGA γ = V = -M'."""
        return self.rotation.integ(lbnd=0.0) - (self.moment - self.moment(0.0)) / self.shear

    @property
    def stretch(self) -> Polynomial:
        """u of a bar: EA u'' = -q, u'(1) = 0."""
        return -(self.load / self.stiffness).integ(lbnd=1.0).integ(lbnd=0.0)


def solved_line(kind: LineKind, divisions: int) -> tuple[fm.Elements, Cantilever, np.ndarray]:
    """Nodal coordinates under the load, integrated with the element's own shape functions."""
    section = fm.Section.rectangle(0.2, 0.3)
    elements = kind.elements(fm.Mesh.line((0, 0, 0), (1, 0, 0), divisions), fm.Material(1.0, 0.3, 1.0))
    shear = 5 / 6 * section.area / 2.6 if kind.name == "timoshenko" else np.inf
    truth = Cantilever(section.area if kind.name == "bar" else section.Iz, shear)
    s, w = LINE_POINTS
    x = (np.arange(divisions)[:, None] + s) / divisions
    block = elements.blocks[0]
    if isinstance(block, Beam):
        shapes = block.shape_functions(s)[:, :, 1]
    else:
        shapes = np.broadcast_to(np.kron(np.stack([1 - s, s], axis=1), [1.0, 0, 0]), (divisions, len(s), 6))
    per_element = np.einsum("q,eqm,eq->em", w / divisions, shapes, truth.load(x))
    load = np.zeros((elements.mesh.n_nodes, kind.dofs))
    np.add.at(load, block.cells, per_element.reshape(divisions, 2, kind.dofs))
    held = np.zeros_like(load, dtype=bool)
    held[0] = True
    if kind.name == "bar":
        held[:, 1:] = True  # a chain of bars is a mechanism across
    d = np.zeros_like(load)
    matrix = elements.assemble(elements.stiffness()).toarray()
    free = ~held.ravel()
    d[~held] = np.linalg.solve(matrix[free][:, free], load.ravel()[free])
    return elements, truth, d


@pytest.mark.parametrize("kind", LINES, ids=str)
def test_rates_of_line_elements(kind: LineKind) -> None:
    results = []
    for divisions in (8, 16):
        elements, truth, d = solved_line(kind, divisions)
        s, w = LINE_POINTS
        x = (np.arange(divisions)[:, None] + s) / divisions
        block = elements.blocks[0]
        local = d[block.cells].reshape(divisions, -1)
        if isinstance(block, Beam):
            off = np.einsum("eqm,em->eq", block.shape_functions(s)[:, :, 1], local) - truth.deflection(x)
            rows = block._strains(s)
            curvature = np.einsum("eqm,em->eq", rows[5], local) - truth.rotation.deriv()(x)
            gamma = np.einsum("eqm,em->eq", rows[1], local) + truth.moment.deriv()(x) / truth.shear
            energy = truth.stiffness * curvature**2
            if kind.name == "timoshenko":
                energy = energy + truth.shear * gamma**2
        else:
            off = local[:, [0]] * (1 - s) + local[:, [3]] * s - truth.stretch(x)
            energy = truth.stiffness * ((local[:, [3]] - local[:, [0]]) * divisions - truth.stretch.deriv()(x)) ** 2
        results.append([np.sqrt(np.sum(off**2 @ w) / divisions), np.sqrt(np.sum(energy @ w) / divisions)])
    assert_allclose(np.log2(np.divide(*results)), kind.rates, atol=0.1)


@pytest.mark.parametrize("kind", LINES, ids=str)
def test_line_elements_are_exact_at_their_nodes(kind: LineKind) -> None:
    """Their shape functions solve the unloaded equations, so that nodes are exact under any load (Tong 1969)."""
    elements, truth, d = solved_line(kind, 3)
    x = elements.mesh.points[:, 0]
    if kind.name == "bar":
        assert_allclose(d[:, 0], truth.stretch(x), rtol=1e-12)
    else:
        assert_allclose(d[:, 1], truth.deflection(x), rtol=1e-11)
        assert_allclose(d[:, 5], truth.rotation(x), rtol=1e-11)
