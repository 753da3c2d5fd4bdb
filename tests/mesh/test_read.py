"""Files written by the real programs: the same part, a box of 2 × 1 × 1 m, from every format (data/make.py)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flexmbs.mesh import Mesh
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.integrals import cell_volumes, face_geometry
from flexmbs.mesh.topology import group_faces

DATA = Path(__file__).parent / "data"


def volume(mesh: Mesh, cells: str = "all") -> float:
    numbers = mesh.cell_numbers(cells)
    volumes = np.concatenate([cell_volumes(mesh.points, b.type, b.nodes) for b in mesh.cells])
    assert (volumes > 0).all()
    return float(volumes[numbers].sum())


def area_vector(mesh: Mesh, faces: str) -> np.ndarray:
    """∫ n dA: of a plane face its area times its outward normal."""
    total = np.zeros(3)
    for kind, nodes in group_faces(mesh.cells, mesh.face_sets[faces]):
        total += face_geometry(mesh.points, kind, nodes)[2].sum(axis=(0, 1))
    return total


def assert_midside_nodes_halve_edges(mesh: Mesh) -> None:
    """A wrong node order puts some midside node on another edge."""
    for block in mesh.cells:
        for a, b, middle in (e for e in CELLS[block.type].edges if len(e) == 3):
            ends = mesh.points[block.nodes[:, [a, b]]].mean(axis=1)
            np.testing.assert_allclose(mesh.points[block.nodes[:, middle]], ends, atol=1e-6)


def assert_box(mesh: Mesh) -> None:
    assert mesh.dimension == 3
    np.testing.assert_allclose([mesh.points.min(axis=0), mesh.points.max(axis=0)], [[0, 0, 0], [2, 1, 1]], atol=1e-12)
    assert len(np.unique(np.concatenate([b.nodes.ravel() for b in mesh.cells]))) == mesh.n_nodes
    np.testing.assert_allclose(volume(mesh), 2.0, rtol=1e-6)
    assert_midside_nodes_halve_edges(mesh)


def assert_groups(mesh: Mesh, *, clamped: str = "clamped face", middle: str = "surface 12") -> None:
    np.testing.assert_allclose([volume(mesh, "left"), volume(mesh, "right"), volume(mesh, "steel")], [1, 1, 2])
    np.testing.assert_allclose(mesh.points[mesh.cells[0].nodes[mesh.cell_sets["left"]]].mean(), 0.5, atol=0.2)
    for name, x, normal in (("root", 0, -1), (clamped, 0, -1), ("tip", 2, 1), ("steel", 2, 1)):
        nodes = np.concatenate([n.ravel() for _, n in group_faces(mesh.cells, mesh.face_sets[name])])
        np.testing.assert_allclose(mesh.points[nodes, 0], x)
        np.testing.assert_allclose(area_vector(mesh, name), [normal, 0, 0], atol=1e-9)
    np.testing.assert_allclose(np.abs(area_vector(mesh, middle)), [1, 0, 0], atol=1e-9)


GMSH = ["box22", "box22b", "box41", "box41b", "box_all", "box_parametric"]
QUADRATIC = ["tetra_2", "tetra_2_22", "hexahedron_2", "hexahedron_2_22", "hexahedron27", "wedge_2", "wedge_2_22"]


@pytest.mark.parametrize("name", [*GMSH, *QUADRATIC, "wedge18", "pyramids"])
def test_gmsh_groups_of_every_dimension(name: str) -> None:
    mesh = Mesh.read(DATA / f"{name}.msh")
    assert_box(mesh)
    assert_groups(mesh)
    edge = mesh.points[mesh.node_sets["edge"]]
    np.testing.assert_allclose(edge[:, [0, 2]], 0)
    assert edge[:, 1].min() == 0
    assert edge[:, 1].max() == 1
    assert len(edge) >= 3
    np.testing.assert_allclose(mesh.points[mesh.node_sets["corner"]], [[0, 0, 0]])


@pytest.mark.parametrize(("name", "cells"), [
    ("hexahedron27", {"hexahedron20"}), ("wedge18", {"wedge15"}), ("pyramids", {"hexahedron", "pyramid", "tetra"}),
])  # fmt: skip
def test_gmsh_cell_types(name: str, cells: set[str]) -> None:
    assert {b.type for b in Mesh.read(DATA / f"{name}.msh").cells} == cells


def test_ascii_and_binary_of_both_versions_hold_the_same_mesh() -> None:
    meshes = [Mesh.read(DATA / f"{name}.msh") for name in GMSH]
    for mesh in meshes[1:]:
        np.testing.assert_allclose(mesh.points, meshes[0].points, atol=1e-15)
        np.testing.assert_array_equal(mesh.cells[0].nodes, meshes[0].cells[0].nodes)
        assert set(mesh.sets) == set(meshes[0].sets)


@pytest.mark.parametrize("name", ["box", "box_groups", "tetra_2", "hexahedron_2", "wedge_2"])
def test_abaqus_written_by_gmsh(name: str) -> None:
    mesh = Mesh.read(DATA / f"{name}.inp")
    assert_box(mesh)
    assert_groups(mesh, clamped="clamped_face", middle="PhysicalSurface12")
    np.testing.assert_allclose(mesh.points[mesh.node_sets["edge"]][:, [0, 2]], 0)


@pytest.mark.parametrize("name", ["box", "tetra_2", "hexahedron_2", "wedge_2"])
def test_med_groups_and_orientation(name: str) -> None:
    mesh = Mesh.read(DATA / f"{name}.med")  # MED's solids are inside out by definition
    assert_box(mesh)
    assert_groups(mesh, middle="G_2D_12")
    np.testing.assert_allclose(mesh.points[mesh.node_sets["corner"]], [[0, 0, 0]])


@pytest.mark.parametrize("name", ["box", "tetra_2", "hexahedron_2", "wedge_2"])
def test_vtk_written_by_gmsh(name: str) -> None:
    mesh = Mesh.read(DATA / f"{name}.vtk")
    assert_box(mesh)
    np.testing.assert_allclose(volume(mesh, "CellEntityIds_1"), 1)
    np.testing.assert_allclose(np.abs(area_vector(mesh, "CellEntityIds_12")), [1, 0, 0], atol=1e-9)


@pytest.mark.parametrize("name", ["box", "hexahedron_2", "wedge_2"])
def test_universal_files(name: str) -> None:
    mesh = Mesh.read(DATA / f"{name}.unv")
    assert_box(mesh)
    assert_groups(mesh, clamped="clamped_face", middle="PhysicalSurface12")
    np.testing.assert_allclose(mesh.points[mesh.node_sets["edge"]][:, [0, 2]], 0)


def universal(path: Path, points: list[tuple[float, ...]], element: list[list[int]], group: list[int]) -> Mesh:
    """A universal file of one element with nodes 1, 2, ... in I-deas' order, and a group ``named``."""

    def rows(*lists: list[int]) -> str:
        return "".join("".join(f"{n:10d}" for n in numbers) + "\n" for numbers in lists)

    nodes = "".join(
        rows([k, 1, 1, 11]) + "".join(f"{x:23.16E}".replace("E", "D") for x in p) + "\n"
        for k, p in enumerate(points, 1)
    )
    members = rows([1, 0, 0, 0, 0, 0, 0, 1]) + "named\n" + rows(group)
    parts = (("2411", nodes), ("2412", rows(*element)), ("2467", members))
    path.write_text("".join(f"    -1\n{number:>6}\n{text}    -1\n" for number, text in parts))
    return Mesh.read(path)


def test_universal_beam_and_group_of_nodes(tmp_path: Path) -> None:
    element = [[1, 24, 1, 1, 7, 3], [0, 1, 1], [1, 2, 3]]
    mesh = universal(tmp_path / "beam.unv", [(0, 0, 0), (1, 0, 0), (2, 0, 0)], element, [7, 3, 0, 0])
    assert_midside_nodes_halve_edges(mesh)
    np.testing.assert_allclose(mesh.points[mesh.node_sets["named"]], [[2, 0, 0]])


def test_universal_quadratic_tetrahedron(tmp_path: Path) -> None:
    base = [(0, 0, 0), (0.5, 0, 0), (1, 0, 0), (0.5, 0.5, 0), (0, 1, 0), (0, 0.5, 0)]  # corner, midside, corner, ...
    points = [*base, (0, 0, 0.5), (0.5, 0, 0.5), (0, 0.5, 0.5), (0, 0, 1)]
    element = [[4, 118, 1, 1, 7, 10], list(range(1, 9)), [9, 10]]
    mesh = universal(tmp_path / "tetra.unv", points, element, [8, 4, 0, 0])
    assert_midside_nodes_halve_edges(mesh)
    np.testing.assert_allclose(volume(mesh, "named"), 1 / 6)


@pytest.mark.parametrize("name", ["box.mesh", "box.su2"])
def test_tags_through_meshio(name: str) -> None:
    mesh = Mesh.read(DATA / name)
    assert_box(mesh)
    areas = [np.abs(area_vector(mesh, faces)) for faces in mesh.face_sets]
    np.testing.assert_allclose(areas, [[1, 0, 0]] * len(areas), atol=1e-9)
    assert len(areas) >= 3


VTK = [
    "pyvista.vtk",
    "pyvista.vtu",
    "pyvista_ascii.vtk",
    "vtk42.vtk",
    "vtk_ascii.vtu",
    "vtk_binary.vtu",
    "vtk_appended.vtu",
]


@pytest.mark.parametrize("name", VTK)
def test_vtk_arrays_become_sets_and_wedges_of_both_orders_are_upright(name: str) -> None:
    mesh = Mesh.read(DATA / name)
    assert [(b.type, len(b)) for b in mesh.cells] == [("wedge", 2), ("hexahedron", 1)]
    np.testing.assert_allclose(volume(mesh), 2)
    np.testing.assert_allclose([volume(mesh, "material_1"), volume(mesh, "material_2")], 1)
    np.testing.assert_allclose([volume(mesh, "region id_1"), volume(mesh, "region id_3")], [1.5, 0.5])
    np.testing.assert_allclose(area_vector(mesh, "material_7"), [-1, 0, 0], atol=1e-12)
    assert set(mesh.sets) == {"material_1", "material_2", "material_7", "region id_0", "region id_1", "region id_3"}


@pytest.mark.parametrize("name", ["surface.vtp", "surface.vtk", "surface.stl", "surface.ply", "box.stl"])
def test_surfaces_are_meshes_of_dimension_2(name: str) -> None:
    mesh = Mesh.read(DATA / name)
    assert mesh.dimension == 2
    np.testing.assert_allclose(volume(mesh), 3 if name == "box.stl" else 24)


def test_structured_grids() -> None:
    np.testing.assert_allclose(volume(Mesh.read(DATA / "voxels.vti")), 2)
