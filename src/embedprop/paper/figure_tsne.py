"""Figure (a): maps of Cora from ids, from words and from both, with the silhouette of each."""

from __future__ import annotations

import itertools
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
# EP-B's own way to put two label types together, which has 256 dimensions, is measured as well.
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
    measured = _Measured(name, dataset, place, epochs)
    drawn = (DRAWN_METHOD, DRAWN_MARGIN)
    silhouettes = measured.silhouettes(*drawn)
    for method, margin in () if quick else itertools.product(EPB, MARGINS):
        measured.silhouettes(method, margin)
    targets = measured.targets
    maps = [
        Map(
            measured.vectors(panel, *drawn)[0][targets.nodes],
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


class _Measured:
    """The vectors and silhouettes of one data set; what was measured before is read."""

    def __init__(self, name: str, dataset: Dataset, place: Place, epochs: int) -> None:
        self.targets = Targets(dataset.targets.toarray().astype(bool), dataset.class_names)
        self._name, self._place, self._epochs = name, place, epochs
        self._graph = with_one_type(dataset.graph)

    def vectors(self, panel: str, method: str, margin: float) -> tuple[Vectors, float]:
        """Return the vectors of a panel and the CPU seconds that they took."""

        def compute() -> Vectors:
            settings = {"epochs": self._epochs, "label_types": LEARNED_FROM[panel]}
            return estimator(method, margin, **settings).fit_transform(self._graph)

        depends_on = {"dataset": self._name, "panel": panel, "method": method, "margin": margin}
        return self._place.cache.get_or_compute(
            compute, what="figure-tsne", epochs=self._epochs, **depends_on
        )

    def silhouettes(self, method: str, margin: float) -> dict[str, float]:
        """Return the silhouette of each way to learn, and record it."""
        found = {}
        for panel in MEASURED:
            unit = Unit("figure-tsne", self._name, method, panel_setting(panel, margin), 0)
            record = self._place.measured(unit, partial(self._record, panel, method, margin))
            found[panel] = float(record["silhouette"])
        return found

    def _record(self, panel: str, method: str, margin: float) -> dict[str, Any]:
        from sklearn.metrics import silhouette_score
        from threadpoolctl import threadpool_limits

        vectors, seconds = self.vectors(panel, method, margin)
        rows = self.targets.nodes
        with threadpool_limits(1):
            silhouette = float(silhouette_score(vectors[rows], self.targets.classes[rows]))
        measured = {"silhouette": silhouette, "margin": margin, "epochs": self._epochs}
        return measured | {"dim": vectors.shape[1], "embedding_cpu_seconds": round(seconds, 2)}


def with_one_type(graph: Graph) -> Graph:
    """Return the graph with one more label type, which holds the id and the words of each node.

    >>> graph = Graph.from_edges([("a", "b")], labels={"word": {"a": ["x", "y"]}})
    >>> one = with_one_type(graph)
    >>> [one.vocabulary(ONE_TYPE)[i] for i in one.labels[ONE_TYPE].of(0)]
    [('word', 'x'), ('word', 'y'), ('node', 'a')]
    """
    words, n_words = graph.labels["word"], len(graph.vocabulary("word"))
    # The id comes after the words of a node, and its number after those of all words.
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
