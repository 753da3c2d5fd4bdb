"""Frames on flexible bodies move as the derivatives of their own positions say."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm
from flexmbs.errors import ModelError
from flexmbs.results.motions import _left_change
from flexmbs.rotations import exp, from_matrix, tangent_matrix

STEEL = fm.Material(young=210e9, poisson=0.3, density=7850.0)
H = 1e-4


def rod(**options: object) -> fm.FlexibleBody:
    mesh = fm.Mesh.line((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 4)
    return fm.FlexibleBody(
        "rod", mesh, STEEL, section=fm.Section.rectangle(0.02, 0.03), interfaces=["start", "end"],
        reduction=fm.CraigBampton(modes=2), **options,
    )  # fmt: skip


def plate() -> fm.FlexibleBody:
    mesh = fm.Mesh.rectangle((1.0, 0.1), (4, 1), cell="quad8")
    return fm.FlexibleBody("plate", mesh, STEEL, interfaces=["x0", "x1"], reduction=fm.CraigBampton(modes=1))


def smooth_motion(body: fm.FlexibleBody) -> fm.Result:
    """Instants at -2H .. 2H of a motion with every coordinate a polynomial of time, and its exact derivatives."""
    system = fm.System([fm.Ground(), body], [], [])
    rng = np.random.default_rng(5)
    n, planar = body.modes, body.planar
    t = H * np.arange(-2, 3)
    lengths = body.modal_lengths
    place, angle, modes = (rng.normal(size=(3, k)) for k in (3, 3, n))
    modes = 0.15 * modes / lengths  # slopes of some tenths, so that terms of second order count
    if planar:
        angle[:, :2] = place[:, 2] = 0.0

    def value(c: np.ndarray, x: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return c[0] + c[1] * x + c[2] * x * x / 2, c[1] + c[2] * x, c[2]

    def spin(x: float) -> np.ndarray:
        psi, rate, _ = value(angle, x)
        return np.asarray(tangent_matrix(psi) @ rate)

    q, v, rate = [], [], []
    for x in t:
        (p, p1, p2), (psi, _, psi2), (d, d1, d2) = value(place, x), value(angle, x), value(modes, x)
        epsilon = (8 * (spin(x + 1e-3) - spin(x - 1e-3)) - spin(x + 2e-3) + spin(x - 2e-3)) / 12e-3
        if planar:
            q.append([p[0], p[1], psi[2], *d])
            v.append([p1[0], p1[1], spin(x)[2], *d1])
            rate.append([p2[0], p2[1], psi2[2], *d2])
        else:
            q.append([*p, *from_matrix(exp(psi)), *d])
            v.append([*p1, *spin(x), *d1])
            rate.append([*p2, *epsilon, *d2])
    rows = np.zeros((len(t), 0))
    return fm.Result(system, t, np.array(q), np.array(v), np.array(rate), rows, rows)


def slope(history: np.ndarray) -> np.ndarray:
    return np.asarray((8 * (history[3] - history[1]) - history[4] + history[0]) / (12 * H))


@pytest.mark.parametrize(
    ("make", "place"), [(rod, "end"), (rod, 2), (rod, (0.9, 0.1, 0.2)), (plate, "x1"), (plate, (0.5, 0.1))]
)
def test_rates_are_the_derivatives_of_positions(make: object, place: object) -> None:
    body = make()  # type: ignore[operator]
    motion = smooth_motion(body)
    frame = body.at(place, axes=(0.3, -0.2, 0.5) if not body.planar else (0.0, 0.0, 0.4))
    assert_allclose(motion.velocity(frame)[2], slope(motion.position(frame)), atol=1e-8)
    assert_allclose(motion.acceleration(frame)[2], slope(motion.velocity(frame)), atol=1e-7)
    turning = slope(motion.rotation(frame)) @ motion.rotation(frame)[2].T
    assert_allclose(motion.angular_velocity(frame)[2], [turning[2, 1], turning[0, 2], turning[1, 0]], atol=1e-8)
    assert_allclose(motion.angular_acceleration(frame)[2], slope(motion.angular_velocity(frame)), atol=1e-7)
    assert np.linalg.norm(motion.deflection(frame, corrected=False)[2]) > 0.02  # it does deform


def test_frames_are_where_the_equations_have_them() -> None:
    """The same pose and twist as in the compiled evaluation, whose constraints the joints fulfil."""
    body = rod()
    motion = smooth_motion(body)
    frame = body.at("end", axes=(0.3, -0.2, 0.5))
    push = fm.AppliedForce("push", frame, force=(1.0, 0.0, 0.0))
    system = fm.System([fm.Ground(), body], [], [push])
    angles = np.zeros(len(system.layout.measure_kind))
    work = system.evaluate(0.0, motion.q[0], motion.v[0], angles)
    f = system.frames.find(frame)
    for found, expected in (
        (motion.position, work.frame_position),
        (motion.rotation, work.frame_rotation),
        (motion.velocity, work.frame_velocity),
        (motion.angular_velocity, work.frame_spin),
    ):
        assert_allclose(found(frame)[0], expected[f], rtol=1e-12, atol=1e-12)


def test_the_change_of_the_left_tangent_is_smooth_where_series_begin() -> None:
    theta = np.array([[0.00999, 0.0, 0.0], [0.01001, 0.0, 0.0]])
    a, change = np.tile([0.3, -0.2, 0.7], (2, 1)), np.tile([0.5, 0.1, -0.4], (2, 1))
    below, above = _left_change(theta, a, change)
    assert_allclose(below, above, atol=1e-5)


def test_deflection_from_a_chord_does_not_know_the_floating_frame() -> None:
    """Three frames that move as one rigid body leave no offset; a bow of the middle is the offset itself."""
    body = rod(frame=fm.Tangent("start"))
    motion = smooth_motion(body)
    middle = body.at(2)
    found = motion.deflection(middle, chord=("start", "end"), corrected=False)
    a, b, c = (motion.position(body.at(place)) for place in ("start", "end", 2))
    along = (b - a) / np.linalg.norm(b - a, axis=1, keepdims=True)
    offset = c - a - np.sum((c - a) * along, axis=1, keepdims=True) * along
    assert_allclose(np.linalg.norm(found[:, 1:], axis=1), np.linalg.norm(offset, axis=1), rtol=1e-9)
    assert_allclose(found[:, 0], np.sum((c - a) * along, axis=1) - 0.5, atol=1e-12)
    assert_allclose(motion.deflection(body.at("end"), chord=("start", "end"), corrected=False)[:, 1:], 0.0, atol=1e-14)
    assert_allclose(motion.deflection(body.at("start"), corrected=False), 0.0, atol=1e-12)  # the frame is held there


def test_exaggerated_shapes_leave_the_joints_where_they_are() -> None:
    body = rod()
    motion = smooth_motion(body)
    ends = [0, 4]
    plain, large = motion.deformed(body, at=0.0), motion.deformed(body, at=0.0, scale=20.0)
    local = body.mesh.points + motion.displacement(body, at=0.0, corrected=False)
    held = body.at()  # the axes in which nodes are at x + Φ d
    assert_allclose(plain, motion.position(held)[2] + local @ motion.rotation(held)[2].T, rtol=1e-12)
    held = np.array([motion.deflection(body.at(name), corrected=False)[2] for name in ("start", "end")])
    drawn = motion.displacement(body, at=0.0, corrected=False)[ends]
    # what the shapes of second order add at the interfaces is all that is left to grow
    assert np.linalg.norm(large[ends] - plain[ends], axis=1).max() <= 19 * np.abs(held - drawn).sum() + 1e-12
    assert np.linalg.norm(large - plain, axis=1).max() > 0.2
    assert motion.deformed(body, at=motion.t[:2]).shape == (2, 5, 3)


def test_what_cannot_be_asked_is_refused() -> None:
    body = rod()
    motion = smooth_motion(body)
    ground = motion.system.bodies[0]
    with pytest.raises(ModelError, match="a frame on a flexible body is needed"):
        motion.deflection(ground.at(0, 0, 0))
    with pytest.raises(ModelError, match="two sets or frames"):
        motion.deflection(body.at("end"), chord=("start",))
    with pytest.raises(ModelError, match="two different places"):
        motion.deflection(body.at(2), chord=("end", "end"))
    with pytest.raises(ModelError, match="of rod itself"):
        motion.deflection(body.at(2), chord=("start", rod().at("end")))
    with pytest.raises(ModelError, match="does not deform"):
        motion.displacement(ground)
    with pytest.raises(ModelError, match="scale must be a finite number"):
        motion.deformed(body, scale=float("nan"))
    with pytest.raises(fm.AnalysisError, match="at= takes one time"):
        motion.stress(body, at="now")
    with pytest.raises(fm.AnalysisError, match="outside"):
        motion.stress(body, at=1.0)
    with pytest.raises(ModelError, match="section forces"):
        motion.stress(body)
    with pytest.raises(ModelError, match="not in this system"):
        motion.von_mises(rod())
