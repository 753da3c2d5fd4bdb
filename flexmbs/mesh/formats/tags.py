"""Integer arrays on nodes or cells as groups, in formats that have no named sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]

SET = "set:"
"""Prefix of the 0/1 arrays in which we keep sets under their names."""

MOST_TAGS = 256
"""An integer array with more different values is a numbering, not a grouping."""

NUMBERINGS = (
    *("globalid", "globalids", "globalelementid", "globalnodeid", "pedigreeids", "pedigreenodeid"),
    *("vtkoriginalcellids", "vtkoriginalpointids", "vtkghosttype", "gmsh:geometrical"),
)


def groups_of(name: str, values: NDArray[Any], families: Mapping[int, list[str]] | None = None) -> dict[str, Index]:
    """Members by group: ``<array>_<value>`` for each value, or the names that ``families`` has for it.

    Arrays of other than integers, or that number the cells, give none.
    """
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or values.dtype.kind not in "iub" or name.lower() in NUMBERINGS:
        return {}
    if name.startswith(SET):
        return {name.removeprefix(SET): np.flatnonzero(values)}
    tags = np.unique(values)
    if len(tags) > MOST_TAGS:
        return {}
    groups: dict[str, list[Index]] = {}
    for tag in tags:
        for group in [f"{name}_{int(tag)}"] if families is None else families.get(int(tag), []):
            groups.setdefault(group, []).append(np.flatnonzero(values == tag))
    return {group: np.concatenate(parts) for group, parts in groups.items()}
