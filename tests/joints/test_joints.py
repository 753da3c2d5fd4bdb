"""Each joint lets pass the motions it should and no others; drives, gears and screws keep their relations."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm
from flexmbs.rotations import exp, from_matrix, triad

MOTIONS = ("tx", "ty", "tz", "rx", "ry", "rz")
"""Translations and rotations of the second frame along and about the axes of the first, z being the joint's axis."""


class Pair:
    """A joint between a tilted frame on the ground and a tilted frame on a body."""

    def __init__(self, kind, z="z", **options):
        self.ground, self.body = fm.Ground(), fm.RigidBody.box("box", (0.3, 0.4, 0.5), 1000.0)
        self.frame = self.body.at(-0.2, 0.1, 0.4, axes=[0.5, 0.3, -0.8])
        self.base = self.ground.at(0.3, -0.2, 0.1, axes=[-0.4, 0.7, 0.2])
        self.joint = kind("joint", self.base, self.frame, **options)
        self.system = fm.System([self.ground, self.body], [self.joint])
        self.axes = triad(z)

    def errors(self, shift=(0, 0, 0), turn=(0, 0, 0), rotation=None):
        """Constraint errors φ with the second frame shifted and turned against the first, in axes with z the joint's.

        Only what differs from the first frame matters: ``rotation`` replaces ``turn``.
        """
        relative = self.axes @ (exp(turn) if rotation is None else rotation) @ self.axes.T
        placed = self.base.axes @ relative
        origin = self.base.position + self.base.axes @ self.axes @ np.asarray(shift, float)
        r = placed @ self.frame.axes.T
        q = np.concatenate([origin - r @ self.frame.position, from_matrix(r)])
        return self.system.evaluate(0.0, q, np.zeros(6)).phi

    def motion(self, name, size):
        vector = size * np.eye(3)["xyz".index(name[1])]
        return self.errors(shift=vector) if name[0] == "t" else self.errors(turn=vector)

    def derivative(self, h=1e-6):
        """(rows, 6): how the rows see each small motion."""
        return np.array([(self.motion(m, h) - self.motion(m, -h)) / (2 * h) for m in MOTIONS]).T


JOINTS = {
    fm.Fixed: (6, ""),
    fm.Revolute: (5, "rz"),
    fm.Prismatic: (5, "tz"),
    fm.Cylindrical: (4, "tz rz"),
    fm.Spherical: (3, "rx ry rz"),
    fm.PlaneJoint: (3, "tx ty rz"),
    fm.PointOnLine: (2, "tz rx ry rz"),
    fm.PointInPlane: (1, "tx ty rx ry rz"),
}
WITH_AXIS = [fm.Revolute, fm.Prismatic, fm.Cylindrical, fm.PlaneJoint, fm.PointOnLine, fm.PointInPlane]
CASES = [(kind, "z") for kind in JOINTS] + [(kind, a) for kind in WITH_AXIS for a in ("x", "-y", (0.3, -0.5, 0.8))]


@pytest.mark.parametrize(("kind", "axis"), CASES)
def test_joints_allow_their_motions_and_prevent_the_others(kind, axis):
    rows, allowed = JOINTS[kind]
    pair = Pair(kind, axis, **({"axis": axis} if kind in WITH_AXIS else {}))
    assert len(pair.joint.rows) == len(pair.system.rows) == rows
    assert_allclose(pair.errors(), np.zeros(rows), atol=1e-15)
    for name in allowed.split():
        assert_allclose(pair.motion(name, 0.4), np.zeros(rows), atol=1e-15, err_msg=name)
    prevented = [k for k, name in enumerate(MOTIONS) if name not in allowed.split()]
    seen = pair.derivative()[:, prevented]
    assert np.linalg.svd(seen, compute_uv=False).min(initial=np.inf) > 0.9, "each prevented motion and combination"
    assert pair.system.mobility == len(allowed.split()) == 6 - rows
    assert pair.system.redundant == ()


def test_universal_turns_about_the_axis_of_one_and_the_cross_of_the_other():
    pair = Pair(fm.Universal)
    assert len(pair.joint.rows) == 4
    assert pair.system.mobility == 2
    both = exp([0.6, 0, 0]) @ exp([0, -0.4, 0])
    assert_allclose(pair.errors(rotation=both), np.zeros(4), atol=1e-15)
    assert np.abs(pair.errors(rotation=exp([0, -0.4, 0]) @ exp([0.6, 0, 0]))).max() > 0.1
    for name in ("tx", "ty", "tz", "rz"):
        assert np.abs(pair.motion(name, 0.1)).max() > 0.05


def test_universal_joint_turns_unevenly():
    """Output ω₂/ω₁ = cos β / (1 - sin²β cos²θ) of a Hooke joint between shafts at the angle β."""
    beta = 0.5
    ground = fm.Ground()
    first, second = fm.RigidBody.cylinder("first", 0.1, 1, 1e3), fm.RigidBody.cylinder("second", 0.1, 1, 1e3)
    bearing = fm.Revolute("bearing", ground.at(), first.at(), axis="z")
    hooke = fm.Universal("hooke", first.at(), second.at(), axis="x", cross="y")
    other = fm.Cylindrical("other", ground.at(axes=[beta, 0, 0]), second.at(), axis="z")
    motor = fm.Drive("motor", bearing.angle, fm.ConstantSpeed(2.0))
    system = fm.System([ground, first, second], [bearing, hooke, other, motor])
    motion = fm.kinematics(system, np.linspace(0.0, 3.0, 13))
    speed = np.linalg.norm(motion.angular_velocity(second), axis=1)
    fork = motion.rotation(first)[:, :, 0]  # the fork's pin; θ is counted from where it lies along the bend's normal
    cosine = fork @ np.cross([0, 0, 1.0], exp([beta, 0, 0])[:, 2]) / np.sin(beta)
    assert_allclose(speed, 2.0 * np.cos(beta) / (1 - np.sin(beta) ** 2 * (1 - cosine**2)), rtol=1e-9)


def test_screw_advances_by_its_pitch():
    pair = Pair(fm.Screw, "x", axis="x", pitch=0.02)
    assert len(pair.joint.rows) == 5
    assert pair.system.mobility == 1
    turn = 0.7
    good = {"turn": (0, 0, turn), "shift": (0, 0, 0.02 * turn / (2 * np.pi))}
    assert_allclose(pair.errors(**good), np.zeros(5), atol=1e-15)
    assert np.abs(pair.motion("rz", turn)).max() > 1e-3
    assert np.abs(pair.motion("tz", 0.01)).max() > 5e-3
    for name in ("tx", "ty", "rx", "ry"):
        assert np.abs(pair.motion(name, 0.1)).max() > 0.05


def test_screw_counts_turns():
    ground, nut = fm.Ground(), fm.RigidBody.sphere("nut", 0.1, 1e3)
    screw = fm.Screw("screw", ground.at(), nut.at(), axis="y", pitch=-0.03)
    system = fm.System([ground, nut], [screw, fm.Drive("motor", screw.angle, fm.ConstantSpeed(2 * np.pi))])
    motion = fm.kinematics(system, np.linspace(0.0, 2.5, 26))
    assert_allclose(motion.position(nut)[:, 1], -0.03 * motion.t, atol=1e-12)


def test_distance_prevents_the_change_of_distance_alone():
    pair = Pair(fm.Distance, length=0.5)
    assert len(pair.joint.rows) == 1
    assert pair.system.mobility == 5
    for direction in np.random.default_rng(7).normal(size=(5, 3)):
        n = direction / np.linalg.norm(direction)
        assert_allclose(pair.errors(shift=0.5 * n, turn=direction), [0.0], atol=1e-15)
        assert_allclose(pair.errors(shift=0.6 * n), [0.1], atol=1e-15)


# ---- in the plane


class PlanarPair:
    def __init__(self, kind, **options):
        ground, self.body = fm.Ground(), fm.PlanarBody("plate", 1.0, 1.0)
        self.base, self.frame = ground.at(0.3, 0.2, axes=[0, 0, 0.4]), self.body.at(0.5, -0.1, axes=[0, 0, -0.3])
        self.joint = kind("joint", self.base, self.frame, **options)
        self.system = fm.System([ground, self.body], [self.joint])

    def errors(self, x=0.0, y=0.0, turn=0.0):
        """φ with the second frame shifted and turned in the axes of the first."""
        angle = 0.4 + turn + 0.3
        origin = self.base.position + self.base.axes @ [x, y, 0.0]
        at = origin - exp([0, 0, angle]) @ self.frame.position
        return self.system.evaluate(0.0, np.array([*at[:2], angle]), np.zeros(3)).phi


@pytest.mark.parametrize(
    ("kind", "options", "rows", "allowed", "prevented"),
    [
        (fm.planar.Revolute, {}, 2, [{"turn": 2.0}], [{"x": 0.1}, {"y": 0.1}]),
        (fm.planar.Prismatic, {}, 2, [{"x": 0.7}], [{"y": 0.1}, {"turn": 0.1}]),
        (fm.planar.Prismatic, {"axis": (3, 4)}, 2, [{"x": 0.6, "y": 0.8}], [{"x": 0.1}, {"turn": 0.1}]),
        (fm.planar.PointOnLine, {"axis": "y"}, 1, [{"y": 0.7}, {"turn": 2.0}], [{"x": 0.1}]),
        (fm.planar.Distance, {"length": 0.5}, 1, [{"x": 0.3, "y": -0.4}, {"x": 0.5, "turn": 1.0}], [{"x": 0.6}]),
    ],
)
def test_planar_joints(kind, options, rows, allowed, prevented):
    pair = PlanarPair(kind, **options)
    assert len(pair.joint.rows) == rows
    assert pair.system.mobility == 3 - rows
    for motion in allowed:
        assert_allclose(pair.errors(**motion), np.zeros(rows), atol=1e-15)
    for motion in prevented:
        assert np.abs(pair.errors(**motion)).max() > 0.05


# ---- drives and couplings


def test_drives_prescribe_value_rate_and_acceleration():
    ground, slider = fm.Ground(), fm.RigidBody.sphere("slider", 0.1, 1e3)
    rail = fm.Prismatic("rail", ground.at(), slider.at(), axis=(0, 3, 4))
    drive = fm.Drive("motor", rail.distance, lambda t: 0.3 * t**3)
    motion = fm.kinematics(fm.System([ground, slider], [rail, drive]), [0.0, 0.5, 1.0])
    n = np.array([0, 0.6, 0.8])
    assert_allclose(motion.position(slider), np.outer(0.3 * motion.t**3, n), atol=1e-12)
    assert_allclose(motion.velocity(slider), np.outer(0.9 * motion.t**2, n), atol=1e-7)
    assert_allclose(motion.acceleration(slider), np.outer(1.8 * motion.t, n), atol=1e-4)
    assert len(drive.rows) == 1


def test_a_number_as_drive_holds_the_joint():
    ground, arm = fm.Ground(), fm.PlanarBody("arm", 1.0, 1.0)
    hinge = fm.planar.Revolute("hinge", ground.at(), arm.at())
    motion = fm.kinematics(fm.System([ground, arm], [hinge, fm.Drive("lock", hinge.angle, 0.7)]), [0.0, 1.0])
    assert_allclose(motion.coordinate(hinge.angle), 0.7, rtol=1e-14)
    assert_allclose(motion.v, 0.0, atol=1e-14)


def wheels(couple):
    ground, one, two = fm.Ground(), fm.RigidBody.sphere("one", 0.1, 1e3), fm.RigidBody.sphere("two", 0.1, 1e3)
    first = fm.Revolute("first", ground.at(), one.at(), axis="z")
    second = fm.Revolute("second", ground.at(1, 0, 0), two.at(), axis="x")
    motor = fm.Drive("motor", first.angle, fm.ConstantSpeed(8.0))
    system = fm.System([ground, one, two], [first, second, couple(first.angle, second.angle), motor])
    motion = fm.kinematics(system, np.linspace(0, 2, 21))
    return motion.coordinate(first.angle), motion.coordinate(second.angle)


def test_gears_keep_their_ratio_over_turns():
    first, second = wheels(lambda a, b: fm.gear("gear", b, a, -2.5))
    assert first[-1] == pytest.approx(16.0, abs=1e-10)
    assert_allclose(second, -2.5 * first, atol=1e-10)


def test_couplings_have_factors_and_a_value_that_may_change():
    first, second = wheels(lambda a, b: fm.Coupling("mix", ((3.0, a), (2.0, b)), fm.Polynomial([0.0, 0.5])))
    t = np.linspace(0, 2, 21)
    assert_allclose(3 * first + 2 * second, np.asarray(fm.Polynomial([0.0, 0.5]).value(t)), atol=1e-10)


def test_rack_and_pinion():
    ground, pinion, rack = fm.Ground(), fm.PlanarBody("pinion", 1, 1), fm.PlanarBody("rack", 1, 1)
    hinge = fm.planar.Revolute("hinge", ground.at(), pinion.at())
    slide = fm.planar.Prismatic("slide", ground.at(), rack.at(), axis="x")
    mesh = fm.gear("mesh", slide.distance, hinge.angle, 0.05)
    motor = fm.Drive("motor", hinge.angle, fm.ConstantSpeed(5.0))
    motion = fm.kinematics(fm.System([ground, pinion, rack], [hinge, slide, mesh, motor]), np.linspace(0, 4, 21))
    assert_allclose(motion.position(rack)[:, 0], 0.25 * motion.t, atol=1e-12)


# ---- bad input

GROUND, BODY = fm.Ground(), fm.RigidBody.sphere("ball", 0.1, 1e3)
I, J = GROUND.at(), BODY.at()  # noqa: E741
ALL = [*JOINTS, fm.Screw, fm.Universal, fm.Distance]
PLANAR = [fm.planar.Revolute, fm.planar.Prismatic, fm.planar.PointOnLine]
STARTED = [fm.Revolute, fm.Prismatic, fm.Cylindrical, fm.Screw, *PLANAR]


@pytest.mark.parametrize("kind", [*ALL, *PLANAR])
def test_joints_refuse_what_is_no_name_and_no_frame(kind):
    with pytest.raises(fm.ModelError, match="needs a name"):
        kind("", I, J)
    with pytest.raises(fm.ModelError, match="hinge: a joint connects frames"):
        kind("hinge", I, BODY)
    with pytest.raises(fm.ModelError, match="both frames are on 'ball'"):
        kind("hinge", BODY.at(1, 0, 0), J)


@pytest.mark.parametrize("kind", [*WITH_AXIS, fm.Screw, fm.Universal, fm.planar.Prismatic, fm.planar.PointOnLine])
@pytest.mark.parametrize("axis", ["w", (0, 0, 0), (1, 2, 3, 4), (1, float("nan"), 0)])
def test_joints_refuse_what_is_no_axis(kind, axis):
    with pytest.raises(fm.FlexmbsError, match="axis must be"):
        kind("joint", I, J, axis=axis)


@pytest.mark.parametrize("kind", STARTED)
@pytest.mark.parametrize("what", ["start", "rate"])
def test_joints_refuse_starts_that_are_no_numbers(kind, what):
    with pytest.raises(fm.ModelError, match=f"joint: {what} must be a finite number"):
        kind("joint", I, J, **{what: "fast"})
    with pytest.raises(fm.ModelError, match=f"joint: {what} must be a finite number"):
        kind("joint", I, J, **{what: float("inf")})


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: fm.Screw("s", I, J, pitch=float("nan")), "s: pitch must be a finite number"),
        (lambda: fm.Universal("u", I, J, cross="w"), "cross must be"),
        (lambda: fm.Distance("d", I, J, length=0.0), "d: length must be a positive number"),
        (lambda: fm.planar.Distance("d", I, J, length="long"), "d: length must be a positive number"),
        (lambda: fm.planar.Prismatic("p", I, J, axis="z"), "lies in the x-y plane"),
        (lambda: fm.planar.PointOnLine("p", I, J, axis=(1, 0, 1)), "lies in the x-y plane"),
        (lambda: fm.Drive("", fm.Revolute("r", I, J).angle, 1.0), "needs a name"),
        (lambda: fm.Drive("m", fm.Revolute("r", I, J), 1.0), "m: a joint's coordinate is needed"),
        (lambda: fm.Coupling("", ((1.0, fm.Revolute("r", I, J).angle),)), "needs a name"),
        (lambda: fm.Coupling("c", ()), "c: terms are pairs"),
        (lambda: fm.Coupling("c", ((1.0, "angle"),)), "c: a joint's coordinate is needed"),
        (lambda: fm.Coupling("c", (("two", fm.Revolute("r", I, J).angle),)), "c: factor must be a finite number"),
        (lambda: fm.gear("g", fm.Revolute("r", I, J).angle, None, 2.0), "g: a joint's coordinate is needed"),
        (lambda: fm.gear("g", fm.Revolute("r", I, J).angle, fm.Revolute("r", I, J).angle, "2:1"), "g: ratio must be"),
    ],
)
def test_bad_input_is_refused_in_words(build, message):
    with pytest.raises(fm.FlexmbsError, match=message):
        build()


def test_a_drive_of_something_else_than_a_motion_is_refused():
    hinge = fm.Revolute("hinge", I, J)
    with pytest.raises(fm.FlexmbsError):
        fm.System([GROUND, BODY], [hinge, fm.Drive("motor", hinge.angle, "fast")])
