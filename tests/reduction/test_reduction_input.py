"""What a reduction refuses, and in which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parts import STEEL, beam, plane, solid

import flexmbs as fm
from flexmbs.errors import ModelError
from flexmbs.reduction import (
    Chord,
    CraigBampton,
    FreeInterface,
    FullOrder,
    Krylov,
    ModalDamping,
    ModalTruncation,
    Rayleigh,
    StaticCondensation,
    Tangent,
    reduce,
)

SMALL = solid(divisions=(2, 1, 1))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: CraigBampton(modes=-1), "CraigBampton: modes must be a whole number of at least 0, not -1"),
        (lambda: CraigBampton(modes=2.5), "whole number"),  # type: ignore[arg-type]
        (lambda: FreeInterface(modes=-2), "FreeInterface: modes"),
        (lambda: ModalTruncation(modes=0), "at least 1"),
        (lambda: Krylov(moments=0), "Krylov: moments"),
        (lambda: Krylov(frequency=-3.0), "number of Hz"),
        (lambda: Rayleigh(mass=-1.0), "Rayleigh: mass"),
        (lambda: Rayleigh.of_ratios((10.0, 0.1), (10.0, 0.2)), "two different frequencies"),
        (lambda: ModalDamping(-0.1), "ratios must be zero or more"),
    ],
)
def test_declarations(make: Any, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        make()


@pytest.mark.parametrize(
    ("method", "options", "words"),
    [
        (CraigBampton(2), {}, "CraigBampton needs interfaces=, or fixed="),
        (StaticCondensation(), {"interfaces": "x0"}, "needs two interfaces"),
        (CraigBampton(0), {"interfaces": "x0", "frame": "tangent"}, "nothing is left to deform"),
        (CraigBampton(99), {"interfaces": ["x0", "x1"]}, "99 modes were asked for, but CraigBampton has only"),
        (CraigBampton(2), {"interfaces": ["x0", "y0"]}, "'x0' and 'y0' share"),
        (CraigBampton(2), {"interfaces": ["x0", "x0"]}, "listed twice"),
        (CraigBampton(2), {"interfaces": ["x1"], "fixed": "y0"}, "'x1' holds nodes that are fixed"),
        (CraigBampton(2), {"interfaces": [[0, 1]]}, "cannot define a rotation"),
        (ModalTruncation(2), {"fixed": {"x0": "x"}}, "does not hold the part in its frame"),
        (ModalTruncation(2), {"fixed": "x0", "frame": "mean"}, "its frame is held too"),
        (ModalTruncation(2), {"frame": "floating"}, 'frame= is "tangent", "chord", "mean"'),
        (ModalTruncation(2), {"frame": "tangent"}, "a tangent frame needs 1 interface"),
        (CraigBampton(2), {"interfaces": ["x0"], "frame": "chord"}, "a chord frame needs 2 interfaces"),
        (ModalTruncation(2), {"frame": Chord("x0", "x0")}, "at the same one"),
        (ModalTruncation(2), {"fixed": "x0", "damping": "much"}, "damping= is"),
        (ModalTruncation(2), {"fixed": "x0", "damping": ModalDamping([0.1, 0.1, 0.1])}, "3 damping ratios for 2"),
        (ModalTruncation(2), {"fixed": "x0", "loads": {"pull": np.zeros(4)}}, "load set 'pull' must be"),
        (ModalTruncation(2), {"fixed": "x0", "loads": {"pull": "hard"}}, "load set 'pull' must be"),
        (Krylov(inertia=False), {}, "Krylov needs loads to match"),
        ("CraigBampton", {}, "is no reduction"),
    ],
)
def test_reductions(method: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        reduce(SMALL, method, **options)


def test_unknown_sets_are_named() -> None:
    with pytest.raises(fm.MeshError, match="no set 'x9'"):
        reduce(SMALL, CraigBampton(2), interfaces=["x9", "x1"])
    with pytest.raises(fm.FlexmbsError, match="no set 'x9'"):
        reduce(SMALL, CraigBampton(2), fixed="x9")
    with pytest.raises(fm.MeshError, match="no set 'x9'"):
        reduce(SMALL, ModalTruncation(2), frame=Tangent("x9"))


def test_parts_that_cannot_be_reduced() -> None:
    with pytest.raises(ModelError, match="needs mass"):
        reduce(fm.Elements(SMALL.mesh, fm.Material(1e9, 0.3, 0.0)), ModalTruncation(2))
    spring = fm.Elements(SMALL.mesh, STEEL, attachments=fm.GroundSpring("x0", 1e6))
    with pytest.raises(ModelError, match="Leave GroundSpring out"):
        reduce(spring, ModalTruncation(2))
    two = fm.Elements(SMALL.mesh.joined(SMALL.mesh.translated((0.0, 1.0, 0.0))), STEEL)
    with pytest.raises(ModelError, match="in 2 pieces"):
        reduce(two, ModalTruncation(2))
    with pytest.raises(ModelError, match="is too much"):
        reduce(solid(divisions=(10, 5, 5)), FullOrder(sparse=False), fixed="x0")
    with pytest.raises(ModelError, match="stiffening=False"):
        reduce(solid(divisions=(10, 5, 5)), FullOrder(), fixed="x0")
    with pytest.raises(ModelError, match="Rayleigh"):
        reduce(solid(divisions=(10, 5, 5)), FullOrder(), fixed="x0", stiffening=False, damping=0.01)
    with pytest.raises(ModelError, match="Elements, or a Part"):
        reduce("rod", ModalTruncation(2))  # type: ignore[arg-type]


def test_frames_at_places_that_are_none() -> None:
    part = reduce(plane(), ModalTruncation(2), fixed="x0")
    with pytest.raises(ModelError, match="two or three numbers"):
        part.frame_at((1.0,))
    with pytest.raises(ModelError, match="2 reduced coordinates are needed"):
        part.displacement([1.0, 2.0, 3.0])
    with pytest.raises(ModelError, match="selection"):
        reduce(beam(), ModalTruncation(2), fixed="x0").frame([])
