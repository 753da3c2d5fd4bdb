"""Model reduction: parts with few coordinates in a floating frame, and the constants of their equations of motion."""

from flexmbs.reduction.constants import ModalConstants
from flexmbs.reduction.damping import ModalDamping, Rayleigh
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
from flexmbs.reduction.reduce import full_order_projection, reduce
from flexmbs.reduction.reduced import FrameShapes, ReducedPart
from flexmbs.reduction.reference import Chord, MeanAxes, Tangent
from flexmbs.reduction.stiffening import INERTIA_CASES, LoadCases, inertia_factors

__all__ = [
    "INERTIA_CASES",
    "Chord",
    "CraigBampton",
    "FrameShapes",
    "FreeInterface",
    "FullOrder",
    "Krylov",
    "LoadCases",
    "MeanAxes",
    "ModalConstants",
    "ModalDamping",
    "ModalTruncation",
    "Part",
    "Rayleigh",
    "ReducedPart",
    "Reduction",
    "StaticCondensation",
    "Tangent",
    "full_order_projection",
    "inertia_factors",
    "reduce",
]
