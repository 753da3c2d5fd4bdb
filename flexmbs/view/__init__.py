"""Pictures of meshes and results: PyVista where OpenGL works, Matplotlib alone where it does not."""

from flexmbs.view.pictures import deformed, mesh, mode, modes

__all__ = ["deformed", "mesh", "mode", "modes"]
