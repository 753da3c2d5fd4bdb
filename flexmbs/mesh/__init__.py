"""Meshes: points, cells, named sets; reading, making, checking and editing them."""

from flexmbs.mesh.mesh import Mesh
from flexmbs.mesh.topology import CellBlock

__all__ = ["CellBlock", "Mesh"]
