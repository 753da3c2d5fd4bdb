"""Gmsh .msh files, versions 2.2 and 4.1, ASCII and binary.

Physical groups become groups of cells under their names; those without a name are called by what Gmsh calls
them: ``point 4``, ``curve 2``, ``surface 12``, ``volume 3``. meshio reads these files too, but repeats cells
that are in several groups (2.2), and stops at entities outside all groups and at parametric nodes (4.1).
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import MeshError, MeshWarning
from flexmbs.mesh.formats.contents import FileContents
from flexmbs.mesh.formats.numbering import midside_order, positions

Index = NDArray[np.int64]

WORDS = ("point", "curve", "surface", "volume")

TYPES: dict[int, tuple[str, int]] = {
    **{
        1: ("line", 2),
        2: ("triangle", 3),
        3: ("quad", 4),
        4: ("tetra", 4),
        5: ("hexahedron", 8),
        6: ("wedge", 6),
    },
    **{7: ("pyramid", 5), 8: ("line3", 3), 9: ("triangle6", 6), 10: ("quad8", 9), 11: ("tetra10", 10)},
    **{
        12: ("hexahedron20", 27),
        13: ("wedge15", 18),
        14: ("pyramid14", 14),
        15: ("vertex", 1),
        16: ("quad8", 8),
    },
    **{17: ("hexahedron20", 20), 18: ("wedge15", 15), 19: ("pyramid13", 13)},
}
"""Our cell and the number of nodes in the file; nodes inside faces and volumes come last and are left out."""

ORDERS = {
    "tetra10": midside_order("tetra10", [(0, 1), (1, 2), (2, 0), (3, 0), (2, 3), (1, 3)]),
    "hexahedron20": midside_order(
        "hexahedron20",
        [(0, 1), (0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (2, 6), (3, 7), (4, 5), (4, 7), (5, 6), (6, 7)],
    ),
    "wedge15": midside_order("wedge15", [(0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (3, 5), (4, 5)]),
    "quad8": list(range(8)),
}

Groups = dict[str, list[Index]]
Physicals = dict[tuple[int, int], Index]


def read(path: Path) -> FileContents:
    """Contents of a Gmsh file."""
    file = _File(path)
    if file.version not in (2, 4):
        raise file.error(
            f"is Gmsh format {file.label}; flexmbs reads 2.2 and 4.1. Save it with Mesh.MshFileVersion = 4.1"
        )
    if "PartitionedEntities" in file.sections:
        raise file.error("is partitioned; save it unpartitioned (Mesh → Delete → Partitions)")
    if "Nodes" not in file.sections or "Elements" not in file.sections:
        raise file.error(
            f"has no $Nodes or no $Elements (found: {', '.join(file.sections) or 'nothing'}); mesh, then save"
        )
    names = _names(file)
    if file.version == 2:
        labels, points = _nodes2(file)
        blocks, groups = _elements2(file, names)
    else:
        labels, points = _nodes4(file)
        blocks, groups = _elements4(file, names, _entities4(file))
    numbered = []
    for kind, nodes in blocks:
        found = positions(labels, nodes)
        if (found < 0).any():
            raise file.error(f"has a {kind} that names node {nodes[found < 0][0]}, which is not in $Nodes")
        numbered.append((kind, found))
    members = {name: np.concatenate(parts) for name, parts in groups.items()}
    if file.version == 2 and names and not members:
        warnings.warn(
            f"{path}: names the groups {', '.join(names.values())}, but no element belongs to any. Gmsh drops them "
            'from files of version 2 saved with "save all elements" (Mesh.SaveAll): save without it, or as 4.1.',
            MeshWarning,
            stacklevel=6,
        )
    return FileContents(points, numbered, cell_groups=members)


class _File:
    """The sections of a file, found once, and the numbers in them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = path.read_bytes()
        header = re.match(
            rb"(?:\s*\$Comments.*?\$EndComments)?\s*\$MeshFormat\s+(\S+) +([01]) +(\d+)[^\n]*\n",
            self.data,
            re.S,
        )
        if not header:
            raise self.error("does not begin with $MeshFormat; it is no Gmsh file of version 2 or later")
        self.label = header[1].decode()
        # Gmsh calls 4.0, which was short-lived and differs, "4"; "2" and "2.1" are laid out as 2.2.
        self.version = 0 if self.label in ("4", "4.0") else int(self.label[0]) if self.label[0].isdigit() else 0
        self.binary = header[2] == b"1"
        self.order = "<"
        if self.binary and self.data[header.end() : header.end() + 4] == b"\0\0\0\1":
            self.order = ">"
        self.size = int(header[3])
        self.sections = self._sections(header.end())

    def error(self, what: str) -> MeshError:
        return MeshError(f"{self.path}: {what}.")

    def _sections(self, start: int) -> dict[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        at = self.data.find(b"$EndMeshFormat", start) + len(b"$EndMeshFormat")
        opening = re.compile(rb"\s*\$(\w+)[^\n]*\n")
        while match := opening.match(self.data, at):
            name = match[1]
            end = self.data.find(b"$End" + name, match.end())
            if end < 0:
                raise self.error(f"ends inside ${name.decode()}: it is truncated; export it again")
            found.setdefault(name.decode(), (match.end(), end))
            at = end + len(b"$End" + name)
        if self.data[at:].strip():
            line = self.data.count(b"\n", 0, at) + 1
            where = "after the last complete section" if self.binary else f"at line {line}"
            raise self.error(f"cannot be understood {where}; it is damaged, export it again")
        return found

    def text(self, name: str) -> bytes:
        start, end = self.sections[name]
        return self.data[start:end]

    def numbers(self, name: str) -> _Numbers:
        return _Numbers(self, name)


class _Numbers:
    """A section's numbers one after another, the same way for ASCII and binary files."""

    def __init__(self, file: _File, name: str) -> None:
        self.file, self.name, self.at = file, name, 0
        self.kinds = {
            "i": np.dtype(f"{file.order}i4"),
            "p": np.dtype(f"{file.order}u{file.size}"),
            "d": np.dtype(f"{file.order}f8"),
        }
        self.bytes = file.text(name)
        if not file.binary:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                try:
                    self.values = np.fromstring(self.bytes.decode("latin1"), sep=" ")
                except (DeprecationWarning, ValueError):
                    raise file.error(
                        f"has something in ${name} that is no number; it is damaged, export it again"
                    ) from None

    def integers(self, count: int, kind: str = "i") -> Index:
        """``count`` integers: ``i`` for C int, ``p`` for size_t."""
        return self._take(kind, int(count)).astype(np.int64)

    def floats(self, count: int) -> NDArray[np.float64]:
        return self._take("d", int(count)).astype(float)

    def integer(self, kind: str = "p") -> int:
        return int(self.integers(1, kind)[0])

    def line(self) -> int:
        """The count that opens a section of version 2, in text also in binary files."""
        if not self.file.binary:
            return self.integer()
        end = self.bytes.find(b"\n", self.at)
        count = int(self.bytes[self.at : end])
        self.at = end + 1
        return count

    def records(self, count: int, dtype: list[tuple[str, str, int]]) -> NDArray[np.void]:
        """``count`` records of a binary file."""
        kind = np.dtype([(name, np.dtype(self.file.order + t), (n,)) for name, t, n in dtype])
        self._check(count * kind.itemsize, len(self.bytes))
        out = np.frombuffer(self.bytes, kind, count, self.at)
        self.at += count * kind.itemsize
        return out

    def rest(self) -> NDArray[np.float64] | Index:
        """All that follows, as C ints if the file is binary."""
        if not self.file.binary:
            return self.values[self.at :].astype(np.int64)
        count = (len(self.bytes) - self.at) // 4
        return np.frombuffer(self.bytes, self.kinds["i"], count, self.at).astype(np.int64)

    def _take(self, kind: str, count: int) -> NDArray[np.float64]:
        if not self.file.binary:
            self._check(count, len(self.values))
            out = self.values[self.at : self.at + count]
            self.at += count
            return out
        width = self.kinds[kind].itemsize
        self._check(count * width, len(self.bytes))
        out = np.frombuffer(self.bytes, self.kinds[kind], count, self.at)
        self.at += count * width
        return out

    def _check(self, more: int, available: int) -> None:
        if more < 0 or self.at + more > available:
            raise self.file.error(f"has fewer numbers in ${self.name} than announced; it is truncated, export it again")


def _names(file: _File) -> dict[tuple[int, int], str]:
    if "PhysicalNames" not in file.sections:
        return {}
    rows = re.findall(rb'^\s*(\d+)\s+(\d+)\s+"(.*)"\s*$', file.text("PhysicalNames"), re.M)
    return {(int(d), int(tag)): name.decode("utf-8", "replace") for d, tag, name in rows}


def _group(names: dict[tuple[int, int], str], dimension: int, tag: int) -> str:
    return names.get((dimension, tag), f"{WORDS[dimension]} {tag}")


def _cells(file: _File, code: int, nodes: Index) -> tuple[str, Index]:
    kind = TYPES[code][0]
    return kind, nodes[:, ORDERS[kind]] if kind in ORDERS else nodes


def _nodes_in_file(file: _File, code: int) -> int:
    if code not in TYPES:
        raise file.error(f"has cells of Gmsh's type {code}; save it with Mesh.ElementOrder 1 or 2")
    return TYPES[code][1]


# ---- version 4.1 -------------------------------------------------------------------------------------------


def _entities4(file: _File) -> Physicals:
    """Physical tags of each entity (dimension, tag)."""
    if "Entities" not in file.sections:
        return {}
    numbers, out = file.numbers("Entities"), {}
    for dimension, count in enumerate(numbers.integers(4, "p")):
        for _ in range(count):
            tag = numbers.integer("i")
            numbers.floats(6 if dimension else 3)
            out[dimension, tag] = np.abs(numbers.integers(numbers.integer()))
            if dimension:
                numbers.integers(numbers.integer())
    return out


def _nodes4(file: _File) -> tuple[Index, NDArray[np.float64]]:
    numbers = file.numbers("Nodes")
    blocks, _, _, _ = numbers.integers(4, "p")
    labels, points = [np.zeros(0, np.int64)], [np.zeros((0, 3))]
    for _ in range(blocks):
        dimension, _, parametric = numbers.integers(3)
        count = numbers.integer()
        labels.append(numbers.integers(count, "p"))
        width = 3 + (int(dimension) if parametric else 0)
        points.append(numbers.floats(width * count).reshape(count, width)[:, :3])
    return np.concatenate(labels), np.concatenate(points)


def _elements4(
    file: _File, names: dict[tuple[int, int], str], physicals: Physicals
) -> tuple[list[tuple[str, Index]], Groups]:
    numbers = file.numbers("Elements")
    blocks, groups, start = [], Groups(), 0
    for _ in range(numbers.integers(4, "p")[0]):
        dimension, entity, code = (int(n) for n in numbers.integers(3))
        count, width = numbers.integer(), _nodes_in_file(file, code) + 1
        rows = numbers.integers(count * width, "p").reshape(count, width)
        blocks.append(_cells(file, code, rows[:, 1:]))
        for tag in physicals.get((dimension, entity), ()):
            groups.setdefault(_group(names, dimension, int(tag)), []).append(np.arange(start, start + count))
        start += count
    return blocks, groups


# ---- version 2.2 -------------------------------------------------------------------------------------------


def _nodes2(file: _File) -> tuple[Index, NDArray[np.float64]]:
    numbers = file.numbers("Nodes")
    count = numbers.line()
    if file.binary:
        rows = numbers.records(count, [("label", "i4", 1), ("x", "f8", 3)])
        return rows["label"][:, 0].astype(np.int64), rows["x"].astype(float)
    table = numbers.floats(4 * count).reshape(count, 4)
    return table[:, 0].astype(np.int64), table[:, 1:]


def _elements2(file: _File, names: dict[tuple[int, int], str]) -> tuple[list[tuple[str, Index]], Groups]:
    numbers = file.numbers("Elements")
    count = numbers.line()
    found: dict[int, list[Index]] = {}  # rows (physical, nodes...) by type
    values = np.asarray(numbers.rest(), dtype=np.int64)
    at = done = 0
    while done < count:
        if at + 3 > len(values):
            raise file.error(f"announces {count} cells but ends after {done}; it is truncated, export it again")
        rows, code, tags, at = _run(file, values, at, count - done)
        done += len(rows)
        physical = np.abs(rows[:, :1]) if tags else np.zeros((len(rows), 1), np.int64)
        found.setdefault(code, []).append(np.hstack([physical, rows[:, tags:]]))
    blocks, groups, start = [], Groups(), 0
    for code, parts in found.items():
        table = np.concatenate(parts)
        # A cell in several groups is written once for each.
        _, first, inverse = np.unique(table[:, 1:], axis=0, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(first))  # keep the order of the file
        number = start + rank[inverse.ravel()]
        kind, nodes = _cells(file, code, table[np.sort(first), 1:])
        dimension = _dimension(kind)
        for tag in np.unique(table[:, 0]):
            if tag:
                members = np.unique(number[table[:, 0] == tag])
                groups.setdefault(_group(names, dimension, int(tag)), []).append(members)
        blocks.append((kind, nodes))
        start += len(nodes)
    return blocks, groups


def _run(file: _File, values: Index, at: int, most: int) -> tuple[Index, int, int, int]:
    """The longest run of rows alike from ``at``: their (tags, nodes), type, number of tags, and its end."""
    same: tuple[int, ...]
    if file.binary:  # header (type, rows, tags), then that many rows (label, tags, nodes)
        code, repeat, tags = (int(v) for v in values[at : at + 3])
        if repeat != 1:
            width = 1 + tags + _nodes_in_file(file, code)
            rows = values[at + 3 : at + 3 + repeat * width]
            if repeat < 1 or len(rows) < repeat * width:
                raise file.error("ends inside $Elements; it is truncated, export it again")
            return rows.reshape(repeat, width)[:, 1:], code, tags, at + 3 + repeat * width
        head, same = 4, (0, 1, 2)
    else:  # rows (label, type, tags, ...)
        code, tags = int(values[at + 1]), int(values[at + 2])
        head, same = 3, (1, 2)
    width = head + tags + _nodes_in_file(file, code)
    length, chunk = 0, 16
    while length < most:
        chunk = min(chunk, most - length, (len(values) - at) // width - length)
        rows = values[at + length * width : at + (length + chunk) * width].reshape(-1, width)
        equal = (rows[:, same] == values[at : at + width][list(same)]).all(axis=1)
        good = len(rows) if equal.all() else int(np.argmin(equal))
        length += good
        if good < len(rows) or not good:
            break
        chunk *= 2
    if not length:
        raise file.error("ends inside $Elements; it is truncated, export it again")
    rows = values[at : at + length * width].reshape(length, width)[:, head:]
    return rows, code, tags, at + length * width


def _dimension(kind: str) -> int:
    return {"vertex": 0, "line": 1, "line3": 1, "triangle": 2, "triangle6": 2, "quad": 2, "quad8": 2}.get(kind, 3)
