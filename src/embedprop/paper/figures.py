"""The numbers behind the paper's two figures: silhouettes on Cora, losses by κ on BlogCatalog."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedprop.datasets import Dataset, load_dataset
from embedprop.errors import UnknownComponentError
from embedprop.estimator import EmbeddingPropagation
from embedprop.evaluation.records import append_record, read_records
from embedprop.graph import Graph
from embedprop.paper.pictures import Panel, draw_losses, draw_panels
from embedprop.paper.reproduce import provenance
from embedprop.paper.units import Unit, record_key
from embedprop.paper.vectors import Cache, Vectors

FIGURES = ("figure-tsne", "figure-kappa")

# What each panel is learned from, and its published silhouette.
PANELS: dict[str, Sequence[str]] = {"node": ["node"], "word": ["word"], "both": ["node", "word"]}
PUBLISHED_SILHOUETTES = {"node": 0.008, "word": 0.107, "both": 0.158}
TSNE_MARGIN = 20.0  # the paper's choice for Cora
OTHER_MARGINS = (1.0, 5.0)  # tried if the order of the panels is not the published one

KAPPAS: tuple[int | None, ...] = (1, 5, 10, 50, None)
KAPPA_MARGIN = 1.0
LAST_EPOCHS = 10  # one epoch's loss is noisy: the final loss is the mean over so many
NEGATIVES_TO_EVALUATE = 20

Told = Callable[[str], None]


@dataclass(frozen=True)
class Place:
    """Where records, vectors and pictures of a figure go, and who is told."""

    results: Path
    figures: Path
    told: Told

    def add(self, record: dict[str, Any]) -> None:
        """Append a record and tell of it."""
        append_record(self.results, record)
        shown = ("silhouette", "final_loss", "full_loss", "cpu_seconds_per_epoch")
        numbers = ", ".join(f"{name} {record[name]:.4f}" for name in shown if name in record)
        self.told(f"{record['experiment']} {record['dataset']} {record['setting']}: {numbers}")

    def find(self, unit: Unit) -> dict[str, Any] | None:
        """Return the newest record of a unit, if there is one."""
        found = [record for record in read_records(self.results) if record_key(record) == unit.key]
        return found[-1] if found else None


def make_figure(
    name: str, results: Path, figures: Path, *, quick: bool = False, told: Told = lambda _: None
) -> Path:
    """Measure what is not in `results` yet, draw the figure, and return its path.

    Parameters
    ----------
    name
        ``"figure-tsne"`` or ``"figure-kappa"``.
    results
        A JSONL file of results; vectors are kept in a folder ``vectors`` beside it.
    figures
        The folder for the picture, made if need be.
    quick
        Draw κ for 20 epochs on PPI; the silhouettes take a minute or two in any case.
    told
        Called with a line of text after each number.
    """
    place = Place(results, figures, told)
    if name == "figure-tsne":
        cora = load_dataset("cora", directed=False, weighted=False)
        return tsne_figure("cora", cora, place)
    if name == "figure-kappa":
        dataset, epochs = ("ppi", 20) if quick else ("blogcatalog", 200)
        graph = load_dataset(dataset, directed=False, weighted=False).graph
        return kappa_figure(dataset, graph, place, epochs)
    known = ", ".join(map(repr, FIGURES))
    raise UnknownComponentError(f"figure={name!r} is not known; there are: {known}.")


def tsne_figure(name: str, dataset: Dataset, place: Place, epochs: int = 200) -> Path:
    """Draw a data set from node ids, from words and from both, with the silhouette of each.

    Silhouettes are of the vectors, by Euclidean distance; nodes without a class do not count.
    """
    silhouettes = _silhouettes(name, dataset, place, TSNE_MARGIN, epochs)
    if not in_published_order(silhouettes):
        for margin in OTHER_MARGINS:
            _silhouettes(name, dataset, place, margin, epochs)
    rows, classes = _classes(dataset)
    panels = [
        Panel(
            vectors=_vectors(name, dataset.graph, panel, TSNE_MARGIN, epochs, place)[0][rows],
            title=title,
            silhouette=silhouettes[panel],
            published=PUBLISHED_SILHOUETTES[panel],
        )
        for panel, title in zip(PANELS, ("Node ids", "Words", "Both"), strict=True)
    ]
    path = place.figures / "figure-tsne.png"
    about = f"{name}, margin {TSNE_MARGIN:g}"
    maps = draw_panels(path, panels, classes, dataset.class_names, about)
    _map_silhouettes(name, dict(zip(PANELS, maps, strict=False)), classes, place)
    return path


def _map_silhouettes(
    name: str, maps: Mapping[str, NDArray[np.float64]], classes: NDArray[np.int64], place: Place
) -> None:
    """Add the silhouettes of the maps: perhaps the paper's are these."""
    from sklearn.metrics import silhouette_score

    for panel, positions in maps.items():
        unit = Unit("figure-tsne", name, "epb", map_setting(panel), 0)
        if place.find(unit) is None:
            silhouette = float(silhouette_score(positions, classes))
            measured = {"silhouette": silhouette, "margin": TSNE_MARGIN}
            place.add(unit.to_dict() | measured | provenance())


def map_setting(panel: str) -> str:
    """Return the setting of the record for a panel's map."""
    return f"{panel}, map"


def in_published_order(silhouettes: dict[str, float]) -> bool:
    """Return whether ids are below words, and words below both.

    >>> in_published_order({"node": 0.008, "word": 0.107, "both": 0.158})
    True
    """
    return silhouettes["node"] < silhouettes["word"] < silhouettes["both"]


def panel_setting(panel: str, margin: float) -> str:
    """Return the setting of a panel's record: the drawn margin goes without saying.

    >>> panel_setting("word", 20.0), panel_setting("word", 5.0)
    ('word', 'word, margin 5')
    """
    return panel if margin == TSNE_MARGIN else f"{panel}, margin {margin:g}"


def _silhouettes(
    name: str, dataset: Dataset, place: Place, margin: float, epochs: int
) -> dict[str, float]:
    from sklearn.metrics import silhouette_score
    from threadpoolctl import threadpool_limits

    rows, classes = _classes(dataset)
    found = {}
    for panel in PANELS:
        unit = Unit("figure-tsne", name, "epb", panel_setting(panel, margin), 0)
        record = place.find(unit)
        if record is None:
            vectors, seconds = _vectors(name, dataset.graph, panel, margin, epochs, place)
            with threadpool_limits(1):
                silhouette = float(silhouette_score(vectors[rows], classes))
            measured = {"silhouette": silhouette, "margin": margin, "epochs": epochs}
            measured |= {"dim": vectors.shape[1], "embedding_cpu_seconds": round(seconds, 2)}
            record = unit.to_dict() | measured | provenance()
            place.add(record)
        found[panel] = float(record["silhouette"])
    return found


def _classes(dataset: Dataset) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows that have a class, and the class of each."""
    targets = dataset.targets.toarray().astype(bool)
    rows = np.flatnonzero(targets.any(axis=1))
    return rows, targets[rows].argmax(axis=1)


def _vectors(
    name: str, graph: Graph, panel: str, margin: float, epochs: int, place: Place
) -> tuple[Vectors, float]:
    def compute() -> Vectors:
        return _fit(graph, margin, epochs, label_types=PANELS[panel]).node_embeddings_

    return Cache(place.results.parent / "vectors").get_or_compute(
        compute, what="figure-tsne", dataset=name, panel=panel, margin=margin, epochs=epochs
    )


def kappa_figure(name: str, graph: Graph, place: Place, epochs: int = 200) -> Path:
    """Draw the loss of each epoch when at most κ neighbors speak, for several κ."""
    _fit(graph, KAPPA_MARGIN, 1, max_neighbors=1)  # compiles, so that no measured run has to
    curves = {}
    for kappa in KAPPAS:
        unit = Unit("figure-kappa", name, "epb", "all" if kappa is None else str(kappa), 0)
        record = place.find(unit)
        if record is None:
            record = unit.to_dict() | _kappa_run(graph, kappa, epochs) | provenance()
            place.add(record)
        curves[unit.setting] = record
    # The paper's figure has the plain name; a quick one must not take its place.
    path = place.figures / f"figure-kappa{'' if name == 'blogcatalog' else f'-{name}'}.png"
    draw_losses(path, curves, name)
    return path


def _kappa_run(graph: Graph, kappa: int | None, epochs: int) -> dict[str, Any]:
    cpu = time.process_time()
    model = _fit(graph, KAPPA_MARGIN, epochs, label_types=["node"], max_neighbors=kappa)
    seconds = time.process_time() - cpu
    losses = model.loss_history_["node"]
    return {
        "final_loss": float(np.mean(losses[-LAST_EPOCHS:])),
        "last_epoch_loss": losses[-1],
        "full_loss": full_loss(graph, model.node_embeddings_, KAPPA_MARGIN),
        "cpu_seconds_per_epoch": round(seconds / epochs, 5),
        "margin": KAPPA_MARGIN,
        "epochs": epochs,
        "losses": [round(loss, 6) for loss in losses],
    }


def full_loss(graph: Graph, vectors: Vectors, margin: float, seed: int = 0) -> float:
    """Return the mean loss of given node vectors when all neighbors speak.

    Each node is compared with 20 others, drawn uniformly, the same for the same seed, so that
    models can be compared. Nodes without neighbors do not count. For unweighted graphs.
    """
    from scipy.sparse import csr_array

    neighbors = graph.neighbors
    nodes = np.flatnonzero(neighbors.sizes > 0)
    shares = np.repeat(1.0 / np.maximum(neighbors.sizes, 1), neighbors.sizes)
    shape = (graph.n_nodes, graph.n_nodes)
    exact = vectors.astype(np.float64)
    means = csr_array((shares, neighbors.ids, neighbors.ptr), shape=shape)
    reconstructed = np.asarray(means @ exact)[nodes]
    own = np.linalg.norm(reconstructed - exact[nodes], axis=1)
    rng = np.random.default_rng(seed)
    total = 0.0
    for _ in range(NEGATIVES_TO_EVALUATE):
        others = rng.integers(graph.n_nodes - 1, size=len(nodes))
        others += others >= nodes  # every node but the node itself, with the same chance
        away = np.linalg.norm(reconstructed - exact[others], axis=1)
        total += float(np.maximum(margin + own - away, 0.0).mean())
    return total / NEGATIVES_TO_EVALUATE


def _fit(graph: Graph, margin: float, epochs: int, **extra: Any) -> EmbeddingPropagation:
    return EmbeddingPropagation(
        margin=margin, epochs=epochs, random_state=0, n_threads=1, verbose=False, **extra
    ).fit(graph)
