"""Whether VTK can draw on this machine: asked once, in a process of its own, because VTK crashes where it cannot."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache

_PROBE = """
import vtkmodules.vtkRenderingOpenGL2
from vtkmodules.vtkRenderingCore import vtkRenderer, vtkRenderWindow
window = vtkRenderWindow()
window.SetOffScreenRendering(1)
window.SetSize(8, 8)
window.AddRenderer(vtkRenderer())
window.Render()
raise SystemExit(0 if window.SupportsOpenGL() else 1)
"""

INSTALL = "install it (Debian, Ubuntu: apt install libegl1 libgl1-mesa-dri)"
ADVICE = (
    "VTK cannot draw here: OpenGL is missing, so this picture was drawn more simply, by Matplotlib. For "
    f"better ones {INSTALL}."
)


def has_display() -> bool:
    """Whether there is a screen to open a window on."""
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def no_window() -> str:
    """Why no window can be opened, in words; empty where one can."""
    if not has_display():
        return "there is no screen to open a window on"
    return "" if has_opengl() else f"a window needs OpenGL, which is missing: {INSTALL}"


def has_opengl() -> bool:
    """Whether VTK can draw, on a screen or without one; FLEXMBS_RENDERER=vtk or matplotlib answers without asking."""
    wanted = os.environ.get("FLEXMBS_RENDERER", "")
    return _probe() if wanted not in ("vtk", "matplotlib") else wanted == "vtk"


@cache
def _probe() -> bool:
    prepare()
    try:
        done = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def prepare() -> None:
    """Tell VTK not to look for a screen where there is none; before it is first imported."""
    if not has_display():
        os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", "vtkEGLRenderWindow")
