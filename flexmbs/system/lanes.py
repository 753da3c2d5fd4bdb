"""Four values at a time: the operations of elimination, as vector instructions of whatever processor runs them.

Loops as short as the rows of a body's matrix are not vectorised by the compiler, which cannot know that they are short;
written as operations on four values they are, and the compiler splits them where the processor has narrower registers.
Indices are not checked.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 4
"""Values combined at a time; whoever uses these functions fills up his rows to a multiple of it."""

_vector = ir.VectorType(ir.DoubleType(), LANES)


def _place(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Pointer to four values of an array."""
    data = cgutils.create_struct_proxy(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _vector.as_pointer())


def _spread(builder: Any, value: Any) -> Any:
    """Four times the same value."""
    zero = ir.Constant(ir.IntType(32), 0)
    one = builder.insert_element(ir.Constant(_vector, ir.Undefined), value, zero)
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


def _steps(builder: Any, count: Any) -> Any:
    """A loop over 0, 4, 8 … below ``count``."""
    kind = count.type
    return cgutils.for_range_slice(builder, kind(0), count, kind(LANES), kind)


@intrinsic
def subtract_lanes(typing_context, data, target, factor, source, count):
    """data[target + j] -= factor · data[source + j], j below ``count``, a multiple of four; the two are apart."""

    def generate(context, builder, signature, arguments):
        data, target, factor, source, count = arguments
        kind, factors = signature.args[0], _spread(builder, factor)
        with _steps(builder, count) as (j, _):
            into = _place(context, builder, kind, data, builder.add(target, j))
            left = builder.load(into, align=8)
            right = builder.load(_place(context, builder, kind, data, builder.add(source, j)), align=8)
            product = builder.fmul(factors, right, flags=("contract",))
            builder.store(builder.fsub(left, product, flags=("contract",)), into, align=8)
        return context.get_dummy_value()

    return types.none(data, types.int64, types.float64, types.int64, types.int64), generate


@intrinsic
def scale_lanes(typing_context, data, target, factor, count):
    """data[target + j] *= factor, j below ``count``, a multiple of four."""

    def generate(context, builder, signature, arguments):
        data, target, factor, count = arguments
        factors = _spread(builder, factor)
        with _steps(builder, count) as (j, _):
            into = _place(context, builder, signature.args[0], data, builder.add(target, j))
            builder.store(builder.fmul(factors, builder.load(into, align=8)), into, align=8)
        return context.get_dummy_value()

    return types.none(data, types.int64, types.float64, types.int64), generate


@intrinsic
def dot_lanes(typing_context, data, at, other, count):
    """Σ data[at + j] other[j], j below ``count``, a multiple of four."""

    def generate(context, builder, signature, arguments):
        data, at, other, count = arguments
        total = cgutils.alloca_once_value(builder, ir.Constant(_vector, [0.0] * LANES))
        with _steps(builder, count) as (j, _):
            left = builder.load(_place(context, builder, signature.args[0], data, builder.add(at, j)), align=8)
            right = builder.load(_place(context, builder, signature.args[2], other, j), align=8)
            product = builder.fmul(left, right, flags=("contract",))
            builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
        kind = ir.FunctionType(ir.DoubleType(), [ir.DoubleType(), _vector])
        add = cgutils.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.fadd.v{LANES}f64")
        zero = ir.Constant(ir.DoubleType(), 0.0)
        return builder.call(add, [zero, builder.load(total)], fastmath=("reassoc",))

    return types.float64(data, types.int64, other, types.int64), generate
