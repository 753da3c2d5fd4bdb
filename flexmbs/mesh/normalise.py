"""From the contents of a file to a mesh of one dimension with uniform sets.

The cells of the mesh are the file's cells of the highest dimension (or of the one asked for). Groups become

- cell sets, as far as they hold cells of the mesh;
- face sets, as far as they hold cells one dimension lower, each the face of a cell of the mesh;
- node sets, as far as they hold nodes, or cells two or more dimensions lower (edges and corners of a solid).

A name used in several dimensions is kept in each kind. Nodes that no cell of the mesh uses (construction and
reference points) carry nothing and are dropped, also from the sets; so are sets that end up empty.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import MeshError
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.data import MeshData
from flexmbs.mesh.formats.contents import FileContents
from flexmbs.mesh.topology import CellBlock, match_faces

Index = NDArray[np.int64]

log = logging.getLogger(__name__)

WITHOUT_CENTRES = {
    "triangle7": ("triangle6", 6),
    "quad9": ("quad8", 8),
    "wedge18": ("wedge15", 15),
    "hexahedron27": ("hexahedron20", 20),
}
"""Cells that become ours when the nodes inside their faces and volume are left out."""


def mesh_data(contents: FileContents, name: str, dimension: int | None = None) -> MeshData:
    """Constructor arguments of the mesh in a file; ``dimension`` keeps the cells of that dimension only."""
    blocks = [_without_centres(kind, nodes) for kind, nodes in contents.blocks]
    for kind, nodes in blocks:
        if nodes.size and not 0 <= nodes.min() <= nodes.max() < len(contents.points):
            wrong = nodes[(nodes < 0) | (nodes >= len(contents.points))][0]
            raise MeshError(
                f"{name}: a {kind} names node {wrong} of {len(contents.points)} (from 0); the file is damaged."
            )
    dimensions = np.concatenate([np.zeros(0, int), *(np.full(len(n), _dimension(k)) for k, n in blocks)])
    top = _chosen_dimension(blocks, dimensions, name, dimension)
    cells, new_number = _kept_cells(blocks, top, name)
    faces = _faces(blocks, top, cells)
    if dimension is None:
        _refuse_other_cells(blocks, top, cells, faces, name)

    attached = np.zeros(len(contents.points), dtype=bool)
    for block in cells:
        attached[block.nodes] = True
    new_node = np.where(attached, np.cumsum(attached) - 1, -1)

    node_groups = {key: [nodes] for key, nodes in contents.node_groups.items()}
    face_sets = {key: [np.column_stack([new_number[p[:, 0]], p[:, 1]])] for key, p in contents.face_groups.items()}
    cell_sets = {}
    for key, members in contents.cell_groups.items():
        cell_sets[key] = new_number[members]
        face_sets.setdefault(key, []).append(faces[members])
        lower = members[(dimensions[members] < top) & (faces[members, 0] < 0)]
        node_groups.setdefault(key, []).extend(_nodes_of(blocks, lower, cells))
    return {
        "points": contents.points[attached],
        "cells": [CellBlock(b.type, new_node[b.nodes]) for b in cells],
        "node_sets": _tidy({k: new_node[np.concatenate(v)] for k, v in node_groups.items() if v}, "node", name),
        "cell_sets": _tidy(cell_sets, "cell", name),
        "face_sets": _tidy({k: np.concatenate(v) for k, v in face_sets.items()}, "face", name),
        "name": name,
    }


def _without_centres(kind: str, nodes: Index) -> tuple[str, Index]:
    other, count = WITHOUT_CENTRES.get(kind, (kind, nodes.shape[-1]))
    return other, nodes[:, :count]


def _dimension(kind: str) -> int:
    if kind in CELLS:
        return CELLS[kind].dimension
    words = (("vert", 0), ("line", 1), ("curve", 1), ("triangle", 2), ("quad", 2), ("polygon", 2))
    return next((dimension for word, dimension in words if word in kind.lower()), 3)


def _chosen_dimension(
    blocks: Sequence[tuple[str, Index]], dimensions: NDArray[np.int64], name: str, asked: int | None
) -> int:
    if not len(dimensions):
        raise MeshError(f"{name}: the file holds no cells; export the mesh, not only its geometry or nodes.")
    if asked is None:
        return int(dimensions.max())
    if asked not in dimensions:
        raise MeshError(f"{name}: there are no cells of dimension {asked}; the file holds {_counted(blocks)}.")
    return asked


def _kept_cells(blocks: Sequence[tuple[str, Index]], top: int, name: str) -> tuple[list[CellBlock], Index]:
    """One block per type, and the number in the mesh of every cell of the file (-1: not in the mesh)."""
    kept: dict[str, list[tuple[int, Index]]] = {}
    start = 0
    for kind, nodes in blocks:
        if _dimension(kind) == top and len(nodes):
            if kind not in CELLS:
                raise MeshError(_unknown_cell(kind, len(nodes), name))
            kept.setdefault(kind, []).append((start, nodes))
        start += len(nodes)
    number = np.full(start, -1, dtype=np.int64)
    count = 0
    for parts in kept.values():
        for first, nodes in parts:
            number[first : first + len(nodes)] = np.arange(count, count + len(nodes))
            count += len(nodes)
    return [CellBlock(kind, np.concatenate([n for _, n in parts])) for kind, parts in kept.items()], number


def _unknown_cell(kind: str, count: int, name: str) -> str:
    advice = "Export the mesh with linear or quadratic cells."
    if kind.startswith("pyramid"):
        advice = "Quadratic pyramids are not available: mesh with linear cells, or with tetrahedra only (tetra10)."
    return f"{name}: {count} cells of type {kind!r}; flexmbs computes with {', '.join(CELLS)}. {advice}"


def _faces(blocks: Sequence[tuple[str, Index]], top: int, cells: Sequence[CellBlock]) -> Index:
    """(cell, local face) of every cell of the file that is a face of the mesh; -1 elsewhere."""
    found = np.full((sum(len(nodes) for _, nodes in blocks), 2), -1, dtype=np.int64)
    markers: dict[int, list[tuple[int, Index]]] = {}  # by number of corners: first cell and corner nodes
    start = 0
    for kind, nodes in blocks:
        if top > 1 and _dimension(kind) == top - 1 and kind in CELLS and len(nodes):
            markers.setdefault(CELLS[kind].corners, []).append((start, nodes[:, : CELLS[kind].corners]))
        start += len(nodes)
    for parts in markers.values():  # one search for all blocks: it sorts the faces of the whole mesh
        numbers = np.concatenate([np.arange(first, first + len(nodes)) for first, nodes in parts])
        found[numbers] = match_faces(cells, np.concatenate([nodes for _, nodes in parts]))
    return found


def _refuse_other_cells(
    blocks: Sequence[tuple[str, Index]], top: int, cells: Sequence[CellBlock], faces: Index, name: str
) -> None:
    """Lower-dimensional cells mark faces, edges or points of the mesh; any others are parts of their own."""
    start, others = 0, []
    for kind, nodes in blocks:
        if 0 < _dimension(kind) < top and len(nodes):
            own = faces[start : start + len(nodes), 0] < 0
            if _dimension(kind) == 1 and top == 3:
                own = ~_are_edges(cells, nodes[:, :2])
            if own.any():
                others.append((kind, nodes[own]))
        start += len(nodes)
    if others:
        kept = _counted([(b.type, b.nodes) for b in cells])
        lower = sorted({_dimension(kind) for kind, _ in others})
        raise MeshError(
            f"{name}: beside {kept} the file holds {_counted(others)} that are no faces or edges of those. "
            f"Cells of different dimensions cannot be mixed: read with dimension={top} to leave those out, "
            f"or with dimension={lower[0]} to keep {'them' if len(lower) == 1 else 'such cells'} only."
        )


def _are_edges(cells: Sequence[CellBlock], lines: Index) -> NDArray[np.bool_]:
    pairs = np.concatenate([b.nodes[:, edge[:2]] for b in cells for edge in CELLS[b.type].edges])
    count = max(int(pairs.max()), int(lines.max())) + 1
    pairs, lines = np.sort(pairs, axis=1), np.sort(lines, axis=1)
    return np.isin(lines[:, 0] * count + lines[:, 1], pairs[:, 0] * count + pairs[:, 1])


def _nodes_of(blocks: Sequence[tuple[str, Index]], members: Index, cells: Sequence[CellBlock]) -> list[Index]:
    """Nodes of the given cells of the file, and the midside nodes of edges that it marks by straight lines."""
    start, nodes = 0, []
    for kind, block in blocks:
        mine = members[(members >= start) & (members < start + len(block))] - start
        if len(mine):
            nodes.append(np.unique(block[mine]))
            if kind == "line":
                nodes.append(_middles(cells, block[mine]))
        start += len(block)
    return nodes


def _middles(cells: Sequence[CellBlock], lines: Index) -> Index:
    """Midside nodes of the cells' edges between these pairs of corners."""
    edges = [b.nodes[:, edge] for b in cells for edge in CELLS[b.type].edges if len(edge) == 3]
    table = np.concatenate([np.zeros((0, 3), dtype=np.int64), *edges])
    count = max(int(table.max(initial=0)), int(lines.max())) + 1
    ends, wanted = np.sort(table[:, :2], axis=1), np.sort(lines, axis=1)
    found = np.isin(ends[:, 0] * count + ends[:, 1], wanted[:, 0] * count + wanted[:, 1])
    return np.unique(table[found, 2])


def _tidy(sets: dict[str, Index], kind: str, name: str) -> dict[str, Index]:
    """Without repetitions and without members that are not in the mesh; without empty sets."""
    out = {}
    for key, members in sets.items():
        inside = members[members[:, 0] >= 0] if members.ndim == 2 else members[members >= 0]
        inside = np.unique(inside, axis=0)
        missing = len(np.unique(members, axis=0)) - len(inside)
        if len(inside):
            out[key] = inside
        if missing and (len(inside) or kind == "node"):
            log.info("%s: %s set %r: members that no cell of the mesh uses are left out", name, kind, key)
    return out


def _counted(blocks: Sequence[tuple[str, Index]]) -> str:
    counts: dict[str, int] = {}
    for kind, nodes in blocks:
        counts[kind] = counts.get(kind, 0) + len(nodes)
    return ", ".join(f"{count} {kind}" for kind, count in counts.items())
