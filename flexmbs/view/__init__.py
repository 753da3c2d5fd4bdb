"""Pictures of meshes and results: PyVista where OpenGL works, Matplotlib alone where it does not."""

from flexmbs.view.motions import animate, show, snapshot
from flexmbs.view.pictures import deformed, mesh, mode, modes
from flexmbs.view.plots import energies, phase, plot, reactions, spectrum

__all__ = [
    "animate",
    "deformed",
    "energies",
    "mesh",
    "mode",
    "modes",
    "phase",
    "plot",
    "reactions",
    "show",
    "snapshot",
    "spectrum",
]
