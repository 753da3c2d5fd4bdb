"""Rigid and averaging interfaces: exact rigid motions, mean motions, and the virtual work of point loads."""

from __future__ import annotations

import numpy as np
import pytest

from flexmbs.errors import ProjectionError
from flexmbs.projection import Projection, averaging_rows

PLACES = (None, (0.3, -1.2, 0.0))


def rigid_motion(model, U, theta, point):
    """Nodal coordinates of the linearised rigid motion with displacement U and rotation θ at a point."""
    u = U + np.cross(theta, model.points - point)
    if model.dofs_per_node == 6:
        return np.hstack([u, np.broadcast_to(theta, u.shape)]).ravel()
    return u[:, : min(model.dofs_per_node, 3)].ravel()


def random_motion(model, rng):
    U, theta = rng.normal(size=3), rng.normal(size=3)
    if model.dofs_per_node == 2:
        U[2] = theta[0] = theta[1] = 0.0
        return U, theta, np.array([U[0], U[1], theta[2]])
    return U, theta, np.concatenate([U, theta])


def centre(model, name, at):
    return model.weights(name) @ model.points[model.nodes(name)] if at is None else np.array(at)


@pytest.mark.parametrize("at", PLACES)
def test_rigid_interface_reproduces_rigid_motions(model, rng, at):
    P = Projection.rigid(model, "right", name="pin", at=at)
    U, theta, point = random_motion(model, rng)
    d = rigid_motion(model, U, theta, centre(model, "right", at))
    others = np.setdiff1d(np.arange(12), model.nodes("right"))
    y = np.concatenate([d.reshape(12, -1)[others].ravel(), point])
    np.testing.assert_allclose(P.expand(y), d, atol=1e-14)
    np.testing.assert_array_equal(P.points["pin"], np.arange(P.shape[1] - len(point), P.shape[1]))


def test_rigid_interface_keeps_distances_for_any_coordinates(solid, rng):
    P = Projection.rigid(solid, "right")
    u = P.expand(rng.normal(size=P.shape[1])).reshape(12, 3)[3:7]
    r = solid.points[3:7]
    stretch = np.einsum("ijk,ijk->ij", u[:, None] - u[None], r[:, None] - r[None])
    np.testing.assert_allclose(stretch, 0.0, atol=1e-13)


@pytest.mark.parametrize("at", PLACES)
def test_averaging_rows_recover_rigid_motions(model, rng, at):
    B, point = averaging_rows(model, "right", at)
    np.testing.assert_allclose(point, centre(model, "right", at))
    U, theta, expected = random_motion(model, rng)
    np.testing.assert_allclose(B @ rigid_motion(model, U, theta, point), expected, atol=1e-13)


def test_averaging_rotation_is_the_weighted_least_squares_one(solid, rng):
    B, point = averaging_rows(solid, "right")
    u = rng.normal(size=(12, 3))
    nodes, w = solid.nodes("right"), solid.weights("right")
    r = solid.points[nodes] - point
    rows = np.concatenate([np.hstack([np.eye(3), [[0, z, -y], [-z, 0, x], [y, -x, 0]]]) for x, y, z in r])
    root = np.repeat(np.sqrt(w), 3)
    best = np.linalg.lstsq(root[:, None] * rows, root * u[nodes].ravel(), rcond=None)[0]
    np.testing.assert_allclose(B @ u.ravel(), best, atol=1e-12)


@pytest.mark.parametrize("at", PLACES)
def test_mean_motion_equals_the_points_coordinates(model, rng, at):
    P = Projection.averaging(model, "right", name="pin", at=at)
    assert P.shape == (model.size, model.size)
    y = rng.normal(size=P.shape[1])
    B, _ = averaging_rows(model, "right", at)
    np.testing.assert_allclose(B @ P.expand(y), y[P.points["pin"]], atol=1e-12)
    # all the other reduced coordinates are nodal ones, unchanged, and the whole is invertible
    count = len(P.points["pin"])
    assert np.count_nonzero(np.diff(P.matrix.indptr) == 1) >= model.size - count
    assert np.linalg.matrix_rank(P.matrix.toarray()) == model.size


@pytest.mark.parametrize("at", PLACES)
@pytest.mark.parametrize("kind", ["rigid", "averaging"])
def test_virtual_work_of_a_point_load(solid, rng, at, kind):
    """A wrench on the point is worth nodal forces with the same resultant force and moment, and none elsewhere."""
    B, point = averaging_rows(solid, "right", at)
    wrench = rng.normal(size=6)
    forces = (B.T @ wrench).reshape(12, 3)
    np.testing.assert_allclose(forces.sum(axis=0), wrench[:3], atol=1e-12)
    np.testing.assert_allclose(np.cross(solid.points - point, forces).sum(axis=0), wrench[3:], atol=1e-12)
    assert np.all(forces[[0, 1, 2, 7, 8, 9, 10, 11]] == 0.0)
    P = getattr(Projection, kind)(solid, "right", at=at)
    reduced = P.project(forces.ravel())
    expected = np.zeros(P.shape[1])
    expected[P.points["right"]] = wrench
    np.testing.assert_allclose(reduced, expected, atol=1e-11)


def test_pure_force_at_the_centroid_is_spread_by_weight(solid):
    B, _ = averaging_rows(solid, "right")
    forces = (B.T @ np.array([0.0, 2.0, 0.0, 0.0, 0.0, 0.0])).reshape(12, 3)
    np.testing.assert_allclose(forces[solid.nodes("right"), 1], 2.0 * solid.weights("right"), atol=1e-15)


def test_several_sets_and_node_numbers_as_one_interface(solid, rng):
    union = Projection.rigid(solid, ["left", "right"], name="both")
    numbers = Projection.rigid(solid, [6, 5, 4, 3, 2, 1, 0], name="both")
    np.testing.assert_allclose(union.matrix.toarray(), numbers.matrix.toarray())
    assert not Projection.rigid(solid, [0, 1, 2]).points


def test_one_beam_node_is_an_interface(beam, rng):
    for make in (Projection.rigid, Projection.averaging):
        P = make(beam, "end", at=(0.0, 0.0, 0.0))
        y = rng.normal(size=P.shape[1])
        U, theta = y[P.points["end"]].reshape(2, 3)
        node = P.expand(y)[66:]
        np.testing.assert_allclose(node[:3], U + np.cross(theta, beam.points[11]), atol=1e-12)
        np.testing.assert_allclose(node[3:], theta, atol=1e-12)


def test_points_survive_composition(solid):
    P = Projection.fix(solid, "left")
    reduced = Projection.identity(36) @ Projection.rigid(solid, "right")
    np.testing.assert_array_equal(reduced.points["right"], np.arange(24, 30))
    assert not (Projection.rigid(solid, "right") @ Projection.identity(30)).points
    assert not P.points


@pytest.mark.parametrize("make", [Projection.rigid, Projection.averaging])
def test_sets_without_a_rotation_are_refused(solid, plane, make):
    with pytest.raises(ProjectionError, match=r'set "line": 3 nodes on one line cannot define a rotation.*three nodes'):
        make(solid, "line")
    with pytest.raises(ProjectionError, match=r'set "end": 1 node cannot define a rotation'):
        make(solid, "end")
    with pytest.raises(ProjectionError, match=r"1 node cannot define a rotation.*two separate nodes"):
        make(plane, [4])
    solid.points[[4, 5]] = solid.points[3]
    with pytest.raises(ProjectionError, match=r"nodes 3, 4, 5: 3 nodes in one place"):
        make(solid, [3, 4, 5])
    assert make(plane, "line").points["line"].shape == (3,)


def test_errors_of_interfaces(solid, plane):
    with pytest.raises(ProjectionError, match=r"3 finite coordinates, got at=\(1.0, 2.0\)"):
        Projection.rigid(solid, "right", at=(1.0, 2.0))
    flat = Projection.rigid(plane, "right", at=(1.0, 2.0))
    np.testing.assert_array_equal(
        flat.matrix.toarray(), Projection.rigid(plane, "right", at=(1, 2, 0)).matrix.toarray()
    )
    with pytest.raises(ProjectionError, match="holds no nodes"):
        Projection.averaging(solid, [])
