"""Figure (a): maps of Cora from ids, from words and from both, and their silhouettes in a table."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from embedprop.datasets import Dataset
from embedprop.evaluation.targets import Targets
from embedprop.graph import Graph, Multisets, Vocabulary
from embedprop.paper.markdown import markdown_table
from embedprop.paper.rows import DISTANCES, EPB, MARGINS, estimator
from embedprop.paper.units import Unit
from embedprop.paper.vectors import Place, Vectors
from embedprop.plots.maps import Map, Points, draw_maps

# Each panel, and its published silhouette. The paper applies t-SNE "to the 128-dimensional
# embeddings" in all three, so that "both" are ids and words as labels of one type.
PUBLISHED_SILHOUETTES = {"node": 0.008, "word": 0.107, "both": 0.158}
TITLES = {"node": "Node ids", "word": "Words", "both": "Both"}
# EP-B's own way to put two label types together, which has 256 dimensions, is measured as well.
MEASURED = (*PUBLISHED_SILHOUETTES, "concatenation")
ONE_TYPE = "node or word"
LEARNED_FROM = {"both": [ONE_TYPE], "concatenation": ["node", "word"]}
# What is drawn: the distance as the paper writes it, and the margin that validation nodes choose in
# nine of the ten runs of table 5.
DRAWN_METHOD, DRAWN_MARGIN = "epb", 5.0
SILHOUETTES_NOTE = (
    "EP-B on Cora, undirected; silhouettes of the vectors by Euclidean distance, not of their "
    "t-SNE. The paper speaks of 128-dimensional embeddings in all three maps, so both are ids and "
    "words as labels of one type. EP-B's concatenation of two label types has 256 dimensions; its "
    "silhouette lies between those of its two halves."
)


def tsne_figure(
    name: str, dataset: Dataset, place: Place, epochs: int = 200, quick: bool = False
) -> Path:
    """Draw a data set from node ids, from words and from both, with the silhouette of each.

    Silhouettes are of the vectors, by Euclidean distance; nodes without a class do not count.
    """
    measured = _Measured(name, dataset, place, epochs)
    found = measured.silhouettes(DRAWN_METHOD, DRAWN_MARGIN)
    for method, margin in () if quick else itertools.product(EPB, MARGINS):
        measured.silhouettes(method, margin)
    maps, nodes = [], measured.targets.nodes
    for panel, published in PUBLISHED_SILHOUETTES.items():
        vectors, _ = measured.vectors(panel, DRAWN_METHOD, DRAWN_MARGIN)
        title = f"{TITLES[panel]}: {found[panel]:.3f} (published {published:.3f})"
        maps.append(Map(vectors[nodes], title))
    path = place.figures / "figure-tsne.png"
    draw_maps(
        path,
        maps,
        Points(measured.targets.classes[nodes], measured.targets.class_names),
        title=f"{name}, margin {DRAWN_MARGIN:g}: {len(nodes):,} nodes by their EP-B vectors",
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
        types = LEARNED_FROM.get(panel, [panel])
        learner = estimator(method, margin, epochs=self._epochs, label_types=types)
        depends_on = {"dataset": self._name, "panel": panel, "method": method, "margin": margin}
        depends_on |= {"what": "figure-tsne", "epochs": self._epochs}
        compute = partial(learner.fit_transform, self._graph)
        return self._place.cache.get_or_compute(compute, **depends_on)

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
    kinds = {"word": graph.vocabulary("word"), "node": graph.nodes}
    names = [(kind, name) for kind, vocabulary in kinds.items() for name in vocabulary]
    return replace(
        graph,
        labels={**graph.labels, ONE_TYPE: sets},
        vocabularies={**graph.vocabularies, ONE_TYPE: Vocabulary(names)},
        label_types=(*graph.label_types, ONE_TYPE),
    )


def panel_setting(panel: str, margin: float) -> str:
    """Return the setting of a panel's record.

    >>> panel_setting("word", 5.0)
    'word, margin 5'
    """
    return f"{panel}, margin {margin:g}"


def silhouettes(records: Iterable[dict[str, Any]]) -> str:
    """Return the silhouettes of each margin and whether they are in the published order."""
    found = {
        (record["method"], record["setting"]): record["silhouette"]
        for record in records
        if record["experiment"] == "figure-tsne"
    }
    rows = [_silhouette_row("published", PUBLISHED_SILHOUETTES)]
    for method, margin in itertools.product(EPB, MARGINS):
        keys = {panel: (method, panel_setting(panel, margin)) for panel in MEASURED}
        if all(key in found for key in keys.values()):
            drawn = " (drawn)" if (method, margin) == (DRAWN_METHOD, DRAWN_MARGIN) else ""
            numbers = {panel: found[key] for panel, key in keys.items()}
            rows.append(_silhouette_row(f"{DISTANCES[method]}, margin {margin:g}{drawn}", numbers))
    if len(rows) == 1:
        return ""
    head = ["", "node ids", "words", "both", "order", "concatenation"]
    return f"{markdown_table(head, rows)}\n\n{SILHOUETTES_NOTE}"


def _silhouette_row(name: str, numbers: Mapping[str, float]) -> list[str]:
    order = sorted(PUBLISHED_SILHOUETTES, key=lambda panel: numbers[panel])
    verdict = "" if order == list(PUBLISHED_SILHOUETTES) else " (not the published one)"
    cells = [f"{numbers[panel]:.3f}" for panel in PUBLISHED_SILHOUETTES]
    concatenation = f"{numbers['concatenation']:.3f}" if "concatenation" in numbers else "–"
    return [name, *cells, f"{' < '.join(order)}{verdict}", concatenation]
