"""Where joints start: coordinates that were given are kept, turns count, and what has no rate is at rest."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm

R, L = 0.05, 0.15


def slider_crank(crank_start=None, pin_start=None, piston_start=None, rate=None, drive=None):
    """An engine, and crank angle, piston position and their rates at its start."""
    ground = fm.Ground()
    crank, rod, piston = (
        fm.PlanarBody("crank", 1.0, 0.01),
        fm.PlanarBody("rod", 1.0, 0.01),
        fm.PlanarBody("piston", 1.0),
    )
    shaft = fm.planar.Revolute("shaft", ground.at(0, 0), crank.at(0, 0), start=crank_start, rate=rate)
    pin = fm.planar.Revolute("pin", crank.at(R, 0), rod.at(0, 0), start=pin_start)
    wrist = fm.planar.Revolute("wrist", rod.at(L, 0), piston.at(0, 0))
    cylinder = fm.planar.Prismatic("cylinder", ground.at(0, 0), piston.at(0, 0), axis="x", start=piston_start)
    drives = [] if drive is None else [fm.Drive("drive", shaft.angle, drive)]
    state = fm.System([ground, crank, rod, piston], [shaft, pin, wrist, cylinder, *drives]).initial
    return state.q[2], state.q[6], state.v[2], state.v[6]


def stroke(angle: float, side: float = 1.0) -> float:
    """Piston of a slider-crank, to the right or left of the crank pin."""
    return R * np.cos(angle) + side * np.sqrt(L**2 - (R * np.sin(angle)) ** 2)


class TestLoops:
    @pytest.mark.parametrize("guesses", [(None, None), (-0.7, None), (-0.668, 0.19)])
    def test_the_first_coordinate_given_is_kept_and_the_rest_follows(self, guesses) -> None:
        angle, x, speed, piston = slider_crank(0.5, *guesses, rate=3.0)
        assert angle == pytest.approx(0.5, abs=1e-12)
        assert x == pytest.approx(stroke(0.5), abs=1e-12)
        slope = (stroke(0.5 + 1e-6) - stroke(0.5 - 1e-6)) / 2e-6
        assert (speed, piston) == pytest.approx((3.0, 3.0 * slope), abs=1e-8)

    @pytest.mark.parametrize("given", [0.15, -0.15, 0.19])
    def test_any_joint_of_the_loop_will_do_even_from_a_dead_centre(self, given) -> None:
        angle, x, _, _ = slider_crank(None, None, given)
        assert x == pytest.approx(given, abs=1e-12)
        assert stroke(angle, np.sign(given)) == pytest.approx(given, abs=1e-9)

    @pytest.mark.parametrize("drive", [None, -2.0])
    @pytest.mark.parametrize("side", [1.0, -1.0])
    def test_what_cannot_be_kept_chooses_the_branch(self, drive, side) -> None:
        angle, x, _, _ = slider_crank(-2.0 if drive is None else None, None, 0.13 * side, drive=drive)
        assert (angle, x) == pytest.approx((-2.0, stroke(-2.0, side)), abs=1e-12)

    def test_what_is_out_of_reach_is_a_guess(self) -> None:
        assert slider_crank(0.4, None, 0.7)[:2] == pytest.approx((0.4, stroke(0.4)), abs=1e-12)


class TestTurns:
    """Gears and screws tie angles of any number of turns, from the start on."""

    @pytest.mark.parametrize("second", [None, -20.0])
    @pytest.mark.parametrize("driven", [False, True])
    def test_gears(self, second, driven) -> None:
        ground, one, two = fm.Ground(), fm.PlanarBody("one", 1.0, 0.1), fm.PlanarBody("two", 1.0, 0.1)
        first = fm.planar.Revolute("first", ground.at(0, 0), one.at(0, 0), start=None if driven else 10.0)
        other = fm.planar.Revolute("other", ground.at(1, 0), two.at(0, 0), start=second)
        drive = [fm.Drive("drive", first.angle, 10.0)] if driven else []
        gear = fm.Gear("gear", first.angle, other.angle, 2.0, 1.0)
        run = fm.forward_dynamics(fm.System([ground, one, two], [first, other, gear, *drive]), 0.1, step=0.05)
        assert_allclose(run.coordinate(first.angle), 10.0, atol=1e-12)
        assert_allclose(run.coordinate(other.angle), -20.0, atol=1e-12)

    @pytest.mark.parametrize("given", ["angle", "distance"])
    def test_screws(self, given) -> None:
        ground, nut = fm.Ground(), fm.RigidBody("nut", 1.0, (0.1, 0.1, 0.1))
        start = 500.0 if given == "angle" else None
        screw = fm.Screw("screw", ground.at(0, 0, 0), nut.at(0, 0, 0), pitch=0.004, start=start)
        travel = 0.004 * 500.0 / (2 * np.pi)
        drive = [] if start else [fm.Drive("drive", screw.distance, travel)]
        run = fm.forward_dynamics(fm.System([ground, nut], [screw, *drive]), 0.1, step=0.05)
        assert_allclose(run.coordinate(screw.angle), 500.0, atol=1e-9)
        assert_allclose(run.coordinate(screw.distance), travel, atol=1e-12)

    def test_a_driven_distance_does_not_turn_a_cylindrical_joint(self) -> None:
        ground, rod = fm.Ground(), fm.RigidBody("rod", 1.0, (0.1, 0.1, 0.1))
        joint = fm.Cylindrical("joint", ground.at(0, 0, 0), rod.at(0, 0, 0))
        state = fm.System([ground, rod], [joint, fm.Drive("drive", joint.distance, 0.7)]).initial
        assert_allclose(state.q, [0, 0, 0.7, 1, 0, 0, 0], atol=1e-12)


def arm(first: dict, second: dict, last: dict, forces=()):
    """A robot of a turning base, an elbow about y and a slide along x, and its system."""
    ground = fm.Ground()
    links = [fm.RigidBody(f"link {k}", 1.0, (0.1, 0.2, 0.2), center=(0.2, 0, 0)) for k in range(3)]
    joints = [
        fm.Revolute("base", ground.at(0, 0, 0.1), links[0].at(0, 0, 0), axis="z", **first),
        fm.Revolute("elbow", links[0].at(0.4, 0, 0), links[1].at(0, 0, 0), axis="y", **second),
        fm.Prismatic("slide", links[1].at(0.3, 0, 0), links[2].at(0, 0.1, 0), axis="x", **last),
    ]
    return fm.System([ground, *links], joints, forces), joints


class TestRates:
    RATES = ({"rate": 2.0}, {"start": 0.4, "rate": -1.0}, {"start": 0.2, "rate": 0.5})

    def coordinates(self, which: tuple[bool, bool, bool]) -> None:
        given = [
            rates if has else {k: v for k, v in rates.items() if k != "rate"}
            for rates, has in zip(self.RATES, which, strict=True)
        ]
        system, joints = arm(*given)
        speeds = system.tree.speeds(system.tree.coordinates(system.initial.q), system.initial.v)
        expected = [rates.get("rate", 0.0) for rates in given]
        assert_allclose(speeds, expected, atol=1e-12)
        assert [joint.name for joint in joints] == [name.split(".")[0] for name in system.tree.names]

    @pytest.mark.parametrize(
        "which", [(True, True, True), (True, False, False), (False, True, False), (False, False, True)]
    )
    def test_joints_without_a_rate_are_at_rest(self, which) -> None:
        self.coordinates(which)

    def test_frames_the_other_way_round(self) -> None:
        """The known body may be the second one of a joint."""
        ground, disc, slider = fm.Ground(), fm.PlanarBody("disc", 1.0, 0.1), fm.PlanarBody("slider", 1.0, 0.1)
        axle = fm.planar.Revolute("axle", disc.at(0, 0), ground.at(0, 0), start=0.3, rate=-2.0)
        groove = fm.planar.Prismatic("groove", slider.at(0, 0), disc.at(0.1, 0), axis="y", start=-0.5, rate=0.7)
        v = fm.System([ground, disc, slider], [axle, groove]).initial.v
        x, y = (np.array([np.cos(-0.3), np.sin(-0.3)]), np.array([-np.sin(-0.3), np.cos(-0.3)]))
        place = 0.1 * x + 0.5 * y  # of the slider
        assert_allclose(v[[2, 5]], 2.0, atol=1e-12)
        assert_allclose(v[3:5], 2.0 * np.array([-place[1], place[0]]) - 0.7 * y, atol=1e-12)

    def test_a_driven_joint_takes_the_others_along(self) -> None:
        system, joints = arm({}, {"start": 0.4}, {"start": 0.2})
        driven = fm.System(system.bodies, [*joints, fm.Drive("drive", joints[0].angle, fm.ConstantSpeed(3.0))])
        speeds = driven.tree.speeds(driven.tree.coordinates(driven.initial.q), driven.initial.v)
        assert_allclose(speeds, [3.0, 0.0, 0.0], atol=1e-12)

    def test_the_velocity_given_to_a_body_stands(self) -> None:
        ground = fm.Ground()
        upper = fm.PlanarBody("upper", 1.0, 0.1, angular_velocity=2.0)
        lower = fm.PlanarBody("lower", 1.0, 0.1)
        shoulder = fm.planar.Revolute("shoulder", ground.at(0, 0), upper.at(0, 0))
        elbow = fm.planar.Revolute("elbow", upper.at(1, 0), lower.at(0, 0), start=0.5, rate=-3.0)
        v = fm.System([ground, upper, lower], [shoulder, elbow]).initial.v
        assert_allclose(v, [0, 0, 2.0, 0, 2.0, -1.0], atol=1e-12)


class TestCoordinatesOfOtherPairs:
    def test_a_plane_joint_starts_and_turns_about_its_normal(self) -> None:
        ground, puck = fm.Ground(), fm.RigidBody("puck", 1.0, (0.1, 0.1, 0.2))
        ice = fm.PlaneJoint("ice", ground.at(0, 0, 0), puck.at(0, 0, 0), start=0.3, rate=2.0)
        run = fm.forward_dynamics(fm.System([ground, puck], [ice]), 5.0, step=0.05)
        assert_allclose(run.coordinate(ice.angle), 0.3 + 2.0 * run.t, atol=1e-9)

    def test_a_point_on_a_line_starts_and_is_driven_along_it(self) -> None:
        ground, bead = fm.Ground(), fm.PointMass("bead", 1.0)
        wire = fm.PointOnLine("wire", ground.at(0, 0, 0), bead.at(), axis="x", start=0.3, rate=2.0)
        state = fm.System([ground, bead], [wire]).initial
        assert_allclose([*state.q, *state.v], [0.3, 0, 0, 2.0, 0, 0], atol=1e-12)
        drive = fm.Drive("drive", wire.distance, lambda t: 0.1 * t**2)
        pull = fm.inverse_dynamics(fm.System([ground, bead], [wire, drive]), [0.0, 1.0]).reaction(drive)
        assert_allclose(pull, 0.2, atol=1e-12)

    def test_a_point_in_a_plane_has_no_coordinate_to_start_at(self) -> None:
        with pytest.raises(TypeError, match="start"):
            fm.PointInPlane("p", fm.Ground().at(0, 0, 0), fm.PointMass("m").at(), start=0.1)  # type: ignore[call-arg]


def test_a_curve_looks_for_its_contact_without_a_warning() -> None:
    """A flat follower on a cam with the support function p: it rises as p does (warnings are errors)."""
    ground, disc, tappet = fm.Ground(), fm.PlanarBody("disc", 0.5, 1e-4), fm.PlanarBody("tappet", 0.15, 1e-5)

    def curve(s):
        p, slope = 0.03 + 0.008 * np.sin(s) ** 2, 0.016 * np.sin(s) * np.cos(s)
        return p * np.cos(s) - slope * np.sin(s), p * np.sin(s) + slope * np.cos(s)

    camshaft = fm.planar.Revolute("camshaft", ground.at(0, 0), disc.at(0, 0))
    sleeve = fm.planar.Prismatic("sleeve", ground.at(0, 0), tappet.at(0, 0), axis="y", start=0.03)
    pair = fm.planar.Cam("pair", disc.at(0, 0), tappet.at(0, 0), fm.planar.Curve(curve), fm.planar.Line(reach=0.05))
    turn = fm.Drive("turn", camshaft.angle, fm.ConstantSpeed(100.0))
    run = fm.inverse_dynamics(
        fm.System([ground, disc, tappet], [camshaft, sleeve, pair, turn]), np.linspace(0, 0.1, 51)
    )
    rise = 0.008 * np.cos(2 * (np.pi / 2 - 100.0 * run.t)) * 2 * 100.0**2
    assert_allclose(run.coordinate(sleeve.distance), 0.03 + 0.008 * np.cos(100.0 * run.t) ** 2, atol=1e-11)
    assert_allclose(run.reaction(pair)[:, 1], 0.15 * rise, atol=1e-6 * 0.15 * 160)
