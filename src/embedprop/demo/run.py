"""The demo: learn, measure, look around, draw. Every number that it prints was just measured."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from embedprop.demo.digits import INK, N_NEIGHBORS, SIDE, Digits, digit_name, pixel_name
from embedprop.errors import InvalidParameterError
from embedprop.estimators import ClosedForm, EmbeddingPropagation
from embedprop.evaluation.node_classification import score_path
from embedprop.evaluation.splits import per_class_split
from embedprop.files.atomic import made
from embedprop.files.folder.save import check_target
from embedprop.graph import Graph
from embedprop.plots.maps import Map, Points, draw_maps

Say = Callable[[str], None]
Vectors = NDArray[np.float32]
Estimator = ClosedForm | EmbeddingPropagation

SHOWN_PIXEL = pixel_name(3 * SIDE + 3)  # r4c4, in the middle of the image
N_EXAMPLES = 10  # of each class
N_DRAWS = 20
C = 1.0  # scikit-learn's default

# What is shown side by side, by title; what is shown of one method alone is of the first.
ESTIMATORS: Mapping[str, Estimator] = {
    # Ids as well, which the default leaves out where labels are shared: they gain a point here.
    "closed form": ClosedForm(dim=32, label_types=["node", "pixel"]),
    # Fewer and larger steps than the paper's: the graph is small, and a user is waiting.
    "EP-B": EmbeddingPropagation(dim=64, margin=5.0, epochs=60, learning_rate=5e-3),
}
FIRST = next(iter(ESTIMATORS))


class Score(NamedTuple):
    """Accuracy over random draws of the examples."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, accuracies: list[float]) -> Score:
        """Return the mean and the standard deviation."""
        return cls(float(np.mean(accuracies)), float(np.std(accuracies)))

    def __str__(self) -> str:
        return f"{100 * self.mean:.1f} ± {100 * self.deviation:.1f} %"


class DemoResult(NamedTuple):
    """Accuracy for known and new digits, by what they are read from; the model of each method."""

    scores: Mapping[str, tuple[Score, Score]]
    models: Mapping[str, Estimator]


def run_demo(
    out: str | os.PathLike[str],
    say: Say,
    verbose: bool = False,
    n_digits: int | None = None,
    n_new: int = 200,
) -> DemoResult:
    """Write data, model and map into the folder `out`, and say what there is to see.

    Parameters
    ----------
    out
        A folder; it is made if it does not exist.
    say
        What prints a text.
    verbose
        Show a progress bar.
    n_digits, n_new
        How many digits to take (None: all 1,797), and how many of them to hold back.
    """
    start, folder = perf_counter(), Path(out)
    # Refused now rather than after the learning.
    _check_folder(folder)
    check_target(folder / "model")
    digits = Digits.load(n_digits, n_new)
    with made(folder):
        files = digits.write(folder)
    say(
        f"{len(digits.images):,} handwritten digits of {SIDE} x {SIDE} pixels (scikit-learn's). "
        f"Each is linked to the {N_NEIGHBORS} most\nsimilar ones and has its dark pixels as "
        f"labels. {n_new} are held back: they arrive later.\n"
    )
    graph = Graph.read(files["edges"], {"pixel": files["pixels"]})
    arrived = Graph.read(files["new_edges"])
    say(f"{graph.summary()}\n\nLearning vectors, without the classes:")
    models = {title: _learned(title, graph, say, verbose) for title in ESTIMATORS}
    vectors = {title: _all_vectors(model, arrived, digits) for title, model in models.items()}
    result = DemoResult(_measured(digits, vectors, say), models)
    _look_around(digits, models[FIRST], say)
    models[FIRST].save(folder / "model")
    _draw(folder / "map.png", digits, vectors)
    _say_what_next(folder, digits, perf_counter() - start, say)
    return result


def _check_folder(folder: Path) -> None:
    """Refuse a folder that holds anything but an earlier demo: its files would be replaced."""
    if not folder.is_dir() or (folder / "pixels.csv").exists() or not any(folder.iterdir()):
        return
    raise InvalidParameterError(
        f"{folder}: this folder is neither empty nor an earlier demo's, and files in it might be "
        f"replaced. Give a new one with --out."
    )


def _learned(title: str, graph: Graph, say: Say, verbose: bool) -> Estimator:
    start = perf_counter()
    # A copy: the same estimator may be wanted again.
    model: Estimator = clone(ESTIMATORS[title]).set_params(verbose=verbose).fit(graph)
    say(f"  {title}: {perf_counter() - start:.1f} s")
    return model


def _all_vectors(model: Estimator, arrived: Graph, digits: Digits) -> Vectors:
    """Return the vectors of the known digits as learned, and after them those of the new ones."""
    # By name: a graph of new edges lists its nodes in the order in which they appear.
    new = model.transform(arrived)[arrived.nodes.ids(map(digit_name, digits.new))]
    known = np.stack([model[digit_name(index)] for index in digits.known])
    return np.concatenate([known, new])


def _measured(
    digits: Digits, vectors: Mapping[str, Vectors], say: Say
) -> dict[str, tuple[Score, Score]]:
    n_known, targets = len(digits.known), digits.targets[digits.order]
    inputs: dict[str, NDArray[np.floating]]
    inputs = {"pixels": digits.images[digits.order] / INK, **vectors}
    scores = {title: few_examples_scores(x, targets, n_known) for title, x in inputs.items()}
    say(
        f"\nA linear classifier sees {N_EXAMPLES} digits of each class and classifies the others "
        f"(accuracy, {N_DRAWS} random draws):"
    )
    rows = [
        f"{n_known - 10 * N_EXAMPLES:,} known digits",
        f"{len(digits.new):,} new digits, never seen in training",
    ]
    for name, *cells in [("", *scores), *zip(rows, *scores.values(), strict=True)]:
        say(f"  {name:<42}{''.join(f'{cell!s:<16}' for cell in cells)}".rstrip())
    say("")
    return scores


def few_examples_scores(
    vectors: NDArray[np.floating], targets: NDArray[np.int64], n_known: int
) -> tuple[Score, Score]:
    """Return the accuracy for known digits and for new ones, whose rows come last.

    Each draw trains one-vs-rest logistic regression on 10 known digits of each class and tests it
    on all others.
    """
    n_classes = int(targets.max()) + 1
    n_tested = n_known - N_EXAMPLES * n_classes
    known, new = [], []
    for seed in range(N_DRAWS):
        split = per_class_split(targets[:n_known], seed, N_EXAMPLES, 0, n_tested)
        tested = np.concatenate([split.test, np.arange(n_known, len(vectors))])
        examples = targets[split.train, None] == np.arange(n_classes)
        # One row of weights per class, on 0 and 1: the same classifier for pixels and vectors.
        (scores,) = score_path(vectors[split.train], examples, vectors[tested], [C])
        right = scores.argmax(axis=1) == targets[tested]
        known.append(right[:n_tested].mean())
        new.append(right[n_tested:].mean())
    return Score.of(known), Score.of(new)


def _look_around(digits: Digits, model: Estimator, say: Say) -> None:
    """Show what is near one digit, and what is near one pixel."""
    names = {digit_name(digit): digit for digit in digits.known.tolist()}
    first = next(iter(names))
    shown = [names[first], *(names[str(other)] for other, _ in model.similar(first, k=3))]
    titles = [f"{digit_name(i)} (a {digits.targets[i]})" for i in shown]
    say(f"{titles[0]} and the digits nearest to it, by the {FIRST}:\n")
    say("   ".join(f"{title:<16}" for title in titles).rstrip())
    for lines in zip(*map(digits.drawn, shown), strict=True):
        say("   ".join(lines).rstrip())
    near = ", ".join(str(pixel) for pixel, _ in model.similar_labels("pixel", SHOWN_PIXEL, k=3))
    n_touching, n_pixels, by_chance = _touching(model)
    say(
        f"\nPixels have vectors too. Nearest to {SHOWN_PIXEL} (row 4, column 4): {near}.\n"
        f"Training knew nothing about rows and columns, yet for {n_touching} of the {n_pixels} "
        f"pixels the nearest one\ntouches it in the image (by chance: {by_chance:.0f}).\n"
    )


def _touching(model: Estimator) -> tuple[int, int, float]:
    """Return the number of pixels whose nearest touches them, of all pixels, and by chance."""
    places = {pixel_name(i): np.array(divmod(i, SIDE)) for i in range(SIDE * SIDE)}
    pixels = [str(label) for label in model.labels_["pixel"]]
    touches = np.array([[np.abs(places[a] - places[b]).max() == 1 for b in pixels] for a in pixels])
    nearest = [str(model.similar_labels("pixel", pixel, k=1)[0][0]) for pixel in pixels]
    n_touching = sum(touches[i, pixels.index(other)] for i, other in enumerate(nearest))
    return int(n_touching), len(pixels), float(touches.sum() / (len(pixels) - 1))


def _draw(path: Path, digits: Digits, vectors: Mapping[str, Vectors]) -> None:
    order, names = digits.order, [str(target) for target in np.unique(digits.targets)]
    images = digits.images[order].reshape(-1, SIDE, SIDE)
    draw_maps(
        path,
        [Map(columns, title) for title, columns in vectors.items()],
        Points(digits.targets[order], names, digits.is_new[order], images),
        title=f"{len(order):,} handwritten digits, arranged by their vectors",
        text="Colors are the classes, which training never saw. "
        f"Rings are {len(digits.new)} digits that arrived after training.",
        height=6.4,
    )


def _say_what_next(folder: Path, digits: Digits, seconds: float, say: Say) -> None:
    place, name = shlex.quote(str(folder)), digit_name(int(digits.known[0]))
    say(
        f"Done in {seconds:.0f} s. Open {folder / 'map.png'}; the data (CSV) and the {FIRST} model "
        f"are beside it. Try next:\n"
        f"  embedprop similar {place}/model {name}\n"
        f"  embedprop similar {place}/model {SHOWN_PIXEL} --label-type pixel\n"
        f"  embedprop transform {place}/model --edges {place}/new_edges.csv --out new.parquet\n"
        f"  embedprop export {place}/model --format word2vec\n"
        f"and with files of your own (columns source,target and node,label):\n"
        f"  embedprop fit edges.csv --label word=words.csv --out model/"
    )
