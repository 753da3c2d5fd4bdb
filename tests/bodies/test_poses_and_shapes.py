"""Ways to say how a body is turned and placed, and shapes of planar bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm
from flexmbs import rotations

RNG = np.random.default_rng(8)
GOOD = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}
TURN = rotations.exp(RNG.normal(size=3))
STEEL = fm.Material(young=2e11, poisson=0.3, density=7850.0)


def turned(rotation: Any) -> np.ndarray:
    return fm.RigidBody("b", **GOOD, rotation=rotation).initial[1]


@pytest.mark.parametrize(
    "form",
    [
        TURN,
        rotations.from_matrix(TURN),
        rotations.log(TURN),
        ("zxz", rotations.to_euler("zxz", TURN)),
        ("xyz", tuple(rotations.to_euler("xyz", TURN))),
        ["ZYX", rotations.to_euler("ZYX", TURN)],
        (rotations.log(TURN), float(np.linalg.norm(rotations.log(TURN)))),
    ],
    ids=["matrix", "quaternion", "vector", "zxz", "xyz", "fixed axes", "axis and angle"],
)
def test_forms_of_a_rotation_that_say_the_same(form: Any) -> None:
    assert_allclose(turned(form), TURN, atol=1e-12)
    assert_allclose(fm.Ground().at(1, 2, 3, axes=form).axes, TURN, atol=1e-12)


def test_an_axis_by_name_and_an_angle() -> None:
    assert_allclose(turned(("y", np.pi / 2)), [[0, 0, 1], [0, 1, 0], [-1, 0, 0]], atol=1e-15)


def test_a_transform_places_bodies_and_frames() -> None:
    pose = rotations.transform(TURN, (1, 2, 3))
    body = fm.RigidBody("b", **GOOD, pose=pose, velocity=(1, 0, 0))
    assert_allclose(body.initial[0], [1, 2, 3])
    assert_allclose(body.initial[1], TURN)
    system = fm.System([body])
    motion = fm.forward_dynamics(system, 0.1, step=0.1)
    assert_allclose(motion.transform(body)[0], pose, atol=1e-14)
    frame = body.at(pose)
    assert_allclose(frame.position, [1, 2, 3])
    assert_allclose(motion.transform(frame)[0], pose @ pose, atol=1e-14)


def test_planar_shapes_are_slices_of_the_solid_ones() -> None:
    solid = fm.RigidBody.box("b", (0.3, 0.2, 0.05), 7850.0)
    plate = fm.PlanarBody.box("b", (0.3, 0.2), 7850.0, thickness=0.05, angle=0.3)
    assert (plate.mass, plate.inertia) == pytest.approx((solid.mass, solid.mass_parameters[2][2, 2]))
    assert plate.angle == 0.3
    round_solid = fm.RigidBody.cylinder("c", 0.1, 0.05, 7850.0)
    disc = fm.PlanarBody.disc("c", 0.1, 7850.0, thickness=0.05)
    assert (disc.mass, disc.inertia) == pytest.approx((round_solid.mass, round_solid.mass_parameters[2][2, 2]))
    rod = fm.PlanarBody.rod("r", 2.0, 3.0)
    assert (rod.mass, rod.inertia) == pytest.approx((3.0, 1.0))


@pytest.mark.parametrize("plane", [True, False])
def test_a_meshed_plate_is_the_plate(plane: bool) -> None:
    """Off its middle: the mesh of a rectangle starts at the origin, that of a box is cut along z."""
    if plane:
        mesh = fm.Mesh.rectangle((0.3, 0.2), (3, 2))
        body = fm.PlanarBody.from_mesh("b", mesh, 7850.0, thickness=0.05, angular_velocity=2.0)
    else:
        mesh = fm.Mesh.box((0.3, 0.2, 0.05), (3, 2, 1))
        body = fm.PlanarBody.from_mesh("b", fm.Elements(mesh, STEEL), angular_velocity=2.0)
    plate = fm.PlanarBody.box("b", (0.3, 0.2), 7850.0, thickness=0.05)
    middle = mesh.points.min(axis=0)[:2] / 2 + mesh.points.max(axis=0)[:2] / 2
    assert_allclose(body.mass_parameters[1][:2], middle, atol=1e-15)
    assert body.mass == pytest.approx(plate.mass)
    about = body.mass_parameters[2][2, 2] - plate.mass * middle @ middle
    assert about == pytest.approx(plate.inertia)
    assert body.angular_velocity == 2.0


class TestAttitudeOverTime:
    """Outputs of a tumbling body, against one rotation at a time."""

    motion: fm.Result
    body: fm.RigidBody

    @pytest.fixture(autouse=True)
    def _tumble(self) -> None:
        self.body = fm.RigidBody(
            "b", 1.0, (1.0, 2.0, 2.5), position=(0, 0, 0), rotation=(0.4, 0.5, 0.6), angular_velocity=(1, 4, 0.1)
        )
        self.motion = fm.forward_dynamics(fm.System([self.body]), 6.0, step=0.02)

    def test_quaternions_are_those_of_the_rotations_without_jumps(self) -> None:
        q = self.motion.quaternion(self.body)
        assert_allclose(np.linalg.norm(q, axis=1), 1.0, rtol=1e-14)
        assert_allclose(rotations.to_matrix(q), self.motion.rotation(self.body), atol=1e-13)
        assert np.abs(np.diff(q, axis=0)).max() < 0.1
        assert q[:, 0].min() < -0.5  # a turn and a half: a quaternion kept positive would jump

    @pytest.mark.parametrize("sequence", ["zxz", "xyz", "ZYX"])
    def test_euler_angles_give_the_rotations_back(self, sequence: str) -> None:
        frame = self.body.at(0, 0, 0, axes=(0.2, -0.1, 0.3))
        angles = self.motion.euler_angles(frame, sequence)
        back = np.array([rotations.from_euler(sequence, a) for a in angles])
        assert_allclose(back, self.motion.rotation(frame), atol=1e-12)
        assert np.abs(np.diff(angles, axis=0)).max() < 3.0

    def test_rotation_vectors_give_the_rotations_back(self) -> None:
        vectors = self.motion.rotation_vector(self.body)
        back = np.array([rotations.exp(v) for v in vectors])
        assert_allclose(back, self.motion.rotation(self.body), atol=1e-12)
        assert np.linalg.norm(vectors, axis=1).max() <= np.pi

    def test_singular_sequences_are_refused_with_the_time(self) -> None:
        still = fm.forward_dynamics(fm.System([fm.RigidBody("b", **GOOD)]), 1.0, step=0.5)
        body = still.system.bodies[0]
        with pytest.raises(fm.ModelError, match=r"at t = 0 s: Euler angles 'zxz' are not unique here"):
            still.euler_angles(body, "zxz")
        with pytest.raises(fm.FlexmbsError, match="an Euler sequence is three of"):
            still.euler_angles(body, "abc")
        assert_allclose(still.euler_angles(body, "xyz"), 0.0, atol=1e-15)
        assert_allclose(still.rotation_vector(body), 0.0, atol=1e-15)


def test_angles_of_planar_bodies_and_the_ground() -> None:
    ground = fm.Ground()
    wheel = fm.PlanarBody("wheel", 1.0, 1.0, angle=0.3, angular_velocity=2.0)
    motion = fm.forward_dynamics(fm.System([ground, wheel]), 5.0, step=0.1)
    assert_allclose(motion.euler_angles(wheel, "xyz")[:, 2], 0.3 + 2 * motion.t, atol=1e-9)
    assert_allclose(motion.quaternion(ground), np.tile([1.0, 0, 0, 0], (len(motion.t), 1)))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: turned(("zxx", (1, 2, 3))), "b: rotation: Euler sequence 'zxx' turns twice"),
        (lambda: turned(("zxz", (1, 2))), "b: rotation: Euler angles are three numbers"),
        (lambda: turned(("zxz", (1, np.nan, 2))), "b: rotation: Euler angles are three numbers"),
        (lambda: turned(("w", 0.3)), 'b: rotation: axis must be "x", "y", "z"'),
        (lambda: turned(((0, 0, 0), 0.3)), "b: rotation: axis must be three numbers"),
        (lambda: turned(("z", "far")), "b: rotation must be"),
        (lambda: turned("zxz"), "b: rotation must be numbers"),
        (lambda: fm.RigidBody("b", **GOOD, pose=np.eye(3)), "b: pose: a homogeneous transform is a"),
        (lambda: fm.RigidBody("b", **GOOD, pose=2 * np.eye(4)), "b: pose: a homogeneous transform is a"),
        (lambda: fm.RigidBody("b", **GOOD, pose=np.eye(4), position=(0, 0, 0)), "b: give either pose or position"),
        (lambda: fm.Ground().at(3 * np.eye(4)), r"ground.at\(\): a homogeneous transform is"),
        (lambda: fm.PlanarBody.box("p", (1, 2, 3), 1.0), "p: size must be 2 numbers"),
        (lambda: fm.PlanarBody.box("p", (1, -2), 1.0), "p: size must be a positive number"),
        (lambda: fm.PlanarBody.box("p", (1, 2), 0.0), "p: density must be a positive number"),
        (lambda: fm.PlanarBody.box("p", (1, 2), 1.0, thickness=-1), "p: thickness must be a positive number"),
        (lambda: fm.PlanarBody.disc("p", 0.0, 1.0), "p: radius must be a positive number"),
        (lambda: fm.PlanarBody.rod("p", 0.0, 1.0), "p: length must be a positive number"),
        (lambda: fm.PlanarBody.rod("p", 1.0, "heavy"), "p: mass must be a positive number"),
        (lambda: fm.PlanarBody.from_mesh("p", "mesh.msh", 1.0), "p: a Mesh or Elements is needed, not str"),
        (lambda: fm.PlanarBody.from_mesh("p", fm.Mesh.rectangle((1, 1), (1, 1))), "p: density must be a positive"),
        (lambda: fm.PlanarBody.from_mesh("p", fm.Mesh.rectangle((1, 1), (1, 1)), 1.0, -1.0), "p: thickness must be"),
    ],
)
def test_bad_input_is_refused_in_words(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(fm.ModelError, match=message):
        build()
