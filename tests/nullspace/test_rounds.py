"""Sparse elimination by rounds against dense references, on constraints that couple many rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from flexmbs.errors import ProjectionError
from flexmbs.nullspace import null_space
from flexmbs.nullspace.rounds import RoundsInverse


@pytest.fixture(params=[1, 2, 3])
def jacobian(request):
    """450 × 800 in one component, 50 of its rows sums of three others; rows of different units."""
    rng = np.random.default_rng(request.param)
    first = sp.random_array((400, 800), density=0.004, rng=rng, data_sampler=rng.normal)
    first = first + sp.coo_array((np.ones(400), (np.arange(400), np.arange(400))), shape=(400, 800))
    picks = np.stack([rng.permutation(400)[:3] for _ in range(50)])
    sums = sp.coo_array((rng.normal(size=150), (np.repeat(np.arange(50), 3), picks.ravel())), shape=(50, 400))
    J = sp.csr_array(sp.vstack([first, sums @ first]))
    return sp.csr_array(sp.diags_array(10.0 ** rng.integers(-2, 3, size=450)) @ J)[rng.permutation(450)]


def test_null_space_of_many_coupled_rows(jacobian):
    space = null_space(jacobian)
    assert isinstance(space.inverse, RoundsInverse)
    rank = np.linalg.matrix_rank(jacobian.toarray(), tol=1e-8)
    assert space.rank == rank
    assert len(space.redundant) == 450 - rank
    assert space.A.shape == (800, 800 - rank)
    np.testing.assert_array_equal(space.A[space.independent].toarray(), np.eye(800 - rank))
    assert abs(jacobian @ space.A).max() < 1e-9 * abs(jacobian).max() * abs(space.A).max()


def test_generalised_inverse(jacobian):
    rng = np.random.default_rng(7)
    inverse = null_space(jacobian).inverse
    b, x = jacobian @ rng.normal(size=800), rng.normal(size=800)
    np.testing.assert_allclose(jacobian @ (inverse @ b), b, atol=1e-8 * abs(b).max())
    assert (x @ inverse) @ b == pytest.approx(x @ (inverse @ b), rel=1e-9)


def test_contradiction_names_the_rows_it_depends_on(jacobian):
    rng = np.random.default_rng(7)
    space = null_space(jacobian)
    b = jacobian @ rng.normal(size=800)
    space.particular(b)
    row = int(space.redundant[0])
    b[row] += 100.0 * abs(b).max()
    with pytest.raises(ProjectionError, match=f"row {row} is missed by .* once row "):
        space.particular(b)


def test_too_many_coupled_rows_for_memory_are_refused(monkeypatch):
    monkeypatch.setattr("flexmbs.nullspace.elimination.BLOCK_LIMIT", 10)
    with pytest.raises(ProjectionError, match="4 constraint rows are coupled through 5 coordinates"):
        null_space(sp.csr_array(np.random.default_rng(7).normal(size=(4, 5))))
