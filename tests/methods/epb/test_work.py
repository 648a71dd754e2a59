"""Work, not time: what an epoch does is counted, so that a slow machine cannot hide a regression.

Where a change makes one of these numbers smaller, lower it here; where one grows, say why.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.methods.epb.work import (
    DIM,
    KERNELS,
    Work,
    compilations,
    in_fresh_process,
    native_allocations,
    receivers,
    row_counts,
    traced_memory,
    work,
)

# No margin is ever satisfied, so every visit sends gradients: the most that there is to do.
IDS: dict[str, Any] = {"margin": 1000.0, "epochs": 2, "label_types": ["node"]}
WORDS: dict[str, Any] = IDS | {"label_types": ["word"]}


def counted_rows(graph_name: str, settings: dict[str, Any]) -> dict[str, int]:
    counts: dict[str, int] = in_fresh_process(
        row_counts, graph_name, settings, NUMBA_DISABLE_JIT="1"
    )
    return counts


class TestIds:
    @pytest.fixture(scope="class")
    @staticmethod
    def todo() -> Work:
        return work("ids", IDS)

    @pytest.fixture(scope="class")
    @staticmethod
    def counts() -> dict[str, int]:
        return counted_rows("ids", IDS)

    def test_the_example_shares_rows_within_and_between_batches(self, todo: Work) -> None:
        assert todo.reads > 1.5 * todo.rows
        assert todo.rows > todo.caught_up > 0.8 * todo.rows

    def test_each_edge_reads_one_row_and_each_row_is_caught_up_once_per_batch(
        self, todo: Work, counts: dict[str, int]
    ) -> None:
        # To send gradients, h(v) and h(u) are looked at once more.
        assert counts["Table.vectors"] == todo.reads + todo.caught_up + 2 * todo.visits

    def test_moments_are_touched_once_to_catch_up_and_once_for_the_gradient(
        self, todo: Work, counts: dict[str, int]
    ) -> None:
        # Both: the first thousand steps need the root, too, to catch up.
        assert counts["Table.direction"] == todo.caught_up + todo.rows
        assert counts["Table.root"] == todo.caught_up + todo.rows

    def test_a_message_is_read_by_each_who_receives_it(
        self, todo: Work, counts: dict[str, int]
    ) -> None:
        # A visit writes h~, looks at it to write those to v and to its negative, and at the last
        # again.
        assert counts["Workspace.messages"] == todo.reads + 5 * todo.visits

    def test_bytes_that_an_epoch_moves(self, todo: Work, counts: dict[str, int]) -> None:
        caught_up = counts["Table.vectors"] - todo.reads - 2 * todo.visits
        gradients = counts["Table.direction"] - caught_up
        # To catch up: vectors in and out, direction and root in; for a gradient both in and out.
        moved = 4 * DIM * (todo.reads + 2 * todo.visits + 4 * caught_up + 4 * gradients)
        assert moved / IDS["epochs"] == 28_320

    @pytest.mark.parametrize("n_negatives", [1, 3])
    def test_only_violated_margins_change_moments(self, n_negatives: int) -> None:
        settings = IDS | {"margin": 1e-6, "epochs": 1, "dim": DIM, "batch_size": 30}
        settings |= {"n_negatives": n_negatives}
        expected, read = receivers("lonely", settings)
        assert expected
        assert len(expected) < 0.9 * len(read)
        assert counted_rows("lonely", settings)["Table.direction"] == len(expected)

    def test_kappa_reads_fewer_rows(self, todo: Work) -> None:
        settings = IDS | {"max_neighbors": 2}
        fewer = work("ids", settings)
        found = counted_rows("ids", settings)["Table.vectors"]
        assert found == fewer.reads + fewer.caught_up + 2 * fewer.visits
        assert fewer.reads < 0.6 * todo.reads


class TestWords:
    @pytest.fixture(scope="class")
    @staticmethod
    def todo() -> Work:
        return work("words", WORDS)

    @pytest.fixture(scope="class")
    @staticmethod
    def counts() -> dict[str, int]:
        return counted_rows("words", WORDS)

    def test_words_are_read_once_per_distinct_node_of_a_batch_not_once_per_edge(
        self, todo: Work, counts: dict[str, int]
    ) -> None:
        assert counts["Table.vectors"] == todo.labels + todo.caught_up
        assert todo.labels < 0.6 * todo.labels_per_read

    def test_each_edge_reads_one_embedding_that_was_written_once(
        self, todo: Work, counts: dict[str, int]
    ) -> None:
        # To send gradients, h(v) and h(u) are looked at once more.
        assert counts["NodeSpace.embeddings"] == todo.reads + todo.nodes + 2 * todo.visits

    def test_gradients_are_summed_per_node_before_they_go_to_its_words(
        self, todo: Work, counts: dict[str, int]
    ) -> None:
        assert counts["NodeSpace.gradients"] == todo.nodes + todo.labels

    def test_the_moments_of_a_word_change_once_per_batch(
        self, todo: Work, counts: dict[str, int]
    ) -> None:
        assert counts["Table.direction"] == todo.caught_up + todo.rows
        assert counts["Table.root"] == todo.caught_up + todo.rows


def test_kernels_make_no_array_per_batch() -> None:
    counts = in_fresh_process(native_allocations, 3, NUMBA_NRT_STATS="1")
    assert len(counts) == 2
    assert "0" in counts  # the run without a visit: what one call takes
    assert len({count for runs in counts.values() for count in runs}) == 1


@pytest.mark.slow
def test_memory_grows_neither_from_epoch_to_epoch_nor_from_fit_to_fit() -> None:
    few, many = in_fresh_process(traced_memory, [2, 30])
    table = 4 * 64 * 2_000
    assert few[1] > 3 * table  # vectors and both moments are seen
    # An order of 2,000 visits that every epoch left behind would be 16 KB each.
    assert many[1] - few[1] < 64_000
    # Python and Numba keep some small objects for the next call.
    assert max(few[0], many[0]) < 0.4 * table


def test_every_kernel_is_compiled_once_for_all_kinds_of_graphs() -> None:
    first, second = in_fresh_process(compilations, 2)
    assert {first[name] for name in (*KERNELS, "catch_up_rows")} == {1}
    # Weights of labels are read-only, the empty array that stands for ones is not.
    assert {name for name, count in first.items() if count > 1} <= {"weighted_means"}
    assert first["weighted_means"] <= 2
    assert second == first
