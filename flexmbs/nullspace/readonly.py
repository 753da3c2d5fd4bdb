"""Arrays and sparse matrices that cannot be changed."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp


def frozen(x: Any) -> Any:
    """The same array or CSR matrix, made read-only."""
    if not sp.issparse(x):
        x.setflags(write=False)
        return x
    x.sum_duplicates()  # and sorts: SciPy would want to do so in place later, and fail
    for array in (x.data, x.indices, x.indptr):
        array.setflags(write=False)
    return x
