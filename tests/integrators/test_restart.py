"""Runs that go on, stop, fail and are interrupted, and states between those that were kept."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from mechanisms import (
    double_pendulum,
    free_rotor,
    locking_four_bar,
    point_pendulum,
    spatial_pendulum,
    two_loop_four_bar,
)

import flexmbs as fm
from flexmbs.errors import AnalysisError

INTEGRATORS = {
    "index 3": fm.GeneralizedAlpha(),
    "stabilised": fm.GeneralizedAlpha(stabilised=True),
    "adaptive": fm.TangentSpaceODE(),
}


@pytest.mark.parametrize("stabilised", [False, True])
@pytest.mark.parametrize("make", [spatial_pendulum, two_loop_four_bar])
def test_two_halves_are_the_whole(make: Any, stabilised: bool) -> None:
    system, integrator = make(), fm.GeneralizedAlpha(stabilised=stabilised)
    whole = fm.forward_dynamics(system, 0.5, 1 / 512, integrator=integrator)
    half = fm.forward_dynamics(system, 0.25, 1 / 512, integrator=integrator)
    rest = fm.forward_dynamics(system, 0.5, 1 / 512, integrator=integrator, start=half)
    for name in ("q", "v", "rate", "multipliers", "angles"):
        one, two = getattr(whole, name)[128:], getattr(rest, name)
        assert np.abs(one - two).max() <= 1e-14 * np.abs(one).max(), name


def test_a_changed_system_starts_with_its_own_accelerations() -> None:
    """What a run left behind belongs to its forces: with gravity gone, the pendulum goes on without it."""
    one, two = spatial_pendulum(), spatial_pendulum()
    free = fm.System(two.bodies, two.joints)
    half = fm.forward_dynamics(one, 0.1, 1e-3)
    rest = fm.forward_dynamics(free, 0.2, 1e-3, start=half)
    exact = fm.accelerations(free, 0.1, half.q[-1], half.v[-1])
    assert rest.rate[0] == pytest.approx(exact.accelerations, abs=1e-9)


def test_another_step_or_integrator_goes_on_from_positions_and_velocities() -> None:
    system = two_loop_four_bar()
    half = fm.forward_dynamics(system, 0.25, 1e-3)
    exact = fm.forward_dynamics(system, 0.5, 0.25, integrator=fm.TangentSpaceODE(rtol=1e-10))
    for integrator, step in (
        (fm.GeneralizedAlpha(), 5e-4),
        (fm.GeneralizedAlpha(0.5), 1e-3),
        (fm.TangentSpaceODE(), 1e-3),
    ):
        rest = fm.forward_dynamics(system, 0.5, step, integrator=integrator, start=half)
        assert rest.t[0] == half.t[-1]
        assert rest.q[0] == pytest.approx(half.q[-1], abs=1e-12)
        assert rest.q[-1] == pytest.approx(exact.q[-1], abs=2e-4)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_starts_at_rest_from_an_equilibrium(name: str) -> None:
    ground, rod = fm.Ground(), fm.RigidBody.box("rod", size=(1.0, 0.1, 0.1), density=1000.0)
    hinge = fm.Revolute("hinge", ground.at(0, 0, 0), rod.at(-0.5, 0, 0), axis="y", start=0.4)
    spring = fm.SpringDamper("spring", hinge.angle, stiffness=500.0)
    system = fm.System([ground, rod], [hinge], [fm.Gravity((0, 0, -9.81)), spring])
    rest = fm.statics(system)
    motion = fm.forward_dynamics(system, 0.2, 1e-2, start=rest, integrator=INTEGRATORS[name])
    assert np.abs(motion.coordinate(hinge.angle) - rest.coordinate(hinge.angle)).max() < 1e-9
    assert np.abs(motion.v).max() < 1e-8
    moving = fm.forward_dynamics(system, 0.2, 1e-2, integrator=INTEGRATORS[name])
    assert np.abs(moving.v).max() > 0.1


# ---- stops ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stabilised", [False, True])
def test_a_lock_stops_with_time_joint_and_reason(stabilised: bool) -> None:
    system = locking_four_bar(fm.Polynomial([0.6, -0.4]))  # opens until the rods are stretched
    edge = np.arccos((2.5**2 + 3**2 - 2**2) / 15.0)
    towards = locking_four_bar(fm.Polynomial([0.5, 1.0]))
    locked = edge - 0.5
    assert system.mobility == 0
    motion = fm.forward_dynamics(towards, 1.0, 1e-2, integrator=fm.GeneralizedAlpha(stabilised=stabilised))
    assert motion.outcome.startswith("stopped at t = ")
    assert locked - 0.02 < motion.t[-1] <= locked
    assert any(joint in motion.outcome for joint in ("knee", "tip", "foot", "shaft", "motor"))
    assert np.isfinite(motion.q).all()
    assert motion.constraint_error.max() < 1e-9


@pytest.mark.parametrize("name", INTEGRATORS)
def test_what_becomes_undefined_stops_and_says_when(name: str) -> None:
    """A Python force that exists until t = 0.255 only."""
    ground, arm = fm.Ground(), fm.PlanarBody("arm", 1.0, 0.1)
    hinge = fm.planar.Revolute("hinge", ground.at(0, 0), arm.at(0, 0))

    def law(t: float, states: Any) -> Any:
        return np.array([1.0 if t <= 0.255 else np.nan, 0, 0, 0, 0, 0])

    system = fm.System([ground, arm], [hinge], [fm.UserForce("gone", [arm.at(0.5, 0)], law)])
    motion = fm.forward_dynamics(system, 1.0, 0.01, integrator=INTEGRATORS[name])
    assert motion.outcome.startswith("stopped at t = 0.25")
    assert "gone" in motion.outcome
    assert 0.249 < motion.t[-1] <= 0.2551
    assert np.isfinite(motion.q).all()


@pytest.mark.parametrize("stabilised", [False, True])
def test_an_undefined_number_of_one_body_is_not_hidden_by_another(stabilised: bool) -> None:
    ground = fm.Ground()
    first, second = (fm.PointMass(n, 1.0, position=(k, 0, 0)) for k, n in enumerate(("first", "second")))
    far = fm.SpringDamper("far", (ground.at(0, 0, 0), first.at()), stiffness=1.0, rest=1.0)  # no direction at length 0
    system = fm.System([ground, first, second], [], [far, fm.Gravity((0, 0, -1.0))])
    motion = fm.forward_dynamics(system, 0.1, 0.01, integrator=fm.GeneralizedAlpha(stabilised=stabilised))
    assert motion.outcome.startswith("stopped at t = 0: a number became infinite or undefined")
    assert np.isfinite(motion.q).all()


@pytest.mark.parametrize("name", INTEGRATORS)
def test_interrupted_runs_keep_what_was_computed(name: str) -> None:
    def interrupt(t: float) -> None:
        if t > 0.5:
            raise KeyboardInterrupt

    system = point_pendulum()
    motion = fm.forward_dynamics(system, 1.0, 1e-4, output_step=1e-2, integrator=INTEGRATORS[name], progress=interrupt)
    assert motion.outcome.startswith("interrupted at t = 0.")
    assert 0.2 < motion.t[-1] < 0.7
    whole = fm.forward_dynamics(system, 1.0, 1e-4, output_step=1e-2, integrator=INTEGRATORS[name])
    assert motion.q[-1] == pytest.approx(whole.q[len(motion.t) - 1], abs=1e-12)
    rest = fm.forward_dynamics(system, 1.0, 1e-4, output_step=1e-2, integrator=INTEGRATORS[name], start=motion)
    assert rest.q[-1] == pytest.approx(whole.q[-1], abs=1e-7)


# ---- between instants -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [free_rotor, spatial_pendulum, two_loop_four_bar])
def test_states_between_are_of_sixth_order(make: Any) -> None:
    system, tight = make(), fm.TangentSpaceODE(rtol=1e-12, atol=1e-13)
    times = np.linspace(0.0, 0.4, 33)
    exact = fm.forward_dynamics(system, 0.4, 0.4 / 32, integrator=tight)
    errors = []
    for n in (4, 8):
        kept = fm.forward_dynamics(system, 0.4, 0.4 / n, integrator=tight)
        found = kept.at(times)
        errors.append([np.abs(found.q - exact.q).max(), np.abs(found.v - exact.v).max()])
        assert found.constraint_error.max() < 1e-12
        assert np.array_equal(kept.at(kept.t).q, kept.q)
    orders = np.log2(np.array(errors[0]) / errors[1])
    assert orders[0] > 5.3
    assert orders[1] > 4.5  # velocities are one order less, positions are closed by projection


def test_between_instants_angles_count_turns_and_multipliers_balance() -> None:
    system = double_pendulum(fm.ConstantSpeed(9.0))
    motion = fm.forward_dynamics(system, 2.0, 1e-3, output_step=0.1)
    angle = system.joints[0].angle
    found = motion.at([0.05, 1.234, 1.95])
    assert found.coordinate(angle) == pytest.approx(9.0 * found.t, abs=1e-9)
    one = fm.forward_dynamics(system, 1.234, 1e-3)
    assert found.multipliers[1] == pytest.approx(one.multipliers[-1], rel=2e-3)
    assert motion.at(1.95).t.tolist() == [1.95]
    assert len(motion.at([]).t) == 0


def test_bad_times() -> None:
    motion = fm.forward_dynamics(free_rotor(), 2.0, 1e-2, output_step=1.0)
    with pytest.raises(AnalysisError, match="t = 3 lies outside of what was kept, 0 to 2"):
        motion.at([1.0, 3.0])
    with pytest.raises(AnalysisError, match="times must be one time or a list"):
        motion.at(np.nan)
    with pytest.raises(AnalysisError, match="more than half a turn"):
        motion.at(0.5)
    with pytest.raises(AnalysisError, match="without any instants"):
        fm.forward_dynamics(motion.system, 1.0, start=motion.at([]))


@pytest.mark.parametrize("stabilised", [False, True])
def test_a_python_drive_that_fails_stops_the_run(stabilised: bool) -> None:
    """math.sqrt refuses what is negative: the run ends before, and keeps what it has."""
    law = fm.profiles.as_profile(
        lambda t: math.sqrt(0.5 - t), rate=lambda t: -0.5 / math.sqrt(0.5 - t),
        acceleration=lambda t: -0.25 / math.sqrt(0.5 - t) ** 3,
    )  # fmt: skip
    system = double_pendulum(law)
    motion = fm.forward_dynamics(system, 1.0, 0.013, integrator=fm.GeneralizedAlpha(stabilised=stabilised))
    assert motion.outcome.startswith("stopped at t = 0.4")
    assert 0.48 < motion.t[-1] < 0.5
    assert np.isfinite(motion.q).all()
