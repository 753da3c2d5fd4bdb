"""Forward kinematics of serial chains against products of homogeneous transforms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm
from flexmbs.rotations import axis_angle, transform

LENGTHS = (0.4, 0.5, 0.3)
ANGLES = (lambda t: 0.3 + 1.2 * t, lambda t: -0.5 + 0.7 * t**2, lambda t: 0.9 * np.sin(3 * t))


def arm() -> tuple[fm.Result, list[fm.RigidBody]]:
    """A 3R arm: a turning column along z, then shoulder and elbow about y, each link along its own x or z."""
    ground = fm.Ground()
    column, upper, fore = (fm.RigidBody.sphere(name, 0.05, 1e3) for name in ("column", "upper", "fore"))
    joints = [
        fm.Revolute("waist", ground.at(0.1, 0.2, 0), column.at(), axis="z"),
        fm.Revolute("shoulder", column.at(0, 0, LENGTHS[0]), upper.at(), axis="y"),
        fm.Revolute("elbow", upper.at(LENGTHS[1], 0, 0), fore.at(), axis="y"),
    ]
    drives = [
        fm.Drive("waist_motor", joints[0].angle, fm.Polynomial([0.3, 1.2])),
        fm.Drive("shoulder_motor", joints[1].angle, fm.Polynomial([-0.5, 0.0, 0.7])),
        fm.Drive("elbow_motor", joints[2].angle, ANGLES[2]),
    ]
    system = fm.System([ground, column, upper, fore], [*joints, *drives])
    return fm.kinematics(system, np.linspace(0.0, 2.0, 11)), [column, upper, fore]


def turn(axis: str, angle: float) -> np.ndarray:
    return transform(axis_angle(axis, angle), (0, 0, 0))


def shift(*by: float) -> np.ndarray:
    return transform(np.eye(3), by)


def test_the_end_of_a_3r_arm_is_the_product_of_its_transforms() -> None:
    motion, (column, _, fore) = arm()
    tool = fore.at(LENGTHS[2], 0, 0, axes=[0.2, -0.4, 0.1])
    found = motion.transform(tool)
    assert found.shape == (11, 4, 4)
    for k, t in enumerate(motion.t):
        one, two, three = (angle(t) for angle in ANGLES)
        base = shift(0.1, 0.2, 0) @ turn("z", one)
        expected = base @ shift(0, 0, LENGTHS[0]) @ turn("y", two) @ shift(LENGTHS[1], 0, 0) @ turn("y", three)
        assert_allclose(found[k], expected @ transform(tool.axes, (LENGTHS[2], 0, 0)), atol=1e-11)
        assert_allclose(motion.transform(fore)[k], expected, atol=1e-11)
        assert_allclose(motion.transform(column)[k], base, atol=1e-11)


def test_the_reach_of_a_3r_arm_in_closed_form() -> None:
    """Radius and height of the wrist: l₂ cos θ₂ + l₃ cos(θ₂ + θ₃) and l₁ - l₂ sin θ₂ - l₃ sin(θ₂ + θ₃)."""
    motion, (_, _, fore) = arm()
    end = motion.transform(fore.at(LENGTHS[2], 0, 0))[:, :3, 3]
    one, two, three = (np.array([angle(t) for t in motion.t]) for angle in ANGLES)
    radius = LENGTHS[1] * np.cos(two) + LENGTHS[2] * np.cos(two + three)
    height = LENGTHS[0] - LENGTHS[1] * np.sin(two) - LENGTHS[2] * np.sin(two + three)
    expected = np.stack([0.1 + radius * np.cos(one), 0.2 + radius * np.sin(one), height], axis=1)
    assert_allclose(end, expected, atol=1e-11)


def test_transforms_of_planar_bodies_and_the_ground() -> None:
    ground, plate = fm.Ground(), fm.PlanarBody("plate", 1.0, 1.0, position=(1, 2), angle=0.4)
    system = fm.System([ground, plate], [fm.planar.Revolute("hinge", ground.at(1, 2), plate.at(), start=0.4)])
    rest = fm.forward_dynamics(system, 1.0, step=0.5)
    expected = transform(axis_angle("z", 0.4), (1, 2, 0)) @ shift(0.3, 0.1, 0)
    assert_allclose(rest.transform(plate.at(0.3, 0.1)), np.broadcast_to(expected, (3, 4, 4)), atol=1e-12)
    assert_allclose(rest.transform(ground)[0], np.eye(4), atol=0)


def test_what_has_no_transform_is_refused() -> None:
    motion, _ = arm()
    with pytest.raises(fm.ModelError, match="is not in this system"):
        motion.transform(fm.RigidBody.sphere("stranger", 1.0, 1.0))
    with pytest.raises(fm.ModelError, match="nothing in the system is named 'four'"):
        motion.transform("four")
