"""EmbeddingPropagation(engine="fused(storage=...)"): the same API, wherever the tables are."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from tests import toy_graphs

from embedprop import ClosedForm, EmbeddingPropagation, Graph
from embedprop.errors import InvalidParameterError, UnknownComponentError
from embedprop.instance.catalog import Part
from embedprop.methods.epb.tables import place as storage
from embedprop.methods.epb.tables import storage as tables
from embedprop.methods.epb.tables.storage import is_mapped

SMALL = {"dim": 4, "epochs": 3, "n_threads": 1, "verbose": False}


@pytest.fixture(scope="module")
def graph() -> Graph:
    return toy_graphs.messy(60, missing=True, weighted_labels=True)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of tests have more chunks than one too."""
    monkeypatch.setattr(tables, "CHUNK", 7)


def stored(where: str, **asked: object) -> str:
    """Return the engine that keeps its tables there."""
    return str(Part("fused", {"storage": where, **asked}))


MEMORY, DISK = stored("memory"), stored("disk", partitions=2)


def fitted(graph: Graph, engine: str, **params: object) -> EmbeddingPropagation:
    return EmbeddingPropagation(engine=engine, **(SMALL | params)).fit(graph)


@pytest.mark.parametrize("label_types", [["node"], ["word"], None])
@pytest.mark.parametrize("representation", ["concatenation", "both"])
def test_two_partitions_on_disk_are_the_bytes_of_memory(
    graph: Graph, label_types: list[str] | None, representation: str
) -> None:
    params = {"label_types": label_types, "parts": {"representation": representation}}
    memory, disk = (fitted(graph, engine, **params) for engine in (MEMORY, DISK))
    assert disk.loss_history_ == memory.loss_history_
    np.testing.assert_array_equal(disk.node_embeddings_, memory.node_embeddings_)
    for name, vectors in memory.label_embeddings_.items():
        np.testing.assert_array_equal(disk.label_embeddings_[name], vectors)


@pytest.mark.parametrize("label_types", [["node"], None])
def test_node_vectors_stay_on_disk(graph: Graph, label_types: list[str] | None) -> None:
    model = fitted(graph, stored("disk", partitions=4), label_types=label_types)
    assert is_mapped(model.node_embeddings_)
    assert np.shares_memory(model.label_embeddings_["node"], model.node_embeddings_)
    assert not is_mapped(fitted(graph, MEMORY).node_embeddings_)


def test_a_model_from_disk_is_asked_saved_and_loaded_like_any_other(
    graph: Graph, tmp_path: Path
) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    model = fitted(graph, stored("disk", partitions=4, folder=str(folder)))
    model.save(tmp_path / "model")
    loaded = EmbeddingPropagation.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.node_embeddings_, model.node_embeddings_)
    assert loaded.get_params() == model.get_params()
    assert loaded.similar(0, k=3) == model.similar(0, k=3)
    np.testing.assert_array_equal(loaded.transform(graph), model.node_embeddings_)
    assert not list(folder.iterdir())


def test_learning_goes_on_from_either_place_to_either(graph: Graph) -> None:
    grown = toy_graphs.messy(60, missing=True, weighted_labels=True, isolated=True)
    models = []
    for first, second in [(MEMORY, MEMORY), (DISK, DISK), (MEMORY, DISK), (DISK, MEMORY)]:
        model = fitted(graph, first).set_params(engine=second).partial_fit(grown)
        models.append(model.node_embeddings_)
    for other in models[1:]:
        np.testing.assert_array_equal(models[0], other)
    assert (
        fitted(graph, stored("disk", partitions=4)).partial_fit(grown).nodes_ == grown.nodes.names
    )


def test_ctrl_c_leaves_a_usable_model(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def pressing(*_: object) -> Iterator[object]:
        def report(done: float, *_: object) -> None:
            if done == 1:
                signal.raise_signal(signal.SIGINT)

        yield report

    monkeypatch.setattr("embedprop.estimators.progress_bar", pressing)
    engine = stored("disk", partitions=6)
    model = EmbeddingPropagation(engine=engine, **(SMALL | {"epochs": 99}))
    with pytest.raises(KeyboardInterrupt, match=r"Stopped after 1 of 99 epochs"):
        model.fit(graph)
    assert np.isfinite(model.node_embeddings_).all()
    assert len(model.similar(0, k=3)) == 3


def test_auto_learns_on_disk_where_memory_is_short(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "physical_memory", lambda: 6_000)
    monkeypatch.setattr(storage, "_file_system", lambda _: "ext4")
    assert is_mapped(fitted(graph, "auto").node_embeddings_)


def test_memory_that_is_short_is_refused_where_it_is_asked_for(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("embedprop.methods.method.physical_memory", lambda: 6_000)
    hint = r" The fused engine can keep tables on disk: engine=\"fused\(storage='disk'\)\"\.$"
    with pytest.raises(InvalidParameterError, match=hint):
        fitted(graph, MEMORY)
    with pytest.raises(InvalidParameterError, match=r"fewer label types\.$"):
        fitted(graph, "torch")
    with pytest.raises(InvalidParameterError, match=r"fewer label types\.$"):
        ClosedForm(dim=40).fit(graph)


def test_what_has_no_tables_on_disk_says_so(graph: Graph) -> None:
    with pytest.raises(InvalidParameterError, match=r"'torch' has no parameter 'storage'\. It has"):
        fitted(graph, "torch(storage='disk')")
    with pytest.raises(UnknownComponentError, match=r"storage='dsik' is not known"):
        fitted(graph, stored("dsik"))


def test_where_tables_go_is_logged_by_who_learns(
    graph: Graph, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="embedprop"):
        fitted(graph, DISK)
    found = [one for one in caplog.messages if one.startswith("Tables are in ")]
    assert len(found) == 1
    assert found[0].endswith("nodes in 2 partitions.")
