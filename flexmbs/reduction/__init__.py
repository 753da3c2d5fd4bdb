"""Model reduction: parts with few coordinates in a floating frame, and the constants of their equations of motion."""

from flexmbs.reduction.constants import ModalConstants
from flexmbs.reduction.damping import ModalDamping, Rayleigh
from flexmbs.reduction.floating import FloatingBody
from flexmbs.reduction.matrices import NodalMatrices, read_matrices
from flexmbs.reduction.methods import (
    CraigBampton,
    FreeInterface,
    FullOrder,
    Krylov,
    ModalTruncation,
    Reduction,
    StaticCondensation,
)
from flexmbs.reduction.part import Part
from flexmbs.reduction.recovery import Envelope, StrainGauges, StressModes, strain_gauges, stress_modes
from flexmbs.reduction.reduced import FrameShapes, ReducedPart
from flexmbs.reduction.reducing import full_order_projection, reduce
from flexmbs.reduction.reference import Chord, MeanAxes, Tangent
from flexmbs.reduction.stiffening import INERTIA_CASES, LoadCases, inertia_factors
from flexmbs.reduction.storage import load_reduced, load_stress_modes, save_reduced
from flexmbs.reduction.table import ModeRow

__all__ = [
    "INERTIA_CASES",
    "Chord",
    "CraigBampton",
    "Envelope",
    "FloatingBody",
    "FrameShapes",
    "FreeInterface",
    "FullOrder",
    "Krylov",
    "LoadCases",
    "MeanAxes",
    "ModalConstants",
    "ModalDamping",
    "ModalTruncation",
    "ModeRow",
    "NodalMatrices",
    "Part",
    "Rayleigh",
    "ReducedPart",
    "Reduction",
    "StaticCondensation",
    "StrainGauges",
    "StressModes",
    "Tangent",
    "full_order_projection",
    "inertia_factors",
    "load_reduced",
    "load_stress_modes",
    "read_matrices",
    "reduce",
    "save_reduced",
    "strain_gauges",
    "stress_modes",
]
