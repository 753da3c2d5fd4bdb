"""Projection as an operator: AᵀXA, Aᵀx, expansion, composition, fused assembly, errors in words."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from flexmbs.errors import ProjectionError
from flexmbs.projection import Projection


def random_sparse(rng, rows, columns):
    return sp.csr_array(sp.random_array((rows, columns), density=0.4, rng=rng, data_sampler=rng.normal))


@pytest.fixture
def projections(rng):
    """One of each kind of stage, all with 9 full coordinates, and a product of all."""
    select = np.delete(np.eye(9), [2, 5], axis=1)
    general, few = random_sparse(rng, 9, 6), rng.normal(size=(9, 3))
    offset = rng.normal(size=9)
    P = Projection(sp.csr_array(select), offset)
    return {
        "selection": P,
        "sparse": Projection(general, offset),
        "dense": Projection.basis(few, offset),
        "product": Projection(random_sparse(rng, 9, 9), offset)
        @ P
        @ Projection.basis(rng.normal(size=(7, 4)), rng.normal(size=7)),
        "identity": Projection.identity(9),
    }


def dense(A):
    return A.toarray() if sp.issparse(A) else np.asarray(A)


@pytest.mark.parametrize("kind", ["selection", "sparse", "dense", "product", "identity"])
def test_projecting_equals_the_dense_reference(projections, kind, rng):
    P = projections[kind]
    A = dense(P.matrix)
    X, x, columns = random_sparse(rng, 9, 9), rng.normal(size=9), rng.normal(size=(9, 4))
    assert A.shape == P.shape
    np.testing.assert_allclose(dense(P.project(X)), A.T @ X.toarray() @ A, atol=1e-13)
    np.testing.assert_allclose(P.project(X.toarray()), A.T @ X.toarray() @ A, atol=1e-13)
    np.testing.assert_allclose(P.project(x), A.T @ x, atol=1e-13)
    np.testing.assert_allclose(P.project(columns), A.T @ columns, atol=1e-13)
    np.testing.assert_allclose(dense(P.project(sp.csc_array(columns))), A.T @ columns, atol=1e-13)
    np.testing.assert_allclose(P.project_columns(X.toarray()), A.T @ X.toarray(), atol=1e-13)
    y, Y = rng.normal(size=P.shape[1]), rng.normal(size=(P.shape[1], 2)) + 1j
    np.testing.assert_allclose(P.expand(y), A @ y + P.offset, atol=1e-13)
    np.testing.assert_allclose(P.expand(Y), A @ Y + P.offset[:, None], atol=1e-13)
    np.testing.assert_allclose(P.expand_rates(Y), A @ Y, atol=1e-13)


@pytest.mark.parametrize("kind", ["selection", "sparse"])
def test_sparse_in_csr_out(projections, kind, rng):
    X = random_sparse(rng, 9, 9)
    for form in (X, X.tocsc(), sp.csr_matrix(X)):
        assert isinstance(projections[kind].project(form), sp.csr_array)
    assert isinstance(projections[kind].matrix, sp.csr_array)
    assert isinstance(projections["dense"].project(X), np.ndarray)


def test_composition_is_the_product(rng):
    P = Projection(random_sparse(rng, 8, 6), rng.normal(size=8))
    Q = Projection(random_sparse(rng, 6, 5), rng.normal(size=6))
    R = Projection.basis(rng.normal(size=(5, 2)), rng.normal(size=5))
    for product in ((P @ Q) @ R, P @ (Q @ R)):
        assert product.shape == (8, 2)
        A = P.matrix.toarray() @ Q.matrix.toarray() @ R.matrix
        np.testing.assert_allclose(product.matrix, A, atol=1e-13)
        y = rng.normal(size=2)
        np.testing.assert_allclose(product.expand(y), P.expand(Q.expand(R.expand(y))), atol=1e-13)
        np.testing.assert_allclose(product.expand(y), A @ y + product.offset, atol=1e-13)


def test_projected_system_is_the_stationary_point_on_the_range(rng):
    """K x = f on x = A y + b: the gradient of ½xᵀKx − fᵀx along A vanishes, offsets of all stages included."""
    root = rng.normal(size=(9, 9))
    K, f = sp.csr_array(root @ root.T), rng.normal(size=9)
    P = Projection(random_sparse(rng, 9, 7) + sp.eye_array(9, 7), rng.normal(size=9)) @ Projection.basis(
        rng.normal(size=(7, 3)), rng.normal(size=7)
    )
    Kr, fr = P.project_system(K, f)
    x = P.expand(np.linalg.solve(Kr, fr))
    np.testing.assert_allclose(P.matrix.T @ (K @ x - f), 0.0, atol=1e-9)
    Kr, columns = P.project_system(K, np.column_stack([f, 2 * f]))
    np.testing.assert_allclose(columns[:, 0], fr, atol=1e-12)
    with pytest.raises(ProjectionError, match=r"square, got shape \(9, 2\)"):
        P.project_system(np.ones((9, 2)), f)


@pytest.mark.parametrize("kind", ["matrix", "vector", "columns"])
def test_fused_assembly_equals_the_triple_product(assembler, blocks, rng, kind):
    shape = {"matrix": (4, 4, 4), "vector": (4, 4), "columns": (4, 4, 3)}[kind]
    given = blocks(rng.normal(size=shape), kind)
    L = assembler.matrix().toarray()
    X = given.block_diagonal().toarray() if kind == "matrix" else given.stacked()
    A = Projection.connectivity(assembler)
    fixed = Projection(sp.csr_array(np.delete(np.eye(8), [0, 3], axis=1)), rng.normal(size=8))
    modes = Projection.basis(rng.normal(size=(6, 2)))
    for P, full in ((A, L), (A @ fixed, L @ fixed.matrix.toarray()), (A @ fixed @ modes, None)):
        B = L @ fixed.matrix.toarray() @ modes.matrix if full is None else full
        expected = B.T @ X @ B if kind == "matrix" else B.T @ X
        np.testing.assert_allclose(dense(P.project(given)), expected, atol=1e-13)
        np.testing.assert_allclose(dense(P.matrix), B, atol=1e-13)
    # a general projection whose full coordinates are the element ones goes through the block-diagonal matrix
    plain = Projection(assembler.matrix())
    np.testing.assert_allclose(dense(plain.project(given)), L.T @ X @ L if kind == "matrix" else L.T @ X, atol=1e-13)


def test_columns_as_many_as_nodal_coordinates_stay_columns(assembler, blocks, rng):
    given = blocks(rng.normal(size=(4, 4, 8)), "columns")
    P = Projection.connectivity(assembler) @ Projection(sp.eye_array(8, 5, format="csr"))
    assert P.project(given).shape == (5, 8)


def test_connectivity_is_not_multiplied_out(assembler, blocks, rng, monkeypatch):
    def refuse(self):
        raise AssertionError("L was built")

    monkeypatch.setattr(type(assembler), "matrix", refuse)
    P = Projection.connectivity(assembler) @ Projection(sp.eye_array(8, 5, format="csr"), rng.normal(size=8))
    K, f = blocks(rng.normal(size=(4, 4, 4)), "matrix"), blocks(rng.normal(size=(4, 4)), "vector")
    assert P.project(K).shape == (5, 5)
    Kr, fr = P.project_system(K, f)
    full = assembler.assemble(K).toarray()
    right = assembler.assemble(f) - full @ P.stages[1].offset
    np.testing.assert_allclose(Kr.toarray(), full[:5, :5])
    np.testing.assert_allclose(fr, right[:5], atol=1e-13)
    alone = Projection.connectivity(assembler).project_system(K, f)
    np.testing.assert_allclose(alone[0].toarray(), full)


def test_connectivity_projects_plain_arrays_and_expands(assembler, rng):
    P = Projection.connectivity(assembler)
    L = assembler.matrix().toarray()
    x = rng.normal(size=16)
    np.testing.assert_allclose(P.project(x), L.T @ x)
    np.testing.assert_allclose(P.project(np.diag(x)), L.T @ np.diag(x) @ L, atol=1e-13)
    np.testing.assert_allclose(P.expand(np.arange(8.0)), L @ np.arange(8.0))


def test_selections_are_recognised(rng):
    kept = sp.csr_array(np.delete(np.eye(5), 1, axis=1))
    assert "selection" in repr(Projection(kept))
    assert "sparse" in repr(Projection(2.0 * kept))
    assert "sparse" in repr(Projection(kept[:, [1, 0, 2, 3]]))
    doubled = sp.csr_array(np.array([[1.0, 0], [1, 0], [0, 1]]))
    assert "sparse" in repr(Projection(doubled))


def test_immutable_and_independent_of_its_input(rng):
    matrix, offset = random_sparse(rng, 5, 3), np.ones(5)
    P = Projection(matrix, offset)
    before = P.matrix.toarray().copy()
    matrix.data[:] = 0.0
    offset[:] = 0.0
    np.testing.assert_array_equal(P.matrix.toarray(), before)
    np.testing.assert_array_equal(P.offset, np.ones(5))
    with pytest.raises(ValueError, match="read-only"):
        P.matrix.data[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        P.offset[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        Projection.basis(before).matrix[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        (P @ Projection.identity(3)).matrix.data[0] = 1.0
    with pytest.raises(AttributeError):
        P.stages = ()
    with pytest.raises(TypeError):
        P.points["new"] = np.arange(6)


def test_matrix_of_a_product_serves_all_of_scipy(rng):
    """Products come with unsorted rows, which SciPy sorts in place when it needs to: not possible once read-only."""
    P = Projection(random_sparse(rng, 30, 30)) @ Projection(random_sparse(rng, 30, 30))
    np.testing.assert_allclose(abs(P.matrix).toarray(), abs(P.matrix.toarray()))
    assert P.matrix.has_canonical_format


def test_identity_projects_to_the_same_numbers_but_not_the_same_array(rng):
    x = rng.normal(size=(4, 4))
    projected = Projection.identity(4).project(x)
    projected[0, 0] = 99.0
    assert x[0, 0] != 99.0


def test_errors_show_both_sizes(rng):
    P = Projection(random_sparse(rng, 5, 3))
    with pytest.raises(ProjectionError, match=r"shape \(4, 4\): this projection has 5 full coordinates \(3 reduced\)"):
        P.project(np.ones((4, 4)))
    with pytest.raises(ProjectionError, match=r"shape \(2, 5, 5\)"):
        P.project(np.ones((2, 5, 5)))
    with pytest.raises(ProjectionError, match=r"shape \(5,\): this projection has 3 reduced coordinates \(5 full\)"):
        P.expand(np.ones(5))
    with pytest.raises(ProjectionError, match="left projection has 3 reduced coordinates, the right one 5 full"):
        P @ P
    with pytest.raises(ProjectionError, match="same full coordinates, got 5 and 4"):
        P & Projection.identity(4)
    with pytest.raises(ProjectionError, match=r"offset of shape \(3,\) for 5 full"):
        Projection(P.matrix, np.zeros(3))
    with pytest.raises(ProjectionError, match=r"two dimensions .* got shape \(3,\)"):
        Projection(np.ones(3))
    with pytest.raises(ProjectionError, match="NaN"):
        Projection(np.full((2, 2), np.nan))
    with pytest.raises(ProjectionError, match="NaN"):
        Projection(np.ones((2, 2)), [np.inf, 0.0])
    with pytest.raises(TypeError):
        P @ np.ones((3, 3))
    with pytest.raises(TypeError):
        P & 3
