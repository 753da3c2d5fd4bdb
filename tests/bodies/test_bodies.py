"""Mass properties of bodies against sums over small volumes, frames, initial states, and bad input."""

from __future__ import annotations

import numpy as np
import pytest

import flexmbs as fm
from flexmbs.rotations import axis_vector, exp

RHO = 2700.0


def summed(points, volumes):
    """Mass, mass centre, inertia about the origin and about the mass centre of many small volumes."""
    m = RHO * volumes
    mass = m.sum()
    center = m @ points / mass
    second = np.einsum("p,pi,pj->ij", m, points, points)
    about = np.trace(second) * np.eye(3) - second
    return mass, center, about, about - mass * (center @ center * np.eye(3) - np.outer(center, center))


def gauss(low, high, n=6):
    x, w = np.polynomial.legendre.leggauss(n)
    return (low + high) / 2 + (high - low) / 2 * x, (high - low) / 2 * w


def product(*rules):
    grids = np.meshgrid(*(r[0] for r in rules), indexing="ij")
    weights = np.prod(np.meshgrid(*(r[1] for r in rules), indexing="ij"), axis=0)
    return [g.ravel() for g in grids], weights.ravel()


def around(n=12):
    return 2 * np.pi * np.arange(n) / n, np.full(n, 2 * np.pi / n)


def same(body, mass, center, about_origin):
    m, c, j = body.mass_parameters
    np.testing.assert_allclose(m, mass, rtol=1e-12)
    np.testing.assert_allclose(c, center, rtol=0, atol=1e-12)
    np.testing.assert_allclose(j, about_origin, rtol=1e-12, atol=1e-12 * np.abs(about_origin).max())


# ---- shapes


def test_box():
    (x, y, z), w = product(gauss(-0.1, 0.1), gauss(-0.2, 0.2), gauss(-0.35, 0.35))
    mass, center, about, _ = summed(np.stack([x, y, z], axis=1), w)
    same(fm.RigidBody.box("box", (0.2, 0.4, 0.7), RHO), mass, center, about)


@pytest.mark.parametrize("axis", ["x", "y", "-z", (1.0, -2.0, 0.5)])
def test_cylinder(axis):
    (r, phi, h), w = product(gauss(0.0, 0.3), around(), gauss(-0.4, 0.4))
    n = axis_vector(axis)
    a = np.cross(n, [0.3, 0.5, 0.7])
    a /= np.linalg.norm(a)
    b = np.cross(n, a)
    points = np.outer(r * np.cos(phi), a) + np.outer(r * np.sin(phi), b) + np.outer(h, n)
    mass, center, about, _ = summed(points, w * r)
    same(fm.RigidBody.cylinder("rod", 0.3, 0.8, RHO, axis=axis), mass, center, about)


def test_sphere():
    (r, phi, c), w = product(gauss(0.0, 0.3), around(), gauss(-1.0, 1.0))
    s = np.sqrt(1 - c**2)
    points = np.stack([r * s * np.cos(phi), r * s * np.sin(phi), r * c], axis=1)
    mass, center, about, _ = summed(points, w * r**2)
    same(fm.RigidBody.sphere("ball", 0.3, RHO), mass, center, about)


def test_shapes_take_an_initial_state():
    ball = fm.RigidBody.sphere("ball", 0.1, RHO, position=(1, 2, 3), velocity=(0, 0, 1))
    np.testing.assert_array_equal(ball.initial[0], [1, 2, 3])
    np.testing.assert_array_equal(ball.initial[2], [0, 0, 1])
    assert ball.initial[1] is None
    assert ball.initial[3] is None


# ---- meshes

STEEL = fm.Material(young=2e11, poisson=0.3, density=RHO)


@pytest.mark.parametrize("material", [RHO, STEEL, {"all": STEEL}])
def test_a_meshed_box_is_the_box(material):
    """Turned and moved, so that its axes and its mass centre are not the body's."""
    size, turn, center = (0.2, 0.4, 0.7), exp([0.3, -0.5, 0.4]), np.array([0.5, 0.1, -0.3])
    mesh = fm.Mesh.box(size, (1, 2, 2), cell="tetra", origin=(-0.1, -0.2, -0.35)).transformed(turn, center)
    if isinstance(material, dict):
        mesh = mesh.with_cells("all", np.arange(mesh.n_cells))
    m, _, j = fm.RigidBody.box("box", size, RHO).mass_parameters
    about = turn @ j @ turn.T + m * (center @ center * np.eye(3) - np.outer(center, center))
    same(fm.RigidBody.from_mesh("part", mesh, material), m, center, about)


def test_a_meshed_beam_is_a_rod():
    section = fm.Section.circle(0.02)
    elements = fm.Elements(fm.Mesh.line((0, 0, 0), (0, 0.8, 0), 4), STEEL, section=section)
    m, c, j = fm.RigidBody.from_mesh("rod", elements).mass_parameters
    rod = fm.RigidBody.cylinder("rod", 0.01, 0.8, RHO, axis="y")
    assert m == pytest.approx(rod.mass, rel=1e-12)
    np.testing.assert_allclose(c, [0, 0.4, 0], rtol=0, atol=1e-12)
    shift = m * 0.16 * np.diag([1, 0, 1])
    np.testing.assert_allclose(j, rod.mass_parameters[2] + shift, rtol=1e-10, atol=1e-15)


def test_meshed_bodies_take_an_initial_state():
    body = fm.RigidBody.from_mesh("part", fm.Mesh.box((1, 1, 1), (1, 1, 1)), RHO, position=(1, 2, 3))
    np.testing.assert_array_equal(body.initial[0], [1, 2, 3])


# ---- inertia about points and axes


@pytest.fixture
def cloud():
    """A lopsided body of eight masses."""
    rng = np.random.default_rng(7)
    points, volumes = rng.normal([0.5, -0.3, 0.8], 1.0, (8, 3)), rng.uniform(0.001, 0.002, 8)
    return points, volumes, summed(points, volumes)


def test_inertia_about_the_centre_the_origin_or_a_point(cloud):
    points, volumes, (mass, center, about, central) = cloud
    point = np.array([0.7, 0.2, -1.0])
    about_point = summed(points - point, volumes)[2]
    same(fm.RigidBody("b", mass, central, center), mass, center, about)
    same(fm.RigidBody("b", mass, about, center, inertia_about="origin"), mass, center, about)
    same(fm.RigidBody("b", mass, about_point, center, inertia_about=point), mass, center, about)


def test_inertia_in_other_axes(cloud):
    """Principal moments with the principal axes as inertia_axes give the matrix back."""
    _, _, (mass, center, about, central) = cloud
    moments, axes = np.linalg.eigh(central)
    axes *= np.sign(np.linalg.det(axes))
    same(fm.RigidBody("b", mass, moments, center, inertia_axes=axes), mass, center, about)
    turn = exp([0.2, 0.5, -0.4])
    turned = turn.T @ central @ turn
    same(fm.RigidBody("b", mass, turned, center, inertia_axes=[0.2, 0.5, -0.4]), mass, center, about)


def test_planar_inertia_about_centre_and_origin():
    points, masses = np.array([[0.1, 0.2], [0.5, -0.1], [0.3, 0.7]]), np.array([1.0, 2.0, 0.5])
    center = masses @ points / masses.sum()
    origin = masses @ np.sum(points**2, axis=1)
    central = masses @ np.sum((points - center) ** 2, axis=1)
    for inertia, about in ((central, "center"), (origin, "origin")):
        m, c, j = fm.PlanarBody("p", masses.sum(), inertia, center, inertia_about=about).mass_parameters
        assert m == masses.sum()
        np.testing.assert_allclose(c, [*center, 0.0], rtol=1e-15)
        np.testing.assert_allclose(j, np.diag([0, 0, origin]), rtol=1e-14)


def test_point_mass_and_ground():
    m, c, j = fm.PointMass("p", 2.5).mass_parameters
    assert m == 2.5
    assert not c.any()
    assert not j.any()
    assert fm.Ground().mass_parameters[0] == 0.0
    assert fm.Ground("world").name == "world"


# ---- initial states and frames


def test_initial_state_of_rigid_and_planar_bodies():
    r = fm.RigidBody("r", 1, (1, 1, 1), position=(1, 2, 3), rotation=(0, 0, 0.3), angular_velocity=(0, 0, 2))
    np.testing.assert_allclose(r.initial[1], exp([0, 0, 0.3]), rtol=1e-14)
    np.testing.assert_array_equal(r.initial[3], [0, 0, 2])
    p = fm.PlanarBody("p", 1, 1, position=(1, 2), angle=0.3, velocity=(3, 4), angular_velocity=5.0)
    position, rotation, velocity, spin = p.initial
    np.testing.assert_array_equal(position, [1, 2, 0])
    np.testing.assert_allclose(rotation, exp([0, 0, 0.3]), rtol=1e-14)
    np.testing.assert_array_equal(velocity, [3, 4, 0])
    np.testing.assert_array_equal(spin, [0, 0, 5])
    assert fm.PlanarBody("p", 1, 1).initial == (None,) * 4


def test_frames():
    body = fm.RigidBody.box("box", (1, 1, 1), RHO)
    np.testing.assert_array_equal(body.at().position, [0, 0, 0])
    np.testing.assert_array_equal(body.at(1, 2).position, [1, 2, 0])
    np.testing.assert_array_equal(body.at([1, 2, 3]).position, body.at(1, 2, 3).position)
    np.testing.assert_allclose(body.at(axes=[0.1, 0.2, 0.3]).axes, exp([0.1, 0.2, 0.3]), rtol=1e-14)
    np.testing.assert_array_equal(body.at(1, 2, 3).axes, np.eye(3))
    assert body.at(0.5, 0, 0).body is body
    assert str(body.at(0.5, 0, 0)) == "box.at(0.5, 0, 0)"


def test_bodies_cannot_be_changed():
    body = fm.RigidBody.sphere("ball", 1, RHO)
    with pytest.raises(AttributeError):
        body.mass = 2.0


# ---- bad input

NAN = float("nan")
CUBE = fm.Mesh.box((1, 1, 1), (1, 1, 1))
GOOD = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: fm.Ground(""), "needs a name"),
        (lambda: fm.RigidBody(3, 1.0, (1, 1, 1)), "needs a name"),
        (lambda: fm.RigidBody("b", 0.0, (1, 1, 1)), "b: mass must be a positive number, not 0.0"),
        (lambda: fm.RigidBody("b", "heavy", (1, 1, 1)), "b: mass must be a positive number, not 'heavy'"),
        (lambda: fm.RigidBody("b", 1.0), "b: inertia must be three moments"),
        (lambda: fm.RigidBody("b", 1.0, (1, 1)), "b: inertia must be three moments"),
        (lambda: fm.RigidBody("b", 1.0, (1, 1, NAN)), "b: inertia must be three moments"),
        (lambda: fm.RigidBody("b", 1.0, [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), "not symmetric"),
        (lambda: fm.RigidBody("b", 1.0, (1, 1, 2.5)), "no body has the principal moments"),
        (lambda: fm.RigidBody("b", 1.0, (-1, 1, 1)), "no body has the principal moments"),
        (lambda: fm.RigidBody("b", 1.0, (1, 1, 1), (2, 0, 0), "origin"), "Is inertia_about right"),
        (lambda: fm.RigidBody("b", 1.0, (1, 1, 1), (0, 0)), "b: center must be 3 numbers"),
        (lambda: fm.RigidBody("b", 1.0, (1, 1, 1), inertia_about="middle"), "inertia_about is"),
        (lambda: fm.RigidBody("b", 1.0, (1, 1, 1), inertia_about=(1, 2)), "b: inertia_about must be 3 numbers"),
        (lambda: fm.RigidBody("b", 1.0, (1, 1, 1), inertia_axes=(1, 2)), "a rotation is"),
        (lambda: fm.RigidBody("b", **GOOD, position=(1, 2)), "b: position must be 3 numbers"),
        (lambda: fm.RigidBody("b", **GOOD, rotation=2 * np.eye(3)), "orthonormal"),
        (lambda: fm.RigidBody("b", **GOOD, velocity=(1, NAN, 0)), "b: velocity must be 3 numbers"),
        (lambda: fm.RigidBody("b", **GOOD, angular_velocity=3.0), "b: angular_velocity must be 3 numbers"),
        (lambda: fm.RigidBody.box("b", (1, 1), RHO), "b: size must be 3 numbers"),
        (lambda: fm.RigidBody.box("b", (1, 1, -1), RHO), "b: size must be a positive number"),
        (lambda: fm.RigidBody.box("b", (1, 1, 1), 0.0), "b: density must be a positive number"),
        (lambda: fm.RigidBody.cylinder("b", 0.0, 1, RHO), "b: radius must be"),
        (lambda: fm.RigidBody.cylinder("b", 1, NAN, RHO), "b: length must be"),
        (lambda: fm.RigidBody.cylinder("b", 1, 1, -1), "b: density must be"),
        (lambda: fm.RigidBody.cylinder("b", 1, 1, RHO, axis="w"), "axis must be"),
        (lambda: fm.RigidBody.sphere("b", -1, RHO), "b: radius must be"),
        (lambda: fm.RigidBody.sphere("b", 1, None), "b: density must be"),
        (lambda: fm.RigidBody.from_mesh("b", "box.msh", RHO), "b: a Mesh or Elements is needed, not str"),
        (lambda: fm.RigidBody.from_mesh("b", CUBE), "b: density must be a positive number, not None"),
        (lambda: fm.RigidBody.from_mesh("b", CUBE, -1.0), "b: density must be a positive number"),
        (lambda: fm.RigidBody.from_mesh("b", CUBE, fm.Material(1.0, 0.3, 0.0)), "b: mass must be a positive number"),
        (lambda: fm.RigidBody.from_mesh("b", fm.Elements(CUBE, STEEL), STEEL), "have their material already"),
        (lambda: fm.PlanarBody("", 1.0), "needs a name"),
        (lambda: fm.PlanarBody("p", -1.0), "p: mass must be"),
        (lambda: fm.PlanarBody("p", 1.0, -1.0), "p: inertia must be a non-negative number"),
        (lambda: fm.PlanarBody("p", 1.0, 1.0, (1, 2, 3)), "p: center must be 2 numbers"),
        (lambda: fm.PlanarBody("p", 1.0, 1.0, (2, 0), "origin"), "Is it about the centre"),
        (lambda: fm.PlanarBody("p", 1.0, 1.0, inertia_about="end"), "inertia_about is"),
        (lambda: fm.PlanarBody("p", 1.0, 1.0, position=(1, 2, 3)), "p: position must be 2 numbers"),
        (lambda: fm.PlanarBody("p", 1.0, 1.0, velocity=1.0), "p: velocity must be 2 numbers"),
        (lambda: fm.PointMass("", 1.0), "needs a name"),
        (lambda: fm.PointMass("m", 0.0), "m: mass must be"),
        (lambda: fm.PointMass("m", 1.0, position=(1, 2)), "m: position must be 3 numbers"),
        (lambda: fm.PointMass("m", 1.0, velocity=(1, 2)), "m: velocity must be 3 numbers"),
        (lambda: fm.PointMass("m", 1.0).at(1, 0, 0), "m: a point mass has no point at"),
        (lambda: fm.Ground().at(1), "two or three numbers"),
        (lambda: fm.Ground().at(1, 2, 3, 4), "two or three numbers"),
        (lambda: fm.Ground().at(1, NAN), "two or three numbers"),
        (lambda: fm.Ground().at(axes=[1, 2]), "a rotation is"),
    ],
)
def test_bad_input_is_refused_in_words(build, message):
    with pytest.raises(fm.FlexmbsError, match=message):
        build()
