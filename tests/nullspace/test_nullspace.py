"""Null spaces: J A = 0 with full column rank, rank decisions, redundant and contradicting rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from flexmbs.errors import ProjectionError
from flexmbs.nullspace import null_space

METHODS = ("partition", "qr", "svd")
both_kinds = pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
all_methods = pytest.mark.parametrize("method", METHODS)


def dense(A: Any) -> np.ndarray:
    return A.toarray() if sp.issparse(A) else np.asarray(A)


def of_rank(rank: int, rows: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, columns))


@given(
    seed=st.integers(0, 10_000),
    method=st.sampled_from(METHODS),
    kind=st.sampled_from([np.asarray, sp.csr_array]),
    rank=st.integers(0, 5),
    more_rows=st.integers(0, 3),
    more_columns=st.integers(0, 6),
)
@settings(max_examples=60, deadline=None)
def test_maggi_holds_for_random_ranks(seed, method, kind, rank, more_rows, more_columns):
    rng = np.random.default_rng(seed)
    J = of_rank(rank, rank + more_rows, rank + more_columns, rng) * np.exp(rng.normal(size=(rank + more_rows, 1)))
    n = J.shape[1]
    space = null_space(kind(J), method)
    A = dense(space.A)
    assert space.rank == rank
    assert A.shape == (n, n - rank)
    assert np.linalg.matrix_rank(A) == n - rank
    np.testing.assert_allclose(
        J @ A, 0.0, atol=1e-9 * max(1.0, abs(J).max(initial=0.0)) * max(1.0, abs(A).max(initial=0))
    )
    assert len(space.redundant) == more_rows
    assert np.linalg.matrix_rank(np.delete(J, space.redundant, axis=0)) == rank
    assert space.largest_dropped <= space.tolerance < space.smallest_kept


@all_methods
@both_kinds
def test_particular_solution(method, kind):
    rng = np.random.default_rng(7)
    J = of_rank(4, 6, 9, rng)
    b = J @ rng.normal(size=9)
    space = null_space(kind(J), method)
    v0 = space.particular(b)
    np.testing.assert_allclose(J @ v0, -b, atol=1e-10)
    if method == "partition":
        assert np.all(v0[space.independent] == 0.0)
    else:
        np.testing.assert_allclose(v0, -np.linalg.pinv(J) @ b, atol=1e-10)


@pytest.mark.parametrize("method", ["qr", "svd"])
@both_kinds
def test_orthonormal_bases_span_the_reference_null_space(method, kind):
    J = of_rank(3, 5, 8, np.random.default_rng(7))
    A = dense(null_space(kind(J), method).A)
    reference = scipy.linalg.null_space(J)
    np.testing.assert_allclose(A.T @ A, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(A @ A.T, reference @ reference.T, atol=1e-10)


@both_kinds
def test_partition_is_the_unit_matrix_on_independent_coordinates(kind):
    J = of_rank(3, 4, 8, np.random.default_rng(7))
    space = null_space(kind(J))
    np.testing.assert_array_equal(dense(space.A)[space.independent], np.eye(5))
    assert np.all(np.diff(space.independent) > 0)
    # full pivoting keeps C small: a poor choice of dependent coordinates would not
    assert abs(dense(space.A)).max() < 10.0


@both_kinds
def test_kept_coordinates_stay_independent(kind):
    J = np.array([[1.0, 0.5, 0.0, 0.0], [0.0, 2.0, 1.0, 0.5]])
    space = null_space(kind(J), keep=[1])  # full pivoting would take 1 first
    assert 1 in space.independent
    forced = null_space(kind(np.array([[1.0, 0.0, 0.0]])), keep=[0])
    assert list(forced.independent) == [1, 2]


@all_methods
@both_kinds
def test_rank_does_not_depend_on_units_of_rows(method, kind):
    J = of_rank(3, 5, 8, np.random.default_rng(7))
    units = np.array([1e-3, 1.0, 1e6, 1e2, 1e-2])[:, None]
    assert null_space(kind(units * J), method).rank == 3


@all_methods
@both_kinds
def test_tolerance_decides_the_rank(method, kind):
    J = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1e-6]])
    assert null_space(kind(J), method).rank == 2
    coarse = null_space(kind(J), method, tol=1e-4)
    assert coarse.rank == 1
    assert 0 < coarse.largest_dropped < 1e-4


@all_methods
@both_kinds
def test_contradiction_names_rows_and_misfit(method, kind):
    J = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    space = null_space(kind(J), method)
    space.particular([1.0, 2.0, 3.0, 4.0])
    with pytest.raises(ProjectionError, match="contradicting constraints") as caught:
        space.particular([1.0, 2.0, 3.5, 4.0], labels=["left", "right", "sum", "other"])
    message = str(caught.value)
    assert all(name in message for name in ("left", "right", "sum"))
    assert "other" not in message
    assert "missed by 0." in message


@both_kinds
def test_contradicting_zero_row(kind):
    space = null_space(kind(np.array([[1.0, 0.0], [0.0, 0.0]])))
    assert list(space.redundant) == [1]
    np.testing.assert_allclose(space.particular([2.0, 0.0]), [-2.0, 0.0])
    with pytest.raises(ProjectionError, match=r"row 1 is missed by 1: it has no coefficients"):
        space.particular([2.0, 1.0])


@all_methods
@both_kinds
def test_no_rows_and_full_rank(method, kind):
    free = null_space(kind(np.zeros((0, 3))), method)
    np.testing.assert_array_equal(dense(free.A), np.eye(3))
    np.testing.assert_array_equal(free.particular(np.zeros(0)), np.zeros(3))
    held = null_space(kind(np.array([[2.0, 1.0], [0.0, 1.0]])), method)
    assert held.A.shape == (2, 0)
    np.testing.assert_allclose(held.particular([-4.0, -2.0]), [1.0, 2.0])


@all_methods
def test_sparse_components_stay_apart(method):
    rng = np.random.default_rng(7)
    blocks = [of_rank(2, 3, 5, rng) for _ in range(40)]
    J = sp.csr_array(sp.block_diag(blocks))
    order = rng.permutation(J.shape[1])
    space = null_space(J[:, order], method)
    assert space.rank == 80
    assert len(space.redundant) == 40
    assert abs(J[:, order] @ space.A).max() < 1e-10
    assert space.A.nnz <= 40 * 5 * 3
    b = J[:, order] @ rng.normal(size=J.shape[1])
    np.testing.assert_allclose(J[:, order] @ space.particular(b), -b, atol=1e-10)


def test_input_is_not_changed_and_result_is_read_only():
    J = np.array([[1.0, 2.0, 3.0]])
    S = sp.csr_array(J)
    null_space(J)
    space = null_space(S)
    np.testing.assert_array_equal(J, [[1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(S.toarray(), J)
    with pytest.raises(ValueError, match="read-only"):
        space.A.data[0] = 5.0
    with pytest.raises(ValueError, match="read-only"):
        null_space(J).A[0, 0] = 5.0


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((np.eye(2), "lu"), {}, "unknown null-space method 'lu'"),
        ((np.ones(3),), {}, r"two dimensions .* got shape \(3,\)"),
        ((np.array([[np.nan, 1.0]]),), {}, "NaN"),
        ((np.eye(2),), {"tol": 2.0}, "between 0 and 1, got 2.0"),
    ],
)
def test_bad_arguments(arguments, options, words):
    with pytest.raises(ProjectionError, match=words):
        null_space(*arguments, **options)


def test_right_hand_side_of_wrong_size():
    with pytest.raises(ProjectionError, match=r"shape \(3,\) for 2 constraint rows"):
        null_space(np.eye(2)).particular(np.ones(3))
