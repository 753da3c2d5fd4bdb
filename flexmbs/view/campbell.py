"""Campbell diagrams by Matplotlib: frequencies over the speed, with engine orders and where they cross."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from flexmbs.analyses.campbell import Campbell
from flexmbs.errors import AnalysisError
from flexmbs.view.plots import LINES, _figure

STYLES = {"forward": "-", "backward": "--", "": "-"}


def campbell(
    diagram: Campbell,
    orders: Sequence[float] | None = None,
    *,
    damping: bool = False,
    rpm: bool = False,
    title: str = "",
    size: tuple[float, float] | None = None,
) -> Any:
    """Frequencies over the speed as a Matplotlib Figure; backward whirl is dashed.

    ``orders`` are drawn as rays, by default 1, with marks where they meet a mode; ``damping`` adds a panel of damping
    ratios, in which what grows is below zero; ``rpm`` counts the speed in turns per minute.
    """
    if not isinstance(diagram, Campbell):
        raise AnalysisError(f"campbell: a diagram from fm.campbell is needed, not {type(diagram).__name__}.")
    try:
        rays = np.atleast_1d(np.asarray([1.0] if orders is None else orders, dtype=float))
    except (TypeError, ValueError):
        rays = np.array([np.nan])
    if rays.ndim != 1 or not np.isfinite(rays).all() or (rays < 0).any():
        raise AnalysisError(f"campbell: orders are numbers, zero or more, not {orders!r}.")
    unit = 30 / np.pi if rpm else 1.0
    speeds = diagram.speeds * unit
    figure, axes = _figure(2 if damping else 1, size or (8.0, 5.2 + (2.3 if damping else 0.0)), title)
    axis = axes[0]
    for k, direction in enumerate(diagram.directions):
        label = f"{k + 1} {direction}".strip()
        color = LINES[k % len(LINES)]
        axis.plot(speeds, diagram.frequencies[:, k], STYLES[direction], color=color, linewidth=1.6, label=label)
        if damping:
            axes[1].plot(speeds, diagram.damping[:, k], STYLES[direction], color=color, linewidth=1.6, label=label)
    top = 1.08 * float(diagram.frequencies.max()) or 1.0
    for order in rays.tolist():
        ray = order * diagram.speeds / (2 * np.pi)
        axis.plot(speeds, ray, color="#8d969e", linewidth=0.9, zorder=1)
        if order:  # its name stands outside, where no curve crosses it: at the right, or above if it leaves there
            where: Any = {"xytext": (4, 0), "ha": "left", "va": "center"}
            end = (speeds[-1], ray[-1])
            if ray[-1] > top:
                where = {"xytext": (0, 3), "ha": "center", "va": "bottom"}
                end = (float(np.interp(top, ray, speeds)), top)
            words = {"color": "#5b646c", "fontsize": 8, "textcoords": "offset points", "annotation_clip": False}
            axis.annotate(f"{order:g}×", end, **where, **words)
        marks = diagram.crossings(order)
        axis.plot(
            [c.speed * unit for c in marks], [c.frequency for c in marks], "o", color="#20262b", markersize=4, zorder=5
        )
    axis.set_ylim(0.0, top)
    axis.set_ylabel(f"frequency in the {diagram.frame} frame [Hz]")
    axis.legend(loc="center left", bbox_to_anchor=(1.05, 0.5), frameon=False, fontsize=9)
    if damping:
        axes[1].axhline(0.0, color="#8d969e", linewidth=0.9)
        axes[1].set_ylabel("damping ratio")
    axes[-1].set_xlabel("speed [rpm]" if rpm else "speed [rad/s]")
    if len(speeds) > 1:
        axes[-1].set_xlim(speeds[0], speeds[-1])
    return figure
