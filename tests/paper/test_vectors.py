"""The vectors behind the tables are those that their rows promise."""

import numpy as np

from embedprop import EmbeddingPropagation, Graph
from embedprop.baselines.line import LINE
from embedprop.graph.changes.subgraph import subgraph
from embedprop.paper import vectors
from embedprop.paper.rows import BOTH, ROWS, SHORT_LINE
from embedprop.paper.vectors import embed


def test_removed_nodes_get_h_tilde_or_its_mean_with_h():
    words = {node: [f"w{node % 3}"] for node in range(8)}
    full = Graph.from_edges([(i, (i + 1) % 8) for i in range(8)], labels={"word": words})
    known = subgraph(full, np.arange(1, 8))
    model = EmbeddingPropagation(margin=5.0, random_state=0, n_threads=1, verbose=False).fit(known)
    heard = embed("epb", "any", full, known, 5.0, seed=0)
    both = embed(BOTH, "any", full, known, 5.0, seed=0)
    np.testing.assert_array_equal(heard, model.transform(full, "reconstruction"))
    np.testing.assert_array_equal(both, model.transform(full, "both"))
    assert (heard[0] != both[0]).any()
    np.testing.assert_array_equal(heard[1:], both[1:])


def test_line_with_fewer_samples_is_line_but_for_their_number(monkeypatch):
    row = ROWS[SHORT_LINE]
    assert row.settings == {"n_samples": 3_000_000}
    fewer = ROWS | {SHORT_LINE: row._replace(settings={"n_samples": 1000})}
    monkeypatch.setattr(vectors, "ROWS", fewer)
    graph = Graph.from_edges([(i, (i + 1) % 8) for i in range(8)])
    found = embed(SHORT_LINE, "any", graph, None, 0.0, seed=3)
    wanted = LINE(n_samples=1000, random_state=3).fit_transform(graph)
    np.testing.assert_array_equal(found, wanted)
