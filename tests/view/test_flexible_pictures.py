"""Flexible bodies in pictures: where their surface is, how much it is exaggerated, and what it is coloured by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

import flexmbs as fm
from flexmbs import view
from flexmbs.errors import AnalysisError
from flexmbs.view.flesh import Flesh
from flexmbs.view.force_pieces import loads
from flexmbs.view.mechanism import Drawing, Options, drawing
from flexmbs.view.poses import as_result, poses

SOFT = fm.Material(young=1e9, poisson=0.3, density=1000.0)
SECTION = fm.Section.rectangle(b=0.04, h=0.02)
MESHES = {
    "solid": (fm.Mesh.box((1.0, 0.1, 0.1), (4, 1, 1), origin=(0.0, -0.05, -0.05)), ("x0", "x1"), {}),
    "plane": (fm.Mesh.rectangle((1.0, 0.1), (6, 1), origin=(0.0, -0.05)), ("x0", "x1"), {"thickness": 0.1}),
    "beam": (fm.Mesh.line((0, 0, 0), (1, 0, 0), 4), ("start", "end"), {"section": SECTION}),
}


def swinging(kind: str) -> tuple[fm.Result, fm.FlexibleBody, Any]:
    """A bar that hangs on a pin at one end and a rigid body at the other, at one bent position, made by hand."""
    mesh, ends, options = MESHES[kind]
    body = fm.FlexibleBody("bar", mesh, SOFT, interfaces=list(ends), reduction=fm.CraigBampton(modes=2), **options)
    ground = fm.Ground()
    joints = fm.planar if body.planar else fm
    other = fm.PlanarBody("end", 1.0, 0.1) if body.planar else fm.RigidBody("end", 1.0, (0.1, 0.1, 0.1))
    pin = joints.Revolute("pin", ground.at(0, 0), body.at(ends[0]))
    tie = joints.Revolute("tie", body.at(ends[1]), other.at(0, 0))
    system = fm.System([ground, body, other], [pin, tie], [fm.Gravity((0, -9.81, 0))])
    start = as_result(system)
    q, v = start.q.copy(), start.v.copy()
    last = int(system.layout.body_q[2])
    d = 0.002 / body.modal_lengths * np.random.default_rng(1).uniform(-1, 1, body.modes)
    q[0, last - body.modes : last] = d
    result = fm.Result(system, start.t, q, v, 0 * v, start.multipliers, start.angles)
    return result, body, d


def drawn(result: fm.Result, **options: Any) -> tuple[Drawing, Flesh]:
    picture = drawing(result, result.t[-1:], Options(**options), None)
    return picture, next(p for p in picture.pieces if isinstance(p, Flesh))


@pytest.mark.parametrize("kind", MESHES)
def test_surfaces_are_where_nodes_are(kind: str) -> None:
    """Drawn as it is, every node is where the result says; exaggerated, joints stay together.

    Exaggerated, the result also counts the shortening of second order along the bar, 30 times 0.1 mm.
    """
    result, body, _ = swinging(kind)
    for scale, within in ((1.0, 1e-9), (30.0, 4e-3)):
        picture, piece = drawn(result, scale=scale)
        points = piece.moved(*picture.shown.pose(1, 0))
        nodes = result.deformed(body, at=0.0, scale=scale)
        rest = piece.solid.points.copy()
        if kind == "plane":
            rest[:, 2] = points[:, 2] = 0.0
        if kind == "beam":  # corners of sections; their middle is the axis
            rest, points = rest.reshape(-1, 4, 3).mean(axis=1), points.reshape(-1, 4, 3).mean(axis=1)
        found = 0
        for x, where in zip(body.reduced.mesh.points, nodes, strict=True):
            near = np.linalg.norm(rest - x, axis=1) < 1e-9
            if near.any():
                np.testing.assert_allclose(points[near, 0], where[0], atol=within)
                np.testing.assert_allclose(
                    points[near, 1:], np.tile(where[1:], (near.sum(), 1)), atol=1e-3 * within + 1e-9
                )
                found += 1
        assert found == body.reduced.mesh.n_nodes
    held = [picture.shown.point(f, 0) for f in (body.at(MESHES[kind][1][0]), body.at(MESHES[kind][1][1]))]
    np.testing.assert_allclose(held[1], result.position(body.at(MESHES[kind][1][1]))[0], atol=1e-9)
    flat = piece.undeformed(*picture.shown.pose(1, 0))  # straight, as long as it was
    assert np.ptp(flat @ (held[1] - held[0])) / np.linalg.norm(held[1] - held[0]) == pytest.approx(1.0, abs=2e-3)


def test_beams_bend_as_cubics() -> None:
    """Between two nodes a cantilever of one element is its exact cubic."""
    body = fm.FlexibleBody(
        "beam", fm.Mesh.line((0, 0, 0), (2, 0, 0), 1), SOFT, section=SECTION, fixed="start", reduction=fm.FullOrder()
    )
    ground = fm.Ground()
    system = fm.System([ground, body], [fm.Fixed("clamp", ground.at(0, 0, 0), body.at())])
    bent = np.linalg.lstsq(body.at("end").shapes, [0, 0.1, 0, 0, 0, 0.075], rcond=None)[0]  # v = s² (3 - s) / 2
    start = as_result(system)
    q = start.q.copy()
    q[0, -body.modes :] = bent
    result = fm.Result(system, start.t, q, start.v, start.v, start.multipliers, start.angles)
    picture, piece = drawn(result)
    middle = piece.moved(*picture.shown.pose(1, 0)).reshape(-1, 4, 3).mean(axis=1)
    s = piece.solid.points.reshape(-1, 4, 3).mean(axis=1)[:, 0] / 2
    np.testing.assert_allclose(middle[:, 1], 0.1 * s**2 * (3 - s) / 2, atol=1e-9)


@pytest.mark.parametrize("kind", MESHES)
def test_colours_have_one_range(kind: str) -> None:
    """Values at the nodes are those of the result; the largest of them is the top of the bar."""
    result, body, _ = swinging(kind)
    picture, piece = drawn(result, color="von_mises")
    stress = result.von_mises(body, at=0.0)
    values = picture.coloring.values(piece, 0)  # type: ignore[union-attr]
    assert values is not None
    assert values.max() == pytest.approx(stress[piece.nodes].max() * picture.coloring.factor, rel=1e-9)  # type: ignore[union-attr]
    assert picture.bar is not None
    assert picture.bar.high == pytest.approx(values.max())
    assert ("fibre" if kind == "beam" else "von Mises") in picture.bar.title
    picture, piece = drawn(result, color="displacement", scale=5.0)
    sizes = picture.coloring.values(piece, 0)  # type: ignore[union-attr]
    assert sizes is not None
    moved = piece.moved(*picture.shown.pose(1, 0)) - piece.undeformed(*picture.shown.pose(1, 0))
    np.testing.assert_allclose(5.0 * sizes / picture.coloring.factor, np.linalg.norm(moved, axis=1), atol=1e-9)  # type: ignore[union-attr]
    speeds, piece = drawn(result, color="speed")
    np.testing.assert_allclose(speeds.coloring.values(piece, 0), 0.0, atol=1e-12)  # type: ignore[union-attr]


def test_arrows_of_loads() -> None:
    """A pressure is one arrow: its resultant, at the middle of its face, turned with the body."""
    mesh, _, _ = MESHES["solid"]
    load = {"push": fm.Pressure("y1", 50.0)}
    turned = ("z", 0.5)
    body = fm.FlexibleBody("bar", mesh, SOFT, fixed="x0", loads=load, position=(1, 2, 3), rotation=turned)
    result = as_result(fm.System([body], [], [fm.BodyLoad("push", body, "push", 2.0)]))
    ((point, force),) = loads(result.system.forces, poses(result, [0.0]), 0)
    axes = result.rotation(body)[0]
    np.testing.assert_allclose(point, [1, 2, 3] + axes @ [0.5, 0.05, 0.0], atol=1e-9)
    np.testing.assert_allclose(force, axes @ [0, -2 * 50.0 * 0.1, 0], atol=1e-9)


def test_auto_makes_deformation_visible() -> None:
    result, body, _ = swinging("solid")
    picture, piece = drawn(result, scale="auto")
    moved = piece.moved(*picture.shown.pose(1, 0)) - piece.undeformed(*picture.shown.pose(1, 0))
    assert 0.02 < np.linalg.norm(moved, axis=1).max() / body.reduced.mesh.size <= 0.081


@pytest.mark.parametrize("kind", MESHES)
def test_pictures(kind: str, tmp_path: Path) -> None:
    result, _, _ = swinging(kind)
    path = view.snapshot(result, tmp_path / "bar.png", color="von_mises", scale=2.0)
    ink = imread(path)[:, :, :3]
    assert 0.005 < np.mean(ink.min(axis=2) < 0.9) < 0.8
    assert np.ptp(ink, axis=2).max() > 0.4  # it is coloured


def test_vibrations_between_instants_are_not_made_up() -> None:
    """Rates of 5 kHz on a motion kept every 10 ms: deformation and stress between two instants are between theirs."""
    start, body, d = swinging("solid")
    system, t = start.system, 0.01 * np.arange(5)
    q, v = np.tile(start.q, (5, 1)), np.tile(start.v, (5, 1))
    some = np.arange(int(system.layout.body_q[2]) - body.modes, int(system.layout.body_q[2]))
    fast = np.arange(int(system.layout.body_v[2]) - body.modes, int(system.layout.body_v[2]))
    phase = np.array([0.3, 2.0, 4.0, 1.0, 5.5])[:, None]
    q[:, some], v[:, fast] = d * np.cos(phase), -2 * np.pi * 5000.0 * d * np.sin(phase)
    rows, angles = np.tile(start.multipliers, (5, 1)), np.tile(start.angles, (5, 1))
    motion = fm.Result(system, t, q, v, 0 * v, rows, angles)
    between = poses(motion, np.linspace(0.0, 0.04, 401)).elastic[1]
    assert (np.abs(between) <= np.abs(d) + 1e-15).all()
    middle = drawing(motion, [0.005], Options(color="von_mises"), None)
    piece = next(p for p in middle.pieces if isinstance(p, Flesh))
    ends = motion.von_mises(body, at=t[:2], nodes=piece.nodes)
    values = middle.coloring.values(piece, 0) / middle.coloring.factor  # type: ignore[union-attr,operator]
    np.testing.assert_allclose(values, piece.weights @ ends.mean(axis=0), rtol=1e-9)
    slow = fm.Result(system, t, q, v / 5000.0, 0 * v, rows, angles)  # cubics again, through values and rates
    inner = poses(slow, [0.01 - 1e-8, 0.01 + 1e-8]).elastic[1]
    np.testing.assert_allclose((inner[1] - inner[0]) / 2e-8, v[1, fast] / 5000.0, rtol=1e-3)


def test_refusals() -> None:
    result, body, _ = swinging("beam")
    for options, words in (
        ({"color": "heat"}, "color must be None"),
        ({"scale": "huge"}, 'scale must be a number or "auto"'),
        ({"scale": float("nan")}, "scale must be"),
    ):
        with pytest.raises(AnalysisError, match=words):
            drawn(result, **options)  # type: ignore[arg-type]
    rigid = as_result(fm.System([body.rigid()]))
    with pytest.raises(AnalysisError, match="all bodies of this mechanism are rigid"):
        drawing(rigid, [0.0], Options(color="von_mises"), None)
    part = fm.Part.of_elements(fm.Elements(MESHES["solid"][0], SOFT))
    bare = fm.FlexibleBody.from_matrices("bare", part.mesh, part.mass, part.stiffness, reduction=fm.ModalTruncation(2))
    with pytest.raises(AnalysisError, match="bare has matrices but no elements"):
        drawing(as_result(fm.System([bare])), [0.0], Options(color="von_mises"), None)
