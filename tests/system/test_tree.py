"""Trees: their coordinates fulfil the joints, and their O(N) dynamics is that of Lagrange's multipliers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from random_trees import moved, random_tree

import flexmbs as fm
from flexmbs.errors import ModelError, ProjectionError
from flexmbs.system.tree_kinematics import tree_retract, tree_speeds


@pytest.fixture(scope="module", params=range(3))
def tree_at(request: Any) -> tuple[Any, ...]:
    system = random_tree(request.param)
    return (system, *moved(system, request.param))


def test_any_coordinates_fulfil_the_joints(tree_at: Any) -> None:
    system, x, _, q, v = tree_at
    screws = {system.measure_number(j.angle): j for j in system.joints if isinstance(j, fm.Screw)}
    angles = np.zeros(len(system.layout.measure_kind))
    for m, joint in screws.items():
        angles[m] = x[system.tree.arrays.at[system.tree.names.index(f"{joint.name}.angle")]]
    work = system.evaluate(0.0, q, v, angles)
    assert system.tree.closing == ()
    assert_allclose(work.phi, 0.0, atol=1e-13)
    assert_allclose(work.phi_rate, 0.0, atol=1e-12)


def test_coordinates_and_speeds_are_found_again(tree_at: Any) -> None:
    system, _, u, q, v = tree_at
    tree = system.tree
    again = tree.coordinates(q)
    assert_allclose(tree.speeds(again, v), u, atol=1e-12)
    assert_allclose(tree.state(again, u, q)[0], q, atol=1e-12)


def test_transformation_spans_what_the_rows_leave_free(tree_at: Any) -> None:
    system, x, u, q, v = tree_at
    through = system.tree.transformation(x)
    assert_allclose(through @ u, v, atol=1e-12)
    rows = system.equations(0.0, q, v).J
    assert_allclose((rows @ through).toarray(), 0.0, atol=1e-12)
    assert (
        np.linalg.matrix_rank(through.toarray())
        == system.tree.n_u
        == system.n_v - np.linalg.matrix_rank(rows.toarray())
    )


def test_articulated_bodies_give_the_accelerations_of_multipliers(tree_at: Any) -> None:
    """With v' = A u' + a, A and a as the rows and M have them: a is the least that fulfils J v' = γ, up to A."""
    system, x, u, q, v = tree_at
    tree, equations = system.tree, system.equations(0.0, q, v)
    expected = fm.Multipliers().solve(equations).accelerations
    found = np.zeros(tree.n_u)
    own, _ = tree.evaluated(0.0, x, u)
    tree_speeds(tree.arrays, expected, own, found, True)
    assert_allclose(tree.accelerations(0.0, x, u), found, atol=1e-10 * np.abs(found).max())
    h = 1e-6  # the relative accelerations are the rates of the speeds, seen from the motion itself
    later, earlier = ({"x": np.zeros(tree.n_x)} for _ in range(2))
    for place, sign in ((later, 1.0), (earlier, -1.0)):
        tree_retract(tree.arrays, x, sign * h * u, place["x"])
        place["v"] = tree.transformation(place["x"]) @ (u + sign * h * found)
    slope = (later["v"] - earlier["v"]) / (2 * h)
    assert_allclose(slope, expected, atol=1e-6 * np.abs(expected).max())


def test_recursive_newton_euler_inverts_the_articulated_bodies(tree_at: Any) -> None:
    system, x, u, _, _ = tree_at
    tree, rng = system.tree, np.random.default_rng(5)
    tau = rng.normal(size=tree.n_u)
    rate = tree.accelerations(0.3, x, u, tau)
    assert_allclose(tree.forces(0.3, x, u, rate), tau, atol=1e-11)


def test_mass_matrix_is_the_projected_one(tree_at: Any) -> None:
    system, x, _, q, v = tree_at
    through = system.tree.transformation(x)
    assert_allclose(system.tree.mass(x), (through.T @ system.equations(0.0, q, v).M @ through).toarray(), atol=1e-12)


# ---- loops ----------------------------------------------------------------------------------------------------------


def four_bar() -> fm.System:
    """Of spatial revolutes: three rows of the loop are redundant."""
    ground = fm.Ground()
    bars = [fm.RigidBody.box(n, (length, 0.05, 0.05), 1000.0) for n, length in (("a", 1.0), ("b", 2.0), ("c", 1.5))]
    ends = [ground.at(0, 0, 0), bars[0].at(0.5, 0, 0), bars[1].at(1.0, 0, 0), bars[2].at(0.75, 0, 0)]
    starts = [bars[0].at(-0.5, 0, 0), bars[1].at(-1.0, 0, 0), bars[2].at(-0.75, 0, 0), ground.at(2.0, 0, 0)]
    angles = (1.2, -0.9, -1.5, None)
    joints = [
        fm.Revolute(f"pin {k}", i, j, start=a) for k, (i, j, a) in enumerate(zip(ends, starts, angles, strict=True))
    ]
    return fm.System([ground, *bars], joints, [fm.Gravity((0.0, -9.81, 0.0))])


def test_projector_of_a_loop_spans_its_motions() -> None:
    system = four_bar()
    tree, start = system.tree, system.initial
    assert len(tree.closing) == 1
    assert tree.n_u == 3
    projector = tree.projector(tree.coordinates(start.q))
    assert projector.shape == (18, 1)
    rows = system.jacobian(system.evaluate(0.0, start.q, start.v))
    assert_allclose((rows @ projector).toarray(), 0.0, atol=1e-12)
    assert [tuple(h.motion.freedoms[0].name for _ in [0]) for h in tree.hangings] == [("angle",)] * 3


def test_maggi_takes_the_projector_from_topology() -> None:
    system = four_bar()
    tree, start = system.tree, system.initial
    equations = system.equations(0.0, start.q, start.v)
    projector = tree.projector(tree.coordinates(start.q))
    expected = fm.Multipliers().solve(equations)
    found = fm.Maggi(projector=projector).solve(equations)
    assert_allclose(found.accelerations, expected.accelerations, atol=1e-10)
    assert_allclose(found.multipliers, expected.multipliers, atol=1e-8)
    with pytest.raises(ProjectionError, match=r"another position"):
        fm.Maggi(projector=tree.projector(tree.coordinates(start.q) + 0.1)).solve(equations)
    with pytest.raises(ProjectionError, match=r"1 free motions: \(18, 1\) is needed"):
        fm.Maggi(projector=np.eye(18)).solve(equations)
    with pytest.raises(ProjectionError, match=r"not both"):
        fm.Maggi(projector=projector, speeds=[0])


def test_joints_with_the_least_freedom_make_the_tree() -> None:
    ground = fm.Ground()
    one, two = (fm.RigidBody(n, 1.0, (1.0, 1.0, 1.0)) for n in ("one", "two"))
    joints = [
        fm.Spherical("ball", ground.at(0, 0, 0), one.at(0, 0, 0)),
        fm.Revolute("hinge", ground.at(0, 0, 0), one.at(0, 0, 0)),
        fm.Prismatic("rail", one.at(0, 0, 0), two.at(0, 0, 0), axis="x"),
    ]
    tree = fm.System([ground, one, two], joints).tree
    assert tree.names == ("hinge.angle", "rail.distance")
    assert tree.closing == ("ball",)


def test_planar_bodies_and_points_have_their_own_freedoms() -> None:
    ground, plate, point = fm.Ground(), fm.PlanarBody("plate", 1.0, 1.0), fm.PointMass("point", 1.0)
    rod = fm.Distance("rod", plate.at(0.1, 0.0), point.at(), length=1.0)
    tree = fm.System([ground, plate, point], [rod]).tree
    assert tree.names == ("plate.x", "plate.y", "plate.angle", "point.x", "point.y", "point.z")
    assert tree.closing == ("rod",)


# ---- matrices -------------------------------------------------------------------------------------------------------


def christoffel(system: fm.System, x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """C of Christoffel's symbols, by differences of M."""
    tree, n, h = system.tree, len(x), 1e-5
    slopes = np.array([(tree.mass(x + h * e) - tree.mass(x - h * e)) / (2 * h) for e in np.eye(n)])  # k, i, j
    symbols = (np.einsum("kij->ijk", slopes) + np.einsum("jik->ijk", slopes) - np.einsum("ijk->ijk", slopes)) / 2
    return np.asarray(symbols @ u)


def test_matrix_form_is_that_of_christoffel() -> None:
    system = random_tree(1, kinds=(0, 3, 4, 5, 2, 0), count=6, loose=False)
    x, u, q, v = moved(system, 4)
    form = fm.matrix_form(system, q, v)
    x = form.coordinates
    assert_allclose(form.mass, system.tree.mass(x), atol=1e-12)
    assert_allclose(form.coriolis, christoffel(system, x, u), atol=1e-7)
    assert_allclose(form.coriolis @ u + form.gravity, system.tree.forces(0.0, x, u, np.zeros(len(u))), atol=1e-11)
    rest = fm.matrix_form(system, q, np.zeros_like(v))
    assert_allclose(rest.coriolis, 0.0, atol=1e-14)


@pytest.mark.parametrize("seed", range(2))
def test_mass_rate_less_twice_coriolis_is_skew_also_with_balls(seed: int) -> None:
    system = random_tree(seed)
    x, u, q, v = moved(system, seed)
    tree, form, h = system.tree, fm.matrix_form(system, q, v), 1e-5
    x = form.coordinates
    ends = [np.zeros(tree.n_x), np.zeros(tree.n_x)]
    for sign, end in zip((1.0, -1.0), ends, strict=True):
        tree_retract(tree.arrays, x, sign * h * u, end)
    rate = (tree.mass(ends[0]) - tree.mass(ends[1])) / (2 * h)
    difference = rate - 2 * form.coriolis
    assert np.abs(difference + difference.T).max() < 1e-7 * np.abs(rate).max()
    assert np.abs(difference).max() > 1e-3 * np.abs(rate).max()


# ---- words ----------------------------------------------------------------------------------------------------------


def test_matrix_form_of_a_loop_is_refused_in_words() -> None:
    with pytest.raises(ModelError, match=r"open chains only, but pin"):
        fm.matrix_form(four_bar())


def test_wrong_sizes_are_refused_in_words() -> None:
    tree = four_bar().tree
    with pytest.raises(ModelError, match=r"x has shape \(2,\), but the tree has 3"):
        tree.mass(np.zeros(2))
    with pytest.raises(ModelError, match=r"tau has shape"):
        tree.accelerations(0.0, np.zeros(3), np.zeros(3), np.zeros(1))


def test_a_position_that_a_joint_cannot_reach_is_refused_in_words() -> None:
    system = four_bar()
    q = system.initial.q.copy()
    q[2] += 0.1
    with pytest.raises(ModelError, match=r"pin 0: its frames are .* from where it can bring them"):
        system.tree.coordinates(q)
