"""Figure (b): the loss of each epoch on BlogCatalog when at most κ neighbors speak; its tables."""

import itertools
import time
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from embedprop.graph import Graph
from embedprop.graph.matrix import adjacency_matrix
from embedprop.paper.markdown import markdown_table
from embedprop.paper.rows import DISTANCES, EPB, Estimator, estimator
from embedprop.paper.units import Unit
from embedprop.paper.vectors import Place, Vectors
from embedprop.plots.figures import Curve, draw_curves

# κ as records have it, and the color of its curve.
COLORS = {"1": "#ff725c", "5": "#efb118", "10": "#3ca951", "50": "#4269d0", "all": "#1f2937"}
MARGIN = 1.0
N_SEEDS = 3
LAST_EPOCHS = 10  # the loss of one epoch is noisy: the final loss is the mean of these
NEGATIVES_TO_EVALUATE = 20
DRAWN_METHOD = "epb"
POWERS = {"epb": 1, "epb-squared": 2}  # d = |a - b|^power
CLOSE = 0.03  # the loss with κ = 50 is to differ from that with all neighbors by no more
KAPPAS_NOTE = (
    "Training loss: the mean over the last 10 epochs, and the last alone, which is noisy; then the "
    "loss of the final vectors when all neighbors speak, with 20 u for each v. Means over the "
    "seeds; in parentheses the difference from training with all neighbors."
)
LOSSES = ("final_loss", "last_epoch_loss", "full_loss")


def kappa_figure(name: str, graph: Graph, place: Place, epochs: int = 200) -> Path:
    """Draw the loss of each epoch when at most κ neighbors speak, for several κ."""
    _fit(graph, DRAWN_METHOD, "1", 1, 0)  # compiles, so that no measured run has to
    curves = []
    for run, method, kappa in itertools.product(range(N_SEEDS), EPB, COLORS):
        unit = Unit("figure-kappa", name, method, kappa, run)
        record = place.measured(unit, partial(_run, graph, method, kappa, epochs, run))
        if (run, method) == (0, DRAWN_METHOD):
            curves.append(_curve(kappa, record))
    # The paper's figure has the plain name; a quick one must not take its place.
    path = place.figures / f"figure-kappa{'' if name == 'blogcatalog' else f'-{name}'}.png"
    draw_curves(
        path,
        curves,
        title=f"EP-B on {name}: loss when at most κ neighbors speak",
        text="Training loss of each epoch; the final loss is the mean over the last 10.",
        y_label="mean loss per node",
        legend="final loss, CPU time",
    )
    return path


def _curve(kappa: str, record: Mapping[str, Any]) -> Curve:
    speakers = "all neighbors" if kappa == "all" else f"κ = {kappa}"
    milliseconds = 1000 * record["cpu_seconds_per_epoch"]
    label = f"{speakers}: {record['final_loss']:.4f}, {milliseconds:.0f} ms per epoch"
    return Curve(label, record["losses"], COLORS[kappa], dashed=kappa == "all")


def _run(graph: Graph, method: str, kappa: str, epochs: int, seed: int) -> dict[str, Any]:
    cpu = time.process_time()
    model = _fit(graph, method, kappa, epochs, seed)
    seconds = time.process_time() - cpu
    losses = model.loss_history_["node"]
    return {
        "final_loss": float(np.mean(losses[-LAST_EPOCHS:])),
        "last_epoch_loss": losses[-1],
        "full_loss": full_loss(graph, model.node_embeddings_, MARGIN, POWERS[method]),
        "cpu_seconds_per_epoch": round(seconds / epochs, 5),
        "margin": MARGIN,
        "epochs": epochs,
        "losses": [round(loss, 6) for loss in losses],
    }


def _fit(graph: Graph, method: str, kappa: str, epochs: int, seed: int) -> Estimator:
    most = None if kappa == "all" else int(kappa)
    settings = {"epochs": epochs, "max_neighbors": most, "random_state": seed}
    return estimator(method, MARGIN, label_types=["node"], **settings).fit(graph)


def full_loss(graph: Graph, vectors: Vectors, margin: float, power: int = 1) -> float:
    """Return the mean loss of given node vectors when all neighbors speak; d = |a - b|^power.

    Each node is compared with 20 others, drawn uniformly, always the same, so that models can be
    compared. Nodes without neighbors do not count. For unweighted graphs.
    """
    from scipy.sparse import diags_array

    neighbors = graph.neighbors
    nodes = np.flatnonzero(neighbors.sizes > 0)
    shares = diags_array(1.0 / np.maximum(neighbors.sizes, 1))
    exact = vectors.astype(np.float64)
    reconstructed = np.asarray(shares @ adjacency_matrix(graph, np.float64) @ exact)[nodes]
    own = np.linalg.norm(reconstructed - exact[nodes], axis=1) ** power
    rng = np.random.default_rng(0)
    total = 0.0
    for _ in range(NEGATIVES_TO_EVALUATE):
        others = rng.integers(graph.n_nodes - 1, size=len(nodes))
        others += others >= nodes  # every node but the node itself, with the same chance
        away = np.linalg.norm(reconstructed - exact[others], axis=1) ** power
        total += float(np.maximum(margin + own - away, 0.0).mean())
    return total / NEGATIVES_TO_EVALUATE


def kappas(records: Iterable[dict[str, Any]]) -> str:
    """Return the final losses by κ, and how far each is from the loss with all neighbors."""
    groups: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = {}
    for record in records:
        if record["experiment"] == "figure-kappa":
            group = groups.setdefault((record["dataset"], record["method"]), {})
            group.setdefault(record["setting"], []).append(record)
    tables = [_kappa_table(*key, found) for key, found in sorted(groups.items())]
    return "\n\n".join([*tables, KAPPAS_NOTE]) if tables else ""


def _kappa_table(dataset: str, method: str, found: Mapping[str, list[dict[str, Any]]]) -> str:
    columns = (*LOSSES, "cpu_seconds_per_epoch")
    means = {
        kappa: {name: float(np.mean([record[name] for record in runs])) for name in columns}
        for kappa, runs in found.items()
    }
    heads = ("final loss", "last epoch", "with all neighbors", "CPU ms per epoch")
    rows = []
    for kappa, losses in means.items():
        base = None if kappa == "all" else means.get("all")
        cells = [_loss(losses[name], base[name] if base else None) for name in LOSSES]
        rows.append([kappa, *cells, f"{1000 * losses['cpu_seconds_per_epoch']:.0f}"])
    table = markdown_table([f"{dataset}, {DISTANCES[method]}, κ", *heads], rows)
    runs = next(iter(found.values()))
    return f"{table}\n\n{runs[0]['epochs']} epochs, {len(runs)} seeds.{_verdict(means)}"


def _loss(value: float, full: float | None) -> str:
    return f"{value:.4f}" + ("" if full is None else f" ({100 * (value / full - 1):+.1f} %)")


def _verdict(means: Mapping[str, Mapping[str, float]]) -> str:
    if not {"50", "all"} <= set(means):
        return ""
    names = {"final_loss": "training loss", "full_loss": "loss of the final vectors"}
    parts = []
    for column, name in names.items():
        difference = means["50"][column] / means["all"][column] - 1
        met = "within" if abs(difference) <= CLOSE else "not within"
        parts.append(f"the {name} differs by {100 * difference:+.1f} % ({met} 3 %)")
    return f" For κ = 50, {' and '.join(parts)}."
