"""Panels rendered by VTK through PyVista, the only door to it: as an image, or in a window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.view.opengl import prepare
from flexmbs.view.scene import ColorBar, Dots, Lines, Panel, Surface

_LIGHTS = (((0.1, 0.2, 1.0), 0.66), ((-0.7, 1.0, 0.5), 0.26), ((0.9, -0.2, 0.3), 0.12))
"""Directions and strengths: from the viewer, from above left, and a little from the right."""

SCREEN = (1200, 800)
"""Size of windows, in pixels."""


class Stage:
    """An off-screen window that draws one panel after the other, as images of a size in pixels on white.

    Each is drawn twice as fine and reduced; ``quick`` leaves it at that, else edges are smoothed once more by VTK.
    """

    def __init__(self, size: tuple[int, int], quick: bool = False) -> None:
        self.size = (2 * size[0], 2 * size[1])
        self.plotter = _window(self.size, off_screen=True, smooth=not quick)

    def image(self, panel: Panel, bar: ColorBar | None) -> NDArray[np.uint8]:
        """One panel, (height, width, 3)."""
        self.plotter.clear_actors()
        _fill(self.plotter, panel, bar, self.size)
        self.plotter.render()
        fine = np.asarray(self.plotter.screenshot(return_img=True), dtype=np.uint16)
        return ((fine[::2, ::2] + fine[1::2, ::2] + fine[::2, 1::2] + fine[1::2, 1::2] + 2) // 4).astype(np.uint8)

    def close(self) -> None:
        """Free the window."""
        self.plotter.close()


def show(panel: Panel, bar: ColorBar | None, legend: tuple[tuple[str, str], ...]) -> None:
    """One panel in a window that can be turned with the mouse; returns when it is closed."""
    plotter = _window(SCREEN, off_screen=False)
    _fill(plotter, panel, bar, SCREEN)
    _explain(plotter, panel.title, bar, legend)
    plotter.show()


def show_motion(
    panel: Callable[[int], Panel], count: int, bar: ColorBar | None, legend: tuple[tuple[str, str], ...]
) -> None:
    """Panels in a window, chosen by a slider; returns when it is closed."""
    plotter = _window(SCREEN, off_screen=False)
    move_to(plotter, panel, 0, bar, legend)
    if count > 1:
        plotter.add_slider_widget(
            lambda value: move_to(plotter, panel, round(value), bar, legend, keep=True),
            [0, count - 1],
            value=0,
            title="",
            fmt="",
            pointa=(0.1, 0.06),
            pointb=(0.9, 0.06),
        )
    plotter.show()


def move_to(
    plotter: Any,
    panel: Callable[[int], Panel],
    k: int,
    bar: ColorBar | None,
    legend: tuple[tuple[str, str], ...],
    keep: bool = False,
) -> None:
    """Show the k-th panel in a window, from where the viewer has turned it to if ``keep``."""
    here = plotter.camera_position if keep else None
    plotter.clear_actors()
    shown = panel(k)
    _fill(plotter, shown, bar, SCREEN)
    _explain(plotter, shown.title, bar, legend)
    if here is not None:
        plotter.camera_position = here


def _explain(plotter: Any, title: str, bar: ColorBar | None, legend: tuple[tuple[str, str], ...]) -> None:
    plotter.add_text(title, font_size=10, color="black", name="title")
    if bar is not None:
        plotter.add_scalar_bar(title=bar.title, color="black", vertical=True)
    if legend:
        plotter.add_legend([[name, color] for name, color in legend], bcolor="white", name="legend")
    plotter.add_axes(color="black")


def _window(size: tuple[int, int], off_screen: bool, smooth: bool = True) -> Any:
    prepare()
    import pyvista

    plotter = pyvista.Plotter(off_screen=off_screen, window_size=list(size), lighting="none")
    plotter.set_background("white")  # type: ignore[arg-type]
    for position, intensity in _LIGHTS:
        plotter.add_light(pyvista.Light(position=position, intensity=intensity, light_type="camera light"))
    if smooth:
        plotter.enable_anti_aliasing("ssaa")
    return plotter


def _fill(plotter: Any, panel: Panel, bar: ColorBar | None, size: tuple[int, int]) -> None:
    """Put what a panel shows into an empty window."""
    import pyvista

    for item in panel.items:
        if isinstance(item, Surface):
            _add_surface(pyvista, plotter, item, bar)
        elif isinstance(item, Lines):
            _add_lines(pyvista, plotter, item, bar, panel.camera.height / size[1])
        else:
            _add_dots(pyvista, plotter, item, panel.camera.height)
    view = panel.camera.fitted(size[0] / size[1])
    camera = plotter.camera
    camera.parallel_projection = True
    camera.focal_point = view.center
    camera.position = view.center + 10 * max(view.width, view.height) * view.axes[2]
    camera.up = view.axes[1]
    camera.parallel_scale = view.height / 2
    plotter.reset_camera_clipping_range()


def _coloured(values: Any, color: str, bar: ColorBar | None) -> dict[str, Any]:
    if values is None or bar is None:
        return {"color": color}
    return {"scalars": "values", "cmap": bar.cmap, "clim": (bar.low, bar.high), "show_scalar_bar": False}


def _add_surface(pyvista: Any, plotter: Any, item: Surface, bar: ColorBar | None) -> None:
    data = pyvista.PolyData.from_regular_faces(item.points, item.triangles)
    if item.values is not None:
        data.point_data["values"] = item.values
    if item.closed:
        data = data.compute_normals(feature_angle=28.0, split_vertices=True, consistent_normals=False)
    colours = _coloured(item.values, item.color, bar)
    # a plane part is seen straight on: shading would only darken its colours
    shading: dict[str, Any] = {"lighting": False}
    if item.closed:  # what faces the viewer has nearly the colour that the legend or the bar shows
        ambient, diffuse = (0.34, 0.84) if item.values is not None else (0.44, 0.74)
        shading = {"smooth_shading": True, "specular": 0.08, "ambient": ambient, "diffuse": diffuse}
    if item.opacity < 1:
        colours["opacity"] = item.opacity
    plotter.add_mesh(data, **colours, **shading, render=False)


def _add_lines(pyvista: Any, plotter: Any, item: Lines, bar: ColorBar | None, pixel: float) -> None:
    if not len(item.segments):
        return
    cells = np.column_stack([np.full(len(item.segments), 2), item.segments]).ravel()
    data = pyvista.PolyData(item.points, lines=cells)
    if item.values is not None:
        data.point_data["values"] = item.values
    colours = _coloured(item.values, item.color, bar)
    if item.kind == "trace":  # drivers draw wide lines as they please
        tube = data.strip(join=True).tube(radius=item.width / 2 * pixel, n_sides=8)
        plotter.add_mesh(tube, **colours, lighting=False, render=False)
        return
    if item.kind == "member":
        tube = data.strip().tube(radius=item.width * pixel, n_sides=16)
        plotter.add_mesh(tube, **colours, smooth_shading=True, ambient=0.45, render=False)
        return
    actor = plotter.add_mesh(data, **colours, line_width=item.width, lighting=False, render=False)
    # edges lie in the surface: drawn a little nearer to the eye, or they flicker
    actor.mapper.SetResolveCoincidentTopologyToPolygonOffset()
    actor.mapper.SetRelativeCoincidentTopologyLineOffsetParameters(0, -8)


def _add_dots(pyvista: Any, plotter: Any, item: Dots, height: float) -> None:
    if len(item.points):
        ball = pyvista.Sphere(radius=0.008 * height, theta_resolution=16, phi_resolution=16)
        balls = pyvista.PolyData(item.points).glyph(geom=ball, scale=False, orient=False)
        plotter.add_mesh(balls, color=item.color, render=False)
