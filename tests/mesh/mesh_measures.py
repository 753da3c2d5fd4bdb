"""Volumes, areas and fluxes of meshes, by integration: what the mesh tests compare with geometry."""

from __future__ import annotations

import numpy as np

from flexmbs.mesh import Mesh
from flexmbs.mesh.integrals import cell_volumes, face_geometry
from flexmbs.mesh.topology import group_faces


def volume(mesh: Mesh) -> float:
    return float(sum(cell_volumes(mesh.points, b.type, b.nodes).sum() for b in mesh.cells))


def area(mesh: Mesh, which: str | np.ndarray) -> float:
    groups = group_faces(mesh.cells, mesh.faces(which) if isinstance(which, str) else which)
    return float(sum(np.linalg.norm(face_geometry(mesh.points, k, n)[2], axis=2).sum() for k, n in groups))


def area_vector(mesh: Mesh, which: str) -> np.ndarray:
    groups = group_faces(mesh.cells, mesh.faces(which))
    return sum(face_geometry(mesh.points, kind, nodes)[2].sum(axis=(0, 1)) for kind, nodes in groups)


def outward_flux(mesh: Mesh) -> float:
    """∮ x·n dA over the boundary: dimension times the volume, if it is closed and all normals point outwards."""
    total = 0.0
    for kind, nodes in group_faces(mesh.cells, mesh.boundary):
        _, x, normal = face_geometry(mesh.points, kind, nodes, degree=6)
        total += float(np.einsum("eqi,eqi->", x, normal))
    return total
