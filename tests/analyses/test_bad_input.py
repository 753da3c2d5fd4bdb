"""What users get wrong, and what they are told: the words are part of the surface."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flexmbs as fm

STEEL = fm.Material(young=2e11, poisson=0.3, density=7800.0)
BOX = fm.Mesh.box((1.0, 0.2, 0.1), (4, 2, 2))
PLANE = fm.Mesh.rectangle((1.0, 0.2), (4, 2))
LINE = fm.Mesh.line((0, 0, 0), (1, 0, 0), 4)
BEAM = {"section": fm.Section.rectangle(0.02, 0.02), "fixed": "start"}
NAN = float("nan")


def refused(kind: type[Exception], words: str, action: Callable[[], Any]) -> None:
    with pytest.raises(kind, match=re.escape(words)):
        action()


def on_box(load: Any) -> Any:
    return fm.statics(BOX, STEEL, load, fixed="x0")


def on_plane(load: Any) -> Any:
    return fm.statics(PLANE, STEEL, load, fixed="x0")


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (fm.Force("tip", (0, 0, 1)), "no set 'tip'. It has 'x0', 'x1'"),
        (fm.Force("X1", (0, 0, 1)), "Did you mean 'x1'"),
        (fm.Force("x1", (0, 1)), "force on 'x1': 3 numbers are needed, not (0, 1)"),
        (fm.Force("x1", (0, 1, NAN)), "3 numbers are needed, not (0, 1, nan)"),
        (fm.Force("x1", "z"), "3 numbers are needed, not 'z'"),
        (fm.Force([], (0, 0, 1)), "the set of nodes given is empty"),
        (fm.Force("x1", (0, 0, 1), moment=(0, 0)), "moment on 'x1': 3 numbers are needed, not (0, 0)"),
        (fm.Force("x1", (0, 0, 1), moment=(0, NAN, 0)), "3 numbers are needed, not (0, nan, 0)"),
        (fm.Force([3], (0, 0, 1), moment=(0, 0, 1)), "cannot define a rotation"),
        (fm.Traction("x1", 5.0), "traction on 'x1': 3 numbers are needed, not 5.0"),
        (fm.Traction("x1", lambda x, y, z: (x, y)), "the function must return 3 components"),
        (fm.Traction("x1", lambda x, y, z: x), "must return 3 components, not an array of shape (4, 9)"),
        (fm.Traction("x1", lambda x, y, z: (NAN * x, y, z)), "the value is not a finite number"),
        (fm.Traction([0, 1], (0, 0, 1)), "holds no boundary face"),
        (fm.Pressure("x1", NAN), "pressure on 'x1': the value is not a finite number: nan"),
        (fm.Pressure("x1", "high"), "the value is not a finite number: 'high'"),  # type: ignore[arg-type]
        (fm.Pressure("x1", (1, 0, 0)), "one number per point is needed, not (1, 0, 0)"),  # type: ignore[arg-type]
        (fm.Pressure("x1", lambda x, y, z: (x, y, z)), "one number per point is needed"),
        (fm.Pressure("y2", 1.0), "Did you mean 'y1' or 'y0'"),
        (fm.Gravity(-9.81), "gravity: 3 numbers are needed, not -9.81"),
        (fm.Acceleration(linear=(1, 0)), "acceleration: 3 numbers are needed, not (1, 0)"),
        (fm.Acceleration(angular=(1, 0)), "the angular acceleration must be three numbers, not (1, 0)"),
        (fm.Centrifugal(100.0), "the angular velocity must be three numbers, not 100.0"),
        (fm.Centrifugal((0, 0, NAN)), "the angular velocity must be three numbers"),
        (fm.Centrifugal((0, 0, 1), center=5.0), "the center must be a point of three numbers, not 5.0"),
        (fm.Centrifugal((0, 0, 1), center=(0, NAN, 0)), "the center must be a point of three numbers"),
        (5, "loads: 5 is no load; give Force, Traction"),
        (None, "loads: None is no load"),
        ([(0, 0, -9.81)], "loads: (0, 0, -9.81) is no load"),
        (fm.Gravity, "Gravity'> is no load"),
        ("gravity", "loads: 'gravity' is no load"),
    ],
)
def test_loads_on_a_solid(load: Any, words: str) -> None:
    refused(fm.FlexmbsError, words, lambda: on_box(load))


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (fm.Gravity(), "gravity: a plane mesh takes loads in its plane, not (0.0, 0.0, -9.81)"),
        (fm.Force("x1", (0, 0, 1)), "a plane mesh takes loads in its plane"),
        (fm.Force("x1", (0, 1), moment=(1, 0, 0)), "one number, about z, is needed, not (1, 0, 0)"),
        (fm.Traction("x1", lambda x, y, z: (0, 0, 1)), "the function gives one along z"),
        (fm.Centrifugal((1, 0, 0)), "a plane mesh turns about z only"),
    ],
)
def test_loads_on_a_plane_part(load: Any, words: str) -> None:
    refused(fm.FlexmbsError, words, lambda: on_plane(load))


def test_faces_of_a_line() -> None:
    words = "line: pressure and traction act on faces; a line mesh has none. Use Force"
    refused(fm.AnalysisError, words, lambda: fm.statics(LINE, STEEL, fm.Pressure("end", 1.0), **BEAM))


@pytest.mark.parametrize(
    ("fixed", "words"),
    [
        ("xO", "no set 'xO'. Did you mean"),
        ({"xO": "x"}, "no set 'xO'"),
        (fm.Averaged("xO"), "no set 'xO'"),
        (["x0", "y9"], "no set 'y9'"),
        ({"x0": "rx"}, 'unknown component "rx": nodes of this model have x, y, z'),
        ({"x0": {"q": 1.0}}, 'unknown component "q"'),
        (
            {"x0": {"z": "much"}},
            "displacement 'z' of 'x0' must be a number, or one for each of its 9 nodes, not 'much'",
        ),
        ({"x0": {"z": [1.0, 2.0]}}, "one for each of its 9 nodes"),
        ({"x0": {"z": NAN}}, "contain NaN or infinity"),
        ({"x0": None, "y0": {"z": 1e-3}}, "contradicting constraints: node 0 z"),
        (fm.Projection.identity(5), "fixed: a projection of 5 coordinates; the part has 135"),
        (1000, "node 1000 does not exist"),
        (np.array([True, False]), "not by a mask"),
    ],
)
def test_supports(fixed: Any, words: str) -> None:
    refused(fm.FlexmbsError, words, lambda: fm.statics(BOX, STEEL, fixed=fixed))


EDGE = BOX.nodes_where(lambda x, y, z: (x == 0) & (z == 0))
DIAGONAL = [BOX.nearest_node((0, 0, 0)), BOX.nearest_node((0, 0.2, 0.1))]


@pytest.mark.parametrize(
    ("fixed", "words"),
    [
        (None, "translation along x, translation along y, translation along z, rotation about x, rotation about y and"),
        ([], "translation along x, translation along y"),
        ({"x0": "xy"}, "box: the part is not held: translation along z is free. Hold more with fixed="),
        ({"x0": "x"}, "translation along y, translation along z and rotation about x are free"),
        (0, "not held: rotation about x, rotation about y and rotation about z are free"),
        (EDGE, "not held: rotation about y is free"),
        (DIAGONAL, "not held: rotation about (0, 0.894, 0.447) is free"),
        ([fm.Averaged("x0"), {"x0": "x"}], None),
        (fm.Projection.symmetry(BOX, "x0", "x"), "translation along y, translation along z and rotation about x"),
        (fm.Projection.symmetry(BOX, "x0", (1, 1, 0)), "not held: translation along"),
        (fm.Projection.rigid(BOX, "x0"), "translation along x, translation along y, translation along z, rotation"),
        (fm.Projection.averaging(BOX, "x0"), "translation along x, translation along y, translation along z, rotation"),
    ],
)
def test_parts_that_are_not_held(fixed: Any, words: str | None) -> None:
    if words is None:
        assert fm.statics(BOX, STEEL, fixed=fixed).stable
    else:
        refused(fm.AnalysisError, words, lambda: fm.statics(BOX, STEEL, fixed=fixed))


def test_plane_parts_and_lines_that_are_not_held() -> None:
    refused(
        fm.AnalysisError, "not held: translation along y is free", lambda: fm.statics(PLANE, STEEL, fixed={"x0": "x"})
    )
    refused(fm.AnalysisError, "not held: rotation about z is free", lambda: fm.statics(PLANE, STEEL, fixed=0))
    beam = {"section": BEAM["section"], "fixed": {"start": "xyz", "end": "yz"}}
    refused(fm.AnalysisError, "not held: rotation about x is free", lambda: fm.statics(LINE, STEEL, **beam))
    bars = {**BEAM, "formulation": "bar"}
    refused(fm.AnalysisError, "rotation about y and rotation about z are free", lambda: fm.statics(LINE, STEEL, **bars))


def test_a_chain_of_bars_is_a_mechanism() -> None:
    held = {"fixed": ["start", "end"], "section": BEAM["section"], "formulation": "bar"}
    refused(fm.AnalysisError, "Is some of it a mechanism", lambda: fm.statics(LINE, STEEL, **held))


def test_two_pieces_of_which_one_is_loose() -> None:
    two = BOX.joined(fm.Mesh.box((1.0, 0.2, 0.1), (2, 1, 1), origin=(1.0, 0, 0)).replace(face_sets={}))
    words = "6 rigid motions are free; the mesh is in 2 pieces that share no node (merged_nodes() ties"
    refused(fm.AnalysisError, words, lambda: fm.statics(two, STEEL, fixed="x0"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"count": 0}, "0 modes were asked for; the part has 108 free coordinates"),
        ({"count": 109}, "109 modes were asked for; the part has 108"),
        ({"count": 2.5}, "2.5 modes were asked for"),
        ({"fixed": "all"}, "the part has 0 free coordinates"),
        ({"fixed": {"x0": None, "x1": {"z": 1e-3}}}, "prescribed displacements mean nothing here"),
        ({"spin": (0, 1)}, "the angular velocity must be three numbers, not (0, 1)"),
        ({"spin": (0, 0, NAN)}, "the angular velocity must be three numbers"),
        ({"spin": (0, 0, 1), "fixed": {"x0": "xy"}}, "must be held in its turning frame; translation along z is free"),
        ({"prestress": "tension"}, "'tension' is no stress state"),
        ({"prestress": 5.0}, "a uniform stress of a hexahedron has 6 components, not 5.0"),
        ({"prestress": (1e6, 0, 0)}, "has 6 components, not (1000000.0, 0, 0)"),
        ({"prestress": [np.zeros((3, 8, 6))]}, "shapes [(3, 8, 6)] was given; these elements have [(16, 8, 6)]"),
        ({"prestress": (-1e11, 0, 0, 0, 0, 0)}, "not stable: the prestress takes away all stiffness"),
        ({"prestress": fm.Gravity(), "fixed": None}, "the part is not held"),
    ],
)
def test_modes(options: dict[str, Any], words: str) -> None:
    refused(fm.FlexmbsError, words, lambda: fm.modes(BOX, STEEL, **{"fixed": "x0", **options}))


def test_prestress_beyond_buckling_on_a_part_too_large_for_dense_algebra() -> None:
    column = fm.Mesh.box((1.0, 0.02, 0.02), (40, 1, 1))
    refused(
        fm.AnalysisError, "not stable", lambda: fm.modes(column, STEEL, fixed="x0", prestress=(-1e9, 0, 0, 0, 0, 0))
    )


def test_models_and_materials() -> None:
    light = fm.Material(young=2e11, poisson=0.3, density=0.0)
    surface = fm.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 1.0]], [("triangle", [[0, 1, 2]])])
    point = fm.Mesh([[0.0, 0.0, 0.0]], [("vertex", [[0]])])
    refused(fm.AnalysisError, "give the material a density", lambda: fm.modes(BOX, light, fixed="x0"))
    refused(fm.AnalysisError, "give the material a density", lambda: fm.modes(BOX, light, fixed="x0", spin=(0, 0, 1)))
    refused(fm.MaterialError, "a material is needed for its 16 cells", lambda: fm.modes(BOX, fixed="x0"))
    refused(fm.MaterialError, "must be a Material, not str", lambda: fm.modes(BOX, "steel", fixed="x0"))
    refused(fm.AnalysisError, "a Mesh or Elements is needed, not str", lambda: fm.mass_properties("rod.msh", STEEL))
    refused(fm.AnalysisError, "have their material", lambda: fm.modes(fm.Elements(BOX, STEEL), STEEL))
    refused(fm.AnalysisError, "have their material", lambda: fm.statics(fm.Elements(PLANE, STEEL), thickness=2.0))
    refused(fm.MeshError, "this is a surface in space", lambda: fm.statics(surface, STEEL))
    refused(fm.MaterialError, "a line mesh needs section=", lambda: fm.modes(LINE, STEEL))
    refused(fm.MaterialError, "a mesh of points needs attachments=", lambda: fm.modes(point))


def test_a_free_motion_without_mass_has_no_frequency() -> None:
    light = fm.Material(young=2e11, poisson=0.3, density=0.0)
    options = {"section": BEAM["section"], "attachments": fm.LumpedMass("end", 1.0)}
    words = "a rigid motion that is free moves no mass"
    refused(fm.AnalysisError, words, lambda: fm.modes(LINE, light, count=1, **options))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: fm.LumpedMass("x1", -1.0), "lumped mass on 'x1': the mass must be zero or more, not -1.0"),
        (lambda: fm.LumpedMass("x1", NAN), "zero or more, not nan"),
        (lambda: fm.LumpedMass("x1", float("inf")), "zero or more, not inf"),
        (lambda: fm.LumpedMass("x1", 1.0, np.ones((2, 2))), "inertia must be a symmetric (3, 3) matrix"),
        (lambda: fm.LumpedMass("x1", 1.0, np.diag([1.0, 1.0, 3.0])), "no body has this inertia"),
        (lambda: fm.GroundSpring("x1", -1.0), "the stiffness is negative in some direction"),
        (lambda: fm.GroundSpring("x1", NAN), "stiffness must be finite numbers, not nan"),
        (lambda: fm.GroundSpring("x1", float("inf")), "hold the nodes with fixed= where they are rigidly held"),
        (lambda: fm.GroundSpring("x1", (1, 2, 3, 4)), "one number, 3 numbers or a symmetric (3, 3) matrix, not of"),
        (lambda: fm.GroundSpring("x1", [[1, 2, 0], [0, 1, 0], [0, 0, 1]]), "or a symmetric (3, 3) matrix"),
        (lambda: fm.LumpedMass("x1", 1.0, np.eye(3)), "the nodes of this mesh do not rotate"),
        (lambda: fm.LumpedMass("tip", 1.0), "no set 'tip'"),
        (lambda: fm.LumpedMass([], 1.0), "LumpedMass: the set of nodes given is empty"),
        (lambda: 3.0, "attachments are LumpedMass and GroundSpring, not float"),
    ],
)
def test_lumped_masses_and_springs(make: Callable[[], Any], words: str) -> None:
    refused(fm.FlexmbsError, words, lambda: fm.Elements(BOX, STEEL, attachments=[make()]))


def test_fields_that_do_not_exist() -> None:
    beam = fm.statics(LINE, STEEL, fm.Gravity(), **BEAM)
    refused(fm.AnalysisError, "for lines ask for the section forces", lambda: beam.strain)
    plain = fm.Section(area=1e-4, Iy=1e-9, Iz=1e-9, J=2e-9)
    unknown = fm.statics(LINE, STEEL, fm.Gravity(), fixed="start", section=plain)
    refused(
        fm.AnalysisError, "fibre stress needs beams with sections given by their shape", lambda: unknown.stress.nodal
    )
    refused(fm.MeshError, "no set 'zz'", lambda: beam.reaction("zz"))


def test_a_misspelt_option_gets_the_right_one_suggested() -> None:
    box = fm.Mesh.box((1.0, 0.1, 0.1), (4, 1, 1))
    steel = fm.Material(210e9, 0.3, 7850.0)
    with pytest.raises(fm.AnalysisError, match="there is no option 'fixd'; did you mean 'fixed'"):
        fm.statics(box, steel, fixd="x0")
    with pytest.raises(fm.AnalysisError, match="there is no option 'formulations'; did you mean 'formulation'"):
        fm.modes(box, steel, fixed="x0", formulations="plain")
