"""Ask for a row of a table before it is needed, so that the wait for memory overlaps with work.

A mini-batch reads rows in random order, which no hardware foresees.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from embedprop.kernels.machine.arrays import Floats, Ints

_LINE = 64  # bytes that come together on all common processors


@intrinsic(prefer_literal=True)
def _prefetch_lines(
    _context: Any, table: Any, _row: Any, _offset: Any, n_lines: Any, to_write: Any
) -> tuple[Any, Callable[..., Any]]:
    """Emit LLVM's prefetch for a number of lines of a row, from the byte `offset` on."""
    n, is_write = n_lines.literal_value, to_write.literal_value

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        int32, int64, pointer = ir.IntType(32), ir.IntType(64), ir.IntType(8).as_pointer()
        stride = builder.extract_value(array.strides, 0)
        start = builder.add(builder.ptrtoint(array.data, int64), builder.mul(arguments[1], stride))
        start = builder.add(start, arguments[2])
        kind = ir.FunctionType(ir.VoidType(), [pointer, int32, int32, int32])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        for line in range(n):
            address = builder.inttoptr(builder.add(start, int64(line * _LINE)), pointer)
            # To be kept in all caches; data, not code.
            builder.call(prefetch, [address, int32(is_write), int32(3), int32(1)])
        return context.get_dummy_value()

    return types.void(table, types.int64, types.int64, n_lines, to_write), generate


def prefetch(table: Floats, row: int) -> None:
    """Start to load table[row] into the caches; nothing else changes."""


def prefetch_to_write(table: Floats, row: int) -> None:
    """Do the same for a row that will be changed: other cores' copies are called in at once."""


def prefetch_number(numbers: Ints, index: int) -> None:
    """Start to load numbers[index] and some of its neighbors."""


def prefetch_number_to_write(numbers: Ints, index: int) -> None:
    """Do the same for one number that will be changed."""


def _whole_row(to_write: int) -> Callable[..., Callable[..., None]]:
    """Return what generates the prefetch of a row.

    Eight lines at a time, then four, two and one: to ask for the four lines of 64 columns in a loop
    took as long as to compute with them.
    """
    lines: Any = _prefetch_lines

    def generate(table: Any, row: Any) -> Callable[..., None]:  # noqa: ARG001
        def load(table: Any, row: Any) -> None:
            size = table.shape[1] * table.itemsize
            offset = 0
            while offset + 8 * _LINE <= size:
                lines(table, row, offset, 8, to_write)
                offset += 8 * _LINE
            if size & 4 * _LINE:
                lines(table, row, offset, 4, to_write)
                offset += 4 * _LINE
            if size & 2 * _LINE:
                lines(table, row, offset, 2, to_write)
                offset += 2 * _LINE
            if size & _LINE:
                lines(table, row, offset, 1, to_write)

        return load

    return generate


overload(prefetch)(_whole_row(0))
overload(prefetch_to_write)(_whole_row(1))


def _line_of(to_write: int) -> Callable[..., Callable[..., None]]:
    """Return what generates the prefetch of one number."""
    lines: Any = _prefetch_lines

    def generate(numbers: Any, index: Any) -> Callable[..., None]:  # noqa: ARG001
        def load(numbers: Any, index: Any) -> None:
            lines(numbers, index, 0, 1, to_write)

        return load

    return generate


overload(prefetch_number)(_line_of(0))
overload(prefetch_number_to_write)(_line_of(1))
