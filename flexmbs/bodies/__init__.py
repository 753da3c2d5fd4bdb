"""Bodies and the frames on them: all that joints, forces and sensors see of a body."""

from flexmbs.bodies import shapes
from flexmbs.bodies.body import Body, Frame
from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.bodies.ground import Ground
from flexmbs.bodies.planar import PlanarBody
from flexmbs.bodies.point import PointMass
from flexmbs.bodies.rigid import RigidBody

__all__ = ["Body", "FlexibleBody", "Frame", "Ground", "PlanarBody", "PointMass", "RigidBody", "shapes"]
