"""Gradients, second derivatives and stiffnesses of all measures against differences of their values."""

from __future__ import annotations

import numpy as np
import pytest

from flexmbs.joints import measures
from flexmbs.rotations import exp

KINDS = {"space": measures.SPACE, "axis": measures.AXIS, "dot": measures.DOT, "distance": measures.DISTANCE}
KINDS["angle"], KINDS["sine"] = measures.ANGLE, measures.SINE
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())


def unit(a):
    return a / np.linalg.norm(a)


class Pair:
    """Two random frames, and a measure between them."""

    def __init__(self, kind):
        rng = np.random.default_rng([7, kind])
        a = unit(rng.normal(size=3))
        self.kind, self.rng = kind, rng
        self.axes = np.array([[a, unit(rng.normal(size=3)), unit(np.cross(a, rng.normal(size=3)))]])
        self.position, self.rotation = rng.normal(size=(2, 3)), np.array([exp(x) for x in rng.normal(size=(2, 3))])

    def at(self, x):
        """Value, wrench (-F, M_i, F, M_j) and vectors where the frames are moved by x = (δr_i, δθ_i, δr_j, δθ_j)."""
        position = self.position + np.array([x[:3], x[6:9]])
        rotation = np.array([exp(x[3:6]) @ self.rotation[0], exp(x[9:]) @ self.rotation[1]])
        vectors, gradient = np.zeros((1, 4, 3)), np.zeros((1, 9))
        value = measures.evaluate(self.kind, self.axes, 0, 0, 1, position, rotation, vectors, gradient)
        g = gradient[0]
        return value, np.concatenate([-g[:3], g[3:6], g[:3], g[6:]]), vectors, gradient

    def stiffness(self, factor):
        """(12, 12), rows of the wrench and columns of x, from the blocks."""
        _, _, vectors, gradient = self.at(np.zeros(12))
        out = np.zeros((1, 5, 3, 3))
        measures.add_stiffness(self.kind, 0, vectors, gradient, factor, out, 0)
        own_i, own_j, j_i, shift, moment = out[0]
        o = np.zeros((3, 3))
        return np.block(
            [
                [shift, moment, -shift, o],
                [-moment, own_i, moment, -own_j],
                [-shift, -moment, shift, o],
                [o, j_i, o, own_j],
            ]
        )


def derivative(function, h=1e-6):
    return np.array([(function(h * e) - function(-h * e)) / (2 * h) for e in np.eye(12)]).T


@every_kind
def test_gradient_is_derivative_of_value(kind):
    pair = Pair(kind)
    np.testing.assert_allclose(pair.at(np.zeros(12))[1], derivative(lambda x: pair.at(x)[0]), atol=1e-8)


@every_kind
def test_gradient_has_the_parts_it_says(kind):
    wrench = Pair(kind).at(np.zeros(12))[1]
    assert np.any(wrench[:3]) == measures.pulls(kind)
    assert np.any(wrench[3:6]) == measures.twists(kind)


@every_kind
def test_stiffness_is_derivative_of_wrench(kind):
    pair = Pair(kind)
    np.testing.assert_allclose(pair.stiffness(2.0), 2.0 * derivative(lambda x: pair.at(x)[1]), atol=1e-8)


@every_kind
def test_wrench_is_in_balance(kind):
    """A measure between two frames does not see both move as one: forces and moments on them balance.

    The component along a direction of space is the exception, for rotations.
    """
    pair = Pair(kind)
    wrench = pair.at(np.zeros(12))[1]
    d = pair.position[1] - pair.position[0]
    if kind != measures.SPACE:
        np.testing.assert_allclose(wrench[3:6] + wrench[9:] + np.cross(d, wrench[6:9]), 0.0, atol=1e-12)


@every_kind
def test_bias_is_second_derivative_in_time(kind):
    pair = Pair(kind)
    v_i, w_i, a_i, v_j, w_j, a_j = pair.rng.normal(size=(6, 3))

    def value(t):  # constant w in global axes: no angular acceleration
        return pair.at(np.concatenate([v_i * t + a_i * t**2 / 2, w_i * t, v_j * t + a_j * t**2 / 2, w_j * t]))[0]

    h = 1e-4
    vectors = pair.at(np.zeros(12))[2]
    result = measures.bias(kind, pair.axes, 0, vectors, tuple(v_j - v_i), tuple(a_j - a_i), tuple(w_i), tuple(w_j))
    assert result == pytest.approx((value(h) - 2 * value(0.0) + value(-h)) / h**2, abs=1e-6)
