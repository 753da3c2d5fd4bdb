"""Sparse symmetric factorisations and the eigenvalue problems that stand on them."""

from __future__ import annotations

from flexmbs.linalg.factor import Factor, available_solvers, factorize
from flexmbs.linalg.modes import smallest_modes

__all__ = ["Factor", "available_solvers", "factorize", "smallest_modes"]
