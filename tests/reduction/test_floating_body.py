"""One free reduced body: its equations keep energy and momentum, and do not care for the frame."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from parts import KINDS, STEEL, beam
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import flexmbs as fm
from flexmbs.errors import ModelError
from flexmbs.reduction import CraigBampton, FloatingBody, ModalTruncation, reduce
from flexmbs.reduction.stiffening import acceleration_fields, inertia_factors

RNG = np.random.default_rng(7)


def flight(body: FloatingBody, start: np.ndarray, times: np.ndarray, rtol: float = 1e-10) -> np.ndarray:
    """States (times, 13 + 2r): p, quaternion (scalar last), p', ω, d, d' of a free body."""
    r = body.constants.size

    def rhs(t: float, y: np.ndarray) -> np.ndarray:
        q, v, w = y[3:7], y[7:10], y[10:13]
        d, rate = y[13 : 13 + r], y[13 + r :]
        acceleration = np.linalg.solve(body.mass_matrix(d), -body.bias(w, d, rate))
        turn = Rotation.from_quat(q)
        x, y_, z, s = q
        spin = 0.5 * np.array(
            [
                s * w[0] + y_ * w[2] - z * w[1],
                s * w[1] + z * w[0] - x * w[2],
                s * w[2] + x * w[1] - y_ * w[0],
                -x * w[0] - y_ * w[1] - z * w[2],
            ]
        )
        return np.concatenate([v, spin, turn.apply(acceleration[:3]), acceleration[3:6], rate, acceleration[6:]])

    found = solve_ivp(rhs, (0.0, times[-1]), start, t_eval=times, method="DOP853", rtol=rtol, atol=1e-3 * rtol)
    assert found.success
    return np.asarray(found.y.T)


def invariants(body: FloatingBody, state: np.ndarray) -> np.ndarray:
    """Energy, momentum and moment of momentum about the global origin."""
    r = body.constants.size
    turn = Rotation.from_quat(state[3:7])
    v, w, d, rate = turn.inv().apply(state[7:10]), state[10:13], state[13 : 13 + r], state[13 + r :]
    momentum, moment = (turn.apply(x) for x in body.momentum(v, w, d, rate))
    return np.concatenate([[sum(body.energy(v, w, d, rate))], momentum, moment + np.cross(state[:3], momentum)])


@pytest.mark.parametrize("stiffening", [True, False])
@pytest.mark.parametrize("kind", ["beam", "plane"])
def test_a_free_body_keeps_energy_and_momentum(kind: str, stiffening: bool) -> None:
    part = reduce(KINDS[kind](), CraigBampton(1), interfaces=["x0", "x1"])
    body = FloatingBody.of(part, stiffening)
    r, first = part.size, np.sqrt(part.constants.stiffness[0])
    plane = kind == "plane"
    v = np.array([1.0, -2.0, 0.0 if plane else 0.5])
    w = np.array([0.0, 0.0, 0.2 * first]) if plane else 0.1 * first * np.array([1.0, -1.0, 2.0])
    d, rate = np.zeros(r), np.zeros(r)
    size = np.abs(part.basis).max(axis=0)
    d[:2], rate[:2] = 0.005 / size[:2], 0.005 * first / size[:2]
    start = np.concatenate([np.zeros(3), [0.0, 0.0, 0.0, 1.0], v, w, d, rate])
    times = np.linspace(0.0, 1.0 / first, 3)
    states = flight(body, start, times)
    kept = np.array([invariants(body, state) for state in states])
    scale = np.array([kept[0, 0], *3 * [np.linalg.norm(kept[0, 1:4])], *3 * [np.linalg.norm(kept[0, 4:])]])
    assert np.abs((kept - kept[0]) / scale).max() < 1e-8
    assert np.abs(states[-1][13 : 13 + r] - d).max() > 0.1 * np.abs(d).max()


@pytest.mark.parametrize("kind", ["solid", "beam"])
def test_the_elastic_row_has_the_stiffness_of_the_unit_loads(kind: str) -> None:
    """∂/∂d of the elastic row under given accelerations: K + K(ω) + K(ε) + Σ factor K_g."""
    part = reduce(KINDS[kind](), CraigBampton(3), interfaces=["x0", "x1"])
    body = FloatingBody.of(part)
    a, epsilon, omega = RNG.normal(size=(3, 3))
    none = np.zeros(part.size)

    def row(d: np.ndarray) -> np.ndarray:
        motion = np.concatenate([a, epsilon, none])
        return np.asarray((body.mass_matrix(d) @ motion + body.bias(omega, d, none))[6:])

    c = part.constants
    exact = np.diag(c.stiffness) + c.stiffness_omega(omega) + c.stiffness_epsilon(epsilon)
    geometric = np.tensordot(inertia_factors(a, epsilon, omega), part.cases.K_g[:12], axes=1)
    tangent = np.array([row(e) - row(none) for e in np.eye(part.size)]).T
    assert_allclose(tangent - exact, geometric, atol=1e-9 * np.abs(exact).max())
    d = RNG.normal(size=part.size)
    assert_allclose(tangent @ d, row(d) - row(none), atol=1e-9 * np.abs(tangent @ d).max())  # it is linear
    for k, field in enumerate(acceleration_fields()):
        moments = np.einsum("ij,ijrs->rs", field, body.Z)
        assert_allclose(moments, part.cases.K_g[3 + k], atol=1e-9 * np.abs(body.Z).max())


def test_mass_matrix_is_that_of_the_constants_without_stiffening() -> None:
    part = reduce(beam(), CraigBampton(3), interfaces=["x0", "x1"], stiffening=False)
    body = FloatingBody.of(part, stiffening=False)
    d, rate = RNG.normal(size=(2, part.size))
    omega = RNG.normal(size=3)
    c, matrix, h = part.constants, body.mass_matrix(d), body.bias(omega, d, rate)
    assert_allclose(matrix, matrix.T)
    assert_allclose(matrix[3:6, 6:], c.G(d))
    p = c.mixed(d, rate)
    moment = np.cross(omega, c.inertia(d) @ omega) + 2 * (np.trace(p) * omega - p.T @ omega)
    assert_allclose(h[3:6], moment, atol=1e-11 * np.abs(moment).max())
    with pytest.raises(ModelError, match="reduced without stiffening"):
        FloatingBody.of(part)


def test_the_motion_does_not_depend_on_the_frame() -> None:
    """Tip of a spinning, vibrating free beam in two frames: they differ by second order in the deflection.

    Without stiffening the loads of the spin, balanced otherwise in each frame, make 3 % however small the deflection;
    without the tip's own foreshortening 0.15 %.
    """
    mesh = fm.Mesh.line((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 12)
    elements = fm.Elements(mesh, STEEL, section=fm.Section.rectangle(0.05, 0.05))
    parts = [
        reduce(elements, ModalTruncation(2), interfaces=["start", "end"], frame=f)
        for f in ("mean", fm.Tangent("start"))
    ]
    mean, tangent = parts
    first = np.sqrt(mean.constants.stiffness[0])
    times = np.array([0.0, 2.0 / first])
    differences = []
    for size in (2e-3, 1e-3):
        tips = []
        pair = mean.basis[:, :2]  # of one frequency, so that any mixture is a mode: the one towards (0, 0.6, -0.8)
        mode = pair @ np.linalg.solve(pair.reshape(-1, 6, 2)[-1, 1:3], [0.6, -0.8])
        shape = mode * size / np.abs(mode).max()
        for part in parts:
            # the same nodal velocities: the rigid part goes to the frame, the rest to d'
            rows, at = fm.averaging_rows(elements, "start")
            rigid = np.zeros(6) if part is mean else rows @ shape
            rest = shape.copy()
            if part is tangent:
                rest = rest.reshape(-1, 6)
                rest[:, :3] -= rigid[:3] + np.cross(rigid[3:], elements.points - at)
                rest[:, 3:] -= rigid[3:]
                rest = rest.ravel()
            rate = first * (part.basis.T @ (elements.assemble(elements.mass()) @ rest))
            w = np.array([0.0, 0.1 * first, 0.1 * first])
            velocity = first * rigid[:3]
            none = np.zeros(part.size)
            start = np.concatenate([np.zeros(3), [0, 0, 0, 1.0], velocity, w + first * rigid[3:], none, rate])
            end = flight(FloatingBody.of(part), start, times, rtol=1e-8)[-1]
            tip, d = part.frame("end"), end[13 : 13 + part.size]
            place = tip.position + tip.displacement @ d + (tip.second[:3] @ d) @ d / 2
            tips.append(end[:3] + Rotation.from_quat(end[3:7]).apply(place))
        differences.append(np.abs(tips[0] - tips[1]).max() / size)
    assert differences[0] < 3e-4
    assert differences[0] / differences[1] == pytest.approx(2.0, rel=0.15)
