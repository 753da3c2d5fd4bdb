"""What the constructor of a mesh accepts: points, cells and sets that fit together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import MeshError
from flexmbs.given import array as given_array
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.topology import CellBlock

Array = NDArray[np.float64]
Index = NDArray[np.int64]


def valid_points(points: ArrayLike, name: str) -> Array:
    """Coordinates (nodes, 3), finite; two columns are read as the plane z = 0."""
    array = given_array(points)
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise MeshError(f"{name}: points must be an array (nodes, 3) or (nodes, 2), not {array.shape}.")
    if array.shape[1] == 2:
        array = np.column_stack([array, np.zeros(len(array))])
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(bad):
        raise MeshError(
            f"{name}: {len(bad)} nodes have coordinates that are not numbers, "
            f"the first is node {bad[0]}: {array[bad[0]]}."
        )
    return frozen(array)


def valid_blocks(given: Iterable[CellBlock | tuple[str, ArrayLike]], count: int, name: str) -> tuple[CellBlock, ...]:
    """Cell blocks of known types and of one dimension whose nodes are among ``count``."""
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise MeshError(f"{name}: cells are a list of blocks (type, node numbers), not {given!r}.")
    blocks = tuple(_block(b, count, name) for b in given)
    if len({CELLS[b.type].dimension for b in blocks}) > 1:
        found = ", ".join(f"{len(b)} {b.type}" for b in blocks)
        raise MeshError(
            f"{name}: cells of different dimensions are mixed ({found}). Keep those of one dimension "
            "(Mesh.read(..., dimension=3)); boundary cells belong into face sets."
        )
    return blocks


def _block(given: CellBlock | tuple[str, ArrayLike], count: int, name: str) -> CellBlock:
    if not isinstance(given, CellBlock) and not (isinstance(given, tuple | list) and len(given) == 2):
        raise MeshError(f"{name}: a block of cells is a pair (type, node numbers), not {given!r}.")
    kind, nodes = (given.type, given.nodes) if isinstance(given, CellBlock) else given
    if kind not in CELLS:
        raise MeshError(f"{name}: cell type {kind!r} is not known; flexmbs computes with {', '.join(CELLS)}.")
    array = np.asarray(nodes)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise MeshError(f"{name}: {kind} cells: node numbers must be integers, not {array.dtype}.")
    if array.ndim != 2 or array.shape[1] != CELLS[kind].nodes:
        raise MeshError(
            f"{name}: {kind} cells need an array (cells, {CELLS[kind].nodes}) of node numbers, not {array.shape}."
        )
    bad = np.flatnonzero(((array < 0) | (array >= count)).any(axis=1))
    if len(bad):
        row = array[bad[0]]
        raise MeshError(
            f"{name}: {kind} cell {bad[0]} names node {row.min() if row.min() < 0 else row.max()}, "
            f"but there are {count} nodes (0 to {count - 1})."
        )
    return CellBlock(kind, frozen(array.astype(np.int64, copy=False)))


def _named_sets(given: Any, kind: str, name: str) -> None:
    if given is not None and not isinstance(given, Mapping):
        raise MeshError(f'{name}: {kind} sets are numbers by name, {{"left": [0, 1]}}, not {given!r}.')


def valid_sets(given: Mapping[str, ArrayLike] | None, kind: str, count: int, name: str) -> Mapping[str, Index]:
    """Sets of node or cell numbers below ``count``, sorted, each number once."""
    _named_sets(given, kind, name)
    return MappingProxyType({str(n): frozen(valid_numbers(v, kind, count, name, n)) for n, v in (given or {}).items()})


def valid_face_sets(
    given: Mapping[str, ArrayLike] | None, blocks: Sequence[CellBlock], name: str
) -> Mapping[str, Index]:
    """Sets of (cell, local face) pairs that exist, sorted, each once."""
    _named_sets(given, "face", name)
    faces = [np.full(len(b), len(CELLS[b.type].faces)) for b in blocks]
    counts = np.concatenate([np.zeros(0, dtype=np.int64), *faces])
    sets = {}
    for key, values in (given or {}).items():
        pairs = np.asarray(values, dtype=np.int64).reshape(-1, 2)
        good = (pairs[:, 0] >= 0) & (pairs[:, 0] < len(counts)) & (pairs[:, 1] >= 0)
        good[good] &= pairs[good, 1] < counts[pairs[good, 0]]
        if not good.all():
            cell, face = pairs[~good][0]
            raise MeshError(f"{name}: face set {key!r} names face {face} of cell {cell}, which does not exist.")
        sets[str(key)] = frozen(np.unique(pairs, axis=0))
    return MappingProxyType(sets)


def valid_numbers(values: Any, kind: str, count: int, name: str, key: str | None = None) -> Index:
    """Sorted node or cell numbers from numbers or a mask."""
    array = np.asarray(values)
    where = f"{kind} set {key!r}" if key else f"the {kind}s given"
    if array.dtype == bool:
        if array.shape != (count,):
            raise MeshError(f"{name}: {where}: a mask of {array.shape} for {count} {kind}s.")
        array = np.flatnonzero(array)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise MeshError(f"{name}: {where}: {kind} numbers must be integers, not {array.dtype}.")
    numbers = np.unique(array.astype(np.int64))
    if len(numbers) and (numbers[0] < 0 or numbers[-1] >= count):
        wrong = numbers[0] if numbers[0] < 0 else numbers[-1]
        raise MeshError(f"{name}: {where}: {kind} {wrong} does not exist; there are {count} (from 0).")
    return numbers


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The array as one that nobody can write to, copied if somebody else holds it."""
    array = np.ascontiguousarray(array)
    if array.flags.writeable:
        array = array.copy()
        array.setflags(write=False)
    return array
