"""The page of a result, read back without a browser: what is in it, how exact it is, and how large."""

from __future__ import annotations

import base64
import gzip
import json
import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import flexmbs as fm
from flexmbs import view
from flexmbs.errors import AnalysisError
from flexmbs.view.report_packing import floats, integers, octets, packed, shorts
from flexmbs.view.report_plots import POINTS, thinned
from flexmbs.view.report_scene import principal, split
from flexmbs.view.solids import ball as ball_solid
from flexmbs.view.solids import box as box_solid

Array = NDArray[Any]
ROOT = Path(__file__).parents[2]


def unpacked(node: Any, data: bytes) -> Any:
    """What the page's own script makes of its header."""
    if isinstance(node, list):
        return [unpacked(one, data) for one in node]
    if not isinstance(node, dict):
        return node
    if "shape" not in node:
        return {key: unpacked(value, data) for key, value in node.items()}
    size = {"float": 4, "integer": 4, "short": 2, "octet": 1}[node["kind"]]
    count = int(np.prod(node["shape"]))
    planes = np.frombuffer(data, np.uint8, count * size, node["at"]).reshape(size, count)
    raw = np.ascontiguousarray(planes.T).ravel()
    if node["kind"] == "float":
        return raw.view("<f4").reshape(node["shape"]).astype(float)
    if node["kind"] == "integer":
        return np.cumsum(raw.view("<u4"), dtype=np.uint32).reshape(node["shape"])
    low, step = (np.array(node.get(key, []), dtype=float) for key in ("low", "step"))
    if node["kind"] == "short":
        whole = np.cumsum(raw.view("<u2").reshape(node["shape"]), axis=1, dtype=np.uint16)
        return low[:, None] + step[:, None] * whole
    once = np.cumsum(raw.reshape(node["shape"][::-1]), axis=1, dtype=np.uint8)
    return low[0] + step[0] * np.cumsum(once, axis=1, dtype=np.uint8).T


def read(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    header, data = (re.search(rf'id="{name}">(.*?)</script>', text, re.S)[1] for name in ("header", "data"))  # type: ignore[index]
    return unpacked(json.loads(header), gzip.decompress(base64.b64decode(data)))  # type: ignore[no-any-return]


def placed(body: dict[str, Any], k: int, scale: float) -> Array:
    """Points (n, 3) of a body in frame k."""
    points = body["points"].T
    if "coordinates" in body:
        c = body["coordinates"][k]
        shapes = [body[key].reshape(len(c), 3, len(points)) for key in ("carried", "bends")]
        points = points + np.einsum("r,rin->ni", c, shapes[0] + scale * shapes[1])
    *x, a, b, c, d = body["pose"][k if len(body["pose"]) > 1 else 0]
    turned = np.array(
        [
            [1 - 2 * (b * b + c * c), 2 * (a * b - c * d), 2 * (a * c + b * d)],
            [2 * (a * b + c * d), 1 - 2 * (a * a + c * c), 2 * (b * c - a * d)],
            [2 * (a * c - b * d), 2 * (b * c + a * d), 1 - 2 * (a * a + b * b)],
        ]
    )
    return np.asarray(points @ turned.T + x)


@pytest.fixture(scope="module")
def page(made: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return view.report(made.result, tmp_path_factory.mktemp("page") / "swinging_bar.html", traces=[made.ball])


def body_named(data: dict[str, Any], name: str) -> dict[str, Any]:
    return next(b for b in data["bodies"] if b["name"] == name)


def test_arrays_come_back() -> None:
    rng = np.random.default_rng(3)
    history, rows = rng.normal(size=(7, 5)), rng.normal(size=(4, 50)) * [[1], [1e-9], [1e6], [0]]
    numbers = rng.integers(0, 2**32, 40)
    tree = {"a": floats(history), "b": [shorts(rows), integers(numbers)], "c": octets(history, -1.0, 2.0), "d": "<x>"}
    plain, text = packed(tree)
    back = unpacked(json.loads(json.dumps(plain)), gzip.decompress(base64.b64decode(text)))
    np.testing.assert_array_equal(back["a"], history.astype(np.float32))
    np.testing.assert_array_equal(back["b"][1], numbers)
    assert (np.abs(back["b"][0] - rows) <= 0.51 * np.ptp(rows, axis=1, keepdims=True) / 65535).all()
    assert np.abs(back["c"] - history.clip(-1, 2)).max() <= 0.51 * 3 / 255
    assert back["d"] == "<x>"


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_bodies_are_where_the_result_says(made: Any, page: Path, scale: float) -> None:
    """Every node of the bar and the middle of the ball, in each frame."""
    data, result = read(page), made.result
    np.testing.assert_allclose(data["t"], result.t - 2.0, atol=1e-6)
    assert data["start"] == 2.0
    bar = body_named(data, "bar")
    count = bar["pieces"][0]["end"][0]
    for k in range(len(result.t)):
        np.testing.assert_allclose(
            placed(bar, k, scale)[:count], made.surface(k, scale), atol=1.5e-5 + 1e-3 * scale * 0.004
        )
        ball = body_named(data, "ball <1>")
        points = placed(ball, k, scale)[: ball["pieces"][0]["end"][0]]
        np.testing.assert_allclose(np.linalg.norm(points - result.position(made.ball)[k], axis=1), 0.12, atol=2e-5)


def test_few_shapes_are_enough(page: Path) -> None:
    """The bar deforms by eight coordinates, but by two histories."""
    assert body_named(read(page), "bar")["coordinates"].shape == (41, 2)


def test_stress_is_that_of_the_result(made: Any, page: Path) -> None:
    data, result = read(page), made.result
    bar = body_named(data, "bar")
    field = next(f for f in data["fields"] if f["name"] == "von_mises")
    assert field["title"].startswith("von Mises stress [")
    rest = made.bar.reduced.mesh.points
    skin = bar["points"][:, : bar["pieces"][0]["end"][0]].T
    nearest = np.linalg.norm(skin[:, None] - rest, axis=2).argmin(axis=1)
    expected = field["factor"] * result.von_mises(made.bar, at=result.t)[:, nearest]
    assert field["high"] == pytest.approx(expected.max(), rel=1e-9)
    assert np.abs(bar["nodal"]["von_mises"] - expected).max() <= 0.51 * field["high"] / 255


def test_speeds_and_arrows(made: Any, page: Path) -> None:
    data, result = read(page), made.result
    twist = body_named(data, "bar")["twist"]
    np.testing.assert_allclose(twist[:, 3:], np.tile([0, 0, np.pi], (41, 1)), atol=1e-6)
    pins = [a for a in data["arrows"] if a["name"] == "pin"]
    force = result.reaction(made.pin)[:, :3]
    sizes = np.linalg.norm(pins[0]["vectors"][:, 3:], axis=1)
    np.testing.assert_allclose(sizes / sizes.max(), (s := np.linalg.norm(force, axis=1)) / s.max(), atol=1e-6)
    np.testing.assert_allclose(data["traces"][0]["points"][-1], result.position(made.ball)[-1], atol=1e-5)


def test_springs_end_where_they_are_held(made: Any, page: Path) -> None:
    """A coil is stretched by an affine map from the anchor to the ball."""
    (spring,) = read(page)["stretched"]
    for k in (0, 20, 40):
        a = spring["maps"][k].reshape(4, 3)
        points = spring["points"].T @ a[:3] + a[3]
        ends = np.array([[0.0, 1.8, 0.0], made.result.position(made.ball)[k]])
        along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
        s = (points - ends[0]) @ along
        assert s.min() == pytest.approx(0.0, abs=0.03)
        assert s.max() == pytest.approx(np.linalg.norm(ends[1] - ends[0]), abs=0.03)
        assert np.linalg.norm(points - ends[0] - np.outer(s, along), axis=1).max() < 0.1


def test_plots_are_histories(made: Any, page: Path, tmp_path: Path) -> None:
    result = made.result
    plots = {p["title"]: p for p in read(page)["plots"]}
    assert set(plots) == {"Energy", "Reaction forces", "Largest deformation", "Largest von Mises stress"}
    total = next(c for c in plots["Energy"]["curves"] if c["name"] == "total")
    assert plots["Energy"]["label"] in ("energy [J]", "energy [kJ]")
    factor = 1e-3 if "kJ" in plots["Energy"]["label"] else 1.0
    np.testing.assert_allclose(total["y"], factor * result.energy.total, rtol=1e-6)
    np.testing.assert_allclose(total["t"], result.t, rtol=1e-6)
    bend = result.deflection(made.bar.at("x1"))[:, 1]
    asked = [made.pin.angle, [("bend [mm]", 1e3 * bend), made.ball], "coordinates", "moments"]
    own = read(view.report(result, tmp_path / "own.html", plots=asked))["plots"]
    assert [len(p["curves"]) for p in own[:2]] == [1, 3]
    np.testing.assert_allclose(own[0]["curves"][0]["y"], result.coordinate(made.pin.angle), atol=1e-6)
    np.testing.assert_allclose(own[1]["curves"][0]["y"], 1e3 * bend, atol=1e-6)
    assert read(view.report(result, tmp_path / "none.html", plots=[]))["plots"] == []


def test_long_curves_keep_their_extremes() -> None:
    t = np.linspace(0.0, 1.0, 100_000)
    y = np.sin(40 * t)
    y[[333, 77_777]] = 5.0, -7.0
    few_t, few = thinned(t, y)
    assert len(few) <= POINTS + 2
    assert (few.max(), few.min(), few_t[0], few_t[-1]) == (5.0, -7.0, 0.0, 1.0)
    assert np.abs(np.interp(t, few_t, few) - np.sin(40 * t))[1000:70_000].max() < 0.06


def test_principal_directions() -> None:
    """Displacements of all times within the share left out, by fewer directions; exact ones where few are there."""
    rng = np.random.default_rng(5)
    part = rng.normal(size=(90, 12))
    d = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 12)) + 1e-6 * rng.normal(size=(30, 12))
    directions, rows = principal([part, 0 * part], d)
    assert directions.shape == (12, 3)
    error = np.linalg.norm(part @ (directions @ rows @ d.T - d.T), axis=0).max()
    assert error <= 1e-3 * np.linalg.norm(part @ d.T, axis=0).max()
    directions, rows = principal([part], 0 * d)
    assert len(rows) == 0


def test_corners_are_split_at_edges() -> None:
    points, triangles = box_solid((1, 1, 1))[:2]
    owner, three = split(points, triangles)
    assert len(owner) == 24
    np.testing.assert_array_equal(owner[three], triangles)
    points, triangles = ball_solid((0, 0, 0), 1.0)[:2]
    owner, three = split(points, triangles)
    assert sorted(owner) == sorted(set(triangles.ravel()))


class Tags(HTMLParser):
    """Collects tags, and what is wrong with them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.bad: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids += [given["id"]] if given.get("id") else []  # type: ignore[list-item]
        self.links += [v for k, v in attrs if k in ("src", "href", "action", "data", "srcset") and v]
        if tag not in ("meta", "link", "input", "br", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass  # shapes in SVG

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.bad.append(tag)


def test_page_is_whole_and_asks_for_nothing(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(text)
    assert (tags.bad, tags.open) == ([], [])
    assert len(tags.ids) == len(set(tags.ids))
    assert tags.links == ["data:,"]
    assert "@@" not in re.sub(r'id="data">.*?</script>', "", text, flags=re.S)
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|import\(", text)
    assert "default-src 'none'" in text
    for said in ("ball &lt;1&gt;: RigidBody", "Largest constraint error", "swinging bar"):
        assert said in text
    assert page.stat().st_size < 160_000


def test_names_cannot_break_the_page(made: Any, tmp_path: Path) -> None:
    bad = '</script><script>alert("x")</script>'
    page = view.report(made.result, tmp_path / "bad.html", title=bad, plots=[(bad + " [m]", made.result.t)])
    tags = Tags()
    tags.feed(page.read_text(encoding="utf-8"))
    assert (tags.bad, tags.open) == ([], [])
    assert read(page)["title"] == bad
    assert "<script>alert" not in page.read_text(encoding="utf-8")


def test_same_result_gives_the_same_page(made: Any, page: Path, tmp_path: Path) -> None:
    again = view.report(made.result, tmp_path / "swinging_bar.html", traces=[made.ball])
    assert again.read_bytes() == page.read_bytes()


def test_frames_are_instants(made: Any, tmp_path: Path) -> None:
    data = read(view.report(made.result, tmp_path / "few.html", frames=8, color=None, scale=1))
    assert len(data["t"]) == 8
    np.testing.assert_allclose([data["t"][0], data["t"][-1]], [0.0, 1.0], atol=1e-6)
    assert np.isin(np.round(data["t"], 6), np.round(made.result.t - 2.0, 6)).all()
    assert np.diff(data["t"]).max() < 0.19  # evenly in time, though the instants are not
    assert (data["color"], data["scale"]) == (None, 1.0)


def test_what_turns_fast_has_more_frames(tmp_path: Path) -> None:
    """Sixty turns in 3001 instants: a page of 400 frames would turn by nearly a radian between two."""
    ground, rotor = fm.Ground(), fm.PlanarBody("rotor", 1.0, 0.01)
    shaft = fm.planar.Revolute("shaft", ground.at(0, 0), rotor.at(0, 0))
    system = fm.System([ground, rotor], [shaft, fm.Drive("motor", shaft.angle, fm.ConstantSpeed(120 * np.pi))])
    motion = fm.kinematics(system, np.linspace(0, 1, 3001))
    data = read(view.report(motion, tmp_path / "fast.html"))
    assert data["turns"] == pytest.approx(60.0, rel=1e-6)
    pose = next(b for b in data["bodies"] if b["name"] == "rotor")["pose"]
    cosine = np.abs(np.sum(pose[1:, 3:] * pose[:-1, 3:], axis=1)).clip(0, 1)
    assert 2 * np.arccos(cosine).max() < 0.6
    assert (np.sum(pose[1:, 3:] * pose[:-1, 3:], axis=1) > 0).all()  # no jumps of sign


def test_what_is_not_deformed(made: Any, tmp_path: Path) -> None:
    data = read(view.report(made.result.system, tmp_path / "straight.html"))
    bar = body_named(data, "bar")
    assert bar["coordinates"].shape == (1, 0)
    count = bar["pieces"][0]["end"][0]
    assert np.ptp(placed(bar, 0, 10.0)[:count], axis=0) == pytest.approx([1.0, 0.1, 0.1], abs=1e-4)
    assert np.abs(bar["nodal"]["von_mises"]).max() <= data["fields"][0]["high"]


def test_warnings_are_on_the_page(made: Any, tmp_path: Path) -> None:
    r = made.result
    q = r.q.copy()
    first = int(r.system.layout.body_q[1]) + 7
    q[:, first : first + made.bar.modes] *= 500
    bent = fm.Result(r.system, r.t, q, r.v, r.rate, r.multipliers, r.angles)
    assert bent.warnings
    assert "deformation is taken as small" in view.report(bent, tmp_path / "w.html").read_text(encoding="utf-8")


def test_rigid_kinematics_and_positions(tmp_path: Path) -> None:
    """Without forces there are no reactions; a System is a page without time."""
    ground, bob = fm.Ground(), fm.PlanarBody("bob", 1.0, 0.01)
    hinge = fm.planar.Revolute("hinge", ground.at(0, 0), bob.at(-1, 0))
    system = fm.System([ground, bob], [hinge, fm.Drive("drive", hinge.angle, lambda t: 2 * t)])
    data = read(view.report(fm.kinematics(system, np.linspace(0, 1, 11)), tmp_path / "k.html"))
    assert data["arrows"] == []
    assert data["scale"] is None
    assert [f["name"] for f in data["fields"]] == ["speed"]
    assert [p["title"] for p in data["plots"]] == ["Energy"]
    still = read(view.report(system, tmp_path / "s.html"))
    assert len(still["t"]) == 1
    assert still["plots"] == []


def test_refusals(made: Any, tmp_path: Path) -> None:
    result = made.result
    for words, options in (
        ("frames must be a whole number", {"frames": 0}),
        ("frames must be a whole number", {"frames": 2.5}),
        ("color must be", {"color": "heat"}),
        ("color is None or a name", {"color": {made.bar: 3.0}}),
        ('scale must be a number or "auto"', {"scale": "huge"}),
        ("'heat' is no plot", {"plots": ["heat"]}),
        ("there is no 'drives': the mechanism has no drives", {"plots": ["drives"]}),
        ("is no quantity", {"plots": [3.0]}),
        ("look=", {"look": (0, 0, 0)}),
        ("traces and triads", {"traces": ["ball"]}),
    ):
        with pytest.raises(AnalysisError, match=re.escape(words)):
            view.report(result, tmp_path / "x.html", **options)  # type: ignore[arg-type]
    with pytest.raises(AnalysisError, match="an HTML file"):
        view.report(result, tmp_path / "x.pdf")
    with pytest.raises(AnalysisError, match="a Result of an analysis"):
        view.report(made.bar, tmp_path / "x.html")
    with pytest.raises(AnalysisError, match="no instants"):
        view.report(result._part(slice(0, 0)), tmp_path / "x.html")
    assert not (tmp_path / "x.html").exists()


def test_a_wheel_has_the_files_of_the_page() -> None:
    given = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    packed_files = {
        p for package, globs in given.items() for g in globs for p in ROOT.joinpath(*package.split(".")).glob(g)
    }
    page = ROOT / "flexmbs" / "view" / "page"
    assert {p for p in page.iterdir() if p.is_file()} <= packed_files
