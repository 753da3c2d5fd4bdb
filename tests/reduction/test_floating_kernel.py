"""The compiled terms of a reduced body are those of FloatingBody."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from parts import KINDS

from flexmbs.reduction import CraigBampton, FloatingBody, reduce
from flexmbs.reduction.floating_kernel import floating_arrays, floating_terms


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stiffening", [True, False])
def test_compiled_terms(kind: str, stiffening: bool) -> None:
    rng = np.random.default_rng(7)
    part = reduce(KINDS[kind](), CraigBampton(4), interfaces=["x0", "x1"], damping=0.02)
    body = FloatingBody.of(part, stiffening)
    omega = rng.normal(size=3)
    d, rate = rng.normal(size=(2, part.size))
    M, h = np.full((6 + part.size, 6 + part.size), np.nan), np.full(6 + part.size, np.nan)
    for _ in range(2):  # whatever was in the arrays before
        floating_terms(floating_arrays(body), omega, d, rate, M, h)
    exact, bias = body.mass_matrix(d), body.bias(omega, d, rate)
    assert_allclose(M, exact, atol=1e-11 * np.abs(exact).max())
    assert_allclose(h[:6], bias[:6], atol=1e-11 * np.abs(bias[:6]).max())
    assert_allclose(h[6:], bias[6:], atol=1e-13 * np.abs(bias).max())
