"""Newton's iteration of generalized-alpha steps: factors of earlier steps serve, and the answer is the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexmbs.analyses.forward_dynamics import forward_dynamics
from flexmbs.bodies import Ground, PlanarBody, RigidBody
from flexmbs.fem.loads import Gravity
from flexmbs.forces import Stop
from flexmbs.integrators.generalized_alpha import GeneralizedAlpha
from flexmbs.joints import planar, spatial
from flexmbs.joints.drives import Drive
from flexmbs.profiles import Ramp
from flexmbs.system.system import System

GRAVITY = Gravity((0.0, 0.0, -9.81))


def chain(count: int) -> System:
    """Rods on hinges, level at first."""
    ground = Ground()
    rods = [RigidBody.box(f"rod {k}", (1.0, 0.1, 0.1), 1000.0) for k in range(count)]
    ends = [ground.at(0, 0, 0), *(b.at(0.5, 0, 0) for b in rods)]
    hinges = [spatial.Revolute(f"hinge {k}", ends[k], b.at(-0.5, 0, 0), axis="y") for k, b in enumerate(rods)]
    return System([ground, *rods], hinges, [GRAVITY])


def run(system: System, t_end: float, step: float, tolerance: float = 1e-8) -> Any:
    motion = forward_dynamics(
        system, t_end, step, output_step=10 * step, integrator=GeneralizedAlpha(tolerance=tolerance)
    )
    assert motion.outcome == "finished", motion.outcome
    return motion, motion.counters


def test_factors_serve_many_steps_and_leave_the_tolerance() -> None:
    loose, counters = run(chain(3), 0.5, 1e-3)
    tight, often = run(chain(3), 0.5, 1e-3, tolerance=1e-11)
    assert counters["factorisations"] < 0.2 * counters["steps"]
    assert counters["newton"] < 3.5 * counters["steps"]
    assert often["newton"] > counters["newton"]
    for name, error in (("q", 1e-9), ("v", 1e-8), ("rate", 1e-6), ("multipliers", 1e-6)):
        one, two = getattr(loose, name), getattr(tight, name)
        assert np.abs(one - two).max() < error * np.abs(two).max(), name


def test_a_sudden_change_begins_with_new_factors() -> None:
    """A pendulum meets a stiff stop: the motion is that of steps solved to the last digits."""

    def pendulum() -> System:
        ground, arm = Ground(), PlanarBody("arm", 1.0, 0.1, position=(0, 0), angle=0.0)
        hinge = planar.Revolute("hinge", ground.at(0, 0), arm.at(-0.5, 0))
        stop = Stop("stop", hinge.angle, lower=-0.3, stiffness=1e4)
        return System([ground, arm], [hinge], [Gravity((0, -9.81, 0)), stop])

    loose, counters = run(pendulum(), 0.8, 4e-4)
    tight, _ = run(pendulum(), 0.8, 4e-4, tolerance=1e-12)
    assert loose.coordinate(loose.system.joints[0].angle).min() < -0.3  # it was there
    assert 5 < counters["factorisations"] < 0.5 * counters["steps"]
    assert np.abs(loose.q - tight.q).max() < 1e-8


@pytest.mark.parametrize("tolerance", [1e-10, 1e-12])
def test_rounding_ends_the_iteration(tolerance: float) -> None:
    """Thirty metres from the origin, accelerations are not known to what is asked for; steps are not halved for it."""
    history, counters = run(chain(30), 0.05, 1e-3, tolerance)
    assert counters["steps"] == 50
    assert counters["newton"] < 10 * counters["steps"]
    assert np.isfinite(history.q).all()


def test_no_reactions_at_all() -> None:
    """An arm driven at constant speed about its mass centre: forces of rounding alone are no reason to go on."""
    ground, arm = Ground(), PlanarBody("arm", 1.0, 0.5)
    hinge = planar.Revolute("hinge", ground.at(0, 0), arm.at(0, 0))
    motor = Drive("motor", hinge.angle, Ramp(0.0, 2.0, 0.0, 1.0))
    motion, counters = run(System([ground, arm], [hinge, motor]), 0.5, 1e-3)
    assert counters["newton"] < 3 * counters["steps"]
    assert np.abs(motion.multipliers).max() < 1e-6
