"""Where compiled kernels are kept, and when they are thrown away.

Numba refuses to define a cached kernel at all when neither the package's folder nor the user's cache folder can be
written to; then another folder is chosen. And it compiles a kernel anew only when the file of that kernel changes, not
when another kernel does that is compiled into it: after any change of the package, the kernels kept beside it are
forgotten. Both happens when this module is imported, before the first kernel is defined.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from pathlib import Path


def writable(folder: Path) -> bool:
    """Whether files can be made in a folder, which is made if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def choose_cache_folder() -> None:
    """Point Numba to a private temporary folder, unless it has one to write to."""
    if os.environ.get("NUMBA_CACHE_DIR") or any(writable(folder) for folder in _usual_folders()):
        return
    folder = str(_private_folder())
    os.environ["NUMBA_CACHE_DIR"] = folder
    if "numba" in sys.modules:  # it has read its environment already
        sys.modules["numba"].config.CACHE_DIR = folder


def folder() -> Path:
    """Where kernels are kept: the folder that was chosen, or else the first usual one that can be written to."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    here, *others = _usual_folders()
    return here.parent if writable(here) else others[0]  # beside the package each subpackage has a folder of its own


def temporary(folder: Path) -> bool:
    """Whether a folder is the one that is chosen where no usual one can be written to."""
    return folder.name.startswith("flexmbs-") and folder.parent == Path(tempfile.gettempdir())


def forget_stale_kernels(package: Path) -> None:
    """Remove the kernels kept in a package's folders if any of its files has changed since the last time."""
    stamp = package / "__pycache__" / "kernels.stamp"
    state = [(str(path), path.stat().st_mtime_ns) for path in sorted(package.rglob("*.py"))]
    seen = hashlib.sha256(repr(state).encode()).hexdigest()
    try:
        if stamp.exists() and stamp.read_text() == seen:
            return
        for index in package.rglob("__pycache__/*.nbi"):  # without its index a kernel is not found
            index.unlink(missing_ok=True)
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(seen)
    except OSError:  # the folder cannot be written to, so that no kernels are kept there
        return


def _usual_folders() -> list[Path]:
    """Where Numba looks, in its order."""
    here = Path(__file__).parent / "__pycache__"
    if sys.platform != "linux":
        return [here, Path.home()]
    return [here, Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "numba"]


def _private_folder() -> Path:
    """The same folder every time; a new one where somebody else owns that name (cached kernels are code)."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"flexmbs-kernels-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    mine = not hasattr(os, "getuid") or (status.st_uid == user and status.st_mode & 0o077 == 0)
    return folder if mine and folder.is_dir() and not folder.is_symlink() else Path(tempfile.mkdtemp(prefix="flexmbs-"))


forget_stale_kernels(Path(__file__).parent)
choose_cache_folder()
