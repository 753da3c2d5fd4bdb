"""Chosen speeds and Kane's table of partial velocities."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from flexmbs.equations import Equations
from flexmbs.errors import ProjectionError
from flexmbs.formulations import Maggi, Multipliers

BASES = ("partition", "qr", "svd")


def double_pendulum(angles, rates):
    """Two point masses on rods of length 1 and 2: velocities (x1, y1, θ1, x2, y2, θ2), points follow the angles."""
    (a, b), (wa, wb) = angles, rates
    J = np.zeros((4, 6))
    J[0, [0, 2]] = 1.0, -np.cos(a)
    J[1, [1, 2]] = 1.0, -np.sin(a)
    J[2, [3, 0, 5]] = 1.0, -1.0, -2 * np.cos(b)
    J[3, [4, 1, 5]] = 1.0, -1.0, -2 * np.sin(b)
    gamma = np.array([-np.sin(a) * wa**2, np.cos(a) * wa**2, -2 * np.sin(b) * wb**2, 2 * np.cos(b) * wb**2])
    M = np.diag([1.5, 1.5, 0.0, 0.7, 0.7, 0.0])
    return Equations(M, [0, -1.5 * 9.81, 0, 0, -0.7 * 9.81, 0], J, gamma)


@pytest.mark.parametrize("basis", BASES)
def test_partial_velocities_of_the_double_pendulum(basis):
    a, b = 0.4, -1.1
    table = Maggi(basis, speeds=[2, 5]).partial_velocities(double_pendulum((a, b), (0.0, 0.0)))
    first = [np.cos(a), np.sin(a), 1, np.cos(a), np.sin(a), 0]
    second = [0, 0, 0, 2 * np.cos(b), 2 * np.sin(b), 1]
    np.testing.assert_allclose(table, np.transpose([first, second]), atol=1e-14)


@pytest.mark.parametrize("speeds", [None, [2, 5], [5, 2], [0, 3], [2, [0, 0, -1, 0, 0, 1]]])
@pytest.mark.parametrize("basis", BASES)
def test_double_pendulum_as_in_the_book(basis, speeds):
    (a, b), (wa, wb) = angles, rates = (0.4, -1.1), (2.0, -3.0)
    v = Maggi(basis, speeds=speeds).solve(double_pendulum(angles, rates)).accelerations
    # Lagrange's equations of the second kind for m1 = 1.5, m2 = 0.7, l1 = 1, l2 = 2, angles from the downward vertical
    m, c, s, g = 2.2, np.cos(a - b), np.sin(a - b), 9.81
    H = np.array([[m, 1.4 * c], [1.4 * c, 2.8]])
    h = np.array([1.4 * s * wb**2 + m * g * np.sin(a), -1.4 * s * wa**2 + 1.4 * g * np.sin(b)])
    np.testing.assert_allclose(v[[2, 5]], np.linalg.solve(H, -h), rtol=1e-11)


def test_sparse_equations_take_speeds_too():
    e = double_pendulum((0.4, -1.1), (2.0, -3.0))
    sparse = Equations(sp.csr_array(e.M), e.f, sp.csr_array(e.J), e.gamma)
    expected = Multipliers().solve(e).accelerations
    for basis in BASES:
        np.testing.assert_allclose(Maggi(basis, speeds=[2, 5]).solve(sparse).accelerations, expected, rtol=1e-11)
        assert Maggi(basis).partial_velocities(sparse).shape == (6, 2)


@pytest.mark.parametrize("basis", BASES)
def test_speeds_that_follow_from_others_are_refused(basis):
    e = double_pendulum((0.4, -1.1), (0.0, 0.0))
    # x1 and θ1 move together: one of them is kept, and a coordinate of the second mass is proposed
    with pytest.raises(ProjectionError, match="follows from the constraints and the other speeds") as refused:
        Maggi(basis, speeds=[0, 2]).solve(e)
    proposed = [int(x) for x in str(refused.value).split("instead: ")[1].replace("v[", "").replace("]", "").split(",")]
    assert len(proposed) == 2
    assert proposed[0] in (0, 2)
    Maggi(basis, speeds=proposed).solve(e)


def test_wrong_number_of_speeds_is_refused():
    e = double_pendulum((0.4, -1.1), (0.0, 0.0))
    with pytest.raises(ProjectionError, match=r"1 speeds chosen for 2 free motions. Take instead: v\[2\], v\[\d\]"):
        Maggi(speeds=[2]).solve(e)
    with pytest.raises(ProjectionError, match=r"3 speeds chosen for 2 free motions: .* follows"):
        Maggi(speeds=[2, 5, 3]).solve(e)
    locked = Equations(np.eye(2), np.zeros(2), np.eye(2), np.zeros(2))
    with pytest.raises(ProjectionError, match="nothing is free to move"):
        Maggi(speeds=[0]).solve(locked)
    assert not Maggi(speeds=[]).solve(locked).accelerations.any()


def test_speed_that_stands_still_is_refused():
    # in the position b = π/2 the second mass cannot gain height relative to the first by x2 alone
    e = double_pendulum((0.0, np.pi / 2), (0.0, 0.0))
    with pytest.raises(ProjectionError, match="follow"):
        Maggi(speeds=[0, 3]).solve(e)  # x2 = x1 there


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"basis": "lu"}, "unknown basis 'lu'"),
        ({"speeds": 3}, r"give \[3\]"),
        ({"speeds": ["x"]}, "index into the velocities"),
        ({"speeds": [0.5]}, "index into the velocities"),
    ],
)
def test_bad_configuration(arguments, words):
    with pytest.raises(ProjectionError, match=words):
        Maggi(**arguments)


def test_bad_speeds_for_these_equations():
    e = double_pendulum((0.4, -1.1), (0.0, 0.0))
    with pytest.raises(ProjectionError, match=r"v\[6\] does not exist: there are 6"):
        Maggi(speeds=[2, 6]).solve(e)
    with pytest.raises(ProjectionError, match="2 coefficients for 6 velocities"):
        Maggi(speeds=[2, [1.0, 0.0]]).solve(e)
