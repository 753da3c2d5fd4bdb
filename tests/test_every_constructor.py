"""Every public constructor and analysis, every argument of it: what makes no sense is refused in words.

A name without an entry fails: whoever adds to the public surface says here how it is called rightly, and each argument
is then replaced by things that cannot be meant; or names the file that does it better.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexmbs as fm

NAN = float("nan")
GROUND, BODY, OTHER = fm.Ground(), fm.RigidBody("body", 1.0, (1, 1, 1)), fm.RigidBody("other", 1.0, (1, 1, 1))
FLAT = fm.PlanarBody("flat", 1.0, 1.0)
A, B, C = GROUND.at(0, 0, 0), BODY.at(-1, 0, 0), OTHER.at(0, 0, 0)
HINGE, SLIDE = fm.Revolute("hinge", A, B), fm.Prismatic("slide", A, C)
STEEL = fm.Material(2e11, 0.3, 7800.0)
BOX, LINE = fm.Mesh.box((1, 1, 1), (1, 1, 1)), fm.Mesh.line((0, 0, 0), (1, 0, 0), 2)
FREE = fm.System([GROUND, BODY], [HINGE], [fm.Gravity((0, -9.81, 0))])
DRIVEN = fm.System([GROUND, BODY], [HINGE, fm.Drive("drive", HINGE.angle, 0.5)])
STATE = FREE.initial
BLADE = fm.FlexibleBody(
    "blade", LINE, STEEL, section=fm.Section.rectangle(0.1, 0.1), fixed="start", reduction=fm.ModalTruncation(2)
)


def loaded(load: Callable[..., Any]) -> Callable[..., Any]:
    """Loads are checked where they meet a mesh."""
    return lambda **given: fm.statics(BOX, STEEL, load(**given), fixed="x0")


def attached(part: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **given: fm.Elements(BOX, STEEL, attachments=part(**given))


def supported(**given: Any) -> Any:
    return fm.statics(BOX, STEEL, fm.Force("x1", (0, 0, 1)), fixed=fm.Averaged(**given))


def weighed(**given: Any) -> Any:
    return fm.System([BODY], [], [fm.Gravity(**given)])


JOINT: dict[str, Any] = {"name": "j", "frame_i": A, "frame_j": B}
FLAT_JOINT: dict[str, Any] = {"name": "j", "frame_i": GROUND.at(0, 0), "frame_j": FLAT.at(0, 0)}
CONTACT: dict[str, Any] = {"name": "c", "frame_i": A, "frame_j": B, "stiffness": 1.0}
ADAPTIVE: dict[str, Any] = {"rtol": 1e-6, "atol": 1e-8, "max_step": 0.1}

SUBJECTS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Acceleration": (loaded(fm.Acceleration), {"linear": (0, 0, 1)}),
    "AppliedForce": (fm.AppliedForce, {"name": "f", "frame": B}),
    "AugmentedLagrangian": (fm.AugmentedLagrangian, {}),
    "Averaged": (supported, {"nodes": "x0"}),
    "Baumgarte": (fm.Baumgarte, ADAPTIVE | {"alpha": 5.0, "beta": 5.0}),
    "Bushing": (fm.Bushing, {"name": "b", "frame_i": A, "frame_j": B, "stiffness": (1.0,) * 6}),
    "Centrifugal": (loaded(fm.Centrifugal), {"omega": (0, 0, 1)}),
    "ConstantSpeed": (fm.ConstantSpeed, {"speed": 1.0, "start": 0.5}),
    "Coupling": (fm.Coupling, {"name": "c", "terms": ((1.0, HINGE.angle), (2.0, SLIDE.distance))}),
    "Cylindrical": (fm.Cylindrical, JOINT | {"start": 0.1, "rate": 0.1}),
    "Distance": (fm.Distance, JOINT | {"length": 1.0}),
    "Drive": (fm.Drive, {"name": "d", "coordinate": HINGE.angle, "motion": 1.0}),
    "Elements": (fm.Elements, {"mesh": BOX, "material": STEEL}),
    "Equations": (fm.Equations, {"M": np.eye(2), "f": np.ones(2), "J": np.ones((1, 2)), "gamma": np.ones(1)}),
    "Fixed": (fm.Fixed, JOINT),
    "Force": (loaded(fm.Force), {"nodes": "x1", "force": (0, 0, 1)}),
    "GeneralizedAlpha": (fm.GeneralizedAlpha, {"rho_inf": 0.5, "tolerance": 1e-8}),
    "Gravity": (weighed, {"acceleration": (0, 0, -9.81)}),
    "Ground": (fm.Ground, {"name": "g"}),
    "GroundSpring": (attached(fm.GroundSpring), {"nodes": "x0", "stiffness": (1, 1, 1)}),
    "Harmonic": (fm.Harmonic, {"amplitude": 1.0, "frequency": 2.0, "phase": 0.1, "offset": 0.2}),
    "JointFriction": (
        fm.JointFriction,
        {"name": "f", "coordinate": HINGE.angle, "preload": 1.0, "viscous": 1.0, "slip_speed": 0.1},
    ),
    "KnifeEdge": (fm.KnifeEdge, JOINT),
    "LumpedMass": (attached(fm.LumpedMass), {"nodes": "x0", "mass": 1.0}),
    "Maggi": (fm.Maggi, {}),
    "Material": (fm.Material, {"young": 2e11, "poisson": 0.3, "density": 7800.0}),
    "Mesh": (fm.Mesh, {"points": np.eye(3), "cells": [("triangle", [[0, 1, 2]])]}),
    "Newmark": (fm.Newmark, {"alpha": 0.1}),
    "PlanarBody": (fm.PlanarBody, {"name": "p", "mass": 1.0, "inertia": 1.0, "angle": 0.1, "angular_velocity": 0.2}),
    "PlaneJoint": (fm.PlaneJoint, JOINT),
    "PointInPlane": (fm.PointInPlane, JOINT),
    "PointMass": (fm.PointMass, {"name": "m", "mass": 1.0}),
    "PointOnLine": (fm.PointOnLine, JOINT),
    "Polynomial": (fm.Polynomial, {"coefficients": (1.0, 2.0)}),
    "Pressure": (loaded(fm.Pressure), {"faces": "x1", "value": 1.0}),
    "Prismatic": (fm.Prismatic, JOINT | {"start": 0.1, "rate": 0.1}),
    "Projected": (fm.Projected, ADAPTIVE),
    "Projection": (fm.Projection, {"matrix": np.eye(2), "offset": np.ones(2)}),
    "Ramp": (fm.Ramp, {"initial": 0.0, "final": 1.0, "start": 0.0, "duration": 1.0}),
    "Revolute": (fm.Revolute, JOINT | {"start": 0.1, "rate": 0.1}),
    "RigidBody": (fm.RigidBody, {"name": "b", "mass": 1.0, "inertia": (1.0, 1.0, 1.0)}),
    "RigidMotion": (fm.RigidMotion, {"angular_velocity": (0, 0, 1.0), "acceleration": (1.0, 0, 0)}),
    "RollingDisc": (fm.RollingDisc, JOINT | {"radius": 1.0}),
    "Screw": (fm.Screw, JOINT | {"pitch": 0.1, "start": 0.1, "rate": 0.1}),
    "Section": (fm.Section, {"area": 1.0, "Iy": 1.0, "Iz": 1.0, "J": 1.0}),
    "SmoothStep": (fm.SmoothStep, {"initial": 0.0, "final": 1.0, "start": 0.0, "duration": 1.0}),
    "SphereOnPlane": (fm.SphereOnPlane, CONTACT | {"radius": 1.0, "friction": 0.1, "damping": 0.1}),
    "SphereOnSphere": (fm.SphereOnSphere, CONTACT | {"radius_i": 1.0, "radius_j": 1.0}),
    "Spherical": (fm.Spherical, JOINT),
    "SpinUp": (fm.SpinUp, {"speed": 1.0, "over": 1.0}),
    "Spline": (fm.Spline, {"times": (0.0, 1.0, 2.0, 3.0), "values": (0.0, 1.0, 0.0, 1.0)}),
    "SpringDamper": (
        fm.SpringDamper,
        {"name": "s", "between": HINGE.angle, "stiffness": 1.0, "damping": 1.0, "rest": 0.1, "force": 1.0},
    ),
    "State": (lambda **given: fm.forward_dynamics(FREE, 1.0, start=fm.State(**given)), vars(STATE)),
    "Stop": (fm.Stop, {"name": "s", "coordinate": HINGE.angle, "lower": 0.0, "upper": 1.0, "stiffness": 1.0}),
    "System": (fm.System, {"bodies": [GROUND, BODY]}),
    "TangentSpaceODE": (fm.TangentSpaceODE, ADAPTIVE),
    "Traction": (loaded(fm.Traction), {"faces": "x1", "value": (0, 0, 1)}),
    "Universal": (fm.Universal, JOINT),
    "UserForce": (fm.UserForce, {"name": "u", "frames": [B], "function": lambda t, states: np.zeros(6)}),
    "accelerations": (fm.accelerations, {"system": FREE, "t": 0.0, "q": STATE.q, "v": STATE.v}),
    "averaging_rows": (fm.averaging_rows, {"model": fm.Elements(BOX, STEEL), "nodes": "x0"}),
    "elastodynamics": (
        fm.elastodynamics,
        {"model": BLADE, "rigid": fm.RigidMotion((0, 0, 1.0)), "t_end": 0.1, "step": 0.05, "output_step": 0.05},
    ),
    "factorize": (fm.factorize, {"K": np.eye(2)}),
    "forward_dynamics": (fm.forward_dynamics, {"system": FREE, "t_end": 0.1, "step": 0.1, "output_step": 0.1}),
    "gear": (fm.gear, {"name": "g", "driven": HINGE.angle, "driver": SLIDE.distance, "ratio": 2.0}),
    "quasi_static": (fm.quasi_static, {"system": DRIVEN}),
    "inverse_dynamics": (fm.inverse_dynamics, {"system": DRIVEN, "times": (0.0, 0.1)}),
    "kinematics": (fm.kinematics, {"system": DRIVEN, "times": (0.0, 0.1)}),
    "linearise": (fm.linearise, {"system": FREE, "inputs": [HINGE.angle], "outputs": [HINGE.angle]}),
    "mass_properties": (fm.mass_properties, {"model": BOX, "material": STEEL}),
    "modes": (fm.modes, {"model": FREE}),
    "null_space": (fm.null_space, {"J": np.ones((1, 2))}),
    "planar.Distance": (fm.planar.Distance, FLAT_JOINT | {"length": 1.0}),
    "planar.KnifeEdge": (fm.planar.KnifeEdge, FLAT_JOINT),
    "planar.PointOnLine": (fm.planar.PointOnLine, FLAT_JOINT),
    "planar.Prismatic": (fm.planar.Prismatic, FLAT_JOINT),
    "planar.Revolute": (fm.planar.Revolute, FLAT_JOINT),
    "planar.Rolling": (fm.planar.Rolling, FLAT_JOINT | {"radius": 1.0}),
    "principal": (fm.principal, {"values": np.zeros((1, 6))}),
    "statics": (fm.statics, {"model": FREE}),
    "von_mises": (fm.von_mises, {"values": np.zeros((1, 6))}),
}  # fmt: skip

OUTCOMES = {
    "Blocks", "Campbell", "Crossing", "ElasticResponse", "Envelope", "Equilibrium", "Frame", "FrequencyResponse",
    "LinearModel", "MassProperties", "MatrixForm", "Modes", "NullSpace", "Part", "Profile", "ReducedPart", "Result",
    "SectionForces", "Solution", "StaticResult", "StrainGauges", "StressModes", "SystemModes", "TensorField", "Tree",
}  # fmt: skip
"""What flexmbs makes and users read, and what is there to be inherited from."""

ELSEWHERE: dict[str, str] = {
    "BodyLoad": "forces/test_body_load.py",
    "Chord": "reduction/test_reduction_input.py",
    "CircleInCircle": "forces/test_hollow_contact.py",
    "CircleOnCircle": "forces/test_hollow_contact.py",
    "CircleOnLine": "forces/test_hollow_contact.py",
    "ConstantVelocity": "joints/test_gears_and_shafts.py",
    "Controller": "forces/test_controller.py",
    "CraigBampton": "reduction/test_reduction_input.py",
    "Event": "integrators/test_events.py",
    "ExplicitRK": "integrators/test_tree_motion.py",
    "FlexibleBody": "bodies/test_flexible_body.py",
    "FreeInterface": "reduction/test_reduction_input.py",
    "Gear": "joints/test_gears_and_shafts.py",
    "Krylov": "reduction/test_reduction_input.py",
    "ModalDamping": "reduction/test_reduction_input.py",
    "ModalTruncation": "reduction/test_reduction_input.py",
    "RackAndPinion": "joints/test_gears_and_shafts.py",
    "Rayleigh": "reduction/test_reduction_input.py",
    "Relation": "joints/test_user_constraints.py",
    "RotatingFrame": "forces/test_rotating_frame.py",
    "SphereInSphere": "forces/test_hollow_contact.py",
    "StrainGauge": "results/test_flexible_stress.py",
    "Tangent": "reduction/test_reduction_input.py",
    "UserConstraint": "joints/test_user_constraints.py",
    "component": "joints/test_gears_and_shafts.py",
    "load": "results/test_stored_results.py",
    "load_reduced": "reduction/test_reduction_storage.py",
    "load_stress_modes": "reduction/test_reduction_storage.py",
    "matrix_form": "system/test_tree.py",
    "planar.Cam": "joints/test_cam.py",
    "planar.Circle": "joints/test_cam.py",
    "planar.Curve": "joints/test_cam.py",
    "planar.Gear": "joints/test_gears_and_shafts.py",
    "planar.Line": "joints/test_cam.py",
    "quasi_static": "analyses/test_quasi_static.py",
    "read_matrices": "reduction/test_read_matrices.py",
    "reduce": "reduction/test_reduction_input.py",
    "save_reduced": "reduction/test_reduction_storage.py",
    "strain_gauges": "reduction/test_reduction_stress.py",
    "stress_modes": "reduction/test_reduction_stress.py",
    "BaseMotion": "analyses/test_frequency_response.py",
    "campbell": "analyses/test_campbell.py",
    "frequency_response": "analyses/test_frequency_response.py",
}
"""Names that are refused at length in a file of their own, e.g. "Event": "integrators/test_events.py"."""

PLAIN = {
    "FullOrder", "Gauss", "GibbsAppell", "MeanAxes", "ModalSuperposition", "Multipliers", "StaticCondensation",
    "UdwadiaKalaba", "available_solvers",
}  # fmt: skip
"""Without arguments."""

ANYTHING = {
    ("AppliedForce", "follows"), ("Centrifugal", "softening"), ("factorize", "definite"), ("modes", "stiffening"),
    ("factorize", "product"), ("State", "carried"), ("elastodynamics", "full_order"),
}  # fmt: skip
"""Switches, which take anything as yes or no; and what only the solvers themselves pass on."""


def public() -> set[str]:
    names = {f"planar.{name}" for name in fm.planar.__all__}
    for name in fm.__all__:
        thing = getattr(fm, name)
        problem = inspect.isclass(thing) and issubclass(thing, BaseException)
        if callable(thing) and not problem:
            names.add(name)
    return names


def test_every_public_name_is_tried() -> None:
    tried = set(SUBJECTS) | OUTCOMES | PLAIN | set(ELSEWHERE)
    assert sorted(public() - tried) == [], "say in SUBJECTS how these are called rightly"
    assert sorted(tried - public()) == [], "these are no longer public"


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_is_refused_elsewhere_is(name: str) -> None:
    text = (Path(__file__).parent / ELSEWHERE[name]).read_text()
    assert re.search(rf"\b{name.removeprefix('planar.')}\(", text)
    assert "pytest.raises(" in text


def arguments() -> list[tuple[str, str, Any]]:
    out: list[tuple[str, str, Any]] = []
    for name, (_, good) in SUBJECTS.items():
        owner: Any = fm.planar if name.startswith("planar.") else fm
        for key, parameter in inspect.signature(getattr(owner, name.removeprefix("planar."))).parameters.items():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD or (name, key) in ANYTHING:
                continue
            out.append((name, key, object()))
            if isinstance(good.get(key), float):
                out += [(name, key, NAN), (name, key, "nonsense")]
    return out


@pytest.mark.parametrize("name", SUBJECTS)
def test_what_is_right_is_taken(name: str) -> None:
    make, good = SUBJECTS[name]
    make(**good)


@pytest.mark.parametrize(("name", "key", "wrong"), arguments(), ids=lambda x: "object" if type(x) is object else str(x))
def test_what_makes_no_sense_is_refused_in_words(name: str, key: str, wrong: Any) -> None:
    make, good = SUBJECTS[name]
    with pytest.raises((fm.FlexmbsError, fm.SolverError)) as refusal:
        make(**(good | {key: wrong}))
    assert len(str(refusal.value)) > 15
