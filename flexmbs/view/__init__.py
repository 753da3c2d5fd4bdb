"""Pictures of meshes and results: PyVista where OpenGL works, Matplotlib alone where it does not."""

from flexmbs.view.campbell import campbell
from flexmbs.view.motions import animate, show, snapshot
from flexmbs.view.pictures import deformed, mesh, mode, modes
from flexmbs.view.plots import convergence, energies, frequency_response, phase, plot, reactions, spectrum
from flexmbs.view.report import report

__all__ = [
    "animate",
    "campbell",
    "convergence",
    "deformed",
    "energies",
    "frequency_response",
    "mesh",
    "mode",
    "modes",
    "phase",
    "plot",
    "reactions",
    "report",
    "show",
    "snapshot",
    "spectrum",
]
