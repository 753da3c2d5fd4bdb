"""Interfaces: a set of nodes that follows a point rigidly, or whose weighted mean motion a point follows.

The point has 6 coordinates (displacement, rotation), in the plane 3 (ux, uy, θz).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import ProjectionError
from flexmbs.given import array
from flexmbs.projection.model import NodalModel, Nodes, described, is_named, node_numbers, replace_coordinates, size

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Averaged:
    """A set whose weighted mean motion counts, not that of each node: it may still deform."""

    nodes: Nodes


@dataclass(frozen=True)
class _Set:
    """Nodes of an interface: numbers, weights, arms from the centroid, the centroid and the point."""

    numbers: IntArray
    weights: FloatArray
    arms: FloatArray
    centroid: FloatArray
    point: FloatArray
    coordinates: IntArray


def rigid(model: NodalModel, nodes: Nodes, at: ArrayLike | None) -> tuple[Any, FloatArray]:
    """A of a rigid interface, u_k = U + θ × r_k (the point's coordinates last), and the point's position."""
    s = _set(model, nodes, at)
    if model.dofs_per_node != 6:
        _second_moment(model, nodes, s)  # without rotations of its own a collinear set leaves the point free to spin
    block = _rigid_rows(model, s.centroid + s.arms - s.point)
    return replace_coordinates(size(model), s.coordinates, block), s.point


def averaging_rows(model: NodalModel, nodes: Nodes, at: ArrayLike | None = None) -> tuple[Any, FloatArray]:
    """Rows B (csr, 6 × n; plane 3 × n) with point = B d, and the position of the point.

    Translation is the weighted mean of the nodes' displacements, rotation the weighted least-squares
    (moment-equivalent) one, θ = J⁻¹ Σ w (r × u) about the weighted centroid, J = Σ w (r·r E − r rᵀ); for
    beams it is the weighted mean of the nodes' rotations. The point `at` moves with them rigidly.
    """
    s = _set(model, nodes, at)
    p = model.dofs_per_node
    planar = p == 2
    d = 2 if planar else 3
    mean = np.kron(s.weights, np.eye(d, p))
    if p == 6:
        turn = np.kron(s.weights, np.eye(3, 6, k=3))
    else:
        moment = np.concatenate(_moment_arms(s.arms, planar) * s.weights[:, None, None], axis=1)
        turn = np.linalg.solve(_second_moment(model, nodes, s), moment)
    lever = s.point - s.centroid
    mean = mean + _moment_arms(lever[None, :], planar)[0].T @ turn
    rows = np.vstack([mean, turn])
    i, j = np.meshgrid(np.arange(len(rows)), s.coordinates, indexing="ij")
    B = sp.csr_array((rows.ravel(), (i.ravel(), j.ravel())), shape=(len(rows), size(model)))
    B.eliminate_zeros()
    return B, s.point


def averaging(model: NodalModel, nodes: Nodes, at: ArrayLike | None) -> tuple[Any, FloatArray]:
    """A of an averaging interface (the point's coordinates last), and the position of the point.

    As many nodal coordinates of the set as the point has are pivots: they follow from the point and the
    others.
    """
    B, point = averaging_rows(model, nodes, at)
    count = B.shape[1]
    set_columns = np.unique(B.indices)
    rows = B[:, set_columns].toarray()
    # rotations count with the size of the set, so that the choice of pivots does not depend on units
    scaled = rows / np.linalg.norm(rows, axis=1)[:, None]
    pivots = np.sort(set_columns[scipy.linalg.qr(scaled, mode="r", pivoting=True)[1][: len(rows)]])
    others = np.setdiff1d(np.arange(count), pivots)
    inverse = np.linalg.inv(B[:, pivots].toarray())
    followers = sp.hstack([sp.csr_array(-inverse) @ B[:, others], sp.csr_array(inverse)], format="csr")
    stay = sp.eye_array(len(others), len(others) + len(rows))
    A = sp.vstack([stay, followers], format="csr")[np.argsort(np.concatenate([others, pivots]))]
    return sp.csr_array(A), point


def _set(model: NodalModel, nodes: Nodes, at: ArrayLike | None) -> _Set:
    if not hasattr(model, "dofs_per_node"):
        raise ProjectionError(f"interfaces need a mesh or elements, not {type(model).__name__}")
    if model.dofs_per_node not in (2, 3, 6):
        raise ProjectionError(f"interfaces need 2, 3 or 6 coordinates per node, the model has {model.dofs_per_node}")
    numbers = node_numbers(model, nodes)
    weights = np.asarray(model.weights(nodes if is_named(nodes) else numbers), dtype=float)
    if weights.shape != numbers.shape:
        raise ProjectionError(f"{described(nodes)}: {weights.size} weights for {len(numbers)} nodes")
    points = np.asarray(model.points, dtype=float)[numbers]
    centroid = weights @ points
    point = centroid if at is None else array(at)
    if at is not None and point.shape == (2,) and model.dofs_per_node == 2:
        point = np.append(point, 0.0)
    if point.shape != (3,) or not np.all(np.isfinite(point)):
        raise ProjectionError(f"the point of an interface has 3 finite coordinates, got at={at!r}")
    p = model.dofs_per_node
    coordinates = (numbers[:, None] * p + np.arange(p)).ravel()
    return _Set(numbers, weights, points - centroid, centroid, point, coordinates)


def _moment_arms(arms: FloatArray, planar: bool) -> FloatArray:
    """For each arm r the matrix of r × (k, 3, 3), in the plane its z row (k, 1, 2)."""
    x, y, z = arms.T
    if planar:
        return np.stack([-y, x], axis=-1)[:, None, :]
    o = np.zeros_like(x)
    return np.stack([o, -z, y, z, o, -x, -y, x, o], axis=-1).reshape(-1, 3, 3)


def _rigid_rows(model: NodalModel, arms: FloatArray) -> FloatArray:
    """Nodal coordinates of a rigid motion of the point: u = U + θ × r, and for beams φ = θ."""
    p = model.dofs_per_node
    planar = p == 2
    d = 2 if planar else 3
    rows = np.zeros((len(arms), p, d + (1 if planar else 3)))
    rows[:, :d, :d] = np.eye(d)
    rows[:, :d, d:] = _moment_arms(arms, planar).transpose(0, 2, 1)
    if p == 6:
        rows[:, 3:, 3:] = np.eye(3)
    return rows.reshape(-1, rows.shape[2])


def _second_moment(model: NodalModel, nodes: Nodes, s: _Set) -> FloatArray:
    """J = Σ w (r·r E − r rᵀ) about the centroid (plane: Σ w r·r); refused if a rotation is undefined."""
    planar = model.dofs_per_node == 2
    arms = _moment_arms(s.arms, planar)
    J: FloatArray = np.einsum("k,kij,klj->il", s.weights, arms, arms)
    moments = np.linalg.eigvalsh(J)
    extent = float(np.linalg.norm(np.ptp(np.asarray(model.points), axis=0)))
    in_one_place = moments[-1] <= (1e-12 * extent) ** 2
    if in_one_place or (not planar and moments[0] <= 1e-10 * moments[-1]):
        count = len(s.numbers)
        found = "1 node" if count == 1 else f"{count} nodes {'in one place' if in_one_place else 'on one line'}"
        need = "two separate nodes" if planar else "three nodes that are not on one line"
        raise ProjectionError(
            f"interface on {described(nodes)}: {found} cannot define a rotation of its point. Take more "
            f"nodes (at least {need}), or hold displacements only (tie, constraints)."
        )
    return J
