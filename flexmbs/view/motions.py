"""Mechanisms in pictures, films and windows: snapshot, animate, show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.body import GROUND, Body, Frame
from flexmbs.errors import AnalysisError
from flexmbs.progress import Progress
from flexmbs.results import Result
from flexmbs.system.system import System
from flexmbs.view import figure, film, opengl, rendered
from flexmbs.view.camera import Camera, Look, views
from flexmbs.view.coloring import Color
from flexmbs.view.mechanism import Drawing, Options, drawing, frame_of
from flexmbs.view.poses import as_result
from flexmbs.view.scene import Picture

Array = NDArray[np.float64]

CAMERA_TIMES = 40
"""Times of a film at which everything must be in the picture."""


def snapshot(
    result: Result | System,
    path: str | PathLike[str],
    at: float | ArrayLike | None = None,
    *,
    look: Look | Sequence[Look] = None,
    size: tuple[int, int] | None = None,
    title: str = "",
    traces: Sequence[Frame | Body] = (),
    triads: bool | Sequence[Frame | Body] = False,
    forces: bool = False,
    reactions: bool | Sequence[Any] = False,
    color: Color = None,
    label: str = "",
    limits: tuple[float, float] | None = None,
    scale: float | str = 1.0,
    ghosts: int = 0,
    joints: bool = True,
) -> Path:
    """Picture of a mechanism at a time (by default the last), or at several times side by side.

    Bodies are drawn with their ``shape``, flexible ones as their deformed mesh, others as links between their joints;
    joints by their kind. Planar mechanisms are seen straight on. A System is drawn in its initial position.

    Parameters
    ----------
    at : time [s], or several of them.
    look : direction from the mechanism to the viewer: a vector, or "x", "-y", ..., "xyz" (from a corner). A list of
        such shows several views side by side.
    size : of the picture in pixels; ``title`` stands before the time.
    traces : frames (or bodies) whose way is drawn.
    triads : axes of all bodies, or of these frames.
    forces : arrows of applied forces; ``reactions`` those of all joints, or of these, on their second body.
    color : ``"speed"`` colours bodies by the speed of their points; ``"von_mises"`` and ``"displacement"`` colour those
        that are flexible by stress (beams: of the outer fibres) and deformation, as do ``"tresca"``,
        ``"max_principal"``, ``"min_principal"``, ``"stress_xx"``, ...; or any field: ``{body: values}`` with nodal
        values (nodes,) or (time, nodes), or a function of body and times. One range for the whole motion, or
        ``limits`` (lowest, highest) in SI units; ``label`` names the field, shown in SI units then.
    scale : how many times too large the deformation of flexible bodies is drawn, measured from the places where joints
        hold them, so that these stay together; ``"auto"`` makes it visible. Their undeformed outline is then shown too.
    ghosts : number of positions over the whole motion that are drawn pale behind.
    joints : whether joints, springs and ground are drawn.
    """
    result = as_result(result)
    times = np.atleast_1d(np.asarray(result.t[-1] if at is None else at, dtype=float))
    options = Options(traces, triads, forces, reactions, color, ghosts, joints, scale, label, limits)
    out = figure.write(_still(result, times, options, views(look), title), path, size)
    assert out is not None
    return out


def animate(
    result: Result,
    path: str | PathLike[str],
    *,
    frames: int | None = None,
    fps: float = 25.0,
    start: float | None = None,
    end: float | None = None,
    look: Look | Sequence[Look] = None,
    size: tuple[int, int] | None = None,
    title: str = "",
    follow: Frame | Body | None = None,
    traces: Sequence[Frame | Body] = (),
    triads: bool | Sequence[Frame | Body] = False,
    forces: bool = False,
    reactions: bool | Sequence[Any] = False,
    color: Color = None,
    label: str = "",
    limits: tuple[float, float] | None = None,
    scale: float | str = 1.0,
    ghosts: int = 0,
    joints: bool = True,
) -> Path:
    """Film of a mechanism, MP4 or GIF by the ending of the path, with one camera and one colour range.

    ``frames`` pictures at equal intervals of time from ``start`` to ``end``, shown ``fps`` a second; by default as many
    as show motions of 2 to 20 s as fast as they are, and others in 4 s. ``follow`` keeps a frame or body in the middle.
    The other options are those of ``snapshot``.
    """
    result = as_result(result)
    first = float(result.t[0]) if start is None else float(start)
    last = float(result.t[-1]) if end is None else float(end)
    if not last > first:
        raise AnalysisError(f"a film needs a motion: start = {first:.6g} s, end = {last:.6g} s.")
    frames, fps = film.length(last - first, frames, fps)
    path = film.checked(path)
    options = Options(traces, triads, forces, reactions, color, ghosts, joints, scale, label, limits)
    looks = views(look)
    mechanism = drawing(result, np.linspace(first, last, frames), options, _chosen(looks))
    pictures = _pictures(mechanism, title, looks, follow, (last - first) * fps / frames)
    with Progress("film", 0.0, float(frames)) as progress:
        return film.write(progress.each(pictures), path, fps, size)


def show(
    result: Result | System,
    *,
    look: Look = None,
    title: str = "",
    traces: Sequence[Frame | Body] = (),
    triads: bool | Sequence[Frame | Body] = False,
    forces: bool = False,
    reactions: bool | Sequence[Any] = False,
    color: Color = None,
    label: str = "",
    limits: tuple[float, float] | None = None,
    scale: float | str = 1.0,
    joints: bool = True,
) -> Path | None:
    """Window with the mechanism, to be turned with the mouse and moved in time with a slider; options of snapshot.

    Where no window can be opened, for want of a screen or of OpenGL, a warning says so and the last instant is written
    as a picture, whose path is returned.
    """
    result = as_result(result)
    options = Options(traces, triads, forces, reactions, color, 0, joints, scale, label, limits)
    looks = views(look)
    why = opengl.no_window()
    if why:
        return figure.still(_still(result, result.t[-1:], options, looks, title), why)
    count = 1 if len(result.t) == 1 else 400
    mechanism = drawing(result, np.linspace(result.t[0], result.t[-1], count), options, _chosen(looks))
    seen = mechanism.camera(looks[0], _some(count))

    def panel(k: int) -> Any:
        return mechanism.panel(k, seen, _title(title, mechanism.shown.t[k], mechanism))

    rendered.show_motion(panel, count, mechanism.bar, mechanism.legend)
    return None


def _still(result: Result, times: Array, options: Options, looks: list[Look], title: str) -> Picture:
    """A mechanism at times, each seen from all directions."""
    mechanism = drawing(result, times, options, _chosen(looks))
    cameras = [mechanism.camera(look, range(len(times))) for look in looks]
    panels = [mechanism.panel(k, seen, _title(title, t, mechanism)) for k, t in enumerate(times) for seen in cameras]
    columns = _columns(len(looks) if len(looks) > 1 else len(times))
    return Picture(tuple(panels), columns, mechanism.bar, mechanism.legend, _WIDTHS[columns])


_WIDTHS = {1: 900, 2: 600, 3: 440}
"""Of a panel in pixels, by the number of columns."""


def _columns(count: int) -> int:
    return 2 if count == 4 else min(count, 3)


def _chosen(looks: list[Look]) -> list[Look] | None:
    """None where no direction was chosen, and planar mechanisms are drawn flat."""
    return None if len(looks) == 1 and looks[0] is None else looks


def _pictures(
    mechanism: Drawing, title: str, looks: list[Look], follow: Frame | Body | None, pace: float
) -> Iterator[Picture]:
    """The pictures of a film, one by one."""
    shown = mechanism.shown
    count = len(shown.t)
    cameras = [mechanism.camera(look, _some(count)) for look in looks]
    suffix = film.pace(pace)
    middle = None
    if follow is not None:
        middle = shown.path(frame_of(follow))
        cameras = [_around(mechanism, seen, middle) for seen in cameras]
    columns = _columns(len(looks))
    for k in range(count):
        moved = [s if middle is None else Camera(s.axes, middle[k], s.width, s.height) for s in cameras]
        words = _title(title, shown.t[k], mechanism) + suffix
        panels = tuple(mechanism.panel(k, seen, words) for seen in moved)
        yield Picture(panels, columns, mechanism.bar, mechanism.legend, _WIDTHS[columns])


def _around(mechanism: Drawing, seen: Camera, middle: Array) -> Camera:
    """The same camera, wide enough for the moving bodies around what is followed, and some way about them."""
    shown, ground = mechanism.shown, {k for k, b in enumerate(mechanism.system.bodies) if b.kind == GROUND}
    reach = 0.0
    for k in _some(len(shown.t)):
        for piece in mechanism.pieces:
            if piece.own and piece.body not in ground:
                place = piece.moved(*shown.pose(piece.body, k))
                reach = max(reach, float(np.linalg.norm((place - middle[k]) @ seen.axes[:2].T, axis=1).max()))
    reach = reach or mechanism.look.size
    return Camera(seen.axes, seen.center, 4.5 * reach, 2.8 * reach)


def _some(count: int) -> Sequence[int]:
    return sorted({int(k) for k in np.linspace(0, count - 1, min(count, CAMERA_TIMES))})


def _title(title: str, t: float, mechanism: Drawing) -> str:
    span = float(mechanism.result.t[-1] - mechanism.result.t[0])
    larger = f"deformation × {mechanism.scale:g}" if mechanism.scale != 1.0 else ""
    if len(mechanism.result.t) == 1:
        return ",   ".join(filter(None, [title, larger])) or "position"
    digits = max(0, 2 - int(np.floor(np.log10(span)))) if span > 0 else 3
    return ",   ".join(filter(None, [title, larger, f"t = {t:.{min(digits, 9)}f} s"]))
