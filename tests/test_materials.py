"""Materials: the same physics however it is written down, and inputs that no material has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm
from flexmbs.materials import USUAL, VOIGT, VOIGT_INDEX, elasticity_tensor
from flexmbs.rotations import axis_angle

E, NU = 200.0, 0.28
YOUNG, POISSON, SHEAR = (120.0, 9.0, 14.0), (0.3, 0.4, 0.25), (5.0, 3.0, 4.0)
TURN = axis_angle((1, -2, 0.7), 0.9)


def tensor(strain: np.ndarray) -> np.ndarray:
    """Strain tensor of engineering strains in Voigt's order."""
    xx, yy, zz, yz, zx, xy = strain
    return np.array([[xx, xy / 2, zx / 2], [xy / 2, yy, yz / 2], [zx / 2, yz / 2, zz]])


def voigt(t: np.ndarray) -> np.ndarray:
    return np.array([t[0, 0], t[1, 1], t[2, 2], 2 * t[1, 2], 2 * t[0, 2], 2 * t[0, 1]])


def test_isotropic_obeys_hookes_law() -> None:
    compliance = np.linalg.inv(fm.Material(E, NU, 1.0).elasticity)
    assert_allclose(compliance @ [1, 0, 0, 0, 0, 0], np.array([1, -NU, -NU, 0, 0, 0]) / E, atol=1e-16)
    assert_allclose(compliance @ [0, 0, 0, 1, 0, 0], np.array([0, 0, 0, 1, 0, 0]) * 2 * (1 + NU) / E, atol=1e-16)
    assert fm.Material(E, NU, 1.0).shear == pytest.approx(E / 2 / (1 + NU))


def test_orthotropic_with_equal_constants_is_isotropic() -> None:
    g = E / (2 * (1 + NU))
    orthotropic = fm.Material.orthotropic((E,) * 3, (NU,) * 3, (g,) * 3, 1.0)
    assert_allclose(orthotropic.elasticity, fm.Material(E, NU, 1.0).elasticity, atol=1e-12)
    assert not orthotropic.isotropic
    assert fm.Material(E, NU, 1.0).isotropic


def test_orthotropic_constants_are_what_a_test_bar_shows() -> None:
    """Pull along each axis, shear in each plane, and read the constants off."""
    compliance = np.linalg.inv(fm.Material.orthotropic(YOUNG, POISSON, SHEAR, 1.0).elasticity)
    (e1, e2, e3), (n12, n23, n13), (g12, g23, g13) = YOUNG, POISSON, SHEAR
    assert_allclose(compliance @ np.eye(6)[0], [1 / e1, -n12 / e1, -n13 / e1, 0, 0, 0], atol=1e-15)
    assert_allclose(compliance @ np.eye(6)[1], [-n12 / e1, 1 / e2, -n23 / e2, 0, 0, 0], atol=1e-15)
    assert_allclose(compliance @ np.eye(6)[2], [-n13 / e1, -n23 / e2, 1 / e3, 0, 0, 0], atol=1e-15)
    assert_allclose(np.diag(compliance)[3:], [1 / g23, 1 / g13, 1 / g12])


def test_energy_does_not_depend_on_the_axes_it_is_written_in() -> None:
    """A strain turned with the material's axes has the same energy, and its stress turns too."""
    straight = fm.Material.orthotropic(YOUNG, POISSON, SHEAR, 1.0)
    turned = fm.Material.orthotropic(YOUNG, POISSON, SHEAR, 1.0, axes=TURN)
    strain = np.random.default_rng(7).normal(size=6)
    turned_strain = voigt(TURN @ tensor(strain) @ TURN.T)
    assert turned_strain @ turned.elasticity @ turned_strain == pytest.approx(strain @ straight.elasticity @ strain)
    stress, turned_stress = straight.elasticity @ strain, turned.elasticity @ turned_strain
    assert_allclose(turned_stress[VOIGT_INDEX], TURN @ stress[VOIGT_INDEX] @ TURN.T, atol=1e-12)


def test_axes_are_columns() -> None:
    """The stiff direction points along the first column."""
    axes = axis_angle((0, 0, 1), np.pi / 2)  # first material axis along y
    compliance = np.linalg.inv(fm.Material.orthotropic(YOUNG, POISSON, SHEAR, 1.0, axes=axes).elasticity)
    assert_allclose(1 / np.diag(compliance)[:3], [YOUNG[1], YOUNG[0], YOUNG[2]])


def test_turning_an_isotropic_material_changes_nothing() -> None:
    d = fm.Material(E, NU, 1.0).elasticity
    assert_allclose(fm.Material.anisotropic(d, 1.0, axes=TURN).elasticity, d, atol=1e-12)


def test_tensor_and_matrix_hold_the_same() -> None:
    a = np.random.default_rng(7).normal(size=(6, 6))
    d = a @ a.T
    c = elasticity_tensor(d)
    assert_allclose(c, c.transpose(2, 3, 0, 1))
    assert_allclose(c, c.transpose(1, 0, 2, 3))
    strain = np.random.default_rng(8).normal(size=6)
    stress = np.einsum("ijkl,kl->ij", c, tensor(strain))
    assert_allclose([stress[i, j] for i, j in VOIGT], d @ strain)


def test_plane_laws_of_the_isotropic_material() -> None:
    material = fm.Material(E, NU, 1.0)
    stress = E / (1 - NU**2) * np.array([[1, NU, 0], [NU, 1, 0], [0, 0, (1 - NU) / 2]])
    factor = E / ((1 + NU) * (1 - 2 * NU))
    strain = factor * np.array([[1 - NU, NU, 0], [NU, 1 - NU, 0], [0, 0, (1 - 2 * NU) / 2]])
    assert_allclose(material.plane("stress"), stress, atol=1e-12)
    assert_allclose(material.plane("strain"), strain, atol=1e-12)
    assert_allclose(material.out_of_plane("stress")[0], [-NU / (1 - NU), -NU / (1 - NU), 0], atol=1e-15)


@pytest.mark.parametrize("plane", ["stress", "strain"])
def test_a_plane_element_is_a_solid_one_between_two_planes(plane: str) -> None:
    """One brick under the same in-plane displacements, its faces held in z or free to move: the same energy."""
    law = np.random.default_rng(7).normal(size=(6, 6))
    material = fm.Material.anisotropic(law @ law.T + 3 * np.eye(6), 1.0)
    thickness = 0.4
    quad = fm.Mesh.rectangle((1.0, 0.7), 1, cell="quad")
    flat = fm.Elements(quad, material, plane=plane, thickness=thickness, formulation="plain")
    solid = fm.Mesh.box((1.0, 0.7, thickness), 1, cell="hexahedron")
    brick = fm.Elements(solid, material, formulation="plain")
    h = np.random.default_rng(8).normal(size=(2, 2))
    u = (quad.points[:, :2] @ h.T).ravel()
    energy = u @ (flat.assemble(flat.stiffness()) @ u)
    k = brick.assemble(brick.stiffness()).toarray()
    moved = np.zeros((8, 3))
    moved[:, :2] = solid.points[:, :2] @ h.T
    if plane == "strain":
        assert moved.ravel() @ k @ moved.ravel() == pytest.approx(energy, rel=1e-12)
        return
    # three ways to strain out of the plane; nature takes the least energy
    z = solid.points[:, 2]
    ways = np.zeros((3, 8, 3))
    for i in range(3):
        ways[i, :, i] = z
    basis = np.column_stack([moved.ravel(), *(w.ravel() for w in ways)])
    small = basis.T @ k @ basis
    least = small[0, 0] - small[0, 1:] @ np.linalg.solve(small[1:, 1:], small[1:, 0])
    assert least == pytest.approx(energy, rel=1e-12)


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        ({"young": 0.0}, "Young's modulus"),
        ({"young": -1.0}, "Young's modulus"),
        ({"young": np.inf}, "Young's modulus"),
        ({"poisson": 0.5}, "Poisson"),
        ({"poisson": -1.0}, "Poisson"),
        ({"poisson": np.nan}, "Poisson"),
        ({"density": -1.0}, "density"),
        ({"density": np.nan}, "density"),
    ],
)
def test_impossible_isotropic_constants_are_refused(constants: dict[str, float], message: str) -> None:
    with pytest.raises(fm.MaterialError, match=message):
        fm.Material(**{"young": 1.0, "poisson": 0.3, "density": 1.0, **constants}, name="rubber")


def test_errors_name_the_material() -> None:
    with pytest.raises(fm.MaterialError, match="rubber"):
        fm.Material(1.0, 0.5, 1.0, "rubber")


@pytest.mark.parametrize(
    ("young", "poisson", "shear", "message"),
    [
        ((1, -1, 1), (0.3,) * 3, (1,) * 3, "moduli must be positive"),
        ((1, 1, 1), (0.3,) * 3, (1, 0, 1), "moduli must be positive"),
        ((1, 1, 1), (0.3, 1.2, 0.3), (1,) * 3, "positive definite"),
        pytest.param((1, 1, 1), (0.5,) * 3, (1 / 3,) * 3, "positive definite"),
        pytest.param((1, 1), (0.3,) * 3, (1,) * 3, "three"),
        pytest.param((1, 1, 1), 0.3, (1,) * 3, "three"),
        pytest.param((1, np.nan, 1), (0.3,) * 3, (1,) * 3, "young must be three numbers"),
    ],
)
def test_impossible_orthotropic_constants_are_refused(young, poisson, shear, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(fm.MaterialError, match=message):
        fm.Material.orthotropic(young, poisson, shear, 1.0, "wood")


def test_impossible_matrices_are_refused() -> None:
    with pytest.raises(fm.MaterialError, match=r"\(6, 6\)"):
        fm.Material.anisotropic(np.eye(3), 1.0)
    with pytest.raises(fm.MaterialError, match="symmetric"):
        fm.Material.anisotropic(np.eye(6) + np.eye(6, k=1), 1.0)
    with pytest.raises(fm.MaterialError, match="positive definite"):
        fm.Material.anisotropic(np.diag([1, 1, 1, 1, 1, -1.0]), 1.0)
    with pytest.raises(fm.MaterialError, match="orthonormal"):
        fm.Material.anisotropic(np.eye(6), 1.0, axes=2 * np.eye(3))
    with pytest.raises(fm.MaterialError, match="plane"):
        fm.Material(1.0, 0.3, 1.0).plane("bending")


def test_materials_cannot_be_changed() -> None:
    material = fm.Material(1.0, 0.3, 1.0)
    with pytest.raises(ValueError, match="read-only"):
        material.elasticity[0, 0] = 2.0
    with pytest.raises(AttributeError):
        material.young = 2.0  # type: ignore[misc]


@pytest.mark.parametrize("name", USUAL)
def test_usual_materials_are_what_they_are(name: str) -> None:
    """The speed of sound in a thin bar, √(E/ρ), is 3 to 6 km/s in all usual metals."""
    found = fm.Material.named(name)
    assert found.name == name
    assert found.isotropic
    assert 3e3 < np.sqrt(found.young / found.density) < 6e3
    assert 0.25 < found.poisson < 0.36


def test_aluminium_in_either_spelling() -> None:
    assert fm.Material.named("aluminum").name == "aluminium"
    assert fm.Material.named("steel").young == 210e9


@pytest.mark.parametrize("wrong", ["stell", "", 3, None])
def test_materials_that_are_not_known_are_refused(wrong: Any) -> None:
    with pytest.raises(fm.MaterialError, match="known are steel"):
        fm.Material.named(wrong)
