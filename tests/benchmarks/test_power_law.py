from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.power_law import communities, power_law_edges, power_law_words

from benchmarks import power_law
from embedprop import Graph

N_NODES, N_EDGES = 20_000, 200_000


@pytest.fixture(scope="module")
def edges() -> np.ndarray:
    return power_law_edges(N_NODES, N_EDGES)


@pytest.fixture(scope="module")
def planted() -> np.ndarray:
    return communities(N_NODES, 10)


def test_there_are_as_many_distinct_edges_as_asked_for_and_no_self_loops(edges: np.ndarray) -> None:
    assert edges.shape == (N_EDGES, 2)
    assert edges.dtype == np.int32
    assert edges.min() >= 0
    assert edges.max() < N_NODES
    assert (edges[:, 0] < edges[:, 1]).all()
    assert len(np.unique(edges, axis=0)) == N_EDGES


def test_the_graph_that_is_made_of_them_drops_nothing(edges: np.ndarray) -> None:
    graph = Graph.from_edges(edges, nodes=range(N_NODES))
    assert (graph.n_nodes, graph.n_edges) == (N_NODES, N_EDGES)
    assert graph.n_self_loops_dropped == graph.n_duplicates_dropped == 0


@pytest.mark.parametrize("exponent", [2.3, 2.5, 3.0])
def test_the_number_of_nodes_of_a_degree_falls_as_its_power(exponent: float) -> None:
    made = power_law_edges(N_NODES, N_EDGES, exponent)
    degrees = np.bincount(made.ravel(), minlength=N_NODES)
    # The most likely exponent of a tail (Clauset, Shalizi and Newman 2009, equation 3.7).
    least = 40
    tail = degrees[degrees >= least]
    found = 1 + len(tail) / np.log(tail / (least - 0.5)).sum()
    assert len(tail) > 500
    assert found == pytest.approx(exponent, abs=0.12)


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(
    edges: np.ndarray, planted: np.ndarray
) -> None:
    assert power_law_edges(N_NODES, N_EDGES).tobytes() == edges.tobytes()
    assert not np.array_equal(power_law_edges(N_NODES, N_EDGES, seed=1), edges)
    words = power_law_words(planted)
    assert power_law_words(planted).tobytes() == words.tobytes()
    assert power_law_words(planted, seed=1).tobytes() != words.tobytes()


def test_a_name_does_not_tell_the_degree(edges: np.ndarray) -> None:
    degrees = np.bincount(edges.ravel(), minlength=N_NODES)
    halves = degrees[: N_NODES // 2].sum() / degrees.sum()
    assert halves == pytest.approx(0.5, abs=0.1)
    assert abs(np.corrcoef(np.arange(N_NODES), degrees)[0, 1]) < 0.03


def test_a_full_graph_is_refused_and_a_dense_one_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(power_law_edges(100, 2_000)) == 2_000
    monkeypatch.setattr(power_law, "_MAX_ROUNDS", 3)
    with pytest.raises(ValueError, match="4951 distinct edges between 100 nodes are too many"):
        power_law_edges(100, 4_951)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"exponent": 2.0}, "exponent: expected more than 2"),
        ({"n_communities": 0}, "expected 1 to 100, got"),
    ],
)
def test_what_cannot_be_is_refused(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        power_law_edges(100, 200, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("mixing", [0.1, 0.5])
def test_planted_communities_hold_the_wanted_share_of_edges(mixing: float) -> None:
    made = power_law_edges(N_NODES, N_EDGES, n_communities=10, mixing=mixing)
    planted = communities(N_NODES, 10)
    assert np.bincount(planted).tolist() == [N_NODES // 10] * 10
    inside = (planted[made[:, 0]] == planted[made[:, 1]]).mean()
    # One tenth of the draws that do not look at communities stay inside one too. Repeated edges,
    # most of them between hubs inside, are drawn again, which takes a little from the share.
    assert inside == pytest.approx(1 - mixing * 0.9, abs=0.04)


class TestWords:
    def test_every_node_has_words_each_once(self, planted: np.ndarray) -> None:
        words = power_law_words(planted, 1_000)
        assert words.dtype == np.int32
        assert np.array_equal(np.unique(words, axis=0), words)
        assert np.array_equal(np.unique(words[:, 0]), np.arange(N_NODES))
        assert words[:, 1].max() < 1_000

    def test_the_number_of_words_falls_as_a_power(self, planted: np.ndarray) -> None:
        counts = np.bincount(power_law_words(planted, 1_000_000)[:, 0])
        # Drawn by 1 / k from 1 to 200: each doubling holds about the same share of nodes.
        shares = [((counts >= k) & (counts < 2 * k)).mean() for k in (2, 4, 8, 16, 32)]
        assert shares == pytest.approx([np.log(2) / np.log(201)] * 5, abs=0.03)

    def test_words_tell_the_community_as_far_as_asked(self, planted: np.ndarray) -> None:
        # A repeated draw, most often of the commonest word of the own community, is one row: 0.73
        # of the draws become about 0.65 of the rows.
        for own_share, expected in ((1.0, 1.0), (0.7, 0.65), (0.0, 0.1)):
            words = power_law_words(planted, 10_000, own_share=own_share)
            own = (words[:, 1] % 10 == planted[words[:, 0]]).mean()
            assert own == pytest.approx(expected, abs=0.05)

    def test_the_number_of_rows_per_chunk_does_not_show(
        self, planted: np.ndarray, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(power_law, "_CHUNK", 100)  # less than one node may have
        words = power_law_words(planted[:500], 1_000)
        assert np.array_equal(np.unique(words, axis=0), words)
        assert np.array_equal(np.unique(words[:, 0]), np.arange(500))

    def test_fewer_words_than_communities_are_refused(self, planted: np.ndarray) -> None:
        with pytest.raises(ValueError, match="3 words are too few for 10 communities"):
            power_law_words(planted, 3)


def test_the_command_writes_files_that_the_library_reads(tmp_path: Path) -> None:
    subprocess.run(
        [
            *(sys.executable, power_law.__file__, "--nodes", "200", "--edges", "900"),
            *("--communities", "4", "--out", tmp_path / "edges.tsv", "--vocabulary", "50"),
            *("--words", tmp_path / "words.tsv", "--targets", tmp_path / "targets.npy"),
        ],
        check=True,
    )
    files = {"word": tmp_path / "words.tsv"}
    graph = Graph.read(tmp_path / "edges.tsv", labels=files, unknown_nodes="add")
    edges = power_law_edges(200, 900, n_communities=4)
    assert graph.n_edges == 900
    assert {str(node) for node in np.unique(edges)} <= set(graph.nodes.names)
    assert graph.labels["word"].n_values == len(power_law_words(communities(200, 4), 50))
    assert np.array_equal(np.load(tmp_path / "targets.npy")[:, 1], communities(200, 4))
