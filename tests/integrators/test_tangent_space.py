"""TangentSpaceODE against trusted motions, and what it promises: constraints to rounding, tolerances, kinks, words."""

from __future__ import annotations

from typing import Any

import mechanisms
import numpy as np
import pytest
from cases.rigid import BRICK, BRICK_FORCE, COUPLER, CRANK, ROTOR, SLEIGH, SLEIGH_LATE, SWING

from flexmbs.bodies import Ground, PlanarBody
from flexmbs.errors import ModelError
from flexmbs.fem.loads import Gravity
from flexmbs.formulations import Maggi, UdwadiaKalaba
from flexmbs.integrators.generalized_alpha import GeneralizedAlpha
from flexmbs.integrators.tangent_space import TangentSpace, TangentSpaceODE
from flexmbs.joints import planar
from flexmbs.profiles import ConstantSpeed, Ramp, SpinUp
from flexmbs.rotations import to_matrix
from flexmbs.system.state import State
from flexmbs.system.system import System

TIGHT = TangentSpaceODE(rtol=1e-12, atol=1e-13)


def constraint_error(system: System, history: Any) -> float:
    """Largest error of any row at position and velocity level over all states kept."""
    rows = zip(history.t, history.q, history.v, history.angles, strict=True)
    works = [system.evaluate(t, q, v, angles) for t, q, v, angles in rows]
    return max(float(np.abs(e).max()) for w in works for e in (w.phi, w.phi_rate))


def run(system: System, t_end: float, step: float | None, method: Any = TIGHT) -> Any:
    """History of a run that finished, with its constraints held."""
    history, outcome, _ = method.run(system, system.initial, t_end, step)
    assert outcome == "finished"
    assert history.t[-1] == t_end
    if system.rows:
        assert constraint_error(system, history) < 1e-12
    return history


def kinetic(system: System, history: Any) -> Any:
    rows = zip(history.t, history.q, history.v, strict=True)
    return np.array([v @ (system.equations(t, q, v).M @ v) / 2 for t, q, v in rows])


# ---- trusted motions ---------------------------------------------------------------------------------------------


def test_point_pendulum() -> None:
    history = run(mechanisms.point_pendulum(), 10.0, 1.0)
    for k, tip in SWING.items():
        np.testing.assert_allclose(history.q[k, :2], tip, atol=1e-10)


def test_planar_pendulum() -> None:
    history = run(mechanisms.planar_pendulum(), 10.0, 1.0)
    for k, tip in SWING.items():
        np.testing.assert_allclose([np.cos(history.q[k, 2]), np.sin(history.q[k, 2])], tip, atol=1e-10)


def test_spatial_pendulum_and_its_joint_force() -> None:
    history = run(mechanisms.spatial_pendulum(), 2.0, 0.5)
    centres = to_matrix(history.q[:, 3:]) @ [0.5, 0.1, 0.05]
    np.testing.assert_allclose(centres[[1, 2, 4]], list(BRICK.values()), atol=1e-9)
    np.testing.assert_allclose(history.multipliers[2], BRICK_FORCE, atol=2e-8)


def test_two_loop_four_bar_passes_singular_positions() -> None:
    history = run(mechanisms.two_loop_four_bar(), 10.0, 1.0, TangentSpaceODE(rtol=1e-11, atol=1e-12))
    tips = np.stack([np.cos(history.q[:, 2]), np.sin(history.q[:, 2])], axis=1)
    np.testing.assert_allclose(tips[1], COUPLER[1], atol=1e-8)
    np.testing.assert_allclose(tips[10], COUPLER[10], atol=1e-5)


def test_free_rotor() -> None:
    history = run(mechanisms.free_rotor(), 10.0, 1.0)
    np.testing.assert_allclose(history.v[3, 3:], ROTOR[3], atol=1e-9)
    np.testing.assert_allclose(history.v[10, 3:], ROTOR[10], atol=1e-9)


def test_chaplygin_sleigh_is_held_at_velocity_level_only() -> None:
    system = mechanisms.sleigh()
    method = TangentSpaceODE(rtol=1e-10, atol=1e-12, formulation=Maggi())
    history, outcome, _ = method.run(system, system.initial, 10.0, 2.0)
    assert outcome == "finished"
    x, y, heading = history.q[1]
    forward = history.v[1, 0] * np.cos(heading) + history.v[1, 1] * np.sin(heading)
    np.testing.assert_allclose([forward, history.v[1, 2], heading, x, y], list(SLEIGH.values()), atol=1e-8)
    np.testing.assert_allclose(history.q[5, :2], SLEIGH_LATE, atol=1e-7)
    sideways = [system.evaluate(0.0, q, v).phi_rate[0] for q, v in zip(history.q, history.v, strict=True)]
    np.testing.assert_allclose(sideways, 0.0, atol=1e-13)
    energy = kinetic(system, history)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-8)


def test_driven_slider_crank_has_no_freedom_and_trusted_reactions() -> None:
    system = mechanisms.planar_slider_crank(ConstantSpeed(300.0))
    history = run(system, np.deg2rad(135) / 300, np.deg2rad(15) / 300)
    motor, pin, wall = (system.joint_rows(system.joints[k]) for k in (4, 1, 3))
    for k, row in ((2, 1), (6, 2), (9, 3)):  # 30, 90, 135 degrees
        torque, *pin_force, wall_force, _, _, acceleration = (values[row] for values in CRANK.values())
        np.testing.assert_allclose(history.multipliers[k, motor], torque, rtol=1e-9)
        np.testing.assert_allclose(history.multipliers[k, pin], pin_force, rtol=1e-9)
        np.testing.assert_allclose(history.multipliers[k, wall][0], wall_force, rtol=1e-9)
        np.testing.assert_allclose(history.rate[k, 6], acceleration, rtol=1e-9)


def test_redundant_rows_change_nothing() -> None:
    flat = run(mechanisms.planar_slider_crank(forces=(mechanisms.DOWN,)), 1.0, 0.25)
    space = run(mechanisms.spatial_slider_crank(forces=(mechanisms.DOWN,)), 1.0, 0.25)
    np.testing.assert_allclose(space.q[:, 14], flat.q[:, 6], atol=1e-9)
    np.testing.assert_allclose(space.v[:, 5], flat.v[:, 2], atol=1e-7)


def test_agrees_with_generalized_alpha_extrapolated() -> None:
    system = mechanisms.planar_slider_crank(forces=(mechanisms.DOWN,))
    exact = run(system, 0.5, 0.5)
    coarse, fine = (
        GeneralizedAlpha(0.8).run(system, system.initial, 0.5, h, round(0.5 / h))[0].q[-1] for h in (1e-3, 5e-4)
    )
    extrapolated = (4 * fine - coarse) / 3
    error, before = np.abs(extrapolated - exact.q[-1]).max(), np.abs(fine - exact.q[-1]).max()
    assert error < 1e-6
    assert error < before / 10


# ---- promises ----------------------------------------------------------------------------------------------------


def test_energy_of_a_pendulum() -> None:
    system = mechanisms.planar_pendulum()
    history = run(system, 20.0, 0.5)
    energy = kinetic(system, history) + 9.81 * np.sin(history.q[:, 2])
    np.testing.assert_allclose(energy, 0.0, atol=9.81e-9)


@pytest.mark.parametrize("method", ["DOP853", "RK45", "Radau"])
def test_error_follows_the_tolerance(method: str) -> None:
    system = mechanisms.point_pendulum()
    errors = []
    for rtol in (1e-5, 1e-7, 1e-9):
        history = run(system, 1.0, 1.0, TangentSpaceODE(method, rtol=rtol, atol=rtol / 100))
        errors.append(float(np.abs(history.q[-1, :2] - SWING[1]).max()))
        assert errors[-1] < 100 * rtol
    assert errors[0] > 10 * errors[1] > 100 * errors[2]


@pytest.mark.parametrize(
    ("method", "order", "steps"), [("RK45", 5, (0.0125, 0.00625)), ("DOP853", 8, (0.03125, 0.015625))]
)
def test_order(method: str, order: int, steps: tuple[float, float]) -> None:
    system = mechanisms.planar_slider_crank(forces=(Gravity((0.0, -9.81, 0.0)),))
    start = run(system, 1e-3, 1e-3)
    state = State(0.0, start.q[-1], start.v[-1], start.angles[-1])
    exact = TIGHT.run(system, state, 0.5, 0.5)[0].q[-1]
    errors = []
    for h in steps:
        history, _, counters = TangentSpaceODE(method, rtol=0.9, atol=1e3, max_step=h).run(system, state, 0.5, 0.5)
        assert counters["steps"] <= 0.5 / h + 2
        errors.append(np.abs(history.q[-1] - exact).max())
    assert abs(np.log2(errors[0] / errors[1]) - order) < 1.0


@pytest.mark.parametrize("formulation", [Maggi(), UdwadiaKalaba()])
def test_any_formulation_gives_the_same_motion(formulation: Any) -> None:
    system = mechanisms.planar_slider_crank(forces=(mechanisms.DOWN,))
    here = run(system, 0.2, 0.1)
    there = run(system, 0.2, 0.1, TangentSpaceODE(rtol=1e-10, atol=1e-12, formulation=formulation))
    np.testing.assert_allclose(there.q, here.q, atol=1e-9)
    np.testing.assert_allclose(there.multipliers, here.multipliers, atol=1e-5)


def test_runs_twice_the_same_and_leaves_the_system_alone() -> None:
    system = mechanisms.spatial_slider_crank(forces=(mechanisms.DOWN,))
    start = [a.copy() for a in (system.initial.q, system.initial.v, system.initial.angles)]
    first, second = (TangentSpaceODE().run(system, system.initial, 0.3) for _ in range(2))
    for a, b in zip(first[0], second[0], strict=True):
        np.testing.assert_array_equal(a, b)
    assert first[1:] == second[1:]
    for old, new in zip(start, (system.initial.q, system.initial.v, system.initial.angles), strict=True):
        np.testing.assert_array_equal(old, new)


def test_without_output_step_every_step_is_kept() -> None:
    system, seen = mechanisms.point_pendulum(), []  # type: System, list[float]
    history, _, counters = TangentSpaceODE().run(system, system.initial, 1.0, progress=seen.append)
    assert len(history.t) == counters["steps"] + 1
    np.testing.assert_array_equal(history.t[1:], seen)
    assert (np.diff(history.t) > 0).all()
    assert constraint_error(system, history) < 1e-12


def test_dense_output_is_as_good_as_the_steps() -> None:
    system = mechanisms.spatial_pendulum()
    dense = run(system, 1.0, 0.01, TangentSpaceODE())
    forced = run(system, 1.0, 0.01, TangentSpaceODE(max_step=0.01))
    assert len(dense.t) == len(forced.t) == 101
    np.testing.assert_allclose(dense.q, forced.q, atol=1e-7)
    every = TangentSpaceODE().run(system, system.initial, 1.0, 0.01, 10)[0]
    np.testing.assert_allclose(every.q, dense.q[::10], atol=1e-12)


def test_restart_and_counting_turns() -> None:
    system = mechanisms.planar_slider_crank(SpinUp(30.0, over=0.5))
    whole = run(system, 1.5, 0.5)
    end = State(*(column[1] for column in (whole.t, whole.q, whole.v, whole.angles)))
    again = TIGHT.run(system, end, 1.5, 0.5)[0]
    np.testing.assert_allclose(again.q, whole.q[1:], atol=1e-11)
    np.testing.assert_allclose(whole.angles[-1].max(), 30.0 * 1.25, atol=1e-11)


def test_steps_end_at_kinks_and_velocities_jump_there() -> None:
    system = mechanisms.double_pendulum(Ramp(0.0, 1.0, start=0.3, duration=0.45))
    history = run(system, 1.0, 0.05)
    np.testing.assert_allclose(history.v[[5, 6, 14, 15], 2], [0.0, 1 / 0.45, 1 / 0.45, 0.0], atol=1e-12)
    other = run(system, 1.0, 0.05, TangentSpaceODE("RK45", rtol=1e-11, atol=1e-13))
    np.testing.assert_allclose(other.q, history.q, atol=1e-8)
    steps = TIGHT.run(system, system.initial, 1.0)[0].t
    assert {0.3, 0.75} <= set(steps.tolist())
    # the impulse of the elbow keeps the second rod's angular momentum about the elbow
    near = TIGHT.run(system, system.initial, 0.3 - 1e-9, 0.3 - 1e-9)[0]
    after = history.v[6]

    def momentum(v: Any, angle: float) -> float:
        along = np.array([np.cos(angle), np.sin(angle)]) / 2
        return float(0.35 * v[5] + along[0] * v[4] - along[1] * v[3])

    angle = history.q[6, 5]
    np.testing.assert_allclose(momentum(after, angle), momentum(near.v[-1], angle), atol=1e-7)


# ---- words -------------------------------------------------------------------------------------------------------


def test_a_locking_mechanism_stops_in_words_and_keeps_what_was_computed() -> None:
    system = mechanisms.locking_four_bar(ConstantSpeed(1.0, start=0.1))
    history, outcome, counters = TangentSpaceODE().run(system, system.initial, 3.0, 0.1)
    locked = np.arccos((2.5**2 + 3.0**2 - 2.0**2) / 15.0) - 0.1
    assert outcome.startswith(f"stopped at t = {locked:.4f}"[:-1])
    assert "singular position" in outcome
    assert any(joint in outcome for joint in ("knee", "tip"))
    assert len(history.t) == 8
    assert counters["steps"] > 0
    np.testing.assert_allclose(history.t[:7], 0.1 * np.arange(7))


def test_an_undefined_drive_stops_in_words() -> None:
    def motion(t: Any) -> Any:
        return 0.1 * np.sqrt(0.5 - t) ** 3

    system = mechanisms.double_pendulum(motion)
    history, outcome, _ = TangentSpaceODE(rtol=1e-6).run(system, system.initial, 1.0, 0.1)
    assert outcome.startswith("stopped at t = 0.5")
    assert "motor" in outcome or "motion" in outcome
    assert len(history.t) == 6


def test_a_run_that_does_not_get_on_stops_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Accelerations that are no function of the state: no step is short enough."""
    rng, solve = np.random.default_rng(7), TangentSpace.accelerations

    def noisy(motion: TangentSpace, t: float, q: Any, v: Any) -> Any:
        rate, multipliers = solve(motion, t, q, v)
        return rate + 1e6 * rng.normal(size=len(rate)), multipliers

    monkeypatch.setattr(TangentSpace, "accelerations", noisy)
    monkeypatch.setattr("flexmbs.integrators.adaptive.PATIENCE", 50)
    system = mechanisms.point_pendulum()
    method = TangentSpaceODE("RK45", formulation=Maggi())
    history, outcome, _ = method.run(system, system.initial, 10.0, 1.0)
    assert outcome.startswith("stopped at t = ")
    assert "50 steps led only" in outcome
    assert 0.0 <= history.t[-1] < 1e-5


def test_nothing_to_move() -> None:
    ground, body = Ground(), PlanarBody("body", 1.0, 1.0)
    held = System([ground, body], [planar.Revolute("pin", ground.at(0, 0), body.at(0, 0)),
                                   planar.Prismatic("guide", ground.at(0, 0), body.at(0, 0))])  # fmt: skip
    history = run(held, 1.0, 0.5)
    np.testing.assert_allclose(history.q, 0.0, atol=1e-14)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "Euler"}, "DOP853, RK45, Radau, not 'Euler'"),
        ({"rtol": 1e-16}, "rtol must be at least"),
        ({"rtol": 1.0}, "less than 1"),
        ({"atol": -1.0}, "atol must be"),
        ({"atol": np.nan}, "atol must be"),
        ({"max_step": 0.0}, "max_step must be positive"),
    ],
)
def test_bad_input(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        TangentSpaceODE(**options)
