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
from flexmbs.view.camera import Camera, Look, around
from flexmbs.view.figure import write
from flexmbs.view.part_scene import PartScene, factor, in_space, largest_phase
from flexmbs.view.scene import ColorBar, Panel, Picture
from flexmbs.view.swinging import at_rest, oscillates, swinging

Array = NDArray[np.float64]
PathArgument = str | PathLike[str] | None

SWING = 1.6
"""Seconds that a mode takes to swing once in a film."""
TIMES = 3
"""Swings in an MP4; a GIF repeats itself."""
SEEN = 12
"""Phases of a film at which everything must be in the picture."""
BAR = ColorBar("displacement / largest", 0.0, 1.0)


class _Shape(NamedTuple):
    """One mode: its title, what is seen of it at the k-th phase, and a camera that sees it from a direction."""

    title: str
    items: Callable[[int], Sequence[Any]]
    camera: Callable[[Look], Camera]


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
    moving = film.is_film(path)
    fps = film.length(1.0, 2 if frames is None else frames, fps)[1]
    steps = film.length(1.0, round(SWING * fps) if frames is None else frames, fps)[0] if moving else 1
    phases = 2 * np.pi * np.arange(steps) / steps
    if isinstance(modes, Modes):
        scene = PartScene(modes.elements.mesh)
        look = scene.camera([], look).axes[2]
        shapes = [_of_part(modes, n, scene, phases, scale) for n in numbers]
    else:
        flat = look is None
        look = at_rest(modes, flat).camera(look, [0]).axes[2]
        shapes = [_of_mechanism(modes, n, phases, scale, flat) for n in numbers]
    seen = around([shape.camera(look) for shape in shapes])

    def pictures() -> Iterator[Picture]:
        for k in range(steps):
            yield Picture(tuple(Panel(s.title, seen, tuple(s.items(k))) for s in shapes), columns, BAR)

    if moving:
        assert path is not None
        return film.write(pictures(), film.checked(path), fps, size, repeat=TIMES)
    return write(next(pictures()), path, size)


def _of_part(modes: Modes, number: int, scene: PartScene, phases: Array, scale: Any) -> _Shape:
    shape = in_space(largest_phase(modes.shapes[number - 1]), modes.elements)
    swung = [np.real(shape * np.exp(1j * phase)) for phase in phases]
    top = max(float(np.linalg.norm(u, axis=1).max()) for u in swung)
    larger = factor(scale, top, modes.elements.mesh, rounded=False)
    state = "rigid" if modes.rigid[number - 1] else f"{modes.frequencies[number - 1]:.5g} Hz"

    def items(k: int) -> Sequence[Any]:
        return scene.items(larger * swung[k], np.linalg.norm(swung[k], axis=1) / max(top, 1e-300))

    def camera(look: Look) -> Camera:
        return scene.camera((larger * u for u in swung[:: max(1, len(swung) // SEEN)]), look)

    return _Shape(f"mode {number}: {state}", items, camera)


def _of_mechanism(modes: SystemModes, number: int, phases: Array, scale: Any, flat: bool) -> _Shape:
    drawn = swinging(modes, number, phases, scale, flat)
    value, damping = modes.eigenvalues[number - 1], modes.damping[number - 1]
    if value.imag > 0:
        state = f"{modes.frequencies[number - 1]:.5g} Hz"
        if abs(damping) >= 5e-4:
            state += f", damping {100 * damping:.2g} %"
    else:
        state = "rigid" if value == 0 else f"{'decays' if value.real < 0 else 'grows'} with {value.real:.4g} 1/s"
    some = range(0, len(phases), max(1, len(phases) // SEEN))
    return _Shape(f"mode {number}: {state}", drawn.items, lambda look: drawn.camera(look, some))
