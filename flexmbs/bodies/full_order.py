"""The equations of a body in full order: residual by one scalar mass matrix, and its condensation to few unknowns.

With nodal positions Y = X + U in the floating frame and the field of accelerations α = a + A Y + 2 ω × U' + U'',
A = ε~ + ω~ω~, the forces of inertia at the nodes are f = m_φ α, and

    force    Σ f            moment   Σ Y × f            nodes   A_zᵀ f + K d + D d'

are the three block rows of the equations of motion: one product of a sparse (n × n) matrix with three columns.

Newton's matrix of the nodes is, but for terms that are h ω and less beside it, Â = s (c_m M + c_d D + K): constant, and
factorised once. Let the frames in use give e = Φ d, reference conditions B d = 0, and let C be the coupling of nodes
and frame, s c_m (S, G(d)) in the equations of the nodes, with all terms in those of the frame. For corrections δ of the
frame's motion r and of e the nodes follow by

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
    forces: Array  # (nodes, 3) of inertia


class Response(NamedTuple):
    """What a residual does to the nodes: Â⁻¹ r_d with e and frame let go, and the forces φ that hold these."""

    alone: Array
    force: Array


class FullOrderBody:
    """Matrices of one body in full order, and its equations of motion; nothing in it changes."""

    def __init__(self, body: CondensedBody) -> None:
        part = body.part
        nodal = part.part
        assert nodal is not None
        assert nodal.scalar_mass is not None
        self.body, self.part = body, part
        self.axes = part.axes
        self.used = np.array([0, 1, 5] if self.axes == 2 else range(6))  # of force and moment
        self.points = part.mesh.points
        self.scalar_mass = sp.csr_array(nodal.scalar_mass)
        self.shares = self.scalar_mass @ np.ones(len(self.points))
        self.basis, self.back = sp.csr_array(part.basis), sp.csr_array(part.basis.T)
        self.stiffness, self.mass = sp.csr_array(part.space.K), sp.csr_array(part.space.M)
        self.moments = part.constants.mass, part.constants.s0, body.mass_parameters[2]
        self.held = part.conditions
        self.border = np.vstack([body.rows, self.held.toarray()])  # N

    @property
    def size(self) -> int:
        """Number of nodal coordinates d."""
        return self.part.size

    def places(self, d: Array) -> Array:
        """Positions (nodes, 3) of the nodes in the floating frame."""
        out = self.points.copy()
        out[:, : self.axes] += (self.basis @ d).reshape(len(out), -1)
        return out

    def frame_inertia(self, d: Array) -> tuple[Array, Array]:
        """S and G(d) as rows (6, d), plane (3, d), and the frame's own inertia less that of the rigid body."""
        x = self.places(d)
        moves = np.zeros((6, len(x), 3))  # of the nodes, by a unit of each motion of the frame
        for i, axis in enumerate(np.eye(3)):
            moves[i], moves[3 + i] = axis, np.cross(axis, x)
        moves = moves[self.used][:, :, : self.axes]
        count = len(self.used)
        spread = self.scalar_mass @ moves.transpose(1, 0, 2).reshape(len(x), -1)
        columns = spread.reshape(len(x), count, self.axes).transpose(0, 2, 1).reshape(-1, count)
        inertia = moves.transpose(0, 1, 2).reshape(count, -1) @ columns
        m, s, turning = self.moments
        rigid = np.block([[m * np.eye(3), -skew(s)], [skew(s), turning]])[np.ix_(self.used, self.used)]
        return np.ascontiguousarray((self.back @ columns).T), inertia - rigid

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
        return Rows(more, nodes, forces)

    def frame_rows(self, spin: Array, turning: Array, d: Array, forces: Array, c_m: float, c_d: float) -> Array:
        """How force and moment depend on the nodes, (6, d), plane (3, d); ``forces`` of inertia as ``rows`` has them.

        Of nodal displacements u, with W = c_m + 2 c_d ω~ + ε~ + ω~ω~: Σ (m_φ 1) W u and Σ (m_φ Y) × W u - f × u.
        """
        cross = skew(spin)
        change = c_m * np.eye(3) + 2.0 * c_d * cross + skew(turning) + cross @ cross
        heavy = self.scalar_mass @ self.places(d)
        out = np.zeros((6, len(heavy), 3))
        out[:3] = change[:, None, :] * self.shares[:, None]
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            out[3 + i] = heavy[:, j, None] * change[k] - heavy[:, k, None] * change[j]
            out[3 + i, :, j] += forces[:, k]
            out[3 + i, :, k] -= forces[:, j]
        columns = out[self.used][:, :, : self.axes].reshape(len(self.used), -1).T
        return np.ascontiguousarray((self.back @ columns).T)

    def bent(self, e: Array) -> Array:
        """Nodal coordinates at rest that move the frames in use by e."""
        soft = 1e-6 * self.stiffness.diagonal().sum() / self.mass.diagonal().sum()  # holds what nothing else does
        made = Factored(self, soft, 1.0)
        return np.asarray((made.inverse[:, : len(e)] @ e) @ made.reach)

    def energy(self, d: Array, speed: Array) -> tuple[float, float]:
        """Strain energy and power of the body's own damping."""
        by_mass, by_stiffness = self.part.damping
        lost = by_stiffness * (speed @ (self.stiffness @ speed)) + by_mass * (speed @ (self.mass @ speed))
        return float(d @ (self.stiffness @ d)) / 2, -float(lost)


class Factored:
    """Â = mass · M + stiffness · K of a body, factorised, and what it does with N = (Φ, B)."""

    def __init__(self, full: FullOrderBody, mass: float, stiffness: float) -> None:
        self.full, self.border = full, len(full.border)
        self.factor = factorize(mass * full.mass + stiffness * full.stiffness if stiffness else mass * full.mass)
        self.reach = self.solved(full.border)
        small = self.reach @ full.border.T
        scale = 1.0 / np.sqrt(np.diag(small))
        scaled = (small + small.T) / 2 * np.outer(scale, scale)
        self.inverse = np.linalg.inv(scaled) * np.outer(scale, scale) if self.border else small  # (N Â⁻¹ Nᵀ)⁻¹

    def solved(self, rows: Array) -> Array:
        """Rows (k, d) times Â⁻¹."""
        return np.ascontiguousarray(self.factor.solve(np.ascontiguousarray(rows.T)).T)


class Condensation:
    """The block of a body over the motion r of its frame and e, in body axes, for deformations near d.

    ``coupling`` is the factor of S, G(d) and of the rigid inertia, s c_m. The compiled functions have the rigid body's
    own part of the block already.
    """

    def __init__(self, made: Factored, coupling: float, d: Array) -> None:
        full = made.full
        self.made, self.coupling, self.e, self.border = made, coupling, full.body.modes, made.border
        frame, self.inertia = full.frame_inertia(d)
        rows = coupling * frame
        self.reach = np.vstack([made.reach, made.solved(rows)])
        self.cross = made.reach @ rows.T  # N Â⁻¹ Cᵀ
        self.follow = made.inverse @ self.cross
        self.seen_by(rows)

    def seen_by(self, rows: Array) -> None:
        """Let the rows (6, d) of force and moment depend on the nodes as they do now, with velocities."""
        self.rows, through = rows, rows @ self.reach.T
        self.through, b, r, e = through[:, : self.border], self.border, len(rows), self.e
        self.block = np.zeros((r + e, r + e))
        self.block[:r, :r] = self.coupling * self.inertia + self.through @ self.follow - through[:, b:]
        self.block[:r, r:] = self.through @ self.made.inverse[:, :e]
        self.block[r:, :r] = self.follow[:e]
        self.block[r:, r:] = self.made.inverse[:e, :e]

    def near(self, d: Array) -> Condensation:
        """The same for other deformations."""
        return Condensation(self.made, self.coupling, d)

    def condensed(self, nodes: Array, missed: Array) -> tuple[Array, Array, Response]:
        """What a residual of the nodes, and B d, are for the unknowns r and e."""
        alone = self.made.factor.solve(nodes)
        gap = self.made.full.border @ alone
        gap[self.e :] -= missed
        force = self.made.inverse @ gap
        return self.through @ force - self.rows @ alone, force[: self.e], Response(alone, force)

    def spread(self, found: Response, frame: Array, e: Array) -> Array:
        """The correction of the nodes that belongs to those of r (body axes) and e."""
        gap = self.cross @ frame
        gap[: self.e] += e
        force = found.force - self.made.inverse @ gap
        return np.asarray(found.alone - np.concatenate([force, frame]) @ self.reach)
