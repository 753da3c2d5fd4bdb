"""Newton's matrix of a step is the derivative of its residual, for all joints, bodies and random states."""

from __future__ import annotations

import numpy as np
import pytest

from flexmbs.bodies import Ground, PlanarBody, PointMass, RigidBody
from flexmbs.fem.loads import Gravity
from flexmbs.joints import planar, spatial
from flexmbs.joints.drives import Drive, gear
from flexmbs.system.elimination import factor_arrays, factorise, substitute
from flexmbs.system.evaluate import evaluate_all, retract, work_arrays
from flexmbs.system.newton import newton_system, scratch_arrays
from flexmbs.system.saddle import accelerations, velocity_unknowns
from flexmbs.system.system import System

SCALE, C_M, C_D = 0.7, 1.3, 0.9


def brick(name, **initial):
    return RigidBody(name, 2.0, np.diag([0.05, 1.01, 1.04]) / 6, center=(0.5, 0.1, 0.05), **initial)


def slab(name, **initial):
    return PlanarBody(name, 2.0, 0.3, center=(0.2, 0.1), **initial)


JOINTS = {
    "fixed": lambda i, j: spatial.Fixed("j", i, j),
    "revolute": lambda i, j: spatial.Revolute("j", i, j, axis=(1, 2, 3)),
    "prismatic": lambda i, j: spatial.Prismatic("j", i, j, axis=(1, 2, 3)),
    "cylindrical": lambda i, j: spatial.Cylindrical("j", i, j, axis="y"),
    "screw": lambda i, j: spatial.Screw("j", i, j, pitch=0.3),
    "spherical": lambda i, j: spatial.Spherical("j", i, j),
    "universal": lambda i, j: spatial.Universal("j", i, j),
    "plane": lambda i, j: spatial.PlaneJoint("j", i, j, axis=(0, 1, 2)),
    "point on line": lambda i, j: spatial.PointOnLine("j", i, j),
    "point in plane": lambda i, j: spatial.PointInPlane("j", i, j, axis="x"),
    "distance": lambda i, j: spatial.Distance("j", i, j, length=0.5),
    "rolling disc": lambda i, j: spatial.RollingDisc("j", i, j, radius=0.7, axis=(1, 2, 0.5), normal=(0.2, 0.3, 1)),
    "knife edge": lambda i, j: spatial.KnifeEdge("j", i, j, axis=(1, 2, 3)),
}
PLANAR = {
    "revolute": lambda i, j: planar.Revolute("j", i, j),
    "prismatic": lambda i, j: planar.Prismatic("j", i, j, axis=(1, 1)),
    "point on line": lambda i, j: planar.PointOnLine("j", i, j),
    "distance": lambda i, j: planar.Distance("j", i, j, length=0.5),
    "rolling": lambda i, j: planar.Rolling("j", i, j, axis=(1, 2), radius=0.4),
    "knife edge": lambda i, j: planar.KnifeEdge("j", i, j, axis=(1, 2)),
}
pytestmark = pytest.mark.filterwarnings("ignore:the joints do not fit")  # poses are guesses here
GRAVITY = Gravity((1.0, -2.0, -9.81))


def residual(system, stages, scratch, factors, x, multipliers, matrix=False):
    """Residual of a step in which x is the increment, and v and v' are multiples of it."""
    layout, _, where = system.elimination
    state, q, out = system.initial, np.zeros(system.n_q), np.zeros(len(factors.order))
    retract(layout, state.q, x, q)
    evaluate_all(layout, system.prescribed(0.0), state.angles, q, C_D * x, stages)
    newton_system(
        layout, where, C_D * x, C_M * x, x, multipliers, SCALE, C_M, C_D, stages, scratch, matrix, factors.data, out
    )
    return out


def tangent_error(system, rng):
    """Largest difference between Newton's matrix and differences of the residual, relative to the largest entry."""
    layout, p, where = system.elimination
    stages, scratch, factors = work_arrays(layout), scratch_arrays(layout, where), factor_arrays(p)
    x, multipliers = 0.3 * rng.normal(size=system.n_v), rng.normal(size=layout.n_rows)
    residual(system, stages, scratch, factors, x, multipliers, matrix=True)
    dense = dense_matrix(p, factors.data)
    unknown = np.concatenate([velocity_unknowns(layout, where), where.row_unknown])
    h, n = 1e-6, system.n_v
    numeric = np.zeros_like(dense)
    for k, e in enumerate(h * np.eye(len(unknown))):
        ahead, behind = (
            residual(system, stages, scratch, factors, x + s * e[:n], multipliers + s * e[n:]) for s in (1, -1)
        )
        numeric[:, unknown[k]] = (ahead - behind) / (2 * h)
    return np.abs(dense - numeric).max() / np.abs(numeric).max()


def dense_matrix(p, data):
    """What the fronts hold, as one matrix."""
    out = np.zeros((p.unknowns, p.unknowns))
    for k in range(len(p.size)):
        front = data[p.front[k] : p.front[k] + p.width[k] * p.stride[k]].reshape(p.width[k], p.stride[k])
        later = range(p.start[k], p.start[k + 1])
        places = [np.arange(p.first[k], p.first[k] + p.size[k])]
        places += [p.first[p.neighbour[s]] + np.arange(p.coupling[p.neighbour[s]]) for s in later]
        index = np.concatenate(places)
        out[np.ix_(index, index)] += front[:, : p.width[k]]
    return out


@pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS.keys())
def test_joints_between_rigid_bodies(joint):
    ground, first, second = Ground(), brick("first", position=(0, 0, 0)), brick("second")
    ball = spatial.Spherical("ball", ground.at(0, 0, 0), first.at(0.1, 0.2, 0.3))
    own = joint(first.at(1, 0.2, 0.3, axes=(0.1, 0.2, 0.3)), second.at(0.1, 0.2, 0.1))
    system = System([ground, first, second], [ball, own], [GRAVITY])
    assert tangent_error(system, np.random.default_rng(7)) < 1e-8


@pytest.mark.parametrize("joint", PLANAR.values(), ids=PLANAR.keys())
def test_joints_between_planar_bodies(joint):
    ground, first, second = Ground(), slab("first", position=(0, 0)), slab("second")
    pin = planar.Revolute("pin", ground.at(0, 0), first.at(0.1, 0.1))
    system = System([ground, first, second], [pin, joint(first.at(1, 1), second.at(0.2, 0.2))], [GRAVITY])
    assert tangent_error(system, np.random.default_rng(7)) < 1e-8


def mixed_mechanism(order=(0, 1, 2, 3, 4)):
    """Rigid, planar and point bodies in one mechanism, with a loop, a drive and a gear."""
    ground, arm, rod, slider, mass = bodies = [
        Ground(),
        slab("arm", position=(0, 0)),
        brick("rod"),
        brick("slider"),
        PointMass("mass", 1.5, position=(0.4, 0.9, 0.2)),
    ]
    pin = planar.Revolute("pin", ground.at(0, 0), arm.at(0, 0), start=0.3)
    cross = spatial.Universal("cross", arm.at(0.5, 0, 0), rod.at(0, 0, 0), axis="x", cross="z")
    rail = spatial.Cylindrical("rail", ground.at(0, 0.2, 0), slider.at(0, 0, 0), axis="x", start=1.2)
    ball = spatial.Spherical("ball", rod.at(1, 0, 0), slider.at(0, 0.1, 0))
    string = spatial.Distance("string", arm.at(0.2, 0.1, 0), mass.at(), length=0.9)
    drive, wheels = Drive("drive", pin.angle, 0.3), gear("wheels", rail.angle, pin.angle, 0.5)
    joints = [pin, cross, rail, ball, string, drive, wheels]
    return System([bodies[k] for k in order], joints, [GRAVITY])


def test_mixed_bodies_loops_drives_and_gears():
    assert tangent_error(mixed_mechanism(), np.random.default_rng(7)) < 1e-8


def test_elimination_solves_the_assembled_matrix():
    rng = np.random.default_rng(7)
    system = mixed_mechanism()
    layout, p, where = system.elimination
    stages, scratch, factors = work_arrays(layout), scratch_arrays(layout, where), factor_arrays(p)
    x, multipliers = 0.1 * rng.normal(size=system.n_v), rng.normal(size=layout.n_rows)
    b = residual(system, stages, scratch, factors, x, multipliers, matrix=True)
    dense, solution = dense_matrix(p, factors.data), b.copy()
    assert factorise(p, factors, 1e-12) == 0
    substitute(p, factors, solution)
    np.testing.assert_allclose(solution, np.linalg.solve(dense, b), atol=1e-9 * np.abs(solution).max())


@pytest.mark.parametrize("order", [(4, 3, 2, 1, 0), (2, 0, 4, 1, 3)])
def test_accelerations_do_not_depend_on_the_order_of_bodies(order):
    def by_body(system):
        state = system.initial
        work = system.evaluate(0.0, state.q, state.v, state.angles)
        rate, multipliers = accelerations(*system.elimination, state.v, work)
        first = system.layout.body_v
        return {b.name: rate[first[k] : first[k + 1]] for k, b in enumerate(system.bodies)}, multipliers

    (expected, reactions), (found, others) = by_body(mixed_mechanism()), by_body(mixed_mechanism(order))
    for name, rate in expected.items():
        np.testing.assert_allclose(found[name], rate, atol=1e-8)
    np.testing.assert_allclose(others, reactions, atol=1e-7)


def test_accelerations_equal_dense_saddle_point():
    system = mixed_mechanism()
    state = system.initial
    v = state.v
    work = system.evaluate(0.0, state.q, v, state.angles)
    rate, multipliers = accelerations(*system.elimination, v, work)
    e = system.equations(0.0, state.q, v, state.angles)
    mass, jacobian = np.asarray(e.M.todense()), np.asarray(e.J.todense())
    dense = np.block([[mass, -jacobian.T], [jacobian, np.zeros((len(jacobian), len(jacobian)))]])
    expected = np.linalg.solve(dense, np.concatenate([e.f, e.gamma]))
    np.testing.assert_allclose(np.concatenate([rate, multipliers]), expected, atol=1e-8 * np.abs(expected).max())
