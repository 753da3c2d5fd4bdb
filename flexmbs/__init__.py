"""flexmbs: flexible multibody dynamics and finite-element assembly."""

from flexmbs import kernel_cache  # noqa: F401 - first: it finds a folder for the compiled kernels
from flexmbs.analyses.mass_properties import MassProperties, mass_properties
from flexmbs.analyses.modes import Modes, modes
from flexmbs.analyses.statics import StaticResult, statics
from flexmbs.analyses.supports import Averaged
from flexmbs.errors import (
    AnalysisError,
    FlexmbsError,
    MaterialError,
    MeshError,
    MeshWarning,
    ProjectionError,
    SolverError,
)
from flexmbs.fem.blocks import Blocks
from flexmbs.fem.elements import Elements
from flexmbs.fem.loads import Acceleration, Centrifugal, Force, Gravity, Pressure, Traction
from flexmbs.fem.lumped import GroundSpring, LumpedMass
from flexmbs.fem.stress import SectionForces, TensorField, principal, von_mises
from flexmbs.linalg import available_solvers, factorize
from flexmbs.materials import Material
from flexmbs.mesh.mesh import Mesh
from flexmbs.nullspace import NullSpace, null_space
from flexmbs.projection import Projection, averaging_rows
from flexmbs.sections import Section

__version__ = "0.1.0"

__all__ = [
    "Acceleration",
    "AnalysisError",
    "Averaged",
    "Blocks",
    "Centrifugal",
    "Elements",
    "FlexmbsError",
    "Force",
    "Gravity",
    "GroundSpring",
    "LumpedMass",
    "MassProperties",
    "Material",
    "MaterialError",
    "Mesh",
    "MeshError",
    "MeshWarning",
    "Modes",
    "NullSpace",
    "Pressure",
    "Projection",
    "ProjectionError",
    "Section",
    "SectionForces",
    "SolverError",
    "StaticResult",
    "TensorField",
    "Traction",
    "available_solvers",
    "averaging_rows",
    "factorize",
    "mass_properties",
    "modes",
    "null_space",
    "principal",
    "statics",
    "von_mises",
]
