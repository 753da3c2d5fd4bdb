"""Distributed loads on flexible bodies: what nodal forces do to frame and modes, summed here node by node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from newton_check import tangent_error

import flexmbs as fm
from flexmbs.errors import ModelError
from flexmbs.system.evaluate import retract

STEEL = fm.Material(young=210e9, poisson=0.3, density=7850.0)
SOFT = fm.Material(young=1e6, poisson=0.3, density=1000.0)
SWAY = fm.Harmonic(amplitude=2.0, frequency=1.5, phase=0.4)


def bar(**options: Any) -> fm.FlexibleBody:
    mesh = fm.Mesh.box((1.0, 0.1, 0.12), (4, 1, 1), origin=(0.2, -0.03, 0.1))
    loads = {
        "one way": fm.Traction("y1", (3e5, 1e5, -2e5)),
        "all ways": np.random.default_rng(3).normal(size=mesh.n_nodes * 3) * 1e3,
        "balanced": fm.Pressure("y0", 2e5).vector(elements(mesh)) + fm.Pressure("y1", 2e5).vector(elements(mesh)),
    }
    return fm.FlexibleBody("bar", mesh, SOFT, reduction=fm.ModalTruncation(4), loads=loads, **options)


def elements(mesh: fm.Mesh) -> fm.Elements:
    return fm.Elements(mesh, SOFT)


def beam() -> fm.FlexibleBody:
    mesh = fm.Mesh.line((0.2, 0.1, -0.1), (1.1, 0.4, 0.2), 5)
    loads = {
        "end": fm.Force("end", (1.0, -3.0, 2.0), moment=(4.0, 5.0, -6.0)),
        "couple": fm.Force("end", (0.0, 0.0, 0.0), moment=(4.0, 5.0, -6.0)),
    }
    section = fm.Section.rectangle(0.02, 0.03)
    return fm.FlexibleBody("beam", mesh, SOFT, section=section, reduction=fm.ModalTruncation(5), loads=loads)


def plate() -> fm.FlexibleBody:
    mesh = fm.Mesh.rectangle((1.0, 0.1), (5, 1), cell="quad8", origin=(0.2, -0.03))
    loads = {"edge": fm.Pressure("x1", 1e5), "any": np.random.default_rng(5).normal(size=2 * mesh.n_nodes)}
    return fm.FlexibleBody("plate", mesh, SOFT, thickness=0.02, reduction=fm.ModalTruncation(3), loads=loads)


BODIES = {"bar": bar(), "beam": beam(), "plate": plate()}
CASES = [(name, load) for name, body in BODIES.items() for load in body.reduced.loads]


def state(system: fm.System, body: fm.FlexibleBody, size: float = 1e-2) -> Any:
    """Some place, turn, and deformation up to a part of the body's size."""
    rng, q = np.random.default_rng(11), system.initial.q.copy()
    x = rng.normal(size=system.n_v)
    x[-body.modes :] *= size / body.modal_lengths
    retract(system.layout, system.initial.q, x, q)
    return q


@pytest.mark.parametrize(("name", "load"), CASES)
def test_a_load_is_the_sum_of_its_nodal_forces(name: str, load: str) -> None:
    body = BODIES[name]
    own = fm.BodyLoad("load", body, load, SWAY)
    with_load, without = fm.System([body], [], [own]), fm.System([body])
    q, v, t = state(with_load, body), np.zeros(with_load.n_v), 0.37
    found = with_load.equations(t, q, v).f - without.equations(t, q, v).f
    part, d = body.reduced, q[-body.modes :]
    axes = part.axes
    forces = part.loads[load].reshape(part.mesh.n_nodes, -1)
    at, push = part.mesh.points.copy(), np.zeros_like(part.mesh.points)
    at[:, :axes] += part.displacement(d)[:, :axes]
    push[:, :axes] = forces[:, :axes]
    moment = np.cross(at, push).sum(axis=0)
    if forces.shape[1] == 6:
        moment += forces[:, 3:].sum(axis=0)
    K_g = part.cases.K_g[part.cases.names.index(load)]
    modal = part.basis.T @ part.loads[load] - K_g @ d
    result = fm.Result(with_load, np.array([t]), q[None], v[None], v[None], np.zeros((1, 0)), np.zeros((1, 0)))
    rotation = result.rotation(body)[0]
    turned, factor = rotation @ push.sum(axis=0), float(SWAY.value(t))
    expected = np.concatenate([turned[:2], moment[2:], modal] if axes == 2 else [turned, moment, modal]) * factor
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())
    both = np.concatenate([turned, rotation @ moment]) * factor
    np.testing.assert_allclose(
        result.force(own)[0], both[[0, 1, 5]] if axes == 2 else both, atol=1e-9 * np.abs(expected).max()
    )


@pytest.mark.parametrize(("name", "load"), CASES)
def test_newtons_matrix_knows_loads(name: str, load: str) -> None:
    body = BODIES[name]
    scale = 5.0 / np.abs(body.reduced.loads[load]).max()
    system = fm.System([body], [], [fm.BodyLoad("load", body, load, scale)])
    x = 0.1 * np.random.default_rng(2).normal(size=system.n_v)
    x[-body.modes :] *= 0.01 / body.modal_lengths
    assert tangent_error(system, x, 0 * x)[0] < 1e-6


def test_one_way_is_one_force() -> None:
    """Parallel forces have a point where they act; pressures that balance have none, but squeeze."""
    body = BODIES["bar"]
    assert len(fm.BodyLoad("load", body, "one way").wrenches) == 1
    squeeze = fm.BodyLoad("load", body, "balanced")
    result = squeeze.resultant(np.zeros(1), np.zeros((1, body.modes)))
    np.testing.assert_allclose(result, 0.0, atol=1e-8 * 2e5 * 0.12)


def test_a_steady_load_bends_as_statics_says() -> None:
    """A beam held at one end, pushed from the side slowly: the deflection is F L³ / 3 E I, and no more if it turns."""
    section, length = fm.Section.rectangle(0.02, 0.02), 1.0
    mesh = fm.Mesh.line((0, 0, 0), (length, 0, 0), 4)
    push = {"side": fm.Force("end", (0.0, 10.0, 0.0))}
    body = fm.FlexibleBody(
        "beam", mesh, STEEL, section=section, fixed="start", reduction=fm.ModalTruncation(12), loads=push
    )
    ground = fm.Ground()
    clamp = fm.Fixed("clamp", ground.at(0, 0, 0), body.at())
    load = fm.BodyLoad("load", body, "side", fm.SmoothStep(0.0, 1.0, start=0.0, duration=1.0))
    motion = fm.forward_dynamics(fm.System([ground, body], [clamp], [load]), t_end=1.2, step=5e-3)
    tip = body.at("end").shapes[1] @ motion.q[-1, -body.modes :]
    assert tip == pytest.approx(10.0 * length**3 / (3 * 210e9 * 0.02**4 / 12), rel=3e-3)
    np.testing.assert_allclose(motion.reaction(clamp)[-1], [0, -10, 0, 0, 0, -10], atol=0.05)


def test_work_of_a_load_is_energy() -> None:
    """A free bar shaken in all directions: energy and momentum follow from what the load gave, to second order in h."""
    body = BODIES["bar"]
    load = fm.BodyLoad("load", body, "all ways", fm.Harmonic(amplitude=0.004, frequency=9.0))
    drifts = []
    for step in (2e-3, 1e-3):
        motion = fm.forward_dynamics(fm.System([body], [], [load]), t_end=0.3, step=step)
        energy, momentum = motion.energy, motion.momentum
        sizes = np.abs(energy.total).max(), np.abs(momentum.linear).max(), np.abs(momentum.angular).max()
        parts = energy.drift, momentum.drift[:, :3], momentum.drift[:, 3:]
        drifts.append([np.abs(part).max() / size for part, size in zip(parts, sizes, strict=True)])
    assert np.max(drifts[1]) < 2e-3
    assert np.min(np.divide(*drifts)) > 3.7


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": ""}, "needs a name"),
        ({"body": fm.RigidBody("stone", 1.0, (1, 1, 1))}, "load: a load acts on a FlexibleBody"),
        ({"load": "wind"}, "body 'bar' has no load 'wind'; it has 'one way', 'all ways', 'balanced'"),
        ({"load": 3}, "has no load 3"),
        ({"factor": "strong"}, "load: factor"),
        ({"factor": (1, 2)}, "load: factor"),
    ],
)
def test_refusals(given: dict[str, Any], words: str) -> None:
    right: dict[str, Any] = {"name": "load", "body": BODIES["bar"], "load": "one way"}
    with pytest.raises(ModelError, match=words):
        fm.BodyLoad(**(right | given))


def test_refusals_of_bodies_and_systems() -> None:
    mesh = fm.Mesh.box((1, 1, 1), (1, 1, 1))
    idle = fm.FlexibleBody("idle", mesh, STEEL, reduction=fm.ModalTruncation(2), loads={"nothing": np.zeros(24)})
    with pytest.raises(ModelError, match="load 'nothing' of body 'idle' is zero"):
        fm.BodyLoad("load", idle, "nothing")
    plain = fm.FlexibleBody("plain", mesh, STEEL, reduction=fm.ModalTruncation(2))
    with pytest.raises(ModelError, match=r"'plain' has no load 'wind'; give it loads="):
        fm.BodyLoad("load", plain, "wind")
    with pytest.raises(ModelError, match="'bar' is not among the bodies"):
        fm.System([plain], [], [fm.BodyLoad("load", BODIES["bar"], "one way")])
