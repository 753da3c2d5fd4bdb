"""Baumgarte's stabilisation and projection, beside the tangent-space integrator."""

from __future__ import annotations

from typing import Any

import mechanisms
import numpy as np
import pytest
from test_tangent_space import SWING, constraint_error

from flexmbs.errors import ModelError
from flexmbs.formulations import Maggi
from flexmbs.integrators.baumgarte import Baumgarte
from flexmbs.integrators.projected import Projected
from flexmbs.integrators.tangent_space import TangentSpaceODE
from flexmbs.system.state import State


@pytest.mark.parametrize("method", [Baumgarte(5.0, rtol=1e-11, atol=1e-13), Projected(rtol=1e-11, atol=1e-13)])
def test_pendulum(method: Any) -> None:
    system = mechanisms.point_pendulum()
    history, outcome, _ = method.run(system, system.initial, 5.0, 1.0)
    assert outcome == "finished"
    for k in (1, 5):
        np.testing.assert_allclose(history.q[k, :2], SWING[k], atol=1e-9)


@pytest.mark.parametrize("method", [Baumgarte(5.0, rtol=1e-11), Projected(rtol=1e-11), Projected("Radau", rtol=1e-8)])
def test_spatial_loop_with_redundant_rows(method: Any) -> None:
    system = mechanisms.spatial_slider_crank(forces=(mechanisms.DOWN,))
    exact = TangentSpaceODE(rtol=1e-11, atol=1e-12).run(system, system.initial, 0.2, 0.1)[0]
    history = method.run(system, system.initial, 0.2, 0.1)[0]
    np.testing.assert_allclose(history.q, exact.q, atol=1e-7)


def test_projection_holds_the_constraints() -> None:
    system = mechanisms.planar_slider_crank(forces=(mechanisms.DOWN,))
    history = Projected(rtol=1e-5, atol=1e-7).run(system, system.initial, 0.5, 0.1)[0]
    assert constraint_error(system, history) < 1e-12


@pytest.mark.parametrize("formulation", [None, Maggi()])
def test_baumgarte_errors_decay_critically(formulation: Any) -> None:
    """φ'' + 2α φ' + α² φ = 0, whatever the motion: started with an error, φ = (1 + α t) exp(-α t) φ₀."""
    system, alpha = mechanisms.point_pendulum(), 4.0
    start = system.initial
    off = State(0.0, start.q * (1 + 1e-3), start.v, start.angles)
    history = Baumgarte(alpha, rtol=1e-12, atol=1e-14, formulation=formulation).run(system, off, 1.0, 0.1)[0]
    phi = np.array([system.evaluate(t, q, v).phi[0] for t, q, v in zip(history.t, history.q, history.v, strict=True)])
    np.testing.assert_allclose(phi, 1e-3 * (1 + alpha * history.t) * np.exp(-alpha * history.t), atol=1e-10)


def test_beta_of_its_own() -> None:
    system = mechanisms.point_pendulum()
    off = State(0.0, system.initial.q * (1 + 1e-3), system.initial.v, system.initial.angles)
    history = Baumgarte(0.0, beta=3.0, rtol=1e-12, atol=1e-14).run(system, off, 1.0, 0.25)[0]
    phi = np.array([system.evaluate(t, q, v).phi[0] for t, q, v in zip(history.t, history.q, history.v, strict=True)])
    np.testing.assert_allclose(phi, 1e-3 * np.cos(3.0 * history.t), atol=1e-10)


def test_bad_input() -> None:
    with pytest.raises(ModelError, match="alpha must be a number"):
        Baumgarte(-1.0)
    with pytest.raises(ModelError, match="beta must be a number"):
        Baumgarte(1.0, beta=np.nan)
    with pytest.raises(ModelError, match="method is one of"):
        Projected("Heun")
