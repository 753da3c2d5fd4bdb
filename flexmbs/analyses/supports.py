"""How a part is held: what users write after ``fixed=``, as a projection and, for averaged supports, border rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import AnalysisError
from flexmbs.fem.elements import Elements
from flexmbs.projection import Averaged, Projection, averaging_rows

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Supports:
    """Full nodal coordinates = projection · free ones, and rows B with B d = 0 for averaged supports."""

    projection: Projection
    border: Any | None  # (rows, nodal coordinates) sparse

    @property
    def reduced_border(self) -> tuple[Any, Array] | None:
        """B A and the right-hand side -B · offset, for the free coordinates."""
        if self.border is None:
            return None
        return self.border @ self.projection.matrix, -np.asarray(self.border @ self.projection.offset)


def supports(elements: Elements, fixed: Any) -> Supports:
    """Read ``fixed``.

    A set name, node numbers or an ``Averaged`` set: wholly held. A mapping from sets to components ("xy"), or to
    prescribed values ({"x": 1e-3, "y": 0.0}). A Projection: used as it is. A list: all of these at once.
    """
    projections: list[Projection] = []
    rows: list[Any] = []
    for item in _items(fixed):
        if isinstance(item, Projection):
            if item.shape[0] != elements.n_dofs:
                raise AnalysisError(
                    f"fixed: a projection of {item.shape[0]} coordinates; the part has {elements.n_dofs}."
                )
            projections.append(item)
        elif isinstance(item, Averaged):
            rows.append(averaging_rows(elements, item.nodes)[0])
        elif isinstance(item, Mapping):
            for name, what in item.items():
                if isinstance(what, Mapping):
                    projections.append(Projection.fix(elements, name, tuple(what), _values(elements, name, what)))
                else:
                    projections.append(Projection.fix(elements, name, what))
        else:
            projections.append(Projection.fix(elements, item))
    combined = projections[0] if projections else Projection.identity(elements.n_dofs)
    for other in projections[1:]:
        combined = combined & other
    return Supports(combined, sp.csr_array(sp.vstack(rows)) if rows else None)


def _items(fixed: Any) -> list[Any]:
    if fixed is None:
        return []
    if isinstance(fixed, str | Mapping | Projection | Averaged):
        return [fixed]
    if isinstance(fixed, list | tuple) and any(isinstance(i, str | Mapping | Projection | Averaged) for i in fixed):
        return list(fixed)
    if isinstance(fixed, list | tuple) and all(np.ndim(i) == 1 for i in fixed):
        return [np.asarray(i) for i in fixed]  # several selections of node numbers; none at all for an empty list
    numbers: ArrayLike = fixed
    return [np.asarray(numbers)]


def _values(elements: Elements, name: Any, given: Mapping[Any, Any]) -> Array:
    """Prescribed values (nodes, components): one number for all nodes of the set, or one for each."""
    count = len(elements.nodes(name))
    columns = []
    for component, value in given.items():
        try:
            columns.append(np.broadcast_to(np.asarray(value, dtype=float), count))
        except (TypeError, ValueError):
            raise AnalysisError(
                f"fixed: the prescribed displacement {component!r} of {name!r} must be a number, or one for each of "
                f"its {count} nodes, not {value!r}."
            ) from None
    return np.column_stack(columns)
