"""What a mini-batch does to the rows of a table: catch them up before, add their messages after."""

from embedprop.kernels.epb.adam import AHEAD, AdamTables, Table, add_gradient, catch_up
from embedprop.kernels.epb.batch import Senders
from embedprop.kernels.epb.segments import sum_rows
from embedprop.kernels.machine.arrays import Floats, Index, Ints
from embedprop.kernels.machine.compile import kernel, uncounted
from embedprop.kernels.machine.prefetch import prefetch_to_write


@uncounted(forceinline=True)
def part_of(table: Table, part: int) -> Table:
    """Return one part of a table: arrays without the axis of parts."""
    vectors, direction, root = table.vectors[part], table.direction[part], table.root[part]
    return Table(vectors, direction, root, table.moved[part], table.gradient_step[part])


@uncounted(forceinline=True)
def receive(
    part: Table,
    source: Floats,
    senders: Senders,
    n_rows: int,
    gradient: Floats,
    step: int,
    tables: AdamTables,
) -> None:
    """Add to the moments of each row the sum of the messages that it receives."""
    rows, offsets = senders.receivers, senders.offsets
    entries, weights = senders.entries, senders.weights
    weighted = weights.shape[0] > 0
    for i in range(n_rows):
        if i + AHEAD < n_rows:
            prefetch_to_write(part.direction, rows[i + AHEAD])
            prefetch_to_write(part.root, rows[i + AHEAD])
        row, message = Index(rows[i]), gradient
        start, end = offsets[i], offsets[i + 1]
        # Most rows of a batch hear one message only: it is read where it is.
        if end - start == 1 and not weighted:
            message = source[entries[start]]
        else:
            sum_rows(gradient, source, entries, weights, start, end, False)
        last = part.gradient_step[row]
        add_gradient(part.direction[row], part.root[row], message, last, step, tables)
        part.gradient_step[row] = step


@uncounted()
def _catch_up_part(
    table: Table, part: int, rows: Ints, until: int, learning_rate: float, tables: AdamTables
) -> None:
    catch_up(part_of(table, part), rows, rows.shape[0], until, learning_rate, tables)


@kernel()
def catch_up_rows(
    table: Table, part: int, rows: Ints, until: int, learning_rate: float, tables: AdamTables
) -> None:
    """Bring one part of some rows to their values after step `until`."""
    _catch_up_part(table, part, rows, until, learning_rate, tables)
