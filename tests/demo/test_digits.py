from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from embedprop import Graph
from embedprop.demo.digits import N_NEIGHBORS, Digits, digit_name


@pytest.fixture(scope="module")
def digits() -> Digits:
    return Digits.load(n_digits=120, n_new=20)


def test_all_digits_are_taken_unless_fewer_are_asked_for(digits: Digits) -> None:
    everything = Digits.load()
    assert everything.images.shape == (1797, 64)
    assert everything.is_new.sum() == 200
    assert digits.images.shape == (120, 64)
    np.testing.assert_array_equal(digits.targets, everything.targets[:120])
    assert sorted([*digits.known, *digits.new]) == list(range(120))


def test_each_digit_is_linked_to_the_known_digits_nearest_to_it(digits: Digits) -> None:
    new = digits.new[0]
    distances = ((digits.images[digits.known] - digits.images[new]) ** 2).sum(axis=1)
    expected = digits.known[np.argsort(distances, kind="stable")[:N_NEIGHBORS]]
    assert digits.edges(digits.new[:1]).tolist() == [[new, other] for other in expected]


def test_no_edge_comes_twice_or_joins_a_digit_with_itself_or_with_a_new_one(
    digits: Digits,
) -> None:
    edges = digits.edges(digits.known)
    assert len({frozenset(pair) for pair in edges.tolist()}) == len(edges)
    assert (edges[:, 0] != edges[:, 1]).all()
    assert not digits.is_new[edges].any()
    assert (np.bincount(edges.ravel(), minlength=120)[digits.known] >= N_NEIGHBORS).all()


def test_the_files_are_a_graph_with_the_ink_of_the_pixels_as_weights(
    digits: Digits, tmp_path: Path
) -> None:
    files = digits.write(tmp_path)
    graph = Graph.read(files["edges"], {"pixel": files["pixels"]})
    assert graph.n_nodes == 100
    assert graph.n_duplicates_dropped == graph.n_self_loops_dropped == 0
    first = digits.known[0]
    pixels, row = graph.labels["pixel"], graph.nodes.find(digit_name(first))
    names = [graph.vocabulary("pixel")[label] for label in pixels.of(row)]
    inks = dict(zip(names, pixels.weights_of(row), strict=True))
    image = digits.images[first].reshape(8, 8)
    assert inks == {f"r{r + 1}c{c + 1}": image[r, c] for r, c in zip(*image.nonzero(), strict=True)}
    arrived = Graph.read(files["new_edges"])
    assert set(map(digit_name, digits.new)) <= set(arrived.nodes)


def test_an_image_is_drawn_darker_where_there_is_more_ink() -> None:
    image = np.zeros((8, 8))
    image[0, 1], image[7, 7] = 16, 1
    lines = Digits(image.reshape(1, 64), np.array([7]), np.array([False])).drawn(0)
    assert lines[0] == "  ##" + " " * 12
    assert lines[7] == " " * 14 + ".."
