"""Faces and edges of a mesh: which there are, which lie on the boundary, which cell each belongs to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexmbs.mesh.cells import CELLS

Index = NDArray[np.int64]


@dataclass(frozen=True)
class CellBlock:
    """Cells of one type: ``nodes`` is an array (cells, nodes per cell)."""

    type: str
    nodes: Index

    def __len__(self) -> int:
        return len(self.nodes)


def block_starts(blocks: Sequence[CellBlock]) -> Index:
    """Number of the first cell of each block, and the total, when cells are numbered through all blocks."""
    return np.concatenate([[0], np.cumsum([len(b) for b in blocks])]).astype(np.int64)


def iterate_faces(blocks: Sequence[CellBlock]) -> Iterator[tuple[str, Index, Index, int]]:
    """Yield (face cell type, face nodes, cell numbers, local face number) for each kind of face of each block."""
    starts = block_starts(blocks)
    for block, start in zip(blocks, starts[:-1], strict=True):
        cell = CELLS[block.type]
        numbers = np.arange(start, start + len(block))
        for local, (face, kind) in enumerate(zip(cell.faces, cell.face_cells, strict=True)):
            yield kind, block.nodes[:, face], numbers, local


def boundary_faces(blocks: Sequence[CellBlock]) -> Index:
    """(cell, local face) pairs of the faces that belong to one cell only, sorted by cell."""
    pairs, keys = face_keys(blocks)
    if not len(keys):
        return np.zeros((0, 2), dtype=np.int64)
    _, inverse, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    return pairs[counts[inverse.ravel()] == 1]


def face_keys(blocks: Sequence[CellBlock]) -> tuple[Index, Index]:
    """All faces: (cell, local face) pairs and their sorted corner nodes, triangles padded with -1."""
    pairs, keys = [], []
    for kind, nodes, numbers, local in iterate_faces(blocks):
        corners = np.sort(nodes[:, : CELLS[kind].corners], axis=1)
        padded = np.full((len(corners), 4), -1, dtype=np.int64)
        padded[:, 4 - corners.shape[1] :] = corners
        keys.append(padded)
        pairs.append(np.stack([numbers, np.full(len(numbers), local)], axis=1))
    if not pairs:
        return np.zeros((0, 2), dtype=np.int64), np.zeros((0, 4), dtype=np.int64)
    all_pairs, all_keys = np.concatenate(pairs), np.concatenate(keys)
    order = np.lexsort((all_pairs[:, 1], all_pairs[:, 0]))
    return all_pairs[order], all_keys[order]


def match_faces(blocks: Sequence[CellBlock], faces: Index) -> Index:
    """(cell, local face) of faces given by corner nodes (count, 2 to 4); -1 where no cell has that face."""
    pairs, keys = face_keys(blocks)
    wanted = np.full((len(faces), 4), -1, dtype=np.int64)
    wanted[:, 4 - faces.shape[1] :] = np.sort(faces, axis=1)
    _, inverse = np.unique(np.concatenate([keys, wanted]), axis=0, return_inverse=True)
    inverse = inverse.ravel()
    owner = np.full(inverse.max(initial=0) + 1, -1, dtype=np.int64)
    owner[inverse[: len(keys)][::-1]] = np.arange(len(keys))[::-1]  # the first cell that has the face
    found = owner[inverse[len(keys) :]]
    return np.where(found[:, None] >= 0, pairs[found], -1)


def group_faces(blocks: Sequence[CellBlock], pairs: Index) -> list[tuple[str, Index]]:
    """Nodes of the given (cell, local face) pairs, grouped by the face's cell type."""
    starts = block_starts(blocks)
    grouped: dict[str, list[Index]] = {}
    for block, start, stop in zip(blocks, starts[:-1], starts[1:], strict=True):
        cell = CELLS[block.type]
        mine = pairs[(pairs[:, 0] >= start) & (pairs[:, 0] < stop)]
        for local, (face, kind) in enumerate(zip(cell.faces, cell.face_cells, strict=True)):
            chosen = mine[mine[:, 1] == local, 0] - start
            if len(chosen):
                grouped.setdefault(kind, []).append(block.nodes[chosen][:, face])
    return [(kind, np.concatenate(parts)) for kind, parts in grouped.items()]
