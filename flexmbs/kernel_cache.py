"""Where compiled kernels are kept when neither the package's folder nor the user's cache folder can be written to.

Numba then refuses to define a cached kernel at all, so the folder is chosen when this module is imported, before the
first kernel is defined.
"""

from __future__ import annotations

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


choose_cache_folder()
