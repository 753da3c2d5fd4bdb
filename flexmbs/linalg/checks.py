"""What a matrix must be before it is worked on; each error names the matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from flexmbs.errors import SolverError

Array = NDArray[np.float64]


def as_square(name: str, matrix: Any, *, size: int | None = None) -> sp.csc_matrix:
    """Return a real, finite, square matrix in CSC form, or raise a SolverError that names it."""
    if np.iscomplexobj(matrix):
        raise SolverError(f"{name} is complex: only real matrices are taken")
    try:
        result = sp.csc_matrix(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise SolverError(f"{name} must be a matrix, not {type(matrix).__name__}") from None
    rows, columns = result.shape
    if rows != columns or rows == 0:
        raise SolverError(f"{name} must be square and not empty; it is {rows} × {columns}")
    if size is not None and rows != size:
        raise SolverError(f"{name} is {rows} × {columns}, but {size} × {size} is needed")
    require_finite(name, result)
    if not result.has_canonical_format:
        result = result.copy()
        result.sum_duplicates()
    return result


def as_symmetric(name: str, matrix: Any, *, size: int | None = None) -> sp.csc_matrix:
    """Return a real, finite, symmetric matrix in CSC form, or raise a SolverError that names it."""
    result = as_square(name, matrix, size=size)
    y, z = np.random.default_rng(7).standard_normal((2, result.shape[0]))
    # for random y, z this is as sharp as comparing with the transpose, and much cheaper
    skew = abs(y @ (result @ z) - z @ (result @ y))
    if skew > 1e-9 * np.linalg.norm(result.data):
        raise SolverError(
            f"{name} ({result.shape[0]} × {result.shape[1]}) is not symmetric: for random y, z the difference "
            f"yᵀ{name}z − zᵀ{name}y is {skew:.3g}; if that is rounding, pass ({name} + {name}ᵀ)/2"
        )
    return result


def require_finite(name: str, matrix: sp.csc_matrix) -> None:
    """Raise a SolverError that names the row of the first entry that is NaN or infinite."""
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if len(bad):
        raise SolverError(
            f"{name} has {len(bad)} entries that are NaN or infinite, the first in row {matrix.indices[bad[0]]}"
        )
