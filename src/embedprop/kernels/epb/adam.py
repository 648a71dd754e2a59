"""Adam with dense moments at sparse cost.

Adam moves every row of a table at every step, also a row without a gradient. But a row that last
had a gradient at step s has m = beta1^(t-s) m_s and v = beta2^(t-s) v_s at a later step t, so all
its moves from s on point the same way and differ by scalars only:

    lr * m^_t / (sqrt(v^_t) + eps)  =  lr * rho^(t-s) * ratio[t] * direction,
    direction = m_s / (sqrt(v_s) + eps[s]),  rho = beta1 / sqrt(beta2),
    ratio[t] = sqrt(1 - beta2^t) / (1 - beta1^t)

So a table keeps the direction in place of m, and sqrt(v) in place of v. A gradient changes both
(`add_gradient`); a row moves when it is next read (`catch_up`), by `size * direction` with one
scalar `size`. Reading a row costs one multiplication per element, however many steps it missed.

The formula is exact but for eps, whose weight against sqrt(v) shifts from step to step: eps[s] is
chosen so that the sum of all later moves is right to first order. In the first YOUNG steps, where
bias corrections change quickly, each move is corrected for the eps of its own steps
(`move_young_row`). Tests hold the result equal to `torch.optim.Adam` over dense gradients.
"""

import math
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from embedprop.kernels.machine.arrays import BLOCK, USUAL_WIDTH, Float, Floats, Index, Ints
from embedprop.kernels.machine.compile import kernel, uncounted
from embedprop.kernels.machine.lanes import lanes, put, square_root
from embedprop.kernels.machine.prefetch import prefetch, prefetch_number_to_write, prefetch_to_write

BETA1 = 0.9
BETA2 = 0.999
EPSILON = 1e-8

# After this many steps without a gradient a row stands still: rho^k < 1e-16, or for float32,
# whose numbers near 1 are 6e-8 apart and whose moves are a thousandth of that, < 1e-6.
MOMENTUM_SPAN = {np.dtype(np.float64): 360, np.dtype(np.float32): 136}
# From this step on eps shifts by less than 1 % within the momentum of a row.
YOUNG = 1000
# After this many steps beta2^k < 1e-18: bias corrections are 1, and an old v counts nothing.
VARIANCE_SPAN = 42_000
# Rows between asking for one and using it.
AHEAD = 8


class AdamTables(NamedTuple):
    """Powers and sums that all rows share, float64.

    decay[j] = rho^j and power1[j] = beta1^j for j <= MOMENTUM_SPAN (there 0);
    power2[j] = beta2^j for j <= VARIANCE_SPAN (there 0);
    tail[t] = sum over j >= 0 of rho^j ratio[t + j] for steps t <= VARIANCE_SPAN;
    eps_decay and eps_tail are the same for the moves times the eps of their steps, and
    eps[t] = eps_tail[t] / tail[t] is the mean eps of all moves from t on.
    """

    decay: Floats
    eps_decay: Floats
    power1: Floats
    power2: Floats
    tail: Floats
    eps_tail: Floats
    eps: Floats


class Table(NamedTuple):
    """Label vectors and their Adam state: (n_parts, n_labels, width), and two steps per row.

    Also one part of these, where functions say so: then the first axis is missing.

    `moved` is the last step that the vectors of a row contain; `gradient_step` is the step of its
    last gradient (0: none yet), of which `direction` and `root`, the square root of v, are.

    A part is some columns of all rows, for one thread at a time, with steps (n_parts, n_labels) of
    its own. It lies in memory of its own: processors fetch what follows in memory, too, and if that
    were another thread's half of a row, the two would take it from each other all the time
    (measured: 10 times slower).
    """

    vectors: Floats
    direction: Floats
    root: Floats
    moved: Ints
    gradient_step: Ints


@uncounted(forceinline=True)
def part_of(table: Table, part: int) -> Table:
    """Return one part of a table: arrays without the axis of parts."""
    vectors, direction, root = table.vectors[part], table.direction[part], table.root[part]
    return Table(vectors, direction, root, table.moved[part], table.gradient_step[part])


@cache
def adam_tables(dtype: np.dtype[Any]) -> AdamTables:
    """Return the tables for vectors of a type; they take 20 ms to make, and nobody changes them."""
    rho = BETA1 / math.sqrt(BETA2)
    gap = np.arange(MOMENTUM_SPAN[np.dtype(dtype)] + 1)
    step = np.arange(VARIANCE_SPAN + 1)
    root = np.sqrt(1.0 - BETA2**step)
    ratio = root / (1.0 - BETA1 ** np.maximum(step, 1))
    # Step t + j divides by sqrt(v) + eps * root[t + j] / sqrt(beta2)^j.
    eps_rho = rho / math.sqrt(BETA2)
    tail, eps_tail = _tails(ratio, rho), _tails(EPSILON * ratio * root, eps_rho)
    decay, eps_decay, power1, power2 = rho**gap, eps_rho**gap, BETA1**gap, BETA2**step
    decay[-1] = eps_decay[-1] = power1[-1] = power2[-1] = 0.0
    return AdamTables(decay, eps_decay, power1, power2, tail, eps_tail, eps_tail / tail)


def _tails(moves: Floats, decay: float) -> Floats:
    """Return the sum over j >= 0 of decay^j moves[t + j] for each t.

    Moves beyond the end equal the last one.
    """
    first, *others = moves[::-1].tolist()
    last = first / (1.0 - decay)
    sums = accumulate(others, lambda total, move: move + decay * total, initial=last)
    return np.array(list(sums))[::-1].copy()


@uncounted(forceinline=True)
def at(values: Floats, index: int) -> Float:
    """Return values[index], or the last value beyond the end."""
    return values[Index(min(index, values.shape[0] - 1))]


@uncounted(forceinline=True)
def missed(decay: Floats, tail: Floats, moved: int, gradient_step: int, until: int) -> Float:
    """Return the sum of decay[t - s] * x[t] over the steps t = moved + 1 .. until.

    s is `gradient_step`, and `tail` holds the sums of x from each step on.
    """
    first, beyond = moved + 1, until + 1
    return at(decay, first - gradient_step) * at(tail, first) - at(
        decay, beyond - gradient_step
    ) * at(tail, beyond)


@uncounted(forceinline=True)
def _move(row: Floats, direction: Floats, size: Float, width: int) -> None:
    for k in range(0, width, BLOCK):
        put(row, k, lanes(row, k) - size * lanes(direction, k))


@uncounted(forceinline=True)
def move_row(row: Floats, direction: Floats, size: Float) -> None:
    """Row -= size * direction."""
    if row.shape[0] == USUAL_WIDTH:
        _move(row, direction, size, USUAL_WIDTH)
    else:
        _move(row, direction, size, row.shape[0])


@uncounted(forceinline=True)
def move_young_row(
    row: Floats, direction: Floats, root: Floats, size: Float, eps: Float, own_eps: Float
) -> None:
    """Row -= size * direction, as if direction had been divided by root + own_eps."""
    for k in range(0, row.shape[0], BLOCK):
        corrected = (lanes(root, k) + eps) / (lanes(root, k) + own_eps)
        put(row, k, lanes(row, k) - size * lanes(direction, k) * corrected)


@uncounted(forceinline=True)
def catch_up(
    part: Table, rows: Ints, n_rows: int, until: int, learning_rate: float, tables: AdamTables
) -> None:
    """Bring rows[:n_rows] to their values after step `until`."""
    kind = part.vectors.dtype.type
    span = tables.decay.shape[0] - 1
    for i in range(n_rows):
        if i + AHEAD < n_rows:
            prefetch_to_write(part.vectors, rows[i + AHEAD])
            prefetch(part.direction, rows[i + AHEAD])
            prefetch_number_to_write(part.moved, rows[i + AHEAD])
            prefetch_number_to_write(part.gradient_step, rows[i + AHEAD])
        row = Index(rows[i])
        since, moved = part.gradient_step[row], part.moved[row]
        part.moved[row] = until
        if since == 0 or moved == until or moved + 1 - since >= span:
            continue
        size = missed(tables.decay, tables.tail, moved, since, until)
        vectors, direction = part.vectors[row], part.direction[row]
        length = kind(learning_rate * size)
        if since < YOUNG:
            eps = missed(tables.eps_decay, tables.eps_tail, moved, since, until) / size
            old_eps, new_eps = kind(at(tables.eps, since)), kind(eps)
            move_young_row(vectors, direction, part.root[row], length, old_eps, new_eps)
        else:
            move_row(vectors, direction, length)


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


@uncounted(forceinline=True)
def add_gradient(
    direction: Floats, root: Floats, gradient: Floats, last: int, step: int, tables: AdamTables
) -> None:
    """Decay the moments of a row, whose last gradient was at step `last`, and add its gradient."""
    if gradient.shape[0] == USUAL_WIDTH:
        _add(direction, root, gradient, last, step, tables, USUAL_WIDTH)
    else:
        _add(direction, root, gradient, last, step, tables, gradient.shape[0])


@uncounted(forceinline=True)
def _add(
    direction: Floats,
    root: Floats,
    gradient: Floats,
    last: int,
    step: int,
    tables: AdamTables,
    width: int,
) -> None:
    kind = gradient.dtype.type
    gap = step - last
    keep1, keep2 = kind(at(tables.power1, gap)), kind(at(tables.power2, gap))
    add1, add2 = kind(1.0 - BETA1), kind(1.0 - BETA2)
    old_eps, eps = kind(at(tables.eps, last)), kind(at(tables.eps, step))
    for k in range(0, width, BLOCK):
        g, old_root = lanes(gradient, k), lanes(root, k)
        m = keep1 * (lanes(direction, k) * (old_root + old_eps)) + add1 * g
        new_root = square_root(keep2 * (old_root * old_root) + add2 * (g * g))
        put(root, k, new_root)
        put(direction, k, m / (new_root + eps))
