"""From a file's own node labels and node orders to ours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.mesh.cells import CELLS

Index = NDArray[np.int64]


def positions(labels: Index, wanted: ArrayLike) -> Index:
    """Where each wanted label stands in ``labels`` (in any order, with gaps); -1 where it is not."""
    wanted = np.asarray(wanted, dtype=np.int64)
    if not len(labels):
        return np.full(wanted.shape, -1, dtype=np.int64)
    order = np.argsort(labels, kind="stable")
    place = np.minimum(np.searchsorted(labels, wanted, sorter=order), len(labels) - 1)
    found = order[place]
    return np.where(labels[found] == wanted, found, -1)


def midside_order(kind: str, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Columns of a file's cells in our order, from the corner pairs of its midside nodes in its order."""
    cell = CELLS[kind]
    column = {frozenset(edge): cell.corners + k for k, edge in enumerate(edges)}
    return [*range(cell.corners), *(column[frozenset(edge[:2])] for edge in cell.edges)]
