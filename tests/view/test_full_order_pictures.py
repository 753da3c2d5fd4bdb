"""The surface of a body in full order, drawn from sparse shapes, is that of dense ones."""

from __future__ import annotations

import numpy as np

import flexmbs as fm
from flexmbs.view.flesh import attached, exaggerate, flesh, places
from flexmbs.view.look import Look, Piece
from flexmbs.view.solids import Solid

MESH = fm.Mesh.box((0.4, 0.04, 0.03), (4, 1, 1))
SOFT = fm.Material(2e9, 0.3, 7800.0)


def hung(sparse: bool) -> tuple[fm.System, fm.FlexibleBody]:
    body = fm.FlexibleBody(
        "bar", MESH, SOFT, interfaces=["x0", "x1"], reduction=fm.FullOrder(sparse=sparse), stiffening=False
    )
    ground = fm.Ground()
    hinge = fm.Revolute("hinge", ground.at(*body.at("x0").position), body.at("x0"), axis="z")
    return fm.System([ground, body], [hinge]), body


def test_sparse_shapes_draw_what_dense_ones_do() -> None:
    (dense, one), (sparse, other) = hung(False), hung(True)
    rng = np.random.default_rng(3)
    modes = 1e-3 * rng.normal(size=one.modes)
    nodes = np.linalg.lstsq(other.reduced.basis.toarray(), one.reduced.basis @ modes, rcond=None)[0]  # the same shape
    pieces = [
        flesh(s, b, 1, "#808080", 0.0, Look(0.01, 0.4, False, np.array([0.0, 1.0, 0.0])))
        for s, b in ((dense, one), (sparse, other))
    ]
    place, turn = np.array([1.0, 2.0, 3.0]), np.eye(3)
    for scale in (1.0, 20.0):
        drawn = [exaggerate(p, scale) for p in pieces]
        for of in ("moved", "undeformed"):
            a, b = (getattr(p, of)(place, turn, d) for p, d in zip(drawn, (modes, nodes), strict=True))
            np.testing.assert_allclose(a, b, atol=1e-12)
        a, b = (p.deformation(d) for p, d in zip(drawn, (modes, nodes), strict=True))
        np.testing.assert_allclose(a, b, atol=1e-12)
    pin = Piece(1, Solid(MESH.points[:9], np.array([[0, 1, 2]])), "#808080")
    a, b = (
        attached(pin, places(s, body)).moved(place, turn, d)
        for s, body, d in ((dense, one, modes), (sparse, other, nodes))
    )
    np.testing.assert_allclose(a, b, atol=1e-12)
