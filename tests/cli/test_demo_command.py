"""``flexmbs demo``: everything is written, nothing of others is touched, and Ctrl-C keeps the result."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexmbs as fm
from flexmbs import demo, view
from flexmbs.cli import demonstration, main
from flexmbs.view.figure import RenderWarning


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A film of three pictures; result and page where these can be written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(demonstration.FILM, "frames", 3)
    if not hasattr(fm.Result, "save"):
        monkeypatch.setattr(fm.Result, "save", lambda self, path: Path(path).write_text("result"), raising=False)
    if not hasattr(view, "report"):
        monkeypatch.setattr(view, "report", lambda result, path: Path(path).write_text("page"), raising=False)


@pytest.mark.usefixtures("quick")
def test_the_demo_shows_and_writes_everything(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert "finished: t = 0 to 0.06 s" in out
    assert "the rod bends by up to 10.8 µm at midspan" in out
    assert f"In {tmp_path / 'flexmbs_demo'}:\n" in out
    folder = Path("flexmbs_demo")
    written = {path.name for path in folder.iterdir()}
    assert written == {"README.txt", *(f"slider_crank.{e}" for e in ("png", "mp4", "html", "h5", "py"))}
    for name in written - {"README.txt"}:
        assert f"\n  {name}" in out
    assert (folder / "slider_crank.mp4").stat().st_size > 5000
    # the model is a script of its own
    monkeypatch.chdir(folder)
    Path("slider_crank.png").unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RenderWarning)  # without OpenGL pictures are simpler
        names = runpy.run_path("slider_crank.py", run_name="__main__")
    assert Path("slider_crank.png").stat().st_size > 5000
    assert capsys.readouterr().out.endswith("The rod at its worst is in slider_crank.png\n")
    assert_bends_as_a_beam(names)


def assert_bends_as_a_beam(names: dict[str, Any]) -> None:
    """At full speed the rod sways quasi-statically: its bending follows the sine of the crank's angle.

    Inertia across a rod whose ends move with accelerations a (crank pin) and 0 across (wrist pin) is that of a beam
    under a load that falls to zero along it, in phase with a = -rω² sin(ωt).
    """
    motion, rod = names["motion"], names["rod"]
    turn = motion.t >= 0.04
    angle = motion.coordinate(motion.system.joints[0].angle)[turn]
    assert np.corrcoef(demo.bending(motion, rod)[turn], np.sin(angle))[0, 1] > 0.8  # some ringing is left


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("problem", ["ffmpeg", "changed"])
def test_it_can_run_again_and_leaves_changed_scripts(
    problem: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = demonstration.prepared(tmp_path / "out")
    for name in ("run", "findings", "bending"):
        monkeypatch.setattr(demo, name, {"run": short, "findings": say, "bending": still}[name])
    monkeypatch.setattr(view, "snapshot", lambda motion, path, **options: path)

    def no_film(motion: Any, path: Path, **options: Any) -> None:
        if problem == "ffmpeg":
            raise fm.AnalysisError("MP4 needs ffmpeg")

    monkeypatch.setattr(view, "animate", no_film)
    if problem == "changed":
        (folder / "slider_crank.py").write_text("mine")
    assert main(["demo", "-o", str(folder)]) == 0
    out = capsys.readouterr().out
    script = (folder / "slider_crank.py").read_text()
    assert (script == "mine") == (problem == "changed") == ("your own version of the model" in out)
    assert ("not written: MP4 needs ffmpeg" in out) == (problem == "ffmpeg")


def short(system: fm.System) -> fm.Result:
    return fm.forward_dynamics(system, 2e-4, 2e-5)


def say(*given: Any) -> str:
    return "something"


def still(motion: fm.Result, rod: Any) -> np.ndarray:
    return np.zeros(len(motion.t))


@pytest.mark.usefixtures("quick")
def test_ctrl_c_keeps_the_result(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupted(system: fm.System) -> fm.Result:
        def stop(t: float) -> None:
            raise KeyboardInterrupt

        return fm.forward_dynamics(system, 0.06, 2e-5, progress=stop)

    monkeypatch.setattr(demo, "run", interrupted)
    assert main(["demo", "-o", "out"]) == 130
    out, problems = capsys.readouterr()
    assert "interrupted at t = 0.0" in out
    assert problems.endswith("flexmbs: interrupted\n")
    assert Path("out/slider_crank.h5").exists()
    assert not Path("out/slider_crank.png").exists()


def test_files_of_others_are_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "engine", lambda: pytest.fail("nothing is computed for nothing"))
    mine = tmp_path / "mine"
    mine.mkdir()
    for name in ("slider_crank.png", "README.txt"):
        (mine / name).write_text("mine")
        assert main(["demo", "-o", str(mine)]) == 1
        assert "holds other files, which are left alone" in capsys.readouterr().err
    assert [path.read_text() for path in mine.iterdir()] == ["mine", "mine"]
    assert main(["demo", "-o", str(mine / "README.txt")]) == 1
    assert "is not a folder" in capsys.readouterr().err


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    assert demonstration.prepared(tmp_path) == tmp_path
    assert demonstration.prepared(tmp_path) == tmp_path
    deep = tmp_path / "a" / "b"
    assert demonstration.prepared(deep).is_dir()
