"""Flexible bodies in mechanisms: tangents of all joints and forces, powers, formulations."""

from __future__ import annotations

import numpy as np
import pytest
from deforming_bodies import Cloud
from test_newton import JOINTS, PLANAR, tangent_error

from flexmbs.bodies import Ground
from flexmbs.fem.loads import Gravity
from flexmbs.forces import Bushing, SpringDamper
from flexmbs.joints import planar, spatial
from flexmbs.system.system import System

GRAVITY = Gravity((1.0, -2.0, -9.81))


@pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS.keys())
def test_joints_between_flexible_bodies(joint):
    ground, first, second = Ground(), Cloud("first", position=(0, 0, 0)), Cloud("second", seed=5)
    ball = spatial.Spherical("ball", ground.at(0, 0, 0), first.at(0.1, 0.2, 0.3))
    own = joint(first.at(1, 0.2, 0.3, axes=(0.1, 0.2, 0.3)), second.at(0.1, 0.2, 0.1))
    system = System([ground, first, second], [ball, own], [GRAVITY])
    assert tangent_error(system, np.random.default_rng(7)) < 1e-7


@pytest.mark.parametrize("joint", PLANAR.values(), ids=PLANAR.keys())
def test_joints_between_planar_flexible_bodies(joint):
    ground, first = Ground(), Cloud("first", planar=True, position=(0, 0, 0))
    second = Cloud("second", planar=True, seed=5)
    pin = planar.Revolute("pin", ground.at(0, 0), first.at(0.1, 0.1))
    system = System([ground, first, second], [pin, joint(first.at(1, 1), second.at(0.2, 0.2))], [GRAVITY])
    assert tangent_error(system, np.random.default_rng(7)) < 1e-7


def test_forces_between_flexible_bodies():
    ground, first, second = Ground(), Cloud("first", position=(0, 0, 0)), Cloud("second", seed=5, position=(1, 0.4, 0))
    spring = SpringDamper("spring", (first.at(1, 0, 0), second.at(0, 1, 0)), stiffness=30.0, damping=2.0, rest=0.3)
    bush = Bushing("bush", ground.at(0, 0, 0), first.at(0, 0, 0.2), stiffness=np.diag([9, 8, 7, 3, 2, 1.0]))
    system = System([ground, first, second], [], [GRAVITY, spring, bush])
    assert tangent_error(system, np.random.default_rng(7)) < 1e-7


@pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS.keys())
def test_rows_have_the_rates_they_say(joint):
    """Along a motion with constant v: φ' is J v, and (J v)' is -γ."""
    ground, first, second = Ground(), Cloud("first", position=(0, 0, 0)), Cloud("second", seed=5)
    own = joint(first.at(1, 0.2, 0.3, axes=(0.1, 0.2, 0.3)), second.at(0.1, 0.2, 0.1))
    system = System([ground, first, second], [own])
    rng, h = np.random.default_rng(3), 1e-5
    q, v = system.retract(system.initial.q, 0.2 * rng.normal(size=system.n_v)), rng.normal(size=system.n_v)
    now = system.evaluate(0.0, q, v)
    ahead, behind = (system.evaluate(0.0, system.retract(q, s * h * v), v) for s in (1, -1))
    held = system.holonomic
    np.testing.assert_allclose(((ahead.phi - behind.phi) / (2 * h))[held], now.phi_rate[held], atol=1e-8)
    np.testing.assert_allclose((ahead.phi_rate - behind.phi_rate) / (2 * h), -now.gamma, atol=1e-7)


def test_power_of_a_free_flight():
    """The kinetic and elastic energy of a flexible body in flight is constant."""
    body = Cloud("body", position=(0, 0, 0))
    system = System([body], [])
    rng = np.random.default_rng(3)
    q, v = system.retract(system.initial.q, 0.2 * rng.normal(size=system.n_v)), rng.normal(size=system.n_v)

    def energy(t, rate):
        moved = system.retract(q, t * v + t * t / 2 * rate)
        now = v + t * rate
        mass = system.equations(0.0, moved, now).M.toarray()
        return 0.5 * now @ mass @ now + 0.5 * moved[7:] @ body.moments.stiffness @ moved[7:]

    e = system.equations(0.0, q, v)
    rate, h = np.linalg.solve(e.M.toarray(), e.f), 1e-4
    slope = (8 * (energy(h, rate) - energy(-h, rate)) - energy(2 * h, rate) + energy(-2 * h, rate)) / (12 * h)
    assert abs(slope) < 1e-8 * energy(0.0, rate)
