"""Mode shapes, still and swinging, of parts and of mechanisms: what is drawn is the shape, at the right phase."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageSequence

import flexmbs as fm
from flexmbs import view
from flexmbs.view.scene import Picture, Surface

STEEL = fm.Material(young=210e9, poisson=0.3, density=7850.0, name="steel")


@pytest.fixture(scope="module")
def bar() -> fm.Modes:
    return fm.modes(fm.Mesh.box((0.4, 0.1, 0.05), (4, 2, 1)), STEEL, fixed="x0", count=3)


class Swings:
    """Two planar pendulums that hang one below the other, 1 m each, with a weak damper in the upper hinge."""

    def __init__(self) -> None:
        ground = fm.Ground()
        self.upper = fm.PlanarBody("upper", 1.0, 0.1, center=(0.5, 0.0))
        self.lower = fm.PlanarBody("lower", 1.0, 0.1, center=(0.5, 0.0))
        first = fm.planar.Revolute("first", ground.at(0, 0), self.upper.at(0, 0), start=-np.pi / 2)
        second = fm.planar.Revolute("second", self.upper.at(1, 0), self.lower.at(0, 0))
        damper = fm.SpringDamper("damper", first.angle, stiffness=0.0, damping=0.2)
        self.system = fm.System([ground, self.upper, self.lower], [first, second], [fm.Gravity((0, -9.81, 0)), damper])
        self.modes = fm.modes(self.system)


@pytest.fixture(scope="module")
def swings() -> Swings:
    return Swings()


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Picture]:
    """The pictures that would be written, of stills and films."""
    found: list[Picture] = []
    monkeypatch.setattr("flexmbs.view.mode_pictures.write", lambda picture, path, size: found.append(picture))
    monkeypatch.setattr("flexmbs.view.film.write", lambda pictures, path, fps, size, repeat: found.extend(pictures))
    return found


def surfaces(picture: Picture, panel: int = 0) -> list[Surface]:
    return [item for item in picture.panels[panel].items if isinstance(item, Surface) and item.values is not None]


def frames_of(path: Path) -> list[Any]:
    with Image.open(path) as image:
        return [np.asarray(frame.convert("RGB"), dtype=float) for frame in ImageSequence.Iterator(image)]


def test_a_part_swings(bar: fm.Modes, seen: list[Picture]) -> None:
    """cos φ times the shape: opposite after half a swing, at rest after a quarter; one camera and one range."""
    view.mode(bar, 1, "bar.gif", frames=8)
    assert len(seen) == 8
    rest = seen[0].panels[0].items[0].points
    moved = [surfaces(p)[0].points - rest for p in seen]
    np.testing.assert_allclose(moved[4], -moved[0], atol=1e-12)
    np.testing.assert_allclose(moved[2], 0.0, atol=1e-12)
    np.testing.assert_allclose(moved[1], np.sqrt(0.5) * moved[0], atol=1e-12)
    assert np.linalg.norm(moved[0], axis=1).max() == pytest.approx(0.08 * bar.elements.mesh.size)
    values = [surfaces(p)[0].values for p in seen]
    assert values[0] is not None
    assert values[0].max() == pytest.approx(1.0)
    np.testing.assert_allclose(values[1], np.sqrt(0.5) * values[0], atol=1e-12)
    assert len({id(p.panels[0].camera) for p in seen}) == 1
    assert seen[0].panels[0].title == f"mode 1: {bar.frequencies[0]:.5g} Hz"


def test_travelling_waves_travel(seen: list[Picture]) -> None:
    """Modes of a spinning bar are complex: a quarter of a swing later it is displaced, but otherwise."""
    mesh = fm.Mesh.box((0.4, 0.05, 0.05), (4, 1, 1))
    modes = fm.modes(mesh, STEEL, fixed="x0", count=1, spin=(300.0, 0.0, 0.0))
    view.mode(modes, 1, "bar.gif", frames=4)
    rest = seen[0].panels[0].items[0].points
    moved = [surfaces(p)[0].points - rest for p in seen]
    sizes = [np.linalg.norm(m, axis=1).max() for m in moved]
    assert min(sizes) > 0.2 * max(sizes)  # it whirls, and passes the middle never
    along = np.sum(moved[0] * moved[1]) / np.linalg.norm(moved[0]) / np.linalg.norm(moved[1])
    assert abs(along) < 0.1


def test_mechanisms_swing_in_their_modes(swings: Swings, seen: list[Picture]) -> None:
    """Small, each point moves by its body's share of the shape; the lower pendulum swings with, then against the upper.

    The eigenvectors of two equal rods: the ratio of their angles follows from (K - ω² M) φ = 0, without the damper.
    """
    m, h, inertia, g = 1.0, 0.5, 0.1, 9.81
    mass = np.array([[inertia + m * h * h + m, m * h], [m * h, inertia + m * h * h]])
    stiffness = np.diag([m * g * h + m * g, m * g * h])
    squares, vectors = np.linalg.eig(np.linalg.solve(mass, stiffness))
    for number, k in enumerate(np.argsort(squares), start=1):
        expected = vectors[1, k] / vectors[0, k]
        view.mode(swings.modes, number, "swing.gif", frames=8, scale=1e-3)
        first = seen[0]
        assert first.panels[0].title.startswith(f"mode {number}: {np.sqrt(squares[k]) / (2 * np.pi):.3f}"[:12])
        assert "damping" in first.panels[0].title
        rest, moved = _ends(seen[2]), _ends(seen[0])  # at a quarter it passes the middle, but for the damper
        tilt = [np.arctan2(x, -y) for x, y in (moved[0], moved[1] - moved[0])]
        assert tilt[1] / tilt[0] == pytest.approx(expected, rel=0.02)
        assert np.abs(rest[:, 0]).max() < 0.1 * np.abs(moved[:, 0]).max()
        seen.clear()


def _ends(picture: Picture) -> Any:
    """Where the lower ends of both pendulums are: the middles of the round ends of their links, and of their pins."""
    links = [item for item in picture.panels[0].items if isinstance(item, Surface) and item.values is not None]
    points = np.concatenate([item.points for item in links])[:, :2]
    upper = points[(points[:, 1] > -1.2) & (points[:, 1] < -0.8)]
    lower = points[points[:, 1] < -1.4]
    return np.array([upper.mean(axis=0), lower.mean(axis=0)])


def test_mode_pictures_share_one_camera(swings: Swings, seen: list[Picture]) -> None:
    """Side by side in one size; everything in it, visible but not wild; colours up to one."""
    view.modes(swings.modes, "both.png")
    (picture,) = seen
    assert len(picture.panels) == 2
    one, other = (panel.camera for panel in picture.panels)
    assert one is other
    for k in range(2):
        points = one.project(np.concatenate([item.points for item in picture.panels[k].items]))
        assert np.abs(points[:, 0]).max() <= one.width / 2
        assert np.abs(points[:, 1]).max() <= one.height / 2
        values = np.concatenate([s.values for s in surfaces(picture, k) if s.values is not None])
        assert values.max() == pytest.approx(1.0, abs=0.02)
        assert values.min() < 0.1


def test_flexible_mechanisms_too(tmp_path: Path) -> None:
    """A beam on two bearings: the pixels of its hottest part are below the line of the bearings, then above."""
    ground = fm.Ground()
    beam = fm.FlexibleBody(
        "beam", fm.Mesh.line((0, 0, 0), (1, 0, 0), 8), STEEL, section=fm.Section.rectangle(0.02, 0.02),
        interfaces=["start", "end"], reduction=fm.CraigBampton(modes=2),
    )  # fmt: skip
    ends = [
        fm.Revolute("left", ground.at(0, 0, 0), beam.at("start"), axis="y"),
        fm.Spherical("right", ground.at(1, 0, 0), beam.at("end")),
    ]
    modes = fm.modes(fm.System([ground, beam], ends))
    path = view.mode(modes, 1, tmp_path / "beam.gif", frames=4, look="-y", size=(480, 240))
    assert path is not None
    up, _, down, _ = frames_of(path)
    hot = [np.mean(np.argwhere((f[:, :380, 0] > 150) & (f[:, :380, 2] < 90))[:, 0]) for f in (up, down)]
    assert abs(hot[0] - hot[1]) > 20  # pixels


def test_films_are_written(bar: fm.Modes, swings: Swings, tmp_path: Path) -> None:
    path = view.modes(bar, tmp_path / "bar.gif", numbers=[1, 2], frames=4, size=(480, 160))
    assert path is not None
    frames = frames_of(path)
    assert [f.shape for f in frames] == 4 * [(160, 480, 3)]
    assert np.mean(np.abs(frames[0] - frames[1]) > 30) > 0.01
    path = view.mode(swings.modes, 1, tmp_path / "swing.mp4", frames=2, size=(320, 208), fps=10)
    assert path is not None
    assert path.stat().st_size > 1000


def test_wrong_requests_are_refused_in_words(bar: fm.Modes, swings: Swings, tmp_path: Path) -> None:
    for words, request in {
        "numbered from 1 to 2": lambda: view.mode(swings.modes, 3, tmp_path / "a.png"),
        "frames must be": lambda: view.mode(bar, 1, tmp_path / "a.gif", frames=1),
        "fps must be": lambda: view.mode(bar, 1, tmp_path / "a.gif", fps=-1.0),
        "no folder": lambda: view.mode(bar, 1, tmp_path / "nowhere" / "a.gif"),
        "modes from fm.modes are needed, not str": lambda: view.modes("modes", tmp_path / "a.png"),
        "columns must be": lambda: view.modes(bar, tmp_path / "a.png", columns=0),
        "scale must be": lambda: view.mode(swings.modes, 1, tmp_path / "a.png", scale="big"),
        "look=": lambda: view.mode(bar, 1, tmp_path / "a.png", look="up"),
    }.items():
        with pytest.raises(fm.AnalysisError, match=words):
            request()
