"""Coordinates on the constraint manifold: they close the constraints, and their rates are those of the motion."""

from __future__ import annotations

from typing import Any

import mechanisms
import numpy as np
import pytest

from flexmbs.integrators.chart import Chart, LostError, Scales, spaces
from flexmbs.integrators.tangent_space import TangentSpace
from flexmbs.profiles import Harmonic
from flexmbs.system.system import System


def started(system: System) -> tuple[TangentSpace, Any]:
    motion, start = TangentSpace(system, None), system.initial
    motion.angles = start.angles
    return motion, motion.begin(0.0, start.q, start.v)


@pytest.fixture(params=["spatial slider-crank", "spatial pendulum", "driven double pendulum"])
def system(request: Any) -> System:
    if request.param == "spatial slider-crank":
        return mechanisms.spatial_slider_crank()
    if request.param == "spatial pendulum":
        return mechanisms.spatial_pendulum()
    return mechanisms.double_pendulum(Harmonic(0.4, 2.0))


def test_any_coordinates_fulfil_all_rows(system: System) -> None:
    motion, y = started(system)
    rng = np.random.default_rng(7)
    for _ in range(5):
        t = rng.uniform(-0.1, 0.1)
        other = np.concatenate([rng.uniform(-0.3, 0.3, len(y) // 2), rng.normal(size=len(y) // 2)])
        q, v, _ = motion.state(t, other)
        work = system.evaluate(t, q, v, motion.angles)
        assert np.abs(work.phi).max() < 1e-13
        assert np.abs(work.phi_rate).max() < 1e-12


def test_rates_are_those_of_the_motion(system: System) -> None:
    motion, y = started(system)
    rng = np.random.default_rng(7)
    y = np.concatenate([rng.uniform(-0.2, 0.2, len(y) // 2), rng.normal(size=len(y) // 2)])
    t, h = 0.05, 1e-4
    q, v, _ = motion.state(t, y)
    rates = motion.rates(t, y)
    later, earlier = motion.state(t + h, y + h * rates), motion.state(t - h, y - h * rates)
    v_rate = motion.accelerations(t, q, v)[0]
    np.testing.assert_allclose((later[1] - earlier[1]) / (2 * h), v_rate, atol=1e-5 * np.abs(v_rate).max())
    moved = [system.retract(q, h * v), system.retract(q, -h * v)]
    speed = (moved[0] - moved[1]) / (2 * h)
    np.testing.assert_allclose((later[0] - earlier[0]) / (2 * h), speed, atol=1e-5 * np.abs(speed).max())


def test_increment_rates_are_those_of_the_exponential_map() -> None:
    system = mechanisms.free_rotor()
    scales, start = Scales.of(system), system.initial
    rng = np.random.default_rng(7)
    x, v, h = rng.normal(size=6), rng.normal(size=6), 1e-5
    rates = scales.increment_rates(x, v)
    unit = scales.velocity
    plus, minus = (system.retract(start.q, unit * (x + s * h * rates)) for s in (1, -1))
    q = system.retract(start.q, unit * x)
    there, back = (system.retract(q, s * h * unit * v) for s in (1, -1))
    np.testing.assert_allclose((plus - minus) / (2 * h), (there - back) / (2 * h), atol=1e-9)


def test_too_far_is_lost_in_words() -> None:
    motion, y = started(mechanisms.spatial_pendulum())
    with pytest.raises(LostError, match="turns too far"):
        motion.state(0.0, np.concatenate([np.full(3, 5.0), y[3:]]))
    assert np.isnan(motion.rates(0.0, np.concatenate([np.full(3, 5.0), y[3:]]))).all()
    assert "turns too far" in motion.lost


def test_base_point_next_to_a_singular_position_is_refused() -> None:
    """Two-loop four-bar 1e-4 rad before it lies flat."""
    system = mechanisms.two_loop_four_bar()
    motion, _ = started(system)
    before = motion.chart
    angle = 1e-4
    c, s = np.cos(angle), np.sin(angle)
    q = np.concatenate([*([k, 0.0, angle] for k in range(3)), *([k + c, s, 0.0] for k in range(2))])
    assert np.abs(system.evaluate(0.0, q, np.zeros(15)).phi).max() < 1e-15
    assert motion.moved(0.0, q, np.zeros(15)) is None
    assert motion.chart is before


def test_spaces_of_redundant_rows() -> None:
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(3, 6))
    jacobian = np.vstack([rows, rows[0] - rows[2]])
    null, complement, combine, weakest = spaces(jacobian)
    assert null.shape == (6, 3)
    np.testing.assert_allclose(jacobian @ null, 0.0, atol=1e-14)
    np.testing.assert_allclose(
        np.column_stack([null, complement]).T @ np.column_stack([null, complement]), np.eye(6), atol=1e-14
    )
    assert np.linalg.cond(combine @ jacobian @ complement) < 1.01 / weakest


def test_chart_counts_its_work() -> None:
    motion, y = started(mechanisms.spatial_pendulum())
    assert isinstance(motion.chart, Chart)
    motion.state(0.0, y)
    assert motion.chart.iterations == 1
