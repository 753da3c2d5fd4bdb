"""Geometric stiffness of bending moments, shear and torque in beams: lateral buckling, and turning as a whole."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from element_kinds import BEAMS, LineKind
from numpy.testing import assert_allclose

import flexmbs as fm
from flexmbs.fem.rigid import rigid_motions

SECTION = fm.Section(area=1e-3, Iy=1e-9, Iz=1e-5, J=4e-9)  # narrow and high: stiff against bending in x-y
MATERIAL = fm.Material(200e9, 0.25, 7850.0)
LENGTH = 2.0
STIFF = np.sqrt(200e9 * 1e-9 * 80e9 * 4e-9)  # sqrt(E Iy G J)


def strip(count: int, formulation: str = "euler_bernoulli") -> fm.Elements:
    mesh = fm.Mesh.line((0.0, 0.0, 0.0), (LENGTH, 0.0, 0.0), count)
    return fm.Elements(mesh, MATERIAL, section=SECTION, formulation=formulation)


def critical(elements: fm.Elements, fixed: object, load: fm.Force | list[fm.Force]) -> float:
    """The smallest positive factor of a load at which K + λ K_g is singular."""
    state = fm.statics(elements, loads=load, fixed=fixed)
    held = fm.Projection.identity(elements.n_dofs)
    for name, components in fixed.items():  # type: ignore[attr-defined]
        held = held & fm.Projection.fix(elements, name, components)
    k = held.project(elements.assemble(elements.stiffness())).toarray()
    k_g = held.project(elements.assemble(elements.geometric_stiffness(state.stress))).toarray()
    return float(1 / scipy.linalg.eigh(-k_g, k, eigvals_only=True)[-1])


@pytest.mark.parametrize("formulation", ["euler_bernoulli", "timoshenko"])
def test_a_strip_under_a_force_at_its_end_buckles_sideways(formulation: str) -> None:
    """4.0126 sqrt(EI GJ)/L² (Timoshenko, Theory of Elastic Stability)."""
    found = critical(strip(20, formulation), {"start": None}, fm.Force("end", (0.0, 1.0, 0.0)))
    assert found == pytest.approx(4.0126 * STIFF / LENGTH**2, rel=2e-3)


def test_a_strip_bent_by_moments_at_its_ends_buckles_sideways() -> None:
    """π sqrt(EI GJ)/L; the ends neither move sideways nor twist."""
    fixed = {"start": ("x", "y", "z", "rx"), "end": ("y", "z", "rx")}
    ends = [fm.Force("start", (0, 0, 0), moment=(0, 0, -1.0)), fm.Force("end", (0, 0, 0), moment=(0, 0, 1.0))]
    exact = np.pi * STIFF / LENGTH
    errors = [critical(strip(count), fixed, ends) / exact - 1 for count in (15, 30)]
    assert errors[1] < 5e-4
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)  # twist is linear in an element


@pytest.mark.parametrize("kind", BEAMS, ids=str)
def test_a_frame_that_turns_as_a_whole_costs_the_work_of_its_loads(kind: LineKind) -> None:
    """θᵀK_gθ = -Σ F·θ × (θ × x) for forces F at the nodes, of a frame of beams in all directions."""
    elements = kind.elements(kind.frame())
    rng = np.random.default_rng(7)
    forces = rng.normal(size=(elements.mesh.n_nodes, 3))
    loads = [fm.Force([k], force) for k, force in enumerate(forces)]
    state = fm.statics(elements, loads=loads, fixed=[0])
    total = forces + state.reactions[:, :3]
    # moments of the support turn with it; about its node they do no work of second order in rotation vectors
    arms = elements.points - elements.points[0]
    turns = rigid_motions(elements, elements.points[0])[:, 3:]
    found = turns.T @ (elements.assemble(elements.geometric_stiffness(state.stress)) @ turns)
    moment = arms.T @ total
    exact = np.trace(moment) * np.eye(3) - (moment + moment.T) / 2
    assert_allclose(found, exact, atol=1e-8 * np.abs(exact).max())
