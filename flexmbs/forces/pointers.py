"""Calls of compiled functions by their address, and arrays by theirs.

What the compiled step calls by name is compiled with it, used or not. Rare forces are therefore called by address:
their functions are compiled when a model first has such a force, and the step stays as it is.
"""

from __future__ import annotations

from typing import Any

from numba import carray, njit, types
from numba.core.cgutils import ir
from numba.extending import intrinsic

from flexmbs.forces.triples import inner

HOOK = types.void(types.int64, types.int64, types.float64, types.float64, types.int64, types.int64, types.int64)
"""A hook gets the address of a table of arrays, a force's number, two numbers, and the addresses of further arrays."""


@intrinsic
def call(context: Any, function: Any, table: Any, f: Any, x: Any, y: Any, a: Any, b: Any, c: Any) -> Any:
    """Call the hook at an address."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [target.get_value_type(t) for t in HOOK.args])
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])
        return target.get_dummy_value()

    return types.void(types.int64, *HOOK.args), generate


@intrinsic
def doubles(context: Any, address: Any) -> Any:
    """The address as one of floats."""
    kind = types.CPointer(types.float64)

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], target.get_value_type(kind))

    return kind(types.int64), generate


@intrinsic
def integers(context: Any, address: Any) -> Any:
    """The address as one of integers."""
    kind = types.CPointer(types.int64)

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], target.get_value_type(kind))

    return kind(types.int64), generate


@njit(**inner)
def floats(address, n):
    """The array (n,) at an address."""
    return carray(doubles(address), n)


@njit(**inner)
def table_of_floats(address, n, m):
    """The array (n, m) at an address."""
    return carray(doubles(address), (n, m))


@njit(**inner)
def blocks_of_floats(address, n, m, k):
    """The array (n, m, k) at an address."""
    return carray(doubles(address), (n, m, k))


@njit(**inner)
def numbers(address, n):
    """The array (n,) of integers at an address."""
    return carray(integers(address), n)


@njit(**inner)
def table_of_numbers(address, n, m):
    """The array (n, m) of integers at an address."""
    return carray(integers(address), (n, m))


@njit(**inner)
def blocks_of_numbers(address, n, m, k):
    """The array (n, m, k) of integers at an address."""
    return carray(integers(address), (n, m, k))


@njit(**inner)
def links(address):
    """The array (1, 5, 3, 3) at an address."""
    return carray(doubles(address), (1, 5, 3, 3))
