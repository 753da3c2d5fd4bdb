"""Functions of time that know their first and second derivatives."""

from flexmbs.profiles.duals import Dual
from flexmbs.profiles.function import FunctionProfile, as_profile
from flexmbs.profiles.laws import ConstantSpeed, Harmonic, Polynomial, Ramp, SmoothStep, SpinUp, Spline
from flexmbs.profiles.profile import Constant, Profile
from flexmbs.profiles.table import ProfileTable, evaluate, evaluate_all

__all__ = [
    "Constant",
    "ConstantSpeed",
    "Dual",
    "FunctionProfile",
    "Harmonic",
    "Polynomial",
    "Profile",
    "ProfileTable",
    "Ramp",
    "SmoothStep",
    "SpinUp",
    "Spline",
    "as_profile",
    "evaluate",
    "evaluate_all",
]
