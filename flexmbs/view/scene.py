"""What a picture shows, as arrays: no renderer is known here."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flexmbs.view.camera import Camera

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles, of one colour or coloured by nodal values; ``closed``: the outside of a solid; ``opacity`` 0 to 1."""

    points: Array
    triangles: Index
    color: str = "#b8c0c8"
    values: Array | None = None
    closed: bool = True
    opacity: float = 1.0


@dataclass(frozen=True, eq=False)
class Lines:
    """Segments; ``kind`` is ``"member"`` (bars, beams), ``"edges"`` on a surface, the undeformed ``"outline"``, or the
    ``"trace"`` of a point.
    """

    points: Array
    segments: Index
    kind: str
    color: str = "#303438"
    width: float = 1.0
    values: Array | None = None


@dataclass(frozen=True, eq=False)
class Dots:
    """Points drawn as small balls."""

    points: Array
    color: str


@dataclass(frozen=True)
class ColorBar:
    """Range, title with unit, and Matplotlib colour map of the values."""

    title: str
    low: float
    high: float
    cmap: str = "RdYlBu_r"  # from blue to red by yellow, told apart by colour-blind people


@dataclass(frozen=True, eq=False)
class Panel:
    """One view: what is in it, from where it is seen, and its title."""

    title: str
    camera: Camera
    items: tuple[Surface | Lines | Dots, ...]


@dataclass(frozen=True, eq=False)
class Picture:
    """Panels in a grid, with one colour bar or one legend (names and colours) for all of them.

    ``width`` of each panel in pixels, if it is not left to their number.
    """

    panels: tuple[Panel, ...]
    columns: int = 1
    bar: ColorBar | None = None
    legend: tuple[tuple[str, str], ...] = field(default=())
    width: int | None = None
