"""Runs in files: complete up to the last instant whenever they are killed, and resumed as if they had not been."""

from __future__ import annotations

import errno
import os
import signal
import time
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import flexmbs as fm
from flexmbs.errors import AnalysisError, FileError
from flexmbs.results.file import Appender

KEPT = ("t", "q", "v", "rate", "multipliers", "angles")


def swing(stiffness: float = 5.0, drive: Any = None) -> fm.System:
    ground, rod = fm.Ground(), fm.RigidBody.box("rod", (1.0, 0.1, 0.1), 100.0)
    hinge = fm.Revolute("hinge", ground.at(0, 0, 0), rod.at(-0.5, 0, 0), start=0.5)
    joints = [hinge] if drive is None else [hinge, fm.Drive("drive", hinge.angle, drive)]
    spring = fm.SpringDamper("spring", hinge.angle, stiffness, force=fm.Harmonic(1.0, 3.0))
    return fm.System([ground, rod], joints, [fm.Gravity((0, -9.81, 0)), spring])


def same(one: Any, two: Any, count: int | None = None) -> None:
    for name in KEPT:
        assert np.array_equal(getattr(one, name)[:count], getattr(two, name)), name


# ---- as it is computed ----------------------------------------------------------------------------------------------

INTEGRATORS = {
    "index 3": fm.GeneralizedAlpha(),
    "stabilised": fm.GeneralizedAlpha(stabilised=True),
    "adaptive": fm.TangentSpaceODE(),
    "explicit": fm.ExplicitRK(),
}


@pytest.mark.parametrize("name", INTEGRATORS)
def test_a_saved_run_is_the_run(name: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"output_step": 5e-3, "integrator": INTEGRATORS[name]}
    plain = fm.forward_dynamics(swing(), 0.5, 1e-3, **options)
    saved = fm.forward_dynamics(swing(), 0.5, 1e-3, save=tmp_path / "run.h5", **options)
    same(plain, saved)
    same(plain, fm.load(tmp_path / "run.h5"))
    assert fm.load(tmp_path / "run.h5").outcome == "finished"
    assert saved.summary().splitlines()[:-1] == plain.summary().splitlines()[:-1]
    assert [p.name for p in tmp_path.iterdir()] == ["run.h5"]


def test_nothing_is_held_in_memory(tmp_path: Path) -> None:
    """Arrays of a saved run are the file's, so that the system may drop them at any time."""
    saved = fm.forward_dynamics(swing(), 0.5, 1e-3, save=tmp_path / "run.h5")
    base: Any = saved.q
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)
    assert saved.q.flags.writeable  # compiled functions see another type otherwise
    saved.q[:] = 0.0
    assert fm.load(tmp_path / "run.h5").q.any()  # only this copy was changed


def test_a_run_can_be_looked_at_while_it_goes_on(tmp_path: Path) -> None:
    seen = []

    def look(t: float) -> None:
        part = fm.load(tmp_path / "run.h5")
        assert part.t[-1] == pytest.approx(t)
        assert part.outcome.startswith("unfinished")
        seen.append(len(part.t))

    fm.forward_dynamics(swing(), 0.5, 1e-3, save=tmp_path / "run.h5", progress=look)
    assert len(seen) > 1
    assert seen == sorted(seen)


def test_stopped_interrupted_and_python_runs_are_complete_files(tmp_path: Path) -> None:
    def interrupt(t: float) -> None:
        if t > 0.1:
            raise KeyboardInterrupt

    stopped = fm.forward_dynamics(swing(), 0.5, 1e-3, save=tmp_path / "a.h5", progress=interrupt)
    assert stopped.outcome.startswith("interrupted")
    assert fm.load(tmp_path / "a.h5").outcome == stopped.outcome
    event = fm.Event("down", swing().joints[0].angle, 0.0, stop=True)
    system = swing()
    event = fm.Event("down", system.joints[0].angle, 0.0, stop=True)
    ended = fm.forward_dynamics(system, 2.0, 1e-3, save=tmp_path / "b.h5", events=[event])
    assert ended.outcome.startswith("stopped by event")
    assert fm.load(tmp_path / "b.h5").events["down"].t[0] == ended.t[-1]
    driven = swing(drive=lambda t: 0.5 + np.sin(t))
    plain = fm.forward_dynamics(driven, 0.2, 1e-3)
    saved = fm.forward_dynamics(driven, 0.2, 1e-3, save=tmp_path / "c.h5")
    same(plain, saved)
    loaded = fm.load(tmp_path / "c.h5")
    assert np.array_equal(loaded.reaction(loaded.system.named("drive")), plain.reaction(driven.named("drive")))


def test_two_runs_in_one_file_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"

    def replace(t: float) -> None:
        fm.forward_dynamics(swing(), 0.1, 1e-3, save=path, overwrite=True)

    with pytest.raises(FileError, match="another program has replaced the file"):
        fm.forward_dynamics(swing(), 0.01, 1e-3, save=path, progress=replace)
    assert fm.load(path).t[-1] == pytest.approx(0.1)


# ---- killed ---------------------------------------------------------------------------------------------------------

LONG = {"t_end": 1.5, "step": 1e-4, "output_step": 1e-3}


def killed(path: Path, after: float) -> float:
    """A run in a process of its own, killed after some time; the time up to which it said it was."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            fm.forward_dynamics(
                swing(),
                **LONG,
                save=path,
                overwrite=True,
                progress=lambda t: os.write(writing, np.float64(t).tobytes()),
            )
        finally:
            os._exit(0)
    os.close(writing)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    return float(np.frombuffer(said[: len(said) // 8 * 8])[-1]) if len(said) >= 8 else -1.0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forks beside threads, which the child does not use
def test_no_kill_loses_an_instant(tmp_path: Path) -> None:
    """Twenty-five times, at moments spread over the run and what follows it, however long these take."""
    whole = fm.forward_dynamics(swing(), **LONG)
    began = time.perf_counter()
    fm.forward_dynamics(swing(), **LONG, save=tmp_path / "timed.h5")
    lasts = time.perf_counter() - began
    rng, path, counts = np.random.default_rng(5), tmp_path / "run.h5", []
    for _ in range(200):
        if len(counts) == 25:
            break
        path.unlink(missing_ok=True)
        reached = killed(path, rng.uniform(0.0, 1.3 * lasts))
        if not path.exists():
            assert reached < 0  # before the first instant
            lasts *= 1.1
            continue
        found = fm.load(path)
        counts.append(len(found.t))
        assert found.t[-1] >= reached
        same(whole, found, len(found.t))
        lasts *= 0.95 if len(found.t) == len(whole.t) else 1.0
        if len(counts) % 5 == 0:
            same(whole, fm.forward_dynamics(swing(), **LONG, save=path, resume=True))
            assert fm.load(path).outcome == "finished"
    fm.forward_dynamics(swing(), **LONG, save=path, overwrite=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.h5", "timed.h5"]  # nothing is left of killed ones
    assert len(counts) == 25
    assert min(counts) < len(whole.t)


# ---- resumed --------------------------------------------------------------------------------------------------------


def started(path: Path, until: float, system: fm.System, **options: Any) -> None:
    """A run that is killed, as far as its file can tell: the end is never written."""

    class Killed(BaseException):
        pass

    def kill(t: float) -> None:
        if t >= until:
            raise Killed

    with pytest.raises(Killed):
        fm.forward_dynamics(system, 1.0, 1e-3, save=path, progress=kill, **options)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_a_resumed_run_is_the_whole(name: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"output_step": 4e-3, "integrator": INTEGRATORS[name]}
    whole = fm.forward_dynamics(swing(), 1.0, 1e-3, **options)
    started(tmp_path / "run.h5", 0.3, swing(), **options)
    half = fm.load(tmp_path / "run.h5")
    assert 2 < len(half.t) < len(whole.t)
    system = swing()
    resumed = fm.forward_dynamics(system, 1.0, 1e-3, save=tmp_path / "run.h5", resume=True, **options)
    assert resumed.system is system
    assert len(resumed.t) == len(whole.t)
    if isinstance(INTEGRATORS[name], fm.GeneralizedAlpha):
        same(whole, resumed)
        same(whole, fm.load(tmp_path / "run.h5"))
    else:  # with steps of its own, whose errors the tolerance limits
        assert resumed.q == pytest.approx(whole.q, abs=1e-6)
        assert np.array_equal(resumed.q[: len(half.t)], whole.q[: len(half.t)])


def test_what_is_finished_is_read_or_goes_on(tmp_path: Path) -> None:
    path, system = tmp_path / "run.h5", swing()
    first = fm.forward_dynamics(system, 0.5, 1e-3, save=path, resume=True)  # no file: from the beginning
    again = fm.forward_dynamics(system, 0.5, 1e-3, save=path, resume=True, progress=lambda t: pytest.fail("computed"))
    same(first, again)
    assert np.array_equal(again.position(system.named("rod")), first.position(system.named("rod")))
    with h5py.File(path, "r+") as file:  # as if it had been killed just before its end was written
        text = bytes(file["model/tree"][:]).replace(b'"outcome": "finished"', b'"outcome": "unfinished"')
        del file["model/tree"]
        file["model/tree"] = np.frombuffer(text, dtype=np.uint8)
    assert fm.load(path).outcome.startswith("unfinished")
    same(first, fm.forward_dynamics(system, 0.5, 1e-3, save=path, resume=True))
    assert fm.load(path).outcome == "finished"
    longer = fm.forward_dynamics(system, 1.0, 1e-3, save=path, resume=True)
    same(fm.forward_dynamics(system, 1.0, 1e-3), longer)


def test_kinks_functions_and_flexible_bodies_go_on_as_well(tmp_path: Path) -> None:
    def flexible() -> fm.System:
        ground, steel = fm.Ground(), fm.Material(2e11, 0.3, 7800.0)
        beam = fm.FlexibleBody(
            "beam", fm.Mesh.line((0, 0, 0), (1, 0, 0), 4), steel, section=fm.Section.rectangle(0.02, 0.01),
            interfaces=["start"], reduction=fm.CraigBampton(2),
        )  # fmt: skip
        hinge = fm.Revolute("hinge", ground.at(0, 0, 0), beam.at("start"))
        return fm.System([ground, beam], [hinge, fm.Drive("d", hinge.angle, fm.Ramp(0.0, 1.0, 0.2, 0.5))])

    for make in (lambda: swing(drive=lambda t: 0.5 + np.sin(t)), flexible):
        path = tmp_path / "run.h5"
        path.unlink(missing_ok=True)
        started(path, 0.4, make())
        resumed = fm.forward_dynamics(make(), 1.0, 1e-3, save=path, resume=True)
        same(fm.forward_dynamics(make(), 1.0, 1e-3), resumed)


# ---- refused --------------------------------------------------------------------------------------------------------


def test_what_cannot_be_resumed_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    fm.forward_dynamics(swing(), 0.5, 1e-3, save=path)
    before = path.read_bytes()
    cases: list[tuple[str, dict[str, Any]]] = [
        (r"computed with a step of 0\.001 s, not 0\.0005", {"step": 5e-4}),
        ("integrator of the run in .* is GeneralizedAlpha", {"integrator": fm.GeneralizedAlpha(0.5)}),
        ("number of steps between instants", {"output_step": 2e-3}),
        (r"another one \(stiffness of SpringDamper 'spring' differs", {"system": swing(6.0)}),
        ("another one", {"system": swing(drive=1.0)}),
        ("start of the run", {"start": fm.forward_dynamics(swing(), 0.1, 1e-3)}),
        ("events cannot be resumed", {"events": [fm.Event("e", swing().joints[0].angle)]}),
        ("give one of them", {"overwrite": True}),
    ]  # fmt: skip
    for words, given in cases:
        options = {"system": swing(), "t_end": 1.0, "step": 1e-3, "save": path, "resume": True} | given
        if "events" in given:
            options["events"] = [fm.Event("e", options["system"].joints[0].angle)]
        with pytest.raises((FileError, AnalysisError), match=words):
            fm.forward_dynamics(**options)
        assert path.read_bytes() == before
    fm.forward_dynamics(swing(), 0.1, 1e-3).save(path)
    with pytest.raises(FileError, match="holds no run of forward_dynamics"):
        fm.forward_dynamics(swing(), 1.0, 1e-3, save=path, resume=True)


def test_an_existing_file_is_not_replaced_without_a_word(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    fm.forward_dynamics(swing(), 0.5, 1e-3, save=path)
    with pytest.raises(FileError, match=r"run\.h5 exists\. Give resume=True"):
        fm.forward_dynamics(swing(), 0.1, 1e-3, save=path)
    assert fm.load(path).t[-1] == pytest.approx(0.5)
    fm.forward_dynamics(swing(), 0.1, 1e-3, save=path, overwrite=True)
    assert fm.load(path).t[-1] == pytest.approx(0.1)
    with pytest.raises(FileError, match="there is no folder"):
        fm.forward_dynamics(swing(), 0.1, 1e-3, save=tmp_path / "none" / "run.h5")
    with pytest.raises(AnalysisError, match="resume goes with save="):
        fm.forward_dynamics(swing(), 0.1, 1e-3, resume=True)

    class Own:
        def run(self, system: Any, start: Any, t_end: float, step: float, every: int, progress: Any) -> Any:
            raise AssertionError

    with pytest.raises(AnalysisError, match="Own does not take keeper="):
        fm.forward_dynamics(swing(), 0.1, 1e-3, integrator=Own(), save=tmp_path / "own.h5")


def test_a_full_disk_is_heard_of_before_the_run_or_keeps_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", full)
        with pytest.raises(FileError, match=r"a\.h5 cannot be written: No space left on device"):
            fm.forward_dynamics(swing(), 0.5, 1e-3, save=tmp_path / "a.h5")
    assert list(tmp_path.iterdir()) == []
    with monkeypatch.context() as patch:

        def later(t: float) -> None:
            if t > 0.2:
                patch.setattr(Appender, "_write", full)

        with pytest.raises(FileError, match=r"b\.h5: No space left on device; the file keeps the \d+ instants"):
            fm.forward_dynamics(swing(), 3.0, 1e-3, save=tmp_path / "b.h5", progress=later)
    whole = fm.forward_dynamics(swing(), 3.0, 1e-3)
    kept = fm.load(tmp_path / "b.h5")
    assert kept.t[-1] > 0.2
    same(whole, kept, len(kept.t))
    same(whole, fm.forward_dynamics(swing(), 3.0, 1e-3, save=tmp_path / "b.h5", resume=True))
