"""Moving the points of a mesh, and turning cells that are inside out."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import MeshError
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.data import MeshData
from flexmbs.mesh.integrals import cell_volumes
from flexmbs.mesh.topology import CellBlock, block_starts

Array = NDArray[np.float64]
Index = NDArray[np.int64]

_MIRRORED = {
    "vertex": (0,),
    "line": (0, 1),  # a line has no inside to turn out
    "triangle": (0, 2, 1),
    "quad": (0, 3, 2, 1),
    "tetra": (0, 2, 1, 3),
    "hexahedron": (0, 3, 2, 1, 4, 7, 6, 5),
    "wedge": (0, 2, 1, 3, 5, 4),
    "pyramid": (0, 3, 2, 1, 4),
}


def unit_vector(axis: str | ArrayLike, name: str = "mesh") -> Array:
    """The unit vector of "x", "y", "z" or along a vector."""
    if isinstance(axis, str):
        if axis not in ("x", "y", "z"):
            raise MeshError(f"{name}: axis must be 'x', 'y', 'z' or a vector, not {axis!r}.")
        return np.eye(3)["xyz".index(axis)]
    vector = np.asarray(axis, dtype=float)
    length = np.linalg.norm(vector)
    if vector.shape != (3,) or not length > 0:
        raise MeshError(f"{name}: an axis must be a vector of three numbers, not all zero; {axis!r} given.")
    return np.asarray(vector / length)


def rotated(data: MeshData, axis: str | ArrayLike, angle: float, center: ArrayLike = (0.0, 0.0, 0.0)) -> MeshData:
    """Points turned about an axis through ``center`` by an angle in radians (Rodrigues' formula)."""
    e, c = unit_vector(axis, data["name"]), np.asarray(center, dtype=float)
    cross = np.cross(e, np.eye(3)).T
    rotation = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return transformed(data, rotation, c - rotation @ c)


def transformed(data: MeshData, rotation: ArrayLike, translation: ArrayLike = (0.0, 0.0, 0.0)) -> MeshData:
    """Points R x + t; a reflection also reverses the cells' node order, so that volumes stay positive."""
    matrix, shift = np.asarray(rotation, dtype=float), np.asarray(translation, dtype=float)
    if matrix.shape != (3, 3) or not np.allclose(matrix @ matrix.T, np.eye(3), rtol=0.0, atol=1e-9):
        raise MeshError(
            f"{data['name']}: the matrix is no rotation (R Rᵀ differs from 1). "
            "Use scaled() to change the size, mapped() for any other change of shape."
        )
    moved: MeshData = {**data, "points": data["points"] @ matrix.T + np.pad(shift, (0, 3 - shift.size))}
    return moved if np.linalg.det(matrix) > 0 else reverse(moved, np.ones(_count(data), dtype=bool))


def scaled(data: MeshData, factor: float | ArrayLike) -> MeshData:
    """Points times a positive factor, or times three."""
    factors = np.asarray(factor, dtype=float)
    if not np.all(factors > 0):
        raise MeshError(f"{data['name']}: scaled({factor!r}): factors must be positive; mirror with transformed().")
    return {**data, "points": data["points"] * factors}


def mapped(data: MeshData, function: Callable[..., Any]) -> MeshData:
    """Points ``function(x, y, z)``, called once with arrays, returning two or three coordinates.

    Midside nodes move like all others, so that quadratic cells follow the curves of the map.
    """
    given = function(*data["points"].T)
    rows = [np.broadcast_to(np.asarray(c, dtype=float), len(data["points"])) for c in given]
    if len(rows) not in (2, 3):
        raise MeshError(f"{data['name']}: the map must return two or three coordinates, not {len(rows)}.")
    return {**data, "points": np.column_stack(rows if len(rows) == 3 else [*rows, data["points"][:, 2]])}


def oriented(data: MeshData) -> MeshData:
    """Cells of negative volume (area) with their node order reversed; face sets follow."""
    volumes = [cell_volumes(data["points"], b.type, b.nodes) for b in data["cells"]]
    return reverse(data, np.concatenate(volumes) < 0 if volumes else np.zeros(0, dtype=bool))


def straightened(data: MeshData, cells: Index) -> MeshData:
    """Midside nodes of the given cells put in the middle between their corners."""
    points = data["points"].copy()
    starts = block_starts(data["cells"])
    for block, start, stop in zip(data["cells"], starts[:-1], starts[1:], strict=True):
        nodes = block.nodes[cells[(cells >= start) & (cells < stop)] - start]
        for a, b, middle in (e for e in CELLS[block.type].edges if len(e) == 3):
            points[nodes[:, middle]] = (points[nodes[:, a]] + points[nodes[:, b]]) / 2
    return {**data, "points": points}


def reverse(data: MeshData, which: NDArray[np.bool_]) -> MeshData:
    """The mesh with the node order of the marked cells reversed."""
    starts = block_starts(data["cells"])
    blocks, faces = [], {n: p.copy() for n, p in data["face_sets"].items()}
    for block, start, stop in zip(data["cells"], starts[:-1], starts[1:], strict=True):
        order, new_face = _reversal(block.type)
        mine = which[start:stop]
        blocks.append(CellBlock(block.type, np.where(mine[:, None], block.nodes[:, order], block.nodes)))
        for pairs in faces.values():
            turned = (pairs[:, 0] >= start) & (pairs[:, 0] < stop)
            turned[turned] = mine[pairs[turned, 0] - start]
            pairs[turned, 1] = new_face[pairs[turned, 1]]
    return {**data, "cells": blocks, "face_sets": faces}


@cache
def _reversal(kind: str) -> tuple[Index, Index]:
    """Node order of the mirrored cell, and the new number of each of its faces."""
    cell = CELLS[kind]
    order = list(_MIRRORED[cell.shape])
    middle = {frozenset(e[:2]): e[2] for e in cell.edges if len(e) == 3}
    order += [middle[frozenset((order[e[0]], order[e[1]]))] for e in cell.edges if len(e) == 3]
    old = [frozenset(f) for f in cell.faces]
    new_face = np.zeros(len(old), dtype=np.int64)
    for new, face in enumerate(cell.faces):
        new_face[old.index(frozenset(order[i] for i in face))] = new
    return np.array(order), new_face


def _count(data: MeshData) -> int:
    return sum(len(b) for b in data["cells"])
