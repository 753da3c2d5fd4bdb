"""Null spaces of constraint Jacobians (Maggi): coordinate partitioning, QR and SVD, dense and sparse."""

from flexmbs.nullspace.nullspace import RANK_TOLERANCE, NullSpace, null_space

__all__ = ["RANK_TOLERANCE", "NullSpace", "null_space"]
