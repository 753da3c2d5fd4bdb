"""The contract of every finite element: what any of them must fulfil, run over all of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.special
from element_kinds import CONTINUUM, LINES, RHO, SIZE, SOLIDS, Kind, LineKind, nodal, outside, surface_load, tensor
from numpy.testing import assert_allclose

import flexmbs as fm
from flexmbs.fem.continuum import Continuum
from flexmbs.fem.rigid import rigid_motions
from flexmbs.fem.stress import strain, stress
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.quadrature import quadrature
from flexmbs.mesh.shapes import shape_gradients, shape_values
from flexmbs.rotations import axis_angle, skew

OMEGA, EPSILON = np.array([0.7, -1.3, 2.1]), np.array([-0.4, 0.9, 1.7])
TURN = axis_angle((1.0, 2.0, -0.5), 0.8)
FEM_CELLS = sorted({k.cell for k in CONTINUUM} | {"line", "line3"})

continuum = pytest.mark.parametrize("kind", CONTINUUM, ids=str)
every = pytest.mark.parametrize("kind", [*CONTINUUM, *LINES], ids=str)


def spin(kind: Kind | LineKind, vector: np.ndarray) -> np.ndarray:
    """The vector, or its part along z for plane elements."""
    return vector * [0, 0, 1] if isinstance(kind, Kind) and kind.dimension == 2 else vector


def mesh_of(kind: Kind | LineKind) -> fm.Mesh:
    return kind.distorted() if isinstance(kind, Kind) else kind.frame()


def dense(elements: fm.Elements, blocks: fm.Blocks) -> np.ndarray:
    return elements.assemble(blocks).toarray()


# ---- reference cells --------------------------------------------------------------------------------------


def inner_points(cell: str) -> np.ndarray:
    return quadrature(cell, 6)[0]


@pytest.mark.parametrize("cell", FEM_CELLS)
def test_shape_functions_sum_to_one_and_interpolate_position(cell: str) -> None:
    xi = inner_points(cell)
    assert_allclose(shape_values(cell, xi).sum(axis=1), 1.0, atol=1e-14)
    assert_allclose(shape_gradients(cell, xi).sum(axis=1), 0.0, atol=1e-13)
    assert_allclose(shape_values(cell, xi) @ CELLS[cell].points, xi, atol=1e-14)


@pytest.mark.parametrize("cell", FEM_CELLS)
def test_shape_functions_are_one_at_their_own_node(cell: str) -> None:
    assert_allclose(shape_values(cell, CELLS[cell].points), np.eye(CELLS[cell].nodes), atol=1e-14)


@pytest.mark.parametrize("cell", FEM_CELLS)
def test_gradients_are_derivatives_of_values(cell: str) -> None:
    xi, h = inner_points(cell), 1e-5
    for k in range(xi.shape[1]):
        step = h * np.eye(xi.shape[1])[k]
        slope = (shape_values(cell, xi + step) - shape_values(cell, xi - step)) / (2 * h)
        assert_allclose(shape_gradients(cell, xi)[:, :, k], slope, atol=1e-9)


@pytest.mark.parametrize("cell", FEM_CELLS)
def test_shape_functions_of_a_node_vanish_on_the_faces_it_does_not_touch(cell: str) -> None:
    corners = CELLS[cell].points
    for face, face_cell in zip(CELLS[cell].faces, CELLS[cell].face_cells, strict=True):
        on_face = shape_values(face_cell, inner_points(face_cell)) @ corners[list(face)]
        others = np.setdiff1d(np.arange(len(corners)), face)
        assert_allclose(shape_values(cell, on_face)[:, others], 0.0, atol=1e-14)


def exact_monomial(shape: str, powers: tuple[int, ...]) -> float:
    """∫ x^a y^b z^c over the reference cell, in closed form."""

    def symmetric(a: int) -> float:  # over (-1, 1)
        return 2 / (a + 1) if a % 2 == 0 else 0.0

    def simplex(*exponents: int) -> float:  # Dirichlet's integral
        gamma = [scipy.special.factorial(e) for e in exponents]
        return float(np.prod(gamma) / scipy.special.factorial(sum(exponents) + len(exponents)))

    if shape in ("line", "quad", "hexahedron"):
        return float(np.prod([symmetric(a) for a in powers]))
    if shape in ("triangle", "tetra"):
        return simplex(*powers)
    if shape == "wedge":
        return simplex(*powers[:2]) * symmetric(powers[2])
    a, b, c = powers  # pyramid: x = X(1-z), y = Y(1-z)
    return symmetric(a) * symmetric(b) * float(scipy.special.beta(c + 1, a + b + 3))


@pytest.mark.parametrize("degree", range(1, 9))
@pytest.mark.parametrize("shape", sorted({CELLS[c].shape for c in FEM_CELLS}))
def test_quadrature_is_exact_to_its_degree(shape: str, degree: int) -> None:
    xi, w = quadrature(shape, degree)
    assert (w > 0).all()
    for powers in product(range(degree + 1), repeat=xi.shape[1]):
        if sum(powers) <= degree:
            assert w @ np.prod(xi ** np.array(powers), axis=1) == pytest.approx(
                exact_monomial(shape, powers), rel=1e-13, abs=1e-15
            )


# ---- patch test -------------------------------------------------------------------------------------------


def linear_field(dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """u = c + H x with rotation, stretch and shear."""
    rng = np.random.default_rng(11)
    c, h = rng.normal(size=3), rng.normal(size=(3, 3))
    if dimension == 2:
        c[2] = 0.0
        h[2] = h[:, 2] = 0.0
    return c, h


def exact_strain_stress(kind: Kind, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The six strains and stresses of a displacement gradient, the out-of-plane ones from the plane's condition."""
    d = kind.material().elasticity
    e = h + h.T
    voigt = np.array([e[0, 0] / 2, e[1, 1] / 2, e[2, 2] / 2, e[1, 2], e[0, 2], e[0, 1]])
    if kind.dimension == 2 and kind.options["plane"] == "stress":
        # of all out-of-plane strains nature takes those of least energy
        voigt[2:5] = -np.linalg.inv(d[2:5, 2:5]) @ (d[2:5] @ voigt)
    return voigt, d @ voigt


@continuum
def test_patch_of_distorted_cells_carries_constant_stress(kind: Kind) -> None:
    d = kind.dimension
    mesh = kind.distorted(divisions=2 if d == 3 else 3)
    elements = kind.elements(mesh)
    c, h = linear_field(d)
    exact = nodal(mesh, lambda x: c + x @ h.T, d)
    held = np.zeros(mesh.n_nodes, dtype=bool)
    held[outside(mesh)] = True
    held = np.repeat(held, d)
    assert not held.all()
    k = dense(elements, elements.stiffness())
    u = np.where(held, exact, 0.0)
    u[~held] = np.linalg.solve(k[~held][:, ~held], -k[~held][:, held] @ exact[held])
    assert_allclose(u, exact, atol=1e-12)
    strains, stresses = exact_strain_stress(kind, h)
    field = stress(elements, u.reshape(-1, d))
    scale = np.abs(stresses).max()
    for values in (*field.arrays, field.nodal):
        assert_allclose(values, np.broadcast_to(stresses, values.shape), atol=1e-11 * scale)
    deformation = strain(elements, u.reshape(-1, d))
    assert_allclose(deformation.arrays[0], np.broadcast_to(strains, deformation.arrays[0].shape), atol=1e-11)
    reactions = surface_load(mesh, stresses)[:, :d] * kind.options.get("thickness", 1.0)
    assert_allclose(k @ u, reactions.ravel(), atol=1e-12 * scale)


def patch_error(kind: Kind, divisions: int) -> float:
    """Largest error of a linear field inside a patch of curved cells that is held at its outside."""

    def bent(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, ...]:
        if kind.dimension == 2:
            return x + 0.08 * np.sin(3 * y), y + 0.08 * np.sin(2 * x)
        return x + 0.08 * np.sin(3 * y) * z, y + 0.08 * np.sin(2 * x + z), z + 0.08 * np.cos(2 * x) * y

    mesh = kind.block_mesh(divisions).mapped(bent)
    c, h = linear_field(kind.dimension)
    exact = nodal(mesh, lambda x: c + x @ h.T, kind.dimension)
    elements = kind.elements(mesh)
    supports = fm.Projection.fix(elements, outside(mesh), values=exact.reshape(mesh.n_nodes, -1)[outside(mesh)])
    k, f = supports.project_system(elements.assemble(elements.stiffness()), np.zeros(elements.n_dofs))
    return float(np.abs(supports.expand(fm.factorize(k).solve(f)) - exact).max())


@pytest.mark.parametrize("kind", [k for k in CONTINUUM if k.order == 2], ids=str)
def test_patch_of_curved_cells_carries_constant_stress(kind: Kind) -> None:
    """The four points of tetra10 integrate constant stress over curved cells to order h³ only, the usual bargain."""
    coarse, fine = patch_error(kind, 2), patch_error(kind, 4)
    if kind.cell == "tetra10":
        assert coarse < 1e-4
        assert np.log2(coarse / fine) > 2.5
    else:
        assert max(coarse, fine) < 1e-12


@continuum
def test_uniform_prestress_has_the_energy_of_the_second_order_strain(kind: Kind) -> None:
    """½ uᵀ K_g u = ∫ σ : ½ (∇u)ᵀ∇u, here for linear u."""
    d = kind.dimension
    mesh = kind.distorted()
    elements = kind.elements(mesh)
    c, h = linear_field(d)
    sigma = np.array([1.2, -0.7, 0.4, 0.3, -0.5, 0.8])
    volume = fm.mass_properties(elements).mass / RHO
    k_g = dense(elements, elements.geometric_stiffness(sigma))
    u = nodal(mesh, lambda x: c + x @ h.T, d)
    assert u @ k_g @ u == pytest.approx(volume * np.einsum("ik,kl,il->", h, tensor(sigma), h), rel=1e-12)
    assert_allclose(k_g, k_g.T, atol=1e-14 * np.abs(k_g).max())
    # its forces are those of the tractions H σ n
    tractions = surface_load(mesh, h @ tensor(sigma))[:, :d] * kind.options.get("thickness", 1.0)
    assert_allclose(k_g @ u, tractions.ravel(), atol=1e-12)


@continuum
def test_the_short_way_through_affine_cells_is_the_long_way(kind: Kind) -> None:
    """Affine cells take their integrals from the reference cell; the same matrices as point by point."""
    mesh = kind.affine()
    short, long = kind.elements(mesh), kind.elements(mesh)
    block = long.blocks[0]
    assert isinstance(block, Continuum)
    assert block.affine.all()
    block.affine = np.zeros(len(block.cells), dtype=bool)
    for one, other in ((short.stiffness(), long.stiffness()), (short.mass(), long.mass())):
        assert_allclose(one[0], other[0], atol=1e-13 * np.abs(other[0]).max())
        assert_allclose(dense(short, one), dense(long, other), atol=1e-13 * np.abs(other[0]).max())


# ---- rigid motions and rank -------------------------------------------------------------------------------


@every
def test_rigid_motions_have_no_energy(kind: Kind | LineKind) -> None:
    elements = kind.elements(mesh_of(kind))
    k = dense(elements, elements.stiffness())
    motions = rigid_motions(elements)
    assert_allclose(k, k.T, atol=1e-13 * np.abs(k).max())
    assert_allclose(k @ motions, 0.0, atol=1e-12 * np.abs(k).max())


@continuum
def test_one_element_has_no_other_zero_energy_motion(kind: Kind) -> None:
    elements = kind.elements(kind.single(), fm.Material(1.0, 0.3, RHO))
    values = np.linalg.eigvalsh(elements.stiffness()[0][0])
    assert np.abs(values[: kind.rigid_motions]).max() < 1e-13 * values[-1]
    assert values[kind.rigid_motions] > 1e-4 * values[-1]


@pytest.mark.parametrize("kind", LINES, ids=str)
def test_rank_of_one_line_element(kind: LineKind) -> None:
    elements = kind.elements(fm.Mesh.line((0.1, 0.2, 0.3), (0.5, 0.9, -0.2), 1))
    values = np.linalg.eigvalsh(elements.stiffness()[0][0])
    zero = 5 if kind.name == "bar" else 6  # a bar is free to move across: six coordinates, one stretch
    assert np.abs(values[:zero]).max() < 1e-13 * values[-1]
    assert values[zero] > 1e-4 * values[-1]


# ---- inertia: properties of the theory, section 2 ---------------------------------------------------------


@every
def test_symmetries_of_the_inertia_matrices(kind: Kind | LineKind) -> None:
    elements = kind.elements(mesh_of(kind))
    omega, epsilon = spin(kind, OMEGA), spin(kind, EPSILON)
    axes = range(elements.axes)
    for number in range(len(elements.blocks)):
        m = elements.mass()[number]
        lowest, highest = np.linalg.eigvalsh(m)[:, 0], np.linalg.eigvalsh(m)[:, -1]
        assert (lowest > 1e-6 * highest).all()
        m_ij = {(i, j): elements.mass_ij(i, j)[number] for i in axes for j in axes}
        tiny = 1e-14 * np.abs(m).max()
        for i, j in m_ij:
            assert_allclose(m_ij[j, i], m_ij[i, j].transpose(0, 2, 1), atol=tiny)
        assert_allclose(m, sum(m_ij[i, i] for i in axes), atol=tiny)
        w, e = skew(omega), skew(epsilon)
        c = elements.gyroscopic(omega)[number]
        k_e, k_w = elements.stiffness_epsilon(epsilon)[number], elements.stiffness_omega(omega)[number]
        assert_allclose(c, 2 * sum(w[i, j] * m_ij[i, j] for i, j in m_ij), atol=30 * tiny)
        assert_allclose(k_e, sum(e[i, j] * m_ij[i, j] for i, j in m_ij), atol=30 * tiny)
        assert_allclose(k_w, sum((w @ w)[i, j] * m_ij[i, j] for i, j in m_ij), atol=30 * tiny)
        assert_allclose(c, -c.transpose(0, 2, 1), atol=30 * tiny)
        assert_allclose(k_e, -k_e.transpose(0, 2, 1), atol=30 * tiny)
        assert_allclose(k_w, k_w.transpose(0, 2, 1), atol=30 * tiny)
        assert np.linalg.eigvalsh(k_w).max() < 30 * tiny
        assert np.linalg.eigvalsh(k_w).min() < -1e-3 * np.abs(m).max()


@every
def test_loads_are_sums_of_first_moments(kind: Kind | LineKind) -> None:
    elements = kind.elements(mesh_of(kind))
    omega, epsilon = spin(kind, OMEGA), spin(kind, EPSILON)
    axes = range(elements.axes)
    for number in range(len(elements.blocks)):
        first = {(i, j): elements.first_moment(i, j)[number] for i in axes for j in axes}
        w, e = skew(omega) @ skew(omega), skew(epsilon)
        assert_allclose(elements.load_omega(omega)[number], sum(w[i, j] * first[i, j] for i, j in first), atol=1e-14)
        assert_allclose(
            elements.load_epsilon(epsilon)[number], sum(e[i, j] * first[i, j] for i, j in first), atol=1e-14
        )


@every
def test_rigid_motions_see_the_rigid_body(kind: Kind | LineKind) -> None:
    """With T the rigid motions: m_Oᵀ T = mass I, Tᵀ M T, Tᵀ q(ε) and Tᵀ q(ω) are those of a rigid body."""
    mesh = mesh_of(kind)
    elements = kind.elements(mesh)
    d = elements.axes
    properties = fm.mass_properties(elements)
    motions = rigid_motions(elements)
    m_origin = elements.assemble(elements.mass_origin())
    assert_allclose(m_origin.T @ motions[:, :d], properties.mass * np.eye(d), atol=1e-13)
    omega, epsilon = spin(kind, OMEGA), spin(kind, EPSILON)
    turn = slice(2, 3) if d == 2 else slice(None)
    q_e = motions.T @ elements.assemble(elements.load_epsilon(epsilon))
    q_w = motions.T @ elements.assemble(elements.load_omega(omega))
    s, inertia = properties.mass * properties.center, properties.inertia_origin
    assert_allclose(q_e[:d], np.cross(epsilon, s)[:d], atol=1e-13)
    assert_allclose(q_w[:d], np.cross(omega, np.cross(omega, s))[:d], atol=1e-13)
    assert_allclose(q_e[d:], (inertia @ epsilon)[turn], atol=1e-13)
    assert_allclose(q_w[d:], np.cross(omega, inertia @ omega)[turn], atol=1e-13)


# ---- mass properties --------------------------------------------------------------------------------------


@continuum
def test_mass_properties_of_a_box(kind: Kind) -> None:
    """Exact whatever the cells inside look like."""
    mesh = kind.distorted(boundary=False, amount=0.25)
    properties = fm.mass_properties(kind.elements(mesh))
    a, b, c = SIZE
    if kind.dimension == 2:
        mass = RHO * a * b * kind.options["thickness"]
        assert properties.inertia[2, 2] == pytest.approx(mass * (a**2 + b**2) / 12, rel=1e-12)
        assert_allclose(properties.center[:2], [a / 2, b / 2], rtol=1e-12)
    else:
        mass = RHO * a * b * c
        expected = mass / 12 * np.diag([b**2 + c**2, a**2 + c**2, a**2 + b**2])
        assert_allclose(properties.inertia, expected, atol=1e-12)
        assert_allclose(properties.center, SIZE / 2, rtol=1e-12)
    assert properties.mass == pytest.approx(mass, rel=1e-12)


@pytest.mark.parametrize("kind", SOLIDS, ids=str)
def test_mass_properties_of_a_cylinder(kind: Kind) -> None:
    """Straight cells make a prism with the circle's inscribed polygon as base; curved ones the cylinder, nearly."""
    radius, length, sides = 0.7, 1.3, 16
    mesh = fm.Mesh.cylinder(radius, length, (sides, 1, 2), cell=kind.cell)
    properties = fm.mass_properties(kind.elements(mesh))
    angle = 2 * np.pi / sides
    polygon = sides / 2 * np.sin(angle) * radius**2
    area, polar = polygon, polygon * radius**2 * (2 + np.cos(angle)) / 6
    tolerance = 1e-12
    if kind.order == 2:
        area, polar, tolerance = np.pi * radius**2, np.pi * radius**4 / 2, 2e-4
    mass = RHO * area * length
    across = RHO * length * polar / 2 + mass * length**2 / 12
    expected = np.diag([across, across, RHO * length * polar])
    assert properties.mass == pytest.approx(mass, rel=tolerance)
    assert_allclose(properties.center, [0, 0, length / 2], atol=1e-12)
    assert_allclose(properties.inertia, expected, atol=tolerance * expected.max())


@pytest.mark.parametrize("kind", LINES[1:], ids=str)
def test_a_beam_has_the_mass_properties_of_its_box(kind: LineKind) -> None:
    length, b, h = 1.3, 0.2, 0.3  # across z, up y
    elements = kind.elements(fm.Mesh.line((0, 0, 0), (length, 0, 0), 3))
    properties = fm.mass_properties(elements)
    mass = RHO * length * b * h
    assert properties.mass == pytest.approx(mass, rel=1e-13)
    assert_allclose(properties.center, [length / 2, 0, 0], atol=1e-14)
    expected = mass / 12 * np.diag([b**2 + h**2, b**2 + length**2, h**2 + length**2])
    assert_allclose(properties.inertia, expected, atol=1e-14)


# ---- invariance -------------------------------------------------------------------------------------------


def turned_by(kind: Kind | LineKind) -> np.ndarray:
    return axis_angle((0, 0, 1), 0.8) if isinstance(kind, Kind) and kind.dimension == 2 else TURN


def all_matrices(elements: fm.Elements, omega: np.ndarray, epsilon: np.ndarray) -> list[np.ndarray]:
    blocks = [
        elements.mass(),
        elements.stiffness(),
        elements.gyroscopic(omega),
        elements.stiffness_epsilon(epsilon),
        elements.stiffness_omega(omega),
    ]
    return [dense(elements, b) for b in blocks]


@every
def test_turning_everything_turns_the_matrices(kind: Kind | LineKind) -> None:
    mesh = mesh_of(kind)
    turn = turned_by(kind)
    omega, epsilon = spin(kind, OMEGA), spin(kind, EPSILON)
    if isinstance(kind, Kind):
        law = kind.material().elasticity
        one = kind.elements(mesh)
        other = kind.elements(mesh.transformed(turn), fm.Material.anisotropic(law, RHO, axes=turn))
    else:
        up = np.array([0.3, -0.5, 0.9])
        one, other = kind.elements(mesh, up=up), kind.elements(mesh.transformed(turn), up=turn @ up)
    d = one.axes
    big = np.kron(np.eye(one.n_dofs // d), turn[:d, :d])
    before, after = all_matrices(one, omega, epsilon), all_matrices(other, turn @ omega, turn @ epsilon)
    for a, b in zip(before, after, strict=True):
        assert_allclose(b, big @ a @ big.T, atol=1e-12 * np.abs(a).max())
    load = one.load_omega(omega) + one.load_epsilon(epsilon)
    turned = other.load_omega(turn @ omega) + other.load_epsilon(turn @ epsilon)
    assert_allclose(other.assemble(turned), big @ one.assemble(load), atol=1e-12)
    origin, turned_origin = one.assemble(one.mass_origin()), other.assemble(other.mass_origin())
    assert_allclose(turned_origin, big @ origin @ turn[:d, :d].T, atol=1e-13)


@every
def test_numbering_does_not_matter(kind: Kind | LineKind) -> None:
    mesh = mesh_of(kind)
    order = np.random.default_rng(7).permutation(mesh.n_nodes)
    one, other = kind.elements(mesh), kind.elements(mesh.renumbered(order))
    per_node = one.dofs_per_node
    places = (order[:, None] * per_node + np.arange(per_node)).ravel()
    omega, epsilon = spin(kind, OMEGA), spin(kind, EPSILON)
    before, after = all_matrices(one, omega, epsilon), all_matrices(other, omega, epsilon)
    for a, b in zip(before, after, strict=True):
        assert_allclose(b, a[np.ix_(places, places)], atol=1e-13 * np.abs(a).max())
    assert_allclose(other.assemble(other.load_omega(omega)), one.assemble(one.load_omega(omega))[places], atol=1e-14)
