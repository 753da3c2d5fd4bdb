"""Nastran files in the manner of HyperMesh, Patran and Femap, and their mistakes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flexmbs.errors import MeshError
from flexmbs.mesh import Mesh
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.integrals import cell_volumes, face_geometry
from flexmbs.mesh.topology import group_faces

DATA = Path(__file__).parent / "data"

SYSTEM_8 = ("GRID,3,,", "GRID,3,8,")
TETRA = """GRID,1,,0.,0.,0.
GRID,2,,1.,0.,0.
GRID,3,,0.,1.,0.
GRID,4,,0.,0.,1.
CTETRA,11,5,1,2,3,4
"""


def read(folder: Path, text: str, name: str = "model.bdf", **options: int) -> Mesh:
    path = folder / name
    path.write_text(text)
    return Mesh.read(path, **options)


def assert_straight(mesh: Mesh, volume: float) -> None:
    for block in mesh.cells:
        np.testing.assert_allclose(cell_volumes(mesh.points, block.type, block.nodes), volume, rtol=1e-8)
        for a, b, middle in (e for e in CELLS[block.type].edges if len(e) == 3):
            ends = mesh.points[block.nodes[:, [a, b]]].mean(axis=1)
            np.testing.assert_allclose(mesh.points[block.nodes[:, middle]], ends, atol=1e-8)


@pytest.mark.parametrize("name", ["box", "tetra_2", "hexahedron_2", "wedge_2"])
def test_written_by_gmsh(name: str) -> None:
    mesh = Mesh.read(DATA / f"{name}.bdf")
    volumes = cell_volumes(mesh.points, mesh.cells[0].type, mesh.cells[0].nodes)
    assert (volumes > 0).all()
    np.testing.assert_allclose([volumes[mesh.cell_sets[p]].sum() for p in ("PID_1", "PID_2")], 1.0, rtol=1e-4)
    for a, b, middle in (e for e in CELLS[mesh.cells[0].type].edges if len(e) == 3):
        ends = mesh.points[mesh.cells[0].nodes[:, [a, b]]].mean(axis=1)
        np.testing.assert_allclose(
            mesh.points[mesh.cells[0].nodes[:, middle]], ends, atol=1e-4
        )  # six digits in the file
    assert len(mesh.face_sets) == 3
    for name in mesh.face_sets:
        groups = group_faces(mesh.cells, mesh.face_sets[name])
        area = sum(face_geometry(mesh.points, kind, nodes)[2].sum(axis=(0, 1)) for kind, nodes in groups)
        np.testing.assert_allclose(np.abs(area), [1, 0, 0], atol=1e-4)


def test_hypermesh_components_sets_and_properties() -> None:
    mesh = Mesh.read(DATA / "hypermesh.fem")
    assert_straight(mesh, 1.0)
    assert mesh.n_nodes == 12  # the node of the rigid element carries nothing
    np.testing.assert_array_equal(mesh.cell_sets["block"], [0, 1])
    np.testing.assert_array_equal(mesh.cell_sets["solid steel"], [0, 1])
    np.testing.assert_array_equal(mesh.cell_sets["outer cell"], [1])
    np.testing.assert_allclose(mesh.points[mesh.node_sets["tip nodes"], 0], 2)
    np.testing.assert_allclose(mesh.points[mesh.node_sets["SPC_3"]], [[0, 0, 0], [0, 1, 0]])
    for name in ("skin", "face at x=0"):
        ((kind, nodes),) = group_faces(mesh.cells, mesh.face_sets[name])
        np.testing.assert_allclose(face_geometry(mesh.points, kind, nodes)[2].sum(axis=(0, 1)), [-1, 0, 0], atol=1e-12)


def test_patran_large_fields_coordinate_systems_and_case_control() -> None:
    mesh = Mesh.read(DATA / "patran.bdf")
    assert_straight(mesh, 1.0)  # corners come from a cylindrical system inside a turned one, the rest is basic
    np.testing.assert_allclose([mesh.points.min(axis=0), mesh.points.max(axis=0)], [[0, 0, 0], [1, 1, 1]], atol=1e-8)
    np.testing.assert_allclose(mesh.points[mesh.node_sets["SET_1"]][:, 2], 0, atol=1e-8)
    assert len(mesh.node_sets["SET_1"]) == 8
    np.testing.assert_array_equal(mesh.cell_sets["SET_5"], [0])  # asked for by STRESS: elements
    np.testing.assert_array_equal(mesh.cell_sets["brick"], [0])
    np.testing.assert_allclose(mesh.points[mesh.node_sets["SPC_2"]][:, 0], 0, atol=1e-8)


def test_femap_free_fields_bare_exponents_and_include() -> None:
    mesh = Mesh.read(DATA / "femap.nas")
    assert [b.type for b in mesh.cells] == ["wedge15"]
    assert_straight(mesh, 1.0)
    np.testing.assert_allclose(mesh.points[mesh.node_sets["SET_4"]], [[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(mesh.cell_sets["wedge body"], [0])
    np.testing.assert_array_equal(mesh.cell_sets["SET_6"], [0])


@pytest.mark.parametrize("name", ["model.nas", "model.dat", "model.blk"])
def test_bulk_data_alone_under_other_extensions(tmp_path: Path, name: str) -> None:
    assert_straight(read(tmp_path, TETRA, name), 1 / 6)


@pytest.mark.parametrize(("kind", "given"), [("R", (2.0, 3.0, 4.0)), ("C", (2.0, 30.0, 4.0)), ("S", (2.0, 60.0, 30.0))])
def test_turned_coordinate_systems(tmp_path: Path, kind: str, given: tuple[float, float, float]) -> None:
    """Axes in general position: no symmetry of the axes may hide a transposed rotation."""
    origin, z = np.array([1.0, 0.5, -0.25]), np.array([1.0, 2.0, 2.0]) / 3
    x = np.array([2.0, 1.0, -2.0]) / 3
    y = np.array([-2.0, 2.0, -1.0]) / 3
    np.testing.assert_allclose(np.cross(z, x), y)
    points = [repr(float(v)) for p in (origin, origin + 3 * z, origin + 3 * x + 3 * z) for v in p]
    system = f"CORD2{kind},9,,{','.join(points[:6])}\n,{','.join(points[6:])}\n"
    place = f"GRID,4,9,{','.join(map(str, given))}"
    mesh = read(tmp_path, TETRA.replace("GRID,4,,0.,0.,1.", place) + system)
    r, a, b = given[0], np.radians(given[1]), np.radians(given[2])
    local = {
        "R": given,
        "C": (r * np.cos(a), r * np.sin(a), given[2]),
        "S": (r * np.sin(a) * np.cos(b), r * np.sin(a) * np.sin(b), r * np.cos(a)),
    }[kind]
    np.testing.assert_allclose(mesh.points[3], origin + local[0] * x + local[1] * y + local[2] * z, atol=1e-12)


def test_names_kept_by_ansa_and_simcenter(tmp_path: Path) -> None:
    assert "door" in read(tmp_path, TETRA + "$ANSA_NAME_COMMENT;5;PSOLID;door;;NO;NO;NO;NO;\n").cell_sets
    assert "rib" in read(tmp_path, "$*  Property: rib\nPSOLID         5       1\n" + TETRA).cell_sets


def test_bars_are_lines(tmp_path: Path) -> None:
    text = TETRA.replace("CTETRA,11,5,1,2,3,4", "CBAR,1,5,1,2,0.,1.,0.\nCBEAM,2,5,2,3,0.,1.,0.\nCONROD,3,3,4,1,1.")
    mesh = read(tmp_path, text)
    np.testing.assert_array_equal(mesh.cells[0].nodes, [[0, 1], [1, 2], [2, 3]])
    np.testing.assert_array_equal(mesh.cell_sets["PID_5"], [0, 1])


@pytest.mark.parametrize(("text", "message"), [
    (TETRA.replace("GRID,3,,0.,1.,0.", "GRID,3,,0.,one,0."), "model.bdf, line 3: GRID: field 5 should be a number"),
    (TETRA.replace("GRID,3", "GRID,x"), "line 3: GRID: field 2 should be an integer, not 'x'"),
    (TETRA.replace("1,2,3,4", "1,2,3,7"), "line 5: CTETRA: element 11 names node 7"),
    (TETRA.replace("1,2,3,4", "1,2,3"), "line 5: CTETRA: element 11 has 3 nodes instead of 4 or 10"),
    (TETRA.replace("1,2,3,4", "1,2,3,4,1"), "element 11 has 5 nodes instead of 4 or 10; fill in or leave out"),
    (TETRA.replace(*SYSTEM_8), "node 3 is given in coordinate system 8, which is not defined"),
    (TETRA.replace(*SYSTEM_8) + "CORD1R,8,1,2,4\n", "line 6: CORD1R: nodes in this kind of system"),
    (TETRA.replace(*SYSTEM_8) + "CORD2R,8,8,0.,0.,0.,0.,0.,1.\n,1.,0.,0.\n", "each other in a circle"),
    (TETRA.replace(*SYSTEM_8) + "CORD2R,8,,0.,0.,0.,0.,0.,1.\n,0.,0.,2.\n", "three points lie on a line"),
    (TETRA + "SET1,1,1,THRU\n", "line 6: SET1: cannot read '1 THRU' as a list"),
    (TETRA + "CTRIAX6,1,1,2,3\n", "line 6: CTRIAX6: elements of this type are not known"),
    (TETRA + "INCLUDE 'gone.bdf'\n", "line 6: INCLUDE: the file 'gone.bdf' is not there"),
    ("nothing here\n", "found 0 GRID cards and 0 elements"),
])  # fmt: skip
def test_mistakes_are_named_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(MeshError, match=message):
        read(tmp_path, text)
