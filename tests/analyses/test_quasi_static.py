"""Starts without ringing, and inverse dynamics of mechanisms with flexible bodies."""

from __future__ import annotations

import numpy as np
import pytest

import flexmbs as fm

STEEL = fm.Material(young=2e11, poisson=0.3, density=7870.0)
SPEED = 60.0


def slider_crank(young: float = 2e11, driven: bool = True, **options: object) -> fm.System:
    """A crank of 0.1 turns a flexible rod of 0.3 that pushes a slider along x."""
    material = fm.Material(young=young, poisson=0.3, density=7870.0)
    mesh = fm.Mesh.line((0.0, 0.0, 0.0), (0.3, 0.0, 0.0), 6)
    ground = fm.Ground()
    crank = fm.RigidBody.box("crank", (0.1, 0.02, 0.02), 7870.0)
    options.setdefault("reduction", fm.CraigBampton(4))
    rod = fm.FlexibleBody(
        "rod", mesh, material, section=fm.Section.rectangle(0.008, 0.008), interfaces=["start", "end"], **options
    )
    slider = fm.RigidBody("slider", 0.3, np.diag([1e-4, 1e-4, 1e-4]))
    shaft = fm.Revolute("shaft", ground.at(0, 0, 0), crank.at(-0.05, 0, 0), axis="z", start=0.5, rate=SPEED)
    joints = [
        shaft,
        fm.Revolute("crank_pin", crank.at(0.05, 0, 0), rod.at("start"), axis="z"),
        fm.Spherical("wrist_pin", rod.at("end"), slider.at(0, 0, 0)),
        fm.Prismatic("cylinder", ground.at(0, 0, 0), slider.at(0, 0, 0), axis="x"),
    ]
    if driven:
        joints.append(fm.Drive("motor", shaft.angle, fm.ConstantSpeed(SPEED, start=0.5)))
    return fm.System([ground, crank, rod, slider], joints)


def elastic(system: fm.System, q: np.ndarray) -> np.ndarray:
    """Elastic coordinates of the rod (time, modes)."""
    last = system.layout.body_q[3]
    return q[:, last - system.bodies[2].modes : last]


@pytest.mark.parametrize("driven", [True, False])
def test_no_ringing(driven: bool) -> None:
    """From the quasi-static start the rod bends slowly; from the undeformed one it rings."""
    system, t_end, h = slider_crank(driven=driven), 0.012, 2e-5
    size = system.bodies[2].modal_lengths
    rough = []
    for start in ("deformed", None):
        d = elastic(system, fm.forward_dynamics(system, t_end, h, start=start).q) * size
        fit = np.polynomial.chebyshev.Chebyshev.fit
        t = np.linspace(-1, 1, len(d))
        slow = np.column_stack([fit(t, column, 12)(t) for column in d.T])
        rough.append(np.abs(d - slow).max() / np.abs(slow).max())
    assert rough[0] < 5e-4
    assert rough[1] > 40 * rough[0]


def test_the_start_keeps_joints_drives_and_rest() -> None:
    system = slider_crank()
    state = fm.quasi_static(system)
    work = system.evaluate(0.0, state.q, state.v, state.angles)
    assert np.abs(work.phi).max() < 1e-12
    assert np.abs(work.phi_rate).max() < 1e-10
    again = fm.quasi_static(system, state)
    np.testing.assert_allclose(again.q, state.q, atol=1e-9)
    ground, bar = fm.Ground(), system.bodies[2]
    hung = fm.System(
        [ground, bar], [fm.Fixed("clamp", ground.at(0, 0, 0), bar.at("start"))], [fm.Gravity((0, -9.81, 0))]
    )
    rest = fm.statics(hung)
    np.testing.assert_allclose(fm.quasi_static(hung).q, rest.q[-1], atol=1e-12)
    rigid = fm.System([ground, fm.RigidBody("body", 1.0, np.eye(3))])
    assert fm.quasi_static(rigid) is rigid.initial


def test_inverse_dynamics_of_a_stiff_rod_is_that_of_the_rigid_one() -> None:
    times = np.linspace(0.0, 2 * np.pi / SPEED, 9)
    system = slider_crank(2e14)
    bent, rigid = fm.inverse_dynamics(system, times), fm.inverse_dynamics(system.rigid(), times)
    largest = np.abs(rigid.reaction(system.joints[4])).max()
    np.testing.assert_allclose(bent.reaction(system.joints[4]), rigid.reaction(system.joints[4]), atol=1e-5 * largest)
    pin = system.joints[2]  # which stands for the pin of the rigid mechanism
    np.testing.assert_allclose(bent.reaction(pin)[:, :2], rigid.reaction(pin)[:, :2], atol=1e-3)
    moved = fm.kinematics(system, times)
    assert not elastic(system, moved.q).any()
    np.testing.assert_allclose(
        moved.position(system.bodies[3].at(0, 0, 0)), rigid.position(system.bodies[3].at(0, 0, 0))
    )


def test_deflection_is_that_of_the_loads_of_the_motion() -> None:
    """A uniform rod under its transverse inertia, which grows linearly: 5/384 of w₁ and of w₂ by halves at midspan."""
    reduction = fm.CraigBampton(8)
    times = np.array([0.013, 0.021])
    system = slider_crank(reduction=reduction, stiffening=False)
    motion, rigid = fm.inverse_dynamics(system, times), fm.kinematics(system.rigid(), times)
    rod = system.bodies[2]
    ends = rod.at("start"), rod.at("end")
    ei, line = 2e11 * 0.008**4 / 12, 7870.0 * 0.008**2
    for k, d in enumerate(elastic(system, motion.q)):
        turn = rigid.rotation(rod)[k]
        mean = np.mean([(rigid.acceleration(f)[k] @ turn)[1] for f in ends])
        middle = rod.at(0.15, 0, 0)
        chord = [f.position + f.shapes[:3] @ d for f in (*ends, middle)]
        sag = (chord[2] - (chord[0] + chord[1]) / 2)[1]
        assert sag == pytest.approx(-5 / 384 * line * mean * 0.3**4 / ei, rel=2e-3)


def test_vibrating_inverse_dynamics_swings_about_the_quasi_static_one() -> None:
    system, times = slider_crank(), np.linspace(0.0, 0.02, 5)
    slow = fm.inverse_dynamics(system, times)
    full = fm.inverse_dynamics(system, times, elastic="vibrating", step=2e-5)
    a, b = (elastic(system, r.q) * system.bodies[2].modal_lengths for r in (slow, full))
    np.testing.assert_allclose(b, a, atol=0.05 * np.abs(a).max())
    torques = [r.reaction(system.joints[4]) for r in (slow, full)]
    np.testing.assert_allclose(torques[1], torques[0], atol=0.05 * np.abs(torques[0]).max())


@pytest.mark.parametrize("method", ["Radau", "DOP853"])
def test_adaptive_integrators_agree_with_small_steps(method: str) -> None:
    system = slider_crank(reduction=fm.CraigBampton(1))
    start = fm.quasi_static(system)
    tight = fm.TangentSpaceODE(method=method, rtol=1e-6, atol=1e-8)
    found = fm.forward_dynamics(system, 0.004, 1e-3, start=start, integrator=tight)
    steps = fm.forward_dynamics(system, 0.004, 1e-5, start=start)
    size = system.bodies[2].modal_lengths
    a, b = (elastic(system, r.q)[-1] * size for r in (found, steps))
    np.testing.assert_allclose(a, b, atol=2e-4 * np.abs(b).max())
    assert np.abs(system.evaluate(0.004, found.q[-1], found.v[-1], found.angles[-1]).phi).max() < 1e-12


def test_bad_input() -> None:
    system = slider_crank()
    with pytest.raises(fm.AnalysisError, match='"deformed"'):
        fm.forward_dynamics(system, 0.1, start="bent")
    with pytest.raises(fm.AnalysisError, match="about is a State"):
        fm.quasi_static(system, "start")  # type: ignore[arg-type]
    with pytest.raises(fm.AnalysisError, match="a System is needed"):
        fm.quasi_static(3)  # type: ignore[arg-type]
    with pytest.raises(fm.AnalysisError, match='"vibrating"'):
        fm.inverse_dynamics(system, [0.0], elastic="dynamic")
    with pytest.raises(fm.AnalysisError, match="no formulation"):
        fm.inverse_dynamics(system, [0.0], fm.Maggi())
    with pytest.raises(fm.AnalysisError, match="step belongs"):
        fm.inverse_dynamics(system, [0.0], step=1e-3)
    with pytest.raises(fm.AnalysisError, match="leave 1 motion"):
        fm.inverse_dynamics(slider_crank(driven=False), [0.0, 0.1])
    soft = slider_crank(2e5)
    with pytest.raises(fm.AnalysisError, match="no deformation was found"):
        fm.quasi_static(soft)
