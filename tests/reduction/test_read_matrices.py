"""M and K of other programs: a real run of CalculiX, and files written by the rules of Abaqus and Nastran."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from parts import STEEL

import flexmbs as fm
from flexmbs.errors import ModelError
from flexmbs.reduction import CraigBampton, Part, ReducedPart, read_matrices, reduce

DATA = Path(__file__).parent / "data"


def bar() -> fm.Elements:
    """The part of data/bar.inp."""
    return fm.Elements(fm.Mesh.box((0.2, 0.02, 0.03), (2, 1, 1), cell="hexahedron"), STEEL, formulation="plain")


def own() -> tuple[sp.csr_array, sp.csr_array]:
    elements = bar()
    return tuple(elements.assemble(b) for b in (elements.stiffness(), elements.mass()))  # type: ignore[return-value]


def reduced(model: fm.Elements | Part) -> ReducedPart:
    return reduce(model, CraigBampton(4), interfaces=["x0", "x1"], stiffening=False)


@pytest.mark.parametrize("name", ["bar.sti", "bar.mas", "bar.dof", "bar"])
def test_calculix(name: str) -> None:
    found = read_matrices(DATA / name)
    k, m = own()
    assert_allclose(found.stiffness.toarray(), k.toarray(), atol=1e-12 * k.max())
    assert_allclose(found.mass.toarray(), m.toarray(), atol=1e-12 * m.max())
    part = found.part(bar().mesh)
    one, two = reduced(part), reduced(bar())
    assert_allclose(one.constants.stiffness, two.constants.stiffness, rtol=1e-8)
    assert_allclose(one.constants.second, two.constants.second, rtol=1e-10)
    assert one.cases.K_g.shape[0] == 0  # without elements there is no stress


def abaqus(path: Path, matrix: sp.csr_array) -> Path:
    """*MATRIX OUTPUT, FORMAT=MATRIX INPUT: lower triangle, node, component, node, component, value."""
    lower = sp.tril(matrix, format="coo")
    rows = zip(lower.row, lower.col, lower.data, strict=True)
    text = [f"{i // 3 + 1},{i % 3 + 1}, {j // 3 + 1},{j % 3 + 1},  {v:.16e}" for i, j, v in rows]
    path.write_text("\n".join(["** matrix", *text]))
    return path


def nastran(path: Path, large: bool) -> Path:
    """DMIG cards, column by column from the diagonal down, in large fields with D exponents or free fields."""
    lines = ["$ written for a test"]
    for name, matrix in zip(("KAAX", "MAAX"), own(), strict=True):
        dense = matrix.toarray()
        head = f"DMIG    {name:<8}{0:>8}{6:>8}{2:>8}{0:>8}{'':>8}{'':>8}{len(dense):>8}"
        lines.append(head if large else f"DMIG,{name},0,6,2,0,,,{len(dense)}")
        for j, column in enumerate(dense.T):
            entries = [(i // 3 + 1, i % 3 + 1, column[i]) for i in range(j, len(dense)) if column[i]]
            if large:
                lines.append(f"DMIG*   {name:<16}{j // 3 + 1:>16}{j % 3 + 1:>16}")
                lines += [f"*       {g:>16}{c:>16}{f'{v:.9E}'.replace('E', 'D'):>16}" for g, c, v in entries]
            else:
                first, *rest = [f"{g},{c},{v:.12e},0." for g, c, v in entries]
                lines.append(f"DMIG,{name},{j // 3 + 1},{j % 3 + 1},,{first}")
                lines += [f",{','.join(rest[k : k + 2])}" for k in range(0, len(rest), 2)]
    path.write_text("\n".join(lines))
    return path


def test_abaqus(tmp_path: Path) -> None:
    k, m = own()
    found = read_matrices(abaqus(tmp_path / "job_STIF1.mtx", k), mass=abaqus(tmp_path / "job_MASS1.mtx", m))
    assert_allclose(found.stiffness.toarray(), k.toarray(), atol=1e-14 * k.max())
    assert_allclose(found.mass.toarray(), m.toarray(), atol=1e-14 * m.max())
    assert_allclose(reduced(found.part(bar().mesh)).constants.stiffness, reduced(bar()).constants.stiffness, rtol=1e-8)


@pytest.mark.parametrize(("large", "digits"), [(True, 1e-9), (False, 1e-12)])
def test_nastran(tmp_path: Path, large: bool, digits: float) -> None:
    found = read_matrices(nastran(tmp_path / "job.pch", large))
    k, m = own()
    assert_allclose(found.stiffness.toarray(), k.toarray(), atol=digits * k.max())
    assert_allclose(found.mass.toarray(), m.toarray(), atol=digits * m.max())
    assert found.nodes[3] == 2
    assert found.components[3] == 1


def test_small_fields_and_numbers_without_e(tmp_path: Path) -> None:
    text = """
DMIG    KGG            0       6       2       0                       2
DMIG    KGG            1       1               1       1   1.5+3
DMIG    KGG            2       1               1       1  -1.5D3       0       2       1   1.5E3
DMIG    MGG            0       6       2       0                       2
DMIG    MGG            1       1               1       1     2.0
DMIG    MGG            2       1               2       1    2.-1
"""
    path = tmp_path / "small.dat"
    path.write_text(text.replace("-1.5D3       0       2       1   1.5E3", "-1.5D3\n               2       1   1.5E3"))
    found = read_matrices(path)
    assert_allclose(found.stiffness.toarray(), [[1500.0, -1500.0], [-1500.0, 1500.0]])
    assert_allclose(found.mass.toarray(), np.diag([2.0, 0.2]))


def test_nodes_may_be_numbered_as_they_like() -> None:
    """Nodes of the mesh in another order than in the file."""
    found = read_matrices(DATA / "bar")
    order = np.random.default_rng(7).permutation(12)
    mesh = bar().mesh.renumbered(order)
    part = found.part(mesh, numbers=order + 1)
    assert_allclose(reduced(part).constants.stiffness, reduced(bar()).constants.stiffness, rtol=1e-8)


def test_points_alone_are_enough() -> None:
    part = read_matrices(DATA / "bar").part(bar().mesh.points)
    free = reduce(part, CraigBampton(3), interfaces=[[0, 1, 2, 3]], frame="mean")
    assert free.size == 3
    assert free.constants.mass == pytest.approx(7850 * 0.2 * 0.02 * 0.03)


def test_files_that_do_not_serve_are_refused(tmp_path: Path) -> None:
    k, m = own()
    stiff = abaqus(tmp_path / "k.mtx", k)
    with pytest.raises(ModelError, match="give the other as mass="):
        read_matrices(stiff)
    held = k.copy().tolil()
    held[0, 0] = 1e36
    with pytest.raises(ModelError, match="supports are built into"):
        read_matrices(abaqus(tmp_path / "held.mtx", held.tocsr()), mass=abaqus(tmp_path / "m.mtx", m))
    (tmp_path / "coordinates.mtx").write_text("1 1 5.0\n")
    with pytest.raises(ModelError, match="FORMAT=MATRIX INPUT"):
        read_matrices(tmp_path / "coordinates.mtx", mass=stiff)
    with pytest.raises(ModelError, match="cannot be read"):
        read_matrices(tmp_path / "nothing.sti")
    (tmp_path / "empty.pch").write_text("GRID,1,,0.,0.,0.\n")
    with pytest.raises(ModelError, match="found none"):
        read_matrices(tmp_path / "empty.pch")
    (tmp_path / "unsymmetric.pch").write_text("DMIG,KAAX,0,2,2,0\n")
    with pytest.raises(ModelError, match="has form 2"):
        read_matrices(tmp_path / "unsymmetric.pch")
    for name in ("bar.sti", "bar.mas"):
        shutil.copy(DATA / name, tmp_path)
    (tmp_path / "bar.dof").write_text("1.1\n1.2\n")
    with pytest.raises(ModelError, match="has no line in the"):
        read_matrices(tmp_path / "bar.sti")


def test_matrices_that_do_not_fit_the_part_are_refused() -> None:
    found = read_matrices(DATA / "bar")
    mesh = bar().mesh
    with pytest.raises(ModelError, match="is not in the mesh"):
        found.part(mesh, numbers=np.arange(12) + 5)
    with pytest.raises(ModelError, match="one for each"):
        found.part(mesh, numbers=[1, 2])
    k, m = own()
    with pytest.raises(ModelError, match="rigid motion"):
        Part.of_matrices(mesh, m, k + sp.diags_array(np.full(36, 1e9)))
    with pytest.raises(ModelError, match="differs between directions"):
        Part.of_matrices(mesh, sp.diags_array(np.arange(1.0, 37.0)), k)
    with pytest.raises(ModelError, match="not symmetric"):
        Part.of_matrices(mesh, m, sp.triu(k))
    with pytest.raises(ModelError, match="for every node"):
        Part.of_matrices(mesh.points[:6], m, k)
    with pytest.raises(ModelError, match="mass matrix is zero"):
        Part.of_matrices(mesh, 0 * m, k)
    held = read_matrices(DATA / "bar")
    fewer = type(held)(held.mass[3:][:, 3:], held.stiffness[3:][:, 3:], held.nodes[3:], held.components[3:])
    with pytest.raises(ModelError, match="3 coordinates are missing, the first is x of node 1"):
        fewer.part(mesh)
