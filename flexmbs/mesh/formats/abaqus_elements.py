"""Abaqus (and CalculiX) element types as our cells, and the numbers of their faces.

The node orders of all solid and plane types are ours; of lines the middle node comes second.
"""

from __future__ import annotations

import re
from functools import cache

from flexmbs.mesh.cells import CELLS

_SOLID = {4: "tetra", 5: "pyramid", 6: "wedge", 8: "hexahedron", 10: "tetra10", 15: "wedge15", 20: "hexahedron20"}
_PLANE = {3: "triangle", 4: "quad", 6: "triangle6", 8: "quad8"}
_PATTERNS = (
    (re.compile(r"(?:D|A)?C3D(\d+)"), {**_SOLID, 27: "hexahedron27"}),
    (re.compile(r"(?:SC|CSS|COH3D)(\d+)"), _SOLID),
    (re.compile(r"(?:CPS|CPEG|CPE|DC2D|AC2D|COH2D)(\d+)"), _PLANE),
    (re.compile(r"(?:SFM3D|M3D|R3D|DS|S)(\d+)"), {**_PLANE, 9: "quad9"}),
    (re.compile(r"STRI(\d)"), {3: "triangle", 6: "triangle6"}),
    (re.compile(r"(?:DC1D|T2D|T3D|DCC1D|R2D|RB2D|RB3D)(\d)"), {2: "line", 3: "line3"}),
    (re.compile(r"(?:B|PIPE)[23](\d)"), {1: "line", 2: "line3", 3: "line"}),
)
_NO_CELL = re.compile(r"(?:MASS|ROTARYI|SPRING|DASHPOT|CONN|GAP|DCOUP|DIST|JOINT|HEATCAP|ITS|U\d|DGAP|D$)")

_FACES: dict[str, tuple[str, ...]] = {
    "triangle": ("12", "23", "31"),
    "quad": ("12", "23", "34", "41"),
    "tetra": ("123", "142", "243", "341"),
    "pyramid": ("1234", "152", "253", "354", "451"),
    "wedge": ("123", "465", "1452", "2563", "3641"),
    "hexahedron": ("1234", "5876", "1562", "2673", "3784", "4851"),
}


def cell_of(element: str) -> str | None:
    """Our cell for an element type; ``""`` for elements that are no cells (masses, springs); None if unknown."""
    element = element.upper()
    for pattern, cells in _PATTERNS:
        match = pattern.match(element)
        if match:
            return cells.get(int(match[1]))
    return "" if _NO_CELL.match(element) else None


@cache
def face_of(cell: str, label: str) -> int | None:
    """Our local face for Abaqus' ``S1``, ``S2``, ... (``E1``, ... for edges of shells); None if there is none."""
    names = _FACES.get(CELLS[cell].shape, ())
    match = re.fullmatch(r"[SE](\d)", label)
    if not match or not 1 <= int(match[1]) <= len(names):
        return None
    corners = {int(c) - 1 for c in names[int(match[1]) - 1]}
    faces = [set(f) & set(range(CELLS[cell].corners)) for f in CELLS[cell].faces]
    return faces.index(corners)
