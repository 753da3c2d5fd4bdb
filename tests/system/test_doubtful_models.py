"""What could be accepted in silence and is not: contradicting poses, motions without mass, singular positions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm
from flexmbs.system import reactions
from flexmbs.system.reactions import jacobians, least_multipliers


def four_bar(
    rates: tuple[float | None, ...] = (None, None, None),
    angle: float = 0.0,
    extra: tuple[Any, ...] = (),
    base: float = 2.0,
) -> tuple[fm.System, list[fm.planar.Revolute]]:
    """Crank and rocker of length 1, coupler of length 2; a parallelogram that is flat at angle 0."""
    ground = fm.Ground()
    crank, coupler, rocker = (
        fm.PlanarBody(name, 1.0, length / 12, center=(length / 2, 0), angle=a, angular_velocity=rate)
        for name, length, a, rate in zip(
            ("crank", "coupler", "rocker"), (1.0, 2.0, 1.0), (angle, 0.0, angle), rates, strict=True
        )
    )
    joints = [
        fm.planar.Revolute("A", ground.at(0, 0), crank.at(0, 0)),
        fm.planar.Revolute("B", ground.at(base, 0), rocker.at(0, 0)),
        fm.planar.Revolute("C", crank.at(1, 0), coupler.at(0, 0)),
        fm.planar.Revolute("D", coupler.at(2, 0), rocker.at(1, 0)),
    ]
    return fm.System([ground, crank, coupler, rocker], [*joints, *extra], [fm.Gravity((0, -9.81, 0))]), joints


class TestGivenPoses:
    def test_what_fits_is_kept_and_the_rest_follows(self) -> None:
        """One rocker is given, the other bodies must come to it."""
        ground = fm.Ground()
        bodies = [fm.PlanarBody(f"b{k}", 1.0, 0.1) for k in range(2)]
        last = fm.PlanarBody("last", 1.0, 0.1, position=(2.0, 0.0), angle=1.9)
        joints = [
            fm.planar.Revolute("A", ground.at(0, 0), bodies[0].at(0, 0), start=1.0),
            fm.planar.Revolute("B", bodies[0].at(1, 0), bodies[1].at(0, 0), start=-1.0),
            fm.planar.Revolute("C", bodies[1].at(2, 0), last.at(1, 0)),
            fm.planar.Revolute("D", ground.at(2, 0), last.at(0, 0)),
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            q = fm.System([ground, *bodies, last], joints).initial.q
        assert_allclose(q[-3:], [2.0, 0.0, 1.9], atol=1e-12)

    def test_what_does_not_fit_is_said_by_name_and_by_how_much(self) -> None:
        ground = fm.Ground()
        ball = fm.PointMass("ball", 1.0, position=(1.5, 0, 0))
        rod = fm.Distance("rod", ground.at(0, 0, 0), ball.at(), length=1.0)
        with pytest.warns(fm.ModelWarning, match=r"moved: position of 'ball' by 0\.5 m\. Correct these"):
            _ = fm.System([ground, ball], [rod]).initial
        bar = fm.RigidBody.box("bar", (1, 0.1, 0.1), 1000.0, rotation=("x", 0.3))
        hinge = fm.Revolute("hinge", ground.at(0, 0, 0), bar.at(0, 0, 0), axis="z")
        with pytest.warns(fm.ModelWarning, match=r"rotation of 'bar' by 0\.3 rad"):
            _ = fm.System([ground, bar], [hinge]).initial

    def test_velocities_that_do_not_fit(self) -> None:
        ground = fm.Ground()
        ball = fm.PointMass("ball", 1.0, position=(1, 0, 0), velocity=(0.5, 2.0, 0))
        rod = fm.Distance("rod", ground.at(0, 0, 0), ball.at(), length=1.0)
        with pytest.warns(fm.ModelWarning, match=r"changed: velocity of 'ball' by 0\.5 m/s"):
            state = fm.System([ground, ball], [rod]).initial
        assert_allclose(state.v, [0, 2, 0], atol=1e-6)


class TestMotionsWithoutMass:
    def test_a_body_without_inertia_that_is_free_to_turn(self) -> None:
        bead = fm.PlanarBody("bead", mass=1.0)
        with pytest.raises(fm.ModelError, match="body 'bead' is free to turn about its axis, but has no inertia"):
            _ = fm.System([bead]).initial
        needle = fm.RigidBody("needle", 1.0, (0.0, 1.0, 1.0), position=(0, 0, 0))
        with pytest.raises(fm.ModelError, match="'needle' is free to turn about its x axis"):
            fm.forward_dynamics(fm.System([needle]), 1.0)

    def test_what_joints_hold_or_mass_moves_needs_none(self) -> None:
        ground = fm.Ground()
        bob = fm.PlanarBody("bob", mass=1.0, center=(0.0, -1.0))
        hinge = fm.planar.Revolute("hinge", ground.at(0, 0), bob.at(0, 0), start=0.1)
        system = fm.System([ground, bob], [hinge], [fm.Gravity((0, -9.81, 0))])
        assert fm.modes(system).frequencies == pytest.approx(np.sqrt(9.81) / (2 * np.pi))
        needle = fm.RigidBody("needle", 1.0, (0.0, 1.0, 1.0))
        swing = fm.Revolute("swing", ground.at(0, 0, 0), needle.at(0, 0, 0), axis="z")
        assert fm.System([ground, needle], [swing]).mobility == 1


class TestSingularPositions:
    def test_the_report_names_them(self) -> None:
        system, _ = four_bar()
        with pytest.warns(fm.ModelWarning, match=r"singular position: there D: .* \(mobility 2 there, 1 around it\)"):
            text = system.report()
        assert system.mobility == 1
        assert system.redundant == ()
        assert "singular position: at the start, and only there" in text
        assert system.singular == ("D: translation along global x",)

    def test_a_flat_four_bar_leaves_the_way_of_its_velocities(self) -> None:
        """As a parallelogram it is a pendulum: three bodies at the cranks' angle, the coupler without turning."""
        system, joints = four_bar((3.0, 0.0, 3.0))
        with pytest.warns(fm.ModelWarning, match="It leaves the way of its velocities"):
            motion = fm.forward_dynamics(system, 0.4, step=1e-3)
        assert motion.outcome == "finished"
        inertia = 2 * (1 / 12 + 1 / 4) + 1.0  # both cranks about their pins, the coupler on a circle
        angle, rate = [0.0], [3.0]
        h, n = 1e-4, 4000
        for _ in range(n):  # the pendulum by the midpoint rule

            def push(x: float) -> float:
                return -9.81 * (0.5 + 0.5 + 1.0) * float(np.cos(x)) / inertia

            middle = angle[-1] + h / 2 * rate[-1]
            half = rate[-1] + h / 2 * push(angle[-1])
            angle.append(angle[-1] + h * half)
            rate.append(rate[-1] + h * push(middle))
        for joint in joints[:2]:
            assert motion.coordinate(joint.angle)[-1] == pytest.approx(angle[-1], abs=1e-5)
        assert motion.constraint_error.max() < 1e-10

    def test_at_rest_nothing_says_which_way(self) -> None:
        system, _ = four_bar((0.0, 0.0, 0.0))
        with pytest.warns(fm.ModelWarning, match="At rest nothing determines which way it leaves"):
            assert system.mobility == 1

    def test_velocities_of_no_branch_are_refused(self) -> None:
        system, _ = four_bar((1.0, 0.2, 1.4))  # fulfils all rows of the flat position, and no motion
        with pytest.raises(fm.ModelError, match="velocities that belong to none of the motions that pass through it"):
            fm.forward_dynamics(system, 1.0)

    def test_redundant_rows_are_no_singular_position(self) -> None:
        """A planar loop of spatial hinges: three rows follow from others wherever it is."""
        ground = fm.Ground()
        rods = [fm.RigidBody.box(f"rod{k}", (length, 0.1, 0.1), 1000.0) for k, length in enumerate((1.0, 2.0, 1.5))]
        joints = [
            fm.Revolute("A", ground.at(0, 0, 0), rods[0].at(-0.5, 0, 0), start=1.0),
            fm.Revolute("B", rods[0].at(0.5, 0, 0), rods[1].at(-1, 0, 0), start=-0.8),
            fm.Revolute("C", rods[1].at(1, 0, 0), rods[2].at(-0.75, 0, 0), start=-1.0),
            fm.Revolute("D", ground.at(2, 0, 0), rods[2].at(0.75, 0, 0)),
        ]
        system = fm.System([ground, *rods], joints)
        assert system.mobility == 1
        assert len(system.redundant) == 3
        assert system.singular == ()

    @pytest.mark.parametrize(("angle", "near"), [(1e-4, True), (0.5, False)])
    def test_nearly_singular_positions_are_reported(self, angle: float, near: bool) -> None:
        system, _ = four_bar(angle=angle)
        text = system.report()
        assert ("nearly singular position" in text) == near
        assert "together 3 kg" in text


def test_reactions_of_redundant_rows_are_the_least_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many instants at once give what least squares gives for each."""
    ground = fm.Ground()
    rods = [fm.RigidBody.box(f"rod{k}", (length, 0.1, 0.1), 1000.0) for k, length in enumerate((1.0, 2.0, 1.5))]
    joints = [
        fm.Revolute("A", ground.at(0, 0, 0), rods[0].at(-0.5, 0, 0), start=1.0),
        fm.Revolute("B", rods[0].at(0.5, 0, 0), rods[1].at(-1, 0, 0), start=-0.8),
        fm.Revolute("C", rods[1].at(1, 0, 0), rods[2].at(-0.75, 0, 0), start=-1.0),
        fm.Revolute("D", ground.at(2, 0, 0), rods[2].at(0.75, 0, 0)),
    ]
    system = fm.System([ground, *rods], joints, [fm.Gravity((0, -9.81, 0.5))])
    motion = fm.forward_dynamics(system, 0.2, step=1e-2)
    for k, state in enumerate(zip(motion.t, motion.q, motion.v, motion.angles, strict=True)):
        jacobian = system.jacobian(system.evaluate(*state)).toarray()
        assert_allclose(jacobians(system, motion.q, motion.v)[k], jacobian, atol=1e-15)
        force = jacobian.T @ motion.multipliers[k]
        least = np.linalg.lstsq(jacobian.T, force, rcond=1e-9)[0]
        assert_allclose(motion.multipliers[k], least, atol=1e-9 * np.abs(least).max())
    # across the plane the loop can share its load in many ways: doing so changes nothing but the reactions
    shared = motion.multipliers + np.array([np.linalg.svd(j)[0][:, -1] for j in jacobians(system, motion.q, motion.v)])
    states = list(zip(motion.t, motion.q, motion.v, motion.angles, strict=True))
    monkeypatch.setattr(reactions, "FEW", 5)
    assert_allclose(least_multipliers(system, states, shared), motion.multipliers, atol=1e-8)
