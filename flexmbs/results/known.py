"""What files of results hold: the classes of flexmbs that may be in them, and how those without plain fields are kept.

A model is kept as what its user gave: bodies, joints, forces, meshes, materials. Reduced bodies keep their modes, and
their finite elements are made again. Python functions are kept as they were at the instants, see ``played``.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from typing import Any

from flexmbs import equations, materials, sections
from flexmbs.bodies import body, flexible, ground, planar, point, rigid, shapes
from flexmbs.bodies.ground import SPACE
from flexmbs.errors import FileError
from flexmbs.fem import blocks, elements, loads, lumped, stress
from flexmbs.fem.elements import Elements
from flexmbs.forces import applied, body_load, bushing, contact, controller, rotating, springs, user
from flexmbs.forces.body_load import BodyLoad
from flexmbs.forces.controller import Controller
from flexmbs.forces.rotating import RotatingFrame
from flexmbs.forces.springs import SpringDamper
from flexmbs.forces.user import UserForce
from flexmbs.integrators import (
    alpha_run,
    baumgarte,
    explicit,
    generalized_alpha,
    newmark,
    projected,
    tangent_space,
)
from flexmbs.joints import cam, curves, drives, joint, relations, spatial
from flexmbs.joints import planar as planar_joints
from flexmbs.joints import user as user_joints
from flexmbs.joints.cam import Cam, Contact
from flexmbs.joints.curves import Curve
from flexmbs.joints.drives import Coupling, Drive
from flexmbs.joints.joint import Joint
from flexmbs.joints.relations import Relation
from flexmbs.joints.user import UserConstraint
from flexmbs.mesh import mesh as meshes
from flexmbs.mesh import topology
from flexmbs.mesh.mesh import Mesh
from flexmbs.profiles import FunctionProfile, Profile, as_profile, laws
from flexmbs.profiles import profile as profiles
from flexmbs.profiles.profile import Combination
from flexmbs.projection import interfaces as averaging
from flexmbs.projection import projection, stages
from flexmbs.reduction import (
    constants,
    damping,
    full,
    interfaces,
    methods,
    part,
    recovery,
    reduced,
    reference,
    space,
    stiffening,
)
from flexmbs.reduction import table as mode_table
from flexmbs.reduction.full import FullPart, assembled
from flexmbs.reduction.part import Part
from flexmbs.reduction.space import Space
from flexmbs.results import flexing, gauges, moving
from flexmbs.results.objects import Decoder, Encoder, Forgotten, class_name, function_name
from flexmbs.results.played import (
    PLAYED,
    Delayed,
    PlayedProfile,
    Series,
    Watched,
    flattened,
    is_called,
)
from flexmbs.system import state
from flexmbs.system import system as systems
from flexmbs.system.system import System

MODULES = (
    *(equations, materials, sections, body, flexible, ground, planar, point, rigid, shapes, loads, lumped, elements),
    *(blocks, stress),
    *(applied, body_load, bushing, contact, controller, rotating, springs, user),
    *(alpha_run, baumgarte, explicit, generalized_alpha, newmark, projected, tangent_space),
    *(cam, curves, drives, joint, relations, spatial, planar_joints, user_joints, meshes, topology, laws, profiles),
    *(averaging, projection, stages, constants, damping, interfaces, methods, part, recovery, reduced, reference),
    *(full, space, stiffening, mode_table, flexing, gauges, moving, state, systems),
)
"""Modules whose classes may be in files."""

PLAIN = (Mesh, Elements, Space, System, Contact)
"""Classes among these that have no fields, and are kept as their parts."""

TIMES: dict[type, tuple[str, ...]] = {
    Drive: ("motion",), Coupling: ("value",), SpringDamper: ("force",), applied.AppliedForce: ("force", "torque"),
    BodyLoad: ("factor",), RotatingFrame: ("angular_velocity", "acceleration"),
}  # fmt: skip
"""Fields that take functions of time, alone or three of them."""

BESIDE: dict[type, tuple[str, ...]] = {Cam: ("contact",), Curve: ("splines",)}
"""What objects keep beside their fields and cannot be found again."""


@dataclasses.dataclass(frozen=True)
class History:
    """Stands for one of the histories of a file, in the tree of that file."""

    name: str


def classes_of(modules: tuple[Any, ...]) -> dict[str, type]:
    """Classes that modules define with fields, and those that are kept as parts."""
    return {
        class_name(cls): cls
        for module in modules
        for cls in vars(module).values()
        if inspect.isclass(cls) and cls.__module__ == module.__name__
        if dataclasses.is_dataclass(cls) or issubclass(cls, tuple) or cls in PLAIN or issubclass(cls, Coupling)
    }


CLASSES: Mapping[str, type] = classes_of(MODULES)


ABOVE = ("analyses.", "results.result.")
"""Where classes are that files know beside these: what analyses give."""


class ModelEncoder(Encoder):
    """Writes models; ``watched`` are the Python functions met on the way."""

    def __init__(self) -> None:
        super().__init__(_special)
        self.watched = Watched()
        self.functions: dict[int, dict[str, Any]] = {}

    def object(self, x: Any, parts: dict[str, Any], name: str | None = None, **more: Any) -> dict[str, int]:
        """Reference to an object of a class that can be read again."""
        label = name or class_name(type(x))
        if label not in CLASSES and not label.startswith(ABOVE):
            raise FileError(f"a {type(x).__name__} cannot be stored: files do not know this class.")
        return super().object(x, parts, name, **more)

    def time_function(self, given: Any, delay: float = 0.0) -> Any:
        """Reference to a Python function of time, by its place among all that are watched."""
        profile = as_profile(given)
        key = id(given)
        self._alive.append(given)
        if key not in self.functions or delay:
            place = self.watched.place(3)
            self.watched.times.append((Delayed(profile, delay), place))
            name = function_name(getattr(given, "function", None) or given)
            kinks = [k + delay for k in profile.kinks]
            entry = {"played": [place.start, getattr(given, "name", name), kinks]}
            if delay:
                return entry
            self.functions[key] = entry
        return self.functions[key]


def _special(encoder: Encoder, x: Any) -> Any:
    """How objects that are not just fields are written; None for those that are."""
    assert isinstance(encoder, ModelEncoder)
    if x is SPACE:
        return {"space": None}
    if isinstance(x, History):
        return {"history": x.name}
    if isinstance(x, Forgotten):
        return {"function": x.name}
    if isinstance(x, _Late):
        return encoder.time_function(x.profile, x.delay)
    if isinstance(x, Profile):
        return _profile(encoder, x)
    if isinstance(x, Mesh):
        parts = ("points", "cells", "node_sets", "cell_sets", "face_sets", "name")
        return encoder.object(x, {key: getattr(x, key) for key in parts})
    if isinstance(x, Elements):
        given = ("mesh", "material", "section", "thickness", "plane", "formulation", "up", "attachments")
        return encoder.object(x, {key: getattr(x, key) for key in given})
    if isinstance(x, Part):
        fields = {f.name: getattr(x, f.name) for f in dataclasses.fields(x)}
        return encoder.object(x, {"elements": x.elements} if x.elements is not None else fields | {"product": None})
    if isinstance(x, Space):
        return encoder.object(x, {key: getattr(x, key) for key in ("part", "places", "fixed")})
    if isinstance(x, FullPart):  # what follows from these is made again
        kept = ("name", "space", "conditions", "reference", "loads", "damping")
        return encoder.object(x, {key: getattr(x, key) for key in kept})
    if isinstance(x, System):
        return encoder.object(x, {"bodies": x.bodies, "joints": x.joints, "forces": x.forces})
    if isinstance(x, Contact):
        return encoder.object(x, {key: getattr(x, key) for key in ("cam", "name", "body")})
    if isinstance(x, moving.Samples | Controller):
        return encoder.object(x, _fields(x) | {"memory": _remembered(x.memory)})
    if isinstance(x, tuple(PLAYED)):
        return _function(encoder, x)
    if type(x) in TIMES:
        timed = {key: _timed(encoder, getattr(x, key)) for key in TIMES[type(x)]}
        return encoder.object(x, _fields(x) | timed)
    if type(x) in BESIDE:
        return encoder.object(x, _fields(x) | {key: getattr(x, key) for key in BESIDE[type(x)]})
    if isinstance(x, Joint) and class_name(type(x)) not in CLASSES:
        raise FileError(f"joint {x.name!r} is a {type(x).__name__} of your own program, which cannot be stored.")
    return None


def _fields(x: Any) -> dict[str, Any]:
    return {f.name: getattr(x, f.name) for f in dataclasses.fields(x)}


def _profile(encoder: ModelEncoder, x: Profile) -> Any:
    if is_called(x):
        return encoder.time_function(x)
    parts = flattened(x)
    if isinstance(x, Combination) and any(is_called(p) for *_, p in parts):
        return encoder.object(x, {"parts": tuple((w, 0.0, _Late(p, s)) if is_called(p) else (w, s, p)
                                                 for w, s, p in parts)})  # fmt: skip
    return None


@dataclasses.dataclass(frozen=True)
class _Late(Profile):
    """A part of a sum that begins later, on its way into a file."""

    profile: Profile
    delay: float

    def terms(self) -> Any:
        """Those of the part."""
        return self.profile.terms()


def _timed(encoder: ModelEncoder, given: Any) -> Any:
    """A function of time, or several, with Python functions as profiles."""
    if isinstance(given, Profile) or not (callable(given) or isinstance(given, tuple | list)):
        return given
    if callable(given):
        return FunctionProfile(given)
    return type(given)(_timed(encoder, x) for x in given)


def _remembered(memory: Any) -> Any:
    """What a controller remembers, where files can hold it."""
    try:
        ModelEncoder().value(memory)
    except FileError:
        return Forgotten(f"memory {type(memory).__name__}")
    return memory


def _function(encoder: ModelEncoder, x: Any) -> Any:
    """A constraint or force by a Python function, with the place of what it gives."""
    base = next(kind for kind in PLAYED if isinstance(x, kind))
    fields = {f.name: getattr(x, f.name) for f in dataclasses.fields(base)}
    if encoder.known(x):
        return encoder.object(x, fields)
    watched = encoder.watched
    if isinstance(x, UserForce):
        place = watched.place(6 * len(x.frames))
        watched.forces.append((x, place))
    else:
        measures = len(x.rows[0].terms)
        place = watched.place(len(x.rows) * (3 + measures))
        watched.groups.append((x, place))
    return encoder.object(x, fields, class_name(base), played=[place.start, place.stop])


# ---- reading --------------------------------------------------------------------------------------------------------


class ModelDecoder(Decoder):
    """Makes models again; ``times`` and ``functions`` are the instants, and what Python functions gave at them."""

    def __init__(
        self, tree: dict[str, Any], block: Any, histories: Mapping[str, Any], classes: Mapping[str, type] = CLASSES
    ) -> None:
        self.histories = histories
        self._played: dict[tuple[Any, ...], PlayedProfile] = {}
        makers = {
            class_name(Mesh): lambda _, parts: Mesh(**parts),
            class_name(Elements): lambda _, parts: Elements(parts.pop("mesh"), parts.pop("material"), **parts),
            class_name(Part): lambda _, parts: (
                Part(**parts) if parts.get("elements") is None else Part.of_elements(parts["elements"])
            ),
            class_name(Space): lambda _, parts: Space(**parts),
            class_name(FullPart): lambda _, parts: assembled(**parts),
            class_name(System): lambda _, parts: System(**parts),
            **{class_name(base): self._function(base) for base in (Relation, UserConstraint, UserForce)},
        }
        references = {
            "space": lambda _: SPACE,
            "played": self._profile,
            "history": lambda name: self.histories[name],
        }
        super().__init__(tree, block, classes, makers, references)

    def _series(self, start: int, stop: int) -> Series:
        return Series(self.histories["t"], self.histories["functions"][:, start:stop])

    def _profile(self, given: Any) -> PlayedProfile:
        place, name, kinks = given
        key = (place, name)
        if key not in self._played:
            self._played[key] = PlayedProfile(name, self._series(place, place + 3), tuple(kinks))
        return self._played[key]

    def _function(self, base: type) -> Any:
        def make(node: dict[str, Any], parts: dict[str, Any]) -> Any:
            made: Any = object.__new__(PLAYED[base])
            for key, x in (parts | {"series": self._series(*node["played"])}).items():
                object.__setattr__(made, key, x)
            return made

        return make
