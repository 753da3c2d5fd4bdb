"""Factorisations and eigenvalue problems against closed forms and dense references."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from flexmbs.errors import SolverError
from flexmbs.linalg import BorderedFactor, available_solvers, factorize, quadratic_modes, smallest_modes
from flexmbs.linalg.dissection import dissect
from flexmbs.linalg.lanczos import largest
from flexmbs.linalg.modes import mass_product
from flexmbs.linalg.multifrontal import fill

every_solver = pytest.mark.parametrize("solver", available_solvers())


def truss(joints=160, seed=7):
    """Stiffness, mass and the six rigid motions of a free space truss with random joints and unequal masses."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, (3.0, 1.0, 1.0), (joints, 3))
    _, near = cKDTree(x).query(x, k=13)
    i, j = np.repeat(np.arange(joints), 12), near[:, 1:].ravel()
    along = x[j] - x[i]
    length = np.linalg.norm(along, axis=1)
    along /= length[:, None]
    bars = np.zeros((len(i), joints, 3))
    bars[np.arange(len(i)), i], bars[np.arange(len(i)), j] = -along, along
    stretch = sp.csr_matrix(bars.reshape(len(i), -1))
    K = stretch.T @ sp.diags(1e6 / length) @ stretch
    M = sp.kron(sp.diags(rng.uniform(1, 2, joints)), sp.eye(3))
    turn = np.cross(np.eye(3)[:, None], x[None]).reshape(3, -1).T
    return sp.csc_matrix(K), sp.csc_matrix(M), np.hstack((np.tile(np.eye(3), (joints, 1)), turn)), x


def unheld(x):
    """Coordinates that stay free when the joints at the lower x end are held."""
    return np.repeat(np.argsort(np.argsort(x[:, 0])) >= max(4, len(x) // 8), 3)


def held_truss(joints=160):
    K, M, _, x = truss(joints)
    free = unheld(x)
    return K[free][:, free], M[free][:, free]


def fixed_string(n):
    """Second difference on n points between fixed ends, and its eigenvalues."""
    K = sp.diags([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], [-1, 0, 1])
    return K, 4 * np.sin(np.arange(1, n + 1) * np.pi / (2 * n + 2)) ** 2


def membrane_block(nx, ny, nz, repeat):
    """Three-dimensional Laplacian, `repeat` times over (kron), and its eigenvalues."""
    (X, a), (Y, b), (Z, c) = fixed_string(nx), fixed_string(ny), fixed_string(nz)
    Ix, Iy, Iz = sp.eye(nx), sp.eye(ny), sp.eye(nz)
    K = sp.kron(sp.kron(X, Iy), Iz) + sp.kron(sp.kron(Ix, Y), Iz) + sp.kron(sp.kron(Ix, Iy), Z)
    values = (a[:, None, None] + b[:, None] + c).ravel()
    return sp.csc_matrix(sp.kron(K, sp.eye(repeat))), np.sort(np.repeat(values, repeat))


# ---- factorize


@every_solver
def test_solution_equals_the_dense_one(solver):
    K, _ = held_truss()
    factor = factorize(K, solver=solver)
    assert factor.solver == solver
    assert factor.shape == K.shape
    assert factor.nnz >= sp.tril(K).nnz
    b = np.random.default_rng(7).standard_normal((K.shape[0], 5))
    expected = np.linalg.solve(K.toarray(), b)
    np.testing.assert_allclose(factor.solve(b), expected, rtol=0, atol=1e-11 * abs(expected).max())
    np.testing.assert_allclose(factor.solve(b[:, 2]), expected[:, 2], rtol=0, atol=1e-11 * abs(expected).max())
    np.testing.assert_allclose(factor.solve(np.asfortranarray(b)), factor.solve(b), rtol=1e-13)
    assert factor.solve(b[:, :0]).shape == (K.shape[0], 0)


@every_solver
@settings(max_examples=25, deadline=None)
@given(n=st.integers(1, 120), density=st.floats(0.0, 0.2), seed=st.integers(0, 2**32 - 1))
def test_any_definite_pattern(solver, n, density, seed):
    """Random graphs: disconnected, diagonal, with hubs and with dense parts."""
    rng = np.random.default_rng(seed)
    L = sp.random(n, n, density, random_state=rng, format="csc")
    K = L @ L.T + sp.diags(rng.uniform(0.5, 2, n))
    stray, full = sp.random(n, n, density / 2, random_state=rng, format="coo"), K.tocoo()  # zeros stored on one side
    entries = np.append(full.data, 0 * stray.data)
    K = sp.coo_matrix((entries, (np.append(full.row, stray.row), np.append(full.col, stray.col))), (n, n))
    b = rng.standard_normal(n)
    np.testing.assert_allclose(K @ factorize(K, solver=solver).solve(b), b, atol=1e-9)


@every_solver
@pytest.mark.parametrize("kind", ["arrow", "full", "two pieces", "many pieces", "star", "long chain", "large front"])
def test_special_patterns(solver, kind):
    rng = np.random.default_rng(7)
    if kind == "arrow":
        K = sp.lil_matrix(sp.eye(300) * 400.0)
        K[0, 1:] = K[1:, 0] = 1.0
    elif kind == "full":
        A = rng.standard_normal((230, 230))
        K = A @ A.T + np.eye(230)
    elif kind == "two pieces":
        K = sp.block_diag([held_truss()[0] / 1e6, membrane_block(5, 6, 7, 2)[0]])
    elif kind == "many pieces":
        K = sp.block_diag([sp.diags(rng.uniform(1, 2, 1000)), *[fixed_string(n)[0] for n in rng.integers(2, 90, 30)]])
    elif kind == "star":  # twenty chains that meet in one unknown
        K = sp.block_diag([sp.eye(1) * 40.0] + [fixed_string(60)[0]] * 20, format="lil")
        K[0, 1::60] = K[1::60, 0] = -1.0
    elif kind == "long chain":
        K = fixed_string(3000)[0]
    else:
        K = membrane_block(12, 12, 12, 2)[0]
    b = rng.standard_normal((K.shape[0], 2))
    x = factorize(K, solver=solver).solve(b)
    np.testing.assert_allclose(K @ x, b, atol=1e-9)


def test_dissection_is_a_permutation_with_little_fill():
    K = sp.csc_matrix(sp.kron(membrane_block(14, 14, 14, 1)[0], np.eye(3) + 0.1))
    n = K.shape[0]
    order, starts = dissect(K)
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    assert starts[0] == 0
    assert starts[-1] == n
    assert (np.diff(starts) > 0).all()
    # elimination line by line fills the band of the cube; nested dissection must do much better
    band = n * 3 * 14 * 14
    assert fill(K, dissect(K)) < 0.5 * band


def test_small_matrices_and_other_formats():
    assert factorize([[4.0]]).solve(np.array([2.0])) == pytest.approx(0.5)
    K, _ = held_truss(60)
    b = np.ones(K.shape[0])
    doubled = sp.coo_matrix(
        (np.tile(K.tocoo().data / 2, 2), (np.tile(K.tocoo().row, 2), np.tile(K.tocoo().col, 2))), K.shape
    )
    for same in (K.tocsr(), K.toarray(), sp.csr_array(K), doubled):
        np.testing.assert_allclose(factorize(same).solve(b), factorize(K).solve(b), rtol=1e-9)


@every_solver
def test_a_part_that_is_not_held_is_refused(solver):
    K, _, _, _ = truss()
    with pytest.raises(SolverError, match="not held"):
        factorize(K, solver=solver)
    with pytest.raises(SolverError, match="not positive definite"):
        factorize(sp.diags([1.0, -1.0, 2.0]), solver=solver)


@every_solver
def test_singular_matrices_do_not_pass_through_rounding(solver):
    """A free chain of random springs: the last pivot is rounding of either sign."""
    for seed in range(10):
        k = np.random.default_rng(seed).uniform(1.0, 2.0, 39)
        K = sp.diags([-k, np.append(k, 0) + np.append(0, k), -k], [-1, 0, 1])
        with pytest.raises(SolverError, match="not held"):
            factorize(K, solver=solver)


def test_indefinite_matrices():
    K, M = held_truss()
    lowest, _ = smallest_modes(K, M, 8)
    indefinite = K - 0.5 * (lowest[3] + lowest[4]) * M
    b = np.random.default_rng(7).standard_normal((K.shape[0], 2))
    np.testing.assert_allclose(
        factorize(indefinite, definite=False).solve(b),
        np.linalg.solve(indefinite.toarray(), b),
        rtol=1e-6,
        atol=1e-12,
    )
    zero_diagonal = sp.csc_matrix([[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(factorize(zero_diagonal, definite=False).solve(np.array([1.0, 2.0])), [2.0, 1.0])
    tiny_pivot = sp.csc_matrix([[1e-20, 1.0, 0.0], [1.0, 0.0, 0.5], [0.0, 0.5, 1.0]])
    x = factorize(tiny_pivot, definite=False).solve(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(tiny_pivot @ x, [1.0, 2.0, 3.0], rtol=1e-12)
    with pytest.raises(SolverError, match="singular"):
        factorize(sp.csc_matrix(np.ones((3, 3))), definite=False)


def test_solver_is_chosen_by_name_or_environment(monkeypatch):
    K, _ = held_truss(60)
    monkeypatch.setenv("FLEXMBS_SOLVER", "superlu")
    assert factorize(K).solver == "superlu"
    assert factorize(K, solver="multifrontal").solver == "multifrontal"
    with pytest.raises(SolverError, match=r"'pardiso' is not available.*multifrontal"):
        factorize(K, solver="pardiso")


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), "2 × 3"),
        (np.zeros((0, 0)), "0 × 0"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), "not symmetric"),
        (np.array([[1.0, 0.0], [0.0, np.nan]]), "NaN or infinite, the first in row 1"),
        (np.eye(2) * 1j, "complex"),
    ],
)
def test_bad_matrices_are_named(matrix, message):
    with pytest.raises(SolverError, match=message):
        factorize(matrix)


def test_bad_right_hand_side():
    with pytest.raises(SolverError, match=r"\(4,\) does not fit K of shape \(3, 3\)"):
        factorize(sp.eye(3)).solve(np.ones(4))


# ---- smallest_modes


def assert_modes(K, M, values, vectors):
    np.testing.assert_allclose(vectors.T @ (M @ vectors), np.eye(len(values)), atol=1e-10)
    residual = np.linalg.norm(K @ vectors - (M @ vectors) * values, axis=0)
    assert (residual < 1e-8 * abs(K).max()).all()
    assert (np.diff(values) >= -1e-9 * abs(values[-1])).all()


@every_solver
def test_modes_equal_the_dense_ones(solver):
    K, M = held_truss()
    values, vectors = smallest_modes(K, M, 20, solver=solver)
    expected = scipy.linalg.eigh(K.toarray(), M.toarray(), eigvals_only=True)[:20]
    np.testing.assert_allclose(values, expected, rtol=1e-9)
    assert_modes(K, M, values, vectors)


@pytest.mark.parametrize(
    ("sides", "repeat", "count"),
    [((9, 9, 9), 1, 30), ((8, 8, 8), 3, 60), ((7, 8, 9), 2, 15), ((5, 5, 5), 12, 11)],
)
def test_multiple_modes_are_all_found(sides, repeat, count):
    """A cube has triples and sextuples of equal modes; repeated, more of them than the iteration has block vectors."""
    K, expected = membrane_block(*sides, repeat)
    M = sp.eye(K.shape[0], format="csc")
    values, vectors = smallest_modes(K, M, count)
    np.testing.assert_allclose(values, expected[:count], rtol=1e-9)
    assert_modes(K, M, values, vectors)


def test_free_body_has_six_rigid_modes():
    K, M, R, _ = truss()
    values, vectors = smallest_modes(K, M, 16, rigid=True)
    expected = scipy.linalg.eigh(K.toarray(), M.toarray(), eigvals_only=True)[:16]
    assert (abs(values[:6]) < 1e-8 * expected[6]).all()
    np.testing.assert_allclose(values[6:], expected[6:], rtol=1e-8)
    assert_modes(K, M, values, vectors)
    # the rigid motions lie in the span of the first six modes
    leftover = R - vectors[:, :6] @ (vectors[:, :6].T @ (M @ R))
    assert abs(leftover).max() < 1e-6 * abs(R).max()
    with pytest.raises(SolverError, match="rigid=True"):
        smallest_modes(K, M, 16)


def test_units_do_not_matter():
    K, M, _, _ = truss()
    values, _ = smallest_modes(K, M, 12, rigid=True)
    scaled, _ = smallest_modes(1e12 * K, 1e-9 * M, 12, rigid=True)
    np.testing.assert_allclose(scaled[6:], 1e21 * values[6:], rtol=1e-8)


def test_massless_unknowns():
    K, M = held_truss()
    n = K.shape[0]
    M = M.tolil()
    M[n // 2 :, :] = 0.0
    values, vectors = smallest_modes(K, M, 12)
    theta = scipy.linalg.eigh(M.toarray(), K.toarray(), eigvals_only=True)[::-1][:12]
    np.testing.assert_allclose(values, 1 / theta, rtol=1e-9)
    np.testing.assert_allclose(vectors.T @ (M @ vectors), np.eye(12), atol=1e-10)
    few = sp.diags(np.arange(n) < 3, dtype=float)
    np.testing.assert_allclose(
        smallest_modes(K, few, 3)[0], np.sort(1 / np.linalg.eigvalsh(np.linalg.inv(K.toarray())[:3, :3])), rtol=1e-8
    )
    with pytest.raises(SolverError, match="only 3 exist"):
        smallest_modes(K, few, 4)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_all_modes_of_a_small_problem(n):
    K, expected = fixed_string(n)
    values, vectors = smallest_modes(K, sp.eye(n), n)
    np.testing.assert_allclose(values, expected, rtol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n), atol=1e-12)


def test_many_modes_of_a_medium_problem():
    K, M = held_truss()
    n = K.shape[0]
    values, _ = smallest_modes(K, M, n)
    np.testing.assert_allclose(values, scipy.linalg.eigh(K.toarray(), M.toarray(), eigvals_only=True), rtol=1e-9)


def test_restarts_find_the_same_modes():
    """A space too small for the wanted accuracy at once: kept Ritz vectors must carry over."""
    values = np.concatenate((np.linspace(1.0, 1.2, 60), np.linspace(1.3, 50.0, 1500)))
    theta, vectors = largest(lambda y: y / values[:, None], lambda x: x, len(values), 12, block=4, tolerance=1e-10)
    np.testing.assert_allclose(theta, 1 / values[:12], rtol=1e-11)
    np.testing.assert_allclose(abs(vectors[:12, :12]), np.eye(12), atol=1e-6)


@pytest.mark.parametrize("joints", [45, 160])
@pytest.mark.parametrize("rigid", [False, True])
def test_modes_under_constraints(joints, rigid):
    """Dense (45 joints) and sparse: the modes of the null space of B."""
    K, M, _, x = truss(joints)
    if not rigid:
        free = unheld(x)
        K, M = K[free][:, free], M[free][:, free]
    B = sp.random(7, K.shape[0], 0.05, random_state=np.random.default_rng(7), format="csr")
    B = sp.vstack([B, B[0] + 2 * B[1]])  # a redundant row changes nothing
    values, vectors = smallest_modes(K, M, 10, border=B, rigid=rigid)
    Z = scipy.linalg.null_space(B.toarray())
    expected = scipy.linalg.eigh(Z.T @ K @ Z, Z.T @ M @ Z, eigvals_only=True)[:10]
    np.testing.assert_allclose(values, expected, rtol=1e-7)
    assert abs(B @ vectors).max() < 1e-9 * abs(vectors).max()
    np.testing.assert_allclose(vectors.T @ (M @ vectors), np.eye(10), atol=1e-10)


def test_run_twice_get_the_same():
    K, M = held_truss()
    first, second = smallest_modes(K, M, 6), smallest_modes(K, M, 6)
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])


def test_mass_products():
    K, M = held_truss()
    x = np.random.default_rng(7).standard_normal((K.shape[0], 4))
    unequal = M + sp.diags(np.arange(M.shape[0]) % 3 == 1, dtype=float)
    coupled = M + 0.1 * sp.csc_matrix(K / abs(K).max())
    for matrix in (M, unequal, coupled):
        product = mass_product(sp.csc_matrix(matrix))
        np.testing.assert_allclose(product(x), matrix @ x, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(product(np.asfortranarray(x)), matrix @ x, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(product(x[:, 0]), matrix @ x[:, 0], rtol=1e-13, atol=1e-13)
    calls = []
    values, _ = smallest_modes(K, M, 5, mass_operator=lambda y: calls.append(1) or M @ y)
    assert calls
    np.testing.assert_allclose(values, smallest_modes(K, M, 5)[0], rtol=1e-11)


def test_bad_mode_requests():
    K, M = held_truss(60)
    n = K.shape[0]
    for count in (0, n + 1):
        with pytest.raises(SolverError, match=f"{count} modes were asked for, but there are {n} unknowns"):
            smallest_modes(K, M, count)
    with pytest.raises(SolverError, match="M is 3 × 3, but"):
        smallest_modes(K, sp.eye(3), 1)
    with pytest.raises(SolverError, match="density"):
        smallest_modes(K, 0 * M, 1)
    with pytest.raises(SolverError, match="B needs"):
        smallest_modes(K, M, 1, border=np.ones((1, 3)))


# ---- BorderedFactor


def saddle_point(K, B, f, c):
    m = B.shape[0]
    full = np.block([[K.toarray(), B.T], [B, np.zeros((m, m))]])
    x = np.linalg.solve(full, np.concatenate((f, c)))
    return x[: K.shape[0]], x[K.shape[0] :]


def test_bordered_solve_equals_the_saddle_point():
    K, _ = held_truss()
    rng = np.random.default_rng(7)
    B = sp.random(5, K.shape[0], 0.1, random_state=rng, format="csr")
    f, c = rng.standard_normal((K.shape[0], 3)), rng.standard_normal((5, 3)) * 1e-6
    expected = saddle_point(K, B.toarray(), f, c)
    bordered = BorderedFactor(K, B)
    for found, right in zip(bordered.solve(f, c), expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-8, atol=1e-10 * abs(right).max())
    x, multipliers = bordered.solve(f[:, 0], c[:, 0])
    np.testing.assert_allclose(x, expected[0][:, 0], rtol=1e-8, atol=1e-10 * abs(x).max())
    np.testing.assert_allclose(multipliers, expected[1][:, 0], rtol=1e-8, atol=1e-10)
    assert abs(B @ bordered.solve(f)[0]).max() < 1e-12 * abs(x).max() * 1e3


@pytest.mark.parametrize("how", ["grounded", "rigid_modes"])
def test_free_body_held_only_by_the_border(how):
    """K is singular; the ground springs that make it definite must not be felt."""
    K, M, R, _ = truss()
    rng = np.random.default_rng(7)
    B = (M @ R).T * np.array([1, 1, 1, 50, 50, 50])[:, None]  # mean axes: no net momentum
    f = rng.standard_normal(K.shape[0])
    c = rng.standard_normal(6)
    option = {"grounded": [0, 1, 2, 100, 200, 301]} if how == "grounded" else {"rigid_modes": R}
    bordered = BorderedFactor(K, B, **option)
    assert len(bordered.grounded) == 6
    x, multipliers = bordered.solve(f, c)
    expected_x, expected_multipliers = saddle_point(K, B, f, c)
    np.testing.assert_allclose(x, expected_x, atol=1e-8 * abs(expected_x).max())
    np.testing.assert_allclose(multipliers, expected_multipliers, atol=1e-8 * abs(expected_multipliers).max())


def test_rigid_modes_of_a_held_body_ground_nothing():
    K, _ = held_truss()
    _, _, R, x = truss()
    R = R[unheld(x)]
    assert len(BorderedFactor(K, np.ones((1, K.shape[0])), rigid_modes=R).grounded) == 0


def test_border_that_does_not_hold_the_body():
    K, M, R, _ = truss()
    with pytest.raises(SolverError, match="free to move"):
        BorderedFactor(K, (M @ R[:, :5]).T, rigid_modes=R)


def test_redundant_and_contradicting_rows():
    K, _ = held_truss()
    rng = np.random.default_rng(7)
    B = sp.random(3, K.shape[0], 0.1, random_state=rng, format="csr").toarray()
    f, c = rng.standard_normal(K.shape[0]), np.array([1e-6, 2e-6, 0.0])
    expected, forces = saddle_point(K, B, f, c)
    twice = np.vstack((B, B[0] - B[1], np.zeros(K.shape[0])))
    bordered = BorderedFactor(K, twice)
    x, multipliers = bordered.solve(f, np.append(c, [-1e-6, 0.0]))
    np.testing.assert_allclose(x, expected, atol=1e-9 * abs(expected).max())
    np.testing.assert_allclose(twice.T @ multipliers, B.T @ forces, atol=1e-9 * abs(forces).max())
    least = np.linalg.lstsq(twice.T, B.T @ forces, rcond=1e-12)[0]
    np.testing.assert_allclose(multipliers, least, atol=1e-8 * abs(least).max())
    with pytest.raises(SolverError, match="contradicts"):
        bordered.solve(f, np.append(c, [3e-6, 0.0]))


def test_bad_borders():
    K, _ = held_truss(60)
    n = K.shape[0]
    with pytest.raises(SolverError, match="B needs"):
        BorderedFactor(K, np.ones((2, n - 1)))
    with pytest.raises(SolverError, match="grounded"):
        BorderedFactor(K, np.ones((1, n)), grounded=[n])
    with pytest.raises(SolverError, match="rigid_modes"):
        BorderedFactor(K, np.ones((1, n)), rigid_modes=np.ones((3, 6)))
    with pytest.raises(SolverError, match="c has shape"):
        BorderedFactor(K, np.ones((1, n))).solve(np.ones(n), np.ones(2))
    x, multipliers = BorderedFactor(K, sp.csr_matrix((0, n))).solve(np.ones(n))
    np.testing.assert_allclose(K @ x, 1.0)
    assert multipliers.shape == (0,)


# ---- refinement with an exact product


def fine_strip(n):
    """Second differences B of a strip held at its first end: K = BᵀB is known by its rounded entries only."""
    one = np.ones(n)
    B = sp.diags([one, -2 * one[1:], one[2:]], [0, -1, -2], format="csr") * np.pi
    return sp.csc_matrix(B.T @ B), lambda x: B.T @ (B @ x)


@pytest.mark.parametrize("solver", available_solvers())
def test_solutions_are_refined_with_an_exact_product(solver):
    K, product = fine_strip(3000)
    x = np.arange(3000.0) ** 2
    x = np.column_stack([x, np.sqrt(x)])
    rough = factorize(K, solver=solver).solve(product(x))
    refined = factorize(K, solver=solver, product=product).solve(product(x))
    assert np.linalg.norm(rough - x) > 1e-8 * np.linalg.norm(x)
    np.testing.assert_allclose(refined, x, rtol=1e-11, atol=1e-11 * x.max())


def test_a_singular_matrix_is_refused_with_a_product_too():
    B = sp.diags([1.0, -2.0, 1.0], [0, 1, 2], shape=(2998, 3000), format="csr") * np.pi  # nothing holds it
    with pytest.raises(SolverError, match="singular"):
        factorize(sp.csc_matrix(B.T @ B), product=lambda x: B.T @ (B @ x))


# ---- quadratic_modes


def quadratic_reference(M, C, K):
    n = K.shape[0]
    M, C, K = M.toarray(), C.toarray(), K.toarray()
    step = np.linalg.solve(M, np.hstack((-K, -C)))
    values = np.linalg.eigvals(np.vstack((np.hstack((np.zeros((n, n)), np.eye(n))), step)))
    values = values[values.imag >= -1e-6 * abs(values)]
    return values[np.argsort(abs(values))]


@pytest.mark.parametrize("joints", [20, 160])
@pytest.mark.parametrize("kind", ["gyroscopic", "damped", "both"])
def test_quadratic_modes_equal_the_dense_ones(joints, kind):
    K, M = held_truss(joints)
    nodes = K.shape[0] // 3
    spin = sp.kron(sp.diags(M.diagonal()[::3]), [[0, -1, 0], [1, 0, 0], [0, 0, 0]])
    first = np.sqrt(smallest_modes(K, M, 1)[0][0])
    rng = np.random.default_rng(7)
    C = 0 * K
    if kind != "damped":
        C = C + 0.8 * first * spin
    if kind != "gyroscopic":
        C = C + 0.1 * first * sp.kron(sp.diags(rng.uniform(0, 1, nodes)), sp.eye(3))
    values, vectors = quadratic_modes(M, C, K, 8)
    np.testing.assert_allclose(values, quadratic_reference(M, C, K)[:8], rtol=1e-7)
    residual = M @ vectors * values**2 + C @ vectors * values + K @ vectors
    assert abs(residual).max() < 1e-7 * abs(K @ vectors).max()
    np.testing.assert_allclose(np.einsum("ij,ij->j", vectors.conj(), M @ vectors).real, 1.0)
    given = quadratic_modes(M, C, K, 8, factor=factorize(K))[0]
    np.testing.assert_allclose(given, values, rtol=1e-9)


@pytest.mark.parametrize("speed", [1e-9, 1e9])
def test_quadratic_modes_in_any_unit_of_time(speed):
    K, M = held_truss(160)
    spin = sp.kron(sp.diags(M.diagonal()[::3]), [[0, -1, 0], [1, 0, 0], [0, 0, 0]])
    C, K = speed * 1e-3 * np.sqrt(smallest_modes(K, M, 1)[0][0]) * spin, speed**2 * K
    values, vectors = quadratic_modes(M, C, K, 8)
    residual = M @ vectors * values**2 + C @ vectors * values + K @ vectors
    assert abs(residual).max() < 1e-11 * abs(K @ vectors).max()


@pytest.mark.parametrize("joints", [20, 160])
def test_undamped_quadratic_modes_are_the_square_roots(joints):
    K, M = held_truss(joints)
    values, _ = quadratic_modes(M, 0 * K, K, 6)
    np.testing.assert_allclose(values, 1j * np.sqrt(smallest_modes(K, M, 6)[0]), rtol=1e-8)


@pytest.mark.parametrize("joints", [20, 160])
def test_diverging_motions_are_reported(joints):
    """Softened below its third mode, K has three negative directions: real λ, one growing and one decaying each."""
    K, M = held_truss(joints)
    lowest, _ = smallest_modes(K, M, 6)
    shift = (lowest[2] + lowest[3]) / 2
    values, _ = quadratic_modes(M, 0 * K, K - shift * M, 9)
    rates = np.sqrt(shift - lowest[:3])
    real = values[values.imag == 0].real
    np.testing.assert_allclose(np.sort(real), np.sort(np.concatenate((rates, -rates))), rtol=1e-6)
    np.testing.assert_allclose(np.sort(values[values.imag > 0].imag), np.sqrt(lowest[3:] - shift), rtol=1e-6)


@pytest.mark.parametrize("joints", [20, 160])
def test_of_a_growing_and_a_decaying_motion_the_growing_one_is_kept(joints):
    K, M = held_truss(joints)
    lowest, _ = smallest_modes(K, M, 2)
    values, _ = quadratic_modes(M, 0 * K, K - (0.9 * lowest[0] + 0.1 * lowest[1]) * M, 1)
    assert values[0].real > 0
    assert values[0].imag == 0


def test_one_oscillator():
    omega, zeta = 30.0, 0.1
    values, vectors = quadratic_modes([[2.0]], [[2 * 2 * zeta * omega]], [[2 * omega**2]], 1)
    assert values[0] == pytest.approx(omega * (-zeta + 1j * np.sqrt(1 - zeta**2)))
    assert abs(vectors[0, 0]) == pytest.approx(1 / np.sqrt(2))
    overdamped = quadratic_modes([[1.0]], [[2 * 3 * omega]], [[omega**2]], 1)[0]
    assert overdamped[0] == pytest.approx(omega * (-3 + np.sqrt(8)))


def test_all_quadratic_modes():
    K, expected = fixed_string(6)
    values, _ = quadratic_modes(sp.eye(6), 0.1 * sp.eye(6), K, 6)
    np.testing.assert_allclose(values, -0.05 + 1j * np.sqrt(expected - 0.0025), rtol=1e-9)


def test_bad_quadratic_requests():
    K, _ = fixed_string(6)
    with pytest.raises(SolverError, match="7 modes were asked for"):
        quadratic_modes(sp.eye(6), sp.eye(6), K, 7)
    with pytest.raises(SolverError, match="C is 5 × 5, but 6 × 6"):
        quadratic_modes(sp.eye(6), sp.eye(5), K, 2)
    with pytest.raises(SolverError, match="singular"):
        quadratic_modes(*(sp.eye(200),) * 2, 0 * sp.eye(200), 2)
