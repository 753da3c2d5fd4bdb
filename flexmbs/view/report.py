"""A page to send: the mechanism moving in the browser, its plots and tables, in one HTML file that needs no network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.body import GROUND, Body, Frame
from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.errors import AnalysisError
from flexmbs.joints.joint import Joint
from flexmbs.results import Result
from flexmbs.system.system import System
from flexmbs.view.body_pieces import is_seen
from flexmbs.view.coloring import Coloring, check_color, coloring
from flexmbs.view.flesh import Flesh
from flexmbs.view.force_pieces import loads
from flexmbs.view.look import ARROW, EDGE, LOAD, OUTLINE, PLAIN, STEEL
from flexmbs.view.mechanism import Drawing, Options, drawing, frame_of
from flexmbs.view.poses import as_result, interpolated, poses
from flexmbs.view.report_facts import Fact, ranges, tables
from flexmbs.view.report_packing import floats, octets, packed
from flexmbs.view.report_plots import Seen
from flexmbs.view.report_plots import plots as chosen_plots
from flexmbs.view.report_scene import bodies, stretched
from flexmbs.view.scene import ColorBar

Array = NDArray[np.float64]

FRAMES = 400
"""Frames of a page where not said otherwise, if the result keeps as many instants."""
MOST_FRAMES, TURN = 2000, 0.5
"""More frames are taken, up to a number, until no body turns by more than an angle [rad] from one to the next."""
VALUES = 4_000_000
"""Stresses of a page (points × frames); of larger surfaces fewer frames are coloured, and blended in between."""
FIELDS = ("von_mises", "displacement", "speed")
"""What bodies can be coloured by on every page, where the mechanism has it."""
ALL_VALUES = 40_000_000
"""Stresses (nodes × instants) among which the largest is found."""
STOPS = 64
"""Colours of a colour bar."""
SCRIPTS = ("unpack.js", "camera.js", "motion.js", "render.js", "pick.js", "plots.js", "main.js")


def report(
    result: Result | System,
    path: str | PathLike[str],
    *,
    title: str | None = None,
    frames: int | None = None,
    scale: float | str = "auto",
    color: str | None = "auto",
    plots: Any = None,
    traces: Sequence[Frame | Body] = (),
    look: ArrayLike | None = None,
) -> Path:
    """One HTML file with the moving mechanism, plots linked to its time, and tables; any browser shows it from disk.

    Mechanisms are turned with the mouse, moved in time by a slider or a click on a plot; colours and the scale of
    deformation are chosen on the page, which asks nothing from the network.

    Parameters
    ----------
    title : of the page, by default the name of the file.
    frames : number of the result's instants that the page shows, evenly chosen; by default all, up to 400, and
        more of what turns fast. In between, the page interpolates.
    scale : how many times too large deformation is drawn at first; ``"auto"`` makes it visible.
    color : at first, one of None (each body its own), ``"speed"``, ``"von_mises"``, ``"displacement"``; ``"auto"`` is
        the stress where there is any. All that the mechanism has can be chosen on the page.
    plots : list of what ``view.plot`` takes (joint coordinates, frames, bodies, drives, pairs ``("label [unit]",
        values)``, lists of them), and of the names ``"energies"``, ``"reactions"``, ``"moments"``, ``"drives"``,
        ``"coordinates"``, ``"deformation"``, ``"stress"``; by default most of these.
    traces : frames (or bodies) whose way is drawn.
    look : direction from the mechanism to the viewer, at first.
    """
    target = _checked(path)
    result = as_result(result)
    if not len(result.t):
        raise AnalysisError("report: this Result has no instants, so that there is nothing to show.")
    name = target.stem.replace("_", " ") if title is None else str(title)
    turned = _turned(result)
    shown = result.t[_instants(result, frames, turned)]
    possible = [c for c in FIELDS if _has(c, result)]
    if color == "auto":
        color = "von_mises" if "von_mises" in possible else None
    if not (color is None or isinstance(color, str)):
        raise AnalysisError(f'report: color is None or a name, e.g. "von_mises", not {color!r}.')
    check_color(color, result)
    if color is not None and color not in possible:
        possible.append(color)
    picture = drawing(result, shown, Options(traces=tuple(traces), scale=scale), look)
    flesh = {p.body: p for p in picture.pieces if isinstance(p, Flesh)}
    worst = _worst(result, flesh) if "von_mises" in possible else {}
    fields = {c: _coloring(c, picture, worst) for c in possible}
    nodal = {c: _nodal(one, flesh) for c, one in fields.items() if c not in ("displacement", "speed")}
    seen = _seen(picture, flesh, fields, nodal, worst)
    wanted = chosen_plots(result, plots, seen)
    tree = {
        "title": name,
        "t": floats(shown - shown[0]),
        "start": float(shown[0]),
        "turns": turned / (2 * np.pi),
        "scale": picture.scale if flesh else None,
        "color": color,
        "fields": [_field(c, one, shown[0]) for c, one in fields.items()],
        "bodies": _bodies(picture, fields, nodal),
        "stretched": stretched(picture),
        "arrows": _arrows(picture),
        "traces": _traces(picture),
        "legend": [(b.name, c) for b, c in zip(result.system.bodies, picture.colors, strict=False) if _is_named(b)],
        "camera": _camera(picture, look),
        "size": picture.look.size,
        "paint": {"plain": PLAIN, "steel": STEEL, "edge": EDGE, "outline": OUTLINE},
        "plots": [p.entry() | {"words": words} for p, words in zip(wanted, ranges(wanted), strict=True)],
    }
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(_page(name, tree, result, seen), encoding="utf-8")
    return target


def _checked(path: str | PathLike[str]) -> Path:
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise AnalysisError(f'report: the page is an HTML file, e.g. "report.html", not {str(path)!r}.')
    return target


def _turned(result: Result) -> float:
    """How far the body that turns most has turned in all [rad]."""
    spins = [np.linalg.norm(result.angular_velocity(body), axis=1) for body in result.system.bodies]
    return float(max(np.sum((spin[1:] + spin[:-1]) / 2 * np.diff(result.t)) for spin in spins))


def _instants(result: Result, frames: int | None, turned: float) -> NDArray[np.int64]:
    """Numbers of the instants shown."""
    count = len(result.t)
    if frames is None:
        frames = min(count, max(FRAMES, min(MOST_FRAMES, int(turned / TURN))))
    if isinstance(frames, bool) or not isinstance(frames, int | np.integer) or frames < 1:
        raise AnalysisError(f"frames must be a whole number, at least 1, not {frames!r}.")
    if frames >= count:
        return np.arange(count)
    even = np.linspace(result.t[0], result.t[-1], int(frames))
    near = np.searchsorted((result.t[1:] + result.t[:-1]) / 2, even)
    return np.unique(near)


def _has(color: str, result: Result) -> bool:
    try:
        check_color(color, result)
    except AnalysisError:
        return False
    return color != "speed" or bool(np.abs(result.v).max(initial=0.0) > 0)


def _worst(result: Result, flesh: dict[int, Flesh]) -> dict[int, tuple[float, float]]:
    """Largest stress on the surface of each body that has any, and when; of very long motions at fewer instants."""
    out = {}
    for number, piece in flesh.items():
        body = result.system.bodies[number]
        if isinstance(body, FlexibleBody) and body.reduced.part is not None and body.reduced.part.elements is not None:
            every = max(1, len(result.t) * len(piece.nodes) // ALL_VALUES)
            _, top, when = result._part(slice(None, None, every)).stress_envelope(body, nodes=piece.nodes).worst
            out[number] = (top, when)
    return out


def _coloring(color: str, picture: Drawing, worst: dict[int, tuple[float, float]]) -> Coloring:
    """Values of a colour; those that the page cannot compute at fewer times if there would be too many of them."""
    shown = picture.shown
    if color not in ("displacement", "speed"):
        points = sum(len(p.solid.points) for p in picture.pieces if isinstance(p, Flesh))
        every = max(1, -(-len(shown.t) * points // VALUES))
        some = np.unique(np.r_[0 : len(shown.t) : every, len(shown.t) - 1])
        shown = poses(picture.result, shown.t[some])
    one = coloring(color, picture.result, picture.pieces, shown, picture.whole)
    if color == "von_mises":
        top = one.factor * max((stress for stress, _ in worst.values()), default=0.0)
        one = replace(one, bar=replace(one.bar, high=max(top, one.bar.high)))
    return one


def _nodal(one: Coloring, flesh: dict[int, Flesh]) -> dict[int, Array]:
    """Values (time, points) of the surfaces that have any, by the number of the body, in the unit of the bar."""
    out = {}
    for number, piece in flesh.items():
        values = [one.values(piece, k) for k in range(len(one.shown.t))]
        if values and values[0] is not None:
            out[number] = np.array(values, dtype=float)
    return out


def _seen(
    picture: Drawing,
    flesh: dict[int, Flesh],
    fields: dict[str, Coloring],
    nodal: dict[str, Any],
    worst: dict[int, tuple[float, float]],
) -> Seen:
    stress = fields.get("von_mises")
    if stress is None:
        return Seen(picture.shown.t, picture.shown.elastic, flesh, {}, picture.shown.t, "", {})
    return Seen(
        picture.shown.t, picture.shown.elastic, flesh, nodal["von_mises"], stress.shown.t, stress.bar.title, worst
    )  # fmt: skip


def _field(color: str, one: Coloring, start: float) -> dict[str, Any]:
    """Name, range and colours of a field; ``factor`` makes what the page computes of the unit of the bar."""
    bar = one.bar
    return {
        "name": color, "title": bar.title, "low": bar.low, "high": bar.high, "factor": one.factor,
        "t": floats(one.shown.t - start), "colors": _stops(bar),
    }  # fmt: skip


def _stops(bar: ColorBar) -> list[str]:
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(c) for c in colormaps[bar.cmap](np.linspace(0.0, 1.0, STOPS))]


def _bodies(picture: Drawing, fields: dict[str, Coloring], nodal: dict[str, dict[int, Array]]) -> list[dict[str, Any]]:
    """Bodies with the values of their surfaces, which are their first points."""
    out = bodies(picture)
    for body in out:
        own = {c: values[body["number"]] for c, values in nodal.items() if body["number"] in values}
        body["nodal"] = {c: octets(v, fields[c].bar.low, fields[c].bar.high) for c, v in own.items()}
    return out


def _arrows(picture: Drawing) -> list[dict[str, Any]]:
    """Reactions and applied forces: points and vectors (time, 6) of each; ``length`` [m] is that of the largest."""
    shown, result, out = picture.shown, picture.result, []
    if result.forces_known:
        for joint in result.system.joints:
            if isinstance(joint, Joint):
                both = result.reaction(joint)
                force = both[:, :3] if both.shape[1] == 6 else np.column_stack([both[:, :2], np.zeros(len(both))])
                at = shown.path(joint.frame_j)
                out.append(("reactions", joint.name, np.hstack([at, interpolated(result, force, shown.t)])))
    applied = [loads(result.system.forces, shown, k) for k in range(len(shown.t))]
    for n in range(len(applied[0])):
        out.append(("forces", "", np.array([np.concatenate(now[n]) for now in applied])))
    entries = []
    for kind, color in (("reactions", ARROW), ("forces", LOAD)):
        some = [(name, values) for what, name, values in out if what == kind]
        largest = max((float(np.linalg.norm(v[:, 3:], axis=1).max()) for _, v in some), default=0.0)
        for name, values in some if largest > 0 else []:
            values[:, 3:] *= 0.28 * picture.look.size / largest
            entries.append({"kind": kind, "name": name, "color": color, "vectors": floats(values)})
    return entries


def _traces(picture: Drawing) -> list[dict[str, Any]]:
    whole, out = picture.whole, []
    for given in picture.options.traces:
        frame = frame_of(given)
        color = picture.colors[picture.system.body_number(frame.body)]
        t = whole.t - picture.shown.t[0]
        out.append({"color": color, "points": floats(whole.path(frame)), "t": floats(t)})
    return out


def _is_named(body: Body) -> bool:
    return body.kind != GROUND and is_seen(body)


def _camera(picture: Drawing, look: ArrayLike | None) -> dict[str, Any]:
    count = len(picture.shown.t)
    some = sorted({int(k) for k in np.linspace(0, count - 1, min(count, 24))})
    seen = picture.camera(look, some)
    return {
        "axes": seen.axes.ravel().tolist(), "center": seen.center.tolist(), "width": seen.width, "height": seen.height,
        "up": picture.look.up.tolist(),
    }  # fmt: skip


def _page(name: str, tree: dict[str, Any], result: Result, seen: Seen) -> str:
    """The page as text."""
    folder = files("flexmbs.view") / "page"
    scripts = "\n".join((folder / script).read_text(encoding="utf-8") for script in SCRIPTS)
    plain, blob = packed(tree)
    parts = {
        "TITLE": escape(name),
        "SUBTITLE": escape(_subtitle(result)),
        "STYLE": (folder / "page.css").read_text(encoding="utf-8"),
        "SCRIPT": scripts,
        "WARNINGS": _warnings(result.warnings),
        "TABLES": "".join(_table(head, rows) for head, rows in tables(result, seen)),
        "MODEL": escape(result.system.report()),
        "FOOT": escape(f"Made by flexmbs {_version()}"),
        "HEADER": json.dumps(plain, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c"),
        "DATA": blob,
    }
    page = (folder / "page.html").read_text(encoding="utf-8")
    out = []
    for n, part in enumerate(page.split("@@")):  # every second part is a name
        out.append(parts[part] if n % 2 else part)
    return "".join(out)


def _subtitle(result: Result) -> str:
    system = result.system
    count = int(np.count_nonzero(system.elastic))
    what = [f"{len(system.bodies)} bodies", f"{len(system.joints)} joints and drives"]
    what += [f"{count} elastic coordinates"] if count else []
    span = [f"{result.t[0]:.4g} to {result.t[-1]:.4g} s"] if len(result.t) > 1 else []
    return " · ".join([*what, *span, result.outcome])


def _table(title: str, rows: Sequence[Fact]) -> str:
    body = ""
    for name, value, when in rows:
        jump = (
            "" if when is None else f' <button type="button" class="jump" data-time="{when!r}">at {when:.5g} s</button>'
        )
        body += f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}{jump}</td></tr>'
    return f'<div class="card"><h2>{escape(title)}</h2><table><tbody>{body}</tbody></table></div>'


def _warnings(texts: Sequence[str]) -> str:
    if not texts:
        return ""
    listed = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f'<section class="warnings" role="note" aria-label="Warnings"><h2>Warnings</h2><ul>{listed}</ul></section>'


def _version() -> str:
    try:
        return version("flexmbs")
    except PackageNotFoundError:  # run from its source
        return ""
