"""Supports, ties, symmetry planes and multi-point constraints, as matrix and offset of a projection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import ProjectionError
from flexmbs.nullspace import null_space
from flexmbs.nullspace.readonly import frozen
from flexmbs.projection.model import (
    Components,
    NodalModel,
    Nodes,
    component_numbers,
    described,
    direction,
    is_named,
    node_numbers,
    ordered_numbers,
    replace_coordinates,
    size,
)
from flexmbs.projection.stages import Selection

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


def fixed(model: NodalModel, nodes: Nodes, components: Components | None, values: ArrayLike) -> Selection:
    """Selection of the coordinates that are not fixed; prescribed values are its offset."""
    numbers = ordered_numbers(model, nodes)
    which = component_numbers(model.dofs_per_node, components)
    if len(numbers) == 0:
        raise ProjectionError(f"{described(nodes)} holds no nodes: check how it was made")
    given = np.asarray(values, dtype=float)
    shape = (len(numbers), len(which))
    if given.shape not in ((), (len(which),), shape):
        raise ProjectionError(
            f"prescribed values of shape {given.shape} for {shape[0]} nodes with {shape[1]} components: "
            f"give one number, ({shape[1]},) or {shape}"
        )
    if not np.all(np.isfinite(given)):
        raise ProjectionError(f"prescribed values for {described(nodes)} contain NaN or infinity")
    coordinates = (numbers[:, None] * model.dofs_per_node + which).ravel()
    count = size(model)
    offset = np.zeros(count)
    offset[coordinates] = np.broadcast_to(given, shape).ravel()
    clash = offset[coordinates].reshape(shape) != np.broadcast_to(given, shape)
    if np.any(clash):
        node = numbers[np.argwhere(clash)[0, 0]]
        raise ProjectionError(f"node {node} is listed twice with different prescribed values: list it once")
    kept = np.ones(count, dtype=bool)
    kept[coordinates] = False
    return Selection(frozen(np.flatnonzero(kept)), count, frozen(offset) if np.any(offset) else None)


def multi_point(
    B: Any, c: ArrayLike | None, labels: Sequence[str] | None, tol: float | None, keep: ArrayLike | None
) -> tuple[Any, FloatArray, tuple[str | int, ...]]:
    """A, offset and redundant rows of B d = c."""
    B = sp.csr_array(B)
    rows = B.shape[0]
    right = np.zeros(rows) if c is None else np.asarray(c, dtype=float)
    if right.shape != (rows,) or not np.all(np.isfinite(right)):
        raise ProjectionError(
            f"constraints B d = c: B has {rows} rows, c has shape {right.shape}; give ({rows},) finite numbers"
        )
    if labels is not None and len(labels) != rows:
        raise ProjectionError(f"{len(labels)} labels for {rows} constraint rows: give one for each")
    space = null_space(B, tol=tol, keep=keep)
    offset = space.particular(-right, labels)
    redundant = tuple(int(k) if labels is None else labels[k] for k in space.redundant)
    return space.A, offset, redundant


def tied(
    model: NodalModel, slaves: Nodes, masters: Nodes, components: Components | None, tolerance: float | None
) -> tuple[Any, FloatArray, tuple[str | int, ...]]:
    """Constraints that slave nodes move as their master nodes."""
    pairs = _pairs(model, slaves, masters, tolerance)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    p = model.dofs_per_node
    which = component_numbers(p, components)
    coordinates = (pairs[:, :, None] * p + which).transpose(1, 0, 2).reshape(2, -1)
    m, n = coordinates.shape[1], size(model)
    columns = coordinates.T.ravel()
    B = sp.csr_array((np.tile([1.0, -1.0], m), columns, 2 * np.arange(m + 1)), shape=(m, n))
    labels = [f"node {s} tied to node {t}" for s, t in np.repeat(pairs, len(which), axis=0)]
    keep = np.setdiff1d(coordinates[1], coordinates[0])
    return multi_point(B, None, labels, None, keep)


def _pairs(model: NodalModel, slaves: Nodes, masters: Nodes, tolerance: float | None) -> IntArray:
    s, t = ordered_numbers(model, slaves), ordered_numbers(model, masters)
    if not (is_named(slaves) or is_named(masters)):
        if len(s) != len(t):
            raise ProjectionError(
                f"tie pairs nodes in order, but {len(s)} slaves and {len(t)} masters are given: "
                "give equally many, or set names to match them by position"
            )
        return np.column_stack([s, t])
    points = model.points
    reach = 1e-6 * float(np.linalg.norm(np.ptp(points, axis=0))) if tolerance is None else tolerance
    distance, nearest = scipy.spatial.cKDTree(points[t]).query(points[s])
    far = np.flatnonzero(distance > reach)
    if len(far):
        worst = far[np.argmax(distance[far])]
        raise ProjectionError(
            f"{len(far)} of {len(s)} nodes of {described(slaves)} have no partner in {described(masters)} "
            f"within {reach:.3g}; node {s[worst]} misses by {distance[worst]:.3g}. "
            "Set tolerance=, or tie meshes that match"
        )
    return np.column_stack([s, t[nearest]])


def symmetric(model: NodalModel, nodes: Nodes, normal: str | ArrayLike) -> Any:
    """Matrix of the motions a mirror plane allows: u·n = 0, beams also rotation about n only."""
    numbers = node_numbers(model, nodes)
    p = model.dofs_per_node
    dimension = min(p, 3)
    n = direction(normal, dimension)
    # tangents are the other axes where the normal is an axis, so that nothing is mixed then
    axis = int(np.argmax(abs(n)))
    along_axis = abs(n[axis]) == 1.0
    tangents = np.delete(np.eye(dimension), axis, axis=1) if along_axis else np.linalg.svd(n[None, :])[2][1:].T
    block = np.zeros((p, dimension - 1 + (p == 6)))
    block[:dimension, : dimension - 1] = tangents
    if p == 6:
        block[3:, -1] = n
    touched = (numbers[:, None] * p + np.arange(p)).ravel()
    return replace_coordinates(size(model), touched, sp.kron(sp.eye_array(len(numbers)), block, format="csr"))
