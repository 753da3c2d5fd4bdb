"""The stabilised generalized-alpha method: positions and velocities on the constraints, multipliers of second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mechanisms import (
    double_pendulum,
    planar_slider_crank,
    point_pendulum,
    spatial_pendulum,
    spatial_sleigh,
    spatial_slider_crank,
    two_loop_four_bar,
)
from scipy.integrate import solve_ivp

import flexmbs as fm
from flexmbs.errors import ModelError

STABILISED = fm.GeneralizedAlpha(stabilised=True)
TIGHT = fm.TangentSpaceODE(rtol=1e-11, atol=1e-12)


def speed_errors(motion: fm.Result) -> np.ndarray:
    """Largest rate of any row at each instant."""
    states = zip(motion.t, motion.q, motion.v, motion.angles, strict=True)
    return np.array([np.abs(motion.system.evaluate(*s).phi_rate).max() for s in states])


@pytest.mark.parametrize(
    "make",
    [
        spatial_slider_crank,
        two_loop_four_bar,
        spatial_pendulum,
        spatial_sleigh,
        lambda: double_pendulum(fm.SpinUp(3.0, over=1.0)),
    ],
    ids=["redundant rows", "two loops", "spherical joint", "nonholonomic", "driven"],
)
def test_second_order_with_multipliers_and_both_levels(make: Any) -> None:
    system = make()
    exact = fm.forward_dynamics(system, 0.3, 0.1, integrator=TIGHT)
    errors = []
    for n in (30, 60, 120):
        motion = fm.forward_dynamics(system, 0.3, 0.3 / n, integrator=STABILISED)
        assert motion.outcome == "finished"
        assert motion.constraint_error.max() < 1e-12
        assert speed_errors(motion).max() < 1e-12 * max(1.0, np.abs(motion.v).max())
        # the state at the start is exact: only what steps have made counts
        pairs = [(getattr(motion, k)[n // 3 :: n // 3], getattr(exact, k)[1:]) for k in ("q", "v", "multipliers")]
        errors.append([np.abs(a - b).max() for a, b in pairs])
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders[:, :2] == pytest.approx(2.0, abs=0.15)
    assert orders[-1, 2] == pytest.approx(2.0, abs=0.35)  # multipliers of the sleigh have an error that changes sign


def first_multiplier_errors(system: fm.System, integrator: Any) -> np.ndarray:
    errors = []
    for h in (4e-3, 2e-3, 1e-3):
        exact = fm.forward_dynamics(system, h, h, integrator=TIGHT).multipliers[-1]
        errors.append(np.abs(fm.forward_dynamics(system, h, h, integrator=integrator).multipliers[-1] - exact).max())
    return np.array(errors)


def test_multipliers_are_of_second_order_from_the_first_step_on() -> None:
    """Index 3 begins with an error of first order, which its damping removes after some steps."""
    system = planar_slider_crank()
    one, two = (first_multiplier_errors(system, i) for i in (fm.GeneralizedAlpha(), STABILISED))
    assert np.log2(one[:-1] / one[1:]) == pytest.approx(1.0, abs=0.1)
    assert np.log2(two[:-1] / two[1:]) == pytest.approx(2.0, abs=0.15)
    assert two[-1] < 0.02 * one[-1]


def test_agrees_with_index_3_as_the_step_shrinks() -> None:
    system = two_loop_four_bar()
    apart = []
    for n in (50, 100, 200):
        one, two = (
            fm.forward_dynamics(system, 0.5, 0.5 / n, integrator=i) for i in (fm.GeneralizedAlpha(), STABILISED)
        )
        apart.append(np.abs(one.q[-1] - two.q[-1]).max())
    assert np.log2(np.array(apart[:-1]) / apart[1:]) == pytest.approx(2.0, abs=0.2)


def test_nothing_drifts_in_a_long_run() -> None:
    """Index 3 leaves velocities off the constraints by what its order allows; here they stay at rounding."""
    system = two_loop_four_bar()
    motion = fm.forward_dynamics(system, 50.0, 5e-3, output_step=0.5, integrator=STABILISED)
    assert motion.outcome == "finished"
    assert motion.constraint_error.max() < 1e-12
    assert speed_errors(motion).max() < 1e-11
    assert speed_errors(fm.forward_dynamics(system, 5.0, 5e-3, output_step=0.5)).max() > 1e-6


def test_pendulum_is_that_of_elliptic_functions_and_keeps_its_energy() -> None:
    motion = fm.forward_dynamics(point_pendulum(), 1.0, 1e-3, integrator=fm.GeneralizedAlpha(0.98, stabilised=True))
    exact = solve_ivp(lambda t, y: [y[1], -9.81 * np.sin(y[0])], (0, 1), [-np.pi / 2, 0.0], rtol=1e-11, atol=1e-12)
    angle = exact.y[0, -1]
    assert motion.q[-1] == pytest.approx([np.sin(angle), -np.cos(angle), 0.0], abs=2e-5)
    # λ is the force of the rod: m v² / L + m g cos
    speed = np.sum(motion.v**2, axis=1)
    pull = speed - 9.81 * motion.q[:, 1]
    assert np.abs(motion.multipliers[:, 0]) == pytest.approx(pull, abs=1e-3)
    assert np.ptp(motion.energy.total) < 1e-4 * 9.81


@pytest.mark.parametrize("stabilised", [False, True])
def test_kinks_of_drives_give_impulses_and_no_oscillation(stabilised: bool) -> None:
    """A crank that is set in motion at once and stopped again: rods follow, and between the jumps nothing rings."""
    system = double_pendulum(fm.Ramp(0.0, 1.0, start=0.10317, duration=0.4))
    exact = fm.forward_dynamics(system, 0.7, 0.1, integrator=TIGHT)
    errors = []
    for n in (140, 280):
        integrator = fm.GeneralizedAlpha(stabilised=stabilised)
        motion = fm.forward_dynamics(system, 0.7, 0.7 / n, output_step=0.1, integrator=integrator)
        errors.append(
            [np.abs(motion.q - exact.q).max(), np.abs(motion.v - exact.v).max()]
            + ([np.abs(motion.multipliers - exact.multipliers).max()] if stabilised else [])
        )
    assert (np.log2(np.array(errors[0]) / errors[1]) > 1.8).all()


def test_user_forces_and_python_drives() -> None:
    """A Python force that is a spring, and a Python drive, give what compiled ones give."""

    def build(python: bool) -> fm.System:
        ground, tip = fm.Ground(), fm.PlanarBody("tip", 0.5, 0.05)
        arm = fm.PlanarBody("arm", 1.0, 0.1, center=(0.5, 0.0))
        hinge = fm.planar.Revolute("hinge", ground.at(0, 0), arm.at(0, 0))
        elbow = fm.planar.Revolute("elbow", arm.at(1, 0), tip.at(-0.3, 0))
        law: Any = (lambda t: 0.5 * t * t) if python else fm.Polynomial([0.0, 0.0, 0.5])
        anchor, end = ground.at(2, 0), tip.at(0, 0)

        def pull(t: float, states: Any) -> np.ndarray:
            return np.concatenate([40.0 * (np.array([2.0, 0.0, 0.0]) - states[0].position), np.zeros(3)])

        force: Any = (
            fm.UserForce("pull", [end], pull)
            if python
            else fm.SpringDamper("pull", (anchor, end), stiffness=40.0, rest=0.0)
        )
        return fm.System([ground, arm, tip], [hinge, elbow, fm.Drive("motor", hinge.angle, law)], [force])

    one, two = (fm.forward_dynamics(build(p), 0.2, 5e-3, integrator=STABILISED) for p in (False, True))
    assert two.outcome == "finished"
    assert np.abs(one.q - two.q).max() < 1e-9
    assert speed_errors(two).max() < 1e-12


def test_bad_input() -> None:
    with pytest.raises(ModelError, match="stabilised must be True or False, not 'yes'"):
        fm.GeneralizedAlpha(stabilised="yes")  # type: ignore[arg-type]
