"""Shapes of bodies: those of constructors, and refusals in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flexmbs as fm
from flexmbs.bodies import shapes


def test_bodies_know_the_shape_they_were_made_from() -> None:
    (box,) = fm.RigidBody.box("a", (1.0, 2.0, 3.0), 1.0).shape
    assert isinstance(box, shapes.Box)
    np.testing.assert_allclose(box.size, (1.0, 2.0, 3.0))
    (cylinder,) = fm.RigidBody.cylinder("b", 0.1, 2.0, 1.0, axis="x").shape
    assert (cylinder.radius, cylinder.length, cylinder.axis) == (0.1, 2.0, "x")
    assert fm.RigidBody.sphere("c", 0.5, 1.0).shape[0].radius == 0.5
    mesh = fm.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    assert fm.RigidBody.from_mesh("d", mesh, 1.0).shape == (mesh,)
    assert fm.PlanarBody("e").shape == ()
    other = fm.RigidBody.box("f", (1, 1, 1), 1.0, shape=[shapes.Ball(1.0), mesh]).shape
    assert [type(s) for s in other] == [shapes.Ball, fm.Mesh]


def test_shapes_do_not_change_the_mechanics() -> None:
    plain = fm.RigidBody("a", 2.0, (1.0, 1.0, 1.0))
    drawn = fm.RigidBody("a", 2.0, (1.0, 1.0, 1.0), shape=shapes.Ball(3.0))
    for one, other in zip(plain.mass_parameters, drawn.mass_parameters, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_rod_between_points() -> None:
    rod = shapes.Cylinder.between((1.0, 0.0, 0.0), (1.0, 2.0, 0.0), 0.1)
    assert rod.length == 2.0
    np.testing.assert_allclose(rod.center, (1.0, 1.0, 0.0))
    np.testing.assert_allclose(rod.axis, (0.0, 2.0, 0.0))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: shapes.Box((1.0, 2.0)), "3 positive numbers"),
        (lambda: shapes.Box((1.0, 2.0, -1.0)), "positive"),
        (lambda: shapes.Box((1.0, 2.0, 3.0), center=(0.0, 0.0)), "three numbers"),
        (lambda: shapes.Box((1.0, 2.0, 3.0), axes=np.ones((3, 3))), "Box: axes"),
        (lambda: shapes.Cylinder(0.0, 1.0), "radius and length"),
        (lambda: shapes.Cylinder(1.0, 1.0, axis=(0, 0, 0)), "axis must be"),
        (lambda: shapes.Cylinder.between((0, 0, 0), (0, 0, 0), 1.0), "same point"),
        (lambda: shapes.Ball("big"), "positive number"),
        (lambda: shapes.Plate([(0, 0), (1, 0)]), "three points"),
        (lambda: shapes.Plate([(0, 0), (1, 0), (0, 1)], thickness=0.0), "thickness"),
        (lambda: fm.RigidBody("a", 1.0, (1, 1, 1), shape="box"), "a: shape is a Box"),
        (lambda: fm.Ground(shape=[shapes.Ball(1.0), 3.0]), "ground: shape"),
    ],
)
def test_wrong_shapes_are_refused_in_words(make: Any, words: str) -> None:
    with pytest.raises(fm.ModelError, match=words):
        make()
