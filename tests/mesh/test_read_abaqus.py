"""Abaqus input files in the manner of Abaqus/CAE and CalculiX, and their mistakes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flexmbs.errors import MeshError
from flexmbs.mesh import Mesh
from flexmbs.mesh.cells import CELLS
from flexmbs.mesh.formats.abaqus_elements import cell_of
from flexmbs.mesh.integrals import cell_volumes, face_geometry
from flexmbs.mesh.topology import group_faces

DATA = Path(__file__).parent / "data"

TETRA = """*node
1, 0, 0, 0
2, 1, 0, 0
3, 0, 1, 0
4, 0, 0, 1
*element, type=c3d4, elset=solid
11, 1, 2, 3, 4
"""


def read(folder: Path, text: str, **options: int) -> Mesh:
    path = folder / "model.inp"
    path.write_text(text)
    return Mesh.read(path, **options)


def normals(mesh: Mesh, name: str) -> list[tuple[float, ...]]:
    """Area vectors of the faces of a set, sorted."""
    parts = [
        face_geometry(mesh.points, kind, n)[2].sum(axis=1) for kind, n in group_faces(mesh.cells, mesh.face_sets[name])
    ]
    return sorted(tuple(np.round(v, 9) + 0.0) for v in np.concatenate(parts))


class TestAssembly:
    mesh = Mesh.read(DATA / "cae_assembly.inp")

    def test_instances_are_placed_by_translation_then_rotation(self) -> None:
        # The second block lay along z from (3, 0, 0); turned by 90 degrees about y there, it lies along x.
        first, second = (self.mesh.points[self.mesh.nodes(f"Block-{k}")] for k in (1, 2))
        np.testing.assert_allclose([first.min(axis=0), first.max(axis=0)], [[0, 0, 0], [1, 1, 2]])
        np.testing.assert_allclose([second.min(axis=0), second.max(axis=0)], [[3, 0, -1], [5, 1, 0]], atol=1e-12)
        assert (cell_volumes(self.mesh.points, "hexahedron", self.mesh.cells[0].nodes) > 0).all()

    def test_sets_of_parts_assembly_and_across_instances(self) -> None:
        bottom = self.mesh.points[self.mesh.node_sets["Block-1.Bottom"]]
        np.testing.assert_allclose(bottom[:, 2], 0)
        np.testing.assert_allclose(self.mesh.points[self.mesh.node_sets["Block-2.Bottom"]][:, 0], 3)
        np.testing.assert_allclose(self.mesh.points[self.mesh.node_sets["Top-1"]][:, 2], 2)
        assert len(self.mesh.node_sets["Both"]) == 4 + 4 + 1
        np.testing.assert_array_equal(self.mesh.cell_sets["Lower"], [0, 2])
        np.testing.assert_array_equal(self.mesh.cell_sets["Block-2.Body"], [2, 3])

    def test_surfaces(self) -> None:
        assert normals(self.mesh, "Side") == [(-1, 0, 0), (1, 0, 0), (1, 0, 0)]
        assert len(normals(self.mesh, "Skin-1")) == 10  # the free faces of two bricks
        assert len(self.mesh.face_sets["Everything"]) == 11
        np.testing.assert_array_equal(self.mesh.node_sets["Top-nodes"], self.mesh.node_sets["Top-1"])

    def test_internal_sets_and_reference_points_are_left_out(self) -> None:
        assert not [name for name in self.mesh.sets if name.startswith("_")]
        assert "RP" not in self.mesh.sets
        assert self.mesh.n_nodes == 24

    def test_sets_of_a_single_instance_keep_their_names(self, tmp_path: Path) -> None:
        text = (
            (DATA / "cae_assembly.inp")
            .read_text()
            .replace(" Block-1.Bottom, Block-2.Bottom\n Block-2.210\n", "Block-1.Bottom\n")
        )
        start, end = text.index("*Instance, name=Block-2"), text.index("*Node\n      1,")
        text = text[:start] + text[end:]
        text = text.replace("Block-2\n 7,\n", "Block-1\n 7,\n").replace("instance=Block-2\n 7", "instance=Block-1\n 7")
        assert set(read(tmp_path, text).sets) >= {"Bottom", "Body", "Side", "Both"}


class TestCalculix:
    mesh = Mesh.read(DATA / "calculix_beam.inp")

    def test_records_over_several_lines_and_shared_sets(self) -> None:
        assert [b.type for b in self.mesh.cells] == ["hexahedron20", "wedge15"]
        for block, volume in zip(self.mesh.cells, (1.0, 0.5), strict=True):
            np.testing.assert_allclose(cell_volumes(self.mesh.points, block.type, block.nodes), volume)
            for a, b, middle in CELLS[block.type].edges:
                ends = self.mesh.points[block.nodes[:, [a, b]]].mean(axis=1)
                np.testing.assert_allclose(self.mesh.points[block.nodes[:, middle]], ends)
        np.testing.assert_array_equal(self.mesh.cell_sets["EALL"], [0, 1])
        np.testing.assert_array_equal(self.mesh.cell_sets["ALSO"], [0, 1])

    def test_nested_sets_and_nodes_of_elements(self) -> None:
        np.testing.assert_allclose(self.mesh.points[self.mesh.node_sets["FIX"]][:, 0], 0)
        assert len(self.mesh.node_sets["MORE"]) == 5
        np.testing.assert_array_equal(self.mesh.node_sets["WEDGE"], np.unique(self.mesh.cells[1].nodes))
        assert len(self.mesh.node_sets["NALL"]) == self.mesh.n_nodes  # node 99 has no element

    def test_surfaces(self) -> None:
        assert normals(self.mesh, "LOADED") == [(1, 0, 0)]
        assert normals(self.mesh, "ENDS") == [(-1, 0, 0), (1, 1, 0)]


ELEMENTS = {
    "tetra": "C3D4 C3D4H DC3D4 AC3D4",
    "tetra10": "C3D10 C3D10M C3D10HS",
    "hexahedron": "C3D8 C3D8R C3D8I SC8R COH3D8",
    "hexahedron20": "C3D20 C3D20RH",
    "hexahedron27": "C3D27",
    "pyramid": "C3D5",
    "wedge": "C3D6 SC6R",
    "wedge15": "C3D15",
    "triangle": "CPS3 CPE3H S3 S3R STRI3 R3D3 M3D3",
    "triangle6": "CPS6M STRI65 M3D6",
    "quad": "CPE4R CPS4I CPEG4 S4R5 M3D4R R3D4",
    "quad8": "CPE8R S8R SFM3D8",
    "quad9": "S9R5",
    "line": "T2D2 T3D2 B31 B31OS B21 B33 PIPE31",
    "line3": "T3D3 B32R B22",
    "": "MASS SPRINGA SPRING1 DASHPOT1 CONN3D2 ROTARYI",
    None: "CAX4 C3D99 XYZ",
}


@pytest.mark.parametrize(("element", "cell"), [(e, cell) for cell, names in ELEMENTS.items() for e in names.split()])
def test_element_types(element: str, cell: str | None) -> None:
    assert cell_of(element) == cell
    assert cell_of(element.lower()) == cell


def test_every_side_of_every_solid(tmp_path: Path) -> None:
    """Abaqus' manual: the sides by their corners, here checked by the direction they face."""
    wedge = "*node\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n5,1,0,1\n6,0,1,1\n*element,type=c3d6,elset=e\n1,1,2,3,4,5,6\n"
    sides = "".join(f"*surface,name=S{k}\ne,S{k}\n" for k in range(1, 6))
    mesh = read(tmp_path, wedge + sides)
    expected = [(0, 0, -0.5), (0, 0, 0.5), (0, -1, 0), (1, 1, 0), (-1, 0, 0)]
    assert [normals(mesh, f"S{k}") for k in range(1, 6)] == [[e] for e in expected]
    mesh = read(tmp_path, TETRA + "".join(f"*surface,name=S{k}\n11,S{k}\n" for k in range(1, 5)))
    expected = [(0, 0, -0.5), (0, -0.5, 0), (0.5, 0.5, 0.5), (-0.5, 0, 0)]
    assert [normals(mesh, f"S{k}") for k in range(1, 5)] == [[e] for e in expected]


def test_plane_mesh_with_edges_as_faces(tmp_path: Path) -> None:
    nodes = "*Node, nset=all\n1, 0., 0.\n2, 2., 0.\n3, 2., 1.\n4, 0., 1.\n"
    mesh = read(
        tmp_path, nodes + "*Element, type=CPS4R\n1, 1, 2, 3, 4\n*Surface, name=right\n1, S2\n*Surface, name=rim\n1,\n"
    )
    assert mesh.dimension == 2
    assert normals(mesh, "right") == [(1, 0, 0)]
    assert len(mesh.face_sets["rim"]) == 4


def test_beams_with_direction_nodes_and_quadratic_beams(tmp_path: Path) -> None:
    nodes = "*NODE\n1,0,0,0\n2,0.5,0,0\n3,1,0,0\n4,0,5,0\n"
    mesh = read(tmp_path, nodes + "*ELEMENT,TYPE=B31,ELSET=beam\n1,1,2,4\n2,2,3,4\n*NSET,NSET=end\n3\n")
    np.testing.assert_array_equal(mesh.cells[0].nodes, [[0, 1], [1, 2]])
    assert mesh.n_nodes == 3
    mesh = read(tmp_path, nodes + "*ELEMENT,TYPE=B32\n1,1,2,3\n")
    np.testing.assert_allclose(mesh.points[mesh.cells[0].nodes[0], 0], [0, 1, 0.5])


def test_skin_of_a_solid_becomes_faces_and_springs_are_left_out(tmp_path: Path) -> None:
    text = (
        TETRA
        + "*element,type=m3d3,elset=skin\n12,1,3,2\n*element,type=springa,elset=spring\n13,1,4\n"
        + "*elset,elset=all\n11,12,13\n"
    )
    mesh = read(tmp_path, text + "*surface,name=below\nskin,spos\n")
    assert normals(mesh, "skin") == [(0, 0, -0.5)]
    assert normals(mesh, "below") == [(0, 0, -0.5)]
    np.testing.assert_array_equal(mesh.cell_sets["all"], [0])
    assert "spring" not in mesh.sets


def test_cylindrical_nodes_and_data_in_another_file(tmp_path: Path) -> None:
    (tmp_path / "nodes.txt").write_text("1, 2., 0., 0.\n2, 2., 90., 0.\n3, 0., 0., 0.\n4, 2, 0, 1\n")
    mesh = read(tmp_path, "*NODE, SYSTEM=C, INPUT=nodes.txt\n*ELEMENT, TYPE=C3D4\n1, 3, 1, 2, 4\n")
    np.testing.assert_allclose(mesh.points, [[2, 0, 0], [0, 2, 0], [0, 0, 0], [2, 0, 1]], atol=1e-15)


@pytest.mark.parametrize(("text", "message"), [
    (TETRA.replace("3, 0, 1, 0", "3, 0, one, 0"), r"model.inp, line 4: \*NODE: 'one' is not a number"),
    (TETRA.replace("11, 1, 2, 3, 4", "11, 1, 2, 3, 5"), r"line 7: \*ELEMENT: node 5 does not exist"),
    (TETRA.replace("11, 1, 2, 3, 4", "11, 1, 2, 3"), r"line 7: \*ELEMENT: elements of type c3d4 need 5 numbers"),
    (TETRA.replace("c3d4", "cax4"), r"line 6: \*ELEMENT: element type 'cax4' is not known"),
    (TETRA.replace("type=c3d4,", ""), r"line 6: \*ELEMENT: the parameter TYPE= is missing"),
    (TETRA + "*nset, nset=a\n1, b\n", r"line 9: \*NSET: there is no node set 'b'"),
    (TETRA + "*nset, nset=a\n1, 2\n3, 77\n", r"line 10: \*NSET: node 77 does not exist"),
    (TETRA + "*elset, elset=a\nb\n*elset, elset=b\na\n", r"the set 'a' contains itself"),
    (TETRA + "*surface, name=s\nsolid, S5\n", r"line 9: \*SURFACE: a tetra has no side S5"),
    (TETRA + "*nset, nset=n, instance=I\n1\n", r"there is no instance 'I'"),
    (TETRA + "*nset, nset=n, generate\n1, x\n", r"line 9: \*NSET: GENERATE takes first, last"),
    (TETRA + "*include, input=gone.inc\n", r"line 8: \*INCLUDE: the file 'gone.inc' is not there"),
    (TETRA + "*include, input=model.inp\n", r"\*INCLUDE: files include each other"),
    (TETRA + "*ngen\n1, 4, 1\n", r"line 8: \*NGEN: is not supported"),
    ("*part, name=p\n" + TETRA + "*end part\n", r"0 nodes and 0 elements outside the parts P"),
    ("*instance, name=i, part=q\n", r"part 'q' is not defined"),
    ("hello\nworld\n", r"found 0 nodes and 0 elements"),
])  # fmt: skip
def test_mistakes_are_named_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(MeshError, match=message):
        read(tmp_path, text)
