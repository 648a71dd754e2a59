"""BLOCK neighboring numbers of a row at a time, in the vector registers of the processor.

A loop over the columns of a row would do the same. But the compiler, who cannot know that two rows
do not overlap nor how long they are, tests both for every row, which for rows of 64 columns takes
as long as the arithmetic. Here all that a formula reads is read before anything is written.

Where kernels are plain Python (NUMBA_DISABLE_JIT), lanes are short NumPy arrays.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, models, register_model, type_callable

from embedprop.kernels.machine.arrays import BLOCK, Float, Floats


def lanes(row: Floats, k: int) -> Floats:
    """Return row[k : k + BLOCK]; a compiled kernel trusts that the row has these columns."""
    return row[k : k + BLOCK].copy()


def put(row: Floats, k: int, values: Floats) -> None:
    """Write row[k : k + BLOCK]; a compiled kernel trusts that the row has these columns."""
    row[k : k + BLOCK] = values


def square_root(values: Floats) -> Floats:
    """Return the root of each."""
    return np.sqrt(values)


def total_of(values: Floats) -> Float:
    """Return their sum, added up in whatever order is fastest on this processor."""
    return values.sum()


class Lanes(types.Type):
    """The type of BLOCK numbers in vector registers."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(f"Lanes({dtype})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Lanes) -> None:
        number = manager.lookup(kind.dtype).get_value_type()
        super().__init__(manager, kind, ir.VectorType(number, BLOCK))


def _is_row(kind: Any) -> bool:
    """Return whether numbers of an array stand side by side in memory."""
    if not isinstance(kind, types.Array):
        return False
    return kind.ndim == 1 and kind.layout == "C" and isinstance(kind.dtype, types.Float)


def _place(context: Any, builder: Any, kinds: Any, values: Any) -> tuple[Any, int]:
    """Return where lanes of a row (row, k, ...) are in memory, and how they are aligned."""
    number = kinds[0].dtype
    data = context.make_array(kinds[0])(context, builder, values[0]).data
    start = builder.gep(data, [context.cast(builder, values[1], kinds[1], types.intp)])
    vector = ir.VectorType(context.get_value_type(number), BLOCK)
    return builder.bitcast(start, vector.as_pointer()), number.bitwidth // 8


type_callable(square_root)(lambda _context: lambda values: values)
type_callable(total_of)(lambda _context: lambda values: values.dtype)
type_callable(lanes)(
    lambda _context: lambda row, k: Lanes(row.dtype) if _is_row(row) else None  # noqa: ARG005
)


@lower_builtin(lanes, types.Array, types.Integer)
def _lower_lanes(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    # A row of any width begins where numbers do, not where vector registers would like it.
    place, align = _place(context, builder, signature.args, values)
    return builder.load(place, align=align)


@type_callable(put)
def _type_put(_context: Any) -> Callable[..., Any]:
    def kind_of(row: Any, _k: Any, values: Any) -> Any:
        fits = _is_row(row) and row.mutable and values == Lanes(row.dtype)
        return types.void if fits else None

    return kind_of


@lower_builtin(put, types.Array, types.Integer, Lanes)
def _lower_put(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    place, align = _place(context, builder, signature.args, values)
    builder.store(values[2], place, align=align)
    return context.get_dummy_value()


def _called(builder: Any, name: str, kind: Any, values: Any, **flags: Any) -> Any:
    """Call one of LLVM's own functions; of a vector, its name ends with the type of that."""
    vector = values[-1].type
    letter = {ir.FloatType(): "f32", ir.DoubleType(): "f64"}[vector.element]
    function = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(kind, [value.type for value in values]),
        f"llvm.{name}.v{BLOCK}{letter}",
    )
    return builder.call(function, values, **flags)


@lower_builtin(square_root, Lanes)
def _lower_square_root(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
    return _called(builder, "sqrt", values[0].type, values)


@lower_builtin(total_of, Lanes)
def _lower_total(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
    number = values[0].type.element
    zero = ir.Constant(number, 0.0)
    # "reassoc": in a fixed order each addition would wait for the one before.
    return _called(builder, "vector.reduce.fadd", number, [zero, *values], fastmath=("reassoc",))


def _in_lanes(context: Any, builder: Any, kind: Any, value: Any, result: Lanes) -> Any:
    """Return lanes as they are, and a number in every lane."""
    if isinstance(kind, Lanes):
        return value
    vector = context.get_value_type(result)
    number = context.cast(builder, value, kind, result.dtype)
    first = builder.insert_element(
        ir.Constant(vector, ir.Undefined), number, ir.Constant(ir.IntType(32), 0)
    )
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), BLOCK), [0] * BLOCK)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), everywhere)


def _register(operation: Any, instruction: str) -> None:
    def compute(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        result = signature.return_type
        a, b = (
            _in_lanes(context, builder, kind, value, result)
            for kind, value in zip(signature.args, values, strict=True)
        )
        return getattr(builder, instruction)(a, b)

    @type_callable(operation)
    def _type(_context: Any) -> Callable[..., Any]:
        def kind_of(a: Any, b: Any) -> Any:
            for one, other in ((a, b), (b, a)):
                if isinstance(one, Lanes) and (one == other or isinstance(other, types.Float)):
                    return one
            return None

        return kind_of

    for kinds in ((Lanes, Lanes), (types.Float, Lanes), (Lanes, types.Float)):
        lower_builtin(operation, *kinds)(compute)


_register(operator.add, "fadd")
_register(operator.sub, "fsub")
_register(operator.mul, "fmul")
_register(operator.truediv, "fdiv")
