"""The paper's two figures: measured where a number is missing, then drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from embedprop.datasets import load_dataset
from embedprop.paper.figure_kappa import kappa_figure
from embedprop.paper.figure_tsne import tsne_figure
from embedprop.paper.place import Place
from embedprop.paper.units import require_known

FIGURES = ("figure-tsne", "figure-kappa")


def make_figure(
    name: str,
    results: Path,
    figures: Path,
    *,
    quick: bool = False,
    say: Callable[[str], None] = lambda _: None,
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
        Only the maps that are drawn; κ for 20 epochs on PPI.
    say
        Called with a line of text after each measurement.
    """
    require_known("figure", [name], FIGURES)
    place = Place(results, figures, say)
    if name == "figure-tsne":
        cora = load_dataset("cora", directed=False, weighted=False)
        return tsne_figure("cora", cora, place, quick=quick)
    dataset, epochs = ("ppi", 20) if quick else ("blogcatalog", 200)
    graph = load_dataset(dataset, directed=False, weighted=False).graph
    return kappa_figure(dataset, graph, place, epochs)
