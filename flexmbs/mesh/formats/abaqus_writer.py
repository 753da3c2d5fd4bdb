"""Writing Abaqus and CalculiX input files: node sets, element sets, and face sets as surfaces."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from flexmbs.errors import MeshError
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.data import MeshData
from flexmbs.mesh.formats.abaqus_elements import face_of
from flexmbs.mesh.topology import block_starts

SOLIDS_AND_LINES = {
    **{"tetra": "C3D4", "tetra10": "C3D10", "hexahedron": "C3D8", "hexahedron20": "C3D20", "wedge": "C3D6"},
    **{"wedge15": "C3D15", "pyramid": "C3D5", "line": "B31", "line3": "B32"},
}
PLANE = {"triangle": "CPS3", "triangle6": "CPS6", "quad": "CPS4", "quad8": "CPS8"}
SHELL = {"triangle": "S3", "triangle6": "STRI65", "quad": "S4", "quad8": "S8R"}
PER_LINE = 15


def write(path: Path, data: MeshData) -> None:
    """Write an input file with the mesh and its sets, without materials and steps."""
    flat = not np.ptp(data["points"][:, 2]) if len(data["points"]) else True
    types = {**SOLIDS_AND_LINES, **(PLANE if flat else SHELL)}
    lines = ["*Heading", f" {data['name']}", "*Node"]
    lines += [f"{k}, {x!r}, {y!r}, {z!r}" for k, (x, y, z) in enumerate(data["points"].tolist(), 1)]
    starts = block_starts(data["cells"])
    for block, start in zip(data["cells"], starts[:-1], strict=True):
        if block.type not in types:
            raise MeshError(f"{path}: Abaqus has no element for {len(block)} cells of type {block.type!r}.")
        nodes = block.nodes[:, [0, 2, 1]] if block.type == "line3" else block.nodes
        lines.append(f"*Element, type={types[block.type]}")
        rows = np.hstack([np.arange(start, start + len(block))[:, None], nodes]) + 1
        for row in rows.tolist():
            lines += _wrapped(row)
    for keyword, sets in (("Nset, nset", data["node_sets"]), ("Elset, elset", data["cell_sets"])):
        for name, members in sets.items():
            lines += [f"*{keyword}={_quoted(name)}", *_wrapped((members + 1).tolist())]
    for name, pairs in data["face_sets"].items():
        lines.append(f"*Surface, type=ELEMENT, name={_quoted(name)}")
        for block, start, stop in zip(data["cells"], starts[:-1], starts[1:], strict=True):
            sides = {face_of(block.type, f"S{k}"): f"S{k}" for k in range(1, len(CELLS[block.type].faces) + 1)}
            mine = pairs[(pairs[:, 0] >= start) & (pairs[:, 0] < stop)]
            lines += [f"{cell + 1}, {sides[face]}" for cell, face in mine.tolist()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _wrapped(numbers: list[int]) -> list[str]:
    """A record over as many lines as it needs; all but the last end in a comma."""
    parts = [", ".join(map(str, numbers[k : k + PER_LINE])) for k in range(0, len(numbers), PER_LINE)]
    return [part + "," for part in parts[:-1]] + parts[-1:]


def _quoted(name: str) -> str:
    plain = name.replace('"', "'")
    return plain if plain.replace("_", "").replace("-", "").isalnum() else f'"{plain}"'
