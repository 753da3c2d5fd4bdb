"""What the constructors of projections need to know of a mesh: points, sets, weights, components."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import ProjectionError

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
Nodes = str | int | Sequence[str] | ArrayLike
Components = str | int | Sequence[str] | Sequence[int]

NAMES = ("x", "y", "z", "rx", "ry", "rz")


class NodalModel(Protocol):
    """A mesh as the constructors see it.

    nodes and weights take a set name, a list of set names or node numbers. dofs_per_node: 2 in the plane (ux
    uy), 3 for solids, 6 for beams (displacement, rotation). nodes gives the sorted node numbers of a set (or
    of given numbers), weights their shares of the set's area, in that order, with sum 1.
    """

    @property
    def points(self) -> NDArray[np.float64]:
        """Positions of the nodes, (n, 3)."""

    @property
    def dofs_per_node(self) -> int:
        """Coordinates per node: 2, 3 or 6."""

    def nodes(self, name_or_indices: Any, /) -> NDArray[Any]:
        """Sorted node numbers of a set."""

    def weights(self, name_or_indices: Any, /) -> NDArray[np.float64]:
        """Tributary weights of the nodes of a set, with sum 1."""


def size(model: NodalModel) -> int:
    """Number of nodal coordinates of a model."""
    return len(model.points) * model.dofs_per_node


def is_named(nodes: Nodes) -> bool:
    """Whether nodes are given by the name(s) of sets."""
    return isinstance(nodes, str) or (
        isinstance(nodes, Sequence) and len(nodes) > 0 and all(isinstance(k, str) for k in nodes)
    )


def described(nodes: Nodes) -> str:
    """Nodes in words, for messages."""
    if isinstance(nodes, str):
        return f'set "{nodes}"'
    if is_named(nodes):
        return "sets " + ", ".join(f'"{k}"' for k in np.asarray(nodes))
    numbers = np.atleast_1d(np.asarray(nodes))
    if not len(numbers):
        return "the selection given"
    shown = ", ".join(str(k) for k in numbers[:5])
    return f"nodes {shown}" + (f" and {len(numbers) - 5} more" if len(numbers) > 5 else "")


def node_numbers(model: NodalModel, nodes: Nodes) -> IntArray:
    """Sorted node numbers of a set, of several sets together, or of given numbers."""
    if is_named(nodes):
        names = [nodes] if isinstance(nodes, str) else list(nodes)  # type: ignore[arg-type]
        numbers = np.unique(np.concatenate([np.asarray(model.nodes(name), dtype=np.int64) for name in names]))
    else:
        numbers = np.unique(ordered_numbers(model, nodes))
    if len(numbers) == 0:
        raise ProjectionError(f"{described(nodes)} holds no nodes: check how it was made")
    return numbers


def ordered_numbers(model: NodalModel, nodes: Nodes) -> IntArray:
    """Node numbers in the order given (sets: sorted), checked."""
    if is_named(nodes):
        return node_numbers(model, nodes)
    given = np.atleast_1d(np.asarray(nodes))
    if given.dtype == bool:
        raise ProjectionError("nodes are given by numbers or set names, not by a mask: use numpy.flatnonzero(mask)")
    if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
        raise ProjectionError(f"nodes are set names or a list of node numbers, got {nodes!r}")
    numbers = given.astype(np.int64)
    count = len(model.points)
    outside = numbers[(numbers < 0) | (numbers >= count)]
    if len(outside):
        raise ProjectionError(f"node {outside[0]} does not exist: the model has nodes 0 to {count - 1}")
    return numbers


def component_numbers(per_node: int, components: Components | None) -> IntArray:
    """Numbers of nodal components given as "x", "xy", "rz", ("x", "rz") or indices; None: all."""
    if components is None:
        return np.arange(per_node)
    names = NAMES[:per_node]
    items: list[Any] = [components] if isinstance(components, (str, int, np.integer)) else list(components)
    numbers: list[int] = []
    for item in items:
        if isinstance(item, str):
            parts = re.findall(r"r?[xyz]", item)
            if "".join(parts) != item or not parts or any(part not in names for part in parts):
                raise ProjectionError(f'unknown component "{item}": nodes of this model have {", ".join(names)}')
            numbers += [names.index(part) for part in parts]
        elif isinstance(item, (int, np.integer)) and 0 <= item < per_node:
            numbers.append(int(item))
        else:
            raise ProjectionError(f"component {item!r} does not exist: nodes of this model have 0 to {per_node - 1}")
    if not numbers or len(set(numbers)) != len(numbers):
        raise ProjectionError(f"components {components!r}: name each component once, and at least one")
    return np.array(numbers, dtype=np.int64)


def coordinate_name(index: int, per_node: int) -> str:
    """A full coordinate in words: its node and component, or its number where nodes are not known."""
    if per_node == 0:
        return f"coordinate {index}"
    return f"node {index // per_node} {NAMES[index % per_node]}"


def direction(normal: str | ArrayLike, dimension: int) -> FloatArray:
    """Unit vector of an axis name or of a vector."""
    if isinstance(normal, str):
        if normal not in NAMES[:dimension]:
            raise ProjectionError(f'unknown axis "{normal}": use {", ".join(NAMES[:dimension])} or a vector')
        unit: FloatArray = np.eye(dimension)[NAMES.index(normal)]
        return unit
    vector = np.asarray(normal, dtype=float)
    out_of_plane = dimension == 2 and vector.shape == (3,) and vector[2] == 0.0
    vector = vector[:2] if out_of_plane else vector
    length = float(np.linalg.norm(vector))
    if vector.shape != (dimension,) or not np.isfinite(length) or length == 0.0:
        raise ProjectionError(f"a direction is an axis name or {dimension} numbers, not all zero; got {normal!r}")
    return vector / length


def replace_coordinates(count: int, touched: IntArray, block: Any) -> Any:
    """A that passes on all coordinates but `touched`, first and in order; touched = block · new ones."""
    free = np.setdiff1d(np.arange(count), touched)
    rows = np.argsort(np.concatenate([free, touched]))
    return sp.csr_array(sp.block_diag([sp.eye_array(len(free)), sp.csr_array(block)], format="csr"))[rows]
