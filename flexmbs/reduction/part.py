"""Part: stiffness and inertia on nodal coordinates, from finite elements or from another program's matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import ModelError
from flexmbs.fem.assembly import exact_product
from flexmbs.fem.elements import Elements
from flexmbs.fem.moments import mass_moments
from flexmbs.fem.rigid import rigid_motions
from flexmbs.mesh.mesh import Mesh, Which

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Product = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Part:
    """K, M and what else the floating frame needs of a part, on its nodal coordinates.

    ``scalar_mass`` is m_φ where N = φ ⊗ I (solids, plane parts), else None. ``product`` is x ↦ K x where that can be
    had more exactly than from K. ``elements`` is None for matrices from another program: such a part has no stress.
    """

    mesh: Mesh
    dofs_per_node: int
    stiffness: sp.csr_array
    mass: sp.csr_array
    scalar_mass: sp.csr_array | None
    elements: Elements | None = None
    product: Product | None = None

    @classmethod
    def of_elements(cls, elements: Elements) -> Part:
        """The part that finite elements make."""
        blocks = elements.stiffness()
        mass = elements.assemble(elements.mass())
        if not mass.diagonal().any():
            raise ModelError(f"{elements.mesh.name}: a flexible body needs mass; give the material a density.")
        product = exact_product(elements, blocks)
        stiffness = elements.assemble(blocks)
        return cls(
            elements.mesh, elements.dofs_per_node, stiffness, mass, elements.scalar_mass, elements, product
        )  # fmt: skip

    @classmethod
    def of_matrices(
        cls,
        points: ArrayLike | Mesh,
        mass: Any,
        stiffness: Any,
        node_sets: Mapping[str, ArrayLike] | None = None,
        name: str = "part",
    ) -> Part:
        """A part from M and K of another program, coordinates node by node (x, y, z, or x, y of plane parts).

        ``points`` (nodes, 3), or a Mesh with the same nodes, whose sets are then weighted by area. M must be the same
        in all directions and not couple them, as that of solids is: only then does it tell all inertia terms.
        """
        mesh = points if isinstance(points, Mesh) else _point_mesh(points, node_sets, name)
        k, m = _square(stiffness, "stiffness", name), _square(mass, "mass", name)
        n = mesh.n_nodes
        per_node = m.shape[0] // max(n, 1)
        if k.shape != m.shape or m.shape[0] != n * per_node or per_node not in (2, 3):
            raise ModelError(
                f"{name}: M is {m.shape[0]} × {m.shape[1]} and K {k.shape[0]} × {k.shape[1]} for {n} nodes; both must "
                "have 3 (plane parts 2) coordinates for every node. Matrices with rotations at the nodes (beams, "
                "shells) do not tell the inertia terms of a moving frame: mesh such parts here."
            )
        scale = abs(m.diagonal()).max(initial=0.0)
        if scale == 0.0:
            raise ModelError(f"{name}: the mass matrix is zero; a flexible body needs mass.")
        scalar = sp.csr_array(m[0::per_node, 0::per_node])
        if abs(m - sp.kron(scalar, sp.eye_array(per_node), format="csr")).max() > 1e-9 * scale:
            raise ModelError(
                f"{name}: the mass matrix differs between directions or couples them, so that it does not tell the "
                "inertia terms of a moving frame. Write the mass matrix of solid elements, without rigid links."
            )
        part = cls(mesh, per_node, k, m, scalar)
        motions = rigid_motions(part)
        forces = np.abs(k @ motions).max(axis=0)
        if (forces > 1e-6 * (abs(k) @ np.abs(motions)).max(axis=0)).any():
            raise ModelError(
                f"{name}: the stiffness matrix resists a rigid motion, as if supports were built into it. Write it for "
                "the free part, and hold it with fixed=."
            )
        return part

    # ---- nodes, as the constructors of projections see them

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.mesh.name

    @property
    def points(self) -> Array:
        """Positions of the nodes (nodes, 3)."""
        return self.mesh.points

    @property
    def n_dofs(self) -> int:
        """Number of nodal coordinates."""
        return self.mesh.n_nodes * self.dofs_per_node

    @property
    def axes(self) -> int:
        """Directions in which nodes move: 2 for plane parts, else 3."""
        return 2 if self.dofs_per_node == 2 else 3

    def nodes(self, which: Which) -> Index:
        """Sorted node numbers of a set."""
        return self.mesh.nodes(which)

    def weights(self, which: Which) -> Array:
        """Area shares of the nodes of a set."""
        return self.mesh.weights(which)

    # ---- elastic and inertia terms

    def elastic_forces(self, d: Array) -> Array:
        """K d, as exactly as it can be had, for (coordinates,) or (coordinates, k)."""
        return np.asarray(self.stiffness @ d) if self.product is None else self.product(d)

    def momentum(self, d: Array) -> Array:
        """M d for (coordinates, k), through m_φ where there is one."""
        if self.scalar_mass is None or self.dofs_per_node != self.axes:
            return np.asarray(self.mass @ d)
        columns = np.ascontiguousarray(d).reshape(self.mesh.n_nodes, -1)
        return np.asarray(self.scalar_mass @ columns).reshape(d.shape)

    def moments(self) -> tuple[float, Array, Array]:
        """Mass ∫ρ, first moment ∫ρx and second moments ∫ρ x xᵀ, about the origin of the mesh."""
        if self.scalar_mass is not None:
            x = self.mesh.points
            weighted = self.scalar_mass @ np.column_stack([np.ones(len(x)), x])
            return float(weighted[:, 0].sum()), weighted[:, 1:].sum(axis=0), x.T @ weighted[:, 1:]
        assert self.elements is not None
        mass, centre, inertia = mass_moments(self.elements)
        return mass, mass * centre, np.trace(inertia) / 2 * np.eye(3) - inertia

    def origin_moments(self) -> Array:
        """m_O = ∫ρNᵀ (coordinates, 3); the third column of plane parts is zero."""
        out = np.zeros((self.n_dofs, 3))
        if self.scalar_mass is not None:
            share = np.asarray(self.scalar_mass.sum(axis=1)).ravel()
            for i in range(self.axes):
                out[i :: self.dofs_per_node, i] = share
            return out
        assert self.elements is not None
        return np.asarray(self.elements.assemble(self.elements.mass_origin()))

    def first_moments(self) -> Array:
        """∫ρ N_iᵀ x_j as (3, 3, coordinates)."""
        out = np.zeros((3, 3, self.n_dofs))
        if self.scalar_mass is not None:
            weighted = self.scalar_mass @ self.mesh.points
            for i in range(self.axes):
                for j in range(self.axes):
                    out[i, j, i :: self.dofs_per_node] = weighted[:, j]
            return out
        assert self.elements is not None
        for i in range(3):
            for j in range(3):
                out[i, j] = self.elements.assemble(self.elements.first_moment(i, j))
        return out

    def reduced_mass(self, psi: Array) -> Array:
        """Ψᵀ m_ij Ψ as (3, 3, r, r), without nodal matrices that are not sparse."""
        r, d = psi.shape[1], self.axes
        out = np.zeros((3, 3, r, r))
        if self.scalar_mass is not None:
            fields = psi.reshape(self.mesh.n_nodes, self.dofs_per_node, r)
            weighted = np.asarray(self.scalar_mass @ fields.reshape(self.mesh.n_nodes, -1)).reshape(fields.shape)
            for i in range(d):
                for j in range(i, d):
                    out[i, j] = fields[:, i].T @ weighted[:, j]
                    out[j, i] = out[i, j].T
        else:
            assert self.elements is not None
            for i in range(3):
                for j in range(i, 3):
                    block = self.elements.assemble(self.elements.mass_ij(i, j))
                    out[i, j] = psi.T @ (block @ psi)
                    out[j, i] = out[i, j].T
        for i in range(3):
            out[i, i] = (out[i, i] + out[i, i].T) / 2
        return out

    def neighbours(self, nodes: Index) -> Index:
        """The given nodes and those that share an element with them (in the pattern of K)."""
        p = self.dofs_per_node
        rows = (nodes[:, None] * p + np.arange(p)).ravel()
        return np.unique(np.concatenate([nodes, self.stiffness[rows].indices // p])).astype(np.int64)


def as_part(model: Any) -> Part:
    """A Part as it is, or that of Elements."""
    if isinstance(model, Part):
        return model
    if isinstance(model, Elements):
        return Part.of_elements(model)
    raise ModelError(f"a reduction needs Elements, or a Part from matrices, not {type(model).__name__}.")


def _square(matrix: Any, what: str, name: str) -> sp.csr_array:
    found = sp.csr_array(matrix, dtype=float)
    if found.ndim != 2 or found.shape[0] != found.shape[1] or not np.isfinite(found.data).all():
        raise ModelError(f"{name}: the {what} matrix must be square and finite, not of shape {found.shape}.")
    if abs(found - found.T).max() > 1e-9 * abs(found).max():
        raise ModelError(f"{name}: the {what} matrix is not symmetric; give both triangles.")
    return sp.csr_array((found + found.T) / 2)


def _point_mesh(points: ArrayLike, node_sets: Mapping[str, ArrayLike] | None, name: str) -> Mesh:
    x = np.asarray(points, dtype=float)
    if x.ndim != 2 or x.shape[1] not in (2, 3) or not np.isfinite(x).all():
        raise ModelError(f"{name}: points are (nodes, 3) finite numbers, not of shape {x.shape}.")
    return Mesh(x, [("vertex", np.arange(len(x))[:, None])], node_sets=node_sets, name=name)
