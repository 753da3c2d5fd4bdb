"""Joining meshes, merging, renumbering and dropping nodes, taking parts out."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from flexmbs.errors import MeshError
from flexmbs.mesh.data import MeshData
from flexmbs.mesh.order import keep_nodes
from flexmbs.mesh.subdivide import unique_rows
from flexmbs.mesh.topology import CellBlock, block_starts

Index = NDArray[np.int64]

COINCIDENT = 1e-9
"""Nodes closer than this part of the mesh's diagonal are taken for one."""


def coincident_nodes(data: MeshData, tolerance: float | None = None) -> Index:
    """For every node the lowest-numbered node in the same place; chains of close nodes count as one place."""
    points = data["points"]
    size = float(np.linalg.norm(np.ptp(points, axis=0))) if len(points) else 0.0
    pairs = scipy.spatial.cKDTree(points).query_pairs(
        COINCIDENT * size if tolerance is None else tolerance, output_type="ndarray"
    )
    if not len(pairs):
        return np.arange(len(points))
    graph = coo_array((np.ones(len(pairs)), pairs.T), shape=(len(points),) * 2)
    _, label = connected_components(graph, directed=False)
    _, first = np.unique(label, return_index=True)
    return np.asarray(first[label], dtype=np.int64)


def merged_nodes(data: MeshData, tolerance: float | None = None) -> MeshData:
    """Nodes in the same place made one, which ties the cells they belong to."""
    same = coincident_nodes(data, tolerance)
    blocks = [CellBlock(b.type, same[b.nodes]) for b in data["cells"]]
    start = 0
    for block in blocks:
        ordered = np.sort(block.nodes, axis=1)
        collapsed = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
        if len(collapsed):
            raise MeshError(
                f"{data['name']}: merging nodes would collapse {len(collapsed)} {block.type} cells, "
                f"the first is cell {start + collapsed[0]}. Give merged_nodes() a tolerance below the shortest edge."
            )
        start += len(block)
    sets = {n: np.unique(same[s]) for n, s in data["node_sets"].items()}
    return keep_nodes({**data, "cells": blocks, "node_sets": sets}, same == np.arange(len(same)))


def joined(data: MeshData, other: MeshData) -> MeshData:
    """Both meshes in one, not yet tied; sets of the same name are united."""
    shift, first = len(data["points"]), sum(len(b) for b in data["cells"])
    step = np.array([first, 0])
    return by_type(
        MeshData(
            points=np.concatenate([data["points"], other["points"]]),
            cells=[*data["cells"], *(CellBlock(b.type, b.nodes + shift) for b in other["cells"])],
            node_sets=_united(data["node_sets"], {n: s + shift for n, s in other["node_sets"].items()}),
            cell_sets=_united(data["cell_sets"], {n: s + first for n, s in other["cell_sets"].items()}),
            face_sets=_united(data["face_sets"], {n: s + step for n, s in other["face_sets"].items()}),
            name=data["name"],
        )
    )


def by_type(data: MeshData) -> MeshData:
    """One block per cell type, so that whatever works on blocks works on few."""
    kinds = list(dict.fromkeys(b.type for b in data["cells"]))
    if len(kinds) == len(data["cells"]):
        return data
    kind_of = np.concatenate([np.full(len(b), kinds.index(b.type)) for b in data["cells"]])
    number = np.empty(len(kind_of), dtype=np.int64)
    number[np.argsort(kind_of, kind="stable")] = np.arange(len(kind_of))
    return {
        **data,
        "cells": [CellBlock(k, np.concatenate([b.nodes for b in data["cells"] if b.type == k])) for k in kinds],
        "cell_sets": {n: number[s] for n, s in data["cell_sets"].items()},
        "face_sets": {n: np.column_stack([number[s[:, 0]], s[:, 1]]) for n, s in data["face_sets"].items()},
    }


def renumbered(data: MeshData, order: Index) -> MeshData:
    """Nodes in a new order: the new node i is the old node ``order[i]``."""
    order, count = np.asarray(order), len(data["points"])
    if order.shape != (count,) or not np.array_equal(np.sort(order), np.arange(count)):
        raise MeshError(f"{data['name']}: the new order must name each of the {count} nodes once; {order.size} given.")
    number = np.empty(count, dtype=np.int64)
    number[order] = np.arange(count)
    return {
        **data,
        "points": data["points"][order],
        "cells": [CellBlock(b.type, number[b.nodes]) for b in data["cells"]],
        "node_sets": {n: number[s] for n, s in data["node_sets"].items()},
    }


def unattached_nodes(data: MeshData) -> Index:
    """Nodes that belong to no cell."""
    free = np.ones(len(data["points"]), dtype=bool)
    for block in data["cells"]:
        free[block.nodes] = False
    return np.flatnonzero(free)


def without_unattached_nodes(data: MeshData) -> MeshData:
    """The mesh without the nodes that belong to no cell; sets left empty by it go too."""
    kept = np.ones(len(data["points"]), dtype=bool)
    kept[unattached_nodes(data)] = False
    return _without_empty_sets(keep_nodes(data, kept))


def submesh(data: MeshData, cells: Index) -> MeshData:
    """The given cells with their nodes; sets are cut down to them, empty ones dropped."""
    kept = np.zeros(sum(len(b) for b in data["cells"]), dtype=bool)
    kept[cells] = True
    if not kept.any():
        raise MeshError(f"{data['name']}: no cells are chosen, so there is no part to take out.")
    number = np.cumsum(kept) - 1
    starts = block_starts(data["cells"])
    masks = [kept[a:b] for a, b in pairwise(starts)]
    blocks = [CellBlock(b.type, b.nodes[m]) for b, m in zip(data["cells"], masks, strict=True) if m.any()]
    faces = {n: s[kept[s[:, 0]]] for n, s in data["face_sets"].items()}
    part: MeshData = {
        **data,
        "cells": blocks,
        "cell_sets": {n: number[s[kept[s]]] for n, s in data["cell_sets"].items()},
        "face_sets": {n: np.column_stack([number[s[:, 0]], s[:, 1]]) for n, s in faces.items()},
    }
    return without_unattached_nodes(part)


def without_duplicate_cells(data: MeshData) -> MeshData:
    """The mesh with every cell once, whatever the order of its nodes."""
    kept = [
        unique_rows(np.sort(b.nodes, axis=1))[0] + a
        for b, a in zip(data["cells"], block_starts(data["cells"]), strict=False)
    ]
    return submesh(data, np.concatenate(kept))


def _without_empty_sets(data: MeshData) -> MeshData:
    return {
        **data,
        "node_sets": {n: s for n, s in data["node_sets"].items() if len(s)},
        "cell_sets": {n: s for n, s in data["cell_sets"].items() if len(s)},
        "face_sets": {n: s for n, s in data["face_sets"].items() if len(s)},
    }


def _united(mine: dict[str, Index], others: dict[str, Index]) -> dict[str, Index]:
    names = dict.fromkeys([*mine, *others])
    return {n: np.concatenate([s[n] for s in (mine, others) if n in s]) for n in names}
