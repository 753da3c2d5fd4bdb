"""Quadrature on the reference cells, exact to any asked degree.

Lines, quads and hexahedra take Gauss-Legendre products. Triangles, tetrahedra and pyramids take conical
products with Gauss-Jacobi points (Stroud 1971), which are exact for any degree with positive weights; the
symmetric rules of lowest degree, cheaper and independent of the node order, go first where they suffice.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import scipy
from numpy.typing import NDArray

from flexmbs.mesh.cells import CELLS

Array = NDArray[np.float64]
Rule = tuple[Array, Array]


@cache
def quadrature(cell: str, degree: int) -> Rule:
    """Points (count, dimension) and weights (count,) exact for polynomials of the given degree.

    For quads, hexahedra and wedges along their axis the degree counts each direction by itself.
    On pyramids "polynomial" includes the rational function of the pyramid.
    """
    points, weights = _rule(CELLS[cell].shape, degree)
    points, weights = np.ascontiguousarray(points), np.ascontiguousarray(weights)
    points.setflags(write=False)
    weights.setflags(write=False)
    return points, weights


def _rule(shape: str, degree: int) -> Rule:
    count = degree // 2 + 1
    if shape == "vertex":
        return np.zeros((1, 0)), np.ones(1)
    if shape == "line":
        x, w = scipy.special.roots_legendre(count)
        return x[:, None], w
    if shape == "quad":
        return _product(_rule("line", degree), _rule("line", degree))
    if shape == "hexahedron":
        return _product(_rule("quad", degree), _rule("line", degree))
    if shape == "wedge":
        return _product(_rule("triangle", degree), _rule("line", degree))
    if shape == "triangle":
        return _symmetric_triangle(degree) or _cone(_unit(count), count, power=1)
    if shape == "tetra":
        return _symmetric_tetra(degree) or _cone(_cone(_unit(count), count, power=1), count, power=2)
    if shape == "pyramid":
        return _cone(_rule("quad", degree), count, power=2)
    raise KeyError(shape)


def _product(a: Rule, b: Rule) -> Rule:
    points = np.concatenate(
        [np.tile(a[0], (len(b[0]), 1)), np.repeat(b[0], len(a[0]), axis=0)],
        axis=1,
    )
    return points, np.outer(b[1], a[1]).ravel()


def _unit(count: int) -> Rule:
    """Gauss-Legendre on (0, 1)."""
    x, w = scipy.special.roots_legendre(count)
    return ((x + 1) / 2)[:, None], w / 2


def _cone(base: Rule, count: int, power: int) -> Rule:
    """Sweep a base towards an apex at height 1: ∫∫ (1-z)^power f(base·(1-z), z)."""
    x, w = scipy.special.roots_jacobi(count, power, 0.0)
    z, w = (x + 1) / 2, w / 2.0 ** (power + 1)
    points = np.concatenate(
        [np.tile(base[0], (count, 1)) * np.repeat(1 - z, len(base[0]))[:, None], np.repeat(z, len(base[0]))[:, None]],
        axis=1,
    )
    return points, np.outer(w, base[1]).ravel()


def _symmetric_triangle(degree: int) -> Rule | None:
    if degree <= 1:
        return np.full((1, 2), 1 / 3), np.array([0.5])
    if degree <= 2:
        return np.array([[1, 1], [4, 1], [1, 4]]) / 6, np.full(3, 1 / 6)
    if degree <= 4:  # Dunavant 1985, six points, in closed form
        root = np.sqrt(38 - 44 * np.sqrt(0.4))
        a, b = (8 - np.sqrt(10) + root) / 18, (8 - np.sqrt(10) - root) / 18
        c = np.sqrt(213125 - 53320 * np.sqrt(10))
        wa, wb = (620 + c) / 7440, (620 - c) / 7440
        points = [p for s in (a, b) for p in ((s, s), (1 - 2 * s, s), (s, 1 - 2 * s))]
        return np.array(points), np.repeat([wa, wb], 3)
    return None


def _symmetric_tetra(degree: int) -> Rule | None:
    if degree <= 1:
        return np.full((1, 3), 0.25), np.array([1 / 6])
    if degree <= 2:
        a = (5 - np.sqrt(5)) / 20
        b = 1 - 3 * a
        return np.array([[a, a, a], [b, a, a], [a, b, a], [a, a, b]]), np.full(4, 1 / 24)
    return None
