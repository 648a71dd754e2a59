"""EmbeddingPropagation(storage=...): the same API, wherever the tables are."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from tests import toy_graphs

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import InvalidParameterError, UnknownComponentError
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


def fitted(graph: Graph, where: str, **params: object) -> EmbeddingPropagation:
    return EmbeddingPropagation(storage=where, **(SMALL | params)).fit(graph)


@pytest.mark.parametrize("label_types", [["node"], ["word"], None])
@pytest.mark.parametrize("representation", ["concatenation", "both"])
def test_two_partitions_on_disk_are_the_bytes_of_memory(
    graph: Graph, label_types: list[str] | None, representation: str
) -> None:
    params = {"label_types": label_types, "representation": representation}
    memory, disk = (fitted(graph, text, **params) for text in ("memory", "disk(partitions=2)"))
    assert disk.loss_history_ == memory.loss_history_
    np.testing.assert_array_equal(disk.node_embeddings_, memory.node_embeddings_)
    for name, vectors in memory.label_embeddings_.items():
        np.testing.assert_array_equal(disk.label_embeddings_[name], vectors)


@pytest.mark.parametrize("label_types", [["node"], None])
def test_node_vectors_stay_on_disk(graph: Graph, label_types: list[str] | None) -> None:
    model = fitted(graph, "disk(partitions=4)", label_types=label_types)
    assert is_mapped(model.node_embeddings_)
    assert np.shares_memory(model.label_embeddings_["node"], model.node_embeddings_)
    assert not is_mapped(fitted(graph, "memory").node_embeddings_)


def test_a_model_from_disk_is_asked_saved_and_loaded_like_any_other(
    graph: Graph, tmp_path: Path
) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    model = fitted(graph, f"disk(partitions=4, folder={str(folder)!r})")
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
    for first, second in [("memory", "memory"), ("disk(partitions=2)", "disk(partitions=2)")]:
        model = fitted(graph, first).set_params(storage=second).partial_fit(grown)
        models.append(model.node_embeddings_)
    np.testing.assert_array_equal(*models)
    assert fitted(graph, "disk(partitions=4)").partial_fit(grown).nodes_ == grown.nodes.names


def test_ctrl_c_leaves_a_usable_model(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def pressing(*_: object) -> Iterator[object]:
        def report(epoch: int, *_: object) -> None:
            if epoch == 1:
                signal.raise_signal(signal.SIGINT)

        yield report

    monkeypatch.setattr("embedprop.estimators.progress_bar", pressing)
    model = EmbeddingPropagation(storage="disk(partitions=6)", **(SMALL | {"epochs": 99}))
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
    monkeypatch.setattr("embedprop.methods.preparation.physical_memory", lambda: 6_000)
    hint = r"The fused engine can keep tables on disk: storage='disk'\."
    for engine in ("fused", "torch"):
        with pytest.raises(InvalidParameterError, match=hint):
            fitted(graph, "memory", engine=engine)
    with pytest.raises(InvalidParameterError, match=r"fewer label types\.$"):
        fitted(graph, "memory", instance="eps", dim=40)


def test_what_has_no_tables_on_disk_says_so(graph: Graph) -> None:
    with pytest.raises(InvalidParameterError, match=r"the engine is 'torch'"):
        fitted(graph, "disk", engine="torch")
    with pytest.raises(InvalidParameterError, match=r"the engine is 'closed form'"):
        fitted(graph, "disk", instance="eps")
    with pytest.raises(UnknownComponentError, match=r"storage='dsik' is not known"):
        fitted(graph, "dsik")


def test_it_is_a_parameter_like_any_other() -> None:
    model = EmbeddingPropagation(storage="disk(partitions=8)")
    assert clone(model).storage == "disk(partitions=8)"
    assert EmbeddingPropagation().storage == "auto"
