"""Linear elastic materials with density: isotropic, orthotropic and generally anisotropic.

Stress and strain vectors are in Voigt's order (xx, yy, zz, yz, zx, xy), with engineering shear strains.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import MaterialError
from flexmbs.given import array, number

Array = NDArray[np.float64]

VOIGT = ((0, 0), (1, 1), (2, 2), (1, 2), (2, 0), (0, 1))
"""Tensor indices of the six components of a stress or strain vector."""

VOIGT_INDEX = np.array([[0, 5, 4], [5, 1, 3], [4, 3, 2]])
"""Position of the tensor component (i, j) in the vector."""


USUAL = {
    "steel": (210e9, 0.3, 7850.0),
    "stainless_steel": (200e9, 0.3, 7900.0),
    "cast_iron": (110e9, 0.26, 7200.0),
    "aluminium": (70e9, 0.3, 2700.0),
    "titanium": (114e9, 0.34, 4430.0),
    "magnesium": (45e9, 0.35, 1810.0),
    "copper": (117e9, 0.34, 8940.0),
}
"""Young's modulus [Pa], Poisson's ratio and density [kg/m³] at room temperature, for a first calculation.

Steel: EN 1993-1-1, 3.2.6, with the density of EN 1991-1-1. Stainless steel: EN 1993-1-4 and EN 10088-1 (1.4301). Cast
iron: grey, EN-GJL-250, middle of the range in EN 1561. Aluminium: EN 1999-1-1, 3.2.5. Titanium: Ti-6Al-4V, magnesium:
AZ91, copper: Cu-ETP, as in manufacturers' data sheets. Alloys differ: moduli by some per cent, cast iron by more.
"""


@dataclass(frozen=True, eq=False)
class Material:
    """An isotropic linear elastic material; see ``orthotropic`` and ``anisotropic`` for the others.

    Parameters
    ----------
    young : Young's modulus E [Pa].
    poisson : Poisson's ratio ν, between -1 and 0.5.
    density : mass density ρ [kg/m³].
    name : what messages and tables call it.
    """

    young: float
    poisson: float
    density: float
    name: str = "material"
    elasticity: Array = field(default=None, repr=False)  # type: ignore[arg-type]
    """Stiffness matrix D (6, 6) with σ = D ε, in Voigt's order."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise MaterialError(f"a material's name is a string, not {self.name!r}.")
        if not (np.isfinite(number(self.density)) and self.density >= 0):
            raise MaterialError(f"{self.name}: density must be a number of kg/m³, zero or more, not {self.density}.")
        given = self.elasticity
        if given is None:
            if not (np.isfinite(number(self.young)) and self.young > 0):
                raise MaterialError(f"{self.name}: Young's modulus must be positive, not {self.young}.")
            if not -1 < number(self.poisson) < 0.5:
                raise MaterialError(
                    f"{self.name}: Poisson's ratio must lie between -1 and 0.5 (exclusive), not {self.poisson}. "
                    "For a nearly incompressible material take 0.49."
                )
            given = isotropic_elasticity(self.young, self.poisson)
        matrix = array(given)
        if matrix.shape != (6, 6):
            raise MaterialError(f"{self.name}: the elasticity matrix must be (6, 6), not {matrix.shape}.")
        if not np.allclose(matrix, matrix.T, rtol=1e-9, atol=1e-9 * np.abs(matrix).max()):
            raise MaterialError(f"{self.name}: the elasticity matrix is not symmetric.")
        matrix = (matrix + matrix.T) / 2
        lowest = np.linalg.eigvalsh(matrix)[0]
        if not lowest > 0:
            raise MaterialError(
                f"{self.name}: the elasticity matrix is not positive definite (lowest eigenvalue {lowest:.3g} Pa): "
                "some strain would release energy. Check Poisson's ratios: |ν_ij| < sqrt(E_i/E_j)."
            )
        matrix.setflags(write=False)
        object.__setattr__(self, "elasticity", matrix)

    def __repr__(self) -> str:
        law = f"young={self.young:g}, poisson={self.poisson:g}" if self.isotropic else "anisotropic"
        return f"<Material {self.name!r}: {law}, density={self.density:g}>"

    @classmethod
    def named(cls, name: str) -> Material:
        """A usual material: steel, stainless_steel, cast_iron, aluminium, titanium, magnesium or copper."""
        key = {"aluminum": "aluminium"}.get(name, name) if isinstance(name, str) else ""
        if key not in USUAL:
            raise MaterialError(
                f"no material is named {name!r}; known are {', '.join(USUAL)}. Give others by their numbers: "
                "Material(young, poisson, density)."
            )
        return cls(*USUAL[key], name=key)

    @classmethod
    def orthotropic(
        cls,
        young: ArrayLike,
        poisson: ArrayLike,
        shear: ArrayLike,
        density: float,
        name: str = "orthotropic",
        axes: ArrayLike | None = None,
    ) -> Material:
        """Orthotropic material: moduli (E1, E2, E3), ratios (ν12, ν23, ν13), shear moduli (G12, G23, G13).

        ν_ij is the contraction along j under tension along i. ``axes`` holds the material axes as columns, in
        the coordinates of the mesh.
        """
        for label, given in (("young", young), ("poisson", poisson), ("shear", shear)):
            numbers = np.asarray(given, dtype=float)
            if numbers.shape != (3,) or not np.isfinite(numbers).all():
                raise MaterialError(f"{name}: {label} must be three numbers, not {given!r}.")
            if label != "poisson" and numbers.min() <= 0:
                raise MaterialError(f"{name}: all moduli must be positive; {label} is {given!r}.")
        e1, e2, e3 = np.asarray(young, dtype=float)
        n12, n23, n13 = np.asarray(poisson, dtype=float)
        g12, g23, g13 = np.asarray(shear, dtype=float)
        compliance = np.diag([1 / e1, 1 / e2, 1 / e3, 1 / g23, 1 / g13, 1 / g12])
        compliance[0, 1] = compliance[1, 0] = -n12 / e1
        compliance[1, 2] = compliance[2, 1] = -n23 / e2
        compliance[0, 2] = compliance[2, 0] = -n13 / e1
        scale = 1 / np.sqrt(np.diag(compliance))
        lowest = np.linalg.eigvalsh(compliance * np.outer(scale, scale))[0]
        if lowest < 1e-9:
            raise MaterialError(
                f"{name}: with these Poisson's ratios the material is not stable (the compliance is not positive "
                f"definite, relative eigenvalue {lowest:.2g}). Check |ν_ij| < sqrt(E_i/E_j); is it ν_ij, not ν_ji?"
            )
        return cls.anisotropic(np.linalg.inv(compliance), density, name=name, axes=axes)

    @classmethod
    def anisotropic(
        cls, elasticity: ArrayLike, density: float, name: str = "anisotropic", axes: ArrayLike | None = None
    ) -> Material:
        """Any linear elastic material, by its stiffness matrix (6, 6) in Voigt's order, in the given axes."""
        matrix = np.array(elasticity, dtype=float)
        if axes is not None:
            matrix = rotated_elasticity(matrix, np.asarray(axes, dtype=float), name)
        return cls(np.nan, np.nan, density, name, matrix)

    @property
    def isotropic(self) -> bool:
        """Whether the material was given by Young's modulus and Poisson's ratio."""
        return bool(np.isfinite(self.young))

    @property
    def shear(self) -> float:
        """Shear modulus G = E / 2(1 + ν) of an isotropic material."""
        return self.young / (2 * (1 + self.poisson))

    def plane(self, kind: str) -> Array:
        """Stiffness (3, 3) between (xx, yy, xy) in plane ``"stress"`` or plane ``"strain"``."""
        d = self.elasticity
        inside = [0, 1, 5]
        return np.asarray(d[np.ix_(inside, inside)] + d[inside, 2:5] @ self.out_of_plane(kind))

    def out_of_plane(self, kind: str) -> Array:
        """Strains (zz, yz, zx) per in-plane strain (xx, yy, xy): none, or those that leave the faces stress-free."""
        if kind == "strain":
            return np.zeros((3, 3))
        if kind != "stress":
            raise MaterialError(f'plane must be "stress" or "strain", not {kind!r}.')
        d = self.elasticity
        return np.asarray(-np.linalg.solve(d[2:5, 2:5], d[2:5, [0, 1, 5]]))


def isotropic_elasticity(young: float, poisson: float) -> Array:
    """The isotropic stiffness matrix D from E and ν."""
    lame = young * poisson / ((1 + poisson) * (1 - 2 * poisson))
    shear = young / (2 * (1 + poisson))
    matrix = np.diag([2 * shear] * 3 + [shear] * 3)
    matrix[:3, :3] += lame
    return matrix


def elasticity_tensor(matrix: Array) -> Array:
    """The tensor C_ikjl (3, 3, 3, 3) of a stiffness matrix in Voigt's order."""
    v = VOIGT_INDEX
    tensor: Array = matrix[v[:, :, None, None], v[None, None, :, :]]
    return tensor


def rotated_elasticity(matrix: Array, axes: Array, name: str) -> Array:
    """Stiffness matrix in the coordinates in which ``axes`` (columns) are given."""
    if axes.shape != (3, 3) or not np.allclose(axes.T @ axes, np.eye(3), atol=1e-9):
        raise MaterialError(f"{name}: axes must be three orthonormal columns (3, 3).")
    tensor = np.einsum("ia,jb,kc,ld,abcd->ijkl", axes, axes, axes, axes, elasticity_tensor(matrix))
    i, j = np.array(VOIGT).T
    rotated: Array = tensor[i[:, None], j[:, None], i[None, :], j[None, :]]
    return rotated
