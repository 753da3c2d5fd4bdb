"""Solids of pictures: closed, outward, of the right volume."""

from __future__ import annotations

import numpy as np
import pytest

from flexmbs.view import solids
from flexmbs.view.look import grown, mixed
from flexmbs.view.solids import Solid


def volume(solid: Solid) -> float:
    """By Gauss, positive if the triangles look outward."""
    a, b, c = np.moveaxis(solid.points[solid.triangles], 1, 0)
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def area(solid: Solid) -> float:
    a, b, c = np.moveaxis(solid.points[solid.triangles], 1, 0)
    return float(np.cross(b - a, c - a)[:, 2].sum() / 2)


N = 32
ROUND = N / 2 * np.sin(2 * np.pi / N)  # area of the polygon for a circle of radius 1
NOTCHED = [(0, 0), (2, 0), (2, 1), (1, 0.2), (0, 1)]


@pytest.mark.parametrize(
    ("solid", "expected"),
    [
        (solids.box((1.0, 2.0, 3.0), (5.0, 0.0, 1.0)), 6.0),
        (solids.cylinder((1.0, 0.0, 0.0), (1.0, 2.0, 2.0), 0.5), ROUND * 0.25 * np.sqrt(8.0)),
        (solids.tube([[0, 0, 0], [0, 0, 1], [0, 0, 3]], [1.0, 1.0, 1.0]), 3 * ROUND),
        (solids.plate(NOTCHED, 1.0, 3.0), 2 * 1.2),
        (solids.plate(NOTCHED[::-1], 1.0, 3.0), 2 * 1.2),
    ],
    ids=["box", "cylinder", "tube", "plate", "clockwise plate"],
)
def test_volumes(solid: Solid, expected: float) -> None:
    assert volume(solid) == pytest.approx(expected)
    every = np.sort(solid.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    assert set(np.unique(every, axis=0, return_counts=True)[1]) == {2}


def test_round_solids() -> None:
    assert volume(solids.ball((1.0, 2.0, 3.0), 2.0)) == pytest.approx(4 / 3 * np.pi * 8, rel=0.03)
    # a cylinder of length 0.75 and a cone of 0.25, of radii 0.05 and 0.105
    arrow = volume(solids.arrow((0, 0, 0), (0.0, 1.0, 0.0), 0.05))
    assert arrow == pytest.approx(np.pi * (0.75 * 0.05**2 + 0.25 * 0.105**2 / 3), rel=0.03)
    assert len(solids.arrow((0, 0, 0), (0.0, 0.0, 0.0), 0.05).points) == 0


def test_a_coil_has_the_length_of_its_wire() -> None:
    """Volume of the wire = its section times its length, that of a helix mostly."""
    coil = solids.coil(np.zeros(3), np.array([0.0, 0.0, 1.0]), radius=0.2, wire=0.01, turns=8)
    helix = np.hypot(8 * 2 * np.pi * 0.2, 0.84)
    assert volume(coil) / (5 * np.sin(np.pi / 5) * 0.01**2) == pytest.approx(helix, rel=0.1)
    np.testing.assert_allclose([coil.points[:, 2].min(), coil.points[:, 2].max()], [0.0, 1.0], atol=0.02)


def test_flat_pieces() -> None:
    assert area(solids.sheet(NOTCHED, 0.0)) == pytest.approx(1.2)
    link = solids.rounded([(0.0, 0.0), (3.0, 0.0)], 0.5)
    assert area(solids.sheet(link, 0.0)) == pytest.approx(3.0 + np.pi / 4, rel=5e-3)
    assert area(solids.sheet(grown(link, 0.1), 0.0)) == pytest.approx(3.6 + np.pi * 0.36, rel=5e-3)
    assert area(solids.sheet(solids.stroke((0, 0), (3, 4), 0.2), 0.0)) == pytest.approx(1.0)
    arc = solids.arc_arrow(1.0, 0.1, 0.0, np.pi)
    assert area(solids.sheet(arc, 0.0)) == pytest.approx(0.1 * np.pi + 0.17 * 0.32, rel=0.05)


def test_merged_solids_keep_their_triangles() -> None:
    one, other = solids.box((1, 1, 1)), solids.box((2, 1, 1), (5, 0, 0))
    assert volume(solids.merged([one, other])) == pytest.approx(3.0)
    assert len(solids.merged([]).points) == 0


def test_mixed_colours() -> None:
    assert mixed("#000000", "#ffffff", 0.5) == "#808080"
    assert mixed("#0072b2", "#ffffff", 0.0) == "#0072b2"
