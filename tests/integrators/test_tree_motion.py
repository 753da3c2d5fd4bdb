"""Motions in the coordinates of joints: the same as in those of bodies, compiled or not, in chosen or equal steps."""

from __future__ import annotations

from typing import Any

import mechanisms
import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm
from flexmbs.errors import ModelError
from flexmbs.integrators.steppers import Stepper
from flexmbs.integrators.tangent_space import TangentSpace
from flexmbs.integrators.tree_motion import TreeMotion, tree_motion
from flexmbs.profiles import Harmonic

TIGHT = fm.TangentSpaceODE(rtol=1e-11, atol=1e-13)


def in_bodies(**options: Any) -> fm.TangentSpaceODE:
    """The same integrator in the coordinates of bodies."""
    return fm.TangentSpaceODE(formulation=fm.Multipliers(), **options)


def arm(forces: tuple[Any, ...] = ()) -> fm.System:
    """A branched arm with a hinge, a screw, a slider, a universal joint and a ball, either way round."""
    ground = fm.Ground()
    b = [fm.RigidBody.box(f"link {k}", (0.6, 0.2, 0.1), 500.0) for k in range(5)]
    joints = [
        fm.Revolute("hinge", ground.at(0, 0, 0), b[0].at(-0.3, 0, 0), axis="y", rate=1.0),
        fm.Screw("screw", b[1].at(-0.3, 0, 0), b[0].at(0.3, 0, 0), axis="x", pitch=0.05, rate=2.0),
        fm.Prismatic("slider", b[0].at(0.3, 0, 0), b[2].at(-0.3, 0, 0), axis=(1.0, 0.0, 0.3), rate=0.2),
        fm.Universal("cross", b[1].at(0.3, 0, 0), b[3].at(-0.3, 0, 0), axis="x", cross="y"),
        fm.Spherical("ball", b[4].at(-0.3, 0, 0), b[2].at(0.3, 0, 0)),
    ]
    spring = fm.SpringDamper("spring", (b[2].at(0, 0, 0), ground.at(0, 0, 0)), 400.0, 1.0, rest=0.5)
    return fm.System([ground, *b], joints, [fm.Gravity((0.0, 0.0, -9.81)), spring, *forces])


@pytest.mark.parametrize("make", [arm, mechanisms.spatial_slider_crank, mechanisms.spatial_sleigh])
def test_coordinates_of_joints_give_the_motion_of_bodies(make: Any) -> None:
    system = make()
    here, there = (
        method.run(system, system.initial, 0.3, 0.1) for method in (TIGHT, in_bodies(rtol=1e-11, atol=1e-13))
    )
    assert here[1] == there[1] == "finished"
    assert_allclose(here[0].q, there[0].q, atol=1e-8)
    assert_allclose(here[0].v, there[0].v, atol=1e-7)
    assert_allclose(here[0].angles, there[0].angles, atol=1e-8)


def test_rates_are_those_of_multipliers() -> None:
    """u' of a loop, from v' of all bodies."""
    system = mechanisms.spatial_slider_crank(forces=(mechanisms.DOWN,))
    motion, start = tree_motion(system, system.initial.q), system.initial
    assert isinstance(motion, TreeMotion)
    motion.angles = start.angles.copy()
    y = motion.begin(0.0, start.q, start.v)
    rate = motion.rates(0.0, y)
    h, states = 1e-6, []
    for sign in (1.0, -1.0):
        states.append(motion.state(sign * h, y + sign * h * rate)[1])
    expected = fm.Multipliers().solve(system.equations(0.0, start.q, start.v, start.angles)).accelerations
    assert_allclose((states[0] - states[1]) / (2 * h), expected, atol=1e-5 * np.abs(expected).max())


def test_python_forces_do_as_compiled_ones() -> None:
    """A weight given as a function: SciPy's steppers over the same compiled evaluation."""
    system = mechanisms.spatial_pendulum()
    ground = fm.Ground()
    brick = fm.RigidBody(
        "brick", 2.0, 2.0 / 12 * np.array([0.05, 1.01, 1.04]), center=(0.5, 0.1, 0.05),
        rotation=np.eye(3), angular_velocity=(0.0, 0.0, 3.0),
    )  # fmt: skip
    ball = fm.Spherical("ball", ground.at(0, 0, 0), brick.at(0, 0, 0))
    weight = fm.UserForce(
        "weight", [brick.at(0.5, 0.1, 0.05)], lambda t, frames: [0.0, 0.0, -2.0 * 9.81, 0.0, 0.0, 0.0]
    )
    other = fm.System([ground, brick], [ball], [weight])
    here, there = (TIGHT.run(s, s.initial, 0.5, 0.25)[0] for s in (system, other))
    assert_allclose(there.q, here.q, atol=1e-9)
    steps = [fm.ExplicitRK("RK4").run(s, s.initial, 0.1, 0.01, 5)[0] for s in (system, other)]
    assert_allclose(steps[1].q, steps[0].q, atol=1e-13)


def test_turns_of_a_screw_are_counted() -> None:
    ground, nut = fm.Ground(), fm.RigidBody("nut", 1.0, (1.0, 1.0, 1.0))
    screw = fm.Screw("screw", ground.at(0, 0, 0), nut.at(0, 0, 0), axis="z", pitch=0.01, rate=20.0)
    system = fm.System([ground, nut], [screw])
    history, outcome, counters = fm.TangentSpaceODE().run(system, system.initial, 10.0, 5.0)
    assert outcome == "finished"
    assert counters["steps"] < 1000
    assert_allclose(history.angles[-1][system.measure_number(screw.angle)], 200.0, rtol=1e-10)
    assert_allclose(history.q[-1, 2], 0.01 * 200.0 / (2 * np.pi), rtol=1e-10)


def test_steps_are_those_of_scipy() -> None:
    """The same state after the same steps as SciPy's DOP853 and RK45 over the same equations."""
    system = mechanisms.planar_pendulum()
    for name in ("DOP853", "RK45"):
        history, _, counters = fm.TangentSpaceODE(name, rtol=1e-9, atol=1e-12).run(system, system.initial, 2.0, 2.0)
        forced = in_bodies(method=name, rtol=1e-9, atol=1e-12).run(system, system.initial, 2.0, 2.0)
        assert 0.5 < counters["steps"] / forced[2]["steps"] < 1.5
        assert_allclose(history.q, forced[0].q, atol=1e-7)


@pytest.mark.parametrize(("method", "steps"), [("RK4", (20, 40)), ("RK45", (10, 20)), ("DOP853", (4, 8))])
@pytest.mark.parametrize("loop", [False, True])
def test_equal_steps_have_the_order_of_their_method(method: str, steps: tuple[int, int], loop: bool) -> None:
    system = mechanisms.spatial_pendulum()
    if loop:  # which swings faster
        system, steps = (
            mechanisms.planar_slider_crank(forces=(fm.Gravity((0.0, -9.81, 0.0)),)),
            (4 * steps[0], 4 * steps[1]),
        )
    finest = fm.TangentSpaceODE(rtol=1e-12, atol=1e-14)
    exact = finest.run(system, system.initial, 0.5, 0.5)[0].q[-1]
    errors = []
    for n in steps:
        history, outcome, counters = fm.ExplicitRK(method).run(system, system.initial, 0.5, 0.5 / n, n // 2)
        assert outcome == "finished"
        assert counters["steps"] == n
        assert len(history.t) == 3
        errors.append(np.abs(history.q[-1] - exact).max())
    assert abs(np.log2(errors[0] / errors[1]) - fm.ExplicitRK(method).order) < 1.0


def test_a_fixed_step_ends_at_a_kink_and_outputs_lie_between_steps() -> None:
    system = mechanisms.double_pendulum(fm.Ramp(0.0, 1.0, start=0.303, duration=0.45))
    history, outcome, _ = fm.ExplicitRK("RK4").run(system, system.initial, 1.0, 0.01, 10)
    exact = TIGHT.run(system, system.initial, 1.0, 0.1)[0]
    assert outcome == "finished"
    assert_allclose(history.t, exact.t, atol=1e-15)
    assert_allclose(history.q, exact.q, atol=1e-5)


def test_steps_go_on_unattended_between_outputs() -> None:
    system = mechanisms.planar_pendulum()
    calls = []
    step = Stepper.step

    def counted(stepper: Stepper, until: float = np.inf, most: int = 1) -> int:
        calls.append(step(stepper, until, most))
        return calls[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stepper, "step", counted)
        _, _, counters = fm.TangentSpaceODE().run(system, system.initial, 20.0, 10.0)
    assert len(calls) == 2
    assert sum(calls) == counters["steps"] > 100


def test_energy_and_drift_over_many_steps() -> None:
    system = mechanisms.planar_pendulum()
    history, _, counters = fm.TangentSpaceODE(rtol=3e-14, atol=1e-15).run(system, system.initial, 200.0, 20.0)
    energy = history.v[:, 2] ** 2 / 2 + 9.81 * np.sin(history.q[:, 2])
    assert counters["steps"] > 3000
    assert np.abs(energy).max() < 9.81e-11
    loop = mechanisms.spatial_slider_crank(forces=(mechanisms.DOWN,))
    history, outcome, _ = fm.TangentSpaceODE("RK45", rtol=1e-4, max_step=2e-3).run(loop, loop.initial, 2.0, 0.5)
    assert outcome == "finished"
    for t, q, v, angles in zip(history.t, history.q, history.v, history.angles, strict=True):
        work = loop.evaluate(t, q, v, angles)
        assert max(np.abs(work.phi).max(), np.abs(work.phi_rate).max()) < 1e-12


def test_driven_tree_follows_its_drive() -> None:
    system = mechanisms.double_pendulum(Harmonic(0.4, 2.0))
    motion = TIGHT.motion(system, system.initial)
    assert isinstance(motion, TreeMotion)
    assert isinstance(in_bodies().motion(system, system.initial), TangentSpace)
    history, outcome, _ = TIGHT.run(system, system.initial, 1.0, 0.25)
    assert outcome == "finished"
    assert_allclose(history.q[:, 2], 0.4 * np.sin(2 * np.pi * 2.0 * history.t), atol=1e-12)


def test_bad_input() -> None:
    with pytest.raises(ModelError, match="method is one of RK4, RK45, DOP853, not 'Euler'"):
        fm.ExplicitRK("Euler")


def test_what_has_no_tree_moves_in_the_coordinates_of_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise ModelError("no tree")

    monkeypatch.setattr("flexmbs.system.system.tree_of", refused)
    monkeypatch.setattr("flexmbs.integrators.tree_motion.tree_of", refused)
    system = mechanisms.planar_pendulum()
    assert isinstance(TIGHT.motion(system, system.initial), TangentSpace)
    there = fm.ExplicitRK("RK45").run(system, system.initial, 0.5, 0.01, 50)[0]
    monkeypatch.undo()
    system = mechanisms.planar_pendulum()
    here = fm.ExplicitRK("RK45").run(system, system.initial, 0.5, 0.01, 50)[0]
    assert_allclose(there.q, here.q, atol=1e-9)
