"""The sets of a mesh as cells of lower dimension, for formats whose groups hold cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.data import MeshData
from flexmbs.mesh.topology import iterate_faces

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Marked:
    """Cells of one type, and which of them belong to each set: ``inside`` is an array (cells, names)."""

    type: str
    nodes: Index
    names: tuple[str, ...]
    inside: NDArray[np.bool_]

    @property
    def dimension(self) -> int:
        """Topological dimension of the cells."""
        return CELLS[self.type].dimension


def marked_cells(data: MeshData) -> list[Marked]:
    """The cells of the mesh with the cell sets they are in."""
    names, start, out = tuple(data["cell_sets"]), 0, []
    for block in data["cells"]:
        inside = np.zeros((len(block), len(names)), dtype=bool)
        for k, name in enumerate(names):
            members = data["cell_sets"][name] - start
            inside[members[(members >= 0) & (members < len(block))], k] = True
        out.append(Marked(block.type, block.nodes, names, inside))
        start += len(block)
    return out


def marked_nodes(data: MeshData) -> list[Marked]:
    """The nodes that are in sets, as vertices, with the sets they are in."""
    names = tuple(data["node_sets"])
    inside = np.zeros((len(data["points"]), len(names)), dtype=bool)
    for k, members in enumerate(data["node_sets"].values()):
        inside[members, k] = True
    nodes = np.flatnonzero(inside.any(axis=1))
    return [Marked("vertex", nodes[:, None], names, inside[nodes])] if len(nodes) else []


def marked_faces(data: MeshData) -> list[Marked]:
    """The faces that are in sets, each once, with the sets they are in."""
    names = tuple(data["face_sets"])
    pairs = np.concatenate([np.zeros((0, 2), np.int64), *data["face_sets"].values()])
    pairs, which = np.unique(pairs, axis=0, return_inverse=True)
    inside = np.zeros((len(pairs), len(names)), dtype=bool)
    start = 0
    for k, members in enumerate(data["face_sets"].values()):
        inside[which.ravel()[start : start + len(members)], k] = True
        start += len(members)
    out: dict[str, list[tuple[Index, NDArray[np.bool_]]]] = {}
    for kind, nodes, cells, local in iterate_faces(data["cells"]):
        mine = (pairs[:, 1] == local) & (pairs[:, 0] >= cells[0]) & (pairs[:, 0] <= cells[-1])
        if mine.any():
            out.setdefault(kind, []).append((nodes[pairs[mine, 0] - cells[0]], inside[mine]))
    return [
        Marked(kind, np.concatenate([n for n, _ in parts]), names, np.concatenate([i for _, i in parts]))
        for kind, parts in out.items()
    ]
