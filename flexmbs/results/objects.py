"""Objects as data: a tree of names and numbers beside arrays, from which equal objects are made again.

Each object is written once, by the name of its class and its fields, and referred to by number wherever else it occurs,
so that what was shared stays shared. Reading executes nothing of a file: classes come from a list of flexmbs's own, and
Python functions, of which only the name is kept, become stand-ins.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp
from numpy.typing import NDArray

from flexmbs.errors import FileError, ModelError

Bytes = NDArray[np.uint8]
Maker = Callable[[Any, dict[str, Any]], Any]

KINDS = "biufc"
"""Kinds of numbers of which arrays are stored."""
ALIGNED = 16


class Forgotten:
    """Stands for a Python function, or an object of its own, of the program that made a file; calling it is refused."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__name__ = name

    def __repr__(self) -> str:
        return f"<{self.name} of the program that made the file>"

    def __call__(self, *given: Any, **options: Any) -> Any:
        """Refuse."""
        raise ModelError(
            f"the Python function {self.name!r} is not in the file: run the program that made it to have it evaluated."
        )


class Encoder:
    """Writes objects into a tree and a block of bytes.

    ``special`` gives, for objects that are not written by their fields, what is: the name of a class and its parts, or
    a reference of any other kind; None for all others.
    """

    def __init__(self, special: Callable[[Encoder, Any], Any]) -> None:
        self.special = special
        self.nodes: list[Any] = []
        self.arrays: list[NDArray[Any]] = []
        self.size = 0
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []  # numbers are by id, which must not be given to others meanwhile
        self._path: list[str] = []

    def value(self, x: Any) -> Any:
        """x as a value of the tree."""
        if x is None or isinstance(x, str | bool):
            return x
        if isinstance(x, np.bool_ | np.integer):
            return x.item()
        if isinstance(x, int):
            return x
        if isinstance(x, float | np.floating):
            return float(x) if np.isfinite(x) else {"float": str(float(x))}
        if isinstance(x, complex):
            return {"complex": [x.real, x.imag]}
        if isinstance(x, np.ndarray):
            return self._array(x)
        if sp.issparse(x):
            return self._sparse(x)
        if isinstance(x, scipy.interpolate.BSpline):
            return {"bspline": [self.value(x.t), self.value(x.c), int(x.k), x.extrapolate]}
        special = self.special(self, x)
        if special is not None:
            return special
        if isinstance(x, tuple) and hasattr(x, "_asdict"):
            return self.object(x, x._asdict())
        if isinstance(x, tuple | list | set | frozenset):
            items = [self.value(y) for y in x]
            return items if isinstance(x, list) else {"tuple" if isinstance(x, tuple) else "set": items}
        if isinstance(x, Mapping):
            kind = "dict" if isinstance(x, dict) else "mapping"
            return {kind: [[self.value(k), self._at(str(k), y)] for k, y in x.items()]}
        if dataclasses.is_dataclass(x) and type(x).__module__.startswith("flexmbs."):
            return self.object(x, {f.name: getattr(x, f.name) for f in dataclasses.fields(x)})
        if callable(x):
            return {"function": function_name(x)}
        where = f" in {'.'.join(self._path)}" if self._path else ""
        raise FileError(f"a {type(x).__name__}{where} cannot be stored: it is a class of your own program, not a part.")

    def object(self, x: Any, parts: dict[str, Any], name: str | None = None, **more: Any) -> dict[str, int]:
        """Reference to an object that is written by its parts, once."""
        known = self._numbers.get(id(x))
        if known is None:
            known = self._numbers[id(x)] = len(self.nodes)
            self._alive.append(x)
            self.nodes.append(None)
            called = getattr(x, "name", None)
            label = called if isinstance(called, str) else type(x).__name__
            self._path.append(label)
            fields = {key: self._at(key, y) for key, y in parts.items()}
            self._path.pop()
            self.nodes[known] = {"class": name or class_name(type(x)), "fields": fields, **more}
        return {"object": known}

    def known(self, x: Any) -> bool:
        """Whether an object was written already."""
        return id(x) in self._numbers

    def _at(self, key: str, x: Any) -> Any:
        self._path.append(key)
        out = self.value(x)
        self._path.pop()
        return out

    def _array(self, x: NDArray[Any]) -> Any:
        if x.dtype.kind == "O":
            return {"objects": [list(x.shape), [self.value(y) for y in x.ravel()]]}
        if x.dtype.kind not in KINDS:
            return {"strings": x.tolist()}
        known = self._numbers.get(id(x))
        if known is None:
            known = self._numbers[id(x)] = len(self.nodes)
            self._alive.append(x)
            place = self.size
            order = "F" if x.flags.f_contiguous and not x.flags.c_contiguous else "C"
            self.nodes.append({"array": [x.dtype.str, place, list(x.shape), bool(x.flags.writeable), order]})
            self.arrays.append(x)
            self.size = -(-(place + x.nbytes) // ALIGNED) * ALIGNED
        return {"object": known}

    def _sparse(self, x: Any) -> Any:
        csr = sp.csr_array(x)
        return {"csr": [self.value(a) for a in (csr.data, csr.indices, csr.indptr)] + [list(csr.shape)]}

    def text(self, root: Any, **more: Any) -> bytes:
        """The whole tree."""
        return json.dumps({"root": root, "nodes": self.nodes, **more}, allow_nan=False).encode()

    def block(self) -> Bytes:
        """The bytes of all arrays."""
        out = np.zeros(self.size, dtype=np.uint8)
        written = [node["array"] for node in self.nodes if "array" in node]
        for (_, place, _, _, order), x in zip(written, self.arrays, strict=True):
            out[place : place + x.nbytes] = np.frombuffer(x.tobytes(order=order), dtype=np.uint8)
        return out


class Decoder:
    """Makes the objects of a tree again.

    ``classes`` are those that may be made, by name; ``makers`` make, from their parts, what has no plain fields;
    ``references`` answer references of other kinds.
    """

    def __init__(
        self,
        tree: dict[str, Any],
        block: Bytes,
        classes: Mapping[str, type],
        makers: Mapping[str, Maker],
        references: Mapping[str, Callable[[Any], Any]],
    ) -> None:
        self.nodes, self.block = tree["nodes"], block
        self.classes, self.makers, self.references = classes, makers, references
        self._made: dict[int, Any] = {}

    def value(self, x: Any) -> Any:
        """What a value of the tree stands for."""
        if isinstance(x, list):
            return [self.value(y) for y in x]
        if not isinstance(x, dict):
            return x
        ((kind, given),) = x.items()
        if kind == "object":
            return self._object(int(given))
        if kind in self.references:
            return self.references[kind](given)
        if kind == "float":
            return float(given)
        if kind == "complex":
            return complex(*given)
        if kind == "csr":
            *arrays, shape = given
            return sp.csr_array(tuple(self.value(a) for a in arrays), shape=tuple(shape))
        if kind == "bspline":
            t, c, k, extrapolate = given
            return scipy.interpolate.BSpline(self.value(t), self.value(c), k, extrapolate)
        if kind == "objects":
            out = np.empty(len(given[1]), dtype=object)
            out[:] = [self.value(y) for y in given[1]]
            return out.reshape(given[0])
        if kind == "strings":
            return np.array(given)
        if kind in ("tuple", "set"):
            items = (self.value(y) for y in given)
            return tuple(items) if kind == "tuple" else frozenset(items)
        if kind in ("dict", "mapping"):
            pairs = {self.value(k): self.value(y) for k, y in given}
            return pairs if kind == "dict" else MappingProxyType(pairs)
        if kind == "function":
            return Forgotten(str(given))
        raise FileError(f"there is something of kind {kind!r} in it that this version of flexmbs does not know.")

    def _object(self, number: int) -> Any:
        if number in self._made:
            return self._made[number]
        node = self.nodes[number]
        if "array" in node:
            self._made[number] = self._array(*node["array"])
            return self._made[number]
        name, fields = node["class"], node["fields"]
        cls = self.classes.get(name)
        if cls is None:
            raise FileError(f"there is a {name} in it, which this version of flexmbs does not know.")
        if name in self.makers:
            parts = {key: self.value(x) for key, x in fields.items()}
            self._made[number] = self.makers[name](node, parts)
            return self._made[number]
        if issubclass(cls, tuple):
            self._made[number] = cls(**{key: self.value(x) for key, x in fields.items()})
            return self._made[number]
        made = self._made[number] = object.__new__(cls)  # before its fields, which may refer to it
        for key, x in fields.items():
            object.__setattr__(made, key, self.value(x))
        for field in dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ():
            if field.name not in fields:  # a file of an older version
                object.__setattr__(made, field.name, default_of(field, name))
        return made

    def _array(self, dtype: str, place: int, shape: list[int], writeable: bool, order: str) -> NDArray[Any]:
        kind = np.dtype(dtype)
        if kind.kind not in KINDS:
            raise FileError(f"there is an array of {dtype!r} in it.")
        count = int(np.prod(shape, dtype=np.int64))
        if place < 0 or place + count * kind.itemsize > len(self.block):
            raise FileError("arrays are missing at its end.")
        flat = self.block[place : place + count * kind.itemsize].view(kind)
        out = flat.reshape(shape, order="F" if order == "F" else "C")
        if not writeable:
            out = out.view()
            out.setflags(write=False)
        return out


def default_of(field: Any, name: str) -> Any:
    """What a field that a file does not have is."""
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    raise FileError(f"its {name} has no {field.name}.")


def class_name(cls: type) -> str:
    """What a class is called in files."""
    return f"{cls.__module__.removeprefix('flexmbs.')}.{cls.__qualname__}"


def function_name(x: Any) -> str:
    """What a function is called in messages."""
    return str(getattr(x, "__name__", None) or type(x).__name__)
