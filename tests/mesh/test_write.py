"""Written files, read back and (in the formats of others) compared as meshes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flexmbs.errors import MeshError
from flexmbs.mesh import Mesh
from flexmbs.mesh.integrals import cell_volumes, face_geometry
from flexmbs.mesh.topology import group_faces

SOLIDS = ["tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "wedge15", "pyramid"]
PLANE = ["triangle", "triangle6", "quad", "quad8"]


def part(cell: str) -> Mesh:
    """Sets of every kind, one that overlaps another, one name used for several kinds, names with blanks."""
    if cell in PLANE:
        mesh = Mesh.rectangle((2.0, 1.0), (2, 2), cell)
    elif cell in SOLIDS:
        mesh = Mesh.box((2.0, 1.0, 1.0), (2, 2, 1), cell)
    else:
        return Mesh.line((0, 0, 0), (1, 2, 3), 4, cell).with_cells("half", [0, 1])
    mesh = mesh.with_nodes("some nodes", [0, 3]).with_nodes("x0", [1]).with_cells("first", [0, 1]).with_cells("x0", [0])
    return mesh.replace(
        face_sets={**mesh.face_sets, "both ends": np.concatenate([mesh.face_sets["x0"], mesh.face_sets["x1"]])}
    )


def described(mesh: Mesh) -> dict[str, object]:
    """What does not depend on the numbering: measures, centroids and coordinates of all sets."""
    measures = np.concatenate([cell_volumes(mesh.points, b.type, b.nodes) for b in mesh.cells])
    centres = np.concatenate([mesh.points[b.nodes].mean(axis=1) for b in mesh.cells])
    faces = {}
    for name, pairs in mesh.face_sets.items():
        area = sum(face_geometry(mesh.points, k, n)[2].sum(axis=(0, 1)) for k, n in group_faces(mesh.cells, pairs))
        faces[name] = [len(pairs), *np.round(np.asarray(area), 9).tolist()]
    return {
        "cells": [(b.type, len(b)) for b in mesh.cells],
        "measure": round(float(measures.sum()), 9),
        "positive": bool((measures > 0).all()),
        "nodes": {n: sorted(np.round(mesh.points[s], 9).tolist()) for n, s in mesh.node_sets.items()},
        "cell sets": {n: sorted(np.round(centres[s], 9).tolist()) for n, s in mesh.cell_sets.items()},
        "faces": faces,
    }


@pytest.mark.parametrize("suffix", [".msh", ".inp", ".vtu", ".vtk"])
@pytest.mark.parametrize("cell", [*SOLIDS, *PLANE, "line", "line3"])
def test_all_sets_come_back(tmp_path: Path, cell: str, suffix: str) -> None:
    mesh = part(cell)
    mesh.write(tmp_path / f"part{suffix}")
    assert described(Mesh.read(tmp_path / f"part{suffix}")) == described(mesh)


@pytest.mark.parametrize("cell", ["tetra", "hexahedron", "wedge", "triangle"])
def test_xdmf(tmp_path: Path, cell: str) -> None:
    mesh = part(cell)
    mesh.write(tmp_path / "part.xdmf")
    assert described(Mesh.read(tmp_path / "part.xdmf")) == described(mesh)


@pytest.mark.parametrize("suffix", [".inp", ".vtu", ".vtk"])
def test_numbering_is_kept(tmp_path: Path, suffix: str) -> None:
    mesh = part("hexahedron20")
    mesh.write(tmp_path / f"part{suffix}")
    back = Mesh.read(tmp_path / f"part{suffix}")
    np.testing.assert_array_equal(back.points, mesh.points)
    np.testing.assert_array_equal(back.cells[0].nodes, mesh.cells[0].nodes)
    for name, pairs in mesh.face_sets.items():
        np.testing.assert_array_equal(back.face_sets[name], pairs)


@pytest.mark.parametrize("suffix", [".bdf", ".med", ".mesh"])
def test_formats_without_our_sets_keep_the_cells(tmp_path: Path, suffix: str) -> None:
    mesh = part("tetra")
    mesh.write(tmp_path / f"part{suffix}")
    back = Mesh.read(tmp_path / f"part{suffix}")
    np.testing.assert_allclose(cell_volumes(back.points, "tetra", back.cells[0].nodes).sum(), 2.0)


@pytest.mark.parametrize(("cell", "suffix"), [("tetra10", ".mesh"), ("hexahedron20", ".bdf"), ("tetra", ".stl")])
def test_a_mesh_the_format_cannot_hold_is_refused(tmp_path: Path, cell: str, suffix: str) -> None:
    with pytest.raises(MeshError, match=rf"part{suffix}: .* cannot hold this mesh \(\d+ {cell}\)"):
        part(cell).write(tmp_path / f"part{suffix}")
    assert not (tmp_path / f"part{suffix}").exists()


def test_unknown_extension_and_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(MeshError, match=r"unknown extension '\.xyz'; give one of .*\.vtu"):
        part("tetra").write(tmp_path / "part.xyz")
    with pytest.raises(MeshError, match=r"the folder .* does not exist"):
        part("tetra").write(tmp_path / "gone" / "part.msh")
