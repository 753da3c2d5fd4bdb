"""Nastran bulk data (.bdf, .nas, .dat, .fem).

Groups: elements by property (``PID_3``, or the name that HyperMesh, ANSA, Femap, Patran or Simcenter keep in a
comment), HyperMesh components, SET1, SET3 and OptiStruct's SET cards and the SETs of the case control (``SET_7`` or
the name in a comment), and nodes by single-point constraint (``SPC_2``). Springs, masses and rigid elements are no
cells and are left out.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import MeshError
from flexmbs.mesh.formats.contents import FileContents
from flexmbs.mesh.formats.nastran_cards import Card, cards, expanded
from flexmbs.mesh.formats.nastran_systems import CoordinateSystems
from flexmbs.mesh.formats.numbering import midside_order, positions

Index = NDArray[np.int64]

_BASE, _TOP, _UP = ((0, 1), (1, 2), (2, 3), (3, 0)), ((4, 5), (5, 6), (6, 7), (7, 4)), ((0, 4), (1, 5), (2, 6), (3, 7))
ORDERS = {
    "hexahedron20": midside_order("hexahedron20", [*_BASE, *_UP, *_TOP]),
    "wedge15": midside_order("wedge15", [(0, 1), (1, 2), (2, 0), (0, 3), (1, 4), (2, 5), (3, 4), (4, 5), (5, 3)]),
}
CELLS: dict[str, tuple[tuple[int, str], ...]] = {  # number of nodes and cell, the most nodes last
    "CTETRA": ((4, "tetra"), (10, "tetra10")),
    "CPYRAM": ((5, "pyramid"), (13, "pyramid13")),
    "CPYRA": ((5, "pyramid"), (13, "pyramid13")),
    "CPENTA": ((6, "wedge"), (15, "wedge15")),
    "CHEXA": ((8, "hexahedron"), (20, "hexahedron20")),
    **dict.fromkeys(("CTRIA3", "CTRIAR"), ((3, "triangle"),)),
    "CTRIA6": ((3, "triangle"), (6, "triangle6")),
    **dict.fromkeys(("CQUAD4", "CQUADR", "CSHEAR"), ((4, "quad"),)),
    "CQUAD8": ((4, "quad"), (8, "quad8")),
    **dict.fromkeys(("CBAR", "CBEAM", "CROD", "CTUBE", "CONROD"), ((2, "line"),)),
}
UNSUPPORTED = re.compile(r"C(TRIA|QUAD|HEX|TET|PEN|PYR|BEND|BEAM3)\w*$")
PROPERTY = re.compile(r"P(L?SOLID|SHELL|COMP|BAR|BEAM|ROD|TUBE|SHEAR)")
OF_ELEMENTS = re.compile(r"(STRESS|STRAIN|FORCE|ESE|ELSTRESS|ELFORCE|ELSTRAIN|GPSTRESS|EKE)", re.I)


def read(path: Path) -> FileContents:
    """Contents of a Nastran file."""
    model = _Model(path)
    for card in cards(path):
        model.take(card)
    return model.contents()


class _Model:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.grids: list[tuple[int, int, float, float, float]] = []
        self.systems = CoordinateSystems()
        self.default_system = 0
        self.elements: dict[str, list[tuple[Card, int, int, list[int]]]] = {}  # by cell: card, label, property, nodes
        self.sets: dict[tuple[str, int], list[int]] = {}  # ("GRID" or "ELEM", number)
        self.constrained: dict[int, list[int]] = {}
        self.comments = _Comments()
        self.case = ""

    def take(self, card: Card) -> None:
        name = card.name
        if name == "GRID":
            self.grids.append((card.integer(0), card.integer(1, -1), card.number(2), card.number(3), card.number(4)))
        elif name in CELLS:
            self._element(card)
        elif name == "$":
            self.comments.take(card)
        elif name == "CASE":
            self.case += card.fields[0] + "\n"
        elif name.startswith("CORD"):
            self.systems.take(card)
        elif name == "GRDSET":
            self.default_system = card.integer(1, 0)
        elif name in ("SET", "SET1", "SET3"):
            self._set(card)
        elif name in ("SPC", "SPC1"):
            self._constraint(card)
        elif PROPERTY.match(name):
            self.comments.property(card)
        elif UNSUPPORTED.match(name):
            raise card.error("elements of this type are not known; take them out of the file")

    def _element(self, card: Card) -> None:
        rod = card.name == "CONROD"  # has no property
        first = 1 if rod else 2
        choices = CELLS[card.name]
        most = choices[-1][0]
        nodes = [card.integer(first + k, 0) for k in range(most)]
        given = sum(n > 0 for n in nodes)
        for count, cell in choices:
            if given == count and all(nodes[:count]):
                label = card.integer(0)
                row = (card, label, 0 if rod else card.integer(1, label), nodes[:count])
                self.elements.setdefault(cell, []).append(row)
                return
        wanted = " or ".join(str(count) for count, _ in choices)
        raise card.error(
            f"element {card.integer(0)} has {given} nodes instead of {wanted}; fill in or leave out all midside nodes"
        )

    def _set(self, card: Card) -> None:
        kind = card.fields[1].upper() if card.name != "SET1" else "GRID"
        kind = {"POINT": "GRID", "NODE": "GRID", "ELEM": "ELEM", "GRID": "GRID"}.get(kind, "")
        if not kind:  # sets of properties, modes, times
            return
        first = {"SET1": 1, "SET3": 2, "SET": 8}[card.name]  # OptiStruct's SET lists its members from the next line
        self.sets[kind, card.integer(0)] = card.numbers_from(first)

    def _constraint(self, card: Card) -> None:
        nodes = self.constrained.setdefault(card.integer(0), [])
        if card.name == "SPC1":
            nodes.extend(card.numbers_from(2))
        else:
            nodes.extend(n for n in (card.integer(k, 0) for k in (1, 4)) if n)

    # ---- numbers for labels -------------------------------------------------------------------------------

    def contents(self) -> FileContents:
        if not self.grids or not self.elements:
            raise MeshError(
                f"{self.path}: found {len(self.grids)} GRID cards and "
                f"{sum(map(len, self.elements.values()))} elements; is this a Nastran bulk data file?"
            )
        table = np.array(self.grids)
        labels, systems = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
        systems = np.where(systems < 0, self.default_system, systems)
        points = self.systems.to_basic(table[:, 2:], systems, labels, self.path)

        blocks: list[tuple[str, Index]] = []
        elements: list[int] = []
        properties: list[int] = []
        for cell, rows in self.elements.items():
            nodes = positions(labels, np.array([r[3] for r in rows]))
            bad = np.flatnonzero((nodes < 0).any(axis=1))
            if len(bad):
                card, label, _, given = rows[bad[0]]
                missing = given[int(np.argmax(nodes[bad[0]] < 0))]
                raise card.error(f"element {label} names node {missing}, of which there is no GRID")
            blocks.append((cell, nodes[:, ORDERS[cell]] if cell in ORDERS else nodes))
            elements.extend(r[1] for r in rows)
            properties.extend(r[2] for r in rows)
        groups = self._cell_groups(np.array(elements), np.array(properties))
        return FileContents(points, blocks, self._node_groups(labels), groups)

    def _cell_groups(self, elements: Index, properties: Index) -> dict[str, Index]:
        groups: dict[str, Index] = {}
        for number in np.unique(properties[properties > 0]):
            name = self.comments.properties.get(int(number), f"PID_{number}")
            _add(groups, name, np.flatnonzero(properties == number))
        for number, members in self.comments.components.items():
            name = self.comments.component_names.get(number, f"component_{number}")
            _add(groups, name, positions(elements, members))
        for name, members in self._sets("ELEM"):
            _add(groups, name, positions(elements, members))
        return {name: members[members >= 0] for name, members in groups.items()}

    def _node_groups(self, labels: Index) -> dict[str, Index]:
        groups: dict[str, Index] = {}
        for name, members in self._sets("GRID"):
            _add(groups, name, positions(labels, members))
        for number, nodes in self.constrained.items():
            _add(groups, f"SPC_{number}", positions(labels, nodes))
        return {name: members[members >= 0] for name, members in groups.items()}

    def _sets(self, kind: str) -> list[tuple[str, list[int]]]:
        """Sets of nodes or of elements: those of the bulk data, and of the case control by what asks for them."""
        found = [(number, members) for (k, number), members in self.sets.items() if k == kind]
        text = re.sub(r"^\s*\$.*$", "", self.case, flags=re.M)
        for match in re.finditer(r"^\s*SET\s+(\d+)\s*=\s*((?:[^\n]*,\s*\n)*[^\n]*)", text, re.I | re.M):
            number = int(match[1])
            uses = re.findall(rf"^\s*(\w+)[^=\n]*=\s*{number}\s*$", text, re.I | re.M)
            elements = any(OF_ELEMENTS.match(use) for use in uses) or self.comments.set_kinds.get(number) == "ELEM"
            if elements == (kind == "ELEM") and not re.match(r"\s*ALL\b", match[2], re.I):
                card = Card(f"SET {number}", [], self.path, self.case[: match.start()].count("\n") + 1)
                found.append((number, expanded(match[2].replace(",", " ").split(), card)))
        return [(self.comments.sets.get(number, f"SET_{number}"), members) for number, members in found]


class _Comments:
    """Names that preprocessors keep in comments."""

    def __init__(self) -> None:
        self.properties: dict[int, str] = {}
        self.sets: dict[int, str] = {}
        self.set_kinds: dict[int, str] = {}
        self.component_names: dict[int, str] = {}
        self.components: dict[int, list[int]] = {}
        self.listing: int | None = None  # the HyperMesh component whose elements are being listed
        self.coming = ""  # a name for the next property card

    def take(self, card: Card) -> None:
        text = card.fields[0]
        if self.listing is not None and re.fullmatch(r"\$[\s\dTHRU]+", text) and re.search(r"\d", text):
            words = re.sub(r"THRU", " THRU ", text[1:]).split()
            self.components[self.listing].extend(expanded(words, card))
            return
        self.listing = None
        if match := re.match(r"\$HMMOVE\s+(\d+)", text):
            self.listing = int(match[1])
            self.components.setdefault(self.listing, [])
        elif match := re.match(r'\$HMNAME\s+(COMP|PROP)\s+(\d+)\s*"(.*?)"', text):
            target = self.component_names if match[1] == "COMP" else self.properties
            target[int(match[2])] = match[3]
        elif match := re.match(r'\$HMSET\s+(\d+)\s+(\d+)\s*"(.*?)"', text):
            self.sets[int(match[1])] = match[3]
            self.set_kinds[int(match[1])] = {"1": "GRID", "2": "ELEM"}.get(match[2], "")
        elif match := re.match(r"\$ANSA_NAME_COMMENT;(\d+);(\w+);([^;]*);", text):
            if match[2].startswith("SET"):
                self.sets[int(match[1])] = match[3]
            elif match[2].startswith("P"):
                self.properties[int(match[1])] = match[3]
        elif match := re.match(r"\$\s*Femap.*Property\s+(\d+)\s*:\s*(.*\S)", text):
            self.properties[int(match[1])] = match[2]
        elif match := re.match(r"\$.*(?:Element Properties for region|\* *Property)\s*:\s*(.*\S)", text):
            self.coming = match[1]

    def property(self, card: Card) -> None:
        """A property card: Patran and Simcenter put its name before it."""
        if self.coming:
            self.properties.setdefault(card.integer(0), self.coming)
        self.coming = ""


def _add(groups: dict[str, Index], name: str, members: Index) -> None:
    groups[name] = np.concatenate([groups[name], members]) if name in groups else members
