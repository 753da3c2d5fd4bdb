"""Stress and strain of moving flexible bodies: against statics of the full mesh, and against full order in motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm
from flexmbs.errors import ModelError
from flexmbs.fem.stress import strain
from flexmbs.reduction.interfaces import frame_rows
from flexmbs.results import loading
from flexmbs.results.deformation import left_out

STEEL = fm.Material(young=210e9, poisson=0.3, density=7850.0)
FORCE, GRAVITY = np.array([0.0, 0.02, -0.3]), np.array([0.0, 0.0, -0.01])
"""Small, so that statics with large rotations is linear to 1e-8."""


def mesh() -> fm.Mesh:
    return fm.Mesh.box((1.0, 0.04, 0.05), (8, 1, 1), cell="hexahedron")


def held(reduction: object, frame: object, m: fm.Mesh | None = None, **options: object) -> tuple:
    """A body clamped by a joint at one end and pushed at the other, at rest."""
    ground = fm.Ground()
    body = fm.FlexibleBody(
        "bar", m or mesh(), STEEL, interfaces=["x0", fm.Averaged("x1")], reduction=reduction, frame=frame,
        stiffening=False, **options,
    )  # fmt: skip
    clamp = fm.Fixed("clamp", ground.at(*body.reduced.frame("x0").position), body.at("x0"))
    push = fm.AppliedForce("push", body.at("x1"), force=FORCE)
    system = fm.System([ground, body], [clamp], [push, fm.Gravity(GRAVITY)])
    return fm.statics(system), body, clamp


@pytest.mark.parametrize("frame", ["mean", "chord", fm.Tangent("x0")])
@pytest.mark.parametrize("reduction", [fm.CraigBampton(modes=4), fm.ModalTruncation(modes=9)])
def test_corrected_stress_at_rest_is_that_of_the_full_mesh(reduction: object, frame: object) -> None:
    """Whatever the coordinates leave out: inertia loads, reactions and applied forces bring it back."""
    rest, body, clamp = held(reduction, frame)
    elements = fm.Elements(mesh(), STEEL)
    full = fm.statics(elements, loads=[fm.Force("x1", FORCE), fm.Gravity(GRAVITY)], fixed="x0")
    exact = full.stress.nodal
    scale = np.abs(exact).max()
    assert_allclose(rest.stress(body) / scale, exact / scale, atol=1e-7)
    assert np.abs(rest.stress(body, corrected=False) - exact).max() > 5e-4 * scale
    assert_allclose(rest.von_mises(body, nodes="x0"), full.stress.von_mises[body.mesh.nodes("x0")], rtol=1e-6)
    weight = STEEL.density * 0.04 * 0.05 * GRAVITY
    assert_allclose(rest.reaction(clamp)[0, :3], -(FORCE + weight), atol=1e-9)
    assert_allclose(rest.reaction(rest.system.bodies[0])[0, :3], FORCE + weight, atol=1e-9)
    gauge = fm.StrainGauge(body, (0.5, 0.0, 0.05), "x")
    exact_strain = strain(elements, full.displacement).nodal[gauge.nodes[0], 0]
    assert rest.strain(gauge)[0] == pytest.approx(exact_strain, rel=1e-6)


def test_corrected_deflection_at_rest_is_that_of_the_full_mesh() -> None:
    rest, body, _ = held(fm.ModalTruncation(modes=9), fm.Tangent("x0"))
    full = fm.statics(fm.Elements(mesh(), STEEL), loads=[fm.Force("x1", FORCE), fm.Gravity(GRAVITY)], fixed="x0")
    u, part = full.displacement, body.reduced.part
    scale = np.abs(u).max()
    assert_allclose(rest.displacement(body) / scale, u / scale, atol=1e-6)
    for place in ("x1", 14, (0.5, 0.03, 0.1)):
        which = body.mesh.nearest_node(place) if isinstance(place, tuple) else place
        position, rows = frame_rows(part, which)
        values = rows @ u.ravel()
        frame = body.at(place)
        exact = values[:3] + np.cross(values[3:], frame.position - position)
        assert_allclose(rest.deflection(frame)[0] / scale, exact / scale, atol=1e-6)
        assert np.abs(rest.deflection(frame, corrected=False)[0] - exact).max() > 1e-3 * scale
    loaded = replace(body, reduced=replace(body.reduced, part=None))  # as from a file: nothing to correct it with
    assert left_out(loaded.at("x1")) is None


def test_stress_of_plane_bodies_at_rest() -> None:
    ground, flat = fm.Ground(), fm.Mesh.rectangle((1.0, 0.1), (6, 1), cell="quad8", origin=(0.3, 0.0))
    body = fm.FlexibleBody(
        "plate", flat, STEEL, interfaces=["x0", fm.Averaged("x1")], thickness=0.02, stiffening=False,
        reduction=fm.ModalTruncation(modes=4),
    )  # fmt: skip
    clamp = fm.Fixed("clamp", ground.at(0.3, 0.05), body.at("x0"))
    push = fm.AppliedForce("push", body.at("x1"), force=(0.05, -0.03, 0.0))
    rest = fm.statics(fm.System([ground, body], [clamp], [push, fm.Gravity((0.01, -0.01, 0.0))]))
    full = fm.statics(fm.Elements(flat, STEEL, thickness=0.02),
                      loads=[fm.Force("x1", (0.05, -0.03)), fm.Gravity((0.01, -0.01, 0.0))], fixed="x0")  # fmt: skip
    exact = full.stress.nodal
    assert_allclose(rest.stress(body) / np.abs(exact).max(), exact / np.abs(exact).max(), atol=1e-6)
    assert rest.reaction(clamp).shape == (1, 3)
    assert rest.deformed(body).shape == (flat.n_nodes, 3)


def test_section_forces_of_beams_at_rest() -> None:
    line = fm.Mesh.line((0, 0, 0), (1.0, 0, 0), 4)
    line = line.with_nodes("x0", line.nodes("start")).with_nodes("x1", line.nodes("end"))
    section = fm.Section.rectangle(0.04, 0.05)
    rest, body, _ = held(fm.ModalTruncation(modes=8), fm.Tangent("x0"), line, section=section)
    full = fm.statics(fm.Elements(line, STEEL, section=section),
                      loads=[fm.Force("x1", FORCE), fm.Gravity(GRAVITY)], fixed="x0")  # fmt: skip
    exact = full.stress.arrays[0]
    scale = np.abs(exact).max()
    assert_allclose(rest.section_forces(body) / scale, exact / scale, atol=1e-7)
    assert_allclose(rest.von_mises(body), full.stress.nodal, rtol=1e-6, atol=1e-6 * full.stress.nodal.max())
    with pytest.raises(ModelError, match="section forces"):
        rest.stress(body)
    # above and below the axis between two nodes: strains of a cantilever under its tip force, weight being small
    for y, z in ((0.02, 0.025), (-0.02, 0.01), (0.0, 0.0)):
        gauge = fm.StrainGauge(body, (0.4, y, z))
        weight = STEEL.density * 0.002 * GRAVITY[2]
        bending = -z * (FORCE[2] * 0.6 + weight * 0.6**2 / 2) / (210e9 * 0.05 * 0.04**3 / 12)
        bending -= y * FORCE[1] * 0.6 / (210e9 * 0.04 * 0.05**3 / 12)
        assert rest.strain(gauge)[0] == pytest.approx(bending, rel=6e-3, abs=1e-15)
    assert rest.strain(fm.StrainGauge(body, 2))[0] == pytest.approx(0.0, abs=1e-15)  # on the axis
    with pytest.raises(ModelError, match="leave the direction out"):
        fm.StrainGauge(body, 2, "x")


def spun(reduction: object) -> tuple[fm.Result, fm.FlexibleBody]:
    """A bar that is spun up about a hinge, under its weight."""
    ground = fm.Ground()
    small = fm.Mesh.box((1.0, 0.04, 0.05), (4, 1, 1), cell="hexahedron")
    body = fm.FlexibleBody("bar", small, STEEL, interfaces=["x0"], reduction=reduction)
    hinge = fm.Revolute("hinge", ground.at(0, 0.02, 0.025), body.at("x0"), axis="y")
    motor = fm.Drive("motor", hinge.angle, fm.SpinUp(30.0, over=0.1))
    system = fm.System([ground, body], [hinge, motor], [fm.Gravity((0, 0, -9.81))])
    return fm.forward_dynamics(system, 0.12, 1e-3), body


@pytest.fixture(scope="module")
def full() -> tuple[fm.Result, fm.FlexibleBody]:
    return spun(fm.FullOrder())


def test_stress_in_motion_is_that_of_full_order(full: tuple) -> None:
    """Twelve modes: 1 %; with few of them, the correction of inertia loads does most of the work."""
    exact = full[0].von_mises(full[1], at=full[0].t, corrected=False)
    errors = []
    for reduction in (fm.CraigBampton(modes=12), fm.CraigBampton(modes=3)):
        motion, body = spun(reduction)
        found = [motion.von_mises(body, at=motion.t, corrected=c) for c in (True, False)]
        errors.append([np.abs(f - exact).max() / exact.max() for f in found])
    assert errors[0][0] < 2e-3
    assert errors[1][0] < 1e-2
    assert errors[1][0] < 0.2 * errors[1][1]


def test_envelopes_gauges_and_times(full: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    motion, body = full
    every = motion.von_mises(body, at=motion.t)
    monkeypatch.setattr("flexmbs.reduction.recovery.CHUNK", 6 * every.shape[1] * 7)  # seven instants at once
    envelope = motion.stress_envelope(body)
    assert_allclose(envelope.largest, every.max(axis=0))
    assert_allclose(envelope.when, motion.t[every.argmax(axis=0)])
    node, top, when = envelope.worst
    assert motion.von_mises(body, at=when, nodes=[node])[0] == pytest.approx(top) == every.max()
    assert motion.stress_envelope(body, nodes="x1").nodes.tolist() == body.mesh.nodes("x1").tolist()
    modes = fm.stress_modes(body.reduced, "x0")
    assert_allclose(motion.von_mises(body, nodes=modes), motion.von_mises(body, nodes="x0"))
    between = motion.von_mises(body, at=(motion.t[50] + motion.t[51]) / 2, nodes=[node])[0]
    around = sorted(float(motion.von_mises(body, at=motion.t[k], nodes=[node])[0]) for k in (49, 50, 51, 52))
    assert around[0] * 0.9 < between < around[-1] * 1.1
    gauge = fm.StrainGauge(body, "x0", (1.0, 0.0, 0.0))
    history = motion.strain(gauge, corrected=False)
    field = strain(fm.Elements(body.mesh, STEEL), body.reduced.displacement(motion.elastic(body)[70]))
    assert history[70] == pytest.approx(field.nodal[body.mesh.nodes("x0"), 0].mean())


def test_reactions_are_asked_for_only_where_they_count(full: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    """Static shapes of the interfaces leave nothing of their forces to be corrected."""

    def refused(*_: object) -> None:
        raise AssertionError("not needed")

    monkeypatch.setattr(loading, "frame_wrenches", refused)
    motion, body = full
    motion.von_mises(body)
    rest, other, _ = held(fm.CraigBampton(modes=2), "chord")
    rest.stress(other)


def test_distributed_loads_are_corrected_too() -> None:
    """At rest under a load set with few modes, the stress is that of the full mesh under it."""
    push = fm.Pressure("z1", 200.0)
    body = fm.FlexibleBody(
        "bar", mesh(), STEEL, fixed="x0", reduction=fm.ModalTruncation(modes=3), stiffening=False, loads={"push": push}
    )
    ground = fm.Ground()
    clamp = fm.Fixed("clamp", ground.at(0, 0, 0), body.at())
    rest = fm.statics(fm.System([ground, body], [clamp], [fm.BodyLoad("wind", body, "push", 2.0)]))
    exact = 2.0 * fm.statics(fm.Elements(mesh(), STEEL), loads=[push], fixed="x0").stress.nodal
    scale = np.abs(exact).max()
    assert_allclose(rest.stress(body) / scale, exact / scale, atol=1e-7)
    assert np.abs(rest.stress(body, corrected=False) - exact).max() > 1e-2 * scale


def test_wrong_gauges_are_refused() -> None:
    body = fm.FlexibleBody("bar", mesh(), STEEL, fixed="x0", reduction=fm.ModalTruncation(modes=2), stiffening=False)
    with pytest.raises(ModelError, match="sits on a FlexibleBody"):
        fm.StrainGauge(fm.Ground(), 1, "x")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"bar, strain gauge at 100000: .*node numbers"):
        fm.StrainGauge(body, 100000, "x")
    with pytest.raises(ModelError, match="does not lie on the body"):
        fm.StrainGauge(body, (5.0, 0.0, 0.0), "x")
    with pytest.raises(ModelError, match="a direction is needed"):
        fm.StrainGauge(body, 1)
    with pytest.raises(ModelError, match="node numbers"):
        fm.StrainGauge(body, 1.5, "x")
    with pytest.raises(ModelError, match="a place is a node number"):
        fm.StrainGauge(body, (5.0, 0.0, 0.0, 1.0), "x")
    with pytest.raises(ModelError, match="axis must be"):
        fm.StrainGauge(body, 1, "along")
    rest = held(fm.CraigBampton(modes=2), "mean")[0]
    with pytest.raises(ModelError, match="a StrainGauge is needed"):
        rest.strain("x0")
