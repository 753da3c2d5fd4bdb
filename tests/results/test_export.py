"""Results for other programs: what VTK, NumPy and pandas read is what the result says."""

from __future__ import annotations

import csv
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexmbs as fm
from flexmbs.errors import AnalysisError, FileError
from flexmbs.results import exporting


@pytest.fixture(scope="module")
def motion() -> fm.Result:
    """A driven shaft with a solid beam at its end, a rigid ball, a body without a shape, and one in the plane."""
    ground, steel = fm.Ground(shape=fm.shapes.Plate([[0, 0], [0.1, 0], [0, 0.1]])), fm.Material(2e11, 0.3, 7800.0)
    shaft = fm.RigidBody.cylinder("shaft", 0.05, 0.2, 1000.0)
    ball = fm.RigidBody.sphere("ball", 0.02, 1000.0)
    bare = fm.RigidBody("bare", 0.1, (1e-3, 1e-3, 1e-3))
    beam = fm.FlexibleBody(
        "beam", fm.Mesh.box((0.5, 0.02, 0.02), (4, 1, 1), cell="hexahedron20"), steel, interfaces=["x0", "x1"],
        reduction=fm.CraigBampton(modes=2),
    )  # fmt: skip
    hinge = fm.Revolute("hinge", ground.at(0, 0, 0), shaft.at(0, 0, 0))
    joints = [
        hinge,
        fm.Fixed("root", shaft.at(0.05, 0, 0), beam.at("x0")),
        fm.Drive("drive", hinge.angle, fm.SpinUp(5.0, 0.05)),
        fm.Spherical("hook", beam.at("x1"), ball.at(0.02, 0, 0)),
        fm.Spherical("link", ball.at(-0.02, 0, 0), bare.at(0.1, 0, 0)),
    ]
    system = fm.System([ground, shaft, beam, ball, bare], joints, [fm.Gravity((0, 0, -9.81))])
    return fm.forward_dynamics(system, 0.1, 1e-3, output_step=1e-2)


def grid(path: Path, kind: str, step: int | None = None) -> Any:
    """What VTK's own reader finds."""
    module, name = {"vtu": ("vtkIOXML", "vtkXMLUnstructuredGridReader"), "hdf": ("vtkIOHDF", "vtkHDFReader")}[kind]
    reader = getattr(import_module(f"vtkmodules.{module}"), name)()
    reader.SetFileName(str(path))
    if step is not None:
        reader.SetStep(step)
    reader.Update()
    return reader


def numbers(data: Any) -> Any:
    return import_module("vtkmodules.util.numpy_support").vtk_to_numpy(data)


def check(found: Any, motion: Any, k: int) -> None:
    """Points, displacement and stress of a grid are those of an instant."""
    beam, ball = motion.system.named("beam"), motion.system.named("ball")
    points, fields = numbers(found.GetPoints().GetData()), found.GetPointData()
    owner = numbers(found.GetCellData().GetArray("body"))
    corners = []
    for c in range(found.GetNumberOfCells()):
        cell = found.GetCell(c)  # valid until the next one
        corners.append([cell.GetPointId(i) for i in range(cell.GetNumberOfPoints())])
    mine = {
        motion.system.bodies[b].name: np.unique(np.concatenate([corners[c] for c in np.flatnonzero(owner == b)]))
        for b in np.unique(owner)
    }
    assert set(mine) == {"ground", "shaft", "beam", "ball", "bare"}
    nodes = beam.reduced.mesh.nodes("all")
    skin = np.unique(np.concatenate([t.ravel() for t in faces(beam.reduced.mesh)]))
    assert len(mine["beam"]) == len(skin) <= len(nodes)
    t = float(motion.t[k])
    assert points[mine["beam"]] == pytest.approx(motion.deformed(beam, at=t)[skin], abs=1e-6)
    assert points[mine["ball"]].mean(axis=0) == pytest.approx(motion.position(ball)[k], abs=1e-6)
    tip = points[mine["bare"]] - motion.position(motion.system.named("link").frame_i)[k]
    assert np.linalg.norm(tip, axis=1).min() < 1e-6  # the stick ends at its joint
    moved = motion.displacement(beam, at=t, corrected=False)[skin] @ motion.rotation(beam)[k].T
    assert numbers(fields.GetArray("displacement"))[mine["beam"]] == pytest.approx(moved, abs=1e-7)
    stress = motion.von_mises(beam, at=t)[skin]
    assert numbers(fields.GetArray("von_mises"))[mine["beam"]] == pytest.approx(
        stress, rel=1e-5, abs=1e-3 * stress.max()
    )


def faces(mesh: Any) -> list[Any]:
    return [table for _, table in import_module("flexmbs.mesh.topology").group_faces(mesh.cells, mesh.boundary)]


def test_one_file_for_paraview(motion: fm.Result, tmp_path: Path) -> None:
    motion.export(tmp_path / "motion.vtkhdf")
    reader = grid(tmp_path / "motion.vtkhdf", "hdf", 7)
    assert reader.GetNumberOfSteps() == len(motion.t)
    assert reader.GetTimeValue() == pytest.approx(motion.t[7])
    check(reader.GetOutputAsDataSet(), motion, 7)
    motion.export(tmp_path / "some.vtkhdf", at=[0.02, 0.05])
    reader = grid(tmp_path / "some.vtkhdf", "hdf", 1)
    assert reader.GetNumberOfSteps() == 2
    check(reader.GetOutputAsDataSet(), motion, 5)


def test_the_file_of_a_result_is_one_for_paraview_too(motion: fm.Result, tmp_path: Path) -> None:
    motion.save(tmp_path / "motion.h5")
    reader = grid(tmp_path / "motion.h5", "hdf", 3)
    assert reader.CanReadFile(str(tmp_path / "motion.h5"))
    assert reader.GetNumberOfSteps() == len(motion.t)
    check(reader.GetOutputAsDataSet(), motion, 3)

    def look(t: float) -> None:
        going = grid(tmp_path / "run.h5", "hdf")  # also while the run goes on
        assert going.GetNumberOfSteps() == 1
        assert going.GetOutputAsDataSet().GetNumberOfPoints() == reader.GetOutputAsDataSet().GetNumberOfPoints()

    fm.forward_dynamics(motion.system, 0.02, 1e-3, save=tmp_path / "run.h5", progress=look)
    assert grid(tmp_path / "run.h5", "hdf").GetNumberOfSteps() == 21


def test_long_results_show_some_of_their_instants(tmp_path: Path) -> None:
    ground, ball = fm.Ground(), fm.RigidBody.sphere("ball", 0.1, 1000.0)
    fall = fm.forward_dynamics(fm.System([ground, ball], [], [fm.Gravity((0, 0, -9.81))]), 1.0, 1e-3)
    fall.save(tmp_path / "fall.h5")
    reader = grid(tmp_path / "fall.h5", "hdf", 199)
    assert reader.GetNumberOfSteps() == 200
    assert reader.GetTimeValue() == 1.0


def test_series_and_single_files(motion: fm.Result, tmp_path: Path) -> None:
    motion.export(tmp_path / "motion.pvd", at=[0.0, 0.03])
    text = (tmp_path / "motion.pvd").read_text()
    assert 'timestep="0.03" part="0" file="motion/motion_1.vtu"' in text
    check(grid(tmp_path / "motion" / "motion_1.vtu", "vtu").GetOutput(), motion, 3)
    motion.export(tmp_path / "last.vtu")
    check(grid(tmp_path / "last.vtu", "vtu").GetOutput(), motion, len(motion.t) - 1)
    motion.export(tmp_path / "folder", at=[0.0])
    assert (tmp_path / "folder" / "motion.pvd").exists()
    with pytest.raises(AnalysisError, match=r"one \.vtu file is one instant"):
        motion.export(tmp_path / "two.vtu", at=[0.0, 0.1])


def test_tables(motion: fm.Result, tmp_path: Path) -> None:
    motion.export(tmp_path / "motion.csv")
    with (tmp_path / "motion.csv").open() as file:
        rows = list(csv.reader(file))
    columns = dict(zip(rows[0], np.array(rows[1:], dtype=float).T, strict=True))
    system = motion.system
    assert np.array_equal(columns["t"], motion.t)
    assert np.array_equal(columns["ball.position.z"], motion.position(system.named("ball"))[:, 2])
    assert np.array_equal(columns["hinge.reaction.My"], motion.reaction(system.named("hinge"))[:, 4])
    assert np.array_equal(columns["drive.reaction"], motion.reaction(system.named("drive")))
    assert np.array_equal(columns["beam.elastic.1"], motion.elastic(system.named("beam"))[:, 0])
    assert np.array_equal(columns["energy.total"], motion.energy.total)
    motion.export(tmp_path / "motion.npz")
    arrays = np.load(tmp_path / "motion.npz")
    assert np.array_equal(arrays["q"], motion.q)
    assert np.array_equal(arrays["ball.velocity"], motion.velocity(system.named("ball")))
    assert arrays["hinge.reaction"].shape == (len(motion.t), 6)


def test_names_in_tables_may_hold_anything(tmp_path: Path) -> None:
    ground, arm = fm.Ground(), fm.PlanarBody('arm, "left"', 1.0, 0.1)
    hinge = fm.planar.Revolute("hinge", ground.at(0, 0), arm.at(-0.1, 0))
    motion = fm.forward_dynamics(fm.System([ground, arm], [hinge]), 0.1, 0.1)
    motion.export(tmp_path / "motion.csv")
    with (tmp_path / "motion.csv").open() as file:
        names = next(csv.reader(file))
    assert 'arm, "left".position.x' in names
    assert {"hinge.reaction.Fx", "hinge.reaction.Fy", "hinge.reaction.Mz"} <= set(names)


def test_pandas(motion: fm.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    class Frame:
        def __init__(self, columns: Any) -> None:
            self.columns = columns

        def set_index(self, name: str) -> tuple[str, Any]:
            return name, self.columns

    fake = type(sys)("pandas")
    fake.DataFrame = Frame  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", fake)
    index, columns = motion.to_pandas()
    assert index == "t"
    assert np.array_equal(columns["energy.kinetic"], motion.energy.kinetic)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(AnalysisError, match="pip install pandas"):
        motion.to_pandas()


def test_kinematics_has_no_reactions(tmp_path: Path) -> None:
    ground, arm = fm.Ground(), fm.PlanarBody("arm", 1.0, 0.1)
    hinge = fm.planar.Revolute("hinge", ground.at(0, 0), arm.at(-0.1, 0))
    system = fm.System([ground, arm], [hinge, fm.Drive("d", hinge.angle, fm.ConstantSpeed(1.0))])
    names = exporting.table(fm.kinematics(system, [0.0, 0.1]))
    assert not any("reaction" in name for name in names)


def test_what_cannot_be_exported(motion: fm.Result, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"exported as \.vtkhdf, .*not as '\.xyz'"):
        motion.export(tmp_path / "motion.xyz")
    with pytest.raises(FileError, match="named by a string or a path"):
        motion.export(3)  # type: ignore[arg-type]
    with pytest.raises(FileError, match="there is no folder"):
        motion.export(tmp_path / "none" / "motion.csv")
    with pytest.raises(AnalysisError, match="at= takes"):
        motion.export(tmp_path / "motion.vtu", at="now")
    with pytest.raises(FileError, match="no instants"):
        motion.at([]).export(tmp_path / "motion.csv")


def test_beams_show_the_stress_that_the_result_has(tmp_path: Path) -> None:
    """A beam that was let go vibrates: its section forces balance the inertia forces within each element."""
    steel, ground = fm.Material(2e11, 0.3, 7800.0), fm.Ground()
    beam = fm.FlexibleBody(
        "beam", fm.Mesh.line((0, 0, 0), (1, 0, 0), 4), steel, section=fm.Section.rectangle(0.02, 0.01),
        interfaces=["start", "end"], reduction=fm.CraigBampton(modes=3),
    )  # fmt: skip
    hinge = fm.Revolute("hinge", ground.at(0, 0, 0), beam.at("start"))
    motion = fm.forward_dynamics(fm.System([ground, beam], [hinge], [fm.Gravity((0, -9.81, 0))]), 0.02, 1e-4)
    motion.export(tmp_path / "beam.vtu")
    found = grid(tmp_path / "beam.vtu", "vtu").GetOutput().GetPointData()
    stress = motion.von_mises(beam)
    assert stress.max() > 1e4
    assert numbers(found.GetArray("von_mises")) == pytest.approx(stress, rel=1e-6, abs=1e-6 * stress.max())
