"""The plain form of a mesh: what readers and generators return and the constructor of Mesh takes."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from flexmbs.mesh.topology import CellBlock


class MeshData(TypedDict):
    """Arguments of ``Mesh(...)`` by name."""

    points: NDArray[np.float64]
    cells: list[CellBlock]
    node_sets: dict[str, NDArray[np.int64]]
    cell_sets: dict[str, NDArray[np.int64]]
    face_sets: dict[str, NDArray[np.int64]]
    name: str
