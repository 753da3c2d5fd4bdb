"""One flexible body in a prescribed motion: closed forms, independent equations, reduced against full order."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.integrate

import flexmbs as fm

ALU = fm.Material(young=7e10, poisson=0.3, density=2700.0)
POINT = fm.Mesh([[0.2, 0.0, 0.0]], [("vertex", [[0]])])


def oscillator(kx, ky):
    return fm.Elements(POINT, attachments=[fm.LumpedMass("all", 2.0), fm.GroundSpring("all", (kx, ky, 1e5))])


def seen_from_the_frame(kx, ky, spin, spin_rate, push, t):
    """u'' = -k u / m - 2 ω × u' - ω' × (x + u) - ω × (ω × (x + u)) - a, in the plane."""

    def slope(time, s):
        u, v = np.array([s[0] + 0.2, s[1]]), s[2:]
        w, e = spin(time), spin_rate(time)
        inertia = 2 * w * np.array([-v[1], v[0]]) + e * np.array([-u[1], u[0]]) - w * w * u + push(time)
        return np.concatenate([v, -np.array([kx * s[0], ky * s[1]]) / 2.0 - inertia])

    return scipy.integrate.solve_ivp(slope, (0, t[-1]), np.zeros(4), "DOP853", t, rtol=1e-11, atol=1e-14).y[:2].T


def test_rotating_oscillator_from_rest():
    """With constant spin the modal solution is exact: 15 and 25 rad/s, in steps longer than their periods."""
    motion = fm.RigidMotion(angular_velocity=(0, 0, 5.0))
    found = fm.elastodynamics(
        oscillator(800.0, 800.0), motion, supports={"all": "z"}, t_end=3.0, step=0.5, integrator=fm.ModalSuperposition()
    )
    exact = seen_from_the_frame(800.0, 800.0, lambda t: 5.0, lambda t: 0.0, lambda t: np.zeros(2), found.t)
    np.testing.assert_allclose(found.d, exact, atol=1e-9)
    a, b = 25.0 / 40.0, 15.0 / 40.0  # u = U + z₁ e^{15it} + z₂ e^{-25it} about the steady U, from rest
    steady = 2.0 * 25.0 * 0.2 / (800.0 - 2.0 * 25.0)
    z = steady - steady * (a * np.exp(15j * found.t) + b * np.exp(-25j * found.t))
    np.testing.assert_allclose(found.d, np.column_stack([z.real, z.imag]), atol=1e-9)


@pytest.mark.parametrize("given", ["profiles", "function"])
def test_changing_spin_and_acceleration(given):
    """ω = 3 sin(4t), a = (1, 2 cos 3t): C, K(ε), K(ω), q(ε), q(ω) and m_O a with their signs; second order."""
    if given == "profiles":
        spin = fm.Harmonic((0, 0, 3.0), frequency=4.0 / (2 * np.pi))
        push = (1.0, fm.Harmonic(2.0, 3.0 / (2 * np.pi), phase=np.pi / 2), 0.0)
    else:
        spin = lambda t: (0.0 * t, 0.0 * t, 3.0 * np.sin(4.0 * t))  # noqa: E731
        push = lambda t: (1.0 + 0.0 * t, 2.0 * np.cos(3.0 * t), 0.0 * t)  # noqa: E731
    motion = fm.RigidMotion(angular_velocity=spin, acceleration=push)
    errors = []
    for step in (4e-3, 2e-3):
        found = fm.elastodynamics(oscillator(800.0, 1800.0), motion, supports={"all": "z"}, t_end=2.0, step=step)
        exact = seen_from_the_frame(
            800.0, 1800.0, lambda t: 3 * np.sin(4 * t), lambda t: 12 * np.cos(4 * t),
            lambda t: np.array([1.0, 2 * np.cos(3 * t)]), found.t,
        )  # fmt: skip
        errors.append(np.abs(found.d - exact).max() / np.abs(exact).max())
    assert errors[1] < 1e-2
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)


def bar(**options):
    mesh = fm.Mesh.line((0, 0, 0), (2, 0, 0), 20)
    given = {"section": fm.Section.rectangle(0.1, 0.1), "stiffening": False, **options}
    return fm.FlexibleBody("bar", mesh, ALU, reduction=fm.ModalTruncation(12), **given)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(("speed", "stretch"), [(200.0, 4.124467556348e-3), (500.0, 2.611731267731e-2)])
def test_radial_bar(speed, stretch, full):
    """u(L) = tan(aL)/a - L; the root pulls with E A u'(0) = m Ω² (L/2 + ...), the force of the whole bar."""
    body = bar(fixed="start")
    motion = fm.RigidMotion(angular_velocity=(0, 0, speed))
    found = fm.elastodynamics(body, motion, t_end=1e-3, step=1e-4, start="deformed", full_order=full)
    assert found.displacement(0.0)[-1, 0] == pytest.approx(stretch, rel=1e-4)
    np.testing.assert_allclose(found.d - found.d[0], 0.0, atol=1e-9 * np.abs(found.d).max())
    a = speed / np.sqrt(7e10 / 2700.0)
    pull = 7e10 * 0.01 * (1 / np.cos(2 * a) - 1)
    np.testing.assert_allclose(found.reaction()[-1, 0], -pull, rtol=1e-3)


def spun_up(t, over=15.0, speed=6.0):
    return speed / over * (t - np.sin(2 * np.pi * t / over) * over / (2 * np.pi))


def spinning_beam(**options):
    section = fm.Section(area=7.2968e-5, Iy=8.2181e-9, Iz=8.2181e-9, J=1.6e-8)
    mesh, material = fm.Mesh.line((0, 0, 0), (8, 0, 0), 10), fm.Material(7e10, 0.3, 3000.0)
    method = fm.ModalTruncation(6)
    return fm.FlexibleBody("beam", mesh, material, section=section, fixed="start", reduction=method, **options)


@pytest.mark.parametrize("full", [False, True])
def test_spin_up_of_a_cantilever(full):
    """The case K8: linear theory with geometric stiffening."""
    body = spinning_beam()
    motion = fm.RigidMotion(angular_velocity=lambda t: (0.0 * t, 0.0 * t, spun_up(t)))
    found = fm.elastodynamics(body, motion, t_end=10.0, step=0.02 if not full else 0.1, full_order=full)
    tip = found.deflection("end")[:, 1]
    k = int(np.argmin(tip))
    assert tip[k] == pytest.approx(-0.800687, rel=3e-3)
    assert found.t[k] == pytest.approx(6.6197, abs=0.06)
    for t, value in ((5.0, -0.670685), (7.5, -0.749270), (10.0, -0.451225)):
        assert np.interp(t, found.t, tip) == pytest.approx(value, rel=5e-3)


def test_without_stiffening_it_diverges():
    body = spinning_beam(stiffening=False)
    motion = fm.RigidMotion(angular_velocity=lambda t: (0.0 * t, 0.0 * t, spun_up(t)))
    found = fm.elastodynamics(body, motion, t_end=10.0, step=5e-3)
    tip = found.deflection("end")[:, 1]
    for t, value in ((5.0, -0.8055), (7.5, -4.72), (10.0, -3183.0)):
        assert np.interp(t, found.t, tip) == pytest.approx(value, rel=5e-3)


def block(**options):
    mesh = fm.Mesh.box((1.0, 0.1, 0.08), (6, 1, 1))
    return fm.FlexibleBody("block", mesh, fm.Material(7e10, 0.3, 2700.0), **options)


def test_supports_and_full_order_agree_for_a_solid():
    """Held at one interface of a free body: stiffening as held there, in full order and reduced with all modes."""
    body = block(interfaces=["x0", "x1"], reduction=fm.CraigBampton(modes=8))
    fixed = block(fixed="x0", reduction=fm.FullOrder())
    motion = fm.RigidMotion(angular_velocity=fm.Harmonic((0, 3.0, 40.0), frequency=3.0), acceleration=(5.0, 0.0, 20.0))
    run = {"t_end": 0.1, "step": 5e-4}
    whole = fm.elastodynamics(fixed, motion, **run)
    sparse = fm.elastodynamics(body, motion, supports="x0", full_order=True, **run)
    elements = fm.elastodynamics(fm.Elements(body.mesh, body.material), motion, supports="x0", **run)
    held = fm.elastodynamics(body, motion, supports="x0", **run)
    tip = whole.deflection("x1")
    np.testing.assert_allclose(sparse.deflection("x1"), tip, atol=1e-7 * np.abs(tip).max())
    np.testing.assert_allclose(elements.deflection("x1"), tip, atol=1e-7 * np.abs(tip).max())
    np.testing.assert_allclose(held.deflection("x1"), tip, atol=5e-3 * np.abs(tip).max())
    middle = (0.5, 0.05, 0.04)
    bent = whole.deflection(middle, chord=("x0", "x1"))
    np.testing.assert_allclose(sparse.deflection(middle, chord=("x0", "x1")), bent, atol=1e-6 * np.abs(tip).max())
    stresses = [r.stress(at=0.05).von_mises.max() for r in (whole, sparse)]
    assert stresses[1] == pytest.approx(stresses[0], rel=1e-6)
    mine, other, few = whole.stress_envelope("x0"), sparse.stress_envelope("x0"), held.stress_envelope("x0")
    np.testing.assert_allclose(mine.largest, other.largest, rtol=1e-4)
    np.testing.assert_allclose(few.largest, other.largest, rtol=0.05)
    assert (mine.when == other.when).all()


def test_reaction_of_reduced_and_full_order():
    """From the moments of the body, and from the inertia forces of its nodes (without foreshortening, which is u²)."""
    motion = fm.RigidMotion(angular_velocity=fm.Harmonic((0, 1.0, 5.0), frequency=3.0), acceleration=(5.0, 0.0, 20.0))
    body = block(fixed="x0", reduction=fm.FullOrder(), stiffening=False)
    run = {"t_end": 0.05, "step": 1e-3}
    whole, sparse = (fm.elastodynamics(body, motion, full_order=full, **run).reaction() for full in (False, True))
    np.testing.assert_allclose(sparse, whole, atol=1e-4 * np.abs(whole).max())
    np.testing.assert_allclose(sparse[:, 5], whole[:, 5], atol=1e-4 * np.abs(whole[:, 5]).max())


def test_root_moment_is_what_the_root_section_carries():
    """The reaction from the balance of the whole body against the section forces of a beam at its root."""
    mesh = fm.Mesh.line((0, 0, 0), (1, 0, 0), 20)
    body = fm.FlexibleBody("beam", mesh, ALU, section=fm.Section.rectangle(0.02, 0.02), fixed="start",
                           reduction=fm.ModalTruncation(8))  # fmt: skip
    motion = fm.RigidMotion(angular_velocity=(0, 0, fm.Polynomial((20.0, 100.0))))
    found = fm.elastodynamics(body, motion, t_end=0.05, step=5e-4, start="deformed")
    root = found.stress(at=0.05).arrays[0][0, 0]  # N, V_y, V_z, T, M_y, M_z
    force = found.reaction()[-1]
    assert root[0] == pytest.approx(-force[0], rel=0.02)
    assert abs(root[5]) == pytest.approx(abs(force[5]), rel=0.02)


def test_gravity_turns_with_the_frame():
    """A beam turning slowly in gravity sags by w L⁴ / 8 E I of the weight across it, as its angle says."""
    mesh = fm.Mesh.line((0, 0, 0), (1, 0, 0), 8)
    body = fm.FlexibleBody("beam", mesh, ALU, section=fm.Section.rectangle(0.02, 0.02), fixed="start",
                           reduction=fm.ModalTruncation(6), stiffening=False)  # fmt: skip
    motion = fm.RigidMotion(angular_velocity=(0, 0, 0.2))
    found = fm.elastodynamics(
        body, motion, gravity=(0, -9.81, 0), t_end=10.0, step=0.05, start="deformed", integrator=fm.Newmark(0.3)
    )
    sag = 2700.0 * 0.02**2 * 9.81 / (8 * 7e10 * 0.02**4 / 12)
    exact = -sag * np.cos(0.2 * found.t)
    np.testing.assert_allclose([found.displacement(t)[-1, 1] for t in found.t[::20]], exact[::20], atol=2e-3 * sag)
    weight = 2700.0 * 0.02**2 * 9.81
    assert found.reaction()[0, 1] == pytest.approx(weight, rel=1e-3)


def test_named_loads_and_static_deflection():
    mesh = fm.Mesh.rectangle((1.0, 0.1), (8, 2))
    body = fm.FlexibleBody("plate", mesh, ALU, thickness=0.01, fixed="x0", reduction=fm.ModalTruncation(12),
                           loads={"tip": fm.Force("x1", (0.0, 10.0))})  # fmt: skip
    still = fm.RigidMotion()
    found = fm.elastodynamics(body, still, loads={"tip": 3.0}, t_end=0.01, step=1e-3, start="deformed")
    static = fm.statics(mesh, ALU, fm.Force("x1", (0.0, 30.0)), fixed="x0", thickness=0.01)
    tip = static.displacement[mesh.nodes("x1"), 1].mean()
    assert found.deflection("x1")[-1, 1] == pytest.approx(tip, rel=1e-3)
    np.testing.assert_allclose(found.displacement(0.01), static.displacement, atol=1e-6 * tip)
    np.testing.assert_allclose(found.reaction()[-1], [0, -30.0, 0, 0, 0, -30.0], atol=1e-2)


def test_samples_follow_the_motion_that_they_are_of():
    t = np.linspace(0, 1, 101)
    angle = 2 * np.sin(3 * t)
    rotations = np.array([[[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]] for a in angle])
    positions = np.column_stack([t**2, np.sin(2 * t), 0 * t])
    sampled = fm.RigidMotion.sampled(t, positions, rotations)
    fine = np.linspace(0.1, 0.9, 57)
    p = sampled.poses(fine)
    np.testing.assert_allclose(p.spin[:, 2], 6 * np.cos(3 * fine), atol=1e-4)
    np.testing.assert_allclose(p.spin_rate[:, 2], -18 * np.sin(3 * fine), atol=0.02)
    np.testing.assert_allclose(p.acceleration[:, 1], -4 * np.sin(2 * fine), atol=1e-3)
    jumps = sampled.poses(np.array([0.5 - 1e-9, 0.5 + 1e-9]))
    assert np.abs(np.diff(jumps.spin_rate, axis=0)).max() < 1e-4
    functions = fm.RigidMotion(
        angular_velocity=lambda t: (0.0 * t, 0.0 * t, 6.0 * np.cos(3.0 * t)),
        acceleration=lambda t: (0.0 * t, 0.0 * t, 0.0 * t), velocity=(1.0, 0.0, 0.0),
    )  # fmt: skip
    q = functions.poses(fine)
    np.testing.assert_allclose(2 * np.arctan2(q.quaternion[:, 3], q.quaternion[:, 0]), 2 * np.sin(3 * fine), atol=1e-8)
    np.testing.assert_allclose(q.position[:, 0], fine, atol=1e-9)


def refused(match, call):
    with pytest.raises(fm.AnalysisError, match=match):
        call()


def test_bad_input_is_refused_in_words():
    body, motion = bar(fixed="start"), fm.RigidMotion(angular_velocity=(0, 0, 1.0))
    run = {"t_end": 1e-3, "step": 1e-4}
    refused("System or a FlexibleBody", lambda: fm.elastodynamics("bar", motion, **run))
    refused("RigidMotion, not float", lambda: fm.elastodynamics(body, 3.0, **run))
    refused("t_end", lambda: fm.elastodynamics(body, motion, step=1e-4))
    refused("t_end", lambda: fm.elastodynamics(body, motion, t_end=-1.0, step=1e-4))
    refused("step", lambda: fm.elastodynamics(body, motion, t_end=1.0, step=0.0))
    refused("output_step", lambda: fm.elastodynamics(body, motion, output_step=1.5e-4, **run))
    refused("start is one of", lambda: fm.elastodynamics(body, motion, start="cold", **run))
    refused("integrator", lambda: fm.elastodynamics(body, motion, integrator=fm.GeneralizedAlpha(), **run))
    refused("gravity", lambda: fm.elastodynamics(body, motion, gravity=(1, 2), **run))
    refused("no load 'wind'", lambda: fm.elastodynamics(body, motion, loads={"wind": 1.0}, **run))
    refused("loads is", lambda: fm.elastodynamics(body, motion, loads=[1.0], **run))
    refused("'bar'|bar: ", lambda: fm.elastodynamics(bar(), motion, supports="nowhere", **run))
    refused("not held", lambda: fm.elastodynamics(bar(), motion, full_order=True, **run))
    refused("Rayleigh", lambda: fm.elastodynamics(bar(damping=0.01, fixed="start"), motion, full_order=True, **run))
    refused("one cycle", lambda: fm.elastodynamics(
        body, fm.RigidMotion(acceleration=(fm.Ramp(0.0, 5.0, 0.0, 1.0), 0, 0)), start="periodic", **run))  # fmt: skip
    found = fm.elastodynamics(body, motion, **run)
    refused("no time", lambda: found.displacement(1.0))
    refused("nowhere", lambda: found.deflection("nowhere"))
    refused("two places", lambda: found.deflection("end", chord=("start",)))


@pytest.mark.parametrize(
    ("match", "given"),
    [
        ("angular_velocity", {"angular_velocity": 3.0}),
        ("angular_velocity", {"angular_velocity": (1.0, 2.0)}),
        ("angular_velocity", {"angular_velocity": fm.Harmonic(1.0, 2.0)}),
        ("angular_velocity", {"angular_velocity": lambda t: 1.0}),
        ("acceleration", {"acceleration": ("x", 0, 0)}),
    ],
)
def test_motions_that_are_none(match, given):
    refused(match, lambda: fm.RigidMotion(**given))


def test_samples_that_are_none():
    t, p = np.linspace(0, 1, 5), np.zeros((5, 3))
    refused("four times", lambda: fm.RigidMotion.sampled(t[:3], p[:3]))
    refused("increase", lambda: fm.RigidMotion.sampled(t[::-1], p))
    refused("positions", lambda: fm.RigidMotion.sampled(t, p[:, :2]))
    refused("rotations", lambda: fm.RigidMotion.sampled(t, p, np.zeros((4, 4))))
    refused("rotation matrices", lambda: fm.RigidMotion.sampled(t, p, np.ones((5, 3, 3))))
    refused("a Result is needed", lambda: fm.RigidMotion.of(3.0, "bar"))
