"""Every kind of element, with what it promises; the contract tests run over these lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import flexmbs as fm
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.integrals import face_geometry
from flexmbs.mesh.topology import group_faces

SIZE = np.array([1.0, 0.8, 0.6])
RHO = 2.5


def anisotropic_law(rng: np.random.Generator) -> np.ndarray:
    """A stiffness matrix with no symmetry at all, well conditioned."""
    a = rng.normal(size=(6, 6))
    return a @ a.T + 3 * np.eye(6)


@dataclass(frozen=True)
class Kind:
    """One kind of solid or plane element: ``order`` is p, so that L2 errors fall as h^(p+1) and strains as h^p."""

    name: str
    cell: str
    order: int
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name

    @property
    def dimension(self) -> int:
        return CELLS[self.cell].dimension

    @property
    def rigid_motions(self) -> int:
        return 6 if self.dimension == 3 else 3

    def material(self) -> fm.Material:
        """Generally anisotropic, so that no symmetry hides a mistake."""
        return fm.Material.anisotropic(anisotropic_law(np.random.default_rng(7)), RHO)

    def elements(self, mesh: fm.Mesh, material: fm.Material | None = None, **more: Any) -> fm.Elements:
        return fm.Elements(mesh, material or self.material(), **{**self.options, **more})

    def block_mesh(self, divisions: int) -> fm.Mesh:
        """A box or rectangle of equal cells."""
        if self.dimension == 3:
            return fm.Mesh.box(SIZE, divisions, cell=self.cell)
        return fm.Mesh.rectangle(SIZE[:2], divisions, cell=self.cell)

    def distorted(self, divisions: int = 2, amount: float = 0.15, boundary: bool = True) -> fm.Mesh:
        """All corner nodes moved at random; edges stay straight."""
        corners = self.block_mesh(divisions).to_linear()
        step = amount / divisions * SIZE * np.random.default_rng(7).uniform(-1, 1, size=(corners.n_nodes, 3))
        if self.dimension == 2:
            step[:, 2] = 0.0
        if not boundary:
            step[outside(corners)] = 0.0
        moved = corners.replace(points=corners.points + step)
        return moved.to_quadratic() if self.order == 2 else moved

    def affine(self) -> fm.Mesh:
        """Cells that are affine images of the reference cell, in general position."""
        mesh = self.block_mesh(1)
        stretch = np.eye(3) + 0.25 * np.random.default_rng(8).uniform(-1, 1, size=(3, 3))
        if self.dimension == 2:
            stretch[2, :2] = stretch[:2, 2] = 0.0
        return mesh.replace(points=mesh.points @ stretch.T)

    def single(self) -> fm.Mesh:
        """One distorted cell."""
        d = self.dimension
        points = np.zeros((CELLS[self.cell].corners, 3))
        points[:, :d] = CELLS[CELLS[self.cell].shape].points
        points[:, :d] += np.random.default_rng(7).uniform(-0.15, 0.15, size=(len(points), d))
        mesh = fm.Mesh(points, [(CELLS[self.cell].shape, [np.arange(len(points))])])
        return mesh.to_quadratic() if self.order == 2 else mesh


def _plane(name: str, cell: str, order: int, **options: Any) -> list[Kind]:
    return [
        Kind(f"{name}-{plane}", cell, order, {"plane": plane, "thickness": 0.3, **options})
        for plane in ("stress", "strain")
    ]


SOLIDS = [
    Kind("tetra", "tetra", 1),
    Kind("tetra10", "tetra10", 2),
    Kind("hexahedron", "hexahedron", 1),
    Kind("hexahedron-plain", "hexahedron", 1, {"formulation": "plain"}),
    Kind("hexahedron20", "hexahedron20", 2),
    Kind("wedge", "wedge", 1),
    Kind("wedge15", "wedge15", 2),
    Kind("pyramid", "pyramid", 1),
]
PLANES = [
    *_plane("triangle", "triangle", 1),
    *_plane("triangle6", "triangle6", 2),
    *_plane("quad", "quad", 1),
    *_plane("quad-plain", "quad", 1, formulation="plain"),
    *_plane("quad8", "quad8", 2),
]
CONTINUUM = [*SOLIDS, *PLANES]


@dataclass(frozen=True)
class LineKind:
    """One kind of line element.

    ``rates`` are those of the displacement in L2 and of the strains. The deflection of Timoshenko's beam is that of
    the unloaded beam between its nodes, so that on fine meshes, where shear governs, the load's own shear deflection
    q h²/8κGA is missing inside an element, and strains are first order.
    """

    name: str
    rates: tuple[float, float]

    def __str__(self) -> str:
        return self.name

    @property
    def dofs(self) -> int:
        return 3 if self.name == "bar" else 6

    def elements(self, mesh: fm.Mesh, material: fm.Material | None = None, **more: Any) -> fm.Elements:
        options = {"section": fm.Section.rectangle(0.2, 0.3), "formulation": self.name, **more}
        return fm.Elements(mesh, material or fm.Material(3.0, 0.3, RHO), **options)

    def frame(self) -> fm.Mesh:
        """Members in all directions."""
        points = np.random.default_rng(7).uniform(-1, 1, size=(5, 3))
        return fm.Mesh(points, [("line", [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0], [1, 3]])])


LINES = [LineKind("bar", (2, 1)), LineKind("euler_bernoulli", (4, 2)), LineKind("timoshenko", (2, 1))]
BEAMS = LINES[1:]


def outside(mesh: fm.Mesh) -> np.ndarray:
    """Nodes on the boundary."""
    return mesh.nodes([f"{axis}{end}" for axis in "xyz"[: mesh.dimension] for end in (0, 1)])


def nodal(mesh: fm.Mesh, field: Any, d: int) -> np.ndarray:
    """Nodal coordinates (nodes·d) of a displacement field u(x)."""
    return np.ravel(field(mesh.points)[:, :d])


def tensor(voigt: np.ndarray) -> np.ndarray:
    """The symmetric matrix of (xx, yy, zz, yz, zx, xy)."""
    xx, yy, zz, yz, zx, xy = voigt
    return np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])


def surface_load(mesh: fm.Mesh, sigma: np.ndarray) -> np.ndarray:
    """∫ φ_a σ n dA (nodes, 3) over the whole boundary; ``sigma`` in Voigt's order or any (3, 3) matrix."""
    matrix = tensor(sigma) if sigma.ndim == 1 else sigma
    out = np.zeros((mesh.n_nodes, 3))
    for face, nodes in group_faces(mesh.cells, mesh.boundary):
        shape, _, area = face_geometry(mesh.points, face, nodes)
        np.add.at(out, nodes, np.einsum("qa,eqj,ij->eai", shape, area, matrix))
    return out
