"""Three-dimensional beams of two nodes, Euler-Bernoulli and Timoshenko, with the full N(x, y, z) behind them.

Local axes: x along the beam, y up, z across. A section moves as a rigid plane: with the displacement (u, v, w) of the
axis and the rotation θ of the section, a point (x, y, z) is displaced by (u, v, w) + θ × (0, y, z). So
N = N₀(x) + y N_y(x) + z N_z(x), and integrals over the section need only its area and second moments. Between the
nodes v, w and θ take the shape of the unloaded beam (Friedman and Kosmatka 1993); Φ = 12EI/(κGAL²) = 0 is
Euler-Bernoulli's beam.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from flexmbs.fem.block import ElementBlock, turning_matrix
from flexmbs.mesh.quadrature import quadrature

Array = NDArray[np.float64]
Index = NDArray[np.int64]

# Element coordinates: (ux, uy, uz, rx, ry, rz) at the first node, then at the second.
_V, _TZ = (1, 5, 7, 11), (5, 11)  # deflection v with rotation θz = +v'
_W = (2, 4, 8, 10)  # deflection w with rotation θy = -w'
_SIGN_W = np.array([1.0, -1.0, 1.0, -1.0])


def bending_shapes(s: Array, length: Array, phi: Array) -> tuple[Array, Array, Array, Array]:
    """Deflection, its slope, rotation and curvature for (v1, θ1, v2, θ2) at s = x/L: arrays (elements, points, 4)."""
    s, length, phi = s[None, :], length[:, None], phi[:, None]
    mu = 1 / (1 + phi)
    one = np.ones_like(length * s)
    deflection = mu[..., None] * np.stack(
        [
            2 * s**3 - 3 * s**2 - phi * s + 1 + phi,
            length * (s**3 - (2 + phi / 2) * s**2 + (1 + phi / 2) * s),
            -(2 * s**3 - 3 * s**2 - phi * s),
            length * (s**3 - (1 - phi / 2) * s**2 - phi / 2 * s),
        ],
        axis=-1,
    )
    slope = mu[..., None] * np.stack(
        [
            (6 * s**2 - 6 * s - phi) / length,
            3 * s**2 - 2 * (2 + phi / 2) * s + 1 + phi / 2,
            -(6 * s**2 - 6 * s - phi) / length,
            3 * s**2 - 2 * (1 - phi / 2) * s - phi / 2,
        ],
        axis=-1,
    )
    rotation = mu[..., None] * np.stack(
        [
            6 / length * (s**2 - s),
            3 * s**2 - (4 + phi) * s + 1 + phi,
            -6 / length * (s**2 - s),
            3 * s**2 - (2 - phi) * s,
        ],
        axis=-1,
    )
    curvature = mu[..., None] * np.stack(
        [
            6 / length**2 * (2 * s - 1),
            (6 * s - (4 + phi)) / length * one,
            -6 / length**2 * (2 * s - 1),
            (6 * s - (2 - phi)) / length * one,
        ],
        axis=-1,
    )
    return deflection, slope, rotation, curvature


class Beam(ElementBlock):
    """Two-node beams.

    Parameters
    ----------
    cells, points : node numbers (elements, 2) and coordinates (nodes, 3).
    rotation : (elements, 3, 3), columns are the local axes in body axes.
    young, shear, density : E, G, ρ per element.
    area, second_y, second_z, torsion : A, Iy, Iz, J per element.
    factors : shear factors (elements, 2), or None for Euler-Bernoulli.
    extent : largest distances (|y|, |z|) of the section from its centroid (elements, 2), zero if unknown.
    """

    type = "line"
    dofs = 6
    axes = 3

    def __init__(
        self,
        cells: Index,
        points: Array,
        rotation: Array,
        young: Array,
        shear: Array,
        density: Array,
        area: Array,
        second_y: Array,
        second_z: Array,
        torsion: Array,
        factors: Array | None,
        extent: Array,
    ) -> None:
        self.cells, self.points, self.rotation = cells, points, rotation
        self.local_axes = rotation
        self.extent = extent
        self.density, self.area, self.second_y, self.second_z = density, area, second_y, second_z
        self.length: Array = np.linalg.norm(points[cells[:, 1]] - points[cells[:, 0]], axis=1)
        self.axial, self.twist = young * area, shear * torsion
        self.bending_y, self.bending_z = young * second_y, young * second_z
        self.shear_y = self.shear_z = None
        self.phi_v = self.phi_w = np.zeros(len(cells))
        if factors is not None:
            self.shear_y, self.shear_z = factors[:, 0] * shear * area, factors[:, 1] * shear * area
            self.phi_v = 12 * self.bending_z / (self.shear_y * self.length**2)
            self.phi_w = 12 * self.bending_y / (self.shear_z * self.length**2)

    def shape_functions(self, s: Array, y: float = 0.0, z: float = 0.0) -> Array:
        """N(x, y, z) in local axes at s = x/L: (elements, points, 3, 12), displacement from element coordinates."""
        n0, ny, nz = self._layers(np.atleast_1d(np.asarray(s, dtype=float)))
        return n0 + y * ny + z * nz

    def _layers(self, s: Array) -> tuple[Array, Array, Array]:
        """N₀, N_y and N_z at s, in local axes, each (elements, points, 3, 12)."""
        count = len(self.cells)
        n0, ny, nz = (np.zeros((count, len(s), 3, 12)) for _ in range(3))
        v, _, theta_v, _ = bending_shapes(s, self.length, self.phi_v)
        w, _, theta_w, _ = bending_shapes(s, self.length, self.phi_w)
        linear = np.stack([1 - s, s], axis=-1)
        n0[:, :, 0, [0, 6]] = linear
        n0[:, :, 1, _V] = v
        n0[:, :, 2, _W] = w * _SIGN_W
        ny[:, :, 0, _V] = -theta_v  # -y θz
        nz[:, :, 0, _W] = -theta_w * _SIGN_W  # +z θy, with θy = -(rotation in the x-z plane)
        nz[:, :, 1, [3, 9]] = -linear  # -z θx
        ny[:, :, 2, [3, 9]] = linear  # +y θx
        return n0, ny, nz

    @cached_property
    def _integrals(self) -> tuple[Array, Array, Array]:
        """m_ij (elements, 3, 3, 12, 12), ∫ρ N_iᵀ x_j (elements, 3, 3, 12) and m_O (elements, 12, 3)."""
        xi, w = quadrature("line", 6)  # cubic shapes squared
        s = (xi[:, 0] + 1) / 2
        weight = (w / 2)[None, :] * (self.density * self.length)[:, None]
        n0, ny, nz = (np.einsum("eki,eqin->eqkn", self.local_axes, layer) for layer in self._layers(s))
        shares = (self.area, self.second_z, self.second_y)
        m = sum(
            np.einsum("eq,eqim,eqjn->eijmn", weight * share[:, None], layer, layer, optimize=True)
            for share, layer in zip(shares, (n0, ny, nz), strict=True)
        )
        start, end = self.points[self.cells[:, 0]], self.points[self.cells[:, 1]]
        axis = start[:, None, :] + s[None, :, None] * (end - start)[:, None, :]
        up, across = self.local_axes[:, :, 1], self.local_axes[:, :, 2]
        first = (
            np.einsum("eq,eqim,eqj->eijm", weight * self.area[:, None], n0, axis)
            + np.einsum("eq,eqim,ej->eijm", weight * self.second_z[:, None], ny, up)
            + np.einsum("eq,eqim,ej->eijm", weight * self.second_y[:, None], nz, across)
        )
        origin = np.einsum("eq,eqim->emi", weight * self.area[:, None], n0)
        return np.asarray(m), first, origin

    def inertia(self, g: Array) -> Array:
        """Σ_ij G_ij m_ij, rotary inertia included."""
        return np.einsum("ij,eijmn->emn", g, self._integrals[0])

    def inertia_load(self, w: Array) -> Array:
        """Σ_ij W_ij ∫ρ N_iᵀ x_j."""
        return np.einsum("ij,eijm->em", w, self._integrals[1])

    def turning(self, w: Array) -> Array:
        """∫ Θᵀ H Θ dx with the sections' rotation Θ(x) and H of their second moments."""
        xi, weights = quadrature("line", 4)
        _, ny, nz = self._layers((xi[:, 0] + 1) / 2)
        rotation = np.stack([ny[:, :, 2], nz[:, :, 0], -ny[:, :, 0]], axis=2)
        second = np.zeros((len(self.cells), 3, 3))
        second[:, 1, 1], second[:, 2, 2] = self.density * self.second_z, self.density * self.second_y
        local = np.einsum("eki,kl,elj->eij", self.local_axes, w, self.local_axes)
        weight = (weights / 2)[None, :] * self.length[:, None]
        return np.einsum(
            "eq,eqim,eij,eqjn->emn", weight, rotation, turning_matrix(second, local), rotation, optimize=True
        )

    def origin(self) -> Array:
        """m_O = ∫ρ Nᵀ, columns in body axes."""
        return self._integrals[2]

    def stiffness(self) -> Array:
        """∫ of EA u'², GJ θx'², EI θ'² and κGA γ²; exact for the unloaded beam."""
        xi, w = quadrature("line", 4)
        weight = (w / 2)[None, :] * self.length[:, None]
        k = np.zeros((len(self.cells), 12, 12))
        for strain, modulus in zip(self._strains((xi[:, 0] + 1) / 2), self._moduli, strict=True):
            if modulus is not None:
                k += np.einsum("eq,eqm,eqn->emn", weight * modulus[:, None], strain, strain, optimize=True)
        return k

    def elastic_forces(self, nodal: Array) -> Array:
        """K d in body axes, (elements, 12, columns), from what the ends do beyond a rigid motion.

        The entries of K grow as 1/L³, so that in fine meshes K d of a nearly rigid motion is all rounding.
        """
        turned = self.local_axes.transpose(0, 2, 1)
        d = nodal.reshape(len(self.cells), 4, 3, -1)  # displacement and rotation, at both nodes
        length = self.length[:, None]
        chord = turned @ (d[:, 2] - d[:, 0]) / length[:, None]
        first, second = turned @ d[:, 1], turned @ d[:, 3]
        force, start, end = np.zeros_like(chord), np.zeros_like(chord), np.zeros_like(chord)
        force[:, 0] = -self.axial[:, None] * chord[:, 0]
        end[:, 0] = self.twist[:, None] * (second[:, 0] - first[:, 0]) / length
        start[:, 0] = -end[:, 0]
        planes = ((2, 1, 1.0, self.bending_z, self.phi_v), (1, 2, -1.0, self.bending_y, self.phi_w))
        for axis, across, sign, bending, phi in planes:
            # rotations of the ends against the chord: their difference bends, their sum shears
            a, b = first[:, axis] - sign * chord[:, across], second[:, axis] - sign * chord[:, across]
            shear = 3 / (1 + phi[:, None]) * (a + b)
            start[:, axis] = bending[:, None] / length * (shear + (a - b))
            end[:, axis] = bending[:, None] / length * (shear - (a - b))
            force[:, across] = sign * (start[:, axis] + end[:, axis]) / length
        parts = [self.local_axes @ part for part in (force, start, -force, end)]
        return np.concatenate(parts, axis=1)

    @property
    def _moduli(self) -> tuple[Array | None, ...]:
        return self.axial, self.shear_y, self.shear_z, self.twist, self.bending_y, self.bending_z

    def _strains(self, s: Array) -> tuple[Array, ...]:
        """Rows of u', γ_y = v' - θz, γ_z = w' + θy, θx', θy', θz' at s, each (elements, points, 12)."""
        rows = tuple(np.zeros((len(self.cells), len(s), 12)) for _ in range(6))
        axial, gamma_y, gamma_z, twist, curvature_y, curvature_z = rows
        step = np.array([-1.0, 1.0]) / self.length[:, None, None]
        axial[:, :, [0, 6]] = step
        twist[:, :, [3, 9]] = step
        _, slope, rotation, curvature = bending_shapes(s, self.length, self.phi_v)
        gamma_y[:, :, _V] = slope - rotation
        curvature_z[:, :, _V] = curvature
        _, slope, rotation, curvature = bending_shapes(s, self.length, self.phi_w)
        gamma_z[:, :, _W] = (slope - rotation) * _SIGN_W
        curvature_y[:, :, _W] = -curvature * _SIGN_W
        return rows

    def stress_state(self, displacement: Array) -> Array:
        """Section forces (N, V_y, V_z, T, M_y, M_z) at both ends, in local axes: (elements, 2, 6).

        Shear forces are taken from equilibrium (the slope of the moments), which holds for either theory.
        """
        d = np.einsum("eij,ej->ei", self.transformation, displacement[self.cells].reshape(len(self.cells), 12))
        rows = self._strains(np.array([0.0, 1.0]))
        values = [np.einsum("eqm,em->eq", row, d) for row in rows]
        out = np.zeros((len(self.cells), 2, 6))
        out[:, :, 0] = self.axial[:, None] * values[0]
        out[:, :, 3] = self.twist[:, None] * values[3]
        out[:, :, 4] = self.bending_y[:, None] * values[4]
        out[:, :, 5] = self.bending_z[:, None] * values[5]
        slope = (out[:, 1, 4:] - out[:, 0, 4:]) / self.length[:, None]
        out[:, :, 1] = -slope[:, 1][:, None]
        out[:, :, 2] = slope[:, 0][:, None]
        return out

    def held_forces(self, acceleration: Array, field: Array, nodal: Array | None = None) -> Array:
        """Section forces at both ends (elements, 2, 6) of beams that are held there, under inertia forces -ρ (a + W x).

        Added to those of ``stress_state`` they balance the load within each element, so that forces at its ends are
        exact in statics however few elements there are. ``nodal`` (nodes, 6) are accelerations of nodes beside a + W x.
        """
        load = self.inertia_load(field) + self.origin() @ acceleration
        if nodal is not None:
            own = np.einsum("eij,ej->ei", self.transformation, nodal[self.cells].reshape(len(self.cells), 12))
            load = load + np.einsum("eij,ej->ei", self.inertia(np.eye(3)), own)
        return np.asarray(np.stack([-load[:, :6], load[:, 6:]], axis=1))

    def geometric(self, stress: Array) -> Array:
        """K_g of the section forces: the second-order part of the strains of a beam that turns finitely.

        The axial force gives ∫ N (v'² + w'² + (Iy+Iz)/A θx'²) dx. Shear forces and moments give the terms of Reissner's
        strains, n·(½ θ × (θ × e_x) - θ × u') - ½ m·(θ × θ'), which couple bending with twist (lateral buckling). The
        forces vary linearly between the ends, N as a parabola where means are given too, (elements, 3, 6).
        """
        xi, w = quadrature("line", 6)
        s = (xi[:, 0] + 1) / 2
        weight = (w / 2)[None, :] * self.length[:, None]
        start, end = stress[:, 0, None, :], stress[:, -1, None, :]
        force = start * (1 - s)[:, None] + end * s[:, None]
        if stress.shape[1] == 3:
            force[:, :, 0] += 6 * (stress[:, 1, None, 0] - (start + end)[..., 0] / 2) * s * (1 - s)
        stretch, slope_v, slope_w, turn_x, turn_y, turn_z, twist, bend_y, bend_z = self._turning_rows(s)
        radius = np.sqrt((self.second_y + self.second_z) / self.area)[:, None, None]
        axial = np.stack([slope_v, slope_w, radius * twist])
        out = np.einsum("eq,reqm,reqn->emn", weight * force[:, :, 0], axial, axial, optimize=True)
        if not force[:, :, 1:].any():
            return np.asarray(out)
        _, shear_y, shear_z, torque, moment_y, moment_z = (weight * f for f in np.moveaxis(force, 2, 0))
        terms = (
            (shear_y / 2, turn_x, turn_y), (-shear_y, turn_z, stretch), (shear_y, turn_x, slope_w),
            (shear_z / 2, turn_x, turn_z), (-shear_z, turn_x, slope_v), (shear_z, turn_y, stretch),
            (-torque / 2, turn_y, bend_z), (torque / 2, turn_z, bend_y),
            (-moment_y / 2, turn_z, twist), (moment_y / 2, turn_x, bend_z),
            (-moment_z / 2, turn_x, bend_y), (moment_z / 2, turn_y, twist),
        )  # fmt: skip
        coupled = sum(np.einsum("eq,eqm,eqn->emn", factor, one, two, optimize=True) for factor, one, two in terms)
        return np.asarray(out + coupled + np.swapaxes(coupled, 1, 2))

    def _turning_rows(self, s: Array) -> tuple[Array, ...]:
        """Rows of u', v', w', θx, θy, θz, θx', θy', θz' at s, each (elements, points, 12)."""
        rows = tuple(np.zeros((len(self.cells), len(s), 12)) for _ in range(9))
        stretch, slope_v, slope_w, turn_x, turn_y, turn_z, twist, bend_y, bend_z = rows
        stretch[:, :, [0, 6]] = twist[:, :, [3, 9]] = np.array([-1.0, 1.0]) / self.length[:, None, None]
        turn_x[:, :, [3, 9]] = np.stack([1 - s, s], axis=-1)
        _, slope_v[:, :, _V], turn_z[:, :, _V], bend_z[:, :, _V] = bending_shapes(s, self.length, self.phi_v)
        _, slope, rotation, curvature = bending_shapes(s, self.length, self.phi_w)
        slope_w[:, :, _W], turn_y[:, :, _W] = slope * _SIGN_W, -rotation * _SIGN_W
        bend_y[:, :, _W] = -curvature * _SIGN_W
        return rows


def beam_axes(points: Array, cells: Index, up: Array | None) -> tuple[Array, Index]:
    """Local axes (elements, 3, 3) as columns, and the elements along which ``up`` points, for which it says nothing.

    Without ``up`` the local y axis lies in the x-y plane (z × x), and beams along z take the global y axis.
    """
    x = points[cells[:, 1]] - points[cells[:, 0]]
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    if up is None:
        y = np.cross([0.0, 0.0, 1.0], x)
        y[np.linalg.norm(y, axis=1) < 1e-6] = [0.0, 1.0, 0.0]
    else:
        y = up - (x @ up)[:, None] * x
    size = np.linalg.norm(y, axis=1)
    parallel = np.flatnonzero(size < 1e-6 * (1.0 if up is None else np.linalg.norm(up)))
    y = y - np.sum(x * y, axis=1, keepdims=True) * x
    y = y / np.where(size > 0, np.linalg.norm(y, axis=1), 1.0)[:, None]
    return np.stack([x, y, np.cross(x, y)], axis=2), parallel
