"""How well shaped cells are: scaled Jacobians and edge ratios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.quadrature import quadrature
from flexmbs.mesh.shapes import shape_gradients
from flexmbs.mesh.topology import CellBlock

Array = NDArray[np.float64]

_IDEAL = {"triangle": np.sqrt(3) / 2, "quad": 1.0, "tetra": np.sqrt(0.5), "hexahedron": 1.0}
_IDEAL |= {"wedge": np.sqrt(3) / 2, "pyramid": np.sqrt(0.5)}


@dataclass(frozen=True)
class Quality:
    """Shape of every cell, in the order of the cell numbers.

    ``scaled_jacobian`` is the least over the corners of the determinant of the unit edge tangents, 1 for the
    regular cell, 0 or less for a cell that is flat or inside out. ``aspect`` is longest over shortest edge.
    """

    scaled_jacobian: Array
    aspect: Array


def quality(points: Array, blocks: Sequence[CellBlock]) -> Quality:
    """Shape of every cell; lines and points count as perfect."""
    scaled = [scaled_jacobians(points, b) for b in blocks]
    aspect = [_aspects(points, b) for b in blocks]
    none = np.zeros(0)
    return Quality(np.concatenate([none, *scaled]), np.concatenate([none, *aspect]))


def jacobian_range(points: Array, block: CellBlock) -> tuple[Array, Array, Array]:
    """Least and greatest Jacobian of each cell over its nodes and Gauss points, and its mean size.

    The first two are parts of the mean size; that is a part of (longest edge)^dimension, 0 for a flat cell.
    """
    values = _determinants(points, block, _sample_points(block.type))
    size = np.abs(values).mean(axis=1)
    relative = values / np.where(size > 0, size, 1.0)[:, None]
    extent = _extent(points, block) ** CELLS[block.type].dimension
    return relative.min(axis=1), relative.max(axis=1), size / np.where(extent > 0, extent, 1.0)


@cache
def _sample_points(kind: str) -> Array:
    cell = CELLS[kind]
    gauss, _ = quadrature(kind, 2 * (cell.order - 1))
    if kind in ("line", "triangle", "tetra"):
        return gauss  # the Jacobian is constant
    # The map of a pyramid has no Jacobian at the apex.
    return np.concatenate([cell.points[:4] if cell.shape == "pyramid" else cell.points, gauss])


def _tangents(points: Array, block: CellBlock, xi: Array) -> Array:
    """∂x/∂ξ_k (cells, points, k, 3); as one matrix product, as this is what a check costs."""
    gradients = shape_gradients(block.type, xi).transpose(0, 2, 1)
    count, dimension, nodes = gradients.shape
    flat = gradients.reshape(count * dimension, nodes) @ points[block.nodes].transpose(1, 0, 2).reshape(nodes, -1)
    return flat.reshape(count, dimension, len(block), 3).transpose(2, 0, 1, 3)


def _determinants(points: Array, block: CellBlock, xi: Array) -> Array:
    return _measure(_tangents(points, block, xi), flat=not np.ptp(points[:, 2], axis=0))


def _measure(t: Array, flat: bool) -> Array:
    """Determinants of tangents (..., k, 3); the signed area for plane cells in a plane z = const."""
    if t.shape[-2] == 1:
        return np.asarray(np.linalg.norm(t[..., 0, :], axis=-1))
    a, b = t[..., 0, :], t[..., 1, :]
    normal_z = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    if t.shape[-2] == 2 and flat:
        return np.asarray(normal_z)
    normal_x = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    normal_y = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    if t.shape[-2] == 2:
        return np.sqrt(normal_x**2 + normal_y**2 + normal_z**2)
    c = t[..., 2, :]
    return np.asarray(normal_x * c[..., 0] + normal_y * c[..., 1] + normal_z * c[..., 2])


def scaled_jacobians(points: Array, block: CellBlock) -> Array:
    """Least over the corners of the determinant of the unit edge tangents, 1 for the regular cell."""
    cell = CELLS[block.type]
    worst = np.ones(len(block))
    if cell.dimension < 2:
        return worst
    corners = 4 if cell.shape == "pyramid" else cell.corners  # four edges meet at the apex
    flat = not np.ptp(points[:, 2], axis=0)
    tangents = _tangents(points, block, cell.points[:corners])
    for corner in range(corners):
        along = np.einsum("jk,eki->eji", _edge_directions(cell.shape)[corner], tangents[:, corner])
        lengths = np.linalg.norm(along, axis=2).prod(axis=1)
        value = _measure(along, flat) / np.where(lengths > 0, lengths, 1.0)
        worst = np.minimum(worst, value / _IDEAL[cell.shape])
    return worst


@cache
def _edge_directions(shape: str) -> tuple[Array, ...]:
    """For each corner the reference directions of the edges that leave it, right-handed."""
    cell = CELLS[shape]
    out = []
    for corner in range(cell.corners):
        ends = [e[1] if e[0] == corner else e[0] for e in cell.edges if corner in e]
        directions = cell.points[ends] - cell.points[corner]
        if len(directions) == cell.dimension and np.linalg.det(directions) < 0:
            directions[[0, 1]] = directions[[1, 0]]
        out.append(directions)
    return tuple(out)


def _edge_lengths(points: Array, block: CellBlock) -> Array:
    edges = np.array([e[:2] for e in CELLS[block.type].edges])
    return np.asarray(np.linalg.norm(points[block.nodes[:, edges[:, 1]]] - points[block.nodes[:, edges[:, 0]]], axis=2))


def _extent(points: Array, block: CellBlock) -> Array:
    if not CELLS[block.type].edges:
        return np.ones(len(block))
    return np.asarray(_edge_lengths(points, block).max(axis=1))


def _aspects(points: Array, block: CellBlock) -> Array:
    if not CELLS[block.type].edges:
        return np.ones(len(block))
    lengths = _edge_lengths(points, block)
    shortest = lengths.min(axis=1)
    return np.divide(lengths.max(axis=1), shortest, out=np.full(len(block), np.inf), where=shortest > 0)
