"""The page of a result in headless Chromium: it moves, turns, and its plots follow; where there is a browser."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexmbs import view

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
FLAGS = ["--headless", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]

pytest.importorskip("playwright", reason="Playwright is missing: pip install playwright")
if CHROMIUM is None:
    pytest.skip("there is no Chromium (Debian: apt-get install chromium)", allow_module_level=True)
if subprocess.run([sys.executable, "-m", "playwright", "--version"], capture_output=True, check=False).returncode:
    pytest.skip("Playwright does not run here (Debian: apt-get install libatomic1)", allow_module_level=True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture(scope="module")
def written(made: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return view.report(made.result, tmp_path_factory.mktemp("page") / "swinging_bar.html", traces=[made.ball])


Opened = Callable[..., Any]


@pytest.fixture
def opened(browser: Any, written: Path) -> Iterator[Opened]:
    """Opens the page, at rest; in the end nothing may have been complained of, nor asked from the network."""
    said: list[str] = []
    asked: list[str] = []
    contexts = []

    def open_page(
        width: int = 1280, height: int = 800, scheme: str = "light", motion: str = "reduce", path: Path = written
    ) -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion=motion
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=true]")
        settle(page)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []
    assert [url for url in asked if not (url.startswith("data:") or re.match(r"file:.*\.html$", url))] == []


def settle(page: Any) -> None:
    """Until two pictures were drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def pixels(page: Any) -> np.ndarray:
    """What is drawn of the mechanism, (height, width, 4), as the page shows it."""
    settle(page)
    got = page.evaluate(
        """() => {
          const { scene, camera, state } = window.report;
          const canvas = document.getElementById("canvas");
          const options = Object.fromEntries(["joints", "edges", "outline", "reactions", "forces"]
            .map((key) => [key, document.getElementById(key).checked]));
          scene.move(state.time, state.scale, state.field);
          scene.draw(camera, { ...options, moved: [0, 0, 0] });
          const gl = scene.gl, out = new Uint8Array(4 * canvas.width * canvas.height);
          gl.readPixels(0, 0, canvas.width, canvas.height, gl.RGBA, gl.UNSIGNED_BYTE, out);
          let text = "";
          for (let k = 0; k < out.length; k += 30000) text += String.fromCharCode(...out.subarray(k, k + 30000));
          return [canvas.width, canvas.height, btoa(text)];
        }"""
    )
    return np.frombuffer(base64.b64decode(got[2]), np.uint8).reshape(got[1], got[0], 4)[::-1]


def changed(a: np.ndarray, b: np.ndarray) -> float:
    """Share of the pixels of the mechanism that differ."""
    ink = (a[..., 3] > 0) | (b[..., 3] > 0)
    return float((np.abs(a.astype(int) - b).max(axis=2) > 8)[ink].mean())


def cursor(page: Any) -> float:
    """Where the cursor of the first plot stands within its axes, 0 to 1."""
    x, left, inner = page.evaluate(
        "() => { const p = window.report.plots[0]; return [Number(p.cursor.getAttribute('x1')), p.left, p.inner]; }"
    )
    return float((x - left) / inner)


def set_time(page: Any, t: float) -> None:
    page.evaluate("(t) => window.report.setTime(t - window.report.data.start)", t)
    settle(page)


def test_it_is_drawn(opened: Opened) -> None:
    ink = pixels(opened())
    share = float((ink[..., 3] > 128).mean())
    assert 0.01 < share < 0.6
    assert np.ptp(ink[..., :3][ink[..., 3] > 250].astype(int), axis=1).max() > 90  # it is coloured


def test_slider_moves_mechanism_and_plots(opened: Opened) -> None:
    page = opened()
    before = pixels(page)
    assert cursor(page) == pytest.approx(0.0, abs=1e-6)
    slider = page.get_by_role("slider", name="Time")
    box = slider.bounding_box()
    page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + box["height"] / 2)
    assert cursor(page) == pytest.approx(0.5, abs=0.02)
    assert page.locator("#clock").inner_text() == "2.500 s" or page.locator("#clock").inner_text().startswith("2.5")
    assert changed(before, pixels(page)) > 0.3
    now = cursor(page)
    slider.press("ArrowRight")
    assert cursor(page) > now


def test_a_click_and_a_drag_on_a_plot_set_the_time(opened: Opened, made: Any) -> None:
    page = opened()
    plot = page.locator("figure.plot svg").nth(1)
    box = plot.bounding_box()
    page.mouse.click(box["x"] + 0.6 * box["width"], box["y"] + 40)
    there = cursor(page)
    left, inner = page.evaluate("() => [window.report.plots[1].left, window.report.plots[1].inner]")
    assert there == pytest.approx((0.6 * box["width"] - left) / inner, abs=0.01)
    assert float(page.get_by_role("slider", name="Time").input_value()) == pytest.approx(there, abs=0.01)
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.8 * box["width"], box["y"] + 50, steps=4)
    page.mouse.up()
    assert cursor(page) == pytest.approx((0.8 * box["width"] - left) / inner, abs=0.01)
    key = page.locator("figure.plot").nth(1).locator(".key").first
    t = 2.0 + cursor(page)
    force = np.linalg.norm(made.result.reaction(made.pin)[:, :3], axis=1)
    shown = float(key.locator(".value").inner_text())
    unit = page.locator("figure.plot").nth(1).locator(".unit").inner_text()
    assert shown == pytest.approx(np.interp(t, made.result.t, force) * (1e-3 if "kN" in unit else 1.0), rel=2e-3)


def test_dragging_turns_moves_and_zooms(opened: Opened) -> None:
    page = opened()
    set_time(page, 2.4)
    canvas = page.locator("#canvas")
    box = canvas.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    first = pixels(page)

    def drag(dx: float, dy: float) -> None:
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + dx, y + dy, steps=3)
        page.mouse.up()

    drag(120, 40)
    turned = pixels(page)
    assert changed(first, turned) > 0.3
    axes = np.array(page.evaluate("() => { const c = window.report.camera; return [c.right, c.up, c.toward]; }"))
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-6)
    page.keyboard.down("Shift")
    drag(60, 0)
    page.keyboard.up("Shift")
    moved = pixels(page)
    ratio = page.evaluate("() => window.devicePixelRatio")
    same = np.roll(turned, round(60 * ratio), axis=1)
    assert changed(same[:, 200:-200], moved[:, 200:-200]) < 0.05  # the same picture, farther right
    page.mouse.move(x, y)
    page.mouse.wheel(0, -400)
    assert (pixels(page)[..., 3] > 128).mean() > 1.3 * (moved[..., 3] > 128).mean()
    canvas.dblclick()
    assert changed(first, pixels(page)) == 0.0
    page.get_by_role("button", name="View along x").click()
    np.testing.assert_allclose(page.evaluate("() => window.report.camera.toward"), [1, 0, 0], atol=1e-9)


def test_play_and_pause(opened: Opened) -> None:
    page = opened(motion="no-preference")  # it plays when it is opened
    page.wait_for_function("() => window.report.state.time > 0.02")
    page.get_by_role("button", name="Pause").click()
    at = page.evaluate("() => window.report.state.time")
    page.wait_for_timeout(150)
    assert page.evaluate("() => window.report.state.time") == at
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("(at) => window.report.state.time !== at", arg=at)
    page.get_by_role("button", name="Pause").click()


def test_colours_and_scale(opened: Opened, made: Any) -> None:
    page = opened()
    set_time(page, 2.3)
    stress = pixels(page)
    assert "von Mises stress" in page.locator("#bar-title").inner_text()
    seen = {}
    for label, words in (("Deformation", "deformation"), ("Speed", "speed [m/s]")):
        page.get_by_label("Colour").select_option(label=label)
        seen[label] = pixels(page)
        assert words in page.locator("#bar-title").inner_text()
        assert changed(stress, seen[label]) > 0.05
    page.get_by_label("Colour").select_option(label="Plain")
    assert page.locator("#bar").is_hidden()
    assert page.locator("#legend").is_visible()
    plain = pixels(page)
    slider = page.get_by_role("slider", name="Deformation scale")
    slider.focus()
    slider.press("Home")
    assert page.locator("#scale-text").inner_text() == "× 1"
    assert changed(plain, pixels(page)) > 0.02
    page.get_by_label("Joints").uncheck()
    bare = pixels(page)
    assert (bare[..., 3] > 128).sum() < (plain[..., 3] > 128).sum()
    page.get_by_label("Reactions").check()
    assert changed(bare, pixels(page)) > 0.001


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_the_browser_computes_what_the_result_says(opened: Opened, made: Any, scale: float) -> None:
    """Places of nodes and their values, in frames and between them."""
    page, result = opened(), made.result
    rest = made.bar.reduced.mesh.points
    for t in (result.t[0], result.t[17], 0.5 * (result.t[20] + result.t[21]), result.t[-1]):
        got = page.evaluate(
            """([t, scale]) => {
              const { scene, data } = window.report;
              const out = {};
              const own = scene.bodies.find((b) => b.body.name === "bar");
              for (const field of ["displacement", "speed", "von_mises"]) {
                scene.move(t - data.start, scale, field);
                const { high } = data.fields.find((f) => f.name === field);
                out[field] = Array.from(scene.pointValues(own, scene.frame, t - data.start), (v) => v * high);
              }
              return { ...out, points: Array.from(own.deforming.local), matrix: Array.from(own.matrix),
                       rest: Array.from(own.body.points), skin: own.body.pieces[0].end[0],
                       factor: Object.fromEntries(data.fields.map((f) => [f.name, f.factor])) };
            }""",
            [float(t), scale],
        )
        n = got["skin"]
        m = np.array(got["matrix"]).reshape(4, 4).T
        local, start = (np.array(got[key]).reshape(3, -1)[:, :n].T for key in ("points", "rest"))
        nearest = np.linalg.norm(start[:, None] - rest, axis=2).argmin(axis=1)
        among = t in result.t
        k = int(np.searchsorted(result.t, t)) if among else 20
        expected = made.surface(k, scale) if among else (made.surface(20, scale) + made.surface(21, scale)) / 2
        within = 1.5e-5 + 1e-3 * scale * 0.004 + (0.0 if among else 2e-3)  # between frames it turns, and is not sheared
        np.testing.assert_allclose(local @ m[:3, :3].T + m[:3, 3], expected, atol=within)
        if among:
            stress = got["factor"]["von_mises"] * result.von_mises(made.bar, at=t)[nearest]
            top = got["factor"]["von_mises"] * result.von_mises(made.bar, at=result.t).max()
            np.testing.assert_allclose(got["von_mises"], stress, atol=0.01 * top)
            arm = np.linalg.norm(
                result.deformed(made.bar, at=t)[nearest][:, :2] - result.position(made.bar)[k, :2], axis=1
            )
            np.testing.assert_allclose(np.array(got["speed"])[:n], np.pi * arm, atol=1e-3)


def test_the_pointer_tells_body_and_value(opened: Opened, made: Any) -> None:
    """At the place of a node on the near side, in the middle of the bar."""
    page, result = opened(), made.result
    t, rest = float(result.t[15]), made.bar.reduced.mesh.points
    set_time(page, t)
    page.evaluate("() => { window.report.state.scale = 1; window.report.setTime(window.report.state.time); }")
    page.get_by_role("button", name="View along z").click()
    settle(page)
    node = int(np.linalg.norm(rest - [0.5, 0.0, 0.05], axis=1).argmin())
    matrix = np.array(page.evaluate("() => Array.from(window.report.scene.view.matrix)")).reshape(4, 4).T
    x, y = (matrix @ [*result.deformed(made.bar, at=t)[node], 1.0])[:2]
    box = page.locator("#canvas").bounding_box()
    page.mouse.move(box["x"] + (1 + x) / 2 * box["width"], box["y"] + (1 - y) / 2 * box["height"])
    settle(page)
    name, value, unit = re.fullmatch(r"(.*): ([\d.e+-]+) (\w+)", page.locator("#tip").inner_text()).groups()  # type: ignore[union-attr]
    factor, top = page.evaluate("() => { const f = window.report.data.fields[0]; return [f.factor, f.high]; }")
    assert name == "bar"
    assert f"[{unit}]" in page.locator("#bar-title").inner_text()
    assert float(value) == pytest.approx(factor * result.von_mises(made.bar, at=t)[node], abs=0.03 * top)
    page.mouse.move(box["x"] + 3, box["y"] + box["height"] - 40)
    settle(page)
    assert page.locator("#tip").is_hidden()


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (760, "dark"), (1500, "dark")])
def test_it_fits_any_screen(opened: Opened, width: int, scheme: str) -> None:
    page = opened(width, 780, scheme)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    color = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    bright = np.mean([int(c) for c in re.findall(r"\d+", color)[:3]])
    assert bright > 200 if scheme == "light" else bright < 60
    page.get_by_role("button", name="theme").click()
    color = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert (np.mean([int(c) for c in re.findall(r"\d+", color)[:3]]) > 128) != (bright > 128)


def test_odd_pages_are_shown_too(opened: Opened, made: Any, tmp_path: Path) -> None:
    """Curves that are zero, constant, or have gaps; a position instead of a motion."""
    t = made.result.t
    gaps = np.where(t < 2.5, np.nan, t)
    asked = [("zero [N]", 0 * t), ("constant [N]", 0 * t - 3.0), ("gaps [m]", gaps), ("tiny [m]", 1e-12 * t)]
    page = opened(path=view.report(made.result, tmp_path / "odd.html", plots=asked))
    set_time(page, 2.1)
    assert page.locator("figure.plot .value").all_inner_texts() == ["0", "−3", "–", "2.10e−12"]
    still = opened(path=view.report(made.result.system, tmp_path / "still.html"))
    assert still.locator("#transport").is_hidden()
    assert (pixels(still)[..., 3] > 128).mean() > 0.01


def test_controls_have_names(opened: Opened) -> None:
    page = opened()
    named = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, canvas, svg[role=img]")].filter((e) => {
          const labels = [...(e.labels || [])].map((label) => label.textContent.trim()).join("");
          return !(e.getAttribute("aria-label") || e.textContent.trim() || labels);
        }).map((e) => e.outerHTML)"""
    )
    assert named == []


def test_times_in_the_tables_are_gone_to(opened: Opened) -> None:
    page = opened()
    button = page.locator(".jump").first
    button.click()
    assert page.evaluate("() => window.report.state.time") == pytest.approx(
        float(button.get_attribute("data-time")) - 2.0
    )


def test_without_webgl_there_are_plots(browser: Any, written: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null;")
    page.goto(written.as_uri())
    page.wait_for_selector("html[data-ready=true]")
    assert "WebGL2" in page.locator("#trouble").inner_text()
    page.locator("figure.plot svg").first.click()
    assert cursor(page) == pytest.approx(0.45, abs=0.15)
    context.close()
