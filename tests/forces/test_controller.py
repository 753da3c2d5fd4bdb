"""Sampled controllers against the exact discrete-time solution."""

from __future__ import annotations

import numpy as np
import pytest

import flexmbs as fm

MASS, PERIOD, KP, KD = 2.0, 0.05, 30.0, 8.0


def pd(t, inputs, memory):
    (x, speed) = inputs[0]
    return KP * (1.0 - x) - KD * speed, memory


def cart(law=pd, period=PERIOD, memory=None):
    ground = fm.Ground()
    mass = fm.PointMass("mass", MASS, position=(0.2, 0, 0), velocity=(0.5, 0, 0))
    slider = fm.PointOnLine("slider", ground.at(), mass.at(), axis="x")
    way = slider.along(np.array([1.0, 0, 0]), "slider.distance")
    controller = fm.Controller("pd", period, [way], [way], law, memory)
    return fm.System([ground, mass], [slider], [controller]), mass, controller


def exact(count):
    """x and x' at the samples: the force is constant in between."""
    x, v, out = 0.2, 0.5, []
    for _ in range(count + 1):
        out.append((x, v))
        a = (KP * (1.0 - x) - KD * v) / MASS
        x, v = x + PERIOD * v + 0.5 * PERIOD**2 * a, v + PERIOD * a
    return np.array(out)


@pytest.mark.parametrize("integrator", [None, fm.TangentSpaceODE(rtol=1e-10)], ids=["alpha", "tangent"])
def test_sampled_law_gives_the_discrete_time_solution(integrator):
    system, mass, controller = cart()
    motion = fm.forward_dynamics(system, 2.0, PERIOD / 5, output_step=PERIOD, integrator=integrator)
    assert motion.outcome == "finished"
    np.testing.assert_allclose(motion.t, PERIOD * np.arange(41), atol=1e-12)
    np.testing.assert_allclose(motion.position(mass)[:, 0], exact(40)[:, 0], atol=1e-9)
    np.testing.assert_allclose(motion.velocity(mass)[:, 0], exact(40)[:, 1], atol=1e-9)
    held = KP * (1.0 - exact(40)[:, 0]) - KD * exact(40)[:, 1]
    np.testing.assert_allclose(motion.force(controller)[:-1, 0], held[:-1], atol=1e-8)
    np.testing.assert_allclose(motion.controllers["pd"].outputs[:, 0], held[:-1], atol=1e-8)
    np.testing.assert_allclose(motion.controllers["pd"].inputs[:, :2], exact(40)[:-1], atol=1e-9)
    np.testing.assert_allclose(MASS * motion.acceleration(mass)[:-1, 0], held[:-1], atol=1e-7)


def test_work_of_the_controller_is_in_the_energy():
    system, _, _ = cart()
    motion = fm.forward_dynamics(system, 1.0, PERIOD / 50)
    # at a sample the force jumps, and the trapezoidal rule sees the force after it on both sides
    assert abs(motion.energy.drift).max() < 2e-2 * np.abs(motion.energy.total).max()
    between = motion.energy.total[:50] - motion.energy.total[0] + motion.energy.dissipated[:50]
    assert np.abs(between).max() < 1e-9


def integrating(t, inputs, memory):
    memory.append(float(inputs[0].value))  # changes what it was given: each run still begins afresh
    return 4.0 * (1.0 - inputs[0].value) + 2.0 * sum(1.0 - x for x in memory) * PERIOD, memory


def test_two_runs_are_identical_and_nothing_is_changed():
    begin: list[float] = []
    system, _, controller = cart(integrating, memory=begin)
    one, two = (fm.forward_dynamics(system, 1.0, PERIOD / 5) for _ in range(2))
    assert np.array_equal(one.q, two.q)
    assert begin == []
    assert controller.memory == []
    assert len(one.controllers["pd"].memory) == 20


def test_restart_continues_with_the_memory():
    system, mass, _ = cart(integrating, memory=[])
    whole = fm.forward_dynamics(system, 1.0, PERIOD / 5)
    half = fm.forward_dynamics(system, 0.5, PERIOD / 5)
    rest = fm.forward_dynamics(system, 1.0, PERIOD / 5, start=half)
    np.testing.assert_allclose(rest.position(mass)[-1], whole.position(mass)[-1], atol=1e-11)


def test_two_rates_and_frames_as_inputs():
    ground = fm.Ground()
    arm = fm.RigidBody.box("arm", size=(1.0, 0.1, 0.1), density=100.0)
    hinge = fm.Revolute("hinge", ground.at(0, 0, 0), arm.at(-0.5, 0, 0), axis="z", rate=9.0)
    tip = arm.at(0.5, 0, 0)
    seen = []

    def look(t, inputs, memory):
        seen.append((t, inputs[0].value, inputs[0].rate, inputs[1].position.copy(), inputs[1].velocity.copy()))
        return [0.0], memory

    fast = fm.Controller("fast", 0.02, [hinge.angle, tip], hinge.angle, look)
    slow = fm.Controller("slow", 0.05, [], [hinge.angle], lambda t, inputs, memory: (0.0, memory))
    system = fm.System([ground, arm], [hinge], [fast, slow])
    motion = fm.forward_dynamics(system, 1.0, 0.01, integrator=fm.TangentSpaceODE(rtol=1e-9))
    times = np.array([s[0] for s in seen])
    np.testing.assert_allclose(times, 0.02 * np.arange(50), atol=1e-12)
    assert len(motion.controllers["slow"].t) == 20
    for t, angle, rate, position, velocity in seen:  # it turns steadily, and turns are counted
        assert angle == pytest.approx(9.0 * t, abs=1e-6)
        assert rate == pytest.approx(9.0, abs=1e-6)
        np.testing.assert_allclose(position, [np.cos(9 * t), np.sin(9 * t), 0], atol=1e-5)
        np.testing.assert_allclose(velocity, [-9 * np.sin(9 * t), 9 * np.cos(9 * t), 0], atol=1e-4)


def test_a_sensed_angle_on_which_nothing_acts_counts_turns():
    ground = fm.Ground()
    first = fm.RigidBody("first", 1.0, np.eye(3))
    second = fm.RigidBody("second", 1.0, np.eye(3), position=(0, 0, 1))
    one = fm.Revolute("one", ground.at(), first.at(), axis="z", rate=5.0)
    two = fm.Revolute("two", ground.at(0, 0, 1), second.at(), axis="z", rate=-3.0)
    between = fm.Revolute("between", first.at(), second.at(0, 0, -1), axis="z")  # not in the system: only its angle is
    values = []

    def look(t, inputs, memory):
        values.append(inputs[0])
        return 0.0, memory

    controller = fm.Controller("look", 0.1, [between.angle], [one.angle], look)
    fm.forward_dynamics(fm.System([ground, first, second], [one, two], [controller]), 2.0, 0.02)
    np.testing.assert_allclose([v.value for v in values], -8.0 * 0.1 * np.arange(20), atol=1e-6)
    np.testing.assert_allclose([v.rate for v in values], -8.0, atol=1e-9)


def test_controllers_are_refused_in_words():
    system, mass, controller = cart()
    way = controller.act[0]
    for arguments, words in (
        (("", 0.1, [way], [way], pd), "needs a name"),
        (("c", 0.0, [way], [way], pd), "period must be a positive"),
        (("c", 0.1, [3.0], [way], pd), "sense is a list"),
        (("c", 0.1, [way], [mass.at()], pd), "act is a list"),
        (("c", 0.1, [way], [], pd), "at least one"),
        (("c", 0.1, [way], [way], 3.0), "cannot be called"),
    ):
        with pytest.raises(fm.ModelError, match=words):
            fm.Controller(*arguments)
    with pytest.raises(fm.AnalysisError, match=r"take step=0\.025"):
        fm.forward_dynamics(system, 1.0, 0.03)
    for law, words in (
        (lambda t, inputs, memory: 3.0, r"must return \(outputs, memory\)"),
        (lambda t, inputs, memory: ((1.0, 2.0), memory), "must give 1 finite"),
        (lambda t, inputs, memory: (np.nan, memory), "must give 1 finite"),
    ):
        with pytest.raises(fm.ModelError, match=words):
            fm.forward_dynamics(cart(law)[0], 1.0, 0.01)
    stranger = fm.PointMass("stranger", 1.0, position=(0, 0, 0))
    with pytest.raises(fm.ModelError, match="'stranger' is not in the system"):
        fm.System([mass], [], [fm.Controller("c", 0.1, [stranger.at()], [way], pd)])
