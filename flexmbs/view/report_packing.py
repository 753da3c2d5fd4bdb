"""Arrays within a page: rounded to few bits, as differences, gzipped, in base64; page/unpack.js reads them back."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

LEVEL = 9
"""Of gzip: pages are read more often than written."""


@dataclass(frozen=True, eq=False)
class Packed:
    """Bytes of an array, and how they are read: ``kind``, ``shape``, and for rounded ones ``low`` + ``step`` · n.

    The bytes of a kind are in planes (all first bytes, then all second ones, ...), which gzip shortens more.
    """

    kind: str
    shape: tuple[int, ...]
    data: bytes
    low: tuple[float, ...] = ()
    step: tuple[float, ...] = ()

    def entry(self, at: int) -> dict[str, Any]:
        """What the page is told of it; ``at`` is where its bytes begin."""
        out: dict[str, Any] = {"kind": self.kind, "shape": list(self.shape), "at": at}
        return out | ({"low": list(self.low), "step": list(self.step)} if self.low else {})


def floats(values: ArrayLike) -> Packed:
    """Numbers of 32 bits, as they are."""
    array = np.asarray(values, dtype="<f4")
    return Packed("float", array.shape, _planes(array))


def integers(values: ArrayLike) -> Packed:
    """Whole numbers from 0, as differences."""
    array = np.asarray(values, dtype="<u4")
    return Packed("integer", array.shape, _planes(np.diff(array.ravel(), prepend=array.dtype.type(0))))


def shorts(values: ArrayLike) -> Packed:
    """Rows (rows, n) rounded to 16 bits, each between its least and its largest value, as differences along it."""
    array = np.asarray(values, dtype=float)
    low = array.min(axis=1, initial=np.inf) if array.shape[1] else np.zeros(len(array))
    step = (array.max(axis=1, initial=-np.inf) - low) / 65535 if array.shape[1] else np.zeros(len(array))
    whole = np.rint((array - low[:, None]) / np.where(step > 0, step, 1.0)[:, None]).astype("<u2")
    differences = np.diff(whole, axis=1, prepend=np.zeros((len(whole), 1), dtype="<u2"))
    return Packed("short", array.shape, _planes(differences), tuple(map(float, low)), tuple(map(float, step)))


def octets(values: ArrayLike, low: float, high: float) -> Packed:
    """A history (time, n) rounded to 8 bits between two values, each of the n in turn, as second differences."""
    array = np.asarray(values, dtype=float)
    step = (high - low) / 255 or 1.0
    whole = np.rint((array.clip(low, high) - low) / step).astype(np.uint8)
    differences = np.diff(whole, 2, axis=0, prepend=np.zeros((2, whole.shape[1]), dtype=np.uint8))
    return Packed("octet", array.shape, differences.T.tobytes(), (float(low),), (float(step),))


def packed(tree: Any) -> tuple[Any, str]:
    """The tree with its arrays replaced by their entries, for JSON, and all their bytes as one text."""
    chunks: list[bytes] = []

    def walk(node: Any) -> Any:
        if isinstance(node, Packed):
            at = sum(map(len, chunks))
            chunks.append(node.data)
            return node.entry(at)
        if isinstance(node, Mapping):
            return {key: walk(value) for key, value in node.items()}
        if isinstance(node, list | tuple):
            return [walk(value) for value in node]
        if isinstance(node, np.generic):
            return node.item()
        return node

    plain = walk(tree)
    blob = gzip.compress(b"".join(chunks), LEVEL, mtime=0)  # the same result gives the same page
    return plain, base64.b64encode(blob).decode("ascii")


def _planes(array: NDArray[Any]) -> bytes:
    flat = np.ascontiguousarray(array).ravel()
    return flat.view(np.uint8).reshape(flat.size, array.dtype.itemsize).T.tobytes()
