"""The compiled equations of a flexible body are those of FloatingBody, which is written in other terms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from parts import KINDS

from flexmbs.bodies import FlexibleBody
from flexmbs.bodies.flexible_inertia import SMALL, VECTORS, BodyMoments, flexible_rows, moment_vectors, packed
from flexmbs.bodies.flexible_tangent import flexible_mass
from flexmbs.errors import ModelError
from flexmbs.reduction import CraigBampton, FloatingBody, reduce


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stiffening", [True, False])
def test_compiled_equations(kind: str, stiffening: bool) -> None:
    rng = np.random.default_rng(7)
    part = reduce(KINDS[kind](), CraigBampton(4), interfaces=["x0", "x1"], damping=0.02, stiffening=stiffening)
    flexible, n = FlexibleBody("part", part.mesh, reduced=part), part.size
    body = FloatingBody(part.constants, flexible.moments.shortening, flexible.moments.shearing)
    w, e, a = (tuple(rng.normal(size=3)) for _ in range(3))
    d, rate, acceleration = rng.normal(size=(3, n))
    constants = flexible.modal_constants
    table, small, modal = np.full(VECTORS * n, np.nan), np.full(SMALL, np.nan), np.zeros(n)
    moment_vectors(constants, 0, n, d, 0, rate, acceleration, 0, False, table)
    force, moment, s, _ = flexible_rows(
        constants, 0, n, w, e, a, d, 0, rate, acceleration, 0, table, small, modal, 0, 1.0
    )
    M = np.zeros((6 + n, 6 + n))
    flexible_mass(constants, 0, n, s, table, small, np.eye(3)[None], 0, False, M)
    exact, bias = body.mass_matrix(d), body.bias(w, d, rate)
    assert_allclose(M, exact, atol=1e-11 * np.abs(exact).max())
    expected = exact @ np.concatenate([a, e, acceleration]) + bias
    found = np.concatenate([force, moment, modal])
    assert_allclose(found[:6], expected[:6], atol=1e-11 * np.abs(expected[:6]).max())
    assert_allclose(found[6:], expected[6:], atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["stiffness", "damping", "products"])
def test_coordinates_that_are_not_orthonormal(name: str) -> None:
    """The compiled equations know diagonals only."""
    part = reduce(KINDS["beam"](), CraigBampton(2), interfaces=["x0", "x1"], damping=0.02)
    moments: BodyMoments = FlexibleBody("part", part.mesh, reduced=part).moments
    wrong = getattr(moments, name).copy()
    wrong[..., 0, 1] += 0.1 * np.abs(wrong).max()
    with pytest.raises(ModelError, match="orthonormal"):
        packed(moments._replace(**{name: wrong}))
