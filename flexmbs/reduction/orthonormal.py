"""Bases made orthonormal in the mass, with a stated decision on what depends on the rest."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Array = NDArray[np.float64]

DEPENDENT = 1e-12
"""A combination of shapes of unit mass that has less modal mass than this follows from the others."""


def orthonormalised(gram: Array) -> Array:
    """T with Tᵀ G T = 1 for a Gram matrix G = ΨᵀMΨ; combinations that follow from others are left out."""
    size = np.sqrt(np.maximum(gram.diagonal(), 0.0))
    some = size > 1e-12 * size.max(initial=0.0)
    unit = size[some]
    values, vectors = scipy.linalg.eigh(gram[np.ix_(some, some)] / np.outer(unit, unit))
    kept = values > DEPENDENT * max(values.max(initial=0.0), 1.0)
    out = np.zeros((len(gram), int(kept.sum())))
    out[some] = vectors[:, kept] / np.sqrt(values[kept]) / unit[:, None]
    return out
