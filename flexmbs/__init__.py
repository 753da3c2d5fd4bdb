"""flexmbs: flexible multibody dynamics and finite-element assembly."""

from flexmbs import kernel_cache  # noqa: F401 - first: it finds a folder for the compiled kernels
from flexmbs.analyses.equilibrium import Equilibrium, SystemModes
from flexmbs.analyses.forward_dynamics import forward_dynamics
from flexmbs.analyses.kinematics import accelerations, inverse_dynamics, kinematics
from flexmbs.analyses.linear_model import LinearModel, linearise
from flexmbs.analyses.mass_properties import MassProperties, mass_properties
from flexmbs.analyses.modes import Modes, modes
from flexmbs.analyses.statics import StaticResult, statics
from flexmbs.analyses.supports import Averaged
from flexmbs.bodies import Frame, Ground, PlanarBody, PointMass, RigidBody
from flexmbs.equations import Equations, Solution
from flexmbs.errors import (
    AnalysisError,
    FlexmbsError,
    MaterialError,
    MeshError,
    MeshWarning,
    ModelError,
    ProjectionError,
    SolverError,
)
from flexmbs.fem.blocks import Blocks
from flexmbs.fem.elements import Elements
from flexmbs.fem.loads import Acceleration, Centrifugal, Force, Gravity, Pressure, Traction
from flexmbs.fem.lumped import GroundSpring, LumpedMass
from flexmbs.fem.stress import SectionForces, TensorField, principal, von_mises
from flexmbs.forces import (
    AppliedForce,
    Bushing,
    JointFriction,
    SphereOnPlane,
    SphereOnSphere,
    SpringDamper,
    Stop,
    UserForce,
)
from flexmbs.formulations import (
    AugmentedLagrangian,
    Gauss,
    GibbsAppell,
    Maggi,
    Multipliers,
    UdwadiaKalaba,
)
from flexmbs.integrators import Baumgarte, Event, GeneralizedAlpha, Projected, TangentSpaceODE
from flexmbs.joints import planar
from flexmbs.joints.drives import Coupling, Drive, gear
from flexmbs.joints.spatial import (
    Cylindrical,
    Distance,
    Fixed,
    KnifeEdge,
    PlaneJoint,
    PointInPlane,
    PointOnLine,
    Prismatic,
    Revolute,
    RollingDisc,
    Screw,
    Spherical,
    Universal,
)
from flexmbs.linalg import available_solvers, factorize
from flexmbs.materials import Material
from flexmbs.mesh.mesh import Mesh
from flexmbs.nullspace import NullSpace, null_space
from flexmbs.profiles import ConstantSpeed, Harmonic, Polynomial, Profile, Ramp, SmoothStep, SpinUp, Spline
from flexmbs.projection import Projection, averaging_rows
from flexmbs.results import Result
from flexmbs.sections import Section
from flexmbs.system.state import State
from flexmbs.system.system import System

__version__ = "0.1.0"

__all__ = [
    "Acceleration",
    "AnalysisError",
    "AppliedForce",
    "AugmentedLagrangian",
    "Averaged",
    "Baumgarte",
    "Blocks",
    "Bushing",
    "Centrifugal",
    "ConstantSpeed",
    "Coupling",
    "Cylindrical",
    "Distance",
    "Drive",
    "Elements",
    "Equations",
    "Equilibrium",
    "Event",
    "Fixed",
    "FlexmbsError",
    "Force",
    "Frame",
    "Gauss",
    "GeneralizedAlpha",
    "GibbsAppell",
    "Gravity",
    "Ground",
    "GroundSpring",
    "Harmonic",
    "JointFriction",
    "KnifeEdge",
    "LinearModel",
    "LumpedMass",
    "Maggi",
    "MassProperties",
    "Material",
    "MaterialError",
    "Mesh",
    "MeshError",
    "MeshWarning",
    "ModelError",
    "Modes",
    "Multipliers",
    "NullSpace",
    "PlanarBody",
    "PlaneJoint",
    "PointInPlane",
    "PointMass",
    "PointOnLine",
    "Polynomial",
    "Pressure",
    "Prismatic",
    "Profile",
    "Projected",
    "Projection",
    "ProjectionError",
    "Ramp",
    "Result",
    "Revolute",
    "RigidBody",
    "RollingDisc",
    "Screw",
    "Section",
    "SectionForces",
    "SmoothStep",
    "Solution",
    "SolverError",
    "SphereOnPlane",
    "SphereOnSphere",
    "Spherical",
    "SpinUp",
    "Spline",
    "SpringDamper",
    "State",
    "StaticResult",
    "Stop",
    "System",
    "SystemModes",
    "TangentSpaceODE",
    "TensorField",
    "Traction",
    "UdwadiaKalaba",
    "Universal",
    "UserForce",
    "accelerations",
    "available_solvers",
    "averaging_rows",
    "factorize",
    "forward_dynamics",
    "gear",
    "inverse_dynamics",
    "kinematics",
    "linearise",
    "mass_properties",
    "modes",
    "null_space",
    "planar",
    "principal",
    "statics",
    "von_mises",
]
