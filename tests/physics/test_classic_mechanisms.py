"""Textbook mechanisms against their own equations: in minimal coordinates, in closed form, or as published."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, fsolve

import flexmbs as fm

G = 9.81
TIGHT = fm.TangentSpaceODE(rtol=1e-10, atol=1e-12)


def about_z(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def reference(rhs, end: float, start, instants: int) -> np.ndarray:
    times = np.linspace(0.0, end, instants)
    return solve_ivp(rhs, (0.0, end), start, method="DOP853", rtol=1e-12, atol=1e-13, t_eval=times).y


def squeezer() -> tuple[fm.System, list[fm.planar.Revolute]]:
    """Andrews' squeezing mechanism with the data and names of the test set for IVP solvers (Mazzia and Magherini)."""
    xa, ya, xb, yb, xc, yc = -0.06934, -0.00227, -0.03635, 0.03273, 0.014, 0.072
    ground = fm.Ground()
    k1 = fm.PlanarBody("K1", 0.04325, 2.194e-6, center=(92e-5, 0))
    k2 = fm.PlanarBody("K2", 0.00365, 4.410e-7, center=(-115e-4, 0))
    k3 = fm.PlanarBody("K3", 0.02373, 5.255e-6, center=(1043e-5, -1874e-5))
    k4 = fm.PlanarBody("K4", 0.00706, 5.667e-7, center=(0, -(2e-2 - 1421e-5)))
    k5 = fm.PlanarBody("K5", 0.07050, 1.169e-5, center=(-916e-5, -2308e-5))
    k6 = fm.PlanarBody("K6", 0.00706, 5.667e-7, center=(2e-2 - 1421e-5, 0))
    k7 = fm.PlanarBody("K7", 0.05498, 1.912e-5, center=(-449e-5, -1228e-5))
    hinge = fm.planar.Revolute
    beta = hinge("beta", ground.at(0, 0), k1.at(0, 0), start=-0.0617138900142764496)
    theta = hinge("theta", k1.at(7e-3, 0), k2.at(0, 0), start=0.0)
    gamma = hinge("gamma", ground.at(xb, yb), k3.at(0, 0), start=0.455279819163070380)
    delta = hinge("delta", ground.at(xa, ya), k5.at(0, 0), start=0.487364979543842550)
    phi = hinge("phi", k5.at(4e-2, 0), k4.at(0, 0), start=0.222668390165885885)
    epsilon = hinge("epsilon", ground.at(xa, ya), k7.at(0, 0), start=1.23054744454982119)
    omega = hinge("omega", k7.at(0, -4e-2), k6.at(0, 0), start=-0.222668390165885885)
    node = [
        hinge(f"node {b.name}", b.at(*at), k2.at(-28e-3, 0))
        for b, at in ((k3, (0, -35e-3)), (k4, (0, -2e-2)), (k6, (2e-2, 0)))
    ]
    spring = fm.SpringDamper("spring", (k3.at(2e-2, -18e-3), ground.at(xc, yc)), stiffness=4530.0, rest=0.07785)
    motor = fm.SpringDamper("motor", beta.angle, force=0.033)
    angles = [beta, theta, gamma, phi, delta, omega, epsilon]
    return fm.System([ground, k1, k2, k3, k4, k5, k6, k7], [*angles, *node], [spring, motor]), angles


def test_andrews_squeezer_ends_as_published() -> None:
    """β, Θ, γ, Φ, δ, Ω, ε after 0.03 s; β makes two and a half turns."""
    system, angles = squeezer()
    published = [
        0.1581077119629904e2, -0.1575637105984298e2, 0.4082224013073101e-1, -0.5347301163226948,
        0.5244099658805304, 0.5347301163226948, 0.1048080741042263e1,
    ]  # fmt: skip
    assert system.mobility == 1
    run = fm.forward_dynamics(system, 0.03, step=0.03, integrator=TIGHT)
    assert_allclose([run.coordinate(j.angle)[-1] for j in angles], published, rtol=1e-8)
    errors = []
    for step in (1e-5, 5e-6):
        run = fm.forward_dynamics(system, 0.03, step=step, output_step=0.03)
        errors.append(abs(run.coordinate(angles[0].angle)[-1] - published[0]))
    assert errors[1] < 1e-4
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


def test_a_loaded_gyroscope_in_gimbals() -> None:
    """Lagrange's equations with the gimbals' inertia: the outer angle is cyclic, and so is the rotor's."""
    outer, inner, rotor = (0.02, 0.03, 0.04), (0.01, 0.012, 0.011), (0.05, 0.05, 0.08)
    ground = fm.Ground()
    bodies = [fm.RigidBody(n, 1.0, i) for n, i in (("outer", outer), ("inner", inner), ("rotor", rotor))]
    first = fm.Revolute("first", ground.at(0, 0, 0), bodies[0].at(0, 0, 0), axis="z", start=0.1)
    second = fm.Revolute("second", bodies[0].at(0, 0, 0), bodies[1].at(0, 0, 0), axis="x", start=0.9)
    third = fm.Revolute("third", bodies[1].at(0, 0, 0), bodies[2].at(0, 0, 0), axis="z", rate=30.0)
    load = fm.AppliedForce("load", bodies[1].at(0, 0, 0.2), force=(0, 0, -2.0))
    run = fm.forward_dynamics(fm.System([ground, *bodies], [first, second, third], [load]), 2.0, 0.1, integrator=TIGHT)
    p3 = rotor[2] * 30.0
    across, along, flat = inner[1] + rotor[1], inner[2], inner[0] + rotor[0]
    p1 = p3 * np.cos(0.9)

    def rhs(t, y):
        _, b, rate, _ = y
        s, c = np.sin(b), np.cos(b)
        turn = (p1 - p3 * c) / (outer[2] + across * s**2 + along * c**2)
        return [turn, rate, ((across - along) * s * c * turn**2 - p3 * turn * s + 0.4 * s) / flat, 30.0 - turn * c]

    expected = reference(rhs, 2.0, [0.1, 0.9, 0.0, 0.0], 21)
    for joint, k in ((first, 0), (second, 1), (third, 3)):
        assert_allclose(run.coordinate(joint.angle), expected[k], atol=1e-9)


def test_a_coin_that_rolls_and_wobbles() -> None:
    """Newton's and Euler's equations of a rolling disc in axes that follow its tilt, but not its spin."""
    m, r, j1, j3, tilt, rates = 1.0, 0.1, 2.5e-3, 5e-3, np.pi / 2 - 0.3, (0.2, 1.0, -8.0)

    def defect(y, accelerations):
        angle, dtilt, turn, spin = y[:4]
        s, c = np.sin(angle), np.cos(angle)
        axes = np.array([dtilt, turn * s, turn * c])
        velocity = r * np.array([-spin, 0, dtilt])
        acceleration = r * np.array([-accelerations[2], 0, accelerations[0]]) + np.cross(axes, velocity)
        moment = np.cross([0, -r, 0], m * (acceleration + G * np.array([0, s, c])))
        momentum = np.array([j1 * dtilt, j1 * turn * s, j3 * spin])
        rate = [j1 * accelerations[0], j1 * (accelerations[1] * s + turn * c * dtilt), j3 * accelerations[2]]
        return np.array(rate) + np.cross(axes, momentum) - moment

    def rhs(t, y):
        here = defect(y, np.zeros(3))
        matrix = np.array([defect(y, e) - here for e in np.eye(3)]).T
        angle, dtilt, turn, spin, heading = y[:5]
        sideways = r * dtilt * np.sin(angle)
        c, s = np.cos(heading), np.sin(heading)
        place = [-r * spin * c + sideways * s, -r * spin * s - sideways * c]
        return [dtilt, *np.linalg.solve(matrix, -here), turn, *place]

    expected = reference(rhs, 2.0, [tilt, *rates, 0, 0, 0], 21)
    s, c = np.sin(tilt), np.cos(tilt)
    axes = np.array([[1, 0, 0], [0, c, s], [0, -s, c]]).T
    ground = fm.Ground()
    disc = fm.RigidBody(
        "disc", m, (j1, j1, j3), position=(0, 0, r * s), rotation=axes,
        velocity=axes @ [-r * rates[2], 0, r * rates[0]], angular_velocity=(rates[0], rates[1] * s, rates[2]),
    )  # fmt: skip
    roll = fm.RollingDisc("roll", ground.at(0, 0, 0), disc.at(0, 0, 0), radius=r, axis="z")
    run = fm.forward_dynamics(fm.System([ground, disc], [roll], [fm.Gravity()]), 2.0, 0.1, integrator=TIGHT)
    assert_allclose(np.arccos(run.rotation(disc)[:, 2, 2]), expected[0], atol=1e-8)
    assert_allclose(run.position(disc)[:, :2], expected[5:7].T, atol=1e-8)


def test_foucault_pendulum_seen_from_the_earth() -> None:
    """Newton's equations of a point on a sphere in a frame that turns."""
    spin, high = 0.05 * np.array([0, np.cos(0.8), np.sin(0.8)]), -np.sqrt(0.91)

    def rhs(t, y):
        x, v = y[:3], y[3:]
        free = np.array([0, 0, -G]) - 2 * np.cross(spin, v) - np.cross(spin, np.cross(spin, x))
        return np.concatenate([v, free - (v @ v + free @ x) / (x @ x) * x])

    ground, bob = fm.Ground(), fm.PointMass("bob", 1.0, position=(0.3, 0, high))
    string = fm.Distance("string", ground.at(0, 0, 0), bob.at(), length=1.0)
    system = fm.System([ground, bob], [string], [fm.Gravity(), fm.RotatingFrame(spin)])
    run = fm.forward_dynamics(system, 10.0, 0.5, integrator=TIGHT)
    assert_allclose(run.position(bob), reference(rhs, 10.0, [0.3, 0, high, 0, 0, 0], 21)[:3].T, atol=1e-8)


def test_two_universal_joints_in_phase_turn_evenly() -> None:
    """One Cardan joint at an angle β turns with cos β / (1 - sin²β cos²θ) of the speed; a second one evens it out."""
    bend, speed = 0.4, 5.0
    ground = fm.Ground()
    drive, middle, output = (fm.RigidBody(name, 1.0, (0.01, 0.01, 0.01)) for name in ("drive", "middle", "output"))
    end = about_z(bend) @ [1.0, 0, 0]
    joints = [
        fm.Revolute("in", ground.at(0, 0, 0), drive.at(0, 0, 0), axis="x"),
        fm.Universal("first", drive.at(0, 0, 0), middle.at(0, 0, 0), axis="y", cross="z"),
        fm.Universal("second", middle.at(1, 0, 0), output.at(0, 0, 0), axis="z", cross="y"),
        fm.Cylindrical("out", ground.at(*end), output.at(0, 0, 0), axis="x"),
    ]
    motor = fm.Drive("motor", joints[0].angle, fm.ConstantSpeed(speed))
    run = fm.kinematics(fm.System([ground, drive, middle, output], [*joints, motor]), np.linspace(0, 3, 61))
    assert_allclose(run.coordinate(joints[3].angle), speed * run.t, atol=1e-10)
    along = run.angular_velocity(middle) @ end
    assert_allclose(along, speed * np.cos(bend) / (1 - (np.sin(bend) * np.cos(speed * run.t)) ** 2), atol=1e-9)


def test_a_delta_robot_moves_its_platform_without_turning_it() -> None:
    """Forward kinematics by three spheres; the power of the motors is that of the energies."""
    base, hand, arm, rod, half = 0.2, 0.05, 0.3, 0.6, 0.05
    ground, platform = fm.Ground(), fm.RigidBody("platform", 0.5, (1e-3, 1e-3, 1e-3), position=(0, 0, -0.7))
    bodies, joints, laws = [], [], []
    for k in range(3):
        turn = about_z(2 * np.pi * k / 3)
        body = fm.RigidBody(f"arm {k}", 0.3, (1e-4, 2e-3, 2e-3), center=(arm / 2, 0, 0))
        shoulder = fm.Revolute(f"shoulder {k}", ground.at(*turn @ [base, 0, 0], axes=turn), body.at(0, 0, 0), axis="y")
        law = fm.Harmonic(0.2, 0.5 + 0.1 * k, offset=0.3)
        rods = [
            fm.Distance(f"rod {k}{side}", body.at(arm, y, 0), platform.at(*turn @ [hand, y, 0]), length=rod)
            for side, y in (("a", half), ("b", -half))
        ]
        bodies, joints, laws = [*bodies, body], [*joints, shoulder, *rods], [*laws, law]
    motors = [fm.Drive(f"motor {k}", joints[3 * k].angle, laws[k]) for k in range(3)]
    system = fm.System([ground, *bodies, platform], [*joints, *motors], [fm.Gravity()])
    with pytest.warns(fm.ModelWarning, match="position of 'platform'"):  # it was given about
        assert system.mobility == 0
    assert system.redundant == ()
    run = fm.inverse_dynamics(system, np.linspace(0.0, 2.0, 401))
    assert_allclose(run.rotation(platform), np.broadcast_to(np.eye(3), (401, 3, 3)), atol=1e-12)
    for k in range(0, 401, 40):
        centres = []
        for i, law in enumerate(laws):
            q = law.value(run.t[k])
            centres.append(about_z(2 * np.pi * i / 3) @ [base - hand + arm * np.cos(q), 0, -arm * np.sin(q)])
        place = fsolve(lambda x, c=centres: [(x - one) @ (x - one) - rod**2 for one in c], (0, 0, -0.7))
        assert_allclose(run.position(platform)[k], place, atol=1e-8)
    power = sum(run.reaction(m) * law.rate(run.t) for m, law in zip(motors, laws, strict=True))
    work = np.diff(run.energy.total[::2])
    simpson = (power[:-2:2] + 4 * power[1::2] + power[2::2]) * (run.t[1] - run.t[0]) / 3
    assert_allclose(work, simpson, atol=1e-7 * abs(work).max())


@pytest.mark.parametrize("integrator", [TIGHT, fm.GeneralizedAlpha()])
@pytest.mark.parametrize("turned", [False, True])
def test_turns_are_counted_however_seldom_a_rotor_is_looked_at(integrator, turned: bool) -> None:
    """A hinge at 100 rad/s that nothing else refers to, seen every 0.3 s, in the plane and in space."""
    ground, found = fm.Ground(), []
    for body, kind in ((fm.PlanarBody("rotor", 1.0, 0.1), fm.planar), (fm.RigidBody("rotor", 1.0, (1, 1, 1)), fm)):
        frames = (ground.at(0, 0, 0), body.at(0, 0, 0))
        hinge = kind.Revolute("hinge", *(frames[::-1] if turned else frames), rate=100.0)
        run = fm.forward_dynamics(
            fm.System([ground, body], [hinge]), 3.0, step=1e-3, output_step=0.3, integrator=integrator
        )
        found.append(run.coordinate(hinge.angle))
    assert_allclose(found, [100.0 * run.t] * 2, atol=1e-6)


def test_a_hanging_chain() -> None:
    """Each link lies along the mean of the forces at its ends, so that the span gives the horizontal one."""
    n, length, mass, span = 12, 0.1, 0.1, 0.8
    ground, links = fm.Ground(), [fm.PlanarBody.rod(f"link {k}", length, mass) for k in range(n)]
    joints = [fm.planar.Revolute("first", ground.at(0, 0), links[0].at(-length / 2, 0), start=-1.0)]
    for k in range(1, n):
        before, after = links[k - 1].at(length / 2, 0), links[k].at(-length / 2, 0)
        joints.append(fm.planar.Revolute(f"pin {k}", before, after, start=0.15))
    joints.append(fm.planar.Revolute("last", links[-1].at(length / 2, 0), ground.at(span, 0)))
    rest = fm.statics(fm.System([ground, *links], joints, [fm.Gravity((0, -G, 0))]))
    down = mass * G * (n / 2 - np.arange(n) - 0.5)
    across = brentq(lambda h: np.sum(length * h / np.hypot(h, down)) - span, 1e-3, 100.0)
    assert rest.stable
    assert_allclose(rest.reaction(joints[0])[0], [-across, n * mass * G / 2, 0.0], atol=1e-9)
