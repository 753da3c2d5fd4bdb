"""The constants of a reduced part: moments of the deformed body, couplings and velocity terms, by other integrals."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from parts import KINDS, STEEL, beam, plane, solid

import flexmbs as fm
from flexmbs.fem.beam import Beam
from flexmbs.fem.lumped import LumpedBodies
from flexmbs.reduction import (
    CraigBampton,
    FullOrder,
    ModalConstants,
    ModalDamping,
    ModalTruncation,
    Rayleigh,
    ReducedPart,
    reduce,
)
from flexmbs.rotations import skew

RNG = np.random.default_rng(7)


def reduced(kind: str) -> tuple[fm.Elements, ReducedPart]:
    elements = KINDS[kind]()
    return elements, reduce(elements, CraigBampton(4), interfaces=["x0", "x1"], stiffening=False)


def axial(elements: fm.Elements) -> np.ndarray:
    """A random angular velocity that the part can have."""
    return np.array([0.0, 0.0, 1.7]) if elements.axes == 2 else RNG.normal(size=3)


def beam_moments(elements: fm.Elements, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """∫ρ(x+u) and ∫ρ(x+u)(x+u)ᵀ of beams 0.03 high (y) and 0.02 wide (z), point by point, and of bodies on nodes."""
    gauss, weights = np.polynomial.legendre.leggauss(5)
    block, lumped = elements.blocks
    assert isinstance(block, Beam)
    assert isinstance(lumped, LumpedBodies)
    first, second = np.zeros(3), np.zeros((3, 3))
    local = np.einsum("eij,ej->ei", block.transformation, u[block.cells].reshape(len(block.cells), 12))
    start, end = elements.points[block.cells[:, 0]], elements.points[block.cells[:, 1]]
    for s, ws in zip((gauss + 1) / 2, weights / 2, strict=True):
        for y, wy in zip(0.015 * gauss, 0.015 * weights, strict=True):
            for z, wz in zip(0.01 * gauss, 0.01 * weights, strict=True):
                shapes = block.shape_functions(np.array([s]), y, z)[:, 0]
                inside = np.einsum("eij,ej->ei", shapes, local) + np.array([0.0, y, z])
                points = start + s * (end - start) + np.einsum("eij,ej->ei", block.rotation, inside)
                mass = 7850.0 * block.length * ws * wy * wz
                first += mass @ points
                second += (mass[:, None] * points).T @ points
    for k, node in enumerate(lumped.cells[:, 0]):
        at = elements.points[node] + u[node, :3]
        turn = np.eye(3) + skew(u[node, 3:])
        first += lumped.masses[k] * at
        second += lumped.masses[k] * np.outer(at, at) + turn @ lumped.second[k] @ turn.T
    return first, second


@pytest.mark.parametrize("kind", ["solid", "loaded", "plane", "beam"])
def test_moments_are_those_of_the_deformed_body(kind: str) -> None:
    elements, part = reduced(kind)
    d = RNG.normal(size=part.size)
    d *= 0.05 / np.abs(part.basis @ d).max()
    u = part.displacement(d)
    c = part.constants
    if kind == "beam":
        first, second = beam_moments(elements, u)
    else:
        y = elements.points.copy()
        y[:, : elements.axes] += u
        weighted = elements.scalar_mass @ y
        first, second = weighted.sum(axis=0), y.T @ weighted
    assert_allclose(c.s(d), first, rtol=1e-9, atol=1e-12)
    assert_allclose(c.second_moments(d), second, rtol=1e-9, atol=1e-12 * np.abs(second).max())
    assert_allclose(c.inertia(d), np.trace(second) * np.eye(3) - second, atol=1e-9 * np.trace(second))


def test_a_sheared_block_has_the_mass_properties_of_the_sheared_mesh() -> None:
    """Simple shear keeps the volume, so that a mesh with moved nodes has the same mass at every point."""
    elements = solid(divisions=(2, 1, 1))
    part = reduce(elements, FullOrder(), fixed="y0")
    u = np.zeros((elements.mesh.n_nodes, 3))
    u[:, 0] = 0.7 * (elements.points[:, 1] + 0.03)
    d = part.basis.T @ (elements.assemble(elements.mass()) @ u.ravel())
    assert_allclose(part.displacement(d), u, atol=1e-10)
    exact = fm.mass_properties(elements.mesh.replace(points=elements.points + u), STEEL)
    assert_allclose(part.constants.s(d), exact.mass * exact.center, rtol=1e-10)
    assert_allclose(part.constants.inertia(d), exact.inertia_origin, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_reduced_terms_are_the_projected_ones(kind: str) -> None:
    elements, part = reduced(kind)
    c, psi = part.constants, part.basis
    omega, epsilon = axial(elements), axial(elements)

    def projected(blocks: fm.Blocks) -> np.ndarray:
        full = elements.assemble(blocks)
        return psi.T @ (full @ psi) if blocks.kind == "matrix" else psi.T @ full

    pairs = [
        (c.gyroscopic(omega), elements.gyroscopic(omega)),
        (c.stiffness_omega(omega), elements.stiffness_omega(omega)),
        (c.stiffness_epsilon(epsilon), elements.stiffness_epsilon(epsilon)),
        (c.load_omega(omega), elements.load_omega(omega)),
        (c.load_epsilon(epsilon), elements.load_epsilon(epsilon)),
        (c.S[: elements.axes].T, elements.mass_origin()),
        *((c.m[i, j], elements.mass_ij(i, j)) for i in range(elements.axes) for j in range(elements.axes)),
    ]
    for found, blocks in pairs:
        exact = projected(blocks)
        assert_allclose(found, exact, atol=1e-12 * max(np.abs(exact).max(), 1.0))
    assert_allclose(np.einsum("iirs->rs", c.m), np.eye(c.size), atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_couplings_and_velocity_terms_belong_together(kind: str) -> None:
    """G(d)ᵀε = q(ε) + k(ε)d; 2∫ρ(x+u)~ω~u' = I'ω + ω~G(d)d'; G = ∂L/∂d'."""
    elements, part = reduced(kind)
    c = part.constants
    d, rate = RNG.normal(size=(2, part.size))
    omega, epsilon = axial(elements), axial(elements)
    g = c.G(d)
    right = c.load_epsilon(epsilon) + c.stiffness_epsilon(epsilon) @ d
    assert_allclose(g.T @ epsilon, right, atol=1e-11 * np.abs(right).max())
    p = c.mixed(d, rate)
    inertia_rate = 2 * np.trace(p) * np.eye(3) - p - p.T
    step = 1e-6
    assert_allclose(
        inertia_rate,
        (c.inertia(d + step * rate) - c.inertia(d - step * rate)) / (2 * step),
        atol=1e-7 * np.abs(inertia_rate).max(),
    )
    moment = 2 * (np.trace(p) * omega - p.T @ omega)
    if elements.axes == 2:
        moment, other = moment[2:], (inertia_rate @ omega + np.cross(omega, g @ rate))[2:]
    else:
        other = inertia_rate @ omega + np.cross(omega, g @ rate)
    assert_allclose(moment, other, atol=1e-11 * np.abs(inertia_rate).max())
    assert_allclose(g @ rate, np.einsum("kij,ij->k", _levi_civita(), p), atol=1e-11 * np.abs(p).max())


def _levi_civita() -> np.ndarray:
    return np.array([[np.cross(a, b) for b in np.eye(3)] for a in np.eye(3)]).transpose(2, 0, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_kinetic_energy_of_a_moving_deformed_body(kind: str) -> None:
    """½ yᵀ [mI s~ᵀ S; s~ I G; Sᵀ Gᵀ 1] y against ½ vᵀ M v of nodal velocities; beams turn their nodes too."""
    elements, part = reduced(kind)
    c = part.constants
    d, rate = RNG.normal(size=(2, part.size))
    v, omega = RNG.normal(size=3), axial(elements)
    if elements.axes == 2:
        v[2] = 0.0
    matrix = np.block([[c.mass * np.eye(3), skew(c.s(d)).T, c.S], [skew(c.s(d)), c.inertia(d), c.G(d)]])
    matrix = np.vstack([matrix, np.hstack([c.S.T, c.G(d).T, np.eye(c.size)])])
    y = np.concatenate([v, omega, rate])
    if kind == "beam":  # velocities of a deformed beam are no nodal field; compare where it is straight
        matrix[:6, :6] = np.block([[c.mass * np.eye(3), skew(c.s0).T], [skew(c.s0), c.inertia(np.zeros(c.size))]])
        matrix[3:6, 6:] = c.G(np.zeros(c.size))
        matrix[6:, 3:6] = matrix[3:6, 6:].T
        nodal = part.displacement(rate)
        nodal[:, :3] += v + np.cross(omega, elements.points)
        nodal[:, 3:] += omega
    else:
        places = elements.points.copy()
        places[:, : elements.axes] += part.displacement(d)
        nodal = (v + np.cross(omega, places))[:, : elements.axes] + part.displacement(rate)
    exact = nodal.ravel() @ (elements.assemble(elements.mass()) @ nodal.ravel())
    assert y @ matrix @ y == pytest.approx(exact, rel=1e-10)


def test_arrays_are_contiguous_and_cannot_be_changed() -> None:
    c = reduce(plane(), ModalTruncation(3), fixed="x0").constants
    for name in ("s0", "second", "S", "first", "m", "stiffness", "damping"):
        array = getattr(c, name)
        assert array.flags.c_contiguous
        assert not array.flags.writeable
    assert isinstance(c, ModalConstants)


def test_damping_is_diagonal_and_as_asked_for() -> None:
    elements = beam()
    part = reduce(elements, ModalTruncation(5), fixed="x0", damping=Rayleigh(3.0, 2e-5))
    damping = part.constants.damping
    mass, k = (elements.assemble(b) for b in (elements.mass(), elements.stiffness()))
    full = part.basis.T @ ((3.0 * mass + 2e-5 * k) @ part.basis)
    assert_allclose(np.diag(damping), full, atol=1e-7 * damping.max())
    half = reduce(elements, ModalTruncation(5), fixed="x0", damping=ModalDamping([0.01, 0.03])).constants
    assert_allclose(half.damping / (2 * np.sqrt(half.stiffness)), [0.01, 0.03, 0.03, 0.03, 0.03])
    assert_allclose(reduce(elements, ModalTruncation(2), fixed="x0").constants.damping, 0.0)
    both = Rayleigh.of_ratios((10.0, 0.02), (40.0, 0.05))
    ratios = [both.mass / (4 * np.pi * f) + both.stiffness * np.pi * f for f in (10.0, 40.0)]
    assert_allclose(ratios, [0.02, 0.05])
