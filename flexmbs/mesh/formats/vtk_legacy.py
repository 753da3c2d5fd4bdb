"""VTK's legacy format (.vtk), versions 1 to 5.1, ASCII and binary: unstructured grids and surfaces.

meshio cannot read what VTK 9 writes by default; VTK's own reader crashes on truncated files, past catching.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import MeshError
from flexmbs.mesh.formats.contents import FileContents
from flexmbs.mesh.formats.tags import SET, groups_of
from flexmbs.mesh.formats.vtk_cells import blocks_of

Index = NDArray[np.int64]

NUMBERS = {
    **{"unsigned_char": "u1", "char": "i1", "unsigned_short": "u2", "short": "i2", "unsigned_int": "u4", "int": "i4"},
    **{"unsigned_long": "u8", "long": "i8", "float": "f4", "double": "f8", "vtkidtype": "i4"},
    **{f"vtktype{u}int{8 * n}": f"{u or 'i'}{n}" for u in ("", "u") for n in (1, 2, 4, 8)},
    **{"vtktypefloat32": "f4", "vtktypefloat64": "f8", "unsigned_long_long": "u8", "long_long": "i8"},
}
SURFACE = {"VERTICES": 2, "LINES": 4, "POLYGONS": 7, "TRIANGLE_STRIPS": 6}
PER_ITEM = {
    "VECTORS": 3,
    "NORMALS": 3,
    "TENSORS": 9,
    "TENSORS6": 6,
    "GLOBAL_IDS": 1,
    "PEDIGREE_IDS": 1,
    "EDGE_FLAGS": 1,
}
NONE = np.zeros(0, dtype=np.int64)


def read(path: Path) -> FileContents:
    """Contents of a legacy VTK file; integer arrays on its cells become groups."""
    return _Reader(path).contents()


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path, self.data, self.at = path, path.read_bytes(), 0
        first, _, form, dataset = (self.raw().strip() for _ in range(4))
        if not first.lower().startswith(b"# vtk datafile"):
            raise self.error("does not begin with '# vtk DataFile Version'; it is no legacy VTK file")
        self.binary = form.upper() == b"BINARY"
        kind = dataset.upper().split()[-1:]
        if kind not in ([b"UNSTRUCTURED_GRID"], [b"POLYDATA"]):
            what = b" ".join(kind).decode("latin1") or "nothing"
            raise self.error(f"holds {what}; save it as an unstructured grid (ParaView: Append Datasets, then .vtu)")
        self.points = np.zeros((0, 3))
        self.types: list[Index] = []
        self.sizes: list[Index] = []  # nodes per cell
        self.nodes: list[Index] = []
        self.arrays: dict[str, dict[str, NDArray[Any]]] = {"CELL_DATA": {}, "POINT_DATA": {}, "": {}}

    def error(self, what: str) -> MeshError:
        return MeshError(f"{self.path}: {what}.")

    # ---- lines and arrays ---------------------------------------------------------------------------------

    def raw(self) -> bytes:
        end = self.data.find(b"\n", self.at)
        end = len(self.data) if end < 0 else end
        line, self.at = self.data[self.at : end], end + 1
        return line

    def words(self) -> list[str]:
        """Words of the next line that has any; none at the end of the file."""
        while self.at < len(self.data):
            line = self.raw().split()
            if line:
                return [word.decode("latin1") for word in line]
        return []

    def array(self, kind: str, count: int) -> NDArray[Any]:
        if kind.lower() not in NUMBERS:
            raise self.error(f"has an array of type {kind!r}, which is not supported; save numbers only")
        dtype = np.dtype(NUMBERS[kind.lower()])
        if self.binary:
            stop = self.at + count * dtype.itemsize
            if count < 0 or stop > len(self.data):
                raise self.error("ends inside an array: it is truncated; export it again")
            values = np.frombuffer(self.data, dtype.newbyteorder(">"), count, self.at)
            self.at = stop
            return values.astype(dtype)
        parts: list[bytes] = []
        while len(parts) < count:
            if self.at >= len(self.data):
                raise self.error("ends inside an array: it is truncated; export it again")
            parts.extend(self.raw().split())
        if len(parts) > count:
            raise self.error(f"has {len(parts)} numbers where {count} are announced; it is damaged, export it again")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return (
                np.array(parts).astype(float).astype(dtype)
                if dtype.kind == "f"
                else np.array(parts, dtype="S").astype(dtype)
            )

    # ---- sections -----------------------------------------------------------------------------------------

    def contents(self) -> FileContents:
        where, count = "", 0
        while words := self.words():
            name = words[0].upper()
            if name == "POINTS":
                self.points = self.array(words[2], 3 * int(words[1])).reshape(-1, 3).astype(float)
            elif name == "CELLS" or name in SURFACE:
                self._cells(name, int(words[1]), int(words[2]))
            elif name == "CELL_TYPES":
                self.types.append(self.array("int", int(words[1])).astype(np.int64))
            elif name in ("CELL_DATA", "POINT_DATA"):
                where, count = name, int(words[1])
            elif name == "METADATA":
                while self.at < len(self.data) and self.raw().strip():
                    pass
            else:
                self._attribute(words, where, count)
        return self._contents()

    def _cells(self, name: str, count: int, size: int) -> None:
        before = self.at
        head = self.words()
        if head and head[0].upper() == "OFFSETS":  # version 5: one offset more than there are cells
            offsets = self.array(head[1], count).astype(np.int64)
            head = self.words()
            if not head or head[0].upper() != "CONNECTIVITY":
                raise self.error(f"has no CONNECTIVITY in {name}; it is damaged, export it again")
            nodes = self.array(head[1], size).astype(np.int64)
            sizes = np.diff(offsets)
        else:
            self.at = before
            flat = self.array("int", size).astype(np.int64)
            starts, place, numbers = [], 0, flat.tolist()
            while place < size and numbers[place] >= 0:
                starts.append(place)
                place += numbers[place] + 1
            if len(starts) != count or place != size:
                raise self.error(f"has {len(starts)} cells in {name} where {count} are announced; it is damaged")
            sizes = flat[starts]
            nodes = np.delete(flat, starts)
        self.sizes.append(sizes)
        self.nodes.append(nodes)
        if name in SURFACE:
            self.types.append(np.full(len(sizes), SURFACE[name]))

    def _attribute(self, words: list[str], where: str, count: int) -> None:
        name = words[0].upper()
        if name == "SCALARS":
            width = int(words[3]) if len(words) > 3 else 1
            before = self.at
            if self.words()[:1] != ["LOOKUP_TABLE"]:
                self.at = before
            self._keep(where, words[1], self.array(words[2], width * count), width)
        elif name == "FIELD":
            for _ in range(int(words[2])):
                inner = self.words()
                while inner[:1] == ["METADATA"]:
                    while self.raw().strip():
                        pass
                    inner = self.words()
                width, items = int(inner[1]), int(inner[2])
                self._keep(where, inner[0], self.array(inner[3], width * items), width)
        elif name == "LOOKUP_TABLE":
            self.array("unsigned_char" if self.binary else "float", 4 * int(words[2]))
        elif name == "COLOR_SCALARS":
            self.array("unsigned_char" if self.binary else "float", int(words[2]) * count)
        elif name == "TEXTURE_COORDINATES":
            self.array(words[3], int(words[2]) * count)
        elif name in PER_ITEM:
            self._keep(where, words[1], self.array(words[2], PER_ITEM[name] * count), PER_ITEM[name])
        else:
            raise self.error(
                f"has {' '.join(words)[:40]!r} where a section should begin; it is damaged, export it again"
            )

    def _keep(self, where: str, name: str, values: NDArray[Any], width: int) -> None:
        if width == 1:
            self.arrays[where][unquote(name)] = values

    def _contents(self) -> FileContents:
        sizes = np.concatenate([NONE, *self.sizes])
        types = np.concatenate([NONE, *self.types])
        if len(types) != len(sizes):
            raise self.error(f"has {len(sizes)} cells but {len(types)} cell types; it is truncated, export it again")
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        nodes = np.concatenate([NONE, *self.nodes])
        if starts[-1] != len(nodes) or (sizes < 0).any():
            raise self.error("has cells whose numbers of nodes do not add up; it is damaged, export it again")
        blocks, order = blocks_of(types, starts, nodes)
        cells: dict[str, Index] = {}
        points: dict[str, Index] = {}
        for name, values in self.arrays["CELL_DATA"].items():
            if len(values) == len(order):
                cells.update(groups_of(name, values[order]))
        for name, values in self.arrays["POINT_DATA"].items():
            if name.startswith(SET):
                points.update(groups_of(name, values))
        return FileContents(self.points, blocks, points, cells)
