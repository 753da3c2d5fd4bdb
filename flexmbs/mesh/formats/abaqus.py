"""Abaqus and CalculiX input files (.inp): nodes, elements, parts and instances.

Node and element sets and surfaces become groups under their own names (``abaqus_sets``). Springs, masses and
connectors are no cells and are left out, as is everything about materials, loads and steps.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import MeshError
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.formats.abaqus_elements import cell_of
from flexmbs.mesh.formats.abaqus_keywords import Keyword, keywords
from flexmbs.mesh.formats.abaqus_sets import Groups, Scope
from flexmbs.mesh.formats.contents import FileContents

Array = NDArray[np.float64]
Index = NDArray[np.int64]

GENERATORS = ("NGEN", "NFILL", "NCOPY", "NMAP", "ELGEN", "ELCOPY", "SYSTEM")
WITH_CENTRES = {"hexahedron27": 27, "quad9": 9}


def read(path: Path) -> FileContents:
    """Contents of an Abaqus or CalculiX input file."""
    model = _Model(path)
    for keyword in keywords(path):
        model.take(keyword)
    return model.contents()


class _Model:
    """The file as far as it has been read: scopes with their labels, nodes and elements in the file's order."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.root = Scope("")
        self.scope = self.root
        self.instances: dict[str, Scope] = {}
        self.move = lambda points: points
        self.parts: dict[str, list[Keyword]] = {}
        self.part: list[Keyword] | None = None
        self.points: list[Array] = []
        self.elements: list[tuple[Keyword, Scope, str, Index]] = []
        self.n_nodes = self.n_cells = 0

    def take(self, keyword: Keyword) -> None:
        name = keyword.name
        if name == "PART":
            self.part = self.parts.setdefault(keyword.need("NAME").upper(), [])
        elif name == "END PART":
            self.part = None
        elif self.part is not None:  # read again for each instance
            self.part.append(keyword)
        elif name == "INSTANCE":
            self._instance(keyword)
        elif name == "END INSTANCE":
            self.scope, self.move = self.root, lambda points: points
        elif name == "NODE":
            self._nodes(keyword)
        elif name == "ELEMENT":
            self._elements(keyword)
        elif name in ("NSET", "ELSET", "SURFACE"):
            self.scope.define(name, keyword.need("NAME" if name == "SURFACE" else name), keyword)
        elif name in GENERATORS and keyword.rows:
            raise keyword.error("is not supported; write the model out with all nodes and elements listed")

    def contents(self) -> FileContents:
        if not self.n_nodes or not self.n_cells:
            parts = f" outside the parts {', '.join(self.parts)}, of which there is no *INSTANCE" if self.parts else ""
            raise MeshError(
                f"{self.path}: found {self.n_nodes} nodes and {self.n_cells} elements{parts}. A mesh needs *NODE and "
                "*ELEMENT; is this an Abaqus or CalculiX input file?"
            )
        blocks = [(cell, scope.find("NSET", nodes, keyword)) for keyword, scope, cell, nodes in self.elements]
        groups = Groups(self.root, self.instances, blocks)
        nodes, cells, faces = groups.all()
        return FileContents(np.concatenate(self.points), blocks, nodes, cells, faces)

    def _instance(self, keyword: Keyword) -> None:
        name, part = keyword.need("NAME"), keyword.parameters.get("PART", "").upper()
        if part and part not in self.parts:
            known = ", ".join(self.parts) or "none"
            raise keyword.error(f"part {keyword.parameters['PART']!r} is not defined (there is {known})")
        self.scope = self.instances[name.upper()] = Scope(name)
        rows = keyword.table(7)
        shift = rows[0, :3] if len(rows) else np.zeros(3)
        start, end, angle = (rows[1, :3], rows[1, 3:6], rows[1, 6]) if len(rows) > 1 else (np.zeros(3), None, 0.0)
        if end is not None and angle and not np.linalg.norm(end - start):
            raise keyword.error("the two points of the rotation axis coincide", keyword.rows[1][0])
        turn = _rotation(end - start, np.radians(angle)) if end is not None and angle else np.eye(3)
        self.move = lambda points: start + (points + shift - start) @ turn.T
        for inner in self.parts.get(part, []):
            self.take(inner)

    def _nodes(self, keyword: Keyword) -> None:
        table = keyword.table(4)
        points = _cartesian(table[:, 1:], keyword.parameters.get("SYSTEM", "R").upper())
        labels = table[:, 0].astype(np.int64)
        numbers = np.arange(self.n_nodes, self.n_nodes + len(labels))
        self.points.append(self.move(points))
        self.scope.nodes.append((labels, numbers))
        if "NSET" in keyword.parameters:
            self.scope.define("NSET", keyword.need("NSET"), members=numbers)
        self.n_nodes += len(labels)

    def _elements(self, keyword: Keyword) -> None:
        kind = keyword.need("TYPE")
        cell = cell_of(kind)
        if cell is None:
            raise keyword.error(f"element type {kind!r} is not known; take these elements out of the file")
        if cell:
            rows = _records(keyword, cell)
            labels = rows[:, 0]
            numbers = np.arange(self.n_cells, self.n_cells + len(rows))
            self.elements.append((keyword, self.scope, cell, rows[:, [1, 3, 2]] if cell == "line3" else rows[:, 1:]))
            self.n_cells += len(rows)
        else:  # known by their labels, so that sets may name them, but no cells
            labels = keyword.table(1)[:, 0].astype(np.int64)
            numbers = np.full(len(labels), -1)
        self.scope.elements.append((labels, numbers))
        if "ELSET" in keyword.parameters:
            self.scope.define("ELSET", keyword.need("ELSET"), members=numbers)


def _records(keyword: Keyword, cell: str) -> Index:
    """Rows (label, nodes...) of *ELEMENT; a record may run over several lines."""
    width = 1 + WITH_CENTRES.get(cell, CELLS[cell].nodes if cell in CELLS else 0)
    values = keyword.numbers().astype(np.int64)
    if cell.startswith("line"):
        # Beams may name one more node, for the direction of the section.
        lengths = {len(fields) for _, fields in keyword.fields()}
        if lengths == {width + 1}:
            return values.reshape(-1, width + 1)[:, :width]
    if len(values) % width:
        raise keyword.error(_incomplete(keyword, width), _incomplete_line(keyword, width))
    return values.reshape(-1, width)


def _incomplete(keyword: Keyword, width: int) -> str:
    return (
        f"elements of type {keyword.parameters['TYPE']} need {width} numbers each (label and {width - 1} nodes), "
        f"but {len(keyword.numbers())} numbers are given"
    )


def _incomplete_line(keyword: Keyword, width: int) -> int:
    """The line where records of the right length first come out of step with the lines."""
    count, line = 0, keyword.line
    for number, fields in keyword.fields():
        count += len(fields)
        line = number
        if count > width:
            return number
        count = 0 if count == width else count
    return line


def _cartesian(points: Array, system: str) -> Array:
    """Coordinates given in a cylindrical (C) or spherical (S) system, angles in degrees."""
    if system not in ("C", "S"):
        return points
    r, theta = points[:, 0], np.radians(points[:, 1])
    phi = np.radians(points[:, 2]) if system == "S" else np.zeros(len(points))
    z = r * np.sin(phi) if system == "S" else points[:, 2]
    return np.column_stack([r * np.cos(phi) * np.cos(theta), r * np.cos(phi) * np.sin(theta), z])


def _rotation(axis: Array, angle: float) -> Array:
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
