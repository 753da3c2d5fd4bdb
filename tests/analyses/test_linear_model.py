"""Linear models against closed forms and against small motions of the nonlinear mechanism."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose

import flexmbs as fm

G = 9.81


def cart(upright: bool, spatial: bool) -> tuple[fm.System, fm.Prismatic, fm.Revolute, fm.RigidBody]:
    """A cart of 2 kg on a rail along x with a pole of 0.5 kg, mass centre 0.4 m above (or below) its hinge."""
    ground = fm.Ground()
    side = 1.0 if upright else -1.0
    if spatial:
        base = fm.RigidBody("cart", 2.0, (0.1, 0.1, 0.1))
        pole = fm.RigidBody("pole", 0.5, (0.03, 0.03, 0.03), center=(0, 0.4 * side, 0))
        rail = fm.Prismatic("rail", ground.at(), base.at(), axis="x")
        hinge = fm.Revolute("hinge", base.at(), pole.at(), axis="z")
    else:
        base = fm.PlanarBody("cart", 2.0, 0.1)
        pole = fm.PlanarBody("pole", 0.5, 0.03, center=(0, 0.4 * side))
        rail = fm.planar.Prismatic("rail", ground.at(), base.at(), axis="x")
        hinge = fm.planar.Revolute("hinge", base.at(), pole.at())
    damper = fm.SpringDamper("bearing", hinge.angle, damping=0.02)
    return fm.System([ground, base, pole], [rail, hinge], [fm.Gravity((0, -G, 0)), damper]), rail, hinge, pole


@pytest.mark.parametrize("spatial", [False, True])
@pytest.mark.parametrize("upright", [False, True])
def test_cart_and_pole(upright: bool, spatial: bool) -> None:
    """(M + m) x'' - m l θ'' = F,  (J + m l²) θ'' - m l x'' + c θ' - m g l θ = τ, with l < 0 for a hanging pole."""
    system, rail, hinge, pole = cart(upright, spatial)
    arm = 0.4 if upright else -0.4
    tip = pole.at(0, 2 * arm, 0)
    model = fm.linearise(
        system, [rail.distance, hinge.angle, (tip, "x")], [rail.distance, hinge.angle], about=system.initial
    )
    mass = np.array([[2.5, -0.5 * arm], [-0.5 * arm, 0.03 + 0.5 * arm**2]])
    damping, stiffness = np.diag([0.0, 0.02]), np.diag([0.0, -0.5 * G * arm])
    effect = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, -2 * arm]])
    for s in (1.0 + 2.0j, 5j, 0.3):
        expected = np.linalg.solve(s * s * mass + s * damping + stiffness, effect)
        assert_allclose(model.transfer(s), np.vstack([expected, s * expected]), rtol=1e-9, atol=1e-12)
    assert not model.D.any()
    assert (np.linalg.eigvals(model.A).real.max() > 1.0) == upright
    assert model.outputs == ("rail.distance", "hinge.angle", "rail.distance rate", "hinge.angle rate")
    assert model.inputs == ("rail.distance", "hinge.angle", f"force at {tip}")


def test_the_equilibrium_is_the_default() -> None:
    system, rail, hinge, _ = cart(upright=False, spatial=False)
    found, given = (fm.linearise(system, [rail.distance], [hinge.angle], about=a) for a in (None, fm.statics(system)))
    assert_allclose(found.A, given.A, atol=1e-12)
    modes = fm.modes(system)
    frequency = np.linalg.eigvals(found.A).imag.max()
    assert_allclose(frequency, np.abs(modes.eigenvalues.imag).max(), rtol=1e-9)


def loop(force: float = 0.0) -> tuple[fm.System, fm.Revolute, fm.Cylindrical, fm.RigidBody]:
    """A spatial slider-crank on a spring, with dampers; ``force`` is a torque along the crank's angle."""
    ground = fm.Ground()
    crank = fm.RigidBody("crank", 1.0, (0.01, 0.02, 0.02), center=(0.1, 0, 0))
    rod = fm.RigidBody("rod", 0.8, (0.01, 0.03, 0.03), center=(0.3, 0, 0))
    block = fm.RigidBody("block", 2.0, (0.02, 0.02, 0.02))
    hinge = fm.Revolute("hinge", ground.at(0, 0.1, 0.05), crank.at(), axis="z", start=0.6)
    slide = fm.Prismatic("slide", ground.at(), block.at(), axis="x", start=0.7)
    joints = [
        hinge,
        fm.Spherical("pin", crank.at(0.25, 0, 0), rod.at()),
        fm.Universal("cross", rod.at(0.6, 0, 0), block.at(), axis="y", cross="z"),
        slide,
    ]
    spring = fm.SpringDamper("spring", slide.distance, stiffness=300.0, damping=4.0, rest=0.7)
    drag = fm.SpringDamper("drag", hinge.angle, damping=0.3, force=force)
    system = fm.System([ground, crank, rod, block], joints, [fm.Gravity((0, -G, 0)), spring, drag])
    return system, hinge, slide, rod


def test_small_motions_of_a_loop_follow_the_linear_model() -> None:
    """The step response of the nonlinear mechanism to ±ε, halved, against exp(At)."""
    system, hinge, slide, _ = loop()
    rest = fm.statics(system)
    model = fm.linearise(system, [hinge.angle], [hinge.angle, slide.distance], about=rest)
    n, epsilon, end = len(model.A), 1e-4, 0.4
    start = fm.State(0.0, rest.q[0], rest.v[0], rest.angles[0])
    moved = []
    for sign in (1.0, -1.0):
        pushed, hinge_, slide_, _ = loop(sign * epsilon)
        run = fm.forward_dynamics(
            pushed, end, step=0.1, integrator=fm.TangentSpaceODE(rtol=1e-11, atol=1e-13), start=start
        )
        assert run.outcome == "finished"
        moved.append(np.stack([run.coordinate(hinge_.angle), run.coordinate(slide_.distance)]))
    found = (moved[0] - moved[1]) / (2 * epsilon)
    step = np.block([[model.A, model.B], [np.zeros((1, n + 1))]])
    expected = np.array([model.C[:2] @ scipy.linalg.expm(step * t)[:n, n] for t in run.t]).T
    assert np.abs(expected[:, -1]).min() > 1e-3
    assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


def test_accelerations_of_a_loop_follow_the_linear_model() -> None:
    """B and the damping in A: accelerations are linear in the forces, and in small speeds."""
    system, _, slide, rod = loop()
    rest = fm.statics(system)
    load = fm.AppliedForce("load", rod.at(0.2, 0, 0), force=(1, 2, 3), torque=(0.3, 0.2, 0.1), follows=True)
    model = fm.linearise(system, [load], [slide.distance], about=rest)
    n = len(model.A) // 2
    loaded = fm.System(system.bodies, system.joints, [*system.forces, load])
    q, still = rest.q[0], np.zeros(system.n_v)
    assert_allclose(
        fm.accelerations(loaded, 0.0, q, still, angles=rest.angles[0]).accelerations,
        model.motions @ model.B[n:, 0],
        atol=1e-8,
    )
    v = 1e-6 * model.motions @ np.random.default_rng(7).normal(size=n)
    each = [fm.accelerations(system, 0.0, q, s * v, angles=rest.angles[0]).accelerations for s in (1, -1)]
    rates = np.linalg.lstsq(model.motions, v, rcond=None)[0]
    change = (each[0] - each[1]) / 2
    assert_allclose(change, model.motions @ model.A[n:, n:] @ rates, atol=1e-6 * np.abs(change).max())
    assert {name.split(".")[0] for name in model.states} <= {"crank", "rod", "block"}


def test_bad_input_is_refused_in_words() -> None:
    system, rail, hinge, pole = cart(upright=True, spatial=False)
    stranger = fm.PlanarBody("stranger", 1.0, 1.0)
    for inputs, outputs, about, message in (
        (["torque"], [], None, "an input is a joint's coordinate"),
        ([rail.distance], [hinge], None, "an output is a joint's coordinate"),
        ([(stranger.at(), "x")], [], None, "body 'stranger' is not in the system"),
        ([], [], "here", "about is a State, the result of statics or of a motion, not str"),
    ):
        with pytest.raises(fm.AnalysisError, match=message):
            fm.linearise(system, inputs, outputs, about)
    with pytest.raises(fm.FlexmbsError, match="axis must be"):
        fm.linearise(system, [(pole.at(), "w")], [])
    state = system.initial
    moving = fm.State(0.0, state.q, state.v + 1.0, state.angles)
    with pytest.raises(fm.AnalysisError, match="linearise: the velocities do not fulfil rail"):
        fm.linearise(system, [], [], moving)
    tilted = fm.planar.Revolute("hinge", system.bodies[1].at(), pole.at(), start=0.3)
    leaning = fm.System(system.bodies, [rail, tilted], [fm.Gravity((0, -G, 0))])
    with pytest.raises(fm.AnalysisError, match="does not rest here"):
        fm.linearise(leaning, [], [], leaning.initial)
    drives = [fm.Drive("drive", rail.distance, 0.0), fm.Drive("lock", hinge.angle, 0.0)]
    held = fm.System(system.bodies, [rail, hinge, *drives])
    with pytest.raises(fm.AnalysisError, match="nothing free to move"):
        fm.linearise(held, [], [], held.initial)
