"""Geometric stiffness of unit loads: against static analyses of the full model, identities and spinning parts."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose
from parts import KINDS, beam, solid

import flexmbs as fm
from flexmbs.fem.prestress import inertia_of, prestress
from flexmbs.fem.rigid import rigid_motions
from flexmbs.reduction import INERTIA_CASES, CraigBampton, ModalTruncation, Part, inertia_factors, reduce
from flexmbs.reduction.interfaces import interfaces
from flexmbs.reduction.reference import MeanAxes, Tangent, reference_rows
from flexmbs.reduction.space import Space
from flexmbs.reduction.stiffening import inertia_loads, load_cases, stress_stiffness
from flexmbs.rotations import skew

RNG = np.random.default_rng(7)


@pytest.mark.parametrize("kind", KINDS)
def test_inertia_cases_are_those_of_a_static_analysis(kind: str) -> None:
    elements = KINDS[kind]()
    part = reduce(elements, ModalTruncation(6), fixed="x0")
    a, epsilon, omega = RNG.normal(size=(3, 3))
    if elements.axes == 2:
        a[2] = 0.0
        epsilon[:2] = omega[:2] = 0.0
    factors = inertia_factors(a, epsilon, omega)
    found = np.tensordot(factors, part.cases.K_g[:12], axes=1)
    loads = [fm.Acceleration(a, epsilon), fm.Centrifugal(omega, softening=False)]
    state = fm.statics(elements, loads=loads, fixed="x0")
    stress = prestress(elements, state.displacement, *inertia_of(loads))
    blocks = elements.geometric_stiffness(stress) + elements.turning_stiffness(omega)
    blocks = blocks + fm.Blocks(elements, "matrix", turning=skew(epsilon))  # sections and bodies feel ε as they turn
    exact = part.basis.T @ (elements.assemble(blocks) @ part.basis)
    assert_allclose(found, exact, atol=1e-8 * np.abs(exact).max())
    d = part.cases.loads[:, :12] @ factors
    residual = part.cases.residual[:, :12] @ factors
    assert_allclose(
        part.basis @ (d / part.constants.stiffness) + residual,
        state.displacement.ravel(),
        atol=1e-8 * np.abs(state.displacement).max(),
    )


def test_a_turning_body_feels_angular_acceleration_as_its_parts_do() -> None:
    """A body on a node as six masses around it: the work of their inertia forces on ½ θ × (θ × r)."""
    lumped = beam(2).blocks[1]
    epsilon, theta = RNG.normal(size=(2, 3))
    size, axes = np.linalg.eigh(lumped.second[0])
    arms = [s * np.sqrt(v / 2) * a for v, a in zip(size, axes.T, strict=True) for s in (1, -1)]
    work = sum(np.cross(epsilon, r) @ np.cross(theta, np.cross(theta, r)) for r in arms)
    alone = lumped.turning(skew(epsilon))[0, 3:, 3:]
    assert theta @ alone @ theta == pytest.approx(work)


@pytest.mark.parametrize("kind", ["solid", "plane", "beam"])
def test_interface_cases_are_those_of_forces_on_the_interface(kind: str) -> None:
    elements = KINDS[kind]()
    force = np.array([50.0, 20.0, 0.0])[: elements.axes]
    end = fm.Averaged("x1")
    part = reduce(elements, CraigBampton(4), fixed="x0", interfaces=[end], loads={"pull": fm.Force("x1", force)})
    state = fm.statics(elements, loads=fm.Force("x1", force), fixed="x0")
    exact = part.basis.T @ (elements.assemble(elements.geometric_stiffness(state.stress)) @ part.basis)
    found = np.tensordot(force, part.cases.K_g[12 : 12 + len(force)], axes=1)
    assert_allclose(found, exact, atol=1e-8 * np.abs(exact).max())
    assert part.cases.names[-1] == "pull"
    assert_allclose(part.cases.K_g[-1], exact, atol=1e-8 * np.abs(exact).max())
    assert part.cases.names[12] == "x1 x"
    assert part.cases.names[:12] == INERTIA_CASES


@pytest.mark.parametrize("kind", ["solid", "plane", "beam"])
def test_turning_the_whole_part_costs_the_work_of_its_loads(kind: str) -> None:
    """θᵀK_gθ = -F·θ × (θ × L): the stress of a force on a rigid end, seen by a rigid rotation about the other."""
    elements = KINDS[kind]()
    part = Part.of_elements(elements)
    places = interfaces(part, ["x0", "x1"])
    space = Space(part, places, None)
    frame = space.under(space.rows(reference_rows(part, Tangent(), places)[0]))
    force = np.zeros(space.C.shape[0])
    per = len(force) // 2
    lever = places[1].position - places[0].position
    pull = np.append(RNG.normal(size=2), 1.0 if elements.axes == 3 else 0.0)
    force[per : per + elements.axes] = pull[: elements.axes]
    u = space.projection.expand_rates(frame.solve(space.C.T @ force))
    turns = rigid_motions(elements, places[0].position)[:, elements.axes :]
    found = stress_stiffness(space, elements, turns, u, np.zeros(elements.n_dofs), np.zeros(3), np.zeros((3, 3)))
    axes = np.eye(3)[2:] if elements.axes == 2 else np.eye(3)

    def work(one: np.ndarray, two: np.ndarray) -> float:
        return float(-pull @ (np.cross(one, np.cross(two, lever)) + np.cross(two, np.cross(one, lever))) / 2)

    exact = np.array([[work(one, two) for two in axes] for one in axes])
    assert_allclose(found, exact, atol=1e-7 * np.abs(exact).max())


@pytest.mark.parametrize("kind", ["solid", "loaded", "plane", "beam"])
def test_loads_balanced_by_inertia_are_a_sum_of_loads_on_a_held_part(kind: str) -> None:
    """A force in mean axes = the same force on a part held at one end and accelerated so that the end feels nothing."""
    elements = KINDS[kind]()
    part = Part.of_elements(elements)
    places = interfaces(part, ["x0", "x1"])
    space = Space(part, places, None)
    psi = reduce(elements, CraigBampton(3), interfaces=["x0", "x1"], stiffening=False).basis
    stiffness, nodal = np.ones(psi.shape[1]), inertia_loads(part)
    found = []
    for frame in (MeanAxes(), Tangent()):
        held = space.under(space.rows(reference_rows(part, frame, places)[0]))
        mean = isinstance(frame, MeanAxes)
        found.append(load_cases(space, held, mean, psi, stiffness, nodal, ((), np.zeros((part.n_dofs, 0))), True))
    motions = rigid_motions(elements)
    inertia = motions.T @ part.momentum(motions)
    used = [0, 1, 5] if elements.axes == 2 else list(range(6))
    for name in ("x1 x", "x1 y", "x1 rz"):
        k = found[0].names.index(name)
        force = places[1].rows.T @ np.eye(places[1].rows.shape[0])[k - 12 - places[0].rows.shape[0]]
        acceleration = np.linalg.solve(inertia, motions.T @ force)
        summed = found[1].K_g[k] + np.tensordot(acceleration, found[1].K_g[used], axes=1)
        assert_allclose(found[0].K_g[k], summed, atol=1e-7 * np.abs(summed).max())


def test_in_mean_axes_a_uniform_acceleration_stresses_nothing() -> None:
    part = reduce(solid(), CraigBampton(4), interfaces=["x0", "x1"], frame="mean")
    largest = np.abs(part.cases.K_g[6:12]).max()
    assert np.abs(part.cases.K_g[:6]).max() < 1e-8 * largest
    assert_allclose(part.cases.missed[:6], 0.0)


@pytest.mark.parametrize("kind", ["solid", "plane", "beam"])
def test_a_spinning_part_has_the_frequencies_of_the_full_model(kind: str) -> None:
    """λ² + λC(ω) + K + K(ω) + K_g of the reduced part against modes(spin=)."""
    elements = KINDS[kind]()
    omega = np.array([0.0, 0.0, 150.0])
    part = reduce(elements, CraigBampton(25), fixed="x0", interfaces=["x1"])
    c = part.constants
    k = np.diag(c.stiffness) + c.stiffness_omega(omega)
    k += np.tensordot(inertia_factors(np.zeros(3), np.zeros(3), omega), part.cases.K_g[:12], axes=1)
    n = part.size
    first = np.block([[np.zeros((n, n)), np.eye(n)], [-k, -c.gyroscopic(omega)]])
    found = np.sort(np.abs(scipy.linalg.eigvals(first).imag))[::2] / (2 * np.pi)
    held = fm.Projection.fix(elements, "x0") & fm.Projection.rigid(elements, "x1")
    state = fm.statics(elements, loads=fm.Centrifugal(omega, softening=False), fixed=held)
    full = fm.modes(elements, fixed=held, spin=omega, count=3)
    assert state.stable
    still = fm.modes(elements, fixed=held, count=1).frequencies[0]
    assert_allclose(found[:3], full.frequencies, rtol=3e-4)
    assert abs(full.frequencies[0] / still - 1) > 5e-3  # the spin matters


def test_stiffening_can_be_left_out() -> None:
    part = reduce(solid(), CraigBampton(2), interfaces=["x0", "x1"], stiffening=False)
    assert part.cases.K_g.shape == (0, part.size, part.size)
