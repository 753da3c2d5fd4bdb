"""Forces: declarations of wrenches on frames and on the measures between them."""

from flexmbs.forces.applied import AppliedForce
from flexmbs.forces.body_load import BodyLoad
from flexmbs.forces.bushing import Bushing
from flexmbs.forces.contact import (
    CircleInCircle,
    CircleOnCircle,
    CircleOnLine,
    SphereInSphere,
    SphereOnPlane,
    SphereOnSphere,
)
from flexmbs.forces.controller import Controller
from flexmbs.forces.rotating import RotatingFrame
from flexmbs.forces.springs import JointFriction, SpringDamper, Stop
from flexmbs.forces.user import FrameState, UserForce

__all__ = [
    "AppliedForce",
    "BodyLoad",
    "Bushing",
    "CircleInCircle",
    "CircleOnCircle",
    "CircleOnLine",
    "Controller",
    "FrameState",
    "JointFriction",
    "RotatingFrame",
    "SphereInSphere",
    "SphereOnPlane",
    "SphereOnSphere",
    "SpringDamper",
    "Stop",
    "UserForce",
]
