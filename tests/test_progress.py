"""Progress of long work: what is shown where, and that nothing is lost by Ctrl-C."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import flexmbs as fm
from flexmbs import progress
from flexmbs.progress import COMPILING, Progress, compilations, duration, reporting, shown

ROOT = Path(__file__).parents[1]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines come after milliseconds."""
    for name, seconds in (("SOON", 0.01), ("OFTEN", 0.005), ("INTERVAL", 0.01)):
        monkeypatch.setattr(progress, name, seconds)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("FLEXMBS_PROGRESS", raising=False)


def written(stream: io.StringIO, what: str) -> bool:
    """Whether a text appears in a stream within a second or two."""
    until = time.monotonic() + 5.0
    while what not in stream.getvalue() and time.monotonic() < until:
        time.sleep(0.002)
    return what in stream.getvalue()


def test_time_left_is_that_of_the_pace_since_the_first_report() -> None:
    work = Progress("work", 2.0, 4.0)
    began = work.began
    assert work.text(began + 30.0) == "work: 30 s so far"  # compiling, say
    work(2.2)
    work.first = (began + 30.0, 2.2)
    work(3.0)  # 40 % in 8 s, so 10 s for the rest
    assert work.text(began + 38.0) == "work: 50 %, 38 s so far, about 10 s left"
    assert Progress("work").text(time.monotonic()) == "work: 0 s so far"
    assert Progress("work", 1.0, 1.0).text(time.monotonic()) == "work: 0 s so far"


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "0 s"), (99.4, "99 s"), (100, "2 min"), (3000, "50 min"), (8000, "2 h 13 min")]
)
def test_durations_are_short(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.usefixtures("quick")
def test_a_terminal_shows_one_line_that_vanishes(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "40")
    with Progress("a title that is rather long, too long for it", 0.0, 1.0) as work:
        work(0.5)
        assert written(stream, "\ra title")
    assert stream.getvalue().endswith("\r\x1b[K")
    assert "\n" not in stream.getvalue()
    assert max(len(line.removesuffix("\x1b[K")) for line in stream.getvalue().split("\r")) <= 39


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("terminal", [False, True])
def test_a_log_gets_plain_lines(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "dumb")
    with Progress("run", 0.0, 1.0) as work:
        work(0.25)
        assert written(stream, "\n")
    lines = stream.getvalue().splitlines()
    assert lines[-1].startswith("run: 25 %, 0 s so far")
    assert "\r" not in stream.getvalue()
    assert "\x1b" not in stream.getvalue()


def test_quick_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        with Progress("run"):
            pass
        assert stream.getvalue() == ""


@pytest.mark.usefixtures("quick")
def test_the_outermost_work_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("outer"), Progress("inner"):
        assert written(stream, "outer")
        time.sleep(0.03)
    assert "inner" not in stream.getvalue()
    with Progress("inner"):
        assert written(stream, "inner")


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("how", ["variable", "worker", "no stream", "argument"])
def test_it_can_be_silent(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", None if how == "no stream" else stream)
    if how == "variable":
        monkeypatch.setenv("FLEXMBS_PROGRESS", "off")
    if how == "worker":
        monkeypatch.setattr(progress.multiprocessing, "parent_process", lambda: object())
    before = threading.active_count()
    with reporting(how != "argument", "run", 0.0, 1.0):
        assert threading.active_count() == before
    assert stream.getvalue() == ""


@pytest.mark.usefixtures("quick")
def test_problems_end_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    before = threading.active_count()

    @shown("work")
    def fails() -> None:
        assert written(stream, "work")
        raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        fails()
    assert threading.active_count() == before
    with Progress("on a stream that is closed"):
        stream.close()
        time.sleep(0.03)


@pytest.mark.usefixtures("quick")
def test_ctrl_c_at_the_very_beginning_leaves_no_line_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    started = threading.Thread.start

    def interrupted(self: threading.Thread) -> None:
        started(self)
        raise KeyboardInterrupt

    stream, before = io.StringIO(), threading.active_count()
    monkeypatch.setattr(sys, "stderr", stream)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt), Progress("never"):
            pytest.fail("it has not begun")
    until = time.monotonic() + 5.0
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.002)
    assert threading.active_count() == before
    with Progress("next"):
        assert written(stream, "next")


@pytest.mark.usefixtures("quick")
def test_compilation_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    ours, other = (SimpleNamespace(py_func=SimpleNamespace(__module__=m)) for m in ("flexmbs.fem.kernels", "mine"))
    kernels, seconds = compilations.kernels, compilations.seconds
    event: Any = SimpleNamespace(data={"dispatcher": ours})
    compilations.on_start(event)
    compilations.on_start(event)  # what it calls
    compilations.on_end(event)
    assert written(stream, COMPILING)
    compilations.on_end(event)
    assert compilations.kernels == kernels + 1
    assert compilations.seconds > seconds
    with Progress("run"):
        compilations.on_start(event)
        assert written(stream, f"({COMPILING})")
        compilations.on_end(event)
    compilations.on_start(SimpleNamespace(data={"dispatcher": other}))
    compilations.on_end(SimpleNamespace(data={"dispatcher": other}))
    assert compilations.kernels == kernels + 2
    monkeypatch.setattr(compilations, "kernels", kernels)


def pendulum() -> fm.System:
    ground, arm = fm.Ground(), fm.PlanarBody("arm", 1.0, 0.1)
    return fm.System([ground, arm], [fm.planar.Revolute("hinge", ground.at(0, 0), arm.at(-1, 0))])


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("integrator", [fm.GeneralizedAlpha(), fm.TangentSpaceODE(), fm.ExplicitRK()])
def test_runs_report_how_far_they_have_come(integrator: Any) -> None:
    seen: list[float] = []
    motion = fm.forward_dynamics(pendulum(), 1.0, 1e-3, output_step=0.1, integrator=integrator, progress=seen.append)
    assert len(seen) >= 2
    assert np.all(np.diff(seen) > 0)
    assert seen[-1] == pytest.approx(1.0)
    silent = fm.forward_dynamics(pendulum(), 1.0, 1e-3, output_step=0.1, integrator=integrator, progress=False)
    np.testing.assert_array_equal(silent.q, motion.q)


def test_steps_that_take_long_are_called_in_smaller_numbers() -> None:
    """So that Ctrl-C is heard; and what comes out is the same."""
    ground, arm = fm.Ground(), fm.PlanarBody("arm", 1.0, 0.1)
    hinge = fm.planar.Revolute("hinge", ground.at(0, 0), arm.at(-1, 0))

    def system(seconds: float) -> fm.System:
        def law(t: float, states: Any) -> Any:
            time.sleep(seconds)
            return np.array([np.cos(t), 0, 0, 0, 0, 0])

        return fm.System([ground, arm], [hinge], [fm.UserForce("slow", [arm.at(0.5, 0.2)], law)])

    seen: list[float] = []
    slow = fm.forward_dynamics(system(1e-3), 0.1, 1e-3, output_step=7e-3, progress=seen.append)
    quick = fm.forward_dynamics(system(0.0), 0.1, 1e-3, output_step=7e-3)
    assert len(seen) >= 2
    np.testing.assert_array_equal(slow.q, quick.q)


LONG = """
import signal
import flexmbs as fm
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
ground, arm = fm.Ground(), fm.PlanarBody("arm", 1.0, 0.1)
hinge = fm.planar.Revolute("hinge", ground.at(0, 0), arm.at(-1, 0), rate=1.0)
system = fm.System([ground, arm], [hinge])
fm.forward_dynamics(system, 0.01, 1e-3)
print("running", flush=True)
motion = fm.forward_dynamics(system, 1e6, 1e-3, output_step=1.0)
print(motion.outcome, len(motion.t), motion.t[-1], hinge.name, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_keeps_what_was_computed() -> None:
    """A run of hours, interrupted after a moment, goes on to the next line of its script."""
    done = subprocess.Popen(
        [sys.executable, "-c", LONG], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert done.stdout is not None
    assert done.stdout.readline() == "running\n"
    time.sleep(0.5)
    done.send_signal(signal.SIGINT)
    out, problems = done.communicate(timeout=60)
    assert done.returncode == 0, problems
    assert out.startswith("interrupted at t = "), out
    count, last = int(out.split()[-3]), float(out.split()[-2])
    assert last > 1.0
    assert count == last + 1


def test_ctrl_c_in_the_law_of_a_controller_keeps_what_was_computed() -> None:
    ground, cart = fm.Ground(), fm.RigidBody("cart", 1.0, (1.0, 1.0, 1.0))

    def law(t: float, sensed: Any, memory: Any) -> Any:
        if t > 0.55:
            raise KeyboardInterrupt
        return 1.0, memory

    rail = fm.Prismatic("rail", ground.at(0, 0, 0), cart.at(0, 0, 0), axis="x")
    controller = fm.Controller("c", 0.1, [rail.distance], [rail.distance], law)
    motion = fm.forward_dynamics(fm.System([ground, cart], [rail], [controller]), 1.0, 0.01)
    assert motion.outcome.startswith("interrupted at t = 0.5")
    assert motion.t[-1] == pytest.approx(0.59)
    assert motion.position(cart)[-1, 0] == pytest.approx(0.5 * motion.t[-1] ** 2, rel=1e-6)


@pytest.mark.parametrize("wrong", ["yes", 1, object()])
def test_progress_that_is_neither_switch_nor_function_is_refused(wrong: Any) -> None:
    with pytest.raises(fm.AnalysisError, match="progress must be True, False or a function"):
        fm.forward_dynamics(pendulum(), 1.0, progress=wrong)
