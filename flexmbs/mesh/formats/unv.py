"""I-deas universal files (.unv), as Salome, NX and Gmsh write them: nodes, elements and permanent groups."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import MeshError
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.formats.contents import FileContents
from flexmbs.mesh.formats.numbering import positions

Array = NDArray[np.float64]
Index = NDArray[np.int64]

ELEMENTS: dict[int, str] = {
    **dict.fromkeys((11, 21, 22, 23), "line"),
    24: "line3",
    **dict.fromkeys((41, 51, 61, 74, 91), "triangle"),
    **dict.fromkeys((42, 52, 62, 72, 92), "triangle6"),
    **dict.fromkeys((44, 54, 64, 71, 94), "quad"),
    **dict.fromkeys((45, 55, 65, 75, 95), "quad8"),
    **{111: "tetra", 118: "tetra10", 112: "wedge", 113: "wedge15", 115: "hexahedron", 116: "hexahedron20"},
}
BEAMS = (11, 21, 22, 23, 24)  # with one more line, for the orientation
NO_CELLS = range(121, 171)  # rigid elements, springs, masses
GROUPS = (2417, 2429, 2430, 2432, 2435, 2452, 2467, 2477)


def _ring(corners: int, first: int) -> list[tuple[int, int]]:
    """Corners and midsides around a face: corner, midside to the next, corner, ..."""
    return [(first + k, first + (k + step) % corners) for k in range(corners) for step in (0, 1)]


def _order(kind: str, places: list[tuple[int, int]]) -> list[int]:
    """Columns in our order, given for each node of the file its corner twice, or the two corners it lies between."""
    column = {frozenset(place): k for k, place in enumerate(places)}
    cell = CELLS[kind]
    return [column[frozenset(p)] for p in [*((k, k) for k in range(cell.corners)), *(e[:2] for e in cell.edges)]]


ORDERS = {
    "line3": _order("line3", [(0, 0), (0, 1), (1, 1)]),
    "triangle6": _order("triangle6", _ring(3, 0)),
    "quad8": _order("quad8", _ring(4, 0)),
    "tetra10": _order("tetra10", [*_ring(3, 0), (0, 3), (1, 3), (2, 3), (3, 3)]),
    "wedge15": _order("wedge15", [*_ring(3, 0), (0, 3), (1, 4), (2, 5), *_ring(3, 3)]),
    "hexahedron20": _order("hexahedron20", [*_ring(4, 0), (0, 4), (1, 5), (2, 6), (3, 7), *_ring(4, 4)]),
}


def read(path: Path) -> FileContents:
    """Contents of a universal file."""
    text = path.read_text(encoding="utf-8", errors="replace")
    labels, points = np.zeros(0, dtype=np.int64), np.zeros((0, 3))
    rows: dict[str, list[list[int]]] = {}  # by cell: label and nodes
    groups: list[tuple[str, Index]] = []
    for number, lines in _datasets(text):
        if number in (781, 2411):
            table = np.array(
                [word.replace("D", "e").replace("d", "e") for line in lines[1::2] for word in line.split()]
            )
            points = np.concatenate([points, table.astype(float).reshape(-1, 3)])
            labels = np.concatenate([labels, [int(line.split()[0]) for line in lines[::2]]])
        elif number == 15:
            words = [line.split() for line in lines]
            labels = np.concatenate([labels, [int(w[0]) for w in words]])
            points = np.concatenate([points, np.array([w[4:7] for w in words]).astype(float)])
        elif number in (780, 2412):
            _elements(lines, rows, path)
        elif number in GROUPS:
            groups += _groups(lines)
    if not len(labels) or not rows:
        raise MeshError(
            f"{path}: found {len(labels)} nodes and no elements (data sets 2411 and 2412) of a universal file."
        )
    return _contents(path, labels, points, rows, groups)


def _datasets(text: str) -> list[tuple[int, list[str]]]:
    """Number and lines of each data set: they stand between lines that hold only -1."""
    parts = re.split(r"^ {0,5}-1[ \t]*\r?\n?", text, flags=re.M)
    found = [part.splitlines() for part in parts if part.strip()]
    return [(int(lines[0].split()[0]), lines[1:]) for lines in found if lines[0].split()[0].isdigit()]


def _elements(lines: list[str], rows: dict[str, list[list[int]]], path: Path) -> None:
    at = 0
    while at < len(lines):
        head = [int(word) for word in lines[at].split()]
        label, kind, count = head[0], head[1], head[-1]
        at += 2 if kind in BEAMS else 1
        nodes: list[int] = []
        while len(nodes) < count:
            nodes += [int(word) for word in lines[at].split()]
            at += 1
        if kind in NO_CELLS:
            continue
        cell = ELEMENTS.get(kind)
        if cell is None or CELLS[cell].nodes != count:
            raise MeshError(f"{path}: element {label} of type {kind} with {count} nodes is not known; leave it out.")
        rows.setdefault(cell, []).append([label, *nodes])


def _groups(lines: list[str]) -> list[tuple[str, Index]]:
    """Names and members (kind, label): kind 7 for nodes, 8 for elements."""
    groups, at = [], 0
    while at + 1 < len(lines):
        count = int(lines[at].split()[-1])
        name = lines[at + 1].strip()
        at += 2
        numbers: list[int] = []
        while len(numbers) < 4 * count:
            numbers += [int(word) for word in lines[at].split()]
            at += 1
        groups.append((name, np.array(numbers, dtype=np.int64).reshape(-1, 4)[:, :2]))
    return groups


def _contents(
    path: Path, labels: Index, points: Array, rows: dict[str, list[list[int]]], groups: list[tuple[str, Index]]
) -> FileContents:
    blocks, elements = [], []
    for cell, listed in rows.items():
        table = np.array(listed, dtype=np.int64)
        nodes = positions(labels, table[:, 1:])
        if (nodes < 0).any():
            missing = table[:, 1:][nodes < 0][0]
            raise MeshError(f"{path}: a {cell} names node {missing}, which is not in the file; it is damaged.")
        blocks.append((cell, nodes[:, ORDERS[cell]] if cell in ORDERS else nodes))
        elements.append(table[:, 0])
    numbers = np.concatenate(elements)
    node_groups: dict[str, Index] = {}
    cell_groups: dict[str, Index] = {}
    for name, members in groups:
        for kind, known, target in ((7, labels, node_groups), (8, numbers, cell_groups)):
            found = positions(known, members[members[:, 0] == kind, 1])
            target[name] = np.concatenate([target.get(name, found[:0]), found[found >= 0]])
    return FileContents(points, blocks, node_groups, cell_groups)
