import inspect
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.toy_graphs import two_cliques

from embedprop import EmbeddingPropagation, Graph
from embedprop.baselines.registry import BASELINES
from embedprop.datasets import Dataset
from embedprop.errors import UnknownComponentError
from embedprop.evaluation.records import read_records
from embedprop.paper import figures
from embedprop.paper.figures import KAPPAS, Place, full_loss, kappa_figure, tsne_figure
from embedprop.paper.figures_report import kappas, silhouettes
from embedprop.paper.report import report
from embedprop.paper.table1 import ROWS, table1, table1_records

EPOCHS = 3
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path / "results.jsonl", tmp_path / "figures", lambda _: None)


@pytest.fixture
def cliques():
    """Two cliques of words of their own; the last node has no class."""
    graph = two_cliques().graph
    targets = np.array([[str(name)[0] == "a", str(name)[0] == "b"] for name in graph.nodes.names])
    targets[-1] = False
    return Dataset(graph, csr_array(targets), ("a", "b"), {"name": "cliques"})


def silhouette_by_hand(vectors, classes):
    """The definition of Rousseeuw (1987), node by node."""
    away = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
    scores = []
    for i, own in enumerate(classes):
        means = {k: away[i, (classes == k) & (np.arange(len(classes)) != i)].mean() for k in (0, 1)}
        a, b = means[own], means[1 - own]
        scores.append((b - a) / max(a, b))
    return np.mean(scores)


def test_silhouettes_are_of_the_vectors_of_the_nodes_that_have_a_class(place, cliques, monkeypatch):
    monkeypatch.setattr(figures, "draw_panels", lambda *_: [])
    tsne_figure("cliques", cliques, place, EPOCHS)
    found = {record["setting"]: record for record in read_records(place.results)}
    rows = np.flatnonzero(cliques.targets.toarray().any(axis=1))
    classes = cliques.targets.toarray()[rows].argmax(axis=1)
    for panel, types in (("node", ["node"]), ("word", ["word"]), ("both", ["node", "word"])):
        model = EmbeddingPropagation(margin=20, epochs=EPOCHS, label_types=types, verbose=False)
        vectors = model.fit(cliques.graph).node_embeddings_.astype(np.float64)[rows]
        expected = silhouette_by_hand(vectors, classes)
        assert found[panel]["silhouette"] == pytest.approx(expected, abs=1e-4)
        assert found[panel]["margin"] == 20


def test_silhouettes_of_the_maps_are_recorded_beside(place, cliques, monkeypatch):
    rows = np.flatnonzero(cliques.targets.toarray().any(axis=1))
    classes = cliques.targets.toarray()[rows].argmax(axis=1)
    maps = [np.random.default_rng(i).random((len(rows), 2)).astype(np.float32) for i in range(3)]
    monkeypatch.setattr(figures, "draw_panels", lambda *_: maps)
    tsne_figure("cliques", cliques, place, EPOCHS)
    records = read_records(place.results)
    found = {record["setting"]: record["silhouette"] for record in records}
    for panel, positions in zip(("node", "word", "both"), maps, strict=True):
        expected = silhouette_by_hand(positions.astype(np.float64), classes)
        assert found[f"{panel}, map"] == pytest.approx(expected, abs=1e-4)
    assert "| the maps, margin 20 |" in silhouettes(records)


@pytest.mark.parametrize("numbers", [(0.1, 0.2, 0.3), (0.1, 0.3, 0.2)])
def test_other_margins_are_tried_only_if_the_order_is_not_the_published(
    place, cliques, monkeypatch, numbers
):
    monkeypatch.setattr(figures, "draw_panels", lambda *_: [])
    given = iter(numbers * 3)
    monkeypatch.setattr("sklearn.metrics.silhouette_score", lambda *_: next(given))
    tsne_figure("cliques", cliques, place, EPOCHS)
    margins = {record["margin"] for record in read_records(place.results)}
    assert margins == ({20} if numbers == (0.1, 0.2, 0.3) else {20, 1, 5})


def test_every_kappa_has_a_record_with_its_curve(place, cliques):
    path = kappa_figure("cliques", cliques.graph, place, EPOCHS)
    assert path.read_bytes().startswith(PNG)
    records = read_records(place.results)
    assert [record["setting"] for record in records] == ["1", "5", "10", "50", "all"]
    for record, kappa in zip(records, KAPPAS, strict=True):
        model = EmbeddingPropagation(
            epochs=EPOCHS, label_types=["node"], max_neighbors=kappa, verbose=False
        ).fit(cliques.graph)
        assert record["losses"] == pytest.approx(model.loss_history_["node"], abs=1e-5)
        assert record["last_epoch_loss"] == pytest.approx(record["losses"][-1], abs=1e-5)
        assert record["final_loss"] == pytest.approx(np.mean(record["losses"]), abs=1e-5)
        assert record["cpu_seconds_per_epoch"] >= 0


def test_what_has_a_record_is_not_measured_again(place, cliques, monkeypatch):
    monkeypatch.setattr(figures, "draw_panels", lambda *_: [])
    tsne_figure("cliques", cliques, place, EPOCHS)
    kappa_figure("cliques", cliques.graph, place, EPOCHS)
    before = read_records(place.results)
    tsne_figure("cliques", cliques, place, EPOCHS)
    kappa_figure("cliques", cliques.graph, place, EPOCHS)
    assert read_records(place.results) == before


def test_the_full_loss_of_two_nodes_is_known_by_hand():
    graph = Graph.from_edges([("a", "b")], nodes=["a", "b"])
    vectors = np.array([[0, 0], [3, 4]], np.float32)
    # Each is reconstructed as the other, 5 from itself and 0 from the only u: 1 + 5 - 0.
    assert full_loss(graph, vectors, margin=1.0) == pytest.approx(6.0)


def test_the_full_loss_passes_over_nodes_without_neighbors():
    graph = Graph.from_edges([("a", "b")], nodes=["a", "b", "alone"])
    vectors = np.array([[0, 0], [0, 0], [100, 0]], np.float32)
    # u is the other node (loss 1) or the lonely one (loss 0), each half of the time.
    assert 0 < full_loss(graph, vectors, margin=1.0) < 1


def test_an_unknown_figure_is_named(tmp_path):
    with pytest.raises(UnknownComponentError, match=r"figure='figure-9'.*'figure-tsne'"):
        figures.make_figure("figure-9", tmp_path / "r.jsonl", tmp_path)


def kappa_record(setting, loss, full):
    base = {"experiment": "figure-kappa", "dataset": "ppi", "method": "epb", "run": 0}
    losses = {"final_loss": loss, "last_epoch_loss": loss, "full_loss": full}
    return base | losses | {"setting": setting, "cpu_seconds_per_epoch": 0.1, "epochs": 20}


def test_the_report_says_how_close_kappa_50_comes():
    text = kappas([kappa_record("50", 0.102, 0.11), kappa_record("all", 0.1, 0.1)])
    assert "0.1020 (+2.0 %)" in text
    assert "training loss differs by +2.0 % (within 3 %)" in text
    assert "loss of the final vectors differs by +10.0 % (not within 3 %)" in text


def test_the_report_says_whether_silhouettes_are_in_the_published_order():
    base = {"experiment": "figure-tsne", "dataset": "cora", "method": "epb", "run": 0}
    records = [
        base | {"setting": setting, "silhouette": value}
        for setting, value in (("node", 0.04), ("word", 0.08), ("both", 0.06))
    ]
    text = silhouettes(records)
    assert "0.040 | 0.080 | 0.060 | node < both < word (not the published one)" in text
    assert text in report(records)


def test_sections_without_results_are_left_out():
    assert "Figure" not in report([])
    assert "Table 1" not in report([])


def test_table_1_counts_the_tables_of_a_model(cliques):
    found = {record["method"]: record for record in table1_records("cliques", cliques.graph, 8)}
    assert found["epb"]["n_parameters"] == 8 * 12
    assert found["deepwalk"]["n_parameters"] == 2 * 8 * 12
    assert found["epb"]["n_hyperparameters"] == 2
    text = table1(found.values())
    assert "| EP-B | cliques | 96 = d\\|V\\| | d\\|V\\| | 2: `dim`, `margin` | 2 |" in text


def test_the_hyperparameters_of_table_1_are_parameters_of_our_classes():
    for method, row in ROWS.items():
        method_class = EmbeddingPropagation if method == "epb" else BASELINES[method]
        assert set(row.hyperparameters) <= set(inspect.signature(method_class).parameters)


def test_the_command_refuses_an_unknown_experiment_before_any_work(tmp_path, monkeypatch):
    from embedprop.cli.reproduce import reproduce

    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownComponentError, match=r"'table9'.*'figure-kappa'.* and 'all'"):
        reproduce(["table1", "table9"])
    assert not list(tmp_path.iterdir())


def test_the_command_makes_table_figures_and_report(tmp_path, monkeypatch, cliques):
    from embedprop.cli.reproduce import reproduce

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(figures, "OTHER_MARGINS", ())
    for module in ("figures", "table1"):
        monkeypatch.setattr(
            f"embedprop.paper.{module}.load_dataset",
            lambda *_, **__: SimpleNamespace(
                graph=cliques.graph, targets=cliques.targets, class_names=("a", "b")
            ),
        )
    reproduce(["table1", "figure-tsne", "figure-kappa"], quick=True)
    text = (tmp_path / "experiments/reproduction.md").read_text("utf-8")
    for heading in ("## Table 1", "## Figure, silhouettes", "## Figure, at most κ"):
        assert heading in text
    pictures = list((tmp_path / "experiments/figures").iterdir())
    assert all(path.read_bytes().startswith(PNG) for path in pictures)
    names = {path.name for path in pictures}
    assert names == {"figure-tsne.png", "figure-kappa-ppi.png"}
