"""What holds for every format: which cells make the mesh, what becomes of the rest, sizes, and damaged files."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path

import numpy as np
import pytest

from flexmbs.errors import MeshError, MeshWarning
from flexmbs.mesh import Mesh
from flexmbs.mesh.formats.contents import FileContents
from flexmbs.mesh.normalise import mesh_data

DATA = Path(__file__).parent / "data"
FILES = sorted(
    p.name
    for p in DATA.iterdir()
    if p.suffix in {".msh", ".inp", ".bdf", ".fem", ".nas", ".vtk", ".vtu", ".med", ".unv"}
)

POINTS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [9, 9, 9], [8, 8, 8.0]])
TETRA = ("tetra", np.array([[0, 1, 2, 3]]))


def made(*blocks: tuple[str, np.ndarray], dimension: int | None = None, **groups: dict[str, np.ndarray]) -> Mesh:
    contents = FileContents(POINTS, [TETRA, *blocks], **groups)
    return Mesh(**mesh_data(contents, "made", dimension))


class TestDimensions:
    def test_boundary_cells_become_faces_and_edges_nodes(self) -> None:
        blocks = [("triangle", np.array([[2, 1, 0]])), ("line", np.array([[3, 1]])), ("vertex", np.array([[2]]))]
        mesh = made(*blocks, cell_groups={"marks": np.array([0, 1, 2, 3])})
        np.testing.assert_array_equal(mesh.cell_sets["marks"], [0])
        np.testing.assert_array_equal(mesh.face_sets["marks"], [[0, 0]])
        np.testing.assert_array_equal(mesh.node_sets["marks"], [1, 2, 3])

    def test_straight_lines_on_a_quadratic_mesh_mark_its_midside_nodes_too(self) -> None:
        solid, points = ("tetra10", np.arange(10)[None, :]), np.random.default_rng(7).random((10, 3))
        contents = FileContents(points, [solid, ("line", np.array([[1, 0]]))], cell_groups={"edge": np.array([1])})
        np.testing.assert_array_equal(mesh_data(contents, "made")["node_sets"]["edge"], [0, 1, 4])

    def test_unattached_nodes_are_dropped_also_from_sets(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.INFO):
            mesh = made(node_groups={"reference": np.array([4]), "mixed": np.array([0, 4])})
        assert mesh.n_nodes == 4
        assert set(mesh.sets) == {"mixed"}
        assert "'reference'" in caplog.text

    def test_a_vertex_on_nothing_is_a_construction_point(self) -> None:
        assert made(("vertex", np.array([[4]]))).n_nodes == 4

    @pytest.mark.parametrize(("kind", "nodes"), [("triangle", [[0, 1, 4]]), ("line", [[4, 5]]), ("line", [[0, 4]])])
    def test_other_cells_are_refused_with_counts_and_can_be_left_out(self, kind: str, nodes: list[list[int]]) -> None:
        block = (kind, np.array(nodes))
        lower = {"triangle": 2, "line": 1}[kind]
        with pytest.raises(MeshError, match=rf"beside 1 tetra the file holds 1 {kind} that are no faces.*dimension=3"):
            made(block)
        assert made(block, dimension=3).cells[0].type == "tetra"
        assert made(block, dimension=lower).cells[0].type == kind

    def test_an_edge_across_the_inside_is_no_edge(self) -> None:
        square = ("quad", np.array([[0, 1, 2, 3]]))
        with pytest.raises(MeshError, match="1 line that are no faces or edges"):
            Mesh(**mesh_data(FileContents(POINTS, [square, ("line", np.array([[0, 2]]))]), "made"))

    def test_no_cells_of_the_dimension_asked_for(self) -> None:
        with pytest.raises(MeshError, match="no cells of dimension 2; the file holds 1 tetra"):
            made(dimension=2)
        with pytest.raises(MeshError, match="holds no cells"):
            mesh_data(FileContents(POINTS, []), "empty")

    def test_dimension_2_of_a_solid_is_its_marked_surface(self) -> None:
        mesh = Mesh.read(DATA / "box41.msh", dimension=2)
        assert mesh.dimension == 2
        assert {"root", "tip", "surface 12"} <= set(mesh.cell_sets)
        assert "left" not in mesh.sets


def test_blocks_of_a_type_are_joined_and_sets_follow() -> None:
    other = ("hexahedron27", np.arange(27)[None, :])
    points = np.random.default_rng(7).random((30, 3))
    blocks = [("tetra", np.array([[0, 1, 2, 3]])), other, ("tetra", np.array([[4, 5, 6, 7]]))]
    data = mesh_data(FileContents(points, blocks, cell_groups={"last": np.array([2]), "brick": np.array([1])}), "made")
    assert [(b.type, len(b)) for b in data["cells"]] == [("tetra", 2), ("hexahedron20", 1)]
    np.testing.assert_array_equal(data["cell_sets"]["last"], [1])
    np.testing.assert_array_equal(data["cell_sets"]["brick"], [2])
    assert len(data["points"]) == 20


@pytest.mark.parametrize(
    ("kind", "count", "advice"), [("pyramid13", 13, "tetra10"), ("tetra20", 20, "linear or quadratic")]
)
def test_cells_of_other_kinds_are_refused(kind: str, count: int, advice: str) -> None:
    with pytest.raises(MeshError, match=rf"made: 1 cells of type '{kind}'.*{advice}"):
        mesh_data(FileContents(np.zeros((count, 3)), [(kind, np.arange(count)[None, :])]), "made")


class TestSize:
    def test_scale(self) -> None:
        np.testing.assert_allclose(Mesh.read(DATA / "box41.msh", scale=1e-3).points.max(axis=0), [2e-3, 1e-3, 1e-3])

    @pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf])
    def test_scale_must_be_positive(self, scale: float) -> None:
        with pytest.raises(MeshError, match="scale must be a positive number"):
            Mesh.read(DATA / "box41.msh", scale=scale)

    @pytest.mark.parametrize(("scale", "advice"), [(1e3, "scale=1e-3"), (1e-5, "scale= multiplies")])
    def test_implausible_sizes_are_warned_about(self, scale: float, advice: str) -> None:
        with pytest.warns(MeshWarning, match=advice) as caught:
            Mesh.read(DATA / "box41.msh", scale=scale)
        assert caught[0].filename == __file__


def test_groups_that_gmsh_names_and_drops_are_warned_about(tmp_path: Path) -> None:
    """Version 2.2 saved with all elements: Gmsh writes the names, and 0 for the group of every element."""
    nodes = "".join(f"{k + 1} {x} {y} {z}\n" for k, (x, y, z) in enumerate(POINTS[:4]))
    text = '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 "body"\n$EndPhysicalNames\n'
    text += f"$Nodes\n4\n{nodes}$EndNodes\n$Elements\n1\n1 4 2 TAG 1 1 2 3 4\n$EndElements\n"
    path = tmp_path / "all.msh"
    path.write_text(text.replace("TAG", "0"))
    with pytest.warns(MeshWarning, match="names the groups body, but no element") as caught:
        assert Mesh.read(path).sets == ()
    assert caught[0].filename == __file__
    path.write_text(text.replace("TAG", "1"))
    assert Mesh.read(path).sets == ("body",)


class TestDamage:
    def test_missing_empty_folder_and_unknown(self, tmp_path: Path) -> None:
        with pytest.raises(MeshError, match=r"gone\.msh: no such file"):
            Mesh.read(tmp_path / "gone.msh")
        (tmp_path / "rod.inp").write_text("*NODE\n")
        with pytest.raises(MeshError, match=r"no such file. There is rod\.inp"):
            Mesh.read(tmp_path / "rod.msh")
        (tmp_path / "empty.vtu").touch()
        with pytest.raises(MeshError, match=r"empty\.vtu: the file is empty"):
            Mesh.read(tmp_path / "empty.vtu")
        with pytest.raises(MeshError, match="is a folder"):
            Mesh.read(tmp_path)
        (tmp_path / "part.step").write_text("ISO-10303-21;")
        with pytest.raises(MeshError, match=r"unknown extension '\.step'. Known are .*\.bdf"):
            Mesh.read(tmp_path / "part.step")

    @pytest.mark.parametrize("name", FILES)
    def test_truncated_files_are_refused_or_read_as_far_as_they_go(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str
    ) -> None:
        whole = (DATA / name).read_bytes()
        path = tmp_path / name
        for include in DATA.glob("*.inc"):
            (tmp_path / include.name).write_bytes(include.read_bytes())
        for part in (0.02, 0.3, 0.55, 0.9):
            path.write_bytes(whole[: int(part * len(whole))])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MeshWarning)
                message = name
                try:
                    Mesh.read(path)
                except MeshError as error:
                    message = str(error)
            assert name in message
        assert capfd.readouterr() == ("", "")

    @pytest.mark.parametrize("suffix", [".msh", ".inp", ".bdf", ".vtk", ".vtu", ".med", ".xdmf", ".stl", ".mesh"])
    def test_binary_junk_is_refused_without_a_word_on_the_terminal(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str], suffix: str
    ) -> None:
        path = tmp_path / f"junk{suffix}"
        path.write_bytes(np.random.default_rng(7).bytes(3000))
        with pytest.raises(MeshError, match=rf"junk\{suffix}"):
            Mesh.read(path)
        assert capfd.readouterr() == ("", "")

    @pytest.mark.parametrize(("old", "new", "message"), [
        (b"4.1 0 8", b"4 0 8", "is Gmsh format 4; flexmbs reads 2.2 and 4.1"),
        (b"4.1 0 8", b"1.0 0 8", "is Gmsh format 1.0"),
        (b"$MeshFormat", b"$NOD", "does not begin with"),
        (b"$EndElements", b"", r"ends inside \$Elements"),
        (b"$Nodes", b"$Points", "no \\$Nodes|ends inside"),
        (b"$EndNodes\n", b"$EndNodes\nrubbish\n", "cannot be understood at line"),
        (b"$Nodes\n", b"$Nodes\nx ", r"something in \$Nodes that is no number"),
        (b"$Entities\n", b"$PartitionedEntities\n$EndPartitionedEntities\n$Entities\n", "is partitioned"),
    ])  # fmt: skip
    def test_gmsh_files_say_what_is_wrong(self, tmp_path: Path, old: bytes, new: bytes, message: str) -> None:
        path = tmp_path / "bad.msh"
        whole = (DATA / "box41.msh").read_bytes()
        assert old in whole
        path.write_bytes(whole.replace(old, new, 1))
        with pytest.raises(MeshError, match=message):
            Mesh.read(path)

    @pytest.mark.parametrize(
        ("name", "section", "row"), [("box41.msh", b"$Elements", 2), ("box22.msh", b"$Elements", 2)]
    )
    def test_gmsh_cells_of_higher_order_are_refused(self, tmp_path: Path, name: str, section: bytes, row: int) -> None:
        head, tail = (DATA / name).read_bytes().split(section)
        lines = tail.split(b"\n")
        fields = lines[row].split()
        fields[2 if b"4.1" in head else 1] = b"29"
        lines[row] = b" ".join(fields)
        (tmp_path / "cubic.msh").write_bytes(head + section + b"\n".join(lines))
        with pytest.raises(MeshError, match=r"cells of Gmsh's type 29; save it with Mesh\.ElementOrder"):
            Mesh.read(tmp_path / "cubic.msh")
