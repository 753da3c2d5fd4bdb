"""Fixed, tied, mirrored and generally constrained coordinates."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from flexmbs.errors import ProjectionError
from flexmbs.projection import Projection


def motion(P, rng):
    return P.expand(rng.normal(size=P.shape[1]))


# ---- fix


def test_fixed_nodes_do_not_move_and_all_others_do(model, rng):
    P = Projection.fix(model, "left")
    u = motion(P, rng).reshape(12, -1)
    assert P.shape[1] == 8 * model.dofs_per_node
    assert np.all(u[:4] == 0.0)
    assert np.all(u[4:] != 0.0)


@pytest.mark.parametrize(
    ("components", "numbers"),
    [
        ("x", [0]),
        ("xz", [0, 2]),
        ("rx", [3]),
        (("x", "rz"), [0, 5]),
        ("xyzrz", [0, 1, 2, 5]),
        ([4, 1], [1, 4]),
        (2, [2]),
    ],
)
def test_components_by_name_and_number(beam, rng, components, numbers):
    u = motion(Projection.fix(beam, "right", components), rng).reshape(12, 6)
    assert list(np.flatnonzero(np.all(u[3:7] == 0.0, axis=0))) == numbers
    assert np.count_nonzero(u == 0.0) == 4 * len(numbers)


def test_prescribed_values_in_the_order_given(solid):
    one = Projection.fix(solid, "left", values=0.5)
    np.testing.assert_array_equal(one.offset.reshape(12, 3)[:4], 0.5)
    each = Projection.fix(solid, "left", "zx", values=[1.0, 2.0])
    np.testing.assert_array_equal(each.offset.reshape(12, 3)[:4], [[2.0, 0.0, 1.0]] * 4)
    table = Projection.fix(solid, [5, 2], "xy", values=[[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(table.offset.reshape(12, 3)[[5, 2], :2], [[1.0, 2.0], [3.0, 4.0]])
    assert np.count_nonzero(table.offset) == 4


def test_prescribed_displacement_loads_the_system(solid, rng):
    """Reactions appear only at the fixed coordinates when prescribed values enter as K·offset."""
    root = rng.normal(size=(36, 36))
    K = sp.csr_array(root @ root.T)
    P = Projection.fix(solid, ["left", "end"], values=0.1)
    Kr, fr = P.project_system(K, np.zeros(36))
    x = P.expand(np.linalg.solve(Kr.toarray(), fr))
    reaction = (K @ x).reshape(12, 3)
    np.testing.assert_array_equal(x.reshape(12, 3)[[0, 1, 2, 3, 11]], 0.1)
    np.testing.assert_allclose(reaction[4:11], 0.0, atol=1e-9)


def test_errors_of_fix(solid, plane):
    cases = [
        ({"nodes": "left", "components": "q"}, 'unknown component "q": nodes of this model have x, y, z'),
        ({"nodes": "left", "components": "rx"}, 'unknown component "rx"'),
        ({"nodes": "left", "components": 7}, "component 7 does not exist.*0 to 2"),
        ({"nodes": "left", "components": "xx"}, "each component once"),
        (
            {"nodes": "left", "values": [1.0, 2.0]},
            r"shape \(2,\) for 4 nodes with 3 components: give one number, \(3,\)",
        ),
        ({"nodes": "left", "values": np.nan}, "NaN"),
        ({"nodes": []}, "holds no nodes"),
        ({"nodes": [40]}, "node 40 does not exist: the model has nodes 0 to 11"),
        ({"nodes": [0.5]}, "set names or a list of node numbers"),
        ({"nodes": np.ones(12, dtype=bool)}, "not by a mask"),
        ({"nodes": [2, 2], "components": "x", "values": [[1.0], [2.0]]}, "node 2 is listed twice"),
    ]
    for arguments, words in cases:
        with pytest.raises(ProjectionError, match=words):
            Projection.fix(solid, **arguments)
    with pytest.raises(ProjectionError, match=r"nodes of this model have x, y$"):
        Projection.fix(plane, "left", "z")


# ---- tie


def test_tied_nodes_move_together_in_the_order_given(model, rng):
    P = Projection.tie(model, [7, 2], [1, 9])
    u = motion(P, rng).reshape(12, -1)
    np.testing.assert_array_equal(u[[7, 2]], u[[1, 9]])
    assert P.shape[1] == 10 * model.dofs_per_node
    # masters stay coordinates of their own
    assert np.all(np.diff(P.matrix.indptr) == 1)


def test_tied_sets_are_matched_by_position(solid, rng):
    solid.points[[4, 5, 6]] = solid.points[[2, 0, 1]] + 1e-9
    solid.sets["slave"], solid.sets["master"] = [4, 5, 6, 3], [0, 1, 2, 3]
    u = motion(Projection.tie(solid, "slave", "master"), rng).reshape(12, 3)
    np.testing.assert_array_equal(u[[4, 5, 6]], u[[2, 0, 1]])
    u = motion(Projection.tie(solid, "slave", "master", components="z"), rng).reshape(12, 3)
    np.testing.assert_array_equal(u[4:7, 2], u[[2, 0, 1], 2])
    assert np.all(u[4:7, :2] != u[[2, 0, 1], :2])


def test_chains_and_circles_of_ties(solid, rng):
    P = Projection.tie(solid, [1, 2, 0], [0, 1, 2])
    u = motion(P, rng).reshape(12, 3)
    np.testing.assert_allclose(u[[0, 1]], u[[2, 2]], atol=1e-15)
    assert P.shape[1] == 30
    assert len(P.redundant) == 3
    assert "tied to node" in P.redundant[0]


def test_errors_of_tie(solid):
    with pytest.raises(ProjectionError, match="2 slaves and 1 masters"):
        Projection.tie(solid, [1, 2], [3])
    with pytest.raises(
        ProjectionError, match=r'1 of 1 nodes of set "end" have no partner in set "left".*node 11 misses'
    ):
        Projection.tie(solid, "end", "left")
    assert Projection.tie(solid, "end", "left", tolerance=100.0).shape == (36, 33)


# ---- general constraints


def test_multi_point_constraints_hold(rng):
    B = sp.csr_array(sp.random_array((6, 40), density=0.1, rng=rng, data_sampler=rng.normal))
    c = rng.normal(size=6)
    P = Projection.constraints(B, c)
    np.testing.assert_allclose(B @ motion(P, rng), c, atol=1e-12)
    assert P.shape == (40, 34)
    assert np.linalg.matrix_rank(P.matrix.toarray()) == 34
    touched = np.unique(B.indices)
    others = np.setdiff1d(np.arange(40), touched)
    assert np.all(np.diff(P.matrix.indptr)[others] == 1)
    np.testing.assert_array_equal(P.matrix[others].data, 1.0)


def test_redundant_and_contradicting_rows_are_told_apart():
    B = sp.csr_array(np.array([[1.0, -1, 0, 0], [0, 1, -1, 0], [2, 0, -2, 0]]))
    labels = ["first", "second", "twice their sum"]
    P = Projection.constraints(B, [1.0, 2.0, 6.0], labels)
    assert P.shape == (4, 2)
    assert len(P.redundant) == 1
    assert Projection.constraints(B, [1.0, 2.0, 6.0]).redundant == (labels.index(P.redundant[0]),)
    with pytest.raises(ProjectionError, match="contradicting constraints") as caught:
        Projection.constraints(B, [1.0, 2.0, 5.0], labels)
    assert all(label in str(caught.value) for label in labels)


def test_tolerance_and_kept_coordinates():
    B = sp.csr_array(np.array([[1.0, 1, 0], [1, 1 + 1e-6, 0]]))
    assert Projection.constraints(B).shape == (3, 1)
    assert Projection.constraints(B, tol=1e-4).shape == (3, 2)
    kept = Projection.constraints(sp.csr_array([[3.0, 1.0, 0.0]]), keep=[0])
    np.testing.assert_allclose(kept.matrix.toarray(), [[1, 0], [-3, 0], [0, 1]])


def test_chain_of_many_coupled_constraints_is_exact(rng):
    """Second differences vanish: every motion is linear along the chain; far too long for dense elimination."""
    m = 20_000
    B = sp.diags_array([np.ones(m), np.full(m, -2.0), np.ones(m)], offsets=[0, 1, 2], shape=(m, m + 2), format="csr")
    P = Projection.constraints(B, keep=[0, m + 1])
    assert P.shape == (m + 2, 2)
    u = P.expand(np.array([1.0, 3.0]))
    np.testing.assert_allclose(u, np.linspace(1.0, 3.0, m + 2), atol=1e-7)
    c = np.full(m, 2.0 / (m + 1) ** 2)
    parabola = Projection.constraints(B, c, keep=[0, m + 1]).expand(np.array([0.0, 1.0]))
    np.testing.assert_allclose(parabola, np.linspace(0.0, 1.0, m + 2) ** 2, atol=1e-7)


def test_hanging_nodes_of_a_large_interface(rng):
    """Slaves are means of shared masters (one component), some of it said twice, one of it contradicting."""
    k = 1500
    slaves, masters = np.arange(k), k + np.arange(k)
    B = sp.lil_array((k + 2, 2 * k + 1))
    B[slaves, slaves] = 1.0
    B[slaves, masters] = -0.5
    B[slaves, masters + 1] = -0.5
    B[k, [0, 1]] = 1.0
    B[k, [k, k + 1, k + 2]] = [-0.5, -1.0, -0.5]
    B[k + 1] = 3.0 * B[[7]].toarray()[0]
    B = sp.csr_array(B)
    c = np.zeros(k + 2)
    P = Projection.constraints(B, c)
    u = motion(P, rng)
    np.testing.assert_allclose(u[slaves], 0.5 * (u[masters] + u[masters + 1]), atol=1e-12)
    assert P.shape == (2 * k + 1, k + 1)
    assert len(P.redundant) == 2
    assert P.matrix.nnz <= 4 * k
    c[k + 1] = 0.5
    with pytest.raises(ProjectionError, match=r"row (7|1501) is missed by .* once row (7|1501) hold"):
        Projection.constraints(B, c)


def test_errors_of_constraints():
    B = sp.csr_array(np.eye(2, 3))
    with pytest.raises(ProjectionError, match=r"B has 2 rows, c has shape \(3,\)"):
        Projection.constraints(B, np.ones(3))
    with pytest.raises(ProjectionError, match="1 labels for 2 constraint rows"):
        Projection.constraints(B, labels=["one"])
    with pytest.raises(ProjectionError, match="NaN"):
        Projection.constraints(sp.csr_array([[np.nan, 1.0]]))


# ---- symmetry


@pytest.mark.parametrize("normal", ["x", "y", (1.0, 2.0, -0.5), (3.0, -4.0, 0.0)])
def test_mirror_plane(model, rng, normal):
    d = min(model.dofs_per_node, 3)
    if d == 2 and not isinstance(normal, str):
        normal = normal[:2]
    n = np.eye(3)["xyz".index(normal)][:d] if isinstance(normal, str) else np.array(normal) / np.linalg.norm(normal)
    P = Projection.symmetry(model, "left", normal)
    u = motion(P, rng).reshape(12, -1)
    np.testing.assert_allclose(u[:4, :d] @ n, 0.0, atol=1e-14)
    if model.dofs_per_node == 6:
        np.testing.assert_allclose(np.cross(u[:4, 3:], n), 0.0, atol=1e-14)
    assert P.shape[1] == model.size - 4 * (3 if model.dofs_per_node == 6 else 1)
    A = P.matrix.toarray()
    np.testing.assert_allclose(A.T @ A, np.eye(P.shape[1]), atol=1e-14)  # a rotation: nothing else is lost or scaled


def test_errors_of_symmetry(solid, plane):
    with pytest.raises(ProjectionError, match='unknown axis "w": use x, y, z or a vector'):
        Projection.symmetry(solid, "left", "w")
    with pytest.raises(ProjectionError, match="3 numbers, not all zero"):
        Projection.symmetry(solid, "left", [0.0, 0.0, 0.0])
    with pytest.raises(ProjectionError, match="2 numbers"):
        Projection.symmetry(plane, "left", [0.0, 0.0, 1.0])
