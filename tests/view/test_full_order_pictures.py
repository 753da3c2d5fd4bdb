"""Pictures and pages of a body in full order, drawn from sparse shapes, are those of dense ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from test_report import placed, read

import flexmbs as fm
from flexmbs import view
from flexmbs.view import poses
from flexmbs.view.flesh import Flesh, attached, exaggerate, flesh, places
from flexmbs.view.look import Look, Piece
from flexmbs.view.mechanism import Options, drawing
from flexmbs.view.report_scene import spanned
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


@dataclass(frozen=True, eq=False)
class Waving:
    """The same motion, made by hand, with all coordinates as dense modes or sparse: two shapes, and the bar turns."""

    result: fm.Result
    body: fm.FlexibleBody


@pytest.fixture(scope="module")
def waving() -> tuple[Waving, Waving]:
    out, shapes = [], np.zeros((0, 0))
    t = np.linspace(0.0, 1.0, 21)
    for sparse in (False, True):
        system, body = hung(sparse)
        if not sparse:
            modes = np.random.default_rng(5).normal(size=(2, body.modes)) * 1e-4 / body.modal_lengths
            shapes, few = modes @ body.reduced.basis.T, modes
        else:
            few = np.linalg.lstsq(body.reduced.basis.toarray(), shapes.T, rcond=None)[0].T
        swing = np.column_stack([np.sin(7 * t), np.cos(11 * t)])
        rate = np.column_stack([7 * np.cos(7 * t), -11 * np.sin(11 * t)])
        q, v = (np.tile(x, (len(t), 1)) for x in (system.initial.q, system.initial.v))
        first, last = (int(x) for x in system.layout.body_q[1:3])
        q[:, first + 7 : last], v[:, -body.modes :] = swing @ few, rate @ few
        q[:, first + 3], q[:, first + 6] = np.cos(t), np.sin(t)
        v[:, int(system.layout.body_v[1]) + 5] = 2.0
        rows, angles = np.zeros((len(t), len(system.rows))), np.tile(system.initial.angles, (len(t), 1))
        out.append(Waving(fm.Result(system, t, q, v, 0 * v, rows, angles, forces_known=False), body))
    return out[0], out[1]


@pytest.mark.parametrize("color", ["von_mises", "tresca", "stress_xx", "min_principal", "speed", "displacement"])
def test_colours_are_those_of_dense_modes(waving: tuple[Waving, Waving], color: str) -> None:
    values = []
    for made in waving:
        picture = drawing(made.result, [0.3, 0.62], Options(color=color, scale=5.0), None)
        piece = next(p for p in picture.pieces if isinstance(p, Flesh))
        assert picture.coloring is not None
        assert picture.bar is not None
        values.append([*(picture.coloring.values(piece, k) for k in (0, 1)), [picture.bar.low, picture.bar.high]])
    for dense, sparse in zip(*values, strict=True):
        np.testing.assert_allclose(sparse, dense, rtol=1e-7, atol=1e-9 * np.abs(dense).max())
    assert np.ptp(values[0][0]) > 0


def test_fields_of_ones_own_and_films(waving: tuple[Waving, Waving], tmp_path: Path) -> None:
    sparse = waving[1]
    x = MESH.points[:, 0]
    for color in ({sparse.body: x}, lambda body, times: np.outer(times, x)):
        picture = drawing(sparse.result, [1.0], Options(color=color), None)
        piece = next(p for p in picture.pieces if isinstance(p, Flesh))
        assert picture.coloring is not None
        np.testing.assert_allclose(picture.coloring.values(piece, 0), piece.solid.points[:, 0], atol=1e-12)
    small = {"color": "von_mises", "scale": "auto", "size": (160, 120)}
    view.snapshot(sparse.result, tmp_path / "bar.png", at=[0.0, 0.5], **small)
    view.animate(sparse.result, tmp_path / "bar.gif", frames=2, **small)
    assert (tmp_path / "bar.png").stat().st_size > 1000
    assert (tmp_path / "bar.gif").stat().st_size > 1000


def test_a_page_has_as_many_shapes_as_the_motion(waving: tuple[Waving, Waving], tmp_path: Path) -> None:
    """Points in every frame, true and exaggerated, and the rates by which pages find speeds."""
    bodies = []
    for made, name in zip(waving, ("dense", "sparse"), strict=True):
        data = read(view.report(made.result, tmp_path / f"{name}.html"))
        bodies.append(next(b for b in data["bodies"] if b["name"] == "bar"))
    dense, sparse = bodies
    assert sparse["coordinates"].shape == dense["coordinates"].shape == (21, 2)
    count = sparse["pieces"][0]["end"][0]
    result, body = waving[1].result, waving[1].body
    skin = sparse["points"][:, :count].T
    nearest = np.linalg.norm(skin[:, None] - MESH.points, axis=2).argmin(axis=1)
    for k in range(0, 21, 4):
        np.testing.assert_allclose(
            placed(sparse, k, 1.0)[:count], result.deformed(body, at=result.t[k])[nearest], atol=2e-5
        )
        np.testing.assert_allclose(placed(sparse, k, 30.0), placed(dense, k, 30.0), atol=5e-5)
        flows = [
            np.einsum("r,rin->ni", b["rates"][k], sum(b[key].reshape(2, 3, -1) for key in ("carried", "bends")))
            for b in (dense, sparse)
        ]
        np.testing.assert_allclose(flows[1], flows[0], atol=2e-3 * np.abs(flows[0]).max() + 1e-4)
    np.testing.assert_allclose(sparse["nodal"]["von_mises"], dense["nodal"]["von_mises"], rtol=0.02, atol=0.01)


def test_a_still_body_and_long_coordinates() -> None:
    """What spans no motion is nothing; what spans one gives it back, whatever its coordinates are measured in."""
    directions, rows = spanned(np.zeros((5, 30)), np.ones(30))
    assert directions.shape == (30, 0)
    assert rows.shape == (0, 30)
    rng = np.random.default_rng(2)
    lengths = 10.0 ** rng.uniform(-4, 4, 30)
    d = rng.normal(size=(12, 3)) @ rng.normal(size=(3, 30)) / lengths
    directions, rows = spanned(d, lengths)
    assert directions.shape == (30, 3)
    np.testing.assert_allclose(d @ rows.T @ directions.T * lengths, d * lengths, atol=1e-12)


def test_a_page_of_a_body_that_does_not_deform(tmp_path: Path) -> None:
    """Kinematics holds deformation at zero: the surface is where the rigid body is."""
    system, body = hung(True)
    drive = fm.Drive("drive", system.joints[0].angle, fm.ConstantSpeed(2.0))
    turned = fm.kinematics(fm.System(system.bodies, [*system.joints, drive]), [0.0, 0.1, 0.2])
    data = read(view.report(turned, tmp_path / "turned.html"))
    bar = next(b for b in data["bodies"] if b["name"] == "bar")
    count = bar["pieces"][0]["end"][0]
    nearest = np.linalg.norm(bar["points"][:, :count].T[:, None] - MESH.points, axis=2).argmin(axis=1)
    for k in range(3):
        np.testing.assert_allclose(
            placed(bar, k, 5.0)[:count], turned.deformed(body, at=turned.t[k])[nearest], atol=2e-5
        )


def test_many_coordinates_are_interpolated_some_at_a_time(
    waving: tuple[Waving, Waving], monkeypatch: pytest.MonkeyPatch
) -> None:
    times = np.linspace(0.0, 1.0, 33)
    at_once = poses.poses(waving[1].result, times)
    monkeypatch.setattr(poses, "CHUNK", 33 * 7)
    some = poses.poses(waving[1].result, times)
    assert np.array_equal(at_once.elastic[1], some.elastic[1])
    assert np.array_equal(at_once.elastic_rate[1], some.elastic_rate[1])
    assert np.abs(some.elastic_rate[1]).max() > 0
