"""Mode shapes of parts and of mechanisms: stills side by side, or films in which they swing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexmbs.analyses.equilibrium import SystemModes
from flexmbs.analyses.modes import Modes
from flexmbs.errors import AnalysisError
from flexmbs.view import film
from flexmbs.view.camera import Camera, Look, direction
from flexmbs.view.figure import write
from flexmbs.view.part_scene import PartScene, factor, in_space, largest_phase
from flexmbs.view.scene import ColorBar, Panel, Picture
from flexmbs.view.swinging import oscillates, swinging

Array = NDArray[np.float64]
PathArgument = str | PathLike[str] | None

SWING = 1.6
"""Seconds that a mode takes to swing once in a film."""
TIMES = 3
"""Swings in an MP4; a GIF repeats itself."""
BAR = ColorBar("displacement / largest", 0.0, 1.0)


class _Shape(NamedTuple):
    """One mode: from where it is seen, and its panel at the k-th phase."""

    camera: Camera
    panel: Callable[[int], Panel]


def mode(
    modes: Modes | SystemModes,
    number: int,
    path: PathArgument = None,
    *,
    scale: float | str = "auto",
    look: Look = None,
    size: tuple[int, int] | None = None,
    frames: int | None = None,
    fps: float = 25.0,
) -> Path | None:
    """Picture of one mode shape, by its number in the table (the first is 1), coloured by displacement.

    Of a part or of a mechanism. A path that ends in ``.gif`` or ``.mp4`` gives a film of it swinging: ``frames``
    pictures for one swing, ``fps`` a second.
    """
    return _drawn(modes, [number], 1, path, scale, look, size, frames, fps)


def modes(
    modes: Modes | SystemModes,
    path: PathArgument = None,
    *,
    numbers: Sequence[int] | None = None,
    columns: int = 3,
    scale: float | str = "auto",
    look: Look = None,
    size: tuple[int, int] | None = None,
    frames: int | None = None,
    fps: float = 25.0,
) -> Path | None:
    """Picture (or film, as for ``mode``) of several mode shapes with their frequencies.

    The first six that are not rigid (of mechanisms: those that oscillate), or those ``numbers``.
    """
    _check(modes)
    moving = ~modes.rigid if isinstance(modes, Modes) else oscillates(modes)
    chosen = list(1 + np.flatnonzero(moving)[:6]) if numbers is None else list(numbers)
    if not chosen:
        raise AnalysisError("view.modes: all modes are rigid; ask fm.modes for more, or give numbers=.")
    if isinstance(columns, bool) or not isinstance(columns, int) or columns < 1:
        raise AnalysisError(f"columns must be a whole number, at least 1, not {columns!r}.")
    return _drawn(modes, chosen, min(columns, len(chosen)), path, scale, look, size, frames, fps)


def _check(modes: Any) -> None:
    if not isinstance(modes, Modes | SystemModes):
        raise AnalysisError(f"modes from fm.modes are needed, not {type(modes).__name__}.")


def _drawn(
    modes: Modes | SystemModes,
    numbers: Sequence[int],
    columns: int,
    path: PathArgument,
    scale: float | str,
    look: Look,
    size: tuple[int, int] | None,
    frames: int | None,
    fps: float,
) -> Path | None:
    _check(modes)
    count = len(modes) if isinstance(modes, Modes) else len(modes.eigenvalues)
    for number in numbers:
        if not 1 <= number <= count:
            raise AnalysisError(f"there is no mode {number}; the modes are numbered from 1 to {count}.")
    if look is not None:
        look = direction(look)
    moving = film.is_film(path)
    fps = film.length(1.0, 2 if frames is None else frames, fps)[1]
    steps = film.length(1.0, round(SWING * fps) if frames is None else frames, fps)[0] if moving else 1
    phases = 2 * np.pi * np.arange(steps) / steps
    if isinstance(modes, Modes):
        scene = PartScene(modes.elements.mesh)
        shapes = [_of_part(modes, n, scene, phases, scale, look) for n in numbers]
    else:
        shapes = [_of_mechanism(modes, n, phases, scale, look) for n in numbers]

    def pictures() -> Iterator[Picture]:
        for k in range(steps):
            yield Picture(tuple(shape.panel(k) for shape in shapes), columns, BAR)

    if moving:
        assert path is not None
        return film.write(pictures(), film.checked(path), fps, size, repeat=TIMES)
    return write(next(pictures()), path, size)


def _of_part(modes: Modes, number: int, scene: PartScene, phases: Array, scale: Any, look: Look) -> _Shape:
    shape = in_space(largest_phase(modes.shapes[number - 1]), modes.elements)
    swung = [np.real(shape * np.exp(1j * phase)) for phase in phases]
    top = max(float(np.linalg.norm(u, axis=1).max()) for u in swung)
    larger = factor(scale, top, modes.elements.mesh, rounded=False)
    state = "rigid" if modes.rigid[number - 1] else f"{modes.frequencies[number - 1]:.5g} Hz"
    some = swung[:: max(1, len(swung) // 12)]
    seen = scene.camera((larger * u for u in some), look)

    def panel(k: int) -> Panel:
        values = np.linalg.norm(swung[k], axis=1) / max(top, 1e-300)
        return Panel(f"mode {number}: {state}", seen, scene.items(larger * swung[k], values))

    return _Shape(seen, panel)


def _of_mechanism(modes: SystemModes, number: int, phases: Array, scale: Any, look: Look) -> _Shape:
    drawn = swinging(modes, number, phases, scale, look)
    seen = drawn.camera(look, range(0, len(phases), max(1, len(phases) // 12)))
    value, damping = modes.eigenvalues[number - 1], modes.damping[number - 1]
    if value.imag > 0:
        state = f"{modes.frequencies[number - 1]:.5g} Hz"
        if abs(damping) >= 5e-4:
            state += f", damping {100 * damping:.2g} %"
    else:
        state = "rigid" if value == 0 else f"{'decays' if value.real < 0 else 'grows'} with {value.real:.4g} 1/s"
    return _Shape(seen, lambda k: drawn.panel(k, seen, f"mode {number}: {state}"))
