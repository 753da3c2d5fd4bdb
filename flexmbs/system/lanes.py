"""Four values at a time: the two operations of elimination, as vector instructions of whatever processor runs them.

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


@intrinsic
def subtract_lanes(typing_context, data, target, factor, source):
    """data[target : target + 4] -= factor · data[source : source + 4]."""

    def generate(context, builder, signature, arguments):
        data, target, factor, source = arguments
        kind = signature.args[0]
        into = _place(context, builder, kind, data, target)
        left = builder.load(into, align=8)
        right = builder.load(_place(context, builder, kind, data, source), align=8)
        zero = ir.Constant(ir.IntType(32), 0)
        spread = builder.insert_element(ir.Constant(_vector, ir.Undefined), factor, zero)
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        spread = builder.shuffle_vector(spread, spread, lanes)
        product = builder.fmul(spread, right, flags=("contract",))
        builder.store(builder.fsub(left, product, flags=("contract",)), into, align=8)
        return context.get_dummy_value()

    return types.none(data, types.int64, types.float64, types.int64), generate


@intrinsic
def dot_lanes(typing_context, data, at, other, first):
    """Σ data[at + j] other[first + j], j = 0 … 3."""

    def generate(context, builder, signature, arguments):
        data, at, other, first = arguments
        left = builder.load(_place(context, builder, signature.args[0], data, at), align=8)
        right = builder.load(_place(context, builder, signature.args[2], other, first), align=8)
        kind = ir.FunctionType(ir.DoubleType(), [ir.DoubleType(), _vector])
        add = cgutils.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.fadd.v{LANES}f64")
        zero = ir.Constant(ir.DoubleType(), 0.0)
        return builder.call(add, [zero, builder.fmul(left, right)], fastmath=("reassoc",))

    return types.float64(data, types.int64, other, types.int64), generate
