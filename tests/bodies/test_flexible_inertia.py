"""The equations of a flexible body are Lagrange's of one kinetic energy, and their tangent is their derivative."""

from __future__ import annotations

import numpy as np
import pytest

import flexmbs as fm
from flexmbs.bodies.flexible_inertia import VECTORS, BodyMoments, flexible_rows, moment_vectors, packed
from flexmbs.bodies.flexible_tangent import add_flexible
from flexmbs.rotations import exp, skew, tangent_matrix

N = 4


def random_moments(seed: int, stiffens: bool = True) -> BodyMoments:
    """Moments of a cloud of points that move by N d + u₂: every identity between them holds by construction."""
    rng = np.random.default_rng(seed)
    points, masses = rng.normal(size=(30, 3)), rng.uniform(0.5, 1.5, 30)
    shapes = rng.normal(size=(30, 3, N))
    bends = rng.normal(size=(30, 3, N, N)) * stiffens
    bends = bends + bends.transpose(0, 1, 3, 2)
    stiffness = rng.normal(size=(N, N))
    return BodyMoments(
        masses.sum(),
        masses @ points,
        np.einsum("p,pi,pj->ij", masses, points, points),
        np.einsum("p,pik->ik", masses, shapes),
        np.einsum("p,pi,pjk->ijk", masses, points, shapes),
        stiffness @ stiffness.T,
        np.diag(rng.uniform(size=N)),
        np.einsum("p,pik,pjl->ijkl", masses, shapes, shapes),
        np.einsum("p,pikl->ikl", masses, bends),
        np.einsum("p,pj,pikl->ijkl", masses, points, bends),
    )


def rows(moments: BodyMoments, w, e, a, d, v, rate):
    """Force, moment and modal rows in body axes, as one vector."""
    constants, table, small = packed(moments), np.zeros((VECTORS, N)), np.zeros((3, 3, 3))
    modal = np.zeros(N)
    moment_vectors(constants, 0, N, d, 0, v, rate, 0, True, table)
    force, moment, s, s1 = flexible_rows(
        constants, 0, N, tuple(w), tuple(e), tuple(a), d, 0, v, rate, 0, table, small, modal, 0, 1.0
    )
    return np.concatenate([force, moment, modal]), (constants, table, small, s, s1, force)


def kinetic(m: BodyMoments, velocity, w, d, v) -> float:
    """Kinetic energy from the moments, each to second order in d."""
    s = m.first + m.shifts @ d + 0.5 * np.einsum("ikl,k,l->i", m.shortening, d, d)
    s1 = m.shifts @ v + np.einsum("ikl,k,l->i", m.shortening, d, v)
    sheared = np.einsum("ijkl,k,l->ij", m.shearing, d, d)
    turned = m.turns @ d
    second = m.second + turned + turned.T + np.einsum("ijkl,k,l->ij", m.products, d, d) + 0.5 * (sheared + sheared.T)
    inertia = np.trace(second) * np.eye(3) - second
    slide = m.turns @ v + np.einsum("ijkl,k,l->ij", m.products, d, v) + np.einsum("jikl,k,l->ij", m.shearing, d, v)
    spin = np.array([slide[1, 2] - slide[2, 1], slide[2, 0] - slide[0, 2], slide[0, 1] - slide[1, 0]])
    mass = np.einsum("iikl->kl", m.products)
    return float(
        0.5 * m.mass * velocity @ velocity
        + velocity @ (np.cross(w, s) + s1)
        + 0.5 * w @ inertia @ w
        + w @ spin
        + 0.5 * v @ mass @ v
    )


@pytest.mark.parametrize("stiffens", [False, True])
def test_rows_give_the_rate_of_the_energy(stiffens: bool) -> None:
    """Power of the rows = change of kinetic and elastic energy, plus what dampers take, whatever the motion."""
    moments = random_moments(3, stiffens)
    rng = np.random.default_rng(4)
    velocity, w, d, v, velocity_rate, e, rate = (rng.normal(size=n) for n in (3, 3, N, N, 3, 3, N))
    d = 0.3 * d
    a = velocity_rate + np.cross(w, velocity)  # body components of p''
    found, _ = rows(moments, w, e, a, d, v, rate)
    power = found @ np.concatenate([velocity, w, v])

    def energy(t: float) -> float:
        dt, vt = d + t * v + t * t / 2 * rate, v + t * rate
        elastic = 0.5 * dt @ moments.stiffness @ dt
        return kinetic(moments, velocity + t * velocity_rate, w + t * e, dt, vt) + elastic

    h = 1e-4
    slope = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h)
    assert power - v @ moments.damping @ v == pytest.approx(slope, rel=1e-9)


def test_rows_of_points() -> None:
    """Without second-order terms the rows are the sums of m r'' over the points of the body."""
    rng = np.random.default_rng(3)
    points, masses = rng.normal(size=(30, 3)), rng.uniform(0.5, 1.5, 30)
    shapes = rng.normal(size=(30, 3, N))
    moments = random_moments(3, stiffens=False)
    rng = np.random.default_rng(8)
    w, e, a, d, v, rate = (rng.normal(size=n) for n in (3, 3, 3, N, N, N))
    y, y1, y2 = points + shapes @ d, shapes @ v, shapes @ rate
    r2 = a + y @ (skew(e) + skew(w) @ skew(w)).T + 2 * np.cross(w, y1) + y2
    elastic = moments.stiffness @ d + moments.damping @ v
    expected = np.concatenate(
        [masses @ r2, masses @ np.cross(y, r2), np.einsum("p,pik,pi->k", masses, shapes, r2) + elastic]
    )
    np.testing.assert_allclose(rows(moments, w, e, a, d, v, rate)[0], expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("planar", [False, True])
def test_tangent_is_the_derivative(planar: bool) -> None:
    moments = random_moments(5)
    rng = np.random.default_rng(6)
    w, e, fall, psi, d, v, rate = (rng.normal(size=n) for n in (3, 3, 3, 3, N, N, N))
    d, start = 0.3 * d, exp(rng.normal(size=3))
    if planar:
        w[:2] = e[:2] = psi[:2] = 0.0
        start = exp(np.array([0.0, 0.0, 0.7]))
    c_m, c_d = 1.7, 0.6
    shift, turns = (2, [2]) if planar else (3, [0, 1, 2])
    size = shift + len(turns) + N

    def residual(x: np.ndarray) -> np.ndarray:
        """Rows in global axes at the increment psi + turn, d + modes, with v, v' moving by c_d, c_m."""
        move, turn, modes = np.zeros(3), np.zeros(3), x[shift + len(turns) :]
        move[:shift], turn[turns] = x[:shift], x[shift : shift + len(turns)]
        rotation = start @ exp(psi + turn)
        a = rotation.T @ (fall + c_m * move)
        out, _ = rows(moments, w + c_d * turn, e + c_m * turn, a, d + modes, v + c_d * modes, rate + c_m * modes)
        return np.concatenate([(rotation @ out[:3])[:shift], out[3:6][turns], out[6:]])

    rotation = (start @ exp(psi))[None]
    a = rotation[0].T @ fall
    _, (constants, table, small, s, s1, force) = rows(moments, w, e, a, d, v, rate)
    data = np.zeros(size * size)
    add_flexible(
        constants, 0, N, tuple(w), tuple(e), tuple(a), s, s1, force, table, small, rotation,
        tangent_matrix(psi)[None], 0, planar, 1.0, c_m, c_d, 0, size, data,
    )  # fmt: skip
    h = 1e-5
    numeric = np.stack([(residual(h * x) - residual(-h * x)) / (2 * h) for x in np.eye(size)], axis=1)
    np.testing.assert_allclose(data.reshape(size, size), numeric, rtol=1e-6, atol=2e-7 * np.abs(numeric).max())


def test_rigid_twin_of_a_plane_body_keeps_pose_and_motion():
    mesh = fm.Mesh.rectangle((1.0, 0.1), (4, 1))
    arm = fm.FlexibleBody(
        "arm", mesh, fm.Material(7e10, 0.3, 2700.0), thickness=0.01, reduction=fm.ModalTruncation(3),
        position=(1.0, 2.0), rotation=0.3, velocity=(0.5, -0.5), angular_velocity=2.0,
    )  # fmt: skip
    twin = arm.rigid()
    assert (twin.name, twin.angle, twin.angular_velocity) == ("arm", pytest.approx(0.3), 2.0)
    for given, kept in zip(twin.initial, arm.initial, strict=True):
        np.testing.assert_allclose(given, kept, atol=1e-15)
    assert twin.mass_parameters[0] == pytest.approx(2.7)
    assert twin.mass_parameters[2][2, 2] == pytest.approx(2.7 * (1.0 + 0.01) / 3)
