"""Pictures: written, not empty, and the same thing shown by both renderers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

import flexmbs as fm
from flexmbs import view
from flexmbs.view import opengl
from flexmbs.view.figure import RenderWarning

STEEL = fm.Material(young=210e9, poisson=0.3, density=7850.0, name="steel")


@pytest.fixture(scope="module")
def bent() -> fm.StaticResult:
    mesh = fm.Mesh.box((0.4, 0.1, 0.05), (4, 2, 1), cell="tetra10")
    return fm.statics(mesh, STEEL, fm.Force("x1", (0.0, 0.0, -1000.0)), fixed="x0")


@pytest.fixture(scope="module")
def shapes() -> fm.Modes:
    return fm.modes(fm.Mesh.box((0.4, 0.1, 0.05), (4, 2, 1), cell="hexahedron20"), STEEL, fixed="x0", count=3)


@pytest.fixture(params=["matplotlib", "vtk"])
def renderer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Each renderer in turn; Matplotlib says that it is the second choice."""
    if request.param == "vtk":
        if not opengl.has_opengl():
            pytest.skip("no OpenGL here")
        yield "vtk"
        return
    monkeypatch.setenv("FLEXMBS_RENDERER", "matplotlib")
    with pytest.warns(RenderWarning, match="libegl1 libgl1-mesa-dri"):
        yield "matplotlib"


def inked(path: Path) -> float:
    """Part of the picture that is not white."""
    return float(np.mean(imread(path)[:, :, :3].min(axis=2) < 0.95))


def test_mesh(renderer: str, tmp_path: Path) -> None:
    path = tmp_path / "mesh.png"
    assert view.mesh(fm.Mesh.connecting_rod(), path) == path
    assert 0.2 < inked(path) < 0.8


def test_sets_are_coloured(renderer: str, tmp_path: Path) -> None:
    """A box whose upper side is a set shows that set's colour, and does not without it."""
    box = fm.Mesh.box((1.0, 1.0, 0.1), (2, 2, 1))
    share = []
    for names in (["z1"], []):
        view.mesh(box, tmp_path / "box.png", sets=names, look=(0.0, 0.01, 1.0))
        rgb = imread(tmp_path / "box.png")[:, :, :3]
        share.append(np.mean(rgb[:, :, 2] - rgb[:, :, 0] > 0.3))  # blue
    assert share[0] > 0.3
    assert share[1] < 0.01


def test_deformed(renderer: str, bent: fm.StaticResult, tmp_path: Path) -> None:
    for color in ("von_mises", "displacement", bent.displacement[:, 2]):
        path = view.deformed(bent, tmp_path / "bent.png", color=color, label="u_z [m]")
        assert path is not None
        assert 0.1 < inked(path) < 0.8


def test_mode_shapes(renderer: str, shapes: fm.Modes, tmp_path: Path) -> None:
    for path in (view.mode(shapes, 1, tmp_path / "one.png"), view.modes(shapes, tmp_path / "all.png")):
        assert path is not None
        assert 0.1 < inked(path) < 0.8


def test_plane_and_line_meshes(renderer: str, tmp_path: Path) -> None:
    plate = fm.Mesh.rectangle((1.0, 0.3), (6, 2), cell="triangle6")
    held = fm.statics(plate, STEEL, fm.Force("x1", (0.0, -1e5)), fixed="x0")
    view.deformed(held, tmp_path / "plate.png")
    beam = fm.Mesh.line((0, 0, 0), (1, 0, 0), 8)
    tube = fm.Section.tube(0.03, 0.025)
    hanging = fm.statics(beam, STEEL, fm.Force("end", (0.0, 0.0, -100.0)), fixed="start", section=tube)
    view.deformed(hanging, tmp_path / "beam.png")
    view.mesh(beam, tmp_path / "line.png")
    view.mesh(plate, tmp_path / "rectangle.png")
    assert inked(tmp_path / "plate.png") > 0.1
    assert min(inked(tmp_path / f"{name}.png") for name in ("beam", "line")) > 0.002


def test_surfaces_in_space_are_seen_in_space(monkeypatch: pytest.MonkeyPatch) -> None:
    """The skin of a box, as an STL file has it: lit, and from a side that shows all three extents."""
    seen: list[Any] = []
    monkeypatch.setattr("flexmbs.view.pictures.write", lambda picture, path, size: seen.append(picture))
    x = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], dtype=float) * [3, 2, 1]
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    view.mesh(fm.Mesh(x, [("quad", np.array(quads))]))
    view.mesh(fm.Mesh.rectangle((1.0, 1.0), (1, 1)))
    solid, flat = (picture.panels[0] for picture in seen)
    assert solid.items[0].closed
    assert np.abs(solid.camera.axes[2]).min() > 0.2
    assert not flat.items[0].closed
    np.testing.assert_allclose(flat.camera.axes[2], [0, 0, 1])


def test_spinning_modes_are_drawn_at_their_largest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A complex shape turned by any phase gives the same picture."""
    seen = []
    monkeypatch.setattr("flexmbs.view.mode_pictures.write", lambda picture, path, size: seen.append(picture))
    beam = fm.Mesh.box((0.4, 0.05, 0.05), (4, 1, 1))
    modes = fm.modes(beam, STEEL, fixed="x0", count=2, spin=(0.0, 300.0, 0.0))
    view.mode(modes, 1)
    turned = modes.shapes * np.exp(0.7j)
    view.mode(fm.Modes(**{**vars(modes), "shapes": turned}), 1)
    one, other = (picture.panels[0].items[1] for picture in seen)
    np.testing.assert_allclose(one.values, other.values, atol=1e-12)
    assert one.values.max() == pytest.approx(1.0)


def test_titles_state_scale_and_frequency(
    bent: fm.StaticResult, shapes: fm.Modes, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    for module in ("pictures", "mode_pictures"):
        monkeypatch.setattr(f"flexmbs.view.{module}.write", lambda picture, path, size: seen.append(picture))
    view.deformed(bent, scale=30)
    view.deformed(bent)
    view.mode(shapes, 2)
    exact, auto, mode = (picture.panels[0] for picture in seen)
    assert exact.title.endswith("deformation × 30")
    assert mode.title == f"mode 2: {shapes.frequencies[1]:.5g} Hz"
    assert seen[0].bar.title == "von Mises stress [MPa]"
    assert seen[0].bar.high == pytest.approx(bent.stress.von_mises.max() / 1e6)
    rest, surface = auto.items[0].points, auto.items[1].points
    drawn = np.linalg.norm(surface - rest, axis=1).max()
    assert 0.03 < drawn / bent.elements.mesh.size < 0.081


def test_wrong_requests_are_refused_in_words(bent: fm.StaticResult, shapes: fm.Modes, tmp_path: Path) -> None:
    with pytest.raises(fm.AnalysisError, match="from 1 to 3"):
        view.mode(shapes, 4, tmp_path / "a.png")
    with pytest.raises(fm.AnalysisError, match="from 1 to 3"):
        view.mode(shapes, 0, tmp_path / "a.png")
    with pytest.raises(fm.AnalysisError, match="von_mises"):
        view.deformed(bent, tmp_path / "a.png", color="mises")
    with pytest.raises(fm.AnalysisError, match="one per node"):
        view.deformed(bent, tmp_path / "a.png", color=[1.0, 2.0])
    with pytest.raises(fm.AnalysisError, match="auto"):
        view.deformed(bent, tmp_path / "a.png", scale="big")
    with pytest.raises(fm.AnalysisError, match="no folder"):
        view.deformed(bent, tmp_path / "nowhere" / "a.png")
    with pytest.raises(fm.MeshError, match="no set 'x9'"):
        view.mesh(bent.elements.mesh, tmp_path / "a.png", sets=["x9"])


def test_without_a_screen_a_still_is_written(shapes: fm.Modes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.chdir(tmp_path)
    with pytest.warns(RenderWarning, match=r"no screen .* written to .*flexmbs_view\.png"):
        path = view.mode(shapes, 1)
    assert path is not None
    assert 0.1 < inked(path) < 0.8


def test_a_crash_of_vtk_is_survived(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where OpenGL is missing VTK kills its process; here the one that probes."""
    opengl._probe.cache_clear()
    monkeypatch.setattr(opengl, "_PROBE", "import os; os.abort()")
    try:
        assert not opengl._probe()
    finally:
        opengl._probe.cache_clear()
