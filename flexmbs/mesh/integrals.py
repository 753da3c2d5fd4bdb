"""Geometry by integration: areas of faces, volumes of cells, Jacobians."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.quadrature import quadrature
from flexmbs.mesh.shapes import shape_gradients, shape_values

Array = NDArray[np.float64]
Index = NDArray[np.int64]

FACE_DEGREE = 4
"""Quadrature degree on faces: exact for products of quadratic functions on flat faces."""


def face_geometry(points: Array, kind: str, nodes: Index, degree: int = FACE_DEGREE) -> tuple[Array, Array, Array]:
    """Shape values (q, a), positions (faces, q, 3) and area vectors n·dA (faces, q, 3), weights included.

    For lines (edges of plane cells) dA is the length and n lies in the plane, to the right of the edge.
    """
    xi, w = quadrature(kind, degree)
    values, gradients = shape_values(kind, xi), shape_gradients(kind, xi)
    x = points[nodes]
    tangents = np.einsum("qak,eai->eqki", gradients, x)
    if CELLS[kind].dimension == 1:
        normal = np.cross(tangents[:, :, 0], [0.0, 0.0, 1.0])
    else:
        normal = np.cross(tangents[:, :, 0], tangents[:, :, 1])
    return values, np.einsum("qa,eai->eqi", values, x), normal * w[None, :, None]


def face_weights(points: Array, groups: Iterable[tuple[str, Index]]) -> Array:
    """∫φ_a dA of every node over the given faces."""
    totals = np.zeros(len(points))
    for kind, nodes in groups:
        values, _, area = face_geometry(points, kind, nodes)
        share = np.einsum("qa,eq->ea", values, np.linalg.norm(area, axis=2))
        np.add.at(totals, nodes, share)
    return totals


def jacobians(points: Array, kind: str, nodes: Index, xi: Array) -> Array:
    """Jacobian determinants (cells, points) at reference points; for cells of lower dimension their measure.

    Plane cells that lie in a plane z = const give signed areas, so that inverted cells show.
    """
    cell = CELLS[kind]
    x = points[nodes]
    tangents = np.einsum("qak,eai->eqki", shape_gradients(kind, xi), x)
    if cell.dimension == 3:
        return np.asarray(np.linalg.det(tangents))
    if cell.dimension == 2:
        normal = np.cross(tangents[:, :, 0], tangents[:, :, 1])
        flat = np.ptp(points[:, 2]) == 0.0 if len(points) else True
        return normal[:, :, 2] if flat else np.linalg.norm(normal, axis=2)
    if cell.dimension == 1:
        return np.asarray(np.linalg.norm(tangents[:, :, 0], axis=2))
    return np.ones((len(nodes), len(xi)))


def cell_volumes(points: Array, kind: str, nodes: Index) -> Array:
    """Volume, area or length of each cell."""
    xi, w = quadrature(kind, 3 if CELLS[kind].order == 1 else 5)
    return np.asarray(jacobians(points, kind, nodes, xi) @ w)
