"""Pictures put together: panels by whichever renderer works, titles, colour bar, legend and axes by Matplotlib."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import AnalysisError
from flexmbs.view import drawn, opengl, rendered
from flexmbs.view.camera import Camera
from flexmbs.view.scene import Panel, Picture

DPI = 110
STILL = "flexmbs_view.png"
"""The picture written where a window was wanted and none can be opened."""
_TITLE = 30  # pixels


class RenderWarning(UserWarning):
    """A picture was made by the simpler renderer."""


def write(picture: Picture, path: str | PathLike[str] | None, size: tuple[int, int] | None) -> Path | None:
    """Write a picture to a file (PNG, or what else Matplotlib writes) of a size in pixels; without a path show it."""
    if path is None:
        why = opengl.no_window()
        if why:
            return still(picture, why)
        rendered.show(picture.panels[0], picture.bar, picture.legend)
        return None
    path = Path(path)
    if path.parent and not path.parent.is_dir():
        raise AnalysisError(f"{path}: there is no folder {path.parent}; make it first.")
    figure = _figure(picture, size or _natural_size(picture))
    try:
        figure.savefig(path, dpi=DPI, **({"pil_kwargs": {"optimize": True}} if path.suffix == ".png" else {}))
    except ValueError as error:
        raise AnalysisError(f"{path}: {error}") from error
    return path


def still(picture: Picture, why: str) -> Path:
    """A picture in a file where no window can be opened: in this folder, or one for temporary files; says where."""
    folder = Path.cwd() if os.access(Path.cwd(), os.W_OK) else Path(tempfile.gettempdir())
    path = folder / STILL
    warnings.warn(f"{why}, so a still picture was written to {path}.", RenderWarning, stacklevel=4)
    write(picture, path, None)
    return path


def _rows(picture: Picture) -> int:
    return -(-len(picture.panels) // picture.columns)


def _side(picture: Picture) -> int:
    """Pixels at the right for the colour bar or the legend."""
    if picture.bar is not None:
        return 112
    longest = max((len(name) for name, _ in picture.legend), default=0)
    if longest:
        return 50 + 9 * longest
    return 0 if picture.width is None else 72  # room for the axes


def _natural_size(picture: Picture) -> tuple[int, int]:
    """Pixels such that what is shown fills its panel."""
    seen = [panel.camera for panel in picture.panels]
    aspect = max(c.width for c in seen) / max(1e-12, *(c.height for c in seen))
    width = picture.width or {1: 900, 2: 460}.get(picture.columns, 320)
    tallest = 0.72 if picture.width is None else min(0.95, 640 / width)
    height = int(np.clip(1.08 * width / aspect, 0.3 * width, tallest * width)) + _TITLE
    rows = _rows(picture)
    return width * picture.columns + _side(picture), rows * max(height, 340 // rows)  # room for the colour bar


def frames(pictures: Iterator[Picture], size: tuple[int, int] | None, block: int) -> Iterator[NDArray[np.uint8]]:
    """Images (height, width, 3) of pictures that differ in what their panels hold; sides are multiples of ``block``."""
    page = None
    for picture in pictures:
        if page is None:
            wanted = size or _natural_size(picture)
            page = _Page(picture, (block * -(-wanted[0] // block), block * -(-wanted[1] // block)), quick=True)
        else:
            page.update(picture)
        yield page.image()
    if page is not None:
        page.close()


def _figure(picture: Picture, size: tuple[int, int]) -> Any:
    page = _Page(picture, size)
    page.close()
    return page.figure


class _Page:
    """A Matplotlib figure of a picture, whose panels can be drawn anew."""

    def __init__(self, picture: Picture, size: tuple[int, int], quick: bool = False) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.able = opengl.has_opengl()
        if not self.able:
            warnings.warn(opengl.ADVICE, RenderWarning, stacklevel=5)
        width, height = size
        self.figure: Any = Figure(figsize=(width / DPI, height / DPI), dpi=DPI, facecolor="white")
        self.canvas: Any = FigureCanvasAgg(self.figure)
        rows = _rows(picture)
        inner = width - _side(picture)
        w, h = inner // picture.columns, height // rows
        self.pixels = (w, h - _TITLE)
        self.stage = rendered.Stage(self.pixels, quick) if self.able else None
        self.axes, self.titles, self.middles = [], [], []
        one = _same_axes(picture.panels)
        for k, panel in enumerate(picture.panels):
            row, column = divmod(k, picture.columns)
            left, bottom = column * w, height - (row + 1) * h
            self.axes.append(self.figure.add_axes((left / width, bottom / height, w / width, (h - _TITLE) / height)))
            self.middles.append((left + w / 2) / width)
            place = (self.middles[-1], (bottom + h - _TITLE / 2) / height)
            self.titles.append(self.figure.text(*place, "", ha="center", va="center", fontsize=10.5))
            if not one:
                x, y = _corner(panel, self.pixels)
                _triad(self.figure, panel.camera, (left + x) / width, (bottom + y) / height, size)
        self.update(picture)
        if one:
            x = (inner if inner < width else 0) + 34
            _triad(self.figure, picture.panels[0].camera, x / width, 30 / height, size)
        if picture.bar is not None:
            _bar(self.figure, picture, inner / width)
        elif picture.legend:
            _legend(self.figure, picture, inner / width)

    def update(self, picture: Picture) -> None:
        """Draw the panels of a picture in the places of those before."""
        for axes, title, panel in zip(self.axes, self.titles, picture.panels, strict=True):
            view = panel.camera.fitted(self.pixels[0] / self.pixels[1])
            axes.clear()
            axes.set_axis_off()
            if self.stage is not None:
                half = np.array([view.width, view.height]) / 2
                extent = (-half[0], half[0], -half[1], half[1])
                axes.imshow(self.stage.image(panel, picture.bar), extent=extent, interpolation="nearest")
            else:
                drawn.draw(axes, panel, picture.bar, view)
            axes.set_xlim(-view.width / 2, view.width / 2)
            axes.set_ylim(-view.height / 2, view.height / 2)
            title.set_text(panel.title)
        self._join_titles(picture.columns)

    def _join_titles(self, columns: int) -> None:
        """A title that is the same for a whole row stands once, over its middle; for all rows, over the first."""
        if len(self.titles) > columns > 1 and len({title.get_text() for title in self.titles}) == 1:
            for title in self.titles[columns:]:
                title.set_text("")
        for first in range(0, len(self.titles), columns):
            row = self.titles[first : first + columns]
            if len(row) > 1 and len({title.get_text() for title in row}) == 1:
                row[0].set_x((self.middles[first] + self.middles[first + len(row) - 1]) / 2)
                for title in row[1:]:
                    title.set_text("")

    def image(self) -> NDArray[np.uint8]:
        """The page as pixels."""
        self.canvas.draw()
        return np.asarray(self.canvas.buffer_rgba())[:, :, :3].copy()

    def close(self) -> None:
        """Let go of the renderer."""
        if self.stage is not None:
            self.stage.close()


def _same_axes(panels: tuple[Panel, ...]) -> bool:
    """Whether all panels are seen from one direction."""
    return all(np.allclose(panel.camera.axes, panels[0].camera.axes) for panel in panels[1:])


def _corner(panel: Panel, pixels: tuple[int, int]) -> tuple[int, int]:
    """Where in a panel its axes cover least, from its lower left in pixels: a corner, the lower left if it is free."""
    w, h = pixels
    view = panel.camera.fitted(w / h)
    shown = np.concatenate([view.project(item.points)[:, :2] for item in panel.items] or [np.zeros((0, 2))])
    at = (shown / [view.width, view.height] + 0.5) * [w, h]
    places = [(34, 30), (w - 40, 30), (34, h - 44), (w - 40, h - 44)]
    covered = [int(np.sum(np.abs(at - place).max(axis=1) < 40)) for place in places]
    return places[int(np.argmin(covered))]


def _triad(figure: Any, view: Camera, x: float, y: float, size: tuple[int, int]) -> None:
    """The three axes of the mesh, as arrows in a corner."""
    for axis, name, color in zip(view.axes.T, "xyz", ("#c0392b", "#27803b", "#2458a6"), strict=True):
        step = 22 * axis[:2] / size
        if np.hypot(*axis[:2]) < 0.1:
            continue
        figure.add_artist(_line([x, x + step[0]], [y, y + step[1]], color))
        figure.text(x + 1.5 * step[0], y + 1.5 * step[1], name, color=color, fontsize=8.5, ha="center", va="center")


def _line(x: list[float], y: list[float], color: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D(x, y, color=color, linewidth=1.6, solid_capstyle="round")


def _bar(figure: Any, picture: Picture, left: float) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    assert picture.bar is not None
    width, height = figure.bbox.size
    axes = figure.add_axes((left + 10 / width, 76 / height, 16 / width, 1 - 116 / height))
    colours = ScalarMappable(Normalize(picture.bar.low, picture.bar.high), picture.bar.cmap)
    bar = figure.colorbar(colours, cax=axes)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8.5, length=3)
    bar.set_label(picture.bar.title, fontsize=9.5)


def _legend(figure: Any, picture: Picture, left: float) -> None:
    from matplotlib.patches import Patch

    patches = [Patch(facecolor=color, label=name) for name, color in picture.legend]
    figure.legend(
        handles=patches, loc="center left", bbox_to_anchor=(left, 0.5), frameon=False, fontsize=9.5, handlelength=1.0
    )
