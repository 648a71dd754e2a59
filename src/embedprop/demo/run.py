"""The demo: train, measure, look around, draw. Every number that it prints was just measured."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from embedprop.cli.spelling import shell_word
from embedprop.demo.digits import (
    INK,
    N_NEIGHBORS,
    SIDE,
    Digits,
    digit_index,
    digit_name,
    drawn,
    pixel_name,
)
from embedprop.demo.picture import draw_map, map_positions
from embedprop.demo.scores import N_DRAWS, N_EXAMPLES, Score, few_examples_scores
from embedprop.errors import InvalidParameterError
from embedprop.estimators import EmbeddingPropagation
from embedprop.files.atomic import made
from embedprop.files.folder.save import check_target
from embedprop.graph import Graph

Say = Callable[[str], None]
# Fewer and larger steps than the paper's: a small graph, and somebody who waits.
EPOCHS, LEARNING_RATE = 60, 5e-3
SHOWN_PIXEL = 3 * SIDE + 3  # r4c4, in the middle of the image


@dataclass(frozen=True, eq=False)
class DemoResult:
    """Accuracy for known and new digits, from pixels and from vectors; the model."""

    pixels: tuple[Score, Score]
    vectors: tuple[Score, Score]
    model: EmbeddingPropagation


def run_demo(
    out: str | os.PathLike[str],
    say: Say,
    verbose: bool = False,
    n_digits: int | None = None,
    n_new: int = 200,
) -> DemoResult:
    """Write data, model and map into the folder `out`, and tell about it.

    Parameters
    ----------
    out
        A folder; it is made if need be.
    say
        What prints a text.
    verbose
        Show a progress bar.
    n_digits, n_new
        How many digits to take (None: all 1,797), and how many of them to hold back.
    """
    start, folder = perf_counter(), Path(out)
    _check_folder(folder)
    check_target(folder / "model")
    digits = Digits.load(n_digits, n_new)
    with made(folder):
        files = digits.write(folder)
    say(
        f"{len(digits.images):,} handwritten digits of {SIDE} x {SIDE} pixels (scikit-learn's). "
        f"Each is linked to the {N_NEIGHBORS} that look\nmost like it and carries its dark pixels "
        f"as labels. {n_new} are held back: they arrive later.\n"
    )
    graph = Graph.read(files["edges"], {"pixel": files["pixels"]})
    say(graph.summary())
    model = _trained(graph, say, verbose)
    vectors, order = _all_vectors(model, files["new_edges"], digits)
    result = _measured(digits, order, vectors, model, say)
    _look_around(digits, model, say)
    model.save(folder / "model")
    draw_map(folder / "map.png", digits, order, map_positions(vectors))
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


def _trained(graph: Graph, say: Say, verbose: bool) -> EmbeddingPropagation:
    say("\nTraining EP-B, without the classes ...")
    model = EmbeddingPropagation(
        dim=64, margin=5.0, epochs=EPOCHS, learning_rate=LEARNING_RATE, verbose=verbose
    ).fit(graph)
    losses = ", ".join(f"{name} {loss[-1]:.2f}" for name, loss in model.loss_history_.items())
    say(f"{EPOCHS} epochs; loss: {losses}.\n")
    return model


def _all_vectors(
    model: EmbeddingPropagation, new_edges: Path, digits: Digits
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return the vectors of the known digits as learned, and after them those of the new ones."""
    order = np.concatenate([digits.known, digits.new])
    arrived = Graph.read(new_edges)
    computed = model.transform(arrived)[arrived.nodes.ids(map(digit_name, digits.new))]
    known = np.stack([model[digit_name(index)] for index in digits.known])
    return np.concatenate([known, computed]), order


def _measured(
    digits: Digits,
    order: NDArray[np.int64],
    vectors: NDArray[np.float32],
    model: EmbeddingPropagation,
    say: Say,
) -> DemoResult:
    n_known, targets = len(digits.known), digits.targets[order]
    pixels = few_examples_scores(digits.images[order] / INK, targets, n_known)
    scores = few_examples_scores(vectors, targets, n_known)
    say(
        f"A linear classifier that is shown {N_EXAMPLES} digits of each class reads the others "
        f"(accuracy, {N_DRAWS} random draws):"
    )
    for name, left, right in [
        ("", "from pixels", "from EP-B vectors"),
        (f"{n_known - 10 * N_EXAMPLES:,} known digits", pixels[0], scores[0]),
        (f"{len(digits.new):,} new digits, never seen in training", pixels[1], scores[1]),
    ]:
        say(f"  {name:<42}{left!s:<16}{right!s}".rstrip())
    say("")
    return DemoResult(pixels, scores, model)


def _look_around(digits: Digits, model: EmbeddingPropagation, say: Say) -> None:
    """Show what is near one digit, and what is near one pixel."""
    name = digit_name(int(digits.known[0]))
    near = [digit_index(other) for other, _ in model.similar(name, k=3)]
    shown = [digit_index(name), *near]
    titles = [f"{digit_name(i)} (a {digits.targets[i]})" for i in shown]
    say(f"{titles[0]} and the digits nearest to it:\n")
    say("   ".join(f"{title:<16}" for title in titles).rstrip())
    for lines in zip(*(drawn(digits.images[i]) for i in shown), strict=True):
        say("   ".join(lines).rstrip())
    pixel = pixel_name(SHOWN_PIXEL)
    pixels = ", ".join(str(other) for other, _ in model.similar_labels("pixel", pixel, k=3))
    n_touching, n_pixels, by_chance = _touching(model)
    say(
        f"\nPixels have vectors too. Nearest to {pixel} (row 4, column 4): {pixels}.\n"
        f"Training knows nothing of rows and columns, yet for {n_touching} of the {n_pixels} "
        f"pixels the nearest one\ntouches it in the image (by chance: {by_chance:.0f}).\n"
    )


def _touching(model: EmbeddingPropagation) -> tuple[int, int, float]:
    """Return for how many pixels the nearest touches it, of how many, and how many by chance."""
    places = {pixel_name(i): np.array(divmod(i, SIDE)) for i in range(SIDE * SIDE)}
    pixels = [str(label) for label in model.labels_["pixel"]]
    touches = np.array([[np.abs(places[a] - places[b]).max() == 1 for b in pixels] for a in pixels])
    nearest = [str(model.similar_labels("pixel", pixel, k=1)[0][0]) for pixel in pixels]
    n_touching = sum(touches[i, pixels.index(other)] for i, other in enumerate(nearest))
    return int(n_touching), len(pixels), float(touches.sum() / (len(pixels) - 1))


def _say_what_next(folder: Path, digits: Digits, seconds: float, say: Say) -> None:
    place, name = shell_word(folder), digit_name(int(digits.known[0]))
    say(
        f"Done in {seconds:.0f} s. Look at {folder / 'map.png'}; the model and the data (CSV) are "
        f"beside it. Try next:\n"
        f"  embedprop similar {place}/model {name}\n"
        f"  embedprop similar {place}/model {pixel_name(SHOWN_PIXEL)} --label-type pixel\n"
        f"  embedprop transform {place}/model --edges {place}/new_edges.csv --out new.parquet\n"
        f"  embedprop export {place}/model --format word2vec\n"
        f"and with files of your own (columns source,target and node,label):\n"
        f"  embedprop fit edges.csv --label word=words.csv --out model/"
    )
