"""Bodies in full order, sparse: equal to dense modes, with their momentum, energy and order; against reduced bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flexmbs as fm

SOFT = fm.Material(2e9, 0.3, 7800.0)
BAR = fm.Mesh.box((0.4, 0.04, 0.03), (8, 2, 1))
SPARSE = fm.FullOrder(sparse=True)


def apart(found: Any, exact: Any) -> float:
    return float(np.abs(np.asarray(found) - exact).max() / np.abs(exact).max())


def bar(reduction: fm.Reduction, **options: Any) -> fm.FlexibleBody:
    options.setdefault("interfaces", ["x0", "x1"])
    return fm.FlexibleBody("bar", BAR, SOFT, reduction=reduction, stiffening=False, **options)


def pendulum(
    body: fm.FlexibleBody, start: str = "x0", end: str = "x1", driven: bool = True
) -> tuple[fm.System, fm.Revolute]:
    """A bar hinged on one end, with a body on the other, a spring on its side and perhaps a pressure and a drive."""
    ground, tip = fm.Ground(), fm.RigidBody.box("tip", (0.05, 0.05, 0.05), 2000.0)
    held = body.at(start) if start else body.at(*BAR.points[BAR.nodes("x0")].mean(axis=0))
    hinge = fm.Revolute("hinge", ground.at(*held.position), held, axis="z")
    pin = fm.Revolute("pin", body.at(end), tip.at(0, -0.02, 0), axis="z")
    spring = fm.SpringDamper("spring", (ground.at(0.2, 0.3, 0), body.at(0.2, 0.04, 0.015)), 300.0, 1.0, 0.3)
    forces: list[Any] = [fm.Gravity((0, -9.81, 2.0)), spring]
    joints: list[Any] = [hinge, pin]
    if driven:
        joints.append(fm.Drive("motor", hinge.angle, lambda t: 20 * t * t))
        forces.append(fm.BodyLoad("press", body, "gas", lambda t: 50 * t))
    return fm.System([ground, body, tip], joints, forces), hinge


CASES: dict[str, dict[str, Any]] = {
    "chord": {},
    "tangent": {"frame": "tangent"},
    "mean": {"frame": "mean", "damping": fm.Rayleigh(2.0, 1e-5)},
    "averaged": {"interfaces": [fm.Averaged("x0"), fm.Averaged("x1")], "frame": "mean"},
    "fixed": {"fixed": "x0", "interfaces": "x1", "damping": fm.Rayleigh(0.0, 1e-5)},
}


@pytest.fixture(scope="module", params=CASES)
def both(request: pytest.FixtureRequest) -> list[tuple[fm.Result, fm.FlexibleBody, fm.Revolute]]:
    """The same pendulum with all coordinates as dense modes, and sparse."""
    out = []
    for reduction in (fm.FullOrder(sparse=False), SPARSE):
        body = bar(reduction, loads={"gas": fm.Pressure("y1", 2e4)}, **CASES[request.param])
        system, hinge = pendulum(body)
        out.append((fm.forward_dynamics(system, 0.01, 2e-4), body, hinge))
    return out


def test_sparse_is_dense(both: list[Any]) -> None:
    (dense, one, hinge), (sparse, other, same) = both
    assert sparse.outcome == "finished"
    assert len(sparse.t) == len(dense.t)
    assert sparse.system.mobility == dense.system.mobility

    def agree(of: Callable[..., Any], tolerance: float = 1e-8) -> None:
        assert apart(of(sparse, other, same), of(dense, one, hinge)) < tolerance

    agree(lambda r, b, h: r.position(b.at("x1")) - r.position(b.at("x1"))[0])
    agree(lambda r, b, h: r.velocity(b.at(0.2, 0.02, 0.0)))
    agree(lambda r, b, h: r.rotation(b.at("x1")))
    agree(lambda r, b, h: r.reaction(h), 1e-7)
    agree(lambda r, b, h: r.displacement(b, at=r.t))
    agree(lambda r, b, h: r.stress(b, at=r.t))
    agree(lambda r, b, h: r.stress_envelope(b).largest)
    agree(lambda r, b, h: r.strain(fm.StrainGauge(b, (0.2, 0.04, 0.0), "x")))
    agree(lambda r, b, h: r.deformed(b, scale=10.0))
    for part in ("kinetic", "strain", "total", "supplied", "dissipated"):
        agree(lambda r, b, h, part=part: getattr(r.energy, part))
    agree(lambda r, b, h: r.momentum.angular)


def test_a_plane_body_and_two_bodies_in_one_chain() -> None:
    """Two plane bars, one hanging from the other, are a planar double pendulum that bends."""
    mesh = fm.Mesh.rectangle((0.4, 0.03), (10, 2))
    ends = []
    for reduction in (fm.FullOrder(sparse=False), SPARSE):
        ground = fm.Ground()
        first, second = (
            fm.FlexibleBody(
                name, mesh, SOFT, thickness=0.02, interfaces=["x0", "x1"], reduction=reduction, stiffening=False
            )
            for name in ("first", "second")
        )
        place = first.at("x0").position
        joints = [
            fm.planar.Revolute("one", ground.at(place[0], place[1]), first.at("x0")),
            fm.planar.Revolute("two", first.at("x1"), second.at("x0")),
        ]
        system = fm.System([ground, first, second], joints, [fm.Gravity((0, -9.81, 0))])
        motion = fm.forward_dynamics(system, 0.01, 2e-4)
        ends.append(np.hstack([motion.position(second.at("x1")), motion.deflection(first.at(0.2, 0.0))]))
    assert apart(ends[1] - ends[1][0], ends[0] - ends[0][0]) < 1e-8


def flying(step: float) -> fm.Result:
    """A bar that was let go, spinning about all axes: nothing holds it, and it vibrates by its own spin."""
    body = bar(SPARSE, interfaces=None, position=(0, 0, 0), velocity=(1.0, 2.0, 0.5), angular_velocity=(3.0, 20.0, 9.0))
    return fm.forward_dynamics(fm.System([body]), 0.02, step)


def test_a_free_body_keeps_momentum_and_energy_as_the_square_of_the_step() -> None:
    lost = []
    for step in (2e-4, 1e-4):
        motion = flying(step)
        momentum, energy = motion.momentum, motion.energy.total
        lost.append([apart(x, x[0]) for x in (momentum.linear, momentum.angular, energy)])
        assert motion.energy.strain.max() > 1e-6 * energy[0]
    assert np.all(np.array(lost[0]) < 2e-4)
    assert np.all(np.array(lost[1]) < 0.35 * np.array(lost[0]))


def test_halving_the_step_divides_the_error_by_four() -> None:
    def end(step: float) -> np.ndarray:
        body = bar(SPARSE, damping=fm.Rayleigh(0.0, 3e-4))  # what the steps do not resolve dies out
        motion = fm.forward_dynamics(pendulum(body, driven=False)[0], 0.016, step)
        return np.concatenate([motion.position(body.at("x1"))[-1], motion.velocity(body.at("x1"))[-1]])

    coarse, middle, fine = (end(step) for step in (4e-4, 2e-4, 1e-4))
    ratio = np.linalg.norm(coarse - middle) / np.linalg.norm(middle - fine)
    assert 3.5 < ratio < 4.6


def engine(reduction: fm.Reduction) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Deflection, reactions and stress of a connecting rod in its engine."""
    steel = fm.Material(young=210e9, poisson=0.3, density=7850.0)
    ground, crank = fm.Ground(), fm.RigidBody.box("crank", size=(0.05, 0.02, 0.02), density=7850.0)
    rod = fm.FlexibleBody(
        "rod", fm.Mesh.connecting_rod().to_linear(), steel, interfaces=["big_end", "small_end"], reduction=reduction,
        stiffening=False,
    )  # fmt: skip
    piston = fm.RigidBody("piston", mass=0.4, inertia=np.diag([2e-4, 2e-4, 2e-4]))
    shaft = fm.Revolute("shaft", ground.at(0, 0, 0), crank.at(-0.025, 0, 0), axis="z")
    crank_pin = fm.Revolute("crank_pin", crank.at(0.025, 0, 0), rod.at("big_end"), axis="z")
    wrist_pin = fm.Spherical("wrist_pin", rod.at("small_end"), piston.at(0, 0, 0))
    cylinder = fm.Prismatic("cylinder", ground.at(0, 0, 0), piston.at(0, 0, 0), axis="x")
    motor = fm.Drive("motor", shaft.angle, fm.SpinUp(100 * np.pi, over=0.004))
    system = fm.System([ground, crank, rod, piston], [shaft, crank_pin, wrist_pin, cylinder, motor], [])
    motion = fm.forward_dynamics(system, t_end=0.008, step=4e-5, output_step=2e-4)
    bend = motion.deflection(rod.at("midspan"), chord=("big_end", "small_end"))
    return bend[:, 1], motion.reaction(crank_pin)[:, :2], motion.von_mises(rod, at=motion.t)


def test_twelve_modes_of_a_connecting_rod_are_as_good_as_all_nodes() -> None:
    bend, reaction, stress = (
        apart(some, every) for some, every in zip(engine(fm.CraigBampton(modes=12)), engine(SPARSE), strict=True)
    )
    assert bend < 1e-3
    assert reaction < 1e-3
    assert stress < 1e-2


def test_a_run_goes_on_where_it_ended_and_is_read_between_its_instants() -> None:
    system, hinge = pendulum(bar(SPARSE), driven=False)
    whole = fm.forward_dynamics(system, 0.004, 2e-4)
    half = fm.forward_dynamics(system, 0.002, 2e-4)
    rest = fm.forward_dynamics(system, 0.004, 2e-4, start=half)
    assert apart(rest.q[-1], whole.q[-1]) < 1e-9
    fine = fm.forward_dynamics(system, 0.004, 1e-4)
    between = whole.at([0.0021, 0.0033])
    at = [np.searchsorted(fine.t, t - 1e-9) for t in between.t]
    assert apart(between.coordinate(hinge.angle), fine.coordinate(hinge.angle)[at]) < 0.05


def refused(match: str, call: Callable[[], Any]) -> None:
    with pytest.raises(fm.FlexmbsError, match=match):
        call()


def test_what_full_order_does_not_do_is_refused_in_words() -> None:
    body = bar(SPARSE)
    system, hinge = pendulum(body, driven=False)
    only = "bar: a body in full order runs in forward_dynamics with GeneralizedAlpha"
    refused(only, lambda: system.equations(0.0, system.initial.q, system.initial.v))
    refused(only, lambda: fm.statics(system))
    refused(only, lambda: fm.modes(system))
    refused(only, lambda: fm.forward_dynamics(system, 0.01, start="deformed"))
    refused("not TangentSpaceODE", lambda: fm.forward_dynamics(system, 0.01, integrator=fm.TangentSpaceODE()))
    refused("stabilised", lambda: fm.forward_dynamics(system, 0.01, integrator=fm.GeneralizedAlpha(stabilised=True)))
    refused("with events", lambda: fm.forward_dynamics(system, 0.01, events=[fm.Event("low", hinge.angle)]))
    refused("no modes", lambda: body.reduced.constants.stiffness)
    refused("stress= out", lambda: body.save("bar.npz", stress="all"))
    refused("stiffening=False", lambda: fm.FlexibleBody("bar", BAR, SOFT, reduction=SPARSE))
    refused("Rayleigh", lambda: bar(SPARSE, damping=0.01))
    line, section = fm.Mesh.line((0, 0, 0), (1, 0, 0), 2), fm.Section.rectangle(0.1, 0.1)
    refused("of beams", lambda: fm.FlexibleBody("beam", line, SOFT, section=section, reduction=SPARSE))


def test_kinematics_of_the_locked_mechanism_is_there() -> None:
    system, _ = pendulum(bar(SPARSE), driven=False)
    assert system.rigid().mobility == 2
    assert "138 elastic coordinates" in system.report()
