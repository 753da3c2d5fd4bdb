"""The equations of a body in full order: residual by one scalar mass matrix, and its condensation to few unknowns.

With nodal positions Y = X + U in the floating frame and the field of accelerations α = a + A Y + 2 ω × U' + U'',
A = ε~ + ω~ω~, the forces of inertia at the nodes are f = m_φ α, and

    force    Σ f            moment   Σ Y × f            nodes   A_zᵀ f + K d + D d'

are the three block rows of the equations of motion: one product of a sparse (n × n) matrix with three columns.

Newton's matrix of the nodes is, but for terms that are h ω and less beside it, Â = s (c_m M + c_d D + K): constant, and
factorised once. Let the frames in use give e = Φ d, reference conditions B d = 0, and let C be the coupling of nodes
and frame, s c_m (S, G(0)). For corrections δ of the frame's motion r and of e the nodes follow by

    Â δd + Cᵀδr + Nᵀφ = r_d,   N δd = (δe, B d),   N = (Φ, B),

with φ the forces on e and on the conditions. So a body enters its mechanism as a dense block over (r, e) that is
constant in body axes, at the price of one solution with Â for each iteration.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from flexmbs.bodies.condensed import CondensedBody
from flexmbs.linalg import factorize
from flexmbs.rotations import skew

Array = NDArray[np.float64]


class Rows(NamedTuple):
    """Residual of one body: force and moment in body axes beside those of the rigid body, and that of the nodes."""

    rigid: Array  # (6,), plane (3,)
    nodes: Array


class FullOrderBody:
    """Matrices of one body in full order, and its equations of motion; nothing in it changes."""

    def __init__(self, body: CondensedBody) -> None:
        part = body.part
        nodal = part.part
        assert nodal is not None and nodal.scalar_mass is not None
        self.body, self.part = body, part
        self.axes = part.axes
        self.used = np.array([0, 1, 5] if self.axes == 2 else range(6))  # of force and moment
        self.points = part.mesh.points
        self.scalar_mass = sp.csr_array(nodal.scalar_mass)
        self.basis, self.back = sp.csr_array(part.basis), sp.csr_array(part.basis.T)
        self.stiffness, self.mass = sp.csr_array(part.space.K), sp.csr_array(part.space.M)
        self.moments = part.constants.mass, part.constants.s0, body.mass_parameters[2]
        self.held = part.conditions
        self.border = np.vstack([body.rows, self.held.toarray()])  # N
        self.coupling = self._coupling()

    @property
    def size(self) -> int:
        """Number of nodal coordinates d."""
        return self.part.size

    def _coupling(self) -> Array:
        """S and G(0) as rows (6, d), plane (3, d)."""
        x = self.points
        out = np.zeros((6, len(x), 3))
        for i, axis in enumerate(np.eye(3)):
            out[i] = axis
            out[3 + i] = np.cross(axis, x)
        fields = out[self.used][:, :, : self.axes]
        spread = self.scalar_mass @ fields.transpose(1, 0, 2).reshape(len(x), -1)
        columns = spread.reshape(len(x), len(self.used), self.axes).transpose(0, 2, 1).reshape(-1, len(self.used))
        return np.ascontiguousarray((self.back @ columns).T)

    def rows(self, spin: Array, turning: Array, push: Array, d: Array, speed: Array, rate: Array) -> Rows:
        """The three block rows at ω, ε, a = Rᵀ(p'' - g) and d, d', d'', less those of the rigid body."""
        n, axes = len(self.points), self.axes
        fields = np.zeros((3, n, 3))
        fields[:, :, :axes] = (self.basis @ np.stack([d, speed, rate], axis=1)).T.reshape(3, n, axes)
        places = self.points + fields[0]
        cross = skew(spin)
        swing = skew(turning) + cross @ cross
        field = places @ swing.T + fields[1] @ (2.0 * cross.T) + (fields[2] + push)
        forces = self.scalar_mass @ field
        m, s, inertia = self.moments
        rigid = m * push + swing @ s
        turned = np.cross(s, push) + inertia @ turning + np.cross(spin, inertia @ spin)
        x, y, z = places.T
        f, g, h = forces.T
        moment = np.array([y @ h - z @ g, z @ f - x @ h, x @ g - y @ f])
        more = np.concatenate([forces.sum(axis=0) - rigid, moment - turned])[self.used]
        by_mass, by_stiffness = self.part.damping
        nodes = self.back @ np.ravel(forces[:, :axes])
        nodes += self.stiffness @ (d + by_stiffness * speed if by_stiffness else d)
        if by_mass:
            nodes += by_mass * (self.mass @ speed)
        return Rows(more, nodes)

    def bent(self, e: Array) -> Array:
        """Nodal coordinates at rest that move the frames in use by e."""
        soft = 1e-6 * self.stiffness.diagonal().sum() / self.mass.diagonal().sum()  # holds what nothing else does
        found = Condensation(self, soft, 1.0, 0.0)
        return np.asarray((found.inverse[:, : len(e)] @ e) @ found.reach[: found.n_border])

    def energy(self, d: Array, speed: Array) -> tuple[float, float]:
        """Strain energy and power of the body's own damping."""
        by_mass, by_stiffness = self.part.damping
        lost = by_stiffness * (speed @ (self.stiffness @ speed)) + by_mass * (speed @ (self.mass @ speed))
        return float(d @ (self.stiffness @ d)) / 2, -float(lost)


class Condensation:
    """Â = mass · M + stiffness · K of a body, factorised, and its block over the frame's motion and e.

    ``coupling`` is the factor of S and G. ``block`` is in body axes, rows and columns (r, e); the compiled functions
    have the rigid body's own part of it already.
    """

    def __init__(self, full: FullOrderBody, mass: float, stiffness: float, coupling: float) -> None:
        self.full = full
        matrix = mass * full.mass + stiffness * full.stiffness if stiffness else mass * full.mass
        self.factor = factorize(matrix)
        rows = np.vstack([full.border, coupling * full.coupling])
        self.n_border, self.e = len(full.border), full.body.modes
        self.reach = np.ascontiguousarray(self.factor.solve(np.ascontiguousarray(rows.T)).T)  # (border and r, d)
        all_pairs = self.reach @ rows.T
        b = self.n_border
        small = (all_pairs[:b, :b] + all_pairs[:b, :b].T) / 2
        scale = 1.0 / np.sqrt(np.diag(small))
        self.inverse = scale[:, None] * np.linalg.inv(small * np.outer(scale, scale)) * scale if b else small
        self.cross = all_pairs[:b, b:]  # N Â⁻¹ Cᵀ
        follow = self.inverse @ self.cross
        r, e = len(full.used), self.e
        self.block = np.zeros((r + e, r + e))
        self.block[:r, :r] = self.cross.T @ follow - all_pairs[b:, b:]
        self.block[:r, r:] = follow[:e].T
        self.block[r:, :r] = follow[:e]
        self.block[r:, r:] = self.inverse[:e, :e]

    def condensed(self, nodes: Array, missed: Array) -> tuple[Array, Array, Array]:
        """What a residual of the nodes, and B d, are for the unknowns (r, e); and the forces φ of that alone."""
        seen = self.reach @ nodes
        b, e = self.n_border, self.e
        gap = seen[:b].copy()
        gap[e:] -= missed
        force = self.inverse @ gap
        return self.cross.T @ force - seen[b:], force[:e], force

    def spread(self, nodes: Array, force: Array, frame: Array, e: Array) -> Array:
        """The correction of the nodes that belongs to those of r (body axes) and e."""
        gap = self.cross @ frame
        gap[: self.e] += e
        force = force - self.inverse @ gap
        return np.asarray(self.factor.solve(nodes) - np.concatenate([force, frame]) @ self.reach)
