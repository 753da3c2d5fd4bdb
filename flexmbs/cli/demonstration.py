"""``flexmbs demo``: an engine with a flexible rod, from nothing to picture, film and page."""

from __future__ import annotations

import time
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

import flexmbs as fm
from flexmbs import demo as model
from flexmbs import view
from flexmbs.progress import Progress, compilations, duration

MARK = "README.txt"
MARKED = "Written by flexmbs demo, which replaces its files when it is run again, but not slider_crank.py.\n"
FILM: dict[str, Any] = {"start": 0.02, "frames": 60, "fps": 20.0}
"""Two turns at full speed."""
SHOWN: dict[str, Any] = {"color": "von_mises", "scale": model.SCALE, "look": model.LOOK}


def demo(asked: Namespace) -> int:
    """Run it, say what was found and where it can be seen."""
    began = time.monotonic()
    folder = prepared(Path(asked.out))
    files = {ending: folder / f"slider_crank.{ending}" for ending in ("png", "mp4", "html", "h5", "py")}
    said = {
        "png": f"the rod when it bends most, its deformation {model.SCALE} times too large",
        "mp4": "two turns at full speed, slowed down",
        "html": "page for any browser: turn the engine, move in time, see the plots",
        "h5": f"the result, for fm.load, ParaView and flexmbs view {files['h5']}",
        "py": "the model as a script, to change and run",
    }
    print("Slider-crank with a flexible connecting rod, from rest to 3000 rpm\n", flush=True)
    with Progress("building the engine"):
        engine, rod, wrist_pin = model.engine()
    mesh: Any = rod.mesh
    print(f"rod: {mesh.n_nodes} nodes, reduced to {rod.modes} elastic coordinates", flush=True)
    motion = model.run(engine)
    motion.save(files["h5"])
    if motion.outcome.startswith("interrupted"):
        print(f"{motion.outcome} s; what was computed until then is in {files['h5']}")
        raise KeyboardInterrupt
    with Progress("energies and stresses"):
        print(f"{motion.summary()}\n{model.findings(motion, rod, wrist_pin)}\n", flush=True)
    worst = float(motion.t[np.abs(model.bending(motion, rod)).argmax()])
    with Progress("picture"):
        view.snapshot(motion, files["png"], at=worst, **SHOWN)
    try:
        view.animate(motion, files["mp4"], **FILM, **SHOWN)
    except fm.AnalysisError as problem:  # without ffmpeg there is still the rest
        said["mp4"] = f"not written: {problem}"
    with Progress("page"):
        view.report(motion, files["html"])
    if not scripted(files["py"]):
        said["py"] = "your own version of the model, left as it was"
    print(f"In {folder.absolute()}:")
    for ending, text in said.items():
        print(f"  {files[ending].name:<17} {text}")
    kernels = f", {duration(compilations.seconds)} of it to compile kernels, once" if compilations.seconds > 1 else ""
    print(f"Done in {duration(time.monotonic() - began)}{kernels}.")
    return 0


def prepared(folder: Path) -> Path:
    """The folder, made if need be; refused where it holds anything that is not from here."""
    if folder.exists():
        if not folder.is_dir():
            raise fm.AnalysisError(f"{folder} is not a folder; give another: flexmbs demo -o FOLDER.")
        mark = folder / MARK
        mine = mark.is_file() and mark.read_text(errors="replace") == MARKED
        if not mine and any(folder.iterdir()):
            raise fm.AnalysisError(
                f"the folder {folder} holds other files, which are left alone; give another: flexmbs demo -o FOLDER."
            )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).write_text(MARKED)
    return folder


def scripted(path: Path) -> bool:
    """Write the model as a script; False where there is one that somebody has changed."""
    text = Path(model.__file__).read_text(encoding="utf-8")
    if path.exists() and path.read_text(encoding="utf-8", errors="replace") != text:
        return False
    path.write_text(text, encoding="utf-8")
    return True
