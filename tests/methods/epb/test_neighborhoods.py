from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from embedprop import Graph
from embedprop.errors import InvalidParameterError
from embedprop.methods.epb.neighborhoods import Edges, Neighbors, Speakers, Walks

EVERYONE = np.arange(9)


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
    neighbors, hub = Neighbors(star, 3), np.array([0])
    drawn = [heard(neighbors.draw(hub, np.uint64(key)), 0) for key in range(2000)]
    counts = np.bincount(np.ravel(drawn), minlength=9)[1:]
    assert counts.sum() == 6000
    assert chisquare(counts).pvalue > 1e-4
    assert len({tuple(sorted(subset)) for subset in drawn}) == 56  # all 3-subsets of 8


def test_a_drawn_neighbor_keeps_the_weight_of_its_edge(star: Graph) -> None:
    speakers = Neighbors(star, 4).draw(np.array([5, 0]), np.uint64(1))
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
    b = np.array([graph.nodes.find("b")])
    speakers = Neighbors(graph, None).draw(b, np.uint64(0))
    assert {graph.nodes[i] for i in heard(speakers, 0)} == {"a", "c"}


@pytest.fixture(scope="module")
def river() -> Graph:
    """Labels flow down: c and d to a; a (weight 1) and b (weight 3) to v; v to w. e is isolated."""
    return Graph.from_edges(
        [("c", "a"), ("d", "a"), ("a", "v"), ("b", "v"), ("v", "w")],
        weights=[1, 1, 1, 3, 1],
        directed=True,
        nodes=list("abcdvwe"),
    )


def ends_of(graph: Graph, name: str, most: int | None, n_epochs: int) -> np.ndarray:
    """The ends of the walks from a node, (epochs, walks), as ids."""
    walks, visits = Walks(graph, most), np.array([graph.nodes.find(name)])
    return np.array([heard(walks.draw(visits, np.uint64(key)), 0) for key in range(n_epochs)])


def test_walks_go_one_or_two_steps_against_the_arrows_by_weight(river: Graph) -> None:
    ends = ends_of(river, "v", 6, 2000)
    one, two = np.bincount(ends[:, ::2].ravel()), np.bincount(ends[:, 1::2].ravel())
    # One step: a or b. Two steps: over a to c or d; b has nobody before it, so walks stay there.
    assert one.sum() == two.sum() == 6000
    assert chisquare(one, [1500, 4500]).pvalue > 1e-4
    assert two[0] == 0
    assert chisquare(two[1:], [4500, 750, 750]).pvalue > 1e-4


def test_walks_of_one_node_and_epoch_are_independent(river: Graph) -> None:
    ends = ends_of(river, "v", 3, 2000) == river.nodes.find("b")
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert abs(np.corrcoef(ends[:, i], ends[:, j])[0, 1]) < 0.08
    assert abs(np.corrcoef(ends[1:, 0], ends[:-1, 0])[0, 1]) < 0.08


def test_without_weights_each_neighbor_is_as_likely(path: Graph) -> None:
    ends = ends_of(path, 2, 2, 3000)
    one, two = np.bincount(ends[:, 0], minlength=5), np.bincount(ends[:, 1], minlength=5)
    assert chisquare(one[[1, 3]]).pvalue > 1e-4
    # Two steps from the middle lead to an end of the path or back, with the same chance as both.
    assert chisquare(two[[0, 2, 4]], [750, 1500, 750]).pvalue > 1e-4
    assert one[[1, 3]].sum() == two[[0, 2, 4]].sum() == 3000


def test_walks_start_where_there_are_neighbors_and_end_at_twenty_by_default(river: Graph) -> None:
    walks = Walks(river, None)
    assert [river.nodes[i] for i in walks.visits()] == ["a", "v", "w"]
    assert walks.sizes().tolist() == [20] * 3
    speakers = walks.draw(walks.visits(), np.uint64(0))
    assert (speakers.ends - speakers.starts).tolist() == [20] * 3
    assert speakers.weights is None


def test_every_edge_is_a_visit_of_its_own(river: Graph) -> None:
    edges = Edges(river, None)
    speakers = edges.draw(edges.visits()[::-1].copy(), np.uint64(0))
    pairs = [
        (river.nodes[heard(speakers, i)[0]], river.nodes[node])
        for i, node in enumerate(speakers.nodes)
    ]
    assert sorted(pairs) == [("a", "v"), ("b", "v"), ("c", "a"), ("d", "a"), ("v", "w")]
    assert edges.sizes().tolist() == (speakers.ends - speakers.starts).tolist() == [1] * 5


def test_one_edge_at_a_time_cannot_be_several_neighbors(river: Graph) -> None:
    Edges(river, 1)
    with pytest.raises(
        InvalidParameterError,
        match=r"max_neighbors=2 cannot be combined with neighborhood='edges', .*Leave it out",
    ):
        Edges(river, 2)
