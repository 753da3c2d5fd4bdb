"""Write docs/reference.md from the docstrings of the public names: python docs/make_reference.py."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import flexmbs
from flexmbs import view

PAGE = Path(__file__).with_name("reference.md")

GROUPS = {
    "Meshes": ["Mesh"],
    "Materials and sections": ["Material", "Section", "LumpedMass", "GroundSpring"],
    "Elements": ["Elements", "Blocks"],
    "Projections": ["Projection", "averaging_rows", "null_space", "NullSpace"],
    "Loads and supports": ["Force", "Traction", "Pressure", "Gravity", "Acceleration", "Centrifugal", "Averaged"],
    "Analyses and results": [
        *("statics", "StaticResult", "modes", "Modes", "mass_properties", "MassProperties"),
        *("TensorField", "SectionForces", "von_mises", "principal"),
    ],
    "Bodies": ["Ground", "RigidBody", "PlanarBody", "PointMass", "Frame", "shapes"],
    "Joints": [
        *("Fixed", "Revolute", "Prismatic", "Cylindrical", "Screw", "Spherical", "Universal", "PlaneJoint"),
        *("PointOnLine", "PointInPlane", "Distance", "KnifeEdge", "RollingDisc", "planar", "Drive", "Coupling", "gear"),
        *("ConstantVelocity", "Gear", "RackAndPinion", "component", "Relation", "UserConstraint"),
    ],
    "Functions of time": [
        *("Profile", "ConstantSpeed", "Ramp", "SmoothStep", "SpinUp", "Harmonic", "Polynomial", "Spline"),
    ],
    "Forces on mechanisms": [
        *("AppliedForce", "SpringDamper", "Stop", "JointFriction", "Bushing", "SphereOnPlane", "SphereOnSphere"),
        "UserForce",
    ],
    "Mechanisms": ["System", "State", "Tree", "Equations", "Solution", "matrix_form", "MatrixForm"],
    "Analyses of mechanisms": [
        *("kinematics", "inverse_dynamics", "forward_dynamics", "accelerations", "Result", "load"),
        *("Equilibrium", "SystemModes", "linearise", "LinearModel"),
    ],
    "Formulations": ["Maggi", "Multipliers", "UdwadiaKalaba", "Gauss", "GibbsAppell", "AugmentedLagrangian"],
    "Integrators": ["GeneralizedAlpha", "TangentSpaceODE", "ExplicitRK", "Baumgarte", "Projected"],
    "Solvers": ["factorize", "available_solvers"],
}


def reference() -> str:
    """The whole page."""
    listed = {name for names in GROUPS.values() for name in names}
    rest = [name for name in flexmbs.__all__ if name not in listed]
    errors = [name for name in rest if name.endswith(("Error", "Warning"))]
    groups = {**GROUPS, "Others": [name for name in rest if name not in errors], "Errors and warnings": errors}
    lines = ["# Reference", "", "All public names, from their docstrings (written by `docs/make_reference.py`)."]
    for title, names in groups.items():
        if names:
            lines += ["", f"## {title}"]
            for name in names:
                lines += entry(f"{name}", getattr(flexmbs, name))
    lines += ["", "## Pictures", "", "`from flexmbs import view`"]
    for name in view.__all__:
        lines += entry(f"view.{name}", getattr(view, name))
    return "\n".join(lines) + "\n"


def entry(name: str, thing: Any) -> list[str]:
    """One function or class with its public methods, or a module with its public names."""
    if inspect.ismodule(thing):
        members = [(key, getattr(thing, key)) for key in thing.__all__]
        listed = [f"- `{name}.{key}{signature(member)}` — {first_line(member)}" for key, member in members]
        return ["", f"### `{name}`", "", *text(thing), "", *listed]
    call = "" if inspect.isclass(thing) and issubclass(thing, Exception) else signature(thing)
    lines = ["", f"### `{name}{call}`", "", *text(thing)]
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        members = {
            key: member
            for base in reversed(thing.__mro__[:-1])
            for key, member in vars(base).items()
            if not key.startswith("_") and inspect.getdoc(member) and described(member)
        }
        lines += [""] if members else []
        lines += [f"- `{key}{method_signature(member)}` — {first_line(member)}" for key, member in members.items()]
    return lines


def described(member: Any) -> bool:
    """Methods and properties, not plain class attributes."""
    kinds = classmethod | staticmethod | property
    return isinstance(member, kinds) or inspect.isfunction(member) or hasattr(member, "attrname")


def method_signature(member: Any) -> str:
    """Arguments without self and cls; nothing for properties."""
    if isinstance(member, property) or hasattr(member, "attrname"):
        return ""
    function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
    return signature(function, skip=0 if isinstance(member, staticmethod) else 1)


def signature(function: Any, skip: int = 0) -> str:
    """Arguments with their defaults, without annotations."""
    found = inspect.signature(function)
    arguments = [p.replace(annotation=inspect.Parameter.empty) for p in list(found.parameters.values())[skip:]]
    return str(found.replace(parameters=arguments, return_annotation=inspect.Signature.empty))


def first_line(thing: Any) -> str:
    """First paragraph of a docstring as one line."""
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())


def text(thing: Any) -> list[str]:
    """A docstring, its parameter section as a list."""
    lines: list[str] = []
    listing = False
    doc = (inspect.getdoc(thing) or "").splitlines()
    for k, line in enumerate(doc):
        if set(line) == {"-"}:
            continue
        if k + 1 < len(doc) and doc[k + 1] and set(doc[k + 1]) == {"-"}:
            lines += [f"**{line}**", ""]
            listing = True
        elif listing and " : " in line and not line.startswith(" "):
            names, meaning = line.split(" : ", 1)
            lines.append(f"- `{names}`: {meaning}")
        else:
            lines.append(line)
    return lines


if __name__ == "__main__":
    PAGE.write_text(reference())
