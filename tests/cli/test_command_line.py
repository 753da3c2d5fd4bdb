"""The command line: what each command prints and writes, and with which code it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexmbs as fm
from flexmbs import cli, view
from flexmbs.cli import machine, main, parts
from flexmbs.view import film, opengl

ROOT = Path(__file__).parents[2]
COMMANDS = ("demo", "info", "modes", "view", "report", "export", "doctor")


@pytest.fixture
def bar(tmp_path: Path) -> Path:
    """A slender bar of 0.4 × 0.02 × 0.01 m with the sets x0, x1, ..., as a file in millimetres."""
    path = tmp_path / "bar.vtu"
    fm.Mesh.box((400.0, 20.0, 10.0), (16, 2, 1), cell="hexahedron20").write(path)
    return path


def said(capsys: pytest.CaptureFixture[str], *arguments: Any, code: int = 0) -> str:
    """What a command prints; its complaint where it must not end well."""
    assert main([str(a) for a in arguments]) == code
    out, problems = capsys.readouterr()
    return out if code == 0 else problems


# ---- as a whole


def test_help_shows_every_command_and_examples(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "--help")
    for command in COMMANDS:
        assert f"\n    {command} " in text
    assert "examples:\n  flexmbs demo" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, command, "--help")
    assert text.startswith(f"usage: flexmbs {command}")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "--version") == f"flexmbs {fm.__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    ["", "dance", "info", "modes part.msh", "modes part.msh --material steel --count 0", "info part.msh --scale mm",
     "view run.h5 --scale large", "view run.h5 --look 1,2", "export run.h5"],
)  # fmt: skip
def test_misuse_is_explained(arguments: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, *arguments.split(), code=2)
    assert text.startswith("usage: flexmbs")
    assert "error: " in text


def test_it_runs_as_a_program(bar: Path, tmp_path: Path) -> None:
    """Outside of the repository; and it is quiet when nobody reads on."""
    start = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": str(ROOT)}, "stderr": subprocess.PIPE, "text": True}
    done = subprocess.run([sys.executable, "-m", "flexmbs", "info", "nothing.msh"], stdout=subprocess.PIPE, **start)  # type: ignore[call-overload]
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("flexmbs: nothing.msh: no such file")
    assert done.stderr.count("\n") == 1
    closed = subprocess.Popen([sys.executable, "-m", "flexmbs", "info", str(bar)], stdout=subprocess.PIPE, **start)  # type: ignore[call-overload]
    closed.stdout.close()
    assert "Error" not in closed.stderr.read()
    assert closed.wait() == 0
    closed.stderr.close()


def test_the_installed_command_is_this_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"flexmbs": "flexmbs.cli:main"}


@pytest.mark.parametrize(
    ("problem", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "flexmbs: interrupted\n"),
        (fm.MeshError("no\nset"), 1, "flexmbs: no set\n"),
        (fm.SolverError("singular"), 1, "flexmbs: singular\n"),
        (MemoryError(), 1, "flexmbs: there is not enough memory for this.\n"),
        (PermissionError(13, "Permission denied", "a.png"), 1, "flexmbs: a.png: permission denied.\n"),
    ],
)
def test_problems_become_one_line_and_a_code(
    problem: BaseException, code: int, words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(asked: Any) -> int:
        warnings.warn("first this", fm.ModelWarning, stacklevel=1)
        warnings.warn("first this", fm.ModelWarning, stacklevel=1)
        raise problem

    monkeypatch.setattr(cli, "doctor", fails)
    assert said(capsys, "doctor", code=code) == f"warning: first this\n{words}"


# ---- parts


def test_info_tells_what_is_in_a_mesh(bar: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "bar.png"
    text = said(capsys, "info", bar, "--scale", "1e-3", "--material", "210e9,0.3,7850", "-o", picture)
    lines = text.splitlines()
    assert lines[0] == "bar.vtu"
    assert "32 hexahedron20" in lines[1]
    assert lines[2] == "  from (0, 0, 0) to (0.4, 0.02, 0.01) m"
    assert "    x0  2 faces, 13 nodes" in lines
    mass = 7850 * 0.4 * 0.02 * 0.01
    assert f"  mass: {mass:.6g} kg of 210e9,0.3,7850, centre (0.2, 0.01, 0.005) m" in lines
    moments = [mass * (a**2 + b**2) / 12 for a, b in ((0.02, 0.01), (0.4, 0.01), (0.4, 0.02))]
    assert text.split("about it: ")[1].split(" kg")[0] == ", ".join(f"{m:.4g}" for m in moments)
    assert "quality: scaled Jacobian 1 (cell " in text
    assert picture.stat().st_size > 1000
    assert "volume: 8e-05 m³" in said(capsys, "info", bar, "--scale", "1e-3")


def test_info_warns_of_millimetres(bar: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(bar)]) == 0
    assert capsys.readouterr().err.startswith(f"warning: {bar}: the part is 401 m across")


def test_info_of_a_broken_mesh_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    turned = fm.Mesh(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, -1.0]]), [("tetra", [[0, 1, 2, 3]])])
    turned.write(tmp_path / "turned.vtu")
    assert main(["info", str(tmp_path / "turned.vtu"), "--material", "steel"]) == 1
    out = capsys.readouterr().out
    assert "  error: turned.vtu: cell 0" in out
    assert "mass" not in out
    assert "flexmbs: turned.vtu: cell 0" in said(
        capsys, "modes", tmp_path / "turned.vtu", "--material", "steel", code=1
    )


@pytest.mark.parametrize("dimension", [1, 2])
def test_info_of_plane_and_line_meshes(dimension: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mesh = fm.Mesh.rectangle((0.2, 0.1), (4, 2)) if dimension == 2 else fm.Mesh.line((0, 0, 0), (1, 0, 0), 4)
    mesh.write(tmp_path / "flat.vtu")
    text = said(capsys, "info", tmp_path / "flat.vtu", "--material", "steel", "--thickness", "0.01")
    wanted = f"mass: {7850 * 0.2 * 0.1 * 0.01:.6g} kg" if dimension == 2 else "a line mesh needs a section"
    assert wanted in text


def test_modes_of_a_cantilever(bar: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first bending frequency of a slender beam, across its thin side, is 1.875²/2π √(EI/ρA) / L²."""
    picture = tmp_path / "modes.png"
    given = ("modes", bar, "--scale", "1e-3", "--material", "steel")
    text = said(capsys, *given, "--fix", "x0", "--count", "3", "-o", picture)
    assert text.startswith("bar.vtu, steel, held at x0\nmode  frequency [Hz]")
    table = [line.split() for line in text.splitlines()[2:5]]
    slender = 1.8751**2 / (2 * np.pi) * np.sqrt(210e9 * 0.01**2 / 12 / 7850) / 0.4**2
    assert float(table[0][1]) == pytest.approx(slender, rel=0.01)
    assert picture.stat().st_size > 1000
    both = said(capsys, *given, "--fix", "x0", "--fix", "x1", "--count", "1")
    assert float(both.splitlines()[2].split()[1]) == pytest.approx(slender * (4.7300 / 1.8751) ** 2, rel=0.02)
    assert said(capsys, *given, "--count", "6").count("rigid") == 6


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--material", "steel", "--fix", "x2"], "no set 'x2'. Did you mean 'x"),
        (["--material", "stell"], "no material is named 'stell'; known are steel,"),
        (["--material", "210e9,0.3"], "three numbers are needed"),
        (["--material", "210e9,0.3,much"], "three numbers are needed"),
        (["--material", "210e9,0.5,7850"], "Poisson's ratio must lie between"),
        (["--material", "steel", "-o", "nowhere/modes.png", "--count", "7"], "there is no folder nowhere"),
    ],
)
def test_modes_that_cannot_be_had(
    options: list[str], words: str, bar: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in said(capsys, "modes", bar, "--scale", "1e-3", *options, code=1)


def test_vectors_in_words() -> None:
    assert parts.vector(np.array([1.0, -1e-12, 2.5e-3])) == "(1, 0, 0.0025)"
    assert parts.vector(np.zeros(3)) == "(0, 0, 0)"


# ---- results


def motion(flexible: bool = False) -> fm.Result:
    ground = fm.Ground()
    if flexible:
        line, section = fm.Mesh.line((0, 0, 0), (1, 0, 0), 4), fm.Section.rectangle(0.02, 0.02)
        arm: Any = fm.FlexibleBody("arm", line, fm.Material.named("steel"), section=section, interfaces=["start"])
        hinge = fm.Revolute("hinge", ground.at(0, 0, 0), arm.at("start"))
    else:
        arm = fm.RigidBody("arm", 1.0, (0.1, 0.1, 0.1))
        hinge = fm.Revolute("hinge", ground.at(0, 0, 0), arm.at(-1, 0, 0))
    return fm.forward_dynamics(fm.System([ground, arm], [hinge], [fm.Gravity((0, -9.81, 0))]), 0.1, 1e-2)


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that is read as the motion of a pendulum, and the folder to work in."""
    path = tmp_path / "elsewhere" / "run.h5"
    path.parent.mkdir()
    path.touch()
    monkeypatch.setattr(fm, "load", lambda path: motion(), raising=False)
    monkeypatch.chdir(tmp_path)
    return path


def test_view_writes_pictures_and_films(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "view", saved, "-o", "here.png", "--at", "0.05", "--look", "0,0,1") == "here.png\n"
    assert said(capsys, "view", saved, "-o", "here.gif", "--frames", "2", "--color", "speed") == "here.gif\n"
    for name in ("here.png", "here.gif"):
        assert Path(name).stat().st_size > 1000


@pytest.mark.parametrize("screen", [False, True])
@pytest.mark.parametrize("flexible", [False, True])
def test_view_opens_a_window_where_there_is_a_screen(
    screen: bool, flexible: bool, saved: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[Any, ...]] = []
    monkeypatch.setattr(fm, "load", lambda path: motion(flexible))
    monkeypatch.setattr(opengl, "has_display", lambda: screen)
    monkeypatch.setattr(opengl, "has_opengl", lambda: True)
    monkeypatch.setattr(view, "show", lambda result, **options: seen.append(("window", options)))
    monkeypatch.setattr(view, "snapshot", lambda result, path, **options: seen.append((path, options)) or path)
    said(capsys, "view", saved)
    where, options = seen[0]
    assert where == ("window" if screen else "run.png")
    assert options["color"] == ("von_mises" if flexible else None)
    assert options["scale"] == ("auto" if flexible else 1.0)
    said(capsys, "view", saved, "--at", "0.02", "--scale", "30", "--look", "x", "--color", "speed")
    assert seen[1] == ("run.png", {"at": 0.02, "scale": 30.0, "look": "x", "color": "speed"})


def test_report_and_export(saved: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    monkeypatch.setattr(view, "report", lambda result, path: written.append(str(path)), raising=False)
    monkeypatch.setattr(fm.Result, "export", lambda self, path: written.append(str(path)), raising=False)
    assert said(capsys, "report", saved) == "run.html\n"
    assert said(capsys, "report", saved, "-o", "page.html") == "page.html\n"
    assert said(capsys, "export", saved, "out.csv") == "out.csv\n"
    assert written == ["run.html", "page.html", "out.csv"]


def test_other_results_can_be_seen_too(
    saved: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    box, steel = fm.Mesh.box((1, 0.1, 0.1), (4, 1, 1)), fm.Material.named("steel")
    modes = fm.modes(box, steel, fixed="x0", count=2)
    bent = fm.statics(box, steel, fm.Force("x1", (0, 0, 1.0)), fixed="x0")
    for found, name in ((modes, "run.png"), (bent, "bent.png")):
        monkeypatch.setattr(fm, "load", lambda path, found=found: found)
        assert said(capsys, "view", saved, *([] if name == "run.png" else ["-o", name])) == f"{name}\n"
        assert Path(name).stat().st_size > 1000
        assert "not the motion of a mechanism" in said(capsys, "report", saved, code=1)


@pytest.mark.parametrize("command", ["view", "report", "export"])
def test_results_that_are_not_there(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    more = ["out.csv"] if command == "export" else []
    assert "nothing.h5: there is no such file" in said(capsys, command, "nothing.h5", *more, code=1)


@pytest.mark.skipif(not hasattr(fm, "load"), reason="results are not saved yet")
def test_a_saved_result_becomes_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    motion().save("run.h5")
    assert said(capsys, "report", "run.h5") == "run.html\n"
    assert "<html" in Path("run.html").read_text()
    Path("run.h5").write_bytes(b"something else")
    assert "run.h5" in said(capsys, "report", "run.h5", code=1)


# ---- doctor


def test_doctor_says_what_works(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "doctor")
    assert f"flexmbs {fm.__version__} in " in text
    for what in ("core", "numpy ", "sparse solver: ", "kernels: ", "OpenGL: ", "films: "):
        assert what in text
    assert machine.BROKEN not in text


def test_doctor_says_what_is_less_and_what_to_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(opengl, "has_opengl", lambda: False)
    monkeypatch.setattr(film, "ffmpeg", lambda: "")
    monkeypatch.setattr(machine, "PICTURES", ("matplotlib", "no_such_package"))
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "kernels"))
    monkeypatch.delenv("FLEXMBS_RENDERER", raising=False)
    lines = [line for line in said(capsys, "doctor").splitlines() if line.startswith("less")]
    assert "which cannot be written to" in lines[0]
    assert "apt install libegl1 libgl1-mesa-dri" in lines[1]
    assert "no_such_package" in lines[2]
    assert "pip install imageio-ffmpeg" in lines[3]


def test_doctor_ends_with_1_where_something_essential_is_broken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(matrix: Any) -> Any:
        raise fm.SolverError("no solver works")

    monkeypatch.setattr(fm, "factorize", broken)
    monkeypatch.setattr(machine, "precompile", lambda: pytest.fail("there is no sense in it"))
    assert main(["doctor", "--precompile"]) == 1
    assert "BROKEN sparse solver: no solver works" in capsys.readouterr().out
    monkeypatch.undo()
    monkeypatch.setattr(machine, "ESSENTIAL", ("numpy", "no_such_package"))
    assert main(["doctor"]) == 1
    wrong = type("Wrong", (), {"solver": "wrong", "solve": staticmethod(lambda b: 2 * b)})
    monkeypatch.setattr(fm, "factorize", lambda matrix: wrong)
    assert machine.solver().state == machine.BROKEN


def test_doctor_compiles(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Here they are compiled already, by this test at the latest."""
    assert machine.precompile()
    monkeypatch.setattr(machine.compilations, "kernels", 0)
    assert said(capsys, "doctor", "--precompile").endswith("the usual kernels are compiled already\n")


def test_kernels_in_a_temporary_folder_are_said_to_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine.kernel_cache.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "flexmbs-kernels-0"))
    assert "set NUMBA_CACHE_DIR to a folder that lasts" in machine.cache().text
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    assert machine.kernel_cache.folder() in (Path(fm.__file__).parent, Path.home() / ".cache" / "numba")
