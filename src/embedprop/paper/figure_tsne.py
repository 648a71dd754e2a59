"""Figure (a): maps of Cora from ids, from words and from both, with the silhouette of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from embedprop.datasets import Dataset
from embedprop.evaluation.targets import Targets
from embedprop.graph import Graph
from embedprop.graph.multisets import Multisets
from embedprop.graph.vocabulary import Vocabulary
from embedprop.paper.ours import MARGINS, estimator
from embedprop.paper.place import Place
from embedprop.paper.units import EPB, Unit
from embedprop.paper.vectors import Vectors
from embedprop.plots.maps import Map, Points, draw_maps

# Each panel, and its published silhouette. The paper applies t-SNE "to the 128-dimensional
# embeddings" in all three, so that "both" are ids and words as labels of one type.
PUBLISHED_SILHOUETTES = {"node": 0.008, "word": 0.107, "both": 0.158}
TITLES = {"node": "Node ids", "word": "Words", "both": "Both"}
# EP-B's own way to put two label types together, which has 256 dimensions, is measured beside.
MEASURED = (*PUBLISHED_SILHOUETTES, "concatenation")
ONE_TYPE = "node or word"
LEARNED_FROM = {
    "node": ["node"],
    "word": ["word"],
    "both": [ONE_TYPE],
    "concatenation": ["node", "word"],
}
# What is drawn: the distance as the paper writes it, and the margin that validation nodes choose in
# nine of the ten runs of table 5.
DRAWN_METHOD, DRAWN_MARGIN = "epb", 5.0


def tsne_figure(
    name: str, dataset: Dataset, place: Place, epochs: int = 200, quick: bool = False
) -> Path:
    """Draw a data set from node ids, from words and from both, with the silhouette of each.

    Silhouettes are of the vectors, by Euclidean distance; nodes without a class do not count.
    """
    dataset = replace(dataset, graph=with_one_type(dataset.graph))
    drawn = (DRAWN_METHOD, DRAWN_MARGIN)
    rest = [(method, margin) for method in EPB for margin in MARGINS if (method, margin) != drawn]
    silhouettes = _silhouettes(name, dataset, place, *drawn, epochs)
    for method, margin in [] if quick else rest:
        _silhouettes(name, dataset, place, method, margin, epochs)
    targets = _targets(dataset)
    maps = [
        Map(
            _vectors(name, dataset.graph, panel, *drawn, epochs, place)[0][targets.nodes],
            f"{TITLES[panel]}: {silhouettes[panel]:.3f} (published {published:.3f})",
        )
        for panel, published in PUBLISHED_SILHOUETTES.items()
    ]
    path, n_nodes = place.figures / "figure-tsne.png", len(targets.nodes)
    draw_maps(
        path,
        maps,
        Points(targets.classes[targets.nodes], targets.class_names),
        title=f"{name}, margin {DRAWN_MARGIN:g}: {n_nodes:,} nodes by their EP-B vectors",
        text="t-SNE. Above each map: the silhouette of the vectors (not of the map). "
        "Colors are the classes, which training never saw.",
    )
    return path


def with_one_type(graph: Graph) -> Graph:
    """Return the graph with one more label type, which holds the id and the words of each node.

    >>> graph = Graph.from_edges([("a", "b")], labels={"word": {"a": ["x", "y"]}})
    >>> one = with_one_type(graph)
    >>> [one.vocabulary(ONE_TYPE)[i] for i in one.labels[ONE_TYPE].of(0)]
    [('word', 'x'), ('word', 'y'), ('node', 'a')]
    """
    words, n_words = graph.labels["word"], len(graph.vocabulary("word"))
    ids = np.insert(words.ids, words.ptr[1:], n_words + np.arange(graph.n_nodes))
    sets = Multisets(words.ptr + np.arange(graph.n_nodes + 1), ids)
    names = [("word", name) for name in graph.vocabulary("word")]
    names += [("node", name) for name in graph.nodes]
    return replace(
        graph,
        labels={**graph.labels, ONE_TYPE: sets},
        vocabularies={**graph.vocabularies, ONE_TYPE: Vocabulary(names)},
        label_types=(*graph.label_types, ONE_TYPE),
    )


def in_published_order(silhouettes: Mapping[str, float]) -> bool:
    """Return whether ids are below words, and words below both.

    >>> in_published_order({"node": 0.008, "word": 0.107, "both": 0.158})
    True
    """
    return silhouettes["node"] < silhouettes["word"] < silhouettes["both"]


def panel_setting(panel: str, margin: float) -> str:
    """Return the setting of a panel's record.

    >>> panel_setting("word", 5.0)
    'word, margin 5'
    """
    return f"{panel}, margin {margin:g}"


def _silhouettes(
    name: str, dataset: Dataset, place: Place, method: str, margin: float, epochs: int
) -> dict[str, float]:
    from sklearn.metrics import silhouette_score
    from threadpoolctl import threadpool_limits

    targets = _targets(dataset)
    rows, classes = targets.nodes, targets.classes[targets.nodes]

    def measure(panel: str) -> dict[str, Any]:
        vectors, seconds = _vectors(name, dataset.graph, panel, method, margin, epochs, place)
        with threadpool_limits(1):
            silhouette = float(silhouette_score(vectors[rows], classes))
        measured = {"silhouette": silhouette, "margin": margin, "epochs": epochs}
        return measured | {"dim": vectors.shape[1], "embedding_cpu_seconds": round(seconds, 2)}

    found = {}
    for panel in MEASURED:
        unit = Unit("figure-tsne", name, method, panel_setting(panel, margin), 0)
        found[panel] = float(place.measured(unit, partial(measure, panel))["silhouette"])
    return found


def _targets(dataset: Dataset) -> Targets:
    return Targets(dataset.targets.toarray().astype(bool), dataset.class_names)


def _vectors(
    name: str, graph: Graph, panel: str, method: str, margin: float, epochs: int, place: Place
) -> tuple[Vectors, float]:
    def compute() -> Vectors:
        model = estimator(method, margin, epochs=epochs, label_types=LEARNED_FROM[panel])
        return model.fit_transform(graph)

    depends_on = {"dataset": name, "panel": panel, "method": method, "margin": margin}
    return place.cache.get_or_compute(compute, what="figure-tsne", epochs=epochs, **depends_on)
