"""Far from the origin positions are rounded more coarsely; steps do not ask for more than that."""

from __future__ import annotations

import numpy as np
import pytest

import flexmbs as fm


def swing(far: float, integrator: fm.GeneralizedAlpha) -> np.ndarray:
    ground = fm.Ground()
    arm = fm.PlanarBody("arm", 1.0, 0.1, position=(far + 1.0, 0.0))
    hinge = fm.planar.Revolute("hinge", ground.at(far, 0.0), arm.at(-1.0, 0.0), rate=1.0)
    system = fm.System([ground, arm], [hinge], [fm.Gravity((0.0, -9.81, 0.0))])
    motion = fm.forward_dynamics(system, 1.0, step=2e-3, output_step=0.1, integrator=integrator)
    assert motion.outcome == "finished"
    return motion.coordinate(hinge.angle)


@pytest.mark.parametrize(("stabilised", "within"), [(False, 5e-4), (True, 1e-6)])
def test_a_pendulum_swings_as_well_far_from_the_origin(stabilised: bool, within: float) -> None:
    """At 1000 km rounding is 1e-10 m, which a step of 2 ms sees as an acceleration of 1e-4 m/s²."""
    method = fm.GeneralizedAlpha(stabilised=stabilised)
    near, there = (swing(far, method) for far in (0.0, 1e6))
    np.testing.assert_allclose(there, near, atol=within)
