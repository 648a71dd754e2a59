"""Program that kills saves and reports what they left; run by test_kill.

It works in forked children only, because Arrow's threads do not survive a fork.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet  # noqa: F401  (once here, not in each child)
from tests.files.folder.faults import fault_at
from tests.files.folder.models import NEW, OLD, Model, has_only_its_own_files

KILLED = 9
OUTCOMES = ("old", "new", "neither old nor new", "spoiled the next save")


def kill_at_every_step(folder: Path) -> list[str]:
    """Outcome of a save over OLD that dies at step 0, 1, ... until one does not."""
    outcomes: list[str] = []
    while True:
        put_old(folder)
        if finish(fork(lambda: save_and_die(folder, len(outcomes)))) == 0:
            return outcomes
        outcomes.append(OUTCOMES[finish(fork(lambda: outcome(folder, NEW)))])


def kill_at_random_times(folder: Path, n_kills: int) -> list[str]:
    """Outcomes of saves of a larger model that a signal ends."""
    vectors = np.random.default_rng(0).random((100_000, 16))
    large = Model({}, {"vectors": vectors}, {"node": list(range(100_000))})
    chance, outcomes = random.Random(0), []
    for _ in range(n_kills):
        put_old(folder)
        child = fork(lambda: large.save(folder))
        time.sleep(chance.uniform(0.0, 0.1))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        outcomes.append(OUTCOMES[finish(fork(lambda: outcome(folder, large)))])
    return outcomes


def put_old(folder: Path) -> None:
    pristine = folder.with_name("pristine")
    if not pristine.exists():
        finish(fork(lambda: OLD.save(pristine)))
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(pristine, folder)


def save_and_die(folder: Path, step: int) -> None:
    with fault_at(step, lambda: os._exit(KILLED)):
        NEW.save(folder)


def outcome(folder: Path, new: Model) -> int:
    """Which model is in the folder (loading raises if there is none), and can it be replaced."""
    found = 0 if OLD.is_in(folder) else 1 if new.is_in(folder) else 2
    new.save(folder)
    return found if new.is_in(folder) and has_only_its_own_files(folder) else 3


def fork(work: Callable[[], int | None]) -> int:
    """Process id of a child that works and ends with the result as its status."""
    child = os.fork()
    if child:
        return child
    status = 255
    try:
        status = work() or 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def finish(child: int) -> int:
    """Status of the child at its end; an unexpected one ends this program."""
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status not in (*range(len(OUTCOMES)), KILLED):
        raise SystemExit(f"a child ended with status {status}")
    return status


if __name__ == "__main__":
    os.fsync = lambda _: None  # what a dead process wrote is there without it, and sooner
    how, where = sys.argv[1], Path(sys.argv[2])
    result = kill_at_every_step(where) if how == "steps" else kill_at_random_times(where, 12)
    sys.stdout.write(json.dumps(result))
