from __future__ import annotations

import numpy as np
import pytest
from tests import toy_graphs

from embedprop import Graph
from embedprop.errors import InvalidGraphError
from embedprop.graph.changes.inverses import inverse_of, with_inverses


def edges_of(graph: Graph) -> dict[tuple, float]:
    """{(source, relation, target): weight}."""
    assert graph.relations is not None
    found = {}
    for target in range(graph.n_nodes):
        start = graph.neighbors.ptr[target]
        weights = graph.neighbors.weights_of(target)
        for i, source in enumerate(graph.neighbors.of(target)):
            relation = graph.relations[graph.neighbor_relations[start + i]]
            edge = graph.nodes[source], relation, graph.nodes[target]
            assert edge not in found
            found[edge] = float(weights[i])
    return found


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("self_loops", ["drop", "keep"])
def test_every_edge_goes_back_over_the_inverse_of_its_relation(
    weighted: bool, self_loops: str
) -> None:
    graph = toy_graphs.messy(
        directed=True, n_relations=3, weighted_edges=weighted, self_loops=self_loops, isolated=True
    )
    before, both = edges_of(graph), with_inverses(graph)
    back = {(v, inverse_of(r), u): weight for (u, r, v), weight in before.items()}
    assert edges_of(both) == before | back
    assert both.n_edges == 2 * graph.n_edges
    assert (both.neighbors.weights is not None) is weighted


def test_the_rest_stays_as_it_is() -> None:
    graph = toy_graphs.messy(directed=True, n_relations=2)
    both = with_inverses(graph)
    assert both.directed
    assert both.nodes is graph.nodes
    assert dict(both.labels) == dict(graph.labels)
    assert both.relations.names == (*graph.relations.names, *map(inverse_of, graph.relations.names))
    assert both.relations.find_all(graph.relations).tolist() == [0, 1]
    assert graph.n_edges == toy_graphs.messy(directed=True, n_relations=2).n_edges


def test_an_edge_in_both_directions_has_two_inverses() -> None:
    graph = Graph.from_edges([("a", "b"), ("b", "a")], relations=["r", "r"], directed=True)
    both = with_inverses(graph)
    assert both.n_edges == 4
    np.testing.assert_array_equal(both.neighbors.sizes, [2, 2])


@pytest.mark.parametrize(
    ("graph", "what"),
    [
        (Graph.from_edges([(0, 1)], directed=True), "without relations"),
        (Graph.from_edges([(0, 1)], relations=["r"]), "undirected"),
    ],
)
def test_other_graphs_are_refused(graph: Graph, what: str) -> None:
    with pytest.raises(InvalidGraphError) as caught:
        with_inverses(graph)
    assert str(caught.value) == (
        f"Adding inverse relations needs a directed graph with relations, but this one is {what}."
    )


def test_inverses_of_inverses_are_the_same_graph() -> None:
    graph = Graph.from_edges([("a", "b")], relations=["r"], directed=True)
    both = graph.with_inverses()
    assert (graph.has_inverses, both.has_inverses) == (False, True)
    assert both.with_inverses() is both


def test_a_relation_that_is_named_like_an_inverse_is_refused() -> None:
    names = ["r", "s", inverse_of("r")]
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 0)], relations=names, directed=True)
    assert not graph.has_inverses
    with pytest.raises(InvalidGraphError, match=r"Name \('inverse', 'r'\) is given twice"):
        graph.with_inverses()


def test_a_graph_without_relations_has_no_inverses() -> None:
    assert not Graph.from_edges([(0, 1)], directed=True).has_inverses
