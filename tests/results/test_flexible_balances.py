"""Energy and momentum of deforming bodies: against sums over nodes, and balanced over motions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import flexmbs as fm
from flexmbs.reduction import FloatingBody
from flexmbs.rotations import to_matrix

SOFT = fm.Material(young=2e9, poisson=0.3, density=1500.0)
GRAVITY = np.array([0.0, 0.0, -9.81])


def bar(**options: object) -> fm.FlexibleBody:
    mesh = fm.Mesh.box((1.0, 0.06, 0.08), (4, 1, 1), cell="hexahedron", origin=(0.2, -0.1, 0.05))
    return fm.FlexibleBody("bar", mesh, SOFT, **{"reduction": fm.ModalTruncation(modes=5), **options})  # type: ignore[arg-type]


def result_of(body: fm.FlexibleBody, t: np.ndarray, states: tuple[np.ndarray, ...], forces: tuple = ()) -> fm.Result:
    system = fm.System([fm.Ground(), body], [], list(forces))
    rows = np.zeros((len(t), 0))
    return fm.Result(system, t, *states, rows, np.zeros((len(t), len(system.layout.measure_kind))))


def test_they_are_the_sums_over_all_nodes() -> None:
    """With the mass matrix of the elements, whose shape functions carry any motion of the nodes of a solid."""
    body = bar(stiffening=False)
    rng = np.random.default_rng(2)
    r = body.modes
    q = rng.normal(size=(3, 7 + r))
    v, rate = rng.normal(size=(3, 6 + r)), np.zeros((3, 6 + r))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    q[:, 7:] *= 0.1 / body.modal_lengths
    motion = result_of(body, np.arange(3.0), (q, v, rate), (fm.Gravity(GRAVITY),))
    elements = fm.Elements(body.mesh, SOFT)
    mass, stiffness = (elements.assemble(b) for b in (elements.mass(), elements.stiffness()))
    energy, momentum = motion.energy, motion.momentum
    for k in range(3):
        rotation, d, d_rate = to_matrix(q[k, 3:7]), q[k, 7:], v[k, 6:]
        y = body.mesh.points + body.reduced.displacement(d)
        u_rate = body.reduced.displacement(d_rate)
        place = q[k, :3] + y @ rotation.T
        speed = v[k, :3] + (np.cross(v[k, 3:6], y) + u_rate) @ rotation.T
        carried = (mass @ speed.ravel()).reshape(-1, 3)
        assert energy.kinetic_of_bodies[k, 1] == pytest.approx(speed.ravel() @ carried.ravel() / 2, rel=1e-10)
        assert_allclose(momentum.linear[k], carried.sum(axis=0), rtol=1e-9, atol=1e-9)
        assert_allclose(momentum.angular[k], np.cross(place, carried).sum(axis=0), rtol=1e-9, atol=1e-9)
        lumps = (mass @ np.tile(np.eye(3), (len(y), 1)))[:, 0].reshape(-1, 3)[:, 0]
        assert energy.potential[k] == pytest.approx(-lumps @ (place @ GRAVITY), rel=1e-9)
        u = body.reduced.displacement(d).ravel()
        assert energy.strain[k] == pytest.approx(u @ (stiffness @ u) / 2, rel=1e-8)
    assert_allclose(momentum.weight[:, 3:], np.cross(motion._balances[1].centre, body.mass_parameters[0] * GRAVITY))


def flight(body: fm.FlexibleBody, gravity: np.ndarray, t_end: float, count: int) -> fm.Result:
    """A free flight by an independent integration of the equations of motion of FloatingBody."""
    floating, r = FloatingBody.of(body.reduced), body.modes

    def derivative(_: float, y: np.ndarray) -> np.ndarray:
        _, v, quaternion, w, d, d_rate = np.split(y, [3, 6, 10, 13, 13 + r])
        rotation = to_matrix(quaternion)
        h = floating.bias(w, d, d_rate)
        m = floating.mass_matrix(d)
        load = np.concatenate([m[:, :3] @ (rotation.T @ gravity)])
        a = np.linalg.solve(m, load - h)
        turn = np.concatenate([[-quaternion[1:] @ w], quaternion[0] * w + np.cross(quaternion[1:], w)]) / 2
        return np.concatenate([v, rotation @ a[:3], turn, a[3:6], d_rate, a[6:]])

    rng = np.random.default_rng(4)
    start = np.concatenate(
        [[0.3, -0.2, 0.5], [1.0, 2.0, -1.0], [1.0, 0, 0, 0], [5.0, 40.0, 20.0],
         0.01 * rng.normal(size=r) / body.modal_lengths, 0.1 * rng.normal(size=r) / body.modal_lengths]
    )  # fmt: skip
    t = np.linspace(0.0, t_end, count)
    y = solve_ivp(derivative, (0.0, t_end), start, "DOP853", t, rtol=1e-11, atol=1e-12).y.T
    rates = np.array([derivative(0.0, x) for x in y])
    q = np.hstack([y[:, :3], y[:, 6:10], y[:, 13 : 13 + r]])
    v = np.hstack([y[:, 3:6], y[:, 10:13], y[:, 13 + r :]])
    rate = np.hstack([rates[:, 3:6], rates[:, 10:13], rates[:, 13 + r :]])
    return result_of(body, t, (q, v, rate), (fm.Gravity(gravity),))


def test_free_flight_keeps_energy_and_momentum() -> None:
    """A fast spin, with stiffening: the work of foreshortening is in the kinetic energy, to rounding."""
    motion = flight(bar(), np.zeros(3), 0.05, 26)
    energy, momentum = motion.energy, motion.momentum
    assert np.ptp(energy.strain) > 1e-3 * energy.total[0]
    assert_allclose(energy.total, energy.total[0], rtol=1e-9)
    assert_allclose(momentum.linear, np.broadcast_to(momentum.linear[0], (26, 3)), atol=1e-9)
    assert_allclose(momentum.angular, np.broadcast_to(momentum.angular[0], (26, 3)), atol=1e-9)


def test_gravity_and_damping_explain_what_changes() -> None:
    motion = flight(bar(damping=0.05), GRAVITY, 0.02, 801)
    energy, momentum = motion.energy, motion.momentum
    assert energy.dissipated[-1] > 1e-2
    assert np.abs(energy.drift).max() < 1e-6 * energy.dissipated[-1]
    assert energy.changes["damping of bar"] == pytest.approx(-energy.dissipated[-1])
    assert np.abs(momentum.drift).max() < 1e-8
    assert "damping of bar took" in motion.summary()


def test_between_instants_the_motion_is_that_of_the_equations() -> None:
    """Dense output of elastic coordinates; accelerations from the compiled equations equal those of FloatingBody."""
    motion = flight(bar(), GRAVITY, 0.01, 401)
    body = motion.system.bodies[1]
    found = motion._part(slice(None, None, 2)).at(motion.t[101:111:2])
    scale = np.abs(motion.elastic(body)).max()
    assert_allclose(found.elastic(body) / scale, motion.elastic(body)[101:111:2] / scale, atol=1e-5)
    assert_allclose(found.rate, motion.rate[101:111:2], rtol=1e-3, atol=1e-4 * np.abs(motion.rate).max())
    same = motion.at(motion.t[7])
    assert_allclose(same.q[0], motion.q[7], rtol=0, atol=0)


def slider_crank(step: float) -> tuple[fm.Result, fm.FlexibleBody, fm.Joint]:
    ground, crank = fm.Ground(), fm.RigidBody.box("crank", size=(0.15, 0.02, 0.02), density=7870.0)
    steel = fm.Material(young=2e11, poisson=0.3, density=7870.0)
    rod = fm.FlexibleBody(
        "rod", fm.Mesh.line((0, 0, 0), (0.3, 0, 0), 6), steel, section=fm.Section.rectangle(8e-3, 8e-3),
        interfaces=["start", "end"], reduction=fm.CraigBampton(modes=6),
    )  # fmt: skip
    slider = fm.RigidBody("slider", 0.075552, np.eye(3) * 1e-5)
    shaft = fm.Revolute("shaft", ground.at(0, 0, 0), crank.at(-0.075, 0, 0), axis="z")
    pin = fm.Revolute("pin", crank.at(0.075, 0, 0), rod.at("start"), axis="z")
    wrist = fm.Spherical("wrist", rod.at("end"), slider.at(0, 0, 0))
    guide = fm.Prismatic("guide", ground.at(0, 0, 0), slider.at(0, 0, 0), axis="x")
    motor = fm.Drive("motor", shaft.angle, fm.SpinUp(150.0, over=0.1))
    system = fm.System([ground, crank, rod, slider], [shaft, pin, wrist, guide, motor], [])
    return fm.forward_dynamics(system, 0.1, step), rod, pin


def test_a_driven_slider_crank_balances() -> None:
    """Work of the drive = kinetic and strain energy, reactions on the ground = change of momentum: errors as h²."""
    coarse, fine = slider_crank(1e-4), slider_crank(5e-5)
    motion, rod, pin = fine
    assert motion.energy.supplied[-1] > 1.0
    assert motion.energy.strain.max() > 1e-3
    errors = [np.abs(m.energy.drift).max() for m, _, _ in (coarse, fine)]
    assert errors[1] < 1e-3 * motion.energy.supplied[-1]
    assert 3.0 < errors[0] / errors[1] < 5.0
    pushes = [np.abs(m.momentum.drift).max(axis=0)[[0, 1, 5]] for m, _, _ in (coarse, fine)]
    assert (pushes[1] < 0.4 * pushes[0]).all()
    # the middle of the rod, from the chord of its pins: the reference slider-crank
    bend = motion.deflection(rod.at(3), chord=("start", "end"))[:, 1]
    assert bend[motion.t.searchsorted(0.09 - 1e-9)] == pytest.approx(-7.68487e-4, abs=0.003 * 1.5485e-3)
    assert bend.max() == pytest.approx(1.548527e-3, rel=0.003)
    assert motion.t[bend.argmax()] == pytest.approx(0.0976, abs=1e-4)
    # the pin: what it exerts on the rod at its deformed place is what moves rod and slider
    one, other = motion.reaction(pin), motion.reaction(motion.system.joints[2])
    pushed = motion._balances[2]
    rate = np.gradient(pushed.linear, motion.t, axis=0, edge_order=2)[5:-5]
    scale = np.abs(one[:, :3]).max()
    assert_allclose((one - other)[5:-5, :3] / scale, rate / scale, atol=2e-2)
