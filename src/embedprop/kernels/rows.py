"""What a mini-batch does to the rows of a table: catch them up before, add their messages after."""

from numba import prange

from embedprop.kernels.adam import AdamTables, Table, add_gradient, catch_up
from embedprop.kernels.arrays import Floats, Ints
from embedprop.kernels.batch import Scratch
from embedprop.kernels.compile import kernel
from embedprop.kernels.prefetch import prefetch_to_write
from embedprop.kernels.segments import split, sum_rows


@kernel()
def next_receiver(starts: Ints, ends: Ints, i: int, high: int) -> int:
    """Return the first row from i on that receives a message, or `high`."""
    while i < high and starts[i] == ends[i]:
        i += 1
    return i


@kernel()
def receive(
    table: Table,
    source: Floats,
    scratch: Scratch,
    low: int,
    high: int,
    gradient: Floats,
    step: int,
    tables: AdamTables,
) -> None:
    """Add the messages of rows low..high to their moments."""
    # Named tuples in inner loops cost reference counts: take the arrays out first.
    starts, ends, rows = scratch.starts, scratch.ends, scratch.rows
    entries, weights = scratch.entries, scratch.weights
    direction, root, gradient_step = table.direction, table.root, table.gradient_step
    weighted = weights.shape[0] > 0
    i = next_receiver(starts, ends, low, high)
    while i < high:
        following = next_receiver(starts, ends, i + 1, high)
        if following < high:
            prefetch_to_write(direction, rows[following])
            prefetch_to_write(root, rows[following])
        row, message = rows[i], gradient
        if ends[i] - starts[i] == 1 and not weighted:
            message = source[entries[starts[i]]]
        else:
            sum_rows(gradient, source, entries, weights, starts[i], ends[i], False)
        add_gradient(direction[row], root[row], message, gradient_step[row], step, tables)
        gradient_step[row] = step
        i = following


@kernel(parallel=True)
def backward(
    table: Table,
    source: Floats,
    scratch: Scratch,
    n_rows: int,
    gradients: Floats,
    step: int,
    tables: AdamTables,
    bounds: Ints,
) -> None:
    """Add to the moments of each row the sum of the messages that it receives."""
    split(scratch.starts, scratch.ends, 0, n_rows, 8, bounds)
    for part in prange(bounds.shape[0] - 1):
        receive(
            table, source, scratch, bounds[part], bounds[part + 1], gradients[part], step, tables
        )


@kernel(parallel=True)
def catch_up_rows(
    table: Table,
    rows: Ints,
    n_rows: int,
    until: int,
    learning_rate: float,
    tables: AdamTables,
    n_parts: int,
) -> None:
    """Bring rows[:n_rows] to their values after step `until`, in parallel."""
    for part in prange(n_parts):
        low, high = part * n_rows // n_parts, (part + 1) * n_rows // n_parts
        catch_up(table, rows, low, high, until, learning_rate, tables)
