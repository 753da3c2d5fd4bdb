"""Plots: the curves are the quantities, the axes say what and in which unit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexmbs as fm
from flexmbs import view
from flexmbs.view.spectra import WINDOWS, amplitude_spectrum, short_spectra


class Pendulum:
    """A pendulum with a damper, and a driven slider."""

    def __init__(self) -> None:
        self.ground = fm.Ground()
        self.bob = fm.PlanarBody("bob", 2.0, 0.1, center=(0, -1.0), angle=1.0)
        self.pivot = fm.planar.Revolute("pivot", self.ground.at(0, 0), self.bob.at(0, 0))
        self.car = fm.PlanarBody("car", 1.0, 0.1, center=(0.2, 0.0))
        self.track = fm.planar.Prismatic("track", self.ground.at(0, 2), self.car.at(0, 0), axis="x")
        self.motor = fm.Drive("motor", self.track.distance, lambda t: 0.05 * t**2)
        damper = fm.SpringDamper("damper", self.pivot.angle, damping=0.3)
        bodies, joints = [self.ground, self.bob, self.car], [self.pivot, self.track, self.motor]
        self.system = fm.System(bodies, joints, [fm.Gravity((0, -9.81, 0)), damper])
        self.motion = fm.forward_dynamics(self.system, 2.0, step=0.005, output_step=0.02)


@pytest.fixture(scope="module")
def model() -> Pendulum:
    return Pendulum()


def lines(axis: Any) -> dict[str, Any]:
    return {line.get_label(): line.get_ydata() for line in axis.get_lines()}


def test_histories(model: Pendulum, tmp_path: Path) -> None:
    motion = model.motion
    own = ("twice the angle [rad]", 2 * motion.coordinate(model.pivot.angle))
    figure = view.plot(motion, [[model.pivot.angle, own], model.track.distance, model.bob.at(0, -1), model.motor])
    angle, distance, place, force = figure.axes
    np.testing.assert_allclose(lines(angle)["pivot.angle"], motion.coordinate(model.pivot.angle))
    assert set(lines(angle)) == {"pivot.angle", "twice the angle"}
    assert angle.get_ylabel() == "angle, twice the angle [rad]"
    assert distance.get_ylabel() == "distance [mm]"  # 0.2 m at most
    np.testing.assert_allclose(lines(distance)["track.distance"], 50 * motion.t**2, atol=1e-6)
    assert place.get_ylabel() in ("position [m]", "position [mm]")
    assert len(place.get_lines()) == 2  # x and y
    assert force.get_ylabel() == "force [N]"
    np.testing.assert_allclose(lines(force)["motor"], 0.1, rtol=1e-6)  # m x''
    assert force.get_xlabel() == "time [s]"
    figure.savefig(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 10_000


def test_energies(model: Pendulum) -> None:
    (axis,) = view.energies(model.motion, title="pendulum").axes
    curves = lines(axis)
    assert axis.get_ylabel() == "energy [J]"
    np.testing.assert_allclose(curves["total"], curves["kinetic"] + curves["potential"])
    change = curves["supplied"] - curves["dissipated"]
    np.testing.assert_allclose(curves["total"] - curves["total"][0], change, atol=2e-3 * curves["kinetic"].max())


def test_reactions(model: Pendulum) -> None:
    figure = view.reactions(model.motion, model.track)
    force, moment = figure.axes
    weight = lines(force)["Fy"]
    np.testing.assert_allclose(weight, 9.81, rtol=1e-9)
    np.testing.assert_allclose(lines(force)["size"], np.hypot(lines(force)["Fx"], weight))
    assert force.get_ylabel() == "force [N]"
    assert moment.get_ylabel() == "moment [N m]"
    np.testing.assert_allclose(lines(moment)["Mz"], 9.81 * 0.2, rtol=1e-9)  # the weight, off the middle
    assert len(view.reactions(model.motion, model.pivot).axes) == 1  # a hinge carries no moment
    assert view.reactions(model.motion, model.motor).axes[0].get_ylabel() == "force [N]"
    assert view.reactions(model.motion, model.ground).axes[0].get_ylabel() == "force [N]"


def test_phase(model: Pendulum) -> None:
    (axis,) = view.phase(model.motion, model.pivot.angle).axes
    curve = axis.get_lines()[0]
    angle, rate = curve.get_xdata(), curve.get_ydata()
    assert axis.get_xlabel() == "pivot.angle [rad]"
    assert axis.get_ylabel() == "its rate [rad/s]"
    np.testing.assert_allclose(rate, model.motion.v[:, 2], atol=1e-12)  # exactly the speed of the bob
    np.testing.assert_allclose(rate[1:-1], ((angle[2:] - angle[:-2]) / 0.04), atol=5e-3)
    slider = view.phase(model.motion, model.track.distance).axes[0]
    np.testing.assert_allclose(slider.get_lines()[0].get_ydata()[1:-1], 0.1 * model.motion.t[1:-1], atol=1e-6)


@pytest.mark.parametrize("window", WINDOWS)
def test_a_sine_shows_its_amplitude(window: str) -> None:
    """Whatever the window: 3 at 5 Hz, 0.5 at 12 Hz, nothing of the mean."""
    t = np.arange(0.0, 4.0, 1 / 256)
    y = 7.0 + 3.0 * np.sin(2 * np.pi * 5 * t) + 0.5 * np.cos(2 * np.pi * 12 * t)
    frequencies, amplitudes = amplitude_spectrum(t, y, window)
    for f, a in ((5.0, 3.0), (12.0, 0.5), (0.0, 0.0), (40.0, 0.0)):
        assert amplitudes[np.argmin(np.abs(frequencies - f)), 0] == pytest.approx(a, abs=1e-6)


def test_a_window_keeps_leakage_away() -> None:
    """Between two bins a bare transform leaks everywhere, a window does not; a flat top keeps the amplitude."""
    t = np.arange(0.0, 4.0, 1 / 256)
    y = np.sin(2 * np.pi * 5.125 * t)  # half a bin off
    far = slice(60, None)
    bare, hann = (amplitude_spectrum(t, y, w)[1][far].max() for w in ("none", "hann"))
    assert hann < 0.01 * bare
    assert amplitude_spectrum(t, y, "flattop")[1].max() == pytest.approx(1.0, abs=2e-3)


def test_spectrum(model: Pendulum) -> None:
    t = np.sort(np.concatenate([[0.0, 10.0], 10 * np.random.default_rng(3).random(4000)]))
    figure = view.spectrum(t, np.stack([np.sin(2 * np.pi * t), np.cos(6 * np.pi * t)], axis=1), unit="mm", highest=8.0)
    (axis,) = figure.axes
    peaks = [line.get_xdata()[np.argmax(line.get_ydata())] for line in axis.get_lines()]
    np.testing.assert_allclose(peaks, [1.0, 3.0], atol=0.06)
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("frequency [Hz]", "amplitude [mm]")
    assert axis.get_xlim() == (0.0, 8.0)
    assert view.spectrum(t, np.sin(t), log=True).axes[0].get_yscale() == "log"


def test_frequency_response() -> None:
    """A mass on a spring and a damper: 1 / (k - m ω² + i c ω)."""
    ground, car = fm.Ground(), fm.PlanarBody("car", 2.0, 0.1)
    track = fm.planar.Prismatic("track", ground.at(0, 0), car.at(0, 0), axis="x")
    spring = fm.SpringDamper("spring", track.distance, stiffness=800.0, damping=4.0)
    model = fm.linearise(fm.System([ground, car], [track], [spring]), [track.distance], [track.distance])
    f = np.geomspace(0.5, 20.0, 60)
    gain, phase = view.frequency_response(model, f).axes
    omega = 2 * np.pi * f
    exact = 1 / (800 - 2 * omega**2 + 4j * omega)
    np.testing.assert_allclose(gain.get_lines()[0].get_ydata(), np.abs(exact), rtol=1e-6)
    np.testing.assert_allclose(phase.get_lines()[0].get_ydata(), np.degrees(np.angle(exact)), atol=1e-4)
    assert (gain.get_yscale(), phase.get_xlabel()) == ("log", "frequency [Hz]")
    for words, request in {
        "a model from fm.linearise": lambda: view.frequency_response(3, f),
        "positive frequencies": lambda: view.frequency_response(model, [0.0, 1.0]),
        "no output 'speed'": lambda: view.frequency_response(model, f, outputs=["speed"]),
    }.items():
        with pytest.raises(fm.AnalysisError, match=words):
            request()


def test_frequency_response_of_a_result() -> None:
    """The curves are the response; it has its frequencies."""
    point = fm.Mesh([[0.0, 0.0, 0.0]], [("vertex", [[0]])])
    model = fm.Elements(point, attachments=[fm.LumpedMass("all", 2.0), fm.GroundSpring("all", (800.0, 800.0, 800.0))])
    f = np.geomspace(0.5, 20.0, 40)
    found = fm.frequency_response(model, f, ("all", "x"), "all", damping=fm.Rayleigh(mass=0.5))
    gain, phase = view.frequency_response(found, outputs=["all x"]).axes
    np.testing.assert_allclose(gain.get_lines()[0].get_ydata(), np.abs(found.of("all x")))
    np.testing.assert_allclose(phase.get_lines()[0].get_ydata(), np.degrees(np.angle(found.of("all x"))), atol=1e-9)
    with pytest.raises(fm.AnalysisError, match="has its frequencies"):
        view.frequency_response(found, f)


def test_campbell() -> None:
    """Lines of modes, backward dashed, rays of orders with marks where they meet."""
    point = fm.Mesh([[0.0, 0.0, 0.0]], [("vertex", [[0]])])
    model = fm.Elements(point, attachments=[fm.LumpedMass("all", 2.0), fm.GroundSpring("all", (800.0, 800.0, 1e5))])
    diagram = fm.campbell(
        model, [0.0, 5.0, 15.0, 25.0], count=2, fixed={"all": "z"}, frame="inertial", damping=fm.Rayleigh(mass=0.1)
    )
    axis, damping = view.campbell(diagram, orders=(1, 2), damping=True, rpm=True).axes
    drawn = axis.get_lines()
    np.testing.assert_allclose(drawn[0].get_ydata(), diagram.frequencies[:, 0])
    styles = {line.get_label().split()[1]: line.get_linestyle() for line in drawn[:2]}
    assert styles == {"forward": "-", "backward": "--"}
    rays = [line for line in drawn[2:] if line.get_linestyle() == "-"]
    np.testing.assert_allclose(rays[1].get_ydata(), 2 * diagram.speeds / (2 * np.pi))
    marks = [line for line in drawn if line.get_marker() == "o"]
    np.testing.assert_allclose(marks[0].get_xdata(), 20.0 * 30 / np.pi, rtol=1e-3)
    assert axis.get_ylabel() == "frequency in the inertial frame [Hz]"
    assert damping.get_xlabel() == "speed [rpm]"
    np.testing.assert_allclose(damping.get_lines()[0].get_ydata(), diagram.damping[:, 0])
    for words, request in {
        "from fm.campbell": lambda: view.campbell(3),
        "orders are numbers": lambda: view.campbell(diagram, orders=("first",)),
    }.items():
        with pytest.raises(fm.AnalysisError, match=words):
            request()


def test_convergence() -> None:
    h = np.array([0.1, 0.05, 0.025])
    (axis,) = view.convergence(h, {"mine": 3 * h**2, "theirs": h}, orders=(2,)).axes
    assert [text.get_text() for text in axis.get_legend().get_texts()] == [
        "mine: order 2.00",
        "theirs: order 1.00",
        "slope 2",
    ]
    assert (axis.get_xlabel(), axis.get_ylabel(), axis.get_xscale()) == ("step [s]", "error", "log")
    for words, request in {
        "two positive steps": lambda: view.convergence([0.1], [1.0]),
        "'error' needs 3 positive errors": lambda: view.convergence(h, [1.0, 0.0, 1.0]),
    }.items():
        with pytest.raises(fm.AnalysisError, match=words):
            request()


def test_wrong_requests_are_refused_in_words(model: Pendulum) -> None:
    motion, t = model.motion, np.linspace(0.0, 1.0, 20)
    one = as_one_instant(model)
    for words, request in {
        "at least one quantity": lambda: view.plot(motion, []),
        "is no quantity": lambda: view.plot(motion, [3.0]),
        "the result has 101 instants": lambda: view.plot(motion, [("x [m]", np.zeros(3))]),
        "plot: a Result": lambda: view.plot(model.system, [model.pivot.angle]),
        "energies: a Result": lambda: view.energies(3),
        "reactions: a joint": lambda: view.reactions(motion, model.bob),
        "phase: a joint's coordinate": lambda: view.phase(motion, model.pivot),
        "phase: a motion is needed": lambda: view.phase(one, model.pivot.angle),
        "at least eight instants": lambda: view.spectrum(t[:5], t[:5]),
        "as many finite values": lambda: view.spectrum(t, t[:9]),
        "must increase": lambda: view.spectrum(t[::-1], t),
        "window is one of": lambda: view.spectrum(t, t, window="square"),
    }.items():
        with pytest.raises(fm.AnalysisError, match=words):
            request()


def as_one_instant(model: Pendulum) -> fm.Result:
    return fm.inverse_dynamics(fm.System([model.ground, model.car], [model.track, model.motor]), np.array([0.0]))


def test_waterfall_follows_a_sweep() -> None:
    """A sine whose frequency rises from 10 to 50 Hz, of growing amplitude: each spectrum peaks where it is."""
    t = np.linspace(0.0, 20.0, 8001)
    phase = 2 * np.pi * (10 * t + t**2)  # 10 + 2 t Hz
    middles, frequencies, amplitudes = short_spectra(t, (1 + 0.1 * t) * np.sin(phase), "flattop", length=0.5, count=25)
    assert len(middles) == 25
    assert middles[0] == pytest.approx(0.25, abs=0.01)
    assert middles[-1] == pytest.approx(19.75, abs=0.01)
    peaks = frequencies[amplitudes.argmax(axis=1)]
    np.testing.assert_allclose(peaks, 10 + 2 * middles, atol=2.1)  # they are 2 Hz apart
    np.testing.assert_allclose(amplitudes.max(axis=1), 1 + 0.1 * middles, rtol=0.03)


def test_waterfall() -> None:
    """Lines stand at their times, or speeds, the tallest 4 gaps high; rays of orders; a map has a bar with its unit."""
    t = np.linspace(0.0, 20.0, 4001)
    speed = 2 * np.pi * (5 + t)
    y = np.sin(2 * np.pi * (5 * t + t**2 / 2))
    (axis,) = view.waterfall(t, y, count=12, unit="mm").axes
    curves = axis.get_lines()
    assert len(curves) == 12
    floors = np.sort([curve.get_ydata().min() for curve in curves])
    gaps = np.diff(floors)
    np.testing.assert_allclose(gaps, gaps.mean(), rtol=0.02)
    tallest = max(np.ptp(curve.get_ydata()) for curve in curves)
    assert tallest == pytest.approx(4 * gaps.mean(), rel=0.02)
    order = [curve.get_zorder() for curve in sorted(curves, key=lambda c: -c.get_ydata().min())]
    assert order == sorted(order)  # the lower, the nearer
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("frequency [Hz]", "time [s]")
    assert "mm" in axis.get_title(loc="left")
    (axis,) = view.waterfall(t, y, speed=speed, orders=(1,), rpm=True, highest=40.0).axes
    assert axis.get_ylabel() == "speed [rpm]"
    ray = axis.get_lines()[-1]
    np.testing.assert_allclose(ray.get_xdata(), ray.get_ydata() / 60)  # the first order turns with the shaft
    assert axis.get_xlim() == (0.0, 40.0)
    image, bar = view.waterfall(t, y, kind="map", unit="mm", log=True).axes
    assert bar.get_ylabel() == "amplitude [mm]"
    assert image.get_ylabel() == "time [s]"


def test_curves_with_times_of_their_own(model: Pendulum) -> None:
    motion = model.motion
    other = np.linspace(0.0, 0.1, 5)
    (axis,) = view.plot(motion, [[("here [m]", motion.t), ("there [m]", other, 2 * other)]]).axes
    here, there = axis.get_lines()
    np.testing.assert_array_equal(there.get_xdata(), other)
    np.testing.assert_array_equal(here.get_xdata(), motion.t)
    assert axis.get_ylabel() == "here, there [m]"
    (axis,) = view.plot(motion, [[("a rather long name [m]", motion.t), ("another one [m]", motion.t)]]).axes
    assert axis.get_ylabel() == "[m]"


def test_rates_of_sliders_are_exact(model: Pendulum) -> None:
    """To the very ends, where differences would be wrong."""
    axis = view.phase(model.motion, model.track.distance).axes[0]
    np.testing.assert_allclose(axis.get_lines()[0].get_ydata(), 0.1 * model.motion.t, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kind": "hills"}, '"lines" or "map"'),
        ({"length": 1e9}, "length must be between"),
        ({"length": float("nan")}, "length must be between"),
        ({"count": 1}, "at least 2"),
        ({"orders": (1,)}, "give speed= too"),
        ({"speed": [1.0]}, "one finite value for each time"),
        ({"speed": np.sin(np.linspace(0, 9, 200))}, "must rise"),
        ({"highest": -1.0}, "highest must be"),
        ({"window": "hat"}, "window is one of"),
    ],
)
def test_waterfalls_refused(options: dict[str, Any], words: str) -> None:
    t = np.linspace(0.0, 1.0, 200)
    with pytest.raises(fm.AnalysisError, match=words):
        view.waterfall(t, np.sin(40 * t), **options)
