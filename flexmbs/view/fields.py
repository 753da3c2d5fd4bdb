"""Fields that bodies are coloured by: measures of stress by name, and values of one's own over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.errors import AnalysisError
from flexmbs.fem.stress import principal
from flexmbs.results import Result

Array = NDArray[np.float64]
OwnField = Mapping[Any, ArrayLike] | Callable[[FlexibleBody, Array], ArrayLike]

COMPONENTS = ("xx", "yy", "zz", "yz", "zx", "xy")
STRESSES = {
    "von_mises": "von Mises stress",
    "tresca": "Tresca stress",
    "max_principal": "largest principal stress",
    "min_principal": "smallest principal stress",
    **{f"stress_{c}": f"stress {c}" for c in COMPONENTS},
}
"""Measures of stress by name, and what colour bars call them; components are in the axes of the body."""
CHUNK = 16
"""Instants of which whole stress tensors are held at once."""


def measure(name: str, tensors: Array) -> Array:
    """A measure of stress other than von Mises's (...,) of tensors (..., 6) in the order of ``COMPONENTS``."""
    if name.startswith("stress_"):
        return np.asarray(tensors[..., COMPONENTS.index(name.removeprefix("stress_"))])
    values = principal(tensors)
    if name == "tresca":
        return np.asarray(values[..., 0] - values[..., -1])
    return np.asarray(values[..., 0 if name == "max_principal" else -1])


def has_elements(body: FlexibleBody) -> bool:
    """Whether a body knows its elements, and so its stress."""
    part = body.reduced.part
    return part is not None and part.elements is not None


def has_field(body: Any, name: str) -> bool:
    """Whether a body has a measure of stress; beams have von Mises's only, that of their outer fibres."""
    if not isinstance(body, FlexibleBody) or not has_elements(body):
        return False
    return name == "von_mises" or body.reduced.mesh.dimension > 1


def stress_field(result: Result, body: FlexibleBody, name: str, times: Array, nodes: NDArray[np.int64]) -> Array:
    """A measure of stress (times, nodes) at nodes of a body, between the instants of the result linearly.

    Vibrations faster than the instants kept show are then not made up in between. Tensors are held a few instants at a
    time.
    """
    first, share = before(result.t, times)
    needed, place = np.unique(np.concatenate([first, np.minimum(first + 1, len(result.t) - 1)]), return_inverse=True)
    found = np.empty((len(needed), len(nodes)))
    for start in range(0, len(needed), CHUNK):
        some = slice(start, start + CHUNK)
        if name == "von_mises":
            found[some] = result.von_mises(body, at=result.t[needed[some]], nodes=nodes)
        else:
            found[some] = measure(name, result.stress(body, at=result.t[needed[some]], nodes=nodes))
    left, right = place.ravel()[: len(times)], place.ravel()[len(times) :]
    return np.asarray((1 - share) * found[left] + share * found[right])


def before(instants: Array, times: Array) -> tuple[NDArray[np.int64], Array]:
    """Number of the instant before each time, and how far (times, 1) it is to the next, 0 to 1."""
    k = np.clip(np.searchsorted(instants, times, side="right") - 1, 0, max(len(instants) - 2, 0))
    if len(instants) == 1:
        return k, np.zeros((len(times), 1))
    return k, np.clip((times - instants[k]) / np.diff(instants)[k], 0.0, 1.0)[:, None]


def own_field(field: OwnField, result: Result, body: FlexibleBody, times: Array) -> Array | None:
    """Values (times, nodes) of a field of one's own on a body, None where it has none there.

    A mapping gives each body its nodal values, constant (nodes,) or at the instants of the result (time, nodes),
    between which they are interpolated; a function of body and times gives them for those times.
    """
    n = body.reduced.mesh.n_nodes
    if callable(field):
        values = np.asarray(field(body, times), dtype=float)
        expected = (len(times), n)
        if values.shape != expected:
            raise AnalysisError(
                f"color: the function gave values of shape {values.shape} for {body.name}, {len(times)} times and {n} "
                f"nodes; {expected} are needed."
            )
        return values
    if body not in field:
        return None
    values = np.asarray(field[body], dtype=float)
    if values.shape == (n,):
        return np.broadcast_to(values, (len(times), n))
    if values.shape != (len(result.t), n):
        raise AnalysisError(
            f"color: values of shape {values.shape} for {body.name}; its {n} nodes need ({n},), or ({len(result.t)}, "
            f"{n}) for the {len(result.t)} instants of the result."
        )
    k, share = before(result.t, times)
    return np.asarray((1 - share) * values[k] + share * values[np.minimum(k + 1, len(result.t) - 1)])


def check_own(field: OwnField, result: Result) -> None:
    """Refuse fields of one's own that belong to no flexible body of the mechanism."""
    if callable(field):
        return
    known = [b for b in result.system.bodies if isinstance(b, FlexibleBody)]
    for body in field:
        if not any(body is one for one in known):
            names = ", ".join(b.name for b in known) or "none"
            raise AnalysisError(
                f"color: {getattr(body, 'name', body)!r} is not a flexible body of this mechanism ({names})."
            )
    if not field:
        raise AnalysisError("color={}: give a flexible body its nodal values, e.g. color={rod: temperature}.")
