"""Whether two models are the same: that of a file, and that of a program which goes on with it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

NEAR = 1e-6
"""Relative difference of numbers that rounding may make of the same model."""

NOISE = {
    ("ModeRow", "error"), ("ModeRow", "shares"), ("ModeRow", "effective_mass"), ("LoadCases", "missed"),
    ("LoadCases", "energy"), ("LoadCases", "residual"), ("ReducedPart", "neglected"), ("ReducedPart", "part"),
}  # fmt: skip
"""Fields that do not matter to a motion, of classes in which they are mostly rounding."""


class Tree(NamedTuple):
    """The nodes of a tree with the bytes of their arrays."""

    nodes: list[Any]
    block: NDArray[np.uint8]

    def array(self, node: Any) -> NDArray[Any]:
        """An array."""
        dtype, place, shape, _, _ = node["array"]
        kind = np.dtype(dtype)
        count = int(np.prod(shape, dtype=np.int64))
        return self.block[place : place + count * kind.itemsize].view(kind)


def difference(a: Tree, b: Tree, x: Any, y: Any) -> str:
    """Where two values first differ, as a path of names; nothing where they do not."""
    return _value(a, b, x, y, "", set())


def _value(a: Tree, b: Tree, x: Any, y: Any, path: str, seen: set[tuple[int, int]]) -> str:
    if isinstance(x, float) and isinstance(y, float | int):
        return "" if abs(x - y) <= NEAR * max(abs(x), abs(y)) else path
    if isinstance(x, list) and isinstance(y, list):
        if len(x) != len(y):
            return path
        return next((found for p, q in zip(x, y, strict=True) if (found := _value(a, b, p, q, path, seen))), "")
    if not isinstance(x, dict) or not isinstance(y, dict):
        return "" if x == y else path
    if "object" in x and "object" in y:
        pair = x["object"], y["object"]
        if pair in seen:
            return ""
        seen.add(pair)
        return _node(a, b, a.nodes[pair[0]], b.nodes[pair[1]], path, seen)
    if x.keys() != y.keys():
        return path
    return next((found for key in x if (found := _value(a, b, x[key], y[key], path, seen))), "")


def _node(a: Tree, b: Tree, x: Any, y: Any, path: str, seen: set[tuple[int, int]]) -> str:
    if "array" in x or "array" in y:
        if ("array" in x) != ("array" in y) or x["array"][2] != y["array"][2] or x["array"][0] != y["array"][0]:
            return path
        one, two = a.array(x), b.array(y)
        size = max((np.abs(z).max(initial=0.0) for z in (one, two)), default=0.0) if one.dtype.kind in "fc" else 0.0
        return "" if np.allclose(one, two, rtol=0.0, atol=NEAR * size) else path
    if x["class"] != y["class"] or x["fields"].keys() != y["fields"].keys():
        return path or "what it is made of"
    kind, name = x["class"].rpartition(".")[2], x["fields"].get("name")
    here = f"{kind} {name!r}" if isinstance(name, str) else path or kind
    for key in x["fields"]:
        if (kind, key) not in NOISE:
            found = _value(a, b, x["fields"][key], y["fields"][key], f"{key} of {here}", seen)
            if found:
                return found
    return ""
