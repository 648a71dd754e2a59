"""Which storage is chosen: what fits into memory, what onto the disk, and what to say."""

from __future__ import annotations

import logging
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
from embedprop.errors import InvalidParameterError
from embedprop.methods.epb.tables import place as storage
from embedprop.methods.epb.tables.place import Storage, choose_place, disk_bytes, needed_memory
from embedprop.methods.epb.tables.storage import MEMORY, DiskTables


@pytest.fixture
def run() -> Run:
    return Run.of(toy_graphs.messy(100), label_types=("node",), dim=16)


def place_of(run: Run, text: str, engine: str = "fused") -> storage.Place:
    return choose_place(Storage.parse(text), run.graph, run.instance, engine)


def test_auto_stays_in_memory_where_that_holds_the_tables(run: Run) -> None:
    assert place_of(run, "auto") == (MEMORY, 2)
    assert place_of(run, "memory") == (MEMORY, 2)


def test_auto_goes_to_disk_where_memory_is_short_and_says_so(
    run: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tables_of_all = 3 * 100 * 16 * 4
    monkeypatch.setattr(storage, "_file_system", lambda _: "ext4")
    monkeypatch.setattr(storage, "physical_memory", lambda: 2 * tables_of_all)
    assert place_of(run, "auto", "torch") == (MEMORY, 2)
    assert place_of(run, "memory") == (MEMORY, 2)
    place = place_of(run, "auto")
    # A pair may have an eighth of the memory, which is a fourth of the tables.
    assert (type(place.tables), place.n_partitions) == (DiskTables, 8)
    assert "tables go to disk (storage='disk')" in caplog.text


def test_the_number_of_partitions_fits_the_memory_of_the_machine(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert place_of(run, "disk").n_partitions == 2
    assert place_of(run, "disk(partitions=10)").n_partitions == 10
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
    with pytest.raises(InvalidParameterError, match=r"the engine is 'torch'"):
        place_of(run, "disk", "torch")
    with pytest.raises(InvalidParameterError, match=r"partitions=102 .* number of nodes, 100"):
        place_of(run, "disk(partitions=102)")
    with pytest.raises(InvalidParameterError, match=r"nowhere does not exist\. Give another"):
        place_of(run, f"disk(folder={str(tmp_path / 'nowhere')!r})")
    usage = SimpleNamespace(free=5000)
    monkeypatch.setattr(storage.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(
        InvalidParameterError, match=r"need about 0\.0 GB, but the folder .* GB free"
    ):
        place_of(run, "disk")
    monkeypatch.setattr(storage.os, "access", lambda *_: False)
    with pytest.raises(InvalidParameterError, match=r"cannot be written to"):
        place_of(run, "disk")


def test_a_folder_in_memory_is_told(
    run: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(storage, "_file_system", lambda _: "tmpfs")
    with caplog.at_level(logging.WARNING):
        place_of(run, "disk")
    assert "is in memory itself" in caplog.text


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
    caplog: pytest.LogCaptureFixture,
    obstacle: Callable[[pytest.MonkeyPatch], None],
    reason: str,
) -> None:
    needed = needed_memory(run.graph, run.instance)
    obstacle(monkeypatch)
    monkeypatch.setattr(storage, "physical_memory", lambda: needed)
    assert place_of(run, "auto") == (MEMORY, 2)
    assert "Tables stay in memory" in caplog.text
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
        storage=f"disk(partitions={n_partitions})",
        verbose=False,
    )
    model.fit(graph)
    assert told == [sum(made)]


GB = 10**9


@pytest.mark.parametrize(
    ("own", "limits", "expected"),
    [
        ("0::/a/b", {"memory.max": "max"}, None),
        ("0::/a/b", {"memory.max": 3 * GB}, 3),
        ("0::/a/b", {"a/memory.max": 2 * GB, "a/b/memory.max": "max"}, 2),
        ("0::/a:b", {"a:b/memory.max": GB}, 1),
        ("5:cpu,memory:/c\n0::/", {"memory/c/memory.limit_in_bytes": GB}, 1),
        ("5:memory:/of/the/host", {"memory/memory.limit_in_bytes": GB}, 1),
        ("5:memory:/c", {"memory/c/memory.limit_in_bytes": 2**63 - 4096}, None),
        ("odd", {"memory.max": "odd"}, None),
        ("5:cpu:/c", {"c/memory.max": GB, "memory/c/memory.limit_in_bytes": GB}, None),
    ],
)
def test_memory_is_that_of_the_container(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    own: str,
    limits: dict[str, object],
    expected: int | None,
) -> None:
    machine = 4 * GB
    monkeypatch.setattr(storage.os, "sysconf", {"SC_PAGE_SIZE": 1, "SC_PHYS_PAGES": machine}.get)
    groups = tmp_path / "groups"
    for name, limit in limits.items():
        (groups / name).parent.mkdir(parents=True, exist_ok=True)
        (groups / name).write_text(f"{limit}\n")
    (tmp_path / "own").write_text(f"{own}\n")
    monkeypatch.setattr(storage, "_CGROUPS", groups)
    monkeypatch.setattr(storage, "_OWN_CGROUPS", tmp_path / "own")
    assert storage.physical_memory() == (machine if expected is None else expected * GB)


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
    needed = needed_memory(graph, run.instance)
    assert 0.85 * needed < taken < 1.05 * needed, f"{taken / 1e6:.0f} MB, not {needed / 1e6:.0f}"
