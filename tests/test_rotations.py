"""Rotations against scipy.spatial.transform, matrix functions and identities of the exponential map."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.linalg
from scipy.spatial.transform import Rotation

from flexmbs import rotations
from flexmbs.errors import FlexmbsError

TURNED = [a + b + c for a, b, c in product("xyz", repeat=3) if a != b and b != c]
SEQUENCES = [*TURNED, *(s.upper() for s in TURNED)]
SIZES = [0.0, 1e-12, 0.5e-4, 1.5e-4, 1e-2, 1.0, np.pi - 1e-7, np.pi]


def vectors(size, count=5):
    directions = np.random.default_rng(7).normal(size=(count, 3))
    return size * directions / np.linalg.norm(directions, axis=1, keepdims=True)


def scipy_euler(sequence, angles):
    """Their capital letters are turned axes, ours are fixed ones."""
    return Rotation.from_euler(sequence.swapcase(), angles)


# ---- vectors and axes


def test_skew_is_the_cross_product():
    a, b = np.random.default_rng(7).normal(size=(2, 3))
    np.testing.assert_allclose(rotations.skew(a) @ b, np.cross(a, b), rtol=0, atol=1e-15)


def test_axes_by_name_and_by_vector():
    np.testing.assert_array_equal(rotations.axis_vector("y"), [0, 1, 0])
    np.testing.assert_array_equal(rotations.axis_vector("-z"), [0, 0, -1])
    np.testing.assert_array_equal(rotations.axis_vector("+x"), [1, 0, 0])
    np.testing.assert_allclose(rotations.axis_vector([0, 3, 4]), [0, 0.6, 0.8], rtol=1e-15)


@pytest.mark.parametrize("axis", ["x", "-x", "y", "-y", "z", "-z", *vectors(3.0)])
def test_triads_are_right_handed_about_their_axis(axis):
    t = rotations.triad(axis)
    np.testing.assert_allclose(t.T @ t, np.eye(3), rtol=0, atol=1e-15)
    assert np.linalg.det(t) > 0
    np.testing.assert_allclose(t[:, 2], rotations.axis_vector(axis), rtol=0, atol=1e-15)


def test_triads_of_the_axes_are_cyclic():
    np.testing.assert_array_equal(rotations.triad("z"), np.eye(3))
    np.testing.assert_array_equal(rotations.triad("x"), np.eye(3)[:, [1, 2, 0]])
    np.testing.assert_array_equal(rotations.triad("y"), np.eye(3)[:, [2, 0, 1]])


# ---- exponential map


@pytest.mark.parametrize("size", SIZES)
def test_exp_is_the_matrix_exponential(size):
    for psi in vectors(size):
        np.testing.assert_allclose(rotations.exp(psi), scipy.linalg.expm(rotations.skew(psi)), rtol=0, atol=1e-14)


@pytest.mark.parametrize("size", SIZES)
def test_log_gives_the_rotation_vector_back(size):
    for psi in vectors(size):
        found = rotations.log(rotations.exp(psi))
        if size == np.pi:  # half a turn either way
            found = found * np.sign(found @ psi)
        np.testing.assert_allclose(found, psi, rtol=0, atol=1e-14 + 1e-12 * size)


def test_log_of_half_turns_about_the_axes():
    for axis in "xyz":
        assert abs(rotations.log(rotations.axis_angle(axis, np.pi)) @ rotations.axis_vector(axis)) == np.pi


def test_long_rotation_vectors_come_back_short():
    n = rotations.axis_vector([1, 2, -2])
    np.testing.assert_allclose(rotations.log(rotations.exp((2 * np.pi + 0.3) * n)), 0.3 * n, rtol=0, atol=1e-14)


@pytest.mark.parametrize("size", [0.0, 0.5e-4, 1.5e-4, 1e-2, 1.0, 3.0, 5.0])
def test_tangent_maps_rates_to_the_spin_in_the_turned_frame(size):
    """R(ψ + h ψ') = R(ψ) exp(h T ψ'), to second order in h by central differences."""
    rng, h = np.random.default_rng(7), 1e-4
    for psi in vectors(size):
        rate = rng.normal(size=3)
        ahead, behind = rotations.exp(psi + h * rate), rotations.exp(psi - h * rate)
        spin = rotations.log(behind.T @ ahead) / (2 * h)
        np.testing.assert_allclose(rotations.tangent_matrix(psi) @ rate, spin, rtol=0, atol=1e-7)


@pytest.mark.parametrize("size", SIZES)
def test_tangent_in_fixed_and_turned_axes(size):
    """T(-ψ) = exp(ψ) T(ψ) to rounding, T(ψ) ψ = ψ."""
    for psi in vectors(size):
        t, back = rotations.tangent_matrix(psi), rotations.tangent_matrix(-psi)
        np.testing.assert_allclose(back, rotations.exp(psi) @ t, rtol=0, atol=3e-15)
        np.testing.assert_allclose(t @ psi, psi, rtol=0, atol=3e-15)


# ---- quaternions


def test_quaternions_against_scipy():
    for r in Rotation.random(40, rng=np.random.default_rng(7)):
        w = r.as_quat(canonical=True, scalar_first=True)
        np.testing.assert_allclose(rotations.from_matrix(r.as_matrix()), w, rtol=0, atol=1e-14)
        np.testing.assert_allclose(rotations.to_matrix(3.0 * w), r.as_matrix(), rtol=0, atol=1e-14)
        out = np.empty((3, 3))
        rotations.quaternion_matrix(w, out)
        np.testing.assert_allclose(out, r.as_matrix(), rtol=0, atol=1e-14)


def test_quaternions_of_half_turns():
    """Each branch of the extraction, where the scalar part vanishes."""
    for n in [*np.eye(3), *vectors(1.0)]:
        q = rotations.from_matrix(2 * np.outer(n, n) - np.eye(3))
        np.testing.assert_allclose(np.abs(q[1:] @ n), 1.0, rtol=1e-14)


def test_many_quaternions_at_once():
    many = Rotation.random(6, rng=np.random.default_rng(7))
    q = many.as_quat(scalar_first=True).reshape(2, 3, 4)
    np.testing.assert_allclose(rotations.to_matrix(q), many.as_matrix().reshape(2, 3, 3, 3), rtol=0, atol=1e-14)


def test_product_is_the_product_of_matrices_and_stays_a_unit():
    a, b = np.random.default_rng(7).normal(size=(2, 4))
    out = np.empty(4)
    rotations.quaternion_product(a, b, out)
    np.testing.assert_allclose(np.linalg.norm(out), 1.0, rtol=1e-15)
    np.testing.assert_allclose(
        rotations.to_matrix(out), rotations.to_matrix(a) @ rotations.to_matrix(b), rtol=0, atol=1e-14
    )


# ---- Euler angles


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_euler_angles_against_scipy(sequence):
    rng = np.random.default_rng(7)
    for angles in rng.uniform(-np.pi, np.pi, (10, 3)):
        r = rotations.from_euler(sequence, angles)
        reference = scipy_euler(sequence, angles)
        np.testing.assert_allclose(r, reference.as_matrix(), rtol=0, atol=1e-14)
        np.testing.assert_allclose(
            rotations.to_euler(sequence, r), reference.as_euler(sequence.swapcase()), rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_singular_euler_angles_are_refused(sequence):
    where = [0.0, np.pi] if sequence[0] == sequence[2] else [np.pi / 2, -np.pi / 2]
    for middle in where:
        r = rotations.from_euler(sequence, [0.4, middle, -0.3])
        with pytest.raises(FlexmbsError, match=r"not unique here: the middle angle is .* degrees.*another sequence"):
            rotations.to_euler(sequence, r)


@pytest.mark.parametrize(
    ("sequence", "message"),
    [("xy", "three of"), ("xyw", "three of"), ("xyZ", "three of"), ("xxz", "twice about"), ("ZXX", "twice about")],
)
def test_what_is_no_sequence_is_refused(sequence, message):
    with pytest.raises(FlexmbsError, match=message):
        rotations.from_euler(sequence, [0.1, 0.2, 0.3])
    with pytest.raises(FlexmbsError, match=message):
        rotations.to_euler(sequence, np.eye(3))


# ---- transforms and input


def test_transforms_chain_and_split():
    rng = np.random.default_rng(7)
    (r1, r2), (p1, p2), x = Rotation.random(2, rng=rng).as_matrix(), rng.normal(size=(2, 3)), rng.normal(size=3)
    both = rotations.transform(r1, p1) @ rotations.transform(r2, p2)
    np.testing.assert_allclose((both @ [*x, 1.0])[:3], p1 + r1 @ (p2 + r2 @ x), rtol=0, atol=1e-14)
    rotation, position = rotations.split_transform(both)
    np.testing.assert_allclose(rotation, r1 @ r2, rtol=0, atol=1e-14)
    np.testing.assert_allclose(position, p1 + r1 @ p2, rtol=0, atol=1e-14)
    position[:] = 0.0
    assert both[:3, 3].any(), "split_transform hands out its own arrays"


def test_rotations_in_every_form():
    psi = np.array([0.3, -0.2, 0.5])
    r = Rotation.from_rotvec(psi)
    np.testing.assert_array_equal(rotations.as_pose_rotation(None), np.eye(3))
    for given in (psi, r.as_matrix(), 2.0 * r.as_quat(scalar_first=True)):
        np.testing.assert_allclose(rotations.as_pose_rotation(given), r.as_matrix(), rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rotations.axis_vector("w"), '"x", "y", "z" or a vector, not \'w\''),
        (lambda: rotations.axis_vector([0, 0, 0]), "not all zero"),
        (lambda: rotations.axis_vector([1, 0]), "three numbers"),
        (lambda: rotations.axis_vector([1, np.nan, 0]), "three numbers"),
        (lambda: rotations.as_rotation(2 * np.eye(3)), "orthonormal"),
        (lambda: rotations.as_rotation(np.eye(2)), "orthonormal"),
        (lambda: rotations.as_rotation(np.diag([1, 1, -1])), "reflection.*swap two"),
        (lambda: rotations.from_matrix(np.diag([1, 1, -1])), "reflection"),
        (lambda: rotations.from_euler("xyz", [1, 2]), "three numbers"),
        (lambda: rotations.transform(2 * np.eye(3), [0, 0, 0]), "orthonormal"),
        (lambda: rotations.split_transform(np.eye(3)), "last row"),
        (lambda: rotations.split_transform(np.ones((4, 4))), "last row"),
        (lambda: rotations.as_pose_rotation(np.zeros(4)), "quaternion"),
        (lambda: rotations.as_pose_rotation([1, 2]), r"found \(2,\)"),
    ],
)
def test_bad_input_is_refused_in_words(call, message):
    with pytest.raises(FlexmbsError, match=message):
        call()
