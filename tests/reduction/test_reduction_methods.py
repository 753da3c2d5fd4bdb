"""Reduced parts against the full model: frequencies, statics, moments, frames, rigid motions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose
from parts import KINDS, STEEL, beam, plane, solid

import flexmbs as fm
from flexmbs.fem.rigid import rigid_motions
from flexmbs.reduction import (
    Chord,
    CraigBampton,
    FreeInterface,
    FullOrder,
    Krylov,
    ModalTruncation,
    Reduction,
    StaticCondensation,
    Tangent,
    full_order_projection,
    reduce,
)

METHODS: list[Reduction] = [CraigBampton(6), FreeInterface(6), StaticCondensation(), ModalTruncation(9), Krylov(2)]


def rigid_ends(elements: fm.Elements) -> fm.Projection:
    return fm.Projection.rigid(elements, "x0") & fm.Projection.rigid(elements, "x1")


def full_matrices(elements: fm.Elements) -> tuple[np.ndarray, np.ndarray]:
    return tuple(elements.assemble(b).toarray() for b in (elements.stiffness(), elements.mass()))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_coordinates_are_orthonormal_in_the_mass_and_hold_no_rigid_motion(kind: str, method: Reduction) -> None:
    elements = KINDS[kind]()
    part = reduce(elements, method, interfaces=["x0", "x1"], stiffening=False)
    k, m = full_matrices(elements)
    psi = part.basis
    assert_allclose(psi.T @ m @ psi, np.eye(part.size), atol=1e-9)
    assert_allclose(psi.T @ k @ psi, np.diag(part.constants.stiffness), atol=1e-8 * part.constants.stiffness[-1])
    whole = np.hstack([psi, rigid_motions(elements)])
    assert np.linalg.matrix_rank(whole / np.linalg.norm(whole, axis=0), tol=1e-9) == whole.shape[1]


@pytest.mark.parametrize("kind", ["solid", "plane", "beam"])
def test_craig_bampton_converges_to_the_modes_of_the_free_part(kind: str) -> None:
    elements = KINDS[kind]()
    rigid = 3 if kind == "plane" else 6
    full = fm.modes(elements, fixed=rigid_ends(elements), count=rigid + 4).frequencies[rigid:]
    errors = []
    for modes in (4, 12, 30):
        found = reduce(elements, CraigBampton(modes), interfaces=["x0", "x1"], frame="mean", stiffening=False)
        errors.append(np.abs(found.constants.frequencies[:4] / full - 1).max())
    assert errors[0] < 0.2
    assert errors[1] < 4e-3
    assert errors[2] < 2e-4
    assert errors[2] < errors[1] < errors[0]


@pytest.mark.parametrize("method", [FreeInterface(6), ModalTruncation(6)], ids=str)
@pytest.mark.parametrize("kind", ["solid", "plane", "beam"])
def test_free_modes_are_those_of_the_full_part(kind: str, method: Reduction) -> None:
    elements = KINDS[kind]()
    rigid = 3 if kind == "plane" else 6
    full = fm.modes(elements, fixed=rigid_ends(elements), count=rigid + 5).frequencies[rigid:]
    found = reduce(elements, method, interfaces=["x0", "x1"], frame="mean", stiffening=False)
    assert_allclose(found.constants.frequencies[:5], full, rtol=1e-8)


def test_averaging_interfaces_leave_the_part_as_soft_as_it_is() -> None:
    elements = solid()
    full = fm.modes(elements, count=10).frequencies[6:]
    ends = [fm.Averaged("x0"), fm.Averaged("x1")]
    found = reduce(elements, CraigBampton(40), interfaces=ends, frame="mean", stiffening=False)
    assert_allclose(found.constants.frequencies[:4], full, rtol=2e-4)
    exact = reduce(elements, FreeInterface(6), interfaces=ends, frame="mean", stiffening=False)
    assert_allclose(exact.constants.frequencies[:4], full, rtol=1e-9)


@pytest.mark.parametrize("kind", ["solid", "plane", "beam"])
def test_a_fixed_part_has_the_modes_of_a_clamped_one(kind: str) -> None:
    elements = KINDS[kind]()
    full = fm.modes(elements, fixed="x0", count=6)
    found = reduce(elements, ModalTruncation(6), fixed="x0")
    assert_allclose(found.constants.frequencies, full.frequencies, rtol=1e-8)
    masses = np.array([row.effective_mass for row in found.rows])
    assert_allclose(masses[:, : elements.axes], full.effective_mass, atol=1e-6 * full.effective_mass.max())


def test_full_order_has_every_mode() -> None:
    elements = beam(3)
    part = reduce(elements, FullOrder(), frame="mean")
    k, m = full_matrices(elements)
    values = scipy.linalg.eigh(k, m, eigvals_only=True)
    assert part.size == len(k) - 6
    assert_allclose(part.constants.stiffness, values[6:], rtol=1e-7)


@pytest.mark.parametrize(("frame", "interfaces"), [("tangent", ["x0", "x1"]), ("mean", []), ("chord", ["x0", "x1"])])
def test_every_node_but_the_rigid_motion_as_a_sparse_projection(frame: str, interfaces: list[str]) -> None:
    elements = solid(divisions=(3, 1, 1))
    projection = full_order_projection(elements, interfaces=interfaces, frame=frame)
    k, m = (
        projection.project(elements.assemble(elements.stiffness())),
        projection.project(elements.assemble(elements.mass())),
    )
    dense = [a.toarray() if hasattr(a, "toarray") else a for a in (k, m)]
    exact = reduce(elements, FullOrder(), interfaces=interfaces, frame=frame, stiffening=False)
    assert_allclose(scipy.linalg.eigh(*dense, eigvals_only=True), exact.constants.stiffness, rtol=1e-7)


# ---- statics


@pytest.mark.parametrize("method", [CraigBampton(3), FreeInterface(2), StaticCondensation(), Krylov(1)], ids=str)
@pytest.mark.parametrize("end", ["x1", fm.Averaged("x1")], ids=["rigid", "averaged"])
@pytest.mark.parametrize("kind", ["solid", "plane", "beam"])
def test_statics_under_interface_loads_are_exact(kind: str, end: object, method: Reduction) -> None:
    elements = KINDS[kind]()
    part = reduce(elements, method, fixed="x0", interfaces=[end], stiffening=False)
    wrench = np.array([100.0, -200.0, 30.0]) if elements.axes == 2 else np.array([100.0, -200.0, 50.0, 7.0, 8.0, 9.0])
    rows, _ = fm.averaging_rows(elements, "x1")
    if isinstance(end, str):
        held = fm.Projection.fix(elements, "x0") & fm.Projection.rigid(elements, "x1")
    else:
        held = fm.Projection.fix(elements, "x0")
    k, f = held.project(elements.assemble(elements.stiffness())), held.project(rows.T @ wrench)
    exact = held.expand(np.linalg.solve(k.toarray(), f))
    d = (part.basis.T @ (rows.T @ wrench)) / part.constants.stiffness
    assert_allclose(part.basis @ d, exact, atol=1e-8 * np.abs(exact).max())
    loads = part.cases.missed[12 : 12 + len(wrench)]
    assert loads.max() < 1e-8


def test_krylov_matches_moments_of_the_compliance() -> None:
    """C K⁻¹ (M K⁻¹)^j Cᵀ for j up to 2·moments - 1."""
    elements = solid(divisions=(5, 1, 1))
    part = reduce(elements, Krylov(2, inertia=False), fixed="x0", interfaces=[fm.Averaged("x1")], stiffening=False)
    held = fm.Projection.fix(elements, "x0")
    k, m = (held.project(elements.assemble(b)).toarray() for b in (elements.stiffness(), elements.mass()))
    rows = (fm.averaging_rows(elements, "x1")[0] @ held.matrix).toarray()
    small = fm.averaging_rows(elements, "x1")[0] @ part.basis
    full, found = np.linalg.solve(k, rows.T), small.T / part.constants.stiffness[:, None]
    for moment in range(5):
        exact, reduced = rows @ full, small @ found
        scale = np.sqrt(exact.diagonal())
        error = (np.abs(reduced - exact) / np.outer(scale, scale)).max()
        assert error < 1e-7 if moment < 4 else error > 1e-6
        full, found = np.linalg.solve(k, m @ full), found / part.constants.stiffness[:, None]


def test_krylov_is_exact_at_the_frequency_it_expands_about() -> None:
    elements = plane()
    part = reduce(elements, Krylov(1, frequency=120.0), fixed="x0", interfaces=["x1"], stiffening=False)
    s = (2 * np.pi * 120.0) ** 2
    held = fm.Projection.fix(elements, "x0") & fm.Projection.rigid(elements, "x1")
    k, m = (held.project(elements.assemble(b)).toarray() for b in (elements.stiffness(), elements.mass()))
    rows = fm.averaging_rows(elements, "x1")[0]
    point = np.asarray(rows @ held.matrix.toarray())
    exact = point @ np.linalg.solve(k - s * m, point.T)
    small = rows @ part.basis
    assert_allclose((small / (part.constants.stiffness - s)) @ small.T, exact, rtol=1e-6, atol=1e-9 * abs(exact).max())


def test_the_error_estimate_is_near_the_error() -> None:
    elements = solid()
    full = fm.modes(elements, fixed=rigid_ends(elements), count=9).frequencies[6:]
    part = reduce(elements, CraigBampton(12), interfaces=["x0", "x1"], frame="mean", stiffening=False)
    for row, exact in zip(part.rows, full, strict=False):
        error = row.frequency / exact - 1
        assert 0.7 * error < row.error < 1.5 * error
    more = reduce(elements, CraigBampton(13), interfaces=["x0", "x1"], frame="mean", stiffening=False)
    held = fm.modes(elements, fixed=["x0", "x1"], count=14).frequencies
    assert part.neglected == pytest.approx(held[12])
    assert more.neglected == pytest.approx(held[13])


# ---- frames


FRAMES = ["tangent", "chord", "mean", Tangent("x1"), Chord("x1", "x0")]


@pytest.mark.parametrize("method", [CraigBampton(5), FreeInterface(4), Krylov(2)], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("kind", ["solid", "plane", "beam"])
def test_every_frame_spans_the_same_motions(kind: str, method: Reduction) -> None:
    elements = KINDS[kind]()
    rigid = rigid_motions(elements)
    parts = [reduce(elements, method, interfaces=["x0", "x1"], frame=f, stiffening=False) for f in FRAMES]
    reference = np.linalg.qr(np.hstack([parts[0].basis, rigid]))[0]
    for part in parts[1:]:
        assert part.size == parts[0].size
        shapes = part.basis / np.linalg.norm(part.basis, axis=0)
        assert np.abs(shapes - reference @ (reference.T @ shapes)).max() < 1e-7


@pytest.mark.parametrize("kind", KINDS)
def test_mean_axes_have_no_momentum(kind: str) -> None:
    part = reduce(KINDS[kind](), CraigBampton(5), interfaces=["x0", "x1"], frame="mean", stiffening=False)
    c = part.constants
    assert np.abs(c.S).max() < 1e-9 * np.sqrt(c.mass)
    assert np.abs(c.G(np.zeros(part.size))).max() < 1e-9 * np.sqrt(np.trace(c.second))


@pytest.mark.parametrize("kind", KINDS)
def test_tangent_and_chord_frames_hold_their_places(kind: str) -> None:
    elements = KINDS[kind]()
    tangent = reduce(elements, CraigBampton(5), interfaces=["x0", "x1"], frame="tangent", stiffening=False)
    root, tip = tangent.frame("x0"), tangent.frame("x1")
    size = np.abs(tip.displacement).max()
    assert max(np.abs(root.displacement).max(), np.abs(root.rotation).max()) < 1e-9 * size
    chord = reduce(elements, CraigBampton(5), interfaces=["x0", "x1"], stiffening=False)
    root, tip = chord.frame("x0"), chord.frame("x1")
    along = (tip.position - root.position) / np.linalg.norm(tip.position - root.position)
    assert np.abs(root.displacement).max() < 1e-9 * size
    assert np.abs(np.cross(along, tip.displacement.T)).max() < 1e-9 * size
    assert np.abs(along @ (root.rotation + tip.rotation)).max() < 1e-9 * np.abs(tip.rotation).max()
    assert np.abs(tip.displacement).max() > 1e-3 * size


def test_frames_follow_the_nodes_they_are_made_of() -> None:
    elements = solid()
    part = reduce(elements, CraigBampton(5), interfaces=["x0", "x1"], stiffening=False)
    d = np.random.default_rng(7).normal(size=part.size)
    u = part.displacement(d)
    tip = part.frame("x1")
    arms = elements.points[elements.nodes("x1")] - tip.position
    assert_allclose(u[elements.nodes("x1")], tip.displacement @ d + np.cross(tip.rotation @ d, arms), atol=1e-12)
    middle = elements.mesh.nearest_node((0.7, 0.02, 0.16))
    assert_allclose(part.frame(middle).displacement @ d, u[middle], atol=1e-14)
    point = elements.points[middle] + [0.0, 0.01, 0.0]
    at, near = part.frame_at(point), part.frame(middle)
    shift = np.cross(near.rotation @ d, [0.0, 0.01, 0.0])
    assert_allclose(at.displacement @ d, near.displacement @ d + shift, atol=1e-14)
    assert_allclose(at.position, point)


def test_the_rotation_of_a_single_node_is_that_of_what_surrounds_it() -> None:
    """Exact where the nodes around it turn as one, and near the slope of a bent bar."""
    elements = solid(divisions=(16, 2, 2))
    part = reduce(elements, ModalTruncation(1), frame="mean", stiffening=False)
    line = elements.mesh.nodes_where(lambda x, y, z: (abs(y - 0.02) < 1e-9) & (abs(z - 0.16) < 1e-9))
    line = line[np.argsort(elements.points[line, 0])]
    u = part.displacement([1.0])[line]
    slope = np.gradient(u[:, 1], elements.points[line, 0])
    turn = np.array([part.frame(int(n)).rotation[2, 0] for n in line])
    assert_allclose(turn[1:-1], slope[1:-1], atol=0.02 * np.abs(slope).max())


def test_nodes_of_beams_have_their_own_rotations() -> None:
    elements = beam()
    part = reduce(elements, CraigBampton(3), interfaces=["x0", "x1"], stiffening=False)
    frame = part.frame(4)
    assert_allclose(np.vstack([frame.displacement, frame.rotation]), part.basis[24:30], atol=1e-14)


def test_single_nodes_of_solids_are_interfaces_with_displacements_only() -> None:
    elements = solid()
    corner = int(elements.nodes("x1")[0])
    part = reduce(elements, CraigBampton(2), fixed="x0", interfaces=[corner], stiffening=False)
    assert part.size == 5
    load = np.zeros(elements.n_dofs)
    load[3 * corner + 1] = 10.0
    exact = fm.statics(elements, loads=fm.Force([corner], (0.0, 10.0, 0.0)), fixed="x0").displacement
    d = part.basis.T @ load / part.constants.stiffness
    assert_allclose(part.displacement(d), exact, atol=1e-9 * np.abs(exact).max())


def test_the_table_says_what_each_coordinate_is() -> None:
    part = reduce(solid(), CraigBampton(4), interfaces=["x0", "x1"], stiffening=False)
    for row in part.rows:
        assert sum(row.shares.values()) == pytest.approx(1.0)
        assert set(row.shares) == {"interface x0", "interface x1", "held mode"}
    text = part.modes_table()
    assert len(text.splitlines()) == 1 + part.size + 2
    assert "held mode" in text


def test_a_stiff_rod_needs_no_less_precision_than_a_soft_one() -> None:
    """Fine beams: the stiffness entries grow as 1/L³, and rounding in K alone would cost the digits."""
    mesh = fm.Mesh.line((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 400)
    elements = fm.Elements(mesh, STEEL, section=fm.Section.rectangle(0.01, 0.01), formulation="euler_bernoulli")
    part = reduce(elements, CraigBampton(6), fixed="start", interfaces=["end"], stiffening=False)
    exact = 1.8751040687**2 * np.sqrt(210e9 * 0.01**4 / 12 / (7850 * 0.01**2)) / (2 * np.pi)
    assert_allclose(part.constants.frequencies[:2], exact, rtol=3e-5)  # rotary inertia is 2e-5
    load = part.frame("end").displacement[1]
    assert load @ (load / part.constants.stiffness) == pytest.approx(1 / (3 * 210e9 * 0.01**4 / 12), rel=1e-7)
