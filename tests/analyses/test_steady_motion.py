"""Modes and linear models about steady motions, against closed forms and against motions computed in time."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose

import flexmbs as fm
from flexmbs import rotations

G = 9.81


def frequencies(modes: fm.SystemModes) -> np.ndarray:
    """Angular frequencies that are not zero, ascending."""
    values = np.abs(modes.eigenvalues.imag)
    return np.sort(values[values > 0])


@pytest.mark.parametrize("angle", [0.3, 0.9])
def test_conical_pendulum(angle: float) -> None:
    """A bob on a circle at polar angle θ oscillates with ω² (1 + 3 cos²θ), ω² = g / (l cos θ)."""
    ground, length = fm.Ground(), 1.3
    speed = np.sqrt(G / (length * np.cos(angle)))
    radius = length * np.sin(angle)
    place, velocity = (radius, 0, -length * np.cos(angle)), (0, speed * radius, 0)
    bob = fm.PointMass("bob", 2.0, position=place, velocity=velocity)
    string = fm.Distance("string", ground.at(0, 0, 0), bob.at(), length=length)
    system = fm.System([ground, bob], [string], [fm.Gravity((0, 0, -G))])
    modes = fm.modes(system, about=system.initial)
    assert_allclose(modes.turning, [0, 0, speed], atol=1e-9)
    assert_allclose(frequencies(modes), [speed * np.sqrt(1 + 3 * np.cos(angle) ** 2)], rtol=1e-6)
    assert modes.stable


def governor(driven: bool, speed: float = 12.0) -> tuple[fm.System, fm.Revolute]:
    """A spindle with two arms that swing outwards, each a heavy ball on a light rod."""
    ground = fm.Ground()
    spindle = fm.RigidBody("spindle", 1.0, (0.01, 0.01, 0.02))
    shaft = fm.Revolute("shaft", ground.at(0, 0, 0), spindle.at(0, 0, 0), axis="z")
    arms, hinges = [], []
    for k, side in enumerate((1.0, -1.0)):
        # the ball hangs at (0, 0, -0.3) of the arm
        arms.append(fm.RigidBody(f"arm{k}", 2.0, (1e-4, 1e-4, 1e-4), center=(0, 0, -0.3)))
        hinges.append(fm.Revolute(f"hinge{k}", spindle.at(0, 0, 0), arms[k].at(0, 0, 0), axis=(0, -side, 0), start=0.7))
    joints: list = [shaft, *hinges]
    if driven:
        joints.append(fm.Drive("motor", shaft.angle, fm.ConstantSpeed(speed)))
    return fm.System([ground, spindle, *arms], joints, [fm.Gravity((0, 0, -G))]), hinges[0]


def test_governor_at_its_speed() -> None:
    """Arms of a driven governor rest where g / (l' ω²) = cos θ and swing about it with ω sin θ √(1 - ...)."""
    speed, mass, arm, small = 12.0, 2.0, 0.3, 1e-4
    system, hinge = governor(driven=True, speed=speed)
    steady = fm.statics(system, spin=(0, 0, speed))
    # about the hinge: across and along the arm
    across, along = mass * arm**2 + small, small
    cosine = mass * G * arm / (speed**2 * (across - along))
    assert steady.stable
    assert steady.coordinate(hinge.angle)[0] == pytest.approx(np.arccos(cosine), abs=1e-9)
    expected = speed * np.sqrt((across - along) / across * (1 - cosine**2))
    modes = fm.modes(system, about=steady)
    assert_allclose(modes.eigenvalues, 1j * np.full(2, expected), rtol=1e-7, atol=1e-6)
    # the same motion in time stays as it is
    motion = fm.forward_dynamics(system, 0.3, step=1e-3, start=steady)
    assert np.ptp(motion.coordinate(hinge.angle)) < 1e-7


@pytest.mark.parametrize("speed", [0.01, 5.0])
def test_slow_governor_hangs_down(speed: float) -> None:
    """Below ω² = g / l the arms stay down and swing with ω² = g m l / J - Ω² (J - small) / J, twice."""
    system, hinge = governor(driven=False)
    steady = fm.statics(system, spin=(0, 0, speed))
    assert steady.stable
    assert steady.coordinate(hinge.angle)[0] == pytest.approx(0.0, abs=1e-6)
    across, along = 2.0 * 0.09 + 1e-4, 1e-4
    expected = np.sqrt(2.0 * G * 0.3 / across - speed**2 * (across - along) / across)
    assert_allclose(frequencies(fm.modes(system, about=steady)), [expected, expected], rtol=1e-6)


def test_free_governor_exchanges_energy_with_its_spin() -> None:
    """Without a drive the angular momentum about z is kept, which stiffens the symmetric swing of the arms."""
    speed, mass, arm, small = 12.0, 2.0, 0.3, 1e-4
    system, hinge = governor(driven=False)
    steady = fm.statics(system, spin=(0, 0, speed))
    angle = steady.coordinate(hinge.angle)[0]
    across, along, spindle = mass * arm**2 + small, small, 0.02
    total = spindle + 2 * (across * np.sin(angle) ** 2 + along * np.cos(angle) ** 2)
    slope = 4 * (across - along) * np.sin(angle) * np.cos(angle)  # dJ/dθ
    fixed = speed**2 * (across - along) / across * np.sin(angle) ** 2
    together = fixed + (speed * slope) ** 2 / (total * 2 * across)
    found = frequencies(fm.modes(system, about=steady))
    assert_allclose(found, np.sqrt([fixed, together]), rtol=1e-6)


def test_a_linear_model_answers_like_the_mechanism() -> None:
    """A small torque on one hinge of a free governor in motion: all hinges follow C ∫ exp(A s) ds B u."""
    system, hinge = governor(driven=False)
    steady = fm.statics(system, spin=(0, 0, 12.0))
    hinges = system.joints
    model = fm.linearise(system, [hinge.angle], [j.angle for j in hinges[1:]], about=steady)
    torque, t = 1e-4, 0.25
    pushed = fm.System(system.bodies, hinges, [*system.forces, fm.SpringDamper("torque", hinge.angle, force=torque)])
    start = fm.State(0.0, steady.q[0], steady.v[0], pushed.evaluate(0.0, steady.q[0], steady.v[0]).measure)
    integrator = fm.TangentSpaceODE(rtol=1e-11, atol=1e-13)
    motion = fm.forward_dynamics(pushed, t, step=t / 5, start=start, integrator=integrator)
    n = len(model.A)
    whole = np.zeros((n + 1, n + 1))
    whole[:n, :n], whole[:n, n] = model.A, model.B[:, 0] * torque
    for k, instant in enumerate(motion.t):
        y = model.C @ scipy.linalg.expm(whole * instant)[:n, n]
        for j, joint in enumerate(hinges[1:]):
            change = motion.coordinate(joint.angle)[k] - steady.coordinate(joint.angle)[0]
            assert change == pytest.approx(y[j], abs=2e-3 * abs(y[:2]).max() + 1e-12)
    assert abs(y[0]) > 1e-6
    assert abs(y[1]) > 1e-8  # the other arm feels it through the spindle's speed


def test_modes_about_the_end_of_a_motion() -> None:
    """A pendulum in oil creeps to rest: its modes there are those of the equilibrium, in words too."""
    ground = fm.Ground()
    rod = fm.PlanarBody("rod", 1.0, 0.1, center=(0.5, 0))
    hinge = fm.planar.Revolute("hinge", ground.at(0, 0), rod.at(0, 0), start=-1.5)
    damper = fm.SpringDamper("damper", hinge.angle, damping=8.0)
    system = fm.System([ground, rod], [hinge], [fm.Gravity((0, -G, 0)), damper])
    end = fm.forward_dynamics(system, 60.0, step=0.1, integrator=fm.TangentSpaceODE(method="Radau"))
    still = fm.State(60.0, end.q[-1], np.zeros(system.n_v), end.angles[-1])
    v = still.v[None]
    at_rest = fm.Result(system, end.t[-1:], end.q[-1:], v, v, end.multipliers[-1:], end.angles[-1:])
    modes = fm.modes(system, about=at_rest)
    assert_allclose(np.sort(modes.eigenvalues.real), np.sort(np.roots([0.35, 8.0, G / 2])), rtol=1e-6)
    assert_allclose(fm.modes(system).eigenvalues, modes.eigenvalues, rtol=1e-6)
    lines = modes.table().splitlines()
    assert lines[0].split() == ["mode", "frequency", "[Hz]", "damping", "growth", "[1/s]", "moves", "most"]
    assert len(lines) == 1 + len(modes.eigenvalues)
    assert all(line.endswith("rod") for line in lines[1:])
    assert "stable" in repr(modes)


def top(speed: float) -> fm.System:
    ground = fm.Ground()
    body = fm.RigidBody(
        "top", 0.5, (2e-3, 2e-3, 1e-3), center=(0, 0, 0.1), position=(0, 0, 0), rotation=(0, 0, 0),
        angular_velocity=(0, 0, speed),
    )  # fmt: skip
    tip = fm.Spherical("tip", ground.at(0, 0, 0), body.at(0, 0, 0))
    return fm.System([ground, body], [tip], [fm.Gravity((0, 0, -G))])


@pytest.mark.parametrize("share", [0.9, 0.99, 1.01, 1.5])
def test_sleeping_top(share: float) -> None:
    """It sleeps while (J₃ω)² > 4 J₁ m g l; its two frequencies are the roots of J₁ λ² - J₃ ω λ + m g l = 0."""
    across, along, moment = 2e-3 + 0.5 * 0.01, 1e-3, 0.5 * G * 0.1
    limit = np.sqrt(4 * across * moment) / along
    system = top(share * limit)
    modes = fm.modes(system, about=system.initial)
    assert modes.stable == (share > 1)
    roots = np.roots([across, -along * share * limit, moment])
    for root in roots:
        assert (
            np.abs(modes.eigenvalues - 1j * root).min() < 1e-6 * limit
            or np.abs(modes.eigenvalues - np.conj(1j * root)).min() < 1e-6 * limit
        )
    # seen from axes that turn along, all frequencies shift by the speed
    turned = fm.modes(system, about=system.initial, turning=(0, 0, share * limit))
    if share > 1:
        shifted = np.sort(np.abs(roots.real - share * limit))
        assert_allclose(frequencies(turned)[:2], shifted, rtol=1e-6)


def test_steady_precession_of_a_top() -> None:
    """Nutation about a steady precession, against the linearised Lagrange equation of the tilt."""
    mass, arm, tilt, precession = 0.5, 0.1, 0.6, 3.0
    across, along = 2e-3 + mass * arm**2, 1e-3
    # m g l = J₃ ω₃ Ω - J₁ Ω² cos θ
    spin = (mass * G * arm + across * precession**2 * np.cos(tilt)) / (along * precession)
    rotation = rotations.axis_angle("y", tilt)
    omega = rotation.T @ np.array([0, 0, precession])
    omega[2] = spin
    ground = fm.Ground()
    body = fm.RigidBody(
        "top", mass, (2e-3, 2e-3, 1e-3), center=(0, 0, arm), position=(0, 0, 0), rotation=rotation,
        angular_velocity=omega,
    )  # fmt: skip
    tip = fm.Spherical("tip", ground.at(0, 0, 0), body.at(0, 0, 0))
    system = fm.System([ground, body], [tip], [fm.Gravity((0, 0, -G))])
    modes = fm.modes(system, about=system.initial)
    assert_allclose(modes.turning, [0, 0, precession], atol=1e-8)

    def effective(angle: float) -> float:
        """Potential of the tilt with both momenta kept."""
        about_z = across * precession * np.sin(tilt) ** 2 + along * spin * np.cos(tilt)
        own = (about_z - along * spin * np.cos(angle)) ** 2 / (2 * across * np.sin(angle) ** 2)
        return float(own + mass * G * arm * np.cos(angle))

    h = 1e-4
    curvature = (effective(tilt + h) - 2 * effective(tilt) + effective(tilt - h)) / h**2
    assert_allclose(frequencies(modes), [np.sqrt(curvature / across)], rtol=1e-5)
    assert modes.stable


@pytest.mark.parametrize("share", [0.8, 1.2])
def test_rolling_disc_stays_upright_above_its_critical_speed(share: float) -> None:
    """A thin uniform disc that rolls straight ahead is stable for v² > g r / 3; its wobble is that of Routh."""
    ground, radius = fm.Ground(), 0.5
    speed = share * np.sqrt(G * radius / 3)
    mass = 2.0
    disc = fm.RigidBody(
        "disc", mass, mass * radius**2 * np.array([0.25, 0.5, 0.25]), position=(0, 0, radius), rotation=(0, 0, 0),
        velocity=(speed, 0, 0), angular_velocity=(0, speed / radius, 0),
    )  # fmt: skip
    roll = fm.RollingDisc("roll", ground.at(0, 0, 0), disc.at(0, 0, 0), radius=radius)
    system = fm.System([ground, disc], [roll], [fm.Gravity((0, 0, -G))])
    modes = fm.modes(system, about=system.initial)
    # lean: (J₁ + m r²) J₁ λ² + J₃ (J₃ + m r²) ω² - J₁ m g r = 0
    across, along, add = mass * radius**2 / 4, mass * radius**2 / 2, mass * radius**2
    square = (across * mass * G * radius - along * (along + add) * (speed / radius) ** 2) / (across * (across + add))
    assert modes.stable == (share > 1)
    largest = modes.eigenvalues[-1]
    assert largest**2 == pytest.approx(square, rel=1e-6)


def test_rolling_disc_in_a_circle_returns_after_its_period() -> None:
    """A leaning disc that rolls in a circle: a small deviation in its mode has the period of the mode."""
    ground, radius, mass, lean, turn = fm.Ground(), 0.5, 2.0, 0.4, 2.0
    across, along = mass * radius**2 / 4, mass * radius**2 / 2
    # J₁ turn² sin cos ... solved numerically for the spin that makes the motion steady
    rotation = rotations.axis_angle("x", lean)

    def state(own: float) -> tuple[fm.System, fm.State]:
        omega = rotation.T @ np.array([0, 0, turn]) + np.array([0, own, 0])
        disc = fm.RigidBody(
            "disc", mass, (across, along, across), position=(0, 0, radius * np.cos(lean)), rotation=rotation,
            angular_velocity=omega,
        )  # fmt: skip
        roll = fm.RollingDisc("roll", ground.at(0, 0, 0), disc.at(0, 0, 0), radius=radius)
        system = fm.System([ground, disc], [roll], [fm.Gravity((0, 0, -G))])
        return system, system.initial

    def missing(own: float) -> float:
        system, at = state(own)
        rate = fm.accelerations(system, 0.0, at.q, at.v).accelerations
        return float((rate[3:] - np.cross(rotation.T @ np.array([0, 0, turn]), at.v[3:]))[0])

    low, high = 0.0, 40.0
    for sign in (1.0, -1.0):
        if missing(0.0) * missing(sign * 40.0) < 0:
            high = sign * 40.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if missing(low) * missing(middle) > 0 else (low, middle)
    system, at = state((low + high) / 2)
    modes = fm.modes(system, about=at)
    assert_allclose(modes.turning, [0, 0, turn], rtol=1e-6, atol=1e-7)
    wobble = int(np.argmax(np.abs(modes.eigenvalues.imag)))
    period = 2 * np.pi / np.abs(modes.eigenvalues[wobble].imag)
    assert modes.eigenvalues[wobble].imag > 0
    # the lean of the axle, which the steady motion keeps, oscillates with that period
    omega = at.v.copy()
    omega[3:] += rotation.T @ np.array([1e-4, 0, 0])
    disturbed = fm.System(system.bodies, system.joints, system.forces)
    work = disturbed.evaluate(0.0, at.q, omega, at.angles)
    jacobian = disturbed.jacobian(work).toarray()
    omega -= np.linalg.lstsq(jacobian, work.phi_rate, rcond=None)[0]
    motion = fm.forward_dynamics(
        disturbed, 3 * period, step=3 * period / 300, start=fm.State(0.0, at.q, omega, at.angles),
        integrator=fm.TangentSpaceODE(rtol=1e-10, atol=1e-12),
    )  # fmt: skip
    axle = motion.rotation(system.bodies[1])[:, 2, 1]
    assert_allclose(axle[[100, 200, 300]], axle[0], atol=2e-7)
    assert np.ptp(axle) > 1e-5


@pytest.mark.parametrize(("kx", "ky", "expected"), [(400.0, 400.0, [15.0, 25.0]), (300.0, 500.0, None)])
def test_oscillator_on_a_turntable(kx: float, ky: float, expected: list[float] | None) -> None:
    """Two springs on a driven turntable: λ⁴ + (kx + ky + 2 ω²) λ² + (kx - ω²)(ky - ω²) = 0 for unit mass."""
    ground, speed = fm.Ground(), 5.0
    table = fm.RigidBody("table", 1.0, (1, 1, 1))
    slide = fm.RigidBody("slide", 1e-6, (1e-9, 1e-9, 1e-9))
    mass = fm.RigidBody("mass", 1.0, (1e-9, 1e-9, 1e-9))
    shaft = fm.Revolute("shaft", ground.at(0, 0, 0), table.at(0, 0, 0))
    first = fm.Prismatic("first", table.at(0, 0, 0), slide.at(0, 0, 0), axis="x")
    second = fm.Prismatic("second", slide.at(0, 0, 0), mass.at(0, 0, 0), axis="y")
    springs = [
        fm.SpringDamper("sx", first.distance, stiffness=kx),
        fm.SpringDamper("sy", second.distance, stiffness=ky),
    ]
    motor = fm.Drive("motor", shaft.angle, fm.ConstantSpeed(speed))
    system = fm.System([ground, table, slide, mass], [shaft, first, second, motor], springs)
    modes = fm.modes(system, about=system.initial)
    assert_allclose(modes.turning, [0, 0, speed], atol=1e-9)
    if expected is None:
        expected = list(np.sqrt(-np.roots([1.0, kx + ky + 2 * speed**2, (kx - speed**2) * (ky - speed**2)])))
    assert_allclose(frequencies(modes), np.sort(expected), rtol=1e-5)
    # the same as a linear model; a force along the table's x answers with the static compliance 1 / (kx - ω²)
    model = fm.linearise(system, [first.distance], [first.distance, second.distance], about=system.initial)
    assert_allclose(np.sort(np.abs(np.linalg.eigvals(model.A).imag))[[0, 2]], np.sort(expected), rtol=1e-5)
    assert_allclose(model.transfer(0.0)[0, 0].real, 1.0 / (kx - speed**2), rtol=1e-5)
    with pytest.raises(fm.AnalysisError, match="does not move along with the steady motion"):
        fm.linearise(system, inputs=[(mass.at(0, 0, 0), "x")], outputs=[], about=system.initial)


def rotor(speed: float, polar: float = 0.03, unequal: float = 0.0) -> fm.System:
    """A disc that turns on a shaft held by springs in space: four springs at each of two bearings on its axis."""
    ground = fm.Ground()
    body = fm.RigidBody(
        "rotor", 3.0, (0.02 + unequal, 0.02 - unequal, polar), position=(0, 0, 0), rotation=(0, 0, 0),
        velocity=(0, 0, 0), angular_velocity=(0, 0, speed),
    )  # fmt: skip
    springs: list = []
    for end, z in enumerate((-0.2, 0.2)):
        for k, (x, y) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
            springs.append(
                fm.SpringDamper(
                    f"spring{end}{k}", (ground.at(10 * x, 10 * y, z), body.at(0, 0, z)), stiffness=1000.0, rest=10.0
                )
            )
    thrust = fm.PointInPlane("thrust", ground.at(0, 0, 0), body.at(0, 0, 0))
    return fm.System([ground, body], [thrust], springs)


def test_gyroscopic_split_of_a_rotor() -> None:
    """Translation keeps √(k/m); tilting splits into the roots of Jd λ² ∓ Jp ω λ - k l² = 0 (Stodola)."""
    speed = 60.0
    modes = fm.modes(rotor(speed), about=rotor(speed).initial)
    assert_allclose(modes.turning, 0.0, atol=1e-12)
    tilt = 2 * 2000.0 * 0.04
    whirl = np.abs(np.roots([0.02, -0.03 * speed, -tilt]))
    expected = np.sort([np.sqrt(4000.0 / 3.0), np.sqrt(4000.0 / 3.0), *whirl])
    assert_allclose(frequencies(modes), expected, rtol=1e-5)


def test_what_is_not_steady_is_refused() -> None:
    ground = fm.Ground()
    rod = fm.RigidBody.box("rod", (1.0, 0.1, 0.1), 1000.0)
    hinge = fm.Revolute("hinge", ground.at(0, 0, 0), rod.at(-0.5, 0, 0), axis="y", start=0.3, rate=1.0)
    system = fm.System([ground, rod], [hinge], [fm.Gravity((0, 0, -G))])
    with pytest.raises(fm.AnalysisError, match="modes: the motion is not steady: 'rod' does not move along"):
        fm.modes(system, about=system.initial)
    fast = fm.State(0.0, system.initial.q, system.initial.v + 1.0, system.initial.angles)
    with pytest.raises(fm.AnalysisError, match="modes: the velocities do not fulfil hinge"):
        fm.modes(system, about=fast)
    uneven = rotor(60.0, unequal=0.003)
    with pytest.raises(fm.AnalysisError, match="linear equations change with time"):
        fm.modes(uneven, about=uneven.initial, turning=(0, 0, 0))
    with pytest.raises(fm.AnalysisError, match="turning must be 3 numbers"):
        fm.modes(uneven, about=uneven.initial, turning=3.0)
    with pytest.raises(fm.AnalysisError, match="about is a State, the result of statics or of a motion, not str"):
        fm.modes(uneven, about="now")
    aside = fm.System([ground, rod], [fm.Revolute("hinge", ground.at(1, 0, 0), rod.at(0, 0, 0))])
    with pytest.raises(fm.AnalysisError, match="cannot turn as a whole with this spin: hinge"):
        fm.statics(aside, spin=(0, 0, 3))
    with pytest.raises(fm.AnalysisError, match="spin must be 3 numbers"):
        fm.statics(system, spin="fast")


class TestMotionsWithoutFrequency:
    """A free motion is one mode of zero frequency, not two (displaced, and moving on)."""

    def test_a_free_body_has_six(self) -> None:
        body = fm.RigidBody("body", 2.0, (0.1, 0.2, 0.25), center=(0.1, 0.0, 0.2))
        modes = fm.modes(fm.System([body]))
        np.testing.assert_array_equal(modes.frequencies, np.zeros(6))
        assert np.linalg.matrix_rank(modes.shapes) == 6

    def test_two_masses_and_a_spring(self) -> None:
        ground, one, two = fm.Ground(), fm.PlanarBody("one", 1.0, 0.1), fm.PlanarBody("two", 3.0, 0.1)
        rails = [fm.planar.Prismatic(f"rail {b.name}", ground.at(0, 0), b.at(0, 0)) for b in (one, two)]
        gap = fm.component(two.at(0, 0), "x", relative_to=one.at(0, 0))
        spring = fm.SpringDamper("spring", gap, stiffness=75.0, damping=0.3, rest=0.0)
        modes = fm.modes(fm.System([ground, one, two], rails, [spring]))
        expected = -0.2 + 1j * np.sqrt(100.0 - 0.2**2)  # reduced mass 3/4
        assert_allclose(modes.eigenvalues, [0.0, expected], atol=1e-12)

    def test_a_damper_alone_leaves_a_decay(self) -> None:
        ground, body = fm.Ground(), fm.PlanarBody("body", 2.0, 0.1)
        rail = fm.planar.Prismatic("rail", ground.at(0, 0), body.at(0, 0))
        modes = fm.modes(fm.System([ground, body], [rail], [fm.SpringDamper("damper", rail.distance, damping=3.0)]))
        assert_allclose(modes.eigenvalues, [0.0, -1.5], atol=1e-12)
