"""Pictures and captions at once, with gaps: handwritten digits.

Every node of the graph is a handwritten digit. Two label types describe it:

    picture   a noisy scan of 8 x 8 pixels, read by a small convolutional network
    caption   a few words on the clean digit: strokes, holes, bars, empty corners

A quarter of the pictures and a quarter of the captions are missing. Edges lead to the digits whose
lower half looks most alike. Embedding propagation learns from pictures and captions together; few
nodes have a known class, from which logistic regression predicts that of the others.

Run it in the folder of the project, with torch (`pip install .[torch]`):

    python examples/images_and_text.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import label
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from embedprop import EmbeddingPropagation, Graph

N_NEW = 100  # digits that arrive after training
N_NEIGHBORS = 8
MISSING = 0.25
NOISE = 6.0  # standard deviation; ink goes from 0 to 16
N_SPLITS = 10
N_PER_CLASS = 10
N_VALIDATION = 300
C_VALUES = (0.0001, 0.001, 0.01, 0.1, 1.0, 10.0)
SETTINGS: dict[str, Any] = {
    "dim": 64,
    "epochs": 15,
    "batch_size": 128,
    "learning_rate": 0.01,
    "max_neighbors": 5,
    # What a node's own labels say and what its neighbors' labels say: [h, h~].
    "parts": {"representation": "both"},
    "n_threads": 1,
    "verbose": False,
}
CORNERS = {
    "upper left": np.s_[1:4, :3],
    "upper right": np.s_[1:4, 5:],
    "lower left": np.s_[4:7, :3],
    "lower right": np.s_[4:7, 5:],
}


def caption(image: NDArray[np.float64]) -> str:
    """Describe what can be measured of a digit, without knowing which it is."""
    is_ink = image >= 5
    said = ["thin strokes", "ordinary strokes", "bold strokes"][
        np.searchsorted([290, 335], image.sum())
    ]
    words = [said, "wide" if is_ink.any(axis=0).sum() >= 6 else "narrow", holes(is_ink)]
    if is_ink[0].sum() >= 4 or is_ink[1].sum() >= 5:
        words.append("a bar on top")
    if is_ink[-1].sum() >= 4:
        words.append("a bar at the bottom")
    words += [f"empty {name}" for name, part in CORNERS.items() if image[part].mean() < 2]
    return ", ".join(words)


def holes(is_ink: NDArray[np.bool_]) -> str:
    """Say how many holes the strokes enclose, and where."""
    # The paper around the digit is one region; every other one is a hole.
    regions, n_regions = label(np.pad(~is_ink, 1, constant_values=True))
    if n_regions != 2:
        return "no hole" if n_regions < 2 else "several holes"
    row = np.nonzero(regions == 2)[0].mean()
    return "one hole " + ("above" if row < 4 else "below" if row > 5 else "in the middle")


def make_graphs(images: NDArray[np.float64]) -> tuple[Graph, Graph]:
    """Return the graph to learn from, and one of the digits that arrive later."""
    rng = np.random.default_rng(0)
    n_known = len(images) - N_NEW
    scans = np.clip(images + rng.normal(0, NOISE, images.shape), 0, 16)
    has_picture, has_caption = rng.random((2, len(images))) >= MISSING
    has_picture[n_known:] = has_caption[n_known:] = True
    lower_halves = images[:, 4:].reshape(len(images), -1)
    search = NearestNeighbors(n_neighbors=N_NEIGHBORS + 1).fit(lower_halves[:n_known])
    nearest = search.kneighbors(lower_halves, return_distance=False)
    edges = np.array([(v, u) for v, row in enumerate(nearest) for u in row if u != v])

    def graph_of(nodes: range, edges: NDArray[np.int64]) -> Graph:
        labels = {
            "picture:image": {v: scans[v] for v in nodes if has_picture[v]},
            "caption:text": {v: caption(images[v]) for v in nodes if has_caption[v]},
        }
        return Graph.from_edges(edges, labels, nodes=nodes)

    is_new = edges[:, 0] >= n_known
    return (
        graph_of(range(n_known), edges[~is_new]),
        graph_of(range(n_known, len(images)), edges[is_new]),
    )


def accuracies(vectors: NDArray[np.float32], classes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the test accuracy of each split: few nodes train, some choose C, the rest test."""
    # One factor for all, so that the same C are within reach whatever the length of the vectors.
    vectors = vectors / vectors.std()
    found = []
    for seed in range(N_SPLITS):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(classes))
        train = np.concatenate([order[classes[order] == c][:N_PER_CLASS] for c in range(10)])
        rest = order[~np.isin(order, train)]
        best = (-1.0, 0.0)
        for c in C_VALUES:
            is_right = classify(vectors, classes, train, c).predict(vectors[rest]) == classes[rest]
            chosen = is_right[:N_VALIDATION].mean()
            if chosen > best[0]:
                best = (chosen, is_right[N_VALIDATION:].mean())
        found.append(best[1])
    return np.array(found)


def classify(
    vectors: NDArray[np.float32],
    classes: NDArray[np.int64],
    train: NDArray[np.int64],
    c: float = 1.0,
) -> LogisticRegression:
    """Return logistic regression, fitted on the nodes `train`."""
    return LogisticRegression(C=c, tol=1e-3, max_iter=2000).fit(vectors[train], classes[train])


def show_new_digits(model: EmbeddingPropagation, new: Graph, classes: NDArray[np.int64]) -> float:
    """Place the digits that arrive later, print the first, and return how many are recognized."""
    known = model.node_embeddings_
    # "own": h comes from a new node's own picture and caption, h~ from its neighbors as always.
    vectors = model.transform(new, source="own")[:N_NEW]
    predicted = classify(known, classes, np.arange(len(known))).predict(vectors)
    is_right = predicted == classes[len(known) :]
    labels: Any = new.values
    print(f"\nA new digit, without retraining: {labels['caption'].texts[0]!r}")
    for row in labels["picture"].images[0].reshape(8, 8):
        print("   ", "".join(" .:*#"[int(ink // 4)] * 2 for ink in row))
    print(f"is taken for a {predicted[0]}; it is a {classes[len(known)]}.")
    print(f"Of {N_NEW} new digits, {is_right.sum()} are recognized.")
    return float(is_right.mean())


def main() -> tuple[dict[str, NDArray[np.float64]], float]:
    """Train on pictures, on captions and on both, and print what the vectors are worth."""
    digits = load_digits()
    graph, new = make_graphs(digits.images)
    classes = digits.target
    graph.describe()
    print(f"\n{N_PER_CLASS} known nodes per class, mean of {N_SPLITS} splits")
    print(f"{'learned from':<20}accuracy")
    results = {}
    for label_types in (["picture"], ["caption"], ["picture", "caption"]):
        name = " + ".join(label_types)
        model = EmbeddingPropagation(label_types=label_types, **SETTINGS).fit(graph)
        results[name] = accuracies(model.node_embeddings_, classes[: graph.n_nodes])
        print(f"{name:<20}{results[name].mean():8.4f}", flush=True)
    best = max(("picture", "caption"), key=lambda name: results[name].mean())
    gains = results["picture + caption"] - results[best]
    print(
        f"\nTogether against the best alone ({best}): {gains.mean():+.4f} ± "
        f"{gains.std(ddof=1):.4f} over the splits, better in {(gains > 0).sum()} of {N_SPLITS}."
    )
    return results, show_new_digits(model, new, classes)


if __name__ == "__main__":
    with threadpool_limits(1):  # products this small are slower on many threads
        main()
