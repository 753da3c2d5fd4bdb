"""What a mesh file holds, whatever its format: nodes, cells of any dimension, and groups of either."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True)
class FileContents:
    """Nodes, cells and groups of a file, with everything numbered from 0.

    Cells of all dimensions are numbered through the blocks; types and node orders are meshio's.
    ``cell_groups`` may hold cells of several dimensions. ``face_groups`` are (cell, local face) pairs.
    """

    points: Array
    blocks: list[tuple[str, Index]]
    node_groups: dict[str, Index] = field(default_factory=dict)
    cell_groups: dict[str, Index] = field(default_factory=dict)
    face_groups: dict[str, Index] = field(default_factory=dict)
