"""Splitting cells into other shapes: hexahedra into wedges, pyramids or tetrahedra, quads into triangles."""

from __future__ import annotations

import numpy as np

from flexmbs.errors import MeshError
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.data import MeshData
from flexmbs.mesh.subdivide import Row, lattice, subdivide
from flexmbs.mesh.topology import CellBlock


def to_simplices(data: MeshData) -> MeshData:
    """Quads into 2 triangles; hexahedra, wedges and pyramids into 6, 3 and 2 tetrahedra; simplices stay.

    Each cell is a cone from its lowest-numbered corner over the faces that do not hold it, and each
    quadrilateral face is cut from its lowest-numbered corner: two neighbours always cut alike
    (Dompierre, Labbé, Vallet, Camarero 1999).
    """
    return subdivide(data, [row for b, block in enumerate(data["cells"]) for row in _cones(b, block)])


def _cones(number: int, block: CellBlock) -> list[Row]:
    cell = CELLS[block.type]
    simplex = {0: "vertex", 1: "line", 2: "triangle", 3: "tetra"}[cell.dimension]
    if cell.shape == simplex:
        return [Row(number, simplex, tuple(range(cell.corners)))]
    lowest = block.nodes[:, : cell.corners].argmin(axis=1)
    rows = []
    for apex in range(cell.corners):
        cells = np.flatnonzero(lowest == apex)
        for face in CELLS[cell.shape].faces:
            if apex in face or not len(cells):
                continue
            if cell.dimension == 2:
                rows.append(Row(number, simplex, (*face, apex), cells))
            elif len(face) == 3:
                rows.append(Row(number, simplex, (*face[::-1], apex), cells))
            else:
                along = block.nodes[cells][:, face].argmin(axis=1) % 2 == 0  # cut through corners 0 and 2
                a, b, c, d = face
                rows += [Row(number, simplex, (*t, apex), cells[along]) for t in ((a, c, b), (a, d, c))]
                rows += [Row(number, simplex, (*t, apex), cells[~along]) for t in ((b, d, c), (b, a, d))]
    return rows


def split_hexahedra(data: MeshData, shape: str) -> MeshData:
    """A mesh of hexahedra alone in cells of another shape; wedges stand along the hexahedra's third axis."""
    if shape in ("hexahedron", "quad"):
        return data
    if shape in ("tetra", "triangle"):
        return to_simplices(data)
    corners: list[tuple[int, ...]]
    if shape == "wedge":
        corners = [(0, 1, 2, 4, 5, 6), (0, 2, 3, 4, 6, 7)]
    elif shape == "pyramid":
        centre = lattice("hexahedron").middle(*range(8))
        corners = [(*face[::-1], centre) for face in CELLS["hexahedron"].faces]
    else:
        raise MeshError(f"{data['name']}: hexahedra cannot be split into {shape!r} cells.")
    return subdivide(data, [Row(b, shape, c) for b in range(len(data["cells"])) for c in corners])
