"""``flexmbs doctor``: what works on this machine, and what to do about the rest."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from argparse import Namespace
from collections.abc import Iterator
from importlib import import_module, metadata
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

import flexmbs as fm
from flexmbs import demo, kernel_cache
from flexmbs.progress import Progress, compilations, duration
from flexmbs.view import film, opengl

ESSENTIAL = ("numpy", "scipy", "numba", "threadpoolctl", "meshio", "h5py")
PICTURES = ("matplotlib", "pyvista", "imageio", "imageio_ffmpeg")
FINE, LESS, BROKEN = "ok", "less", "BROKEN"


class Check(NamedTuple):
    """One thing that was looked at: ok, less than there could be, or broken."""

    state: str
    text: str


def doctor(asked: Namespace) -> int:
    """Print all checks; 1 where something essential is broken."""
    print(f"flexmbs {fm.__version__} in {Path(fm.__file__).parent}")
    print(f"Python {platform.python_version()}, {platform.platform()}")
    broken = False
    for check in checks():
        print(f"{check.state:<7}{check.text}", flush=True)
        broken |= check.state == BROKEN
    if asked.precompile and not broken:
        print(precompile())
    return 1 if broken else 0


def checks() -> Iterator[Check]:
    """All checks, one by one."""
    yield Check(FINE, size())
    yield packages(ESSENTIAL, BROKEN, "reading, computing and saving")
    yield solver()
    yield cache()
    yield screen()
    yield packages(PICTURES, LESS, "pictures and films")
    yield films()


def size() -> str:
    """Cores and memory."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    words = f"{cores} core{'s' if cores > 1 else ''}"
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (AttributeError, ValueError, OSError):  # Windows
        return words
    return f"{words}, {memory:.1f} GB of memory"


def packages(names: tuple[str, ...], otherwise: str, purpose: str) -> Check:
    """Versions of packages that can be imported, and those that cannot."""
    there, missing = [], []
    for name in names:
        try:
            import_module(name)
            there.append(f"{name} {metadata.version(name.replace('_', '-'))}")
        except Exception as problem:  # whatever a broken package does
            missing.append(f"{name} ({' '.join(str(problem).split()) or type(problem).__name__})")
    if missing:
        again = " ".join(text.split()[0].replace("_", "-") for text in missing)
        advice = f"pip install --force-reinstall {again}"
        return Check(otherwise, f"packages for {purpose}: not {', '.join(missing)}; {advice}")
    return Check(FINE, f"packages for {purpose}: {', '.join(there)}")


def solver() -> Check:
    """The sparse solver in use, tried on a small matrix."""
    wanted = os.environ.get("FLEXMBS_SOLVER", "")
    others = ", ".join(fm.available_solvers()[1:])
    try:
        count = 400
        matrix = sp.diags_array([np.full(count, 2.0), *2 * [np.full(count - 1, -1.0)]], offsets=[0, 1, -1]).tocsr()
        factor = fm.factorize(matrix)
        error = np.abs(matrix @ factor.solve(np.ones(count)) - 1.0).max()
    except (fm.FlexmbsError, fm.SolverError) as problem:
        return Check(BROKEN, f"sparse solver: {problem}")
    if not error < 1e-8:
        return Check(BROKEN, f"sparse solver: {factor.solver} misses by {error:.2g}; set FLEXMBS_SOLVER to {others}")
    why = f", as FLEXMBS_SOLVER={wanted} asks for" if wanted else ""
    return Check(FINE, f"sparse solver: {factor.solver}{why} (there are also {others})")


def cache() -> Check:
    """Where compiled kernels are kept."""
    folder = kernel_cache.folder()
    kept = list(folder.rglob("*.nbc"))
    size = sum(path.stat().st_size for path in kept) / 2**20
    text = f"kernels: {len(kept)} compiled ({size:.0f} MB), kept in {folder}"
    if not kernel_cache.writable(folder):
        return Check(LESS, f"{text}, which cannot be written to: every run compiles anew; set NUMBA_CACHE_DIR")
    if kernel_cache.temporary(folder):
        return Check(LESS, f"{text}, which a restart may empty; set NUMBA_CACHE_DIR to a folder that lasts")
    hint = "" if kept else "; flexmbs doctor --precompile makes the first run a quick one"
    return Check(FINE, text + hint)


def screen() -> Check:
    """Whether VTK draws."""
    where = "on a screen" if opengl.has_display() else "without a screen, into files"
    wanted = os.environ.get("FLEXMBS_RENDERER", "")
    if opengl.has_opengl():
        return Check(FINE, f"OpenGL: VTK draws {where}")
    if wanted == "matplotlib":
        return Check(LESS, "OpenGL: not used, as FLEXMBS_RENDERER=matplotlib asks for")
    return Check(
        LESS,
        "OpenGL: missing, so that pictures are drawn more simply, by Matplotlib; Debian, Ubuntu: apt install libegl1 "
        "libgl1-mesa-dri",
    )


def films() -> Check:
    """Whether MP4 files can be written."""
    program = film.ffmpeg()
    works = False
    if program:
        try:
            works = subprocess.run([program, "-version"], capture_output=True, timeout=60).returncode == 0
        except (OSError, subprocess.TimeoutExpired):
            works = False
    if works:
        return Check(FINE, f"films: MP4 by {Path(program).name}, and GIF")
    return Check(LESS, "films: GIF only; for MP4 pip install imageio-ffmpeg")


def precompile() -> str:
    """Run small models of the usual kinds, which compiles what they need."""
    began, steel = time.monotonic(), fm.Material.named("steel")
    with Progress("compiling the usual kernels"):
        for cell in ("tetra10", "hexahedron"):
            fm.modes(fm.Mesh.box((0.3, 0.02, 0.02), (4, 2, 2), cell=cell), steel, fixed="x0", count=2)
        engine, rod, wrist_pin = demo.engine()
        engine.report()
        motion = fm.forward_dynamics(engine, 1e-3, 1e-4)
        motion.summary()
        demo.findings(motion, rod, wrist_pin)
        fm.forward_dynamics(engine.rigid(), 1e-3, 1e-4).summary()
        fm.inverse_dynamics(engine.rigid(), [0.0, 1e-3])
    if not compilations.kernels:
        return "the usual kernels are compiled already"
    return f"{compilations.kernels} kernels were compiled in {duration(time.monotonic() - began)}"
