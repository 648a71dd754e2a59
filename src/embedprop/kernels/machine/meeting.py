"""Threads that wait for each other within a kernel: a number in memory says how many have come.

Batches are shorter than what it takes to hand work to a thread and to fetch it back, so each thread
goes through all of them, and they meet once per batch. Whoever waits, reads the number again and
again, and now and then lets other threads have the core: one of them may be who is waited for. If
that takes too long, it is the caller's turn to see whether the others are still alive.
"""

import sys
from collections.abc import Callable
from threading import Lock
from time import sleep
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from embedprop.kernels.machine.arrays import Ints
from embedprop.kernels.machine.compile import kernel

WINDOWS = sys.platform == "win32"
# Looks at the number before others may have the core: some 5 to 10 microseconds, of which two
# threads on two cores notice nothing. Beside another busy process, a core that is busy waiting is
# no place for the thread that is waited for: with 150 microseconds two threads took 1.1 times as
# long on BlogCatalog, 1.7 times on Cora.
LOOKS = 20_000
# How often to let others go first, before the caller is asked: some milliseconds.
PATIENCE = 10 if WINDOWS else 300
# Where kernels are plain Python (NUMBA_DISABLE_JIT).
_ONE_AT_A_TIME = Lock()


def arrive(arrived: Ints) -> int:
    """Add 1 to arrived[0]; what this thread wrote before, others see who have seen that.

    Returns what it was before.
    """
    with _ONE_AT_A_TIME:
        before: int = arrived[0]
        arrived[0] += 1
        return before


def n_arrived(arrived: Ints) -> int:
    """Return arrived[0] as it is now, whoever has changed it."""
    number: int = arrived[0]
    return number


def let_others_run() -> None:
    """Offer this core to other threads that could run."""
    sleep(0)


def _atomic(emit: Callable[[Any, Any], Any]) -> Any:
    """Return a function of an array whose first number is what `emit` does to that in memory."""

    @intrinsic
    def at_first(_context: Any, array: Any) -> tuple[Any, Callable[..., Any]] | None:
        if array.dtype != types.int64:
            return None

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kind = context.make_array(signature.args[0])
            return emit(builder, kind(context, builder, arguments[0]).data)

        return types.int64(array), generate

    return at_first


# The strictest order: what is written before arriving is seen by all who see the arrival.
_add_one = _atomic(lambda builder, at: builder.atomic_rmw("add", at, ir.IntType(64)(1), "seq_cst"))
_load = _atomic(lambda builder, at: builder.load_atomic(at, "seq_cst", 8))
overload(arrive)(lambda arrived: lambda arrived: _add_one(arrived))  # noqa: ARG005
overload(n_arrived)(lambda arrived: lambda arrived: _load(arrived))  # noqa: ARG005


# POSIX has a function for it; on Windows it is left to the caller.
_yield = None if WINDOWS else types.ExternalFunction("sched_yield", types.int32())


@overload(let_others_run)
def _let_others_run() -> Callable[..., Any]:
    return (lambda: None) if _yield is None else (lambda: _yield())


@kernel()
def have_arrived(arrived: Ints, number: int) -> bool:
    """Wait until `number` have arrived; return whether they have, or False out of patience."""
    for _ in range(PATIENCE):
        for _ in range(LOOKS):
            if n_arrived(arrived) >= number:
                return True
        let_others_run()
    return False
