"""Pictures of meshes and results: PyVista where OpenGL works, Matplotlib alone where it does not."""

from flexmbs.view.campbell import campbell
from flexmbs.view.mode_pictures import mode, modes
from flexmbs.view.motions import animate, show, snapshot
from flexmbs.view.pictures import deformed, mesh
from flexmbs.view.plots import convergence, energies, frequency_response, phase, plot, reactions
from flexmbs.view.report import report
from flexmbs.view.spectra import spectrum, waterfall

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
    "waterfall",
]
