"""Panels drawn by Matplotlib alone, back to front, for machines without OpenGL."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.view.camera import Camera
from flexmbs.view.scene import ColorBar, Dots, Lines, Panel, Surface

Array = NDArray[np.float64]

_LIGHT = np.array([-0.35, 0.5, 0.8]) / np.linalg.norm([-0.35, 0.5, 0.8])
"""Direction to the light in the camera's axes: over the viewer's left shoulder."""


def draw(axes: Any, panel: Panel, bar: ColorBar | None, view: Camera) -> None:
    """Draw a panel into Matplotlib axes whose data coordinates are those of the camera's screen."""
    for item in panel.items:
        if isinstance(item, Lines) and item.kind in ("outline", "trace"):
            _lines(axes, item, bar, view)
    surfaces = [item for item in panel.items if isinstance(item, Surface)]
    if surfaces:
        _surfaces(axes, surfaces, bar, view)
    for item in panel.items:
        if isinstance(item, Lines) and item.kind == "member":
            _lines(axes, item, bar, view)
        elif isinstance(item, Dots):
            x = view.project(item.points)
            axes.scatter(x[:, 0], x[:, 1], s=8, color=item.color, zorder=4)


def _surfaces(axes: Any, surfaces: list[Surface], bar: ColorBar | None, view: Camera) -> None:
    """All triangles that face the viewer, the farthest first."""
    from matplotlib.collections import PolyCollection

    corners, colors = [], []
    for item in surfaces:
        x = view.project(item.points)[item.triangles]
        normal = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
        seen = normal[:, 2] > 0 if item.closed else np.ones(len(x), dtype=bool)
        shade = 0.6 + 0.4 * np.clip(normal @ _LIGHT, 0, 1) if item.closed else np.ones(len(x))
        values = None if item.values is None else item.values[item.triangles].mean(axis=1)
        rgb = _colors(values, item.color, bar, len(x))
        corners.append(x[seen])
        paint = rgb * shade[:, None]
        colors.append((1 - item.opacity * (1 - paint))[seen])  # as if on white
    every, rgb = np.concatenate(corners), np.concatenate(colors)
    order = np.argsort(every[:, :, 2].mean(axis=1))
    # each triangle is edged in its own colour, or the white between them shows
    patches = PolyCollection(list(every[order][:, :, :2]), facecolors=rgb[order], edgecolors=rgb[order], linewidths=0.4)
    patches.set_zorder(2)
    axes.add_collection(patches)


def _lines(axes: Any, item: Lines, bar: ColorBar | None, view: Camera) -> None:
    from matplotlib.collections import LineCollection

    x = view.project(item.points)[item.segments]
    values = None if item.values is None else item.values[item.segments].mean(axis=1)
    colors = _colors(values, item.color, bar, len(x))
    widths = item.width if item.kind == "member" else 0.5 * item.width
    lines = LineCollection(list(x[:, :, :2]), colors=colors, linewidths=widths, capstyle="round")
    lines.set_zorder({"outline": 1, "trace": 1.5}.get(item.kind, 3))
    axes.add_collection(lines)


def _colors(values: Array | None, color: str, bar: ColorBar | None, count: int) -> Array:
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb

    if values is None or bar is None:
        return np.tile(to_rgb(color), (count, 1))
    share = (values - bar.low) / max(bar.high - bar.low, 1e-300)
    return np.asarray(colormaps[bar.cmap](np.clip(share, 0, 1))[:, :3])
