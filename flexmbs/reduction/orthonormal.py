"""Bases made orthonormal in the mass, with a stated decision on what depends on the rest."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Array = NDArray[np.float64]

DEPENDENT = 1e-12
"""A combination of shapes of unit mass that has less modal mass than this follows from the others."""


def orthonormalised(gram: Array, size: Array | None = None) -> Array:
    """T with Tᵀ G T = 1 for a Gram matrix G = ΨᵀMΨ; combinations that follow from others are left out.

    ``size``: lengths of the shapes before something was taken out of them; what is left must count beside these.
    """
    length = np.sqrt(np.maximum(gram.diagonal(), 0.0)) if size is None else size
    some = length > 1e-12 * length.max(initial=0.0)
    unit = length[some]
    if not some.any():
        return np.zeros((len(gram), 0))
    values, vectors = scipy.linalg.eigh(gram[np.ix_(some, some)] / np.outer(unit, unit))
    kept = values > DEPENDENT
    out = np.zeros((len(gram), int(kept.sum())))
    out[some] = vectors[:, kept] / np.sqrt(values[kept]) / unit[:, None]
    return out
