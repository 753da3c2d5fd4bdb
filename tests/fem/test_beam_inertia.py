"""Inertia of beams and of lumped bodies against integration over the volume of their N(x, y, z)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from element_kinds import BEAMS, RHO, LineKind
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import flexmbs as fm
from flexmbs.fem.beam import Beam
from flexmbs.rotations import skew

OMEGA, EPSILON = np.array([0.7, -1.3, 2.1]), np.array([-0.4, 0.9, 1.7])
START, END, UP = np.array([0.2, -0.1, 0.4]), np.array([0.9, 0.5, 0.1]), np.array([0.1, 0.3, 0.8])
WIDTH, HEIGHT = 0.2, 0.3  # along local z and y
YOUNG, POISSON = 3.0, 0.3


def deflection_and_rotation(length: float, shear_length: float) -> tuple[list[np.poly1d], list[np.poly1d]]:
    """v and θ of the unloaded beam for unit (v1, θ1, v2, θ2).

    v is a cubic, and from V = -EI θ'' = κGA (v' - θ): θ = v' + (EI/κGA) v'''. ``shear_length`` is EI/κGA.
    """
    cubics = [np.poly1d(row) for row in np.eye(4)]
    rotations = [c.deriv() + shear_length * c.deriv(3) for c in cubics]
    ends = np.array([[c(0), r(0), c(length), r(length)] for c, r in zip(cubics, rotations, strict=True)]).T
    weights = np.linalg.inv(ends)
    v = [sum((w * c for w, c in zip(col, cubics, strict=True)), np.poly1d([0])) for col in weights.T]
    t = [sum((w * r for w, r in zip(col, rotations, strict=True)), np.poly1d([0])) for col in weights.T]
    return v, t


def beam_points(kind: LineKind) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """N(x, y, z) in body axes (n, 3, 12) from nodal coordinates in body axes, positions and masses of the points."""
    axis = END - START
    length = float(np.linalg.norm(axis))
    x_axis = axis / length
    y_axis = UP - x_axis * (x_axis @ UP)
    y_axis = y_axis / np.linalg.norm(y_axis)
    r = np.stack([x_axis, y_axis, np.cross(x_axis, y_axis)], axis=1)
    xi, w = np.polynomial.legendre.leggauss(5)
    x, y, z = (g.ravel() for g in np.meshgrid((xi + 1) / 2 * length, xi / 2 * HEIGHT, xi / 2 * WIDTH, indexing="ij"))
    mass = RHO * np.einsum("i,j,k->ijk", w / 2 * length, w / 2 * HEIGHT, w / 2 * WIDTH).ravel()
    shear = 5 / 6 * YOUNG / (2 * (1 + POISSON)) * WIDTH * HEIGHT
    if kind.name == "euler_bernoulli":
        shear = np.inf
    v, tz = deflection_and_rotation(length, YOUNG * WIDTH * HEIGHT**3 / 12 / shear)
    w_, minus_ty = deflection_and_rotation(length, YOUNG * HEIGHT * WIDTH**3 / 12 / shear)
    n = np.zeros((len(x), 3, 12))
    for end, linear in ((0, 1 - x / length), (6, x / length)):
        k = end // 3
        n[:, 0, end] = linear
        n[:, 1, end + 3], n[:, 2, end + 3] = -z * linear, y * linear
        n[:, 1, end + 1], n[:, 0, end + 1] = v[k](x), -y * tz[k](x)
        n[:, 1, end + 5], n[:, 0, end + 5] = v[k + 1](x), -y * tz[k + 1](x)
        n[:, 2, end + 2], n[:, 0, end + 2] = w_[k](x), -z * minus_ty[k](x)
        n[:, 2, end + 4], n[:, 0, end + 4] = -w_[k + 1](x), z * minus_ty[k + 1](x)
    n = r @ n @ np.kron(np.eye(4), r.T)
    position = START + np.stack([x, y, z], axis=1) @ r.T
    return n, position, mass


def beam(kind: LineKind) -> fm.Elements:
    return fm.Elements(
        fm.Mesh.line(START, END, 1),
        fm.Material(YOUNG, POISSON, RHO),
        section=fm.Section.rectangle(WIDTH, HEIGHT),
        formulation=kind.name,
        up=UP,
    )


@pytest.mark.parametrize("kind", BEAMS, ids=str)
class TestBeams:
    def test_matrices(self, kind: LineKind) -> None:
        elements = beam(kind)
        n, _, mass = beam_points(kind)
        w, e = skew(OMEGA), skew(EPSILON)
        small = {
            "m": (elements.mass(), np.eye(3)),
            "C": (elements.gyroscopic(OMEGA), 2 * w),
            "K(ε)": (elements.stiffness_epsilon(EPSILON), e),
            "K(ω)": (elements.stiffness_omega(OMEGA), w @ w),
        }
        for i in range(3):
            for j in range(3):
                small[f"m_{i}{j}"] = elements.mass_ij(i, j), np.outer(np.eye(3)[i], np.eye(3)[j])
        for name, (blocks, matrix) in small.items():
            expected = np.einsum("q,qim,ij,qjn->mn", mass, n, matrix, n, optimize=True)
            assert_allclose(
                elements.assemble(blocks).toarray(), expected, atol=1e-12 * np.abs(expected).max(), err_msg=name
            )

    def test_loads(self, kind: LineKind) -> None:
        elements = beam(kind)
        n, x, mass = beam_points(kind)
        w, e = skew(OMEGA), skew(EPSILON)
        loads = {
            "q(ω)": (elements.load_omega(OMEGA), x @ (w @ w).T),
            "q(ε)": (elements.load_epsilon(EPSILON), x @ e.T),
        }
        for i in range(3):
            for j in range(3):
                loads[f"first_{i}{j}"] = elements.first_moment(i, j), np.outer(x[:, j], np.eye(3)[i])
        for name, (blocks, field) in loads.items():
            expected = np.einsum("q,qim,qi->m", mass, n, field)
            assert_allclose(elements.assemble(blocks), expected, atol=1e-12 * np.abs(expected).max(), err_msg=name)
        origin = np.einsum("q,qim->mi", mass, n)
        assert_allclose(elements.assemble(elements.mass_origin()), origin, atol=1e-12 * np.abs(origin).max())

    def test_shape_functions_at_the_nodes_and_of_rigid_motions(self, kind: LineKind) -> None:
        """At a node the section moves and turns as the node does; rigid motions are exact anywhere."""
        elements = beam(kind)
        block = elements.blocks[0]
        assert isinstance(block, Beam)
        y, z = 0.07, -0.04
        at_ends = block.shape_functions(np.array([0.0, 1.0]), y, z)[0]
        section = np.hstack([np.eye(3), -skew([0.0, y, z])])
        for end in range(2):
            expected = np.zeros((3, 12))
            expected[:, 6 * end : 6 * end + 6] = section
            assert_allclose(at_ends[end], expected, atol=1e-14)
        r = elements.rotations()[0][0]
        shift, turn = np.array([0.3, -0.8, 0.5]), np.array([0.9, 0.2, -0.6])
        nodal = np.concatenate([np.concatenate([shift + np.cross(turn, p), turn]) for p in (START, END)])
        s = np.linspace(0, 1, 6)
        moved = block.shape_functions(s, y, z)[0] @ (elements.transformations()[0][0] @ nodal) @ r.T
        x = START + s[:, None] * (END - START) + r @ [0, y, z]
        assert_allclose(moved, shift + np.cross(turn, x), atol=1e-13)


def test_a_lumped_body_is_a_cloud_of_points_on_a_rigid_arm() -> None:
    rng = np.random.default_rng(7)
    arms, masses = rng.normal(size=(9, 3)), rng.uniform(0.5, 1.5, size=9)
    arms -= masses @ arms / masses.sum()  # the body's centre is the node
    inertia = sum(m * (a @ a * np.eye(3) - np.outer(a, a)) for m, a in zip(masses, arms, strict=True))
    lumped = fm.LumpedMass("end", masses.sum(), inertia)
    mesh, section, material = fm.Mesh.line(START, END, 1), fm.Section.rectangle(0.2, 0.3), fm.Material(1.0, 0.3, 0.0)
    elements = fm.Elements(mesh, material, section=section, attachments=[lumped])
    n = np.stack([np.hstack([np.zeros((3, 6)), np.eye(3), -skew(a)]) for a in arms])
    w, e = skew(OMEGA), skew(EPSILON)
    for blocks, g in (
        (elements.mass(), np.eye(3)),
        (elements.gyroscopic(OMEGA), 2 * w),
        (elements.stiffness_epsilon(EPSILON), e),
        (elements.stiffness_omega(OMEGA), w @ w),
        (elements.mass_ij(0, 2), np.outer([1, 0, 0], [0, 0, 1])),
    ):
        expected = np.einsum("q,qim,ij,qjn->mn", masses, n, g, n, optimize=True)
        assert_allclose(elements.assemble(blocks).toarray(), expected, atol=1e-12 * np.abs(expected).max())
    x = END + arms
    for blocks, field in ((elements.load_omega(OMEGA), x @ (w @ w).T), (elements.load_epsilon(EPSILON), x @ e.T)):
        assert_allclose(elements.assemble(blocks), np.einsum("q,qim,qi->m", masses, n, field), atol=1e-12)
    assert_allclose(elements.assemble(elements.mass_origin()), np.einsum("q,qim->mi", masses, n), atol=1e-13)
    properties = fm.mass_properties(elements)
    assert_allclose(properties.inertia, inertia, atol=1e-12)
    assert_allclose(properties.center, END, atol=1e-13)


def second_difference(potential: Callable[[np.ndarray], float], direction: np.ndarray) -> float:
    """d²V/dt² along a direction at rest, of fourth order in the step."""
    values = [potential(t * direction) for t in 1e-2 * np.arange(-2, 3)]
    return float(np.dot([-1, 16, -30, 16, -1], values) / (12 * 1e-4))


def centrifugal_potential(positions: np.ndarray, mass: np.ndarray) -> float:
    """V = -½ ∫ρ |ω × y|² of points y."""
    return float(-0.5 * mass @ np.sum(np.cross(OMEGA, positions) ** 2, axis=1))


@pytest.mark.parametrize("kind", BEAMS, ids=str)
def test_spinning_sections_follow_the_centrifugal_potential(kind: LineKind) -> None:
    """K(ω) and the turning stiffness together are V'' when sections turn by finite rotations."""
    elements = beam(kind)
    block = elements.blocks[0]
    assert isinstance(block, Beam)
    xi, w = np.polynomial.legendre.leggauss(5)
    s, y, z = (g.ravel() for g in np.meshgrid((xi + 1) / 2, xi / 2 * HEIGHT, xi / 2 * WIDTH, indexing="ij"))
    volume = float(np.linalg.norm(END - START)) * HEIGHT * WIDTH
    mass = RHO * volume / 8 * np.einsum("i,j,k->ijk", w, w, w).ravel()
    r = elements.rotations()[0][0]
    axis = block.shape_functions(s)[0]
    tilt_y, tilt_z = (block.shape_functions(s, *arm)[0] - axis for arm in ((1.0, 0.0), (0.0, 1.0)))
    rotation = np.stack([tilt_y[:, 2], tilt_z[:, 0], -tilt_y[:, 0]], axis=1)
    arms = np.stack([np.zeros_like(y), y, z], axis=1)
    transformation = elements.transformations()[0][0]

    def potential(d: np.ndarray) -> float:
        local = transformation @ d
        turned = Rotation.from_rotvec(rotation @ local).apply(arms)
        place = START + s[:, None] * (END - START) + (axis @ local + turned) @ r.T
        return centrifugal_potential(place, mass)

    matrix = elements.assemble(elements.stiffness_omega(OMEGA) + elements.turning_stiffness(OMEGA)).toarray()
    for direction in np.random.default_rng(7).normal(size=(4, 12)):
        assert direction @ matrix @ direction == pytest.approx(second_difference(potential, direction), rel=1e-5)


def test_spinning_lumped_bodies_follow_the_centrifugal_potential() -> None:
    rng = np.random.default_rng(7)
    arms, masses = rng.normal(size=(9, 3)), rng.uniform(0.5, 1.5, size=9)
    arms -= masses @ arms / masses.sum()
    inertia = sum(m * (a @ a * np.eye(3) - np.outer(a, a)) for m, a in zip(masses, arms, strict=True))
    mesh, section = fm.Mesh.line(START, END, 1), fm.Section.rectangle(0.2, 0.3)
    lumped = fm.LumpedMass("end", masses.sum(), inertia)
    elements = fm.Elements(mesh, fm.Material(1.0, 0.3, 0.0), section=section, attachments=[lumped])
    matrix = elements.assemble(elements.stiffness_omega(OMEGA) + elements.turning_stiffness(OMEGA)).toarray()

    def potential(d: np.ndarray) -> float:
        return centrifugal_potential(END + d[6:9] + Rotation.from_rotvec(d[9:]).apply(arms), masses)

    for direction in rng.normal(size=(4, 12)):
        assert direction @ matrix @ direction == pytest.approx(second_difference(potential, direction), rel=1e-5)
