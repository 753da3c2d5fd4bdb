"""Principles of mechanics as solvers: all give the same accelerations and reactions (theory: section 5)."""

from flexmbs.formulations.augmented_lagrangian import AugmentedLagrangian
from flexmbs.formulations.formulation import Formulation
from flexmbs.formulations.gauss import Gauss
from flexmbs.formulations.gibbs_appell import GibbsAppell
from flexmbs.formulations.maggi import Maggi
from flexmbs.formulations.multipliers import Multipliers
from flexmbs.formulations.udwadia_kalaba import UdwadiaKalaba

__all__ = ["AugmentedLagrangian", "Formulation", "Gauss", "GibbsAppell", "Maggi", "Multipliers", "UdwadiaKalaba"]
