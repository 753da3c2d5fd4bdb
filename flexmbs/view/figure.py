"""Pictures put together: panels by whichever renderer works, titles, colour bar, legend and axes by Matplotlib."""

from __future__ import annotations

import warnings
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from flexmbs.errors import AnalysisError
from flexmbs.view import drawn, opengl, rendered
from flexmbs.view.camera import Camera
from flexmbs.view.scene import Picture

DPI = 110
_TITLE = 30  # pixels


class RenderWarning(UserWarning):
    """A picture was made by the simpler renderer."""


def write(picture: Picture, path: str | PathLike[str] | None, size: tuple[int, int] | None) -> Path | None:
    """Write a picture to a file (PNG, or what else Matplotlib writes) of a size in pixels; without a path show it."""
    if path is None:
        _show(picture)
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


def _show(picture: Picture) -> None:
    if not opengl.has_display() or not opengl.has_opengl():
        raise AnalysisError("there is no screen to open a window on; give a path, for instance path='picture.png'.")
    rendered.show(picture.panels[0], picture.bar, picture.legend)


def _rows(picture: Picture) -> int:
    return -(-len(picture.panels) // picture.columns)


def _side(picture: Picture) -> int:
    """Pixels at the right for the colour bar or the legend."""
    if picture.bar is not None:
        return 112
    longest = max((len(name) for name, _ in picture.legend), default=0)
    return 50 + 9 * longest if longest else 0


def _natural_size(picture: Picture) -> tuple[int, int]:
    """Pixels such that what is shown fills its panel."""
    seen = [panel.camera for panel in picture.panels]
    aspect = max(c.width for c in seen) / max(1e-12, *(c.height for c in seen))
    width = {1: 900, 2: 460}.get(picture.columns, 320)
    height = int(np.clip(1.08 * width / aspect, 0.3 * width, 0.72 * width)) + _TITLE
    rows = _rows(picture)
    return width * picture.columns + _side(picture), rows * max(height, 340 // rows)  # room for the colour bar


def _figure(picture: Picture, size: tuple[int, int]) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    able = opengl.has_opengl()
    if not able:
        warnings.warn(opengl.ADVICE, RenderWarning, stacklevel=4)
    width, height = size
    figure = Figure(figsize=(width / DPI, height / DPI), dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    rows = _rows(picture)
    inner = width - _side(picture)
    w, h = inner // picture.columns, height // rows
    for k, panel in enumerate(picture.panels):
        row, column = divmod(k, picture.columns)
        left, bottom = column * w, height - (row + 1) * h
        view = panel.camera.fitted(w / (h - _TITLE))
        axes = figure.add_axes((left / width, bottom / height, w / width, (h - _TITLE) / height))
        axes.set_axis_off()
        if able:
            # twice as fine as needed: the reduction smooths what SSAA leaves
            pixels = rendered.image(panel, picture.bar, (2 * w, 2 * (h - _TITLE)))
            half = np.array([view.width, view.height]) / 2
            axes.imshow(pixels, extent=(-half[0], half[0], -half[1], half[1]), interpolation="antialiased")
        else:
            drawn.draw(axes, panel, picture.bar, view)
        axes.set_xlim(-view.width / 2, view.width / 2)
        axes.set_ylim(-view.height / 2, view.height / 2)
        middle = (left + w / 2) / width
        figure.text(middle, (bottom + h - _TITLE / 2) / height, panel.title, ha="center", va="center", fontsize=10.5)
        if k == 0:
            _triad(figure, view, ((inner if inner < width else 0) + 34) / width, 30 / height, size)
    if picture.bar is not None:
        _bar(figure, picture, inner / width)
    elif picture.legend:
        _legend(figure, picture, inner / width)
    return figure


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
