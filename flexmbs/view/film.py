"""Films: pictures one after the other into an MP4 or GIF file; the only door to imageio and Pillow."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import AnalysisError
from flexmbs.view import figure
from flexmbs.view.scene import Picture

BLOCK = 16
"""Video frames have sides that are multiples of this."""


FILMS = (".mp4", ".gif")


def is_film(path: str | PathLike[str] | None) -> bool:
    """Whether a path is one of a film, by its ending."""
    return path is not None and Path(path).suffix.lower() in FILMS


def length(duration: float, frames: Any, fps: Any) -> tuple[int, float]:
    """Number of pictures and pictures a second of a film; by default motions of 2 to 20 s are as fast as they are."""
    try:
        given = float(fps)
    except (TypeError, ValueError):
        given = np.nan
    if not (np.isfinite(given) and given > 0):
        raise AnalysisError(f"fps must be a positive number of pictures a second, not {fps!r}.")
    if frames is None:
        frames = max(2, round((duration if 2.0 <= duration <= 20.0 else 4.0) * given))
    if isinstance(frames, bool) or not isinstance(frames, int | np.integer | float) or frames != round(frames):
        raise AnalysisError(f"frames must be a whole number, at least 2, not {frames!r}.")
    if frames < 2:
        raise AnalysisError(f"frames must be a whole number, at least 2, not {frames!r}.")
    return int(frames), given


def pace(ratio: float) -> str:
    """Seconds of motion in a second of film, in words for a title; nothing where they are the same."""
    if 0.98 < ratio < 1.02:
        return ""
    return f"   ({ratio:.3g} × faster)" if ratio > 1 else f"   (slowed {1 / ratio:.3g} ×)"


def checked(path: str | PathLike[str]) -> Path:
    """The path of a film, refused where none can be written."""
    path = Path(path)
    if not is_film(path):
        raise AnalysisError(f'{path}: a film ends in ".mp4" or ".gif", not {path.suffix!r}.')
    if not path.parent.is_dir():
        raise AnalysisError(f"{path}: there is no folder {path.parent}; make it first.")
    return path


def write(pictures: Iterator[Picture], path: Path, fps: float, size: tuple[int, int] | None, repeat: int = 1) -> Path:
    """Write the pictures as a film, ``repeat`` times over; a GIF repeats itself."""
    frames = figure.frames(pictures, size, BLOCK)
    kept = []
    with _writer(path, fps) as writer:
        for frame in frames:
            writer.append_data(frame)
            if repeat > 1 and path.suffix.lower() != ".gif":
                kept.append(frame)
        for frame in (repeat - 1) * kept:
            writer.append_data(frame)
    return path


def _writer(path: Path, fps: float) -> Any:
    if path.suffix.lower() == ".gif":
        return _Gif(path, fps)
    try:
        import imageio.v2 as imageio
    except ImportError as error:
        raise AnalysisError("films need imageio: pip install imageio imageio-ffmpeg.") from error
    try:
        return imageio.get_writer(
            path,
            format="FFMPEG",
            mode="I",
            fps=fps,
            codec="libx264",
            quality=8,
            macro_block_size=BLOCK,
        )
    except (ImportError, RuntimeError) as error:
        raise AnalysisError(
            f"{path}: MP4 needs ffmpeg: pip install imageio-ffmpeg; or write a GIF ({error})."
        ) from error


class _Gif:
    """Writes a GIF that repeats itself, its 256 colours chosen for each frame so that none is far off.

    The usual choice, by how often a colour occurs, leaves a colour bar in steps.
    """

    def __init__(self, path: Path, fps: float) -> None:
        self.path, self.duration = path, 1000.0 / fps
        self.frames: list[Any] = []

    def __enter__(self) -> Self:
        return self

    def append_data(self, frame: NDArray[np.uint8]) -> None:
        """One more frame (height, width, 3)."""
        from PIL import Image

        self.frames.append(Image.fromarray(frame).quantize(256, method=Image.Quantize.MAXCOVERAGE))

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None and self.frames:
            first, *others = self.frames
            first.save(self.path, save_all=True, append_images=others, duration=self.duration, loop=0)


def ffmpeg() -> str:
    """The program that writes MP4 files; nothing where there is none."""
    try:
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        return ""
