"""Frequency responses against closed forms: beams, oscillators at rest and spinning, mechanisms, stress."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm

STEEL = fm.Material(young=2.1e11, poisson=0.3, density=7850.0)
POINT = fm.Mesh([[0.0, 0.0, 0.0]], [("vertex", [[0]])], name="point")
SECTION = fm.Section.rectangle(0.002, 0.003)  # slender: no rotary inertia in the closed forms
LINE = fm.Mesh.line((0, 0, 0), (1, 0, 0), 12)
BEAM = fm.Elements(LINE, STEEL, section=SECTION, formulation="euler_bernoulli")
HERTZ = np.array([0.0, 0.4, 1.1, 4.0, 6.0])


def tip_receptance(frequency: float) -> float:
    """Tip displacement of a slender cantilever under a unit force at its tip."""
    omega = 2 * np.pi * frequency
    bending = STEEL.young * SECTION.Iy
    b = (STEEL.density * SECTION.area * omega**2 / bending) ** 0.25
    if b == 0:
        return 1 / (3 * bending)
    return float((np.cosh(b) * np.sin(b) - np.sinh(b) * np.cos(b)) / (bending * b**3 * (1 + np.cos(b) * np.cosh(b))))


def test_cantilever_three_ways() -> None:
    """All nodes at once, few modes with the static rest, and a reduced body: the closed form of a slender beam."""
    body = fm.FlexibleBody("beam", BEAM, fixed="start", interfaces="end", reduction=fm.CraigBampton(modes=14))
    exact = [tip_receptance(f) for f in HERTZ]
    direct = fm.frequency_response(BEAM, HERTZ, ("end", "z"), ("end", "z"), fixed="start")
    few = fm.frequency_response(BEAM, HERTZ, ("end", "z"), ["end"], fixed="start", modes=8)
    reduced = fm.frequency_response(body, HERTZ, (body.at("end"), "z"), ["end", ("end", (0, 1, 1))])
    assert direct.outputs == direct.inputs == ("end z",)
    assert reduced.outputs[:3] == few.outputs == ("end x", "end y", "end z")
    assert_allclose(direct.of("end z").real, exact, rtol=1e-4)
    assert_allclose(few.of("end z"), direct.of("end z"), rtol=1e-3)
    assert_allclose(reduced.of("end z"), direct.of("end z"), rtol=1e-3)
    assert_allclose(reduced.response[:, 3, 0], reduced.of("end z") / np.sqrt(2), rtol=1e-9)
    assert direct.of("end z")[0].real == pytest.approx(exact[0], rel=1e-8)


@pytest.mark.parametrize("way", ["direct", "modes", "body"])
def test_base_motion_of_a_damped_beam(way: str) -> None:
    """Shaken slowly, the tip lags by q L⁴ / 8EI of its inertia load; near resonance one mode has it all."""
    damping: Any = fm.Rayleigh(mass=0.15)
    model: Any = BEAM
    options: dict[str, Any] = {"fixed": "start", "damping": damping}
    if way == "modes":
        options["modes"] = 10
    if way == "body":
        model, options = fm.FlexibleBody("beam", BEAM, fixed="start", damping=damping), {}
    first = fm.modes(BEAM, fixed="start", count=1)
    omega, shape = 2 * np.pi * first.frequencies[0], first.shapes[0, -1, 2]
    effective = shape * np.sqrt(first.effective_mass[0, 2]) * np.sign(first.shapes[0, -1, 2])
    found = fm.frequency_response(model, [0.0, first.frequencies[0]], fm.BaseMotion("z"), ("end", "z"), **options)
    still = STEEL.density * SECTION.area / (8 * STEEL.young * SECTION.Iy)
    assert found.response[0, 0, 0] == pytest.approx(-still, rel=1e-4)
    # at resonance -m_eff / (iω · 0.15), the other modes as in statics
    assert found.response[1, 0, 0].imag == pytest.approx(abs(effective) / (omega * 0.15), rel=1e-4)
    assert found.inputs == ("base z",)


def oscillator(kx: float, ky: float) -> fm.Elements:
    return fm.Elements(POINT, attachments=[fm.LumpedMass("all", 2.0), fm.GroundSpring("all", (kx, ky, 1e5))])


@pytest.mark.parametrize("speed", [0.0, 5.0])
def test_spinning_oscillator(speed: float) -> None:
    """(K - Ω²m - ω²m + iω(2mΩz~ + c))⁻¹, with damping, in the rotating frame."""
    f = np.array([0.5, 2.0, 3.0, 6.0])
    model = oscillator(800.0, 1800.0)
    inputs = [("all", "x"), ("all", "y")]
    damping = fm.Rayleigh(mass=0.3)
    found = fm.frequency_response(model, f, inputs, inputs, fixed={"all": "z"}, damping=damping, spin=(0, 0, speed))
    for k, omega in enumerate(2 * np.pi * f):
        coriolis = 2 * 2.0 * speed * np.array([[0, -1], [1, 0]])
        z = np.diag([800.0, 1800.0]) - 2.0 * (speed**2 + omega**2) * np.eye(2)
        z = z + 1j * omega * (coriolis + 0.3 * 2.0 * np.eye(2))
        assert_allclose(found.response[k], np.linalg.inv(z), rtol=1e-9, atol=1e-20)


def test_mechanism_on_springs() -> None:
    """Two masses in a row: the transfer matrix by hand, for forces and a shaken ground."""
    ground = fm.Ground()
    one, two = fm.RigidBody("one", 2.0, (1, 1, 1)), fm.RigidBody("two", 3.0, (1, 1, 1), position=(1, 0, 0))
    turn = (1e4, 1e4, 1e4)
    springs = [
        fm.Bushing("a", ground.at(0, 0, 0), one.at(0, 0, 0), (800.0, 900.0, 1e3, *turn), (3.0, 0, 0, 0, 0, 0)),
        fm.Bushing("b", one.at(1, 0, 0), two.at(0, 0, 0), (500.0, 1e6, 1e6, *turn), (2.0, 0, 0, 0, 0, 0)),
    ]
    system = fm.System([ground, one, two], [], springs)
    f = np.array([0.0, 1.0, 2.5, 6.0])
    inputs = [(one.at(0, 0, 0), "x"), (two.at(0, 0, 0), "x"), fm.BaseMotion("x")]
    found = fm.frequency_response(system, f, inputs, [(one.at(0, 0, 0), "x"), (two.at(0, 0, 0), "x")])
    k, c, m = np.array([[1300.0, -500.0], [-500.0, 500.0]]), np.array([[5.0, -2.0], [-2.0, 2.0]]), np.diag([2.0, 3.0])
    for response, omega in zip(found.response, 2 * np.pi * f, strict=True):
        z = k + 1j * omega * c - omega**2 * m
        expected = np.linalg.solve(z, np.column_stack([np.eye(2), -m @ np.ones(2)]))
        assert_allclose(response, expected, rtol=1e-8)
    assert_allclose(found.mobility[1], 2j * np.pi * found.response[1])
    assert_allclose(found.accelerance[1], -((2 * np.pi) ** 2) * found.response[1])


def test_rotor_seen_from_the_ground() -> None:
    """A gyroscope in bearings: J_d s² + 2a²k on the diagonal, ±J_p Ω s beside it; pushed beside its centre."""
    arm, k, polar, diametral, mass, speed = 0.3, 1e5, 0.05, 0.03, 10.0, 300.0
    ground, rotor = fm.Ground(), fm.RigidBody("rotor", mass, np.diag([diametral, diametral, polar]))
    bearings = [
        fm.Bushing(f"b{z}", ground.at(0, 0, z), rotor.at(0, 0, z), (k, k, 1e6, 0, 0, 0), (40.0, 40.0, 0, 0, 0, 0))
        for z in (-arm, arm)
    ]
    system = fm.System([ground, rotor], [], bearings)
    end = rotor.at(0, 0, 0.5)
    f = np.array([5.0, 60.0, 120.0])
    found = fm.frequency_response(system, f, (end, "x"), end, spin=(0, 0, speed))
    for response, s in zip(found.response[:, :, 0], 2j * np.pi * f, strict=True):
        bounce = mass * s**2 + 2 * (k + 40.0 * s)
        rock = diametral * s**2 + 2 * arm**2 * (k + 40.0 * s)
        z = np.array([[rock, polar * speed * s], [-polar * speed * s, rock]])  # θx, θy
        tilt = np.linalg.solve(z, [0.0, 0.5])  # a force along x at z = 0.5 turns about y
        assert_allclose(response, [1 / bounce + 0.5 * tilt[1], -0.5 * tilt[0], 0.0], rtol=1e-7, atol=1e-15)
    with pytest.raises(fm.AnalysisError, match="move along"):
        fm.frequency_response(system, f, (rotor.at(0.1, 0, 0.5), "x"), end, spin=(0, 0, speed))


# ---- stress

BOX = fm.Mesh.box((0.4, 0.04, 0.04), (6, 1, 1), cell="hexahedron20")
BLOCK = fm.Elements(BOX, STEEL)


@pytest.mark.parametrize("way", ["direct", "body"])
def test_stress_at_no_frequency_is_that_of_statics(way: str) -> None:
    load = fm.Force("x1", (0.0, 0.0, 100.0))
    shaken = fm.BaseMotion("z")
    model: Any = BLOCK
    options: dict[str, Any] = {"fixed": "x0"}
    if way == "body":
        method = fm.CraigBampton(modes=4)
        model, options = fm.FlexibleBody("block", BLOCK, fixed="x0", interfaces="x1", reduction=method), {}
    found = fm.frequency_response(model, [0.0, 5.0], [("x1", "z"), shaken], "x1", stress="x0", **options)
    assert found.stress is not None
    assert found.stress.shape == (2, 2, len(BOX.nodes("x0")), 6)
    pushed = fm.statics(BLOCK, loads=load, fixed="x0").stress.nodal[BOX.nodes("x0")] / 100.0
    sagging = fm.statics(BLOCK, loads=fm.Acceleration((0, 0, 1.0)), fixed="x0").stress.nodal[BOX.nodes("x0")]
    scale = np.abs(pushed).max(), np.abs(sagging).max()
    # a rigid end face is not a spread load; at the root it makes no difference
    assert_allclose(found.stress[0, 0].real, pushed, atol=(1e-6 if way == "direct" else 1e-3) * scale[0])
    assert_allclose(found.stress[0, 1].real, sagging, atol=1e-3 * scale[1])
    assert np.abs(found.stress[1, 1]).max() > scale[1]  # towards resonance


def test_a_body_alone_and_in_a_mechanism() -> None:
    """Held by a joint instead of by its frame, and damped alike, a body answers the same, stress included."""
    options: dict[str, Any] = {"reduction": fm.CraigBampton(modes=12), "damping": fm.Rayleigh(stiffness=2e-6)}
    alone = fm.FlexibleBody("block", BLOCK, fixed="x0", interfaces="x1", **options)
    ground = fm.Ground()
    body = fm.FlexibleBody("block", BLOCK, interfaces=["x0", "x1"], frame=fm.Tangent("x0"), **options)
    system = fm.System([ground, body], [fm.Fixed("wall", ground.at(0, 0.02, 0.02), body.at("x0"))])
    hertz, base = [0.0, 80.0, 190.0], fm.BaseMotion("z")
    # away from the face that is held: one is held as a rigid face, as the other is by its nodes
    middle = BOX.nodes_where(lambda x, y, z: (x > 0.1) & (x < 0.3))
    one = fm.frequency_response(alone, hertz, [("x1", "z"), base], ["x1"], stress=middle)
    two = fm.frequency_response(system, hertz, [(body.at("x1"), "z"), base], [body.at("x1")], stress=(body, middle))
    assert one.stress is not None
    assert two.stress is not None
    for i in range(2):
        scale = np.abs(one.response[:, :, i]).max(axis=1, keepdims=True)
        assert_allclose(two.response[:, :, i] / scale, one.response[:, :, i] / scale, atol=2e-3)
    scale = np.abs(one.stress[:, 0]).max(axis=(1, 2), keepdims=True)
    assert_allclose(two.stress[:, 0] / scale, one.stress[:, 0] / scale, atol=5e-3)


def test_largest_von_mises_stress_of_a_cycle() -> None:
    rng = np.random.default_rng(3)
    stress = rng.standard_normal((2, 1, 3, 6)) + 1j * rng.standard_normal((2, 1, 3, 6))
    one = np.zeros((2, 0, 1), dtype=complex)
    found = fm.FrequencyResponse(np.ones(2), one, ("a",), (), np.arange(3), stress)
    turns = np.exp(1j * np.linspace(0, 2 * np.pi, 4001))
    sampled = np.max([fm.von_mises((stress * turn).real) for turn in turns], axis=0)
    assert_allclose(found.von_mises, sampled, rtol=1e-5)


# ---- bad input


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"frequencies": [-1.0]}, "zero or more"),
        ({"frequencies": "all"}, "frequencies"),
        ({"input": "end"}, "pair"),
        ({"input": []}, "input"),
        ({"input": ("end", "w")}, "axis"),
        ({"input": ("nowhere", "z")}, "nowhere"),
        ({"output": ()}, "output"),
        ({"output": object()}, "place"),
        ({"damping": 0.02}, "Rayleigh"),
        ({"spin": 5.0}, "spin"),
        ({"modes": 0}, "modes"),
        ({"about": 1}, "about"),
        ({"stress": "end"}, "beams"),
        ({"model": LINE}, "FlexibleBody"),
    ],
)
def test_bad_input_to_frequency_response(change: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {
        "model": BEAM, "frequencies": [1.0], "input": ("end", "z"), "output": "end", "fixed": "start",
    }  # fmt: skip
    with pytest.raises(fm.FlexmbsError, match=words):
        fm.frequency_response(**(given | change))


def test_bad_input_for_bodies_systems_and_results() -> None:
    body = fm.FlexibleBody("beam", BEAM, fixed="start")
    with pytest.raises(fm.AnalysisError, match="when it is made"):
        fm.frequency_response(body, [1.0], ("end", "z"), "end", fixed="start")
    with pytest.raises(fm.AnalysisError, match="not on"):
        fm.frequency_response(body, [1.0], (fm.FlexibleBody("other", BEAM, fixed="start").at("end"), "z"), "end")
    with pytest.raises(fm.AnalysisError, match="BaseMotion"):
        fm.BaseMotion("w")
    rotor = fm.RigidBody("rotor", 1.0, (1, 1, 1))
    spring = fm.Bushing("b", fm.Ground().at(0, 0, 0), rotor.at(0, 0, 0), (1.0,) * 6)
    system = fm.System([spring.frame_i.body, rotor], [], [spring])
    with pytest.raises(fm.AnalysisError, match="frame of one of its bodies"):
        fm.frequency_response(system, [1.0], ("rotor", "z"), rotor.at(0, 0, 0))
    with pytest.raises(fm.AnalysisError, match="one of its flexible bodies"):
        fm.frequency_response(system, [1.0], (rotor.at(0, 0, 0), "z"), stress="all")
    with pytest.raises(fm.AnalysisError, match="not both"):
        fm.frequency_response(system, [1.0], (rotor.at(0, 0, 0), "z"), rotor.at(0, 0, 0), damping=0.1)
    found = fm.frequency_response(body, [1.0], [("end", "z"), ("end", "y")], "end")
    with pytest.raises(fm.AnalysisError, match="no output"):
        found.of("start z")
    with pytest.raises(fm.AnalysisError, match="no input"):
        found.of("end z")
    with pytest.raises(fm.AnalysisError, match="stress="):
        _ = found.von_mises
    assert "2 inputs" in repr(found)
