"""``flexmbs view``, ``flexmbs report`` and ``flexmbs export``: what becomes of a result that was saved."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import flexmbs as fm
from flexmbs import view as pictures
from flexmbs.view import opengl

FILMS = (".mp4", ".gif")


def view(asked: Namespace) -> int:
    """Picture or film by the ending of the file; without one a window, or a picture where there is no screen."""
    result = _loaded(asked.result)
    if isinstance(result, fm.Modes | fm.StaticResult):
        out = Path(asked.result).with_suffix(".png").name if asked.out is None else asked.out
        draw: Any = pictures.modes if isinstance(result, fm.Modes) else pictures.deformed
        print(draw(result, out, scale=asked.scale or "auto", look=asked.look))
        return 0
    result = _motion(result, asked.result)
    flexible = bool(result.system.elastic.any())
    options: dict[str, Any] = {
        "color": asked.color or ("von_mises" if flexible else None),
        "scale": ("auto" if flexible else 1.0) if asked.scale is None else asked.scale,
        "look": asked.look,
    }
    if asked.out is None and asked.at is None and opengl.has_display() and opengl.has_opengl():
        pictures.show(result, **options)
        return 0
    out = Path(asked.result).with_suffix(".png").name if asked.out is None else asked.out
    if Path(out).suffix.lower() in FILMS:
        print(pictures.animate(result, out, frames=asked.frames, fps=asked.fps, **options))
    else:
        print(pictures.snapshot(result, out, at=asked.at, **options))
    return 0


def report(asked: Namespace) -> int:
    """The page."""
    result = _motion(_loaded(asked.result), asked.result)
    out = Path(asked.result).with_suffix(".html").name if asked.out is None else asked.out
    pictures.report(result, out)
    print(out)
    return 0


def export(asked: Namespace) -> int:
    """Other formats."""
    _motion(_loaded(asked.result), asked.result).export(asked.out)
    print(asked.out)
    return 0


def _loaded(path: str) -> Any:
    if not Path(path).is_file():
        raise fm.AnalysisError(
            f'{path}: there is no such file. Results are written by save="run.h5" or result.save(path).'
        )
    return fm.load(path)


def _motion(found: Any, path: str) -> Any:
    if not isinstance(found, fm.Result):
        raise fm.AnalysisError(f"{path} holds a {type(found).__name__}, not the motion of a mechanism.")
    return found
