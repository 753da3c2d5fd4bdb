"""Energy and momentum of flexible bodies in flight, alone and hinged to another: kept by every integrator."""

from __future__ import annotations

import numpy as np
import pytest
from flexible_measures import invariants

import flexmbs as fm

STEEL = fm.Material(young=210e9, poisson=0.3, density=7850.0)


def mechanism(jointed: bool) -> tuple[fm.System, fm.State]:
    """A tumbling, vibrating bar with a small body at its end, and one hinged to it."""
    mesh = fm.Mesh.line((0.2, 0.1, -0.1), (1.1, 0.4, 0.2), 6)
    end = fm.LumpedMass("end", 0.4, np.diag([3e-3, 4e-3, 5e-3]))
    elements = fm.Elements(mesh, STEEL, section=fm.Section.rectangle(0.02, 0.03), attachments=end)
    bar = fm.FlexibleBody(
        "bar", elements, reduction=fm.ModalTruncation(3), position=(0, 0, 0), velocity=(1.0, -2.0, 0.5),
        angular_velocity=(9.0, -12.0, 15.0),
    )  # fmt: skip
    bodies, joints = [bar], []
    if jointed:
        arm = fm.RigidBody.box("arm", (0.4, 0.05, 0.03), 3000.0)
        bodies.append(arm)
        joints.append(fm.Revolute("hinge", bar.at("end"), arm.at(-0.2, 0, 0), axis=(0, 1, 1), rate=7.0))
    system = fm.System(bodies, joints)
    q, v = system.initial.q.copy(), system.initial.v.copy()
    q[7:10] = 0.01 / bar.modal_lengths
    for _ in range(8 if jointed else 0):  # the hinge closes by moving the arm
        work = system.evaluate(0.0, q, v)
        step = np.zeros(system.n_v)
        step[9:] = np.linalg.lstsq(system.jacobian(work).toarray()[:, 9:], -work.phi, rcond=None)[0]
        q = system.retract(q, step)
    work = system.evaluate(0.0, q, v)
    if jointed:
        v[9:] -= np.linalg.lstsq(system.jacobian(work).toarray()[:, 9:], work.phi_rate, rcond=None)[0]
    return system, fm.State(0.0, q, v, work.measure.copy())


def drift(motion: fm.Result) -> np.ndarray:
    """Largest relative change of energy, momentum and angular momentum."""
    kept = np.array([invariants(motion.system, q, v) for q, v in zip(motion.q, motion.v, strict=True)])
    change = np.abs(kept - kept[0]).max(axis=0)
    sizes = [kept[0, 0], np.linalg.norm(kept[0, 1:4]), np.linalg.norm(kept[0, 4:])]
    return np.array([change[0], change[1:4].max(), change[4:].max()]) / sizes


@pytest.mark.parametrize("jointed", [False, True])
def test_tight_integration_keeps_energy_and_momentum(jointed: bool) -> None:
    system, start = mechanism(jointed)
    tight = fm.TangentSpaceODE(rtol=1e-11, atol=1e-12)
    motion = fm.forward_dynamics(system, 0.02, 5e-3, start=start, integrator=tight)
    assert drift(motion).max() < 1e-10
    bar = motion.q[:, 7:10]
    assert np.abs(bar[-1] - bar[0]).max() > 0.3 * np.abs(bar[0]).max()  # it vibrates


def test_equal_steps_keep_them_to_second_order() -> None:
    system, start = mechanism(jointed=True)
    exact = fm.forward_dynamics(
        system, 0.02, 0.02, start=start, integrator=fm.TangentSpaceODE(rtol=1e-10, atol=1e-12)
    ).q[-1]  # fmt: skip
    found, errors = [], []
    for h in (1e-4, 5e-5):
        motion = fm.forward_dynamics(
            system, 0.02, h, start=start, output_step=1e-3, integrator=fm.GeneralizedAlpha(0.9)
        )
        found.append(drift(motion))
        errors.append(np.abs(motion.q[-1] - exact).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)
    for k, what in enumerate(("energy", "momentum", "angular momentum")):
        coarse, fine = found[0][k], found[1][k]
        assert fine < 1e-10 or coarse / fine > 3.4, what
    assert found[1].max() < 1e-3


@pytest.mark.parametrize(
    "integrator", [fm.Projected(rtol=1e-9), fm.Baumgarte(50.0, rtol=1e-9)], ids=["projected", "baumgarte"]
)
def test_other_integrators_agree(integrator: object) -> None:
    system, start = mechanism(jointed=True)
    found = [fm.forward_dynamics(system, 0.01, 0.01, start=start, integrator=i).q[-1]
             for i in (integrator, fm.TangentSpaceODE(rtol=1e-10))]  # fmt: skip
    np.testing.assert_allclose(*found, atol=1e-7)


@pytest.mark.parametrize("frame", ["chord", fm.Tangent("start")], ids=str)
def test_masses_stay_positive_in_any_frame(frame: object) -> None:
    """A free beam, bent by two percent of its length: its motion goes on in every frame, and keeps its energy."""
    mesh = fm.Mesh.line((0.0, 0.0, 0.0), (2.0, 0.0, 0.0), 8)
    bar = fm.FlexibleBody(
        "bar", mesh, fm.Material(7e10, 0.3, 2700.0), section=fm.Section.rectangle(0.02, 0.02), frame=frame,
        interfaces=["start", "end"], reduction=fm.CraigBampton(2), position=(0, 0, 0), angular_velocity=(0, 1.0, 2.0),
    )  # fmt: skip
    system = fm.System([bar])
    q = system.initial.q.copy()
    q[7] = 0.04 / bar.modal_lengths[0]
    mass = system.equations(0.0, q, system.initial.v).M.toarray()
    assert np.linalg.eigvalsh(mass)[0] > 0.0
    start = fm.State(0.0, q, system.initial.v, system.initial.angles)
    motion = fm.forward_dynamics(system, 0.03, 5e-3, start=start, integrator=fm.TangentSpaceODE(rtol=1e-8))
    assert motion.outcome == "finished"
    assert drift(motion).max() < 1e-6
