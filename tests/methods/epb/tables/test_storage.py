"""Tables on disk: the same result as in memory on the same plan, and nothing left behind."""

from __future__ import annotations

import errno
import mmap
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import toy_graphs
from tests.methods.epb.engines.test_same_bytes import crowded_run, digest
from tests.methods.epb.runs import By, Run, assert_near, by_fused, by_torch

from embedprop.kernels.epb.adam import Table, catch_up_rows
from embedprop.methods.epb.engines import fused_state
from embedprop.methods.epb.tables import resident as resident_table
from embedprop.methods.epb.tables import storage as tables
from embedprop.methods.epb.tables.storage import MEMORY, DiskTables, is_mapped
from embedprop.methods.epb.task import glorot
from embedprop.methods.random_streams import RandomStreams

TWO_THEN_FOUR = """
import sys
from pathlib import Path
from tests import toy_graphs
from tests.methods.epb.runs import Run
from tests.methods.epb.tables.test_storage import on_disk
from embedprop.kernels.epb.epoch import epb_ids
from embedprop.kernels.epb.epoch import epb_shared_labels
from embedprop.kernels.epb.adam import catch_up_rows
from embedprop.kernels.epb.epoch import epb_shared_labels
run = Run.of(toy_graphs.messy(40))
for engine_run in (run.fused, lambda: run.by(on_disk(Path(sys.argv[1])), n_partitions=4)):
    engine_run()
    print(*(len(one.signatures) for one in (epb_ids, epb_shared_labels, catch_up_rows)))
"""


def on_disk(folder: Path, dtype: type[np.floating] = np.float32) -> By:
    return by_fused(dtype, DiskTables(folder))


@pytest.fixture(params=[2, 4, 6])
def n_partitions(request: pytest.FixtureRequest) -> int:
    number: int = request.param
    return number


@pytest.mark.parametrize("n_relations", [0, 3])
def test_the_disk_changes_no_byte(tmp_path: Path, n_partitions: int, n_relations: int) -> None:
    run = crowded_run(n_relations, n_partitions=n_partitions, schedule="linear")
    assert digest(run.by(on_disk(tmp_path))) == digest(run.fused())


def test_nor_does_the_number_of_threads(tmp_path: Path) -> None:
    run = crowded_run(n_partitions=4)
    one, two = (digest(run.by(on_disk(tmp_path), n_threads=n)) for n in (1, 2))
    assert one == two


def test_two_partitions_give_the_bytes_of_memory_and_four_do_not(tmp_path: Path) -> None:
    whole, two, four = (crowded_run(), *(crowded_run(n_partitions=n) for n in (2, 4)))
    assert digest(two.by(on_disk(tmp_path))) == digest(whole.fused())
    assert digest(four.by(on_disk(tmp_path))) != digest(whole.fused())


@pytest.mark.parametrize(
    ("neighborhood", "n_relations"),
    [("neighbors", 0), ("neighbors", 3), ("edges", 0), ("edges", 3), ("walks", 0)],
)
def test_on_the_same_plan_it_equals_autograd(
    tmp_path: Path, n_relations: int, neighborhood: str
) -> None:
    graph = toy_graphs.messy(
        missing=True, isolated=True, weighted_edges=True, n_relations=n_relations
    )
    run = Run.of(graph, n_negatives=2, epochs=6, n_partitions=4, neighborhood=neighborhood)
    assert_near(run, run.by(on_disk(tmp_path, np.float64)), run.autograd(), 1e-6, 1e-6)


def test_on_the_same_plan_it_equals_the_torch_engine(tmp_path: Path) -> None:
    graph = toy_graphs.messy(40, missing=True, weighted_edges=True)
    run = Run.of(graph, max_neighbors=3, epochs=6, n_partitions=4)
    assert_near(run, run.by(on_disk(tmp_path)), run.by(by_torch()), 1e-3, 1e-3)


def test_every_engine_reports_epochs_to_their_end(tmp_path: Path) -> None:
    run = Run.of(toy_graphs.messy(40), epochs=3, n_partitions=8)
    for engine in (on_disk(tmp_path), by_torch()):
        heard: list[tuple[int, float]] = []
        result = run.by(engine, lambda *said, heard=heard: heard.append(said[:2]))
        assert {(epoch, 1.0) for epoch in range(3)} <= set(heard)
        assert heard == sorted(heard)
        assert all(len(losses) == 3 for losses in result.loss_history.values())


def test_kernels_are_not_compiled_again(tmp_path: Path) -> None:
    """In a process of its own: in this one other tests have compiled them for every table."""
    command = [sys.executable, "-c", TWO_THEN_FOUR, str(tmp_path)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    in_memory, on_disk_too = (line.split() for line in told.splitlines())
    assert "0" not in in_memory
    assert on_disk_too == in_memory


@pytest.mark.parametrize("n_relations", [0, 3])
def test_missed_moves_are_made_in_memory_some_rows_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_relations: int
) -> None:
    run = crowded_run(n_relations, label_types=("node",), n_partitions=4, schedule="linear")
    expected = digest(run.fused())
    heard: list[tuple[bool, int, int]] = []

    def listening(table: Table, part: int, rows: np.ndarray, *more: Any) -> None:
        if part == 0:
            heard.append((is_mapped(table.vectors), rows[0], rows[-1]))
        catch_up_rows(table, part, rows, *more)

    monkeypatch.setattr(fused_state, "catch_up_rows", listening)
    monkeypatch.setattr(resident_table, "CHUNK", 25)
    assert digest(run.by(on_disk(tmp_path))) == expected
    pieces = [(0, 24), (25, 49), (50, 59 + n_relations)]
    # Before each of four epochs but the first, and in the end.
    assert heard == 4 * [(False, *piece) for piece in pieces]


@pytest.mark.skipif(not hasattr(mmap.mmap, "madvise"), reason="no advice on this system")
@pytest.mark.parametrize("name", ["MADV_HUGEPAGE", "MADV_DONTNEED"])
def test_a_system_that_takes_no_advice_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(mmap, name, 9999, raising=False)
    with pytest.raises(OSError, match="Invalid argument"):
        mmap.mmap(-1, mmap.PAGESIZE).madvise(getattr(mmap, name))
    disk = DiskTables(tmp_path)
    table = disk.zeros((1000, 300), np.float32)
    window = disk.window((1, 1000, 300), np.float32)
    window[:] = 1
    disk.write(table, window, [(0, 1000)])
    assert (table == 1).all()


def test_files_have_no_name_and_vectors_are_in_one(tmp_path: Path) -> None:
    run = Run.of(toy_graphs.messy(40), n_partitions=4)
    seen = []
    result = run.by(on_disk(tmp_path), lambda *_: seen.append(list(tmp_path.iterdir())))
    assert seen
    assert not any(seen)
    assert all(map(is_mapped, result.label_vectors.values()))
    assert not list(tmp_path.iterdir())


def test_only_rows_that_were_read_take_memory(tmp_path: Path) -> None:
    disk = DiskTables(tmp_path)
    table = disk.zeros((1000, 300), np.float32)
    table[:] = np.arange(1000)[:, None]
    window = disk.window((2, 1000, 160), np.float32)
    disk.read(table, window, [(10, 20), (500, 700)])
    assert (window[0, 500:700] == table[500:700, :160]).all()
    assert (window[1, 500:700, :140] == table[500:700, 160:]).all()
    assert not window[:, 20:490].any()
    assert not window[1, :, 140:].any()
    window[:, 500:700] += 1
    disk.write(table, window, [(500, 700)])
    np.testing.assert_array_equal(table[:, 0], np.arange(1000) + _between(500, 700))
    np.testing.assert_array_equal(table[:, -1], np.arange(1000) + _between(500, 700))
    assert (window[0, 10:20] == table[10:20, :160]).all()
    assert not window[:, 540:660].any()


def _between(low: int, high: int) -> np.ndarray:
    rows = np.arange(1000)
    return (rows >= low) & (rows < high)


def test_start_vectors_are_the_same_wherever_and_however_they_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams = RandomStreams(3)
    plain = streams.generator("init x").random((50, 7), dtype=np.float32)
    limit = np.float32(2 * np.sqrt(6 / 57))
    expected = (plain - np.float32(0.5)) * limit
    monkeypatch.setattr(tables, "CHUNK", 3)
    for place in (MEMORY, DiskTables(tmp_path)):
        np.testing.assert_array_equal(glorot("x", 50, 7, streams, place), expected)


def test_a_full_disk_is_told_with_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tables.os, "posix_fallocate", full, raising=False)
    with pytest.raises(
        OSError, match=rf"{tmp_path}: there is no space for a table of 0\.0 GB \(No"
    ):
        DiskTables(tmp_path).zeros((3, 3), np.float32)


def test_a_file_system_that_cannot_reserve_blocks_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(*_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(tables.os, "posix_fallocate", cannot, raising=False)
    assert not DiskTables(tmp_path).zeros((3, 3), np.float32).any()
    monkeypatch.delattr(tables.os, "posix_fallocate")
    assert not DiskTables(tmp_path).zeros((3, 3), np.float32).any()


def test_a_table_without_rows_needs_no_file(tmp_path: Path) -> None:
    assert DiskTables(tmp_path).zeros((0, 5), np.float32).shape == (0, 5)
