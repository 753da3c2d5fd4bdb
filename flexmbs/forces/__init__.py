"""Forces: declarations of wrenches on frames and on the measures between them."""

from flexmbs.forces.applied import AppliedForce
from flexmbs.forces.bushing import Bushing
from flexmbs.forces.contact import SphereOnPlane, SphereOnSphere
from flexmbs.forces.springs import JointFriction, SpringDamper, Stop
from flexmbs.forces.user import FrameState, UserForce

__all__ = [
    "AppliedForce",
    "Bushing",
    "FrameState",
    "JointFriction",
    "SphereOnPlane",
    "SphereOnSphere",
    "SpringDamper",
    "Stop",
    "UserForce",
]
