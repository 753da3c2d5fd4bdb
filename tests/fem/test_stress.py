"""Stress recovery: linear fields at integration points and nodes, equivalent and principal values, averaging."""

from __future__ import annotations

import numpy as np
import pytest
from element_kinds import CONTINUUM, SOLIDS, Kind
from numpy.testing import assert_allclose

import flexmbs as fm
from flexmbs.fem.continuum import Continuum
from flexmbs.fem.stress import TensorField, strain, stress
from flexmbs.mesh.shapes import shape_values

E, NU = 200.0, 0.3
MATERIAL = fm.Material(E, NU, 1.0)
QUADRATIC = [k for k in CONTINUUM if k.order == 2 and k.options.get("plane") != "strain"]


def bending(x: np.ndarray, curvature: float = 0.3) -> np.ndarray:
    """Saint-Venant's pure bending about z, the exact solution with σ_xx = -E κ y and no other stress."""
    xx, y, z = x.T
    return curvature * np.stack([-xx * y, xx**2 / 2 + NU * (y**2 - z**2) / 2, NU * y * z], axis=1)


def integration_points(block: Continuum) -> np.ndarray:
    return np.einsum("qa,eai->eqi", shape_values(block.type, block.tables.points), block.points[block.cells])


@pytest.mark.parametrize("kind", QUADRATIC, ids=str)
def test_quadratic_elements_reproduce_linear_stress(kind: Kind) -> None:
    """At the points and at the nodes; affine cells, in which quadratic displacements are exact."""
    mesh = kind.affine()
    elements = kind.elements(mesh, MATERIAL)
    d = kind.dimension
    field = stress(elements, bending(mesh.points)[:, :d])
    assert isinstance(field, TensorField)
    expected = np.zeros((*field.arrays[0].shape[:2], 6))
    expected[..., 0] = -E * 0.3 * integration_points(elements.blocks[0])[..., 1]
    assert_allclose(field.arrays[0], expected, atol=1e-11)
    nodal = np.zeros((mesh.n_nodes, 6))
    nodal[:, 0] = -E * 0.3 * mesh.points[:, 1]
    assert_allclose(field.nodal, nodal, atol=1e-11)
    assert_allclose(field.von_mises, np.abs(nodal[:, 0]), atol=1e-11)


@pytest.mark.parametrize("cell", ["hexahedron", "quad"])
def test_incompatible_elements_reproduce_linear_stress(cell: str) -> None:
    """A beam of rectangular cells under an end moment, held so that it may bend freely."""
    size = (2.0, 0.5, 0.4)
    mesh = fm.Mesh.box(size, (4, 2, 1)) if cell == "hexahedron" else fm.Mesh.rectangle(size[:2], (4, 2))
    elements = fm.Elements(mesh, MATERIAL)
    u = solved_under_moment(elements)
    field = stress(elements, u)
    points = integration_points(elements.blocks[0])
    for values, y in ((field.arrays[0], points[..., 1]), (field.nodal, mesh.points[:, 1])):
        expected = np.zeros((*y.shape, 6))
        expected[..., 0] = -(y - 0.25)
        assert_allclose(values, expected, atol=1e-10)


def solved_under_moment(elements: fm.Elements) -> np.ndarray:
    """Displacements under σ_xx = -(y - h/2) at both ends; rigid motions held at corners."""
    mesh = elements.mesh
    axes = elements.axes

    def pull(sign: float) -> fm.Traction:
        name = "x1" if sign > 0 else "x0"
        return fm.Traction(name, lambda x, y, *z: (-sign * (y - 0.25), *([0 * y] * (axes - 1))))

    fix = fm.Projection.fix
    corner = [mesh.nearest_node((0, 0, 0))]
    held = fix(elements, corner)
    held = held & fix(elements, [mesh.nearest_node((2.0, 0, 0))], "yz"[: axes - 1])
    if axes == 3:
        held = held & fix(elements, [mesh.nearest_node((0, 0, 0.4))], "y")
    return fm.statics(elements, loads=[pull(1.0), pull(-1.0)], fixed=held).displacement


def uniaxial(s: float) -> np.ndarray:
    return np.array([s, 0, 0, 0, 0, 0.0])


@pytest.mark.parametrize(
    ("sigma", "mises", "principal"),
    [
        (uniaxial(-7.0), 7.0, [0, 0, -7.0]),
        (np.array([0, 0, 0, 0, 0, 4.0]), 4 * np.sqrt(3), [4, 0, -4]),
        (np.array([0, 0, 0, -4.0, 0, 0]), 4 * np.sqrt(3), [4, 0, -4]),
        (np.array([5.0, 5, 5, 0, 0, 0]), 0.0, [5, 5, 5]),
        (np.array([3.0, 5, 0, 0, 0, 2.0]), np.sqrt(3**2 + 5**2 - 15 + 12), [4 + np.sqrt(5), 4 - np.sqrt(5), 0]),
    ],
    ids=["uniaxial", "shear xy", "shear yz", "hydrostatic", "plane"],
)
def test_equivalent_and_principal_stress(sigma: np.ndarray, mises: float, principal: list[float]) -> None:
    assert fm.von_mises(sigma) == pytest.approx(mises, abs=1e-12)
    assert_allclose(fm.principal(sigma), sorted(principal, reverse=True), atol=1e-12)


def test_equivalent_and_principal_strain() -> None:
    """Isochoric uniaxial strain has itself as equivalent; engineering shear γ has principal strains ±γ/2."""
    assert fm.von_mises(np.array([0.2, -0.1, -0.1, 0, 0, 0]), "strain") == pytest.approx(0.2)
    shear = np.array([0, 0, 0, 0, 0, 0.06])
    assert_allclose(fm.principal(shear, "strain"), [0.03, 0, -0.03], atol=1e-15)
    assert fm.von_mises(shear, "strain") == pytest.approx(0.06 / np.sqrt(3))


def test_equivalent_stress_is_invariant_under_rotation() -> None:
    rng = np.random.default_rng(7)
    sigma = rng.normal(size=(5, 6))
    index = np.array([[0, 5, 4], [5, 1, 3], [4, 3, 2]])
    q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    t = q @ sigma[:, index] @ q.T
    turned = np.stack([t[:, 0, 0], t[:, 1, 1], t[:, 2, 2], t[:, 1, 2], t[:, 2, 0], t[:, 0, 1]], axis=1)
    assert_allclose(fm.von_mises(turned), fm.von_mises(sigma))
    assert_allclose(fm.principal(turned), fm.principal(sigma), atol=1e-13)
    s1, s2, s3 = fm.principal(sigma).T
    assert_allclose(fm.von_mises(sigma) ** 2, ((s1 - s2) ** 2 + (s2 - s3) ** 2 + (s3 - s1) ** 2) / 2)


def test_nodes_take_the_mean_of_their_cells() -> None:
    """Two triangles with different constant stress: shared nodes have the mean, the others their own."""
    mesh = fm.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [("triangle", [[0, 1, 2], [0, 2, 3]])])
    elements = fm.Elements(mesh, MATERIAL)
    field = stress(elements, np.array([[0, 0], [0.1, 0], [0.1, 0.3], [0, 0]]))
    first, second = field.arrays[0][:, 0]
    assert np.abs(first - second).max() > 1
    assert_allclose(field.nodal, [(first + second) / 2, first, (first + second) / 2, second])
    assert_allclose(field.von_mises_at_points[0][:, 0], fm.von_mises(np.stack([first, second])))


@pytest.mark.parametrize("plane", ["stress", "strain"])
def test_the_third_direction_of_plane_elements(plane: str) -> None:
    """Pulled along x: ε_zz = -ν σ/E in plane stress, σ_zz = ν (σ_xx + σ_yy) in plane strain."""
    mesh = fm.Mesh.rectangle((1.0, 0.6), 2, cell="quad8")
    elements = fm.Elements(mesh, MATERIAL, plane=plane)
    held = fm.Projection.fix(elements, "x0", "x") & fm.Projection.fix(elements, [mesh.nearest_node((0, 0))], "y")
    result = fm.statics(elements, loads=fm.Traction("x1", (2.0, 0)), fixed=held)
    stresses, strains = result.stress.arrays[0], result.strain.arrays[0]
    if plane == "stress":
        assert_allclose(stresses, np.broadcast_to([2.0, 0, 0, 0, 0, 0], stresses.shape), atol=1e-12)
        expected = np.array([2, -2 * NU, -2 * NU, 0, 0, 0]) / E
    else:
        assert_allclose(stresses, np.broadcast_to([2.0, 0, 2 * NU, 0, 0, 0], stresses.shape), atol=1e-12)
        expected = np.array([2 * (1 - NU**2), -2 * NU * (1 + NU), 0, 0, 0, 0]) / E
    assert_allclose(strains, np.broadcast_to(expected, strains.shape), atol=1e-14)
    assert_allclose(result.strain.nodal, np.broadcast_to(expected, result.strain.nodal.shape), atol=1e-14)


@pytest.mark.parametrize("kind", SOLIDS, ids=str)
def test_stress_does_the_work_of_the_nodal_forces(kind: Kind) -> None:
    """∫σ:ε dV at the integration points is dᵀKd, for any displacement, internal modes included."""
    mesh = kind.distorted(1)
    elements = kind.elements(mesh)
    u = np.random.default_rng(7).normal(size=(mesh.n_nodes, 3))
    block = elements.blocks[0]
    assert isinstance(block, Continuum)
    gradients = block.tables.gradients.reshape(len(block.tables.weights), 3, -1)
    jacobian = np.einsum("qka,eai->eqki", gradients, mesh.points[block.cells])
    volume = np.linalg.det(jacobian) * block.tables.weights
    work = np.einsum("eq,eqc,eqc->", volume, stress(elements, u).arrays[0], strain(elements, u).arrays[0])
    assert work == pytest.approx(u.ravel() @ (elements.assemble(elements.stiffness()) @ u.ravel()), rel=1e-11)


def test_two_materials_keep_their_own_stress() -> None:
    """A bar of two halves pulled along x: the same σ, strains in the ratio of the moduli."""
    mesh = fm.Mesh.box((2.0, 0.5, 0.5), (4, 1, 1), cell="hexahedron20").replace(cell_sets={"a": [0, 1], "b": [2, 3]})
    elements = fm.Elements(mesh, {"b": fm.Material(4 * E, 0.0, 1.0), "a": fm.Material(E, 0.0, 1.0)})
    result = fm.statics(elements, loads=fm.Traction("x1", (3.0, 0, 0)), fixed="x0")
    assert_allclose(result.stress.arrays[0][..., 0], 3.0, rtol=1e-9)
    assert_allclose(result.strain.arrays[0][:2, :, 0], 3.0 / E, rtol=1e-9)
    assert_allclose(result.strain.arrays[0][2:, :, 0], 3.0 / (4 * E), rtol=1e-9)


def test_fields_of_parts_with_attachments() -> None:
    """Point masses and springs carry no stress and disturb no field."""
    mesh = fm.Mesh.box((1.0, 0.5, 0.5), (2, 1, 1))
    elements = fm.Elements(mesh, MATERIAL, attachments=[fm.LumpedMass("x1", 1.0), fm.GroundSpring("x1", 1.0)])
    bare = fm.Elements(mesh, MATERIAL)
    u = np.random.default_rng(7).normal(size=(mesh.n_nodes, 3))
    for field, plain in ((stress(elements, u), stress(bare, u)), (strain(elements, u), strain(bare, u))):
        assert_allclose(field.nodal, plain.nodal)
        assert_allclose(field.von_mises, plain.von_mises)
        assert_allclose(field.principal, plain.principal)
        assert_allclose(field.von_mises_at_points[0], plain.von_mises_at_points[0])
    k_g = elements.assemble(elements.geometric_stiffness(stress(elements, u)))
    assert abs(k_g - bare.assemble(bare.geometric_stiffness(stress(bare, u)))).max() < 1e-12 * abs(k_g).max()


def test_lines_have_no_strain_field() -> None:
    elements = fm.Elements(fm.Mesh.line((0, 0, 0), (1, 0, 0), 1), MATERIAL, section=fm.Section.circle(0.1))
    with pytest.raises(fm.AnalysisError, match="section forces"):
        strain(elements, np.zeros((2, 6)))
