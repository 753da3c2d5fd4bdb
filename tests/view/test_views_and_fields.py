"""Several views of one thing, and fields of any kind: what stands where, in which range, under which name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

import flexmbs as fm
from flexmbs import view
from flexmbs.view.camera import Camera, around, direction, views
from flexmbs.view.fields import measure
from flexmbs.view.figure import _Page
from flexmbs.view.flesh import Flesh
from flexmbs.view.mechanism import Drawing, Options, drawing
from flexmbs.view.scene import Picture, Surface

SOFT = fm.Material(young=1e9, poisson=0.0, density=1000.0)


class Stretched:
    """Two bars in space at three instants, one of them stretched along x more and more, made by hand."""

    def __init__(self) -> None:
        mesh = fm.Mesh.box((1.0, 0.1, 0.1), (4, 1, 1), origin=(0.0, -0.05, -0.05))
        options: dict[str, Any] = {"interfaces": ["x0", "x1"], "reduction": fm.CraigBampton(modes=1)}
        self.bar = fm.FlexibleBody("bar", mesh, SOFT, **options)
        self.other = fm.FlexibleBody("other", mesh, SOFT, position=(0, 1, 0), **options)
        self.rigid = fm.RigidBody.box("block", (0.2, 0.2, 0.2), 1.0, position=(0, -1, 0))
        self.system = fm.System([self.bar, self.other, self.rigid])
        start = self.system.initial
        q = np.tile(start.q, (3, 1))
        first, last = self.system.layout.body_q[1] - self.bar.modes, self.system.layout.body_q[1]
        pull = np.linalg.lstsq(  # one end along x from the other, not turned
            np.vstack([self.bar.at("x0").shapes, self.bar.at("x1").shapes]),
            np.array([0, 0, 0, 0, 0, 0, 2e-3, 0, 0, 0, 0, 0]),
            rcond=None,
        )[0]
        for k, share in enumerate((0.0, 1.0, -0.5)):
            q[k, first:last] = share * pull
        still = np.zeros((3, self.system.n_v))
        rows, angles = np.zeros((3, len(self.system.rows))), np.tile(start.angles, (3, 1))
        self.motion = fm.Result(self.system, np.array([0.0, 1.0, 2.0]), q, still, still, rows, angles)


@pytest.fixture(scope="module")
def stretched() -> Stretched:
    return Stretched()


def drawn(motion: fm.Result, times: Any, **options: Any) -> tuple[Drawing, list[Flesh]]:
    picture = drawing(motion, times, Options(**options), None)
    return picture, [p for p in picture.pieces if isinstance(p, Flesh)]


def shown(picture: Drawing, piece: Flesh, k: int = 0) -> Any:
    assert picture.coloring is not None
    values = picture.coloring.values(piece, k)
    return values


# ---- fields ---------------------------------------------------------------------------------------------------------


def test_measures_of_stress() -> None:
    """Of a tensor in its principal axes and of pure shear."""
    diagonal, shear = np.array([3.0, -1.0, 2.0, 0, 0, 0]), np.array([0, 0, 0, 0, 0, 5.0])
    tensors = np.stack([diagonal, shear])
    np.testing.assert_allclose(measure("max_principal", tensors), [3, 5])
    np.testing.assert_allclose(measure("min_principal", tensors), [-1, -5])
    np.testing.assert_allclose(measure("tresca", tensors), [4, 10])
    np.testing.assert_allclose(measure("stress_zz", tensors), [2, 0])
    np.testing.assert_allclose(measure("stress_xy", tensors), [0, 5])


def test_stress_by_name(stretched: Stretched) -> None:
    """Pulled, the bar has the stress E Δl / l along x in its middle; pressed half as much, it is below zero."""
    picture, (bar, other) = drawn(stretched.motion, [1.0, 2.0], color="stress_xx")
    middle = np.abs(bar.solid.points[:, 0] - 0.5) < 0.01
    assert picture.bar is not None
    assert picture.bar.title == "stress xx [MPa]"
    np.testing.assert_allclose(shown(picture, bar, 0)[middle], 2.0, rtol=1e-6)  # 1e9 · 2e-3 Pa
    np.testing.assert_allclose(shown(picture, bar, 1)[middle], -1.0, rtol=1e-6)
    np.testing.assert_allclose(shown(picture, other, 0), 0.0, atol=1e-9)
    lowest, highest = (f([f(shown(picture, bar, k)) for k in (0, 1)]) for f in (np.min, np.max))
    assert picture.bar.low == pytest.approx(lowest)
    assert picture.bar.high == pytest.approx(highest)
    tensor, (bar, _) = drawn(stretched.motion, [2.0], color="tresca")
    stress = stretched.motion.stress(stretched.bar, at=2.0)
    turned = np.array([np.linalg.eigvalsh(_matrix(s)) for s in stress])
    np.testing.assert_allclose(
        shown(tensor, bar), bar.weights @ (turned[:, 2] - turned[:, 0])[bar.nodes] / 1e6, rtol=1e-9, atol=1e-12
    )


def _matrix(s: Any) -> Any:
    return np.array([[s[0], s[5], s[4]], [s[5], s[1], s[3]], [s[4], s[3], s[2]]])


def test_fields_of_ones_own(stretched: Stretched) -> None:
    """Constant, over time, or by a function: the values at the nodes, one range over the motion, others uncoloured."""
    x = stretched.bar.reduced.mesh.points[:, 0]
    still, (bar, other) = drawn(stretched.motion, [0.5], color={stretched.bar: 20 + 3 * x}, label="temperature [°C]")
    np.testing.assert_allclose(shown(still, bar), 20 + 3 * bar.solid.points[:, 0], atol=1e-12)
    assert shown(still, other) is None
    assert still.bar is not None
    assert (still.bar.title, still.bar.low, still.bar.high) == ("temperature [°C]", 20.0, pytest.approx(23.0))
    moving = np.array([0.0, 1.0, 5.0])[:, None] * x
    over, (bar, _) = drawn(stretched.motion, [0.5, 1.5], color={stretched.bar: moving})
    np.testing.assert_allclose(shown(over, bar, 0), 0.5 * bar.solid.points[:, 0], atol=1e-12)
    np.testing.assert_allclose(shown(over, bar, 1), 3.0 * bar.solid.points[:, 0], atol=1e-12)
    assert over.bar is not None
    assert over.bar.high == pytest.approx(5.0)  # of the whole motion, not of the times shown

    def heat(body: Any, times: Any) -> Any:
        return np.outer(times, body.reduced.mesh.points[:, 0]) * (2.0 if body is stretched.other else 1.0)

    made, (bar, other) = drawn(stretched.motion, [1.5], color=heat)
    np.testing.assert_allclose(shown(made, other), 2 * shown(made, bar))
    np.testing.assert_allclose(shown(made, bar), 1.5 * bar.solid.points[:, 0], atol=1e-12)


def test_limits_and_labels(stretched: Stretched) -> None:
    """Limits are in SI units whatever the bar counts in; under a label of one's own values are in SI units too."""
    picture, _ = drawn(stretched.motion, [1.0], color="von_mises", limits=(0.0, 2e6))
    assert picture.bar is not None
    assert (picture.bar.title, picture.bar.low, picture.bar.high) == ("von Mises stress [MPa]", 0.0, pytest.approx(2.0))
    named, (bar, _) = drawn(stretched.motion, [1.0], color="von_mises", limits=(0.0, 2e6), label="Vergleichsspannung")
    assert named.bar is not None
    assert (named.bar.title, named.bar.high) == ("Vergleichsspannung", 2e6)
    assert shown(named, bar).max() == pytest.approx(1e6 * shown(*_first(picture)).max())


def _first(picture: Drawing) -> tuple[Drawing, Flesh]:
    return picture, next(p for p in picture.pieces if isinstance(p, Flesh))


def test_statics_take_the_same_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bar pulled by 1 kN over 0.01 m²: 0.1 MPa along x, nothing across, in every view."""
    seen: list[Picture] = []
    monkeypatch.setattr("flexmbs.view.pictures.write", lambda picture, path, size: seen.append(picture))
    mesh = fm.Mesh.box((1.0, 0.1, 0.1), (4, 1, 1))
    pulled = fm.statics(mesh, SOFT, fm.Force("x1", (1000.0, 0.0, 0.0)), fixed="x0")
    for color in ("stress_xx", "max_principal", "tresca", "von_mises"):
        view.deformed(pulled, color=color, look=["x", "y", "xyz"])
        (picture,) = seen
        surface = next(i for i in picture.panels[0].items if isinstance(i, Surface))
        assert surface.values is not None
        np.testing.assert_allclose(surface.values, 100.0, rtol=1e-6)  # kPa
        assert picture.bar is not None
        assert picture.bar.title.endswith("[kPa]")
        assert len(picture.panels) == 3
        seen.clear()


def test_elastodynamics_are_drawn(tmp_path: Path) -> None:
    """A cantilever whose root is shaken: at a time, and as a film of one colour range."""
    mesh = fm.Mesh.box((1.0, 0.1, 0.1), (4, 1, 1))
    body = fm.FlexibleBody("arm", mesh, SOFT, fixed="x0", reduction=fm.ModalTruncation(modes=2))
    shaken = fm.RigidMotion(acceleration=fm.Harmonic((0.0, 0.0, 5.0), frequency=3.0))
    response = fm.elastodynamics(body, shaken, t_end=0.3, step=1e-3)
    path = view.deformed(response, tmp_path / "arm.png", at=0.1, color="displacement")
    assert path is not None
    ink = imread(path)[:, :, :3]
    assert np.ptp(ink, axis=2).max() > 0.4
    film = view.deformed(response, tmp_path / "arm.gif", frames=3, size=(320, 240))
    assert film is not None
    frames = _gif(film)
    assert len(frames) == 3
    assert np.mean(np.abs(frames[1] - frames[2]) > 30) > 0.002  # it moves


def _gif(path: Path) -> list[Any]:
    from PIL import Image, ImageSequence

    with Image.open(path) as image:
        return [np.asarray(frame.convert("RGB"), dtype=float) for frame in ImageSequence.Iterator(image)]


# ---- views ----------------------------------------------------------------------------------------------------------


def test_directions() -> None:
    np.testing.assert_array_equal(direction("-y"), [0, -1, 0])
    assert len(views(None)) == len(views((1.0, 2.0, 3.0))) == len(views([1.0, 2.0, 3.0])) == len(views("xyz")) == 1
    assert len(views(["x", (0, 0, 1), None])) == 3


def test_several_views(stretched: Stretched, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Rows are times, columns directions; each sees everything; a bar along x is short from x and long from y."""
    seen: list[Picture] = []
    monkeypatch.setattr("flexmbs.view.figure.write", lambda picture, path, size: seen.append(picture) or path)
    view.snapshot(stretched.motion, tmp_path / "a.png", at=[0.0, 1.0], look=["x", "z"])
    (picture,) = seen
    assert (len(picture.panels), picture.columns) == (4, 2)
    for panel, axis in zip(picture.panels, (0, 2, 0, 2), strict=True):
        np.testing.assert_allclose(panel.camera.axes[2], np.eye(3)[axis], atol=1e-12)
        points = panel.camera.project(np.concatenate([item.points for item in panel.items]))
        assert np.abs(points[:, 0]).max() <= panel.camera.width / 2
        assert np.abs(points[:, 1]).max() <= panel.camera.height / 2
    page = _Page(picture, (800, 600))
    page.close()
    titles = [title.get_text() for title in page.titles]
    assert [bool(title) for title in titles] == [True, False, True, False]  # one for each row
    assert page.titles[0].get_position()[0] == pytest.approx(np.mean(page.middles[:2]))
    letters = [text.get_text() for text in page.figure.texts]
    assert letters.count("y") == 4  # axes in every panel: y is seen from x and from z
    assert (letters.count("x"), letters.count("z")) == (2, 2)


def test_films_of_several_views(stretched: Stretched, tmp_path: Path) -> None:
    path = view.animate(stretched.motion, tmp_path / "a.gif", frames=3, look=["y", "xyz"], size=(640, 320), scale=100)
    frames = _gif(path)
    assert [frame.shape for frame in frames] == 3 * [(320, 640, 3)]
    left, right = frames[0][:, :260], frames[0][:, 260:520]
    assert min(np.mean(side < 230) for side in (left, right)) > 0.01


def test_one_camera_around_others() -> None:
    axes = np.eye(3)
    both = around([Camera(axes, np.array([0.0, 0, 5]), 2.0, 4.0), Camera(axes, np.array([3.0, 1, 7]), 2.0, 2.0)])
    np.testing.assert_allclose(both.center[:2], [1.5, 0.0])
    assert (both.width, both.height) == (5.0, 4.0)


# ---- refusals -------------------------------------------------------------------------------------------------------


def test_wrong_requests_are_refused_in_words(stretched: Stretched, tmp_path: Path) -> None:
    motion, path, bar = stretched.motion, tmp_path / "a.png", stretched.bar
    n = bar.reduced.mesh.n_nodes
    for words, options in {
        "look= is one of": {"look": "front"},
        r"look=\[\] shows nothing": {"look": []},
        "look= must be a vector": {"look": ["x", (0.0, 0.0)]},
        "'block' is not a flexible body": {"color": {stretched.rigid: np.zeros(8)}},
        "color={}": {"color": {}},
        rf"shape \(5,\) for bar; its {n} nodes": {"color": {bar: np.zeros(5)}},
        r"gave values of shape \(2,\) for bar": {"color": lambda body, times: [1.0, 2.0]},
        "a name, a mapping .* not int": {"color": 3},
        "limits: ": {"color": "von_mises", "limits": (2.0, 1.0)},
        "give color= too": {"limits": (0.0, 1.0)},
    }.items():
        with pytest.raises(fm.AnalysisError, match=words):
            view.snapshot(motion, path, **options)
    beam = fm.FlexibleBody(
        "beam", fm.Mesh.line((0, 0, 0), (1, 0, 0), 2), SOFT, section=fm.Section.rectangle(0.1, 0.1), fixed="start"
    )
    with pytest.raises(fm.AnalysisError, match="beam is of beams"):
        view.snapshot(fm.System([beam]), path, color="tresca")
    pulled = fm.statics(fm.Mesh.box((1, 1, 1), (1, 1, 1)), SOFT, fm.Force("x1", (1.0, 0.0, 0.0)), fixed="x0")
    with pytest.raises(fm.AnalysisError, match="static result does not move"):
        view.deformed(pulled, tmp_path / "a.gif")
    with pytest.raises(fm.AnalysisError, match=r"drawn by view\.snapshot"):
        view.deformed(motion, path)  # type: ignore[arg-type]
