"""Every class of a model goes into a file and comes back the same, sharing what it shared; nothing is executed."""

from __future__ import annotations

import dataclasses
import inspect
import json
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import flexmbs as fm
from flexmbs.analyses.stored import ALL
from flexmbs.bodies.ground import SPACE
from flexmbs.errors import FileError
from flexmbs.forces.force import Force as CompiledForce
from flexmbs.joints.functions import FunctionGroup
from flexmbs.joints.joint import Joint
from flexmbs.results.known import ModelDecoder, ModelEncoder
from flexmbs.results.objects import Encoder, Forgotten

GROUND, BODY, OTHER = fm.Ground(), fm.RigidBody("body", 1.0, (1, 1, 1)), fm.RigidBody("other", 1.0, (1, 1, 1))
FLAT, DISC = fm.PlanarBody("flat", 1.0, 1.0), fm.PlanarBody("disc", 1.0, 1.0, shape=fm.shapes.Ball(0.1))
A, B, C = GROUND.at(0, 0, 0), BODY.at(-1, 0, 0, axes=(0.1, 0.2, 0.3)), OTHER.at(0, 0, 0)
P, Q = GROUND.at(0, 0), FLAT.at(0.1, 0)
HINGE, SLIDE = fm.Revolute("hinge", A, B, axis=(1, 2, 3), start=0.1), fm.Prismatic("slide", A, C)
STEEL = fm.Material(2e11, 0.3, 7800.0)
LINE = fm.Mesh.line((0, 0, 0), (1, 0, 0), 4)
BLADE = fm.FlexibleBody(
    "blade",
    LINE,
    STEEL,
    section=fm.Section.rectangle(0.02, 0.01),
    fixed="start",
    interfaces="end",
    damping=fm.Rayleigh(1.0, 1e-6),
    reduction=fm.CraigBampton(2),
    loads={"push": fm.Force("end", (0.0, 1.0, 0.0))},
    position=(1.0, 0.0, 0.0),
)
SOLID = fm.Part.of_elements(fm.Elements(fm.Mesh.box((1, 0.1, 0.1), (3, 1, 1)), STEEL))
PLATE = fm.FlexibleBody(
    "plate", fm.Mesh.rectangle((0.2, 0.1), (2, 1)), STEEL, thickness=0.01, fixed="x0", reduction=fm.ModalTruncation(2)
)
EVERY_NODE = fm.FlexibleBody(
    "all nodes",
    SOLID.mesh,
    STEEL,
    fixed="x0",
    interfaces=["x1"],
    reduction=fm.FullOrder(sparse=True),
    stiffening=False,
    loads={"gas": fm.Pressure("y1", 1e5)},
    damping=fm.Rayleigh(1.0, 1e-6),
)
JOINT: dict[str, Any] = {"name": "j", "frame_i": A, "frame_j": B}
FLAT_JOINT: dict[str, Any] = {"name": "j", "frame_i": P, "frame_j": Q}
CONTACT: dict[str, Any] = {"name": "c", "frame_i": A, "frame_j": B, "stiffness": 1.0}
FLAT_CONTACT: dict[str, Any] = {"name": "c", "frame_i": P, "frame_j": Q, "stiffness": 1.0}
HARMONIC = fm.Harmonic((1.0, 2.0, 3.0), 2.0)

OBJECTS: list[Any] = [
    GROUND,
    BODY,
    FLAT,
    BLADE,
    PLATE,
    EVERY_NODE,
    fm.StrainGauge(EVERY_NODE, 3, "x"),
    fm.BodyLoad("load on all", EVERY_NODE, "gas"),
    STEEL,
    LINE,
    SPACE,
    fm.PointMass("m", 1.0, (1, 2, 3)),
    fm.RigidBody.from_mesh("solid", fm.Mesh.box((1, 1, 1), (1, 1, 1), cell="tetra10"), 7800.0),
    fm.RigidBody(
        "drawn",
        1.0,
        (1, 1, 1),
        shape=[fm.shapes.Box((1, 1, 1)), fm.shapes.Cylinder(1.0, 2.0), fm.shapes.Plate([[0, 0], [1, 0], [0, 1]])],
    ),
    *(
        kind(**JOINT)
        for kind in (
            fm.Fixed,
            fm.Revolute,
            fm.Prismatic,
            fm.Cylindrical,
            fm.Spherical,
            fm.Universal,
            fm.PlaneJoint,
            fm.PointOnLine,
            fm.PointInPlane,
            fm.KnifeEdge,
            fm.ConstantVelocity,
        )
    ),
    fm.Screw(**JOINT, pitch=0.1),
    fm.Distance(**JOINT, length=1.0),
    fm.RollingDisc(**JOINT, radius=1.0),
    *(
        kind(**FLAT_JOINT)
        for kind in (fm.planar.Revolute, fm.planar.Prismatic, fm.planar.PointOnLine, fm.planar.KnifeEdge)
    ),
    fm.planar.Distance(**FLAT_JOINT, length=1.0),
    fm.planar.Rolling(**FLAT_JOINT, radius=1.0),
    fm.planar.Cam(
        **FLAT_JOINT, curve_i=fm.planar.Curve(lambda s: (np.cos(s), 0.5 * np.sin(s))), curve_j=fm.planar.Line()
    ),
    fm.planar.Cam(**FLAT_JOINT, curve_i=fm.planar.Circle(0.1), curve_j=fm.planar.Circle(0.2), parameters=(0.1, 0.2)),
    fm.Drive("d", HINGE.angle, fm.SpinUp(10.0, 0.1)),
    fm.Drive("x", fm.component(B, "x"), HARMONIC.components()[0]),
    fm.Coupling("c", ((1.0, HINGE.angle), (2.0, SLIDE.distance)), fm.Ramp(0.0, 1.0, 0.0, 1.0)),
    fm.gear("g", HINGE.angle, SLIDE.distance, 2.0),
    fm.RackAndPinion("r", HINGE.angle, SLIDE.distance, 0.1),
    fm.Gear("gear", HINGE.angle, fm.Revolute("second", A, C).angle, 1.0, 2.0),
    fm.planar.Gear(
        **{k: v for k, v in FLAT_JOINT.items() if k == "name"},
        angle_i=fm.planar.Revolute("u", P, Q).angle,
        angle_j=fm.planar.Revolute("w", P, DISC.at(0, 0)).angle,
        radius_i=1.0,
        radius_j=2.0,
    ),
    fm.ConstantSpeed(1.0),
    fm.Gravity((0, 0, -9.81)),
    fm.AppliedForce("f", B, HARMONIC, (0.0, fm.SmoothStep(0, 1, 0, 1), 1.0), follows=True),
    fm.SpringDamper(
        "s", HINGE.angle, stiffness=fm.Spline((0.0, 1.0, 2.0), (0.0, 1.0, 3.0)), damping=fm.Polynomial((0.0, 1.0))
    ),
    fm.SpringDamper("t", (A, B), 1.0, rest=0.1, force=2 * fm.ConstantSpeed(1.0).shifted(0.5) - 1.0),
    fm.Stop("s", HINGE.angle, 0.0, np.inf, 1.0),
    fm.JointFriction("f", HINGE.angle, coefficient=0.1, joint=HINGE, radius=0.01),
    fm.Bushing("b", A, B, stiffness=(1.0,) * 6),
    fm.SphereOnPlane(**CONTACT, radius=1.0),
    fm.SphereOnSphere(**CONTACT, radius_i=1.0, radius_j=1.0),
    fm.SphereInSphere(**CONTACT, radius_i=2.0, radius_j=1.0),
    fm.CircleOnLine(**FLAT_CONTACT, radius=1.0, normal=(0, 1)),
    fm.CircleOnCircle(**FLAT_CONTACT, radius_i=1.0, radius_j=1.0),
    fm.CircleInCircle(**FLAT_CONTACT, radius_i=2.0, radius_j=1.0),
    fm.RotatingFrame((0.0, 0.0, 1.0)),
    fm.BodyLoad("load", BLADE, "push", fm.Harmonic(1.0, 2.0)),
    fm.Controller("pid", 0.1, [HINGE.angle, B], HINGE.angle, lambda t, x, m: (0.0, m), memory={"sum": np.zeros(2)}),
    fm.System([GROUND, BODY, BLADE], [HINGE], [fm.Gravity((0, 0, -9.81))]),
    fm.FlexibleBody.from_matrices("matrices", SOLID.mesh, SOLID.mass, SOLID.stiffness, reduction=fm.ModalTruncation(2)),
    fm.StrainGauge(BLADE, "end"),
    BLADE.reduced,
    fm.Elements(LINE, STEEL, section=fm.Section.circle(0.01), up=(0, 1, 0)),
    fm.GeneralizedAlpha(0.5),
    fm.TangentSpaceODE(),
    fm.ExplicitRK(),
    fm.Newmark(0.1),
    {"a": (1, 2.5, None, True), 3: [np.inf, -np.inf, 1 + 2j]},
    sp.csr_array(np.eye(3)),
    np.asfortranarray(np.ones((2, 3))),
    np.zeros((0, 3)),
]

WITH_FUNCTIONS = {"Relation", "UserConstraint", "UserForce", "Profile"}
"""Played back from what they gave, see test_stored_results; and what is there to be inherited from."""


def coded(x: Any) -> tuple[Any, Any, Any]:
    encoder = ModelEncoder()
    root = encoder.value(x)
    return json.loads(encoder.text(root)), encoder.block(), encoder


def again(x: Any) -> Any:
    tree, block, _ = coded(x)
    return ModelDecoder(tree, block, {}, ALL).value(tree["root"])


@pytest.mark.parametrize("x", OBJECTS, ids=lambda x: type(x).__name__)
def test_everything_comes_back(x: Any) -> None:
    back = again(x)
    assert type(back) is type(x)
    if any(isinstance(y, fm.Controller | fm.planar.Cam) for y in (x,)):
        assert back.name == x.name  # whose Python function is a name only
    first, second = coded(x), coded(back)
    assert first[0] == second[0]
    assert np.array_equal(first[1], second[1])


def test_every_part_of_a_model_is_tried() -> None:
    kinds = (fm.RigidBody.__mro__[1], Joint, CompiledForce, FunctionGroup, fm.Profile, fm.Coupling, fm.Drive)
    known = {name: getattr(fm, name) for name in fm.__all__} | {
        f"planar.{n}": getattr(fm.planar, n) for n in fm.planar.__all__
    }
    wanted = {name for name, cls in known.items() if inspect.isclass(cls) and issubclass(cls, kinds)}
    tried = {type(x) for x in OBJECTS} | {type(p) for x in OBJECTS for p in parts(x)}
    assert sorted(n for n in wanted - WITH_FUNCTIONS if known[n] not in tried) == []


def parts(x: Any) -> list[Any]:
    """Profiles that an object is given, one and two levels down."""
    if not dataclasses.is_dataclass(x):
        return list(x) if isinstance(x, tuple | list) else []
    found = [getattr(x, f.name, None) for f in dataclasses.fields(x)]
    deeper = [p for y in found if isinstance(y, fm.Profile | tuple | list) for p in parts(y)]
    return found + deeper + [p for y in deeper if isinstance(y, tuple) for p in y]


def test_what_is_shared_stays_shared() -> None:
    hinge, drive, system = again((HINGE, fm.Drive("d", HINGE.angle, 1.0), fm.System([GROUND, BODY], [HINGE])))
    assert drive.coordinate.joint is hinge
    assert drive.coordinate.frame_j is hinge.frame_j
    assert hinge.frame_j.body is system.bodies[1]
    cam = fm.planar.Cam(**FLAT_JOINT, curve_i=fm.planar.Circle(0.1), curve_j=fm.planar.Line())
    flat = fm.System([GROUND, FLAT], [cam])
    back = again(fm.System(flat.bodies, flat.joints))
    assert [type(j) for j in back.joints] == [type(j) for j in flat.joints]
    assert back.joints[0].contact is back.joints[1]
    assert back.joints[1].body is back.bodies[2]
    component = again(fm.component(B, "x"))
    assert component.frame_i.body is SPACE


def test_arrays_that_cannot_be_changed_still_cannot() -> None:
    """Compiled functions see another type otherwise, and are compiled once more."""
    back = again(BLADE)
    assert not back.reduced.basis.flags.writeable
    assert back.reduced.part.stiffness.toarray() == pytest.approx(BLADE.reduced.part.stiffness.toarray())
    assert again(np.ones(3)).flags.writeable


def test_curves_of_python_functions_are_what_they_were() -> None:
    curve = fm.planar.Curve(lambda s: (np.cos(s), 0.5 * np.sin(s)))
    assert np.array_equal(again(curve).derivatives(0.3), curve.derivatives(0.3))


def test_functions_become_names() -> None:
    def law(t: float, inputs: Any, memory: Any) -> Any:
        return 0.0, memory

    back = again(fm.Controller("pid", 0.1, [], HINGE.angle, law, memory=object()))
    assert isinstance(back.law, Forgotten)
    with pytest.raises(fm.ModelError, match="Python function 'law' is not in the file"):
        back.law(0.0, [], None)
    with pytest.raises(fm.ModelError, match="not in the file"):
        back.memory()


def test_classes_of_a_users_own_are_refused_by_name() -> None:
    class Own(fm.Spherical):
        pass

    system = fm.System([GROUND, BODY], [Own("ball", A, B)])
    with pytest.raises(FileError, match="joint 'ball' is a Own of your own program"):
        coded(system)
    with pytest.raises(FileError, match=r"a object in a\.b cannot be stored"):
        Encoder(lambda *_: None).value({"a": {"b": object()}})


@pytest.mark.parametrize("name", ["os.system", "builtins.eval", "errors.FileError", "results.objects.Forgotten"])
def test_nothing_but_parts_is_made(name: str) -> None:
    tree = {"root": {"object": 0}, "nodes": [{"class": name, "fields": {}}]}
    with pytest.raises(FileError, match=f"there is a {name} in it"):
        ModelDecoder(tree, np.zeros(0, np.uint8), {}, ALL).value(tree["root"])
    tree = {"root": {"exec": "1"}, "nodes": []}
    with pytest.raises(FileError, match="of kind 'exec'"):
        ModelDecoder(tree, np.zeros(0, np.uint8), {}, ALL).value(tree["root"])
    tree = {"root": {"object": 0}, "nodes": [{"array": ["<f8", 0, [4], True, "C"]}]}
    with pytest.raises(FileError, match="arrays are missing"):
        ModelDecoder(tree, np.zeros(16, np.uint8), {}, ALL).value(tree["root"])
    tree = {"root": {"object": 0}, "nodes": [{"array": ["|O", 0, [1], True, "C"]}]}
    with pytest.raises(FileError, match=r"an array of '\|O'"):
        ModelDecoder(tree, np.zeros(16, np.uint8), {}, ALL).value(tree["root"])
