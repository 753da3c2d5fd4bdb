"""Films: pictures one after the other into an MP4 or GIF file; the only door to imageio."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from flexmbs.errors import AnalysisError
from flexmbs.view import figure
from flexmbs.view.scene import Picture

BLOCK = 16
"""Video frames have sides that are multiples of this."""


def checked(path: str | PathLike[str]) -> Path:
    """The path of a film, refused where none can be written."""
    path = Path(path)
    if path.suffix.lower() not in (".mp4", ".gif"):
        raise AnalysisError(f'{path}: a film ends in ".mp4" or ".gif", not {path.suffix!r}.')
    if not path.parent.is_dir():
        raise AnalysisError(f"{path}: there is no folder {path.parent}; make it first.")
    return path


def write(pictures: Iterator[Picture], path: Path, fps: float, size: tuple[int, int] | None) -> Path:
    """Write the pictures as a film."""
    frames = figure.frames(pictures, size, BLOCK)
    with _writer(path, fps) as writer:
        for frame in frames:
            writer.append_data(frame)
    return path


def _writer(path: Path, fps: float) -> Any:
    try:
        import imageio.v2 as imageio
    except ImportError as error:
        raise AnalysisError("films need imageio: pip install imageio imageio-ffmpeg.") from error
    if path.suffix.lower() == ".gif":
        return imageio.get_writer(path, format="GIF", mode="I", duration=1000.0 / fps, loop=0)
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


def ffmpeg() -> str:
    """The program that writes MP4 files; nothing where there is none."""
    try:
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        return ""
