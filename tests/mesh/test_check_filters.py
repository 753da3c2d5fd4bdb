"""The check looks quickly first and closely only where needed; the quick look must miss nothing."""

from __future__ import annotations

import numpy as np
import pytest

from flexmbs.errors import MeshError
from flexmbs.mesh import check
from flexmbs.mesh.edit import COINCIDENT, coincident_nodes
from flexmbs.mesh.mesh import Mesh


def kinds(mesh: Mesh) -> set[str]:
    return {p.kind for p in mesh.problems()}


def test_every_coincident_pair_is_found_whatever_its_direction():
    rng = np.random.default_rng(7)
    points = rng.uniform(-1, 1, (400, 3)) + np.array([1e3, 0, 0])  # far from the origin, where coordinates are coarse
    tolerance = 1e-9 * np.linalg.norm(np.ptp(points, axis=0))
    step = rng.normal(size=(40, 3))
    points[200:240] = points[:40] + 0.9 * tolerance * step / np.linalg.norm(step, axis=1)[:, None]
    near = check._close_along_a_line(points, tolerance)
    data = Mesh(points, [("vertex", np.arange(400)[:, None])]).data
    exact = coincident_nodes(data, tolerance)
    assert (exact != np.arange(400)).sum() > 20
    inside = np.arange(400)
    inside[near] = near[coincident_nodes({**data, "points": points[near]}, tolerance)]
    np.testing.assert_array_equal(inside, exact)
    assert len(near) < 100


def test_coincident_nodes_are_named_as_in_the_full_mesh():
    mesh = Mesh.box((1, 1, 1), 3)
    twice = mesh.joined(mesh.translated((1, 0, 0)))
    found = next(p for p in twice.problems() if p.kind == "coincident nodes")
    same = coincident_nodes(twice.data)
    np.testing.assert_array_equal(found.nodes, np.flatnonzero(same != np.arange(len(same))))
    assert len(found.nodes) == 16
    assert COINCIDENT < 1e-6


@pytest.mark.parametrize("cell", ["tetra10", "hexahedron", "wedge15"])
def test_one_copied_cell_among_many_is_found(cell: str):
    mesh = Mesh.box((1, 1, 1), 4, cell=cell)
    nodes = mesh.cells[0].nodes
    copied = Mesh(mesh.points, [(cell, np.vstack([nodes, nodes[17]]))])
    (found,) = (p for p in copied.problems() if p.kind == "duplicate cells")
    assert list(found.cells) == [len(nodes)]


def test_one_overlapping_cell_among_many_is_found():
    mesh = Mesh.box((1, 1, 1), 4, cell="tetra")
    nodes = mesh.cells[0].nodes
    counts: dict[frozenset[int], int] = {}
    for cell in nodes:
        for face in (cell[[0, 1, 2]], cell[[0, 1, 3]], cell[[1, 2, 3]], cell[[0, 2, 3]]):
            counts[frozenset(face.tolist())] = counts.get(frozenset(face.tolist()), 0) + 1
    inner = sorted(next(face for face, count in counts.items() if count == 2))
    apex = mesh.n_nodes
    points = np.vstack([mesh.points, mesh.points[inner].mean(axis=0) + np.array([0.01, 0.02, 0.05])])
    mesh = Mesh(points, [("tetra", np.vstack([nodes, [*inner, apex]]))]).oriented()
    assert "overlapping cells" in kinds(mesh)


def test_chunks_number_cells_through(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(check, "CHUNK", 5)
    mesh = Mesh.box((1, 1, 1), 3)
    nodes = mesh.cells[0].nodes.copy()
    nodes[[4, 13]] = nodes[[4, 13]][:, [4, 5, 6, 7, 0, 1, 2, 3]]
    (found,) = (p for p in Mesh(mesh.points, [("hexahedron", nodes)]).problems() if p.kind == "inverted cells")
    assert list(found.cells) == [4, 13]


def test_a_bad_mesh_is_refused_every_time():
    mesh = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [("tetra", [[0, 2, 1, 3]])])
    for _ in range(2):
        with pytest.raises(MeshError, match="inside out"):
            mesh.check()
    mesh.problems().clear()  # the caller's own list
    assert mesh.problems()
