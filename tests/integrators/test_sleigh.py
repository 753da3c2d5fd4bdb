"""Chaplygin's sleigh, nonholonomic: reference values of its reduced equations, in the plane and in space."""

from __future__ import annotations

import mechanisms
import numpy as np
import pytest
from cases import rigid

import flexmbs as fm
from flexmbs.rotations import exp

SPEED, YAW, _, *PLACE = rigid.SLEIGH.values()
LATE = rigid.SLEIGH_LATE
TIGHT = fm.TangentSpaceODE(rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("integrator", [TIGHT, fm.Projected(rtol=1e-10), fm.Baumgarte(rtol=1e-10)], ids=repr)
def test_planar_sleigh(integrator):
    result = fm.forward_dynamics(mechanisms.sleigh(), 10.0, step=2.0, integrator=integrator)
    np.testing.assert_allclose(rigid.sleigh_states(result), [*rigid.SLEIGH.values(), *LATE], atol=1e-7)
    np.testing.assert_allclose(result.energy.total, result.energy.total[0], rtol=1e-7)


def test_sleigh_in_space():
    result = fm.forward_dynamics(mechanisms.spatial_sleigh(), 10.0, step=2.0, integrator=TIGHT)
    tilt = exp(np.array([0.3, -0.5, 0.2]))
    np.testing.assert_allclose(tilt.T @ result.q[1, :3], (*PLACE, 0.0), atol=1e-7)
    np.testing.assert_allclose(tilt.T @ result.q[-1, :3], (*LATE, 0.0), atol=1e-7)
    assert np.linalg.norm(result.v[1, :3]) == pytest.approx(SPEED, abs=1e-7)
    assert np.linalg.norm(result.v[1, 3:]) == pytest.approx(YAW, abs=1e-7)


@pytest.mark.parametrize("make", [mechanisms.sleigh, mechanisms.spatial_sleigh])
def test_generalized_alpha_is_of_second_order_and_holds_the_blade(make):
    system, errors, drifts = make(), [], []
    tilt = np.eye(3) if system.n_q == 3 else exp(np.array([0.3, -0.5, 0.2]))
    for steps in (200, 400, 800):
        result = fm.forward_dynamics(system, 2.0, step=2.0 / steps, output_step=1.0)
        place = tilt[:2, :2] @ PLACE if system.n_q == 3 else tilt @ (*PLACE, 0.0)
        errors.append(np.abs(result.q[-1, : len(place)] - place).max())
        drifts.append(np.abs(result.energy.total / result.energy.total[0] - 1.0).max())
        slip = [np.abs(system.evaluate(0.0, q, v).phi_rate[-1]) for q, v in zip(result.q, result.v, strict=True)]
        assert max(slip) < 1e-9
    for sequence in (errors, drifts):
        np.testing.assert_allclose(np.log2(np.array(sequence[:-1]) / sequence[1:]), 2.0, atol=0.15)
