from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from embedprop import Graph
from embedprop.training.neighborhoods import Neighbors, Speakers

EVERYONE = np.arange(9, dtype=np.int32)


@pytest.fixture(scope="module")
def star() -> Graph:
    """A hub, 0, with eight leaves; the edge to leaf i weighs i."""
    return Graph.from_edges([(0, i) for i in range(1, 9)], weights=range(1, 9))


def heard(speakers: Speakers, position: int) -> list[int]:
    return speakers.ids[speakers.starts[position] : speakers.ends[position]].tolist()


@pytest.mark.parametrize("most", [None, 8, 100])
def test_all_neighbors_speak_where_kappa_does_not_bind(star: Graph, most: int | None) -> None:
    speakers = Neighbors(star, most).draw(EVERYONE, np.uint64(0))
    assert sorted(heard(speakers, 0)) == list(range(1, 9))
    assert all(heard(speakers, leaf) == [0] for leaf in range(1, 9))


def test_at_most_kappa_different_neighbors_speak(star: Graph) -> None:
    neighbors = Neighbors(star, 3)
    assert neighbors.sizes().tolist() == [3] + [1] * 8
    for key in range(50):
        speakers = neighbors.draw(EVERYONE, np.uint64(key))
        drawn = heard(speakers, 0)
        assert len(set(drawn)) == 3
        assert set(drawn) <= set(range(1, 9))
        assert all(heard(speakers, leaf) == [0] for leaf in range(1, 9))


def test_every_neighbor_speaks_equally_often(star: Graph) -> None:
    neighbors, hub = Neighbors(star, 3), np.array([0], np.int32)
    drawn = [heard(neighbors.draw(hub, np.uint64(key)), 0) for key in range(2000)]
    counts = np.bincount(np.ravel(drawn), minlength=9)[1:]
    assert counts.sum() == 6000
    assert chisquare(counts).pvalue > 1e-4
    assert len({tuple(sorted(subset)) for subset in drawn}) == 56  # all 3-subsets of 8


def test_a_drawn_neighbor_keeps_the_weight_of_its_edge(star: Graph) -> None:
    speakers = Neighbors(star, 4).draw(np.array([5, 0], np.int32), np.uint64(1))
    assert speakers.weights is not None
    assert heard(speakers, 0) == [0]
    assert speakers.weights[0] == 5
    assert speakers.weights[1:].tolist() == heard(speakers, 1)


def test_a_draw_depends_on_key_and_node_alone(star: Graph) -> None:
    neighbors = Neighbors(star, 2)
    together = neighbors.draw(EVERYONE[::-1].copy(), np.uint64(3))
    alone = neighbors.draw(EVERYONE[:1], np.uint64(3))
    assert heard(together, 8) == heard(alone, 0)
    other_keys = {tuple(heard(neighbors.draw(EVERYONE[:1], np.uint64(k)), 0)) for k in range(20)}
    assert len(other_keys) > 5


def test_in_a_directed_graph_only_in_neighbors_speak() -> None:
    graph = Graph.from_edges([("a", "b"), ("c", "b"), ("b", "d")], directed=True)
    b = np.array([graph.nodes.find("b")], np.int32)
    speakers = Neighbors(graph, None).draw(b, np.uint64(0))
    assert {graph.nodes[i] for i in heard(speakers, 0)} == {"a", "c"}
