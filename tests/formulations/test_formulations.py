"""All principles give the same accelerations and reactions; each refuses in words what has no answer."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from flexmbs.equations import Equations
from flexmbs.errors import ProjectionError, SolverError
from flexmbs.formulations import AugmentedLagrangian, Gauss, GibbsAppell, Maggi, Multipliers, UdwadiaKalaba

FORMULATIONS = [
    Multipliers(),
    Maggi(),
    Maggi(basis="qr"),
    Maggi(basis="svd"),
    UdwadiaKalaba(),
    Gauss(),
    GibbsAppell(),
    AugmentedLagrangian(),
]
KINDS = {"dense": np.asarray, "sparse": sp.csr_array}
every_formulation = pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
every_kind = pytest.mark.parametrize("kind", list(KINDS))


def orthogonal(rng, n):
    return scipy.linalg.qr(rng.normal(size=(n, n)))[0] if n else np.zeros((0, 0))


def random_equations(rng, n, rank, redundant=0, massless=0, kind="dense"):
    """Equations with `rank` independent and `redundant` dependent rows; `massless` directions without inertia.

    Sizes of masses and of constraint rows are spread over two decades each, so that 1e-9 can be asked for.
    """
    Q = orthogonal(rng, n)
    inertia = 10.0 ** rng.uniform(-1, 1, n)
    inertia[:massless] = 0.0
    M = (Q * inertia) @ Q.T
    J = (orthogonal(rng, rank) * 10.0 ** rng.uniform(-1, 1, rank)) @ orthogonal(rng, n)[:rank]
    order = rng.permutation(rank + redundant)
    J = np.vstack([J, rng.normal(size=(redundant, rank)) @ J])[order]
    M = (M + M.T) / 2
    return Equations(KINDS[kind](M), rng.normal(size=n), KINDS[kind](J), J @ rng.normal(size=n))


def saddle_point(equations):
    e = equations.dense()
    return np.block([[e.M, e.J.T], [e.J, np.zeros((e.rows, e.rows))]])


def reference(equations):
    """Accelerations by the pseudo-inverse of the whole saddle point, least multipliers by that of Jᵀ."""
    e = equations.dense()
    v = scipy.linalg.lstsq(saddle_point(equations), np.concatenate([e.f, e.gamma]), cond=1e-12)[0][: e.size]
    return v, np.linalg.pinv(e.J.T, rcond=1e-10) @ (e.M @ v - e.f)


def assert_close(x, y, tol=1e-9):
    np.testing.assert_allclose(x, y, rtol=0, atol=tol * max(1.0, abs(y).max(initial=0.0)))


def check(formulation, equations):
    e = equations.dense()
    solution = formulation.solve(equations)
    v, multipliers = reference(equations)
    assert_close(solution.accelerations, v)
    assert_close(solution.multipliers, multipliers)
    assert_close(e.J @ solution.accelerations, e.gamma)
    assert_close(solution.reactions, e.J.T @ solution.multipliers)
    assert_close(e.M @ solution.accelerations, e.f + solution.reactions)
    return solution


@every_formulation
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(list(KINDS)),
    n=st.integers(1, 12),
    share=st.floats(0, 1),
    redundant=st.integers(0, 3),
    massless=st.integers(0, 3),
)
@settings(max_examples=25, deadline=None, derandomize=True)
def test_random_systems(formulation, seed, kind, n, share, redundant, massless):
    rank = round(share * n)
    redundant, massless = (redundant, min(massless, rank)) if rank else (0, 0)
    rng = np.random.default_rng(seed)
    equations = random_equations(rng, n, rank, redundant, massless, kind)
    sizes = np.linalg.svd(saddle_point(equations), compute_uv=False)
    assume(sizes[n + rank - 1] > 1e-4 * sizes[0])  # else a direction without inertia happens to be nearly free
    solution = check(formulation, equations)
    assert solution.rank == rank
    assert len(solution.redundant) == redundant


@every_formulation
@every_kind
@pytest.mark.parametrize(("rank", "redundant"), [(0, 0), (25, 0), (25, 5), (59, 3), (60, 0)])
def test_sixty_velocities(formulation, kind, rank, redundant):
    check(formulation, random_equations(np.random.default_rng(7), 60, rank, redundant, kind=kind))


@every_formulation
@every_kind
def test_a_massless_coordinate_that_follows(formulation, kind):
    # mass 2 on coordinate 0; coordinate 1 has none and moves three times as far; force 6 on it
    make = KINDS[kind]
    equations = Equations(make(np.diag([2.0, 0.0])), [0.0, 6.0], make(np.array([[3.0, -1.0]])), [0.0])
    solution = formulation.solve(equations)
    np.testing.assert_allclose(solution.accelerations, [9.0, 27.0], rtol=1e-10)
    np.testing.assert_allclose(solution.multipliers, [6.0], rtol=1e-10)


@every_formulation
def test_pendulum_in_two_coordinates(formulation):
    # mass m at angle 30° below the horizontal, at rest: rod tension is m g sin 30°
    m, g, x = 3.0, 9.81, np.array([np.sqrt(0.75), -0.5])
    solution = formulation.solve(Equations(m * np.eye(2), [0.0, -m * g], x[None], [0.0]))
    np.testing.assert_allclose(solution.multipliers, [-m * g / 2], rtol=1e-10)  # along x: towards the pivot
    np.testing.assert_allclose(solution.accelerations, -g * np.sqrt(0.75) * np.array([0.5, np.sqrt(0.75)]), rtol=1e-10)


@every_formulation
def test_reactions_of_scleronomic_constraints_do_no_work(formulation):
    rng = np.random.default_rng(7)
    e = random_equations(rng, 14, 6, redundant=2)
    solution = formulation.solve(e)
    v = scipy.linalg.null_space(e.J) @ rng.normal(size=8)
    assert_close(v @ solution.reactions, np.array(0.0))
    assert_close(v @ e.M @ solution.accelerations, v @ e.f)
    moving = rng.normal(size=14)  # rheonomic: J v = −b, and the drives supply −bᵀλ
    assert_close(moving @ solution.reactions, (e.J @ moving) @ solution.multipliers)


@every_formulation
def test_multipliers_are_the_least_ones(formulation):
    rng = np.random.default_rng(7)
    e = random_equations(rng, 9, 4, redundant=3)
    solution = formulation.solve(e)
    unseen = scipy.linalg.null_space(e.J.T)
    assert unseen.shape[1] == 3
    assert_close(unseen.T @ solution.multipliers, np.zeros(3))


@every_formulation
@every_kind
def test_equal_rows_share_the_load(formulation, kind):
    J = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    solution = formulation.solve(Equations(KINDS[kind](np.eye(2)), [4.0, 1.0], KINDS[kind](J), np.zeros(3)))
    np.testing.assert_allclose(solution.multipliers, [-2.0, -2.0, 0.0], atol=1e-12)
    assert solution.rank == 1


@every_formulation
def test_gauss_constraint_is_least_among_feasible_accelerations(formulation):
    rng = np.random.default_rng(7)
    e = random_equations(rng, 10, 4)
    a = formulation.solve(e).accelerations
    A = scipy.linalg.null_space(e.J)
    least = Gauss.constraint(e, a)
    for size in (1e-3, 1e-1, 10.0):
        step = A @ rng.normal(size=6) * size
        gained = Gauss.constraint(e, a + step) - least
        assert gained > 0
        np.testing.assert_allclose(gained, step @ e.M @ step / 2, rtol=1e-6)


@every_formulation
def test_units_do_not_matter(formulation):
    # the same mechanism in metres and kilograms, and with coordinates and rows in odd units
    rng = np.random.default_rng(7)
    e = random_equations(rng, 8, 3, redundant=1)
    u, r = 10.0 ** rng.uniform(-3, 3, 8), 10.0 ** rng.uniform(-3, 3, 4)
    scaled = Equations(u[:, None] * e.M * u, u * e.f, r[:, None] * e.J * u, r * e.gamma)
    solution = formulation.solve(scaled)
    assert_close(u * solution.accelerations, reference(e)[0], 1e-8)
    assert_close(solution.reactions / u, e.M @ reference(e)[0] - e.f, 1e-8)


@every_formulation
@every_kind
def test_contradiction_is_refused_by_name(formulation, kind):
    J = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [2.0, 0.0, 0.0]])
    labels = ["hinge: x", "hinge: y", "motor"]
    equations = Equations(KINDS[kind](np.eye(3)), np.zeros(3), KINDS[kind](J), [0.0, 0.0, 1.0], labels=labels)
    with pytest.raises(ProjectionError, match=r"contradict.*(hinge: x|motor).*(hinge: x|motor)"):
        formulation.solve(equations)


@every_formulation
@every_kind
def test_free_motion_without_mass_is_refused(formulation, kind):
    M, J = np.diag([1.0, 1.0, 0.0]), np.array([[1.0, -1.0, 0.0]])
    with pytest.raises(SolverError, match=r"nothing resists a motion of v\[2\]"):
        formulation.solve(Equations(KINDS[kind](M), np.ones(3), KINDS[kind](J), [0.0]))


@every_formulation
def test_singular_mass_hidden_by_rounding_is_refused(formulation):
    rng = np.random.default_rng(7)
    root = rng.normal(size=(6, 8))
    with pytest.raises(SolverError, match="not unique"):
        formulation.solve(Equations(root.T @ root, rng.normal(size=8), rng.normal(size=(1, 8)), [0.0]))


@every_formulation
def test_nothing_is_changed_and_twice_is_the_same(formulation):
    e = random_equations(np.random.default_rng(7), 9, 4, redundant=1)
    first, second = formulation.solve(e), formulation.solve(e)
    np.testing.assert_array_equal(first.accelerations, second.accelerations)
    np.testing.assert_array_equal(first.multipliers, second.multipliers)
    with pytest.raises(ValueError, match="read-only"):
        first.accelerations[0] = 1.0


@every_kind
def test_unsymmetric_mass(kind):
    # stiffening in the last row only: Lagrange and Maggi take it, principles of a minimum cannot
    rng = np.random.default_rng(7)
    e = random_equations(rng, 7, 3)
    M = e.M + 0.05 * rng.normal(size=(7, 7))
    saddle = np.block([[M, e.J.T], [e.J, np.zeros((3, 3))]])
    expected = np.linalg.solve(saddle, np.concatenate([e.f, e.gamma]))
    equations = Equations(KINDS[kind](M), e.f, KINDS[kind](e.J), e.gamma)
    for formulation in (Multipliers(), Maggi(), Maggi("qr")):
        solution = formulation.solve(equations)
        assert_close(solution.accelerations, expected[:7])
        assert_close(solution.multipliers, -expected[7:])
    for formulation in (Gauss(), GibbsAppell(), UdwadiaKalaba(), AugmentedLagrangian()):
        with pytest.raises(SolverError, match="symmetric"):
            formulation.solve(equations)


@pytest.mark.parametrize(
    ("formulation", "n"), [(Multipliers(), 2000), (Maggi(), 2000), (AugmentedLagrangian(), 200)], ids=str
)
def test_a_long_sparse_chain(formulation, n):
    # n masses in a row, each tied to the next by a constraint, the first driven with acceleration 2
    M = sp.diags_array(np.linspace(1.0, 3.0, n))
    J = sp.diags_array([-np.ones(n - 1), np.ones(n)], offsets=[-1, 0])
    gamma = np.zeros(n)
    gamma[0] = 2.0
    solution = formulation.solve(Equations(M, np.zeros(n), J, gamma))
    np.testing.assert_allclose(solution.accelerations, 2.0, rtol=1e-9)
    # each link carries the inertia of everything behind it
    behind = np.cumsum((2.0 * M.diagonal())[::-1])[::-1]
    np.testing.assert_allclose(solution.multipliers, behind, rtol=1e-9)


def test_augmented_lagrangian_says_how_it_went():
    e = random_equations(np.random.default_rng(7), 9, 4)
    assert "converged in" in AugmentedLagrangian().solve(e).outcome
    with pytest.raises(SolverError, match=r"not converged in 2 iterations.*raise the penalty"):
        AugmentedLagrangian(penalty=1.0, iterations=2).solve(e)
    with pytest.raises(ProjectionError, match="must be positive"):
        AugmentedLagrangian(penalty=-1.0)


def test_higher_penalty_needs_fewer_iterations():
    e = random_equations(np.random.default_rng(7), 9, 4)
    counts = [int(AugmentedLagrangian(p, 10_000).solve(e).outcome.split()[2]) for p in (1e0, 1e2, 1e4)]
    assert counts[0] > counts[1] > counts[2]


def test_names_are_short():
    assert [repr(f) for f in (Multipliers(), Maggi(), UdwadiaKalaba(), Gauss(), GibbsAppell())] == [
        "Multipliers()",
        "Maggi()",
        "UdwadiaKalaba()",
        "Gauss()",
        "GibbsAppell()",
    ]
    assert repr(Maggi("qr")) == "Maggi(basis='qr')"
    assert repr(Maggi(speeds=[2, 5])) == "Maggi(speeds=[2, 5])"
    assert repr(AugmentedLagrangian(penalty=1e8)) == "AugmentedLagrangian(penalty=100000000.0)"


@pytest.mark.parametrize("formulation", [Multipliers(), Maggi()], ids=str)
def test_a_long_sparse_ring_with_a_redundant_row(formulation):
    # n equal masses tied in a ring: the ties add up to nothing, and the loads between them are the least ones
    n = 1500
    J = sp.csr_array(sp.eye_array(n) - sp.eye_array(n, k=1) - sp.eye_array(n, k=1 - n))
    f = np.random.default_rng(7).normal(size=n)
    solution = formulation.solve(Equations(sp.eye_array(n), f, J, np.zeros(n)))
    assert len(solution.redundant) == 1
    np.testing.assert_allclose(solution.accelerations, f.mean(), rtol=0, atol=1e-10)
    loads = np.cumsum(f.mean() - f)  # tie k carries what the masses up to k lack
    np.testing.assert_allclose(solution.multipliers, loads - loads.mean(), rtol=0, atol=1e-8)
