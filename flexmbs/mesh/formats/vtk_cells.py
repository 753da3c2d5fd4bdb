"""VTK's cell types as ours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]

TYPES: dict[int, str] = {
    **{1: "vertex", 3: "line", 5: "triangle", 8: "quad", 9: "quad", 10: "tetra", 11: "hexahedron", 12: "hexahedron"},
    **{13: "wedge", 14: "pyramid", 21: "line3", 22: "triangle6", 23: "quad8", 24: "tetra10", 25: "hexahedron20"},
    **{26: "wedge15", 27: "pyramid13", 28: "quad9", 29: "hexahedron27", 32: "wedge18", 34: "triangle7"},
}
ORDERS = {8: [0, 1, 3, 2], 11: [0, 1, 3, 2, 4, 5, 7, 6]}  # pixels and voxels
BY_COUNT: dict[tuple[int, int], str] = {  # polylines, strips, polygons and Lagrange cells of few nodes
    **{(2, 1): "vertex", (4, 2): "line", (6, 3): "triangle", (7, 3): "triangle", (7, 4): "quad"},
    **{(68, 2): "line", (68, 3): "line3", (69, 3): "triangle", (69, 6): "triangle6", (70, 4): "quad", (70, 9): "quad9"},
    **{(71, 4): "tetra", (71, 10): "tetra10", (72, 8): "hexahedron", (73, 6): "wedge", (74, 5): "pyramid"},
}
OTHERS = {2: "vertices", 4: "line strip", 6: "triangle strip", 7: "polygon", 35: "line", 42: "polyhedron"}


def blocks_of(types: NDArray[Any], starts: Index, nodes: Index) -> tuple[list[tuple[str, Index]], Index]:
    """Cells by type and number of nodes, and the file's numbers of the cells in that order.

    ``starts`` says where in ``nodes`` each cell begins, and where the last one ends.
    """
    counts = np.diff(starts)
    kinds, first, which = np.unique(
        np.column_stack([types.astype(np.int64), counts]), axis=0, return_index=True, return_inverse=True
    )
    blocks, order = [], [np.zeros(0, dtype=np.int64)]
    for k in np.argsort(first):
        code, count = (int(v) for v in kinds[k])
        members = np.flatnonzero(which.ravel() == k)
        table = nodes[starts[members][:, None] + np.arange(count)]
        other = OTHERS.get(code, f"VTK type {code}")
        name = TYPES.get(code) or BY_COUNT.get((code, count), f"{other} of {count} nodes")
        blocks.append((name, table[:, ORDERS[code]] if code in ORDERS else table))
        order.append(members)
    return blocks, np.concatenate(order)
