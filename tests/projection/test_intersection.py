"""P & Q: both hold; checked against the null space of all constraints together."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from flexmbs.errors import ProjectionError
from flexmbs.projection import Projection


def dense(P):
    return P.matrix.toarray() if sp.issparse(P.matrix) else np.asarray(P.matrix)


def common_range(P, Q):
    """Orthonormal basis of range(P) ∩ range(Q), by SVD."""
    outside = [scipy.linalg.null_space(dense(X).T).T for X in (P, Q)]
    return scipy.linalg.null_space(np.vstack(outside))


def assert_is_intersection(R, P, Q):
    reference = common_range(P, Q)
    A = dense(R)
    assert A.shape == reference.shape
    basis = scipy.linalg.orth(A)
    assert basis.shape == A.shape
    np.testing.assert_allclose(basis @ basis.T, reference @ reference.T, atol=1e-10)


CASES = {
    "fix, fix": lambda m: (Projection.fix(m, "left"), Projection.fix(m, "right", "x")),
    "fix, rigid apart": lambda m: (Projection.fix(m, "end"), Projection.rigid(m, "right")),
    "fix, rigid overlapping": lambda m: (Projection.fix(m, "left", "y"), Projection.rigid(m, "right")),
    "rigid, fix whole node": lambda m: (Projection.rigid(m, "right"), Projection.fix(m, "left")),
    "rigid, rigid sharing a node": lambda m: (Projection.rigid(m, "left"), Projection.rigid(m, "right")),
    "rigid, rigid sharing three": lambda m: (Projection.rigid(m, "top"), Projection.rigid(m, "right")),
    "averaging, fix inside": lambda m: (Projection.averaging(m, "right"), Projection.fix(m, "left")),
    "averaging, rigid": lambda m: (Projection.averaging(m, "left"), Projection.rigid(m, "right")),
    "tie, fix master": lambda m: (Projection.tie(m, [7], [0]), Projection.fix(m, "left")),
    "tie, rigid": lambda m: (Projection.tie(m, [7, 8], [0, 5]), Projection.rigid(m, "right")),
    "symmetry, rigid": lambda m: (
        Projection.symmetry(m, "left", (1.0, 2.0, 3.0)[: min(m.dofs_per_node, 3)]), Projection.rigid(m, "right"),
    ),
    "identity, rigid": lambda m: (Projection.identity(m.size), Projection.rigid(m, "right")),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("swap", [False, True])
def test_range_is_the_common_range(model, case, swap):
    P, Q = CASES[case](model)
    P, Q = (Q, P) if swap else (P, Q)
    assert_is_intersection(P & Q, P, Q)


def test_general_projections(rng):
    P = Projection.basis(rng.normal(size=(9, 6)))
    Q = Projection(sp.csr_array(rng.normal(size=(9, 7))))
    assert_is_intersection(P & Q, P, Q)
    assert (P & Q).shape == (9, 4)


def test_offsets_of_both_hold(solid, rng):
    held = Projection.fix(solid, "left", values=[0.1, 0.0, 0.2])
    hinge = Projection.constraints(sp.csr_array(([1.0, -1.0], ([0, 0], [12, 30])), shape=(1, 36)), [0.7])
    for R in (held & hinge, hinge & held):
        u = R.expand(rng.normal(size=R.shape[1]))
        np.testing.assert_allclose(u.reshape(12, 3)[:4], [[0.1, 0.0, 0.2]] * 4)
        assert u[12] - u[30] == pytest.approx(0.7)
    rigid = Projection.rigid(solid, "right") & Projection.fix(solid, [3, 4], values=0.25)
    u = rigid.expand(rng.normal(size=rigid.shape[1])).reshape(12, 3)
    np.testing.assert_allclose(u[[3, 4]], 0.25, atol=1e-13)
    r = solid.points
    assert (u[5] - u[3]) @ (r[5] - r[3]) == pytest.approx(0.0, abs=1e-13)


def test_order_of_reduced_coordinates_and_points(solid):
    P = (
        Projection.rigid(solid, "left", name="a")
        & Projection.rigid(solid, "top", name="b")
        & Projection.fix(solid, "end")
    )
    untouched = np.arange(21, 30)  # nodes 7, 8, 9
    assert P.shape == (36, 9 + 12)
    np.testing.assert_array_equal(P.matrix[untouched][:, :9].toarray(), np.eye(9))
    np.testing.assert_array_equal(P.points["a"], np.arange(9, 15))
    np.testing.assert_array_equal(P.points["b"], np.arange(15, 21))
    same = Projection.rigid(solid, "left").matrix.toarray()[:12, -6:]
    np.testing.assert_array_equal(P.matrix[:12][:, P.points["a"]].toarray(), same)


def test_points_stay_coordinates_where_others_can_give_way(solid, beam, rng):
    held = Projection.averaging(solid, "right") & Projection.fix(solid, [4], "x")
    from_rows = Projection.averaging(solid, "right").matrix
    y = rng.normal(size=held.shape[1])
    d = held.expand(y)
    point = sp.linalg.spsolve(sp.csc_array(from_rows), d)[-6:]
    np.testing.assert_allclose(point, y[held.points["right"]], atol=1e-10)
    tied = Projection.tie(beam, [7], [11]) & Projection.rigid(beam, "end")
    assert set(tied.points) == {"end"}
    np.testing.assert_allclose(tied.expand(np.eye(tied.shape[1])[:, tied.points["end"]])[42:48], np.eye(6), atol=1e-14)


def test_points_that_lose_a_coordinate_are_dropped(solid):
    P = Projection.rigid(solid, "right") & Projection.fix(solid, "left")
    assert "right" not in P.points


def test_redundant_rows_are_reported_by_node(solid):
    P = Projection.rigid(solid, "top", name="a") & Projection.rigid(solid, "right", name="b")
    assert len(P.redundant) == 3  # three shared nodes, nine equations for six coordinates
    assert all(name.startswith("node ") for name in P.redundant)
    assert not (Projection.fix(solid, "left") & Projection.fix(solid, "right")).redundant


def test_fixed_sets_stay_a_selection(model):
    both = Projection.fix(model, "left") & Projection.fix(model, "right")
    together = Projection.fix(model, ["left", "right"])
    assert "selection" in repr(both)
    np.testing.assert_array_equal(both.matrix.toarray(), together.matrix.toarray())


def test_contradictions_are_named(solid):
    with pytest.raises(ProjectionError, match=r"contradicting constraints: node 3 z is missed by 0\.5"):
        Projection.fix(solid, "left", "z", values=0.5) & Projection.fix(solid, "right", "z")
    stretched = np.array([[0.0, 0.0, 0.0], [0.1, 0.2, 0.3]])
    stretched[1] += 0.01 * (solid.points[4] - solid.points[3])
    with pytest.raises(ProjectionError, match=r"contradicting constraints: node [34]"):
        Projection.rigid(solid, "right") & Projection.fix(solid, [3, 4], values=stretched)
    with pytest.raises(ProjectionError, match="coordinate 1 is missed"):
        Projection(np.zeros((2, 0)), [0.0, 1.0]) & Projection(np.zeros((2, 0)))


def test_same_name_twice_is_refused(solid):
    with pytest.raises(ProjectionError, match="both projections of & name a point 'right'"):
        Projection.rigid(solid, "right") & Projection.averaging(solid, "right")
