"""Every example runs as it is, and its outcome is what mechanics says."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from flexmbs.view.figure import RenderWarning

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name: str) -> dict[str, Any]:
    """Names at the end of an example, run without its pictures."""
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def draw(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Names at the end of an example, run with its pictures, none of which is empty."""
    monkeypatch.chdir(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RenderWarning)  # without OpenGL pictures are simpler
        names = runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    pictures = list(folder.glob("*.png"))
    assert pictures
    for picture in pictures:
        assert 0.01 < np.mean(imread(picture)[:, :, :3].min(axis=2) < 0.9) < 0.8
    return names


def test_all_are_tested() -> None:
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {path.stem for path in EXAMPLES.glob("*.py")} <= tested


def test_connecting_rod_modes() -> None:
    """Bending out of the plane is softer than in it, then torsion; effective masses stay below the mass."""
    names = run("connecting_rod_modes")
    modes, mass = names["modes"], names["mass"].mass
    assert np.all(np.diff(modes.frequencies) > 0)
    assert np.argmax(modes.effective_mass[:2], axis=1).tolist() == [2, 1]
    assert np.all(modes.effective_mass.sum(axis=0) < mass)


def test_element_matrices() -> None:
    names = run("element_matrices")
    mass = 7850.0 * 0.01
    np.testing.assert_allclose(names["total"], mass * np.eye(3), atol=1e-10 * mass)
    # the first bending frequency of a slender beam, which shear lowers by a per cent
    slender = 1.8751**2 / (2 * np.pi) * np.sqrt(210e9 * 0.1**4 / 12 / mass)
    assert names["modes"].frequencies[0] == pytest.approx(slender, rel=0.02)
    # -q is the inertia force of a rigid part whose mass centre is at (0.5, 0.05, 0.05): m (ω² c - ε × c)
    force = mass * np.array([900.0 * 0.5 + 5.0 * 0.05, 900.0 * 0.05 - 5.0 * 0.5, 0.0])
    np.testing.assert_allclose(-names["translations"].T @ names["q"], force, atol=1e-8)


def test_spinning_blade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stiffens as Southwell says; twenty modes agree with all nodes; the crossing lies on the ray of its order."""
    names = draw("spinning_blade", tmp_path, monkeypatch)
    diagram = names["diagram"]
    assert diagram.frequencies.shape == (31, 6)
    assert np.all(np.diff(names["frequencies"][:, 0]) > 0)
    assert names["softened"].frequencies[1, 0] < names["frequencies"][0, 0]
    assert names["southwell"][9] == pytest.approx(names["southwell"][29], rel=0.03)
    assert 1.2 < names["southwell"][29] < 4.0
    np.testing.assert_allclose(names["frequencies"][-1, :3], names["every_node"].frequencies, rtol=1e-3)
    (crossing,) = diagram.crossings(4)
    assert crossing.frequency == pytest.approx(4 * crossing.speed / (2 * np.pi), rel=1e-9)


def test_rotor_overhung(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forward whirl stiffens and backward softens; the shaft's own damping drives forward whirl beyond its critical
    speed; a disc shaken while it runs answers at the frequencies of the diagram.
    """
    names = draw("rotor_overhung", tmp_path, monkeypatch)
    diagram = names["diagram"]
    assert diagram.directions[:2] == ("backward", "forward")
    assert np.all(np.diff(diagram.frequencies[:, 0]) < 0)
    assert np.all(np.diff(diagram.frequencies[:, 1]) > 0)
    first, second, *_ = diagram.critical_speeds
    assert first.frequency == pytest.approx(first.speed / (2 * np.pi), rel=1e-9)
    assert second.direction == "forward"
    assert second.speed < names["dry"].stability_limit < diagram.stability_limit
    assert names["peak"] == pytest.approx(diagram.frequencies[12, 0], abs=1.0)


def test_bracket_stress() -> None:
    """Reactions balance the force; the work of the force is the strain energy (Clapeyron)."""
    names = run("bracket_stress")
    np.testing.assert_allclose(names["reaction"][:3], -names["FORCE"], atol=1e-6 * 3000)
    assert names["result"].strain_energy == pytest.approx(names["work"], rel=1e-9)
    center = names["bracket"].weights("load") @ names["bracket"].points[names["bore"]]
    moments = names["result"].reaction("bolts", about=center)[3:]
    np.testing.assert_allclose(moments, 0.0, atol=1e-6 * 3000 * 0.05)


def test_cook_membrane() -> None:
    table, reference = run("cook_membrane")["table"], 23.9677
    for values in table.values():
        assert np.all(np.diff(values) > 0)
    assert table["quad, plain"][1] < 0.8 * reference < 0.95 * reference < table["quad"][1]
    assert table["quad8"][-1] == pytest.approx(reference, rel=2e-3)


def test_portal_frame() -> None:
    """Shear and stretch, which the formula leaves out, add a fraction of a per cent."""
    names = run("portal_frame")
    assert 1.0 < names["sway"] / names["by_hand"] < 1.01
    np.testing.assert_allclose(names["swayed"].reaction("ground")[:3], [-1000.0, 0.0, 0.0], atol=1e-6)


def test_pendulum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The period of cases from elliptic integrals; in the lowest position the pivot holds three times the weight."""
    names = draw("pendulum", tmp_path, monkeypatch)
    assert names["exact"] == pytest.approx(2.367841947576237, rel=1e-12)
    assert names["period"] == pytest.approx(names["exact"], abs=1e-7)
    assert names["motion"].reaction(names["pivot"])[:, 1].max() == pytest.approx(3 * 9.81, rel=1e-3)


def test_governor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In steady motion Ω² h = g (m + M) / m; the balls rise together."""
    names = draw("governor", tmp_path, monkeypatch)
    assert names["governor"].mobility == 1
    assert names["height"][-1] == pytest.approx(names["by_formula"], rel=1e-4)
    assert names["height"][0] == pytest.approx(9.81 * 3 / 13**2, rel=1e-9)
    places = [names["motion"].position(arm.at(0, 0, -0.2)) for arm in names["arms"]]
    np.testing.assert_allclose(places[0][:, :2], -places[1][:, :2], atol=1e-9)


def test_robot_arm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forward kinematics by the product of exponentials; work of the motors; static torques at both ends."""
    names = draw("robot_arm", tmp_path, monkeypatch)
    np.testing.assert_allclose(names["reached"], names["point"], atol=1e-10)
    assert names["work"] == pytest.approx(names["gained"], rel=1e-3)
    parts, joints, motion = names["parts"], names["joints"], names["motion"]
    centers = [motion.position(body.at(*body.center))[-1] for body in parts[1:]]
    weights = np.array([body.mass for body in parts[1:]]) * 9.81
    for k, axis in enumerate(names["AXES"]):  # what lies beyond a joint pulls with its weight about the axis
        origin = motion.position(joints[k].frame_j)[-1]
        line = motion.rotation(joints[k].frame_i)[-1][:, "xyz".index(axis)]
        moment = sum(np.cross(c - origin, [0, 0, w]) for c, w in zip(centers[k:], weights[k:], strict=True))
        assert names["torques"][-1, k] == pytest.approx(line @ moment, abs=1e-9)


def test_rolling_disc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The closed form of the steady circle, and no energy lost by rolling."""
    names = draw("rolling_disc", tmp_path, monkeypatch)
    assert np.abs(names["radius"] - names["RHO"]).max() < 1e-5
    assert names["home"] < 1e-4
    assert np.ptp(names["energy"]) < 1e-4 * names["energy"][0]
    lean = [m.rotation(d)[:, 2, 2] for m, d in ((names["steady"], names["disc"]), (names["wobble"], names["wobbling"]))]
    assert np.ptp(lean[0]) < 1e-4 < 0.05 < np.ptp(lean[1])


def test_slider_crank_torque(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All formulations agree, and over a turn the torque does no work."""
    names = draw("slider_crank_torque", tmp_path, monkeypatch)
    one, *others = names["torques"].values()
    for other in others:
        np.testing.assert_allclose(other, one, atol=1e-9 * np.abs(one).max())
    assert np.trapezoid(one, names["times"]) == pytest.approx(0.0, abs=1e-6 * np.abs(one).max() * names["times"][-1])
    assert names["stroke"] == pytest.approx(2 * names["RADIUS"])


def test_four_bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One motion in spite of three redundant rows; the motor's work is the change of energy."""
    names = draw("four_bar", tmp_path, monkeypatch)
    assert names["linkage"].mobility == 0  # the motor takes the one motion
    assert len(names["linkage"].redundant) == 3
    energy = names["motion"].energy.total
    assert names["work"] == pytest.approx(energy[-1] - energy[0], rel=5e-3)


def test_bricard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One motion in spite of Grübler; it follows the closed form, turning far, and keeps its energy."""
    names = draw("bricard", tmp_path, monkeypatch)
    assert names["linkage"].mobility == 1
    assert len(names["linkage"].redundant) == 1
    assert names["misfit"] < 1e-10
    assert np.ptp(names["phi"]) > 1.0
    assert names["apart"] < 1e-3
    alike = [names["motion"].coordinate(names["hinges"][k].angle) for k in (1, 3, 5)]
    np.testing.assert_allclose(alike[1:], [alike[0]] * 2, atol=1e-10)
    energy = names["precise"].energy
    assert np.ptp(energy.total) < 1e-6 * energy.kinetic.max()


def test_swinging_brick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = draw("swinging_brick", tmp_path, monkeypatch)
    errors = names["errors"]
    assert 3.6 < errors[0] / errors[1] < 4.4
    assert 3.6 < errors[1] / errors[2] < 4.4
    np.testing.assert_allclose(
        names["precise"].reaction(names["ball"])[-1, :3], [-1.55660097, 8.37911267, 2.21638198], atol=1e-6
    )


def test_cam_follower() -> None:
    """Lift and contact force are those of the closed form; at the speed it gives, the follower is about to lift off."""
    names = run("cam_follower")
    assert names["lift_error"] < 1e-10
    assert names["force_error"] < 1e-4
    assert abs(names["force"].min()) < 1e-2
    assert names["force"].max() > 150.0
    # what the motor gives in one turn the follower and its spring give back
    work = np.trapezoid(names["torque"], names["angle"])
    assert abs(work) < 1e-6 * np.trapezoid(np.abs(names["torque"]), names["angle"])


def test_gear_train() -> None:
    """Willis' ratio, the torque of statics at steady speed, and two planets that only share the load."""
    names = run("gear_train")
    assert len(names["hoist"].redundant) == 2
    assert names["speeds"]["carrier"] == pytest.approx(60.0 * 18 / 66, rel=1e-9)
    assert names["speeds"]["planet 0"] == pytest.approx(60.0 * 18 / 66 * (1 - 48 / 15), rel=1e-9)
    assert names["torque"][-1] == pytest.approx(names["holding"], rel=1e-8)
    energy = names["motion"].energy
    assert abs(energy.drift[-1]) < 1e-4 * energy.total[-1]


def test_flexible_slider_crank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rod bends between its pins by micrometres, and nothing of the motor's work is lost."""
    names = draw("flexible_slider_crank", tmp_path, monkeypatch)
    assert names["balance"] < 2e-5
    assert names["engine"].mobility == names["rod"].modes - 1  # the pins' line is held across the plane at both ends
    bend = np.abs(names["bend"][:, 1]).max()
    assert 5e-6 < bend < 9e-6
    piston = names["motion"].position(names["piston"])
    angle = names["motion"].coordinate(names["shaft"].angle)
    rigid = 0.05 * np.cos(angle) + np.sqrt(0.15**2 - (0.05 * np.sin(angle)) ** 2)
    assert np.abs(piston[:, 0] - rigid).max() < 3e-5
    assert not names["motion"].warnings


def test_flexible_four_bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work and energy agree; the rocker lags by what the bars bend, and no more."""
    names = draw("flexible_four_bar", tmp_path, monkeypatch)
    assert names["unexplained"] < 5e-5
    assert all(1e-5 < np.abs(bend).max() < 1e-3 for bend in names["bends"])
    assert 1e-5 < np.abs(names["swing"]).max() < 5e-3


def test_spin_up_beam(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The published tip deflection; and the divergence that linear theory predicts."""
    names = draw("spin_up_beam", tmp_path, monkeypatch)
    tip, t = names["tip"], names["motion"].t
    assert tip.min() == pytest.approx(-0.800687, rel=2e-3)
    for at, value in ((5.0, -0.670685), (7.5, -0.749270), (10.0, -0.451225)):
        assert np.interp(at, t, tip) == pytest.approx(value, rel=5e-3)
    assert np.interp(7.5, names["linear"].t, names["wrong"]) == pytest.approx(-4.72, rel=5e-3)


def test_flexible_robot_arm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It rings at the frequency of one finite-element model of the locked arm."""
    names = draw("flexible_robot_arm", tmp_path, monkeypatch)
    assert names["heard"] == pytest.approx(names["locked"][1], rel=5e-3)
    assert np.abs(names["gentle"][-800:]).max() < 0.5 * np.abs(names["off"][names["after"]]).max()


def test_satellite_panels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Momentum is the torque's impulse; what is left at the end is only energy of vibration."""
    names = draw("satellite_panels", tmp_path, monkeypatch)
    np.testing.assert_allclose(names["spin"], names["impulse"], atol=1e-5 * names["spin"].max())
    total = names["motion"].energy.total[names["rest"]]
    assert 0 < np.ptp(total) < 1e-3 * total.max()
    assert np.abs(names["motion"].momentum.linear).max() < 1e-6


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda p: p.stem)
def test_each_begins_with_its_mathematics(path: Path) -> None:
    text = path.read_text()
    assert text.startswith('"""')
    assert len(text.splitlines()) < 80
