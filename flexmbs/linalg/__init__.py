"""Sparse symmetric factorisations and the eigenvalue problems that stand on them."""

from __future__ import annotations

from flexmbs.linalg.bordered import BorderedFactor
from flexmbs.linalg.factor import Factor, available_solvers, factorize
from flexmbs.linalg.modes import smallest_modes
from flexmbs.linalg.quadratic import quadratic_modes

__all__ = [
    "BorderedFactor",
    "Factor",
    "available_solvers",
    "factorize",
    "quadratic_modes",
    "smallest_modes",
]
