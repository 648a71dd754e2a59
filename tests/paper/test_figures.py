import inspect

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.toy_graphs import two_cliques

from embedprop import EmbeddingPropagation, Graph
from embedprop.baselines.registry import BASELINES
from embedprop.cli.commands.reproduce import Run, reproduce
from embedprop.datasets import Dataset
from embedprop.errors import UnknownComponentError
from embedprop.evaluation.records import read_records
from embedprop.paper import figure_tsne
from embedprop.paper.figure_kappa import COLORS, N_SEEDS, full_loss, kappa_figure, kappas
from embedprop.paper.figure_tsne import ONE_TYPE, silhouettes, tsne_figure, with_one_type
from embedprop.paper.report import report
from embedprop.paper.reproduce import make_figure
from embedprop.paper.rows import EPB
from embedprop.paper.table1 import COUNTED, table1, table1_records
from embedprop.paper.vectors import Place

EPOCHS = 3
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path / "results.jsonl", tmp_path / "figures")


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
    monkeypatch.setattr(figure_tsne, "draw_maps", lambda *_, **__: None)
    tsne_figure("cliques", cliques, place, EPOCHS)
    records = read_records(place.results)
    found = {(record["method"], record["setting"]): record for record in records}
    assert len(found) == len(records) == 2 * 4 * 4  # readings of d, margins, ways to learn
    rows = np.flatnonzero(cliques.targets.toarray().any(axis=1))
    classes = cliques.targets.toarray()[rows].argmax(axis=1)
    for panel, graph, types in (
        ("node", cliques.graph, ["node"]),
        ("word", cliques.graph, ["word"]),
        ("both", with_one_type(cliques.graph), [ONE_TYPE]),
        ("concatenation", cliques.graph, ["node", "word"]),
    ):
        model = EmbeddingPropagation(
            parts={"distance": "squared_euclidean"},
            margin=20,
            epochs=EPOCHS,
            label_types=types,
            verbose=False,
        )
        vectors = model.fit(graph).node_embeddings_.astype(np.float64)[rows]
        record = found["epb-squared", f"{panel}, margin 20"]
        assert record["silhouette"] == pytest.approx(silhouette_by_hand(vectors, classes), abs=1e-4)
        assert record["dim"] == 128 * len(types)


def test_one_type_holds_the_words_and_the_id_of_each_node(cliques):
    graph = with_one_type(cliques.graph)
    names = graph.vocabulary(ONE_TYPE)
    for i, node in enumerate(graph.nodes):
        held = {names[label] for label in graph.labels[ONE_TYPE].of(i)}
        assert held == {("node", node)} | {("word", word) for word in words_of(graph, i)}
    assert graph.labels[ONE_TYPE].n_values == graph.labels["word"].n_values + graph.n_nodes


def words_of(graph, i):
    return [graph.vocabulary("word")[label] for label in graph.labels["word"].of(i)]


def test_a_quick_figure_measures_what_it_draws(place, cliques, monkeypatch):
    drawn = []
    monkeypatch.setattr(figure_tsne, "draw_maps", lambda _, maps, *__, **___: drawn.extend(maps))
    tsne_figure("cliques", cliques, place, EPOCHS, quick=True)
    records = read_records(place.results)
    assert {(record["method"], record["margin"]) for record in records} == {("epb", 5.0)}
    measured = {record["setting"].split(",")[0]: record["silhouette"] for record in records}
    assert [one.title.split(": ")[1][:5] for one in drawn] == [
        f"{measured[name]:.3f}"[:5] for name in ("node", "word", "both")
    ]


def test_every_kappa_has_a_record_with_its_curve(place, cliques):
    path = kappa_figure("cliques", cliques.graph, place, EPOCHS)
    assert path.read_bytes().startswith(PNG)
    records = read_records(place.results)
    assert len(records) == N_SEEDS * len(EPB) * len(COLORS)
    for record in records:
        distance = "squared_euclidean" if record["method"] == "epb-squared" else "euclidean"
        kappa = None if record["setting"] == "all" else int(record["setting"])
        model = EmbeddingPropagation(
            epochs=EPOCHS, label_types=["node"], max_neighbors=kappa, verbose=False,
            parts={"distance": distance}, random_state=record["run"],
        ).fit(cliques.graph)  # fmt: skip
        assert record["losses"] == pytest.approx(model.loss_history_["node"], abs=1e-5)
        assert record["last_epoch_loss"] == pytest.approx(record["losses"][-1], abs=1e-5)
        assert record["final_loss"] == pytest.approx(np.mean(record["losses"]), abs=1e-5)
        assert record["cpu_seconds_per_epoch"] >= 0


def test_what_has_a_record_is_not_measured_again(place, cliques, monkeypatch):
    monkeypatch.setattr(figure_tsne, "draw_maps", lambda *_, **__: None)
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
    assert full_loss(graph, vectors, margin=1.0, power=2) == pytest.approx(26.0)


def test_the_full_loss_passes_over_nodes_without_neighbors():
    graph = Graph.from_edges([("a", "b")], nodes=["a", "b", "alone"])
    vectors = np.array([[0, 0], [0, 0], [100, 0]], np.float32)
    # u is the other node (loss 1) or the lonely one (loss 0), each half of the time.
    assert 0 < full_loss(graph, vectors, margin=1.0) < 1


def test_an_unknown_figure_is_named(tmp_path):
    with pytest.raises(UnknownComponentError, match=r"figure='figure-9'.*'figure-tsne'"):
        make_figure("figure-9", Place(tmp_path / "r.jsonl", tmp_path))


def kappa_record(setting, loss, full, run=0):
    base = {"experiment": "figure-kappa", "dataset": "ppi", "method": "epb", "run": run}
    losses = {"final_loss": loss, "last_epoch_loss": loss, "full_loss": full}
    return base | losses | {"setting": setting, "cpu_seconds_per_epoch": 0.1, "epochs": 20}


def test_the_report_says_how_close_kappa_50_comes_on_average_over_seeds():
    records = [kappa_record("50", 0.102, 0.11), kappa_record("50", 0.104, 0.11, run=1)]
    text = kappas([*records, kappa_record("all", 0.1, 0.1), kappa_record("all", 0.102, 0.1, run=1)])
    assert "0.1030 (+2.0 %)" in text
    assert "training loss differs by +2.0 % (within 3 %)" in text
    assert "loss of the final vectors differs by +10.0 % (not within 3 %)" in text


def test_the_report_says_whether_silhouettes_are_in_the_published_order():
    base = {"experiment": "figure-tsne", "dataset": "cora", "method": "epb", "run": 0}
    numbers = {"node": 0.04, "word": 0.08, "both": 0.06, "concatenation": 0.07}
    records = [
        base | {"setting": f"{panel}, margin 10", "silhouette": value}
        for panel, value in numbers.items()
    ]
    text = silhouettes(records)
    assert "0.040 | 0.080 | 0.060 | node < both < word (not the published one) | 0.070" in text
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
    for method, row in COUNTED.items():
        method_class = EmbeddingPropagation if method == "epb" else BASELINES[method]
        assert set(row.hyperparameters) <= set(inspect.signature(method_class).parameters)


def test_the_command_refuses_an_unknown_experiment_before_any_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownComponentError, match=r"'table9'.*'figure-kappa'.*'all'"):
        reproduce(["table1", "table9"], Run())
    assert not list(tmp_path.iterdir())


def test_the_command_makes_table_figures_and_report(tmp_path, monkeypatch, cliques):
    monkeypatch.chdir(tmp_path)
    for module in ("reproduce", "table1"):
        monkeypatch.setattr(
            f"embedprop.paper.{module}.load_dataset",
            lambda *_, **__: cliques,
        )
    reproduce(["table1", "figure-tsne", "figure-kappa"], Run(quick=True))
    text = (tmp_path / "experiments/reproduction.md").read_text("utf-8")
    for heading in ("## Table 1", "## Figure, silhouettes", "## Figure, at most κ"):
        assert heading in text
    assert "![Figure, silhouettes](figures/figure-tsne.png)" in text
    pictures = list((tmp_path / "experiments/figures").iterdir())
    assert all(path.read_bytes().startswith(PNG) for path in pictures)
    names = {path.name for path in pictures}
    assert names == {"figure-tsne.png", "figure-kappa-ppi.png"}
