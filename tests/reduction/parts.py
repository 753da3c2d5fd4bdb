"""Small parts of every kind, with sets at both ends, for the tests of reduction."""

from __future__ import annotations

import numpy as np

import flexmbs as fm

STEEL = fm.Material(young=210e9, poisson=0.3, density=7850.0)


def solid(cell: str = "hexahedron", divisions: tuple[int, int, int] = (8, 2, 2)) -> fm.Elements:
    """A bar away from the origin, so that no first moment vanishes."""
    mesh = fm.Mesh.box((1.0, 0.1, 0.12), divisions, cell=cell, origin=(0.2, -0.03, 0.1))
    return fm.Elements(mesh, STEEL)


def loaded() -> fm.Elements:
    """A bar of tetrahedra with a mass on its end."""
    mesh = fm.Mesh.box((1.0, 0.1, 0.12), (4, 1, 1), cell="tetra10", origin=(0.2, -0.03, 0.1))
    return fm.Elements(mesh, STEEL, attachments=fm.LumpedMass("x1", 7.0))


def plane() -> fm.Elements:
    """A plate in its plane."""
    mesh = fm.Mesh.rectangle((1.0, 0.1), (10, 2), cell="quad8", origin=(0.2, -0.03))
    return fm.Elements(mesh, STEEL, thickness=0.02)


def beam(count: int = 8) -> fm.Elements:
    """A straight beam in space, askew, with a small body at its end."""
    mesh = fm.Mesh.line((0.2, 0.1, -0.1), (1.1, 0.4, 0.2), count)
    mesh = mesh.with_nodes("x0", mesh.nodes("start")).with_nodes("x1", mesh.nodes("end"))
    body = fm.LumpedMass("end", 0.4, np.diag([3e-3, 4e-3, 5e-3]))
    return fm.Elements(mesh, STEEL, section=fm.Section.rectangle(0.02, 0.03), attachments=body)


KINDS = {"solid": solid, "loaded": loaded, "plane": plane, "beam": beam}
