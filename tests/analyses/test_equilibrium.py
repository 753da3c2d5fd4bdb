"""Statics and vibration of mechanisms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm


def chain(
    gravity: tuple[float, float, float], bodies: int = 3
) -> tuple[fm.System, list[fm.RigidBody], list[fm.Revolute]]:
    ground = fm.Ground()
    rods = [fm.RigidBody.box(f"rod{k}", (1.0, 0.1, 0.1), 1000.0) for k in range(bodies)]
    hinges, at = [], ground.at(0, 0, 0)
    for k, rod in enumerate(rods):
        hinges.append(fm.Revolute(f"hinge{k}", at, rod.at(-0.5, 0, 0), axis="y", start=0.3))
        at = rod.at(0.5, 0, 0)
    return fm.System([ground, *rods], hinges, [fm.Gravity(gravity)]), rods, hinges


def test_a_chain_hangs_down_and_its_hinge_carries_the_weight() -> None:
    system, rods, hinges = chain((0.0, 0.0, -9.81))
    rest = fm.statics(system)
    assert rest.stable
    assert_allclose(rest.position(rods[-1].at(0.5, 0, 0))[0], [0.0, 0.0, -3.0], atol=1e-9)
    assert_allclose(rest.reaction(hinges[0])[0], [0, 0, 3 * 10 * 9.81, 0, 0, 0], atol=1e-8)


def test_frequencies_of_a_compound_pendulum() -> None:
    """ω² = m g a / J about the hinge."""
    system, _, _ = chain((0.0, 0.0, -9.81), bodies=1)
    about_hinge = 10.0 * (1 + 0.01) / 12 + 10.0 * 0.25
    assert fm.modes(system).frequencies == pytest.approx(np.sqrt(10 * 9.81 * 0.5 / about_hinge) / (2 * np.pi))


def test_frequencies_of_a_chain_are_those_of_its_motion() -> None:
    """A small free motion in the first mode returns after one period."""
    system, _, _ = chain((0.0, 0.0, -9.81))
    rest = fm.statics(system)
    modes = fm.modes(system, about=rest)
    q = system.retract(rest.q[0], 1e-4 * modes.shapes[0].real)
    start = fm.State(0.0, q, np.zeros(system.n_v), rest.angles[0])
    period = 1.0 / modes.frequencies[0]
    motion = fm.forward_dynamics(system, period, step=period / 400, start=start, integrator=fm.TangentSpaceODE())
    assert_allclose(motion.q[-1], q, atol=1e-8)


def test_damping_of_an_oscillator() -> None:
    ground = fm.Ground()
    block = fm.PlanarBody("block", mass=2.0, inertia=1.0)
    slide = fm.planar.Prismatic("slide", ground.at(0, 0), block.at(0, 0), axis="y")
    spring = fm.SpringDamper("spring", slide.distance, stiffness=800.0, damping=8.0, rest=0.5)
    system = fm.System([ground, block], [slide], [fm.Gravity((0, -9.81, 0)), spring])
    rest = fm.statics(system)
    assert rest.position(block)[0, 1] == pytest.approx(0.5 - 2 * 9.81 / 800)
    assert fm.modes(system).eigenvalues == pytest.approx([-2 + 1j * np.sqrt(396)])
    assert fm.modes(system).damping == pytest.approx([0.1])
    motion = fm.forward_dynamics(system, 1.0, step=1e-3, output_step=1e-3, integrator=fm.TangentSpaceODE())
    assert motion.energy.dissipated[-1] > 0.5 * motion.energy.total[0]
    assert np.abs(motion.energy.drift).max() < 1e-4 * motion.energy.dissipated[-1]


def test_an_inverted_pendulum_is_not_stable_where_it_stands() -> None:
    ground = fm.Ground()
    rod = fm.PlanarBody("rod", mass=1.0, inertia=0.1, center=(0.0, 1.0))
    hinge = fm.planar.Revolute("hinge", ground.at(0, 0), rod.at(0, 0), start=0.0)
    system = fm.System([ground, rod], [hinge], [fm.Gravity((0, -9.81, 0))])
    rest = fm.statics(system)
    assert not rest.stable
    modes = fm.modes(system, about=rest)
    assert not modes.stable
    assert modes.eigenvalues.real.max() == pytest.approx(np.sqrt(9.81 / 1.1))


def test_refusals() -> None:
    free = fm.System([fm.PointMass("p", 1.0, position=(0, 0, 0))], [], [fm.Gravity((0, 0, -9.81))])
    with pytest.raises(fm.AnalysisError, match="no equilibrium was found"):
        fm.statics(free)
    system, _, _ = chain((0.0, 0.0, -9.81), bodies=1)
    with pytest.raises(fm.AnalysisError, match="give nothing else"):
        fm.statics(system, fixed="x0")
    initial = system.initial
    moving = fm.State(0.0, initial.q, initial.v + 1.0, initial.angles)
    with pytest.raises(fm.AnalysisError, match="modes: the velocities do not fulfil hinge0"):
        fm.modes(system, about=moving)
