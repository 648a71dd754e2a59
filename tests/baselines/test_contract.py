"""What every baseline must do; a new one is tested by being registered."""

from __future__ import annotations

import inspect
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests import toy_graphs
from tests.baselines.methods import NEEDS_WORDS, QUICK, quick

from embedprop import Graph
from embedprop.baselines import BASELINES, is_classifier
from embedprop.errors import InvalidParameterError

EMBEDDERS = [name for name in BASELINES if not is_classifier(name)]
CLASSIFIERS = [name for name in BASELINES if is_classifier(name)]
PACKAGES = {
    "deepwalk": "gensim",
    "node2vec": "gensim",
    "dw-bow": "gensim",
    "gcn": "torch-geometric",
    "gcn-i": "torch-geometric",
    "planetoid-t": "torch",
    "planetoid-i": "torch",
}
GRAPHS = {
    "everything at once": lambda: toy_graphs.messy(
        directed=True,
        weighted_edges=True,
        weighted_labels=True,
        missing=True,
        isolated=True,
        self_loops="keep",
    ),
    "undirected": lambda: toy_graphs.messy(missing=True, isolated=True),
}


@pytest.fixture(params=GRAPHS, ids=[name.replace(" ", "_") for name in GRAPHS])
def graph(request: pytest.FixtureRequest) -> Graph:
    return GRAPHS[request.param]()


def targets_of(graph: Graph, n_classes: int = 3) -> csr_array:
    """The class i % 3 of node i, a second one for every fourth, and none for node 2."""
    nodes = np.arange(graph.n_nodes)
    classes = nodes[:, None] % n_classes == np.arange(n_classes)
    classes[::4, 1] = True
    classes[2] = False
    return csr_array(classes)


def run(name: str, graph: Graph, seed: int = 0) -> np.ndarray:
    method = quick(name, seed)
    if is_classifier(name):
        train, validation = np.arange(0, 14), np.arange(14, 18)
        return method.fit_predict(graph, targets_of(graph), train, validation)
    return method.fit_transform(graph)


@pytest.mark.parametrize("name", list(BASELINES))
def test_there_are_quick_settings_for_each(name: str) -> None:
    assert name in QUICK
    assert BASELINES[name].name == name


@pytest.mark.parametrize("name", list(BASELINES))
def test_it_can_be_made_without_arguments_and_stores_what_it_was_given(name: str) -> None:
    parameters = inspect.signature(BASELINES[name]).parameters
    assert {"random_state", "n_threads"} <= set(parameters)
    for key, parameter in parameters.items():
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        assert getattr(BASELINES[name](), key) == parameter.default


@pytest.mark.parametrize("name", EMBEDDERS)
def test_an_embedder_returns_a_finite_float32_row_per_node(name: str, graph: Graph) -> None:
    vectors = run(name, graph)
    assert vectors.dtype == np.float32
    assert vectors.ndim == 2
    assert len(vectors) == graph.n_nodes
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier_returns_a_finite_score_per_node_and_class(name: str, graph: Graph) -> None:
    scores = run(name, graph)
    assert scores.dtype == np.float64
    assert scores.shape == (graph.n_nodes, 3)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("name", list(BASELINES))
def test_the_same_seed_gives_the_same_and_another_one_something_else(name: str) -> None:
    graph = toy_graphs.messy()
    first, again, other = run(name, graph), run(name, graph), run(name, graph, seed=1)
    np.testing.assert_array_equal(first, again)
    assert np.array_equal(first, other) == (name in ("majority", "wvrn", "bow"))


@pytest.mark.parametrize("name", NEEDS_WORDS)
def test_a_graph_without_words_is_refused_with_advice(name: str) -> None:
    advice = f"'{name}' needs labels of kind set.*label_types=\\['node'\\]"
    with pytest.raises(InvalidParameterError, match=advice):
        run(name, toy_graphs.messy(words=False))


@pytest.mark.parametrize("name", [name for name in BASELINES if name not in NEEDS_WORDS])
def test_a_graph_without_words_is_enough_for_the_others(name: str) -> None:
    assert len(run(name, toy_graphs.messy(words=False))) == 22


@pytest.mark.parametrize("name", NEEDS_WORDS)
def test_the_nodes_own_ids_can_stand_for_words(name: str) -> None:
    graph = toy_graphs.messy(words=False)
    method = quick(name, label_types=["node"])
    if is_classifier(name):
        scores = method.fit_predict(graph, targets_of(graph), np.arange(14))
        assert np.isfinite(scores).all()
    else:
        np.testing.assert_array_equal(method.fit_transform(graph)[:, -22:], np.eye(22))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_targets_of_other_nodes_are_never_read(name: str) -> None:
    graph = toy_graphs.messy()
    train = np.arange(12)
    targets = targets_of(graph)
    seen = targets.toarray()
    seen[12:] = ~seen[12:]
    np.testing.assert_array_equal(
        quick(name).fit_predict(graph, targets, train),
        quick(name).fit_predict(graph, csr_array(seen), train),
    )


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_wrong_targets_and_nodes_are_refused(name: str) -> None:
    graph = toy_graphs.messy()
    targets = targets_of(graph)
    with pytest.raises(InvalidParameterError, match="targets has 5 rows, but the graph has 22"):
        quick(name).fit_predict(graph, targets[:5], np.arange(3))
    with pytest.raises(InvalidParameterError, match="train holds 22, but rows of nodes run from 0"):
        quick(name).fit_predict(graph, targets, np.array([0, 22]))
    with pytest.raises(InvalidParameterError, match="training nodes \\(1\\) has a class"):
        quick(name).fit_predict(graph, targets, np.array([2]))
    with pytest.raises(InvalidParameterError, match="training nodes \\(0\\) has a class"):
        quick(name).fit_predict(graph, targets, np.array([], np.int64))


@pytest.mark.parametrize("name", ["gcn", "planetoid-t"])
def test_a_transductive_classifier_refuses_hidden_nodes(name: str) -> None:
    graph = toy_graphs.messy()
    instead = {"gcn": "gcn-i", "planetoid-t": "planetoid-i"}[name]
    with pytest.raises(
        InvalidParameterError, match=rf"some nodes \(1\) are hidden. Use '{instead}'"
    ):
        quick(name).fit_predict(graph, targets_of(graph), np.arange(3), hidden=np.array([5]))


@pytest.mark.parametrize("name", EMBEDDERS)
def test_an_embedder_gives_new_nodes_vectors_without_learning_from_them(name: str) -> None:
    known = toy_graphs.two_cliques().graph
    edges = [
        (known.nodes[int(u)], known.nodes[v]) for v in range(12) for u in known.neighbors.of(v)
    ]
    words = {"new": ["red"], **toy_words(known)}
    full = Graph.from_edges([("a1", "new"), *edges], labels={"word": words})
    vectors = quick(name).fit_transform_inductive(known, full)
    assert vectors.shape[0] == 13
    if name not in ("bow", "dw-bow"):
        alone = quick(name).fit_transform(known)
        np.testing.assert_array_equal(vectors[full.nodes.ids(known.nodes)], alone)
        np.testing.assert_array_equal(
            vectors[full.nodes.find("new")], alone[known.nodes.find("a1")]
        )
    else:
        own = vectors[full.nodes.find("new"), -len(full.vocabulary("word")) :]
        assert own.sum() == 1


def toy_words(graph: Graph) -> dict[str, list[str]]:
    names = graph.vocabulary("word")
    return {
        graph.nodes[v]: [names[int(w)] for w in graph.labels["word"].of(v)]
        for v in range(graph.n_nodes)
    }


@pytest.mark.parametrize("name", list(PACKAGES))
def test_a_missing_package_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package = PACKAGES[name]
    monkeypatch.setitem(sys.modules, package.replace("-", "_"), None)
    wanted = f"baseline '{name}' needs {package}: pip install 'embedprop\\[baselines\\]'"
    with pytest.raises(InvalidParameterError, match=wanted):
        run(name, toy_graphs.messy())


def test_importing_the_baselines_imports_neither_torch_nor_gensim() -> None:
    code = (
        "import sys, embedprop.baselines; "
        "print([n for n in ('torch', 'torch_geometric', 'gensim', 'numba') if n in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
