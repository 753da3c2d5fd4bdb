"""Linear cells with midside nodes added, quadratic cells with them dropped."""

from __future__ import annotations

import numpy as np

from flexmbs.errors import MeshError
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.data import MeshData
from flexmbs.mesh.subdivide import Row, subdivide
from flexmbs.mesh.topology import CellBlock


def to_quadratic(data: MeshData) -> MeshData:
    """The same cells with a node in the middle of every edge; quadratic cells keep theirs."""
    for block in data["cells"]:
        if CELLS[block.type].shape in ("pyramid", "vertex"):
            raise MeshError(
                f"{data['name']}: {len(block)} {block.type} cells have no quadratic form here. "
                "Split pyramids first: mesh.to_simplices().to_quadratic()."
            )
    shapes = [CELLS[block.type].shape for block in data["cells"]]
    return subdivide(data, [Row(b, s, tuple(range(CELLS[s].corners))) for b, s in enumerate(shapes)], quadratic=True)


def to_linear(data: MeshData) -> MeshData:
    """The same cells without midside nodes; the nodes that only were midsides are dropped."""
    kept = np.ones(len(data["points"]), dtype=bool)
    for block in data["cells"]:
        kept[block.nodes[:, CELLS[block.type].corners :]] = False
    blocks = [CellBlock(CELLS[b.type].shape, b.nodes[:, : CELLS[b.type].corners]) for b in data["cells"]]
    for block in blocks:
        kept[block.nodes] = True  # a corner of one cell may be the midside of another
    return keep_nodes({**data, "cells": blocks}, kept)


def keep_nodes(data: MeshData, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> MeshData:
    """The mesh without the nodes that are not kept; no cell may use them."""
    number = np.cumsum(kept) - 1
    return {
        **data,
        "points": data["points"][kept],
        "cells": [CellBlock(b.type, number[b.nodes]) for b in data["cells"]],
        "node_sets": {n: number[s[kept[s]]] for n, s in data["node_sets"].items()},
    }
