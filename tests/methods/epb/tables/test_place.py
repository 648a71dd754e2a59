"""Which storage is chosen: what fits into memory, what onto the disk, and what to say."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests import toy_graphs
from tests.methods.epb.runs import Run

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import InvalidParameterError, UnknownComponentError
from embedprop.methods.epb.engines.choose import Fused, Torch
from embedprop.methods.epb.tables import place as storage
from embedprop.methods.epb.tables.place import (
    Place,
    disk_bytes,
    needed_memory,
)
from embedprop.methods.epb.tables.storage import MEMORY, DiskTables


@pytest.fixture
def run() -> Run:
    return Run.of(toy_graphs.messy(100), label_types=("node",), dim=16)


def place_of(run: Run, kind: str, **asked: Any) -> storage.Place:
    return Fused(kind, **asked).place(run.learnable, run.instance)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("dsk",), r"^storage='dsk' is not known\. Choose one of: 'auto', 'memory', 'disk'\. Did"),
        ((None,), r"^storage=None is not known"),
        (("memory", 8), r"^storage='memory' takes neither .*, which are for tables"),
        (("auto", None, "/tmp"), r"^storage='auto' takes neither partitions nor a folder"),
        (("disk", 3), r"^partitions=3: expected an even number"),
        (("disk", 0), r"^partitions=0: expected a whole number of at least 2"),
        (("disk", "8"), r"^partitions='8': expected a whole number of at least 2"),
        (("disk", None, 8), r"^folder=8: expected a path in quotes"),
        (
            ("disk", None, "/nowhere"),
            r"the folder /nowhere does not exist\. Give another folder",
        ),
    ],
)
def test_what_cannot_be_asked_for_is_refused_before_there_is_a_graph(
    asked: tuple[Any, ...], message: str
) -> None:
    with pytest.raises((InvalidParameterError, UnknownComponentError), match=message):
        Fused(*asked)


def test_auto_stays_in_memory_where_that_holds_the_tables(run: Run) -> None:
    assert place_of(run, "auto") == Place()
    assert place_of(run, "memory") == Place()


def test_auto_goes_to_disk_where_memory_is_short_and_says_so(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables_of_all = 3 * 100 * 16 * 4
    monkeypatch.setattr(storage, "_file_system", lambda _: "ext4")
    monkeypatch.setattr(storage, "physical_memory", lambda: 2 * tables_of_all)
    assert place_of(run, "memory") == Place()
    place = place_of(run, "auto")
    assert Torch().place(run.learnable, run.instance) == Place()  # tensors are nowhere else
    # A pair may have an eighth of the memory, which is a fourth of the tables.
    assert (type(place.tables), place.n_partitions) == (DiskTables, 8)
    assert place.notice.is_warning
    assert "tables go to disk (storage='disk') in 8 partitions" in place.notice.text


def test_the_number_of_partitions_fits_the_memory_of_the_machine(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert place_of(run, "disk").n_partitions == 2
    assert place_of(run, "disk", partitions=10).n_partitions == 10
    monkeypatch.setattr(storage, "physical_memory", lambda: 8)
    assert place_of(run, "disk").n_partitions == 100
    monkeypatch.setattr(storage, "physical_memory", lambda: None)
    assert place_of(run, "disk").n_partitions == 2
    words = Run.of(toy_graphs.messy(100), label_types=("word",))
    monkeypatch.setattr(storage, "physical_memory", lambda: 8)
    assert place_of(words, "disk").n_partitions == 2  # words are not partitioned


def test_what_cannot_be_on_disk_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidParameterError, match=r"partitions=102: .* number of nodes \(100\)"):
        place_of(run, "disk", partitions=102)
    with pytest.raises(InvalidParameterError, match=r"nowhere does not exist\. Give another"):
        place_of(run, "disk", folder=str(tmp_path / "nowhere"))
    usage = SimpleNamespace(free=5000)
    monkeypatch.setattr(storage.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(
        InvalidParameterError, match=r"need about 0\.0 GB, but the folder .* GB free"
    ):
        place_of(run, "disk")
    monkeypatch.setattr(storage.os, "access", lambda *_: False)
    with pytest.raises(InvalidParameterError, match=r"cannot be written to"):
        place_of(run, "disk")


def test_the_disk_is_mentioned_and_a_folder_in_memory_is_a_warning(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "_file_system", lambda _: "ext4")
    notice = place_of(run, "disk", partitions=4).notice
    assert not notice.is_warning
    assert notice.text.endswith("nodes in 4 partitions.")
    monkeypatch.setattr(storage, "_file_system", lambda _: "tmpfs")
    notice = place_of(run, "disk").notice
    assert notice.is_warning
    assert "is in memory itself" in notice.text


def without_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "_file_system", lambda _: "ext4")
    monkeypatch.setattr(storage.shutil, "disk_usage", lambda _: SimpleNamespace(free=5000))


def in_memory_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "_file_system", lambda _: "tmpfs")


@pytest.mark.parametrize(
    ("obstacle", "reason"),
    [(without_room, r"has 0\.0 GB free"), (in_memory_itself, r"is in memory itself")],
)
def test_auto_without_a_disk_stays_in_memory_while_that_holds_all(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    obstacle: Callable[[pytest.MonkeyPatch], None],
    reason: str,
) -> None:
    needed = needed_memory(run.learnable, run.instance)
    obstacle(monkeypatch)
    monkeypatch.setattr(storage, "physical_memory", lambda: needed)
    place = place_of(run, "auto")
    assert (place.tables, place.n_partitions) == (MEMORY, 2)
    assert "Tables stay in memory" in place.notice.text
    monkeypatch.setattr(storage, "physical_memory", lambda: needed - 1)
    with pytest.raises(InvalidParameterError, match=rf"this machine has 0\.0 GB, but .*{reason}"):
        place_of(run, "auto")


@pytest.mark.parametrize("n_relations", [0, 3])
@pytest.mark.parametrize("label_types", [["node"], ["word"], ["node", "word"]])
@pytest.mark.parametrize("n_partitions", [2, 4])
@pytest.mark.parametrize("dim", [3, 32, 72])  # wider in parts, as wide, and in several parts
def test_the_size_on_disk_is_that_of_all_tables_that_are_made(
    monkeypatch: pytest.MonkeyPatch,
    dim: int,
    n_partitions: int,
    label_types: list[str],
    n_relations: int,
) -> None:
    graph = toy_graphs.messy(50, missing=True, n_relations=n_relations)
    made, zeros, told = [], DiskTables.zeros, []

    def counted(self: DiskTables, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        table = zeros(self, shape, dtype)
        made.append(table.nbytes)
        return table

    def listening(*of: Any) -> int:
        told.append(disk_bytes(*of))
        return told[-1]

    monkeypatch.setattr(DiskTables, "zeros", counted)
    monkeypatch.setattr(storage, "disk_bytes", listening)
    model = EmbeddingPropagation(
        dim={name: dim + 2 * i for i, name in enumerate(label_types)},
        label_types=label_types,
        epochs=1,
        engine=f"fused(storage='disk', partitions={n_partitions})",
        verbose=False,
    )
    model.fit(graph)
    assert told == [sum(made)]


def test_odd_lines_of_mounts_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"odd\n\n/dev/a / ext4 rw 0 0\nodd {tmp_path.parent}\nb {tmp_path} tmpfs\n")
    monkeypatch.setattr(storage, "_MOUNTS", mounts)
    assert storage._file_system(tmp_path) == "tmpfs"
    assert storage._file_system(Path("/")) == "ext4"


@pytest.mark.parametrize("label_types", [["node"], ["word"]])
def test_the_memory_that_is_needed_is_what_a_fit_takes(label_types: list[str]) -> None:
    """A table more or less is 20 %."""
    nodes, words = np.arange(100_000), np.arange(100_000)[::-1].reshape(-1, 1).tolist()
    edges = np.stack([nodes, np.roll(nodes, 1)], axis=1)
    graph = Graph.from_edges(edges, labels={"word": dict(enumerate(words))})
    run = Run.of(graph, label_types=tuple(label_types), dim=128)
    model = EmbeddingPropagation(dim=128, label_types=label_types, epochs=1, verbose=False)
    model.fit(toy_graphs.messy(50))  # compiles
    tracemalloc.start()
    try:
        model.fit(graph)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    needed = needed_memory(run.learnable, run.instance)
    assert 0.85 * needed < taken < 1.05 * needed, f"{taken / 1e6:.0f} MB, not {needed / 1e6:.0f}"
