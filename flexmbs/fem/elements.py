"""Elements: a mesh with its material, ready to give every matrix of the floating-frame theory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import FlexmbsError, MaterialError, MeshError
from flexmbs.fem.assembly import Assembler, assembled_scalar_mass
from flexmbs.fem.bar import Bar
from flexmbs.fem.beam import Beam, beam_axes
from flexmbs.fem.block import ElementBlock
from flexmbs.fem.blocks import Blocks
from flexmbs.fem.continuum import Continuum
from flexmbs.fem.lumped import GroundSpring, LumpedMass, lumped_block
from flexmbs.fem.pattern import NodePattern
from flexmbs.given import array
from flexmbs.materials import Material, elasticity_tensor
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.mesh import Mesh, Which
from flexmbs.mesh.topology import block_starts
from flexmbs.projection import Projection
from flexmbs.rotations import skew
from flexmbs.sections import Section

Array = NDArray[np.float64]
Index = NDArray[np.int64]

FORMULATIONS = {
    1: ("timoshenko", "euler_bernoulli", "bar"),
    2: ("incompatible", "plain"),
    3: ("incompatible", "plain"),
}
"""Formulations by the dimension of the cells; the first is the default.

``incompatible`` adds internal bending modes to hexahedra and quads, which lock in bending without them; other cells
have none and are the same in either.
"""


class Elements:
    """Finite elements on a mesh.

    Parameters
    ----------
    mesh : the mesh; its geometry is checked here.
    material : one Material, or a mapping from cell sets to materials that covers all cells.
    section : cross-section of line meshes, or a mapping from cell sets.
    thickness : thickness of plane meshes (1 by default), or a mapping from cell sets.
    plane : ``"stress"`` or ``"strain"`` for plane meshes.
    formulation : ``"incompatible"`` (default) or ``"plain"`` for solids and planes; ``"timoshenko"`` (default),
        ``"euler_bernoulli"`` or ``"bar"`` for lines.
    up : direction of the local y axis of beams; by default it lies in the x-y plane.
    attachments : LumpedMass and GroundSpring objects.
    """

    def __init__(
        self,
        mesh: Mesh,
        material: Material | Mapping[str, Material] | None = None,
        *,
        section: Section | Mapping[str, Section] | None = None,
        thickness: float | Mapping[str, float] = 1.0,
        plane: str = "stress",
        formulation: str | None = None,
        up: ArrayLike | None = None,
        attachments: LumpedMass | GroundSpring | Sequence[LumpedMass | GroundSpring] = (),
    ) -> None:
        if not isinstance(mesh, Mesh):
            raise MeshError(f"elements: a Mesh is needed, not {type(mesh).__name__}.")
        mesh.check()
        self.mesh, self.material, self.section, self.plane = mesh, material, section, plane
        self.thickness, self.up = thickness, up
        dimension = mesh.dimension
        self.formulation = _formulation(formulation, dimension)
        shaped = isinstance(thickness, Mapping) or bool(np.any(np.asarray(thickness) != 1.0))
        _require_meaning(dimension, section is not None, up is not None, shaped, plane)
        if dimension == 2 and np.ptp(mesh.points[:, 2]) > 1e-9 * mesh.size:
            raise MeshError(
                f"{mesh.name}: this is a surface in space ({', '.join(b.type for b in mesh.cells)}), which makes no "
                "solid elements. Mesh the volume (in Gmsh: a physical volume, then mesh in 3D), or for a plane part "
                "put all nodes at the same z."
            )
        self.dofs_per_node: int = 3 if self.formulation == "bar" else mesh.dofs_per_node
        if isinstance(attachments, LumpedMass | GroundSpring):
            attachments = [attachments]
        self.attachments = tuple(attachments) if isinstance(attachments, Iterable) else (attachments,)
        self.blocks: tuple[ElementBlock, ...] = self._make_blocks(
            thickness, None if up is None else np.asarray(up, float)
        )
        self._sealed = True

    def __setattr__(self, key: str, value: Any) -> None:
        if getattr(self, "_sealed", False):
            raise AttributeError(f"Elements cannot be changed ({key}); make new ones")
        object.__setattr__(self, key, value)

    def __repr__(self) -> str:
        cells = ", ".join(f"{len(b.cells)} {b.type}" for b in self.blocks)
        return f"<Elements of {self.mesh.name!r}: {cells}, {self.formulation}, {self.n_dofs} coordinates>"

    # ---- nodal side ---------------------------------------------------------------------------------------

    @property
    def points(self) -> Array:
        """Nodal coordinates of the mesh."""
        return self.mesh.points

    @property
    def n_dofs(self) -> int:
        """Number of nodal coordinates."""
        return self.mesh.n_nodes * self.dofs_per_node

    def nodes(self, which: Which = "all") -> Index:
        """Node numbers of a set, see Mesh.nodes."""
        return self.mesh.nodes(which)

    def weights(self, which: Which) -> Array:
        """Area shares of the nodes of a set, see Mesh.weights."""
        return self.mesh.weights(which)

    def connectivity(self) -> Projection:
        """A_conn: element coordinates from nodal ones; projecting blocks with it assembles them."""
        return Projection.connectivity(Assembler(self))

    def assemble(self, blocks: Blocks) -> Any:
        """The same as ``connectivity().project(blocks)``."""
        return Assembler(self).assemble(blocks)

    @cached_property
    def pattern(self) -> NodePattern:
        """Sparsity pattern of the node graph."""
        return NodePattern.of([b.cells for b in self.blocks], self.mesh.n_nodes)

    @cached_property
    def scalar_mass(self) -> sp.csr_array | None:
        """M_φ = ∫ρ φ_a φ_b (nodes, nodes) where all elements have N = φ ⊗ I, else None."""
        return assembled_scalar_mass(self)

    def rotations(self) -> tuple[Array, ...]:
        """Constant element-to-body rotations, (elements, 3, 3) per block: columns are the element's axes."""
        return tuple(
            np.broadcast_to(np.eye(3), (len(b.cells), 3, 3)) if b.rotation is None else b.rotation for b in self.blocks
        )

    def transformations(self) -> tuple[Array, ...]:
        """T per block: element coordinates = T · nodal coordinates of its nodes in body axes."""
        return tuple(b.transformation for b in self.blocks)

    # ---- matrices and vectors of the theory ---------------------------------------------------------------

    def mass(self) -> Blocks:
        """Mass matrices m = ∫ρ Nᵀ N."""
        return Blocks(self, "matrix", inertia=np.eye(3))

    def mass_ij(self, i: int, j: int) -> Blocks:
        """One of the nine constant blocks m_ij = ∫ρ N_iᵀ N_j, i and j from 0 to 2."""
        return Blocks(self, "matrix", inertia=_unit(i, j))

    def gyroscopic(self, omega: ArrayLike) -> Blocks:
        """Gyroscopic matrices C(ω) = 2 ∫ρ Nᵀ ω~ N, skew."""
        return Blocks(self, "matrix", inertia=2 * skew(self._axial(omega, "angular velocity")))

    def stiffness_epsilon(self, epsilon: ArrayLike) -> Blocks:
        """K(ε) = ∫ρ Nᵀ ε~ N of the angular acceleration, skew."""
        return Blocks(self, "matrix", inertia=skew(self._axial(epsilon, "angular acceleration")))

    def stiffness_omega(self, omega: ArrayLike) -> Blocks:
        """K(ω) = ∫ρ Nᵀ ω~ω~ N of the angular velocity, symmetric and negative semidefinite."""
        w = skew(self._axial(omega, "angular velocity"))
        return Blocks(self, "matrix", inertia=w @ w)

    def first_moment(self, i: int, j: int) -> Blocks:
        """First moments ∫ρ N_iᵀ x_j, i and j from 0 to 2."""
        return Blocks(self, "vector", load=_unit(i, j))

    def load_epsilon(self, epsilon: ArrayLike) -> Blocks:
        """q(ε) = ∫ρ Nᵀ ε~ x."""
        return Blocks(self, "vector", load=skew(self._axial(epsilon, "angular acceleration")))

    def load_omega(self, omega: ArrayLike) -> Blocks:
        """q(ω) = ∫ρ Nᵀ ω~ω~ x."""
        w = skew(self._axial(omega, "angular velocity"))
        return Blocks(self, "vector", load=w @ w)

    def mass_origin(self) -> Blocks:
        """m_O = ∫ρ Nᵀ, three columns (two for plane meshes): the load per unit acceleration of the origin."""
        return Blocks(self, "columns", origin=np.eye(3)[:, : self.axes])

    def stiffness(self) -> Blocks:
        """Elastic stiffness matrices K = ∫ Bᵀ D B."""
        return Blocks(self, "matrix", stiffness=1.0)

    def geometric_stiffness(self, stress: Any) -> Blocks:
        """Geometric stiffness K_g(σ) of a stress state: a StressField, one uniform stress (6,), or arrays per block."""
        return Blocks(self, "matrix", geometric=((1.0, self._stress_arrays(stress)),))

    def turning_stiffness(self, omega: ArrayLike) -> Blocks:
        """Stiffening by the centrifugal load of beam sections and lumped bodies as they turn, ∫ρ (ω~ω~r)·½ θ × (θ × r).

        It belongs to K_g: rigid sections have no stress that would show it. With K(ω) it gives gyroscopic whirl and
        the propeller moment; solids have it in the K_g of their stress, so that it is zero for them.
        """
        w = skew(self._axial(omega, "angular velocity"))
        return Blocks(self, "matrix", turning=w @ w)

    @property
    def axes(self) -> int:
        """Directions in which nodes move: 2 for plane meshes, else 3."""
        return 2 if self.dofs_per_node == 2 else 3

    # ---- inside -------------------------------------------------------------------------------------------

    def _axial(self, vector: ArrayLike, label: str) -> Array:
        v = array(vector)
        if v.ndim == 0 and self.axes == 2:
            v = np.array([0.0, 0.0, float(v)])
        if v.shape != (3,) or not np.isfinite(v).all():
            raise FlexmbsError(f"the {label} must be three numbers, not {vector!r}.")
        if self.axes == 2 and (v[0] or v[1]):
            raise FlexmbsError(f"a plane mesh turns about z only; the {label} is {v}.")
        return v

    def _stress_arrays(self, stress: Any) -> tuple[Array, ...]:
        arrays = getattr(stress, "arrays", stress)
        zero = np.zeros((self.mesh.n_nodes, self.dofs_per_node))
        shapes = [block.stress_state(zero).shape for block in self.blocks]
        if isinstance(arrays, tuple | list) and any(np.ndim(a) for a in arrays):
            found = [np.shape(a) for a in arrays]
            parabolic = [(n, 3, 6) if b.type == "line" and q == 2 and c == 6 else (n, q, c)
                         for b, (n, q, c) in zip(self.blocks, shapes, strict=True)]  # fmt: skip
            if found not in (shapes, parabolic):
                raise FlexmbsError(f"a stress state of shapes {found} was given; these elements have {shapes}.")
            return tuple(np.asarray(a, dtype=float) for a in arrays)
        try:
            uniform = np.asarray(arrays, dtype=float)
        except (TypeError, ValueError):
            raise FlexmbsError(f"{stress!r} is no stress state; give a stress field or numbers.") from None
        for block, shape in zip(self.blocks, shapes, strict=True):
            if uniform.ndim != 1 or shape[-1] not in (0, len(uniform)):
                raise FlexmbsError(f"a uniform stress of a {block.type} has {shape[-1]} components, not {arrays!r}.")
        return tuple(np.broadcast_to(uniform[: shape[-1]], shape).copy() for shape in shapes)

    def _make_blocks(self, thickness: Any, up: Array | None) -> tuple[ElementBlock, ...]:
        mesh = self.mesh
        solid = [b for b in mesh.cells if b.type != "vertex"]
        blocks: list[ElementBlock] = []
        if solid:
            if self.material is None:
                raise MaterialError(f"{mesh.name}: a material is needed for its {mesh.n_cells} cells.")
            materials, law = self._by_cell(self.material, Material, "material")
            starts = block_starts(mesh.cells)
            for block, start, stop in zip(mesh.cells, starts[:-1], starts[1:], strict=True):
                mine = slice(start, stop)
                if mesh.dimension == 1:
                    blocks.append(self._lines(block.nodes, mine, materials, law[mine], up))
                else:
                    blocks.append(self._continuum(block.type, block.nodes, mine, materials, law[mine], thickness))
        lumped = lumped_block(mesh, self.dofs_per_node, self.attachments)
        if not blocks and lumped is None:
            raise MaterialError(f"{mesh.name}: a mesh of points needs attachments=, LumpedMass or GroundSpring.")
        return (*blocks, *([lumped] if lumped is not None else []))

    def _continuum(
        self, cell: str, nodes: Index, mine: slice, materials: Sequence[Material], law: Index, thickness: Any
    ) -> Continuum:
        thick = np.ones(len(nodes))
        if CELLS[cell].dimension == 2:
            values, number = self._by_cell(thickness, Real, "thickness")
            thick = np.array(values, dtype=float)[number[mine]]
            if not (thick > 0).all():
                raise MaterialError(f"{self.mesh.name}: thickness must be positive, not {thickness}.")
            tensors = np.array([_plane_tensor(m.plane(self.plane)) for m in materials])
            free = np.array([m.out_of_plane(self.plane) for m in materials])
            voigt = np.array([_plane_stress_rows(m, f) for m, f in zip(materials, free, strict=True)])
        else:
            tensors = np.array([elasticity_tensor(m.elasticity) for m in materials])
            voigt, free = np.array([m.elasticity for m in materials]), None
        density = np.array([m.density for m in materials])[law]
        incompatible = self.formulation == "incompatible" and cell in ("hexahedron", "quad")
        return Continuum(cell, nodes, self.mesh.points, tensors, voigt, free, law, density, thick, incompatible)

    def _lines(
        self, nodes: Index, mine: slice, materials: Sequence[Material], law: Index, up: Array | None
    ) -> ElementBlock:
        mesh = self.mesh
        if nodes.shape[1] != 2:
            raise MeshError(f"{mesh.name}: bars and beams have two nodes (cell 'line'); use mesh.to_linear().")
        if self.section is None:
            raise MaterialError(f"{mesh.name}: a line mesh needs section=, e.g. Section.rectangle(0.01, 0.02).")
        sections, which = self._by_cell(self.section, Section, "section")
        which = which[mine]
        for m in materials:
            if not m.isotropic:
                raise MaterialError(f"{mesh.name}: bars and beams take isotropic materials; {m.name} is not.")
        young, shear, density = (
            np.array([getattr(m, k) for m in materials])[law] for k in ("young", "shear", "density")
        )
        area = np.array([s.area for s in sections])[which]
        if self.formulation == "bar":
            return Bar(nodes, mesh.points, young * area, density * area)
        for s in sections:
            if min(s.Iy, s.Iz, s.J) <= 0:
                raise MaterialError(
                    f"{mesh.name}: a beam's section needs Iy, Iz and J > 0 (formulation='bar' needs none)."
                )
        if up is not None and not (up.shape == (3,) and np.isfinite(up).all() and up.any()):
            raise MeshError(f"{mesh.name}: up must be a direction of three numbers, not all zero; {up} was given.")
        rotation, parallel = beam_axes(mesh.points, nodes, up)
        if len(parallel):
            raise MeshError(
                f"{mesh.name}: up = {up} points along beam {parallel[0] + mine.start}; choose another direction."
            )
        second_y, second_z, torsion = (np.array([getattr(s, k) for s in sections])[which] for k in ("Iy", "Iz", "J"))
        factors = None
        if self.formulation == "timoshenko":
            table = np.array([[s.shear_factors(m.poisson) for m in materials] for s in sections])
            factors = table[which, law]
        extent = np.array([s.extent for s in sections])[which]
        return Beam(
            *(nodes, mesh.points, rotation, young, shear, density),
            *(area, second_y, second_z, torsion, factors, extent),
        )

    def _by_cell(self, given: Any, kind: type, label: str) -> tuple[list[Any], Index]:
        """The distinct values and the number of each cell's own, from one value or a mapping by cell set."""
        mesh = self.mesh
        for value in given.values() if isinstance(given, Mapping) else [given]:
            if not isinstance(value, kind):
                name = "number" if kind is Real else kind.__name__
                raise MaterialError(f"{mesh.name}: {label} must be a {name}, not {type(value).__name__}.")
        if not isinstance(given, Mapping):
            return [given], np.zeros(mesh.n_cells, dtype=np.int64)
        number = np.full(mesh.n_cells, -1, dtype=np.int64)
        for k, name in enumerate(given):
            cells = mesh.cell_numbers(name)
            taken = cells[number[cells] >= 0]
            if len(taken):
                first = list(given)[number[taken[0]]]
                raise MaterialError(f"{mesh.name}: cell {taken[0]} has a {label} from set {first!r} and from {name!r}.")
            number[cells] = k
        missing = np.flatnonzero(number < 0)
        if len(missing):
            raise MaterialError(
                f"{mesh.name}: {len(missing)} cells have no {label}, the first is cell {missing[0]}; "
                f"the sets given are {', '.join(map(repr, given))}."
            )
        return list(given.values()), number


def _require_meaning(dimension: int, section: bool, up: bool, thickness: bool, plane: str) -> None:
    """Refuse options that the cells of a mesh cannot have: ignored, they would hide a mistake."""
    if plane not in ("stress", "strain"):
        raise MaterialError(f'plane must be "stress" or "strain", not {plane!r}.')
    kind = {0: "points", 1: "lines", 2: "plane cells", 3: "solid cells"}[dimension]
    for label, given, right in (("section", section, 1), ("up", up, 1), ("thickness", thickness, 2)):
        if given and dimension != right:
            owner = "line" if right == 1 else "plane"
            raise FlexmbsError(f"{label}= belongs to {owner} meshes; this one is made of {kind}. Leave it out.")


def _formulation(given: str | None, dimension: int) -> str:
    choices = FORMULATIONS.get(dimension, ("plain",))
    if given is None:
        return choices[0]
    if given not in choices:
        kind = {0: "point", 1: "line", 2: "plane", 3: "solid"}[dimension]
        raise FlexmbsError(f"formulation {given!r} does not fit a {kind} mesh; choose from {', '.join(choices)}.")
    return given


def _unit(i: int, j: int) -> Array:
    if not (0 <= i <= 2 and 0 <= j <= 2):
        raise FlexmbsError(f"i and j count the axes from 0 to 2, not {i} and {j}.")
    out = np.zeros((3, 3))
    out[i, j] = 1.0
    return out


def _plane_tensor(matrix: Array) -> Array:
    index = np.array([[0, 2], [2, 1]])
    tensor: Array = matrix[index[:, :, None, None], index[None, None, :, :]]
    return np.ascontiguousarray(tensor)


def _plane_stress_rows(material: Material, out_of_plane: Array) -> Array:
    """Six stresses from the in-plane strains (xx, yy, xy)."""
    d = material.elasticity
    return np.asarray(d[:, [0, 1, 5]] + d[:, 2:5] @ out_of_plane)
