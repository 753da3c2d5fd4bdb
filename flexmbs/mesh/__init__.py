"""Meshes: points, cells, named sets; reading, making, checking and editing them."""

from flexmbs.mesh.check import Problem
from flexmbs.mesh.mesh import Mesh
from flexmbs.mesh.quality import Quality
from flexmbs.mesh.topology import CellBlock

__all__ = ["CellBlock", "Mesh", "Problem", "Quality"]
