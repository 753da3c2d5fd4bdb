"""Events are found where they are, with all integrators, and end a run exactly there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import flexmbs as fm
from flexmbs.errors import AnalysisError, ModelError

INTEGRATORS = {
    "index 3": fm.GeneralizedAlpha(),
    "stabilised": fm.GeneralizedAlpha(stabilised=True),
    "DOP853": fm.TangentSpaceODE(rtol=1e-10),
    "Radau": fm.TangentSpaceODE(method="Radau", rtol=1e-7),
    "projected": fm.Projected(),
}


def pendulum(turn: bool = False) -> tuple[fm.System, Any]:
    """A point mass on a rod of 1 m, let go at a right angle; or thrown so that it turns round and round."""
    ground = fm.Ground()
    body = fm.PlanarBody("body", mass=1.0, inertia=0.0, center=(0.0, -1.0))
    start, rate = (0.0, 8.0) if turn else (np.pi / 2, 0.0)
    hinge = fm.planar.Revolute("hinge", ground.at(0, 0), body.at(0, 0), start=start, rate=rate)
    return fm.System([ground, body], [hinge], [fm.Gravity((0.0, -9.81, 0.0))]), hinge


QUARTER = ellipk(0.5) / np.sqrt(9.81)
"""A quarter of the period."""


@pytest.mark.parametrize("name", INTEGRATORS)
def test_passing_the_lowest_point(name: str) -> None:
    system, hinge = pendulum()
    down = fm.Event("down", hinge.angle, direction=-1)
    both = fm.Event("both", hinge.angle)
    motion = fm.forward_dynamics(system, 5.2 * QUARTER, 1e-3, integrator=INTEGRATORS[name], events=[down, both])
    assert motion.outcome == "finished"
    error = 2e-4 if "Gen" in repr(INTEGRATORS[name]) else 1e-6
    assert motion.events["down"].t == pytest.approx(QUARTER * np.array([1, 5]), abs=error)
    assert motion.events["both"].t == pytest.approx(QUARTER * np.array([1, 3, 5]), abs=error)
    assert np.abs(motion.events["both"].coordinate(hinge.angle)).max() < 1e-11
    assert np.abs(motion.events["both"].v[:, 2]) == pytest.approx(np.sqrt(2 * 9.81), rel=1e-4)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_a_run_ends_exactly_at_an_event_and_goes_on_from_there(name: str) -> None:
    system, hinge = pendulum()
    stop = fm.Event("half way", hinge.angle, level=0.5, stop=True)
    given: dict[str, Any] = {"step": 1e-3, "output_step": 1e-2, "integrator": INTEGRATORS[name]}
    motion = fm.forward_dynamics(system, 2.0, **given, events=[stop])
    assert motion.outcome.startswith("stopped by event 'half way' at t = 0.")
    assert motion.coordinate(hinge.angle)[-1] == pytest.approx(0.5, abs=1e-12)
    assert motion.t[-1] == motion.events["half way"].t[0]
    assert np.diff(motion.t)[:-1] == pytest.approx(1e-2)
    assert 0 < np.diff(motion.t)[-1] <= 1e-2 + 1e-12
    speed = motion.v[-1, 2]
    assert speed**2 == pytest.approx(2 * 9.81 * np.cos(0.5), rel=1e-5)
    # the same event again: not at once, but when it comes back
    rest = fm.forward_dynamics(system, 4.0, **given, events=[stop], start=motion)
    exact = solve_ivp(lambda t, y: [y[1], -9.81 * np.sin(y[0])], (0, 4), [0.5, speed], rtol=1e-10, atol=1e-11,
                      events=lambda t, y: y[0] - 0.5 if t > 1e-3 else 1.0)  # fmt: skip
    assert rest.t[-1] - motion.t[-1] == pytest.approx(exact.t_events[0][exact.t_events[0] > 2e-3][0], abs=1e-4)


def test_the_time_found_is_of_second_order() -> None:
    system, hinge = pendulum()
    errors = []
    for step in (0.02, 0.01, 0.005):
        for stabilised in (False, True):
            integrator = fm.GeneralizedAlpha(stabilised=stabilised)
            event = fm.Event("down", hinge.angle, stop=True)
            motion = fm.forward_dynamics(system, 1.0, step, integrator=integrator, events=[event])
            errors.append(motion.t[-1] - QUARTER)
    orders = np.log2(np.abs(np.array(errors[:-2]) / errors[2:]))
    assert orders == pytest.approx(2.0, abs=0.2)


@pytest.mark.parametrize("name", ["stabilised", "DOP853"])
def test_angles_count_turns(name: str) -> None:
    system, hinge = pendulum(turn=True)
    events = [fm.Event("turns", hinge.angle, level=level, stop=True) for level in (4 * np.pi,)]
    events.append(fm.Event("top", lambda motion: motion.position(system.bodies[1].at(0, -1))[:, 0], direction=-1))
    motion = fm.forward_dynamics(system, 10.0, 1e-3, integrator=INTEGRATORS[name], events=events)
    assert "turns" in motion.outcome
    spins = solve_ivp(lambda t, y: [y[1], -9.81 * np.sin(y[0])], (0, 5), [0, 8.0], rtol=1e-10, atol=1e-11,
                      events=lambda t, y: y[0] - 4 * np.pi)  # fmt: skip
    assert motion.t[-1] == pytest.approx(spins.t_events[0][0], abs=1e-4)
    assert len(motion.events["top"].t) == 2


@pytest.mark.parametrize("name", ["index 3", "stabilised", "DOP853"])
def test_reactions_and_the_nth_time(name: str) -> None:
    """The rod pulls with 3 m g cos(angle): half the greatest force where the cosine is a half."""
    system, hinge = pendulum()
    pull = fm.Event("pull", lambda motion: np.hypot(*motion.reaction(hinge)[:, :2].T), level=1.5 * 9.81, stop=3)
    upward = fm.Event("upward", (hinge, "Fy"), level=3 * 9.81 * 0.25)  # F cos(angle) = 3 m g cos²
    motion = fm.forward_dynamics(system, 3.0, 1e-3, integrator=INTEGRATORS[name], events=[pull, upward])
    assert len(motion.events["pull"].t) == 3
    # the force on the body, and on the ground the other way: measured in the joint's own sense
    cosines = np.cos(motion.events["pull"].coordinate(hinge.angle))
    assert cosines == pytest.approx(0.5, abs=2e-4)
    assert motion.events["pull"].t[0] == pytest.approx(motion.events["upward"].t[0], abs=1e-4)
    assert motion.t[-1] == motion.events["pull"].t[-1]


def test_events_of_drives_and_across_a_kink() -> None:
    ground, arm = fm.Ground(), fm.PlanarBody("arm", 1.0, 0.5)
    hinge = fm.planar.Revolute("hinge", ground.at(0, 0), arm.at(0, 0))
    motor = fm.Drive("motor", hinge.angle, fm.Harmonic(1.0, frequency=1.0))
    system = fm.System([ground, arm], [hinge, motor])
    torque = fm.Event("torque", motor, direction=1)  # -0.5 (2π)² sin(2πt) rises through zero at t = 1/2
    for integrator in (fm.GeneralizedAlpha(stabilised=True), fm.TangentSpaceODE()):
        motion = fm.forward_dynamics(system, 0.9, 1e-3, integrator=integrator, events=[torque])
        assert motion.events["torque"].t == pytest.approx([0.5], abs=1e-4)
    jerked = fm.System([ground, arm], [hinge, fm.Drive("motor", hinge.angle, fm.Ramp(0.0, 1.0, 0.2, 0.5))])
    for integrator in (fm.GeneralizedAlpha(), fm.TangentSpaceODE()):
        motion = fm.forward_dynamics(
            jerked, 1.0, 3e-3, integrator=integrator, events=[fm.Event("third", hinge.angle, level=1 / 3)]
        )
        assert motion.events["third"].t == pytest.approx([0.2 + 0.5 / 3], abs=1e-9)


@pytest.mark.parametrize("level", [1e-3, 2e-3])
def test_events_next_to_a_kink_within_a_step(level: float) -> None:
    """The arm stands until t = 0.2013, in the midst of a step, then turns with 2 rad/s."""
    ground, arm = fm.Ground(), fm.PlanarBody("arm", 1.0, 0.5)
    hinge = fm.planar.Revolute("hinge", ground.at(0, 0), arm.at(0, 0))
    system = fm.System([ground, arm], [hinge, fm.Drive("motor", hinge.angle, fm.Ramp(0.0, 1.0, 0.2013, 0.5))])
    for stabilised in (False, True):
        event = fm.Event("moved", hinge.angle, level=level, stop=True)
        motion = fm.forward_dynamics(
            system, 1.0, 3e-3, integrator=fm.GeneralizedAlpha(stabilised=stabilised), events=[event]
        )
        assert motion.t[-1] == pytest.approx(0.2013 + level / 2, abs=1e-10)
        assert (np.diff(motion.t) > 0).all()


def test_nothing_happens() -> None:
    system, hinge = pendulum()
    motion = fm.forward_dynamics(system, 0.1, 1e-2, events=[fm.Event("never", hinge.angle, level=-3.0)])
    assert len(motion.events["never"].t) == 0
    assert motion.events["never"].position(hinge.frame_j).shape == (0, 3)
    assert "no instants" in repr(motion.events["never"])
    without = fm.forward_dynamics(system, 0.1, 1e-2)
    assert np.array_equal(motion.q, without.q)
    assert without.events == {}


def test_bad_input() -> None:
    system, hinge = pendulum()
    for given, words in [
        ({"name": ""}, "needs a name"),
        ({"of": 3.0}, "of must be a joint's coordinate"),
        ({"of": (hinge, "x")}, "one of Fx, Fy"),
        ({"level": "high"}, "level must be a number"),
        ({"direction": 2}, "direction is 1"),
        ({"stop": -1}, "stop is True, False or how many"),
        ({"of": fm.planar.KnifeEdge("k", hinge.frame_j, hinge.frame_i, axis="x").rows[0].terms[0][1]}, "is a velocity"),
    ]:
        with pytest.raises(ModelError, match=words):
            fm.Event(**{"name": "event", "of": hinge.angle, **given})
    good = fm.Event("event", hinge.angle)
    other = pendulum()[1]
    for events, words in [
        (good, "a list is needed"),
        ([hinge], "is not an Event"),
        ([good, good], "two events are named 'event'"),
        ([fm.Event("event", (hinge, "Mx"))], "has Fx, Fy, Mz, no Mx"),
        ([fm.Event("event", (other, "Fx"))], "event 'event': joint 'hinge' is not in this system"),
        ([fm.Event("event", other.angle)], "event 'event': .*not in this system"),
        ([fm.Event("event", lambda motion: 1.0)], "a number for each of the Result's instants"),
    ]:
        with pytest.raises(AnalysisError, match=words):
            fm.forward_dynamics(system, 1.0, 0.1, events=events)
