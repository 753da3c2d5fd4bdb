"""What a joint leaves free: its motion subspace is what its rows do not hold, and its coordinates bring it anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm
from flexmbs.joints.freedom import JointMotion
from flexmbs.rotations import exp, from_matrix, log, to_matrix

SPATIAL = {
    "fixed": (fm.Fixed, {}, 0),
    "revolute": (fm.Revolute, {"axis": (0.3, -1.0, 0.4)}, 1),
    "prismatic": (fm.Prismatic, {"axis": (0.3, -1.0, 0.4)}, 1),
    "cylindrical": (fm.Cylindrical, {"axis": "y"}, 2),
    "screw": (fm.Screw, {"axis": (1.0, 1.0, 0.2), "pitch": 0.7}, 1),
    "spherical": (fm.Spherical, {}, 3),
    "universal": (fm.Universal, {}, 2),
    "universal askew": (fm.Universal, {"axis": (1.0, 0.2, 0.0), "cross": (0.5, 1.0, -0.3)}, 2),
    "plane": (fm.PlaneJoint, {"axis": (0.2, 0.5, -1.0)}, 3),
}
PLANAR = {"revolute": (fm.planar.Revolute, {}, 1), "prismatic": (fm.planar.Prismatic, {"axis": (1.0, 0.4)}, 1)}


def random_coordinates(motion: JointMotion, rng: Any) -> np.ndarray:
    parts = [rng.normal(size=4) if f.ball else rng.normal(size=1) for f in motion.freedoms]
    return np.concatenate([np.zeros(0), *(p / np.linalg.norm(p) if len(p) == 4 else p for p in parts)])


def placed(rng: Any, joint_type: Any, options: dict[str, Any], planar: bool) -> tuple[fm.System, Any, np.ndarray, Any]:
    """Two free bodies with a joint between random frames, placed where random coordinates of it bring them."""

    def turn() -> np.ndarray:
        return np.array([0.0, 0.0, rng.normal()]) if planar else rng.normal(size=3)

    def point() -> np.ndarray:
        return np.array([*rng.normal(size=2), 0.0 if planar else rng.normal()])

    kind: Any = (lambda n: fm.PlanarBody(n, 1.0, 1.0)) if planar else (lambda n: fm.RigidBody(n, 1.0, (1.0, 1.0, 1.0)))
    one, two = kind("one"), kind("two")
    i, j = one.at(*point(), axes=exp(turn())), two.at(*point(), axes=exp(turn()))
    joint = joint_type("joint", i, j, **options)
    x = random_coordinates(joint.motion, rng)
    rotation, position = joint.motion.pose(x)
    first, place = exp(turn()), point()
    end = first @ i.axes @ rotation @ j.axes.T
    there = place + first @ (i.position + i.axes @ position) - end @ j.position
    system = fm.System([fm.Ground(), one, two], [joint])
    return system, joint, x, ((first, place), (end, there))


def coordinates(poses: Any, planar: bool) -> np.ndarray:
    if planar:
        return np.concatenate([[*p[:2], log(r)[2]] for r, p in poses])
    return np.concatenate([[*p, *from_matrix(r)] for r, p in poses])


CASES = [(False, *case) for case in SPATIAL.values()] + [(True, *case) for case in PLANAR.values()]


@pytest.mark.parametrize(("planar", "joint_type", "options", "free"), CASES)
def test_rows_hold_what_the_subspace_leaves(planar: bool, joint_type: Any, options: Any, free: int) -> None:
    rng = np.random.default_rng(7)
    for _ in range(4):
        system, joint, x, poses = placed(rng, joint_type, options, planar)
        q = coordinates(poses, planar)
        angles = np.zeros(len(system.layout.measure_kind))
        if joint_type is fm.Screw:
            angles[system.measure_number(joint.angle)] = x[0]
        work = system.evaluate(0.0, q, np.zeros(system.n_v), angles)
        assert_allclose(work.phi, 0.0, atol=1e-13)
        jacobian = system.jacobian(work).toarray()
        subspace = joint.motion.subspace(x)
        assert subspace.shape == (6, free) == (6, joint.motion.speeds)
        # twists of the second frame in its own axes are velocities of the second body, the first at rest
        (_, _), (end, _) = poses
        frame = end @ joint.frame_j.axes
        arm = end @ joint.frame_j.position
        linear, spin = frame @ subspace[:3], frame @ subspace[3:]
        velocity = linear - np.cross(spin.T, arm).T
        half = system.n_v // 2
        moving = np.vstack([velocity[:2], spin[2]]) if planar else np.vstack([velocity, end.T @ spin])
        assert_allclose(jacobian[:, half:] @ moving, 0.0, atol=1e-13)
        assert np.linalg.matrix_rank(jacobian[:, half:], tol=1e-9) + free == half
        assert np.linalg.matrix_rank(moving, tol=1e-9) == free


@pytest.mark.parametrize(("planar", "joint_type", "options", "free"), CASES)
def test_coordinates_are_found_again(planar: bool, joint_type: Any, options: Any, free: int) -> None:
    rng = np.random.default_rng(3)
    ground = fm.Ground()
    body = fm.PlanarBody("body", 1.0, 1.0) if planar else fm.RigidBody("body", 1.0, (1.0, 1.0, 1.0))
    motion = joint_type("joint", ground.at(0, 0, 0), body.at(0, 0, 0), **options).motion
    for _ in range(4):
        x = random_coordinates(motion, rng)
        found, rest, miss = motion.coordinates(*motion.pose(x))
        assert miss < 1e-14 * 10
        assert_allclose(rest, motion.rest, atol=1e-14)
        for a, b in zip(motion.pose(found), motion.pose(x), strict=True):
            assert_allclose(a, b, atol=1e-13)


def test_a_frame_turned_back_is_found_too() -> None:
    """Rows that hold axes parallel do not say which way they point."""
    ground, body = fm.Ground(), fm.RigidBody("body", 1.0, (1.0, 1.0, 1.0))
    motion = fm.Revolute("hinge", ground.at(0, 0, 0), body.at(0, 0, 0)).motion
    turned = np.diag([1.0, -1.0, -1.0])
    x, rest, miss = motion.coordinates(exp([0.0, 0.0, 0.4]) @ turned, np.zeros(3))
    assert miss < 1e-14
    assert_allclose(JointMotion(motion.freedoms, rest).pose(x)[0], exp([0.0, 0.0, 0.4]) @ turned, atol=1e-15)


def test_a_screw_finds_the_turn_that_fits_its_advance() -> None:
    ground, body = fm.Ground(), fm.RigidBody("body", 1.0, (1.0, 1.0, 1.0))
    motion = fm.Screw("screw", ground.at(0, 0, 0), body.at(0, 0, 0), pitch=0.2).motion
    x = np.array([5.3 * 2 * np.pi])
    assert_allclose(motion.pose(x)[1], (0.0, 0.0, 5.3 * 0.2), atol=1e-14)
    assert_allclose(motion.coordinates(*motion.pose(x))[0], x, atol=1e-12)


def test_what_is_no_lower_pair_declares_no_motion() -> None:
    ground, body = fm.Ground(), fm.RigidBody("body", 1.0, (1.0, 1.0, 1.0))
    for joint_type in (fm.Distance, fm.PointOnLine, fm.PointInPlane, fm.KnifeEdge):
        assert joint_type("joint", ground.at(0, 0, 0), body.at(0, 0, 0)).motion is None


def test_ball_turns_by_its_quaternion() -> None:
    ground, body = fm.Ground(), fm.RigidBody("body", 1.0, (1.0, 1.0, 1.0))
    motion = fm.Spherical("ball", ground.at(0, 0, 0), body.at(0, 0, 0)).motion
    q = np.array([0.5, 0.5, -0.5, 0.5])
    assert_allclose(motion.pose(q)[0], to_matrix(q), atol=1e-15)
    assert_allclose(motion.subspace(q), np.vstack([np.zeros((3, 3)), np.eye(3)]), atol=1e-15)
