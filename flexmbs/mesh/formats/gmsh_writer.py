"""Writing Gmsh 4.1 (ASCII) with all sets as physical groups: of cells, of boundary cells, of points."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flexmbs.mesh.data import MeshData
from flexmbs.mesh.formats.gmsh import ORDERS, TYPES
from flexmbs.mesh.formats.markers import Marked, marked_cells, marked_faces, marked_nodes

Index = NDArray[np.int64]

CODES = {kind: code for code, (kind, nodes) in TYPES.items() if (kind, nodes) not in (("quad8", 9),)}
CODES.update({"hexahedron20": 17, "wedge15": 18})


def write(path: Path, data: MeshData) -> None:
    """Write a Gmsh file; cells that are in the same sets make one entity."""
    groups = [*marked_nodes(data), *marked_faces(data), *marked_cells(data)]
    physical = {(m.dimension, name): 0 for m in groups for name in m.names}
    physical = {key: number for number, key in enumerate(sorted(physical), 1)}
    entities = [(m, row, members) for m in groups for row, members in _alike(m)]
    lines = ["$MeshFormat", "4.1 0 8", "$EndMeshFormat", *_names(physical)]
    lines += _entities(data, entities, physical)
    lines += _nodes(data, entities)
    lines += _elements(entities)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


Entities = list[tuple[Marked, NDArray[np.bool_], Index]]


def _alike(marked: Marked) -> Iterable[tuple[NDArray[np.bool_], Index]]:
    """Cells in exactly the same sets."""
    if not marked.names:
        return [(np.zeros(0, dtype=bool), np.arange(len(marked.nodes)))]
    rows, which = np.unique(marked.inside, axis=0, return_inverse=True)
    return [(row, np.flatnonzero(which.ravel() == k)) for k, row in enumerate(rows)]


def _names(physical: dict[tuple[int, str], int]) -> list[str]:
    if not physical:
        return []
    rows = [f'{dimension} {number} "{name}"' for (dimension, name), number in physical.items()]
    return ["$PhysicalNames", str(len(rows)), *rows, "$EndPhysicalNames"]


def _entities(data: MeshData, entities: Entities, physical: dict[tuple[int, str], int]) -> list[str]:
    rows: list[list[str]] = [[], [], [], []]
    for tag, (marked, row, members) in enumerate(entities, 1):
        points = data["points"][marked.nodes[members].ravel()]
        corners = points[0] if marked.dimension == 0 else np.concatenate([points.min(axis=0), points.max(axis=0)])
        numbers = [physical[marked.dimension, name] for name, inside in zip(marked.names, row, strict=True) if inside]
        fields = [tag, *corners.tolist(), len(numbers), *numbers, *([0] if marked.dimension else [])]
        rows[marked.dimension].append(" ".join(map(str, fields)))
    counts = " ".join(str(len(part)) for part in rows)
    return ["$Entities", counts, *(row for part in rows for row in part), "$EndEntities"]


def _nodes(data: MeshData, entities: Entities) -> list[str]:
    count, (last, _, _) = len(data["points"]), entities[-1]
    head = [f"1 {count} 1 {count}", f"{last.dimension} {len(entities)} 0 {count}"]
    labels = map(str, range(1, count + 1))
    return ["$Nodes", *head, *labels, *(f"{x!r} {y!r} {z!r}" for x, y, z in data["points"].tolist()), "$EndNodes"]


def _elements(entities: Entities) -> list[str]:
    total = sum(len(members) for _, _, members in entities)
    lines, label = ["$Elements", f"{len(entities)} {total} 1 {total}"], 1
    for tag, (marked, _, members) in enumerate(entities, 1):
        lines.append(f"{marked.dimension} {tag} {CODES[marked.type]} {len(members)}")
        order = np.argsort(ORDERS[marked.type]) if marked.type in ORDERS else slice(None)
        rows = marked.nodes[members][:, order] + 1
        labels = np.arange(label, label + len(rows))[:, None]
        lines += [" ".join(map(str, row)) for row in np.hstack([labels, rows]).tolist()]
        label += len(rows)
    return [*lines, "$EndElements"]
